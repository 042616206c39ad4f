/*
 * report.h - what the compiler tells people and scripts about a program.
 */
#ifndef SHDC_REPORT_H
#define SHDC_REPORT_H

#include "cost/timeline.h"
#include "import/xla.h"
#include "memory/plan.h"
#include "pipeline/pipeline.h"

/* explain.c: what is told of, in order: values by their names, then as many results as
   the module has, under the names of the signature. */
const Named **told_values(const Module *m, int *n);
/* explain.c: what copies have in common: names without their numbers, and of where an axis is
   from not the way: of "block.2.h: X: from 'x.3' through + (line 9)" "block.h: X: from 'x'".
   In the arena. */
const char *text_of_copies(Arena *a, const char *text);
/* The dim that the axis splits, -1 if none. */
int dim_of_axis(const Placement *placement, AxisRef axis);

/* annotations.c: the placements that are written in the program, at L_global. */
typedef struct Annotations Annotations;
Annotations *annotations_find(Module *m);
/* The values, `n`, that one behind a name asks to have there, but a parameter's; NULL: none
   does. */
const Placed *
annotations_asking(const Annotations *all, const Type *type, const Placement *there, int *n);

/* explain.c: why values are placed as they are; `name`: one of them, NULL all.  At
   L_sharded placements, who brought each axis and what keeps others away; at
   L_resharded repeated work; at L_device the collectives; at L_fused, of all, what a
   run takes and what annotations changed.  The text is made anew of what is told so
   far, the answer first.  False after a diagnostic (no such name). */
typedef struct Explanation { /* what is told so far */
	Text values, repeated, moves, choices;
} Explanation;
typedef struct ExplainOptions {
	const char *name;
	Explanation *told;
	Outcome outcome;	 /* at L_fused: of the program as it is */
	const char *global_text; /* the L_global module as HLO; NULL: not at hand */
	size_t global_length;
	const Annotations *annotations; /* of that */
	TrialProgress progress;
} ExplainOptions;
bool emit_explain(Module *m, const ExplainOptions *options, Text *t);
/* repeated.c: at L_resharded, kernels of their own that are computed more than once. */
void text_repeated(Text *t, Module *m);
/* ... at L_scheduled, fused steps; `headed`: the first have been told. */
void text_repeated_steps(Text *t, Module *m, bool headed);
/* annotations.c: what each changed. */
void text_annotations(Text *t, Module *m, const ExplainOptions *options);

/* why.c: what keeps a dim from being split further, a line each.  Requires
   L_sharded. */
typedef struct Why Why;
Why *why_new(Module *m);
void text_blocked(Why *w, const Value *v, int dim, Text *t);

/* remarks.c: tells the transfers that `partition` decided on, or only those that
   nobody asked for: under `strict` these are errors.  Requires L_resharded. */
typedef struct RemarkOptions {
	bool remarks;		 /* -Rreshard */
	bool strict;		 /* --strict */
	const char *global_text; /* the L_global module as HLO, for proposals;
				   NULL: none are made */
	size_t global_length;
	const Annotations *annotations; /* of that; or NULL */
	TrialProgress progress;
} RemarkOptions;
void tell_transfers(Module *m, const RemarkOptions *options);
/* What else could be written where something moves, and what a run would take; the moves
   that take longest first. */
void text_choices(Text *t, Module *m, const RemarkOptions *options);

/* viz.c: pictures of placements.  From L_sharded on. */
typedef enum VizFormat { VIZ_text, VIZ_svg, VIZ_html } VizFormat;
typedef struct VizOptions {
	VizFormat format;
	bool unicode, color; /* of text: box drawing, ANSI colours */
	const char *name;    /* of the one value to draw; NULL: all, and the slice */
} VizOptions;
void emit_viz(Module *m, const VizOptions *o, Text *t);

/* What would be kept for backward if a function was a checkpoint. */
typedef struct Checkpoint {
	const char *function;
	Range declared;
	int64_t kept, peak; /* bytes */
	const bool *avoids; /* by number of the buffer: that is not kept then */
} Checkpoint;
typedef struct MemoryNotes {
	int64_t otherwise; /* the peak if inputs that may be overwritten were kept, or the
			      other way round; -1: not known */
	const Checkpoint *checkpoints;
	int ncheckpoints;
} MemoryNotes;

/* memory.c: --emit=memory as "txt", "json", "csv" or "folded". */
void emit_memory(const Plan *plan, const MemoryNotes *notes, const char *format, Text *t);
/* "relu (line 7)", "relu (layers.shd:7)", "the start": one of plan->lives, or before or
   behind them. */
void text_at_step(Text *t, const Plan *plan, int step);
/* A diagnostic (DIAG_out_of_memory) unless the target's memory suffices. */
bool check_memory(const Plan *plan);

/* cost.c: --emit=cost as "txt", "json" or "csv", or as "folded" JSON (folded.h).
   Requires L_fused. */
/* FLOPs of dots over the time at the peak of bf16. */
double peak_share(const Timeline *timeline);
double tokens_per_second(const Timeline *timeline);
/* What its text begins with: how long, and what of that; three lines. */
void text_outcome(const Timeline *timeline, const Plan *plan, Text *t);
void emit_cost(const Timeline *timeline, const Plan *plan, const char *format, Text *t);

/* schedule.c: -Rschedule.  Requires L_scheduled. */
void tell_schedule(const Timeline *timeline);

/* trace.c: --emit=trace, "json".  Requires L_fused. */
void emit_trace(const Timeline *timeline, const Plan *plan, const char *format, Text *t);

/* timeline.c: --emit=timeline as "txt" or "svg".  Requires L_fused. */
void emit_timeline(const Timeline *timeline, const Plan *plan, const char *format, Text *t);

/* torus.c: --emit=torus as "txt" or "svg".  Requires L_fused. */
void emit_torus(const Timeline *timeline, const Plan *plan, const char *format, Text *t);

/* html.c: --emit=report, one page.  Requires L_fused. */
typedef struct ReportOptions {
	const Timeline *timeline;
	const Plan *plan;
	const char *remarks;		   /* -Rreshard in JSON, separated by commas; or NULL */
	const char *versus, *versus_title; /* cost.json of another program; or NULL */
	const char *command, *version;
	const char *sweep; /* --sweep's table, as emit_sweep() has it for a page; or NULL */
} ReportOptions;
void emit_report(const ReportOptions *options, Text *t);

/* stats.c: --emit=stats.  Requires L_fused. */
/* xla.c: XLA's collectives beside ours, by line of Python; text or "json". */
typedef struct XlaNote {
	const char *path;
	int line;
	const char *text; /* how Python would place it so */
	const char *axes; /* as they are told, */
	OpKind kind;	  /* of what moves it here, */
	double bytes;	  /* and how much a device then receives */
} XlaNote;
typedef struct XlaNotes {
	XlaNote *all;
	int n;
} XlaNotes;
/* At L_resharded: which operands are moved before they are used. */
void xla_note(XlaNotes *notes, Module *m);
void emit_xla(const Timeline *timeline, const XlaPlan *plan, const XlaNotes *notes,
	const char *format, Text *t);

void emit_stats(Module *m, int64_t memory_peak, Text *t);

#endif

/*
 * pipeline.h - brings a module from level to level.
 *
 * The passes are the rows of passes.def, in order.  The driver runs them with
 * the options of the command line; whoever wants to know what would be, if
 * something were otherwise, runs the same list on a module of its own.
 */
#ifndef SHDC_PIPELINE_H
#define SHDC_PIPELINE_H

#include "cost/timeline.h"
#include "memory/plan.h"
#include "sched/sched.h"
#include "shard/shard.h"

typedef struct PipelineOptions {
	bool pad_remarks;	 /* -Rpad */
	bool schedule_remarks;	 /* -Rschedule */
	const char *print_after; /* a pass, or "all"; NULL: none.  To the session's err */
	const char *stop_after;	 /* a pass; NULL: none */
	bool count_planned;	 /* stats, or a program with all facts, will be printed */
	bool count_least;	 /* ... or what a run takes at least */
	/* A pass of the module's level; NULL: the first.  One that has run on the
	   module before finds nothing to do, unless a dump was edited */
	const char *start_at;
	Foresight *foresight; /* NULL: foresight_that_pays() */
	Padding padding;      /* PAD_asked: padding_that_pays() */
	bool verified;	      /* what the passes leave is, where they run again */
	/* Called before each step and after it with its name, for --time-passes. */
	void (*start)(void *data);
	void (*stop)(void *data, const char *name);
	void *data;
} PipelineOptions;

typedef struct Pass {
	const char *name;
	bool (*run)(Module *m, const PipelineOptions *o); /* false: it changed nothing */
	Level before, after;
	const char *sentence;
} Pass;

const Pass *pass_by_name(const char *name); /* NULL: none */
const char *const *pass_names(int *n);
void list_passes(Text *t);

/* Checks the manual regions of what a front end made, and removes what nobody needs;
   false after errors, also of the front end, which is checked as far as it came. */
bool pipeline_accept(Module *m);

/*
 * Runs passes until the module has the level; false after errors.  After the
 * first, and each that changed something, the module is verified: one that is not
 * well-formed is our own bug and ends in die(), with the module printed and each
 * message under its line.
 */
bool pipeline_run(Module *m, Level level, const PipelineOptions *o);

/* fits.c: at L_sharded or L_resharded: the most that may be shared so that the program
   fits the memory of the target, or what takes least of it if nothing does.  A remark if
   that is less than all.  Found out once for a module. */
Sharing sharing_that_fits(Module *m);

/* ... at L_global, before dims are padded. */
Padding padding_that_pays(Module *m);

/* ... at L_sharded, before it is partitioned: with which of that does a device receive
   least? */
Foresight foresight_that_pays(Module *m, Foresight there_is);

/* planned.c: counts what is planned of the program as it is fused without a schedule. */
void planned_by_fusing(Module *m, PlannedRun *planned);

/* least.c: what a run takes at least with the trips of loops apart. */
int64_t least_of_trips_apart(Module *m);

/* pays.c: takes what makes a run quicker and still fits the memory of the target. */
void stack_sums_that_pay(Module *m, StackSums *sums, bool remarks);
bool branch_moves_that_pay(Module *m, const BranchMoves *moves);
void pipelining_that_pays(Module *m, Pipelining *p);

/* what_if.c: what a run of a program takes of one device. */
typedef struct Outcome {
	int collectives;
	int64_t wire_bytes;    /* received */
	int64_t picoseconds;   /* INT64_MAX: more than are counted */
	bool counted;	       /* the trips of all loops are known; else it takes longer */
	int64_t communication; /* picoseconds of what moves; of an `if` the dearer branch */
	int64_t exposed;       /* of those nothing is computed */
	int64_t peak;	       /* bytes of memory; at most INT64_MAX */
} Outcome;
/* Of a module at L_fused. */
Outcome outcome_of(Module *m, const Plan *plan, const Timeline *timeline);

/* The collectives of one place in the source, in one run; picoseconds. */
typedef struct Exposure {
	OpKind kind;
	const char *label, *path;
	int line;
	int64_t total, exposed;
} Exposure;
/* Of the program of that text, which is below L_fused, in `a`; NULL if it can't be. */
const Exposure *exposures_of(const char *text, size_t n, Arena *a, int *nexposures);

/* How a program is otherwise than its text says. */
typedef struct Placed {
	const Value *value; /* found by its name */
	Placement placement;
} Placed;
typedef struct Change {
	const Placed *placed; /* values that are placed so */
	int nplaced;
	const char *const *unplaced; /* names of values of which no placement is written */
	int nunplaced;
	bool toggle_inputs; /* kept if they are not, and the other way round */
} Change;
/* Of the program of that text, which is below L_fused.  False if it can't be. */
bool what_if(const char *text, size_t n, const Change *change, Outcome *outcome);
/* Many of them at once. */
typedef enum TrialEnd {
	TRIAL_defect, /* the compiler failed */
	TRIAL_no_memory,
	TRIAL_refused, /* it can't be */
	TRIAL_left,    /* it is not made: the program is long */
	TRIAL_through,
} TrialEnd;
typedef struct Trial {
	Change change;
	TrialEnd end;
	Outcome outcome;   /* if it is through: of all, */
	int64_t *received; /* and what of wire_bytes is at each place that is asked about */
} Trial;
/* Collectives of a kind: the op that they are for, its line, and along which axes they go, or
   some of these and others. */
typedef struct AskedPlace {
	OpKind kind;
	const char *label;
	int line;
	AxisList axes;
} AskedPlace;
typedef struct TrialProgress {
	/* Called before the i-th of n, and after the last. */
	void (*show)(void *data, int i, int n);
	void *data;
} TrialProgress;
/* Does it place what has a name by the type behind that: of a let, a var, what is assigned
   to that, a parameter of a function, a result? */
bool is_type_of_name(const Op *op);
/* Of so many trials those that are made of a program as long as the module: all, or what takes
   as long as all of one of 16,000 values, but an eighth at least. */
int trials_of_long(const Module *m, int most);
/* The program of that text, which is below L_fused; of a long one what was decided of it
   `as_is`, if anything was, is not asked again. */
typedef struct WhatIfs {
	const char *text;
	size_t n;
	const Module *as_is;
	const AskedPlace *places;
	int nplaces;
	Arena *arena; /* of Trial.received, if there are places */
	const TrialProgress *progress;
} WhatIfs;
void what_ifs(const WhatIfs *asked, Trial *const *trials, int ntrials);

#endif

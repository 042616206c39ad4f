/*
 * emit.h - what comes out of the compiler besides HLO text.
 */
#ifndef SHDC_EMIT_H
#define SHDC_EMIT_H

#include "ir/ir.h"

typedef struct Plan Plan; /* sched/plan.h */

/* c.c: one device's program as C.  Requires L_device and its plan. */
typedef struct EmitOptions {
	bool debug;	 /* -g: #line */
	const char *hlo; /* the unsharded program, for --check; NULL */
	size_t hlo_bytes;
	const Externs *externs; /* of the unsharded program, which has all */
} EmitOptions;
void emit_c(const Plan *plan, const EmitOptions *o, Text *t);

/* build.c: starts the C compiler.  False after a diagnostic. */
typedef struct BuildOptions {
	const char *cc;			/* NULL: cc */
	const char *cflags;		/* separated by blanks; NULL: none */
	int optimize;			/* -O0..3 */
	bool debug;			/* -g */
	const char *const *directories; /* -L */
	int ndirectories;
} BuildOptions;
bool build_executable(Session *s, const Text *c, const char *output, const BuildOptions *o,
	const Externs *externs);
bool build_object(Session *s, const Text *c, const char *output, const BuildOptions *o);

/* explain.c: why values are placed as they are; `name`: one of them, NULL all.
   At L_sharded: placements, who brought each axis and what keeps others away;
   at L_device: the collectives.  False after a diagnostic (no such name). */
bool emit_explain(Module *m, const char *name, Text *t);
void text_memory(Text *t, int64_t bytes); /* 8 KiB */

/* viz.c: pictures of placements.  From L_sharded on. */
typedef enum VizFormat { VIZ_text, VIZ_svg, VIZ_html } VizFormat;
typedef struct VizOptions {
	VizFormat format;
	bool unicode, color; /* of text: box drawing, ANSI colours */
} VizOptions;
void emit_viz(Module *m, const VizOptions *o, Text *t);

/* stats.c: --emit=stats.  Requires L_device. */
void emit_stats(Module *m, int64_t memory_peak, Text *t);

#endif

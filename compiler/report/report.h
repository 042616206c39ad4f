/*
 * report.h - what the compiler tells people and scripts about a program.
 */
#ifndef SHDC_REPORT_H
#define SHDC_REPORT_H

#include "memory/plan.h"

/* explain.c: why values are placed as they are; `name`: one of them, NULL all.
   At L_sharded: placements, who brought each axis and what keeps others away;
   at L_device: the collectives.  False after a diagnostic (no such name). */
bool emit_explain(Module *m, const char *name, Text *t);

/* viz.c: pictures of placements.  From L_sharded on. */
typedef enum VizFormat { VIZ_text, VIZ_svg, VIZ_html } VizFormat;
typedef struct VizOptions {
	VizFormat format;
	bool unicode, color; /* of text: box drawing, ANSI colours */
} VizOptions;
void emit_viz(Module *m, const VizOptions *o, Text *t);

/* memory.c: --emit=memory as "txt", "json" or "csv"; and a diagnostic
   (DIAG_out_of_memory) unless the target's memory suffices. */
void emit_memory(const Plan *plan, const char *format, Text *t);
bool check_memory(const Plan *plan);

/* stats.c: --emit=stats.  Requires L_device. */
void emit_stats(Module *m, int64_t memory_peak, Text *t);

#endif

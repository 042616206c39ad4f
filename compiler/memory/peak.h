/*
 * peak.h - where a program needs most memory, and for what.
 */
#ifndef SHDC_PEAK_H
#define SHDC_PEAK_H

#include "memory/plan.h"

typedef enum MemoryKind {
#define MEMORY_KIND(id, title) MEMORY_##id,
#include "memory/kinds.def"
#undef MEMORY_KIND
	MEMORY_KINDS
} MemoryKind;

extern const char *const memory_kind_names[MEMORY_KINDS]; /* the ids */
extern const char *const memory_kind_titles[MEMORY_KINDS];

typedef struct Peak {
	const Op *op;  /* the first step at which most is live; NULL: the start or the end */
	Buffer **live; /* then, largest first */
	int n;
	MemoryKind *kinds; /* of all buffers of the plan, by their number: what
					it holds then, or at its step that is next to it */
	bool *keeps;	   /* likewise: is anything in it kept for backward, at any time? */
	int64_t bytes[MEMORY_KINDS]; /* at the peak; their sum is plan_peak() */
	Buffer **kept; /* for backward at the first step at which most is, largest first */
	int nkept;
	int64_t bytes_kept; /* theirs */
} Peak;

/* In the module's arena; nothing is live where the plan is uncounted. */
Peak *plan_at_peak(const Plan *plan);

#endif

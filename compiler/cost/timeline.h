/*
 * timeline.h - when each step of a fused program runs on its device.
 */
#ifndef SHDC_TIMELINE_H
#define SHDC_TIMELINE_H

#include "cost/cost.h"
#include "cost/tracks.h"

typedef struct TimelineStep {
	const Op *op;
	StepCost cost;	     /* once */
	int64_t start, each; /* of the first trip; with the links to itself */
	int64_t lasts;	     /* from `start` on: longer where it shares links */
	int64_t awaited; /* of one that is asynchronous: until then it is waited for; else 0 */
	int64_t trips;
	bool counted;		/* the trips are known; else they count as one */
	bool moves;		/* data between devices */
	bool critical;		/* in each trip; all of these, `lasts` each, are the run */
	int64_t total, exposed; /* of all trips */
} TimelineStep;

/* A loop, from the first time it is come to until its last trip; or a branch. */
typedef struct TimelineSpan {
	const Op *op;
	int64_t start, time;
} TimelineSpan;

/* An `if`: how long its branches take, once, and which of them counts. */
typedef struct TimelineIf {
	const Op *op;
	int64_t time[2];
	int counts;
} TimelineIf;

/* One run of the entry on one device; all devices are alike. */
typedef struct Timeline {
	Module *module;
	TimelineStep *steps; /* in the order of `start` */
	int n;
	TimelineIf *ifs; /* of the steps; the outer before the inner */
	int nifs;
	TimelineStep *others; /* of branches that do not count, in nothing below */
	int nothers;
	TimelineSpan *spans; /* the outer before the inner */
	int nspans;
	bool counted;	 /* the trips of all loops are known; else it takes longer */
	bool decided;	 /* an `if` has branches of which one takes longer, and counts */
	int64_t *flight; /* by op id: how long a transfer lasts; also in branches that do
			    not count */

	/* picoseconds */
	int64_t time;
	int64_t lower;	/* no schedule of these steps takes less */
	int64_t serial; /* one step after the other: of the two below */
	int64_t compute, communication;
	int64_t exposed; /* communication, and nothing is computed */

	double dot_flops; /* but of what a checkpoint computes once more */
	double hbm_bytes;
} Timeline;

/* What a step is of the run, in picoseconds: all that computes, and of a transfer what is
   exposed.  So steps add up to its time. */
int64_t step_share(const TimelineStep *step);
/* A step of such a cost, which it points to, on tracks: TASK_run. */
Task task_of(const Op *op, const StepCost *cost);
/* ... of a loop, of its condition and its body, or of an `if`: TASK_run. */
Task task_of_bodies(const Op *op, Body first, Body second, Arena *a);
/* All trips, the condition once more than the body; one where they are not known. */
int64_t loop_picoseconds(const Op *loop, int64_t condition, int64_t body);
/* Requires L_fused or later; numbers the module. */
Timeline *timeline_build(Module *m, Arena *a);
/* But for `lower`, which few ask for. */
Timeline *timeline_walk(Module *m, Arena *a);
/* Its `time` alone; requires module_number(). */
int64_t timeline_time(Module *m);
/* More picoseconds than are counted: its times and sums say nothing. */
bool timeline_is_endless(const Timeline *t);
#define MOST_TIME "106 days"
#define TOO_LONG "a run takes more than " MOST_TIME ", more picoseconds than are counted"

#endif

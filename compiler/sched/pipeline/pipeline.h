/*
 * pipeline.h - what the files share that run parts of a loop's trips beside each other.
 *
 *   for i in 0..4:                      stage
 *     W  = all-gather(Ws[i])              0      a trip early
 *     h  = dot(h, W)                      1
 *     g  = reduce-scatter(dot(h, h))      2      a trip late
 *
 *   iteration   0      1      2      3      4      5
 *   stage 0     W[0]   W[1]   W[2]   W[3]
 *   stage 1            h[0]   h[1]   h[2]   h[3]
 *   stage 2                   g[0]   g[1]   g[2]   g[3]
 */
#ifndef SHDC_PIPELINE_LOOPS_H
#define SHDC_PIPELINE_LOOPS_H

#include "ir/flow.h"
#include "sched/sched.h"

enum {
	STAGE_any = -1, /* made anew wherever it is used */
	STAGE_early,
	STAGE_trip,
	STAGE_late,
	STAGES,
};

/* A body that is numbered by itself, and of what it is made. */
typedef struct Staged {
	Arena *arena;
	const PipelinedLoop *loop;
	Block *body;
	int64_t first, step, trips; /* the counter, parameter 0, of trip i: first + i * step */
	int *stage;		    /* by op id */
	int least, most;	    /* of the stages that there are */
} Staged;

/* stages.c: the counter and the trips; false if they are not known */
bool loop_is_counted(const Op *loop, Staged *s);
/* ... of a manual function, which stays as it is written */
bool is_manual_loop(const Op *loop);
/* ... false if the loop stays as it is */
bool stages_find(Staged *s);
static inline bool
is_handed_on(const Staged *s, const Value *param)
{
	return loop_hands_on(s->loop->op, param->index);
}

/* joined.c: the collective sums what is put together; its parts are summed instead */
bool joined_find(Op *collective, StackSum *sum);
void joined_apply(Module *m, const StackSum *sum);

/* straight.c: loops of one trip are none; true if there were any */
bool loops_open(Module *m);
/* ... parts at numbers that are known are slices */
bool parts_at_known(Module *m);

/* iterations.c: the loop written again */
void iterations_write(const Staged *s);

#endif

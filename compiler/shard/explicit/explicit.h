/*
 * explicit.h - private to explicit mode.
 *
 *   x: [8@X, 64@Y]   w: [64@Y, 16]
 *   h = dot(x, w)    h: [8@X, 16] unreduced(Y), pending: the program has to
 *                    say what becomes of the sums over Y
 */
#ifndef SHDC_SHARD_EXPLICIT_H
#define SHDC_SHARD_EXPLICIT_H

#include "shard/propagate/propagate.h"
#include "shard/shard.h"

typedef struct Explicit {
	Propagation g; /* each value its own cluster */
	bool *known;   /* by value id: what it is placed is known */
	Op **pending;  /* by value id: whose sums are still open */
	bool *unclear; /* by value id: after an error; say no more */
	Resharder *resharder;
	const Facts *infinite; /* by value id */
	int step;
	int quiet; /* > 0: look, do not tell */
	bool failed;
} Explicit;

/* Why an op has no one placement. */
typedef enum Fault {
	FAULT_none,
	FAULT_disagree, /* `a` and `b` split a factor differently */
	FAULT_twice,	/* `axis` splits the factors of `a` and `b` */
	FAULT_whole,	/* the factor of `a` must be whole */
	FAULT_strided,	/* `a`: no block of the result is one of it */
	FAULT_refused,	/* `tensor` is partial, and the op not linear; or `by`
			   another operand, which may be infinite */
} Fault;

typedef struct Finding {
	Fault fault;
	int tensor, by; /* operands */
	Holder a, b;
	AxisRef axis;
} Finding;

/* explicit.c */
/* The results of an op from its operands, as `clusters` have them. */
Finding derive(Explicit *e, OpState *o, Placement *results);

/* Is there an axis of l that cannot stand in one tensor with those of m? */
bool axes_clash(const AxisList *l, const AxisList *m, AxisRef *axis);

/* One expression of the user's may be several ops. */
bool same_expression(const Op *a, const Op *b);

/* Could the call's body go on with its operands as they are? */
bool body_is_clear(Explicit *e, Op *call);

/* report.c: all say nothing while `quiet` */
void report_call(Explicit *e, OpState *o);
void report_finding(Explicit *e, OpState *o, const Finding *f);
void report_partial(Explicit *e, const Op *maker, const Value *v);
void report_unknown(Explicit *e, const Op *op, int operand);
/* `op` would move its operand to `to`. */
void report_move(Explicit *e, const Op *op, const Placement *to);
/* The first operand of `user`, on which the op depends, is partial. */
void report_condition(Explicit *e, const Op *op, const Op *user);
/* Operand i of `a` and operand k of `b`, which meet in the op. */
void report_carried(Explicit *e, const Op *op, const Op *a, const Op *b, int i, int k);

static inline Placement *
explicit_placement(Explicit *e, const Value *v)
{
	return &e->g.clusters[v->id].now;
}

#endif

/*
 * flow.h - what flows into, round and out of bodies, and the facts that go
 * with it.
 *
 *   s, m = while(x, n)
 *            condition(s0, m0): return m0 < 4
 *            body(s1, m1):      return s1 * 2, m1 + 1
 *
 *   FLOW_in      x -> s0       x -> s1        n -> m0        n -> m1
 *   FLOW_past    x -> s        n -> m         no round is run
 *   FLOW_round   s1 * 2 -> s0  s1 * 2 -> s1   m1 + 1 -> m0   m1 + 1 -> m1
 *   FLOW_out     s1 * 2 -> s   m1 + 1 -> m
 *   op_decision  m0 < 4
 *
 * A call has flows in and out of its body, an `if` in and out of either; so has
 * a manual region, but what flows there is cut in parts, or put together.
 */
#ifndef SHDC_FLOW_H
#define SHDC_FLOW_H

#include "ir/ir.h"

enum { LOOP_CONDITION, LOOP_BODY }; /* bodies of a while */

typedef enum FlowKind {
	FLOW_in,    /* operand -> parameter */
	FLOW_past,  /* operand -> result */
	FLOW_round, /* returned -> parameter */
	FLOW_out,   /* returned -> result */
} FlowKind;

typedef struct Flow {
	const Op *op; /* that has the bodies */
	FlowKind kind;
	int index; /* of `to` among the parameters or the results */
	Value *from, *to;
	const Op *user; /* `from` is this operand of op, or of what a body returns */
	int operand;
	int way, next; /* of the walk */
} Flow;

/* All flows of an op, in the order above; none if it has no bodies:
   for (Flow f = {.op = op}; flow_next(&f);) */
bool flow_next(Flow *f);
/* ... that reach a value: for (Flow f = {.to = v}; flow_next_to(&f);) */
bool flow_next_to(Flow *f);
/* ... of an operand: for (Flow f = {.user = op, .operand = i}; flow_next_from(&f);) */
bool flow_next_from(Flow *f);

/* Into a manual region and out of it: how the tensor outside is cut; else NULL. */
const Placement *flow_spec(const Flow *f);
/* Are both ends one value under two names: into a composite and out of it, into a
   branch, and of a loop what it hands on? */
bool flow_renames(const Flow *f);
/* What `v` is a name of: a parameter of a branch, or what a loop only hands on, is
   a value around the op. */
const Value *value_around(const Value *v);

static inline bool
op_is_loop(const Op *op)
{
	return ops[op->kind].run == BODIES_loop;
}

static inline bool
op_is_branch(const Op *op)
{
	return ops[op->kind].run == BODIES_choice;
}

/* Of a fused program: do other steps run in it? */
static inline bool
op_has_blocks(const Op *op)
{
	return op_is_loop(op) || op_is_branch(op);
}

/* Its body is computed in one loop nest. */
static inline bool
op_is_fusion(const Op *op)
{
	return ops[op->kind].where == WHERE_fused;
}

/* Its body might as well stand where it is. */
static inline bool
op_is_composite(const Op *op)
{
	return ops[op->kind].run == BODIES_once && !op->specs;
}

/* What chooses the body of an `if`, or says whether there is another round of a
   `while`; NULL of other ops. */
Value *op_decision(const Op *op);

/*
 * Facts of values as sets of bits: what may be the case.  More is known of an
 * operand: more bits, more or the same bits of results.  Where several flows
 * meet, sets are united.
 *
 *   static void may_be_infinite(Dataflow *d, const Op *op)
 *   { dataflow_add(d, op->results[0], has_pole(op) || d->of[op->operands[0]->id]); }
 *
 *   Dataflow d = {.op = may_be_infinite};
 *   dataflow_solve(&d, arena, module->entry);      then d.of[value->id]
 *
 * In the loop above, if `n` may be 1 and `* 2` keeps that fact of `s`, the
 * solver finds s0 and s1 after the operands, s1 * 2 after s1, and comes back to
 * s0 and s1 only if s1 * 2 has a bit that they lack.
 */
typedef uint64_t Facts;

typedef struct Dataflow {
	/* Adds to the results what the op makes of its operands; of an op with
	   bodies, what does not come out of them.  Every op but `return`, when
	   it is met and when an operand got more. */
	void (*op)(struct Dataflow *d, const Op *op);
	/* What goes along; NULL: all that `from` has. */
	Facts (*along)(const struct Dataflow *d, const Flow *f);
	/* What holds of a decision holds of all that depends on it: results,
	   and what a loop carries. */
	bool decided;
	void *data;
	Facts *of; /* by value id; dataflow_solve() makes it if NULL */
	struct Solver *solver;
} Dataflow;

/* The least facts.  Values are numbered (module_number).  A value's uses are
   looked at again once for each bit, whatever loops are in each other. */
void dataflow_solve(Dataflow *d, Arena *a, Block *b);
void dataflow_add(Dataflow *d, const Value *v, Facts more);

#endif

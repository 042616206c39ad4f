/*
 * cuts.h - private to files that follow what is cut, from op to op.
 */
#ifndef SHDC_CUTS_H
#define SHDC_CUTS_H

#include "sched/decompose/decompose.h"

/* Values that are cut: where, and what there is of the piece. */
typedef struct CutValue {
	const Value *value;
	Cut cut;
	Value *piece;
} CutValue;

typedef struct Pass {
	const Einsum *einsum;
	int64_t n;
	CutValue *v;
	int nv;
} Pass;

/* cuts.c: what is known of a value; NULL: it is whole. */
CutValue *cut_of(const Pass *pass, const Value *v);
void note_cut(Pass *pass, const Value *v, Cut cut);
/* False: the op needs whole what is cut. */
bool pass_op(Pass *pass, const Op *op);
/* All that is between, from its first value on. */
bool pass_all(Pass *pass, Cut first);
const Value *first_value(const Einsum *e);
Value *last_value(const Einsum *e, int i);

#endif

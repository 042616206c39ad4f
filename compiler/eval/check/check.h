/*
 * check.h - between the files of eval/check: samples of each op, and bounds from
 * them.
 */
#ifndef SHDC_EVAL_CHECK_H
#define SHDC_EVAL_CHECK_H

#include "eval/machine.h"

typedef struct Precision {
	double unit;	  /* rounding: relative error of one */
	double normal;	  /* least normal number */
	double underflow; /* absolute error of a result below that */
	double greatest;  /* finite value */
	double integers;  /* all up to this are representable */
} Precision;
extern const Precision precisions[DTYPE_COUNT]; /* rounding.c: of floats */

/* By how much the result may be off, per element, through the op's own rounding;
   no data: it doesn't round.  Fills the result's spread. */
typedef bool Rounding(const Module *m, const Op *op, const Inexact *operands,
	const Inexact *result, Tensor *rounding);
Rounding round_pointwise; /* rounding.c */
Rounding round_none, round_move, round_read, round_dot, round_reduce, round_cumsum,
	round_scatter_add; /* sums.c */
bool find_rounding(const Module *m, const Op *op, Rounding *by, const Inexact *operands,
	const Inexact *result, Tensor *rounding);

/* samples.c: the lanes behind the values of an op's results */
bool sample_op(const Module *m, const Op *op, const Inexact *operands, const Inexact *results);
bool sample_anything(const Inexact *x); /* every element may be anything */
typedef bool Sample(const Op *op, const Inexact *operands, const Inexact *results);
Sample sample_sort;
Sample sample_extern; /* extern.c */
/* group.c */
bool sample_group(Machine *vm, const Op *op, GroupKernel *kernel, const Inexact *operands,
	const Inexact *results);

/* Sample k of an operand, `fixed` if that is exact; far from the reference for
   what decides something. */
bool sample_operand(const Inexact *x, const Tensor *fixed, int k, bool decides, Tensor *in);
/* The samples of a value, zero; each moved by rounding; away if they agree. */
bool new_samples(const Inexact *x);
void perturb(const Op *op, int k, DType d, const Tensor *rounding, Tensor *sample);
void drop_agreeing(const Inexact *x);
bool all_exact(const Op *op, const Inexact *operands);
/* A f64 tensor of the shape of t. */
bool tensor_like(const Tensor *t, Tensor *result);

#endif

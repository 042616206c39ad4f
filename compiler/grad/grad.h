/*
 * grad.h - gradients become ops.
 *
 *   l, l.2, dW = grad(x, W, 1.0)       what front/ leaves of value_and_grad(loss, wrt=(W))
 *     body(x, W, d): return(loss, W)   W stands for its gradient, which has its type
 *
 * becomes the ops of the body, then those of its backward pass, and all that only
 * says how gradients are to be taken goes.
 */
#ifndef SHDC_GRAD_H
#define SHDC_GRAD_H

#include "ir/ir.h"

/* Requires L_global, as front/ leaves it; there are no gradients left then.  False after
   messages about ops that have none. */
bool module_differentiate(Module *m);

/* ... of integers too, which wrap: the numbers of a ring, in which gradients of
   polynomials are exact. */
bool module_differentiate_ring(Module *m);

/* Before that: of the loops that begin there so many trips at once become a checkpoint.  False:
   of no loop can they.  Names of values are forgotten. */
typedef struct Place {
	const char *path;
	int begin; /* as that of a Range */
} Place;
bool module_checkpoint_trips(Module *m, const Place *loop, int64_t trips);
bool op_is_at(const Op *op, const Place *place);

/* ... the lines from that in which the ops are that begin there up to the last in which it is
   used become a checkpoint (lines.c). */
bool module_checkpoint_lines(Module *m, const Place *place);
/* The ops of these lines; those of the block get numbers. */
typedef struct Lines {
	Op *first, *last;
} Lines;
Lines lines_of(Op *op);

#endif

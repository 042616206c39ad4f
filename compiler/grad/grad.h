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

#endif

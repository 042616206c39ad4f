/*
 * manual.c - gradients of manual regions, and of what their devices exchange.
 */
#include "grad/adjoint.h"

void
gradient_manual(Adjoint *a, const Op *op)
{
	refuse(a, op, "%s is manual, and has no gradient", op->label);
}

void
gradient_all_gather(Adjoint *a, const Op *op)
{
	gradient_none(a, op);
}

void
gradient_all_reduce(Adjoint *a, const Op *op)
{
	gradient_none(a, op);
}

void
gradient_reduce_scatter(Adjoint *a, const Op *op)
{
	gradient_none(a, op);
}

void
gradient_all_to_all(Adjoint *a, const Op *op)
{
	gradient_none(a, op);
}

void
gradient_collective_permute(Adjoint *a, const Op *op)
{
	gradient_none(a, op);
}

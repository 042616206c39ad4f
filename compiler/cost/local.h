/*
 * local.h - the terms of a step's price, for the files of this folder.
 */
#ifndef SHDC_COST_LOCAL_H
#define SHDC_COST_LOCAL_H

#include "cost/cost.h"

/* A step that is being priced, with the types that it sees. */
typedef struct Step {
	const Mesh *mesh;
	const Op *op;
	const Type *operands; /* NULL: its own */
	const Type *result;
} Step;

static inline const Type *
step_operand(const Step *step, int i)
{
	return step->operands ? &step->operands[i] : &step->op->operands[i]->type;
}

/* products.c: of matrices, what the matrix unit does, or where that is faster the
   vector unit.  Fills in flops and busy[] of these. */
void product_work(const Step *step, StepCost *c);

/* kernels.c: of all others, by their rows of local.def.  Fills in flops, hbm_bytes and
   busy[] of the vector unit; false: there is nothing to do. */
bool local_work(const Step *step, StepCost *c);
void fusion_work(const Step *step, StepCost *c);
/* products.c: of an op that states what it costs, the share of this device: fills in all but
   seconds. */
void stated_work(const Step *step, StepCost *c);
/* How long the vector unit is busy with so many operations of a dtype. */
double vector_seconds(const Target *target, DType dtype, double operations);
/* What operands and results take of memory: nothing where they stay on the chip. */
double local_bytes(const Step *step);
double local_flops(const Step *step);

#endif

/*
 * products.c - how long products of matrices keep the device busy.
 *
 *   dot bf16[4,1000] x [1000,300], v5e   tiles of 128 x 128, rows of 8: as long as
 *                                        [8,1024] x [1024,384], 6.3 MFLOP in 34 ns
 *
 * The matrix unit holds a tile of one operand, the weight; rows of the other stream
 * through it.  So both dims of the weight are padded to the tile, and rows to
 * `matrix_rows`; the weight is the operand for which that is less.  Where padding
 * is nearly all, multiplying and adding on the vector unit is faster: of vectors,
 * and where nothing is summed.
 */
#include <math.h>
#include "cost/local.h"

static double
padded(double size, int64_t multiple)
{
	return ceil(size / (double)multiple) * (double)multiple;
}

static double
product_of_dims(const Type *type, const Ints *dims)
{
	double product = 1;

	for (int i = 0; i < dims->n; i++)
		product *= (double)type->dims[dims->v[i]];
	return product;
}

double
matrix_peak(const Target *target, DType dtype)
{
	const double peaks[DTYPE_COUNT] = {
#define DTYPE(id, hlo, bits, bytes, range, class, storage, compute, peak, vector) target->peak,
#include "ir/dtypes.def"
#undef DTYPE
	};

	return peaks[dtype];
}

typedef struct Product {
	double batch, left, right, contracted;
} Product;

/* Each group has as many rows: those of all of which the device has some. */
static Product
grouped_product(const Step *step)
{
	const Type *x = step_operand(step, 0), *other = step_operand(step, 1);
	const Type *group = step_operand(step, 2);
	bool outer = step->op->kind == O_grouped_outer;
	int rows = group->rank - 1;
	double groups = (double)(outer ? step->result : other)->dims[rows];
	double left = (double)type_elements_from(x, rows + 1);
	double right = (double)type_elements_from(other, rows + 1);
	double each = (double)group->dims[rows] / (double)op_int(step->op, A_of_groups);
	double batch = groups * (double)type_elements(group) / (double)group->dims[rows];

	return outer ? (Product){batch, left, right, each}
		     : (Product){batch, each, right / left, left};
}

static Product
dot_product(const Step *step)
{
	const Type *lhs = step_operand(step, 0), *rhs = step_operand(step, 1);
	double batch = product_of_dims(lhs, op_ints(step->op, A_lhs_batch));
	double contracted = product_of_dims(lhs, op_ints(step->op, A_lhs_contract));

	return (Product){batch, (double)type_elements(lhs) / batch / contracted,
		(double)type_elements(rhs) / batch / contracted, contracted};
}

/* The unit that is done with them first. */
static void
set_unit(const Step *step, DType dtype, double matrix, StepCost *c)
{
	double vector = vector_seconds(step->mesh->target, dtype, c->flops);

	if (vector < matrix)
		c->busy[RESOURCE_vpu] = vector;
	else
		c->busy[RESOURCE_mxu] = matrix;
}

void
product_work(const Step *step, StepCost *c)
{
	const Target *target = step->mesh->target;
	const Type *lhs = step_operand(step, 0);
	Product p = op_is_grouped(step->op) ? grouped_product(step) : dot_product(step);
	double batch = p.batch, contracted = p.contracted, left = p.left, right = p.right;
	int64_t tile = target->matrix_tile, rows = target->matrix_rows;
	double weight_right = padded(left, rows) * padded(right, tile);
	double weight_left = padded(left, tile) * padded(right, rows);
	double free = weight_left < weight_right ? weight_left : weight_right;
	double matrix = ops[step->op->kind].flops * batch * padded(contracted, tile) * free
		/ (matrix_peak(target, lhs->dtype) * target->matrix_efficiency);

	c->flops = ops[step->op->kind].flops * batch * contracted * left * right;
	set_unit(step, lhs->dtype, matrix, c);
}

/* ---- costs that are stated ---------------------------------------------------- */

/* Of a dim of so many elements, which letters make, a device's share, if none of them was
   counted yet. */
static double
dim_share(const ExternRule *rule, const ExternDim *dim, int64_t size, uint64_t *counted)
{
	double whole = 1;

	for (int i = 0; i < dim->n; i++) {
		if (*counted >> dim->letters[i] & 1)
			return 1;
		whole *= (double)rule->sizes[dim->letters[i]];
	}
	for (int i = 0; i < dim->n; i++)
		*counted |= 1ull << dim->letters[i];
	return fmin(1, (double)size / whole);
}

/* How much of the whole call these shapes are. */
static double
stated_share(const Step *step)
{
	const ExternRule *rule = &step->op->external->parsed;
	uint64_t counted = 0;
	double share = 1;

	for (int t = 0; rule->sized && t < rule->nterms; t++) {
		const Type *type = t < rule->noperands ? step_operand(step, t)
			: t == rule->noperands	       ? step->result
						       : &rule_tensor(step->op, t)->type;
		for (int d = 0; d < rule->terms[t].rank; d++)
			if (rule->terms[t].dims[d].n)
				share *= dim_share(rule, &rule->terms[t].dims[d], type->dims[d],
					&counted);
	}
	return share;
}

void
stated_work(const Step *step, StepCost *c)
{
	enum { TRANSCENDENTAL = 6 }; /* operations, as of exp */
	const Target *target = step->mesh->target;
	const External *x = step->op->external;
	DType dtype = (step->op->noperands ? step_operand(step, 0) : step->result)->dtype;
	double share = stated_share(step), peak = matrix_peak(target, dtype);

	c->flops = share * (double)x->flops;
	c->hbm_bytes = share * (double)x->bytes;
	set_unit(step, dtype,
		peak > 0 ? c->flops / (peak * target->matrix_efficiency) : INFINITY, c);
	c->busy[RESOURCE_vpu] += vector_seconds(target, dtype,
		share * (double)x->transcendentals * TRANSCENDENTAL);
}

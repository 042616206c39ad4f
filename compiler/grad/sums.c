/*
 * sums.c - gradients of products and sums.
 */
#include "grad/adjoint.h"
#include "ir/einsum.h"

/* ---- products ------------------------------------------------------------ */

/*
 * The gradient of an einsum is the einsum with letters exchanged: of bd,df->bf
 *   dlhs  bf,df->bd       drhs  bd,bf->df
 */
typedef struct Product {
	Term lhs, rhs, result;
	int nletters;
} Product;

static void
name_letters(Product *p, const Op *op)
{
	const Ints *batch[] = {op_ints(op, A_lhs_batch), op_ints(op, A_rhs_batch)};
	const Ints *contract[] = {op_ints(op, A_lhs_contract), op_ints(op, A_rhs_contract)};
	Term *terms[] = {&p->lhs, &p->rhs};
	int n = 0, rank = 0;

	for (int i = 0; i < batch[0]->n; i++) {
		p->lhs.letters[batch[0]->v[i]] = p->rhs.letters[batch[1]->v[i]] = n;
		p->result.letters[rank++] = n++;
	}
	for (int i = 0; i < contract[0]->n; i++)
		p->lhs.letters[contract[0]->v[i]] = p->rhs.letters[contract[1]->v[i]] = n++;
	for (int t = 0; t < 2; t++)
		for (int d = 0; d < op->operands[t]->type.rank; d++) {
			if (ints_contain(batch[t], d) || ints_contain(contract[t], d))
				continue;
			terms[t]->letters[d] = n;
			p->result.letters[rank++] = n++;
		}
}

/* The other operand in the dtype of this one, which is the gradient's: what is wider is
   rounded once, before the product. */
static void
give_product(Adjoint *a, const Op *op, int operand)
{
	Value *x = op->operands[operand];
	Product p = {0};

	name_letters(&p, op);
	Term *mine = operand == 0 ? &p.lhs : &p.rhs;
	Term terms[] = {p.result, operand == 0 ? p.rhs : p.lhs};
	terms[0].value = make_convert(a->k, cotangent_of(a, op->results[0]), x->type.dtype);
	terms[1].value = here_operand(a, op, 1 - operand);
	if (operand == 1) { /* as the operands stand: lhs, then what stands for rhs */
		Term first = terms[0];
		terms[0] = terms[1];
		terms[1] = first;
	}
	give(a, x, make_einsum(a->k, 2, terms, mine, x->type.rank, x->type.dtype));
}

void
gradient_dot(Adjoint *a, const Op *op)
{
	for (int i = 0; i < 2; i++)
		if (wants(a, op, i))
			give_product(a, op, i);
}

/* ---- reductions ------------------------------------------------------------ */

/* Back in the dims that were reduced. */
static Value *
spread_over(Make k, Value *reduced, const Op *op)
{
	const Type *x = &op->operands[0]->type;
	const Ints *dims = op_ints(op, A_dims);
	int64_t to[MAX_RANK];
	int n = 0;

	for (int d = 0; d < x->rank; d++)
		if (!ints_contain(dims, d))
			to[n++] = d;
	return make_broadcast(k, reduced, x, to);
}

/* In equal shares to those that are the result.  NaN is none of them: of NaN that is 0/0,
   for all. */
static Value *
to_equals(Adjoint *a, const Op *op, Value *dy)
{
	const Ints *dims = op_ints(op, A_dims);
	Value *x = here_operand(a, op, 0);
	Value *y = spread_over(a->k, here(a, op->results[0]), op);
	Value *is_it = make_compare(a->k, DIR_EQ, x, y);
	Value *counted = make_convert(a->k, is_it, D_f32);
	Value *count = make_reduce(a->k, C_add, counted, dims->n, dims->v);
	count = make_convert(a->k, count, dy->type.dtype);
	Value *share = spread_over(a->k, make_binary(a->k, O_div, dy, count), op);

	return make_binary(a->k, O_mul, make_convert(a->k, is_it, dy->type.dtype), share);
}

/*
 * Of a product each factor's is the product of the others, zeros among them or not.
 * Halves are multiplied until one number is left, and the way goes back:
 *   x0 = [a b c]   x1 = [a*b c]   x2 = [a*b*c]
 *   d2 = dy        d1 = [dy*c dy*a*b]   d0 = [d1[0]*b d1[0]*a d1[1]]
 */
static Value *
through_halves(Make k, Value *x, int dim, Value *dy)
{
	int64_t n = x->type.dims[dim], half = n / 2;

	if (n == 1)
		return dy;
	Value *low = make_slice_dim(k, x, dim, 0, half, 1);
	Value *high = make_slice_dim(k, x, dim, half, 2 * half, 1);
	Value *rest = n % 2 ? make_slice_dim(k, x, dim, n - 1, n, 1) : NULL;
	Value *next[] = {make_binary(k, O_mul, low, high), rest};
	Value *below = through_halves(k, make_concatenate(k, rest ? 2 : 1, next, dim), dim, dy);
	Value *both = make_slice_dim(k, below, dim, 0, half, 1);
	Value *of_low = make_binary(k, O_mul, both, high);
	Value *of_high = make_binary(k, O_mul, both, low);
	Value *of_rest = rest ? make_slice_dim(k, below, dim, half, half + 1, 1) : NULL;

	return make_concatenate(k, rest ? 3 : 2, (Value *[]){of_low, of_high, of_rest}, dim);
}

/* The dims that are multiplied become one, the last. */
static Value *
through_product(Adjoint *a, const Op *op, Value *dy)
{
	Value *x = here_operand(a, op, 0);
	const Ints *dims = op_ints(op, A_dims);
	int64_t order[MAX_RANK], back[MAX_RANK], flat[MAX_RANK], size = 1;
	int n = 0, rank = x->type.rank;
	Type moved;

	for (int d = 0; d < rank; d++)
		if (!ints_contain(dims, d)) {
			flat[n] = x->type.dims[d];
			order[n++] = d;
		}
	for (int i = 0; i < dims->n; i++) {
		size *= x->type.dims[dims->v[i]];
		order[n + i] = dims->v[i];
	}
	for (int d = 0; d < rank; d++)
		back[order[d]] = d;
	if (size == 0)
		return make_zeros(a->k, &x->type);
	flat[n] = size;
	x = make_transpose(a->k, x, order);
	moved = x->type;
	x = make_reshape(a->k, x, n + 1, flat);
	flat[n] = 1;
	dy = make_reshape(a->k, dy, n + 1, flat);
	Value *dx = through_halves(a->k, x, n, dy);
	return make_transpose(a->k, make_reshape(a->k, dx, rank, moved.dims), back);
}

void
gradient_reduce(Adjoint *a, const Op *op)
{
	Value *dy = cotangent_of(a, op->results[0]), *dx = NULL;

	switch ((Combiner)op_int(op, A_combiner)) {
	case C_add:
		dx = spread_over(a->k, dy, op);
		break;
	case C_max:
	case C_min:
		dx = to_equals(a, op, dy);
		break;
	case C_mul:
		dx = through_product(a, op, dy);
		break;
	case C_and:
	case C_or:
	case COMBINER_COUNT: /* of preds */
		break;
	}
	give(a, op->operands[0], dx);
}

/* The sum of what comes behind. */
void
gradient_cumsum(Adjoint *a, const Op *op)
{
	int64_t dim = op_int(op, A_dim);

	if (op_int(op, A_combiner) != C_add) {
		gradient_none(a, op);
		return;
	}
	Value *dy = make_reverse(a->k, cotangent_of(a, op->results[0]), 1, &dim);
	Value *sum = make_cumsum(a->k, C_add, dy, (int)dim);
	give(a, op->operands[0], make_reverse(a->k, sum, 1, &dim));
}

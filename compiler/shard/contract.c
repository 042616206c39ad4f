/*
 * contract.c - a sum of products is a dot.
 *
 * example     sum(b[:, :, new] * v[new, :, :], dim=1): matmul(b, v)
 * requires    L_sharded
 * leaves      L_sharded: a reduction by addition of a product of which each factor lacks
 *             dims that the other has is a dot, where the reduction was
 *
 * The product is larger than both factors, and propagation has put it by what is made of
 * it or by one of them: its sums would not be left in parts.  A dot is planned by both,
 * takes its turn in sums of partial sums, and its products are nowhere held.  The product
 * is used by the reduction alone, and in no explicit or manual code, which says itself
 * where things are.  Of values that are multiplied element by element (x * x) nothing is
 * gained: they stay.
 */
#include "ir/make.h"
#include "shard/shard.h"

/* What is multiplied, without the dims along which it is repeated. */
typedef struct Multiplicand {
	Value *value;
	int dim[MAX_RANK]; /* of the value, for each of the product; -1: repeated along it */
} Multiplicand;

static Multiplicand
multiplicand(Value *v)
{
	const Op *op = v->def;
	Multiplicand f = {.value = v};
	bool repeats = op && op->kind == O_broadcast && op->operands[0]->type.rank;

	for (int d = 0; d < v->type.rank; d++)
		f.dim[d] = repeats ? -1 : d;
	if (!repeats)
		return f;
	f.value = op->operands[0];
	const Ints *to = op_ints(op, A_dims);
	for (int i = 0; i < to->n; i++)
		f.dim[to->v[i]] = i;
	return f;
}

/* Of how many dims of the product, and which, that are summed or not, `a` has them and b
   has, or has not. */
static int
dims_of(const Op *sum, const Multiplicand *a, bool summed, const Multiplicand *b, bool shared,
	int64_t *dims)
{
	int n = 0;

	for (int d = 0; d < sum->operands[0]->type.rank; d++)
		if (a->dim[d] >= 0 && (b->dim[d] >= 0) == shared
			&& ints_contain(op_ints(sum, A_dims), d) == summed)
			dims[n++] = d;
	return n;
}

/* Where the old value is, dim order[i] of the new one as dim i of that. */
static void
place_as(Value *v, const Value *old, const int64_t *order)
{
	int64_t *sizes = NEW_ARRAY(v->def->module->arena, int64_t, v->type.rank + 1);

	v->placement = placement_none(v->type.rank);
	for (int i = 0; i < v->type.rank; i++) {
		AxisList axes = placement_dim(&old->placement, i);
		placement_set_dim(&v->placement, (int)order[i], &axes);
		sizes[order[i]] = old->unpadded ? old->unpadded[i] : 0;
	}
	v->unpadded = old->unpadded ? sizes : NULL;
}

/* A dot does not round its products: of floats of a byte that would be seen. */
static bool
is_coarse(DType dtype)
{
	return dtype_is_float(dtype) && dtypes[dtype].bytes < 2;
}

/* The product, if the op is a sum of one that is made for it alone; else NULL. */
static const Op *
product_of(const Op *sum)
{
	const Op *product = sum->kind == O_reduce ? sum->operands[0]->def : NULL;

	if (!product || op_int(sum, A_combiner) != C_add || product->kind != O_mul
		|| product->results[0]->uses != 1 || product->block != sum->block
		|| sum->mode == MODE_explicit || product->mode == MODE_explicit
		|| sum->operands[0]->type.dtype != sum->results[0]->type.dtype
		|| is_coarse(sum->results[0]->type.dtype))
		return NULL;
	return product;
}

static bool
is_expected(const Module *m, const Value *v)
{
	for (int i = 0; i < m->nexpects; i++)
		if (m->expects[i].value == v)
			return true;
	return false;
}

/* Its result as the sum has it: the dims of the product that are left, in their order, where
   the sum was placed. */
static Value *
make_contraction(Op *sum, const Multiplicand *a, const Multiplicand *b)
{
	const Value *old = sum->results[0];
	int64_t dims[3 * MAX_RANK], summed[MAX_RANK], order[MAX_RANK];
	DotDims dot = {0};
	int n, nkept = 0;

	dot.nbatch = n = dims_of(sum, a, false, b, true, dims);
	dot.ncontract = dims_of(sum, a, true, b, true, summed);
	for (int i = 0; i < dot.nbatch; i++) {
		dot.lhs_batch[i] = a->dim[dims[i]];
		dot.rhs_batch[i] = b->dim[dims[i]];
	}
	for (int i = 0; i < dot.ncontract; i++) {
		dot.lhs_contract[i] = a->dim[summed[i]];
		dot.rhs_contract[i] = b->dim[summed[i]];
	}
	n += dims_of(sum, a, false, b, false, dims + n);
	n += dims_of(sum, b, false, a, false, dims + n);
	/* dims[i] of the product is dim i of the dot */
	for (int d = 0; d < sum->operands[0]->type.rank; d++)
		for (int i = 0; i < n; i++)
			if (dims[i] == d)
				order[nkept++] = i;
	Make k = make_before(sum);
	Value *v = make_dot(k, a->value, b->value, &dot, old->type.dtype);
	place_as(v, old, order);
	Value *as = make_transpose(named(k, old->name), v, order);
	for (int i = 0; i < n; i++)
		order[i] = i;
	place_as(as, old, order);
	value_take_name(as, old);
	as->origins = old->origins;
	return as;
}

/* What the op is from now on, as a dot; NULL: as it is. */
static Value *
contract_sum(const Module *m, Op *sum)
{
	const Op *product = product_of(sum);
	int64_t own[2][MAX_RANK];

	if (!product || sum->results[0]->placement.nunreduced
		|| is_expected(m, product->results[0]))
		return NULL;
	Multiplicand a = multiplicand(product->operands[0]),
		     b = multiplicand(product->operands[1]);
	int of_a = dims_of(sum, &a, false, &b, false, own[0]);
	int of_b = dims_of(sum, &b, false, &a, false, own[1]);
	int both = dims_of(sum, &a, true, &b, true, (int64_t[MAX_RANK]){0});
	if (!of_a || !of_b || both != op_ints(sum, A_dims)->n)
		return NULL;
	/* in the order of the result, as far as that goes */
	bool in_order = own[0][0] < own[1][0];
	return make_contraction(sum, in_order ? &a : &b, in_order ? &b : &a);
}

/* ---- the pass ----------------------------------------------------------------------- */

/* Of a block and the loops and branches in it; now[id]: what stands for a value. */
static bool
contract_block(Module *m, Block *b, Value **now)
{
	bool any = false;

	for (Op *op = b->first; op; op = op->next) {
		for (int i = 0; i < op->noperands; i++) {
			int id = op->operands[i]->id;
			if (id >= 0 && now[id])
				op->operands[i] = now[id];
		}
		for (int i = 0; i < op->nbodies && !op->specs; i++)
			any |= contract_block(m, op->bodies[i], now);
		Value *v = contract_sum(m, op);
		if (v)
			now[op->results[0]->id] = v;
		any |= v != NULL;
	}
	return any;
}

/* Users first: sums that are dots now, and what was made for them alone. */
static void
remove_unused(Block *b)
{
	for (Op *op = b->last, *previous; op; op = previous) {
		previous = op->prev;
		for (int i = 0; i < op->nbodies && !op->specs; i++)
			remove_unused(op->bodies[i]);
		bool part = op->kind == O_reduce || op->kind == O_mul || op->kind == O_broadcast
			|| op->kind == O_constant;
		if (!part || op->mode == MODE_explicit || op->results[0]->uses)
			continue;
		for (int i = 0; i < op->noperands; i++)
			op->operands[i]->uses--;
		op_remove(op);
	}
}

bool
contract(Module *m)
{
	module_number(m);
	module_count_uses(m);
	Arena *scratch = arena_new();
	Value **now = NEW_ARRAY(scratch, Value *, m->nvalues + 1);
	bool any = contract_block(m, m->entry, now);

	module_replace_named(m, now);
	if (any) {
		module_count_uses(m);
		remove_unused(m->entry);
	}
	for (int i = 0; i < m->nnamed && any; i++)
		if (m->named[i].value && value_is_gone(m->named[i].value))
			m->named[i].value = NULL;
	arena_free(scratch);
	return any;
}

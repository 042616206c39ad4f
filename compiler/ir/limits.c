/*
 * limits.c - parameters whose elements are positions.
 *
 * Made-up inputs should be positions that exist, and the same on every mesh: so
 * what a parameter is compared with or indexes is found in the program on whole
 * tensors and stays with it (Value.index_limit).
 *
 *   rows = take(x, i * 4 + iota(i32[4]))          x has 32 rows
 *
 * From the last op to the first: of the index, elements from 0 to 31 are wanted, so
 * of i * 4 from 0 to 28, and of i from 0 to 7.
 */
#include "ir/flow.h"

/* Of a value of these, by id, elements are wanted in [0, limit); 0: any. */
static void
want(int64_t *limits, const Value *v, int64_t limit)
{
	int64_t *known = &limits[v->id];

	if (limit > 0 && (!*known || limit < *known))
		*known = limit;
}

/* Every element of the result is one of operand 0. */
static bool
moves(OpKind kind)
{
	return ops[kind].partial == PARTIAL_move || kind == O_convert || kind == O_barrier
		|| kind == O_reshard || kind == O_shard_like || kind == O_dynamic_slice
		|| kind == O_take || kind == O_pad;
}

/* What made the elements of `v`, wherever they were moved since; NULL: a parameter. */
static const Op *
made_by(const Value *v)
{
	enum { MOST_MOVES = 16 };
	const Op *op = v->def;

	for (int i = 0; i < MOST_MOVES && op && moves(op->kind) && op->noperands == 1; i++)
		op = op->operands[0]->def;
	return op;
}

/* The greatest element, where none is below 0 and that is known without a run: of an
   iota, or of a constant. */
static bool
find_greatest(const Op *op, int64_t *greatest)
{
	if (!op || op->nresults != 1 || !dtype_is_integer(op->results[0]->type.dtype))
		return false;
	if (op->kind == O_iota) {
		*greatest = op->results[0]->type.dims[op_int(op, A_iota_dim)] - 1;
		return true;
	}
	const Ints *values = op_ints(op, A_value);
	*greatest = 0;
	for (int i = 0; i < values->n; i++) {
		if (values->v[i] < 0)
			return false;
		if (values->v[i] > *greatest)
			*greatest = values->v[i];
	}
	return op->kind == O_constant;
}

/* What the op itself wants of its operands: what takes part, and where. */
static void
want_positions(int64_t *limits, const Op *op)
{
	int64_t greatest;

	if (op->kind == O_take || op->kind == O_scatter_add)
		want(limits, op->operands[1], op->operands[0]->type.dims[op_int(op, A_dim)]);
	for (int i = 0; i < 2 && op->kind == O_compare; i++) {
		const Op *other = made_by(op->operands[1 - i]);
		if (other && other->kind == O_iota && find_greatest(other, &greatest))
			want(limits, op->operands[i], greatest + 1);
	}
	if (!op_has_starts(op))
		return;
	const Value *part = op->kind == O_dynamic_slice ? op->results[0] : op->operands[1];
	int first = op->noperands - part->type.rank;
	for (int d = 0; d < part->type.rank; d++)
		want(limits, op->operands[first + d],
			op->operands[0]->type.dims[d] - part->type.dims[d] + 1);
}

/* i + c, i * c, i / c: from the limit of the result that of i. */
static void
want_of_arithmetic(int64_t *limits, const Op *op, int64_t limit)
{
	for (int i = 0; i < 2; i++) {
		const Value *x = op->operands[i];
		int64_t c, more;
		if (!find_greatest(made_by(op->operands[1 - i]), &c))
			continue;
		if (op->kind == O_add)
			want(limits, x, limit - c);
		else if (op->kind == O_mul && c > 0)
			want(limits, x, (limit - 1) / c + 1);
		else if (op->kind == O_div && i == 0 && mul_i64(limit, c, &more))
			want(limits, x, more);
	}
}

/* What is wanted of results is wanted of operands. */
static void
want_operands(int64_t *limits, const Op *op)
{
	int64_t limit = op->nresults ? limits[op->results[0]->id] : 0;

	want_positions(limits, op);
	if (!limit && op->nresults == 1)
		return;
	if (op->kind == O_sort)
		for (int i = 0; i < op->nresults; i++)
			want(limits, op->operands[i], limits[op->results[i]->id]);
	else if (op->kind == O_concatenate)
		for (int i = 0; i < op->noperands; i++)
			want(limits, op->operands[i], limit);
	else if (op->kind == O_add || op->kind == O_mul || op->kind == O_div)
		want_of_arithmetic(limits, op, limit);
	else if (op->kind == O_select || op->kind == O_dynamic_update_slice)
		for (int first = op->kind == O_select, i = first; i < first + 2; i++)
			want(limits, op->operands[i], limit);
	else if (moves(op->kind))
		want(limits, op->operands[0], limit);
}

/* From the last op to the first: what is wanted of a value is known when its own op is
   met.  What a loop carries is followed into its last round and out of its first. */
static void
walk(int64_t *limits, const Block *b)
{
	for (const Op *op = b->last; op; op = op->prev) {
		for (Flow f = {.op = op}; flow_next(&f);)
			if (f.kind == FLOW_out || f.kind == FLOW_past)
				want(limits, f.from, limits[f.to->id]);
		for (int i = 0; i < op->nbodies; i++)
			walk(limits, op->bodies[i]);
		for (Flow f = {.op = op}; flow_next(&f);)
			if (f.kind == FLOW_in)
				want(limits, f.from, limits[f.to->id]);
		if (!op->nbodies)
			want_operands(limits, op);
	}
}

bool
module_limit_indices(Module *m)
{
	Arena *a = arena_new();
	bool any = false;

	module_number(m);
	int64_t *limits = NEW_ARRAY(a, int64_t, m->nvalues + 1);
	walk(limits, m->entry);
	for (int i = 0; i < m->entry->nparams; i++) {
		Value *v = m->entry->params[i];
		int range = dtypes[v->type.dtype].range;
		int64_t limit = limits[v->id];
		if (range < 62 && limit > INT64_C(1) << range)
			limit = INT64_C(1) << range; /* the dtype has no more */
		if (!dtype_is_integer(v->type.dtype) || !limit || v->index_limit)
			continue; /* what is known is from the true sizes, before padding */
		v->index_limit = limit;
		any = true;
	}
	arena_free(a);
	return any;
}

/*
 * indices.c - gradients of ops that look up where elements are.
 */
#include "grad/adjoint.h"
#include "ir/flow.h"

/* ---- parts that begin somewhere ------------------------------------------ */

static Value **
starts_here(Adjoint *a, const Op *op, int first)
{
	Value **start = NEW_ARRAY(a->g->arena, Value *, op->noperands - first);

	for (int i = first; i < op->noperands; i++)
		start[i - first] = here_operand(a, op, i);
	return start;
}

/* Does each trip of the loop around look at a slice of its own of what it only reads, as
   `for w in ws` does, and at nothing else of it? */
static bool
takes_own_slice(const Adjoint *a, const Op *op)
{
	const Value *x = op->operands[0], *index = op->operands[1];
	const Op *loop = a->cross.op;
	Trips t;

	return loop && op_is_loop(loop) && !x->def && !index->def && index->index == 0
		&& x->uses == 2 && op_int(op, A_sizes) == 1 && loop_trips(loop, &t)
		&& t.first >= 0 && t.first + t.trips <= x->type.dims[0]
		&& loop_hands_on(loop, x->index);
}

void
gradient_dynamic_slice(Adjoint *a, const Op *op)
{
	Value *dy = cotangent_of(a, op->results[0]), *x = op->operands[0];
	Value **start = starts_here(a, op, 1), **sum = cotangent_sum(a, x);

	if (takes_own_slice(a, op) && *sum)
		*sum = make_dynamic_update_slice(a->k, *sum, dy, start);
	else
		give_part(a, x, dy, start);
}

void
gradient_dynamic_update_slice(Adjoint *a, const Op *op)
{
	const Value *x = op->operands[0], *update = op->operands[1];
	Value *dy = cotangent_of(a, op->results[0]);
	Value **start = starts_here(a, op, 2);

	if (is_active(a, update))
		give(a, update, make_dynamic_slice(a->k, dy, start, update->type.dims));
	if (is_active(a, x)) {
		Value *zeros = make_zeros(a->k, &update->type);
		give(a, x, make_dynamic_update_slice(a->k, dy, zeros, start));
	}
}

/* ---- rows at indices ------------------------------------------------------ */

/* Of each dim of x that is looked up so many rows, less `but`. */
static Value *
ends_of_rows(Adjoint *a, const Lookup *look, const Value *x, const Value *index, int64_t but)
{
	int64_t ends[MAX_RANK];

	for (int i = 0; i < look->n; i++)
		ends[i] = x->type.dims[look->first + i] - but;
	return make_each(a->k, &index->type, look->n, ends);
}

/* What was taken from outside came from the first or the last row. */
void
gradient_take(Adjoint *a, const Op *op)
{
	Value *x = op->operands[0], *index = here_operand(a, op, 1);
	Lookup look = op_lookup(op);
	Value *first = make_zeros(a->k, &index->type);

	index = make_clamp(a->k, first, index, ends_of_rows(a, &look, x, index, 1));
	Value **sum = cotangent_sum(a, x);
	Value *to = *sum ? *sum : make_zeros(a->k, &x->type);
	Value *rows = cotangent_of(a, op->results[0]);
	*sum = make_scatter_add_as(a->k, to, index, rows, &look);
}

/* Of rows that were dropped there is none. */
static Value *
rows_added(Adjoint *a, const Op *op, Value *dy)
{
	Lookup look = op_lookup(op);
	Value *index = here_operand(a, op, 1);
	Value *first = make_zeros(a->k, &index->type);
	Value *end = ends_of_rows(a, &look, dy, index, 0);
	Value *from_first = make_compare(a->k, DIR_GE, index, first);
	Value *before_end = make_compare(a->k, DIR_LT, index, end);
	Value *inside = make_binary(a->k, O_and, from_first, before_end);
	Value *rows = make_lookup_as(a->k, dy, index, &look);

	if (look.n > 1)
		inside = make_reduce(a->k, C_and, inside, 1, (int64_t[]){look.rank});
	inside = make_spread(a->k, inside, look.first, &rows->type);
	return make_select(a->k, inside, rows, make_zeros(a->k, &rows->type));
}

void
gradient_scatter_add(Adjoint *a, const Op *op)
{
	Value *dy = cotangent_of(a, op->results[0]);

	give(a, op->operands[0], dy);
	if (wants(a, op, 2))
		give(a, op->operands[2], rows_added(a, op, dy));
}

/* ---- rows of groups -------------------------------------------------------- */

/* w[b.., g, k.., n..] as w[b.., g, n.., k..] */
static Value *
groups_turned(Make k, Value *v, int rows, int ncontract)
{
	int64_t order[MAX_RANK];
	int n = 0;

	for (int d = 0; d <= rows; d++)
		order[n++] = d;
	for (int d = rows + 1 + ncontract; d < v->type.rank; d++)
		order[n++] = d;
	for (int d = 0; d < ncontract; d++)
		order[n++] = rows + 1 + d;
	return make_transpose(k, v, order);
}

void
gradient_grouped_dot(Adjoint *a, const Op *op)
{
	Value *x = op->operands[0], *matrices = op->operands[1];
	Value *group = here_operand(a, op, 2);
	int rows = group->type.rank - 1;
	Value *dy = make_convert(a->k, cotangent_of(a, op->results[0]), x->type.dtype);

	if (wants(a, op, 0)) {
		Value *turned = groups_turned(a->k, here_operand(a, op, 1), rows,
			x->type.rank - rows - 1);
		give(a, x, make_grouped_dot(a->k, dy, turned, group, x->type.dtype));
	}
	if (wants(a, op, 1))
		give(a, matrices,
			make_grouped_outer(a->k, here_operand(a, op, 0), dy, group,
				matrices->type.dims[rows], x->type.dtype));
}

void
gradient_grouped_outer(Adjoint *a, const Op *op)
{
	Value *x = op->operands[0], *y = op->operands[1];
	Value *group = here_operand(a, op, 2);
	int rows = group->type.rank - 1;
	Value *dw = make_convert(a->k, cotangent_of(a, op->results[0]), x->type.dtype);

	if (wants(a, op, 0)) {
		Value *turned = groups_turned(a->k, dw, rows, x->type.rank - rows - 1);
		Value *of = here_operand(a, op, 1);
		give(a, x, make_grouped_dot(a->k, of, turned, group, x->type.dtype));
	}
	if (wants(a, op, 1))
		give(a, y,
			make_grouped_dot(a->k, here_operand(a, op, 0), dw, group,
				y->type.dtype));
}

/* ---- order ----------------------------------------------------------------- */

static Op *
begin_sort(Make k, int n, Value *const *operands, int64_t dim, int64_t direction)
{
	Op *op = make_begin(k, O_sort, n, operands);

	for (int i = 1; i < n; i++)
		op_add_result(op, "sorted", &operands[i]->type);
	op_set_int(op, A_dim, dim);
	op_set_int(op, A_direction, direction);
	return op;
}

/* For each place of the result, from where its element came. */
static Value *
order_of(Adjoint *a, const Op *op)
{
	Value *key = here_operand(a, op, 0);
	int64_t dim = op_int(op, A_dim);
	Type positions = key->type;

	positions.dtype = D_i32;
	Value *operands[] = {key, make_iota(a->k, &positions, (int)dim)};
	Op *sort = begin_sort(a->k, 2, operands, dim, op_int(op, A_direction));
	make_end(a->k, sort);
	return sort->results[1];
}

/* Sorted by where they came from, cotangents are where the elements were. */
void
gradient_sort(Adjoint *a, const Op *op)
{
	Value **operands = NEW_ARRAY(a->g->arena, Value *, op->noperands + 1);
	int n = 1;

	operands[0] = order_of(a, op);
	for (int i = 0; i < op->noperands; i++)
		if (wants(a, op, i))
			operands[n++] = cotangent_or_zeros(a, op->results[i]);
	Op *back = begin_sort(a->k, n, operands, op_int(op, A_dim), DIR_LT);
	make_end(a->k, back);
	n = 1;
	for (int i = 0; i < op->noperands; i++)
		if (wants(a, op, i))
			give(a, op->operands[i], back->results[n++]);
}

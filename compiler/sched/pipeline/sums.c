/*
 * sums.c - a stack that a loop fills is summed a slice in each trip, not as a whole behind it.
 *
 *   while 8 trips                          while 8 trips
 *     g = dot(h, dy)                         g = dot(h, dy)
 *     G[7 - i] = g                   ->      g2 = all-reduce(g)
 *   G2 = all-reduce(G)                       G[7 - i] = g2
 *
 * So it can be left to the next trip, and be beside its products.  What is summed is the same,
 * if all devices write at the same places and the stack holds nothing else: all of it is
 * written, or it begins with what changes no sum.  So it is with a stack that is gathered.
 */
#include "ir/make.h"
#include "sched/fuse/fuse.h"
#include "sched/pipeline/pipeline.h"

/* A number of each trip: slope * counter + base. */
typedef struct Line {
	int64_t slope, base;
} Line;

/* ---- where a trip writes ------------------------------------------------------------- */

static bool
is_wide(const Value *v)
{
	return !v->type.rank && dtype_is_integer(v->type.dtype)
		&& dtypes[v->type.dtype].bits >= 32;
}

static bool
add_lines(Line a, Line b, int64_t sign, Line *sum)
{
	return !__builtin_mul_overflow(b.slope, sign, &b.slope)
		&& !__builtin_mul_overflow(b.base, sign, &b.base)
		&& !__builtin_add_overflow(a.slope, b.slope, &sum->slope)
		&& !__builtin_add_overflow(a.base, b.base, &sum->base);
}

/* It is made of the counter and constants alone; so all devices have the same.  One that is
   made of itself many times is not followed for ever. */
static bool
find_line(const Value *v, const Value *counter, int *looks, Line *line)
{
	enum { MOST_LOOKS = 64 };
	Line a, b;
	const Op *op = v->def;

	if (!is_wide(v) || ++*looks > MOST_LOOKS)
		return false;
	if (v == counter)
		return *line = (Line){1, 0}, true;
	if (!op)
		return false;
	if (op->kind == O_constant)
		return *line = (Line){0, op_int(op, A_value)}, true;
	if (op->kind == O_convert)
		return find_line(op->operands[0], counter, looks, line);
	return (op->kind == O_add || op->kind == O_sub)
		&& find_line(op->operands[0], counter, looks, &a)
		&& find_line(op->operands[1], counter, looks, &b)
		&& add_lines(a, b, op->kind == O_add ? 1 : -1, line);
}

/* One slice behind the other along `dim`, forwards or backwards, from 0 to the end. */
static bool
goes_along(const Op *update, int dim, Line line, const Staged *s)
{
	const Type *all = &update->results[0]->type, *part = &update->operands[1]->type;
	int64_t size = part->dims[dim], lowest;

	if (all->dims[dim] % size || s->trips != all->dims[dim] / size
		|| (line.slope != size && line.slope != -size))
		return false;
	if (__builtin_add_overflow(s->first, line.slope > 0 ? 0 : s->trips - 1, &lowest)
		|| __builtin_mul_overflow(lowest, line.slope, &lowest)
		|| __builtin_add_overflow(lowest, line.base, &lowest))
		return false;
	return lowest == 0;
}

/* Do all trips together write all of it?  False too if devices may write at different places:
   then `same` is false. */
static bool
writes_all(const Op *update, const Value *counter, const Staged *s, bool *same)
{
	const Type *all = &update->results[0]->type, *part = &update->operands[1]->type;
	int cut = 0, along = 0;

	*same = true;
	for (int d = 0; d < all->rank; d++) {
		Line line;
		int looks = 0;
		if (!find_line(update->operands[2 + d], counter, &looks, &line))
			return *same = false;
		bool whole = part->dims[d] == all->dims[d];
		cut += !whole;
		along += !whole && goes_along(update, d, line, s);
	}
	return cut == along && cut <= 1;
}

/* ---- what can be summed so --------------------------------------------------------------- */

/* What a stack begins with: it changes no sum, and is what is gathered of it. */
static int64_t
identity_of(const Op *collective)
{
	int64_t combiner =
		collective->kind == O_all_gather ? C_add : op_int(collective, A_combiner);

	return combiner_identity(combiner, collective->results[0]->type.dtype);
}

/* All elements are that number. */
static bool
is_identity(const Value *v, const Op *collective)
{
	const Op *op = v->def;

	if (op && op->kind == O_broadcast && !op->operands[0]->type.rank)
		op = op->operands[0]->def;
	return op && op->kind == O_constant && !op->results[0]->type.rank
		&& op_int(op, A_value) == identity_of(collective);
}

/* A dim that is scattered, or gathered, is as long in each slice as in the stack. */
static bool
goes_by_slices(const Op *collective, const Op *update)
{
	if (collective->kind == O_all_reduce)
		return true;
	int64_t dim = op_int(collective, A_dim);
	return update->operands[1]->type.dims[dim] == update->results[0]->type.dims[dim];
}

/* The loop's stack is read by what writes it alone.  Uses are counted. */
static bool
is_for_sum(const Op *loop, int i, const Op *update)
{
	const Block *condition = loop->bodies[LOOP_CONDITION], *body = loop->bodies[LOOP_BODY];

	return loop->results[i]->uses == 1 && !condition->params[i]->uses
		&& body->params[i]->uses == 1 && update
		&& update->kind == O_dynamic_update_slice
		&& update->operands[0] == body->params[i]
		&& update->operands[1] != body->params[i] && update->results[0]->uses == 1;
}

static bool
may_be_sliced(const Op *collective)
{
	return collective->kind == O_all_reduce || collective->kind == O_reduce_scatter
		|| collective->kind == O_all_gather;
}

static bool
find_sum(Op *collective, StackSum *sum)
{
	Staged s = {0};
	bool same;
	Op *loop = collective->noperands ? collective->operands[0]->def : NULL;

	if (!may_be_sliced(collective) || !loop || !op_is_loop(loop)
		|| loop->block != collective->block || !loop_is_counted(loop, &s)
		|| s.trips < 2)
		return false;
	int i = collective->operands[0]->index;
	const Block *body = loop->bodies[LOOP_BODY];
	Op *update = body->last->operands[i]->def;
	if (!is_for_sum(loop, i, update) || !goes_by_slices(collective, update))
		return false;
	bool all = writes_all(update, body->params[0], &s, &same);
	*sum = (StackSum){.collective = collective,
		.loop = loop,
		.update = update,
		.index = i,
		.trips = s.trips};
	bool moves_less =
		collective->kind == O_all_gather; /* than all, which none is told of */
	return same && (all || (!moves_less && is_identity(loop->operands[i], collective)))
		&& !is_manual_loop(loop);
}

void
stack_sums_find(Module *m, StackSums *sums)
{
	StackSum sum;

	module_count_uses(m);
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
		if (find_sum(op, &sum) || joined_find(op, &sum))
			APPEND(sums->arena, sums->v, sums->n, sum);
}

/* ---- summed a slice in each trip --------------------------------------------- */

/* Where a slice of a tensor is: nothing splits what a trip has one of. */
static Placement
slice_placement(const Value *stack, const Type *slice)
{
	Placement p = placement_none(slice->rank);
	AxisList partial = placement_unreduced(&stack->placement);
	int first = stack->type.rank - slice->rank;

	for (int d = 0; d < slice->rank; d++) {
		AxisList axes = placement_dim(&stack->placement, first + d);
		if (slice->dims[d] == stack->type.dims[first + d])
			placement_set_dim(&p, d, &axes);
	}
	placement_set_unreduced(&p, &partial, stack->placement.combiner);
	return p;
}

/* The same elements without an outermost dim of one, along which the collective does not go. */
static bool
adds_outermost(const Op *op, const Op *collective)
{
	if (!op || op->kind != O_reshape || op->results[0]->uses != 1
		|| (op_has(collective, A_dim) && !op_int(collective, A_dim)))
		return false;
	const Type *from = &op->operands[0]->type, *to = &op->results[0]->type;
	if (to->rank != from->rank + 1 || to->dims[0] != 1)
		return false;
	for (int d = 0; d < from->rank; d++)
		if (from->dims[d] != to->dims[d + 1])
			return false;
	return true;
}

/* Of the slice that the update writes; what that then writes is made of it. */
static void
sum_slice(const StackSum *sum, const Value *stack)
{
	Op *op = sum->collective, *update = sum->update;
	Value *slice = update->operands[1], *summed = op->results[0];
	Op *outermost = adds_outermost(slice->def, op) ? slice->def : NULL;
	Type whole = slice->type;

	op_remove(op);
	op->operands[0] = outermost ? outermost->operands[0] : slice;
	if (outermost && op_has(op, A_dim))
		op_set_int(op, A_dim, op_int(op, A_dim) - 1);
	op_insert_before(update, op);
	op->mode = update->mode;
	summed->annotated = false;
	summed->written = NULL;
	summed->origins = NULL;
	summed->placement = placement_none(op->operands[0]->type.rank);
	summed->unpadded = op->operands[0]->unpadded;
	op_infer(op);
	summed->placement = slice_placement(stack, &summed->type);
	if (outermost) {
		whole.dims[0] = 1;
		for (int d = 0; d < summed->type.rank; d++)
			whole.dims[d + 1] = summed->type.dims[d];
		summed = make_reshape(make_before(update), summed, whole.rank, whole.dims);
		summed->placement = slice_placement(stack, &summed->type);
	}
	update->operands[1] = summed;
}

/* A carried value is as another is. */
static void
carry_like(const StackSum *sum, const Value *stack)
{
	Op *loop = sum->loop;
	Value *const carried[] = {sum->update->results[0], loop->results[sum->index],
		loop->bodies[LOOP_CONDITION]->params[sum->index],
		loop->bodies[LOOP_BODY]->params[sum->index]};

	for (size_t i = 0; i < sizeof carried / sizeof *carried; i++)
		value_like(carried[i], stack);
}

static void
apply(Module *m, const StackSum *sum)
{
	Op *loop = sum->loop;
	Value stack = *sum->collective->results[0], *result = loop->results[sum->index];
	int64_t identity = identity_of(sum->collective);

	value_replace_uses(m, sum->collective->results[0], result);
	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value == sum->collective->results[0])
			m->named[i].value = result;
	sum_slice(sum, &stack);
	carry_like(sum, &stack);
	result->annotated = stack.annotated;
	result->written = stack.written;
	result->origins = stack.origins;
	Value *begin = make_full(make_before(loop), &stack.type, identity);
	begin->placement = stack.placement;
	loop->operands[sum->index] = begin;
}

bool
stack_sums_apply(Module *m, const StackSums *sums)
{
	bool changed = false;

	for (int i = 0; i < sums->n; i++)
		if (sums->v[i].taken) {
			if (sums->v[i].join)
				joined_apply(m, &sums->v[i]);
			else
				apply(m, &sums->v[i]);
			changed = true;
		}
	if (changed)
		module_remove_dead(m);
	return changed;
}

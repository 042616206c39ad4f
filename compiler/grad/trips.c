/*
 * trips.c - some trips of a loop as one checkpoint, to find out what would be kept then.
 *
 *   x' = while(0, x, W)              x' = while(0, x, W)
 *     i < 8                            j < 4
 *     body(i, x1, W1)                  x2 = checkpoint(j, x1, W1)
 *                                        while(0, x1, W1, j * 2)
 *                                          t < 2
 *                                          body(j * 2 + t, x1, W1)
 *
 * Of one trip the checkpoint is the body itself.
 */
#include <string.h>
#include "grad/adjoint.h"
#include "grad/grad.h"

bool
op_is_at(const Op *op, const Place *place)
{
	const Session *s = op->module->session;

	return op->range.begin == place->begin
		&& strcmp(source_path(s, op->range.file), place->path) == 0;
}

static void
set_limit(Op *loop, int64_t trips)
{
	Block *condition = loop->bodies[LOOP_CONDITION];
	Make k = make_before(condition->last);

	condition->last->operands[0] =
		make_compare(k, DIR_LT, condition->params[0], make_constant(k, D_i32, trips));
	op_set_int(loop, A_trips, trips);
}

/* Does each trip read its own slice of that, and nothing else of it?  Then a group reads a part
   of as many. */
static bool
is_scanned(const Op *loop, int i)
{
	const Block *body = loop->bodies[LOOP_BODY];
	const Value *v = body->params[i];

	if (!loop_hands_on(loop, i) || !v->type.rank
		|| v->type.dims[0] != op_int(loop, A_trips))
		return false;
	for (const Op *op = body->first; op != body->last; op = op->next)
		for (int k = 0; k < op->noperands; k++)
			if (op->operands[k] == v
				&& (op->kind != O_dynamic_slice
					|| op_ints(op, A_sizes)->v[0] != 1
					|| op->operands[1] != body->params[0]))
				return false;
	return true;
}

/* What the loop is given of that for the trips of a group. */
static Value *
part_of(Make k, Value *v, Value *first, int64_t trips)
{
	Value *start[MAX_RANK] = {first};
	int64_t size[MAX_RANK];

	memcpy(size, v->type.dims, sizeof size);
	size[0] = trips;
	return make_dynamic_slice(k, v, start, size);
}

/* Index t of the group's loop is trip `first` + t, but where it says which slice of a part. */
static void
count_from(Op *inner, const bool *scanned, Value *first)
{
	Block *body = inner->bodies[LOOP_BODY];
	Value *trip = body->params[0], *next = body->last->operands[0], *index;

	op_add_operand(inner, first);
	op_add_result(inner, first->name, &first->type);
	for (int b = 0; b < inner->nbodies; b++)
		block_add_param(inner->bodies[b], first->name, &first->type);
	Value *base = body->params[body->nparams - 1];
	op_add_operand(body->last, base);
	index = make_binary(make_before(body->first), O_add, trip, base);
	for (Op *op = index->def->next; op; op = op->next) {
		const Value *of = op->kind == O_dynamic_slice ? op->operands[0] : NULL;
		bool own = of && !of->def && scanned[of->index];
		for (int i = 0; i < op->noperands; i++)
			if (op->operands[i] == trip && op != next->def && !own)
				op->operands[i] = index;
	}
}

/* The trips of a group, of what it is given. */
static Op *
inner_loop(Make k, const Op *loop, const bool *scanned, Value *const *values, Value *first,
	int64_t trips)
{
	Op *inner = op_clone(loop);

	inner->operands[0] = make_constant(k, D_i32, 0);
	for (int i = 1; i < inner->noperands; i++) {
		inner->operands[i] = values[i];
		inner->results[i]->type = values[i]->type;
		for (int b = 0; b < inner->nbodies; b++)
			inner->bodies[b]->params[i]->type = values[i]->type;
	}
	count_from(inner, scanned, first);
	set_limit(inner, trips);
	make_place(k, inner);
	return inner;
}

/* What a group of trips from `first` on is given; of what is scanned its part. */
static Value **
given(Make k, const Op *loop, const bool *scanned, Value *first, int64_t trips)
{
	Value **values = NEW_ARRAY(k.module->arena, Value *, loop->noperands + 1);

	for (int i = 0; i < loop->noperands; i++)
		values[i] = scanned[i] ? part_of(k, k.block->params[i], first, trips)
				       : k.block->params[i];
	return values;
}

/* Of one trip: the loop's body itself, which the loop has no more. */
static Block *
trip_of(const Op *loop, const bool *scanned, Value *const *values)
{
	Block *body = loop->bodies[LOOP_BODY];
	Value *zero = make_constant(make_before(body->first), D_i32, 0);

	for (int i = 0; i < loop->noperands; i++)
		body->params[i]->type = values[i]->type;
	for (Op *op = body->first; op; op = op->next) {
		const Value *of = op->kind == O_dynamic_slice ? op->operands[0] : NULL;
		if (of && !of->def && scanned[of->index])
			op->operands[1] = zero;
	}
	return body;
}

/* The checkpoint, in a block with the body's parameters; what comes of its trips. */
static Op *
checkpoint_of(Make k, const Op *loop, int64_t trips, Value ***results)
{
	Block *was = loop->bodies[LOOP_BODY];
	bool *scanned = NEW_ARRAY(k.module->arena, bool, loop->noperands + 1);
	Make in = k;

	for (int i = 0; i < loop->noperands; i++)
		scanned[i] = is_scanned(loop, i);
	Value *first =
		make_binary(k, O_mul, k.block->params[0], make_constant(k, D_i32, trips));
	Value **values = given(k, loop, scanned, first, trips);
	Op *again = make_begin(k, O_checkpoint, loop->noperands, values);
	op_begin_bodies(again, 1);
	if (trips == 1) {
		again->bodies[0] = trip_of(loop, scanned, values);
		was->parent = again;
		*results = was->last->operands;
		op_remove(was->last);
		return again;
	}
	in.block = again->bodies[0];
	for (int i = 0; i < loop->noperands; i++)
		block_add_param(in.block, was->params[i]->name, &values[i]->type);
	first = make_binary(in, O_mul, in.block->params[0], make_constant(in, D_i32, trips));
	*results = inner_loop(in, loop, scanned, in.block->params, first, trips)->results;
	return again;
}

static void
group_trips(Op *loop, int64_t trips)
{
	Arena *a = loop->module->arena;
	const Block *was = loop->bodies[LOOP_BODY];
	Block *body = block_new(loop->module, loop);
	Value **next = NEW_ARRAY(a, Value *, loop->noperands + 1), **results;
	Value **changed = NEW_ARRAY(a, Value *, loop->noperands + 1);
	int64_t all = op_int(loop, A_trips);
	int n = 0;
	Make k = make_before(loop);

	k.before = NULL;
	k.block = body;
	for (int i = 0; i < loop->noperands; i++) {
		next[i] = block_add_param(body, was->params[i]->name, &was->params[i]->type);
		next[i]->range = was->params[i]->range;
		if (i > 0 && !loop_hands_on(loop, i))
			next[i] = NULL;
	}
	Op *again = checkpoint_of(k, loop, trips, &results);
	for (int i = 1; i < loop->noperands; i++) {
		if (next[i])
			continue;
		if (n > 0)
			op_add_result(again, results[i]->name, &results[i]->type);
		again->results[n]->type = results[i]->type;
		next[i] = again->results[n];
		changed[n++] = results[i];
	}
	make_return(again->bodies[0], n, changed, k.range, k.label);
	make_end(k, again);
	next[0] = make_binary(k, O_add, body->params[0], make_constant(k, D_i32, 1));
	make_return(body, loop->noperands, next, k.range, k.label);
	loop->bodies[LOOP_BODY] = body;
	set_limit(loop, all / trips);
}

static bool
changes(const Op *loop)
{
	bool any = false;

	for (int i = 1; i < loop->noperands; i++)
		any |= !loop_hands_on(loop, i);
	return any;
}

static bool
group_in(Block *b, const Place *place, int64_t trips)
{
	bool any = false;

	for (Op *op = b->first; op; op = op->next) {
		Trips counts;
		bool here = op_is_loop(op) && op_is_at(op, place) && loop_trips(op, &counts)
			&& counts.first == 0 && counts.trips % trips == 0 && changes(op);
		for (int i = 0; i < op->nbodies && !here; i++)
			any |= group_in(op->bodies[i], place, trips);
		if (here)
			group_trips(op, trips);
		any |= here;
	}
	return any;
}

bool
module_checkpoint_trips(Module *m, const Place *loop, int64_t trips)
{
	bool any = group_in(m->entry, loop, trips);

	/* names of what is in a body may be of what is gone */
	m->nnamed = m->nexpects = 0;
	return any;
}

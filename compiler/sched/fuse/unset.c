/*
 * unset.c - tensors of which a loop, or a chain of steps, writes every element before any is
 * read: what they are filled with is never seen, and so it is not written.
 *
 *   s = fusion()                  zeros of n slices; unset
 *   s' = while(0, s)              n - 1 trips
 *     body(i, s1)                 s1 with slice i changed; nothing else reads s1
 *   s'' = fusion(s', ...)         slice n - 1 changed
 */
#include "ir/flow.h"
#include "memory/lives.h"
#include "sched/fuse/fuse.h"

/* scale * index + offset */
typedef struct Linear {
	int64_t scale, offset;
} Linear;

/* Of an integer as the steps of a loop's body compute it from the loop's index. */
static bool
find_linear(const Value *v, const Value *index, Linear *line)
{
	const Op *op;
	Linear left, right;

	if (v == index) {
		*line = (Linear){1, 0};
		return true;
	}
	v = value_around(v);
	op = v->def;
	if (!op) {
		const Op *fusion = v->block->parent;
		return fusion && op_is_fusion(fusion)
			&& find_linear(fusion->operands[v->index], index, line);
	}
	if (op_is_fusion(op) && op->nresults == 1)
		return find_linear(op->bodies[0]->last->operands[0], index, line);
	if (op_is_identity(op))
		return find_linear(op->operands[0], index, line);
	if (op->kind == O_constant && !v->type.rank) {
		*line = (Linear){0, op_int(op, A_value)};
		return true;
	}
	if ((op->kind != O_add && op->kind != O_sub)
		|| !find_linear(op->operands[0], index, &left)
		|| !find_linear(op->operands[1], index, &right))
		return false;
	int64_t sign = op->kind == O_add ? 1 : -1;
	*line = (Linear){left.scale + sign * right.scale, left.offset + sign * right.offset};
	return true;
}

/* ---- slices --------------------------------------------------------------------------- */

/* Of the first dim of a tensor, which were written; first only how often one was. */
typedef struct Slices {
	int64_t n, left;
	bool *written; /* or NULL */
} Slices;

/* How a loop counts; outside of one `index` is NULL, and there is one trip. */
typedef struct Counting {
	const Value *index;
	int64_t first, step, trips;
} Counting;

static bool
find_counting(const Op *loop, Counting *by)
{
	const Block *body = loop->bodies[LOOP_BODY];
	const Value *index = body->params[0];
	Linear first, next;

	if (!op_has(loop, A_trips) || !dtype_is_integer(index->type.dtype)
		|| !find_linear(loop->operands[0], NULL, &first)
		|| !find_linear(body->last->operands[0], index, &next) || next.scale != 1)
		return false;
	*by = (Counting){index, first.offset, next.offset, op_int(loop, A_trips)};
	return true;
}

/* The step writes a slice of v in each trip, and nothing else reads v: what v is then, or
   NULL. */
static const Value *
write_slice(const Op *fusion, const Value *v, const Counting *by, Slices *s)
{
	int base = fusion && op_is_fusion(fusion) ? op_base(fusion) : -1;
	Linear start;

	if (base < 0 || fusion->operands[base] != v || v->uses != 1
		|| fusion->bodies[0]->params[base]->uses != 1)
		return NULL;
	const Op *update = fusion->bodies[0]->last->operands[0]->def;
	if (update->kind != O_dynamic_update_slice || by->trips > s->n
		|| !find_linear(update->operands[2], by->index, &start))
		return NULL;
	const Type *slice = &update->operands[1]->type;
	for (int d = 0; d < v->type.rank; d++)
		if (slice->dims[d] != (d ? v->type.dims[d] : 1))
			return NULL;
	if (!s->written)
		s->left -= lesser(by->trips, s->left);
	for (int64_t k = 0; s->written && k < by->trips; k++) {
		int64_t at = start.scale * (by->first + k * by->step) + start.offset;
		if (at < 0 || at >= s->n)
			return NULL;
		s->left -= !s->written[at];
		s->written[at] = true;
	}
	return fusion->results[0];
}

/* All that a loop does with what it carries as value i is to write slices of it. */
static const Value *
write_in_loop(const Op *loop, int i, const Op **user, Slices *s)
{
	const Block *body = loop->bodies[LOOP_BODY];
	const Value *v = body->params[i];
	Counting by;

	if (!i || loop->bodies[LOOP_CONDITION]->params[i]->uses || !find_counting(loop, &by))
		return NULL;
	while (v && v != body->last->operands[i])
		v = write_slice(user[v->id], v, &by, s);
	return v && v->uses == 1 ? loop->results[i] : NULL;
}

static int
operand_of(const Op *op, const Value *v)
{
	int i = 0;

	while (op->operands[i] != v)
		i++;
	return i;
}

static bool
writes_slices(const Value *v, const Op **user, Slices *s)
{
	static const Counting once = {NULL, 0, 0, 1};

	while (v && s->left) {
		const Op *op = user[v->id];
		if (!op || v->uses != 1)
			return false;
		v = op_is_loop(op) ? write_in_loop(op, operand_of(op, v), user, s)
				   : write_slice(op, v, &once, s);
	}
	return v != NULL;
}

/* Each slice, in loops and in steps between them, before anything reads the tensor. */
static bool
is_written_in_slices(const Op *fill, const Op **user, Arena *a)
{
	const Value *v = fill->results[0];

	if (!v->type.rank)
		return false;
	Slices s = {v->type.dims[0], v->type.dims[0], NULL};
	if (!writes_slices(v, user, &s))
		return false;
	s.left = s.n;
	s.written = NEW_ARRAY(a, bool, s.n + 1);
	return writes_slices(v, user, &s);
}

/* ---- the module ------------------------------------------------------------------------ */

/* By value id, the last op that reads it. */
static const Op **
find_users(const Module *m, Arena *a)
{
	const Op **user = NEW_ARRAY(a, const Op *, m->nvalues + 1);

	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry))
		for (int i = 0; i < op->noperands; i++)
			user[op->operands[i]->id] = op;
	return user;
}

bool *
unset_find(Module *m, Arena *a)
{
	bool *unset = NEW_ARRAY(a, bool, m->nops + 1);

	module_count_uses(m);
	const Op **user = find_users(m, a);
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
		if (op_is_fusion(op) && !op->noperands && op->nresults == 1)
			unset[op->id] = is_written_in_slices(op, user, a);
	return unset;
}

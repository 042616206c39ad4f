/*
 * unset.c - tensors of which a loop, or a chain of steps, writes every element before any is
 * read: what they are filled with is never seen, and so it is not written.
 *
 *   s = fusion()                  zeros of n slices; unset
 *   s' = while(0, s)              n - 1 trips
 *     body(i, s1)                 s1 with slice i changed; nothing else reads s1
 *   s'' = fusion(s', ...)         slice n - 1 changed
 *
 *   y = fusion()                  zeros; unset: of n pieces, counted from this device's own,
 *   y' = fusion(y, me)            each is written, here or in a loop, there that of
 *   y2 = fusion(y', (me + 1) % n) (me + turn) % n; or from 0, each at a number that is known
 */
#include "ir/flow.h"
#include "ir/interval.h"
#include "memory/lives.h"
#include "sched/fuse/fuse.h"

/* Ops of an index that are looked at: what uses a number twice, and that twice again, is more
   than any piece's. */
enum { MOST_LOOKED_AT = 64 };

/* scale * index + offset */
typedef struct Linear {
	int64_t scale, offset;
} Linear;

static bool
linear_of(const Value *v, const Value *index, Linear *line, int *looks)
{
	const Op *op;
	Linear left, right;

	if ((*looks)-- <= 0)
		return false;
	if (v == index) {
		*line = (Linear){1, 0};
		return true;
	}
	v = value_around(v);
	op = v->def;
	if (!op) {
		const Op *fusion = v->block->parent;
		return fusion && op_is_fusion(fusion)
			&& linear_of(fusion->operands[v->index], index, line, looks);
	}
	if (op_is_fusion(op) && op->nresults == 1)
		return linear_of(op->bodies[0]->last->operands[0], index, line, looks);
	if (op_is_identity(op))
		return linear_of(op->operands[0], index, line, looks);
	if (op->kind == O_constant && !v->type.rank) {
		*line = (Linear){0, op_int(op, A_value)};
		return true;
	}
	if ((op->kind != O_add && op->kind != O_sub)
		|| !linear_of(op->operands[0], index, &left, looks)
		|| !linear_of(op->operands[1], index, &right, looks))
		return false;
	int64_t sign = op->kind == O_add ? 1 : -1;
	*line = (Linear){left.scale + sign * right.scale, left.offset + sign * right.offset};
	return true;
}

/* Of an integer as the steps of a loop's body compute it from the loop's index. */
static bool
find_linear(const Value *v, const Value *index, Linear *line)
{
	int looks = MOST_LOOKED_AT;

	return linear_of(v, index, line, &looks);
}

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

/* ---- loops and steps one after the other ------------------------------------------------ */

/* A step writes some of v in each trip, and nothing else reads v: what v is then, or NULL. */
typedef const Value *
WriteStep(const Op *fusion, const Value *v, const Counting *by, void *what);

typedef struct Writing {
	WriteStep *step;
	void *what;
	const int64_t *left; /* not yet written */
	const Op **user;     /* by value id, of a value that has one */
} Writing;

/* All that a loop does with what it carries as value i is to write some of it. */
static const Value *
write_in_loop(const Op *loop, int i, const Writing *w)
{
	const Block *body = loop->bodies[LOOP_BODY];
	const Value *v = body->params[i];
	Counting by;

	if (!i || loop->bodies[LOOP_CONDITION]->params[i]->uses || !find_counting(loop, &by))
		return NULL;
	while (v && v != body->last->operands[i])
		v = w->step(w->user[v->id], v, &by, w->what);
	return v && v->uses == 1 ? loop->results[i] : NULL;
}

/* Is all of v written before anything reads it? */
static bool
is_written_whole(const Value *v, const Writing *w)
{
	static const Counting once = {NULL, 0, 0, 1};

	while (v && *w->left) {
		const Op *op = w->user[v->id];
		if (!op || v->uses != 1)
			return false;
		v = op_is_loop(op) ? write_in_loop(op, op_operand_of(op, v), w)
				   : w->step(op, v, &once, w->what);
	}
	return v != NULL;
}

/* ---- slices --------------------------------------------------------------------------- */

/* Of the first dim of a tensor, which were written; first only how often one was. */
typedef struct Slices {
	int64_t n, left;
	bool *written; /* or NULL */
} Slices;

/* The step writes a slice of v in each trip, and nothing else reads v: what v is then, or
   NULL. */
static const Value *
write_slice(const Op *fusion, const Value *v, const Counting *by, void *what)
{
	Slices *s = what;
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

/* Each slice, in loops and in steps between them, before anything reads the tensor. */
static bool
is_written_in_slices(const Op *fill, const Op **user, Arena *a)
{
	const Value *v = fill->results[0];

	if (!v->type.rank)
		return false;
	Slices s = {v->type.dims[0], v->type.dims[0], NULL};
	const Writing w = {write_slice, &s, &s.left, user};
	if (!is_written_whole(v, &w))
		return false;
	s.left = s.n;
	s.written = NEW_ARRAY(a, bool, s.n + 1);
	return is_written_whole(v, &w);
}

/* ---- pieces ----------------------------------------------------------------------------- */

/* What a number is, in or behind a step that computes it alone. */
static const Value *
opened(const Value *v)
{
	for (;;) {
		v = value_around(v);
		const Op *op = v->def ? v->def : v->block->parent;
		if (!op || !op_is_fusion(op) || op->nresults > 1)
			return v;
		v = v->def ? op->bodies[0]->last->operands[0] : op->operands[v->index];
	}
}

static Interval
range_of(const Value *v, int *looks)
{
	v = opened(v);
	const Op *op = v->def;

	if ((*looks)-- <= 0 || !op || v->type.rank)
		return interval_any();
	if (op->kind == O_constant)
		return (Interval){op_int(op, A_value), op_int(op, A_value)};
	if (op->kind == O_partition_id)
		return (Interval){0, op->module->mesh.ndevices - 1};
	if (!op->noperands || !dtype_is_integer(op->operands[0]->type.dtype))
		return interval_any();
	Interval a = range_of(op->operands[0], looks);
	if (op->kind == O_convert)
		return interval_meet(a, interval_of(v->type.dtype));
	if (op->noperands != 2)
		return interval_any();
	Interval b = range_of(op->operands[1], looks);
	bool counts = a.low >= 0 && b.low > 0;
	return op->kind == O_add		 ? interval_sum(a, b)
		: op->kind == O_mul		 ? interval_product(a, b)
		: op->kind == O_div && b.low > 0 ? interval_quotient(a, b)
		: op->kind == O_rem && counts	 ? (Interval){0, lesser(a.high, b.high - 1)}
						 : interval_any();
}

/* From where to where an offset is. */
static Interval
offset_range(const Value *v)
{
	int looks = MOST_LOOKED_AT;

	return range_of(v, &looks);
}

/* Are both computed alike of what is the same on a device? */
static bool
same_number(const Value *x, const Value *y, int *looks)
{
	x = opened(x);
	y = opened(y);
	const Op *a = x->def, *b = y->def;

	if (x == y)
		return true;
	if ((*looks)-- <= 0 || !a || !b || a->kind != b->kind || x->type.dtype != y->type.dtype
		|| x->type.rank || y->type.rank)
		return false;
	if (a->kind == O_constant)
		return op_int(a, A_value) == op_int(b, A_value);
	bool same = a->kind == O_partition_id || a->kind == O_convert || a->kind == O_add
		|| a->kind == O_mul || a->kind == O_div || a->kind == O_rem;
	for (int i = 0; i < a->noperands && same; i++)
		same = same_number(a->operands[i], b->operands[i], looks);
	return same;
}

/* The operands of such an op, the second of which is a known number; NULL: it is none. */
static Value *const *
with_number(const Value *v, OpKind kind, int64_t *n)
{
	const Op *op = opened(v)->def;

	if (!op || op->kind != kind)
		return NULL;
	const Interval in = offset_range(op->operands[1]);
	*n = in.low;
	return in.low == in.high ? op->operands : NULL;
}

/* A piece's number, of n: own + steps + turns * a loop's index, mod n; a known one is steps.
   Turns are 1, 0 or -1. */
typedef struct Numbered {
	const Value *own; /* NULL: nothing */
	int64_t steps, turns;
} Numbered;

static bool
add_up(const Value *v, const Value *index, Numbered *sum, int *looks)
{
	const Op *op = (v = opened(v))->def;
	int64_t n = 0;

	if ((*looks)-- <= 0)
		return false;
	if (v == index) {
		sum->turns++;
		return true;
	}
	if (op && op->kind == O_sub && opened(op->operands[1]) == index) {
		sum->turns--;
		return add_up(op->operands[0], index, sum, looks);
	}
	if (with_number(v, O_add, &n)) {
		sum->steps += n;
		return n >= 0 && add_up(op->operands[0], index, sum, looks);
	}
	const Numbered before = *sum;
	if (op && op->kind == O_add && add_up(op->operands[0], index, sum, looks)
		&& add_up(op->operands[1], index, sum, looks))
		return true;
	*sum = before; /* own may be a sum, of the digits of several axes */
	sum->own = v;
	return !before.own;
}

static bool
is_piece_number(const Value *v, int64_t n)
{
	const Interval in = offset_range(v);

	return in.low >= 0 && in.high < n;
}

/* Which piece begins there: (own + steps + turns * index) % n * size. */
static bool
find_piece(const Value *start, int64_t size, int64_t n, const Value *index, Numbered *piece)
{
	int64_t scale = 1, ways = 0;
	int looks = MOST_LOOKED_AT;
	Value *const *of = with_number(start, O_mul, &scale);
	const Value *number = of ? of[0] : start;

	*piece = (Numbered){0};
	const Interval at = offset_range(start);
	if (at.low == at.high) {
		piece->steps = at.low / size;
		return at.low >= 0 && at.low % size == 0 && piece->steps < n;
	}
	if ((of ? scale : 1) != size)
		return false;
	const Interval all = interval_of(start->type.dtype);
	bool counted = n <= all.high / 4 && size <= all.high / n;
	of = with_number(number, O_rem, &ways);
	if (of && ways == n && add_up(of[0], index, piece, &looks) && piece->own
		&& is_piece_number(piece->own, n))
		return counted && piece->steps < n && piece->turns < 2 && piece->turns > -2;
	*piece = (Numbered){.own = opened(number)};
	return counted && (!of || !index) && is_piece_number(number, n);
}

/* Pieces that were written, counted from the one whose number is `own`; NULL: from 0. */
typedef struct Pieces {
	Arena *arena;
	const Value *own;
	int dim;
	int64_t n, left; /* not yet written */
	bool *written;
} Pieces;

/* Only one dim of what the step changes is cut. */
static int
cut_dim(const Op *update)
{
	const Type *type = &update->results[0]->type, *part = &update->operands[1]->type;
	int dim = -1;

	for (int d = 0; d < type->rank; d++) {
		if (type->dims[d] == part->dims[d])
			continue;
		if (dim >= 0 || type->dims[d] % part->dims[d])
			return -1;
		dim = d;
	}
	return dim;
}

/* The step writes a piece of v in each trip, and nothing else reads v: what v is then, or
   NULL. */
static const Value *
write_piece(const Op *fusion, const Value *v, const Counting *by, void *what)
{
	Pieces *pieces = what;
	int base = fusion && op_is_fusion(fusion) ? op_base(fusion) : -1,
	    looks = MOST_LOOKED_AT;
	Numbered piece;

	if (base < 0 || fusion->operands[base] != v || v->uses != 1
		|| fusion->bodies[0]->params[base]->uses != 1)
		return NULL;
	const Op *update = fusion->bodies[0]->last->operands[0]->def;
	int dim = update->kind == O_dynamic_update_slice ? cut_dim(update) : -1;
	if (dim < 0)
		return NULL;
	int64_t size = update->operands[1]->type.dims[dim], n = v->type.dims[dim] / size;
	if (!find_piece(update->operands[2 + dim], size, n, by->index, &piece))
		return NULL;
	int64_t last = by->first + (by->trips - 1) * by->step;
	if (piece.turns
		&& (by->trips > n || by->first < 0 || by->step < 0 || by->step > n || last > n))
		return NULL;
	if (piece.turns < 0 && last > piece.steps)
		return NULL;
	if (!pieces->written)
		*pieces = (Pieces){pieces->arena, piece.own, dim, n, n,
			NEW_ARRAY(pieces->arena, bool, n)};
	bool known = !pieces->own || !piece.own;
	if (known ? pieces->own != piece.own : !same_number(pieces->own, piece.own, &looks))
		return NULL;
	if (pieces->dim != dim || pieces->n != n)
		return NULL;
	for (int64_t k = 0; k < (piece.turns ? by->trips : lesser(by->trips, 1)); k++) {
		int64_t at = (piece.steps + piece.turns * (by->first + k * by->step)) % n;
		pieces->left -= !pieces->written[at];
		pieces->written[at] = true;
	}
	return fusion->results[0];
}

static bool
is_written_in_pieces(const Op *fill, const Op **user, Arena *a)
{
	Pieces pieces = {.arena = a, .left = 1};
	const Writing w = {write_piece, &pieces, &pieces.left, user};

	return is_written_whole(fill->results[0], &w);
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
			unset[op->id] = is_written_in_pieces(op, user, a)
				|| is_written_in_slices(op, user, a);
	return unset;
}

/*
 * rows.c - slices of one value that exchange the same rows exchange them once.
 *
 *   p[1:17, 0:16] + p[1:17, 2:18]      p: [18@X pad, 18]
 *
 *   s = p[1:17, 0:18]                  all that they take of dims that are whole
 *   s[:, 0:16] + s[:, 2:18]            nothing moves
 *
 * requires  L_resharded: slices are placed as what they are taken of
 *
 * A slice by itself exchanges what it takes of the whole dims alone, so each joins slices
 * before it only if the rows of what they take together are fewer bytes than theirs and
 * its own.
 */
#include <string.h>
#include "ir/make.h"
#include "shard/merge/merge.h"
#include "shard/reshard/halo.h"

/* Slices of one value that take the same of each dim that is split. */
typedef struct Shared {
	Op **slices; /* in the order of the program */
	int n;
	int64_t low[MAX_RANK], high[MAX_RANK]; /* what they take of the dims */
	double bytes;			       /* that a device receives for all of that */
} Shared;

static bool
is_whole(const Op *op, int dim)
{
	return placement_dim_ways(&op->results[0]->placement, dim) == 1;
}

/* Elements of a whole dim in a row, no padding in them, and no parts of a sum? */
static bool
takes_blocks(const Op *op)
{
	const Value *v = op->results[0];
	bool blocks = !op_has(op, A_parts);

	for (int d = 0; d < v->type.rank; d++)
		blocks &= !is_whole(op, d)
			|| (op_ints(op, A_stride)->v[d] == 1
				&& (!v->unpadded || v->unpadded[d] == v->type.dims[d]));
	return blocks;
}

/* Of the dims that are whole: of each row that is exchanged so much is received. */
static double
elements_of(const Op *op, const int64_t *low, const int64_t *high)
{
	double n = 1;

	for (int d = 0; d < op->results[0]->type.rank; d++)
		n *= is_whole(op, d) ? (double)(high[d] - low[d]) : 1;
	return n;
}

/* Of both. */
static Shared
joined(const Shared *s, const Shared *with)
{
	const Op *op = s->slices[0];
	Shared both = *s;

	for (int d = 0; d < op->results[0]->type.rank; d++) {
		both.low[d] = lesser(s->low[d], with->low[d]);
		both.high[d] = greater(s->high[d], with->high[d]);
	}
	both.bytes = s->bytes / elements_of(op, s->low, s->high)
		* elements_of(op, both.low, both.high);
	return both;
}

/* Is it less to exchange the rows of both at once? */
static bool
gains(const void *seen, const void *key)
{
	const Shared *s = seen, *with = key;
	const Op *a = s->slices[0], *b = with->slices[0];

	if (a->operands[0] != b->operands[0]
		|| !placement_same(&a->results[0]->placement, &b->results[0]->placement))
		return false;
	for (int d = 0; d < a->results[0]->type.rank; d++)
		if (!is_whole(a, d)
			&& (s->low[d] != with->low[d] || s->high[d] != with->high[d]
				|| op_ints(a, A_stride)->v[d] != op_ints(b, A_stride)->v[d]))
			return false;
	return joined(s, with).bytes < s->bytes + with->bytes;
}

/* ---- one for all ------------------------------------------------------------------- */

static Value *
make_shared(const Shared *s)
{
	Op *first = s->slices[0];
	const Value *like = first->results[0];
	Value *v = make_slice(make_before(first), first->operands[0], s->low, s->high,
		op_ints(first, A_stride)->v);

	v->placement = like->placement;
	if (like->unpadded) {
		int64_t *sizes = arena_copy(first->module->arena, v->type.dims,
			sizeof *sizes * (size_t)v->type.rank);
		for (int d = 0; d < v->type.rank; d++)
			sizes[d] = is_whole(first, d) ? sizes[d] : like->unpadded[d];
		v->unpadded = sizes;
	}
	return v;
}

/* What the slice takes of what is shared. */
static void
take_from(Value *shared, const Shared *s, Op *slice)
{
	int rank = shared->type.rank;
	int64_t start[MAX_RANK], limit[MAX_RANK], stride[MAX_RANK];

	for (int d = 0; d < rank; d++) {
		bool whole = is_whole(slice, d);
		start[d] = whole ? op_ints(slice, A_start)->v[d] - s->low[d] : 0;
		limit[d] = whole ? op_ints(slice, A_limit)->v[d] - s->low[d]
				 : shared->type.dims[d];
		stride[d] = 1;
	}
	slice->operands[0] = shared;
	op_set_ints(slice, A_start, rank, start);
	op_set_ints(slice, A_limit, rank, limit);
	op_set_ints(slice, A_stride, rank, stride);
}

/* One that takes all of it is what the others share. */
static void
share(const Shared *s)
{
	size_t size = sizeof s->low[0] * (size_t)s->slices[0]->results[0]->type.rank;
	Value *all = NULL;

	for (int i = 0; i < s->n && !all; i++) {
		Op *slice = s->slices[i];
		if (memcmp(op_ints(slice, A_start)->v, s->low, size) != 0
			|| memcmp(op_ints(slice, A_limit)->v, s->high, size) != 0)
			continue;
		all = slice->results[0];
		if (i) {
			op_remove(slice);
			op_insert_before(s->slices[0], slice);
		}
	}
	if (!all)
		all = make_shared(s);
	for (int i = 0; i < s->n; i++)
		if (s->slices[i]->results[0] != all)
			take_from(all, s, s->slices[i]);
}

/* ---- all of them --------------------------------------------------------------------- */

/* The slice joins those before it that it shares with. */
static Shared *
join(Lookup *met, Arena *a, Op *op, double bytes)
{
	Shared *s = NEW(a, Shared);
	size_t size = sizeof s->low[0] * (size_t)op->results[0]->type.rank;
	uint64_t hash = hash_mix(0, op->operands[0]->id);

	APPEND(a, s->slices, s->n, op);
	s->bytes = bytes;
	memcpy(s->low, op_ints(op, A_start)->v, size);
	memcpy(s->high, op_ints(op, A_limit)->v, size);
	Shared *with = lookup_find(met, hash, gains, s);
	if (!with) {
		lookup_add(met, hash, s);
		return s;
	}
	Shared both = joined(with, s);
	APPEND(a, both.slices, both.n, op);
	*with = both;
	return with;
}

bool
share_rows(Merger *mg, bool really)
{
	Module *m = mg->module;
	Lookup *met = lookup_new(mg->arena);
	Shared **all = NULL;
	int n = 0;

	if (really)
		module_number(m);
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry)) {
		if (op->kind != O_slice || !takes_blocks(op))
			continue;
		double bytes = op_halo(&m->mesh, mg->arena, op).bytes;
		Shared *s = bytes > 0 ? join(met, mg->arena, op, bytes) : NULL;
		if (s && s->n == 2)
			APPEND(mg->arena, all, n, s);
	}
	for (int i = 0; i < n && really; i++)
		share(all[i]);
	return n > 0;
}

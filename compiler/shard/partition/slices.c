/*
 * slices.c - the plan of an op that may be done in more than one way: a slice.
 *
 *   y = x[:, 5:7]    x: [8, 16@X], X=4
 *
 *   as it is         y [8, 2@X], of rows that are exchanged, or x is gathered
 *   in parts         y [8, 2] unreduced(X): each device has what is among its rows, and
 *                    zeros for the others; what becomes of the sum is as of any other
 *
 * The attribute `parts` says so of a dim, and the op's rule with it.  Each dim of which a part
 * is taken, and which is split, is tried.  In parts it moves what XLA's partitioner would
 * move, so bytes decide, as no plan may move more than a reference; time if they are equal.
 * Where several slices are of one tensor, one gathering serves them all, so each is to move
 * less than its share of that.
 */
#include <math.h>
#include "shard/partition/partition.h"

static bool
takes_part(const Op *slice, int dim)
{
	return slice->operands[0]->type.dims[dim] != slice->results[0]->type.dims[dim];
}

/* Is what the slice takes a part of along the dim split there, where it is or was made? */
static bool
takes_of_split(const Partitioner *p, const Op *slice, int dim)
{
	const Source *s = source_of(p, slice->operands[0]);
	bool split = placement_dim_ways(&s->final, dim) > 1;

	for (const Form *f = s->forms; f; f = f->next)
		split |= placement_dim_ways(&f->value->placement, dim) > 1;
	return split && takes_part(slice, dim);
}

/* Have floats of its format a zero? */
static bool
has_sums(const Op *op)
{
	return float_formats[op->results[0]->type.dtype].kind != FLOAT_scale;
}

/* The same slice, in parts along the dim, too. */
static const Op *
in_parts(const Partitioner *p, const Op *slice, int dim)
{
	const Ints *known = op_ints(slice, A_parts);
	Op *op = arena_copy(p->arena, slice, sizeof *slice);
	int64_t dims[MAX_RANK];

	for (int i = 0; i < known->n; i++)
		dims[i] = known->v[i];
	dims[known->n] = dim;
	op_set_ints(op, A_parts, known->n + 1, dims);
	return op;
}

/* How many slices take parts along the dim of what this one does, itself among them. */
static int
slices_along(const Partitioner *p, const Op *slice, int dim)
{
	const Source *s = source_of(p, slice->operands[0]);
	int n = 0;

	for (int i = 0; i < s->nusers; i++)
		n += s->users[i]->kind == O_slice && takes_part(s->users[i], dim);
	return n ? n : 1;
}

/* ---- plans --------------------------------------------------------------------- */

static Choice
plan_as(Partitioner *p, const Op *op)
{
	p->op = op;
	p->rule = rule_book_get(p->rules, op);
	return choose_once(p);
}

/* What the plan moves, if what it moves of the operand serves all those slices. */
static double
bytes_shared(Partitioner *p, const Choice *c, int slices)
{
	Placement to = choice_tensor(p, c, 0);
	Form *form;
	double moved = cheapest_form(p, p->op->operands[0], &to, &form)->bytes;

	return c->bytes - fmin(moved, c->bytes) * (1 - 1.0 / slices);
}

/* Is it a plan of fewer bytes than that of so many, or of as many in less time? */
static bool
moves_less(const Op *op, const Choice *c, double bytes, const Choice *than)
{
	double tolerance = 1e-9 * bytes;

	if (!c->valid || c->bytes > bytes + tolerance)
		return false;
	return c->bytes < bytes - tolerance || is_better(op, c, than);
}

Choice
plan_op(Partitioner *p, const Op *op)
{
	Choice best = plan_as(p, op);

	if (op->kind != O_slice || op->mode == MODE_explicit || !has_sums(op))
		return best;
	for (int d = 0; d < op->results[0]->type.rank; d++) {
		if (!takes_of_split(p, op, d))
			continue;
		double bytes = bytes_shared(p, &best, slices_along(p, op, d));
		const Op *parts = in_parts(p, op, d);
		Choice c = plan_as(p, parts);
		if (moves_less(op, &c, bytes, &best)) {
			best = c;
			op = parts;
		}
		p->op = op;
		p->rule = rule_book_get(p->rules, op);
	}
	return best;
}

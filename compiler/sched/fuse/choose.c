/*
 * choose.c - whether a value is better computed in the loops that use it than
 * once, into a buffer.
 *
 *   y = exp(x); sum(y), y * 2     used in two kernels: a buffer
 *   h = convert(x); h + 1, h * 2  narrower than what it makes: read and widened twice
 */
#include "sched/fuse/fuse.h"

/* How many different indices the uses have, within one kernel. */
static int
distinct_indices(Uses *u, int rank)
{
	int n = 0;

	for (Ref *r = u->refs; r && n < 4; r = r->next)
		n += first_use(u, r, rank) == r;
	return n;
}

/* Worth reading and widening again rather than storing it wide. */
static bool
widens(const Op *op)
{
	const Type *x = &op->operands[0]->type, *y = &op->results[0]->type;

	return op->noperands == 1 && x->dtype != y->dtype && type_bytes(x) <= type_bytes(y);
}

/*
 * Gathers are repeated for one kernel only.  A dot follows a slice, which starts where
 * it starts for the whole dot, but no gather.
 */
static bool
may_inline(const Fuse *f, const Op *op, Uses *u)
{
	const Kernel *k = u->refs->kernel;
	int rank = op->results[0]->type.rank, few = 0;
	bool one = true, dot = false, only_dots = true;
	bool cheap = ops[op->kind].weight == 1;

	for (const Ref *r = u->refs; r; r = r->next) {
		bool is_dot = r->kernel->kind == KERNEL_dot;
		one &= r->kernel == k;
		dot |= is_dot;
		only_dots &= is_dot;
		few += r->kernel->nnodes < MAX_NODES ? 1 : 5;
	}
	bool here = one && !dot && k->loop == f->loop && k->nnodes < MAX_NODES;
	if (op_is_product(op))
		return here && !u->refs->next && takes_dot(op, u->refs);
	if (op_reduces(op))
		return here && distinct_indices(u, rank) == 1;
	if (!ops[op->kind].pointwise) {
		bool gathers = op->noperands > 1;
		if (ops[op->kind].leaf)
			return !dot;
		return inliner(op)
			&& (!gathers || (op_has_starts(op) && only_dots)
				|| (one && !dot && few <= 4));
	}
	if (widens(op) && !dot && few <= 4)
		return true;
	if (!here)
		return false;
	int distinct = distinct_indices(u, rank);
	if (distinct > 2 || (distinct > 1 && !cheap))
		return false;
	/* Would a kernel evaluate it more often than it has elements? */
	for (Ref *r = u->refs; r && !cheap; r = r->next)
		if (iterations(k, 0, index_depth(k, r->index, rank))
			> type_elements(&op->results[0]->type))
			return false;
	return true;
}

/* Does all that reads it come before what is written in its place? */
static bool
is_read_before(const Uses *u, const Op *write)
{
	bool before = true;

	for (const Ref *r = u->refs; r && write; r = r->next) {
		const Op *reader = r->kernel->fills;
		before &= reader->block == write->block && reader->id < write->id;
	}
	return before;
}

/* Collectives may read a slice where it lies (strips.c): then so does all else, if what it is
   of is there for that anyway. */
static bool
may_read_in_place(Fuse *f, const Op *op, Uses *u)
{
	if (op->kind != O_slice || !u->refs || u->stored)
		return false;
	const Value *x = op->operands[0];
	int64_t n = type_elements(&x->type);
	Strip strip = {0, n, n};

	x = elements_of(f, x);
	return (!x->def || is_used(f, x)) && strip_take(op, &strip) && may_inline(f, op, u)
		&& is_read_before(u, f->changes[x->id]);
}

bool
computed_where_used(Fuse *f, Op *op, Uses *u)
{
	bool may = u->whole ? may_read_in_place(f, op, u) : may_inline(f, op, u);
	bool computed = may && inline_uses(f, op, u);

	if (u->whole && computed)
		u->refs = NULL;
	return computed && !u->whole;
}

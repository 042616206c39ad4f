/*
 * choose.c - whether a value is better computed in the loops that use it than
 * once, into a buffer.
 *
 *   y = exp(x); sum(y), y * 2     used in two kernels: a buffer
 *   h = convert(x); h + 1, h * 2  narrower than what it makes: read and widened twice
 */
#include <string.h>
#include "sched/fuse/fuse.h"

static bool
used_by_dot(const Uses *u)
{
	for (const Ref *r = u->refs; r; r = r->next)
		if (r->kernel->kind == KERNEL_dot)
			return true;
	return false;
}

static bool
in_one_kernel(const Uses *u)
{
	for (const Ref *r = u->refs; r; r = r->next)
		if (r->kernel != u->refs->kernel)
			return false;
	return true;
}

/* How many different indices the uses have, within one kernel. */
static int
distinct_indices(Uses *u, int rank)
{
	int n = 0;

	for (Ref *r = u->refs; r && n < 4; r = r->next)
		n += first_use(u, r, rank) == r;
	return n;
}

static bool
is_cheap(const Op *op)
{
	const OpInfo *info = &ops[op->kind];

	return !strchr(info->float_c, '(') && op->kind != O_div;
}

/* Would the kernel evaluate it more often than it has elements? */
static bool
recomputes(const Kernel *k, const Value *v, Affine *index)
{
	int depth = index_depth(k, index, v->type.rank);

	return iterations(k, 0, depth) > type_elements(&v->type);
}

/* Worth reading and widening again rather than storing it wide. */
static bool
reads_less(const Op *op)
{
	return type_bytes(&op->operands[0]->type) <= type_bytes(&op->results[0]->type);
}

static bool
has_few(const Uses *u)
{
	int n = 0;

	for (const Ref *r = u->refs; r && n <= 4; r = r->next)
		n += r->kernel->nnodes < MAX_NODES ? 1 : 5;
	return n <= 4;
}

static bool
may_inline_compute(const Fuse *f, const Op *op, Uses *u)
{
	Value *v = op->results[0];
	int distinct;

	if (op->kind == O_convert && !used_by_dot(u) && reads_less(op) && has_few(u))
		return true;
	if (!in_one_kernel(u) || used_by_dot(u) || u->refs->kernel->loop != f->loop
		|| u->refs->kernel->nnodes >= MAX_NODES)
		return false;
	distinct = distinct_indices(u, v->type.rank);
	if (distinct > 2 || (distinct > 1 && !is_cheap(op)))
		return false;
	for (Ref *r = u->refs; r; r = r->next)
		if (!is_cheap(op) && recomputes(r->kernel, v, r->index))
			return false;
	return true;
}

static bool
may_inline_reduce(const Fuse *f, const Op *op, Uses *u)
{
	return in_one_kernel(u) && !used_by_dot(u) && u->refs->kernel->loop == f->loop
		&& u->refs->kernel->nnodes < MAX_NODES
		&& distinct_indices(u, op->results[0]->type.rank) == 1;
}

static bool
only_dots(const Uses *u)
{
	for (const Ref *r = u->refs; r; r = r->next)
		if (r->kernel->kind != KERNEL_dot)
			return false;
	return true;
}

/*
 * Gathers are repeated for one kernel only.  A dot follows a slice, which
 * starts where it starts for the whole dot, but no gather.
 */
static bool
may_forward(const Op *op, const Uses *u)
{
	if (ops[op->kind].leaf)
		return !used_by_dot(u);
	if (op->kind == O_dynamic_slice && only_dots(u))
		return true;
	if (op->kind == O_dynamic_slice || op->kind == O_take)
		return in_one_kernel(u) && !used_by_dot(u) && has_few(u);
	return true;
}

bool
may_inline(const Fuse *f, const Op *op, Uses *u)
{
	if (op->kind == O_reduce)
		return may_inline_reduce(f, op, u);
	if (ops[op->kind].pointwise)
		return may_inline_compute(f, op, u);
	return inliner(op) && may_forward(op, u);
}

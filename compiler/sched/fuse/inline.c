/*
 * inline.c - ops computed in the kernels that use them.
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

/* Of the same element in the same kernel: one node serves both. */
static bool
same_element(Ref *a, Ref *b, int rank)
{
	if (a->kernel != b->kernel)
		return false;
	for (int d = 0; d < rank; d++) {
		affine_refine(a->kernel, &a->index[d]);
		affine_refine(a->kernel, &b->index[d]);
		if (!affine_equal(&a->index[d], &b->index[d]))
			return false;
	}
	return true;
}

/* The first use of the element that r uses. */
static Ref *
first_use(Uses *u, Ref *r, int rank)
{
	Ref *q = u->refs;

	while (q != r && !same_element(q, r, rank))
		q = q->next;
	return q;
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

/* ---- one use ------------------------------------------------------------ */

static void
inline_leaf(Fuse *f, Op *op, Ref *r)
{
	Value *v = op->results[0];
	NodeKind kind = op->kind == O_iota ? NODE_iota : NODE_constant;
	Node *n = node_new(f, r->kernel, kind, op, v);

	if (kind == NODE_iota) {
		n->index = arena_copy(f->arena, &r->index[op_int(op, A_iota_dim)],
			sizeof *r->index);
	} else if (v->type.rank) {
		n->index = NEW(f->arena, Affine);
		*n->index = index_linear(f->arena, &v->type, r->index);
	}
	*r->slot = n;
}

static void
inline_compute(Fuse *f, Op *op, Ref *r)
{
	Node *n = node_new(f, r->kernel, NODE_compute, op, op->results[0]);

	n->nargs = op->noperands;
	for (int i = 0; i < n->nargs; i++)
		ref_add(f, op->operands[i], r->kernel, &n->args[i], r->index);
	*r->slot = n;
}

/* An index that is computed becomes a term of the affine map. */
void
index_add_term(Fuse *f, Kernel *k, NodeKind kind, Value *at, const Affine *index, int64_t limit,
	Affine *result)
{
	Node *n = node_new(f, k, kind, NULL, NULL);
	Term *t = NEW(f->arena, Term);

	n->limit = limit;
	n->nargs = 1;
	ref_add(f, at, k, &n->args[0], index);
	*t = (Term){n, 1, result->terms};
	result->terms = t;
}

static void
inline_dynamic_slice(Fuse *f, Op *op, Ref *r)
{
	Value *x = operand(f, op, 0);
	Affine index[MAX_RANK];

	for (int d = 0; d < x->type.rank; d++) {
		index[d] = r->index[d];
		int64_t limit = x->type.dims[d] - op->results[0]->type.dims[d];
		if (limit)
			index_add_term(f, r->kernel, NODE_clamp, op->operands[1 + d], NULL,
				limit, &index[d]);
	}
	ref_add(f, x, r->kernel, r->slot, index);
}

/* take(x, idx, dim): result dims are x[:dim], those of idx, x[dim+1:]. */
static void
inline_take(Fuse *f, Op *op, Ref *r)
{
	Value *x = operand(f, op, 0), *idx = operand(f, op, 1);
	int dim = (int)op_int(op, A_dim), n = idx->type.rank;
	Affine index[MAX_RANK];

	for (int d = 0; d < x->type.rank; d++)
		if (d != dim)
			index[d] = r->index[d < dim ? d : d + n - 1];
	memset(&index[dim], 0, sizeof index[dim]);
	index_add_term(f, r->kernel, NODE_clamp, idx, &r->index[dim], x->type.dims[dim] - 1,
		&index[dim]);
	ref_add(f, x, r->kernel, r->slot, index);
}

static void
inline_move(Fuse *f, Op *op, Ref *r)
{
	Value *x = operand(f, op, 0);
	Affine index[MAX_RANK];

	if (!index_through(f->arena, r->kernel, op, &x->type, r->index, index))
		die("fuse: %s is not a move", ops[op->kind].name);
	ref_add(f, x, r->kernel, r->slot, index);
}

/* Position in k->order after the innermost loop that the index uses. */
static int
index_depth(const Kernel *k, Affine *index, int rank)
{
	int depth = 0;

	for (int d = 0; d < rank; d++) {
		affine_refine(k, &index[d]);
		if (index[d].terms)
			return k->norder;
		for (int p = depth; p < k->norder; p++)
			if (affine_uses(&index[d], k->order[p])
				&& k->loops[k->order[p]].extent > 1)
				depth = p + 1;
	}
	return depth;
}

static int64_t
iterations(const Kernel *k, int from, int to)
{
	int64_t n = 1;

	for (int p = from; p < to; p++)
		n *= k->loops[k->order[p]].extent;
	return n;
}

/*
 * The loops that a reduction within `k` runs over: those after its rows,
 * with the extents of the reduced dims, or new ones where there are none.
 */
static bool
match_loops(Kernel *k, const Op *op, const Type *operand, int *loops)
{
	const Ints *dims = op_ints(op, A_dims);
	int p = k->outer;

	for (int i = 0; i < dims->n; i++) {
		int64_t extent = operand->dims[dims->v[i]];
		loops[i] = -1;
		if (extent == 1)
			continue;
		while (p < k->norder && k->loops[k->order[p]].extent == 1)
			p++;
		if (p == k->norder || k->loops[k->order[p]].extent != extent)
			return false;
		loops[i] = k->order[p++];
	}
	return iterations(k, p, k->norder) == 1;
}

static bool
reduce_loops(Kernel *k, const Op *op, const Type *operand, Affine *index, int *loops)
{
	const Value *v = op->results[0];
	const Ints *dims = op_ints(op, A_dims);
	int depth = index_depth(k, index, v->type.rank);

	if (k->kind != KERNEL_map || depth > (k->reduces ? k->outer : k->norder))
		return false;
	if (k->reduces)
		return iterations(k, 0, k->outer) == type_elements(&v->type)
			&& match_loops(k, op, operand, loops);
	if (iterations(k, 0, depth) != type_elements(&v->type))
		return false;
	if (iterations(k, depth, k->norder) > 1) {
		k->outer = depth;
		return match_loops(k, op, operand, loops);
	}
	k->outer = k->norder;
	if (k->nloops + dims->n > MAX_LOOPS)
		return false;
	for (int i = 0; i < dims->n; i++)
		loops[i] = loop_add(k, operand->dims[dims->v[i]], LOOP_inner);
	k->row_result = true;
	return true;
}

bool
inline_reduce(Fuse *f, Op *op, Ref *r)
{
	Value *x = operand(f, op, 0);
	const Ints *dims = op_ints(op, A_dims);
	int loops[MAX_RANK], at = 0;
	Affine index[MAX_RANK];
	Kernel *k = r->kernel;

	if (!reduce_loops(k, op, &x->type, r->index, loops))
		return false;
	for (int p = k->outer; p < k->norder; p++)
		k->loops[k->order[p]].group = LOOP_inner;
	k->reduces = true;
	for (int d = 0; d < x->type.rank; d++) {
		int reduced = ints_find(dims, d);
		memset(&index[d], 0, sizeof index[d]);
		if (reduced < 0)
			index[d] = r->index[at++];
		else if (loops[reduced] >= 0)
			index[d] = affine_loop(loops[reduced]);
	}
	Node *n = node_new(f, k, NODE_reduce, op, op->results[0]);
	n->nargs = 1;
	ref_add(f, x, k, &n->args[0], index);
	*r->slot = n;
	return true;
}

/* Uses at the same index share the node that fills the first one's slot. */
static void
share_slots(Uses *u, int rank)
{
	for (Ref *r = u->refs; r; r = r->next)
		*r->slot = *first_use(u, r, rank)->slot;
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
try_inline_compute(Fuse *f, Op *op, Uses *u)
{
	int rank = op->results[0]->type.rank;

	if (!may_inline_compute(f, op, u))
		return false;
	for (Ref *r = u->refs; r; r = r->next) {
		take_in(f, op, r->kernel);
		if (first_use(u, r, rank) == r)
			inline_compute(f, op, r);
	}
	share_slots(u, rank);
	return true;
}

static bool
try_inline_reduce(Fuse *f, Op *op, Uses *u)
{
	int rank = op->results[0]->type.rank;

	if (!in_one_kernel(u) || used_by_dot(u) || u->refs->kernel->loop != f->loop
		|| u->refs->kernel->nnodes >= MAX_NODES || distinct_indices(u, rank) != 1)
		return false;
	if (!inline_reduce(f, op, u->refs))
		return false;
	take_in(f, op, u->refs->kernel);
	share_slots(u, rank);
	return true;
}

InlineOne *
inliner(const Op *op)
{
	static InlineOne *const functions[OP_COUNT] = {
		[O_constant] = inline_leaf,
		[O_iota] = inline_leaf,
		[O_broadcast] = inline_move,
		[O_transpose] = inline_move,
		[O_slice] = inline_move,
		[O_reverse] = inline_move,
		[O_output] = inline_move,
		[O_dynamic_slice] = inline_dynamic_slice,
		[O_take] = inline_take,
	};

	if (functions[op->kind])
		return functions[op->kind];
	return ops[op->kind].pointwise ? inline_compute : NULL;
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
try_inline(Fuse *f, Op *op, Uses *u)
{
	InlineOne *function = inliner(op);

	if (op->kind == O_reduce)
		return try_inline_reduce(f, op, u);
	if (!function)
		return false;
	if (function == inline_compute)
		return try_inline_compute(f, op, u);
	if (!may_forward(op, u))
		return false;
	for (Ref *r = u->refs; r; r = r->next) {
		take_in(f, op, r->kernel);
		function(f, op, r);
	}
	return true;
}

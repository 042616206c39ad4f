/*
 * compute.c - ops computed in the loops that use them: an op that only moves
 * elements hands a use on to its operand at another index, any other becomes
 * a node.
 */
#include <string.h>
#include "sched/fuse/fuse.h"

/* ---- nodes and uses ------------------------------------------------------ */

void
ref_add(Fuse *f, Value *v, Kernel *k, Node **slot, const Affine *index)
{
	Uses *u = &f->uses[source_value(f, v)->id];
	Ref *r = NEW(f->arena, Ref);

	*r = (Ref){.kernel = k, .slot = slot, .next = u->refs};
	if (v->type.rank)
		r->index = arena_copy(f->arena, index, sizeof *index * (size_t)v->type.rank);
	u->refs = r;
}

/* Nodes are made users first: prepending puts arguments first. */
Node *
node_new(Fuse *f, Kernel *k, NodeKind kind, Op *op, Value *v)
{
	Node *n = NEW(f->arena, Node);

	n->kind = kind;
	n->op = op;
	n->value = v;
	n->index = f->no_index;
	n->next = k->nodes;
	k->nodes = n;
	k->nnodes++;
	return n;
}

void
ref_load(Fuse *f, Value *v, Ref *r)
{
	Node *n = node_new(f, r->kernel, NODE_load, NULL, v);

	n->index = NEW(f->arena, Affine);
	*n->index = index_linear(f->arena, &v->type, r->index);
	*r->slot = n;
}

void
refs_load(Fuse *f, Value *v)
{
	for (Ref *r = f->uses[v->id].refs; r; r = r->next)
		ref_load(f, v, r);
}

void
use_moved(Fuse *f, Value *v)
{
	f->uses[source_value(f, v)->id].whole = true;
}

void
use_whole(Fuse *f, Value *v)
{
	use_moved(f, v);
	f->uses[source_value(f, v)->id].stored = true;
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

Ref *
first_use(Uses *u, Ref *r, int rank)
{
	Ref *q = u->refs;

	while (q != r && !same_element(q, r, rank))
		q = q->next;
	return q;
}

/* ---- one use ------------------------------------------------------------ */

static bool
inline_leaf(Fuse *f, Op *op, Ref *r)
{
	Value *v = op->results[0];
	NodeKind kind = op_has(op, A_iota_dim) ? NODE_iota : NODE_constant;
	Node *n = node_new(f, r->kernel, kind, op, v);

	if (kind == NODE_iota) {
		n->index = arena_copy(f->arena, &r->index[op_int(op, A_iota_dim)],
			sizeof *r->index);
	} else if (v->type.rank) {
		n->index = NEW(f->arena, Affine);
		*n->index = index_linear(f->arena, &v->type, r->index);
	}
	*r->slot = n;
	return true;
}

static bool
inline_compute(Fuse *f, Op *op, Ref *r)
{
	Node *n = node_new(f, r->kernel, NODE_compute, op, op->results[0]);

	n->nargs = op->noperands;
	for (int i = 0; i < n->nargs; i++)
		ref_add(f, op->operands[i], r->kernel, &n->args[i], r->index);
	*r->slot = n;
	return true;
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

static bool
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
	return true;
}

/* take(x, idx, dim): result dims are x[:dim], those of idx, x[dim+1:]. */
static bool
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
	return true;
}

static bool
inline_move(Fuse *f, Op *op, Ref *r)
{
	Affine index[MAX_RANK];

	if (!index_through(f->arena, r->kernel, op, r->index, index))
		return false;
	ref_add(f, op->operands[0], r->kernel, r->slot, index);
	return true;
}

int
index_depth(const Kernel *k, Affine *index, int rank)
{
	int depth = 0;

	for (int d = 0; d < rank; d++) {
		affine_refine(k, &index[d]);
		if (index[d].terms)
			return k->norder;
		for (int p = depth; p < k->norder; p++)
			if (index[d].coef[k->order[p]] && k->loops[k->order[p]].extent > 1)
				depth = p + 1;
	}
	return depth;
}

int64_t
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

/*
 * The loops that `op` runs over in kernel k, whose element at `index` is used: false
 * where k does not count one row after the other as the result does.
 *
 *   e[i0, i1] / s[i0]     s = sum(e) over dim 1: loop i0 counts the rows, and i1, which
 *                         is there already, the elements that are summed up
 *   y[i0] = s[i0]         only i0 is there: i1 is a new loop, within it
 */
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

static bool
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

/* ---- products ------------------------------------------------------------ */

/*
 * Loops of the kernel that count dims of an operand of a dot: those that are not in
 * `but`, in order, from that loop on.
 */
static int
free_dims(Kernel *k, const Type *type, const Ints *batch, const Ints *contract, int at,
	LoopGroup group, Affine *index)
{
	for (int d = 0; d < type->rank; d++) {
		if (ints_contain(batch, d) || ints_contain(contract, d))
			continue;
		k->loops[k->order[at]].group = group;
		index[d] = affine_loop(k->order[at++]);
	}
	return at;
}

/* It counts them in order, rows of them lie together where it stores them, and where that
   is it looks up, or is told. */
bool
takes_dot(const Op *op, const Ref *r)
{
	const Kernel *k = r->kernel;
	const Type *type = &op->results[0]->type;
	int last = type->rank - 1, summed = op_ints(op, A_lhs_contract)->n;
	bool stores = k->fills == op || k->fills->kind == O_dynamic_update_slice;
	bool takes = stores && r->slot == &k->root && k->kind == KERNEL_map
		&& k->norder == type->rank && type->rank + summed <= MAX_LOOPS;

	for (int d = 0; takes && d < type->rank; d++) {
		const Affine loop = affine_loop(k->order[d]);
		takes = affine_equal(&r->index[d], &loop);
	}
	for (const Node *n = k->nodes; takes && n; n = n->next)
		takes = n->kind != NODE_compute;
	while (takes && last >= 0 && type->dims[last] == 1)
		last--;
	return takes && (last < 0 || k->store.coef[k->order[last]] == 1);
}

/*
 *   y[i0, i1] = sum x[i0, k] W[k, i1]     loops i0 and i1 are there, k is new
 */
bool
fill_with_dot(Fuse *f, Op *op, Ref *r)
{
	const Ints *lb = op_ints(op, A_lhs_batch), *rb = op_ints(op, A_rhs_batch);
	const Ints *lc = op_ints(op, A_lhs_contract), *rc = op_ints(op, A_rhs_contract);
	Value *lhs = operand(f, op, 0), *rhs = operand(f, op, 1);
	Affine left[MAX_RANK], right[MAX_RANK];
	Kernel *k = r->kernel;

	if (!takes_dot(op, r))
		return false;
	k->kind = KERNEL_dot;
	for (int i = 0; i < lb->n; i++) {
		k->loops[k->order[i]].group = LOOP_batch;
		left[lb->v[i]] = right[rb->v[i]] = affine_loop(k->order[i]);
	}
	int at = free_dims(k, &lhs->type, lb, lc, lb->n, LOOP_lhs, left);
	free_dims(k, &rhs->type, rb, rc, at, LOOP_rhs, right);
	for (int i = 0; i < lc->n; i++) {
		int loop = loop_add(k, lhs->type.dims[lc->v[i]], LOOP_contract);
		left[lc->v[i]] = right[rc->v[i]] = affine_loop(loop);
	}
	Node *n = node_new(f, k, NODE_dot, op, op->results[0]);
	n->nargs = 2;
	ref_add(f, lhs, k, &n->args[0], left);
	ref_add(f, rhs, k, &n->args[1], right);
	*r->slot = n;
	return true;
}

InlineOne *
inliner(const Op *op)
{
	const OpInfo *info = &ops[op->kind];
	bool moves = info->partial == PARTIAL_move && op->noperands == 1;

	if (op_communicates(op) || op_changes(op))
		return NULL;
	return info->leaf	     ? inline_leaf
		: info->product	     ? fill_with_dot
		: moves		     ? inline_move
		: info->pointwise    ? inline_compute
		: op_reduces(op)     ? inline_reduce
		: op_has_starts(op)  ? inline_dynamic_slice
		: op->kind == O_take ? inline_take
				     : NULL;
}

bool
inline_one(Fuse *f, Op *op, Ref *r)
{
	Members *members = f->members ? &f->members[r->kernel->fills->id] : NULL;

	if (!inliner(op)(f, op, r))
		return false;
	if (members && (!members->n || members->ops[members->n - 1] != op))
		APPEND(f->arena, members->ops, members->n, op);
	return true;
}

/* Of a pointwise op or a reduction one node serves all uses of an element. */
bool
inline_uses(Fuse *f, Op *op, Uses *u)
{
	int rank = op->results[0]->type.rank;
	bool shared = inliner(op) == inline_compute || inliner(op) == inline_reduce;

	for (Ref *r = u->refs; r; r = r->next)
		if ((!shared || first_use(u, r, rank) == r) && !inline_one(f, op, r))
			return false;
	for (Ref *r = u->refs; r && shared; r = r->next)
		*r->slot = *first_use(u, r, rank)->slot;
	return true;
}

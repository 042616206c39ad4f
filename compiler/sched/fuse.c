/*
 * fuse.c - a device program becomes steps: which values get a buffer, and
 * which are computed inside the loops that use them.
 *
 *   h = add(x, broadcast(b))         one kernel, one buffer: h
 *   y = exponential(h)               a second one if h is used elsewhere too
 *
 * Ops are visited last to first, so that every use of a value is known when
 * its op is reached.  A use is either of the whole buffer (a collective, a
 * result) or one element at an index within a kernel: a slot to be filled
 * with a node.  An op that only moves elements hands the slot on to its
 * operand with another index; a pointwise op, all of whose uses are in one
 * kernel, is computed there; so is a reduction, over the rows of the kernel.
 * Everything else gets a buffer and the slots load from it.
 *
 * Requires L_device.  Leaves the module as it is; numbers it.
 */
#include <string.h>
#include "sched/kernel.h"

typedef struct Ref {
	Kernel *kernel;
	Node **slot;
	Affine *index;		/* one for each dim of the value */
	struct Ref *next;
} Ref;

typedef struct Uses {
	Ref *refs;
	bool whole;		/* its buffer as such */
	bool scalar;		/* an operand of another scalar of run() */
} Uses;

typedef struct Fuse {
	Steps *steps;
	Arena *arena;		/* of the module: what the steps are made of */
	Arena *scratch;		/* of this pass */
	const Op *loop;		/* the innermost one around the op at hand */
	Affine *no_index;	/* of nodes that have none: all zero */
	Uses *uses;		/* by value id */
	bool *scalar;		/* by value id: computed outside kernels */
} Fuse;

Value *
steps_source(const Steps *s, const Value *v)
{
	while (s->source[v->id] != v)
		v = s->source[v->id];
	return s->source[v->id];
}

Value *
steps_home(const Steps *s, const Value *v)
{
	v = steps_source(s, v);
	while (s->home[v->id] && s->home[v->id] != v)
		v = s->home[v->id];
	return s->home[v->id];
}

static Value *
operand(const Fuse *f, const Op *op, int i)
{
	return steps_source(f->steps, op->operands[i]);
}

/*
 * Rank 0 and made of this device's id and constants alone: an offset.  Such a
 * value is an ordinary C variable of run().
 */
static bool
is_scalar(const Fuse *f, const Op *op)
{
	bool any = false;

	if (op->kind == O_partition_id)
		return true;
	if (op->nresults != 1)
		return false;
	if (!ops[op->kind].pointwise || op->results[0]->type.rank)
		return false;
	for (int i = 0; i < op->noperands; i++) {
		const Value *v = operand(f, op, i);
		any |= f->scalar[v->id];
		if (!f->scalar[v->id] && !(v->def && v->def->kind == O_constant))
			return false;
	}
	return any && !op_is_alias(op);
}

/* ---- nodes and references ----------------------------------------------- */

static void
add_ref(Fuse *f, Value *v, Kernel *k, Node **slot, const Affine *index)
{
	Uses *u = &f->uses[steps_source(f->steps, v)->id];
	Ref *r = NEW(f->scratch, Ref);

	*r = (Ref){.kernel = k, .slot = slot, .next = u->refs};
	if (v->type.rank)
		r->index = arena_copy(f->scratch, index,
			sizeof *index * (size_t)v->type.rank);
	u->refs = r;
}

/* Nodes are made users first: prepending puts arguments first. */
static Node *
new_node(Fuse *f, Kernel *k, NodeKind kind, Op *op, Value *value)
{
	Node *n = NEW(f->arena, Node);

	n->kind = kind;
	n->op = op;
	n->value = value;
	n->index = f->no_index;
	n->next = k->nodes;
	k->nodes = n;
	k->nnodes++;
	return n;
}

static void
load(Fuse *f, Value *v, Ref *r)
{
	Node *n = new_node(f, r->kernel, NODE_load, NULL, v);

	n->index = NEW(f->arena, Affine);
	*n->index = index_linear(f->arena, &v->type, r->index);
	*r->slot = n;
}

static void
load_all(Fuse *f, Value *v)
{
	for (Ref *r = f->uses[v->id].refs; r; r = r->next)
		load(f, v, r);
}

static void
use_whole(Fuse *f, Value *v)
{
	f->uses[steps_source(f->steps, v)->id].whole = true;
}

static int
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

/* ---- inlining ----------------------------------------------------------- */

static void
inline_leaf(Fuse *f, Op *op, Ref *r)
{
	Value *v = op->results[0];
	NodeKind kind = op->kind == O_iota ? NODE_iota : NODE_constant;
	Node *n = new_node(f, r->kernel, kind, op, v);

	if (kind == NODE_iota)
		n->index = arena_copy(f->arena,
			&r->index[op_int(op, A_iota_dim)], sizeof *r->index);
	*r->slot = n;
}

static void
inline_compute(Fuse *f, Op *op, Ref *r)
{
	Node *n = new_node(f, r->kernel, NODE_compute, op, op->results[0]);

	n->nargs = op->noperands;
	for (int i = 0; i < n->nargs; i++)
		add_ref(f, op->operands[i], r->kernel, &n->args[i], r->index);
	*r->slot = n;
}

/* An index that is computed becomes a term of the affine map. */
static void
add_index_term(Fuse *f, Kernel *k, NodeKind kind, Value *at,
	const Affine *index, int64_t limit, Affine *result)
{
	Node *n = new_node(f, k, kind, NULL, NULL);
	Term *t = NEW(f->arena, Term);

	n->limit = limit;
	n->nargs = 1;
	add_ref(f, at, k, &n->args[0], index);
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
			add_index_term(f, r->kernel, NODE_clamp,
				op->operands[1 + d], NULL, limit, &index[d]);
	}
	add_ref(f, x, r->kernel, r->slot, index);
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
	add_index_term(f, r->kernel, NODE_clamp, idx, &r->index[dim],
		x->type.dims[dim] - 1, &index[dim]);
	add_ref(f, x, r->kernel, r->slot, index);
}

static void
inline_move(Fuse *f, Op *op, Ref *r)
{
	Value *x = operand(f, op, 0);
	Affine index[MAX_RANK];

	if (!index_through(f->arena, r->kernel, op, &x->type, r->index, index))
		die("fuse: %s is not a move", ops[op->kind].name);
	add_ref(f, x, r->kernel, r->slot, index);
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
			if (affine_uses(&index[d], k->order[p]) &&
					k->loops[k->order[p]].extent > 1)
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
reduce_loops(Kernel *k, const Op *op, const Type *operand, Affine *index,
	int *loops)
{
	const Value *v = op->results[0];
	const Ints *dims = op_ints(op, A_dims);
	int depth = index_depth(k, index, v->type.rank);

	if (k->kind != KERNEL_map || depth > (k->reduces ? k->outer : k->norder))
		return false;
	if (k->reduces)
		return iterations(k, 0, k->outer) == type_elements(&v->type) &&
			match_loops(k, op, operand, loops);
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
	Node *n = new_node(f, k, NODE_reduce, op, op->results[0]);
	n->nargs = 1;
	add_ref(f, x, k, &n->args[0], index);
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
	return type_bytes(&op->operands[0]->type) <=
		type_bytes(&op->results[0]->type);
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

	if (op->kind == O_convert && !used_by_dot(u) && reads_less(op) &&
			has_few(u))
		return true;
	if (!in_one_kernel(u) || used_by_dot(u) ||
			u->refs->kernel->loop != f->loop ||
			u->refs->kernel->nnodes >= MAX_NODES)
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
	for (Ref *r = u->refs; r; r = r->next)
		if (first_use(u, r, rank) == r)
			inline_compute(f, op, r);
	share_slots(u, rank);
	return true;
}

static bool
try_inline_reduce(Fuse *f, Op *op, Uses *u)
{
	int rank = op->results[0]->type.rank;

	if (!in_one_kernel(u) || used_by_dot(u) ||
			u->refs->kernel->loop != f->loop ||
			u->refs->kernel->nnodes >= MAX_NODES ||
			distinct_indices(u, rank) != 1)
		return false;
	if (!inline_reduce(f, op, u->refs))
		return false;
	share_slots(u, rank);
	return true;
}

typedef void InlineOne(Fuse *f, Op *op, Ref *r);

static InlineOne *
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

static bool
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
	for (Ref *r = u->refs; r; r = r->next)
		function(f, op, r);
	return true;
}

/* ---- ops that only rename a buffer -------------------------------------- */

static bool
is_parameter(const Fuse *f, const Value *v)
{
	while (v->def && op_is_alias(v->def))
		v = operand(f, v->def, 0);
	return !v->def && v->block == f->steps->module->entry;
}

static void
pass_on(Fuse *f, Op *op, Uses *u)
{
	Value *v = op->results[0], *x = operand(f, op, 0);
	Affine index[MAX_RANK];
	bool whole = u->whole;

	for (Ref *r = u->refs; r; r = r->next) {
		if (index_through(f->arena, r->kernel, op, &x->type, r->index,
				index)) {
			add_ref(f, x, r->kernel, r->slot, index);
		} else {
			load(f, v, r);
			whole = true;
		}
	}
	if (whole) {
		use_whole(f, x);
		f->steps->home[v->id] = x;
	}
}

/* ---- values with a buffer ----------------------------------------------- */

static Step *
new_step(Fuse *f, StepKind kind, Op *op, int nresults, Value **results)
{
	Step step = {.kind = kind, .op = op, .nresults = nresults,
		.results = results, .result = nresults ? results[0] : NULL,
		.loop = -1};

	for (int i = 0; i < nresults; i++)
		f->steps->home[results[i]->id] = results[i];
	APPEND(f->arena, f->steps->step, f->steps->n, step);
	return &f->steps->step[f->steps->n - 1];
}

static void
new_kernel_step(Fuse *f, StepKind kind, Op *op, Kernel *k)
{
	new_step(f, kind, op, 1, op->results)->kernel = k;
}

/* A kernel with a loop for each dim, that stores at the same index. */
static Kernel *
new_kernel(Fuse *f, const Type *t, Affine *index)
{
	Kernel *k = NEW(f->arena, Kernel);

	k->loop = f->loop;
	for (int d = 0; d < t->rank; d++)
		index[d] = affine_loop(loop_add(k, t->dims[d], LOOP_row));
	k->store = index_linear(f->arena, t, index);
	return k;
}

static void
root_map(Fuse *f, Op *op)
{
	Affine index[MAX_RANK];
	Kernel *k = new_kernel(f, &op->results[0]->type, index);
	Ref ref = {k, &k->root, index, NULL};

	new_kernel_step(f, STEP_kernel, op, k);
	if (f->scalar[op->results[0]->id])
		k->root = new_node(f, k, NODE_scalar, op, op->results[0]);
	else
		inliner(op)(f, op, &ref);
}

static void
root_reduce(Fuse *f, Op *op)
{
	Affine index[MAX_RANK];
	Kernel *k = new_kernel(f, &op->results[0]->type, index);
	Ref ref = {k, &k->root, index, NULL};

	new_kernel_step(f, STEP_kernel, op, k);
	if (!inline_reduce(f, op, &ref))
		die("fuse: reduce needs too many loops");
}

static void
root_cumsum(Fuse *f, Op *op)
{
	Affine index[MAX_RANK];
	Kernel *k = new_kernel(f, &op->results[0]->type, index);
	int dim = (int)op_int(op, A_dim), loop = k->order[dim];

	new_kernel_step(f, STEP_kernel, op, k);
	memmove(&k->order[dim], &k->order[dim + 1],
		sizeof k->order[0] * (size_t)(k->norder - dim - 1));
	k->order[k->norder - 1] = loop;
	k->loops[loop].group = LOOP_inner;
	k->kind = KERNEL_scan;
	k->outer = k->norder - 1;
	add_ref(f, op->operands[0], k, &k->root, index);
}

/* The operand, stored into a part of the result that starts at `low`. */
static void
store_part(Fuse *f, Op *op, Value *x, const int64_t *low)
{
	Affine index[MAX_RANK], target[MAX_RANK];
	Kernel *k = new_kernel(f, &x->type, index);

	memcpy(target, index, sizeof target);
	for (int d = 0; d < x->type.rank; d++)
		target[d].offset = low[d];
	k->store = index_linear(f->arena, &op->results[0]->type, target);
	new_kernel_step(f, STEP_kernel, op, k);
	add_ref(f, x, k, &k->root, index);
}

static void
root_concatenate(Fuse *f, Op *op)
{
	int dim = (int)op_int(op, A_dim);
	int64_t low[MAX_RANK] = {0};

	low[dim] = op->results[0]->type.dims[dim];
	for (int i = op->noperands - 1; i >= 0; i--) {
		Value *x = operand(f, op, i);
		low[dim] -= x->type.dims[dim];
		store_part(f, op, x, low);
	}
}

/* Filled, then overwritten in the middle (steps are made last to first). */
static void
root_pad(Fuse *f, Op *op)
{
	const Ints *low = op_ints(op, A_low);
	Affine index[MAX_RANK];

	store_part(f, op, operand(f, op, 0), low->v);
	Kernel *fill = new_kernel(f, &op->results[0]->type, index);
	new_kernel_step(f, STEP_kernel, op, fill);
	add_ref(f, op->operands[1], fill, &fill->root, NULL);
}

static void
dot_loops(Kernel *k, const Ints *dims, const Type *t, LoopGroup group,
	Affine *index)
{
	for (int i = 0; i < dims->n; i++) {
		int d = (int)dims->v[i];
		index[d] = affine_loop(loop_add(k, t->dims[d], group));
	}
}

static void
dot_rest(Kernel *k, const Ints *batch, const Ints *contract, const Type *t,
	LoopGroup group, Affine *index)
{
	for (int d = 0; d < t->rank; d++)
		if (ints_find(batch, d) < 0 && ints_find(contract, d) < 0)
			index[d] = affine_loop(loop_add(k, t->dims[d], group));
}

static void
dot_share(const Ints *from, const Affine *lhs, const Ints *to, Affine *rhs)
{
	for (int i = 0; i < from->n; i++)
		rhs[to->v[i]] = lhs[from->v[i]];
}

static void
root_dot(Fuse *f, Op *op)
{
	const Ints *lb = op_ints(op, A_lhs_batch), *rb = op_ints(op, A_rhs_batch);
	const Ints *lc = op_ints(op, A_lhs_contract);
	const Ints *rc = op_ints(op, A_rhs_contract);
	Value *lhs = operand(f, op, 0), *rhs = operand(f, op, 1);
	Affine left[MAX_RANK], right[MAX_RANK], result[MAX_RANK];
	Kernel *k = NEW(f->arena, Kernel);

	k->kind = KERNEL_dot;
	k->loop = f->loop;
	dot_loops(k, lb, &lhs->type, LOOP_batch, left);
	dot_rest(k, lb, lc, &lhs->type, LOOP_lhs, left);
	dot_rest(k, rb, rc, &rhs->type, LOOP_rhs, right);
	for (int l = 0; l < k->nloops; l++)
		result[l] = affine_loop(l);
	k->store = index_linear(f->arena, &op->results[0]->type, result);
	dot_loops(k, lc, &lhs->type, LOOP_contract, left);
	dot_share(lb, left, rb, right);
	dot_share(lc, left, rc, right);
	new_kernel_step(f, STEP_dot, op, k);
	k->root = new_node(f, k, NODE_dot, op, op->results[0]);
	k->root->nargs = 2;
	add_ref(f, lhs, k, &k->root->args[0], left);
	add_ref(f, rhs, k, &k->root->args[1], right);
}

static void
root_collective(Fuse *f, Op *op)
{
	new_step(f, STEP_collective, op, 1, op->results);
	if (op->kind == O_ragged_all_to_all)
		f->steps->step[f->steps->n - 1].base = operand(f, op, 1);
	for (int i = 0; i < op->noperands; i++)
		use_whole(f, op->operands[i]);
}

/* A part of a copy of operand 0, which may be the operand itself. */
static void
root_update(Fuse *f, Op *op)
{
	Value *x = operand(f, op, 0), *update = operand(f, op, 1);
	Affine index[MAX_RANK], target[MAX_RANK];
	Kernel *k = new_kernel(f, &update->type, index);

	memcpy(target, index, sizeof target);
	for (int d = 0; d < x->type.rank; d++) {
		int64_t limit = x->type.dims[d] - update->type.dims[d];
		if (limit)
			add_index_term(f, k, NODE_clamp, op->operands[2 + d],
				NULL, limit, &target[d]);
	}
	k->store = index_linear(f->arena, &x->type, target);
	new_kernel_step(f, STEP_kernel, op, k);
	f->steps->step[f->steps->n - 1].base = x;
	add_ref(f, update, k, &k->root, index);
	use_whole(f, x);
}

/* Loops over the updates, each added where its index says. */
static void
root_scatter_add(Fuse *f, Op *op)
{
	Value *x = operand(f, op, 0), *at = operand(f, op, 1);
	Value *update = operand(f, op, 2);
	int dim = (int)op_int(op, A_dim), n = at->type.rank;
	Affine index[MAX_RANK], target[MAX_RANK];
	Kernel *k = new_kernel(f, &update->type, index);

	k->kind = KERNEL_scatter;
	for (int d = 0; d < x->type.rank; d++)
		if (d != dim)
			target[d] = index[d < dim ? d : d + n - 1];
	memset(&target[dim], 0, sizeof target[dim]);
	add_index_term(f, k, NODE_index, at, &index[dim], x->type.dims[dim],
		&target[dim]);
	k->store = index_linear(f->arena, &x->type, target);
	new_kernel_step(f, STEP_kernel, op, k);
	f->steps->step[f->steps->n - 1].base = x;
	add_ref(f, update, k, &k->root, index);
	use_whole(f, x);
}

typedef void Root(Fuse *f, Op *op);

static Root *
rooter(const Op *op)
{
	static Root *const roots[OP_COUNT] = {
		[O_reduce] = root_reduce,
		[O_cumsum] = root_cumsum,
		[O_concatenate] = root_concatenate,
		[O_pad] = root_pad,
		[O_dot] = root_dot,
		[O_dynamic_update_slice] = root_update,
		[O_scatter_add] = root_scatter_add,
	};

	if (ops[op->kind].collective)
		return root_collective;
	return roots[op->kind] ? roots[op->kind] : root_map;
}

/* A constant, however often it is repeated, is not worth reading. */
static bool
is_constant(const Fuse *f, const Op *op)
{
	if (op->kind == O_broadcast)
		op = operand(f, op, 0)->def;
	return op && op->kind == O_constant;
}

static void
give_buffer(Fuse *f, Op *op, Uses *u)
{
	for (Ref *r = u->refs; r; r = r->next) {
		if (is_constant(f, op) && r->kernel->kind != KERNEL_dot)
			inliner(op)(f, op, r);
		else
			load(f, op->results[0], r);
	}
	if (rooter(op) == root_map && !inliner(op) &&
			!f->scalar[op->results[0]->id])
		die("no code for %s", ops[op->kind].name);
	rooter(op)(f, op);
}

/* ---- the walk ----------------------------------------------------------- */

static void
visit_scalar(Fuse *f, Op *op, Uses *u)
{
	Value *v = op->results[0];

	APPEND(f->arena, f->steps->scalars, f->steps->nscalars, op);
	for (Ref *r = u->refs; r; r = r->next) {
		if (r->kernel->kind != KERNEL_dot) {
			*r->slot = new_node(f, r->kernel, NODE_scalar, op, v);
			continue;
		}
		load(f, v, r);
		u->whole = true;
	}
	for (int i = 0; i < op->noperands; i++)
		f->uses[operand(f, op, i)->id].scalar = true;
	if (u->whole)
		root_map(f, op);
}

static void
visit_op(Fuse *f, Op *op)
{
	Value *v = op->results[0];
	Uses *u = &f->uses[v->id];

	if (!u->refs && !u->whole && !(f->scalar[v->id] && u->scalar))
		return;
	if (f->scalar[v->id])
		visit_scalar(f, op, u);
	else if (op_is_alias(op) &&
			!(op->kind == O_output && is_parameter(f, v)))
		pass_on(f, op, u);
	else if (u->whole || !try_inline(f, op, u))
		give_buffer(f, op, u);
}

static bool
is_used(const Fuse *f, const Value *v)
{
	return f->uses[v->id].refs || f->uses[v->id].whole;
}

/* Those that anything wants, in order; all have their uses loaded. */
static int
used_results(Fuse *f, const Op *op, Value ***results)
{
	int n = 0;

	*results = NULL;
	for (int i = 0; i < op->nresults; i++) {
		Value *v = op->results[i];
		if (!is_used(f, v))
			continue;
		load_all(f, v);
		APPEND(f->arena, *results, n, v);
	}
	return n;
}

static void
visit_sort(Fuse *f, Op *op)
{
	Value **results;
	int n = used_results(f, op, &results);

	if (!n)
		return;
	new_step(f, STEP_sort, op, n, results);
	for (int i = 0; i < op->noperands; i++)
		use_whole(f, op->operands[i]);
}

/* The function writes all of its results, wanted or not. */
static void
visit_extern(Fuse *f, Op *op)
{
	bool any = false;

	for (int i = 0; i < op->nresults; i++)
		any |= is_used(f, op->results[i]);
	if (!any)
		return;
	for (int i = 0; i < op->nresults; i++)
		load_all(f, op->results[i]);
	new_step(f, STEP_extern, op, op->nresults, op->results);
	for (int i = 0; i < op->noperands; i++)
		use_whole(f, op->operands[i]);
}

static void
visit_plain(Fuse *f, const Item *item)
{
	typedef void VisitPlain(Fuse *f, Op *op);
	static VisitPlain *const visits[OP_COUNT] = {
		[O_sort] = visit_sort, [O_extern] = visit_extern,
	};
	Op *op = item->op;

	(visits[op->kind] ? visits[op->kind] : visit_op)(f, op);
}

static void
visit_copy(Fuse *f, const Item *item)
{
	Value *to = item->to;
	bool branch = to->def;

	if (steps_source(f->steps, to) != to || (branch && !is_used(f, to)))
		return;
	if (item->first)
		load_all(f, to);
	new_step(f, item->kind, item->op, 1,
		arena_copy(f->arena, &to, sizeof to));
	f->steps->step[f->steps->n - 1].reads =
		arena_copy(f->arena, &item->from, sizeof item->from);
	use_whole(f, item->from);
}

static void
visit_mark(Fuse *f, const Item *item)
{
	new_step(f, item->kind, item->op, 0, NULL);
}

static void
visit_test(Fuse *f, const Item *item)
{
	visit_mark(f, item);
	use_whole(f, item->op->bodies[0]->last->operands[0]);
}

static void
visit_if(Fuse *f, const Item *item)
{
	Value **results;
	int n = used_results(f, item->op, &results);

	new_step(f, STEP_if, item->op, n, results);
	use_whole(f, item->op->operands[0]);
}

static void
visit(Fuse *f, const Item *item)
{
	typedef void Visit(Fuse *f, const Item *item);
	static Visit *const visits[] = {
		[STEP_kernel] = visit_plain, [STEP_copy] = visit_copy,
		[STEP_swap] = visit_copy, [STEP_loop] = visit_mark,
		[STEP_test] = visit_test, [STEP_repeat] = visit_mark,
		[STEP_if] = visit_if, [STEP_else] = visit_mark,
		[STEP_endif] = visit_mark,
	};

	visits[item->kind](f, item);
}

/* By item: the innermost loop around it. */
static const Op **
loops_around(const Fuse *f, const Item *items, int n)
{
	const Op **around = NEW_ARRAY(f->scratch, const Op *, n + 1);
	const Op **open = NULL;
	int depth = 0;

	for (int i = 0; i < n; i++) {
		if (items[i].kind == STEP_loop)
			APPEND(f->scratch, open, depth, items[i].op);
		depth -= items[i].kind == STEP_repeat;
		around[i] = depth ? open[depth - 1] : NULL;
	}
	return around;
}

static void
visit_all(Fuse *f)
{
	int n;
	Item *items = steps_flatten(f->steps, &n);
	const Op **around = loops_around(f, items, n);
	const Op *end = f->steps->module->entry->last;

	for (int i = 0; i < n; i++)
		if (items[i].kind == STEP_kernel)
			f->scalar[items[i].op->results[0]->id] =
				is_scalar(f, items[i].op);
	for (int i = 0; i < end->noperands; i++)
		use_whole(f, end->operands[i]);
	for (int i = n - 1; i >= 0; i--) {
		f->loop = around[i];
		visit(f, &items[i]);
	}
}

static void
load_parameters(Fuse *f, Block *entry)
{
	for (int i = 0; i < entry->nparams; i++) {
		Value *v = entry->params[i];
		f->steps->home[v->id] = v;
		load_all(f, v);
	}
}

static void
reverse(void *array, int n, size_t size)
{
	char *low = array, *high, t;

	if (n < 2)
		return;
	high = low + size * (size_t)(n - 1);
	for (; low < high; low += size, high -= size)
		for (size_t i = 0; i < size; i++)
			t = low[i], low[i] = high[i], high[i] = t;
}

/* The buffers a step reads, each once. */
static void
add_read(Fuse *f, Step *s, const Value *v)
{
	Value *home = steps_home(f->steps, v);

	for (int i = 0; i < s->nreads; i++)
		if (s->reads[i] == home)
			return;
	APPEND(f->arena, s->reads, s->nreads, home);
}

static void
finish_kernel(Fuse *f, Step *s)
{
	kernel_finish(s->kernel);
	for (const Node *n = s->kernel->nodes; n; n = n->next)
		if (n->kind == NODE_load)
			add_read(f, s, n->value);
	if (s->base)
		add_read(f, s, s->base);
}

static void
finish_operands(Fuse *f, Step *s)
{
	for (int i = 0; i < s->op->noperands; i++)
		add_read(f, s, s->op->operands[i]);
}

static void
finish_copy(Fuse *f, Step *s)
{
	s->reads[0] = steps_home(f->steps, s->reads[0]);
	s->nreads = 1;
}

static void
finish_test(Fuse *f, Step *s)
{
	add_read(f, s, s->op->bodies[0]->last->operands[0]);
}

static void
finish_if(Fuse *f, Step *s)
{
	add_read(f, s, s->op->operands[0]);
}

static void
finish_step(Fuse *f, Step *s)
{
	typedef void Finish(Fuse *, Step *);
	static Finish *const functions[] = {
		[STEP_kernel] = finish_kernel, [STEP_dot] = finish_kernel,
		[STEP_collective] = finish_operands,
		[STEP_sort] = finish_operands,
		[STEP_extern] = finish_operands, [STEP_copy] = finish_copy,
		[STEP_swap] = finish_copy, [STEP_test] = finish_test,
		[STEP_if] = finish_if, [STEP_endif] = NULL,
	};

	if (functions[s->kind])
		functions[s->kind](f, s);
}

/* Which loop each step is in, where loops and branches end. */
static void
find_ends(Fuse *f)
{
	Step *step = f->steps->step;
	int *open = NULL, depth = 0, loop = -1;

	for (int i = 0; i < f->steps->n; i++) {
		StepKind kind = step[i].kind;
		step[i].loop = loop;
		if (kind == STEP_loop || kind == STEP_if)
			APPEND(f->scratch, open, depth, i);
		if (kind == STEP_loop)
			loop = i;
		if (kind == STEP_test || kind == STEP_else)
			step[open[depth - 1]].middle = i;
		if (kind != STEP_repeat && kind != STEP_endif)
			continue;
		step[open[--depth]].end = i;
		if (kind == STEP_repeat)
			loop = step[open[depth]].loop;
	}
}

/* An index that nothing depends on in the end takes its scalars with it. */
static void
drop_unused_scalars(Fuse *f)
{
	Steps *s = f->steps;
	bool *used = NEW_ARRAY(f->scratch, bool, s->module->nvalues + 1);
	int n = 0;

	for (int i = 0; i < s->n; i++) {
		if (!s->step[i].kernel)
			continue;
		for (const Node *x = s->step[i].kernel->nodes; x; x = x->next)
			used[x->value ? x->value->id : s->module->nvalues] = true;
	}
	for (int i = s->nscalars - 1; i >= 0; i--) {
		const Op *op = s->scalars[i];
		for (int j = 0; j < op->noperands; j++)
			used[operand(f, op, j)->id] |= used[op->results[0]->id];
	}
	for (int i = 0; i < s->nscalars; i++)
		if (used[s->scalars[i]->results[0]->id])
			s->scalars[n++] = s->scalars[i];
	s->nscalars = n;
}

Steps *
steps_build(Module *m)
{
	Arena *a = m->arena;
	Steps *s = NEW(a, Steps);
	Fuse f = {.steps = s, .arena = a, .scratch = arena_new()};

	module_number(m);
	s->module = m;
	s->home = NEW_ARRAY(a, Value *, m->nvalues + 1);
	s->source = NEW_ARRAY(a, Value *, m->nvalues + 1);
	f.no_index = NEW(a, Affine);
	f.uses = NEW_ARRAY(f.scratch, Uses, m->nvalues + 1);
	f.scalar = NEW_ARRAY(f.scratch, bool, m->nvalues + 1);
	visit_all(&f);
	load_parameters(&f, m->entry);
	reverse(s->step, s->n, sizeof *s->step);
	reverse(s->scalars, s->nscalars, sizeof *s->scalars);
	for (int i = 0; i < s->n; i++)
		finish_step(&f, &s->step[i]);
	find_ends(&f);
	drop_unused_scalars(&f);
	arena_free(f.scratch);
	return s;
}

/*
 * buffer.c - ops whose results have buffers: the kernels, dots and
 * collectives that fill them.
 */
#include <string.h>
#include "sched/fuse/fuse.h"

Step *
new_step(Fuse *f, StepKind kind, Op *op, int nresults, Value **results)
{
	Step step = {.kind = kind,
		.op = op,
		.nresults = nresults,
		.results = results,
		.result = nresults ? results[0] : NULL,
		.loop = -1};

	for (int i = 0; i < nresults; i++)
		f->steps->home[results[i]->id] = results[i];
	f->made[op->id] = true;
	APPEND(f->arena, f->steps->step, f->steps->n, step);
	return &f->steps->step[f->steps->n - 1];
}

static Step *
new_kernel_step(Fuse *f, StepKind kind, Op *op, Kernel *k)
{
	Step *step = new_step(f, kind, op, 1, op->results);

	step->kernel = k;
	k->fills = op;
	return step;
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

void
root_map(Fuse *f, Op *op)
{
	Affine index[MAX_RANK];
	Kernel *k = new_kernel(f, &op->results[0]->type, index);
	Ref ref = {k, &k->root, index, NULL};

	new_kernel_step(f, STEP_kernel, op, k);
	if (f->scalar[op->results[0]->id])
		k->root = node_new(f, k, NODE_scalar, op, op->results[0]);
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
	ref_add(f, op->operands[0], k, &k->root, index);
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
	ref_add(f, x, k, &k->root, index);
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
	ref_add(f, op->operands[1], fill, &fill->root, NULL);
}

static void
dot_loops(Kernel *k, const Ints *dims, const Type *t, LoopGroup group, Affine *index)
{
	for (int i = 0; i < dims->n; i++) {
		int d = (int)dims->v[i];
		index[d] = affine_loop(loop_add(k, t->dims[d], group));
	}
}

static void
dot_rest(Kernel *k, const Ints *batch, const Ints *contract, const Type *t, LoopGroup group,
	Affine *index)
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
	k->root = node_new(f, k, NODE_dot, op, op->results[0]);
	k->root->nargs = 2;
	ref_add(f, lhs, k, &k->root->args[0], left);
	ref_add(f, rhs, k, &k->root->args[1], right);
}

static void
root_collective(Fuse *f, Op *op)
{
	Step *step = new_step(f, STEP_collective, op, 1, op->results);

	if (collectives[op->kind].base >= 0)
		step->base = operand(f, op, collectives[op->kind].base);
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
			index_add_term(f, k, NODE_clamp, op->operands[2 + d], NULL, limit,
				&target[d]);
	}
	k->store = index_linear(f->arena, &x->type, target);
	new_kernel_step(f, STEP_kernel, op, k)->base = x;
	ref_add(f, update, k, &k->root, index);
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
	index_add_term(f, k, NODE_index, at, &index[dim], x->type.dims[dim], &target[dim]);
	k->store = index_linear(f->arena, &x->type, target);
	new_kernel_step(f, STEP_kernel, op, k)->base = x;
	ref_add(f, update, k, &k->root, index);
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

	if (op_communicates(op))
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

void
give_buffer(Fuse *f, Op *op, Uses *u)
{
	for (Ref *r = u->refs; r; r = r->next) {
		if (is_constant(f, op) && r->kernel->kind != KERNEL_dot) {
			take_in(f, op, r->kernel);
			inliner(op)(f, op, r);
		} else {
			ref_load(f, op->results[0], r);
		}
	}
	if (rooter(op) == root_map && !inliner(op) && !f->scalar[op->results[0]->id])
		die("no code for %s", ops[op->kind].name);
	rooter(op)(f, op);
}

/*
 * kernels.c - the kernels that fill the result of an op, by its kind.
 */
#include <string.h>
#include "sched/fuse/fuse.h"

/* Made last to first. */
static void
add_kernel(Fuse *f, Op *op, Kernel *k)
{
	k->fills = op;
	k->next = f->kernels[op->id];
	f->kernels[op->id] = k;
}

/* A kernel with a loop for each dim, that stores at the same index. */
static Kernel *
new_kernel(Fuse *f, const Type *type, Affine *index)
{
	Kernel *k = NEW(f->arena, Kernel);

	k->loop = f->loop;
	for (int d = 0; d < type->rank; d++)
		index[d] = affine_loop(loop_add(k, type->dims[d], LOOP_row));
	k->store = index_linear(f->arena, type, index);
	return k;
}

static bool
root_map(Fuse *f, Op *op)
{
	Affine index[MAX_RANK];
	Kernel *k = new_kernel(f, &op->results[0]->type, index);
	Ref ref = {k, &k->root, index, NULL};

	add_kernel(f, op, k);
	return inliner(op) && inliner(op)(f, op, &ref);
}

static bool
root_cumsum(Fuse *f, Op *op)
{
	Affine index[MAX_RANK];
	Kernel *k = new_kernel(f, &op->results[0]->type, index);
	int dim = (int)op_int(op, A_dim), loop = k->order[dim];

	add_kernel(f, op, k);
	memmove(&k->order[dim], &k->order[dim + 1],
		sizeof k->order[0] * (size_t)(k->norder - dim - 1));
	k->order[k->norder - 1] = loop;
	k->loops[loop].group = LOOP_inner;
	k->kind = KERNEL_scan;
	k->combiner = (Combiner)op_int(op, A_combiner);
	k->outer = k->norder - 1;
	ref_add(f, op->operands[0], k, &k->root, index);
	return true;
}

/* The operand, stored into a part of the result that starts at `low`; of a pad apart, as that
   says. */
static void
store_part(Fuse *f, Op *op, Value *x, const int64_t *low)
{
	Affine index[MAX_RANK], target[MAX_RANK];
	Kernel *k = new_kernel(f, &x->type, index);

	memcpy(target, index, sizeof target);
	for (int d = 0; d < x->type.rank; d++) {
		target[d].offset = low[d];
		for (int i = 0; i < MAX_LOOPS; i++)
			target[d].coef[i] *= op_inner(op, d) + 1;
	}
	k->store = index_linear(f->arena, &op->results[0]->type, target);
	add_kernel(f, op, k);
	ref_add(f, x, k, &k->root, index);
}

static bool
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
	return true;
}

/* Filled, then overwritten in the middle (steps are made last to first). */
static bool
root_pad(Fuse *f, Op *op)
{
	const Ints *low = op_ints(op, A_low);
	Affine index[MAX_RANK];

	store_part(f, op, operand(f, op, 0), low->v);
	Kernel *fill = new_kernel(f, &op->results[0]->type, index);
	add_kernel(f, op, fill);
	ref_add(f, op->operands[1], fill, &fill->root, NULL);
	return true;
}

static bool
root_dot(Fuse *f, Op *op)
{
	Affine index[MAX_RANK];
	Kernel *k = new_kernel(f, &op->results[0]->type, index);
	Ref ref = {k, &k->root, index, NULL};

	add_kernel(f, op, k);
	return fill_with_dot(f, op, &ref);
}

/* A part of a copy of operand 0, which may be the operand itself. */
static bool
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
	add_kernel(f, op, k);
	ref_add(f, update, k, &k->root, index);
	use_whole(f, x);
	return true;
}

/* Loops over the updates, each added where its index says. */
static bool
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
	add_kernel(f, op, k);
	ref_add(f, update, k, &k->root, index);
	use_whole(f, x);
	return true;
}

typedef bool Root(Fuse *f, Op *op);

bool
fill_result(Fuse *f, Op *op)
{
	static Root *const roots[OP_COUNT] = {
		[O_cumsum] = root_cumsum,
		[O_concatenate] = root_concatenate,
		[O_pad] = root_pad,
		[O_dot] = root_dot,
		[O_dynamic_update_slice] = root_update,
		[O_scatter_add] = root_scatter_add,
	};

	return (roots[op->kind] ? roots[op->kind] : root_map)(f, op);
}

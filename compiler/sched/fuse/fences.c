/*
 * fences.c - what of a part of a parameter waits for others at a fence.
 *
 *   p = fence(permute), b = fence(w[1])      p = fence(permute), v = fence(w), b = v[1]
 *
 * Behind the fence v is another name of w, which copies nothing, and the part of it is
 * read where it is used.
 */
#include "sched/fuse/fuse.h"

/* What was made here has no number yet, and no other name. */
static Value *
of(const Fuse *f, const Op *op, int i)
{
	Value *v = op->operands[i];

	return v->id < 0 ? v : source_value(f, v);
}

const Value *
fence_root(const Fuse *f, const Op *fence)
{
	const Value *v = of(f, fence, 0), *name = NULL;

	for (; v->def && (op_renames(v->def) || op_takes_part(v->def)); v = of(f, v->def, 0))
		if (!name && is_one_of_fences(v->def))
			name = v;
	return v->def ? NULL : name ? name : v;
}

static Op *
behind_fences(Op *fence)
{
	for (int n = fences_in_one(fence); n; n--)
		fence = fence->next;
	return fence;
}

/* What the fence gave is now the part's: that of the same elements, behind it. */
static void
swap_results(Op *fence, Op *part)
{
	Value *v = fence->results[0];

	fence->results[0] = part->results[0];
	part->results[0] = v;
	fence->results[0]->def = fence;
	v->def = part;
}

/* The fence becomes one of the root; what takes the part of it is done once more behind. */
static void
widen(const Fuse *f, Op *fence, const Value *root)
{
	Op *before = behind_fences(fence), *user = NULL;

	for (Value *v = of(f, fence, 0); v != root; v = of(f, v->def, 0)) {
		Op *again = op_clone(v->def);
		for (int i = 1; i < again->noperands; i++)
			again->operands[i] = of(f, v->def, i);
		op_insert_before(before, again);
		if (user)
			user->operands[0] = again->results[0];
		else
			swap_results(fence, again);
		user = before = again;
	}
	user->operands[0] = fence->results[0];
	fence->operands[0] = (Value *)root;
	value_like(fence->results[0], root);
	fence->results[0]->name = module_unique_name(f->module, root->name);
}

bool
fences_widen(Fuse *f)
{
	const Block *entry = f->module->entry;
	bool any = false;

	for (Op *op = entry->first; op; op = op_following(op, entry)) {
		const Value *root = is_one_of_fences(op) ? fence_root(f, op) : NULL;
		if (root && root != of(f, op, 0)) {
			widen(f, op, root);
			any = true;
		}
	}
	return any;
}

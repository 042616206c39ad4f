/*
 * view.c - the loop nests that compute one op of a fused program.
 *
 *   fused (p: f32[4,8], q: f32[8]) {       loops i0 < 4, i1 < 8
 *     b = broadcast(q), dimensions={1}     load p[8 i0 + i1]   load q[i1]
 *     ROOT h = add(p, b) }                 add                 store h[8 i0 + i1]
 *
 * The same walk as that of fuse.c, over the body alone: there is nothing to
 * decide, all of it is computed here.  Of a body that fuse wrote every step
 * succeeds, for each kernel sees the same steps in the same order; a body that
 * was edited may be none of one nest.
 */
#include "sched/fuse/fuse.h"

enum { MAX_KERNEL = 64 * MAX_NODES }; /* nodes: far more than fuse puts into one */

Fuse *
view_new(const Module *m)
{
	Arena *a = arena_new();
	Fuse *f = NEW(a, Fuse);

	f->step = a;
	f->arena = arena_new();
	f->uses = NEW_ARRAY(a, Uses, m->nvalues + 1);
	f->kernels = NEW_ARRAY(a, Kernel *, m->nops + 1);
	return f;
}

void
view_free(Fuse *f)
{
	arena_free(f->arena);
	arena_free(f->step);
}

const Value *
view_buffer(const Op *op, const Value *v)
{
	return v->block->parent == op ? op->operands[v->index] : v;
}

static bool
have_room(const Uses *u)
{
	const Ref *r = u->refs;

	while (r && r->kernel->nnodes < MAX_KERNEL)
		r = r->next;
	return !r;
}

/* Last op first; false where an op has other uses than those of loops. */
static bool
compute_body(Fuse *f, const Op *op, Op *root)
{
	const Block *body = op->bodies[0];
	bool computed = root->block == body && root->next == body->last && fill_result(f, root);

	for (Op *member = root->prev; computed && member; member = member->prev) {
		Uses *u = &f->uses[member->results[0]->id];
		computed = !u->whole && have_room(u)
			&& (!u->refs || (inliner(member) && inline_uses(f, member, u)));
	}
	for (const Op *member = body->first; member; member = member->next)
		for (int i = 0; i < member->nresults; i++)
			f->uses[member->results[i]->id] = (Uses){0};
	return computed;
}

Kernel *
view_kernels(Fuse *f, Op *op)
{
	Op *root = op_is_fusion(op) ? op->bodies[0]->last->operands[0]->def : op;

	arena_reset(f->arena);
	f->failed = false;
	f->no_index = NEW(f->arena, Affine);
	if (!root)
		return NULL;
	f->kernels[root->id] = NULL;
	f->failed = root == op ? !fill_result(f, op) : !compute_body(f, op, root);
	for (int i = 0; i < op->noperands; i++) {
		Value *v = root == op ? op->operands[i] : op->bodies[0]->params[i];
		bool offset = value_is_offset(view_buffer(op, v));
		f->failed |= offset && f->uses[v->id].whole;
		for (Ref *r = f->uses[v->id].refs; r; r = r->next)
			if (offset)
				*r->slot = node_new(f, r->kernel, NODE_scalar, NULL, v);
			else
				ref_load(f, v, r);
		f->uses[v->id] = (Uses){0};
	}
	if (f->failed)
		return NULL;
	for (Kernel *k = f->kernels[root->id]; k; k = k->next)
		kernel_finish(k);
	return f->kernels[root->id];
}

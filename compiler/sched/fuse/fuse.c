/*
 * fuse.c - a device program becomes the list of what one device does: which
 * values get a buffer, and which are computed inside the loops that use them.
 *
 *   h = add(x, broadcast(b))         one fusion, one buffer: h
 *   y = exponential(h)               a second one if h is used elsewhere too
 *
 * Ops are visited last to first, so that every use of a value is known when its op is reached.
 * A use is either of the whole buffer (a collective, a result) or one element at an index
 * within a kernel: a slot to be filled with a node.  An op that only moves elements hands the
 * slot on to its operand with another index; a pointwise op, all of whose uses are in one
 * kernel, is computed there; so is a reduction, over the rows of the kernel.  Everything else
 * gets a buffer and the slots load from it.
 *
 * Requires L_device.  Leaves L_fused.
 */
#include "cost/residency.h"
#include "sched/fuse/fuse.h"
#include "sched/sched.h"

/* ---- ops by themselves ------------------------------------------------------ */

/* A dot takes its factors from buffers. */
static bool
is_factor(const Ref *r)
{
	const Node *root = r->kernel->kind == KERNEL_dot ? r->kernel->root : NULL;

	return root && (r->slot == &root->args[0] || r->slot == &root->args[1]);
}

static void
visit_offset(Fuse *f, const Op *op, Uses *u)
{
	Value *v = op->results[0];

	for (Ref *r = u->refs; r; r = r->next)
		if (is_factor(r)) {
			ref_load(f, v, r);
			u->whole = true;
		} else {
			*r->slot = node_new(f, r->kernel, NODE_scalar, NULL, v);
		}
	for (int i = 0; i < op->noperands; i++)
		f->uses[operand(f, op, i)->id].offset = true;
}

/* Behind a fence nothing is computed that stands before it; what is there anyway is read where
   it is used, unless it waits for others: then it has a name. */
static bool
is_there(Fuse *f, const Op *fence)
{
	return fence_root(f, fence) && !is_one_of_fences(fence);
}

/* Where it is needed as such, a reshape is another name of the buffer.  Uses of
   elements are tried on copies of the kernels, for one that fails leaves loops split. */
static void
visit_reshape(Fuse *f, Op *op, Uses *u)
{
	Affine index[MAX_RANK];
	bool may = op->kind != O_fence || is_there(f, op);

	for (Ref *r = u->refs; r && may; r = r->next) {
		Kernel *k = r->kernel;
		if (!k->trial)
			k->trial = arena_copy(f->step, k, sizeof *k);
		may = index_through(f->step, k->trial, op, r->index, index);
	}
	for (Ref *r = u->refs; r; r = r->next)
		r->kernel->trial = NULL;
	arena_reset(f->step);
	if (may)
		inline_uses(f, op, u);
	else
		refs_load(f, op->results[0]);
	u->whole |= !may;
	u->stored |= !may;
	if (u->whole)
		(u->stored ? use_whole : use_moved)(f, operand(f, op, 0));
}

static void
give_buffer(Fuse *f, Op *op, Uses *u)
{
	const Op *of = op->kind == O_broadcast ? operand(f, op, 0)->def : op;
	bool constant = of && op_has(of, A_value);

	/* A constant, however often it is repeated, is not worth reading. */
	for (Ref *r = u->refs; r; r = r->next)
		if (!constant || r->kernel->kind == KERNEL_dot || !inline_one(f, op, r))
			ref_load(f, op->results[0], r);
	if (!fill_result(f, op))
		die("no code for %s", ops[op->kind].name);
}

/* Works on whole buffers; of several results some may be for nobody. */
static void
visit_whole(Fuse *f, const Op *op)
{
	bool any = false;

	for (int i = 0; i < op->nresults; i++)
		any |= is_used(f, op->results[i]);
	if (!any)
		return;
	for (int i = 0; i < op->nresults; i++)
		refs_load(f, op->results[i]);
	for (int i = 0; i < op->noperands; i++)
		(op_communicates(op) ? use_moved : use_whole)(f, op->operands[i]);
	f->kept[op->id] = true;
}

/* Does it have a buffer whatever reads it?  `memory`: one that is not on the chip. */
static bool
is_made_whole(const Fuse *f, Value *v, bool *memory)
{
	v = elements_of(f, v);
	const Op *op = v->def ? v->def : v->block->parent;
	bool joint = op && op->kind == O_concatenate;
	const Op *of = joint ? elements_of(f, op->operands[0])->def : op;
	bool far = of && (op_communicates(of) || op_is_loop(of) || op_is_branch(of));

	*memory |= far;
	return joint || far || (op && op_is_product(op));
}

/* Might its operands be made in its result?  Where they cannot it becomes a fusion. */
static bool
may_be_joint(const Fuse *f, const Op *op)
{
	bool may = op->kind == O_concatenate && op->noperands > 1 && op_is_in_ranges(op);
	bool memory = false;

	for (int i = 0; i < op->noperands && may; i++) {
		may = is_made_whole(f, op->operands[i], &memory);
		for (int k = 0; k < i && may; k++)
			may = elements_of(f, op->operands[k])
				!= elements_of(f, op->operands[i]);
	}
	return may && memory;
}

static void
visit_plain(Fuse *f, Op *op)
{
	Value *v = op->results[0];
	Uses *u = &f->uses[v->id];

	if (op_communicates(op) || ops[op->kind].many || op_is_grouped(op) || op_is_identity(op)
		|| op_is_hosted(op) || may_be_joint(f, op))
		visit_whole(f, op);
	else if (!is_used(f, v) && !(f->offset[v->id] && u->offset))
		return;
	else if (f->offset[v->id])
		visit_offset(f, op, u);
	else if (op_renames(op))
		visit_reshape(f, op, u);
	else if (!computed_where_used(f, op, u))
		give_buffer(f, op, u);
}

/* ---- blocks ------------------------------------------------------------------- */

static void visit_block(Fuse *f, const Block *b);

/* What is carried has a place, written before the loop and at the end of each round. */
static void
visit_while(Fuse *f, const Op *op)
{
	const Block *condition = op->bodies[0], *body = op->bodies[1];
	const Op *around = f->loop;

	f->loop = op;
	for (int i = 0; i < body->nparams; i++) {
		const Value *next = body->last->operands[i];
		if (source_value(f, body->params[i]) == body->params[i])
			use_whole(f, f->elements[next->id] = elements_of(f, next));
	}
	visit_block(f, body);
	use_whole(f, condition->last->operands[0]);
	visit_block(f, condition);
	for (int i = body->nparams - 1; i >= 0; i--) {
		if (source_value(f, body->params[i]) != body->params[i])
			continue;
		refs_load(f, body->params[i]);
		use_whole(f, op->operands[i]);
	}
	f->loop = around;
}

static void
visit_if(Fuse *f, const Op *op)
{
	for (int b = 1; b >= 0; b--) {
		const Op *last = op->bodies[b]->last;
		for (int i = 0; i < op->nresults; i++)
			if (is_used(f, op->results[i]))
				use_whole(f, last->operands[i]);
		visit_block(f, op->bodies[b]);
	}
	for (int i = 0; i < op->nresults; i++)
		refs_load(f, op->results[i]);
	use_whole(f, op->operands[0]);
}

static void
visit_block(Fuse *f, const Block *b)
{
	for (Op *op = b->last->prev; op; op = op->prev)
		if (op_is_loop(op))
			visit_while(f, op);
		else if (op_is_branch(op))
			visit_if(f, op);
		else if (op_is_composite(op))
			visit_block(f, op->bodies[0]);
		else
			visit_plain(f, op);
}

/* ---- the pass ----------------------------------------------------------------- */

static void
set_unset(Module *m)
{
	Arena *a = arena_new();

	module_number(m);
	const bool *unset = unset_find(m, a);
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
		if (unset[op->id])
			op_set_int(op, A_unset, 1);
	arena_free(a);
}

static Fuse *
fuse_new(Module *m)
{
	Arena *a = arena_new();
	Fuse *f = NEW(a, Fuse);

	module_number(m);
	*f = (Fuse){.arena = a, .step = arena_new(), .module = m};
	f->no_index = NEW(a, Affine);
	f->uses = NEW_ARRAY(a, Uses, m->nvalues + 1);
	f->kernels = NEW_ARRAY(a, Kernel *, m->nops + 1);
	f->source = NEW_ARRAY(a, Value *, m->nvalues + 1);
	f->elements = NEW_ARRAY(a, Value *, m->nvalues + 1);
	f->offset = NEW_ARRAY(a, bool, m->nvalues + 1);
	f->changes = NEW_ARRAY(a, const Op *, m->nvalues + 1);
	f->members = NEW_ARRAY(a, Members, m->nops + 1);
	f->kept = NEW_ARRAY(a, bool, m->nops + 1);
	names_find(f);
	return f;
}

static void
fuse_free(Fuse *f)
{
	arena_free(f->step);
	arena_free(f->arena);
}

bool
fuse(Module *m)
{
	Fuse *f = fuse_new(m);
	const Block *entry = m->entry;

	if (fences_widen(f)) {
		fuse_free(f);
		f = fuse_new(m);
	}
	for (int i = 0; i < entry->last->noperands; i++)
		use_whole(f, entry->last->operands[i]);
	visit_block(f, entry);
	for (int i = 0; i < entry->nparams; i++)
		refs_load(f, entry->params[i]);
	fused_write(f);
	bool untidy = f->untidy;
	fuse_free(f);
	if (untidy) {
		copies_insert(m);
		module_remove_dead(m);
	}
	module_number(m);
	residency_find(m, NULL);
	strips_place(m);
	set_unset(m);
	module_number(m);
	residency_find(m, NULL);
	return true;
}

/*
 * fused.c - the fused program, once it is decided which values have a buffer
 * and which are computed in whose kernels.
 *
 *   %h = add(%x, %b)                 fused.1 (p: ..., q: ...) {
 *   %y = exponential(%h)               h = add(p, q)
 *                                      ROOT y.2 = exponential(h) }
 *                                    %y = fusion(%x, %b), calls=%fused.1
 *
 * Blocks are written again op by op.  An op with a buffer stays, or is the
 * root of a fusion whose value is now the fusion's; an op that is computed in
 * one fusion moves into its body, in several a copy of it does; others go.
 * Bodies of loops and branches are given what they need of what is around
 * them, for what they need has changed.
 */
#include <string.h>
#include "ir/make.h"
#include "memory/lives.h"
#include "sched/fuse/fuse.h"

/* ---- values --------------------------------------------------------------- */

/* Where it lies in memory. */
static Value *
buffered(const Fuse *f, const Value *v)
{
	Value *s = source_value(f, v);

	return f->offset[s->id] ? f->stored[s->id] : s;
}

static void
stand_for(Fuse *f, const Value *v, const Block *b, Value *other)
{
	Stand *s = NEW(f->arena, Stand);

	*s = (Stand){b, other, f->stands[v->id]};
	f->stands[v->id] = s;
}

/* In blocks that have their return nobody asks any more. */
static Value *
stands_for(Fuse *f, const Value *v, const Block *b)
{
	Stand **s = &f->stands[v->id];

	while (*s && (*s)->block != b)
		if ((*s)->block->last && (*s)->block->last->kind == O_return)
			*s = (*s)->next;
		else
			s = &(*s)->next;
	return *s ? (*s)->value : NULL;
}

/*
 * `v` as block b sees it: a value of a block around it is handed in through
 * all ops between, and handed on by loops.
 */
static Value *
reach(Fuse *f, Value *v, Block *b)
{
	Op *op = b->parent;
	Value *seen = v->block == b ? v : stands_for(f, v, b);

	if (seen)
		return seen;
	if (!op)
		die("fuse: %s is not in sight", v->name);
	op_add_operand(op, reach(f, v, op->block));
	for (int i = 0; i < op->nbodies; i++) {
		Value *param = block_add_param(op->bodies[i], v->name, &v->type);
		value_like(param, v);
		stand_for(f, v, op->bodies[i], param);
		seen = op->bodies[i] == b ? param : seen;
	}
	if (op_is_loop(op))
		value_like(op_add_result(op, v->name, &v->type), v);
	return seen;
}

/* ---- fusions -------------------------------------------------------------- */

static Value *
add_param(Fuse *f, Op *fusion, Value *v)
{
	Value *param = block_add_param(fusion->bodies[0], v->name, &v->type);

	value_like(param, v);
	op_add_operand(fusion, reach(f, v, fusion->block));
	return param;
}

/*
 * In the order in which the loops read them.  The tensor of which a part is
 * changed is one by itself, for it may have to be copied where it is read too.
 */
static void
add_params(Fuse *f, Op *fusion, const Op *root, Kernel *kernels)
{
	if (op_changes(root))
		add_param(f, fusion, source_value(f, root->operands[0]));
	for (Kernel *k = kernels; k; k = k->next) {
		kernel_finish(k);
		for (Node *x = k->nodes; x; x = x->next) {
			if (x->kind != NODE_load && x->kind != NODE_scalar)
				continue;
			Value *v = source_value(f, x->value);
			if (f->within[v->id] != fusion)
				f->inside[v->id] = add_param(f, fusion,
					x->kind == NODE_load ? buffered(f, v) : v);
			f->within[v->id] = fusion;
			x->value = f->inside[v->id];
		}
	}
}

/* A constant for an operand that no element depends on: what sums begin with,
   where a slice begins along a dim that it has all of, rows of which there is one. */
static Value *
unread(const Op *op, int i, Block *body)
{
	const Make k = {.module = op->module,
		.block = body,
		.range = op->range,
		.label = op->label,
		.name = "unread",
		.helper = true};
	Combiner c = op_has(op, A_combiner) ? (Combiner)op_int(op, A_combiner) : C_add;
	const Type *type = &op->operands[i]->type;

	return make_splat(k, make_identity(k, c, type->dtype), type);
}

static Value *
operand_inside(const Fuse *f, const Op *fusion, const Op *op, int i)
{
	Value **operands = f->read[op->id] ? f->read[op->id] : op->operands;
	const Value *v = source_value(f, operands[i]);

	if (i == 0 && op_changes(op))
		return fusion->bodies[0]->params[0];
	return f->within[v->id] == fusion ? f->inside[v->id] : unread(op, i, fusion->bodies[0]);
}

/* A buffer by another shape. */
static bool
is_renaming(const Fuse *f, const Op *op)
{
	return op_renames(op) && f->uses[op->results[0]->id].whole;
}

/* The root's value becomes the fusion's. */
static void
write_fusion(Fuse *f, Block *b, Op *root)
{
	const Members *members = &f->members[root->id];
	Op *fusion = fusion_new(root), *computed = op_clone(root);
	Block *body = fusion->bodies[0];

	fusion->results = arena_copy(b->module->arena, root->results, sizeof *root->results);
	fusion->results[0]->def = fusion;
	fusion->nresults = 1;
	op_append(b, fusion);
	add_params(f, fusion, root, f->kernels[root->id]);
	for (int k = members->n - 1; k >= -1; k--) {
		Op *op = k < 0 ? root : members->ops[k];
		bool moves = k >= 0 && f->wanted[op->id] == 1 && !is_renaming(f, op);
		Op *inside = k < 0 ? computed : moves ? op : op_clone(op);
		for (int i = 0; i < op->noperands; i++)
			inside->operands[i] = operand_inside(f, fusion, op, i);
		op_append(body, inside);
		f->inside[op->results[0]->id] = inside->results[0];
		f->within[op->results[0]->id] = fusion;
	}
	make_return(body, 1, computed->results, root->range, root->label);
	facts_set(fusion, f->kernels[root->id]);
}

/* ---- loops and branches ---------------------------------------------------- */

static void write_block(Fuse *f, Block *b);

static int
keep(Value **values, int n, const bool *kept)
{
	int k = 0;

	for (int i = 0; i < n; i++) {
		if (!kept[i]) {
			values[i]->block = NULL;
			continue;
		}
		values[i]->index = k;
		values[k++] = values[i];
	}
	return k;
}

/*
 * What the loop only hands on is asked for again where it is needed.
 *
 *   s, w = while(x, W): body(s0, w0): return s0 * broadcast(w0), w0
 *   s = while(x)        body(s0): here w0 is a name of W, and reach() hands W in
 *                       if a step of the body reads it, as the last carried value
 */
static void
write_while(Fuse *f, Block *b, Op *op)
{
	Block *condition = op->bodies[0], *body = op->bodies[1];
	Op *last = body->last;
	bool *carried = NEW_ARRAY(f->arena, bool, body->nparams + 1);
	int n = 0;

	for (int i = 0; i < body->nparams; i++)
		carried[i] = source_value(f, body->params[i]) == body->params[i];
	for (int i = 0; i < body->nparams; i++) {
		if (!carried[i])
			continue;
		stand_for(f, body->params[i], condition, condition->params[i]);
		stand_for(f, body->params[i], b, op->results[i]);
		op->operands[n] = reach(f, buffered(f, op->operands[i]), b);
		last->operands[n++] = last->operands[i];
	}
	op->noperands = last->noperands = n;
	keep(condition->params, condition->nparams, carried);
	keep(body->params, body->nparams, carried);
	keep(op->results, op->nresults, carried);
	condition->nparams = body->nparams = op->nresults = n;
	op_append(b, op);
	f->untidy = true;
	write_block(f, condition);
	write_block(f, body);
}

static void
write_if(Fuse *f, Block *b, Op *op)
{
	bool *wanted = NEW_ARRAY(f->arena, bool, op->nresults + 1);

	for (int i = 0; i < op->nresults; i++) {
		const Uses *u = &f->uses[op->results[i]->id];
		wanted[i] = u->refs || u->whole;
	}
	for (int k = 0; k < 2; k++) {
		Op *last = op->bodies[k]->last;
		last->noperands = 0;
		for (int i = 0; i < op->nresults; i++)
			if (wanted[i])
				last->operands[last->noperands++] = last->operands[i];
		for (int i = 0; i < op->bodies[k]->nparams; i++)
			op->bodies[k]->params[i]->block = NULL;
		op->bodies[k]->nparams = 0;
	}
	op->nresults = keep(op->results, op->nresults, wanted);
	op->operands[0] = reach(f, buffered(f, op->operands[0]), b);
	op->noperands = 1;
	op_append(b, op);
	f->untidy = true;
	write_block(f, op->bodies[0]);
	write_block(f, op->bodies[1]);
}

/* What a loop carries next has the shape that it carries, what it only hands on comes
   behind. */
static void
write_return(Fuse *f, Block *b, Op *op)
{
	bool round = b->parent && op_is_loop(b->parent) && b == b->parent->bodies[LOOP_BODY];

	for (int i = 0; i < op->noperands; i++) {
		const Value *v = op->operands[i];
		Value *x = reach(f, buffered(f, round ? f->elements[v->id] : v), b);
		if (round && !type_equal(&x->type, &v->type)) {
			Op *renaming = op_new(b->module, O_reshape, 1, &x, 1, v->name,
				v->def ? v->def->range : v->range, NULL);
			x = renaming->results[0];
			value_like(x, v);
			op_append(b, renaming);
		}
		op->operands[i] = x;
	}
	for (int i = op->noperands; round && i < b->nparams; i++)
		op_add_operand(op, b->params[i]);
	op_append(b, op);
}

/* ---- ops ------------------------------------------------------------------- */

/* And the copy of it that lies in memory, where one is needed. */
static void
write_offset(Fuse *f, Block *b, Op *op)
{
	Value *v = op->results[0];

	for (int i = 0; i < op->noperands; i++) {
		Value *x = source_value(f, op->operands[i]);
		op->operands[i] = reach(f, f->offset[x->id] ? x : f->literal[x->id], b);
	}
	op_append(b, op);
	if (!f->uses[v->id].whole)
		return;
	Op *copy = copy_new(v, op);
	copy->results[0]->id = f->nvalues + v->id;
	f->stored[v->id] = copy->results[0];
	op_append(b, copy);
}

static void
write_value(Fuse *f, Block *b, Op *op)
{
	const Value *v = op->results[0];
	const Uses *u = &f->uses[v->id];
	Kernel *kernels = f->kernels[op->id];
	/* A dot whose operands are read as they are stays one. */
	bool fused = kernels && (!op_is_product(op) || f->members[op->id].n);

	/* A constant as an operand of offsets. */
	if (op_has(op, A_value) && u->offset) {
		Op *literal = f->wanted[op->id] ? op_clone(op) : op;
		if (literal != op)
			literal->results[0]->id = 2 * f->nvalues + v->id;
		f->literal[v->id] = literal->results[0];
		op_append(b, literal);
	}
	if (f->offset[v->id] && (u->refs || u->whole || u->offset)) {
		write_offset(f, b, op);
	} else if (fused) {
		write_fusion(f, b, op);
	} else if (f->kept[op->id] || kernels || is_renaming(f, op)) {
		f->read[op->id] = arena_copy(f->arena, op->operands,
			(size_t)op->noperands * sizeof *op->operands);
		for (int i = 0; i < op->noperands; i++)
			op->operands[i] = reach(f, buffered(f, op->operands[i]), b);
		op_append(b, op);
	}
	if (kernels && !fused)
		kernel_finish(kernels);
	if (op->block && !fused)
		facts_set(op, kernels);
	f->untidy |= op_changes(op) || op_base(op) >= 0 || f->offset[v->id]
		|| (op->kind == O_concatenate && op->block);
}

static void
write_op(Fuse *f, Block *b, Op *op)
{
	bool last = !op->next;

	op->block = NULL;
	for (int i = 0; i < op->nresults; i++)
		op->results[i]->block = NULL;
	if (op_is_loop(op)) {
		write_while(f, b, op);
	} else if (op_is_branch(op)) {
		write_if(f, b, op);
	} else if (op_is_composite(op)) {
		for (Op *inner = op->bodies[0]->first, *next; inner->next; inner = next) {
			next = inner->next;
			write_op(f, b, inner);
		}
	} else if (last) {
		write_return(f, b, op);
	} else {
		write_value(f, b, op);
	}
}

static void
write_block(Fuse *f, Block *b)
{
	Op *op = b->first;

	b->first = b->last = NULL;
	for (Op *next; op; op = next) {
		next = op->next;
		write_op(f, b, op);
	}
}

/* Before; afterwards names and results are those of what is left. */
static void
forget_gone(Module *m)
{
	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value && !m->named[i].value->block)
			m->named[i].value = NULL;
}

void
fused_write(Fuse *f)
{
	Module *m = f->module;
	Arena *a = f->arena;

	f->nvalues = m->nvalues;
	f->stands = NEW_ARRAY(a, Stand *, 3 * m->nvalues + 1);
	f->stored = NEW_ARRAY(a, Value *, m->nvalues + 1);
	f->literal = NEW_ARRAY(a, Value *, m->nvalues + 1);
	f->inside = NEW_ARRAY(a, Value *, m->nvalues + 1);
	f->within = NEW_ARRAY(a, const Op *, m->nvalues + 1);
	f->wanted = NEW_ARRAY(a, int, m->nops + 1);
	f->read = NEW_ARRAY(a, Value **, m->nops + 1);
	for (int i = 0; i < m->nops; i++) {
		f->wanted[i] += f->kernels[i] || f->kept[i];
		for (int k = 0; k < f->members[i].n; k++)
			f->wanted[f->members[i].ops[k]->id]++;
	}
	forget_gone(m);
	write_block(f, m->entry);
	for (int i = 0; i < m->nresults; i++)
		m->results[i].value = m->entry->last->operands[i];
	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value && !m->named[i].value->block)
			m->named[i].value = source_value(f, m->named[i].value);
	forget_gone(m);
	m->level = L_fused;
}

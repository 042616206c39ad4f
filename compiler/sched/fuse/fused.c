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

/*
 * `v` as block b sees it: a value of a block around it is handed in through
 * all ops between, and handed on by loops.
 */
static Value *
reach(Fuse *f, Value *v, Block *b)
{
	Op *op = b->parent;
	Value *seen = NULL;

	if (v->block == b)
		return v;
	for (const Stand *s = f->stands[v->id]; s; s = s->next)
		if (s->block == b)
			return s->value;
	if (!op)
		die("fuse: %s is not in sight", v->name);
	op_add_operand(op, reach(f, v, op->block));
	for (int i = 0; i < op->nbodies; i++) {
		Value *param = block_add_param(op->bodies[i], v->name, &v->type);
		value_like(param, v);
		stand_for(f, v, op->bodies[i], param);
		seen = op->bodies[i] == b ? param : seen;
	}
	if (op->kind == O_while)
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
	Combiner c = op->kind == O_reduce ? (Combiner)op_int(op, A_combiner) : C_add;

	const Type *type = &op->operands[i]->type;

	return make_splat(k, make_identity(k, c, type->dtype), type);
}

static Value *
operand_inside(const Fuse *f, const Op *fusion, const Op *op, int i)
{
	const Value *v = source_value(f, op->operands[i]);

	if (i == 0 && op_changes(op))
		return fusion->bodies[0]->params[0];
	return f->within[v->id] == fusion ? f->inside[v->id] : unread(op, i, fusion->bodies[0]);
}

/* A buffer by another shape. */
static bool
is_renaming(const Fuse *f, const Op *op)
{
	return op->kind == O_reshape && f->uses[op->results[0]->id].whole;
}

static void
write_member(Fuse *f, Op *fusion, Op *op)
{
	const Value *v = op->results[0];
	bool once = f->wanted[op->id] == 1 && !is_renaming(f, op);
	Op *inside = once ? op : op_clone(op);

	for (int i = 0; i < op->noperands; i++)
		inside->operands[i] = operand_inside(f, fusion, op, i);
	op_append(fusion->bodies[0], inside);
	f->inside[v->id] = inside->results[0];
	f->within[v->id] = fusion;
}

/* The root's value becomes the fusion's. */
static Op *
fusion_new(const Op *root)
{
	Module *m = root->module;
	Op *fusion = op_new(m, O_fusion, 0, NULL, 0, NULL, root->range, root->label);

	fusion->bodies = NEW_ARRAY(m->arena, Block *, 1);
	fusion->bodies[0] = block_new(m, fusion);
	fusion->nbodies = 1;
	fusion->results = arena_copy(m->arena, root->results, sizeof *root->results);
	fusion->results[0]->def = fusion;
	fusion->nresults = 1;
	return fusion;
}

static void
write_fusion(Fuse *f, Block *b, Op *root)
{
	const Members *members = &f->members[root->id];
	Op *fusion = fusion_new(root), *inside = op_clone(root);
	Block *body = fusion->bodies[0];

	op_append(b, fusion);
	add_params(f, fusion, root, f->kernels[root->id]);
	for (int i = members->n - 1; i >= 0; i--)
		write_member(f, fusion, members->ops[i]);
	for (int i = 0; i < root->noperands; i++)
		inside->operands[i] = operand_inside(f, fusion, root, i);
	op_append(body, inside);
	make_return(body, 1, inside->results, root->range, root->label);
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

/* What the loop only hands on is asked for again where it is needed. */
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

/* The next value of what a loop carries, with the shape that it carries. */
static Value *
next_value(Fuse *f, Block *b, const Value *v)
{
	Value *x = reach(f, buffered(f, elements_of(f, v)), b);

	if (type_equal(&x->type, &v->type))
		return x;
	Op *op = op_new(b->module, O_reshape, 1, &x, 1, v->name, v->range, NULL);
	value_like(op->results[0], v);
	op_append(b, op);
	return op->results[0];
}

static void
write_return(Fuse *f, Block *b, Op *op)
{
	bool round = b->parent && b->parent->kind == O_while && b == b->parent->bodies[1];

	for (int i = 0; i < op->noperands; i++)
		op->operands[i] = round ? next_value(f, b, op->operands[i])
					: reach(f, buffered(f, op->operands[i]), b);
	for (int i = op->noperands; round && i < b->nparams; i++)
		op_add_operand(op, b->params[i]);
	op_append(b, op);
}

/* ---- ops ------------------------------------------------------------------- */

static void
write_whole(Fuse *f, Block *b, Op *op)
{
	for (int i = 0; i < op->noperands; i++)
		op->operands[i] = reach(f, buffered(f, op->operands[i]), b);
	op_append(b, op);
}

/* A constant as an operand of offsets. */
static void
write_literal(Fuse *f, Block *b, Op *op)
{
	Op *literal = f->wanted[op->id] ? op_clone(op) : op;
	Value *v = op->results[0];

	if (literal != op)
		literal->results[0]->id = 2 * f->nvalues + v->id;
	f->literal[v->id] = literal->results[0];
	op_append(b, literal);
}

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
	Op *copy = op_new(b->module, O_output, 1, &v, 1, v->name, op->range, op->label);
	value_like(copy->results[0], v);
	copy->results[0]->id = f->nvalues + v->id;
	f->stored[v->id] = copy->results[0];
	op_append(b, copy);
}

/* Of a dot whose operands are read as they are, the dot itself. */
static bool
is_plain(const Fuse *f, const Op *op)
{
	return op->kind == O_dot && !f->members[op->id].n;
}

static void
write_value(Fuse *f, Block *b, Op *op)
{
	const Uses *u = &f->uses[op->results[0]->id];
	bool fused = f->kernels[op->id] && !is_plain(f, op);

	if (op->kind == O_constant && u->offset)
		write_literal(f, b, op);
	if (f->offset[op->results[0]->id] && (u->refs || u->whole || u->offset))
		write_offset(f, b, op);
	else if (fused)
		write_fusion(f, b, op);
	else if (f->kept[op->id] || f->kernels[op->id] || is_renaming(f, op))
		write_whole(f, b, op);
	if (f->kernels[op->id] && !fused)
		kernel_finish(f->kernels[op->id]);
	if (op->block && !fused)
		facts_set(op, f->kernels[op->id]);
	f->untidy |= op_changes(op) || op_base(op) >= 0 || f->offset[op->results[0]->id];
}

static void
write_op(Fuse *f, Block *b, Op *op)
{
	op->block = NULL;
	for (int i = 0; i < op->nresults; i++)
		op->results[i]->block = NULL;
	if (op->kind == O_return)
		write_return(f, b, op);
	else if (op->kind == O_while)
		write_while(f, b, op);
	else if (op->kind == O_if)
		write_if(f, b, op);
	else if (op->kind != O_call)
		write_value(f, b, op);
	for (Op *inner = op->kind == O_call ? op->bodies[0]->first : NULL, *next;
		inner && inner->kind != O_return; inner = next) {
		next = inner->next;
		write_op(f, b, inner);
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

static void
rename_values(Fuse *f, Module *m)
{
	for (int i = 0; i < m->nresults; i++)
		m->results[i].value = m->entry->last->operands[i];
	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value && !m->named[i].value->block)
			m->named[i].value = source_value(f, m->named[i].value);
	forget_gone(m);
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
	for (int i = 0; i < m->nops; i++) {
		f->wanted[i] += f->kernels[i] || f->kept[i];
		for (int k = 0; k < f->members[i].n; k++)
			f->wanted[f->members[i].ops[k]->id]++;
	}
	forget_gone(m);
	write_block(f, m->entry);
	rename_values(f, m);
	m->level = L_fused;
}

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
#include "sched/fuse/fuse.h"

/* ---- values --------------------------------------------------------------- */

static void
copy_facts(Value *to, const Value *from)
{
	to->type = from->type;
	to->placement = from->placement;
	to->no_placement = from->no_placement;
	to->unpadded = from->unpadded;
	to->range = from->range;
}

/* What `v` is a name of; a result that is no copy is its operand. */
static Value *
origin(const Fuse *f, const Value *v)
{
	Value *s = steps_source(f->steps, v);

	while (s->def && s->def->kind == O_output && !f->made[s->def->id])
		s = steps_source(f->steps, s->def->operands[0]);
	return s;
}

/* Where it lies in memory. */
static Value *
buffered(const Fuse *f, const Value *v)
{
	Value *s = origin(f, v);

	return f->scalar[s->id] ? f->stored[s->id] : s;
}

static void
stand_for(Fuse *f, const Value *v, const Block *b, Value *other)
{
	Stand *s = NEW(f->scratch, Stand);

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
		copy_facts(param, v);
		stand_for(f, v, op->bodies[i], param);
		seen = op->bodies[i] == b ? param : seen;
	}
	if (op->kind == O_while)
		copy_facts(op_add_result(op, v->name, &v->type), v);
	return seen;
}

/* ---- fusions -------------------------------------------------------------- */

/*
 * Starts of slices along dims that are as long as the slice, and what sums
 * begin with, are not among what a kernel computes.
 */
static Value *
unread_operand(const Op *op, int i, Block *body)
{
	const Make k = {.module = op->module,
		.block = body,
		.range = op->range,
		.label = op->label,
		.name = "unread",
		.helper = true};
	const DType dtype = op->operands[i]->type.dtype;
	const Type *x = &op->operands[0]->type;
	const Type *part = &op->results[0]->type;
	int first = 1;

	if (op->kind == O_reduce && i == 1)
		return make_identity(k, (Combiner)op_int(op, A_combiner), dtype);
	if (op->kind == O_cumsum && i == 1)
		return make_identity(k, C_add, dtype);
	if (op->kind == O_dynamic_update_slice) {
		part = &op->operands[1]->type;
		first = 2;
	} else if (op->kind != O_dynamic_slice) {
		return NULL;
	}
	if (i < first || x->dims[i - first] != part->dims[i - first])
		return NULL;
	return make_constant(k, dtype, 0);
}

/* The operand of an op in the body of `fusion`: from in there, or a parameter. */
static Value *
operand_inside(Fuse *f, Op *fusion, const Op *op, int i, bool dot)
{
	Block *body = fusion->bodies[0];
	Value *v = origin(f, op->operands[i]), *param = unread_operand(op, i, body);

	if (param)
		return param;
	if (f->within[v->id] == fusion)
		return f->inside[v->id];
	param = block_add_param(body, v->name, &v->type);
	copy_facts(param, v);
	f->inside[v->id] = param;
	f->within[v->id] = fusion;
	op_add_operand(fusion, reach(f, dot ? buffered(f, v) : v, fusion->block));
	return param;
}

/* A buffer by another shape. */
static bool
is_renaming(const Fuse *f, const Op *op)
{
	return op->kind == O_reshape && f->uses[op->results[0]->id].whole;
}

static void
write_member(Fuse *f, Op *fusion, Op *op, bool dot)
{
	const Value *v = op->results[0];
	bool once = f->wanted[op->id] == 1 && !is_renaming(f, op);
	Op *inside = once ? op : op_clone(op);

	for (int i = 0; i < op->noperands; i++)
		inside->operands[i] = operand_inside(f, fusion, op, i, dot);
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
	bool dot = root->kind == O_dot;
	Op *fusion = fusion_new(root), *inside = op_clone(root);
	Block *body = fusion->bodies[0];

	op_append(b, fusion);
	for (int i = members->n - 1; i >= 0; i--)
		write_member(f, fusion, members->ops[i], dot);
	for (int i = 0; i < root->noperands; i++)
		inside->operands[i] = operand_inside(f, fusion, root, i, dot);
	op_append(body, inside);
	make_return(body, 1, inside->results, root->range, root->label);
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
	bool *carried = NEW_ARRAY(f->scratch, bool, body->nparams + 1);
	int n = 0;

	for (int i = 0; i < body->nparams; i++)
		carried[i] = origin(f, body->params[i]) == body->params[i];
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
	write_block(f, condition);
	write_block(f, body);
}

static void
write_if(Fuse *f, Block *b, Op *op)
{
	bool *wanted = NEW_ARRAY(f->scratch, bool, op->nresults + 1);

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
	write_block(f, op->bodies[0]);
	write_block(f, op->bodies[1]);
}

/* The next value of what a loop carries, with the shape that it carries. */
static Value *
next_value(Fuse *f, Block *b, const Value *v)
{
	Value *x = reach(f, buffered(f, steps_elements(f->steps, v)), b);

	if (type_equal(&x->type, &v->type))
		return x;
	Op *op = op_new(b->module, O_reshape, 1, &x, 1, v->name, v->range, NULL);
	copy_facts(op->results[0], v);
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

/* A constant as an operand of scalars. */
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
write_scalar(Fuse *f, Block *b, Op *op)
{
	Value *v = op->results[0];

	for (int i = 0; i < op->noperands; i++) {
		Value *x = origin(f, op->operands[i]);
		op->operands[i] = reach(f, f->scalar[x->id] ? x : f->literal[x->id], b);
	}
	op_append(b, op);
	if (!f->uses[v->id].whole)
		return;
	Op *copy = op_new(b->module, O_output, 1, &v, 1, v->name, op->range, op->label);
	copy_facts(copy->results[0], v);
	copy->results[0]->id = f->nvalues + v->id;
	f->stored[v->id] = copy->results[0];
	op_append(b, copy);
}

static void
leave_out(Op *op)
{
	op->block = NULL;
	for (int i = 0; i < op->nresults; i++)
		op->results[i]->block = NULL;
}

static void
write_op(Fuse *f, Block *b, Op *op)
{
	const Value *v = op->nresults ? op->results[0] : NULL;
	bool kernel = f->made[op->id] && !op_communicates(op) && !ops[op->kind].many;
	bool plain = !f->members[op->id].n && (op->kind == O_dot || op->kind == O_output);

	if (op->kind == O_constant && f->uses[v->id].scalar)
		write_literal(f, b, op);
	if (op->kind == O_call) {
		for (Op *inner = op->bodies[0]->first, *next; inner->kind != O_return;
			inner = next) {
			next = inner->next;
			write_op(f, b, inner);
		}
		leave_out(op);
	} else if (op->kind == O_return) {
		write_return(f, b, op);
	} else if (op->kind == O_while) {
		write_while(f, b, op);
	} else if (op->kind == O_if) {
		write_if(f, b, op);
	} else if (f->scalar[v->id]) {
		if (f->uses[v->id].refs || f->uses[v->id].whole || f->uses[v->id].scalar)
			write_scalar(f, b, op);
		else
			leave_out(op);
	} else if (kernel && !plain) {
		write_fusion(f, b, op);
	} else if (f->made[op->id] || is_renaming(f, op)) {
		write_whole(f, b, op);
	} else if (v->block != b || f->literal[v->id] != v) {
		leave_out(op);
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
			m->named[i].value = origin(f, m->named[i].value);
}

void
fused_write(Fuse *f)
{
	Module *m = f->steps->module;
	Arena *a = f->scratch;

	f->nvalues = m->nvalues;
	f->stands = NEW_ARRAY(a, Stand *, 3 * m->nvalues + 1);
	f->stored = NEW_ARRAY(a, Value *, m->nvalues + 1);
	f->literal = NEW_ARRAY(a, Value *, m->nvalues + 1);
	f->inside = NEW_ARRAY(a, Value *, m->nvalues + 1);
	f->within = NEW_ARRAY(a, const Op *, m->nvalues + 1);
	f->wanted = NEW_ARRAY(a, int, m->nops + 1);
	for (int i = 0; i < m->nops; i++) {
		f->wanted[i] += f->made[i];
		for (int k = 0; k < f->members[i].n; k++)
			f->wanted[f->members[i].ops[k]->id]++;
	}
	forget_gone(m);
	write_block(f, m->entry);
	rename_values(f, m);
	m->level = L_fused;
	module_remove_dead(m);
}

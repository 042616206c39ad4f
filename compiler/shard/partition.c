/*
 * partition.c - makes every op local.
 *
 * example     A[i, k@X], B[k@X, j] -> C[i@X, j]
 *             dot gives partial sums over X; `reshard` settles them: C[i@X, j]
 * requires    L_sharded
 * leaves      L_resharded: around each op the placements agree factor by
 *             factor; what has to move is a `reshard` op; values may be
 *             unreduced
 *
 * Ops are taken in order.  Each gets its plan (partition_choose.c); operands
 * that are not where the plan wants them are moved from the cheapest place
 * they already are, and what is moved is remembered, so equal moves are
 * shared, a move back is no move, and a sum of partials is reduced once.
 */
#include <string.h>
#include "shard/partition.h"

static void
add_form(Partitioner *p, Source *s, Value *v)
{
	Form *f = NEW(p->arena, Form), **end = &s->forms;

	f->value = v;
	while (*end)
		end = &(*end)->next;
	*end = f;
	s->at_final |= placement_equal(&v->placement, &s->final);
}

static void
partition_param(Partitioner *p, Value *v)
{
	Source *s = source_of(p, v);

	s->final = placement_close(v->placement);
	v->placement = s->final;
	add_form(p, s, v);
}

/* ---- moving values --------------------------------------------------------------- */

/* Why `v` moves: what made its partial sums, else the op that needs it. */
typedef struct Reason {
	const char *label;
	Range range;
	bool requested;
} Reason;

static Reason
reason_of(const Value *v, const Op *user, int operand, bool requested)
{
	Reason r = {user->label, user->range, requested};
	const Op *def = v->def;

	if (user->operand_ranges && user->operand_ranges[operand].file)
		r.range = user->operand_ranges[operand];
	if (v->placement.nunreduced && def) {
		r.label = def->label;
		r.range = def->range;
	}
	return r;
}

static Value *
insert_reshard(Partitioner *p, Value *v, const Placement *to, Op *before,
	Reason why)
{
	Op *op = op_new(p->module, O_reshard, 1, &v, 1, v->name, why.range,
		why.label);

	op_insert_before(before, op);
	op->results[0]->placement = *to;
	op_infer(op);
	op->results[0]->placement = *to;
	op->results[0]->range = v->range;
	op->requested = why.requested;
	return op->results[0];
}

/* A copy of a constant, iota or broadcast constant, placed as wanted. */
static Value *
recompute(Partitioner *p, Value *v, const Placement *to, Op *before)
{
	const Op *def = v->def;
	Op *copy = op_new(p->module, def->kind, def->noperands, def->operands,
		1, v->name, def->range, def->label);

	memcpy(copy->attrs, def->attrs, sizeof copy->attrs);
	copy->results[0]->type = v->type;
	copy->results[0]->placement = *to;
	op_insert_before(before, copy);
	return copy->results[0];
}

/* The value's form in `to`, made before op `before` if there is none. */
static Value *
value_in(Partitioner *p, Value *v, const Placement *to, Op *user, int operand,
	bool requested)
{
	Source *s = source_of(p, v);
	Form *form = NULL;
	Value *moved;
	const ReshardPlan *plan = cheapest_form(p, v, to, &form);

	if (placement_equal(&form->value->placement, to))
		return form->value;
	if (is_recomputed(v) && !to->nunreduced) {
		moved = recompute(p, v, to, user);
	} else {
		const ReshardPlan *settled = reshard_plan(p->resharder,
			&v->type, &s->final, to);
		/* many users: settle once where propagation put it */
		if (v->uses > 1 && !s->at_final && settled->bytes < plan->bytes
		    && !placement_equal(&s->final, to))
			value_in(p, v, &s->final, user, operand, requested);
		cheapest_form(p, v, to, &form);
		if (placement_equal(&form->value->placement, to))
			return form->value;
		moved = insert_reshard(p, form->value, to, user,
			reason_of(form->value, user, operand, requested));
	}
	add_form(p, s, moved);
	return moved;
}

static void
set_operand(Partitioner *p, Op *op, int i, const Placement *to, bool requested)
{
	op->operands[i] = value_in(p, op->operands[i], to, op, i, requested);
}

/* ---- ops ------------------------------------------------------------------------- */

static void partition_block(Partitioner *p, Block *b);

/* constraint, reshard, barrier, shard_like: the operand in the result's
   placement, under the result's name. */
static void
partition_move(Partitioner *p, Op *op)
{
	Value *v = op->results[0], *moved;
	Source *s = source_of(p, v);
	bool requested = op->kind == O_constraint || op->kind == O_reshard;

	moved = value_in(p, op->operands[0], &s->final, op, 0, requested);
	if (moved->def && moved->def->kind == O_reshard && requested)
		moved->def->requested = true;
	add_form(p, s, moved);
	s->alias = moved;
	op_remove(op);
}

static void
partition_output(Partitioner *p, Op *op)
{
	Value *v = op->results[0];
	Source *s = source_of(p, v);

	set_operand(p, op, 0, &s->final, v->annotated);
	v->placement = s->final;
	add_form(p, s, v);
}

static void
partition_call(Partitioner *p, Op *op)
{
	Block *body = op->bodies[0];
	Value *v = op->results[0];

	for (int i = 0; i < op->noperands; i++) {
		Placement to = placement_close(body->params[i]->placement);
		set_operand(p, op, i, &to, false);
		partition_param(p, body->params[i]);
	}
	partition_block(p, body);
	v->placement = body->last->operands[0]->placement;
	add_form(p, source_of(p, v), v);
}

/* A body's result goes where the call's result is wanted. */
static void
partition_return(Partitioner *p, Op *op)
{
	const Op *call = op->block->parent;

	for (int i = 0; i < op->noperands; i++) {
		Source *s = source_of(p, call ? call->results[i] :
			op->operands[i]);
		set_operand(p, op, i, &s->final, false);
	}
}

static void
partition_plain(Partitioner *p, Op *op)
{
	Value *v = op->results[0];

	p->op = op;
	p->rule = op_rule(p->arena, op);
	Choice c = choose(p);
	Placement made = choice_result(p, &c);
	for (int i = 0; i < op->noperands; i++) {
		Placement to = choice_operand(p, &c, i);
		set_operand(p, op, i, &to, false);
	}
	v->placement = made;
	add_form(p, source_of(p, v), v);
}

static void
partition_op(Partitioner *p, Op *op)
{
	if (op->kind == O_return)
		partition_return(p, op);
	else if (op->kind == O_output)
		partition_output(p, op);
	else if (op->kind == O_call)
		partition_call(p, op);
	else if (op->kind == O_shard_like || ops[op->kind].target)
		partition_move(p, op);
	else
		partition_plain(p, op);
}

static void
partition_block(Partitioner *p, Block *b)
{
	for (Op *op = b->first, *next; op; op = next) {
		next = op->next;
		for (int i = 0; i < op->nresults; i++)
			source_of(p, op->results[i])->final =
				placement_close(op->results[i]->placement);
		partition_op(p, op);
	}
}

/*
 * A value whose only user moves it anyway need not pass through the placement
 * that propagation found for it.
 */
static void
look_ahead(Op *op, void *data)
{
	Value *v = op->noperands ? op->operands[0] : NULL;

	(void)data;
	if (op->kind != O_output && op->kind != O_constraint &&
	    op->kind != O_reshard)
		return;
	if (v->uses == 1 && v->def && v->def->kind != O_constraint &&
	    v->def->kind != O_reshard)
		v->placement = op->results[0]->placement;
}

/* ---- the pass ----------------------------------------------------------------------- */

/* Names the user gave to values that were only moved aside. */
static void
follow_aliases(Partitioner *p)
{
	Module *m = p->module;

	for (int i = 0; i < m->nnamed; i++) {
		Value *v = m->named[i].value;
		while (v && v->id >= 0 && source_of(p, v)->alias)
			v = source_of(p, v)->alias;
		m->named[i].value = v;
	}
}

static void
remark_op(Op *op, void *data)
{
	Partitioner *p = data;

	if (op->kind == O_reshard)
		remark_reshard(p, op);
}

static void
add_reshard_traffic(Op *op, void *data)
{
	Partitioner *p = data;

	if (op->kind == O_reshard)
		p->now.bytes += reshard_plan(p->resharder,
			&op->operands[0]->type, &op->operands[0]->placement,
			&op->results[0]->placement)->bytes;
}

bool
partition(Module *m, const PartitionOptions *options)
{
	Partitioner p = {.module = m, .options = options};

	module_remove_dead(m);
	module_number(m);
	module_count_uses(m);
	module_walk(m, look_ahead, NULL);
	p.arena = arena_new();
	p.resharder = resharder_new(p.arena, &m->mesh);
	p.nsources = m->nvalues;
	p.sources = NEW_ARRAY(p.arena, Source, p.nsources + 1);
	for (int i = 0; i < m->entry->nparams; i++)
		partition_param(&p, m->entry->params[i]);
	partition_block(&p, m->entry);
	follow_aliases(&p);
	m->nexpects = 0;
	m->level = L_resharded;
	module_remove_dead(m);
	if (options->remarks || options->strict) {
		module_walk(m, add_reshard_traffic, &p);
		module_walk(m, remark_op, &p);
	}
	arena_free(p.arena);
	return true;
}

/*
 * copies.c - what costs nothing to make again has a copy for each use.
 *
 * Two users of a constant must not force one placement on each other, nor two of what is
 * made of constants alone, as a mask is: each has the ops that make it for itself.
 *
 *   i = iota; j = iota; m = i >= j; a = where(m, x, 0); b = where(m, y, 0)
 *
 *   a takes m, i and j; b takes m', i' and j', which stand next to them.
 *
 * What ended where another copy did is that again, op by op.
 */
#include "shard/propagate/propagate.h"

/* Ops that are made again: for one use; in all, for each op and besides.  What is more is
   shared, so the work stays linear. */
enum { MOST_MADE = 64, MADE_PER_OP = 2, MADE_BESIDES = 4096 };

/* While copies are made; a copy has the id of its original. */
typedef struct Making {
	Propagation *g;
	Value **values;	 /* originals, by id */
	uint8_t *made;	 /* by id: how many ops make it of constants alone, or 0 */
	Value **own;	 /* by id: what the last user that wanted one has */
	const Op **user; /* by id: that user */
	int64_t left;	 /* so many more may be made again */
} Making;

static Value *
copy_constant(Propagation *g, Value *v, Op *user)
{
	Op *op = op_clone(v->def);

	op_insert_before(user, op);
	/* a body is closed: the scalar of a broadcast comes along */
	if (op->noperands && v->block != user->block)
		op->operands[0] = copy_constant(g, op->operands[0], op);
	return op->results[0];
}

static bool
is_scalar_everywhere(const Value *v)
{
	const Op *op = v->def;

	return op && op->kind == O_broadcast && !op->operands[0]->type.rank && !v->follows;
}

/* The tensor that an operand is, if it costs nothing to make again.  A body's parameter is
   another name of what is outside, unless a loop carries it; of what a scalar is everywhere
   its uses in a body share one. */
static Value *
remade_from(Value *v)
{
	if (!v->annotated && v->type.rank && is_scalar_everywhere(v))
		return v;
	for (;;) {
		Flow f = {.to = v};
		if (v->def || !flow_next_to(&f) || !flow_renames(&f) || op_is_composite(f.op))
			break;
		v = f.from;
	}
	return !v->annotated && v->type.rank && value_is_literal(v) ? v : NULL;
}

/* ---- what is made of constants alone ------------------------------------------ */

/* Dims of one element come or go: what a broadcast may do on its way. */
static bool
only_adds_ones(const Op *op)
{
	const Type *from = &op->operands[0]->type, *to = &op->results[0]->type;
	int i = 0;

	for (int d = 0; d < to->rank; d++) {
		while (i < from->rank && from->dims[i] == 1 && to->dims[d] != 1)
			i++;
		if (i < from->rank && from->dims[i] == to->dims[d])
			i++;
		else if (to->dims[d] != 1)
			return false;
	}
	return true;
}

static bool
makes_elements(const Op *op)
{
	OpKind k = op->kind;

	if (ops[k].pointwise)
		return !op_is_identity(op) && k != O_to_host && k != O_to_device;
	return k == O_constant || k == O_iota || k == O_broadcast || k == O_slice
		|| (k == O_reshape && only_adds_ones(op));
}

/* How many ops make the result of one of constants alone; 0: others do, or too many. */
static int
count_made(const Making *s, const Op *op)
{
	int n = 1;

	if (op->nresults != 1 || op->nbodies || !makes_elements(op) || op->results[0]->annotated
		|| op->results[0]->follows)
		return 0;
	for (int i = 0; i < op->noperands; i++) {
		const Value *v = op->operands[i];
		if (!s->made[v->id])
			return 0;
		n += v->type.rank ? s->made[v->id] : 0;
	}
	return n <= MOST_MADE ? n : 0;
}

static void
note_copy(Propagation *g, Op *user, int operand, Value *original, bool beside)
{
	Copy c = {user, operand, original, user->operands[operand], beside};

	APPEND(g->arena, g->copies, g->ncopies, c);
}

/* What makes a value, for `user` alone: the first has the ops that are there.  Operands
   are noted before what is made of them. */
static Value *
make_for(Making *s, Value *v, const Op *user)
{
	int id = v->id;
	Op *op = v->def;

	if (s->user[id] == user)
		return s->own[id];
	if (v->uses++) {
		op = op_clone(v->def);
		op_insert_before(v->def->next, op); /* a block ends with a return */
		op->results[0]->id = id;
		s->left--;
	}
	for (int i = 0; i < op->noperands; i++) {
		Value *original = s->values[op->operands[i]->id];
		if (!original->type.rank)
			continue;
		op->operands[i] = make_for(s, original, user);
		if (op->operands[i] != original)
			note_copy(s->g, op, i, original, true);
	}
	s->user[id] = user;
	return s->own[id] = op->results[0];
}

/* ---- a copy for each use ------------------------------------------------------- */

/* `uses` serves as a mark: the first use keeps the original. */
static void
share_operand(Making *s, Op *op, int i)
{
	Value *v = op->operands[i], *constant = remade_from(v);

	if (constant) {
		if ((v != constant && !is_use(op, i)) || v->uses++ == 0)
			return;
		op->operands[i] = copy_constant(s->g, constant, op);
		note_copy(s->g, op, i, v, false);
	} else if (v->type.rank && s->made[v->id] && s->left > 0) {
		op->operands[i] = make_for(s, v, op);
		if (op->operands[i] != v)
			note_copy(s->g, op, i, v, true);
	}
}

void
split_constants(Propagation *g)
{
	Module *m = g->module;
	const Block *entry = m->entry;
	Making s = {.g = g};

	module_number(m);
	module_clear_uses(m);
	s.left = (int64_t)m->nops * MADE_PER_OP + MADE_BESIDES;
	s.values = module_values(m, g->arena);
	s.made = NEW_ARRAY(g->arena, uint8_t, m->nvalues + 1);
	s.own = NEW_ARRAY(g->arena, Value *, m->nvalues + 1);
	s.user = NEW_ARRAY(g->arena, const Op *, m->nvalues + 1);
	for (Op *op = entry->first; op; op = op_following(op, entry))
		if (op->nresults)
			s.made[op->results[0]->id] = (uint8_t)count_made(&s, op);
	/* what is made of constants is no user of them, but what makes it for one */
	for (Op *op = entry->first; op; op = op_following(op, entry))
		for (int i = 0; i < op->noperands; i++)
			if (!op->nresults || !s.made[op->results[0]->id])
				share_operand(&s, op, i);
}

/* ---- and as few as there are placements ------------------------------------------ */

static void
undo_copy(const Copy *made, Value *instead)
{
	Op *op = made->copy->def;

	made->user->operands[made->operand] = instead;
	if (!op->block)
		return; /* it had another use */
	op_remove(op);
	if (op->noperands && !made->beside && !made->original->def) /* a parameter: see above */
		op_remove(op->operands[0]->def);
	made->copy->name = made->original->name; /* in the story */
}

static bool
is_made_alike(const Value *a, const Value *b)
{
	for (int i = 0; i < a->def->noperands; i++)
		if (a->def->operands[i] != b->def->operands[i])
			return false;
	return placement_equal(&a->placement, &b->placement);
}

/* Copies that ended where their original did, or another copy, are undone. */
void
merge_constants(Propagation *g)
{
	int n = g->module->nvalues;
	Value **next = NEW_ARRAY(g->arena, Value *, n + 1); /* by id: those that differ */
	Value **stands = NEW_ARRAY(g->arena, Value *, n + 1);

	for (int i = 0; i < g->ncopies; i++) {
		const Copy *c = &g->copies[i];
		Value *as = c->original, *copy = c->copy;
		if (!c->beside) {
			if (placement_equal(&as->placement, &copy->placement))
				undo_copy(c, as);
			continue;
		}
		if (stands[copy->id])
			as = stands[copy->id];
		while (as != copy && !is_made_alike(as, copy)) {
			if (!next[as->id])
				next[as->id] = copy;
			as = next[as->id];
		}
		stands[copy->id] = as;
		if (as != copy)
			undo_copy(c, as);
	}
}

void
undo_copies(Propagation *g)
{
	for (int i = 0; i < g->ncopies; i++)
		undo_copy(&g->copies[i], g->copies[i].original);
}

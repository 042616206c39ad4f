/*
 * flow.c - flows of bodies, and the solver for facts.
 */
#include "ir/flow.h"

/* ---- flows ---------------------------------------------------------- */

enum { OUTSIDE = -1, MOST_WAYS = 6 };

/* From body to body. */
typedef struct Way {
	int from, to;
} Way;

typedef struct Ways {
	int n;
	int first; /* operands before that are not passed on */
	Way way[MOST_WAYS];
} Ways;

static const Ways ways_of_bodies[] = {
	[BODIES_none] = {0},
	[BODIES_once] = {2, 0, {{OUTSIDE, 0}, {0, OUTSIDE}}},
	[BODIES_ruled] = {2, 0, {{OUTSIDE, 0}, {0, OUTSIDE}}},
	[BODIES_choice] = {4, 1, {{OUTSIDE, 0}, {OUTSIDE, 1}, {0, OUTSIDE}, {1, OUTSIDE}}},
	[BODIES_loop] = {6, 0,
		{{OUTSIDE, LOOP_CONDITION}, {OUTSIDE, LOOP_BODY}, {OUTSIDE, OUTSIDE},
			{LOOP_BODY, LOOP_CONDITION}, {LOOP_BODY, LOOP_BODY},
			{LOOP_BODY, OUTSIDE}}},
};

static const Ways *
op_ways(const Op *op)
{
	return &ways_of_bodies[ops[op->kind].run];
}

/* The flow of that index along a way; false if there are not so many. */
static bool
follow(Flow *f, const Way *w, int index)
{
	const Block *to = w->to == OUTSIDE ? NULL : f->op->bodies[w->to];
	const Block *from = w->from == OUTSIDE ? NULL : f->op->bodies[w->from];

	if (index < 0 || index >= (to ? to->nparams : f->op->nresults))
		return false;
	f->kind = from ? (to ? FLOW_round : FLOW_out) : (to ? FLOW_in : FLOW_past);
	f->index = index;
	f->user = from ? from->last : f->op;
	f->operand = from ? index : index + op_ways(f->op)->first;
	f->from = f->user->operands[f->operand];
	f->to = to ? to->params[index] : f->op->results[index];
	return true;
}

bool
flow_next(Flow *f)
{
	const Ways *w = op_ways(f->op);

	for (; f->way < w->n; f->way++, f->next = 0)
		if (follow(f, &w->way[f->way], f->next++))
			return true;
	return false;
}

bool
flow_next_to(Flow *f)
{
	const Value *v = f->to;

	f->op = v->def ? v->def : v->block ? v->block->parent : NULL;
	if (!f->op)
		return false;
	for (const Ways *w = op_ways(f->op); f->way < w->n;) {
		const Way *way = &w->way[f->way++];
		bool reached = way->to == OUTSIDE
			? v->def != NULL
			: !v->def && v->block == f->op->bodies[way->to];
		if (reached)
			return follow(f, way, v->index);
	}
	return false;
}

bool
flow_next_from(Flow *f)
{
	const Op *user = f->user;

	f->op = user->kind == O_return ? user->block->parent : user;
	if (!f->op)
		return false;
	for (const Ways *w = op_ways(f->op); f->way < w->n;) {
		const Way *way = &w->way[f->way++];
		bool outside = way->from == OUTSIDE;
		if (user == (outside ? f->op : f->op->bodies[way->from]->last))
			return follow(f, way, f->operand - (outside ? w->first : 0));
	}
	return false;
}

const Placement *
flow_spec(const Flow *f)
{
	const Op *op = f->op;

	return op->specs ? &op->specs[f->kind == FLOW_in ? f->index : op->noperands + f->index]
			 : NULL;
}

bool
flow_renames(const Flow *f)
{
	switch (ops[f->op->kind].run) {
	case BODIES_none:
		break;
	case BODIES_once:
	case BODIES_ruled:
		return f->op->kind == O_call;
	case BODIES_choice:
		return f->kind == FLOW_in;
	case BODIES_loop:
		return loop_hands_on(f->op, f->index);
	}
	return false;
}

const Value *
value_around(const Value *v)
{
	for (;;) {
		Flow f = {.to = (Value *)v};
		if (!flow_next_to(&f) || !flow_renames(&f))
			return v;
		v = f.from;
	}
}

bool
op_is_offset(const Op *op)
{
	bool number = op->kind == O_take || (ops[op->kind].pointwise && op->kind != O_output);

	number = number && op->nresults == 1 && !op->results[0]->type.rank;
	return number || op->kind == O_constant || op->kind == O_partition_id;
}

bool
value_is_offset(const Value *v)
{
	const Op *op = value_around(v)->def;

	return op && op->block && op_is_offset(op);
}

Value *
op_decision(const Op *op)
{
	switch (ops[op->kind].run) {
	case BODIES_choice:
		return op->operands[0];
	case BODIES_loop:
		return op->bodies[LOOP_CONDITION]->last->operands[0];
	case BODIES_none:
	case BODIES_once:
	case BODIES_ruled:
		break;
	}
	return NULL;
}

/* ---- facts ---------------------------------------------------------- */

typedef struct Use {
	const Op *op;
	int operand;
} Use;

/* First everything once, in program order, which is all there is to do unless
   something comes round that a loop's bodies have been walked without.  Then
   the uses of such values, and of what grows with them. */
typedef struct Solver {
	bool late; /* what grows now has uses that were looked at */
	int nlate;
	const Value **values; /* the last first */
	bool *waits;	      /* by value id */
	int *first;	      /* of `uses`, by value id */
	Use *uses;
} Solver;

void
dataflow_add(Dataflow *d, const Value *v, Facts more)
{
	Solver *solver = d->solver;

	if (!(more & ~d->of[v->id]))
		return;
	d->of[v->id] |= more;
	if (!solver->late || solver->waits[v->id])
		return;
	solver->waits[v->id] = true;
	solver->values[solver->nlate++] = v;
}

static void
pass(Dataflow *d, const Flow *f)
{
	const Value *decision = d->decided && f->kind != FLOW_in ? op_decision(f->op) : NULL;

	dataflow_add(d, f->to, d->along ? d->along(d, f) : d->of[f->from->id]);
	if (decision)
		dataflow_add(d, f->to, d->of[decision->id]);
}

static void
walk(Dataflow *d, const Block *b)
{
	for (const Op *op = b->first; op && op->kind != O_return; op = op->next) {
		Flow in = {.op = op}, out = {.op = op};
		d->op(d, op);
		while (flow_next(&in))
			if (in.user == op)
				pass(d, &in);
		for (int i = 0; i < op->nbodies; i++)
			walk(d, op->bodies[i]);
		while (flow_next(&out)) {
			d->solver->late = out.kind == FLOW_round;
			if (out.user != op)
				pass(d, &out);
		}
		d->solver->late = false;
	}
}

void
dataflow_solve(Dataflow *d, Arena *a, Block *b)
{
	int n = b->module->nvalues;
	Solver solver = {.values = NEW_ARRAY(a, const Value *, n + 1),
		.waits = NEW_ARRAY(a, bool, n + 1)};

	d->solver = &solver;
	if (!d->of)
		d->of = NEW_ARRAY(a, Facts, n + 1);
	walk(d, b);
	if (solver.nlate) {
		solver.first = NEW_ARRAY(a, int, n + 1);
		for (const Op *op = b->first; op; op = op_following(op, b))
			for (int i = 0; i < op->noperands; i++)
				solver.first[op->operands[i]->id]++;
		for (int i = 0; i < n; i++)
			solver.first[i + 1] += solver.first[i];
		solver.uses = NEW_ARRAY(a, Use, solver.first[n] + 1);
		for (const Op *op = b->first; op; op = op_following(op, b))
			for (int i = 0; i < op->noperands; i++)
				solver.uses[--solver.first[op->operands[i]->id]] = (Use){op, i};
	}
	solver.late = true;
	while (solver.nlate) {
		const Value *v = solver.values[--solver.nlate];
		solver.waits[v->id] = false;
		for (int i = solver.first[v->id]; i < solver.first[v->id + 1]; i++) {
			const Op *op = solver.uses[i].op;
			Flow f = {.user = op, .operand = solver.uses[i].operand};
			if (op->kind != O_return)
				d->op(d, op);
			while (flow_next_from(&f))
				pass(d, &f);
			if (d->decided && f.op && op_decision(f.op) == v)
				for (Flow all = {.op = f.op}; flow_next(&all);)
					pass(d, &all);
		}
	}
	d->solver = NULL;
}

/*
 * forms.c - where each value already is.
 *
 * A form is a value of the program in one placement: as computed, gathered,
 * reduced.
 */
#include "shard/partition/partition.h"

Source *
source_of(const Partitioner *p, const Value *v)
{
	if (v->id < 0 || v->id >= p->nsources)
		die("%%%s is not a value of the program", v->name);
	return &p->sources[v->id];
}

/* Of those that move the fewest bytes the one of fewest collectives; slices cost nothing,
   but none at all is better. */
const ReshardPlan *
cheapest_form(Partitioner *p, const Value *v, const Placement *to, Form **form)
{
	const ReshardPlan *best = NULL;
	Source *s = source_of(p, v);

	for (Form *f = s->forms; f; f = f->next) {
		const ReshardPlan *plan =
			reshard_plan(p->resharder, &v->type, &f->value->placement, to);
		bool same = best && plan->bytes <= best->bytes && plan->bytes >= best->bytes;
		bool fewer = same
			&& (plan->collectives < best->collectives
				|| (plan->collectives == best->collectives
					&& plan->n < best->n));
		if (best && plan->bytes >= best->bytes && !fewer)
			continue;
		best = plan;
		*form = f;
	}
	return best;
}

void
add_form(Partitioner *p, Source *s, Value *v)
{
	Form *f = NEW(p->arena, Form), **end = &s->forms;

	f->value = v;
	while (*end)
		end = &(*end)->next;
	*end = f;
	s->at_final |= placement_equal(&v->placement, &s->final);
}

void
guess_form(Partitioner *p, Guesses *guesses, Value *v, const Placement *at)
{
	Source *s = source_of(p, v);
	Value *moved = arena_copy(p->arena, v, sizeof *v);

	if (!s->forms) {
		s->final = placement_close(v->placement);
		APPEND(p->arena, guesses->sources, guesses->n, s);
	}
	for (const Form *f = s->forms; f; f = f->next)
		if (placement_equal(&f->value->placement, at))
			return;
	moved->placement = *at;
	add_form(p, s, moved);
}

void
forget_guesses(Guesses *guesses)
{
	for (int i = 0; i < guesses->n; i++) {
		guesses->sources[i]->forms = NULL;
		guesses->sources[i]->at_final = false;
	}
	guesses->n = 0;
}

/* ---- what is asked of them --------------------------------------------------------- */

bool
asks_for_place(const Value *v)
{
	return v->annotated && !v->annotated_open;
}

Loop *
loop_of(const Partitioner *p, const Value *param)
{
	for (Loop *l = p->loop; l; l = l->parent)
		if (!param->def && param->block->parent == l->op)
			return l;
	return NULL;
}

double
rounds_served(const Partitioner *p, const Op *op, int operand)
{
	const Value *v = op->operands[operand];
	double rounds = 1;
	Loop *l;

	if (!op_has(op, A_sizes)) /* no dynamic_slice */
		return 1;
	while ((l = loop_of(p, v)) && v->index < l->n && l->invariant[v->index]) {
		if (op_ints(l->op, A_trips)->n)
			rounds *= (double)op_int(l->op, A_trips);
		v = l->outer[v->index];
	}
	return rounds > 1 ? rounds : 1;
}

/*
 * wants.c - where the users of a value that are still to be planned will want it.
 *
 *   a = scatter_add(t, x, 1.0)   gathers x, or adds up what each device has added
 *   b = argmin(x, dim=0)         gathers x
 *
 * The second moves x in any case, so the first has it there for nothing.
 * What shows windows of a value, or more of it, moves nothing: its user wants it.
 * Each user is planned by itself, with its operands where propagation put them: once for
 * each value that has several users.
 */
#include <math.h>
#include "shard/partition/partition.h"

enum { MAX_USERS = 64 }; /* of a value, that are looked at */

void
list_users(Partitioner *p)
{
	const Module *m = p->module;

	for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
		for (int i = 0; i < op->noperands; i++) {
			Source *s = source_of(p, op->operands[i]);
			bool known = s->nusers && s->users[s->nusers - 1] == op;
			if (op->operands[i]->uses == 1)
				s->user = op;
			if (op->operands[i]->uses > 1 && !known && s->nusers < MAX_USERS)
				APPEND(p->arena, s->users, s->nusers, op);
		}
}

bool
are_shared(Partitioner *p)
{
	for (int i = 0; i < p->nsources; i++)
		if (p->sources[i].nusers > 1)
			return true;
	return false;
}

Choice
plan_alone(Partitioner *p, const Op *op)
{
	Guesses guesses = {0};
	Choice c;

	for (int i = 0; i < op->noperands; i++) {
		Value *v = op->operands[i];
		Placement final = placement_close(v->placement);
		if (!source_of(p, v)->forms)
			guess_form(p, &guesses, v, &final);
	}
	for (int i = 0; i < op->nresults; i++)
		source_of(p, op->results[i])->final =
			placement_close(op->results[i]->placement);
	p->alone = true;
	c = plan_op(p, op);
	p->alone = false;
	forget_guesses(&guesses);
	return c;
}

/* The only one; of windows that phases share the first, as all want them alike. */
static const Op *
user_of(const Partitioner *p, const Value *v)
{
	const Source *s = source_of(p, v);
	bool shared = v->def && op_is_windows(v->def);

	return s->nusers && shared ? s->users[0] : s->user;
}

/* What is moved as v: what the op makes of it, and views of that, if one op uses it. */
static const Value *
wider(const Partitioner *p, const Op *op, const Value *v)
{
	int at[MAX_RANK];

	while (op->nresults == 1 && user_of(p, op->results[0])) {
		const Value *wide = op->results[0];
		op = user_of(p, wide);
		if (op->nresults != 1 || !view_dims(op, at))
			return narrower(p, wide) == v
					&& type_bytes(&v->type) <= type_bytes(&wide->type)
				? wide
				: v;
	}
	return v;
}

/* Where the op takes its operand then; false: that is not known.  One of explicit code may
   be done, and out of its block. */
static bool
wanted_by(Partitioner *p, const Op *op, const Value *v, Want *want)
{
	int operand = 0;

	if (op->mode == MODE_explicit || op->nbodies || op == op->block->last)
		return false;
	while (operand < op->noperands && op->operands[operand] != v)
		operand++;
	if (operand == op->noperands) /* it is planned, and has it elsewhere */
		return false;
	*want = (Want){.user = op};
	if (op_is_identity(op)) {
		if (operand > 0) /* it is asked where that is, and does not move it */
			return false;
		want->at = placement_close(op->results[0]->placement);
		want->requested = op_is_move(op) || asks_for_place(op->results[0]);
		return true;
	}
	const Value *wide = wider(p, op, v);
	if (wide != v && wanted_by(p, user_of(p, wide), wide, want))
		return narrower_place(p, wide, &want->at, &want->at);
	Choice c = plan_alone(p, op);
	want->at = choice_tensor(p, &c, operand);
	return true;
}

bool
will_be_gathered(Partitioner *p, const Value *v, int dim, bool (*counts)(const Op *user))
{
	const Source *s = source_of(p, v);
	Placement whole = placement_close(v->placement);
	AxisList none = {0};
	Want want;

	placement_set_dim(&whole, dim, &none);
	for (int i = 0; i < s->nusers; i++)
		if (counts(s->users[i]) && wanted_by(p, s->users[i], v, &want)
			&& placement_equal(&want.at, &whole))
			return true;
	return false;
}

void
add_want(Partitioner *p, const Value *v, const Op *user)
{
	Source *s = source_of(p, v);
	Want want;

	if (!wanted_by(p, user, v, &want))
		return;
	want.next = s->wants;
	s->wants = arena_copy(p->arena, &want, sizeof want);
}

/* What moves nothing from where the value is does not matter. */
void
price_wants(Partitioner *p, const Value *v)
{
	Source *s = source_of(p, v);
	Form *form;

	for (Want **w = &s->wants; *w;) {
		const ReshardPlan *plan = cheapest_form(p, v, &(*w)->at, &form);
		(*w)->again = false;
		for (const Want *same = s->wants; same != *w; same = same->next)
			(*w)->again |= placement_equal(&same->at, &(*w)->at);
		(*w)->price = (MovePrice){plan->bytes, plan->seconds, plan->collectives};
		if (plan->bytes > 0)
			w = &(*w)->next;
		else
			*w = (*w)->next;
	}
}

/* ---- prices --------------------------------------------------------------------- */

/* Less what others will not have to move, as the value is nearer to them in `to`. */
static void
take_off(Partitioner *p, const Value *v, const Placement *to, const Want *but, MovePrice *price)
{
	for (const Want *w = source_of(p, v)->wants; w; w = w->next) {
		if (w == but || w->again)
			continue;
		const ReshardPlan *plan = reshard_plan(p->resharder, &v->type, to, &w->at);
		if (plan->bytes >= w->price.bytes)
			continue;
		price->bytes += plan->bytes - w->price.bytes;
		price->seconds += plan->seconds - w->price.seconds;
		price->collectives += plan->collectives - w->price.collectives;
	}
}

static bool
is_less(const MovePrice *a, const MovePrice *b)
{
	double tolerance = 1e-9 * (fabs(a->bytes) + fabs(b->bytes));

	if (fabs(a->bytes - b->bytes) > tolerance)
		return a->bytes < b->bytes;
	return a->seconds < b->seconds
		|| (a->seconds <= b->seconds && a->collectives < b->collectives);
}

const Want *
share_price(Partitioner *p, const Value *v, const Placement *to, MovePrice *price)
{
	const Want *wants = p->alone ? NULL : source_of(p, v)->wants, *way = NULL;

	if (!wants || price->bytes <= 0)
		return NULL;
	take_off(p, v, to, NULL, price);
	for (const Want *w = wants; w; w = w->next) {
		if (w->again)
			continue;
		const ReshardPlan *plan = reshard_plan(p->resharder, &v->type, &w->at, to);
		MovePrice by = {plan->bytes, plan->seconds, plan->collectives};
		take_off(p, v, to, w, &by);
		if (!is_less(&by, price))
			continue;
		*price = by;
		way = w;
	}
	price->bytes = fmax(price->bytes, 0);
	price->seconds = fmax(price->seconds, 0);
	price->collectives = price->collectives > 0 ? price->collectives : 0;
	return way;
}

void
share_price_from(Partitioner *p, const Value *v, const Form *form, const Placement *to,
	MovePrice *price)
{
	Placement at = *to;

	if (!is_form_of(p, form, v) && made_of_place(p, v, to, &at))
		v = made_of(p, v);
	share_price(p, v, &at, price);
}

/* ---- before an op is planned ------------------------------------------------------ */

static void
forget_want(Source *s, const Op *user)
{
	for (Want **w = &s->wants; *w;)
		if ((*w)->user == user)
			*w = (*w)->next;
		else
			w = &(*w)->next;
}

static void
find_wants_of(Partitioner *p, const Op *op, const Value *v)
{
	Source *s = source_of(p, v);

	if (v->uses < 2 || value_is_literal(v) || op->mode == MODE_explicit)
		return;
	for (int k = 0; p->with.wants && k < s->nusers && !s->looked; k++)
		add_want(p, v, s->users[k]);
	s->looked = true;
	forget_want(s, op);
	price_wants(p, v);
}

void
find_wants(Partitioner *p, const Op *op)
{
	for (int i = 0; i < op->noperands; i++) {
		const Value *narrow = narrower(p, op->operands[i]);
		find_wants_of(p, op, op->operands[i]);
		if (narrow)
			find_wants_of(p, op, narrow);
	}
}

const Want *
wants_of(const Partitioner *p, const Value *v)
{
	const Want *own = source_of(p, v)->wants;
	const Value *narrow = own ? NULL : narrower(p, v);

	return narrow ? source_of(p, narrow)->wants : own;
}

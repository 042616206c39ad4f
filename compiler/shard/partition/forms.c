/*
 * forms.c - where each value already is.
 *
 * A form is a value of the program in one placement: as computed, gathered,
 * reduced.
 */
#include "ir/factors.h"
#include "shard/partition/partition.h"

Source *
source_of(const Partitioner *p, const Value *v)
{
	if (v->id < 0 || v->id >= p->nsources)
		die("%%%s is not a value of the program", v->name);
	return &p->sources[v->id];
}

uint64_t
value_hash(const Value *v)
{
	return hash_mix(0, (int64_t)(intptr_t)v);
}

bool
view_place(const Op *op, const Placement *to, Placement *from)
{
	int at[MAX_RANK], rank = op->noperands ? op->operands[0]->type.rank : 0;
	Placement place = placement_none(rank);

	if (!rank || op->mode == MODE_explicit || !view_dims(op, at))
		return false;
	for (int i = 0; i < rank; i++) {
		AxisList axes = {0};
		if (at[i] >= 0)
			axes = placement_dim(to, at[i]);
		placement_set_dim(&place, i, &axes);
	}
	*from = place;
	return true;
}

Value *
before_moves(Value *v)
{
	while (v->id < 0 && v->def && op_is_move(v->def))
		v = v->def->operands[0];
	return v;
}

/* The windows that the op shows, or makes a slice of; else NULL. */
static const Op *
shows_windows(const Op *op)
{
	const Op *of = op;

	while (of && of->kind == O_slice)
		of = before_moves(of->operands[0])->def;
	return of && op_is_windows(of) ? of : NULL;
}

/* The op that makes it; of a view of windows, theirs; *at: where these are when it is in
   `to`. */
static const Op *
widened(const Value *v, const Placement *to, Placement *at)
{
	const Op *op = v->def;

	*at = *to;
	while (op && view_place(op, at, at))
		op = before_moves(op->operands[0])->def;
	if (shows_windows(op))
		return op;
	*at = *to;
	return v->def;
}

const Value *
shown(const Value *v)
{
	Placement none = placement_none(v->type.rank), at;
	const Op *windows = shows_windows(widened(v, &none, &at));

	return windows ? windows->operands[0] : v;
}

Value *
narrower(const Partitioner *p, const Value *v)
{
	Placement none = placement_none(v->type.rank), at;
	const Op *op = widened(v, &none, &at);

	if (!op || op->mode == MODE_explicit || op_has(op, A_parts)
		|| (op->kind != O_convert && op->kind != O_windows && op->kind != O_frames
			&& op->kind != O_pad && op->kind != O_slice && op->kind != O_reverse))
		return NULL;
	Value *from = op->operands[0];
	bool shown = op->kind != O_convert;
	if (type_bytes(&from->type) >= type_bytes(&v->type) && !shown)
		return NULL;
	from = before_moves(from);
	return from->id < 0 || from->id >= p->nsources || value_is_literal(from) ? NULL : from;
}

bool
narrower_place(Partitioner *p, const Value *v, const Placement *to, Placement *at)
{
	Placement wide;
	const Op *op = widened(v, to, &wide);
	int rank = op->operands[0]->type.rank;

	*at = *to;
	if (op->kind == O_convert)
		return true;
	if (op_is_windows(op)) {
		const Assignment *factors = result_assignment(p, op, &wide, factor_splittable);
		return factors
			&& factors_place(rule_book_get(p->rules, op), 0, factors, at, NULL);
	}
	*at = placement_none(rank);
	for (int d = 0; d < wide.rank; d++) {
		AxisList axes = placement_dim(&wide, d);
		if (!axes.n)
			continue;
		if (d >= rank || halo_moves(op, d, op->operands[0]->type.dims[d]))
			return false;
		placement_set_dim(at, d, &axes);
	}
	return true;
}

Value *
made_of(const Partitioner *p, const Value *v)
{
	Value *narrow = narrower(p, v), *from;
	Placement none = placement_none(v->type.rank);

	if (narrow || !v->def || !view_place(v->def, &none, &none))
		return narrow;
	from = before_moves(v->def->operands[0]);
	return from->id < 0 || from->id >= p->nsources || value_is_literal(from) ? NULL : from;
}

bool
made_of_place(Partitioner *p, const Value *v, const Placement *to, Placement *at)
{
	return narrower(p, v) ? narrower_place(p, v, to, at) : view_place(v->def, to, at);
}

/* A plan and the form that it begins with. */
typedef struct Cheapest {
	const ReshardPlan *plan;
	Form *form;
} Cheapest;

/* Slices cost nothing, but none at all is better. */
static void
look_at(Partitioner *p, Cheapest *best, const Type *type, Form *form, const Placement *to)
{
	const ReshardPlan *now = best->plan;
	const ReshardPlan *plan = reshard_plan(p->resharder, type, &form->value->placement, to);
	bool same = now && plan->bytes <= now->bytes && plan->bytes >= now->bytes;
	bool fewer = same
		&& (plan->collectives < now->collectives
			|| (plan->collectives == now->collectives && plan->n < now->n));

	if (!now || plan->bytes < now->bytes || fewer)
		*best = (Cheapest){plan, form};
}

/* ... of what v is made of, which is in `at` then, and with the rows that windows of it get
   from other devices; NULL: these are too many. */
static const ReshardPlan *
with_rows(Partitioner *p, const Value *v, const Placement *to, const Placement *at,
	const ReshardPlan *plan)
{
	Placement wide;
	const Op *op = widened(v, to, &wide);

	if (!plan || !narrower(p, v) || !op_is_windows(op))
		return plan;
	Type *shards = NEW_ARRAY(p->scratch, Type, op->noperands);
	shards[0] = placement_local(&op->operands[0]->type, at);
	for (int i = 1; i < op->noperands; i++)
		shards[i] = op->operands[i]->type;
	HaloCost rows = halo_cost(&p->module->mesh, op, shards, &wide);
	if (!rows.collectives)
		return plan;
	ReshardPlan *all = arena_copy(p->scratch, plan, sizeof *plan);
	all->bytes += rows.bytes;
	all->seconds += rows.at_once;
	all->collectives += rows.collectives;
	return rows.collectives <= MAX_HALO ? all : NULL;
}

/*
 * Of those that move the fewest bytes the one of fewest collectives.  What was made by a
 * conversion to more bytes, is padded, windows or a slice, is moved before it, where that
 * moves fewer, as where the slice's operand is there already; a view is made of what is there:
 * the form is then one of what it is made of, or what that is made of, a few levels down.
 * Parts of a sum are not, as others may be rounded.
 */
static Cheapest
cheapest(Partitioner *p, const Value *v, const Placement *to, int level)
{
	Cheapest best = {0};
	Placement at;

	for (Form *f = source_of(p, v)->forms; f; f = f->next)
		if (!level || !f->value->placement.nunreduced)
			look_at(p, &best, &v->type, f, to);
	bool deeper = level < NARROWER_LEVELS && (!best.plan || best.plan->bytes > 0);
	const Value *from = deeper && !to->nunreduced ? made_of(p, v) : NULL;
	if (!from || !made_of_place(p, v, to, &at))
		return best;
	Cheapest other = cheapest(p, from, &at, level + 1);
	other.plan = with_rows(p, v, to, &at, other.plan);
	if (other.plan && other.plan->bytes > 0 && !narrower(p, v))
		return best;
	if (!other.plan || !best.plan)
		return other.plan ? other : best;
	/* of as many bytes what it is made of, which others may have there, too */
	bool as_large = type_bytes(&from->type) == type_bytes(&v->type);
	bool fewer = other.plan->bytes < best.plan->bytes
		|| (as_large && other.plan->bytes <= best.plan->bytes);
	return fewer ? other : best;
}

const ReshardPlan *
cheapest_form(Partitioner *p, const Value *v, const Placement *to, Form **form)
{
	Cheapest best = cheapest(p, v, to, 0);

	*form = best.form;
	return best.plan;
}

bool
is_form_of(const Partitioner *p, const Form *form, const Value *v)
{
	const Form *own = source_of(p, v)->forms;

	while (own && own != form)
		own = own->next;
	return own != NULL;
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

	if (!s->forms) {
		s->final = placement_close(v->placement);
		APPEND(p->arena, guesses->sources, guesses->n, s);
	}
	for (const Form *f = s->forms; f; f = f->next)
		if (placement_equal(&f->value->placement, at))
			return;
	Value *moved = arena_copy(p->arena, v, sizeof *v);
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

	/* what is moved of x for one phase of a convolution serves all, and by itself none may
	   want it */
	if (op_has(op, A_phases) && operand == 0 && p->with.wants && !p->alone)
		return (double)op_int(op, A_phases);
	if (!op_has(op, A_sizes)) /* no dynamic_slice */
		return 1;
	while ((l = loop_of(p, v)) && v->index < l->n && l->invariant[v->index]) {
		if (op_ints(l->op, A_trips)->n)
			rounds *= (double)op_int(l->op, A_trips);
		v = l->outer[v->index];
	}
	return rounds > 1 ? rounds : 1;
}

Value *
kernel_of_phases(Partitioner *p, const Op *op, int operand, const Placement *to, Placement *at)
{
	Value *v = op->operands[operand], *from;
	Placement before;

	*at = *to;
	if (operand != 1 || !op_has(op, A_phases) || to->nunreduced
		|| rounds_served(p, op, 0) <= 1)
		return NULL;
	for (int level = 0; level < NARROWER_LEVELS; level++) {
		from = made_of(p, v);
		if (!from || !made_of_place(p, v, at, &before) || !source_of(p, from)->forms)
			break;
		v = from;
		*at = before;
	}
	return v == op->operands[operand] ? NULL : v;
}

void
share_kernel(Partitioner *p, int operand, const Placement *to, MovePrice *price)
{
	double phases = rounds_served(p, p->op, 0);
	Placement at;
	Form *form;
	const Value *kernel = kernel_of_phases(p, p->op, operand, to, &at);
	const ReshardPlan *plan = kernel ? cheapest_form(p, kernel, &at, &form) : NULL;

	if (plan && plan->seconds / phases < price->seconds)
		*price = (MovePrice){plan->bytes / phases, plan->seconds / phases,
			plan->collectives};
}

/*
 * ops.c - one op after the other: its plan, and its operands moved to where the plan
 * wants them.
 */
#include <string.h>
#include "ir/factors.h"
#include "shard/partition/partition.h"

void
partition_param(Partitioner *p, Value *v)
{
	Source *s = source_of(p, v);

	s->final = placement_close(v->placement);
	v->placement = s->final;
	add_form(p, s, v);
}

/* The operand in the result's placement; only an `output` stays. */
static void
partition_identity(Partitioner *p, Op *op)
{
	Value *v = op->results[0], *moved;
	Source *s = source_of(p, v);
	bool requested = op_is_move(op);

	if (op->kind == O_output) {
		set_operand(p, op, 0, &s->final, asks_for_place(v));
		v->placement = s->final;
		add_form(p, s, v);
		return;
	}
	moved = value_in(p, op->operands[0], &s->final, op, 0, requested);
	if (requested && moved->def && op_is_move(moved->def))
		moved->def->requested = true;
	add_form(p, s, moved);
	s->alias = moved;
	op_remove(op);
}

/* Would the op move nothing, were its result there and its operands where they are by
   themselves? */
static bool
moves_nothing(Partitioner *p, Source *s, const Placement *result)
{
	const Op *op = p->op;
	Placement final = s->final;
	Form *forms = NEW_ARRAY(p->arena, Form, op->noperands);
	Choice c;

	for (int i = 0; i < op->noperands; i++) {
		Source *x = source_of(p, op->operands[i]);
		if (!x->natural || x->forms == &forms[i])
			continue;
		forms[i].value = arena_copy(p->arena, op->operands[i], sizeof(Value));
		forms[i].value->placement = *x->natural;
		forms[i].next = x->forms;
		x->forms = &forms[i];
	}
	s->final = *result;
	p->alone = true;
	c = choose_once(p);
	p->alone = false;
	s->final = final;
	for (int i = 0; i < op->noperands; i++) {
		Source *x = source_of(p, op->operands[i]);
		if (x->forms == &forms[i])
			x->forms = forms[i].next;
	}
	return c.bytes == 0;
}

static void
add_new_axes(AxisList *l, const AxisList *more)
{
	for (int i = 0; i < more->n; i++)
		if (!axes_overlap(l, more->a[i]))
			axes_append(l, more->a[i]);
}

/*
 * Where the result is if operand `first` stays where it is, and others do along all else.
 * False if there is no such place, or if the result would be parts of a sum there, which
 * nobody asks to be settled.
 *
 *   dot(x, w)   x: [8@X, 4]  w: [4, 16@Y]     [8@X, 16@Y]
 */
static bool
place_by_operands(Partitioner *p, const Op *op, int first, Placement *to)
{
	const Rule *r = p->rule;
	Assignment *all = NEW_ARRAY(p->scratch, Assignment, r->nfactors + 1);
	Assignment *own = NEW_ARRAY(p->scratch, Assignment, r->nfactors + 1);
	AxisList over = {0};

	for (int i = 0; i < op->noperands; i++) {
		int operand = (first + i) % op->noperands;
		const Source *s = source_of(p, op->operands[operand]);
		const Placement *at = s->natural ? s->natural : &s->forms->value->placement;
		AxisList parts = placement_unreduced(at);
		if (value_is_literal(op->operands[operand]))
			continue;
		if (parts.n && at->combiner != r->combiner)
			return false;
		add_new_axes(&over, &parts);
		tensor_assignment(r, operand, at, own);
		for (int f = 0; f < r->nfactors; f++)
			if (!all[f].n)
				all[f] = own[f];
	}
	for (int f = 0; f < r->nfactors; f++)
		if (r->factors[f].kind == F_reduce)
			add_new_axes(&over, &all[f]);
	if (over.n && !source_of(p, op->results[0])->settled)
		return false;
	if (!factors_place(r, op->noperands, all, to, NULL))
		return false;
	placement_set_unreduced(to, &over, r->combiner);
	return placement_is_sound(to);
}

/* It may be for nothing, as others move them, too. */
static bool
moves_operands(Partitioner *p, const Choice *c)
{
	bool moves = false;
	Form *form;

	for (int i = 0; i < p->op->noperands; i++) {
		Placement to = choice_tensor(p, c, i);
		moves |= cheapest_form(p, p->op->operands[i], &to, &form)->bytes > 0;
	}
	return moves;
}

/* Did the einsum that `op` is of make `maker` on the way?  Of two operands it makes no other
   product; dumps know its equation, and the line it stands in. */
static bool
is_on_the_way(const Op *maker, const Op *op)
{
	const char *equation = op->label ? strchr(op->label, '\'') : NULL;
	const char *comma = equation ? strchr(equation, ',') : NULL;

	if (!equation || strncmp(op->label, "einsum ", 7) || !maker->label
		|| strcmp(maker->label, op->label) || maker->range.file != op->range.file
		|| maker->range.line != op->range.line)
		return false;
	return !op_is_product(maker)
		|| (comma && strcspn(comma + 1, ",") < strcspn(comma + 1, "-"));
}

/* Is the value a product that the einsum made on the way, its dims in any order? */
static bool
is_inner_product(const Value *v, const Op *op)
{
	const Op *maker = v->def;

	while (maker && is_on_the_way(maker, op) && !op_is_product(maker))
		maker = maker->noperands ? maker->operands[0]->def : NULL;
	return maker && is_on_the_way(maker, op);
}

/*
 * Of the operands nothing moves but what the einsum made on the way, and each dim of it to
 * where the program asks the result to be.
 *
 *   einsum("ad,df,f->af", x, w, k, out=[8, 4@X])   x: [8@X, 16]  k: [4@X]
 *   x w: [8@X, 4] -> [8, 4@X]
 */
static bool
steps_go_where_asked(Partitioner *p, const Op *op, const Choice *c)
{
	const Rule *r = p->rule;
	const Source *result = source_of(p, op->results[0]);
	const Placement *at = result->requested ? &result->final : result->request;
	Assignment *asked = NEW_ARRAY(p->scratch, Assignment, r->nfactors + 1);
	Assignment *from = NEW_ARRAY(p->scratch, Assignment, r->nfactors + 1);
	Assignment *there = NEW_ARRAY(p->scratch, Assignment, r->nfactors + 1);
	Form *form;

	if (!at)
		return false;
	tensor_assignment(r, r->noperands, at, asked);
	for (int i = 0; i < op->noperands; i++) {
		Placement to = choice_tensor(p, c, i);
		const Value *v = op->operands[i];
		if (cheapest_form(p, v, &to, &form)->bytes <= 0)
			continue;
		const Placement *now = &form->value->placement;
		if (!is_inner_product(v, op) || (now->nunreduced && !result->settled))
			return false;
		tensor_assignment(r, i, now, from);
		tensor_assignment(r, i, &to, there);
		for (int f = 0; f < r->nfactors; f++)
			if (!axes_equal(&there[f], &from[f])
				&& !axes_equal(&there[f], &asked[f]))
				return false;
	}
	return true;
}

/* Operands move only because the result is asked for elsewhere: where
   propagation put it, or where they are, nothing would; or nothing that is written moves. */
static bool
moves_on_request(Partitioner *p, const Op *op, const Choice *c)
{
	Source *s = source_of(p, op->results[0]);
	Placement to;

	if (op->nresults != 1 || !(s->requested || s->asked))
		return false;
	if (s->drawn && moves_nothing(p, s, &s->inferred))
		return true;
	if (steps_go_where_asked(p, op, c))
		return true;
	for (int i = 0; i < op->noperands; i++)
		if (place_by_operands(p, op, i, &to) && moves_nothing(p, s, &to))
			return true;
	return false;
}

/* Of what one op alone uses; whatever the program asks of that op's result. */
static void
note_natural(Partitioner *p, const Op *op)
{
	Placement at;

	if (op->nresults == 1 && op->results[0]->uses == 1 && place_by_operands(p, op, 0, &at))
		source_of(p, op->results[0])->natural = arena_copy(p->arena, &at, sizeof at);
}

/* Parts of one sum meet where that was planned, whatever is best for this op. */
static void
meet_parts(Partitioner *p, Op *op)
{
	for (int i = 0; i < op->noperands; i++) {
		Source *s = source_of(p, op->operands[i]);
		if (!s->parts || !placement_equal(s->parts, &s->final))
			continue;
		Value *v = value_in(p, op->operands[i], &s->final, op, i, false);
		s->forms = NULL;
		add_form(p, s, v);
	}
}

/* ... and are added there, and what is whole with them. */
static bool
add_parts(Partitioner *p, Op *op)
{
	Source *s = source_of(p, op->results[0]);

	if (!s->parts || op->noperands != 2 || !ops[op->kind].pointwise
		|| partial_through(op, 0, (Combiner)s->parts->combiner) != THROUGH_together)
		return false;
	for (int i = 0; i < op->noperands; i++)
		set_operand(p, op, i, s->parts, false);
	op->results[0]->placement = *s->parts;
	add_form(p, s, op->results[0]);
	return true;
}

/* A sum that was asked for in a loop is so where it is combined, also behind an op on parts. */
static void
hand_on_request(Partitioner *p, const Op *op)
{
	if (op->nresults != 1 || !op->results[0]->placement.nunreduced)
		return;
	for (int i = 0; i < op->noperands; i++) {
		const Value *v = op->operands[i];
		if (v->id >= 0 && v->placement.nunreduced && source_of(p, v)->sum_requested)
			source_of(p, op->results[0])->sum_requested = true;
	}
}

/* Phases of a convolution read slices of one kernel: it is moved for all of them. */
static void
move_kernel(Partitioner *p, Op *op, int operand, const Placement *to)
{
	Placement at;
	Form *form;
	Value *kernel = kernel_of_phases(p, op, operand, to, &at);

	if (!kernel)
		return;
	const ReshardPlan *all = cheapest_form(p, kernel, &at, &form);
	const ReshardPlan *part = cheapest_form(p, op->operands[operand], to, &form);
	if (all->bytes > 0 && all->seconds < part->seconds * rounds_served(p, op, 0))
		value_in(p, kernel, &at, op, operand, false);
}

static void
partition_plain(Partitioner *p, Op *op)
{
	meet_parts(p, op);
	if (add_parts(p, op))
		return;
	Choice c = plan_op(p, op);
	op_copy_attrs(op, p->op);
	p->op = op;
	if (op_is_alone(op))
		APPEND(p->arena, p->planned, p->nplanned, ((Planned){op, c}));
	bool asked = moves_operands(p, &c) && moves_on_request(p, op, &c);
	note_natural(p, op);
	bool settles = op->nresults == 1 && source_of(p, op->results[0])->requested;
	for (int i = 0; i < op->nresults; i++) {
		Value *v = op->results[i];
		v->placement = choice_tensor(p, &c, op->noperands + i);
		add_form(p, source_of(p, v), v);
		promise_room(p, v);
	}
	for (int i = 0; i < op->noperands; i++) {
		Placement to = choice_tensor(p, &c, i);
		const Value *now = source_of(p, op->operands[i])->forms->value;
		move_kernel(p, op, i, &to);
		/* a partial sum that a placed let or result asks to be settled may be
		   settled on the way there, before a linear op */
		set_operand(p, op, i, &to, asked || (settles && now->placement.nunreduced));
	}
	hand_on_request(p, op);
}

void
partition_block(Partitioner *p, Block *b)
{
	for (Op *op = b->first, *next; op; op = next) {
		next = op->next;
		for (int i = 0; i < op->nresults; i++)
			source_of(p, op->results[i])->final =
				placement_close(op->results[i]->placement);
		if (next && !op->nbodies)
			find_wants(p, op);
		if (!next)
			partition_return(p, op);
		else if (op->nbodies)
			partition_region(p, op);
		else if (op_is_identity(op))
			partition_identity(p, op);
		else
			partition_plain(p, op);
	}
}

/* Does it add two products of one Fourier transform? */
static bool
is_transform(const Op *op)
{
	bool all = op->kind == O_add || op->kind == O_sub;

	for (int i = 0; i < op->noperands && all; i++)
		all &= op->operands[i]->def && op_has(op->operands[i]->def, A_phases);
	return all;
}

static bool
takes_part(const Op *op)
{
	return op->kind == O_slice || op->kind == O_pad;
}

static bool
puts_together(const Op *op)
{
	return op->kind == O_reshape || op->kind == O_concatenate;
}

/* Is what the op makes its first operand, in another shape or order, or a part of it? */
static bool
hands_on(const Op *op)
{
	return takes_part(op) || puts_together(op) || op->kind == O_transpose
		|| op->kind == O_convert;
}

/* The value that this one is, in another shape or order, or a part of: each is walked over
   once, however often it is asked. */
static const Value *
origin_of(const Partitioner *p, const Value *v)
{
	const Value *end = v, *origin;

	while (!source_of(p, end)->origin && end->def && hands_on(end->def))
		end = end->def->operands[0];
	origin = source_of(p, end)->origin ? source_of(p, end)->origin : end;
	for (; v != end; v = v->def->operands[0])
		source_of(p, v)->origin = origin;
	return origin;
}

/* With a part all of its product is drawn in, made and moved there: more than a half of that
   has to be wanted, as a crop of a transposed convolution is, and a column of it is not. */
enum { PARTS_OF_A_PRODUCT = 2 };

static bool
takes_most(const Op *op, const Value *product)
{
	int64_t all =
		greater(type_elements(&op->operands[0]->type), type_elements(&product->type));

	return type_elements(&op->results[0]->type) > all / PARTS_OF_A_PRODUCT;
}

/* With parts all that they are of is drawn in: products alone, which need not be made as they
   were; of what a loop reads a part of in each round all would be moved before it. */
static bool
is_drawn_along(const Partitioner *p, const Op *op, const Value *v)
{
	const Value *origin = origin_of(p, v);
	const Op *maker = origin->def;

	return takes_part(op) ? maker && op_is_product(maker) && takes_most(op, origin)
			      : !maker || !op_has(maker, A_sizes);
}

/* What an op puts together, or gives another shape, is drawn in with the result: of a
   convolution in phases, say, all products. */
static void
draw_parts_in(Partitioner *p, const Op *op, const Placement *to, bool requested)
{
	const Rule *r = rule_book_get(p->rules, op);
	const Assignment *factors = result_assignment(p, op, to, factor_stays);
	AxisList over = placement_unreduced(to);
	Placement before;

	for (int i = 0; i < op->noperands && factors; i++) {
		if (!is_drawn_along(p, op, op->operands[i])
			|| !factors_place(r, i, factors, &before, NULL))
			continue;
		placement_set_unreduced(&before, &over, (Combiner)to->combiner);
		draw_in(p, op->operands[i], &before, requested);
	}
}

/* The operand of an op that only changes the order of dims, or the dtype, is drawn in with
   the result: of an einsum, say, the dot. */
static void
draw_operand_in(Partitioner *p, const Op *op, const Placement *to, bool requested)
{
	Placement before = *to;

	if (is_transform(op))
		for (int i = 0; i < op->noperands; i++)
			draw_in(p, op->operands[i], to, requested);
	if (takes_part(op) || puts_together(op))
		draw_parts_in(p, op, to, requested);
	if (op->kind != O_transpose && op->kind != O_convert)
		return;
	/* A conversion rounds sums, not parts; what it makes smaller moves behind it. */
	if ((to->nunreduced && partial_through(op, 0, (Combiner)to->combiner) == THROUGH_no)
		|| dtypes[op->results[0]->type.dtype].bits
			< dtypes[op->operands[0]->type.dtype].bits)
		return;
	for (int d = 0; d < to->rank && op->kind == O_transpose; d++) {
		AxisList axes = placement_dim(to, d);
		placement_set_dim(&before, (int)op_ints(op, A_dims)->v[d], &axes);
	}
	draw_in(p, op->operands[0], &before, requested);
}

static bool
is_split(const Value *v)
{
	return !value_is_literal(v) && placement_ways(&v->placement) > 1;
}

/* The operand is asked to be where the op's result is, `at`, along all that both have. */
static Source *
ask(Partitioner *p, const Op *op, int operand, const Placement *at)
{
	Source *s = source_of(p, op->operands[operand]);
	const Rule *r = rule_book_get(p->rules, op);
	Assignment *factors = NEW_ARRAY(p->scratch, Assignment, r->nfactors + 1);
	Placement to;

	s->asked = true;
	if (at)
		tensor_assignment(r, r->noperands, at, factors);
	if (at && factors_place(r, operand, factors, &to, NULL))
		s->request = arena_copy(p->arena, &to, sizeof to);
	return s;
}

/* What is asked of an einsum is asked of whatever it makes on the way: nobody wrote that. */
static void
ask_products(Partitioner *p, const Op *op, const Placement *at)
{
	for (int i = 0; i < op->noperands; i++) {
		const Op *maker = op->operands[i]->def;
		if (!maker || op->operands[i]->uses != 1 || !is_on_the_way(maker, op))
			continue;
		Source *s = ask(p, op, i, at);
		s->settled = source_of(p, op->results[0])->settled;
		ask_products(p, maker, s->request);
	}
}

/* What is asked of a result is asked of the operand whose elements it is made of one by
   one, if no other operand says where they are; one that was drawn in has asked for itself. */
static void
ask_operand(Partitioner *p, const Op *op, const Placement *at)
{
	int asked = -1, n = 0;

	ask_products(p, op, at);
	if (!ops[op->kind].pointwise && ops[op->kind].partial != PARTIAL_move)
		return;
	for (int i = 0; i < op->noperands; i++)
		if (is_split(op->operands[i])) {
			asked = i;
			n++;
		}
	const Op *maker = n == 1 ? op->operands[asked]->def : NULL;
	if (!maker || op->operands[asked]->uses != 1 || maker->nbodies || op_is_move(maker)
		|| source_of(p, op->operands[asked])->requested)
		return;
	ask_operand(p, maker, ask(p, op, asked, at)->request);
}

void
draw_to(Partitioner *p, Value *v, const Placement *to)
{
	Source *s = source_of(p, v);

	s->inferred = placement_close(v->placement);
	s->drawn = true;
	v->placement = *to;
}

/* What a loop carries has one placement in every round, a manual region's results
   are as its signature says, explicit code moves what it says, and what is asked behind a
   fence is not done before it. */
void
draw_in(Partitioner *p, Value *v, const Placement *to, bool requested)
{
	Source *s = source_of(p, v);
	const Op *maker = v->def;

	if (v->uses != 1 || !maker || op_is_move(maker) || op_is_loop(maker) || maker->specs
		|| maker->mode == MODE_explicit || maker->kind == O_fence)
		return;
	draw_to(p, v, to);
	s->requested = s->settled = requested;
	draw_operand_in(p, maker, to, requested);
	if (requested)
		ask_operand(p, maker, to);
}

void
draw_to_user(Partitioner *p, const Op *op, int operand)
{
	Choice c = plan_alone(p, op);
	Placement at = choice_tensor(p, &c, operand), from;
	Value *v = op->operands[operand];

	for (; v->uses == 1 && v->def && view_place(v->def, &at, &from); at = from) {
		draw_to(p, v, &at);
		v = v->def->operands[0];
	}
	draw_in(p, v, &at, false);
}

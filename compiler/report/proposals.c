/*
 * proposals.c - what to write so that a transfer is not needed: other placements of
 * values that have a name, or can be given one.
 *
 * requires  L_resharded, with the ledger of `partition`
 */
#include <string.h>
#include "ir/factors.h"
#include "report/proposals.h"
#include "shard/partition/partition.h"
#include "shard/reshard/halo.h"

enum {
	MOST_PADDED = 4, /* values at once, in one */
	MOST_TOLD = 4,
};

/* ---- what moves ----------------------------------------------------------------- */

/* The value before it was moved. */
const Value *
unmoved(const Value *v)
{
	while (v->def && op_is_move(v->def))
		v = v->def->operands[0];
	return v;
}

const Op *
first_user(const Value *v, int *operand)
{
	for (const Op *op = v->def ? v->def->next : v->block->first; op; op = op->next)
		for (int i = 0; i < op->noperands; i++)
			if (op->operands[i] == v) {
				*operand = i;
				return op;
			}
	return NULL;
}

const Op *
user_of(const Op *reshard)
{
	int operand;

	return first_user(reshard->results[0], &operand);
}

/* Does the op move elements along a dim, to a size that is not a multiple of the ways
   in which its operand is split? */
bool
leaves_remainder(const Op *op, const Value *operand, int dim)
{
	if (!op || !halo_kind(op->kind)
		|| !halo_moves(op, dim, op->operands[0]->type.dims[dim]))
		return false;
	return op->results[0]->type.dims[dim] % placement_dim_ways(&operand->placement, dim)
		!= 0;
}

/* ---- what to write ------------------------------------------------------------ */

/* Has it no name, but an expression on one line, which was not copied by a call or a
   loop? */
static bool
can_be_named(const Module *m, const Value *v)
{
	int made = 0;

	if (v->range.file || !v->def || !source_has_text(m->session, v->def->range)
		|| strchr(source_text(m->session, m->arena, v->def->range), '\n'))
		return false;
	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry))
		made += op->kind == v->def->kind && range_equal(op->range, v->def->range);
	return made == 1;
}

/* Can a type be written behind the name that it was given?  Not if it is one of a
   function that is called for more than these copies. */
static bool
can_be_placed(const Module *m, const Value *v, int copies)
{
	bool local = false, own = false;
	const Value *last = v;
	int n = 1;

	for (int i = 0; i < m->nnamed; i++) {
		const Value *x = m->named[i].value;
		bool inner = strchr(m->named[i].name, '.') != NULL;
		if (x == v) {
			own |= !inner;
			local |= inner && v->untyped == UNTYPED_let;
		} else if (x && x != last && range_equal(x->range, v->range)) {
			last = x;
			n++;
		}
	}
	return own || (local && n <= copies);
}

/* If some of what is placed is elsewhere. */
static void
add_proposal(Proposals *found, const Placed *placed, int n, bool padded)
{
	Proposal new = {.padded = padded, .kind = found->kinds};
	bool differs = false;

	for (int i = 0; i < n; i++) {
		differs |= !placement_equal(&placed[i].value->placement, &placed[i].placement);
		APPEND(found->arena, new.placed, new.n, placed[i]);
	}
	if (differs)
		APPEND(found->arena, found->all, found->n, new);
}

/* The value before moves has a name, if anything has. */
static void
propose(Proposals *found, const Value *v, const Placement *to)
{
	Placed placed = {unmoved(v), *to};

	found->kinds++;
	if (can_be_placed(found->module, placed.value, found->copies))
		add_proposal(found, &placed, 1, false);
}

static void
remove_overlap(AxisList *list, const AxisList *axes, int n)
{
	AxisList kept = {0};

	for (int i = 0; i < list->n; i++) {
		bool used = false;
		for (int k = 0; k < n; k++)
			used |= axes_overlap(&axes[k], list->a[i]);
		if (!used)
			axes_append(&kept, list->a[i]);
	}
	*list = kept;
}

/* The axes at the end of each dim of `base` that they divide. */
static void
propose_dims(Proposals *found, const Value *v, const Placement *base, const AxisList *axes)
{
	for (int d = 0; d < v->type.rank; d++) {
		Placement to = *base;
		AxisList l = placement_dim(&to, d);
		axes_append_all(&l, axes);
		placement_set_dim(&to, d, &l);
		if (v->type.dims[d] % axes_size(&l) == 0)
			propose(found, v, &to);
	}
}

/* Partial sums scattered over a dim; another value as it is wanted, or what it
   meets as it is: each other operand split as the moved one is. */
static void
propose_move(Proposals *found, const Op *reshard)
{
	const Value *v = reshard->operands[0], *moved = reshard->results[0];
	int at = 0;
	const Op *user = first_user(moved, &at);
	const Rule *rule = user ? op_rule(found->arena, user) : NULL;
	AxisList partial = placement_unreduced(&v->placement), none = {0};

	if (partial.n) {
		Placement reduced = v->placement;
		placement_set_unreduced(&reduced, &none, C_add);
		propose_dims(found, v, &reduced, &partial);
	} else {
		propose(found, v, &moved->placement);
	}
	if (!rule)
		return;
	AxisList *ours = NEW_ARRAY(found->arena, AxisList, rule->nfactors + 1);
	AxisList *theirs = NEW_ARRAY(found->arena, AxisList, rule->nfactors + 1);
	tensor_assignment(rule, at, &v->placement, ours);
	for (int i = 0; i < user->noperands; i++) {
		Placement to, now = user->operands[i]->placement;
		if (i == at)
			continue;
		tensor_assignment(rule, i, &now, theirs);
		for (int f = 0; f < rule->nfactors; f++) {
			if (ours[f].n)
				theirs[f] = ours[f];
			else
				remove_overlap(&theirs[f], ours, rule->nfactors);
		}
		if (factors_place(rule, i, theirs, &to, NULL))
			propose(found, user->operands[i], &to);
	}
}

/* The axes of the dim on another dim, or on none. */
static void
propose_elsewhere(Proposals *found, const Value *v, const AxisList *axes)
{
	Placement whole = v->placement;

	for (int d = 0; d < v->type.rank; d++) {
		AxisList l = placement_dim(&whole, d);
		remove_overlap(&l, axes, 1);
		placement_set_dim(&whole, d, &l);
	}
	propose_dims(found, v, &whole, axes);
	propose(found, v, &whole);
}

/* What is made of the moved value with a remainder, split as that was, and padded; a manual
   function has no padding. */
static void
propose_padded(Proposals *found, const Op *reshard)
{
	const Value *v = reshard->operands[0];
	Placed placed[MOST_PADDED];
	int n = 0;

	if (block_manual(reshard->block))
		return;
	for (const Op *op = reshard->next; op && n < MOST_PADDED; op = op->next) {
		bool uses = false, uneven = false;
		for (int i = 0; i < op->noperands; i++)
			uses |= op->operands[i] == reshard->results[0];
		if (!uses || !halo_kind(op->kind))
			continue;
		Placement to = op->results[0]->placement;
		for (int d = 0; d < v->type.rank; d++) {
			AxisList axes = placement_dim(&v->placement, d);
			if (!leaves_remainder(op, v, d))
				continue;
			placement_set_dim(&to, d, &axes);
			uneven = true;
		}
		if (!uneven)
			continue;
		const Value *made = op->results[0];
		bool written = can_be_placed(found->module, made, found->copies)
			|| can_be_named(found->module, made);
		if (!written || !placement_is_sound(&to))
			return;
		placed[n++] = (Placed){made, to};
	}
	add_proposal(found, placed, n, true);
}

/* For one copy. */
static Proposals
proposals_for(const Module *m, Arena *a, const Transfer *x, int copies)
{
	Proposals found = {.module = m, .arena = a, .copies = copies};

	if (op_is_move(x->op)) {
		propose_padded(&found, x->op);
		propose_move(&found, x->op);
		return found;
	}
	for (int i = 0; i < x->op->noperands; i++)
		propose_elsewhere(&found, x->op->operands[i], &x->axes);
	propose_elsewhere(&found, x->op->results[0], &x->axes);
	return found;
}

/* Also what another copy's proposal of the same kind places; false if it has none. */
static bool
add_copy(Arena *a, Proposal *proposal, const Proposals *copy)
{
	int at = 0;

	while (at < copy->n && copy->all[at].kind != proposal->kind)
		at++;
	for (int i = 0; at < copy->n && i < copy->all[at].n; i++) {
		const Placed *placed = &copy->all[at].placed[i];
		int k = 0;
		while (k < proposal->n && proposal->placed[k].value != placed->value)
			k++;
		if (k == proposal->n)
			APPEND(a, proposal->placed, proposal->n, *placed);
	}
	return at < copy->n;
}

Proposals
proposals_find(const Module *m, Arena *a, const Transfer *const *copies, int n)
{
	Proposals found = proposals_for(m, a, copies[0], n);

	for (int i = 1; i < n && found.n; i++) {
		Proposals copy = proposals_for(m, a, copies[i], n);
		int kept = 0;
		for (int k = 0; k < found.n; k++)
			if (add_copy(a, &found.all[k], &copy))
				found.all[kept++] = found.all[k];
		found.n = kept;
	}
	return found;
}

/* ---- trials ------------------------------------------------------------------- */

static bool
same_change(const Trial *trial, const Proposal *proposal)
{
	bool same = trial->change.nplaced == proposal->n;

	for (int i = 0; same && i < proposal->n; i++) {
		const Placed *x = &trial->change.placed[i], *y = &proposal->placed[i];
		same = x->value == y->value && placement_same(&x->placement, &y->placement);
	}
	return same;
}

void
proposals_try(Proposals *found, Arena *a, Trials *trials)
{
	for (int i = 0; i < found->n; i++) {
		Proposal *proposal = &found->all[i];
		int k = 0;
		while (k < trials->n && !same_change(trials->all[k], proposal))
			k++;
		if (k == trials->n) {
			Trial *new = NEW(a, Trial);
			new->change.placed = proposal->placed;
			new->change.nplaced = proposal->n;
			APPEND(a, trials->all, trials->n, new);
		}
		proposal->trial = trials->all[k];
	}
}

/* ---- as text ------------------------------------------------------------------ */

/* "p: [18@rows pad, 8]", "let NAME: [15@rows pad, 8] = x[1:]".
   On a let, a type that names no axis says nothing about
   placement. */
static void
text_one(Text *t, const Module *m, const Placed *placed)
{
	const Value *v = placed->value;
	Placement to = placed->placement;
	bool whole = v->def && !to.nunreduced;

	for (int d = 0; d < v->type.rank; d++)
		whole &= !placement_dim(&to, d).n;
	to.all_replicated |= whole;
	bool named = v->range.file || !v->def;
	text_printf(t, "%s: ", named ? v->name : "let NAME");
	text_placed(t, &m->mesh, v, &to);
	if (!named)
		text_printf(t, " = %s", source_text(m->session, m->arena, v->def->range));
}

/* Of copies of one let only the first: that is written once. */
void
text_proposal(Text *t, const Module *m, const Placed *placed, int n)
{
	int written = 0;

	for (int i = 0; i < n; i++) {
		Range range = placed[i].value->range;
		int k = 0;
		while (k < i && !(range.file && range_equal(range, placed[k].value->range)))
			k++;
		if (k < i || written++ >= MOST_TOLD)
			continue;
		text_add(t, written > 1 ? ", " : "");
		text_one(t, m, &placed[i]);
	}
	if (written > MOST_TOLD)
		text_printf(t, " and %d alike", written - MOST_TOLD);
}

/*
 * proposals.c - what to write so that a transfer is not needed: other placements of
 * values that have a name, or can be given one.
 *
 * requires  L_resharded, with the ledger of `partition`
 */
#include <limits.h>
#include <string.h>
#include "ir/factors.h"
#include "ir/flow.h"
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
user_of(const Op *reshard)
{
	for (const Op *op = reshard->next; op; op = op->next)
		for (int i = 0; i < op->noperands; i++)
			if (op->operands[i] == reshard->results[0])
				return op;
	return NULL;
}

/* Where a loop or a branch is handed the operand, by those in its bodies. */
static void
add_readers_inside(Readers *found, Arena *a, const Op *op, int operand, int most)
{
	for (Flow f = {.user = op, .operand = operand}; flow_next_from(&f);)
		if (f.kind == FLOW_in)
			add_readers(found, a, f.to, most);
}

void
add_readers(Readers *found, Arena *a, const Value *v, int most)
{
	const Op *op = v->def ? v->def->next : v->block->first;

	for (; op && found->n < most; op = op->next)
		for (int i = 0; i < op->noperands && found->n < most; i++) {
			Reader reader = {op, i};
			if (op->operands[i] != v || op->kind == O_return)
				continue;
			if (op_is_loop(op) || op_is_branch(op))
				add_readers_inside(found, a, op, i, most);
			else
				APPEND(a, found->all, found->n, reader);
		}
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

/* Behind its name, wherever that is written? */
static bool
has_place_for_type(const Value *v)
{
	return !v->def || (v->range.file && v->untyped != UNTYPED_assigned);
}

/* Has it no such name, but an expression on one line, which was not copied by a call or a
   loop? */
static bool
can_be_named(const Module *m, const Value *v)
{
	int made = 0;

	if (m->python)
		return false;
	if (has_place_for_type(v) || !source_has_text(m->session, v->def->range)
		|| op_forms[v->def->form].statement
		|| strchr(source_text(m->session, m->arena, v->def->range), '\n'))
		return false;
	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry))
		made += op->kind == v->def->kind && range_equal(op->range, v->def->range);
	return made == 1;
}

/* Is it the value, or one of the same let in another call or round? */
static bool
is_copy(const Value *x, const Value *v)
{
	return x == v || (x && v->range.file && range_equal(x->range, v->range));
}

/* Can a type be written behind the name that it was given?  Of a function's let if one
   fits wherever it is called. */
static bool
can_be_placed(const Module *m, const Value *v)
{
	bool named = false;

	if (m->python)
		return python_can_place(m, v);
	if (!has_place_for_type(v))
		return false;
	for (int i = 0; i < m->nnamed; i++) {
		const Value *x = m->named[i].value;
		bool inner = strchr(m->named[i].name, '.') != NULL;
		named |= x == v && (!inner || v->untyped == UNTYPED_let);
		if (is_copy(x, v) && !type_equal(&x->type, &v->type))
			return false;
	}
	return named;
}

static void
add_once(Arena *a, Proposal *proposal, const Value *v, const Placement *to)
{
	Placed placed = {v, *to};

	for (int i = 0; i < proposal->n; i++)
		if (proposal->placed[i].value == v)
			return;
	APPEND(a, proposal->placed, proposal->n, placed);
}

/* Some values, one of each type, kind of op and place in the source. */
typedef struct Kinds {
	const Value **all;
	int n;
	Lookup *found;
} Kinds;

static Kinds
kinds_new(Arena *a)
{
	return (Kinds){.found = lookup_new(a)};
}

static uint64_t
kind_hash(const Value *v)
{
	uint64_t h = hash_mix(v->def ? (uint64_t)v->def->kind : 0,
		v->def ? v->def->range.begin : (int64_t)(intptr_t)v);

	h = hash_mix(h, v->def ? v->def->range.line : 0);
	for (int d = 0; d < v->type.rank; d++)
		h = hash_mix(h, v->type.dims[d]);
	return h;
}

static bool
is_same_kind(const void *item, const void *key)
{
	const Value *x = item, *v = key;
	bool alike = x->def && v->def && x->def->kind == v->def->kind
		&& range_equal(x->def->range, v->def->range);

	return x == v || (alike && type_equal(&x->type, &v->type));
}

static bool
kinds_have(const Kinds *kinds, const Value *v)
{
	return lookup_find(kinds->found, kind_hash(v), is_same_kind, v) != NULL;
}

static void
add_kind(Kinds *kinds, Arena *a, const Value *v)
{
	if (kinds_have(kinds, v))
		return;
	APPEND(a, kinds->all, kinds->n, v);
	lookup_add(kinds->found, kind_hash(v), (void *)v);
}

static bool
is_same_op(const void *item, const void *key)
{
	return item == key;
}

/* An expression is walked once, from what it makes to what it is computed of. */
typedef struct Walked {
	Lookup *ops;
	const Op **waiting;
	int nwaiting;
} Walked;

static void
walk_op(Walked *walked, Arena *a, const Op *op)
{
	uint64_t hash = hash_mix(0, (int64_t)(intptr_t)op);

	if (lookup_find(walked->ops, hash, is_same_op, op))
		return;
	lookup_add(walked->ops, hash, (void *)op);
	APPEND(a, walked->waiting, walked->nwaiting, op);
}

/* What the op's expression is computed of: operands that other expressions make. */
static void
add_sources(Kinds *sources, Walked *walked, Arena *a, const Op *op)
{
	walk_op(walked, a, op);
	while (walked->nwaiting) {
		op = walked->waiting[--walked->nwaiting];
		for (int i = 0; i < op->noperands; i++) {
			const Value *v = unmoved(op->operands[i]);
			if (v->def && range_equal(v->def->range, op->range))
				walk_op(walked, a, v->def);
			else
				add_kind(sources, a, v);
		}
	}
}

/* What else the expression makes where calls were inlined, of any size, and what that is made
   of.  False if not all of it can be placed so. */
static bool
add_copies_forward(const Proposals *found, Proposal *proposal, const Placed *placed,
	Kinds *made, Kinds *sources)
{
	const Module *m = found->module;
	const Value *v = placed->value;
	Walked walked = {.ops = lookup_new(found->arena)};

	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry))
		for (int i = 0; i < op->nresults; i++) {
			Value *x = op->results[i];
			if (op_is_move(op) || !python_is_copy(x, v))
				continue;
			if (x->type.rank != v->type.rank
				|| !python_can_say(m, x, &placed->placement))
				return false;
			if (!python_can_place(m, x))
				continue; /* in the loop that the expression is */
			add_once(found->arena, proposal, x, &placed->placement);
			add_kind(made, found->arena, x);
			add_sources(sources, &walked, found->arena, op);
		}
	return true;
}

/* All that with_sharding_constraint around the expression would place: what it makes,
   wherever it is, and the gradients of that.  False if not all of it can be placed so. */
static bool
add_python_copies(const Proposals *found, Proposal *proposal, const Placed *placed)
{
	const Module *m = found->module;
	Kinds made = kinds_new(found->arena), sources = kinds_new(found->arena);
	Range range = placed->value->range; /* of all copies */

	if (!placed->value->def)
		return true;
	if (!add_copies_forward(found, proposal, placed, &made, &sources))
		return false;
	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry))
		for (int i = 0; i < op->noperands && range_equal(op->range, range); i++)
			for (int k = 0; k < made.n; k++) {
				const Value *x = unmoved(op->operands[i]);
				if (python_is_gradient(op, i, made.all[k])
					&& !kinds_have(&sources, x))
					add_once(found->arena, proposal, x, &placed->placement);
			}
	return true;
}

/* If some of what is placed is elsewhere; of a let all values. */
static void
add_proposal(Proposals *found, const Placed *placed, int n, bool padded)
{
	const Module *m = found->module;
	Proposal new = {.padded = padded, .kind = found->kinds};
	bool differs = false;

	for (int i = 0; i < n; i++) {
		const Placement *to = &placed[i].placement;
		if (m->python && (padded || !python_can_say(m, placed[i].value, to)))
			return;
		if (m->python && !add_python_copies(found, &new, &placed[i]))
			return;
		for (int k = 0; k < m->nnamed && !m->python; k++)
			if (is_copy(m->named[k].value, placed[i].value))
				add_once(found->arena, &new, m->named[k].value, to);
		add_once(found->arena, &new, placed[i].value, to);
	}
	for (int i = 0; i < new.n; i++)
		differs |= !placement_equal(&new.placed[i].value->placement,
			&new.placed[i].placement);
	if (differs)
		APPEND(found->arena, found->all, found->n, new);
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

/* Where operand k, now as `now` says, has to be for the result to be there.  A dim that the
   op does not hand on whole, as that of the layers, stays split as it is, without the axes
   that others need.  False if no placement of it will do. */
static bool
place_operand(Arena *a, const Op *op, int k, const Placement *now, Placement *to)
{
	const Rule *rule = op_rule(a, op);
	AxisList *axes = NEW_ARRAY(a, AxisList, rule->nfactors + 1);
	Placement result, operand;

	tensor_assignment(rule, op->noperands, to, axes);
	for (int f = 0; f < rule->nfactors; f++)
		if (rule->factors[f].kind != F_pass)
			axes[f].n = 0;
	if (!factors_place(rule, op->noperands, axes, &result, NULL)
		|| !placement_equal(&result, to)
		|| !factors_place(rule, k, axes, &operand, NULL))
		return false;
	for (int d = 0; d < operand.rank; d++) {
		const DimFactors *factors = &rule->dims[k][d];
		AxisList kept = placement_dim(now, d);
		if (factors->n && rule->factors[factors->f[0]].kind == F_pass)
			continue;
		remove_overlap(&kept, axes, rule->nfactors);
		placement_set_dim(&operand, d, &kept);
	}
	*to = operand;
	return true;
}

/* The value before moves, and outside the loop or branch that it is handed to. */
static const Value *
value_before(const Value *v)
{
	return unmoved(value_around(unmoved(v)));
}

/* Are the elements of its result those of operand 0, some or all of them? */
static bool
op_rearranges(const Op *op)
{
	return op_takes_part(op) || op_renames(op) || op->kind == O_transpose
		|| op->kind == O_convert;
}

/* The operand whose elements the result's are, some or all of them; of a JAX program also
   the first that it is computed of, element by element: there activations between two
   products have no place where they could be asked for.  -1: none. */
static int
source_operand(const Module *m, const Op *op)
{
	const Value *v = op->results[0];

	if (op_rearranges(op))
		return 0;
	for (int i = 0; m->python && ops[op->kind].pointwise && i < op->noperands; i++) {
		const Value *from = op->operands[i];
		bool spread = from->def
			&& (from->def->kind == O_broadcast || from->def->kind == O_constant);
		if (from->type.rank == v->type.rank && !spread)
			return i;
	}
	return -1;
}

/* From the weights of one layer to those of all, which a loop reads one by one: the
   outermost value with a name whose elements these are.  False if there is none. */
static bool
find_source(const Proposals *found, Placed *placed)
{
	const Value *v = placed->value;
	Placement to = placed->placement;
	bool is_found = false;
	int k;

	while (v->def && (k = source_operand(found->module, v->def)) >= 0) {
		const Op *op = v->def;
		v = value_before(op->operands[k]);
		if (!place_operand(found->arena, op, k, &v->placement, &to))
			break;
		if (!can_be_placed(found->module, v))
			continue;
		*placed = (Placed){v, to};
		is_found = true;
	}
	return is_found;
}

/* What a JAX program carries through a loop, and has no place for: what the loop begins with,
   or else what it is in the next trip. */
static const Value *
carried_from(const Module *m, const Value *v)
{
	Flow f = {.to = (Value *)v};

	while (m->python && !v->def && v->block != m->entry && flow_next_to(&f)) {
		const Value *from = value_before(f.from);
		if (from->def && python_can_place(m, from))
			return from;
	}
	return v;
}

/* The value has a name, if anything has, or what its elements are taken from. */
static void
propose(Proposals *found, const Value *v, const Placement *to)
{
	Placed placed = {carried_from(found->module, value_before(v)), *to};
	bool assigned = placed.value->untyped == UNTYPED_assigned;

	found->kinds++;
	if (assigned ? can_be_named(found->module, placed.value)
		     : can_be_placed(found->module, placed.value))
		add_proposal(found, &placed, 1, false);
	found->kinds++;
	if (find_source(found, &placed))
		add_proposal(found, &placed, 1, false);
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

/* Of a JAX program, where activations are seldom placed: the axes on the first dim that they
   divide, as of rows, or on none. */
static void
propose_rows(Proposals *found, const Value *v, const AxisList *axes)
{
	Placement to = v->placement;
	int first = -1;

	for (int d = v->type.rank; d-- > 0;) {
		AxisList l = placement_dim(&to, d);
		int n = l.n;
		remove_overlap(&l, axes, 1);
		placement_set_dim(&to, d, &l);
		if (l.n == n && v->type.dims[d] % (axes_size(&l) * axes_size(axes)) == 0)
			first = d;
	}
	propose(found, v, &to);
	if (first < 0)
		return;
	AxisList l = placement_dim(&to, first);
	axes_append_all(&l, axes);
	placement_set_dim(&to, first, &l);
	propose(found, v, &to);
}

/* What is gathered of a dim. */
static void
propose_ungathered(Proposals *found, const Value *v, const Placement *moved)
{
	for (int d = 0; d < v->type.rank; d++) {
		AxisList axes = placement_dim(&v->placement, d), kept = placement_dim(moved, d);
		remove_overlap(&axes, &kept, 1);
		if (axes.n)
			propose_rows(found, v, &axes);
	}
}

/* Partial sums scattered over a dim; another value as it is wanted, or what it
   meets as it is: each other operand split as the moved one is. */
static void
propose_move(Proposals *found, const Op *reshard)
{
	const Value *v = reshard->operands[0], *moved = reshard->results[0];
	Readers readers = {0};
	AxisList partial = placement_unreduced(&v->placement), none = {0};

	if (partial.n) {
		Placement reduced = v->placement;
		placement_set_unreduced(&reduced, &none, C_add);
		propose_dims(found, v, &reduced, &partial);
		bool product = v->def && ops[v->def->kind].product && found->module->python;
		for (int i = 0; product && i < v->def->noperands; i++)
			propose_rows(found, v->def->operands[i], &partial);
	} else {
		propose(found, v, &moved->placement);
		if (found->module->python)
			propose_ungathered(found, v, &moved->placement);
	}
	add_readers(&readers, found->arena, moved, 1);
	const Op *user = readers.n ? readers.all[0].op : NULL;
	const Rule *rule = user ? op_rule(found->arena, user) : NULL;
	if (!rule)
		return;
	int at = readers.all[0].operand;
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

/* What is made of the moved value with a remainder, split as that was, and padded; a manual
   function has no padding. */
static void
propose_padded(Proposals *found, const Op *reshard)
{
	const Value *v = reshard->operands[0];
	Readers readers = {0};
	Placed placed[MOST_PADDED];
	int n = 0;

	if (block_manual(reshard->block))
		return;
	add_readers(&readers, found->arena, reshard->results[0], INT_MAX);
	for (int i = 0; i < readers.n && n < MOST_PADDED; i++) {
		const Op *op = readers.all[i].op;
		Value *made = op->nresults ? op->results[0] : NULL;
		Placement to = made ? made->placement : placement_none(0);
		bool uneven = false;
		for (int d = 0; d < v->type.rank; d++) {
			AxisList axes = placement_dim(&v->placement, d);
			if (!leaves_remainder(op, v, d))
				continue;
			placement_set_dim(&to, d, &axes);
			uneven = true;
		}
		if (!uneven)
			continue;
		bool written =
			can_be_placed(found->module, made) || can_be_named(found->module, made);
		if (!written || !placement_is_sound(&to))
			return;
		placed[n++] = (Placed){made, to};
	}
	add_proposal(found, placed, n, true);
}

/* For one copy. */
static Proposals
proposals_for(const Module *m, Arena *a, const Transfer *x)
{
	Proposals found = {.module = m, .arena = a};

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
	for (int i = 0; at < copy->n && i < copy->all[at].n; i++)
		add_once(a, proposal, copy->all[at].placed[i].value,
			&copy->all[at].placed[i].placement);
	return at < copy->n;
}

/* Where the move ends is written: there, with its axes on another dim too. */
static void
propose_annotations(Proposals *found, const Transfer *x, const Annotations *annotations)
{
	const Value *moved = x->op->results[0];
	int n;
	const Placed *asked = annotations_asking(annotations, &moved->type, &x->after, &n);

	for (int d = 0; asked && d < moved->type.rank; d++) {
		Placement to = x->after;
		AxisList l = placement_dim(&to, d);
		axes_append_all(&l, &x->axes);
		placement_set_dim(&to, d, &l);
		if (moved->type.dims[d] % axes_size(&l) != 0 || !placement_is_sound(&to))
			continue;
		Placed *placed = NEW_ARRAY(found->arena, Placed, n);
		for (int i = 0; i < n; i++)
			placed[i] = (Placed){asked[i].value, to};
		Proposal new = {.placed = placed, .n = n, .kind = found->kinds};
		APPEND(found->arena, found->all, found->n, new);
	}
}

Proposals
proposals_find(const Module *m, Arena *a, const Transfer *const *copies, int n,
	const Annotations *annotations)
{
	Proposals found = proposals_for(m, a, copies[0]);

	for (int i = 1; i < n && found.n; i++) {
		Proposals copy = proposals_for(m, a, copies[i]);
		int kept = 0;
		for (int k = 0; k < found.n; k++)
			if (add_copy(a, &found.all[k], &copy) || m->python)
				found.all[kept++] = found.all[k];
		found.n = kept;
	}
	if (copies[0]->op->requested && annotations && !m->python)
		propose_annotations(&found, copies[0], annotations);
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

/* As it is written: "h", where "h.3" is one of several. */
static const char *
name_written(const Module *m, const Value *v)
{
	const char *dot = strrchr(v->name, '.');

	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value == v)
			return m->named[i].name;
	if (!dot || dot[1 + strspn(dot + 1, "0123456789")])
		return v->name;
	return arena_strndup(m->arena, v->name, (size_t)(dot - v->name));
}

/* "p: [18@rows pad, 8]", "let NAME: [15@rows pad, 8] = x[1:]".
   On a let, a type that names no axis says nothing about
   placement. */
static void
text_one(Text *t, const Module *m, const Placed *placed)
{
	const Value *v = placed->value;
	Placement to = placed->placement;
	bool whole = v->def && !to.nunreduced;

	if (m->python) {
		text_python_placed(t, m, placed);
		return;
	}

	for (int d = 0; d < v->type.rank; d++)
		whole &= !placement_dim(&to, d).n;
	to.all_replicated |= whole;
	bool named = has_place_for_type(v);
	text_printf(t, "%s: ", named ? name_written(m, v) : "let NAME");
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
		if (m->python && !python_can_place(m, placed[i].value))
			continue; /* a gradient */
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

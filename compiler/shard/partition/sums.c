/*
 * sums.c - what is added to other partial sums is combined once, after the sum.
 *
 *   dx = r + dq Wq + dk Wk      heads split over X: each product is partial
 *
 * By itself each product may do better with its operands gathered than with an
 * all-reduce of its own; two of them share one.  So a tree of additions (maxima
 * ...) over products, reductions and whole values is priced as a whole: every leaf as
 * it would be planned alone, and every leaf left partial over the axes that split the
 * sums of one of them.  If that is better, all of the tree but its root is drawn to
 * the partial placement.  A whole value is added on one device; of a split one each
 * device adds its shard.  So the additions stay in the order of the text.
 *
 * What is used several times is in one place; trees of which some member is, and all uses of
 * it, are looked for first.
 *
 * What operands will have become is not known yet: they are taken to be where
 * propagation put them, and where users outside of sums will move them.
 */
#include "ir/factors.h"
#include "ir/targets.h"
#include "shard/partition/partition.h"

enum {
	MAX_MEMBERS = 512, /* of a tree; longer sums are several */
	MAX_OVER = 4,	   /* lists of axes tried for a tree */
	MAX_ONES = 8,	   /* places tried for all that is added */
	MAX_OPEN = 4,	   /* values of which a tree has some uses */
};

typedef enum Role {
	ROLE_leaf,   /* a product or a reduction */
	ROLE_again,  /* a member that was met before */
	ROLE_inner,  /* combines sums, or hands one on */
	ROLE_whole,  /* another value that is combined with them */
	ROLE_factor, /* what a sum is multiplied or divided by */
} Role;

typedef struct Member {
	Value *value;
	Role role;
	int parent;
	int first; /* that is the same value */
} Member;

typedef struct Tree {
	Partitioner *p;
	Combiner combiner;
	bool shared;	 /* members may be used several times, all of them in it */
	Member *members; /* each before those it is made of */
	int n, leaves;
	Guesses guesses; /* while a layout is priced */
} Tree;

typedef struct Total {
	double bytes, seconds;
} Total;

/* ---- trees ------------------------------------------------------------------ */

/* A value of which so many uses are met. */
typedef struct Open {
	const Value *value;
	int met;
} Open;

/* What tree a value is the root of. */
typedef struct Summed {
	int leaves, wholes, members;
	Combiner combiner;
	bool shared; /* some member is used several times, all in it, */
	int nopen;   /* ... but for these */
	Open open[MAX_OPEN];
	const Value *root; /* of the tree that it was last met in, */
	int member;	   /* ... there */
	bool inside;	   /* it is a member of a larger one */
	bool tried;	   /* as a tree of its own */
	bool settled;	   /* it is known how it is added up */
} Summed;

/* Of a value that goes into one op alone, or that the tree has all uses of. */
static bool
is_summed(const Value *v, const Summed *of, bool shared)
{
	return v->def && (v->uses == 1 || (shared && !of[v->id].nopen)) && of[v->id].leaves;
}

/* So many more uses of it are met; false if there are too many such values. */
static bool
meet_uses(Summed *sums, const Value *v, int met)
{
	int k = 0;

	while (k < sums->nopen && sums->open[k].value != v)
		k++;
	if (k == MAX_OPEN)
		return false;
	if (k == sums->nopen)
		sums->open[sums->nopen++] = (Open){.value = v};
	sums->open[k].met += met;
	if (sums->open[k].met == v->uses) {
		sums->open[k] = sums->open[--sums->nopen];
		sums->shared = true;
	}
	return true;
}

/* ... of all that is used several times in what an operand is made of. */
static bool
meet_uses_in(Summed *sums, const Value *v, const Summed *x)
{
	bool few = v->uses == 1 || meet_uses(sums, v, 1);

	sums->shared |= x->shared;
	for (int i = 0; i < x->nopen; i++)
		few = few && meet_uses(sums, x->open[i].value, x->open[i].met);
	return few;
}

/* Of what is made of sums: together with what its operands are. */
static Summed
summed_inner(const Partitioner *p, const Op *op, const Summed *of, bool shared)
{
	Summed s = {.members = 1};
	int sums = 0, last = 0;
	bool alike = true;

	for (int i = 0; i < op->noperands; i++) {
		const Value *v = op->operands[i];
		const Summed *x = &of[v->id];
		if (!is_summed(v, of, shared)) {
			s.wholes++;
			s.members++;
			continue;
		}
		alike &= !sums++ || x->combiner == s.combiner;
		alike = alike && meet_uses_in(&s, v, x);
		last = i;
		s.combiner = x->combiner;
		s.leaves += x->leaves;
		s.wholes += x->wholes;
		s.members += x->members;
	}
	if (!sums || !alike || s.members > MAX_MEMBERS)
		return (Summed){0};
	if (combines(op, s.combiner))
		return s;
	if (sums > 1 || op->noperands > 2 || !hands_on_parts(p, op, last, s.combiner))
		return (Summed){0};
	s.wholes -= op->noperands - 1; /* a factor */
	return s;
}

static Summed
summed(Partitioner *p, const Op *op, const Summed *of, bool shared)
{
	Combiner combiner;

	if (op->mode == MODE_explicit || op->nresults != 1 || op_is_identity(op)
		|| op->results[0]->placement.nunreduced)
		return (Summed){0};
	if (makes_sums(p, op, &combiner))
		return (Summed){.leaves = 1, .members = 1, .combiner = combiner};
	return summed_inner(p, op, of, shared);
}

static Role
role_of(const Tree *tree, const Op *user, const Value *x, const Summed *of)
{
	Combiner combiner;

	if (!is_summed(x, of, tree->shared))
		return combines(user, tree->combiner) ? ROLE_whole : ROLE_factor;
	if (of[x->id].root == tree->members[0].value)
		return ROLE_again;
	return makes_sums(tree->p, x->def, &combiner) ? ROLE_leaf : ROLE_inner;
}

/* The value, a member of that role, and what it is made of. */
static void
collect(Tree *tree, Value *v, Role role, int parent, Summed *of)
{
	int k = tree->n;
	Summed *s = &of[v->id];

	if (role != ROLE_again)
		s->member = k;
	APPEND(tree->p->arena, tree->members, tree->n, ((Member){v, role, parent, s->member}));
	s->root = tree->members[0].value;
	for (int i = 0; role == ROLE_inner && i < v->def->noperands; i++) {
		Value *x = v->def->operands[i];
		collect(tree, x, role_of(tree, v->def, x, of), k, of);
	}
}

/* ---- prices ------------------------------------------------------------------ */

static Placement
final_of(const Value *v)
{
	return placement_close(v->placement);
}

/* A leaf as it is planned if its result is wanted in `to`; where it makes it. */
static Placement
add_leaf(Tree *tree, const Op *op, const Placement *to, Total *sum)
{
	Partitioner *p = tree->p;

	for (int i = 0; i < op->noperands; i++) {
		Placement final = final_of(op->operands[i]);
		guess_form(p, &tree->guesses, op->operands[i], &final);
	}
	source_of(p, op->results[0])->final = *to;
	p->op = op;
	p->rule = rule_book_get(p->rules, op);
	Choice c = choose_once(p);
	sum->bytes += c.bytes;
	sum->seconds += c.seconds;
	for (int i = 0; i < op->noperands; i++) {
		Placement at = choice_tensor(p, &c, i);
		if (!value_is_literal(op->operands[i]))
			guess_form(p, &tree->guesses, op->operands[i], &at);
	}
	return choice_tensor(p, &c, op->noperands);
}

static void
add_move(const Tree *tree, const Value *v, const Placement *from, const Placement *to,
	int times, Total *sum)
{
	const ReshardPlan *plan = reshard_plan(tree->p->resharder, &v->type, from, to);

	if (value_is_literal(v))
		return;
	double rounds = rounds_combined(tree->p, v, from, to, false);
	sum->bytes += times * plan->bytes / rounds;
	sum->seconds += times * plan->seconds / rounds;
}

/* Does what is added stay on the chip until then, as half of that has room for all leaves? */
static bool
stays_on_chip(const Tree *tree, const Member *member, int64_t bytes)
{
	int64_t room = tree->p->module->mesh.target->on_chip_bytes / 2;

	return member->role <= ROLE_again && bytes <= room / tree->leaves;
}

/* What an addition takes of a member of the tree that is in one place with the sum.  All
   additions in a place are one step: it reads what is not made there, and writes the last. */
static void
add_read(const Tree *tree, const Member *member, const Placement *at, Total *sum)
{
	const Target *target = tree->p->module->mesh.target;
	Type part = placement_local(&member->value->type, at);
	int64_t bytes = type_bytes(&part);

	if (member->role != ROLE_inner && !value_is_literal(member->value)
		&& !stays_on_chip(tree, member, bytes))
		sum->seconds += hbm_seconds(target, (double)bytes);
}

/* ... of a sum that is wanted by others, or elsewhere. */
static void
add_write(const Tree *tree, const Value *v, const Placement *at, Total *sum)
{
	const Target *target = tree->p->module->mesh.target;
	Type part = placement_local(&v->type, at);

	sum->seconds += target->launch_seconds + hbm_seconds(target, (double)type_bytes(&part));
}

/* Where a result is by what it is made of, each factor split as the first operand that splits
   it has it; false if the axes of two of them meet. */
static bool
place_made(const Tree *tree, const Op *op, const Value *moved, const Placement *there,
	Placement *to)
{
	Partitioner *p = tree->p;
	const Rule *r = rule_book_get(p->rules, op);
	Assignment *all = NEW_ARRAY(p->arena, Assignment, r->nfactors + 1);
	Assignment *own = NEW_ARRAY(p->arena, Assignment, r->nfactors + 1);

	for (int i = 0; i < op->noperands; i++) {
		const Value *v = op->operands[i];
		Placement at = v == moved ? *there : placement_close(v->placement);
		tensor_assignment(r, i, &at, own);
		for (int f = 0; f < r->nfactors; f++)
			if (!all[f].n)
				all[f] = own[f];
	}
	return factors_place(r, op->noperands, all, to, NULL) && placement_is_sound(to);
}

/* What is used several times is in one place, by which an op that hands it on may have its
   result elsewhere than where that is wanted. */
static void
add_handing_on(const Tree *tree, const Member *member, const Placement *from,
	const Placement *to, Total *sum)
{
	const Value *made = tree->members[member->parent].value;
	AxisList over = placement_unreduced(from);
	Placement by;

	if (member->value->uses == 1 || !place_made(tree, made->def, member->value, from, &by))
		return;
	by = partial_over(&by, &over, tree->combiner);
	add_move(tree, made, &by, to, 1, sum);
}

/* Every leaf made there, all added up there, the sum moved to where it is wanted. */
static Total
price_layout(Tree *tree, const Placement *at)
{
	const Value *root = tree->members[0].value;
	Placement final = final_of(root);
	Total sum = {0};

	add_move(tree, root, &at[0], &final, 1, &sum);
	for (int k = 0; k < tree->n; k++) {
		const Member *member = &tree->members[k];
		const Value *v = member->value, *user = tree->members[member->parent].value;
		final = final_of(v);
		if (member->role == ROLE_leaf)
			add_leaf(tree, v->def, &at[k], &sum);
		else if (member->role > ROLE_inner)
			add_move(tree, v, &final, &at[k], 1, &sum);
		bool added = k && ops[user->def->kind].pointwise;
		if (added && member->role <= ROLE_inner)
			add_move(tree, v, &at[k], &at[member->parent], 1, &sum);
		if (added)
			add_read(tree, member, &at[member->parent], &sum);
		else if (k && member->role <= ROLE_inner)
			add_handing_on(tree, member, &at[k], &at[member->parent], &sum);
		if (member->role == ROLE_inner
			&& !(added && placement_equal(&at[k], &at[member->parent])))
			add_write(tree, v, &at[k], &sum);
	}
	forget_guesses(&tree->guesses);
	return sum;
}

/* May the other operand of an addition come there?  Parts meet only parts alike. */
static bool
may_meet(const Placement *at, const Placement *other)
{
	AxisList a = placement_unreduced(at), b = placement_unreduced(other);

	return !a.n || (axes_equal(&a, &b) && at->combiner == other->combiner);
}

/* Where the operands of an addition meet: where the sum is wanted, or one of them is;
   what moves the fewest bytes with the way on to where it is wanted. */
static Placement
meet(const Tree *tree, const Op *op, const Placement *at, Total *sum)
{
	const Value *v = op->results[0];
	Placement final = final_of(v), places[] = {final, at[0], at[1]}, best = final;
	Total least = {0};
	double fewest = 0;

	for (int k = 0; k < 3; k++) {
		Total cost = {0}, on = {0};
		if (k && !may_meet(&at[k - 1], &at[2 - k]))
			continue;
		for (int i = 0; i < 2; i++)
			add_move(tree, op->operands[i], &at[i], &places[k], 1, &cost);
		add_move(tree, v, &places[k], &final, 1, &on);
		if (k && cost.bytes + on.bytes >= fewest)
			continue;
		fewest = cost.bytes + on.bytes;
		least = cost;
		best = places[k];
	}
	sum->bytes += least.bytes;
	sum->seconds += least.seconds;
	return best;
}

/* What is used several times is moved once, to where propagation put it. */
static Placement
settle_alone(const Tree *tree, const Member *member, const Placement *at, Total *sum)
{
	Placement final = final_of(member->value);

	if (member == tree->members || member->value->uses == 1)
		return *at;
	add_move(tree, member->value, at, &final, 1, sum);
	return final;
}

/* Member *k and what is below it, each leaf as it is planned alone: where its result
   is then. */
static Placement
add_alone(Tree *tree, int *k, Total *sum)
{
	const Member *member = &tree->members[(*k)++];
	const Op *op = member->value->def;
	Placement final = final_of(member->value), at[2], made;
	const Member *made_of[2];

	if (member->role == ROLE_leaf) {
		at[0] = add_leaf(tree, op, &final, sum);
		add_move(tree, member->value, &at[0], &final, -1, sum);
		return settle_alone(tree, member, &at[0], sum);
	}
	if (member->role != ROLE_inner)
		return final;
	for (int i = 0; i < op->noperands; i++) {
		made_of[i] = &tree->members[*k];
		at[i] = add_alone(tree, k, sum);
	}
	if (combines(op, tree->combiner))
		final = meet(tree, op, at, sum);
	for (int i = 0; i < op->noperands && !combines(op, tree->combiner); i++) {
		Placement operand = final_of(op->operands[i]);
		add_move(tree, op->operands[i], &at[i], &operand, 1, sum);
	}
	if (!combines(op, tree->combiner) && place_made(tree, op, NULL, NULL, &made))
		final = made;
	for (int i = 0; i < op->noperands; i++) {
		bool added = ops[op->kind].pointwise;
		if (added)
			add_read(tree, made_of[i], &final, sum);
		if (made_of[i]->role == ROLE_inner
			&& !(added && placement_equal(&at[i], &final)))
			add_write(tree, made_of[i]->value, &at[i], sum);
	}
	return settle_alone(tree, member, &final, sum);
}

static Total
price_alone(Tree *tree)
{
	const Value *root = tree->members[0].value;
	Placement final = final_of(root);
	Total sum = {0};
	int k = 0;
	Placement at = add_alone(tree, &k, &sum);

	add_write(tree, root, &at, &sum);
	add_move(tree, root, &at, &final, 1, &sum);
	forget_guesses(&tree->guesses);
	return sum;
}

/* ---- layouts ------------------------------------------------------------------ */

/* Axes on which some leaf has its sums split as its operands are. */
static int
axes_of_sums(const Tree *tree, AxisList *lists)
{
	Partitioner *p = tree->p;
	int n = 0;

	for (int k = 0; k < tree->n; k++) {
		const Op *op = tree->members[k].value->def;
		bool leaf = tree->members[k].role == ROLE_leaf;
		const Rule *r = leaf ? rule_book_get(p->rules, op) : NULL;
		for (int i = 0; r && i < op->noperands && n < MAX_OVER; i++) {
			Assignment *factors = NEW_ARRAY(p->arena, Assignment, r->nfactors + 1);
			Placement at = placement_close(op->operands[i]->placement);
			AxisList over = {0};
			tensor_assignment(r, i, &at, factors);
			for (int f = 0; f < r->nfactors; f++)
				if (r->factors[f].kind == F_reduce)
					axes_append_all(&over, &factors[f]);
			bool known = !over.n;
			for (int l = 0; l < n; l++)
				known |= axes_equal(&lists[l], &over);
			if (!known)
				lists[n++] = over;
		}
	}
	return n;
}

/* Where propagation put it, whatever it is drawn to. */
static Placement
inferred(const Tree *tree, const Value *v)
{
	const Source *s = source_of(tree->p, v);

	return s->drawn ? s->inferred : final_of(v);
}

/* Where all members are with their sums left partial over the axes: each where it is
   by itself, or all that is combined element by element where `one` is.  NULL if one that is
   met again would be in two places. */
static Placement *
lay_out(const Tree *tree, const AxisList *over, const Placement *one)
{
	Placement *at = NEW_ARRAY(tree->p->arena, Placement, tree->n);
	AxisList none = {0};

	for (int k = 0; k < tree->n; k++) {
		const Member *member = &tree->members[k];
		const Op *user = tree->members[member->parent].value->def;
		bool inside = k && ops[user->kind].pointwise;
		Placement own = one && !k ? *one : inferred(tree, member->value);
		bool with = inside && (one || member->role > ROLE_inner);
		at[k] = with ? at[member->parent] : partial_over(&own, over, tree->combiner);
		if (member->role == ROLE_factor)
			placement_set_unreduced(&at[k], &none, C_add);
		if (member->role == ROLE_again && !placement_equal(&at[k], &at[member->first]))
			return NULL;
	}
	return at;
}

/* What takes less time and does not move more becomes the best.  One sum alone is
   left as it is where nothing less would move. */
static void
try_layout(Tree *tree, Placement *at, int leaves, Total *least, Placement **best)
{
	if (!at)
		return;
	Total sum = price_layout(tree, at);
	if (sum.bytes > least->bytes || sum.seconds >= least->seconds
		|| (leaves < 2 && sum.bytes >= least->bytes))
		return;
	*least = sum;
	*best = at;
}

static void
add_place(Placement *places, int *n, const Placement *at)
{
	for (int i = 0; i < *n; i++)
		if (placement_equal(&places[i], at))
			return;
	if (*n < MAX_ONES)
		places[(*n)++] = *at;
}

/* Is all between it and the root element by element? */
static bool
is_added_to_root(const Tree *tree, int k)
{
	while (k) {
		k = tree->members[k].parent;
		if (!ops[tree->members[k].value->def->kind].pointwise)
			return false;
	}
	return true;
}

/* Where the root is wanted, where it or one of its operands is made, where leaves that are
   added up to it are by themselves. */
static int
places_of_sums(const Tree *tree, Placement *places)
{
	const Value *root = tree->members[0].value;
	Placement at = final_of(root);
	int n = 0;

	add_place(places, &n, &at);
	at = inferred(tree, root);
	add_place(places, &n, &at);
	for (int i = 0; i < root->def->noperands && ops[root->def->kind].pointwise; i++) {
		at = inferred(tree, root->def->operands[i]);
		add_place(places, &n, &at);
	}
	for (int k = 0; k < tree->n; k++)
		if (tree->members[k].role == ROLE_leaf && is_added_to_root(tree, k)
			&& place_made(tree, tree->members[k].value->def, NULL, NULL, &at))
			add_place(places, &n, &at);
	return n;
}

/* All in one place, or each where it is, in parts or, in one place, whole; NULL where none is
   better than each planned alone. */
static Placement *
best_layout(Tree *tree, int leaves)
{
	AxisList lists[MAX_OVER + 1];
	Placement *best = NULL, ones[MAX_ONES];
	int n = axes_of_sums(tree, lists), nones = places_of_sums(tree, ones);
	Total least = price_alone(tree);

	lists[n] = (AxisList){0};
	for (int i = 0; i <= n; i++) {
		if (lists[i].n)
			try_layout(tree, lay_out(tree, &lists[i], NULL), leaves, &least, &best);
		for (int k = 0; k < nones; k++)
			try_layout(tree, lay_out(tree, &lists[i], &ones[k]), leaves, &least,
				&best);
	}
	return best;
}

/* Where other users of what the leaves are made of will want it; of those in sums that are
   still to be looked at that is not known. */
static void
find_tree_wants(Tree *tree, const Summed *of)
{
	Partitioner *p = tree->p;

	for (int k = 0; k < tree->n; k++) {
		const Op *op = tree->members[k].value->def;
		for (int i = 0; tree->members[k].role == ROLE_leaf && i < op->noperands; i++) {
			Value *v = op->operands[i];
			Source *s = source_of(p, v);
			Placement final = final_of(v);
			if (s->wants || value_is_literal(v))
				continue;
			guess_form(p, &tree->guesses, v, &final);
			for (int u = 0; p->with.wants && u < s->nusers; u++) {
				const Value *made = s->users[u]->nresults == 1
					? s->users[u]->results[0]
					: NULL;
				if (!made || !of[made->id].inside || of[made->id].settled)
					add_want(p, v, s->users[u]);
			}
			price_wants(p, v);
			p->swayed |= s->wants != NULL;
		}
	}
	forget_guesses(&tree->guesses);
}

static void
settle(const Tree *tree, Summed *of)
{
	for (int k = 0; k < tree->n; k++) {
		const Op *op = tree->members[k].value->def;
		of[tree->members[k].value->id].settled = true;
		for (int i = 0; tree->members[k].role == ROLE_leaf && i < op->noperands; i++)
			source_of(tree->p, op->operands[i])->wants = NULL;
	}
}

static void
draw_tree(const Tree *tree, const Placement *at, bool *taken)
{
	for (int k = 0; k < tree->n; k++) {
		Value *v = tree->members[k].value;
		if (tree->members[k].role > ROLE_inner || tree->members[k].role == ROLE_again)
			continue;
		taken[v->id] = true;
		source_of(tree->p, v)->parts = &at[k];
		if (k && v->uses > 1)
			draw_to(tree->p, v, &at[k]);
		else if (k)
			draw_in(tree->p, v, &at[k], false);
	}
}

/* In the order in which they are looked for. */
typedef enum TreeKind {
	TREES_shared, /* with members that are used several times */
	TREES_added,  /* of whatever is added */
	TREES_sums,   /* of sums alone, that are not of the second kind */
	TREES_COUNT
} TreeKind;

static bool
is_root(const Summed *sums, TreeKind kind)
{
	if (sums->leaves + sums->wholes < 2)
		return false;
	if (kind == TREES_shared)
		return sums->shared && !sums->nopen;
	return kind == TREES_added || !(sums->wholes || sums->tried);
}

/* Trees of the kind, in the order of the text. */
static void
draw_trees(Partitioner *p, Op *const *all, Summed *of, TreeKind kind, bool *taken)
{
	const Module *m = p->module;
	bool *seen = NEW_ARRAY(p->arena, bool, m->nvalues + 1);
	Tree *trees = NULL;
	int n = 0;

	for (int i = m->nops; i-- > 0;) {
		Op *op = all[i];
		Value *v = op->nresults == 1 ? op->results[0] : NULL;
		const Summed *s = v ? &of[v->id] : NULL;
		if (!s || seen[v->id] || taken[v->id] || !is_root(s, kind))
			continue;
		Tree tree = {.p = p,
			.combiner = s->combiner,
			.shared = kind == TREES_shared,
			.leaves = s->leaves};
		collect(&tree, v, ROLE_inner, 0, of);
		for (int k = 0; k < tree.n; k++)
			seen[tree.members[k].value->id] |= tree.members[k].role <= ROLE_inner;
		of[v->id].tried = true;
		APPEND(p->arena, trees, n, tree);
	}
	while (n-- > 0) {
		Tree *tree = &trees[n];
		find_tree_wants(tree, of);
		const Placement *at = best_layout(tree, of[tree->members[0].value->id].leaves);
		settle(tree, of);
		if (at)
			draw_tree(tree, at, taken);
	}
}

/* Fills in `of`, by value id. */
static void
find_summed(Partitioner *p, Op *const *all, Summed *of, bool shared)
{
	for (int id = 0; id < p->module->nops; id++) {
		const Op *op = all[id];
		if (op->nresults != 1)
			continue;
		Summed *s = &of[op->results[0]->id];
		*s = summed(p, op, of, shared);
		for (int i = 0; i < op->noperands; i++)
			of[op->operands[i]->id].inside |= s->members > 1;
	}
}

/* Where all together do not, sums that nothing else is added to may do better. */
bool
draw_sums(Partitioner *p)
{
	const Module *m = p->module;
	Op **all = NEW_ARRAY(p->arena, Op *, m->nops + 1);
	bool *taken = NEW_ARRAY(p->arena, bool, m->nvalues + 1);
	Summed *of = NULL;

	for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
		all[op->id] = op;
	for (int kind = 0; kind < TREES_COUNT; kind++) {
		if (kind <= TREES_added) {
			of = NEW_ARRAY(p->arena, Summed, m->nvalues + 1);
			find_summed(p, all, of, kind == TREES_shared);
		}
		draw_trees(p, all, of, (TreeKind)kind, taken);
	}
	for (int i = 0; i < m->nvalues; i++)
		if (taken[i])
			return true;
	return false;
}

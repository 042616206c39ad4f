/*
 * sums.c - what is added to other partial sums is combined once, after the sum.
 *
 *   dx = dq Wq + dk Wk + dv Wv      heads split over X: each product is partial
 *
 * By itself each product may do better with its operands gathered than with an
 * all-reduce of its own; three of them share one.  So a tree of additions (maxima
 * ...) over products and reductions, each used by the next alone, is priced as a
 * whole: every leaf as it would be planned alone, and every leaf left partial over
 * the axes that split the sums of one of them.  If that is better, all of the tree
 * but its root is drawn to the partial placement.
 *
 * What operands will have become is not known yet: they are taken to be where
 * propagation put them.
 */
#include "shard/partition/partition.h"

enum {
	MAX_LEAVES = 256, /* of a tree; longer sums are several */
	MAX_OVER = 4,	  /* lists of axes tried for a tree */
};

typedef struct Member {
	Op *op;
	bool leaf;
} Member;

typedef struct Tree {
	Partitioner *p;
	Combiner combiner;
	Member *members; /* each before those it adds */
	int n;
} Tree;

typedef struct Total {
	double bytes, seconds;
} Total;

/* ---- trees ------------------------------------------------------------------ */

/* Does the op combine partial results of this kind, given those of all operands? */
static bool
combines(const Op *op, Combiner combiner)
{
	return ops[op->kind].pointwise && op->noperands == 2
		&& partial_through(op, 0, combiner) == THROUGH_together;
}

/* A leaf of such a tree: its own sums are those of its split factors. */
static bool
makes_sums(Partitioner *p, const Op *op, Combiner *combiner)
{
	const Rule *r = op->nbodies ? NULL : rule_book_get(p->rules, op);
	bool reduces = false;

	for (int f = 0; r && f < r->nfactors; f++)
		reduces |= r->factors[f].kind == F_reduce;
	if (reduces)
		*combiner = r->combiner;
	return reduces;
}

/* What tree a value is the root of: of how many leaves, and what combines them. */
typedef struct Summed {
	int leaves;
	Combiner combiner;
} Summed;

static Summed
summed(Partitioner *p, const Op *op, const Summed *of)
{
	Summed s = {.leaves = 0};

	if (op->mode == MODE_explicit || op->nresults != 1 || op_is_identity(op)
		|| op->results[0]->placement.nunreduced)
		return s;
	if (makes_sums(p, op, &s.combiner)) {
		s.leaves = 1;
		return s;
	}
	for (int i = 0; i < op->noperands; i++) {
		const Value *v = op->operands[i];
		const Summed *x = &of[v->id];
		if (!v->def || v->uses != 1 || !x->leaves || (i && x->combiner != s.combiner))
			return (Summed){0};
		s.leaves += x->leaves;
		s.combiner = x->combiner;
	}
	bool moved = op->noperands == 1 && ops[op->kind].partial == PARTIAL_move;
	bool tree = s.leaves && s.leaves <= MAX_LEAVES && (moved || combines(op, s.combiner));
	return tree ? s : (Summed){0};
}

static void
collect(Tree *tree, Op *op, bool *taken)
{
	Combiner combiner;
	Member member = {op, makes_sums(tree->p, op, &combiner)};

	taken[op->results[0]->id] = true;
	APPEND(tree->p->arena, tree->members, tree->n, member);
	for (int i = 0; i < op->noperands && !member.leaf; i++)
		collect(tree, op->operands[i]->def, taken);
}

/* ---- prices ------------------------------------------------------------------ */

/* Where propagation put it, but for the axes that its sum is left partial over. */
static Placement
partial_over(const Value *v, const AxisList *over, Combiner combiner)
{
	Placement to = placement_close(v->placement);

	for (int d = 0; d < to.rank; d++) {
		AxisList axes = placement_dim(&to, d), kept = {0};
		for (int i = 0; i < axes.n; i++)
			if (axes_can_coexist(over, axes.a[i]))
				axes_append(&kept, axes.a[i]);
		placement_set_dim(&to, d, &kept);
	}
	placement_set_unreduced(&to, over, combiner);
	return to;
}

/* A leaf as it is planned if its result is wanted in `to`; where it makes it. */
static Placement
add_leaf(Partitioner *p, const Op *op, const Placement *to, Total *sum)
{
	Form *guesses = NEW_ARRAY(p->arena, Form, op->noperands + 1);

	for (int i = 0; i < op->noperands; i++) {
		Value *v = op->operands[i];
		Source *s = source_of(p, v);
		if (s->forms)
			continue;
		guesses[i].value = v;
		s->final = placement_close(v->placement);
		s->forms = &guesses[i];
		s->at_final = true;
	}
	source_of(p, op->results[0])->final = *to;
	p->op = op;
	p->rule = rule_book_get(p->rules, op);
	Choice c = choose_once(p);
	sum->bytes += c.bytes;
	sum->seconds += c.seconds;
	for (int i = 0; i < op->noperands; i++) {
		Source *s = source_of(p, op->operands[i]);
		if (s->forms != &guesses[i])
			continue;
		s->forms = NULL;
		s->at_final = false;
	}
	return choice_tensor(p, &c, op->noperands);
}

static void
add_move(const Tree *tree, const Op *member, const Placement *from, const Placement *to,
	int times, Total *sum)
{
	const ReshardPlan *plan =
		reshard_plan(tree->p->resharder, &member->results[0]->type, from, to);

	sum->bytes += times * plan->bytes;
	sum->seconds += times * plan->seconds;
}

static void
add_addition(Partitioner *p, const Op *op, const Placement *at, Total *sum)
{
	Type part = placement_local(&op->results[0]->type, at), operands[] = {part, part};

	sum->seconds += step_cost(&p->module->mesh, op, operands, &part).seconds;
}

static Placement
final_of(const Op *member)
{
	return placement_close(member->results[0]->placement);
}

/* Every leaf made there, all added up there, the sum moved to where it is wanted. */
static Total
price_layout(const Tree *tree, const Placement *at)
{
	Placement final = final_of(tree->members[0].op);
	Total sum = {0};

	add_move(tree, tree->members[0].op, &at[0], &final, 1, &sum);
	for (int k = 0; k < tree->n; k++)
		if (tree->members[k].leaf)
			add_leaf(tree->p, tree->members[k].op, &at[k], &sum);
		else
			add_addition(tree->p, tree->members[k].op, &at[k], &sum);
	return sum;
}

/* Where the operands of an addition meet: where the sum is wanted, or one of them is;
   what moves the fewest bytes with the way on to where it is wanted. */
static Placement
meet(const Tree *tree, const Op *member, const Placement *at, Total *sum)
{
	Placement final = final_of(member), places[] = {final, at[0], at[1]}, best = final;
	Total least = {0};
	double fewest = 0;

	for (int k = 0; k < 3; k++) {
		Total cost = {0}, on = {0};
		for (int i = 0; i < 2; i++)
			add_move(tree, member, &at[i], &places[k], 1, &cost);
		add_move(tree, member, &places[k], &final, 1, &on);
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

/* Member *k and what is below it, each leaf as it is planned alone: where its result
   is then. */
static Placement
add_alone(const Tree *tree, int *k, Total *sum)
{
	const Member *member = &tree->members[(*k)++];
	const Op *op = member->op;
	Placement final = final_of(op), at[2];

	if (member->leaf) {
		at[0] = add_leaf(tree->p, op, &final, sum);
		add_move(tree, op, &at[0], &final, -1, sum);
		return at[0];
	}
	for (int i = 0; i < op->noperands; i++)
		at[i] = add_alone(tree, k, sum);
	if (op->noperands == 1) {
		Placement operand = final_of(op->operands[0]->def);
		add_move(tree, op->operands[0]->def, &at[0], &operand, 1, sum);
	} else {
		final = meet(tree, op, at, sum);
	}
	add_addition(tree->p, op, &final, sum);
	return final;
}

static Total
price_alone(const Tree *tree)
{
	Placement final = final_of(tree->members[0].op);
	Total sum = {0};
	int k = 0;
	Placement at = add_alone(tree, &k, &sum);

	add_move(tree, tree->members[0].op, &at, &final, 1, &sum);
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
		const Op *op = tree->members[k].op;
		const Rule *r = tree->members[k].leaf ? rule_book_get(p->rules, op) : NULL;
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

static void
draw_tree(const Tree *tree)
{
	Arena *a = tree->p->arena;
	AxisList lists[MAX_OVER];
	Placement *best = NULL;
	int n = axes_of_sums(tree, lists);
	Total least = n ? price_alone(tree) : (Total){0};

	for (int i = 0; i < n; i++) {
		Placement *at = NEW_ARRAY(a, Placement, tree->n);
		for (int k = 0; k < tree->n; k++)
			at[k] = partial_over(tree->members[k].op->results[0], &lists[i],
				tree->combiner);
		Total sum = price_layout(tree, at);
		if (sum.bytes > least.bytes || sum.seconds >= least.seconds)
			continue;
		least = sum;
		best = at;
	}
	for (int k = 1; k < tree->n && best; k++) {
		Value *v = tree->members[k].op->results[0];
		draw_in(tree->p, v, &best[k], false);
		source_of(tree->p, v)->summed = true;
	}
}

void
draw_sums(Partitioner *p)
{
	const Module *m = p->module;
	Op **all = NEW_ARRAY(p->arena, Op *, m->nops + 1);
	Summed *of = NEW_ARRAY(p->arena, Summed, m->nvalues + 1);
	bool *taken = NEW_ARRAY(p->arena, bool, m->nvalues + 1);

	for (Op *op = m->entry->first; op; op = op_following(op, m->entry)) {
		all[op->id] = op;
		if (op->nresults == 1)
			of[op->results[0]->id] = summed(p, op, of);
	}
	for (int i = m->nops; i-- > 0;) {
		Op *op = all[i];
		const Summed *s = op->nresults == 1 ? &of[op->results[0]->id] : NULL;
		if (!s || s->leaves < 2 || taken[op->results[0]->id])
			continue;
		Tree tree = {.p = p, .combiner = s->combiner};
		collect(&tree, op, taken);
		draw_tree(&tree);
	}
}

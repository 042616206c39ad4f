/*
 * nest.c - the loop nest of a kernel once everything is fused into it: loops
 * that were split are gone, those that count on are merged, and every node
 * knows how deep it stands and how many reductions it waits for.
 *
 *   i0 < 4, i1 < 8: load x[8 i0 + i1], store y[8 i0 + i1]
 *   becomes  i1 < 32: load x[i1], store y[i1]
 */
#include <string.h>
#include "sched/fuse/kernel.h"

/* ---- nodes in order ----------------------------------------------------- */

/* Depth first from the root: arguments, index terms, then the node. */
static void
order_node(Node *n, Node ***end, int *id)
{
	if (n->id)
		return;
	n->id = -1;
	for (int i = 0; i < n->nargs; i++)
		order_node(n->args[i], end, id);
	for (const Term *t = n->index->terms; t; t = t->next)
		order_node(t->at, end, id);
	n->id = ++*id;
	**end = n;
	*end = &n->next;
}

static void
order_nodes(Kernel *k)
{
	Node *first = NULL, **end = &first;
	int id = 0;

	for (Node *n = k->nodes; n; n = n->next)
		n->id = 0;
	for (const Term *t = k->store.terms; t; t = t->next)
		order_node(t->at, &end, &id);
	order_node(k->root, &end, &id);
	*end = NULL;
	k->nodes = first;
	k->nnodes = id;
}

/* The first node that loads the same element, or clamps the same index; the nodes
   before it are known. */
static Node *
shared(const Kernel *k, Node *n)
{
	bool load = n->kind == NODE_load;
	Node *x = load || n->kind == NODE_clamp ? k->nodes : n;

	while (x->kind != n->kind
		|| (load ? x->value != n->value || !affine_equal(x->index, n->index)
			 : x->limit != n->limit || x->args[0] != n->args[0]))
		x = x->next;
	return x;
}

/* Shared terms are changed more than once, to the same. */
static void
share_terms(const Kernel *k, const Affine *index)
{
	for (Term *t = index->terms; t; t = t->next)
		t->at = shared(k, t->at);
}

/* ---- loops -------------------------------------------------------------- */

static void
drop_loop(Kernel *k, int position)
{
	int loop = k->order[position];

	k->store.coef[loop] = 0;
	for (Node *n = k->nodes; n; n = n->next)
		n->index->coef[loop] = 0;
	k->norder--;
	memmove(&k->order[position], &k->order[position + 1],
		sizeof k->order[0] * (size_t)(k->norder - position));
	k->outer -= position < k->outer;
}

/* Does the loop `high` count on where `low` ends, in every index? */
static bool
may_merge(const Kernel *k, int high, int low)
{
	int64_t extent = k->loops[low].extent;

	if (k->loops[high].group != k->loops[low].group
		|| k->store.coef[high] != k->store.coef[low] * extent)
		return false;
	for (const Node *n = k->nodes; n; n = n->next)
		if (n->index->coef[high] != n->index->coef[low] * extent)
			return false;
	return true;
}

/* ---- depth, stage, cost ------------------------------------------------- */

static int
larger(int a, int b)
{
	return a > b ? a : b;
}

/* What is known once a row costs an inner node nothing. */
static void
wait_for(const Kernel *k, Node *n, const Node *other)
{
	n->depth = larger(n->depth, other->depth);
	n->stage = larger(n->stage, other->stage);
	if (other->depth > k->outer)
		n->cost += other->cost;
}

static void
place_node(Kernel *k, Node *n)
{
	n->depth = k->norder;
	while (n->depth && !n->index->coef[k->order[n->depth - 1]])
		n->depth--;
	n->stage = 0;
	n->cost = n->kind == NODE_compute ? ops[n->op->kind].weight : 0;
	for (int i = 0; i < n->nargs; i++)
		wait_for(k, n, n->args[i]);
	for (const Term *t = n->index->terms; t; t = t->next)
		wait_for(k, n, t->at);
	if (n->kind == NODE_reduce) {
		n->depth = k->outer;
		n->stage++;
		n->cost = 0;
	} else if (n->stage && n->depth < k->outer) {
		n->depth = k->outer;
	}
	k->stages = larger(k->stages, n->stage);
}

void
kernel_finish(Kernel *k)
{
	order_nodes(k);
	affine_refine(k, &k->store);
	for (Node *n = k->nodes; n; n = n->next)
		affine_refine(k, n->index);

	/* Loads of the same element, at the same clamped index, become one. */
	for (Node *n = k->nodes; n; n = n->next) {
		for (int i = 0; i < n->nargs; i++)
			n->args[i] = shared(k, n->args[i]);
		share_terms(k, n->index);
	}
	share_terms(k, &k->store);
	order_nodes(k);

	for (int p = k->norder - 1; p >= 0; p--)
		if (k->loops[k->order[p]].extent == 1)
			drop_loop(k, p);
	for (int p = k->norder - 2; p >= 0; p--) {
		int high = k->order[p], low = k->order[p + 1];
		if (!may_merge(k, high, low))
			continue;
		k->loops[low].extent *= k->loops[high].extent;
		drop_loop(k, p);
	}

	if (!k->reduces && k->kind != KERNEL_scan)
		k->outer = k->norder;
	k->stages = 0;
	for (Node *n = k->nodes; n; n = n->next)
		place_node(k, n);
}

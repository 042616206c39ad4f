/*
 * stopped.c - collectives that have a product and are not done in pieces with it, for what
 * stands between them.
 *
 *   x2 = all-gather(x)
 *   s  = sort(x2)          needs all of it: it stands between
 *   y  = dot(s, W)
 *
 * Where a product reads what is gathered and something else, too, that does; so does the other
 * of two sums over devices that take what a product makes.
 */
#include "sched/decompose/find.h"

enum { FAR = 64 }; /* ops, between a collective and a product that is said to be its */

/* The nearest product that reads what is made of the op's result; NULL: it is far. */
static Op *
product_behind(const Finding *f, const Op *op)
{
	const Op *line[FAR + 1] = {op};
	int n = 1;

	for (int i = 0; i < n; i++) {
		const Value *v = line[i]->nresults ? line[i]->results[0] : NULL;
		for (const Reader *r = v ? f->readers[v->id] : NULL; r; r = r->next) {
			if (r->op->block != op->block || op_communicates(r->op))
				continue;
			if (op_is_product(r->op))
				return r->op;
			if (n <= FAR)
				line[n++] = r->op;
		}
	}
	return NULL;
}

/* That of which a collective's operand is made, by what may be between. */
static Op *
product_before(const Op *collective)
{
	const Op *line[FAR + 1] = {collective};
	int n = 1;

	for (int i = 0; i < n; i++)
		for (int k = 0; k < line[i]->noperands; k++) {
			Op *def = line[i]->operands[k]->def;
			if (!def || def->block != collective->block)
				continue;
			if (op_is_product(def))
				return def;
			if (may_be_between(def) && n <= FAR)
				line[n++] = def;
		}
	return NULL;
}

static void
add(Finding *f, Op *collective, Op *product, const Op *stop, const Op *end)
{
	Einsum e = {.collective = collective, .stop = stop, .beside = !end};

	if (!product || !stop || product->results[0]->no_placement)
		return;
	e.dots = NEW(f->arena, Op *);
	e.dots[e.ndots++] = product;
	APPEND(f->arena, f->found.v, f->found.n, e);
}

Einsums
einsums_stopped(Module *m, Arena *a)
{
	Finding f = finding_begin(m, a);

	for (Op *op = m->entry->first; op; op = op_following(op, m->entry)) {
		bool sums = op->kind == O_reduce_scatter || op->kind == O_all_reduce;
		bool gathers = op->kind == O_all_gather || op->kind == O_all_to_all;
		if ((!sums && !gathers) || axes_size(op->axes) < 2)
			continue;
		Walk w = {.from = op};
		if (gathers && !find_between(&f, &w) && w.stop)
			add(&f, op, product_behind(&f, op), w.stop, product_behind(&f, w.stop));
		Op *dot = gathers && op->kind == O_all_gather ? NULL : product_before(op);
		w = (Walk){.from = dot, .behind = true};
		if (dot && find_between(&f, &w) && w.nends > 1)
			w.stop = w.ends[w.ends[0] == op];
		if (w.stop != op)
			add(&f, op, dot, w.stop, NULL);
	}
	return f.found;
}

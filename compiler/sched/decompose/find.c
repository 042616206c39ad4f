/*
 * find.c - the einsums of a device program that could be done a piece at a time.
 *
 *   x2 = all-gather(x), dim 1      read by the dot alone: each piece of x is a part of
 *   y  = dot(x2, W)                the contraction, the pieces of y are added up
 *
 * Those that differ in names alone are alike: the layers of a program.  Those of a loop are not
 * like those outside of one, which are beside more.
 */
#include <stdlib.h>
#include "sched/decompose/find.h"

/* ---- dims of a dot ------------------------------------------------------- */

static int
free_before(const Op *dot, int operand, int dim)
{
	const Ints *batch = op_ints(dot, operand ? A_rhs_batch : A_lhs_batch);
	const Ints *summed = op_ints(dot, operand ? A_rhs_contract : A_lhs_contract);
	int n = 0;

	for (int d = 0; d < dim; d++)
		n += !ints_contain(batch, d) && !ints_contain(summed, d);
	return n;
}

DotDim
dot_dim(const Op *dot, int operand, int dim)
{
	const Ints *batch[] = {op_ints(dot, A_lhs_batch), op_ints(dot, A_rhs_batch)};
	const Ints *summed[] = {op_ints(dot, A_lhs_contract), op_ints(dot, A_rhs_contract)};
	int i = ints_find(batch[operand], dim), k = ints_find(summed[operand], dim);

	if (i >= 0)
		return (DotDim){(int)batch[!operand]->v[i], i};
	if (k >= 0)
		return (DotDim){(int)summed[!operand]->v[k], -1};
	int left = operand ? free_before(dot, 0, dot->operands[0]->type.rank) : 0;
	return (DotDim){-1, batch[0]->n + left + free_before(dot, operand, dim)};
}

ResultDim
dot_result_dim(const Op *dot, int dim)
{
	for (int operand = 0; operand < 2; operand++)
		for (int d = 0; d < dot->operands[operand]->type.rank; d++) {
			DotDim is = dot_dim(dot, operand, d);
			if (is.result == dim)
				return (ResultDim){operand, d, is.other};
		}
	die("a dot has no dim %d", dim);
}

/* ---- einsums ------------------------------------------------------------- */

static void
text_dot(Text *t, const Op *dot)
{
	static const AttrKind attrs[] = {A_lhs_batch, A_rhs_batch, A_lhs_contract,
		A_rhs_contract};

	for (int i = 0; i < 2; i++)
		text_shape(t, &dot->operands[i]->type);
	text_shape(t, &dot->results[0]->type);
	for (size_t i = 0; i < sizeof attrs / sizeof *attrs; i++) {
		const Ints *list = op_ints(dot, attrs[i]);
		text_add(t, " ");
		for (int k = 0; k < list->n; k++)
			text_printf(t, "%lld,", (long long)list->v[k]);
	}
}

/* With the dims that it spreads, turns or sums over, of calls those of their ops. */
static void
text_between(Text *t, const Op *op)
{
	const Ints *dims = op_has(op, A_dims) ? op_ints(op, A_dims) : NULL;

	text_printf(t, " %s ", op->composite ? op->composite : ops[op->kind].name);
	text_shape(t, &op->results[0]->type);
	for (int i = 0; dims && i < dims->n; i++)
		text_printf(t, " %lld", (long long)dims->v[i]);
	for (int i = 0; i < op->nbodies; i++)
		for (const Op *in = op->bodies[i]->first; in != op->bodies[i]->last;
			in = in->next)
			text_between(t, in);
}

/* Those of what the user moves stay as they were written. */
static void
add(Finding *f, Einsum e)
{
	Text t = {0};
	bool manual =
		e.collective->kind != O_all_to_all && e.collective->results[0]->no_placement;

	for (int i = 0; i < e.ndots; i++)
		manual |= e.dots[i]->results[0]->no_placement;
	if (manual)
		return;
	text_printf(&t, "%s %d %d %d %d ", ops[e.collective->kind].name, e.dim, e.turns,
		e.behind, e.collective->block == f->module->entry);
	text_axes(&t, &f->module->mesh, e.collective->axes);
	for (int i = 0; i < e.ndots; i++) {
		const Op *dot = e.dots[i];
		text_add(&t, gathered_operand(&e, dot) == 0 ? " left " : " right ");
		text_dot(&t, dot);
	}
	for (int i = 0; i < e.nbetween; i++)
		text_between(&t, e.between[i]);
	e.key = text_take(&t, f->arena);
	APPEND(f->arena, f->found.v, f->found.n, e);
}

static bool
reduces(const Op *collective)
{
	return collective->kind == O_reduce_scatter || collective->kind == O_all_reduce;
}

static bool
adds_up(const Op *collective)
{
	return reduces(collective) && op_int(collective, A_combiner) == C_add;
}

static bool
is_split(const Placement *p, AxisRef axis)
{
	for (int d = 0; d <= p->rank; d++) {
		AxisList axes = placement_axes(p, d);
		for (int i = 0; i < axes.n; i++)
			if (axis_contains(axes.a[i], axis))
				return true;
	}
	return false;
}

/*
 * Each device adds the pieces up from its own on.  Of floats devices would have other last
 * bits of what they all should have.
 */
static bool
differs(const Op *gather, const Op *dot, int i, int dim)
{
	const Value *v = dot->results[0];
	bool differ = false;

	if (!dtype_is_float(v->type.dtype) || dot_dim(dot, i, dim).result >= 0)
		return false;
	for (int k = 0; k < gather->axes->n; k++)
		differ |= !is_split(&v->placement, gather->axes->a[k]);
	return differ;
}

/* ---- what is between ------------------------------------------------------- */

static bool
ends_walk(const Walk *w, const Op *op)
{
	return w->behind ? op_communicates(op) : op_is_product(op);
}

/* Ops that are followed from a collective, or a product: each is looked up among the others. */
enum { MOST_BETWEEN = 32 };

/* False: something else reads it, or an end reads two of them. */
static bool
walk_readers(Finding *f, Walk *w, const Value *v)
{
	for (const Reader *r = f->readers[v->id]; r; r = r->next) {
		Op *op = r->op;
		bool end = ends_walk(w, op), seen = f->walk[op->id] == w->from;
		if ((end && seen) || op->block != w->from->block
			|| (!end && (!may_be_between(op) || w->nbetween == MOST_BETWEEN))) {
			w->stop = op;
			return false;
		}
		f->walk[op->id] = w->from;
		if (end)
			APPEND(f->arena, w->ends, w->nends, op);
		else if (!seen)
			APPEND(f->arena, w->between, w->nbetween, op);
	}
	return true;
}

static int
compare_ops(const void *a, const void *b)
{
	return (*(Op *const *)a)->id - (*(Op *const *)b)->id;
}

bool
find_between(Finding *f, Walk *w)
{
	bool goes = walk_readers(f, w, w->from->results[0]);

	for (int i = 0; goes && i < w->nbetween; i++)
		goes = walk_readers(f, w, w->between[i]->results[0]);
	if (!goes || !w->nends)
		return false;
	if (w->nbetween)
		qsort(w->between, (size_t)w->nbetween, sizeof(Op *), compare_ops);
	qsort(w->ends, (size_t)w->nends, sizeof(Op *), compare_ops);
	return true;
}

static bool
is_among(const Op *op, Op *const *list, int n)
{
	for (int i = 0; i < n; i++)
		if (list[i] == op)
			return true;
	return false;
}

static bool
is_of(const Einsum *e, const Op *op)
{
	return is_among(op, e->between, e->nbetween) || is_among(op, e->after, e->nafter)
		|| is_among(op, e->aside, e->naside);
}

/* What of an op's operands only these read. */
static void
add_aside(const Finding *f, Einsum *e, const Op *op)
{
	for (int i = 0; i < op->noperands; i++) {
		Op *def = op->operands[i]->def;
		if (!def || def->block != op->block || is_of(e, def)
			|| (!ops[def->kind].pointwise && def->kind != O_broadcast
				&& def->kind != O_dynamic_slice))
			continue;
		const Reader *r = f->readers[def->results[0]->id];
		while (r && is_of(e, r->op))
			r = r->next;
		if (!r)
			APPEND(f->arena, e->aside, e->naside, def);
	}
}

static void
find_aside(const Finding *f, Einsum *e)
{
	for (int i = e->nbetween; i-- > 0;)
		add_aside(f, e, e->between[i]);
	for (int i = e->nafter; i-- > 0;)
		add_aside(f, e, e->after[i]);
	for (int i = 0; i < e->naside && e->naside < MOST_BETWEEN; i++)
		add_aside(f, e, e->aside[i]);
}

/* ---- gathered, or exchanged ------------------------------------------------- */

/* Where pieces of what is gathered are in operands of products. */
static bool
gathered_turns(const Einsum *e)
{
	Cut *last = NEW_ARRAY(e->arena, Cut, e->ndots);

	if (e->collective->kind != O_all_gather
		|| !between_cut(e, (Cut){e->dim, 1}, axes_size(e->collective->axes), last))
		return false;
	for (int i = 0; i < e->ndots; i++) {
		const Op *dot = e->dots[i];
		e->dims[i] = last[i].dim;
		if (last[i].outer > 1
			|| differs(e->collective, dot, gathered_operand(e, dot), last[i].dim))
			return false;
	}
	return true;
}

/* Read by dots of its block alone, by each once. */
static void
find_gathered(Finding *f, Op *gather)
{
	Walk w = {.from = gather};
	Einsum e = {.collective = gather, .dim = (int)op_int(gather, A_dim), .arena = f->arena};

	if (!find_between(f, &w))
		return;
	e.dots = w.ends;
	e.ndots = w.nends;
	e.between = w.between;
	e.nbetween = w.nbetween;
	find_aside(f, &e);
	e.dims = NEW_ARRAY(f->arena, int, e.ndots);
	e.turns = gathered_turns(&e);
	add(f, e);
}

/* ---- a product whose result moves ------------------------------------------ */

/* Of an all-reduce the longest dim that has pieces; -1: none has. */
static int
dim_to_scatter(const Op *sum)
{
	const Type *type = &sum->results[0]->type;
	int64_t n = axes_size(sum->axes);
	int best = -1;

	if (sum->kind != O_all_reduce)
		return (int)op_int(sum, A_dim);
	for (int d = 0; d < type->rank; d++)
		if (type->dims[d] % n == 0 && (best < 0 || type->dims[d] > type->dims[best]))
			best = d;
	return best;
}

/* Where pieces of what is scattered are in the product. */
static bool
summed_turns(const Einsum *e)
{
	const Type *type = &e->dots[0]->results[0]->type;
	Cut last;

	if (!adds_up(e->collective) || e->dim < 0)
		return false;
	for (int d = 0; d < type->rank; d++)
		if (between_cut(e, (Cut){d, 1}, axes_size(e->collective->axes), &last)
			&& last.dim == e->dim && last.outer == 1) {
			e->dims[0] = d;
			return true;
		}
	return false;
}

/* What alone reads a value. */
static Op *
only_reader(const Finding *f, const Value *v)
{
	const Reader *r = f->readers[v->id];

	return r && !r->next ? r->op : NULL;
}

/* What is computed, or moved, of all of what comes out. */
static void
find_after(Finding *f, Einsum *e)
{
	Op *op = only_reader(f, e->collective->results[0]);

	while (op && e->nafter < MOST_BETWEEN && op->block == e->collective->block
		&& may_be_between(op) && !op->nbodies && op->kind != O_reduce) {
		APPEND(f->arena, e->after, e->nafter, op);
		op = only_reader(f, op->results[0]);
	}
}

static void
find_summed(Finding *f, Op *dot)
{
	Walk w = {.from = dot, .behind = true};
	Einsum e = {.ndots = 1, .behind = true, .arena = f->arena};

	if (!find_between(f, &w) || w.nends > 1)
		return;
	Op *sum = w.ends[0];
	bool exchanges = sum->kind == O_all_gather || sum->kind == O_all_to_all;
	if (axes_size(sum->axes) < 2 || (!exchanges && !adds_up(sum)))
		return;
	e.collective = sum;
	e.dim = dim_to_scatter(sum);
	e.dots = NEW(f->arena, Op *);
	e.dots[0] = dot;
	e.between = w.between;
	e.nbetween = w.nbetween;
	e.dims = NEW(f->arena, int);
	e.turns = summed_turns(&e);
	find_after(f, &e);
	find_aside(f, &e);
	add(f, e);
}

const char *
einsum_side(const Einsum *e)
{
	Value *const *operands = e->dots[0]->operands;

	for (int i = 0; i < 2; i++)
		if (!operands[i]->def || operands[i]->def->kind != O_all_gather)
			return "";
	return operands[0]->def == e->collective ? "left operand's " : "right operand's ";
}

/* ---- the module ---------------------------------------------------------- */

static void
find_readers(Finding *f)
{
	const Module *m = f->module;

	for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
		for (int i = 0; i < op->noperands; i++) {
			Reader **first = &f->readers[op->operands[i]->id];
			Reader *r = NEW(f->arena, Reader);
			*r = (Reader){op, i, *first};
			*first = r;
		}
}

Finding
finding_begin(Module *m, Arena *a)
{
	Finding f = {.module = m, .arena = a};

	module_number(m);
	f.readers = NEW_ARRAY(a, Reader *, m->nvalues + 1);
	f.walk = NEW_ARRAY(a, const Op *, m->nops + 1);
	find_readers(&f);
	return f;
}

static int
compare_einsums(const void *a, const void *b)
{
	const Einsum *x = a, *y = b;
	int first = x->collective->id, second = y->collective->id;

	return first == second ? x->behind - y->behind : first - second;
}

Einsums
einsums_find(Module *m, Arena *a)
{
	Finding f = finding_begin(m, a);

	for (Op *op = m->entry->first; op; op = op_following(op, m->entry)) {
		bool exchanges = op->kind == O_all_gather || op->kind == O_all_to_all;
		if (exchanges && axes_size(op->axes) > 1)
			find_gathered(&f, op);
		if (op_is_product(op))
			find_summed(&f, op);
	}
	if (f.found.n)
		qsort(f.found.v, (size_t)f.found.n, sizeof(Einsum), compare_einsums);
	return f.found;
}

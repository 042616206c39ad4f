/*
 * find.c - the einsums of a device program that could be done a piece at a time.
 *
 *   x2 = all-gather(x), dim 1      read by the dot alone: each piece of x is a part of
 *   y  = dot(x2, W)                the contraction, the pieces of y are added up
 *
 * Those that differ in names alone are alike: the layers of a program.  Those of a loop are not
 * like those outside of one, which are beside more.
 */
#include "sched/decompose/decompose.h"

/* The ops of its block that read a value; `elsewhere`: there are others. */
typedef struct Reader {
	Op *op;
	int operand;
	struct Reader *next;
} Reader;

typedef struct Finding {
	Module *module;
	Arena *arena;
	Reader **readers; /* by value id, last first */
	Einsums found;
} Finding;

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

/* Those of what the user moves stay as they were written. */
static void
add(Finding *f, Einsum e)
{
	Text t = {0};
	bool manual = e.collective->results[0]->no_placement;

	for (int i = 0; i < e.ndots; i++)
		manual |= e.dots[i]->results[0]->no_placement;
	if (manual)
		return;
	text_printf(&t, "%s %d %d %d ", ops[e.collective->kind].name, e.dim, e.turns,
		e.collective->block == f->module->entry);
	text_axes(&t, &f->module->mesh, e.collective->axes);
	for (int i = 0; i < e.ndots; i++) {
		const Op *dot = e.dots[i];
		bool left = dot->operands[0] == e.collective->results[0];
		text_add(&t, left ? " left " : " right ");
		text_dot(&t, dot);
	}
	e.key = text_take(&t, f->arena);
	APPEND(f->arena, f->found.v, f->found.n, e);
}

static bool
adds_up(const Op *collective)
{
	return op_int(collective, A_combiner) == C_add;
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
differs(const Op *gather, const Op *dot)
{
	int i = dot->operands[1] == gather->results[0];
	const Value *v = dot->results[0];
	bool differ = false;

	if (!dtype_is_float(v->type.dtype)
		|| dot_dim(dot, i, (int)op_int(gather, A_dim)).result >= 0)
		return false;
	for (int k = 0; k < gather->axes->n; k++)
		differ |= !is_split(&v->placement, gather->axes->a[k]);
	return differ;
}

/* Read by dots of its block alone, by each once. */
static void
find_gathered(Finding *f, Op *gather)
{
	const Value *v = gather->results[0];
	Einsum e = {.collective = gather, .dim = (int)op_int(gather, A_dim), .turns = true};

	for (const Reader *r = f->readers[v->id]; r; r = r->next) {
		const Op *dot = r->op;
		if (!op_is_product(dot) || dot->block != gather->block
			|| dot->operands[0] == dot->operands[1])
			return;
		e.turns &= !differs(gather, dot);
		e.ndots++;
	}
	int n = e.ndots;
	e.dots = NEW_ARRAY(f->arena, Op *, n + 1);
	for (const Reader *r = f->readers[v->id]; r; r = r->next)
		e.dots[--n] = r->op;
	if (e.ndots)
		add(f, e);
}

static bool
has_one_reader(const Finding *f, const Value *v)
{
	const Reader *r = f->readers[v->id];

	return r && !r->next;
}

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

static void
find_summed(Finding *f, Op *sum)
{
	Op *dot = sum->operands[0]->def;
	int dim = dim_to_scatter(sum);

	if (!dot || !op_is_product(dot) || dot->block != sum->block || !adds_up(sum)
		|| !has_one_reader(f, dot->results[0]))
		return;
	Einsum e = {.collective = sum, .ndots = 1, .dim = dim, .turns = dim >= 0};
	e.dots = NEW(f->arena, Op *);
	e.dots[0] = dot;
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

Einsums
einsums_find(Module *m, Arena *a)
{
	Finding f = {.module = m, .arena = a};

	module_number(m);
	f.readers = NEW_ARRAY(a, Reader *, m->nvalues + 1);
	find_readers(&f);
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry)) {
		if (!op_communicates(op) || axes_size(op->axes) < 2)
			continue;
		if (op->kind == O_all_gather)
			find_gathered(&f, op);
		else if (op->kind == O_reduce_scatter || op->kind == O_all_reduce)
			find_summed(&f, op);
	}
	return f.found;
}

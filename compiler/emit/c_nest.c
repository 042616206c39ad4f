/*
 * c_nest.c - the loops of one kernel as C.
 *
 *   for rows                                stage 0:  t4 = max over i1
 *           for inner loops  (stage 0)
 *           for inner loops  (stage 1)      stage 1:  t7 = sum of exp(x - t4)
 *           for inner loops  (last)         store exp(x - t4) / t7
 *
 * A node stands at the outermost level where its index is known.  What a
 * later stage needs again is computed again if that is cheap, else kept in a
 * row of scratch on the stack.
 *
 * Sums of floats along a long innermost loop go into 16 partial sums (element
 * i into number i % 16), which are then added pairwise: a fixed order that
 * vectorises.  Sums down columns keep one accumulator a column, a block of
 * columns at a time, in ascending order; integers need no care.
 */
#include <string.h>
#include "emit/c.h"

enum {
	LANES = 16,
	LONG_LOOP = 2 * LANES, /* worth lanes */
	COLUMNS = 256,	       /* of a block of accumulators */
	MAX_KEPT = 8192,       /* elements of all scratch rows of a kernel */
	EXPENSIVE = 8,	       /* cost from which a value is kept */
};

/* A line; those behind one that ends with { are further in, up to one of }. */
static void PRINTF_LIKE(2, 3) line(Nest *n, const char *fmt, ...)
{
	va_list ap;

	n->indent -= *fmt == '}';
	for (int i = 0; i < n->indent; i++)
		text_add(&n->text, "\t");
	va_start(ap, fmt);
	text_vprintf(&n->text, fmt, ap);
	va_end(ap);
	n->indent += n->text.s[n->text.n - 1] == '{';
	text_add(&n->text, "\n");
}

static int64_t
extent_of(const Nest *n, int position)
{
	return n->k->loops[n->k->order[position]].extent;
}

static void
open_loop(Nest *n, int position, int64_t first)
{
	line(n, "for (int64_t i%d = %lld; i%d < %lld; i%d++) {", position, (long long)first,
		position, (long long)extent_of(n, position), position);
}

/* ---- expressions -------------------------------------------------------- */

static void
add_term(Text *t, int64_t scale, char letter, int id)
{
	int64_t size = scale < 0 ? -scale : scale;

	text_add(t, !t->n ? (scale < 0 ? "-" : "") : scale < 0 ? " - " : " + ");
	if (size != 1)
		text_printf(t, "%lld * ", (long long)size);
	text_printf(t, "%c%d", letter, id);
}

/* The offset of a load is part of its pointer: `offset` is false there. */
static const char *
affine(const Nest *n, const Affine *index, bool offset)
{
	Text t = {0};

	for (int p = 0; p < n->k->norder; p++)
		if (index->coef[n->k->order[p]])
			add_term(&t, index->coef[n->k->order[p]], 'i', p);
	for (const Term *term = index->terms; term; term = term->next)
		add_term(&t, term->scale, 't', term->at->id);
	if (offset && index->offset)
		text_printf(&t, "%s%lld", !t.n || index->offset < 0 ? "" : " + ",
			(long long)index->offset);
	else if (!t.n)
		text_add(&t, "0");
	return text_take(&t, n->arena);
}

static const char *
argument(const Nest *n, const Node *x)
{
	if (x->kind != NODE_constant)
		return arena_printf(n->arena, "t%d", x->id);
	DType d = x->value->type.dtype;
	if (!x->value->type.rank)
		return c_constant(n->arena, d, op_int(x->op, A_value));
	return c_rounded(n->arena, d,
		arena_printf(n->arena, "%s[%s]", c_array(n->emitter, x->op),
			affine(n, x->index, true)));
}

static const char *
element(const Nest *n, const Node *x)
{
	int param = n->param_of[x->id];
	const char *index = affine(n, param < 0 ? &n->k->store : x->index, false);

	return param < 0 ? arena_printf(n->arena, "out[%s]", index)
			 : arena_printf(n->arena, "a%d[%s]", param, index);
}

static const char *
node_type(const Node *x)
{
	return x->value ? dtypes[x->value->type.dtype].compute : "int64_t";
}

enum { TRUTH_DEPTH = 6 };

/* Is it made of truth values and constants alone, in a few steps? */
static bool
is_truth(const Node *x, int depth)
{
	if (x->kind == NODE_constant || (x->value && x->value->type.dtype == D_pred))
		return true;
	for (int i = 0; i < x->nargs; i++)
		if (depth == 0 || !is_truth(x->args[i], depth - 1))
			return false;
	return x->kind == NODE_compute && x->nargs > 0;
}

/* An index, which gcc 12 is not to know as 0 or 1: a gather that it vectorises by such reads
   elsewhere. */
static const char *
index_of(const Nest *n, const Node *x, const char *index)
{
	return is_truth(x, TRUTH_DEPTH) ? arena_printf(n->arena, "shdrt_unknown_i64(%s)", index)
					: index;
}

/* const float t4 = t2 + t3; */
static void
declare(Nest *n, const Node *x)
{
	const char *args[3] = {"", "", ""}, *value = NULL;
	DType d = x->value ? x->value->type.dtype : D_i64;
	Arena *a = n->arena;

	if (x == n->copied)
		return;
	for (int i = 0; i < x->nargs; i++)
		args[i] = argument(n, x->args[i]);
	switch (x->kind) {
	case NODE_load:
		value = c_load(a, d, element(n, x));
		break;
	case NODE_iota:
		value = affine(n, x->index, true);
		if (dtype_is_narrow(d) || dtypes[d].bits < 8)
			value = c_load(a, d,
				arena_printf(a, "shdrt_%s_from_i64(%s)", dtypes[d].name,
					value));
		else
			value = arena_printf(a, strchr(value, ' ') ? "(%s)(%s)" : "(%s)%s",
				node_type(x), value);
		break;
	case NODE_scalar:
		value = arena_printf(a, "a%d", n->param_of[x->id]);
		break;
	case NODE_clamp:
		args[0] = index_of(n, x->args[0], args[0]);
		if (dtypes[x->args[0]->value->type.dtype].class == DC_unsigned)
			value = arena_printf(a, "%s < %lld ? (int64_t)%s : %lld", args[0],
				(long long)x->limit + 1, args[0], (long long)x->limit);
		else
			value = arena_printf(a, "shdrt_clamp_i64(0, %s, %lld)", args[0],
				(long long)x->limit);
		break;
	case NODE_index:
		value = arena_printf(a, "(int64_t)%s", index_of(n, x->args[0], args[0]));
		break;
	case NODE_compute:
		value = c_pointwise(a, x->op, args);
		break;
	case NODE_constant:
	case NODE_reduce:
	case NODE_dot:
		return; /* written where it is used; what is reduced has an accumulator */
	}
	line(n, "const %s t%d = %s;", node_type(x), x->id, value);
}

/* ---- what a stage needs ------------------------------------------------- */

static void
need(Nest *n, const Node *x)
{
	const Kernel *k = n->k;

	if (n->needed[x->id] || x->depth < n->inner_depth)
		return;
	n->needed[x->id] = true;
	if (x->kind == NODE_reduce)
		return;
	/* A later stage wants it again. */
	if (!n->kept[x->id] && x->stage < n->stage && x->kind == NODE_compute
		&& x->cost >= EXPENSIVE && x->depth == k->norder
		&& n->row_elements <= MAX_KEPT - n->kept_elements) {
		n->kept[x->id] = true;
		n->kept_elements += n->row_elements;
	}
	if (n->kept[x->id] && x->stage < n->stage)
		return;
	for (int i = 0; i < x->nargs; i++)
		need(n, x->args[i]);
	for (const Term *t = x->index->terms; t; t = t->next)
		need(n, t->at);
}

/* The sinks of a stage: reductions, kept rows, at last the result.  False: none. */
static bool
need_stage(Nest *n, int stage)
{
	const Kernel *k = n->k;
	bool last = stage == k->stages && !k->row_result, any = last;

	n->stage = stage;
	n->nreduced = 0;
	n->needed = NEW_ARRAY(n->arena, bool, k->nnodes + 1);
	for (const Node *x = k->nodes; x; x = x->next) {
		bool kept = n->kept[x->id] && x->stage == stage;
		if (x->kind == NODE_reduce && x->stage == stage + 1) {
			need(n, x->args[0]);
			APPEND(n->arena, n->reduced, n->nreduced, x);
		}
		if (kept)
			need(n, x);
		any |= kept;
	}
	if (last)
		need(n, k->root);
	return any || n->nreduced;
}

/* ---- reductions and stores ---------------------------------------------- */

static const char *
accumulator(const Nest *n, const Node *x, const char *index)
{
	return arena_printf(n->arena, "r%d%s", x->id, index);
}

/* Those of this stage; arrays of `size`, through which `each` loops, or one each. */
static void
declare_accumulators(Nest *n, int size, const char *each, const char *index)
{
	for (int i = 0; i < n->nreduced; i++) {
		const Node *x = n->reduced[i];
		DType d = x->value->type.dtype;
		const char *zero = c_constant(n->arena, d,
			combiner_identity((Combiner)op_int(x->op, A_combiner), d));
		if (size) {
			line(n, "%s r%d[%d];", node_type(x), x->id, size);
			line(n, "%s", each);
			line(n, "\tr%d%s = %s;", x->id, index, zero);
		} else {
			line(n, "%s r%d = %s;", node_type(x), x->id, zero);
		}
	}
}

static void
accumulate(Nest *n, const Node *x, const char *acc, const char *more, const char *further_in)
{
	line(n, "%s%s = %s;", further_in, acc,
		c_combine(n->arena, (Combiner)op_int(x->op, A_combiner), x->value->type.dtype,
			acc, more));
}

/* The value of a reduction: its accumulator, rounded once. */
static void
declare_reduced(Nest *n, const Node *x, const char *index)
{
	DType d = x->value->type.dtype;

	line(n, "const %s t%d = %s;", node_type(x), x->id,
		c_rounded(n->arena, d, accumulator(n, x, index)));
}

/* A copy keeps the bits as they are. */
static void
store_result(Nest *n)
{
	const Node *root = n->k->root;

	line(n, "out[%s] = %s;", affine(n, &n->k->store, false),
		root == n->copied
			? element(n, root)
			: c_store(n->arena, n->op->results[0]->type.dtype, argument(n, root)));
}

/* ---- loops -------------------------------------------------------------- */

/* What the inner loops need from one depth to another. */
static void
declare_needed(Nest *n, int first, int last)
{
	for (const Node *x = n->k->nodes; x; x = x->next) {
		bool kept = n->kept[x->id] && x->stage < n->stage;
		int depth = kept ? n->k->norder : x->depth;
		if (!n->needed[x->id] || depth < first || depth > last)
			continue;
		if (kept)
			line(n, "const %s t%d = row%d[%s];", node_type(x), x->id, x->id,
				n->row_index);
		else
			declare(n, x);
	}
}

/* Values of a row that became known after `stage` reductions. */
static void
declare_row(Nest *n, int depth, int stage)
{
	for (const Node *x = n->k->nodes; x; x = x->next)
		if (x->depth == depth && x->stage == stage)
			declare(n, x);
}

/* The inner loops from one on; the last as lanes, and what is left of them. */
static void
print_inner(Nest *n, int position)
{
	const Kernel *k = n->k;

	if (position > k->outer)
		declare_needed(n, position, position);
	if (position < k->norder) {
		bool lanes = n->lanes && position == k->norder - 1;
		int64_t extent = extent_of(n, position);
		int64_t whole = lanes ? extent / LANES * LANES : 0;
		if (lanes) {
			line(n, "for (int64_t j = 0; j < %lld; j += %d) {", (long long)whole,
				LANES);
			line(n, "for (int l = 0; l < %d; l++) {", LANES);
			line(n, "const int64_t i%d = j + l;", position);
			n->lane = "[l]";
			print_inner(n, position + 1);
			line(n, "}");
			line(n, "}");
			n->lane = arena_printf(n->arena, "[i%d - %lld]", position,
				(long long)whole);
		}
		if (!lanes || whole < extent) {
			open_loop(n, position, whole);
			print_inner(n, position + 1);
			line(n, "}");
		}
		n->lane = "";
		return;
	}
	for (const Node *x = k->nodes; x; x = x->next) {
		if (x->kind == NODE_reduce && x->stage == n->stage + 1)
			accumulate(n, x, accumulator(n, x, n->lane), argument(n, x->args[0]),
				"");
		if (n->kept[x->id] && x->stage == n->stage)
			line(n, "row%d[%s] = t%d;", x->id, n->row_index, x->id);
	}
	if (n->stage == k->stages && !k->row_result)
		store_result(n);
}

static void
print_stage(Nest *n, int stage)
{
	const Kernel *k = n->k;
	bool floats = false, walks = false;
	int last = k->norder - 1;

	if (!need_stage(n, stage))
		return;
	/* Only floats need a fixed order; the compiler finds its own for the rest. */
	for (int i = 0; i < n->nreduced; i++)
		floats |= dtype_is_float(n->reduced[i]->value->type.dtype);
	if (last >= k->outer && extent_of(n, last) >= LONG_LOOP)
		for (const Node *x = k->nodes; x; x = x->next)
			walks |= n->needed[x->id] && x->index->coef[k->order[last]] != 0;
	n->lanes = floats && walks;
	declare_accumulators(n, n->lanes ? LANES : 0,
		arena_printf(n->arena, "for (int l = 0; l < %d; l++)", LANES), "[l]");
	print_inner(n, k->outer);
	for (int i = 0; i < n->nreduced; i++) {
		const Node *x = n->reduced[i];
		if (n->lanes) { /* added pairwise: 8 apart, 4, 2, 1 */
			line(n, "for (int w = %d; w > 0; w /= 2)", LANES / 2);
			line(n, "\tfor (int l = 0; l < w; l++)");
			accumulate(n, x, accumulator(n, x, "[l]"), accumulator(n, x, "[l + w]"),
				"\t\t");
		}
		declare_reduced(n, x, n->lanes ? "[0]" : "");
	}
}

static void
print_scan(Nest *n)
{
	const Kernel *k = n->k;
	DType d = n->op->results[0]->type.dtype;

	need(n, k->root);
	line(n, "%s sum = %s;", dtypes[d].compute,
		c_constant(n->arena, d, combiner_identity(k->combiner, d)));
	for (int p = k->outer; p < k->norder; p++) {
		if (p > k->outer)
			declare_needed(n, p, p);
		open_loop(n, p, 0);
	}
	if (k->norder > k->outer)
		declare_needed(n, k->norder, k->norder);
	line(n, "sum = %s;", c_combine(n->arena, k->combiner, d, "sum", argument(n, k->root)));
	line(n, "out[%s] = %s;", affine(n, &k->store, false), c_store(n->arena, d, "sum"));
	for (int p = k->outer; p < k->norder; p++)
		line(n, "}");
}

/*
 * Scattered sums: sum[...] += value, of the result itself or, for f16 and bf16, of
 * its copy in float, which is rounded once.  An index out of range is found as soon
 * as it is known: what lies further in is skipped with it.
 */
static void
print_scatter(Nest *n)
{
	const Kernel *k = n->k;
	const Node *at = k->store.terms->at;
	const Type *t = &n->op->results[0]->type;
	const char *name = dtypes[t->dtype].name;
	long long elements = (long long)type_elements(t);

	if (dtype_is_narrow(t->dtype)) {
		line(n, "for (int64_t i = 0; i < %lld; i++)", elements);
		line(n, "\tsum[i] = shdrt_f32_from_%s(out[i]);", name);
	}
	for (int p = 0; p <= k->norder; p++) {
		declare_row(n, p, 0);
		if (at->depth == p)
			line(n, "if (t%d >= 0 && t%d < %lld) {", at->id, at->id,
				(long long)at->limit);
		if (p < k->norder)
			open_loop(n, p, 0);
	}
	const char *sum = arena_printf(n->arena, "%s[%s]",
		dtype_is_narrow(t->dtype) ? "sum" : "out", affine(n, &k->store, false));
	line(n, "%s = %s;", sum,
		c_combine(n->arena, C_add, t->dtype, sum, argument(n, k->root)));
	for (int p = 0; p <= k->norder; p++)
		line(n, "}");
	if (dtype_is_narrow(t->dtype)) {
		line(n, "for (int64_t i = 0; i < %lld; i++)", elements);
		line(n, "\tout[i] = shdrt_%s_from_f32(sum[i]);", name);
	}
}

/* ---- sums down columns -------------------------------------------------- */

/*
 * The last row loop walks along memory and no inner loop does: reduce a
 * block of columns at a time.
 */
static bool
is_columns(const Nest *n)
{
	const Kernel *k = n->k;
	int along_rows = 0, along_inner = 0;

	if (!k->row_result || k->stages != 1 || !k->outer || k->norder == k->outer)
		return false;
	int column = k->order[k->outer - 1], inner = k->order[k->norder - 1];
	for (const Node *x = k->nodes; x; x = x->next) {
		if (x->kind != NODE_load || x->depth <= k->outer)
			continue;
		along_rows += x->index->coef[column] == 1;
		along_inner += x->index->coef[inner] == 1;
	}
	return along_rows && !along_inner && extent_of(n, k->outer - 1) >= 8;
}

static void
print_columns(Nest *n)
{
	const Kernel *k = n->k;
	int column = k->outer - 1;
	long long extent = (long long)extent_of(n, column);
	const char *count = "n";

	line(n, "for (int64_t first = 0; first < %lld; first += %d) {", extent, COLUMNS);
	if (extent % COLUMNS && extent > COLUMNS)
		line(n, "const int64_t n = %lld - first < %d ? %lld - first : %d;", extent,
			COLUMNS, extent, COLUMNS);
	else
		count = arena_printf(n->arena, "%lld", extent < COLUMNS ? extent : COLUMNS);

	n->inner_depth = k->outer;
	need_stage(n, 0);
	const char *each = arena_printf(n->arena, "for (int64_t j = 0; j < %s; j++)", count);
	declare_accumulators(n, COLUMNS, each, "[j]");
	for (int p = k->outer; p < k->norder; p++)
		open_loop(n, p, 0);
	line(n, "%s {", each);
	line(n, "const int64_t i%d = first + j;", column);
	declare_needed(n, 0, k->norder);
	for (int i = 0; i < n->nreduced; i++)
		accumulate(n, n->reduced[i], accumulator(n, n->reduced[i], "[j]"),
			argument(n, n->reduced[i]->args[0]), "");
	for (int p = k->outer; p <= k->norder; p++)
		line(n, "}");

	line(n, "%s {", each);
	line(n, "const int64_t i%d = first + j;", column);
	n->needed = NEW_ARRAY(n->arena, bool, k->nnodes + 1);
	need(n, k->root);
	for (const Node *x = k->nodes; x; x = x->next) {
		if (x->kind == NODE_reduce)
			declare_reduced(n, x, "[j]");
		else if (n->needed[x->id])
			declare(n, x);
	}
	store_result(n);
	line(n, "}");
	line(n, "}");
}

void
kernel_body(Nest *n)
{
	const Kernel *k = n->k;
	bool columns = is_columns(n), scan = k->kind == KERNEL_scan;
	int rows = columns ? k->outer - 1 : k->outer;
	Affine in_row = {0};

	n->needed = NEW_ARRAY(n->arena, bool, k->nnodes + 1);
	n->kept = NEW_ARRAY(n->arena, bool, k->nnodes + 1);
	n->lane = "";
	n->inner_depth = k->outer + 1;
	n->row_elements = 1;
	for (int p = k->norder - 1; p >= k->outer; p--) {
		in_row.coef[k->order[p]] = n->row_elements;
		n->row_elements *= extent_of(n, p);
	}
	n->row_index = affine(n, &in_row, false);
	if (k->kind == KERNEL_map && k->root->kind == NODE_load)
		n->copied = k->root;
	if (k->kind == KERNEL_scatter) {
		print_scatter(n);
		return;
	}

	/* Which rows are kept is known once every later stage has been looked at. */
	for (int stage = k->stages; stage >= 0 && !columns && !scan; stage--)
		need_stage(n, stage);
	for (const Node *x = k->nodes; x; x = x->next)
		if (n->kept[x->id])
			line(n, "%s row%d[%lld];", node_type(x), x->id,
				(long long)n->row_elements);
	for (int p = 0; p < rows; p++) {
		declare_row(n, p, 0);
		open_loop(n, p, 0);
	}
	declare_row(n, rows, 0);
	if (scan)
		print_scan(n);
	else if (columns)
		print_columns(n);
	for (int stage = 0; stage <= k->stages && !columns && !scan; stage++) {
		if (stage)
			declare_row(n, k->outer, stage);
		if (stage == k->stages && k->row_result)
			store_result(n);
		else
			print_stage(n, stage);
	}
	for (int p = 0; p < rows; p++)
		line(n, "}");
}

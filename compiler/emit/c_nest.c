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

typedef struct Nest {
	KernelText *w;
	Text *t;
	const Kernel *k;
	bool *needed; /* by node id: in the loops being printed */
	bool *kept;   /* by node id: has a scratch row */
	int64_t kept_elements;
	int stage;
	const char *lane; /* index of the accumulator, NULL: no lanes */
	bool lanes;	  /* in the stage being printed */
} Nest;

/* ---- lines -------------------------------------------------------------- */

static void
begin_line(Nest *n)
{
	for (int i = 0; i < n->w->indent; i++)
		text_add(n->t, "\t");
}

static void PRINTF_LIKE(2, 3) line(Nest *n, const char *fmt, ...)
{
	va_list ap;

	begin_line(n);
	va_start(ap, fmt);
	text_vprintf(n->t, fmt, ap);
	va_end(ap);
	text_add(n->t, "\n");
}

static void
open_loop(Nest *n, int position)
{
	line(n, "for (int64_t i%d = 0; i%d < %lld; i%d++) {", position, position,
		(long long)n->k->loops[n->k->order[position]].extent, position);
	n->w->indent++;
}

static void
close_loop(Nest *n)
{
	n->w->indent--;
	line(n, "}");
}

/* ---- expressions -------------------------------------------------------- */

static void
add_term(Text *t, bool *first, int64_t scale, const char *name)
{
	const char *sign = *first ? (scale < 0 ? "-" : "") : scale < 0 ? " - " : " + ";
	int64_t size = scale < 0 ? -scale : scale;

	text_add(t, sign);
	if (size != 1)
		text_printf(t, "%lld * ", (long long)size);
	text_add(t, name);
	*first = false;
}

/* The offset of a load is part of its pointer: `offset` is false there. */
static void
affine(Nest *n, const Affine *a, bool offset)
{
	bool first = true;
	char name[MAX_NAME];

	for (int p = 0; p < n->k->norder; p++) {
		snprintf(name, sizeof name, "i%d", p);
		if (a->coef[n->k->order[p]])
			add_term(n->t, &first, a->coef[n->k->order[p]], name);
	}
	for (const Term *term = a->terms; term; term = term->next) {
		snprintf(name, sizeof name, "t%d", term->at->id);
		add_term(n->t, &first, term->scale, name);
	}
	if (offset && a->offset)
		text_printf(n->t, "%s%lld", first || a->offset < 0 ? "" : " + ",
			(long long)a->offset);
	else if (first)
		text_add(n->t, "0");
}

static const char *
argument(Nest *n, const Node *x)
{
	if (x->kind != NODE_constant)
		return arena_printf(n->w->emitter->arena, "t%d", x->id);
	DType d = x->value->type.dtype;
	Text t = {0}, *out = n->t;
	if (x->value->type.rank) {
		n->t = &t;
		if (is_half(d))
			text_printf(&t, "shdrt_through_%s(", dtypes[d].name);
		text_printf(&t, "%s[", c_array(n->w->emitter, x->op));
		affine(n, x->index, true);
		text_add(&t, is_half(d) ? "])" : "]");
		n->t = out;
	} else {
		c_constant(&t, d, op_int(x->op, A_value));
	}
	return text_take(&t, n->w->emitter->arena);
}

static void
element(Nest *n, const Node *x, Text *out)
{
	Text *t = n->t;
	int param = n->w->param_of[x->id];

	n->t = out;
	if (param < 0)
		text_add(out, "out[");
	else
		text_printf(out, "a%d[", param);
	affine(n, x->index, false);
	text_add(out, "]");
	n->t = t;
}

static void
load(Nest *n, const Node *x)
{
	Text e = {0};

	element(n, x, &e);
	c_load(n->t, x->value->type.dtype, e.s);
	text_free(&e);
}

static void
iota(Nest *n, const Node *x)
{
	DType d = x->value->type.dtype;
	Text index = {0}, *t = n->t;

	n->t = &index;
	affine(n, x->index, true);
	n->t = t;
	if (is_half(d))
		text_printf(t, "shdrt_f32_from_%s(shdrt_%s_from_i64(%s))", dtypes[d].name,
			dtypes[d].name, index.s);
	else
		text_printf(t, strchr(index.s, ' ') ? "(%s)(%s)" : "(%s)%s", compute_type(d),
			index.s);
	text_free(&index);
}

static void
clamp(Nest *n, const Node *x)
{
	DType d = x->args[0]->value->type.dtype;
	const char *a = argument(n, x->args[0]);

	if (dtypes[d].class == DC_unsigned)
		text_printf(n->t, "%s < %lld ? (int64_t)%s : %lld", a, (long long)x->limit + 1,
			a, (long long)x->limit);
	else
		text_printf(n->t, "shdrt_clamp_i64(0, %s, %lld)", a, (long long)x->limit);
}

static void
index_of(Nest *n, const Node *x)
{
	text_printf(n->t, "(int64_t)%s", argument(n, x->args[0]));
}

static void
compute(Nest *n, const Node *x)
{
	const char *args[3] = {"", "", ""};

	for (int i = 0; i < x->nargs; i++)
		args[i] = argument(n, x->args[i]);
	c_pointwise(n->t, x->op, args);
}

static void
scalar(Nest *n, const Node *x)
{
	text_printf(n->t, "a%d", n->w->param_of[x->id]);
}

static void
declare(Nest *n, const Node *x)
{
	typedef void Print(Nest *, const Node *);
	static Print *const prints[] = {
		[NODE_load] = load,
		[NODE_iota] = iota,
		[NODE_scalar] = scalar,
		[NODE_compute] = compute,
		[NODE_clamp] = clamp,
		[NODE_index] = index_of,
	};

	if (x->kind == NODE_constant || x->kind == NODE_reduce)
		return;
	begin_line(n);
	text_printf(n->t,
		"const %s t%d = ", x->value ? compute_type(x->value->type.dtype) : "int64_t",
		x->id);
	prints[x->kind](n, x);
	text_add(n->t, ";\n");
}

/* ---- what a stage needs ------------------------------------------------- */

static bool
is_inner(const Nest *n, const Node *x)
{
	return x->depth > n->k->outer;
}

static int64_t
inner_elements(const Kernel *k)
{
	int64_t count = 1;

	for (int p = k->outer; p < k->norder; p++)
		count *= k->loops[k->order[p]].extent;
	return count;
}

/* A later stage wants it again. */
static bool
is_worth_keeping(const Nest *n, const Node *x)
{
	return x->stage < n->stage && x->kind == NODE_compute && x->cost >= EXPENSIVE
		&& x->depth == n->k->norder
		&& inner_elements(n->k) <= MAX_KEPT - n->kept_elements;
}

static void
need(Nest *n, const Node *x)
{
	if (n->needed[x->id] || !is_inner(n, x))
		return;
	n->needed[x->id] = true;
	if (!n->kept[x->id] && is_worth_keeping(n, x)) {
		n->kept[x->id] = true;
		n->kept_elements += inner_elements(n->k);
	}
	if (n->kept[x->id] && x->stage < n->stage)
		return;
	for (int i = 0; i < x->nargs; i++)
		need(n, x->args[i]);
	for (const Term *t = x->index->terms; t; t = t->next)
		need(n, t->at);
}

/* The sinks of a stage: reductions, kept rows, at last the result. */
static bool
need_stage(Nest *n, int stage)
{
	bool any = false;

	n->stage = stage;
	memset(n->needed, 0, sizeof *n->needed * (size_t)(n->k->nnodes + 1));
	for (const Node *x = n->k->nodes; x; x = x->next) {
		bool reduced = x->kind == NODE_reduce && x->stage == stage + 1;
		if (reduced)
			need(n, x->args[0]);
		if (n->kept[x->id] && x->stage == stage)
			need(n, x);
		any |= reduced || (n->kept[x->id] && x->stage == stage);
	}
	if (stage == n->k->stages && !n->k->row_result) {
		need(n, n->k->root);
		any = true;
	}
	return any;
}

/* ---- reductions --------------------------------------------------------- */

static bool
reduced_now(const Nest *n, const Node *x)
{
	return x->kind == NODE_reduce && x->stage == n->stage + 1;
}

static void
print_identity(Nest *n, const Node *x)
{
	DType d = x->value->type.dtype;

	c_constant(n->t, d, combiner_identity((Combiner)op_int(x->op, A_combiner), d));
}

static void
declare_accumulator(Nest *n, const Node *x)
{
	const char *type = compute_type(x->value->type.dtype);

	begin_line(n);
	if (n->lanes) {
		text_printf(n->t, "%s r%d[%d];\n", type, x->id, LANES);
		line(n, "for (int l = 0; l < %d; l++)", LANES);
		begin_line(n);
		text_printf(n->t, "\tr%d[l] = ", x->id);
	} else {
		text_printf(n->t, "%s r%d = ", type, x->id);
	}
	print_identity(n, x);
	text_add(n->t, ";\n");
}

static void
accumulate(Nest *n, const Node *x)
{
	char name[MAX_NAME];

	snprintf(name, sizeof name, n->lane ? "r%d[%s]" : "r%d", x->id, n->lane);
	begin_line(n);
	text_printf(n->t, "%s = ", name);
	c_combine(n->t, (Combiner)op_int(x->op, A_combiner), x->value->type.dtype, name,
		argument(n, x->args[0]));
	text_add(n->t, ";\n");
}

/* Lanes added pairwise: 8 apart, 4, 2, 1. */
static void
join_lanes(Nest *n, const Node *x)
{
	char low[MAX_NAME], high[MAX_NAME];

	line(n, "for (int w = %d; w > 0; w /= 2)", LANES / 2);
	line(n, "\tfor (int l = 0; l < w; l++)");
	snprintf(low, sizeof low, "r%d[l]", x->id);
	snprintf(high, sizeof high, "r%d[l + w]", x->id);
	begin_line(n);
	text_printf(n->t, "\t\t%s = ", low);
	c_combine(n->t, (Combiner)op_int(x->op, A_combiner), x->value->type.dtype, low, high);
	text_add(n->t, ";\n");
}

/* The value of a reduction: its accumulator, rounded once. */
static void
declare_reduced(Nest *n, const Node *x, const char *index)
{
	DType d = x->value->type.dtype;

	begin_line(n);
	text_printf(n->t, "const %s t%d = ", compute_type(d), x->id);
	if (is_half(d))
		text_printf(n->t, "shdrt_through_%s(r%d%s);\n", dtypes[d].name, x->id, index);
	else
		text_printf(n->t, "r%d%s;\n", x->id, index);
}

/* ---- stores ------------------------------------------------------------- */

static void
print_affine(Nest *n, Text *out, const Affine *a)
{
	Text *t = n->t;

	n->t = out;
	affine(n, a, false);
	n->t = t;
}

/* A copy keeps the bits as they are. */
static void
store_result(Nest *n)
{
	const Node *root = n->k->root;
	Text e = {0};

	begin_line(n);
	text_add(n->t, "out[");
	affine(n, &n->k->store, false);
	text_add(n->t, "] = ");
	if (root->kind == NODE_load && n->k->kind == KERNEL_map) {
		element(n, root, &e);
		text_add(n->t, e.s);
	} else {
		c_store(n->t, n->w->op->results[0]->type.dtype, argument(n, root));
	}
	text_add(n->t, ";\n");
	text_free(&e);
}

static void
row_index(Nest *n)
{
	Affine a = {0};
	int64_t stride = 1;

	for (int p = n->k->norder - 1; p >= n->k->outer; p--) {
		a.coef[n->k->order[p]] = stride;
		stride *= n->k->loops[n->k->order[p]].extent;
	}
	affine(n, &a, false);
}

static void
sink(Nest *n)
{
	const Kernel *k = n->k;

	for (const Node *x = k->nodes; x; x = x->next) {
		if (reduced_now(n, x))
			accumulate(n, x);
		if (!n->kept[x->id] || x->stage != n->stage)
			continue;
		begin_line(n);
		text_printf(n->t, "row%d[", x->id);
		row_index(n);
		text_printf(n->t, "] = t%d;\n", x->id);
	}
	if (n->stage == k->stages && !k->row_result)
		store_result(n);
}

/* ---- loops -------------------------------------------------------------- */

static void
declare_kept(Nest *n, const Node *x)
{
	begin_line(n);
	text_printf(n->t, "const %s t%d = row%d[", compute_type(x->value->type.dtype), x->id,
		x->id);
	row_index(n);
	text_add(n->t, "];\n");
}

/* A copied element is not converted, so it is not loaded either. */
static bool
is_copied(const Nest *n, const Node *x)
{
	return x == n->k->root && x->kind == NODE_load && n->k->kind == KERNEL_map;
}

static void
declare_inner(Nest *n, int depth)
{
	for (const Node *x = n->k->nodes; x; x = x->next) {
		bool kept = n->kept[x->id] && x->stage < n->stage;
		int at = kept ? n->k->norder : x->depth;
		if (!n->needed[x->id] || at != depth || is_copied(n, x))
			continue;
		if (kept)
			declare_kept(n, x);
		else
			declare(n, x);
	}
}

static void print_inner(Nest *n, int position);

static void
print_lanes(Nest *n, int position)
{
	int64_t extent = n->k->loops[n->k->order[position]].extent;
	int64_t whole = extent / LANES * LANES;

	line(n, "for (int64_t j = 0; j < %lld; j += %d) {", (long long)whole, LANES);
	n->w->indent++;
	line(n, "for (int l = 0; l < %d; l++) {", LANES);
	n->w->indent++;
	line(n, "const int64_t i%d = j + l;", position);
	n->lane = "l";
	print_inner(n, position + 1);
	close_loop(n);
	close_loop(n);
	if (whole < extent) {
		line(n, "for (int64_t i%d = %lld; i%d < %lld; i%d++) {", position,
			(long long)whole, position, (long long)extent, position);
		n->w->indent++;
		n->lane = arena_printf(n->w->emitter->arena, "i%d - %lld", position,
			(long long)whole);
		print_inner(n, position + 1);
		close_loop(n);
	}
	n->lane = NULL;
}

static void
print_inner(Nest *n, int position)
{
	if (position > n->k->outer)
		declare_inner(n, position);
	if (position == n->k->norder) {
		sink(n);
	} else if (n->lanes && position == n->k->norder - 1) {
		print_lanes(n, position);
	} else {
		open_loop(n, position);
		print_inner(n, position + 1);
		close_loop(n);
	}
}

/* Only floats need a fixed order; the compiler finds its own for the rest. */
static bool
wants_lanes(const Nest *n)
{
	const Kernel *k = n->k;
	bool floats = false, walks = false;

	if (k->norder == k->outer || k->loops[k->order[k->norder - 1]].extent < LONG_LOOP)
		return false;
	for (const Node *x = k->nodes; x; x = x->next) {
		floats |= reduced_now(n, x) && dtype_is_float(x->value->type.dtype);
		walks |= n->needed[x->id] && affine_uses(x->index, k->order[k->norder - 1]);
	}
	return floats && walks;
}

static void
print_stage(Nest *n, int stage)
{
	if (!need_stage(n, stage))
		return;
	n->lanes = wants_lanes(n);
	for (const Node *x = n->k->nodes; x; x = x->next)
		if (reduced_now(n, x))
			declare_accumulator(n, x);
	print_inner(n, n->k->outer);
	for (const Node *x = n->k->nodes; x; x = x->next) {
		if (!reduced_now(n, x))
			continue;
		if (n->lanes)
			join_lanes(n, x);
		declare_reduced(n, x, n->lanes ? "[0]" : "");
	}
	n->lanes = false;
}

/* Values of a row that became known after `stage` reductions. */
static void
declare_row(Nest *n, int depth, int stage)
{
	for (const Node *x = n->k->nodes; x; x = x->next)
		if (x->depth == depth && x->stage == stage && !is_copied(n, x))
			declare(n, x);
}

static void
print_row(Nest *n)
{
	const Kernel *k = n->k;

	for (int stage = 0; stage < k->stages; stage++) {
		print_stage(n, stage);
		declare_row(n, k->outer, stage + 1);
	}
	if (k->row_result)
		store_result(n);
	else
		print_stage(n, k->stages);
}

static void
print_rows(Nest *n, int position, void (*body)(Nest *))
{
	declare_row(n, position, 0);
	if (position == n->k->outer) {
		body(n);
		return;
	}
	open_loop(n, position);
	print_rows(n, position + 1, body);
	close_loop(n);
}

/* Which rows are kept is known once every later stage has been looked at. */
static void
find_kept(Nest *n)
{
	for (int stage = n->k->stages; stage >= 0; stage--)
		need_stage(n, stage);
	for (const Node *x = n->k->nodes; x; x = x->next)
		if (n->kept[x->id])
			line(n, "%s row%d[%lld];", compute_type(x->value->type.dtype), x->id,
				(long long)inner_elements(n->k));
}

/* ---- running sums ------------------------------------------------------- */

static void
print_scan(Nest *n)
{
	const Kernel *k = n->k;
	DType d = n->w->op->results[0]->type.dtype;

	n->stage = 0;
	need(n, k->root);
	line(n, "%s sum = 0;", compute_type(d));
	for (int p = k->outer; p < k->norder; p++) {
		if (p > k->outer)
			declare_inner(n, p);
		open_loop(n, p);
	}
	if (k->norder > k->outer)
		declare_inner(n, k->norder);
	begin_line(n);
	text_add(n->t, "sum = ");
	c_combine(n->t, C_add, d, "sum", argument(n, k->root));
	text_add(n->t, ";\n");
	begin_line(n);
	text_add(n->t, "out[");
	affine(n, &k->store, false);
	text_add(n->t, "] = ");
	c_store(n->t, d, "sum");
	text_add(n->t, ";\n");
	for (int p = k->outer; p < k->norder; p++)
		close_loop(n);
}

/* ---- scattered sums ----------------------------------------------------- */

/* sum[...] += value; of the result itself, or of its wide copy. */
static void
add_scattered(Nest *n)
{
	const Kernel *k = n->k;
	DType d = n->w->op->results[0]->type.dtype;
	Text sum = {0};

	text_add(&sum, is_half(d) ? "sum[" : "out[");
	print_affine(n, &sum, &k->store);
	text_add(&sum, "]");
	begin_line(n);
	text_printf(n->t, "%s = ", sum.s);
	c_combine(n->t, C_add, d, sum.s, argument(n, k->root));
	text_add(n->t, ";\n");
	text_free(&sum);
}

/* As deep as the index is known: what lies further in is skipped with it. */
static void
print_updates(Nest *n, int position)
{
	const Kernel *k = n->k;
	const Node *at = k->store.terms->at;

	declare_row(n, position, 0);
	if (at->depth == position) {
		line(n, "if (t%d >= 0 && t%d < %lld) {", at->id, at->id, (long long)at->limit);
		n->w->indent++;
	}
	if (position < k->norder) {
		open_loop(n, position);
		print_updates(n, position + 1);
		close_loop(n);
	} else {
		add_scattered(n);
	}
	if (at->depth == position)
		close_loop(n);
}

/* Sums of f16 and bf16 are kept in float and rounded once. */
static void
print_scatter(Nest *n)
{
	const Type *t = &n->w->op->results[0]->type;
	const char *name = dtypes[t->dtype].name;
	long long elements = (long long)type_elements(t);

	if (is_half(t->dtype)) {
		line(n, "for (int64_t i = 0; i < %lld; i++)", elements);
		line(n, "\tsum[i] = shdrt_f32_from_%s(out[i]);", name);
	}
	print_updates(n, 0);
	if (is_half(t->dtype)) {
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
is_columns(const Kernel *k)
{
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
	return along_rows && !along_inner && k->loops[column].extent >= 8;
}

static void
need_at(Nest *n, const Node *x, int depth)
{
	if (n->needed[x->id] || x->depth < depth)
		return;
	n->needed[x->id] = true;
	if (x->kind == NODE_reduce)
		return;
	for (int i = 0; i < x->nargs; i++)
		need_at(n, x->args[i], depth);
	for (const Term *t = x->index->terms; t; t = t->next)
		need_at(n, t->at, depth);
}

static void
open_columns(Nest *n, const char *count)
{
	line(n, "for (int64_t j = 0; j < %s; j++) {", count);
	n->w->indent++;
}

static void
declare_needed(Nest *n)
{
	for (const Node *x = n->k->nodes; x; x = x->next)
		if (n->needed[x->id] && !is_copied(n, x))
			declare(n, x);
}

static void
columns_init(Nest *n, const char *count)
{
	for (const Node *x = n->k->nodes; x; x = x->next) {
		if (x->kind != NODE_reduce)
			continue;
		line(n, "%s r%d[%d];", compute_type(x->value->type.dtype), x->id, COLUMNS);
		line(n, "for (int64_t j = 0; j < %s; j++)", count);
		begin_line(n);
		text_printf(n->t, "\tr%d[j] = ", x->id);
		print_identity(n, x);
		text_add(n->t, ";\n");
	}
}

static void
columns_sum(Nest *n, const char *count)
{
	const Kernel *k = n->k;
	int column = k->outer - 1;

	for (int p = k->outer; p < k->norder; p++)
		open_loop(n, p);
	open_columns(n, count);
	line(n, "const int64_t i%d = first + j;", column);
	memset(n->needed, 0, sizeof *n->needed * (size_t)(k->nnodes + 1));
	for (const Node *x = k->nodes; x; x = x->next)
		if (x->kind == NODE_reduce)
			need_at(n, x->args[0], k->outer);
	declare_needed(n);
	n->lane = "j";
	for (const Node *x = k->nodes; x; x = x->next)
		if (x->kind == NODE_reduce)
			accumulate(n, x);
	n->lane = NULL;
	close_loop(n);
	for (int p = k->outer; p < k->norder; p++)
		close_loop(n);
}

static void
columns_store(Nest *n, const char *count)
{
	const Kernel *k = n->k;

	open_columns(n, count);
	line(n, "const int64_t i%d = first + j;", k->outer - 1);
	memset(n->needed, 0, sizeof *n->needed * (size_t)(k->nnodes + 1));
	need_at(n, k->root, k->outer);
	for (const Node *x = k->nodes; x; x = x->next) {
		if (x->kind == NODE_reduce)
			declare_reduced(n, x, "[j]");
		else if (n->needed[x->id])
			declare(n, x);
	}
	store_result(n);
	close_loop(n);
}

static void
print_columns(Nest *n)
{
	const Kernel *k = n->k;
	long long extent = (long long)k->loops[k->order[k->outer - 1]].extent;
	const char *count = "n";
	char whole[MAX_NAME];

	line(n, "for (int64_t first = 0; first < %lld; first += %d) {", extent, COLUMNS);
	n->w->indent++;
	if (extent % COLUMNS && extent > COLUMNS) {
		line(n, "const int64_t n = %lld - first < %d ? %lld - first : %d;", extent,
			COLUMNS, extent, COLUMNS);
	} else {
		snprintf(whole, sizeof whole, "%lld", extent < COLUMNS ? extent : COLUMNS);
		count = whole;
	}
	n->stage = 0;
	columns_init(n, count);
	columns_sum(n, count);
	columns_store(n, count);
	close_loop(n);
}

static void
print_column_rows(Nest *n, int position)
{
	declare_row(n, position, 0);
	if (position == n->k->outer - 1) {
		print_columns(n);
		return;
	}
	open_loop(n, position);
	print_column_rows(n, position + 1);
	close_loop(n);
}

void
kernel_body(KernelText *w)
{
	const Kernel *k = w->k;
	Arena *a = w->emitter->arena;
	Nest n = {.w = w,
		.t = w->t,
		.k = k,
		.needed = NEW_ARRAY(a, bool, k->nnodes + 1),
		.kept = NEW_ARRAY(a, bool, k->nnodes + 1)};

	if (k->kind == KERNEL_scan) {
		print_rows(&n, 0, print_scan);
	} else if (k->kind == KERNEL_scatter) {
		print_scatter(&n);
	} else if (is_columns(k)) {
		print_column_rows(&n, 0);
	} else {
		find_kept(&n);
		print_rows(&n, 0, print_row);
	}
}

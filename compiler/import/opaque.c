/*
 * opaque.c - ops that have no counterpart: what they compute is not known, but of what
 * type it is, and which dims of their operands may be split.
 *
 *   stablehlo.cholesky %x : tensor<8x64x64xf32>      an extern, of the rule "a__->a__"
 *
 * They are priced at what they read and write.  No library has them, so that a program
 * with one can be planned, but not run.
 */
#include <string.h>

#include "import/builders.h"

/* Of each tensor, operands before results, the letters of its dims; WHOLE_DIM at first. */
typedef struct Split {
	Import *in;
	const MlirOp *op;
	int n;
	Type *types;
	ExternTerm *terms;
} Split;

static bool
same_shape(const Type *a, const Type *b)
{
	return a->rank == b->rank
		&& !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof a->dims[0]);
}

/* All dims but `whole`, where all tensors but scalars have one shape. */
static void
split_alike(Split *q, const Numbers *whole)
{
	const Type *last = &q->types[q->n - 1];

	for (int t = 0; t < q->n; t++)
		if (q->types[t].rank && !same_shape(&q->types[t], last))
			return;
	for (int t = 0; t < q->n; t++)
		for (int d = 0; d < q->types[t].rank; d++)
			if (!numbers_have(whole, d))
				q->terms[t].letters[d] = (int8_t)d;
}

/* Element by element. */
static void
split_each(Split *q)
{
	split_alike(q, &(Numbers){0});
}

static void
split_sort(Split *q)
{
	int rank = q->types[q->n - 1].rank;
	int64_t dim = integer_of(q->in, q->op, "dimension", -1);

	split_alike(q, &(Numbers){1, {dim < 0 ? dim + rank : dim}});
}

/* Matrices in the last two dims of operand 0 (three, where numbers are pairs); those before
   are a batch, which all tensors have that are no scalars. */
static void
split_matrices(Split *q)
{
	const Type *whole = &q->types[0];
	int batch = whole->rank - 2;

	for (int i = 0; i < q->op->types.n; i++)
		if (type_is_complex(q->op->types.v[i])) {
			batch--;
			break;
		}
	for (int t = 0; t < q->n; t++)
		for (int d = 0; d < batch && q->types[t].rank; d++)
			if (d >= q->types[t].rank || q->types[t].dims[d] != whole->dims[d])
				return;
	for (int t = 0; t < q->n; t++)
		for (int d = 0; d < batch && q->types[t].rank; d++)
			q->terms[t].letters[d] = (int8_t)d;
}

/* Calls of linear algebra, by what their names begin with: lapack_sgeqrf_ffi. */
static const char *const algebra[] = {"lapack_", "cusolver_", "hipsolver_", "Eigh", "Qr",
	"ProductOfElementaryHouseholderReflectors", "LuDecomposition"};

static void
split_call(Split *q)
{
	const char *target = word_of(q->in, q->op, "call_target_name");

	for (size_t i = 0; i < sizeof algebra / sizeof *algebra; i++)
		if (!strncmp(target, algebra[i], strlen(algebra[i])))
			split_matrices(q);
}

/* Dims along which a window is one element, and there is one for each. */
static void
split_windows(Split *q)
{
	Numbers sizes = numbers_of(q->in, q->op, "window_dimensions");
	Numbers strides = numbers_of(q->in, q->op, "window_strides"), moved = {0};
	const Type *x = &q->types[0];

	for (int d = 0; d < x->rank; d++)
		if (d >= sizes.n || sizes.v[d] != 1 || (d < strides.n && strides.v[d] != 1))
			moved.v[moved.n++] = d;
	for (int t = 0; t < q->n; t++)
		for (int d = 0; d < q->types[t].rank; d++)
			if (q->types[t].rank == x->rank && q->types[t].dims[d] == x->dims[d]
				&& !numbers_have(&moved, d))
				q->terms[t].letters[d] = (int8_t)d;
}

/* The dims of a reduction that are left. */
static void
split_reduce(Split *q)
{
	Numbers dims = numbers_of(q->in, q->op, "dimensions");

	for (int t = 0; t < q->n; t++)
		for (int d = 0, left = 0; d < q->types[t].rank; d++)
			if (t >= q->in->noperands)
				q->terms[t].letters[d] = (int8_t)d;
			else if (!numbers_have(&dims, d))
				q->terms[t].letters[d] = (int8_t)left++;
}

/* ---- gathers and scatters */

/* The dims of a tensor of `rank` that are in none of the lists. */
static Numbers
dims_left(int rank, const Numbers *a, const Numbers *b)
{
	Numbers left = {0};

	for (int d = 0; d < rank; d++)
		if (!numbers_have(a, d) && !numbers_have(b, d))
			left.v[left.n++] = d;
	return left;
}

static void
set_letter(Split *q, int tensor, int64_t dim, int letter)
{
	if (dim >= 0 && dim < q->types[tensor].rank)
		q->terms[tensor].letters[dim] = (int8_t)letter;
}

/* How slices lie in x, and in what they are gathered to or scattered from. */
typedef struct Slices {
	Numbers batch,
		one; /* of x: dims of the indices too; of which slices have one element */
	Numbers indexed,
		window; /* of the indices: those of `batch`; of the slices in a row: theirs */
	int64_t vector; /* of the indices */
} Slices;

static Slices
read_slices(Split *q, const char *field, const char *const *names)
{
	const MlirAttr *numbers = attr_of(q->in, q->op, field);
	const MlirAttr *vector = numbers
		? mlir_attribute(q->in->program, numbers->items, "index_vector_dim")
		: NULL;

	return (Slices){field_numbers(q->in, numbers, names[0]),
		field_numbers(q->in, numbers, names[1]),
		field_numbers(q->in, numbers, names[2]),
		field_numbers(q->in, numbers, names[3]), vector ? vector->integer : 0};
}

/* Batch dims pass, and those of which slices have all; of a gather the indices, too. */
static void
split_slices(Split *q, const Slices *slices, int many, bool indices)
{
	const Type *x = &q->types[0];
	Numbers none = {0}, vector = {1, {slices->vector}};
	Numbers at = dims_left(q->types[1].rank, &vector, &none);
	Numbers rows = dims_left(q->types[many].rank, &slices->window, &none);
	Numbers inside = dims_left(x->rank, &slices->batch, &slices->one);
	int letter = 0;

	for (int i = 0; i < at.n && i < rows.n; i++, letter++) {
		for (int b = 0; b < slices->indexed.n && b < slices->batch.n; b++)
			if (slices->indexed.v[b] == at.v[i]) {
				set_letter(q, 0, slices->batch.v[b], letter);
				set_letter(q, q->n - 1,
					indices ? rows.v[i] : slices->batch.v[b], letter);
			}
		if (!indices && !numbers_have(&slices->indexed, at.v[i]))
			continue;
		set_letter(q, 1, at.v[i], letter);
		set_letter(q, many, rows.v[i], letter);
	}
	for (int i = 0; i < inside.n && i < slices->window.n; i++, letter++) {
		int64_t d = slices->window.v[i];
		if (d < 0 || d >= q->types[many].rank
			|| q->types[many].dims[d] != x->dims[inside.v[i]])
			continue;
		set_letter(q, 0, inside.v[i], letter);
		set_letter(q, many, d, letter);
		set_letter(q, q->n - 1, indices ? d : inside.v[i], letter);
	}
}

static void
split_gather(Split *q)
{
	static const char *const names[] = {"operand_batching_dims", "collapsed_slice_dims",
		"start_indices_batching_dims", "offset_dims"};
	Slices slices = read_slices(q, "dimension_numbers", names);

	if (q->n == 3)
		split_slices(q, &slices, 2, true);
}

static void
split_scatter(Split *q)
{
	static const char *const names[] = {"input_batching_dims", "inserted_window_dims",
		"scatter_indices_batching_dims", "update_window_dims"};
	Slices slices = read_slices(q, "scatter_dimension_numbers", names);

	if (q->n == 4)
		split_slices(q, &slices, 2, false);
}

static const struct Splitter {
	const char *name;
	void (*split)(Split *q);
} splitters[] = {
	{"stablehlo.sort", split_sort},
	{"stablehlo.cholesky", split_matrices},
	{"stablehlo.custom_call", split_call},
	{"stablehlo.triangular_solve", split_matrices},
	{"stablehlo.reduce_window", split_windows},
	{"stablehlo.select_and_scatter", split_windows},
	{"stablehlo.reduce", split_reduce},
	{"stablehlo.gather", split_gather},
	{"stablehlo.scatter", split_scatter},
};

/* "ab,b_->a_" */
static const char *
rule_text(Split *q)
{
	Text t = {0};

	for (int i = 0; i < q->n; i++) {
		text_add(&t, i == q->in->noperands ? "->" : i ? "," : "");
		for (int d = 0; d < q->types[i].rank; d++) {
			char c = q->terms[i].letters[d] == WHOLE_DIM
				? '_'
				: extern_rule_letter(q->terms[i].letters[d]);
			text_addn(&t, &c, 1);
		}
	}
	return text_take(&t, q->in->session->arena);
}

static const char *
find_rule(Import *in, const MlirOp *op, Type *types)
{
	int n = in->noperands + op->types.n;
	const ImportRow *row = table_get(in->rows, op->name);
	Split q = {in, op, n, types, NEW_ARRAY(in->arena, ExternTerm, n)};

	for (int t = 0; t < n; t++)
		for (int d = 0; d < MAX_RANK; d++)
			q.terms[t].letters[d] = WHOLE_DIM;
	if (row && row->reach == EACH)
		split_each(&q);
	for (size_t i = 0; i < sizeof splitters / sizeof *splitters; i++)
		if (!strcmp(op->name, splitters[i].name))
			splitters[i].split(&q);
	return rule_text(&q);
}

/* A custom call is what it calls. */
static const char *
opaque_name(Import *in, const MlirOp *op)
{
	const char *target = word_of(in, op, "call_target_name");

	return *target ? arena_printf(in->arena, "%s of %.80s", op->name, target) : op->name;
}

bool
read_opaque(Import *in, const MlirOp *op, const char *what)
{
	int n = op->types.n, at;
	Type *types = NEW_ARRAY(in->arena, Type, in->noperands + n), *made_types;
	External *x = NEW(in->session->arena, External);

	for (int i = 0; i < in->noperands; i++)
		types[i] = in->operands[i]->type;
	made_types = types + in->noperands;
	note_missing(in, what ? what : opaque_name(in, op), n ? LACK_formula : LACK_result);
	if (!n)
		return true;
	for (int i = 0; i < n; i++)
		if (!type_result(in, op, i, &made_types[i]))
			return false;
	*x = (External){.name = op->name,
		.symbol = opaque_name(in, op),
		.library = "",
		.rule = find_rule(in, op, types),
		.declared = in->make.range};
	if (extern_rule_parse(in->session->arena, x->rule, &x->parsed, &at))
		return read_wrong(in, op->range, "%s has too many dims", op->name);
	Op *made = make_begin(in->make, O_extern, in->noperands, in->operands);
	if (!made)
		return false;
	made->external = x;
	made->results[0]->type = made_types[0];
	for (int i = 1; i < n; i++)
		op_add_result(made, in->make.label, &made_types[i]);
	if (!make_end(in->make, made))
		return false;
	memcpy(in->results, made->results, (size_t)n * sizeof in->results[0]);
	return true;
}

bool
import_op_opaque(Import *in, const MlirOp *op, int detail)
{
	(void)detail;
	return read_opaque(in, op, NULL);
}

/*
 * opaque.c - ops that have no counterpart: what they compute is not known, but of what
 * type it is, and which dims of their operands may be split.
 *
 *   stablehlo.cholesky %x : tensor<8x64x64xf32>      an extern, of the rule "abc->abc", b and c
 *                                                    whole on each device
 *
 * They are priced at what they read and write.  No library has them, so that a program
 * with one can be planned, but not run.
 */
#include <stdlib.h>
#include <string.h>

#include "import/builders.h"

/* Of each tensor, operands before results, the letters of its dims; none at first. */
typedef struct Split {
	Import *in;
	const MlirOp *op;
	int n;
	Type *types;
	ExternTerm *terms;
	uint64_t whole; /* letters along which placements pass, and nothing is split */
} Split;

static void
set_letter(Split *q, int tensor, int64_t dim, int letter)
{
	if (dim >= 0 && dim < q->types[tensor].rank)
		q->terms[tensor].dims[dim] = (ExternDim){1, {(int8_t)letter}};
}

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
				set_letter(q, t, d, d);
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

/* Of each tensor the letters of its dims behind the batch: they are whole. */
static void
pass_matrices(Split *q, const char *letters, int batch)
{
	for (int t = 0; t < q->n; t++) {
		for (int d = batch; *letters >= 'a' && *letters <= 'z'; d++, letters++) {
			int letter = batch + *letters - 'a';
			set_letter(q, t, d, letter);
			q->whole |= 1ull << letter;
		}
		letters += *letters != '\0';
	}
}

/* Matrices in the last two dims of operand 0 (three, where numbers are pairs); those before
   are a batch, which all tensors have that are no scalars.  Letters: of the dims of matrices,
   as Shardy has them, "ab ab" of a matrix that becomes one; "": it has none. */
static void
split_matrices(Split *q, const char *letters)
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
			set_letter(q, t, d, d);
	pass_matrices(q, letters, batch);
}

static void
split_cholesky(Split *q)
{
	split_matrices(q, "ab ab");
}

/* a x = b, or x a = b: x is along a column, or a row, what the columns of a are. */
static void
split_solve(Split *q)
{
	bool left = !strcmp(word_of(q->in, q->op, "left_side"), "true");
	bool as_is = !strcmp(word_of(q->in, q->op, "transpose_a"), "NO_TRANSPOSE");

	if (left)
		split_matrices(q, as_is ? "ac ab cb" : "ca ab cb");
	else
		split_matrices(q, as_is ? "cb ab ac" : "bc ab ac");
}

/* Calls of linear algebra, by what their names begin with: lapack_sgeqrf_ffi. */
static const struct Algebra {
	const char *name, *letters;
} algebra[] = {
	{"lapack_", ""},
	{"cusolver_", ""},
	{"hipsolver_", ""},
	{"LuDecomposition", ""},
	{"Eigh", "ab ab b"},
	{"Qr", "ab ab c"},
	{"ProductOfElementaryHouseholderReflectors", "ab c ab"},
};

static void
split_call(Split *q)
{
	const char *target = word_of(q->in, q->op, "call_target_name");

	for (size_t i = 0; i < sizeof algebra / sizeof *algebra; i++)
		if (!strncmp(target, algebra[i].name, strlen(algebra[i].name)))
			split_matrices(q, algebra[i].letters);
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
				set_letter(q, t, d, d);
}

/* What it makes is of no element of its operands: random numbers. */
static void
split_made(Split *q)
{
	for (int t = q->in->noperands; t < q->n; t++)
		for (int d = 0; d < q->types[t].rank; d++)
			set_letter(q, t, d, d);
}

/* The dims of a reduction that are left. */
static void
split_reduce(Split *q)
{
	Numbers dims = numbers_of(q->in, q->op, "dimensions");

	for (int t = 0; t < q->n; t++)
		for (int d = 0, left = 0; d < q->types[t].rank; d++)
			if (t >= q->in->noperands)
				set_letter(q, t, d, d);
			else if (!numbers_have(&dims, d))
				set_letter(q, t, d, left++);
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

	return (Slices){field_numbers(q->in, numbers, names[0]),
		field_numbers(q->in, numbers, names[1]),
		field_numbers(q->in, numbers, names[2]),
		field_numbers(q->in, numbers, names[3]), index_vector(q->in, numbers)};
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
	{"stablehlo.cholesky", split_cholesky},
	{"stablehlo.custom_call", split_call},
	{"stablehlo.triangular_solve", split_solve},
	{"stablehlo.rng", split_made},
	{"stablehlo.reduce_window", split_windows},
	{"stablehlo.select_and_scatter", split_windows},
	{"stablehlo.reduce", split_reduce},
	{"stablehlo.gather", split_gather},
	{"stablehlo.scatter", split_scatter},
};

static ExternRule
find_rule(Import *in, const MlirOp *op, Type *types)
{
	int n = in->noperands + op->types.n;
	const ImportRow *row = table_get(in->rows, op->name);
	ExternTerm *terms = NEW_ARRAY(in->session->arena, ExternTerm, n);
	Split q = {.in = in, .op = op, .n = n, .types = types, .terms = terms};

	for (int t = 0; t < n; t++)
		q.terms[t].rank = types[t].rank;
	if (row && row->reach == EACH)
		split_each(&q);
	for (size_t i = 0; i < sizeof splitters / sizeof *splitters; i++)
		if (!strcmp(op->name, splitters[i].name))
			splitters[i].split(&q);
	ExternRule rule = {.noperands = in->noperands, .nterms = n, .terms = q.terms};
	rule.sized = q.whole != 0; /* facts are told behind sizes */
	for (int t = 0; t < n && q.whole; t++)
		for (int d = 0; d < types[t].rank; d++)
			if (q.terms[t].dims[d].n)
				rule.sizes[q.terms[t].dims[d].letters[0]] = types[t].dims[d];
	for (int letter = 0; letter < RULE_LETTERS; letter++)
		if (q.whole >> letter & 1)
			rule.kinds[letter] = EXTERN_need_replication;
	return rule;
}

/* ---- rules that the program states */

/* What is in it; nothing if it is of another kind. */
static List
items_of(const MlirAttr *attr, MlirKind kind)
{
	return attr && attr->kind == kind ? attr->items : (List){0};
}

/* The factors of a dim: i to z, then i_1 to z_1, ...; false: it is none. */
static bool
read_dim(const char *text, ExternDim *dim)
{
	enum { FIRST = 'i', LETTERS = 'z' - 'i' + 1 };

	for (dim->n = 0; text && *text;) {
		long letter = *text++ - FIRST, round = 0;
		if (letter < 0 || letter >= LETTERS || dim->n == MAX_RANK)
			return false;
		if (*text == '_')
			round = strtol(text + 1, (char **)&text, 10);
		if (round < 0 || round >= RULE_LETTERS)
			return false;
		letter += LETTERS * round;
		if (letter >= RULE_LETTERS)
			return false;
		dim->letters[dim->n++] = (int8_t)letter;
	}
	return text != NULL;
}

/* Those named in a list, as bits. */
static bool
read_letters(List names, uint64_t *letters)
{
	for (int i = 0; i < names.n; i++) {
		ExternDim one;
		if (!read_dim(((const MlirAttr *)names.v[i])->text, &one) || one.n != 1)
			return false;
		*letters |= 1ull << one.letters[0];
	}
	return true;
}

/* Terms, from the first on. */
static bool
read_terms(List tensors, ExternTerm *terms)
{
	for (int t = 0; t < tensors.n; t++) {
		List dims = items_of(tensors.v[t], MLIR_list);
		if (dims.n > MAX_RANK)
			return false;
		terms[t].rank = dims.n;
		for (int d = 0; d < dims.n; d++)
			if (!read_dim(((const MlirAttr *)dims.v[d])->text, &terms[t].dims[d]))
				return false;
	}
	return true;
}

static bool
read_sizes(List sizes, ExternRule *rule)
{
	for (int i = 0; i < sizes.n; i++) {
		const MlirEntry *size = sizes.v[i];
		ExternDim one;
		if (!read_dim(size->name, &one) || one.n != 1 || !size->value
			|| size->value->integer < 1)
			return false;
		rule->sizes[one.letters[0]] = size->value->integer;
	}
	return true;
}

/* What Shardy calls a pass-through needs no word. */
static bool
read_kinds(const MlirAttr *stated, ExternRule *rule)
{
	for (int i = 0; i < stated->items.n; i++) {
		const MlirEntry *fact = stated->items.v[i];
		uint64_t letters = 0;
		for (int kind = EXTERN_reduction; kind < EXTERN_KINDS; kind++)
			if (!strcmp(fact->name, extern_kind_names[kind])) {
				if (!read_letters(items_of(fact->value, MLIR_list), &letters))
					return false;
				for (int letter = 0; letter < RULE_LETTERS; letter++)
					if (letters >> letter & 1)
						rule->kinds[letter] = (uint8_t)kind;
			}
		if (!strcmp(fact->name, "blocked_propagation")
			&& !read_letters(items_of(fact->value, MLIR_list), &rule->blocked))
			return false;
	}
	return true;
}

/*
 *   #sdy.op_sharding_rule<([i, j], [j, k])->([i, k]) {i=32, j=16, k=64} reduction={j}, custom>
 *   "ab,bc->ac {a=32,b=16,c=64} reduction={b}"
 */
static bool
stated_rule(Import *in, const MlirAttr *stated, ExternRule *rule)
{
	const List facts = items_of(stated, MLIR_dict);
	const MlirAttr *sizes = mlir_attribute(in->program, facts, "sizes");
	List operands = items_of(mlir_attribute(in->program, facts, "operands"), MLIR_list);
	List results = items_of(mlir_attribute(in->program, facts, "results"), MLIR_list);

	if (!sizes || sizes->kind != MLIR_dict)
		return false;
	*rule = (ExternRule){.sized = true,
		.noperands = operands.n,
		.nterms = operands.n + results.n};
	rule->terms = NEW_ARRAY(in->arena, ExternTerm, rule->nterms + 1);
	return read_terms(operands, rule->terms)
		&& read_terms(results, rule->terms + rule->noperands)
		&& read_sizes(sizes->items, rule) && read_kinds(stated, rule);
}

/* Are the tensors as a rule has them?  The parts of complex numbers are a dim more. */
static bool
check_stated(Import *in, const MlirOp *op, Range where, const Type *types, ExternRule *rule)
{
	for (int t = 0; t < rule->nterms; t++) {
		ExternTerm *term = &rule->terms[t];
		bool operand = t < rule->noperands;
		int number = operand ? t : t - rule->noperands;
		if (number >= (operand ? in->noperands : op->types.n))
			break; /* told of the op */
		if (operand ? in->operands[t]->pair : type_is_complex(op->types.v[number]))
			term->rank += term->rank == types[t].rank - 1;
		for (int d = 0; d < term->rank && term->rank == types[t].rank; d++) {
			int64_t size = 1;
			for (int i = 0; i < term->dims[d].n; i++)
				if (!mul_i64(size, rule->sizes[term->dims[d].letters[i]],
					    &size))
					size = 0;
			if (term->dims[d].n > 1 && size != types[t].dims[d])
				return read_wrong(in, where,
					"dim %d of %s %d has %lld elements, and its factors "
					"make %lld",
					d, operand ? "operand" : "result", number + 1,
					(long long)types[t].dims[d], (long long)size);
		}
	}
	return true;
}

/* False after a message. */
static bool
read_rule(Import *in, const MlirOp *op, Type *types, External *external)
{
	const MlirAttr *stated = attr_of(in, op, "sdy.sharding_rule");
	ExternRule rule;
	int at;

	if (!stated)
		rule = find_rule(in, op, types);
	else if (!stated_rule(in, stated, &rule))
		return read_wrong(in, stated->range, "this is no sharding rule");
	else if (!check_stated(in, op, stated->range, types, &rule))
		return false;
	external->rule = extern_rule_text(in->session->arena, &rule);
	const char *wrong =
		extern_rule_parse(in->session->arena, external->rule, &external->parsed, &at);
	return !wrong || read_wrong(in, op->range, "%s: %s", op->name, wrong);
}

/* ---- costs that the program states */

/* The number behind "key": in the text; false: there is none. */
static bool
find_cost(const char *text, const char *key, int64_t *n)
{
	const char *at = strstr(text, key);

	if (!at)
		return false;
	at += strlen(key);
	at += strspn(at, " \t\n:");
	*n = strtoll(at, NULL, 10);
	return *n >= 0;
}

/*
 * What Pallas says in the configuration of its call, which is JSON.
 *
 *   {"custom_call_config": {..., "cost_estimate": {"bytes_accessed": 4096, "flops": 1000,
 *   "transcendentals": 0}}}
 */
static bool
read_costs(Import *in, const MlirOp *op, External *external)
{
	const char *text = strstr(word_of(in, op, "backend_config"), "\"cost_estimate\"");

	if (!text)
		return false;
	text = arena_strndup(in->arena, text, strcspn(text, "}"));
	external->priced = find_cost(text, "\"flops\"", &external->flops)
		&& find_cost(text, "\"bytes_accessed\"", &external->bytes)
		&& find_cost(text, "\"transcendentals\"", &external->transcendentals);
	return external->priced;
}

/* A custom call is what it calls; a composite has a name. */
static const char *
opaque_name(Import *in, const MlirOp *op)
{
	bool composite = !strcmp(op->name, "stablehlo.composite");
	const char *target = word_of(in, op, composite ? "name" : "call_target_name");

	return *target ? arena_printf(in->arena, "%s of %.80s", op->name, target) : op->name;
}

bool
read_opaque(Import *in, const MlirOp *op, const char *what)
{
	int n = op->types.n;
	Type *types = NEW_ARRAY(in->arena, Type, in->noperands + n), *made_types;
	External *external = NEW(in->session->arena, External);

	for (int i = 0; i < in->noperands; i++)
		types[i] = in->operands[i]->type;
	made_types = types + in->noperands;
	*external = (External){.name = op->name,
		.symbol = opaque_name(in, op),
		.library = "",
		.declared = in->make.range};
	if (!what)
		what = external->symbol;
	if (read_costs(in, op, external))
		what = arena_printf(in->arena, "%s, at what it states that it costs", what);
	note_missing(in, what, n ? LACK_formula : LACK_result);
	if (!n)
		return true;
	for (int i = 0; i < n; i++)
		if (!type_result(in, op, i, &made_types[i]))
			return false;
	if (!read_rule(in, op, types, external))
		return false;
	Op *made = make_begin(in->make, O_extern, in->noperands, in->operands);
	if (!made)
		return false;
	made->external = external;
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

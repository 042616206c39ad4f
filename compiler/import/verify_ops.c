/*
 * verify_ops.c - what StableHLO wants of each op, by verify.def.
 *
 * Shapes are those of the text, with dims of size 0: what is made of an op may not need all
 * that the op says, so nothing else looks at it.
 */
#include <stdio.h>
#include <string.h>

#include "import/verify.h"

/* ---- lists */

bool
verify_wrong(const Verified *v, const char *fmt, ...)
{
	Text t = {0};
	va_list ap;

	va_start(ap, fmt);
	text_vprintf(&t, fmt, ap);
	va_end(ap);
	read_wrong(v->in, v->op->range, "%s: %s", v->op->name, t.s);
	text_free(&t);
	return false;
}

bool
verify_dims(const Verified *v, const char *name, const Numbers *dims, int rank, Order order)
{
	for (int i = 0; i < dims->n; i++) {
		int64_t d = dims->v[i];
		if (d < 0 || d >= rank)
			return verify_wrong(v, "%s has dim %lld, of %d", name, (long long)d,
				rank);
		for (int j = 0; j < i; j++)
			if (dims->v[j] == d)
				return verify_wrong(v, "%s has dim %lld twice", name,
					(long long)d);
		if (order == SORTED && i && dims->v[i - 1] > d)
			return verify_wrong(v, "%s are not in order", name);
	}
	return true;
}

bool
verify_count(const Verified *v, const char *name, int n, int wanted)
{
	return n == wanted || verify_wrong(v, "%s has %d numbers, not %d", name, n, wanted);
}

bool
verify_numbers(const Verified *v, const char *name, int wanted, Numbers *numbers)
{
	if (!attr_numbers(v->in, attr_of(v->in, v->op, name), numbers))
		return verify_wrong(v, "%s is no list of numbers", name);
	return wanted < 0 || verify_count(v, name, numbers->n, wanted);
}

bool
verify_shape(const Verified *v, int result, int rank, const int64_t *dims)
{
	const MlirType *type = result < v->op->types.n ? v->op->types.v[result] : NULL;
	MlirType made;

	if (!type)
		return verify_wrong(v, "it has %d results", v->op->types.n);
	made = *type;
	made.tensor = true;
	made.rank = rank;
	memcpy(made.dims, dims, (size_t)rank * sizeof dims[0]);
	return mlir_shapes_equal(&made, type)
		|| verify_wrong(v, "it makes a %s, not a %s",
			mlir_type_text(v->in->arena, &made),
			mlir_type_text(v->in->arena, type));
}

/* Scalars, that the numbers of both halves, or of each pair, have alike. */
static bool
are_scalars(const Verified *v, int region, int n, bool pairs)
{
	const MlirBlock *block = v->op->regions.v[region];

	if (block->params.n != 2 * n)
		return verify_wrong(v, "its region has %d parameters, not %d", block->params.n,
			2 * n);
	for (int i = 0; i < n; i++) {
		const MlirParam *a = block->params.v[pairs ? 2 * i : i];
		const MlirParam *b = block->params.v[pairs ? 2 * i + 1 : n + i];
		if (a->type->rank || !mlir_types_equal(a->type, b->type))
			return read_wrong(v->in, b->range, "%s: of scalars of one type",
				v->op->name);
	}
	return true;
}

/* What it returns; the block ends with that (verify.c), or is empty. */
static const MlirOp *
returned(const MlirBlock *block)
{
	return block->ops.n ? block->ops.v[block->ops.n - 1] : NULL;
}

bool
verify_step(const Verified *v, int region, int n)
{
	const MlirOp *last = returned(v->op->regions.v[region]);

	return are_scalars(v, region, n, false)
		&& (!last || last->operands.n == n
			|| verify_wrong(v, "its region returns %d values, not %d",
				last->operands.n, n));
}

/* ---- constants, in any attribute */

/* The shape that brackets give: [[1, 2], [3, 4]] is 2x2, 1 is none.  False: rows differ. */
static bool
read_nesting(const char *c, const char *end, int *rank, int64_t *dims)
{
	int64_t seen[MAX_RANK + 1] = {0};
	int depth = 0;
	bool known[MAX_RANK + 1] = {false}, element = false;

	for (*rank = 0; c < end; c++) {
		bool closes = *c == ']', opens = *c == '[' || *c == '(';
		if (*c == '(') /* a complex number */
			while (c < end && *c != ')')
				c++;
		if ((closes || *c == ',') && element)
			seen[depth]++;
		element = *c == ',' || *c == '[' ? false : element || !closes;
		if (closes) {
			if (depth == 0 || (known[depth] && dims[depth - 1] != seen[depth]))
				return false;
			dims[depth - 1] = seen[depth];
			known[depth] = true;
			seen[depth--] = 0;
			element = true;
		}
		if (!opens || *c == ')')
			continue;
		if (++depth > MAX_RANK)
			return false;
		*rank = depth > *rank ? depth : *rank;
	}
	return depth == 0;
}

/* One for all, bytes, or as many rows of as many elements as the type has. */
static bool
fits_type(const Verified *v, const MlirAttr *dense, const MlirType *type)
{
	const char *text = dense->text;
	MlirType found = *type;

	if (!dense->length || text[0] != '[')
		return true;
	return (read_nesting(text, text + dense->length, &found.rank, found.dims)
		       && mlir_shapes_equal(&found, type))
		|| read_wrong(v->in, dense->range, "these are not the elements of a %s",
			mlir_type_text(v->in->arena, type));
}

static bool
verify_constants(const Verified *v)
{
	for (int i = 0; i < v->op->attributes.n; i++) {
		const MlirEntry *entry = v->op->attributes.v[i];
		const MlirAttr *value = entry->value;
		if (value->kind == MLIR_dense && value->type
			&& !fits_type(v, value, value->type))
			return false;
	}
	return true;
}

/* ---- words */

static bool
has_word(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (const char *c = words; n && (c = strstr(c, word)); c += n)
		if ((c == words || c[-1] == ' ') && (c[n] == ' ' || c[n] == '\0'))
			return true;
	return false;
}

static bool
verify_word(const Verified *v, const MlirAttr *attr, const char *name, const char *words)
{
	for (int i = 0; attr->kind == MLIR_list && i < attr->items.n; i++)
		if (!verify_word(v, attr->items.v[i], name, words))
			return false;
	return attr->kind == MLIR_list
		|| (attr->kind == MLIR_word && has_word(words, attr->text))
		|| verify_wrong(v, "%s is one of %s", name, words);
}

static bool
verify_words(const Verified *v)
{
	static const struct Words {
		const char *attribute, *words;
	} rows[] = {
#define WORDS(attribute, words) {attribute, words},
#include "import/verify.def"
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const MlirAttr *attr = attr_of(v->in, v->op, rows[i].attribute);
		if (attr && !verify_word(v, attr, rows[i].attribute, rows[i].words))
			return false;
	}
	return true;
}

/* ---- shapes */

static bool
verify_nothing(const Verified *v)
{
	(void)v;
	return true;
}

static bool
verify_constant(const Verified *v)
{
	const MlirAttr *value = attr_of(v->in, v->op, "value");
	const MlirType *type = v->op->types.n == 1 ? v->op->types.v[0] : NULL;

	if (!type || value->kind != MLIR_dense)
		return verify_wrong(v, "it has one result, of a value");
	if (value->type && !mlir_types_equal(value->type, type))
		return verify_wrong(v, "a %s is not a %s",
			mlir_type_text(v->in->arena, value->type),
			mlir_type_text(v->in->arena, type));
	return fits_type(v, value, type);
}

static bool
verify_broadcast(const Verified *v)
{
	const MlirType *from = v->operands[0];
	const MlirType *type = v->op->types.n ? v->op->types.v[0] : from;
	Numbers to;

	if (!verify_numbers(v, "broadcast_dimensions", from->rank, &to)
		|| !verify_dims(v, "broadcast_dimensions", &to, type->rank, ANY_ORDER))
		return false;
	for (int d = 0; d < from->rank; d++)
		if (from->dims[d] != 1 && from->dims[d] != type->dims[to.v[d]])
			return verify_wrong(v, "dim %d of %lld elements gets %lld", d,
				(long long)from->dims[d], (long long)type->dims[to.v[d]]);
	return true;
}

static bool
verify_transpose(const Verified *v)
{
	const MlirType *from = v->operands[0];
	int64_t dims[MAX_RANK];
	Numbers order;

	if (!verify_numbers(v, "permutation", from->rank, &order)
		|| !verify_dims(v, "permutation", &order, from->rank, ANY_ORDER))
		return false;
	for (int d = 0; d < from->rank; d++)
		dims[d] = from->dims[order.v[d]];
	return verify_shape(v, 0, from->rank, dims);
}

static bool
verify_reverse(const Verified *v)
{
	Numbers dims;

	return verify_numbers(v, "dimensions", -1, &dims)
		&& verify_dims(v, "dimensions", &dims, v->operands[0]->rank, ANY_ORDER);
}

static bool
verify_concatenate(const Verified *v)
{
	int64_t d = integer_of(v->in, v->op, "dimension", -1);
	MlirType all = v->noperands ? *v->operands[0] : (MlirType){0};

	if (d < 0 || d >= all.rank)
		return verify_wrong(v, "there is no dim %lld", (long long)d);
	all.dims[d] = 0;
	for (int i = 0; i < v->noperands; i++) {
		MlirType part = *v->operands[i];
		int64_t size = d < part.rank ? part.dims[d] : 0;
		part.dims[d] = all.dims[d];
		if (!mlir_shapes_equal(&part, &all)
			|| !add_i64(all.dims[d], size, &all.dims[d]))
			return verify_wrong(v, "operand %d has other dims", i + 1);
	}
	return verify_shape(v, 0, all.rank, all.dims);
}

static bool
verify_slice(const Verified *v)
{
	const MlirType *x = v->operands[0];
	Numbers from, to, by;
	int64_t dims[MAX_RANK];

	if (!verify_numbers(v, "start_indices", x->rank, &from)
		|| !verify_numbers(v, "limit_indices", x->rank, &to)
		|| !verify_numbers(v, "strides", x->rank, &by))
		return false;
	for (int d = 0; d < x->rank; d++) {
		if (from.v[d] < 0 || from.v[d] > to.v[d] || to.v[d] > x->dims[d] || by.v[d] < 1)
			return verify_wrong(v, "of dim %d, from %lld to %lld by %lld, of %lld",
				d, (long long)from.v[d], (long long)to.v[d], (long long)by.v[d],
				(long long)x->dims[d]);
		dims[d] = (to.v[d] - from.v[d]) / by.v[d]
			+ ((to.v[d] - from.v[d]) % by.v[d] != 0);
	}
	return verify_shape(v, 0, x->rank, dims);
}

static bool
verify_pad(const Verified *v)
{
	const MlirType *x = v->operands[0];
	Numbers low, high, inner;
	int64_t dims[MAX_RANK];

	if (!verify_numbers(v, "edge_padding_low", x->rank, &low)
		|| !verify_numbers(v, "edge_padding_high", x->rank, &high)
		|| !verify_numbers(v, "interior_padding", x->rank, &inner))
		return false;
	for (int d = 0; d < x->rank; d++)
		if (inner.v[d] < 0
			|| !mul_i64(x->dims[d] > 1 ? x->dims[d] - 1 : 0, inner.v[d], &dims[d])
			|| !add_i64(dims[d], x->dims[d], &dims[d])
			|| !add_i64(dims[d], low.v[d], &dims[d])
			|| !add_i64(dims[d], high.v[d], &dims[d]) || dims[d] < 0)
			return verify_wrong(v, "dim %d cannot be padded so", d);
	return verify_shape(v, 0, x->rank, dims);
}

static bool
verify_reduce(const Verified *v)
{
	Numbers dims;

	if (!verify_numbers(v, "dimensions", -1, &dims) || v->noperands % 2 || !v->noperands)
		return verify_wrong(v, "it takes tensors, what each begins with, and dims");
	for (int i = 0; i < v->noperands / 2; i++) {
		const MlirType *x = v->operands[i];
		int64_t kept[MAX_RANK];
		int n = 0;
		if (!verify_dims(v, "dimensions", &dims, x->rank, ANY_ORDER))
			return false;
		for (int d = 0; d < x->rank; d++)
			if (!numbers_have(&dims, d))
				kept[n++] = x->dims[d];
		if (!verify_shape(v, i, n, kept))
			return false;
	}
	return verify_step(v, 0, v->noperands / 2);
}

/* -1 is the last dim. */
static bool
verify_sort(const Verified *v)
{
	int rank = v->noperands ? v->operands[0]->rank : 0;
	int64_t d = integer_of(v->in, v->op, "dimension", -1);

	if (d < -rank || d >= rank)
		return verify_wrong(v, "there is no dim %lld", (long long)d);
	const MlirOp *last = returned(v->op->regions.v[0]);
	return are_scalars(v, 0, v->noperands, true)
		&& (!last || last->operands.n == 1
			|| verify_wrong(v, "its region returns %d values, not 1",
				last->operands.n));
}

/* A double has 11 bits of exponent and 52 of fraction. */
static bool
verify_precision(const Verified *v)
{
	const MlirAttr *word = attr_of(v->in, v->op, "format");
	int64_t exponent = integer_of(v->in, v->op, "exponent_bits", -1);
	int64_t fraction = integer_of(v->in, v->op, "mantissa_bits", -1);
	int read = 0, e = -1, m = -1;

	if (word && word->kind == MLIR_word
		&& (sscanf(word->text, "e%5dm%5d%n", &e, &m, &read) != 2 || word->text[read]))
		e = m = -1;
	if (word) {
		exponent = e;
		fraction = m;
	}
	return (exponent >= 1 && exponent <= 11 && fraction >= 0 && fraction <= 52)
		|| verify_wrong(v, "no float has such a format");
}

static bool
verify_state(const Verified *v)
{
	return verify_shape(v, 0, v->operands[0]->rank, v->operands[0]->dims);
}

/* ---- collectives */

/* No device is in two groups. */
static bool
verify_groups(const Verified *v)
{
	const MlirAttr *groups = attr_of(v->in, v->op, "replica_groups");
	Dense ids;

	if (groups->kind != MLIR_dense || !groups->length)
		return true;
	if (!dense_read(v->in, groups, D_i64, &ids))
		return false;
	bool *seen = NEW_ARRAY(v->in->arena, bool, ids.n + 1);
	for (int64_t i = 0; i < ids.n; i++) {
		int64_t id = ids.v[i];
		if (id < 0 || id >= ids.n) /* whether there are such devices is told there */
			continue;
		if (seen[id])
			return verify_wrong(v, "device %lld is in two groups", (long long)id);
		seen[id] = true;
	}
	return true;
}

/* No device sends or receives twice. */
static bool
verify_pairs(const Verified *v)
{
	const MlirAttr *pairs = attr_of(v->in, v->op, "source_target_pairs");
	Table *seen = table_new(v->in->arena);
	Dense ids;

	if (pairs->kind != MLIR_dense)
		return true;
	if (!dense_read(v->in, pairs, D_i64, &ids))
		return false;
	for (int64_t i = 0; i < ids.n; i++) {
		const char *key = arena_printf(v->in->arena, "%s%lld", i % 2 ? "to " : "",
			(long long)ids.v[i]);
		if (!table_add(seen, key, seen))
			return verify_wrong(v, "device %lld %s twice", (long long)ids.v[i],
				i % 2 ? "receives" : "sends");
	}
	return true;
}

/* ---- the table */

typedef struct VerifyRow {
	const char *op;
	int operands, regions;
	const char *attributes;
	VerifyRule *rule;
} VerifyRow;

static bool
has_attributes(const Verified *v, const char *names)
{
	char name[64];
	int n = 0;

	for (; sscanf(names, "%63s%n", name, &n) == 1; names += n)
		if (!attr_of(v->in, v->op, name))
			return verify_wrong(v, "it has no %s", name);
	return true;
}

static bool
verify_row(const Verified *v, const VerifyRow *row)
{
	if (row->operands >= 0 && v->noperands != row->operands)
		return verify_wrong(v, "it has %d operands, not %d", v->noperands,
			row->operands);
	if (row->regions >= 0 && v->op->regions.n != row->regions)
		return verify_wrong(v, "it has %d regions, not %d", v->op->regions.n,
			row->regions);
	return has_attributes(v, row->attributes) && row->rule(v);
}

bool
verify_op(const Verified *v)
{
	static const VerifyRow rows[] = {
#define VERIFY(op, operands, regions, attributes, rule) \
	{op, operands, regions, attributes, verify_##rule},
#include "import/verify.def"
	};

	if (!verify_words(v) || !verify_constants(v))
		return false;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i].op, v->op->name))
			return verify_row(v, &rows[i]);
	return true;
}

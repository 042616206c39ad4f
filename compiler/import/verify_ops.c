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
verify_wrong(const Verified *vd, const char *fmt, ...)
{
	Text t = {0};
	va_list ap;

	va_start(ap, fmt);
	text_vprintf(&t, fmt, ap);
	va_end(ap);
	read_wrong(vd->in, vd->op->range, "%s: %s", vd->op->name, t.s);
	text_free(&t);
	return false;
}

bool
verify_dims(const Verified *vd, const char *name, const Numbers *dims, int rank, Order order)
{
	for (int i = 0; i < dims->n; i++) {
		int64_t d = dims->v[i];
		if (d < 0 || d >= rank)
			return verify_wrong(vd, "%s has dim %lld, of %d", name, (long long)d,
				rank);
		for (int j = 0; j < i; j++)
			if (dims->v[j] == d)
				return verify_wrong(vd, "%s has dim %lld twice", name,
					(long long)d);
		if (order == SORTED && i && dims->v[i - 1] > d)
			return verify_wrong(vd, "%s are not in order", name);
	}
	return true;
}

bool
verify_count(const Verified *vd, const char *name, int n, int wanted)
{
	return n == wanted || verify_wrong(vd, "%s has %d numbers, not %d", name, n, wanted);
}

bool
verify_numbers(const Verified *vd, const char *name, int wanted, Numbers *numbers)
{
	if (!attr_numbers(vd->in, attr_of(vd->in, vd->op, name), numbers))
		return verify_wrong(vd, "%s is no list of numbers", name);
	return wanted < 0 || verify_count(vd, name, numbers->n, wanted);
}

bool
verify_shape(const Verified *vd, int result, int rank, const int64_t *dims)
{
	const MlirType *type = result < vd->op->types.n ? vd->op->types.v[result] : NULL;
	MlirType made;

	if (!type)
		return verify_wrong(vd, "it has %d results", vd->op->types.n);
	made = *type;
	made.tensor = true;
	made.rank = rank;
	memcpy(made.dims, dims, (size_t)rank * sizeof dims[0]);
	return mlir_shapes_equal(&made, type)
		|| verify_wrong(vd, "it makes a %s, not a %s",
			mlir_type_text(vd->in->arena, &made),
			mlir_type_text(vd->in->arena, type));
}

/* Scalars, that the numbers of both halves, or of each pair, have alike. */
static bool
are_scalars(const Verified *vd, int region, int n, bool pairs)
{
	const MlirBlock *block = vd->op->regions.v[region];

	if (block->params.n != 2 * n)
		return verify_wrong(vd, "its region has %d parameters, not %d", block->params.n,
			2 * n);
	for (int i = 0; i < n; i++) {
		const MlirParam *a = block->params.v[pairs ? 2 * i : i];
		const MlirParam *b = block->params.v[pairs ? 2 * i + 1 : n + i];
		if (a->type->rank || !mlir_types_equal(a->type, b->type))
			return read_wrong(vd->in, b->range, "%s: of scalars of one type",
				vd->op->name);
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
verify_step(const Verified *vd, int region, int n)
{
	const MlirOp *last = returned(vd->op->regions.v[region]);

	return are_scalars(vd, region, n, false)
		&& (!last || last->operands.n == n
			|| verify_wrong(vd, "its region returns %d values, not %d",
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
fits_type(const Verified *vd, const MlirAttr *dense, const MlirType *type)
{
	const char *text = dense->text;
	MlirType found = *type;

	if (!dense->length || text[0] != '[')
		return true;
	return (read_nesting(text, text + dense->length, &found.rank, found.dims)
		       && mlir_shapes_equal(&found, type))
		|| read_wrong(vd->in, dense->range, "these are not the elements of a %s",
			mlir_type_text(vd->in->arena, type));
}

/* Those of StableHLO beside a constant are dims, devices, numbers of elements; what others
   say of an op has a dot in its name. */
static bool
are_integers(const Verified *vd, const MlirEntry *entry)
{
	const MlirAttr *value = entry->value;
	bool others = strchr(entry->name, '.') || strncmp(vd->op->name, "stablehlo.", 10) != 0
		|| !strcmp(vd->op->name, "stablehlo.custom_call");

	return others || !strcmp(entry->name, "value") || value->type->element[0] == 'i'
		|| read_wrong(vd->in, value->range, "%s: %s is of integers", vd->op->name,
			entry->name);
}

static bool
verify_constants(const Verified *vd)
{
	for (int i = 0; i < vd->op->attributes.n; i++) {
		const MlirEntry *entry = vd->op->attributes.v[i];
		const MlirAttr *value = entry->value;
		if (value->kind == MLIR_dense && value->type
			&& !(are_integers(vd, entry) && fits_type(vd, value, value->type)))
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
verify_word(const Verified *vd, const MlirAttr *attr, const char *name, const char *words)
{
	for (int i = 0; attr->kind == MLIR_list && i < attr->items.n; i++)
		if (!verify_word(vd, attr->items.v[i], name, words))
			return false;
	return attr->kind == MLIR_list
		|| (attr->kind == MLIR_word && has_word(words, attr->text))
		|| verify_wrong(vd, "%s is one of %s", name, words);
}

static bool
verify_words(const Verified *vd)
{
	static const struct Words {
		const char *attribute, *words;
	} rows[] = {
#define WORDS(attribute, words) {attribute, words},
#include "import/verify.def"
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const MlirAttr *attr = attr_of(vd->in, vd->op, rows[i].attribute);
		if (attr && !verify_word(vd, attr, rows[i].attribute, rows[i].words))
			return false;
	}
	return true;
}

static bool
verify_single_numbers(const Verified *vd)
{
	static const char *const names[] = {
#define NUMBER(attribute) attribute,
#include "import/verify.def"
	};
	bool ours = !strncmp(vd->op->name, "stablehlo.", 10);

	for (size_t i = 0; i < sizeof names / sizeof *names && ours; i++) {
		const MlirAttr *attr = attr_of(vd->in, vd->op, names[i]);
		if (attr && attr->kind != MLIR_integer)
			return verify_wrong(vd, "%s is a number", names[i]);
	}
	return true;
}

/* ---- shapes */

static bool
verify_nothing(const Verified *vd)
{
	(void)vd;
	return true;
}

static bool
verify_constant(const Verified *vd)
{
	const MlirAttr *value = attr_of(vd->in, vd->op, "value");
	const MlirType *type = vd->op->types.n == 1 ? vd->op->types.v[0] : NULL;

	if (!type || value->kind != MLIR_dense)
		return verify_wrong(vd, "it has one result, of a value");
	if (value->type && !mlir_types_equal(value->type, type))
		return verify_wrong(vd, "a %s is not a %s",
			mlir_type_text(vd->in->arena, value->type),
			mlir_type_text(vd->in->arena, type));
	return fits_type(vd, value, type);
}

static bool
verify_broadcast(const Verified *vd)
{
	const MlirType *from = vd->operands[0];
	const MlirType *type = vd->op->types.n ? vd->op->types.v[0] : from;
	Numbers to;

	if (!verify_numbers(vd, "broadcast_dimensions", from->rank, &to)
		|| !verify_dims(vd, "broadcast_dimensions", &to, type->rank, ANY_ORDER))
		return false;
	for (int d = 0; d < from->rank; d++)
		if (from->dims[d] != 1 && from->dims[d] != type->dims[to.v[d]])
			return verify_wrong(vd, "dim %d of %lld elements gets %lld", d,
				(long long)from->dims[d], (long long)type->dims[to.v[d]]);
	return true;
}

static bool
verify_transpose(const Verified *vd)
{
	const MlirType *from = vd->operands[0];
	int64_t dims[MAX_RANK];
	Numbers order;

	if (!verify_numbers(vd, "permutation", from->rank, &order)
		|| !verify_dims(vd, "permutation", &order, from->rank, ANY_ORDER))
		return false;
	for (int d = 0; d < from->rank; d++)
		dims[d] = from->dims[order.v[d]];
	return verify_shape(vd, 0, from->rank, dims);
}

static bool
verify_reverse(const Verified *vd)
{
	Numbers dims;

	return verify_numbers(vd, "dimensions", -1, &dims)
		&& verify_dims(vd, "dimensions", &dims, vd->operands[0]->rank, ANY_ORDER);
}

static bool
verify_concatenate(const Verified *vd)
{
	int64_t d = integer_of(vd->in, vd->op, "dimension", -1);
	MlirType all = vd->noperands ? *vd->operands[0] : (MlirType){0};

	if (d < 0 || d >= all.rank)
		return verify_wrong(vd, "there is no dim %lld", (long long)d);
	all.dims[d] = 0;
	for (int i = 0; i < vd->noperands; i++) {
		MlirType part = *vd->operands[i];
		int64_t size = d < part.rank ? part.dims[d] : 0;
		part.dims[d] = all.dims[d];
		if (!mlir_shapes_equal(&part, &all)
			|| !add_i64(all.dims[d], size, &all.dims[d]))
			return verify_wrong(vd, "operand %d has other dims", i + 1);
	}
	return verify_shape(vd, 0, all.rank, all.dims);
}

static bool
verify_slice(const Verified *vd)
{
	const MlirType *x = vd->operands[0];
	Numbers from, to, by;
	int64_t dims[MAX_RANK];

	if (!verify_numbers(vd, "start_indices", x->rank, &from)
		|| !verify_numbers(vd, "limit_indices", x->rank, &to)
		|| !verify_numbers(vd, "strides", x->rank, &by))
		return false;
	for (int d = 0; d < x->rank; d++) {
		if (from.v[d] < 0 || from.v[d] > to.v[d] || to.v[d] > x->dims[d] || by.v[d] < 1)
			return verify_wrong(vd, "of dim %d, from %lld to %lld by %lld, of %lld",
				d, (long long)from.v[d], (long long)to.v[d], (long long)by.v[d],
				(long long)x->dims[d]);
		dims[d] = (to.v[d] - from.v[d]) / by.v[d]
			+ ((to.v[d] - from.v[d]) % by.v[d] != 0);
	}
	return verify_shape(vd, 0, x->rank, dims);
}

static bool
verify_pad(const Verified *vd)
{
	const MlirType *x = vd->operands[0];
	Numbers low, high, inner;
	int64_t dims[MAX_RANK];

	if (!verify_numbers(vd, "edge_padding_low", x->rank, &low)
		|| !verify_numbers(vd, "edge_padding_high", x->rank, &high)
		|| !verify_numbers(vd, "interior_padding", x->rank, &inner))
		return false;
	for (int d = 0; d < x->rank; d++)
		if (inner.v[d] < 0
			|| !mul_i64(x->dims[d] > 1 ? x->dims[d] - 1 : 0, inner.v[d], &dims[d])
			|| !add_i64(dims[d], x->dims[d], &dims[d])
			|| !add_i64(dims[d], low.v[d], &dims[d])
			|| !add_i64(dims[d], high.v[d], &dims[d]) || dims[d] < 0)
			return verify_wrong(vd, "dim %d cannot be padded so", d);
	return verify_shape(vd, 0, x->rank, dims);
}

static bool
verify_reduce(const Verified *vd)
{
	Numbers dims;

	if (!verify_numbers(vd, "dimensions", -1, &dims) || vd->noperands % 2 || !vd->noperands)
		return verify_wrong(vd, "it takes tensors, what each begins with, and dims");
	for (int i = 0; i < vd->noperands / 2; i++) {
		const MlirType *x = vd->operands[i];
		int64_t kept[MAX_RANK];
		int n = 0;
		if (!verify_dims(vd, "dimensions", &dims, x->rank, ANY_ORDER))
			return false;
		for (int d = 0; d < x->rank; d++)
			if (!numbers_have(&dims, d))
				kept[n++] = x->dims[d];
		if (!verify_shape(vd, i, n, kept))
			return false;
	}
	return verify_step(vd, 0, vd->noperands / 2);
}

/* -1 is the last dim. */
static bool
verify_sort(const Verified *vd)
{
	int rank = vd->noperands ? vd->operands[0]->rank : 0;
	int64_t d = integer_of(vd->in, vd->op, "dimension", -1);

	if (d < -rank || d >= rank)
		return verify_wrong(vd, "there is no dim %lld", (long long)d);
	const MlirOp *last = returned(vd->op->regions.v[0]);
	return are_scalars(vd, 0, vd->noperands, true)
		&& (!last || last->operands.n == 1
			|| verify_wrong(vd, "its region returns %d values, not 1",
				last->operands.n));
}

/* A double has 11 bits of exponent and 52 of fraction. */
static bool
verify_precision(const Verified *vd)
{
	const MlirAttr *word = attr_of(vd->in, vd->op, "format");
	int64_t exponent = integer_of(vd->in, vd->op, "exponent_bits", -1);
	int64_t fraction = integer_of(vd->in, vd->op, "mantissa_bits", -1);
	int read = 0, e = -1, m = -1;

	if (word && word->kind == MLIR_word
		&& (sscanf(word->text, "e%5dm%5d%n", &e, &m, &read) != 2 || word->text[read]))
		e = m = -1;
	if (word) {
		exponent = e;
		fraction = m;
	}
	return (exponent >= 1 && exponent <= 11 && fraction >= 0 && fraction <= 52)
		|| verify_wrong(vd, "no float has such a format");
}

static bool
verify_state(const Verified *vd)
{
	return verify_shape(vd, 0, vd->operands[0]->rank, vd->operands[0]->dims);
}

/* ---- collectives */

/* No device is in two groups. */
static bool
verify_groups(const Verified *vd)
{
	const MlirAttr *groups = attr_of(vd->in, vd->op, "replica_groups");
	Dense ids;

	if (groups->kind != MLIR_dense || !groups->length)
		return true;
	if (!dense_read(vd->in, groups, D_i64, &ids))
		return false;
	bool *seen = NEW_ARRAY(vd->in->arena, bool, ids.n + 1);
	for (int64_t i = 0; i < ids.n; i++) {
		int64_t id = ids.v[i];
		if (id < 0 || id >= ids.n) /* whether there are such devices is told there */
			continue;
		if (seen[id])
			return verify_wrong(vd, "device %lld is in two groups", (long long)id);
		seen[id] = true;
	}
	return true;
}

/* No device sends or receives twice. */
static bool
verify_pairs(const Verified *vd)
{
	const MlirAttr *pairs = attr_of(vd->in, vd->op, "source_target_pairs");
	Table *seen = table_new(vd->in->arena);
	Dense ids;

	if (pairs->kind != MLIR_dense)
		return true;
	if (!dense_read(vd->in, pairs, D_i64, &ids))
		return false;
	for (int64_t i = 0; i < ids.n; i++) {
		const char *key = arena_printf(vd->in->arena, "%s%lld", i % 2 ? "to " : "",
			(long long)ids.v[i]);
		if (!table_add(seen, key, seen))
			return verify_wrong(vd, "device %lld %s twice", (long long)ids.v[i],
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
has_attributes(const Verified *vd, const char *names)
{
	char name[64];
	int n = 0;

	for (; sscanf(names, "%63s%n", name, &n) == 1; names += n)
		if (!attr_of(vd->in, vd->op, name))
			return verify_wrong(vd, "it has no %s", name);
	return true;
}

static bool
verify_row(const Verified *vd, const VerifyRow *row)
{
	if (row->operands >= 0 && vd->noperands != row->operands)
		return verify_wrong(vd, "it has %d operands, not %d", vd->noperands,
			row->operands);
	if (row->regions >= 0 && vd->op->regions.n != row->regions)
		return verify_wrong(vd, "it has %d regions, not %d", vd->op->regions.n,
			row->regions);
	return has_attributes(vd, row->attributes) && row->rule(vd);
}

bool
verify_op(const Verified *vd)
{
	static const VerifyRow rows[] = {
#define VERIFY(op, operands, regions, attributes, rule) \
	{op, operands, regions, attributes, verify_##rule},
#include "import/verify.def"
	};

	if (!verify_words(vd) || !verify_single_numbers(vd) || !verify_constants(vd))
		return false;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i].op, vd->op->name))
			return verify_row(vd, &rows[i]);
	return true;
}

/*
 * complex.c - complex numbers as pairs: a tensor of them has one dim more, the last, of which
 * element 0 is the real part and element 1 the imaginary one.  So they lie in files, too.
 *
 *   stablehlo.slice %x : tensor<8xcomplex<f32>>     each part of f32[8, 2] by itself
 *   stablehlo.multiply                              (a c - b d, a d + b c)
 *
 * What has no row here is opaque.
 */
#include <string.h>

#include "import/builders.h"
#include "import/complex.h"

/* ---- pairs and parts */

Value *
part_of(Make k, Value *x, int i)
{
	if (!x)
		return NULL;
	const Op *made = x->def;
	int rank = x->type.rank - 1;
	if (made && made->kind == O_concatenate && made->noperands == 2
		&& op_int(made, A_dim) == rank && made->operands[i]->def
		&& made->operands[i]->def->kind == O_reshape)
		return made->operands[i]->def->operands[0];
	return make_reshape(k, make_slice_dim(k, x, rank, i, i + 1, 1), rank, x->type.dims);
}

Value *
pair_of(Make k, Value *real, Value *imaginary)
{
	Value *parts[] = {real, imaginary};

	if (!real || !imaginary)
		return NULL;
	for (int i = 0; i < 2; i++) {
		Type type = parts[i]->type;
		type.dims[type.rank] = 1;
		parts[i] = make_reshape(k, parts[i], type.rank + 1, type.dims);
	}
	return make_concatenate(k, 2, parts, real->type.rank);
}

Complex
complex_product(Make k, Complex a, Complex b)
{
	Value *real = make_binary(k, O_mul, a.real, b.real);
	Value *squared = make_binary(k, O_mul, a.imaginary, b.imaginary);
	Value *first = make_binary(k, O_mul, a.real, b.imaginary);
	Value *second = make_binary(k, O_mul, a.imaginary, b.real);
	Complex product = {.real = make_binary(k, O_sub, real, squared)};

	product.imaginary = make_binary(k, O_add, first, second);
	return product;
}

static Complex
complex_of(Import *in, int operand)
{
	Complex parts = {.real = part_of(in->make, in->operands[operand], 0)};

	parts.imaginary = part_of(in->make, in->operands[operand], 1);
	return parts;
}

static bool
give(Import *in, Value *real, Value *imaginary)
{
	in->results[0] = pair_of(in->make, real, imaginary);
	return in->results[0] != NULL;
}

enum { ALL = -1 };

/* Is operand i of these?  The last bit is for all that follow. */
static bool
has_pair(uint32_t pairs, int i)
{
	return pairs >> (i < 31 ? i : 31) & 1;
}

static bool
are_pairs(Import *in, const MlirOp *op, uint32_t pairs)
{
	for (int i = 0; i < in->noperands; i++) {
		const Type *type = &in->operands[i]->type;
		if (has_pair(pairs, i) && (!type->rank || type->dims[type->rank - 1] != 2))
			return read_wrong(in, op->range, "%s of other than complex numbers",
				op->name);
	}
	return true;
}

/* What the op's own builder makes of real operands; NULL after a message. */
static Value *
build_real(Import *in, const MlirOp *op, const ImportRow *row, Value **operands)
{
	Value **given = in->operands, **results = in->results, *result = NULL;
	int n = in->noperands;

	in->operands = arena_copy(in->arena, operands, (size_t)n * sizeof *operands);
	in->results[0] = NULL;
	in->parts++;
	if (row->build(in, op, row->detail))
		result = results[0];
	in->parts--;
	in->operands = given;
	in->noperands = n;
	in->results = results;
	in->make = make_at(in, op);
	return result;
}

/* ---- ops; `pairs`: which operands are */

static bool
apart(Import *in, const MlirOp *op, const ImportRow *row, uint32_t pairs)
{
	Value *result[2], **operands = NEW_ARRAY(in->arena, Value *, in->noperands + 1);

	for (int p = 0; p < 2; p++) {
		for (int i = 0; i < in->noperands; i++)
			operands[i] = has_pair(pairs, i) ? part_of(in->make, in->operands[i], p)
							 : in->operands[i];
		result[p] = build_real(in, op, row, operands);
	}
	return give(in, result[0], result[1]);
}

static bool
multiply(Import *in, const MlirOp *op, const ImportRow *row, uint32_t pairs)
{
	Complex a = complex_of(in, 0), b = complex_of(in, 1);
	Complex product = complex_product(in->make, a, b);

	(void)op, (void)row, (void)pairs;
	return give(in, product.real, product.imaginary);
}

/* a + b times */
static Value *
plus_times(Make k, OpKind sign, Value *a, Value *b, Value *times)
{
	return make_binary(k, sign, a, make_binary(k, O_mul, b, times));
}

/* By the larger part of the divisor first, so that its square is not too large. */
static bool
divide(Import *in, const MlirOp *op, const ImportRow *row, uint32_t pairs)
{
	Make k = in->make;
	Complex a = complex_of(in, 0), b = complex_of(in, 1);
	Value *real_size = make_unary(k, O_abs, b.real);
	Value *other_size = make_unary(k, O_abs, b.imaginary);
	Value *swaps = make_compare(k, DIR_LT, real_size, other_size);
	Value *large = make_select(k, swaps, b.imaginary, b.real);
	Value *small = make_select(k, swaps, b.real, b.imaginary);
	Value *ratio = make_binary(k, O_div, small, large);
	Value *by = plus_times(k, O_add, large, small, ratio);
	Value *first = make_select(k, swaps, a.imaginary, a.real);
	Value *second = make_select(k, swaps, a.real, a.imaginary);
	Value *real = plus_times(k, O_add, first, second, ratio);
	Value *imaginary = plus_times(k, O_sub, second, first, ratio);

	(void)op, (void)row, (void)pairs;
	imaginary = make_select(k, swaps, make_unary(k, O_neg, imaginary), imaginary);
	real = make_binary(k, O_div, real, by);
	return give(in, real, make_binary(k, O_div, imaginary, by));
}

static bool
exponential(Import *in, const MlirOp *op, const ImportRow *row, uint32_t pairs)
{
	Make k = in->make;
	Complex a = complex_of(in, 0);
	Value *length = make_unary(k, O_exp, a.real);
	Value *real = make_binary(k, O_mul, length, make_unary(k, O_cos, a.imaginary));

	(void)op, (void)row, (void)pairs;
	return give(in, real, make_binary(k, O_mul, length, make_unary(k, O_sin, a.imaginary)));
}

/* By the larger part, so that no square is too large. */
static Value *
length_of(Make k, Complex a)
{
	Value *x = make_unary(k, O_abs, a.real), *y = make_unary(k, O_abs, a.imaginary);

	if (!x || !y)
		return NULL;
	Value *large = make_binary(k, O_maximum, x, y),
	      *small = make_binary(k, O_minimum, x, y);
	Value *ratio = make_binary(k, O_div, small, large);
	Value *length = with(k, O_add, make_binary(k, O_mul, ratio, ratio), 1);
	length = make_binary(k, O_mul, large, make_unary(k, O_sqrt, length));
	return make_select(k, compare_with(k, DIR_EQ, large, 0), large, length);
}

static bool
absolute(Import *in, const MlirOp *op, const ImportRow *row, uint32_t pairs)
{
	(void)op, (void)row, (void)pairs;
	in->results[0] = length_of(in->make, complex_of(in, 0));
	return in->results[0] != NULL;
}

static bool
logarithm(Import *in, const MlirOp *op, const ImportRow *row, uint32_t pairs)
{
	Complex a = complex_of(in, 0);
	Value *real = make_unary(in->make, O_log, length_of(in->make, a));

	(void)op, (void)row, (void)pairs;
	return give(in, real, make_binary(in->make, O_atan2, a.imaginary, a.real));
}

static bool
real_part(Import *in, const MlirOp *op, const ImportRow *row, uint32_t pairs)
{
	(void)op, (void)row, (void)pairs;
	in->results[0] = part_of(in->make, in->operands[0], 0);
	return in->results[0] != NULL;
}

static bool
imaginary_part(Import *in, const MlirOp *op, const ImportRow *row, uint32_t pairs)
{
	(void)op, (void)row, (void)pairs;
	in->results[0] = part_of(in->make, in->operands[0], 1);
	return in->results[0] != NULL;
}

static bool
together(Import *in, const MlirOp *op, const ImportRow *row, uint32_t pairs)
{
	(void)op, (void)row, (void)pairs;
	return give(in, in->operands[0], in->operands[1]);
}

static bool
convert(Import *in, const MlirOp *op, const ImportRow *row, uint32_t pairs)
{
	Value *x = in->operands[0];
	const MlirType *type = op->types.v[0];

	(void)pairs;
	if (x->type.rank > type->rank)
		return are_pairs(in, op, ALL) && apart(in, op, row, ALL);
	Value *real = build_real(in, op, row, in->operands);
	return give(in, real, number_like(in->make, real, 0));
}

static bool
compare(Import *in, const MlirOp *op, const ImportRow *row, uint32_t pairs)
{
	Value *result[2];
	bool same = !strcmp(word_of(in, op, "comparison_direction"), "EQ");

	(void)pairs;
	for (int p = 0; p < 2; p++) {
		Value *a = part_of(in->make, in->operands[0], p);
		Value *parts[] = {a, part_of(in->make, in->operands[1], p)};
		result[p] = build_real(in, op, row, parts);
	}
	in->results[0] = make_binary(in->make, same ? O_and : O_or, result[0], result[1]);
	return in->results[0] != NULL;
}

static bool
dot(Import *in, const MlirOp *op, const ImportRow *row, uint32_t pairs)
{
	Complex a = complex_of(in, 0), b = complex_of(in, 1);
	Value *x[] = {a.real, a.imaginary}, *y[] = {b.real, b.imaginary}, *products[4];

	(void)pairs;
	for (int i = 0; i < 4; i++)
		products[i] = build_real(in, op, row, (Value *[]){x[i / 2], y[i % 2]});
	Value *real = make_binary(in->make, O_sub, products[0], products[3]);
	return give(in, real, make_binary(in->make, O_add, products[1], products[2]));
}

/* (1,2) everywhere, or a pair for each element. */
static bool
constant(Import *in, const MlirOp *op, const ImportRow *row, uint32_t pairs)
{
	const MlirAttr *attr = attr_of(in, op, "value");
	Type type;
	Dense dense;

	(void)pairs;
	if (!type_result(in, op, 0, &type))
		return false;
	if (!attr || attr->kind != MLIR_dense || !dense_read(in, attr, type.dtype, &dense)
		|| dense.n != 2)
		return row->build(in, op, row->detail);
	in->results[0] = make_spread(in->make,
		make_array(in->make, &(Type){.dtype = type.dtype, .rank = 1, .dims = {2}},
			dense.v),
		type.rank - 1, &type);
	return true;
}

static const struct ComplexRow {
	const char *name;
	bool (*build)(Import *in, const MlirOp *op, const ImportRow *row, uint32_t pairs);
	uint32_t pairs;
	int operands; /* at least */
} rows[] = {
	{"stablehlo.constant", constant, 0, 0},
	{"stablehlo.real", real_part, ALL, 1},
	{"stablehlo.imag", imaginary_part, ALL, 1},
	{"stablehlo.complex", together, 0, 2},
	{"stablehlo.add", apart, ALL, 1},
	{"stablehlo.subtract", apart, ALL, 1},
	{"stablehlo.negate", apart, ALL, 1},
	{"stablehlo.multiply", multiply, ALL, 2},
	{"stablehlo.divide", divide, ALL, 2},
	{"stablehlo.exponential", exponential, ALL, 1},
	{"stablehlo.log", logarithm, ALL, 1},
	{"stablehlo.abs", absolute, ALL, 1},
	{"stablehlo.convert", convert, 0, 1},
	{"stablehlo.compare", compare, ALL, 2},
	{"stablehlo.select", apart, 6, 1},
	{"stablehlo.dot_general", dot, ALL, 2},
	{"stablehlo.broadcast_in_dim", apart, ALL, 1},
	{"stablehlo.reshape", apart, ALL, 1},
	{"stablehlo.transpose", apart, ALL, 1},
	{"stablehlo.reverse", apart, ALL, 1},
	{"stablehlo.concatenate", apart, ALL, 1},
	{"stablehlo.slice", apart, ALL, 1},
	{"stablehlo.pad", apart, ALL, 1},
	{"stablehlo.dynamic_slice", apart, 1, 1},
	{"stablehlo.dynamic_update_slice", apart, 3, 1},
	{"stablehlo.gather", apart, 1, 1},
	/* by each element of a pair, or by what is inside */
	{"stablehlo.fft", NULL, 0, 0},
	{"func.call", NULL, 0, 0},
	{"stablehlo.while", NULL, 0, 0},
	{"stablehlo.case", NULL, 0, 0},
	{"stablehlo.if", NULL, 0, 0},
	{"stablehlo.optimization_barrier", NULL, 0, 0},
	{"stablehlo.custom_call", NULL, 0, 0},
	{"sdy.sharding_constraint", NULL, 0, 0},
	{"sdy.manual_computation", NULL, 0, 0},
	{"stablehlo.all_gather", NULL, 0, 0},
	{"stablehlo.all_to_all", NULL, 0, 0},
	{"stablehlo.collective_permute", NULL, 0, 0},
};

static const struct ComplexRow *
row_of(const char *name)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

/* Sums, of which the parts are by themselves. */
static bool
is_sum(Import *in, const MlirOp *op)
{
	Combiner c;

	return !strcmp(op->name, "stablehlo.reduce") && region_combiner(in, op, &c)
		&& c == C_add;
}

/* Has it complex numbers? */
static bool
is_complex(const Import *in, const MlirOp *op)
{
	if (in->parts)
		return false;
	for (int i = 0; i < op->types.n; i++)
		if (type_is_complex(op->types.v[i]))
			return true;
	if (op->types.n != 1 || in->noperands < 1 || in->operands[0] == &in->nothing)
		return false;
	const MlirType *type = op->types.v[0];
	bool more = in->operands[0]->type.rank == type->rank + 1;
	return !strcmp(op->name, "stablehlo.real") || !strcmp(op->name, "stablehlo.imag")
		|| (more && !strcmp(op->name, "stablehlo.abs"))
		|| (more && !strcmp(op->name, "stablehlo.compare"));
}

bool
read_complex(Import *in, const MlirOp *op, const ImportRow *row, bool *right)
{
	const struct ComplexRow *found = row_of(op->name);

	if (!is_complex(in, op) || (found && !found->build))
		return false;
	bool sum = !found && is_sum(in, op);
	uint32_t pairs = found ? found->pairs : sum ? (uint32_t)ALL : 0;
	if (!found && !sum)
		*right = read_opaque(in, op, NULL);
	else if (found && in->noperands < found->operands)
		*right = read_wrong(in, op->range, "%s takes %d operands", op->name,
			found->operands);
	else if (!are_pairs(in, op, pairs))
		*right = false;
	else
		*right = sum ? apart(in, op, row, pairs) : found->build(in, op, row, pairs);
	return true;
}

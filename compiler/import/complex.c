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

/* How an op is built; of a formula, which. */
typedef struct ComplexRow {
	const char *name;
	bool (*build)(Import *in, const MlirOp *op, const ImportRow *row, uint32_t pairs);
	uint32_t pairs;
	int operands; /* at least */
	Complex (*unary)(Make k, Complex z);
	Complex (*binary)(Make k, Complex a, Complex b);
} ComplexRow;

static const ComplexRow *row_of(const char *name);

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

/* An op that is a formula of one number, or of two. */
static bool
formula(Import *in, const MlirOp *op, const ImportRow *row, uint32_t pairs)
{
	const ComplexRow *found = row_of(op->name);
	Complex a = complex_of(in, 0), result;

	(void)row, (void)pairs;
	if (found->binary)
		result = found->binary(in->make, a, complex_of(in, 1));
	else
		result = found->unary(in->make, a);
	return give(in, result.real, result.imaginary);
}

static bool
absolute(Import *in, const MlirOp *op, const ImportRow *row, uint32_t pairs)
{
	(void)op, (void)row, (void)pairs;
	in->results[0] = complex_length(in->make, complex_of(in, 0));
	return in->results[0] != NULL;
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
iota(Import *in, const MlirOp *op, const ImportRow *row, uint32_t pairs)
{
	Value *real = build_real(in, op, row, in->operands);

	(void)pairs;
	return give(in, real, real ? number_like(in->make, real, 0) : NULL);
}

/* Sums, or what is put there. */
static bool
scatter(Import *in, const MlirOp *op, const ImportRow *row, uint32_t pairs)
{
	const MlirBlock *step = op->regions.n == 1 ? op->regions.v[0] : NULL;
	Combiner c;

	bool set = step && step->ops.n == 1;
	bool sum = step && !set && region_combiner(in, op, &c) && c == C_add;
	if (in->noperands == 3 && (set || sum))
		return apart(in, op, row, pairs);
	if (in->noperands == 2 && (set || sum)) /* at no index */
		return apart(in, op, row, ALL);
	return read_opaque(in, op, NULL);
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
	type.rank--;
	Value *real = make_full(in->make, &type, dense.v[0]);
	return give(in, real, make_full(in->make, &type, dense.v[1]));
}

#define ROW(name, build, pairs, operands) \
	{ \
		name, build, pairs, operands, NULL, NULL \
	}
#define UNARY(name, function) \
	{ \
		name, formula, ALL, 1, function, NULL \
	}
#define BINARY(name, function) \
	{ \
		name, formula, ALL, 2, NULL, function \
	}
static const ComplexRow rows[] = {
	ROW("stablehlo.constant", constant, 0, 0),
	ROW("stablehlo.real", real_part, ALL, 1),
	ROW("stablehlo.imag", imaginary_part, ALL, 1),
	ROW("stablehlo.complex", together, 0, 2),
	ROW("stablehlo.add", apart, ALL, 1),
	ROW("stablehlo.subtract", apart, ALL, 1),
	ROW("stablehlo.negate", apart, ALL, 1),
	BINARY("stablehlo.multiply", complex_product),
	ROW("stablehlo.divide", divide, ALL, 2),
	BINARY("stablehlo.power", complex_pow),
	UNARY("stablehlo.exponential", complex_exp),
	UNARY("stablehlo.exponential_minus_one", complex_expm1),
	UNARY("stablehlo.log", complex_log),
	UNARY("stablehlo.log_plus_one", complex_log1p),
	UNARY("stablehlo.sqrt", complex_sqrt),
	UNARY("stablehlo.rsqrt", complex_rsqrt),
	UNARY("stablehlo.sine", complex_sin),
	UNARY("stablehlo.cosine", complex_cos),
	UNARY("stablehlo.tan", complex_tan),
	UNARY("stablehlo.tanh", complex_tanh),
	UNARY("stablehlo.sign", complex_sign),
	UNARY("chlo.sinh", complex_sinh),
	UNARY("chlo.cosh", complex_cosh),
	UNARY("chlo.tan", complex_tan),
	UNARY("chlo.square", complex_square),
	ROW("stablehlo.abs", absolute, ALL, 1),
	ROW("stablehlo.convert", convert, 0, 1),
	ROW("stablehlo.compare", compare, ALL, 2),
	ROW("stablehlo.select", apart, 6, 1),
	ROW("stablehlo.dot_general", dot, ALL, 2),
	ROW("stablehlo.broadcast_in_dim", apart, ALL, 1),
	ROW("stablehlo.reshape", apart, ALL, 1),
	ROW("stablehlo.transpose", apart, ALL, 1),
	ROW("stablehlo.reverse", apart, ALL, 1),
	ROW("stablehlo.concatenate", apart, ALL, 1),
	ROW("stablehlo.slice", apart, ALL, 1),
	ROW("stablehlo.pad", apart, ALL, 1),
	ROW("stablehlo.dynamic_slice", apart, 1, 1),
	ROW("stablehlo.dynamic_update_slice", apart, 3, 1),
	ROW("stablehlo.gather", apart, 1, 1),
	ROW("stablehlo.scatter", scatter, 5, 2),
	ROW("stablehlo.iota", iota, 0, 0),
	/* by each element of a pair, or by what is inside */
	ROW("stablehlo.fft", NULL, 0, 0),
	ROW("func.call", NULL, 0, 0),
	ROW("stablehlo.while", NULL, 0, 0),
	ROW("stablehlo.case", NULL, 0, 0),
	ROW("stablehlo.if", NULL, 0, 0),
	ROW("stablehlo.optimization_barrier", NULL, 0, 0),
	ROW("stablehlo.custom_call", NULL, 0, 0),
	ROW("sdy.sharding_constraint", NULL, 0, 0),
	ROW("sdy.sharding_group", NULL, 0, 0),
	ROW("sdy.manual_computation", NULL, 0, 0),
	ROW("stablehlo.all_gather", NULL, 0, 0),
	ROW("stablehlo.all_to_all", NULL, 0, 0),
	ROW("stablehlo.collective_permute", NULL, 0, 0),
};
#undef ROW
#undef UNARY
#undef BINARY

static const ComplexRow *
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

	return (!strcmp(op->name, "stablehlo.reduce")
		       || !strcmp(op->name, "stablehlo.reduce_window"))
		&& region_combiner(in, op, &c) && c == C_add;
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
	if (op->types.n != 1 || in->noperands < 1)
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
	const ComplexRow *found = row_of(op->name);

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

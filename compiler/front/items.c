/*
 * items.c - values known at compile time: arithmetic on them, and the
 * constants they become when they meet a tensor.
 */
#include <inttypes.h>
#include <math.h>

#include "elaborate.h"

Item
item_error(Range r)
{
	return (Item){.kind = IT_error, .range = r};
}

Item
item_int(Range r, int64_t v)
{
	return (Item){.kind = IT_int, .range = r, .integer = v};
}

Item
item_float(Range r, double v)
{
	return (Item){.kind = IT_float, .range = r, .real = v};
}

Item
item_bool(Range r, bool v)
{
	return (Item){.kind = IT_bool, .range = r, .integer = v};
}

Item
item_tensor(Range r, Value *v)
{
	if (v == NULL)
		return item_error(r);
	return (Item){.kind = IT_tensor, .range = r, .value = v};
}

Item
item_tuple(Elab *e, Range r, int n, const Item *items)
{
	Item t = {.kind = IT_tuple, .range = r, .n = n};
	t.items = arena_copy(e->arena, items, (size_t)n * sizeof *items);
	return t;
}

bool
item_is_number(const Item *x)
{
	return x->kind == IT_int || x->kind == IT_float || x->kind == IT_bool;
}

double
item_double(const Item *x)
{
	return x->kind == IT_float ? x->real : (double)x->integer;
}

/* ---- arithmetic */

static Item
overflow(Elab *e, Range r, int64_t a, Operator op, int64_t b)
{
	static const char *const spellings[] = {
#define OPERATOR(id, spelling, kind, direction) spelling,
#include "operators.def"
#undef OPERATOR
	};
	complain(e, DIAG_size, r, "%" PRId64 " %s %" PRId64 " does not fit in 64 bits", a,
		spellings[op], b);
	return item_error(r);
}

static Item
fold_divide(Elab *e, Range r, Operator op, int64_t a, int64_t b)
{
	if (b == 0) {
		complain(e, DIAG_size, r, "division of %" PRId64 " by zero", a);
		return item_error(r);
	}
	if (b == -1) {
		if (op == OPERATOR_rem)
			return item_int(r, 0);
		if (a == INT64_MIN)
			return overflow(e, r, a, op, b);
	}
	return item_int(r, op == OPERATOR_div ? a / b : a % b);
}

static Item
fold_integers(Elab *e, Range r, Operator op, int64_t a, int64_t b)
{
	int64_t v = 0;
	bool fits = false;
	if (op == OPERATOR_div || op == OPERATOR_rem)
		return fold_divide(e, r, op, a, b);
	if (op == OPERATOR_add)
		fits = add_i64(a, b, &v);
	else if (op == OPERATOR_mul)
		fits = mul_i64(a, b, &v);
	else
		fits = !__builtin_sub_overflow(a, b, &v);
	return fits ? item_int(r, v) : overflow(e, r, a, op, b);
}

static double
float_result(Operator op, double a, double b)
{
	if (op == OPERATOR_add)
		return a + b;
	if (op == OPERATOR_sub)
		return a - b;
	if (op == OPERATOR_mul)
		return a * b;
	return op == OPERATOR_div ? a / b : fmod(a, b);
}

static bool
compare_result(Operator op, const Item *a, const Item *b)
{
	double x = item_double(a), y = item_double(b);
	int order = x < y ? -1 : x > y;
	if (a->kind != IT_float && b->kind != IT_float)
		order = a->integer < b->integer ? -1 : a->integer > b->integer;
	else if (isnan(x) || isnan(y))
		return op == OPERATOR_ne;
	if (op == OPERATOR_eq)
		return order == 0;
	if (op == OPERATOR_ne)
		return order != 0;
	if (op == OPERATOR_lt)
		return order < 0;
	if (op == OPERATOR_le)
		return order <= 0;
	return op == OPERATOR_gt ? order > 0 : order >= 0;
}

Item
fold_binary(Elab *e, Range r, Operator op, const Item *a, const Item *b)
{
	bool logical = op == OPERATOR_and || op == OPERATOR_or;
	bool bools = a->kind == IT_bool && b->kind == IT_bool;
	bool mixed = (a->kind == IT_bool) != (b->kind == IT_bool);
	bool compares = op >= OPERATOR_eq && op <= OPERATOR_ge;
	if (mixed || (logical ? !bools : bools && !compares)) {
		complain(e, DIAG_dtype, r,
			"this operator does not take %s and "
			"%s",
			show_item(e, a), show_item(e, b));
		return item_error(r);
	}
	if (logical)
		return item_bool(r,
			op == OPERATOR_and ? a->integer & b->integer : a->integer | b->integer);
	if (compares)
		return item_bool(r, compare_result(op, a, b));
	if (a->kind == IT_int && b->kind == IT_int)
		return fold_integers(e, r, op, a->integer, b->integer);
	return item_float(r, float_result(op, item_double(a), item_double(b)));
}

Item
fold_unary(Elab *e, Range r, Operator op, const Item *x)
{
	if (op == OPERATOR_not && x->kind == IT_bool)
		return item_bool(r, !x->integer);
	if (op == OPERATOR_neg && x->kind == IT_float)
		return item_float(r, -x->real);
	if (op == OPERATOR_neg && x->kind == IT_int)
		return fold_integers(e, r, OPERATOR_sub, 0, x->integer);
	complain(e, DIAG_dtype, r, "'%s' does not take %s", op == OPERATOR_not ? "!" : "-",
		show_item(e, x));
	return item_error(r);
}

/* ---- constants */

/* Digits of the fraction and exponent of the least normal (as frexp has it)
   of the float dtypes. */
static const struct Format {
	DType dtype;
	int digits, least;
	double greatest;
} formats[] = {
	{D_f16, 11, -13, 65504.0},
	{D_bf16, 8, -125, 3.38953138925153547590e38},
	{D_f32, 24, -125, 3.40282346638528859812e38},
	{D_f64, 53, -1021, 1.7976931348623157e308},
};

/* The nearest value of the dtype, half to even; infinity past its range. */
static double
round_to(DType dtype, double v)
{
	const struct Format *f = formats;
	while (f->dtype != dtype)
		f++;
	if (v == 0 || !isfinite(v) || dtype == D_f64)
		return v;
	int exponent;
	frexp(v, &exponent);
	if (exponent < f->least)
		exponent = f->least;
	double quantum = ldexp(1.0, exponent - f->digits);
	v = nearbyint(v / quantum) * quantum;
	return fabs(v) > f->greatest ? copysign(INFINITY, v) : v;
}

static Value *
float_constant(Elab *e, Site s, DType dtype, const Item *x)
{
	double v = item_double(x), rounded = round_to(dtype, v);
	if (isinf(rounded) && !isinf(v)) {
		complain(e, DIAG_literal, x->range,
			"%g is out of the range "
			"of %s",
			v, dtypes[dtype].name);
		return NULL;
	}
	return make_constant(at(e, s), dtype, double_payload(rounded));
}

static bool
fits(DType dtype, int64_t v)
{
	int bits = dtypes[dtype].bytes * 8;
	if (dtypes[dtype].class == DC_unsigned)
		return v >= 0 && v >> bits == 0;
	return bits == 64 || (v >> (bits - 1) == 0 || v >> (bits - 1) == -1);
}

static Value *
integer_constant(Elab *e, Site s, DType dtype, const Item *x)
{
	if (x->kind == IT_float) {
		complain(e, DIAG_literal, x->range,
			"a float literal cannot "
			"become %s; convert the tensor, f32(x), or write an "
			"integer",
			dtypes[dtype].name);
		return NULL;
	}
	if (!fits(dtype, x->integer)) {
		complain(e, DIAG_literal, x->range,
			"%" PRId64 " is not a "
			"value of %s",
			x->integer, dtypes[dtype].name);
		return NULL;
	}
	return make_constant(at(e, s), dtype, x->integer);
}

Value *
item_constant(Elab *e, Site s, DType dtype, const Item *x)
{
	if ((x->kind == IT_bool) != (dtype == D_pred)) {
		complain(e, DIAG_dtype, x->range, "%s cannot become %s", show_item(e, x),
			dtypes[dtype].name);
		return NULL;
	}
	if (dtype == D_pred)
		return make_constant(at(e, s), dtype, x->integer);
	if (dtype_is_float(dtype))
		return float_constant(e, s, dtype, x);
	return integer_constant(e, s, dtype, x);
}

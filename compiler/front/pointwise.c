/*
 * pointwise.c - built-in functions of one element, or of one of each operand.
 */
#include <math.h>

#include "builders.h"

static double
reciprocal_sqrt(double x)
{
	return 1 / sqrt(x);
}

static double
sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

static double
negative(double x)
{
	return -x;
}

static double
sign(double x)
{
	return x > 0 ? 1 : x < 0 ? -1 : x;
}

/* Functions of a number known at compile time are numbers. */
static const struct Fold {
	OpKind op;
	double (*f)(double);
} folds[] = {
	{O_abs, fabs},
	{O_neg, negative},
	{O_sign, sign},
	{O_exp, exp},
	{O_expm1, expm1},
	{O_log, log},
	{O_log1p, log1p},
	{O_sqrt, sqrt},
	{O_rsqrt, reciprocal_sqrt},
	{O_sin, sin},
	{O_cos, cos},
	{O_tanh, tanh},
	{O_erf, erf},
	{O_sigmoid, sigmoid},
	{O_floor, floor},
	{O_ceil, ceil},
	{O_round, nearbyint},
};

static bool
takes_any_number(OpKind kind)
{
	return kind == O_abs || kind == O_neg || kind == O_sign;
}

static bool
is_real(const Item *x)
{
	return x->kind == IT_int || x->kind == IT_float;
}

/* abs, neg and sign of an integer are integers, if they are in 53 bits. */
static bool
fold_integer(const Call *c, const Item *x, double v, Item *result)
{
	if (x->kind != IT_int || !takes_any_number((OpKind)c->builtin->detail)
		|| fabs(v) > 0x1p53)
		return false;
	*result = item_int(c->expr->range, (int64_t)v);
	return true;
}

static bool
fold_function(const Call *c, const Item *x, Item *result)
{
	if (!is_real(x))
		return false;
	for (size_t i = 0; i < sizeof folds / sizeof *folds; i++) {
		if ((int)folds[i].op != c->builtin->detail)
			continue;
		double v = folds[i].f(item_double(x));
		if (!fold_integer(c, x, v, result))
			*result = item_float(c->expr->range, v);
		return true;
	}
	return false;
}

static bool
integer_power(int64_t a, int64_t n, int64_t *v)
{
	*v = 1;
	if (a >= -1 && a <= 1 && n > 2)
		n = 2 - n % 2;
	for (int64_t i = 0; i < n; i++)
		if (!mul_i64(*v, a, v))
			return false;
	return n >= 0;
}

static Item
fold_power(const Item *a, const Item *b, Range r)
{
	int64_t v;
	if (a->kind == IT_int && b->kind == IT_int && integer_power(a->integer, b->integer, &v))
		return item_int(r, v);
	return item_float(r, pow(item_double(a), item_double(b)));
}

/* The larger, or the smaller (sign -1); NaN wins. */
static Item
fold_extreme(Item a, Item b, int sign)
{
	double x = item_double(&a), y = item_double(&b);
	bool left = a.kind == IT_int && b.kind == IT_int
		? (sign > 0) == (a.integer > b.integer)
		: isnan(x) || (!isnan(y) && (x - y) * sign > 0);
	Item v = left ? a : b;
	return a.kind == b.kind ? v : item_float(v.range, item_double(&v));
}

/* pow, maximum, minimum and clamp of numbers alone. */
static bool
fold_numbers(const Call *c, Item *v)
{
	const Item *x = c->args;
	OpKind kind = (OpKind)c->builtin->detail;
	for (int i = 0; i < ops[kind].operands; i++)
		if (!is_real(&x[i]))
			return false;
	if (kind == O_pow)
		*v = fold_power(&x[0], &x[1], c->expr->range);
	else if (kind == O_clamp)
		*v = fold_extreme(fold_extreme(x[1], x[0], 1), x[2], -1);
	else if (kind == O_maximum || kind == O_minimum)
		*v = fold_extreme(x[0], x[1], kind == O_maximum ? 1 : -1);
	else
		return false;
	v->range = c->expr->range;
	return true;
}

/* An operation on floats given something else: say how to convert. */
static bool
float_tensor(Elab *e, const Call *c, const Value *x)
{
	if (dtype_is_float(x->type.dtype))
		return true;
	complain(e, DIAG_dtype, c->args[0].range,
		"'%s' needs floats, not %s; "
		"convert: f32(...)",
		c->builtin->name, dtypes[x->type.dtype].name);
	return false;
}

static bool
number_tensor(Elab *e, const Call *c, const Value *x)
{
	if (x->type.dtype != D_pred)
		return true;
	complain(e, DIAG_dtype, c->args[0].range,
		"'%s' needs numbers, not "
		"pred; convert: i32(...)",
		c->builtin->name);
	return false;
}

/* No unsigned number is negative: abs changes nothing, and sign is
   minimum(x, 1); HLO has neither for them. */
static Value *
unsigned_unary(Elab *e, Site s, OpKind kind, Value *x)
{
	if (kind == O_abs)
		return x;
	Value *one = make_constant(at(e, s), x->type.dtype, 1);
	return make_binary(at(e, s), O_minimum, x, make_broadcast_to(at(e, s), one, &x->type));
}

Item
build_unary(Elab *e, Call *c)
{
	OpKind kind = (OpKind)c->builtin->detail;
	Item folded;
	Value *x;
	if (fold_function(c, &c->args[0], &folded))
		return folded;
	if (!want_tensor(e, c, 0, &x))
		return item_error(c->expr->range);
	if (takes_any_number(kind) ? !number_tensor(e, c, x) : !float_tensor(e, c, x))
		return item_error(c->expr->range);
	bool is_unsigned = dtypes[x->type.dtype].class == DC_unsigned;
	if (is_unsigned && (kind == O_abs || kind == O_sign))
		return item_tensor(c->expr->range, unsigned_unary(e, c->site, kind, x));
	return item_tensor(c->expr->range, make_unary(at(e, c->site), kind, x));
}

static int
arity(OpKind kind)
{
	return ops[kind].operands;
}

Item
build_nary(Elab *e, Call *c)
{
	OpKind kind = (OpKind)c->builtin->detail;
	Item folded;
	if (fold_numbers(c, &folded))
		return folded;
	return apply_pointwise(e, c->site, kind, DIR_EQ, arity(kind), c->args);
}

/* The condition is a pred; the other two have one dtype. */
Item
build_where(Elab *e, Call *c)
{
	Value *v[3];
	Type shape;
	Item error = item_error(c->expr->range);
	if (!want_tensor(e, c, 0, &v[0]))
		return error;
	if (v[0]->type.dtype != D_pred) {
		complain(e, DIAG_dtype, c->args[0].range,
			"the condition of "
			"'where' is %s; pred is wanted, as from a comparison",
			show_type(e, &v[0]->type));
		return error;
	}
	Item *a = &c->args[1], *b = &c->args[2];
	bool tensors[2] = {a->kind == IT_tensor, b->kind == IT_tensor};
	if (!tensors[0] && !tensors[1]) {
		complain(e, DIAG_literal, c->expr->range,
			"'where' of literals "
			"alone has no dtype; write one as a cast: f32(...)");
		return error;
	}
	DType dtype = tensors[0] ? a->value->type.dtype : b->value->type.dtype;
	for (int i = 0; i < 2; i++) {
		Item *x = &c->args[i + 1];
		if (item_is_number(x))
			v[i + 1] = item_constant(e, c->site, dtype, x);
		else if (!want_tensor(e, c, i + 1, &v[i + 1]))
			return error;
		if (v[i + 1] == NULL)
			return error;
	}
	if (v[1]->type.dtype != v[2]->type.dtype) {
		complain(e, DIAG_dtype, c->expr->range,
			"'where' of %s and %s; "
			"convert one of them",
			dtypes[v[1]->type.dtype].name, dtypes[v[2]->type.dtype].name);
		return error;
	}
	if (!broadcast_shape(e, c->expr->range, 3, v, &shape))
		return error;
	for (int i = 0; i < 3; i++)
		v[i] = make_broadcast_to(at(e, c->site), v[i], &shape);
	return item_tensor(c->expr->range, make_select(at(e, c->site), v[0], v[1], v[2]));
}

/* A function of one tensor that the prelude has; detail 1: of floats. */
Item
build_prelude1(Elab *e, Call *c)
{
	Value *x;
	if (is_real(&c->args[0]))
		return call_prelude(e, c->site, c->builtin->name, false, 1, c->args);
	if (!want_tensor(e, c, 0, &x) || !number_tensor(e, c, x))
		return item_error(c->expr->range);
	if (c->builtin->detail == 1 && !float_tensor(e, c, x))
		return item_error(c->expr->range);
	return call_prelude(e, c->site, c->builtin->name, false, 1, c->args);
}

Item
build_gelu(Elab *e, Call *c)
{
	Value *x;
	bool approximate;
	if (!want_bool(e, c, 1, &approximate)
		|| (!is_real(&c->args[0])
			&& (!want_tensor(e, c, 0, &x) || !float_tensor(e, c, x))))
		return item_error(c->expr->range);
	return call_prelude(e, c->site, approximate ? "gelu_tanh" : "gelu_erf", false, 1,
		c->args);
}

/* ---- for the prelude */

Item
build_widen(Elab *e, Call *c)
{
	Value *x;
	if (!want_tensor(e, c, 0, &x))
		return item_error(c->expr->range);
	DType dtype = x->type.dtype;
	bool half = dtype == D_bf16 || dtype == D_f16;
	return item_tensor(c->expr->range,
		make_convert(at(e, c->site), x, half ? D_f32 : dtype));
}

Item
build_narrow(Elab *e, Call *c)
{
	Value *x, *like;
	if (!want_tensor(e, c, 0, &x) || !want_tensor(e, c, 1, &like))
		return item_error(c->expr->range);
	return item_tensor(c->expr->range, make_convert(at(e, c->site), x, like->type.dtype));
}

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

/* Functions of a number known at compile time are numbers. */
static const struct Fold {
	OpKind op;
	double (*f)(double);
} folds[] = {
	{ O_abs, fabs }, { O_exp, exp }, { O_expm1, expm1 }, { O_log, log },
	{ O_log1p, log1p }, { O_sqrt, sqrt }, { O_rsqrt, reciprocal_sqrt },
	{ O_sin, sin }, { O_cos, cos }, { O_tanh, tanh }, { O_erf, erf },
	{ O_sigmoid, sigmoid }, { O_floor, floor }, { O_ceil, ceil },
	{ O_round, nearbyint },
};

static bool
fold_function(const Call *c, const Item *x, Item *result)
{
	if (x->kind != IT_int && x->kind != IT_float)
		return false;
	for (size_t i = 0; i < sizeof folds / sizeof *folds; i++) {
		if ((int)folds[i].op != c->builtin->detail)
			continue;
		*result = item_float(c->expr->range,
			folds[i].f(item_double(x)));
		return true;
	}
	return false;
}

/* An operation on floats given something else: say how to convert. */
static bool
float_tensor(Elab *e, const Call *c, const Value *x)
{
	if (dtype_is_float(x->type.dtype))
		return true;
	complain(e, DIAG_dtype, c->args[0].range, "'%s' needs floats, not %s; "
		"convert: f32(...)", c->builtin->name,
		dtypes[x->type.dtype].name);
	return false;
}

static bool
number_tensor(Elab *e, const Call *c, const Value *x)
{
	if (x->type.dtype != D_pred)
		return true;
	complain(e, DIAG_dtype, c->args[0].range, "'%s' needs numbers, not "
		"pred; convert: i32(...)", c->builtin->name);
	return false;
}

static bool
takes_any_number(OpKind kind)
{
	return kind == O_abs || kind == O_neg || kind == O_sign;
}

/* No unsigned number is negative: abs changes nothing, and sign is
   minimum(x, 1); HLO has neither for them. */
static Value *
unsigned_unary(Elab *e, Site s, OpKind kind, Value *x)
{
	if (kind == O_abs)
		return x;
	Value *one = emit_constant(e, s, x->type.dtype, 1);
	return emit2(e, s, O_minimum, x, broadcast_to(e, s, one, &x->type));
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
	if (takes_any_number(kind) ? !number_tensor(e, c, x)
	    : !float_tensor(e, c, x))
		return item_error(c->expr->range);
	bool is_unsigned = dtypes[x->type.dtype].class == DC_unsigned;
	if (is_unsigned && (kind == O_abs || kind == O_sign))
		return item_tensor(c->expr->range,
			unsigned_unary(e, c->site, kind, x));
	return item_tensor(c->expr->range, emit1(e, c->site, kind, x));
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
		complain(e, DIAG_dtype, c->args[0].range, "the condition of "
			"'where' is %s; pred is wanted, as from a comparison",
			show_type(e, &v[0]->type));
		return error;
	}
	Item *a = &c->args[1], *b = &c->args[2];
	bool tensors[2] = { a->kind == IT_tensor, b->kind == IT_tensor };
	if (!tensors[0] && !tensors[1]) {
		complain(e, DIAG_literal, c->expr->range, "'where' of literals "
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
		complain(e, DIAG_dtype, c->expr->range, "'where' of %s and %s; "
			"convert one of them", dtypes[v[1]->type.dtype].name,
			dtypes[v[2]->type.dtype].name);
		return error;
	}
	if (!broadcast_shape(e, c->expr->range, 3, v, &shape))
		return error;
	for (int i = 0; i < 3; i++)
		v[i] = broadcast_to(e, c->site, v[i], &shape);
	return item_tensor(c->expr->range,
		emit3(e, c->site, O_select, v[0], v[1], v[2]));
}

/* A function of one tensor that the prelude has; detail 1: of floats. */
Item
build_prelude1(Elab *e, Call *c)
{
	Value *x;
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
	if (!want_tensor(e, c, 0, &x) || !want_bool(e, c, 1, &approximate)
	    || !float_tensor(e, c, x))
		return item_error(c->expr->range);
	return call_prelude(e, c->site, approximate ? "gelu_tanh" : "gelu_erf",
		false, 1, c->args);
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
		emit_convert(e, c->site, x, half ? D_f32 : dtype));
}

Item
build_narrow(Elab *e, Call *c)
{
	Value *x, *like;
	if (!want_tensor(e, c, 0, &x) || !want_tensor(e, c, 1, &like))
		return item_error(c->expr->range);
	return item_tensor(c->expr->range,
		emit_convert(e, c->site, x, like->type.dtype));
}

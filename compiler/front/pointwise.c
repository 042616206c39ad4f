/*
 * pointwise.c - built-in functions of one element, or of one of each operand.
 */
#include <float.h>
#include <math.h>

#include "builders.h"
#include "ir/numbers.h"

static bool
is_real(const Item *x)
{
	return x->kind == IT_int || x->kind == IT_float;
}

/* A function of numbers known at compile time is a number: of integers an
   integer, where that is what the function of floats gives, too. */
static bool
fold(const Call *c, OpKind kind, Item *result)
{
	const NumberInfo *row = &numbers[kind];
	bool integers = row->of_integers != NULL;
	double x[3] = {0};
	int64_t n[3] = {0};
	for (int i = 0; i < ops[kind].operands; i++) {
		if (!is_real(&c->args[i]))
			return false;
		x[i] = item_double(&c->args[i]);
		n[i] = c->args[i].integer;
		integers &= c->args[i].kind == IT_int;
	}
	if (row->of_floats == NULL)
		return false;
	double v = row->of_floats(x[0], x[1], x[2]);
	int64_t whole = integers ? row->of_integers(n[0], n[1], n[2]) : 0;
	*result = integers && isfinite(v) && fabs((double)whole - v) <= DBL_EPSILON * fabs(v)
		? item_int(c->expr->range, whole)
		: item_float(c->expr->range, v);
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

static Item
unary(Elab *e, Call *c, OpKind kind)
{
	bool any_number = numbers[kind].of_integers != NULL;
	Value *x;
	if (!want_tensor(e, c, 0, &x)
		|| !(any_number ? number_tensor(e, c, x) : float_tensor(e, c, x)))
		return item_error(c->expr->range);
	if (dtypes[x->type.dtype].class == DC_unsigned && (kind == O_abs || kind == O_sign))
		return item_tensor(c->expr->range, unsigned_unary(e, c->site, kind, x));
	return item_tensor(c->expr->range, make_unary(at(e, c->site), kind, x));
}

Item
build_pointwise(Elab *e, Call *c)
{
	OpKind kind = (OpKind)c->builtin->detail;
	Item folded;
	if (fold(c, kind, &folded))
		return folded;
	if (ops[kind].operands == 1)
		return unary(e, c, kind);
	return apply_pointwise(e, c->site, kind, DIR_EQ, ops[kind].operands, c->args);
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

/*
 * pointwise.c - built-in functions of one element, or of one of each operand.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "builtins.h"
#include "ir/numbers.h"

/* A function of numbers known at compile time is a number: of integers an
   integer, where that is what the function of floats gives, too.  No unsigned
   number is negative: abs changes nothing, and sign is minimum(x, 1); HLO has
   neither for them. */
Value *
build_pointwise(Call *c, const Argument *a)
{
	OpKind kind = (OpKind)c->builtin->detail;
	const NumberInfo *row = &numbers[kind];
	bool known = row->of_floats != NULL, integers = row->of_integers != NULL;
	double x[3] = {0};
	int64_t n[3] = {0};
	for (int i = 0; i < c->nitems; i++) {
		ItemKind item = c->items[i].kind;
		x[i] = item_double(&c->items[i]);
		n[i] = c->items[i].integer;
		known &= item == IT_int || item == IT_float;
		integers &= item == IT_int;
	}
	if (known) {
		double v = row->of_floats(x[0], x[1], x[2]);
		int64_t whole = integers ? row->of_integers(n[0], n[1], n[2]) : 0;
		bool same = integers && isfinite(v)
			&& fabs((double)whole - v) <= DBL_EPSILON * fabs(v);
		c->result =
			same ? item_int(c->site.range, whole) : item_float(c->site.range, v);
		return NULL;
	}
	if (c->nitems > 1) {
		c->result = apply_pointwise(c->elab, c->site, kind, c->nitems, c->items);
		return NULL;
	}
	Value *operand = a[0].tensor;
	bool is_unsigned = dtypes[operand->type.dtype].class == DC_unsigned;
	if (is_unsigned && kind == O_abs)
		return operand;
	if (!is_unsigned || kind != O_sign)
		return make_unary(c->make, kind, operand);
	Value *one = make_constant(c->make, operand->type.dtype, 1);
	one = make_broadcast_to(c->make, one, &operand->type);
	return make_binary(c->make, O_minimum, operand, one);
}

/* The condition is a pred; the other two have one dtype. */
Value *
build_where(Call *c, const Argument *a)
{
	Value *v[3] = {a[0].tensor};
	Type shape;
	if (!to_tensors(c->elab, c->site, 2, &c->items[1], &v[1])
		|| !operand_shape(c->elab, c->site, 3, c->items, v, &shape))
		return NULL;
	for (int i = 0; i < 3; i++)
		v[i] = make_broadcast_to(c->make, v[i], &shape);
	return make_select(c->make, v[0], v[1], v[2]);
}

/* ---- functions of the prelude */

/* One that has its name and its parameters; detail 1: as a composite call. */
Value *
build_prelude(Call *c, const Argument *a)
{
	const char *name = c->builtin->name;
	(void)a;
	c->prelude = strcmp(name, "var") == 0 ? "variance" : name; /* `var` is reserved */
	c->composite = c->builtin->detail;
	return NULL;
}

Value *
build_gelu(Call *c, const Argument *a)
{
	c->prelude = a[1].integer ? "gelu_tanh" : "gelu_erf";
	c->nitems = 1;
	return NULL;
}

/* ---- for the prelude */

Value *
build_widen(Call *c, const Argument *a)
{
	DType dtype = a[0].tensor->type.dtype;
	return make_convert(c->make, a[0].tensor, dtype_is_narrow(dtype) ? D_f32 : dtype);
}

Value *
build_narrow(Call *c, const Argument *a)
{
	return make_convert(c->make, a[0].tensor, a[1].tensor->type.dtype);
}

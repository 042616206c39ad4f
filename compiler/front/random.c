/*
 * random.c - random.uniform and random.normal.
 *
 * Element number n of a tensor, counted in row-major order, is a function of n
 * and the seed alone, so that it is the same on every mesh: the prelude's
 * random_bits() hashes it with threefry2x32, as JAX does.
 *
 *   random.uniform(f32[B@X, D], 7)
 *     n     = iota dim 0 * D + iota dim 1     u32[B, D]
 *     bits  = threefry(key 7, n)              u32[B, D]
 *     value = (bits >> 9) * 2^-23             f32[B, D]
 */
#include <inttypes.h>
#include <math.h>

#include "builders.h"

/* ---- for the prelude: the number of each element */

Item
build_number(Elab *e, Call *c)
{
	Annotation a;
	Type type;
	if (!want_type(e, c, 0, &a) || !annotation_type(e, &a, &type))
		return item_error(c->expr->range);
	Site s = c->site;
	Item zero = item_int(s.range, 0);
	Value *n = NULL;
	int64_t stride = 1;
	for (int d = type.rank - 1; d >= 0; d--) {
		Item size = item_int(s.range, stride);
		Value *along = make_iota(at(e, s), &type, d);
		Value *scale = item_constant(e, s, D_u32, &size);
		if (stride > 1)
			along = make_binary(at(e, s), O_mul, along,
				make_broadcast_to(at(e, s), scale, &type));
		n = n == NULL ? along : make_binary(at(e, s), O_add, n, along);
		stride *= type.dims[d];
	}
	if (n == NULL)
		n = item_constant(e, s, D_u32, &zero);
	return item_tensor(c->expr->range, n);
}

/* ---- the functions */

/* The type as an argument that needs no names: u32[8, 4]. */
static Item
bits_type(Elab *e, Range where, const Type *type)
{
	TypeSpec *spec = NEW(e->arena, TypeSpec);
	DimSpec *dims = NEW_ARRAY(e->arena, DimSpec, type->rank + 1);
	Expr *sizes = NEW_ARRAY(e->arena, Expr, type->rank + 1);
	spec->has_dtype = spec->has_dims = true;
	spec->dtype = D_u32;
	spec->range = where;
	spec->dims.n = type->rank;
	spec->dims.v = NEW_ARRAY(e->arena, void *, type->rank + 1);
	for (int d = 0; d < type->rank; d++) {
		sizes[d] = (Expr){.kind = E_int, .range = where, .integer = type->dims[d]};
		dims[d] = (DimSpec){.range = where, .size = &sizes[d]};
		spec->dims.v[d] = &dims[d];
	}
	return (Item){.kind = IT_type, .range = where, .type = spec};
}

/* Elements are numbered in u32. */
static bool
can_number(Elab *e, Call *c, const Type *type)
{
	if (!dtype_is_float(type->dtype)) {
		complain(e, DIAG_dtype, c->args[0].range,
			"'%s' makes floats, "
			"not %s",
			c->builtin->name, dtypes[type->dtype].name);
		return false;
	}
	if (type_elements(type) <= (int64_t)1 << 32)
		return true;
	complain(e, DIAG_size, c->args[0].range,
		"%s has more than 2^32 "
		"elements, which are numbered in 32 bits",
		show_type(e, type));
	return false;
}

/* The seed as a key of two words; JAX's key(seed). */
static bool
want_key(Elab *e, Call *c, int i, Item *high, Item *low)
{
	const Item *x = &c->args[i];
	bool number = x->kind == IT_int;
	int64_t seed = number ? x->integer : 0;
	bool narrow = seed == (int32_t)seed;
	*high = item_int(x->range, narrow ? 0 : (uint32_t)(seed >> 32));
	*low = item_int(x->range, (uint32_t)seed);
	*high = item_tensor(x->range, item_constant(e, c->site, D_u32, high));
	*low = item_tensor(x->range, item_constant(e, c->site, D_u32, low));
	if (number)
		return true;
	const Value *v = x->value;
	if (x->kind == IT_tensor && v->type.rank == 0
		&& (v->type.dtype == D_i32 || v->type.dtype == D_u32)) {
		*low = item_tensor(x->range, make_convert(at(e, c->site), x->value, D_u32));
		return true;
	}
	complain(e, DIAG_argument_kind, x->range,
		"a seed is an integer or a "
		"scalar of i32 or u32, not %s",
		show_item(e, x));
	return false;
}

/* Bits of the fraction that are random; those of a float below 1 that all
   dtypes but f64 have. */
static int
random_digits(DType dtype)
{
	return dtype == D_bf16 ? 7 : dtype == D_f16 ? 10 : dtype == D_f64 ? 32 : 23;
}

/* detail 1: normal */
Item
build_random(Elab *e, Call *c)
{
	Annotation a;
	Type type;
	Item args[5], error = item_error(c->expr->range);
	if (!want_type(e, c, 0, &a) || !annotation_type(e, &a, &type)
		|| !can_number(e, c, &type) || !want_key(e, c, 1, &args[1], &args[2]))
		return error;
	bool normal = c->builtin->detail, wide = type.dtype == D_f64;
	int digits = normal ? 23 : random_digits(type.dtype);
	args[0] = bits_type(e, c->expr->range, &type);
	args[3] = item_int(c->expr->range, 32 - digits);
	args[4] = item_float(c->expr->range, ldexp(1.0, -digits));
	Item x = call_prelude(e, c->site,
		normal	       ? "random_normal"
			: wide ? "random_uniform64"
			       : "random_uniform",
		true, 5, args);
	if (x.kind != IT_tensor)
		return error;
	Value *v = make_convert(at(e, c->site), x.value, type.dtype);
	if (v != NULL && a.placed)
		v = emit_placed(e, c->site, O_constraint, v, &a);
	return item_tensor(c->expr->range, v);
}

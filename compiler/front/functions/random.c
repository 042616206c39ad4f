/*
 * random.c - random.uniform, random.normal and random.bernoulli.
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
#include <math.h>

#include "builtins.h"

/* ---- for the prelude: the number of each element */

Value *
build_number(Call *c, const Argument *a)
{
	const Type *type = &a[0].type;
	Value *n = NULL;
	int64_t stride = 1;
	for (int d = type->rank - 1; d >= 0; d--) {
		Item size = item_int(c->site.range, stride);
		Value *along = make_iota(c->make, type, d);
		Value *scale = item_constant(c->elab, c->site, D_u32, &size);
		if (stride > 1)
			along = make_binary(c->make, O_mul, along,
				make_broadcast_to(c->make, scale, type));
		n = n == NULL ? along : make_binary(c->make, O_add, n, along);
		stride *= type->dims[d];
	}
	return n != NULL ? n : make_constant(c->make, D_u32, 0);
}

/* ---- the functions */

/* The type of the bits, the key and what makes numbers below 1 of the upper `digits`. */
static bool
give_bits(Call *c, const Type *type, const Argument *seed, int digits)
{
	Elab *e = c->elab;
	Range r = c->site.range;
	if (type_elements(type) > (int64_t)1 << 32)
		return complain(e, DIAG_size, c->items[0].range,
			"%s has more than 2^32 elements, which are numbered in 32 bits",
			show_type(e, type));
	Type bits = type_of(D_u32, type->rank, type->dims);
	c->as = c->items[0].type;
	c->items[0] = (Item){.kind = IT_type, .range = r, .type = annotation_of(e, r, &bits)};
	c->items[1] = item_tensor(seed->range, seed->key[0]);
	c->items[2] = item_tensor(seed->range, seed->key[1]);
	c->items[3] = item_int(r, 32 - digits);
	c->items[4] = item_float(r, ldexp(1.0, -digits));
	c->nitems = 5;
	c->composite = true;
	return true;
}

/* detail 1: normal */
Value *
build_random(Call *c, const Argument *a)
{
	const Type *type = &a[0].type;
	bool normal = c->builtin->detail, wide = type->dtype == D_f64;
	if (!dtype_is_float(type->dtype))
		return complain(c->elab, DIAG_dtype, a[0].range, "'%s' makes floats, not %s",
			c->builtin->name, dtypes[type->dtype].name);
	/* Bits of the fraction that are random; those of a float below 1 that all
	   dtypes but f64 have. */
	int digits = normal		       ? 23
		: wide			       ? 32
		: dtype_is_narrow(type->dtype) ? float_formats[type->dtype].digits - 1
					       : 23;
	if (give_bits(c, type, &a[1], digits))
		c->prelude = normal ? "random_normal"
			: wide	    ? "random_uniform64"
				    : "random_uniform";
	return NULL;
}

/* A uniform number of f32 below p, which broadcasts to the type. */
Value *
build_bernoulli(Call *c, const Argument *a)
{
	const Type *type = &a[0].type;
	Item p = c->items[1];
	Value *v = a[1].tensor;
	Type same = type_of(v != NULL ? v->type.dtype : D_f32, type->rank, type->dims);
	if (v != NULL && !broadcasts_to(&v->type, &same))
		return complain(c->elab, DIAG_broadcast, a[1].range,
			"%s does not broadcast to %s: counted from the last, dims must be "
			"equal or 1",
			show_type(c->elab, &v->type), show_type(c->elab, type));
	if (v == NULL && !(item_double(&p) >= 0 && item_double(&p) <= 1))
		return complain(c->elab, DIAG_argument_kind, a[1].range,
			"a probability is from 0 to 1, not %g", item_double(&p));
	if (v != NULL)
		p = item_tensor(a[1].range, make_convert(c->make, v, D_f32));
	if (!give_bits(c, type, &a[2], 23))
		return NULL;
	c->items[c->nitems++] = p;
	c->prelude = "random_bernoulli";
	return NULL;
}

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

/* detail 1: normal */
Value *
build_random(Call *c, const Argument *a)
{
	Elab *e = c->elab;
	const Type *type = &a[0].type;
	Range r = c->site.range;
	bool normal = c->builtin->detail, wide = type->dtype == D_f64;
	if (!dtype_is_float(type->dtype))
		return complain(e, DIAG_dtype, a[0].range, "'%s' makes floats, not %s",
			c->builtin->name, dtypes[type->dtype].name);
	if (type_elements(type) > (int64_t)1 << 32)
		return complain(e, DIAG_size, a[0].range,
			"%s has more than 2^32 elements, which are numbered in 32 bits",
			show_type(e, type));
	/* Bits of the fraction that are random; those of a float below 1 that all
	   dtypes but f64 have. */
	int digits = normal		? 23
		: wide			? 32
		: type->dtype == D_bf16 ? 7
		: type->dtype == D_f16	? 10
					: 23;
	Type bits = type_of(D_u32, type->rank, type->dims);
	c->as = c->items[0].type;
	c->items[0] = (Item){.kind = IT_type, .range = r, .type = annotation_of(e, r, &bits)};
	c->items[1] = item_tensor(a[1].range, a[1].key[0]);
	c->items[2] = item_tensor(a[1].range, a[1].key[1]);
	c->items[3] = item_int(r, 32 - digits);
	c->items[4] = item_float(r, ldexp(1.0, -digits));
	c->nitems = 5;
	c->prelude = normal ? "random_normal" : wide ? "random_uniform64" : "random_uniform";
	c->composite = true;
	return NULL;
}

/*
 * items.c - values known at compile time: arithmetic on them, and the
 * constants they become when they meet a tensor.
 */
#include <inttypes.h>
#include <math.h>

#include "elaborate.h"

const Item item_error;

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
		return item_error;
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
item_is_number(const Item *item)
{
	return item->kind == IT_int || item->kind == IT_float || item->kind == IT_bool;
}

double
item_double(const Item *item)
{
	return item->kind == IT_float ? item->real : (double)item->integer;
}

/* ---- constants */

Value *
item_constant(Elab *e, Site s, DType dtype, const Item *item)
{
	const DTypeInfo *info = &dtypes[dtype];
	int64_t n = item->integer;
	bool fits = (n >= 0 || info->class == DC_signed) && payload_fits(dtype, n);
	if ((item->kind == IT_bool) != (dtype == D_pred)) {
		complain(e, DIAG_dtype, item->range, "%s cannot become %s", show_item(e, item),
			info->name);
	} else if (dtype == D_pred) {
		return make_constant(at(e, s), dtype, n);
	} else if (dtype_is_float(dtype)) {
		double v = item_double(item), rounded = float_rounded(dtype, v);
		if (!isfinite(v) || isfinite(rounded))
			return make_constant(at(e, s), dtype, double_payload(rounded));
		complain(e, DIAG_literal, item->range, "%g is out of the range of %s", v,
			info->name);
	} else if (item->kind == IT_float) {
		complain(e, DIAG_literal, item->range,
			"a float literal cannot become %s; convert the tensor, f32(x), or "
			"write an integer",
			info->name);
	} else if (fits) {
		return make_constant(at(e, s), dtype, n);
	} else {
		complain(e, DIAG_literal, item->range, "%" PRId64 " is not a value of %s", n,
			info->name);
	}
	return NULL;
}

Item
item_typed(Elab *e, Site s, DType dtype, Item item)
{
	if (!item_is_number(&item))
		return item;
	return item_tensor(item.range, item_constant(e, s, dtype, &item));
}

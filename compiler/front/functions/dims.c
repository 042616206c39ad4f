/*
 * dims.c - arguments about the dims of a tensor, checked.
 *
 *   sum(x, dim=(1, -1))     dims 1 and 2 of x: f32[8,4,2]
 *
 * What the prelude is given are the items: dims in them are made to count from 0.
 */
#include <inttypes.h>

#include "builtins.h"

bool
normalize_dim(Elab *e, Range where, int64_t dim, int rank, int *result)
{
	int64_t d = dim < 0 && dim >= -rank ? dim + rank : dim;
	*result = (int)d;
	if (d >= 0 && d < rank)
		return true;
	if (rank == 0)
		complain(e, DIAG_dim_range, where,
			"dim %" PRId64 " of a scalar, which has no dims", dim);
	else
		complain(e, DIAG_dim_range, where,
			"there is no dim %" PRId64
			"; the tensor has dims 0 to %d (or %d to -1)",
			dim, rank - 1, -rank);
	return false;
}

bool
check_counted(Call *c, Range where, const Type *type, int dim)
{
	return type->dims[dim] <= INT32_MAX
		|| complain(c->elab, DIAG_size, where,
			"dim %d has %" PRId64 " elements, more than i32 counts", dim,
			type->dims[dim]);
}

bool
has_room(Call *c, const Type *type)
{
	return type->rank < MAX_USER_RANK
		|| complain(c->elab, DIAG_rank, c->site.range,
			"the result has %d dims; at most %d are allowed", type->rank + 1,
			MAX_USER_RANK);
}

/* 0, or (0,); new_dim: one that the result has and x has not. */
bool
arg_dim(Call *c, Argument *a)
{
	Item *x = a->item;
	const Type *type = referent(a);
	bool added = a->formal->type == PARAM_new_dim;
	if (added && !has_room(c, type))
		return false;
	if (x->kind == IT_tuple && x->n == 1)
		*x = x->items[0];
	if (!has_kind(c, a, x->kind == IT_int)
		|| !normalize_dim(c->elab, x->range, x->integer, type->rank + added, &a->dim))
		return false;
	x->integer = a->dim;
	return a->formal->type != PARAM_counted || check_counted(c, a->of->range, type, a->dim);
}

/* Left out, it is that of all of x in a line. */
bool
arg_line(Call *c, Argument *a)
{
	Argument *x = a->of;
	int64_t n = type_elements(&x->tensor->type);
	if (!a->given) {
		x->tensor = make_reshape(c->make, x->tensor, 1, &n);
		*x->item = item_tensor(x->range, x->tensor);
		*a->item = item_int(x->range, 0);
	}
	return x->tensor != NULL && arg_dim(c, a);
}

/* One integer, or a tuple of them. */
static bool
arg_ints(Call *c, Argument *a)
{
	const Item *x = a->item;
	const Item *items = x->kind == IT_tuple ? x->items : x;
	int n = x->kind == IT_tuple ? x->n : 1;
	a->dims.n = n;
	if (n > MAX_RANK)
		return complain(c->elab, DIAG_arguments, x->range,
			"'%s' of '%s' has %d numbers; at most %d make sense", a->formal->name,
			c->builtin->name, n, MAX_RANK);
	for (int k = 0; k < n; k++) {
		if (!has_kind(c, a, items[k].kind == IT_int))
			return false;
		a->dims.v[k] = items[k].integer;
	}
	return true;
}

/* The dims from 0, each at most once; *twice: one that is not. */
static bool
arg_distinct(Call *c, Argument *a, int *twice)
{
	int rank = referent(a)->rank;
	bool seen[MAX_RANK] = {false};
	*twice = -1;
	if (!arg_ints(c, a))
		return false;
	for (int k = 0; k < a->dims.n; k++) {
		int d;
		if (!normalize_dim(c->elab, a->range, a->dims.v[k], rank, &d))
			return false;
		if (seen[d] && *twice < 0)
			*twice = d;
		seen[d] = true;
		a->dims.v[k] = d;
	}
	return true;
}

/* One dim, a tuple of them, or (left out) all: in ascending order. */
bool
arg_dims(Call *c, Argument *a)
{
	Elab *e = c->elab;
	int rank = referent(a)->rank, twice = -1, n = 0;
	bool named[MAX_RANK] = {false};
	Item items[MAX_RANK];
	if (a->given && !arg_distinct(c, a, &twice))
		return false;
	if (twice >= 0)
		return complain(e, DIAG_dim_range, a->range, "dim %d is named twice", twice);
	for (int k = 0; a->given && k < a->dims.n; k++)
		named[a->dims.v[k]] = true;
	for (int d = 0; d < rank; d++)
		if (named[d] || !a->given) {
			items[n] = item_int(a->range, d);
			a->dims.v[n++] = d;
		}
	a->dims.n = n;
	*a->item = n == 1 ? items[0] : item_tuple(e, a->range, n, items);
	return true;
}

/* Each dim once; left out, the last first. */
bool
arg_order(Call *c, Argument *a)
{
	const Type *x = referent(a);
	int twice = -1;
	if (!a->given) {
		a->dims.n = x->rank;
		for (int d = 0; d < x->rank; d++)
			a->dims.v[d] = x->rank - 1 - d;
		return true;
	}
	if (!arg_distinct(c, a, &twice))
		return false;
	if (twice < 0 && a->dims.n == x->rank)
		return true;
	return complain(c->elab, DIAG_dim_range, a->range,
		"a transpose of %s names each of its %d dims once", show_type(c->elab, x),
		x->rank);
}

/* For each dim of x there is one. */
static bool
one_each(Call *c, const Argument *a, const char *what, int n)
{
	int rank = referent(a)->rank;
	return n == rank
		|| complain(c->elab, DIAG_argument_kind, a->range,
			"a tensor of %d dim%s needs as many %s, not %d", rank,
			rank == 1 ? "" : "s", what, n);
}

/* The size of a part, for each dim. */
bool
arg_lengths(Call *c, Argument *a)
{
	const Type *x = referent(a);
	if (!arg_ints(c, a) || !one_each(c, a, "sizes", a->dims.n))
		return false;
	for (int d = 0; d < x->rank; d++) {
		int64_t size = a->dims.v[d];
		if (size >= 1 && size <= x->dims[d])
			continue;
		return complain(c->elab, DIAG_index, a->range,
			"a slice of %" PRId64 " elements of dim %d, which has size %" PRId64,
			size, d, x->dims[d]);
	}
	return true;
}

/* For each dim a number or an integer scalar. */
bool
arg_starts(Call *c, Argument *a)
{
	const Item *x = a->item;
	const Item *items = x->kind == IT_tuple ? x->items : x;
	int n = x->kind == IT_tuple ? x->n : 1;
	if (!one_each(c, a, "starts", n))
		return false;
	for (int d = 0; d < n; d++) {
		Value *v = items[d].value;
		bool scalar = items[d].kind == IT_tensor && v->type.rank == 0
			&& dtype_is_integer(v->type.dtype);
		if (!scalar && items[d].kind != IT_int)
			return complain(c->elab, DIAG_index, items[d].range,
				"a start is an integer or a scalar of integers, not %s",
				show_item(c->elab, &items[d]));
		a->starts[d] = scalar ? v : make_index(c->make, items[d].integer);
	}
	return true;
}

bool
is_pair(const Item *item)
{
	return item->kind == IT_tuple && item->n == 2 && item->items[0].kind == IT_int
		&& item->items[1].kind == IT_int;
}

/* (lo, hi), or (lo, hi, between) */
static bool
is_width(const Item *item)
{
	bool right = item->kind == IT_tuple && (item->n == 2 || item->n == 3);

	for (int i = 0; right && i < item->n; i++)
		right = item->items[i].kind == IT_int;
	return right;
}

/* ((lo, hi), ...), one for each dim, a third number is between elements; what is negative cuts,
   and is known to leave some */
bool
arg_widths(Call *c, Argument *a)
{
	const Item *x = a->item;
	int rank = referent(a)->rank;
	bool right = x->kind == IT_tuple && x->n == rank;
	for (int d = 0; right && d < rank; d++) {
		const Item *width = &x->items[d];
		right = is_width(width);
		if (!right)
			break;
		a->widths.low[d] = width->items[0].integer;
		a->widths.high[d] = width->items[1].integer;
		a->widths.inner[d] = width->n == 3 ? width->items[2].integer : 0;
	}
	if (!right)
		complain(c->elab, DIAG_argument_kind, x->range,
			"the widths of a tensor of %d dim%s are %d pairs: ((lo, hi), ...)",
			rank, rank == 1 ? "" : "s", rank);
	return right;
}

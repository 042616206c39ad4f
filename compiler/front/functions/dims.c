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

/* 0, or (0,) */
static bool
arg_dim_of(Call *c, int i, Argument *args, int rank)
{
	Item *x = &c->items[i];
	if (x->kind == IT_tuple && x->n == 1)
		*x = x->items[0];
	if (!has_kind(c, i, x->kind == IT_int)
		|| !normalize_dim(c->elab, x->range, x->integer, rank, &args[i].dim))
		return false;
	x->integer = args[i].dim;
	return true;
}

bool
arg_dim(Call *c, int i, Argument *args)
{
	return arg_dim_of(c, i, args, referent(c, i, args)->rank);
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
arg_counted(Call *c, int i, Argument *args)
{
	return arg_dim(c, i, args)
		&& check_counted(c, args[0].range, referent(c, i, args), args[i].dim);
}

bool
has_room(Call *c, const Type *type)
{
	return type->rank < MAX_USER_RANK
		|| complain(c->elab, DIAG_rank, c->site.range,
			"the result has %d dims; at most %d are allowed", type->rank + 1,
			MAX_USER_RANK);
}

/* A dim that the result has and x has not. */
bool
arg_new_dim(Call *c, int i, Argument *args)
{
	const Type *x = referent(c, i, args);
	return has_room(c, x) && arg_dim_of(c, i, args, x->rank + 1);
}

/* Left out, it is that of all of x in a line. */
bool
arg_line(Call *c, int i, Argument *args)
{
	int of = c->formals->v[i].of;
	if (!args[i].given) {
		int64_t n = type_elements(&args[of].tensor->type);
		args[of].tensor = make_reshape(c->make, args[of].tensor, 1, &n);
		if (args[of].tensor == NULL)
			return false;
		c->items[of] = item_tensor(args[of].range, args[of].tensor);
		c->items[i] = item_int(args[of].range, 0);
	}
	return arg_dim(c, i, args);
}

/* One integer, or a tuple of them. */
static bool
arg_ints(Call *c, int i, Argument *args)
{
	const Item *x = &c->items[i];
	const Item *items = x->kind == IT_tuple ? x->items : x;
	int n = x->kind == IT_tuple ? x->n : 1;
	args[i].dims.n = n;
	if (n > MAX_RANK)
		return complain(c->elab, DIAG_arguments, x->range,
			"'%s' of '%s' has %d numbers; at most %d make sense",
			c->formals->v[i].name, c->builtin->name, n, MAX_RANK);
	for (int k = 0; k < n; k++) {
		if (!has_kind(c, i, items[k].kind == IT_int))
			return false;
		args[i].dims.v[k] = items[k].integer;
	}
	return true;
}

/* The dims from 0, each at most once; *twice: one that is not. */
static bool
arg_distinct(Call *c, int i, Argument *args, int *twice)
{
	int rank = referent(c, i, args)->rank;
	bool seen[MAX_RANK] = {false};
	*twice = -1;
	if (!arg_ints(c, i, args))
		return false;
	for (int k = 0; k < args[i].dims.n; k++) {
		int d;
		if (!normalize_dim(c->elab, args[i].range, args[i].dims.v[k], rank, &d))
			return false;
		if (seen[d] && *twice < 0)
			*twice = d;
		seen[d] = true;
		args[i].dims.v[k] = d;
	}
	return true;
}

/* One dim, a tuple of them, or (left out) all: in ascending order. */
bool
arg_dims(Call *c, int i, Argument *args)
{
	Elab *e = c->elab;
	int rank = referent(c, i, args)->rank, twice = -1, n = 0;
	bool named[MAX_RANK] = {false};
	Item items[MAX_RANK];
	if (args[i].given && !arg_distinct(c, i, args, &twice))
		return false;
	if (twice >= 0)
		return complain(e, DIAG_dim_range, args[i].range, "dim %d is named twice",
			twice);
	for (int k = 0; args[i].given && k < args[i].dims.n; k++)
		named[args[i].dims.v[k]] = true;
	for (int d = 0; d < rank; d++)
		if (named[d] || !args[i].given) {
			items[n] = item_int(args[i].range, d);
			args[i].dims.v[n++] = d;
		}
	args[i].dims.n = n;
	c->items[i] = n == 1 ? items[0] : item_tuple(e, args[i].range, n, items);
	return true;
}

/* Each dim once; left out, the last first. */
bool
arg_order(Call *c, int i, Argument *args)
{
	const Type *x = referent(c, i, args);
	int twice = -1;
	if (!args[i].given) {
		args[i].dims.n = x->rank;
		for (int d = 0; d < x->rank; d++)
			args[i].dims.v[d] = x->rank - 1 - d;
		return true;
	}
	if (!arg_distinct(c, i, args, &twice))
		return false;
	if (twice < 0 && args[i].dims.n == x->rank)
		return true;
	return complain(c->elab, DIAG_dim_range, args[i].range,
		"a transpose of %s names each of its %d dims once", show_type(c->elab, x),
		x->rank);
}

static bool
wrong_count(Call *c, int i, int rank, const char *what, int n)
{
	return complain(c->elab, DIAG_argument_kind, c->items[i].range,
		"a tensor of %d dim%s needs as many %s, not %d", rank, rank == 1 ? "" : "s",
		what, n);
}

/* The size of a part, for each dim. */
bool
arg_lengths(Call *c, int i, Argument *args)
{
	const Type *x = referent(c, i, args);
	if (!arg_ints(c, i, args))
		return false;
	if (args[i].dims.n != x->rank)
		return wrong_count(c, i, x->rank, "sizes", args[i].dims.n);
	for (int d = 0; d < x->rank; d++) {
		int64_t size = args[i].dims.v[d];
		if (size >= 1 && size <= x->dims[d])
			continue;
		return complain(c->elab, DIAG_index, args[i].range,
			"a slice of %" PRId64 " elements of dim %d, which has size %" PRId64,
			size, d, x->dims[d]);
	}
	return true;
}

/* For each dim a number or an integer scalar. */
bool
arg_starts(Call *c, int i, Argument *args)
{
	const Item *x = &c->items[i];
	const Item *items = x->kind == IT_tuple ? x->items : x;
	int n = x->kind == IT_tuple ? x->n : 1, rank = referent(c, i, args)->rank;
	if (n != rank)
		return wrong_count(c, i, rank, "starts", n);
	for (int d = 0; d < rank; d++) {
		Value *v = items[d].value;
		bool scalar = items[d].kind == IT_tensor && v->type.rank == 0
			&& dtype_is_integer(v->type.dtype);
		if (!scalar && items[d].kind != IT_int)
			return complain(c->elab, DIAG_index, items[d].range,
				"a start is an integer or a scalar of integers, not %s",
				show_item(c->elab, &items[d]));
		args[i].starts[d] = scalar ? v : make_index(c->make, items[d].integer);
	}
	return true;
}

bool
is_pair(const Item *item)
{
	return item->kind == IT_tuple && item->n == 2 && item->items[0].kind == IT_int
		&& item->items[1].kind == IT_int;
}

/* ((lo, hi), ...), one pair for each dim */
bool
arg_widths(Call *c, int i, Argument *args)
{
	const Item *x = &c->items[i];
	int rank = referent(c, i, args)->rank;
	bool right = x->kind == IT_tuple && x->n == rank;
	for (int d = 0; right && d < rank; d++) {
		const Item *pair = &x->items[d];
		right = is_pair(pair);
		if (!right)
			break;
		args[i].widths.low[d] = pair->items[0].integer;
		args[i].widths.high[d] = pair->items[1].integer;
		if (pair->items[0].integer >= 0 && pair->items[1].integer >= 0)
			continue;
		return complain(c->elab, DIAG_argument_kind, pair->range,
			"padding cannot be negative; a slice removes elements");
	}
	if (!right)
		complain(c->elab, DIAG_argument_kind, x->range,
			"the widths of a tensor of %d dim%s are %d pairs: ((lo, hi), ...)",
			rank, rank == 1 ? "" : "s", rank);
	return right;
}

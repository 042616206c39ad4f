/*
 * arguments.c - what builders ask of their arguments.
 */
#include <inttypes.h>

#include "elaborate.h"

static bool
wrong_kind(Elab *e, Call *c, int i, const char *wanted)
{
	const Item *x = &c->args[i];
	const char *name = param_name(e, c->builtin, i);
	if (x->kind == IT_absent)
		complain(e, DIAG_arguments, c->expr->range,
			"'%s' needs an "
			"argument '%s'",
			c->builtin->name, name);
	else
		complain(e, DIAG_argument_kind, x->range,
			"'%s' of '%s' is %s; "
			"%s is wanted",
			name, c->builtin->name, show_item(e, x), wanted);
	return false;
}

bool
want_tensor(Elab *e, Call *c, int i, Value **v)
{
	const Item *x = &c->args[i];
	*v = x->value;
	if (x->kind == IT_tensor)
		return true;
	if (!item_is_number(x))
		return wrong_kind(e, c, i, "a tensor");
	complain(e, DIAG_literal, x->range,
		"a literal alone has no dtype; "
		"write it as a cast: f32(...)");
	return false;
}

bool
want_int(Elab *e, Call *c, int i, int64_t *v)
{
	*v = c->args[i].integer;
	return c->args[i].kind == IT_int
		|| wrong_kind(e, c, i, "an integer known at compile time");
}

bool
want_bool(Elab *e, Call *c, int i, bool *v)
{
	*v = c->args[i].integer != 0;
	return c->args[i].kind == IT_bool || wrong_kind(e, c, i, "true or false");
}

bool
want_number(Elab *e, Call *c, int i, Item *v)
{
	*v = c->args[i];
	return item_is_number(v) || wrong_kind(e, c, i, "a number known at compile time");
}

bool
want_ints(Elab *e, Call *c, int i, int *n, int64_t *v, int most)
{
	const Item *x = &c->args[i];
	const Item *items = x->kind == IT_tuple ? x->items : x;
	*n = x->kind == IT_tuple ? x->n : 1;
	if (*n > most) {
		complain(e, DIAG_arguments, x->range,
			"'%s' of '%s' has %d "
			"numbers; at most %d make sense",
			param_name(e, c->builtin, i), c->builtin->name, *n, most);
		return false;
	}
	for (int k = 0; k < *n; k++) {
		if (items[k].kind != IT_int)
			return wrong_kind(e, c, i, "an integer or a tuple of integers");
		v[k] = items[k].integer;
	}
	return true;
}

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
bool
want_dim(Elab *e, Call *c, int i, int rank, int *dim)
{
	int64_t d;
	if (c->args[i].kind == IT_tuple && c->args[i].n == 1)
		c->args[i] = c->args[i].items[0];
	return want_int(e, c, i, &d) && normalize_dim(e, c->args[i].range, d, rank, dim);
}

/* One dim, a tuple of them, or (left out) all. */
bool
want_dims(Elab *e, Call *c, int i, int rank, int *n, int64_t *dims)
{
	bool seen[MAX_RANK] = {false};
	*n = rank;
	for (int d = 0; d < rank; d++)
		dims[d] = d;
	if (c->args[i].kind == IT_absent)
		return true;
	if (!want_ints(e, c, i, n, dims, MAX_RANK))
		return false;
	for (int k = 0; k < *n; k++) {
		int d;
		if (!normalize_dim(e, c->args[i].range, dims[k], rank, &d))
			return false;
		if (seen[d]) {
			complain(e, DIAG_dim_range, c->args[i].range, "dim %d is named twice",
				d);
			return false;
		}
		seen[d] = true;
		dims[k] = d;
	}
	int kept = 0;
	for (int d = 0; d < rank; d++)
		if (seen[d])
			dims[kept++] = d;
	return true;
}

bool
want_type(Elab *e, Call *c, int i, Annotation *a)
{
	return c->args[i].kind == IT_type ? annotation_resolve(e, c->args[i].type, a)
					  : wrong_kind(e, c, i, "a type, f32[B, D],");
}

bool
want_spec(Elab *e, Call *c, int i, Annotation *a)
{
	const Item *x = &c->args[i];
	if (x->kind != IT_type || x->type->has_dtype)
		return wrong_kind(e, c, i, "a list of sizes, [B, D],");
	return annotation_resolve(e, x->type, a);
}

bool
want_tensors(Elab *e, Call *c, int i, int *n, Value ***v)
{
	const Item *x = &c->args[i];
	if (x->kind != IT_tuple || x->n == 0)
		return wrong_kind(e, c, i, "a tuple of tensors, (a, b),");
	*n = x->n;
	*v = NEW_ARRAY(e->arena, Value *, x->n);
	for (int k = 0; k < x->n; k++) {
		const Item *item = &x->items[k];
		if (item->kind != IT_tensor) {
			complain(e, DIAG_argument_kind, item->range,
				"'%s' joins tensors; this is %s", c->builtin->name,
				show_item(e, item));
			return false;
		}
		(*v)[k] = item->value;
		if (item->value->type.dtype == (*v)[0]->type.dtype)
			continue;
		complain(e, DIAG_dtype, item->range,
			"'%s' of %s and %s; "
			"convert one of them",
			c->builtin->name, dtypes[(*v)[0]->type.dtype].name,
			dtypes[item->value->type.dtype].name);
		return false;
	}
	return true;
}

bool
want_indices(Elab *e, Call *c, int i, Value **index)
{
	const Item *x = &c->args[i];
	if (x->kind == IT_int)
		*index = item_constant(e, c->site, D_i32, x);
	else if (!want_tensor(e, c, i, index))
		return false;
	if (*index == NULL || dtype_is_integer((*index)->type.dtype))
		return *index != NULL;
	complain(e, DIAG_dtype, x->range, "indices are integers, not %s",
		dtypes[(*index)->type.dtype].name);
	return false;
}

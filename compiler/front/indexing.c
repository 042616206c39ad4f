/*
 * indexing.c - x[1:5, :, -1], x[::-1], x[:, new], x[..., 0].
 *
 *   x: f32[8,4,6]      x[7:2:-2, new, ..., 0]
 *     slice            start 3, limit 8, stride 2      f32[3,4,1]
 *     reverse          dim 0
 *     reshape          new dim 1, dim 2 dropped        f32[3,1,4]
 */
#include <inttypes.h>

#include "elaborate.h"

/* One tensor dim of the result of a slice, before the reshape. */
typedef struct Selection {
	int64_t start[MAX_RANK], limit[MAX_RANK], stride[MAX_RANK];
	int nreversed;
	int64_t reversed[MAX_RANK];
	int rank;		/* of the result */
	int64_t dims[MAX_RANK];
} Selection;

static bool
add_dim(Elab *e, Selection *sel, Range where, int64_t size)
{
	if (sel->rank < MAX_RANK) {
		sel->dims[sel->rank++] = size;
		return true;
	}
	complain(e, DIAG_rank, where, "the result has more than %d dims",
		MAX_USER_RANK);
	return false;
}

/* An index known at compile time, or the default when it is left out. */
static bool
eval_bound(Elab *e, const Expr *x, int64_t missing, int64_t *value)
{
	*value = missing;
	if (x == NULL)
		return true;
	Item item = eval_value(e, x);
	*value = item.integer;
	if (item.kind == IT_int)
		return true;
	if (item.kind == IT_tensor && item.value->type.rank == 0)
		complain(e, DIAG_unsupported, x->range, "an index known only "
			"when the program runs is not part of this release");
	else if (item.kind == IT_tensor)
		complain(e, DIAG_index, x->range, "a tensor cannot be an index "
			"here; take(x, idx, dim=0) gathers, where(p, a, b) "
			"selects");
	else if (item.kind != IT_error)
		complain(e, DIAG_index, x->range, "an index is an integer, not "
			"%s", show_item(e, &item));
	return false;
}

static bool
select_at(Elab *e, Selection *sel, const Index *index, int d, int64_t size)
{
	int64_t i;
	if (!eval_bound(e, index->start, 0, &i))
		return false;
	if (i < -size || i >= size) {
		complain(e, DIAG_index, index->range, "index %" PRId64
			" is outside dim %d, which has size %" PRId64, i, d,
			size);
		return false;
	}
	sel->start[d] = i < 0 ? i + size : i;
	sel->limit[d] = sel->start[d] + 1;
	sel->stride[d] = 1;
	return true;
}

/* A bound counted from the front; it may be one past the end. */
static bool
normalize_bound(Elab *e, const Expr *x, int d, int64_t size, int64_t *bound)
{
	if (x == NULL)
		return true;
	if (*bound >= -size && *bound <= size) {
		*bound += *bound < 0 ? size : 0;
		return true;
	}
	complain(e, DIAG_index, x->range, "slice bound %" PRId64 " is outside "
		"dim %d, which has size %" PRId64, *bound, d, size);
	return false;
}

/* a:b:-k takes a, a-k, ... above b: a slice upwards, reversed. */
static bool
select_range(Elab *e, Selection *sel, const Index *index, int d, int64_t size)
{
	int64_t from, to, step;
	if (!eval_bound(e, index->step, 1, &step))
		return false;
	if (step == 0 || step == INT64_MIN) {
		complain(e, DIAG_index, index->step->range,
			"a slice cannot have step %" PRId64, step);
		return false;
	}
	bool down = step < 0;
	if (!eval_bound(e, index->start, down ? size - 1 : 0, &from)
	    || !eval_bound(e, index->stop, down ? -1 : size, &to)
	    || !normalize_bound(e, index->start, d, size, &from)
	    || !normalize_bound(e, index->stop, d, size, &to))
		return false;
	if (down && from == size)
		from--;
	int64_t span = down ? from - to : to - from;
	int64_t stride = down ? -step : step;
	if (span <= 0) {
		complain(e, DIAG_index, index->range, "this slice of dim %d, "
			"which has size %" PRId64 ", is empty", d, size);
		return false;
	}
	int64_t count = (span - 1) / stride + 1;
	sel->start[d] = down ? from - (count - 1) * stride : from;
	sel->limit[d] = sel->start[d] + (count - 1) * stride + 1;
	sel->stride[d] = count > 1 ? stride : 1;
	if (down && count > 1)
		sel->reversed[sel->nreversed++] = d;
	return add_dim(e, sel, index->range, count);
}

static bool
select_whole(Elab *e, Selection *sel, Range where, int d, int64_t size)
{
	sel->start[d] = 0;
	sel->limit[d] = size;
	sel->stride[d] = 1;
	return add_dim(e, sel, where, size);
}

/* How many dims of the tensor the items other than `...` take. */
static bool
count_indexed(Elab *e, const Expr *x, int rank, int *indexed)
{
	int ellipses = 0;
	*indexed = 0;
	for (int i = 0; i < x->args.n; i++) {
		const Index *index = x->args.v[i];
		*indexed += index->kind == INDEX_at
			|| index->kind == INDEX_range;
		if (index->kind != INDEX_ellipsis || ++ellipses < 2)
			continue;
		complain(e, DIAG_index, index->range,
			"'...' may stand only once in an index");
		return false;
	}
	if (*indexed <= rank)
		return true;
	complain(e, DIAG_index, x->range, "%d indices for a tensor of %d dim%s",
		*indexed, rank, rank == 1 ? "" : "s");
	return false;
}

static bool
select_item(Elab *e, Selection *sel, const Index *index, const Type *type,
	int *d, int skipped)
{
	if (index->kind == INDEX_new)
		return add_dim(e, sel, index->range, 1);
	if (index->kind == INDEX_ellipsis) {
		for (int i = 0; i < skipped; i++, (*d)++)
			if (!select_whole(e, sel, index->range, *d,
			    type->dims[*d]))
				return false;
		return true;
	}
	int dim = (*d)++;
	return index->kind == INDEX_at
		? select_at(e, sel, index, dim, type->dims[dim])
		: select_range(e, sel, index, dim, type->dims[dim]);
}

static bool
select_all(Elab *e, Selection *sel, const Expr *x, const Type *type)
{
	int indexed, d = 0;
	if (!count_indexed(e, x, type->rank, &indexed))
		return false;
	for (int i = 0; i < x->args.n; i++)
		if (!select_item(e, sel, x->args.v[i], type, &d,
		    type->rank - indexed))
			return false;
	for (; d < type->rank; d++)
		if (!select_whole(e, sel, x->range, d, type->dims[d]))
			return false;
	return true;
}

/* (a, b)[0]: an element of a tuple */
static Item
index_tuple(Elab *e, const Expr *x, const Item *tuple)
{
	const Index *index = x->args.v[0];
	int64_t i;
	if (x->args.n != 1 || index->kind != INDEX_at) {
		complain(e, DIAG_index, x->range,
			"a tuple is indexed by one integer");
		return item_error(x->range);
	}
	if (!eval_bound(e, index->start, 0, &i))
		return item_error(x->range);
	if (i >= -tuple->n && i < tuple->n)
		return tuple->items[i < 0 ? i + tuple->n : i];
	complain(e, DIAG_index, index->range,
		"index %" PRId64 " of a tuple of %d", i, tuple->n);
	return item_error(x->range);
}

Item
eval_index(Elab *e, const Expr *x)
{
	Selection sel = { 0 };
	if (x->left->kind == E_name && dtype_habit(x->left->name) != NULL
	    && symbol_find(e, x->left->name) == NULL) {
		report_unknown_name(e, x->left->range, x->left->name);
		return item_error(x->range);
	}
	Item from = eval_value(e, x->left);
	if (from.kind == IT_tuple)
		return index_tuple(e, x, &from);
	if (from.kind != IT_tensor) {
		if (from.kind != IT_error)
			complain(e, DIAG_index, x->range, "%s cannot be "
				"indexed", show_item(e, &from));
		return item_error(x->range);
	}
	if (!select_all(e, &sel, x, &from.value->type))
		return item_error(x->range);
	Site s = { x->range, "[]" };
	Value *v = emit_slice(e, s, from.value, sel.start, sel.limit,
		sel.stride);
	v = emit_reverse(e, s, v, sel.nreversed, sel.reversed);
	return item_tensor(x->range,
		emit_reshape(e, s, v, sel.rank, sel.dims));
}

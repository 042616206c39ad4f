/*
 * indexing.c - x[1:5, :, -1], x[::-1], x[:, new], x[..., 0], x[i], x[i:i+4],
 * and the assignment to such a part.
 *
 *   x: f32[8,4,6]      x[7:2:-2, new, ..., 0]
 *     slice            start 3, limit 8, stride 2      f32[3,4,1]
 *     reverse          dim 0
 *     reshape          new dim 1, dim 2 dropped        f32[3,1,4]
 *
 * Where an index is known only when the program runs there is a dynamic_slice
 * before the slice.
 */
#include <inttypes.h>
#include <string.h>

#include "elaborate.h"

/* The elements of each dim, and the shape they have after the reshape. */
typedef struct Selection {
	int64_t start[MAX_RANK], limit[MAX_RANK], stride[MAX_RANK];
	Value *from[MAX_RANK]; /* run-time starts; their `start` is 0 */
	bool dynamic;	       /* there is one */
	int nreversed;
	int64_t reversed[MAX_RANK];
	int rank; /* of the result */
	int64_t dims[MAX_RANK];
} Selection;

static bool
add_dim(Elab *e, Selection *sel, Range where, int64_t size)
{
	if (sel->rank < MAX_RANK) {
		sel->dims[sel->rank++] = size;
		return true;
	}
	return complain(e, DIAG_rank, where, "the result has more than %d dims", MAX_USER_RANK);
}

/* ---- indices */

/* A number or an integer scalar, or the default when it is left out. */
static bool
check_bound(Elab *e, const Item *item, int64_t missing, Item *bound)
{
	*bound = item->kind == IT_absent ? item_int(nowhere, missing) : *item;
	const Type *type = bound->kind == IT_tensor ? &bound->value->type : NULL;
	if (bound->kind == IT_int || bound->kind == IT_error)
		return bound->kind == IT_int;
	if (type != NULL && type->rank == 0 && dtype_is_integer(type->dtype))
		return true;
	if (type != NULL && type->rank > 0)
		complain(e, DIAG_index, item->range,
			"a tensor cannot be an index here; take(x, idx, dim=0) gathers, "
			"where(p, a, b) selects");
	else
		complain(e, DIAG_index, item->range, "an index is an integer, not %s",
			type != NULL ? dtypes[type->dtype].name : show_item(e, item));
	return false;
}

/* `size` elements of dim d, side by side: from a number, or a scalar. */
static void
select_run(Selection *sel, int d, const Item *from, int64_t size)
{
	bool dynamic = from->kind == IT_tensor;
	sel->start[d] = dynamic ? 0 : from->integer;
	sel->limit[d] = sel->start[d] + size;
	sel->stride[d] = 1;
	sel->from[d] = dynamic ? from->value : NULL;
	sel->dynamic |= dynamic;
}

static bool
select_at(Elab *e, Selection *sel, const IndexItem *index, int d, int64_t size)
{
	Item at;
	if (!check_bound(e, &index->start, 0, &at))
		return false;
	if (at.kind == IT_int && (at.integer < -size || at.integer >= size))
		return complain(e, DIAG_index, index->written->range,
			"index %" PRId64 " is outside dim %d, which has size %" PRId64,
			at.integer, d, size);
	if (at.kind == IT_int && at.integer < 0)
		at.integer += size;
	select_run(sel, d, &at, 1);
	return true;
}

/* ---- the length of x[i:i+4] */

enum { MAX_LINEAR = 16 };

/* A sum of run-time expressions and a number. */
typedef struct Linear {
	int64_t constant;
	int n;
	const Expr *terms[MAX_LINEAR];
	int64_t factors[MAX_LINEAR];
} Linear;

/* What is known of a name or a number without evaluating anything. */
static bool
known_integer(Elab *e, const Expr *x, int64_t *v)
{
	if (x->kind == E_int) {
		*v = x->integer;
		return true;
	}
	const Symbol *s = x->kind == E_name ? symbol_find(e, x->name) : NULL;
	if (s == NULL || s->item.kind != IT_int || s->kind == SYM_axis)
		return false;
	*v = s->item.integer;
	return true;
}

/* Adds factor * x; false where it is too large.  What is written alike has one
   value: expressions have no effects. */
static bool
add_linear(Elab *e, Linear *sum, const Expr *x, int64_t factor)
{
	int64_t v;
	bool binary = x->kind == E_binary;
	if (known_integer(e, x, &v))
		return mul_i64(v, factor, &v) && add_i64(sum->constant, v, &sum->constant);
	if (binary && (x->op == OPERATOR_add || x->op == OPERATOR_sub))
		return add_linear(e, sum, x->left, factor)
			&& add_linear(e, sum, x->right,
				x->op == OPERATOR_sub ? -factor : factor);
	if (x->kind == E_unary && x->op == OPERATOR_neg)
		return add_linear(e, sum, x->left, -factor);
	if (binary && x->op == OPERATOR_mul && known_integer(e, x->left, &v))
		return mul_i64(v, factor, &v) && add_linear(e, sum, x->right, v);
	if (binary && x->op == OPERATOR_mul && known_integer(e, x->right, &v))
		return mul_i64(v, factor, &v) && add_linear(e, sum, x->left, v);
	for (int i = 0; i < sum->n; i++)
		if (sum->terms[i]->kind == x->kind
			&& strcmp(tree_text(e->arena, sum->terms[i]), tree_text(e->arena, x))
				== 0)
			return add_i64(sum->factors[i], factor, &sum->factors[i]);
	if (sum->n == MAX_LINEAR)
		return false;
	sum->terms[sum->n] = x;
	sum->factors[sum->n++] = factor;
	return true;
}

/* The length is stop - start, where that does not depend on the run. */
static bool
select_dynamic(Elab *e, Selection *sel, const Index *index, int d, int64_t size,
	const Item *from, int64_t step)
{
	Linear l = {0};
	bool known = from->kind == IT_tensor && index->start != NULL && index->stop != NULL
		&& add_linear(e, &l, index->stop, 1) && add_linear(e, &l, index->start, -1);
	for (int i = 0; i < l.n; i++)
		known &= l.factors[i] == 0;
	if (!known)
		return complain(e, DIAG_index, index->range,
			"the length of this slice is not known at compile time; write x[i:i+4] "
			"or dynamic_slice(x, start=(i,), size=(4,))");
	if (step != 1)
		return complain(e, DIAG_index, index->range,
			"a slice that starts where the program says when it runs has no step");
	if (l.constant < 1 || l.constant > size)
		return complain(e, DIAG_index, index->range,
			"a slice of %" PRId64 " elements of dim %d, which has size %" PRId64,
			l.constant, d, size);
	select_run(sel, d, from, l.constant);
	return add_dim(e, sel, index->range, l.constant);
}

/* ---- slices */

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
	return complain(e, DIAG_index, x->range,
		"slice bound %" PRId64 " is outside dim %d, which has size %" PRId64, *bound, d,
		size);
}

/* a:b:-k takes a, a-k, ... above b: a slice upwards, reversed. */
static bool
select_static(Elab *e, Selection *sel, const Index *index, int d, int64_t size, int64_t from,
	int64_t to, int64_t step)
{
	bool down = step < 0;
	if (!normalize_bound(e, index->start, d, size, &from)
		|| !normalize_bound(e, index->stop, d, size, &to))
		return false;
	if (down && from == size)
		from--;
	int64_t span = down ? from - to : to - from;
	int64_t stride = down ? -step : step;
	if (span <= 0)
		return complain(e, DIAG_index, index->range,
			"this slice of dim %d, which has size %" PRId64 ", is empty", d, size);
	int64_t count = (span - 1) / stride + 1;
	sel->start[d] = down ? from - (count - 1) * stride : from;
	sel->limit[d] = sel->start[d] + (count - 1) * stride + 1;
	sel->stride[d] = count > 1 ? stride : 1;
	if (down && count > 1)
		sel->reversed[sel->nreversed++] = d;
	return add_dim(e, sel, index->range, count);
}

static bool
select_range(Elab *e, Selection *sel, const IndexItem *index, int d, int64_t size)
{
	Item from, to, by;
	if (!check_bound(e, &index->step, 1, &by))
		return false;
	int64_t step = by.integer;
	if (by.kind != IT_int)
		return complain(e, DIAG_index, by.range,
			"the step of a slice is known at compile time");
	if (step == 0 || step == INT64_MIN)
		return complain(e, DIAG_index, by.range, "a slice cannot have step %" PRId64,
			step);
	if (!check_bound(e, &index->start, step < 0 ? size - 1 : 0, &from)
		|| !check_bound(e, &index->stop, step < 0 ? -1 : size, &to))
		return false;
	if (from.kind == IT_tensor || to.kind == IT_tensor)
		return select_dynamic(e, sel, index->written, d, size, &from, step);
	return select_static(e, sel, index->written, d, size, from.integer, to.integer, step);
}

static bool
select_whole(Elab *e, Selection *sel, Range where, int d, int64_t size)
{
	select_run(sel, d, &(Item){.kind = IT_int}, size);
	return add_dim(e, sel, where, size);
}

/* ---- all dims */

static bool
select_all(Elab *e, Selection *sel, const Expr *x, const IndexItem *indices, const Type *type)
{
	int ellipses = 0, indexed = 0, d = 0; /* dims that items other than `...` take */
	bool right = true;
	for (int i = 0; i < x->args.n; i++) {
		const Index *index = indices[i].written;
		indexed += index->kind == INDEX_at || index->kind == INDEX_range;
		if (index->kind == INDEX_ellipsis && ++ellipses == 2)
			return complain(e, DIAG_index, index->range,
				"'...' may stand only once in an index");
	}
	if (indexed > type->rank)
		return complain(e, DIAG_index, x->range, "%d indices for a tensor of %d dim%s",
			indexed, type->rank, type->rank == 1 ? "" : "s");
	for (int i = 0; right && i < x->args.n; i++) {
		const Index *index = indices[i].written;
		int until = d + type->rank - indexed;
		if (index->kind == INDEX_new)
			right = add_dim(e, sel, index->range, 1);
		else if (index->kind == INDEX_at)
			right = select_at(e, sel, &indices[i], d, type->dims[d]);
		else if (index->kind == INDEX_range)
			right = select_range(e, sel, &indices[i], d, type->dims[d]);
		else
			for (; right && d < until; d++)
				right = select_whole(e, sel, index->range, d, type->dims[d]);
		d += index->kind == INDEX_at || index->kind == INDEX_range;
	}
	for (; right && d < type->rank; d++)
		right = select_whole(e, sel, x->range, d, type->dims[d]);
	return right;
}

/* ---- reading a part */

/* Run-time starts first, the other dims whole. */
static Value *
read_part(Elab *e, Site s, Selection *sel, const Item *from)
{
	const Op *before = e->block->last;
	Make k = at(e, s);
	Value *v = from->value;
	int64_t size[MAX_RANK];
	for (int d = 0; d < v->type.rank; d++)
		size[d] = sel->from[d] != NULL ? sel->limit[d] : v->type.dims[d];
	if (sel->dynamic)
		v = make_dynamic_slice(k, v, sel->from, size);
	v = make_slice(k, v, sel->start, sel->limit, sel->stride);
	v = make_reverse(k, v, sel->nreversed, sel->reversed);
	v = make_reshape(k, v, sel->rank, sel->dims);
	note_operands(e, before, 1, from);
	return v;
}

Item
index_item(Elab *e, const Expr *x, const IndexItem *indices, const Item *from)
{
	Selection sel = {0};
	Site s = {x->range, "[]", AS_index};
	Item at;
	if (from->kind == IT_tensor && select_all(e, &sel, x, indices, &from->value->type))
		return item_tensor(x->range, read_part(e, s, &sel, from));
	if (from->kind == IT_tensor)
		return item_error;
	if (from->kind != IT_tuple) {
		complain(e, DIAG_index, x->range, "%s cannot be indexed", show_item(e, from));
		return item_error;
	}

	/* (a, b)[0]: an element of a tuple */
	const Index *index = indices->written;
	if (x->args.n != 1 || index->kind != INDEX_at) {
		complain(e, DIAG_index, x->range, "a tuple is indexed by one integer");
		return item_error;
	}
	if (!check_bound(e, &indices->start, 0, &at))
		return item_error;
	int64_t i = at.integer;
	if (at.kind == IT_int && i >= -from->n && i < from->n)
		return from->items[i < 0 ? i + from->n : i];
	if (at.kind == IT_tensor)
		complain(e, DIAG_index, index->range,
			"the index of a tuple is known at compile time; stack(t) makes a "
			"tensor");
	else
		complain(e, DIAG_index, index->range, "index %" PRId64 " of a tuple of %d", i,
			from->n);
	return item_error;
}

/* The slice of a loop over x. */
Item
index_first(Elab *e, const Item *item, const Item *i)
{
	Selection sel = {0};
	const Type *type = &item->value->type;
	Site s = {item->range, "for", AS_row};
	select_run(&sel, 0, i, 1);
	for (int d = 1; d < type->rank; d++)
		if (!select_whole(e, &sel, item->range, d, type->dims[d]))
			return item_error;
	return item_tensor(item->range, read_part(e, s, &sel, item));
}

/* ---- assigning to a part */

/* Every dim has a start, and no step. */
Value *
update_part(Elab *e, const Expr *x, const IndexItem *indices, Value *whole, const Item *part)
{
	Selection sel = {0};
	Site s = {x->range, "[] =", AS_part};
	int rank = whole->type.rank;
	int64_t size[MAX_RANK];
	if (!select_all(e, &sel, x, indices, &whole->type))
		return NULL;
	bool block = sel.nreversed == 0;
	for (int d = 0; d < rank; d++)
		block &= sel.stride[d] == 1;
	for (int i = 0; i < x->args.n; i++)
		block &= indices[i].written->kind != INDEX_new;
	if (!block)
		return complain(e, DIAG_assign, x->range,
			"only elements side by side can be assigned to: no step, and no new "
			"dim");
	Item value = item_typed(e, s, whole->type.dtype, *part);
	if (value.kind == IT_error)
		return NULL;
	if (value.kind != IT_tensor)
		return complain(e, DIAG_shape, value.range,
			"a part of a tensor cannot become %s", show_item(e, &value));
	Type shape = type_of(whole->type.dtype, sel.rank, sel.dims);
	if (!broadcasts_to(&value.value->type, &shape))
		return complain(e, DIAG_shape, value.range,
			"a part of type %s cannot become %s", show_type(e, &shape),
			show_item(e, &value));
	for (int d = 0; d < rank; d++) {
		size[d] = sel.limit[d] - sel.start[d];
		if (sel.from[d] == NULL)
			sel.from[d] = make_index(at(e, s), sel.start[d]);
	}
	const Op *before = e->block->last;
	Value *update = make_broadcast_to(at(e, s), value.value, &shape);
	update = make_reshape(at(e, s), update, rank, size);
	whole = make_dynamic_update_slice(at(e, s), whole, update, sel.from);
	note_operands(e, before, 1, &value);
	return whole;
}

/*
 * expressions.c - expressions become items and ops.
 */
#include <math.h>
#include <string.h>

#include "elaborate.h"

/* ---- names and literals */

/* An integer that is no size, and is not meant as `_`. */
static bool
is_no_size(const Expr *x)
{
	bool negative = x->kind == E_unary && x->left->kind == E_int;
	return (x->kind == E_int && x->integer == 0) || (negative && x->left->integer != 1);
}

/* [x, y], of tensors, or [0, 1]: what other languages call a list. */
static bool
is_list(Elab *e, const TypeSpec *type)
{
	bool list = false;
	for (int d = 0; !type->has_dtype && d < type->dims.n; d++) {
		const Expr *size = ((const DimSpec *)type->dims.v[d])->size;
		if (size == NULL)
			continue;
		list |= is_no_size(size);
		const Symbol *s = size->kind == E_name ? symbol_find(e, size->name) : NULL;
		list |= s != NULL && s->kind == SYM_value && s->item.kind == IT_tensor
			&& s->item.value->type.rank > 0;
	}
	return list;
}

static Item
type_item(Elab *e, Range r, const TypeSpec *type)
{
	Item item = {.kind = IT_type, .range = r, .type = NEW(e->arena, Annotation)};
	return annotation_resolve(e, type, item.type) ? item : item_error;
}

static Item
eval_name(Elab *e, const Expr *x)
{
	Symbol *s = symbol_find(e, x->name);
	if (s == NULL) {
		if (strcmp(x->name, "inf") == 0)
			return item_float(x->range, INFINITY);
		if (strcmp(x->name, "nan") == 0)
			return item_float(x->range, NAN);
		report_unknown_name(e, x->range, x->name);
		return item_error;
	}
	Item item = s->item;
	item.range = x->range;
	if (s->kind == SYM_axis && item.kind != IT_error)
		item.kind = IT_axis;
	if (s->kind == SYM_type)
		return type_item(e, x->range, s->type);
	return item;
}

static const Habit members[] = {
	{"shape", "the size of dim d is size(x, d)"},
	{"T", "use transpose(x, (1, 0))"},
	{"dtype", "a tensor's dtype is known from its declaration"},
	{"ndim", "a tensor's rank is known from its declaration"},
	{"astype", "a cast is a call of the dtype: f32(x)"},
	{"sum", "functions are called with the tensor: sum(x, dim=0)"},
	{"mean", "functions are called with the tensor: mean(x, dim=0)"},
	{"max", "functions are called with the tensor: max(x, dim=0)"},
	{"reshape", "functions are called with the tensor: reshape(x, [B, D])"},
	{"transpose", "functions are called with the tensor: transpose(x, (1, 0))"},
	{"detach", "use stop_gradient(x)"},
	{"backward", "gradients are taken of functions: grad(loss, wrt=(W))(x, W)"},
	{"grad", "gradients are taken of functions: grad(loss, wrt=(W))(x, W)"},
	{"requires_grad",
		"what gradients are taken by is said there: grad(loss, wrt=(W))(x, W)"},
	{"at", "a var can be assigned to in part: acc[i, :] = h;"},
	{"set", "a var can be assigned to in part: acc[i, :] = h;"},
	{"add", "a var can be assigned to in part: acc[i] = acc[i] + h;"},
};

/* jax in jax.nn.relu, if no value has the name, is what is unknown. */
static Item
eval_member(Elab *e, const Expr *x)
{
	const Expr *module = x;
	while (module->kind == E_member)
		module = module->left;
	if (module->kind == E_name && symbol_find(e, module->name) == NULL) {
		report_unknown_member(e, module, x);
		return item_error;
	}
	const char *hint = HABIT(members, x->name);
	if (hint != NULL)
		complain(e, DIAG_habit, x->name_range, "there is no '.%s' here: %s", x->name,
			hint);
	else
		complain(e, DIAG_unknown_name, x->name_range, "values have no member '%s'",
			x->name);
	return item_error;
}

/* ---- casts */

static Item
eval_cast(Elab *e, const Expr *x)
{
	const char *name = dtypes[x->dtype].name;
	const Arg *arg = x->args.n > 0 ? x->args.v[0] : NULL;
	Site s = {x->range, name, AS_call};
	if (e->frame == NULL) {
		complain(e, DIAG_argument_kind, x->range,
			"outside functions there are no tensors, and %s(x) makes one", name);
		return item_error;
	}
	if (x->args.n != 1 || arg->name.s != NULL) {
		complain(e, DIAG_arguments, x->range,
			"%s(x) converts one value; %d were given (a type is written %s[...])",
			name, x->args.n, name);
		return item_error;
	}
	Item from = eval_value(e, arg->value);
	if (from.kind == IT_error)
		return from;
	if (from.kind == IT_tuple) {
		complain(e, DIAG_argument_kind, from.range,
			"%s(x) converts a tensor or a number, not a tuple", name);
		return item_error;
	}
	if (from.kind == IT_tensor) {
		const Op *before = e->block->last;
		Value *v = make_convert(at(e, s), from.value, x->dtype);
		note_operands(e, before, 1, &from);
		return item_tensor(x->range, v);
	}

	Item number = from;
	if (x->dtype == D_pred)
		number = item_bool(from.range, item_double(&from) != 0);
	else if (number.kind == IT_bool)
		number.kind = IT_int;
	if (number.kind == IT_float && dtype_is_integer(x->dtype) && fabs(number.real) < 0x1p63)
		number = item_int(from.range, (int64_t)number.real);
	return item_tensor(x->range, item_constant(e, s, x->dtype, &number));
}

/* ---- indices */

static Item
eval_left_out(Elab *e, const Expr *x)
{
	return x != NULL ? eval_value(e, x) : (Item){.kind = IT_absent};
}

IndexItem *
eval_indices(Elab *e, const Expr *x)
{
	IndexItem *items = NEW_ARRAY(e->arena, IndexItem, x->args.n);
	for (int i = 0; i < x->args.n; i++) {
		const Index *index = x->args.v[i];
		items[i].written = index;
		items[i].step = eval_left_out(e, index->step);
		items[i].start = eval_left_out(e, index->start);
		items[i].stop = eval_left_out(e, index->stop);
	}
	return items;
}

/* ---- any expression */

static Item
eval_kind(Elab *e, const Expr *x)
{
	Range r = x->range;
	switch (x->kind) {
	case E_error:
		return item_error;
	case E_name:
		return eval_name(e, x);
	case E_int:
		return item_int(r, x->integer);
	case E_float:
		return item_float(r, x->real);
	case E_bool:
		return item_bool(r, x->integer != 0);
	case E_string:
		if (!x->single_quoted)
			return (Item){.kind = IT_string, .range = r, .literal = x};
		if (is_axis(e, x->name))
			complain(e, DIAG_habit, r, "an axis has no quotes: write %s", x->name);
		else
			complain(e, DIAG_habit, r, "strings stand in double quotes");
		return item_error;
	case E_unary:
		return apply_operator(e, r, x->op, 1, (Item[]){eval_value(e, x->left)});
	case E_binary: {
		Item left = eval_value(e, x->left);
		return apply_operator(e, r, x->op, 2, (Item[]){left, eval_value(e, x->right)});
	}
	case E_call:
		return eval_call(e, x);
	case E_cast:
		return eval_cast(e, x);
	case E_index: {
		const Expr *left = x->left;
		if (left->kind == E_name && dtype_habit(left->name) != NULL
			&& symbol_find(e, left->name) == NULL) {
			report_unknown_name(e, left->range, left->name);
			return item_error;
		}
		Item from = eval_value(e, left);
		const IndexItem *indices = eval_indices(e, x);
		return from.kind == IT_error ? from : index_item(e, x, indices, &from);
	}
	case E_member:
		return eval_member(e, x);
	case E_tuple: {
		Item *items = NEW_ARRAY(e->arena, Item, x->args.n);
		bool right = true;
		for (int i = 0; i < x->args.n; i++) {
			items[i] = eval(e, x->args.v[i]);
			right &= items[i].kind != IT_error;
		}
		return right ? item_tuple(e, r, x->args.n, items) : item_error;
	}
	case E_type:
		if (!is_list(e, x->type))
			return type_item(e, r, x->type);
		complain(e, DIAG_habit, r, "there are no lists: a tuple is written (a, b)");
		return item_error;
	}
	die("an expression of no kind");
}

Item
eval(Elab *e, const Expr *x)
{
	if (e->too_large || exceeds(e, x->range, &e->nsteps, MAX_STEPS, "expressions"))
		return item_error;
	if (e->depth >= MAX_DEPTH) {
		complain(e, DIAG_inlining, x->range,
			"expressions inside calls are nested more than %d deep", MAX_DEPTH);
		return item_error;
	}
	e->depth++;
	Item item = eval_kind(e, x);
	e->depth--;
	item.range = x->range;
	if (item.kind != IT_tensor || item.value->type.rank <= MAX_USER_RANK)
		return item;
	complain(e, DIAG_rank, x->range, "a tensor of %d dims; at most %d are allowed",
		item.value->type.rank, MAX_USER_RANK);
	return item_error;
}

Item
eval_value(Elab *e, const Expr *x)
{
	Item item = eval(e, x);
	if (item.kind == IT_axis)
		complain(e, DIAG_not_value, x->range,
			"'%s' is a mesh axis, not a value; its size is axis_size(%s)", x->name,
			x->name);
	else if (item.kind == IT_type)
		complain(e, DIAG_type_form, x->range,
			"a type is not a value; zeros(T), full(T, v) and iota(T) make tensors "
			"of one");
	else if (item.kind == IT_string)
		complain(e, DIAG_not_value, x->range, "a string is not a value");
	else
		return item;
	return item_error;
}

bool
eval_size(Elab *e, const Expr *x, int64_t *size)
{
	Item item = eval_value(e, x);
	*size = item.integer;
	if (item.kind == IT_int)
		return true;
	if (item.kind != IT_error)
		complain(e, DIAG_argument_kind, x->range,
			"a size is an integer known at compile time, not %s",
			show_item(e, &item));
	return false;
}

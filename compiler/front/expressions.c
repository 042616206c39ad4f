/*
 * expressions.c - expressions become items and ops.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "elaborate.h"

static const struct {
	const char *spelling;
	OpKind op;
	Direction direction;
} operators[] = {
#define OPERATOR(id, spelling, op, direction) {spelling, O_##op, DIR_##direction},
#include "operators.def"
#undef OPERATOR
};

/* ---- pointwise operations on items */

/* The dtype the tensors among the operands share; literals follow it. */
static bool
common_dtype(Elab *e, Site s, int n, const Item *x, DType *dtype)
{
	const Item *first = NULL;
	for (int i = 0; i < n; i++) {
		if (x[i].kind != IT_tensor)
			continue;
		DType d = x[i].value->type.dtype;
		if (first != NULL && d != *dtype) {
			complain(e, DIAG_dtype, first->range,
				"'%s' of %s and "
				"%s; convert one of them: %s(...)",
				s.label, dtypes[*dtype].name, dtypes[d].name,
				dtypes[*dtype].name);
			diag_label(e->session, x[i].range, "%s", dtypes[d].name);
			return false;
		}
		first = &x[i];
		*dtype = d;
	}
	if (first != NULL)
		return true;
	complain(e, DIAG_literal, s.range,
		"'%s' of literals alone has no "
		"dtype; write one as a cast: f32(...)",
		s.label);
	return false;
}

/* Operands as tensors of one dtype; false after a message. */
static bool
to_tensors(Elab *e, Site s, int n, const Item *x, Value **v)
{
	DType dtype = D_f32;
	if (!common_dtype(e, s, n, x, &dtype))
		return false;
	for (int i = 0; i < n; i++) {
		v[i] = x[i].kind == IT_tensor ? x[i].value : item_constant(e, s, dtype, &x[i]);
		if (v[i] == NULL)
			return false;
	}
	return true;
}

static bool
are_values(Elab *e, Site s, int n, const Item *x)
{
	for (int i = 0; i < n; i++) {
		if (x[i].kind == IT_error)
			return false;
		if (x[i].kind == IT_tensor || item_is_number(&x[i]))
			continue;
		complain(e, DIAG_argument_kind, x[i].range,
			"'%s' takes tensors and numbers, not %s", s.label, show_item(e, &x[i]));
		return false;
	}
	return true;
}

/* Reports the dtypes that an op does not take in the operator's own words. */
static bool
takes_dtype(Elab *e, Site s, OpKind kind, Direction d, DType dtype)
{
	bool logical = kind == O_and || kind == O_or || kind == O_not;
	bool equality = kind == O_compare && (d == DIR_EQ || d == DIR_NE);
	if (logical == (dtype == D_pred) || equality || kind == O_select)
		return true;
	if (logical)
		complain(e, DIAG_dtype, s.range, "'%s' needs pred, not %s", s.label,
			dtypes[dtype].name);
	else
		complain(e, DIAG_dtype, s.range,
			"'%s' does not take pred; "
			"convert it: i32(...), or use && || !",
			s.label);
	return false;
}

Item
apply_pointwise(Elab *e, Site s, OpKind kind, Direction d, int n, const Item *x)
{
	Value *v[3];
	Type shape;
	if (!are_values(e, s, n, x) || !to_tensors(e, s, n, x, v)
		|| !takes_dtype(e, s, kind, d, v[0]->type.dtype)
		|| !broadcast_shape(e, s.range, n, v, &shape))
		return item_error(s.range);
	const Op *before = e->block->last;
	for (int i = 0; i < n; i++)
		v[i] = make_broadcast_to(at(e, s), v[i], &shape);
	Value *result = kind == O_compare ? make_compare(at(e, s), d, v[0], v[1])
					  : make_op(at(e, s), kind, n, v);
	note_operands(e, before, n, x);
	return item_tensor(s.range, result);
}

static Item
eval_operator(Elab *e, const Expr *x)
{
	Item operands[2] = {eval_value(e, x->left)};
	int n = 1;
	if (x->kind == E_binary)
		operands[n++] = eval_value(e, x->right);
	bool numbers = true;
	for (int i = 0; i < n; i++) {
		if (operands[i].kind == IT_error)
			return item_error(x->range);
		numbers &= item_is_number(&operands[i]);
	}
	if (numbers && n == 2)
		return fold_binary(e, x->range, x->op, &operands[0], &operands[1]);
	if (numbers)
		return fold_unary(e, x->range, x->op, &operands[0]);
	Site s = {x->range, operators[x->op].spelling, AS_call};
	return apply_pointwise(e, s, operators[x->op].op, operators[x->op].direction, n,
		operands);
}

/* ---- names and literals */

static Item
constant_by_name(const Expr *x)
{
	if (strcmp(x->name, "inf") == 0)
		return item_float(x->range, INFINITY);
	if (strcmp(x->name, "nan") == 0)
		return item_float(x->range, NAN);
	return item_error(x->range);
}

static Item
eval_name(Elab *e, const Expr *x)
{
	Symbol *s = symbol_find(e, x->name);
	if (s == NULL) {
		Item constant = constant_by_name(x);
		if (constant.kind == IT_error)
			report_unknown_name(e, x->range, x->name);
		return constant;
	}
	Item item = s->item;
	item.range = x->range;
	if (s->kind == SYM_axis)
		item.kind = IT_axis;
	if (s->kind == SYM_type)
		item = (Item){.kind = IT_type, .range = x->range, .type = s->type};
	return item;
}

static Item
eval_string(Elab *e, const Expr *x)
{
	if (x->single_quoted) {
		complain(e, DIAG_habit, x->range, "strings stand in double quotes");
		return item_error(x->range);
	}
	return (Item){.kind = IT_string, .range = x->range, .literal = x};
}

static Item
eval_tuple(Elab *e, const Expr *x)
{
	Item *items = NEW_ARRAY(e->arena, Item, x->args.n);
	bool right = true;
	for (int i = 0; i < x->args.n; i++) {
		items[i] = eval(e, x->args.v[i]);
		right &= items[i].kind != IT_error;
	}
	if (!right)
		return item_error(x->range);
	return item_tuple(e, x->range, x->args.n, items);
}

static const struct Member {
	const char *name, *hint;
} members[] = {
	{"shape", "the size of dim d is size(x, d)"},
	{"T", "use transpose(x, (1, 0))"},
	{"dtype", "a tensor's dtype is known from its declaration"},
	{"ndim", "a tensor's rank is known from its declaration"},
	{"astype", "a cast is a call of the dtype: f32(x)"},
	{"sum", "functions are called with the tensor: sum(x, dim=0)"},
	{"mean", "functions are called with the tensor: mean(x, dim=0)"},
	{"max", "functions are called with the tensor: max(x, dim=0)"},
	{"reshape",
		"functions are called with the tensor: "
		"reshape(x, [B, D])"},
	{"transpose",
		"functions are called with the tensor: "
		"transpose(x, (1, 0))"},
	{"at", "a var can be assigned to in part: acc[i, :] = h;"},
	{"set", "a var can be assigned to in part: acc[i, :] = h;"},
	{"add", "a var can be assigned to in part: acc[i] = acc[i] + h;"},
};

/* jax in jax.nn.relu, if no value has the name; else NULL */
static const Expr *
unknown_module(Elab *e, const Expr *x)
{
	while (x->kind == E_member)
		x = x->left;
	return x->kind == E_name && symbol_find(e, x->name) == NULL ? x : NULL;
}

static Item
eval_member(Elab *e, const Expr *x)
{
	const Expr *module = unknown_module(e, x);
	if (module != NULL) {
		report_unknown_name(e, module->range, module->name);
		return item_error(x->range);
	}
	for (size_t i = 0; i < sizeof members / sizeof *members; i++)
		if (strcmp(members[i].name, x->name) == 0) {
			complain(e, DIAG_habit, x->name_range,
				"there is no "
				"'.%s' here: %s",
				x->name, members[i].hint);
			return item_error(x->range);
		}
	complain(e, DIAG_unknown_name, x->name_range, "values have no member '%s'", x->name);
	return item_error(x->range);
}

/* ---- casts */

static Item
cast(Elab *e, const Expr *x, const Item *from)
{
	Site s = {x->range, dtypes[x->dtype].name, AS_call};
	if (from->kind == IT_tensor) {
		const Op *before = e->block->last;
		Value *v = make_convert(at(e, s), from->value, x->dtype);
		note_operands(e, before, 1, from);
		return item_tensor(x->range, v);
	}
	Item number = *from;
	if (x->dtype == D_pred && item_is_number(from))
		number = item_bool(from->range, item_double(from) != 0);
	else if (x->dtype != D_pred && number.kind == IT_bool)
		number.kind = IT_int;
	if (number.kind == IT_float && dtype_is_integer(x->dtype) && fabs(number.real) < 0x1p63)
		number = item_int(from->range, (int64_t)number.real);
	return item_tensor(x->range, item_constant(e, s, x->dtype, &number));
}

static Item
eval_cast(Elab *e, const Expr *x)
{
	const Arg *arg = x->args.n > 0 ? x->args.v[0] : NULL;
	if (x->args.n != 1 || arg->name.s != NULL) {
		complain(e, DIAG_arguments, x->range,
			"%s(x) converts one "
			"value; %d were given (a type is written %s[...])",
			dtypes[x->dtype].name, x->args.n, dtypes[x->dtype].name);
		return item_error(x->range);
	}
	Item from = eval_value(e, arg->value);
	if (from.kind == IT_error)
		return from;
	if (from.kind == IT_tuple) {
		complain(e, DIAG_argument_kind, from.range,
			"%s(x) converts a "
			"tensor or a number, not a tuple",
			dtypes[x->dtype].name);
		return item_error(x->range);
	}
	return cast(e, x, &from);
}

/* ---- any expression */

static Item
eval_type(Elab *e, const Expr *x)
{
	(void)e;
	return (Item){.kind = IT_type, .range = x->range, .type = x->type};
}

static Item
eval_int(Elab *e, const Expr *x)
{
	(void)e;
	return item_int(x->range, x->integer);
}

static Item
eval_float(Elab *e, const Expr *x)
{
	(void)e;
	return item_float(x->range, x->real);
}

static Item
eval_bool(Elab *e, const Expr *x)
{
	(void)e;
	return item_bool(x->range, x->integer != 0);
}

static Item
eval_error(Elab *e, const Expr *x)
{
	(void)e;
	return item_error(x->range);
}

static Item (*const evaluators[])(Elab *e, const Expr *x) = {
	[E_error] = eval_error,
	[E_name] = eval_name,
	[E_int] = eval_int,
	[E_float] = eval_float,
	[E_bool] = eval_bool,
	[E_string] = eval_string,
	[E_unary] = eval_operator,
	[E_binary] = eval_operator,
	[E_call] = eval_call,
	[E_cast] = eval_cast,
	[E_index] = eval_index,
	[E_member] = eval_member,
	[E_tuple] = eval_tuple,
	[E_type] = eval_type,
};

Item
eval(Elab *e, const Expr *x)
{
	if (e->too_large || exceeds(e, x->range, &e->nsteps, MAX_STEPS, "expressions"))
		return item_error(x->range);
	if (e->depth >= MAX_DEPTH) {
		complain(e, DIAG_inlining, x->range,
			"expressions inside calls "
			"are nested more than %d deep",
			MAX_DEPTH);
		return item_error(x->range);
	}
	e->depth++;
	Item item = evaluators[x->kind](e, x);
	e->depth--;
	item.range = x->range;
	if (item.kind != IT_tensor || item.value->type.rank <= MAX_USER_RANK)
		return item;
	complain(e, DIAG_rank, x->range,
		"a tensor of %d dims; at most %d are "
		"allowed",
		item.value->type.rank, MAX_USER_RANK);
	return item_error(x->range);
}

Item
eval_value(Elab *e, const Expr *x)
{
	Item item = eval(e, x);
	if (item.kind == IT_axis)
		complain(e, DIAG_not_value, x->range,
			"'%s' is a mesh axis, "
			"not a value; its size is axis_size(%s)",
			x->name, x->name);
	else if (item.kind == IT_type)
		complain(e, DIAG_type_form, x->range,
			"a type is not a value; "
			"zeros(T), full(T, v) and iota(T) make tensors of one");
	else if (item.kind == IT_string)
		complain(e, DIAG_not_value, x->range, "a string is not a value");
	else
		return item;
	return item_error(x->range);
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
			"a size is an "
			"integer known at compile time, not %s",
			show_item(e, &item));
	return false;
}

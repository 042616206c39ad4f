/*
 * operators.c - operators on items: numbers are folded, tensors broadcast.
 *
 *   x * 0.5       constant 0.5 in x's dtype, broadcast, multiply
 *   8 / 2         4
 */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "elaborate.h"

typedef enum Takes { TAKES_numbers, TAKES_pred, TAKES_any } Takes;

static const struct {
	const char *spelling;
	OpKind op;
	Direction direction;
	Takes takes;
} operators[] = {
#define OPERATOR(id, spelling, op, direction, takes) \
	{spelling, O_##op, DIR_##direction, TAKES_##takes},
#include "operators.def"
#undef OPERATOR
};

/* ---- tensors */

/* The dtype is the one the tensors among the operands share; literals follow it. */
bool
to_tensors(Elab *e, Site s, int n, const Item *items, Value **v)
{
	const Item *first = NULL;
	for (int i = 0; i < n; i++) {
		if (items[i].kind == IT_error)
			return false;
		if (items[i].kind != IT_tensor && !item_is_number(&items[i]))
			return complain(e, DIAG_argument_kind, items[i].range,
				"'%s' takes tensors and numbers, not %s", s.label,
				show_item(e, &items[i]));
	}
	for (int i = 0; i < n; i++) {
		if (items[i].kind != IT_tensor)
			continue;
		DType dtype = items[i].value->type.dtype;
		const DType *known = first != NULL ? &first->value->type.dtype : &dtype;
		if (dtype != *known) {
			complain(e, DIAG_dtype, first->range,
				"'%s' of %s and %s; convert one of them: %s(...)", s.label,
				dtypes[*known].name, dtypes[dtype].name, dtypes[*known].name);
			diag_label(e->session, items[i].range, "%s", dtypes[dtype].name);
			return false;
		}
		first = &items[i];
	}
	if (first == NULL)
		return complain(e, DIAG_literal, s.range,
			"'%s' of literals alone has no dtype; write one as a cast: f32(...)",
			s.label);
	for (int i = 0; i < n; i++) {
		v[i] = item_typed(e, s, first->value->type.dtype, items[i]).value;
		if (v[i] == NULL)
			return false;
	}
	return true;
}

/* An operand as it is written, in parentheses where an index behind it would be of its end;
   NULL: it is long. */
static const char *
operand_text(Elab *e, Range r)
{
	enum { LONGEST = 40 };
	const char *text = source_file(e->session, r.file)->text + r.begin;
	int n = r.end - r.begin, depth = 0;
	bool primary = true;
	if (n > LONGEST || memchr(text, '\n', (size_t)n) != NULL)
		return NULL;
	for (int i = 0; i < n; i++) {
		bool opens = strchr("([", text[i]) != NULL,
		     closes = strchr(")]", text[i]) != NULL;
		bool name = isalnum((unsigned char)text[i]) || strchr("_.", text[i]) != NULL;
		primary &= depth > 0 || name || opens;
		depth += opens - closes;
	}
	return arena_printf(e->arena, primary ? "%.*s" : "(%.*s)", n, text);
}

/* where(p, x, b) with x of f32[8, 4] and b of f32[8]: b[:, new] would, if there is one way
   to put its dims among those of x, the common shape of the others. */
static void
note_new(Elab *e, Range r, const Type *b, const Type *x)
{
	int ways = 0;
	uint32_t taken = 0;
	for (uint32_t set = 1; set < 1u << x->rank; set++) {
		int next = 0;
		bool fits = true;
		for (int d = 0; d < x->rank; d++)
			if (set >> d & 1)
				fits &= next < b->rank && b->dims[next++] == x->dims[d];
		if (!fits || next != b->rank)
			continue;
		taken = set;
		ways++;
	}
	const char *operand = ways == 1 ? operand_text(e, r) : NULL;
	if (operand == NULL)
		return;
	Text t = {0};
	for (int d = 0; d < x->rank; d++)
		if (taken & ((1u << (d + 1)) - 1))
			text_printf(&t, "%s%s", t.n > 0 ? ", " : "",
				taken >> d & 1 ? ":" : "new");
	diag_note(e->session, nowhere, "%s[%s] would", operand, t.s);
	text_free(&t);
}

bool
operand_shape(Elab *e, Site s, int n, const Item *items, Value *const *v, Type *shape)
{
	if (broadcast_shape(e, s.range, n, v, shape))
		return true;
	for (int small = 0; small < n && !e->frame->prelude; small++) {
		Type others = {0};
		bool fit = true;
		for (int i = 0; i < n; i++)
			fit &= i == small || broadcast_shapes(&others, &v[i]->type);
		if (fit && v[small]->type.rank < others.rank)
			note_new(e, items[small].range, &v[small]->type, &others);
	}
	return false;
}

/* Tensors of one shape and of a dtype that the operator takes. */
static bool
to_operands(Elab *e, Site s, Takes takes, int n, const Item *items, Value **v)
{
	Type shape;
	if (!to_tensors(e, s, n, items, v))
		return false;
	DType dtype = v[0]->type.dtype;
	if (takes != TAKES_any && (takes == TAKES_pred) != (dtype == D_pred)) {
		if (takes == TAKES_pred)
			complain(e, DIAG_dtype, s.range, "'%s' needs pred, not %s", s.label,
				dtypes[dtype].name);
		else
			complain(e, DIAG_dtype, s.range,
				"'%s' does not take pred; convert it: i32(...), or use && || !",
				s.label);
		return false;
	}
	if (!operand_shape(e, s, n, items, v, &shape))
		return false;
	for (int i = 0; i < n; i++)
		v[i] = make_broadcast_to(at(e, s), v[i], &shape);
	return true;
}

Item
apply_pointwise(Elab *e, Site s, OpKind kind, int n, const Item *items)
{
	Value *v[3];
	const Op *before = e->block->last;
	if (!to_operands(e, s, TAKES_numbers, n, items, v))
		return item_error;
	Value *result = make_op(at(e, s), kind, n, v);
	note_operands(e, before, n, items);
	return item_tensor(s.range, result);
}

/* ---- numbers */

static Item
fold_integers(Elab *e, Range r, Operator op, int64_t a, int64_t b)
{
	int64_t v = 0;
	bool fits = true, divides = op == OPERATOR_div || op == OPERATOR_rem;
	if (divides && b == 0) {
		complain(e, DIAG_size, r, "division of %" PRId64 " by zero", a);
		return item_error;
	}
	if (divides && b == -1)
		fits = op == OPERATOR_rem || !__builtin_sub_overflow(0, a, &v);
	else if (divides)
		v = op == OPERATOR_div ? a / b : a % b;
	else if (op == OPERATOR_add)
		fits = add_i64(a, b, &v);
	else if (op == OPERATOR_mul)
		fits = mul_i64(a, b, &v);
	else
		fits = !__builtin_sub_overflow(a, b, &v);
	if (fits)
		return item_int(r, v);
	complain(e, DIAG_size, r, "%" PRId64 " %s %" PRId64 " does not fit in 64 bits", a,
		operators[op].spelling, b);
	return item_error;
}

static Item
fold_binary(Elab *e, Range r, Operator op, const Item *a, const Item *b)
{
	bool logical = op == OPERATOR_and || op == OPERATOR_or;
	bool bools = a->kind == IT_bool && b->kind == IT_bool;
	bool mixed = (a->kind == IT_bool) != (b->kind == IT_bool);
	bool compares = operators[op].op == O_compare;
	if (mixed || (logical ? !bools : bools && !compares)) {
		complain(e, DIAG_dtype, r, "this operator does not take %s and %s",
			show_item(e, a), show_item(e, b));
		return item_error;
	}
	if (logical)
		return item_bool(r,
			op == OPERATOR_and ? a->integer & b->integer : a->integer | b->integer);
	double x = item_double(a), y = item_double(b);
	if (compares) {
		Direction d = operators[op].direction;
		int order = x < y ? -1 : x > y;
		if (a->kind != IT_float && b->kind != IT_float)
			order = a->integer < b->integer ? -1 : a->integer > b->integer;
		else if (isnan(x) || isnan(y))
			return item_bool(r, d == DIR_NE);
		if (d == DIR_EQ || d == DIR_NE)
			return item_bool(r, (order == 0) == (d == DIR_EQ));
		if (d == DIR_LT || d == DIR_GE)
			return item_bool(r, (order < 0) == (d == DIR_LT));
		return item_bool(r, (order > 0) == (d == DIR_GT));
	}
	if (a->kind == IT_int && b->kind == IT_int)
		return fold_integers(e, r, op, a->integer, b->integer);
	return item_float(r,
		op == OPERATOR_add	     ? x + y
			: op == OPERATOR_sub ? x - y
			: op == OPERATOR_mul ? x * y
			: op == OPERATOR_div ? x / y
					     : fmod(x, y));
}

Item
apply_operator(Elab *e, Range r, Operator op, int n, const Item *items)
{
	bool numbers = true;
	for (int i = 0; i < n; i++) {
		if (items[i].kind == IT_error)
			return item_error;
		numbers &= item_is_number(&items[i]);
	}
	if (numbers && n == 2)
		return fold_binary(e, r, op, &items[0], &items[1]);
	if (numbers && op == OPERATOR_not && items->kind == IT_bool)
		return item_bool(r, !items->integer);
	if (numbers && op == OPERATOR_neg && items->kind == IT_float)
		return item_float(r, -items->real);
	if (numbers && op == OPERATOR_neg && items->kind == IT_int)
		return fold_integers(e, r, OPERATOR_sub, 0, items->integer);
	if (numbers) {
		complain(e, DIAG_dtype, r, "'%s' does not take %s", operators[op].spelling,
			show_item(e, items));
		return item_error;
	}
	Site s = {r, operators[op].spelling, AS_call};
	Value *v[2];
	const Op *before = e->block->last;
	if (!to_operands(e, s, operators[op].takes, n, items, v))
		return item_error;
	Value *result = operators[op].op == O_compare
		? make_compare(at(e, s), operators[op].direction, v[0], v[1])
		: make_op(at(e, s), operators[op].op, n, v);
	note_operands(e, before, n, items);
	return item_tensor(r, result);
}

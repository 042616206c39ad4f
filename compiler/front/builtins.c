/*
 * builtins.c - the table of built-in functions, and how a call's arguments
 * find its parameters.
 */
#include <stdlib.h>
#include <string.h>

#include "builders.h"

static const Builtin builtins[] = {
#define ROW_everywhere(op, signature) \
	{#op, signature, build_pointwise, O_##op, PLACE_everywhere, NULL},
#define ROW_internal(op, signature) \
	{#op, signature, build_pointwise, O_##op, PLACE_internal, NULL},
#define ROW_operator(op, signature)
#define POINTWISE(op, place, signature, ...) ROW_##place(op, signature)
#define OTHER(...)
#define BUILTIN(name, signature, builder, detail, where, doc) \
	{#name, signature, build_##builder, detail, PLACE_##where, doc},
#include "builtins.def"
#undef BUILTIN
#undef POINTWISE
#undef OTHER
};

int
builtin_count(void)
{
	return (int)(sizeof builtins / sizeof builtins[0]);
}

const Builtin *
builtin_at(int i)
{
	return &builtins[i];
}

const Builtin *
builtin_find(const char *name)
{
	for (int i = 0; i < builtin_count(); i++)
		if (strcmp(builtins[i].name, name) == 0)
			return &builtins[i];
	return NULL;
}

static void
list_where(Text *t, const char *title, BuiltinPlace place)
{
	text_printf(t, "\n%s\n", title);
	for (int i = 0; i < builtin_count(); i++) {
		const Builtin *b = &builtins[i];
		size_t start = t->n;
		if (b->place != place)
			continue;
		text_printf(t, "  %s(%s)", b->name, b->signature);
		if (t->n - start > 30) {
			text_add(t, "\n");
			start = t->n;
		}
		text_printf(t, "%*s%s\n", (int)(32 - (t->n - start)), "",
			b->doc ? b->doc : ops[b->detail].doc);
	}
}

void
front_list_functions(Text *t)
{
	list_where(t, "Everywhere", PLACE_everywhere);
	list_where(t, "On whole tensors: not in manual functions", PLACE_global);
	list_where(t, "Between devices: in manual functions", PLACE_manual);
}

/* ---- signatures */

typedef struct Formal { /* one parameter of a signature */
	const char *name;
	bool required, rest;
	Item value; /* the default; IT_absent: none */
} Formal;

static Item
parse_default(Elab *e, const char *text)
{
	DType dtype;
	Range nowhere = {0};
	if (*text == '\0')
		return (Item){.kind = IT_absent};
	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
		return item_bool(nowhere, *text == 't');
	if (dtype_by_name(text, &dtype)) {
		TypeSpec *type = NEW(e->arena, TypeSpec);
		type->has_dtype = true;
		type->dtype = dtype;
		return (Item){.kind = IT_type, .type = type};
	}
	if (strpbrk(text, ".e") != NULL)
		return item_float(nowhere, strtod(text, NULL));
	return item_int(nowhere, strtoll(text, NULL, 10));
}

/* "x, dim=-1, operand..." */
static int
parse_signature(Elab *e, const char *signature, Formal *formals)
{
	char *s = arena_strndup(e->arena, signature, strlen(signature));
	int n = 0;
	for (char *next; s != NULL; s = next) {
		next = strchr(s, ',');
		if (next != NULL) {
			*next = '\0';
			next += 2;
		}
		Formal *f = &formals[n++];
		char *equals = strchr(s, '='), *dots = strstr(s, "...");
		f->name = s;
		f->required = equals == NULL && dots == NULL;
		f->rest = dots != NULL;
		f->value = (Item){.kind = IT_absent};
		if (equals != NULL) {
			*equals = '\0';
			f->value = parse_default(e, equals + 1);
		}
		if (dots != NULL)
			*dots = '\0';
	}
	return n;
}

const char *
param_name(Elab *e, const Builtin *b, int i)
{
	Formal formals[MAX_PARAMS];
	parse_signature(e, b->signature, formals);
	return formals[i].name;
}

/* ---- matching */

static const struct Habit {
	const char *theirs, *ours;
} keyword_habits[] = {
	{"axis", "dim"},
	{"axes", "dim"},
	{"dims", "dim"},
	{"keepdims", "keep"},
	{"keepdim", "keep"},
	{"perm", "dims"},
	{"epsilon", "eps"},
	{"num_classes", "n"},
	{"repeats", "n"},
	{"constant_values", "value"},
	{"fill_value", "value"},
	{"preferred_element_type", "dtype"},
	{"axis_name", "axis"},
	{"scatter_dimension", "dim"},
	{"split_axis", "split"},
	{"concat_axis", "concat"},
};

static int
find_formal(const Formal *formals, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!formals[i].rest && strcmp(formals[i].name, name) == 0)
			return i;
	return -1;
}

static void
unknown_keyword(Elab *e, const Builtin *b, const Formal *formals, int n, const Arg *arg)
{
	for (size_t i = 0; i < sizeof keyword_habits / sizeof *keyword_habits; i++) {
		const struct Habit *h = &keyword_habits[i];
		if (strcmp(h->theirs, arg->name.s) != 0 || find_formal(formals, n, h->ours) < 0)
			continue;
		complain(e, DIAG_habit, arg->name.range, "'%s=' is written %s=", h->theirs,
			h->ours);
		return;
	}
	complain(e, DIAG_arguments, arg->name.range,
		"'%s' has no parameter "
		"'%s'",
		b->name, arg->name.s);
	diag_note(e->session, (Range){0}, "it is %s(%s)", b->name, b->signature);
}

/* Where argument `arg`, the i-th, goes; -1 after a message. */
static int
formal_of(Elab *e, const Builtin *b, const Formal *formals, int n, const Arg *arg, int i)
{
	if (arg->name.s != NULL) {
		int at = find_formal(formals, n, arg->name.s);
		if (at < 0)
			unknown_keyword(e, b, formals, n, arg);
		return at;
	}
	for (int k = 0; k < n; k++)
		if (formals[k].rest && i >= k)
			return k;
	if (i < n)
		return i;
	complain(e, DIAG_arguments, arg->range,
		"'%s' takes at most %d "
		"argument%s",
		b->name, n, n == 1 ? "" : "s");
	diag_note(e->session, (Range){0}, "it is %s(%s)", b->name, b->signature);
	return -1;
}

static bool
put_argument(Elab *e, Call *c, const Formal *formals, int at, const Arg *arg)
{
	if (!formals[at].rest && c->args[at].kind != IT_absent) {
		complain(e, DIAG_arguments, arg->range,
			"'%s' is given '%s' "
			"twice",
			c->builtin->name, formals[at].name);
		return false;
	}
	Item x = eval(e, arg->value);
	if (formals[at].rest)
		APPEND(e->arena, c->rest, c->nrest, x);
	else
		c->args[at] = x;
	return x.kind != IT_error;
}

static bool
fill_defaults(Elab *e, Call *c, const Formal *formals, int n)
{
	for (int i = 0; i < n; i++) {
		if (c->args[i].kind != IT_absent)
			continue;
		if (formals[i].required) {
			complain(e, DIAG_arguments, c->expr->range,
				"'%s' needs "
				"an argument '%s'",
				c->builtin->name, formals[i].name);
			diag_note(e->session, (Range){0}, "it is %s(%s)", c->builtin->name,
				c->builtin->signature);
			return false;
		}
		c->args[i] = formals[i].value;
		c->args[i].range = c->expr->range;
	}
	return true;
}

static bool
match_call(Elab *e, Call *c)
{
	Formal formals[MAX_PARAMS];
	int n = parse_signature(e, c->builtin->signature, formals);
	for (int i = 0; i < n; i++)
		c->args[i].kind = IT_absent;
	bool right = true;
	for (int i = 0; i < c->expr->args.n; i++) {
		const Arg *arg = c->expr->args.v[i];
		if (!by_position_first(e, c->expr, i))
			return false;
		int at = formal_of(e, c->builtin, formals, n, arg, i);
		if (at < 0)
			return false;
		right &= put_argument(e, c, formals, at, arg);
	}
	return right && fill_defaults(e, c, formals, n);
}

static bool
may_call(Elab *e, const Builtin *b, const Expr *x)
{
	bool manual = e->manual != NULL, whole = manual && e->manual->whole;
	if (b->place != (manual ? PLACE_global : PLACE_manual) || (manual && !whole))
		return true;
	complain(e, DIAG_manual, x->left->range,
		manual ? "'%s' places whole tensors; in a manual function every "
			 "tensor is on one device"
		       : "'%s' is for manual functions, "
			 "which are written for one device; here tensors are whole",
		b->name);
	return false;
}

Item
builtin_call(Elab *e, const Builtin *b, const Expr *x)
{
	Call call = {.builtin = b, .expr = x, .site = {x->range, b->name, AS_call}};
	if (!may_call(e, b, x) || !match_call(e, &call))
		return item_error(x->range);
	const Op *before = e->block != NULL ? e->block->last : NULL;
	Item result = b->build(e, &call);
	note_operands(e, before, MAX_PARAMS, call.args);
	note_operands(e, before, call.nrest, call.rest);
	return result;
}

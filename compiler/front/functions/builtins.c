/*
 * builtins.c - the table of built-in functions, and how a call's arguments
 * find its parameters.
 */
#include <stdlib.h>
#include <string.h>

#include "builtins.h"

const Builtin builtins[] = {
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
enum { NBUILTINS = sizeof builtins / sizeof *builtins };
const int nbuiltins = NBUILTINS;

const Builtin *
builtin_find(const char *name)
{
	for (int i = 0; i < NBUILTINS; i++)
		if (strcmp(builtins[i].name, name) == 0)
			return &builtins[i];
	return NULL;
}

/* ---- signatures */

/* "x, dim=-1" of "x:tensor, dim:dim(x)=-1" */
static void
text_signature(Text *t, const Builtin *builtin)
{
	text_printf(t, "%s(", builtin->name);
	for (const char *s = builtin->signature; *s != '\0'; s++) {
		if (*s == ':')
			s += strcspn(s, ",=.");
		if (*s == '\0')
			break;
		text_addn(t, s, 1);
	}
	text_add(t, ")");
}

void
front_list_functions(Text *t)
{
	static const char *const titles[] = {
		[PLACE_everywhere] = "Everywhere",
		[PLACE_internal] = NULL,
		[PLACE_global] = "On whole tensors: not in manual functions",
		[PLACE_manual] = "Between devices: in manual functions",
		[PLACE_checkpoint] = "In checkpoint functions",
	};
	for (size_t place = 0; place < sizeof titles / sizeof *titles; place++) {
		if (titles[place] != NULL)
			text_printf(t, "\n%s\n", titles[place]);
		for (int i = 0; i < NBUILTINS && titles[place] != NULL; i++) {
			size_t start = t->n;
			if (builtins[i].place != place)
				continue;
			text_add(t, "  ");
			text_signature(t, &builtins[i]);
			if (t->n - start > 30) {
				text_add(t, "\n");
				start = t->n;
			}
			text_printf(t, "%*s%s\n", (int)(32 - (t->n - start)), "",
				builtins[i].doc != NULL ? builtins[i].doc
							: ops[builtins[i].detail].doc);
		}
	}
}

static Item
parse_default(Elab *e, const char *text)
{
	DType dtype;
	if (*text == '\0')
		return (Item){.kind = IT_absent};
	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
		return item_bool(nowhere, *text == 't');
	if (dtype_by_name(text, &dtype)) {
		Type type = type_of(dtype, 0, NULL);
		return (Item){.kind = IT_type, .type = annotation_of(e, nowhere, &type)};
	}
	if (strpbrk(text, ".e") != NULL)
		return item_float(nowhere, strtod(text, NULL));
	return item_int(nowhere, strtoll(text, NULL, 10));
}

static int
find_formal(const Formals *s, const char *name)
{
	for (int i = 0; i < s->n; i++)
		if (!s->v[i].rest && strcmp(s->v[i].name, name) == 0)
			return i;
	return -1;
}

/* Ends the word at the first of `marks` in it; what is behind that, or NULL. */
static char *
cut(char *word, const char *mark)
{
	char *at = strstr(word, mark);
	if (at == NULL)
		return NULL;
	*at = '\0';
	return at + strlen(mark);
}

/* "x:floats|number, operand:any..., dim:dims(x)=-1", once for each function. */
static const Formals *
formals_of(Elab *e, const Builtin *builtin)
{
	static const char *const types[] = {
#define PARAM_TYPE(name, reader, absent, wanted) #name,
#include "parameters.def"
	};
	enum { NTYPES = sizeof types / sizeof *types };
	const Formals **known;
	if (e->formals == NULL)
		e->formals = NEW_ARRAY(e->arena, const Formals *, NBUILTINS);
	known = &e->formals[builtin - builtins];
	if (*known != NULL)
		return *known;

	Formals *s = NEW(e->arena, Formals);
	char *word = arena_strndup(e->arena, builtin->signature, strlen(builtin->signature));
	for (char *next; word != NULL; word = next) {
		Formal *f = &s->v[s->n];
		int at = 0;
		next = cut(word, ", ");
		char *type = cut(word, ":");
		if (type == NULL)
			die("builtins.def: parameter '%s' of %s has no type", word,
				builtin->name);
		char *value = cut(type, "=");
		f->name = word;
		f->rest = cut(type, "...") != NULL;
		f->required = value == NULL && !f->rest;
		f->value = parse_default(e, value != NULL ? value : "");
		f->or_number = cut(type, "|number") != NULL;
		char *of = cut(type, "(");
		if (of != NULL)
			cut(of, ")");
		f->of = of != NULL ? find_formal(s, of) : -1;
		while (at < NTYPES && strcmp(types[at], type) != 0)
			at++;
		if (at == NTYPES)
			die("builtins.def: %s has a parameter of type '%s'", builtin->name,
				type);
		f->type = (ParamType)at;
		s->n++;
	}
	return *known = s;
}

/* ---- matching */

static const Habit keyword_habits[] = {
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

/* Of these nothing is written here. */
static const Habit keywords_without[] = {
	{"tiled", "leave it out; the parts of a dim are put together in that dim"},
	{"axis_index_groups", "a tuple of axes, or a part of one, names the groups"},
	{"precision", "dtype= says what is accumulated in"},
	{"unroll", "for unroll i in 0..4 { ... } copies the body"},
};

/* ... and what the function takes. */
static bool
note_signature(Call *c)
{
	Text t = {0};
	text_signature(&t, c->builtin);
	diag_note(c->elab->session, nowhere, "it is %s", t.s);
	text_free(&t);
	return false;
}

enum { FOREIGN = -2 }; /* a keyword of another language: what to write was said */

/* -1: there is no such parameter. */
static int
keyword_parameter(Call *c, Name keyword, bool *taken)
{
	const char *ours = HABIT(keyword_habits, keyword.s);
	const char *without = HABIT(keywords_without, keyword.s);
	int to = find_formal(c->formals, keyword.s);
	int meant = ours != NULL ? find_formal(c->formals, ours) : -1;
	/* all_gather(x, X, axis=0) */
	if (meant >= 0 && (to < 0 || taken[to])) {
		complain(c->elab, DIAG_habit, keyword.range, "'%s=' is written %s=", keyword.s,
			ours);
		taken[meant] = true;
		return FOREIGN;
	}
	if (to >= 0 || without == NULL)
		return to;
	complain(c->elab, DIAG_habit, keyword.range, "there is no '%s=' here: %s", keyword.s,
		without);
	return FOREIGN;
}

bool
builtin_leaves_out(Elab *e, const Builtin *b, const Arg *arg)
{
	const char *name = arg->name.s;
	return b != NULL && name != NULL && HABIT(keywords_without, name) != NULL
		&& find_formal(formals_of(e, b), name) < 0;
}

/* Is it for functions like the one it is called in? */
static bool
may_stand_here(Call *c, const Expr *call)
{
	Elab *e = c->elab;
	const char *name = c->builtin->name;
	bool manual = e->manual != NULL;
	if (c->builtin->place == PLACE_checkpoint && !e->checkpoints)
		return complain(e, DIAG_gradient, call->left->range,
			"'%s' says what a checkpoint fn keeps; this is not in one", name);
	if (c->builtin->place != (manual ? PLACE_global : PLACE_manual)
		|| (manual && !e->manual->whole))
		return true;
	if (!e->frame->misplaced)
		complain(e, DIAG_manual, call->left->range,
			manual ? "'%s' places whole tensors; in a manual function "
				 "every "
				 "tensor is on one device"
			       : "'%s' is for manual functions, which are written for "
				 "one device; here tensors are whole",
			name);
	e->frame->misplaced = true; /* they are of a kind: one is enough */
	return false;
}

/* The parameter that argument i is for; FOREIGN, or -1, after a message. */
static int
parameter_for(Call *c, const Arg *arg, int i, bool *taken)
{
	const Formals *s = c->formals;
	int to = i < s->n ? i : -1;
	for (int k = 0; k <= i && k < s->n; k++)
		if (s->v[k].rest)
			to = k;
	if (arg->name.s != NULL)
		to = keyword_parameter(c, arg->name, taken);
	if (to >= 0 || to == FOREIGN)
		return to;
	if (arg->name.s != NULL)
		complain(c->elab, DIAG_arguments, arg->name.range, "'%s' has no parameter '%s'",
			c->builtin->name, arg->name.s);
	else
		complain(c->elab, DIAG_arguments, arg->range,
			"'%s' takes at most %d argument%s", c->builtin->name, s->n,
			s->n == 1 ? "" : "s");
	note_signature(c);
	return -1;
}

/* What is not given is as its parameter says, if that says anything. */
static bool
give_rest(Call *c, const Expr *call, const bool *taken)
{
	for (int i = 0; i < c->formals->n; i++) {
		const Formal *f = &c->formals->v[i];
		c->items[i] = f->value;
		c->items[i].range = call->range;
		if (taken[i] || !f->required)
			continue;
		complain(c->elab, DIAG_arguments, call->range, "'%s' needs an argument '%s'",
			c->builtin->name, f->name);
		return note_signature(c);
	}
	return true;
}

bool
builtin_match(Call *c, const Expr *call, int *at)
{
	const Formals *s = formals_of(c->elab, c->builtin);
	bool taken[MAX_PARAMS] = {false}, right = true;
	c->formals = s;
	c->nitems = s->n;
	if (!may_stand_here(c, call))
		return false;
	for (int i = 0; i < call->args.n; i++) {
		const Arg *arg = call->args.v[i];
		int to = parameter_for(c, arg, i, taken);
		if (to == FOREIGN) {
			right = false;
			continue;
		}
		if (to < 0)
			return false;
		if (taken[to] && !s->v[to].rest)
			return complain(c->elab, DIAG_arguments, arg->range,
				"'%s' is given '%s' twice", c->builtin->name, s->v[to].name);
		taken[to] = true;
		at[i] = to;
	}
	return give_rest(c, call, taken) && right;
}

Value *
builtin_build(Call *c)
{
	Argument args[MAX_PARAMS];
	c->make = at(c->elab, c->site);
	return read_arguments(c, args) ? c->builtin->build(c, args) : NULL;
}

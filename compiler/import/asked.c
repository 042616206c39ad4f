/*
 * asked.c - placements that the command line asks for.
 *
 *   params.*.wq=[_, fsdp, (tp, pp)?]
 *
 * In front of the = a name, where * stands for any letters: of an argument, a result, or
 * what is computed at a line: h_0/attn/dot_general:119.  A path may be written as in
 * Python, params['layers']['wq'].  For each dim _ is whole, axes split it, behind ? there
 * may be more.  Where several fit a name, the last counts.
 */
#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "import/reader.h"

struct Asked {
	const char *text;    /* as it was given */
	const char *path;    /* what is before its = */
	const char *pattern; /* ... with dots */
	const MlirAttr *placement;
	bool met;
};

/* ---- reading them */

typedef struct Reading {
	Import *in;
	const Asked *asked;
	const char *at;
} Reading;

static bool
wrong(const Reading *rd, const char *what)
{
	diag(rd->in->session, DIAG_usage, nowhere, "--place %s: %s", rd->asked->text, what);
	return false;
}

static bool
take(Reading *rd, char letter)
{
	while (*rd->at == ' ')
		rd->at++;
	bool there = *rd->at == letter;
	rd->at += there;
	return there;
}

static int64_t
take_number(Reading *rd)
{
	int64_t n = 0;

	while (isdigit((unsigned char)*rd->at) && n < INT32_MAX)
		n = n * 10 + *rd->at++ - '0';
	return n;
}

static const char how_written[] = "it is written NAME=[_, AXIS, (AXIS, AXIS)], a place a dim";

/* "x", "x:(2)4" */
static bool
take_axis(Reading *rd, List *axes)
{
	Import *in = rd->in;
	MlirAxis *axis = NEW(in->arena, MlirAxis);
	size_t n = 0;

	take(rd, '\'');
	while (isalnum((unsigned char)rd->at[n]) || rd->at[n] == '_')
		n++;
	if (!n)
		return wrong(rd, how_written);
	axis->name = arena_strndup(in->arena, rd->at, n);
	rd->at += n;
	take(rd, '\'');
	if (take(rd, ':')) {
		bool part = take(rd, '(') && (axis->pre = take_number(rd)) > 0 && take(rd, ')')
			&& (axis->size = take_number(rd)) > 0;
		if (!part)
			return wrong(rd, "a part of an axis is written x:(2)4");
	}
	if (!strcmp(axis->name, "_") || !strcmp(axis->name, "None"))
		return true;
	if (!axis_is_known(in, axis->name))
		return wrong(rd,
			arena_printf(in->arena, "the mesh has no axis '%s'", axis->name));
	APPEND(in->arena, axes->v, axes->n, axis);
	return true;
}

static bool
take_dim(Reading *rd, List *dims)
{
	MlirDim *dim = NEW(rd->in->arena, MlirDim);
	bool several = take(rd, '(');

	if (!several && take(rd, '?'))
		dim->open = true;
	else
		do
			if (!take_axis(rd, &dim->axes))
				return false;
		while (several && take(rd, ','));
	if (several && !take(rd, ')'))
		return wrong(rd, "a parenthesis is not closed");
	dim->open |= take(rd, '?');
	APPEND(rd->in->arena, dims->v, dims->n, dim);
	return true;
}

static bool
read_one(Import *in, Asked *asked)
{
	const char *equals = strstr(asked->text, "=[");
	Reading rd = {in, asked, equals ? equals + 2 : ""};
	MlirAttr *attr = NEW(in->arena, MlirAttr);
	size_t n = equals ? (size_t)(equals - asked->text) : 0;

	if (!n)
		return wrong(&rd, how_written);
	asked->path = arena_strndup(in->arena, asked->text, n);
	asked->pattern = path_dotted(in->arena, asked->path);
	attr->kind = MLIR_sharding;
	attr->sharding = NEW(in->arena, MlirSharding);
	if (!take(&rd, ']')) {
		do
			if (!take_dim(&rd, &attr->sharding->dims))
				return false;
		while (take(&rd, ','));
		if (!take(&rd, ']'))
			return wrong(&rd, "the bracket is not closed");
	}
	asked->placement = attr;
	return *rd.at == '\0' || wrong(&rd, "there is something behind the bracket");
}

bool
asked_read(Import *in, const ImportOptions *options)
{
	in->asked = NEW_ARRAY(in->arena, Asked, options->nplaces + 1);
	in->names = table_new(in->arena);
	in->explain = options->explain;
	for (int i = 0; i < options->nplaces; i++) {
		in->asked[i].text = options->places[i];
		if (!read_one(in, &in->asked[i]))
			return false;
		in->nasked++;
	}
	return true;
}

/* ---- what they are asked of */

static bool
is_meant(Import *in, const Asked *asked, const char *name)
{
	return strchr(asked->path, '*')
		? !fnmatch(asked->pattern, path_dotted(in->arena, name), FNM_NOESCAPE)
		: rt_same_name(asked->path, name);
}

/* ... by a second name, which may be NULL */
static bool
asked_of_two(Import *in, const char *name, const char *other, const Value *v, Placement *p,
	bool *annotated)
{
	int rank = v->type.rank - v->pair;

	for (int i = in->nasked - 1; i >= 0; i--) {
		Asked *asked = &in->asked[i];
		Reading rd = {in, asked, ""};
		if (!is_meant(in, asked, name) && !(other && is_meant(in, asked, other)))
			continue;
		asked->met = true;
		if (asked->placement->sharding->dims.n != rank)
			return wrong(&rd,
				arena_printf(in->arena, "'%s' has %d dim%s", name, rank,
					rank == 1 ? "" : "s"));
		*annotated = true;
		if (sharding_read(in, asked->placement, v->type.rank, v->pair, p))
			return true;
		diag_line(in->session, "--place %s", asked->text);
		return false;
	}
	if (in->nasked)
		table_set(in->names, name, (void *)name);
	if (in->nasked && other)
		table_set(in->names, other, (void *)other);
	return true;
}

bool
asked_of(Import *in, const char *name, const Value *v, Placement *p, bool *annotated)
{
	return asked_of_two(in, name, NULL, v, p, annotated);
}

static void
name_value(Import *in, const char *name, Value *v)
{
	Named named = {name, v, v->type, v->placement};

	table_add(in->named, name, v);
	APPEND(in->session->arena, in->module->named, in->module->nnamed, named);
}

/* layer/dot_general:19 of "layer/btd,df->btf/dot_general:19", or of older text, which has no
   more than the letters of the einsum; NULL: it is of none. */
static const char *
name_without_letters(Import *in, const MlirOp *op, const char *name)
{
	const char *arrow = strstr(name, "->"), *begin = arrow, *dot = strchr(op->name, '.');
	const char *line = strrchr(name, ':');

	if (!arrow || !line)
		return NULL;
	while (begin > name && begin[-1] != '/')
		begin--;
	const char *end = strchr(arrow, '/');
	int n = (int)(begin - name);
	return end
		? arena_printf(in->arena, "%.*s%s", n, name, end + 1)
		: arena_printf(in->arena, "%.*s%s%s", n, name, dot ? dot + 1 : op->name, line);
}

/* Of the one result of an op that runs on whole tensors. */
bool
asked_place(Import *in, const MlirOp *op)
{
	Value *v = op->types.n == 1 && !in->manual.n ? in->results[0] : NULL;
	const char *name = (in->nasked || in->explain) && v
		? place_name(in, op->place, in->make.range)
		: NULL;
	const char *other = name ? name_without_letters(in, op, name) : NULL;
	bool asked = false;
	Placement p;

	if (!name)
		return true;
	if (in->explain && rt_same_name(in->explain, name))
		name_value(in, name, v);
	else if (in->explain && other && rt_same_name(in->explain, other))
		name_value(in, other, v);
	if (!asked_of_two(in, name, other, v, &p, &asked))
		return false;
	if (!asked)
		return true;
	Value *placed = make_unary(in->make, O_constraint, in->results[0]);
	if (!placed)
		return false;
	placed->placement = p;
	placed->annotated = true;
	in->results[0] = placed;
	return true;
}

bool
asked_all_met(Import *in)
{
	int n = table_count(in->names);
	const char **names = NEW_ARRAY(in->arena, const char *, n + 1);

	for (int i = 0; i < n; i++)
		names[i] = table_value(in->names, i);
	for (int i = 0; i < in->nasked; i++) {
		Reading rd = {in, &in->asked[i], ""};
		if (in->asked[i].met)
			continue;
		const char *nearest = rt_nearest_word(in->asked[i].pattern, names, n);
		wrong(&rd, "nothing is called so");
		if (nearest)
			diag_line(in->session, "did you mean '%s'?", nearest);
		return false;
	}
	return true;
}

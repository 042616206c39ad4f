/*
 * sweep_values.c - what --sweep gives values to, and which.
 *
 *   B=128,256        those         B=128..1024*2    128 256 512 1024
 *   X*Y=6            1 6, 2 3, 3 2, 6 1             B=1..7+3    1 4 7
 *   on=v5e,v5p:4x4x4               'layout=X=x,Y=y;X=y,Y=x'
 */
#define _GNU_SOURCE /* strchrnul() */
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

typedef struct Values { /* being filled */
	Session *session;
	const char *text; /* as it was given */
	SweepAxis *axis;
	const char **names, **values;
	int64_t nvalues; /* names times rows */
} Values;

static bool
too_many(Values *v)
{
	return usage(v->session, "--sweep=%s: more than %d combinations", v->text,
		MAX_COMBINATIONS);
}

static bool
add_value(Values *v, const char *value)
{
	APPEND(v->session->arena, v->values, v->nvalues, value);
	v->axis->n = v->nvalues / v->axis->nnames;
	return v->axis->n <= MAX_COMBINATIONS || too_many(v);
}

static bool
add_number(Values *v, int64_t number)
{
	return add_value(v, arena_printf(v->session->arena, "%lld", (long long)number));
}

/* Steps over a whole number from `least`. */
static bool
take_number(const char **text, int64_t least, int64_t *number)
{
	const char *c = *text;

	*number = 0;
	for (; *c >= '0' && *c <= '9'; c++)
		if (!mul_i64(*number, 10, number) || !add_i64(*number, *c - '0', number))
			return false;
	bool good = c > *text && *number >= least;
	*text = c;
	return good;
}

/* ---- the forms --------------------------------------------------------------- */

/* lo..hi*k, lo..hi+k; both ends are meant. */
static bool
read_range(Values *v, const char *text)
{
	int64_t low, high, by;
	bool times;

	bool good = take_number(&text, 0, &low) && strncmp(text, "..", 2) == 0;
	text += good ? 2 : 0;
	good = good && take_number(&text, 0, &high);
	if (good && low > high)
		return usage(v->session, "--sweep=%s: nothing is from %lld to %lld", v->text,
			(long long)low, (long long)high);
	times = *text == '*';
	good = good && (times || *text == '+');
	text += good;
	if (!good || !take_number(&text, times ? 2 : 1, &by) || *text || (times && low == 0))
		return usage(v->session,
			"--sweep=%s: a range is written 128..1024*2 or 8..32+8", v->text);
	while (low <= high)
		if (!add_number(v, low) || !(times ? mul_i64 : add_i64)(low, by, &low))
			return v->axis->n <= MAX_COMBINATIONS;
	return true;
}

/* A dim that is the size of no tensor may be 0; where it is one, the row tells it. */
static bool
is_size(const char *text)
{
	int64_t size;

	return take_number(&text, 0, &size) && !*text;
}

/* Those that a character separates; one that is empty is none. */
static bool
read_list(Values *v, const char *text, char separator, bool sizes)
{
	for (const char *end; text; text = *end ? end + 1 : NULL) {
		end = strchrnul(text, separator);
		if (end == text)
			return usage(v->session, "--sweep=%s: a value is missing", v->text);
		const char *value =
			arena_strndup(v->session->arena, text, (size_t)(end - text));
		if (sizes && !is_size(value))
			return usage(v->session,
				"--sweep=%s: '%s' is no size; they are written 128,256, "
				"128..1024*2 or X*Y=256",
				v->text, value);
		if (!add_value(v, value))
			return false;
	}
	return true;
}

enum { MAX_PRODUCT = 1 << 30 }; /* its divisors are found by trying */

/* Every ordered way to write n as a product of sizes for names i and on. */
static bool
factor(Values *v, int i, int64_t n, int64_t *sizes)
{
	if (i == v->axis->nnames - 1) {
		sizes[i] = n;
		for (int k = 0; k < v->axis->nnames; k++)
			if (!add_number(v, sizes[k]))
				return false;
		return true;
	}
	for (sizes[i] = 1; sizes[i] <= n / sizes[i]; sizes[i]++)
		if (n % sizes[i] == 0 && !factor(v, i + 1, n / sizes[i], sizes))
			return false;
	/* The other divisors, from n / sqrt(n) up. */
	for (int64_t small = sizes[i] - 1; small >= 1; small--) {
		sizes[i] = n / small;
		if (n % small == 0 && sizes[i] > small && !factor(v, i + 1, small, sizes))
			return false;
	}
	return true;
}

static bool
read_product(Values *v, const char *text)
{
	int64_t n, *sizes = NEW_ARRAY(v->session->arena, int64_t, v->axis->nnames);

	if (!take_number(&text, 1, &n) || *text)
		return usage(v->session, "--sweep=%s: a product is written X*Y=256", v->text);
	if (n > MAX_PRODUCT)
		return usage(v->session, "--sweep=%s: a product is at most %d", v->text,
			MAX_PRODUCT);
	return factor(v, 0, n, sizes);
}

/* ---- the names ------------------------------------------------------------------ */

/* The names before the '=', joined by '*'; NULL after a diagnostic. */
static const char *
read_names(Values *v)
{
	const char *text = v->text;

	for (;;) {
		size_t n = strcspn(text, "*=");
		const char *name = arena_strndup(v->session->arena, text, n);
		if (!is_identifier(name) || !text[n]) {
			usage(v->session,
				"--sweep=%s: it is written NAME=VALUES, X*Y=N, "
				"on=TARGETS or layout=LAYOUTS",
				v->text);
			return NULL;
		}
		for (int i = 0; i < v->axis->nnames; i++)
			if (strcmp(v->names[i], name) == 0) {
				usage(v->session, "--sweep=%s: %s is there twice", v->text,
					name);
				return NULL;
			}
		APPEND(v->session->arena, v->names, v->axis->nnames, name);
		text += n + 1;
		if (text[-1] == '=')
			return text;
	}
}

static bool
read_axis(Session *s, const char *text, SweepAxis *axis)
{
	Values v = {.session = s, .text = text, .axis = axis};
	const char *values = read_names(&v);
	bool good;

	if (!values)
		return false;
	if (axis->nnames > 1)
		good = read_product(&v, values);
	else if (strcmp(v.names[0], "layout") == 0)
		good = read_list(&v, values, ';', false);
	else if (strcmp(v.names[0], "on") == 0)
		good = read_list(&v, values, ',', false);
	else if (strstr(values, ".."))
		good = read_range(&v, values);
	else
		good = read_list(&v, values, ',', true);
	axis->names = v.names;
	axis->values = v.values;
	return good;
}

bool
sweep_axes(Session *s, const Options *o, SweepTable *table)
{
	table->axes = NEW_ARRAY(s->arena, SweepAxis, o->nsweeps);
	table->n = 1;
	for (int i = 0; i < o->nsweeps; i++) {
		SweepAxis *axis = &table->axes[i];
		if (!read_axis(s, o->sweeps[i], axis))
			return false;
		for (int k = 0; k < i; k++)
			for (int a = 0; a < axis->nnames * table->axes[k].nnames; a++)
				if (strcmp(axis->names[a % axis->nnames],
					    table->axes[k].names[a / axis->nnames])
					== 0)
					return usage(s, "--sweep gives values to %s twice",
						axis->names[a % axis->nnames]);
		table->naxes++;
		if (!mul_i64(table->n, axis->n, &table->n) || table->n > MAX_COMBINATIONS)
			return usage(s, "--sweep: more than %d combinations", MAX_COMBINATIONS);
	}
	return true;
}

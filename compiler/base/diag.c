/*
 * diag.c - messages for the user.
 *
 * A message is collected (labels, notes and lines are added to it) and
 * printed when the next one begins or at diag_flush().
 */
#include <stdlib.h>
#include <string.h>

#include "diag.h"

const DiagInfo diags[DIAG_COUNT] = {
#define DIAG(id, number, severity, status, title, explanation) \
	{number, SEV_##severity, status, title, explanation},
#include "diags.def"
#undef DIAG
};

static struct DiagState *
state(Session *s)
{
	if (!s->diagnostics)
		s->diagnostics = NEW(s->arena, struct DiagState);
	return s->diagnostics;
}

void
diag_flush(Session *s)
{
	struct DiagState *d = state(s);
	Text t = {0};

	if (!d->pending)
		return;
	d->pending = false;
	if (s->json)
		print_json(s, d, &t);
	else
		print_text(s, d, &t);
	if (s->err)
		fwrite(t.s, 1, t.n, s->err);
	text_free(&t);
}

static void
add_mark(Session *s, Range where, const char *text)
{
	struct DiagState *d = state(s);
	Mark m = {where, text};

	APPEND(s->arena, d->marks, d->nmarks, m);
}

/* Is this one more than are printed?  Said once. */
static bool
is_too_many(Session *s, const char *what, int n)
{
	if (s->max_errors == 0 || n <= s->max_errors)
		return false;
	if (n == s->max_errors + 1 && !s->json && s->err)
		fprintf(s->err, "shdc: too many %s; --max-errors=N shows more than %d\n", what,
			s->max_errors);
	return true;
}

/* The same words about the same place, as where a function is elaborated again. */
static bool
was_told(Session *s, DiagCode code, Range where, const char *text)
{
	struct DiagState *d = state(s);

	if (diags[code].severity != SEV_error || where.begin == where.end)
		return false;
	if (!d->told)
		d->told = table_new(s->arena);
	return !table_add(d->told,
		arena_printf(s->arena, "%d %d %d %d %s", (int)code, where.file, where.begin,
			where.end, text),
		s);
}

/* Counts the error or warning; those after the last that is printed are muted,
   and so is all that comes after the last error. */
static bool
is_muted(Session *s, const DiagInfo *info)
{
	struct DiagState *d = state(s);

	if (info->severity == SEV_error) {
		if (!d->status)
			d->status = info->status;
		return is_too_many(s, "errors", ++d->errors);
	}
	if (s->max_errors && d->errors > s->max_errors)
		return true;
	return info->severity == SEV_warning && is_too_many(s, "warnings", ++d->warnings);
}

void
diag(Session *s, DiagCode code, Range where, const char *fmt, ...)
{
	struct DiagState *d = state(s);
	va_list ap;

	diag_flush(s);
	/* Of millions no text is made. */
	if (s->max_errors && d->errors > s->max_errors) {
		d->muted = is_muted(s, &diags[code]);
		return;
	}
	va_start(ap, fmt);
	const char *text = arena_vprintf(s->arena, fmt, ap);
	va_end(ap);
	d->muted = was_told(s, code, where, text) || is_muted(s, &diags[code]);
	if (d->muted)
		return;
	d->pending = true;
	d->code = code;
	d->marks = NULL;
	d->additions = NULL;
	d->nmarks = d->nadditions = 0;
	d->text = text;
	add_mark(s, where, "");
}

void
diag_label(Session *s, Range where, const char *fmt, ...)
{
	struct DiagState *d = state(s);
	const char *text;
	va_list ap;

	if (d->muted)
		return;
	va_start(ap, fmt);
	text = arena_vprintf(s->arena, fmt, ap);
	va_end(ap);
	if (d->nmarks && where.file == d->marks[0].where.file
		&& where.begin == d->marks[0].where.begin && where.end == d->marks[0].where.end)
		d->marks[0].text = text;
	else
		add_mark(s, where, text);
}

static void
add_addition(Session *s, bool is_note, Range where, const char *edit, const char *fmt,
	va_list ap)
{
	struct DiagState *d = state(s);
	Addition a = {is_note, where, NULL, edit};

	if (d->muted)
		return;
	a.text = arena_vprintf(s->arena, fmt, ap);
	APPEND(s->arena, d->additions, d->nadditions, a);
}

void
diag_note(Session *s, Range where, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_addition(s, true, where, NULL, fmt, ap);
	va_end(ap);
}

void
diag_line(Session *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_addition(s, false, nowhere, NULL, fmt, ap);
	va_end(ap);
}

void
diag_choice(Session *s, Range where, const char *edit, const char *fmt, ...)
{
	va_list ap;

	if (edit)
		edit = arena_strndup(s->arena, edit, strlen(edit));
	va_start(ap, fmt);
	add_addition(s, false, where, edit, fmt, ap);
	va_end(ap);
}

int
diag_errors(const Session *s)
{
	return s->diagnostics ? s->diagnostics->errors : 0;
}

int
diag_status(const Session *s)
{
	return s->diagnostics ? s->diagnostics->status : 0;
}

const char *
diag_explain(const char *number)
{
	static Text t;

	text_free(&t);
	for (int i = 0; i < DIAG_COUNT; i++)
		if (strcmp(diags[i].number, number) == 0) {
			text_printf(&t, "%s: %s\n\n%s", diags[i].number, diags[i].title,
				diags[i].explanation);
			return t.s;
		}
	return NULL;
}

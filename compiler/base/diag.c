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

/* The same words about the same place, before. */
static bool
was_there(Session *s, Table **table, int code, Range where, const char *text)
{
	if (!*table)
		*table = table_new(s->arena);
	return !table_add(*table,
		arena_printf(s->arena, "%d %d %d %d %s", code, where.file, where.begin,
			where.end, text),
		s);
}

static void
print(Session *s, Message *message)
{
	struct DiagState *d = state(s);
	Text t = {0};
	int n = 0;

	for (int i = 0; i < message->nadditions; i++) {
		const Addition *a = &message->additions[i];

		if (!a->once || !was_there(s, &d->noted, 0, a->where, a->text))
			message->additions[n++] = *a;
	}
	message->nadditions = n;
	(s->json ? print_json : print_text)(s, message, &t);
	if (s->err)
		fwrite(t.s, 1, t.n, s->err);
	text_free(&t);
}

void
diag_flush(Session *s)
{
	struct DiagState *d = state(s);

	if (!d->pending)
		return;
	d->pending = false;
	d->message.number = d->nheld;
	if (d->holding)
		APPEND(s->arena, d->held, d->nheld, d->message);
	else
		print(s, &d->message);
}

void
diag_hold(Session *s)
{
	diag_flush(s);
	state(s)->holding = true;
}

/* By place, those of one place as they came.  What is about a file and no place in it stands
   behind the rest. */
static int
by_place(const void *a, const void *b)
{
	const Message *one = a, *other = b;
	Range x = one->marks[0].where, y = other->marks[0].where;

	if (x.file != y.file)
		return x.file < y.file ? -1 : 1;
	if ((x.end == 0) != (y.end == 0))
		return x.end == 0 ? 1 : -1;
	if (x.end != 0 && x.begin != y.begin)
		return x.begin < y.begin ? -1 : 1;
	return (one->number > other->number) - (one->number < other->number);
}

void
diag_release(Session *s)
{
	struct DiagState *d = state(s);

	diag_flush(s);
	d->holding = false;
	if (d->nheld)
		qsort(d->held, (size_t)d->nheld, sizeof *d->held, by_place);
	for (int i = 0; i < d->nheld; i++)
		print(s, &d->held[i]);
	d->held = NULL;
	d->nheld = 0;
	if (d->too_many && s->err)
		fputs(d->too_many, s->err);
	d->too_many = NULL;
}

static void
add_mark(Session *s, Range where, const char *text)
{
	struct DiagState *d = state(s);
	Mark m = {where, text};

	APPEND(s->arena, d->message.marks, d->message.nmarks, m);
}

/* Is this one more than are printed?  Said once. */
static bool
is_too_many(Session *s, const char *what, int n)
{
	struct DiagState *d = state(s);

	if (s->max_errors == 0 || n <= s->max_errors)
		return false;
	if (n > s->max_errors + 1 || s->json || !s->err)
		return true;
	const char *text = arena_printf(s->arena,
		"shdc: too many %s; --max-errors=N shows more than %d\n", what, s->max_errors);
	if (!d->holding)
		fputs(text, s->err);
	else
		d->too_many =
			d->too_many ? arena_printf(s->arena, "%s%s", d->too_many, text) : text;
	return true;
}

/* ... as where a function is elaborated again. */
static bool
was_told(Session *s, DiagCode code, Range where, const char *text)
{
	return diags[code].severity == SEV_error && where.begin != where.end
		&& was_there(s, &state(s)->told, (int)code, where, text);
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
	d->message = (Message){.code = code, .text = text};
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
	if (d->message.nmarks && where.file == d->message.marks[0].where.file
		&& where.begin == d->message.marks[0].where.begin
		&& where.end == d->message.marks[0].where.end)
		d->message.marks[0].text = text;
	else
		add_mark(s, where, text);
}

static void
add_addition(Session *s, Addition a, const char *fmt, va_list ap)
{
	struct DiagState *d = state(s);

	if (d->muted)
		return;
	a.text = arena_vprintf(s->arena, fmt, ap);
	APPEND(s->arena, d->message.additions, d->message.nadditions, a);
}

void
diag_note(Session *s, Range where, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_addition(s, (Addition){.is_note = true, .where = where}, fmt, ap);
	va_end(ap);
}

void
diag_note_once(Session *s, Range where, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_addition(s, (Addition){.is_note = true, .where = where, .once = true}, fmt, ap);
	va_end(ap);
}

void
diag_line(Session *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_addition(s, (Addition){.where = nowhere}, fmt, ap);
	va_end(ap);
}

void
diag_choice(Session *s, Range where, const char *edit, const char *fmt, ...)
{
	va_list ap;

	if (edit)
		edit = arena_strndup(s->arena, edit, strlen(edit));
	va_start(ap, fmt);
	add_addition(s, (Addition){.where = where, .edit = edit}, fmt, ap);
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

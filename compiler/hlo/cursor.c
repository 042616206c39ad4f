/*
 * cursor.c - from bytes to words, whatever the bytes.
 *
 * The first mistake ends the reading: it gives one message and every function
 * below runs out, because the cursor stands at the end from then on.
 */
#include <ctype.h>
#include <string.h>
#include "hlo/read.h"

enum { MAX_NESTED_BRACKETS = 64 };

Range
cursor_range(const Cursor *c)
{
	if (c->copied)
		return c->where;
	/* The line is worked out when a message needs it. */
	return (Range){c->rd->file, 0, c->pos, c->pos + (c->pos < c->end)};
}

Cursor
cursor_of_text(Reading *rd, const char *s, int length, Range where)
{
	return (Cursor){.rd = rd, .s = s, .end = length, .copied = true, .where = where};
}

static void
report(Reading *rd, Range where, const char *fmt, va_list ap)
{
	if (!rd->failed)
		diag(rd->session, DIAG_hlo_syntax, where, "%s",
			arena_vprintf(rd->arena, fmt, ap));
	rd->failed = true;
}

void
hlo_error(Reading *rd, Range where, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(rd, where, fmt, ap);
	va_end(ap);
}

void
cursor_error(Cursor *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(c->rd, cursor_range(c), fmt, ap);
	va_end(ap);
	c->pos = c->end;
}

void
line_error(const ReadLine *in, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(in->rd, in->instr->where, fmt, ap);
	va_end(ap);
}

/* ---- space and words ------------------------------------------------- */

/* Past a comment, if one starts here. */
static bool
skip_comment(Cursor *c)
{
	const char *s = c->s + c->pos;
	int left = c->end - c->pos;

	if (left < 2 || s[0] != '/' || (s[1] != '/' && s[1] != '*'))
		return false;
	if (s[1] == '/') {
		const char *stop = memchr(s, '\n', (size_t)left);
		c->pos = stop ? (int)(stop - c->s) : c->end;
		return true;
	}
	for (int i = 2; i + 1 < left; i++)
		if (s[i] == '*' && s[i + 1] == '/') {
			c->pos += i + 2;
			return true;
		}
	cursor_error(c, "a comment without an end");
	return true;
}

bool
cursor_at_end(Cursor *c)
{
	if (c->rd->failed)
		c->pos = c->end;
	while (c->pos < c->end) {
		if (isspace((unsigned char)c->s[c->pos]))
			c->pos++;
		else if (!skip_comment(c))
			return false;
	}
	return true;
}

bool
cursor_is(Cursor *c, char ch)
{
	return !cursor_at_end(c) && c->s[c->pos] == ch;
}

static bool
is_word(char ch)
{
	return isalnum((unsigned char)ch) || ch == '_' || ch == '.' || ch == '-';
}

/* A token of several letters must end where the word does. */
bool
cursor_accept(Cursor *c, const char *token)
{
	int n = (int)strlen(token);

	if (cursor_at_end(c) || c->end - c->pos < n || memcmp(c->s + c->pos, token, (size_t)n))
		return false;
	if (n > 1 && is_word(token[0]) && c->pos + n < c->end && is_word(c->s[c->pos + n]))
		return false;
	c->pos += n;
	return true;
}

bool
cursor_expect(Cursor *c, const char *token)
{
	if (cursor_accept(c, token))
		return true;
	if (cursor_at_end(c))
		cursor_error(c, "expected '%s' before the end", token);
	else
		cursor_error(c, "expected '%s' before '%c'", token,
			isprint((unsigned char)c->s[c->pos]) ? c->s[c->pos] : '?');
	return false;
}

void
cursor_expect_end(Cursor *c)
{
	if (!cursor_at_end(c))
		cursor_error(c, "something follows the value");
}

bool
cursor_item(Cursor *c, int n, const char *close)
{
	if (*close ? cursor_accept(c, close) : cursor_at_end(c))
		return false;
	if (c->rd->failed)
		return false;
	return !n || cursor_expect(c, ",");
}

bool
cursor_same(Cursor *c, Cursor text)
{
	while (!cursor_at_end(&text))
		if (cursor_at_end(c) || c->s[c->pos++] != text.s[text.pos++])
			return false;
	return true;
}

const char *
cursor_word(Cursor *c, const char *what)
{
	cursor_at_end(c);
	int start = c->pos;
	while (c->pos < c->end && is_word(c->s[c->pos]))
		c->pos++;
	if (c->pos == start) {
		cursor_error(c, "expected %s", what);
		return "";
	}
	return arena_strndup(c->rd->arena, c->s + start, (size_t)(c->pos - start));
}

int64_t
cursor_integer(Cursor *c, const char *what)
{
	bool negative = cursor_accept(c, "-");
	int64_t value = 0;
	int start = c->pos;

	for (; c->pos < c->end && isdigit((unsigned char)c->s[c->pos]); c->pos++) {
		int digit = c->s[c->pos] - '0';
		if (!mul_i64(value, 10, &value)
			|| !add_i64(value, negative ? -digit : digit, &value)) {
			cursor_error(c, "a number of more than 64 bits");
			return 0;
		}
	}
	if (c->pos == start)
		cursor_error(c, "expected %s", what);
	return value;
}

int64_t
cursor_only(Cursor c, const char *what)
{
	int64_t value = cursor_integer(&c, what);

	cursor_expect_end(&c);
	return value;
}

int
cursor_line(Cursor *c)
{
	int64_t line = cursor_integer(c, "a line");

	return line < 0 || line > INT32_MAX ? 0 : (int)line;
}

/* ---- strings and brackets -------------------------------------------- */

/* One escaped character, after the backslash: \n, \t, \", \303. */
static char
unescape(Cursor *c)
{
	char ch = c->s[c->pos++];
	int value = ch - '0';

	if (ch == 'n')
		return '\n';
	if (ch == 't')
		return '\t';
	if (ch < '0' || ch > '7')
		return ch;
	for (int i = 1; i < 3 && c->pos < c->end; i++) {
		ch = c->s[c->pos];
		if (ch < '0' || ch > '7')
			break;
		value = value * 8 + ch - '0';
		c->pos++;
	}
	return (char)value;
}

const char *
cursor_string(Cursor *c, int *length)
{
	*length = 0;
	if (!cursor_expect(c, "\""))
		return "";
	Text t = {0};
	while (c->pos < c->end && c->s[c->pos] != '"') {
		char ch = c->s[c->pos++];
		if (ch == '\\' && c->pos < c->end)
			ch = unescape(c);
		text_addn(&t, &ch, 1);
	}
	const char *s = arena_strndup(c->rd->arena, t.s ? t.s : "", t.n);
	*length = (int)strlen(s);
	if ((size_t)*length != t.n)
		cursor_error(c, "a string with a zero byte");
	text_free(&t);
	cursor_expect(c, "\"");
	return s;
}

/* Past (...), [...] or {...} with all that is in it. */
void
cursor_skip_brackets(Cursor *c)
{
	char closing[MAX_NESTED_BRACKETS];
	int depth = 0, length;

	do {
		if (cursor_at_end(c)) {
			cursor_error(c, "a bracket is never closed");
			return;
		}
		char ch = c->s[c->pos];
		if (ch == '"') {
			cursor_string(c, &length);
			continue;
		}
		c->pos++;
		if (ch == '(' || ch == '[' || ch == '{') {
			if (depth == MAX_NESTED_BRACKETS) {
				cursor_error(c, "more than %d nested brackets",
					MAX_NESTED_BRACKETS);
				return;
			}
			closing[depth++] = ch == '(' ? ')' : ch == '[' ? ']' : '}';
		} else if (ch == ')' || ch == ']' || ch == '}') {
			if (ch != closing[--depth]) {
				cursor_error(c, "a '%c' where '%c' is open", ch,
					closing[depth]);
				return;
			}
		}
	} while (depth);
}

/*
 * scan.c - tokens with a value, and characters that begin none.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scan.h"

static const struct Word {
	const char *text;
	int token;
} words[] = {
#define RESERVED(text, token) {#text, TOK_##token},
#define POSITION(text, token) {#text, TOK_##token},
#include "words.def"
	{"_", TOK_UNDERSCORE},
};

int
scan_name(Parser *p, SHD_STYPE *value, Range r, const char *text)
{
	if (dtype_by_name(text, &value->dtype))
		return TOK_DTYPE;
	size_t length = strlen(text);
	value->name.s = arena_strndup(p->session->arena, text, length);
	value->name.range = r;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i].text, text) == 0)
			return words[i].token;
	return TOK_NAME;
}

/* Words of the command line have its code and status. */
static DiagCode
own_code(const Parser *p, DiagCode code)
{
	return p->code == DIAG_usage ? DIAG_usage : code;
}

int
scan_integer(Parser *p, SHD_STYPE *value, Range r, const char *text)
{
	value->integer = 0;
	for (const char *c = text; *c != '\0'; c++) {
		if (*c == '_')
			continue;
		if (mul_i64(value->integer, 10, &value->integer)
			&& add_i64(value->integer, *c - '0', &value->integer))
			continue;
		diag(p->session, own_code(p, DIAG_number), r,
			"integer %.40s%s does not fit in 64 bits", text,
			strlen(text) > 40 ? "..." : "");
		p->skipped = true;
		return TOK_MALFORMED;
	}
	return TOK_INT;
}

int
scan_float(Parser *p, SHD_STYPE *value, Range r, const char *text)
{
	char *digits = arena_strndup(p->session->arena, text, strlen(text));
	char *to = digits;
	for (const char *from = digits; *from != '\0'; from++)
		if (*from != '_')
			*to++ = *from;
	*to = '\0';
	value->real = strtod(digits, NULL);
	if (value->real <= 1.7976931348623157e308)
		return TOK_FLOAT;
	diag(p->session, own_code(p, DIAG_number), r,
		"number %.40s is too large; for infinity write inf", text);
	p->skipped = true;
	return TOK_MALFORMED;
}

/* 4x, 0x10, 1.5f, 1., .5: what is a number elsewhere, or runs into a name. */
int
scan_bad_number(Parser *p, Range r, const char *text)
{
	if (p->lost)
		return TOK_MALFORMED;
	diag(p->session, own_code(p, DIAG_number), r, "'%.40s' is not a number", text);
	diag_note(p->session, nowhere,
		"integers are decimal and may hold '_'; a float has digits on both sides of "
		"the dot, or an exponent");
	p->skipped = true;
	return TOK_MALFORMED;
}

/* A string in either kind of quotes: token STRING or SINGLE_QUOTED. */
int
scan_string(Parser *p, SHD_STYPE *value, Range r, const char *text)
{
	size_t n = strlen(text) - 2;
	char *s = arena_strndup(p->session->arena, text + 1, n);
	char *to = s;
	for (const char *from = s; *from != '\0'; from++) {
		if (*from == '\\') {
			from++;
			if (strchr("\"\\n'", *from) == NULL) {
				int at = r.begin + 1 + (int)(from - s);
				Range where = {r.file, r.line, at - 1, at + 1};
				diag(p->session, own_code(p, DIAG_string), where,
					"unknown escape '\\%c' in a string; there are \\\" "
					"\\\\ and \\n only",
					*from);
				p->program->whole = false;
			}
			*to++ = *from == 'n' ? '\n' : *from;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
	value->name = (Name){s, r};
	return text[0] == '"' ? TOK_STRING : TOK_SINGLE_QUOTED;
}

/*
 * A comment behind code may have been meant as a division, as Python's is;
 * remembered for the message on what follows it (syntax.c).
 */
void
scan_slashes(Parser *p, Range r)
{
	const char *text = source_file(p->session, p->file)->text;
	int at = r.begin;
	while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t'))
		at--;
	if (at > 0 && text[at - 1] != '\n')
		p->slashes = r;
}

void
scan_hash(Parser *p, Range r)
{
	r.end = r.begin + 1;
	diag(p->session, DIAG_habit, r, "comments begin with //, not with #");
}

void
scan_open_comment(Parser *p)
{
	p->skipped = true;
	diag(p->session, p->code, p->comment, "this comment is never closed; '*/' is missing");
}

void
scan_open_string(Parser *p, Range r)
{
	p->skipped = true;
	diag(p->session, own_code(p, DIAG_string), r,
		"this string is not closed on its line; '\"' is missing");
}

/* Behind the last character that is not blank. */
Range
scan_end_of_file(Parser *p)
{
	const SourceFile *f = source_file(p->session, p->file);
	int at = f->length, line = p->line;
	while (at > 0 && strchr(" \t\r\n", f->text[at - 1]) != NULL)
		line -= f->text[--at] == '\n';
	return (Range){p->file, line, at, at};
}

/* A name with letters of another alphabet goes on as a name. */
int
scan_bad_name(Parser *p, SHD_STYPE *value, Range r, const char *text)
{
	diag(p->session, p->code, r,
		"'%.40s' is not ASCII; names are (comments and strings may hold any text)",
		text);
	value->name.s = arena_strndup(p->session->arena, text, strlen(text));
	value->name.range = r;
	return TOK_NAME;
}

/* Python's and C's operators on bits are for pred in both. */
static const struct ByteHabit {
	char theirs;
	const char *ours;
} byte_habits[] = {
	{'&', "&&"},
	{'|', "||"},
	{'~', "!"},
	{'^', "!="},
};

/* `|a| a * 2`, where a value begins; the second mark is told with the first. */
static bool
begins_lambda(Parser *p, Range r)
{
	const char *text = source_file(p->session, p->file)->text;
	int at = r.begin;

	while (at > 0 && strchr(" \t", text[at - 1]) != NULL)
		at--;
	return at > 0 && strchr("=(,", text[at - 1]) != NULL;
}

void
scan_bad_byte(Parser *p, Range r, const char *text)
{
	unsigned char c = (unsigned char)text[0];
	p->skipped = true;
	const char *ours = NULL;
	if (c == '|' && (begins_lambda(p, r) || p->lambda == r.line)) {
		if (p->lambda != r.line)
			diag(p->session, DIAG_habit, r,
				"a function is declared with fn: fn f(a) { return a * 2; }");
		p->lambda = r.line;
		return;
	}
	for (size_t i = 0; i < sizeof byte_habits / sizeof *byte_habits; i++)
		if (byte_habits[i].theirs == text[0])
			ours = byte_habits[i].ours;
	if (ours != NULL)
		diag(p->session, DIAG_habit, r, "'%c' is written %s, between pred", c, ours);
	else if (c < 0x20 || c == 0x7f)
		diag(p->session, p->code, r, "unexpected byte 0x%02x", c);
	else
		diag(p->session, p->code, r, "'%c' begins nothing in this language", c);
}

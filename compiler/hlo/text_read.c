/*
 * text_read.c - from bytes to instructions, whatever the bytes.
 *
 * The subset of XLA's text that print.c writes, and what XLA itself makes of
 * it: layouts and operand types are skipped, % may be left out.  The first
 * mistake ends the reading: it gives one message and every function below
 * runs out, because the cursor stands at the end from then on.
 */
#include <ctype.h>
#include <string.h>
#include "hlo/read.h"

enum { MAX_NESTED_BRACKETS = 64 };

/* ---- cursors -------------------------------------------------------- */

Range
cursor_range(const Cursor *c)
{
	if (c->copied)
		return c->where;
	/* The line is worked out when a message needs it. */
	return (Range){c->r->file, 0, c->pos, c->pos + (c->pos < c->end)};
}

static void
report(Reading *r, Range where, const char *fmt, va_list ap)
{
	if (!r->failed)
		diag(r->session, DIAG_hlo_syntax, where, "%s",
			arena_vprintf(r->arena, fmt, ap));
	r->failed = true;
}

void
hlo_error(Reading *r, Range where, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(r, where, fmt, ap);
	va_end(ap);
}

void
cursor_error(Cursor *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!c->r->failed)
		report(c->r, cursor_range(c), fmt, ap);
	va_end(ap);
	c->pos = c->end;
}

Cursor
cursor_of_text(Reading *r, const char *s, int length, Range where)
{
	return (Cursor){.r = r, .s = s, .end = length, .copied = true, .where = where};
}

/* Past a comment, if one starts here. */
static bool
skip_comment(Cursor *c)
{
	const char *s = c->s + c->pos;
	int left = c->end - c->pos;
	const char *stop;

	if (left < 2 || s[0] != '/' || (s[1] != '/' && s[1] != '*'))
		return false;
	if (s[1] == '/') {
		stop = memchr(s, '\n', (size_t)left);
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

static void
skip_space(Cursor *c)
{
	if (c->r->failed)
		c->pos = c->end;
	while (c->pos < c->end) {
		if (isspace((unsigned char)c->s[c->pos]))
			c->pos++;
		else if (!skip_comment(c))
			break;
	}
}

bool
cursor_at_end(Cursor *c)
{
	skip_space(c);
	return c->pos >= c->end;
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

	skip_space(c);
	if (c->end - c->pos < n || memcmp(c->s + c->pos, token, (size_t)n))
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

const char *
cursor_word(Cursor *c, const char *what)
{
	skip_space(c);
	int start = c->pos;
	while (c->pos < c->end && is_word(c->s[c->pos]))
		c->pos++;
	if (c->pos == start) {
		cursor_error(c, "expected %s", what);
		return "";
	}
	return arena_strndup(c->r->arena, c->s + start, (size_t)(c->pos - start));
}

int64_t
cursor_integer(Cursor *c, const char *what)
{
	skip_space(c);
	bool negative = cursor_accept(c, "-");
	int64_t value = 0;
	int start = c->pos;
	while (c->pos < c->end && isdigit((unsigned char)c->s[c->pos])) {
		int digit = c->s[c->pos] - '0';
		if (!mul_i64(value, 10, &value)
			|| !add_i64(value, negative ? -digit : digit, &value)) {
			cursor_error(c, "a number of more than 64 bits");
			return 0;
		}
		c->pos++;
	}
	if (c->pos == start)
		cursor_error(c, "expected %s", what);
	return value;
}

/* One escaped character, after the backslash. */
static char
unescape(Cursor *c)
{
	char ch = c->s[c->pos++];
	int value = 0;

	if (ch == 'n')
		return '\n';
	if (ch == 't')
		return '\t';
	if (ch < '0' || ch > '7')
		return ch;
	c->pos--;
	for (int i = 0; i < 3 && c->pos < c->end; i++) {
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
	const char *s = arena_strndup(c->r->arena, t.s ? t.s : "", t.n);
	*length = (int)strlen(s);
	if ((size_t)*length != t.n)
		cursor_error(c, "a string with a zero byte");
	text_free(&t);
	cursor_expect(c, "\"");
	return s;
}

void
cursor_expect_end(Cursor *c)
{
	if (!cursor_at_end(c))
		cursor_error(c, "something follows the value");
}

/* ---- types ---------------------------------------------------------- */

/* Past (...), [...] or {...} with all that is in it. */
static void
skip_brackets(Cursor *c)
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

static bool
hlo_dtype(const char *name, DType *d)
{
	for (int i = 0; i < DTYPE_COUNT; i++)
		if (!strcmp(dtypes[i].hlo, name)) {
			*d = (DType)i;
			return true;
		}
	return false;
}

static void
read_dims(Cursor *c, Type *t)
{
	int64_t bytes = dtypes[t->dtype].bytes;

	while (!cursor_accept(c, "]")) {
		if (t->rank && !cursor_expect(c, ","))
			return;
		if (t->rank == MAX_RANK) {
			cursor_error(c, "more than %d dims", MAX_RANK);
			return;
		}
		int64_t size = cursor_integer(c, "the size of a dim");
		if (c->r->failed)
			return;
		if (size < 1 || !mul_i64(bytes, size, &bytes)) {
			cursor_error(c, "a dim of size %lld", (long long)size);
			return;
		}
		t->dims[t->rank++] = size;
	}
}

/* f32[8,16]{1,0}; a tuple of types is skipped (see read_shape). */
bool
cursor_type(Cursor *c, Type *t, bool *tuple)
{
	*tuple = !cursor_at_end(c) && c->s[c->pos] == '(';
	*t = type_of(D_pred, 0, NULL);
	if (*tuple) {
		skip_brackets(c);
		return !c->r->failed;
	}
	Cursor at = *c;
	const char *name = cursor_word(c, "a type");
	if (!hlo_dtype(name, &t->dtype))
		cursor_error(&at, "unknown type '%s'", name);
	if (cursor_expect(c, "["))
		read_dims(c, t);
	if (!c->r->failed && c->pos < c->end && c->s[c->pos] == '{')
		skip_brackets(c);
	return !c->r->failed;
}

/* ---- attributes ----------------------------------------------------- */

static bool
ends_value(char ch)
{
	return isspace((unsigned char)ch) || ch == ',' || ch == '}' || ch == ')' || ch == ']';
}

/* The bytes of a value: a string, brackets, and what follows them. */
static Cursor
read_value(Cursor *c)
{
	int length;

	skip_space(c);
	Cursor value = *c;
	if (c->pos < c->end && c->s[c->pos] == '"') {
		cursor_string(c, &length);
		value.end = c->pos;
		return value;
	}
	while (c->pos < c->end && !ends_value(c->s[c->pos])) {
		char ch = c->s[c->pos];
		if (ch == '{' || ch == '[' || ch == '(')
			skip_brackets(c);
		else
			c->pos++;
	}
	if (c->pos == value.pos)
		cursor_error(c, "expected a value");
	value.end = c->pos;
	return value;
}

/* , name=value, name=value */
void
hlo_read_attrs(Cursor *c, HloAttrs *attrs)
{
	while (cursor_accept(c, ",")) {
		HloAttr a = {.name = cursor_word(c, "an attribute")};
		if (!cursor_expect(c, "="))
			return;
		a.value = read_value(c);
		APPEND(c->r->arena, attrs->a, attrs->n, a);
	}
}

const HloAttr *
hlo_attr(const HloAttrs *attrs, const char *name)
{
	for (int i = 0; i < attrs->n; i++)
		if (!strcmp(attrs->a[i].name, name))
			return &attrs->a[i];
	return NULL;
}

/* ---- instructions --------------------------------------------------- */

static const char *
read_name(Cursor *c, Range *where)
{
	skip_space(c);
	*where = cursor_range(c);
	cursor_accept(c, "%");
	const char *name = cursor_word(c, "a name");
	if (!c->copied)
		where->end = c->pos;
	return name;
}

/* %x, or with its type: f32[8]{0} %x */
static void
read_operand(Cursor *c, HloInstr *instr)
{
	HloOperand operand;
	Cursor start = *c;
	Type type;
	bool tuple;

	operand.name = read_name(c, &operand.where);
	if (c->pos < c->end && c->s[c->pos] == '[') {
		*c = start;
		if (cursor_type(c, &type, &tuple))
			operand.name = read_name(c, &operand.where);
	}
	APPEND(c->r->arena, instr->operands, instr->noperands, operand);
}

/* parameter(0) and constant(1.5) hold no values. */
static bool
has_literal(const HloInstr *instr)
{
	return !strcmp(instr->opcode, "parameter") || !strcmp(instr->opcode, "constant");
}

static void
read_operands(Cursor *c, HloInstr *instr)
{
	skip_space(c);
	instr->literal = *c;
	if (has_literal(instr)) {
		if (c->pos < c->end && c->s[c->pos] == '(')
			skip_brackets(c);
		else
			cursor_expect(c, "(");
		instr->literal.pos++;
		instr->literal.end = c->pos - 1;
		return;
	}
	if (!cursor_expect(c, "(") || cursor_accept(c, ")"))
		return;
	do
		read_operand(c, instr);
	while (cursor_accept(c, ","));
	cursor_expect(c, ")");
}

/* A type, or a tuple of types: (f32[8], s32[]). */
static void
read_shape(Cursor *c, HloInstr *instr)
{
	bool nested = false;
	Cursor inside = *c;

	if (!cursor_type(c, &instr->type, &instr->tuple) || !instr->tuple)
		return;
	cursor_expect(&inside, "(");
	while (!c->r->failed && !cursor_accept(&inside, ")")) {
		Type type;
		if (instr->ntypes)
			cursor_expect(&inside, ",");
		if (cursor_type(&inside, &type, &nested) && nested)
			cursor_error(&inside, "a tuple in a tuple");
		APPEND(c->r->arena, instr->types, instr->ntypes, type);
	}
}

static void
read_instr(Cursor *c, HloComputation *computation)
{
	HloInstr instr = {0};

	instr.root = cursor_accept(c, "ROOT");
	instr.name = read_name(c, &instr.where);
	if (!cursor_expect(c, "="))
		return;
	read_shape(c, &instr);
	if (c->r->failed)
		return;
	instr.opcode = cursor_word(c, "an opcode");
	read_operands(c, &instr);
	hlo_read_attrs(c, &instr.attrs);
	if (instr.root)
		computation->root = computation->n;
	APPEND(c->r->arena, computation->instrs, computation->n, instr);
}

/* ---- computations and the whole ------------------------------------- */

/* (a: f32[], b: f32[]) -> f32[]; the instructions say it again. */
static void
skip_signature(Cursor *c)
{
	Type type;
	bool tuple;

	if (!cursor_at_end(c) && c->s[c->pos] == '(')
		skip_brackets(c);
	if (cursor_accept(c, "->"))
		cursor_type(c, &type, &tuple);
}

static void
read_computation(Cursor *c)
{
	Reading *r = c->r;
	HloComputation *computation = NEW(r->arena, HloComputation);

	computation->root = -1;
	computation->entry = cursor_accept(c, "ENTRY");
	computation->name = read_name(c, &computation->where);
	skip_signature(c);
	if (!cursor_expect(c, "{"))
		return;
	while (!r->failed && !cursor_accept(c, "}")) {
		if (cursor_at_end(c))
			cursor_error(c, "expected '}' before the end");
		else
			read_instr(c, computation);
	}
	if (r->failed)
		return;
	if (computation->root < 0)
		computation->root = computation->n - 1;
	if (!computation->n)
		hlo_error(r, computation->where, "computation %s is empty", computation->name);
	if (table_get(r->computations, computation->name))
		hlo_error(r, computation->where, "a second computation called %s",
			computation->name);
	table_set(r->computations, computation->name, computation);
	if (computation->entry && r->entry)
		hlo_error(r, computation->where, "a second ENTRY");
	if (computation->entry)
		r->entry = computation;
}

void
hlo_read_text(Reading *r)
{
	const SourceFile *file = source_file(r->session, r->file);
	Cursor c = {.r = r, .s = file->text, .end = file->length};

	r->computations = table_new(r->arena);
	if (!cursor_expect(&c, "HloModule"))
		return;
	r->start = (Range){r->file, 0, c.pos - 9, c.pos};
	r->name = cursor_word(&c, "the module's name");
	hlo_read_attrs(&c, &r->attrs);
	while (!r->failed && !cursor_at_end(&c))
		read_computation(&c);
	if (!r->entry)
		cursor_error(&c, "a module without an ENTRY");
}

/*
 * syntax.c - the wording of syntax errors.
 *
 * The parser says which tokens may follow; a reader wants to hear that "an
 * expression" or "an operator" was expected, not a list of thirty tokens.  A
 * family of tokens whose telltale member is expected is named as one.
 */
#include <string.h>

#include "syntax.h"

static const char *const operators[] = {"+", "-", "*", "/", "%", "<", "<=", ">",
	">=", "==", "!=", "&&", "||", "@", "**", ".", "(", "[", NULL};
static const char *const expressions[] = {"a name", "an integer", "a number",
	"a malformed number", "a string", "a string in single quotes", "a dtype", "true",
	"false", "(", "-", "!", "var",
#define RESERVED(text, token)
#define POSITION(text, token) #text,
#include "words.def"
	NULL};
static const char *const arguments[] = {"[", NULL};
static const char *const statements[] = {"let", "var", "for", "while", "if", "return", NULL};
static const char *const declarations[] = {"mesh", "dim", "type", "import", "fn", "explicit",
	"checkpoint", "manual", "extern", NULL};
static const char *const equals[] = {"=", NULL};
static const char *const sizes[] = {"an integer", "a malformed number", "(", "-", NULL};
static const char *const names[] = {
#define RESERVED(text, token)
#define POSITION(text, token) #text,
#include "words.def"
	NULL};
static const char *const reserved[] = {
#define RESERVED(text, token) #text,
#define POSITION(text, token)
#include "words.def"
	NULL};
static const char *const comparisons[] = {"<", "<=", ">", ">=", "==", "!=", NULL};

/*
 * A family: when `telltale` (and `also`, if any) may follow, the members are
 * left out of the list and `title` stands for them.
 */
static const struct Family {
	const char *telltale, *also;
	const char *const *members, *title;
} families[] = {
	{"fn", "import", declarations, "a declaration (mesh, dim, type, import or fn)"},
	{"let", "return", expressions, NULL},
	{"let", "return", statements, "a statement"},
	{"a number", "[", arguments, NULL},
	{"a number", NULL, expressions, "an expression"},
	{"+", "*", operators, "an operator"},
	{")", ",", equals, NULL},
	{"an integer", "a name", sizes, "a size"},
	{"a name", "mesh", names, NULL},
};

static bool
holds(const char *const *set, const char *s)
{
	for (; *set != NULL; set++)
		if (strcmp(*set, s) == 0)
			return true;
	return false;
}

bool
syntax_begins(const char *token)
{
	return holds(statements, token) || holds(expressions, token)
		|| holds(declarations, token);
}

static bool
expects(int n, const char **expected, const char *token)
{
	for (int i = 0; i < n; i++)
		if (expected[i] != NULL && strcmp(expected[i], token) == 0)
			return true;
	return false;
}

/* "a, b or c": the families' titles, then the tokens left.  The name of a token
   with a blank describes it, others are its text. */
static void
text_expected(Text *t, int n, const char **expected)
{
	enum { MOST = 5 };
	const char *titles[sizeof families / sizeof *families];
	int ntitles = 0;
	for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
		const struct Family *f = &families[i];
		if (!expects(n, expected, f->telltale)
			|| (f->also != NULL && !expects(n, expected, f->also)))
			continue;
		for (int k = 0; k < n; k++)
			if (expected[k] != NULL && holds(f->members, expected[k]))
				expected[k] = NULL;
		if (f->title != NULL)
			titles[ntitles++] = f->title;
	}
	int total = ntitles, seen = 0;
	for (int i = 0; i < n; i++)
		total += expected[i] != NULL;
	for (int i = 0; i < ntitles + n && seen < MOST; i++) {
		const char *s = i < ntitles ? titles[i] : expected[i - ntitles];
		if (s == NULL)
			continue;
		if (seen > 0)
			text_add(t, seen + 1 == total ? " or " : ", ");
		bool words = i < ntitles || strchr(s, ' ') != NULL; /* else the token itself */
		text_printf(t, words ? "%s" : "'%s'", s);
		seen++;
	}
	if (seen < total)
		text_add(t, " or the like");
}

static bool
only_blanks(const char *s, int n)
{
	for (int i = 0; i < n; i++)
		if (strchr(" \t\r\n", s[i]) == NULL)
			return false;
	return true;
}

bool
syntax_behind_slashes(const Parser *p, Range where)
{
	Range c = p->slashes;
	const char *text = source_file(p->session, p->file)->text;
	return c.file != 0 && c.end <= where.begin
		&& only_blanks(text + c.end, where.begin - c.end);
}

/* `let h = a // b;` and then something that does not fit. */
bool
syntax_slashes(Parser *p, Range where)
{
	Range c = p->slashes;
	const char *text = source_file(p->session, p->file)->text;
	if (!syntax_behind_slashes(p, where))
		return false;
	int end = c.end;
	while (end > c.begin && only_blanks(text + end - 1, 1))
		end--;
	return end > c.begin + 2 && strchr(";,)]}{", text[end - 1]) != NULL;
}

static const char slashes_hint[] = "'//' begins a comment; division, also of integers, is '/'";

static Range
slashes_range(const Parser *p)
{
	Range r = p->slashes;
	r.end = r.begin + 2;
	return r;
}

void
syntax_division(Parser *p, Range slashes)
{
	diag(p->session, DIAG_habit, slashes, "%s", slashes_hint);
}

void
syntax_note_slashes(Parser *p, Range where)
{
	if (syntax_slashes(p, where))
		diag_note(p->session, slashes_range(p), "%s", slashes_hint);
}

/*
 * Words of other languages: `found` where one of ours was `expected`, or taken
 * for a name and `before` what was found.
 */
static const struct WordHabit {
	const char *word, *expected;
	bool before;
	const char *hint;
} word_habits[] = {
	{"and", "&&", false, "'and' is written &&"},
	{"or", "&&", false, "'or' is written ||"},
	{"not", "&&", true, "'not' is written !"},
	{"elif", "&&", true, "'elif' is written else if"},
	{"lambda", "&&", true, "a function is declared with fn: fn f(a) { return a * 2; }"},
	{"mesh", "[", true, "the mesh is written mesh [X=2, Y=4];"},
	{"Mesh", "fn", false, "the mesh is written mesh [X=2, Y=4];"},
	{"const", "&&", true, "a name is bound with let: let h = x;"},
	{"const", "fn", false, "a size is named by a dim: dim N = 8;"},
	{"let", "fn", false,
		"statements stand in a function; a size is named by a dim: dim N = 8;"},
	{"var", "fn", false,
		"statements stand in a function; a size is named by a dim: dim N = 8;"},
	{"return", "fn", false, "statements stand in a function: fn main(x) { ... }"},
	{"def", "fn", false, "a function begins with fn: fn f(x) { ... }"},
	{"from", "fn", false, "functions are built in and need no module"},
	{"@", "fn", false,
		"a function has no decorators, but a mode: fn, explicit fn, manual fn, "
		"checkpoint "
		"fn"},
	{"manual", "explicit", false,
		"a manual function is not computed once more by itself; a checkpoint fn calls "
		"it"},
	{"unroll", "&&", true, "an unrolled loop is written for unroll i in 0..4 { ... }"},
	{"(", "_", false, "a tuple has no tuples in it: let (loss, dW, db) = ...;"},
	{"import", "a string", true,
		"files are imported: import \"path.shd\"; functions are built in and need no "
		"module"},
	{"?", "&&", false,
		"there is no p ? a : b; write where(p, a, b), or an if that assigns a var"},
	{"if", "&&", false,
		"if is a statement; write where(p, a, b), or an if that assigns a var"},
	{"if", "a number", false,
		"if is a statement; write where(p, a, b), or an if that assigns a var"},
};

bool
syntax_is_habit(const Parser *p, Range word)
{
	const char *text = source_file(p->session, p->file)->text + word.begin;
	int length = word.end - word.begin;
	for (size_t i = 0; i < sizeof word_habits / sizeof *word_habits; i++)
		if ((int)strlen(word_habits[i].word) == length
			&& strncmp(word_habits[i].word, text, (size_t)length) == 0)
			return true;
	return false;
}

/* Is what was found part of a list, as other languages write it? */
static bool
begins_list(const Parser *p, const char *found, int n, const char **expected)
{
	static const char *const items[] = {"for", "a number", "a string",
		"a string in single quotes", "true", "false", "[", NULL};
	if (p->list == LIST_none)
		return strcmp(found, "[") == 0 && expects(n, expected, "a number");
	return p->list == LIST_item ? holds(items, found) : strcmp(found, ",") == 0;
}

/* mesh [4]; mesh ["X"=4]; mesh [X, Y] */
static bool
wants_axis(const Parser *p, int n, const char **expected)
{
	return p->head != NULL && strcmp(p->head, "mesh") == 0 && p->inner != NULL
		&& strcmp(p->inner, "[") == 0
		&& (expects(n, expected, "a name") || expects(n, expected, "="))
		&& !expects(n, expected, "a number");
}

/* let mesh = make_mesh(...) */
static bool
binds_mesh(const char *text, Range where)
{
	const char *s = text + where.end;
	s += strspn(s, " \t");
	bool named = strncmp(s, "mesh", 4) == 0;
	s += named ? 4 : 0;
	return named && s[strspn(s, " \t")] == '=';
}

/* A word of another language; x += 1, let a, b = f(x), h: f32[B] = x. */
static bool
text_habit(Text *t, const Parser *p, Range where, const char *found, int n,
	const char **expected)
{
	const char *text = source_file(p->session, p->file)->text;
	const Range at = p->previous;
	char before = 0; /* the byte, if it touches `where` */
	if (at.file != 0 && at.end == where.begin && at.end > 0)
		before = text[at.end - 1];
	if (found != NULL && strcmp(found, ",") == 0 && n == 2 && expects(n, expected, ":"))
		text_add(t, "several names stand in parentheses: let (a, b) = f(x);");
	else if (found != NULL && strcmp(found, ":") == 0 && expects(n, expected, "=")
		&& expects(n, expected, "&&"))
		text_add(t, "a name is bound with let: let h: f32[B] = x;");
	else if (found != NULL && before != 0 && strchr("+-*/%", before) != NULL
		&& strcmp(found, "=") == 0)
		text_printf(t, "there is no '%c='; write x = x %c y", before, before);
	else if (found != NULL && begins_list(p, found, n, expected))
		text_add(t,
			strcmp(found, "for") == 0
				? "there are no lists: a tuple names each item, (a, b, c)"
				: "there are no lists: a tuple is written (a, b), pairs are "
				  "((0, 1), (1, 0))");
	else if (found != NULL && wants_axis(p, n, expected))
		text_add(t, "an axis has a name and a size: mesh [X=2, Y=4];");
	else if (found != NULL && n == 1 && expects(n, expected, "a string")
		&& strncmp(text + at.begin, "on", 2) == 0)
		text_add(t, "what the mesh is on stands in quotes: on \"v5e:2x4\"");
	else if (found != NULL && expects(n, expected, "import") && binds_mesh(text, where))
		text_add(t, "the mesh is written mesh [X=2, Y=4];");
	for (size_t i = 0; t->n == 0 && i < sizeof word_habits / sizeof *word_habits; i++) {
		const struct WordHabit *h = &word_habits[i];
		Range word = h->before ? at : where;
		int length = (int)strlen(h->word);
		if (expects(n, expected, h->expected) && word.file != 0
			&& word.end - word.begin == length
			&& strncmp(h->word, text + word.begin, (size_t)length) == 0)
			text_add(t, h->hint);
	}
	return t->n > 0;
}

void
syntax_error(Parser *p, Range where, const char *found, int n, const char **expected)
{
	const SourceFile *f = source_file(p->session, where.file);
	bool wants_name = expects(n, expected, "a name");
	bool wants_expression = expects(n, expected, "a number");
	bool told = p->skipped || p->guessed; /* what this may come from */
	Range at = p->previous;
	Text t = {0};
	p->lost = true;
	if (told)
		return;
	/* A statement that ends a line and lacks its `;`: said where it is missing. */
	if (expects(n, expected, ";") && !wants_expression && at.file != 0
		&& at.line != where.line) {
		at.begin = at.end;
		diag(p->session, p->code, at, "';' is missing here");
		syntax_note_slashes(p, where);
		return;
	}

	if (syntax_slashes(p, where)) {
		p->slashes_told = true;
		syntax_division(p, slashes_range(p));
		return;
	}

	/* The token itself, clipped, or what it is when it has no text. */
	char token[48] = "the end of the file";
	int length = where.end - where.begin;
	if (found != NULL && length > 0 && where.end <= f->length
		&& strcmp(found, "the end of the file") != 0)
		snprintf(token, sizeof token, length > 40 ? "'%.*s...'" : "'%.*s'",
			length > 40 ? 37 : length, f->text + where.begin);
	bool habit = text_habit(&t, p, where, found, n, expected) || found == NULL;
	if (!habit && wants_name && holds(reserved, found))
		text_printf(&t, "%s is a reserved word and cannot be a name", token);
	else if (!habit && wants_name && !wants_expression && strcmp(found, "a dtype") == 0)
		text_printf(&t, "%s is a dtype and cannot be a name", token);
	else if (!habit && !wants_expression && holds(comparisons, found)
		&& expects(n, expected, "&&"))
		text_printf(&t, "comparisons do not associate: write a < b && b < c");
	for (int i = 0; i < n && found != NULL;
		i++) /* `same as` and `gradient` are offered to a word alone */
		if (expected[i] != NULL
			&& (strcmp(expected[i], "same") == 0
				|| strcmp(expected[i], "gradient") == 0)
			&& strcmp(found, "a name") != 0)
			expected[i] = NULL;
	if (t.n == 0) {
		text_add(&t, "expected ");
		text_expected(&t, n, expected);
		text_printf(&t, ", found %s", token);
	}
	diag(p->session, p->code, where, "%s", t.s);
	text_free(&t);
}

void
syntax_stuck(Parser *p, Range where, const char *why)
{
	(void)why;
	if (!p->too_deep)
		diag(p->session, DIAG_nesting, where, "the program is nested too deeply here");
	p->too_deep = true;
}

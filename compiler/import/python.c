/*
 * python.c - the functions and names of a Python program, from its text.
 *
 * Nothing is parsed: lines, indents, parentheses and strings are enough, and what is not
 * understood is not found.
 */
#include <ctype.h>
#include <string.h>

#include "import/python.h"

static bool
is_name_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool
is_quote(char c)
{
	return c == '\'' || c == '"';
}

bool
letters_are(Letters some, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(some.end - some.begin) == n && !memcmp(some.begin, word, n);
}

Letters
python_line(const SourceFile *f, int line)
{
	int end = line < f->nlines ? f->line_starts[line] : f->length;

	return (Letters){f->text + f->line_starts[line - 1], f->text + end};
}

static Letters
trimmed(Letters some)
{
	while (some.begin < some.end && isspace((unsigned char)*some.begin))
		some.begin++;
	while (some.end > some.begin && isspace((unsigned char)some.end[-1]))
		some.end--;
	return some;
}

/* Behind a string or a letter, which may change the depth of parentheses. */
static const char *
past(const char *at, const char *end, int *depth)
{
	char first = *at++;

	*depth += (first == '(' || first == '[' || first == '{');
	*depth -= (first == ')' || first == ']' || first == '}');
	if (!is_quote(first))
		return at;
	while (at < end && *at != first && *at != '\n')
		at += *at == '\\' && at + 1 < end ? 2 : 1;
	return at < end ? at + 1 : end;
}

/* Up to the letter, outside of parentheses and strings, or to the end. */
static const char *
find_outside(Letters some, char wanted)
{
	int depth = 0;
	const char *at = some.begin;

	while (at < some.end && !(depth == 0 && *at == wanted))
		at = past(at, some.end, &depth);
	return at;
}

/* Between the parenthesis there and the one that closes it. */
static Letters
parenthesised(const char *open, const char *end)
{
	int depth = 0;
	const char *at = open;

	do
		at = past(at, end, &depth);
	while (at < end && depth > 0);
	return depth ? (Letters){open, open} : (Letters){open + 1, at - 1};
}

/* Takes what is in front of the next comma. */
static Letters
take_item(Letters *list)
{
	const char *comma = find_outside(*list, ',');
	Letters item = trimmed((Letters){list->begin, comma});

	list->begin = comma < list->end ? comma + 1 : comma;
	return item;
}

/* The name that it begins with. */
static Letters
first_name(Letters some)
{
	Letters name = {some.begin, some.begin};

	while (name.end < some.end && is_name_letter(*name.end))
		name.end++;
	return name;
}

/* ---- functions --------------------------------------------------------------------- */

static PythonFunction
definition(const SourceFile *f, int line)
{
	static const char *const words[] = {"async ", "def "};
	PythonFunction none = {.file = f}, found = {.file = f, .line = line};
	Letters text = trimmed(python_line(f, line));
	bool is_def = false;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t n = strlen(words[i]);
		is_def =
			(size_t)(text.end - text.begin) > n && !memcmp(text.begin, words[i], n);
		text.begin += is_def ? n : 0;
	}
	found.name = first_name(text);
	if (!is_def || found.name.end == text.end || *found.name.end != '(')
		return none;
	found.params = parenthesised(found.name.end, f->text + f->length);
	found.body = line + 1;
	for (const char *at = found.name.end; at < found.params.end; at++)
		found.body += *at == '\n';
	return found;
}

/* Lines that say nothing of the function around: empty ones, and the ends of lists. */
static bool
is_loose(Letters line)
{
	Letters text = trimmed(line);

	return text.begin == text.end || strchr("#)]}", *text.begin);
}

PythonFunction
python_function(const SourceFile *f, int line, bool itself)
{
	Letters own = python_line(f, line);
	int64_t indent = trimmed(own).begin - own.begin;
	PythonFunction found = definition(f, line);

	if (itself && found.line)
		return found;
	while (--line > 0 && indent > 0) {
		Letters above = python_line(f, line);
		int64_t n = trimmed(above).begin - above.begin;
		if (is_loose(above) || n >= indent)
			continue;
		indent = n;
		found = definition(f, line);
		if (found.line)
			return found;
	}
	return (PythonFunction){.file = f};
}

int
python_param(const PythonFunction *function, const char *name)
{
	Letters list = function->params;

	for (int i = 0; list.begin < list.end; i++)
		if (letters_are(first_name(take_item(&list)), name))
			return i;
	return -1;
}

/* ---- names --------------------------------------------------------------------------- */

/* As far as the text has the name, with any quotes; NULL: it has another. */
static const char *
past_name(const char *at, const char *end, const char *name)
{
	for (; *name; name++, at++)
		if (at >= end || (*at != *name && !(is_quote(*at) && is_quote(*name))))
			return NULL;
	return at < end && is_name_letter(*at) ? NULL : at;
}

/* NAME= in a call is what the other side calls it. */
static bool
is_keyword(const char *behind, const char *end)
{
	while (behind < end && *behind == ' ')
		behind++;
	return behind + 1 < end && *behind == '=' && behind[1] != '=';
}

Letters
python_find(Letters some, const char *name)
{
	const char *at = some.begin, *behind;
	int depth = 0;

	while (at < some.end) {
		bool within = at > some.begin && (is_name_letter(at[-1]) || at[-1] == '.');
		behind = within ? NULL : past_name(at, some.end, name);
		if (behind && !is_keyword(behind, some.end))
			return (Letters){at, behind};
		at = past(at, some.end, &depth);
	}
	return (Letters){some.end, some.end};
}

static bool
has_name(Letters some, const char *name)
{
	Letters found = python_find(some, name);

	return found.begin < found.end;
}

/* Of `a, b = c` and `a += c` what is in front of the sign; of `for a in c` the a. */
static Letters
assigned(Letters line)
{
	Letters text = trimmed(line), none = {text.begin, text.begin};
	const char *sign = find_outside(text, '=');

	if (text.end - text.begin > 4 && !memcmp(text.begin, "for ", 4)) {
		text.begin += 4;
		return (Letters){text.begin, find_outside(text, ':')};
	}
	if (sign == text.begin || sign + 1 >= text.end || sign[1] == '='
		|| strchr("<>!:", sign[-1]))
		return none;
	return (Letters){text.begin, sign};
}

bool
python_assigns(const SourceFile *f, int first, int end, const char *name)
{
	bool found = false;

	for (int line = first; line < end && !found; line++)
		found = has_name(assigned(python_line(f, line)), name);
	return found;
}

/* What is between the last parentheses, if it ends with these: what is called may be called,
   as value_and_grad(loss)(params, batch). */
static Letters
last_arguments(Letters some)
{
	Letters args = {some.end, some.end};

	for (const char *at = some.begin; at < some.end; at = args.end + 1) {
		at = find_outside((Letters){at, some.end}, '(');
		if (at == some.end)
			return (Letters){at, at};
		args = parenthesised(at, some.end);
	}
	return args;
}

bool
python_hands_on(Arena *a, Letters some, const PythonFunction *function, const char *name)
{
	Letters args = last_arguments(trimmed(some)), called = function->name;
	size_t length = (size_t)(called.end - called.begin);

	if (!length) /* a lambda */
		return false;
	const char *word = arena_strndup(a, called.begin, length);
	if (!has_name((Letters){some.begin, args.begin}, word))
		return false;
	for (int i = 0; args.begin < args.end; i++) {
		Letters item = take_item(&args), keyword = first_name(item);
		if (letters_are(item, name))
			return python_param(function, name) == i;
		if (letters_are(keyword, name) && is_keyword(keyword.end, item.end))
			return python_param(function, name) >= 0;
	}
	return false;
}

bool
python_hides(Letters some, const char *name)
{
	for (const char *at = some.begin; at + 6 < some.end; at++) {
		if (memcmp(at, "lambda", 6) != 0)
			continue;
		Letters params = {at + 6, some.end};
		params.end = find_outside(params, ':');
		if (has_name(params, name))
			return true;
	}
	return false;
}

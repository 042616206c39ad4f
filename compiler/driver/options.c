/*
 * options.c - the command line, from the table options.def.
 *
 *   shdc --mesh X=4 -O3 --emit=hlo prog.shd
 *
 * A value is given as --name=VALUE or --name VALUE, -xVALUE or -x VALUE.
 * Options and the input come in any order; what follows `--` is passed on to
 * the program that --run and --interpret start.
 *
 * leaves    Options that make sense together, or a usage error
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "driver.h"

typedef enum OptionType {
	T_group, /* no option: what follows belongs to it */
	T_flag,
	T_action,
	T_text,
	T_choice,
	T_set,
	T_word,
	T_integer,
	T_list,
	T_pairs,
	T_computed,
} OptionType;

typedef enum GoesWith { ANY, MADE, SOURCE } GoesWith;

struct Option {
	const char *spelling, *value;
	GoesWith with;
	const char *help;
	OptionType type;
	const char *what; /* the value is, for messages */
	union {
		bool *flag;
		Action action;
		const char **text;
		int *number;
		unsigned *set;
		const char ***list;
		Override **pairs;
		bool (*compute)(CommandLine *line, const char *value);
	} to;
	int *n; /* of a list, of pairs */
	int low, high;
	const char *const *(*words)(int *n);
	bool given;
};

bool
usage(Session *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag(s, DIAG_usage, (Range){0}, "%s", arena_vprintf(s->arena, fmt, ap));
	va_end(ap);
	return false;
}

bool
unknown_word(Session *s, const char *what, const char *word, const char *const *words, int n)
{
	const char *nearest = nearest_word(word, words, n);
	Text known = {0};

	usage(s, "unknown %s '%s'", what, word);
	if (nearest)
		diag_line(s, "did you mean '%s'?", nearest);
	for (int i = 0; i < n; i++)
		text_printf(&known, "%s%s", i ? " " : "", words[i]);
	diag_line(s, "known: %s", known.s);
	text_free(&known);
	return false;
}

bool
set_action(CommandLine *line, Action action, const char *option)
{
	Options *o = line->options;

	if (o->action == ACT_answer)
		return true;
	if (o->action_option && strcmp(o->action_option, option) != 0) {
		usage(line->session, "%s and %s do not go together", o->action_option, option);
		if ((o->action == ACT_run && action == ACT_check)
			|| (o->action == ACT_check && action == ACT_run))
			diag_line(line->session,
				"to compare with the unsharded program: shdc --run prog.shd -- "
				"--check");
		return false;
	}
	o->action = action;
	o->action_option = option;
	return true;
}

/* ---- options that are questions ------------------------------------------ */

static Text *
answer(CommandLine *line)
{
	line->options->action = ACT_answer;
	return &line->options->answer;
}

static bool
answer_passes(CommandLine *line, const char *value)
{
	(void)value;
	list_passes(answer(line));
	return true;
}

static bool
answer_error(CommandLine *line, const char *value)
{
	const char *text = diag_explain(value);

	if (!text)
		return usage(line->session, "there is no error '%s'; they look like SHD0204",
			value);
	text_add(answer(line), text);
	return true;
}

static bool
answer_version(CommandLine *line, const char *value)
{
	(void)value;
	text_add(answer(line), "shdc " SHDC_VERSION "\n");
	return true;
}

/* A group of options: its title and a line for each. */
static void
describe_group(Text *t, const Option *option, const Option *end)
{
	text_printf(t, "\n%s (--help=%s)\n", option->help, option->spelling);
	while (++option < end && option->type != T_group) {
		size_t start = t->n;

		text_printf(t, "  %s", option->spelling);
		if (option->value && *option->value == '[')
			text_printf(t, "[=%s", option->value + 1);
		else if (option->value)
			text_printf(t, "%s%s",
				option->spelling[1] == '-'			 ? "="
					: isupper((unsigned char)*option->value) ? " "
										 : "",
				option->value);
		if (t->n - start > 30) {
			text_add(t, "\n");
			start = t->n;
		}
		text_printf(t, "%*s%s\n", (int)(32 - (t->n - start)), "", option->help);
	}
}

static bool
answer_help(CommandLine *line, const char *value)
{
	const Option *end = line->rows + line->n;
	const char **names = NEW_ARRAY(line->session->arena, const char *, line->n + 2);
	int n = 0;
	Text *t = answer(line);
	size_t before = t->n;

	if (!value)
		text_add(t,
			"usage: shdc [OPTIONS] PROGRAM.shd        an executable\n"
			"       shdc --run PROGRAM.shd [-- ARGS]  compile and run\n"
			"       shdc --emit=KIND PROGRAM.shd      show a stage: see "
			"--help=emit\n"
			"PROGRAM is a .shd file, a .hlo file that shdc printed, or - for "
			"standard input.\n"
			"The functions of the language: --help=functions.\n");
	for (const Option *option = line->rows; option < end; option++) {
		if (option->type != T_group)
			continue;
		names[n++] = option->spelling;
		if (!value || strcmp(value, option->spelling) == 0)
			describe_group(t, option, end);
	}
	if (!value)
		text_add(t,
			"\nExit status: 0 done; 1 the program is wrong; 2 usage; 3 files or a "
			"tool failed;\n4 internal error; 5 out of memory; 10 deadlock; 11 "
			"mismatched collectives;\n13 a peer was lost.\n");
	else if (strcmp(value, names[n++] = "emit") == 0)
		list_kinds(t);
	else if (strcmp(value, names[n++] = "functions") == 0)
		front_list_functions(t);
	return t->n > before || unknown_word(line->session, "help group", value, names, n);
}

/* ---- values -------------------------------------------------------------- */

/* What a choice is made from: the words of all() and those of the value as the
   table writes it, a|b|c. */
static const char *const *
choices(Arena *a, const Option *option, int *n)
{
	const char **words = NULL;
	const char *const *all = option->words ? option->words(n) : NULL;
	int count = 0;

	for (int i = 0; all && i < *n; i++)
		APPEND(a, words, count, all[i]);
	for (const char *word = option->value; word; word = *word ? word + 1 : NULL) {
		size_t length = strcspn(word, "|");

		if (!all || word != option->value) /* PASS stands for what all() has */
			APPEND(a, words, count, arena_strndup(a, word, length));
		word += length;
	}
	*n = count;
	return words;
}

static bool
take_choice(Session *s, const Option *option, const char *value)
{
	int n, i = 0;
	const char *const *words = choices(s->arena, option, &n);

	while (i < n && strcmp(words[i], value) != 0)
		i++;
	if (i == n)
		return unknown_word(s, option->what, value, words, n);
	if (option->type == T_word)
		*option->to.text = value;
	else if (option->type == T_set)
		*option->to.set |= 1u << i;
	else
		*option->to.number = i;
	return true;
}

static bool
take_integer(Session *s, const Option *option, const char *value)
{
	size_t n = strspn(value, "0123456789");
	long number = strtol(value, NULL, 10);

	if (n == 0 || value[n] || number < option->low || number > option->high)
		return usage(s, "%s %s %s, not '%s'", option->spelling,
			option->spelling[1] == '-' ? "wants" : "is followed by", option->what,
			value);
	*option->to.number = (int)number;
	return true;
}

/* NAME=TEXT, of one name the last counts; X=4,Y=2 has each name once. */
static bool
take_pairs(Session *s, const Option *option, const char *value)
{
	const char *between = strchr(option->value, ',') ? "," : "";
	int first = *option->n;

	for (const char *word = value;; word++) {
		size_t n = strcspn(word, between);
		const char *equals = memchr(word, '=', n);
		Override pair;

		if (!equals || equals == word || equals + 1 == word + n)
			return usage(s, "%s wants %s, not '%s'", option->spelling,
				option->value, value);
		pair.name = arena_strndup(s->arena, word, (size_t)(equals - word));
		word += n;
		pair.text = arena_strndup(s->arena, equals + 1, (size_t)(word - equals) - 1);
		for (int i = first; i < *option->n; i++)
			if (strcmp((*option->to.pairs)[i].name, pair.name) == 0)
				return usage(s, "%s %s gives %s twice", option->spelling, value,
					pair.name);
		APPEND(s->arena, *option->to.pairs, *option->n, pair);
		if (!*word)
			return true;
	}
}

static bool
take_value(CommandLine *line, const Option *option, const char *value)
{
	Session *s = line->session;

	switch (option->type) {
	case T_flag:
		return *option->to.flag = true;
	case T_action:
		return set_action(line, option->to.action, option->spelling);
	case T_text:
		if (option->what && !*value)
			return usage(s, "%s needs the name of %s", option->spelling,
				option->what);
		*option->to.text = value;
		return true;
	case T_choice:
	case T_set:
	case T_word:
		return take_choice(s, option, value);
	case T_integer:
		return take_integer(s, option, value);
	case T_list:
		APPEND(s->arena, *option->to.list, *option->n, value);
		return true;
	case T_pairs:
		return take_pairs(s, option, value);
	case T_computed:
		return option->to.compute(line, value);
	case T_group:
		break;
	}
	die("an option of no type");
}

/* ---- words --------------------------------------------------------------- */

static bool
unknown_option(CommandLine *line, const char *name)
{
	const char **names = NEW_ARRAY(line->session->arena, const char *, line->n);
	int n = 0;

	for (int i = 0; i < line->n; i++)
		if (line->rows[i].type != T_group)
			names[n++] = line->rows[i].spelling;
	usage(line->session, "unknown option %s", name);
	name = nearest_word(name, names, n);
	if (name)
		diag_line(line->session, "did you mean %s?", name);
	else
		diag_line(line->session, "shdc --help lists them");
	return false;
}

/* One option at argv[*i]; *i ends at its last word. */
static bool
parse_option(CommandLine *line, int argc, char **argv, int *i)
{
	const char *word = argv[*i];
	bool is_long = word[1] == '-';
	size_t n = is_long ? strcspn(word, "=") : 2;
	const char *value = word[n] == '\0' ? NULL : word + n + is_long;
	Option *option = line->rows, *end = option + line->n;

	while (option < end
		&& (strlen(option->spelling) != n || strncmp(option->spelling, word, n) != 0))
		option++;
	if (option == end)
		return unknown_option(line,
			arena_strndup(line->session->arena, word, is_long ? n : strlen(word)));
	if (!option->value && value)
		return usage(line->session, "%s takes no value", option->spelling);
	if (option->value && *option->value != '[' && !value) {
		if (*i + 1 >= argc)
			return usage(line->session, "%s needs %s", option->spelling,
				option->value);
		value = argv[++*i];
	}
	option->given = true;
	return take_value(line, option, value);
}

static bool
parse_words(CommandLine *line, int argc, char **argv)
{
	Options *o = line->options;

	for (int i = 1; i < argc; i++) {
		char *word = argv[i];

		if (strcmp(word, "--") == 0) {
			o->have_arguments = true;
			o->arguments = (const char **)&argv[i + 1];
			o->narguments = argc - i - 1;
			return true;
		}
		if (word[0] == '-' && word[1]) {
			if (!parse_option(line, argc, argv, &i))
				return false;
		} else if (o->input) {
			return usage(line->session, "one program at a time: '%s' and '%s'",
				o->input, word);
		} else {
			o->input = word;
		}
	}
	return true;
}

/* ---- together ------------------------------------------------------------ */

static bool
check_stop(Session *s, const Options *o)
{
	const Pass *stop = o->stop_after ? pass_by_name(o->stop_after) : NULL;

	if (!stop)
		return true;
	if (o->start_at && pass_by_name(o->start_at) > stop)
		return usage(s, "--stop-after=%s comes before --start-at=%s", stop->name,
			o->start_at);
	for (int i = 0; i < o->noutputs; i++)
		if (o->outputs[i].kind->level > (int)stop->after)
			return usage(s, "--emit=%s comes after the pass '%s'",
				o->outputs[i].kind->name, stop->name);
	return true;
}

static bool
check_together(CommandLine *line)
{
	Options *o = line->options;
	Session *s = line->session;
	bool made = o->action == ACT_build || o->action == ACT_emit;
	bool runs = o->action == ACT_run || o->action == ACT_interpret;

	if (o->action == ACT_answer)
		return true;
	if (!o->input)
		return usage(s, "which program? shdc --help shows the usage");
	if (o->have_arguments && !runs)
		return usage(s,
			"what follows -- goes to the program that --run or --interpret starts");
	for (const Option *option = line->rows; option < line->rows + line->n; option++) {
		if (option->given && option->with == MADE && !made)
			return usage(s, "%s and %s do not go together", option->spelling,
				o->action_option);
		if (option->given && option->with == SOURCE && !o->source_option)
			o->source_option = option->spelling;
	}
	return check_stop(s, o) && outputs_place(s, o);
}

/* What goes to a terminal is coloured, unless the user wants none. */
static bool
is_colored(int color, int fd)
{
	const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
	bool plain = (no_color && *no_color) || (terminal && strcmp(terminal, "dumb") == 0);

	return color == COLOR_always || (color == COLOR_auto && isatty(fd) && !plain);
}

/* Excerpts are clipped to COLUMNS, to the terminal if there is one, or to what
   a reader of logs can bear. */
enum { LOG_WIDTH = 200 };

static int
terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	int width = columns ? atoi(columns) : 0;
	struct winsize size;

	if (width <= 0 && ioctl(2, TIOCGWINSZ, &size) == 0)
		width = size.ws_col;
	return width <= 0 ? LOG_WIDTH : width < 40 ? 40 : width;
}

bool
options_parse(Session *s, int argc, char **argv, Options *o)
{
	Option rows[] = {
#define GROUP(name, title) {#name, NULL, ANY, title, .type = T_group},
#define OPTION(spelling, value, with, type, help) {spelling, value, with, help, type},
#define FLAG(to_) T_flag, .to.flag = &to_
#define ACTION(action_) T_action, .to.action = action_
#define TEXT(to_, what) T_text, what, .to.text = &to_
#define CHOICE(to_, what) T_choice, what, .to.number = &to_
#define SET(to_, what) T_set, what, .to.set = &to_
#define WORD(to_, what, all) T_word, what, .to.text = &to_, .words = all
#define INTEGER(to_, low_, high_, what) \
	T_integer, what, .to.number = &to_, .low = low_, .high = high_
#define LIST(to_, n_) T_list, .to.list = &to_, .n = &n_
#define PAIRS(to_, n_) T_pairs, .to.pairs = &to_, .n = &n_
#define COMPUTED(function) T_computed, .to.compute = function
#include "options.def"
	};
	CommandLine line = {s, o, rows, sizeof rows / sizeof *rows};
	bool good;

	o->build.optimize = 2;
	good = parse_words(&line, argc, argv) && check_together(&line);
	s->width = terminal_width();
	s->json = o->format == FORMAT_json;
	s->color = is_colored(o->color, 2);
	o->color_output = is_colored(o->color, 1);
	return good;
}

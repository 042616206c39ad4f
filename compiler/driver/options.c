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
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "driver.h"

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

/* ---- values -------------------------------------------------------------- */

/* The words that all() has, and those of the value as the table writes it: a|b|c,
   where the first stands for what all() has. */
static bool
take_choice(Session *s, const Option *option, const char *value)
{
	const char **words = NULL;
	int nall = 0, n = 0, i = 0;
	const char *const *all = option->words ? option->words(&nall) : NULL;
	char *rest = arena_strndup(s->arena, option->value, strlen(option->value)), *word;

	for (int k = 0; k < nall; k++)
		APPEND(s->arena, words, n, all[k]);
	if (all)
		strsep(&rest, "|");
	while ((word = strsep(&rest, "|")))
		APPEND(s->arena, words, n, word);
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
		Override pair = {.option = option->spelling};

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
	case T_short:
		break;
	}
	die("an option of no type");
}

/* ---- words --------------------------------------------------------------- */

Option *
find_option(const CommandLine *line, const char *spelling, size_t n)
{
	for (Option *option = line->rows; option < line->rows + line->n; option++)
		if (option->type != T_group && strlen(option->spelling) == n
			&& strncmp(option->spelling, spelling, n) == 0)
			return option->type == T_short
				? find_option(line, option->what, strlen(option->what))
				: option;
	return NULL;
}

/* For who forgets what stands before the options of the program itself. */
static bool
is_of_program(const CommandLine *line, const char *word)
{
	static const struct {
		const char *name, *argument;
	} theirs[] = {
#define OPTION(name, letter, argument, set, help) {name, argument},
#include "program_options.def"
#undef OPTION
	};
	const Options *o = line->options;
	Session *s = line->session;
	size_t i = 0;

	while (i < sizeof theirs / sizeof *theirs && strcmp(theirs[i].name, word) != 0)
		i++;
	if (i == sizeof theirs / sizeof *theirs)
		return false;
	usage(s, "%s is an option of the program that is run: it stands behind --", word);
	diag_line(s, "%s %s -- %s%s%s",
		o->action == ACT_interpret ? "shdc --interpret" : "shdc --run",
		o->input ? o->input : "prog.shd", word, theirs[i].argument ? " " : "",
		theirs[i].argument ? theirs[i].argument : "");
	return true;
}

/* --v may be meant as -V */
static bool
is_long(const char *word)
{
	return strncmp(word, "--", 2) == 0 && strlen(word) > 3;
}

static bool
unknown_option(const CommandLine *line, const char *word)
{
	Session *s = line->session;
	const char **names = NEW_ARRAY(s->arena, const char *, line->n);
	int n = 0;

	if (is_of_program(line, word))
		return false;
	for (const Option *option = line->rows; option < line->rows + line->n; option++)
		if (option->type != T_group && is_long(option->spelling) == is_long(word))
			names[n++] = option->spelling;
	usage(s, "unknown option %s", word);
	word = rt_nearest_word(word, names, n);
	if (word)
		diag_line(s, "did you mean %s?", word);
	else
		diag_line(s, "shdc --help lists them");
	return false;
}

/* One option at argv[*i]; *i ends at its last word. */
static bool
parse_option(CommandLine *line, int argc, char **argv, int *i)
{
	Session *s = line->session;
	const char *word = argv[*i];
	bool is_long = word[1] == '-';
	size_t n = is_long ? strcspn(word, "=") : 2;
	const char *value = word[n] == '\0' ? NULL : word + n + is_long;
	Option *option = find_option(line, word, n);

	if (!option)
		return unknown_option(line,
			arena_strndup(s->arena, word, strcspn(word, is_long ? "=" : "")));
	if (value && (!option->value || (!is_long && option->spelling[1] == '-')))
		return usage(s, "%.*s takes no value", (int)n, word);
	if (option->value && *option->value != '[' && !value) {
		if (*i + 1 >= argc)
			return usage(s, "%s needs %s", option->spelling, option->value);
		value = argv[++*i];
	}
	option->given = true;
	return take_value(line, option, value);
}

/* ---- together ------------------------------------------------------------ */

static bool
check_together(CommandLine *line)
{
	Options *o = line->options;
	Session *s = line->session;
	if (o->xla && !outputs_add_missing(line, "xla"))
		return false;
	bool made = o->action == ACT_build || o->action == ACT_emit;
	bool runs = o->action == ACT_run || o->action == ACT_interpret;
	const Pass *stop = o->stop_after ? pass_by_name(o->stop_after) : NULL;

	for (const Option *option = line->rows; option < line->rows + line->n; option++)
		if (option->given && option->with == ALONE && o->input)
			return usage(s, "%s stands alone; what is '%s'?", option->spelling,
				o->input);
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
	if (stop && o->start_at && pass_by_name(o->start_at) > stop)
		return usage(s, "--stop-after=%s comes before --start-at=%s", stop->name,
			o->start_at);
	for (int i = 0; stop && i < o->noutputs; i++)
		if (o->outputs[i].kind->level > (int)stop->after)
			return usage(s, "--emit=%s comes after the pass '%s'",
				o->outputs[i].kind->name, stop->name);
	return outputs_place(s, o);
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

/* As a shell reads it. */
static void
text_quoted(Text *t, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=:,./@%^";

	if (*word && word[strspn(word, plain)] == '\0') {
		text_add(t, word);
		return;
	}
	text_add(t, "'");
	for (; *word; word++)
		text_printf(t, *word == '\'' ? "'\\''" : "%c", *word);
	text_add(t, "'");
}

/* A page does not say where it lies itself: that would be another page elsewhere. */
static const char *
without_path(Arena *a, const char *word, const char *before, const char *path)
{
	bool places = strncmp(word, "--emit", 6) == 0 || strncmp(word, "-o", 2) == 0
		|| strcmp(before, "--emit") == 0 || strcmp(before, "-o") == 0;
	const char *at = path && places ? strstr(word, path) : NULL;

	if (!at || strchr(",", at[strlen(path)]) == NULL)
		return word;
	return arena_printf(a, "%.*sFILE.html%s", (int)(at - word), word, at + strlen(path));
}

static const char *
command_text(const CommandLine *line, int argc, char **argv)
{
	const Options *o = line->options;
	Arena *a = line->session->arena;
	const char *path = NULL;
	Text t = {0};

	for (int i = 0; i < o->noutputs; i++)
		if (o->outputs[i].kind == kind_by_name("report"))
			path = o->outputs[i].path;
	text_add(&t, "shdc");
	for (int i = 1; i < argc; i++) {
		text_add(&t, " ");
		text_quoted(&t, without_path(a, argv[i], argv[i - 1], path));
	}
	return text_take(&t, a);
}

bool
options_parse(Session *s, int argc, char **argv, Options *o)
{
	Option rows[] = {
#define GROUP(name, title) {#name, NULL, ANY, title, .type = T_group},
#define SHORT(spelling, option) {spelling, NULL, ANY, NULL, .type = T_short, .what = option},
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
	bool good = true;

	o->build.optimize = 2;
	o->overlap = -1;
	for (int i = 1; i < argc && good && !o->have_arguments; i++) {
		const char *word = argv[i];

		if (strcmp(word, "--") == 0) {
			o->have_arguments = true;
			o->arguments = (const char **)&argv[i + 1];
			o->narguments = argc - i - 1;
		} else if (word[0] == '-' && word[1]) {
			good = parse_option(&line, argc, argv, &i);
		} else if (o->input) {
			good = usage(s, "one program at a time: '%s' and '%s'", o->input, word);
		} else {
			o->input = word;
		}
	}
	good = good && check_together(&line);
	o->command = good ? command_text(&line, argc, argv) : "";
	s->width = terminal_width();
	s->json = o->format == FORMAT_json;
	s->color = is_colored(o->color, 2);
	o->color_output = is_colored(o->color, 1);
	return good;
}

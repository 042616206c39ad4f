/*
 * options.c - the command line, from the table options.def.
 *
 * A value is given as --name=VALUE or --name VALUE, -xVALUE or -x VALUE.
 * Options and the input come in any order; what follows `--` is passed on to
 * the program that --run and --interpret start.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver.h"

typedef enum Group {
	G_output,
	G_program,
	G_sharding,
	G_passes,
	G_building,
	G_messages,
	G_help,
	GROUP_COUNT
} Group;

static const struct {
	const char *name, *title;
} groups[GROUP_COUNT] = {
	[G_output] = {"output", "What to make"},
	[G_program] = {"program", "The program"},
	[G_sharding] = {"sharding", "What sharding costs"},
	[G_passes] = {"passes", "Passes"},
	[G_building] = {"building", "Building the executable"},
	[G_messages] = {"messages", "Messages"},
	[G_help] = {"help", "Help"},
};

typedef bool Handler(Session *s, Options *o, const char *value);

#define OPTION(spelling, argument, group, handler, help) static Handler option_##handler;
#include "options.def"
#undef OPTION

typedef struct OptionInfo {
	const char *spelling, *argument;
	Group group;
	Handler *handler;
	const char *help;
} OptionInfo;

static const OptionInfo options[] = {
#define OPTION(spelling, argument, group, handler, help) \
	{spelling, argument, G_##group, option_##handler, help},
#include "options.def"
#undef OPTION
};
enum { NOPTIONS = sizeof options / sizeof *options };

bool
usage(Session *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag(s, DIAG_usage, (Range){0}, "%s", arena_vprintf(s->arena, fmt, ap));
	va_end(ap);
	return false;
}

/* A usage error that offers the words there are, the nearest first. */
static bool
unknown_word(Session *s, const char *what, const char *word, const char *const *words, int n)
{
	const char *nearest = nearest_word(word, words, n);
	Text known = {0};

	usage(s, "unknown %s '%s'", what, word);
	if (nearest)
		diag_line(s, "did you mean '%s'?", nearest);
	for (int i = 0; i < n; i++)
		text_printf(&known, "%s%s", i ? " " : "", words[i]);
	diag_line(s, "known: %s", known.s ? known.s : "none");
	text_free(&known);
	return false;
}

/* ---- handlers -------------------------------------------------------- */

static bool
set_action(Session *s, Options *o, Action action, const char *option)
{
	if (o->action_option && strcmp(o->action_option, option) != 0
		&& o->action != ACT_answer) {
		usage(s, "%s and %s do not go together", o->action_option, option);
		if ((o->action == ACT_run && action == ACT_check)
			|| (o->action == ACT_check && action == ACT_run))
			diag_line(s,
				"to compare with the unsharded program: "
				"shdc --run prog.shd -- --check");
		return false;
	}
	if (o->action != ACT_answer)
		o->action = action;
	o->action_option = option;
	return true;
}

static bool
option_output(Session *s, Options *o, const char *value)
{
	if (!*value)
		return usage(s, "-o needs the name of a file");
	o->output = value;
	return true;
}

static bool
has_word(const char *words, const char *word)
{
	size_t n = strlen(word);
	const char *at = words;

	while (n && (at = strstr(at, word))) {
		if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
			return true;
		at += n;
	}
	return false;
}

/* KIND[.FORMAT][=PATH] */
static bool
add_output(Session *s, Options *o, char *item)
{
	char *path = strchr(item, '=');
	char *format;
	Output out = {.format = ""};
	int n;

	if (path)
		*path++ = '\0';
	if (path && !*path)
		return usage(s, "--emit=%s= needs a path", item);
	if (path && strcmp(path, "-") == 0)
		path = NULL; /* standard output */
	format = strchr(item, '.');
	if (format)
		*format++ = '\0';
	out.kind = kind_by_name(item);
	out.path = path;
	if (!out.kind) {
		const char *const *names = kind_names(&n);

		return unknown_word(s, "kind of output", item, names, n);
	}
	if (format && !*out.kind->formats)
		return usage(s, "'%s' has one format, without a name", item);
	if (format && !has_word(out.kind->formats, format))
		return usage(s, "'%s' has no format '%s'; it has: %s", item, format,
			out.kind->formats);
	if (format)
		out.format = format;
	APPEND(s->arena, o->outputs, o->noutputs, out);
	return true;
}

static bool
option_emit(Session *s, Options *o, const char *value)
{
	char *item = arena_strndup(s->arena, value, strlen(value));
	char *comma;

	do {
		comma = strchr(item, ',');
		if (comma)
			*comma = '\0';
		if (!add_output(s, o, item))
			return false;
		item = comma + 1;
	} while (comma);
	return set_action(s, o, ACT_emit, "--emit");
}

static bool
option_explain(Session *s, Options *o, const char *value)
{
	Output out = {kind_by_name("explain"), "", NULL};

	o->explain = value;
	for (int i = 0; i < o->noutputs; i++)
		if (o->outputs[i].kind == out.kind)
			return true;
	APPEND(s->arena, o->outputs, o->noutputs, out);
	return set_action(s, o, ACT_emit, "--emit");
}

static bool
option_run(Session *s, Options *o, const char *value)
{
	(void)value;
	return set_action(s, o, ACT_run, "--run");
}

static bool
option_interpret(Session *s, Options *o, const char *value)
{
	(void)value;
	return set_action(s, o, ACT_interpret, "--interpret");
}

static bool
option_check(Session *s, Options *o, const char *value)
{
	(void)value;
	return set_action(s, o, ACT_check, "--check");
}

/* "NAME=TEXT" appended to a list; of one name, the last counts. */
static bool
add_override(Session *s, const char *word, size_t length, Override **list, int *n)
{
	const char *equals = memchr(word, '=', length);
	Override o;

	if (!equals || equals == word || equals + 1 == word + length)
		return false;
	o.name = arena_strndup(s->arena, word, (size_t)(equals - word));
	o.text = arena_strndup(s->arena, equals + 1, length - (size_t)(equals - word) - 1);
	APPEND(s->arena, *list, *n, o);
	return true;
}

static bool
option_define(Session *s, Options *o, const char *value)
{
	if (!add_override(s, value, strlen(value), &o->dims, &o->front.ndims))
		return usage(s, "-D wants NAME=EXPR, not '%s'", value);
	o->front.dims = o->dims;
	return true;
}

static bool
option_mesh(Session *s, Options *o, const char *value)
{
	const char *word = value;
	int first = o->front.naxes;

	for (;;) {
		size_t n = strcspn(word, ",");

		if (!add_override(s, word, n, &o->axes, &o->front.naxes))
			return usage(s, "--mesh wants X=4,Y=2, not '%s'", value);
		for (int i = first; i < o->front.naxes - 1; i++)
			if (strcmp(o->axes[i].name, o->axes[o->front.naxes - 1].name) == 0)
				return usage(s, "--mesh %s gives %s twice", value,
					o->axes[i].name);
		if (!word[n])
			break;
		word += n + 1;
	}
	o->front.axes = o->axes;
	return true;
}

static bool
option_directory(Session *s, Options *o, const char *value)
{
	APPEND(s->arena, o->directories, o->build.ndirectories, value);
	o->build.directories = o->directories;
	return true;
}

static bool
option_on(Session *s, Options *o, const char *value)
{
	(void)s;
	o->front.target = value;
	return true;
}

static bool
option_entry(Session *s, Options *o, const char *value)
{
	(void)s;
	o->front.entry = value;
	return true;
}

static bool
option_remarks(Session *s, Options *o, const char *value)
{
	static const char *const known[] = {"reshard", "pad"};

	if (strcmp(value, known[0]) == 0)
		o->remarks = true;
	else if (strcmp(value, known[1]) == 0)
		o->pad_remarks = true;
	else
		return unknown_word(s, "remark", value, known, 2);
	return true;
}

static bool
option_strict(Session *s, Options *o, const char *value)
{
	(void)s, (void)value;
	o->strict = true;
	return true;
}

static bool
check_pass(Session *s, const char *name)
{
	int n;
	const char *const *names = pass_names(&n);

	return pass_by_name(name) || unknown_word(s, "pass", name, names, n);
}

static bool
option_print_after(Session *s, Options *o, const char *value)
{
	o->print_after = value;
	return strcmp(value, "all") == 0 || check_pass(s, value);
}

static bool
option_stop_after(Session *s, Options *o, const char *value)
{
	o->stop_after = value;
	return check_pass(s, value);
}

static bool
option_start_at(Session *s, Options *o, const char *value)
{
	o->start_at = value;
	return check_pass(s, value);
}

static bool
option_list_passes(Session *s, Options *o, const char *value)
{
	(void)s, (void)value;
	o->action = ACT_answer;
	list_passes(&o->answer);
	return true;
}

static bool
option_time_passes(Session *s, Options *o, const char *value)
{
	(void)s, (void)value;
	o->time_passes = true;
	return true;
}

static bool
option_cc(Session *s, Options *o, const char *value)
{
	if (!*value)
		return usage(s, "--cc needs the name of a compiler");
	o->build.cc = value;
	return true;
}

static bool
option_cflags(Session *s, Options *o, const char *value)
{
	(void)s;
	o->build.cflags = value;
	return true;
}

static bool
option_debug(Session *s, Options *o, const char *value)
{
	(void)s, (void)value;
	o->build.debug = true;
	return true;
}

static bool
option_optimize(Session *s, Options *o, const char *value)
{
	if (strlen(value) != 1 || *value < '0' || *value > '3')
		return usage(s, "-O is followed by 0, 1, 2 or 3, not '%s'", value);
	o->build.optimize = *value - '0';
	return true;
}

static bool
option_transport(Session *s, Options *o, const char *value)
{
	static const char *const known[] = {"threads"};

	(void)o;
	return strcmp(value, "threads") == 0 || unknown_word(s, "transport", value, known, 1);
}

static bool
option_diagnostics_format(Session *s, Options *o, const char *value)
{
	static const char *const known[] = {"text", "json"};

	(void)o;
	if (strcmp(value, "text") != 0 && strcmp(value, "json") != 0)
		return unknown_word(s, "format", value, known, 2);
	s->json = strcmp(value, "json") == 0;
	return true;
}

/* On terminals, unless the user wants none. */
static void
color_terminals(Session *s, Options *o)
{
	const char *no_color = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");
	bool plain = (no_color && *no_color) || (terminal && strcmp(terminal, "dumb") == 0);

	s->color = isatty(2) && !plain;
	o->color_output = isatty(1) && !plain;
}

static bool
option_color(Session *s, Options *o, const char *value)
{
	static const char *const known[] = {"auto", "always", "never"};

	if (strcmp(value, "auto") == 0)
		color_terminals(s, o);
	else if (strcmp(value, "always") == 0)
		s->color = o->color_output = true;
	else if (strcmp(value, "never") == 0)
		s->color = o->color_output = false;
	else
		return unknown_word(s, "color mode", value, known, 3);
	return true;
}

static bool
option_max_errors(Session *s, Options *o, const char *value)
{
	char *end;
	long n = strtol(value, &end, 10);

	(void)o;
	if (end == value || *end || n < 0 || n > 1000000)
		return usage(s,
			"--max-errors wants a number from 0 (no limit) "
			"to 1000000, not '%s'",
			value);
	s->max_errors = (int)n;
	return true;
}

static bool
option_explain_error(Session *s, Options *o, const char *value)
{
	const char *text = diag_explain(value);

	if (!text)
		return usage(s,
			"there is no error '%s'; they look like "
			"SHD0204",
			value);
	o->action = ACT_answer;
	text_add(&o->answer, text);
	return true;
}

static bool
option_version(Session *s, Options *o, const char *value)
{
	(void)s, (void)value;
	o->action = ACT_answer;
	text_add(&o->answer, "shdc " SHDC_VERSION "\n");
	return true;
}

/* ---- help ------------------------------------------------------------ */

static void
describe(Text *t, const OptionInfo *info)
{
	size_t start = t->n;
	bool optional = info->argument && *info->argument == '[';

	text_printf(t, "  %s", info->spelling);
	if (optional)
		text_printf(t, "[=%s", info->argument + 1);
	else if (info->argument)
		text_printf(t, "%s%s",
			info->spelling[1] == '-'			  ? "="
				: isupper((unsigned char)*info->argument) ? " "
									  : "",
			info->argument);
	if (t->n - start > 30)
		text_printf(t, "\n%32s%s\n", "", info->help);
	else
		text_printf(t, "%*s%s\n", (int)(32 - (t->n - start)), "", info->help);
}

static void
describe_group(Text *t, Group g)
{
	text_printf(t, "\n%s (--help=%s)\n", groups[g].title, groups[g].name);
	for (int i = 0; i < NOPTIONS; i++)
		if (options[i].group == g)
			describe(t, &options[i]);
}

static void
describe_all(Text *t)
{
	text_add(t,
		"usage: shdc [OPTIONS] PROGRAM.shd        an executable\n"
		"       shdc --run PROGRAM.shd [-- ARGS]  compile and run\n"
		"       shdc --emit=KIND PROGRAM.shd      show a stage: see "
		"--help=emit\n"
		"PROGRAM is a .shd file, a .hlo file that shdc printed, or - "
		"for standard input.\n"
		"The functions of the language: --help=functions.\n");
	for (int g = 0; g < GROUP_COUNT; g++)
		describe_group(t, (Group)g);
	text_add(t,
		"\nExit status: 0 done; 1 the program is wrong; 2 usage; "
		"3 files or a tool failed;\n4 internal error; 5 out of "
		"memory; 10 deadlock; 11 mismatched collectives;\n13 a peer "
		"was lost.\n");
}

static bool
option_help(Session *s, Options *o, const char *value)
{
	const char *names[GROUP_COUNT + 2];

	o->action = ACT_answer;
	if (!value) {
		describe_all(&o->answer);
		return true;
	}
	for (int g = 0; g < GROUP_COUNT; g++) {
		names[g] = groups[g].name;
		if (strcmp(value, groups[g].name) == 0) {
			describe_group(&o->answer, (Group)g);
			return true;
		}
	}
	names[GROUP_COUNT] = "emit";
	names[GROUP_COUNT + 1] = "functions";
	if (strcmp(value, "emit") == 0)
		list_kinds(&o->answer);
	else if (strcmp(value, "functions") == 0)
		front_list_functions(&o->answer);
	else
		return unknown_word(s, "help group", value, names, GROUP_COUNT + 2);
	return true;
}

/* ---- parsing --------------------------------------------------------- */

static const OptionInfo *
find_option(const char *name, size_t n)
{
	for (int i = 0; i < NOPTIONS; i++)
		if (strlen(options[i].spelling) == n
			&& strncmp(options[i].spelling, name, n) == 0)
			return &options[i];
	return NULL;
}

static bool
unknown_option(Session *s, const char *name)
{
	const char *names[NOPTIONS];

	for (int i = 0; i < NOPTIONS; i++)
		names[i] = options[i].spelling;
	name = nearest_word(name, names, NOPTIONS);
	if (name)
		diag_line(s, "did you mean %s?", name);
	else
		diag_line(s, "shdc --help lists them");
	return false;
}

/* One option at argv[*i]; *i ends at its last word. */
static bool
parse_option(Session *s, Options *o, int argc, char **argv, int *i)
{
	const char *word = argv[*i];
	bool is_long = word[1] == '-';
	size_t n = is_long ? strcspn(word, "=") : 2;
	const OptionInfo *info = find_option(word, n);
	const char *value = word[n] == '\0' ? NULL : word + n + is_long;

	if (!info) {
		const char *name = arena_strndup(s->arena, word, is_long ? n : strlen(word));

		usage(s, "unknown option %s", name);
		return unknown_option(s, name);
	}
	if (!info->argument && value)
		return usage(s, "%s takes no value", info->spelling);
	if (info->argument && *info->argument != '[' && !value) {
		if (*i + 1 >= argc)
			return usage(s, "%s needs %s", info->spelling, info->argument);
		value = argv[++*i];
	}
	return info->handler(s, o, value);
}

static bool
parse_words(Session *s, Options *o, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];

		if (strcmp(word, "--") == 0) {
			o->have_arguments = true;
			o->arguments = (const char **)&argv[i + 1];
			o->narguments = argc - i - 1;
			return true;
		}
		if (word[0] == '-' && word[1]) {
			if (!parse_option(s, o, argc, argv, &i))
				return false;
		} else if (o->input) {
			return usage(s, "one program at a time: '%s' and '%s'", o->input, word);
		} else {
			o->input = word;
		}
	}
	return true;
}

static bool
ends_with(const char *s, const char *ending)
{
	size_t n = strlen(s), k = strlen(ending);

	return n > k && strcmp(s + n - k, ending) == 0;
}

/* The executable's name: the input's, without .shd or .hlo. */
static bool
default_output(Session *s, Options *o)
{
	const char *base = strrchr(o->input, '/');

	base = base ? base + 1 : o->input;
	if (!ends_with(base, ".shd") && !ends_with(base, ".hlo"))
		return usage(s,
			"what to call the executable of '%s'? "
			"-o NAME says it",
			o->input);
	o->output = arena_strndup(s->arena, o->input, strlen(o->input) - 4);
	return true;
}

static bool
same_status(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Its directory and the name in that; false: there is none. */
static bool
find_place(Session *s, const char *path, struct stat *directory, const char **name)
{
	const char *slash = strrchr(path, '/');

	*name = slash ? slash + 1 : path;
	return stat(slash ? arena_strndup(s->arena, path, (size_t)(slash - path) + 1) : ".",
		       directory)
		== 0;
}

/* Of regular files; one that does not exist yet is known by its place. */
static bool
same_file(Session *s, const char *a, const char *b)
{
	struct stat of_a, of_b;
	const char *name_a, *name_b;
	bool has_a = stat(a, &of_a) == 0, has_b = stat(b, &of_b) == 0;

	if (has_a || has_b)
		return has_a && has_b && S_ISREG(of_a.st_mode) && same_status(&of_a, &of_b);
	return find_place(s, a, &of_a, &name_a) && find_place(s, b, &of_b, &name_b)
		&& same_status(&of_a, &of_b) && strcmp(name_a, name_b) == 0;
}

/* An output replaces neither the program nor another output. */
static bool
check_paths(Session *s, const Options *o)
{
	if (o->output && same_file(s, o->output, o->input))
		return usage(s, "the output would replace the program, %s", o->input);
	for (int i = 0; i < o->noutputs; i++) {
		const char *path = o->outputs[i].path;

		if (path && same_file(s, path, o->input))
			return usage(s,
				"the output would replace the "
				"program, %s",
				o->input);
		for (int k = 0; path && k < i; k++)
			if (o->outputs[k].path && same_file(s, path, o->outputs[k].path))
				return usage(s, "two outputs go to %s", path);
	}
	return true;
}

/* -o names the one output that --emit has no path for. */
static bool
place_outputs(Session *s, Options *o)
{
	if (o->output && o->noutputs != 1)
		return usage(s,
			"-o names one output; write --emit=KIND=PATH "
			"for several");
	if (o->output && o->outputs[0].path)
		return usage(s, "-o %s and --emit=%s=%s both name the output", o->output,
			o->outputs[0].kind->name, o->outputs[0].path);
	if (o->output && strcmp(o->output, "-") != 0)
		o->outputs[0].path = o->output;
	for (int i = 0; i < o->noutputs; i++)
		if (o->outputs[i].kind->binary && !o->outputs[i].path)
			return usage(s,
				"'%s' is binary and needs a path: "
				"--emit=%s=PATH",
				o->outputs[i].kind->name, o->outputs[i].kind->name);
	return true;
}

static bool
check_stop(Session *s, const Options *o)
{
	const Pass *stop = o->stop_after ? pass_by_name(o->stop_after) : NULL;

	if (!stop)
		return true;
	if (o->start_at && pass_by_name(o->start_at) > stop)
		return usage(s, "--stop-after=%s comes before --start-at=%s", stop->name,
			o->start_at);
	if (o->action != ACT_build && o->action != ACT_emit)
		return usage(s, "--stop-after and %s do not go together", o->action_option);
	for (int i = 0; i < o->noutputs; i++)
		if (o->outputs[i].kind->level > (int)stop->after)
			return usage(s, "--emit=%s comes after the pass '%s'",
				o->outputs[i].kind->name, stop->name);
	return true;
}

/* What the options say together. */
static bool
check_options(Session *s, Options *o)
{
	bool minus = o->output && strcmp(o->output, "-") == 0;
	bool runs = o->action == ACT_run || o->action == ACT_interpret;

	if (o->action == ACT_answer)
		return true;
	if (!o->input)
		return usage(s, "which program? shdc --help shows the usage");
	if (o->have_arguments && !runs)
		return usage(s,
			"what follows -- goes to the program that "
			"--run or --interpret starts");
	if (!check_stop(s, o) || !check_paths(s, o))
		return false;
	if (o->action == ACT_emit)
		return place_outputs(s, o);
	if (o->output && o->action != ACT_build)
		return usage(s, "-o and %s do not go together", o->action_option);
	if (minus && !o->stop_after)
		return usage(s,
			"an executable does not go to standard "
			"output: -o NAME");
	if (o->action == ACT_build && !o->output && !o->stop_after)
		return default_output(s, o);
	return true;
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
	o->build.optimize = 2;
	s->width = terminal_width();
	color_terminals(s, o);
	return parse_words(s, o, argc, argv) && check_options(s, o);
}

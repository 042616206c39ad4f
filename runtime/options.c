/*
 * options.c - the command line of a built program, from a table of its options.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

NORETURN static void
unknown_tensor(const char *what, const char *wanted, const shdrt_tensor *t, int n)
{
	const char **names = rt_get_memory((size_t)n, sizeof(char *));
	for (int i = 0; i < n; i++)
		names[i] = t[i].name;
	const char *nearest = rt_nearest_word(wanted, names, n);
	if (nearest)
		rt_fail(SHDRT_USAGE, "no %s '%s'; did you mean '%s'?", what, wanted, nearest);
	rt_fail(SHDRT_USAGE, "no %s '%s'; --list shows them", what, wanted);
}

static int
find_tensor(const char *what, const char *name, const shdrt_tensor *t, int n)
{
	for (int i = 0; i < n; i++)
		if (strcmp(t[i].name, name) == 0)
			return i;
	for (int i = 0; i < n; i++)
		if (rt_same_name(t[i].name, name))
			return i;
	unknown_tensor(what, name, t, n);
}

/* ---- options ---- */

/* NAME of NAME=FILE, or what else the form is; rt_fail()s when there is none. */
static char *
name_before(const char *text, const char *option, const char *form, const char **behind)
{
	const char *equals = strchr(text, '=');
	if (!equals || equals == text || !equals[1])
		rt_fail(SHDRT_USAGE, "%s '%s': %s is wanted", option, text, form);
	*behind = equals + 1;
	char *name = strndup(text, (size_t)(equals - text));
	if (!name)
		rt_fail(SHDRT_MEMORY, "out of memory");
	return name;
}

/* NAME=FILE when what is before the = could be a name. */
static bool
names_one(const char *value)
{
	size_t letters = strspn(value,
		"abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.[]'\"");
	return letters > 0 && value[letters] == '=';
}

static void
option_in(Settings *s, const char *value)
{
	const char *file;
	if (!names_one(value) && rt_holds_many(value)) {
		s->in_files[s->nin_files++] = value;
		return;
	}
	char *name =
		name_before(value, "--in", "NAME=FILE, FILE.safetensors or FILE.npz", &file);
	int i = find_tensor("parameter", name, s->program->params, s->program->nparams);
	if (s->sources[i].path)
		rt_fail(SHDRT_USAGE, "--in: %s is given twice", name);
	for (int k = 0; k < s->program->nparams && rt_is_standard(file); k++)
		if (s->sources[k].path && rt_is_standard(s->sources[k].path))
			rt_fail(SHDRT_USAGE, "--in: %s and %s, both from standard input",
				s->program->params[k].name, name);
	s->sources[i].path = file;
	free(name);
}

static void
made_by(Settings *s, const char *option, SourceKind kind)
{
	if (s->made_by)
		rt_fail(SHDRT_USAGE, "%s and %s: one of them", s->made_by, option);
	s->made_by = option;
	s->given.kind = kind;
}

static void
random_range(Settings *s, const char *value)
{
	const char *range;
	char *name = name_before(value, "--random", "NAME=LOW..HIGH", &range);
	int i = find_tensor("parameter", name, s->program->params, s->program->nparams);
	if (s->sources[i].range.given)
		rt_fail(SHDRT_USAGE, "--random: %s is given twice", name);
	s->sources[i].range = rt_range_parse(&s->program->params[i], range);
	free(name);
}

static void
option_random(Settings *s, const char *value)
{
	char *end;
	if (strchr(value, '=')) {
		random_range(s, value);
		return;
	}
	errno = 0;
	s->given.seed = strtoull(value, &end, 10);
	if (errno || end == value || *end || *value < '0' || *value > '9')
		rt_fail(SHDRT_USAGE,
			"--random '%s': a whole number from 0 is "
			"wanted, or NAME=LOW..HIGH",
			value);
	made_by(s, "--random", FROM_random);
}

static void
option_ones(Settings *s, const char *value)
{
	(void)value;
	made_by(s, "--ones", FROM_ones);
}

static void
option_iota(Settings *s, const char *value)
{
	(void)value;
	made_by(s, "--iota", FROM_iota);
}

NORETURN static void
clash(const char *path)
{
	if (rt_holds_many(path))
		rt_fail(SHDRT_USAGE, "--out: all results go into %s, and one of them by itself",
			path);
	rt_fail(SHDRT_USAGE,
		"--out: two results into %s; only .safetensors and .npz files hold several",
		rt_is_standard(path) ? "standard output" : path);
}

/* All results: into a file if it ends like one, else into a directory. */
static void
all_out(Settings *s, const char *path)
{
	bool file = rt_holds_many(path);
	const char **to = file ? &s->out_whole : &s->out_directory;
	if (!*path || rt_is_standard(path))
		rt_fail(SHDRT_USAGE,
			"--out '%s': a directory, a .safetensors or .npz file or NAME=FILE is "
			"wanted",
			path);
	if (*to)
		rt_fail(SHDRT_USAGE, "--out: two %s, %s and %s",
			file ? "files of all results" : "directories", *to, path);
	for (int k = 0; file && k < s->program->nresults; k++)
		if (s->out_files[k] && rt_same_output(s->out_files[k], path))
			clash(path);
	*to = path;
}

static void
option_out(Settings *s, const char *value)
{
	s->writes = true;
	if (!names_one(value)) {
		all_out(s, value);
		return;
	}
	const char *file;
	char *name = name_before(value, "--out", "NAME=FILE", &file);
	int i = find_tensor("result", name, s->program->results, s->program->nresults);
	if (s->out_files[i])
		rt_fail(SHDRT_USAGE, "--out: %s is given twice", name);
	if (s->out_whole && rt_same_output(s->out_whole, file))
		clash(file);
	if (strstr(file, ".safetensors#") || strstr(file, ".npz#"))
		rt_fail(SHDRT_USAGE, "--out %s: #KEY is of --in; a result has its own name",
			value);
	if (rt_has_ending(file, ".txt") && s->program->results[i].dtype != SHDRT_u8)
		rt_fail(SHDRT_USAGE, "--out %s: a .txt file is u8, %s is %s", value, name,
			s->program->results[i].type_text);
	s->out_files[i] = file;
	for (int k = 0; k < s->program->nresults; k++) {
		if (k == i || !s->out_files[k] || !rt_same_output(s->out_files[k], file))
			continue;
		if (!rt_holds_many(file) || !rt_holds_many(s->out_files[k]))
			clash(file);
		s->out_files[i] = s->out_files[k];
	}
	if (rt_is_standard(file))
		s->reports = stderr;
	free(name);
}

static int
count_value(const char *option, const char *value)
{
	char *end;
	errno = 0;
	long n = strtol(value, &end, 10);
	if (errno || end == value || *end || n < 1 || n > 1000000)
		rt_fail(SHDRT_USAGE,
			"%s '%s': a number from 1 to 1000000 is "
			"wanted",
			option, value);
	return (int)n;
}

static void
option_time(Settings *s, const char *value)
{
	s->times = count_value("--time", value);
}

static void
option_steps(Settings *s, const char *value)
{
	s->steps = count_value("--steps", value);
}

static double
time_value(const char *option, const char *value)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = {{"s", 1}, {"", 1}, {"ms", 1e-3}, {"m", 60}, {"h", 3600}};
	size_t digits = strspn(value, "0123456789.");
	char *end;
	double n = strtod(value, &end);
	if (digits && end == value + digits && n <= 1e9)
		for (size_t i = 0; i < sizeof units / sizeof *units; i++)
			if (strcmp(end, units[i].unit) == 0)
				return n * units[i].seconds;
	rt_fail(SHDRT_USAGE,
		"%s '%s': a time such as 30s, 500ms or 2m is wanted; 0 is no limit", option,
		value);
}

static void
option_timeout(Settings *s, const char *value)
{
	s->timeout = time_value("--timeout", value);
}

static void
option_stall(Settings *s, const char *value)
{
	s->stall = time_value("--stall", value);
}

static void
option_helper(Settings *s, const char *value)
{
	static const char *const words[] =
		{[HELPS_where_spare] = "auto", [HELPS_on] = "on", [HELPS_off] = "off"};
	for (int i = 0; i < (int)(sizeof words / sizeof *words); i++)
		if (strcmp(value, words[i]) == 0) {
			s->helps = (Helps)i;
			return;
		}
	rt_fail(SHDRT_USAGE, "--helper '%s': on, off or auto is wanted", value);
}

static void
option_check(Settings *s, const char *value)
{
	(void)value;
	if (!s->program->hlo || !s->program->check)
		rt_fail(SHDRT_USAGE,
			"--check: this program carries nothing to be "
			"checked against");
	s->check = true;
}

static void
option_against(Settings *s, const char *value)
{
	if (s->against)
		rt_fail(SHDRT_USAGE, "--against is given twice");
	if (!rt_holds_many(value))
		rt_fail(SHDRT_USAGE, "--against '%s': a .npz or .safetensors file is wanted",
			value);
	s->against = value;
}

static void
option_within(Settings *s, const char *value)
{
	char *end;
	s->within = strtod(value, &end);
	if (end == value || *end || !(s->within > 0 && s->within < 1))
		rt_fail(SHDRT_USAGE, "--within '%s': a part of 1 is wanted, such as 1e-3",
			value);
}

static void
option_stats(Settings *s, const char *value)
{
	(void)value;
	s->stats = true;
}

static void
option_keep_inputs(Settings *s, const char *value)
{
	(void)value;
	if (!s->program->keeps_inputs)
		rt_fail(SHDRT_USAGE,
			"--keep-inputs: the program was compiled so that inputs may be "
			"overwritten; 'shdc --keep-inputs' plans memory for them");
	s->keep_inputs = true;
}

static void
one_file(const char **file, const char *option, const char *value)
{
	if (*file)
		rt_fail(SHDRT_USAGE, "%s is given twice", option);
	if (!*value || rt_is_standard(value))
		rt_fail(SHDRT_USAGE, "%s '%s': a file is wanted", option, value);
	*file = value;
}

static void
option_trace(Settings *s, const char *value)
{
	one_file(&s->trace, "--trace", value);
}

static void
option_log(Settings *s, const char *value)
{
	one_file(&s->log, "--log", value);
}

static void
option_list(Settings *s, const char *value)
{
	(void)value;
	s->list = true;
}

static void
option_help(Settings *s, const char *value)
{
	(void)value;
	s->help = true;
}

static void
option_version(Settings *s, const char *value)
{
	(void)value;
	s->version = true;
}

static const struct Option {
	const char *name;
	char letter;	      /* of -x, which is the same; 0: there is none */
	const char *argument; /* NULL when it has none */
	void (*set)(Settings *s, const char *value);
	const char *help;
} options[] = {
#define OPTION(name, letter, argument, set, help) {name, letter, argument, option_##set, help},
#include "program_options.def"
#undef OPTION
};
enum { NOPTIONS = sizeof options / sizeof *options };

enum { HELP_COLUMN = 28, HELP_WIDTH = 80 };

/* From HELP_COLUMN on, in as many lines as that takes. */
static void
print_wrapped(FILE *out, const char *text)
{
	const int room = HELP_WIDTH - HELP_COLUMN;
	while ((int)strlen(text) > room) {
		int n = room;
		while (text[n] != ' ')
			n--;
		fprintf(out, "%.*s\n%*s", n, text, HELP_COLUMN, "");
		text += n + 1;
	}
	fprintf(out, "%s\n", text);
}

void
rt_options_help(const shdrt_program *p, FILE *out)
{
	fprintf(out, "%s: compiled for %" PRId64 " emulated %s device%s from\n%s\n\n", p->name,
		p->ndevices, p->target, p->ndevices == 1 ? "" : "s", p->source);
	for (int i = 0; i < NOPTIONS; i++) {
		const struct Option *o = &options[i];
		char left[40], letter[8] = "";
		if (o->letter)
			snprintf(letter, sizeof letter, "-%c, ", o->letter);
		snprintf(left, sizeof left, "%s%s%s%s", letter, o->name, o->argument ? " " : "",
			o->argument ? o->argument : "");
		fprintf(out, "  %-*s", HELP_COLUMN - 2, left);
		print_wrapped(out, o->help);
	}
	fprintf(out, "\nWithout --out, one line is printed for each result.\n");
}

void
rt_options_version(const shdrt_program *p, FILE *out)
{
	fprintf(out, "%s, compiled by shdc, with the runtime " SHDRT_VERSION "\n", p->name);
}

/* --name, --name=value or -x; *value is what follows the =, or NULL. */
static const struct Option *
find_option(const char *text, const char **value)
{
	size_t n = strcspn(text, "=");
	const char *names[NOPTIONS];
	*value = text[n] ? text + n + 1 : NULL;
	for (int i = 0; i < NOPTIONS; i++) {
		const struct Option *o = &options[i];
		if ((strlen(o->name) == n && memcmp(o->name, text, n) == 0)
			|| (n == 2 && text[0] == '-' && o->letter && text[1] == o->letter))
			return o;
		names[i] = o->name;
	}
	char *word = strndup(text, n);
	const char *nearest = word ? rt_nearest_word(word, names, NOPTIONS) : NULL;
	if (nearest)
		rt_fail(SHDRT_USAGE, "no option '%s'; did you mean '%s'?", text, nearest);
	rt_fail(SHDRT_USAGE, "no option '%s'; --help shows them", text);
}

void
rt_options_parse(Settings *s, int argc, char **argv)
{
	s->in_files = rt_get_memory((size_t)argc, sizeof *s->in_files);
	for (int i = 1; i < argc; i++) {
		const char *value;
		const struct Option *o = find_option(argv[i], &value);
		if (o->argument && !value) {
			if (i + 1 == argc)
				rt_fail(SHDRT_USAGE, "%s: %s is wanted", o->name, o->argument);
			value = argv[++i];
		} else if (!o->argument && value) {
			rt_fail(SHDRT_USAGE, "%s takes no value", o->name);
		}
		o->set(s, value);
	}
	if (s->times && s->steps)
		rt_fail(SHDRT_USAGE, "--time and --steps: one of them");
	if (s->within > 0 && !s->against)
		rt_fail(SHDRT_USAGE, "--within goes with --against");
	if (s->times && s->log)
		rt_fail(SHDRT_USAGE, "--time and --log: one of them");
	if (s->trace && rt_is_output(s, s->trace))
		rt_fail(SHDRT_USAGE, "--trace and --out: both would write %s", s->trace);
	if (s->log && rt_is_output(s, s->log))
		rt_fail(SHDRT_USAGE, "--log and --out: both would write %s", s->log);
	if (s->log && s->trace && rt_same_output(s->log, s->trace))
		rt_fail(SHDRT_USAGE, "--log and --trace: both would write %s", s->log);
	if (s->keep_inputs && s->steps)
		rt_fail(SHDRT_USAGE,
			"--keep-inputs and --steps: one of them; results become inputs");
	s->keep_inputs |= s->program->keeps_inputs && s->times;
}

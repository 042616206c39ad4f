/*
 * options.c - the command line of a built program, from a table of its options.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

/* ---- words ---- */

enum { LONGEST = 64 }; /* of names that are compared */

static int
least(int a, int b)
{
	return a < b ? a : b;
}

/* Insertions, deletions and changes that make b of a. */
static int
distance(const char *a, const char *b)
{
	int row[LONGEST + 1];
	int n = (int)strlen(b);
	if (strlen(a) > LONGEST || n > LONGEST)
		return LONGEST;
	for (int k = 0; k <= n; k++)
		row[k] = k;
	for (int i = 1; a[i - 1]; i++) {
		int diagonal = row[0];
		row[0] = i;
		for (int k = 1; k <= n; k++) {
			int change = diagonal + (a[i - 1] != b[k - 1]);
			diagonal = row[k];
			row[k] = least(change, least(row[k], row[k - 1]) + 1);
		}
	}
	return row[n];
}

typedef struct Nearest {
	const char *name;
	int distance;
} Nearest;

static void
consider(Nearest *best, const char *wanted, const char *name)
{
	int d = distance(wanted, name);
	/* A third of the letters wrong is a typing mistake; more is not. */
	if (d <= (int)strlen(wanted) / 3 + 1 && (!best->name || d < best->distance))
		*best = (Nearest){name, d};
}

NORETURN static void
unknown_tensor(const char *what, const char *wanted, const shdrt_tensor *t, int n)
{
	Nearest best = {0};
	for (int i = 0; i < n; i++)
		consider(&best, wanted, t[i].name);
	if (best.name)
		rt_fail(SHDRT_USAGE, "no %s '%s'; did you mean '%s'?", what, wanted, best.name);
	rt_fail(SHDRT_USAGE, "no %s '%s'; --list shows them", what, wanted);
}

static int
find_tensor(const char *what, const char *name, const shdrt_tensor *t, int n)
{
	for (int i = 0; i < n; i++)
		if (strcmp(t[i].name, name) == 0)
			return i;
	unknown_tensor(what, name, t, n);
}

/* ---- options ---- */

/* NAME of NAME=FILE; rt_fail()s when there is none. */
static char *
name_before(const char *text, const char *option, const char **file)
{
	const char *equals = strchr(text, '=');
	if (!equals || equals == text || !equals[1])
		rt_fail(SHDRT_USAGE, "%s '%s': NAME=FILE is wanted", option, text);
	*file = equals + 1;
	char *name = strndup(text, (size_t)(equals - text));
	if (!name)
		rt_fail(SHDRT_MEMORY, "out of memory");
	return name;
}

static void
option_in(Settings *s, const char *value)
{
	const char *file;
	char *name = name_before(value, "--in", &file);
	int i = find_tensor("parameter", name, s->program->params, s->program->nparams);
	if (s->sources[i].path)
		rt_fail(SHDRT_USAGE, "--in: %s is given twice", name);
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
option_random(Settings *s, const char *value)
{
	char *end;
	errno = 0;
	s->given.seed = strtoull(value, &end, 10);
	if (errno || end == value || *end || *value < '0' || *value > '9')
		rt_fail(SHDRT_USAGE,
			"--random '%s': a whole number from 0 is "
			"wanted",
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
	rt_fail(SHDRT_USAGE,
		"--out: two results into %s; only a .safetensors file holds several",
		rt_is_standard(path) ? "standard output" : path);
}

/* All results: into a file if it ends like one, else into a directory. */
static void
all_out(Settings *s, const char *path)
{
	bool file = rt_has_ending(path, ".safetensors");
	const char **to = file ? &s->out_whole : &s->out_directory;
	if (!*path || rt_is_standard(path))
		rt_fail(SHDRT_USAGE,
			"--out '%s': a directory, a .safetensors file or NAME=FILE is wanted",
			path);
	if (*to)
		rt_fail(SHDRT_USAGE, "--out: two %s, %s and %s",
			file ? "files of all results" : "directories", *to, path);
	for (int k = 0; file && k < s->program->nresults; k++)
		if (s->out_files[k] && rt_same_output(s->out_files[k], path))
			clash(path);
	*to = path;
}

/* NAME=FILE when what is before the = could be a name. */
static void
option_out(Settings *s, const char *value)
{
	size_t letters = strspn(value,
		"abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	s->writes = true;
	if (rt_has_ending(value, ".npz"))
		rt_fail(SHDRT_USAGE,
			"--out %s: .npz is not written; a .safetensors file holds several "
			"results",
			value);
	if (letters == 0 || value[letters] != '=') {
		all_out(s, value);
		return;
	}
	const char *file;
	char *name = name_before(value, "--out", &file);
	int i = find_tensor("result", name, s->program->results, s->program->nresults);
	if (s->out_files[i])
		rt_fail(SHDRT_USAGE, "--out: %s is given twice", name);
	if (s->out_whole && rt_same_output(s->out_whole, file))
		clash(file);
	s->out_files[i] = file;
	for (int k = 0; k < s->program->nresults; k++) {
		if (k == i || !s->out_files[k] || !rt_same_output(s->out_files[k], file))
			continue;
		if (!rt_has_ending(file, ".safetensors")
			|| !rt_has_ending(s->out_files[k], ".safetensors"))
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
option_stats(Settings *s, const char *value)
{
	(void)value;
	s->stats = true;
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

static const struct Option {
	const char *name, *argument; /* argument: NULL when it has none */
	void (*set)(Settings *s, const char *value);
	const char *help;
} options[] = {
	{"--in", "NAME=FILE", option_in, "a parameter from a .npy or .safetensors[#KEY] file"},
	{"--random", "SEED", option_random,
		"the others: floats in [-1, 1), integers in [-8, 8); --random 0"
		" is the default"},
	{"--ones", NULL, option_ones, "the others: all ones"},
	{"--iota", NULL, option_iota, "the others: 0, 1, 2, ..."},
	{"--out", "DIR|FILE|NAME=FILE", option_out,
		"write every result to DIR/NAME.npy or all to FILE.safetensors, or one to"
		" FILE, .npy or .safetensors; to -, standard output, as .npy"},
	{"--check", NULL, option_check, "compare with the unsharded program, interpreted"},
	{"--time", "N", option_time, "run N times; least and median time"},
	{"--steps", "N", option_steps,
		"run N times; results become the parameters of the same name"},
	{"--stats", NULL, option_stats, "memory, traffic and time on the emulated hardware"},
	{"--list", NULL, option_list, "show parameters and results"},
	{"--timeout", "10m", option_timeout, "give up when all of it took so long"},
	{"--stall", "30s", option_stall,
		"give up after so long without progress; a while is none before it"
		" ends; 0 never"},
	{"--help", NULL, option_help, "this text"},
};
enum { NOPTIONS = sizeof options / sizeof *options };

void
rt_options_help(const shdrt_program *p, FILE *out)
{
	fprintf(out, "%s: %s, compiled for %" PRId64 " emulated %s device%s\n\n", p->name,
		p->source, p->ndevices, p->target, p->ndevices == 1 ? "" : "s");
	for (int i = 0; i < NOPTIONS; i++) {
		char left[40];
		snprintf(left, sizeof left, "%s %s", options[i].name,
			options[i].argument ? options[i].argument : "");
		fprintf(out, "  %-22s %s\n", left, options[i].help);
	}
	fprintf(out, "\nWithout --out, one line is printed for each result.\n");
}

/* --name or --name=value; *value is what follows the =, or NULL. */
static const struct Option *
find_option(const char *text, const char **value)
{
	size_t n = strcspn(text, "=");
	Nearest best = {0};
	*value = text[n] ? text + n + 1 : NULL;
	for (int i = 0; i < NOPTIONS; i++)
		if (strlen(options[i].name) == n && memcmp(options[i].name, text, n) == 0)
			return &options[i];
	for (int i = 0; i < NOPTIONS; i++)
		consider(&best, text, options[i].name);
	if (best.name)
		rt_fail(SHDRT_USAGE, "no option '%s'; did you mean '%s'?", text, best.name);
	rt_fail(SHDRT_USAGE, "no option '%s'; --help shows them", text);
}

void
rt_options_parse(Settings *s, int argc, char **argv)
{
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
}

/*
 * main.c - the built program as its user sees it: options in, tensors in,
 * runs, tensors out.
 *
 * Everything that can be wrong with the command line or the files is found
 * out before any memory is taken or thread started.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

typedef struct Settings {
	const shdrt_program *program;
	Source *sources;     /* of each parameter */
	Source given;	     /* of those without a file */
	const char *made_by; /* --random, --ones or --iota, if given */
	const char *out_directory;
	const char **out_files; /* of each result, or NULL */
	bool writes;		/* --out was given */
	bool check, stats, list, help;
	int times, steps; /* 0: not asked for */
	double timeout;
} Settings;

/* One result in memory, whole. */
typedef struct Whole {
	void *data;
	bool disagree; /* under --check: two devices, about the same */
	int64_t pair[2];
} Whole;

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

static bool
same_status(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The directory that a file is or will be in, to be freed. */
static char *
parent_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *parent = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	if (!parent)
		rt_fail(SHDRT_MEMORY, "out of memory");
	return parent;
}

static bool
same_parent(const char *a, const char *b)
{
	struct stat x, y;
	char *of_a = parent_of(a), *of_b = parent_of(b);
	bool same = stat(of_a, &x) == 0 && stat(of_b, &y) == 0 && same_status(&x, &y);
	free(of_a);
	free(of_b);
	return same;
}

static const char *
name_in_parent(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* The same regular file, or one that will be made. */
static bool
same_output(const char *a, const char *b)
{
	struct stat x, y;
	bool has_a = stat(a, &x) == 0, has_b = stat(b, &y) == 0;
	if (has_a || has_b)
		return has_a && has_b && S_ISREG(x.st_mode) && same_status(&x, &y);
	return strcmp(name_in_parent(a), name_in_parent(b)) == 0 && same_parent(a, b);
}

/* NAME=FILE when what is before the = could be a name, else a directory. */
static void
option_out(Settings *s, const char *value)
{
	size_t letters = strspn(value,
		"abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	s->writes = true;
	if (letters == 0 || value[letters] != '=') {
		if (s->out_directory)
			rt_fail(SHDRT_USAGE, "--out: two directories, %s and %s",
				s->out_directory, value);
		if (!*value)
			rt_fail(SHDRT_USAGE,
				"--out: a directory or NAME=FILE is "
				"wanted");
		s->out_directory = value;
		return;
	}
	const char *file;
	char *name = name_before(value, "--out", &file);
	int i = find_tensor("result", name, s->program->results, s->program->nresults);
	if (s->out_files[i])
		rt_fail(SHDRT_USAGE, "--out: %s is given twice", name);
	for (int k = 0; k < s->program->nresults; k++)
		if (s->out_files[k] && same_output(s->out_files[k], file))
			rt_fail(SHDRT_USAGE, "--out: two results into %s", file);
	s->out_files[i] = file;
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

static void
option_timeout(Settings *s, const char *value)
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
			if (strcmp(end, units[i].unit) == 0) {
				s->timeout = n * units[i].seconds;
				return;
			}
	rt_fail(SHDRT_USAGE,
		"--timeout '%s': a time such as 30s, 500ms or 2m is "
		"wanted; 0 is never",
		value);
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
	{"--out", "DIR|NAME=FILE", option_out,
		"write every result to DIR/NAME.npy, or one to FILE"},
	{"--check", NULL, option_check, "compare with the unsharded program, interpreted"},
	{"--time", "N", option_time, "run N times; least and median time"},
	{"--steps", "N", option_steps,
		"run N times; results become the parameters of the same name"},
	{"--stats", NULL, option_stats, "memory, traffic and time on the emulated hardware"},
	{"--list", NULL, option_list, "show parameters and results"},
	{"--timeout", "30s", option_timeout, "give up after so long without any progress"},
	{"--help", NULL, option_help, "this text"},
};
enum { NOPTIONS = sizeof options / sizeof *options };

static void
print_help(const shdrt_program *p)
{
	printf("%s: %s, compiled for %" PRId64 " emulated %s device%s\n\n", p->name, p->source,
		p->ndevices, p->target, p->ndevices == 1 ? "" : "s");
	for (int i = 0; i < NOPTIONS; i++) {
		char left[40];
		snprintf(left, sizeof left, "%s %s", options[i].name,
			options[i].argument ? options[i].argument : "");
		printf("  %-22s %s\n", left, options[i].help);
	}
	printf("\nWithout --out, one line is printed for each result.\n");
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

static void
parse_options(Settings *s, int argc, char **argv)
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

/* ---- inputs ---- */

static void
open_sources(Settings *s)
{
	for (int i = 0; i < s->program->nparams; i++) {
		Source *source = &s->sources[i];
		const char *path = source->path;
		*source = s->given;
		if (path) {
			source->kind = FROM_file;
			source->path = path;
			rt_tensor_file_open(&source->file, path, &s->program->params[i]);
		}
	}
}

static void
close_sources(Settings *s)
{
	for (int i = 0; i < s->program->nparams; i++)
		if (s->sources[i].path)
			rt_tensor_file_close(&s->sources[i].file);
}

static void
fill_device(shdrt_device *dev, void *data)
{
	const Settings *s = data;
	const shdrt_program *p = s->program;
	for (int i = 0; i < p->nparams; i++)
		rt_tensor_fill_part(&p->params[i], &s->sources[i], dev->id,
			dev->slab + p->params[i].offset);
}

/* ---- runs ---- */

static void
collect_results(const Settings *s, const Machine *m, Whole *results)
{
	for (int i = 0; i < s->program->nresults; i++) {
		const shdrt_tensor *t = &s->program->results[i];
		rt_tensor_collect(t, m, results[i].data);
		if (s->check)
			results[i].disagree = rt_tensor_disagrees(t, m, results[i].pair);
	}
}

static bool
same_shape(const shdrt_tensor *a, const shdrt_tensor *b)
{
	return a->dtype == b->dtype && a->rank == b->rank
		&& (a->rank == 0
			|| memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0);
}

/* The result that becomes a parameter in the next step; -1 none. */
static int
result_for(const shdrt_program *p, int param)
{
	for (int i = 0; i < p->nresults; i++)
		if (strcmp(p->results[i].name, p->params[param].name) == 0)
			return i;
	return -1;
}

static void
check_feedback(const shdrt_program *p)
{
	bool any = false;
	for (int i = 0; i < p->nparams; i++) {
		int from = result_for(p, i);
		if (from < 0)
			continue;
		any = true;
		if (!same_shape(&p->params[i], &p->results[from]))
			rt_fail(SHDRT_USAGE,
				"--steps: %s is %s as a parameter, %s "
				"as a result",
				p->params[i].name, p->params[i].type_text,
				p->results[from].type_text);
	}
	if (!any)
		rt_fail(SHDRT_USAGE,
			"--steps: no result has the name of a "
			"parameter");
}

/*
 * The last step's inputs are kept apart from its results, which --check
 * compares them with: `fed` has the values between two steps.
 */
static void
feed_back(Settings *s, const Whole *results, Whole *fed)
{
	const shdrt_program *p = s->program;
	for (int i = 0; i < p->nparams; i++) {
		int from = result_for(p, i);
		if (from < 0)
			continue;
		size_t bytes = rt_tensor_bytes(&p->results[from]);
		if (!fed[i].data)
			fed[i].data = rt_get_memory(1, bytes);
		memcpy(fed[i].data, results[from].data, bytes);
		s->sources[i].kind = FROM_memory;
		s->sources[i].memory = fed[i].data;
	}
}

static double
run_steps(Settings *s, Machine *m, Whole *results, Whole *fed)
{
	double seconds = 0;
	for (int step = 0; step < (s->steps ? s->steps : 1); step++) {
		if (step)
			feed_back(s, results, fed);
		seconds = rt_machine_run(m, fill_device, s);
		collect_results(s, m, results);
	}
	return seconds;
}

/* One run to warm up, then N that count. */
static double
run_times(Settings *s, Machine *m, Whole *results)
{
	double *seconds = rt_get_memory((size_t)s->times, sizeof *seconds);
	rt_machine_run(m, fill_device, s);
	for (int i = 0; i < s->times; i++)
		seconds[i] = rt_machine_run(m, fill_device, s);
	collect_results(s, m, results);
	double last = seconds[s->times - 1];
	rt_report_times(seconds, s->times, stdout);
	free(seconds);
	return last;
}

/* ---- checking ---- */

static shdrt_array
array_of(const shdrt_tensor *t, void *data)
{
	return (shdrt_array){t->name, t->dtype, t->rank, t->dims, data};
}

static int
check_results(const Settings *s, const Whole *results)
{
	const shdrt_program *p = s->program;
	size_t nparams = (size_t)p->nparams, nresults = (size_t)p->nresults;
	shdrt_array *in = rt_get_zeroed(nparams, sizeof *in);
	shdrt_array *out = rt_get_zeroed(nresults, sizeof *out);
	shdrt_verdict *verdicts = rt_get_zeroed(nresults, sizeof *verdicts);
	for (size_t i = 0; i < nparams; i++) {
		const shdrt_tensor *t = &p->params[i];
		in[i] = array_of(t, rt_get_memory(1, rt_tensor_bytes(t)));
		rt_tensor_fill_whole(t, &s->sources[i], in[i].data);
	}
	for (size_t i = 0; i < nresults; i++)
		out[i] = array_of(&p->results[i], results[i].data);
	shdrt_check_io io = {p->nparams, p->nresults, in, out, verdicts, p->externs};
	int status = p->check(p->hlo, p->hlo_bytes, &io);
	if (status != SHDRT_OK)
		rt_fail(status,
			"--check: the unsharded program could not be "
			"executed");
	for (size_t i = 0; i < nresults; i++) {
		rt_report_verdict(&p->results[i], &verdicts[i], stdout);
		if (results[i].disagree)
			rt_report_disagreement(&p->results[i], results[i].pair, stdout);
		if (verdicts[i].mismatches || results[i].disagree)
			status = SHDRT_WRONG;
	}
	for (size_t i = 0; i < nparams; i++)
		free(in[i].data);
	free(in);
	free(out);
	free(verdicts);
	return status;
}

/* ---- outputs ---- */

/* Before the run: a directory that cannot be had is told at once. */
static void
make_directory(const char *path)
{
	struct stat status;
	if (mkdir(path, 0777) == 0)
		rt_fail_made(path);
	else if (errno != EEXIST)
		rt_fail(SHDRT_IO, "%s: cannot be made: %s", path, strerror(errno));
	if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
		rt_fail(SHDRT_IO, "%s: not a directory", path);
}

/* So is a file that nothing can be written beside. */
static void
check_output(const char *path)
{
	struct stat status;
	char *parent = parent_of(path);
	bool exists = stat(path, &status) == 0;
	if (exists && S_ISDIR(status.st_mode))
		rt_fail(SHDRT_IO, "%s: cannot be written: it is a directory", path);
	if ((!exists || S_ISREG(status.st_mode)) && access(parent, W_OK) != 0)
		rt_fail(SHDRT_IO, "%s: cannot be written: %s", path, strerror(errno));
	free(parent);
}

static void
write_result(const Settings *s, int i, void *data)
{
	const shdrt_tensor *t = &s->program->results[i];
	shdrt_array a = array_of(t, data);
	if (s->out_directory) {
		size_t room = strlen(s->out_directory) + strlen(t->name) + 8;
		char *path = rt_get_memory(1, room);
		snprintf(path, room, "%s/%s.npy", s->out_directory, t->name);
		rt_npy_write(path, &a);
		free(path);
	}
	if (s->out_files[i])
		rt_npy_write(s->out_files[i], &a);
}

static void
deliver(const Settings *s, const Whole *results)
{
	for (int i = 0; i < s->program->nresults; i++)
		if (s->writes)
			write_result(s, i, results[i].data);
		else if (!s->times)
			rt_report_result(&s->program->results[i], results[i].data, stdout);
}

/* ---- the whole ---- */

static int
run(Settings *s)
{
	const shdrt_program *p = s->program;
	Whole *results = rt_get_zeroed((size_t)p->nresults, sizeof *results);
	Whole *fed = rt_get_zeroed((size_t)p->nparams, sizeof *fed);
	if (s->steps)
		check_feedback(p);
	open_sources(s);
	rt_externs_load(p->externs);
	if (s->out_directory)
		make_directory(s->out_directory);
	for (int i = 0; i < p->nresults; i++)
		if (s->out_files[i])
			check_output(s->out_files[i]);
	Machine *m = rt_machine_new(p, s->timeout);
	for (int i = 0; i < p->nresults; i++)
		results[i].data = rt_get_memory(1, rt_tensor_bytes(&p->results[i]));
	double seconds = s->times ? run_times(s, m, results) : run_steps(s, m, results, fed);
	deliver(s, results);
	if (s->stats)
		rt_report_stats(m, seconds, stdout);
	rt_machine_free(m);
	int status = s->check ? check_results(s, results) : SHDRT_OK;
	close_sources(s);
	for (int i = 0; i < p->nresults; i++)
		free(results[i].data);
	for (int i = 0; i < p->nparams; i++)
		free(fed[i].data);
	free(results);
	free(fed);
	return status;
}

int
shdrt_main(const shdrt_program *p, int argc, char **argv)
{
	Settings s = {.program = p, .timeout = 30};
	rt_fail_name(p->name);
	if (p->abi != SHDRT_ABI)
		rt_fail(SHDRT_INTERNAL,
			"was built for version %d of the runtime, "
			"this is version %d: build it again",
			p->abi, SHDRT_ABI);
	rt_fail_catch_signals();
	s.sources = rt_get_zeroed((size_t)p->nparams, sizeof *s.sources);
	s.out_files = rt_get_zeroed((size_t)p->nresults, sizeof *s.out_files);
	parse_options(&s, argc, argv);
	int status = SHDRT_OK;
	if (s.help)
		print_help(p);
	else if (s.list)
		rt_report_list(p, stdout);
	else
		status = run(&s);
	free(s.sources);
	free(s.out_files);
	if (fflush(stdout) != 0 || ferror(stdout))
		rt_fail(SHDRT_IO, "standard output: %s", strerror(errno));
	return status;
}

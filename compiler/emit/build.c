/*
 * build.c - from C text to an executable or an object: starts the C compiler
 * with an argument vector, in a private directory that is removed whatever
 * happens; the output is renamed to its name when it is complete.
 *
 * The runtime is found beside shdc: in the build tree it was made in, else
 * under the prefix it is installed in.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "emit/emit.h"
#include "emit/config.h"

typedef struct Command {
	Session *session;
	const char *directory; /* private to it */
	const char **argv;
	int n;
} Command;

typedef struct Runtime {
	const char *include, *runtime, *eval;
} Runtime;

static void
add(Command *c, const char *argument)
{
	APPEND(c->session->arena, c->argv, c->n, argument);
}

static void
add_words(Command *c, const char *words)
{
	while (words && *words) {
		size_t n = strcspn(words, " \t\n");
		if (n)
			add(c, arena_strndup(c->session->arena, words, n));
		words += n + (words[n] != 0);
	}
}

/* ---- where things are --------------------------------------------------- */

static const char *
own_directory(Session *s)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	if (n < 0)
		return ".";
	path[n] = 0;
	char *slash = strrchr(path, '/');
	return arena_strndup(s->arena, path, (size_t)(slash - path));
}

static bool
runtime_at(Session *s, const char *library, const char *include, const char *runtime,
	const char *eval, Runtime *r)
{
	const char *own = own_directory(s);

	r->include =
		include[0] == '/' ? include : arena_printf(s->arena, "%s/%s", own, include);
	r->runtime = arena_printf(s->arena, "%s/%s/%s", own, library, runtime);
	r->eval = arena_printf(s->arena, "%s/%s/%s", own, library, eval);
	return !access(r->runtime, R_OK);
}

static bool
find_runtime(Session *s, Runtime *r)
{
	if (runtime_at(s, "../..", SHDC_RUNTIME_SOURCE, "runtime/libshdrt.a",
		    "compiler/eval/libshdeval.a", r))
		return true;
	if (runtime_at(s, "../" SHDC_LIBDIR, "../" SHDC_INCLUDEDIR, "libshdrt.a",
		    "libshdeval.a", r))
		return true;
	diag(s, DIAG_tool_failed, (Range){0},
		"the runtime library is not where shdc is installed: no %s", r->runtime);
	return false;
}

/* The program's file, along PATH unless it has a slash; NULL: none. */
static const char *
program_path(Session *s, const char *name)
{
	const char *path = getenv("PATH");

	if (strchr(name, '/'))
		return access(name, X_OK) ? NULL : name;
	for (path = path ? path : "/bin:/usr/bin"; path;) {
		size_t n = strcspn(path, ":");
		const char *file =
			arena_printf(s->arena, "%.*s/%s", n ? (int)n : 1, n ? path : ".", name);
		if (!access(file, X_OK))
			return file;
		path = path[n] ? path + n + 1 : NULL;
	}
	return NULL;
}

/* By the name that links lead to: cc -> gcc -> x86_64-linux-gnu-gcc-12. */
static bool
is_gcc(const char *path)
{
	char resolved[PATH_MAX];

	if (!path || !realpath(path, resolved))
		return false;
	return strstr(strrchr(resolved, '/'), "gcc") != NULL;
}

/* ---- the command -------------------------------------------------------- */

/*
 * Loops vectorise and floats round as written: no contraction to fused
 * multiply-adds.  Buffers of different types share memory.
 */
static const char *const flags[] = {"-std=gnu11", "-march=native", "-ffp-contract=off",
	"-fno-trapping-math", "-fno-math-errno", "-fwrapv", "-fno-strict-aliasing"};

static void
add_flags(Command *c, const BuildOptions *o)
{
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
		add(c, flags[i]);
	add(c, arena_printf(c->session->arena, "-O%d", o->optimize));
	if (o->optimize == 2)
		add(c, "-ftree-vectorize");
	/* gcc vectorises little at -O2; clang does not know its word for it. */
	if (o->optimize == 2 && is_gcc(program_path(c->session, c->argv[0])))
		add(c, "-fvect-cost-model=dynamic");
	if (o->debug)
		add(c, "-g");
	add_words(c, o->cflags);
}

static bool
run(Command *c)
{
	int status;

	if (!program_path(c->session, c->argv[0])) {
		diag(c->session, DIAG_no_compiler, (Range){0}, "there is no C compiler '%s'",
			c->argv[0]);
		diag_line(c->session, "--cc=PATH names one; --interpret needs none");
		return false;
	}
	add(c, NULL);
	if (!process_run(c->session, c->argv, c->directory, &status))
		return false;
	if (status)
		diag(c->session, DIAG_tool_failed, (Range){0}, "%s failed with status %d",
			c->argv[0], status);
	return !status;
}

/* A device, say: linkers replace what they are told to write. */
static bool
is_special(const char *path)
{
	struct stat status;

	return !stat(path, &status) && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/* A compiler that does nothing may be content with it. */
static bool
was_made(Command *c, const char *made)
{
	struct stat status;

	if (!stat(made, &status) && status.st_size > 0)
		return true;
	diag(c->session, DIAG_tool_failed, (Range){0},
		"%s ended without an error, but made nothing", c->argv[0]);
	return false;
}

static bool
copy_to(Session *s, const char *made, const char *output)
{
	FILE *f = fopen(made, "rb");
	Text t = {0};
	char block[4096];
	size_t n;

	while (f && (n = fread(block, 1, sizeof block, f)) > 0)
		text_addn(&t, block, n);
	if (f)
		fclose(f);
	bool good = file_write(s, output, t.n ? t.s : "", t.n);
	text_free(&t);
	return good;
}

/* The libraries of extern functions, and where they are when it runs. */
static void
add_libraries(Command *c, const Externs *externs)
{
	Arena *a = c->session->arena;

	for (int i = 0; i < externs->n; i++) {
		const char *path = externs->paths[i];
		const char *slash = strrchr(path, '/');
		bool again = false;
		for (int k = 0; k < i; k++)
			again |= !strcmp(externs->paths[k], path);
		if (again)
			continue;
		const char *directory = arena_strndup(a, path, (size_t)(slash - path));
		add(c, "-Xlinker");
		add(c, "--no-as-needed");
		add(c, arena_printf(a, "-L%s", directory));
		add(c, arena_printf(a, "-l:%s", slash + 1));
		add(c, "-Xlinker");
		add(c, "-rpath");
		add(c, "-Xlinker");
		add(c, directory);
	}
}

static void
add_link(Command *c, const Runtime *r, const Externs *externs)
{
	if (externs->n)
		add_libraries(c, externs);
	add(c, r->eval);
	add(c, r->runtime);
	add_words(c, SHDC_LINK);
	if (externs->n)
		add_words(c, SHDC_LINK_EXTERN);
}

static bool
build(Session *s, const Text *text, const char *output, const BuildOptions *o,
	const Externs *externs)
{
	const char *directory = directory_private(s), *made;
	bool special = is_special(output);
	Command c = {.session = s, .directory = directory};
	Runtime r;

	if (!directory || !find_runtime(s, &r))
		return false;
	made = special ? arena_printf(s->arena, "%s/program", directory)
		       : file_beside(s, output);
	if (!made)
		return false;
	const char *source = arena_printf(s->arena, "%s/program.c", directory);
	if (!file_write(s, source, text->s, text->n))
		return false;
	add(&c, o->cc ? o->cc : "cc");
	add_flags(&c, o);
	add(&c, "-I");
	add(&c, r.include);
	add(&c, "-o");
	add(&c, made);
	if (!externs)
		add(&c, "-c");
	add(&c, source);
	if (externs)
		add_link(&c, &r, externs);
	if (!run(&c) || !was_made(&c, made))
		return false;
	return special ? copy_to(s, made, output) : file_keep(s, made, output);
}

bool
build_executable(Session *s, const Text *c, const char *output, const BuildOptions *o,
	const Externs *externs)
{
	return build(s, c, output, o, externs);
}

bool
build_object(Session *s, const Text *c, const char *output, const BuildOptions *o)
{
	return build(s, c, output, o, NULL);
}

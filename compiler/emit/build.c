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
	const char **argv;
	int n;
	const char *include, *runtime, *eval; /* of the runtime */
} Command;

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

/* From shdc's directory: in the build tree, and installed. */
static const struct {
	const char *include, *libraries, *runtime, *eval;
} places[] = {
	{SHDC_RUNTIME_SOURCE, "../..", "runtime/libshdrt.a", "compiler/eval/libshdeval.a"},
	{"../" SHDC_INCLUDEDIR, "../" SHDC_LIBDIR, "libshdrt.a", "libshdeval.a"},
};

static bool
find_runtime(Command *c)
{
	Arena *a = c->session->arena;
	const char *own = own_directory(a);

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		c->include = places[i].include;
		if (*c->include != '/')
			c->include = arena_printf(a, "%s/%s", own, c->include);
		c->runtime = arena_printf(a, "%s/%s/%s", own, places[i].libraries,
			places[i].runtime);
		c->eval = arena_printf(a, "%s/%s/%s", own, places[i].libraries, places[i].eval);
		if (!access(c->runtime, R_OK))
			return true;
	}
	diag(c->session, DIAG_tool_failed, nowhere,
		"the runtime library is not where shdc is installed: no %s", c->runtime);
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

/* ---- the command -------------------------------------------------------- */

/*
 * Loops vectorise and floats round as written: no contraction to fused
 * multiply-adds.  Buffers of different types share memory.
 */
static const char flags[] = "-std=gnu11 -march=native -ffp-contract=off -fno-trapping-math "
			    "-fno-math-errno -fwrapv -fno-strict-aliasing";

/* The libraries of extern functions, where they are when it runs too, and ours. */
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
	add(c, c->eval);
	add(c, c->runtime);
	add_words(c, SHDC_LINK);
	if (externs->n)
		add_words(c, SHDC_LINK_EXTERN);
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

/* gcc is known by the name that links lead to: cc -> gcc -> x86_64-linux-gnu-gcc-12. */
static bool
is_gcc(const char *path)
{
	char resolved[PATH_MAX];

	return realpath(path, resolved) && strstr(strrchr(resolved, '/'), "gcc");
}

/* Does one of the words begin so? */
static bool
asks_for(const BuildOptions *o, const char *flag)
{
	const char *at = o->cflags;

	while (at && (at = strstr(at, flag)) && at != o->cflags && at[-1] != ' ')
		at++;
	return at;
}

/* Are lines of the runtime wanted, too?  By a debugger, or in what a sanitizer tells. */
static bool
wants_lines(const BuildOptions *o)
{
	return o->debug || asks_for(o, "-g") || asks_for(o, "-fsanitize");
}

/* What is compiled for: vector loops, and a link of half the time and a quarter the bytes. */
static void
add_options(Command *c, const BuildOptions *o, bool gcc, bool linked)
{
	add_words(c, flags);
	add(c, arena_printf(c->session->arena, "-O%d", o->optimize));
	if (o->optimize == 2)
		add(c, "-ftree-vectorize");
	/* gcc vectorises little at -O2; clang does not know its word for it. */
	if (o->optimize == 2 && gcc)
		add(c, "-fvect-cost-model=dynamic");
	if (o->debug)
		add(c, "-g");
	/* Objects and archives of plain code: nothing that the plugin is for. */
	if (linked && gcc && !SHDC_LTO && !asks_for(o, "-flto"))
		add(c, "-fno-use-linker-plugin");
	if (linked && !wants_lines(o))
		add(c, "-Wl,--strip-debug");
	add_words(c, o->cflags);
}

bool
build_program(Session *s, const Text *t, const char *output, const BuildOptions *o,
	const Externs *externs)
{
	const char *cc = o->cc ? o->cc : "cc", *path = program_path(s, cc);
	const char *directory = directory_private(s);
	Command c = {.session = s};
	struct stat status;
	int failed;

	if (!directory || !find_runtime(&c))
		return false;
	/* A device, say: linkers replace what they are told to write. */
	bool special =
		!stat(output, &status) && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
	const char *source = arena_printf(s->arena, "%s/program.c", directory);
	const char *made = special ? arena_printf(s->arena, "%s/program", directory)
				   : file_beside(s, output);
	if (!made || !file_write(s, source, t->s, t->n))
		return false;
	if (!path) {
		diag(s, DIAG_no_compiler, nowhere, "there is no C compiler '%s'", cc);
		diag_line(s, "--cc=PATH names one; --interpret needs none");
		return false;
	}

	add(&c, cc);
	add_options(&c, o, is_gcc(path), externs);
	add(&c, "-I");
	add(&c, c.include);
	add(&c, "-o");
	add(&c, made);
	if (!externs)
		add(&c, "-c");
	add(&c, source);
	if (externs)
		add_libraries(&c, externs);
	add(&c, NULL);

	if (!process_run(s, c.argv, directory, &failed))
		return false;
	if (failed)
		diag(s, DIAG_tool_failed, nowhere, "%s failed with status %d", cc, failed);
	else if (stat(made, &status) || !status.st_size)
		diag(s, DIAG_tool_failed, nowhere,
			"%s ended without an error, but made nothing", cc);
	else
		return special ? copy_to(s, made, output) : file_keep(s, made, output);
	return false;
}

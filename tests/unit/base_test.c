/*
 * base_test.c - arena, text, table, arithmetic, units, sources and diagnostics.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

static int tests;

static void
ok(bool good, const char *name)
{
	printf("%s %d - %s\n", good ? "ok" : "not ok", ++tests, name);
}

static void
test_arena(void)
{
	Arena *a = arena_new();
	int *numbers = NULL;
	int n = 0;
	bool right = true, aligned = true;

	for (int i = 0; i < 100000; i++)
		APPEND(a, numbers, n, i);
	for (int i = 0; i < n; i++)
		right = right && numbers[i] == i;
	ok(right && n == 100000, "an arena array grows");
	for (size_t bytes = 0; bytes < 300000; bytes = bytes * 3 + 1)
		aligned = aligned && (uintptr_t)arena_alloc(a, bytes) % 16 == 0;
	ok(aligned, "allocations are aligned, large ones too");
	ok(strcmp(arena_printf(a, "%d-%s", 7, "x"), "7-x") == 0, "printf");
	arena_free(a);
}

/* Numbers are changed and made after an image, in chunks of all sizes. */
static void
test_arena_image(void)
{
	Arena *a = arena_new();
	int *numbers[1000];
	bool right = true, zeroed = true;

	for (int i = 0; i < 1000; i++) {
		numbers[i] = NEW_ARRAY(a, int, i *i % 20000 + 1);
		*numbers[i] = i;
	}
	for (int k = 0; k < 3; k++) {
		ArenaImage *image = arena_image(a);
		for (int i = 0; i < 2000; i++)
			*NEW_ARRAY(a, int, i *i % 20000 + 1) = *numbers[i / 2] = -i - 1;
		if (k == 1)
			arena_image_free(image);
		else
			arena_return(a, image);
		for (int i = 0; i < 1000; i++)
			right &= *numbers[i] == (k ? -2 * i - 2 : i);
		for (size_t bytes = 1; bytes < 300000; bytes = bytes * 3 + 1) {
			const char *new = arena_alloc(a, bytes);
			zeroed &= !new[0] && !memcmp(new, new + 1, bytes - 1);
		}
	}
	ok(right, "an arena is as it was in its image, if it returns to that");
	ok(zeroed, "... and what is made then is zero");
	arena_free(a);
}

/* One image in another: what was there at the first is kept by both. */
static void
test_arena_images(void)
{
	Arena *a = arena_new();
	char *old = NEW_ARRAY(a, char, 100000), *between;

	*old = 'a';
	ArenaImage *outer = arena_image(a);
	between = NEW_ARRAY(a, char, 100000);
	*old = *between = 'b';
	ArenaImage *inner = arena_image(a);
	for (int i = 0; i < 2; i++) {
		*NEW_ARRAY(a, char, 100000) = *old = *between = 'c';
		arena_restore(a, inner);
	}
	arena_image_free(inner);
	bool right = *old == 'b' && *between == 'b';
	arena_return(a, outer);
	ok(right && *old == 'a', "... and so in an image inside of another");
	arena_free(a);
}

static void
test_table(void)
{
	Arena *a = arena_new();
	Table *t = table_new(a);
	bool right = true;

	for (int i = 0; i < 5000; i++)
		table_set(t, arena_printf(a, "k%d", i), arena_printf(a, "%d", i));
	for (int i = 0; i < 5000; i++) {
		const char *v = table_get(t, arena_printf(a, "k%d", i));

		right = right && v && atoi(v) == i;
	}
	ok(right && table_count(t) == 5000, "every key is found");
	ok(!table_get(t, "k5000"), "an absent key is not");
	table_set(t, "k3", NULL);
	ok(table_count(t) == 5000 && !table_value(t, 3) && strcmp(table_key(t, 3), "k3") == 0,
		"setting again keeps the order");
	arena_free(a);
}

static void
test_arithmetic(void)
{
	int64_t r;

	ok(!mul_i64(INT64_MAX, 2, &r) && mul_i64(3, -4, &r) && r == -12,
		"mul_i64 reports overflow");
	ok(!add_i64(INT64_MAX, 1, &r) && add_i64(3, -4, &r) && r == -1,
		"add_i64 reports overflow");
	ok(gcd_i64(12, -18) == 6 && gcd_i64(0, 5) == 5, "gcd_i64");
}

static void
test_units(void)
{
	static const double parts[] = {0, 0.36, 9.94, 9.96, 12.4, 100};
	Text t = {0};

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		text_percent(&t, parts[i], 100);
	text_percent(&t, 0, 0);
	ok(strcmp(t.s, "0.0 %0.4 %9.9 %10 %12 %100 %0 %") == 0, "a share has two digits");
	text_free(&t);

	static const double times[] = {0, 1e-14, 8e-11, 1.23e-10, 1.234567e-6, 999.6e-6};
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		text_seconds(&t, times[i]);
	ok(strcmp(t.s, "0 us0 us0.000080 us0.000123 us1.23 us1 ms") == 0,
		"a time has three digits and no exponent");
	text_free(&t);
}

/* What is printed for one message at `begin`..`end` of `source`. */
static char *
message(Session *s, const char *source, int begin, int end)
{
	char *out = NULL;
	size_t n = 0;
	int file = source_add_text(s, "a.shd", source, (int)strlen(source));
	Range r = {file, 1, begin, end};

	s->err = open_memstream(&out, &n);
	diag(s, DIAG_unreadable, r, "bad '%s'", "thing");
	diag_label(s, r, "here");
	diag_note(s, (Range){0}, "a note");
	diag_line(s, "a line");
	diag_flush(s);
	fclose(s->err);
	s->err = stderr;
	return out;
}

static void
expect_message(const char *name, Session *s, const char *source, int begin, int end,
	const char *wanted)
{
	char *got = message(s, source, begin, end);

	ok(strcmp(got, wanted) == 0, name);
	if (strcmp(got, wanted))
		printf("# got:\n%s# wanted:\n%s", got, wanted);
	free(got);
}

static void
test_diagnostics(void)
{
	Session *s = session_new();

	expect_message("an excerpt with its caret", s, "one\nlet x = y;\n", 12, 13,
		"a.shd:2:9: error[SHD0301]: bad 'thing'\n"
		"    2 | let x = y;\n"
		"      |         ^ here\n"
		"  note: a note\n"
		"  a line\n");
	expect_message("tabs and wide characters keep carets in place", s,
		"\t/* \xe4\xb8\xad\xc3\xa9 */ yy;", 13, 15,
		"a.shd:1:11: error[SHD0301]: bad 'thing'\n"
		"    1 |     /* \xe4\xb8\xad\xc3\xa9 */ yy;\n"
		"      |               ^~ here\n"
		"  note: a note\n"
		"  a line\n");
	expect_message("control characters are not printed", s, "\033[31m \xff x", 8, 9,
		"a.shd:1:9: error[SHD0301]: bad 'thing'\n"
		"    1 | ?[31m ? x\n"
		"      |         ^ here\n"
		"  note: a note\n"
		"  a line\n");
	s->width = 40;
	expect_message("a long line is clipped around the caret", s,
		"0123456789012345678901234567890123456789"
		"0123456789012345678901234567890123456789",
		50, 52,
		"a.shd:1:51: error[SHD0301]: bad 'thing'\n"
		"    1 | ...78901234567890123456789012...\n"
		"      |                 ^~ here\n"
		"  note: a note\n"
		"  a line\n");
	s->json = true;
	expect_message("JSON", s, "a\"b", 1, 2,
		"{\"severity\": \"error\", \"code\": \"SHD0301\", "
		"\"file\": \"a.shd\", \"line\": 1, \"column\": 2, "
		"\"end_line\": 1, \"end_column\": 3, "
		"\"message\": \"bad 'thing'\", \"labels\": [{"
		"\"file\": \"a.shd\", \"line\": 1, \"column\": 2, "
		"\"end_line\": 1, \"end_column\": 3, \"text\": \"here\"}], "
		"\"notes\": [{\"file\": null, \"text\": \"a note\"}], "
		"\"lines\": [\"a line\"], \"choices\": []}\n");
	ok(diag_errors(s) == 5 && diag_status(s) == EXIT_IO, "errors count");
	session_free(s);
}

typedef struct Pieces {
	int *left_behind; /* shared */
	int seen;	  /* not */
} Pieces;

enum { DEADLY = 7 };

static void
piece(void *data, int64_t i)
{
	Pieces *p = data;

	if (i == DEADLY)
		_exit(1);
	p->left_behind[i] = 1 + p->seen++;
}

/* A process of its own begins as ours is; what one dies of stays undone. */
static void
test_workers(void)
{
	enum { N = 20 };
	size_t bytes = N * sizeof(int);
	Pieces p = {.left_behind = shared_new(bytes)};
	bool done = true, first = true;

	work_share(&(Workload){.n = N, .piece = piece, .data = &p});
	for (int i = 0; i < N; i++)
		done &= (p.left_behind[i] != 0) == (i != DEADLY);
	ok(done && !p.seen, "pieces of work are done by others, but for one that dies");
	work_share(&(Workload){.n = N, .piece = piece, .data = &p, .alone = true});
	for (int i = 0; i < N; i++)
		first &= p.left_behind[i] == (i != DEADLY);
	ok(first, "each in a process of its own");
	shared_free(p.left_behind, bytes);
}

static void
end_badly(void *data, int64_t i)
{
	(void)data;
	if (i == 0)
		exit(EXIT_MEMORY);
	raise(SIGTERM);
}

/* What we doomed is ours to sweep. */
static void
test_endings(void)
{
	char path[] = "/tmp/base_test.XXXXXX";
	int fd = mkstemp(path);
	sigset_t before;

	endings_hold(&before);
	path_doom(path);
	endings_release(&before);
	work_share(&(Workload){.n = 2, .piece = end_badly, .alone = true});
	ok(fd >= 0 && access(path, F_OK) == 0, "workers that end leave what is doomed to us");
	path_pardon(path);
	unlink(path);
	close(fd);
}

int
main(void)
{
	test_arena();
	test_arena_image();
	test_arena_images();
	test_table();
	test_arithmetic();
	test_units();
	test_diagnostics();
	test_workers();
	test_endings();
	printf("1..%d\n", tests);
	return 0;
}

/*
 * fail.c - how a program that cannot go on ends: one message, the documented
 * exit status, nothing partial left behind.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

static const char *program_name = "shdrt";
static atomic_flag speaking = ATOMIC_FLAG_INIT;
typedef struct Unfinished {
	struct Unfinished *next;
	char path[];
} Unfinished;
/* Read by signal handlers: what is in the list never moves. */
static Unfinished *volatile unfinished;
static const char *volatile made; /* a directory, for what is to come */
static volatile bool on_line;
static _Thread_local int64_t thread_device = -1;
static _Thread_local const shdrt_extern_call *thread_call;

void
rt_fail_name(const char *program)
{
	program_name = program;
}

void
rt_fail_thread_device(int64_t id)
{
	thread_device = id;
}

void
rt_fail_thread_call(const shdrt_extern_call *c)
{
	thread_call = c;
}

void
rt_fail_remove(const char *path)
{
	size_t room = strlen(path) + 1;
	Unfinished *u = rt_get_memory(1, sizeof *u + room);
	memcpy(u->path, path, room);
	u->next = unfinished;
	unfinished = u;
}

void
rt_fail_forget(void)
{
	Unfinished *u = unfinished, *next;
	for (unfinished = NULL; u; u = next) {
		next = u->next;
		free(u);
	}
}

void
rt_fail_made(const char *directory)
{
	made = directory;
}

void
rt_fail_on_line(bool on)
{
	on_line = on;
}

static void
remove_unfinished(void)
{
	const char *directory = made;
	for (const Unfinished *u = unfinished; u; u = u->next)
		unlink(u->path);
	if (directory)
		rmdir(directory); /* unless there is something in it */
}

/* Whoever comes second has nothing to add: often a consequence. */
static void
speak_alone(void)
{
	static _Thread_local bool speaks;
	while (!speaks && atomic_flag_test_and_set(&speaking))
		pause();
	speaks = true;
}

void
rt_fail(int status, const char *fmt, ...)
{
	speak_alone();
	fflush(stdout);
	fprintf(stderr, "%s%s: ", on_line ? "\n" : "", program_name);
	va_list ap;
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	remove_unfinished();
	_exit(status);
}

static void
say(const char *text)
{
	ssize_t written = write(2, text, strlen(text));
	(void)written; /* nothing can be done about it here */
}

static void
say_number(int64_t value)
{
	char digits[24];
	size_t at = sizeof digits - 1;
	digits[at] = 0;
	do
		digits[--at] = (char)('0' + value % 10);
	while ((value /= 10) > 0 && at > 0);
	say(digits + at);
}

static const struct {
	int signal;
	const char *name;
} crashes[] = {
	{SIGSEGV, "invalid memory access"},
	{SIGILL, "illegal instruction"},
	{SIGFPE, "arithmetic fault"},
	{SIGABRT, "abort"},
};
enum { NCRASHES = sizeof crashes / sizeof *crashes };

/* Only async-signal-safe calls from here on. */
static void
say_place(const shdrt_extern_call *c)
{
	say(" in extern function '");
	say(c->name);
	say("' (");
	say(c->file);
	say(":");
	say_number(c->line);
	say(")");
}

static void
crashed(int number)
{
	const shdrt_extern_call *call = thread_call;
	if (thread_device < 0 && !call) {
		remove_unfinished();
		signal(number, SIG_DFL);
		raise(number);
		return;
	}
	speak_alone();
	say(on_line ? "\n" : "");
	say(program_name);
	say(thread_device < 0 ? ": the interpreter" : ": device ");
	if (thread_device >= 0)
		say_number(thread_device);
	say(" was lost: ");
	for (int i = 0; i < NCRASHES; i++)
		if (crashes[i].signal == number)
			say(crashes[i].name);
	if (call)
		say_place(call);
	say("\n");
	remove_unfinished();
	_exit(SHDRT_PEER_LOST);
}

/* Pages of a mapped file that are no longer there. */
static void
file_shrank(int number)
{
	(void)number;
	speak_alone();
	say(program_name);
	say(": a tensor file became shorter while it was read\n");
	remove_unfinished();
	_exit(SHDRT_IO);
}

static void
interrupted(int number)
{
	remove_unfinished();
	signal(number, SIG_DFL);
	raise(number);
}

/* Leaves alone what somebody else (a sanitizer, a parent) has set. */
static void
catch_default(int number, void (*handler)(int))
{
	struct sigaction old, wanted;
	memset(&wanted, 0, sizeof wanted);
	wanted.sa_handler = handler;
	wanted.sa_flags = SA_ONSTACK;
	if (sigaction(number, NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO)
		&& old.sa_handler == SIG_DFL)
		sigaction(number, &wanted, NULL);
}

void
rt_fail_catch_signals(void)
{
	static const int endings[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGPIPE};
	for (int i = 0; i < NCRASHES; i++)
		catch_default(crashes[i].signal, crashed);
	catch_default(SIGBUS, file_shrank);
	/* A file beyond the user's limit is an error of write(). */
	catch_default(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		catch_default(endings[i], interrupted);
}

void *
rt_get_memory(size_t n, size_t element_bytes)
{
	size_t bytes;
	void *p = NULL;
	if (!__builtin_mul_overflow(n, element_bytes, &bytes))
		p = malloc(bytes ? bytes : 1);
	if (!p)
		rt_fail(SHDRT_MEMORY, "out of memory: %zu x %zu bytes wanted", n,
			element_bytes);
	return p;
}

void *
rt_get_zeroed(size_t n, size_t element_bytes)
{
	void *p = calloc(n ? n : 1, element_bytes);
	if (!p)
		rt_fail(SHDRT_MEMORY, "out of memory: %zu x %zu bytes wanted", n,
			element_bytes);
	return p;
}

/*
 * base.h - what every folder of the compiler stands on: memory, text, source
 * files and diagnostics.  Knows nothing of the language or the IR.
 *
 * Memory: one Arena per Session; nothing allocated from it is freed before
 * the session ends.  What only one pass or step needs goes to an arena of its
 * own.  Text is the only malloc'ed buffer.
 * Failures: diag_*() is for the user's mistakes, die() for our own bugs.
 */
#ifndef SHDC_BASE_H
#define SHDC_BASE_H

#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__GNUC__)
#define PRINTF_LIKE(fmt, first) __attribute__((format(printf, fmt, first)))
#define NORETURN __attribute__((noreturn))
#else
#define PRINTF_LIKE(fmt, first)
#define NORETURN
#endif

/* Exit statuses of shdc and of built programs. */
enum {
	EXIT_OK = 0,
	EXIT_WRONG = 1, /* the program is wrong; --check mismatch */
	EXIT_USAGE = 2,
	EXIT_IO = 3, /* files, tensor files, tools that failed */
	EXIT_INTERNAL = 4,
	EXIT_MEMORY = 5, /* emulated memory; run-time limits */
	EXIT_DEADLOCK = 10,
	EXIT_MISMATCH = 11, /* collectives that do not agree */
	EXIT_PEER_LOST = 13,
};

/* die.c: shdc's own defects; no memory */
NORETURN void die(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* One that what is asked for can be made in spite of; the status is that of die(). */
void defect(const char *fmt, ...) PRINTF_LIKE(1, 2);
bool defect_told(void);
NORETURN void out_of_memory(void);

/* arena.c */
typedef struct Arena Arena;
/* What is freed waits for the next that needs it. */
void memory_keep(void);
Arena *arena_new(void);
void arena_free(Arena *a);
void arena_reset(Arena *a); /* as new, but for its room; for what one step of many needs */
/* What an arena holds is kept, and is there again at the same addresses after
   arena_restore(), or arena_return(), which frees the image; what was made meanwhile is gone
   then.  Of several the last goes first. */
typedef struct ArenaImage ArenaImage;
ArenaImage *arena_image(Arena *a);
void arena_restore(Arena *a, const ArenaImage *image);
void arena_return(Arena *a, ArenaImage *image);
void arena_image_free(ArenaImage *image);
void *arena_alloc(Arena *a, size_t bytes); /* zeroed, 16-aligned */
void *arena_copy(Arena *a, const void *data, size_t bytes);
char *arena_strndup(Arena *a, const char *s, size_t n);
char *arena_printf(Arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
char *arena_vprintf(Arena *a, const char *fmt, va_list ap);
#define NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define NEW_ARRAY(arena, type, n) ((type *)arena_alloc((arena), sizeof(type) * (size_t)(n)))
/* Things of one kind side by side: whoever walks over them meets nothing
   else.  {0} is an empty pool. */
typedef struct Pool {
	char *next;
	size_t left; /* bytes */
} Pool;
void *pool_alloc(Pool *p, Arena *a, size_t bytes); /* zeroed */
/*
 * Growth of an arena array: call before appending element number `n`.
 * Doubles at powers of two; the old copy stays in the arena.
 */
void *arena_grow(Arena *a, void *array, size_t n, size_t element_bytes);
#define APPEND(arena, array, n, value) \
	((array) = arena_grow((arena), (array), (size_t)(n), sizeof *(array)), \
		(array)[(n)++] = (value))

/* text.c: a growable string.  {0} is an empty one; text_free() when done. */
typedef struct Text {
	char *s; /* NUL-terminated once anything was added */
	size_t n, capacity;
} Text;
void text_add(Text *t, const char *s);
void text_addn(Text *t, const char *s, size_t n);
void text_printf(Text *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
void text_vprintf(Text *t, const char *fmt, va_list ap);
/* "1, 2, 3" */
void text_numbers(Text *t, int n, const int64_t *v, const char *between);
void text_free(Text *t);
/* What it holds, moved to the arena; the text is empty again. */
char *text_take(Text *t, Arena *a);
/* units.c, three digits: "12.3 KiB" of memory, "3.15 kB" of traffic (powers of
   ten), "4 us" */
void text_memory(Text *t, double bytes);
void text_traffic(Text *t, double bytes);
void text_count(Text *t, double count); /* "2.2 T", for a unit to follow */
void text_seconds(Text *t, double seconds);
void text_picoseconds(Text *t, int64_t picoseconds);
void text_flops(Text *t, double flops);
void text_percent(Text *t, double part, double whole); /* "0.4 %", "12 %": two digits */
/* Letters, digits and _, of which the first is no digit. */
bool is_identifier(const char *s);
/* utf8.c: in quotes, as JSON has it */
void text_json(Text *t, const char *s);
/* runtime/nearest.c, of which base is built, too: the nearest of n words, for "did you
   mean"; NULL if none is near. */
const char *rt_nearest_word(const char *word, const char *const *words, int n);
/* runtime/names.c: the same name, as Python writes a path or with dots. */
bool rt_same_name(const char *a, const char *b);

/* table.c: string -> pointer, insertion ordered; keys are not copied. */
typedef struct Table Table;
Table *table_new(Arena *a);
void *table_get(const Table *table, const char *key); /* NULL if absent */
void table_set(Table *table, const char *key, void *value);
bool table_add(Table *table, const char *key, void *value); /* false if known */
void table_clear(Table *table);				    /* keeps its memory */
int table_count(const Table *table);
const char *table_key(const Table *table, int i); /* in order of insertion */
void *table_value(const Table *table, int i);

/* lookup.c: hash -> item.  lookup_find() gives the item that is the same as
   `key`, NULL if there is none, in which case it may be added. */
typedef struct Lookup Lookup;
typedef bool LookupSame(const void *item, const void *key);
Lookup *lookup_new(Arena *a);
void *lookup_find(const Lookup *x, uint64_t hash, LookupSame *same, const void *key);
void lookup_add(Lookup *x, uint64_t hash, void *item);
void lookup_clear(Lookup *x);		  /* keeps its memory */
uint64_t hash_mix(uint64_t h, int64_t v); /* h with v added */

/*
 * vertex_cut.c: the lightest vertices of a graph that separate its sources from its sinks.
 * Weights are 1 or more, or a cut has vertices for nothing; a way from a source to a sink
 * has one that is cut.  Of cuts that weigh as much it is the one nearest to the sources, or
 * to the sinks.  What a source leads to is before it, all else that is not on it behind it.
 */
typedef struct VertexCut VertexCut;
typedef enum CutSide { CUT_before, CUT_on, CUT_behind } CutSide;
VertexCut *vertex_cut_new(Arena *a);
int vertex_cut_add(VertexCut *cut, int64_t weight, bool source); /* vertices count from 0 */
void vertex_cut_sink(VertexCut *cut, int vertex);
void vertex_cut_edge(VertexCut *cut, int from, int to);
int64_t vertex_cut_find(VertexCut *cut, bool near_sinks);  /* what they weigh */
CutSide vertex_cut_side(const VertexCut *cut, int vertex); /* ... once that is known */

/* 64-bit arithmetic that reports overflow (false). */
bool mul_i64(int64_t a, int64_t b, int64_t *result);
static inline int64_t
lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t
greater(int64_t a, int64_t b)
{
	return a > b ? a : b;
}
bool add_i64(int64_t a, int64_t b, int64_t *result);
int64_t gcd_i64(int64_t a, int64_t b);

/*
 * source.c: the files of a session.  A Range is a span of bytes in one of
 * them; file 0 means "nowhere".  Modules read from .hlo know only names and
 * lines: there the file has no text, and begin == end == 0 but for the ops of
 * explicit code.
 */
typedef struct Range {
	int file;	/* 1.. index, 0 none */
	int line;	/* 1-based line of `begin` */
	int begin, end; /* byte offsets, end exclusive */
} Range;
extern const Range nowhere; /* source.c */

typedef struct SourceFile {
	const char *path; /* as the user wrote it; "<stdin>" for - */
	const char *text; /* NULL when only the name is known */
	int length;
	int *line_starts; /* byte offset of each line */
	int nlines;
} SourceFile;

typedef struct Session Session;

/* session.c: "-" reads stdin.  0 after a diagnostic (I/O) if it can't be read. */
int source_open(Session *s, const char *path, Range where);
int source_add_text(Session *s, const char *path, const char *text, int n);
int source_known(const Session *s, const char *path); /* 0: it is not */
int source_add_name(Session *s, const char *path);    /* finds or adds */
/* ... with its text, if it is a file that can be read; silently. */
int source_try(Session *s, const char *path);
const SourceFile *source_file(const Session *s, int file);
const char *source_path(const Session *s, int file); /* "" where there is none */
/* What is written there, if anything: a dump has lines only. */
bool source_has_text(const Session *s, Range r);
const char *source_text(const Session *s, Arena *a, Range r);
void source_position(const Session *s, Range r, int *line, int *column);
bool range_equal(Range a, Range b);
Range range_join(Range a, Range b);

/*
 * diag.c: user-facing messages.  diags.def has a row per code: its number,
 * severity, the group it belongs to and the text of --explain-error.
 *
 *   ffn.shd:7:12: error[SHD0201]: contracting letter 'd' is split ...
 *       7 |   return einsum("bd,df->bf", h, W);
 *         |                   ^~ label
 *   note: ...
 *
 * A message is complete when the next one starts or diag_flush() is called:
 * labels, notes and choices added in between belong to it.
 */
typedef enum Severity {
	SEV_error,
	SEV_warning,
	SEV_remark,
} Severity;

typedef enum DiagCode {
#define DIAG(id, number, severity, status, title, explanation) DIAG_##id,
#include "diags.def"
#undef DIAG
	DIAG_COUNT
} DiagCode;

void diag(Session *s, DiagCode code, Range where, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* Another caret with its own words in the message begun last. */
void diag_label(Session *s, Range where, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* "note: ..." with an excerpt when `where` is a place. */
void diag_note(Session *s, Range where, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* ... in the first message only that has it. */
void diag_note_once(Session *s, Range where, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* An indented line of its own. */
void diag_line(Session *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* ... with a choice: the program with `edit` in place of `where` (which may be
   empty) is the one that makes it.  JSON tells both. */
void
diag_choice(Session *s, Range where, const char *edit, const char *fmt, ...) PRINTF_LIKE(4, 5);
void diag_flush(Session *s);
/* What is told from the one to the other is printed at the end, in the order of the places
   in the files. */
void diag_hold(Session *s);
void diag_release(Session *s);
int diag_errors(const Session *s);
/* The exit status the errors so far ask for (table column), 0 if none. */
int diag_status(const Session *s);
const char *diag_explain(const char *number); /* "SHD0201"; NULL unknown */

/*
 * files.c: outputs.  A file is written beside its target and renamed when
 * complete; what is not a regular file is written in place.
 */
bool file_write(Session *s, const char *path, const char *data, size_t n);
/* A new file beside `path`, doomed, for another program to fill: its name,
   or NULL after a diagnostic.  file_keep() renames it to `path`. */
const char *file_beside(Session *s, const char *path);
bool file_keep(Session *s, const char *temporary, const char *path);
/* A new private directory, doomed; NULL after a diagnostic. */
const char *directory_private(Session *s);

/*
 * endings.c: doomed paths (files or directories with files in them) are removed
 * at exit and when a signal ends the program.
 */
void path_doom(const char *path);
void path_pardon(const char *path);
/* The files of a flat directory that is no link, then itself. */
void directory_remove(int parent, const char *name);
/* The signals that end a program wait from here to there, so that what is made
   in between is doomed or known when one is handled. */
void endings_hold(sigset_t *before);
void endings_release(const sigset_t *before);
/* The process that is to end with us, 0 for none; it may lead a group. */
void endings_child(int pid, bool leads);
/* A broken pipe is a failed write from now on. */
void pipes_ignore(void);
/* ... or was before, for who started us. */
bool pipes_ignored(void);
/* It ends the program again, as who started us wants it. */
void pipes_restore(void);
/* Nobody reads what we print: ends by SIGPIPE without a word, as others do.
   Returns where that is ignored. */
void pipe_broken(void);

/*
 * process.c: runs a program (found along PATH unless it has a slash) and
 * waits; no shell.  False after a diagnostic when it could not be started;
 * else *status is its exit status, or 128 + the signal that killed it.  The
 * program is ended when a signal ends us.  A tool is given a directory for its
 * temporary files, NULL for what is no tool.
 */
bool process_run(Session *s, const char *const *argv, const char *directory, int *status);
/* Where the program that runs is: its directory, without a slash. */
const char *own_directory(Arena *a);

/*
 * workers.c: n pieces of work, by as many processes as there are processors, or by this
 * one where none can be started.  What a piece is to leave behind it writes into memory
 * of shared_new(), also that it is done: a process that dies does not tell.
 */
typedef struct Workload {
	int64_t n;
	void (*piece)(void *data, int64_t i);
	void *data;
	bool alone;	/* each has a process of its own, which is as ours is now */
	bool elsewhere; /* no piece is done by this process: rather it ends, out of memory */
	/* Called when a process other than ours has ended, unless that went well; with what
	   waitpid() says. */
	void (*failed)(void *data, int64_t process, int status);
	/* Called before the i-th of n, and after the last. */
	void (*progress)(void *data, int i, int n);
	void *progress_data;
} Workload;
void work_share(const Workload *work);
/* One piece, of number 0, in a process of its own; false: none can be started. */
bool work_apart(void (*piece)(void *data, int64_t i), void *data);
void *shared_new(size_t bytes); /* zeroed; NULL: there is none */
void shared_free(void *p, size_t bytes);

struct Session {
	Arena *arena;
	Arena *lasting;	   /* what is found out and stays so, whatever is tried meanwhile */
	SourceFile *files; /* files[1..nfiles] */
	int nfiles;
	/* how diagnostics look; set by the driver */
	bool json; /* --diagnostics-format=json */
	bool color;
	int width;		       /* columns for excerpts, 0 = unlimited */
	int max_errors;		       /* then "too many errors"; default 20; of
				   warnings as many */
	FILE *err;		       /* default stderr; NULL: count, print nothing */
	struct DiagState *diagnostics; /* private to diag.c */
};
Session *session_new(void);
void session_free(Session *s);

#endif

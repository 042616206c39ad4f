/*
 * internal.h - what the files of the runtime share with each other.
 * Their names begin with rt_: built programs link other libraries, too.
 *
 *   Machine                 the mesh: devices, slabs, groups
 *     shdrt_device          a thread, its slab, its clock
 *     Team                  the devices that meet in a collective: a barrier
 *                           and a slot for each member
 *     Helper                a thread that moves what devices have begun
 *   Kind                    how the devices of the mesh split into teams for
 *                           one list of coordinates (one `group`)
 */
#ifndef SHDRT_INTERNAL_H
#define SHDRT_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "host_memory.h"
#include "nearest.h"
#include "shdrt.h"

#define LINE 64 /* bytes of a cache line; alignment of every buffer */

#if defined(__GNUC__)
#define PRINTF_LIKE(fmt, first) __attribute__((format(printf, fmt, first)))
#define NORETURN __attribute__((noreturn))
#else
#define PRINTF_LIKE(fmt, first)
#define NORETURN
#endif

/* ---- fail.c: one message, one status ---- */

/* Set once by main: what messages begin with. */
void rt_fail_name(const char *program);
/* Prints "NAME: ...", removes the files being written, ends the process.
   Only the first of several threads gets to speak. */
NORETURN void rt_fail(int status, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* A file more to be removed if the program ends before rt_fail_forget(). */
void rt_fail_remove(const char *path);
void rt_fail_forget(void);
/* A directory that was made: removed if the program fails before it is used. */
void rt_fail_made(const char *directory);
/* There is a line on standard error that has not ended. */
void rt_fail_on_line(bool on);
/* Crashes of device threads and signals of the user get the same care. */
void rt_fail_catch_signals(void);
/* Which device the calling thread is, for rt_fail_catch_signals(); -1 none. */
void rt_fail_thread_device(int64_t id);
/* ... and which extern function it is in; NULL none. */
void rt_fail_thread_call(const shdrt_extern_call *c);

/* malloc and calloc that rt_fail() with SHDRT_MEMORY; sizes are checked. */
void *rt_get_memory(size_t n, size_t element_bytes);
void *rt_get_zeroed(size_t n, size_t element_bytes);

/* ---- externs.c: functions of the user's libraries ---- */

/* rt_fail()s with SHDRT_IO where one is missing. */
void rt_externs_load(const shdrt_externs *e);

/* ---- wait.c: barriers, and who is stuck ---- */

typedef struct Machine Machine;

enum { HELPER = -1 }; /* who moved a part, where a device would have its id */

typedef struct Slot {
	_Alignas(LINE) const shdrt_collective *collective;
	char *out;
	uint64_t clock;
	const int32_t *starts, *sizes, *to, *from; /* ragged: by member */
	/* Of what was begun: the last phase in which somebody took this member's
	   part; who and when (host seconds), where that is recorded. */
	atomic_uint taken;
	int64_t mover;
	double moved_from, moved_to;
} Slot;

typedef struct Team {
	int n;
	int slot;		/* of collectives that are begun; 0: they are waited for */
	shdrt_device **members; /* in group order */
	Slot *slots;		/* of each member */
	const char **in;	/* operand of each member */
	int *source;		/* permute: who sends to each member; -1 nobody */
	_Alignas(LINE) atomic_uint arrived;
	_Alignas(LINE) atomic_uint phase; /* barriers completed; futex */
	atomic_uint sleepers;
	uint64_t clock;			  /* agreed by the members that met */
	_Alignas(LINE) atomic_uint moved; /* parts of what is under way */
	/* under the helper's lock */
	bool queued;
	struct Team *next;
} Team;

/* What a device has begun and not waited for. */
typedef struct Flight {
	Team *team; /* NULL: nothing */
	int index;  /* of the device in it */
	unsigned phase;
} Flight;

struct shdrt_device {
	_Alignas(LINE) int64_t id;
	Machine *machine;
	char *slab;
	uint64_t clock;				/* emulated, picoseconds */
	struct Seat *seats;			/* by kind */
	Flight *flights;			/* by slot - 1 */
	struct Record *record;			/* of what it does, or NULL */
	atomic_ullong progress;			/* ticks and barriers outside of `loop` */
	const shdrt_extern_call *_Atomic calls; /* what it is in, or NULL */
	const shdrt_place *_Atomic loop;	/* likewise, of unknown length */
	atomic_bool filled;			/* has its parameters */
	/* under machine->lock, when asleep in a team */
	Team *asleep_in;
	unsigned asleep_phase;
	bool ended;		 /* run() has returned */
	double started, stopped; /* host seconds of the last run */
	pthread_t thread;
};

/* Where a device sits for one kind of group. */
typedef struct Seat {
	Team *team;
	int index; /* within team->members */
} Seat;

/* ---- clock.c: emulated time ---- */

/* A step of the last run. */
typedef struct StepSpan {
	const shdrt_step *step;
	uint64_t start, end; /* emulated */
	double from, to;     /* host seconds */
	int64_t by;	     /* the device that did it here, or HELPER */
	int slot;	     /* of what goes on beside other steps; 0: it does not */
} StepSpan;

/* What a device did in the last run. */
typedef struct Record {
	_Alignas(LINE) int64_t *times; /* by step: how often */
	uint64_t *spent;	       /* by step: what its clock went on by */
	StepSpan *spans;	       /* the first `room` of n */
	size_t n, room;
	double last; /* when the last one ended */
} Record;

/* How often each device does each step in the last run; and when. */
void rt_clock_record(Machine *m, bool spans);
/* The device begins a run. */
void rt_clock_start(shdrt_device *dev);
/* It does a step that begins at `start`. */
void rt_clock_step(shdrt_device *dev, uint64_t start, const shdrt_step *step);
/* What it does next begins just now, here. */
void rt_clock_mark(shdrt_device *dev);
/* ... and before that it moved what is in the slot. */
void rt_clock_moved(shdrt_device *dev, Slot *slot);
/* It waits until what is in a slot is over, which began at `start`. */
void rt_clock_wait(shdrt_device *dev, uint64_t start, const Slot *slot, const shdrt_step *step);
void rt_clock_progress(shdrt_device *dev);
/* Whose clock is the latest: the emulated time of the last run. */
const shdrt_device *rt_clock_slowest(const Machine *m);
void rt_clock_free(Machine *m);

/* ---- json.c: text in JSON files ---- */

/* Inside of a string; what is no UTF-8 is replaced. */
void rt_json_put(FILE *f, const char *text);

/* ---- trace.c: --trace ---- */

/* The last run, which was recorded with its spans. */
void rt_trace_write(const Machine *m, const char *path);

/*
 * Waits for all members.  The last to arrive calls meet(), if any, before
 * anyone goes on.  Ends the program when that can never happen.
 */
void rt_team_wait(shdrt_device *dev, Team *team, void (*meet)(Team *));
/* The same in parts.  The device arrives, and does not wait; is it the last? */
bool rt_team_arrive(shdrt_device *dev, Team *team);
/* Everybody goes on who waits for this phase to end. */
void rt_team_advance(Team *team, unsigned phase);
void rt_team_wait_phase(shdrt_device *dev, Team *team, unsigned phase);
/* The device takes part in no more collectives. */
void rt_device_ends(shdrt_device *dev);
/* "waits at all-reduce ...", "computes"; under the machine's lock. */
void rt_device_doing(const shdrt_device *dev, char *text, size_t n);
double rt_now(void); /* monotonic seconds */

/* ---- transfers.c: collectives that are begun, and the thread that helps ---- */

typedef enum Helps { HELPS_where_spare, HELPS_on, HELPS_off } Helps;

typedef struct Helper {
	pthread_t thread;
	bool there;
	size_t least;	      /* bytes that it is handed */
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t bell;
	Team *_Atomic first; /* begun, in that order */
	Team *last;
	atomic_bool leave;
} Helper;

/* A thread, where there is something to move and somebody to do it. */
void rt_helper_start(Machine *m, Helps helps);
void rt_helper_end(Machine *m);
/* The device, which has a seat and what to move in its slot, begins. */
void rt_transfer_begin(shdrt_device *dev, const Seat *seat, void (*meet)(Team *));
/* What it has begun is over, all parts are moved. */
void rt_transfer_wait(shdrt_device *dev, const Flight *f);

/* ---- watch.c: programs that take too long: --stall and --timeout ---- */

/* Until all devices have ended their program; m->stall ends it before that. */
void rt_watch_run(Machine *m);
/* The same of a launch(), as a thread beside it; `data` is the machine. */
void *rt_watch_launch(void *data);
/* From now on, so many seconds for everything.  Ends with rt_watch_stop(). */
void rt_watch_start(double timeout);
void rt_watch_stop(void);
/* What the program is at, and the machine whose devices are running, or NULL. */
void rt_watch_doing(const char *what, Machine *m);

/* ---- devices.c: the mesh ---- */

typedef struct Kind {
	shdrt_splits group, from;
	const int64_t *source;
	bool permute;
	int slot; /* what is under way at once has teams of its own */
	int64_t nteams;
	Team *teams;
} Kind;

bool rt_same_splits(const shdrt_splits *a, const shdrt_splits *b);
/* Where a crash of the calling thread is told of; NULL where a sanitizer has a stack of
   its own. */
char *rt_signal_stack_new(void);
void rt_signal_stack_free(char *stack);

/* Puts the device's parameters into its slab. */
typedef void Fill(shdrt_device *dev, void *data);

struct Machine {
	const shdrt_program *program;
	shdrt_device *devices;
	int64_t ndevices;
	int nkinds;
	Kind *kinds;
	int *kind_of; /* of each collective of the program */
	Team everyone;
	char *slabs; /* one mapping */
	size_t slab_stride, slab_total;
	bool spins; /* a core for every device */
	Helper helper;
	double stall; /* seconds without progress; 0 none */
	Fill *fill;
	void *fill_data;
	/* who is doing what: everything below is under the lock */
	pthread_mutex_t lock;
	pthread_cond_t start, done;
	unsigned generation; /* of the run; bumped to start one */
	bool leave;	     /* threads return at the next start */
	int64_t asleep, ended;
	atomic_llong filled; /* devices that have their parameters */
	Record *records;     /* of each device, or NULL; what they refer to: */
	int64_t *times;
	uint64_t *spent;
	StepSpan *spans;
};

typedef enum Recorded { RECORD_nothing, RECORD_times, RECORD_spans } Recorded;

/* Threads, slabs and teams; rt_fail()s when there is not enough of anything.  What is
   recorded of a run: nothing; how often each device does each step, and what of its
   slab is touched; and when. */
Machine *rt_machine_new(const shdrt_program *p, double stall, Recorded recorded, Helps helps);
/* Bytes of a slab up to the end of the last line that some device has written to. */
int64_t rt_machine_touched(const Machine *m);
/* Fills every slab (NULL: its parameters are there) and runs the program once on it.
   Host seconds of run(). */
double rt_machine_run(Machine *m, Fill *fill, void *data);
void rt_machine_free(Machine *m);

/* ---- reduce.c: combining elements ---- */

enum { REDUCE_BLOCK = 1024 }; /* elements kept in the first-level cache */

/*
 * out[i] = in[0][i] + in[1][i] + ... in that order, for `count` elements that
 * begin `offset` elements after each in[].  f16 and bf16 are summed in f32 and
 * rounded once.  `out` may be one of the operands at the same place.
 */
void rt_reduce(shdrt_dtype dtype, shdrt_combiner combiner, int n, const char *const *in,
	size_t offset, size_t count, char *out);
/* Fills with the value that changes nothing when combined, of floats the sign of no -0. */
void rt_fill_neutral(shdrt_dtype dtype, shdrt_combiner combiner, void *out, size_t count);
bool rt_is_float(shdrt_dtype dtype);
/* One element as a double. */
double rt_element_double(shdrt_dtype dtype, const void *data, size_t i);

/* ---- tensor_file.c, npy.c, npz.c, safetensors.c: tensors in files ---- */

/*
 * A tensor inside a file's bytes, checked: every element lies within them.
 * Element [i, j, ...] is at data + i*strides[0] + j*strides[1] + ... bytes.
 */
typedef struct TensorView {
	shdrt_dtype dtype;
	int rank;
	int64_t dims[SHDRT_MAX_RANK];
	int64_t strides[SHDRT_MAX_RANK];
	const unsigned char *data;
	bool swapped; /* of the other byte order */
	bool pairs;   /* the last dim is that of complex numbers */
	bool widened; /* of i32, that are bytes here */
} TensorView;

enum { WHY = 240 }; /* room for a reason, with its NUL */

/* false with the reason in `why`; where numpy has no dtype, the bytes are of the wanted one */
bool rt_npy_parse(const unsigned char *bytes, size_t n, shdrt_dtype wanted, TensorView *view,
	char why[WHY]);
typedef enum Parsed { PARSED_broken, PARSED_absent, PARSED_good } Parsed;
/* The header, read once for any number of tensors; NULL, and why, if it is wrong.
   `bytes` stay where they are. */
typedef struct Safetensors Safetensors;
Safetensors *rt_safetensors_index(const unsigned char *bytes, size_t n, char why[WHY]);
Parsed rt_safetensors_find(Safetensors *s, const char *key, TensorView *view, char why[WHY]);
void rt_safetensors_free(Safetensors *s);
/* `key` names the tensor in the file. */
Parsed rt_safetensors_parse(const unsigned char *bytes, size_t n, const char *key,
	TensorView *view, char why[WHY]);
/* Element strides of a row-major tensor, in bytes; false on overflow of
   the whole size, which goes to *bytes. */
bool rt_view_row_major(TensorView *view, uint64_t *bytes);
bool rt_name_dtype(const char *name, size_t n, const char *const *names, shdrt_dtype *dtype);

typedef struct TensorFile {
	unsigned char *bytes; /* the file, mapped read-only, or what a .npz has of it */
	bool read;	      /* it is standard input, in memory */
	size_t size;
	TensorView view;
} TensorFile;

/* Opens, maps and checks against the parameter; rt_fail()s with SHDRT_IO. */
void rt_tensor_file_open(TensorFile *f, const char *path, const shdrt_tensor *t);
bool rt_same_type(const TensorView *view, const shdrt_tensor *t);
/* The parameter's tensor, mapped in place of the file: of another type than `t`, not
   read whole. */
Parsed rt_npz_read(TensorFile *f, const char *path, const char *key, const shdrt_tensor *t,
	char why[WHY]);
/* A file of many (rt_holds_many()). */
typedef struct FileOfMany {
	const char *path;
	const char *what; /* of the program its tensors are: "parameter", "result" */
	TensorFile file;
	Safetensors *index; /* NULL: not yet, or a .npz */
} FileOfMany;
/* As rt_tensor_file_open(), of a file that may have no tensor of this name: false, and
   why. It is left open, and checked, if it is `wanted`. */
bool rt_tensor_file_find(TensorFile *f, FileOfMany *many, const shdrt_tensor *t, bool wanted,
	char why[WHY]);
void rt_file_of_many_close(FileOfMany *many);
bool rt_has_ending(const char *path, const char *ending);
bool rt_holds_many(const char *path);  /* tensors by name: .safetensors, .npz */
bool rt_is_standard(const char *path); /* "-" */
void rt_tensor_file_close(TensorFile *f);
size_t rt_array_bytes(const shdrt_array *a);
/* Writes; false with errno. */
enum { NPY_HEADER = 1024 }; /* room for 16 dims of 20 digits */
/* The whole of it, padded so that data begin at a multiple of 64: its size. */
size_t rt_npy_header(const shdrt_array *a, char header[NPY_HEADER]);
bool rt_npy_put(FILE *f, const shdrt_array *a);
bool rt_safetensors_put(FILE *f, int n, const shdrt_array *arrays);
bool rt_npz_put(FILE *f, int n, const shdrt_array *arrays);

/* ---- ranges.c: made-up values of a range ---- */

typedef struct ValueRange {
	bool given;
	int64_t first; /* of integers */
	uint64_t count;
	double low, high; /* of floats */
} ValueRange;

/* "LOW..HIGH"; rt_fail()s with SHDRT_USAGE. */
ValueRange rt_range_parse(const shdrt_tensor *t, const char *text);
/* One element, from random bits. */
void rt_range_value(const ValueRange *r, shdrt_dtype dtype, uint64_t bits, void *out);

/* ---- tensors.c: whole tensors and their parts ---- */

typedef enum SourceKind {
	FROM_random,
	FROM_ones,
	FROM_iota,
	FROM_file,
	FROM_memory
} SourceKind;

/* Where the values of a parameter come from. */
typedef struct Source {
	SourceKind kind;
	uint64_t seed;
	ValueRange range; /* of what is made up, if it is given */
	const char *path; /* FROM_file */
	TensorFile file;
	const void *memory; /* FROM_memory: whole, row-major */
} Source;

int64_t rt_tensor_elements(const shdrt_tensor *t);
size_t rt_tensor_bytes(const shdrt_tensor *t); /* whole; rt_fail()s on overflow */
size_t rt_part_bytes(const shdrt_tensor *t);   /* of one device */
shdrt_array rt_array_of(const shdrt_tensor *t, void *whole);
/* One device's part of the tensor. */
void rt_tensor_fill_part(const shdrt_tensor *t, const Source *s, int64_t device, char *out);
/* Its part of a result becomes that of a parameter of which it has the same part. */
void rt_tensor_move_part(const shdrt_tensor *from, const shdrt_tensor *to, int64_t device,
	char *slab);
/* The whole of it, row-major. */
void rt_tensor_fill_whole(const shdrt_tensor *t, const Source *s, void *out);
/* The whole from the devices' parts: first of replicas, partials combined. */
void rt_tensor_collect(const shdrt_tensor *t, const Machine *m, void *out);
/* Are there two devices that should have the same, and have not? */
bool rt_tensor_disagrees(const shdrt_tensor *t, const Machine *m, int64_t pair[2]);

/* ---- report.c: what people read ---- */

void rt_report_list(const shdrt_program *p, FILE *out);
/* One element, a float with so many digits. */
void rt_report_value(FILE *out, shdrt_dtype dtype, const void *data, size_t i, int digits);
void rt_report_result(const shdrt_tensor *t, const void *data, FILE *out);
enum { US_TEXT = 40, STEP_TEXT = 200 }; /* room for them */

/* "71.234567": exact */
void rt_us_text(char text[US_TEXT], uint64_t picoseconds);
/* "einsum 'bd,df->bf'", "all-reduce over X for sum" */
void rt_step_text(const shdrt_step *s, char text[STEP_TEXT]);
void rt_report_stats(const Machine *m, double seconds, FILE *out);
void rt_report_times(double *seconds, int n, FILE *out);
void rt_report_verdict(const shdrt_tensor *t, const shdrt_verdict *v, FILE *out);
void rt_report_no_reference(void *out, const char *function);
void rt_report_disagreement(const shdrt_tensor *t, const int64_t pair[2], FILE *out);

#endif

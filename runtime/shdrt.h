/*
 * shdrt.h - the contract between a compiled program and its runtime.
 *
 * A program is one function, run(), executed by every device of the mesh,
 * and a table, shdrt_program, that says what goes in and comes out.  A device
 * has an id, a slab of memory of exactly the planned size, and an emulated
 * clock.  All buffers are offsets in the slab; parameters are there before
 * run() starts and results are taken from it when it returns.  A parameter's
 * buffer may be reused, unless it is `kept`: it is filled again before every run.
 *
 *   static void run(shdrt_device *dev, char *slab)
 *   {
 *           square_0((const float *)(slab + 0), (float *)(slab + 4096));
 *           shdrt_tick(dev, &steps[0]);
 *           shdrt_all_gather(dev, &collectives[0], slab + 4096, slab + 8192);
 *   }
 *   int main(int argc, char **argv)
 *   {
 *           return shdrt_main(&program, argc, argv);
 *   }
 *
 * Scalar arithmetic is in shdrt_math.h, tensor kernels in shdrt_kernels.h.
 */
#ifndef SHDRT_H
#define SHDRT_H

#include <stddef.h>
#include <stdint.h>

#include "shdrt_extern.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SHDRT_ABI 10

enum {
	SHDRT_MAX_RANK = 16,
};

/* Exit statuses of built programs. */
enum {
	SHDRT_OK = 0,
	SHDRT_WRONG = 1, /* --check found a mismatch */
	SHDRT_USAGE = 2,
	SHDRT_IO = 3, /* a file, a tensor that does not fit, or an
				   extern function that is not there or fails */
	SHDRT_INTERNAL = 4,
	SHDRT_MEMORY = 5,     /* (emulated) memory, or a run-time limit */
	SHDRT_DEADLOCK = 10,  /* or no progress, or out of time */
	SHDRT_MISMATCH = 11,  /* collectives that do not agree */
	SHDRT_PEER_LOST = 13, /* a device ended before its program did */
};

/* How partial results combine. */
#define SHDRT_COMBINERS(X) X(add) X(max) X(min) X(mul) X(and) X(or)

typedef enum shdrt_combiner {
#define X(name) SHDRT_##name,
	SHDRT_COMBINERS(X)
#undef X
		SHDRT_COMBINER_COUNT
} shdrt_combiner;

extern const size_t shdrt_dtype_bytes[SHDRT_DTYPE_COUNT];
extern const char *const shdrt_dtype_names[SHDRT_DTYPE_COUNT];
extern const char *const shdrt_combiner_names[SHDRT_COMBINER_COUNT];

/*
 * One coordinate of a device: id / stride % size.  A mesh axis, or a sub-axis
 * of one.  A list of them, major to minor, numbers the devices it spans:
 * [X=2, Y=4] is {{4, 2}, {1, 4}}.
 */
typedef struct shdrt_split {
	int64_t stride, size;
} shdrt_split;

typedef struct shdrt_splits {
	int n;
	const shdrt_split *split;
} shdrt_splits;

/* Row-major index of a device in a list; 0 when the list is empty. */
static inline int64_t
shdrt_index(int64_t id, int n, const shdrt_split *split)
{
	int64_t index = 0;
	for (int i = 0; i < n; i++)
		index = index * split[i].size + id / split[i].stride % split[i].size;
	return index;
}

/* A parameter or a result: a whole tensor, of which each device has a part. */
typedef struct shdrt_tensor {
	const char *name;
	const char *type_text; /* "bf16[8@X, 2048@Y]" */
	shdrt_dtype dtype;
	int rank;
	const int64_t *dims;	    /* of the whole tensor */
	const int64_t *local_dims;  /* of one device's part, row-major */
	const shdrt_splits *splits; /* rank of them: device d has block
					   index(d, splits[i]) of dim i */
	shdrt_splits unreduced;	    /* devices along these hold partials */
	shdrt_combiner combiner;    /* ... to be combined so */
	int64_t offset;		    /* in the slab */
	int64_t first_position;	    /* a parameter of positions: made up values are */
	int64_t end_position;	    /* ... from the first on, before the end; else 0 */
	int kept;		    /* a parameter: run() leaves it as it is */
	double within; /* a result: how far of its largest magnitude another compiler's may
			  be; 0: as its dtype says */
} shdrt_tensor;

/* What takes time on the target: a row for each, equal ones once. */
typedef struct shdrt_step {
	const char *what; /* what asked for it: "einsum 'bd,df->bf'" */
	const char *kind; /* HLO's opcode: "dot", "all-gather" */
	const char *axes; /* of a collective, for people: "X,Y"; else NULL */
	const char *file; /* where in the program */
	int line;
	uint64_t picoseconds; /* predicted; at most INT64_MAX */
	double flops;
	int64_t hbm_bytes;
	int64_t wire_bytes; /* received by one device on a ring */
	int64_t memory;	    /* bytes that are needed from then on, until the next step */
	const char *bound;  /* what keeps it so long: "mxu", "hbm", "ici" */
} shdrt_step;

/* X(id): SHDRT_id, shdrt_id() */
#define SHDRT_COLLECTIVES(X) \
	X(all_gather) \
	X(all_reduce) \
	X(reduce_scatter) \
	X(all_to_all) \
	X(collective_permute) \
	X(ragged_all_to_all)

typedef enum shdrt_collective_kind {
#define X(id) SHDRT_##id,
	SHDRT_COLLECTIVES(X)
#undef X
		SHDRT_COLLECTIVE_COUNT
} shdrt_collective_kind;

/*
 * One collective of the program.  The group lists the coordinates along which
 * devices take part; its members are numbered by shdrt_index().  The operand
 * is seen as [outer, size, inner] around the dim that is gathered or split.
 *
 * Permute: device t receives from s, which is t with its coordinates `from`
 * replaced so that index(s, from) == index(t, group); or, when `source` is
 * given, from the member number source[index(t, group)], nobody if negative.
 * A device to which nobody sends gets zeros.
 *
 * One with a slot is begun, and is done when shdrt_done() is called of it: its
 * result is written, and its operand read, until then.  Its step says how long it is
 * under way.  No two that are have the same slot.
 *
 * An operand that is part of a tensor may lie in runs of so many elements, each so many behind
 * the one before; a block that is gathered, or goes to a member, is whole runs, or a run is
 * whole blocks.
 *
 * Ragged: rows of `inner` elements, `size` of them in the operand and `rows`
 * in the result.
 */
typedef struct shdrt_collective {
	shdrt_collective_kind kind;
	shdrt_dtype dtype;
	shdrt_combiner combiner; /* of reductions */
	shdrt_splits group;
	shdrt_splits from;	    /* permute */
	const int64_t *source;	    /* permute, instead of `from`, or NULL */
	int64_t outer, size, inner; /* of the operand */
	int64_t run, run_step;	    /* not of sums: of elements of the operand; 0: one */
	int64_t rows;		    /* ragged: of the result */
	const shdrt_step *step;
	int slot; /* from 1 on; 0: the device waits for it */
} shdrt_collective;

/*
 * Functions of the user's libraries (shdrt_extern.h).  The runtime loads the
 * libraries before anything runs and fills in `functions`.
 */
typedef struct shdrt_extern {
	const char *symbol, *library; /* as the program writes them */
	const char *file;	      /* that declares it */
	const char *path;	      /* of the library, as it was found */
} shdrt_extern;

typedef void shdrt_function(void);

/* One place in the program that calls one. */
typedef struct shdrt_extern_call {
	int function;	  /* in the table */
	const char *name; /* in the program */
	const char *file;
	int line;
} shdrt_extern_call;

typedef struct shdrt_externs {
	int n;
	const shdrt_extern *externs;
	shdrt_function **functions;
	/* For whoever interprets: calls one with so many views; at `place` a
	   failure ends the program, NULL: it is only returned. */
	int (*call)(shdrt_function *f, const shdrt_extern_call *place, int n,
		const shdrt_view *views);
} shdrt_externs;

typedef struct shdrt_place {
	const char *file;
	int line;
} shdrt_place;

typedef struct shdrt_axis {
	const char *name;
	int64_t size;
} shdrt_axis;

/* A whole tensor in memory, row-major. */
typedef struct shdrt_array {
	const char *name;
	shdrt_dtype dtype;
	int rank;
	const int64_t *dims;
	void *data;
} shdrt_array;

/* What --check found out about one result. */
typedef struct shdrt_verdict {
	int64_t elements;    /* compared */
	int64_t mismatches;  /* outside their bound */
	int64_t undecided;   /* a comparison or rounding hung on inexact values */
	int64_t worst;	     /* linear index of the largest error / bound,
				   the first mismatch of integers */
	double got, wanted;  /* there */
	double error, bound; /* there */
} shdrt_verdict;

typedef struct shdrt_check_io {
	int nparams, nresults;
	const shdrt_array *params;    /* in order of the signature */
	const shdrt_array *results;   /* what the devices computed; NULL: nothing yet,
					 and only uniform() is looked at */
	shdrt_verdict *verdicts;      /* nresults of them, to be filled */
	const shdrt_externs *externs; /* as the program's */
	int *broken;		      /* becomes 1 where a uniform() does not hold,
					 as standard error tells; NULL: nobody asks */
	/* Called once for each manual function that ran and is compared with itself. */
	void (*no_reference)(void *data, const char *function);
	void *data;
} shdrt_check_io;

typedef struct shdrt_device shdrt_device;
typedef struct shdrt_program shdrt_program;

struct shdrt_program {
	int abi;	    /* SHDRT_ABI */
	const char *name;   /* of the program: "ffn" */
	const char *source; /* its file: "samples/ffn.shd" */
	int naxes;
	const shdrt_axis *axes;
	int64_t ndevices; /* id = row-major index in the axes */
	int nparams, nresults;
	const shdrt_tensor *params, *results;
	/* Every step and every collective run() names is an element of these. */
	int nsteps;
	const shdrt_step *steps;
	int ncollectives;
	const shdrt_collective *collectives;
	int nslots;
	const shdrt_externs *externs; /* NULL: none */
	int64_t slab_bytes;	      /* of one device, here */
	int64_t device_bytes;	      /* of the target's memory; 0: as many */
	int keeps_inputs;	      /* run() leaves the parameters as they are */
	const char *target;	      /* "v5e" */
	int64_t target_memory;	      /* bytes a device of it has */
	int64_t flops, wire_bytes;    /* of one device in one run */
	void (*run)(shdrt_device *dev, char *slab);
	/* Not NULL: called once in place of run() on threads, slabs[device]
	   filled; returns an exit status.  It tells the devices what they do by
	   shdrt_tick() and shdrt_meet().  `data` is its own. */
	int (*launch)(const shdrt_program *p, char *const *slabs, shdrt_device *const *devices,
		void *data);
	int64_t launch_bytes; /* that launch() takes, beside the slabs */
	/* ... how far it is, and, while it does what may never end, what that
	   is (else NULL).  Called by another thread.  May be NULL. */
	uint64_t (*progress)(const char **doing);
	void *data;
	/* --check: the unsharded program and who evaluates it (NULL: absent).
	   Returns SHDRT_OK with all verdicts filled, else a status. */
	const char *hlo;
	size_t hlo_bytes;
	int64_t check_bytes; /* that check() takes, beside what it is handed */
	/* The program with its manual functions as they are written, if a uniform()
	   is in them: what that vouches for is looked at before anything runs, by
	   the same check() without results. */
	const char *vouched;
	size_t vouched_bytes;
	int (*check)(const char *hlo, size_t n, const shdrt_check_io *io);
};

/* The whole program: options, inputs, run, outputs; returns exit status. */
int shdrt_main(const shdrt_program *p, int argc, char **argv);

/*
 * Called by run().  Operands and results do not overlap, except that the
 * result of an all-reduce may be its operand.  Sums of f16 and bf16 are kept
 * in f32 over the group and rounded once; members combine in order 0..N-1, so
 * the bits do not depend on timing, size or the number of cores.
 */
int64_t shdrt_device_id(const shdrt_device *dev);
/* Local work done: advances the device's emulated clock. */
void shdrt_tick(shdrt_device *dev, const shdrt_step *step);
/* A collective done by a launch(): the clocks of those who meet advance when it has
   been told of all of them. */
void shdrt_meet(shdrt_device *dev, const shdrt_collective *c);
/* A collective with a slot, which was begun: waits for it. */
void shdrt_done(shdrt_device *dev, const shdrt_collective *c, const shdrt_step *step);
/* The device is in a loop that runs until its data say so (NULL: in none any
   more): whatever it does there is no progress before it leaves. */
void shdrt_in_loop(shdrt_device *dev, const shdrt_place *loop);
/* Around a call of an extern function: whose fault it is if the program stops
   there; `status` is what it returned.  No device: an interpreter calls. */
void shdrt_extern_enter(shdrt_device *dev, const shdrt_extern_call *c);
void shdrt_extern_leave(shdrt_device *dev, const shdrt_extern_call *c, int status);
/* [outer, size, inner] -> [outer, n*size, inner] */
void shdrt_all_gather(shdrt_device *dev, const shdrt_collective *c, const void *in, void *out);
/* the same shape */
void shdrt_all_reduce(shdrt_device *dev, const shdrt_collective *c, const void *in, void *out);
/* [outer, size, inner] -> [outer, size/n, inner]: member i keeps part i */
void
shdrt_reduce_scatter(shdrt_device *dev, const shdrt_collective *c, const void *in, void *out);
/* part i of `size` goes to member i; parts received in group order */
void shdrt_all_to_all(shdrt_device *dev, const shdrt_collective *c, const void *in, void *out);
/* the whole operand to another device */
void shdrt_collective_permute(shdrt_device *dev, const shdrt_collective *c, const void *in,
	void *out);
/*
 * Rows of `in` to rows of the `out` of others, the rest of which stays.  For
 * each member i of the group: sizes[i] rows from starts[i] on go to row to[i]
 * of its `out`, and from[i] rows come from it.  What is not within `in` and
 * `out`, overlaps, or is not what the other says ends the program.
 */
void shdrt_ragged_all_to_all(shdrt_device *dev, const shdrt_collective *c, const void *in,
	const void *starts, const void *sizes, const void *to, const void *from, void *out);

#ifdef __cplusplus
}
#endif

#endif

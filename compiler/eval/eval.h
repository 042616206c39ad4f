/*
 * eval.h - the interpreter: runs a module without generating code.  It is
 * the reference every built program is checked against, so it shares no
 * arithmetic with the code generator.
 *
 *   eval_global   a module before localization, on whole tensors; moves and
 *                 placements (reshard, constraint, barrier, shard_like) are
 *                 identities there
 *   eval_device   a device program, on all devices of the mesh in lockstep:
 *                 every value is as many local tensors as there are devices.
 *                 A device whose loop has ended waits for the others; what
 *                 comes of a collective without it is in stuck.c
 *
 * Arithmetic.  Each op computes in a wide type and rounds its result to the
 * dtype: f64 in double, f32 in float, f16 and bf16 in float with one rounding
 * at the end, integers and pred in 64 bits, wrapped at the end.  Sums (dot,
 * reduce, cumsum, scatter_add) add in ascending index order in that wide type and round
 * once.  Collectives that reduce add members 0..N-1 of the group in that
 * order, in the wide type too: a bf16 sum over a group rounds once.
 *
 * All number the module's values, so the module isn't const.  They return
 * false when memory runs out, and say nothing themselves; also where a
 * collective cannot be done, see EvalFailure.
 */
#ifndef SHDC_EVAL_H
#define SHDC_EVAL_H

#include <stdatomic.h>

#include "ir/ir.h"

/* Row-major, elements in the storage of the dtype; pred is 0 or 1. */
typedef struct Tensor {
	Type type;
	void *data; /* malloc'ed by tensor_new() */
	bool lent;  /* another's: tensor_free() only forgets it */
} Tensor;

/* tensor.c */
bool tensor_new(const Type *type, Tensor *t); /* zeroed; false: no memory */
void tensor_free(Tensor *t);
Tensor tensor_lend(const Tensor *t);
bool tensor_copy(const Tensor *t, Tensor *copy);
/*
 * The part of `whole` that lies on a device.  Of an unreduced placement,
 * index 0 along the unreduced axes holds the value, the others the identity.
 * The type must be divisible as placed.
 */
bool tensor_shard(const Mesh *mesh, const Placement *p, int64_t device, const Tensor *whole,
	Tensor *local);
/*
 * The whole tensor from `locals[device]`, partial results combined.  Devices
 * that should hold the same bits and don't are reported: *disagree is the
 * first one that differs from a lower-numbered replica, else -1.
 */
bool tensor_unshard(const Mesh *mesh, const Placement *p, const Type *global,
	const Tensor *locals, Tensor *whole, int64_t *disagree);

/* Why there are no results. */
typedef struct EvalFailure {
	const Op *collective; /* NULL: no memory */
	const char *what;     /* the devices ask of it that cannot be; NULL:
				   not all of its members reach it */
	int64_t device;	      /* that waits there ... */
	int64_t other_device; /* for this one, ... */
	const Op *other;      /* which waits here; NULL: it has ended */
	bool mismatch;	      /* ... for the first one */
} EvalFailure;

/* The first uniform() found of a value that is not the same. */
typedef struct BrokenVouch {
	const Op *op;	       /* NULL: none */
	int64_t device, other; /* that do not have the same ... */
	int64_t element;       /* ... at this row-major index */
	double got, wanted;    /* there, on each */
} BrokenVouch;

/* uniform.c: runs the program as far as the first uniform() that does not hold.
   False: no memory. */
bool eval_global_vouches(Module *m, const Tensor *inputs, BrokenVouch *broken);

/* eval.c: outputs are allocated here, one per result of the entry; both are
   [device][i].  `failure` may be NULL. */
bool eval_global(Module *m, const Tensor *inputs, Tensor *outputs);
bool eval_device(Module *m, Tensor *const *inputs, Tensor **outputs, EvalFailure *failure);

/*
 * check/bounds.c: as eval_global, and for each output element how far a correct
 * execution of the same program may be from it: sums in any order, split over
 * any devices, ops fused, functions accurate to their documented ulps.
 * bounds[i] is malloc'ed, or NULL where the result is exact; an element may
 * be infinite where rounding can change a decision without limit.  `broken`, which
 * may be NULL, tells of a uniform() that does not hold.
 */
bool eval_global_bounds(Module *m, const Tensor *inputs, Tensor *outputs, double **bounds,
	BrokenVouch *broken);

/* check/footprint.c: bytes that eval_global_bounds() will hold at most beside its inputs;
   without samples, that eval_global() will, or eval_device() of a program of one device. */
int64_t eval_footprint(Module *m, bool samples);

/* How a result compares with the reference. */
typedef struct Comparison {
	int64_t elements;
	int64_t mismatches;  /* beyond their bound */
	int64_t undecided;   /* differ through a decision (an argmax, a
				   comparison) that rounding makes */
	int64_t worst;	     /* row-major index of the largest error for its
				   bound: of the first mismatch where exact */
	double got, wanted;  /* there */
	double error, bound; /* there */
} Comparison;
/* `bounds` as from eval_global_bounds(); NULL: must be equal.  Integers and
   pred that are exact must be equal; NaN equals NaN. */
Comparison tensor_compare(const Tensor *expected, const double *bounds, const Tensor *actual);

/* For a watchdog on another thread: the `while` of unknown length or the extern
   function that is being executed, NULL none, and how many have been left: what
   is done in them is no progress before. */
extern const Op *_Atomic eval_loop;
extern atomic_ullong eval_progress;

/* Is told of each op that a device has executed, from now on; of a collective when all
   have.  A program on whole tensors has one device, but in its manual functions.
   `done` NULL: nobody is. */
typedef struct EvalListener {
	void (*done)(void *data, const Op *op, int64_t device);
	void *data;
} EvalListener;
extern EvalListener eval_listener;

/* The extern functions of what is executed from now on; may be NULL. */
struct shdrt_externs;
void eval_use_externs(const struct shdrt_externs *externs);
/* ffi.c: as shdrt_externs.call */
struct shdrt_extern_call;
struct shdrt_view;
int shdeval_call(void (*f)(void), const struct shdrt_extern_call *place, int n,
	const struct shdrt_view *views);

/*
 * check/check.c: --check of built programs, as shdrt_program.check in shdrt.h.
 * `hlo` is the unsharded program as module_print() wrote it at L_global.
 */
struct shdrt_check_io;
int shdeval_check(const char *hlo, size_t n, const struct shdrt_check_io *io);

#endif

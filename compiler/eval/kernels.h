/*
 * kernels.h - inside the interpreter: one function per op, over tensors.
 *
 * A kernel takes its types from the tensors, never from the op's values, so
 * that the error analysis can run the same movement or sum over f64 arrays
 * of error bounds.  Results are allocated by the caller.
 */
#ifndef SHDC_EVAL_KERNELS_H
#define SHDC_EVAL_KERNELS_H

#include "eval/eval.h"

/* wide.c: the types arithmetic is done in */
typedef enum Wide { W_int, W_float, W_double, W_word, WIDE_COUNT } Wide;
enum { CHUNK = 512 }; /* elements converted at a time */
typedef union Chunk {
	int64_t i[CHUNK];
	uint64_t w[CHUNK];
	float f[CHUNK];
	double d[CHUNK];
} Chunk;
/* How many of those that are left. */
static inline int64_t
chunk(int64_t left)
{
	return left < CHUNK ? left : CHUNK;
}
Wide wide_of(DType d);
size_t wide_bytes(DType d); /* of one as that */
/* n elements from index `first` on, as wide values; n <= CHUNK only where a
   Chunk is the buffer. */
void load_wide(DType d, const void *data, int64_t first, int64_t n, void *wide);
void store_wide(DType d, const void *wide, void *data, int64_t first, int64_t n);
/* Like load_wide, but in place where the storage is wide already. */
const void *view_wide(const Tensor *t, int64_t first, int64_t n, Chunk *buffer);
/* From one dtype's wide type to another's, as convert defines it. */
void convert_wide(DType from, const void *wide, DType to, void *result, int64_t n);
double tensor_double(const Tensor *t, int64_t i); /* one element */
int64_t tensor_integer(const Tensor *t, int64_t i);
/* Which row of the dims that are looked up the i-th index is of; of one outside the nearest,
   or none, -1. */
int64_t
row_looked_up(const Lookup *look, const Type *type, const Tensor *index, int64_t i, bool clamp);
void tensor_fill_payload(Tensor *t, int64_t payload); /* of an A_value */
void tensor_set_payload(Tensor *t, int64_t i, int64_t payload);

/*
 * combine.c: acc[k * stride] = acc combined with x[k], k ascending, for
 * stride 0 (fold into one) or 1.  NULL where the combiner has no meaning.
 */
typedef void CombineLoop(void *acc, const void *x, int64_t n, int stride);
extern CombineLoop *const combine_loops[COMBINER_COUNT][WIDE_COUNT];

/* tensor.c: members 0..n-1 of a group, in that order, rounded once */
bool tensor_combine(Combiner c, const Tensor *locals, const int64_t *members, int64_t n,
	Tensor *result);

/* False: no memory.  `result`: as many as the op has. */
typedef bool Kernel(const Op *op, const Tensor *operands, Tensor *result);

/* eval.c: of an op that works on one device; else NULL */
Kernel *op_kernel(OpKind kind);

/* pointwise.c */
Kernel elementwise, compare, is_finite, select_elements, convert, bitcast;
/* move.c: data movement */
Kernel constant, iota, identity, broadcast, transpose, slice, concatenate, pad, reverse, roll,
	windows, frames, take, dynamic_slice, dynamic_update_slice;
/*
 * Copies a box of elements of `bytes` bytes: result[sum i_d * to[d]] =
 * source[sum i_d * from[d]], strides in elements, any sign.
 */
typedef struct Copy {
	int rank;
	int64_t dims[MAX_RANK], from[MAX_RANK], to[MAX_RANK];
	int64_t from_start, to_start;
} Copy;
void copy_box(const Copy *c, int bytes, const void *source, void *result);
void row_major(const Type *type, int64_t *strides);
/* The box of the size of the smaller tensor at `start` of the larger. */
void copy_out(const Tensor *large, const int64_t *start, Tensor *small);
void copy_in(const Tensor *small, const int64_t *start, Tensor *large);

/* reduce.c, dot.c: sums */
Kernel reduce, cumsum, dot, grouped_dot, grouped_outer, scatter_add;
bool
reduce_dims(const Ints *dims, Combiner c, const Tensor *t, const Tensor *init, Tensor *result);

/* sort.c */
Kernel sort;
/* order[i] is the index of the element of `key` that element i of the sorted
   tensor is; malloc'ed, NULL: no memory. */
int64_t *sort_order(const Op *op, const Tensor *key);
void take_order(const Tensor *t, const int64_t *order, Tensor *result);

/* collective.c: operands and results of all devices, [operand * devices +
   device] */
typedef bool
GroupKernel(const Module *m, const Op *op, const Tensor *operands, Tensor *results);
/* Devices that are not there have tensors without data. */
#define COLLECTIVE(id, ...) GroupKernel id;
#include "ir/collectives.def"
#undef COLLECTIVE
/* ragged.c: what is wrong with the sizes, in words; NULL: nothing. */
const char *ragged_wrong(const Module *m, const Op *op, const Tensor *operands);

/* extern.c */
Kernel external;
/* False: no memory.  `place`: as of shdrt_externs.call. */
bool extern_call(const Op *op, const struct shdrt_extern_call *place, const Tensor *operands,
	Tensor *results, int *status);
void copy_elements(const Tensor *from, Tensor *to); /* as another dtype */

/* n elements from `first` on in f64; of a scalar, n times the one. */
void load_doubles(const Tensor *t, int64_t first, int64_t n, double *result);

/*
 * lanes.c: a value on a device, and what other executions may have in its
 * place: its lanes.  The samples have its shape, floats in f64; none of them has
 * data where the value is exact.
 */
enum { SAMPLES = 8, VALUE = 0, SPREAD = SAMPLES + 1, LANES };
typedef struct Inexact {
	Tensor *lanes; /* NULL: not there */
	int64_t stride;
	bool dies; /* nobody reads it behind the op at hand */
} Inexact;

static inline Tensor *
lane_of(const Inexact *x, int lane)
{
	return &x->lanes[lane * x->stride];
}

static inline Tensor *
value_of(const Inexact *x)
{
	return x->lanes;
}

static inline Tensor *
sample_of(const Inexact *x, int k)
{
	return lane_of(x, 1 + k);
}

/* In f64: the sum of the magnitudes of the parts that may stand for the value
   on some mesh; no data: its own magnitude. */
static inline Tensor *
spread_of(const Inexact *x)
{
	return lane_of(x, SPREAD);
}

static inline bool
is_exact(const Inexact *x)
{
	return !sample_of(x, SAMPLES - 1)->data; /* the last that is freed */
}

Type lane_type(const Type *value, int lane);
/* Of n values: has one of them this lane?  The lane of all, made up for those
   that do without; to be freed. */
bool any_lane(const Inexact *x, int64_t n, int lane);
bool view_lanes(const Inexact *x, int64_t n, int lane, Tensor *views);
void tensors_free(Tensor *t, int64_t n);

#endif

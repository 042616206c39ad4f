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
typedef enum Wide { W_int, W_float, W_double, WIDE_COUNT } Wide;
enum { CHUNK = 512 }; /* elements converted at a time */
typedef union Chunk {
	int64_t i[CHUNK];
	float f[CHUNK];
	double d[CHUNK];
} Chunk;
Wide wide_of(DType d);
size_t wide_bytes(Wide w);
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

typedef struct Context {
	int64_t device;
} Context;
/* False: no memory.  `result`: as many as the op has. */
typedef bool Kernel(const Context *c, const Op *op, const Tensor *operands, Tensor *result);

/* pointwise.c */
Kernel elementwise, compare, is_finite, select_elements, convert;
/* move.c: data movement */
Kernel constant, iota, partition_id, identity, broadcast, transpose, slice, concatenate, pad,
	reverse, roll, take, dynamic_slice, dynamic_update_slice;
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
void row_major(const Type *t, int64_t *strides);
/* The box of the size of the smaller tensor at `start` of the larger. */
void copy_out(const Tensor *large, const int64_t *start, Tensor *small);
void copy_in(const Tensor *small, const int64_t *start, Tensor *large);

/* reduce.c, dot.c: sums */
Kernel reduce, cumsum, dot, scatter_add;
bool
reduce_dims(const Ints *dims, Combiner c, const Tensor *x, const Tensor *init, Tensor *result);

/* sort.c */
Kernel sort;
/* order[i] is the index of the element of `key` that element i of the sorted
   tensor is; malloc'ed, NULL: no memory. */
int64_t *sort_order(const Op *op, const Tensor *key);
void take_order(const Tensor *x, const int64_t *order, Tensor *result);

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

/*
 * bounds.c: a value, and what other executions may have in its place.  The
 * samples have its shape, floats in f64; none of them has data where the
 * value is exact.
 */
enum { SAMPLES = 8 };
typedef struct Inexact {
	Tensor value;
	Tensor samples[SAMPLES];
	Tensor spread; /* f64: the sum of the magnitudes of the parts
				   that may stand for the value on some mesh;
				   no data: its own magnitude */
} Inexact;
void inexact_free(Inexact *x);
bool inexact_copy(const Inexact *x, Inexact *copy);
/* Fills samples and spread of a result whose value is there already. */
bool bound(const Module *m, const Op *op, const Inexact *operands, Inexact *result);
bool bound_sort(const Op *op, const Inexact *operands, Inexact *const *results);
/* extern.c */
Kernel external;
bool bound_extern(const Op *op, const Inexact *operands, Inexact *const *results);
/* The samples of a value, zero; each moved by rounding; away if they agree. */
bool new_samples(Inexact *x);
/* Sample k of operands that decide something. */
bool exaggerate(const Inexact *x, int k, Tensor *result);
void perturb(const Op *op, int k, DType d, const Tensor *rounding, Tensor *sample);
void drop_agreeing(Inexact *x);
/* Every element may be anything. */
bool inexact_anything(Inexact *x);
/* *bounds is malloc'ed; NULL: exact. */
bool inexact_bounds(const Inexact *x, double **bounds);
bool is_exact(const Inexact *x);
bool all_exact(const Op *op, const Inexact *operands);
/* A f64 tensor of the shape of t. */
bool tensor_like(const Tensor *t, Tensor *result);
/* eval.c: the kernel of an op that works on one device, or NULL */
Kernel *op_kernel(OpKind kind);

/* sums.c: by how much the result may be off, per element, through the op's own
   rounding; no data: it doesn't round.  Fills the result's spread. */
typedef bool Rounding(const Module *m, const Op *op, const Inexact *operands, Inexact *result,
	Tensor *rounding);
Rounding find_rounding, round_none, round_move, round_read;
Rounding round_dot, round_reduce, round_cumsum, round_scatter_add;
Rounding round_pointwise; /* rounding.c */

/* rounding.c */
typedef struct Precision {
	double unit;	  /* rounding: relative error of one */
	double normal;	  /* least normal number */
	double underflow; /* absolute error of a result below that */
	double greatest;  /* finite value */
	double integers;  /* all up to this are representable */
} Precision;
extern const Precision precisions[DTYPE_COUNT]; /* of floats */
/* n elements from `first` on; of a scalar, n times the one. */
void load_doubles(const Tensor *t, int64_t first, int64_t n, double *result);

#endif

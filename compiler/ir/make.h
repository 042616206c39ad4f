/*
 * make.h - building ops.
 *
 *   Make k = make_before(op);                   where, and what new ops say of themselves
 *   v = make_slice_dim(k, x, 0, 0, 4, 1);       slice(x), [0:4]
 *   v = make_unary(named(k, "y"), O_neg, v);    %y = negate(...)
 *
 * A Make is a value, changed by whoever passes it on.  Every make_*() takes
 * operands and gives the result; NULL in, NULL out.  Types follow from the op
 * table; an op that it refuses is a mistake of the program that is compiled
 * where `refuse` is set, else of the compiler.  What changes nothing (a slice
 * of everything, a conversion to the same dtype) makes no op and gives x.
 */
#ifndef SHDC_MAKE_H
#define SHDC_MAKE_H

#include "ir/ir.h"

typedef struct Make {
	Module *module;
	Op *before;   /* new ops go before it; NULL: ... */
	Block *block; /* at the end of this one */
	Range range;
	const char *label;
	OpMode mode;
	OpForm form;
	bool again;
	const char *of;
	const char *name; /* of the result; NULL: as its op is called */
	bool helper;	  /* results are no_placement */
	bool requested;	  /* collectives are what the user asked for */
	bool joins;	  /* a reshape of a reshape that the program did not name is one */
	/* Told of each op before its attributes are set; may change its operands;
	   false: it is not made. */
	bool (*enter)(void *owner, Op *op);
	void (*refuse)(void *owner, DiagCode code, Range where, const char *why);
	void (*made)(void *owner, Op *op); /* told of it once it is there */
	void *owner;
} Make;

/* Before the op, with its label, range and mode. */
Make make_before(Op *op);
/* Of an op alone: what it is made of has names of its own. */
Make named(Make k, const char *name);

/* For ops with results, attributes or bodies of their own: what lies between
   begin, which gives an op of one result, and end is the caller's. */
Op *make_begin(Make k, OpKind kind, int n, Value *const *operands);
Value *make_end(Make k, Op *op); /* the first result */
/* Where k's ops go, as it is. */
void make_place(Make k, Op *op);
/* The last op of a block. */
Op *make_return(Block *b, int n, Value *const *values, Range range, const char *label);

/* What a block computes of other parameters, by ops of k; the values that it returns. */
Value *const *make_body(Make k, const Block *body, Value *const *params);

/* ---- ops without attributes */
Value *make_op(Make k, OpKind kind, int n, Value *const *operands);
Value *make_unary(Make k, OpKind kind, Value *x);
Value *make_binary(Make k, OpKind kind, Value *a, Value *b);
Value *make_select(Make k, Value *where, Value *a, Value *b);
Value *make_clamp(Make k, Value *low, Value *x, Value *high);

/* ---- pointwise, with a type or an attribute */
Value *make_compare(Make k, Direction d, Value *a, Value *b);
/* An op that changes nothing, whose result may be placed otherwise than x; is it so? */
Value *make_same(Make k, Value *x);
Value *make_whole(Make k, Value *x, int dim);
bool op_changes_nothing(const Op *op);
/* What stands for a result of an op that goes is placed as that was: v, or a copy if v is
   placed otherwise, as a part of another tensor.  Of values of a manual function only those
   that it returns have a placement. */
Value *make_placed(Make k, Value *v, const Value *result);
Value *make_bitcast(Make k, Value *x, DType dtype);
Value *make_convert(Make k, Value *x, DType dtype);
Value *make_constant(Make k, DType dtype, int64_t payload); /* a scalar */
/* ... or a payload for each element, in row-major order. */
Value *make_array(Make k, const Type *type, const int64_t *payloads);
/* An i32, or an i64 where it does not fit. */
Value *make_index(Make k, int64_t n);
Value *make_identity(Make k, Combiner c, DType dtype);
Value *make_neutral(Make k, Combiner c, DType dtype);
Value *make_iota(Make k, const Type *type, int dim);

/* ---- shapes */
Value *make_reshape(Make k, Value *x, int rank, const int64_t *dims);
Value *make_transpose(Make k, Value *x, const int64_t *permutation);
/* Dim i of x becomes dim to[i] of the shape, whose dtype does not matter here
   and in those that follow. */
Value *make_broadcast(Make k, Value *x, const Type *shape, const int64_t *to);
/* ... dim first + i */
Value *make_spread(Make k, Value *x, int first, const Type *shape);
/* A scalar everywhere. */
Value *make_splat(Make k, Value *scalar, const Type *shape);
/* A payload everywhere, and a number, as one of the dtype. */
Value *make_full(Make k, const Type *type, int64_t payload);
Value *make_number(Make k, const Type *type, double number);
/* One of n payloads for each element of the last dim; one for all. */
Value *make_each(Make k, const Type *type, int n, const int64_t *payloads);
/* As numpy would; sizes are known to fit. */
Value *make_broadcast_to(Make k, Value *x, const Type *shape);

/* ---- parts */
Value *
make_slice(Make k, Value *x, const int64_t *start, const int64_t *limit, const int64_t *stride);
/* Elements from, from + stride, ... below `to` of one dim. */
Value *make_slice_dim(Make k, Value *x, int dim, int64_t from, int64_t to, int64_t stride);
/* With a scalar around it; NULL is zero.  What is negative cuts. */
Value *make_pad(Make k, Value *x, Value *padding, const int64_t *low, const int64_t *high);
/* ... and so many between two elements of each dim. */
Value *make_pad_between(Make k, Value *x, Value *padding, const int64_t *low,
	const int64_t *high, const int64_t *inner);
/* The same in place of several ops: placements pass as late as along a slice. */
Value *make_pad_late(Make k, Value *x, Value *padding, const int64_t *low, const int64_t *high,
	const int64_t *inner);
/* With zeros before and behind, along one dim. */
Value *make_pad_dim(Make k, Value *x, int dim, int64_t low, int64_t high);
Value *make_reverse(Make k, Value *x, int n, const int64_t *dims);
Value *make_roll(Make k, Value *x, int dim, int64_t shift); /* 0 <= shift < its size */
/* Windows that move along `n` dims; of each of these: which, how many elements a window
   has, from one window to the next, from one element to the next. */
typedef struct Windows {
	int n;
	int64_t dim[MAX_RANK], size[MAX_RANK], step[MAX_RANK], apart[MAX_RANK];
} Windows;
Value *make_windows(Make k, Value *x, const Windows *windows);
/* ... of x with so many of a scalar before and behind each of the dims */
Value *make_frames(Make k, Value *x, Value *padding, const Windows *windows,
	const int64_t *before, const int64_t *behind);
Value *make_concatenate(Make k, int n, Value *const *x, int dim);
/* Starts are integer scalars of any dtypes; NULL is 0. */
Value *make_dynamic_slice(Make k, Value *x, Value *const *start, const int64_t *size);
Value *make_dynamic_update_slice(Make k, Value *x, Value *update, Value *const *start);
Value *make_take(Make k, Value *x, Value *index, int dim);
/* ... of n dims from `first` on, at vectors of indices, and what adds to such rows */
Value *make_lookup(Make k, Value *x, Value *index, int first, int n);
Value *make_scatter_add(Make k, Value *x, Value *index, Value *update, int first, int n);
/* ... of which some count dims of the indices; its rank is not read */
Value *make_lookup_as(Make k, Value *x, Value *index, const Lookup *look);
Value *make_scatter_add_as(Make k, Value *x, Value *index, Value *update, const Lookup *look);

/* ---- sums */
Value *make_reduce(Make k, Combiner c, Value *x, int n, const int64_t *dims);
/* Of each element and all before it. */
Value *make_cumsum(Make k, Combiner c, Value *x, int dim);
/* Of the combiner, element by element. */
Value *make_combine(Make k, Combiner c, Value *a, Value *b);
typedef struct DotDims {
	int nbatch, ncontract;
	int64_t lhs_batch[MAX_RANK], rhs_batch[MAX_RANK];
	int64_t lhs_contract[MAX_RANK], rhs_contract[MAX_RANK];
} DotDims;
Value *make_dot(Make k, Value *a, Value *b, const DotDims *dims, DType dtype);
/* Rows x[b.., m, k..] times the matrices[b.., g, k.., n..] of their groups; the sums of
   x[b.., m, k..] y[b.., m, n..] of each of n groups.  group: i32[b.., m] */
Value *make_grouped_dot(Make k, Value *x, Value *matrices, Value *group, DType dtype);
Value *make_grouped_outer(Make k, Value *x, Value *y, Value *group, int64_t n, DType dtype);

/* ---- devices; over no axes nothing moves */
/* What of `dim` and `combiner` the collective has. */
Value *make_uniform(Make k, Value *x, const AxisList *axes);
Value *make_collective(Make k, OpKind kind, Value *x, const AxisList *axes, int dim,
	Combiner combiner);
/* source[i]: who sends to member i; -1: nobody.  NULL: as Op.from says. */
Value *make_permute(Make k, Value *x, const AxisList *axes, const AxisList *from,
	const int64_t *source);
/* Of a ragged_all_to_all, all operands. */
Value *make_ragged(Make k, const AxisList *axes, Value *const *operands);
/* `axes`, the minor end of from_dim, become the minor end of to_dim. */
typedef struct Exchange {
	int from_dim, to_dim;
	AxisList axes;
} Exchange;
/* An all-to-all over `axes`, which are those of the exchanges. */
Value *make_exchange(Make k, Value *x, const AxisList *axes, int n, const Exchange *exchanges);
/* axes_index() of the device, times `scale`, from its id. */
Value *make_axes_index(Make k, Value *id, const AxisList *axes, int64_t scale);

#endif

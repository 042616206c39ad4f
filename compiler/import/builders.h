/*
 * builders.h - a function for each builder that ops.def names.
 */
#ifndef SHDC_BUILDERS_H
#define SHDC_BUILDERS_H

#include "import/reader.h"

/* elements.c */
Builder import_op_lacking, import_op_pointwise, import_op_exclusive, import_op_sum,
	import_op_compare, import_op_select, import_op_clamp, import_op_convert, import_op_same,
	import_op_constant, import_op_hosted;
/* composed.c */
enum { ANGLE_asin, ANGLE_acos, ANGLE_atan };
Builder import_op_square, import_op_angle, import_op_next_after, import_op_mulhi,
	import_op_bitcast;
/* functions.c */
enum {
	FORMULA_sinh,
	FORMULA_cosh,
	FORMULA_asinh,
	FORMULA_acosh,
	FORMULA_atanh,
	FORMULA_erfc,
	FORMULA_lgamma,
	FORMULA_digamma,
	FORMULA_bessel_i1e,
	FORMULA_round_away
};
Builder import_op_formula;
Value *formula_sinh(Make k, Value *x);
Value *formula_cosh(Make k, Value *x);
/* floats.c */
Builder import_op_reduce_precision;
/* shapes.c */
Builder import_op_iota, import_op_broadcast, import_op_reshape, import_op_transpose,
	import_op_reverse, import_op_concatenate, import_op_slice, import_op_pad,
	import_op_dynamic_slice, import_op_dynamic_update_slice;
/* sums.c */
Builder import_op_dot, import_op_reduce, import_op_sort, import_op_top_k,
	import_op_approx_top_k;
/* ragged.c */
Builder import_op_ragged_dot;
/* convolution.c */
Builder import_op_convolution;
/* fft.c */
Builder import_op_fft;
/* pooling.c */
Builder import_op_window, import_op_scatter_windows;
/* index.c */
Builder import_op_gather, import_op_scatter;
/* opaque.c */
Builder import_op_opaque;
/* random.c */
Builder import_op_random;
/* control.c */
Builder import_op_call, import_op_while, import_op_case;
/* manual.c */
Builder import_op_constraint, import_op_group, import_op_manual;
bool constrain(Import *in, const MlirOp *op, const MlirAttr *sharding);
/* The value, placed as the first of its group in this block; itself, if it is that. */
Value *like_group(Import *in, int64_t id, Value *v);
void vouch_results(Module *m); /* of a program that is read */
/* shard_map.c */
Builder import_op_custom_call, import_op_sharding;
/* collectives.c */
Builder import_op_partition_id, import_op_collective, import_op_all_to_all, import_op_permute,
	import_op_ragged_exchange;

/* values.c: a number everywhere, of the type of x; the bits of one; x and a number */
Value *number_like(Make k, const Value *x, double v);
Value *word_like(Make k, const Value *x, uint64_t word);
Value *with(Make k, OpKind kind, Value *x, double v);
Value *compare_with(Make k, Direction d, Value *x, double v);
/* Of a tensor of the type, each element's number among those along `dims`, the last of them
   counting fastest; `step` (NULL: 1) elements of a dim share one. */
Value *number_elements(Make k, const Type *type, uint32_t dims, const int64_t *step);
/* The integers of so many bits. */
DType integers_of(int bits, DTypeClass class);

/* floats.c: integers that compare as the floats x in total order */
Value *total_order(Make k, Value *x);

/* shapes.c: x with paddings before, behind and between the elements of each dim; NULL if
   that cannot be. */
typedef struct Padding {
	int64_t low[MAX_RANK], high[MAX_RANK], inner[MAX_RANK];
} Padding;
Value *pad_around(Import *in, Value *x, Value *padding, const Padding *by);

/* columns.c: of a program that is read */
void note_columns(Import *in);

/* shifts.c: operands after each other, if that is one of them moved along the dim; or NULL. */
Value *moved_together(Make k, int n, Value *const *parts, int dim);
/* ... and parts of what is put together or padded, of a program that is read. */
void join_shifts(Module *m, Arena *a);
/* May some axis split both, so many elements and all? */
bool may_be_split(const Mesh *mesh, int64_t some, int64_t all);

/* widen.c: of a concatenation or a pad, what is computed of all rows with a few written into
   it; or NULL. */
Value *computed_wider(Arena *a, Op *made);

/* windows.c: of each dim of a tensor: how many elements a window has, from one window to the
   next, from one element to the next; what is put around the tensor, and into it. */
typedef struct Frame {
	int64_t size[MAX_RANK], step[MAX_RANK], apart[MAX_RANK];
	Padding by;
	uint32_t moved; /* along these dims windows move though they have one element */
} Frame;
Frame frame_new(int rank); /* of one element, everywhere */
bool frame_moves(const Frame *frame, int d);
/* The elements of windows are last dims, in the order of the dims that they move along.
   NULL after a message. */
Value *frame_show(Import *in, const MlirOp *op, Value *x, Value *padding, const Frame *frame);
/* Over the dims behind the first `rank`. */
Value *reduce_last(Make k, Combiner c, Value *v, int rank);
/* One number for each of n, 1 where nothing is said; false after a message. */
bool read_each(Import *in, const MlirOp *op, const char *name, int n, int64_t *v);
/* shifts.c: the same value, or constants that are the same number. */
bool same_scalar(const Value *a, const Value *b);

/* sums.c: a product; dims of a batch, of both; those that are summed */
Value *dot_of(Make k, Value *a, Value *b, const Numbers *lb, const Numbers *rb,
	const Numbers *lc, const Numbers *rc, DType dtype);
/* sums.c */
bool is_identity(const Value *init, Combiner c);

/* The rows of slices along each of n dims, of one type; -1: there is none. */
typedef struct Rows {
	Value *at[MAX_RANK];
	int n;
} Rows;

/* hits.c: rows at positions by comparing.  x has the dims of a batch, those of rows, and
   others; `along` says which dims of what is in `rows` the batch is. */
Value *hits_take(Make k, Value *x, const Rows *rows, const Numbers *along);
Value *hits_combine(Make k, Combiner c, Value *x, const Rows *rows, const Numbers *along,
	Value *update);
Value *hits_set(Make k, Value *x, const Rows *rows, const Numbers *along, Value *update);
/* Of ranks that are so: have they few enough dims together? */
bool hits_fit(int nrows, int rank, int nbatch);

/* slices.c: of gathers and scatters that take() and scatter_add() are not; false where they
   are of another kind, too. */
typedef struct SliceDims {
	Numbers batch;	  /* of x: those of the indices, too */
	Numbers where;	  /* of x: what an index vector is of */
	Numbers one;	  /* of x: those that slices do not have */
	Numbers window;	  /* of the slices: those of x */
	Numbers of_index; /* of the indices: those of `batch` */
	int64_t vector;	  /* of the indices */
} SliceDims;
bool gather_slices(Import *in, const SliceDims *slices, const Numbers *sizes, const Type *type);
/* What becomes of what is there: set, else combined; unique: no index is there twice. */
typedef struct Scattered {
	bool set, unique;
	Combiner combiner;
} Scattered;
bool scatter_slices(Import *in, const SliceDims *slices, const Scattered *how);

/* index.c; false, perhaps after a message: it is of no kind that is known */
bool scatter_of(Import *in, const MlirOp *op, const Scattered *how);
/* steps.c: a region of its own */
bool scatter_steps(Import *in, const MlirOp *op, bool unique);

#endif

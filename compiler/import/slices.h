/*
 * slices.h - what a gather or a scatter moves: slices of a tensor x, at indices.
 */
#ifndef SHDC_IMPORT_SLICES_H
#define SHDC_IMPORT_SLICES_H

#include "import/builders.h"

/* The dims of x: of a batch, those that indices are of, outermost first, and the others; of
   each how many elements a slice has; which are dims of the slices too, in their order. */
typedef struct Cut {
	const Type *shape;
	Numbers batch, indexed, rest, kept;
	Numbers along; /* the dims of rows that are those of the batch */
	int before;    /* of the rest, so many stay before the indexed ones */
	int64_t sizes[MAX_RANK];
	int64_t vector;		  /* the dim of the indices */
	Value *columns[MAX_RANK]; /* of the indices, of each indexed dim */
	Value *inside; /* is each slice inside of dims that it has all of? NULL: yes */
} Cut;

/* Rows as one tensor, of vectors where they are several. */
Value *as_vectors(Make k, const Rows *rows);
/* Of rows that are the same all but the last become -1, in each element of the first `nbatch`
   dims. */
void last_of_each(Make k, Rows *rows, int nbatch);

/* batches.c: slices of a batch, looked up.  Has what that takes few enough dims?  False
   without a batch. */
bool batch_fits(const Cut *cut, const Rows *rows);
/* ... and are pairs of rows few enough to compare them? */
bool batch_pairs_fit(const Cut *cut, const Rows *rows);
/* Where each dim of what is taken is in a tensor of slices of so many dims. */
void batch_order(const Cut *cut, const SliceDims *slices, int rank, int64_t *order);
/* Slices, and updates, are in that order; NULL: an error. */
Value *batch_take(Make k, const Cut *cut, Value *x, const Rows *rows);
Value *batch_add(Make k, const Cut *cut, Value *x, const Rows *rows, Value *update);
Value *
batch_set(Make k, const Cut *cut, Value *x, const Rows *rows, Value *update, bool unique);

#endif

/*
 * localize.h - private to the localize pass.
 *
 * New ops go before the op that is localized; what they make is a helper
 * (no_placement) until it stands for a value of the program.
 */
#ifndef SHDC_LOCALIZE_H
#define SHDC_LOCALIZE_H

#include "shard/shard.h"

typedef struct Localizer {
	Module *module;
	Arena *arena;
	Resharder *resharder;
	Value **alias; /* by value id: what to use instead */
	int nalias;
	Table *offsets; /* of the block: axes -> index on this device */
	DType index;	/* of offsets: i64 if some dim needs it */
	Make make;	/* of what the op becomes */
} Localizer;

/* Is 0 <= v < n?  Of a scalar, or of each element. */
Value *is_within(Localizer *l, Value *v, int64_t n);

/* axes_index() of this device, times `scale`; in l->index. */
Value *device_offset(Localizer *l, const AxisList *axes, int64_t scale);

/* Is its index along the axes that number?  One for a block. */
Value *is_device(Localizer *l, const AxisList *axes, int64_t i);

/* A number in l->index, one for a block. */
Value *number(Localizer *l, int64_t n);

/* The new value has name and users of the old op's result. */
void take_over(Localizer *l, Op *old, Value *new);
/* ... and its placement, where it was made for it. */
void stand_for(Localizer *l, Op *old, Value *new);

/* halo.c: ops that move elements along dims */
void localize_slice(Localizer *l, Op *op);
void localize_pad(Localizer *l, Op *op);
void localize_windows(Localizer *l, Op *op);
void localize_concatenate(Localizer *l, Op *op);
void localize_reverse(Localizer *l, Op *op);
void localize_roll(Localizer *l, Op *op);

/* lookup.c: rows at indices */
void localize_take(Localizer *l, Op *op);
void localize_scatter_add(Localizer *l, Op *op);
void localize_grouped(Localizer *l, Op *op);

/* dynamic.c: parts, also at an index that the run knows */
/* Is the result of the slice parts of a sum because of that dim, which is split? */
bool is_in_parts(const Op *slice, int dim);
/* What the slice takes of these dims, of its operand as it is here. */
Value *take_parts(Localizer *l, const Op *slice, Value *x);
void localize_dynamic_slice(Localizer *l, Op *op);
void localize_dynamic_update_slice(Localizer *l, Op *op);

#endif

/*
 * localize.h - private to the localize pass.
 *
 * New ops go before `at`.  local_*() make one op each; what they make is a
 * helper (no_placement) until somebody gives it one.
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
	Table *offsets;	  /* of the block: axes -> index on this device */
	DType index;	  /* of offsets: i64 if some dim needs it */
	Op *at;		  /* new ops go before it */
	const Op *reason; /* whose label and range they get */
} Localizer;

/* Without a type; local_inferred() asks the op table for it. */
Op *local_op(Localizer *l, OpKind kind, int n, Value *const *operands, const char *name);
Value *
local_inferred(Localizer *l, OpKind kind, int n, Value *const *operands, const char *name);
Value *local_typed(Localizer *l, OpKind kind, int n, Value *const *operands, const char *name,
	Type type);
Value *local_constant(Localizer *l, DType dtype, int64_t payload);
Value *local_binary(Localizer *l, OpKind kind, Value *a, Value *b, const char *name);
Value *local_convert(Localizer *l, Value *v, DType dtype);
Value *local_compare(Localizer *l, Direction direction, Value *a, Value *b);
/* A scalar everywhere. */
Value *local_splat(Localizer *l, Value *scalar, const Type *shape);

/* `v` over the dims `first`, first + 1, ... of the shape. */
Value *local_spread(Localizer *l, Value *v, int first, const Type *shape);

/* axes_index() of this device, times `scale`; in l->index. */
Value *device_offset(Localizer *l, const AxisList *axes, int64_t scale);
Value *zero_offset(Localizer *l);

/* The new value has name and users of the old op's result. */
void take_over(Localizer *l, Op *old, Value *new);

/* halo.c: ops that move elements along dims */
void localize_slice(Localizer *l, Op *op);
void localize_pad(Localizer *l, Op *op);
void localize_concatenate(Localizer *l, Op *op);
void localize_reverse(Localizer *l, Op *op);
void localize_roll(Localizer *l, Op *op);

/* dynamic.c: parts at an index that the run knows */
void localize_dynamic_slice(Localizer *l, Op *op);
void localize_dynamic_update_slice(Localizer *l, Op *op);

#endif

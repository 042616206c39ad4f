/*
 * types.h - what the result of each op is, or why the op is wrong.
 *
 * A type function is a row's `types` column in ops.def; typing.c calls it.  It reads operands
 * and attributes only, but for the ops whose result is not determined by
 * them (a constant's dtype, a reshape's dims, ...): those find the wanted
 * type in results[0].  The messages reach users: they say what was seen and
 * what was wanted.  The same functions serve whole tensors and shards.
 */
#ifndef SHDC_TYPES_H
#define SHDC_TYPES_H

#include "ir/ir.h"

/* `results`: as many as the op has.  NULL, or what is wrong. */
typedef const char *TypeFunction(const Op *op, Type *results);

/* type_simple.c: leaves, pointwise, shape */
TypeFunction type_constant, type_iota, type_partition_id, type_same;
TypeFunction type_same_number, type_same_integer;
TypeFunction type_same_float, type_same_bits, type_pred_float, type_pred;
TypeFunction type_convert, type_bitcast, type_select, type_broadcast;
TypeFunction type_reshape, type_transpose, type_reverse, type_roll, type_windows;
TypeFunction type_slice, type_concatenate, type_pad;
/* type_compute.c: contraction, reduction, lookups, sort, extern */
TypeFunction type_dot, type_reduce, type_cumsum, type_take, type_scatter_add;
TypeFunction type_grouped_dot, type_grouped_outer;
TypeFunction type_dynamic_slice, type_dynamic_update_slice, type_sort;
TypeFunction type_extern;
/* type_structure.c: bodies and collectives */
TypeFunction type_bodies, type_none;
const char *check_form(const Op *op); /* of an op with bodies, before flows are followed */
TypeFunction type_all_gather, type_all_reduce, type_reduce_scatter;
TypeFunction type_all_to_all, type_permute, type_ragged;

/* type_checks.c: what they share.  NULL, or what is wrong. */
const char *op_wrong(const Op *op, const char *fmt, ...) PRINTF_LIKE(2, 3);
const char *shape_of(const Op *op, const Type *type); /* in words, for that */
const Type *operand_type(const Op *op, int i);
const Type *wanted_type(const Op *op);
const char *check_size(const Op *op, const Type *type);
const char *check_dim(const Op *op, int64_t dim, int rank);
const char *check_dims(const Op *op, AttrKind attr, int rank);
const char *check_count(const Op *op, AttrKind attr, int rank);
const char *check_scalar(const Op *op, int i, DType dtype);
const char *check_equal(const Op *op, int first);
const char *check_combiner(const Op *op, DType d);

/* types.c: the least or greatest number of a dtype that is no float */
int64_t integer_limit(DType d, bool greatest);

#endif

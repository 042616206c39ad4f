/* types.h - the type functions that the op table names. */
#ifndef SHDC_TYPES_H
#define SHDC_TYPES_H

#include "ir/ir.h"

/* `results`: as many as the op has. */
typedef const char *TypeFunction(const Op *op, Arena *a, Type *results);

TypeFunction type_constant, type_iota, type_partition_id, type_same;
TypeFunction type_same_number, type_same_integer;
TypeFunction type_same_float, type_same_pred, type_pred_float, type_pred;
TypeFunction type_convert, type_select, type_clamp, type_broadcast;
TypeFunction type_reshape, type_transpose, type_reverse, type_slice;
TypeFunction type_concatenate, type_pad, type_roll, type_dot, type_reduce, type_cumsum;
TypeFunction type_take, type_scatter_add, type_dynamic_slice;
TypeFunction type_dynamic_update_slice, type_sort, type_extern;
TypeFunction type_call, type_while, type_if, type_manual, type_none;
TypeFunction type_all_gather, type_all_reduce, type_reduce_scatter;
TypeFunction type_all_to_all, type_permute, type_ragged;

#endif

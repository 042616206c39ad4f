/*
 * builders.h - the functions behind the rows of builtins.def.
 */
#ifndef SHDC_BUILDERS_H
#define SHDC_BUILDERS_H

#include "elaborate.h"

Builder build_einsum, build_matmul;
Builder build_pointwise, build_where, build_prelude1, build_gelu;
Builder build_reduce, build_mean, build_spread, build_along, build_norm;
Builder build_argument, build_cumsum;
Builder build_reshape, build_transpose, build_broadcast, build_concat;
Builder build_stack, build_split, build_repeat, build_pad, build_roll;
Builder build_flip, build_take, build_one_hot, build_iota, build_full;
Builder build_size, build_axis_size, build_reshard, build_shard_like;
Builder build_dynamic_slice, build_dynamic_update_slice, build_scatter_add;
Builder build_sort, build_top_k, build_random, build_number;
Builder build_barrier, build_positions, build_widen, build_narrow, build_dropped;
Builder build_psum, build_pmean, build_all_gather, build_psum_scatter;
Builder build_all_to_all, build_ppermute, build_axis_index;
Builder build_ragged_all_to_all;

#endif

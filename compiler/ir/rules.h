/* rules.h - the rule functions that the op table names. */
#ifndef SHDC_RULES_H
#define SHDC_RULES_H

#include "ir/ir.h"

typedef void RuleFunction(Rule *r, const Op *op);

RuleFunction rule_leaf, rule_pointwise, rule_broadcast, rule_reshape;
RuleFunction rule_transpose, rule_slice, rule_concatenate, rule_pad;
RuleFunction rule_windows, rule_roll, rule_reverse, rule_dot, rule_reduce, rule_cumsum,
	rule_take;
RuleFunction rule_grouped_dot, rule_grouped_outer;
RuleFunction rule_scatter_add, rule_dynamic_slice, rule_dynamic_update_slice;
RuleFunction rule_sort, rule_group, rule_ragged, rule_extern, rule_blocked;

/* A fresh factor; what a dim of a tensor is made of, major to minor. */
int rule_factor(Rule *r, int64_t size, FactorKind kind);
void rule_place(Rule *r, int tensor, int dim, int factor);

#endif

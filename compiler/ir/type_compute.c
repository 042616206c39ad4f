/*
 * type_compute.c - the types of ops that contract, reduce, look up and sort,
 * and of extern functions.
 */
#include "ir/types.h"

/* The dims of one operand that a pair of dot attributes name, each once. */
static const char *
check_dot_dims(const Op *op, AttrKind batch, AttrKind contract, int rank)
{
	const Ints *b = op_ints(op, batch), *c = op_ints(op, contract);

	const char *wrong = check_dims(op, batch, rank);
	if (!wrong)
		wrong = check_dims(op, contract, rank);
	for (int i = 0; i < b->n && !wrong; i++)
		if (ints_contain(c, b->v[i]))
			wrong = op_wrong(op,
				"dim %lld of a dot's operand "
				"is both batch and contracting",
				(long long)b->v[i]);
	return wrong;
}

static const char *
check_dot_pairs(const Op *op, AttrKind lhs, AttrKind rhs)
{
	const Ints *l = op_ints(op, lhs), *r = op_ints(op, rhs);
	const Type *x = operand_type(op, 0), *y = operand_type(op, 1);

	if (l->n != r->n)
		return op_wrong(op, "dot pairs %d dims with %d", l->n, r->n);
	for (int i = 0; i < l->n; i++)
		if (x->dims[l->v[i]] != y->dims[r->v[i]])
			return op_wrong(op,
				"dot pairs dim %lld of %s with "
				"dim %lld of %s",
				(long long)l->v[i], shape_of(op, x), (long long)r->v[i],
				shape_of(op, y));
	return NULL;
}

/* Appends the dims of an operand that are neither batch nor contracted. */
static bool
append_rest(Type *result, const Type *x, const Ints *batch, const Ints *contract)
{
	for (int d = 0; d < x->rank; d++) {
		if (ints_contain(batch, d) || ints_contain(contract, d))
			continue;
		if (result->rank == MAX_RANK)
			return false;
		result->dims[result->rank++] = x->dims[d];
	}
	return true;
}

/* Sums may be kept in a wider dtype of the same class (einsum's `dtype=`). */
static DType
sum_dtype(const Op *op)
{
	DType d = operand_type(op, 0)->dtype, wanted = wanted_type(op)->dtype;
	bool wider =
		dtypes[wanted].class == dtypes[d].class && dtypes[wanted].bits > dtypes[d].bits;

	return wider ? wanted : d;
}

const char *
type_dot(const Op *op, Type *result)
{
	const Type *x = operand_type(op, 0), *y = operand_type(op, 1);
	const Ints *batch = op_ints(op, A_lhs_batch);

	if (x->dtype != y->dtype)
		return op_wrong(op, "dot needs operands of one dtype, not %s and %s",
			dtypes[x->dtype].name, dtypes[y->dtype].name);
	if (x->dtype == D_pred)
		return "dot needs numbers, not pred";
	const char *wrong = check_dot_dims(op, A_lhs_batch, A_lhs_contract, x->rank);
	if (!wrong)
		wrong = check_dot_dims(op, A_rhs_batch, A_rhs_contract, y->rank);
	if (!wrong)
		wrong = check_dot_pairs(op, A_lhs_batch, A_rhs_batch);
	if (!wrong)
		wrong = check_dot_pairs(op, A_lhs_contract, A_rhs_contract);
	if (wrong)
		return wrong;
	*result = type_of(sum_dtype(op), 0, NULL);
	for (int i = 0; i < batch->n; i++)
		result->dims[result->rank++] = x->dims[batch->v[i]];
	if (!append_rest(result, x, batch, op_ints(op, A_lhs_contract))
		|| !append_rest(result, y, op_ints(op, A_rhs_batch),
			op_ints(op, A_rhs_contract)))
		return op_wrong(op, "dot of %s and %s has more than %d dims", shape_of(op, x),
			shape_of(op, y), MAX_RANK);
	return check_size(op, result);
}

/* What sums begin with: each part of one does. */
static const char *
check_identity(const Op *op, Combiner c, DType d)
{
	const char *wrong = check_scalar(op, 1, d);
	const Op *def = op->operands[1]->def;
	int64_t identity = combiner_identity(c, d);

	if (wrong)
		return wrong;
	if (!def || def->kind != O_constant || op_ints(def, A_value)->n != 1)
		return op_wrong(op, "what %s begins with has to be a constant",
			ops[op->kind].name);
	int64_t value = op_ints(def, A_value)->v[0];
	if (dtype_is_float(d) ? payload_double(value) == payload_double(identity)
			      : value == identity)
		return NULL;
	return op_wrong(op, "%s begins with %s, which is not the identity of %s",
		ops[op->kind].name, op->operands[1]->name, combiners[c].name);
}

const char *
type_reduce(const Op *op, Type *result)
{
	const Type *x = operand_type(op, 0);
	const Ints *dims = op_ints(op, A_dims);

	const char *wrong = check_dims(op, A_dims, x->rank);
	if (!wrong)
		wrong = check_combiner(op, x->dtype);
	if (!wrong)
		wrong = check_identity(op, (Combiner)op_int(op, A_combiner), x->dtype);
	*result = type_of(x->dtype, 0, NULL);
	for (int d = 0; d < x->rank; d++)
		if (!ints_contain(dims, d))
			result->dims[result->rank++] = x->dims[d];
	return wrong;
}

const char *
type_cumsum(const Op *op, Type *result)
{
	*result = *operand_type(op, 0);
	const char *wrong = check_dim(op, op_int(op, A_dim), result->rank);
	if (wrong)
		return wrong;
	wrong = check_combiner(op, result->dtype);
	return wrong ? wrong
		     : check_identity(op, (Combiner)op_int(op, A_combiner), result->dtype);
}

/* Dims that are looked up, not all of them, as large as those of the indices. */
static const char *
check_counted(const Op *op, const Type *x, const Type *index)
{
	const Ints *dims = op_ints(op, A_dim), *counted = op_ints(op, A_counted);

	for (int i = 0; i < counted->n; i++) {
		int64_t d = counted->v[i];
		bool again = false;
		for (int j = 0; j < i; j++)
			again |= counted->v[j] == d;
		if (again || counted->n >= dims->n || !ints_contain(dims, d)
			|| x->dims[d] != index->dims[i])
			return op_wrong(op, "indices %s do not count dim %lld of %s",
				shape_of(op, index), (long long)d, shape_of(op, x));
	}
	return NULL;
}

const char *
type_take(const Op *op, Type *result)
{
	const Type *x = operand_type(op, 0), *index = operand_type(op, 1);
	const Ints *dims = op_ints(op, A_dim);

	for (int i = 0; i < dims->n; i++) {
		const char *wrong = check_dim(op, dims->v[i], x->rank);
		if (wrong)
			return wrong;
		if (dims->v[i] != dims->v[0] + i)
			return op_wrong(op, "take looks up dims that are beside each other");
	}
	if (!dtype_is_index(index->dtype))
		return op_wrong(op, "take needs integer indices, not %s", shape_of(op, index));
	if (dims->n > 1 && (!index->rank || index->dims[index->rank - 1] != dims->n))
		return op_wrong(op, "take of %d dims needs as many indices, not %s", dims->n,
			shape_of(op, index));
	const char *miscounted = check_counted(op, x, index);
	if (miscounted)
		return miscounted;
	Lookup look = op_lookup(op);
	if (x->rank - look.n + look.rank > MAX_RANK)
		return op_wrong(op, "take of %s at %s has more than %d dims", shape_of(op, x),
			shape_of(op, index), MAX_RANK);
	*result = type_of(x->dtype, 0, NULL);
	for (int d = 0; d < look.first; d++)
		result->dims[result->rank++] = x->dims[d];
	for (int d = 0; d < look.rank; d++)
		result->dims[result->rank++] = index->dims[d];
	for (int d = look.first + look.n; d < x->rank; d++)
		result->dims[result->rank++] = x->dims[d];
	return check_size(op, result);
}

/* What take(x, idx, dim) would give is what scatter_add() adds to x. */
const char *
type_scatter_add(const Op *op, Type *result)
{
	const Type *x = operand_type(op, 0), *update = operand_type(op, 2);
	Type taken;

	*result = *x;
	const char *wrong = type_take(op, &taken);
	if (wrong)
		return wrong;
	if (x->dtype == D_pred)
		return "scatter_add needs numbers, not pred";
	if (!type_equal(update, &taken))
		return op_wrong(op, "scatter_add needs updates %s, not %s",
			shape_of(op, &taken), shape_of(op, update));
	return NULL;
}

/* Are the first dims those of the groups, and the dtypes one? */
static const char *
check_groups(const Op *op, int of_other)
{
	const Type *x = operand_type(op, 0), *other = operand_type(op, 1);
	const Type *group = operand_type(op, 2);
	const char *name = ops[op->kind].name;
	bool fits = group->rank > 0 && x->rank >= group->rank && other->rank >= group->rank;

	if (x->dtype != other->dtype || x->dtype == D_pred)
		return op_wrong(op, "%s needs numbers of one dtype, not %s and %s", name,
			shape_of(op, x), shape_of(op, other));
	if (group->dtype != D_i32)
		return op_wrong(op, "groups are of i32, not %s", shape_of(op, group));
	for (int d = 0; d < group->rank && fits; d++)
		fits = x->dims[d] == group->dims[d]
			&& (d >= of_other || other->dims[d] == group->dims[d]);
	if (!fits)
		return op_wrong(op, "%s of %s and %s cannot have groups %s", name,
			shape_of(op, x), shape_of(op, other), shape_of(op, group));
	return NULL;
}

const char *
type_grouped_dot(const Op *op, Type *result)
{
	const Type *x = operand_type(op, 0), *w = operand_type(op, 1);
	int rows = operand_type(op, 2)->rank - 1;
	const char *wrong = check_groups(op, rows);

	if (wrong)
		return wrong;
	bool fits = w->rank >= x->rank;
	for (int d = rows + 1; d < x->rank && fits; d++)
		fits = x->dims[d] == w->dims[d];
	if (!fits)
		return op_wrong(op, "rows of %s cannot be multiplied with groups of %s",
			shape_of(op, x), shape_of(op, w));
	*result = type_of(sum_dtype(op), rows + 1, x->dims);
	for (int d = x->rank; d < w->rank; d++)
		result->dims[result->rank++] = w->dims[d];
	return check_size(op, result);
}

const char *
type_grouped_outer(const Op *op, Type *result)
{
	const Type *x = operand_type(op, 0), *y = operand_type(op, 1);
	int rows = operand_type(op, 2)->rank - 1;
	const char *wrong = check_groups(op, rows + 1);

	if (wrong)
		return wrong;
	if (x->rank + y->rank - rows - 1 > MAX_RANK)
		return op_wrong(op, "%s of %s and %s has more than %d dims", ops[op->kind].name,
			shape_of(op, x), shape_of(op, y), MAX_RANK);
	*result = type_of(sum_dtype(op), x->rank, x->dims);
	result->dims[rows] = op_int(op, A_groups);
	for (int d = rows + 1; d < y->rank; d++)
		result->dims[result->rank++] = y->dims[d];
	return check_size(op, result);
}

/* Operands `first` on: a start for each dim of operand 0. */
static const char *
check_starts(const Op *op, int first)
{
	const Type *x = operand_type(op, 0);

	if (op->noperands != first + x->rank)
		return op_wrong(op, "%s of %s needs %d starts, not %d", ops[op->kind].name,
			shape_of(op, x), x->rank, op->noperands - first);
	for (int d = 0; d < x->rank; d++) {
		const Type *start = operand_type(op, first + d);
		if (start->rank || !dtype_is_index(start->dtype))
			return op_wrong(op,
				"%s needs integer scalars as "
				"starts, not %s",
				ops[op->kind].name, shape_of(op, start));
		if (start->dtype != operand_type(op, first)->dtype)
			return op_wrong(op, "%s needs starts of one dtype", ops[op->kind].name);
	}
	return NULL;
}

const char *
type_dynamic_slice(const Op *op, Type *result)
{
	if (!op->noperands)
		return "dynamic_slice needs an operand";
	const Type *x = operand_type(op, 0);
	const Ints *sizes = op_ints(op, A_sizes);
	const char *wrong = check_count(op, A_sizes, x->rank);
	if (!wrong)
		wrong = check_starts(op, 1);
	if (wrong)
		return wrong;
	*result = *x;
	for (int d = 0; d < x->rank; d++) {
		if (sizes->v[d] < 1 || sizes->v[d] > x->dims[d])
			return op_wrong(op,
				"dynamic_slice of %lld elements "
				"of dim %d, which has size %lld",
				(long long)sizes->v[d], d, (long long)x->dims[d]);
		result->dims[d] = sizes->v[d];
	}
	return NULL;
}

const char *
type_dynamic_update_slice(const Op *op, Type *result)
{
	if (op->noperands < 2)
		return "dynamic_update_slice needs a tensor and its update";
	const Type *x = operand_type(op, 0), *update = operand_type(op, 1);
	*result = *x;
	if (update->rank != x->rank || update->dtype != x->dtype)
		return op_wrong(op,
			"dynamic_update_slice of %s needs an "
			"update of its dtype and as many dims, not %s",
			shape_of(op, x), shape_of(op, update));
	for (int d = 0; d < x->rank; d++)
		if (update->dims[d] > x->dims[d])
			return op_wrong(op,
				"dynamic_update_slice puts %s "
				"in the smaller %s",
				shape_of(op, update), shape_of(op, x));
	return check_starts(op, 2);
}

const char *
type_sort(const Op *op, Type *results)
{
	int64_t direction = op_int(op, A_direction);

	if (!op->noperands || op->nresults != op->noperands)
		return op_wrong(op, "sort of %d tensors has %d results", op->noperands,
			op->nresults);
	const Type *key = operand_type(op, 0);
	for (int i = 0; i < op->noperands; i++) {
		results[i] = *operand_type(op, i);
		Type alike = results[i];
		alike.dtype = key->dtype;
		if (!type_equal(key, &alike))
			return op_wrong(op,
				"sort needs operands of equal "
				"dims, not %s and %s",
				shape_of(op, key), shape_of(op, &results[i]));
	}
	if (direction != DIR_LT && direction != DIR_GT)
		return "sort is ascending (LT) or descending (GT)";
	return check_dim(op, op_int(op, A_dim), key->rank);
}

/* "operand 2", "result 1" */
static const char *
tensor_words(const Op *op, int tensor)
{
	bool operand = tensor < op->noperands;

	return op_wrong(op, "%s %d", operand ? "operand" : "result",
		1 + (operand ? tensor : tensor - op->noperands));
}

/* Each letter of the rule has one size. */
static const char *
check_letters(const Op *op, const ExternRule *rule)
{
	int64_t sizes[RULE_LETTERS] = {0};
	int first[RULE_LETTERS];

	for (int t = 0; t < rule->nterms; t++) {
		const Type *type = &rule_tensor(op, t)->type;
		for (int d = 0; d < type->rank; d++) {
			int letter = rule->terms[t].dims[d].letters[0];
			if (!rule->terms[t].dims[d].n || sizes[letter] == type->dims[d])
				continue;
			if (sizes[letter])
				return op_wrong(op,
					"'%c' of the rule \"%s\" "
					"has size %lld in %s and %lld in %s",
					extern_rule_letter(letter), op->external->rule,
					(long long)sizes[letter],
					tensor_words(op, first[letter]),
					(long long)type->dims[d], tensor_words(op, t));
			sizes[letter] = type->dims[d];
			first[letter] = t;
		}
	}
	return NULL;
}

/* The types of the results are given. */
const char *
type_extern(const Op *op, Type *results)
{
	if (!op->external)
		return "extern without its function";
	const char *rule = op->external->rule;
	const ExternRule *r = &op->external->parsed;
	if (r->noperands != op->noperands || r->nterms != op->noperands + op->nresults)
		return op_wrong(op,
			"the rule \"%s\" is of %d operands and "
			"%d results, not %d and %d",
			rule, r->noperands, r->nterms - r->noperands, op->noperands,
			op->nresults);
	for (int t = 0; t < r->nterms; t++)
		if (rule_tensor(op, t)->type.rank != r->terms[t].rank)
			return op_wrong(op,
				"the rule \"%s\" gives %s %d "
				"dims; it has %d",
				rule, tensor_words(op, t), r->terms[t].rank,
				rule_tensor(op, t)->type.rank);
	for (int i = 0; i < op->nresults; i++) {
		results[i] = op->results[i]->type;
		const char *wrong = check_size(op, &results[i]);
		if (wrong)
			return wrong;
	}
	return r->sized ? NULL : check_letters(op, r);
}

/*
 * type_checks.c - what type functions ask of an op's operands and attributes:
 * NULL, or what was seen and what was wanted.
 */
#include "ir/types.h"

const char *
op_wrong(const Op *op, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	const char *wrong = arena_vprintf(op->module->arena, fmt, ap);
	va_end(ap);
	return wrong;
}

const char *
shape_of(const Op *op, const Type *type)
{
	return type_shape(op->module->arena, type);
}

const Type *
operand_type(const Op *op, int i)
{
	return &op->operands[i]->type;
}

const Type *
wanted_type(const Op *op)
{
	return &op->results[0]->type;
}

/* NULL if the tensor can exist at all. */
const char *
check_size(const Op *op, const Type *type)
{
	for (int d = 0; d < type->rank; d++)
		if (type->dims[d] < 1)
			return op_wrong(op,
				"dim %d of the result would "
				"have size %lld; sizes start at 1",
				d, (long long)type->dims[d]);
	return type_can_be(type) ? NULL
				 : op_wrong(op,
					 "the result %s has more bytes "
					 "than 64 bits can count",
					 shape_of(op, type));
}

const char *
check_dim(const Op *op, int64_t dim, int rank)
{
	if (dim >= 0 && dim < rank)
		return NULL;
	return op_wrong(op, "%s along dim %lld of a tensor that has %d dims",
		ops[op->kind].name, (long long)dim, rank);
}

/* Each of a list of dims exists and appears once. */
const char *
check_dims(const Op *op, AttrKind attr, int rank)
{
	const Ints *dims = op_ints(op, attr);
	uint32_t seen = 0;

	for (int i = 0; i < dims->n; i++) {
		const char *wrong = check_dim(op, dims->v[i], rank);
		if (wrong)
			return wrong;
		if (seen >> dims->v[i] & 1)
			return op_wrong(op, "%s names dim %lld twice", ops[op->kind].name,
				(long long)dims->v[i]);
		seen |= 1u << dims->v[i];
	}
	return NULL;
}

/* An attribute with one entry for each of `rank` dims. */
const char *
check_count(const Op *op, AttrKind attr, int rank)
{
	if (op_ints(op, attr)->n == rank)
		return NULL;
	return op_wrong(op, "%s needs an entry for each of %d dims, not %d", ops[op->kind].name,
		rank, op_ints(op, attr)->n);
}

const char *
check_scalar(const Op *op, int i, DType dtype)
{
	const Type *type = operand_type(op, i);

	if (type->rank == 0 && type->dtype == dtype)
		return NULL;
	return op_wrong(op, "%s needs a scalar %s as operand %d, not %s", ops[op->kind].name,
		dtypes[dtype].name, i + 1, shape_of(op, type));
}

const char *
check_equal(const Op *op, int first)
{
	for (int i = first + 1; i < op->noperands; i++)
		if (!type_equal(operand_type(op, first), operand_type(op, i)))
			return op_wrong(op,
				"%s needs operands of one type, "
				"not %s and %s",
				ops[op->kind].name, shape_of(op, operand_type(op, first)),
				shape_of(op, operand_type(op, i)));
	return NULL;
}

const char *
check_combiner(const Op *op, DType d)
{
	int64_t c = op_int(op, A_combiner);

	if (c < 0 || c >= COMBINER_COUNT)
		return "there is no such combiner";
	if (!combiner_takes((Combiner)c, d))
		return op_wrong(op, "%s with '%s' needs %s, not %s", ops[op->kind].name,
			combiners[c].name, d == D_pred ? "numbers" : "pred", dtypes[d].name);
	return NULL;
}

/*
 * elements.c - ops that work element by element, and constants.
 */
#include <string.h>

#include "import/builders.h"
#include "ir/flow.h"

bool
import_op_pointwise(Import *in, const MlirOp *op, int kind)
{
	if (in->noperands != ops[kind].operands)
		return read_wrong(in, op->range, "%s takes %d operands", op->name,
			ops[kind].operands);
	in->results[0] = make_op(in->make, (OpKind)kind, in->noperands, in->operands);
	return true;
}

static bool
is_pred(Import *in)
{
	return in->noperands > 0 && in->operands[0]->type.dtype == D_pred;
}

bool
import_op_exclusive(Import *in, const MlirOp *op, int detail)
{
	(void)detail;
	if (!is_pred(in))
		return import_op_pointwise(in, op, O_xor);
	if (in->noperands != 2)
		return read_wrong(in, op->range, "%s takes 2 operands", op->name);
	in->results[0] = make_compare(in->make, DIR_NE, in->operands[0], in->operands[1]);
	return true;
}

/* Of pred, a sum is `or` and a product `and`. */
bool
import_op_sum(Import *in, const MlirOp *op, int kind)
{
	return import_op_pointwise(in, op, !is_pred(in) ? kind : kind == O_add ? O_or : O_and);
}

bool
import_op_lacking(Import *in, const MlirOp *op, int detail)
{
	(void)detail;
	return read_lacks(in, op, op->name);
}

bool
import_op_compare(Import *in, const MlirOp *op, int detail)
{
	const char *word = word_of(in, op, "comparison_direction");
	int direction = DIR_EQ;

	(void)detail;
	while (direction <= DIR_GE && strcmp(direction_names[direction], word))
		direction++;
	if (direction > DIR_GE || in->noperands != 2)
		return read_wrong(in, op->range, "this comparison has no direction");
	Value *a = in->operands[0], *b = in->operands[1];
	if (dtype_is_float(a->type.dtype) && dtype_is_float(b->type.dtype)
		&& !strcmp(word_of(in, op, "compare_type"), "TOTALORDER")) {
		a = total_order(in->make, a);
		b = total_order(in->make, b);
	}
	in->results[0] = make_compare(in->make, (Direction)direction, a, b);
	return true;
}

/* A scalar everywhere, where the tensor beside it is none. */
static Value *
spread_to(Import *in, Value *x, const Value *beside)
{
	return x->type.rank ? x : make_splat(in->make, x, &beside->type);
}

bool
import_op_select(Import *in, const MlirOp *op, int detail)
{
	Value **v = in->operands;

	(void)detail;
	if (in->noperands != 3)
		return read_wrong(in, op->range, "%s takes 3 operands", op->name);
	in->results[0] = make_select(in->make, spread_to(in, v[0], v[1]), v[1], v[2]);
	return true;
}

bool
import_op_clamp(Import *in, const MlirOp *op, int detail)
{
	Value **v = in->operands;

	(void)detail;
	if (in->noperands != 3)
		return read_wrong(in, op->range, "%s takes 3 operands", op->name);
	Value *low = spread_to(in, v[0], v[1]), *high = spread_to(in, v[2], v[1]);
	in->results[0] = make_clamp(in->make, low, v[1], high);
	return true;
}

bool
import_op_convert(Import *in, const MlirOp *op, int detail)
{
	Type type;

	(void)detail;
	if (in->noperands != 1)
		return read_wrong(in, op->range, "%s takes 1 operand", op->name);
	if (!type_result(in, op, 0, &type))
		return false;
	in->results[0] = make_convert(in->make, in->operands[0], type.dtype);
	return true;
}

bool
import_op_same(Import *in, const MlirOp *op, int detail)
{
	(void)detail;
	if (in->noperands != op->types.n)
		return read_wrong(in, op->range, "%s has as many results as operands",
			op->name);
	memcpy(in->results, in->operands, (size_t)in->noperands * sizeof in->results[0]);
	return true;
}

bool
import_op_constant(Import *in, const MlirOp *op, int detail)
{
	const MlirAttr *attr = attr_of(in, op, "value");
	Type type;
	Dense dense;

	(void)detail;
	if (!type_result(in, op, 0, &type))
		return false;
	if (!attr || attr->kind != MLIR_dense)
		return read_wrong(in, op->range, "this constant has no dense<...>");
	if (!dense_read(in, attr, type.dtype, &dense))
		return false;
	if (dense.n == 1)
		in->results[0] = make_full(in->make, &type, dense.v[0]);
	else if (dense.n == type_elements(&type))
		in->results[0] = make_array(in->make, &type, dense.v);
	else
		return read_wrong(in, attr->range, "%lld elements for a tensor of %lld",
			(long long)dense.n, (long long)type_elements(&type));
	return true;
}

/* ---- two memories */

/* What it may be that is there: what moves elements leaves them in their memory. */
static bool
may_be_hosted(const Value *v)
{
	while (v->def && v->def->kind != O_to_host) {
		const Op *op = v->def;
		bool moves = op_is_identity(op) || op_renames(op) || op_changes(op)
			|| op->kind == O_dynamic_slice || op->kind == O_slice;
		if (op_is_loop(op))
			return true;
		if (!moves || op->kind == O_to_device)
			return false;
		v = op->operands[0];
	}
	return v->def || v->hosted || v->block->parent;
}

/* "pinned_host", "unpinned_host", "device" */
bool
memory_is_host(const char *kind)
{
	return strstr(kind, "host") != NULL;
}

/* What is there already stays as it is. */
bool
import_op_hosted(Import *in, const MlirOp *op, int detail)
{
	const MlirAttr *facts = attr_of(in, op, "mhlo.frontend_attributes");
	const MlirAttr *kind = field_of(in, facts, "_xla_buffer_placement");
	const Value *x = in->noperands == 1 ? in->operands[0] : NULL;

	(void)detail;
	if (!x || !kind || kind->kind != MLIR_string)
		return read_opaque(in, op, NULL);
	bool host = memory_is_host(kind->text);
	bool stays =
		host ? x->hosted || (x->def && x->def->kind == O_to_host) : !may_be_hosted(x);
	in->results[0] = stays
		? in->operands[0]
		: make_unary(in->make, host ? O_to_host : O_to_device, in->operands[0]);
	return true;
}

/*
 * attributes.c - what builders ask of the attributes of an op.
 */
#include <string.h>

#include "import/reader.h"

const MlirAttr *
attr_of(Import *in, const MlirOp *op, const char *name)
{
	return mlir_attribute(in->program, op->attributes, name);
}

/* A list, or a dense<...> of as many. */
bool
attr_numbers(Import *in, const MlirAttr *attr, Numbers *numbers)
{
	Dense dense;

	*numbers = (Numbers){0};
	if (!attr)
		return false;
	if (attr->kind == MLIR_dense) {
		if (!dense_read(in, attr, D_i64, &dense) || dense.n > MAX_RANK)
			return false;
		numbers->n = (int)dense.n;
		memcpy(numbers->v, dense.v, (size_t)dense.n * sizeof dense.v[0]);
		return true;
	}
	if (attr->kind != MLIR_list || attr->items.n > MAX_RANK)
		return false;
	for (int i = 0; i < attr->items.n; i++) {
		const MlirAttr *item = attr->items.v[i];
		if (item->kind != MLIR_integer)
			return false;
		numbers->v[numbers->n++] = item->integer;
	}
	return true;
}

Numbers
numbers_of(Import *in, const MlirOp *op, const char *name)
{
	Numbers numbers;

	attr_numbers(in, attr_of(in, op, name), &numbers);
	return numbers;
}

Numbers
field_numbers(Import *in, const MlirAttr *attr, const char *name)
{
	Numbers numbers;

	attr_numbers(in, attr ? mlir_attribute(in->program, attr->items, name) : NULL,
		&numbers);
	return numbers;
}

int64_t
integer_of(Import *in, const MlirOp *op, const char *name, int64_t otherwise)
{
	const MlirAttr *attr = attr_of(in, op, name);

	return attr && attr->kind == MLIR_integer ? attr->integer : otherwise;
}

const char *
word_of(Import *in, const MlirOp *op, const char *name)
{
	const MlirAttr *attr = attr_of(in, op, name);
	bool text = attr && (attr->kind == MLIR_word || attr->kind == MLIR_string);

	return text ? attr->text : "";
}

bool
numbers_have(const Numbers *numbers, int64_t v)
{
	for (int i = 0; i < numbers->n; i++)
		if (numbers->v[i] == v)
			return true;
	return false;
}

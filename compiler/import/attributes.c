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

/* One, or yes and no as 1 and 0. */
static bool
attr_number(const MlirAttr *attr, int64_t *number)
{
	bool yes = attr->kind == MLIR_word && !strcmp(attr->text, "true");
	bool no = attr->kind == MLIR_word && !strcmp(attr->text, "false");

	*number = attr->kind == MLIR_integer ? attr->integer : yes;
	return attr->kind == MLIR_integer || yes || no;
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
	for (int i = 0; i < attr->items.n; i++)
		if (!attr_number(attr->items.v[i], &numbers->v[numbers->n++]))
			return false;
	return true;
}

Numbers
numbers_of(Import *in, const MlirOp *op, const char *name)
{
	Numbers numbers;

	attr_numbers(in, attr_of(in, op, name), &numbers);
	return numbers;
}

const MlirAttr *
field_of(Import *in, const MlirAttr *attr, const char *name)
{
	bool has_fields = attr && attr->kind == MLIR_dict;

	return has_fields ? mlir_attribute(in->program, attr->items, name) : NULL;
}

int64_t
index_vector(Import *in, const MlirAttr *numbers)
{
	const MlirAttr *says = field_of(in, numbers, "index_vector_dim");

	return says ? says->integer : 0;
}

Numbers
field_numbers(Import *in, const MlirAttr *attr, const char *name)
{
	Numbers numbers;

	attr_numbers(in, field_of(in, attr, name), &numbers);
	return numbers;
}

/* dense<[[0, 1], [2, 2]]>, dense<0>, [[0, 1], [2, 2]] */
bool
pairs_of(Import *in, const MlirOp *op, const char *name, int n, Numbers *first, Numbers *second)
{
	const MlirAttr *attr = attr_of(in, op, name);
	Dense dense = {0};

	*first = *second = (Numbers){.n = n};
	if (!attr)
		return true;
	if (attr->kind == MLIR_dense) {
		if (!dense_read(in, attr, D_i64, &dense) || (dense.n != 1 && dense.n != 2 * n))
			return false;
		for (int i = 0; i < n; i++) {
			first->v[i] = dense.v[dense.n == 1 ? 0 : 2 * i];
			second->v[i] = dense.v[dense.n == 1 ? 0 : 2 * i + 1];
		}
		return true;
	}
	for (int i = 0; i < n; i++) {
		Numbers pair = {0};
		if (attr->kind != MLIR_list || attr->items.n != n
			|| !attr_numbers(in, attr->items.v[i], &pair) || pair.n != 2)
			return false;
		first->v[i] = pair.v[0];
		second->v[i] = pair.v[1];
	}
	return true;
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

/*
 * parts.c - what came back for parts of a tensor, as one tensor.
 *
 *   Ws[0], Ws[1], Ws[3] of f32[4, 8]     concatenate(d0, d1, zeros, d3)
 *
 * Parts that lie beside each other along one dim, and are whole in the others, are put
 * one after the other; any others are padded with zeros and added up.
 */
#include <stdlib.h>
#include "grad/adjoint.h"

/* The one dim in which parts are less than the whole; -1: there is none, or several. */
static int
dim_of_parts(const Type *type, int n, const Part *parts)
{
	int dim = -1;

	for (int i = 0; i < n; i++)
		for (int d = 0; d < type->rank; d++) {
			if (parts[i].value->type.dims[d] == type->dims[d])
				continue;
			if (dim >= 0 && dim != d)
				return -1;
			dim = d;
		}
	return dim;
}

static int
compare_starts(const void *a, const void *b)
{
	const int64_t *x = ((const Part *)a)->start, *y = ((const Part *)b)->start;
	int d = 0;

	while (d < MAX_RANK - 1 && x[d] == y[d])
		d++;
	return (x[d] > y[d]) - (x[d] < y[d]);
}

/* Equal parts become one, their sum; how many are left. */
static int
add_equal(Make k, int n, Part *parts)
{
	int kept = 0;

	for (int i = 1; i < n; i++) {
		Part *last = &parts[kept];
		if (!compare_starts(last, &parts[i])
			&& type_equal(&last->value->type, &parts[i].value->type))
			last->value = make_binary(k, O_add, last->value, parts[i].value);
		else
			parts[++kept] = parts[i];
	}
	return kept + 1;
}

static bool
are_apart(int dim, int n, const Part *parts)
{
	for (int i = 1; i < n; i++)
		if (parts[i].start[dim]
			< parts[i - 1].start[dim] + parts[i - 1].value->type.dims[dim])
			return false;
	return true;
}

static Value *
one_after_the_other(Make k, const Type *type, int dim, int n, const Part *parts)
{
	Value **pieces = NEW_ARRAY(k.module->arena, Value *, 2 * n + 1);
	Type gap = *type;
	int64_t end = 0;
	int count = 0;

	for (int i = 0; i <= n; i++) {
		gap.dims[dim] = (i < n ? parts[i].start[dim] : type->dims[dim]) - end;
		if (gap.dims[dim])
			pieces[count++] = make_zeros(k, &gap);
		if (i == n)
			break;
		pieces[count++] = parts[i].value;
		end = parts[i].start[dim] + parts[i].value->type.dims[dim];
	}
	return make_concatenate(k, count, pieces, dim);
}

static Value *
added_up(Make k, const Type *type, int n, const Part *parts)
{
	Value *sum = NULL;

	for (int i = 0; i < n; i++) {
		int64_t behind[MAX_RANK];
		const Type *part = &parts[i].value->type;
		for (int d = 0; d < type->rank; d++)
			behind[d] = type->dims[d] - parts[i].start[d] - part->dims[d];
		Value *padded = make_pad(k, parts[i].value, NULL, parts[i].start, behind);
		sum = sum ? make_binary(k, O_add, sum, padded) : padded;
	}
	return sum;
}

Value *
parts_together(Make k, const Type *type, int n, Part *parts)
{
	qsort(parts, (size_t)n, sizeof *parts, compare_starts);
	n = add_equal(k, n, parts);
	int dim = dim_of_parts(type, n, parts);
	if (n > 1 && dim >= 0 && are_apart(dim, n, parts))
		return one_after_the_other(k, type, dim, n, parts);
	return added_up(k, type, n, parts);
}

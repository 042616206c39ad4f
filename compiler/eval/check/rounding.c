/*
 * rounding.c - what one op's rounding may add to its result, for ops that
 * work element by element, and the formats that decide it.
 *
 * The figures are worst cases: the unit of the dtype, the documented ulps of
 * the runtime's functions.  Linear ops may run on the parts of a sum before
 * these are added up; each part is rounded then, so what counts is the
 * operands' spread, the sum of the parts' magnitudes.
 */
#include "eval/check/check.h"

#include <math.h>
#include <stdlib.h>

#include "ir/numbers.h"
#include "ir/partial.h"

#define UNIT(digits) (1.0 / ((uint64_t)1 << (digits)))
#define UNDERFLOW_kept(digits, normal) ((normal)*UNIT(digits))
#define UNDERFLOW_flushed(digits, normal) (normal)
const Precision precisions[DTYPE_COUNT] = {
#define FLOAT(id, digits, normal, greatest, kind, subnormal) \
	[D_##id] = {UNIT(digits), normal, UNDERFLOW_##subnormal(digits, normal), greatest, \
		1 / UNIT(digits)},
#include "ir/floats.def"
#undef FLOAT
};

/* An exact operand element: its value, and the spread of its parts. */
typedef struct Element {
	double value, spread;
	bool parts; /* it is a sum, and each device may hold a part */
} Element;

/* The parts of a result, as what lets partial sums through says: of a product
   they are those of one operand, or of the other. */
static double
parts_of(const Op *op, const Element *e)
{
	PartialKind partial = ops[op->kind].partial;
	double left = e[0].spread * fabs(e[1].value), right = fabs(e[0].value) * e[1].spread;
	if (partial == PARTIAL_bilinear)
		return left > right ? left : right;
	return partial == PARTIAL_scale ? e[0].spread / fabs(e[1].value)
					: e[0].spread + e[1].spread;
}

/* Arithmetic on exact operands whose result needs no rounding: nor do sums
   of small integers, however they are split into parts. */
static bool
needs_no_rounding(const Op *op, const Element *e, double y, double spread, DType d)
{
	double exact = numbers[op->kind].of_floats(e[0].value, e[1].value, 0);
	bool parts = false, integers = y == rint(y) && ops[op->kind].partial != PARTIAL_scale;
	for (int i = 0; i < op->noperands; i++) {
		parts = parts || e[i].parts;
		integers = integers && e[i].value == rint(e[i].value);
	}
	return numbers[op->kind].ulps <= 0.5 && y == exact
		&& (!parts || (integers && spread <= precisions[d].integers));
}

/* ---- whole tensors ------------------------------------------------------ */

typedef struct Operand {
	bool parts;
	double value[CHUNK], spread[CHUNK];
} Operand;

static void
round_chunk(const Op *op, const Operand *operands, bool exact, int64_t first, int64_t n,
	const Inexact *result, double *rounding)
{
	DType d = value_of(result)->type.dtype, wide = d == D_f64 ? D_f64 : D_f32;
	const Precision *p = &precisions[d];
	double ulps = numbers[op->kind].ulps;
	double units = ulps * 2 * precisions[wide].unit + (d != wide ? p->unit : 0);
	double *spreads = spread_of(result)->data;
	double values[CHUNK];
	load_doubles(value_of(result), first, n, values);
	for (int64_t i = 0; i < n; i++) {
		Element x[2] = {{0}};
		double y = values[i], spread = fabs(y);
		for (int k = 0; k < op->noperands; k++)
			x[k] = (Element){operands[k].value[i], operands[k].spread[i],
				operands[k].parts};
		double parts = spreads ? parts_of(op, x) : 0;
		spread = parts > spread ? parts : spread;
		if (spreads)
			spreads[first + i] = spread;
		bool rounds = ulps != 0 && isfinite(y)
			&& !(exact && needs_no_rounding(op, x, y, spread, d));
		rounding[first + i] = !rounds			? 0
			: spread > 0 && spread <= 2 * p->normal ? units * spread + p->underflow
								: units * spread;
	}
}

bool
round_pointwise(const Module *m, const Op *op, const Inexact *operands, const Inexact *result,
	Tensor *rounding)
{
	int64_t n = type_elements(&value_of(result)->type);
	bool parts = false;
	for (int i = 0; i < op->noperands; i++)
		parts = parts || spread_of(&operands[i])->data;
	if (ops[op->kind].partial == PARTIAL_move || ops[op->kind].partial == PARTIAL_choice)
		return round_move(m, op, operands, result, rounding);
	parts = parts && partial_through(op, 0, C_add) != THROUGH_no;
	if (numbers[op->kind].ulps == 0 && !parts)
		return true;
	if (parts && !tensor_like(value_of(result), spread_of(result)))
		return false;
	bool exact = all_exact(op, operands);
	Operand *in = calloc(2, sizeof *in);
	bool ok = in && tensor_like(value_of(result), rounding);
	for (int64_t i = 0, count; ok && (count = chunk(n - i)); i += count) {
		for (int k = 0; k < op->noperands; k++) {
			const Tensor *spread = spread_of(&operands[k]);
			in[k].parts = spread->data != NULL;
			load_doubles(value_of(&operands[k]), i, count, in[k].value);
			if (spread->data)
				load_doubles(spread, i, count, in[k].spread);
			for (int64_t e = 0; e < count && !spread->data; e++)
				in[k].spread[e] = fabs(in[k].value[e]);
		}
		round_chunk(op, in, exact, i, count, result, rounding->data);
	}
	free(in);
	return ok;
}

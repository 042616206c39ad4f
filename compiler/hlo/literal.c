/*
 * literal.c - the numbers of constants.
 *
 *   constant(0.1)  constant(-inf)  constant(true)  s32[2,2] constant({{1, 2}, {3, 4}})
 *
 * Floats have the shortest digits that read back as the same number of the
 * dtype.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "hlo/print.h"
#include "hlo/read.h"

enum { MAX_LITERAL = 400 }; /* digits of a constant */

static void
text_number(Text *t, DType d, int64_t payload)
{
	double v = payload_double(payload);
	char digits[40];

	if (d == D_pred) {
		text_add(t, payload ? "true" : "false");
	} else if (!dtype_is_float(d)) {
		text_printf(t, d == D_u64 ? "%llu" : "%lld", (long long)payload);
	} else if (isnan(v)) {
		text_add(t, "nan");
	} else if (!isfinite(float_rounded(d, v))) {
		text_add(t, isnan(float_rounded(d, v)) ? "nan" : v < 0 ? "-inf" : "inf");
	} else {
		for (int precision = 1; precision <= 17; precision++) {
			snprintf(digits, sizeof digits, "%.*g", precision, v);
			double back = strtod(digits, NULL);
			if (d == D_f32 ? (float)back == (float)v : back == v)
				break;
		}
		text_add(t, digits);
	}
}

/* The elements of dim `dim`, and where those after them are. */
static const int64_t *
text_elements(Text *t, const Type *type, int dim, const int64_t *v)
{
	if (dim == type->rank) {
		text_number(t, type->dtype, *v);
		return v + 1;
	}
	for (int64_t i = 0; i < type->dims[dim]; i++) {
		text_add(t, i ? ", " : "{");
		v = text_elements(t, type, dim + 1, v);
	}
	text_add(t, "}");
	return v;
}

/* Of a constant that has other than its elements, those that there are. */
void
text_literal(Text *t, const Type *type, const Ints *values)
{
	if (values->n == type_elements(type)) {
		text_elements(t, type, 0, values->v);
		return;
	}
	for (int i = 0; i < values->n; i++) {
		text_add(t, i ? ", " : "");
		text_number(t, type->dtype, values->v[i]);
	}
}

/* Of u64, whose greatest numbers no other integer has. */
static int64_t
read_word(Cursor *c)
{
	uint64_t value = 0;
	int start = c->pos;

	for (; c->pos < c->end && isdigit((unsigned char)c->s[c->pos]); c->pos++)
		if (__builtin_mul_overflow(value, 10, &value)
			|| __builtin_add_overflow(value, (uint64_t)(c->s[c->pos] - '0'),
				&value)) {
			cursor_error(c, "a number of more than 64 bits");
			return 0;
		}
	if (c->pos == start)
		cursor_error(c, "expected an integer from 0 on");
	return (int64_t)value;
}

static int64_t
read_number(Cursor *c, DType d)
{
	static const struct {
		const char *word;
		double value;
	} words[] = {{"inf", INFINITY}, {"-inf", -INFINITY}, {"nan", NAN}, {"-nan", NAN}};
	char digits[MAX_LITERAL], *end;

	cursor_at_end(c);
	if (d == D_u64)
		return read_word(c);
	if (!dtype_is_float(d)) {
		if (cursor_accept(c, "true"))
			return 1;
		if (cursor_accept(c, "false"))
			return 0;
		return cursor_integer(c, d == D_pred ? "true or false" : "an integer");
	}
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (cursor_accept(c, words[i].word))
			return double_payload(words[i].value);

	cursor_at_end(c);
	int n = 0;
	while (c->pos + n < c->end && n < MAX_LITERAL
		&& strchr("0123456789.eE+-", c->s[c->pos + n]) && c->s[c->pos + n])
		n++;
	if (!n || n == MAX_LITERAL) {
		cursor_error(c, "expected a number");
		return 0;
	}
	memcpy(digits, c->s + c->pos, (size_t)n);
	digits[n] = '\0';
	double v = strtod(digits, &end);
	if (*end || isinf(v)) {
		cursor_error(c, "'%s' is not a number", digits);
		return 0;
	}
	c->pos += n;
	return double_payload(v);
}

typedef struct Numbers {
	int n;
	int64_t *v;
} Numbers;

static void
read_elements(Cursor *c, const Type *type, int dim, Numbers *numbers)
{
	if (dim == type->rank) {
		APPEND(c->rd->arena, numbers->v, numbers->n, read_number(c, type->dtype));
		return;
	}
	for (int64_t i = 0; i < type->dims[dim] && !c->rd->failed; i++) {
		cursor_expect(c, i ? "," : "{");
		read_elements(c, type, dim + 1, numbers);
	}
	cursor_expect(c, "}");
}

void
read_literal(Cursor *c, const Type *type, Op *op)
{
	Numbers numbers = {0};

	read_elements(c, type, 0, &numbers);
	if (!c->rd->failed)
		op_set_ints(op, A_value, numbers.n, numbers.v);
}

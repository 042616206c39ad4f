/*
 * numbers_test.c - the columns of numbers.def against its formulas, on numbers
 * of all sizes: what must stay finite, is never negative, needs no rounding,
 * has no jumps.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/numbers.h"
#include "../runtime/tap.h"

enum { DRAWS = 200000 };

static uint64_t state = 1;

static uint32_t
draw(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % n;
}

/* Of eight bits of fraction, as a bf16 has. */
static double
draw_number(void)
{
	static const double specials[] = {0, -0.0, 1, -1, 0.5, -2, 3, INFINITY, -INFINITY, NAN,
		0x1.fep127, -0x1.fep127, 0x1p-126, -0x1p-126, 88, -88, 256, 1000};
	int exponent = draw(4) ? (int)draw(12) - 6 : (int)draw(240) - 120;
	double fraction = 1 + draw(128) / 128.0;
	if (!draw(8))
		return specials[draw(sizeof specials / sizeof *specials)];
	return ldexp(draw(2) ? fraction : -fraction, exponent);
}

typedef struct Case {
	double x[3], y;
	bool finite, infinite, negative, minus_zero; /* all; any operand is */
	double most;				     /* of the magnitudes */
} Case;

static Case
draw_case(OpKind kind)
{
	Case c = {.finite = true};
	for (int i = 0; i < ops[kind].operands; i++) {
		c.x[i] = draw_number();
		if (i && !draw(6))
			c.x[i] = c.x[0];
		c.finite &= isfinite(c.x[i]) != 0;
		c.infinite |= isinf(c.x[i]) != 0;
		c.negative |= c.x[i] < 0;
		c.minus_zero |= c.x[i] == 0 && signbit(c.x[i]);
		c.most = fmax(c.most, fabs(c.x[i]));
	}
	c.y = numbers[kind].of_floats(c.x[0], c.x[1], c.x[2]);
	return c;
}

/* Whether a result that is infinite may be. */
static bool
may_be_infinite(const NumberInfo *row, const Case *c)
{
	bool large = c->most > 1e30;
	switch (row->infinite) {
	case INFINITE_never:
		return false;
	case INFINITE_pole:
		return c->infinite || large || c->x[row->pole.operand] == row->pole.at;
	case INFINITE_first:
		return isinf(c->x[0]);
	case INFINITE_operands:
	case INFINITE_range:
		return c->infinite || large;
	case INFINITE_growth:
		return true;
	}
	return false;
}

static bool
may_be_negative(const NumberInfo *row, const Case *c)
{
	return row->sign == SIGN_any || c->minus_zero
		|| (row->sign == SIGN_operands && c->negative)
		|| (row->sign == SIGN_square && c->negative && c->x[0] != c->x[1]);
}

/* A small step of the operands makes a small one of the result. */
static bool
is_smooth_at(OpKind kind, const Case *c)
{
	const NumberInfo *row = &numbers[kind];
	double step = 1 + 0x1p-40;
	if ((row->jumps != JUMPS_nowhere && row->jumps != JUMPS_corner) || !c->finite
		|| !isfinite(c->y) || c->most > 64
		|| (row->pole.is && fabs(c->x[row->pole.operand] - row->pole.at) < 0x1p-6))
		return true;
	if (kind == O_pow && c->x[0] < 0)
		return true; /* whole exponents only */
	double y = row->of_floats(kind == O_select ? c->x[0] : c->x[0] * step, c->x[1] * step,
		c->x[2] * step);
	return fabs(y - c->y) <= 0x1p-20 * fmax(1, fabs(c->y));
}

static bool
holds(OpKind kind, const Case *c)
{
	const NumberInfo *row = &numbers[kind];
	if (row->of_finite == CONTENT_finite && c->finite && !isfinite(c->y))
		return false;
	if (isinf(c->y) && !may_be_infinite(row, c))
		return false;
	if (c->y < 0 && !may_be_negative(row, c))
		return false;
	if (row->ulps == 0 && isfinite(c->y) && ldexp(c->y, 200) != 0) {
		int exponent;
		double fraction = ldexp(frexp(c->y, &exponent), 8);
		if (fraction != rint(fraction))
			return false;
	}
	return is_smooth_at(kind, c);
}

static void
test_row(OpKind kind)
{
	Case wrong = {.y = 0};
	bool right = true;
	for (int i = 0; i < DRAWS && right; i++) {
		wrong = draw_case(kind);
		right = holds(kind, &wrong);
	}
	if (!ok(right, "%s is as its row says", ops[kind].name))
		printf("# %s(%a, %a, %a) = %a\n", ops[kind].name, wrong.x[0], wrong.x[1],
			wrong.x[2], wrong.y);
}

int
main(void)
{
	for (OpKind kind = 0; kind < OP_COUNT; kind++)
		if (numbers[kind].of_floats)
			test_row(kind);
	return done();
}

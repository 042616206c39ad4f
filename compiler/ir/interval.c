/*
 * interval.c - sums, products and what is wanted of their operands, end by end.
 */
#include "ir/interval.h"

/* What is further away is as far away as can be. */
static int64_t
end(int64_t a)
{
	return a > INTERVAL_MOST ? INTERVAL_MOST : a < -INTERVAL_MOST ? -INTERVAL_MOST : a;
}

static bool
is_end(int64_t a)
{
	return a == INTERVAL_MOST || a == -INTERVAL_MOST;
}

/* An end that there is none of stays so, whatever is added. */
static int64_t
plus(int64_t a, int64_t b)
{
	return is_end(a) ? a : is_end(b) ? b : end(a + b);
}

static int64_t
times(int64_t a, int64_t b)
{
	int64_t product;

	if (mul_i64(a, b, &product))
		return end(product);
	return (a < 0) == (b < 0) ? INTERVAL_MOST : -INTERVAL_MOST;
}

static int64_t
over(int64_t a, int64_t b)
{
	return is_end(a) ? a : a / b;
}

/* The least whole number not below a / b. */
static int64_t
over_up(int64_t a, int64_t b)
{
	return over(a, b) + (!is_end(a) && a > 0 && a % b != 0);
}

static int64_t
over_down(int64_t a, int64_t b)
{
	return over(a, b) - (!is_end(a) && a < 0 && a % b != 0);
}

Interval
interval_any(void)
{
	return (Interval){-INTERVAL_MOST, INTERVAL_MOST};
}

Interval
interval_of(DType d)
{
	const DTypeInfo *row = &dtypes[d];
	int64_t most = row->range < 62 ? (INT64_C(1) << row->range) - 1 : INTERVAL_MOST;

	if (row->class == DC_float)
		return interval_any();
	if (row->class == DC_signed)
		return (Interval){end(-most - 1), most};
	return (Interval){0, row->class == DC_pred ? 1 : most};
}

bool
interval_is_empty(Interval a)
{
	return a.low > a.high;
}

bool
interval_is_any(Interval a)
{
	return a.low == -INTERVAL_MOST && a.high == INTERVAL_MOST;
}

Interval
interval_meet(Interval a, Interval b)
{
	return (Interval){a.low > b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
}

Interval
interval_join(Interval a, Interval b)
{
	return (Interval){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

Interval
interval_negated(Interval a)
{
	return (Interval){-a.high, -a.low};
}

Interval
interval_sum(Interval a, Interval b)
{
	return (Interval){plus(a.low, b.low), plus(a.high, b.high)};
}

Interval
interval_product(Interval a, Interval b)
{
	int64_t p = times(a.low, b.low), q = times(a.low, b.high);
	int64_t r = times(a.high, b.low), s = times(a.high, b.high);
	Interval pq = {p < q ? p : q, p < q ? q : p}, rs = {r < s ? r : s, r < s ? s : r};

	return interval_join(pq, rs);
}

Interval
interval_quotient(Interval a, Interval b)
{
	return (Interval){over(a.low, a.low < 0 ? b.low : b.high),
		over(a.high, a.high < 0 ? b.high : b.low)};
}

Interval
interval_for_all(Interval wanted, Interval y)
{
	return (Interval){plus(wanted.low, -y.low), plus(wanted.high, -y.high)};
}

Interval
interval_for_some(Interval wanted, Interval y)
{
	return (Interval){plus(wanted.low, -y.high), plus(wanted.high, -y.low)};
}

Interval
interval_of_factor(Interval wanted, Interval y)
{
	return (Interval){over_up(wanted.low, wanted.low < 0 ? y.high : y.low),
		over_down(wanted.high, wanted.high < 0 ? y.low : y.high)};
}

/* Where 0 is the least, nothing below 0 is taken, although it gives 0, too. */
Interval
interval_of_dividend(Interval wanted, Interval y)
{
	Interval x = {times(wanted.low, wanted.low < 0 ? y.low : y.high), wanted.high};

	if (is_end(wanted.high))
		return x;
	x.high = times(wanted.high, wanted.high < 0 ? y.high : y.low);
	return (Interval){x.low, wanted.high < 0 ? x.high : plus(x.high, y.low - 1)};
}

/*
 * limits.c - parameters whose elements are positions.
 *
 * Made-up inputs should be positions that exist, and the same on every mesh: so
 * what a parameter is compared with or indexes is found in the program on whole
 * tensors and stays with it (Value.positions).
 *
 *   rows = take(x, i * 4 + iota(i32[4]))          x has 32 rows
 *
 * From the last op to the first: of the index, elements from 0 to 31 are wanted, so
 * of i * 4 from 0 to 28, and of i from 0 to 7.  What iota(i32[4]) is, known.c says.
 * Both have a row for each op in limits.def.
 */
#include "ir/flow.h"
#include "ir/interval.h"

typedef struct Limits {
	const Known *known; /* by value id, as the others */
	Interval *wanted;
} Limits;

/* A row's function: the result is wanted in an interval, and so are operands.  Those
   the row names begin with `x`; there are `n` of them. */
typedef struct Wish {
	Limits *limits;
	const Op *op;
	Value *const *x;
	int n;
	Interval in;
} Wish;

/* Two that contradict each other: the one that was met first. */
static void
want(Limits *limits, const Value *v, Interval in)
{
	Interval both = interval_meet(limits->wanted[v->id], in);

	if (!interval_is_empty(both))
		limits->wanted[v->id] = both;
}

static const Known *
known_of(const Wish *wish, int i)
{
	return &wish->limits->known[wish->x[i]->id];
}

static bool
is_above_zero(const Wish *wish, int i)
{
	return !known_of(wish, i)->free && known_of(wish, i)->in.low > 0;
}

/* ---- elements that move ------------------------------------------------------ */

static void
want_none(const Wish *wish)
{
	(void)wish;
}

static void
want_moved(const Wish *wish)
{
	for (int i = 0; i < wish->n; i++)
		want(wish->limits, wish->x[i], wish->in);
}

static void
want_sorted(const Wish *wish)
{
	for (int i = 0; i < wish->op->nresults; i++)
		want(wish->limits, wish->x[i], wish->limits->wanted[wish->op->results[i]->id]);
}

/* ---- sums ---------------------------------------------------------------------- */

/* x + y, where y is not to be chosen.  What takes off where a device or a row begins
   has elements for some of them, else for all; what only data say, as if it were 0. */
static Interval
beside(Interval in, const Known *y, Interval off, bool takes_off)
{
	Interval all = interval_for_all(in, off);

	if (!y->data && takes_off && (y->device || interval_is_empty(all)))
		return interval_for_some(in, off);
	return interval_is_empty(all) ? in : all;
}

/* The one of two terms that is smaller: of x * 4 + y it is y, below 4.  Else each has
   half of what is wanted. */
static int
find_rest(const Wish *wish, int64_t *most)
{
	int64_t x = known_of(wish, 0)->step, y = known_of(wish, 1)->step,
		room = wish->in.high - wish->in.low;
	int rest = x >= y;

	*most = (rest ? x : y) - 1;
	if (x != y && *most <= room)
		return rest;
	*most = room / 2;
	return 1;
}

/* x + y, or x + -y, both to be chosen. */
static void
share(const Wish *wish, bool takes_off)
{
	Interval terms[2];
	int64_t most;

	if (wish->in.low == -INTERVAL_MOST || wish->in.high == INTERVAL_MOST)
		return;
	int rest = find_rest(wish, &most);
	terms[rest] = takes_off && rest ? (Interval){-most, 0} : (Interval){0, most};
	terms[!rest] = interval_for_all(wish->in, terms[rest]);
	want(wish->limits, wish->x[0], terms[0]);
	want(wish->limits, wish->x[1], takes_off ? interval_negated(terms[1]) : terms[1]);
}

/* x + y, or x - y: as x + -y. */
static void
want_terms(const Wish *wish, bool takes_off)
{
	Interval x = known_of(wish, 0)->in, y = known_of(wish, 1)->in;

	if (known_of(wish, 0)->free && known_of(wish, 1)->free) {
		share(wish, takes_off);
		return;
	}
	y = takes_off ? interval_negated(y) : y;
	want(wish->limits, wish->x[0], beside(wish->in, known_of(wish, 1), y, takes_off));
	x = beside(wish->in, known_of(wish, 0), x, takes_off);
	want(wish->limits, wish->x[1], takes_off ? interval_negated(x) : x);
}

static void
want_sum(const Wish *wish)
{
	want_terms(wish, false);
}

static void
want_difference(const Wish *wish)
{
	want_terms(wish, true);
}

static void
want_negated(const Wish *wish)
{
	want(wish->limits, wish->x[0], interval_negated(wish->in));
}

/* Of sums, each of the terms has its part. */
static void
want_combined(const Wish *wish)
{
	bool sums = !op_has(wish->op, A_combiner) || op_int(wish->op, A_combiner) == C_add;
	int64_t n = op_combined(wish->op);

	if (sums && n > 0)
		want(wish->limits, wish->x[0], interval_of_factor(wish->in, (Interval){1, n}));
	else if (!sums && op_int(wish->op, A_combiner) != C_mul)
		want(wish->limits, wish->x[0], wish->in);
}

/* ---- products ------------------------------------------------------------------ */

/* The greatest whose square is not above. */
static int64_t
square_root(int64_t square)
{
	int64_t root = 0;

	for (int64_t bit = INT64_C(1) << 30; bit; bit /= 2)
		if ((root + bit) * (root + bit) <= square)
			root += bit;
	return root;
}

/* Where neither factor is known, neither is above the square root. */
static void
want_product(const Wish *wish)
{
	int64_t root = wish->in.high > 0 ? square_root(wish->in.high) : 0;

	for (int i = 0; i < 2; i++)
		if (is_above_zero(wish, !i))
			want(wish->limits, wish->x[i],
				interval_of_factor(wish->in, known_of(wish, !i)->in));
		else if (known_of(wish, !i)->free && wish->in.low <= 0)
			want(wish->limits, wish->x[i], (Interval){0, root});
}

/* A divisor that is to be chosen is above 0. */
static void
want_quotient(const Wish *wish)
{
	if (is_above_zero(wish, 1))
		want(wish->limits, wish->x[0],
			interval_of_dividend(wish->in, known_of(wish, 1)->in));
	else if (known_of(wish, 1)->free)
		want(wish->limits, wish->x[1], (Interval){1, INTERVAL_MOST});
}

/* What the divisor sees to is not wanted of the dividend, which gives its sign. */
static void
want_remainder(const Wish *wish)
{
	Interval in = wish->in, divisors = {1, in.high < INTERVAL_MOST ? in.high + 1 : in.high};

	if (known_of(wish, 1)->free)
		want(wish->limits, wish->x[1], divisors);
	else if (!is_above_zero(wish, 1))
		return;
	else
		divisors = known_of(wish, 1)->in;
	if (divisors.high - 1 <= in.high)
		in.high = INTERVAL_MOST;
	if (in.low < 0 && 1 - divisors.high >= in.low)
		in.low = -INTERVAL_MOST;
	want(wish->limits, wish->x[0], in);
}

static void
want_magnitude(const Wish *wish)
{
	Interval in = wish->in;

	if (in.low <= 0)
		in.low = -in.high;
	want(wish->limits, wish->x[0], in);
}

/* ---- ops --------------------------------------------------------------------------- */

enum { ALL = INT32_MAX };

static const struct Row {
	int first, end;
	void (*wanted)(const Wish *);
} rows[OP_COUNT] = {
#define LIMITS(op, first, end, known, wanted) [O_##op] = {first, end, want_##wanted},
#include "ir/limits.def"
#undef LIMITS
};

static void
want_of_operands(Limits *limits, const Op *op)
{
	const struct Row *row = &rows[op->kind];
	bool any = true, moves = row->wanted == want_moved || row->wanted == want_sorted;

	for (int i = 0; i < op->nresults; i++) {
		DType d = op->results[i]->type.dtype;
		any = any && interval_is_any(limits->wanted[op->results[i]->id]);
		moves = moves && d != D_pred;
		if (!dtype_is_integer(d) && !moves)
			return;
	}
	if (any || !row->wanted)
		return;
	int end = row->end < op->noperands ? row->end : op->noperands;
	Wish wish = {limits, op, op->operands + row->first, end - row->first,
		limits->wanted[op->results[0]->id]};
	row->wanted(&wish);
}

static void
want_below(Limits *limits, const Value *v, int64_t end)
{
	if (end > 0)
		want(limits, v, (Interval){0, end - 1});
}

/* What the op itself wants of its operands: what takes part, and where. */
static void
want_positions(Limits *limits, const Op *op)
{
	if (op_looks_up(op)) { /* of several dims, in all of them */
		Lookup look = op_lookup(op);
		int64_t end = INT64_MAX;
		for (int i = 0; i < look.n; i++)
			end = lesser(end, op->operands[0]->type.dims[look.first + i]);
		want_below(limits, op->operands[1], end);
	}
	if (op_is_grouped(op))
		want_below(limits, op->operands[2], op_int(op, A_of_groups));
	for (int i = 0; i < 2 && op->kind == O_compare; i++) {
		const Known *other = &limits->known[op->operands[1 - i]->id];
		if (other->positions && !other->free)
			want(limits, op->operands[i], other->in);
	}
	if (!op_has_starts(op))
		return;
	const Value *part = op->kind == O_dynamic_slice ? op->results[0] : op->operands[1];
	int first = op->noperands - part->type.rank;
	for (int d = 0; d < part->type.rank; d++)
		want_below(limits, op->operands[first + d],
			op->operands[0]->type.dims[d] - part->type.dims[d] + 1);
}

/* From the last op to the first: what is wanted of a value is known when its own op is
   met.  What a loop carries is followed into its last round and out of its first. */
static void
walk(Limits *limits, const Block *b)
{
	for (const Op *op = b->last; op; op = op->prev) {
		for (Flow f = {.op = op}; flow_next(&f);)
			if (f.kind == FLOW_out || f.kind == FLOW_past)
				want(limits, f.from, limits->wanted[f.to->id]);
		for (int i = 0; i < op->nbodies; i++)
			walk(limits, op->bodies[i]);
		for (Flow f = {.op = op}; flow_next(&f);)
			if (f.kind == FLOW_in)
				want(limits, f.from, limits->wanted[f.to->id]);
		want_positions(limits, op);
		if (!op->nbodies)
			want_of_operands(limits, op);
	}
}

/* ---- parameters ---------------------------------------------------------------------- */

/* As many as are made up where nothing is wanted, if one end is open. */
static Positions
positions_of(Interval in, DType d)
{
	enum { MADE_UP = 16 };
	Interval small = {-MADE_UP / 2, MADE_UP / 2 - 1};
	bool from = in.low == -INTERVAL_MOST, to = in.high == INTERVAL_MOST;

	if (interval_is_any(in))
		return (Positions){0, 0};
	if (from || to)
		small = interval_meet(small, in);
	if (interval_is_empty(small) && to)
		small = (Interval){in.low, in.low + MADE_UP - 1};
	else if (interval_is_empty(small))
		small = (Interval){in.high - MADE_UP + 1, in.high};
	in = interval_meet(from || to ? small : in, interval_of(d)); /* the dtype has no more */
	if (interval_is_empty(in))
		return (Positions){0, 0};
	return (Positions){in.low, in.high + 1};
}

/* What is known is from the true sizes, before padding. */
bool
module_limit_indices(Module *m)
{
	Arena *a = arena_new();
	bool any = false;

	module_number(m);
	Limits limits = {module_known(m, a), NEW_ARRAY(a, Interval, m->nvalues + 1)};
	for (int i = 0; i <= m->nvalues; i++)
		limits.wanted[i] = interval_any();
	walk(&limits, m->entry);
	for (int i = 0; i < m->entry->nparams; i++) {
		Value *v = m->entry->params[i];
		if (!dtype_is_integer(v->type.dtype) || v->positions.end > v->positions.first)
			continue;
		v->positions = positions_of(limits.wanted[v->id], v->type.dtype);
		any = any || v->positions.end > v->positions.first;
	}
	arena_free(a);
	return any;
}

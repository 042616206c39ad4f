/*
 * einsum.c - products of tensors whose dims have letters, as binary dots.
 *
 *   "abi,bi,cb->ca"   sizes  a 8, b 4, c 2, i 16
 *     dot 0 1         batch b, contract i      [b, a]
 *     dot . 2         contract b               [a, c]
 *     transpose                                [c, a]
 *
 * A letter that one term alone has is summed first; one that stands twice in
 * a term is a diagonal.  The order of the dots is the one of fewest
 * multiplications: exact up to EXACT terms by dynamic programming over their
 * subsets, else greedily the cheapest pair.
 */
#include <math.h>
#include <string.h>
#include "ir/einsum.h"

enum { EXACT = 8 };

typedef struct Einsum {
	Make k;
	int n;
	Term *terms;
	int64_t sizes[MAX_LETTERS];
	uint64_t out_letters;
	const Term *out;
	int nout;
	DType dtype; /* of the result; sums are in no narrower one */
} Einsum;

static uint64_t
letters_of(const Term *term)
{
	uint64_t set = 0;

	for (int d = 0; d < term->value->type.rank; d++)
		set |= 1ull << term->letters[d];
	return set;
}

static void
remove_dim(Term *term, int d, int rank)
{
	size_t rest = (size_t)(rank - d - 1);

	memmove(term->letters + d, term->letters + d + 1, rest * sizeof *term->letters);
	memmove(term->ranges + d, term->ranges + d + 1, rest * sizeof *term->ranges);
}

bool
term_drop_dim(Make k, Term *term, int d)
{
	int64_t dims[MAX_RANK];
	int rank = 0;

	for (int i = 0; i < term->value->type.rank; i++)
		if (i != d)
			dims[rank++] = term->value->type.dims[i];
	remove_dim(term, d, rank + 1);
	term->value = make_reshape(k, term->value, rank, dims);
	return term->value;
}

static DType
wider(DType a, DType b)
{
	return dtypes[a].bits >= dtypes[b].bits ? a : b;
}

/* ---- one term --------------------------------------------------------- */

/* Of dims i and j of one letter what is off the diagonal becomes 0, and the
   sum along j takes the rest. */
static bool
take_diagonals(Make k, Term *term)
{
	for (int i = 0; i < term->value->type.rank; i++)
		for (int j = i + 1; j < term->value->type.rank;) {
			if (term->letters[i] != term->letters[j]) {
				j++;
				continue;
			}
			Type type = term->value->type, positions = type;
			int64_t dim = j;
			positions.dtype = type.dims[i] > INT32_MAX ? D_i64 : D_i32;
			Value *row = make_iota(k, &positions, i);
			Value *column = make_iota(k, &positions, j);
			Value *same = make_compare(k, DIR_EQ, row, column);
			Value *zero = make_full(k, &type, 0);
			term->value = make_select(k, same, term->value, zero);
			term->value = make_reduce(k, C_add, term->value, 1, &dim);
			remove_dim(term, j, type.rank);
			if (!term->value)
				return false;
		}
	return true;
}

/* Sums, in one reduce, the dims whose letters are not in `keep`. */
static bool
sum_lonely(const Einsum *e, Term *term, uint64_t keep)
{
	int64_t dims[MAX_RANK];
	int n = 0, rank = term->value->type.rank;

	for (int d = 0; d < rank; d++)
		if (!(keep >> term->letters[d] & 1))
			dims[n++] = d;
	if (n)
		term->value = make_convert(e->k, term->value,
			wider(term->value->type.dtype, e->dtype));
	term->value = make_reduce(e->k, C_add, term->value, n, dims);
	for (int i = n - 1; i >= 0; i--)
		remove_dim(term, (int)dims[i], rank--);
	return term->value;
}

/* ---- two terms -------------------------------------------------------- */

typedef struct Pairing { /* of the dims of two terms */
	DotDims dims;
	int rank; /* of the result */
	Term result;
} Pairing;

static int
find_letter(const Term *term, int letter)
{
	for (int d = 0; d < term->value->type.rank; d++)
		if (term->letters[d] == letter)
			return d;
	return -1;
}

static bool
add_result_dim(Pairing *pair, const Term *from, int d)
{
	if (pair->rank == MAX_RANK)
		return false;
	pair->result.letters[pair->rank] = from->letters[d];
	pair->result.ranges[pair->rank++] = from->ranges[d];
	return true;
}

/* The letters of a that b has too are batch (kept) or contracted. */
static bool
pair_up(const Term *a, const Term *b, uint64_t keep, Pairing *pair)
{
	DotDims *dims = &pair->dims;

	pair->rank = dims->nbatch = dims->ncontract = 0;
	for (int d = 0; d < a->value->type.rank; d++) {
		int other = find_letter(b, a->letters[d]);
		if (other < 0)
			continue;
		if (keep >> a->letters[d] & 1) {
			dims->lhs_batch[dims->nbatch] = d;
			dims->rhs_batch[dims->nbatch++] = other;
			if (!add_result_dim(pair, a, d))
				return false;
		} else {
			dims->lhs_contract[dims->ncontract] = d;
			dims->rhs_contract[dims->ncontract++] = other;
		}
	}
	for (int d = 0; d < a->value->type.rank; d++)
		if (find_letter(b, a->letters[d]) < 0 && !add_result_dim(pair, a, d))
			return false;
	for (int d = 0; d < b->value->type.rank; d++)
		if (find_letter(a, b->letters[d]) < 0 && !add_result_dim(pair, b, d))
			return false;
	return true;
}

static bool
is_output(const Einsum *e, const Pairing *pair)
{
	size_t size = (size_t)pair->rank * sizeof pair->result.letters[0];

	return pair->rank == e->nout && !memcmp(pair->result.letters, e->out->letters, size);
}

char
letter_name(int letter)
{
	return (char)(letter >= FIRST_HIDDEN ? '.'
			: letter < 26	     ? 'a' + letter
					     : 'A' + letter - 26);
}

/* One value may be several terms. */
static void
note_where(Op *op, int operand, const Term *term)
{
	if (term->value == term->written)
		op_set_operand_range(op, operand, term->where);
}

/* The dot, which knows the letters of its operands if the program wrote any; `result`
   may be one of the two. */
static bool
dot_of(const Einsum *e, const Term *a, const Term *b, const Pairing *pair, Term *result)
{
	DType dtype = wider(a->value->type.dtype, e->dtype);
	int rank = a->value->type.rank, n = rank + b->value->type.rank;
	Value *v = make_dot(e->k, a->value, b->value, &pair->dims, dtype);

	if (!v)
		return false;
	if (e->k.form == AS_einsum)
		v->def->letters = NEW_ARRAY(e->k.module->arena, Letter, n + 1);
	for (int d = 0; d < n && v->def->letters; d++) {
		const Term *term = d < rank ? a : b;
		int at = d < rank ? d : d - rank;
		v->def->letters[d] = (Letter){letter_name(term->letters[at]), term->ranges[at]};
	}
	note_where(v->def, 0, a);
	note_where(v->def, 1, b);
	*result = pair->result;
	result->value = v;
	result->written = NULL;
	return true;
}

/*
 * The dot of two terms; the operands are swapped when that gives the order of
 * the output without a transpose.
 */
static bool
multiply(const Einsum *e, Term *a, Term *b, uint64_t keep, bool last, Term *result)
{
	DType operand = wider(a->value->type.dtype, b->value->type.dtype);
	Pairing pair, swapped;

	if (!pair_up(a, b, keep, &pair)) {
		if (!e->k.refuse)
			die("einsum: a product of more than %d dims", MAX_RANK);
		e->k.refuse(e->k.owner, DIAG_rank, e->k.range,
			arena_printf(e->k.module->arena,
				"a product of two of these operands has more than %d dims",
				MAX_RANK));
		return false;
	}
	a->value = make_convert(e->k, a->value, operand);
	b->value = make_convert(e->k, b->value, operand);
	if (!a->value || !b->value)
		return false;
	bool swap = last && !is_output(e, &pair) && pair_up(b, a, keep, &swapped)
		&& is_output(e, &swapped);
	return swap ? dot_of(e, b, a, &swapped, result) : dot_of(e, a, b, &pair, result);
}

/* ---- the order -------------------------------------------------------- */

static double
volume(const Einsum *e, uint64_t letters)
{
	double v = 1;

	for (int i = 0; i < MAX_LETTERS; i++)
		if (letters >> i & 1)
			v *= (double)e->sizes[i];
	return v;
}

/* What a product of the subset must keep: letters that the output or others need. */
static uint64_t
letters_kept(const Einsum *e, uint64_t subset)
{
	uint64_t inside = 0, outside = e->out_letters;

	for (int i = 0; i < e->n; i++)
		*(subset >> i & 1 ? &inside : &outside) |= letters_of(&e->terms[i]);
	return inside & outside;
}

typedef struct Plan {		      /* for each subset of the terms */
	uint64_t letters[1 << EXACT]; /* of its product */
	double cost[1 << EXACT];
	unsigned left[1 << EXACT]; /* the subset multiplied first */
} Plan;

static bool
is_single(unsigned set)
{
	return !(set & (set - 1));
}

/* Of equal costs the one that multiplies as written, from the left. */
static void
plan_subset(const Einsum *e, Plan *plan, unsigned s)
{
	unsigned first = s & -s;

	plan->letters[s] = letters_kept(e, s);
	plan->cost[s] = is_single(s) ? 0 : INFINITY;
	for (unsigned b = (s - 1) & s; b; b = (b - 1) & s) {
		unsigned a = s & ~b, best = plan->left[s];
		if (!(a & first))
			continue;
		double cost = plan->cost[a] + plan->cost[b]
			+ volume(e, plan->letters[a] | plan->letters[b]);
		bool ties = cost == plan->cost[s]
			&& __builtin_popcount(a) > __builtin_popcount(best);
		if (cost < plan->cost[s] || ties) {
			plan->cost[s] = cost;
			plan->left[s] = a;
		}
	}
}

static bool
multiply_subset(const Einsum *e, const Plan *plan, unsigned s, Term *result)
{
	bool all = s == (1u << e->n) - 1;
	Term a, b;

	if (is_single(s)) {
		*result = e->terms[__builtin_ctz(s)];
		return true;
	}
	return multiply_subset(e, plan, plan->left[s], &a)
		&& multiply_subset(e, plan, s & ~plan->left[s], &b)
		&& multiply(e, &a, &b, plan->letters[s], all, result);
}

static bool
multiply_greedily(Einsum *e)
{
	while (e->n > EXACT) {
		double best = INFINITY;
		int first = 0, second = 1;
		uint64_t letters[MAX_TERMS];
		for (int i = 0; i < e->n; i++)
			letters[i] = letters_of(&e->terms[i]);
		for (int i = 0; i < e->n; i++)
			for (int j = i + 1; j < e->n; j++) {
				double cost = volume(e, letters[i] | letters[j]);
				if (cost >= best)
					continue;
				best = cost;
				first = i;
				second = j;
			}
		Term *a = &e->terms[first], *b = &e->terms[second];
		uint64_t keep = letters_kept(e, 1ull << first | 1ull << second);
		if (!multiply(e, a, b, keep, false, a))
			return false;
		*b = e->terms[--e->n];
	}
	return true;
}

/* ---- everything ------------------------------------------------------- */

Value *
make_einsum(Make k, int n, const Term *terms, const Term *result, int rank, DType dtype)
{
	Einsum e = {.k = k, .n = n, .out = result, .nout = rank, .dtype = dtype};
	int64_t permutation[MAX_RANK];
	uint64_t once = 0, twice = 0; /* letters that stand there so often */
	Plan plan;
	Term all;

	e.terms = arena_copy(k.module->arena, terms, (size_t)n * sizeof *terms);
	for (int i = 0; i < n; i++)
		for (int d = 0; d < terms[i].value->type.rank; d++)
			e.sizes[terms[i].letters[d]] = terms[i].value->type.dims[d];
	for (int d = 0; d < rank; d++)
		e.out_letters |= 1ull << result->letters[d];
	for (int i = 0; i < n; i++) {
		if (!take_diagonals(k, &e.terms[i]))
			return NULL;
		uint64_t letters = letters_of(&e.terms[i]);
		twice |= once & letters;
		once |= letters;
	}
	for (int i = 0; i < n; i++)
		if (!sum_lonely(&e, &e.terms[i], twice | e.out_letters))
			return NULL;
	if (!multiply_greedily(&e))
		return NULL;
	for (unsigned s = 1; s < 1u << e.n; s++)
		plan_subset(&e, &plan, s);
	if (!multiply_subset(&e, &plan, (1u << e.n) - 1, &all))
		return NULL;
	for (int d = 0; d < rank; d++)
		permutation[d] = find_letter(&all, result->letters[d]);
	return make_convert(k, make_transpose(k, all.value, permutation), dtype);
}

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

#include "elaborate.h"

enum { EXACT = 8 };

typedef struct Product {
	Elab *e;
	Site site;
	int n;
	Term *terms;
	int64_t sizes[MAX_LETTERS];
	uint64_t out_letters;
	const Term *out;
	int nout;
} Product;

static uint64_t
letters_of(const Term *t)
{
	uint64_t set = 0;
	for (int d = 0; d < t->value->type.rank; d++)
		set |= 1ull << t->letters[d];
	return set;
}

static void
remove_dim(Term *t, int d, int rank)
{
	size_t rest = (size_t)(rank - d - 1);
	memmove(t->letters + d, t->letters + d + 1, rest * sizeof *t->letters);
	memmove(t->ranges + d, t->ranges + d + 1, rest * sizeof *t->ranges);
}

bool
term_drop_dim(Elab *e, Site s, Term *t, int d)
{
	int64_t dims[MAX_RANK];
	int rank = 0;
	for (int i = 0; i < t->value->type.rank; i++)
		if (i != d)
			dims[rank++] = t->value->type.dims[i];
	remove_dim(t, d, rank + 1);
	t->value = emit_reshape(e, s, t->value, rank, dims);
	return t->value != NULL;
}

/* ---- one term */

static bool
sum_dim(Product *p, Term *t, int d)
{
	int rank = t->value->type.rank;
	int64_t dim = d;
	t->value = emit_reduce(p->e, p->site, C_add, t->value, 1, &dim);
	remove_dim(t, d, rank);
	return t->value != NULL;
}

/* Dims i and j have one letter: what is off the diagonal becomes 0, and the
   sum along j takes the rest. */
static bool
take_diagonal(Product *p, Term *t, int i, int j)
{
	Elab *e = p->e;
	Type positions = t->value->type;
	positions.dtype = positions.dims[i] > INT32_MAX ? D_i64 : D_i32;
	Value *same = emit_compare(e, p->site, DIR_EQ, emit_iota(e, p->site, &positions, i),
		emit_iota(e, p->site, &positions, j));
	Value *zero = broadcast_to(e, p->site,
		emit_constant(e, p->site, t->value->type.dtype, 0), &t->value->type);
	t->value = emit3(e, p->site, O_select, same, t->value, zero);
	return t->value != NULL && sum_dim(p, t, j);
}

static bool
take_diagonals(Product *p, Term *t)
{
	for (int i = 0; i < t->value->type.rank; i++)
		for (int j = i + 1; j < t->value->type.rank;)
			if (t->letters[i] != t->letters[j])
				j++;
			else if (!take_diagonal(p, t, i, j))
				return false;
	return true;
}

static DType
wider(DType a, DType b)
{
	return dtypes[a].bytes >= dtypes[b].bytes ? a : b;
}

/* The dtype to compute in from `dtype`: that of the result, if it is wider. */
static DType
result_dtype(const Product *p, DType dtype)
{
	return wider(dtype, p->out->value != NULL ? p->out->value->type.dtype : dtype);
}

/* Sums, in one reduce, the dims whose letters are not in `keep`. */
static bool
sum_lonely(Product *p, Term *t, uint64_t keep)
{
	int64_t dims[MAX_RANK];
	int n = 0, rank = t->value->type.rank;
	for (int d = 0; d < rank; d++)
		if (!(keep >> t->letters[d] & 1))
			dims[n++] = d;
	if (n > 0)
		t->value = emit_convert(p->e, p->site, t->value,
			result_dtype(p, t->value->type.dtype));
	t->value = emit_reduce(p->e, p->site, C_add, t->value, n, dims);
	for (int i = n - 1; i >= 0; i--)
		remove_dim(t, (int)dims[i], rank--);
	return t->value != NULL;
}

static bool
simplify_terms(Product *p)
{
	uint64_t once = 0, twice = 0;
	for (int i = 0; i < p->n; i++) {
		if (!take_diagonals(p, &p->terms[i]))
			return false;
		uint64_t letters = letters_of(&p->terms[i]);
		twice |= once & letters;
		once |= letters;
	}
	for (int i = 0; i < p->n; i++)
		if (!sum_lonely(p, &p->terms[i], twice | p->out_letters))
			return false;
	return true;
}

/* ---- two terms */

typedef struct Pairing { /* of the dims of two terms */
	int nbatch, ncontract;
	int64_t lhs_batch[MAX_RANK], rhs_batch[MAX_RANK];
	int64_t lhs_contract[MAX_RANK], rhs_contract[MAX_RANK];
	int rank; /* of the result */
	Term result;
} Pairing;

static int
find_letter(const Term *t, int letter)
{
	for (int d = 0; d < t->value->type.rank; d++)
		if (t->letters[d] == letter)
			return d;
	return -1;
}

static bool
add_result_dim(Pairing *q, const Term *from, int d)
{
	if (q->rank == MAX_RANK)
		return false;
	q->result.letters[q->rank] = from->letters[d];
	q->result.ranges[q->rank++] = from->ranges[d];
	return true;
}

/* The letters of a that b has too are batch (kept) or contracted. */
static bool
pair_up(const Term *a, const Term *b, uint64_t keep, Pairing *q)
{
	q->rank = q->nbatch = q->ncontract = 0;
	q->result.range = (Range){0};
	for (int d = 0; d < a->value->type.rank; d++) {
		int other = find_letter(b, a->letters[d]);
		if (other < 0)
			continue;
		if (keep >> a->letters[d] & 1) {
			q->lhs_batch[q->nbatch] = d;
			q->rhs_batch[q->nbatch++] = other;
			if (!add_result_dim(q, a, d))
				return false;
		} else {
			q->lhs_contract[q->ncontract] = d;
			q->rhs_contract[q->ncontract++] = other;
		}
	}
	for (int d = 0; d < a->value->type.rank; d++)
		if (find_letter(b, a->letters[d]) < 0 && !add_result_dim(q, a, d))
			return false;
	for (int d = 0; d < b->value->type.rank; d++)
		if (find_letter(a, b->letters[d]) < 0 && !add_result_dim(q, b, d))
			return false;
	return true;
}

static bool
is_output(const Product *p, const Pairing *q)
{
	return q->rank == p->nout
		&& memcmp(q->result.letters, p->out->letters, (size_t)q->rank * sizeof(int))
		== 0;
}

/* Where the letters of a dot's operands and result are written. */
static Range *
letter_ranges(Product *p, const Term *a, const Term *b, const Pairing *q)
{
	int ra = a->value->type.rank, rb = b->value->type.rank;
	Range *r = NEW_ARRAY(p->e->arena, Range, ra + rb + q->rank + 1);
	memcpy(r, a->ranges, (size_t)ra * sizeof *r);
	memcpy(r + ra, b->ranges, (size_t)rb * sizeof *r);
	memcpy(r + ra + rb, q->result.ranges, (size_t)q->rank * sizeof *r);
	return r;
}

static bool
emit_dot(Product *p, const Term *a, const Term *b, Pairing *q, DType dtype)
{
	Value *operands[] = {a->value, b->value};
	Op *op = op_begin(p->e, p->site, O_dot, 2, operands);
	if (op == NULL)
		return false;
	op_set_ints(op, A_lhs_batch, q->nbatch, q->lhs_batch);
	op_set_ints(op, A_rhs_batch, q->nbatch, q->rhs_batch);
	op_set_ints(op, A_lhs_contract, q->ncontract, q->lhs_contract);
	op_set_ints(op, A_rhs_contract, q->ncontract, q->rhs_contract);
	op->results[0]->type.dtype = dtype;
	op->letters = letter_ranges(p, a, b, q);
	q->result.value = op_end(p->e, op);
	return q->result.value != NULL;
}

/*
 * The dot of two terms; the operands are swapped when that gives the order of
 * the output without a transpose.
 */
static bool
multiply(Product *p, Term *a, Term *b, uint64_t keep, bool last, Term *result)
{
	Pairing q, swapped;
	if (!pair_up(a, b, keep, &q)) {
		complain(p->e, DIAG_rank, p->site.range,
			"a product of two of "
			"these operands has more than %d dims",
			MAX_RANK);
		return false;
	}
	DType operand = wider(a->value->type.dtype, b->value->type.dtype);
	DType dtype = result_dtype(p, operand);
	a->value = emit_convert(p->e, p->site, a->value, operand);
	b->value = emit_convert(p->e, p->site, b->value, operand);
	if (a->value == NULL || b->value == NULL)
		return false;
	if (last && !is_output(p, &q) && pair_up(b, a, keep, &swapped)
		&& is_output(p, &swapped)) {
		if (!emit_dot(p, b, a, &swapped, dtype))
			return false;
		*result = swapped.result;
		return true;
	}
	if (!emit_dot(p, a, b, &q, dtype))
		return false;
	*result = q.result;
	return true;
}

/* ---- the order */

static double
volume(const Product *p, uint64_t letters)
{
	double v = 1;
	for (int i = 0; i < MAX_LETTERS; i++)
		if (letters >> i & 1)
			v *= (double)p->sizes[i];
	return v;
}

typedef struct Plan {		      /* for each subset of the terms */
	uint64_t letters[1 << EXACT]; /* of its product */
	double cost[1 << EXACT];
	unsigned left[1 << EXACT]; /* the subset multiplied first */
} Plan;

static int
count_bits(unsigned set)
{
	return __builtin_popcount(set);
}

/* What a product of the subset must keep: letters the output or others need. */
static void
find_letters(const Product *p, Plan *plan)
{
	unsigned all = (1u << p->n) - 1;
	for (unsigned s = 1; s <= all; s++) {
		uint64_t inside = 0, outside = p->out_letters;
		for (int i = 0; i < p->n; i++) {
			uint64_t letters = letters_of(&p->terms[i]);
			if (s >> i & 1)
				inside |= letters;
			else
				outside |= letters;
		}
		plan->letters[s] = inside & outside;
	}
}

/* Of equal costs the one that multiplies as written, from the left. */
static void
plan_subset(const Product *p, Plan *plan, unsigned s)
{
	unsigned first = s & -s;
	plan->cost[s] = INFINITY;
	for (unsigned b = (s - 1) & s; b != 0; b = (b - 1) & s) {
		unsigned a = s & ~b;
		if (!(a & first))
			continue;
		double cost = plan->cost[a] + plan->cost[b]
			+ volume(p, plan->letters[a] | plan->letters[b]);
		bool ties = cost == plan->cost[s] && count_bits(a) > count_bits(plan->left[s]);
		if (cost < plan->cost[s] || ties) {
			plan->cost[s] = cost;
			plan->left[s] = a;
		}
	}
}

static bool
multiply_subset(Product *p, const Plan *plan, unsigned s, Term *result)
{
	Term a, b;
	unsigned all = (1u << p->n) - 1;
	if (count_bits(s) == 1) {
		*result = p->terms[__builtin_ctz(s)];
		return true;
	}
	return multiply_subset(p, plan, plan->left[s], &a)
		&& multiply_subset(p, plan, s & ~plan->left[s], &b)
		&& multiply(p, &a, &b, plan->letters[s], s == all, result);
}

static bool
multiply_exact(Product *p, Term *result)
{
	Plan plan;
	find_letters(p, &plan);
	for (unsigned s = 1; s < 1u << p->n; s++) {
		plan.cost[s] = 0;
		if (count_bits(s) > 1)
			plan_subset(p, &plan, s);
	}
	return multiply_subset(p, &plan, (1u << p->n) - 1, result);
}

static uint64_t
letters_needed(const Product *p, int without_i, int without_j)
{
	uint64_t needed = p->out_letters;
	for (int i = 0; i < p->n; i++)
		if (i != without_i && i != without_j)
			needed |= letters_of(&p->terms[i]);
	return needed;
}

/* The pair of terms whose product costs least. */
static void
cheapest_pair(const Product *p, int *first, int *second)
{
	double best = INFINITY;
	uint64_t letters[MAX_TERMS];
	for (int i = 0; i < p->n; i++)
		letters[i] = letters_of(&p->terms[i]);
	for (int i = 0; i < p->n; i++)
		for (int j = i + 1; j < p->n; j++) {
			double cost = volume(p, letters[i] | letters[j]);
			if (cost >= best)
				continue;
			best = cost;
			*first = i;
			*second = j;
		}
}

static bool
multiply_greedily(Product *p)
{
	while (p->n > EXACT) {
		int i = 0, j = 1;
		cheapest_pair(p, &i, &j);
		uint64_t keep = letters_needed(p, i, j);
		if (!multiply(p, &p->terms[i], &p->terms[j], keep, false, &p->terms[i]))
			return false;
		p->terms[j] = p->terms[--p->n];
	}
	return true;
}

/* ---- everything */

static Value *
order_dims(Product *p, const Term *t)
{
	int64_t permutation[MAX_RANK];
	for (int d = 0; d < p->nout; d++)
		permutation[d] = find_letter(t, p->out->letters[d]);
	return emit_transpose(p->e, p->site, t->value, permutation);
}

Value *
contract(Elab *e, Site s, int n, const Term *terms, const Term *out, int nout)
{
	Term result;
	Product p = {.e = e, .site = s, .n = n, .out = out, .nout = nout};
	p.terms = arena_copy(e->arena, terms, (size_t)n * sizeof *terms);
	for (int i = 0; i < n; i++)
		for (int d = 0; d < terms[i].value->type.rank; d++)
			p.sizes[terms[i].letters[d]] = terms[i].value->type.dims[d];
	for (int d = 0; d < nout; d++)
		p.out_letters |= 1ull << out->letters[d];
	if (!simplify_terms(&p) || !multiply_greedily(&p) || !multiply_exact(&p, &result))
		return NULL;
	return order_dims(&p, &result);
}

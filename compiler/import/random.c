/*
 * random.c - random bits that the target makes, as XLA's CPU back end does.
 *
 *   state  u64[2]   a key, and where the counter is
 *   PHILOX     four words of each count: element e is word e % 4 of count e / 4
 *   THREE_FRY  two words of each: of neighbours along a dim each has one
 *
 * DEFAULT is PHILOX there.  Each element is computed from its position alone, wherever it is.
 *
 * Salmon and others: Parallel random numbers: as easy as 1, 2, 3 (SC 2011).
 */
#include <string.h>

#include "import/builders.h"

/* Of a u64[2]. */
typedef struct State {
	Value *of, *key, *start; /* u64 */
} State;

/* The lesser half of 64 bits, or the greater. */
static Value *
half_of(Make k, Value *x, bool greater)
{
	return make_convert(k, greater ? with(k, O_shr, x, 32) : x, D_u32);
}

static Value *
everywhere(Make k, Value *scalar, const Type *type)
{
	Type to = *type;

	to.dtype = scalar ? scalar->type.dtype : D_u32;
	return scalar ? make_splat(k, scalar, &to) : NULL;
}

/* The 64 bits of two words. */
static Value *
joined(Make k, Value *low, Value *high)
{
	high = with(k, O_shl, make_convert(k, high, D_u64), 32);
	return make_binary(k, O_or, make_convert(k, low, D_u64), high);
}

/* The number of each element of the shape, each dim counted in steps of `step`. */
static Value *
count_elements(Make k, const Type *type, const int64_t *step)
{
	const Type of = type_of(D_u32, type->rank, type->dims);

	return number_elements(k, &of, ~0u, step);
}

/* start + count, in two words. */
static void
count_from(Make k, const State *state, Value *count, Value **low, Value **high)
{
	Value *wide = make_convert(k, count, D_u64);

	wide = wide ? make_binary(k, O_add, wide, everywhere(k, state->start, &wide->type))
		    : NULL;
	*low = half_of(k, wide, false);
	*high = half_of(k, wide, true);
}

/* ---- Philox 4x32, ten rounds */

static void
philox_round(Make k, Value **c, Value *key0, Value *key1)
{
	const double by[] = {0xD2511F53, 0xCD9E8D57};
	Value *low[2], *high[2];

	for (int i = 0; i < 2; i++) {
		Value *wide = with(k, O_mul, make_convert(k, c[2 * i], D_u64), by[i]);
		low[i] = half_of(k, wide, false);
		high[i] = half_of(k, wide, true);
	}
	c[0] = make_binary(k, O_xor, make_binary(k, O_xor, high[1], c[1]), key0);
	c[2] = make_binary(k, O_xor, make_binary(k, O_xor, high[0], c[3]), key1);
	c[1] = low[1];
	c[3] = low[0];
}

/* `per` elements of each count; *counts is how many. */
static Value *
philox(Make k, const State *state, const Type *type, int per, int64_t *counts)
{
	enum { ROUNDS = 10 };
	Value *number = count_elements(k, type, NULL), *c[4], *key[2];

	*counts = (type_elements(type) + per - 1) / per;
	count_from(k, state, with(k, O_div, number, per), &c[0], &c[1]);
	for (int i = 0; i < 2; i++) {
		key[i] = half_of(k, state->key, i == 1);
		c[2 + i] = everywhere(k, key[i], type);
	}
	for (int i = 0; i < ROUNDS; i++) {
		Value *key0 = everywhere(k, key[0], type);
		philox_round(k, c, key0, everywhere(k, key[1], type));
		key[0] = with(k, O_add, key[0], 0x9E3779B9);
		key[1] = with(k, O_add, key[1], 0xBB67AE85);
	}
	Value *which = with(k, O_rem, number, per);
	if (per == 2) {
		c[0] = joined(k, c[0], c[1]);
		c[1] = joined(k, c[2], c[3]);
	}
	if (!which)
		return NULL;
	for (int i = 1; i < per; i++)
		c[0] = make_select(k, compare_with(k, DIR_EQ, which, i), c[i], c[0]);
	return c[0];
}

/* ---- Threefry 2x32, twenty rounds */

static void
threefry_words(Make k, const State *state, Value *count, Value **x)
{
	static const int turns[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
	Value *key[3];

	for (int i = 0; i < 2; i++)
		key[i] = half_of(k, state->key, i == 1);
	key[2] = with(k, O_xor, make_binary(k, O_xor, key[0], key[1]), 0x1BD11BDA);
	count_from(k, state, count, &x[0], &x[1]);
	for (int i = 0; i < 2; i++)
		x[i] = make_binary(k, O_add, x[i], everywhere(k, key[i], &count->type));
	for (int i = 1; i <= 5; i++) {
		for (int r = 0; r < 4; r++) {
			int by = turns[(i - 1) % 2][r];
			x[0] = make_binary(k, O_add, x[0], x[1]);
			Value *low = with(k, O_shr, x[1], 32 - by);
			x[1] = make_binary(k, O_or, with(k, O_shl, x[1], by), low);
			x[1] = make_binary(k, O_xor, x[1], x[0]);
		}
		Value *last = with(k, O_add, key[(i + 1) % 3], i);
		x[0] = make_binary(k, O_add, x[0], everywhere(k, key[i % 3], &count->type));
		x[1] = make_binary(k, O_add, x[1], everywhere(k, last, &count->type));
	}
}

/* Neighbours along the first dim of even size, else the largest, share a count. */
static Value *
threefry(Make k, const State *state, const Type *type, bool wide, int64_t *counts)
{
	int64_t step[MAX_RANK];
	int largest = 0, dim = -1;
	Value *x[2];

	for (int d = 0; d < type->rank; d++) {
		step[d] = 1;
		largest = type->dims[d] > type->dims[largest] ? d : largest;
		dim = dim < 0 && type->dims[d] % 2 == 0 ? d : dim;
	}
	dim = dim < 0 ? largest : dim;
	*counts = type_elements(type);
	if (!wide && type->rank > 0) {
		step[dim] = 2;
		*counts = *counts / type->dims[dim] * ((type->dims[dim] + 1) / 2);
	}
	Value *count = count_elements(k, type, step);
	if (!count)
		return NULL;
	threefry_words(k, state, count, x);
	if (wide)
		return joined(k, x[0], x[1]);
	if (!type->rank)
		return x[0];
	Value *odd = with(k, O_rem, make_iota(k, &count->type, dim), 2);
	return make_select(k, compare_with(k, DIR_EQ, odd, 1), x[1], x[0]);
}

/* ---- the op */

static bool
is_state(const Type *type)
{
	return type->dtype == D_u64 && type->rank == 1 && type->dims[0] == 2;
}

bool
import_op_random(Import *in, const MlirOp *op, int detail)
{
	const char *algorithm = word_of(in, op, "rng_algorithm");
	Type type, next;
	Make k = in->make;
	int64_t counts;

	(void)detail;
	if (in->noperands != 1 || op->types.n != 2 || !type_result(in, op, 0, &next)
		|| !type_result(in, op, 1, &type))
		return read_wrong(in, op->range, "%s takes a state", op->name);
	bool wide = type.dtype == D_u64, fry = !strcmp(algorithm, "THREE_FRY");
	if (!is_state(&in->operands[0]->type) || !is_state(&next)
		|| dtypes[type.dtype].class != DC_unsigned || type_elements(&type) > INT32_MAX
		|| (!fry && strcmp(algorithm, "DEFAULT") != 0
			&& strcmp(algorithm, "PHILOX") != 0))
		return read_opaque(in, op, NULL);
	State state = {.of = in->operands[0]};
	state.key = make_reshape(k, make_slice_dim(k, state.of, 0, 0, 1, 1), 0, NULL);
	state.start = make_reshape(k, make_slice_dim(k, state.of, 0, 1, 2, 1), 0, NULL);
	Value *bits = fry ? threefry(k, &state, &type, wide, &counts)
			  : philox(k, &state, &type, wide ? 2 : 4, &counts);
	state.start = with(k, O_add, state.start, (double)counts);
	int64_t one = 1;
	Value *parts[] = {make_reshape(k, state.key, 1, &one),
		make_reshape(k, state.start, 1, &one)};
	in->results[0] = make_concatenate(k, 2, parts, 0);
	in->results[1] = make_convert(k, bits, type.dtype);
	return true;
}

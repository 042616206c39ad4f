/*
 * convolution.c - convolutions are products of what windows show.
 *
 *   x f32[8,16,16,4], kernel f32[3,3,4,32], same padding
 *     windows(pad(x))               f32[8,16,16,4,3,3]
 *     einsum "nyxiab,abio->nyxo"    f32[8,16,16,32]
 *
 * With zeros between the elements of x, as a gradient has it of a convolution that takes
 * steps, each part of the kernel meets elements at every s-th place only: it is s
 * convolutions of x itself, whose results take turns.  All read parts of the same windows, so
 * that rows of x which several need are moved once, and placements pass as along one
 * convolution.
 *
 *   step 2, kernel a b c    y[0], y[2], ..  of a c      y[1], y[3], ..  of b
 *   windows of 2 rows       both of them                the last
 *
 * Where each part meets the same elements of x, as of a kernel no larger than the step, it is
 * one: which of the parts it is of is a dim of the kernel and of the result.
 *
 *   step 2, kernel a b      "x,t->xt", t: b a           y[2 x + t]
 *
 * Where each feature has a kernel of its own nothing is summed but its windows, element by
 * element.
 */
#include <string.h>

#include "import/builders.h"
#include "ir/einsum.h"

/* Which dims of a tensor are what: [b, 0, 1, f], [0, 1, i, o]. */
typedef struct Roles {
	int outer, inner; /* b and f, of a kernel i and o */
	int spatial[MAX_RANK];
} Roles;

/* Of each spatial dim. */
typedef struct Spatial {
	int64_t size[MAX_RANK], step[MAX_RANK], apart[MAX_RANK], spread[MAX_RANK];
	Numbers low, high;
} Spatial;

/* x as windows show it of which those of each phase are a part. */
typedef struct Shared {
	Term shown;
	uint32_t dims; /* that are done in phases */
	int64_t low[MAX_RANK];
} Shared;

/* One window along a dim gives `n` results of `every` that follow each other, from the
   `first` of these on; the others are 0.  n = 0: it gives one. */
typedef struct Turns {
	int64_t n, every, first;
	int64_t results; /* of all windows */
} Turns;

typedef struct Convolution {
	Value *x, *kernel;
	Roles of_x, of_kernel, of_y;
	int spatial; /* how many dims */
	int phases;  /* in how many it is done; 0: in one */
	int64_t feature_groups, batch_groups;
	int64_t reversed[MAX_RANK];
	Spatial windows;
	const Shared *shared;	/* by all phases, or NULL; */
	int64_t from[MAX_RANK]; /* ... the first elements that are of this phase's windows */
	Turns turns[MAX_RANK];	/* of each spatial dim */
} Convolution;

/* Letters of the einsum. */
enum {
	LETTER_batch,
	LETTER_group,
	LETTER_input,
	LETTER_output,
	LETTER_position,
	LETTER_element = LETTER_position + MAX_RANK,
	LETTER_turn = LETTER_element + MAX_RANK,
};

static bool
read_roles(const MlirAttr *numbers, int list, const char *outer, const char *inner, int rank,
	Roles *roles)
{
	const MlirAttr *dims = list < numbers->items.n ? numbers->items.v[list] : NULL;
	uint32_t seen = 0;

	if (!dims || dims->kind != MLIR_list || dims->items.n != rank)
		return false;
	for (int d = 0; d < rank; d++) {
		const MlirAttr *dim = dims->items.v[d];
		bool word = dim->kind == MLIR_word;
		int64_t at = word && !strcmp(dim->text, outer)		       ? rank - 2
			: word && !strcmp(dim->text, inner)		       ? rank - 1
			: dim->kind == MLIR_integer && dim->integer < rank - 2 ? dim->integer
									       : -1;
		if (at < 0 || seen >> at & 1)
			return false;
		seen |= 1u << at;
		*(at == rank - 2		 ? &roles->outer
				: at == rank - 1 ? &roles->inner
						 : &roles->spatial[at]) = d;
	}
	return true;
}

static bool
read_convolution(Import *in, const MlirOp *op, Convolution *conv)
{
	const MlirAttr *numbers = attr_of(in, op, "dimension_numbers");
	int rank = in->noperands == 2 ? in->operands[0]->type.rank : 0;

	if (rank < 2 || in->operands[1]->type.rank != rank || !numbers
		|| numbers->kind != MLIR_pair
		|| !read_roles(numbers, 0, "b", "f", rank, &conv->of_x)
		|| !read_roles(numbers, 1, "i", "o", rank, &conv->of_kernel)
		|| !read_roles(numbers, 2, "b", "f", rank, &conv->of_y))
		return read_wrong(in, op->range, "the dims of this convolution do not match");
	conv->x = in->operands[0];
	conv->kernel = in->operands[1];
	conv->spatial = rank - 2;
	conv->feature_groups = integer_of(in, op, "feature_group_count", 1);
	conv->batch_groups = integer_of(in, op, "batch_group_count", 1);
	if (attr_of(in, op, "window_reversal")
		&& !read_each(in, op, "window_reversal", conv->spatial, conv->reversed))
		return false;
	const int64_t *x = conv->x->type.dims, *kernel = conv->kernel->type.dims;
	int64_t groups = greater(conv->feature_groups, conv->batch_groups);
	if (conv->feature_groups < 1 || conv->batch_groups < 1
		|| (conv->feature_groups > 1 && conv->batch_groups > 1)
		|| x[conv->of_x.inner] % conv->feature_groups
		|| x[conv->of_x.outer] % conv->batch_groups
		|| kernel[conv->of_kernel.inner] % groups
		|| x[conv->of_x.inner] / conv->feature_groups != kernel[conv->of_kernel.outer])
		return read_wrong(in, op->range, "the groups of this convolution do not match");
	return rank + conv->spatial < MAX_RANK - 1
		|| read_wrong(in, op->range, "this convolution has too many dims");
}

static bool
read_spatial(Import *in, const MlirOp *op, Convolution *conv)
{
	Spatial *s = &conv->windows;

	if (!read_each(in, op, "window_strides", conv->spatial, s->step)
		|| !read_each(in, op, "rhs_dilation", conv->spatial, s->apart)
		|| !read_each(in, op, "lhs_dilation", conv->spatial, s->spread))
		return false;
	for (int i = 0; i < conv->spatial; i++)
		s->size[i] = conv->kernel->type.dims[conv->of_kernel.spatial[i]];
	return pairs_of(in, op, "padding", conv->spatial, &s->low, &s->high)
		|| read_wrong(in, op->range, "this padding cannot be read");
}

/* Of the dims of x as they have letters. */
static Frame
frame_of(const Convolution *conv, const Term *t)
{
	const Spatial *s = &conv->windows;
	Frame frame = frame_new(t->value->type.rank);

	for (int d = 0; d < t->value->type.rank; d++) {
		int i = t->letters[d] - LETTER_position;
		if (i < 0)
			continue;
		frame.size[d] = s->size[i];
		frame.step[d] = s->step[i];
		frame.apart[d] = s->apart[i];
		frame.by.low[d] = s->low.v[i];
		frame.by.high[d] = s->high.v[i];
		frame.by.inner[d] = s->spread[i] - 1;
	}
	return frame;
}

static void
term_add(Term *t, int at, int letter)
{
	int rank = t->value->type.rank;

	memmove(t->letters + at + 1, t->letters + at,
		sizeof t->letters[0] * (size_t)(rank - at));
	t->letters[at] = letter;
}

/* The dim becomes two, the groups before what each has. */
static bool
term_split(Make k, Term *t, int letter, int64_t groups)
{
	int64_t dims[MAX_RANK];
	int at = 0, rank = t->value->type.rank;

	while (t->letters[at] != letter)
		at++;
	if (groups == 1)
		return true;
	term_add(t, at, LETTER_group);
	memcpy(dims, t->value->type.dims, sizeof dims[0] * (size_t)at);
	dims[at] = groups;
	memcpy(dims + at + 1, t->value->type.dims + at, sizeof dims[0] * (size_t)(rank - at));
	dims[at + 1] /= groups;
	t->value = make_reshape(k, t->value, rank + 1, dims);
	return t->value != NULL;
}

static Value *
reversed_kernel(Make k, const Convolution *conv)
{
	int64_t dims[MAX_RANK];
	int n = 0;

	for (int i = 0; i < conv->spatial; i++)
		if (conv->reversed[i] && !conv->turns[i].n)
			dims[n++] = conv->of_kernel.spatial[i];
	return make_reverse(k, conv->kernel, n, dims);
}

static void
add_dim(Term *t, int64_t *dims, int *n, int letter, int64_t size)
{
	t->letters[*n] = letter;
	dims[(*n)++] = size;
}

/* Of the elements of the kernel that meet one of x the last is the first result's. */
static bool
reverse_turns(Make k, const Convolution *conv, Term *t)
{
	int64_t dims[MAX_RANK];
	int n = 0;

	for (int d = 0; t->value && d < t->value->type.rank; d++) {
		int i = t->letters[d] - LETTER_element, turn = t->letters[d] - LETTER_turn;
		if ((turn >= 0 && !conv->reversed[turn])
			|| (i >= 0 && turn < 0 && conv->turns[i].n && conv->reversed[i]))
			dims[n++] = d;
	}
	t->value = t->value ? make_reverse(k, t->value, n, dims) : NULL;
	return t->value != NULL;
}

/* The kernel, without dims of one element. */
static bool
kernel_term(Make k, const Convolution *conv, Term *t)
{
	const int64_t *sizes = conv->kernel->type.dims;
	int64_t dims[MAX_RANK];
	int spatial[MAX_RANK], n = 0;

	for (int d = 0; d < conv->kernel->type.rank; d++)
		spatial[d] = -1;
	for (int i = 0; i < conv->spatial; i++)
		spatial[conv->of_kernel.spatial[i]] = i;
	for (int d = 0; d < conv->kernel->type.rank; d++) {
		int i = spatial[d];
		int64_t turns = i >= 0 && conv->turns[i].n ? conv->turns[i].n : 1;
		if (i < 0)
			add_dim(t, dims, &n,
				d == conv->of_kernel.outer ? LETTER_input : LETTER_output,
				sizes[d]);
		if (i >= 0 && sizes[d] > turns)
			add_dim(t, dims, &n, LETTER_element + i, sizes[d] / turns);
		if (turns > 1)
			add_dim(t, dims, &n, LETTER_turn + i, turns);
	}
	t->value = make_reshape(k, conv->kernel, n, dims);
	return reverse_turns(k, conv, t)
		&& term_split(k, t, LETTER_output,
			greater(conv->feature_groups, conv->batch_groups));
}

/* Without the elements of windows that have one. */
static bool
drop_elements(Make k, Term *t)
{
	const int64_t *sizes = t->value->type.dims;
	int64_t dims[MAX_RANK];
	int n = 0;

	for (int d = 0; d < t->value->type.rank; d++) {
		if (t->letters[d] >= LETTER_element && sizes[d] == 1)
			continue;
		t->letters[n] = t->letters[d];
		dims[n++] = sizes[d];
	}
	t->value = make_reshape(k, t->value, n, dims);
	return t->value != NULL;
}

/* Of the windows that all phases share the elements of one. */
static bool
phase_term(Make k, const Convolution *conv, Term *t)
{
	int64_t start[MAX_RANK], limit[MAX_RANK], stride[MAX_RANK];

	*t = conv->shared->shown;
	for (int d = 0; d < t->value->type.rank; d++) {
		int i = t->letters[d] - LETTER_element;
		bool part = i >= 0 && conv->shared->dims >> i & 1;
		start[d] = part ? conv->from[i] : 0;
		limit[d] = part ? start[d] + conv->windows.size[i] : t->value->type.dims[d];
		stride[d] = 1;
	}
	t->value = make_slice(k, t->value, start, limit, stride);
	return t->value && drop_elements(k, t);
}

/* x, its groups a dim, as windows show it: along `moved`, too, where they have one element. */
static bool
moved_term(Import *in, const MlirOp *op, const Convolution *conv, uint32_t moved, Term *t)
{
	Value *zero = make_constant(in->make, conv->x->type.dtype, 0);

	t->value = conv->x;
	t->letters[conv->of_x.outer] = LETTER_batch;
	t->letters[conv->of_x.inner] = LETTER_input;
	for (int i = 0; i < conv->spatial; i++)
		t->letters[conv->of_x.spatial[i]] = LETTER_position + i;
	if (!term_split(in->make, t, LETTER_batch, conv->batch_groups)
		|| !term_split(in->make, t, LETTER_input, conv->feature_groups))
		return false;
	int rank = t->value->type.rank, n = rank;
	Frame frame = frame_of(conv, t);
	for (int d = 0; d < rank; d++)
		if (t->letters[d] >= LETTER_position
			&& moved >> (t->letters[d] - LETTER_position) & 1)
			frame.moved |= 1u << d;
	t->value = frame_show(in, op, t->value, zero, &frame);
	for (int d = 0; d < rank && n < MAX_RANK; d++)
		if (frame_moves(&frame, d))
			t->letters[n++] = t->letters[d] - LETTER_position + LETTER_element;
	return t->value != NULL;
}

/* Spatial dims of which one window gives several results. */
static uint32_t
dims_of_turns(const Convolution *conv)
{
	uint32_t dims = 0;

	for (int i = 0; i < conv->spatial; i++)
		dims |= (uint32_t)(conv->turns[i].n > 0) << i;
	return dims;
}

/* x as one product reads it.  Windows of one element are those of a convolution, too. */
static bool
shown_term(Import *in, const MlirOp *op, const Convolution *conv, Term *t)
{
	if (conv->shared)
		return phase_term(in->make, conv, t);
	return moved_term(in, op, conv, dims_of_turns(conv), t) && drop_elements(in->make, t);
}

/* The letters of the result, features behind their group, turns behind their window; how
   many. */
static int
result_letters(const Convolution *conv, int *letters)
{
	int own[MAX_RANK], n = 0;

	own[conv->of_y.outer] = LETTER_batch;
	own[conv->of_y.inner] = LETTER_output;
	for (int i = 0; i < conv->spatial; i++)
		own[conv->of_y.spatial[i]] = LETTER_position + i;
	for (int d = 0; d < conv->spatial + 2; d++) {
		int i = own[d] - LETTER_position;
		if (d == conv->of_y.inner
			&& (conv->feature_groups > 1 || conv->batch_groups > 1))
			letters[n++] = LETTER_group;
		letters[n++] = own[d];
		if (i >= 0 && conv->turns[i].n > 1)
			letters[n++] = LETTER_turn + i;
	}
	return n;
}

/* Dim `d` and the one behind it become one. */
static Value *
join_dims(Make k, Value *x, int d)
{
	int64_t dims[MAX_RANK];
	int rank = x->type.rank - 1;

	memcpy(dims, x->type.dims, sizeof dims[0] * (size_t)(d + 1));
	memcpy(dims + d + 1, x->type.dims + d + 2, sizeof dims[0] * (size_t)(rank - d - 1));
	dims[d] *= x->type.dims[d + 1];
	return make_reshape(k, x, rank, dims);
}

/* A dim of one element behind dim d. */
static Value *
add_one(Make k, Value *x, int d)
{
	int64_t dims[MAX_RANK];
	int rank = x->type.rank;

	memcpy(dims, x->type.dims, sizeof dims[0] * (size_t)(d + 1));
	dims[d + 1] = 1;
	memcpy(dims + d + 2, x->type.dims + d + 1, sizeof dims[0] * (size_t)(rank - d - 1));
	return make_reshape(k, x, rank + 1, dims);
}

/* Along dim d, of windows, and the one behind it, of turns, the results. */
static Value *
join_turns(Make k, const Turns *turns, Value *v, int d)
{
	v = turns->n == 1 ? add_one(k, v, d) : v;
	if (v)
		v = make_pad_dim(k, v, d + 1, turns->first,
			turns->every - turns->first - turns->n);
	v = v ? join_dims(k, v, d) : NULL;
	return v ? make_slice_dim(k, v, d, 0, turns->results, 1) : NULL;
}

/* The dims that have several letters become one. */
static Value *
join_letters(Make k, const Convolution *conv, Value *v, const int *letters, int rank)
{
	for (int d = rank - 1; d >= 0 && v; d--) {
		int i = letters[d] - LETTER_position;
		if (letters[d] == LETTER_group)
			v = join_dims(k, v, d);
		else if (i >= 0 && i < conv->spatial && conv->turns[i].n)
			v = join_turns(k, &conv->turns[i], v, d);
	}
	return v;
}

static Value *
convolve(Import *in, const MlirOp *op, const Convolution *conv, DType dtype)
{
	Term terms[2] = {0}, result = {0};

	if (!conv->kernel || !shown_term(in, op, conv, &terms[0])
		|| !kernel_term(in->make, conv, &terms[1]))
		return NULL;
	int rank = result_letters(conv, result.letters);
	Value *y = make_einsum(in->make, 2, terms, &result, rank, dtype);
	Op *dot = y ? y->def : NULL;
	while (dot && dot->kind == O_transpose)
		dot = dot->operands[0]->def;
	if (dot && dot->kind == O_dot && conv->phases)
		op_set_int(dot, A_phases, conv->phases);
	return join_letters(in->make, conv, y, result.letters, rank);
}

/* ---- a feature by itself */

static bool
is_depthwise(const Convolution *conv)
{
	const int64_t *kernel = conv->kernel->type.dims;

	return conv->feature_groups > 1 && kernel[conv->of_kernel.outer] == 1
		&& kernel[conv->of_kernel.inner] == conv->feature_groups;
}

/* The kernel for each window of x, whose letters are those of `shown`. */
static Value *
spread_kernel(Make k, const Convolution *conv, const Term *shown, DType dtype)
{
	const int64_t *sizes = conv->kernel->type.dims;
	int rank = conv->kernel->type.rank, n = 0, ones = rank;
	int64_t order[MAX_RANK], dims[MAX_RANK], to[MAX_RANK];

	order[n] = conv->of_kernel.inner;
	to[n++] = conv->of_x.inner;
	for (int d = rank; d < shown->value->type.rank; d++) {
		order[n] = conv->of_kernel.spatial[shown->letters[d] - LETTER_element];
		to[n++] = d;
	}
	order[--ones] = conv->of_kernel.outer;
	for (int i = 0; i < conv->spatial; i++)
		if (sizes[conv->of_kernel.spatial[i]] == 1)
			order[--ones] = conv->of_kernel.spatial[i];
	for (int d = 0; d < n; d++)
		dims[d] = sizes[order[d]];
	Value *kernel = make_reshape(k, make_transpose(k, conv->kernel, order), n, dims);
	return make_broadcast(k, kernel ? make_convert(k, kernel, dtype) : NULL,
		&shown->value->type, to);
}

/* There are no matrices to multiply: element by element, added up over each window. */
static Value *
convolve_features(Import *in, const MlirOp *op, const Convolution *conv, DType dtype)
{
	Make k = in->make;
	Convolution one = *conv;
	Term shown = {0};
	bool narrow = dtype_is_float(dtype) && dtypes[dtype].bits < dtypes[D_f32].bits;
	DType wide = narrow ? D_f32 : dtype;
	int rank = conv->x->type.rank;
	int64_t order[MAX_RANK];

	one.feature_groups = 1;
	if (!shown_term(in, op, &one, &shown))
		return NULL;
	Value *kernel = spread_kernel(k, conv, &shown, wide);
	Value *v = make_binary(k, O_mul, make_convert(k, shown.value, wide), kernel);
	v = reduce_last(k, C_add, v, rank);
	order[conv->of_y.outer] = conv->of_x.outer;
	order[conv->of_y.inner] = conv->of_x.inner;
	for (int i = 0; i < conv->spatial; i++)
		order[conv->of_y.spatial[i]] = conv->of_x.spatial[i];
	v = make_transpose(k, v, order);
	return v ? make_convert(k, v, dtype) : NULL;
}

/* ---- zeros between elements */

enum { MOST_PHASES = 8 }; /* along a dim */

/* Are there only zeros between the elements of the spatial dim? */
static bool
is_spread(const Convolution *conv, int i)
{
	const Spatial *s = &conv->windows;

	return s->spread[i] > 1 && s->step[i] == 1 && s->apart[i] == 1
		&& conv->x->type.dims[conv->of_x.spatial[i]] > 1;
}

/* Is it done in phases? */
static bool
has_phases(const Convolution *conv, int i)
{
	return is_spread(conv, i) && conv->windows.spread[i] <= MOST_PHASES;
}

/* A spatial dim that is; -1: none. */
static int
phase_dim(const Convolution *conv)
{
	for (int i = 0; i < conv->spatial; i++)
		if (has_phases(conv, i))
			return i;
	return -1;
}

/* Which elements of a kernel meet some of x in results r, r + s, ... */
typedef struct Met {
	int64_t from, size; /* every s-th from there on */
	int64_t before;	    /* p results on the first meets x[p - before] */
} Met;

/* Element k of the kernel meets element (r + k - low) / s of x first. */
static Met
elements_met(const Convolution *conv, int i, int64_t r)
{
	int64_t s = conv->windows.spread[i], low = conv->windows.low.v[i];
	int64_t k = conv->windows.size[i];
	int64_t from = ((low - r) % s + s) % s;

	if (from >= k)
		from = k;
	return (Met){from, (k - from + s - 1) / s, (low - r - from) / s};
}

/* Does a window show some of the n elements that it is moved over? */
static bool
shows_some(int64_t before, int64_t behind, int64_t n)
{
	int64_t none = greater(-before, 0), last = greater(-behind, 0);

	return none < n && last < n && none + last < n;
}

/* Elements k of the kernel for which r + k is the same meet the same of x: if all are so, for
   r and k below the step and with the next s of the kernel one x farther, they are one
   convolution, of so many `results`. */
static void
join_phases(Convolution *conv, int i, int64_t results)
{
	Spatial *w = &conv->windows;
	int64_t s = w->spread[i], k = w->size[i], n = conv->x->type.dims[conv->of_x.spatial[i]];

	if (!is_spread(conv, i) || k < 1 || s > results)
		return;
	int64_t some = k < s ? k : s, last = (w->low.v[i] % s + s) % s;
	int64_t before = (w->low.v[i] - last) / s, size = k / some;
	int64_t behind = (results + s - 1) / s - 1 + size - n - before;
	if (k % some || last < some - 1 || !shows_some(before, behind, n))
		return;
	conv->turns[i] = (Turns){some, s, last - some + 1, results};
	w->spread[i] = 1;
	w->size[i] = size;
	w->low.v[i] = before;
	w->high.v[i] = behind;
}

/* Results r, r + s, ... along spatial dim i, of a result of `type`; as many for each r where
   phases share their windows.  False: they are zeros. */
static bool
find_phase(Import *in, const Convolution *conv, int i, int64_t r, Type *type,
	Convolution *phase)
{
	Spatial *w = &phase->windows;
	int64_t s = conv->windows.spread[i];
	int64_t n = conv->x->type.dims[conv->of_x.spatial[i]];
	int64_t *results = &type->dims[conv->of_y.spatial[i]];
	Met met = elements_met(conv, i, r);

	*results = (*results - (conv->shared ? 0 : r) + s - 1) / s;
	*phase = *conv;
	/* those that meet nothing make no product */
	phase->phases = (int)(conv->windows.size[i] < s ? conv->windows.size[i] : s)
		* (conv->phases ? conv->phases : 1);
	w->spread[i] = 1;
	w->size[i] = met.size;
	w->low.v[i] = met.before;
	w->high.v[i] = *results - 1 + met.size - n - met.before;
	if (!met.size || !shows_some(w->low.v[i], w->high.v[i], n))
		return false;
	if (conv->shared)
		phase->from[i] = conv->shared->low[i] - met.before;
	phase->kernel = make_slice_dim(in->make, conv->kernel, conv->of_kernel.spatial[i],
		met.from, conv->windows.size[i], s);
	return true;
}

/* The windows along spatial dim i of which those of all phases are parts, of so many
   `results`; false: they have more elements than there are of them, or show nothing. */
static bool
join_windows(const Convolution *conv, int i, int64_t results, Spatial *all)
{
	int64_t s = conv->windows.spread[i], first = INT64_MAX, end = INT64_MIN;
	int64_t n = conv->x->type.dims[conv->of_x.spatial[i]];
	int64_t count = (results + s - 1) / s;

	for (int64_t r = 0; r < s && r < results; r++) {
		Met met = elements_met(conv, i, r);
		if (!met.size)
			continue;
		first = first < -met.before ? first : -met.before;
		end = greater(end, met.size - met.before);
	}
	if (first >= end || end - first > count)
		return false;
	all->spread[i] = 1;
	all->size[i] = end - first;
	all->low.v[i] = -first;
	all->high.v[i] = count - 1 + end - n;
	return shows_some(-first, all->high.v[i], n);
}

/* False: each phase has windows of its own. */
static bool
share_windows(Import *in, const MlirOp *op, const Convolution *conv, const Type *type,
	Shared *shared)
{
	Convolution all = *conv;
	bool several = false;

	*shared = (Shared){0};
	for (int i = 0; i < conv->spatial; i++) {
		if (!has_phases(conv, i))
			continue;
		if (!join_windows(conv, i, type->dims[conv->of_y.spatial[i]], &all.windows))
			return false;
		shared->dims |= 1u << i;
		shared->low[i] = all.windows.low.v[i];
		several |= all.windows.size[i] > 1;
	}
	if (is_depthwise(conv)) {
		if (!several)
			return false; /* x itself, where the kernel follows */
		all.feature_groups = 1;
	}
	return shared->dims
		&& moved_term(in, op, &all, shared->dims | dims_of_turns(conv), &shared->shown);
}

/* Element j of each of n tensors, one after the other, along dim d: `size` of them. */
static Value *
take_turns(Make k, int n, Value **v, int d, int64_t size)
{
	int64_t rows = (size + n - 1) / n, dims[MAX_RANK];

	for (int r = 0; r < n; r++) {
		if (!v[r])
			return NULL;
		int rank = v[r]->type.rank;
		v[r] = make_pad_dim(k, v[r], d, 0, rows - v[r]->type.dims[d]);
		if (!v[r])
			return NULL;
		memcpy(dims, v[r]->type.dims, sizeof dims[0] * (size_t)(d + 1));
		dims[d + 1] = 1;
		memcpy(dims + d + 2, v[r]->type.dims + d + 1,
			sizeof dims[0] * (size_t)(rank - d - 1));
		v[r] = make_reshape(k, v[r], rank + 1, dims);
	}
	Value *all = make_concatenate(k, n, v, d + 1);
	return all ? make_slice_dim(k, join_dims(k, all, d), d, 0, size, 1) : NULL;
}

/* In phases along dims that have some; type: of the result. */
static Value *
convolve_phases(Import *in, const MlirOp *op, const Convolution *conv, const Type *type)
{
	Value *phases[MOST_PHASES] = {NULL};
	int i = conv->kernel ? phase_dim(conv) : -1, n = 0;

	if (i < 0 && conv->kernel && is_depthwise(conv))
		return convolve_features(in, op, conv, type->dtype);
	if (i < 0)
		return convolve(in, op, conv, type->dtype);
	int d = conv->of_y.spatial[i];
	for (; n < conv->windows.spread[i] && n < type->dims[d]; n++) {
		Convolution phase;
		Type part = *type;
		phases[n] = find_phase(in, conv, i, n, &part, &phase)
			? convolve_phases(in, op, &phase, &part)
			: make_full(in->make, &part, 0);
	}
	return take_turns(in->make, n, phases, d, type->dims[d]);
}

/* Is the result as large along spatial dims as there are windows in x with its zeros? */
static bool
sizes_match(const Convolution *conv, const Type *type)
{
	const Spatial *s = &conv->windows;

	if (type->rank != conv->x->type.rank)
		return false;
	for (int i = 0; i < conv->spatial; i++) {
		int64_t n = conv->x->type.dims[conv->of_x.spatial[i]] - 1, window;
		int64_t k = conv->kernel->type.dims[conv->of_kernel.spatial[i]];
		if (s->spread[i] < 1 || s->step[i] < 1 || s->apart[i] < 1
			|| !mul_i64(n, s->spread[i], &n) || !add_i64(n, s->low.v[i], &n)
			|| !add_i64(n, s->high.v[i], &n)
			|| !mul_i64(k - 1, s->apart[i], &window) || n < window
			|| (n - window) / s->step[i] + 1 != type->dims[conv->of_y.spatial[i]])
			return false;
	}
	return true;
}

bool
import_op_convolution(Import *in, const MlirOp *op, int detail)
{
	Convolution conv = {0};
	Type type;

	(void)detail;
	if (!read_convolution(in, op, &conv) || !read_spatial(in, op, &conv)
		|| !type_result(in, op, 0, &type))
		return false;
	if (!sizes_match(&conv, &type))
		return read_wrong(in, op->range,
			"the windows of this convolution are not as many as its results");
	if (dtypes[conv.x->type.dtype].bits < dtypes[conv.kernel->type.dtype].bits)
		conv.x = make_convert(in->make, conv.x, conv.kernel->type.dtype);
	else
		conv.kernel = make_convert(in->make, conv.kernel, conv.x->type.dtype);
	for (int i = 0; i < conv.spatial && conv.x && !is_depthwise(&conv); i++)
		join_phases(&conv, i, type.dims[conv.of_y.spatial[i]]);
	conv.kernel = conv.kernel ? reversed_kernel(in->make, &conv) : NULL;
	Shared shared;
	if (conv.x && conv.kernel && share_windows(in, op, &conv, &type, &shared))
		conv.shared = &shared;
	in->results[0] = conv.x ? convolve_phases(in, op, &conv, &type) : NULL;
	return true;
}

/*
 * windows.c - what windows that move over a tensor show: convolutions are products of it,
 * pooling reduces it.
 *
 *   x f32[8,16,16,4], kernel f32[3,3,4,32], same padding
 *     pad(x)                        f32[8,18,18,4]
 *     windows(..)                   f32[8,16,16,4,3,3]      a view
 *     einsum "nyxiab,abio->nyxo"    f32[8,16,16,32]
 *
 * Dims along which a window is one element have no windows: they pass.
 */
#include <string.h>

#include "import/builders.h"
#include "ir/einsum.h"

Frame
frame_new(int rank)
{
	Frame frame = {0};

	for (int d = 0; d < rank; d++)
		frame.size[d] = frame.step[d] = frame.apart[d] = 1;
	return frame;
}

/* Does a dim of n elements have room for one window only?  Then that is x[0:end:apart]. */
static bool
has_one_window(const Frame *frame, int d, int64_t n, int64_t *end)
{
	int64_t last;

	if (frame->size[d] < 2 || frame->apart[d] < 1 || frame->step[d] < 1
		|| !mul_i64(frame->size[d] - 1, frame->apart[d], &last) || last >= n)
		return false;
	*end = last + 1;
	return n - 1 - last < frame->step[d];
}

/* Dims of which there is one window are its elements: they go behind the others, where
   those of windows are, in the order of the dims; 1 takes their place. */
static Value *
elements_last(Make k, Value *v, const Frame *frame, int rank, uint32_t alone)
{
	int64_t order[MAX_RANK], dims[MAX_RANK];
	int n = 0, ndims = 0, window = rank;

	for (int d = 0; d < rank; d++) {
		dims[ndims++] = alone >> d & 1 ? 1 : v->type.dims[d];
		if (!(alone >> d & 1))
			order[n++] = d;
	}
	for (int d = 0; d < rank; d++)
		if (frame->size[d] > 1)
			order[n++] = alone >> d & 1 ? d : window++;
	v = make_transpose(k, v, order);
	for (int i = rank - __builtin_popcount(alone); v && i < n && ndims < MAX_RANK; i++)
		dims[ndims++] = v->type.dims[i];
	return v ? make_reshape(k, v, ndims, dims) : NULL;
}

Value *
frame_show(Import *in, const MlirOp *op, Value *x, Value *padding, const Frame *frame)
{
	Windows w = {0};
	uint32_t alone = 0;
	int64_t end;
	int rank = x->type.rank;
	Value *v = pad_around(in, x, padding, &frame->by);

	if (!v && diag_errors(in->session) == 0)
		read_wrong(in, op->range, "this padding cannot be");
	for (int d = 0; d < rank && v; d++) {
		if (frame->size[d] == 1) {
			v = make_slice_dim(in->make, v, d, 0, v->type.dims[d], frame->step[d]);
		} else if (has_one_window(frame, d, v->type.dims[d], &end)) {
			v = make_slice_dim(in->make, v, d, 0, end, frame->apart[d]);
			alone |= 1u << d;
		} else {
			w.dim[w.n] = d;
			w.size[w.n] = frame->size[d];
			w.step[w.n] = frame->step[d];
			w.apart[w.n++] = frame->apart[d];
		}
	}
	v = w.n && v ? make_windows(in->make, v, &w) : v;
	return alone && v ? elements_last(in->make, v, frame, rank, alone) : v;
}

bool
read_each(Import *in, const MlirOp *op, const char *name, int n, int64_t *v)
{
	Numbers numbers;

	if (!attr_of(in, op, name)) {
		for (int i = 0; i < n; i++)
			v[i] = 1;
		return true;
	}
	if (!attr_numbers(in, attr_of(in, op, name), &numbers) || numbers.n != n)
		return read_wrong(in, op->range,
			"%s of %s has not a number for each of %d dims", name, op->name, n);
	memcpy(v, numbers.v, sizeof v[0] * (size_t)n);
	return true;
}

/* ---- convolutions */

/* Which dims of a tensor are what: [b, 0, 1, f], [0, 1, i, o]. */
typedef struct Roles {
	int outer, inner; /* b and f, of a kernel i and o */
	int spatial[MAX_RANK];
} Roles;

/* Of each spatial dim. */
typedef struct Spatial {
	int64_t step[MAX_RANK], apart[MAX_RANK], spread[MAX_RANK];
	Numbers low, high;
} Spatial;

typedef struct Convolution {
	Value *x, *kernel;
	Roles of_x, of_kernel, of_y;
	int spatial; /* how many dims */
	int64_t feature_groups, batch_groups;
	int64_t reversed[MAX_RANK];
	Spatial windows;
} Convolution;

/* Letters of the einsum. */
enum {
	LETTER_batch,
	LETTER_group,
	LETTER_input,
	LETTER_output,
	LETTER_position,
	LETTER_element = LETTER_position + MAX_RANK,
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
		frame.size[d] = conv->kernel->type.dims[conv->of_kernel.spatial[i]];
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

/* The kernel, without dims of one element. */
static bool
kernel_term(Make k, const Convolution *conv, Term *t)
{
	int64_t dims[MAX_RANK];
	int n = 0;

	t->letters[conv->of_kernel.outer] = LETTER_input;
	t->letters[conv->of_kernel.inner] = LETTER_output;
	t->value = conv->kernel;
	for (int i = 0; i < conv->spatial; i++) {
		int64_t d = conv->of_kernel.spatial[i];
		t->letters[d] = LETTER_element + i;
		if (conv->reversed[i] && conv->kernel->type.dims[d] > 1)
			t->value = make_reverse(k, t->value, 1, &d);
	}
	for (int d = 0; d < conv->kernel->type.rank; d++) {
		if (t->letters[d] >= LETTER_element && conv->kernel->type.dims[d] == 1)
			continue;
		t->letters[n] = t->letters[d];
		dims[n++] = conv->kernel->type.dims[d];
	}
	t->value = make_reshape(k, t->value, n, dims);
	return t->value
		&& term_split(k, t, LETTER_output,
			greater(conv->feature_groups, conv->batch_groups));
}

/* x, its groups a dim, as windows show it. */
static bool
shown_term(Import *in, const MlirOp *op, const Convolution *conv, Term *t)
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
	t->value = frame_show(in, op, t->value, zero, &frame);
	for (int d = 0; d < rank && n < MAX_RANK; d++)
		if (frame.size[d] > 1)
			t->letters[n++] = t->letters[d] - LETTER_position + LETTER_element;
	return t->value != NULL;
}

/* The letters of the result, features behind their group; how many. */
static int
result_letters(const Convolution *conv, int *letters)
{
	int n = conv->spatial + 2;

	letters[conv->of_y.outer] = LETTER_batch;
	letters[conv->of_y.inner] = LETTER_output;
	for (int i = 0; i < conv->spatial; i++)
		letters[conv->of_y.spatial[i]] = LETTER_position + i;
	if (conv->feature_groups == 1 && conv->batch_groups == 1)
		return n;
	memmove(letters + conv->of_y.inner + 1, letters + conv->of_y.inner,
		sizeof letters[0] * (size_t)(n - conv->of_y.inner));
	letters[conv->of_y.inner] = LETTER_group;
	return n + 1;
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

bool
import_op_convolution(Import *in, const MlirOp *op, int detail)
{
	Convolution conv = {0};
	Term terms[2] = {0}, result = {0};
	Type type;

	(void)detail;
	if (!read_convolution(in, op, &conv) || !read_spatial(in, op, &conv)
		|| !type_result(in, op, 0, &type))
		return false;
	if (dtypes[conv.x->type.dtype].bytes < dtypes[conv.kernel->type.dtype].bytes)
		conv.x = make_convert(in->make, conv.x, conv.kernel->type.dtype);
	else
		conv.kernel = make_convert(in->make, conv.kernel, conv.x->type.dtype);
	if (!conv.x || !conv.kernel || !shown_term(in, op, &conv, &terms[0])
		|| !kernel_term(in->make, &conv, &terms[1]))
		return false;
	int rank = result_letters(&conv, result.letters);
	Value *y = make_einsum(in->make, 2, terms, &result, rank, type.dtype);
	in->results[0] = y && rank > type.rank ? join_dims(in->make, y, conv.of_y.inner) : y;
	return true;
}

/*
 * pooling.c - reductions of windows, running ones too, and what goes back through them.
 *
 *   max pool, x f32[8,16,16,4]    windows(x)  f32[8,8,8,4,2,2], reduced over the last two
 *   cumlogsumexp, x f32[n]        x with x one before it, that with itself two before, 4, ..;
 *                                 in parts, which devices may have
 *   gradient of a max pool        of each window, which element it takes; of each element,
 *                                 the windows that take it
 */
#include <string.h>

#include "import/builders.h"

/* Of the dims of operand 0.  False after a message. */
static bool
read_frame(Import *in, const MlirOp *op, Frame *frame)
{
	int64_t spread[MAX_RANK];
	int rank = in->operands[0]->type.rank;
	Numbers low, high;

	*frame = frame_new(rank);
	if (!read_each(in, op, "window_dimensions", rank, frame->size)
		|| !read_each(in, op, "window_strides", rank, frame->step)
		|| !read_each(in, op, "window_dilations", rank, frame->apart)
		|| !read_each(in, op, "base_dilations", rank, spread))
		return false;
	if (!pairs_of(in, op, "padding", rank, &low, &high))
		return read_wrong(in, op->range, "this padding cannot be read");
	for (int d = 0; d < rank; d++) {
		frame->by.low[d] = low.v[d];
		frame->by.high[d] = high.v[d];
		frame->by.inner[d] = spread[d] - 1;
	}
	return true;
}

/* ---- running reductions */

/* The dim along which each window is all up to an element, or from it on; -1: none. */
static int
running_dim(const Frame *frame, const Type *type)
{
	int dim = -1;

	for (int d = 0; d < type->rank; d++) {
		int64_t around = frame->by.low[d] + frame->by.high[d], n = type->dims[d];
		bool end = frame->by.low[d] == 0 || frame->by.high[d] == 0;
		if (frame->step[d] != 1 || frame->apart[d] != 1 || frame->by.inner[d] || !end)
			return -1;
		if (frame->size[d] == 1 && around == 0)
			continue;
		if (dim >= 0 || frame->size[d] != n || around != n - 1)
			return -1;
		dim = d;
	}
	return dim;
}

/* x, moved by so many along a dim, up or down; `init` where nothing comes. */
static Value *
shifted(Make k, Value *x, Value *init, int dim, int64_t by, bool up)
{
	int64_t low[MAX_RANK] = {0}, high[MAX_RANK] = {0};

	low[dim] = up ? by : -by;
	high[dim] = -low[dim];
	return make_pad(k, x, init, low, high);
}

/* By doubling: after i rounds each element is that of 2^i, up to it or from it on. */
static Value *
run_doubling(Import *in, const MlirOp *op, Value *v, int dim, bool up)
{
	Value *init = in->operands[1];

	for (int64_t by = 1; v && by < v->type.dims[dim]; by *= 2) {
		Value *other = shifted(in->make, v, init, dim, by, up);
		Value *a = up ? other : v, *b = up ? v : other;
		v = read_lifted(in, op, a, b);
	}
	return v;
}

/* In how many parts n elements are done: as many as devices of the mesh that may each have
   some, for then a part sends its last row alone; of several elements each. */
static int64_t
run_parts(const Import *in, int64_t n)
{
	int64_t parts = gcd_i64(n, in->module->mesh.ndevices), least = 2;

	while (parts == n && n % least)
		least++;
	return parts == n ? n / least : parts;
}

/* With a body of its own: of each part by itself, then what those before it come to, or those
   behind it, with each of its elements. */
static Value *
run_body(Import *in, const MlirOp *op, int dim, bool up)
{
	Value *x = in->operands[0];
	Make k = in->make;
	int64_t n = x->type.dims[dim], parts = run_parts(in, n), to[MAX_RANK];
	Type whole = x->type, shape = x->type;

	if (parts < 2 || shape.rank == MAX_RANK)
		return run_doubling(in, op, x, dim, up);
	shape.rank++;
	for (int d = shape.rank - 1; d > dim; d--)
		shape.dims[d] = x->type.dims[d - 1];
	shape.dims[dim] = parts;
	shape.dims[dim + 1] = n / parts;
	for (int d = 0; d < whole.rank; d++)
		to[d] = d > dim ? d + 1 : d;
	Value *each = make_reshape(k, x, shape.rank, shape.dims);
	each = run_doubling(in, op, each, dim + 1, up);
	if (!each)
		return NULL;
	int64_t last = up ? n / parts - 1 : 0;
	whole.dims[dim] = parts;
	Value *all = make_slice_dim(k, each, dim + 1, last, last + 1, 1);
	all = make_reshape(k, all, whole.rank, whole.dims);
	all = shifted(k, all, in->operands[1], dim, 1, up);
	all = run_doubling(in, op, all, dim, up);
	if (!all)
		return NULL;
	all = make_broadcast(k, all, &shape, to);
	each = up ? read_lifted(in, op, all, each) : read_lifted(in, op, each, all);
	return each ? make_reshape(k, each, x->type.rank, x->type.dims) : NULL;
}

static Value *
run_combiner(Make k, Combiner c, Value *x, int dim, bool up)
{
	int64_t along = dim;
	Value *v = make_cumsum(k, c, up ? x : make_reverse(k, x, 1, &along), dim);

	return up || !v ? v : make_reverse(k, v, 1, &along);
}

/* ---- pooling */

/* Of what windows show, or running along `dim`, if that is >= 0.  combiner: NULL, what the
   body computes. */
static Value *
reduce_windows(Import *in, const MlirOp *op, const Frame *frame, const Combiner *combiner,
	int dim)
{
	Value *x = in->operands[0], *init = in->operands[1];
	bool up = dim >= 0 && frame->by.high[dim] == 0;
	bool identity = combiner && is_identity(init, *combiner);

	if (!combiner)
		return run_body(in, op, dim, up);
	Value *v = dim >= 0 ? run_combiner(in->make, *combiner, x, dim, up)
			    : frame_show(in, op, x, init, frame);
	v = dim < 0 ? reduce_last(in->make, *combiner, v, x->type.rank) : v;
	return v && !identity
		? make_combine(in->make, *combiner, v, make_splat(in->make, init, &v->type))
		: v;
}

/* What is put around is what reductions begin with: it changes nothing, as StableHLO has it
   of a body, or may be there any number of times. */
bool
import_op_window(Import *in, const MlirOp *op, int detail)
{
	Frame frame;
	Combiner c;
	int dim = -1;

	(void)detail;
	bool one = in->noperands == 2 && !in->operands[1]->type.rank;
	if (one && !read_frame(in, op, &frame))
		return false;
	bool known = one && region_combiner(in, op, &c);
	bool repeats = known && ((c != C_add && c != C_mul) || is_identity(in->operands[1], c));
	if (one)
		dim = running_dim(&frame, &in->operands[0]->type);
	if (known ? !repeats : dim < 0 || !region_lifts(in, op, 1))
		return read_opaque(in, op,
			"stablehlo.reduce_window of several operands or steps");
	in->results[0] = reduce_windows(in, op, &frame, known ? &c : NULL, dim);
	return true;
}

/* ---- backward through a pooling that takes the greatest, or the least */

/* i1 n0 + i0 of the element (i1, i0) of each window, behind the first `rank` dims. */
static Value *
number_in_windows(Make k, const Type *type, int rank)
{
	const Type of = type_of(D_i32, type->rank, type->dims);

	return number_elements(k, &of, ~0u << rank, NULL);
}

/* pred: is the element one of the operand, not of its padding? */
static Value *
inside_of(Import *in, const MlirOp *op, const Type *type, const Frame *frame)
{
	Make k = in->make;
	Type shape = type_of(D_pred, type->rank, type->dims);
	Value *yes = make_full(k, &shape, 1);

	return frame_show(in, op, yes, make_constant(k, D_pred, 0), frame);
}

/* From which element on one is taken: the comparison is false of NaN, so what comes behind
   the last NaN is; that itself, if nothing does. */
static Value *
first_taken(Make k, Value *shown, Value *at, Value *inside, int rank)
{
	Value *none = number_like(k, at, -1);
	Value *odd = make_binary(k, O_and, inside, make_compare(k, DIR_NE, shown, shown));
	Value *last_odd = reduce_last(k, C_max, make_select(k, odd, at, none), rank);
	Value *last = reduce_last(k, C_max, make_select(k, inside, at, none), rank);
	Value *next = with(k, O_add, last_odd, 1);

	return make_select(k, make_compare(k, DIR_EQ, last, last_odd), last_odd, next);
}

/* Of each window, the number of the first element that is the greatest, or the least. */
static Value *
taken_elements(Import *in, const MlirOp *op, Combiner c, const Frame *frame)
{
	Make k = in->make;
	Value *x = in->operands[0], *least = make_identity(k, c, x->type.dtype);
	int rank = x->type.rank;
	Value *shown = frame_show(in, op, x, least, frame);
	Value *inside = inside_of(in, op, &x->type, frame);

	if (!shown || !inside)
		return NULL;
	Value *at = number_in_windows(k, &shown->type, rank);
	if (!at)
		return NULL;
	Value *end = make_full(k, &at->type, INT32_MAX);
	if (dtype_is_float(x->type.dtype)) {
		Value *first = first_taken(k, shown, at, inside, rank);
		Value *behind =
			make_compare(k, DIR_GE, at, make_spread(k, first, 0, &at->type));
		inside = make_binary(k, O_and, inside, behind);
	}
	Value *odd = make_compare(k, DIR_NE, shown, shown);
	Value *best = reduce_last(k, c,
		make_select(k, inside, shown, make_splat(k, least, &shown->type)), rank);
	Value *hit = make_binary(k, O_or, odd,
		make_compare(k, DIR_EQ, shown, make_spread(k, best, 0, &shown->type)));
	hit = make_binary(k, O_and, hit, inside);
	return reduce_last(k, C_min, make_select(k, hit, at, end), rank);
}

/* Windows as the elements see them: which of the pooling's, spread by its steps, have the
   element, the last first. */
static Frame
frame_back(const Frame *frame, const Type *type, const Type *pooled)
{
	Frame back = frame_new(type->rank);

	for (int d = 0; d < type->rank; d++) {
		int64_t spread = (pooled->dims[d] - 1) * frame->step[d];
		back.size[d] = frame->size[d];
		back.by.inner[d] = frame->step[d] - 1;
		back.by.low[d] = frame->size[d] - 1 - frame->by.low[d];
		back.by.high[d] = type->dims[d] - 1 + frame->by.low[d] - spread;
	}
	return back;
}

/* Is it that a >= b, or a <= b, so that the first of equal ones stays? */
static bool
selects_first(Import *in, const MlirOp *op, Combiner *combiner)
{
	const MlirOp *step = region_step(op, 0);
	const char *word = step && !strcmp(step->name, "stablehlo.compare")
		? word_of(in, step, "comparison_direction")
		: "";

	*combiner = strcmp(word, "GE") ? C_min : C_max;
	return !strcmp(word, "GE") || !strcmp(word, "LE");
}

/* What is given back to each element: of the windows that have it, those that take it. */
static Value *
given_back(Import *in, const MlirOp *op, Value *taken, const Frame *back)
{
	Make k = in->make;
	Value *source = in->operands[1], *init = in->operands[2];
	int rank = source->type.rank;
	Value *zero = make_constant(k, source->type.dtype, 0);
	Value *seen = frame_show(in, op, source, zero, back);
	Value *whose = frame_show(in, op, taken, make_constant(k, D_i32, -1), back);

	if (!seen || !whose)
		return NULL;
	Value *number = number_in_windows(k, &whose->type, rank); /* the last first */
	int64_t n = type_elements_from(&whose->type, rank);
	number = make_binary(k, O_sub, number_like(k, number, (double)(n - 1)), number);
	Value *takes = make_compare(k, DIR_EQ, whose, number);
	Value *given = make_select(k, takes, seen, make_splat(k, zero, &seen->type));
	given = reduce_last(k, C_add, given, rank);
	if (given && !is_identity(init, C_add))
		given = make_binary(k, O_add, given, make_splat(k, init, &given->type));
	return given;
}

bool
import_op_scatter_windows(Import *in, const MlirOp *op, int detail)
{
	Combiner c, adds;
	Frame frame;

	(void)detail;
	if (in->noperands != 3 || in->operands[0]->type.rank != in->operands[1]->type.rank
		|| in->operands[2]->type.rank || !selects_first(in, op, &c)
		|| !combiner_takes(c, in->operands[0]->type.dtype)
		|| !region_combiner(in, op, &adds) || adds != C_add)
		return read_opaque(in, op, NULL);
	if (!read_frame(in, op, &frame))
		return false;
	Value *x = in->operands[0], *source = in->operands[1];
	Value *taken = taken_elements(in, op, c, &frame);
	if (!taken)
		return false;
	for (int d = 0; d < source->type.rank; d++)
		if (source->type.dims[d] != taken->type.dims[d])
			return read_wrong(in, op->range,
				"%s has not a source for each of its windows", op->name);
	Frame back = frame_back(&frame, &x->type, &source->type);
	in->results[0] = given_back(in, op, taken, &back);
	return true;
}

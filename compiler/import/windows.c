/*
 * windows.c - what windows show that move over a tensor with something around it.
 *
 *   x f32[8,16,16,4], windows of 3x3, same padding
 *     pad(x)          f32[8,18,18,4]
 *     windows(..)     f32[8,16,16,4,3,3]     a view
 *
 * Dims along which a window is one element have no windows: they pass.
 */
#include <string.h>

#include "import/builders.h"

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

/* Are there several windows along a dim of n elements, with something put around it? */
static bool
is_around(const Frame *frame, int d, int64_t n)
{
	const Padding *by = &frame->by;
	int64_t end, all;

	return frame->size[d] > 1 && !by->inner[d] && by->low[d] >= 0 && by->high[d] >= 0
		&& add_i64(n, by->low[d], &all) && add_i64(all, by->high[d], &all)
		&& !has_one_window(frame, d, all, &end);
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
	int64_t end, before[MAX_RANK], behind[MAX_RANK];
	int rank = x->type.rank;
	Padding by = frame->by;
	bool around = false;

	/* what stands around windows is theirs */
	for (int d = 0; d < rank; d++)
		if (is_around(frame, d, x->type.dims[d])) {
			around |= by.low[d] > 0 || by.high[d] > 0;
			by.low[d] = by.high[d] = 0;
		}
	Value *v = pad_around(in, x, padding, &by);

	if (!v && diag_errors(in->session) == 0)
		read_wrong(in, op->range, "this padding cannot be");
	for (int d = 0; d < rank && v; d++) {
		if (frame->size[d] == 1) {
			v = make_slice_dim(in->make, v, d, 0, v->type.dims[d], frame->step[d]);
		} else if (!is_around(frame, d, x->type.dims[d])
			&& has_one_window(frame, d, v->type.dims[d], &end)) {
			v = make_slice_dim(in->make, v, d, 0, end, frame->apart[d]);
			alone |= 1u << d;
		} else {
			w.dim[w.n] = d;
			w.size[w.n] = frame->size[d];
			w.step[w.n] = frame->step[d];
			w.apart[w.n] = frame->apart[d];
			before[w.n] = frame->by.low[d] - by.low[d];
			behind[w.n++] = frame->by.high[d] - by.high[d];
		}
	}
	if (w.n && v)
		v = around ? make_frames(in->make, v, padding, &w, before, behind)
			   : make_windows(in->make, v, &w);
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

Value *
reduce_last(Make k, Combiner c, Value *v, int rank)
{
	int64_t dims[MAX_RANK];
	int n = 0;

	for (int d = rank; v && d < v->type.rank; d++)
		dims[n++] = d;
	return n ? make_reduce(k, c, v, n, dims) : v;
}

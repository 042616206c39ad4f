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

bool
frame_moves(const Frame *frame, int d)
{
	return frame->size[d] > 1 || frame->moved >> d & 1;
}

/* Where the first window ends of those along n elements; false: there is none. */
static bool
first_end(int64_t size, int64_t step, int64_t apart, int64_t n, int64_t *end)
{
	int64_t last;

	if (size < 2 || apart < 1 || step < 1 || !mul_i64(size - 1, apart, &last) || last >= n)
		return false;
	*end = last + 1;
	return true;
}

/* Does a dim of n elements have room for one window only?  Then that is x[0:end:apart]. */
static bool
has_one_window(const Frame *frame, int d, int64_t n, int64_t *end)
{
	return first_end(frame->size[d], frame->step[d], frame->apart[d], n, end)
		&& n - *end < frame->step[d];
}

/* What is around and between the elements of a pad is so of its windows, if that is the same
   number. */
static Value *
take_pad(Value *x, const Value *padding, Frame *frame)
{
	const Op *pad = x->def && x->def->kind == O_pad ? x->def : NULL;

	if (!pad || !same_scalar(pad->operands[1], padding))
		return x;
	Padding by = frame->by;
	for (int d = 0; d < x->type.rank; d++) {
		if (by.inner[d] || by.low[d] < 0 || by.high[d] < 0
			|| !add_i64(by.low[d], op_ints(pad, A_low)->v[d], &by.low[d])
			|| !add_i64(by.high[d], op_ints(pad, A_high)->v[d], &by.high[d]))
			return x;
		by.inner[d] = op_has(pad, A_inner) ? op_ints(pad, A_inner)->v[d] : 0;
	}
	frame->by = by;
	return pad->operands[0];
}

/* Are there several windows along a dim of n elements, with something put around it?  What is
   put between elements is put behind the last, too: so many for each then, which a dim that
   is split has on each device. */
static bool
is_around(const Frame *frame, int d, int64_t n)
{
	const Padding *by = &frame->by;
	int64_t end, all;

	return frame_moves(frame, d) && by->inner[d] >= 0 && by->low[d] >= 0
		&& by->high[d] >= by->inner[d] && add_i64(by->inner[d], 1, &all)
		&& mul_i64(n, all, &all) && add_i64(all, by->low[d], &all)
		&& add_i64(all, by->high[d] - by->inner[d], &all)
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
		if (frame_moves(frame, d))
			order[n++] = alone >> d & 1 ? d : window++;
	v = make_transpose(k, v, order);
	for (int i = rank - __builtin_popcount(alone); v && i < n && ndims < MAX_RANK; i++)
		dims[ndims++] = v->type.dims[i];
	return v ? make_reshape(k, v, ndims, dims) : NULL;
}

/*
 * Element k of window p is at step p + apart k: k may be called the window and p the element.
 * Windows of which the first elements are over fewer rows than those of one are turned so: of
 * rows that are split a device then needs few of others, and not all.
 *
 *   3 windows of 64, step 1, apart 2   ->   64 windows of 3, step 2, apart 1
 */
static bool
turn_windows(Windows *windows, int i, int64_t n)
{
	int64_t step = windows->step[i], apart = windows->apart[i], end, over;

	if (!first_end(windows->size[i], step, apart, n, &end))
		return false;
	int64_t count = (n - end) / step + 1;
	if (!mul_i64(step, count, &over) || over >= apart * windows->size[i]
		|| (n - end) % step >= apart)
		return false;
	windows->step[i] = apart;
	windows->apart[i] = step;
	windows->size[i] = count;
	return true;
}

/* Windows and elements change places where they were turned. */
static Value *
turn_back(Make k, Value *v, const Windows *windows, int rank, uint32_t turned)
{
	int64_t order[MAX_RANK];

	for (int d = 0; d < v->type.rank; d++)
		order[d] = d;
	for (int i = 0; i < windows->n; i++)
		if (turned >> i & 1) {
			order[windows->dim[i]] = rank + i;
			order[rank + i] = windows->dim[i];
		}
	return turned ? make_transpose(k, v, order) : v;
}

Value *
frame_show(Import *in, const MlirOp *op, Value *padded, Value *padding, const Frame *given)
{
	Frame own = *given;
	const Frame *frame = &own;
	Value *x = take_pad(padded, padding, &own);
	Windows w = {0};
	uint32_t turned = 0, alone = 0;
	int64_t end, before[MAX_RANK], behind[MAX_RANK];
	int rank = x->type.rank;
	Padding by = frame->by;
	bool around = false;

	/* what stands around windows is theirs */
	for (int d = 0; d < rank; d++)
		if (is_around(frame, d, x->type.dims[d])) {
			around |= by.low[d] > 0 || by.high[d] > by.inner[d];
			by.low[d] = 0;
			by.high[d] = by.inner[d];
		}
	Value *v = pad_around(in, x, padding, &by);

	if (!v && diag_errors(in->session) == 0)
		read_wrong(in, op->range, "this padding cannot be");
	for (int d = 0; d < rank && v; d++) {
		if (!frame_moves(frame, d)) {
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
			behind[w.n] = frame->by.high[d] - by.high[d];
			int64_t all = v->type.dims[d] + before[w.n] + behind[w.n];
			turned |= (uint32_t)turn_windows(&w, w.n, all) << w.n;
			w.n++;
		}
	}
	if (w.n && v)
		v = around ? make_frames(in->make, v, padding, &w, before, behind)
			   : make_windows(in->make, v, &w);
	if (v)
		v = turn_back(in->make, v, &w, rank, turned);
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

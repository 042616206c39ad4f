/*
 * halo.c - an exchange of boundary rows, as ops of one device.
 *
 *   y: f32[12@X] = slice(x: f32[16@X]), [4:16], X=4      3 rows of each 4
 *     p = collective-permute of the rows that another device needs, each round
 *     w = 3 rows and a margin on each side
 *     w = dynamic-update-slice(w, p, where they stand), each round
 *     w = dynamic-update-slice(w, own rows, where they stand)
 *     y = w without margins
 *
 * Whatever is sent stands at its true place in the result, so rows that the
 * device has no use for fall into the margins; a start that would be outside
 * is clamped into them.  A device that gets nothing in a round gets zeros: its
 * own rows are written over them, or they are put into the margin.  Where a
 * stride gives some shards one row more than others, a block may end in a row
 * that is nobody's; it is masked where it would fall into the window.
 *
 * What halo.c computes in int64_t is emitted here as arithmetic on the
 * device's index, or as a constant or a line where that gives the same.
 */
#include "shard/reshard/halo.h"
#include "shard/localize/localize.h"

/* ---- arithmetic on indices -------------------------------------------- */

static Value *
plus(Localizer *l, Value *v, int64_t n)
{
	return n ? make_binary(named(l->make, "at"), O_add, v, number(l, n)) : v;
}

static Value *
times(Localizer *l, Value *v, int64_t n)
{
	return n == 1 ? v : make_binary(named(l->make, "at"), O_mul, v, number(l, n));
}

static Value *
minus(Localizer *l, Value *a, Value *b)
{
	return make_binary(named(l->make, "at"), O_sub, a, b);
}

/* Toward zero; what begins before 0 counts as 0. */
static Value *
over(Localizer *l, Value *v, int64_t n, int64_t least)
{
	if (n > 1)
		v = make_binary(named(l->make, "part"), O_div, v, number(l, n));
	if (least <= -n)
		v = make_binary(named(l->make, "part"), O_maximum, v, number(l, 0));
	return v;
}

/* v mod n, where v is nowhere less than `least`. */
static Value *
modulo(Localizer *l, Value *v, int64_t n, int64_t least)
{
	if (n == 1)
		return number(l, 0);
	v = plus(l, v, least < 0 ? (-least + n - 1) / n * n : 0);
	return make_binary(named(l->make, "digit"), O_rem, v, number(l, n));
}

typedef struct Line {
	int64_t first, slope;
} Line;

static int64_t
line_at(Line f, int64_t i)
{
	return f.first + f.slope * i;
}

/* Its value at this device's index. */
static Value *
emit_line(Localizer *l, const AxisList *axes, Line f)
{
	if (!f.slope)
		return number(l, f.first);
	if (f.slope > 0)
		return plus(l, device_offset(l, axes, f.slope), f.first);
	return minus(l, number(l, f.first), device_offset(l, axes, -f.slope));
}

enum { ANY = INT64_MIN }; /* of an index that does not matter */

/* Do all values that matter lie on a line?  Through a single one goes that of
   slope `steep`. */
static bool
fits_line(const int64_t *v, int64_t n, int64_t steep, Line *f)
{
	int64_t a = -1, b = -1;

	for (int64_t i = 0; i < n; i++)
		if (v[i] != ANY && a < 0)
			a = i;
		else if (v[i] != ANY && b < 0)
			b = i;
	f->slope = b < 0 ? steep : (v[b] - v[a]) / (b - a);
	f->first = v[a] - f->slope * a;
	for (int64_t i = 0; i < n; i++)
		if (v[i] != ANY && v[i] != line_at(*f, i))
			return false;
	return true;
}

/* ---- rows along one dim ----------------------------------------------- */

/* A start for each dim, 0 but for `dim`. */
static Value **
at_row(Localizer *l, Value **starts, int rank, int dim, Value *at)
{
	for (int d = 0; d < rank; d++)
		starts[d] = d == dim ? at : number(l, 0);
	return starts;
}

static Value *
rows_at(Localizer *l, Value *v, int dim, Value *at, int64_t rows)
{
	Value *starts[MAX_RANK];
	Type type = v->type;

	type.dims[dim] = rows;
	return make_dynamic_slice(named(l->make, v->name), v,
		at_row(l, starts, type.rank, dim, at), type.dims);
}

static Value *
put_rows(Localizer *l, Value *v, Value *rows, int dim, Value *at)
{
	Value *starts[MAX_RANK];

	return make_dynamic_update_slice(named(l->make, v->name), v, rows,
		at_row(l, starts, v->type.rank, dim, at));
}

static Value *
slice_rows(Localizer *l, Value *v, int dim, int64_t from, int64_t to, int64_t stride)
{
	return make_slice_dim(named(l->make, v->name), v, dim, from, to, stride);
}

/* source[i]: who sends to member i. */
static Value *
exchange(Localizer *l, Value *v, const AxisList *axes, const int64_t *source)
{
	return make_permute(named(l->make, v->name), v, axes, NULL, source);
}

/* ---- windows ---------------------------------------------------------- */

typedef struct Window {
	Localizer *l;
	Halo h;
	const HaloPart *part;
	int round;	     /* -1: own rows */
	int64_t rows;	     /* of a block: sent, or own */
	int64_t left, right; /* margins */
	int64_t *table;	     /* [ways], scratch */
} Window;

static int64_t
lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t
greater(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t
sender(const Window *w, int64_t r)
{
	return w->round < 0 ? r : halo_sender(&w->h, w->part, r, w->round);
}

static int64_t
receiver(const Window *w, int64_t q)
{
	return w->round < 0 ? q : halo_receiver(&w->h, w->part, q, w->round);
}

/* What device r gets of shard q begins so many rows into the shard. */
static int64_t
start_of(const Window *w, int64_t q, int64_t r)
{
	int64_t start = halo_start(&w->h, w->part, q, r);
	int64_t last = w->part->most - w->rows;

	return start > last ? last : start;
}

static bool
is_pair(const Window *w, int64_t q, int64_t r)
{
	return (w->round < 0 || q != r) && halo_overlap(&w->h, w->part, q, r);
}

/* Where the block stands in the window of device r. */
static int64_t
block_row(const Window *w, int64_t r)
{
	int64_t q = sender(w, r);

	if (w->round >= 0 && w->part->rounds[w->round].guarded && q >= w->h.ways)
		return w->h.width;
	return halo_row(&w->h, w->part, q) + start_of(w, q, r) - r * w->h.width;
}

/* Behind the last row in the window of device r that its block can have. */
static int64_t
block_end(const Window *w, int64_t r)
{
	return halo_row(&w->h, w->part, sender(w, r) + 1) - r * w->h.width;
}

/* Would rows that are nobody's fall into the window of some device? */
static bool
has_strays(const Window *w)
{
	for (int64_t r = 0; r < w->h.ways; r++) {
		int64_t at = block_row(w, r), end = at + w->rows;
		int64_t stray = greater(greater(at, 0), block_end(w, r));
		if (stray < lesser(end, w->h.width))
			return true;
	}
	return false;
}

/* Are all blocks of devices that get nothing beside their windows? */
static bool
puts_aside(const Window *w, Line f)
{
	for (int64_t r = 0; r < w->h.ways; r++) {
		int64_t at = line_at(f, r);
		if (w->table[r] == ANY && at > -w->rows && at < w->h.width)
			return false;
	}
	return true;
}

/* A line that says where the block of each device stands, if there is one. */
static bool
blocks_on_line(const Window *w, Line *f)
{
	int64_t beside = w->rows + w->h.width;

	for (int64_t r = 0; r < w->h.ways; r++)
		w->table[r] = is_pair(w, sender(w, r), r) ? block_row(w, r) : ANY;
	return fits_line(w->table, w->h.ways, beside, f) && puts_aside(w, *f);
}

/* Rows that the block may be beside the window need room there. */
static void
widen_margins(Window *w)
{
	Line f;
	bool on_line = blocks_on_line(w, &f);

	for (int64_t r = 0; r < w->h.ways; r++) {
		int64_t at = on_line ? line_at(f, r) : block_row(w, r);
		int64_t left = lesser(-at, w->rows);
		int64_t right = lesser(at + w->rows - w->h.width, w->rows);
		w->left = greater(left, w->left);
		w->right = greater(right, w->right);
	}
}

/* ---- a window's arithmetic, emitted ----------------------------------- */

/* device index * scale + n */
static Value *
own_line(const Window *w, int64_t scale, int64_t n)
{
	return plus(w->l, device_offset(w->l, &w->h.axes, scale), n);
}

/* `first` + (here + n - first) mod rounds, as halo_sender(), halo_receiver() */
static Value *
partner(const Window *w, Value *first, int64_t n, int64_t least)
{
	Localizer *l = w->l;

	if (w->part->nrounds == 1)
		return first;
	Value *v = minus(l, own_line(w, 1, n), first);
	v = modulo(l, v, w->part->nrounds, least);
	return make_binary(named(l->make, "from"), O_add, first, v);
}

static Value *
emit_sender(const Window *w)
{
	const Halo *h = &w->h;
	const HaloPart *p = w->part;
	int64_t least = 0;

	if (w->round < 0)
		return own_line(w, 1, 0);
	for (int64_t r = 0; r < h->ways; r++) {
		int64_t v = r + w->round - halo_first_shard(h, p, r);
		least = v < least ? v : least;
	}
	Value *first =
		over(w->l, own_line(w, h->width * h->apart, -p->base), p->rows, -p->base);
	return partner(w, first, w->round, least);
}

static Value *
emit_receiver(const Window *w)
{
	const Halo *h = &w->h;
	const HaloPart *p = w->part;
	int64_t least = 0, base = p->base + h->apart - 1;

	if (w->round < 0)
		return own_line(w, 1, 0);
	for (int64_t q = 0; q < h->ways; q++) {
		int64_t v = q - w->round - halo_first_window(h, p, q);
		least = v < least ? v : least;
	}
	Value *first = over(w->l, own_line(w, p->rows, base), h->width * h->apart, base);
	return partner(w, first, -w->round, least);
}

/* halo_row() of a shard whose row 0 stands at `v`, nowhere before the first
   shard's; `v` counts what lies between, too. */
static Value *
emit_row(const Window *w, Value *v)
{
	int64_t apart = w->h.apart, base = w->part->base;
	int64_t up = base < 0 ? -base / apart + 1 : 0;

	if (apart == 1)
		return v;
	v = over(w->l, plus(w->l, v, up * apart + apart - 1), apart, 0);
	return plus(w->l, v, -up);
}

/* Of the rows that this device sends, as the slice that takes them clamps. */
static Value *
emit_sent_start(const Window *w)
{
	Value *window = times(w->l, emit_receiver(w), w->h.width);

	return minus(w->l, window, emit_row(w, own_line(w, w->part->rows, w->part->base)));
}

static Value *
emit_position(const Window *w)
{
	Localizer *l = w->l;
	const HaloPart *p = w->part;
	int64_t last = p->most - w->rows;
	Value *from = emit_sender(w), *window = own_line(w, w->h.width, 0);
	Value *row = emit_row(w, plus(l, times(l, from, p->rows), p->base));
	Value *start = minus(l, window, row);
	Value *clamped = !last
		? number(l, 0)
		: make_clamp(named(l->make, "clamped"), number(l, 0), start, number(l, last));
	Value *shift = minus(l, row, window);
	Value *at = plus(l, make_binary(named(l->make, "at"), O_add, clamped, shift), w->left);
	if (w->round < 0 || !p->rounds[w->round].guarded)
		return at;
	Value *exists = make_compare(l->make, DIR_LT, from, number(l, w->h.ways));
	return make_select(named(l->make, "at"), exists, at, number(l, w->left + w->h.width));
}

/* A line that says where shards have what they send, if there is one. */
static bool
starts_on_line(const Window *w, Line *f)
{
	for (int64_t q = 0; q < w->h.ways; q++) {
		int64_t r = receiver(w, q);
		w->table[q] = is_pair(w, q, r) ? start_of(w, q, r) : ANY;
	}
	return fits_line(w->table, w->h.ways, 0, f);
}

/* The rows of `v` that this device sends, or keeps. */
static Value *
emit_block(const Window *w, Value *v)
{
	Line f;

	if (w->rows == w->part->most)
		return v;
	if (!starts_on_line(w, &f))
		return rows_at(w->l, v, w->h.dim, emit_sent_start(w), w->rows);
	if (f.slope)
		return rows_at(w->l, v, w->h.dim, emit_line(w->l, &w->h.axes, f), w->rows);
	return slice_rows(w->l, v, w->h.dim, f.first, f.first + w->rows, 1);
}

static Value *
emit_sent(const Window *w, Value *v)
{
	return exchange(w->l, emit_block(w, v), &w->h.axes, w->part->rounds[w->round].source);
}

/* block_end(), counted from the end of the left margin. */
static Value *
emit_end(const Window *w)
{
	Localizer *l = w->l;
	const HaloPart *p = w->part;
	Line f;

	for (int64_t r = 0; r < w->h.ways; r++)
		w->table[r] = block_end(w, r);
	if (fits_line(w->table, w->h.ways, 0, &f))
		return emit_line(l, &w->h.axes, f);
	Value *next = plus(l, times(l, emit_sender(w), p->rows), p->base + p->rows);
	return minus(l, emit_row(w, next), own_line(w, w->h.width, 0));
}

/* The block, but what the window has from block_end() on. */
static Value *
mask_strays(const Window *w, Value *window, Value *block, Value *at)
{
	Localizer *l = w->l;
	int dim = w->h.dim;
	int64_t n = w->rows;
	Value *end = plus(l, emit_end(w), w->left);
	Type rows = type_of(l->index, 1, &n);
	Value *row = make_iota(named(l->make, "row"), &rows, 0);
	Value *own = make_compare(l->make, DIR_LT, row,
		make_splat(l->make, minus(l, end, at), &rows));
	return make_select(named(l->make, "own"), make_spread(l->make, own, dim, &block->type),
		block, rows_at(l, window, dim, at, n));
}

static Value *
emit_put(const Window *w, Value *window, Value *block)
{
	Line f;
	Value *at;

	if (blocks_on_line(w, &f)) {
		f.first += w->left;
		at = emit_line(w->l, &w->h.axes, f);
	} else {
		at = emit_position(w);
	}
	if (has_strays(w))
		block = mask_strays(w, window, block, at);
	return put_rows(w->l, window, block, w->h.dim, at);
}

/* ---- the exchange of one window --------------------------------------- */

typedef void BlockVisitor(Window *w, int part, void *data);

/* All that is received, then all that is kept. */
static void
visit_blocks(Window *w, BlockVisitor *visit, void *data)
{
	for (int i = 0; i < w->h.nparts; i++) {
		w->part = &w->h.parts[i];
		for (w->round = 0; w->round < w->part->nrounds; w->round++) {
			w->rows = w->part->rounds[w->round].rows;
			if (w->rows)
				visit(w, i, data);
		}
	}
	for (int i = 0; i < w->h.nparts; i++) {
		w->part = &w->h.parts[i];
		w->round = -1;
		w->rows = w->part->own;
		if (w->rows)
			visit(w, i, data);
	}
}

static void
make_room(Window *w, int part, void *data)
{
	(void)part, (void)data;
	widen_margins(w);
}

typedef struct Filling {
	Value **shards; /* of each part */
	Value *window;
} Filling;

static void
fill(Window *w, int part, void *data)
{
	Filling *f = data;
	Value *block =
		w->round < 0 ? emit_block(w, f->shards[part]) : emit_sent(w, f->shards[part]);

	f->window = emit_put(w, f->window, block);
}

/* Each device has just the rows that it is to have. */
static bool
stays(const Halo *h)
{
	const HaloPart *p = h->parts;

	for (int i = 0; i < p->nrounds; i++)
		if (p->rounds[i].rows)
			return false;
	return h->nparts == 1 && !p->base && p->own == h->width && p->rows == h->width;
}

static Value *
fill_window(Window *w, int dim, Value **shards, Value *padding)
{
	visit_blocks(w, make_room, NULL);
	int64_t rows = w->left + w->h.width + w->right;
	Type wide = shards[0]->type;
	wide.dims[dim] = rows;
	Filling f = {shards, make_splat(w->l->make, padding, &wide)};
	visit_blocks(w, fill, &f);
	return slice_rows(w->l, f.window, dim, w->left, w->left + w->h.width, 1);
}

/* Where the first row that shard q gives away or keeps is in it: on a line, if
   there is one. */
static bool
phases_on_line(const Window *w, const HaloPart *p, Line *f)
{
	for (int64_t q = 0; q < w->h.ways; q++)
		w->table[q] = halo_row(&w->h, p, q) * w->h.apart - p->base - q * p->rows;
	return fits_line(w->table, w->h.ways, 0, f);
}

/* With a stride that does not divide the shard: another first row on each
   device, and room for as many rows as some device has. */
static Value *
take_own_rows(const Window *w, Value *v)
{
	const HaloPart *p = &w->h.parts[0];
	int64_t apart = w->h.apart, rows = (p->most - 1) * apart + 1;
	int64_t last = 0;
	Line f;
	Value *at;

	if (phases_on_line(w, p, &f))
		at = emit_line(w->l, &w->h.axes, f);
	else
		at = modulo(w->l, minus(w->l, number(w->l, -p->base), own_line(w, p->rows, 0)),
			apart, -p->base - (w->h.ways - 1) * p->rows);
	for (int64_t q = 0; q < w->h.ways; q++)
		last = greater(last, w->table[q]);
	v = make_pad_dim(named(w->l->make, v->name), v, w->h.dim, 0,
		greater(0, last + rows - p->rows));
	v = rows_at(w->l, v, w->h.dim, at, rows);
	return slice_rows(w->l, v, w->h.dim, 0, rows, apart);
}

/* What a stride takes of each shard. */
static void
take_rows(const Window *w, Value **v, int n)
{
	for (int i = 0; i < n && w->h.stride > 1; i++)
		v[i] = w->h.apart > 1 ? take_own_rows(w, v[i])
				      : slice_rows(w->l, v[i], w->h.dim, w->h.phase,
					      v[i]->type.dims[w->h.dim], w->h.stride);
}

/* `v`: the shard of each part; what no part has is `padding`. */
static Value *
emit_window(Localizer *l, const Op *op, int dim, Value **v, int n, Value *padding)
{
	Arena *scratch = arena_new();
	Type *types = NEW_ARRAY(scratch, Type, n);

	for (int i = 0; i < n; i++)
		types[i] = v[i]->type;
	Window w = {.l = l,
		.h = halo_plan(scratch, op, dim, types, &op->results[0]->placement)};
	w.table = NEW_ARRAY(scratch, int64_t, w.h.ways);
	take_rows(&w, v, n);
	Value *made = stays(&w.h) ? v[0] : fill_window(&w, dim, v, padding);
	arena_free(scratch);
	return made;
}

/* ---- each op ---------------------------------------------------------- */

static bool
moves_split(const Op *op, int dim, const Type *shard)
{
	int64_t ways = placement_dim_ways(&op->results[0]->placement, dim);

	return ways > 1 && halo_moves(op, dim, shard->dims[dim] * ways);
}

static bool
any_moves_split(const Op *op)
{
	bool any = false;

	for (int d = 0; d < op->results[0]->type.rank; d++)
		any |= moves_split(op, d, &op->operands[0]->type);
	return any;
}

static void
set_local_type(Op *op)
{
	Value *v = op->results[0];

	v->type = placement_local(&v->type, &v->placement);
}

/* For margins, and rows that some part will have. */
static Value *
blank(Localizer *l, const Op *op)
{
	return make_constant(l->make, op->results[0]->type.dtype, 0);
}

/* Whole dims first, so that less is exchanged; split ones are not cut here. */
void
localize_slice(Localizer *l, Op *op)
{
	const Placement *p = &op->results[0]->placement;
	int64_t start[MAX_RANK], limit[MAX_RANK], stride[MAX_RANK];
	Type shard = op->operands[0]->type;

	for (int d = 0; d < p->rank; d++) {
		bool split = placement_dim_ways(p, d) > 1;
		start[d] = split ? 0 : op_ints(op, A_start)->v[d];
		limit[d] = split ? shard.dims[d] : op_ints(op, A_limit)->v[d];
		stride[d] = split ? 1 : op_ints(op, A_stride)->v[d];
	}
	Value *v = make_slice(named(l->make, op->results[0]->name), op->operands[0], start,
		limit, stride);
	for (int d = 0; d < shard.rank; d++)
		if (moves_split(op, d, &shard))
			v = emit_window(l, op, d, &v, 1, blank(l, op));
	stand_for(l, op, v);
}

/* Padding of whole dims comes last. */
void
localize_pad(Localizer *l, Op *op)
{
	const Placement *p = &op->results[0]->placement;
	Value *v = op->operands[0];
	Type shard = v->type;
	int64_t low[MAX_RANK], high[MAX_RANK];

	if (!any_moves_split(op)) {
		set_local_type(op);
		return;
	}
	for (int d = 0; d < shard.rank; d++) {
		bool split = placement_dim_ways(p, d) > 1;
		if (moves_split(op, d, &shard))
			v = emit_window(l, op, d, &v, 1, op->operands[1]);
		low[d] = split ? 0 : op_ints(op, A_low)->v[d];
		high[d] = split ? 0 : op_ints(op, A_high)->v[d];
	}
	Make k = named(l->make, op->results[0]->name);
	stand_for(l, op, make_pad(k, v, op->operands[1], low, high));
}

void
localize_concatenate(Localizer *l, Op *op)
{
	if (any_moves_split(op))
		stand_for(l, op,
			emit_window(l, op, (int)op_int(op, A_dim), op->operands, op->noperands,
				blank(l, op)));
	else
		set_local_type(op);
}

/* Each shard reversed, and given to the device as far from the other end. */
void
localize_reverse(Localizer *l, Op *op)
{
	AxisList axes = halo_mirrored(op, &op->results[0]->placement);
	int64_t n = axes_size(&axes);

	if (n == 1) {
		set_local_type(op);
		return;
	}
	const Ints *dims = op_ints(op, A_dims);
	int64_t *source = NEW_ARRAY(l->arena, int64_t, n);
	for (int64_t i = 0; i < n; i++)
		source[i] = n - 1 - i;
	Make k = named(l->make, op->results[0]->name);
	Value *local = make_reverse(k, op->operands[0], dims->n, dims->v);
	stand_for(l, op, exchange(l, local, &axes, source));
}

/* ---- roll ------------------------------------------------------------- */

/* From the device so many before this one. */
static Value *
shift_on(Localizer *l, Value *v, const AxisList *axes, int64_t distance)
{
	int64_t n = axes_size(axes), *source = NEW_ARRAY(l->arena, int64_t, n);

	for (int64_t i = 0; i < n; i++)
		source[i] = (i + n - distance % n) % n;
	return exchange(l, v, axes, source);
}

/* The last rows of one shard, the first of the next; on one device, of its
   own. */
static Value *
emit_roll(Localizer *l, const Op *op, const AxisList *axes)
{
	Value *x = op->operands[0], *parts[2];
	int dim = (int)op_int(op, A_along), n = 0;
	int64_t rows = x->type.dims[dim];
	int64_t far = op_int(op, A_shift) / rows;
	int64_t rest = op_int(op, A_shift) % rows;

	if (rest)
		parts[n++] =
			shift_on(l, slice_rows(l, x, dim, rows - rest, rows, 1), axes, far + 1);
	parts[n++] = shift_on(l, slice_rows(l, x, dim, 0, rows - rest, 1), axes, far);
	return make_concatenate(named(l->make, parts[0]->name), n, parts, dim);
}

void
localize_roll(Localizer *l, Op *op)
{
	AxisList axes = placement_dim(&op->results[0]->placement, (int)op_int(op, A_along));

	stand_for(l, op, emit_roll(l, op, &axes));
}

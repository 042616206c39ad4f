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
 * Where things stand depends on the device: a number for each index along the
 * dim's axes.  Where the numbers lie on a line it is arithmetic on the device's
 * index, else it is looked up in a constant with a number for each index:
 *   shards of 5, every third row:  first rows 0, 1, 2, 0   at = take(s32[4], index)
 */
#include "shard/reshard/halo.h"
#include "shard/localize/localize.h"

/* ---- numbers of this device ------------------------------------------- */

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
	Make k = named(l->make, "at");

	if (!f.slope)
		return number(l, f.first);
	if (f.slope < 0) {
		Value *back = device_offset(l, axes, -f.slope);
		return make_binary(k, O_sub, number(l, f.first), back);
	}
	Value *v = device_offset(l, axes, f.slope);
	return f.first ? make_binary(k, O_add, v, number(l, f.first)) : v;
}

enum { ANY = INT64_MIN }; /* of an index that does not matter */

/*
 * Do all values that matter lie on a line?  Through a single one goes that of
 * slope `steep`.
 *   3 ANY 7 9  ->  3 + 2 i       ANY 5 ANY, steep 4  ->  1 + 4 i       1 2 4  no
 */
static bool
fits_line(const int64_t *v, int64_t n, int64_t steep, Line *f)
{
	int64_t a = -1, b = -1;

	for (int64_t i = 0; i < n; i++)
		if (v[i] != ANY && a < 0)
			a = i;
		else if (v[i] != ANY && b < 0)
			b = i;
	if (a < 0) {
		*f = (Line){0, 0};
		return true;
	}
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
	const HaloRound *round; /* NULL: own rows */
	int64_t rows;		/* of a block: sent, or own */
	int64_t left, right;	/* margins */
	int64_t aside;		/* one of them has room for so many rows */
	int64_t *table;		/* [ways], a number of each device */
} Window;

/* The shard of which device r gets the block; -1: it needs none. */
static int64_t
sender(const Window *w, int64_t r)
{
	if (w->round)
		return w->round->source[r];
	return halo_overlap(&w->h, w->part, r, r) ? r : -1;
}

/* What device r gets of shard q begins so many rows into the shard. */
static int64_t
start_of(const Window *w, int64_t q, int64_t r)
{
	return lesser(halo_start(&w->h, w->part, q, r), w->part->most - w->rows);
}

/*
 * Where the block stands in the window of each device; on a line, if there is
 * one.
 *
 *   windows of 3, shards of 4 from row -4 on, own rows, 3 at most
 *     device 0 has none in its window, 1 to 3 the last 1, 2, 3 of their shards
 *     ANY -2 -1 0, on the line -3 + r
 */
static bool
blocks_on_line(const Window *w, Line *f)
{
	int64_t beside = w->rows + w->h.width;

	for (int64_t r = 0; r < w->h.ways; r++) {
		int64_t q = sender(w, r);
		w->table[r] = q < 0 ? ANY
				    : halo_row(&w->h, w->part, q) + start_of(w, q, r)
				- halo_window(&w->h, r);
	}
	bool fits = fits_line(w->table, w->h.ways, beside, f);
	for (int64_t r = 0; r < w->h.ways && fits; r++) { /* what is nobody's is beside */
		int64_t at = line_at(*f, r);
		fits = w->table[r] != ANY || at <= -w->rows || at >= w->h.width;
	}
	return fits;
}

/*
 * Rows that the block may be beside the window need room there, as many as it has at
 * most.  Of the windows above:
 *
 *   at -3 -2 -1 0     left 3, for the block that device 0 does not need; right 0
 *
 * A device that needs no block, where there is no line, has it put into either margin.
 */
static void
widen_margins(Window *w, int part, void *data)
{
	(void)part, (void)data;
	Line f;
	bool on_line = blocks_on_line(w, &f);

	for (int64_t r = 0; r < w->h.ways; r++) {
		int64_t at = on_line ? line_at(f, r) : w->table[r];
		if (at == ANY) {
			w->aside = greater(w->aside, w->rows);
			continue;
		}
		w->left = greater(lesser(-at, w->rows), w->left);
		w->right = greater(lesser(at + w->rows - w->h.width, w->rows), w->right);
	}
}

/* What the table has for this device: by a line, or looked up. */
static Value *
emit_number(const Window *w)
{
	Localizer *l = w->l;
	Type type = type_of(l->index, 1, &w->h.ways);
	Line f;

	if (fits_line(w->table, w->h.ways, 0, &f))
		return emit_line(l, &w->h.axes, f);
	for (int64_t i = 0; i < w->h.ways; i++)
		if (w->table[i] == ANY)
			w->table[i] = 0;
	Value *table = make_array(named(l->make, "table"), &type, w->table);
	return make_take(named(l->make, "at"), table, device_offset(l, &w->h.axes, 1), 0);
}

/*
 * The block, but what the window has where a block ends in rows that are nobody's: the
 * next shard's, which begin elsewhere.
 *
 *   every third row of shards of 5     0 3 | 1 4 | 2 | 0 3
 *   blocks have room for 2 rows; of that of shard 2 the second must not be written
 */
static Value *
mask_strays(const Window *w, Value *window, Value *block, Value *at)
{
	Make k = w->l->make;
	int64_t n = w->rows;
	bool strays = false;

	for (int64_t r = 0; r < w->h.ways; r++) {
		int64_t q = sender(w, r), first = 0;
		w->table[r] = ANY;
		if (q < 0)
			continue;
		first = halo_row(&w->h, w->part, q) + start_of(w, q, r);
		w->table[r] = halo_row(&w->h, w->part, q + 1) - first;
		int64_t begin = halo_window(&w->h, r) - first;
		strays |= greater(w->table[r], begin) < lesser(n, begin + w->h.width);
	}
	if (!strays)
		return block;
	Type rows = type_of(w->l->index, 1, &n);
	Value *row = make_iota(named(k, "row"), &rows, 0);
	Value *own = make_compare(k, DIR_LT, row, make_splat(k, emit_number(w), &rows));
	Value *others = rows_at(w->l, window, w->h.dim, at, n);
	Value *mask = make_spread(k, own, w->h.dim, &block->type);
	return make_select(named(k, "own"), mask, block, others);
}

/* ---- the exchange of one window --------------------------------------- */

typedef void BlockVisitor(Window *w, int part, void *data);

/* All that is received, then all that is kept. */
static void
visit_blocks(Window *w, BlockVisitor *visit, void *data)
{
	for (int i = 0; i < w->h.nparts; i++) {
		w->part = &w->h.parts[i];
		for (int c = 0; c < w->part->nrounds; c++) {
			w->round = &w->part->rounds[c];
			w->rows = w->round->rows;
			if (w->rows)
				visit(w, i, data);
		}
	}
	for (int i = 0; i < w->h.nparts; i++) {
		w->part = &w->h.parts[i];
		w->round = NULL;
		w->rows = w->part->own;
		if (w->rows)
			visit(w, i, data);
	}
}

typedef struct Filling {
	Value **shards; /* of each part */
	Value *window;
} Filling;

/* The rows that this device sends, or keeps, and where it puts those that it gets, or
   keeps.  A block that nobody needs goes where there is room beside the window. */
static void
fill(Window *w, int part, void *data)
{
	Filling *filling = data;
	Localizer *l = w->l;
	Value *block = filling->shards[part], *at, *starts[MAX_RANK];
	int64_t aside = w->left >= w->rows ? -w->rows : w->h.width;
	int dim = w->h.dim;
	Line f;

	if (w->rows < w->part->most) {
		for (int64_t q = 0; q < w->h.ways; q++)
			w->table[q] = ANY;
		for (int64_t r = 0; r < w->h.ways; r++)
			if (sender(w, r) >= 0)
				w->table[sender(w, r)] = start_of(w, sender(w, r), r);
		if (fits_line(w->table, w->h.ways, 0, &f) && !f.slope)
			block = slice_rows(l, block, dim, f.first, f.first + w->rows, 1);
		else
			block = rows_at(l, block, dim, emit_number(w), w->rows);
	}
	if (w->round)
		block = exchange(l, block, &w->h.axes, w->round->source);
	if (blocks_on_line(w, &f)) {
		f.first += w->left;
		at = emit_line(l, &w->h.axes, f);
	} else {
		for (int64_t r = 0; r < w->h.ways; r++)
			w->table[r] = (w->table[r] == ANY ? aside : w->table[r]) + w->left;
		at = emit_number(w);
	}
	block = mask_strays(w, filling->window, block, at);
	at_row(l, starts, block->type.rank, dim, at);
	filling->window = make_dynamic_update_slice(named(l->make, filling->window->name),
		filling->window, block, starts);
}

/*
 * With a stride that does not divide the shard: another first row on each device, and
 * room for as many rows as some device has.  Of those above each device takes 4 rows
 * from its first row on, 0, 1, 2 or 0, of 5 and one behind them: every third is its own.
 */
static Value *
take_own_rows(const Window *w, Value *v)
{
	const HaloPart *p = &w->h.parts[0];
	int64_t apart = w->h.apart, rows = (p->most - 1) * apart + 1;
	int64_t last = 0;

	for (int64_t q = 0; q < w->h.ways; q++) {
		w->table[q] = halo_row(&w->h, p, q) * apart - p->base - q * p->rows;
		last = greater(last, w->table[q]);
	}
	Value *at = emit_number(w);
	v = make_pad_dim(named(w->l->make, v->name), v, w->h.dim, 0,
		greater(0, last + rows - p->rows));
	v = rows_at(w->l, v, w->h.dim, at, rows);
	return slice_rows(w->l, v, w->h.dim, 0, rows, apart);
}

/* Has each device just the rows that it is to have? */
static bool
all_stay(const Halo *h)
{
	const HaloPart *part = h->parts;
	bool stay = !part->base && part->own == h->width && part->rows == h->width;

	for (int i = 0; i < part->nrounds; i++)
		stay &= !part->rounds[i].rows;
	for (int64_t r = 0; r < h->ways; r++)
		stay &= h->spread == 1 || halo_window(h, r) == r * part->rows;
	return stay;
}

/* `v`: the shard of each part; what no part has is `padding`.  NULL: there is no such row,
   and in margins is 0. */
static Value *
emit_window(Localizer *l, const Op *op, int dim, Value **v, int n, Value *padding)
{
	Arena *scratch = arena_new();
	Type *types = NEW_ARRAY(scratch, Type, n);
	Value *made;

	if (!padding)
		padding = make_constant(l->make, v[0]->type.dtype, 0);

	for (int i = 0; i < n; i++)
		types[i] = v[i]->type;
	Window w = {.l = l,
		.h = halo_plan(scratch, op, dim, types, &op->results[0]->placement)};
	w.table = NEW_ARRAY(scratch, int64_t, w.h.ways);
	for (int i = 0; i < n && w.h.stride > 1; i++)
		v[i] = w.h.apart > 1
			? take_own_rows(&w, v[i])
			: slice_rows(l, v[i], dim, w.h.phase, v[i]->type.dims[dim], w.h.stride);

	if (n == 1 && all_stay(&w.h)) {
		made = v[0];
	} else {
		visit_blocks(&w, widen_margins, NULL);
		if (w.aside > greater(w.left, w.right))
			*(w.left < w.right ? &w.right : &w.left) = w.aside;
		Type wide = v[0]->type;
		wide.dims[dim] = w.left + w.h.width + w.right;
		Filling f = {v, make_splat(l->make, padding, &wide)};
		visit_blocks(&w, fill, &f);
		made = slice_rows(l, f.window, dim, w.left, w.left + w.h.width, 1);
	}
	arena_free(scratch);
	return made;
}

/* ---- shifts ----------------------------------------------------------- */

static bool
is_zero(const Value *scalar)
{
	const Op *made = scalar->def;

	return made && made->kind == O_constant && op_int(made, A_value) == 0;
}

/* What each device receives; the padding where nobody sends, as zeros are there already. */
static Value *
receive(Localizer *l, const Halo *h, Value *rows, const int64_t *source, Value *padding)
{
	int64_t first = 0, end = h->ways;
	Make k = named(l->make, rows->name);

	while (first < end && source[first] < 0)
		first++;
	while (end > first && source[end - 1] < 0)
		end--;
	if (first == end)
		return make_splat(k, padding, &rows->type);
	Value *got = exchange(l, rows, &h->axes, source);
	if ((!first && end == h->ways) || is_zero(padding))
		return got;
	Value *at = device_offset(l, &h->axes, 1);
	Value *is_sent = first ? make_compare(k, DIR_GE, at, number(l, first))
			       : make_compare(k, DIR_LT, at, number(l, end));
	Value *none = make_splat(k, padding, &got->type);
	return make_select(k, make_splat(k, is_sent, &got->type), got, none);
}

/* The last rows of one shard, the first of the next; on one device, of its own.  `padding`:
   what comes where nothing does; NULL: it comes round. */
static Value *
emit_shift(Localizer *l, const Op *op, int dim, Value *x, Value *padding)
{
	Halo h = halo_plan(l->arena, op, dim, &x->type, &op->results[0]->placement);
	const HaloRound *round = h.parts[0].rounds;
	int64_t rows = x->type.dims[dim];
	int64_t rest = (h.parts[0].base % rows + rows) % rows;
	Value *parts[2];
	int n = 0;

	for (int i = rest ? 0 : 1; i < 2; i++) {
		Value *v =
			slice_rows(l, x, dim, i ? 0 : rows - rest, i ? rows - rest : rows, 1);
		parts[n++] = receive(l, &h, v, round[i].source, padding);
	}
	return make_concatenate(named(l->make, parts[0]->name), n, parts, dim);
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

/* Whole dims first, so that less is exchanged, then those in parts; split ones are not cut
   here. */
void
localize_slice(Localizer *l, Op *op)
{
	const Placement *p = &op->results[0]->placement;
	int64_t start[MAX_RANK], limit[MAX_RANK], stride[MAX_RANK];
	Type shard = op->operands[0]->type;

	for (int d = 0; d < p->rank; d++) {
		bool split = placement_dim_ways(p, d) > 1 || is_in_parts(op, d);
		start[d] = split ? 0 : op_ints(op, A_start)->v[d];
		limit[d] = split ? shard.dims[d] : op_ints(op, A_limit)->v[d];
		stride[d] = split ? 1 : op_ints(op, A_stride)->v[d];
	}
	Value *v = make_slice(named(l->make, op->results[0]->name), op->operands[0], start,
		limit, stride);
	v = take_parts(l, op, v);
	for (int d = 0; d < shard.rank; d++)
		if (moves_split(op, d, &shard))
			v = emit_window(l, op, d, &v, 1, NULL);
	stand_for(l, op, v);
}

/*
 * What a device gets of a split dim stands `lead` elements into its part of the result, in a
 * pad that spreads rows.  Where that is another number on each device all are padded as the
 * one of the most, and `at` is where a device's part begins.
 *
 *   y: f32[12@X] = pad(x: f32[8@X], 0_-3_1), X=4     leads 0 1 0 1     at 1 0 1 0
 */
static Value *
emit_lead(Localizer *l, const Op *op, int dim, const Type *shard, int64_t *least, int64_t *most)
{
	Halo h = halo_plan(l->arena, op, dim, shard, &op->results[0]->placement);
	Window w = {.l = l, .h = h, .table = NEW_ARRAY(l->arena, int64_t, h.ways)};

	*least = h.spread;
	*most = 0;
	for (int64_t r = 0; r < h.ways; r++) {
		w.table[r] = h.before + halo_window(&h, r) * h.spread - r * h.advance;
		*least = lesser(*least, w.table[r]);
		*most = greater(*most, w.table[r]);
	}
	for (int64_t r = 0; r < h.ways; r++)
		w.table[r] = *most - w.table[r];
	return *least < *most ? emit_number(&w) : NULL;
}

typedef struct Around {
	int64_t low[MAX_RANK], high[MAX_RANK]; /* of what is here */
	Value *at[MAX_RANK];		       /* its part of that; NULL: from 0 on */
	bool apart;			       /* some dim begins elsewhere */
} Around;

/* The rows that go into its part of the result, and what is to be put around them. */
static Value *
gather_rows(Localizer *l, const Op *op, int dim, Value *v, Around *around)
{
	const Value *result = op->results[0];
	int64_t size = result->type.dims[dim] / placement_dim_ways(&result->placement, dim);
	int64_t least, most;

	if (halo_is_shift(op, dim))
		return emit_shift(l, op, dim, v, op->operands[1]);
	if (!op_inner(op, dim))
		return emit_window(l, op, dim, &v, 1, op->operands[1]);
	around->at[dim] = emit_lead(l, op, dim, &v->type, &least, &most);
	around->apart |= around->at[dim] != NULL;
	v = emit_window(l, op, dim, &v, 1, op->operands[1]);
	int64_t last = (v->type.dims[dim] - 1) * (op_inner(op, dim) + 1);
	around->low[dim] = most;
	around->high[dim] = size - 1 - last - least;
	return v;
}

/* x with what is around it here, without what that cuts. */
static Value *
pad_here(Localizer *l, const Op *op, Value *x, Around *around)
{
	int64_t start[MAX_RANK], limit[MAX_RANK], stride[MAX_RANK], inner[MAX_RANK];
	Type local = placement_local(&op->results[0]->type, &op->results[0]->placement);
	Make k = named(l->make, op->results[0]->name);

	for (int d = 0; d < x->type.rank; d++) {
		inner[d] = op_inner(op, d);
		limit[d] = pad_kept(x->type.dims[d], inner[d], &around->low[d],
			&around->high[d], &start[d]);
		limit[d] += start[d];
		stride[d] = 1;
	}
	x = make_slice(named(l->make, x->name), x, start, limit, stride);
	x = make_pad_between(k, x, op->operands[1], around->low, around->high, inner);
	for (int d = 0; d < local.rank && around->apart; d++)
		if (!around->at[d])
			around->at[d] = number(l, 0);
	return around->apart ? make_dynamic_slice(k, x, around->at, local.dims) : x;
}

/* Padding of whole dims, and between rows, comes last; programs of a device have none that
   cuts. */
void
localize_pad(Localizer *l, Op *op)
{
	const Placement *p = &op->results[0]->placement;
	Value *v = op->operands[0];
	Type shard = v->type;
	Around around = {0};
	bool cuts = false;

	for (int d = 0; d < shard.rank; d++)
		cuts |= op_ints(op, A_low)->v[d] < 0 || op_ints(op, A_high)->v[d] < 0;
	if (!any_moves_split(op) && !cuts) {
		set_local_type(op);
		return;
	}
	for (int d = 0; d < shard.rank; d++) {
		if (moves_split(op, d, &shard))
			v = gather_rows(l, op, d, v, &around);
		if (placement_dim_ways(p, d) == 1) {
			around.low[d] = op_ints(op, A_low)->v[d];
			around.high[d] = op_ints(op, A_high)->v[d];
		}
	}
	stand_for(l, op, pad_here(l, op, v, &around));
}

void
localize_concatenate(Localizer *l, Op *op)
{
	if (any_moves_split(op))
		stand_for(l, op,
			emit_window(l, op, (int)op_int(op, A_dim), op->operands, op->noperands,
				NULL));
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

void
localize_roll(Localizer *l, Op *op)
{
	stand_for(l, op, emit_shift(l, op, (int)op_int(op, A_along), op->operands[0], NULL));
}

/* ---- windows ---------------------------------------------------------- */

/* What is around whole dims, and the rows of others that windows along split ones show; of
   these then the windows. */
void
localize_windows(Localizer *l, Op *op)
{
	const Placement *p = &op->results[0]->placement;
	const Ints *dims = op_ints(op, A_windowed);
	Value *v = op->operands[0], *padding = op->noperands > 1 ? op->operands[1] : NULL;
	Type shard = v->type;
	int64_t low[MAX_RANK] = {0}, high[MAX_RANK] = {0};
	Windows windows = {.n = dims->n};

	for (int i = 0; i < dims->n; i++) {
		int d = (int)dims->v[i];
		windows.dim[i] = d;
		windows.size[i] = op_ints(op, A_window)->v[i];
		windows.step[i] = op_ints(op, A_step)->v[i];
		windows.apart[i] = op_ints(op, A_apart)->v[i];
		if (moves_split(op, d, &shard)) {
			v = emit_window(l, op, d, &v, 1, padding);
		} else if (placement_dim_ways(p, d) == 1 && padding) {
			low[d] = op_ints(op, A_before)->v[i];
			high[d] = op_ints(op, A_behind)->v[i];
		}
	}
	if (padding)
		v = make_pad(named(l->make, NULL), v, padding, low, high);
	stand_for(l, op, make_windows(named(l->make, op->results[0]->name), v, &windows));
}

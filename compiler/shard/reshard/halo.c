/*
 * halo.c - which rows move, for halo.h.
 *
 * All in rows of the result, so that a slice, a pad and a part of a
 * concatenate differ in where shard 0 begins, `base`, and nothing else.  A
 * slice with a stride has each device take its rows first; where the stride
 * does not divide the shards, some have one row more than others.  A pad with
 * paddings between rows is the other way round: what a device gets are rows of
 * the operand, and it puts paddings between them.
 *
 *   y: f32[16@X] = pad(x: f32[8@X], 1_0_1), X=4     rows 0 1 of each 2: 0, 1 | 2, 3 | ...
 *   y: f32[12@X] = pad(x: f32[4@X], 0_2_2), X=4     0 | 1 | 2 | 3
 *   y: f32[8@X] = pad(x: f32[4@X], 0_-2_2), X=4     0 | 1 | | 2
 */
#include "cost/cost.h"
#include "cost/links.h"
#include "shard/reshard/halo.h"

/* ---- where things lie ------------------------------------------------- */

static int64_t
modulo(int64_t a, int64_t n)
{
	return (a % n + n) % n;
}

/* Up to the next number. */
static int64_t
quotient_above(int64_t a, int64_t n)
{
	return (a + modulo(-a, n)) / n;
}

int64_t
halo_window(const Halo *h, int64_t r)
{
	return quotient_above(r * h->advance - h->before, h->spread);
}

int64_t
halo_window_end(const Halo *h, int64_t r)
{
	return h->spread > 1 ? halo_window(h, r + 1) : r * h->advance + h->width;
}

int64_t
halo_row(const Halo *h, const HaloPart *part, int64_t shard)
{
	int64_t row = part->base + shard * part->rows;

	return quotient_above(row, h->apart);
}

/* The shard with the first row of r's window, 0 if the part begins later. */
static int64_t
first_shard(const Halo *h, const HaloPart *part, int64_t r)
{
	return greater(0, (halo_window(h, r) * h->apart - part->base) / part->rows);
}

int64_t
halo_start(const Halo *h, const HaloPart *part, int64_t q, int64_t r)
{
	return greater(0, halo_window(h, r) - halo_row(h, part, q));
}

int64_t
halo_overlap(const Halo *h, const HaloPart *part, int64_t q, int64_t r)
{
	int64_t begin = halo_row(h, part, q) + halo_start(h, part, q, r);
	int64_t shard_end = halo_row(h, part, q + 1), window_end = halo_window_end(h, r);

	if (q < 0 || q >= h->ways || r < 0 || r >= h->ways)
		return 0;
	return greater(0, lesser(shard_end, window_end) - begin);
}

/* The device whose window is the first that ends behind the row. */
static int64_t
first_device(const Halo *h, int64_t row)
{
	int64_t width = h->spread > 1 ? h->advance : h->width;
	int64_t at = h->before + row * h->spread;

	return at < width ? 0 : (at - width) / h->advance + 1;
}

/* ---- rounds of a window part ------------------------------------------ */

typedef void PairVisitor(const Halo *h, HaloPart *part, int64_t q, int64_t r);

/* Each shard with each device that needs rows of it. */
static void
visit_pairs(const Halo *h, HaloPart *part, PairVisitor *visit)
{
	for (int64_t r = 0; r < h->ways; r++)
		for (int64_t q = first_shard(h, part, r);
			q < h->ways && halo_row(h, part, q) < halo_window_end(h, r); q++)
			if (halo_overlap(h, part, q, r))
				visit(h, part, q, r);
}

/* Enough rounds for this pair to have one of its own. */
static void
count_rounds(const Halo *h, HaloPart *part, int64_t q, int64_t r)
{
	int64_t first_window = first_device(h, halo_row(h, part, q));
	int64_t interval = greater(q - first_shard(h, part, r), r - first_window) + 1;

	if (q == r)
		part->own = greater(part->own, halo_overlap(h, part, q, r));
	else
		part->nrounds = (int)greater(part->nrounds, interval);
}

static void
add_to_round(const Halo *h, HaloPart *part, int64_t q, int64_t r)
{
	if (q == r)
		return;
	HaloRound *round = &part->rounds[modulo(q - r, part->nrounds)];
	round->rows = greater(round->rows, halo_overlap(h, part, q, r));
	round->source[r] = q;
}

static HaloPart *
add_part(Arena *a, Halo *h, int64_t rows, int64_t base)
{
	HaloPart p = {.rows = rows, .base = base, .most = (rows + h->apart - 1) / h->apart};

	APPEND(a, h->parts, h->nparts, p);
	return &h->parts[h->nparts - 1];
}

/* ---- each op ---------------------------------------------------------- */

static void
plan_slice(Arena *a, Halo *h, const Op *op, const Type *shards)
{
	int64_t rows = shards[0].dims[h->dim];
	int64_t start = op_ints(op, A_start)->v[h->dim];
	int64_t stride = op_ints(op, A_stride)->v[h->dim];

	h->stride = stride;
	h->phase = start % stride;
	if (rows % stride == 0) {
		rows /= stride;
		start /= stride;
	} else {
		h->apart = stride;
	}
	add_part(a, h, rows, -start);
}

/* Rows of windows, of which those of two devices overlap. */
static void
plan_windows(Arena *a, Halo *h, const Op *op, const Type *shards)
{
	int i = ints_find(op_ints(op, A_windowed), h->dim);
	int64_t step = op_ints(op, A_step)->v[i], apart = op_ints(op, A_apart)->v[i];
	int64_t length = (op_ints(op, A_window)->v[i] - 1) * apart + 1;

	h->advance = h->width * step;
	h->width = (h->width - 1) * step + length;
	add_part(a, h, shards[0].dims[h->dim],
		op_has(op, A_before) ? op_ints(op, A_before)->v[i] : 0);
}

/* Each device gets rows of that so many before it; if there is none and they do not come round,
   nobody's. */
static HaloRound
shift_round(Arena *a, const Halo *h, int64_t rows, int64_t distance, bool round)
{
	bool any = round ? distance % h->ways != 0
			 : distance && distance < h->ways && -distance < h->ways;
	HaloRound shift = {.rows = any ? rows : 0};

	shift.source = NEW_ARRAY(a, int64_t, h->ways);
	for (int64_t r = 0; r < h->ways; r++) {
		bool there = distance <= r && r - distance < h->ways;
		shift.source[r] = round ? modulo(r - distance, h->ways)
			: there		? r - distance
					: -1;
	}
	return shift;
}

/* The last rows of one shard before the first rows of the next: two shifts,
   of which one may stay where it is. */
static void
plan_shift(Arena *a, Halo *h, int64_t rows, int64_t by, bool round)
{
	int64_t rest = modulo(by, rows), shards_on = (by - rest) / rows;
	HaloPart *part = add_part(a, h, rows, by);

	part->nrounds = 2;
	part->rounds = NEW_ARRAY(a, HaloRound, 2);
	part->rounds[0] = shift_round(a, h, rest, shards_on + 1, round);
	part->rounds[1] = shift_round(a, h, rows - rest, shards_on, round);
}

/* Windows as wide as that of the most rows. */
static void
plan_spread(Arena *a, Halo *h, const Op *op, int64_t rows)
{
	h->before = op_ints(op, A_low)->v[h->dim];
	h->spread = op_inner(op, h->dim) + 1;
	h->width = 0;
	for (int64_t r = 0; r < h->ways; r++)
		h->width = greater(h->width, halo_window(h, r + 1) - halo_window(h, r));
	add_part(a, h, rows, 0);
}

/* One part after the other, behind what a pad puts before the first. */
static void
plan_parts(Arena *a, Halo *h, const Op *op, const Type *shards)
{
	bool pad = op_has(op, A_low);
	int64_t base = pad ? op_ints(op, A_low)->v[h->dim] : 0;

	if (halo_is_shift(op, h->dim)) {
		plan_shift(a, h, shards[0].dims[h->dim], base, false);
		return;
	}
	if (pad && op_inner(op, h->dim)) {
		plan_spread(a, h, op, shards[0].dims[h->dim]);
		return;
	}
	for (int i = 0; i < (pad ? 1 : op->noperands); i++) {
		int64_t rows = shards[i].dims[h->dim];
		add_part(a, h, rows, base);
		base += rows * h->ways;
	}
}

static void
plan_roll(Arena *a, Halo *h, const Op *op, const Type *shards)
{
	plan_shift(a, h, shards[0].dims[h->dim], op_int(op, A_shift), true);
}

typedef struct Mover {
	OpKind kind;
	void (*plan)(Arena *a, Halo *h, const Op *op, const Type *shards);
} Mover;

static const Mover *
mover(OpKind kind)
{
	static const Mover movers[] = {
		{O_slice, plan_slice}, {O_pad, plan_parts}, {O_concatenate, plan_parts},
		{O_roll, plan_roll}, {O_windows, plan_windows}, {O_frames, plan_windows},
		{O_reverse, NULL}, /* one exchange mirrors all dims */
	};

	for (size_t i = 0; i < sizeof movers / sizeof movers[0]; i++)
		if (movers[i].kind == kind)
			return &movers[i];
	return NULL;
}

bool
halo_kind(OpKind kind)
{
	return mover(kind) != NULL;
}

bool
halo_is_shift(const Op *op, int dim)
{
	return op_has(op, A_low) && !op_inner(op, dim)
		&& op_ints(op, A_low)->v[dim] == -op_ints(op, A_high)->v[dim];
}

/* What the op's attributes say of the dim. */
bool
halo_moves(const Op *op, int dim, int64_t size)
{
	if (!halo_kind(op->kind))
		return false;
	if (op_has(op, A_start))
		return op_ints(op, A_start)->v[dim] || op_ints(op, A_limit)->v[dim] != size
			|| op_ints(op, A_stride)->v[dim] > 1;
	if (op_has(op, A_low))
		return op_ints(op, A_low)->v[dim] || op_ints(op, A_high)->v[dim]
			|| op_inner(op, dim);
	return ints_contain(op_ints(op, A_dims), dim) || ints_contain(op_ints(op, A_dim), dim)
		|| ints_contain(op_ints(op, A_along), dim)
		|| ints_contain(op_ints(op, A_windowed), dim);
}

Halo
halo_plan(Arena *a, const Op *op, int dim, const Type *shards, const Placement *result)
{
	Halo h = {.dim = dim,
		.axes = placement_dim(result, dim),
		.stride = 1,
		.apart = 1,
		.spread = 1};

	h.ways = axes_size(&h.axes);
	h.width = h.advance = op->results[0]->type.dims[dim] / h.ways;
	mover(op->kind)->plan(a, &h, op, shards);
	for (int i = 0; i < h.nparts; i++) {
		HaloPart *part = &h.parts[i];
		if (part->rounds)
			continue;
		visit_pairs(&h, part, count_rounds);
		part->rounds = NEW_ARRAY(a, HaloRound, part->nrounds + 1);
		for (int k = 0; k < part->nrounds; k++) {
			part->rounds[k].source = NEW_ARRAY(a, int64_t, h.ways);
			for (int64_t r = 0; r < h.ways; r++)
				part->rounds[k].source[r] = -1; /* nobody */
		}
		visit_pairs(&h, part, add_to_round);
	}
	return h;
}

/* ---- what it costs ---------------------------------------------------- */

static void
add_round(HaloCost *cost, const Mesh *mesh, const AxisList *axes, Links *links,
	const HaloRound *round, double bytes)
{
	TransferCost alone;

	if (!round->rows)
		return;
	links_permute(links, round->source, bytes);
	alone = transfer_cost(mesh, O_collective_permute, axes, NULL, round->source, bytes);
	cost->seconds += alone.seconds;
	cost->hops = greater(cost->hops, alone.hops);
	cost->bytes += bytes;
	cost->collectives++;
	cost->rows += round->rows;
}

AxisList
halo_mirrored(const Op *op, const Placement *result)
{
	AxisList all = {0};

	for (int d = 0; d < result->rank; d++) {
		AxisList axes = placement_dim(result, d);
		if (axes_size(&axes) > 1 && halo_moves(op, d, 0))
			axes_append_all(&all, &axes);
	}
	return all;
}

/* One exchange mirrors all dims: with the device as far from the other end. */
static void
add_mirror(HaloCost *cost, const Mesh *mesh, Arena *a, const Op *op, const Type *shard,
	const Placement *result)
{
	HaloRound round = {.rows = 1};

	cost->axes = halo_mirrored(op, result);
	int64_t n = axes_size(&cost->axes);
	if (n == 1)
		return;
	Links links = links_new(a, mesh, &cost->axes);
	round.source = NEW_ARRAY(a, int64_t, n);
	for (int64_t i = 0; i < n; i++)
		round.source[i] = n - 1 - i;
	for (int d = 0; d < result->rank; d++)
		if (placement_dim_ways(result, d) > 1 && halo_moves(op, d, 0))
			round.rows *= shard->dims[d];
	add_round(cost, mesh, &cost->axes, &links, &round, (double)type_bytes(shard));
	cost->at_once = links_seconds(&links);
}

static bool
moves_split_dim(const Op *op, const Type *shard, const Placement *result)
{
	for (int d = 0; d < result->rank; d++) {
		int64_t ways = placement_dim_ways(result, d);
		if (ways > 1 && halo_moves(op, d, shard->dims[d] * ways))
			return true;
	}
	return false;
}

/* The dims one after the other, each in the shapes that those before it leave.  Rounds
   are permutes: the program runs one after the other, though those along one dim need
   not wait for each other. */
HaloCost
halo_cost(const Mesh *mesh, const Op *op, const Type *shards, const Placement *result)
{
	HaloCost cost = {0};

	if (!halo_kind(op->kind) || !moves_split_dim(op, shards, result))
		return cost;
	Arena *a = arena_new();
	Type *types = arena_copy(a, shards, sizeof *shards * (size_t)op->noperands);
	const int64_t *sizes = op->results[0]->type.dims;
	bool mirror = !mover(op->kind)->plan;
	if (mirror)
		add_mirror(&cost, mesh, a, op, shards, result);
	/* A slice takes its part of dims that are whole first. */
	for (int d = 0; d < types[0].rank && op_has(op, A_start); d++)
		if (placement_dim_ways(result, d) == 1)
			types[0].dims[d] = sizes[d];
	for (int d = 0; d < result->rank && !mirror; d++) {
		int64_t ways = placement_dim_ways(result, d);
		if (ways == 1 || !halo_moves(op, d, shards[0].dims[d] * ways))
			continue;
		Halo h = halo_plan(a, op, d, types, result);
		Links links = links_new(a, mesh, &h.axes);
		for (int i = 0; i < h.nparts; i++)
			for (int k = 0; k < h.parts[i].nrounds; k++) {
				const HaloRound *round = &h.parts[i].rounds[k];
				double row = (double)type_bytes(&types[i])
					/ (double)types[i].dims[d];
				add_round(&cost, mesh, &h.axes, &links, round,
					(double)round->rows * row);
			}
		cost.at_once += links_seconds(&links);
		axes_append_all(&cost.axes, &h.axes);
		types[0].dims[d] = h.width;
	}
	arena_free(a);
	return cost;
}

HaloCost
op_halo(const Mesh *mesh, Arena *a, const Op *op)
{
	if (!halo_kind(op->kind))
		return (HaloCost){0};
	Type *shards = NEW_ARRAY(a, Type, op->noperands);
	for (int i = 0; i < op->noperands; i++)
		shards[i] =
			placement_local(&op->operands[i]->type, &op->operands[i]->placement);
	return halo_cost(mesh, op, shards, &op->results[0]->placement);
}

/*
 * scans.c - a running sum along a split dim is done a shard at a time.
 *
 * example     cumsum(x, dim=0), x: f32[12@X], X=4
 *               s = cumsum of each shard's 3 elements      f32[4@X, 3]
 *               t = the last of each: what it sums up to   f32[4@X]
 *               e = what the shards before it sum up to    f32[4], of t gathered
 *               e + s
 * requires    L_sharded
 * leaves      L_sharded: where operand and result are split alike along the dim, as above; one
 *             from the end on, which is one of what is reversed, too
 *
 * Otherwise the dim is whole: the operand is gathered, or given to another dim; what is made
 * anew everywhere, a constant, stays so, and so is what another user of it gathers.  Of a shard
 * one row is sent now.  Whatever combines will do.  What has few digits is summed in f32, as
 * it is by one device.  Explicit and manual code says itself what moves.
 */
#include "ir/make.h"
#include "shard/shard.h"

/* A running sum along a dim of x, up to an element or from it on. */
typedef struct Scan {
	Op *op; /* whose result it is */
	const Op *sum;
	Value *x;
	int dim;
	bool back;
	int64_t shards, rows;
} Scan;

static bool
reverses(const Op *op, int dim)
{
	const Ints *dims = op && op->kind == O_reverse ? op_ints(op, A_dims) : NULL;

	return dims && dims->n == 1 && dims->v[0] == dim && op->mode != MODE_explicit;
}

/* Is it split alike before and after, more than a row each, without padding? */
static bool
has_shards(Scan *scan)
{
	const Value *result = scan->op->results[0];
	AxisList from = placement_dim(&scan->x->placement, scan->dim);
	AxisList to = placement_dim(&result->placement, scan->dim);
	int64_t size = scan->x->type.dims[scan->dim];
	const int64_t *unpadded = result->unpadded;

	scan->shards = axes_size(&to);
	scan->rows = size / scan->shards;
	return scan->shards > 1 && scan->rows > 1 && axes_equal(&from, &to)
		&& !scan->x->placement.nunreduced && !result->placement.nunreduced
		&& (!unpadded || unpadded[scan->dim] == size) && scan->x->type.rank < MAX_RANK;
}

/* The op's result as a running sum; false where it is none of that kind. */
static bool
find_scan(Op *op, Scan *scan)
{
	const Op *sum = op->kind == O_reverse ? op->operands[0]->def : op;

	*scan = (Scan){.op = op, .sum = sum};
	if (!sum || sum->kind != O_cumsum || op->mode == MODE_explicit
		|| sum->mode == MODE_explicit)
		return false;
	scan->dim = (int)op_int(sum, A_dim);
	scan->x = sum->operands[0];
	scan->back = op != sum;
	if (scan->back) {
		const Op *before = scan->x->def;
		if (!reverses(op, scan->dim) || !reverses(before, scan->dim)
			|| sum->results[0]->uses > 1)
			return false;
		scan->x = before->operands[0];
	}
	return !value_is_literal(scan->x) && has_shards(scan);
}

/* ---- what takes its place ------------------------------------------------------------ */

/* Where `as` is: dims before scan->dim as they are there, the others `behind` later.  Where the
   dim itself is of shards, it is split, unless it is to be whole. */
static Value *
place(Value *v, const Scan *scan, int behind, bool whole)
{
	const Placement *as = &scan->op->results[0]->placement;

	v->placement = placement_none(v->type.rank);
	for (int d = 0; d < as->rank; d++) {
		AxisList axes = placement_dim(as, d);
		if (d != scan->dim || !whole)
			placement_set_dim(&v->placement, d > scan->dim ? d + behind : d, &axes);
	}
	return v;
}

static Value *
turned(Make k, const Scan *scan, Value *v, int dim, int behind, bool whole)
{
	int64_t along = dim;

	return scan->back ? place(make_reverse(k, v, 1, &along), scan, behind, whole) : v;
}

static Value *
run(Make k, const Scan *scan, Value *v, int dim, int behind, bool whole)
{
	Combiner c = (Combiner)op_int(scan->sum, A_combiner);

	v = turned(k, scan, v, dim, behind, whole);
	v = place(make_cumsum(k, c, v, dim), scan, behind, whole);
	return turned(k, scan, v, dim, behind, whole);
}

static Value *
shaped(Make k, const Scan *scan, Value *v, const Type *shape, int behind)
{
	return place(make_reshape(k, v, shape->rank, shape->dims), scan, behind, false);
}

/* What the shards before each sum up to, or those behind it: of the sums of each, whole. */
static Value *
run_shards(Make k, const Scan *scan, Value *sums)
{
	int64_t low[MAX_RANK] = {0}, high[MAX_RANK] = {0};
	Combiner c = (Combiner)op_int(scan->sum, A_combiner);
	Value *none = make_identity(k, c, sums->type.dtype);

	low[scan->dim] = scan->back ? -1 : 1;
	high[scan->dim] = -low[scan->dim];
	Value *moved = place(make_pad(k, sums, none, low, high), scan, 0, true);
	return run(k, scan, moved, scan->dim, 0, true);
}

static Value *
run_in_shards(const Scan *scan)
{
	Make k = make_before(scan->op);
	Value *old = scan->op->results[0], *x = scan->x;
	Combiner c = (Combiner)op_int(scan->sum, A_combiner);
	int dim = scan->dim;
	bool narrow = dtype_is_float(x->type.dtype) && dtypes[x->type.dtype].bytes < 4;
	Type blocks = x->type, shards = x->type;

	blocks.rank++;
	for (int d = blocks.rank - 1; d > dim; d--)
		blocks.dims[d] = x->type.dims[d - 1];
	blocks.dims[dim] = shards.dims[dim] = scan->shards;
	blocks.dims[dim + 1] = scan->rows;
	if (narrow)
		x = place(make_convert(k, x, D_f32), scan, 0, false);
	Value *sums = shaped(k, scan, x, &blocks, 1);
	sums = run(k, scan, sums, dim + 1, 1, false);
	int64_t last = scan->back ? 0 : scan->rows - 1;
	Value *each = make_slice_dim(k, sums, dim + 1, last, last + 1, 1);
	each = shaped(k, scan, place(each, scan, 1, false), &shards, 0);
	Value *others = run_shards(k, scan, each);
	int64_t to[MAX_RANK];
	for (int d = 0; d < shards.rank; d++)
		to[d] = d > dim ? d + 1 : d;
	others = place(make_broadcast(k, others, &sums->type, to), scan, 1, false);
	sums = place(make_combine(k, c, others, sums), scan, 1, false);
	Value *v = shaped(narrow ? k : named(k, old->name), scan, sums, &old->type, 0);
	if (narrow)
		v = make_convert(named(k, old->name), v, old->type.dtype);
	v->placement = old->placement;
	value_take_name(v, old);
	v->origins = old->origins;
	v->unpadded = old->unpadded;
	return v;
}

/* ---- the pass -------------------------------------------------------------------------- */

typedef struct Scanner {
	Value **now; /* by value id, what stands for it */
	Op **user;   /* ... the last of its users */
	bool *whole; /* ... its operand is gathered by others */
} Scanner;

/* Its only user; NULL: it has several, or its block returns it. */
static Op *
only_user(const Scanner *sc, const Value *v)
{
	return v->uses == 1 && sc->user[v->id]->kind != O_return ? sc->user[v->id] : NULL;
}

/* Is it gathered, or what is made of it alone element by element?  Then its operand is, as its
   result would be. */
static bool
is_gathered(const Scanner *sc, const Scan *scan)
{
	const Value *v = scan->op->results[0];
	AxisList from = placement_dim(&v->placement, scan->dim), to = from;

	for (const Op *user; axes_equal(&from, &to) && (user = only_user(sc, v));) {
		const Value *made = user->results[0];
		if (!op_is_identity(user) && !ops[user->kind].pointwise)
			return false;
		to = placement_dim(&made->placement, scan->dim);
		v = made;
	}
	return !axes_equal(&from, &to);
}

/* Of a block and the loops and branches in it. */
static bool
scan_block(Scanner *sc, Block *b)
{
	bool any = false;
	Scan scan;

	for (Op *op = b->first; op; op = op->next) {
		for (int i = 0; i < op->noperands; i++) {
			int id = op->operands[i]->id;
			if (id >= 0 && sc->now[id])
				op->operands[i] = sc->now[id];
		}
		for (int i = 0; i < op->nbodies && !op->specs; i++)
			any |= scan_block(sc, op->bodies[i]);
		Op *user = op->kind == O_cumsum ? only_user(sc, op->results[0]) : NULL;
		bool turned_next = user && user->kind == O_reverse && find_scan(user, &scan);
		if (turned_next || !find_scan(op, &scan) || is_gathered(sc, &scan)
			|| sc->whole[op->results[0]->id])
			continue;
		sc->now[op->results[0]->id] = run_in_shards(&scan);
		any = true;
	}
	return any;
}

/* Does it want its operand for something else than a running sum? */
static bool
is_no_sum(const Op *user)
{
	return user->kind != O_cumsum && user->kind != O_reverse;
}

/* Sums of what has other users: do these gather it?  That is asked before any is done. */
static void
find_whole(Scanner *sc, Module *m, Arena *scratch)
{
	Value **shared = NULL;
	int n = 0;
	Scan scan;

	for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
		if (find_scan(op, &scan) && scan.x->uses > 1)
			APPEND(scratch, shared, n, op->results[0]);
	if (!n)
		return;
	Partitioner *users = lookahead_new(m, scratch);
	for (int i = 0; i < n; i++)
		if (find_scan(shared[i]->def, &scan))
			sc->whole[shared[i]->id] =
				will_be_gathered(users, scan.x, scan.dim, is_no_sum);
	lookahead_free(users);
}

bool
scans(Module *m)
{
	module_number(m);
	module_count_uses(m);
	Arena *scratch = arena_new();
	Value **now = NEW_ARRAY(scratch, Value *, m->nvalues + 1);
	Scanner sc = {.now = now,
		.user = NEW_ARRAY(scratch, Op *, m->nvalues + 1),
		.whole = NEW_ARRAY(scratch, bool, m->nvalues + 1)};
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
		for (int i = 0; i < op->noperands; i++)
			sc.user[op->operands[i]->id] = op;
	find_whole(&sc, m, scratch);
	bool any = scan_block(&sc, m->entry);
	module_replace_named(m, now);
	if (any)
		module_remove_dead(m);
	arena_free(scratch);
	return any;
}

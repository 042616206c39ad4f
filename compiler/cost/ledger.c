/*
 * ledger.c - the rows of a device program, and its work.
 *
 * What moves is found from where it comes from: the way back from a collective's
 * operand through ops that move, cut or join ends at a value that the user named,
 * or at what computes something.
 *
 *   h = dot(x, W)
 *   h.1 = transpose(reshape(h))      h.2 = all-to-all(h.1)     moves h
 *   g = reshape(transpose(h.2))                                becomes g
 *
 * The trips of loops count, those of a loop that runs until its data says so
 * as one, and of two branches the one that takes longer.
 */
#include "cost/ledger.h"
#include "cost/tracks.h"
#include "ir/flow.h"

Ledger *
ledger_new(Module *m)
{
	Ledger *l = NEW(m->arena, Ledger);

	l->arena = m->arena;
	l->level = m->level;
	m->ledger = l;
	return l;
}

void
ledger_add(Ledger *l, Transfer t)
{
	t.counted = op_trips(t.op, &t.trips);
	APPEND(l->arena, l->transfers, l->n, t);
}

void
ledger_add_repeated(Ledger *l, Repeated r)
{
	r.counted = op_trips(r.op, &r.trips);
	APPEND(l->arena, l->repeated, l->nrepeated, r);
}

/* ---- along which axes --------------------------------------------------------- */

/* The minor part of exactly `size`; `a` keeps the rest. */
static AxisRef
split_minor(AxisRef *axis, int32_t size)
{
	AxisRef minor = {axis->axis, axis->pre * (axis->size / size), size};

	axis->size /= size;
	return minor;
}

/*
 * A device t receives from the s whose digits in `from` are t's in `axes`:
 * where both lists have the same piece in the same position, that coordinate
 * stays.  Walks them from the minor end, split into pieces of equal size;
 * where the sizes have no common pieces, all that is left moves.
 */
static AxisList
permuted_axes(const Op *op)
{
	AxisList to = *op->axes, from = *op->from, moved = {0};

	while (to.n > 0 && from.n > 0 && moved.n < MAX_PIECES) {
		AxisRef *a = &to.a[to.n - 1], *b = &from.a[from.n - 1];
		int32_t size = a->size < b->size ? a->size : b->size;
		AxisRef piece;

		if (a->size % size || b->size % size)
			break;
		piece = split_minor(a, size);
		if (!axis_equal(piece, split_minor(b, size)))
			moved.a[moved.n++] = piece;
		to.n -= a->size == 1;
		from.n -= b->size == 1;
	}
	for (int i = 0; i < to.n && moved.n < MAX_PIECES; i++)
		moved.a[moved.n++] = to.a[i];
	return moved;
}

/* The axes along which some device sends to another coordinate. */
static AxisList
sent_axes(const Op *op)
{
	const Ints *source = op_ints(op, A_source);
	AxisList moved = {0};

	for (int i = 0; i < op->axes->n; i++) {
		int64_t below = 1, size = op->axes->a[i].size;
		bool moves = false;
		for (int k = i + 1; k < op->axes->n; k++)
			below *= op->axes->a[k].size;
		for (int k = 0; k < source->n; k++)
			moves |= source->v[k] >= 0
				&& source->v[k] / below % size != k / below % size;
		if (moves)
			moved.a[moved.n++] = op->axes->a[i];
	}
	return moved;
}

/* Of a permute those that change, in the order of the mesh, neighbouring pieces
   joined. */
static AxisList
moved_axes(const Op *op)
{
	AxisList sorted = {0};

	if (collectives[op->kind].route != ROUTE_pairs)
		return *op->axes;
	AxisList l = op->from ? permuted_axes(op) : sent_axes(op);
	for (int i = 1; i < l.n; i++)
		for (int k = i; k > 0; k--) {
			AxisRef a = l.a[k - 1], b = l.a[k];

			if (a.axis < b.axis || (a.axis == b.axis && a.pre <= b.pre))
				break;
			l.a[k - 1] = b;
			l.a[k] = a;
		}
	for (int i = 0; i < l.n; i++)
		axes_append(&sorted, l.a[i]);
	return sorted;
}

/* ---- what moves ----------------------------------------------------------------- */

/* What the op moves, cuts or joins; NULL: it computes something else. */
static const Value *
moved_operand(const Op *op)
{
	bool moves = ops[op->kind].partial == PARTIAL_move || op_takes_part(op)
		|| op_communicates(op);

	return moves && op->noperands ? op->operands[0] : NULL;
}

typedef struct Sources {
	Ledger *ledger;
	const bool *named;
} Sources;

static void
set_source(const Sources *s, const Value *v, const Value *from)
{
	s->ledger->sources[v->id] = s->named[v->id] || !from ? v : s->ledger->sources[from->id];
}

/* What a loop carries has the name of its result; else a body's parameter is the
   operand, which comes before the op. */
static void
find_sources(const Sources *s, const Block *b)
{
	const Op *owner = b->parent;
	bool loop = owner && op_is_loop(owner);

	for (int i = 0; i < b->nparams; i++) {
		Flow in = {.to = b->params[i]};
		set_source(s, b->params[i], flow_next_to(&in) ? in.from : NULL);
		if (loop && s->named[owner->results[i]->id])
			s->ledger->sources[b->params[i]->id] = owner->results[i];
	}
	for (const Op *op = b->first; op; op = op->next) {
		for (int i = 0; i < op->nbodies; i++)
			find_sources(s, op->bodies[i]);
		for (int i = 0; i < op->nresults; i++)
			set_source(s, op->results[i], moved_operand(op));
	}
}

/* The rows of collectives between a named value and what it is made of. */
static void
find_becomes(Ledger *l, const bool *named, const int *row, const Value *made)
{
	const Value *v = made;

	if (made->def && op_is_loop(made->def))
		v = made->def->bodies[LOOP_BODY]->last->operands[made->index];
	while (v && v->def && (v == made || !named[v->id])) {
		if (op_communicates(v->def))
			l->transfers[row[v->id]].becomes = made;
		v = moved_operand(v->def);
	}
}

/* ---- rows and work --------------------------------------------------------------- */

static Work
sum_of(Work a, Work b)
{
	if (!add_i64(a.wire_bytes, b.wire_bytes, &a.wire_bytes))
		a.wire_bytes = INT64_MAX;
	a.flops += b.flops;
	a.picoseconds = add_picoseconds(a.picoseconds, b.picoseconds);
	return a;
}

static Work
work_of(const Op *op, const StepCost *cost)
{
	Work work = {.wire_bytes = whole_bytes(cost->wire_bytes)};
	int64_t trips;

	op_trips(op, &trips);
	/* More bytes than 64 bits count are as many as they do. */
	if (!mul_i64(work.wire_bytes, trips, &work.wire_bytes))
		work.wire_bytes = INT64_MAX;
	if (op_is_step(op)) {
		work.flops = cost->flops * (double)trips;
		work.picoseconds = repeat_picoseconds(picoseconds(cost->seconds), trips);
	}
	return work;
}

static Work
enter_block(Ledger *l, const Mesh *mesh, int *row, const Block *b)
{
	Work sum = {0};

	for (const Op *op = b->first; op; op = op->next) {
		StepCost cost = step_cost(mesh, op, NULL, NULL);
		Work bodies[2] = {{0}};
		if (op_communicates(op)) {
			row[op->results[0]->id] = l->n;
			ledger_add(l,
				(Transfer){
					.op = op,
					.kind = op->kind,
					.axes = moved_axes(op),
					.value = l->sources[op->operands[0]->id],
					.bytes = (double)whole_bytes(cost.wire_bytes),
					.seconds = cost.seconds,
					.hops = cost.hops,
				});
		}
		for (int i = 0; i < op->nbodies && !op_is_fusion(op); i++)
			bodies[i] = enter_block(l, mesh, row, op->bodies[i]);
		if (op_is_branch(op))
			bodies[bodies[1].picoseconds > bodies[0].picoseconds ? 0 : 1] =
				(Work){0};
		sum = sum_of(sum, sum_of(work_of(op, &cost), sum_of(bodies[0], bodies[1])));
	}
	return sum;
}

const Ledger *
module_ledger(Module *m)
{
	if (m->level < L_device || (m->ledger && m->ledger->level == m->level))
		return m->ledger;
	Ledger *l = ledger_new(m);
	module_number(m);
	l->sources = NEW_ARRAY(m->arena, const Value *, m->nvalues + 1);
	bool *named = NEW_ARRAY(m->arena, bool, m->nvalues + 1);
	int *row = NEW_ARRAY(m->arena, int, m->nvalues + 1); /* of a collective, by the id
								of its result */
	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value)
			named[m->named[i].value->id] = true;
	find_sources(&(Sources){l, named}, m->entry);
	l->work = enter_block(l, &m->mesh, row, m->entry);
	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value)
			find_becomes(l, named, row, m->named[i].value);
	return l;
}

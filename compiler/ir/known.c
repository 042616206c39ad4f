/*
 * known.c - whole numbers as far as they are known before anything runs: from the
 * first op to the last, the row of each in limits.def.
 *
 *   at = axis_index(X) * 3 + iota(i32[3])       from 0 to 5 on two devices
 */
#include "ir/flow.h"
#include "ir/interval.h"

static Known
unknown(DType d)
{
	return (Known){interval_of(d), .step = 1, .data = true};
}

/* Either may be it. */
static Known
join(Known a, Known b)
{
	return (Known){interval_join(a.in, b.in), gcd_i64(a.step, b.step), a.free || b.free,
		a.data || b.data, a.positions || b.positions, a.device || b.device};
}

int64_t
op_combined(const Op *op)
{
	const Type *type = &op->operands[0]->type;
	int64_t n = 1;

	if (op->axes)
		return axes_size(op->axes);
	if (op_has(op, A_dim))
		return type->dims[op_int(op, A_dim)];
	for (int i = 0; i < op_ints(op, A_dims)->n; i++)
		n *= type->dims[op_ints(op, A_dims)->v[i]];
	return n;
}

/* ---- leaves --------------------------------------------------------------- */

/* `x`, `y`: of the operands that the row names, as far as there are; `all`: of them
   together. */
typedef struct Operands {
	const Op *op;
	Known x, y, all;
} Operands;

static Known
known_constant(const Operands *o)
{
	const Ints *v = op_ints(o->op, A_value);
	Known k = {.in = {INTERVAL_MOST, -INTERVAL_MOST}};

	if (dtype_is_float(o->op->results[0]->type.dtype))
		return unknown(o->op->results[0]->type.dtype);
	for (int i = 0; i < v->n; i++) {
		k.in = interval_join(k.in, (Interval){v->v[i], v->v[i]});
		k.step = gcd_i64(k.step, v->v[i]);
	}
	return k;
}

static Known
known_iota(const Operands *o)
{
	int64_t n = o->op->results[0]->type.dims[op_int(o->op, A_iota_dim)];

	return (Known){{0, n - 1}, .step = 1, .positions = true};
}

static Known
known_device(const Operands *o)
{
	return (Known){{0, o->op->module->mesh.ndevices - 1}, .step = 1, .positions = true,
		.device = true};
}

/* ---- elements that move ------------------------------------------------------ */

static Known
known_moved(const Operands *o)
{
	return o->all;
}

static Known
known_sorted(const Operands *o)
{
	return o->all;
}

static Known
known_sent(const Operands *o)
{
	return join(o->all, (Known){.step = 0});
}

/* ---- arithmetic ---------------------------------------------------------------- */

static Known
made(const Operands *o, Interval in, int64_t step)
{
	Known k = o->all;

	k.in = in;
	k.step = step;
	return k;
}

static Known
known_sum(const Operands *o)
{
	return made(o, interval_sum(o->x.in, o->y.in), o->all.step);
}

static Known
known_difference(const Operands *o)
{
	return made(o, interval_sum(o->x.in, interval_negated(o->y.in)), o->all.step);
}

static Known
known_negated(const Operands *o)
{
	return made(o, interval_negated(o->x.in), o->x.step);
}

static Known
known_product(const Operands *o)
{
	int64_t step;

	if (!mul_i64(o->x.step, o->y.step, &step))
		step = 1;
	return made(o, interval_product(o->x.in, o->y.in), step);
}

static Known
known_quotient(const Operands *o)
{
	bool above = o->y.in.low > 0;

	return made(o, above ? interval_quotient(o->x.in, o->y.in) : interval_any(), 1);
}

/* With the sign of the dividend. */
static Known
known_remainder(const Operands *o)
{
	int64_t most = o->y.in.high - 1, least = o->y.in.low - 1;
	Interval in = o->x.in;

	/* what is less than all divisors is its own remainder */
	if (o->y.in.low > 0 && (in.low < -least || in.high > least))
		in = (Interval){in.low < 0 ? greater(in.low, -most) : 0,
			in.high > 0 ? lesser(in.high, most) : 0};
	return made(o, in, 1);
}

static Known
known_magnitude(const Operands *o)
{
	Interval both = interval_join(o->x.in, interval_negated(o->x.in));
	int64_t least = o->x.in.low > 0 ? o->x.in.low : o->x.in.high < 0 ? -o->x.in.high : 0;

	return made(o, (Interval){least, both.high}, o->x.step);
}

static Known
known_greater(const Operands *o)
{
	Interval in = o->all.in;

	in.low = o->x.in.low > o->y.in.low ? o->x.in.low : o->y.in.low;
	return made(o, in, o->all.step);
}

static Known
known_less(const Operands *o)
{
	Interval in = o->all.in;

	in.high = o->x.in.high < o->y.in.high ? o->x.in.high : o->y.in.high;
	return made(o, in, o->all.step);
}

static Known
known_combined(const Operands *o)
{
	bool sums = !op_has(o->op, A_combiner) || op_int(o->op, A_combiner) == C_add;
	int64_t n = op_combined(o->op);

	if (sums)
		return made(o, interval_product(o->x.in, (Interval){1, n > 0 ? n : 1}),
			o->x.step);
	if (op_int(o->op, A_combiner) == C_max || op_int(o->op, A_combiner) == C_min)
		return o->x;
	return unknown(o->op->results[0]->type.dtype);
}

/* ---- ops ------------------------------------------------------------------------- */

enum { ALL = INT32_MAX };

static const struct Row {
	int first, end;
	Known (*known)(const Operands *);
} rows[OP_COUNT] = {
#define LIMITS(op, first, end, known, wanted) [O_##op] = {first, end, known_##known},
#include "ir/limits.def"
#undef LIMITS
};

/* A row's function is of whole numbers, unless it only moves elements, or counts them. */
static bool
is_followed(const Op *op, const Value *result)
{
	bool any = rows[op->kind].known == known_moved || rows[op->kind].known == known_sorted
		|| rows[op->kind].known == known_iota;

	return rows[op->kind].known
		&& (dtype_is_integer(result->type.dtype)
			|| (any && result->type.dtype != D_pred));
}

static Known
result_of(const Known *known, const Op *op, const Value *result)
{
	const struct Row *row = &rows[op->kind];
	int first = row->known == known_sorted ? result->index : row->first;
	int end = row->known == known_sorted ? first + 1 : row->end;
	Operands o = {.op = op};
	Interval all = interval_of(result->type.dtype);

	if (!is_followed(op, result))
		return unknown(result->type.dtype);
	for (int i = first; i < end && i < op->noperands; i++) {
		Known x = known[op->operands[i]->id];
		o.all = i == first ? x : join(o.all, x);
		*(i == first ? &o.x : &o.y) = x;
	}
	Known k = row->known(&o);
	if (k.in.low < all.low || k.in.high > all.high) /* it wraps round */
		k.in = all;
	if (interval_is_empty(k.in)) /* there are no elements */
		k.in = (Interval){0, 0};
	return k;
}

/* ---- bodies -------------------------------------------------------------------------- */

/* A loop that counts: trips, and each round adds a constant to what is carried. */
static bool
counts(const Known *known, const Flow *f, Known *counted)
{
	const Block *body = f->op->bodies[f->op->nbodies - 1];
	const Ints *trips = op_ints(f->op, A_trips);
	const Op *next = op_is_loop(f->op) ? body->last->operands[f->index]->def : NULL;
	const Op *by = next && next->kind == O_add ? next->operands[1]->def : NULL;
	int64_t last;

	if (!by || !trips->n || next->operands[0] != body->params[f->index]
		|| by->kind != O_constant || op_int(by, A_value) < 0
		|| !mul_i64(trips->v[0] > 0 ? trips->v[0] - 1 : 0, op_int(by, A_value), &last)
		|| last > INTERVAL_MOST)
		return false;
	*counted = known[f->from->id];
	counted->in = interval_sum(counted->in, (Interval){0, last});
	counted->step = gcd_i64(counted->step, op_int(by, A_value));
	counted->positions = true;
	return true;
}

/* Into a body; what a loop carries is known if it counts, or is handed on. */
static Known
entering(const Known *known, const Flow *f)
{
	const Placement *spec = flow_spec(f);
	Known k = unknown(f->to->type.dtype), counted;

	if (dtype_is_integer(f->to->type.dtype) && counts(known, f, &counted))
		return counted;
	if (spec && spec->nunreduced)
		return k;
	if (op_is_loop(f->op) && !loop_hands_on(f->op, f->index)) {
		k.free = known[f->from->id].free;
		return k;
	}
	return known[f->from->id];
}

static void
follow(Known *known, const Block *b)
{
	for (const Op *op = b->first; op; op = op->next) {
		for (Flow f = {.op = op}; flow_next(&f);)
			if (f.kind == FLOW_in)
				known[f.to->id] = entering(known, &f);
		for (int i = 0; i < op->nbodies; i++)
			follow(known, op->bodies[i]);
		for (int i = 0; i < op->nresults; i++)
			if (op->nbodies)
				known[op->results[i]->id].in =
					(Interval){INTERVAL_MOST, -INTERVAL_MOST};
			else
				known[op->results[i]->id] =
					result_of(known, op, op->results[i]);
		for (Flow f = {.op = op}; flow_next(&f);)
			if (f.kind == FLOW_out || f.kind == FLOW_past)
				known[f.to->id] = join(known[f.to->id],
					flow_spec(&f) && flow_spec(&f)->nunreduced
						? unknown(f.to->type.dtype)
						: known[f.from->id]);
	}
}

Known *
module_known(const Module *m, Arena *a)
{
	Known *known = NEW_ARRAY(a, Known, m->nvalues + 1);

	for (int i = 0; i < m->entry->nparams; i++) {
		const Value *v = m->entry->params[i];
		known[v->id] = unknown(v->type.dtype);
		known[v->id].free = dtype_is_integer(v->type.dtype);
	}
	follow(known, m->entry);
	return known;
}

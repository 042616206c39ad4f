/*
 * propagate_random_test.c - what must hold of propagation on any program:
 *
 *   - every placement is one: axes used once, pieces that can coexist, sizes
 *     that divide
 *   - a closed dim stays as written, an open one begins as written, axes in
 *     `replicated` or `unreduced` are not used
 *   - every axis has an origin, and following origins ends
 *   - the same program gives the same placements again
 *
 * Programs are random, from a fixed seed: 1 to 12 ops on meshes of up to
 * three axes, sizes with and without common divisors.
 */
#include <stdlib.h>
#include <string.h>
#include "ir/ir.h"
#include "report/report.h"
#include "shard/shard.h"

enum { PROGRAMS = 3000, MOST_VALUES = 64 };

typedef struct Program {
	Session *session;
	Module *m;
	uint64_t random;
	Value *values[MOST_VALUES];
	Placement written[MOST_VALUES]; /* of annotated ones */
	int n;
} Program;

static int
pick(Program *p, int n)
{
	p->random = p->random * 6364136223846793005u + 1442695040888963407u;
	return (int)((p->random >> 33) % (uint64_t)n);
}

static void
random_mesh(Program *p)
{
	static const char *const names[] = {"X", "Y", "Z"};
	static const int sizes[] = {2, 4, 3, 2, 6, 8, 1};
	Mesh *m = &p->m->mesh;

	m->naxes = 1 + pick(p, 3);
	m->ndevices = 1;
	for (int i = 0; i < m->naxes; i++) {
		m->axes[i].name = names[i];
		m->axes[i].size = sizes[pick(p, 7)];
		m->ndevices *= m->axes[i].size;
	}
}

static Type
random_type(Program *p)
{
	static const int64_t sizes[] = {8, 4, 16, 12, 2, 6, 24, 1};
	Type t = {.dtype = D_f32, .rank = 1 + pick(p, 3)};

	for (int d = 0; d < t.rank; d++)
		t.dims[d] = sizes[pick(p, 8)];
	return t;
}

/* Axes in random order to random dims, as far as they divide. */
static Placement
random_placement(Program *p, const Type *t)
{
	const Mesh *m = &p->m->mesh;
	Placement q = placement_none(t->rank);

	for (int i = 0; i < m->naxes; i++) {
		int d = pick(p, t->rank + 2);
		AxisRef a = axis_whole(m, i);
		if (d > t->rank && a.size > 1) {
			AxisList l = placement_replicated(&q);
			l.a[l.n++] = a;
			placement_set_replicated(&q, &l);
		}
		if (d >= t->rank)
			continue;
		if (a.size == 4 && pick(p, 3) == 0)
			a.size = 2;
		AxisList l = placement_dim(&q, d);
		if (t->dims[d] % (axes_size(&l) * a.size))
			continue;
		l.a[l.n++] = a;
		placement_set_dim(&q, d, &l);
	}
	for (int d = 0; d < t->rank; d++) {
		q.open |= (uint16_t)((unsigned)pick(p, 2) << d);
		if (pick(p, 6) == 0 && (q.count[d] || placement_is_open(&q, d)))
			q.priority[d] = (uint8_t)(pick(p, 3) * 2);
	}
	return q;
}

static void
keep(Program *p, Value *v)
{
	if (!v->type.rank)
		return; /* scalars have nothing to say */
	if (v->annotated)
		p->written[p->n] = v->placement;
	p->values[p->n++] = v;
}

static void
annotate(Program *p, Value *v)
{
	v->placement = random_placement(p, &v->type);
	v->annotated = true;
}

static void
add_param(Program *p)
{
	Type t = random_type(p);
	Value *v = block_add_param(p->m->entry, "x", &t);

	annotate(p, v);
	keep(p, v);
}

static Op *
add_op(Program *p, OpKind kind, int n, Value *a, Value *b)
{
	Op *op = op_new(p->m, kind, n, (Value *[]){a, b}, 1, "v", (Range){0}, NULL);

	op_append(p->m->entry, op);
	return op;
}

static void
finish(Program *p, Op *op)
{
	op_infer(op);
	op->results[0]->placement = placement_open(op->results[0]->type.rank);
	keep(p, op->results[0]);
}

static void
add_pointwise(Program *p, Value *v)
{
	for (int i = 0; i < 8; i++) {
		Value *w = p->values[pick(p, p->n)];
		if (type_equal(&v->type, &w->type)) {
			finish(p, add_op(p, O_add, 2, v, w));
			return;
		}
	}
	finish(p, add_op(p, O_tanh, 1, v, NULL));
}

static void
add_dot(Program *p, Value *v)
{
	for (int i = 0; i < 16; i++) {
		Value *w = p->values[pick(p, p->n)];
		int c = pick(p, v->type.rank), k = pick(p, w->type.rank);
		if (v->type.dims[c] != w->type.dims[k] || v->type.rank + w->type.rank > 6)
			continue;
		Op *op = add_op(p, O_dot, 2, v, w);
		op_set_int(op, A_lhs_contract, c);
		op_set_int(op, A_rhs_contract, k);
		finish(p, op);
		return;
	}
}

/* The prime factors of the shape, dealt to other dims in the same order. */
static void
add_reshape(Program *p, Value *v)
{
	Type t = {.dtype = v->type.dtype, .rank = 1};

	t.dims[0] = 1;
	for (int d = 0; d < v->type.rank; d++)
		for (int64_t n = v->type.dims[d], f; n > 1; n /= f) {
			for (f = 2; n % f; f++)
				;
			if (t.rank < 5 && pick(p, 3) == 0)
				t.dims[t.rank++] = 1;
			t.dims[t.rank - 1] *= f;
		}
	Op *op = add_op(p, O_reshape, 1, v, NULL);
	op->results[0]->type = t;
	op->results[0]->placement = placement_open(t.rank);
	keep(p, op->results[0]);
}

static void
add_transpose(Program *p, Value *v)
{
	int64_t dims[MAX_RANK];
	int shift = pick(p, v->type.rank);
	Op *op = add_op(p, O_transpose, 1, v, NULL);

	for (int d = 0; d < v->type.rank; d++)
		dims[d] = (d + shift) % v->type.rank;
	op_set_ints(op, A_dims, v->type.rank, dims);
	finish(p, op);
}

static void
add_broadcast(Program *p, Value *v)
{
	int64_t dims[MAX_RANK];
	int at = pick(p, v->type.rank + 1);
	Type t = v->type;

	if (t.rank > 4)
		return;
	Op *op = add_op(p, O_broadcast, 1, v, NULL);
	t.rank++;
	for (int d = 0; d < v->type.rank; d++) {
		dims[d] = d + (d >= at);
		t.dims[dims[d]] = v->type.dims[d];
	}
	t.dims[at] = 8;
	op_set_ints(op, A_dims, v->type.rank, dims);
	op->results[0]->type = t;
	op->results[0]->placement = placement_open(t.rank);
	keep(p, op->results[0]);
}

static void
add_placed(Program *p, Value *v)
{
	static const OpKind kinds[] = {O_constraint, O_reshard, O_constraint};
	Op *op = add_op(p, kinds[pick(p, 3)], 1, v, NULL);

	op->results[0]->type = v->type;
	annotate(p, op->results[0]);
	keep(p, op->results[0]);
}

static void
add_group(Program *p, Value *v)
{
	for (int i = 0; i < 8; i++) {
		Value *w = p->values[pick(p, p->n)];
		if (w == v || !type_equal(&v->type, &w->type))
			continue;
		finish(p, add_op(p, O_shard_like, 2, v, w));
		return;
	}
}

static void
add_slice(Program *p, Value *v)
{
	int64_t start[MAX_RANK] = {0}, stride[MAX_RANK], limit[MAX_RANK];
	int rank = v->type.rank, d = pick(p, rank);

	for (int i = 0; i < rank; i++) {
		limit[i] = v->type.dims[i];
		stride[i] = 1;
	}
	limit[d] = 1 + pick(p, (int)limit[d]);
	Op *op = add_op(p, O_slice, 1, v, NULL);
	op_set_ints(op, A_start, rank, start);
	op_set_ints(op, A_limit, rank, limit);
	op_set_ints(op, A_stride, rank, stride);
	finish(p, op);
}

static void
make(Program *p, uint64_t seed)
{
	typedef void Adder(Program *, Value *);
	static Adder *const adders[] = {
		add_pointwise,
		add_pointwise,
		add_dot,
		add_reshape,
		add_transpose,
		add_broadcast,
		add_placed,
		add_group,
		add_slice,
		add_reshape,
	};

	*p = (Program){.session = session_new(), .random = seed};
	p->session->err = fopen("/dev/null", "w");
	p->m = module_new(p->session, "random");
	random_mesh(p);
	for (int i = 1 + pick(p, 3); i > 0; i--)
		add_param(p);
	for (int i = 1 + pick(p, 12); i > 0; i--)
		adders[pick(p, 10)](p, p->values[pick(p, p->n)]);
	Value *last = p->values[p->n - 1];
	Op *out = add_op(p, O_output, 1, last, NULL);
	op_infer(out);
	annotate(p, out->results[0]);
	keep(p, out->results[0]);
	op_append(p->m->entry,
		op_new(p->m, O_return, 1, out->results, 0, NULL, (Range){0}, "return"));
	p->m->nresults = 1;
	p->m->results = NEW_ARRAY(p->m->arena, Named, 1);
}

static void
discard(Program *p)
{
	FILE *err = p->session->err;

	session_free(p->session); /* may still have a warning to print */
	fclose(err);
}

/* ---- what must hold ------------------------------------------------------------ */

static const char *
valid(const Value *v)
{
	const Placement *p = &v->placement;
	AxisRef seen[MAX_PIECES];
	int n = 0;

	for (int d = 0; d < v->type.rank; d++) {
		AxisList l = placement_dim(p, d);
		if (v->type.dims[d] % axes_size(&l))
			return "a dim that does not divide";
		for (int i = 0; i < l.n; i++) {
			for (int k = 0; k < n; k++)
				if (!axis_can_coexist(seen[k], l.a[i]))
					return "an axis used twice";
			if (l.a[i].size > 1)
				seen[n++] = l.a[i];
		}
	}
	return p->open ? "an open dim" : NULL;
}

static const char *
as_written(const Value *v, const Placement *w)
{
	AxisList barred = placement_replicated(w);

	for (int d = 0; d < v->type.rank; d++) {
		AxisList now = placement_dim(&v->placement, d);
		AxisList then = placement_dim(w, d);
		if (!placement_is_open(w, d) && !axes_equal(&now, &then))
			return "a closed dim that changed";
		axes_normalize(&now);
		axes_normalize(&then);
		if (!axes_is_prefix(&then, &now))
			return "a dim that lost what was written";
	}
	for (int i = 0; i < barred.n; i++)
		if (placement_uses(&v->placement, barred.a[i]))
			return "a replicated axis in use";
	return NULL;
}

static const char *
has_origins(const Value *v)
{
	for (int d = 0; d < v->type.rank; d++) {
		AxisList l = placement_dim(&v->placement, d);
		for (int i = 0; i < l.n; i++)
			if (l.a[i].size > 1 && !value_origin(v, d, l.a[i]))
				return "an axis without an origin";
	}
	return NULL;
}

static const char *
wrong(Program *p)
{
	for (int i = 0; i < p->n; i++) {
		const Value *v = p->values[i];
		const char *why = valid(v);
		if (!why && v->annotated)
			why = as_written(v, &p->written[i]);
		if (!why)
			why = has_origins(v);
		if (why)
			return why;
	}
	return NULL;
}

static const char *
differs(const Program *p, const Program *q)
{
	for (int i = 0; i < p->n; i++)
		if (!placement_same(&p->values[i]->placement, &q->values[i]->placement))
			return "another run gave another placement";
	return NULL;
}

static const char *
tell_everything(Program *p)
{
	Why *w = why_new(p->m);
	Text t = {0};

	for (int i = 0; i < p->n; i++)
		for (int d = 0; d < p->values[i]->type.rank; d++) {
			AxisList l = placement_dim(&p->values[i]->placement, d);
			for (int k = 0; k < l.n; k++)
				text_origin(&t, p->m, p->values[i], d, l.a[k]);
			text_blocked(w, p->values[i], d, &t);
		}
	text_free(&t);
	return NULL;
}

int
main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	int failed = 0;

	for (uint64_t seed = first; seed < first + PROGRAMS; seed++) {
		Program p, q;
		make(&p, seed);
		make(&q, seed);
		propagate(p.m);
		propagate(q.m);
		const char *why = wrong(&p);
		if (!why)
			why = differs(&p, &q);
		if (!why)
			why = tell_everything(&p);
		if (why && ++failed < 10)
			printf("# program %llu: %s\n", (unsigned long long)seed, why);
		discard(&p);
		discard(&q);
	}
	printf("%sok 1 - %d random programs\n1..1\n", failed ? "not " : "", PROGRAMS);
	return failed != 0;
}

/*
 * c_random_test.c - random programs for one device, every op and dtype: what
 * the generated C computes against what the interpreter does, within its
 * bounds; integers bit for bit.
 *
 *   c_random_test [FIRST_SEED [COUNT]]
 */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hlo/hlo.h"
#include "ir/make.h"
#include "emit/emit.h"
#include "eval/eval.h"
#include "cost/cost.h"
#include "memory/plan.h"
#include "sched/sched.h"
#include "shdrt.h"
#include "shdrt_kernels.h"

enum {
	MAX_VALUES = 64,
	MAX_INPUTS = 4,
	MAX_LATE = 40,
	MAX_SIZE = 5000,
	MAX_CARRIED = 4,
	MAX_DEPTH = 3,
};

/* What the block at hand can see. */
typedef struct Scope {
	Block *block;
	Value *values[MAX_VALUES];
	int n;
} Scope;

typedef struct Program {
	uint64_t random;
	Session *session;
	Module *module;
	Scope scope;
	int depth; /* loops and branches around it */
	/* The interpreter runs whole programs, which have constants where
	   these are the device's id. */
	Op *late[MAX_LATE];
	int nlate;
} Program;

static uint64_t
next(Program *p)
{
	uint64_t z = p->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static int
below(Program *p, int n)
{
	return (int)(next(p) % (uint64_t)n);
}

/* ---- building ------------------------------------------------------------- */

static void
keep(Program *p, Value *v)
{
	if (p->scope.n < MAX_VALUES)
		p->scope.values[p->scope.n++] = v;
}

static int64_t
random_size(Program *p)
{
	static const int64_t sizes[] = {1, 2, 3, 4, 5, 8, 17, 33, 64, 70};

	return sizes[below(p, sizeof sizes / sizeof sizes[0])];
}

static Type
random_type(Program *p)
{
	Type t = {.dtype = (DType)below(p, DTYPE_COUNT), .rank = below(p, 5)};

	for (int d = 0; d < t.rank; d++)
		t.dims[d] = random_size(p);
	while (type_elements(&t) > MAX_SIZE)
		t.dims[below(p, t.rank)] = 1;
	return t;
}

static Op *
make(Program *p, OpKind kind, int n, Value **operands)
{
	int nresults = kind == O_sort ? n : 1;

	return op_new(p->module, kind, n, operands, nresults, "v", (Range){0}, ops[kind].name);
}

static Value *
finish(Program *p, Op *op)
{
	op_append(p->scope.block, op);
	op_infer(op);
	return op->results[0];
}

static Value *
constant(Program *p, DType d, double x)
{
	Op *op = make(p, O_constant, 0, NULL);
	int64_t payload = dtype_is_float(d) ? double_payload(x) : (int64_t)x;

	op_set_int(op, A_value, payload);
	op->results[0]->type = (Type){.dtype = d};
	return finish(p, op);
}

static Value *
pick(Program *p)
{
	return p->scope.values[below(p, p->scope.n)];
}

/* A value of this type: an existing one, or a conversion or broadcast. */
static Value *
like(Program *p, const Type *t)
{
	const Scope *scope = &p->scope;
	int start = below(p, scope->n);

	for (int i = 0; i < scope->n; i++) {
		Value *v = scope->values[(start + i) % scope->n];
		if (type_equal(&v->type, t))
			return v;
	}
	for (int i = 0; i < scope->n; i++) {
		Value *v = scope->values[(start + i) % scope->n];
		Type wanted = v->type;
		wanted.dtype = t->dtype;
		if (!type_equal(&wanted, t))
			continue;
		Op *op = make(p, O_convert, 1, &v);
		op->results[0]->type = *t;
		return finish(p, op);
	}
	Value *c = constant(p, t->dtype, below(p, 2));
	Op *op = make(p, O_broadcast, 1, &c);
	op_set_ints(op, A_dims, 0, NULL);
	op->results[0]->type = *t;
	return finish(p, op);
}

static bool
has_c(const Op *op, DType d)
{
	const OpInfo *info = &ops[op->kind];

	return *(dtype_is_float(d) ? info->float_c : info->int_c);
}

static void
add_pointwise(Program *p)
{
	OpKind kind = O_abs + (OpKind)below(p, O_clamp - O_abs + 1);
	Value *x = pick(p), *operands[3] = {x};
	Type pred = x->type, result;
	Op *op;

	pred.dtype = D_pred;
	for (int i = 1; i < ops[kind].operands; i++)
		operands[i] = like(p, &x->type);
	if (kind == O_select)
		operands[2] = operands[1], operands[1] = x, operands[0] = like(p, &pred);
	op = make(p, kind, ops[kind].operands, operands);
	if (kind == O_convert || (kind == O_bitcast && !dtype_is_float(x->type.dtype))) {
		op->results[0]->type = x->type;
		op->results[0]->type.dtype = (DType)below(p, DTYPE_COUNT);
	} else if (kind == O_compare) {
		op_set_int(op, A_direction, below(p, 6));
	} else if (!has_c(op, x->type.dtype)) {
		return;
	}
	if (!op_types(op, &result))
		keep(p, finish(p, op));
}

static void
add_iota(Program *p)
{
	Type t = random_type(p);
	Op *op = make(p, O_iota, 0, NULL);

	if (!t.rank || t.dtype == D_pred)
		return;
	op_set_int(op, A_iota_dim, below(p, t.rank));
	op->results[0]->type = t;
	keep(p, finish(p, op));
}

static void
add_broadcast(Program *p)
{
	Value *x = pick(p);
	Op *op = make(p, O_broadcast, 1, &x);
	Type t = {.dtype = x->type.dtype};
	int64_t dims[MAX_RANK], extra = below(p, 3);

	for (int d = 0; d <= x->type.rank; d++) {
		for (; extra && below(p, 2); extra--)
			t.dims[t.rank++] = random_size(p);
		if (d == x->type.rank)
			break;
		dims[d] = t.rank;
		t.dims[t.rank++] = x->type.dims[d];
	}
	if (t.rank > 6 || type_elements(&t) > 4 * MAX_SIZE)
		return;
	op_set_ints(op, A_dims, x->type.rank, dims);
	op->results[0]->type = t;
	keep(p, finish(p, op));
}

static void
add_reshape(Program *p)
{
	Value *x = pick(p);
	Op *op = make(p, O_reshape, 1, &x);
	int64_t left = type_elements(&x->type);
	Type t = {.dtype = x->type.dtype};

	while (left > 1 && t.rank < 5) {
		int64_t factor = 1 + below(p, 8);
		factor = t.rank == 4 || left % factor ? left : factor;
		t.dims[t.rank++] = factor;
		left /= factor;
	}
	op->results[0]->type = t;
	keep(p, finish(p, op));
}

static void
shuffle(Program *p, int n, int64_t *v)
{
	for (int i = 0; i < n; i++) {
		int j = below(p, i + 1);
		v[i] = v[j];
		v[j] = i;
	}
}

static void
add_transpose(Program *p)
{
	Value *x = pick(p);
	Op *op = make(p, O_transpose, 1, &x);
	int64_t dims[MAX_RANK];

	shuffle(p, x->type.rank, dims);
	op_set_ints(op, A_dims, x->type.rank, dims);
	keep(p, finish(p, op));
}

static void
add_slice(Program *p)
{
	Value *x = pick(p);
	Op *op = make(p, O_slice, 1, &x);
	int64_t start[MAX_RANK], limit[MAX_RANK], stride[MAX_RANK];

	for (int d = 0; d < x->type.rank; d++) {
		int n = (int)x->type.dims[d];
		start[d] = below(p, n);
		limit[d] = start[d] + 1 + below(p, n - (int)start[d]);
		stride[d] = 1 + below(p, 3);
	}
	op_set_ints(op, A_start, x->type.rank, start);
	op_set_ints(op, A_limit, x->type.rank, limit);
	op_set_ints(op, A_stride, x->type.rank, stride);
	keep(p, finish(p, op));
}

/* Of some dims of x, as many windows as there is room for. */
static void
add_windows(Program *p)
{
	Value *x = pick(p);
	Windows w = {0};

	for (int d = 0; d < x->type.rank && x->type.rank + w.n < 5; d++) {
		int n = (int)x->type.dims[d];
		if (below(p, 2))
			continue;
		w.dim[w.n] = d;
		w.apart[w.n] = 1 + below(p, 2);
		w.size[w.n] = 1 + below(p, (n - 1) / (int)w.apart[w.n] + 1);
		w.step[w.n++] = 1 + below(p, 3);
	}
	Op *op = make(p, O_windows, 1, &x);
	op_set_ints(op, A_windowed, w.n, w.dim);
	op_set_ints(op, A_window, w.n, w.size);
	op_set_ints(op, A_step, w.n, w.step);
	op_set_ints(op, A_apart, w.n, w.apart);
	keep(p, finish(p, op));
}

static void
add_concatenate(Program *p)
{
	Value *x = pick(p), *operands[3] = {x, x, x};
	int n = 1 + below(p, 3);

	if (!x->type.rank)
		return;
	for (int i = 1; i < n; i++)
		operands[i] = like(p, &x->type);
	Op *op = make(p, O_concatenate, n, operands);
	op_set_int(op, A_dim, below(p, x->type.rank));
	keep(p, finish(p, op));
}

static void
add_pad(Program *p)
{
	Value *x = pick(p), *operands[2] = {x, constant(p, x->type.dtype, 1)};
	if (!x->type.rank)
		return;
	Op *op = make(p, O_pad, 2, operands);
	int64_t low[MAX_RANK], high[MAX_RANK];

	for (int d = 0; d < x->type.rank; d++) {
		low[d] = below(p, 3);
		high[d] = below(p, 3);
	}
	op_set_ints(op, A_low, x->type.rank, low);
	op_set_ints(op, A_high, x->type.rank, high);
	keep(p, finish(p, op));
}

static void
add_reverse(Program *p)
{
	Value *x = pick(p);
	Op *op = make(p, O_reverse, 1, &x);
	int64_t dims[MAX_RANK];
	int n = 0;

	for (int d = 0; d < x->type.rank; d++)
		if (below(p, 2))
			dims[n++] = d;
	op_set_ints(op, A_dims, n, dims);
	keep(p, finish(p, op));
}

/* Letters of a dot: their sizes, and where they stand in both operands. */
static void
add_dot(Program *p)
{
	Value *x = pick(p), *operands[2];
	int64_t left[MAX_RANK], used[4][MAX_RANK];
	int n[4] = {0}, shared = 0;
	Type t = {.dtype = x->type.dtype};

	if (x->type.dtype == D_pred)
		return;
	shuffle(p, x->type.rank, left);
	for (int i = 0; i < x->type.rank; i++) {
		int role = below(p, 3); /* batch, contracted, free */
		if (role == 2)
			continue;
		used[role][n[role]] = left[i];
		used[role + 2][n[role]++] = shared;
		t.dims[t.rank++] = x->type.dims[left[i]];
		shared++;
	}
	for (int i = below(p, 3); i > 0; i--)
		t.dims[t.rank++] = random_size(p);
	if (type_elements(&t) > MAX_SIZE)
		return;
	operands[0] = x;
	operands[1] = like(p, &t);
	if (below(p, 2) && t.rank > 1) {
		int64_t last = t.rank - 1, order[MAX_RANK], places[MAX_RANK];
		shuffle(p, t.rank, order);
		Op *turn = make(p, O_transpose, 1, &operands[1]);
		op_set_ints(turn, A_dims, t.rank, order);
		operands[1] = finish(p, turn);
		for (int d = 0; d <= last; d++)
			places[order[d]] = d;
		for (int role = 2; role < 4; role++)
			for (int i = 0; i < n[role - 2]; i++)
				used[role][i] = places[used[role][i]];
	}
	Op *op = make(p, O_dot, 2, operands);
	op_set_ints(op, A_lhs_batch, n[0], used[0]);
	op_set_ints(op, A_rhs_batch, n[0], used[2]);
	op_set_ints(op, A_lhs_contract, n[1], used[1]);
	op_set_ints(op, A_rhs_contract, n[1], used[3]);
	op->results[0]->type.dtype =
		x->type.dtype == D_bf16 && below(p, 2) ? D_f32 : x->type.dtype;
	Type result;
	if (!op_types(op, &result) && type_elements(&result) <= 4 * MAX_SIZE && result.rank < 8)
		keep(p, finish(p, op));
}

static void
add_reduce(Program *p)
{
	Value *x = pick(p), *operands[2] = {x};
	DType d = x->type.dtype;
	Combiner c = d == D_pred ? (Combiner)(C_and + (Combiner)below(p, 2))
				 : (Combiner)below(p, C_mul + 1);
	int64_t dims[MAX_RANK];
	int n = 0;

	for (int i = 0; i < x->type.rank; i++)
		if (below(p, 2) || (i == x->type.rank - 1 && below(p, 2)))
			dims[n++] = i;
	Value *identity = constant(p, d, 0);
	op_set_int(identity->def, A_value, combiner_identity(c, d));
	operands[1] = identity;
	Op *op = make(p, O_reduce, 2, operands);
	op_set_ints(op, A_dims, n, dims);
	op_set_int(op, A_combiner, c);
	Value *v = finish(p, op);
	keep(p, v);
	if (below(p, 2))
		return;
	/* Back to the operand's shape: a row kernel, as in softmax. */
	Op *spread = make(p, O_broadcast, 1, &v);
	int64_t kept[MAX_RANK];
	int m = 0;
	for (int i = 0, r = 0; i < x->type.rank; i++)
		if (r < n && dims[r] == i)
			r++;
		else
			kept[m++] = i;
	op_set_ints(spread, A_dims, m, kept);
	spread->results[0]->type = x->type;
	Value *pair[2] = {x, finish(p, spread)};
	keep(p, finish(p, make(p, below(p, 2) ? O_maximum : O_minimum, 2, pair)));
}

static void
add_cumsum(Program *p)
{
	Value *x = pick(p), *operands[2] = {x};

	if (!x->type.rank || x->type.dtype == D_pred)
		return;
	Combiner c = (Combiner)below(p, C_mul + 1);
	operands[1] = constant(p, x->type.dtype, 0);
	op_set_int(operands[1]->def, A_value, combiner_identity(c, x->type.dtype));
	Op *op = make(p, O_cumsum, 2, operands);
	op_set_int(op, A_dim, below(p, x->type.rank));
	op_set_int(op, A_combiner, c);
	keep(p, finish(p, op));
}

static void
add_take(Program *p)
{
	Value *x = pick(p), *operands[2] = {x};
	Type t = random_type(p);

	if (!x->type.rank || t.rank > 2)
		return;
	t.dtype = below(p, 2) ? D_i32 : D_u8;
	operands[1] = like(p, &t);
	Op *op = make(p, O_take, 2, operands);
	op_set_int(op, A_dim, below(p, x->type.rank));
	Type result;
	if (!op_types(op, &result) && type_elements(&result) <= 4 * MAX_SIZE && result.rank < 7)
		keep(p, finish(p, op));
}

/* Worked out from the device's id, which is 0, or whatever there is. */
static Value *
random_start(Program *p)
{
	Type t = {.dtype = D_i32};
	Value *pair[2];

	if (below(p, 2) || p->nlate == MAX_LATE)
		return like(p, &t);
	Value *id = constant(p, D_u32, 0);
	Op *wide = make(p, O_convert, 1, &id);
	p->late[p->nlate++] = id->def;
	wide->results[0]->type = t;
	pair[0] = finish(p, wide);
	pair[1] = constant(p, D_i32, below(p, 9) - 2);
	Value *v = finish(p, make(p, O_add, 2, pair));
	if (below(p, 3) == 0)
		keep(p, v);
	return v;
}

static void
add_dynamic_slice(Program *p)
{
	Value *x = pick(p), *operands[1 + MAX_RANK] = {x};
	int64_t sizes[MAX_RANK];
	int rank = x->type.rank;

	for (int d = 0; d < rank; d++) {
		sizes[d] = below(p, 2) ? x->type.dims[d] : 1 + below(p, (int)x->type.dims[d]);
		operands[1 + d] = random_start(p);
	}
	Op *op = make(p, O_dynamic_slice, 1 + rank, operands);
	op_set_ints(op, A_sizes, rank, sizes);
	keep(p, finish(p, op));
}

/* Often of what is there at the same place. */
static void
add_dynamic_update_slice(Program *p)
{
	Value *x = pick(p), *operands[2 + MAX_RANK] = {x};
	int64_t sizes[MAX_RANK];
	Type t = x->type;

	for (int d = 0; d < t.rank; d++) {
		t.dims[d] = sizes[d] = below(p, 2) ? t.dims[d] : 1 + below(p, (int)t.dims[d]);
		operands[2 + d] = random_start(p);
	}
	if (below(p, 2)) {
		Value *from[1 + MAX_RANK] = {x}, *pair[2];
		for (int d = 0; d < t.rank; d++)
			from[1 + d] = operands[2 + d];
		Op *slice = make(p, O_dynamic_slice, 1 + t.rank, from);
		op_set_ints(slice, A_sizes, t.rank, sizes);
		pair[0] = finish(p, slice);
		pair[1] = like(p, &t);
		operands[1] = finish(p, make(p, O_maximum, 2, pair));
	} else {
		operands[1] = like(p, &t);
	}
	keep(p, finish(p, make(p, O_dynamic_update_slice, 2 + t.rank, operands)));
}

static void
add_scatter_add(Program *p)
{
	Value *x = pick(p), *operands[3] = {x};
	Type at = random_type(p), t = {.dtype = x->type.dtype};
	int dim;

	if (!x->type.rank || at.rank > 2 || t.dtype == D_pred)
		return;
	dim = below(p, x->type.rank);
	for (int d = 0; d < x->type.rank; d++) {
		for (int i = 0; d == dim && i < at.rank; i++)
			t.dims[t.rank++] = at.dims[i];
		if (d != dim)
			t.dims[t.rank++] = x->type.dims[d];
	}
	if (type_elements(&t) > 4 * MAX_SIZE)
		return;
	at.dtype = below(p, 2) ? D_i32 : D_u8;
	operands[1] = like(p, &at);
	operands[2] = like(p, &t);
	Op *op = make(p, O_scatter_add, 3, operands);
	op_set_int(op, A_dim, dim);
	keep(p, finish(p, op));
}

/* x[b.., m, k..] with w[b.., g, k.., n..], or y[b.., m, n..] */
static void
add_grouped(Program *p)
{
	Value *x = pick(p), *operands[3] = {x};
	Type group = x->type, other = x->type;
	bool outer = below(p, 2);

	if (!x->type.rank || x->type.dtype == D_pred)
		return;
	int rows = below(p, x->type.rank), groups = 1 + below(p, 4), n = 1 + below(p, 6);
	group.dtype = D_i32;
	group.rank = rows + 1;
	if (outer)
		other.rank = rows + 1;
	else
		other.dims[rows] = groups;
	if (below(p, 3))
		other.dims[other.rank++] = n;
	if (type_elements(&other) > MAX_SIZE || other.rank + x->type.rank > MAX_RANK
		|| type_elements(&x->type) * groups * n > 4 * MAX_SIZE)
		return;
	operands[1] = like(p, &other);
	operands[2] = like(p, &group);
	Op *op = make(p, outer ? O_grouped_outer : O_grouped_dot, 3, operands);
	op_set_int(op, A_of_groups, groups);
	if (outer)
		op_set_int(op, A_groups, groups);
	keep(p, finish(p, op));
}

static void
add_sort(Program *p)
{
	Value *x = pick(p), *operands[3] = {x};
	int n = 1 + below(p, 3);
	Type t = x->type;

	if (!t.rank)
		return;
	for (int i = 1; i < n; i++) {
		t.dtype = (DType)below(p, DTYPE_COUNT);
		operands[i] = like(p, &t);
	}
	Op *op = make(p, O_sort, n, operands);
	op_set_int(op, A_dim, below(p, t.rank));
	op_set_int(op, A_direction, below(p, 2) ? DIR_LT : DIR_GT);
	finish(p, op);
	for (int i = 0; i < n; i++)
		if (below(p, 3))
			keep(p, op->results[i]);
}

/* ---- loops and branches --------------------------------------------------- */

static void add_ops(Program *p, int n);

static Scope
enter(Program *p, Op *op, int n, Value *const *operands)
{
	Scope outer = p->scope;

	p->scope = (Scope){.block = block_new(p->module, op)};
	APPEND(p->session->arena, op->bodies, op->nbodies, p->scope.block);
	for (int i = 0; i < n; i++)
		keep(p, block_add_param(p->scope.block, "b", &operands[i]->type));
	p->depth++;
	return outer;
}

static void
leave(Program *p, const Scope *outer, int n, Value **results)
{
	op_append(p->scope.block,
		op_new(p->module, O_return, n, results, 0, NULL, (Range){0}, "return"));
	p->scope = *outer;
	p->depth--;
}

static void
keep_results(Program *p, Op *op)
{
	finish(p, op);
	for (int i = 0; i < op->nresults; i++)
		keep(p, op->results[i]);
}

static Value *
counted(Program *p, OpKind kind, Value *v, int by)
{
	Value *pair[2] = {v, constant(p, D_i32, by)};
	Op *op = make(p, kind, 2, pair);

	if (kind == O_compare)
		op_set_int(op, A_direction, DIR_LT);
	return finish(p, op);
}

/* Carried values come from anything of their type, the others' too. */
static void
add_while(Program *p)
{
	Value *carried[1 + MAX_CARRIED], *next[1 + MAX_CARRIED];
	int n = 1 + below(p, MAX_CARRIED);
	Scope outer;

	if (p->depth == MAX_DEPTH)
		return;
	carried[0] = constant(p, D_i32, 0);
	for (int i = 1; i < n; i++)
		carried[i] = pick(p);
	Op *op = op_new(p->module, O_while, n, carried, n, "w", (Range){0}, "w");
	outer = enter(p, op, n, carried);
	next[0] = counted(p, O_compare, p->scope.values[0], below(p, 4));
	leave(p, &outer, 1, next);
	outer = enter(p, op, n, carried);
	Value *i = p->scope.values[0];
	add_ops(p, below(p, 6));
	next[0] = counted(p, O_add, i, 1);
	for (int k = 1; k < n; k++)
		next[k] = like(p, &carried[k]->type);
	leave(p, &outer, n, next);
	keep_results(p, op);
}

static void
add_if(Program *p)
{
	Value *operands[1 + MAX_CARRIED], *results[MAX_CARRIED];
	int n = 1 + below(p, MAX_CARRIED), nresults = 1 + below(p, n);
	Type pred = {.dtype = D_pred};
	Scope outer;

	if (p->depth == MAX_DEPTH)
		return;
	operands[0] = like(p, &pred);
	for (int i = 1; i <= n; i++)
		operands[i] = pick(p);
	Op *op = op_new(p->module, O_if, 1 + n, operands, nresults, "c", (Range){0}, "c");
	for (int branch = 0; branch < 2; branch++) {
		outer = enter(p, op, n, operands + 1);
		add_ops(p, below(p, 4));
		for (int i = 0; i < nresults; i++)
			results[i] = like(p, &operands[1 + i]->type);
		leave(p, &outer, nresults, results);
	}
	keep_results(p, op);
}

typedef void Add(Program *p);
static Add *const adds[] = {
	add_pointwise,
	add_pointwise,
	add_pointwise,
	add_pointwise,
	add_iota,
	add_broadcast,
	add_reshape,
	add_transpose,
	add_slice,
	add_windows,
	add_concatenate,
	add_pad,
	add_reverse,
	add_dot,
	add_dot,
	add_reduce,
	add_reduce,
	add_cumsum,
	add_take,
	add_dynamic_slice,
	add_broadcast,
	add_pointwise,
	add_dynamic_update_slice,
	add_dynamic_update_slice,
	add_scatter_add,
	add_grouped,
	add_sort,
	add_while,
	add_while,
	add_if,
};

static void
add_ops(Program *p, int n)
{
	for (int i = 0; i < n; i++)
		adds[below(p, sizeof adds / sizeof adds[0])](p);
}

static void
return_some(Program *p)
{
	Block *b = p->module->entry;
	Value *results[4];
	int n = 0;

	for (int i = 0; i < 3; i++) {
		Value *v = i ? pick(p) : p->scope.values[p->scope.n - 1];
		Op *op = make(p, O_output, 1, &v);
		results[n++] = finish(p, op);
	}
	Op *end = op_new(p->module, O_return, n, results, 0, NULL, (Range){0}, "return");
	op_append(b, end);
	for (int i = 0; i < n; i++) {
		Named r = {results[i]->name, results[i], results[i]->type,
			results[i]->placement};
		APPEND(p->session->arena, p->module->results, p->module->nresults, r);
	}
}

static void
close_placements(Op *op)
{
	for (int i = 0; i < op->nresults; i++)
		op->results[i]->placement = placement_none(op->results[i]->type.rank);
	for (int i = 0; i < op->nbodies; i++)
		for (int k = 0; k < op->bodies[i]->nparams; k++) {
			Value *v = op->bodies[i]->params[k];
			v->placement = placement_none(v->type.rank);
		}
}

static Program
random_program(uint64_t seed)
{
	Program p = {.random = seed, .session = session_new()};
	int nparams, nops;

	p.module = module_new(p.session, "random");
	p.scope.block = p.module->entry;
	p.module->mesh.ndevices = 1;
	p.module->mesh.target = target_default();
	nparams = 1 + below(&p, MAX_INPUTS);
	for (int i = 0; i < nparams; i++) {
		Type t = random_type(&p);
		Value *v = block_add_param(p.module->entry, "p", &t);
		v->placement = placement_none(t.rank);
		keep(&p, v);
	}
	nops = 3 + below(&p, 30);
	add_ops(&p, nops);
	return_some(&p);
	for (Op *op = p.module->entry->first; op; op = op_following(op, p.module->entry))
		close_placements(op);
	return p;
}

/* ---- running -------------------------------------------------------------- */

static const shdrt_program *compiled;

/* Linked into the test for the programs it loads. */
extern void (*const volatile dot_run)(const shdrt_dot *, const void *, const void *, void *,
	void *);
void (*const volatile dot_run)(const shdrt_dot *, const void *, const void *, void *,
	void *) = shdrt_dot_run;
extern void (*const volatile grouped_runs[])(const shdrt_groups *, const void *, const void *,
	const void *, void *);
void (*const volatile grouped_runs[])(const shdrt_groups *, const void *, const void *,
	const void *, void *) = {shdrt_grouped_dot, shdrt_grouped_outer};
extern void (*const volatile sort_run)(const shdrt_sort *, const void *const *, void *const *,
	void *);
void (*const volatile sort_run)(const shdrt_sort *, const void *const *, void *const *,
	void *) = shdrt_sort_run;

int captured_main(const shdrt_program *program, int argc, char **argv);
int
captured_main(const shdrt_program *program, int argc, char **argv)
{
	(void)argc, (void)argv;
	compiled = program;
	return 0;
}

int64_t the_device(const shdrt_device *dev);
int64_t
the_device(const shdrt_device *dev)
{
	(void)dev;
	return 0;
}

void no_tick(shdrt_device *dev, const shdrt_step *step);
void
no_tick(shdrt_device *dev, const shdrt_step *step)
{
	(void)dev, (void)step;
}

void no_loop(shdrt_device *dev, const shdrt_place *loop);
void
no_loop(shdrt_device *dev, const shdrt_place *loop)
{
	(void)dev, (void)loop;
}

/* Now and then a value from the edges of a type. */
static double
random_number(Program *p)
{
	static const double edges[] = {INFINITY, -INFINITY, NAN, 0.0, -0.0, 1e30, -1e30, 1e-40,
		0.5, 2.5, 65504, 127};

	if (next(p) % 50 == 0)
		return edges[below(p, sizeof edges / sizeof edges[0])];
	return (double)(int64_t)(next(p) % 4001) / 1000 - 2;
}

static int64_t
random_integer(Program *p)
{
	static const int64_t edges[] = {INT64_MIN, INT32_MIN, INT8_MIN, INT64_MAX, INT32_MAX,
		INT8_MAX, UINT32_MAX, UINT8_MAX};

	if (next(p) % 50 == 0)
		return edges[below(p, sizeof edges / sizeof edges[0])];
	return (int64_t)(next(p) % 16) - 8;
}

static void
fill(Program *p, Tensor *t)
{
	int64_t n = type_elements(&t->type);
	unsigned char *bytes = t->data;

	for (int64_t i = 0; i < n; i++) {
		double x = random_number(p);
		float f = (float)x;
		uint16_t bf16,
			f16 = (uint16_t)(0x3000 + next(p) % 0x1400 + 0x8000 * (next(p) & 1));
		memcpy(&bf16, (char *)&f + 2, 2);
		int64_t integer = random_integer(p);
		const void *from = &integer;
		if (t->type.dtype == D_pred)
			integer &= 1;
		if (t->type.dtype == D_i4)
			integer = (integer & 15) - 8;
		if (t->type.dtype == D_u4)
			integer &= 15;
		if (t->type.dtype == D_f64)
			from = &x;
		else if (t->type.dtype == D_f32)
			from = &f;
		else if (t->type.dtype == D_bf16)
			from = &bf16;
		else if (dtype_is_float(t->type.dtype) && t->type.dtype != D_f16)
			integer = (int64_t)float_bits_of(t->type.dtype, x);
		else if (t->type.dtype == D_f16)
			from = &f16;
		int size = dtypes[t->type.dtype].bytes;
		memcpy(bytes + i * size, from, (size_t)size);
	}
}

static void *
build(Program *p, const Plan *plan, const char *directory)
{
	EmitOptions none = {0};
	char path[200], *library, command[1000];
	Text c = {0};

	emit_c(plan, &none, &c);
	snprintf(path, sizeof path, "%s/%llx.c", directory, (unsigned long long)p->random);
	FILE *f = fopen(path, "w");
	fwrite(c.s, 1, c.n, f);
	fclose(f);
	text_free(&c);
	library = arena_printf(p->session->arena, "%s.so", path);
	snprintf(command, sizeof command,
		"%s -shared -fPIC -Dmain=program_main "
		"-Dshdrt_main=captured_main -Dshdrt_device_id=the_device "
		"-Dshdrt_tick=no_tick -Dshdrt_in_loop=no_loop -std=gnu11 "
		"-Wall -Wextra -Wshadow -Wswitch-enum -Wstrict-prototypes -Wvla -Werror "
		"-Wno-missing-prototypes -march=native -O2 -ftree-vectorize "
		"-ffp-contract=off -fno-trapping-math -fno-math-errno -fwrapv "
		"-fno-strict-aliasing -I %s -o %s %s",
		TEST_CC, TEST_RUNTIME, library, path);
	if (system(command))
		return NULL;
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		fprintf(stderr, "%s\n", dlerror());
	return handle;
}

static bool
compare(const Program *p, const Plan *plan, const char *slab, const Tensor *wanted,
	double *const *bounds)
{
	const Op *end = p->module->entry->last;
	bool good = true;

	for (int i = 0; i < end->noperands; i++) {
		Tensor got = {.type = wanted[i].type,
			.data = (void *)(slab + plan_offset(plan, end->operands[i]))};
		Comparison c = tensor_compare(&wanted[i], bounds[i], &got);
		if (c.mismatches)
			printf("# result %d: %lld mismatches, worst at %lld: "
			       "%g for %g, bound %g\n",
				i, (long long)c.mismatches, (long long)c.worst, c.got, c.wanted,
				c.bound);
		good = good && !c.mismatches;
	}
	return good;
}

static bool
run(Program *p, const char *directory)
{
	Module *m = p->module;
	Tensor inputs[MAX_INPUTS], outputs[4] = {{.data = NULL}};
	double *bounds[4] = {NULL};
	int (*program_main)(int, char **);
	void *handle;

	for (int i = 0; i < m->entry->nparams; i++) {
		if (!tensor_new(&m->entry->params[i]->type, &inputs[i]))
			return false;
		fill(p, &inputs[i]);
	}
	if (!eval_global_bounds(m, inputs, outputs, bounds, NULL))
		return false;
	m->level = L_device;
	for (int i = 0; i < p->nlate; i++) {
		p->late[i]->kind = O_partition_id;
		p->late[i]->has = 0; /* no value */
	}
	fuse(m);
	Plan *plan = plan_build(m);
	handle = build(p, plan, directory);
	if (!handle)
		return false;
	*(void **)&program_main = dlsym(handle, "program_main");
	program_main(0, NULL);
	char *slab = aligned_alloc(64, (size_t)compiled->slab_bytes + 64);
	memset(slab, 0x5a, (size_t)compiled->slab_bytes);
	for (int i = 0; i < m->entry->nparams; i++)
		memcpy(slab + plan_offset(plan, m->entry->params[i]), inputs[i].data,
			(size_t)type_stored(&inputs[i].type));
	compiled->run(NULL, slab);
	bool good = compare(p, plan, slab, outputs, bounds);
	free(slab);
	dlclose(handle);
	return good;
}

int
main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	int count = argc > 2 ? atoi(argv[2]) : 40, failed = 0;
	char directory[] = "/tmp/c_random_XXXXXX";

	if (!mkdtemp(directory))
		return 1;
	printf("1..%d\n", count);
	for (int i = 0; i < count; i++) {
		Program p = random_program(first + (uint64_t)i);
		bool good = run(&p, directory);
		failed += !good;
		if (!good) {
			Text t = {0};
			module_print(p.module, &t);
			fprintf(stderr, "%s", t.s);
			text_free(&t);
		}
		printf("%s %d - program %llu\n", good ? "ok" : "not ok", i + 1,
			(unsigned long long)first + (unsigned long long)i);
		fflush(stdout);
		session_free(p.session);
	}
	if (!failed && !getenv("KEEP")) {
		char command[100];
		snprintf(command, sizeof command, "rm -rf %s", directory);
		return system(command) != 0;
	}
	fprintf(stderr, "# kept %s\n", directory);
	return failed != 0;
}

/*
 * gradients_test.c - gradients of random programs over 64-bit integers, which wrap: a ring
 * in which derivatives of polynomials are exact, and e = 2^32 is a number whose square is 0.
 *
 *   f(x + e v) - f(x) = e J v      what f itself says of its derivative along v
 *   <u, J v> = <J^T u, v>          holds in the low 32 bits, or the gradient is wrong
 *
 * f is run as it is: nothing here knows a rule.  What of a value does not change with e is
 * low(), its low 32 bits: what decides, and where elements are looked up, is made of these.
 *
 *   gradients_test [SEED [COUNT [FIRST]]]      5,000 programs: gradients_test 1 5000
 *
 * prints a program that is the only one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval/eval.h"
#include "grad/grad.h"
#include "hlo/hlo.h"
#include "ir/einsum.h"
#include "ir/flow.h"

/* ---- numbers ------ */

static uint64_t random_state;

static uint64_t
draw(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static int
below(int n)
{
	return (int)(draw() % (uint64_t)n);
}

/* ---- what is in scope ------ */

enum { MAX_VALUES = 96, MAX_ELEMENTS = 48, MAX_DEPTH = 3, MAX_SIDE = 4, WANTED = 6 };

typedef struct Scope {
	Make k;
	Value *v[MAX_VALUES]; /* i64 */
	int n, depth;
	Value *index[MAX_VALUES]; /* i32 scalars */
	int nindex;
	bool kept;	/* in a checkpoint, which may save */
	AxisList along; /* of the manual regions around */
	bool apart;	/* devices along these may be in different branches */
} Scope;

static void
add_value(Scope *s, Value *v)
{
	if (v && s->n < MAX_VALUES)
		s->v[s->n++] = v;
}

static Value *
any(const Scope *s)
{
	return s->v[below(s->n)];
}

static Type
random_type(void)
{
	Type t = {D_i64, below(4), {0}};

	for (int d = 0; d < t.rank; d++)
		t.dims[d] = 1 + below(MAX_SIDE - 1 + (t.rank < 3));
	return t;
}

static Value *
integer(const Scope *s, DType dtype, int64_t n)
{
	return make_constant(s->k, dtype, n);
}

static Value *
sum_of_all(Make k, Value *v)
{
	int64_t dims[MAX_RANK];

	for (int d = 0; d < v->type.rank; d++)
		dims[d] = d;
	return make_reduce(k, C_add, v, v->type.rank, dims);
}

/* A value of that type, made of one that is there. */
static Value *
like(Scope *s, const Type *type)
{
	int first = below(s->n);

	for (int i = 0; i < s->n; i++)
		if (type_equal(&s->v[(first + i) % s->n]->type, type))
			return s->v[(first + i) % s->n];
	Value *v = any(s);
	if (v->type.rank)
		v = sum_of_all(s->k, v);
	return make_splat(s->k, v, type);
}

/* The low 32 bits: v - (v >> 32 << 32), which changes by steps. */
static Value *
low(Scope *s, Value *v)
{
	Value *bits = make_splat(s->k, integer(s, D_i64, 32), &v->type);
	Value *high = make_binary(s->k, O_shr, v, bits);

	high = make_binary(s->k, O_shl, high, bits);
	return make_unary(s->k, O_stop_gradient, make_binary(s->k, O_sub, v, high));
}

static Value *
decision(Scope *s, const Type *type)
{
	Value *a = low(s, like(s, type)), *b = low(s, like(s, type));

	if (a == b || below(2))
		b = make_splat(s->k, integer(s, D_i64, (int64_t)1 << 31), type);
	return make_compare(s->k, (Direction)(DIR_LT + below(4)), a, b);
}

static Value *
scalar_of(Scope *s)
{
	Type t = {D_i64, 0, {0}};

	return like(s, &t);
}

/* Integers from -1 to n, the ends of which are outside of a dim of size n. */
static Value *
positions(Scope *s, Value *of, int64_t n)
{
	Value *size = make_splat(s->k, integer(s, D_i64, n + 2), &of->type);
	Value *one = make_splat(s->k, integer(s, D_i64, 1), &of->type);
	Value *v = make_binary(s->k, O_rem, low(s, of), size);

	return make_binary(s->k, O_sub, v, one);
}

static Value *
start_in(Scope *s, int64_t size)
{
	switch (below(3)) {
	case 0:
		if (s->nindex)
			return s->index[below(s->nindex)];
		return integer(s, D_i32, below((int)size));
	case 1:
		return integer(s, D_i32, below((int)size + 2) - 1);
	default:
		return make_convert(s->k, positions(s, scalar_of(s), size), D_i32);
	}
}

/* ---- one element of each operand ------ */

static Value *
grow_pair(Scope *s, OpKind kind)
{
	Value *a = any(s);

	return make_binary(s->k, kind, a, like(s, &a->type));
}

static Value *
grow_add(Scope *s)
{
	return grow_pair(s, O_add);
}

static Value *
grow_sub(Scope *s)
{
	Value *a = any(s);

	return make_binary(s->k, O_sub, like(s, &a->type), a);
}

static Value *
grow_mul(Scope *s)
{
	return grow_pair(s, O_mul);
}

static Value *
grow_neg(Scope *s)
{
	return make_unary(s->k, O_neg, any(s));
}

static Value *
grow_select(Scope *s)
{
	Value *a = any(s), *b = like(s, &a->type), *p = decision(s, &a->type);

	return below(2) ? make_select(s->k, p, a, b) : make_select(s->k, p, b, a);
}

static Value *
grow_barrier(Scope *s)
{
	return make_unary(s->k, below(2) ? O_barrier : O_constraint, any(s));
}

static Value *
grow_shard_like(Scope *s)
{
	return grow_pair(s, O_shard_like);
}

/* Of a value of which only the low bits matter, so that it does not change with e. */
static Value *
grow_stopped(Scope *s)
{
	Value *v = any(s);

	return make_binary(s->k, O_mul, low(s, v), like(s, &v->type));
}

static Value *
grow_saved(Scope *s)
{
	return s->kept ? make_unary(s->k, O_save, any(s)) : NULL;
}

/* ---- shapes ------ */

/* Some of 0 .. n - 1 in random order. */
static void
shuffle(int n, int64_t *order)
{
	for (int i = 0; i < n; i++)
		order[i] = i;
	for (int i = n - 1; i > 0; i--) {
		int j = below(i + 1);
		int64_t v = order[i];
		order[i] = order[j];
		order[j] = v;
	}
}

static Value *
grow_broadcast(Scope *s)
{
	Value *x = any(s);
	Type t = {D_i64, x->type.rank + 1 + below(2), {0}};
	int64_t order[MAX_RANK];

	if (t.rank > 4)
		return NULL;
	for (int d = 0, n = 0; d < t.rank; d++) {
		bool more = t.rank - d > x->type.rank - n;
		t.dims[d] = 1 + below(3);
		if (n == x->type.rank || (more && below(2)))
			continue;
		t.dims[d] = x->type.dims[n];
		order[n++] = d;
	}
	return type_elements(&t) > MAX_ELEMENTS ? NULL : make_broadcast(s->k, x, &t, order);
}

static Value *
grow_reshape(Scope *s)
{
	Value *x = any(s);
	int64_t left = type_elements(&x->type), dims[MAX_RANK];
	int rank = 0;

	while (left > 1 && rank < 3) {
		int64_t size = 1 + below((int)left);
		while (left % size)
			size--;
		dims[rank++] = size;
		left /= size;
	}
	if (left > 1 || rank == 0)
		dims[rank++] = left;
	return make_reshape(s->k, x, rank, dims);
}

static Value *
grow_transpose(Scope *s)
{
	Value *x = any(s);
	int64_t order[MAX_RANK];

	shuffle(x->type.rank, order);
	return make_transpose(s->k, x, order);
}

static Value *
grow_slice(Scope *s)
{
	Value *x = any(s);
	int64_t start[MAX_RANK], limit[MAX_RANK], stride[MAX_RANK];

	for (int d = 0; d < x->type.rank; d++) {
		int size = (int)x->type.dims[d];
		start[d] = below(size);
		limit[d] = start[d] + 1 + below(size - (int)start[d]);
		stride[d] = 1 + below(3);
	}
	return make_slice(s->k, x, start, limit, stride);
}

static Value *
grow_concatenate(Scope *s)
{
	Value *x[3] = {any(s)};
	int n = 1 + below(3);

	if (!x[0]->type.rank || n * type_elements(&x[0]->type) > MAX_ELEMENTS)
		return NULL;
	for (int i = 1; i < n; i++)
		x[i] = like(s, &x[0]->type);
	return make_concatenate(s->k, n, x, below(x[0]->type.rank));
}

static Value *
grow_pad(Scope *s)
{
	Value *x = any(s), *around = below(2) ? scalar_of(s) : NULL;
	int64_t low_edge[MAX_RANK], high[MAX_RANK];

	if (type_elements(&x->type) > 8)
		return NULL;
	for (int d = 0; d < x->type.rank; d++) {
		low_edge[d] = below(2);
		high[d] = below(3) / 2;
		if (x->type.dims[d] > 1 && !below(3))
			*(below(2) ? &low_edge[d] : &high[d]) = -1;
	}
	return make_pad(s->k, x, around, low_edge, high);
}

static Value *
grow_reverse(Scope *s)
{
	Value *x = any(s);
	int64_t order[MAX_RANK];

	if (!x->type.rank)
		return NULL;
	shuffle(x->type.rank, order);
	return make_reverse(s->k, x, 1 + below(x->type.rank), order);
}

static Value *
grow_roll(Scope *s)
{
	Value *x = any(s);
	int dim = below(x->type.rank + 1);

	return dim == x->type.rank ? NULL
				   : make_roll(s->k, x, dim, below((int)x->type.dims[dim]));
}

/* ---- sums ------ */

/* An operand that has the dims of x for letters that are common, at random places. */
static Value *
grow_dot(Scope *s)
{
	Value *x = any(s);
	int rank = x->type.rank, common = rank ? below(rank + 1) : 0, more = below(2);
	int64_t mine[MAX_RANK], theirs[MAX_RANK];
	Type other = {D_i64, common + more, {0}};
	DotDims dims = {0};

	shuffle(rank, mine);
	shuffle(other.rank, theirs);
	for (int d = 0; d < other.rank; d++)
		other.dims[d] = 1 + below(3);
	for (int i = 0; i < common; i++) {
		other.dims[theirs[i]] = x->type.dims[mine[i]];
		if (below(2)) {
			dims.lhs_batch[dims.nbatch] = mine[i];
			dims.rhs_batch[dims.nbatch++] = theirs[i];
		} else {
			dims.lhs_contract[dims.ncontract] = mine[i];
			dims.rhs_contract[dims.ncontract++] = theirs[i];
		}
	}
	if (type_elements(&x->type) * type_elements(&other) > 4 * MAX_ELEMENTS)
		return NULL;
	Value *v = make_dot(s->k, x, like(s, &other), &dims, D_i64);
	return type_elements(&v->type) > MAX_ELEMENTS ? sum_of_all(s->k, v) : v;
}

/* Letters that are repeated, summed, or of one operand alone. */
static Value *
grow_einsum(Scope *s)
{
	Type square = {D_i64, 2, {2, 2}};
	Term terms[3], result = {0};
	int n = 1 + below(3), rank = 0;

	for (int t = 0; t < n; t++) {
		terms[t] = (Term){.value = like(s, &square)};
		for (int d = 0; d < 2; d++)
			terms[t].letters[d] = below(4);
	}
	for (int letter = 0; letter < 4; letter++) {
		bool there = false;
		for (int t = 0; t < n; t++)
			there |= terms[t].letters[0] == letter || terms[t].letters[1] == letter;
		if (there && below(3))
			result.letters[rank++] = letter;
	}
	return make_einsum(s->k, n, terms, &result, rank, D_i64);
}

static Value *
grow_reduce(Scope *s)
{
	Value *x = any(s);
	int64_t order[MAX_RANK];

	if (!x->type.rank)
		return NULL;
	shuffle(x->type.rank, order);
	return make_reduce(s->k, below(2) ? C_add : C_mul, x, 1 + below(x->type.rank), order);
}

static Value *
grow_cumsum(Scope *s)
{
	Value *x = any(s);

	if (!x->type.rank)
		return NULL;
	return make_cumsum(s->k, C_add, x, below(x->type.rank));
}

/* ---- elements that are looked up ------ */

static Value *
grow_take(Scope *s)
{
	Value *x = any(s), *of = any(s);
	int dim = below(x->type.rank + 1);

	if (dim == x->type.rank || of->type.rank > 2
		|| type_elements(&x->type) * type_elements(&of->type) > 4 * MAX_ELEMENTS)
		return NULL;
	Value *v = make_take(s->k, x, positions(s, of, x->type.dims[dim]), dim);
	return type_elements(&v->type) > MAX_ELEMENTS ? sum_of_all(s->k, v) : v;
}

static Value *
grow_scatter_add(Scope *s)
{
	Value *x = any(s), *of = any(s);
	int dim = below(x->type.rank + 1), n = of->type.rank;
	Type rows = x->type;

	if (dim == x->type.rank || n > 2
		|| type_elements(&x->type) * type_elements(&of->type) > 4 * MAX_ELEMENTS)
		return NULL;
	rows.rank += n - 1;
	for (int d = dim + 1; d < x->type.rank; d++)
		rows.dims[d + n - 1] = x->type.dims[d];
	for (int d = 0; d < n; d++)
		rows.dims[dim + d] = of->type.dims[d];
	Value *index = positions(s, of, x->type.dims[dim]);
	return make_scatter_add(s->k, x, index, like(s, &rows), dim, 1);
}

/* Vectors of an index of each of two dims of x; the first may count a dim of the indices.
   NULL: x has too few dims, or there would be too many elements. */
static Value *
pairs(Scope *s, const Value *x, Value *of, Lookup *look)
{
	int first = below(x->type.rank + 1), n = of->type.rank;
	Type one = of->type;
	Value *columns[2];

	if (first + 2 > x->type.rank || n > 2
		|| type_elements(&x->type) * type_elements(&of->type) > 4 * MAX_ELEMENTS)
		return NULL;
	*look = (Lookup){first, 2, n, {-1, -1}};
	if (n && of->type.dims[0] == x->type.dims[first] && below(2))
		look->counts[0] = 0;
	one.dims[one.rank++] = 1;
	for (int i = 0; i < 2; i++) {
		Value *at = positions(s, of, x->type.dims[first + i]);
		if (look->counts[i] == 0)
			at = make_iota(s->k, &at->type, 0);
		columns[i] = make_reshape(s->k, at, one.rank, one.dims);
	}
	return make_concatenate(s->k, 2, columns, n);
}

static Value *
grow_lookup(Scope *s)
{
	Value *x = any(s), *of = any(s);
	Lookup look;
	Value *index = pairs(s, x, of, &look);
	Value *v = index ? make_lookup_as(s->k, x, index, &look) : NULL;

	return v && type_elements(&v->type) > MAX_ELEMENTS ? sum_of_all(s->k, v) : v;
}

static Value *
grow_scatter_pairs(Scope *s)
{
	Value *x = any(s), *of = any(s);
	Lookup look;
	Value *index = pairs(s, x, of, &look);
	Type rows = x->type;

	if (!index)
		return NULL;
	rows.rank += look.rank - 2;
	for (int d = look.first + 2; d < x->type.rank; d++)
		rows.dims[d + look.rank - 2] = x->type.dims[d];
	for (int d = 0; d < look.rank; d++)
		rows.dims[look.first + d] = of->type.dims[d];
	return make_scatter_add_as(s->k, x, index, like(s, &rows), &look);
}

/* Rows of x, as in grow_scatter_add(), times matrices of their groups, or added to those. */
static Value *
grow_grouped(Scope *s)
{
	Value *x = any(s);
	int rows = below(x->type.rank + 1), groups = 1 + below(3);
	Type of = x->type, other = x->type;
	bool outer = below(2);

	if (rows == x->type.rank)
		return NULL;
	of.rank = rows + 1;
	if (outer)
		other.rank = rows + 1;
	else
		other.dims[rows] = groups;
	if (below(2))
		other.dims[other.rank++] = 1 + below(3);
	if (type_elements(&other) > MAX_ELEMENTS)
		return NULL;
	Value *group = make_convert(s->k, positions(s, like(s, &of), groups), D_i32);
	Value *y = like(s, &other);
	Value *v = outer ? make_grouped_outer(s->k, x, y, group, groups, x->type.dtype)
			 : make_grouped_dot(s->k, x, y, group, x->type.dtype);
	return type_elements(&v->type) > MAX_ELEMENTS ? sum_of_all(s->k, v) : v;
}

/* A part of x: how large, and where it starts. */
static void
random_part(Scope *s, const Value *x, int64_t *size, Value **start)
{
	for (int d = 0; d < x->type.rank; d++) {
		size[d] = 1 + below((int)x->type.dims[d]);
		start[d] = start_in(s, x->type.dims[d]);
	}
}

static Value *
grow_dynamic_slice(Scope *s)
{
	Value *x = any(s), *start[MAX_RANK];
	int64_t size[MAX_RANK];

	if (!x->type.rank)
		return NULL;
	random_part(s, x, size, start);
	return make_dynamic_slice(s->k, x, start, size);
}

static Value *
grow_dynamic_update_slice(Scope *s)
{
	Value *x = any(s), *start[MAX_RANK];
	Type part = x->type;

	if (!x->type.rank)
		return NULL;
	random_part(s, x, part.dims, start);
	return make_dynamic_update_slice(s->k, x, like(s, &part), start);
}

/* By a key that e does not change, with ties. */
static Value *
grow_sort(Scope *s)
{
	Value *x = any(s);
	int n = 1 + below(2);

	if (!x->type.rank)
		return NULL;
	Value *few = make_splat(s->k, integer(s, D_i64, 3), &x->type);
	Value *key = make_binary(s->k, O_rem, low(s, like(s, &x->type)), few);
	Value *operands[] = {key, x, like(s, &x->type)};
	Op *op = make_begin(s->k, O_sort, n + 1, operands);
	for (int i = 0; i < n; i++)
		op_add_result(op, "sorted", &x->type);
	op_set_int(op, A_dim, below(x->type.rank));
	op_set_int(op, A_direction, below(2) ? DIR_LT : DIR_GT);
	make_end(s->k, op);
	add_value(s, op->results[n]);
	return op->results[1];
}

/* ---- devices ------ */

/* One axis of those along which devices meet, or some; none: they don't. */
static AxisList
meeting(const Scope *s)
{
	AxisList axes = {0};

	if (s->apart)
		return axes;
	for (int i = 0; i < s->along.n; i++)
		if (below(2))
			axes_append(&axes, s->along.a[i]);
	if (!axes.n && s->along.n)
		axes_append(&axes, s->along.a[below(s->along.n)]);
	return axes;
}

/* Something with a dim of which each of so many devices has an equal part. */
static Value *
divisible(Scope *s, int64_t ways, int *dim)
{
	Value *x = any(s), *copies[8];

	if (!x->type.rank || type_elements(&x->type) * ways > MAX_ELEMENTS)
		return NULL;
	*dim = below(x->type.rank);
	if (x->type.dims[*dim] % ways == 0)
		return x;
	for (int64_t i = 0; i < ways; i++)
		copies[i] = i && below(2) ? like(s, &x->type) : x;
	return make_concatenate(s->k, (int)ways, copies, *dim);
}

static Value *
grow_psum(Scope *s)
{
	AxisList axes = meeting(s);

	return axes.n ? make_collective(s->k, O_all_reduce, any(s), &axes, 0, C_add) : NULL;
}

static Value *
grow_all_gather(Scope *s)
{
	AxisList axes = meeting(s);
	Value *x = any(s);

	if (!axes.n || !x->type.rank
		|| type_elements(&x->type) * axes_size(&axes) > MAX_ELEMENTS)
		return NULL;
	return make_collective(s->k, O_all_gather, x, &axes, below(x->type.rank), C_add);
}

static Value *
grow_psum_scatter(Scope *s)
{
	AxisList axes = meeting(s);
	int dim;
	Value *x = axes.n ? divisible(s, axes_size(&axes), &dim) : NULL;

	return x ? make_collective(s->k, O_reduce_scatter, x, &axes, dim, C_add) : NULL;
}

static Value *
grow_all_to_all(Scope *s)
{
	AxisList axes = meeting(s);
	int dim;
	Value *x = axes.n ? divisible(s, axes_size(&axes), &dim) : NULL;

	if (!x)
		return NULL;
	Exchange parts = {.from_dim = below(x->type.rank), .to_dim = dim, .axes = axes};
	return parts.from_dim == dim ? make_collective(s->k, O_all_to_all, x, &axes, dim, C_add)
				     : make_exchange(s->k, x, &axes, 1, &parts);
}

/* From some devices to some. */
static Value *
grow_ppermute(Scope *s)
{
	AxisList axes = meeting(s);
	int64_t source[8];

	if (!axes.n)
		return NULL;
	shuffle((int)axes_size(&axes), source);
	for (int64_t i = 0; i < axes_size(&axes); i++)
		if (!below(4))
			source[i] = -1;
	return make_permute(s->k, any(s), &axes, NULL, source);
}

static Value *
grow_axis_index(Scope *s)
{
	if (!s->along.n)
		return NULL;
	Value *id = make_convert(s->k, make_op(s->k, O_partition_id, 0, NULL), D_i32);
	Value *v = make_axes_index(s->k, id, &s->along, 1);
	if (s->nindex < MAX_VALUES)
		s->index[s->nindex++] = v;
	return make_convert(s->k, v, D_i64);
}

/* ---- bodies ------ */

static void grow(Scope *s, int n);

/* An op with closed bodies: `given` are operands, and parameters of each body. */
static Op *
begin_closed(Scope *s, OpKind kind, int nbodies, int n, Value *const *given)
{
	Op *op = make_begin(s->k, kind, n, given);

	op->nbodies = nbodies;
	op->bodies = NEW_ARRAY(s->k.module->arena, Block *, nbodies);
	for (int b = 0; b < nbodies; b++)
		op->bodies[b] = block_new(s->k.module, op);
	return op;
}

static void
add_params(Block *b, int n, Value *const *given)
{
	for (int i = 0; i < n; i++)
		block_add_param(b, "p", &given[i]->type);
}

/* What is seen in a body: its parameters from `first` on. */
static Scope
inside(const Scope *s, Block *b, int first)
{
	Scope in = {.k = s->k,
		.depth = s->depth + 1,
		.kept = s->kept,
		.along = s->along,
		.apart = s->apart};

	in.k.block = b;
	for (int i = first; i < b->nparams; i++)
		if (b->params[i]->type.dtype == D_i64)
			add_value(&in, b->params[i]);
		else if (b->params[i]->type.dtype == D_i32)
			in.index[in.nindex++] = b->params[i];
	return in;
}

/* Some values, and perhaps an index. */
static int
choose_operands(Scope *s, Value **given)
{
	int n = 0, wanted = 1 + below(3);

	while (n < wanted)
		given[n++] = any(s);
	if (s->nindex && below(2))
		given[n++] = s->index[below(s->nindex)];
	return n;
}

static void
end_closed(Scope *s, Op *op, int n, Value *const *results)
{
	for (int i = 1; i < n; i++)
		op_add_result(op, "y", &results[i]->type);
	op->results[0]->type = results[0]->type;
	make_end(s->k, op);
}

static Value *
grow_call(Scope *s)
{
	OpKind kind = below(2) ? O_call : O_checkpoint;
	Value *given[MAX_VALUES], *results[2];
	int n = choose_operands(s, given), nresults = 1 + below(2);
	Op *op = begin_closed(s, kind, 1, n, given);

	op->composite = kind == O_call ? "part" : NULL;
	add_params(op->bodies[0], n, given);
	Scope in = inside(s, op->bodies[0], 0);
	in.kept = kind == O_checkpoint;
	grow(&in, WANTED);
	for (int i = 0; i < nresults; i++)
		results[i] = in.v[in.n - 1 - below(in.n > 2 ? 3 : 1)];
	make_return(op->bodies[0], nresults, results, s->k.range, "return");
	end_closed(s, op, nresults, results);
	add_value(s, op->results[nresults - 1]);
	return op->results[0];
}

/* y = a a b, of which it is said that da = 2 a b dy, db = a a dy. */
static Value *
grow_ruled(Scope *s)
{
	Value *x = any(s), *given[] = {x, like(s, &x->type)};
	Op *op = begin_closed(s, O_ruled, 2, 2, given);
	Make in = s->k, back = s->k;

	in.block = op->bodies[0];
	back.block = op->bodies[1];
	add_params(in.block, 2, given);
	add_params(back.block, 2, given);
	add_params(back.block, 2, (Value *[]){x, x});
	Value **p = in.block->params, **q = back.block->params;
	Value *y = make_binary(in, O_mul, make_binary(in, O_mul, p[0], p[0]), p[1]);
	make_return(in.block, 1, &y, s->k.range, "return");
	Value *once = make_binary(back, O_mul, q[0], q[3]);
	Value *da = make_binary(back, O_mul, once, q[1]);
	Value *gradients[] = {make_binary(back, O_add, da, da),
		make_binary(back, O_mul, once, q[0])};
	make_return(back.block, 2, gradients, s->k.range, "return");
	end_closed(s, op, 1, &y);
	return op->results[0];
}

static Value *
grow_branch(Scope *s)
{
	Value *given[MAX_VALUES], *result = any(s);
	Type scalar = {D_i64, 0, {0}};

	given[0] = decision(s, &scalar);
	bool alike = s->along.n && !s->apart && below(2);
	if (alike)
		given[0] = make_collective(s->k, O_all_reduce, given[0], &s->along, 0, C_or);
	int n = 1 + choose_operands(s, given + 1);
	Op *op = begin_closed(s, O_if, 2, n, given);
	for (int b = 0; b < 2; b++) {
		add_params(op->bodies[b], n - 1, given + 1);
		Scope in = inside(s, op->bodies[b], 0);
		in.apart = s->along.n && !alike;
		grow(&in, below(WANTED));
		Value *y = like(&in, &result->type);
		make_return(op->bodies[b], 1, &y, s->k.range, "return");
	}
	end_closed(s, op, 1, &result);
	return op->results[0];
}

/* The index goes from `from` as often as `trips`; of other values some are carried, the
   rest is handed on. */
static void
end_loop(Scope *s, Op *op, int64_t from, int64_t trips)
{
	Block *condition = op->bodies[LOOP_CONDITION], *body = op->bodies[LOOP_BODY];
	Value *next[MAX_VALUES];
	Make k = s->k;

	k.block = condition;
	Value *end = make_constant(k, D_i32, from + trips);
	Value *more = make_compare(k, DIR_LT, condition->params[0], end);
	make_return(condition, 1, &more, k.range, "return");
	Scope in = inside(s, body, 0);
	grow(&in, WANTED);
	k.block = body;
	next[0] = make_binary(k, O_add, body->params[0], make_constant(k, D_i32, 1));
	for (int i = 1; i < body->nparams; i++) {
		bool carried = body->params[i]->type.dtype == D_i64 && below(3);
		next[i] = carried ? like(&in, &body->params[i]->type) : body->params[i];
		if (carried && in.n > 1 && below(2)
			&& type_equal(&in.v[in.n - 1]->type, &next[i]->type))
			next[i] = in.v[in.n - 1];
	}
	make_return(body, body->nparams, next, k.range, "return");
	op_set_int(op, A_trips, trips);
}

static Value *
grow_loop(Scope *s)
{
	Value *given[MAX_VALUES];
	int64_t from = below(3) - 1, trips = below(4);

	given[0] = integer(s, D_i32, from);
	int n = 1 + choose_operands(s, given + 1);
	Op *op = begin_closed(s, O_while, 2, n, given);
	for (int b = 0; b < 2; b++)
		add_params(op->bodies[b], n, given);
	end_loop(s, op, from, trips);
	end_closed(s, op, n, given);
	for (int i = 2; i < n; i++)
		if (given[i]->type.dtype == D_i64)
			add_value(s, op->results[i]);
	return op->results[1];
}

/* Cut along some of the axes, where their size allows. */
static Placement
random_cut(const Type *type, const AxisList *axes)
{
	Placement cut = placement_none(type->rank);

	for (int i = 0; i < axes->n && type->rank; i++) {
		int d = below(type->rank);
		AxisList list = placement_dim(&cut, d);
		axes_append(&list, axes->a[i]);
		if (below(3) && type->dims[d] % axes_size(&list) == 0)
			placement_set_dim(&cut, d, &list);
	}
	return cut;
}

/* What devices return of v: along some axes they add up what they have, there or behind
   the region; along the others each has a part. */
static Value *
region_result(const Scope *s, Value *v, const AxisList *axes, Placement *cut)
{
	AxisList sums = {0}, parts = {0};
	Make k = s->k;

	for (int i = 0; i < axes->n; i++)
		axes_append(below(3) ? &parts : &sums, axes->a[i]);
	if (type_elements(&v->type) * axes_size(&parts) > MAX_ELEMENTS)
		v = sum_of_all(k, v);
	if (parts.n && !v->type.rank)
		v = make_reshape(k, v, 1, (int64_t[]){1});
	bool here = sums.n && below(2);
	if (here)
		v = make_collective(k, O_all_reduce, v, &sums, 0, C_add);
	*cut = placement_none(v->type.rank);
	for (int i = 0; i < parts.n; i++) {
		int d = below(v->type.rank);
		AxisList list = placement_dim(cut, d);
		axes_append(&list, parts.a[i]);
		placement_set_dim(cut, d, &list);
	}
	if (sums.n && !here)
		placement_set_unreduced(cut, &sums, C_add);
	return v;
}

/* A manual region along one axis, or along all that no region around has. */
static Value *
grow_region(Scope *s)
{
	const Mesh *mesh = &s->k.module->mesh;
	AxisList axes = {0};
	Value *given[4], *results[2];
	int n = 1 + below(3), nresults = 1 + below(2);

	for (int i = 0; i < mesh->naxes; i++)
		if (!axes_overlap(&s->along, axis_whole(mesh, i)) && below(3))
			axes_append(&axes, axis_whole(mesh, i));
	if (!axes.n || s->apart)
		return NULL;
	for (int i = 0; i < n; i++)
		given[i] = any(s);
	Op *op = begin_closed(s, O_manual, 1, n, given);
	op->axes = arena_copy(s->k.module->arena, &axes, sizeof axes);
	op->specs = NEW_ARRAY(s->k.module->arena, Placement, n + nresults);
	for (int i = 0; i < n; i++) {
		op->specs[i] = random_cut(&given[i]->type, &axes);
		Type local = placement_local(&given[i]->type, &op->specs[i]);
		block_add_param(op->bodies[0], "p", &local);
	}
	Scope in = inside(s, op->bodies[0], 0);
	axes_append_all(&in.along, &axes);
	grow(&in, 2 * WANTED);
	for (int i = 0; i < nresults; i++) {
		Value *v = in.v[in.n - 1 - below(in.n > 3 ? 3 : 1)];
		results[i] = region_result(&in, v, &axes, &op->specs[n + i]);
	}
	make_return(op->bodies[0], nresults, results, s->k.range, "return");
	for (int i = 1; i < nresults; i++)
		op_add_result(op, "y", &results[i]->type);
	make_end(s->k, op);
	for (int i = 0; i < nresults; i++) {
		op->results[i]->annotated = true;
		op->results[i]->placement = op->specs[n + i];
	}
	add_value(s, op->results[nresults - 1]);
	return op->results[0];
}

/* Cotangents that change with what the gradient outside is taken by, too. */
static Value *
grow_grad(Scope *s)
{
	Value *given[2] = {any(s), any(s)};
	int n = 1 + below(2);
	Op *op = begin_closed(s, O_grad, 1, n, given);
	Block *body = op->bodies[0];

	add_params(body, n, given);
	Scope in = inside(s, body, 0);
	in.kept = false;
	grow(&in, WANTED);
	Value *results[] = {in.v[in.n - 1], body->params[0], body->params[n - 1]};
	op_add_operand(op, like(s, &results[0]->type));
	block_add_param(body, "d", &results[0]->type);
	op_set_int(op, A_cotangents, 0);
	op_set_int(op, A_gradients, n);
	make_return(body, 1 + n, results, s->k.range, "return");
	end_closed(s, op, 1 + n, results);
	add_value(s, op->results[0]);
	add_value(s, op->results[n]);
	return op->results[1];
}

/* ---- programs ------ */

typedef struct Way {
	Value *(*grow)(Scope *s);
	int often;
	bool nests;
} Way;

static const Way ways[] = {
	{grow_add, 3, false},
	{grow_sub, 2, false},
	{grow_mul, 5, false},
	{grow_neg, 1, false},
	{grow_select, 2, false},
	{grow_barrier, 1, false},
	{grow_shard_like, 1, false},
	{grow_stopped, 1, false},
	{grow_saved, 2, false},
	{grow_broadcast, 2, false},
	{grow_reshape, 2, false},
	{grow_transpose, 2, false},
	{grow_slice, 2, false},
	{grow_concatenate, 2, false},
	{grow_pad, 2, false},
	{grow_reverse, 1, false},
	{grow_roll, 1, false},
	{grow_dot, 3, false},
	{grow_einsum, 2, false},
	{grow_reduce, 2, false},
	{grow_cumsum, 1, false},
	{grow_take, 2, false},
	{grow_scatter_add, 2, false},
	{grow_lookup, 2, false},
	{grow_scatter_pairs, 2, false},
	{grow_grouped, 2, false},
	{grow_dynamic_slice, 2, false},
	{grow_dynamic_update_slice, 2, false},
	{grow_sort, 2, false},
	{grow_call, 3, true},
	{grow_ruled, 1, true},
	{grow_branch, 3, true},
	{grow_loop, 5, true},
	{grow_grad, 2, true},
	{grow_region, 6, true},
	{grow_psum, 2, false},
	{grow_all_gather, 2, false},
	{grow_psum_scatter, 2, false},
	{grow_all_to_all, 2, false},
	{grow_ppermute, 2, false},
	{grow_axis_index, 1, false},
};
enum { NWAYS = sizeof ways / sizeof ways[0] };
static int made[NWAYS];

static void
grow(Scope *s, int n)
{
	int all = 0;

	for (int w = 0; w < NWAYS; w++)
		all += ways[w].often;
	for (int i = 0; i < n; i++) {
		int at = below(all), w = 0;
		while ((at -= ways[w].often) >= 0)
			w++;
		if (ways[w].nests && s->depth >= MAX_DEPTH)
			continue;
		Value *v = ways[w].grow(s);
		made[w] += v != NULL;
		add_value(s, v);
	}
}

enum { MAX_INPUTS = 4, MAX_OUTPUTS = 2 };

typedef struct Program {
	Session *session;
	Module *module;
	int ninputs, noutputs;
	int wrt[MAX_INPUTS], nwrt;
} Program;

/* The function, as a composite that is called, or differentiated: then the inputs are x
   and cotangents, the outputs those of the function and gradients. */
static Program
program(uint64_t seed, bool differentiated)
{
	Program p = {.session = session_new()};
	Module *m = p.module = module_new(p.session, "random");
	Value *results[MAX_OUTPUTS + MAX_INPUTS];

	random_state = seed;
	m->mesh.naxes = 2;
	m->mesh.axes[0] = (MeshAxis){.name = "X", .size = 2};
	m->mesh.axes[1] = (MeshAxis){.name = "Y", .size = 2 + below(2)};
	m->mesh.ndevices = 2 * m->mesh.axes[1].size;
	p.ninputs = 1 + below(MAX_INPUTS);
	p.noutputs = 1 + below(MAX_OUTPUTS);
	for (int i = 0; i < p.ninputs; i++) {
		Type t = random_type();
		block_add_param(m->entry, "x", &t)->placement = placement_none(t.rank);
		if (i == 0 || below(4))
			p.wrt[p.nwrt++] = i;
	}
	Scope s = {.k = {.module = m, .block = m->entry, .label = "random"}};
	Op *op = begin_closed(&s, differentiated ? O_grad : O_call, 1, p.ninputs,
		m->entry->params);
	op->composite = differentiated ? NULL : "function";
	Block *body = op->bodies[0];
	add_params(body, p.ninputs, m->entry->params);
	Scope in = inside(&s, body, 0);
	grow(&in, 3 + below(3 * WANTED));
	int n = 0, first = in.n > 3 ? in.n - 3 : 0;
	while (n < p.noutputs)
		results[n++] = in.v[first + below(in.n - first)];
	for (int i = 0; differentiated && i < p.noutputs; i++) {
		const Type *t = &results[i]->type;
		Value *u = block_add_param(m->entry, "u", t);
		u->placement = placement_none(t->rank);
		op_add_operand(op, u);
		block_add_param(body, "d", t);
	}
	for (int i = 0; differentiated && i < p.nwrt; i++)
		results[n++] = body->params[p.wrt[i]];
	op_set_ints(op, A_cotangents, p.noutputs, (int64_t[]){0, 1});
	op_set_int(op, A_gradients, p.nwrt);
	make_return(body, n, results, s.k.range, "return");
	end_closed(&s, op, n, results);
	make_return(m->entry, n, op->results, s.k.range, "return");
	m->nresults = n;
	m->results = NEW_ARRAY(m->arena, Named, n);
	for (int i = 0; i < n; i++)
		m->results[i] = (Named){.name = "out", .value = op->results[i]};
	return p;
}

/* ---- the comparison ------ */

static Tensor
random_tensor(const Type *type)
{
	Tensor t;

	if (!tensor_new(type, &t))
		exit(2);
	for (int64_t i = 0; i < type_elements(type); i++)
		((uint64_t *)t.data)[i] = draw() | (uint64_t)(below(4) > 0);
	return t;
}

static uint64_t
inner_product(const Tensor *a, const Tensor *b)
{
	const uint64_t *x = a->data, *y = b->data;
	uint64_t sum = 0;

	for (int64_t i = 0; i < type_elements(&a->type); i++)
		sum += x[i] * y[i];
	return sum;
}

/* The operation, of each element. */
static void
add_scaled(Tensor *to, uint64_t by, const Tensor *from)
{
	for (int64_t i = 0; i < type_elements(&to->type); i++)
		((uint64_t *)to->data)[i] += by * ((const uint64_t *)from->data)[i];
}

typedef struct Runs {
	Tensor x[MAX_INPUTS + MAX_OUTPUTS], v[MAX_INPUTS]; /* x, then u */
	Tensor y[MAX_OUTPUTS], moved[MAX_OUTPUTS];	   /* f(x), f(x + e v) */
	Tensor gave[MAX_OUTPUTS + MAX_INPUTS];		   /* f(x), gradients */
} Runs;

static int alive; /* programs whose gradients are not all zero */

static const char *
compare_runs(const Program *p, Runs *r)
{
	uint64_t says = 0, does = 0;

	for (int i = 0; i < p->noutputs; i++) {
		size_t bytes = (size_t)type_elements(&r->y[i].type) * 8;
		if (memcmp(r->y[i].data, r->gave[i].data, bytes))
			return "the result is another when it is differentiated";
		add_scaled(&r->moved[i], UINT64_MAX, &r->y[i]);
		does += inner_product(&r->x[p->ninputs + i], &r->moved[i]);
	}
	for (int i = 0; i < p->nwrt; i++)
		says += inner_product(&r->gave[p->noutputs + i], &r->v[i]);
	alive += (uint32_t)says != 0;
	return (uint32_t)(does >> 32) == (uint32_t)says && !(uint32_t)does
		? NULL
		: "the gradient is not that of the function";
}

/* NULL: right; else what is wrong. */
static const char *
run_both(Program *plain, Program *gradient)
{
	Runs r = {0};
	const Block *entry = gradient->module->entry;
	const char *wrong = NULL;

	for (int i = 0; i < entry->nparams; i++)
		r.x[i] = random_tensor(&entry->params[i]->type);
	bool done = eval_global(gradient->module, r.x, r.gave)
		&& eval_global(plain->module, r.x, r.y);
	for (int i = 0; i < plain->nwrt; i++) {
		r.v[i] = random_tensor(&entry->params[plain->wrt[i]]->type);
		add_scaled(&r.x[plain->wrt[i]], (uint64_t)1 << 32, &r.v[i]);
	}
	done = done && eval_global(plain->module, r.x, r.moved);
	wrong = done ? compare_runs(plain, &r) : "it does not run";
	Tensor *all = (Tensor *)&r;
	for (size_t i = 0; i < sizeof r / sizeof *all; i++)
		tensor_free(&all[i]);
	return wrong;
}

static bool
test_program(uint64_t seed, int number, bool show)
{
	uint64_t of = seed * 1000003 + (uint64_t)number;
	Program plain = program(of, false), gradient = program(of, true);
	const char *wrong = NULL;
	FILE *scratch = fopen("/dev/null", "w");
	Text t = {0};

	if (!module_differentiate_ring(plain.module)
		|| !module_differentiate_ring(gradient.module))
		wrong = "it is refused";
	else if (!module_verify(gradient.module, scratch))
		wrong = "what comes of it is no program";
	else
		wrong = run_both(&plain, &gradient);
	if (wrong)
		printf("# program %d of seed %" PRIu64 ": %s\n", number, seed, wrong);
	if (show) {
		module_print(plain.module, &t);
		module_print(gradient.module, &t);
	}
	if (t.n)
		fputs(t.s, stdout);
	fclose(scratch);
	text_free(&t);
	session_free(plain.session);
	session_free(gradient.session);
	return !wrong;
}

int
main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	int count = argc > 2 ? atoi(argv[2]) : 250, failures = 0, missing = 0;
	int first = argc > 3 ? atoi(argv[3]) : 0;

	for (int i = first; i < first + count && failures < 5; i++)
		failures += !test_program(seed, i, count == 1);
	printf("%s 1 - gradients of %d programs of seed %" PRIu64 "\n",
		failures ? "not ok" : "ok", count, seed);
	for (int w = 0; w < NWAYS; w++)
		missing += !made[w];
	printf("%s 2 - with every kind of op\n", missing ? "not ok" : "ok");
	printf("%s 3 - %d have a gradient that is not zero\n",
		alive > count / 2 ? "ok" : "not ok", alive);
	printf("1..3\n");
	return failures || missing || alive <= count / 2;
}

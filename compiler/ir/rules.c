/*
 * rules.c - every op described once, as an einsum over factors.
 *
 *   dot  A[i,k] B[k,j] -> C[i,j]     ([i,k],[k,j])->([i,j]) reduction={k}
 *   reshape [8,4] -> [32]            ([i,j])->([ij])
 *
 * A rule function is a row's `rule` column in ops.def.  Tensors are the
 * operands, then the results.  Everything that asks "how may this op be
 * split" (propagation, partitioning, verification, local shapes) reads rules
 * and nothing else.
 */
#include <string.h>
#include "ir/ir.h"
#include "ir/rules.h"

/* ---- making rules ----------------------------------------------------- */

int
rule_factor(Rule *r, int64_t size, FactorKind kind)
{
	Factor f = {.size = size, .kind = kind};

	APPEND(r->arena, r->factors, r->nfactors, f);
	return r->nfactors - 1;
}

/* A rule function may be wrong about its op. */
static DimFactors *
dim_of(const Rule *r, int tensor, int dim)
{
	if (tensor < 0 || tensor >= r->ntensors || dim < 0 || dim >= r->rank[tensor])
		die("the rule of %s: tensor %d has no dim %d", ops[r->kind].name, tensor, dim);
	return &r->dims[tensor][dim];
}

void
rule_place(Rule *r, int tensor, int dim, int factor)
{
	DimFactors *d = dim_of(r, tensor, dim);

	if (d->n == MAX_RANK)
		die("a dim of more than %d factors", MAX_RANK);
	d->f[d->n++] = (int16_t)factor;
}

static const Type *
tensor_type(const Op *op, int tensor)
{
	return &rule_tensor(op, tensor)->type;
}

Value *
rule_tensor(const Op *op, int tensor)
{
	return tensor < op->noperands ? op->operands[tensor]
				      : op->results[tensor - op->noperands];
}

/* A fresh factor of some size for one dim of one tensor and, where >= 0, of a second. */
static void
link_sized(Rule *r, FactorKind kind, int64_t size, int tensor, int dim, int other,
	int other_dim)
{
	int f = rule_factor(r, size, kind);

	rule_place(r, tensor, dim, f);
	if (other >= 0)
		rule_place(r, other, other_dim, f);
}

/* ... of the size of the first. */
static void
link_dims(Rule *r, FactorKind kind, int tensor, int dim, int other, int other_dim)
{
	link_sized(r, kind, dim_of(r, tensor, dim)->size, tensor, dim, other, other_dim);
}

void
rule_leaf(Rule *r, const Op *op)
{
	(void)op;
	for (int d = 0; d < r->rank[0]; d++)
		link_dims(r, F_pass, 0, d, -1, 0);
}

/* Equal shapes; scalar operands of select and clamp have no dims; some are to be whole. */
void
rule_pointwise(Rule *r, const Op *op)
{
	int result = op->noperands;
	const Type *type = tensor_type(op, result);

	for (int d = 0; d < type->rank; d++) {
		bool whole = ints_contain(op_ints(op, A_whole), d);
		int f = rule_factor(r, type->dims[d], whole ? F_replicate : F_pass);
		r->factors[f].blocked = whole;
		for (int i = 0; i <= result; i++)
			if (tensor_type(op, i)->rank == type->rank)
				rule_place(r, i, d, f);
	}
}

void
rule_broadcast(Rule *r, const Op *op)
{
	const Ints *dims = op_ints(op, A_dims);

	for (int d = 0; d < r->rank[1]; d++) {
		int source = ints_find(dims, d);
		link_dims(r, F_pass, 1, d, source < 0 ? -1 : 0, source);
	}
}

void
rule_transpose(Rule *r, const Op *op)
{
	for (int d = 0; d < r->rank[1]; d++)
		link_dims(r, F_pass, 1, d, 0, (int)op_ints(op, A_dims)->v[d]);
}

/* One side of a reshape while its dims are peeled from the major end. */
typedef struct Peel {
	const Type *type;
	int tensor, dim;
	int64_t rest; /* of `dim`, not yet in a factor */
} Peel;

static void
peel_skip_ones(Peel *peel)
{
	while (peel->rest == 1 && peel->dim < peel->type->rank)
		if (++peel->dim < peel->type->rank)
			peel->rest = peel->type->dims[peel->dim];
}

static Peel
peel_start(const Op *op, int tensor)
{
	const Type *type = tensor_type(op, tensor);
	Peel p = {type, tensor, 0, type->rank ? type->dims[0] : 1};

	peel_skip_ones(&p);
	return p;
}

/* The rest of the dim becomes a factor nobody else has. */
static void
peel_alone(Rule *r, Peel *peel)
{
	link_sized(r, F_replicate, peel->rest, peel->tensor, peel->dim, -1, 0);
	peel->rest = 1;
	peel_skip_ones(peel);
}

/*
 * Walks both shapes from the major end.  While the elements consumed so far
 * agree, the gcd of what is left of the two dims is a digit of the linear
 * index that both have at the same place: a shared factor.  Where the two sides
 * share no boundary of digits, each gets its own factors until the products of
 * what was consumed agree again.
 *
 *   [6, 4] -> [2, 12]   ([i j, k])->([i, j k])   i 2, j 3, k 4
 *   [3, 2] -> [2, 3]    a factor for each dim
 */
void
rule_reshape(Rule *r, const Op *op)
{
	Peel in = peel_start(op, 0), out = peel_start(op, 1);

	while (in.dim < in.type->rank && out.dim < out.type->rank) {
		int64_t size = gcd_i64(in.rest, out.rest);
		int64_t in_size = in.rest, out_size = out.rest;
		if (size > 1) {
			link_sized(r, F_pass, size, 0, in.dim, 1, out.dim);
			in.rest /= size;
			out.rest /= size;
			peel_skip_ones(&in);
			peel_skip_ones(&out);
			continue;
		}
		peel_alone(r, &in);
		peel_alone(r, &out);
		while (in_size != out_size) {
			Peel *peel = in_size < out_size ? &in : &out;
			*(peel == &in ? &in_size : &out_size) *= peel->rest;
			peel_alone(r, peel);
		}
	}
}

/* A dim whose elements move: shared, so that both sides are split alike; its
   size is what both sizes divide by. */
static void
link_moved(Rule *r, const Op *op, int dim, bool moved)
{
	int64_t in = tensor_type(op, 0)->dims[dim];
	int64_t out = tensor_type(op, op->noperands)->dims[dim];

	link_sized(r, moved ? F_permute : F_pass, gcd_i64(in, out), 0, dim, op->noperands, dim);
}

/* A dim that must be whole, in another tensor too if there is one, and about
   which nothing said tells others. */
static void
link_partly(Rule *r, int tensor, int dim, int other)
{
	link_dims(r, F_replicate, tensor, dim, other, dim);
	r->factors[r->nfactors - 1].blocked = true;
}

/* Of a dim of which a part is read a device reads what is among its rows, and the
   combiner's identity for the others. */
static void
link_read(Rule *r, const Op *op, int dim)
{
	link_dims(r, F_reduce, 0, dim, -1, 0);
	r->factors[r->nfactors - 1].blocked = true;
	link_partly(r, op->noperands, dim, -1);
	r->combiner = tensor_type(op, 0)->dtype == D_pred ? C_or : C_add;
}

void
rule_slice(Rule *r, const Op *op)
{
	const Type *in = tensor_type(op, 0), *out = tensor_type(op, 1);

	for (int d = 0; d < in->rank; d++)
		if (ints_contain(op_ints(op, A_parts), d))
			link_read(r, op, d);
		else
			link_moved(r, op, d, in->dims[d] != out->dims[d]);
}

/* Shardy takes a dim that keeps its size for one whose elements stay: placements pass as
   early as there, though they move.  Not of a pad in place of ops that change the size. */
void
rule_pad(Rule *r, const Op *op)
{
	const Type *in = tensor_type(op, 0), *out = tensor_type(op, op->noperands);
	const Ints *low = op_ints(op, A_low), *high = op_ints(op, A_high);

	for (int d = 0; d < r->rank[0]; d++) {
		link_moved(r, op, d, low->v[d] || high->v[d] || op_inner(op, d));
		r->factors[r->nfactors - 1].early =
			in->dims[d] == out->dims[d] && !op_has(op, A_late);
	}
}

void
rule_reverse(Rule *r, const Op *op)
{
	const Ints *dims = op_ints(op, A_dims);

	for (int d = 0; d < r->rank[0]; d++)
		link_moved(r, op, d, ints_contain(dims, d));
}

void
rule_roll(Rule *r, const Op *op)
{
	for (int d = 0; d < r->rank[0]; d++)
		link_moved(r, op, d, d == op_int(op, A_along));
}

/*
 * x[a.., n, b..] -> [a.., p, b.., k]: where both divide, n and p are split alike, and a device
 * gets the rows that its windows show besides; k is whole; what windows do not move along
 * passes.
 */
void
rule_windows(Rule *r, const Op *op)
{
	int result = op->noperands;

	for (int d = 0; d < r->rank[0]; d++)
		link_moved(r, op, d, ints_contain(op_ints(op, A_windowed), d));
	for (int d = r->rank[0]; d < r->rank[result]; d++)
		link_dims(r, F_replicate, result, d, -1, 0);
}

void
rule_concatenate(Rule *r, const Op *op)
{
	int result = op->noperands, along = (int)op_int(op, A_dim);
	const Type *type = tensor_type(op, result);

	for (int d = 0; d < type->rank; d++) {
		int64_t size = type->dims[d];
		for (int i = 0; i < result; i++)
			size = gcd_i64(size, tensor_type(op, i)->dims[d]);
		int f = rule_factor(r, size, d == along ? F_permute : F_pass);
		for (int i = 0; i <= result; i++)
			rule_place(r, i, d, f);
	}
}

/* The dims of one operand that are neither batch nor contracted. */
static int
dot_rest(Rule *r, int operand, int result_dim, const Ints *batch, const Ints *contract)
{
	for (int d = 0; d < r->rank[operand]; d++)
		if (!ints_contain(batch, d) && !ints_contain(contract, d))
			link_dims(r, F_pass, operand, d, 2, result_dim++);
	return result_dim;
}

/* Factor order: batch, lhs rest, rhs rest, contracting. */
void
rule_dot(Rule *r, const Op *op)
{
	const Ints *lb = op_ints(op, A_lhs_batch);
	const Ints *rb = op_ints(op, A_rhs_batch);
	const Ints *lc = op_ints(op, A_lhs_contract);
	const Ints *rc = op_ints(op, A_rhs_contract);
	int result_dim = 0;

	for (int i = 0; i < lb->n; i++) {
		link_dims(r, F_pass, 0, (int)lb->v[i], 1, (int)rb->v[i]);
		rule_place(r, 2, result_dim++, r->nfactors - 1);
	}
	result_dim = dot_rest(r, 0, result_dim, lb, lc);
	dot_rest(r, 1, result_dim, rb, rc);
	for (int i = 0; i < lc->n; i++)
		link_dims(r, F_reduce, 0, (int)lc->v[i], 1, (int)rc->v[i]);
	r->combiner = C_add;
}

void
rule_reduce(Rule *r, const Op *op)
{
	const Ints *dims = op_ints(op, A_dims);
	int result_dim = 0;

	for (int d = 0; d < r->rank[0]; d++)
		if (ints_contain(dims, d))
			link_dims(r, F_reduce, 0, d, -1, 0);
		else
			link_dims(r, F_pass, 0, d, 2, result_dim++);
	r->combiner = (Combiner)op_int(op, A_combiner);
}

void
rule_cumsum(Rule *r, const Op *op)
{
	for (int d = 0; d < r->rank[0]; d++)
		link_dims(r, d == op_int(op, A_dim) ? F_replicate : F_pass, 0, d, 2, d);
}

/* Where dim d of what is looked up in is in what is found; -1: it is looked up. */
static int
found_dim(const Lookup *look, int d)
{
	return d < look->first ? d : d < look->first + look->n ? -1 : d - look->n + look->rank;
}

/*
 * x[a.., n.., b..], idx[i.., v] -> [a.., i.., b..], v only where several dims are looked up.
 * A split n is looked up where it lies: rows of other shards give the combiner's neutral; but
 * one that counts an i is split as that is.
 */
void
rule_take(Rule *r, const Op *op)
{
	Lookup look = op_lookup(op);

	for (int d = 0; d < r->rank[0]; d++)
		if (found_dim(&look, d) >= 0)
			link_dims(r, F_pass, 0, d, 2, found_dim(&look, d));
	for (int d = 0; d < look.rank; d++) {
		link_dims(r, F_pass, 1, d, 2, look.first + d);
		for (int i = 0; i < look.n; i++)
			if (look.counts[i] == d)
				rule_place(r, 0, look.first + i, r->nfactors - 1);
	}
	for (int i = 0; i < look.n; i++)
		if (look.counts[i] < 0)
			link_dims(r, F_reduce, 0, look.first + i, -1, 0);
	if (look.n > 1)
		link_dims(r, F_replicate, 1, look.rank, -1, 0);
	r->combiner = tensor_type(op, 0)->dtype == D_pred ? C_or : C_add;
}

/*
 * x[a.., n.., b..], idx[i.., v], upd[a.., i.., b..] -> [a.., n.., b..].  Splitting an
 * index dim leaves sums over some of the updates each; then x itself is
 * counted once.
 */
void
rule_scatter_add(Rule *r, const Op *op)
{
	Lookup look = op_lookup(op);
	uint32_t counted = 0; /* dims of the indices */

	for (int d = 0; d < r->rank[0]; d++) {
		link_dims(r, F_pass, 0, d, 3, d);
		int found = found_dim(&look, d);
		int counts = found < 0 ? look.counts[d - look.first] : -1;
		if (counts >= 0) {
			rule_place(r, 1, counts, r->nfactors - 1);
			counted |= 1u << counts;
			found = look.first + counts;
		}
		if (found >= 0)
			rule_place(r, 2, found, r->nfactors - 1);
	}
	for (int d = 0; d < look.rank; d++)
		if (!(counted >> d & 1))
			link_dims(r, F_reduce, 1, d, 2, look.first + d);
	if (look.n > 1)
		link_dims(r, F_replicate, 1, look.rank, -1, 0);
	r->combiner = C_add;
	r->once = 0;
}

/* The dims of groups, or rows, before which all tensors have the batch. */
static int
group_batch(Rule *r)
{
	int rows = r->rank[2] - 1;

	for (int d = 0; d < rows; d++) {
		link_dims(r, F_pass, 0, d, 1, d);
		rule_place(r, 2, d, r->nfactors - 1);
		rule_place(r, 3, d, r->nfactors - 1);
	}
	r->combiner = C_add;
	return rows;
}

/*
 * x[b.., m, k..], w[b.., g, k.., n..], group[b.., m] -> [b.., m, n..].  A device that has
 * some of the groups adds the rows of those.
 */
void
rule_grouped_dot(Rule *r, const Op *op)
{
	int rows = group_batch(r), ncontract = r->rank[0] - rows - 1;

	(void)op;
	link_dims(r, F_pass, 0, rows, 2, rows);
	rule_place(r, 3, rows, r->nfactors - 1);
	for (int d = rows + 1 + ncontract; d < r->rank[1]; d++)
		link_dims(r, F_pass, 1, d, 3, d - ncontract);
	for (int d = rows + 1; d < r->rank[0]; d++)
		link_dims(r, F_reduce, 0, d, 1, d);
	link_dims(r, F_reduce, 1, rows, -1, 0);
}

/* x[b.., m, k..], y[b.., m, n..], group[b.., m] -> [b.., g, k.., n..] */
void
rule_grouped_outer(Rule *r, const Op *op)
{
	int rows = group_batch(r);

	(void)op;
	link_dims(r, F_pass, 3, rows, -1, 0);
	for (int d = rows + 1; d < r->rank[0]; d++)
		link_dims(r, F_pass, 0, d, 3, d);
	for (int d = rows + 1; d < r->rank[1]; d++)
		link_dims(r, F_pass, 1, d, 3, r->rank[0] + d - rows - 1);
	link_dims(r, F_reduce, 0, rows, 1, rows);
	rule_place(r, 2, rows, r->nfactors - 1);
}

/* At a place not known. */
void
rule_dynamic_slice(Rule *r, const Op *op)
{
	int result = op->noperands;
	const Type *in = tensor_type(op, 0), *out = tensor_type(op, result);

	for (int d = 0; d < in->rank; d++)
		if (in->dims[d] == out->dims[d])
			link_dims(r, F_pass, 0, d, result, d);
		else
			link_read(r, op, d);
}

/* Where it is a part that is written, a device writes what is among its rows. */
void
rule_dynamic_update_slice(Rule *r, const Op *op)
{
	int result = op->noperands;
	const Type *x = tensor_type(op, 0), *update = tensor_type(op, 1);

	for (int d = 0; d < x->rank; d++) {
		link_dims(r, F_pass, 0, d, result, d);
		if (update->dims[d] == x->dims[d])
			rule_place(r, 1, d, r->nfactors - 1);
		else
			link_partly(r, 1, d, -1);
	}
}

/* A sorted dim tells where it is, so that another may be split instead when it
   has to be whole; where there is no other it says nothing. */
void
rule_sort(Rule *r, const Op *op)
{
	const Type *type = tensor_type(op, 0);
	int along = (int)op_int(op, A_dim);
	bool alone = type_elements(type) == type->dims[along];

	for (int d = 0; d < type->rank; d++) {
		int f = rule_factor(r, type->dims[d], d == along ? F_replicate : F_pass);
		r->factors[f].blocked = d == along && alone;
		for (int i = 0; i < r->ntensors; i++)
			rule_place(r, i, d, f);
	}
}

/* Devices of a group work along one dim, if along any; the others are as they
   are on each. */
void
rule_group(Rule *r, const Op *op)
{
	int along = op_has(op, A_dim) ? (int)op_int(op, A_dim) : -1;

	for (int d = 0; d < r->rank[0]; d++) {
		if (d == along) {
			link_partly(r, 0, d, -1);
			link_partly(r, 1, d, -1);
		} else {
			link_dims(r, F_pass, 0, d, 1, d);
		}
	}
	if (op_has(op, A_combiner))
		r->combiner = (Combiner)op_int(op, A_combiner);
}

/* Rows go from operand 0 to 1, any row to any: what is in them may be split. */
void
rule_ragged(Rule *r, const Op *op)
{
	int result = op->noperands;

	link_partly(r, 0, 0, -1);
	link_partly(r, 1, 0, result);
	for (int d = 1; d < r->rank[result]; d++) {
		link_dims(r, F_pass, 0, d, result, d);
		rule_place(r, 1, d, r->nfactors - 1);
	}
	for (int i = 2; i < op->noperands; i++)
		link_partly(r, i, 0, -1);
}

void
rule_blocked(Rule *r, const Op *op)
{
	(void)r;
	(void)op;
}

static RuleFunction *const rules[OP_COUNT] = {
#define OP(id, hlo, operands, attrs, types, rule, ...) [O_##id] = rule_##rule,
#include "ops.def"
#undef OP
};

const Rule *
op_rule(Arena *a, const Op *op)
{
	if (ops[op->kind].blocked)
		return NULL;
	Rule *r = NEW(a, Rule);
	r->arena = a;
	r->kind = op->kind;
	r->noperands = op->noperands;
	r->ntensors = op->noperands + op->nresults;
	r->once = -1;
	r->rank = NEW_ARRAY(a, int, r->ntensors);
	r->dims = NEW_ARRAY(a, DimFactors *, r->ntensors);
	for (int i = 0; i < r->ntensors; i++) {
		const Type *type = tensor_type(op, i);
		r->rank[i] = type->rank;
		r->dims[i] = NEW_ARRAY(a, DimFactors, type->rank + 1);
		for (int d = 0; d < type->rank; d++)
			r->dims[i][d].size = type->dims[d];
	}
	rules[op->kind](r, op);
	return r;
}

/* ---- text --------------------------------------------------------------- */

static void
text_factor(Text *t, int f)
{
	/* i j k ... z, then z_1, z_2, ... */
	if (f < 18)
		text_printf(t, "%c", 'i' + f);
	else
		text_printf(t, "z_%d", f - 17);
}

static void
text_tensors(Text *t, const Op *op, const Rule *r, int from, int to)
{
	text_add(t, "(");
	for (int i = from; i < to; i++) {
		text_add(t, i > from ? ",[" : "[");
		for (int d = 0; d < tensor_type(op, i)->rank; d++) {
			if (d)
				text_add(t, ",");
			for (int k = 0; k < r->dims[i][d].n; k++)
				text_factor(t, r->dims[i][d].f[k]);
		}
		text_add(t, "]");
	}
	text_add(t, ")");
}

static void
text_kind(Text *t, const Rule *r, FactorKind kind, const char *word)
{
	int n = 0;

	for (int f = 0; f < r->nfactors; f++) {
		if (r->factors[f].kind != kind)
			continue;
		text_add(t, n++ ? "," : " ");
		if (n == 1)
			text_printf(t, "%s={", word);
		text_factor(t, f);
	}
	if (n)
		text_add(t, "}");
}

void
text_rule(Text *t, const Op *op, const Rule *r)
{
	text_tensors(t, op, r, 0, r->noperands);
	text_add(t, "->");
	text_tensors(t, op, r, r->noperands, r->ntensors);
	text_add(t, " {");
	for (int f = 0; f < r->nfactors; f++) {
		text_add(t, f ? ", " : "");
		text_factor(t, f);
		text_printf(t, "=%lld", (long long)r->factors[f].size);
	}
	text_add(t, "}");
	text_kind(t, r, F_reduce, "reduction");
	text_kind(t, r, F_permute, "permutation");
	text_kind(t, r, F_replicate, "need_replication");
}

bool
op_trips(const Op *op, int64_t *trips)
{
	bool known = true;

	*trips = 1;
	for (const Op *owner; (owner = op->block->parent); op = owner) {
		if (owner->kind != O_while)
			continue;
		if (!op_ints(owner, A_trips)->n) {
			known = false;
			continue;
		}
		/* a condition is asked once more than the body runs */
		int64_t n = op_int(owner, A_trips);
		n += op->block == owner->bodies[0] && n < INT64_MAX;
		if (!mul_i64(*trips, n, trips))
			*trips = INT64_MAX;
	}
	return known;
}

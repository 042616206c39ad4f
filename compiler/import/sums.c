/*
 * sums.c - products, reductions, orders.
 */
#include <string.h>

#include "import/builders.h"

/* ---- products */

static void
take_dims(const Numbers *from, int *n, int64_t *to)
{
	*n = from->n;
	memcpy(to, from->v, (size_t)from->n * sizeof to[0]);
}

Value *
dot_of(Make k, Value *a, Value *b, const Numbers *lb, const Numbers *rb, const Numbers *lc,
	const Numbers *rc, DType dtype)
{
	DotDims dims;

	take_dims(lb, &dims.nbatch, dims.lhs_batch);
	take_dims(rb, &dims.nbatch, dims.rhs_batch);
	take_dims(lc, &dims.ncontract, dims.lhs_contract);
	take_dims(rc, &dims.ncontract, dims.rhs_contract);
	return make_dot(k, a, b, &dims, dtype);
}

/* Of two dtypes the wider; of booleans that of the result, or what counts the true ones. */
static DType
factor_dtype(DType a, DType b, DType result)
{
	DType wider = dtypes[a].bits >= dtypes[b].bits ? a : b;

	if (wider != D_pred)
		return wider;
	return result == D_pred ? D_i32 : result;
}

bool
import_op_dot(Import *in, const MlirOp *op, int detail)
{
	const MlirAttr *numbers = attr_of(in, op, "dot_dimension_numbers");
	Numbers lb = field_numbers(in, numbers, "lhs_batching_dimensions");
	Numbers rb = field_numbers(in, numbers, "rhs_batching_dimensions");
	Numbers lc = field_numbers(in, numbers, "lhs_contracting_dimensions");
	Numbers rc = field_numbers(in, numbers, "rhs_contracting_dimensions");
	Type type;

	(void)detail;
	if (in->noperands != 2 || !type_result(in, op, 0, &type))
		return read_wrong(in, op->range, "%s takes 2 operands", op->name);
	if (lb.n != rb.n || lc.n != rc.n)
		return read_wrong(in, op->range, "the dims of this product do not match");
	Value *a = in->operands[0], *b = in->operands[1];
	DType dtype = factor_dtype(a->type.dtype, b->type.dtype, type.dtype);
	a = make_convert(in->make, a, dtype);
	b = make_convert(in->make, b, dtype);
	if (type.dtype != D_pred) {
		in->results[0] = dot_of(in->make, a, b, &lb, &rb, &lc, &rc, type.dtype);
		return true;
	}
	Value *sum = dot_of(in->make, a, b, &lb, &rb, &lc, &rc, dtype);
	in->results[0] = sum ? compare_with(in->make, DIR_NE, sum, 0) : NULL;
	return true;
}

/* ---- regions of a few scalar ops */

/* A placement, with names of axes or in tiles? */
static bool
only_places(const MlirOp *op)
{
	bool places = !strcmp(op->name, "sdy.sharding_constraint");

	for (int i = 0; i < op->attributes.n && !places; i++) {
		const MlirEntry *entry = op->attributes.v[i];
		places = !strcmp(entry->name, "call_target_name")
			&& entry->value->kind == MLIR_string
			&& !strcmp(entry->value->text, "Sharding");
	}
	return places && op->operands.n == 1;
}

/* The op of the block that makes it, or NULL.  Explicit mode places scalars, too: `name` is
   then that of what is placed. */
static const MlirOp *
maker_of(const MlirBlock *block, const char **name)
{
	for (int i = block->ops.n - 1; i >= 0; i--) {
		const MlirOp *op = block->ops.v[i];
		if (op->results.n != 1
			|| strcmp(((const MlirUse *)op->results.v[0])->name, *name) != 0)
			continue;
		if (!only_places(op))
			return op;
		*name = ((const MlirUse *)op->operands.v[0])->name;
	}
	return NULL;
}

static const MlirOp *
operand_maker(const MlirBlock *block, const MlirOp *op, int i)
{
	const MlirUse *use = i < op->operands.n ? op->operands.v[i] : NULL;
	const char *name = use ? use->name : "";

	return maker_of(block, &name);
}

/* Is operand i of the op parameter k of the block, or that with its zeros and NaNs made
   alike: the last operand of selects? */
static bool
reads_param(const MlirBlock *block, const MlirOp *op, int i, int k)
{
	enum { MOST = 8 };
	const MlirUse *use = i < op->operands.n ? op->operands.v[i] : NULL;
	const MlirParam *param = k < block->params.n ? block->params.v[k] : NULL;

	for (int hops = 0; use && param && param->name && hops < MOST; hops++) {
		const char *name = use->name;
		const MlirOp *from = maker_of(block, &name);
		if (!strcmp(name, param->name))
			return true;
		bool select = from && !strcmp(from->name, "stablehlo.select");
		use = select && from->operands.n == 3 ? from->operands.v[2] : NULL;
	}
	return false;
}

/* ---- reductions */

static const struct Step {
	const char *op;
	Combiner combiner, of_pred;
} steps[] = {
	{"stablehlo.add", C_add, C_or},
	{"stablehlo.maximum", C_max, C_or},
	{"stablehlo.minimum", C_min, C_and},
	{"stablehlo.multiply", C_mul, C_and},
	{"stablehlo.and", C_and, C_and},
	{"stablehlo.or", C_or, C_or},
};

const MlirOp *
region_step(const MlirOp *op, int region)
{
	bool there = region >= 0 && region < op->regions.n;
	const MlirBlock *block = there ? op->regions.v[region] : NULL;
	const MlirOp *only = NULL;

	for (int i = 0; block && i + 1 < block->ops.n; i++) {
		const MlirOp *step = block->ops.v[i];
		if (only_places(step))
			continue;
		if (only)
			return NULL;
		only = step;
	}
	return only && reads_param(block, only, 0, 0) && reads_param(block, only, 1, 1) ? only
											: NULL;
}

bool
region_combiner(Import *in, const MlirOp *op, Combiner *combiner)
{
	const MlirOp *step = region_step(op, op->regions.n - 1);
	bool pred = in->noperands > 0 && in->operands[0]->type.dtype == D_pred;

	for (size_t i = 0; step && i < sizeof steps / sizeof *steps; i++) {
		if (strcmp(steps[i].op, step->name))
			continue;
		*combiner = pred ? steps[i].of_pred : steps[i].combiner;
		return in->noperands > 0
			&& combiner_takes(*combiner, in->operands[0]->type.dtype);
	}
	return false;
}

/* Is the body that of argmax, or argmin, as JAX writes it?  a is taken before b if it is
   larger or NaN, or equal and of the lesser index. */
static bool
picks_first(Import *in, const MlirOp *op, Combiner *combiner)
{
	static const char *const body[] = {"compare", "compare", "or", "compare", "compare",
		"and", "or", "select", "select"};
	static const char *const directions[] = {"", "NE", "", "EQ", "LT"};
	const MlirBlock *block = op->regions.n == 1 ? op->regions.v[0] : NULL;
	size_t n = 0;

	for (int i = 0; block && i + 1 < block->ops.n; i++) {
		const MlirOp *step = block->ops.v[i];
		const char *dot = strchr(step->name, '.');
		if (only_places(step))
			continue;
		if (n == sizeof body / sizeof *body || !dot || strcmp(dot + 1, body[n]))
			return false;
		const char *word = word_of(in, step, "comparison_direction");
		if (n == 0)
			*combiner = !strcmp(word, "GT") ? C_max : C_min;
		if (n == 0 ? strcmp(word, "GT") && strcmp(word, "LT")
			   : n < 5 && strcmp(word, directions[n]))
			return false;
		n++;
	}
	return n == sizeof body / sizeof *body;
}

/* The first index of the largest, or smallest: where x is that, the least iota. */
static void
reduce_arguments(Import *in, Combiner c, int dim)
{
	Value *x = in->operands[0], *index = in->operands[1];
	int64_t rest[MAX_RANK], along = dim;
	int n = 0;

	for (int d = 0; d < x->type.rank; d++)
		if (d != dim)
			rest[n++] = d;
	Value *best = make_reduce(in->make, c, x, 1, &along);
	Value *hit = make_compare(in->make, DIR_EQ, x,
		make_broadcast(in->make, best, &x->type, rest));
	if (dtype_is_float(x->type.dtype)) /* NaN is the largest, and the smallest */
		hit = make_binary(in->make, O_or, hit, make_compare(in->make, DIR_NE, x, x));
	Value *end = make_full(in->make, &index->type, index->type.dims[dim]);
	in->results[0] = best;
	in->results[1] =
		make_reduce(in->make, C_min, make_select(in->make, hit, index, end), 1, &along);
}

bool
is_identity(const Value *init, Combiner c)
{
	return init->def && init->def->kind == O_constant && !init->type.rank
		&& op_int(init->def, A_value) == combiner_identity(c, init->type.dtype);
}

/* Tensors of one shape, over dims of it, each from a scalar on, by a region that lifts? */
static bool
reduces_alike(Import *in, const MlirOp *op, const Numbers *dims)
{
	int n = in->noperands / 2;
	bool alike = n > 0 && in->noperands == 2 * n && op->types.n == n;

	for (int i = 0; alike && i < n; i++) {
		const Type *type = &in->operands[i]->type, *init = &in->operands[n + i]->type;
		const Type *first = &in->operands[0]->type;
		Type same = type_of(type->dtype, first->rank, first->dims);
		alike = type_equal(type, &same) && !init->rank && init->dtype == type->dtype;
	}
	for (int i = 0; alike && i < dims->n; i++)
		alike = dims->v[i] >= 0 && dims->v[i] < in->operands[0]->type.rank;
	return alike && region_lifts(in, op, n);
}

bool
import_op_reduce(Import *in, const MlirOp *op, int detail)
{
	Numbers dims = numbers_of(in, op, "dimensions");
	Combiner c;

	(void)detail;
	for (int i = in->noperands / 2; i < in->noperands; i++)
		if (in->operands[i]->type.rank)
			return read_wrong(in, op->range, "a reduction begins with scalars");
	if (in->noperands == 2 && region_combiner(in, op, &c)) {
		Value *v = make_reduce(in->make, c, in->operands[0], dims.n, dims.v);
		Value *init = in->operands[1];
		if (v && !is_identity(init, c))
			v = make_combine(in->make, c, v, make_splat(in->make, init, &v->type));
		in->results[0] = v;
		return true;
	}
	if (in->noperands == 4 && op->types.n == 2 && dims.n == 1 && dims.v[0] >= 0
		&& dims.v[0] < in->operands[0]->type.rank && picks_first(in, op, &c)
		&& dtype_is_integer(in->operands[1]->type.dtype)
		&& in->operands[1]->type.rank == in->operands[0]->type.rank) {
		reduce_arguments(in, c, (int)dims.v[0]);
		return true;
	}
	if (reduces_alike(in, op, &dims))
		return reduce_lifted(in, op, &dims);
	return read_opaque(in, op, "stablehlo.reduce of a region of its own");
}

/* ---- orders */

/* Of n tensors, by the first; results[] are set. */
static void
sort_by_first(Import *in, int n, Value **x, int dim, Direction direction, Value **results)
{
	Op *sort = make_begin(in->make, O_sort, n, x);

	if (!sort)
		return;
	op_set_int(sort, A_dim, dim);
	op_set_int(sort, A_direction, direction);
	for (int i = 1; i < n; i++)
		op_add_result(sort, sort->results[0]->name, &x[i]->type);
	make_end(in->make, sort);
	for (int i = 0; i < n; i++)
		results[i] = sort->results[i];
}

typedef struct SortKey {
	int operand;
	Direction direction;
} SortKey;

/* Of which operand does it compare the two elements, in one of these directions? */
static bool
compares(Import *in, const MlirBlock *block, const MlirOp *op, const char *words, SortKey *key)
{
	const char *word = op && !strcmp(op->name, "stablehlo.compare")
		? word_of(in, op, "comparison_direction")
		: "";

	if (strlen(word) != 2 || !strstr(words, word))
		return false;
	for (int i = 0; 2 * i + 1 < block->params.n; i++)
		if (reads_param(block, op, 0, 2 * i) && reads_param(block, op, 1, 2 * i + 1)) {
			*key = (SortKey){i, word[0] == 'L' ? DIR_LT : DIR_GT};
			return true;
		}
	return false;
}

/* How many keys the order has: x0 < y0 or (x0 = y0 and (x1 < y1 or ...)); 0: another one. */
static int
find_keys(Import *in, const MlirOp *op, SortKey *keys, int most)
{
	const MlirBlock *block = op->regions.n == 1 ? op->regions.v[0] : NULL;
	const MlirOp *step = block && block->ops.n
		? operand_maker(block, block->ops.v[block->ops.n - 1], 0)
		: NULL;
	SortKey same;

	for (int n = 0; n < most && step; n++) {
		if (compares(in, block, step, "LT GT", &keys[n]))
			return n + 1;
		if (strcmp(step->name, "stablehlo.or") != 0)
			return 0;
		const MlirOp *equal = operand_maker(block, step, 1);
		if (!compares(in, block, operand_maker(block, step, 0), "LT GT", &keys[n])
			|| !equal || strcmp(equal->name, "stablehlo.and") != 0
			|| !compares(in, block, operand_maker(block, equal, 0), "EQ", &same)
			|| same.operand != keys[n].operand)
			return 0;
		step = operand_maker(block, equal, 1);
	}
	return 0;
}

/* By the last key first: what is equal in a later sort stays in its order. */
bool
import_op_sort(Import *in, const MlirOp *op, int detail)
{
	enum { MOST_KEYS = 16 };
	int64_t dim = integer_of(in, op, "dimension", -1);
	SortKey keys[MOST_KEYS];
	int n = in->noperands, nkeys = find_keys(in, op, keys, MOST_KEYS);

	(void)detail;
	if (n < 1 || nkeys < 1 || keys[0].operand >= n || dim < 0 || op->types.n != n)
		return read_opaque(in, op, "stablehlo.sort in an order of its own");
	Value **x = NEW_ARRAY(in->arena, Value *, n),
	      **sorted = NEW_ARRAY(in->arena, Value *, n);
	memcpy(in->results, in->operands, (size_t)n * sizeof x[0]);
	for (int i = nkeys - 1; i >= 0; i--) {
		int key = keys[i].operand;
		if (key >= n)
			return read_opaque(in, op, "stablehlo.sort in an order of its own");
		memcpy(x, in->results, (size_t)n * sizeof x[0]);
		x[0] = in->results[key];
		x[key] = in->results[0];
		sort_by_first(in, n, x, (int)dim, keys[i].direction, sorted);
		memcpy(in->results, sorted, (size_t)n * sizeof x[0]);
		in->results[0] = sorted[key];
		in->results[key] = sorted[0];
		if (!in->results[0])
			return false;
	}
	return true;
}

/* The first k along a dim, and what stands at the same places of `index`. */
static void
keep_first(Import *in, Value *x, Value *index, int dim, int64_t k, Direction direction)
{
	Value *sorted[2] = {NULL, NULL};

	sort_by_first(in, 2, (Value *[]){x, index}, dim, direction, sorted);
	for (int i = 0; i < 2; i++)
		in->results[i] = make_slice_dim(in->make, sorted[i], dim, 0, k, 1);
}

/* An approximation that misses nothing. */
bool
import_op_approx_top_k(Import *in, const MlirOp *op, int detail)
{
	const MlirAttr *config = attr_of(in, op, "mhlo.backend_config");
	const MlirAttr *called = attr_of(in, op, "called_computations");
	const MlirAttr *name = called && called->kind == MLIR_list && called->items.n == 1
		? called->items.v[0]
		: NULL;
	const MlirOp *order = name && name->text ? table_get(in->functions, name->text) : NULL;
	List says = config && config->kind == MLIR_dict ? config->items : (List){0};
	const MlirAttr *dim = mlir_attribute(in->program, says, "reduction_dim");
	const MlirAttr *k = mlir_attribute(in->program, says, "top_k");
	const MlirAttr *whole = mlir_attribute(in->program, says, "aggregate_to_topk");
	SortKey key = {-1, DIR_LT};

	(void)detail;
	if (order)
		find_keys(in, order, &key, 1);
	if (in->noperands != 4 || op->types.n != 2 || key.operand != 0 || !dim || !k || !whole
		|| !whole->text || strcmp(whole->text, "true") || dim->integer < 0
		|| dim->integer >= in->operands[0]->type.rank)
		return read_opaque(in, op, NULL);
	keep_first(in, in->operands[0], in->operands[1], (int)dim->integer, k->integer,
		key.direction);
	return true;
}

bool
import_op_top_k(Import *in, const MlirOp *op, int detail)
{
	int64_t k = integer_of(in, op, "k", 0);

	(void)detail;
	if (in->noperands != 1 || in->operands[0]->type.rank < 1 || op->types.n != 2)
		return read_wrong(in, op->range, "%s takes 1 operand", op->name);
	Type index = in->operands[0]->type;
	int last = index.rank - 1;
	index.dtype = D_i32;
	Value *iota = make_iota(in->make, &index, last);
	keep_first(in, in->operands[0], iota, last, k, DIR_GT);
	return true;
}

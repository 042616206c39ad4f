/*
 * verify.c - names and types of a program, before anything is made of it.
 *
 *   %0 = stablehlo.add %x, %y : tensor<8xf32>    %0 is new; %x and %y are defined above, and
 *                                                of the types that the op says they have
 *
 * What each op may say beside is in verify.def.
 */
#include <string.h>

#include "import/verify.h"

/* The values of a name. */
typedef struct Typed {
	int n;
	void *const *types; /* const MlirType */
} Typed;

/* A block; regions see what is around them. */
typedef struct Names {
	const MlirOp *owner; /* of the region */
	Table *values;	     /* Typed */
	const struct Names *outer;
} Names;

static bool
verify_block(Import *in, const MlirOp *owner, const MlirBlock *block, const Names *outer);

/* ---- types */

bool
mlir_shapes_equal(const MlirType *a, const MlirType *b)
{
	return a->tensor == b->tensor && a->rank == b->rank
		&& !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof a->dims[0]);
}

bool
mlir_types_equal(const MlirType *a, const MlirType *b)
{
	return a == b || (mlir_shapes_equal(a, b) && !strcmp(a->element, b->element));
}

const char *
mlir_type_text(Arena *a, const MlirType *type)
{
	Text t = {0};

	if (type->tensor)
		text_add(&t, "tensor<");
	for (int d = 0; d < type->rank; d++)
		text_printf(&t, "%lldx", (long long)type->dims[d]);
	text_printf(&t, "%.40s%s", type->element, type->tensor ? ">" : "");
	return text_take(&t, a);
}

/* Of a dtype that there is; tokens, and tensors without elements, are taken out later. */
static bool
is_known(Import *in, const MlirOp *op, const MlirType *type)
{
	Type read;

	for (int d = 0; d < type->rank; d++)
		if (type->dims[d] == 0)
			return true;
	return type_is_nothing(type) || type_read(in, op, type, &read);
}

/* ---- names */

static const Typed *
find_name(const Names *names, const char *name)
{
	const Typed *found = NULL;

	for (; names && !found; names = names->outer)
		found = table_get(names->values, name);
	return found;
}

/* No name stands for two things where both are seen. */
static bool
add_name(Import *in, const Names *names, const char *name, Range where, int n,
	void *const *types)
{
	Typed *typed = NEW(in->arena, Typed);

	if (find_name(names, name))
		return read_wrong(in, where, "%%%.40s is defined twice", name);
	*typed = (Typed){n, types};
	table_set(names->values, name, typed);
	return true;
}

static bool
add_params(Import *in, const MlirOp *owner, const MlirBlock *block, const Names *names)
{
	for (int i = 0; i < block->params.n; i++) {
		const MlirParam *param = block->params.v[i];
		void **type = arena_copy(in->arena, &param->type, sizeof param->type);
		if (!is_known(in, owner, param->type)
			|| (param->name
				&& !add_name(in, names, param->name, param->range, 1, type)))
			return false;
	}
	return true;
}

static bool
add_results(Import *in, const MlirOp *op, const Names *names)
{
	int n = 0;

	for (int i = 0; i < op->types.n; i++)
		if (!is_known(in, op, op->types.v[i]))
			return false;
	for (int i = 0; i < op->results.n; i++) {
		const MlirUse *use = op->results.v[i];
		if (!add_name(in, names, use->name, use->range, use->number, op->types.v + n))
			return false;
		n += use->number;
	}
	return true;
}

/* The types that the operands have, which are those that the op says of them. */
static bool
find_operands(Verified *vd, const Names *names)
{
	const MlirOp *op = vd->op;
	Import *in = vd->in;

	vd->noperands = op->operands.n;
	vd->operands = NEW_ARRAY(in->arena, const MlirType *, op->operands.n + 1);
	for (int i = 0; i < op->operands.n; i++) {
		const MlirUse *use = op->operands.v[i];
		const Typed *typed = find_name(names, use->name);
		if (!typed || use->number >= typed->n)
			return read_wrong(in, use->range, "no value %%%.40s is defined here",
				use->name);
		vd->operands[i] = typed->types[use->number];
	}
	if (op->from.n && op->from.n != op->operands.n)
		return read_wrong(in, op->range, "%s has %d operands, and types of %d",
			op->name, op->operands.n, op->from.n);
	for (int i = 0; i < op->from.n; i++) {
		const MlirUse *use = op->operands.v[i];
		if (!mlir_types_equal(vd->operands[i], op->from.v[i]))
			return read_wrong(in, use->range, "%%%.40s is a %s, not a %s",
				use->name, mlir_type_text(in->arena, vd->operands[i]),
				mlir_type_text(in->arena, op->from.v[i]));
	}
	return true;
}

/* ---- what regions are handed and return */

/* `what` are these types; false after a message. */
static bool
are_types(Import *in, Range where, const char *what, int n, void *const *types, int nfound,
	void *const *found)
{
	if (n != nfound)
		return read_wrong(in, where, "%s: %d values, not %d", what, nfound, n);
	for (int i = 0; i < n; i++)
		if (!mlir_types_equal(types[i], found[i]))
			return read_wrong(in, where, "%s: value %d is a %s, not a %s", what,
				i + 1, mlir_type_text(in->arena, found[i]),
				mlir_type_text(in->arena, types[i]));
	return true;
}

static List
param_types(Import *in, const MlirBlock *block)
{
	List types = {0};

	for (int i = 0; i < block->params.n; i++)
		APPEND(in->arena, types.v, types.n,
			(void *)((const MlirParam *)block->params.v[i])->type);
	return types;
}

static const MlirAttr *
function_type(Import *in, const MlirOp *function)
{
	const MlirAttr *type = attr_of(in, function, "function_type");

	return type && type->kind == MLIR_function ? type : NULL;
}

/* A call has the types of its function. */
static bool
verify_call(const Verified *vd)
{
	Import *in = vd->in;
	const MlirOp *op = vd->op;
	const MlirOp *function = table_get(in->functions, word_of(in, op, "callee"));
	const MlirAttr *type = function ? function_type(in, function) : NULL;

	if (function)
		table_add(in->called, word_of(in, op, "callee"), (void *)function);
	return !type
		|| (are_types(in, op->range, "what this call hands over", type->ids.n,
			    type->ids.v, vd->noperands, (void *const *)vd->operands)
			&& are_types(in, op->range, "what this call returns", type->items.n,
				type->items.v, op->types.n, op->types.v));
}

/* What is carried has one type from operand to result. */
static bool
verify_loop(const Verified *vd)
{
	Import *in = vd->in;
	const MlirOp *op = vd->op;

	if (op->regions.n != 2)
		return read_wrong(in, op->range, "a loop has a condition and a body");
	for (int i = 0; i < 2; i++) {
		List params = param_types(in, op->regions.v[i]);
		if (!are_types(in, op->range, "what this loop begins with", params.n, params.v,
			    vd->noperands, (void *const *)vd->operands))
			return false;
	}
	return are_types(in, op->range, "what this loop leaves", vd->noperands,
		(void *const *)vd->operands, op->types.n, op->types.v);
}

/* What the region that the block is in has to return; -1: anything. */
static int
returned_types(Import *in, const MlirOp *owner, const MlirBlock *block, void *const **types)
{
	static const MlirType yes = {.element = "i1", .tensor = true};
	static void *const condition[] = {(void *)&yes};
	const MlirAttr *type = function_type(in, owner);
	List params;

	if (!strcmp(owner->name, "func.func") && type) {
		*types = type->items.v;
		return type->items.n;
	}
	if (!strcmp(owner->name, "stablehlo.while")) {
		bool first = owner->regions.v[0] == block;
		params = param_types(in, block);
		*types = first ? condition : params.v;
		return first ? 1 : params.n;
	}
	if (!strcmp(owner->name, "stablehlo.case") || !strcmp(owner->name, "stablehlo.if")) {
		*types = owner->types.v;
		return owner->types.n;
	}
	return -1;
}

static bool
verify_return(const Verified *vd, const MlirOp *owner, const MlirBlock *block)
{
	void *const *types = NULL;
	int n = returned_types(vd->in, owner, block, &types);

	return n < 0
		|| are_types(vd->in, vd->op->range, "what this returns", n, types,
			vd->noperands, (void *const *)vd->operands);
}

/* ---- the walk */

static bool
verify_one(Import *in, const MlirOp *op, const MlirOp *owner, const MlirBlock *block,
	const Names *names)
{
	Verified vd = {.in = in, .op = op};

	if (!find_operands(&vd, names) || (!strcmp(op->name, "func.call") && !verify_call(&vd))
		|| (!strcmp(op->name, "stablehlo.while") && !verify_loop(&vd))
		|| (ends_block(op) && !verify_return(&vd, owner, block)))
		return false;
	for (int i = 0; i < op->regions.n; i++)
		if (!verify_block(in, op, op->regions.v[i], names))
			return false;
	return verify_op(&vd) && add_results(in, op, names);
}

static bool
verify_block(Import *in, const MlirOp *owner, const MlirBlock *block, const Names *outer)
{
	Names names = {owner, table_new(in->arena), outer};

	if (!add_params(in, owner, block, &names))
		return false;
	for (int i = 0; i < block->ops.n; i++) {
		const MlirOp *op = block->ops.v[i];
		bool last = i == block->ops.n - 1;
		if (ends_block(op) != last)
			return read_wrong(in, op->range, "%s",
				last ? "this block does not end with what it returns"
				     : "something stands behind what is returned");
		if (!verify_one(in, op, owner, block, &names))
			return false;
	}
	return block->ops.n > 0 || read_wrong(in, block->range, "this block returns nothing");
}

/* A function has the parameters of its type. */
static bool
verify_function(Import *in, const MlirOp *function)
{
	const MlirBlock *block = function->regions.v[0];
	const MlirAttr *type = function_type(in, function);
	List params = param_types(in, block);

	return (!type
		       || are_types(in, function->range, "what this function is handed",
			       type->ids.n, type->ids.v, params.n, params.v))
		&& verify_block(in, function, block, NULL);
}

bool
program_is_sound(Import *in)
{
	const MlirOp *entry = table_get(in->functions, "main");

	in->called = table_new(in->arena);
	if (entry) /* else that is told where it is read */
		table_add(in->called, "main", (void *)entry);
	for (int i = 0; i < table_count(in->called); i++)
		if (!verify_function(in, table_value(in->called, i)))
			return false;
	return true;
}

/*
 * control.c - calls, loops, branches.
 *
 *   %1:2 = stablehlo.while(%i = %c, %x = %0) cond { %i < 5 } do { ..., %i + 1 }
 *
 * Functions are inlined.  A body of the IR sees nothing of what is around it: what a
 * region reads of that, it is handed.
 */
#include <string.h>

#include "import/builders.h"

/* ---- calls */

static const MlirOp *
function_of(Import *in, const MlirOp *op)
{
	const char *name = word_of(in, op, "callee");
	const MlirOp *function = table_get(in->functions, name);
	const MlirBlock *body = function ? function->regions.v[0] : NULL;

	if (!function)
		read_wrong(in, op->range, "there is no function @%s", name);
	else if (body->params.n != in->noperands)
		read_wrong(in, op->range, "@%s takes %d operands, not %d", name, body->params.n,
			in->noperands);
	else
		return function;
	return NULL;
}

bool
import_op_call(Import *in, const MlirOp *op, int detail)
{
	const MlirOp *function = function_of(in, op);
	Scope *scope = in->scope, own = {table_new(in->arena), NULL};
	const Caller *caller = in->caller;
	Caller here = {op->place, caller};
	int n = 0;

	(void)detail;
	if (!function)
		return false;
	Value **results = in->results;
	in->scope = &own;
	in->caller = &here;
	Value **returned = read_block(in, function->regions.v[0], in->operands, &n);
	in->scope = scope;
	in->caller = caller;
	if (!returned)
		return false;
	if (n != op->types.n)
		return read_wrong(in, op->range, "this function returns %d values, not %d", n,
			op->types.n);
	memcpy(results, returned, (size_t)n * sizeof results[0]);
	return true;
}

/* stablehlo.composite "my.rms" %0 {decomposition = @my.rms}: opaque without that function. */
static void
call_decomposition(Import *in, MlirOp *op)
{
	const MlirAttr *function = attr_of(in, op, "decomposition");
	bool known = function && function->kind == MLIR_word
		&& table_get(in->functions, function->text);
	const MlirEntry callee = {"callee", (MlirAttr *)function};

	if (!known)
		return;
	op->name = "func.call";
	op->attributes = (List){0};
	APPEND(in->arena, op->attributes.v, op->attributes.n,
		arena_copy(in->arena, &callee, sizeof callee));
}

static void
call_in_block(Import *in, const MlirBlock *block)
{
	for (int i = 0; i < block->ops.n; i++) {
		MlirOp *op = block->ops.v[i];
		if (!strcmp(op->name, "stablehlo.composite"))
			call_decomposition(in, op);
		for (int k = 0; k < op->regions.n; k++)
			call_in_block(in, op->regions.v[k]);
	}
}

void
composites_call(Import *in)
{
	for (int i = 0; i < table_count(in->functions); i++)
		call_in_block(in,
			((const MlirOp *)table_value(in->functions, i))->regions.v[0]);
}

/* ---- what a region reads of what is around it */

typedef struct Captures {
	int n;
	const char **names; /* "3", or "3#1" */
	Value **values;
	Table *seen;
} Captures;

static void
find_captures(Import *in, const MlirBlock *block, Table *inside, Captures *c)
{
	for (int i = 0; i < block->params.n; i++) {
		const MlirParam *param = block->params.v[i];
		table_set(inside, param->name ? param->name : "", c);
	}
	for (int i = 0; i < block->ops.n; i++) {
		const MlirOp *op = block->ops.v[i];
		for (int k = 0; k < op->operands.n; k++) {
			const MlirUse *use = op->operands.v[k];
			const Defined *defined = table_get(inside, use->name)
				? NULL
				: scope_find(in->scope, use->name);
			if (!defined || !table_add(c->seen, use->name, c))
				continue;
			for (int r = 0; r < defined->n; r++) {
				int at = c->n;
				APPEND(in->arena, c->names, at, use->name);
				APPEND(in->arena, c->values, c->n, defined->values[r]);
			}
		}
		for (int k = 0; k < op->regions.n; k++)
			find_captures(in, op->regions.v[k], inside, c);
		for (int k = 0; k < op->results.n; k++)
			table_set(inside, ((const MlirUse *)op->results.v[k])->name, c);
	}
}

static Captures
captures_of(Import *in, const MlirOp *op)
{
	Captures c = {.seen = table_new(in->arena)};

	for (int i = 0; i < op->regions.n; i++)
		find_captures(in, op->regions.v[i], table_new(in->arena), &c);
	return c;
}

bool
regions_capture(Import *in, const MlirOp *op)
{
	return captures_of(in, op).n > 0;
}

/* Their names, in the scope, for the parameters of a body from `first` on. */
static void
bind_captures(Import *in, const Captures *c, Value *const *params)
{
	for (int i = 0; i < c->n;) {
		int n = 1;
		while (i + n < c->n && c->names[i + n] == c->names[i])
			n++;
		Value **values = NEW_ARRAY(in->arena, Value *, n);
		memcpy(values, params + i, (size_t)n * sizeof values[0]);
		scope_bind(in, c->names[i], n, values);
		i += n;
	}
}

/* ---- bodies */

/* What was being built around a body. */
typedef struct Around {
	Block *block;
	Scope *scope, own;
	Make make;
	Value **operands, **results;
} Around;

static void
enter_body(Import *in, Block *body, Around *around)
{
	*around = (Around){.block = in->block,
		.scope = in->scope,
		.own = {table_new(in->arena), NULL},
		.make = in->make,
		.operands = in->operands,
		.results = in->results};
	in->scope = &around->own;
	in->block = body;
	in->make.block = body;
}

static void
leave_body(Import *in, const Around *around)
{
	in->block = around->block;
	in->scope = around->scope;
	in->make = around->make;
	in->operands = around->operands;
	in->results = around->results;
}

static void
add_params(Op *made, Block *body, int first)
{
	for (int i = first; i < made->noperands; i++)
		block_add_param(body, made->operands[i]->name, &made->operands[i]->type);
}

/* ---- loops */

static bool
read_loop_body(Import *in, const MlirOp *op, Op *loop, int body, const Captures *c)
{
	const MlirBlock *block = op->regions.v[body];
	Block *to = loop->bodies[body];
	int own = loop->noperands - c->n, n = 0;
	Around around;

	if (block->params.n != own)
		return read_wrong(in, block->range, "a loop of %d values has a body of %d", own,
			block->params.n);
	enter_body(in, to, &around);
	bind_captures(in, c, to->params + own);
	Value **returned = read_block(in, block, to->params, &n);
	leave_body(in, &around);
	if (!returned)
		return false;
	if (n != (body == 0 ? 1 : own))
		return read_wrong(in, block->range, "a body of this loop returns %d values", n);
	Value **all = NEW_ARRAY(in->arena, Value *, n + c->n + 1);
	memcpy(all, returned, (size_t)n * sizeof all[0]);
	if (body == 1)
		memcpy(all + n, to->params + own, (size_t)c->n * sizeof all[0]);
	make_return(to, body == 0 ? 1 : loop->noperands, all, loop->range, "return");
	return true;
}

/* Through placements. */
static const Op *
maker(const Value *v)
{
	const Op *made = v->def;

	while (made && made->kind == O_constraint)
		made = made->operands[0]->def;
	return made;
}

static const Value *
unplaced(const Value *v)
{
	while (v->def && v->def->kind == O_constraint)
		v = v->def->operands[0];
	return v;
}

static bool
is_number(const Value *v, int64_t *n)
{
	const Op *made = maker(v);
	bool number = made && made->kind == O_constant && v->type.rank == 0
		&& dtype_is_integer(v->type.dtype);

	if (number)
		*n = op_int(made, A_value);
	return number;
}

/* i < limit, i + 1: which carried value i is, and how often that is; -1: not so. */
static int
counted(const Op *loop, int64_t *trips)
{
	const Block *condition = loop->bodies[0], *body = loop->bodies[1];
	const Op *compare = maker(condition->last->operands[0]);
	int64_t limit, start, step;

	if (!compare || compare->kind != O_compare || op_int(compare, A_direction) != DIR_LT
		|| !is_number(compare->operands[1], &limit))
		return -1;
	const Value *index = unplaced(compare->operands[0]);
	if (index->def || index->block != condition)
		return -1;
	int i = index->index;
	const Op *next = maker(body->last->operands[i]);
	bool counts = next && next->kind == O_add
		&& unplaced(next->operands[0]) == body->params[i]
		&& is_number(next->operands[1], &step) && step == 1
		&& is_number(loop->operands[i], &start);
	if (!counts || limit < start || start < -INT32_MAX || limit > INT32_MAX)
		return -1;
	*trips = limit - start;
	return i;
}

static void
swap_values(Value **values, int i)
{
	Value *first = values[0];

	values[0] = values[i];
	values[i] = first;
}

/* The index comes first, as a loop of the language has it. */
static void
put_first(Op *loop, int i)
{
	Block *body = loop->bodies[1];

	swap_values(loop->operands, i);
	swap_values(loop->results, i);
	swap_values(body->last->operands, i);
	for (int b = 0; b < 2; b++) {
		Value **params = loop->bodies[b]->params;
		swap_values(params, i);
		params[0]->index = 0;
		params[i]->index = i;
	}
	loop->results[0]->index = 0;
	loop->results[i]->index = i;
}

bool
import_op_while(Import *in, const MlirOp *op, int detail)
{
	int n = op->operands.n, index = -1;
	int64_t trips;

	(void)detail;
	if (op->regions.n != 2 || n != op->types.n || n == 0)
		return read_wrong(in, op->range, "a loop has a condition, a body and values");
	Captures c = captures_of(in, op);
	Value **carried = NEW_ARRAY(in->arena, Value *, n + c.n + 1);
	memcpy(carried, in->operands, (size_t)n * sizeof carried[0]);
	for (int i = 0; i < c.n; i++)
		carried[n + i] = c.values[i];
	Op *loop = make_begin(in->make, O_while, n + c.n, carried);
	if (!loop)
		return false;
	op_begin_bodies(loop, 2);
	for (int i = 1; i < n + c.n; i++)
		op_add_result(loop, carried[i]->name, &carried[i]->type);
	for (int b = 0; b < 2; b++)
		add_params(loop, loop->bodies[b], 0);
	Value **results = in->results;
	for (int b = 0; b < 2; b++)
		if (!read_loop_body(in, op, loop, b, &c))
			return false;
	memcpy(results, loop->results, (size_t)n * sizeof results[0]);
	index = counted(loop, &trips);
	if (index >= 0 && loop->operands[index]->type.dtype == D_i32) {
		put_first(loop, index);
		op_set_int(loop, A_trips, trips);
	}
	return make_end(in->make, loop) != NULL;
}

/* ---- branches */

enum {
	MOST_IN_A_ROW = 64,    /* each in that before */
	MOST_HANDED = 1 << 20, /* values, to all branches */
};

/* The region, in a body of the op; or where in->block is, if that is NULL. */
static Value **
read_branch(Import *in, const MlirOp *op, int region, Block *body, const Captures *c, int first,
	int *n)
{
	Around around;

	enter_body(in, body, &around);
	bind_captures(in, c, body->params + first);
	Value **returned = read_block(in, op->regions.v[region], NULL, n);
	leave_body(in, &around);
	if (returned && *n != op->types.n) {
		read_wrong(in, op->range, "a branch returns %d values, not %d", *n,
			op->types.n);
		return NULL;
	}
	return returned;
}

/*
 * The branches from `first` to before `end`, of an index that says which: an `if` of the first
 * and of all others, or, where that would be many in each other, of one half and the other.
 *   captures, index                  what each is handed
 */
static Op *
choose(Import *in, const MlirOp *op, int first, int end, Value *const *handed,
	const Captures *c)
{
	bool halves = end - first > MOST_IN_A_ROW;
	int cut = halves ? (first + end) / 2 : first + 1, n;
	Value *index = handed[c->n];
	Value **operands = NEW_ARRAY(in->arena, Value *, c->n + 2);
	Type type;

	operands[0] = make_compare(in->make, halves ? DIR_LT : DIR_EQ, index,
		make_constant(in->make, index->type.dtype, halves ? cut : first));
	memcpy(operands + 1, handed, (size_t)(c->n + 1) * sizeof operands[0]);
	Op *choice = make_begin(in->make, O_if, c->n + 2, operands);
	if (!choice)
		return NULL;
	op_begin_bodies(choice, 2);
	for (int i = 1; i < op->types.n; i++) {
		if (!type_result(in, op, i, &type))
			return NULL;
		op_add_result(choice, choice->results[0]->name, &type);
	}
	for (int b = 0; b < 2; b++) {
		Block *body = choice->bodies[b];
		int from = b ? cut : first, to = b ? end : cut;
		add_params(choice, body, 1);
		Value **returned;
		if (to - from == 1) {
			returned = read_branch(in, op, from, body, c, 0, &n);
		} else {
			Around around;
			enter_body(in, body, &around);
			Op *some = choose(in, op, from, to, body->params, c);
			leave_body(in, &around);
			returned = some ? some->results : NULL;
			n = op->types.n;
		}
		if (!returned)
			return NULL;
		make_return(body, n, returned, choice->range, "return");
	}
	return make_end(in->make, choice) ? choice : NULL;
}

/* Which of n branches: the last for what is none of them.  In halves less than 0 would be one
   of the first. */
static Value *
index_of_branch(Import *in, int n, bool is_if)
{
	Value *index = in->operands[0];

	if (is_if)
		return make_convert(in->make, make_unary(in->make, O_not, index), D_i32);
	if (n <= MOST_IN_A_ROW)
		return index;
	Value *below = compare_with(in->make, DIR_LT, index, 0);
	Value *last = make_constant(in->make, index->type.dtype, n - 1);
	return make_select(in->make, below, last, index);
}

/* case: of so many regions the one of the index, else the last; if: the first if true. */
bool
import_op_case(Import *in, const MlirOp *op, int is_if)
{
	int n = op->regions.n;

	if (!op->types.n)
		return import_op_opaque(in, op, 0);
	if (in->noperands != 1 || in->operands[0]->type.rank || n < 1)
		return read_wrong(in, op->range,
			"a choice takes an index, and has a region at least");
	Captures c = captures_of(in, op);
	if ((int64_t)n * c.n > MOST_HANDED)
		return read_lacks(in, op,
			arena_printf(in->arena,
				"a choice of %d branches, to each of which %d values of around "
				"it "
				"are handed: more than %d in all",
				n, c.n, MOST_HANDED));
	Value **results = in->results, **handed = NEW_ARRAY(in->arena, Value *, c.n + 1);
	memcpy(handed, c.values, (size_t)c.n * sizeof handed[0]);
	Value *index = handed[c.n] = index_of_branch(in, n, is_if);
	if (n == 1) {
		int returned_n;
		Scope *scope = in->scope, own = {table_new(in->arena), scope};
		in->scope = &own;
		Value **returned = read_block(in, op->regions.v[0], NULL, &returned_n);
		in->scope = scope;
		if (!returned || returned_n != op->types.n)
			return false;
		memcpy(results, returned, (size_t)returned_n * sizeof results[0]);
		return true;
	}
	Op *choice = index ? choose(in, op, 0, n, handed, &c) : NULL;
	if (!choice)
		return false;
	memcpy(results, choice->results, (size_t)op->types.n * sizeof results[0]);
	return true;
}

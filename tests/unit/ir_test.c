/*
 * ir_test.c - building, typing, checking, printing and reading modules.
 *
 * With a directory as its argument it also writes the modules it prints
 * there, for tests/xla/parse.py.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hlo/hlo.h"
#include "ir/ir.h"
#include "ir/layout.h"

static int tests;
static const char *dump_directory;

static void
ok(bool good, const char *name)
{
	printf("%s %d - %s\n", good ? "ok" : "not ok", ++tests, name);
}

/* ---- a small language for building ---------------------------------- */

static const Range NOWHERE;

static Module *
new_module(Session *s, const char *name, int64_t x, int64_t y)
{
	Module *m = module_new(s, name);

	m->mesh.naxes = 2;
	m->mesh.axes[0] = (MeshAxis){.name = "X", .size = x};
	m->mesh.axes[1] = (MeshAxis){.name = "Y", .size = y};
	m->mesh.ndevices = x * y;
	return m;
}

static Type
type2(DType d, int64_t rows, int64_t columns)
{
	return type_of(d, 2, (int64_t[]){rows, columns});
}

static Value *
param(Module *m, const char *name, Type type)
{
	return block_add_param(m->entry, name, &type);
}

static Op *
add_op(Block *b, OpKind kind, int n, Value *const *operands, const char *name)
{
	Op *op = op_new(b->module, kind, n, operands, kind == O_return ? 0 : 1, name, NOWHERE,
		NULL);

	op_append(b, op);
	return op;
}

static Value *
op1(Module *m, OpKind kind, Value *a)
{
	Op *op = add_op(m->entry, kind, 1, &a, NULL);

	op_infer(op);
	return op->results[0];
}

static Value *
op2(Module *m, OpKind kind, Value *a, Value *b)
{
	Op *op = add_op(m->entry, kind, 2, (Value *[]){a, b}, NULL);

	if (kind == O_compare)
		op_set_int(op, A_direction, DIR_LE);
	op_infer(op);
	return op->results[0];
}

static Value *
constant(Module *m, DType d, int64_t payload)
{
	Op *op = add_op(m->entry, O_constant, 0, NULL, NULL);

	op_set_int(op, A_value, payload);
	op->results[0]->type = type_of(d, 0, NULL);
	op_infer(op);
	return op->results[0];
}

static Value *
finish(Op *op)
{
	op_infer(op);
	return op->results[0];
}

/* Gives back everything under its own name: the entry's results. */
static void
return_all(Module *m, int n, Value *const *values)
{
	Value **outputs = NEW_ARRAY(m->arena, Value *, n);

	for (int i = 0; i < n; i++) {
		Op *op = add_op(m->entry, O_output, 1, &values[i], "out");
		outputs[i] = finish(op);
		Named result = {outputs[i]->name, outputs[i], outputs[i]->type,
			outputs[i]->placement};
		APPEND(m->arena, m->results, m->nresults, result);
	}
	add_op(m->entry, O_return, n, outputs, NULL);
}

static AxisList
axes_of(const Mesh *m, const char *text)
{
	AxisList l = {0};

	for (; *text; text++)
		l.a[l.n++] = axis_whole(m, *text == 'Y');
	return l;
}

static void
place(Module *m, Value *v, int dim, const char *axes)
{
	AxisList l = axes_of(&m->mesh, axes);

	placement_set_dim(&v->placement, dim, &l);
}

/* ---- round trips ---------------------------------------------------- */

static void
dump(const char *name, const Text *t)
{
	char path[512];

	if (!dump_directory)
		return;
	snprintf(path, sizeof path, "%s/%s.hlo", dump_directory, name);
	FILE *f = fopen(path, "w");
	if (!f)
		return;
	fwrite(t->s, 1, t->n, f);
	fclose(f);
}

/* print -> read -> print gives the same bytes. */
static void
round_trip(Module *m, const char *name)
{
	Session *s = session_new();
	Text first = {0}, second = {0};

	bool valid = module_verify(m, stdout);
	module_print(m, &first);
	dump(m->name, &first);
	int file = source_add_text(s, "first.hlo", first.s, (int)first.n);
	Module *again = module_read(s, file);
	diag_flush(s);
	if (again)
		module_print(again, &second);
	bool same = again && !strcmp(first.s, second.s);
	if (again && !same)
		printf("%s\n---- and then\n%s", first.s, second.s);
	ok(valid && same, name);
	text_free(&first);
	text_free(&second);
	session_free(s);
}

/* Every pointwise op of the table, by its arity and operand class. */
static Value *
pointwise(Module *m, OpKind kind, Value *f, Value *p, Value *u)
{
	Value *two[] = {f, f}, *three[] = {f, f, f};
	const OpInfo *info = &ops[kind];

	if (kind == O_select)
		three[0] = p;
	if (kind == O_not || kind == O_and || kind == O_or)
		two[0] = two[1] = p;
	if (kind == O_xor || kind == O_shl || kind == O_shr || kind == O_sar || kind == O_popcnt
		|| kind == O_clz)
		two[0] = two[1] = u;
	Op *op =
		add_op(m->entry, kind, info->operands, info->operands == 3 ? three : two, NULL);
	if (info->attrs & AT(direction))
		op_set_int(op, A_direction, DIR_GE);
	if (kind == O_convert)
		op->results[0]->type.dtype = D_bf16;
	if (kind == O_bitcast)
		op->results[0]->type.dtype = D_u32;
	return finish(op);
}

static void
test_pointwise(Session *s)
{
	Module *m = new_module(s, "pointwise", 2, 2);
	Value *f = param(m, "f", type2(D_f32, 8, 16));
	Value *p = param(m, "p", type2(D_pred, 8, 16));
	Value *u = param(m, "u", type2(D_u32, 8, 16));
	Value *made[OP_COUNT];
	int n = 0;

	for (int k = 0; k < OP_COUNT; k++)
		if (ops[k].pointwise && k != O_output && k != O_uniform)
			made[n++] = pointwise(m, (OpKind)k, f, p, u);
	return_all(m, n, made);
	round_trip(m, "every pointwise op goes round");
}

static Value *
shape_op(Module *m, OpKind kind, Value *x, AttrKind attr, int n, const int64_t *v, Type type)
{
	Op *op = add_op(m->entry, kind, 1, &x, NULL);

	if (attr < ATTR_COUNT)
		op_set_ints(op, attr, n, v);
	op->results[0]->type = type;
	return finish(op);
}

static Value *
slice_op(Module *m, Value *x)
{
	Op *op = add_op(m->entry, O_slice, 1, &x, NULL);

	op_set_ints(op, A_start, 2, (int64_t[]){0, 3});
	op_set_ints(op, A_limit, 2, (int64_t[]){8, 16});
	op_set_ints(op, A_stride, 2, (int64_t[]){1, 4});
	return finish(op);
}

static Value *
pad_op(Module *m, Value *x, Value *with)
{
	Op *op = add_op(m->entry, O_pad, 2, (Value *[]){x, with}, NULL);

	op_set_ints(op, A_low, 2, (int64_t[]){0, 2});
	op_set_ints(op, A_high, 2, (int64_t[]){1, 0});
	return finish(op);
}

static Value *
with_dim(Module *m, OpKind kind, Value *a, Value *b, int64_t dim)
{
	Op *op = add_op(m->entry, kind, 2, (Value *[]){a, b}, NULL);

	op_set_int(op, A_dim, dim);
	if (kind == O_cumsum)
		op_set_int(op, A_combiner, C_add);
	return finish(op);
}

static Value *
iota_op(Module *m)
{
	Op *op = add_op(m->entry, O_iota, 0, NULL, NULL);

	op->results[0]->type = type_of(D_i32, 1, (int64_t[]){4});
	op_set_int(op, A_iota_dim, 0);
	return finish(op);
}

static Value *
windows_op(Module *m, Value *x)
{
	Op *op = add_op(m->entry, O_windows, 1, &x, NULL);

	op_set_ints(op, A_windowed, 2, (int64_t[]){0, 1});
	op_set_ints(op, A_window, 2, (int64_t[]){3, 2});
	op_set_ints(op, A_step, 2, (int64_t[]){1, 2});
	op_set_ints(op, A_apart, 2, (int64_t[]){2, 1});
	return finish(op);
}

static void
test_shape(Session *s)
{
	Module *m = new_module(s, "shape", 4, 32);
	Value *x = param(m, "x", type2(D_f32, 8, 16));
	Value *zero = constant(m, D_f32, double_payload(0));
	Type cube = type_of(D_f32, 3, (int64_t[]){8, 3, 16});
	Type split = type_of(D_f32, 3, (int64_t[]){8, 4, 4});
	Type none = {0};
	Value *made[] = {
		shape_op(m, O_broadcast, x, A_dims, 2, (int64_t[]){0, 2}, cube),
		shape_op(m, O_broadcast, zero, A_dims, 0, NULL, cube),
		shape_op(m, O_reshape, x, ATTR_COUNT, 0, NULL, split),
		shape_op(m, O_transpose, x, A_dims, 2, (int64_t[]){1, 0}, none),
		shape_op(m, O_reverse, x, A_dims, 1, (int64_t[]){1}, none),
		slice_op(m, x),
		windows_op(m, x),
		pad_op(m, x, zero),
		with_dim(m, O_concatenate, x, x, 1),
		with_dim(m, O_cumsum, x, zero, 1),
		with_dim(m, O_take, x, iota_op(m), 0),
	};

	return_all(m, sizeof made / sizeof made[0], made);
	round_trip(m, "every shape op goes round");
}

static Value *
dot_op(Module *m, Value *a, Value *b, const char *name)
{
	Op *op = add_op(m->entry, O_dot, 2, (Value *[]){a, b}, name);

	op_set_ints(op, A_lhs_batch, 0, NULL);
	op_set_ints(op, A_rhs_batch, 0, NULL);
	op_set_ints(op, A_lhs_contract, 1, (int64_t[]){1});
	op_set_ints(op, A_rhs_contract, 1, (int64_t[]){0});
	op->label = "einsum 'bd,df->bf' \\ \"\xc3\xa9\"\n";
	return finish(op);
}

static Value *
reduce_op(Module *m, Value *x, Value *init, Combiner c)
{
	Op *op = add_op(m->entry, O_reduce, 2, (Value *[]){x, init}, NULL);

	op_set_ints(op, A_dims, 1, (int64_t[]){1});
	op_set_int(op, A_combiner, c);
	return finish(op);
}

static void
test_contract(Session *s)
{
	Module *m = new_module(s, "contract", 2, 4);
	Value *x = param(m, "x", type2(D_bf16, 8, 16));
	Value *w = param(m, "w", type2(D_bf16, 16, 32));
	Value *h = dot_op(m, x, w, "h");
	Value *made[C_mul + 3];
	int n = 0;

	h->range = (Range){source_add_name(s, "dir/a \"b\".shd"), 7, 0, 0};
	h->def->range = h->range;
	made[n++] = h;
	for (int c = C_add; c <= C_mul; c++)
		made[n++] = reduce_op(m, h,
			constant(m, D_bf16, combiner_identity((Combiner)c, D_bf16)),
			(Combiner)c);
	made[n++] = reduce_op(m, op2(m, O_compare, h, h),
		constant(m, D_pred, combiner_identity(C_or, D_pred)), C_or);
	return_all(m, n, made);
	round_trip(m, "dots and reductions go round");
	ok(h->type.dtype == D_bf16 && h->type.dims[1] == 32, "type of a dot");
}

static void
test_wide_dot(Session *s)
{
	Module *m = new_module(s, "wide", 2, 4);
	Value *x = param(m, "x", type2(D_bf16, 8, 16));
	Op *op = add_op(m->entry, O_dot, 2, (Value *[]){x, x}, NULL);

	op_set_ints(op, A_lhs_batch, 1, (int64_t[]){0});
	op_set_ints(op, A_rhs_batch, 1, (int64_t[]){0});
	op_set_ints(op, A_lhs_contract, 1, (int64_t[]){1});
	op_set_ints(op, A_rhs_contract, 1, (int64_t[]){1});
	op->results[0]->type.dtype = D_f32;
	Value *sum = finish(op);
	return_all(m, 1, &sum);
	ok(sum->type.dtype == D_f32 && sum->type.rank == 1, "a dot may keep its sums wide");
	round_trip(m, "a wide dot goes round");
}

static void
test_constants(Session *s)
{
	static const double floats[] = {0, -0.0, 0.1, 1.0 / 3, 1e-45, 3.4e38, 1e39, 65504,
		65519.99, 65520, 5e-324, 1.7e308, -1e300, 16777217, 0.333251953125};
	static const int64_t integers[] = {0, 1, 127, 255, -128, 2147483647, -2147483647 - 1,
		4294967295, INT64_MAX, INT64_MIN};
	Module *m = new_module(s, "constants", 2, 4);
	Value *made[400];
	int n = 0;

	for (int d = 0; d < DTYPE_COUNT; d++)
		for (size_t i = 0;
			dtype_is_float((DType)d) && i < sizeof floats / sizeof floats[0]; i++)
			made[n++] = constant(m, (DType)d, double_payload(floats[i]));
	made[n++] = constant(m, D_f32, double_payload(INFINITY));
	made[n++] = constant(m, D_f64, double_payload(-INFINITY));
	made[n++] = constant(m, D_f16, double_payload(NAN));
	for (int i = 0; i < 10; i++)
		made[n++] = constant(m, D_i64, integers[i]);
	for (int d = 0; d < DTYPE_COUNT; d++)
		for (int c = 0; c < COMBINER_COUNT; c++)
			made[n++] =
				constant(m, (DType)d, combiner_identity((Combiner)c, (DType)d));
	return_all(m, n, made);
	round_trip(m, "constants go round");
}

/* ---- placements, calls, device programs ----------------------------- */

static void
test_placements(Session *s)
{
	Module *m = new_module(s, "placements", 2, 8);
	Value *x = param(m, "x", type2(D_f32, 8, 16));
	Value *y = param(m, "y", type2(D_f32, 8, 16));
	Value *z = param(m, "z", type2(D_f32, 8, 16));
	AxisList part = {1, {{1, 1, 2}}}, rest = {1, {{1, 4, 2}}};
	AxisList all = axes_of(&m->mesh, "XY"), only_x = axes_of(&m->mesh, "X");

	placement_set_dim(&x->placement, 0, &part);
	placement_set_replicated(&x->placement, &only_x);
	x->placement.priority[0] = 2;
	x->annotated = true;
	y->placement = placement_none(2);
	placement_set_dim(&y->placement, 1, &all);
	z->placement.all_replicated = true;
	z->placement.open = 2;
	placement_set_dim(&z->placement, 1, &rest);
	placement_set_unreduced(&z->placement, &only_x, C_max);
	Named named = {"x.2.deep", x, x->type, x->placement};
	Named gone = {"gone", NULL, y->type, y->placement};
	Expect expect = {y, "y", y->placement, {source_add_name(s, "p q"), 9, 0, 0}};
	APPEND(m->arena, m->named, m->nnamed, named);
	APPEND(m->arena, m->named, m->nnamed, gone);
	APPEND(m->arena, m->expects, m->nexpects, expect);
	return_all(m, 3, (Value *[]){x, y, z});
	m->last_pass = "elaborate";
	m->mesh.topology_rank = 2;
	m->mesh.topology[0] = m->mesh.topology[1] = 4;
	m->mesh.slices = 1;
	layout_default(&m->mesh);
	round_trip(m, "placements, names and expectations go round");
}

/* XLA aborts on sets out of order or with parts that could be one. */
static void
test_sets(Session *s)
{
	Module *m = new_module(s, "sets", 2, 4);
	Type type = type_of(D_f32, 0, NULL);
	AxisList parts = {3, {{1, 2, 2}, {0, 1, 2}, {1, 1, 2}}};
	Placement p = placement_none(0);
	Text t = {0};

	placement_set_unreduced(&p, &parts, C_add);
	text_type(&t, &m->mesh, &type, &p);
	ok(!strcmp(t.s, "f32[] unreduced(X,Y)"), "unreduced axes are a set");
	text_free(&t);
}

static void
add_call(Module *m, Value *x, Value **result)
{
	Op *call = op_new(m, O_call, 1, &x, 1, "probability", NOWHERE, NULL);
	Block *body = block_new(m, call);
	Value *p = block_add_param(body, "softmax.x", &x->type);

	op_append(m->entry, call);
	call->nbodies = 1;
	call->bodies = NEW_ARRAY(m->arena, Block *, 1);
	call->bodies[0] = body;
	call->composite = "softmax";
	Op *e = add_op(body, O_exp, 1, &p, NULL);
	op_infer(e);
	Op *unused = add_op(body, O_log, 1, &p, NULL);
	op_infer(unused);
	add_op(body, O_return, 1, e->results, NULL);
	call->results[0]->type = e->results[0]->type;
	op_infer(call);
	*result = call->results[0];
}

static void
test_call(Session *s)
{
	Module *m = new_module(s, "composite", 2, 2);
	Value *x = param(m, "x", type2(D_f32, 8, 16));
	Value *made[2];

	add_call(m, x, &made[0]);
	add_call(m, made[0], &made[1]);
	return_all(m, 2, made);
	round_trip(m, "composites go round");
	ok(module_remove_dead(m) && !module_remove_dead(m), "dead ops in bodies are removed");
	round_trip(m, "composites go round without them");
}

static Value *
collective(Module *m, OpKind kind, Value *x, const char *axes, const char *from)
{
	Op *op = add_op(m->entry, kind, 1, &x, NULL);

	op->axes = NEW(m->arena, AxisList);
	*op->axes = axes_of(&m->mesh, axes);
	if (kind == O_collective_permute) {
		op->from = NEW(m->arena, AxisList);
		*op->from = axes_of(&m->mesh, from);
	}
	if (ops[kind].attrs & AT(dim))
		op_set_int(op, A_dim, 1);
	if (ops[kind].attrs & AT(combiner))
		op_set_int(op, A_combiner, C_max);
	op->requested = kind == O_all_gather;
	return finish(op);
}

static Value *
own_slice(Module *m, Value *x, Value *start)
{
	Op *op = add_op(m->entry, O_dynamic_slice, 3, (Value *[]){x, start, start}, NULL);

	op_set_ints(op, A_sizes, 2, (int64_t[]){1, 2});
	op->results[0]->no_placement = true;
	return finish(op);
}

static void
device_program(Session *s, const char *name, int64_t x_size, int64_t y_size, const char *test)
{
	Module *m = new_module(s, name, x_size, y_size);
	int64_t n = x_size * y_size;
	Value *x = param(m, "x", type2(D_f32, 8, 2 * n));
	Op *id = add_op(m->entry, O_partition_id, 0, NULL, NULL);
	AxisList part = {1, {{1, 1, 2}}};
	Value *made[16];
	int k = 0;

	x->placement = placement_none(2);
	place(m, x, 0, "X");
	place(m, x, 1, "Y");
	made[k++] = collective(m, O_all_gather, x, "Y", NULL);
	made[k++] = collective(m, O_all_gather, x, "X", NULL);
	made[k++] = collective(m, O_all_gather, x, "YX", NULL);
	made[k++] = collective(m, O_all_reduce, x, "XY", NULL);
	made[k++] = collective(m, O_reduce_scatter, x, "X", NULL);
	made[k++] = collective(m, O_all_to_all, x, "XY", NULL);
	made[k++] = collective(m, O_collective_permute, x, "XY", "YX");
	made[k++] = collective(m, O_uniform, x, "XY", NULL);
	made[k] = collective(m, O_all_reduce, x, "X", NULL);
	*made[k++]->def->axes = part;
	made[k++] = own_slice(m, x, finish(id));
	for (int i = 0; i < k; i++)
		made[i]->placement = placement_none(2);
	m->level = L_device;
	return_all(m, k, made);
	for (int i = 0; i < m->nresults; i++) {
		m->results[i].value->placement = placement_none(2);
		m->results[i].placement = placement_none(2);
	}
	round_trip(m, test);
}

/* ---- bodies, and ops with places of their own ------------------------ */

static Op *
with_bodies(Module *m, Block *b, OpKind kind, int n, Value *const *operands, const char *name,
	const char *param_name)
{
	Op *op = op_new(m, kind, n, operands, 0, NULL, NOWHERE, NULL);
	int first = kind == O_if;

	op_append(b, op);
	op->nbodies = ops[kind].bodies;
	op->bodies = NEW_ARRAY(m->arena, Block *, op->nbodies);
	for (int i = 0; i < op->nbodies; i++) {
		op->bodies[i] = block_new(m, op);
		for (int k = first; k < n; k++)
			block_add_param(op->bodies[i], param_name, &operands[k]->type);
	}
	for (int k = first; k < n; k++)
		op_add_result(op, name, &operands[k]->type);
	return op;
}

static Value *
in_block(Block *b, OpKind kind, Value *x, Value *y)
{
	Op *op = add_op(b, kind, y ? 2 : 1, (Value *[]){x, y}, NULL);

	if (kind == O_compare)
		op_set_int(op, A_direction, DIR_LT);
	return finish(op);
}

/* while i < n: i = i + n, x = -x; n stays. */
static Op *
add_while(Module *m, Block *b, Value *i, Value *n, Value *x)
{
	Op *op = with_bodies(m, b, O_while, 3, (Value *[]){i, n, x}, "h", "carried");
	Block *condition = op->bodies[0], *body = op->bodies[1];
	Value **p = condition->params, **q = body->params;
	Value *less = in_block(condition, O_compare, p[0], p[1]);

	add_op(condition, O_return, 1, &less, NULL);
	add_op(body, O_return, 3,
		(Value *[]){in_block(body, O_add, q[0], q[1]), q[1],
			in_block(body, O_neg, q[2], NULL)},
		NULL);
	op_infer(op);
	return op;
}

static Op *
add_if(Module *m, Block *b, Value *p, Value *x)
{
	Op *op = with_bodies(m, b, O_if, 2, (Value *[]){p, x}, "choice", "given");

	add_op(op->bodies[0], O_return, 1,
		(Value *[]){in_block(op->bodies[0], O_sqrt, op->bodies[0]->params[0], NULL)},
		NULL);
	add_op(op->bodies[1], O_return, 1, op->bodies[1]->params, NULL);
	op_infer(op);
	return op;
}

static void
test_bodies(Session *s)
{
	Module *m = new_module(s, "bodies", 2, 2);
	Value *x = param(m, "x", type2(D_f32, 8, 16));
	Value *p = param(m, "p", type_of(D_pred, 0, NULL));
	Value *one = constant(m, D_i32, 1);
	Op *loop = add_while(m, m->entry, one, one, x);
	Op *other = add_while(m, m->entry, one, one, x);
	Op *choice = add_if(m, m->entry, p, x);
	Block *inner = loop->bodies[1];
	Op *nested = add_while(m, inner, inner->params[0], inner->params[1], inner->params[2]);

	op_set_int(loop, A_trips, 4);
	choice->bodies[0]->params[0]->annotated = true;
	op_remove(nested);
	op_insert_before(inner->last, nested);
	inner->last->operands[2] = nested->results[2];
	return_all(m, 4,
		(Value *[]){loop->results[0], loop->results[2], other->results[2],
			choice->results[0]});
	round_trip(m, "loops and choices go round");
	ok(module_remove_dead(m) && !module_remove_dead(m) && module_verify(m, stdout),
		"what is dead in loops is removed");
	round_trip(m, "loops and choices go round without it");
}

static void
close_op(Op *op)
{
	for (int i = 0; i < op->nresults; i++)
		op->results[i]->placement.open = 0;
	for (int i = 0; i < op->nbodies; i++)
		for (int k = 0; k < op->bodies[i]->nparams; k++)
			op->bodies[i]->params[k]->placement.open = 0;
}

static void
close_all(Module *m)
{
	for (int i = 0; i < m->entry->nparams; i++)
		m->entry->params[i]->placement.open = 0;
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
		close_op(op);
}

/* (i, n, x) where only i is asked for, and x is neither in the condition nor
   in what becomes of i. */
static void
test_dead_carried(Session *s)
{
	Module *m = new_module(s, "dead", 2, 2);
	Value *x = param(m, "x", type2(D_f32, 8, 16));
	Value *p = param(m, "p", type_of(D_pred, 0, NULL));
	Value *one = constant(m, D_i32, 1);
	Op *loop = add_while(m, m->entry, one, one, x);
	Op *choice =
		with_bodies(m, m->entry, O_if, 3, (Value *[]){p, x, one}, "choice", "given");

	for (int i = 0; i < 2; i++)
		add_op(choice->bodies[i], O_return, 2, choice->bodies[i]->params, NULL);
	return_all(m, 2, (Value *[]){loop->results[0], choice->results[1]});
	m->level = L_sharded;
	close_all(m);
	bool right = module_verify(m, stdout) && module_remove_dead(m) && !module_remove_dead(m)
		&& module_verify(m, stdout);
	ok(right && loop->nresults == 2 && loop->noperands == 2 && loop->bodies[0]->nparams == 2
			&& loop->bodies[1]->last->noperands == 2
			&& !loop->bodies[1]->first->next->next,
		"a dead carried value");
	ok(choice->nresults == 1 && choice->noperands == 2 && choice->operands[1] == one,
		"a dead result of a choice");
	round_trip(m, "what is left of them goes round");
}

static void
test_nested_uses(Session *s)
{
	Module *m = new_module(s, "uses", 2, 2);
	Value *x = param(m, "x", type2(D_f32, 8, 16));
	Value *one = constant(m, D_i32, 1);
	Op *loop = add_while(m, m->entry, one, one, x);
	Block *body = loop->bodies[1];
	Value *neg = body->last->operands[2];

	return_all(m, 1, &loop->results[2]);
	value_replace_uses(m, neg, body->params[2]);
	ok(body->last->operands[2] == body->params[2]
			&& neg->def->operands[0] == body->params[2],
		"uses in a body are replaced");
	value_replace_uses(m, body->params[0], body->params[1]);
	ok(body->first->operands[0] == body->params[1], "uses of a parameter are replaced");
}

static void
test_no_results(Session *s)
{
	Module *m = new_module(s, "nothing", 2, 2);
	Value *x = param(m, "x", type2(D_f32, 8, 16));

	for (int i = 0; i < 2; i++) {
		Op *loop = with_bodies(m, m->entry, O_while, 0, NULL, NULL, NULL);
		Op *no = add_op(loop->bodies[0], O_constant, 0, NULL, NULL);
		op_set_int(no, A_value, 0);
		no->results[0]->type = type_of(D_pred, 0, NULL);
		op_infer(no);
		add_op(loop->bodies[0], O_return, 1, no->results, NULL);
		add_op(loop->bodies[1], O_return, 0, NULL, NULL);
	}
	return_all(m, 1, &x);
	round_trip(m, "loops that carry nothing go round");
}

static Op *
sort_op(Module *m, int n, Value *const *x, Direction direction)
{
	Op *op = op_new(m, O_sort, n, x, 0, NULL, NOWHERE, NULL);

	op_append(m->entry, op);
	for (int i = 0; i < n; i++)
		op_add_result(op, "sorted", &x[i]->type);
	op_set_int(op, A_dim, 1);
	op_set_int(op, A_direction, direction);
	op_infer(op);
	return op;
}

static Value *
update_op(Module *m, Value *x, Value *update, Value *start)
{
	return finish(add_op(m->entry, O_dynamic_update_slice, 4,
		(Value *[]){x, update, start, start}, NULL));
}

static Value *
scatter_op(Module *m, Value *x, Value *idx, int64_t dim)
{
	Type type = x->type;

	type.dims[dim] = idx->type.dims[0];
	Op *op = add_op(m->entry, O_scatter_add, 3,
		(Value *[]){x, idx, param(m, "update", type)}, NULL);
	op_set_int(op, A_dim, dim);
	return finish(op);
}

static void
test_indexed(Session *s)
{
	Module *m = new_module(s, "indexed", 2, 2);
	Value *x = param(m, "x", type2(D_f32, 8, 16));
	Value *n = param(m, "n", type2(D_u32, 8, 16));
	Value *u = param(m, "u", type2(D_f32, 8, 4));
	Value *i = constant(m, D_i32, 3);
	Op *keyed = sort_op(m, 2, (Value *[]){x, n}, DIR_LT);
	Value *made[] = {
		own_slice(m, x, i),
		update_op(m, x, u, i),
		scatter_op(m, x, iota_op(m), 0),
		scatter_op(m, x, iota_op(m), 1),
		sort_op(m, 1, &n, DIR_LT)->results[0],
		sort_op(m, 1, &x, DIR_GT)->results[0],
		keyed->results[0],
		keyed->results[1],
	};

	made[0]->no_placement = false;
	return_all(m, sizeof made / sizeof made[0], made);
	round_trip(m, "slices, scatters and sorts go round");
}

/* Rules in words, as the explanations show them. */
static void
rule_is(const Op *op, int once, const char *wanted)
{
	const Rule *r = op_rule(op->module->arena, op);
	Text t = {0};

	text_rule(&t, op, r);
	bool right = !strcmp(t.s, wanted) && r->once == once;
	if (!right)
		printf("# got: %s\n", t.s);
	ok(right, wanted);
	text_free(&t);
}

static void
test_rules(Session *s)
{
	Module *m = new_module(s, "rules", 2, 2);
	Value *x = param(m, "x", type2(D_f32, 8, 16));
	Value *u = param(m, "u", type2(D_f32, 8, 4));
	Value *i = constant(m, D_i32, 3);

	rule_is(own_slice(m, x, i)->def, -1,
		"([i,k],[],[])->([j,l]) "
		"{i=8, j=1, k=16, l=2} reduction={i,k} "
		"need_replication={j,l}");
	rule_is(update_op(m, x, u, i)->def, -1,
		"([i,j],[i,k],[],[])->([i,j]) "
		"{i=8, j=16, k=4} need_replication={k}");
	rule_is(scatter_op(m, x, iota_op(m), 0)->def, 0,
		"([i,j],[k],[k,j])->"
		"([i,j]) {i=8, j=16, k=4} reduction={k}");
	rule_is(sort_op(m, 2, (Value *[]){x, x}, DIR_LT), -1,
		"([i,j],[i,j])->"
		"([i,j],[i,j]) {i=8, j=16} need_replication={j}");
}

/* A page is about the op as it was when it was asked for: its tensors may become shards. */
static void
test_rule_book(Session *s)
{
	Module *m = new_module(s, "rule_book", 2, 2);
	RuleBook *book = rule_book_new(s->arena);
	Value *x = param(m, "x", type2(D_f32, 8, 16)), *y = param(m, "y", type2(D_f32, 8, 16));
	Op *one = sort_op(m, 2, (Value *[]){x, x}, DIR_LT);
	Op *other = sort_op(m, 2, (Value *[]){y, y}, DIR_LT);
	const Rule *r = rule_book_get(book, one);

	x->type = one->results[0]->type = one->results[1]->type = type2(D_f32, 4, 16);
	ok(rule_book_get(book, other) == r && rule_book_get(book, one) != r
			&& rule_book_get(book, one)->factors[0].size == 4,
		"equal ops share a rule, also when one of them has changed");
}

/* ---- what is wrong is said ------------------------------------------ */

static char *
errors_of(const char *text, int length, bool *read)
{
	Session *s = session_new();
	char *errors = NULL;
	size_t size = 0;

	s->err = open_memstream(&errors, &size);
	Module *m = module_read(s, source_add_text(s, "t.hlo", text, length));
	diag_flush(s);
	*read = m != NULL;
	if (!m && !diag_errors(s))
		fputs("(silent)", s->err);
	fclose(s->err);
	s->err = stderr;
	session_free(s);
	return errors;
}

#define HEADER \
	"HloModule t, frontend_attributes={level=\"global\"," \
	"mesh=\"X=2,Y=4\"}\n"
#define BODY(lines) \
	HEADER "ENTRY %main {\n %x = f32[8,4] parameter(0)\n" lines \
	       "\n ROOT %r = (f32[8,4]) tuple(%x)\n}\n"

static void
test_messages(void)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "expected 'HloModule' before the end"},
		{"HloModule t\n", "without an ENTRY"},
		{"HloModule t\nENTRY %m { %x = f32[] parameter(0) }", "do not give its level"},
		{"/* never closed", "a comment without an end"},
		{BODY("%y = f33[8,4] negate(%x)"), "unknown type 'f33'"},
		{BODY("%y = f32[8,4] frobnicate(%x)"), "no op of shdc is spelled 'frobnicate'"},
		{BODY("%y = f32[8,4] negate(%z)"), "%z is not defined before this"},
		{BODY("%x = f32[8,4] negate(%x)"), "%x is defined twice"},
		{BODY("%y = f32[8,4] negate(%x, %x)"), "has 1 operands, not 2"},
		{BODY("%y = f32[8,0] negate(%x)"), "a dim of size 0"},
		{BODY("%y = f32[9223372036854775808] negate(%x)"), "more than 64 bits"},
		{BODY("%y = f32[4294967296,4294967296] negate(%x)"),
			"a dim of size 4294967296"},
		{BODY("%y = f32[8,5] negate(%x)"), "neg makes f32[8, 4], but y is f32[8, 5]"},
		{BODY("%y = f32[4,8] transpose(%x)"), "without dimensions"},
		{BODY("%y = f32[4,8] transpose(%x), dimensions={1,1}"), "names dim 1 twice"},
		{BODY("%y = f32[8,4] negate(%x), sharding={replicated}"), "named form only"},
		{BODY("%y = f32[8,4] negate(%x), sharding={mesh['X'=2,'Y'=2],"
		      "[{},{}]}"),
			"another mesh than the module's"},
		{BODY("%y = f32[8,4] negate(%x), sharding={mesh['X'=2,'Y'=4],"
		      "[{'Z'},{}]}"),
			"no axis 'Z'"},
		{BODY("%y = f32[8,4] negate(%x), sharding={mesh['X'=2,'Y'=4],"
		      "[{'X'},{'X'}]}"),
			"cannot be used together"},
		{BODY("%y = f32[8,4] negate(%x), sharding={mesh['X'=2,'Y'=4],"
		      "[{'Y':(2)3},{}]}"),
			"no part (2)3"},
		{BODY("%y = f32[] constant(1e999)"), "is not a number"},
		{BODY("%y = s8[] constant(128)"), "128 is not a value of i8"},
		{BODY("%y = f32[8,4] all-reduce(%x), to_apply=%q"), "without the fact 'axes'"},
		{BODY("%t = (f32[8,4]) tuple(%x) %y = f32[8,4] negate(%t)"), "%t is a tuple"},
		{BODY("%t = (f32[8,4]) tuple(%x) %y = f32[8,4] "
		      "get-tuple-element(%t), index=1"),
			"the tuple has no such element 1"},
		{BODY("%y = (f32[8,4]) while(%x), condition=%c, body=%b"),
			"%x is not a tuple defined before this"},
		{BODY("%y = (f32[8,4], f32[8,4]) negate(%x)"), "negate makes a tuple"},
		{BODY("%y = ((f32[8,4])) negate(%x)"), "a tuple in a tuple"},
		{BODY("%y = f32[8,4] sort(%x), dimensions={0}, to_apply=%main"),
			"a sort that is not stable"},
		{BODY("%y = f32[8,4] sort(%x), dimensions={0}, is_stable=true, "
		      "to_apply=%main"),
			"main does not compare in a way known here"},
		{BODY("%y = f32[8,4] call(%x), to_apply=%main"), "is applied twice"},
		{BODY("%y = f32[8,4] negate(%x), metadata={op_name=\"a"), "expected '\"'"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		bool read;
		char *errors = errors_of(cases[i].text, (int)strlen(cases[i].text), &read);
		bool right = !read && strstr(errors, cases[i].message);
		if (!right)
			printf("# got: %s\n", errors);
		ok(right, cases[i].message);
		free(errors);
	}
}

/* Whatever a file holds, reading it ends in a module or a message. */
static void
test_garbage(Session *s)
{
	Module *m = new_module(s, "garbage", 2, 4);
	Value *x = param(m, "x", type2(D_f32, 8, 16)), *made[7];
	Value *p = param(m, "p", type_of(D_pred, 0, NULL));
	Value *one = constant(m, D_i32, 1);
	uint32_t seed = 1;
	Text t = {0};
	bool good = true;

	add_call(m, x, &made[0]);
	made[1] = with_dim(m, O_cumsum, x, constant(m, D_f32, 0), 1);
	made[2] = slice_op(m, x);
	made[3] = add_while(m, m->entry, one, one, x)->results[2];
	made[4] = add_if(m, m->entry, p, x)->results[0];
	made[5] = scatter_op(m, x, iota_op(m), 0);
	made[6] = sort_op(m, 1, &x, DIR_GT)->results[0];
	return_all(m, 7, made);
	module_print(m, &t);
	for (int i = 0; i < 6000; i++) {
		char *copy = malloc(t.n + 1);
		memcpy(copy, t.s, t.n + 1);
		size_t n = t.n;
		for (int k = 0; k < 1 + i % 4; k++) {
			seed = seed * 1664525 + 1013904223;
			size_t at = (seed >> 8) % n;
			if (seed & 64)
				copy[at] = t.s[(seed >> 3) % t.n];
			else if (seed & 32)
				n = at + 1;
			else
				memmove(copy + at, copy + at + 1, n - at - 1);
		}
		bool read;
		char *errors = errors_of(copy, (int)n, &read);
		good &= read || !strstr(errors, "(silent)");
		free(errors);
		free(copy);
	}
	ok(good, "6000 damaged files are read or refused with a message");
	text_free(&t);
}

static void
test_types(Session *s)
{
	Module *m = new_module(s, "types", 2, 4);
	Value *a = param(m, "a", type2(D_f32, 8, 16));
	Value *b = param(m, "b", type2(D_f32, 16, 8));
	Value *p = param(m, "p", type2(D_pred, 8, 16));
	Op *sum = add_op(m->entry, O_add, 2, (Value *[]){a, b}, NULL);
	Op *neg = add_op(m->entry, O_neg, 1, &p, NULL);
	Type type;
	const char *wrong = op_types(sum, &type);

	ok(wrong
			&& !strcmp(wrong,
				"add needs operands of one type, not "
				"f32[8, 16] and f32[16, 8]"),
		"operands that differ");
	wrong = op_types(neg, &type);
	ok(wrong && !strcmp(wrong, "neg needs numbers, not pred"), "minus of a pred");
}

static void
test_verify(Session *s)
{
	Module *m = new_module(s, "broken", 2, 4);
	Value *x = param(m, "x", type2(D_f32, 8, 3));
	Value *y = op1(m, O_neg, x);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	y->name = "x";
	place(m, x, 1, "Y");
	place(m, y, 0, "XX");
	return_all(m, 1, &y);
	m->level = L_sharded;
	ok(!module_verify(m, out), "a broken module does not pass");
	fclose(out);
	ok(strstr(text, "  // ^ the name x is used twice\n"), "a name used twice");
	ok(strstr(text,
		   "  // ^ dim 1 of x has size 3, which Y (4 ways) does "
		   "not divide\n"),
		"a dim that does not divide");
	ok(strstr(text, "  // ^ x: X,X cannot be used together\n"), "an axis used twice");
	ok(strstr(text, "has an open dim"), "an open dim after propagation");
	free(text);
}

/* What the verifier says about a module that was right before `change`. */
static void
refused(Session *s, void (*change)(Module *m, Op *loop, Op *choice), Level level,
	const char *message)
{
	Module *m = new_module(s, "wrong", 2, 2);
	Value *x = param(m, "x", type2(D_f32, 8, 16));
	Value *p = param(m, "p", type_of(D_pred, 0, NULL));
	Value *one = constant(m, D_i32, 1);
	Op *loop = add_while(m, m->entry, one, one, x);
	Op *choice = add_if(m, m->entry, p, x);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	return_all(m, 2, (Value *[]){loop->results[2], choice->results[0]});
	m->level = level;
	if (level != L_global)
		close_all(m);
	bool right = module_verify(m, stdout);
	change(m, loop, choice);
	right &= !module_verify(m, out);
	fclose(out);
	if (!strstr(text, message))
		printf("# got: %s\n", text);
	ok(right && strstr(text, message), message);
	free(text);
}

static void
see_outside(Module *m, Op *loop, Op *choice)
{
	(void)choice;
	loop->bodies[1]->last->operands[2] = m->entry->params[0];
}

static void
carry_other_type(Module *m, Op *loop, Op *choice)
{
	(void)m, (void)choice;
	loop->bodies[1]->last->operands[2] = loop->bodies[1]->params[0];
}

static void
lose_parameter(Module *m, Op *loop, Op *choice)
{
	(void)m, (void)loop;
	choice->bodies[1]->nparams = 0;
	choice->bodies[1]->last->noperands = 0;
}

static void
lose_body(Module *m, Op *loop, Op *choice)
{
	(void)m, (void)choice;
	loop->nbodies = 1;
}

static void
decide_by_tensor(Module *m, Op *loop, Op *choice)
{
	(void)m, (void)choice;
	loop->bodies[0]->last->operands[0] = loop->bodies[0]->params[2];
}

static void
split_condition_param(Module *m, Op *loop, Op *choice)
{
	(void)choice;
	place(m, loop->bodies[0]->params[2], 0, "X");
}

static void
split_operand(Module *m, Op *loop, Op *choice)
{
	(void)loop, (void)choice;
	place(m, m->entry->params[0], 0, "X");
}

static void
decide_by_parts(Module *m, Op *loop, Op *choice)
{
	AxisList axes = axes_of(&m->mesh, "X");

	(void)loop;
	placement_set_unreduced(&choice->operands[0]->placement, &axes, C_or);
}

static void
test_verify_bodies(Session *s)
{
	refused(s, see_outside, L_global, "operand 2, x, is not defined before this");
	refused(s, carry_other_type, L_global,
		"a body of while returns i32[] as value 2, which is "
		"f32[8, 16]");
	refused(s, lose_parameter, L_global, "if passes 1 values for 0 parameters");
	refused(s, lose_body, L_global, "while has 1 bodies, not 2");
	refused(s, decide_by_tensor, L_global,
		"the condition of while is a scalar pred, not f32[8, 16]");
	refused(s, split_condition_param, L_sharded, "h.3 is not placed as carried.3");
	refused(s, split_operand, L_resharded, "x is not placed as carried.3");
	refused(s, decide_by_parts, L_resharded, "p decides, but is partial");
}

static void
test_names(Session *s)
{
	Module *m = module_new(s, "9 names");
	bool right = true;
	static const char *const wanted[] = {"h", "h", "h.2", "h.7", "h", "s32", "2x", "a b",
		"return"};
	static const char *const got[] = {"h", "h.2", "h.3", "h.7", "h.4", "s32_", "_2x", "a_b",
		"return.2"};

	for (int i = 0; i < 9; i++) {
		const char *name = module_unique_name(m, wanted[i]);
		if (strcmp(name, got[i]))
			printf("# %s: %s, not %s\n", wanted[i], name, got[i]);
		right &= !strcmp(name, got[i]);
	}
	ok(right, "names are unique and what HLO takes");
	for (int i = 0; i < 200000; i++)
		module_unique_name(m, "dot");
	ok(!strcmp(module_unique_name(m, "dot"), "dot.200001"), "many values of one name");
}

static void
test_changes(Session *s)
{
	Module *m = new_module(s, "changes", 2, 4);
	Value *x = param(m, "x", type2(D_f32, 8, 16));
	Value *a = op1(m, O_neg, x), *b = op1(m, O_abs, x);
	Value *c = op1(m, O_sqrt, a);

	return_all(m, 1, &c);
	value_replace_uses(m, a, b);
	ok(c->def->operands[0] == b, "uses are replaced");
	module_count_uses(m);
	ok(a->uses == 0 && b->uses == 1 && x->uses == 2, "uses are counted");
	ok(module_remove_dead(m) && !a->block, "what is unused is removed");
	op_remove(b->def);
	op_insert_before(c->def, b->def);
	ok(m->entry->first == b->def && module_verify(m, stdout), "ops move");
}

static void
test_wrong_rule(Session *s)
{
	External matrices = {.library = "matrices", .rule = "ab->ab"};
	Module *m = new_module(s, "wrong_rule", 2, 4);
	Value *x = param(m, "x", type_of(D_f32, 1, (int64_t[]){8}));
	Op *op = add_op(m->entry, O_extern, 1, &x, "y");
	FILE *said = tmpfile();
	char text[200] = "";
	int status, at;

	extern_rule_parse(s->arena, matrices.rule, &matrices.parsed, &at);
	op->external = &matrices;
	op->results[0]->type = x->type;
	fflush(stdout);
	pid_t child = fork();
	if (!child) {
		dup2(fileno(said), STDERR_FILENO);
		op_rule(s->arena, op);
		_exit(0);
	}
	bool ended = waitpid(child, &status, 0) == child && WIFEXITED(status);
	rewind(said);
	ok(ended && WEXITSTATUS(status) == EXIT_INTERNAL && fgets(text, sizeof text, said)
			&& strstr(text, "rule of extern"),
		"a rule with a dim that its op lacks ends with the op's name");
	fclose(said);
}

int
main(int argc, char **argv)
{
	Session *s = session_new();

	dump_directory = argc > 1 ? argv[1] : NULL;
	test_names(s);
	test_changes(s);
	test_types(s);
	test_pointwise(s);
	test_shape(s);
	test_contract(s);
	test_wide_dot(s);
	test_constants(s);
	test_placements(s);
	test_sets(s);
	test_call(s);
	test_bodies(s);
	test_dead_carried(s);
	test_nested_uses(s);
	test_no_results(s);
	test_indexed(s);
	test_rules(s);
	test_rule_book(s);
	test_wrong_rule(s);
	device_program(s, "device8", 2, 4, "a device program goes round");
	device_program(s, "device4096", 64, 64, "a device program for 4096 goes round");
	test_verify(s);
	test_verify_bodies(s);
	test_messages();
	test_garbage(s);
	printf("1..%d\n", tests);
	session_free(s);
	return 0;
}

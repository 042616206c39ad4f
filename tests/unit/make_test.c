/*
 * make_test.c - what every make_*() makes: ops and types, and that all of it is
 * a program that the verifier finds nothing wrong with.
 */
#include <stdio.h>
#include <string.h>

#include "ir/einsum.h"

static int tests;
static Op *last; /* of what was expected already */

static void
ok(bool good, const char *name)
{
	printf("%s %d - %s\n", good ? "ok" : "not ok", ++tests, name);
}

/* "pad f32[9,4]; slice f32[8,4]": the ops since the last call; "": none. */
static void
expect(Make k, const char *name, const Value *v, const char *wanted)
{
	Text t = {0};
	const Op *op = last ? last->next : k.block->first;

	for (; op; op = op->next) {
		const Type *type = &op->results[0]->type;
		text_printf(&t, "%s%s %s[", t.n ? "; " : "", ops[op->kind].name,
			dtypes[type->dtype].name);
		for (int d = 0; d < type->rank; d++)
			text_printf(&t, "%s%lld", d ? "," : "", (long long)type->dims[d]);
		text_add(&t, "]");
		last = k.block->last;
	}
	bool good = v && !strcmp(t.n ? t.s : "", wanted)
		&& (!*wanted || v == k.block->last->results[0]);
	ok(good, name);
	if (!good)
		printf("# made %s\n# not  %s\n", t.n ? t.s : "", wanted);
	text_free(&t);
}

#define EXPECT(expression, wanted) expect(k, #expression, expression, wanted)

static void
complain(const void *line, const char *message, void *data)
{
	int *wrong = data;

	(void)line;
	printf("# %s\n", message);
	++*wrong;
}

static Value *
param(Module *m, const char *name, DType dtype, int rank, int64_t rows, int64_t columns)
{
	Type type = type_of(dtype, rank, (int64_t[]){rows, columns});

	Value *v = block_add_param(m->entry, name, &type);
	v->placement = placement_none(rank);
	return v;
}

/* ---- tensors -------------------------------------------------------- */

static void
test_pointwise(Make k, Value *x, Value *p)
{
	Type type = x->type, table = type_of(D_i32, 1, (int64_t[]){3});

	EXPECT(make_unary(k, O_neg, x), "neg f32[8,4]");
	EXPECT(make_binary(k, O_add, x, x), "add f32[8,4]");
	EXPECT(make_select(k, p, x, x), "select f32[8,4]");
	EXPECT(make_clamp(k, x, x, x), "clamp f32[8,4]");
	EXPECT(make_compare(k, DIR_LT, x, x), "compare pred[8,4]");
	EXPECT(make_convert(k, x, D_bf16), "convert bf16[8,4]");
	EXPECT(make_convert(k, x, D_f32), "");
	EXPECT(make_constant(k, D_u8, 7), "constant u8[]");
	EXPECT(make_array(k, &table, (int64_t[]){1, -2, 3}), "constant i32[3]");
	EXPECT(make_index(k, INT32_MAX), "constant i32[]");
	EXPECT(make_index(k, INT64_C(1) << 31), "constant i64[]");
	EXPECT(make_identity(k, C_max, D_f32), "constant f32[]");
	type.dtype = D_i32;
	EXPECT(make_iota(k, &type, 1), "iota i32[8,4]");
}

static void
test_shapes(Make k, Value *x, Value *s)
{
	Type row = type_of(D_i32, 1, (int64_t[]){4}),
	     wide = type_of(D_i32, 3, (int64_t[]){5, 8, 4});
	Value *line = make_iota(k, &row, 0);

	EXPECT(line, "iota i32[4]");
	EXPECT(make_reshape(k, x, 1, (int64_t[]){32}), "reshape f32[32]");
	EXPECT(make_reshape(k, x, 2, x->type.dims), "");
	EXPECT(make_transpose(k, x, (int64_t[]){1, 0}), "transpose f32[4,8]");
	EXPECT(make_transpose(k, x, (int64_t[]){0, 1}), "");
	EXPECT(make_broadcast(k, line, &x->type, (int64_t[]){1}), "broadcast i32[8,4]");
	EXPECT(make_spread(k, x, 1, &wide), "broadcast f32[5,8,4]");
	EXPECT(make_splat(k, s, &wide), "broadcast f32[5,8,4]");
	EXPECT(make_splat(k, s, &s->type), "");
	EXPECT(make_broadcast_to(k, x, &wide), "broadcast f32[5,8,4]");
	Value *column = make_slice_dim(k, x, 1, 0, 1, 1);
	EXPECT(column, "slice f32[8,1]");
	EXPECT(make_broadcast_to(k, column, &x->type), "reshape f32[8]; broadcast f32[8,4]");
}

static void
test_parts(Make k, Value *x, Value *s, Value *i, Value *u)
{
	int64_t none[2] = {0}, one[] = {1, 1}, part[] = {3, 4};

	EXPECT(make_slice(k, x, one, part, one), "slice f32[2,3]");
	EXPECT(make_slice(k, x, none, x->type.dims, one), "");
	EXPECT(make_slice_dim(k, x, 0, 1, 8, 3), "slice f32[3,4]");
	EXPECT(make_pad(k, x, s, one, none), "pad f32[9,5]");
	EXPECT(make_pad(k, x, NULL, none, one), "constant f32[]; pad f32[9,5]");
	EXPECT(make_pad(k, x, NULL, none, none), "");
	EXPECT(make_pad_dim(k, x, 1, 2, 1), "constant f32[]; pad f32[8,7]");
	EXPECT(make_reverse(k, x, 1, one), "reverse f32[8,4]");
	EXPECT(make_reverse(k, x, 0, NULL), "");
	EXPECT(make_concatenate(k, 2, (Value *[]){x, x}, 1), "concatenate f32[8,8]");
	EXPECT(make_concatenate(k, 1, &x, 1), "");
	EXPECT(make_dynamic_slice(k, x, (Value *[]){i, i}, part),
		"constant i32[]; dynamic_slice f32[3,4]");
	EXPECT(make_dynamic_slice(k, x, (Value *[]){u, NULL}, part),
		"convert i64[]; constant i64[]; dynamic_slice f32[3,4]");
	EXPECT(make_dynamic_update_slice(k, x, x, (Value *[]){i, u}),
		"constant i32[]; constant i32[]; dynamic_update_slice f32[8,4]");
	EXPECT(make_take(k, x, i, 0), "take f32[4]");
}

static void
test_sums(Make k, Value *x)
{
	DotDims dims = {.ncontract = 1, .lhs_contract = {1}, .rhs_contract = {1}};
	Term terms[2] = {{.value = x, .letters = {0, 1}}, {.value = x, .letters = {2, 1}}};
	Term diagonal = {.value = make_dot(k, x, x, &dims, D_f32), .letters = {0, 0}};
	Term out = {.letters = {1, 0}}, row = {.letters = {0}};

	EXPECT(diagonal.value, "dot f32[8,8]");
	EXPECT(make_reduce(k, C_add, x, 1, (int64_t[]){1}), "constant f32[]; reduce f32[8]");
	EXPECT(make_reduce(k, C_add, x, 0, NULL), "");
	EXPECT(make_einsum(k, 1, terms, &out, 2, D_f32), "transpose f32[4,8]");
	EXPECT(make_einsum(k, 2, terms, &row, 1, D_f32),
		"constant f32[]; reduce f32[4]; dot f32[8]");
	EXPECT(make_einsum(k, 1, &diagonal, &row, 1, D_f32),
		"iota i32[8,8]; iota i32[8,8]; compare pred[8,8]; constant f32[]; "
		"broadcast f32[8,8]; select f32[8,8]; constant f32[]; reduce f32[8]");
	EXPECT(make_einsum(k, 1, terms, &row, 1, D_f64),
		"convert f64[8,4]; constant f64[]; reduce f64[8]");
	Op *clone = op_clone(diagonal.value->def);
	op_append(k.block, clone);
	EXPECT(clone->results[0], "dot f32[8,8]");
}

/* ---- devices -------------------------------------------------------- */

static void
test_devices(Make k, Value *x)
{
	const Mesh *mesh = &k.module->mesh;
	AxisList axes = {0}, none = {0};
	int64_t next[] = {5, 0, 1, 2, 3, 4}, same[] = {0, 1, 2, 3, 4, 5};

	axes_append(&axes, axis_whole(mesh, 0));
	Exchange parts = {.from_dim = 1, .to_dim = 0, .axes = axes};
	EXPECT(make_collective(k, O_all_gather, x, &axes, 1, C_add), "all_gather f32[8,8]");
	EXPECT(make_collective(k, O_all_reduce, x, &axes, 0, C_max), "all_reduce f32[8,4]");
	EXPECT(make_collective(k, O_reduce_scatter, x, &axes, 0, C_add),
		"reduce_scatter f32[4,4]");
	EXPECT(make_collective(k, O_all_reduce, x, &none, 0, C_add), "");
	EXPECT(make_exchange(k, x, &axes, 1, &parts),
		"reshape f32[2,4,4]; all_to_all f32[2,4,4]; transpose f32[4,2,4]; "
		"reshape f32[4,8]");
	axes_append(&axes, axis_whole(mesh, 1));
	EXPECT(make_permute(k, x, &axes, NULL, next), "collective_permute f32[8,4]");
	EXPECT(make_permute(k, x, &axes, NULL, same), "");
	Value *id = make_convert(k, make_op(k, O_partition_id, 0, NULL), D_i32);
	EXPECT(id, "partition_id u32[]; convert i32[]");
	EXPECT(make_axes_index(k, id, &axes, 1),
		"constant i32[]; rem i32[]; constant i32[]; div i32[]; constant i32[]; "
		"mul i32[]; add i32[]");
}

/* ---- the user's mistakes -------------------------------------------- */

static bool
enter(void *owner, Op *op)
{
	return owner && op->kind != O_exp;
}

static void
refuse(void *owner, DiagCode code, Range where, const char *why)
{
	(void)where;
	*(const char **)owner = code == DIAG_operation ? why : "";
}

static void
test_refusal(Make k, Value *x, Value *s)
{
	const char *why = NULL;

	k.enter = enter;
	k.refuse = refuse;
	k.owner = &why;
	ok(!make_binary(k, O_add, x, s) && why && *why, "a wrong op is refused");
	ok(!make_binary(k, O_add, x, NULL), "no operand, no op");
	ok(!make_unary(k, O_exp, x), "an op that may not enter");
	EXPECT(make_unary(k, O_neg, x), "neg f32[8,4]");
}

/* Another program, for a roll is no op of a device. */
static void
test_places(Session *session)
{
	Module *m = module_new(session, "g");
	Value *x = param(m, "x", D_f32, 2, 8, 4);
	Make k = {.module = m, .block = m->entry, .label = "flip", .mode = MODE_explicit};

	last = NULL;
	EXPECT(make_roll(k, x, 0, 0), "");
	EXPECT(make_roll(named(k, "rolled"), x, 0, 3), "roll f32[8,4]");
	ok(!strcmp(last->results[0]->name, "rolled"), "a result is called as is asked");
	const Value *v = make_unary(make_before(last), O_neg, x);
	ok(v->def->next == last && !strcmp(v->def->label, "flip")
			&& v->def->mode == MODE_explicit,
		"before an op, with what that says of itself");
}

int
main(void)
{
	Session *session = session_new();
	Module *m = module_new(session, "t");
	Make k = {.module = m, .block = m->entry, .helper = true};
	int wrong = 0;

	m->mesh.naxes = 2;
	m->mesh.axes[0] = (MeshAxis){.name = "X", .size = 2};
	m->mesh.axes[1] = (MeshAxis){.name = "Y", .size = 3};
	m->mesh.ndevices = 6;
	m->level = L_device;
	Value *x = param(m, "x", D_f32, 2, 8, 4), *s = param(m, "s", D_f32, 0, 0, 0);
	Value *p = param(m, "p", D_pred, 2, 8, 4), *i = param(m, "i", D_i32, 0, 0, 0);
	test_pointwise(k, x, p);
	test_shapes(k, x, s);
	test_parts(k, x, s, i, param(m, "u", D_u32, 0, 0, 0));
	test_sums(k, x);
	test_devices(k, x);
	test_refusal(k, x, s);
	make_return(m->entry, 0, NULL, (Range){0}, NULL);
	module_check(m, complain, &wrong);
	ok(!wrong, "all of it verifies");
	test_places(session);
	printf("1..%d\n", tests);
	session_free(session);
	return 0;
}

/*
 * no_memory_test.c - wherever memory runs out, error bounds are those that there are
 * with enough of it, or there are none.
 *
 * tensor_new() is wrapped by the linker: one call of it fails.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval/eval.h"
#include "hlo/hlo.h"

static int tests;

static void
ok(bool good, const char *name)
{
	printf("%s %d - %s\n", good ? "ok" : "not ok", ++tests, name);
}

static int64_t left; /* of calls, before one fails; counts on below */

bool __real_tensor_new(const Type *type, Tensor *t);
bool __wrap_tensor_new(const Type *type, Tensor *t);

bool
__wrap_tensor_new(const Type *type, Tensor *t)
{
	*t = (Tensor){.type = *type};
	return left-- != 0 && __real_tensor_new(type, t);
}

enum { N = 64, PARAMS = 4 };

/* One op on parameters of 64 numbers; on two devices, that its parts may travel. */
static const char program[] = "HloModule t, num_partitions=2, frontend_attributes={"
			      "level=\"global\", mesh=\"X=2\"}\n"
			      "%%f (a: bf16[], b: bf16[]) -> bf16[] {\n"
			      "  %%a = bf16[] parameter(0)\n"
			      "  %%b = bf16[] parameter(1)\n"
			      "  ROOT %%r = bf16[] %s(%%a, %%b)\n"
			      "}\n"
			      "ENTRY %%main {\n"
			      "  %%x = bf16[4,16] parameter(0)\n"
			      "  %%y = bf16[16,4] parameter(1)\n"
			      "  %%z = bf16[4,4] parameter(2)\n"
			      "  %%i = s32[16] parameter(3)\n"
			      "  %%zero = bf16[] constant(0)\n"
			      "  %%one = bf16[] constant(1)\n"
			      "  %%r = %s\n"
			      "  ROOT %%out = %.*s copy(%%r)\n"
			      "}\n";

static Module *
module_of(Session *s, const char *combiner, const char *op)
{
	const char *text =
		arena_printf(s->arena, program, combiner, op, (int)strcspn(op, " "), op);

	return module_read(s, source_add_text(s, "program", text, (int)strlen(text)));
}

static void
make_inputs(const Module *m, Tensor *inputs)
{
	for (int p = 0; p < PARAMS; p++) {
		const Type *type = &m->entry->params[p]->type;
		if (!__real_tensor_new(type, &inputs[p]))
			exit(1);
		for (int64_t i = 0; i < type_elements(type); i++)
			if (type->dtype == D_bf16) /* between 1 and 2 */
				((uint16_t *)inputs[p].data)[i] =
					(uint16_t)(0x3f80 + 37 * i % 128);
			else
				((int32_t *)inputs[p].data)[i] = (int32_t)(i % 4);
	}
}

/* Whether it could be done; the bounds, N at most, zeros where the result is exact. */
static bool
find_bounds(Module *m, const Tensor *inputs, double *bounds)
{
	Tensor out;
	double *found = NULL;

	memset(bounds, 0, N * sizeof *bounds);
	if (!eval_global_bounds(m, inputs, &out, &found, NULL))
		return false;
	if (found)
		memcpy(bounds, found, (size_t)type_elements(&out.type) * sizeof *bounds);
	free(found);
	tensor_free(&out);
	return true;
}

static void
test_op(const char *name, const char *combiner, const char *op)
{
	Session *s = session_new();
	Module *m = module_of(s, combiner, op);
	Tensor inputs[PARAMS];
	double wanted[N], bounds[N];
	bool good = m, done = false;

	if (good)
		make_inputs(m, inputs);
	left = -1;
	good = good && find_bounds(m, inputs, wanted) && wanted[3] > 0;
	for (int64_t k = 0; good && !done; k++) {
		left = k;
		if (!find_bounds(m, inputs, bounds))
			continue;
		done = left >= 0; /* nothing has failed */
		good = !memcmp(wanted, bounds, sizeof wanted);
		if (!good)
			printf("# allocation %lld\n", (long long)k);
	}
	for (int p = 0; m && p < PARAMS; p++)
		tensor_free(&inputs[p]);
	ok(good, name);
	session_free(s);
}

int
main(void)
{
	test_op("dot", "add",
		"bf16[4,4] dot(%x, %y), lhs_contracting_dims={1}, rhs_contracting_dims={0}");
	test_op("reduce", "add", "bf16[4] reduce(%x, %zero), dimensions={1}, to_apply=%f");
	test_op("product", "multiply", "bf16[4] reduce(%x, %one), dimensions={1}, to_apply=%f");
	test_op("cumsum", "add",
		"bf16[4,16] reduce-window(%x, %zero), window={size=1x16 pad=0_0x15_0}, "
		"to_apply=%f, frontend_attributes={dim=\"1\"}");
	test_op("scatter_add", "add",
		"bf16[4,4] scatter(%z, %i, %y), update_window_dims={1}, "
		"inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
		"index_vector_dim=1, to_apply=%f");
	test_op("exp", "add", "bf16[4,16] exponential(%x)");
	printf("1..%d\n", tests);
	return 0;
}

/*
 * extern.c - extern functions: the user's C on one device's tensors.
 *
 * A function is called with the dtypes it was declared with, whatever those
 * of the tensors at hand (samples are in f64).
 */
#include "eval/kernels.h"

#include <stdlib.h>
#include <string.h>

#include "shdrt.h"

static const shdrt_externs *externs; /* of the program being executed */

void
eval_use_externs(const shdrt_externs *of_program)
{
	externs = of_program;
}

/* ---- calls -------------------------------------------------------------- */

/* The function's number in the program's table. */
static int
find_function(const Op *op)
{
	const External *x = op->external;
	const char *file = source_path(op->module->session, x->declared.file);
	for (int i = 0; externs && i < externs->n; i++) {
		const shdrt_extern *row = &externs->externs[i];
		if (!strcmp(row->symbol, x->symbol) && !strcmp(row->library, x->library)
			&& !strcmp(row->file, file))
			return i;
	}
	die("the program was made without extern function '%s'", x->name);
}

/* A tensor as the function sees it: itself, or a copy in its dtype. */
typedef struct Passed {
	Tensor tensor;
	bool copied;
	int64_t strides[MAX_RANK];
} Passed;

void
copy_elements(const Tensor *from, Tensor *to)
{
	double doubles[CHUNK];
	int64_t n = type_elements(&from->type);
	for (int64_t i = 0, count; (count = chunk(n - i)); i += count) {
		Chunk wide;
		load_doubles(from, i, count, doubles);
		convert_wide(D_f64, doubles, to->type.dtype, &wide, count);
		store_wide(to->type.dtype, &wide, to->data, i, count);
	}
}

static bool
pass(const Tensor *t, DType dtype, bool result, Passed *passed, shdrt_view *view)
{
	*passed = (Passed){.tensor = *t, .copied = t->type.dtype != dtype};
	if (passed->copied) {
		Type type = t->type;
		type.dtype = dtype;
		if (!tensor_new(&type, &passed->tensor))
			return false;
		if (!result)
			copy_elements(t, &passed->tensor);
	}
	row_major(&passed->tensor.type, passed->strides);
	*view = (shdrt_view){passed->tensor.data, (shdrt_dtype)dtype, t->type.rank,
		passed->tensor.type.dims, passed->strides};
	return true;
}

bool
extern_call(const Op *op, const shdrt_extern_call *place, const Tensor *operands,
	Tensor *results, int *status)
{
	int n = op->noperands + op->nresults;
	Passed *passed = calloc((size_t)n, sizeof *passed);
	shdrt_view *views = calloc((size_t)n, sizeof *views);
	bool ok = passed && views;
	for (int i = 0; ok && i < n; i++) {
		bool result = i >= op->noperands;
		ok = pass(result ? &results[i - op->noperands] : &operands[i],
			rule_tensor(op, i)->type.dtype, result, &passed[i], &views[i]);
	}
	if (ok)
		*status = externs->call(externs->functions[find_function(op)], place, n, views);
	for (int i = 0; passed && i < n; i++) {
		if (!passed[i].copied)
			continue;
		if (ok && i >= op->noperands)
			copy_elements(&passed[i].tensor, &results[i - op->noperands]);
		tensor_free(&passed[i].tensor);
	}
	free(passed);
	free(views);
	return ok;
}

bool
external(const Op *op, const Tensor *operands, Tensor *results)
{
	const shdrt_extern_call place = {
		find_function(op),
		op->external->name,
		source_path(op->module->session, op->range.file),
		op->range.line,
	};
	const Op *around = eval_loop;
	int status;
	eval_loop = op;
	bool ok = extern_call(op, &place, operands, results, &status);
	eval_loop = around;
	eval_progress += !around;
	return ok;
}

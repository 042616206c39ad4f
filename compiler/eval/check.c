/*
 * check.c - --check: reads the unsharded program that a built one carries,
 * evaluates it on the same inputs, and compares.
 *
 * Part of libshdeval, which built programs link; the runtime knows it only as
 * a function pointer.  Messages go to standard error.
 */
#include "eval/eval.h"

#include <stdlib.h>
#include <string.h>

#include "shdrt.h"

/* The two enums list the same dtypes in the same order. */
#define X(name, bytes) \
	_Static_assert((int)SHDRT_##name == (int)D_##name, "dtypes differ");
SHDRT_DTYPES(X)
#undef X
_Static_assert((int)SHDRT_DTYPE_COUNT == (int)DTYPE_COUNT, "dtypes differ");

static Tensor
tensor_of(const shdrt_array *a)
{
	Tensor t = {.data = a->data};
	t.type = type_of((DType)a->dtype, a->rank, a->dims);
	return t;
}

/* Does the program that was read have the inputs and outputs we were given? */
static bool
fits(const Module *m, const shdrt_check_io *io)
{
	const Block *entry = m->entry;
	bool fit = entry->nparams == io->nparams &&
		entry->last->noperands == io->nresults;
	for (int i = 0; fit && i < io->nparams; i++) {
		Type type = tensor_of(&io->params[i]).type;
		fit = type_equal(&type, &entry->params[i]->type);
	}
	for (int i = 0; fit && i < io->nresults; i++) {
		Type type = tensor_of(&io->results[i]).type;
		fit = type_equal(&type, &entry->last->operands[i]->type);
	}
	return fit;
}

static shdrt_verdict
judge(const Tensor *expected, const double *bounds, const shdrt_array *actual)
{
	Tensor t = tensor_of(actual);
	Comparison c = tensor_compare(expected, bounds, &t);
	return (shdrt_verdict){
		.elements = c.elements, .mismatches = c.mismatches,
		.undecided = c.undecided, .worst = c.worst,
		.got = c.got, .wanted = c.wanted,
		.error = c.error, .bound = c.bound,
	};
}

static int
check(Module *m, const shdrt_check_io *io)
{
	size_t nparams = (size_t)io->nparams, nresults = (size_t)io->nresults;
	Tensor *inputs = calloc(nparams + 1, sizeof *inputs);
	Tensor *outputs = calloc(nresults + 1, sizeof *outputs);
	double **bounds = calloc(nresults + 1, sizeof *bounds);
	bool ok = inputs && outputs && bounds;
	eval_use_externs(io->externs);
	for (size_t i = 0; ok && i < nparams; i++)
		inputs[i] = tensor_of(&io->params[i]);
	ok = ok && eval_global_bounds(m, inputs, outputs, bounds);
	for (size_t i = 0; ok && i < nresults; i++) {
		io->verdicts[i] = judge(&outputs[i], bounds[i],
			&io->results[i]);
		tensor_free(&outputs[i]);
		free(bounds[i]);
	}
	free(inputs);
	free(outputs);
	free(bounds);
	if (ok)
		return SHDRT_OK;
	fputs("--check: not enough memory for the unsharded program\n",
		stderr);
	return SHDRT_MEMORY;
}

int
shdeval_check(const char *hlo, size_t n, const shdrt_check_io *io)
{
	Session *s = session_new();
	Module *m = NULL;
	int status = SHDRT_INTERNAL;
	if (n <= INT32_MAX) {
		int file = source_add_text(s, "<unsharded program>", hlo,
			(int)n);
		m = module_read(s, file);
	}
	diag_flush(s);
	if (m && m->level < L_device && fits(m, io))
		status = check(m, io);
	else if (m)
		fputs("--check: the unsharded program is not this program's\n",
			stderr);
	session_free(s);
	return status;
}

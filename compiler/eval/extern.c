/*
 * extern.c - extern functions: the user's C on one device's tensors, and how
 * far another execution of it may be away.
 *
 * A function is called with the dtypes it was declared with, whatever those
 * of the tensors at hand (samples are in f64).
 *
 * What is known of its accuracy: the same elements give the same results
 * within ULPS roundings, whatever the shape of the part they are in; and what
 * its rule sums over may be added in any order, so that with n terms a result
 * is off by n roundings of what the function makes of the magnitudes.
 */
#include "eval/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shdrt.h"

enum { ULPS = 4 };

static const shdrt_externs *externs; /* of the program being executed */

void
eval_use_externs(const shdrt_externs *of_program)
{
	externs = of_program;
}

/* ---- calls -------------------------------------------------------------- */

static const char *
path_of(const Module *m, Range r)
{
	const SourceFile *file = r.file ? source_file(m->session, r.file) : NULL;
	return file ? file->path : "";
}

/* The function's number in the program's table. */
static int
find_function(const Op *op)
{
	const External *x = op->external;
	const char *file = path_of(op->module, x->declared);
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

static void
copy_elements(const Tensor *from, Tensor *to)
{
	double chunk[CHUNK];
	int64_t n = type_elements(&from->type);
	for (int64_t i = 0; i < n; i += CHUNK) {
		int64_t count = n - i < CHUNK ? n - i : CHUNK;
		Chunk wide;
		load_doubles(from, i, count, chunk);
		convert_wide(D_f64, chunk, to->type.dtype, &wide, count);
		store_wide(to->type.dtype, &wide, to->data, i, count);
	}
}

static bool
pass(const Tensor *t, DType dtype, bool result, Passed *p, shdrt_view *view)
{
	*p = (Passed){.tensor = *t, .copied = t->type.dtype != dtype};
	if (p->copied) {
		Type type = t->type;
		type.dtype = dtype;
		if (!tensor_new(&type, &p->tensor))
			return false;
		if (!result)
			copy_elements(t, &p->tensor);
	}
	row_major(&p->tensor.type, p->strides);
	*view = (shdrt_view){p->tensor.data, (shdrt_dtype)dtype, t->type.rank,
		p->tensor.type.dims, p->strides};
	return true;
}

/* False: no memory.  `place`: as of shdrt_externs.call. */
static bool
call_function(const Op *op, const shdrt_extern_call *place, const Tensor *operands,
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
external(const Context *c, const Op *op, const Tensor *operands, Tensor *results)
{
	const shdrt_extern_call place = {
		find_function(op),
		op->external->name,
		path_of(op->module, op->range),
		op->range.line,
	};
	const Op *around = eval_loop;
	int status;
	(void)c;
	eval_loop = op;
	bool ok = call_function(op, &place, operands, results, &status);
	eval_loop = around;
	eval_progress += !around;
	return ok;
}

/* ---- bounds ------------------------------------------------------------- */

/* The terms that are added to one element. */
static double
summed_terms(const Op *op)
{
	double n = 1;
	ExternRule rule;
	uint64_t seen = 0;
	int at;
	extern_rule_parse(op->module->arena, op->external->rule, &rule, &at);
	for (int t = 0; t < op->noperands; t++)
		for (int d = 0; d < rule.terms[t].rank; d++) {
			int letter = rule.terms[t].letters[d];
			if (letter == WHOLE_DIM || seen >> letter & 1
				|| !extern_rule_sums(&rule, letter))
				continue;
			seen |= 1ull << letter;
			n *= (double)op->operands[t]->type.dims[d];
		}
	return n;
}

static bool
copy_magnitudes(const Inexact *x, Tensor *result)
{
	const Tensor *from = &x->value;
	if (!dtype_is_float(from->type.dtype)) {
		*result = (Tensor){0};
		return tensor_new(&from->type, result) && identity(NULL, NULL, from, result);
	}
	if (!tensor_like(from, result))
		return false;
	double *v = result->data;
	for (int64_t i = type_elements(&from->type) - 1; i >= 0; i--)
		v[i] = fabs(
			x->spread.data ? tensor_double(&x->spread, i) : tensor_double(from, i));
	return true;
}

/* Of a function that sums: what it makes of the magnitudes of its operands,
   the spread of its results. */
static bool
find_spread(const Op *op, const Inexact *x, Inexact *const *results)
{
	size_t n = (size_t)op->noperands;
	Tensor *in = calloc(n, sizeof *in);
	Tensor *out = calloc((size_t)op->nresults, sizeof *out);
	int status = 1;
	bool ok = in && out;
	for (size_t i = 0; ok && i < n; i++)
		ok = copy_magnitudes(&x[i], &in[i]);
	for (int i = 0; ok && i < op->nresults; i++)
		ok = tensor_like(&results[i]->value, &out[i]);
	ok = ok && call_function(op, NULL, in, out, &status);
	for (int r = 0; ok && r < op->nresults; r++) {
		double *v = out[r].data;
		for (int64_t i = type_elements(&out[r].type) - 1; i >= 0; i--) {
			double own = fabs(tensor_double(&results[r]->value, i));
			v[i] = !status && fabs(v[i]) > own ? fabs(v[i]) : own;
		}
		results[r]->spread = out[r];
	}
	for (size_t i = 0; in && i < n; i++)
		tensor_free(&in[i]);
	for (int r = 0; out && !ok && r < op->nresults; r++)
		tensor_free(&out[r]);
	free(in);
	free(out);
	return ok;
}

/* How far rounding may move each element; no data: not at all. */
static bool
find_extern_rounding(const Inexact *result, double terms, Tensor *rounding)
{
	DType d = result->value.type.dtype;
	*rounding = (Tensor){0};
	if (!dtype_is_float(d))
		return true;
	if (!tensor_like(&result->value, rounding))
		return false;
	double *v = rounding->data;
	double ulps = terms > 1 ? terms + ULPS : ULPS;
	for (int64_t i = type_elements(&rounding->type) - 1; i >= 0; i--)
		v[i] = ulps
			* (precisions[d].unit
					* fabs(result->spread.data
							? tensor_double(&result->spread, i)
							: tensor_double(&result->value, i))
				+ precisions[d].underflow);
	return true;
}

static bool
makes_decisions(const Op *op)
{
	for (int i = 0; i < op->nresults; i++)
		if (!dtype_is_float(op->results[i]->type.dtype))
			return true;
	return false;
}

/* Sample k of an operand; the function may decide by it. */
static bool
operand_sample(const Op *op, const Inexact *x, int k, Tensor *in, Tensor *owned)
{
	*in = is_exact(x) ? x->value : x->samples[k];
	if (is_exact(x) || in->type.dtype != D_f64 || !makes_decisions(op))
		return true;
	bool ok = exaggerate(x, k, owned);
	*in = *owned;
	return ok;
}

/* Sample k of all results, before rounding. */
static bool
call_sample(const Op *op, const Inexact *x, int k, Inexact *const *results)
{
	size_t n = (size_t)op->noperands;
	Tensor *in = calloc(2 * n, sizeof *in), *owned = in ? in + n : NULL;
	Tensor *out = calloc((size_t)op->nresults, sizeof *out);
	int status = 1;
	bool ok = in && out;
	for (size_t i = 0; ok && i < n; i++)
		ok = operand_sample(op, &x[i], k, &in[i], &owned[i]);
	for (int i = 0; ok && i < op->nresults; i++)
		out[i] = results[i]->samples[k];
	ok = ok && call_function(op, NULL, in, out, &status);
	for (int i = 0; ok && status && i < op->nresults; i++)
		copy_elements(&results[i]->value, &out[i]);
	for (size_t i = 0; owned && i < n; i++)
		tensor_free(&owned[i]);
	free(in);
	free(out);
	return ok;
}

bool
bound_extern(const Op *op, const Inexact *x, Inexact *const *results)
{
	double terms = summed_terms(op);
	Tensor rounding;
	bool ok = terms <= 1 || find_spread(op, x, results);
	for (int r = 0; ok && r < op->nresults; r++)
		ok = new_samples(results[r]);
	for (int k = 0; ok && k < SAMPLES; k++)
		ok = call_sample(op, x, k, results);
	for (int r = 0; ok && r < op->nresults; r++) {
		ok = find_extern_rounding(results[r], terms, &rounding);
		for (int k = 0; ok && rounding.data && k < SAMPLES; k++)
			perturb(op, k, results[r]->value.type.dtype, &rounding,
				&results[r]->samples[k]);
		tensor_free(&rounding);
		if (ok)
			drop_agreeing(results[r]);
	}
	return ok;
}

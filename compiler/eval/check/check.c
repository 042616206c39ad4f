/*
 * check.c - --check: reads the unsharded program that a built one carries,
 * evaluates it on the same inputs, and compares.
 *
 * Part of libshdeval, which built programs link; the runtime knows it only as
 * a function pointer.  Messages go to standard error.
 */
#include "hlo/hlo.h"
#include "eval/kernels.h"

#include <stdlib.h>
#include <string.h>

#include "shdrt.h"

/* The two enums list the same dtypes in the same order. */
#define X(name, bytes) _Static_assert((int)SHDRT_##name == (int)D_##name, "dtypes differ");
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
	int n = io->nparams + (io->results ? io->nresults : 0);
	bool fit = entry->nparams == io->nparams && entry->last->noperands == io->nresults;
	for (int i = 0; fit && i < n; i++) {
		int k = i - io->nparams;
		Type type = tensor_of(k < 0 ? &io->params[i] : &io->results[k]).type;
		Type wanted =
			value_whole_type(k < 0 ? entry->params[i] : entry->last->operands[k]);
		fit = type_equal(&type, &wanted);
	}
	return fit;
}

/* A program that was read after its dims were padded (shard/pad/) gives more than was
   asked for. */
static bool
trim_output(const Value *v, Tensor *t, double **bounds)
{
	static const int64_t start[MAX_RANK];
	Type type = value_whole_type(v), wide = type;
	Tensor trimmed = {0}, all = {.type = t->type, .data = *bounds}, less;
	if (!v->unpadded)
		return true;
	if (*bounds) {
		all.type.dtype = wide.dtype = D_f64;
		less = (Tensor){.type = wide, .data = malloc((size_t)type_stored(&wide))};
		if (less.data)
			copy_out(&all, start, &less);
		free(*bounds);
		*bounds = less.data;
		if (!less.data)
			return false;
	}
	if (!tensor_new(&type, &trimmed))
		return false;
	copy_out(t, start, &trimmed);
	tensor_free(t);
	*t = trimmed;
	return true;
}

static void
note_manual(void *reached, const Op *op, int64_t device)
{
	(void)device;
	if (op->kind == O_manual)
		table_add(reached, op->label, (void *)op);
}

/* Manual functions that the unsharded program has are as they are on devices, right or
   wrong; of those in branches that were not taken there is nothing to say. */
static void
tell_no_references(const Module *m, const Table *reached, const shdrt_check_io *io)
{
	Table *told = table_new(m->arena);
	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry))
		if (op->kind == O_manual && table_get(reached, op->label)
			&& table_add(told, op->label, (void *)op))
			io->no_reference(io->data, op->label);
}

/* What a uniform() vouches for and is not so. */
static void
tell_broken(const Module *m, const BrokenVouch *broken)
{
	const Op *op = broken->op;
	const Value *v = op->operands[0];
	const Type type = value_whole_type(v);
	int64_t element = broken->element;
	const char *at = "";
	Text along = {0};

	for (int d = type.rank; d-- > 0; element /= type.dims[d])
		at = arena_printf(m->arena, "%lld%s%s", (long long)(element % type.dims[d]),
			*at ? ", " : "", at);
	text_axes(&along, &m->mesh, op->axes);
	fprintf(stderr,
		"check uniform: WRONG in %s:%d: '%s' is not the same along %s: at [%s] it is "
		"%.9g on device %lld, and %.9g on device %lld\n",
		source_path(m->session, op->range.file), op->range.line, value_source_name(v),
		along.s, at, broken->got, (long long)broken->device, broken->wanted,
		(long long)broken->other);
	text_free(&along);
}

/* As wide as the program that was read has them; false: no memory. */
static bool
pad_inputs(const Module *m, const shdrt_check_io *io, Tensor *inputs)
{
	bool ok = true;
	for (int i = 0; ok && i < io->nparams; i++) {
		static const int64_t start[MAX_RANK];
		const Value *v = m->entry->params[i];
		Tensor given = inputs[i] = tensor_of(&io->params[i]);
		if (!v->unpadded)
			continue;
		ok = tensor_new(&v->type, &inputs[i]); /* zeros behind */
		if (ok)
			copy_in(&given, start, &inputs[i]);
	}
	return ok;
}

static void
free_inputs(const Module *m, const shdrt_check_io *io, Tensor *inputs)
{
	for (int i = 0; inputs && i < io->nparams; i++)
		if (m->entry->params[i]->unpadded)
			tensor_free(&inputs[i]);
	free(inputs);
}

/* Every uniform(), and nothing else. */
static bool
look_at_vouches(Module *m, const shdrt_check_io *io, BrokenVouch *broken)
{
	Tensor *inputs = calloc((size_t)io->nparams + 1, sizeof *inputs);
	bool ok = inputs && pad_inputs(m, io, inputs) && eval_global_vouches(m, inputs, broken);
	free_inputs(m, io, inputs);
	return ok;
}

static bool
compare_results(Module *m, const shdrt_check_io *io, BrokenVouch *broken)
{
	size_t nresults = (size_t)io->nresults;
	Tensor *inputs = calloc((size_t)io->nparams + 1, sizeof *inputs);
	Tensor *outputs = calloc(nresults + 1, sizeof *outputs);
	double **bounds = calloc(nresults + 1, sizeof *bounds);
	Table *reached = table_new(m->arena);
	bool ok = inputs && outputs && bounds && pad_inputs(m, io, inputs);
	eval_listener = (EvalListener){note_manual, reached};
	ok = ok && eval_global_bounds(m, inputs, outputs, bounds, broken);
	eval_listener.done = NULL;
	if (ok)
		tell_no_references(m, reached, io);
	for (size_t i = 0; ok && i < nresults; i++)
		ok = trim_output(m->entry->last->operands[i], &outputs[i], &bounds[i]);
	for (size_t i = 0; ok && i < nresults; i++) {
		Tensor actual = tensor_of(&io->results[i]);
		Comparison c = tensor_compare(&outputs[i], bounds[i], &actual);
		io->verdicts[i] = (shdrt_verdict){
			.elements = c.elements,
			.mismatches = c.mismatches,
			.undecided = c.undecided,
			.worst = c.worst,
			.got = c.got,
			.wanted = c.wanted,
			.error = c.error,
			.bound = c.bound,
		};
		tensor_free(&outputs[i]);
		free(bounds[i]);
	}
	free_inputs(m, io, inputs);
	free(outputs);
	free(bounds);
	return ok;
}

static int
check(Module *m, const shdrt_check_io *io)
{
	BrokenVouch broken = {.op = NULL};
	eval_use_externs(io->externs);
	bool ok = (io->results ? compare_results : look_at_vouches)(m, io, &broken);
	if (ok && broken.op && io->broken) {
		tell_broken(m, &broken);
		*io->broken = 1;
	}
	if (ok)
		return SHDRT_OK;
	fputs("--check: not enough memory for the unsharded program\n", stderr);
	return SHDRT_MEMORY;
}

int
shdeval_check(const char *hlo, size_t n, const shdrt_check_io *io)
{
	Session *s = session_new();
	Module *m = NULL;
	int status = SHDRT_INTERNAL;
	if (n <= INT32_MAX) {
		int file = source_add_text(s, "<unsharded program>", hlo, (int)n);
		m = module_read(s, file);
	}
	diag_flush(s);
	bool right = m && m->level < L_device && fits(m, io);
	if (right)
		status = check(m, io);
	else if (m)
		fputs("--check: the unsharded program is not this program's\n", stderr);
	session_free(s);
	return status;
}

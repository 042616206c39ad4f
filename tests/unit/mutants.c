/*
 * mutants.c - does --check notice what is wrong?  Reads a program before and
 * after it was distributed, makes one small mistake after the other in the
 * device program, runs it, and compares as --check does.
 *
 *   mutants GLOBAL.hlo DEVICE.hlo [SEED]
 *
 * prints, for each mistake that changes a result, its kind, the op, and
 *
 *   caught      a mismatch, replicas that differ, or devices that are stuck
 *   undecided   only elements that hang on rounding differ
 *   rounding    within the bounds, and by less than 1% of the result's
 *               greatest element
 *   missed      within the bounds, by more; or an integer
 *   endless     it did not end: whoever waits notices
 */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hlo/hlo.h"
#include "eval/kernels.h"

enum { MOST_DEVICES = 16, MAX_IO = 64, MAX_MUTANTS = 60 };

typedef struct Programs {
	Module *global, *device;
	Tensor inputs[MAX_IO], wanted[MAX_IO], right[MAX_IO];
	double *bounds[MAX_IO];
	uint64_t random;
} Programs;

static uint64_t
next(Programs *p)
{
	uint64_t z = p->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* ---- reading and running --------------------------------------------------- */

static Module *
read_module(Session *s, const char *path)
{
	int file = source_open(s, path, (Range){0});
	Module *m = file < 0 ? NULL : module_read(s, file);

	diag_flush(s);
	if (m == NULL)
		exit(3);
	return m;
}

static void
set_element(Tensor *t, int64_t i, double x)
{
	Chunk wide;

	convert_wide(D_f64, &x, t->type.dtype, &wide, 1);
	store_wide(t->type.dtype, &wide, t->data, i, 1);
}

/* Small whole numbers, or fractions of a power of two. */
static void
fill(Programs *p, Tensor *t, Positions positions)
{
	int64_t n = type_elements(&t->type), among = positions.end - positions.first;
	DType d = t->type.dtype;

	for (int64_t i = 0; i < n; i++) {
		int64_t v = (int64_t)(next(p) >> 33);
		double x = (double)(v % 256 - 128) / 128;
		v = among ? positions.first + v % among : d == D_pred ? v % 2 : v % 8;
		set_element(t, i, dtype_is_float(d) ? x : (double)v);
	}
}

static int
entry_results(const Module *m)
{
	return m->entry->last->noperands;
}

/* Whole results of the device program; false: stuck, or of no use. */
static bool
run(Programs *p, Tensor *results, bool *disagree)
{
	Module *m = p->device;
	int n = (int)m->mesh.ndevices, nparams = m->entry->nparams;
	int nresults = entry_results(m);
	static Tensor in[MOST_DEVICES][MAX_IO], out[MOST_DEVICES][MAX_IO];
	static Tensor locals[MOST_DEVICES];
	Tensor *ins[MOST_DEVICES] = {NULL}, *outs[MOST_DEVICES] = {NULL};
	EvalFailure failure = {0};

	for (int d = 0; d < n; d++) {
		ins[d] = in[d];
		outs[d] = out[d];
		for (int i = 0; i < nparams; i++)
			tensor_shard(&m->mesh, &m->entry->params[i]->placement, d,
				&p->inputs[i], &in[d][i]);
	}
	*disagree = false;
	bool ok = eval_device(m, ins, outs, &failure);
	for (int i = 0; ok && i < nresults; i++) {
		const Value *v = m->entry->last->operands[i];
		Type whole = value_whole_type(v);
		int64_t differs;
		for (int d = 0; d < n; d++)
			locals[d] = out[d][i];
		tensor_unshard(&m->mesh, &v->placement, &whole, locals, &results[i], &differs);
		*disagree |= differs >= 0;
	}
	for (int d = 0; d < n; d++) {
		for (int i = 0; i < nparams; i++)
			tensor_free(&in[d][i]);
		for (int i = 0; ok && i < nresults; i++)
			tensor_free(&out[d][i]);
	}
	return ok;
}

/* ---- mistakes ---------------------------------------------------------------- */

/* Each changes the op and tells whether it found something to change; `choice`
   is a random number. */
typedef bool Mistake(Module *m, Op *op, uint64_t choice);

static bool
drop(Module *m, Op *op, uint64_t choice)
{
	bool moves = op->kind == O_all_reduce || op->kind == O_collective_permute;

	(void)m, (void)choice;
	if (moves)
		op->kind = O_output;
	return moves;
}

static bool
other_group(Module *m, Op *op, uint64_t choice)
{
	AxisList *axes = NEW_ARRAY(m->arena, AxisList, 1);
	AxisRef axis = axis_whole(&m->mesh, (int)(choice % (uint64_t)m->mesh.naxes));

	if (op->axes == NULL || op->axes->n == 0 || op->from != NULL || op->kind == O_manual)
		return false;
	*axes = *op->axes;
	if (axes->n > 1 && choice & 64) { /* other order, or one less */
		AxisRef first = axes->a[0];
		axes->a[0] = axes->a[1];
		axes->a[1] = first;
		if (op->kind == O_all_reduce)
			axes->n = 1;
	} else {
		bool fits = op->kind == O_all_reduce || axes->a[0].size == axis.size;
		if (!fits || axes_overlap(axes, axis))
			return false;
		axes->a[0] = axis;
	}
	op->axes = axes;
	return true;
}

static bool
other_combiner(Module *m, Op *op, uint64_t choice)
{
	static const Combiner others[] = {
		[C_add] = C_max,
		[C_max] = C_min,
		[C_min] = C_max,
		[C_mul] = C_add,
		[C_and] = C_or,
		[C_or] = C_and,
	};

	(void)m, (void)choice;
	if (!(op->has & AT(combiner)))
		return false;
	op_set_int(op, A_combiner, others[op_int(op, A_combiner)]);
	return true;
}

/* An operand becomes another value of its type. */
static bool
other_operand(Module *m, Op *op, uint64_t choice)
{
	int i = op->noperands ? (int)(choice % (uint64_t)op->noperands) : 0;

	(void)m;
	if (op->noperands == 0 || op->nbodies)
		return false;
	for (Op *o = op->prev; o != NULL; o = o->prev) {
		if (o->nresults == 0 || o->results[0] == op->operands[i]
			|| !type_equal(&o->results[0]->type, &op->operands[i]->type))
			continue;
		op->operands[i] = o->results[0];
		return true;
	}
	return false;
}

static bool
swapped(Module *m, Op *op, uint64_t choice)
{
	static const bool matters[OP_COUNT] = {
		[O_sub] = true,
		[O_div] = true,
		[O_rem] = true,
		[O_compare] = true,
		[O_concatenate] = true,
		[O_pow] = true,
	};

	(void)m, (void)choice;
	if (!matters[op->kind] || op->noperands < 2
		|| !type_equal(&op->operands[0]->type, &op->operands[1]->type))
		return false;
	Value *first = op->operands[0];
	op->operands[0] = op->operands[1];
	op->operands[1] = first;
	return true;
}

static bool
add_to(Op *op, AttrKind a, int at, int64_t by)
{
	const Ints *old = op_ints(op, a);
	int64_t v[MAX_RANK];

	memcpy(v, old->v, (size_t)old->n * sizeof *v);
	v[at] += by;
	op_set_ints(op, a, old->n, v);
	return true;
}

/* A slice, a padding or a roll is off by one. */
static bool
off_by_one(Module *m, Op *op, uint64_t choice)
{
	int rank = op->nresults ? op->results[0]->type.rank : 0;
	int d = rank ? (int)(choice % (uint64_t)rank) : 0;

	(void)m;
	if (op->kind == O_slice && rank) {
		int64_t by =
			op_ints(op, A_limit)->v[d] < op->operands[0]->type.dims[d] ? 1 : -1;
		if (op_ints(op, A_start)->v[d] + by < 0)
			return false;
		return add_to(op, A_start, d, by) && add_to(op, A_limit, d, by);
	}
	if (op->kind == O_pad && rank) {
		int64_t by = op_ints(op, A_high)->v[d] > 0 ? 1 : -1;
		if (op_ints(op, A_low)->v[d] + by < 0)
			return false;
		return add_to(op, A_low, d, by) && add_to(op, A_high, d, -by);
	}
	return false;
}

static bool
other_constant(Module *m, Op *op, uint64_t choice)
{
	(void)m, (void)choice;
	if (op->kind != O_constant)
		return false;
	DType d = op->results[0]->type.dtype;
	int64_t payload = op_int(op, A_value);
	if (d == D_pred)
		op_set_int(op, A_value, !payload);
	else if (dtype_is_float(d))
		op_set_int(op, A_value, double_payload(payload_double(payload) + 0.5));
	else
		op_set_int(op, A_value, payload + 1);
	return true;
}

static bool
other_direction(Module *m, Op *op, uint64_t choice)
{
	static const Direction others[] = {
		[DIR_EQ] = DIR_NE,
		[DIR_NE] = DIR_EQ,
		[DIR_LT] = DIR_LE,
		[DIR_LE] = DIR_LT,
		[DIR_GT] = DIR_GE,
		[DIR_GE] = DIR_GT,
	};

	(void)m, (void)choice;
	if (op->kind != O_compare)
		return false;
	op_set_int(op, A_direction, others[op_int(op, A_direction)]);
	return true;
}

/* A permute takes from a neighbour of the right one. */
static bool
other_source(Module *m, Op *op, uint64_t choice)
{
	const Ints *old = op_ints(op, A_source);
	int64_t *v = NEW_ARRAY(m->arena, int64_t, old->n + 1);

	(void)choice;
	if (op->kind != O_collective_permute || old->n < 2)
		return false;
	for (int i = 0; i < old->n; i++)
		v[i] = old->v[(i + 1) % old->n];
	op_set_ints(op, A_source, old->n, v);
	return true;
}

static const struct {
	const char *name;
	Mistake *make;
} mistakes[] = {
	{"drop", drop},
	{"group", other_group},
	{"combiner", other_combiner},
	{"operand", other_operand},
	{"swap", swapped},
	{"offset", off_by_one},
	{"constant", other_constant},
	{"direction", other_direction},
	{"source", other_source},
};
enum { NMISTAKES = sizeof mistakes / sizeof mistakes[0] };

/* ---- what --check says ------------------------------------------------------- */

static bool
same_bits(const Tensor *a, const Tensor *b)
{
	return memcmp(a->data, b->data, (size_t)type_stored(&a->type)) == 0;
}

static double
greatest(const Tensor *t)
{
	double most = 0;

	for (int64_t i = type_elements(&t->type) - 1; i >= 0; i--)
		if (isfinite(tensor_double(t, i)))
			most = fmax(most, fabs(tensor_double(t, i)));
	return most;
}

/* Of the greatest number: no less than four roundings; what is summed in eight bits may be off
   by all of it. */
static double
allowed(DType d)
{
	int digits = float_formats[d].digits;

	return digits < 8 ? 1 : fmax(0.01, ldexp(4, -digits));
}

/* NULL: nothing changed. */
static const char *
verdict(Programs *p, const Tensor *results)
{
	bool changed = false, undecided = false, rounding = true;

	for (int i = 0; i < entry_results(p->device); i++) {
		if (same_bits(&results[i], &p->right[i]))
			continue;
		Comparison c = tensor_compare(&p->wanted[i], p->bounds[i], &results[i]);
		if (c.mismatches)
			return "caught";
		changed = true;
		undecided |= c.undecided > 0;
		rounding &= dtype_is_float(results[i].type.dtype)
			&& !(c.error
				> allowed(results[i].type.dtype) * greatest(&p->wanted[i]));
	}
	return !changed ? NULL : undecided ? "undecided" : rounding ? "rounding" : "missed";
}

static void
say(const Op *op, const char *name, const char *what)
{
	printf("%s %s %s\n", name, ops[op->kind].name, what);
	fflush(stdout);
}

static void
try_mistake(Programs *p, const Op *op, const char *name)
{
	const struct rlimit seconds = {2, 2};
	Tensor results[MAX_IO] = {{.data = NULL}};
	bool disagree;

	setrlimit(RLIMIT_CPU, &seconds);
	bool ok = run(p, results, &disagree);
	const char *what = !ok || disagree ? "caught" : verdict(p, results);
	if (what)
		say(op, name, what);
}

/* In a copy of this process, which a loop without an end keeps busy. */
static void
try_apart(Programs *p, const Op *op, const char *name)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		try_mistake(p, op, name);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		exit(4);
	if (WIFSIGNALED(status))
		say(op, name, WTERMSIG(status) == SIGKILL ? "endless" : "crashed");
}

/* The op as it was. */
typedef struct Saved {
	Op op;
	Value *operands[MAX_IO];
	const Ints *attrs[ATTR_COUNT];
} Saved;

static void
save(const Op *op, Saved *s)
{
	s->op = *op;
	memcpy(s->operands, op->operands, (size_t)op->noperands * sizeof *s->operands);
	memcpy(s->attrs, op->attrs, (size_t)__builtin_popcount(op->has) * sizeof *s->attrs);
}

static void
restore(Op *op, const Saved *s)
{
	*op = s->op;
	memcpy(op->operands, s->operands, (size_t)op->noperands * sizeof *s->operands);
	memcpy(op->attrs, s->attrs, (size_t)__builtin_popcount(op->has) * sizeof *s->attrs);
}

static void
mutate_block(Programs *p, const Block *b, int *left)
{
	Saved saved;

	for (Op *op = b->first; op != NULL && *left > 0; op = op->next) {
		for (int i = 0; i < op->nbodies; i++)
			mutate_block(p, op->bodies[i], left);
		if (op->noperands > MAX_IO || op->kind == O_return)
			continue;
		for (int k = 0; k<NMISTAKES && * left> 0; k++) {
			save(op, &saved);
			if (mistakes[k].make(p->device, op, next(p))) {
				try_apart(p, op, mistakes[k].name);
				--*left;
			}
			restore(op, &saved);
		}
	}
}

/* ---- the whole ---------------------------------------------------------------- */

static bool
of_use(const Programs *p)
{
	const Module *m = p->device;
	bool use = m->mesh.ndevices <= MOST_DEVICES && m->entry->nparams <= MAX_IO
		&& entry_results(m) <= MAX_IO;

	for (int i = 0; use && i < m->entry->nparams; i++)
		use = m->entry->params[i]->unpadded == NULL;
	for (int i = 0; use && i < entry_results(m); i++)
		use = m->entry->last->operands[i]->unpadded == NULL;
	return use;
}

int
main(int argc, char **argv)
{
	Session *s = session_new();
	static Programs p;
	bool disagree;
	int left = MAX_MUTANTS;

	if (argc < 3)
		return 2;
	p.global = read_module(s, argv[1]);
	p.device = read_module(s, argv[2]);
	p.random = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	if (!of_use(&p))
		return 0;
	for (int i = 0; i < p.global->entry->nparams; i++) {
		Type type = p.global->entry->params[i]->type;
		tensor_new(&type, &p.inputs[i]);
		fill(&p, &p.inputs[i], p.device->entry->params[i]->positions);
	}
	if (!eval_global_bounds(p.global, p.inputs, p.wanted, p.bounds, NULL)
		|| !run(&p, p.right, &disagree))
		return 4;
	if (disagree)
		return 4;
	mutate_block(&p, p.device->entry, &left);
	return 0;
}

/*
 * kernels.c - what steps that are no products read, write and compute.
 *
 *   fusion exp(x) + y, f32[4096,1024], v5e   50 MB of memory in 72 us, 29 million
 *                                            operations in 5: bound by memory
 *   take of 1000 rows of 64 bytes            1000 times the 512 that are read at least
 */
#include <math.h>
#include "cost/local.h"
#include "ir/flow.h"

enum { ROW_BYTES = 512 }; /* of memory at a time, where rows are anywhere; assumed */

/* ---- the table -------------------------------------------------------------- */

typedef enum Traffic {
	TRAFFIC_nothing,
	TRAFFIC_whole,
	TRAFFIC_part,
	TRAFFIC_changed,
	TRAFFIC_rows,
	TRAFFIC_added,
	TRAFFIC_sorted,
} Traffic;

/* Every op has a row. */
enum {
#define LOCAL(op, ...) ROW_OF_##op,
#include "cost/local.def"
#undef LOCAL
#define COLLECTIVE(op, ...) ROW_OF_##op,
#include "ir/collectives.def"
#undef COLLECTIVE
};
#define OP(id, ...) _Static_assert(ROW_OF_##id >= 0, "the row of " #id " in local.def");
#include "ir/ops.def"
#undef OP

static const struct {
	Traffic traffic;
	int work;
} local[OP_COUNT] = {
#define LOCAL(op, reads, operations) [O_##op] = {TRAFFIC_##reads, operations},
#include "cost/local.def"
#undef LOCAL
#define COLLECTIVE(op, ...) [O_##op] = {TRAFFIC_whole, 0},
#include "ir/collectives.def"
#undef COLLECTIVE
};

bool
op_is_alone(const Op *op)
{
	Traffic traffic = local[op->kind].traffic;

	return op_is_product(op) || op_is_grouped(op) || op->external
		|| traffic == TRAFFIC_sorted || traffic == TRAFFIC_added;
}

/* How many operations in f32 one in this dtype is. */
static double
dtype_work(DType dtype)
{
	static const int work[DTYPE_COUNT] = {
#define DTYPE(id, hlo, bits, bytes, range, class, storage, compute, peak, vector) \
	[D_##id] = vector,
#include "ir/dtypes.def"
#undef DTYPE
	};

	return work[dtype];
}

double
vector_seconds(const Target *target, DType dtype, double operations)
{
	return operations * dtype_work(dtype) / target->vector_flops;
}

/* ---- memory ------------------------------------------------------------------- */

/* So many elements of a value; none of what stays in on-chip memory. */
static double
memory_bytes(const Value *v, double elements)
{
	return v->on_chip ? 0 : elements * dtypes[v->type.dtype].bits / 8;
}

static double
operand_elements(const Step *step, int i)
{
	return (double)type_elements(step_operand(step, i));
}

static double
operand_bytes(const Step *step, int i)
{
	return memory_bytes(step->op->operands[i], operand_elements(step, i));
}

static double
operands_bytes(const Step *step, int first)
{
	double bytes = 0;

	for (int i = first; i < step->op->noperands; i++)
		bytes += operand_bytes(step, i);
	return bytes;
}

static double
result_bytes(const Step *step)
{
	const Op *op = step->op;
	double elements = (double)type_elements(step->result), bytes = 0;

	for (int i = 0; i < op->nresults; i++)
		bytes += memory_bytes(op->results[i], elements);
	return bytes;
}

/*
 * Rows of a tensor along the dims of a take or scatter_add, n elements in all: each is read by
 * itself, or all of it once, where it has room on the chip.
 */
static double
rows_bytes(const Step *step, const Type *type, double n)
{
	double size = dtypes[type->dtype].bits / 8.0;
	Lookup look = op_lookup(step->op);
	double row = (double)type_elements_from(type, look.first + look.n);
	double apart = n / row * fmax(row * size, ROW_BYTES), all = (double)type_bytes(type);

	return all <= (double)step->mesh->target->on_chip_bytes / 2 ? fmin(apart, all) : apart;
}

/* Runs of a merge sort whose lines have no room on the chip: in each, halves are
   compared over longer and longer ways, then once in it. */
static double
sort_runs(const Step *step)
{
	const Type *keys = step_operand(step, 0);
	double line = (double)keys->dims[op_int(step->op, A_dim)], bytes = 0;
	double room = fmax((double)step->mesh->target->on_chip_bytes / 2, 1);

	for (int i = 0; i < step->op->noperands; i++)
		bytes += line * dtypes[step_operand(step, i)->dtype].bits / 8;
	double merges = fmax(0, ceil(log2(bytes / room)));
	return 1 + merges * (merges + 3) / 2;
}

double
local_bytes(const Step *step)
{
	const Op *op = step->op;
	double result = result_bytes(step), elements = (double)type_elements(step->result);
	int part = op_changed_part(op);

	switch (local[op->kind].traffic) {
	case TRAFFIC_nothing:
		return 0;
	case TRAFFIC_whole:
		return operands_bytes(step, 0) + result;
	case TRAFFIC_part:
		return memory_bytes(op->operands[0], elements) + operands_bytes(step, 1)
			+ result;
	case TRAFFIC_changed:
		return operands_bytes(step, 1)
			+ memory_bytes(op->results[0], operand_elements(step, part));
	case TRAFFIC_rows:
		return (op->operands[0]->on_chip
				       ? 0
				       : rows_bytes(step, step_operand(step, 0), elements))
			+ operands_bytes(step, 1) + result;
	case TRAFFIC_added:
		return operands_bytes(step, 1)
			+ 2 * rows_bytes(step, step->result, operand_elements(step, part));
	case TRAFFIC_sorted:
		return (operands_bytes(step, 0) + result) * sort_runs(step);
	}
	return 0;
}

/* ---- the vector unit ------------------------------------------------------------ */

/* Stages of a bitonic sort of a line. */
static double
sort_stages(const Step *step)
{
	double n = (double)step_operand(step, 0)->dims[op_int(step->op, A_dim)];
	double doublings = ceil(log2(n));

	return step->op->noperands * doublings * (doublings + 1) / 2;
}

static double
worked_elements(const Step *step)
{
	const Op *op = step->op;

	if (op_changes(op))
		return operand_elements(step, op_changed_part(op));
	if (local[op->kind].traffic == TRAFFIC_sorted)
		return operand_elements(step, 0) * sort_stages(step);
	return op_reduces(op) ? operand_elements(step, 0) : (double)type_elements(step->result);
}

static double
local_vector_seconds(const Step *step)
{
	const Op *op = step->op;
	DType dtype = (op->noperands ? step_operand(step, 0) : step->result)->dtype;
	double operations = worked_elements(step) * local[op->kind].work;

	if (dtypes[dtype].bits < dtypes[step->result->dtype].bits)
		dtype = step->result->dtype;
	return vector_seconds(step->mesh->target, dtype, operations);
}

double
local_flops(const Step *step)
{
	const Op *op = step->op;
	double flops = (double)type_elements(step->result) * ops[op->kind].flops;
	const Ints *summed = op_ints(op, A_dims);

	for (int i = 0; flops > 0 && i < summed->n; i++)
		flops *= (double)step_operand(step, 0)->dims[summed->v[i]];
	return flops;
}

bool
local_work(const Step *step, StepCost *c)
{
	if (local[step->op->kind].traffic == TRAFFIC_nothing)
		return false;
	c->flops = local_flops(step);
	c->hbm_bytes = local_bytes(step);
	c->busy[RESOURCE_vpu] = local_vector_seconds(step);
	return true;
}

/* ---- fusions ---------------------------------------------------------------- */

/* How often the loops turn: what is stored, or what is combined for it. */
static double
fusion_turns(const Op *fusion, double stored)
{
	const Block *body = fusion->bodies[0];
	double turns = stored;

	for (const Op *op = body->first; op != body->last; op = op->next)
		if (op_reduces(op))
			turns = fmax(turns, (double)type_elements(&op->operands[0]->type));
	return turns;
}

/* Elements of an operand that loops read which turn so often. */
static double
read_bytes(const Value *v, double turns)
{
	return memory_bytes(v, fmin((double)type_elements(&v->type), turns));
}

/* What a product reads of the fusion's operand that it is a view of: a part of it, or
   all of it time and again. */
static double
viewed_bytes(const Op *fusion, const Value *v)
{
	double elements = (double)type_elements(&v->type);

	for (; v->def; v = v->def->operands[0]) {
		if (!v->def->noperands)
			return 0;
		elements = fmin(elements, (double)type_elements(&v->def->operands[0]->type));
	}
	return memory_bytes(fusion->operands[v->index], elements);
}

/* A product of operands that are moved as it reads them, perhaps a part of the result. */
static void
product_fusion_work(const Step *step, const Op *product, StepCost *c)
{
	const Op *fusion = step->op;
	Step inside = {step->mesh, product, NULL, &product->results[0]->type};

	product_work(&inside, c);
	c->hbm_bytes = memory_bytes(fusion->results[0],
		(double)type_elements(&product->results[0]->type));
	for (int i = 0; i < product->noperands; i++)
		c->hbm_bytes += viewed_bytes(fusion, product->operands[i]);
}

/* What rows that are anywhere take beyond their bytes. */
static double
scattered_bytes(const Step *inside, const Op *fusion, double turns)
{
	const Op *op = inside->op;
	const Value *x = op->operands[0];

	if (local[op->kind].traffic != TRAFFIC_rows || x->def
		|| fusion->operands[x->index]->on_chip)
		return 0;
	return fmax(0,
		rows_bytes(inside, &x->type, (double)type_elements(inside->result))
			- read_bytes(x, turns));
}

/* What it stores; where something is added to rows, these are read, too. */
static double
stored_bytes(const Step *step, const Op *root, double stored)
{
	const Step inside = {step->mesh, root, NULL, step->result};
	double bytes = 0;

	if (root && local[root->kind].traffic == TRAFFIC_added)
		return 2 * rows_bytes(&inside, step->result, stored);
	for (int i = 0; i < step->op->nresults; i++)
		bytes += memory_bytes(step->op->results[i], stored);
	return bytes;
}

/*
 * One pass over memory: what is stored, of a tensor that is changed a part, and of
 * each operand as much as the loops can read.
 *
 *   y = fusion(x): reduce(x), dimensions={1}, x f32[8,64]     reads 512, stores 8 numbers
 */
static void
nest_work(const Step *step, const Op *root, StepCost *c)
{
	const Op *fusion = step->op;
	const Block *body = fusion->bodies[0];
	bool changes = root && op_changes(root);
	const Type *part =
		changes ? &root->operands[op_changed_part(root)]->type : step->result;
	double stored = (double)type_elements(part), turns = fusion_turns(fusion, stored);

	for (const Op *op = body->first; op != body->last; op = op->next) {
		const Step inside = {step->mesh, op, NULL, &op->results[0]->type};
		c->flops += local_flops(&inside);
		c->busy[RESOURCE_vpu] += local_vector_seconds(&inside);
		c->hbm_bytes += scattered_bytes(&inside, fusion, turns);
	}
	for (int i = changes; i < fusion->noperands; i++)
		c->hbm_bytes += read_bytes(fusion->operands[i], turns);
	c->hbm_bytes += stored_bytes(step, root, stored);
}

void
fusion_work(const Step *step, StepCost *c)
{
	const Op *root = step->op->bodies[0]->last->operands[0]->def;
	const Op *product = step_product(step->op);

	if (product)
		product_fusion_work(step, product, c);
	else
		nest_work(step, root, c);
}

/*
 * step.c - how long a step of a device's program takes, and what bounds it.
 *
 *   dot bf16[4096,4096] x [4096,4096], v5e   137 GFLOP in 698 us, 101 MB in 123 us:
 *                                            698 us, bound by the matrix unit
 *   all-gather of 4 MB to 16 MB over 4       a link's 12.6 MB: 140 us
 *
 * The partitioner asks with the types that an op would see, the emulated clock
 * and the reports with those that it sees.
 */
#include <math.h>
#include "cost/cost.h"
#include "ir/flow.h"

/* ---- work ------------------------------------------------------------------- */

static const Type *
seen(const Op *op, const Type *operands, int i)
{
	return operands ? &operands[i] : &op->operands[i]->type;
}

static double
op_flops(const Op *op, const Type *operands, const Type *result)
{
	double flops = (double)type_elements(result) * ops[op->kind].flops;
	const Ints *summed = op_ints(op, op_is_product(op) ? A_lhs_contract : A_dims);

	for (int i = 0; flops > 0 && i < summed->n; i++)
		flops *= (double)seen(op, operands, 0)->dims[summed->v[i]];
	return flops;
}

/* ---- time ------------------------------------------------------------------- */

const char *const resource_names[RESOURCE_COUNT] = {
#define RESOURCE(id, name) [RESOURCE_##id] = name,
#include "cost/resources.def"
#undef RESOURCE
};

/* Resources work at the same time: the busiest bounds the step. */
static void
add_term(StepCost *c, Resource resource, double seconds)
{
	c->busy[resource] += seconds;
	if (c->busy[resource] <= c->seconds)
		return;
	c->seconds = c->busy[resource];
	c->bound = resource;
}

/* Of the matrix unit, FLOP/s with such inputs. */
static double
matrix_peak(const Target *target, DType dtype)
{
	const double peaks[DTYPE_COUNT] = {
#define DTYPE(id, hlo, bytes, range, class, storage, compute, peak) target->peak,
#include "ir/dtypes.def"
#undef DTYPE
	};

	return peaks[dtype];
}

/* One pass over memory. */
static StepCost
kernel_cost(const Mesh *mesh, double hbm_bytes)
{
	StepCost c = {.hbm_bytes = hbm_bytes};

	add_term(&c, RESOURCE_hbm, hbm_bytes / mesh->target->hbm_bandwidth);
	return c;
}

/* ---- fusions ----------------------------------------------------------------- */

/*
 * One pass over memory: what is stored, of a tensor that is changed a part, and of
 * each operand as much as the loops can read.  The inside of a pad is stored twice.
 *
 *   y = fusion(x): reduce(x), dimensions={1}, x f32[8,64]     reads 512, stores 8 numbers
 */
static StepCost
fusion_cost(const Mesh *mesh, const Op *op)
{
	const Block *body = op->bodies[0];
	const Op *root = body->last->operands[0]->def;
	const Value *part = root && op_changes(root) ? root->operands[op_changed_part(root)]
						     : op->results[0];
	double stored = (double)type_elements(&part->type), turns = stored;
	double bytes = 0, flops = 0;

	if (root && op_is_product(root))
		return step_cost(mesh, root, NULL, NULL);
	for (const Op *inside = body->first; inside != body->last; inside = inside->next) {
		double elements = 0;
		if (op_reduces(inside))
			elements = (double)type_elements(&inside->operands[0]->type);
		turns = elements > turns ? elements : turns;
		flops += op_flops(inside, NULL, &inside->results[0]->type);
	}
	for (int i = 0; i < op->noperands; i++) {
		const Type *t = &op->operands[i]->type;
		double all = (double)type_elements(t);
		bytes += (all < turns ? all : turns) * dtypes[t->dtype].bytes;
	}
	if (root && root->kind == O_pad)
		stored += (double)type_elements(&root->operands[0]->type);
	for (int i = 0; i < op->nresults; i++)
		bytes += stored * dtypes[op->results[i]->type.dtype].bytes;
	StepCost c = kernel_cost(mesh, bytes);
	c.flops = flops;
	return c;
}

bool
op_is_step(const Op *op)
{
	const Op *parent = op->block->parent;

	if (op == op->block->last || (parent && op_is_fusion(parent)))
		return false;
	return op->kind != O_reshape && !op_is_offset(op) && !op_is_loop(op)
		&& !op_is_branch(op);
}

const char *
step_what(const Op *op)
{
	return op->label ? op->label : op_communicates(op) ? "" : ops[op->kind].name;
}

StepCost
step_cost(const Mesh *mesh, const Op *op, const Type *operands, const Type *result)
{
	const Target *target = mesh->target;
	StepCost c = {0};

	if (op_is_fusion(op))
		return fusion_cost(mesh, op);
	if (!op->nresults || op->nbodies)
		return c;
	if (!result)
		result = &op->results[0]->type;
	double bytes = (double)type_bytes(result);
	for (int i = 0; i < op->noperands; i++)
		bytes += (double)type_bytes(seen(op, operands, i));
	c = kernel_cost(mesh, bytes);
	c.flops = op_flops(op, operands, result);
	const Type *first = op->noperands ? seen(op, operands, 0) : result;
	if (op_is_product(op))
		add_term(&c, RESOURCE_mxu, c.flops / matrix_peak(target, first->dtype));
	if (op_communicates(op)) {
		/* What it reads and writes goes at the pace of the links. */
		const Ints *source = op_ints(op, A_source);
		bytes = (double)type_bytes(first);
		c.wire_bytes = wire_bytes(op->kind, axes_size(op->axes), bytes);
		c.seconds = c.busy[RESOURCE_hbm] = 0;
		add_term(&c, RESOURCE_ici,
			source->n ? permute_seconds(mesh, op->axes, source->v, bytes, &c.hops)
				  : collective_seconds(mesh, op->kind, op->axes, bytes));
	}
	return c;
}

int64_t
whole_bytes(double bytes)
{
	bytes = ceil(bytes);
	return bytes >= (double)INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

int64_t
picoseconds(double seconds)
{
	return seconds < 9e6 ? llrint(seconds * 1e12) : INT64_MAX;
}

/*
 * step.c - how long a step of a device's program takes, and what bounds it.
 *
 *   dot bf16[4096,4096] x [4096,4096], v5e   launched in 2 us, 67 MB read before it
 *                                            begins in 96, 137 GFLOP in 734:
 *                                            832 us, bound by the matrix unit
 *   all-gather of 4 MB to 16 MB over 4       a link's 12.6 MB: 140 us
 *
 * The partitioner asks with the types that an op would see, the emulated clock
 * and the reports with those that it sees.
 */
#include <math.h>
#include "cost/local.h"
#include "ir/flow.h"

/* ---- work ------------------------------------------------------------------- */

static double
op_flops(const Step *step)
{
	const Op *op = step->op;
	double flops = (double)type_elements(step->result) * ops[op->kind].flops;
	const Ints *summed = op_ints(op, A_dims);

	for (int i = 0; flops > 0 && i < summed->n; i++)
		flops *= (double)step_operand(step, 0)->dims[summed->v[i]];
	return flops;
}

/* ---- time ------------------------------------------------------------------- */

const char *const resource_names[RESOURCE_COUNT] = {
#define RESOURCE(id, name) [RESOURCE_##id] = name,
#include "cost/resources.def"
#undef RESOURCE
};

/* Memory at the pace that copies reach. */
static double
hbm_seconds(const Target *target, double bytes)
{
	return bytes / (target->hbm_bandwidth * target->hbm_efficiency);
}

/*
 * Launched, a kernel works and reads and writes memory at the same time, and takes
 * what takes longer.  A product can't begin before it has operands: as much as half
 * of the on-chip memory holds, the rest comes meanwhile.
 */
static void
set_seconds(const Target *target, StepCost *c, bool product)
{
	double head = 0, works;

	c->busy[RESOURCE_latency] = target->launch_seconds;
	c->busy[RESOURCE_hbm] = hbm_seconds(target, c->hbm_bytes);
	if (product)
		head = hbm_seconds(target,
			fmin(c->hbm_bytes, (double)target->on_chip_bytes / 2));
	works = fmax(c->busy[RESOURCE_mxu], c->busy[RESOURCE_vpu]) + head;
	c->seconds = target->launch_seconds + fmax(works, c->busy[RESOURCE_hbm]);
	for (int r = 0; r < RESOURCE_COUNT; r++)
		if (c->busy[r] > c->busy[c->bound])
			c->bound = (Resource)r;
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
	StepCost c = {0};

	if (root && op_is_product(root))
		return step_cost(mesh, root, NULL, NULL);
	for (const Op *inside = body->first; inside != body->last; inside = inside->next) {
		Step step = {mesh, inside, NULL, &inside->results[0]->type};
		double elements = 0;
		if (op_reduces(inside))
			elements = (double)type_elements(&inside->operands[0]->type);
		turns = elements > turns ? elements : turns;
		c.flops += op_flops(&step);
	}
	for (int i = 0; i < op->noperands; i++) {
		const Type *t = &op->operands[i]->type;
		double all = (double)type_elements(t);
		c.hbm_bytes += (all < turns ? all : turns) * dtypes[t->dtype].bytes;
	}
	if (root && root->kind == O_pad)
		stored += (double)type_elements(&root->operands[0]->type);
	for (int i = 0; i < op->nresults; i++)
		c.hbm_bytes += stored * dtypes[op->results[i]->type.dtype].bytes;
	set_seconds(mesh->target, &c, false);
	return c;
}

/* ---- steps ------------------------------------------------------------------- */

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

static double
whole_operands_and_result(const Step *step)
{
	double bytes = (double)type_bytes(step->result);

	for (int i = 0; i < step->op->noperands; i++)
		bytes += (double)type_bytes(step_operand(step, i));
	return bytes;
}

/* What it reads and writes goes at the pace of the links. */
static StepCost
transfer_cost(const Step *step)
{
	StepCost c = {.bound = RESOURCE_ici, .hbm_bytes = whole_operands_and_result(step)};
	const Ints *source = op_ints(step->op, A_source);
	const AxisList *axes = step->op->axes;
	double bytes = (double)type_bytes(step_operand(step, 0));

	c.flops = op_flops(step);
	c.wire_bytes = wire_bytes(step->op->kind, axes_size(axes), bytes);
	c.seconds = source->n ? permute_seconds(step->mesh, axes, source->v, bytes, &c.hops)
			      : collective_seconds(step->mesh, step->op->kind, axes, bytes);
	c.busy[RESOURCE_ici] = c.seconds;
	return c;
}

StepCost
step_cost(const Mesh *mesh, const Op *op, const Type *operands, const Type *result)
{
	Step step = {mesh, op, operands, result};
	StepCost c = {0};

	if (op_is_fusion(op))
		return fusion_cost(mesh, op);
	if (!op->nresults || op->nbodies)
		return c;
	if (!result)
		step.result = &op->results[0]->type;
	if (op_communicates(op))
		return transfer_cost(&step);
	c.hbm_bytes = whole_operands_and_result(&step);
	if (op_is_product(op))
		product_work(&step, &c);
	else
		c.flops = op_flops(&step);
	set_seconds(mesh->target, &c, op_is_product(op));
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

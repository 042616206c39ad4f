/*
 * step.c - how long a step of a device's program takes, and what bounds it.
 *
 *   dot bf16[4096,4096] x [4096,4096], v5e   launched in 2 us, 10 MB read before it
 *                                            begins in 14, 137 GFLOP in 734:
 *                                            750 us, bound by the matrix unit
 *   all-gather of 4 MB to 16 MB over 4       a link's 12.6 MB: 140 us
 *
 * The partitioner asks with the types that an op would see, the emulated clock
 * and the reports with those that it sees.
 */
#include <math.h>
#include "cost/local.h"
#include "ir/flow.h"

/* ---- time ------------------------------------------------------------------- */

const char *const resource_names[RESOURCE_COUNT] = {
#define RESOURCE(id, name) [RESOURCE_##id] = name,
#include "cost/resources.def"
#undef RESOURCE
};

double
hbm_seconds(const Target *target, double bytes)
{
	return bytes / (target->hbm_bandwidth * target->hbm_efficiency);
}

static void
set_bound(StepCost *c)
{
	for (int r = 0; r < RESOURCE_COUNT; r++)
		if (c->busy[r] > c->busy[c->bound])
			c->bound = (Resource)r;
}

/*
 * Launched, a kernel works and reads and writes memory at the same time, and takes
 * what takes longer.  A product can't begin before it has a part of its operands; the
 * rest comes meanwhile.
 */
static void
set_seconds(const Target *target, StepCost *c)
{
	double head = 0, works;

	c->busy[RESOURCE_latency] = target->launch_seconds;
	c->busy[RESOURCE_hbm] = hbm_seconds(target, c->hbm_bytes);
	if (c->busy[RESOURCE_mxu] > 0)
		head = hbm_seconds(target, fmin(c->hbm_bytes, (double)target->head_bytes));
	works = fmax(c->busy[RESOURCE_mxu], c->busy[RESOURCE_vpu]) + head;
	works = fmax(works, c->busy[RESOURCE_host]);
	c->seconds = target->launch_seconds + fmax(works, c->busy[RESOURCE_hbm]);
	set_bound(c);
}

/* ---- steps ------------------------------------------------------------------- */

bool
op_is_step(const Op *op)
{
	const Op *parent = op->block->parent;

	if (op == op->block->last || (parent && op_is_fusion(parent)))
		return false;
	return !op_renames(op) && !op_is_joint(op) && !op_is_strip(op) && !op_is_offset(op)
		&& !op_is_loop(op) && !op_is_branch(op);
}

const Op *
step_product(const Op *op)
{
	if (op_is_fusion(op))
		op = op->bodies[0]->last->operands[0]->def;
	if (op && op->kind == O_dynamic_update_slice)
		op = op->operands[op_changed_part(op)]->def;
	return op && (op_is_product(op) || op_is_grouped(op)) ? op : NULL;
}

const char *
step_what(Arena *a, const Op *op)
{
	if (op->kind == O_done)
		return arena_printf(a, "waiting for %s", op->label);
	return op->label ? op->label : op_communicates(op) ? "" : ops[op->kind].name;
}

const char *
step_opcode(Arena *a, const Op *op)
{
	return op->kind == O_done ? op_opcode(a, op) : ops[op->kind].hlo;
}

/* What others move that are one transfer with it. */
static double
combined_bytes(const Op *first)
{
	double bytes = 0;

	for (const Op *op = first->next; op && op->combined; op = op->next)
		bytes += (double)type_bytes(&op->operands[0]->type);
	return bytes;
}

/* On the links; none takes no time. */
static void
move_bytes(const Step *step, double bytes, StepCost *c)
{
	const Op *op = step->op;
	const Ints *source = op_ints(op, A_source);

	if (bytes <= 0)
		return;
	TransferCost t = transfer_cost(step->mesh, op->kind, op->axes, op->from,
		source->n ? source->v : NULL, bytes);
	c->seconds = t.seconds;
	c->links = t.loads.used;
	c->hops = source->n ? t.hops : 0;
	c->busy[RESOURCE_latency] = t.seconds - t.links - t.network;
	c->busy[RESOURCE_ici] = t.links;
	c->busy[RESOURCE_dcn] = t.network;
	set_bound(c);
}

/* What it reads and writes goes at the pace of the links.  Of those that are one transfer
   the first takes the time of all. */
static StepCost
collective_cost(const Step *step)
{
	const Op *op = step->op;
	double bytes = (double)type_bytes(step_operand(step, 0));
	StepCost c = {
		.flops = local_flops(step),
		.hbm_bytes = local_bytes(step),
		.wire_bytes = wire_bytes(op->kind, axes_size(op->axes), bytes),
	};

	move_bytes(step, op->combined ? 0 : bytes + combined_bytes(op), &c);
	return c;
}

StepCost
transfer_of_bytes(const Op *op, double bytes)
{
	const Step step = {&op->module->mesh, op, NULL, &op->results[0]->type};
	StepCost c = {0};

	move_bytes(&step, bytes, &c);
	return c;
}

/* Counters and conditions are the scalar unit's, which is ahead of the others. */
static bool
is_scalar(const Step *step)
{
	bool scalar = !step->op->external && step->result->rank == 0;

	for (int i = 0; i < step->op->noperands; i++)
		scalar &= step_operand(step, i)->rank == 0;
	return scalar;
}

/* Between the memories of a chip and its host, at a device's share of their link. */
static void
host_work(const Step *step, StepCost *c)
{
	const Target *target = step->mesh->target;
	double share = target->host_bandwidth / (double)target->devices_per_chip;

	c->hbm_bytes = (double)type_bytes(step->result);
	c->busy[RESOURCE_host] = c->hbm_bytes / share;
}

StepCost
step_cost(const Mesh *mesh, const Op *op, const Type *operands, const Type *result)
{
	StepCost c = {0};

	if (!op->nresults || (op->nbodies && !op_is_fusion(op)) || op_has(op, A_unset))
		return c;
	const Step step = {mesh, op, operands, result ? result : &op->results[0]->type};
	if (op_communicates(op))
		return collective_cost(&step);
	if (op_is_hosted(op))
		host_work(&step, &c);
	else if (op_is_fusion(op))
		fusion_work(&step, &c);
	else if (op_states_cost(op))
		stated_work(&step, &c);
	else if (!local_work(&step, &c))
		return c;
	if (op_is_product(op) || op_is_grouped(op))
		product_work(&step, &c);
	if (is_scalar(&step))
		return (StepCost){.flops = c.flops};
	set_seconds(mesh->target, &c);
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

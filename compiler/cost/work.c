/*
 * work.c - what one device computes and receives in a whole program.
 *
 * The trips of loops count, those of a loop that runs until its data says so
 * as one, and of two branches the one that computes or moves more.
 */
#include "cost/cost.h"

/* Of `times` runs; more bytes than 64 bits count are as many as they do. */
static Work
scaled(Work w, int64_t times)
{
	if (!mul_i64(w.wire_bytes, times, &w.wire_bytes))
		w.wire_bytes = INT64_MAX;
	w.flops *= (double)times;
	return w;
}

static void
add_work(Work *sum, Work w)
{
	if (!add_i64(sum->wire_bytes, w.wire_bytes, &sum->wire_bytes))
		sum->wire_bytes = INT64_MAX;
	sum->flops += w.flops;
}

static void
raise_work(Work *most, Work w)
{
	if (w.wire_bytes > most->wire_bytes)
		most->wire_bytes = w.wire_bytes;
	if (w.flops > most->flops)
		most->flops = w.flops;
}

static Work block_work(const Module *m, const Block *b);

static Work
bodies_work(const Module *m, const Op *op)
{
	Work sum = {0};

	for (int i = 0; i < op->nbodies; i++) {
		Work w = block_work(m, op->bodies[i]);
		if (op->kind == O_if)
			raise_work(&sum, w);
		else
			add_work(&sum, w);
	}
	return sum;
}

static Work
block_work(const Module *m, const Block *b)
{
	Work sum = {0};
	int64_t trips;

	for (const Op *op = b->first; op; op = op->next) {
		StepCost c = step_cost(&m->mesh, op, NULL, NULL);
		Work w = {whole_bytes(c.wire_bytes), c.flops};
		op_trips(op, &trips);
		add_work(&sum, scaled(w, trips));
		add_work(&sum, bodies_work(m, op));
	}
	return sum;
}

Work
module_work(const Module *m)
{
	return block_work(m, m->entry);
}

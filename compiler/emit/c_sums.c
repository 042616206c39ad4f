/*
 * c_sums.c - sums of products: where all that a step does is to add products to what
 * lies where its result goes, each product is added there when it is made.
 *
 *   let a = x[0:4] @ w[0:4];       shdrt_dot_run(&dots[0], ..., y)
 *   let b = x[4:8] @ w[4:8];       shdrt_dot_run(&dots[1], ..., y)     .add = 1
 *   let y = a + b;                 nothing, but it takes its time
 *
 * A product that is rounded is so before it is added, as it would be by itself; of f32 and
 * f64 the library adds to what is there.
 */
#include "emit/c.h"
#include "ir/flow.h"

/* The only kernel that computes the step, of that kind; or NULL. */
static const Kernel *
only_kernel(Emitter *e, const Op *op, KernelKind kind)
{
	const Kernel *k =
		op_has(op, A_unset) ? NULL : view_kernels(e->view, op->results[0]->def);

	return k && !k->next && k->kind == kind && !k->reduces ? k : NULL;
}

/* What lies in memory where the node is read, if that is where the result is written. */
static const Value *
loaded(const Op *op, const Kernel *k, const Node *x)
{
	return x->kind == NODE_load && affine_equal(x->index, &k->store)
		? view_buffer(op, x->value)
		: NULL;
}

/* Is that all: ((terms[0] + terms[1]) + terms[2]) + ..., each operand once? */
static bool
find_terms(Emitter *e, const Op *op, const Value **terms)
{
	const Kernel *k = only_kernel(e, op, KERNEL_map);
	const Node *sum = k ? k->root : NULL;
	int at = op->noperands - 1;

	while (sum && at > 0 && sum->kind == NODE_compute && sum->op->kind == O_add
		&& (terms[at] = loaded(op, k, sum->args[1]))) {
		sum = sum->args[0];
		at--;
	}
	return sum && at == 0 && (terms[0] = loaded(op, k, sum));
}

/* Is all that it reads made in its block, for it alone?  Asked before its loops are. */
static bool
reads_its_own(const Emitter *e, const Op *op)
{
	bool own = op->noperands > 1;

	for (int i = 0; i < op->noperands && own; i++) {
		const Value *v = op->operands[i];
		own = v->def && v->def->block == op->block && e->sums.uses[v->id] == 1;
	}
	return own;
}

/* A product that is made after another one of the terms. */
static bool
is_added(Emitter *e, const Op *product, const Op *earlier)
{
	const int *at = e->plan->lives->at;

	return at[product->id] > at[earlier->id] && product->nresults == 1
		&& op_is_step(product) && (product->kind == O_dot || op_is_fusion(product))
		&& only_kernel(e, product, KERNEL_dot);
}

static void
find_sum(Emitter *e, const Op *op)
{
	const Value **terms = NEW_ARRAY(e->step, const Value *, op->noperands + 1);
	int n = op->noperands;

	if (!find_terms(e, op, terms) || !plan_shares(e->plan, terms[0], op->results[0]))
		return;
	for (int i = 1; i < n; i++)
		if (!is_added(e, terms[i]->def, terms[i - 1]->def))
			return;
	for (int i = 1; i < n; i++)
		e->sums.of[terms[i]->def->id] = op->results[0];
	e->sums.done[op->id] = true;
}

void
find_sums(Emitter *e)
{
	const Lives *l = e->plan->lives;

	e->sums = (Sums){.uses = NEW_ARRAY(e->arena, int, e->module->nvalues + 1),
		.of = NEW_ARRAY(e->arena, const Value *, e->module->nops + 1),
		.done = NEW_ARRAY(e->arena, bool, e->module->nops + 1)};
	for (int s = 0; s < l->n; s++)
		for (int i = 0; i < l->step[s]->noperands; i++)
			e->sums.uses[l->step[s]->operands[i]->id]++;
	for (int s = 0; s < l->n; s++) {
		arena_reset(e->step);
		if (op_is_fusion(l->step[s]) && reads_its_own(e, l->step[s]))
			find_sum(e, l->step[s]);
	}
}

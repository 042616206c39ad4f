/*
 * c_kernel.c - kernel steps as calls of functions, one function for all
 * kernels that differ only in where their buffers are.
 */
#include "emit/c.h"

/* What is loaded, and scalars; what the result is written over is loaded from there. */
static void
find_params(Nest *n)
{
	const Kernel *k = n->k;
	const Plan *plan = n->emitter->plan;

	n->params = NEW_ARRAY(n->arena, Param, k->nnodes + 1);
	n->param_of = NEW_ARRAY(n->arena, int, k->nnodes + 1);
	for (const Node *x = k->nodes; x; x = x->next) {
		const Param *p = n->params;
		if (x->kind != NODE_load && x->kind != NODE_scalar)
			continue;
		const Value *v = view_buffer(n->op, x->value);
		if (x->kind == NODE_load && plan_shares(plan, v, n->op->results[0])) {
			if (!affine_equal(x->index, &k->store))
				die("%s is written over too early", v->name);
			n->param_of[x->id] = -1;
			continue;
		}
		while (p->node
			&& (p->node->kind != x->kind || p->node->value != x->value
				|| p->offset != x->index->offset))
			p++;
		n->param_of[x->id] = (int)(p - n->params);
		if (!p->node)
			n->params[n->nparams++] = (Param){x, x->index->offset};
	}
}

/*
 * static void
 * add_12(const float *restrict a0, const float *restrict a1,    a name is never one
 *         float *restrict out)                                  of C or its library
 * { ... }
 *
 *         add_12((const float *)(slab + 64), (const float *)(slab + 128),
 *                 (float *)(slab + 0));
 */
void
emit_kernel(Emitter *e, const Op *op, const Kernel *k)
{
	Nest n = {.emitter = e, .arena = e->step, .op = op, .k = k, .indent = 1};
	Text *t = &n.text, call = {0};
	const Value *result = op->results[0];
	bool wide = op_has(op, A_scratch);
	const char *fresh =
		arena_printf(e->step, "%s_%d", ops[k->fills->kind].name, e->nkernels);

	find_params(&n);
	text_add(t, "(");
	for (int p = 0; p < n.nparams; p++) {
		const Node *x = n.params[p].node;
		const Value *v = view_buffer(op, x->value);
		DType d = x->value->type.dtype;
		c_between(t, p, "");
		c_between(&call, p, e->indent);
		if (x->kind == NODE_scalar) {
			text_printf(t, "%s a%d", dtypes[d].compute, p);
			text_add(&call, c_offset(e, v));
		} else {
			text_printf(t, "const %s *restrict a%d", dtypes[d].storage, p);
			c_address(e, &call, v, n.params[p].offset, true);
		}
	}
	c_between(t, n.nparams, "");
	text_printf(t, "%s *restrict out%s)\n{\n", dtypes[result->type.dtype].storage,
		wide ? ", float *restrict sum" : "");
	kernel_body(&n);
	text_add(t, "}\n");

	const char *name = c_share(e, t, fresh);
	if (name == fresh) {
		e->nkernels++;
		c_origin(e, &e->kernels, "", op, false);
		text_printf(&e->kernels, "static __attribute__((noinline)) void\n%s%s\n", name,
			t->s);
	}
	c_between(&call, n.nparams, e->indent);
	c_address(e, &call, result, k->store.offset, false);
	if (wide)
		text_printf(&call, ", (float *)(slab + %lld)",
			(long long)plan_scratch_offset(e->plan));
	text_printf(&e->run, "%s%s(%s);\n", e->indent, name, call.s);
	text_free(t);
	text_free(&call);
}

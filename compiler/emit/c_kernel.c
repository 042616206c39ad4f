/*
 * c_kernel.c - kernel steps as calls of functions, one function for all
 * kernels that differ only in where their buffers are.
 */
#include "emit/c.h"

static bool
same_param(const Param *p, const Node *x)
{
	return p->node->kind == x->kind && p->node->value == x->value
		&& p->offset == x->index->offset;
}

static void
find_params(KernelText *w)
{
	const Kernel *k = w->k;
	Emitter *e = w->emitter;

	w->params = NEW_ARRAY(e->arena, Param, k->nnodes + 1);
	w->param_of = NEW_ARRAY(e->arena, int, k->nnodes + 1);
	for (const Node *x = k->nodes; x; x = x->next) {
		int p = 0;
		if (x->kind != NODE_load && x->kind != NODE_scalar)
			continue;
		if (x->kind == NODE_load
			&& plan_shares(e->plan, view_buffer(w->op, x->value),
				w->op->results[0])) {
			if (!affine_equal(x->index, &k->store))
				die("%s is written over too early",
					view_buffer(w->op, x->value)->name);
			w->param_of[x->id] = -1;
			continue;
		}
		while (p < w->nparams && !same_param(&w->params[p], x))
			p++;
		if (p == w->nparams)
			w->params[w->nparams++] = (Param){x, x->index->offset};
		w->param_of[x->id] = p;
	}
}

static void
print_signature(const KernelText *w)
{
	const Type *result = &w->op->results[0]->type;

	text_add(w->t, "(");
	for (int p = 0; p < w->nparams; p++) {
		const Node *x = w->params[p].node;
		DType d = x->value->type.dtype;
		c_between(w->t, p, "");
		if (x->kind == NODE_scalar)
			text_printf(w->t, "%s a%d", compute_type(d), p);
		else
			text_printf(w->t, "const %s *restrict a%d", dtypes[d].storage, p);
	}
	c_between(w->t, w->nparams, "");
	text_printf(w->t, "%s *restrict out%s)\n{\n", dtypes[result->dtype].storage,
		op_has(w->op, A_scratch) ? ", float *restrict sum" : "");
}

/* "add_12": letters and digits only, and never a name of C or its library. */
static const char *
share_kernel(const KernelText *w, const Text *text)
{
	Emitter *e = w->emitter;
	const char *name = table_get(e->by_text, text->s);

	if (name)
		return name;
	name = arena_printf(e->arena, "%s_%d", ops[w->k->fills->kind].name, e->nkernels++);
	table_set(e->by_text, arena_strndup(e->arena, text->s, text->n), (void *)name);
	c_origin(e, &e->kernels, "", w->op, false);
	text_printf(&e->kernels, "static __attribute__((noinline)) void\n%s%s\n", name,
		text->s);
	return name;
}

static void
print_call(const KernelText *w, const char *name)
{
	Emitter *e = w->emitter;

	text_printf(&e->run, "%s%s(", e->indent, name);
	for (int p = 0; p < w->nparams; p++) {
		const Node *x = w->params[p].node;
		c_between(&e->run, p, e->indent);
		if (x->kind == NODE_scalar)
			text_add(&e->run, c_offset(e, view_buffer(w->op, x->value)));
		else
			c_address(e, &e->run, view_buffer(w->op, x->value), w->params[p].offset,
				true);
	}
	c_between(&e->run, w->nparams, e->indent);
	c_address(e, &e->run, w->op->results[0], w->k->store.offset, false);
	if (op_has(w->op, A_scratch))
		text_printf(&e->run, ", (float *)(slab + %lld)", (long long)e->plan->total);
	text_add(&e->run, ");\n");
}

void
emit_kernel(Emitter *e, const Op *op, const Kernel *k)
{
	Text text = {0};
	KernelText w = {.emitter = e, .op = op, .k = k, .t = &text, .indent = 1};

	find_params(&w);
	print_signature(&w);
	kernel_body(&w);
	text_add(&text, "}\n");
	print_call(&w, share_kernel(&w, &text));
	text_free(&text);
}

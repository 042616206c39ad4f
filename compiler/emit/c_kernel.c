/*
 * c_kernel.c - kernel steps as calls of functions, one function for all
 * kernels that differ only in where their buffers are.
 */
#include "emit/c.h"

static bool
same_param(const Emitter *e, const Param *p, const Node *x)
{
	if (p->node->kind != x->kind)
		return false;
	if (x->kind == NODE_scalar)
		return p->node->value == x->value;
	return steps_home(e->steps, p->node->value) == steps_home(e->steps, x->value)
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
		if (x->kind == NODE_load && c_same_buffer(e, x->value, w->step->result)) {
			w->param_of[x->id] = -1;
			continue;
		}
		while (p < w->nparams && !same_param(e, &w->params[p], x))
			p++;
		if (p == w->nparams)
			w->params[w->nparams++] = (Param){x, x->index->offset};
		w->param_of[x->id] = p;
	}
}

static void
print_signature(const KernelText *w)
{
	const Type *result = &w->step->result->type;

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
		step_scratch(w->step) ? ", float *restrict sum" : "");
}

/* "add_12": letters and digits only, and never a name of C or its library. */
static const char *
share_kernel(Emitter *e, const Step *s, const Text *text)
{
	const char *name = table_get(e->by_text, text->s);

	if (name)
		return name;
	name = arena_printf(e->arena, "%s_%d", ops[s->op->kind].name, e->nkernels++);
	table_set(e->by_text, arena_strndup(e->arena, text->s, text->n), (void *)name);
	c_origin(e, &e->kernels, "", s->op, NULL);
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
			text_printf(&e->run, "s%d", x->value->id);
		else
			c_address(e, &e->run, x->value, w->params[p].offset, true);
	}
	c_between(&e->run, w->nparams, e->indent);
	c_address(e, &e->run, w->step->result, w->k->store.offset, false);
	if (step_scratch(w->step))
		text_printf(&e->run, ", (float *)(slab + %lld)", (long long)e->plan->total);
	text_add(&e->run, ");\n");
}

void
emit_kernel(Emitter *e, const Step *s)
{
	Text text = {0};
	KernelText w = {.emitter = e, .step = s, .k = s->kernel, .t = &text, .indent = 1};

	find_params(&w);
	print_signature(&w);
	kernel_body(&w);
	text_add(&text, "}\n");
	if (s->base)
		c_copy(e, s->result, s->base);
	print_call(&w, share_kernel(e, s, &text));
	text_free(&text);
}

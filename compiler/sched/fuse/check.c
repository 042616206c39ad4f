/*
 * check.c - whether a fused program that was read from a file can be what it
 * says: each fusion one loop nest, each fact what its loops say, and values in one
 * buffer only where they do not meet.  After fuse all of it is so.
 */
#include "cost/residency.h"
#include "memory/lives.h"
#include "sched/fuse/fuse.h"
#include "sched/sched.h"

typedef struct Check {
	Fuse *view;
	Module *module;
	Range where;
} Check;

static void PRINTF_LIKE(2, 3) wrong(const Check *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag(c->module->session, DIAG_hlo_invalid, c->where, "%s",
		arena_vprintf(c->module->arena, fmt, ap));
	va_end(ap);
}

static void
check_step(const Check *c, Op *op)
{
	const Ints *in_place = op_ints(op, A_in_place);
	bool loops = op_is_product(op) || (op_is_fusion(op) && op->nresults == 1);
	const char *name = op->nresults ? op->results[0]->name : "";
	const Kernel *k = loops ? view_kernels(c->view, op) : NULL;
	bool nest = k;

	/* Where a dot starts is looked up in memory, an offset, or a number that is known. */
	for (const Node *x = nest && k->kind == KERNEL_dot ? k->nodes : NULL; x; x = x->next)
		nest &= x->kind == NODE_load || x->kind == NODE_clamp || x->kind == NODE_dot
			|| x->kind == NODE_scalar
			|| (x->kind == NODE_constant && !x->op->results[0]->type.rank);
	if (loops && !nest) {
		wrong(c, "%%%s is not one loop nest", name);
		return;
	}
	for (int i = 0; k && i < in_place->n; i++)
		if (!may_write_over(op, k, (int)in_place->v[i]))
			wrong(c, "%%%s cannot be written over operand %lld", name,
				(long long)in_place->v[i]);
	int64_t scratch = op_has(op, A_scratch) ? op_int(op, A_scratch) : 0;
	if (scratch != step_scratch(op, k))
		wrong(c, "%%%s works in %lld bytes, not %lld", name,
			(long long)step_scratch(op, k), (long long)scratch);
}

bool
fused_check(Module *m, Range where)
{
	Arena *a = arena_new();
	module_number(m);
	Lives *l = lives_find(m, a);
	const Check c = {view_new(m), m, where};
	int n;
	const Pair *pairs = lives_pairs(l, &n);
	const bool *unset = unset_find(m, a);

	for (int i = 0; i < l->n; i++) {
		check_step(&c, l->step[i]);
		if (op_has(l->step[i], A_unset) && !unset[l->step[i]->id])
			wrong(&c, "what is in %%%s may be read: it is not unset",
				l->step[i]->results[0]->name);
	}
	for (int i = 0; i < n; i++) {
		const Value *x = pairs[i].op->operands[pairs[i].i];
		if (!lives_join(l, x, pairs[i].with))
			wrong(&c, "%%%s and %%%s share a buffer: one has to be copied first",
				x->name, pairs[i].with->name);
	}
	for (int i = 0; i < l->n; i++)
		if (op_is_joint(l->step[i]) && !lives_join_parts(l, l->step[i]))
			wrong(&c,
				"operands of %%%s cannot be where it is: it has to be a fusion",
				l->step[i]->results[0]->name);
	const Readers *readers = readers_find(m, a);
	for (int i = 0; i < l->n; i++) {
		const Value *v = op_is_strip(l->step[i]) ? l->step[i]->results[0] : NULL;
		Strip strip;
		if (v && (!strip_find(v, &strip) || !all_read_strip(readers, v, &strip)))
			wrong(&c, "%%%s is not read where it lies: it has to be a fusion",
				v->name);
	}
	view_free(c.view);
	arena_free(a);
	if (diag_errors(m->session))
		return false;
	residency_find(m, NULL);
	return true;
}

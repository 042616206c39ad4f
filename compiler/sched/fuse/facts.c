/*
 * facts.c - what memory has to know of a step and only its loops tell: which
 * operands the result may be written over, and how many bytes it works in.
 *
 *   y = fusion(x, b)       in_place="0": each x[i0, i1] is read where y[i0, i1]
 *                          is stored; b[i1] is read for other rows too
 */
#include "memory/lives.h"
#include "sched/fuse/fuse.h"

/* It is as large as the result, and every element of it that is read the one that is
   stored. */
bool
may_write_over(const Op *op, const Kernel *k, int i)
{
	const Value *param = op->bodies[0]->params[i];
	const Type *result = &op->results[0]->type;
	bool any = false;

	if (i == op_base(op))
		return true;
	if (param->type.dtype != result->dtype || type_bytes(&param->type) != type_bytes(result)
		|| k->kind == KERNEL_scatter || k->kind == KERNEL_dot || k->next)
		return false;
	for (const Node *x = k->nodes; x; x = x->next) {
		if (x->kind != NODE_load || x->value != param)
			continue;
		if (!affine_equal(x->index, &k->store))
			return false;
		any = true;
	}
	return any;
}

/* A sort: a row of keys and where they were, two where it merges, see shdrt_sort_run().
   Sums of 16-bit floats that are scattered are kept in f32. */
int64_t
step_scratch(const Op *op, const Kernel *k)
{
	enum { ENTRY = 16, SORT_RUN = 16 };
	const Value *v = op->nresults ? op->results[0] : NULL;

	if (op->kind == O_sort) {
		int64_t row = op->operands[0]->type.dims[op_int(op, A_dim)];
		return ENTRY * row * (row > SORT_RUN ? 2 : 1);
	}
	if (k && k->kind == KERNEL_dot)
		return dot_scratch(k);
	if (k && k->kind == KERNEL_scatter && dtype_is_narrow(v->type.dtype)) /* sums in f32 */
		return type_elements(&v->type) * dtypes[D_f32].bytes;
	return 0;
}

/* Where a part is changed, the rest is that of the base. */
void
facts_set(Op *op, const Kernel *k)
{
	int64_t scratch = step_scratch(op, k);
	int base = op_base(op), n = 0;
	int64_t *in_place = NEW_ARRAY(op->module->arena, int64_t, op->noperands + 1);

	if (scratch)
		op_set_int(op, A_scratch, scratch);
	for (int i = 0; i < op->noperands && op_is_fusion(op); i++)
		if ((base < 0 || op->operands[i] == op->operands[base])
			&& may_write_over(op, k, i))
			in_place[n++] = i;
	if (n)
		op_set_ints(op, A_in_place, n, in_place);
}

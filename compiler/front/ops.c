/*
 * ops.c - appending ops to the block being built.
 *
 * Every op is checked by the op table's type function as it is made: what a
 * builder did not foresee still ends in a message, never in a bad module.
 */
#include <string.h>

#include "elaborate.h"

bool
exceeds(Elab *e, Range where, int *count, int most, const char *what)
{
	if (++*count <= most)
		return false;
	if (!e->too_large)
		complain(e, DIAG_too_large, where,
			"the program has more than %d %s after inlining", most, what);
	e->too_large = true;
	return true;
}

static bool
enter(void *owner, Op *op)
{
	Elab *e = owner;
	if (exceeds(e, op->range, &e->nops, MAX_OPS, "operations"))
		return false;
	for (int i = 0; i < op->noperands; i++)
		op->operands[i] = region_value(e, op->operands[i]);
	return true;
}

static void
refuse(void *owner, DiagCode code, Range where, const char *why)
{
	complain(owner, code, where, "%s", why);
}

/* The prelude's ops stand where the program called the prelude. */
Make
at(Elab *e, Site s)
{
	if (e->frame != NULL && e->frame->prelude)
		s = e->frame->site;
	return (Make){.module = e->m,
		.block = e->block,
		.range = s.range,
		.label = s.label,
		.mode = e->mode,
		.form = s.form,
		.enter = enter,
		.refuse = refuse,
		.joins = true,
		.owner = e};
}

/* ---- where operands are written */

/* The item of the value, by preference the i-th; NULL if there is none. */
static const Item *
item_of(const Elab *e, const Value *v, int i, int n, const Item *items)
{
	if (i < n && items[i].kind == IT_tensor && region_sees(e, items[i].value, v))
		return &items[i];
	for (int k = 0; k < n; k++) {
		const Item *x = &items[k];
		if (x->kind == IT_tensor && region_sees(e, x->value, v))
			return x;
		if (x->kind == IT_tuple && (x = item_of(e, v, i, x->n, x->items)) != NULL)
			return x;
	}
	return NULL;
}

bool
notes_operands(const Elab *e)
{
	return e->frame != NULL && !e->frame->prelude;
}

static bool
has_range(const Op *op, int i)
{
	return op->operand_ranges != NULL && op->operand_ranges[i].file != 0;
}

void
note_operands(Elab *e, const Op *before, int n, const Item *items)
{
	if (!notes_operands(e))
		return;
	for (Op *op = before ? before->next : e->block->first; op != NULL; op = op->next)
		for (int i = 0; i < op->noperands; i++) {
			const Item *x = item_of(e, op->operands[i], i, n, items);
			if (x != NULL && !has_range(op, i))
				op_set_operand_range(op, i, x->range);
		}
}

Value *
emit_placed(Elab *e, Site s, Value *v, const Annotation *a, bool asked)
{
	if (e->manual != NULL && e->manual->whole) /* sizes alone */
		return v;
	if (!asked)
		s.form = op_forms[s.form].out ? AS_out : AS_let;
	Value *placed = make_unary(at(e, s), asked ? O_reshard : O_constraint, v);
	if (placed == NULL)
		return NULL;
	placed->placement = a->placement;
	placed->annotated = true;
	placed->type_range = a->range;
	placed->def->requested = asked;
	return placed;
}

/* ---- numpy's broadcasting */

bool
broadcasts_to(const Type *x, const Type *shape)
{
	int shift = shape->rank - x->rank;
	bool fits = shift >= 0 && x->dtype == shape->dtype;
	for (int d = 0; fits && d < x->rank; d++)
		fits = x->dims[d] == 1 || x->dims[d] == shape->dims[d + shift];
	return fits;
}

bool
broadcast_shapes(Type *shape, const Type *type)
{
	bool fits = true;
	while (shape->rank < type->rank) {
		memmove(shape->dims + 1, shape->dims,
			(size_t)shape->rank++ * sizeof shape->dims[0]);
		shape->dims[0] = 1;
	}
	for (int d = 0; d < type->rank; d++) {
		int64_t *size = &shape->dims[d + shape->rank - type->rank];
		fits &= *size == type->dims[d] || *size == 1 || type->dims[d] == 1;
		if (*size == 1)
			*size = type->dims[d];
	}
	return fits;
}

bool
broadcast_shape(Elab *e, Range where, int n, Value *const *x, Type *shape)
{
	*shape = x[0]->type;
	for (int i = 1; i < n; i++) {
		const Type *type = &x[i]->type, before = *shape;
		if (broadcast_shapes(shape, type))
			continue;
		return complain(e, DIAG_broadcast, where,
			"%s and %s do not broadcast: counted from the last, dims must be equal "
			"or 1",
			show_type(e, &before), show_type(e, type));
	}
	return true;
}

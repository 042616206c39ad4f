/*
 * content.c - what is known of the elements in the padding.
 *
 * A mask before a sum is not needed where the padding holds zeros, as that of
 * parameters does.  Through an op go: zeros that stay zeros (a negation, a
 * product of two), and that numbers stay finite, for zero times them is zero.
 * Integers are always finite.
 */
#include "shard/pad/pad.h"

PadValue *
pad_value(const Padder *p, const Value *v)
{
	return p->values[v->id];
}

static Content
least(Content a, Content b)
{
	return a < b ? a : b;
}

static Content
most(Content a, Content b)
{
	return a < b ? b : a;
}

/* ---- ops element by element ----------------------------------------------------- */

/* In the padding of a dim, or everywhere (dim -1), of an operand. */
static Content
content_of(const Padder *p, const Value *v, int dim)
{
	const PadValue *f = pad_value(p, v);

	return dim < 0 || dim >= v->type.rank ? f->all : most(f->all, f->padding[dim]);
}

static Content
pointwise_content(const Padder *p, const Op *op, int dim)
{
	int first = op->kind == O_select; /* whatever is chosen */
	Content worst = CONTENT_zero, best = CONTENT_any;

	for (int i = first; i < op->noperands; i++) {
		Content c = content_of(p, op->operands[i], dim);
		worst = least(worst, c);
		best = most(best, c);
	}
	if (ops[op->kind].partial == PARTIAL_bilinear && best == CONTENT_zero
		&& worst != CONTENT_any)
		return CONTENT_zero; /* a product */
	if (op_changes_nothing(op))
		return worst;
	return worst == CONTENT_zero	  ? number_of_zeros(op)
		: worst == CONTENT_finite ? numbers[op->kind].of_finite
					  : CONTENT_any;
}

/* ---- other ops ------------------------------------------------------------------ */

/* The padding of a result's dim is that of the operand's dims which have the
   same factor. */
static bool
moves_elements(const Op *op)
{
	return numbers[op->kind].elements == ELEMENTS_moved;
}

/* Zeros combined are zero, and by and with the identity of the others. */
static bool
keeps_zeros(const Op *op)
{
	return numbers[op->kind].elements == ELEMENTS_combined;
}

/* What moves along its dim may come from anywhere. */
static Content
moved_content(const Padder *p, const Op *op, const Rule *r, int dim)
{
	const DimFactors *f = &r->dims[op->noperands][dim];
	bool moves = moves_elements(op);
	Content worst = CONTENT_zero;

	if (!f->n)
		return CONTENT_any;
	bool stays = r->factors[f->f[0]].kind == F_pass;
	for (int i = 0; i < (moves ? op->noperands : 1); i++) {
		const Value *v = op->operands[i];
		Content c = content_of(p, v, -1);
		for (int d = 0; d < v->type.rank && stays; d++) {
			/* behind the end of a part stands what it was cut off from */
			bool cut = op_takes_part(op)
				&& pad_true_size(v, d) > pad_true_size(op->results[0], d);
			if (!cut && r->dims[i][d].n && r->dims[i][d].f[0] == f->f[0])
				c = content_of(p, v, d);
		}
		worst = least(worst, c);
	}
	return moves || (keeps_zeros(op) && worst == CONTENT_zero) ? worst : CONTENT_any;
}

static Content
constant_content(const Op *op)
{
	bool is_float = dtype_is_float(op->results[0]->type.dtype);
	const Ints *values = op_ints(op, A_value);
	Content worst = CONTENT_zero;

	for (int i = 0; i < values->n; i++) {
		double v = is_float ? payload_double(values->v[i]) : values->v[i] != 0;
		/* Rounding to a narrower dtype may make an infinity of the rest. */
		worst = least(worst,
			v == 0			      ? CONTENT_zero
				: v > -6e4 && v < 6e4 ? CONTENT_finite
						      : CONTENT_any);
	}
	return worst;
}

static Content
content_everywhere(const Padder *p, const Op *op)
{
	Content worst = CONTENT_zero;

	if (op_has(op, A_value))
		return constant_content(op);
	if (numbers[op->kind].elements == ELEMENTS_each)
		return pointwise_content(p, op, -1);
	if (!moves_elements(op))
		return CONTENT_any;
	for (int i = 0; i < op->noperands; i++)
		worst = least(worst, content_of(p, op->operands[i], -1));
	return worst;
}

/* ---- bodies ---------------------------------------------------------------------- */

/* Nothing is known yet of what comes round a loop, but that the loop hands it on
   as it went in. */
void
pad_know_flows(Padder *p, Value *v)
{
	PadValue *f = pad_value(p, v);
	Content unknown = dtype_is_float(v->type.dtype) ? CONTENT_any : CONTENT_finite;
	Content first = !v->def && !v->block->parent ? unknown : CONTENT_zero;

	f->all = first;
	for (int d = 0; d < v->type.rank; d++)
		f->padding[d] = first;
	for (Flow w = {.to = v}; flow_next_to(&w);) {
		const PadValue *from = pad_value(p, w.from);
		bool comes_round = w.kind == FLOW_round;
		if (comes_round && loop_hands_on(w.op, w.index))
			continue;
		f->all = least(f->all, comes_round ? unknown : from->all);
		for (int d = 0; d < v->type.rank; d++)
			f->padding[d] =
				least(f->padding[d], comes_round ? unknown : from->padding[d]);
	}
}

void
pad_know_results(Padder *p, const Op *op)
{
	bool plain = op->nresults == 1 && !op->nbodies;
	bool each = plain && numbers[op->kind].elements == ELEMENTS_each;
	const Rule *r =
		plain && (moves_elements(op) || keeps_zeros(op)) ? op_rule(p->arena, op) : NULL;

	for (int i = 0; i < op->nresults; i++) {
		const Value *v = op->results[i];
		PadValue *f = pad_value(p, v);
		if (op->nbodies && !op->specs) {
			pad_know_flows(p, op->results[i]);
			continue;
		}
		Content floor = dtype_is_float(v->type.dtype) ? CONTENT_any : CONTENT_finite;
		f->all = most(floor, plain ? content_everywhere(p, op) : CONTENT_any);
		for (int d = 0; d < v->type.rank; d++) {
			Content c = each ? pointwise_content(p, op, d)
				: r	 ? moved_content(p, op, r, d)
					 : CONTENT_any;
			f->padding[d] = most(floor, most(c, f->all));
		}
	}
}

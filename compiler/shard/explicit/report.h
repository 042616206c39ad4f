/*
 * report.h - private to the messages of explicit mode.
 */
#ifndef SHDC_SHARD_EXPLICIT_REPORT_H
#define SHDC_SHARD_EXPLICIT_REPORT_H

#include "shard/explicit/explicit.h"

enum { MAX_CHOICES = 12 };

typedef struct Offer {
	const char *text; /* as it is shown */
	Range where;	  /* what it takes the place of */
	const char *edit; /* what stands there then */
} Offer;

typedef struct Choices {
	Explicit *e;
	int n;
	struct {
		Offer offer;
		int nplans; /* all at once */
		const ReshardPlan **plans;
	} of[MAX_CHOICES];
} Choices;

/* What an operand is written as: it, or what it is a view of. */
typedef struct Written {
	const Value *v; /* NULL: the operand stands nowhere */
	Range where;
	int dim[MAX_RANK]; /* of v, for each dim of the operand; -1 */
} Written;

/* choices.c */
Written written_operand(const Explicit *e, const Op *op, int i);
/* At most one of each text; `plan` goes from `from` to `to`. */
void offer(Choices *c, Offer o, const Value *v, const Placement *from, const Placement *to);
/* reshard(...) so that the operand is placed as `operand` */
void offer_reshard(Choices *c, const Written *w, const Placement *operand);
/* ... of several operands, in the order in which they are written */
void offer_reshards(Choices *c, int n, const Written *w, const Placement *operands);
/* out=, a placed let or a reshard around what `maker` leaves in `v` */
void offer_settled(Choices *c, const Op *maker, const Value *v, const Placement *from,
	const Placement *to);
/* x: f32[8, 16] */
void offer_parameter(Choices *c, const Value *v);
/* h = reshard(h, ...); before the op */
void offer_statement(Choices *c, const Op *op, const Value *v, const Placement *to);
void print_choices(const Choices *c);
/* White space as one blank; cut off if there is more. */
const char *one_line(Arena *a, const char *text, int longest);

/* report.c: words */
bool has_text(const Explicit *e, Range r);
const char *range_text(const Explicit *e, Range r);
/* "einsum(..., out=[8@X])" without its out= */
const char *without_out(const Explicit *e, const char *text);
const char *spec_text(const Explicit *e, const Value *v, const Placement *p);

static inline Range
operand_range(const Op *op, int i)
{
	return op->operand_ranges ? op->operand_ranges[i] : (Range){0};
}

#endif

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

typedef struct Choice {
	Offer offer;
	int nplans; /* all at once */
	const ReshardPlan **plans;
	double bytes, seconds; /* of them */
	bool defers;	       /* moves nothing and leaves partial sums */
} Choice;

typedef struct Choices { /* cheapest first */
	Explicit *e;
	int n;
	Choice of[MAX_CHOICES];
} Choices;

/* What an operand is written as: it, or what it is a view of. */
typedef struct Written {
	const Value *v; /* NULL: the operand stands nowhere */
	Range where;
	Range out;	   /* ... without this: the out= of an einsum, say */
	int dim[MAX_RANK]; /* of v, for each dim of the operand; -1 */
} Written;

/* out= of an op, whose partial sums are in `from` and go `to`. */
typedef struct Settled {
	const Op *op;
	Placement from, to;
} Settled;

/* choices.c */
Written written_operand(Explicit *e, const Op *op, int i);
/* As it is written, without `out`. */
const char *written_text(const Explicit *e, const Written *w);
/* At most one of each text; `plan` goes from `from` to `to`. */
void offer(Choices *c, Offer o, const Value *v, const Placement *from, const Placement *to);
/* reshard(...) of operands, so that they are placed as `operands`, in the order in which
   they are written, and unless NULL `settled`; false if that cannot be written */
bool offer_reshards(Choices *c, int n, const Written *w, const Placement *operands,
	const Settled *settled);
/* out=, a placed let or a reshard around what `maker` leaves in `v` */
void offer_settled(Choices *c, const Op *maker, const Value *v, const Placement *from,
	const Placement *to);
/* Partial sums combined on all devices, and, for each dim that has room, a part of
   them on each; rank + 1 at most.  How many. */
int settled_ways(const Value *v, const Placement *partial, Placement *ways);
/* x: f32[8, 16] */
void offer_parameter(Choices *c, const Value *v);
/* h = reshard(h, ...); before the op */
void offer_statement(Choices *c, const Op *op, const Value *v, const Placement *to);
void print_choices(const Choices *c);
/* White space as one blank; cut off if there is more. */
const char *one_line(Arena *a, const char *text, int longest);

/* candidates.c */
/* The operands of an op placed so that it can go on: past what it is stuck at, as
   derive() has just found. */
void offer_ways(Choices *c, OpState *o, const Finding *stuck);
/* ... so that it leaves no partial sums, as derive() has found that it does. */
void offer_gathered(Choices *c, OpState *o);
/* ... so that it leaves fewer of them, and those settled. */
void offer_agreed(Choices *c, OpState *o);
/* ... of a call, whose body is stuck. */
typedef struct Blame {
	int operand;
	bool sums; /* it is enough to settle them */
} Blame;
Blame offer_call_ways(Choices *c, OpState *o);

/* report.c: words */
bool has_text(const Explicit *e, Range r);
const char *range_text(const Explicit *e, Range r);
const char *spec_text(const Explicit *e, const Value *v, const Placement *to);

static inline Range
operand_range(const Op *op, int i)
{
	return op->operand_ranges ? op->operand_ranges[i] : nowhere;
}

#endif

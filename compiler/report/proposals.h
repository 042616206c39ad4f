/*
 * proposals.h - other placements, with which less might move.
 *
 * What moves for one place in the source, in all copies that calls and unrolled loops
 * made of it, gets proposals for all copies at once.  All proposals that place the same
 * values equally share a trial.
 */
#ifndef SHDC_PROPOSALS_H
#define SHDC_PROPOSALS_H

#include "cost/ledger.h"
#include "report/report.h"
#include "pipeline/pipeline.h"

typedef struct Proposal {
	Placed *placed;
	int n;
	bool padded; /* so that rows are exchanged; these come first */
	int kind;    /* of those for the same op */
	Trial *trial;
} Proposal;

typedef struct Proposals {
	const Module *module;
	Arena *arena;
	int kinds; /* so far */
	Proposal *all;
	int n;
} Proposals;

typedef struct Trials {
	Trial **all;
	int n;
} Trials;

/* Those that there are for each copy; of what an annotation asks for other annotations. */
Proposals proposals_find(const Module *m, Arena *a, const Transfer *const *copies, int n,
	const Annotations *annotations);
/* Each gets a trial, which is yet to be made. */
void proposals_try(Proposals *found, Arena *a, Trials *trials);
/* "p: [18@rows pad, 8]", "let NAME: [15@rows pad, 8] = x[1:]" */
void text_proposal(Text *t, const Module *m, const Placed *placed, int n);

/* python.c: of a JAX program, can its Python place the value, and so; are two what one
   expression makes; "train.py:22: with_sharding_constraint(x @ w, P('data', None))" */
bool python_can_place(const Module *m, const Value *v);
bool python_can_say(const Module *m, const Value *v, const Placement *to);
bool python_is_copy(const Value *x, const Value *v);
/* Is the operand the gradient of what the expression makes?  A constraint places that, too. */
bool python_is_gradient(const Op *op, int operand, const Value *v);
void text_python_placed(Text *t, const Module *m, const Placed *placed);
/* ... before it is used there: an argument stays where it is.  Of one can_move says whether
   it is known where it has its name. */
bool python_can_move(const Module *m, const Value *v, Range use);
void text_python_moved(Text *t, const Module *m, const Placed *placed, Range use);

/* The value before it was moved. */
const Value *unmoved(const Value *v);
/* The first op that uses a reshard's result, in its block; NULL: none. */
const Op *user_of(const Op *reshard);
/* Who works on a value as it is, also in the bodies of loops and branches that it is
   handed to; so many at most. */
typedef struct Reader {
	const Op *op;
	int operand;
} Reader;
typedef struct Readers {
	Reader *all;
	int n;
} Readers;
void add_readers(Readers *found, Arena *a, const Value *v, int most);
/* Does the op move elements along a dim, to a size that is not a multiple of the ways
   in which its operand is split? */
bool leaves_remainder(const Op *op, const Value *operand, int dim);

#endif

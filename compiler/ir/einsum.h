/*
 * einsum.h - products of tensors whose dims have letters.
 */
#ifndef SHDC_EINSUM_H
#define SHDC_EINSUM_H

#include "ir/make.h"

enum {
	FIRST_HIDDEN = 26 * 2,			    /* letters of the dims under `...` */
	MAX_LETTERS = FIRST_HIDDEN + MAX_USER_RANK, /* of one einsum; a bit each */
	MAX_TERMS = 64,
};

/* An operand with named dims; in the result there is no value yet. */
typedef struct Term {
	Value *value;
	int letters[MAX_RANK];	/* of each dim: 0.. < MAX_LETTERS */
	Range ranges[MAX_RANK]; /* where each letter is written */
	const Value *written;	/* as the program has it, `where`; or NULL */
	Range where;
} Term;

/* As it is written, '.' for one of those under `...`. */
char letter_name(int letter);
/* The product of n terms, summed over the letters that the result leaves out.
   Dims of one letter have one size.  NULL where k refuses an op. */
Value *make_einsum(Make k, int n, const Term *terms, const Term *result, int rank, DType dtype);
/* Without dim `d`, which has size 1. */
bool term_drop_dim(Make k, Term *term, int d);

#endif

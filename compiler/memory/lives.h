/*
 * lives.h - when each value of a fused program has to be in memory, and which
 * of them may share a buffer.
 */
#ifndef SHDC_LIVES_H
#define SHDC_LIVES_H

#include "ir/ir.h"

/* Written at step `from`, read for the last time at step `to`.  Parameters of
   the entry are there at -1, its results at the number of steps, and so are parameters
   that are kept. */
typedef struct Life {
	int from, to;
	const Value *value;
} Life;

/* Values of one buffer, in the order in which they are written. */
typedef struct Shared {
	Life *lives;
	int *longest; /* which of lives[0] to lives[i] is there longest */
	int n, room;
	Life one; /* room for the first, */
	int is_longest;
	bool mixed; /* of several roots */
	int taker;  /* for those who ask where something goes; 0 */
	/* Of operands of joints: the buffer of the result, of which this one is a range from
	   that byte on, as the emulator has it; else NULL. */
	struct Shared *within;
	int64_t at;
	struct Shared *parts, *next; /* such ranges of this buffer; the next of the same */
} Shared;

typedef struct Lives {
	Module *module;
	Arena *arena;
	Op **step; /* in order; a body ends with its return */
	int n;
	bool bodies;	     /* some steps have such */
	int *at;	     /* by op id: its step */
	Life *life;	     /* by value id */
	const Value **root;  /* by value id: the value whose elements it has, or
			       some of them, in the same place; NULL: not in memory */
	const Value **whole; /* by id, of a root: the result of the joint that it is an
				operand of, if it lies there */
	Shared **shared;     /* by value id */
} Lives;

/* Requires L_fused and module_number(). */
Lives *lives_find(Module *m, Arena *a);
/* At its step `op` reads x and writes v: may they be in the same place? */
bool lives_may_overwrite(const Op *op, const Value *x, const Value *v);
/* The two may be in one buffer, and so they are from now on. */
bool lives_join(Lives *l, const Value *a, const Value *b);
/* An operand of `op` that dies there has its result in its buffer from now on; not one of those
   that stay `apart`, by value id (NULL: none). */
void lives_join_dying(Lives *l, const Op *op, const bool *apart);
/* The operands of a concatenation may each be a range of its result's buffer, and so they
   are from now on: all of them or none.  Of joints of the program first to last. */
bool lives_join_parts(Lives *l, const Op *joint);
/* The result of a fusion that only takes parts of its operand may be a name of these: of
   all lives that it has none is in their way.  So it is from now on, where it may. */
bool lives_may_join_slice(Lives *l, const Op *fusion);
void lives_join_slice(Lives *l, const Op *fusion);
/* From when to when a buffer, or a range of it, is for something. */
typedef struct LifeSpan {
	int from, to;
} LifeSpan;
LifeSpan lives_span(const Shared *s);
/* The buffer that has all of it, if it is a range of another; NULL stays NULL. */
static inline const Shared *
lives_outermost(const Shared *s)
{
	while (s && s->within)
		s = s->within;
	return s;
}
/* The buffer of which that value is the first, by its id; NULL: it is no first one, or that of
   a range of another. */
const Shared *lives_buffer(const Lives *l, int value);
/* All that is put into a range of a buffer, of which none is a part, in that time: lives of it
   and of the buffers around it, in order. */
const Life *lives_of_range(const Shared *s, LifeSpan span, Arena *a, int *n);
/* In which all values of the block, and of those in it, are written. */
LifeSpan lives_of_block(const Lives *l, const Block *b);

/*
 * Pairs of values that the program has in one buffer: what a loop carries, in
 * this round and the next; what a branch returns and the result; a tensor and
 * the same with a part changed; what changes places.  Operand i of `op`, which
 * may be a return, is the one that can be copied first.
 */
typedef struct Pair {
	Op *op;
	int i;
	Value *with;
} Pair;
Pair *lives_pairs(const Lives *l, int *n);
/* The operand of which a fusion or an exchange changes a part; -1: none. */
int op_base(const Op *op);

#endif

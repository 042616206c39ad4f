/*
 * chain.h - sums that are added to each other, up to where they are whole again: what
 * becomes partial, and which moves go, once all of it is known.
 */
#ifndef SHDC_CHAIN_H
#define SHDC_CHAIN_H

#include "shard/partition/partition.h"

/* Something to be done once the whole chain is known to be one. */
typedef struct Step {
	Op *move;	/* a reshard that goes, or NULL */
	bool leaf;	/* ... of what is added, which is over some axes of the chain's */
	Value *partial; /* what becomes partial, or NULL */
	Op *beside;	/* an op on parts, or NULL */
	bool *parts;	/* ... of each operand, whether it is; the others go beside these */
	Op *user;	/* takes its operand `whole`, which is, as parts then, or NULL */
	int whole;
	struct Step *next;
} Step;

typedef struct Chain {
	Partitioner *p;
	bool known;	/* is `partial` set? */
	bool requested; /* some sum was asked for */
	bool scattered; /* `whole` is split along axes that are summed over */
	bool slices;	/* of what is carried, each is written once */
	bool widened;	/* `partial` is over more axes than when it was followed */
	bool narrow;	/* ... which it is not to be */
	int reached;	/* how often it came to what it began with */
	Placement partial, whole;
	Reason why;
	Step *steps;
} Chain;

/* chain.c: following one */
/* Does the move combine sums (`reduces`), or make parts, as those of the chain do? */
bool is_sum(Chain *chain, const Op *op, bool reduces);
/* Is it a sum, or made of one by what hands on parts: a larger float, a dim of size 1 more, a
   quotient?  Then all of these become partial. */
bool take_sum(Chain *chain, const Block *b, Value *v);
/* ... or made of such by additions and factors, if all of it goes with parts? */
bool take_sums(Chain *chain, const Block *b, Value *v);
/* What v, of block b, was before sums were added: `start`, all of whose uses are on the chain
   then, or if that is NULL some parameter of b; NULL if v is no such chain. */
const Value *follow_chain(Chain *chain, const Block *b, const Value *start, Value *v);
void add_step(Chain *chain, Op *move, Value *partial);
/* The parameter that a branch leaves as it is; -1: none does. */
int handed_on(const Op *op, int result);
/* Is it a chain of sums, and does all else on it go with parts? */
bool is_whole_chain(const Chain *chain);
/* Now all of it becomes partial. */
void take_steps(Chain *chain);

/* ... and where it is */
bool is_placed(const Value *v, const Placement *at);
double
bytes_between(Partitioner *p, const Value *v, const Placement *from, const Placement *to);
double bytes_moved(Partitioner *p, const Op *move);
/* Is it whole, or in other parts, that are parts of these? */
bool becomes_freely(Partitioner *p, const Value *v, const Placement *to);
/* The same number everywhere, which is made anew where it is wanted; or NULL. */
Value *as_splat(Value *v);
/* Is there room for it whole?  Then that is taken. */
bool chain_has_room(Partitioner *p, const Chain *chain, const Value *v);

#endif

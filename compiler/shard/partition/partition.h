/*
 * partition.h - private to the partition pass.
 *
 *   Assignment  the axes each factor of one op is split along
 *   Form        a value as it is materialised somewhere: `h` as computed,
 *               `h` gathered, `h` reduced
 *   Choice      an assignment with what it moves and costs
 */
#ifndef SHDC_PARTITION_H
#define SHDC_PARTITION_H

#include "cost/ledger.h"
#include "ir/flow.h"
#include "ir/partial.h"
#include "shard/reshard/halo.h"
#include "shard/shard.h"

typedef AxisList Assignment; /* [nfactors] */

typedef struct Form {
	Value *value;
	struct Form *next;
} Form;

typedef struct MovePrice {
	double bytes, seconds;
	int collectives;
} MovePrice;

/* Where a user that is still to be planned will want a value (wants.c). */
typedef struct Want {
	const Op *user;
	Placement at;
	bool requested;	 /* by the program */
	bool again;	 /* as another user before it in the list does */
	MovePrice price; /* of moving it there, now */
	struct Want *next;
} Want;

/* Of what is only added to a value that a loop carries: its partial sums may be combined
   behind the loop (later.c). */
typedef struct Later {
	double rounds; /* that one combination is for */
	Combiner combiner;
	bool splits;	      /* it may be a reduce-scatter, too */
	const Value *carried; /* by the loop, in its body */
	const struct Later *outer;
} Later;

/* What is known of a value of the program while its users are partitioned. */
typedef struct Source {
	Placement final;	  /* where propagation put it, or where its only
				   user moves it */
	Placement inferred;	  /* of a drawn one: where propagation did */
	Form *forms;		  /* oldest first; the first as computed */
	bool at_final;		  /* some form has the final placement */
	bool drawn;		  /* `final` is where its only user moves it */
	bool requested;		  /* ... as the program asks, */
	bool asked;		  /* ... or asks of what is made of it element by element, */
	const Placement *request; /* to be there; NULL: no such place is known */
	bool settled;		  /* ... and its partial sums are combined, too, */
	const Value *origin;	  /* that it is, as origin_of() found; NULL: it was not asked */
	const Placement *natural; /* where it would be by its operands alone, or NULL */
	const Placement *parts;	  /* it is added up in, as parts of a sum (sums.c) */
	bool sum_requested;	  /* of a loop: the program asks for its partial
				   sums to be combined in every round */
	Value *alias;		  /* a constraint: the value that took its place */
	bool named;		  /* by the user */
	const Op **users;	  /* the first of them, where there are several, */
	int nusers;
	const Op *user;	    /* ... or the only one */
	const Later *later; /* it is only added to what a loop carries, */
	bool later_here;    /* ... and may be split where it is combined */
	int64_t promised;   /* bytes, of a carried one: a plan counts on `accumulated` more */
	Want *wants;	    /* of those that are still to be planned, */
	bool looked;	    /* ... which was asked */
} Source;

typedef struct Choice {
	bool valid;
	Assignment *factors;
	AxisList partial;  /* axes an operand's partial sums stay on */
	Combiner combiner; /* of `partial` and reduction factors */
	uint32_t whole;	   /* bit i: operand i must not be partial */
	double bytes, seconds;
	int collectives;
	Price *split; /* of a kernel of its own, by mesh axis: the best that was considered in
			 which that splits something; NULL: nothing was */
} Choice;

/* A kernel of its own, and how it is computed: more than once, perhaps, for the ledger. */
typedef struct Planned {
	Op *op;
	Choice choice;
} Planned;

/* A loop being partitioned, innermost first. */
typedef struct Loop {
	Op *op;
	Value **outer; /* the operands as they were in the program */
	int n;	       /* carried values in the program */
	bool *invariant;
	struct Loop *parent;
} Loop;

struct Partitioner {
	Module *module;
	Foresight with;
	Loop *loop;	      /* the innermost around what is partitioned */
	Arena *arena;	      /* of the pass */
	Arena *scratch;	      /* of one op's choice, of one chain of sums */
	Resharder *resharder; /* of the module's precedents, */
	Lookup *memo;	      /* ... as these (memo.c), */
	RuleBook *rules;      /* ... and these, */
	Arena *lasting;	      /* ... which are here */
	int run;	      /* ... and how often they were used before */
	Text key;	      /* in memo.c: of the op at hand */
	Planned *planned;
	int nplanned;
	Source *sources; /* by value id as numbered at the start */
	int nsources;
	const Facts *infinite; /* by value id: it may be */
	int *changes;	       /* by value id: loops_changing() */
	const Op *op;	       /* being partitioned */
	bool alone;	       /* ... as if its operands had no other users */
	bool swayed;	       /* what others want has changed a plan */
	const Rule *rule;
	int64_t accumulated; /* bytes that sums taken after loops take more (accumulate.c) */
	Lookup *asked; /* values of which the program has a use that is no op (together.c) */
};

/* factors.c */
/* The axes of each factor of a tensor; what fits no factor is left out. */
void
tensor_assignment(const Rule *r, int tensor, const Placement *placement, Assignment *factors);
/* May the factor take axes, or must ops see it whole? */
bool factor_splittable(const Factor *factor);
/* ... without an exchange of boundary rows (halo.h)? */
bool factor_stays(const Factor *factor);
/* With which the op's result is in `to`, if only factors that may be are split; else NULL. */
Assignment *result_assignment(Partitioner *p, const Op *op, const Placement *to,
	bool (*may)(const Factor *factor));

/* vote.c: what Shardy's vote on element counts would choose.
   `tensors` are the placements around the op. */
typedef enum VoteKind {
	VOTE_gather,   /* what is not on one device */
	VOTE_spread,   /* ... where no other dim can be split instead */
	VOTE_exchange, /* ... where no exchange of rows will do */
	VOTE_COUNT
} VoteKind;
void
vote(const Rule *r, const Op *op, const Placement *tensors, VoteKind kind, Assignment *factors);

enum { MAX_HALO = 16 }; /* collectives of one op, an operand */

/* choose.c: the op's plan; p->op and p->rule are set */
Choice choose(Partitioner *p);
/* Of two plans of the op, by predicted time. */
bool is_better(const Op *op, const Choice *a, const Choice *b);
/* The placement of an operand or result under a choice. */
Placement choice_tensor(const Partitioner *p, const Choice *c, int tensor);

/* memo.c: choose(), or the same answer as for an equal op */
Choice choose_once(Partitioner *p);
/* slices.c: the plan of an op in the way that is best, which is then that of p->op, with the
   attributes that say so, and p->rule */
Choice plan_op(Partitioner *p, const Op *op);

/* forms.c */
Source *source_of(const Partitioner *p, const Value *v);
uint64_t value_hash(const Value *v); /* of a lookup by values, those that moves make, too */
void add_form(Partitioner *p, Source *s, Value *v);
/* Values are taken to be somewhere, too, while something is priced. */
typedef struct Guesses {
	Source **sources; /* of values that have no other forms */
	int n;
} Guesses;
void guess_form(Partitioner *p, Guesses *guesses, Value *v, const Placement *at);
void forget_guesses(Guesses *guesses);
/* As it was before it was moved for an op. */
Value *before_moves(Value *v);
/* What a value is in a dtype that takes fewer bytes, before it was converted, or without
   what was put around it, or what its windows show, or it is a slice of, or in reverse; NULL:
   it is none, or explicit code says which of the two moves. */
Value *narrower(const Partitioner *p, const Value *v);
/* So often in a row it is asked, of what is made of each other, for a form to be made. */
enum { NARROWER_LEVELS = 8 };
/* Is the op a view, a transpose or a reshape that only adds and leaves out dims of one element?
   Then where its operand is when the result is in `to`, in *from. */
bool view_place(const Op *op, const Placement *to, Placement *from);
/* What it is windows of, views between them; else the value. */
const Value *shown(const Value *v);
/* Where that is when the value is in `to`; false: it cannot be. */
bool narrower_place(Partitioner *p, const Value *v, const Placement *to, Placement *at);
/* The same; of what is none, but a view, what it is of, which nothing is gained by moving. */
Value *made_of(const Partitioner *p, const Value *v);
bool made_of_place(Partitioner *p, const Value *v, const Placement *to, Placement *at);
const ReshardPlan *
cheapest_form(Partitioner *p, const Value *v, const Placement *to, Form **form);
/* ... or is it one of what the value is made of? */
bool is_form_of(const Partitioner *p, const Form *form, const Value *v);
/* A result type without open dims is a request. */
bool asks_for_place(const Value *v);
/* The loop around that carries the value, of the program; or NULL. */
Loop *loop_of(const Partitioner *p, const Value *param);
/* How often an op that reads a part of an operand would use one move of the
   operand, made before the loops around the op; how many phases of a convolution do; 1 for
   other ops. */
double rounds_served(const Partitioner *p, const Op *op, int operand);
/* The kernel of which a phase of a convolution reads a part, its operand, and where it is with
   that in `to`; NULL: there is none. */
Value *
kernel_of_phases(Partitioner *p, const Op *op, int operand, const Placement *to, Placement *at);
/* Of p->op, its share of moving the kernel for all phases, if that is less. */
void share_kernel(Partitioner *p, int operand, const Placement *to, MovePrice *price);

/* moves.c */
/* Why a value moves, for messages: what made its partial sums, else the op
   that needs it. */
typedef struct Reason {
	const char *label;
	Range range;
	bool requested;
} Reason;
Value *insert_reshard(Partitioner *p, Value *v, const Placement *to, Op *before, Reason why);
/* The value is in `from` now; who uses it behind `before` takes it where it was. */
void move_for_all(Partitioner *p, Value *v, const Placement *from, Op *before, Reason why);
/* ... as whoever asks for that sees to: the answer is what they take. */
Value *move_behind(Partitioner *p, Value *v, const Placement *from, Op *before, Reason why);
/* From `first` on, in its block. */
void use_instead(Op *first, const Value *old, Value *new);
/* A copy of a constant, iota or broadcast constant, placed as wanted. */
Value *recompute(Value *v, const Placement *to, Op *before);
/* The value's form in `to`, made before op `user` if there is none. */
Value *
value_in(Partitioner *p, Value *v, const Placement *to, Op *user, int operand, bool requested);
void set_operand(Partitioner *p, Op *op, int i, const Placement *to, bool requested);

/* wants.c */
void list_users(Partitioner *p);
/* Has any value several users? */
bool are_shared(Partitioner *p);
/* Before an op is planned: where other users of its operands will want these. */
void find_wants(Partitioner *p, const Op *op);
/* The plan of an op with its operands where propagation put them. */
Choice plan_alone(Partitioner *p, const Op *op);
/* ... one by one; and what each costs. */
void add_want(Partitioner *p, const Value *v, const Op *user);
void price_wants(Partitioner *p, const Value *v);
/* ... where it is moved, or what it is made of instead (narrower()). */
const Want *wants_of(const Partitioner *p, const Value *v);
/* The price of moving the value there for one op is less by way of where others want it,
   which is the answer: they move it that far; and what they are spared is taken off. */
const Want *share_price(Partitioner *p, const Value *v, const Placement *to, MovePrice *price);
/* ... from that form, of the value or of what it is made of. */
void share_price_from(Partitioner *p, const Value *v, const Form *form, const Placement *to,
	MovePrice *price);

/* regions.c */
void partition_region(Partitioner *p, Op *op); /* an op with bodies */
void partition_return(Partitioner *p, Op *op);
/* An invariant of a loop, moved before it and carried; NULL for others. */
Value *hoisted(Partitioner *p, Value *param, const Placement *to, bool requested);
/* A value from before a loop, carried through it unchanged: that value in body b
   of the loop. */
Value *carry(Op *loop, Value *outer, const Block *b);

/* accumulate.c: sums that one of the first n carried values waits for
   in every round are taken after the loop, if it is for nothing else. */
void reduce_after(Partitioner *p, Op *loop, int n);
/* ... those of all branches of an `if` after that. */
void reduce_after_branches(Partitioner *p, Op *op);

/* together.c: after all else, sums that are added to each other. */
void combine_added(Partitioner *p);
/* sink.c: before that, what is moved alike for one op is moved once, behind it. */
void sink_moves(Partitioner *p, Block *b);
/* shared.c: ... to several others each. */
typedef enum CombineWhere {
	COMBINE_first,	/* where that moves least, the first there */
	COMBINE_behind, /* the last, as for what is added up in a loop */
	COMBINE_wide,	/* where that takes least, of what moves no more; also with what is
			   summed over other axes behind */
} CombineWhere;
void combine_shared(Partitioner *p, Block *b, CombineWhere where);

/* early.c: when all moves are there, those that leave less go to what they move. */
void move_early(Module *m);

/* sums.c: partial sums that are only added to others stay partial, where that is better;
   false: nowhere. */
bool draw_sums(Partitioner *p);

/* parts.c: what is known of sums and their parts before anything moves */
/* Does the op combine partial results of this kind, given those of all operands? */
bool combines(const Op *op, Combiner combiner);
/* Has the op sums of its own, of split factors? */
bool makes_sums(Partitioner *p, const Op *op, Combiner *combiner);
/* There, but for the axes that the sum is left partial over. */
Placement partial_over(const Placement *at, const AxisList *over, Combiner combiner);
/* Does the op, of one operand or with a finite factor, make parts of the operand's parts? */
bool hands_on_parts(const Partitioner *p, const Op *op, int operand, Combiner combiner);
/* ... or a product, or a sum over a dim, of an op that is planned; which makes none itself. */
bool passes_parts(const Partitioner *p, const Op *op, int operand, Combiner combiner);
bool goes_through_parts(const Partitioner *p, const Op *op, int operand, Combiner combiner);
/* Is each of several operands a sum where the result is?  What is put together is split as its
   operands are. */
bool adds_up(const Op *op, Combiner combiner);
/* Runs of the loop that one sum of its result, taken after it, is for: where a loop around
   only adds up the result, or what that is made of it which is so many times `larger`, all of
   them.  `scattered`: the sum is split. */
double trips_for_one_sum(const Partitioner *p, const Op *loop, int result, bool scattered,
	double *larger);
/* Is such a sum, split, for more than the loop: for all rounds of a loop around, or for other
   loops' results, too, that this one is added to? */
bool shares_one_sum(const Partitioner *p, const Op *loop, int result);
/* Does `partial` become `whole` by an all-reduce, or a reduce-scatter? */
bool combines_into(const Placement *partial, const Placement *whole, bool *scattered);
/* Bytes that may still be taken for sums that are whole until after a loop. */
int64_t room_left(const Partitioner *p);
/* How many loops the block is in. */
int loops_around(const Block *b);
/* Of the loops around the value, how many from the outermost on change it?  It may leave the
   others. */
int loops_changing(const Partitioner *p, const Value *v);

/* later.c: fills in `later` of all values */
void find_later(Partitioner *p);
/* For how many rounds this move of the value would be made once: 1 if it is not a sum that
   leaves a loop.  `here`: it is made of this value, not of what is made of it. */
double rounds_combined(const Partitioner *p, const Value *v, const Placement *from,
	const Placement *to, bool here);
/* The value is planned: what it needs behind loops is counted. */
void promise_room(Partitioner *p, const Value *v);

/* hoist.c: after all else, moves of what loops do not change */
void hoist_moves(Partitioner *p, Block *b);
/* Fills in p->changes; b is in so many loops. */
void find_changes(Partitioner *p, const Block *b, int depth);

/* ops.c */
/* A value whose only user moves it need not pass through the placement that
   propagation found for it. */
void draw_in(Partitioner *p, Value *v, const Placement *to, bool requested);
/* ... an operand to where the op has it, planned by itself. */
void draw_to_user(Partitioner *p, const Op *op, int operand);
/* ... nor one that all users take there. */
void draw_to(Partitioner *p, Value *v, const Placement *to);
void partition_param(Partitioner *p, Value *v);
void partition_block(Partitioner *p, Block *b);

#endif

/*
 * overlap.h - what the files that order a program share: a block as a graph.
 *
 *   W2 = all-gather(W)  12      job 0  begin W2     -> 1
 *   h  = dot(x, W2)      8      job 1  done W2      -> 3
 *   r  = relu(x)         2      job 2  run r        -> 3
 *   y  = dot(h, r)       8      job 3  run h ...
 *
 * A collective that takes time is two jobs, and so are several that are one transfer.  An
 * edge says that a job comes after
 * another: it uses its result, or it writes where the other still reads.
 */
#ifndef SHDC_OVERLAP_H
#define SHDC_OVERLAP_H

#include "cost/residency.h"
#include "cost/tracks.h"
#include "memory/lives.h"

/* Numbers of the buffers of an op's results, and of its operands behind them (held.c). */
typedef struct Holds {
	const int *v;
	int nresults, n;
} Holds;

typedef struct Job {
	Op *op;		    /* of a done: the collective */
	Op *const *ops;	    /* all that are one transfer, the first is `op` */
	const Holds *holds; /* ... of each; NULL: nobody asks */
	int nops;
	int number; /* in the order of the program */
	int before; /* jobs that have to come first */
	bool grows; /* of a start: its result takes more memory than what it reads alone */
	Task task;
	struct Edge {
		struct Job *to;
		struct Edge *next;
	} * after;
	int64_t path;	  /* the longest way from its begin to the end of the block */
	int64_t from_end; /* by graph_find_from_end() */
} Job;

typedef struct Held Held;
typedef struct Listing Listing;

/* An order of the jobs of a graph, and what it takes. */
typedef struct Order {
	Job **jobs;
	Task *tasks; /* of them */
	int64_t time;
} Order;

/* What the program's order holds, by job number. */
typedef struct Profile {
	int64_t *before; /* bytes when the job is to come */
	int64_t peak;
	int64_t *most[31]; /* ... while jobs run: of 1, 2, 4, ... from it on */
} Profile;

/* For what order how far jobs are from the end was found last. */
typedef enum FromEnd {
	FROM_order, /* any */
	FROM_none,
	FROM_plain,
} FromEnd;

/* Work that no order does faster: of the thread, and on the link that has most of it. */
typedef struct Left {
	int64_t thread, link;
	int word; /* of a LinkSet: that link */
	uint64_t bit;
} Left;

typedef struct Graph {
	Arena *own;   /* it lies in, and what is made of it once */
	Arena *arena; /* of orders */
	Block *block;
	Op **ops; /* of the block as it was, without the return */
	int nops;
	bool fenced;	  /* some are fences */
	Held *held;	  /* NULL: nobody asks */
	int64_t room;	  /* bytes that may be held; of a graph without `held` any */
	Profile *profile; /* of a graph with it: what the program's order holds */
	int64_t crowded;  /* beyond those */
	bool keeps;	  /* what comes early has room until the program comes to it */
	int ahead;	  /* jobs that the thread may be ahead of the program; 0: any */
	Job *jobs;
	int n;
	/* made once: */
	const Left *work;
	Held *holds;	      /* `held`, of a graph that somebody asked for it */
	Order plain;	      /* the program's */
	int64_t least;	      /* that any order takes, */
	int64_t by_default;   /* ... if only those begin early that do by default */
	Listing *listing;     /* in which it is put in order */
	struct Graph *turned; /* the same from its end */
	int64_t *from_end;    /* by job, what graph_find_from_end() finds without an order, */
	int64_t *of_plain;    /* ... and for the program's */
	FromEnd found;
} Graph;

/* Its number, without a look at it: of all jobs of an order these lie anywhere. */
static inline int
job_number(const Graph *g, const Job *job)
{
	return (int)(job - g->jobs) + 1;
}

/* An op that reads a value. */
typedef struct User {
	const Op *op; /* the last of the program first */
	struct User *next;
} User;

/* A block that was put in order; `there`: the program is. */
typedef struct Written {
	const Graph *graph;
	Order order;
	bool there;
} Written;

/* Of what can run, what comes first. */
typedef enum First {
	FIRST_path,	/* what has the longest way before it */
	FIRST_tail,	/* ... without itself */
	FIRST_from_end, /* what begins first in an order that is made from the end */
	FIRST_program,	/* what the program has first */
	FIRST_order,	/* ... of transfers that can begin, too */
} First;

/* What a collective that only begins has beside it. */
typedef struct Split {
	Op *done;
	Value **begun; /* its results */
} Split;

/* Which collectives that move alike are one transfer: */
typedef enum Join {
	JOIN_none,
	JOIN_quicker, /* where the block is quicker */
	JOIN_small,   /* and those that mostly wait for their links where it is as quick: each
			 that is begun is work for the thread that no time is told of */
} Join;

/* Collectives of a block that could be one, and what it takes as it is and so. */
typedef struct Offer {
	Op **ops;
	int n;
	int64_t together; /* the transfer */
	int64_t block_apart, block_in_one;
} Offer;

typedef struct Offers {
	Arena *arena;
	Offer *v;
	int n;
	int64_t apart, in_one; /* what a run takes with none as one, and with all that were */
	bool fits;	       /* ... in the memory */
} Offers;

/* offers.c: of what could be one in that graph; remarks on what is not in the end */
void offers_note(Offers *o, const Graph *combined, int64_t apart, int64_t in_one);
void offers_tell(const Offers *o, const Module *m);

/* What the blocks of a module share while they are put in order: what is known of it as it
   was, whatever the way, ... */
typedef struct Scheduling {
	int nops, nvalues;
	Lives *lives;
	int64_t most;	   /* bytes that any order takes at most */
	bool hosted;	   /* some are in the memory of the host */
	int64_t serial;	   /* what a run takes */
	User **users;	   /* by value id */
	const int *places; /* ... of held_places(); NULL: nobody asked yet */
	int *numbers;	   /* ... all 0 but in held_new() */
	Task *tasks;	   /* by step: what it is on tracks; of what has blocks: in order */
	Task *priced;	   /* ... as the program was */
	Graph **graphs[BEGINS_all + 1]; /* by id of the return of a block: at these prices */
	int *kept; /* by id of the first value of a buffer: the graph where its order is kept */
	int ngraphs;
	Split *splits; /* by op id: of what was begun in some order */
	/* ... how it is to be put in order, ... */
	First least;	/* of the ways to choose */
	Join joins;	/* which collectives that move alike are one */
	Begins begins;	/* which may begin before they are waited for */
	int ahead;	/* jobs that the thread may be ahead of the program; 0: any */
	Offers *offers; /* what could be one; NULL: nobody asks */
	int64_t spare;	/* bytes that may be held beside what the program's order holds */
	bool keeps;	/* ... until the program comes to what is held */
	int64_t within; /* an order of the whole that takes so long or longer is not made */
	int64_t bytes;	/* what needs more at least is not written; INT64_MAX: nobody asks */
	/* ... and that order, until the next begins. */
	Arena *arena;
	Arena *scratch;	   /* of what is asked of it once */
	int *first, *last; /* by op id: its job from 1 on, and that of its done */
	bool combines;	   /* some collectives are one, or could be */
	Written *written;  /* blocks, */
	int nwritten;
	int64_t needs;	 /* ... bytes of the whole at least, if that was asked */
	Changed changed; /* what is on the chip, or is not any more */
} Scheduling;

static inline Task *
task_at(const Scheduling *s, const Op *op)
{
	return &s->tasks[s->lives->at[op->id]];
}

/* graph.c: requires module_number(); made in the arena of the caller */
Scheduling *scheduling_new(Module *m, Arena *a);
/* Another order of the module, which is as it was. */
void scheduling_begin(Scheduling *s);
void scheduling_free(Scheduling *s);
/* Of a block without bodies, made before; NULL: there is none. */
Graph *graph_known(Block *b, Scheduling *s);
/* Bodies in the block are in order. */
Graph *graph_of(Block *b, Scheduling *s);
/* ... with what it holds known. */
void graph_find_holds(Graph *g, Scheduling *s);
/* An op without blocks, as it is priced now. */
Task task_priced(Scheduling *s, const Op *op);
/* The parts that it is made of.  Jobs have numbers from 1 on, a done that behind its begin;
   an edge from or to 0 is none. */
int graph_add_job(Graph *g, Op *op, Task task);
void graph_add_edge(Graph *g, int from, int to);
void graph_find_paths(Graph *g);

const Left *graph_work(Graph *g);

/* held.c: by value id a number of the buffer, below that of values; -1: it has none.  Requires
   lives with all that shares a buffer. */
const int *held_places(const Lives *lives, int nvalues, Arena *a);
/* Of all jobs of the graph; `numbers`: by place, all 0.  Bytes that are held once a job is put
   behind those that were. */
Held *held_new(Graph *g, const int *places, int *numbers);
void held_begin(Held *h);
void held_add(Held *h, const Job *job);
int64_t held_now(const Held *h);
int64_t held_with(const Held *h, const Job *job);
/* What the program's order holds. */
Profile *held_profile(const Graph *g);
/* ... at most while it comes from one job to before another, beside what it holds before the
   first. */
int64_t held_until(const Profile *profile, int from, int to);
/* Bytes that an order needs, whatever of its transfers gives way, or less. */
int64_t held_least(const Graph *g, const Order *order);

/* combine.c: the same, collectives that move alike and can begin together as one transfer:
   all, or those alone that wait longer than they move.  NULL: there are none. */
Graph *graph_combined(const Graph *g, bool all);

/* list.c: by list scheduling */
/* Jobs that can be next: the best few, in order, which are looked at time and again, and a
   heap of the others. */
typedef struct Ready {
	struct Entry {
		int64_t key; /* the greatest first, of equal ones what the program has first */
		Job *job;
	} best[8], *others;
	int nbest, nothers; /* without any of the best there are no others */
} Ready;
void ready_put(Ready *r, Job *job, int64_t key);
/* Is there one behind the i best, i < 8? */
bool ready_reaches(Ready *r, int i);
Job *ready_take(Ready *r, int i);

/* Does a transfer begin though others have its links? */
typedef enum Share {
	SHARE_never,	/* if all are over when the thread comes to the next */
	SHARE_soon,	/* if those are */
	SHARE_pressing, /* if what waits for it is more pressing than what waits for those */
	SHARE_always,
} Share;

typedef struct Taste {
	First first;
	Share share;
	bool patient; /* the thread waits for what is more pressing than what it could do */
	int shake;    /* decisions are changed by chance; 0: none */
	int later;    /* transfers wait as in the best order, or, by chance, as long as the
			 longest way allows; 0: for nothing but links */
} Taste;
/* Of the graph: nothing is kept. */
Listing *listing_of(Graph *g);
/* Until the next; NULL: it takes `within` or longer, and is given up as soon as that is
   known. */
const Order *list_schedule(Listing *list, Taste taste, int64_t within);
/* The last order is the best so far. */
void listing_keep(Listing *list);

/* backward.c: how long before the end each begins in an order that is made from there, with
   what is last in `order` first; NULL: what has the longest way there */
void graph_find_from_end(Graph *g, const Order *order);

/* best.c: the quickest of those, from `least` on; of equal ones that which is most like the
   program.  One that takes `within` or longer need not be the quickest, and is not to be
   written. */
Order best_order(Graph *g, First least, int64_t within);
/* latest.c: the same, transfers that grow as late as that takes no longer */
void begin_latest(const Graph *g, Order *order);
/* fit.c: shortens transfers of a program in order, until it takes no more bytes.  Those that
   are one with others stay where they are. */
typedef enum FitResult { FIT_not, FIT_as_it_is, FIT_shortened } FitResult;
/* `needs`: bytes that it takes at least, if all transfers give way. */
FitResult fit_memory(Module *m, int64_t limit, int64_t *needs, Arena *scratch);
bool is_one_of_several(const Op *op);
/* A collective as one op again, where it begins. */
void join_transfer(Op *done);

#endif

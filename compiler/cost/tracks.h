/*
 * tracks.h - what runs when: tasks in program order, those that move data beside
 * the others.
 *
 *   run A 3   start T 4   run B 2   done T   run C 1
 *
 *   thread   A A A B B . . C          the done waits for two of T's four
 *   links          T T T T
 *
 * The thread runs one task after the other.  A transfer goes its own way from its
 * start on, and its done waits for it.  Transfers that use a directed link at the
 * same time have equal shares of it; one over several links goes at the pace of
 * the busiest.  Times are picoseconds, at most INT64_MAX.
 *
 * What has bodies is one task, in which others run (bodies.c).
 */
#ifndef SHDC_TRACKS_H
#define SHDC_TRACKS_H

#include "cost/links.h"

typedef enum TaskKind {
	TASK_run,
	TASK_start,
	TASK_done,
} TaskKind;

typedef struct Bodies Bodies;

typedef struct Task {
	TaskKind kind;
	bool moves;    /* data between devices; else it computes */
	bool critical; /* on a chain of tasks from 0 to the end in which each begins as the
			  one before ends; of a done its start is */
	int64_t picoseconds;  /* with the links to itself */
	int64_t shared;	      /* ... its last so many at their pace */
	const LinkSet *links; /* NULL: none */
	Bodies *bodies;	      /* of TASK_run: what runs in it; NULL: it is one step */
	int start;	      /* of TASK_done: which task */

	/* by tracks_run(): */
	int flight;	  /* which of what is under way, from 1 on; 0: it is not */
	int64_t from, to; /* of a start until its data are there, of a done while the
			     thread stands there */
	int64_t exposed;  /* nothing is computed meanwhile: shared equally by those
			    that move data then */
} Task;

/* A number for each directed link, a bit of a word: of how many use it, or how long. */
typedef struct LinkSums {
	int64_t of[LINK_WORDS][64];
} LinkSums;
void links_add(LinkSums *sums, const LinkSet *links, int64_t more);

enum {
	PARTS = 720720,	  /* of a picosecond: 1 to 16 divide it */
	LINK_USER = 1024, /* one that uses a link; beside others, or parts of some */
};
/* PARTS that one of the users moves in a picosecond.  `used`: PARTS of each link that they do
   not share; NULL: none. */
int64_t links_pace(const LinkSums *users, const LinkSet *links, const LinkSums *used);

/* Fills in when they run; the end of the last.  `beside`: what else uses each link all the
   time, in parts of a LINK_USER; NULL: nothing does. */
int64_t tracks_run(Task *tasks, int n, const LinkSums *beside, Arena *a);

/* The same, a task after the other, by whoever decides which comes next. */
typedef struct Tracks Tracks;
Tracks *tracks_new(Arena *a, const LinkSums *beside);
/* The thread comes to it, and goes on when it is over, or begun; `tasks` as above. */
void tracks_add(Tracks *tracks, Task *tasks, Task *task);
int64_t tracks_now(const Tracks *tracks);
/* How much longer the transfer is under way, if nothing more is begun; 0: it is over. */
int64_t tracks_left(const Tracks *tracks, const Task *task);
/* Work that is under way on links of the set, in picoseconds with these to itself. */
int64_t tracks_busy(const Tracks *tracks, const LinkSet *links);
/* All that is under way ends; when. */
int64_t tracks_end(Tracks *tracks);

/* Tasks that run so often, all of which end before the next time. */
typedef struct Body {
	Task *tasks;
	int n;
	int64_t times;
	int64_t alone; /* how long they take once, nothing beside them */
} Body;
Body body_of(Task *tasks, int n, Arena *a); /* once */

/* The condition and the body of a loop, or two branches, of which one runs no times. */
struct Bodies {
	Body body[2];
	int64_t alone;	  /* how long all times take */
	LinkSet links;	  /* that they use, */
	LinkSums busy;	  /* ... how long, all times */
	LinkSums *beside; /* by the tracks that came to it last: what else used these; NULL:
			     nothing did */
	LinkSums others;  /* room for that */
	LinkSums used;	  /* ... so many PARTS of each picosecond */
	struct Known {
		uint64_t beside; /* a mark of it */
		int64_t time;
	} known[64];
};
Task bodies_task(Body first, Body second, Arena *a);

/* What is under way beside bodies: */
typedef struct Sharer {
	const LinkSet *links;
	double left; /* of its picoseconds with the links to itself */
	/* filled in: */
	double part;  /* of all their times, that it is under way beside */
	double moved; /* of `left`, if it was beside all */
	bool over;
} Sharer;
/* How long they take beside these, which are among the users of links, and what they then use
   of these. */
int64_t bodies_time(Bodies *in, const LinkSums *users, Sharer *beside, int n);

/*
 * Links of a class that are in the same sets are as one: what is under way has the same
 * paces if only the first of them is counted.  All sets are noted, then each is merged.
 *
 *   {a b c d}  {c d e}        {a c}  {c e}
 */
typedef struct LinkMerge {
	LinkSums marks;
	uint64_t sets; /* so far */
	LinkSet first; /* links that stand for all like them */
} LinkMerge;
void links_note(LinkMerge *merge, const LinkSet *links);
void links_choose(LinkMerge *merge);
const LinkSet *links_merged(const LinkMerge *merge, const LinkSet *links, Arena *a);

/* At most INT64_MAX. */
static inline int64_t
add_picoseconds(int64_t a, int64_t b)
{
	return __builtin_add_overflow(a, b, &a) ? INT64_MAX : a;
}

int64_t repeat_picoseconds(int64_t each, int64_t times);

#endif

/*
 * trials.h - classes of einsums that are alike, ways to do them, and what a run takes so.
 *
 *   Form      a class in a way
 *   Trial     a program with some forms, or with none
 *   Outcome   what a run of it takes
 */
#ifndef SHDC_DECOMPOSE_TRIALS_H
#define SHDC_DECOMPOSE_TRIALS_H

#include "sched/decompose/decompose.h"

enum {
	MOST_TRIES = 60, /* of one program, and as many of several classes at once */
	REACH = 300,	 /* of a place of a long program, so many ops before and behind */
	LONG = 10 * REACH,
};

/* What a run takes, in picoseconds and bytes; -1: it was not found out. */
typedef struct Outcome {
	int64_t time, lower, peak, joins, copied;
	bool lacks_memory;
	int64_t exposed[]; /* of the collective of each einsum that is asked for */
} Outcome;

/* Einsums that are alike. */
typedef struct Class {
	const Einsum *first;
	int n;
	int64_t exposed; /* of all */
} Class;

typedef struct Form {
	const char *key; /* of a class */
	Way way;
	bool joined; /* to the rings before them */
} Form;

typedef struct Forms {
	Form *v;
	int n;
} Forms;

/* A class that was tried by itself, once others were done in their forms. */
typedef struct Tried {
	const char *key, *name;
	Range where;
	const char *told; /* of what it takes so */
	const char *done; /* in which form, as it is told */
	bool goes[WAYS];  /* and copies nothing more */
	bool left, again; /* as it is; could take its pieces from what was done since */
} Tried;

typedef struct Decomposing {
	Module *module;
	Arena *arena;
	Rings rings;
	Table *exposed; /* int64_t, by op_key() */
	Table *seen;	/* keys of classes that were tried */
	int tries;
	int64_t time, lower, peak;
	int64_t limit;	/* bytes that a device may need, */
	int64_t copied; /* ... and that may be copied: as many as before */
	bool remarks;
	bool lacks_memory; /* something would be quicker with more, or does not fit */
	ArenaImage
		*before; /* of the module, before anything is done in pieces; NULL: not kept */
	Forms done;
	Tried *tried;
	int ntried;
	Einsums stopped; /* by what stands between, where that is told */
	int ops;	 /* of the entry */
} Decomposing;

/* Ops of the entry, without `end`. */
typedef struct Span {
	Op *first, *end;
} Span;

typedef struct Trial {
	Decomposing *d;
	Einsums einsums;
	const Form *forms; /* one after the other */
	int nforms;
	Span span; /* all there is of the program; nothing: all of it */
	Outcome *outcome;
} Trial;

/* trials.c: of one form. */
Trial trial_of(Decomposing *d, Einsums all, Form form);
void run_trials(Trial *trials, int n);
/* What a class or several become; how many pieces are taken from rings before. */
int form_build(Decomposing *d, Einsums all, const Form *form);
int forms_build(Decomposing *d, Einsums all, const Form *forms, int n);
/* It is the same op once the program is fused and in order. */
const char *op_key(Arena *a, const Op *collective);
/* Is it better than what is known?  It fits, or it is quicker and fits no worse. */
bool outcome_is_better(const Decomposing *d, const Outcome *o, int64_t time, int64_t peak);

bool is_long(const Decomposing *d);
/* Is it tried with other classes, too?  Of rings those both ways are. */
bool goes_together(Way way);
void text_way(Text *t, Way way, bool joined);
/* More than there is, or than as it was. */
void text_needs(Text *t, const Decomposing *d, int64_t peak, int64_t copied);

/* again.c: what is told of a class; NULL: it was not tried yet. */
Tried *tried_of(const Decomposing *d, const char *key);
/* A class is about to be done in pieces; which of those that were left could be joined
   to it.  Requires numbers as einsums_find() gives them. */
void note_again(Decomposing *d, Einsums all, const char *key);
/* One of them, each once; NULL: none. */
Tried *next_again(Decomposing *d);

/* together.c: several classes at once, where memory is short; whether that is better than what
   was done, and is done now. */
bool try_together(Decomposing *d, const Outcome *plain, Text *told);

#endif

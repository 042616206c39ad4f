/*
 * print.h - what the files that print HLO text share: a line being printed.
 */
#ifndef SHDC_PRINT_H
#define SHDC_PRINT_H

#include "hlo/hlo.h"
#include "ir/ir.h"

typedef struct Printer {
	Module *m;
	const char *mesh; /* "mesh['X'=2,'Y'=4]" */
	Text done;	  /* computations that are complete */
	int ncomputations, nchannels;
	bool reducers[COMBINER_COUNT][DTYPE_COUNT]; /* called for */
	LineNote *note;
	void *note_data;
} Printer;

/* Facts without an HLO word collect beside the line. */
typedef struct Line {
	Printer *p;
	Text *t;
	Text facts; /* key="value",key="value" */
} Line;

/* print.c */
void print_computation(Printer *p, const Block *b, const char *name);
/* Puts a computation that is complete before those that follow. */
void computation_done(Printer *p, const Text *t);

/* attrs_print.c */
void print_op_attrs(Line *l, const Op *op);

/* facts_print.c */
void text_key(Text *t, const char *key, const char *value); /* key="value" */
void text_list(Text *t, int n, const int64_t *v);	    /* {1,0} */
void text_hlo_type(Text *t, const Type *type);		    /* f32[8,64] */
void text_literal(Text *t, DType d, int64_t payload);
void text_reducer(Text *t, Combiner c, DType d); /* add_f32 */
void line_fact(Line *l, const char *key, const char *value);
/* ... whose value is the text in `value`, which is freed. */
void line_fact_text(Line *l, const char *key, Text *value);
void line_fact_list(Line *l, const char *key, int n, const int64_t *v);
void line_placement(Line *l, const Value *v);
/* False for the debris that only the verifier ever sees. */
bool group_is_sane(const Mesh *m, const AxisList *l);
bool placement_is_sane(const Mesh *m, const Placement *p);

/* groups_print.c */
void text_groups(Text *t, const Mesh *m, const AxisList *axes);
void text_pairs(Text *t, const Mesh *m, const Op *op);

#endif

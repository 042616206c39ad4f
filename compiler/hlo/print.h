/*
 * print.h - what the files that print HLO text share: a line being printed.
 */
#ifndef SHDC_PRINT_H
#define SHDC_PRINT_H

#include "hlo/hlo.h"
#include "ir/ir.h"

typedef struct Printer {
	Module *m;
	Arena *arena;	  /* until all is printed */
	const char *mesh; /* "mesh['X'=2,'Y'=4]" */
	Text done;	  /* computations that are complete */
	int ncomputations, nchannels;
	Table *gone; /* numbers of ops that are named though they are gone; or NULL */
	bool reducers[COMBINER_COUNT][DTYPE_COUNT]; /* called for */
	LineNote *note;
	void *note_data;
} Printer;

/* Puts a computation that is complete before those that follow. */
static inline void
computation_done(Printer *pr, const Text *t)
{
	if (pr->done.n)
		text_add(&pr->done, "\n");
	text_addn(&pr->done, t->s, t->n);
}

/* Facts without an HLO word collect beside the line. */
typedef struct Line {
	Printer *pr;
	Text *t;
	Text facts; /* key="value",key="value" */
} Line;

/* program_print.c */
void print_computation(Printer *pr, const Block *b, const char *name);

/* attrs.c: those that the op's row has; one of them. */
void print_attrs(Line *line, const Op *op);
void print_attr(Line *line, const Op *op, AttrKind attr);
void text_list(Text *t, int n, const int64_t *v); /* {1,0} */

/* async.c: the type of a result, as HLO has it; that of so many collectives in one */
void text_result_type(Text *t, const Value *v);
void text_transfer_type(Text *t, const Op *first, int n, Value *const *from, Value *const *to);

/* op_attrs.c: the attributes that name the bodies of an op, and what the
   computations are called */
typedef struct BodyWords {
	OpKind kind;
	const char *attr[2], *called[2];
	bool listed; /* in braces */
} BodyWords;
const BodyWords *body_words(OpKind kind);
extern const char composite_prefix[]; /* "shd." */
/* Whether a body is given its parameters as one tuple: of while and if. */
bool body_takes_tuple(const Block *b);
void print_op_attrs(Line *line, const Op *op);

/* facts.c */
void text_key(Text *t, const char *key, const char *value); /* key="value" */
void line_fact(Line *line, const char *key, const char *value);
/* ... whose value is the text in `value`, which is freed. */
void line_fact_text(Line *line, const char *key, Text *value);
void line_fact_numbers(Line *line, const char *key, int n, const int64_t *v);

/* gone.c: the collective that it is a piece of */
void print_gone(Line *line, const Op *op);

/* planned.c: the module's facts of what is planned */
void print_planned(const Printer *pr, Text *t);

/* module.c: a fact of the module, on a line of its own */
void module_fact(Text *t, const char *key, const char *value);

/* mesh.c */
void print_mesh(const Printer *pr, Text *t);

/* type.c */
void text_hlo_type(Text *t, const Type *type); /* f32[8,64] */
void text_tuple_type(Text *t, int n, Value *const *values);

/* literal.c */
void text_literal(Text *t, const Type *type, const Ints *values);

/* reducer.c */
bool is_reducer_name(const char *name); /* add_f32, ... */
void print_to_apply(Line *line, Combiner combiner, DType d);
void print_reducers(const Printer *pr, Text *t); /* those that were called for */

/* comparator.c: the computation that compares two elements in a sort */
void text_comparator(Text *t, const char *name, const Op *op);

/* placement.c */
const char *mesh_text(const Mesh *mesh, Arena *a); /* mesh['X'=2,'Y'=4] */
void line_placement(Line *line, const Value *v);
void line_axes(Line *line, const char *key, const AxisList *l);
/* False for the debris that only the verifier ever sees. */
bool group_is_sane(const Mesh *mesh, const AxisList *l);
bool placement_is_sane(const Mesh *mesh, const Placement *p);

/* groups.c */
void print_group(Line *line, const Op *op);

#endif

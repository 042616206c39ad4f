/*
 * c.h - inside the C emitter.
 */
#ifndef SHDC_EMIT_C_H
#define SHDC_EMIT_C_H

#include "cost/flights.h"
#include "emit/emit.h"
#include "memory/plan.h"
#include "sched/fuse/kernel.h"

/* What one step is in the text of run(). */
typedef struct Chunk {
	size_t from;		/* ends where the next begins */
	Range where;		/* in the program */
	int before, after, low; /* depth there, and least depth in between */
} Chunk;

/* Tables that the runtime reads; equal rows are one. */
typedef enum RowTable {
	ROWS_steps, /* others refer to them */
	ROWS_dots,
	ROWS_collectives,
	ROWS_sorts,
	ROWS_groups,
	ROWS_loops,
	ROWS_extern_calls,
	ROW_TABLES,
} RowTable;

typedef struct Rows {
	Text text;
	int n;
} Rows;

/* c_sums.c: products that are added to a sum where they are made. */
typedef struct Sums {
	int *uses;	  /* by value id */
	const Value **of; /* by op id of the product: the sum; NULL: it stands by itself */
	bool *done;	  /* by op id of the sum: it only takes its time */
} Sums;

typedef struct Emitter {
	const Plan *plan;
	const int64_t *needed; /* plan_needed() */
	Fuse *view;	       /* the loops of the op at hand */
	const Module *module;
	const EmitOptions *options;
	Sums sums;
	Flights flights;
	int *collective; /* by op id: its row */
	Arena *arena;
	Arena *step;  /* of what only the step at hand needs */
	Text kernels; /* definitions */
	Rows rows[ROW_TABLES];
	Text arrays;   /* dims and splits of parameters and results */
	Text run;      /* the body of run(), marked: see c_repeat.c */
	Chunk *chunks; /* its steps */
	int nchunks;
	size_t step_from; /* where the last of them begins */
	int ntables;	  /* of numbers, in run() */
	Table *by_text;	  /* text of a kernel or a row -> its name */
	int nkernels, narrays;
	int depth;		   /* loops and branches around the step */
	const char *indent;	   /* of its lines in run() */
	size_t else_from, else_to; /* of run: the last `} else {` */
} Emitter;

typedef void Emit(Emitter *e, const Op *op); /* a step of run() */

/* c_text.c: spelling, and the scalar C of one op */
/* Before argument i of a call or a function: two stand on a line. */
void c_between(Text *t, int i, const char *indent);
void c_string(Text *t, const char *s, size_t n); /* with quotes */
void c_quoted(Text *t, const char *before, const char *s);
void c_comment(Text *t, const char *s);			    /* what may stand in one */
const char *c_constant(Arena *a, DType d, int64_t payload); /* in compute type */
const char *c_load(Arena *a, DType d, const char *element);
const char *c_store(Arena *a, DType d, const char *value); /* what to assign */
const char *c_rounded(Arena *a, DType d, const char *x);   /* to f16 or bf16 */
/* One element of a pointwise op; arguments are C identifiers or literals. */
const char *c_pointwise(Arena *a, const Op *op, const char *const *args);
/* acc combined with x, in the compute type of d. */
const char *c_combine(Arena *a, Combiner c, DType d, const char *acc, const char *x);
/* The name that was given to an equal text, or this one. */
const char *c_share(Emitter *e, const Text *t, const char *name);
/* The name of a table with the elements of a constant, rounded but
   for halves; equal ones share it */
const char *c_array(Emitter *e, const Op *constant);

/* c_kernel.c: a call of the (shared) function of a kernel */
void emit_kernel(Emitter *e, const Op *op, const Kernel *k);

/* c_nest.c: the body of such a function */
typedef struct Param {
	const Node *node; /* the first load through it, or a scalar */
	int64_t offset;	  /* of the element it points to */
} Param;

typedef struct Nest {
	Emitter *emitter;
	Arena *arena; /* of the step */
	const Op *op;
	const Kernel *k;
	Param *params;
	int nparams;
	int *param_of; /* by node id; -1: loads from the result */
	Text text;
	int indent;
	/* of c_nest.c */
	const Node *copied; /* the root, if its bits are only moved: it is not loaded */
	int inner_depth;    /* from which values stand in the inner loops */
	int64_t row_elements, kept_elements;
	const char *row_index; /* among those of a row of scratch */
	bool *kept;	       /* by node id: has a scratch row */
	int stage;
	bool *needed; /* by node id: in the loops being printed */
	const Node **reduced;
	int nreduced;	  /* in this stage */
	bool lanes;	  /* in this stage */
	const char *lane; /* of the accumulators: "[l]"; "": no lanes */
} Nest;
void kernel_body(Nest *n);

/* c_control.c: loops, branches and the copies between them */
const char *c_indent(Emitter *e, int depth); /* of lines of run() */
void emit_control(Emitter *e, const Op *op, int part);
Emit emit_copy;

/* c_repeat.c: what run() consists of, equal layers as a loop.  Numbers that
   may differ between such layers are written by c_number(). */
void c_number(Text *t, int64_t n);
void c_step_comment(Emitter *e, const Op *op);
/* After a step of `op`, or of none; `low` is the least depth in it. */
void c_note_step(Emitter *e, const Op *op, int depth, int low);
void c_run(Emitter *e, Text *t);

/* c_tables.c: descriptors of parameters, results, collectives, dots */
void emit_dot(Emitter *e, const Op *op, const Kernel *k);
Emit emit_collective, emit_done, emit_sort, emit_grouped;
/* "dots[3]": an equal row, or a new one; the text is freed. */
const char *c_row(Emitter *e, RowTable table, Text *row);
/* The number of the op's row among steps. */
int64_t c_step(Emitter *e, const Op *op);
void print_rows(Emitter *e, Text *t);
void emit_program(Emitter *e, Text *t);

/* c_sums.c */
void find_sums(Emitter *e);

/* c_extern.c: calls of the user's functions, and the table of them */
Emit emit_extern;
void print_externs(Emitter *e, Text *t);

/* c.c */
/* "(const float *)(slab + 64)": an element of the buffer that holds v; "slab
   + 64" where `element` is negative. */
void c_address(Emitter *e, Text *t, const Value *v, int64_t element, bool constant);
/* The variable or literal of an offset. */
const char *c_offset(Emitter *e, const Value *v);
/* A comment of its own line: where the op is from and what it makes, and of what. */
void c_origin(Emitter *e, Text *t, const char *indent, const Op *op, bool reads);

#endif

/*
 * read.h - HLO text as it stands, before it means anything, and what the files
 * that give it a meaning share.
 *
 *   module          HloModule NAME, attributes
 *     computation   ENTRY %main (...) -> ... {
 *       instruction     ROOT %h = f32[8,64] dot(%x, %W), attributes
 *
 * syntax_read.c makes it of any bytes at all or says where they stop being
 * HLO; program_read.c builds the module from it.
 */
#ifndef SHDC_READ_H
#define SHDC_READ_H

#include "ir/ir.h"

/* A piece of text being read, with its place in the file.  Strings that were
   escaped are read from a copy: their place is that of the whole string. */
typedef struct Cursor {
	struct Reading *rd;
	const char *s;
	int pos, end;
	bool copied;
	Range where; /* when copied */
} Cursor;

typedef struct HloAttr {
	const char *name;
	Cursor value; /* from its first byte to its last */
} HloAttr;

typedef struct HloAttrs {
	int n;
	HloAttr *a;
} HloAttrs;

typedef struct HloOperand {
	const char *name; /* without % */
	Range where;
} HloOperand;

typedef struct HloInstr {
	const char *name, *opcode;
	Range where; /* the name */
	bool root;
	bool tuple;  /* its shape is a tuple, of `types` */
	bool nested; /* ... and so is the first of these: of what a collective begins */
	Type type;
	int ntypes;
	Type *types;
	int nreceived; /* ... and so is the second, of these: of several collectives in one */
	Type *received;
	int noperands;
	HloOperand *operands;
	Cursor literal; /* what stands in the parentheses */
	HloAttrs attrs;
} HloInstr;

typedef struct HloComputation {
	const char *name;
	Range where;
	bool entry, used;
	int root; /* the instruction marked so, or the last */
	int n;
	HloInstr *instrs;
} HloComputation;

/* The strings of frontend_attributes. */
typedef struct Fact {
	const char *key, *value; /* value "" for an unquoted one */
	int length;
	Range where;
} Fact;

typedef struct Facts {
	int n;
	Fact *a;
} Facts;

/* An op or a parameter of the module and where it was read. */
typedef struct Built {
	const void *line;
	const Op *op; /* NULL: a parameter */
	const HloInstr *instr;
} Built;

typedef struct Reading {
	Session *session;
	Arena *arena;
	int file;
	bool failed;	  /* a message was given; unwind */
	const char *name; /* of the module */
	Range start;	  /* its first word */
	HloAttrs attrs;
	Table *computations; /* by name */
	HloComputation *entry;
	Module *m;	  /* what is made of it */
	const char *mesh; /* "mesh['X'=2,'Y'=4]" */
	Table *named;	  /* values of all computations; the entry is the last */
	Built *built;
	int nbuilt, calls;
	Table *gone; /* collectives of the plan, by what is said of them */
} Reading;

/* An instruction whose attributes and facts are being read. */
typedef struct ReadLine {
	Reading *rd;
	const HloInstr *instr;
	Facts facts;
} ReadLine;

/* cursor.c */
void hlo_error(Reading *rd, Range where, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* At the cursor's place. */
void cursor_error(Cursor *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* At the instruction's name. */
void line_error(const ReadLine *in, const char *fmt, ...) PRINTF_LIKE(2, 3);
Range cursor_range(const Cursor *c);
bool cursor_at_end(Cursor *c);	    /* but for space and comments */
bool cursor_is(Cursor *c, char ch); /* the next byte, which stays */
bool cursor_accept(Cursor *c, const char *token);
bool cursor_expect(Cursor *c, const char *token);
void cursor_expect_end(Cursor *c);
/* Whether item n of a list follows: past the comma before it, or past `close`,
   "" for the end. */
bool cursor_item(Cursor *c, int n, const char *close);
/* Past the same bytes but for space; false where they differ. */
bool cursor_same(Cursor *c, Cursor text);
const char *cursor_word(Cursor *c, const char *what); /* never NULL */
int64_t cursor_integer(Cursor *c, const char *what);
int64_t cursor_only(Cursor c, const char *what);   /* an integer, and nothing else */
int cursor_line(Cursor *c);			   /* of a source; 0 for what no file has */
const char *cursor_string(Cursor *c, int *length); /* "...", unescaped */
void cursor_skip_brackets(Cursor *c);
Cursor cursor_of_text(Reading *rd, const char *s, int length, Range where);

/* syntax_read.c */
void hlo_read_text(Reading *rd);
void hlo_read_attrs(Cursor *c, HloAttrs *attrs);		  /* , name=value ... */
const HloAttr *hlo_attr(const HloAttrs *attrs, const char *name); /* or NULL */

/* facts.c */
Facts facts_of(const HloAttrs *attrs);
const Fact *find_fact(const Facts *facts, const char *key);  /* or NULL */
const char *fact_value(const Facts *facts, const char *key); /* or NULL */
bool fact_is(const Facts *facts, const char *key, const char *value);
Cursor fact_cursor(Reading *rd, const Fact *f);
ReadLine line_read(Reading *rd, const HloInstr *instr);
/* A fact or an attribute that has to be there; NULL after a message. */
const Fact *line_needs_fact(const ReadLine *in, const char *key);
const HloAttr *line_needs_attr(const ReadLine *in, const char *name);

/* gone.c: the collective that it is a piece of. */
void read_gone(const ReadLine *in, Op *op);

/* planned.c: what the module's line says of the program before its schedule; which of those
   collectives an op does. */
void read_planned(Reading *rd, const Facts *facts);
int read_planned_number(const ReadLine *in);

/* async.c: of all-gather-start and all-gather-done, the collective or a done; false:
   it is neither. */
bool read_half(const HloInstr *instr, OpKind *kind, bool *start);
/* A done is called as what it waits for. */
void check_done(const ReadLine *in, const Op *done);
/* Of what it starts; NULL after a message. */
const Type *start_type(const ReadLine *in, OpKind kind);

/* type.c */
bool cursor_type(Cursor *c, Type *type, bool *tuple);

/* literal.c: A_value of a constant of that type */
void read_literal(Cursor *c, const Type *type, Op *op);

/* placement.c */
void read_placement(const ReadLine *in, Value *v);
AxisList *read_axes_fact(const ReadLine *in, const char *key); /* "X,Y:(1)2" */
AxisList read_axes_until(Cursor *c, const char *close);
/* f32[8@X, 64@(Y,?)!1] unreduced(Z), as text_type() writes it. */
Placement read_typed_spec(Cursor *c, Type *type);

/* reducer.c: the computation that attribute `name` names; NULL after a message. */
HloComputation *read_applied(const ReadLine *in, const char *name);
/* The combiner that to_apply names; add after a message. */
Combiner read_combiner(const ReadLine *in);

/* attrs.c: those that the op's row has. */
void read_attrs(const ReadLine *in, Op *op);
void read_attr(const ReadLine *in, Op *op, AttrKind attr);
/* {1,0} or 1, of an attribute that has to be there. */
void read_list(const ReadLine *in, const char *name, Op *op, AttrKind attr);

/* op_attrs.c: the attributes of an op, but for its bodies; and whether those
   that follow from others are what they should be. */
void read_op_attrs(const ReadLine *in, Op *op);
void check_derived(const ReadLine *in, const Op *op);

/* groups.c */
void read_group(const ReadLine *in, Op *op);

/* comparator.c: whether the computation compares as a sort of this op does. */
bool read_comparator(const HloComputation *computation, const Op *op, Direction *direction);

/* mesh.c: what the module's line says of it */
void read_mesh(Reading *rd, const Fact *f);
void read_facts(Reading *rd, const Fact *f);
void read_target(Reading *rd, const Fact *f);
void read_topology(Reading *rd, const Fact *f);
void read_layout(Reading *rd, const Fact *f);
void read_ring(Reading *rd, const Fact *f);

/* program_read.c: the module's entry, from the computation that is. */
void read_program(Reading *rd);

#endif

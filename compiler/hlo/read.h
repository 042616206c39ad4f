/*
 * read.h - HLO text as it stands, before it means anything, and what the files
 * that give it a meaning share.
 *
 *   HloFile   HloModule NAME, attributes
 *     computation   ENTRY %main (...) -> ... {
 *       instruction     ROOT %h = f32[8,64] dot(%x, %W), attributes
 *
 * text_read.c makes it of any bytes at all or says where they stop being
 * HLO; read.c builds the module from it, with the help of facts_read.c,
 * placement_read.c and attrs_read.c.
 */
#ifndef SHDC_READ_H
#define SHDC_READ_H

#include "ir/ir.h"

/* A piece of text being read, with its place in the file.  Strings that were
   escaped are read from a copy: their place is that of the whole string. */
typedef struct Cursor {
	struct Reading *r;
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
	bool tuple; /* its shape is a tuple, of `types` */
	Type type;
	int ntypes;
	Type *types;
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
} Reading;

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
	const HloInstr *instr;
} Built;

typedef struct Builder {
	Reading *r;
	Module *m;
	Table *values; /* of the entry, by their name in the text */
	Table *named;  /* of all computations; the entry is the last */
	Built *built;
	int nbuilt, calls;
} Builder;

/* text_read.c */
void hlo_read_text(Reading *r);
void hlo_error(Reading *r, Range where, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* At the cursor's place. */
void cursor_error(Cursor *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
Range cursor_range(const Cursor *c);
bool cursor_at_end(Cursor *c); /* but for space and comments */
bool cursor_accept(Cursor *c, const char *token);
bool cursor_expect(Cursor *c, const char *token);
const char *cursor_word(Cursor *c, const char *what); /* never NULL */
int64_t cursor_integer(Cursor *c, const char *what);
const char *cursor_string(Cursor *c, int *length); /* "...", unescaped */
Cursor cursor_of_text(Reading *r, const char *s, int length, Range where);
bool cursor_type(Cursor *c, Type *t, bool *tuple);
void hlo_read_attrs(Cursor *c, HloAttrs *attrs);		  /* , name=value ... */
const HloAttr *hlo_attr(const HloAttrs *attrs, const char *name); /* or NULL */
void cursor_expect_end(Cursor *c);

/* facts_read.c */
Facts facts_of(const HloAttrs *attrs);
const Fact *find_fact(const Facts *facts, const char *key); /* or NULL */
bool fact_is(const Facts *facts, const char *key, const char *value);
Cursor fact_cursor(Builder *b, const Fact *f);

/* module_read.c: what the module's line says of it; and, once its ops are
   there, of results, names and expectations. */
void read_module_facts(Builder *b, const Facts *facts);
void read_names(Builder *b, const Facts *facts);

/* placement_read.c */
void read_placement(Builder *b, const HloInstr *instr, const Facts *facts, Value *v);
AxisList read_axis_list(Builder *b, Cursor *c); /* X,Y:(1)2 */
/* f32[8@X, 64@(Y,?)!1] unreduced(Z), as text_type() writes it. */
Placement read_typed_spec(Builder *b, Cursor *c, Type *type);

/* attrs_read.c: the attributes of an op, but for its bodies. */
void read_op_attrs(Builder *b, const HloInstr *instr, const Facts *facts, Op *op);
/* The computation that attribute `name` names; NULL after a message. */
HloComputation *read_applied(Builder *b, const HloInstr *instr, const char *name);

/* comparator.c: whether the computation compares as a sort of this op does. */
bool read_comparator(const HloComputation *c, const Op *op, Direction *direction);

#endif

/* hlo.h - what print.c, read.c and verify.c share about the text form. */
#ifndef SHDC_HLO_H
#define SHDC_HLO_H

#include "ir/ir.h"

typedef enum AttrForm {
	FORM_LIST,	/* {1,0} */
	FORM_ONE,	/* 1 */
	FORM_DIRECTION, /* LT */
	FORM_COMBINER,	/* %add_f32 */
	FORM_VALUE,	/* the literal of a constant */
	FORM_SLICE,	/* {[0:8:2], [0:16]} */
	FORM_PAD,	/* 1_0x0_2 */
	FORM_FACT,	/* frontend_attributes={trips="4"} */
	FORM_FACTS,	/* frontend_attributes={source="1,2,-1"} */
} AttrForm;

typedef struct AttrInfo {
	const char *name, *hlo;
	AttrForm form;
} AttrInfo;
extern const AttrInfo attr_table[ATTR_COUNT]; /* ops.c */

extern const char *const level_names[]; /* ops.c */

/* The attributes that name the bodies of an op. */
extern const char *const body_attrs[OP_COUNT][2]; /* ops.c */

/* Whether HLO keeps the word as a type and so refuses it as a value's name. */
bool hlo_reserved(const char *name); /* ops.c */

/* Called after each line: `line` is the Op or the parameter's Value on it, or
   NULL for the module's own. */
typedef void LineNote(const void *line, Text *t, void *data);
void module_print_noted(Module *m, Text *t, LineNote *note, void *data);

/* The attributes of ops whose HLO form follows from other facts: windows,
   gathers, groups of devices.  ", name=value, name=value"; print_attrs.c. */
void text_attrs(Module *m, const Op *op, Text *t);

/* The computation that compares two elements in a sort; comparator.c. */
void text_comparator(Text *t, const char *name, const Op *op);

/* Whether a body is given its parameters as one tuple: of while and if. */
bool body_takes_tuple(const Block *b); /* print.c */

/* verify.c: calls `report` for every failure, in the order of the text. */
typedef void Report(const void *line, const char *message, void *data);
void module_check(Module *m, Report *report, void *data);

#endif

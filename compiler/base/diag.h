/*
 * diag.h - a message that is being collected, and its two forms.
 *
 *   utf8.c        characters, and what of them reaches a terminal
 *   excerpt.c     the lines of source that a message is about, with carets
 *   diag_print.c  text and JSON
 *   diag.c        collecting
 */
#ifndef SHDC_DIAG_H
#define SHDC_DIAG_H

#include "base.h"

typedef struct DiagInfo {
	const char *number;
	Severity severity;
	int status;
	const char *title, *explanation;
} DiagInfo;

extern const DiagInfo diags[DIAG_COUNT];

typedef struct Mark { /* a caret and its words */
	Range where;
	const char *text;
} Mark;

typedef struct Addition { /* a note, or a line as it stands */
	bool is_note;
	Range where;
	const char *text;
	const char *edit; /* a choice: what takes the place of `where` */
	bool once;	  /* of all messages the first has it */
} Addition;

typedef struct Message {
	DiagCode code;
	const char *text;
	Mark *marks; /* marks[0] is the message's own place */
	int nmarks;
	Addition *additions;
	int nadditions;
	int number; /* of those that are held, in the order in which they came */
} Message;

struct DiagState {
	bool pending; /* a message is being collected */
	bool muted;   /* the last one is not printed, nor collected */
	Message message;
	bool holding; /* messages wait to be printed in the order of their places */
	Message *held;
	int nheld;
	const char *too_many; /* what is said behind them, or NULL */
	int errors, warnings, status;
	Table *told;  /* errors, by place and words */
	Table *noted; /* notes that are printed once, likewise */
};

/* utf8.c: length of the well-formed character at s, 0 if there is none */
int utf8_length(const char *s, int available, uint32_t *code);
/* Columns a terminal gives the character: 0 combining, 2 East Asian wide. */
int code_width(uint32_t code);
/* What a terminal would obey. */
bool is_control(uint32_t code);
/* The text with that replaced by '?'. */
void add_clean(Text *t, const char *s);

/* excerpt.c: "ffn.shd:7:12: " */
void add_place(const Session *s, Text *t, Range where);
/* Each line that has a mark, once, in the order of the marks. */
void print_excerpt(const Session *s, Text *t, const Mark *marks, int n);

/* diag_print.c */
void print_text(const Session *s, const Message *message, Text *t);
void print_json(const Session *s, const Message *message, Text *t);

#endif

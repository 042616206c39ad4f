/*
 * reader.h - the tokens that the parser is given, one by one, and the brackets that are open.
 */
#ifndef SHDC_READER_H
#define SHDC_READER_H

#include "shd.tab.h"

typedef struct Token {
	int kind;
	SHD_STYPE value;
	Range range;
	bool begins_line;
	bool begins_list; /* a `[` where a value stands */
	bool bare;	  /* a `{` that nobody wrote, of a loop or a branch */
} Token;

typedef struct Reader {
	Parser *parser;
	void *scanner;
	shd_pstate *state;
	int status;
	Token before; /* the last that the parser was given */
	int nahead;
	Token *ahead; /* read already, the next one last */
	int head;     /* the first of the statement or declaration */
	int nopen;
	Token *open;	/* brackets */
	int outside;	/* nopen around what is lost; all of these are braces */
	bool closed;	/* a block of what is lost has ended */
	bool signature; /* behind a `fn`, before its block */
	bool parameter; /* what is lost is one */
	bool told_bare; /* `else` stands behind a branch without braces */
	bool quiet;	/* a value of the statement is missing, which was told */
	int nneedless;	/* `{` that were left out, whose `}` may follow */
} Reader;

/* An opening bracket with its end. */
typedef struct Bracket {
	int open, close;
	const char *text; /* of the end */
} Bracket;
const Bracket *bracket_opened(int open); /* NULL: it is none */
const Bracket *bracket_closed(int close);

bool is_one_of(int kind, const int *kinds, size_t n);
#define IS_ONE_OF(kind, kinds) is_one_of(kind, kinds, sizeof kinds / sizeof *kinds)
bool is_statement_word(int kind); /* begins a statement, and nothing inside one */
bool is_statement_text(const char *s, size_t length); /* so does this text, but for fn */
bool is_declaration_word(int kind); /* ... a declaration, at the very beginning of a line */
extern const char name_bytes[];

/* The innermost open bracket; 0 if there is none. */
int reader_innermost(const Reader *r);
/* Is what the parser has a list of whole statements or declarations? */
bool reader_is_ended(const Reader *r);
/* Does the token begin its line, without a blank before it? */
bool reader_at_margin(const Reader *r, const Token *token);
const char *reader_text(const Reader *r); /* of the file */
/* What the text behind `at` has behind a name, 0 where there is none or a `==`. */
char reader_behind_name(const Reader *r, int at);

Token scan_token(Parser *p, void *scanner);
Token reader_next(Reader *r);
void reader_put_back(Reader *r, const Token *token); /* it is the next one again */
/* Gives it to the parser; which may be lost behind it. */
void reader_push(Reader *r, const Token *token);
void reader_push_missing(Reader *r, int kind); /* a mark that nobody wrote, behind the last */
/* The parser has taken it, or skipped it in a rule for what is lost. */
void reader_note_taken(Reader *r, const Token *token);

/* marks.c: what is missing before the token is put in, and told; true: the token itself is
   told and not given to the parser. */
bool mend_marks(Reader *r, const Token *token);

#endif

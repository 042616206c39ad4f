/*
 * reader.c - the tokens that the parser is given, and the brackets that are open.
 */
#include <string.h>

#include "reader.h"

static const Bracket brackets[] = {
	{TOK_LPAREN, TOK_RPAREN, ")"},
	{TOK_LBRACKET, TOK_RBRACKET, "]"},
	{TOK_LBRACE, TOK_RBRACE, "}"},
};
enum { NBRACKETS = sizeof brackets / sizeof *brackets };

/* Words that begin a statement, and nothing inside one. */
static const int statement_words[] = {TOK_LET, TOK_VAR, TOK_RETURN, TOK_FOR, TOK_WHILE, TOK_IF,
	TOK_FN};
/* ... a declaration, at the very beginning of a line */
static const int declaration_words[] = {TOK_FN, TOK_MESH, TOK_DIM, TOK_TYPE, TOK_IMPORT,
	TOK_EXPLICIT, TOK_CHECKPOINT, TOK_MANUAL, TOK_EXTERN};

const char name_bytes[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

bool
is_one_of(int kind, const int *kinds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (kinds[i] == kind)
			return true;
	return false;
}

bool
is_statement_word(int kind)
{
	return IS_ONE_OF(kind, statement_words);
}

bool
is_statement_text(const char *s, size_t length)
{
	bool begins = length == 4 && strncmp(s, "else", 4) == 0;
	for (size_t i = 0; i < sizeof statement_words / sizeof *statement_words; i++) {
		const char *word = token_name(statement_words[i]);
		begins |= statement_words[i] != TOK_FN && strlen(word) == length
			&& strncmp(s, word, length) == 0;
	}
	return begins;
}

bool
is_declaration_word(int kind)
{
	return IS_ONE_OF(kind, declaration_words);
}

const char *
reader_text(const Reader *r)
{
	return source_file(r->parser->session, r->parser->file)->text;
}

const Bracket *
bracket_opened(int open)
{
	for (int i = 0; i < NBRACKETS; i++)
		if (brackets[i].open == open)
			return &brackets[i];
	return NULL;
}

const Bracket *
bracket_closed(int close)
{
	for (int i = 0; i < NBRACKETS; i++)
		if (brackets[i].close == close)
			return &brackets[i];
	return NULL;
}

int
reader_innermost(const Reader *r)
{
	return r->nopen > 0 ? r->open[r->nopen - 1].kind : 0;
}

bool
reader_is_ended(const Reader *r)
{
	int kind = r->before.kind;
	return kind == 0 || kind == TOK_SEMICOLON || kind == TOK_LBRACE || kind == TOK_RBRACE;
}

bool
reader_at_margin(const Reader *r, const Token *token)
{
	const char *text = reader_text(r);
	return token->range.begin == 0 || text[token->range.begin - 1] == '\n';
}

/* [j for j in ...], perm=[(0, 1), (1, 2)] */
static ListPart
list_part(const Reader *r)
{
	if (r->nopen == 0)
		return LIST_none;
	const Token *inner = &r->open[r->nopen - 1];
	if (!is_declaration_word(r->head) && inner->begins_list)
		return LIST_item;
	return r->nopen > 1 && inner->kind == TOK_LPAREN && inner[-1].begins_list ? LIST_tuple
										  : LIST_none;
}

char
reader_behind_name(const Reader *r, int at)
{
	static const char blanks[] = " \t\r\n";
	const char *s = reader_text(r) + at;
	s += strspn(s, blanks);
	size_t name = *s >= '0' && *s <= '9' ? 0 : strspn(s, name_bytes);
	s += name + strspn(s + name, blanks);
	return name == 0 || s[1] == '=' ? 0 : *s;
}

/* ---- the parser */

Token
scan_token(Parser *p, void *scanner)
{
	Token token = {0};
	token.kind = shd_lex(&token.value, &token.range, scanner, p);
	token.begins_line = token.range.line != p->previous.line;
	return token;
}

Token
reader_next(Reader *r)
{
	if (r->nahead == 0)
		return scan_token(r->parser, r->scanner);
	Token token = r->ahead[--r->nahead];
	r->parser->previous = r->parser->latest;
	r->parser->latest = token.range;
	return token;
}

/* It is the next one again. */
void
reader_put_back(Reader *r, const Token *token)
{
	APPEND(r->parser->session->arena, r->ahead, r->nahead, *token);
	r->parser->latest = r->before.range;
}

/* The parser has taken it. */
void
reader_note_taken(Reader *r, const Token *token)
{
	r->parser->skipped = false;
	if (reader_is_ended(r)) {
		r->head = token->kind;
		r->parser->guessed = r->quiet = false;
	}
	if (token->kind == TOK_FN || token->kind == TOK_LBRACE)
		r->signature = token->kind == TOK_FN && r->head != TOK_EXTERN;
	if (bracket_opened(token->kind) != NULL)
		APPEND(r->parser->session->arena, r->open, r->nopen, *token);
	else if (bracket_closed(token->kind) != NULL && r->nopen > 0)
		r->nopen--;
	if (token->kind == TOK_LBRACKET)
		r->open[r->nopen - 1].begins_list = is_one_of(r->before.kind,
			(int[]){TOK_LPAREN, TOK_COMMA, TOK_ASSIGN}, 3);
	r->before = *token;
	r->parser->head = token_name(r->head);
	r->parser->inner = r->nopen > 0 ? token_name(reader_innermost(r)) : NULL;
	r->parser->list = list_part(r);
}

void
reader_push(Reader *r, const Token *token)
{
	r->status = shd_push_parse(r->state, token->kind, &token->value, (Range *)&token->range,
		r->scanner, r->parser);
	if (!r->parser->lost)
		reader_note_taken(r, token);
}

/* A mark that nobody wrote, behind the last token. */
void
reader_push_missing(Reader *r, int kind)
{
	Token token = {.kind = kind, .range = r->before.range};
	token.range.begin = token.range.end;
	reader_push(r, &token);
}

/*
 * recover.c - feeds the parser with tokens, and goes on after a mistake.
 *
 * A mark that is missing or too many is told, and put in or left out (marks.c).  Any other
 * mistake costs the statement or the declaration around it: what follows is skipped up to
 * its `;` or the end of its block, up to the end of the block around it, or up to a line
 * that begins the next one.  The grammar has `error ";"` in its place.  Of a function whose
 * signature is lost the block is read, for what is wrong in it: `"fn" error block`.
 */
#include <string.h>

#include "reader.h"
#include "recover.h"

/* What is not known without a declaration; of other tokens that may be anything. */
static const struct Loss {
	int word;
	unsigned lost;
} losses[] = {
	{TOK_MESH, LOST_axes},
	{TOK_DIM, LOST_names},
	{TOK_TYPE, LOST_names},
	{TOK_FN, LOST_functions},
	{TOK_EXPLICIT, LOST_functions},
	{TOK_CHECKPOINT, LOST_functions},
	{TOK_MANUAL, LOST_functions},
	{TOK_EXTERN, LOST_functions},
};

/* ---- what is lost */

static unsigned
lost_with(int word)
{
	for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
		if (losses[i].word == word)
			return losses[i].lost;
	return LOST_any;
}

/* A mistake was told at `token`: what is open around it, but for brackets. */
static void
begin_lost(Reader *r, const Token *token)
{
	static const int parameter[] = {TOK_LOST, TOK_RPAREN};
	bool first = reader_is_ended(r);
	r->parameter = r->nopen > 0 && tokens_may_follow(r->state, 2, parameter);
	if (r->parameter)
		return;
	while (reader_innermost(r) != 0 && reader_innermost(r) != TOK_LBRACE)
		r->nopen--;
	r->outside = r->nopen;
	r->closed = false;
	r->signature = r->signature && r->outside == 0;
	if (r->outside == 0 && !token_may_follow(r->state, TOK_LOST))
		r->parser->program->lost |= lost_with(first ? token->kind : r->head);
}

/* Is the parameter that is lost over before this token?  A `)` may be missing, or a `[`:
   what has no type behind it may be a dim. */
static bool
ends_parameter(Reader *r, const Token *token)
{
	const struct Bracket *closed = bracket_closed(token->kind);
	if (token->kind == TOK_END || token->kind == TOK_LBRACE || token->kind == TOK_ARROW
		|| (token->begins_line && is_statement_word(token->kind))
		|| (reader_at_margin(r, token) && is_declaration_word(token->kind)))
		return true;
	if (bracket_opened(token->kind) != NULL)
		APPEND(r->parser->session->arena, r->open, r->nopen, *token);
	while (closed != NULL && r->nopen > 1 && reader_innermost(r) != closed->open)
		r->nopen--;
	if (closed != NULL && r->nopen > 1)
		r->nopen--;
	else if (token->kind == TOK_RPAREN)
		return true;
	char behind = reader_behind_name(r, token->range.end);
	return token->kind == TOK_COMMA && r->nopen == 1 && behind != 0
		&& (behind == ':' || strchr(name_bytes, behind) != NULL);
}

/* A function of another language, which is told as each is. */
static bool
is_def(const Reader *r, const Token *token)
{
	return token->kind == TOK_NAME
		&& strncmp(reader_text(r) + token->range.begin, "def ", 4) == 0;
}

/* Is what is lost over before this token? */
static bool
ends_lost(Reader *r, const Token *token)
{
	bool outside = r->nopen == r->outside;
	if (r->parameter)
		return ends_parameter(r, token);
	if (token->kind == TOK_END || (token->kind == TOK_LBRACE && r->signature))
		return true;
	if (token->kind == TOK_LBRACE)
		APPEND(r->parser->session->arena, r->open, r->nopen, *token);
	else if (token->kind == TOK_RBRACE && !outside)
		r->closed = --r->nopen == r->outside;
	if (!outside || token->kind == TOK_LBRACE)
		return false;
	if (r->closed && token->kind == TOK_ELSE)
		return r->closed = false;
	if (r->closed || token->kind == TOK_SEMICOLON)
		return true;
	if (r->outside > 0)
		return token->kind == TOK_RBRACE
			|| (token->begins_line && is_statement_word(token->kind));
	return reader_at_margin(r, token)
		&& (is_declaration_word(token->kind) || is_def(r, token));
}

/* The `;` of `error ";"`, if it is not the next token itself; or the block of a function
   begins. */
static void
end_lost(Reader *r, const Token *token)
{
	r->parser->lost = r->parser->skipped = false;
	r->nopen = r->outside;
	if (token->kind != TOK_SEMICOLON && !(token->kind == TOK_LBRACE && r->signature)) {
		reader_push_missing(r, TOK_SEMICOLON);
	}
	r->signature = false;
}

/* ... of what is lost of a signature: a parameter, or all behind them. */
static void
end_part(Reader *r, const Token *token)
{
	bool ends = token->kind == TOK_COMMA || token->kind == TOK_RPAREN;
	r->parser->lost = r->parser->skipped = false;
	reader_push_missing(r, TOK_LOST);
	if (!r->parameter || !ends)
		r->parser->guessed = true; /* whatever else is wrong with it */
	r->nopen = r->parameter ? 1 : r->outside;
	if (r->parameter && !ends)
		reader_push_missing(r, TOK_RPAREN);
	reader_put_back(r, token);
}

/* ---- all */

static void
read_token(Reader *r, const Token *token)
{
	if (!r->parser->skipped && mend_marks(r, token)) /* else it is told what is wrong */
		return;
	reader_push(r, token);
	if (r->parser->lost)
		begin_lost(r, token);
}

bool
read_tokens(Parser *p, void *scanner, shd_pstate *state)
{
	Reader r = {.parser = p, .scanner = scanner, .state = state, .status = YYPUSH_MORE};
	while (r.status == YYPUSH_MORE) {
		Token token = reader_next(&r);
		bool told = false;
		if (!p->lost) {
			read_token(&r, &token);
			told = p->lost;
		}
		if (r.status != YYPUSH_MORE || !p->lost || !ends_lost(&r, &token))
			continue;
		if (token_may_follow(state, TOK_LOST)) {
			end_part(&r, &token);
			continue;
		}
		/* The parser has skipped the token at which it was lost, but not these. */
		bool taken = told
			&& (token.kind == TOK_SEMICOLON
				|| (token.kind == TOK_LBRACE && r.signature));
		end_lost(&r, &token);
		if (taken)
			reader_note_taken(&r, &token);
		else if (token.kind == TOK_SEMICOLON) /* that of what was lost */
			reader_push(&r, &token);
		else
			read_token(&r, &token);
	}
	return r.status == 0;
}

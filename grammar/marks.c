/*
 * marks.c - marks that are missing, or too many; what other notations have.
 *
 * A mark that is missing is told, and put in where it belongs:
 *
 *   let h = relu((x + 1;      `)`: a statement does not end inside parentheses
 *   let g = h * 2             `;`: `return` begins a line and cannot go on with this
 *   return g;
 *   fn f(x) { ... }           `}`: a function begins
 *   dim A = 8  B = 4;         `,`: another dim
 *   if wide y = x;            `{`: and a `}` where the lines say so
 */
#include <string.h>

#include "reader.h"
#include "syntax.h"

/* What may stand behind a bracket, and may not in it as it is; comparisons are told as
   what they are. */
static const int behind_brackets[] = {TOK_ASSIGN, TOK_ARROW, TOK_IN, TOK_SAME, TOK_GRADIENT,
	TOK_ON, TOK_LAYOUT, TOK_FN, TOK_REPLICATED, TOK_UNREDUCED, TOK_PLUS, TOK_MINUS,
	TOK_STAR, TOK_SLASH, TOK_PERCENT};
enum { MOST_CLOSED = 4, MOST_AHEAD = 3, MOST_DIVIDED = 128 };
/* What has a block begins with one of these. */
static const int block_words[] = {TOK_FN, TOK_EXPLICIT, TOK_CHECKPOINT, TOK_MANUAL, TOK_EXTERN,
	TOK_FOR, TOK_WHILE, TOK_IF, TOK_ELSE};
static const int inner_block_words[] = {TOK_FOR, TOK_WHILE, TOK_IF, TOK_ELSE};
/* ... an argument, a dim or a parameter */
static const int argument_words[] = {TOK_NAME, TOK_INT, TOK_FLOAT, TOK_STRING, TOK_DTYPE,
	TOK_TRUE, TOK_FALSE, TOK_NEW};

/* ---- marks that are missing, or too many */

static void
complain_missing(Reader *r, Range before, const char *mark)
{
	if (r->quiet)
		return;
	before.begin = before.end;
	diag(r->parser->session, r->parser->code, before, "'%s' is missing here", mark);
}

static int
indentation(const char *text, int at)
{
	while (at > 0 && text[at - 1] != '\n')
		at--;
	return (int)strspn(text + at, " \t");
}

/* What a bracket that was never closed ends behind: the line before one that is not
   indented any further than the bracket's, or all that was read. */
static Range
last_inside(const Reader *r)
{
	const char *text = reader_text(r);
	Range at = r->open[r->nopen - 1].range;
	int indented = indentation(text, at.begin);
	for (; r->open[0].kind == TOK_LBRACE && at.end < r->before.range.end; at.end++) {
		if (text[at.end] != '\n')
			continue;
		if (indentation(text, at.end + 1) <= indented) {
			while (strchr(" \t\r,", text[at.end - 1]) != NULL)
				at.end--;
			return at;
		}
		at.line++;
	}
	return r->before.range;
}

/*
 * A bracket that was put in or left out may be meant elsewhere: a statement loses its
 * value (tree.c), and what else does not fit in it is passed over.  A declaration is
 * lost, unless it is `certain` what it says.
 */
static void
guess_bracket(Reader *r, int at, bool certain)
{
	Parser *p = r->parser;
	p->guessed = true;
	if (r->nopen > 0 && r->open[0].kind == TOK_LBRACE)
		APPEND(p->session->arena, p->guesses, p->nguesses, at);
	else
		p->program->whole &= certain;
}

/* May this token be next, once the n innermost brackets are closed? */
static bool
may_follow_closed(const Reader *r, int n, const int *tokens, int ntokens)
{
	int kinds[MOST_CLOSED + MOST_AHEAD];
	if (n > r->nopen)
		return false;
	for (int i = 0; i < n; i++)
		kinds[i] = bracket_opened(r->open[r->nopen - 1 - i].kind)->close;
	memcpy(kinds + n, tokens, (size_t)ntokens * sizeof *tokens);
	return tokens_may_follow(r->state, n + ntokens, kinds);
}

/* These tokens may not follow in the brackets that are open, but behind some of them. */
static bool
may_follow_brackets(const Reader *r, const int *tokens, int ntokens)
{
	if (may_follow_closed(r, 0, tokens, ntokens))
		return false;
	for (int n = 1; n <= MOST_CLOSED && n <= r->nopen; n++) {
		if (r->open[r->nopen - n].kind == TOK_LBRACE)
			return false;
		if (may_follow_closed(r, n, tokens, ntokens))
			return true;
	}
	return false;
}

/* `:` or `=` where that is one, else 0. */
static int
mark_behind_name(const Reader *r, int at)
{
	char byte = reader_behind_name(r, at);
	return byte == ':' ? TOK_COLON : byte == '=' ? TOK_ASSIGN : 0;
}

/* f32[axis_size(X */
static bool
is_call_in_type(const Reader *r)
{
	static const int at = TOK_AT, assign = TOK_ASSIGN;
	bool types = r->signature || r->head == TOK_TYPE
		|| ((r->head == TOK_LET || r->head == TOK_VAR)
			&& may_follow_closed(r, 2, &assign, 1));
	return types && reader_innermost(r) == TOK_LPAREN && may_follow_closed(r, 1, &at, 1);
}

/*
 * Does what is in brackets end before this token, by what may follow?
 *
 *   let h: f32[8, 4 = x;    f(x: f32[8, y: f32[4])    first[:, new + row    f32[size(X@X]
 */
static bool
ends_brackets(const Reader *r, const Token *token)
{
	int kind = token->kind, ahead[MOST_AHEAD] = {kind, TOK_NAME, 0};
	if (kind == TOK_COMMA) {
		ahead[2] = mark_behind_name(r, token->range.end);
		return ahead[2] != 0 && may_follow_brackets(r, ahead, MOST_AHEAD);
	}
	if (kind == TOK_AT)
		return is_call_in_type(r) && token_may_follow(r->state, kind);
	if (r->before.kind == TOK_COMMA && kind != TOK_ASSIGN && kind != TOK_ARROW)
		return false; /* a value is missing there */
	return IS_ONE_OF(kind, behind_brackets) && may_follow_brackets(r, &kind, 1);
}

/* Does a bracket end before this token, whatever stands in it? */
static bool
closes_brackets(const Reader *r, const Token *token)
{
	const Bracket *closed = bracket_closed(token->kind);
	bool has_block = IS_ONE_OF(r->head, block_words);
	if (ends_brackets(r, token))
		return true;
	if (token->kind == TOK_LBRACE)
		return has_block;
	if (token->kind == TOK_SEMICOLON || token->kind == TOK_RBRACE || token->kind == TOK_END
		|| (token->begins_line && is_statement_word(token->kind))
		|| (reader_at_margin(r, token) && is_declaration_word(token->kind)
			&& !token_may_follow(r->state, token->kind)))
		return !has_block;
	for (int i = r->nopen - 1; closed != NULL && i >= 0; i--)
		if (r->open[i].kind == closed->open)
			return r->open[r->nopen - 1].kind != closed->open;
		else if (r->open[i].kind == TOK_LBRACE)
			return false;
	return false;
}

static void
close_brackets(Reader *r, const Token *token)
{
	while (reader_innermost(r) != 0 && reader_innermost(r) != TOK_LBRACE
		&& closes_brackets(r, token)) {
		const Bracket *b = bracket_opened(reader_innermost(r));
		if (syntax_slashes(r->parser, token->range)
			|| !token_may_follow(r->state, b->close))
			return;
		bool params = b->open == TOK_LBRACKET && token->kind == TOK_RPAREN;
		complain_missing(r, last_inside(r), b->text);
		if (!r->quiet)
			diag_label(r->parser->session, r->open[r->nopen - 1].range,
				"opened here");
		guess_bracket(r, r->before.range.end,
			r->head != TOK_DIM && !params
				&& (b->open == TOK_LBRACKET || r->nopen == 1));
		reader_push_missing(r, b->close);
	}
}

/* At the beginning of a line anything that may; inside one what is certain to. */
static bool
begins_statement(const Reader *r, const Token *token)
{
	int kind = token->kind;
	if (token->begins_line)
		return syntax_begins(token_name(kind));
	return is_statement_word(kind)
		? kind != TOK_IF
		: kind == TOK_NAME && mark_behind_name(r, token->range.begin) == TOK_ASSIGN;
}

/*
 * Before what begins another statement, where a value has to stand.  What else is missing of
 * the statement is not told.
 *
 *   let h = x * (y +
 *   return h;
 */
static void
supply_value(Reader *r, const Token *token)
{
	const Range before = r->before.range;
	bool var = token->kind == TOK_VAR && mark_behind_name(r, token->range.end) != 0;
	if (!token->begins_line || reader_is_ended(r)
		|| (!var && (token->kind == TOK_VAR || !is_statement_word(token->kind)))
		|| !token_may_follow(r->state, TOK_MALFORMED)
		|| token_may_follow(r->state, TOK_RPAREN)
		|| token_may_follow(r->state, TOK_RBRACKET))
		return;
	diag(r->parser->session, r->parser->code, before, "a value is missing behind '%.*s'",
		before.end - before.begin, reader_text(r) + before.begin);
	r->quiet = true;
	reader_push_missing(r, TOK_MALFORMED);
}

/* Before what begins another statement, or ends the block. */
static void
end_statement(Reader *r, const Token *token)
{
	int kind = token->kind;
	if (reader_is_ended(r)
		|| (reader_innermost(r) != 0 && reader_innermost(r) != TOK_LBRACE))
		return;
	if (r->before.kind == TOK_UNROLL && kind == TOK_FOR)
		return; /* it is a habit, and told as one */
	if ((!begins_statement(r, token) && kind != TOK_RBRACE && kind != TOK_END)
		|| token_may_follow(r->state, kind)
		|| !token_may_follow(r->state, TOK_SEMICOLON))
		return;
	complain_missing(r, r->before.range, ";");
	syntax_note_slashes(r->parser, token->range);
	reader_push_missing(r, TOK_SEMICOLON);
}

/* Between two dims of one declaration. */
static void
separate_dims(Reader *r, const Token *token)
{
	int ahead[] = {TOK_COMMA, token->kind, TOK_ASSIGN};
	if (r->head != TOK_DIM || reader_is_ended(r) || token->kind != TOK_NAME
		|| mark_behind_name(r, token->range.begin) != TOK_ASSIGN
		|| token_may_follow(r->state, token->kind)
		|| !tokens_may_follow(r->state, 3, ahead))
		return;
	complain_missing(r, r->before.range, ",");
	reader_push_missing(r, TOK_COMMA);
}

/* matmul(a a, b): a name where none fits, which stands before it already, is left out. */
static bool
stands_twice(Reader *r, const Token *token)
{
	const char *text = reader_text(r);
	Range first = r->before.range, second = token->range;
	int length = second.end - second.begin;
	if (token->kind != TOK_NAME || r->before.kind != TOK_NAME
		|| reader_innermost(r) == TOK_LBRACE || first.end - first.begin != length
		|| strncmp(text + first.begin, text + second.begin, (size_t)length) != 0
		|| token_may_follow(r->state, token->kind))
		return false;
	diag(r->parser->session, r->parser->code, second, "'%.*s' stands here twice", length,
		text + second.begin);
	return true;
}

/* Between a parameter and its type, else between two arguments, parameters or dims: there
   a token may be one too many.  What follows a name in words of other languages, as `and`,
   is told as that. */
static void
separate_arguments(Reader *r, const Token *token)
{
	Parser *p = r->parser;
	int typed[] = {TOK_COLON, token->kind}, next[] = {TOK_COMMA, token->kind};
	int inner = reader_innermost(r);
	if ((inner != TOK_LPAREN && inner != TOK_LBRACKET)
		|| (!r->signature && r->head != TOK_MESH && r->open[0].kind != TOK_LBRACE)
		|| !IS_ONE_OF(token->kind, argument_words)
		|| token_may_follow(r->state, token->kind)
		|| syntax_is_habit(p, r->before.range) || syntax_is_habit(p, token->range))
		return;
	bool type = token->kind == TOK_DTYPE && tokens_may_follow(r->state, 2, typed);
	bool certain = type || mark_behind_name(r, token->range.begin) == TOK_COLON;
	if (!type && !tokens_may_follow(r->state, 2, next))
		return;
	complain_missing(r, r->before.range, type ? ":" : ",");
	if (!certain)
		APPEND(p->session->arena, p->guesses, p->nguesses, r->before.range.end);
	reader_push_missing(r, type ? TOK_COLON : TOK_COMMA);
}

/*
 * Before a statement, where a block has to begin.  Of a loop or a branch it is over where
 * the indentation says so, if it has no `}` either.
 *
 *   if wide y = x; else y = z;
 */
static void
open_block(Reader *r, const Token *token)
{
	int ahead[] = {TOK_LBRACE, token->kind};
	if ((reader_innermost(r) != 0 && reader_innermost(r) != TOK_LBRACE)
		|| !begins_statement(r, token)
		|| (r->signature && token->kind == TOK_LPAREN) /* results */
		|| token_may_follow(r->state, token->kind)
		|| !tokens_may_follow(r->state, 2, ahead))
		return;
	if (!r->told_bare)
		complain_missing(r, r->before.range, "{");
	r->told_bare = false;
	reader_push_missing(r, TOK_LBRACE);
	r->open[r->nopen - 1].bare = IS_ONE_OF(r->head, inner_block_words);
}

/* Is a block without a `{` over before this token, without a `}`? */
static bool
ends_bare_block(const Reader *r, const Token *token)
{
	const char *text = reader_text(r);
	if (reader_innermost(r) != TOK_LBRACE || !r->open[r->nopen - 1].bare
		|| !reader_is_ended(r) || r->before.kind == TOK_LBRACE)
		return false;
	if (token->kind == TOK_ELSE || token->kind == TOK_END)
		return true;
	int around = indentation(text, r->open[r->nopen - 1].range.begin);
	int here = indentation(text, token->range.begin);
	return token->begins_line
		&& (here < around || (here == around && token->kind != TOK_RBRACE));
}

static void
end_bare_blocks(Reader *r, const Token *token)
{
	while (ends_bare_block(r, token)) {
		reader_push_missing(r, TOK_RBRACE);
		r->told_bare = token->kind == TOK_ELSE;
		if (r->told_bare)
			return;
	}
}

/* A `{` where a statement begins is left out. */
static bool
opens_nothing(Reader *r, const Token *token)
{
	if (token->kind != TOK_LBRACE || reader_innermost(r) != TOK_LBRACE
		|| !reader_is_ended(r))
		return false;
	diag(r->parser->session, r->parser->code, token->range,
		"this '{' opens nothing; a block belongs to fn, for, while, if or else");
	r->nneedless++;
	return true;
}

/* Before a function, or at the end. */
static void
close_blocks(Reader *r, const Token *token)
{
	bool begins = (token->kind == TOK_FN && token->begins_line)
		|| (reader_at_margin(r, token) && token->kind != TOK_MESH
			&& token->kind != TOK_DIM && token->kind != TOK_TYPE
			&& is_declaration_word(token->kind));
	while ((begins || token->kind == TOK_END) && reader_innermost(r) == TOK_LBRACE
		&& token_may_follow(r->state, TOK_RBRACE)) {
		complain_missing(r, r->before.range, "}");
		diag_label(r->parser->session, r->open[r->nopen - 1].range, "opened here");
		r->parser->unclosed = true;
		reader_push_missing(r, TOK_RBRACE);
	}
}

/* Does a statement stand behind this `}`, with which a function would end? */
static bool
ends_too_early(const Reader *r, const Token *token)
{
	const char *text = reader_text(r);
	const char *s = text + token->range.end;
	if (token->kind != TOK_RBRACE || r->nopen != 1 || r->open[0].kind != TOK_LBRACE)
		return false;
	s += strspn(s, " \t\r\n");
	while (s[0] == '/' && s[1] == '/') {
		s += strcspn(s, "\n");
		s += strspn(s, " \t\r\n");
	}
	bool begins = mark_behind_name(r, (int)(s - text)) == TOK_ASSIGN
		|| is_statement_text(s, strspn(s, name_bytes));
	return begins && s[-1] != '\n'; /* there it may be meant as a declaration */
}

/* Is it a mark that nothing stands before?  Then it is left out. */
static bool
closes_nothing(Reader *r, const Token *token)
{
	const Bracket *b = bracket_closed(token->kind);
	bool outside = reader_innermost(r) == 0 || reader_innermost(r) == TOK_LBRACE;
	bool end = token->kind == TOK_SEMICOLON && reader_is_ended(r);
	bool closes = token->kind == TOK_RBRACE && r->nopen > 0;
	if (!outside || (b == NULL && !end) || (closes && !ends_too_early(r, token)))
		return false;
	/* What it closes may be in a line that became a comment. */
	bool told = r->parser->slashes_told || (r->parser->guessed && !end);
	if (token->kind == TOK_RBRACE && r->nneedless > 0)
		r->nneedless--;
	else if (!told)
		diag(r->parser->session, r->parser->code, token->range,
			"this '%s' closes nothing", end ? ";" : b->text);
	if (!end && token->kind != TOK_RBRACE)
		guess_bracket(r, r->before.range.end, false);
	return true;
}

/* ---- a comment that is meant as a division */

typedef struct Division {
	int n;
	Token v[MOST_DIVIDED]; /* a `/` whose range is that of the //, and what follows */
} Division;

/* Adds the tokens from a // up to `end`, or up to the next one.  Returns that; false: they
   are none, or too many. */
static bool
scan_division(Reader *r, Range *slashes, int end, Division *text)
{
	Session quiet = *r->parser->session;
	Program none = {0};
	Token token = {.kind = TOK_SLASH, .range = *slashes};
	void *scanner;
	quiet.err = NULL;
	quiet.diagnostics = NULL;
	token.range.end = token.range.begin + 2;
	Parser apart = {.session = &quiet, .file = slashes->file, .offset = token.range.end};
	apart.line = slashes->line;
	apart.program = &none;
	if (!scan_begin(&apart, end, &scanner))
		die("scanner: out of memory");
	while (token.kind != TOK_END && text->n < MOST_DIVIDED) {
		text->v[text->n++] = token;
		token = scan_token(&apart, scanner);
	}
	scan_end(scanner);
	*slashes = apart.slashes;
	return diag_errors(&quiet) == 0 && token.kind == TOK_END;
}

static bool
division_fits(const Reader *r, const Division *text, const Token *next)
{
	int kinds[MOST_DIVIDED + 1];
	for (int i = 0; i < text->n; i++)
		kinds[i] = text->v[i].kind;
	kinds[text->n] = next->kind;
	return tokens_may_follow(r->state, text->n + 1, kinds);
}

/*
 * Where nothing fits but the text of the comment before this token, that is read.  There
 * may be several: the last of them may be one.
 *
 *   for i in 0..n // 2 { // a comment         let rows = x[0:N // 4, 0:N // 2];
 */
static bool
divides(Reader *r, const Token *token)
{
	Parser *p = r->parser;
	Range slashes = p->slashes;
	Division text = {0};
	if (!syntax_behind_slashes(p, token->range) || token_may_follow(r->state, token->kind)
		|| !token_may_follow(r->state, TOK_SLASH))
		return false;
	do {
		if (slashes.file == 0 || !scan_division(r, &slashes, p->slashes.end, &text))
			return false;
	} while (!division_fits(r, &text, token));
	for (int i = 0; i < text.n; i++)
		if (text.v[i].kind == TOK_SLASH
			&& text.v[i].range.end > text.v[i].range.begin + 1)
			syntax_division(p, text.v[i].range);
	reader_put_back(r, token);
	while (text.n > 0)
		APPEND(p->session->arena, r->ahead, r->nahead, text.v[--text.n]);
	p->slashes = nowhere;
	return true;
}

/* ---- placements as other notations have them */

/* Where what this token opens ends in its line, if it may hold names of axes only; else 0.
   `words`: what else may stand in it. */
static int
end_of_axes(const Reader *r, const Token *token, char close, const char *words)
{
	const char *text = reader_text(r);
	int at = token->range.end;
	while (text[at] != '\0'
		&& (strchr(name_bytes, text[at]) != NULL || strchr(words, text[at]) != NULL))
		at++;
	return text[at] == close ? at : 0;
}

/*
 * Tells where a type has a placement of another notation, and passes it over.
 *
 *   f32[8{X}, 4]    f32[{X}8, 4]    f32[8, 4]{X}    f32[8, 4]<@mesh, [{"X"}, {}]>
 */
static bool
misplaces_axes(Reader *r, const Token *token)
{
	const char *text = reader_text(r);
	bool typed = r->before.kind == TOK_RBRACKET && r->signature;
	int end = 0;
	if (token->kind == TOK_LBRACE && (typed || reader_innermost(r) == TOK_LBRACKET))
		end = end_of_axes(r, token, '}', "\"', ?:()");
	else if (token->kind == TOK_LT && typed)
		end = end_of_axes(r, token, '>', "\"', ?:()@[]{}");
	if (end == 0
		|| (reader_innermost(r) == 0
			&& text[end + 1 + strspn(text + end + 1, " ")] != '{'))
		return false;
	Range range = token->range;
	for (range.end = end + 1; r->parser->latest.end < range.end;)
		reader_next(r);
	diag(r->parser->session, DIAG_habit, range,
		"a dim is placed by '@' behind its size: f32[8@X, 4]");
	guess_bracket(r, r->before.range.end, false);
	return true;
}

/* ---- all of them */

bool
mend_marks(Reader *r, const Token *token)
{
	if (divides(r, token) || misplaces_axes(r, token) || opens_nothing(r, token)
		|| stands_twice(r, token))
		return true;
	end_bare_blocks(r, token);
	supply_value(r, token);
	close_brackets(r, token);
	separate_dims(r, token);
	separate_arguments(r, token);
	end_statement(r, token);
	open_block(r, token);
	close_blocks(r, token);
	return closes_nothing(r, token);
}

/*
 * recover.c - feeds the parser with tokens, and goes on after a mistake.
 *
 * A mark that is missing is told, and put in where it belongs:
 *
 *   let h = relu((x + 1;      `)`: a statement does not end inside parentheses
 *   let g = h * 2             `;`: `return` begins a line and cannot go on with this
 *   return g;
 *   fn f(x) { ... }           `}`: a function begins
 *   dim A = 8  B = 4;         `,`: another dim
 *
 * Any other mistake costs the statement or the declaration around it: what follows
 * is skipped up to its `;` or the end of its block, up to the end of the block
 * around it, or up to a line that begins the next one.  The grammar has
 * `error ";"` in its place.  Of a function whose signature is lost the block is read,
 * for what is wrong in it: `"fn" error block`.
 */
#include <string.h>

#include "recover.h"
#include "syntax.h"

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
	int nneedless;	/* `{` that were left out, whose `}` may follow */
} Reader;

static const struct Bracket {
	int open, close;
	const char *text;
} brackets[] = {
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
/* What may stand behind a bracket, and may not in it as it is; comparisons are told as
   what they are. */
static const int behind_brackets[] = {TOK_ASSIGN, TOK_ARROW, TOK_IN, TOK_SAME, TOK_GRADIENT,
	TOK_ON, TOK_LAYOUT, TOK_FN, TOK_REPLICATED, TOK_UNREDUCED, TOK_PLUS, TOK_MINUS,
	TOK_STAR, TOK_SLASH, TOK_PERCENT};
enum { MOST_CLOSED = 4, MOST_AHEAD = 3, MOST_DIVIDED = 128 };
static const char NAME_BYTES[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
/* ... and what is not known without it; of other tokens that may be anything. */
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
/* What has a block begins with one of these. */
static const int block_words[] = {TOK_FN, TOK_EXPLICIT, TOK_CHECKPOINT, TOK_MANUAL, TOK_EXTERN,
	TOK_FOR, TOK_WHILE, TOK_IF, TOK_ELSE};
static const int inner_block_words[] = {TOK_FOR, TOK_WHILE, TOK_IF, TOK_ELSE};
/* ... an argument, a dim or a parameter */
static const int argument_words[] = {TOK_NAME, TOK_INT, TOK_FLOAT, TOK_STRING, TOK_DTYPE,
	TOK_TRUE, TOK_FALSE, TOK_NEW};

static bool
is_one_of(int kind, const int *kinds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (kinds[i] == kind)
			return true;
	return false;
}
#define IS_ONE_OF(kind, kinds) is_one_of(kind, kinds, sizeof kinds / sizeof *kinds)

static const struct Bracket *
bracket_of(int open)
{
	for (int i = 0; i < NBRACKETS; i++)
		if (brackets[i].open == open)
			return &brackets[i];
	return NULL;
}

static const struct Bracket *
bracket_closed(int close)
{
	for (int i = 0; i < NBRACKETS; i++)
		if (brackets[i].close == close)
			return &brackets[i];
	return NULL;
}

/* The innermost open bracket; 0 if there is none. */
static int
innermost(const Reader *r)
{
	return r->nopen > 0 ? r->open[r->nopen - 1].kind : 0;
}

/* Is what the parser has a list of whole statements or declarations? */
static bool
is_ended(const Reader *r)
{
	int kind = r->before.kind;
	return kind == 0 || kind == TOK_SEMICOLON || kind == TOK_LBRACE || kind == TOK_RBRACE;
}

static bool
at_margin(const Reader *r, const Token *token)
{
	const char *text = source_file(r->parser->session, r->parser->file)->text;
	return token->range.begin == 0 || text[token->range.begin - 1] == '\n';
}

/* [j for j in ...], perm=[(0, 1), (1, 2)] */
static ListPart
list_part(const Reader *r)
{
	if (r->nopen == 0)
		return LIST_none;
	const Token *inner = &r->open[r->nopen - 1];
	if (!IS_ONE_OF(r->head, declaration_words) && inner->begins_list)
		return LIST_item;
	return r->nopen > 1 && inner->kind == TOK_LPAREN && inner[-1].begins_list ? LIST_tuple
										  : LIST_none;
}

/* ---- the parser */

static Token
scan_token(Parser *p, void *scanner)
{
	Token token = {0};
	token.kind = shd_lex(&token.value, &token.range, scanner, p);
	token.begins_line = token.range.line != p->previous.line;
	return token;
}

static Token
next_token(Reader *r)
{
	if (r->nahead == 0)
		return scan_token(r->parser, r->scanner);
	Token token = r->ahead[--r->nahead];
	r->parser->previous = r->parser->latest;
	r->parser->latest = token.range;
	return token;
}

/* It is the next one again. */
static void
put_back(Reader *r, const Token *token)
{
	APPEND(r->parser->session->arena, r->ahead, r->nahead, *token);
	r->parser->latest = r->before.range;
}

/* The parser has taken it. */
static void
note_taken(Reader *r, const Token *token)
{
	r->parser->skipped = false;
	if (is_ended(r)) {
		r->head = token->kind;
		r->parser->guessed = false;
	}
	if (token->kind == TOK_FN || token->kind == TOK_LBRACE)
		r->signature = token->kind == TOK_FN && r->head != TOK_EXTERN;
	if (bracket_of(token->kind) != NULL)
		APPEND(r->parser->session->arena, r->open, r->nopen, *token);
	else if (bracket_closed(token->kind) != NULL && r->nopen > 0)
		r->nopen--;
	if (token->kind == TOK_LBRACKET)
		r->open[r->nopen - 1].begins_list = is_one_of(r->before.kind,
			(int[]){TOK_LPAREN, TOK_COMMA, TOK_ASSIGN}, 3);
	r->before = *token;
	r->parser->head = token_name(r->head);
	r->parser->inner = r->nopen > 0 ? token_name(innermost(r)) : NULL;
	r->parser->list = list_part(r);
}

static void
push(Reader *r, const Token *token)
{
	r->status = shd_push_parse(r->state, token->kind, &token->value, (Range *)&token->range,
		r->scanner, r->parser);
	if (!r->parser->lost)
		note_taken(r, token);
}

/* A mark that nobody wrote, behind the last token. */
static void
push_missing(Reader *r, int kind)
{
	Token token = {.kind = kind, .range = r->before.range};
	token.range.begin = token.range.end;
	push(r, &token);
}

/* ---- marks that are missing, or too many */

static void
complain_missing(Reader *r, Range before, const char *mark)
{
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
	const char *text = source_file(r->parser->session, r->parser->file)->text;
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
		kinds[i] = bracket_of(r->open[r->nopen - 1 - i].kind)->close;
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

/* What the text behind this token has behind a name, 0 where there is none or a `==`. */
static char
byte_behind_name(const Reader *r, int at)
{
	static const char blanks[] = " \t\r\n";
	const char *s = source_file(r->parser->session, r->parser->file)->text + at;
	s += strspn(s, blanks);
	size_t name = *s >= '0' && *s <= '9' ? 0 : strspn(s, NAME_BYTES);
	s += name + strspn(s + name, blanks);
	return name == 0 || s[1] == '=' ? 0 : *s;
}

/* `:` or `=` where that is one, else 0. */
static int
mark_behind_name(const Reader *r, int at)
{
	char byte = byte_behind_name(r, at);
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
	return types && innermost(r) == TOK_LPAREN && may_follow_closed(r, 1, &at, 1);
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
	const struct Bracket *closed = bracket_closed(token->kind);
	bool has_block = IS_ONE_OF(r->head, block_words);
	if (ends_brackets(r, token))
		return true;
	if (token->kind == TOK_LBRACE)
		return has_block;
	if (token->kind == TOK_SEMICOLON || token->kind == TOK_RBRACE || token->kind == TOK_END
		|| (token->begins_line && IS_ONE_OF(token->kind, statement_words))
		|| (at_margin(r, token) && IS_ONE_OF(token->kind, declaration_words)
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
	while (innermost(r) != 0 && innermost(r) != TOK_LBRACE && closes_brackets(r, token)) {
		const struct Bracket *b = bracket_of(innermost(r));
		if (syntax_slashes(r->parser, token->range)
			|| !token_may_follow(r->state, b->close))
			return;
		bool params = b->open == TOK_LBRACKET && token->kind == TOK_RPAREN;
		complain_missing(r, last_inside(r), b->text);
		diag_label(r->parser->session, r->open[r->nopen - 1].range, "opened here");
		guess_bracket(r, r->before.range.end,
			r->head != TOK_DIM && !params
				&& (b->open == TOK_LBRACKET || r->nopen == 1));
		push_missing(r, b->close);
	}
}

/* At the beginning of a line anything that may; inside one what is certain to. */
static bool
begins_statement(const Reader *r, const Token *token)
{
	int kind = token->kind;
	if (token->begins_line)
		return syntax_begins(token_name(kind));
	return IS_ONE_OF(kind, statement_words)
		? kind != TOK_IF
		: kind == TOK_NAME && mark_behind_name(r, token->range.begin) == TOK_ASSIGN;
}

/* Before what begins another statement, or ends the block. */
static void
end_statement(Reader *r, const Token *token)
{
	int kind = token->kind;
	if (is_ended(r) || (innermost(r) != 0 && innermost(r) != TOK_LBRACE))
		return;
	if (r->before.kind == TOK_UNROLL && kind == TOK_FOR)
		return; /* it is a habit, and told as one */
	if ((!begins_statement(r, token) && kind != TOK_RBRACE && kind != TOK_END)
		|| token_may_follow(r->state, kind)
		|| !token_may_follow(r->state, TOK_SEMICOLON))
		return;
	complain_missing(r, r->before.range, ";");
	syntax_note_slashes(r->parser, token->range);
	push_missing(r, TOK_SEMICOLON);
}

/* Between two dims of one declaration. */
static void
separate_dims(Reader *r, const Token *token)
{
	int ahead[] = {TOK_COMMA, token->kind, TOK_ASSIGN};
	if (r->head != TOK_DIM || is_ended(r) || token->kind != TOK_NAME
		|| mark_behind_name(r, token->range.begin) != TOK_ASSIGN
		|| token_may_follow(r->state, token->kind)
		|| !tokens_may_follow(r->state, 3, ahead))
		return;
	complain_missing(r, r->before.range, ",");
	push_missing(r, TOK_COMMA);
}

/* matmul(a a, b): a name where none fits, which stands before it already, is left out. */
static bool
stands_twice(Reader *r, const Token *token)
{
	const char *text = source_file(r->parser->session, r->parser->file)->text;
	Range first = r->before.range, second = token->range;
	int length = second.end - second.begin;
	if (token->kind != TOK_NAME || r->before.kind != TOK_NAME || innermost(r) == TOK_LBRACE
		|| first.end - first.begin != length
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
	int inner = innermost(r);
	if ((inner != TOK_LPAREN && inner != TOK_LBRACKET)
		|| (!r->signature && r->open[0].kind != TOK_LBRACE)
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
	push_missing(r, type ? TOK_COLON : TOK_COMMA);
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
	if ((innermost(r) != 0 && innermost(r) != TOK_LBRACE) || !begins_statement(r, token)
		|| (r->signature && token->kind == TOK_LPAREN) /* results */
		|| token_may_follow(r->state, token->kind)
		|| !tokens_may_follow(r->state, 2, ahead))
		return;
	if (!r->told_bare)
		complain_missing(r, r->before.range, "{");
	r->told_bare = false;
	push_missing(r, TOK_LBRACE);
	r->open[r->nopen - 1].bare = IS_ONE_OF(r->head, inner_block_words);
}

/* Is a block without a `{` over before this token, without a `}`? */
static bool
ends_bare_block(const Reader *r, const Token *token)
{
	const char *text = source_file(r->parser->session, r->parser->file)->text;
	if (innermost(r) != TOK_LBRACE || !r->open[r->nopen - 1].bare || !is_ended(r)
		|| r->before.kind == TOK_LBRACE)
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
		push_missing(r, TOK_RBRACE);
		r->told_bare = token->kind == TOK_ELSE;
		if (r->told_bare)
			return;
	}
}

/* A `{` where a statement begins is left out. */
static bool
opens_nothing(Reader *r, const Token *token)
{
	if (token->kind != TOK_LBRACE || innermost(r) != TOK_LBRACE || !is_ended(r))
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
		|| (at_margin(r, token) && token->kind != TOK_MESH && token->kind != TOK_DIM
			&& token->kind != TOK_TYPE
			&& IS_ONE_OF(token->kind, declaration_words));
	while ((begins || token->kind == TOK_END) && innermost(r) == TOK_LBRACE
		&& token_may_follow(r->state, TOK_RBRACE)) {
		complain_missing(r, r->before.range, "}");
		diag_label(r->parser->session, r->open[r->nopen - 1].range, "opened here");
		r->parser->unclosed = true;
		push_missing(r, TOK_RBRACE);
	}
}

/* Does a statement stand behind this `}`, with which a function would end? */
static bool
ends_too_early(const Reader *r, const Token *token)
{
	const char *text = source_file(r->parser->session, r->parser->file)->text;
	const char *s = text + token->range.end;
	if (token->kind != TOK_RBRACE || r->nopen != 1 || r->open[0].kind != TOK_LBRACE)
		return false;
	s += strspn(s, " \t\r\n");
	while (s[0] == '/' && s[1] == '/') {
		s += strcspn(s, "\n");
		s += strspn(s, " \t\r\n");
	}
	size_t length = strspn(s, NAME_BYTES);
	bool begins = mark_behind_name(r, (int)(s - text)) == TOK_ASSIGN;
	for (size_t i = 0; i < sizeof statement_words / sizeof *statement_words; i++) {
		const char *word = token_name(statement_words[i]);
		begins |= statement_words[i] != TOK_FN && strlen(word) == length
			&& strncmp(s, word, length) == 0;
	}
	begins |= length == 4 && strncmp(s, "else", 4) == 0;
	return begins && s[-1] != '\n'; /* there it may be meant as a declaration */
}

/* Is it a mark that nothing stands before?  Then it is left out. */
static bool
closes_nothing(Reader *r, const Token *token)
{
	const struct Bracket *b = bracket_closed(token->kind);
	bool outside = innermost(r) == 0 || innermost(r) == TOK_LBRACE;
	bool end = token->kind == TOK_SEMICOLON && is_ended(r);
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
	put_back(r, token);
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
	const char *text = source_file(r->parser->session, r->parser->file)->text;
	int at = token->range.end;
	while (text[at] != '\0'
		&& (strchr(NAME_BYTES, text[at]) != NULL || strchr(words, text[at]) != NULL))
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
	const char *text = source_file(r->parser->session, r->parser->file)->text;
	bool typed = r->before.kind == TOK_RBRACKET && r->signature;
	int end = 0;
	if (token->kind == TOK_LBRACE && (typed || innermost(r) == TOK_LBRACKET))
		end = end_of_axes(r, token, '}', "\"', ?:()");
	else if (token->kind == TOK_LT && typed)
		end = end_of_axes(r, token, '>', "\"', ?:()@[]{}");
	if (end == 0
		|| (innermost(r) == 0 && text[end + 1 + strspn(text + end + 1, " ")] != '{'))
		return false;
	Range range = token->range;
	for (range.end = end + 1; r->parser->latest.end < range.end;)
		next_token(r);
	diag(r->parser->session, DIAG_habit, range,
		"a dim is placed by '@' behind its size: f32[8@X, 4]");
	guess_bracket(r, r->before.range.end, false);
	return true;
}

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
	bool first = is_ended(r);
	r->parameter = r->nopen > 0 && tokens_may_follow(r->state, 2, parameter);
	if (r->parameter)
		return;
	while (innermost(r) != 0 && innermost(r) != TOK_LBRACE)
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
		|| (token->begins_line && IS_ONE_OF(token->kind, statement_words))
		|| (at_margin(r, token) && IS_ONE_OF(token->kind, declaration_words)))
		return true;
	if (bracket_of(token->kind) != NULL)
		APPEND(r->parser->session->arena, r->open, r->nopen, *token);
	while (closed != NULL && r->nopen > 1 && innermost(r) != closed->open)
		r->nopen--;
	if (closed != NULL && r->nopen > 1)
		r->nopen--;
	else if (token->kind == TOK_RPAREN)
		return true;
	char behind = byte_behind_name(r, token->range.end);
	return token->kind == TOK_COMMA && r->nopen == 1 && behind != 0
		&& (behind == ':' || strchr(NAME_BYTES, behind) != NULL);
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
			|| (token->begins_line && IS_ONE_OF(token->kind, statement_words));
	return at_margin(r, token) && IS_ONE_OF(token->kind, declaration_words);
}

/* The `;` of `error ";"`, if it is not the next token itself; or the block of a function
   begins. */
static void
end_lost(Reader *r, const Token *token)
{
	r->parser->lost = r->parser->skipped = false;
	r->nopen = r->outside;
	if (token->kind != TOK_SEMICOLON && !(token->kind == TOK_LBRACE && r->signature)) {
		push_missing(r, TOK_SEMICOLON);
	}
	r->signature = false;
}

/* ... of what is lost of a signature: a parameter, or all behind them. */
static void
end_part(Reader *r, const Token *token)
{
	bool ends = token->kind == TOK_COMMA || token->kind == TOK_RPAREN;
	r->parser->lost = r->parser->skipped = false;
	push_missing(r, TOK_LOST);
	if (!r->parameter || !ends)
		r->parser->guessed = true; /* whatever else is wrong with it */
	r->nopen = r->parameter ? 1 : r->outside;
	if (r->parameter && !ends)
		push_missing(r, TOK_RPAREN);
	put_back(r, token);
}

/* ---- all */

static void
read_token(Reader *r, const Token *token)
{
	if (!r->parser->skipped) { /* else it is told what is wrong */
		if (divides(r, token) || misplaces_axes(r, token) || opens_nothing(r, token)
			|| stands_twice(r, token))
			return;
		end_bare_blocks(r, token);
		close_brackets(r, token);
		separate_dims(r, token);
		separate_arguments(r, token);
		end_statement(r, token);
		open_block(r, token);
		close_blocks(r, token);
		if (closes_nothing(r, token))
			return;
	}
	push(r, token);
	if (r->parser->lost)
		begin_lost(r, token);
}

bool
read_tokens(Parser *p, void *scanner, shd_pstate *state)
{
	Reader r = {.parser = p, .scanner = scanner, .state = state, .status = YYPUSH_MORE};
	while (r.status == YYPUSH_MORE) {
		Token token = next_token(&r);
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
			note_taken(&r, &token);
		else if (token.kind == TOK_SEMICOLON) /* that of what was lost */
			push(&r, &token);
		else
			read_token(&r, &token);
	}
	return r.status == 0;
}

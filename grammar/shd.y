/*
 * shd.y - the grammar of .shd programs; README.md is its reference.
 *
 * Actions make one node each; what more is to be said is in tree.c.  Words that are
 * special in position only (mesh, dim, pad, ...) are tokens that `name` also
 * accepts.  No conflicts: cure one by precedence or by another rule, never by
 * raising %expect.
 */
%code requires {
#include "tree.h"
}

%code provides {
/* Stated once: the scanner that flex makes and the parser calls. */
#define YY_DECL \
	int shd_lex(SHD_STYPE *yylval, Range *yylloc, void *yyscanner, \
		Parser *parser)
YY_DECL;
bool scan_begin(Parser *parser, int end, void **scanner);
void scan_end(void *scanner);
/* What the grammar says, for reader.c, marks.c and recover.c. */
bool token_may_follow(shd_pstate *state, int token);
bool tokens_may_follow(shd_pstate *state, int n, const int *tokens);
const char *token_name(int token);
}

%code {
#include "recover.h"
#include "syntax.h"

#define YYMAXDEPTH 20000

/* The nodes of the tree, by their parts. */
#define NODE(type, ...) \
	arena_copy(parser->session->arena, &(type){ __VA_ARGS__ }, sizeof(type))
#define EXPR(k, where, ...) \
	expr_new(parser, (Expr){ .kind = E_##k, .range = where, __VA_ARGS__ })
#define STMT(k, where, ...) \
	stmt_new(parser, (Stmt){ .kind = S_##k, .range = where, __VA_ARGS__ })
#define DECL(k, where, ...) NODE(Decl, .kind = DECL_##k, .range = where, __VA_ARGS__)

/* The range of a production is that of its parts. */
#define YYLLOC_DEFAULT(current, rhs, n) \
	do { \
		if (n) { \
			(current) = range_join(YYRHSLOC(rhs, 1), YYRHSLOC(rhs, n)); \
		} else { \
			(current) = YYRHSLOC(rhs, 0); \
			(current).begin = (current).end; \
		} \
	} while (0)

static void
shd_error(Range *where, void *scanner, Parser *parser, const char *text)
{
	(void)scanner;
	syntax_stuck(parser, *where, text);
}
}

%define api.pure full
%define api.push-pull push
%define api.prefix {shd_}
%define api.token.prefix {TOK_}
%define api.location.type {Range}
%define parse.error custom
/* the expected tokens of a message are exactly those that may follow */
%define parse.lac full
%param { void *scanner } { Parser *parser }
%locations
%expect 0

%union {
	Name name;
	int64_t integer;
	double real;
	DType dtype;
	List list;
	Expr *expr;
	Stmt *stmt;
	Arg *arg;
	Index *index;
	TypeSpec *type;
	DimSpec *dim;
	AxisSpec *axis;
	LaidAxis *laid;
	Param *param;
	FnDecl *fn;
	Decl *decl;
}

%token END 0 "the end of the file"
%token <name> NAME "a name"
%token <integer> INT "an integer"
%token <real> FLOAT "a number"
%token MALFORMED "a malformed number"
%token <name> STRING "a string" SINGLE_QUOTED "a string in single quotes"
%token <dtype> DTYPE "a dtype"
%token FN "fn" LET "let" VAR "var" FOR "for" IN "in" WHILE "while" IF "if"
%token ELSE "else" RETURN "return" NEW "new" TRUE "true" FALSE "false"
%token UNDERSCORE "_"
%token <name> MESH "mesh" DIM "dim" ON "on" IMPORT "import"
%token <name> EXPLICIT "explicit" MANUAL "manual" EXTERN "extern"
%token <name> RULE "rule" UNROLL "unroll" PAD "pad" UNREDUCED "unreduced"
%token <name> REPLICATED "replicated" TYPE "type" EXPECT "expect"
%token <name> SAME "same" AS "as" LAYOUT "layout"
%token <name> GRADIENT "gradient" CHECKPOINT "checkpoint"
%token MINUS "-" PLUS "+" STAR "*" SLASH "/" PERCENT "%" LT "<" GT ">"
%token LE "<=" GE ">=" EQ "==" NE "!=" AND "&&" OR "||" NOT "!" ASSIGN "="
%token AT "@" OPEN "?" COLON ":" SEMICOLON ";" COMMA "," DOT "."
%token LPAREN "(" RPAREN ")" LBRACE "{" RBRACE "}" LBRACKET "[" RBRACKET "]"
%token ELLIPSIS "..." TO ".." ARROW "->" POWER "**"
/* Behind a part of a signature that was skipped (recover.c). */
%token LOST "what is lost"

/* what is wrong behind parameters is in place of the results */
%precedence PARAMETERS
%precedence error

/* as in C; comparisons do not associate */
%left "||"
%left "&&"
%nonassoc "==" "!="
%nonassoc "<" "<=" ">" ">="
%left "+" "-"
%left "*" "/" "%" "@"
%precedence UNARY
%right "**"

%type <name> name on
%type <name> same_as gradient
%type <list> items bindings binding_list dims dim_list axes placement
%type <list> params param_list results result_list manual args arg_list
%type <list> exprs indices block stmts targets target_list else values
%type <expr> expr size size_call primary argument lost
%type <arg> arg
%type <index> index
%type <type> type written annotation
%type <dim> dim sized
%type <axis> axis
%type <list> layout laid_list
%type <laid> laid
%type <param> param result target
%type <stmt> stmt for_head scanned
%type <fn> signature
%type <decl> item function dim_binding

%%

program:
  items						{ parser->program->items = $items; }

items:
  %empty					{ $$ = list_none(); }
| items item					{ $$ = $item != NULL ? list_add(parser, $1, $2) : $1; }
| items[l] "dim" bindings ";"			{ $$ = list_join(parser, $l, $bindings); }
| items[l] error ";"				{ $$ = $l; yyerrok; }

on:
  %empty					{ $$ = (Name){ 0 }; }
| "on" STRING[target]				{ $$ = $target; }

layout:
  %empty					{ $$ = list_none(); }
| "layout" "(" laid_list comma ")"		{ $$ = $laid_list; }

laid_list:
  laid						{ $$ = list_one(parser, $1); }
| laid_list "," laid				{ $$ = list_add(parser, $1, $3); }

laid:
  name "=" axis					{ $$ = NODE(LaidAxis, $name, list_one(parser, $axis), @$); }
| name "=" "(" axes ")"			{ $$ = NODE(LaidAxis, $name, $axes, @$); }

bindings:
  binding_list
| binding_list ","

binding_list:
  dim_binding					{ $$ = list_one(parser, $1); }
| binding_list "," dim_binding		{ $$ = list_add(parser, $1, $3); }

dim_binding:
  name "=" size					{ $$ = DECL(dim, @$, .name = $name, .value = $size); }

item:
  "mesh" "[" bindings "]" on layout ";"	{ $$ = DECL(mesh, @$, .axes = $bindings, .target = $on, .layout = $layout); }
| "type" name "=" type ";"			{ $$ = DECL(type, @name, .name = $name, .type = $type); }
| "import" STRING[path] ";"			{ $$ = DECL(import, @path, .name = $path); }
| function
| "explicit" function			{ $$ = decl_mode($2, @1, FN_explicit, list_none()); }
| "checkpoint" function			{ $$ = decl_checkpoint($2); }
| "checkpoint" "explicit" function		{ $$ = decl_checkpoint(decl_mode($3, @2, FN_explicit, list_none())); }
| "manual" manual function			{ $$ = decl_mode($3, @1, FN_manual, $manual); }
| "extern" signature "=" STRING "in" STRING "rule" STRING gradient ";"
						{ $$ = decl_mode(DECL(fn, @1, .fn = fn_extern($2, $4, $6, $8, $gradient)), @1, FN_extern, list_none()); }

manual:
  %empty					{ $$ = list_none(); }
| "(" axes ")"					{ $$ = $axes; }

function:
  signature same_as gradient block		{ $$ = DECL(fn, @1, .fn = fn_body(parser, $1, $2, $3, $4, @4)); }
| "fn" error block				{ $$ = NULL; yyerrok; }
| "fn" error ";"				{ $$ = NULL; yyerrok; }
| signature error block			{ $1->lost = true; $$ = DECL(fn, @1, .fn = fn_body(parser, $1, (Name){ 0 }, (Name){ 0 }, $3, @3)); yyerrok; }
| signature error ";"			{ $$ = NULL; yyerrok; }

same_as:
  %empty					{ $$ = (Name){ 0 }; }
| "same" "as" name[function]			{ $$ = $function; }
| "same" error LOST				{ $$ = (Name){ 0 }; yyerrok; }

gradient:
  %empty					{ $$ = (Name){ 0 }; }
| "gradient" name[function]			{ $$ = $function; }
| "gradient" error LOST			{ $$ = (Name){ 0 }; yyerrok; }

signature:
  "fn" name "(" params ")" %prec PARAMETERS	{ $$ = fn_signature(parser, (FnDecl){ .name = $name, .range = @$, .params = $params }); }
| "fn" name "(" params ")" "->" results		{ $$ = fn_signature(parser, (FnDecl){ .name = $name, .range = @$, .params = $params, .has_results = true, .results = $results, .results_range = @results }); }
| "fn" name "(" params ")" lost_results		{ parser->part_lost = true; $$ = fn_signature(parser, (FnDecl){ .name = $name, .range = @$, .params = $params }); yyerrok; }

lost_results:
  error LOST
| "->" error LOST

params:
  %empty					{ $$ = list_none(); }
| param_list
| param_list ","

param_list:
  param						{ $$ = list_one(parser, $1); }
| param_list "," param			{ $$ = list_add(parser, $1, $3); }
| error LOST				{ $$ = list_none(); parser->part_lost = true; yyerrok; }
| param_list "," error LOST		{ $$ = $1; parser->part_lost = true; yyerrok; }

param:
  name						{ $$ = NODE(Param, .name = $name, .range = @$); }
| name ":" type					{ $$ = NODE(Param, .name = $name, .type = $type, .range = @$); }
| name ":" error LOST			{ $$ = NODE(Param, .name = $name, .range = @name, .lost = parser->part_lost = true); yyerrok; }

results:
  type						{ $$ = list_one(parser, NODE(Param, .type = $type, .range = @$)); }
| "(" result_list ")"				{ $$ = $result_list; }
| "(" result_list "," ")"			{ $$ = $result_list; }

result_list:
  result					{ $$ = list_one(parser, $1); }
| result_list "," result			{ $$ = list_add(parser, $1, $3); }

result:
  type						{ $$ = NODE(Param, .type = $type, .range = @$); }
| name ":" type					{ $$ = NODE(Param, .name = $name, .type = $type, .range = @$); }

/* ---- types and placements */

type:
  written
| name						{ $$ = NODE(TypeSpec, .range = @$, .name = $name); }
| name "[" dims "]"				{ $$ = NODE(TypeSpec, .range = @$, .name = $name, .has_dims = true, .dims = $dims, .dims_range = @$); }

/* What can be told from an expression by how it begins. */
written:
  DTYPE					{ $$ = NODE(TypeSpec, .range = @$, .has_dtype = true, .dtype = $1); }
| DTYPE "[" dims "]"				{ $$ = NODE(TypeSpec, .range = @$, .has_dtype = true, .dtype = $1, .has_dims = true, .dims = $dims, .dims_range = @$); }
| "[" dims "]"					{ $$ = NODE(TypeSpec, .range = @$, .has_dims = true, .dims = $dims, .dims_range = @$); }
| written "@" "?"				{ $$ = type_open($1, @$); }
| written "@" misplaced				{ $$ = type_misplaced(parser, $1, @misplaced); }
| written "replicated"			{ $$ = type_replicated(parser, $1, @$, @2, list_none()); }
| written "replicated" "(" axes ")"		{ $$ = type_replicated(parser, $1, @$, @2, $axes); }
| written "unreduced" "(" axes ")"		{ $$ = type_unreduced(parser, $1, @$, @2, $axes); }

/* X, P("X", None), (X, Y) behind a type */
misplaced:
  name						{}
| name "(" args ")"				{}
| "(" placement comma ")"			{}

dims:
  %empty					{ $$ = list_none(); }
| dim_list
| dim_list ","

dim_list:
  dim						{ $$ = list_one(parser, $1); }
| dim_list "," dim				{ $$ = list_add(parser, $1, $3); }

dim:
  sized
| dim "!" INT				{ $$ = dim_priority(parser, $1, @$, @3, $3); }
| dim "pad"					{ $$ = dim_pad(parser, $1, @$, @2); }

sized:
  size						{ $$ = NODE(DimSpec, .range = @$, .size = $size); }
| "_"						{ $$ = NODE(DimSpec, .range = @$); }
| sized "@" axis				{ $$ = dim_placed(parser, $1, @$, @axis, list_one(parser, $axis), false); }
| sized "@" "?"				{ $$ = dim_placed(parser, $1, @$, @3, list_none(), true); }
| sized "@" "(" placement comma ")"		{ $$ = dim_placed(parser, $1, @$, @placement, $placement, false); }
| sized "@" "(" placement "," "?" comma ")"	{ $$ = dim_placed(parser, $1, @$, @placement, $placement, true); }
| sized "@" "(" "?" comma ")"		{ $$ = dim_placed(parser, $1, @$, @4, list_none(), true); }

comma:
  %empty
| ","

placement:
  axis						{ $$ = list_one(parser, $axis); }
| placement "," axis				{ $$ = list_add(parser, $1, $3); }

axes:
  placement
| placement ","

axis:
  name						{ $$ = NODE(AxisSpec, .name = $name, .pre = 1, .range = @$); }
| name ":" "(" INT[pre] ")" INT[size]		{ $$ = NODE(AxisSpec, $name, true, $pre, $size, @$); }

size:
  INT					{ $$ = EXPR(int, @$, .integer = $1); }
| MALFORMED				{ $$ = EXPR(error, @$); }
| name						{ $$ = EXPR(name, @$, .name = $name.s); }
| size_call
| "(" size[x] ")"				{ $$ = $x; }
| "-" size[x] %prec UNARY			{ $$ = EXPR(unary, @$, .op = OPERATOR_neg, .left = $x); }
| size "+" size				{ $$ = expr_binary(parser, $1, OPERATOR_add, $3); }
| size "-" size				{ $$ = expr_binary(parser, $1, OPERATOR_sub, $3); }
| size "*" size				{ $$ = expr_binary(parser, $1, OPERATOR_mul, $3); }
| size "/" size				{ $$ = expr_binary(parser, $1, OPERATOR_div, $3); }
| size "%" size				{ $$ = expr_binary(parser, $1, OPERATOR_rem, $3); }

size_call:
  name "(" args ")"				{ $$ = EXPR(call, @$, .left = EXPR(name, @name, .name = $name.s), .args = $args); }

/* ---- statements */

block:
  "{" stmts "}"					{ $$ = $stmts; }

stmts:
  %empty					{ $$ = list_none(); }
| stmts stmt					{ $$ = list_add(parser, $1, $2); }
| stmts[l] error ";"				{ $$ = list_add(parser, $l, STMT(lost, @error)); yyerrok; }

stmt:
  "let" targets "=" expr ";"			{ $$ = STMT(let, @$, .targets = $targets, .value = $expr); }
| "let" "(" target_list[l] ")" "=" expr ";"	{ $$ = STMT(let, @$, .targets = $l, .tuple = true, .value = $expr); }
| "let" "(" target_list[l] "," ")" "=" expr ";"	{ $$ = STMT(let, @$, .targets = $l, .tuple = true, .value = $expr); }
| "let" targets "=" lost			{ $$ = STMT(let, @$, .targets = $targets, .value = $lost); }
| "let" "(" target_list[l] ")" "=" lost		{ $$ = STMT(let, @$, .targets = $l, .tuple = true, .value = $lost); }
| "var" targets "=" expr ";"			{ $$ = STMT(var, @$, .targets = $targets, .value = $expr); }
| "var" targets "=" lost			{ $$ = STMT(var, @$, .targets = $targets, .value = $lost); }
| expr "=" expr ";"				{ $$ = stmt_assign(parser, @$, $1, $3); }
| expr ";"					{ $$ = STMT(expr, @$, .value = $1); }
| "return" values ";"				{ $$ = STMT(return, @$, .values = $values); }
| "return" lost				{ $$ = STMT(return, @$, .values = list_one(parser, $lost)); }
| "expect" name ":" type ";"			{ $$ = STMT(expect, @$, .target = EXPR(name, @name, .name = $name.s), .type = $type); }
| for_head "in" expr block			{ $$ = stmt_for(parser, $1, @$, $expr, NULL, $block); }
| for_head "in" expr ".." expr block		{ $$ = stmt_for(parser, $1, @$, $3, $5, $block); }
| "while" expr block				{ $$ = STMT(while, @$, .word = @1, .value = $expr, .body = $block); }
| "if" expr block else				{ $$ = STMT(if, @$, .word = @1, .value = $expr, .body = $block, .otherwise = $else); }

/* A value that could not be read. */
lost:
  error ";"					{ $$ = EXPR(error, @error); yyerrok; }

else:
  %empty					{ $$ = list_none(); }
| "else" block					{ $$ = $block; }
| "else" "if" expr block else[rest]		{ $$ = list_one(parser, STMT(if, @$, .word = @2, .value = $expr, .body = $block, .otherwise = $rest)); }

for_head:
  "for" scanned					{ $$ = for_head($2, @1, false, (Name){ 0 }); }
| "for" name "," scanned			{ $$ = for_head($4, @1, false, $2); }
| "for" "unroll" scanned			{ $$ = for_head($3, @1, true, (Name){ 0 }); }
| "for" "unroll" name "," scanned		{ $$ = for_head($5, @1, true, $3); }

scanned:
  targets					{ $$ = NODE(Stmt, .targets = $targets); }
| "(" target_list[l] ")"			{ $$ = NODE(Stmt, .targets = $l, .tuple = true); }

targets:
  target					{ $$ = list_one(parser, $target); }

target_list:
  target					{ $$ = list_one(parser, $target); }
| target_list "," target			{ $$ = list_add(parser, $1, $3); }

target:
  name						{ $$ = NODE(Param, .name = $name, .range = @$); }
| "_"						{ $$ = NODE(Param, .range = @$); }
| name annotation				{ $$ = NODE(Param, .name = $name, .type = $annotation, .range = @$); }
| "_" annotation				{ $$ = NODE(Param, .type = $annotation, .range = @$); }

annotation:
  ":" type					{ $$ = $type; }

values:
  expr						{ $$ = list_one(parser, $expr); }
| values "," expr				{ $$ = list_add(parser, $1, $3); }

/* ---- expressions */

expr:
  primary
| "-" expr[x] %prec UNARY			{ $$ = EXPR(unary, @$, .op = OPERATOR_neg, .left = $x); }
| "!" expr[x] %prec UNARY			{ $$ = EXPR(unary, @$, .op = OPERATOR_not, .left = $x); }
| expr "+" expr				{ $$ = expr_binary(parser, $1, OPERATOR_add, $3); }
| expr "-" expr				{ $$ = expr_binary(parser, $1, OPERATOR_sub, $3); }
| expr "*" expr				{ $$ = expr_binary(parser, $1, OPERATOR_mul, $3); }
| expr "/" expr				{ $$ = expr_binary(parser, $1, OPERATOR_div, $3); }
| expr "%" expr				{ $$ = expr_binary(parser, $1, OPERATOR_rem, $3); }
| expr "==" expr				{ $$ = expr_binary(parser, $1, OPERATOR_eq, $3); }
| expr "!=" expr				{ $$ = expr_binary(parser, $1, OPERATOR_ne, $3); }
| expr "<" expr				{ $$ = expr_binary(parser, $1, OPERATOR_lt, $3); }
| expr "<=" expr				{ $$ = expr_binary(parser, $1, OPERATOR_le, $3); }
| expr ">" expr				{ $$ = expr_binary(parser, $1, OPERATOR_gt, $3); }
| expr ">=" expr				{ $$ = expr_binary(parser, $1, OPERATOR_ge, $3); }
| expr "&&" expr				{ $$ = expr_binary(parser, $1, OPERATOR_and, $3); }
| expr "||" expr				{ $$ = expr_binary(parser, $1, OPERATOR_or, $3); }
| expr "@" expr				{ $$ = expr_habit(parser, @$, @2, "the matrix product is matmul(a, b) or an einsum; '@' places the dims of a type"); }
| expr "**" expr				{ $$ = expr_habit(parser, @$, @2, "a power is pow(a, b); for squares there is square(x)"); }

primary:
  name						{ $$ = EXPR(name, @$, .name = $name.s); }
| INT					{ $$ = EXPR(int, @$, .integer = $1); }
| FLOAT					{ $$ = EXPR(float, @$, .real = $1); }
| MALFORMED				{ $$ = EXPR(error, @$); }
| "true"					{ $$ = EXPR(bool, @$, .integer = true); }
| "false"					{ $$ = EXPR(bool, @$, .integer = false); }
| STRING					{ $$ = EXPR(string, @$, .name = $1.s); }
| SINGLE_QUOTED				{ $$ = EXPR(string, @$, .name = $1.s, .single_quoted = true); }
| "(" ")"					{ $$ = EXPR(tuple, @$, .args = list_none()); }
| "(" expr[x] ")"				{ $$ = $x; }
| "(" expr[x] "," ")"				{ $$ = EXPR(tuple, @$, .args = list_one(parser, $x)); }
| "(" expr[x] "," exprs ")"			{ $$ = EXPR(tuple, @$, .args = list_join(parser, list_one(parser, $x), $exprs)); }
| "(" expr[x] "," exprs "," ")"			{ $$ = EXPR(tuple, @$, .args = list_join(parser, list_one(parser, $x), $exprs)); }
| DTYPE "(" args ")"				{ $$ = EXPR(cast, @$, .dtype = $1, .args = $args); }
| primary "(" args ")"			{ $$ = EXPR(call, @$, .left = $1, .args = $args); }
| "var" "(" args ")"				{ $$ = EXPR(call, @$, .left = EXPR(name, @1, .name = "var"), .args = $args); }
| primary "[" indices "]"			{ $$ = EXPR(index, @$, .left = $1, .args = $indices); }
| primary "[" indices "," "]"		{ $$ = EXPR(index, @$, .left = $1, .args = $indices); }
| primary "." name				{ $$ = EXPR(member, @$, .left = $1, .name = $name.s, .name_range = @name); }

exprs:
  expr						{ $$ = list_one(parser, $expr); }
| exprs "," expr				{ $$ = list_add(parser, $1, $3); }

args:
  %empty					{ $$ = list_none(); }
| arg_list
| arg_list ","

arg_list:
  arg						{ $$ = list_one(parser, $arg); }
| arg_list "," arg				{ $$ = list_add(parser, $1, $3); }

arg:
  argument					{ $$ = NODE(Arg, .value = $1, .range = @$); }
| name "=" argument				{ $$ = NODE(Arg, $name, $argument, @$); }

argument:
  expr
| written					{ $$ = EXPR(type, @$, .type = $1); }

indices:
  index						{ $$ = list_one(parser, $index); }
| indices "," index				{ $$ = list_add(parser, $1, $3); }

index:
  expr						{ $$ = NODE(Index, INDEX_at, $1, NULL, NULL, @$); }
| slice_bound[from] ":" slice_bound[to]		{ $$ = NODE(Index, INDEX_range, $from, $to, NULL, @$); }
| slice_bound[from] ":" slice_bound[to] ":" slice_bound[step]
						{ $$ = NODE(Index, INDEX_range, $from, $to, $step, @$); }
| "new"						{ $$ = NODE(Index, .kind = INDEX_new, .range = @$); }
| "..."						{ $$ = NODE(Index, .kind = INDEX_ellipsis, .range = @$); }

%type <expr> slice_bound;
slice_bound:
  %empty					{ $$ = NULL; }
| expr

name:
  NAME
| "mesh" | "dim" | "on" | "import" | "explicit" | "manual" | "extern"
| "rule" | "unroll" | "pad" | "unreduced" | "replicated" | "type" | "expect"
| "same" | "as" | "layout" | "gradient" | "checkpoint"

%%

static int
yyreport_syntax_error(const yypcontext_t *context, void *scanner,
	Parser *parser)
{
	(void)scanner;
	yysymbol_kind_t kinds[YYNTOKENS];
	const char *names[YYNTOKENS];
	int n = yypcontext_expected_tokens(context, kinds, YYNTOKENS);
	for (int i = 0; i < n; i++)
		names[i] = yysymbol_name(kinds[i]);
	yysymbol_kind_t found = yypcontext_token(context);
	syntax_error(parser, *yypcontext_location(context),
		found == YYSYMBOL_YYEMPTY ? NULL : yysymbol_name(found),
		n, names);
	return 0;
}

/*
 * The parser on trial: the states of its stack that are left, and those that tokens
 * and reductions put on it.  Nothing of it is seen by the parser.
 */
enum { MAX_TRIAL = 64 };

typedef struct Trial {
	const yy_state_t *left; /* the last */
	int n;
	yy_state_t own[MAX_TRIAL];
} Trial;

static int
trial_state(const Trial *t)
{
	return t->n > 0 ? t->own[t->n - 1] : *t->left;
}

static bool
trial_push(Trial *t, int state)
{
	if (t->n == MAX_TRIAL)
		return false;
	t->own[t->n++] = (yy_state_t)state;
	return true;
}

static bool
trial_reduce(Trial *t, int rule)
{
	int pops = yyr2[rule], own = pops < t->n ? pops : t->n;
	t->n -= own;
	t->left -= pops - own;
	int from = trial_state(t), left = yyr1[rule] - YYNTOKENS, at = yypgoto[left] + from;
	bool here = at >= 0 && at <= YYLAST && yycheck[at] == from;
	return trial_push(t, here ? yytable[at] : yydefgoto[left]);
}

/* The reductions before the token, and the token; false: it is an error. */
static bool
trial_take(Trial *t, int symbol)
{
	for (;;) {
		int state = trial_state(t), at = yypact[state] + symbol;
		bool here = !yypact_value_is_default(yypact[state]) && at >= 0 && at <= YYLAST
			&& yycheck[at] == symbol;
		if (here && yytable[at] > 0)
			return trial_push(t, yytable[at]);
		if (here && yytable_value_is_error(yytable[at]))
			return false;
		int rule = here ? -yytable[at] : yydefact[state];
		if (rule == 0 || !trial_reduce(t, rule))
			return false;
	}
}

/* One after the other. */
bool
tokens_may_follow(shd_pstate *state, int n, const int *tokens)
{
	Trial t = {.left = state->yyssp};
	for (int i = 0; i < n; i++)
		if (!trial_take(&t, YYTRANSLATE(tokens[i])))
			return false;
	return true;
}

bool
token_may_follow(shd_pstate *state, int token)
{
	return tokens_may_follow(state, 1, &token);
}

const char *
token_name(int token)
{
	return yysymbol_name(YYTRANSLATE(token));
}

Program *
parse_file(Session *s, int file, DiagCode code)
{
	Parser parser = { .session = s, .file = file, .line = 1, .code = code };
	parser.program = NEW(s->arena, Program);
	parser.program->whole = true;
	void *scanner;
	if (!scan_begin(&parser, source_file(s, file)->length, &scanner))
		die("scanner: out of memory");
	int errors = diag_errors(s);
	shd_pstate *state = shd_pstate_new();
	if (state == NULL)
		die("parser: out of memory");
	if (!read_tokens(&parser, scanner, state))
		parser.program->whole = false;
	shd_pstate_delete(state);
	scan_end(scanner);
	parser.program->right = diag_errors(s) == errors;
	return parser.program;
}

/*
 * shd.y - the grammar of .shd programs; README.md is its reference.
 *
 * Actions are one call each, into tree.c.  Words that are
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
bool scan_begin(Parser *parser, void **scanner);
void scan_end(void *scanner);
}

%code {
#include "syntax.h"

#define YYMAXDEPTH 20000

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
%define api.prefix {shd_}
%define api.token.prefix {TOK_}
%define api.location.type {Range}
%define parse.error custom
/* the expected tokens of a message are exactly those that may follow */
%define parse.lac full
%param { void *scanner } { Parser *parser }
%locations
%expect 0

%initial-action { @$ = (Range){ parser->file, 1, 0, 0 }; }

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
	Param *param;
	FnDecl *fn;
	Decl *decl;
}

%token END 0 "the end of the file"
%token <name> NAME "a name"
%token <integer> INT "an integer"
%token <real> FLOAT "a number"
%token <name> STRING "a string" SINGLE_QUOTED "a string in single quotes"
%token <dtype> DTYPE "a dtype"
%token FN "fn" LET "let" VAR "var" FOR "for" IN "in" WHILE "while" IF "if"
%token ELSE "else" RETURN "return" NEW "new" TRUE "true" FALSE "false"
%token UNDERSCORE "_"
%token <name> MESH "mesh" DIM "dim" ON "on" IMPORT "import"
%token <name> EXPLICIT "explicit" MANUAL "manual" EXTERN "extern"
%token <name> RULE "rule" UNROLL "unroll" PAD "pad" UNREDUCED "unreduced"
%token <name> REPLICATED "replicated" TYPE "type" EXPECT "expect"
%token MINUS "-" PLUS "+" STAR "*" SLASH "/" PERCENT "%" LT "<" GT ">"
%token LE "<=" GE ">=" EQ "==" NE "!=" AND "&&" OR "||" NOT "!" ASSIGN "="
%token AT "@" OPEN "?" COLON ":" SEMICOLON ";" COMMA "," DOT "."
%token LPAREN "(" RPAREN ")" LBRACE "{" RBRACE "}" LBRACKET "[" RBRACKET "]"
%token ELLIPSIS "..." TO ".." ARROW "->" POWER "**"

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
%type <list> items bindings binding_list dims dim_list axes placement
%type <list> params param_list results result_list manual args arg_list
%type <list> exprs indices block stmts targets target_list else values
%type <expr> expr size size_call primary argument
%type <arg> arg
%type <index> index
%type <type> type written annotation
%type <dim> dim sized
%type <axis> axis
%type <param> param result target
%type <stmt> stmt for_head
%type <fn> signature
%type <decl> item function dim_binding

%%

program:
  items						{ parser->program->items = $items; }

items:
  %empty					{ $$ = list_none(); }
| items[l] item					{ $$ = list_add(parser, $l, $item); }
| items[l] "dim" bindings ";"			{ $$ = list_join(parser, $l, $bindings); }
| items[l] error ";"				{ $$ = $l; }
| items[l] error "}"				{ $$ = $l; }

on:
  %empty					{ $$ = (Name){ 0 }; }
| "on" STRING[target]				{ $$ = $target; }

bindings:
  binding_list
| binding_list ","

binding_list:
  dim_binding[d]				{ $$ = list_one(parser, $d); }
| binding_list[l] "," dim_binding[d]		{ $$ = list_add(parser, $l, $d); }

dim_binding:
  name "=" size					{ $$ = decl_dim(parser, @$, $name, $size); }

item:
  "mesh" "[" bindings "]" on ";"		{ $$ = decl_mesh(parser, @$, $bindings, $on); }
| "type" name "=" type ";"			{ $$ = decl_type(parser, @name, $name, $type); }
| "import" STRING[path] ";"			{ $$ = decl_import(parser, @path, $path); }
| function
| "explicit" function[f]			{ $$ = decl_mode($f, @1, FN_explicit, list_none()); }
| "manual" manual function[f]			{ $$ = decl_mode($f, @1, FN_manual, $manual); }
| "extern" signature[f] "=" STRING[symbol] "in" STRING[library] "rule" STRING[rule] ";"
						{ $$ = decl_extern(parser, @1, $f, $symbol, $library, $rule); }

manual:
  %empty					{ $$ = list_none(); }
| "(" axes ")"					{ $$ = $axes; }

function:
  signature[f] block				{ $$ = decl_fn(parser, @f, $f, $block, @block); }

signature:
  "fn" name "(" params ")"			{ $$ = fn_signature(parser, @$, $name, $params); }
| "fn" name "(" params ")" "->" results		{ $$ = fn_results(fn_signature(parser, @$, $name, $params), @results, $results); }

params:
  %empty					{ $$ = list_none(); }
| param_list
| param_list ","

param_list:
  param						{ $$ = list_one(parser, $param); }
| param_list[l] "," param			{ $$ = list_add(parser, $l, $param); }

param:
  name						{ $$ = param_new(parser, @$, $name, NULL); }
| name ":" type					{ $$ = param_new(parser, @$, $name, $type); }

results:
  type						{ $$ = list_one(parser, param_new(parser, @$, (Name){ 0 }, $type)); }
| "(" result_list ")"				{ $$ = $result_list; }
| "(" result_list "," ")"			{ $$ = $result_list; }

result_list:
  result					{ $$ = list_one(parser, $result); }
| result_list[l] "," result			{ $$ = list_add(parser, $l, $result); }

result:
  type						{ $$ = param_new(parser, @$, (Name){ 0 }, $type); }
| name ":" type					{ $$ = param_new(parser, @$, $name, $type); }

/* ---- types and placements */

type:
  written
| name						{ $$ = type_named(parser, $name); }
| name "[" dims "]"				{ $$ = type_with_dims(type_named(parser, $name), $dims, @$); }

/* What can be told from an expression by how it begins. */
written:
  DTYPE[d]					{ $$ = type_with_dtype(type_spec(parser, @$), $d, @d); }
| DTYPE[d] "[" dims "]"				{ $$ = type_with_dtype(type_with_dims(type_spec(parser, @$), $dims, @$), $d, @d); }
| "[" dims "]"					{ $$ = type_with_dims(type_spec(parser, @$), $dims, @$); }
| written[t] "@" "?"				{ $$ = type_open($t, @$); }
| written[t] "replicated"			{ $$ = type_replicated(parser, $t, @$, @2, list_none()); }
| written[t] "replicated" "(" axes ")"		{ $$ = type_replicated(parser, $t, @$, @2, $axes); }
| written[t] "unreduced" "(" axes ")"		{ $$ = type_unreduced(parser, $t, @$, @2, $axes); }

dims:
  %empty					{ $$ = list_none(); }
| dim_list
| dim_list ","

dim_list:
  dim						{ $$ = list_one(parser, $dim); }
| dim_list[l] "," dim				{ $$ = list_add(parser, $l, $dim); }

dim:
  sized
| dim[d] "!" INT[n]				{ $$ = dim_priority(parser, $d, @$, @n, $n); }
| dim[d] "pad"					{ $$ = dim_pad(parser, $d, @$, @2); }

sized:
  size						{ $$ = dim_spec(parser, @$, $size); }
| "_"						{ $$ = dim_spec(parser, @$, NULL); }
| sized[d] "@" axis				{ $$ = dim_placed(parser, $d, @$, @axis, list_one(parser, $axis), false); }
| sized[d] "@" "?"				{ $$ = dim_placed(parser, $d, @$, @3, list_none(), true); }
| sized[d] "@" "(" placement comma ")"		{ $$ = dim_placed(parser, $d, @$, @placement, $placement, false); }
| sized[d] "@" "(" placement "," "?" comma ")"	{ $$ = dim_placed(parser, $d, @$, @placement, $placement, true); }
| sized[d] "@" "(" "?" comma ")"		{ $$ = dim_placed(parser, $d, @$, @4, list_none(), true); }

comma:
  %empty
| ","

placement:
  axis						{ $$ = list_one(parser, $axis); }
| placement[l] "," axis				{ $$ = list_add(parser, $l, $axis); }

axes:
  placement
| placement ","

axis:
  name						{ $$ = axis_spec(parser, @$, $name, false, 1, 0); }
| name ":" "(" INT[pre] ")" INT[size]		{ $$ = axis_spec(parser, @$, $name, true, $pre, $size); }

size:
  INT[n]					{ $$ = expr_int(parser, @$, $n); }
| name						{ $$ = expr_name(parser, $name); }
| size_call
| "(" size[x] ")"				{ $$ = $x; }
| "-" size[x] %prec UNARY			{ $$ = expr_unary(parser, @$, OPERATOR_neg, @1, $x); }
| size[l] "+" size[r]				{ $$ = expr_binary(parser, $l, OPERATOR_add, @2, $r); }
| size[l] "-" size[r]				{ $$ = expr_binary(parser, $l, OPERATOR_sub, @2, $r); }
| size[l] "*" size[r]				{ $$ = expr_binary(parser, $l, OPERATOR_mul, @2, $r); }
| size[l] "/" size[r]				{ $$ = expr_binary(parser, $l, OPERATOR_div, @2, $r); }
| size[l] "%" size[r]				{ $$ = expr_binary(parser, $l, OPERATOR_rem, @2, $r); }

size_call:
  name "(" args ")"				{ $$ = expr_call(parser, @$, expr_name(parser, $name), $args); }

/* ---- statements */

block:
  "{" stmts "}"					{ $$ = $stmts; }
| "{" stmts error "}"				{ $$ = $stmts; }

stmts:
  %empty					{ $$ = list_none(); }
| stmts[l] stmt					{ $$ = list_add(parser, $l, $stmt); }
| stmts[l] error ";"				{ $$ = $l; }

stmt:
  "let" targets "=" expr ";"			{ $$ = stmt_let(parser, @$, S_let, $targets, false, $expr); }
| "let" "(" target_list[l] ")" "=" expr ";"	{ $$ = stmt_let(parser, @$, S_let, $l, true, $expr); }
| "let" "(" target_list[l] "," ")" "=" expr ";"	{ $$ = stmt_let(parser, @$, S_let, $l, true, $expr); }
| "var" targets "=" expr ";"			{ $$ = stmt_let(parser, @$, S_var, $targets, false, $expr); }
| expr[to] "=" expr[from] ";"			{ $$ = stmt_assign(parser, @$, $to, $from); }
| expr ";"					{ $$ = stmt_expr(parser, @$, $expr); }
| "return" values ";"				{ $$ = stmt_return(parser, @$, $values); }
| "expect" name ":" type ";"			{ $$ = stmt_expect(parser, @$, $name, $type); }
| for_head[f] "in" expr block			{ $$ = stmt_bodies(parser, stmt_over($f, $expr, NULL), @$, $block, list_none()); }
| for_head[f] "in" expr[from] ".." expr[to] block
						{ $$ = stmt_bodies(parser, stmt_over($f, $from, $to), @$, $block, list_none()); }
| "while" expr block				{ $$ = stmt_bodies(parser, stmt_if(parser, @$, @1, S_while, $expr), @$, $block, list_none()); }
| "if" expr block else				{ $$ = stmt_bodies(parser, stmt_if(parser, @$, @1, S_if, $expr), @$, $block, $else); }

else:
  %empty					{ $$ = list_none(); }
| "else" block					{ $$ = $block; }
| "else" "if" expr block else[rest]		{ $$ = list_one(parser, stmt_bodies(parser, stmt_if(parser, @$, @2, S_if, $expr), @$, $block, $rest)); }

for_head:
  "for" targets					{ $$ = stmt_for(parser, @$, @1, false, (Name){ 0 }, $targets, false); }
| "for" "(" target_list[l] ")"			{ $$ = stmt_for(parser, @$, @1, false, (Name){ 0 }, $l, true); }
| "for" name "," targets			{ $$ = stmt_for(parser, @$, @1, false, $name, $targets, false); }
| "for" name "," "(" target_list[l] ")"		{ $$ = stmt_for(parser, @$, @1, false, $name, $l, true); }
| "for" "unroll" targets			{ $$ = stmt_for(parser, @$, @1, true, (Name){ 0 }, $targets, false); }
| "for" "unroll" "(" target_list[l] ")"		{ $$ = stmt_for(parser, @$, @1, true, (Name){ 0 }, $l, true); }
| "for" "unroll" name "," targets		{ $$ = stmt_for(parser, @$, @1, true, $name, $targets, false); }
| "for" "unroll" name "," "(" target_list[l] ")"	{ $$ = stmt_for(parser, @$, @1, true, $name, $l, true); }

targets:
  target					{ $$ = list_one(parser, $target); }

target_list:
  target					{ $$ = list_one(parser, $target); }
| target_list[l] "," target			{ $$ = list_add(parser, $l, $target); }

target:
  name						{ $$ = param_new(parser, @$, $name, NULL); }
| "_"						{ $$ = param_new(parser, @$, (Name){ 0 }, NULL); }
| name annotation				{ $$ = param_new(parser, @$, $name, $annotation); }
| "_" annotation				{ $$ = param_new(parser, @$, (Name){ 0 }, $annotation); }

annotation:
  ":" type					{ $$ = $type; }

values:
  expr						{ $$ = list_one(parser, $expr); }
| values[l] "," expr				{ $$ = list_add(parser, $l, $expr); }

/* ---- expressions */

expr:
  primary
| "-" expr[x] %prec UNARY			{ $$ = expr_unary(parser, @$, OPERATOR_neg, @1, $x); }
| "!" expr[x] %prec UNARY			{ $$ = expr_unary(parser, @$, OPERATOR_not, @1, $x); }
| expr[l] "+" expr[r]				{ $$ = expr_binary(parser, $l, OPERATOR_add, @2, $r); }
| expr[l] "-" expr[r]				{ $$ = expr_binary(parser, $l, OPERATOR_sub, @2, $r); }
| expr[l] "*" expr[r]				{ $$ = expr_binary(parser, $l, OPERATOR_mul, @2, $r); }
| expr[l] "/" expr[r]				{ $$ = expr_binary(parser, $l, OPERATOR_div, @2, $r); }
| expr[l] "%" expr[r]				{ $$ = expr_binary(parser, $l, OPERATOR_rem, @2, $r); }
| expr[l] "==" expr[r]				{ $$ = expr_binary(parser, $l, OPERATOR_eq, @2, $r); }
| expr[l] "!=" expr[r]				{ $$ = expr_binary(parser, $l, OPERATOR_ne, @2, $r); }
| expr[l] "<" expr[r]				{ $$ = expr_binary(parser, $l, OPERATOR_lt, @2, $r); }
| expr[l] "<=" expr[r]				{ $$ = expr_binary(parser, $l, OPERATOR_le, @2, $r); }
| expr[l] ">" expr[r]				{ $$ = expr_binary(parser, $l, OPERATOR_gt, @2, $r); }
| expr[l] ">=" expr[r]				{ $$ = expr_binary(parser, $l, OPERATOR_ge, @2, $r); }
| expr[l] "&&" expr[r]				{ $$ = expr_binary(parser, $l, OPERATOR_and, @2, $r); }
| expr[l] "||" expr[r]				{ $$ = expr_binary(parser, $l, OPERATOR_or, @2, $r); }
| expr[l] "@" expr[r]				{ $$ = expr_habit(parser, $l, @2, $r, "the matrix product is matmul(a, b) or an einsum; '@' places the dims of a type"); }
| expr[l] "**" expr[r]				{ $$ = expr_habit(parser, $l, @2, $r, "a power is pow(a, b); for squares there is square(x)"); }

primary:
  name						{ $$ = expr_name(parser, $name); }
| INT[n]					{ $$ = expr_int(parser, @$, $n); }
| FLOAT[x]					{ $$ = expr_float(parser, @$, $x); }
| "true"					{ $$ = expr_bool(parser, @$, true); }
| "false"					{ $$ = expr_bool(parser, @$, false); }
| STRING[s]					{ $$ = expr_string(parser, $s); }
| SINGLE_QUOTED[s]				{ $$ = expr_single_quoted(parser, $s); }
| "(" ")"					{ $$ = expr_tuple(parser, @$, list_none()); }
| "(" expr[x] ")"				{ $$ = $x; }
| "(" expr[x] "," ")"				{ $$ = expr_tuple(parser, @$, list_one(parser, $x)); }
| "(" expr[x] "," exprs ")"			{ $$ = expr_tuple(parser, @$, list_join(parser, list_one(parser, $x), $exprs)); }
| "(" expr[x] "," exprs "," ")"			{ $$ = expr_tuple(parser, @$, list_join(parser, list_one(parser, $x), $exprs)); }
| DTYPE[d] "(" args ")"				{ $$ = expr_cast(parser, @$, $d, $args); }
| primary[f] "(" args ")"			{ $$ = expr_call(parser, @$, $f, $args); }
| "var" "(" args ")"				{ $$ = expr_call(parser, @$, expr_name(parser, (Name){ "var", @1 }), $args); }
| primary[x] "[" indices "]"			{ $$ = expr_index(parser, @$, $x, $indices); }
| primary[x] "[" indices "," "]"		{ $$ = expr_index(parser, @$, $x, $indices); }
| primary[x] "." name				{ $$ = expr_member(parser, @$, $x, $name); }

exprs:
  expr						{ $$ = list_one(parser, $expr); }
| exprs[l] "," expr				{ $$ = list_add(parser, $l, $expr); }

args:
  %empty					{ $$ = list_none(); }
| arg_list
| arg_list ","

arg_list:
  arg						{ $$ = list_one(parser, $arg); }
| arg_list[l] "," arg				{ $$ = list_add(parser, $l, $arg); }

arg:
  argument					{ $$ = arg_new(parser, @$, (Name){ 0 }, $argument); }
| name "=" argument				{ $$ = arg_new(parser, @$, $name, $argument); }

argument:
  expr
| written					{ $$ = expr_type(parser, $written); }

indices:
  index						{ $$ = list_one(parser, $index); }
| indices[l] "," index				{ $$ = list_add(parser, $l, $index); }

index:
  expr						{ $$ = index_new(parser, @$, INDEX_at, $expr, NULL, NULL); }
| slice_bound[from] ":" slice_bound[to]		{ $$ = index_new(parser, @$, INDEX_range, $from, $to, NULL); }
| slice_bound[from] ":" slice_bound[to] ":" slice_bound[step]
						{ $$ = index_new(parser, @$, INDEX_range, $from, $to, $step); }
| "new"						{ $$ = index_new(parser, @$, INDEX_new, NULL, NULL, NULL); }
| "..."						{ $$ = index_new(parser, @$, INDEX_ellipsis, NULL, NULL, NULL); }

%type <expr> slice_bound;
slice_bound:
  %empty					{ $$ = NULL; }
| expr

name:
  NAME
| "mesh" | "dim" | "on" | "import" | "explicit" | "manual" | "extern"
| "rule" | "unroll" | "pad" | "unreduced" | "replicated" | "type" | "expect"

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

Program *
parse_file(Session *s, int file, DiagCode code)
{
	Parser parser = { .session = s, .file = file, .line = 1, .code = code };
	parser.program = NEW(s->arena, Program);
	parser.program->file = file;
	void *scanner;
	if (!scan_begin(&parser, &scanner))
		die("scanner: out of memory");
	int errors = diag_errors(s);
	int status = shd_parse(scanner, &parser);
	scan_end(scanner);
	return status == 0 && diag_errors(s) == errors ? parser.program : NULL;
}

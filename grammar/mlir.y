/*
 * mlir.y - the grammar of StableHLO text, as JAX prints it.
 *
 * An op is written in the generic form, in one of the forms below that have a rule of
 * their own, or as words, values and name = attribute, as most are.  Actions make one
 * node each (mlir_make.c).  No conflicts: cure one by another rule, never by raising %expect.
 */
%code requires {
#include "mlir_make.h"
}

%code provides {
/* Stated once: the scanner that flex makes and the parser calls. */
#define YY_DECL \
	int mlir_lex(MLIR_STYPE *yylval, Range *yylloc, void *yyscanner, \
		MlirParser *parser)
YY_DECL;
bool mlir_scan_begin(MlirParser *parser, void **scanner);
void mlir_scan_end(void *scanner);
int mlir_scan_word(MlirParser *parser, MLIR_STYPE *value, Range r, const char *text);
int mlir_scan_value(MlirParser *parser, MLIR_STYPE *value, Range r, const char *text);
int mlir_scan_symbol(MlirParser *parser, MLIR_STYPE *value, Range r, const char *text);
int mlir_scan_string(MlirParser *parser, MLIR_STYPE *value, Range r, const char *text);
int mlir_scan_choice(MlirParser *parser, MLIR_STYPE *value, Range r, const char *text);
int mlir_scan_alias(MlirParser *parser, MLIR_STYPE *value, Range r, const char *text);
int mlir_scan_other(MlirParser *parser, MLIR_STYPE *value, Range r);
int mlir_scan_integer(MlirParser *parser, MLIR_STYPE *value, Range r, const char *text);
int mlir_scan_float(MlirParser *parser, MLIR_STYPE *value, Range r, const char *text);
int mlir_scan_type(MlirParser *parser, MLIR_STYPE *value, Range r, const char *text);
int mlir_scan_dense(MlirParser *parser, MLIR_STYPE *value, Range r, const char *text, size_t n);
}

%code {
#define YYMAXDEPTH MLIR_DEEPEST

#define LIST(item) mlir_add(parser, (List){0}, item)
#define ADD(list, item) mlir_add(parser, list, item)
#define NODE(type, ...) \
	arena_copy(parser->session->arena, &(type){ __VA_ARGS__ }, sizeof(type))
#define ATTR(k, ...) NODE(MlirAttr, .kind = MLIR_##k, __VA_ARGS__)
#define ENTRY(name, value) NODE(MlirEntry, name, value)
#define PLACE(k, ...) NODE(MlirPlace, .kind = PLACE_##k, __VA_ARGS__)

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
mlir_error(Range *where, void *scanner, MlirParser *parser, const char *text)
{
	(void)scanner;
	(void)text; /* the stack is full: other errors are mlir_unexpected() */
	mlir_too_deep(parser, *where);
}
}

%define api.pure full
%define api.prefix {mlir_}
%define api.token.prefix {MT_}
%define api.location.type {Range}
%define parse.error custom
%define parse.lac full
%param { void *scanner } { MlirParser *parser }
%locations
%expect 0

%union {
	const char *text;
	int64_t integer;
	double real;
	List list;
	MlirUse use;
	MlirUse *value;
	const MlirType *type;
	MlirAttr *attr;
	MlirEntry *entry;
	MlirAxis *axis;
	MlirDim *dim;
	MlirSharding *sharding;
	MlirOp *op;
	MlirBlock *block;
	MlirParam *param;
	MlirPlace *place;
	MlirItems items;
}

%token END 0 "the end of the file"
%token <text> WORD "a word" STRING "a string" SYMBOL "a symbol" ALIAS "an alias"
%token <text> OTHER_ATTRIBUTE "an attribute" CHOICE "a choice"
%token <use> VALUE "a value"
%token <integer> INTEGER "an integer"
%token <real> FLOAT "a number"
%token <type> TENSOR "a type"
%token <attr> DENSE "dense<...>"
%token LABEL "a label" STRAY "what begins nothing here" OPEN_ATTRIBUTE "an attribute that does not end"
%token MALFORMED "what cannot be read"
%token <text> MODULE "module" FUNC "func.func" RETURN "return" CALL "call" WHILE "while"
%token <text> REDUCE "reduce" CUSTOM_CALL "custom_call" COMPOSITE "composite"
%token <text> CONVOLUTION "convolution" TOP_K "top_k" MESH "sdy.mesh"
%token <text> TUPLE_ELEMENT "get_tuple_element"
%token <text> MANUAL "sdy.manual_computation"
%token <text> LOC "loc" CALLSITE "callsite" FUSED "fused" UNKNOWN "unknown" AT "at" TO "to"
%token <text> ATTRIBUTES "attributes" PUBLIC "public" PRIVATE "private" COND "cond" DO "do"
%token <text> APPLIES "applies" ACROSS "across" DIMENSIONS "dimensions" INIT "init"
%token <text> REDUCER "reducer" IN_SHARDINGS "in_shardings" OUT_SHARDINGS "out_shardings"
%token <text> MANUAL_AXES_ARE "manual_axes" REPLICATED "replicated" UNREDUCED "unreduced" X "x"
%token ARRAY "array<" TUPLE "tuple<" SHARDING "#sdy.sharding<" SHARDINGS "#sdy.sharding_per_value<"
%token SHARDING_RULE "#sdy.op_sharding_rule<"
%token MESH_IS "#sdy.mesh<" MANUAL_AXES "#sdy<manual_axes" CONV "#stablehlo.conv<" FIELDS "the fields of an attribute"
%token ARROW "->" LPAREN "(" RPAREN ")" LBRACE "{" RBRACE "}" LBRACKET "[" RBRACKET "]"
%token LT "<" GT ">" ASSIGN "=" COMMA "," COLON ":" OPEN "?"

%type <text> name module_name
%type <list> results results_of result_list types type_list ops body_ops operands values value_list
%type <list> dict attribute_dict properties entries entry_list regions region_list attributes
%type <list> attribute_list params param_list function_results result_params carried reductions
%type <list> reducers shardings sharding_list axes axis_list sizes size_list dims dim_list
%type <list> ranges device_ids tensors tensor_list letters letter_list rule_facts
%type <op> module line op generic function mesh last return made
%type <use> value
%type <value> result
%type <type> type
%type <attr> attribute plain list range
%type <entry> entry rule_fact
%type <axis> axis size
%type <dim> dim dim_axes
%type <sharding> sharding sharding_inside
%type <block> region body
%type <param> param result_param
%type <place> place place_inside places
%type <items> items item_list item
%type <integer> integer

%%

program:
  definitions module definitions	{ parser->program->module = $module; }

definitions:
  %empty
| definitions ALIAS "=" "loc" "(" place_inside ")"
					{ mlir_define(parser, parser->program->places, $ALIAS, @ALIAS, $place_inside); }
| definitions ALIAS "=" attribute	{ mlir_define(parser, parser->program->values, $ALIAS, @ALIAS, $attribute); }

module:
  "module" module_name attribute_dict "{" ops "}" place
					{ MlirBlock *block = NODE(MlirBlock, .ops = $ops, .range = @1);
					  $$ = NODE(MlirOp, .name = "builtin.module", .range = @1, .attributes = $attribute_dict,
						.regions = LIST(block));
					  mlir_give(parser, $$, "sym_name", ATTR(string, @2, .text = $module_name)); }
| generic place				{ $$ = $generic; }

module_name:
  %empty				{ $$ = ""; }
| SYMBOL

attribute_dict:
  %empty				{ $$ = (List){0}; }
| "attributes" "{" entries "}"		{ $$ = $entries; }

/* ---- ops */

ops:
  %empty				{ $$ = (List){0}; }
| ops line				{ $$ = ADD($1, $line); }

line:
  op place				{ $$ = mlir_finish(parser, $op, (List){0}, $place); }
| results_of op place			{ $$ = mlir_finish(parser, $op, $results_of, $place); }

results_of:
  result_list "="

result_list:
  result				{ $$ = LIST($1); }
| result_list "," result		{ $$ = ADD($1, $3); }

result:
  VALUE					{ $$ = NODE(MlirUse, $1.name, 1, @1); }
| VALUE ":" INTEGER			{ $$ = NODE(MlirUse, $1.name, mlir_count(parser, $3, @3), @1); }

op:
  generic
| function
| mesh
| WORD items dict ":" types		{ $$ = mlir_op(parser, $1, @1, &$items, $dict, $types);
					  $$->from = mlir_alike(parser, $$, $types); }
| WORD items dict ":" types "->" results
					{ $$ = mlir_op(parser, $1, @1, &$items, $dict, $results); $$->from = $types; }
| "top_k" "(" items ")" dict ":" types "->" results
					{ $$ = mlir_op(parser, $1, @1, &$items, $dict, $results); $$->from = $types; }
| "call" SYMBOL operands dict ":" types "->" results
					{ $$ = NODE(MlirOp, .name = "func.call", .range = @1, .operands = $operands,
						.attributes = $dict, .from = $types, .types = $results);
					  mlir_give(parser, $$, "callee", ATTR(word, @2, .text = $2)); }
| "get_tuple_element" value "[" INTEGER "]" dict ":" types "->" results
					{ List tuple = LIST(NODE(MlirUse, $value.name, $value.number, @value));
					  $$ = NODE(MlirOp, .name = $1, .range = @1, .operands = tuple,
						.attributes = $dict, .from = $types, .types = $results);
					  mlir_give(parser, $$, "index", ATTR(integer, @4, .integer = $4)); }
| "custom_call" SYMBOL operands dict ":" types "->" made
					{ $$ = $made;
					  $$->name = $1;
					  $$->range = @1;
					  $$->operands = $operands;
					  $$->attributes = $dict;
					  $$->from = $types;
					  mlir_give(parser, $$, "call_target_name", ATTR(string, @2, .text = $2)); }
| "composite" STRING items dict ":" types "->" results
					{ $$ = mlir_op(parser, $1, @1, &$items, $dict, $results);
					  $$->from = $types;
					  mlir_give(parser, $$, "name", ATTR(string, @2, .text = $2)); }
| "convolution" operands items dict ":" types "->" results
					{ $$ = mlir_op(parser, $1, @1, &$items, $dict, $results);
					  $$->operands = $operands;
					  $$->from = $types; }
| "while" "(" carried ")" ":" type_list attribute_dict "cond" region "do" region
					{ $$ = mlir_while(parser, @1, $carried, $type_list, $9, $11); }
| "reduce" reductions "applies" WORD "across" "dimensions" "=" list dict ":" types "->" results
					{ $$ = mlir_reduce(parser, @1, $reductions, $list, $results);
					  $$->from = $types;
					  mlir_applies(parser, $$, $WORD); }
| "reduce" reductions "across" "dimensions" "=" list dict ":" types "->" results "reducer" reducers region
					{ $$ = mlir_reduce(parser, @1, $reductions, $list, $results);
					  $$->from = $types;
					  $region->params = mlir_halves(parser, $reducers);
					  $$->regions = LIST($region); }
| "sdy.manual_computation" operands "in_shardings" "=" "[" shardings[in] "]"
  "out_shardings" "=" "[" shardings[out] "]" "manual_axes" "=" "{" axes "}"
  "(" params ")" region dict ":" types "->" results
					{ $region->params = $params;
					  $$ = NODE(MlirOp, .name = $1, .range = @1, .operands = $operands, .attributes = $dict,
						.from = $types, .types = $results, .regions = LIST($region));
					  mlir_give(parser, $$, "in_shardings", ATTR(list, @in, .items = $in));
					  mlir_give(parser, $$, "out_shardings", ATTR(list, @out, .items = $out));
					  mlir_give(parser, $$, "manual_axes", ATTR(mesh, @axes, .items = $axes)); }

/* "stablehlo.gather"(%0, %1) <{...}> ({ regions }) {...} : (types) -> types */
generic:
  STRING operands properties regions dict ":" types "->" made
					{ $$ = $made;
					  $$->name = $1;
					  $$->range = @1;
					  $$->operands = $operands;
					  $$->regions = $regions;
					  $$->attributes = mlir_join(parser, $properties, $dict);
					  $$->from = $types; }

/* What an op makes: its types. */
made:
  results				{ $$ = NODE(MlirOp, .types = $results); }
| "tuple<" type_list ">"		{ $$ = NODE(MlirOp, .types = $type_list, .tuple = true); }

properties:
  %empty				{ $$ = (List){0}; }
| "<" "{" entries "}" ">"		{ $$ = $entries; }

regions:
  %empty				{ $$ = (List){0}; }
| "(" region_list ")"			{ $$ = $region_list; }

region_list:
  region				{ $$ = LIST($1); }
| region_list "," region		{ $$ = ADD($1, $3); }

region:
  "{" body "}"				{ $$ = $body; $$->range = @1; }

body:
  body_ops				{ $$ = NODE(MlirBlock, .ops = $1); }
| LABEL ":" body_ops			{ $$ = NODE(MlirBlock, .ops = $3); }
| LABEL "(" params ")" ":" body_ops	{ $$ = NODE(MlirBlock, .params = $params, .ops = $6); }

body_ops:
  ops
| ops last				{ $$ = ADD($1, $last); }

last:
  return place				{ $$ = mlir_finish(parser, $return, (List){0}, $place); }

return:
  "return"				{ $$ = NODE(MlirOp, .name = "return", .range = @1); }
| "return" value_list ":" types		{ $$ = NODE(MlirOp, .name = "return", .range = @1, .operands = $value_list,
						.from = $types); }

function:
  "func.func" visibility SYMBOL "(" params ")" function_results attribute_dict region
					{ $$ = mlir_function(parser, @3, $SYMBOL, $params, $function_results, $region); }

visibility:
  %empty
| "public"
| "private"

function_results:
  %empty				{ $$ = (List){0}; }
| "->" type				{ $$ = LIST(NODE(MlirParam, .type = $type)); }
| "->" "(" ")"				{ $$ = (List){0}; }
| "->" "(" result_params ")"		{ $$ = $result_params; }

result_params:
  result_param				{ $$ = LIST($1); }
| result_params "," result_param	{ $$ = ADD($1, $3); }

result_param:
  type dict				{ $$ = NODE(MlirParam, .type = $type, .attributes = $dict, .range = @$); }

params:
  %empty				{ $$ = (List){0}; }
| param_list

param_list:
  param					{ $$ = LIST($1); }
| param_list "," param			{ $$ = ADD($1, $3); }

param:
  VALUE ":" type dict place		{ $$ = NODE(MlirParam, .name = $1.name, .type = $type, .attributes = $dict,
						.place = $place, .range = @1); }

mesh:
  "sdy.mesh" SYMBOL "=" "<" "[" sizes "]" device_ids ">" dict
					{ $$ = NODE(MlirOp, .name = $1, .range = @1, .attributes = $dict);
					  mlir_give(parser, $$, "sym_name", ATTR(string, @2, .text = $2));
					  mlir_give(parser, $$, "mesh", ATTR(mesh, @sizes, .items = $sizes, .ids = $device_ids)); }

device_ids:
  %empty				{ $$ = (List){0}; }
| "," WORD "=" list			{ $$ = $list->items; }

/* ---- operands */

operands:
  "(" values ")"			{ $$ = $values; }

values:
  %empty				{ $$ = (List){0}; }
| value_list

value_list:
  value					{ $$ = LIST(NODE(MlirUse, $1.name, $1.number, @1)); }
| value_list "," value			{ $$ = ADD($1, NODE(MlirUse, $3.name, $3.number, @3)); }

value:
  VALUE

carried:
  VALUE[name] "=" value			{ $$ = LIST(NODE(MlirUse, $name.name, 0, @name));
					  $$ = ADD($$, NODE(MlirUse, $3.name, $3.number, @3)); }
| carried "," VALUE[name] "=" value	{ $$ = ADD($1, NODE(MlirUse, $name.name, 0, @name));
					  $$ = ADD($$, NODE(MlirUse, $5.name, $5.number, @5)); }

reductions:
  "(" value "init" ":" value[init] ")"	{ $$ = LIST(NODE(MlirUse, $2.name, $2.number, @2));
					  $$ = ADD($$, NODE(MlirUse, $init.name, $init.number, @init)); }
| reductions "," "(" value "init" ":" value[init] ")"
					{ $$ = ADD($1, NODE(MlirUse, $4.name, $4.number, @4));
					  $$ = ADD($$, NODE(MlirUse, $init.name, $init.number, @init)); }

reducers:
  "(" param "," param ")"		{ $$ = LIST($2); $$ = ADD($$, $4); }
| reducers "(" param "," param ")"	{ $$ = ADD($1, $3); $$ = ADD($$, $5); }

/* ---- what stands between the name of an op and its types */

items:
  %empty				{ $$ = (MlirItems){0}; }
| item_list

item_list:
  item
| item_list "," item			{ $$ = mlir_items(parser, $1, $3); }

item:
  value					{ $$.values = LIST(NODE(MlirUse, $1.name, $1.number, @1));
					  $$.loose = $$.entries = (List){0}; }
| value "[" ranges "]"			{ $$ = mlir_sliced(parser, NODE(MlirUse, $1.name, $1.number, @1), $ranges); }
| value "<" sharding_inside ">"		{ $$.values = LIST(NODE(MlirUse, $1.name, $1.number, @1));
					  $$.loose = LIST(ATTR(sharding, @3, .sharding = $3));
					  $$.entries = (List){0}; }
| value WORD "=" plain			{ $$.values = LIST(NODE(MlirUse, $1.name, $1.number, @1));
					  $$.loose = (List){0};
					  $$.entries = LIST(ENTRY($2, $4)); }
| WORD					{ $$ = mlir_loose(parser, ATTR(word, @1, .text = $1)); }
| DENSE					{ $$ = mlir_loose(parser, $1); }
| WORD "=" plain			{ $$ = mlir_entry(parser, $1, $3); }
| WORD "=" "<" entries ">"		{ $$ = mlir_entry(parser, $1, ATTR(dict, @$, .items = $entries)); }
| WORD "=" list "x" list		{ $$ = mlir_entry(parser, $1, mlir_pair(parser, $3, $5)); }
| WORD "=" list "x" list "->" list	{ $$ = mlir_entry(parser, $1, mlir_triple(parser, $3, $5, $7)); }

ranges:
  range					{ $$ = LIST($1); }
| ranges "," range			{ $$ = ADD($1, $3); }

range:
  INTEGER ":" INTEGER			{ $$ = mlir_range(parser, @$, $1, $3, 1); }
| INTEGER ":" INTEGER ":" INTEGER	{ $$ = mlir_range(parser, @$, $1, $3, $5); }

/* ---- types */

types:
  type_list
| "(" ")"				{ $$ = (List){0}; }
| "(" type_list ")"			{ $$ = $2; }
| "(" "tuple<" type_list ">" ")"	{ $$ = $3; }

results:
  type					{ $$ = LIST((void *)$1); }
| "(" ")"				{ $$ = (List){0}; }
| "(" type_list ")"			{ $$ = $2; }

type_list:
  type					{ $$ = LIST((void *)$1); }
| type_list "," type			{ $$ = ADD($1, (void *)$3); }

type:
  TENSOR
| WORD					{ $$ = mlir_element(parser, $1); }

/* ---- attributes */

dict:
  %empty				{ $$ = (List){0}; }
| "{" entries "}"			{ $$ = $entries; }

entries:
  %empty				{ $$ = (List){0}; }
| entry_list

entry_list:
  entry					{ $$ = LIST($1); }
| entry_list "," entry			{ $$ = ADD($1, $3); }

entry:
  name					{ $$ = ENTRY($1, ATTR(unit, @1)); }
| name "=" attribute			{ $$ = ENTRY($1, $3); }

attribute:
  plain
| INTEGER ":" type			{ $$ = ATTR(integer, @$, .integer = $1, .type = $3); }
| FLOAT ":" type			{ $$ = ATTR(float, @$, .real = $1, .type = $3); }
| STRING ":" type			{ $$ = ATTR(string, @$, .text = $1, .type = $3); }
| DENSE ":" type			{ $$ = $1; $$->type = $3; }
| TENSOR				{ $$ = ATTR(type, @$, .type = $1); }
| "(" ")" "->" results			{ $$ = ATTR(function, @$, .items = $results); }
| "(" type_list ")" "->" results	{ $$ = ATTR(function, @$, .ids = $type_list, .items = $results); }

/* ... behind which another : may follow */
plain:
  INTEGER				{ $$ = ATTR(integer, @$, .integer = $1); }
| FLOAT					{ $$ = ATTR(float, @$, .real = $1); }
| STRING				{ $$ = ATTR(string, @$, .text = $1); }
| WORD					{ $$ = ATTR(word, @$, .text = $1); }
| SYMBOL				{ $$ = ATTR(word, @$, .text = $1); }
| CHOICE				{ $$ = ATTR(word, @$, .text = $1); }
| ALIAS					{ $$ = ATTR(alias, @$, .text = $1); }
| OTHER_ATTRIBUTE			{ $$ = ATTR(other, @$, .text = $1); }
| list
| "{" entries "}"			{ $$ = ATTR(dict, @$, .items = $2); }
| "the fields of an attribute" entries ">"
					{ $$ = ATTR(dict, @$, .items = $2); }
| "#stablehlo.conv<" list[x] "x" list[kernel] "->" list[y] ">"
					{ $$ = mlir_triple(parser, $x, $kernel, $y); }
| "array<" WORD ">"			{ $$ = ATTR(list, @$); }
| "array<" WORD ":" attribute_list ">"	{ $$ = ATTR(list, @$, .items = $4); }
| "#sdy.sharding<" sharding_inside ">"	{ $$ = ATTR(sharding, @$, .sharding = $2); }
| "#sdy.sharding_per_value<" "[" shardings "]" ">"
					{ $$ = ATTR(list, @$, .items = $3); }
| "#sdy.mesh<" "[" sizes "]" device_ids ">"
					{ $$ = ATTR(mesh, @$, .items = $3, .ids = $device_ids); }
| "#sdy<manual_axes" "{" axes "}" ">"	{ $$ = ATTR(mesh, @$, .items = $3); }
| "#sdy.op_sharding_rule<" "(" tensors[in] ")" "->" "(" tensors[out] ")" "{" entries "}" rule_facts ">"
					{ List parts = ADD($rule_facts, ENTRY("operands", ATTR(list, @in, .items = $in)));
					  parts = ADD(parts, ENTRY("results", ATTR(list, @out, .items = $out)));
					  parts = ADD(parts, ENTRY("sizes", ATTR(dict, @entries, .items = $entries)));
					  $$ = ATTR(dict, @$, .items = parts); }

/* ([i, jk], [])->([i]) {i=8, j=2, k=4} reduction={j} need_replication={k}, custom */
tensors:
  %empty				{ $$ = (List){0}; }
| tensor_list

tensor_list:
  "[" letters "]"			{ $$ = LIST(ATTR(list, @$, .items = $2)); }
| tensor_list "," "[" letters "]"	{ $$ = ADD($1, ATTR(list, @$, .items = $4)); }

letters:
  %empty				{ $$ = (List){0}; }
| letter_list

letter_list:
  name					{ $$ = LIST(ATTR(word, @1, .text = $1)); }
| letter_list "," name			{ $$ = ADD($1, ATTR(word, @3, .text = $3)); }

rule_facts:
  %empty				{ $$ = (List){0}; }
| rule_facts rule_fact			{ $$ = ADD($1, $2); }
| rule_facts "," WORD			{ $$ = ADD($1, ENTRY($3, ATTR(unit, @3))); }

rule_fact:
  WORD "=" "{" letters "}"		{ $$ = ENTRY($1, ATTR(list, @4, .items = $4)); }

list:
  "[" attributes "]"			{ $$ = ATTR(list, @$, .items = $2); }

attributes:
  %empty				{ $$ = (List){0}; }
| attribute_list

attribute_list:
  attribute				{ $$ = LIST($1); }
| attribute_list "," attribute		{ $$ = ADD($1, $3); }

name:
  WORD | STRING | "loc" | "callsite" | "fused" | "unknown" | "at" | "to" | "attributes" | "public"
| "private" | "cond" | "do" | "applies" | "across" | "dimensions" | "init" | "reducer"
| "in_shardings" | "out_shardings" | "manual_axes" | "replicated" | "unreduced" | "x" | "module"

/* ---- shardings */

shardings:
  %empty				{ $$ = (List){0}; }
| sharding_list

sharding_list:
  sharding				{ $$ = LIST(ATTR(sharding, @1, .sharding = $1)); }
| sharding_list "," sharding		{ $$ = ADD($1, ATTR(sharding, @3, .sharding = $3)); }

sharding:
  "<" sharding_inside ">"		{ $$ = $2; }

sharding_inside:
  SYMBOL "," "[" dims "]"		{ $$ = NODE(MlirSharding, .mesh = $1, .dims = $dims); }
| sharding_inside "," "replicated" "=" "{" axes "}"
					{ $$ = $1; $$->replicated = $axes; }
| sharding_inside "," "unreduced" "=" "{" axes "}"
					{ $$ = $1; $$->unreduced = $axes; }

dims:
  %empty				{ $$ = (List){0}; }
| dim_list

dim_list:
  dim					{ $$ = LIST($1); }
| dim_list "," dim			{ $$ = ADD($1, $3); }

dim:
  "{" dim_axes "}"			{ $$ = $2; $$->range = @$; }
| "{" dim_axes "}" WORD			{ $$ = $2; $$->range = @$; $$->priority = mlir_priority(parser, $4, @4); }

dim_axes:
  axes					{ $$ = NODE(MlirDim, .axes = $1); }
| "?"					{ $$ = NODE(MlirDim, .open = true); }
| axis_list "," "?"			{ $$ = NODE(MlirDim, .axes = $1, .open = true); }

axes:
  %empty				{ $$ = (List){0}; }
| axis_list

axis_list:
  axis					{ $$ = LIST($1); }
| axis_list "," axis			{ $$ = ADD($1, $3); }

axis:
  STRING				{ $$ = NODE(MlirAxis, $1, 1, 0, @$); }
| STRING ":" "(" INTEGER ")" INTEGER	{ $$ = NODE(MlirAxis, $1, $4, $6, @$); mlir_part(parser, $$); }

sizes:
  %empty				{ $$ = (List){0}; }
| size_list

size_list:
  size					{ $$ = LIST($1); }
| size_list "," size			{ $$ = ADD($1, $3); }

size:
  STRING "=" INTEGER			{ $$ = NODE(MlirAxis, $1, 1, $3, @$); }

/* ---- locations */

place:
  %empty				{ $$ = NULL; }
| "loc" "(" place_inside ")"		{ $$ = $3; }

place_inside:
  "unknown"				{ $$ = PLACE(unknown, .text = NULL); }
| ALIAS					{ $$ = PLACE(alias, .text = $1); }
| STRING				{ $$ = PLACE(named, .text = $1); }
| STRING "(" place_inside ")"		{ $$ = PLACE(named, .text = $1, .inner = $3); }
| STRING ":" integer ":" integer	{ $$ = PLACE(file, .text = $1, .line = $3, .column = $5); }
| STRING ":" integer ":" integer "to" ":" integer
					{ $$ = PLACE(file, .text = $1, .line = $3, .column = $5,
						.last_line = $3, .last_column = $8); }
| STRING ":" integer ":" integer "to" integer ":" integer
					{ $$ = PLACE(file, .text = $1, .line = $3, .column = $5,
						.last_line = $7, .last_column = $9); }
| "callsite" "(" place_inside "at" place_inside ")"
					{ $$ = PLACE(called, .inner = $3, .outer = $5); }
| "fused" "[" places "]"		{ $$ = $places; }
| "fused" "<" plain ">" "[" places "]"	{ $$ = $places; }

places:
  place_inside
| place_inside "," places		{ $$ = PLACE(fused, .inner = $1, .outer = $3); }

integer:
  INTEGER				{ $$ = mlir_small(parser, $1, @1); }

%%

static int
yyreport_syntax_error(const yypcontext_t *context, void *scanner,
	MlirParser *parser)
{
	(void)scanner;
	enum { MOST = 4 };
	yysymbol_kind_t kinds[MOST];
	const char *names[MOST];
	int n = yypcontext_expected_tokens(context, kinds, MOST);
	for (int i = 0; i < n; i++)
		names[i] = yysymbol_name(kinds[i]);
	yysymbol_kind_t found = yypcontext_token(context);
	mlir_unexpected(parser, *yypcontext_location(context),
		found == YYSYMBOL_YYEMPTY ? NULL : yysymbol_name(found), n, names);
	return 0;
}

MlirProgram *
mlir_read(Session *s, int file)
{
	MlirParser parser = { .session = s, .file = file, .line = 1 };
	void *scanner;
	parser.types = table_new(s->arena);
	parser.aliases = table_new(s->arena);
	parser.used = table_new(s->arena);
	parser.program = NEW(s->arena, MlirProgram);
	*parser.program = (MlirProgram){ s, NULL, table_new(s->arena), table_new(s->arena) };
	if (!mlir_scan_begin(&parser, &scanner))
		die("scanner: out of memory");
	bool right = yyparse(scanner, &parser) == 0;
	mlir_check_aliases(&parser);
	right = right && !parser.wrong;
	mlir_scan_end(scanner);
	return right ? parser.program : NULL;
}

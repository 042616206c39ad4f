/*
 * tree.h - what the parser makes of a file, and the calls its actions make.
 *
 *   Program
 *     items     mesh, dim, type, import and fn declarations, as written
 *
 *   FnDecl  ->  Stmt  ->  Expr      "let h: [B@X, F] = relu(x + 1);"
 *
 *     S_let  target h, type [B@X, F]
 *       E_call relu
 *         E_binary +
 *           E_name x
 *           E_int 1
 *
 * Everything lives in the session's arena and is never changed after the
 * parser made it.  A List holds pointers of the one type its comment names.
 */
#ifndef SHDC_TREE_H
#define SHDC_TREE_H

#include "ir/ir.h"

enum {
	MAX_NESTING = 500, /* of expressions and blocks */
};

typedef struct Expr Expr;
typedef struct Stmt Stmt;
typedef struct TypeSpec TypeSpec;

typedef struct List {
	int n;
	void **v;
} List;

typedef struct Name {
	const char *s;
	Range range;
} Name;

typedef enum Operator {
#define OPERATOR(id, spelling, op, direction, takes) OPERATOR_##id,
#include "operators.def"
#undef OPERATOR
} Operator;

typedef enum ExprKind {
	E_error, /* already reported */
	E_name,
	E_int,
	E_float,
	E_bool,
	E_string,
	E_unary,  /* op left */
	E_binary, /* left op right */
	E_call,	  /* left(args): left a name, a member, a call */
	E_cast,	  /* f32(args) */
	E_index,  /* left[args] */
	E_member, /* left.name */
	E_tuple,  /* (args) */
	E_type,	  /* f32[B, D@X] or [B, D@X], as an argument */
} ExprKind;

struct Expr {
	ExprKind kind;
	Range range;
	int depth;	  /* of the tree below, at most MAX_NESTING */
	const char *name; /* name, member; the text of a string */
	Range name_range; /* of a member's name */
	int64_t integer;  /* int; bool */
	double real;
	bool single_quoted;
	Operator op;
	Expr *left, *right;
	List args;   /* call, cast: Arg; tuple: Expr; index: Index */
	DType dtype; /* cast */
	TypeSpec *type;
};

typedef struct Arg {
	Name name; /* .s NULL: positional */
	Expr *value;
	Range range;
} Arg;

typedef enum IndexKind {
	INDEX_at,    /* x[start] */
	INDEX_range, /* x[start:stop:step], each may be NULL */
	INDEX_new,
	INDEX_ellipsis,
} IndexKind;

typedef struct Index {
	IndexKind kind;
	Expr *start, *stop, *step;
	Range range;
} Index;

typedef struct AxisSpec { /* X or X:(pre)size */
	Name name;
	bool sub;
	int64_t pre, size;
	Range range;
} AxisSpec;

typedef struct LaidAxis { /* X=(y, z:(2)2) in a layout */
	Name name;
	List parts; /* AxisSpec: of physical axes */
	Range range;
} LaidAxis;

typedef struct DimSpec { /* B@(X,?)!1 pad */
	Range range;
	Expr *size; /* NULL: `_` */
	bool placed, open;
	List axes; /* AxisSpec */
	int64_t priority;
	Range priority_range; /* file 0: not written */
	bool pad;
	Range pad_range;
} DimSpec;

struct TypeSpec {
	Range range;
	Name name; /* a declared type; .s NULL: written out */
	bool has_dtype;
	DType dtype;
	bool has_dims;
	List dims; /* DimSpec */
	Range dims_range;
	bool open;	      /* @? */
	bool replicated;      /* with no axes: none may be used */
	List replicated_axes; /* AxisSpec */
	bool unreduced;
	List unreduced_axes; /* AxisSpec; the last may name a combiner */
	Range unreduced_range;
};

typedef enum StmtKind {
	S_let,
	S_var,
	S_assign,
	S_for,
	S_while,
	S_if,
	S_return,
	S_expect,
	S_expr,
	S_lost, /* a statement that could not be read */
} StmtKind;

typedef struct Param {	/* also a result and the target of a let */
	Name name;	/* .s NULL: an unnamed result, or `_` */
	TypeSpec *type; /* NULL: not written */
	Range range;
	bool lost; /* what stands behind the name could not be read */
} Param;

struct Stmt {
	StmtKind kind;
	Range range;
	Range word; /* "for", "while", ... */
	int depth;
	List targets;	/* let, var: Param; for: Param */
	bool tuple;	/* let (a, b) = ...; for (a, b) in ... */
	Expr *target;	/* assign, expect */
	TypeSpec *type; /* expect */
	Expr *value;	/* let, var, assign, expr; for: what is scanned;
				   while, if: the condition */
	Expr *stop;	/* for: of value..stop */
	Name index;	/* for i, w in ... */
	bool unroll;
	List values;	      /* return: Expr */
	List body, otherwise; /* Stmt */
};

typedef enum FnMode { FN_auto, FN_explicit, FN_manual, FN_extern } FnMode;

typedef struct FnDecl {
	Name name;
	FnMode mode;
	Range mode_range;
	List manual_axes; /* AxisSpec; none: every axis */
	List params;	  /* Param */
	bool has_results;
	List results; /* Param */
	Range results_range;
	Name same_as;		    /* the function that it must equal; .s NULL: none */
	Name gradient;		    /* the function that gives its gradient; likewise */
	bool checkpoint;	    /* its gradient computes it once more */
	List body;		    /* Stmt */
	Range end;		    /* the closing brace */
	bool unclosed;		    /* ... is missing, or one of a block in it */
	Name symbol, library, rule; /* of extern */
	Range range;		    /* of the signature */
	bool lost;		    /* ... of which a part could not be read */
} FnDecl;

typedef enum DeclKind {
	DECL_mesh,
	DECL_dim,
	DECL_type,
	DECL_import,
	DECL_fn,
} DeclKind;

typedef struct Decl {
	DeclKind kind;
	Range range;
	Name name;   /* dim, type; import: the path */
	Expr *value; /* dim */
	TypeSpec *type;
	List axes;   /* mesh: Decl with kind DECL_dim */
	Name target; /* mesh ... on "target" */
	List layout; /* mesh ... layout (...): LaidAxis */
	FnDecl *fn;
} Decl;

/* What a declaration that could not be read may have declared. */
typedef enum Lost {
	LOST_axes = 1,
	LOST_names = 2, /* dims and types */
	LOST_functions = 4,
	LOST_any = 7,
} Lost;

typedef struct Program {
	List items;    /* Decl */
	bool right;    /* nothing is wrong with the text */
	bool whole;    /* ... or what is here is as it was meant, but for what is E_error or
			  S_lost */
	unsigned lost; /* Lost: what is not here */
} Program;

typedef enum ListPart {
	LIST_none,
	LIST_item,  /* [a, ...] where a value stands */
	LIST_tuple, /* [(a, ...), ...] */
} ListPart;

/* What the scanner and the parser share while they read one file. */
typedef struct Parser {
	Session *session;
	int file;
	int offset, line;	/* of the next byte */
	bool too_deep;		/* reported: one message is enough */
	DiagCode code;		/* of syntax errors */
	bool skipped;		/* text was reported and left out */
	int lambda;		/* the line of the last `|a|` */
	bool lost;		/* skipping what cannot be read (recover.c) */
	const char *head;	/* the alias of the first token of the declaration */
	const char *inner;	/* the alias of the innermost open bracket, or NULL */
	ListPart list;		/* where in the list of another language the next token is */
	Range latest, previous; /* the last match; the token before it */
	Range comment;		/* the C comment being read */
	Range slashes;		/* the last // with code before it */
	bool unclosed;		/* a block of this function has no } */
	bool part_lost;		/* ... of its signature could not be read */
	bool slashes_told;	/* one was taken for a division */
	bool guessed;		/* a bracket of this statement was put in or left out */
	int nguesses, *guesses; /* where, in all statements, upwards */
	Program *program;
} Parser;

/* grammar/shd.y: the code of diagnostics is `code`. */
Program *parse_file(Session *s, int file, DiagCode code);

/* tree.c: nodes that are more than their parts */
List list_none(void);
List list_one(Parser *p, void *item);
List list_add(Parser *p, List l, void *item);
List list_join(Parser *p, List l, List more);

/* Its depth is counted; what is nested too deeply is no expression, after a message. */
Expr *expr_new(Parser *p, Expr e);
Expr *expr_binary(Parser *p, Expr *left, Operator op, Expr *right);
Expr *expr_habit(Parser *p, Range r, Range at, const char *hint);

DimSpec *dim_placed(Parser *p, DimSpec *dim, Range r, Range at, List axes, bool open);
DimSpec *dim_priority(Parser *p, DimSpec *dim, Range r, Range at, int64_t priority);
DimSpec *dim_pad(Parser *p, DimSpec *dim, Range r, Range at);
TypeSpec *type_open(TypeSpec *type, Range r);
TypeSpec *type_misplaced(Parser *p, TypeSpec *type, Range at);
TypeSpec *type_replicated(Parser *p, TypeSpec *type, Range r, Range at, List axes);
TypeSpec *type_unreduced(Parser *p, TypeSpec *type, Range r, Range at, List axes);

Stmt *stmt_new(Parser *p, Stmt s);
Stmt *stmt_assign(Parser *p, Range r, Expr *target, Expr *value);
Stmt *for_head(Stmt *bound, Range word, bool unroll, Name index);
Stmt *stmt_for(Parser *p, Stmt *head, Range r, Expr *value, Expr *stop, List body);

FnDecl *fn_signature(Parser *p, FnDecl fn);
FnDecl *fn_body(Parser *p, FnDecl *fn, Name same_as, Name gradient, List body, Range block);
FnDecl *fn_extern(FnDecl *fn, Name symbol, Name library, Name rule, Name gradient);
Decl *decl_checkpoint(Decl *d);
Decl *decl_mode(Decl *d, Range r, FnMode mode, List axes);

/* tree_print.c: an expression, with all its parentheses; the tree of a file as text,
   false after diagnostics. */
const char *tree_text(Arena *a, const Expr *x);
bool tree_print(Session *s, int file, Text *t);

#endif

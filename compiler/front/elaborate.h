/*
 * elaborate.h - what the files of front/ share.
 *
 * Elaboration walks the tree of the entry and appends ops to a block:
 *
 *   let h = relu(x) * 0.5;
 *
 *     expression   Item                  ops appended
 *     x            tensor f32[8,4]
 *     relu(x)      tensor f32[8,4]       constant, broadcast, maximum
 *     0.5          number 0.5            (none: it has no dtype yet)
 *     ... * 0.5    tensor f32[8,4]       constant, broadcast, multiply
 *     let h        Symbol h -> tensor    (the multiply is renamed "h")
 *
 * Calls are inlined: each is a Frame with its own names.  An Item of kind
 * IT_error, and a NULL Value, stand for what was reported already; whoever
 * meets one passes it on silently.
 *
 * The bodies of loops and branches are blocks of their own, which see nothing
 * of what is around them.  A value from outside becomes a parameter where it
 * is used first: enter(), by which ops.c makes ops, asks the Region for it.
 */
#ifndef SHDC_ELABORATE_H
#define SHDC_ELABORATE_H

#include "tree.h"
#include "front/front.h"
#include "ir/einsum.h"
#include "ir/targets.h"

enum {
	MAX_INLINING = 100,   /* calls inside calls */
	MAX_DEPTH = 1000,     /* expressions in expressions, calls included */
	MAX_OPS = 1000000,    /* of a module */
	MAX_CALLS = 100000,   /* inlined in a program */
	MAX_STEPS = 20000000, /* expressions evaluated, also in calls */
	MAX_PARAMS = 12,      /* of a built-in function */
	MAX_IMPORTS = 10000,
};

typedef enum ItemKind {
	IT_error,
	IT_absent, /* an optional argument that was left out */
	IT_tensor,
	IT_int, /* known at compile time, no dtype yet */
	IT_float,
	IT_bool,
	IT_string,
	IT_tuple,
	IT_type, /* a type, as an argument */
	IT_axis, /* a mesh axis, as an argument */
} ItemKind;

typedef struct Item {
	ItemKind kind;
	Range range;		 /* the expression */
	Value *value;		 /* tensor */
	int64_t integer;	 /* int; bool; axis: its number */
	double real;		 /* float */
	const Expr *literal;	 /* string */
	struct Annotation *type; /* type */
	int n;			 /* tuple */
	struct Item *items;
} Item;

/* What a new op says about where it comes from. */
typedef struct Site {
	Range range;
	const char *label;
	OpForm form;
} Site;

typedef enum SymbolKind { SYM_axis, SYM_dim, SYM_type, SYM_value } SymbolKind;

typedef struct Symbol {
	SymbolKind kind;
	const char *name;
	Range range;
	Item item;	      /* dim, value, axis */
	const TypeSpec *type; /* type; of a var as it is declared, or NULL */
	bool is_var, used;
	const char *as; /* of a value that nobody declares with let or var: "a parameter" */
	struct Symbol *hidden; /* what had the name, when it is bound a second time */
	int named;	       /* of a var: its place in module.named, or -1 */
} Symbol;

/* A loop or a branch whose bodies are being built. */
typedef struct Region {
	struct Region *outer;
	Op *op; /* not yet in the block around it */
	Block *around;
	int ncaptured;
	Value **captured; /* values of blocks further out */
} Region;

/* A manual function whose body is being built. */
typedef struct Manual {
	Op *op; /* not yet in the block around it */
	const FnDecl *fn;
	struct Manual *outer; /* manual along other axes; or NULL */
	AxisList along;	      /* its axes, and those of all outer */
	Block *around;
	Region *region; /* around that block */
	OpMode mode;	/* ... and its ops' */
	bool whole;	/* `along` is every axis of the mesh */
} Manual;

/* A function of the program. */
typedef struct Function {
	FnDecl *decl;
	int instances;	     /* calls inlined so far */
	bool active;	     /* being inlined: a call would be recursion */
	bool backward;	     /* the function that gives its gradient is */
	bool gives_gradient; /* that of another, whose type says what it takes */
} Function;

/* One call being inlined; the outermost is the entry. */
typedef struct Frame {
	FnDecl *fn;
	struct Frame *caller;
	Range call;
	Table *names;	  /* Symbol; NULL: its block has ended */
	Symbol **symbols; /* every one, in order */
	int nsymbols;
	const char *prefix; /* of names in the module: "ffn.2.", "" */
	int depth;
	bool is_entry;
	bool unlisted; /* its names do not go to module.named */
	bool repeated; /* a copy of an unrolled body, not the first */
	bool prelude;  /* ops take `site`, globals are not seen */
	Site site;
	bool misplaced; /* a function was called that is for manual ones, or for others */
	Table *unbound; /* names that are assigned and were never bound, which is told */
	bool early;	/* a loop or a branch returns, and that was told */
	bool lost;	/* one of its statements so far could not be read: what is bound
		      and assigned there is not known */
} Frame;

/* A type as written, worked out.  Sizes of `_` are 0. */
typedef struct Annotation {
	const TypeSpec *spec;
	Range range;
	bool has_dtype, has_dims;
	DType dtype;
	int rank;
	int64_t dims[MAX_RANK];
	const DimSpec *dim_specs[MAX_RANK];
	bool placed;	     /* says something about placement */
	Placement placement; /* if has_dims */
} Annotation;

typedef struct Elab {
	Session *session;
	Arena *arena;
	Module *m;
	const FrontOptions *options;
	Table *globals;	  /* Symbol */
	Table *functions; /* Function */
	Table *prelude;	  /* FnDecl */
	Table *products;  /* labels.c: calls, and the lines they stand in */
	Table *product_lines;
	const struct Formals **formals; /* of built-in functions, once read */
	Block *block;			/* where ops go */
	Region *region;			/* around that block, or NULL */
	OpMode mode;			/* of the ops; plain functions have the caller's */
	Manual *manual;			/* tensors are those of a device; or NULL */
	bool uncalled;			/* a function manual along some axes, which
				   might be called by one manual along others */
	Frame *frame;			/* NULL at the top level */
	Range mesh_range;		/* file 0: no mesh yet */
	const char *resized; /* the option by which an axis has another size than in the file */
	bool on_command_line; /* messages are about options: DIAG_usage */
	int depth;	      /* of eval(), to bound the stack */
	int nops, nsteps, ncalls;
	int checkpoints;    /* functions being built that are computed once more */
	int differentiated; /* functions being built that a gradient is taken of */
	bool too_large;	    /* reported */
	bool repaired;	    /* the text was wrong, and is read as it may have been meant */
	unsigned lost;	    /* Lost: declarations that could not be read, or are wrong */
} Elab;

/* messages.c: with the chain of calls they happened in; NULL, which is false */
void *complain(Elab *e, DiagCode code, Range where, const char *fmt, ...) PRINTF_LIKE(4, 5);
const char *show_type(Elab *e, const Type *type);
const char *show_item(Elab *e, const Item *item);     /* "f32[8,4]", "a number" */
const char *show_axes(Elab *e, const AxisList *axes); /* "X,Y" */
/* "did you mean ...?" of the message begun last, if a name is near */
void suggest(Elab *e, const char *name, const char *const *names, int n);
/* What other languages call something, and what to write here. */
typedef struct Habit {
	const char *theirs, *ours;
} Habit;
const char *habit_of(const Habit *habits, size_t n, const char *name);
#define HABIT(habits, name) habit_of(habits, sizeof habits / sizeof *habits, name)

/* imports.c: the items of a file and of what it imports; false, after messages, when
   some are missing, but for those that could not be read */
bool load_items(Session *s, int file, const FrontOptions *options, List *items, unsigned *lost);
/* The file's name without directory and suffix. */
const char *module_name(Session *s, int file);

/* names.c */
Symbol *symbol_find(Elab *e, const char *name);
/* A name that is taken is told.  A value has its name from there on, anything else
   does not: NULL. */
Symbol *symbol_declare(Elab *e, SymbolKind kind, Name name);
/* ... of a value that is known, to say how it may be bound. */
Symbol *symbol_bind(Elab *e, SymbolKind kind, Name name, const Item *item);
/* ... and where it was, and how to assign again what is no var. */
void note_bound(Elab *e, const Symbol *symbol);
/* An axis of a mesh that could not be read; nothing is known of it. */
void declare_lost_axis(Elab *e, Name name);
bool is_axis(Elab *e, const char *name);
/* Of the function being elaborated; NULL if there is none. */
Symbol *symbol_local(Elab *e, const char *name);
/* What was declared since the frame had `scope` symbols is not seen any more. */
void scope_leave(Elab *e, int scope);
void symbols_warn_unused(Elab *e, const Frame *frame);
/* x, of a module that is none: jax.lax.scan. */
void report_unknown_member(Elab *e, const Expr *module, const Expr *x);
void report_unknown_name(Elab *e, Range where, const char *name);
void report_none(Elab *e, Range where);
void report_unknown_function(Elab *e, Range where, const char *name);
const char *dtype_habit(const char *name); /* "float32" -> "f32" */
bool is_habit(const char *name);	   /* what is a word elsewhere: break, None, np */
/* Names a value that has no name from the program yet: "ffn.2.h". */
void give_name(Elab *e, Name name, Value *v);
/* ... and lists it in module.named: its place there, or -1. */
int name_value(Elab *e, Name name, Untyped untyped, Value *v);

/* items.c: compile-time values, and tensors from them */
extern const Item item_error; /* what is wrong was told */
Item item_int(Range r, int64_t v);
Item item_float(Range r, double v);
Item item_bool(Range r, bool v);
Item item_tensor(Range r, Value *v); /* IT_error if v is NULL */
Item item_tuple(Elab *e, Range r, int n, const Item *items);
bool item_is_number(const Item *item); /* int, float or bool */
double item_double(const Item *item);
/* A scalar constant of a dtype; NULL after a message when it does not fit. */
Value *item_constant(Elab *e, Site stmt, DType dtype, const Item *item);
/* The item; a number as a constant of the dtype. */
Item item_typed(Elab *e, Site stmt, DType dtype, Item item);

/* operators.c */
Item apply_operator(Elab *e, Range r, Operator op, int n, const Item *items);
/* Tensors of one dtype, which literals take; false after a message. */
bool to_tensors(Elab *e, Site stmt, int n, const Item *items, Value **v);
/* A pointwise op with numpy's broadcasting. */
Item apply_pointwise(Elab *e, Site stmt, OpKind kind, int n, const Item *items);

/* ops.c: appending ops */
/* Counts a step of the work; true, after a message, when it is too much. */
bool exceeds(Elab *e, Range where, int *count, int most, const char *what);
/* Where the ops of a site go, and what they say of where they come from.  One
   that is wrong is told to the user. */
Make at(Elab *e, Site stmt);
/* Where operands are written, for messages: of what was added to the block
   after `before`, what is an item, if whoever made the op has not said so; the
   prelude's are nobody's. */
bool notes_operands(const Elab *e);
void note_operands(Elab *e, const Op *before, int n, const Item *items);
/* The value, placed as annotated; by a move, if one was asked for. */
Value *emit_placed(Elab *e, Site stmt, Value *v, const Annotation *a, bool asked);
/* Of one dtype, and numpy would make it of that shape. */
bool broadcasts_to(const Type *x, const Type *shape);
/* The shape becomes that of both, if they have a common one. */
bool broadcast_shapes(Type *shape, const Type *type);
/* The common shape of n tensors; false after a message. */
bool broadcast_shape(Elab *e, Range where, int n, Value *const *x, Type *shape);
/* ... that are these items; what would make it one is told. */
bool operand_shape(Elab *e, Site s, int n, const Item *items, Value *const *v, Type *shape);

/* labels.c: a call that is a product is noted; at the end those that one line has several
   of are labelled by their operands, too */
void note_product(Elab *e, Site s, int n, const Item *items);
void label_products(Elab *e);

/* annotations.c */
/* Of a type that is not written, placed nowhere. */
Annotation *annotation_of(Elab *e, Range r, const Type *type);
/* Takes sizes and dtype left open from `type`, checks the others. */
bool annotation_unify(Elab *e, Annotation *a, const Type *type, Range where, DiagCode code,
	const char *what);
/* Every size and the dtype are written; the type itself.  What it describes, for messages, or
   NULL. */
bool annotation_type(Elab *e, const Annotation *a, const char *what, Type *type);
/* What can be said of a placement once sizes and dtype are known. */
bool annotation_check(Elab *e, const Annotation *a, const char *what);
/* The value, a literal in the dtype of the annotation, if that is its type;
   NULL after a message. */
Value *
annotation_fit(Elab *e, Site stmt, Annotation *a, Item *item, DiagCode code, const char *what);

/* types.c */
/* f32[B, D@X], or the name of one that is declared; not [B, D]. */
static inline bool
has_full_type(const Param *param)
{
	return param->type != NULL && (param->type->name.s != NULL || param->type->has_dtype);
}

/* The b of f32[b, d], if nothing of that name is declared; else NULL. */
const Expr *undeclared_size(Elab *e, const TypeSpec *type, int dim);
bool axis_resolve(Elab *e, const AxisSpec *spec, AxisRef *axis);
bool annotation_resolve(Elab *e, const TypeSpec *spec, Annotation *a);
/* The value as annotated: checked, and placed if that was written; exactly:
   where nothing is written, it is whole. */
Value *annotation_apply(Elab *e, Site stmt, const TypeSpec *spec, bool exactly, Item *item,
	DiagCode code, const char *what);

/* expressions.c */
Item eval(Elab *e, const Expr *x);	 /* anything */
Item eval_value(Elab *e, const Expr *x); /* tensor, number or tuple */
/* What stands in the brackets of x[...]; what is left out is IT_absent. */
typedef struct IndexItem {
	const Index *written;
	Item start, stop, step;
} IndexItem;
IndexItem *eval_indices(Elab *e, const Expr *x);
bool eval_size(Elab *e, const Expr *x, int64_t *size);

/* indexing.c */
Item index_item(Elab *e, const Expr *x, const IndexItem *indices, const Item *from);
/* `whole` with its part x[...] replaced; NULL after a message. */
Value *
update_part(Elab *e, const Expr *x, const IndexItem *indices, Value *whole, const Item *part);
/* x[i]: i a number or a scalar */
Item index_first(Elab *e, const Item *item, const Item *i);

/* calls.c */
Item eval_call(Elab *e, const Expr *x);
/* closed.c: an op whose bodies see the tensors among its arguments alone */
Op *closed_begin(Elab *e, Site s, OpKind kind, int n, const Item *args);
/* Its next body, in which the block being built is from here on; the arguments of fn in
   it. */
void closed_body(Elab *e, Op *op, const FnDecl *fn, const Item *args, Item *inner);
/* What the body returns: a tensor, or a tuple of them; false after a message. */
bool closed_return(Elab *e, Site s, const Item *result);
/* The op, in the block being built: what its first body returns. */
Item closed_end(Elab *e, Site s, Op *op);

/* gradients.c */
/* Whether the function that `fn` names as its gradient can be that. */
void check_gradient_of(Elab *e, FnDecl *fn);
/* Of the function that gives its gradient; false: that was told where fn is declared. */
bool check_gradient_count(Elab *e, const FnDecl *fn, int least, int most);
typedef enum GradientForm { FORM_grad, FORM_value, FORM_vjp } GradientForm;
typedef struct Gradient { /* grad(f, wrt=(W))(x, W) */
	Elab *elab;
	GradientForm form;
	const Expr *maker, *call; /* grad(...); ...(x, W) */
	Site site;
	Function *function;
	Item *args;	  /* in the order of the parameters; then as the body sees them */
	Item *cotangents; /* of vjp */
	int ncotangents;
	int nwrt;
	int *wrt;      /* parameters */
	bool *taken;   /* by parameter: it is one of them */
	Op *op;	       /* not ended yet */
	Block *around; /* where it will be */
} Gradient;
/* grad(f) of grad(f)(x), the call x; NULL: it is no gradient. */
const Expr *gradient_maker(const Expr *x);
/* Of how many values that is, which were given other names; of others nothing. */
void gradient_note(Elab *e, const Expr *x);
/* Three steps, false or an error after a message: which function; then, args and
   cotangents evaluated, the body is begun; then, the function's ops in it, the end. */
bool gradient_begin(Gradient *g, Elab *e, const Expr *x, const Expr *maker);
bool gradient_open(Gradient *g);
Item gradient_close(Gradient *g, Item result);
/* True, after a message: grad(f) that is not called. */
bool gradient_unapplied(Elab *e, const Expr *x, const char *name);

/* mesh.c */
/* Of a dim or an axis; as the command line says, if it does. */
bool declared_size(Elab *e, const Decl *d, bool is_axis, int64_t *size);
void count_tokens(Elab *e); /* once all dims are known */
void declare_mesh(Elab *e, const Decl *d);

/* target.c: false after a message.  A topology that does not fit a mesh that was resized
   is dropped. */
bool set_target(Elab *e, Range where, const char *text, const char *resized);
/* layout.c */
/* Of a list that is not empty: from its first axis to its last. */
Range layout_range(List written);
void declare_layout(Elab *e, const Decl *mesh);

/* declarations.c */
void declare_all(Elab *e, List items, int file);

/* statements.c */
/* The statements of a function; the returned items. */
bool run_body(Elab *e, FnDecl *fn, int *n, Item **results);
void run_block(Elab *e, List body);
/* Binds one name of a let, or of a loop, to an item. */
void bind(Elab *e, const Stmt *stmt, const Param *target, Item item);
Symbol *assigned_var(Elab *e, const Expr *target);
void assign_var(Elab *e, Symbol *var, Range where, Range from, Value *v);

/* control.c */
void run_for(Elab *e, const Stmt *stmt);
void run_while(Elab *e, const Stmt *stmt);
void run_if(Elab *e, const Stmt *stmt);

/* region.c */
void region_begin(Elab *e, Region *r, Op *op, int nbodies);
void region_end(Elab *e, const Region *r);
/* The value as the block being built sees it. */
Value *region_value(Elab *e, Value *v);
/* Is `here` that value already? */
bool region_sees(const Elab *e, const Value *v, const Value *here);
/* The params that hold captured value `i`: the last of each body but those
   captured later. */
Value *captured_param(const Region *r, const Block *body, int i);
void end_body(Elab *e, const Op *op, Block *body, int n, const Item *items);

/* manual.c */
/* The body on each device; args are whole, and bound to the parameters'
   names.  False after a message. */
bool run_manual(Elab *e, FnDecl *fn, Range where, Value *const *args, int *n, Item **results);
Item call_manual(Elab *e, FnDecl *fn, const Item *args, Range call);
/* Called in the body of another one: along other axes only. */
bool may_nest(Elab *e, const FnDecl *fn, Range call);
/* Of a tensor in its body: along automatic axes, if any. */
bool check_manual_placement(Elab *e, const Annotation *a);

/* reference.c: whether there is a function that `fn` may be the same as */
void check_same_as(Elab *e, const FnDecl *fn);
/* Functions that are the same as others become calls of those; whether there are any. */
bool replace_by_references(Elab *e);

/* extern.c: whether the rule fits the signature, as far as that says */
void check_extern(Elab *e, const FnDecl *fn);

#endif

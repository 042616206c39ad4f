/*
 * builtins.h - built-in functions: their table, and calls of them.
 *
 *   split(x, 2, dim=-1)     "x:tensor, n:int, dim:dim(x)=0"
 *
 *     items   x, 2, -1      in the order of the signature, defaults filled in
 *     args    x, 2, 1       checked as parameters.def says: a builder reads
 *                           a[2].dim, and makes ops
 *
 * A builder evaluates nothing and looks at no syntax.
 */
#ifndef SHDC_BUILTINS_H
#define SHDC_BUILTINS_H

#include "front/elaborate.h"

typedef enum ParamType {
#define PARAM_TYPE(name, reader, absent, wanted) PARAM_##name,
#include "parameters.def"
} ParamType;

typedef struct Formal { /* a parameter */
	const char *name;
	ParamType type;
	int of; /* the parameter that x is in dim(x), or -1 */
	bool required, rest, or_number;
	Item value; /* the default; IT_absent: none */
} Formal;

typedef struct Formals {
	int n;
	Formal v[MAX_PARAMS];
} Formals;

/* A checked argument; what it has depends on the parameter's type. */
typedef struct Argument {
	const Formal *formal;
	Item *item;
	struct Argument *of; /* x of dim(x), or NULL */
	Range range;
	bool given; /* by the program, or a default */
	union {
		Value *tensor;	 /* every type that is one; NULL: a number, where that may be */
		int64_t integer; /* int, flag */
		int dim;
		struct { /* dims, order, lengths */
			int n;
			int64_t v[MAX_RANK];
		} dims;
		struct {
			int64_t low[MAX_RANK], high[MAX_RANK], inner[MAX_RANK];
		} widths;
		Value *starts[MAX_RANK];
		struct {
			int n;
			Value **v;
		} tensors;
		struct { /* type, dtype, sizes, placement */
			Annotation written;
			Type type; /* of `type` */
		};
		const char *text;
		Value *key[2];
		AxisList axes;
		int64_t *source; /* of pairs: who sends to device i; -1: nobody */
	};
} Argument;

typedef struct Call { /* of a built-in function */
	Elab *elab;
	const struct Builtin *builtin;
	const Formals *formals;
	Site site;
	Make make;
	int nitems;
	Item items[MAX_PARAMS];
	int nrest; /* of the `...` parameter */
	Item *rest;
	Range placement; /* `, out=[8@X]`: that argument, and a comma beside it */
	/* what a builder that gives NULL may leave behind */
	Item result;	     /* no tensor */
	const char *prelude; /* a function of the prelude to call with `items` */
	bool composite;
	/* ... and any: the dtype and the placement of the result */
	const Annotation *as;
} Call;

/* The result; NULL after a message. */
typedef Value *Builder(Call *c, const Argument *a);

typedef enum BuiltinPlace { /* where it may be called */
	PLACE_everywhere,
	PLACE_internal,	  /* in the prelude only */
	PLACE_global,	  /* not in manual functions */
	PLACE_manual,	  /* in those only */
	PLACE_checkpoint, /* in checkpoint functions only */
} BuiltinPlace;

typedef struct Builtin {
	const char *name, *signature;
	Builder *build;
	int detail; /* an OpKind, a Combiner, ... */
	BuiltinPlace place;
	const char *doc; /* NULL: the op's */
} Builtin;

/* builtins.c */
const Builtin *builtin_find(const char *name);
extern const Builtin builtins[];
extern const int nbuiltins;
/* May it be called here, and to which parameter goes each argument?  False after
   a message. */
bool builtin_match(Call *c, const Expr *call, int *at);
/* Is it an argument of another language, of which nothing is written here?  NULL has none. */
bool builtin_leaves_out(Elab *e, const Builtin *b, const Arg *arg);
/* From the items to ops. */
Value *builtin_build(Call *c);

/* arguments.c: false after a message */
bool read_arguments(Call *c, Argument *args);
/* A message unless its type's kind of items is `right`. */
bool has_kind(Call *c, const Argument *a, bool right);
/* The type that x of dim(x) is. */
const Type *referent(const Argument *a);

/* arguments.c and dims.c: check the item of an argument, which is there unless the
   table reads absent ones, and give the argument its value */
typedef bool Reader(Call *c, Argument *a);
#define PARAM_TYPE(name, reader, absent, wanted) Reader arg_##reader;
#include "parameters.def"

/* dims.c */
bool normalize_dim(Elab *e, Range where, int64_t dim, int rank, int *result);
/* Its positions are i32. */
bool check_counted(Call *c, Range where, const Type *type, int dim);
/* There is room in the result for one more dim than the type has. */
bool has_room(Call *c, const Type *type);
bool is_pair(const Item *item); /* (1, 2): two integers */

/* reductions.c: the mean of n numbers, of their sum, which may be NULL */
Value *divide_by_count(Call *c, Value *total, int64_t n);

/* The builders of the table. */
#define POINTWISE(...)
#define OTHER(...)
#define BUILTIN(name, signature, builder, ...) Builder build_##builder;
#include "builtins.def"
#undef BUILTIN
#undef POINTWISE
#undef OTHER
Builder build_pointwise;

#endif

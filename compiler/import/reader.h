/*
 * reader.h - the walk through the tree of a JAX program.
 *
 *   %1 = stablehlo.tanh %0       a row of ops.def: import_op_pointwise(in, op, O_tanh)
 *     in->operands[0]              the module's value of %0
 *     in->results[0]               is set to that of %1
 */
#ifndef SHDC_READER_H
#define SHDC_READER_H

#include "import/import.h"
#include "ir/make.h"
#include "mlir_tree.h"

enum {
	MAX_CALLS = 200,	/* in each other */
	MAX_IMPORTED = 250000,	/* ops of a module, after inlining */
	MOST_ENDS = 64,		/* of digits of a device's number */
	MAX_LITERALS = 1 << 20, /* elements of an array constant */
	MAX_HOPS = 1000,	/* from a location to the frame that is shown */
	LONGEST_LINE = 1 << 12, /* of Python that is not there to be read */
};

/* The names of a function or a region; regions see those around them. */
typedef struct Scope {
	Table *names; /* Defined */
	struct Scope *outer;
} Scope;

typedef struct Defined {
	Value **values;
	int n;
} Defined;

/* Where functions that are inlined were called. */
typedef struct Caller {
	const MlirPlace *place;
	const struct Caller *outer;
} Caller;

typedef enum Lack {
	LACK_op,
	LACK_formula, /* it is planned all the same */
	LACK_result,  /* it is left out */
} Lack;

/* An op without a counterpart, at one line. */
typedef struct Missing {
	const char *what;
	Range range;
	int n;
	Lack lack;
} Missing;

typedef struct Import Import;
typedef struct Asked Asked;
typedef bool Builder(Import *in, const MlirOp *op, int detail);

/* Of each element those at its place alone, or not so. */
typedef enum Reach { EACH, WHOLE } Reach;

typedef struct ImportRow {
	const char *name;
	Builder *build;
	int detail;
	Reach reach;
} ImportRow;

struct Import {
	Session *session;
	Arena *arena;
	const MlirProgram *program;
	Module *module;
	Table *rows;		 /* of ops.def, by name */
	Table *functions;	 /* by name: const MlirOp */
	Table *named;		 /* arguments and results, as the program calls them */
	Table *called;		 /* ... those that main needs */
	Table *axes;		 /* what we call them, by the names in the text */
	Table *meshes;		 /* of the text, by name: const MlirOp */
	const MlirAttr *mesh;	 /* the module's, with axes of size 1; or NULL */
	const MlirAttr *tiled;	 /* the first placement without names, if the mesh is of such */
	int64_t ends[MOST_ENDS]; /* 1 = ends[0] < ...: its axes lie between */
	int nends;
	Block *block; /* at the end of which ops go */
	Scope *scope;
	const Caller *caller;
	AxisList manual; /* the axes of the manual regions around */
	Mesh written;	 /* the module's, with the sizes of the text */
	bool resized;	 /* an axis has another size than in the text */
	int nops;
	int errors; /* told before anything was read */
	Table *missing;
	Table *groups; /* values that are placed alike: manual.c */
	int parts;     /* their parts are looked at, each by itself */
	bool (*complex)(Import *in, const MlirOp *op, const ImportRow *row, bool *right);
	const Type *lifted; /* a region of scalars is of tensors of this shape; or NULL */
	Value *expression;  /* the last that a line of Python can place */
	Asked *asked;	    /* --place */
	int nasked;
	const char *explain; /* what is called so gets its name */
	Table *names;	     /* of all that it could be about */
	Table *used;	     /* functions of Python: names.c */
	Table *paths;	     /* of arguments and results, with dots: "" is of several */
	/* of the op that is being built */
	int noperands;
	Value **operands;
	Value **results;
	Make make;
};

/* ---- read.c */
/* What is returned of a block whose parameters are these; NULL after a message. */
Value **read_block(Import *in, const MlirBlock *block, Value *const *args, int *n);
/* Does it return values? */
bool ends_block(const MlirOp *op);
/* What builds the ops that this one becomes. */
Make make_at(Import *in, const MlirOp *op);
/* A message, unless there is one, of which this would come; and false. */
bool read_wrong(Import *in, Range where, const char *fmt, ...) PRINTF_LIKE(3, 4);
void note_missing(Import *in, const char *what, Lack lack);
/* The op, as it stands here, has no counterpart, and without it the program is another;
   its results are zeros. */
bool read_lacks(Import *in, const MlirOp *op, const char *what);
void scope_bind(Import *in, const char *name, int n, Value **values);
const Defined *scope_find(const Scope *scope, const char *name);
bool type_is_complex(const MlirType *type);
bool type_read(Import *in, const MlirOp *op, const MlirType *from, Type *type);
/* Of result i. */
bool type_result(Import *in, const MlirOp *op, int i, Type *type);

/* ---- verify.c: are names, types and what ops say such as StableHLO wants?  Else a message. */
bool program_is_sound(Import *in);

/* ---- count.c: are there few enough ops when functions are inlined?  Else a message. */
bool program_fits(Import *in);

/* ---- exported.c: ops of CHLO that are written as calls of "mhlo.*" are those ops */
void exported_read(Import *in);

/* ---- empty.c: tokens, and tensors without elements, are taken out; false after a message */
bool empty_drop(Import *in);
/* A token; an empty tuple, as calls of the host return with JAX 0.4.35. */
bool type_is_nothing(const MlirType *type);

/* ---- complex.c: false, where it has no complex numbers, or is the same of these; else
   whether it went well */
bool read_complex(Import *in, const MlirOp *op, const ImportRow *row, bool *right);

/* ---- elements.c: is a memory that of the host? */
bool memory_is_host(const char *kind);

/* ---- opaque.c: an op that has no counterpart; what: as told, NULL is its name */
bool read_opaque(Import *in, const MlirOp *op, const char *what);

/* ---- attributes.c: of an op; a list of numbers, false if there is none */
typedef struct Numbers {
	int n;
	int64_t v[MAX_RANK];
} Numbers;
const MlirAttr *attr_of(Import *in, const MlirOp *op, const char *name);
bool attr_numbers(Import *in, const MlirAttr *attr, Numbers *numbers);
Numbers numbers_of(Import *in, const MlirOp *op, const char *name);
/* ... of a field of #stablehlo.gather<...>; none: n is 0. */
/* Of an attribute with fields; NULL: it has none such. */
const MlirAttr *field_of(Import *in, const MlirAttr *attr, const char *name);
/* Of a gather, a scatter: which dim of the indices is that of vectors; 0: nothing says it. */
int64_t index_vector(Import *in, const MlirAttr *numbers);
Numbers field_numbers(Import *in, const MlirAttr *attr, const char *name);
/* Of each of `n` dims two, 0 where nothing is said; false if they are no such pairs. */
bool pairs_of(Import *in, const MlirOp *op, const char *name, int n, Numbers *first,
	Numbers *second);
int64_t integer_of(Import *in, const MlirOp *op, const char *name, int64_t otherwise);
const char *word_of(Import *in, const MlirOp *op, const char *name);
bool numbers_have(const Numbers *numbers, int64_t v);

/* ---- constants.c: the payloads of a dense<...> */
typedef struct Dense {
	int64_t n;
	int64_t *v; /* payloads */
} Dense;
bool dense_read(Import *in, const MlirAttr *attr, DType dtype, Dense *dense);

/* ---- places.c */
/* Through aliases; NULL: it is none. */
const MlirPlace *place_resolved(Import *in, const MlirPlace *place);
bool place_is_installed(const char *path);
Range frame_range(Import *in, const MlirPlace *frame);
/* The innermost frame outside of installed packages; else where the op stands. */
Range place_range(Import *in, const MlirPlace *place, Range otherwise);
/* The last word of its path: "dot_general"; NULL: it has none. */
const char *place_label(Import *in, const MlirPlace *place);
/* What it names; NULL: nothing. */
const char *place_text(Import *in, const MlirPlace *place);
/* params.layers.wq of "params['layers']['wq']"; NULL: it has no name. */
const char *place_path(Import *in, const MlirPlace *place);
/* Is its innermost frame of the program, and is it what the line makes: no part of what goes
   backward, nor of what vmap() gives a dim that the line has not? */
bool place_is_written(Import *in, const MlirPlace *place);
/* h_0/attn/dot_general:119, without what jit() and jvp() are about; NULL: it has none. */
const char *place_name(Import *in, const MlirPlace *place, Range at);

/* ---- names.c: where an argument that is an operand has its name, for argument_written() */
void names_note(Import *in, const MlirOp *op);

/* ---- shardings.c; false after a message */
bool mesh_read(Import *in, const ImportOptions *options);
/* `pair`: the last dim is that of complex numbers, of which the text knows nothing. */
bool sharding_read(Import *in, const MlirAttr *attr, int rank, bool pair, Placement *p);
/* Does the mesh of the text have it? */
bool axis_is_known(Import *in, const char *name);
/* Have they the sizes of the text?  Else a message. */
bool axes_keep_sizes(Import *in, const AxisList *l, Range where);
/* Axes of a mesh of that name (NULL: the module's), without those of size 1. */
bool axes_read(Import *in, const char *mesh, List axes, AxisList *l);

/* ---- tiles.c: placements without names of axes; after a message false, or NULL */
/* in->mesh is one that they are along, if there are any. */
bool tiles_mesh(Import *in);
/* As an MLIR_sharding; dims in `open` are. */
const MlirAttr *tiles_sharding(Import *in, const MlirAttr *attr, int rank, const Numbers *open);
/* {unknown shard_as 0}: placed as others of that group; group[0] is its number. */
bool tiles_group(const MlirAttr *attr, int64_t *group);
/* The axes along which the device is by itself. */
bool tiles_manual(Import *in, const MlirAttr *attr, List *axes);
/* 2,1,4 and what ends it; -1: it is something else. */
int tiles_list(const char **text, int64_t *v, int most);
/* ---- shard_map.c: regions of such text */
bool shard_maps_read(Import *in);

/* ---- asked.c: placements that the command line asks for; false after a message */
bool asked_read(Import *in, const ImportOptions *options);
/* The placement of a value, by this name, if one is asked for: then `annotated` is set. */
bool asked_of(Import *in, const char *name, const Value *v, Placement *p, bool *annotated);
/* What an op has made is placed. */
bool asked_place(Import *in, const MlirOp *op);
/* All of them were about something. */
bool asked_all_met(Import *in);

/* ---- expressions.c: what the op makes may be what an expression of Python does */
void expression_note(Import *in, const MlirOp *op);

/* ---- control.c: do its regions read values of around it? */
bool regions_capture(Import *in, const MlirOp *op);
/* Composites become calls of what they are made of. */
void composites_call(Import *in);

/* ---- lifted.c */
/* What region 0, of scalars and their elements alone, makes of two tensors element by
   element; NULL after a message. */
Value *read_lifted(Import *in, const MlirOp *op, Value *a, Value *b);
/* Is it so, of two of each of so many tensors? */
bool region_lifts(Import *in, const MlirOp *op, int ntensors);
/* The operands, n tensors and what each begins with, reduced over dims by such a region of any
   associative step; false after a message. */
bool reduce_lifted(Import *in, const MlirOp *op, const Numbers *dims);

/* ---- sums.c: regions of one step */
/* The only op of the region that does something, of its two parameters; or NULL. */
const MlirOp *region_step(const MlirOp *op, int region);
/* ... of the last region, as a combiner of operand 0 */
bool region_combiner(Import *in, const MlirOp *op, Combiner *combiner);

#endif

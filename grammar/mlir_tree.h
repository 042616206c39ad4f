/*
 * mlir_tree.h - what JAX lowers a program to, as a tree.
 *
 *   %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
 *   %1 = "stablehlo.transpose"(%0) <{permutation = array<i64: 1, 0>}> : ... loc(#loc4)
 *
 *   MlirOp  stablehlo.transpose
 *     results     %1         types     tensor<3x2xf32>
 *     operands    %0         location  #loc4
 *     attributes  permutation = [1, 0]
 *
 *   %1 = stablehlo.custom_call @f(%0) : (..) -> tuple<tensor<8xf32>, tensor<4xi32>>
 *   %2 = stablehlo.get_tuple_element %1[1] : (..) -> tensor<4xi32>      two results; of %1#1
 *
 * The pretty forms that JAX prints and the generic form give one tree: what a form
 * leaves out of the names of attributes, mlir_forms.def knows.  Nothing here knows what
 * an op means.  Everything lives in the session's arena.
 */
#ifndef SHDC_MLIR_TREE_H
#define SHDC_MLIR_TREE_H

#include "ir/ir.h"
#include "tree.h"

/* tensor<2x3xf32>; of others `element` is all of the text and rank 0. */
typedef struct MlirType {
	const char *element; /* "f32", "ui8", "complex<f32>" */
	bool tensor;
	int rank;
	int64_t dims[MAX_RANK];
} MlirType;

typedef enum MlirKind {
	MLIR_unit, /* a name alone: use_global_device_ids */
	MLIR_integer,
	MLIR_float,
	MLIR_string,
	MLIR_word, /* DEFAULT, true, @symbol without its @ */
	MLIR_list,
	MLIR_pair, /* [1] x [0], of two lists; a third behind -> */
	MLIR_dict,
	MLIR_dense, /* dense<...>: the text between */
	MLIR_type,
	MLIR_function, /* (tensor<2xf32>) -> tensor<3xf32>: a type */
	MLIR_sharding, /* #sdy.sharding<@mesh, [{"x"}, {?}]> */
	MLIR_mesh,     /* #sdy.mesh<["x"=2, "y"=4]> */
	MLIR_alias,    /* #name, to be looked up */
	MLIR_other,    /* of a dialect that is not read: its text */
} MlirKind;

/* "x", or "x":(2)4; a dim's list may end with ? */
typedef struct MlirAxis {
	const char *name;
	int64_t pre, size; /* size 0: all of it; in a mesh the axis' size */
	Range range;
} MlirAxis;

typedef struct MlirDim {
	List axes; /* MlirAxis */
	bool open;
	int priority;
	Range range;
} MlirDim;

typedef struct MlirSharding {
	const char *mesh;
	List dims;		    /* MlirDim */
	List replicated, unreduced; /* MlirAxis */
} MlirSharding;

typedef struct MlirAttr {
	MlirKind kind;
	Range range;
	int64_t integer;
	double real;
	const char *text; /* string, word, dense, alias, other */
	int length;	  /* of it */
	List items;	  /* list, pair: MlirAttr; dict: MlirEntry; mesh: MlirAxis; function:
			     const MlirType of its results */
	List ids;	  /* of a mesh whose devices are not 0, 1, ...: MlirAttr; of
			     a function the types of its parameters */
	const MlirType *type;
	MlirSharding *sharding;
} MlirAttr;

typedef struct MlirEntry {
	const char *name;
	MlirAttr *value;
} MlirEntry;

/* %3#1 is result 1 of %3; of a result, `number` says how many there are: %3:2. */
typedef struct MlirUse {
	const char *name;
	int number;
	Range range;
} MlirUse;

typedef enum MlirPlaceKind {
	PLACE_unknown,
	PLACE_alias,  /* #loc4 */
	PLACE_named,  /* "jit(f)/add"(inner); inner may be missing */
	PLACE_file,   /* "train.py":12:3 to :24 */
	PLACE_called, /* callsite(inner at outer) */
	PLACE_fused,  /* several: the first is inner, the next outer */
} MlirPlaceKind;

typedef struct MlirPlace {
	MlirPlaceKind kind;
	const char *text;
	int line, column, last_line, last_column; /* columns from 0; 0: not said */
	struct MlirPlace *inner, *outer;
} MlirPlace;

typedef struct MlirParam {
	const char *name;
	const MlirType *type;
	List attributes; /* MlirEntry */
	MlirPlace *place;
	Range range;
} MlirParam;

typedef struct MlirBlock {
	List params; /* MlirParam */
	List ops;    /* MlirOp */
	Range range;
} MlirBlock;

typedef struct MlirOp {
	const char *name;
	Range range;	 /* of the name */
	List results;	 /* MlirUse */
	List operands;	 /* MlirUse */
	List attributes; /* MlirEntry */
	List regions;	 /* MlirBlock: each region has one */
	List from;	 /* const MlirType: of its operands, where the form says them */
	List types;	 /* ... of its results, one after the other */
	bool tuple;	 /* they are written as one value, %0[1]; here that is %0#1 */
	MlirPlace *place;
} MlirOp;

typedef struct MlirProgram {
	Session *session;
	MlirOp *module;
	Table *places; /* aliases: MlirPlace */
	Table *values; /* ... MlirAttr */
} MlirProgram;

/* Does the text begin as one? */
bool mlir_begins(const char *text);
/* NULL after a message. */
MlirProgram *mlir_read(Session *s, int file);
/* The attribute of that name, aliases looked up; NULL: there is none. */
const MlirAttr *mlir_attribute(const MlirProgram *program, List attributes, const char *name);

#endif

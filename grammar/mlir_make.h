/*
 * mlir_make.h - what mlir.l and mlir.y call to make the tree (mlir_make.c).
 */
#ifndef SHDC_MLIR_MAKE_H
#define SHDC_MLIR_MAKE_H

#include "mlir_tree.h"

enum { MLIR_DEEPEST = 4000 }; /* the parser's stack: regions in regions, lists in lists */

typedef struct MlirParser {
	Session *session;
	int file;
	MlirProgram *program;
	Table *types;	/* by their text: MlirType */
	Table *aliases; /* where they are defined: Range */
	Table *used;	/* where they are first written: Range */
	bool wrong;	/* something was told that the grammar does not know of */
	/* where the scanner is */
	int line, offset;
	Range other; /* the token that has begun: an attribute that is not read */
	int depth;   /* of < in it */
} MlirParser;

/* What stands between an op's name and its types. */
typedef struct MlirItems {
	List values;  /* MlirUse */
	List loose;   /* MlirAttr: words and values without a name */
	List entries; /* MlirEntry */
} MlirItems;

List mlir_add(MlirParser *parser, List l, void *item);
List mlir_join(MlirParser *parser, List l, List more);
const MlirType *mlir_type(MlirParser *parser, Range r, const char *text);
const MlirType *mlir_element(MlirParser *parser, const char *text);

/* An alias, of a location or an attribute. */
void mlir_define(MlirParser *parser, Table *aliases, const char *name, Range r, void *what);
/* All are defined, and none stands for itself, by way of others; else a message. */
void mlir_check_aliases(MlirParser *parser);
MlirItems mlir_items(MlirParser *parser, MlirItems items, MlirItems more);
MlirItems mlir_loose(MlirParser *parser, MlirAttr *value);
MlirItems mlir_entry(MlirParser *parser, const char *name, MlirAttr *value);
/* %0 [0:4, 0:8:2] */
MlirItems mlir_sliced(MlirParser *parser, MlirUse *value, List ranges);
MlirAttr *mlir_range(MlirParser *parser, Range r, int64_t from, int64_t to, int64_t step);
MlirAttr *mlir_pair(MlirParser *parser, MlirAttr *left, MlirAttr *right);
MlirAttr *mlir_triple(MlirParser *parser, MlirAttr *left, MlirAttr *right, MlirAttr *result);

/* Attributes get the names they have in the generic form. */
MlirOp *mlir_op(MlirParser *parser, const char *name, Range r, const MlirItems *items,
	List attributes, List types);
void mlir_give(MlirParser *parser, MlirOp *op, const char *name, MlirAttr *value);
/* The name of each parameter, then its first value, and so on. */
MlirOp *mlir_while(MlirParser *parser, Range r, List carried, List types, MlirBlock *condition,
	MlirBlock *body);
/* What is reduced, what that begins with, and so on. */
MlirOp *mlir_reduce(MlirParser *parser, Range r, List values, MlirAttr *dims, List types);
/* The types of the operands where only types are written: of all one, of a select its
   condition's and one, of each one; else none. */
List mlir_alike(MlirParser *parser, const MlirOp *op, List types);
/* The region of `applies stablehlo.add`. */
void mlir_applies(MlirParser *parser, MlirOp *op, const char *name);
/* The first, third, ..., then the others. */
List mlir_halves(MlirParser *parser, List params);
MlirOp *mlir_function(MlirParser *parser, Range r, const char *name, List params, List results,
	MlirBlock *body);
/* With what stands before and behind it. */
MlirOp *mlir_finish(MlirParser *parser, MlirOp *op, List results, MlirPlace *place);

int mlir_count(MlirParser *parser, int64_t n, Range r);
int mlir_small(MlirParser *parser, int64_t n, Range r);
/* Has the part of an axis a size? */
void mlir_part(MlirParser *parser, const MlirAxis *axis);
int mlir_priority(MlirParser *parser, const char *text, Range r);

void mlir_wrong(MlirParser *parser, Range r, const char *fmt, ...) PRINTF_LIKE(3, 4);
void mlir_unexpected(MlirParser *parser, Range where, const char *found, int n,
	const char *const *expected);
void mlir_too_deep(MlirParser *parser, Range where);

#endif

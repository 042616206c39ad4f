/*
 * verify.h - is an op of the text one that StableHLO has?
 *
 *   %3 = stablehlo.transpose %0, dims = [0, 0] : ...    dims of verify.def: dim 0 stands twice
 */
#ifndef SHDC_VERIFY_H
#define SHDC_VERIFY_H

#include "import/reader.h"

/* An op, and the types that its operands have where they were defined. */
typedef struct Verified {
	Import *in;
	const MlirOp *op;
	int noperands;
	const MlirType **operands;
} Verified;

/* False after a message. */
typedef bool VerifyRule(const Verified *vd);

/* verify_ops.c: by verify.def; what no row is about is right. */
bool verify_op(const Verified *vd);
/* The text of a type, as messages have it. */
const char *mlir_type_text(Arena *a, const MlirType *type);
bool mlir_types_equal(const MlirType *a, const MlirType *b);
bool mlir_shapes_equal(const MlirType *a, const MlirType *b);

/* Of the op's attributes and results; false after a message. */
typedef enum Order { ANY_ORDER, SORTED } Order;
bool verify_wrong(const Verified *vd, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Each is a dim of a tensor of the rank, none stands twice. */
bool
verify_dims(const Verified *vd, const char *name, const Numbers *dims, int rank, Order order);
bool verify_count(const Verified *vd, const char *name, int n, int wanted);
/* A list of so many; -1: of any. */
bool verify_numbers(const Verified *vd, const char *name, int wanted, Numbers *numbers);
/* The region makes of two scalars of each of n tensors one. */
bool verify_step(const Verified *vd, int region, int n);
bool verify_shape(const Verified *vd, int result, int rank, const int64_t *dims);

/* verify_index.c */
VerifyRule verify_gather, verify_scatter, verify_windows, verify_convolution;

#endif

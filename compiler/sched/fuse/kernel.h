/*
 * kernel.h - the loop nest of a fusion, as it is decided, priced and printed.
 *
 *   Kernel     one loop nest and the expression evaluated in it
 *   Node       one element of one value, at an index affine in the loops
 *
 *   let h = relu(x + b);      loops i0 < 4, i1 < 8
 *                             load x[8 i0 + i1]   load b[i1]
 *                             add, maximum        store h[8 i0 + i1]
 *
 * A kernel that reduces has its reduced loops last; the loops before them
 * are its rows.  One kernel may reduce several times over the same rows
 * (softmax, rms_norm): a node's stage says how many reductions it waits for.
 */
#ifndef SHDC_KERNEL_H
#define SHDC_KERNEL_H

#include "ir/ir.h"

enum {
	MAX_LOOPS = 24,	 /* of one kernel, splits included */
	MAX_NODES = 128, /* where fusion stops */
};

typedef struct Node Node;

/* scale times the (clamped) value of a node: a gathered or computed index */
typedef struct Term {
	Node *at;
	int64_t scale;
	struct Term *next;
} Term;

/* offset + sum of coef[l] * loop l + sum of the terms */
typedef struct Affine {
	int64_t offset;
	int64_t coef[MAX_LOOPS];
	Term *terms;
} Affine;

typedef enum NodeKind {
	NODE_load,     /* element `index` of the buffer of `value` */
	NODE_constant, /* element `index` of `op` */
	NODE_iota,     /* the number `index` */
	NODE_scalar,   /* computed once a run, outside kernels: `value` */
	NODE_compute,  /* the pointwise `op` of the arguments */
	NODE_reduce,   /* argument 0 combined over the inner loops */
	NODE_clamp,    /* argument 0, an integer, into [0, limit] */
	NODE_index,    /* argument 0, an integer: nothing is stored unless it
			   is in [0, limit) */
	NODE_dot,      /* two loads; of a dot step */
} NodeKind;

struct Node {
	NodeKind kind;
	Op *op;	      /* compute, reduce, constant, iota, dot */
	Value *value; /* whose element it is; NULL of a clamp */
	Node *args[3];
	int nargs;
	Affine *index; /* of load, iota and constant; others share one that is
				   all zero */
	int64_t limit; /* clamp, index */
	Node *next;    /* of the kernel; arguments come first */
	/* kernel_finish(): */
	int depth; /* loops it stands in */
	int stage; /* reductions it waits for */
	int cost;  /* rough, of computing it once more */
	int id;	   /* within the kernel, in order */
};

typedef enum LoopGroup {
	LOOP_row,
	LOOP_inner, /* reduced over, or scanned along */
	LOOP_batch,
	LOOP_lhs,
	LOOP_rhs,
	LOOP_contract, /* of a dot */
} LoopGroup;

/* A loop that was split in two counts high * extent[low] + low. */
typedef struct Loop {
	int64_t extent;
	int8_t high, low; /* -1: not split */
	uint8_t group;	  /* LoopGroup; only equal ones may merge */
} Loop;

typedef enum KernelKind {
	KERNEL_map,
	KERNEL_scan,
	KERNEL_dot,
	KERNEL_scatter, /* adds to what is there */
} KernelKind;

typedef struct Kernel {
	KernelKind kind;
	const Op *loop;	 /* the innermost `while` around it, or NULL */
	const Op *fills; /* whose result it fills, or a part of it */
	Loop loops[MAX_LOOPS];
	int nloops;		 /* ever made */
	int8_t order[MAX_LOOPS]; /* those that are not split, outermost first */
	int norder;
	int outer; /* loops of order that are rows, if it reduces
				   or scans; the others are inner */
	bool reduces;
	Combiner combiner; /* of a scan */
	bool row_result;   /* the result has one element a row */
	Node *root;
	Affine store; /* where in the result's buffer */
	Node *nodes;
	int nnodes;
	struct Kernel *trial; /* what a use would make of it */
	struct Kernel *next;  /* of the same op, after it */
	/* kernel_finish(): the loops left, outermost first, in order[] */
	int stages;
} Kernel;

/* index.c: index maps through the ops that only move elements */
Affine affine_loop(int loop);
bool affine_equal(const Affine *a, const Affine *b);
/* Replaces split loops by their parts; those of one turn count nothing. */
void affine_refine(const Kernel *k, Affine *index);
Affine index_linear(Arena *a, const Type *type, const Affine *index);
int loop_add(Kernel *k, int64_t extent, LoopGroup group); /* innermost */
/* The operand's index for a result's, of an op that only moves elements; false where
   it is not affine. */
bool index_through(Arena *a, Kernel *k, const Op *op, const Affine *index, Affine *result);

/*
 * A dot as matrix products c[m, n] += a[m, k] b[k, n] within loops; strides
 * are in elements, that of c along n is 1.  The last ncontract loops add to
 * the same c.
 */
typedef struct DotLoop {
	int64_t extent, a, b, c;
} DotLoop;

typedef struct DotView {
	int64_t m, n, k;
	int64_t a_m, a_k, b_k, b_n, c_m;
	DotLoop loops[MAX_LOOPS];
	int nloops, ncontract;
	int64_t block_m, block_n, block_k; /* of packing; 0: not packed */
	const Node *a, *b;		   /* loads */
} DotView;

/* dot.c */
DotView dot_view(const Kernel *k);
int64_t dot_scratch(const Kernel *k); /* bytes that packing needs */

/* nest.c: splits resolved, loops collapsed, depths and stages filled in */
void kernel_finish(Kernel *k);

/*
 * view.c: the kernels that compute an op of a fused program, a fusion or a dot, in
 * order.  Their values are the parameters of the fusion's body, or the dot's
 * operands; all is gone with the next view.  NULL if one nest cannot do it.
 */
typedef struct Fuse Fuse;
Fuse *view_new(const Module *m);
void view_free(Fuse *f);
Kernel *view_kernels(Fuse *f, Op *op);
/* What lies in memory where a kernel of `op` reads v. */
const Value *view_buffer(const Op *op, const Value *v);

#endif

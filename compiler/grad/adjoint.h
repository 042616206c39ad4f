/*
 * adjoint.h - the backward pass of a block.
 *
 *   forward          backward, from the last op to the first
 *   h = exp(x)       dh = dy * 2.0         give(a, h, dh)
 *   y = h * 2.0      dx = dh * h           give(a, x, dx); h is here(a, h)
 *
 * What a value adds to the result for each change of its elements is its cotangent: a
 * tensor of its type.  A rule is given an op whose results have some and gives its
 * operands theirs, which add up.  Where the backward ops are in another block than the
 * forward ones, as those of a loop's body are, here() is how a forward value comes there.
 */
#ifndef SHDC_ADJOINT_H
#define SHDC_ADJOINT_H

#include "ir/make.h"
#include "ir/variation.h"

/* Of a cotangent, what each device along some axes adds to it. */
typedef struct Partial {
	struct Partial *next;
	AxisSet over; /* none along which the value differs */
	Value *sum;   /* so far */
} Partial;

/* More for a part of a cotangent: elements from `start` on. */
typedef struct Part {
	Value *value;
	int64_t start[MAX_RANK];
	AxisSet over; /* as of a Partial, or none */
} Part;

/* What is known of a value of the forward program. */
typedef struct Primal {
	const Value *value;
	bool active;	   /* it changes, smoothly, with what gradients are asked for */
	AxisSet varies;	   /* the axes of manual regions along which it may differ */
	Value *cotangent;  /* so far; NULL: zero */
	Partial *partials; /* ... and these, not summed up yet */
	Part *parts;	   /* ... and these, not put together yet */
	int nparts;
	Value *here;	   /* the value as the backward ops see it; NULL: nobody asked */
	signed char again; /* is it made again there: 1 yes, -1 no, 0 not known yet */
} Primal;

typedef struct Adjoint Adjoint;

/* Gives the operands of an op their cotangents; those of its results are known. */
typedef void GradientRule(Adjoint *a, const Op *op);

typedef struct Gradients {
	Module *module;
	Arena *arena;
	bool ring;	/* integers have gradients, too */
	Primal **known; /* by value id */
	int nknown;
	GradientRule *const *rules; /* by op kind */
	bool refused;		    /* an op without a gradient was met, and told */
} Gradients;

/* Where forward ops are not in the block of the backward ones: how a value comes here. */
typedef struct Crossing {
	Value *(*fetch)(Adjoint *a, Value *v);
	const Op *op; /* whose body the forward block is */
	Op *forward;  /* that op, or what computes it once more */
	Op *backward; /* being made; NULL: the backward ops have no body of their own */
	int body;     /* of the forward op */
	bool again;   /* forward ops are computed once more, here */
	void *data;
} Crossing;

struct Adjoint {
	Gradients *g;
	Adjoint *outer; /* of the block around; NULL: none */
	Make k;		/* where backward ops go */
	Crossing cross;
	AxisSet along; /* axes along which what is given differs, or is a part */
};

/* adjoint.c */
Primal *primal_of(Gradients *g, const Value *v);
bool type_is_smooth(const Gradients *g, DType dtype);
bool is_active(const Adjoint *a, const Value *v);
/* Of the operand, which gets a cotangent. */
bool wants(const Adjoint *a, const Op *op, int operand);
bool has_cotangent(const Adjoint *a, const Value *v);
/* Whole, for what devices add to it is summed up; NULL: zero. */
Value *cotangent_of(Adjoint *a, const Value *v);
Value *cotangent_or_zeros(Adjoint *a, const Value *v);
/* More for the cotangent of a value, if it is active; NULL: zero.  Along `a->along`
   devices have different ones, which are parts where the value is the same. */
void give(Adjoint *a, const Value *v, Value *more);
/* ... of a part of it; parts beside each other are put together when it is asked for. */
void give_slice(Adjoint *a, const Value *v, Value *more, const int64_t *start);
/* parts.c: all parts of a tensor of that type, zeros where there is none. */
Value *parts_together(Make k, const Type *type, int n, Part *parts);
/* ... of the part of it that begins there, which the run decides. */
void give_part(Adjoint *a, const Value *v, Value *more, Value *const *start);
/* They are then in what was given whole. */
void join_parts(Adjoint *a, const Value *v);
/* What is given so is added up there. */
Value **cotangent_sum(Adjoint *a, const Value *v);
/* To x, as it is, what v was given, by ops in the same block. */
void hand_over(const Value *v, Adjoint *a, const Value *x);
/* As much is known of v as of x. */
void know_like(Gradients *g, const Value *v, const Value *x);
Value *here(Adjoint *a, Value *v);
Value *here_operand(Adjoint *a, const Op *op, int operand);
/* Before the op, for a backward pass. */
Make make_backward(Op *op);
Value *make_zeros(Make k, const Type *type);
/* Backward through all ops of a block but its return. */
void adjoint_block(Adjoint *a, const Block *b);
void refuse(Adjoint *a, const Op *op, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* kept.c: values of a forward body in the backward one */
/* The op whose body is gone through: op itself, or one that computes it once more where
   the backward ops are. */
Op *forward_of(Adjoint *a, const Op *op);
/* A kept value, now a result of the forward op that may differ along these axes, where the
   backward op is. */
Value *kept_here(Adjoint *a, Value *result, AxisSet varies);
/* Of a loop that counts: the first index, and how often it runs; false: the run decides. */
typedef struct Trips {
	int64_t first, trips;
} Trips;
bool loop_trips(const Op *loop, Trips *t);
/* A value of the block around as an operand of the backward op, and a parameter. */
Value *capture(Crossing *c, Value *v);

/* formula.c: "dy * (1 - y * y)" as ops.  `leaf` gives the values of names; numbers and
   functions of them have the type of the first value. */
typedef struct Formula {
	Make k;
	Value *(*leaf)(void *data, const char *name);
	void *data;
	const Type *type;
} Formula;
Value *formula_make(const Formula *f, const char *text);

/* The `gradient` column of ops.def. */
#define OP(id, hlo, operands, attrs, types, rule, partial, where, bodies, gradient, ...) \
	GradientRule gradient_##gradient;
#include "ir/ops.def"
#undef OP

#endif

/*
 * cost.h - what things cost on a TPU.
 *
 * Times in seconds, sizes in bytes.  A collective's time is that of "How to
 * Scale Your Model": max(latency, bytes / bandwidth), on rings where the
 * topology wraps (or is not given) and on open lines elsewhere.
 */
#ifndef SHDC_COST_H
#define SHDC_COST_H

#include "ir/ir.h"
#include "ir/targets.h"

/* What one device receives, ring algorithm; `bytes` is the operand's size on
   one device and n the size of the group.  How many rows a ragged exchange
   sends only the run knows: all that the operand has are counted. */
double wire_bytes(OpKind kind, int64_t n, double bytes);
/* The same for a collective op of an L_device module, rounded up. */
int64_t op_wire_bytes(const Op *op);
double
collective_seconds(const Mesh *m, OpKind kind, const AxisList *axes, double operand_bytes);
/*
 * The links between the members of a group while they carry the messages of
 * permutes that do not wait for each other.  A message goes along one axis
 * after the other, the shorter way round a ring, or the only one along a line.
 */
typedef struct AxisLinks {
	int64_t size, stride; /* of the digit in a member's index */
	bool ring;
	double bandwidth;  /* of one link, one way */
	double latency;	   /* from one member to the next */
	double *up, *down; /* bytes: how many more than over the link before;
				   line by line */
} AxisLinks;

typedef struct Links {
	int naxes;
	AxisLinks axis[MAX_PIECES];
	int64_t n;    /* members */
	int64_t hops; /* of the longest way */
	double latency;
} Links;
Links links_new(Arena *a, const Mesh *m, const AxisList *axes);
/* source[i] sends so many bytes to member i; -1: nobody does */
void links_permute(Links *l, const int64_t *source, double bytes);
double links_seconds(const Links *l);
/* How far a permute that names its senders reaches; 0: it does not. */
int64_t op_hops(const Mesh *m, const Op *op);
double op_collective_seconds(const Mesh *m, const Op *op);
/* max(flops / peak, bytes / memory bandwidth) of one op with local types */
double op_seconds(const Mesh *m, const Op *op, const Type *operands, const Type *result);

/* work.c: what one device computes and receives in one run */
typedef struct Work {
	int64_t wire_bytes;
	double flops;
} Work;
Work module_work(const Module *m);

#endif

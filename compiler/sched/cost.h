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

typedef enum CollectiveKind {
	K_all_gather, K_reduce_scatter, K_all_reduce, K_all_to_all,
	K_collective_permute, K_ragged_all_to_all,
	COLLECTIVE_COUNT
} CollectiveKind;

/* What one device receives, ring algorithm; `bytes` is the operand's size on
   one device and n the size of the group.  How many rows a ragged exchange
   sends only the run knows: all that the operand has are counted. */
double wire_bytes(CollectiveKind kind, int64_t n, double bytes);
/* The same for a collective op of an L_device module, rounded up. */
int64_t op_wire_bytes(const Op *op);
bool op_collective_kind(const Op *op, CollectiveKind *kind);
double collective_seconds(const Mesh *m, CollectiveKind kind,
	const AxisList *axes, double operand_bytes);
/* A permute from each device to that `hops` further on along the axes: one
   alone takes the longer of the two; several that do not wait for each other
   the longest latency or all transfers. */
double shift_latency(const Mesh *m, const AxisList *axes, int64_t hops);
double shift_transfer(const Mesh *m, const AxisList *axes, double bytes,
	int64_t hops);
/* How far a permute that names its senders reaches, around the ring; 0: it
   does not name them. */
int64_t permute_hops(const Op *op);
double op_collective_seconds(const Mesh *m, const Op *op);
/* max(flops / peak, bytes / memory bandwidth) of one op with local types */
double op_seconds(const Mesh *m, const Op *op, const Type *operands,
	const Type *result);

/* work.c: what one device computes and receives in one run */
typedef struct Work {
	int64_t wire_bytes;
	double flops;
} Work;
Work module_work(const Module *m);

#endif

/*
 * halo.h - roll, slice, pad, concatenate, reverse and windows along a split dim: each
 * device gets the rows of its result that lie on others, and nothing else.
 *
 *   Halo    one op along one dim
 *     part  what one operand gives (concatenate has several)
 *       round   one collective-permute
 *
 * Device r keeps the window [r advance, r advance + width) of the result's rows (of
 * windows of those that they show);
 * row 0 of an operand's shard q stands at base + q rows.  Of a pad that puts paddings between
 * rows windows count rows of the operand, of which some devices may have one more than others.
 * So a device needs what
 * an interval of shards has, and a shard is needed by an interval of devices.
 * Round c of n serves the pairs with q - r = c mod n: as no interval is longer
 * than n, nobody sends or receives twice.
 */
#ifndef SHDC_HALO_H
#define SHDC_HALO_H

#include "shard/shard.h"

typedef struct HaloRound {
	int64_t rows;	 /* that are sent: as many as some device needs;
				   0: nobody needs any */
	int64_t *source; /* of each device the shard it gets, or -1 */
} HaloRound;

typedef struct HaloPart {
	int64_t rows, base; /* of a shard; where the first one stands */
	int64_t most;	    /* rows of a shard that are taken, at most */
	int64_t own;	    /* rows that stay where they are, at most */
	int nrounds;
	HaloRound *rounds;
} HaloPart;

typedef struct Halo {
	int dim;
	AxisList axes;
	int64_t ways;
	int64_t width, advance; /* of a device's window; to that of the next */
	int64_t phase, stride;	/* what is taken of each shard first; `phase`
				   is the first shard's */
	int64_t apart;		/* a stride that does not divide the shards:
				   `rows` and `base` count what lies between,
				   too; else 1 */
	int64_t before, spread; /* of a pad between rows, else 0 and 1: row i of
				   the operand stands at before + spread i */
	int nparts;
	HaloPart *parts;
} Halo;

/* May the op move elements along dims? */
bool halo_kind(OpKind kind);
/* Does it, along the dim of an operand of that size? */
bool halo_moves(const Op *op, int dim, int64_t size);
/* ... as a roll does, but that nothing comes round: a pad that cuts what it puts around? */
bool halo_is_shift(const Op *op, int dim);
/* `shards` are the operands' types on one device, `result` is where the op's
   result is.  The result's type is still that of the whole tensor. */
Halo halo_plan(Arena *a, const Op *op, int dim, const Type *shards, const Placement *result);

typedef struct HaloCost {
	double bytes, seconds; /* a device receives; one round after the other */
	double at_once;	       /* seconds if the rounds of a dim overlap: what a choice
				  counts, as latency is not what tells two of them apart */
	int collectives;
	int64_t rows, hops; /* in all; to the farthest */
	AxisList axes;
} HaloCost;
/* The axes of all dims that a reverse mirrors: device i changes places with
   that as far from their other end. */
AxisList halo_mirrored(const Op *op, const Placement *result);
/* Of all dims; nothing where none is split. */
HaloCost halo_cost(const Mesh *mesh, const Op *op, const Type *shards, const Placement *result);
/* ... of an op of which all is placed. */
HaloCost op_halo(const Mesh *mesh, Arena *a, const Op *op);

/* ---- where things lie: of a window part ---------------------------------- */

/* A shard's first row, or the first behind it. */
int64_t halo_row(const Halo *h, const HaloPart *part, int64_t shard);
/* The first row of r's window, and the first behind it. */
int64_t halo_window(const Halo *h, int64_t r);
int64_t halo_window_end(const Halo *h, int64_t r);
/* The first row of shard q that device r needs, counted from the shard's
   first, and how many it needs. */
int64_t halo_start(const Halo *h, const HaloPart *part, int64_t q, int64_t r);
int64_t halo_overlap(const Halo *h, const HaloPart *part, int64_t q, int64_t r);

#endif

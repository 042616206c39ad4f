/*
 * cost.h - what things cost on a TPU.
 *
 *   links.h        what joins the devices of a group
 *   collectives.c  what a collective moves, and how long that takes
 *   permutes.c     ... link by link where a permute names its senders
 *   step.c         how long a step takes, and what bounds it
 *   ledger.h       what moves in a whole program
 *
 * Times in seconds, sizes in bytes.
 */
#ifndef SHDC_COST_H
#define SHDC_COST_H

#include "cost/links.h"

/* What one device receives, ring algorithm; `bytes` is the operand's size on
   one device and n the size of the group.  How many rows a ragged exchange
   sends only the run knows: all that the operand has are counted. */
double wire_bytes(OpKind kind, int64_t n, double bytes);

/* Of a collective that members of `axes` do together.  A permute names the senders,
   source[i] sends to member i, -1 nobody, or has `from` (see Op.from); else NULL. */
typedef struct TransferCost {
	double seconds;	       /* from start to end */
	double links, network; /* with bytes on them: on a chip and between chips, between
				  slices */
	int64_t hops;	       /* to the farthest */
	LinkLoads loads;
} TransferCost;
TransferCost transfer_cost(const Mesh *mesh, OpKind kind, const AxisList *axes,
	const AxisList *from, const int64_t *source, double bytes);

/* What a step keeps busy, and what bounds it: a row of resources.def. */
typedef enum Resource {
#define RESOURCE(id, name) RESOURCE_##id,
#include "cost/resources.def"
#undef RESOURCE
	RESOURCE_COUNT
} Resource;
extern const char *const resource_names[RESOURCE_COUNT];

typedef struct StepCost {
	double seconds;
	Resource bound;
	double busy[RESOURCE_COUNT]; /* seconds; a step is no shorter than any */
	double flops, hbm_bytes, wire_bytes;
	int64_t hops;  /* of a permute that names its senders */
	LinkSet links; /* that a collective moves bytes over */
} StepCost;

/* Of a fused program: does the op take time of its own?  Reshapes are names, offsets
   numbers that the device knows; of loops and branches it is what is in them, of a
   fusion the whole. */
bool op_is_step(const Op *op);
/* Is it a kernel of its own, whatever is beside it: a product, a sort, a sum into rows, an
   extern function?  Then what it takes is known before ops are fused. */
bool op_is_alone(const Op *op);
/* Is it nobody's, but says what a call costs? */
static inline bool
op_states_cost(const Op *op)
{
	return op->external && op->external->priced;
}
/* The product of matrices that it is, or that is computed in it; NULL: none. */
const Op *step_product(const Op *op);
double matrix_peak(const Target *target, DType dtype); /* FLOP/s with such inputs */
const char *step_what(Arena *a, const Op *op); /* what asked for it, in the program's words */
/* "all-gather", also where it only begins; of what waits for it "all-gather-done". */
const char *step_opcode(Arena *a, const Op *op);
/* An op on one device that sees these types; NULL: its own. */
StepCost step_cost(const Mesh *mesh, const Op *op, const Type *operands, const Type *result);
/* Memory at the pace that copies reach. */
double hbm_seconds(const Target *target, double bytes);
/* Its time if its operand had so many bytes. */
StepCost transfer_of_bytes(const Op *op, double bytes);
/* Rounded up; more than 64 bits count are as many as they do. */
int64_t whole_bytes(double bytes);
int64_t picoseconds(double seconds); /* to the nearest */

#endif

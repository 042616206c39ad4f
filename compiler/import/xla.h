/*
 * xla.h - what moves in XLA's own program of the same: one device's HLO, as
 * --xla_dump_hlo_pass_re=spmd-partitioning leaves it.
 *
 *   %all-reduce.1 = f32[2,16]{1,0} all-reduce(%dot.7), replica_groups={{0,1,2,3},{4,5,6,7}},
 *     metadata={op_name="jit(f)/while/body/dot_general" stack_frame_id=41}
 *
 * An all-reduce of which only slices are used is the reduce-scatter that it becomes; where
 * several devices use the same slice, and an all-reduce of that.
 */
#ifndef SHDC_XLA_H
#define SHDC_XLA_H

#include "ir/ir.h"

typedef struct XlaTransfer {
	OpKind kind;
	double bytes;	       /* of the operand, on one device */
	int64_t n;	       /* devices of a group */
	AxisList axes;	       /* along which; none: the groups are along no axes of the mesh */
	const int64_t *source; /* of a permute (A_source), or NULL */
	int64_t trips;
	bool counted;	  /* they are known; else one */
	const char *path; /* the innermost frame outside of installed packages; or NULL */
	int line;
} XlaTransfer;

typedef struct XlaPlan {
	const char *path; /* of the dump */
	XlaTransfer *all;
	int n;
} XlaPlan;

/* For a mesh of as many devices; NULL after a message. */
const XlaPlan *xla_read(Session *s, int file, const Mesh *mesh);

/* xla_groups.c: the devices of the first group, and their number; NULL: they cannot be
   read.  "{{0,1},{2,3}}", "[2,4]<=[4,2]T(1,0)", "mesh['a'=4,'b'=2] {'b'}". */
const int64_t *xla_group(Arena *a, const char *text, int64_t ndevices, int64_t *n);
/* The axes along which devices of these ids are, in their order; none: they are not. */
AxisList xla_axes(const Mesh *mesh, const int64_t *ids, int64_t n);
/* {{0,1},{1,0}}: who sends to each member of `axes`, the same in every group. */
const int64_t *xla_pairs(Arena *a, const char *text, const Mesh *mesh, AxisList *axes);

#endif

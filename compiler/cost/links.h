/*
 * links.h - what joins the members of a group: how fast, and how far.
 */
#ifndef SHDC_LINKS_H
#define SHDC_LINKS_H

#include "ir/ir.h"
#include "ir/targets.h"

static const double HOP_SECONDS = 1e-6;

/* What the pieces of a list run on. */
typedef struct Wires {
	double bandwidth; /* of all its links together, one way each */
	double hops;	  /* to the farthest member */
	bool ring;
} Wires;
Wires wires_of(const Mesh *mesh, const AxisList *axes);
/* The directed links that a collective along axes loads, a bit for all those of a
   dim of the torus, or of a ring, in one direction. */
uint64_t links_used(const Mesh *mesh, const AxisList *axes);

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
Links links_new(Arena *a, const Mesh *mesh, const AxisList *axes);
/* source[i] sends so many bytes to member i; -1: nobody does */
void links_permute(Links *links, const int64_t *source, double bytes);
double links_seconds(const Links *links);

#endif

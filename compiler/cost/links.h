/*
 * links.h - which links the members of a group have, and what permutes put on them.
 */
#ifndef SHDC_LINKS_H
#define SHDC_LINKS_H

#include "ir/layout.h"

/* What joins devices: the devices of a chip, chips to a torus, slices to each other. */
typedef enum Joint { JOINT_core, JOINT_torus, JOINT_slice } Joint;

/* A line or ring of links, and the members of a group along it. */
typedef struct Wire {
	Joint joint;
	int along;	/* a PhysicalAxis; PHYSICAL_COUNT + i: what mesh axis i is laid on */
	int64_t length; /* chips of all the line */
	int64_t pre;	/* ... parted into so many blocks, one of which has the group */
	int64_t members;
	int64_t step; /* the least distance between two, */
	int64_t hops; /* and from one to the farthest */
	bool ring;
	double link; /* bytes/s of one link one way, this group's share */
} Wire;

/* Of a member's index: one of `size` places, `rest` chips apart, along a wire. */
typedef struct Digit {
	int wire;
	int64_t size, rest, stride; /* stride: in the index */
} Digit;

enum { RING = PHYSICAL_COUNT + MAX_AXES, MAX_WIRES };

typedef struct Wires {
	int nwires, ndigits;
	Wire wire[MAX_WIRES];
	Digit digit[MAX_PIECES];
	int64_t n;    /* members */
	bool on_ring; /* the one that numbers the chips of a slice (Mesh.ring) */
} Wires;
/* The best that join such a group; those along which its members are in order. */
Wires wires_of(const Mesh *mesh, const AxisList *axes);
Wires wires_in_order(const Mesh *mesh, const AxisList *axes);

/* Of a transfer: starting it, its way, and its bytes on the busiest links. */
double transfer_seconds(const Mesh *mesh, double latency, double bytes_seconds);

/*
 * Directed links, those of class i in row 2i, back in row 2i + 1.  A class is a physical
 * axis, and where the program says nothing of a torus a mesh axis; parallel lines of it
 * are one.  A link has a bit, by the place of the chip that sends; where the axis is
 * longer than a row, so have some neighbours together.
 */
enum { LINK_ROWS = 2 * MAX_AXES, LINK_PARTS = 16, LINK_WORDS = LINK_ROWS * LINK_PARTS / 64 };
typedef uint16_t LinkParts;
typedef union LinkSet {
	LinkParts row[LINK_ROWS];
	uint64_t word[LINK_WORDS];
} LinkSet;
bool link_set_is_empty(const LinkSet *set);
/* Have they a link in common? */
static inline bool
link_sets_meet(const LinkSet *a, const LinkSet *b)
{
	uint64_t both = 0;

	for (int i = 0; i < LINK_WORDS; i++)
		both |= a->word[i] & b->word[i];
	return both;
}
/* The n links from that of the chip at `from` on, round the line. */
LinkParts link_parts(int64_t length, int64_t from, int64_t n);

/* Seconds for which the busiest link of each class carries something, each way. */
typedef struct LinkLoads {
	double up[MAX_AXES], down[MAX_AXES];
	LinkSet used;
} LinkLoads;

/* What goes along a wire, on which of its links. */
typedef struct WireLoad {
	double seconds;
	LinkParts parts;
} WireLoad;
void link_loads_add(LinkLoads *loads, const Mesh *mesh, const Wire *wire, WireLoad up,
	WireLoad down);
/* ... so long along all that join the members of its groups, each way. */
void link_loads_fill(LinkLoads *loads, const Mesh *mesh, const Wire *wire, double seconds);

/*
 * The links between the members of a group while they carry the messages of
 * permutes that do not wait for each other (permutes.c).  A message goes along one
 * wire after the other, in equal parts beginning with each of those that it needs,
 * the shorter way round a ring, both ways where they are as long.
 */
typedef struct Links {
	const Mesh *mesh;
	Wires wires;
	double *up[MAX_WIRES], *down[MAX_WIRES]; /* bytes: how many more than over the link
						    before; line by line */
	bool used;
	int64_t hops; /* of the longest way */
	double latency;
} Links;
Links links_new(Arena *a, const Mesh *mesh, const AxisList *axes);
/* source[i] sends so many bytes to member i; -1: nobody does */
void links_permute(Links *links, const int64_t *source, double bytes);
double links_seconds(const Links *links);
/* The busiest links, on a chip and between chips; those between slices. */
void links_busy(const Links *links, LinkLoads *loads, double *chips, double *slices);

#endif

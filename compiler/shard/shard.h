/*
 * shard.h - from a program on whole tensors to one on shards.
 *
 *   pad_dims    L_global -> L_global        dims that their axes divide
 *   explicit    L_global -> L_global        where values of explicit functions are
 *   propagate   L_global -> L_sharded       where every value is
 *   partition   L_sharded -> L_resharded    what moves so that ops run locally
 *   localize    L_resharded -> L_device     moves become collectives
 *
 * README.md in this folder tells the reasons.
 */
#ifndef SHDC_SHARD_H
#define SHDC_SHARD_H

#include "ir/make.h"
#include "cost/cost.h"

/* varying.c: in manual regions results are as replicated as their types say, and
   collectives are reached by their whole group. */
void check_varying(Module *m, Block *b);

/* pad_dims.c: true if something is padded; -Rpad asks for remarks */
bool pad_dims(Module *m, bool remarks);

/* explicit.c: false after errors */
bool explicit(Module *m);

/* propagate.c */
bool propagate(Module *m);

/* shard/propagate/why.c: what keeps a dim from being split further, a line each.
   Requires L_sharded. */
typedef struct Why Why;
Why *why_new(Module *m);
void text_blocked(Why *w, const Value *v, int dim, Text *t);

/* ---- reshard.c: how to get from one placement to another ---------------- */

enum { MAX_EXCHANGES = 2 };

typedef struct Move {
	OpKind kind; /* a collective; dynamic_slice keeps a part, select makes
				   a whole value partial: that of index 0 */
	Placement before, after;
	AxisList axes;	/* the group; permute: the target's order */
	AxisList from;	/* permute: the source's order (see Op.from) */
	int dim;	/* all-gather, reduce-scatter */
	int nexchanges; /* all-to-all */
	Exchange exchanges[MAX_EXCHANGES];
	double bytes; /* a device receives */
	double seconds;
} Move;

typedef struct ReshardPlan {
	int n, collectives;
	Move *moves;
	double bytes, seconds; /* of one device, all moves */
} ReshardPlan;

/* Plans by pair of placements and type, made once each. */
typedef struct Resharder Resharder;
Resharder *resharder_new(Arena *a, const Mesh *mesh);
/* Both closed, valid for the type.  Never fails. */
const ReshardPlan *
reshard_plan(Resharder *r, const Type *global, const Placement *from, const Placement *to);

/* ---- partition.c --------------------------------------------------------- */

typedef struct PartitionOptions {
	bool remarks;		 /* -Rreshard */
	bool strict;		 /* --strict */
	const char *global_text; /* the L_global module as HLO, for
					   proposals; NULL: none are made */
	size_t global_length;
} PartitionOptions;
bool partition(Module *m, const PartitionOptions *o);

/* ---- what_if.c: what a device receives in all ----------------------------- */

typedef struct Traffic {
	double bytes;
	int collectives;
} Traffic;
Traffic module_traffic(Module *m); /* of an L_device module */
/* The program of that text with value `name` placed so, as it is if that is
   NULL; false if it can't be. */
bool what_if(const char *global_text, size_t n, const char *name, const Placement *p,
	Traffic *traffic);

/* ---- localize.c ---------------------------------------------------------- */

bool localize(Module *m);

#endif

/*
 * shard.h - from a program on whole tensors to one on shards.
 *
 *   pad_dims    L_global -> L_global        dims that their axes divide
 *   explicit    L_global -> L_global        where values of explicit functions are
 *   propagate   L_global -> L_sharded       where every value is
 *   contract    L_sharded -> L_sharded      sums of products as dots
 *   scans       L_sharded -> L_sharded      running sums a shard at a time
 *   merge       L_sharded -> L_sharded      equal ops once
 *   partition   L_sharded -> L_resharded    what moves so that ops run locally
 *   localize    L_resharded -> L_device     moves become collectives
 *
 * README.md in this folder tells the reasons.
 */
#ifndef SHDC_SHARD_H
#define SHDC_SHARD_H

#include "ir/flow.h"
#include "ir/make.h"
#include "cost/cost.h"

/* varying.c: in manual regions results are as replicated as their types say, and
   collectives are reached by their whole group. */
void check_varying(Module *m, const Block *b);

/* finite.c: by value id, may it be infinite?  A part of a sum is multiplied by no such. */
const Facts *find_infinite(Arena *a, const Module *m);

/* Which dims are padded. */
typedef enum Padding {
	PAD_asked,    /* that is found out first */
	PAD_written,  /* those that the axes written for them do not divide */
	PAD_inferred, /* of a JAX program also where Shardy would propagate such */
} Padding;
/* Which pay, for the module as it came. */
typedef Padding ChoosePadding(Module *m);

/* pad_dims.c: false if nothing is padded and no parameter indexes; -Rpad asks for
   remarks.  `choose` is asked if something would be inferred. */
bool pad_dims(Module *m, bool remarks, Padding how, ChoosePadding *choose);
/* link.c: a value of which an axis does not divide a dim; NULL once pad_dims has run */
const Value *uneven_value(Module *m);

/* explicit.c: false if nothing is explicit */
bool explicit(Module *m);

/* propagate.c */
bool propagate(Module *m);
/* Where values would be if axes need not divide their dims, by id: of which they then do not;
   of others NULL. */
Placement **placed_unevenly(Module *m);

/* contract.c: false if nothing changes */
bool contract(Module *m);

/* partition/: what users of a value will want, before they are planned, of a module that is
   numbered and stays as it is meanwhile. */
typedef struct Partitioner Partitioner;
Partitioner *lookahead_new(Module *m, Arena *a);
void lookahead_free(Partitioner *p);
/* Will one of those that count have a dim of it whole, the others as they are? */
bool will_be_gathered(Partitioner *p, const Value *v, int dim, bool (*counts)(const Op *user));

/* scans.c: false if nothing changes */
bool scans(Module *m);

/* merge.c: false if nothing changes.  If something is computed twice, or at L_resharded
   kept for users far from it, `decide` says of the module as it came what is shared */
typedef Sharing ChooseSharing(Module *m);
bool merge(Module *m, ChooseSharing *decide);
/* ... of what is merged, and is equal still: are there sums that stay by themselves for what
   is made of their parts alone?  They are merged, too, if `really`. */
bool merge_sums(Module *m, bool really);

/* ---- reshard.c: how to get from one placement to another ---------------- */

enum { MAX_EXCHANGES = 2 };

typedef struct Move {
	OpKind kind; /* a collective; dynamic_slice keeps a part; select makes
				   a whole value partial, that of index 0, and
				   dynamic_update_slice shards, each in its place */
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
/* Between any two that are closed and sound, and whose axes divide the type's dims: then
   there is always a plan.  Whoever has them from a program checks that first. */
const ReshardPlan *
reshard_plan(Resharder *r, const Type *global, const Placement *from, const Placement *to);

/* ---- precedents.c: what was found out of programs on one mesh ------------- */

/* All of it is the same wherever it is asked again, also of a program that is tried
   otherwise, which may be given those of the program as it is. */
typedef struct Precedents {
	Arena *arena; /* of the session that made them */
	Resharder *resharder;
	RuleBook *rules;
	Lookup *choices; /* how an op is partitioned: partition/memo.c */
	int runs;	 /* of the partitioner, so far */
	Table *trips; /* what was decided of the trips of loops (pipeline/pays.c), or NULL; */
	bool trips_stay; /* ... what is tried now has them so */
	Padding padding; /* that paid for the program as it is; PAD_asked: it was not asked */
} Precedents;
/* The module's, or new ones. */
Precedents *module_precedents(Module *m);

/* ---- views.c --------------------------------------------------------------- */

/* Where the dims of a transpose's operand are in its result, or of a reshape's that only adds
   and leaves out dims of one element; -1: nowhere.  False: the op is neither. */
bool view_dims(const Op *op, int *at);

/* ---- partition.c --------------------------------------------------------- */

/* What pays of what there is, for the module as it came. */
typedef Foresight ChooseForesight(Module *m, Foresight there_is);

/* Leaves the ledger of what it decided to move.  What is then still equal, moves too, is
   merged, or gathered apart, as `choose_sharing` says.  With all of `with`, or if that is NULL
   as `choose_foresight` says, which is asked where there is some. */
bool partition(Module *m, ChooseSharing *choose_sharing, Foresight *with,
	ChooseForesight *choose_foresight);

/* What shows its operand as windows, which is moved in place of them. */
static inline bool
op_is_windows(const Op *op)
{
	return op->kind == O_windows || op->kind == O_frames;
}

/* ---- localize.c ---------------------------------------------------------- */

bool localize(Module *m);

#endif

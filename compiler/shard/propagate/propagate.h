/*
 * propagate.h - private to the propagation pass.
 *
 *   Cluster     values that always share one placement: what a body sees of
 *               the values outside, a value that a loop carries, and the
 *               members of a shard_like
 *   Edge        what flows into and out of a body: an identity among a value
 *               that a loop carries, its start and what the body makes of it
 *   Projection  the placements around one op as holders, one for each factor in
 *               each dim of each tensor (ir/factors.h); steps work on it
 *
 *   x: [8@X, 4@Y] -> reshape -> r: [32@?]     rule ([i,j])->([ij])
 *   holders: x/i {X}, x/j {Y}, r/i {}, r/j {}
 */
#ifndef SHDC_SHARD_PROPAGATE_H
#define SHDC_SHARD_PROPAGATE_H

#include "ir/factors.h"
#include "ir/flow.h"

/* An axis that came to a value through an op, kept until the end. */
typedef struct Arrival {
	Origin origin;
	Value *target;
	struct Arrival *next; /* newest first */
} Arrival;

typedef struct Cluster {
	Placement now;
	Placement *written; /* what the user asked for, or NULL */
	Value *annotated;   /* the member that carries the annotation */
	Op *copied_from;    /* constraint whose placement was copied here */
	Arrival *arrivals;
	int first_touch, ntouches; /* of Propagation.touches */
	int version;		   /* counts changes */
} Cluster;

/* What may receive axes: results, operands, or both. */
typedef enum Way {
	WAY_none = 0,
	WAY_forward = 1,
	WAY_backward = 2,
	WAY_both = 3,
} Way;

enum { LEVELS = 5 }; /* order.c */

typedef enum Strategy { BASIC, AGGRESSIVE, STRATEGY_COUNT } Strategy;

/* A copy made for one use of what costs nothing to make again. */
typedef struct Copy {
	Op *user;
	int operand;
	Value *original, *copy;
	bool beside; /* it stands next to its original, not before the user */
} Copy;

/* What uses a constraint's result instead of what that is on, or a constraint that stands
   directly behind that (operand -1). */
typedef struct Rewired {
	Op *op;
	int operand;
	Value *original;
	Op *next; /* before which it stood */
} Rewired;

/* What is written about the values of a root, while they are united. */
typedef struct Annotation {
	Value *by; /* NULL: nothing */
	const Placement *placement;
} Annotation;

/* An op, or an edge of a loop or branch, where axes may pass. */
typedef struct OpState {
	Op *op;
	Value **tensors; /* operands, then results */
	int *cluster;	 /* of each, locate_tensors() */
	int noperands, ntensors;
	const Rule *rule;	/* NULL: nothing passes */
	bool edge;		/* of `op`, a while or if */
	bool alike;		/* a shard_like */
	bool waiting;		/* on the worklist */
	uint8_t phases[LEVELS]; /* what it may do at each level: a Phase */
	/* the phase in which a step last changed nothing, tensors since
	   untouched; 0 if none */
	int8_t settled[STRATEGY_COUNT];
} OpState;

typedef struct Projection {
	const Rule *rule;
	const Op *op;
	Value *const *tensors; /* as in OpState */
	int nholders;
	Holder *holders;   /* by tensor, then dim, major to minor */
	int *first;	   /* [ntensors + 1]: holders of a tensor */
	int *factor_first; /* [nfactors + 1]: of by_factor */
	int *by_factor;	   /* holders by factor, then tensor */
	bool uneven;	   /* axes need not divide what they split */
	AxisList *barred;  /* [ntensors]: replicated and unreduced axes */
	bool *sealed;	   /* [ntensors]: bare `replicated` */
	double *elements;  /* [ntensors] */
	bool *grown;	   /* [ntensors]: some holder grew in this step */
	bool *took;	   /* [nholders]: that did, took() */
	/* room for steps, [nfactors] each */
	AxisList *agreed;
	Way *way;
	int *source;
	int64_t *extent;
	int *order;
	int room_holders, room_tensors, room_factors;
} Projection;

typedef struct Propagation {
	Module *module;
	Arena *arena; /* of the pass */
	RuleBook *rules;
	OpState *ops; /* in program order, edges behind their bodies */
	int nops;
	int *state_of;	/* by op id: of `ops` */
	Value **values; /* by id */
	Cluster *clusters;
	int nclusters;
	int *cluster_of;	 /* by value id */
	int *parent;		 /* union-find by value id, while building */
	Annotation *annotations; /* by root, while building */
	int *uses;		 /* by value id, as if bodies were inlined; in the
				    forward pass, then everywhere */
	int *uses_everywhere;
	int *touches; /* of `ops`, around each cluster */
	int *outputs; /* of `ops`: the entry's results */
	int noutputs;
	int *stack; /* worklist */
	int nstack;
	int step; /* global counter */
	Copy *copies;
	int ncopies;
	Rewired *rewired;
	int nrewired;
	Projection projection;
} Propagation;

/* constraints.c */
/* Before the ops are collected; the module is numbered, and is numbered again. */
void use_constrained(Propagation *g);
void use_last_of_chains(Propagation *g);
void undo_rewired(Propagation *g); /* both, to the last */
void copy_constraints(Propagation *g);

/* factors.c */
void project(Projection *p, Propagation *g, const OpState *o);
static inline bool
took(const Projection *p, const Holder *h)
{
	return p->took[h - p->holders];
}
/* In how many ways an axis of `size` may split what is left of a factor after `before` of
   them: as many as divide it, or all, if axes need not and each device has an element. */
int32_t ways_for(const Projection *p, const Holder *h, int64_t before, int32_t size);
/* The axes of dim `dim` of a tensor as its holders now have them. */
AxisList projection_dim(const Projection *p, int tensor, int dim);

/* edges.c */
/* Fills `ops` (edges included) and `state_of`; rules of edges only. */
void collect_ops(Propagation *g);
/* Is operand i a use of its own, or the value under another name in a body? */
bool is_use(const Op *op, int i);
/* Warns of loops that move what they carry on every trip. */
void check_carried(Propagation *g);

/* step.c: true if some holder grew */
bool step(Projection *p, Strategy strategy, const Way *way);

/* copies.c */
void split_constants(Propagation *g);
void merge_constants(Propagation *g);
void undo_copies(Propagation *g); /* all of them */

/* clusters.c */
void build_clusters(Propagation *g);
/* Fills `cluster` of `ops` from `cluster_of`. */
void locate_tensors(Propagation *g);
/* The same, and `touches` of clusters. */
void index_touches(Propagation *g);
/* What the user wrote for a cluster. */
void write_placement(Propagation *g, Cluster *c, const Placement *written);
static inline Cluster *
cluster_of(const Propagation *g, const Value *v)
{
	return &g->clusters[g->cluster_of[v->id]];
}
/* The same of an op's tensor, without a look at the value. */
static inline Cluster *
tensor_cluster(const Propagation *g, const OpState *o, int tensor)
{
	return &g->clusters[o->cluster[tensor]];
}

/* order.c: everything visible, to a fixed point */
void plan_levels(Propagation *g, bool backward); /* rules, phases and outputs; of backward
						      passes, or nothing for these */
void run_levels(Propagation *g);
void unsettle(Propagation *g, const Cluster *c);

/* finish.c: placements, origins and `expect`s */
void finish_propagation(Propagation *g);

#endif

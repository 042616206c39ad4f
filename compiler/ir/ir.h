/*
 * ir.h - the program between parsing and C.
 *
 *   Module
 *     mesh      [X=2, Y=4]
 *     entry     Block: params, then ops, the last of which is `return`
 *
 *   Block   params:  In: bf16[8,2048] {X | Y}     Values without a def
 *           ops:     h = dot(In, W)               first <-> ... <-> last
 *                    out = output(h)
 *                    return(out)
 *
 * Structured SSA.  An op has exactly one result but for `return`, which has
 * none, and `sort`, `while`, `if`, `call`, `fusion`, `manual` and `extern`,
 * which may have any number.  A body is closed: it sees its parameters and its
 * own values only, so what it needs from outside is an operand.  Values are
 * named; names are unique in a module and survive every pass.  One op is one
 * HLO instruction.  Everything lives in the session's arena.
 *
 * Levels, in the order a program passes through them:
 *   L_global     shapes are those of the whole tensor; placements as written
 *   L_sharded    every value has its final placement (closed dims)
 *   L_resharded  each op can run on shards as placed; moves are `reshard` ops;
 *                values may be unreduced
 *   L_device     shapes are those of one device; moves are collectives
 *   L_fused      ops are what one device does, one after the other: a `fusion`
 *                is one loop nest, its body the ops computed in it
 *   L_scheduled  the same in another order; collectives that have other work
 *                beside them are two ops, one that begins and a `done`
 */
#ifndef SHDC_IR_H
#define SHDC_IR_H

#include "base/base.h"

enum {
	MAX_RANK = 16, /* of any value; what a user writes: MAX_USER_RANK */
	MAX_USER_RANK = 10,
	MAX_AXES = 16, /* of a mesh */
	MAX_DEVICES = 1 << 24,
	MAX_PIECES =
		24, /* axis pieces in one placement; so many of at least 2 split 2^24 devices */
};

/* ---- types ---------------------------------------------------------- */

typedef enum DTypeClass { DC_pred, DC_signed, DC_unsigned, DC_float } DTypeClass;

typedef enum DType {
#define DTYPE(name, ...) D_##name,
#include "dtypes.def"
#undef DTYPE
	DTYPE_COUNT
} DType;

typedef struct DTypeInfo {
	const char *name, *hlo;
	int bits;	  /* in a device's memory */
	int bytes, range; /* stored here; magnitudes are at most 2^range */
	DTypeClass class;
	const char *storage, *compute;
} DTypeInfo;
extern const DTypeInfo dtypes[DTYPE_COUNT];

/* floats.def; of other dtypes there is no row. */
typedef enum FloatKind { FLOAT_ieee, FLOAT_fn, FLOAT_fnuz, FLOAT_scale, FLOAT_all } FloatKind;
typedef enum Subnormals { SUBNORMALS_kept, SUBNORMALS_flushed } Subnormals;
typedef struct FloatInfo {
	int digits; /* of the fraction */
	double normal, greatest;
	FloatKind kind;
	Subnormals subnormals;
} FloatInfo;
extern const FloatInfo float_formats[DTYPE_COUNT];

typedef struct Type {
	DType dtype;
	int rank;
	int64_t dims[MAX_RANK];
} Type;

/* ---- meshes and placements ------------------------------------------ */

typedef struct MeshAxis {
	const char *name;
	int64_t size;
	Range range;
	const char *written; /* in a JAX program, where that may be otherwise; else NULL */
} MeshAxis;

/* What a slice's devices are arranged along: the dims of its torus, the devices of a
   chip, and slices beside it, joined by the data-centre network. */
typedef enum PhysicalAxis {
	PHYSICAL_x,
	PHYSICAL_y,
	PHYSICAL_z,
	PHYSICAL_core,
	PHYSICAL_slice,
	PHYSICAL_COUNT
} PhysicalAxis;

/* y:(pre)size, as in AxisRef: a whole physical axis (pre 1) or a piece of one. */
typedef struct LayoutPart {
	PhysicalAxis along;
	int64_t pre, size;
} LayoutPart;

enum { MAX_TOPOLOGY_RANK = 3, MAX_LAYOUT_PARTS = 8 };

/* Where a mesh axis lies: a digit of its coordinate for each part, major to minor.
   `ring`: with Mesh.ring, the axis alone goes round the whole of such a ring. */
typedef struct AxisLayout {
	int n;
	LayoutPart part[MAX_LAYOUT_PARTS];
	bool ring;
} AxisLayout;

/* Device id = row-major index of its coordinates, first axis major. */
typedef struct Mesh {
	int naxes;
	MeshAxis axes[MAX_AXES];
	int64_t ndevices;
	const struct Target *target;	     /* never NULL */
	int topology_rank;		     /* 0: each axis a ring of its own, no layout */
	int64_t topology[MAX_TOPOLOGY_RANK]; /* chips along x, y, z of a slice */
	int64_t slices;			     /* 0 where there is no topology */
	AxisLayout layout[MAX_AXES];
	bool ring; /* the digits number the chips along a ring of links, not row by
			 row: mesh_coordinates() knows it */
} Mesh;

/*
 * A whole mesh axis (pre 1, size the axis' size) or a sub-axis X:(pre)size:
 * the size-`size` piece after a more-major part of size `pre`.
 */
typedef struct AxisRef {
	uint32_t axis : 4, pre : 28;
	int32_t size;
} AxisRef;

typedef struct AxisList { /* major to minor */
	int n;
	AxisRef a[MAX_PIECES];
} AxisList;

typedef enum Combiner {
#define COMBINER(name, hlo, lang, fc, ic, identity, neutral) C_##name,
#include "combiners.def"
#undef COMBINER
	COMBINER_COUNT
} Combiner;

typedef enum Identity {
	IDENTITY_zero,
	IDENTITY_minus_zero,
	IDENTITY_one,
	IDENTITY_least,
	IDENTITY_greatest,
	IDENTITY_ones,
} Identity;

typedef struct CombinerInfo {
	const char *name, *hlo, *float_c, *int_c;
	Identity identity, neutral;
} CombinerInfo;
extern const CombinerInfo combiners[COMBINER_COUNT];
/* and, or are for pred; the others for numbers (max and min for both). */
bool combiner_takes(Combiner combiner, DType d);

/*
 * Where a tensor is: per dim the axes that split it, major to minor; a dim is
 * open (propagation may add axes) or closed.  `replicated` axes must not be
 * used; along `unreduced` ones each device holds a partial result to be
 * combined with `combiner`.  A value type: copy and compare freely.
 * In `pieces`: dim 0's count[0] refs, dim 1's, ..., replicated, unreduced.
 * Use the functions below, not the layout.
 */
typedef struct Placement {
	int8_t rank;
	uint8_t count[MAX_RANK];
	uint8_t nreplicated, nunreduced;
	uint8_t combiner;	    /* enum Combiner, of `unreduced` */
	uint16_t open;		    /* bit d: dim d is open */
	bool all_replicated;	    /* bare `replicated`: no axis may be used */
	uint8_t priority[MAX_RANK]; /* user priority, 0 first */
	AxisRef pieces[MAX_PIECES];
} Placement;

/* placement.c: predicates and algebra, no side effects */
Placement placement_none(int rank);			      /* closed, replicated */
Placement placement_open(int rank);			      /* every dim open */
bool placement_equal(const Placement *a, const Placement *b); /* axes only:
	same dims and unreduced (with combiner); not open, priority, replicated;
	axes of size 1, which are printed but move nothing, do not count */
Placement placement_moving(Placement p);		      /* without axes of size 1 */
bool placement_same(const Placement *a, const Placement *b);  /* everything */
AxisList placement_dim(const Placement *p, int dim);
AxisList placement_replicated(const Placement *p);
AxisList placement_unreduced(const Placement *p);
/* All that splits or sums: of dims 0 to rank - 1, then, as dim `rank`, unreduced. */
AxisList placement_axes(const Placement *p, int dim);
void placement_set_dim(Placement *p, int dim, const AxisList *axes);
void placement_set_replicated(Placement *p, const AxisList *axes);
void placement_set_unreduced(Placement *p, const AxisList *axes, Combiner c);
static inline bool
placement_is_open(const Placement *p, int dim)
{
	return p->open >> dim & 1;
}
Placement placement_close(Placement p);	  /* no open dims, no replicated set */
int placement_pieces(const Placement *p); /* in use, of MAX_PIECES */
/* May so many more be added?  Where each axis is used once, there always may. */
bool placement_has_room(const Placement *p, int more);
int64_t placement_dim_ways(const Placement *p, int dim);      /* product of sizes */
int64_t placement_ways(const Placement *p);		      /* of all dims */
bool placement_uses(const Placement *p, AxisRef a);	      /* overlap with a dim's
	or unreduced axis */
bool placement_is_sound(const Placement *p);		      /* each axis once, and none that
	may not be used */
Type placement_local(const Type *global, const Placement *p); /* needs divisible */
/* Text as the language writes it: "8@X, 2048@(Y,Z:(1)2)" in brackets with
   dtype: "bf16[8@X, 2048]"; scalars "f32[]"; " unreduced(Y)" appended. */
void text_type(Text *t, const Mesh *mesh, const Type *type, const Placement *p);
/* The shape alone: "bf16[8, 2048]". */
void text_shape(Text *t, const Type *type);
const char *type_shape(Arena *a, const Type *type);
/* Dims and suffix only: "[8@X, 2048] unreduced(Y, max)". */
void text_spec(Text *t, const Mesh *mesh, const Type *type, const Placement *p);
/* A dim that its axes do not divide is marked: "[7@X pad, 64]". */
struct Value;
/* The whole tensor at any level, without padding; every padded dim marked. */
Type value_whole_type(const struct Value *v);
void text_value_spec(Text *t, const Mesh *mesh, const struct Value *v);
/* "bf16[8@X, 2048]", the whole tensor. */
void text_value(Text *t, const Mesh *mesh, const struct Value *v);
/* As it would be written to have it there. */
void text_placed(Text *t, const Mesh *mesh, const struct Value *v, const Placement *p);
void text_axis(Text *t, const Mesh *mesh, AxisRef a);	      /* X or X:(1)2 */
void text_axes(Text *t, const Mesh *mesh, const AxisList *l); /* X,Y:(1)2 */

/* axes.c: AxisRef and AxisList algebra */
int mesh_axis(const Mesh *mesh, const char *name); /* -1: none is */
AxisRef axis_whole(const Mesh *mesh, int axis);
bool axis_is_whole(const Mesh *mesh, AxisRef a);
bool axis_equal(AxisRef a, AxisRef b);
bool axis_overlap(AxisRef a, AxisRef b);
bool axis_contains(AxisRef outer, AxisRef inner);
bool axis_can_coexist(AxisRef a, AxisRef b);	     /* disjoint, common refinement */
bool axes_can_coexist(const AxisList *l, AxisRef a); /* with each of them */
void axes_append(AxisList *l, AxisRef a);	     /* merges adjacent sub-axes */
void axes_append_all(AxisList *l, const AxisList *more);
bool axes_unite(AxisList *l, const AxisList *more); /* both as sets; false: not as pieces */
void axes_normalize(AxisList *l);
/* Without axes of size 1, which split nothing; parts of an axis between which
   one stood are joined. */
AxisList axes_moving(const AxisList *l);
bool axes_equal(const AxisList *a, const AxisList *b);
bool axes_overlap(const AxisList *l, AxisRef a);
int64_t axes_size(const AxisList *l); /* product; 1 when empty */
/* Longest common major prefix, splitting an axis where only its major part
   agrees: [X] and [X:(1)2, Y] share [X:(1)2]. */
AxisList axes_common_prefix(const AxisList *a, const AxisList *b);
bool axes_is_prefix(const AxisList *prefix, const AxisList *l);
AxisList axes_drop_prefix(const AxisList *l, const AxisList *prefix);
/* Major part of exactly `size` elements (splitting an axis); false if none. */
bool axes_take(const AxisList *l, int64_t size, AxisList *major, AxisList *rest);
/* Index of device `id` within the axes of the list, row-major. */
int64_t axes_index(const Mesh *mesh, const AxisList *l, int64_t id);
/* The device whose index in `l` is `index`, all other coordinates as `id`. */
int64_t axes_with_index(const Mesh *mesh, const AxisList *l, int64_t id, int64_t index);
/* A piece is the digit (id / stride) % size of a device id. */
int64_t axis_ref_stride(const Mesh *mesh, AxisRef a);

/* ---- values, ops, blocks -------------------------------------------- */

typedef enum OpKind {
#define OP(id, ...) O_##id,
#include "ops.def"
#undef OP
	OP_COUNT
} OpKind;

typedef enum AttrKind {
#define ATTR(id, hlo, form) A_##id,
#include "attrs.def"
#undef ATTR
	ATTR_COUNT
} AttrKind;
#define AT(id) ((uint64_t)1 << A_##id)
_Static_assert(ATTR_COUNT < 64, "sets of attributes are 64 bits");

typedef enum Direction { DIR_EQ, DIR_NE, DIR_LT, DIR_LE, DIR_GT, DIR_GE } Direction;
extern const char *const direction_names[]; /* "EQ", ... */

typedef struct Ints {
	int n;
	int64_t v[];
} Ints;

typedef struct Op Op;
typedef struct Block Block;
typedef struct Module Module;
typedef struct Value Value;

/* Who brought an axis to a value: one entry per axis and dim. */
typedef enum OriginKind {
	ORIGIN_written, /* in the program, at `where` */
	ORIGIN_op,	/* through `through`, from `from` */
} OriginKind;

typedef struct Origin {
	OriginKind kind;
	int dim; /* of this value */
	AxisRef axis;
	Value *from;
	Op *through;
	Range where;
	int step; /* global counter of propagation, from 1 */
	struct Origin *next;
} Origin;

/* Of a parameter whose elements are positions: they are from `first` on, before `end`;
   of others both are 0. */
typedef struct Positions {
	int64_t first, end;
} Positions;

/* What bound a value's name, if a type could be written behind it; `assigned`: there it
   has none, and none could be. */
typedef enum Untyped {
	UNTYPED_no,
	UNTYPED_let,
	UNTYPED_var,
	UNTYPED_param,
	UNTYPED_assigned,
} Untyped;

struct Value {
	Op *def;	     /* NULL: a block parameter */
	Block *block;	     /* where it is defined */
	int index;	     /* among the results or params */
	int id;		     /* dense, by module_number() */
	int uses;	     /* by module_count_uses() */
	bool annotated;	     /* the placement was written by the user */
	bool annotated_open; /* ... all of it open; from L_sharded on */
	bool follows;	     /* L_global: placed by explicit mode, for good */
	bool no_placement;   /* L_device: a helper (offsets, ids) */
	bool kept;    /* a parameter of the entry: it is the caller's, and live to the end */
	bool hosted;  /* ... that is in the memory of the host */
	bool pair;    /* of JAX's complex numbers, whose parts its last dim has */
	bool on_chip; /* from L_fused on: in on-chip memory (cost/residency.h) */
	const char *name;
	Type type;		 /* global shape below L_device, then local */
	Placement placement;	 /* at L_device: of the tensor it is a shard of,
				   for printing; may be stale in helpers */
	Positions positions;	 /* of a parameter; set by limits.c */
	const int64_t *unpadded; /* sizes of the dims without padding
				   (shard/pad/pad_dims.c); NULL: nothing is padded */
	Range range;		 /* the name, for parameters and lets */
	Range type_range;	 /* the annotation */
	Untyped untyped;	 /* ... which could be written behind the name */
	Placement *written;	 /* as annotated, from L_sharded on; else NULL */
	Origin *origins;	 /* newest first */
};

/*
 * The function an op was written in.  In explicit code placements follow from
 * the operands (shard/explicit/explicit.c): a placed let or out= is a `constraint` of
 * that mode, which settles partial sums and moves nothing else, a parameter's
 * type one of mode auto at the call, a declared result an `expect`.  What the backward pass
 * of a gradient is made of is placed when all else is: nothing changes by it.
 */
typedef enum OpMode { MODE_auto, MODE_explicit, MODE_backward } OpMode;
extern const char *const mode_names[]; /* ops.c */

typedef enum OpForm {
#define OP_FORM(id, ...) AS_##id,
#include "forms.def"
#undef OP_FORM
	OP_FORM_COUNT
} OpForm;

typedef struct OpFormInfo {
	const char *name;
	bool out, statement, around, quoted;
} OpFormInfo;
extern const OpFormInfo op_forms[OP_FORM_COUNT]; /* ops.c */

/*
 * The rule of an extern function, "bd,df->bf": a term for each operand, then for
 * each result.  Letters are numbered from 0.  What a dim is made of, major to minor, is
 * a letter, several (in parentheses), or none: a dim `_`, which is never split.
 */
enum { RULE_LETTERS = 52 };
typedef struct ExternDim {
	int n;
	int8_t letters[MAX_RANK];
} ExternDim;

typedef struct ExternTerm {
	int rank;
	ExternDim dims[MAX_RANK];
} ExternTerm;

/* What becomes of a letter that is split. */
typedef enum ExternKind {
	EXTERN_pass,
	EXTERN_reduction, /* parts are added up */
	EXTERN_permutation,
	EXTERN_need_replication,
	EXTERN_KINDS
} ExternKind;
extern const char *const extern_kind_names[EXTERN_KINDS];

typedef struct ExternRule {
	int noperands, nterms;
	ExternTerm *terms;
	bool sized; /* letters have sizes, so that a dim may be made of several */
	int64_t sizes[RULE_LETTERS];
	uint8_t kinds[RULE_LETTERS]; /* ExternKind */
	uint64_t blocked;	     /* letters along which nothing propagates */
} ExternRule;

/* What `extern fn` declares: the user's C function of an op. */
typedef struct External {
	const char *name;		     /* in the program */
	const char *symbol, *library, *rule; /* library "": opaque, nobody has it */
	Range declared;
	ExternRule parsed;		       /* the rule */
	int64_t flops, bytes, transcendentals; /* of a whole call, if it states them: */
	bool priced;
} External;

/* Where a function was called. */
typedef struct CallSite {
	const char *function;
	Range range;
	struct CallSite *outer; /* of the function in which that is; NULL: the entry */
} CallSite;

/* What messages say of a manual region: its function's results as written, and
   the calls that it comes from. */
typedef struct Signature {
	const char **names; /* NULL: it has none */
	Range *types;
	CallSite *call; /* NULL: it is the entry */
} Signature;

/* A dim in an equation. */
typedef struct Letter {
	char name; /* '.': one of those under `...` */
	Range range;
} Letter;

/* Beside the work of which trip a collective of a loop is, or why not beside another's. */
typedef enum OtherTrip {
#define OTHER_TRIP(id, ...) TRIP_##id,
#include "other_trips.def"
#undef OTHER_TRIP
	OTHER_TRIPS
} OtherTrip;
extern const char *const other_trip_names[OTHER_TRIPS]; /* ops.c */

struct Op {
	Op *prev, *next;
	OpKind kind;
	int noperands, nresults, nbodies;
	int operand_room, result_room; /* of the arrays, where more came */
	Value **operands;
	Value **results;
	Block **bodies;
	int id;		    /* dense, by module_number() */
	uint64_t has;	    /* AT(x): attribute x is there */
	const Ints **attrs; /* those, in the order of attrs.def; use
				   op_ints() and op_set_ints() */
	Block *block;	    /* NULL while detached */
	Module *module;	    /* where it was made */
	OpMode mode;
	OpForm form;
	bool async;	   /* collective: it only begins here; a `done` waits
				   for what it receives */
	bool combined;	   /* collective, from L_scheduled on: one transfer with the
				   op before it */
	OtherTrip trip;	   /* collective, from `pipeline` on */
	bool again;	   /* computes for a gradient what a checkpoint did */
	AxisList *axes;	   /* collectives: the group, in order;
				   collective-permute: the target's order */
	AxisList *from;	   /* collective-permute: the source's order.
				   Device t receives from s where
				   axes_index(axes, t) == axes_index(from, s),
				   all other coordinates equal.  NULL where
				   A_source says who sends. */
	Placement *specs;  /* manual: of operands, then results, along
				   `axes`; closed */
	bool requested;	   /* reshard/collective the user asked for */
	const char *label; /* as the user wrote it: "einsum 'bd,df->bf'",
				   "relu", "return"; never NULL after front */
	const char *of;	   /* from L_device on: it does a piece of what makes this;
				    or NULL */
	/* Of a collective: which of Module.planned it does, or some trips of, from 1, or 0; and
	   the one that it moves a piece of, gone from its block, or NULL. */
	int planned;
	const Op *whole;
	const char *composite;	    /* call: "softmax" */
	const External *external;   /* extern */
	const Signature *signature; /* manual; NULL in a program from a dump */
	Range range;		    /* the expression */
	Range *operand_ranges;	    /* of each operand, or NULL */
	Range argument;		    /* AS_out: ", out=[8@X]", in `range` */
	Letter *letters;	    /* dot from einsum: of the dims of its operands;
				   or NULL */
};

struct Block {
	Module *module;
	Op *parent; /* NULL for the entry */
	int nparams;
	Value **params;
	Op *first, *last; /* last is O_return once built */
};

typedef enum Level { L_global, L_sharded, L_resharded, L_device, L_fused, L_scheduled } Level;

/* A name the user can ask about: parameters, lets, vars, results. */
typedef struct Named {
	const char *name;    /* "h", "ffn.2.h" */
	Value *value;	     /* NULL once its op is gone */
	Type type;	     /* global */
	Placement placement; /* final, filled at the end of propagation */
} Named;

/* What is done once for several users, most first. */
typedef enum Sharing {
	SHARE_unknown,
	SHARE_all,  /* equal ops are merged, and what is gathered is kept for all users */
	SHARE_near, /* ... but gathered again for those far from it */
	SHARE_none, /* that, and equal ops are not merged */
} Sharing;

/* What is known of ops before it is their turn to be partitioned. */
typedef struct Foresight {
	bool sums;  /* that they are in, which are drawn together */
	bool wants; /* where they will want values that others use, too */
	bool once;  /* equal ones that make parts of sums are one, whatever is made of these */
	/* Said of the module: something is planned otherwise than without `wants`. */
	bool swayed;
	bool decided; /* what of these pays */
} Foresight;

/* `expect h: [B@X, F];` */
typedef struct Expect {
	Value *value;
	const char *name;
	Placement placement;
	Range range;
} Expect;

/* A row of overlaps.def; see there. */
typedef enum Overlap {
#define OVERLAP(id, ...) OVERLAP_##id,
#include "overlaps.def"
#undef OVERLAP
	OVERLAPS
} Overlap;
typedef enum Begins { BEGINS_none, BEGINS_default, BEGINS_all } Begins;
typedef struct OverlapInfo {
	const char *name;
	Begins begins;
	bool pipelines, divides;
} OverlapInfo;
extern const OverlapInfo overlaps[OVERLAPS]; /* ops.c */

struct Module {
	Session *session;
	Arena *arena;	  /* the session's */
	const char *name; /* of the source, an identifier */
	const char *entry_name;
	Level level;
	const char *last_pass; /* name of the last pass run; "" at first */
	Mesh mesh;
	bool keep_inputs; /* parameters are not overwritten: they are live to the end */
	Overlap overlap;
	Block *entry;
	Block **uncalled; /* functions that nobody calls, until they are checked */
	int nuncalled;
	Named *named;
	int nnamed;
	Table *python;	/* how a JAX program calls what it is given and gives, or NULL */
	bool typed;	/* ... whose types say where all is (AxisType.Explicit) */
	Table *columns; /* ... places of its Python that need a column, and names (place.h) */
	Named *results; /* as in the signature: the i-th is operand i of the entry's return */
	int nresults;
	/* From `pipeline` on, where collectives overlap: planned.h; or NULL */
	struct PlannedRun *planned;
	Expect *expects;
	int nexpects;
	Module *reference;     /* what --check compares with, where functions are `same
				   as` others; NULL: this module.  Below L_device */
	Table *names;	       /* used value names, for uniqueness */
	bool unnamed;	       /* nobody will see it: from now on values share names */
	Sharing sharing;       /* with which it fits the target, of all passes */
	bool too_large;	       /* ... or with which it takes least, for it fits with none */
	double shared;	       /* bytes of a device that less of it might spare, at most */
	Foresight foresight;   /* with which it is partitioned */
	int64_t least;	       /* picoseconds that another program for the same takes at
				  least: trips apart, no pieces; 0: nobody asked */
	int64_t tokens;	       /* that a run is about, for rates; 0: not said */
	int nvalues, nops;     /* after module_number() */
	struct Ledger *ledger; /* what moves: cost/ledger.h; or NULL */
	struct Precedents *precedents; /* shard/shard.h; or NULL */
	Pool op_pool, value_pool;
};
/* placement.c: the whole result, as declared: with axes of size 1, which the value
   that the entry returns may lack. */
void text_declared(Text *t, const Module *m, int result);

/* ---- the op table --------------------------------------------------- */

/* What an op lets through of partial results: partial.h. */
typedef enum PartialKind {
#define PARTIAL(id, ...) PARTIAL_##id,
#include "partials.def"
#undef PARTIAL
} PartialKind;

/* build.c: the opcode in HLO: all-gather; of one that only begins all-gather-start, and of
   what waits for it all-gather-done. */
extern const char opcode_start[], opcode_done[]; /* "-start", "-done" */
const char *op_opcode(Arena *a, const Op *op);
/* How many fences, from this one on, are one, as HLO writes them: they are of one place, and
   none is of another's. */
int fences_in_one(const Op *first);
/* One that waits for what others stand for, too. */
bool is_one_of_fences(const Op *op);
/* Collectives that are one transfer, or what waits for such, from the first on; of what is
   none 1.  `is_combined`: with the op before it. */
int combined_in_one(const Op *first);
bool op_is_combined(const Op *op);
bool ops_combine(const Op *a, const Op *b); /* do they move alike, so that they could? */

/* In which programs an op may be. */
typedef enum Where {
	WHERE_any,
	WHERE_whole,  /* on whole tensors */
	WHERE_device, /* of one device, and in manual regions */
	WHERE_unfused,
	WHERE_fused, /* from then on */
	WHERE_scheduled,
	WHERE_begun, /* as front/ leaves it; grad/ takes them out */
} Where;

/* How the bodies of an op run. */
typedef enum BodiesRun {
	BODIES_none,   /* there are none */
	BODIES_once,   /* there is one */
	BODIES_ruled,  /* ... and one that gives its gradient */
	BODIES_choice, /* operand 0 chooses one of two */
	BODIES_loop,   /* a condition, and what is run as long as it holds */
} BodiesRun;

typedef struct Rule Rule;
typedef struct OpInfo {
	const char *name;   /* "dot" */
	const char *hlo;    /* opcode, without the custom-call target */
	const char *target; /* custom-call target or NULL */
	int operands;
	uint64_t attrs;
	bool pointwise, leaf, blocked;
	bool product;	/* of matrices */
	bool symmetric; /* its two operands may change places: the bits are the same */
	bool renames;	/* the same elements in the same order, by another shape */
	bool many;	/* results, any number of them */
	Where where;
	BodiesRun run;
	int bodies; /* blocks it owns */
	PartialKind partial;
	int flops;
	int weight; /* of one element, roughly: of a sum 1, of what a library computes 8 */
	const char *float_c, *int_c, *doc;
} OpInfo;
extern const OpInfo ops[OP_COUNT];

/* A row of collectives.def; see there. */
typedef enum Route { ROUTE_ring, ROUTE_across, ROUTE_pairs } Route;
typedef enum StartType { START_result, START_pair, START_wrapped } StartType;
typedef enum Combines { COMBINES_no, COMBINES_operands, COMBINES_lines } Combines;
typedef struct CollectiveInfo {
	int per_member, per_rest, whole;
	int turns; /* 0: the op is no collective */
	Route route;
	bool varies;
	int base;
	bool in_place, global;
	StartType start;
	Combines combines;
	bool early, runs;
} CollectiveInfo;
extern const CollectiveInfo collectives[OP_COUNT]; /* ops.c */
static inline bool
op_communicates(const Op *op)
{
	return collectives[op->kind].turns > 0;
}

/* A collective may begin before it is waited for where those do. */
static inline bool
op_begins_with(const Op *op, Begins begins)
{
	return begins == BEGINS_all
		|| (begins == BEGINS_default && collectives[op->kind].early);
}

/* ... as the module's overlap allows. */
static inline bool
op_may_begin_early(const Op *op)
{
	return op_begins_with(op, overlaps[op->module->overlap].begins);
}

/* It runs on the matrix unit, and in a library. */
static inline bool
op_is_product(const Op *op)
{
	return ops[op->kind].product;
}

/* Of rows and the groups that they are of. */
static inline bool
op_is_grouped(const Op *op)
{
	return op->kind == O_grouped_dot || op->kind == O_grouped_outer;
}

/* It combines elements of operand 0 on one device, those of some dims. */
static inline bool
op_reduces(const Op *op)
{
	return ops[op->kind].partial == PARTIAL_reduce && !op_communicates(op);
}

/* A buffer stays where it is and has another shape. */
static inline bool
op_renames(const Op *op)
{
	return ops[op->kind].renames;
}

/* Of a fused program, and a step of no fusion: its operands lie in its result, one behind the
   other, so nothing is moved. */
bool op_is_joint(const Op *op);
/* Along its dim, is each operand a range of the result's bytes? */
bool op_is_in_ranges(const Op *concatenate);
/* ... a slice whose elements are those of its operand, where they lie. */
bool op_is_strip(const Op *op);
/* Does its result lie where its operand does: another name of that, or of a part? */
static inline bool
op_is_name(const Op *op)
{
	return op_renames(op) || op_is_strip(op);
}

/* How an attribute is spelled in HLO text. */
typedef enum AttrForm {
	FORM_LIST,	/* {1,0} */
	FORM_ONE,	/* 1 */
	FORM_DIRECTION, /* LT */
	FORM_COMBINER,	/* %add_f32 */
	FORM_VALUE,	/* the literal of a constant */
	FORM_SLICE,	/* {[0:8:2], [0:16]} */
	FORM_PAD,	/* 1_0x0_2 */
	FORM_FACT,	/* frontend_attributes={trips="4"} */
	FORM_FACTS,	/* frontend_attributes={source="1,2,-1"} */
} AttrForm;

typedef struct AttrInfo {
	const char *name, *hlo;
	AttrForm form;
} AttrInfo;
extern const AttrInfo attr_table[ATTR_COUNT]; /* ops.c */

extern const char *const level_names[]; /* ops.c */

/* Whether HLO keeps the word as a type and so refuses it as a value's name. */
bool hlo_reserved(const char *name); /* ops.c */

/* ---- rules: an op as an einsum over factors -------------------------- */

typedef enum FactorKind {
	F_pass,	     /* splitting it needs no communication */
	F_reduce,    /* only in operands: splitting leaves partials */
	F_permute,   /* may be split, but data must move along it */
	F_replicate, /* must be whole on each device */
} FactorKind;

typedef struct Factor {
	int64_t size;
	FactorKind kind;
	bool blocked; /* nothing propagates along it */
	bool early;   /* placements pass along it as along F_pass */
} Factor;

typedef struct DimFactors { /* of one dim of one tensor, major to minor */
	int64_t size;	    /* of the dim */
	int n;
	int16_t f[MAX_RANK];
} DimFactors;

/* Tensors are the operands, then the results, in order. */
struct Rule {
	Arena *arena; /* of what is in it */
	OpKind kind;
	int nfactors;
	Factor *factors;
	int noperands, ntensors;
	int *rank;	   /* rank[tensor] */
	DimFactors **dims; /* dims[tensor][dim] */
	Combiner combiner; /* of F_reduce factors */
	int once;	   /* Where F_reduce factors are split, this
				   operand must be unreduced over the same
				   axes, for it is to be counted once; -1:
				   no operand (all but scatter_add) */
};

/* rules.c */
const Rule *op_rule(Arena *a, const Op *op);  /* NULL: no rule (blocked) */
Value *rule_tensor(const Op *op, int tensor); /* operand or result */
/* rule_book.c: the same, made once for equal ops, of any programs. */
typedef struct RuleBook RuleBook;
RuleBook *rule_book_new(Arena *a);
const Rule *rule_book_get(RuleBook *book, const Op *op);
/* Have they one rule: equal kinds, attributes and types, and of extern functions rule
   strings?  Then they have one hash. */
bool op_same_rule(const Op *a, const Op *b);
uint64_t op_rule_hash(const Op *op);
/* ([i,k],[k,j])->([i,j]) {i=8, ...} reduction={k} */
void text_rule(Text *t, const Op *op, const Rule *r);
/* The manual region around a block, or NULL. */
const Op *block_manual(const Block *b);
/* The axes of all that are around it. */
AxisList block_manual_axes(const Block *b);
/* manual.c: what the body of a region along the axes `manual` knows of a
   tensor's placement, and the placement of which it is that part. */
Placement manual_inside(const AxisList *manual, const Placement *whole);
Placement manual_whole(const Placement *spec, const Placement *inside);
/* How often an op runs: the trips of the loops around it, multiplied (at most
   INT64_MAX).  False if those of some loop are not known, which counts once. */
bool op_trips(const Op *op, int64_t *trips);

/* extern.c: rules of extern functions.
   NULL if right; else what is wrong, with text[*at] or the end. */
const char *extern_rule_parse(Arena *a, const char *text, ExternRule *rule, int *at);
/* The text of one. */
const char *extern_rule_text(Arena *a, const ExternRule *rule);
char extern_rule_letter(int letter);

/* The functions of a module and its reference, each once, in order. */
typedef struct Externs {
	int n;
	const External **v;
	const char **paths; /* of the libraries, once they were found */
} Externs;
Externs module_externs(Module *m);
bool external_equal(const Module *m, const External *a, const External *b);

/* types.c */
int64_t type_elements(const Type *type);
int64_t type_elements_from(const Type *type, int64_t dim); /* of the dims from there on */
int64_t type_bytes(const Type *type);			   /* of a device's memory */
int64_t type_stored(const Type *type);			   /* bytes here */
/* Can 64 bits count its bytes, and has each dim some? */
bool type_can_be(const Type *type);
bool type_equal(const Type *a, const Type *b);
Type type_of(DType d, int rank, const int64_t *dims);
bool dtype_is_float(DType d);
bool dtype_is_integer(DType d); /* not pred */
bool dtype_is_narrow(DType d);	/* a float that is computed in f32, and rounded */
bool dtype_is_index(DType d);	/* the same but u64: all fit 63 bits and a sign */
bool dtype_by_name(const char *name, DType *dtype);
bool combiner_by_name(const char *name, Combiner *combiner); /* "add", "max" */
/* The identity of a combiner in a dtype, as an A_value payload. */
int64_t combiner_identity(Combiner c, DType d);
/* What changes no element that it is combined with, not its sign either: -0 of floats that are
   added. */
int64_t combiner_neutral(Combiner c, DType d);
double payload_double(int64_t v); /* A_value of float dtypes */
int64_t double_payload(double d);
bool payload_fits(DType d, int64_t payload); /* has the dtype such a value? */

/* floats.c: of a float dtype.  The nearest value, ties to even; past the range infinity, or
   NaN where there is none. */
double float_rounded(DType d, double v);
uint64_t float_bits_of(DType d, double v); /* rounded */
double float_of_bits(DType d, uint64_t bits);

/* build.c: making and changing programs */
Module *module_new(Session *s, const char *name);
Block *block_new(Module *m, Op *parent);
const char *module_unique_name(Module *m, const char *wanted);
/* As the user calls it: what loops and branches pass on, and a result, is
   several values, "y", "y.2", ..., of one name. */
const char *value_source_name(const Value *v);
/* Names of values that are gone become free.  Before each pass, so that one
   started from a dump chooses the names it would have chosen anyway. */
void module_free_names(Module *m);
void module_hide(Module *m); /* nobody sees it from now on: in a copy of this process */
Value *block_add_param(Block *b, const char *name, const Type *type);
/* A detached op with `nresults` fresh values (named, type not yet set). */
Op *op_new(Module *m, OpKind kind, int noperands, Value *const *operands, int nresults,
	const char *result_name, Range range, const char *label);
/* clone.c: the same op once more, detached, with bodies of its own. */
Op *op_clone(const Op *op);
/* Its bodies, empty. */
void op_begin_bodies(Op *op, int n);
/* One more at the end. */
Value *op_add_result(Op *op, const char *name, const Type *type);
void op_add_operand(Op *op, Value *v);
void op_set_operand_range(Op *op, int operand, Range where);
void op_append(Block *b, Op *op);
void op_insert_before(Op *where, Op *op);
void op_remove(Op *op);
void op_set_ints(Op *op, AttrKind a, int n, const int64_t *v);
void op_set_int(Op *op, AttrKind a, int64_t v);
void op_copy_attrs(Op *op, const Op *from);
bool op_has(const Op *op, AttrKind a);
/* Who sends to a device in a permute; -1: nobody, it gets zeros. */
int64_t permute_source(const Mesh *mesh, const Op *op, int64_t device);
const Ints *op_ints(const Op *op, AttrKind a); /* never NULL; n 0 if absent */
int64_t op_int(const Op *op, AttrKind a);      /* the first */
int64_t op_inner(const Op *pad, int dim);      /* elements between two; 0 if absent */
/* Of n elements with `inner` between two how many a pad keeps, from `first` on (which may be
   NULL); low and high then say what is around these. */
int64_t pad_kept(int64_t n, int64_t inner, int64_t *low, int64_t *high, int64_t *first);
int ints_find(const Ints *list, int64_t v); /* where; -1: nowhere */
bool ints_contain(const Ints *list, int64_t v);
/* typing.c: the types of an op's results, by the table; for "given" ops
   results[0] holds the wanted one.  NULL if right, else why not. */
const char *op_types(const Op *op, Type *results);
/* Fills the types of the results by the table, and open placements of those
   ranks where there are none yet.  NULL if the op is right, else why not, and
   nothing is filled in; the second die()s then. */
const char *op_try_infer(Op *op);
void op_infer(Op *op);
void value_replace_uses(Module *m, Value *old, Value *new); /* whole module */
/* It is called as the other, from the same place, and is what the source says of that. */
void value_take_name(Value *v, const Value *from);
void module_number(Module *m); /* ids of values and ops, from 0 */
void block_number(Block *b);   /* of those in it alone */
void module_count_uses(Module *m);
/* The same of the values of a block and of the bodies in it. */
void block_count_uses(Block *b);
/* Is it made anew for each use, for that costs nothing: a constant, an iota, or a
   number spread over a tensor? */
bool value_is_literal(const Value *v);
/* Is its result operand 0, of which it only says where that is: a placed let, out=, a
   move, a barrier, a shard_like, a result of the entry? */
bool op_is_identity(const Op *op);
/* It moves between the memories of the device and of its host. */
static inline bool
op_is_hosted(const Op *op)
{
	return op->kind == O_to_host || op->kind == O_to_device;
}
/* ... and is to be moved there: a placed let, out=, a move? */
bool op_is_move(const Op *op);
/* Is each element of its operands one of the result's: element by element, a reshape,
   a transpose? */
bool op_is_one_to_one(const Op *op);
/* Do scalar operands say where: of a dynamic slice or update? */
bool op_has_starts(const Op *op);
/* Is the result a part of operand 0: a slice, a dynamic one? */
bool op_takes_part(const Op *op);
/* Which of its operands the value is, the first of several. */
int op_operand_of(const Op *op, const Value *v);
/* The operand that is written into a part of operand 0, or added to it; -1: the op
   changes nothing. */
int op_changed_part(const Op *op);
/* What a take or a scatter_add looks up: `n` dims of operand 0 from `first` on, at indices of
   `rank` dims; of several the indices have one more, the last, for an index of each.  Some may
   be said to count a dim of the indices, as a batch does: of n dims which, -1: none. */
typedef struct Lookup {
	int first, n, rank;
	int counts[MAX_RANK];
} Lookup;
bool op_looks_up(const Op *op); /* is it one of these? */
Lookup op_lookup(const Op *op);
static inline bool
op_changes(const Op *op)
{
	return op_changed_part(op) >= 0;
}
/* Does the loop hand carried value i on as it is? */
bool loop_hands_on(const Op *loop, int i);
/* flow.c: of a fused program, outside of fusions: a number that is known before the
   program runs, or a table of such.  It has no place in memory. */
bool op_is_offset(const Op *op);
bool value_is_offset(const Value *v);
void module_clear_uses(Module *m);
/* dead.c: what is needed has `uses` above 0; at L_global so does what has a name. */
void module_find_needed(Module *m);
bool value_is_gone(const Value *v); /* its op was removed, or one in whose body it is */
void module_forget_gone(Module *m); /* what is gone has no name; before values are numbered */
/* Names and expectations are of what stands for their values, by id; NULL: of themselves. */
void module_replace_named(Module *m, Value *const *now);
void module_replace(Module *m, Value **now); /* operands, results, what stands for these, too */
bool module_remove_dead(Module *m);	     /* ops whose results are unused; named
					   values count as used at L_global */
/* The next in pre-order, bodies included:
   for (Op *op = b->first; op; op = op_following(op, b)) */
Op *op_following(const Op *op, const Block *within);
int block_length(const Block *b);	    /* how many ops, the return too */
Value **module_values(Module *m, Arena *a); /* by id, after module_number() */

/* origin.c: the story of an axis.  value_origin() is NULL where unknown. */
const Origin *value_origin(const Value *v, int dim, AxisRef a);
/* line 4, or lib.shd:4, between these; nothing where no line is known. */
void text_line(Text *t, const Module *m, const char *before, Range r, const char *after);
/* "Y: from 'W' (line 3) through einsum 'bd,df->bf' (line 6)" */
void text_origin(Text *t, const Module *m, const Value *v, int dim, AxisRef a);

/* limits.c: fills in Value.positions, at L_global; whether one was changed */
bool module_limit_indices(Module *m);

/* verify.c: calls `report` for every failure, in the order of the text. */
typedef void Report(const void *line, const char *message, void *data);
void module_check(Module *m, Report *report, void *data);

#endif

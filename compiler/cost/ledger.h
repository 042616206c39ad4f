/*
 * ledger.h - what goes between devices, a row for each transfer.
 *
 *   h [8@X, 64@Y] -> [8@X, 64]   all-gather over Y, 12 kB and 1 us, 96 times
 *
 * `partition` writes a row for each move that it decides on and each exchange
 * of boundary rows.  From L_device on the rows are the collectives, in program
 * order; they follow from the module alone, so that one read from a dump has the
 * same, and are made once for each level.  A pass leaves none behind but its own.
 */
#ifndef SHDC_LEDGER_H
#define SHDC_LEDGER_H

#include "cost/cost.h"
#include "ir/planned.h"

typedef struct Transfer {
	const Op *op;		 /* a reshard, an op that gets rows as it runs, or the
			   collective: it has the label, the place, `requested` */
	OpKind kind;		 /* of the collective */
	AxisList axes;		 /* along which data goes */
	const Value *value;	 /* what moves, before any move */
	const Value *becomes;	 /* from L_device on: the named value that is made of it by
				   moves alone, or NULL */
	Placement before, after; /* L_resharded: of a reshard */
	double bytes, seconds;	 /* a device receives, each time */
	int64_t rows, hops;	 /* of an exchange; to the farthest */
	int64_t trips;		 /* how often, */
	bool counted;		 /* ... if that is known */
} Transfer;

/* What an op costs with all its moves. */
typedef struct Price {
	double bytes, seconds;
	bool known;
} Price;

/* A kernel of its own that devices along an axis compute each for itself, though a factor could
   be split over it.  At L_resharded. */
typedef struct Repeated {
	const Op *op;
	AxisRef axis;
	double flops, seconds; /* of a device, each time */
	Price here;	       /* as it is planned; not known: nothing was to be weighed */
	Price split;	       /* the best that was considered with the axis in use */
	int64_t trips;
	bool counted;
} Repeated;

/* What one device computes and receives in one run. */
typedef struct Work {
	int64_t wire_bytes;
	double flops;
	int64_t picoseconds; /* one step after the other */
} Work;

typedef struct Ledger {
	Arena *arena;
	Level level;
	Transfer *transfers;
	int n;
	Repeated *repeated;
	int nrepeated;
	Work work;	       /* from L_device on */
	const Value **sources; /* from L_device on, by value id: what it is a
				   copy or a part of */
} Ledger;

/* A collective of the plan, and what the schedule has made of it. */
typedef struct Collective {
	const PlannedMove *x;
	const Op *move; /* itself, or the first that moves for it; NULL: none is left */
	bool async;	/* it, or some of it, is beside work */
	bool in_ring;
	int64_t times; /* that a part of it is moved as it is itself */
} Collective;

/* The module's, empty. */
Ledger *ledger_new(Module *m);
void ledger_add(Ledger *l, Transfer t);
void ledger_add_repeated(Ledger *l, Repeated r);
/* The module's; from L_device on it is made when first asked for, before that NULL
   where no pass wrote it. */
const Ledger *module_ledger(Module *m);
/* Of a device program whose collectives are as planned: makes Module.planned. */
void module_note_planned(Module *m);
/* As many as there are in `planned`, the module's, or what it would be now. */
Collective *planned_collectives(Module *m, const PlannedRun **planned);
/* In how many it is moved; 1 or less: as a whole. */
int64_t collective_pieces(const Collective *collective);

#endif

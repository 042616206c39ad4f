/*
 * count.c - how many ops a program has once its functions are inlined, before any is.
 *
 *   @f calls @g twice, @g calls @h twice, ...      2, 4, 8, ... copies of the last
 *
 * Each function is counted once, and its count added wherever it is called, so that this is
 * linear in the text however many copies there would be.
 */
#include <string.h>

#include "import/reader.h"

/* Of a function: its ops with those of what it calls, and how deep its calls go. */
typedef struct Counted {
	int64_t nops;
	int depth;
} Counted;

typedef struct Counting {
	Import *in;
	Table *functions; /* Counted, by name */
	int depth;	  /* of the calls that led here */
} Counting;

static bool count_block(Counting *counting, const MlirBlock *block, Counted *sum);

/* Of what an op calls; a function that calls itself is one that goes too deep. */
static bool
count_call(Counting *counting, const MlirOp *call, Counted *sum)
{
	Import *in = counting->in;
	const char *name = word_of(in, call, "callee");
	const MlirOp *function = table_get(in->functions, name);
	Counted *own = table_get(counting->functions, name);

	if (!function) /* told where it is read */
		return true;
	if (!own && counting->depth < MAX_CALLS) {
		own = NEW(in->arena, Counted);
		counting->depth++;
		if (!count_block(counting, function->regions.v[0], own))
			return false;
		counting->depth--;
		table_set(counting->functions, name, own);
	}
	if (!own || own->depth + counting->depth >= MAX_CALLS) {
		diag(in->session, DIAG_inlining, call->range,
			"calls are nested more than %d deep", MAX_CALLS);
		return false;
	}
	sum->nops += own->nops;
	if (sum->depth <= own->depth)
		sum->depth = own->depth + 1;
	return true;
}

/* No sum is more than twice the limit. */
static bool
count_op(Counting *counting, const MlirOp *op, Counted *sum)
{
	sum->nops++;
	if (!strcmp(op->name, "func.call") && !count_call(counting, op, sum))
		return false;
	for (int i = 0; i < op->regions.n; i++)
		if (!count_block(counting, op->regions.v[i], sum))
			return false;
	if (sum->nops <= MAX_IMPORTED)
		return true;
	diag(counting->in->session, DIAG_too_large, op->range,
		"the program has more than %d operations where functions are inlined",
		MAX_IMPORTED);
	return false;
}

static bool
count_block(Counting *counting, const MlirBlock *block, Counted *sum)
{
	for (int i = 0; i < block->ops.n; i++)
		if (!count_op(counting, block->ops.v[i], sum))
			return false;
	return true;
}

bool
program_fits(Import *in)
{
	const MlirOp *main = table_get(in->functions, "main");
	Counting counting = {.in = in, .functions = table_new(in->arena)};
	Counted all = {0};

	return !main || count_block(&counting, main->regions.v[0], &all);
}

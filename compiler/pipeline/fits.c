/*
 * fits.c - may equal ops be merged and what is gathered kept, or would a device then need
 * too much memory?
 *
 * The program is compiled so, as far as buffers are known, and then is again as it was; if
 * it does not fit, so with less shared.  That is not needed where all values, whole, are a
 * fraction of what the target has.
 *
 * So it is asked what a device receives with sums drawn together and without: a tree of
 * them is priced by itself, and what else is made of its operands may move more for it.
 * So it is with dims padded that axes would split which do not divide them, and without.
 * So it is where equal sums are parts that stay by themselves, with these and as one.
 * Each of these with what users of a value want and without: an op that counts on a move may
 * be the only one that it is made for in the end.
 */
#include "cost/ledger.h"
#include "ir/targets.h"
#include "memory/plan.h"
#include "pipeline/pipeline.h"

enum { FORMS = 4 }; /* of an operand on one device: moved, and on the way there */

/* All operands and results, as if nothing were split or shared. */
static double
unshared_bytes(const Module *m)
{
	double bytes = 0;

	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry))
		for (int i = 0; i < op->noperands + op->nresults; i++)
			bytes += (double)type_bytes(&rule_tensor(op, i)->type);
	return bytes;
}

typedef struct Attempt {
	Module *module;
	const ArenaImage *before;
	Sharing sharing;
	int64_t (*compiled)(struct Attempt *one);
	Foresight with;
	Padding padding;
	int64_t bytes; /* what was found out; at most INT64_MAX */
} Attempt;

static int64_t
peak_of(Module *m)
{
	const Plan *plan = plan_build(m);

	return plan->uncounted ? INT64_MAX : plan_peak(plan);
}

/* Bytes that a device needs, if it is compiled from here on so.  Trips that
   are pipelined take more only where that fits; so does an order in which more is at once.  An
   order may need a tenth of what the program's needs, where gathers wait for backward. */
static int64_t
compiled_peak(Attempt *one)
{
	static const PipelineOptions first = {.verified = true},
				     fuse = {.start_at = "fuse", .verified = true};
	Module *m = one->module;

	m->foresight = one->with;
	if (m->level == L_resharded) /* no pass after it merges */
		merge(m, sharing_that_fits);
	if (!pipeline_run(m, L_device, &first) || !pipeline_run(m, L_fused, &fuse))
		return INT64_MAX;
	one->with = m->foresight;
	int64_t peak = peak_of(m);
	if (peak <= m->mesh.target->hbm_bytes)
		return peak;
	return pipeline_run(m, L_scheduled, &first) ? peak_of(m) : INT64_MAX;
}

/* ... that it receives in one run. */
static int64_t
compiled_traffic(Attempt *one)
{
	PipelineOptions options = {
		.start_at = one->padding ? "pad_dims" : "partition",
		.padding = one->padding,
		.foresight = &one->with,
		.verified = true,
	};

	if (!pipeline_run(one->module, L_device, &options))
		return INT64_MAX;
	return module_ledger(one->module)->work.wire_bytes;
}

/* Of the module as it is, to which attempts come back; what they find out of ops and moves
   stays. */
static ArenaImage *
before_attempts(Module *m)
{
	module_precedents(m);
	return arena_image(m->arena);
}

static Attempt
attempted(Attempt one)
{
	Arena *a = one.module->arena;

	module_hide(one.module);
	one.module->sharing = one.sharing;
	one.bytes = one.compiled(&one);
	arena_restore(a, one.before);
	return one;
}

/* All of it first.  Where what users want has changed no plan, none is made without. */
Foresight
foresight_that_pays(Module *m, Foresight there_is)
{
	Foresight best = {.sums = there_is.sums, .wants = true};
	bool swayed[4] = {0}; /* without wants, by what else there is */
	int64_t least = INT64_MAX;
	ArenaImage *before = before_attempts(m);

	for (int k = 0; k < 8; k++) {
		bool no_sums = k & 1, once = k & 2, no_wants = k & 4;
		if ((no_sums && !there_is.sums) || (once && !there_is.once)
			|| (no_wants && !swayed[k & 3]))
			continue;
		Attempt tried = attempted((Attempt){
			.module = m,
			.before = before,
			.sharing = SHARE_all,
			.compiled = compiled_traffic,
			.with = {.sums = there_is.sums && !no_sums,
				.wants = !no_wants,
				.once = once},
		});
		swayed[k & 3] = there_is.wants && tried.with.swayed;
		if (tried.bytes < least)
			best = tried.with;
		least = tried.bytes < least ? tried.bytes : least;
	}
	arena_image_free(before);
	return best;
}

/* Where both receive as much, dims are split as Shardy has them. */
Padding
padding_that_pays(Module *m)
{
	int64_t bytes[PAD_inferred + 1];
	ArenaImage *before = before_attempts(m);

	for (Padding padding = PAD_written; padding <= PAD_inferred; padding++)
		bytes[padding] = attempted((Attempt){
						   .module = m,
						   .before = before,
						   .sharing = SHARE_all,
						   .compiled = compiled_traffic,
						   .with = {.sums = true, .wants = true},
						   .padding = padding,
					   })
					 .bytes;
	arena_image_free(before);
	bool pays =
		bytes[PAD_inferred] <= bytes[PAD_written] && bytes[PAD_inferred] < INT64_MAX;
	Padding padding = pays ? PAD_inferred : PAD_written;
	Precedents *known = module_precedents(m);
	if (known->padding == PAD_asked)
		known->padding = padding;
	return padding;
}

/* With all that is shared. */
static void
tell_not_shared(Module *m, Sharing sharing, int64_t all)
{
	const Target *target = m->mesh.target;
	Text t = {0};

	text_add(&t, all == INT64_MAX ? "more than " : "");
	text_memory(&t, (double)all);
	text_printf(&t, " of memory if %s; %s has ",
		sharing == SHARE_near ? "what is gathered were kept for all its uses"
				      : "equal ops were computed once",
		target->name);
	text_memory(&t, (double)target->hbm_bytes);
	diag(m->session, DIAG_not_merged, nowhere, "a device would need %s", t.s);
	text_free(&t);
}

/* What pays of foresight was found out on the way, too; of what is not merged it may be
   something else, which matters only if that is what is taken. */
Sharing
sharing_that_fits(Module *m)
{
	int64_t limit = m->mesh.target->hbm_bytes, peaks[SHARE_none + 1];
	Foresight known = m->foresight, found = known;

	if (m->sharing)
		return m->sharing;
	if (unshared_bytes(m) * FORMS <= (double)limit)
		return SHARE_all;
	ArenaImage *before = before_attempts(m);
	Sharing best = 0;
	for (Sharing s = SHARE_all; s <= SHARE_none; s++) {
		Attempt tried = attempted((Attempt){
			.module = m,
			.before = before,
			.sharing = s,
			.compiled = compiled_peak,
			.with = found,
		});
		peaks[s] = tried.bytes;
		if (s == SHARE_all)
			found = tried.with;
		if (!best || peaks[s] < peaks[best])
			best = s;
		if (peaks[s] <= limit)
			break;
	}
	arena_image_free(before);
	m->sharing = best;
	m->foresight = best == SHARE_none ? known : found;
	m->too_large = peaks[m->sharing] > limit;
	if (m->sharing != SHARE_all && peaks[m->sharing] <= limit)
		tell_not_shared(m, m->sharing, peaks[SHARE_all]);
	return m->sharing;
}

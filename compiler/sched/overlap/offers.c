/*
 * offers.c - collectives that could be one transfer and are not: both prices.
 *
 *   all-reduce over X of sum and 2 more: 27 us one by one, 9 us in one; a run takes 15.4 us,
 *   with all such in one 15.6 us: left apart
 *
 * What is one in the end is told with its fate (report/schedule.c).  Of the copies of one place
 * in the source, in trips of a loop, before it and behind it, that is told which moves most.
 */
#include "cost/called.h"
#include "cost/timeline.h"
#include "ir/flow.h"
#include "sched/overlap/overlap.h"

void
offers_note(Offers *o, const Graph *combined, int64_t apart, int64_t in_one)
{
	for (int i = 0; i < combined->n; i++) {
		const Job *job = &combined->jobs[i];
		if (job->task.kind != TASK_start || job->nops < 2)
			continue;
		Offer offer = {.ops = arena_copy(o->arena, job->ops,
				       (size_t)job->nops * sizeof *job->ops),
			.n = job->nops,
			.together = job->task.picoseconds,
			.block_apart = apart,
			.block_in_one = in_one};
		APPEND(o->arena, o->v, o->n, offer);
	}
}

/* What takes so long. */
static const char *
name_of_block(const Block *b)
{
	if (!b->parent)
		return "a run";
	return op_is_loop(b->parent) ? "a trip" : "a branch";
}

/* What its block takes as it is, and with all that could be one; or, where that is quicker,
   what a run does. */
static void
text_times(Text *t, const Offers *o, const Offer *offer)
{
	bool block = offer->block_in_one >= offer->block_apart;

	text_printf(t, "; %s takes ", block ? name_of_block(offer->ops[0]->block) : "a run");
	text_picoseconds(t, block ? offer->block_apart : o->apart);
	text_add(t, ", with all such in one ");
	text_picoseconds(t, block ? offer->block_in_one : o->in_one);
}

/* One by one, once. */
static double
seconds_apart(const Offer *offer)
{
	double apart = 0;

	for (int i = 0; i < offer->n; i++) {
		double bytes = (double)type_bytes(&offer->ops[i]->operands[0]->type);
		apart += transfer_of_bytes(offer->ops[i], bytes).seconds;
	}
	return apart;
}

static const char *
text_of_offer(const Offers *o, const Offer *offer, const char *const *names)
{
	const Op *first = offer->ops[0];
	Text t = {0};

	text_printf(&t, "%s over ", ops[first->kind].hlo);
	text_axes(&t, &first->module->mesh, first->axes);
	text_printf(&t, " of %s and %d more: ", called(first, names, o->arena), offer->n - 1);
	text_seconds(&t, seconds_apart(offer));
	text_add(&t, " one by one, ");
	text_picoseconds(&t, offer->together);
	text_add(&t, " in one");
	text_times(&t, o, offer);
	text_add(&t, o->fits ? "" : " and more than the memory");
	text_add(&t, ": left apart");
	return text_take(&t, o->arena);
}

/* Are some of them one? */
static bool
is_taken(const Offer *offer)
{
	for (int i = 0; i < offer->n; i++)
		if (combined_in_one(offer->ops[i]) > 1 || offer->ops[i]->combined)
			return true;
	return false;
}

/* In a run. */
static double
seconds_of_run(const Offer *offer)
{
	int64_t trips;

	op_trips(offer->ops[0], &trips);
	return seconds_apart(offer) * (double)trips;
}

/* Of each place and kind the one that is told, in the order of the first of each. */
static const Offer **
find_told(const Offers *o, int *n)
{
	Table *places = table_new(o->arena);
	const Offer **told = NEW_ARRAY(o->arena, const Offer *, o->n + 1);

	*n = 0;
	for (int i = 0; i < o->n; i++) {
		const Op *op = o->v[i].ops[0];
		const char *key = arena_printf(o->arena, "%d:%d:%d:%s", op->range.file,
			op->range.begin, op->range.line, ops[op->kind].hlo);
		if (is_taken(&o->v[i]))
			continue;
		const Offer **known = table_get(places, key);
		if (!known)
			table_set(places, key, known = &told[(*n)++]);
		if (!*known || seconds_of_run(&o->v[i]) > seconds_of_run(*known))
			*known = &o->v[i];
	}
	return told;
}

void
offers_tell(const Offers *o, const Module *m)
{
	int n;
	const Offer **told = find_told(o, &n);
	const char **names = user_names(m, o->arena, NULL);

	for (int i = 0; i < n; i++)
		diag(m->session, DIAG_schedule, told[i]->ops[0]->range, "%s",
			text_of_offer(o, told[i], names));
}

/*
 * what_if.c - the program once more, otherwise: what would a run of that take?
 *
 * A remark that proposes an annotation has tried it: the global program is
 * read back from its text, the values placed, and the passes run; what a device
 * then receives is compared with what it receives now.  Many are tried by as many
 * processes as there are processors; the text is read once.  Of a long program what pays
 * of foresight, which is most of what a plan takes to find out, is not asked for each: it is
 * what paid for the program as it is, and with the annotation written no more is received
 * than was told.  So are the trips of loops that are beside each other, and the padding.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cost/ledger.h"
#include "hlo/hlo.h"
#include "pipeline/pipeline.h"
#include "shard/shard.h"

static void
count_failure(const void *line, const char *message, void *data)
{
	(void)line, (void)message;
	++*(int *)data;
}

static Value *
value_of_name(const Module *m, const char *name)
{
	for (int i = 0; i < m->entry->nparams; i++)
		if (!strcmp(m->entry->params[i]->name, name))
			return m->entry->params[i];
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
		for (int i = 0; i < op->nresults; i++)
			if (!strcmp(op->results[i]->name, name))
				return op->results[i];
	return NULL;
}

bool
is_type_of_name(const Op *op)
{
	static const char *const words[] = {"let", "var", "="};
	const char *name = op->nresults ? op->results[0]->name : "", *dot = strrchr(name, '.');
	bool found = op->kind == O_output;

	if (op->kind != O_constraint || !op->label)
		return found;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		found |= !strcmp(op->label, words[i]);
	return found || !strcmp(op->label, dot ? dot + 1 : name);
}

/* What is written there says otherwise; what an op makes, with no type behind its name, gets
   a constraint. */
static bool
place(Module *m, const Placed *placed)
{
	Value *found = value_of_name(m, placed->value->name), *v = found;

	if (!found || found->type.rank != placed->placement.rank)
		return false;
	if (found->def && !is_type_of_name(found->def)) {
		Make k = {.module = m,
			.before = found->def->next,
			.label = "let",
			.name = found->name};
		v = make_unary(k, O_constraint, found);
		value_replace_uses(m, found, v);
		v->def->operands[0] = found;
	}
	v->placement = placed->placement;
	v->annotated = true;
	return true;
}

/* A parameter or result is whole then, as its type says without axes; what was placed
   on its way is as it comes. */
static bool
unplace(Module *m, const char *name)
{
	Value *v = value_of_name(m, name);

	if (!v)
		return false;
	if (!v->def || v->def->kind == O_output) {
		v->placement = placement_none(v->type.rank);
		return true;
	}
	Value *x = v->def->operands[0];
	for (int i = 0; i < m->nnamed; i++)
		if (m->named[i].value == v)
			m->named[i].value = x;
	value_replace_uses(m, v, x);
	op_remove(v->def);
	return true;
}

Outcome
outcome_of(Module *m, const Plan *plan, const Timeline *timeline)
{
	bool endless = timeline_is_endless(timeline);
	const PlannedRun *planned;

	planned_collectives(m, &planned);
	return (Outcome){
		.collectives = planned->n,
		.wire_bytes = planned->received,
		.picoseconds = endless ? INT64_MAX : timeline->time,
		.counted = timeline->counted,
		.communication = timeline->communication,
		.exposed = endless ? 0 : timeline->exposed,
		.peak = plan->uncounted ? INT64_MAX : plan_peak(plan),
	};
}

static Module *
read_silently(Session *s, const char *text, size_t n)
{
	s->err = NULL;
	return module_read(s, source_add_text(s, "<what if>", text, (int)n));
}

/* Brings the program with the change to L_fused; false if it can't be. */
static bool
compile_changed(Module *m, const Change *change, Padding padding)
{
	PipelineOptions silent = {.verified = true, .padding = padding};
	int failures = 0;

	for (int i = 0; i < change->nplaced; i++)
		if (!place(m, &change->placed[i]))
			return false;
	for (int i = 0; i < change->nunplaced; i++)
		if (!unplace(m, change->unplaced[i]))
			return false;
	m->nexpects = 0;
	m->unnamed = true;
	m->keep_inputs ^= change->toggle_inputs;
	module_check(m, count_failure, &failures);
	return !failures && pipeline_run(m, L_scheduled, &silent);
}

/* ---- many ---------------------------------------------------------------------- */

enum {
	MOST_ASKED = 1000,  /* values of a program of which each trial asks what pays */
	MOST_TRIED = 16000, /* ... and of one of which all trials are made; of longer ones */
	LEAST_PART = 8,	    /* ... fewer, but this part of them */
};

int
trials_of_long(const Module *m, int most)
{
	int64_t longer = greater(m->nvalues, MOST_TRIED);

	return (int)greater((int64_t)most * MOST_TRIED / longer, most / LEAST_PART);
}

typedef struct Answer {
	TrialEnd end;	/* a process that dies leaves TRIAL_defect */
	int64_t worker; /* the process */
	double shared;	/* bytes that less sharing might spare */
	Outcome outcome;
} Answer;

typedef struct Trials {
	const WhatIfs *asked;
	Session *session;
	Module *module;	     /* as it was read; NULL: it can't be */
	ArenaImage *as_read; /* of the session */
	bool changed;	     /* ... since then, by this process */
	Trial *const *trials;
	int ntrials;
	const int *round; /* the numbers of those that are made now, */
	Sharing sharing;  /* with so much shared, */
	Sharing first;	  /* at first with so much */
	Foresight foresight;
	Padding padding;
	int64_t limit;	   /* bytes of memory */
	Answer *answers;   /* all processes share them, */
	int64_t *received; /* and these: by trial, of each place */
} Trials;

static bool
is_at(const PlannedMove *x, const AskedPlace *place)
{
	bool along = false;

	for (int i = 0; i < x->axes.n; i++)
		along |= axes_overlap(&place->axes, x->axes.a[i]);
	return along && x->kind == place->kind && x->line == place->line
		&& !strcmp(x->label, place->label);
}

/* What a device receives at the places that are asked about.  A transfer in a loop that
   ends at no known trip counts as one. */
static void
note_received(const Trials *all, Module *m, int64_t *received)
{
	const PlannedRun *planned;

	planned_collectives(m, &planned);
	for (int i = 0; i < planned->n; i++) {
		const PlannedMove *x = &planned->moves[i];
		for (int at = 0; at < all->asked->nplaces; at++)
			if (is_at(x, &all->asked->places[at]))
				received[at] += x->bytes * (x->counted ? x->trips : 1);
	}
}

/* Begins with the program as it was read. */
static bool
try_change(Trials *all, int i)
{
	const Change *change = &all->trials[i]->change;
	int64_t *received = all->received + (int64_t)i * all->asked->nplaces;
	Answer *answer = &all->answers[i];

	if (all->changed)
		arena_restore(all->session->arena, all->as_read);
	all->changed = true;
	Module *m = all->module;
	if (m) {
		m->sharing = all->sharing;
		m->foresight = all->foresight;
	}
	if (!m || !compile_changed(m, change, all->padding))
		return false;
	answer->outcome = outcome_of(m, plan_build(m), timeline_walk(m, m->arena));
	answer->shared = m->shared;
	memset(received, 0, (size_t)all->asked->nplaces * sizeof *received);
	note_received(all, m, received);
	return true;
}

/* The trips of loops are as they were decided, unless that is too much memory. */
static void
try_one(void *data, int64_t at)
{
	Trials *t = data;
	int i = t->round[at];
	Answer *answer = &t->answers[i];
	Precedents *known = t->module ? t->module->precedents : NULL;

	answer->worker = getpid();
	bool can_be = try_change(t, i);
	if (can_be && known && known->trips && known->trips_stay
		&& answer->outcome.peak > t->limit) {
		known->trips_stay = false;
		can_be = try_change(t, i);
		known->trips_stay = true;
	}
	answer->end = can_be ? TRIAL_through : TRIAL_refused;
}

/* Where memory is short the system kills. */
static void
note_failure(void *data, int64_t worker, int status)
{
	Trials *t = data;
	bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	bool short_of_memory =
		killed || (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_MEMORY);

	for (int i = 0; i < t->ntrials && short_of_memory; i++)
		if (t->answers[i].worker == worker && t->answers[i].end == TRIAL_defect)
			t->answers[i].end = TRIAL_no_memory;
}

static void
try_round(Trials *all, const int *round, int n, const TrialProgress *progress)
{
	Workload work = {.n = n, .piece = try_one, .data = all, .failed = note_failure};

	all->round = round;
	for (int i = 0; i < n; i++)
		all->answers[round[i]].end = TRIAL_defect;
	if (progress) {
		work.progress = progress->show;
		work.progress_data = progress->data;
	}
	work_share(&work);
}

static void
take_received(const Trials *all, int i)
{
	size_t n = (size_t)all->asked->nplaces;
	Trial *trial = all->trials[i];

	if (n && !trial->received)
		trial->received = NEW_ARRAY(all->asked->arena, int64_t, n);
	if (n)
		memcpy(trial->received, all->received + (size_t)i * n, n * sizeof(int64_t));
}

/* Takes the answers over; of several the first that fits, else what needs least memory.  Leaves
   the numbers of those that do not fit, but might with less shared, in `round`, and how many
   there are. */
static int
take_answers(Trials *all, int *round, int n)
{
	int large = 0;

	for (int i = 0; i < n; i++) {
		const Answer *answer = &all->answers[round[i]];
		Trial *trial = all->trials[round[i]];
		bool through = answer->end == TRIAL_through;
		bool better = through && answer->outcome.peak < trial->outcome.peak;
		if (all->sharing == all->first || better || !through) {
			trial->end = answer->end;
			trial->outcome = answer->outcome;
			take_received(all, round[i]);
		}
		if (through && answer->outcome.peak > all->limit
			&& (double)answer->outcome.peak - answer->shared <= (double)all->limit)
			round[large++] = round[i];
	}
	return large;
}

/* What is equal is shared where it fits so, which only the end tells: what does not is tried
   with less, if that might do.  Of a long program what it needs as it is comes first, and
   where that is too large, whatever is shared, nothing else is tried. */
void
what_ifs(const WhatIfs *asked, Trial *const *trials, int ntrials)
{
	Arena *a = arena_new();
	Session *s = session_new();
	Module *m = read_silently(s, asked->text, asked->n);
	const Module *as_is = asked->as_is;
	size_t answers = (size_t)ntrials * sizeof(Answer);
	size_t bytes = answers + (size_t)ntrials * (size_t)asked->nplaces * sizeof(int64_t);
	char *shared = shared_new(bytes);
	Trials t = {.asked = asked,
		.session = s,
		.module = m,
		.trials = trials,
		.ntrials = ntrials,
		.limit = m ? m->mesh.target->hbm_bytes : INT64_MAX,
		.answers = (Answer *)shared,
		.received = (int64_t *)(shared + answers)};
	int *round = NEW_ARRAY(a, int, ntrials + 1);

	if (!shared)
		out_of_memory();
	if (m)
		module_number(m);
	bool is_long = m && m->nvalues > MOST_ASKED;
	if (m)
		m->precedents = as_is->precedents;
	t.as_read = arena_image(s->arena);
	if (is_long)
		t.foresight = as_is->foresight;
	if (is_long && as_is->precedents)
		t.padding = as_is->precedents->padding;
	if (as_is->precedents)
		as_is->precedents->trips_stay = is_long;
	t.first = is_long && as_is->sharing ? as_is->sharing : SHARE_all;
	Sharing last = is_long && as_is->too_large ? t.first : SHARE_none;
	for (int i = 0; i < ntrials; i++)
		round[i] = i;
	for (t.sharing = t.first; ntrials && t.sharing <= last; t.sharing++) {
		try_round(&t, round, ntrials, asked->progress);
		ntrials = take_answers(&t, round, ntrials);
	}
	shared_free(shared, bytes);
	arena_free(a);
	arena_image_free(t.as_read);
	session_free(s);
}

bool
what_if(const char *text, size_t n, const Change *change, Outcome *outcome)
{
	Session *s = session_new();
	Module *m = read_silently(s, text, n);
	bool can_be = m && compile_changed(m, change, PAD_asked);

	if (can_be)
		*outcome = outcome_of(m, plan_build(m), timeline_walk(m, m->arena));
	session_free(s);
	return can_be;
}

/* Pieces of a collective count as that. */
static void
add_exposure(Arena *a, Exposure **all, int *n, const Session *s, const TimelineStep *step)
{
	const Op *op = step->op->whole ? step->op->whole : step->op;
	const char *path = op->range.file ? source_path(s, op->range.file) : "";
	int i = 0;

	while (i < *n
		&& ((*all)[i].kind != op->kind || (*all)[i].line != op->range.line
			|| strcmp((*all)[i].label, op->label) != 0
			|| strcmp((*all)[i].path, path) != 0))
		i++;
	if (i == *n) {
		Exposure new = {op->kind, arena_printf(a, "%s", op->label),
			arena_printf(a, "%s", path), op->range.line, 0, 0};
		APPEND(a, *all, *n, new);
	}
	(*all)[i].total += step->total;
	(*all)[i].exposed += step->exposed;
}

const Exposure *
exposures_of(const char *text, size_t n, Arena *a, int *nexposures)
{
	Session *s = session_new();
	Module *m = read_silently(s, text, n);
	bool can_be = m && compile_changed(m, &(Change){0}, PAD_asked);
	const Timeline *timeline = can_be ? timeline_walk(m, m->arena) : NULL;
	Exposure *all = NULL;

	*nexposures = 0;
	for (int i = 0; timeline && i < timeline->n; i++)
		if (timeline->steps[i].moves)
			add_exposure(a, &all, nexposures, s, &timeline->steps[i]);
	session_free(s);
	return all;
}

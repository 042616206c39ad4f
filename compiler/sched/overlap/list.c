/*
 * list.c - an order of a block, by list scheduling on true times.
 *
 *   thread   | dot 0 . . . | dot 1 . . . |
 *   links    | gather 1 |    | gather 2 |
 *
 * The thread is handed one job after the other.  Before it computes, transfers are
 * begun that can be, the one with the longest way before it first: those whose links
 * are idle, and behind them as much as these links carry while it computes.  If nothing
 * can be computed, it waits for what is there first.
 *
 * Where not all has room (held.c), and much is held, what the program has first goes first,
 * which frees what it made: gradients are summed before the next weight is gathered.
 */
#include <string.h>
#include "sched/overlap/overlap.h"

enum {
	MOST_FLIGHTS = 16, /* transfers under way at a time */
	/* of what can be next: how many may have to wait before one that need not */
	MOST_LOOKED_AT = sizeof((Ready){0}.best) / sizeof((Ready){0}.best[0]),
	LATER_ONE_IN = 2,  /* of transfers that begin at another time than in the best order, */
	TO_END_ONE_IN = 3, /* ... of orders made so: at any until the end of that */
};

/* Limits by which all that was asked is answered as it was. */
typedef struct Limits {
	int64_t least, most;
} Limits;

/* An order that was given up, and with what else it would have been. */
typedef struct GivenUp {
	Taste taste;
	FromEnd from_end;
	Limits ahead, crowded, room;
	bool held, keeps;
	int64_t time; /* it takes so long at least */
	struct GivenUp *next;
} GivenUp;

struct Listing {
	Graph *graph;
	int64_t longest; /* way from the begin to the end */
	Order order;
	int n;
	Left work, left; /* of all, of what is not in order */
	int64_t least;	 /* that this order takes, as far as it goes */
	Tracks *tracks;
	int *first_edge,
		*to; /* by number: places in `to`, numbers of jobs that come after it */
	int *waits;  /* by number: jobs before it that are not in order, */
	int *before; /* ... of all; */
	int *free;   /* numbers of those with none, */
	int nfree;
	Ready runs, starts, instant; /* the last take no time */
	Ready early, early_starts;   /* in the order of the program; of some graphs */
	bool *over;		     /* by number of a run or start: it is in order */
	int oldest;		     /* number of the first run that is not */
	Job **flights;		     /* begun, not yet waited for */
	int nflights;
	Taste taste;
	int *begun;	       /* by number of a start: its place in the order */
	int64_t *since, *kept; /* ... from when on it may begin; that of the best order, */
	int64_t end;	       /* ... which takes so long */
	uint64_t chance;
	int64_t *shaken;   /* keys changed by chance, by number */
	GivenUp same;	   /* of this order, */
	GivenUp *given_up; /* ... and those that were */
};

/* ---- what can be next -------------------------------------------------------------------- */

static bool
is_before(const struct Entry *a, const struct Entry *b)
{
	return a->key != b->key ? a->key > b->key : a->job < b->job;
}

static void
heap_put(Ready *r, struct Entry entry)
{
	int i = r->nothers++;

	for (; i && is_before(&entry, &r->others[(i - 1) / 2]); i = (i - 1) / 2)
		r->others[i] = r->others[(i - 1) / 2];
	r->others[i] = entry;
}

static struct Entry
heap_take(Ready *r)
{
	const struct Entry best = r->others[0], last = r->others[--r->nothers];
	int i = 0;

	for (int child = 1; child < r->nothers; child = 2 * i + 1) {
		if (child + 1 < r->nothers
			&& is_before(&r->others[child + 1], &r->others[child]))
			child++;
		if (!is_before(&r->others[child], &last))
			break;
		r->others[i] = r->others[child];
		i = child;
	}
	r->others[i] = last;
	return best;
}

void
ready_put(Ready *r, Job *job, int64_t key)
{
	const struct Entry entry = {key, job};
	int i = r->nbest;

	if (i && !is_before(&entry, &r->best[i - 1]) && (r->nothers || i == MOST_LOOKED_AT)) {
		heap_put(r, entry);
		return;
	}
	if (i == MOST_LOOKED_AT)
		heap_put(r, r->best[--i]);
	for (r->nbest = i + 1; i && is_before(&entry, &r->best[i - 1]); i--)
		r->best[i] = r->best[i - 1];
	r->best[i] = entry;
}

bool
ready_reaches(Ready *r, int i)
{
	while (r->nbest <= i && r->nothers)
		r->best[r->nbest++] = heap_take(r);
	return r->nbest > i;
}

Job *
ready_take(Ready *r, int i)
{
	Job *job = r->best[i].job;

	for (r->nbest--; i < r->nbest; i++)
		r->best[i] = r->best[i + 1];
	ready_reaches(r, 0);
	return job;
}

/* ---- one job after the other ---------------------------------------------------- */

static uint64_t
draw(Listing *list)
{
	list->chance = list->chance * 6364136223846793005u + 1442695040888963407u;
	return list->chance >> 20;
}

/* The answer, or the other by chance, if the taste is shaken. */
static bool
or_other(Listing *list, bool answer)
{
	return list->taste.shake && draw(list) % 4 == 0 ? !answer : answer;
}

/* What has the greatest key comes first. */
static int64_t
key_of(Listing *list, const Job *job)
{
	int64_t own = list->taste.first == FIRST_tail ? job->task.picoseconds : 0;
	int64_t path = list->taste.first == FIRST_from_end ? job->from_end : job->path;

	return path - own;
}

/* ... in a list of jobs, by the taste or, if `program`, as the program has them. */
static void
put(Listing *list, Ready *r, Job *job, bool program)
{
	int64_t key = program	    ? -job->number
		: list->taste.shake ? list->shaken[job->number]
				    : key_of(list, job);

	ready_put(r, job, key);
}

static void
make_ready(Listing *list, Job *job)
{
	const Graph *g = list->graph;
	First first = list->taste.first;

	if (job->task.kind == TASK_done) {
		list->flights[list->nflights++] = job;
	} else if (job->task.kind == TASK_start) {
		put(list, &list->starts, job, first == FIRST_order);
		if (g->held)
			put(list, &list->early_starts, job, true);
	} else if (!job->task.picoseconds) {
		put(list, &list->instant, job, true);
	} else {
		put(list, &list->runs, job, first >= FIRST_program);
		if (g->held || g->ahead)
			put(list, &list->early, job, true);
	}
}

static Job *
top(const Ready *r)
{
	return r->nbest ? r->best[0].job : NULL;
}

/* What is in both heaps is taken from one of them first. */
static void
drop_over(const Listing *list, Ready *r)
{
	while (top(r) && list->over[job_number(list->graph, top(r))])
		ready_take(r, 0);
}

static Job *
take_run(Listing *list, Ready *from)
{
	Job *job = ready_take(from, 0);

	list->over[job->number] = true;
	drop_over(list, &list->runs);
	drop_over(list, &list->early);
	return job;
}

/* Is it more than that? */
static bool
exceeds(int64_t value, int64_t limit, Limits *same)
{
	if (value > limit)
		same->most = lesser(same->most, value - 1);
	else
		same->least = greater(same->least, value);
	return value > limit;
}

/* What is pressing makes way for what the program has first. */
static bool
is_crowded(Listing *list)
{
	const Graph *g = list->graph;

	return g->held && exceeds(held_now(g->held), g->crowded, &list->same.crowded);
}

/* Is there no room for what it makes, or, where that is kept, not until the program comes to
   it? */
static bool
is_too_much(Listing *list, const Job *job)
{
	const Graph *g = list->graph;

	if (!g->held)
		return false;
	int64_t more = g->keeps ? held_until(g->profile, list->oldest, job->number) : 0;
	return exceeds(held_with(g->held, job) + more, g->room, &list->same.room);
}

static int64_t
most_ahead(const Graph *g)
{
	return g->ahead ? g->ahead : INT64_MAX;
}

/* Is so much of the program left before it that it has to wait? */
static bool
is_far_ahead(Listing *list, const Job *job)
{
	int64_t ahead = job->number - list->oldest;

	return exceeds(ahead + 1, most_ahead(list->graph), &list->same.ahead);
}

static bool
has_to_wait(Listing *list, const Job *run)
{
	return is_far_ahead(list, run) || is_too_much(list, run);
}

static void
find_oldest(Listing *list)
{
	const Graph *g = list->graph;

	while (list->oldest <= g->n
		&& (list->over[list->oldest]
			|| g->jobs[list->oldest - 1].task.kind != TASK_run))
		list->oldest++;
}

/* What is left takes its time from now on, and so does the way from the job on. */
static void
count_off(Listing *list, const Job *job, int64_t from)
{
	const Task *task = &job->task;
	Left *left = &list->left;
	int64_t now = tracks_now(list->tracks);

	if (task->kind == TASK_run)
		left->thread -= task->picoseconds;
	if (task->moves && task->links->word[left->word] & left->bit)
		left->link -= task->shared;
	if (task->bodies && left->bit)
		left->link -= task->bodies->busy.of[left->word][__builtin_ctzll(left->bit)];
	list->least = greater(list->least, add_picoseconds(from, job->path));
	list->least =
		greater(list->least, add_picoseconds(now, greater(left->thread, left->link)));
}

static void
add(Listing *list, Job *job)
{
	Task *task = &list->order.tasks[list->n];

	list->over[job->number] = true;
	find_oldest(list);
	*task = job->task;
	if (task->kind == TASK_done)
		task->start = list->begun[job->number - 1];
	if (task->kind == TASK_start)
		list->begun[job->number] = list->n;
	if (list->graph->held)
		held_add(list->graph->held, job);
	list->order.jobs[list->n++] = job;
	tracks_add(list->tracks, list->order.tasks, task);
	count_off(list, job, task->from);
	for (int i = list->first_edge[job->number]; i < list->first_edge[job->number + 1]; i++)
		if (!--list->waits[list->to[i]])
			make_ready(list, &list->graph->jobs[list->to[i] - 1]);
}

static const Task *
flight_of(const Listing *list, const Job *done)
{
	return &list->order.tasks[list->begun[done->number - 1]];
}

/* The done of what is there soonest, if that is within so long; NULL: none. */
static Job *
take_done(Listing *list, int64_t within)
{
	int best = -1;

	for (int i = 0; i < list->nflights; i++) {
		int64_t left = tracks_left(list->tracks, flight_of(list, list->flights[i]));
		if (left <= within) {
			within = left ? left - 1 : 0;
			best = i;
		}
	}
	if (best < 0)
		return NULL;
	Job *job = list->flights[best];
	list->flights[best] = list->flights[--list->nflights];
	return job;
}

/* Would it keep its links from a more pressing one, which can begin when `before` is over
   in so long?  All is over later if that one waits for it than if it waits for that one. */
static bool
keeps_links(const Listing *list, const Job *start, const Job *before, int64_t time)
{
	for (const struct Edge *e = before->after; e; e = e->next) {
		const Job *other = e->to;
		if (other->task.kind != TASK_start || list->waits[other->number] > 1
			|| !link_sets_meet(other->task.links, start->task.links))
			continue;
		int64_t first = add_picoseconds(start->task.picoseconds, other->path);
		int64_t second = add_picoseconds(time,
			greater(other->path,
				add_picoseconds(other->task.picoseconds, start->path)));
		if (second < greater(first, start->path))
			return true;
	}
	return false;
}

static bool
is_in_the_way(const Listing *list, const Job *start)
{
	const Job *run = top(&list->runs);

	if (run && keeps_links(list, start, run, run->task.picoseconds))
		return true;
	for (int i = 0; i < list->nflights; i++) {
		const Job *done = list->flights[i];
		int64_t left = tracks_left(list->tracks, flight_of(list, done));
		if (keeps_links(list, start, done, left))
			return true;
	}
	return false;
}

/* What is left of all when its transfer is over. */
static int64_t
left_behind(const Listing *list, const Job *done)
{
	return list->taste.first == FIRST_from_end ? done->from_end : done->path;
}

/* Would all be over as soon if it waited for one that has its links, until the thread comes to
   it?  Beside each other both take as long as one behind the other. */
static bool
yields_to(const Listing *list, const Job *start, const Job *done, int64_t busy)
{
	int64_t own = start->task.picoseconds, behind = left_behind(list, start + 1);
	int64_t other = tracks_left(list->tracks, flight_of(list, done));
	int64_t both = lesser(other, own), behind_other = left_behind(list, done);
	int64_t beside = greater(add_picoseconds(other + both, behind_other),
		add_picoseconds(own + both, behind));
	int64_t after = greater(add_picoseconds(other, behind_other),
		add_picoseconds(greater(other, busy) + own, behind));

	return link_sets_meet(done[-1].task.links, start->task.links) && after <= beside;
}

/* Is what is under way on its links more pressing? */
static bool
yields(const Listing *list, const Job *start, int64_t busy)
{
	for (int i = 0; i < list->nflights; i++)
		if (yields_to(list, start, list->flights[i], busy))
			return true;
	return false;
}

/* Does it leave its links to what is under way on them for so long? */
static bool
leaves_links(const Listing *list, const Job *start, int64_t busy)
{
	int64_t before = tracks_busy(list->tracks, start->task.links);
	int64_t after = add_picoseconds(before, start->task.picoseconds);

	switch (list->taste.share) {
	case SHARE_never:
		return before && after > busy;
	case SHARE_soon:
		return before > busy;
	case SHARE_pressing:
		return before && yields(list, start, busy);
	case SHARE_always:
		break;
	}
	return false;
}

static bool
may_begin(Listing *list, const Job *start, int64_t busy)
{
	if (!top(&list->runs) && !list->nflights)
		return true;
	return !or_other(list,
		       leaves_links(list, start, busy)
			       || (list->taste.patient && is_in_the_way(list, start)))
		&& !is_too_much(list, start)
		&& list->since[start->number] <= tracks_now(list->tracks);
}

/* What can be begun while the thread is busy for so long. */
static void
begin_transfers(Listing *list, int64_t busy)
{
	Ready *starts = is_crowded(list) ? &list->early_starts : &list->starts;
	int i = 0;

	while (i < MOST_LOOKED_AT && list->nflights < MOST_FLIGHTS
		&& ready_reaches(starts, i)) {
		Job *job = starts->best[i].job;
		if (list->over[job_number(list->graph, job)])
			ready_take(starts, i);
		else if (may_begin(list, job, busy))
			add(list, ready_take(starts, i));
		else
			i++;
	}
}

/*
 * A transfer that is there soon, if all would be over earlier by waiting for it than by
 * the best run before; what is behind it may be another transfer, beside that run.
 *
 *   2 left, then 14 more     run 15     15 + 14 if the run is first, else 2 + 15
 */
static int
worth_waiting(const Listing *list)
{
	const Job *run = top(&list->runs);

	for (int i = 0; i < list->nflights; i++) {
		const Job *done = list->flights[i];
		int64_t left = tracks_left(list->tracks, flight_of(list, done));
		int64_t before = add_picoseconds(run->task.picoseconds, done->path);
		if (left < run->task.picoseconds
			&& add_picoseconds(left, greater(done->path, run->path)) < before)
			return i;
	}
	return -1;
}

/* What the thread waits for though it could compute; none: -1. */
static int
waited_for(Listing *list)
{
	if (or_other(list, false) && list->nflights)
		return (int)(draw(list) % (uint64_t)list->nflights);
	return list->taste.patient ? worth_waiting(list) : -1;
}

/* The best run that takes no longer, of a few; NULL: none. */
static Job *
take_shorter(Listing *list, int64_t time)
{
	Ready *runs = &list->runs;
	Job *shorter = NULL;
	int i = 0;

	while (i < MOST_LOOKED_AT && !shorter && ready_reaches(runs, i)) {
		const Job *job = runs->best[i].job;
		if (list->over[job->number])
			ready_take(runs, i);
		else if (job->task.picoseconds <= time && !is_far_ahead(list, job))
			shorter = ready_take(runs, i);
		else
			i++;
	}
	if (shorter)
		list->over[shorter->number] = true;
	drop_over(list, &list->runs);
	drop_over(list, &list->early);
	return shorter;
}

/* The best; where that has to wait the program's first, once nothing is under way if it has
   to wait, too. */
static Job *
take_best(Listing *list)
{
	if (!is_crowded(list) && !has_to_wait(list, top(&list->runs)))
		return take_run(list, &list->runs);
	if (list->nflights && has_to_wait(list, top(&list->early)))
		return take_done(list, INT64_MAX);
	return take_run(list, &list->early);
}

/* What the thread comes to: the best run, or a done that it stands before. */
static Job *
next_job(Listing *list)
{
	int i = top(&list->runs) ? waited_for(list) : -1;

	if (!top(&list->runs))
		return take_done(list, INT64_MAX);
	if (i < 0)
		return take_best(list);
	Job *done = list->flights[i];
	Job *shorter = take_shorter(list, tracks_left(list->tracks, flight_of(list, done)));
	if (shorter)
		return shorter;
	list->flights[i] = list->flights[--list->nflights];
	return done;
}

/* Keys changed by chance. */
static void
shake(Listing *list)
{
	const Graph *g = list->graph;
	uint64_t most = (uint64_t)list->longest / 2;

	for (int i = 0; i < g->n; i++)
		list->shaken[i + 1] = add_picoseconds(key_of(list, &g->jobs[i]),
			(int64_t)(draw(list) % (most + 1)));
}

/* Transfers may begin from when on they might in the best order, some at any time that the
   longest way leaves them, or, each third time, that is left of that order. */
static void
find_since(Listing *list)
{
	const Graph *g = list->graph;
	uint64_t chance = list->chance;
	bool to_end = list->taste.later % TO_END_ONE_IN == 0;
	int64_t end = to_end ? greater(list->end, list->longest) : list->longest;

	list->chance = (uint64_t)list->taste.later;
	for (int i = 0; i < g->n; i++) {
		const Job *job = &g->jobs[i];
		int64_t *since = &list->since[job->number];
		*since = list->kept[job->number];
		if (job->task.kind == TASK_start && draw(list) % LATER_ONE_IN == 0)
			*since = (int64_t)(draw(list) % ((uint64_t)(end - job->path) + 1));
	}
	list->chance = chance;
}

void
listing_keep(Listing *list)
{
	int64_t *kept = list->kept;

	list->kept = list->since;
	list->since = kept;
	list->end = list->order.time;
}

/* Edges of a job side by side. */
static void
find_edges(Listing *list, Arena *a)
{
	const Graph *g = list->graph;
	int n = 0;

	for (int i = 0; i < g->n; i++)
		n += g->jobs[i].before;
	list->first_edge = NEW_ARRAY(a, int, g->n + 2);
	list->to = NEW_ARRAY(a, int, n + 1);
	n = 0;
	for (int i = 0; i < g->n; i++) {
		list->before[i + 1] = g->jobs[i].before;
		if (!g->jobs[i].before)
			APPEND(a, list->free, list->nfree, i + 1);
		list->first_edge[i + 1] = n;
		for (const struct Edge *e = g->jobs[i].after; e; e = e->next)
			list->to[n++] = job_number(g, e->to);
	}
	list->first_edge[g->n + 1] = n;
}

static Listing *
listing_new(Graph *g)
{
	Arena *a = g->own;
	size_t n = (size_t)g->n + 1;
	Listing *list = NEW(a, Listing);

	*list = (Listing){.graph = g,
		.work = *graph_work(g),
		.order = {NEW_ARRAY(a, Job *, n), NEW_ARRAY(a, Task, n), 0},
		.runs.others = NEW_ARRAY(a, struct Entry, n),
		.starts.others = NEW_ARRAY(a, struct Entry, n),
		.instant.others = NEW_ARRAY(a, struct Entry, n),
		.early.others = NEW_ARRAY(a, struct Entry, n),
		.early_starts.others = NEW_ARRAY(a, struct Entry, n),
		.over = NEW_ARRAY(a, bool, n),
		.flights = NEW_ARRAY(a, Job *, n),
		.begun = NEW_ARRAY(a, int, n),
		.waits = NEW_ARRAY(a, int, n),
		.before = NEW_ARRAY(a, int, n),
		.shaken = NEW_ARRAY(a, int64_t, n),
		.since = NEW_ARRAY(a, int64_t, n),
		.kept = NEW_ARRAY(a, int64_t, n)};
	for (int i = 0; i < g->n; i++)
		list->longest = greater(list->longest, g->jobs[i].path);
	find_edges(list, a);
	return list;
}

Listing *
listing_of(Graph *g)
{
	if (!g->listing)
		g->listing = listing_new(g);
	memset(g->listing->kept, 0, ((size_t)g->n + 1) * sizeof(int64_t));
	g->listing->end = 0;
	return g->listing;
}

static void
begin_listing(Listing *list, Taste taste)
{
	Graph *g = list->graph;
	size_t n = (size_t)g->n + 1;
	const Limits any = {INT64_MIN, INT64_MAX};

	list->same = (GivenUp){taste, g->found, any, any, any, g->held, g->keeps, 0, NULL};
	list->taste = taste;
	list->chance = (uint64_t)taste.shake;
	list->n = list->nflights = 0;
	list->oldest = 1;
	Ready *const empty[] = {&list->runs, &list->starts, &list->instant, &list->early,
		&list->early_starts};
	for (int i = 0; i < (int)(sizeof empty / sizeof *empty); i++)
		empty[i]->nbest = empty[i]->nothers = 0;
	list->least = 0;
	list->left = list->work;
	list->tracks = tracks_new(g->arena, NULL);
	if (g->held)
		held_begin(g->held);
	memset(list->over, 0, n * sizeof *list->over);
	memcpy(list->waits, list->before, n * sizeof *list->waits);
	if (taste.shake)
		shake(list);
	if (taste.later)
		find_since(list);
	else
		memset(list->since, 0, n * sizeof *list->since);
	for (int i = 0; i < list->nfree; i++)
		make_ready(list, &g->jobs[list->free[i] - 1]);
}

static bool
is_within(int64_t limit, Limits same)
{
	return same.least <= limit && limit <= same.most;
}

static bool
is_same_taste(Taste a, Taste b)
{
	return a.first == b.first && a.share == b.share && a.patient == b.patient
		&& a.shake == b.shake && a.later == b.later;
}

/* Was the same order, whatever it was limited by then, found to take so long? */
static bool
was_given_up(const Listing *list, Taste taste, int64_t within)
{
	const Graph *g = list->graph;
	const GivenUp *was = list->given_up;

	while (was
		&& !(was->time >= within && is_same_taste(was->taste, taste)
			&& (taste.first != FIRST_from_end || was->from_end == g->found)
			&& is_within(most_ahead(g), was->ahead) && (was->held || !g->held)
			&& (was->keeps == g->keeps || !g->held)
			&& is_within(g->held ? g->crowded : INT64_MAX, was->crowded)
			&& is_within(g->held ? g->room : INT64_MAX, was->room)))
		was = was->next;
	return was != NULL;
}

/* Of those that are the same each time. */
static void
give_up(Listing *list)
{
	GivenUp *same = &list->same;
	bool once = list->taste.first == FIRST_from_end && same->from_end == FROM_order;

	if (once || list->taste.shake || list->taste.later)
		return;
	same->time = list->n == list->graph->n ? list->order.time : list->least;
	same->next = list->given_up;
	list->given_up = arena_copy(list->graph->own, same, sizeof *same);
}

const Order *
list_schedule(Listing *list, Taste taste, int64_t within)
{
	if (was_given_up(list, taste, within))
		return NULL;
	begin_listing(list, taste);
	while (list->n < list->graph->n && list->least < within) {
		Job *done = take_done(list, 0);
		if (top(&list->instant) || done) {
			add(list, done ? done : ready_take(&list->instant, 0));
			continue;
		}
		const Job *run = top(&list->runs);
		begin_transfers(list, run ? run->task.picoseconds : 0);
		add(list, next_job(list));
	}
	list->order.time = tracks_end(list->tracks);
	if (list->n == list->graph->n && list->order.time < within)
		return &list->order;
	give_up(list);
	return NULL;
}

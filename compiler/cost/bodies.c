/*
 * bodies.c - loops and branches as one task each, and what is under way beside them.
 *
 *   begin V     12 on the link           trip   dot 2  gather 1          alone 3
 *   8 trips of dot 2, gather 1                  dot 2  gather 1 . 1      beside V 4
 *   done V
 *
 * All trips are alike.  Those beside which something is under way share their links with it
 * equally, and it has what they leave: V moves 3 in each, so 4 of 8 are beside it.  On the
 * average half a V is beside each, a trip takes 3.5, all 28, and V the 20 that are left.
 *
 * So each transfer of a body takes as long in every trip, and no link is used more than
 * there is time: what is beside has at each time what the trips, on the average, leave.
 */
#include "cost/tracks.h"

/* ---- what is in them ------------------------------------------------------------- */

Body
body_of(Task *tasks, int n, Arena *a)
{
	Body body = {.tasks = tasks, .n = n, .times = 1};

	body.alone = tracks_run(tasks, n, NULL, a);
	return body;
}

static void
add_busy(Bodies *in, const LinkSums *sums, const LinkSet *links, int64_t times)
{
	for (int i = 0; i < LINK_WORDS; i++) {
		in->links.word[i] |= links->word[i];
		for (uint64_t left = links->word[i]; left; left &= left - 1) {
			int bit = __builtin_ctzll(left);
			int64_t *sum = &in->busy.of[i][bit];
			*sum = add_picoseconds(*sum,
				repeat_picoseconds(sums->of[i][bit], times));
		}
	}
}

static void
add_transfers(Bodies *in, const Body *body)
{
	for (int i = 0; i < body->n; i++) {
		const Task *task = &body->tasks[i];
		int64_t time = repeat_picoseconds(task->shared, body->times);
		if (task->bodies)
			add_busy(in, &task->bodies->busy, &task->bodies->links, body->times);
		if (!task->links || !time)
			continue;
		links_add(&in->busy, task->links, time);
		for (int k = 0; k < LINK_WORDS; k++)
			in->links.word[k] |= task->links->word[k];
	}
}

Task
bodies_task(Body first, Body second, Arena *a)
{
	Bodies *in = NEW(a, Bodies);

	in->body[0] = first;
	in->body[1] = second;
	for (int i = 0; i < 2; i++) {
		const Body *body = &in->body[i];
		in->alone = add_picoseconds(in->alone,
			repeat_picoseconds(body->alone, body->times));
		if (body->times)
			add_transfers(in, body);
	}
	return (Task){.picoseconds = in->alone, .bodies = in};
}

/* ---- how long they take ------------------------------------------------------------ */

/* Of `users` those of their links; a mark of them, 0: there are none. */
static uint64_t
find_others(Bodies *in, const LinkSums *users)
{
	uint64_t mark = 0;

	for (int i = 0; i < LINK_WORDS; i++)
		for (uint64_t left = in->links.word[i]; left; left &= left - 1) {
			int bit = __builtin_ctzll(left);
			int64_t n = in->others.of[i][bit] = users->of[i][bit];
			if (!n)
				continue;
			mark = (mark ^ (uint64_t)(i * 64 + bit)) * 0x9e3779b97f4a7c15u;
			mark = (mark ^ (mark >> 32) ^ (uint64_t)n) * 0xbf58476d1ce4e5b9u;
			mark ^= mark >> 29;
			mark += !mark;
		}
	return mark;
}

/* Every time beside such users. */
static int64_t
time_beside(Bodies *in, const LinkSums *users)
{
	uint64_t mark = find_others(in, users);
	struct Known *known = &in->known[mark % (sizeof in->known / sizeof *in->known)];
	int64_t time = 0;

	in->beside = mark ? &in->others : NULL;
	if (!mark)
		return in->alone;
	if (known->beside == mark)
		return known->time;
	Arena *a = arena_new();
	for (int i = 0; i < 2; i++) {
		const Body *body = &in->body[i];
		if (body->times)
			time = add_picoseconds(time,
				repeat_picoseconds(tracks_run(body->tasks, body->n, in->beside,
							   a),
					body->times));
	}
	arena_free(a);
	*known = (struct Known){mark, time};
	return time;
}

/* What they use of their links if they take so long. */
static void
find_used(Bodies *in, int64_t time)
{
	for (int i = 0; i < LINK_WORDS; i++)
		for (uint64_t links = in->links.word[i]; links; links &= links - 1) {
			int bit = __builtin_ctzll(links);
			double busy = (double)in->busy.of[i][bit] / (double)greater(time, 1);
			in->used.of[i][bit] = lesser((int64_t)(busy * PARTS + 0.999999), PARTS);
		}
}

/* ---- beside what is under way ---------------------------------------------------------- */

/* To the end of the first, or of all their times: the part of these until then. */
static double
next_end(Sharer *beside, int n, double rest, double *moved)
{
	double part = rest;
	int first = -1;

	for (int i = 0; i < n; i++)
		if (beside[i].left > 0 && beside[i].left < part * beside[i].moved) {
			part = beside[i].left / beside[i].moved;
			first = i;
		}
	for (int i = 0; i < n; i++) {
		Sharer *b = &beside[i];
		if (b->left <= 0)
			continue;
		double now = i == first ? b->left : part * b->moved;
		b->part += part;
		b->left -= now;
		*moved += now;
	}
	return part;
}

/* Which part of all their times each is under way, one of `users` for so long; how much of
   them is moved then. */
static double
find_parts(Bodies *in, LinkSums users, Sharer *beside, int n)
{
	double moved = 0;

	for (double rest = n ? 1 : 0; rest > 0;) {
		int64_t time = time_beside(in, &users);
		find_used(in, time);
		for (int i = 0; i < n; i++)
			beside[i].moved = (double)time / PARTS
				* (double)links_pace(&users, beside[i].links, &in->used);
		double part = next_end(beside, n, rest, &moved);
		rest = part < rest ? rest - part : 0;
		for (int i = 0; i < n; i++)
			if (beside[i].left <= 0 && !beside[i].over) {
				links_add(&users, beside[i].links, -LINK_USER);
				beside[i].over = true;
			}
	}
	return moved;
}

/* ... with those parts of them, or a part of these. */
static int64_t
time_with(Bodies *in, const LinkSums *users, const Sharer *beside, int n, double weight)
{
	LinkSums average = *users;

	for (int i = 0; i < n; i++)
		links_add(&average, beside[i].links,
			(int64_t)(beside[i].part * weight * LINK_USER) - LINK_USER);
	return time_beside(in, &average);
}

/* They take no longer for what is moved beside them than it does itself: else they share less
   with it. */
int64_t
bodies_time(Bodies *in, const LinkSums *users, Sharer *beside, int n)
{
	enum { ROUNDS = 3 };
	double moved = find_parts(in, *users, beside, n), weight = 1;
	int64_t without = time_with(in, users, beside, n, 0);
	int64_t time = time_with(in, users, beside, n, weight);

	for (int round = 0; (double)(time - without) > moved; round++) {
		weight = round < ROUNDS ? weight * moved / (double)(time - without) : 0;
		time = time_with(in, users, beside, n, weight);
	}
	find_used(in, time);
	return time;
}

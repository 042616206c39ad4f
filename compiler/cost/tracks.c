/*
 * tracks.c - tasks one after the other, and transfers beside them.
 *
 * From event to event: the next is the end of whatever is under way, or of the
 * latency before its data.  Between two events everything has one pace.
 */
#include <string.h>
#include "cost/tracks.h"

enum { MOST_BESIDE = 64 }; /* of others bodies know no end */

/* What is under way. */
typedef struct Flight {
	Task *task;
	int64_t latency; /* still to pass, */
	int64_t left;	 /* ... then so many picoseconds with the links to itself, */
	int64_t parts;	 /* ... and so many parts of one */
	int64_t pace;	 /* parts in each picosecond */
} Flight;

struct Tracks {
	Arena *arena;
	int64_t now;
	Flight *flights;
	int n, room;
	bool computes;	      /* the thread does */
	bool changed;	      /* other transfers have links than when the paces were set */
	LinkSums users;	      /* of those whose latency is over, and what is beside all */
	const LinkSums *used; /* of links, by bodies in which the thread is; NULL: none */
};

int64_t
repeat_picoseconds(int64_t each, int64_t times)
{
	return mul_i64(each, times, &each) ? each : INT64_MAX;
}

void
links_add(LinkSums *sums, const LinkSet *links, int64_t more)
{
	for (int i = 0; i < LINK_WORDS; i++)
		for (uint64_t left = links->word[i]; left; left &= left - 1) {
			int64_t *sum = &sums->of[i][__builtin_ctzll(left)];
			*sum = add_picoseconds(*sum, more);
		}
}

void
links_note(LinkMerge *merge, const LinkSet *links)
{
	uint64_t mark = ++merge->sets * 0x9e3779b97f4a7c15u;

	mark ^= mark >> 29;
	for (int i = 0; i < LINK_WORDS; i++)
		for (uint64_t left = links->word[i]; left; left &= left - 1) {
			int64_t *sum = &merge->marks.of[i][__builtin_ctzll(left)];
			*sum = (int64_t)((uint64_t)*sum + mark);
		}
}

void
links_choose(LinkMerge *merge)
{
	const int64_t *marks = merge->marks.of[0];
	enum { LINKS = LINK_WORDS * 64, CLASS = 2 * LINK_PARTS };

	for (int i = 0; i < LINKS; i++) {
		bool first = marks[i] != 0;
		for (int k = i / CLASS * CLASS; k < i && first; k++)
			first = marks[k] != marks[i];
		if (first)
			merge->first.word[i / 64] |= (uint64_t)1 << i % 64;
	}
}

const LinkSet *
links_merged(const LinkMerge *merge, const LinkSet *links, Arena *a)
{
	LinkSet merged;

	for (int i = 0; i < LINK_WORDS; i++)
		merged.word[i] = links->word[i] & merge->first.word[i];
	return arena_copy(a, &merged, sizeof merged);
}

int64_t
links_pace(const LinkSums *users, const LinkSet *links, const LinkSums *used)
{
	int64_t least = PARTS;

	for (int i = 0; i < LINK_WORDS; i++)
		for (uint64_t left = links->word[i]; left; left &= left - 1) {
			int bit = __builtin_ctzll(left);
			int64_t n = greater(users->of[i][bit], LINK_USER);
			int64_t shared = PARTS - (used ? used->of[i][bit] : 0);
			least = lesser(least, shared * LINK_USER / n);
		}
	return least;
}

static void
set_paces(Tracks *tracks)
{
	if (!tracks->changed)
		return;
	tracks->changed = false;
	for (int i = 0; i < tracks->n; i++) {
		Flight *f = &tracks->flights[i];
		const LinkSet *links = f->task->links;
		f->pace = f->latency || !links
			? PARTS
			: links_pace(&tracks->users, links, tracks->used);
	}
}

static int64_t
until_event(const Flight *f)
{
	if (f->latency)
		return f->latency;
	if (!f->pace)
		return INT64_MAX;
	if (f->pace == PARTS)
		return add_picoseconds(f->left, f->parts > 0);
	int64_t rest = (f->left % f->pace * PARTS + f->parts + f->pace - 1) / f->pace;
	return add_picoseconds(repeat_picoseconds(f->left / f->pace, PARTS), rest);
}

/* `time` passes: of what is left as many as its pace makes of them. */
static void
fly(Flight *f, int64_t time)
{
	if (f->latency) {
		f->latency -= time;
		return;
	}
	int64_t parts = f->pace < PARTS ? time % PARTS * f->pace : 0;
	f->left -= f->pace < PARTS ? time / PARTS * f->pace + parts / PARTS : time;
	f->parts -= parts % PARTS;
	if (f->parts < 0) {
		f->parts += PARTS;
		f->left--;
	}
	if (f->left < 0)
		f->left = f->parts = 0;
}

/* What is left over when a picosecond is not divided goes to the first. */
static void
add_exposed(Tracks *tracks, int64_t time)
{
	int64_t moving = 0;

	for (int i = 0; i < tracks->n; i++)
		moving += tracks->flights[i].task->moves;
	for (int i = 0; i < tracks->n; i++) {
		Task *task = tracks->flights[i].task;
		if (!task->moves)
			continue;
		int64_t share = (time + moving - 1) / moving;
		moving--;
		task->exposed = add_picoseconds(task->exposed, share);
		time -= share;
	}
}

/* One more, or less, does. */
static void
use_links(Tracks *tracks, const Task *task, int more)
{
	if (!task->links || !more)
		return;
	links_add(&tracks->users, task->links, more * LINK_USER);
	tracks->changed = true;
}

static void
next_event(Tracks *tracks)
{
	int64_t time = INT64_MAX;
	int left = 0;

	set_paces(tracks);
	for (int i = 0; i < tracks->n; i++) {
		int64_t until = until_event(&tracks->flights[i]);
		time = until < time ? until : time;
	}
	if (!tracks->computes)
		add_exposed(tracks, time);
	tracks->now = add_picoseconds(tracks->now, time);
	for (int i = 0; i < tracks->n; i++) {
		Flight f = tracks->flights[i];
		int used = !f.latency;
		fly(&f, time);
		bool flies = f.latency || f.left || f.parts;
		use_links(tracks, f.task, (flies && !f.latency) - used);
		if (flies) {
			tracks->flights[left++] = f;
			f.task->flight = left;
		} else {
			f.task->to = tracks->now;
			f.task->flight = 0;
		}
	}
	tracks->n = left;
}

static void
make_room(Tracks *tracks)
{
	enum { FIRST_ROOM = 16 };
	Flight *flights = tracks->flights;

	tracks->room = greater(FIRST_ROOM, 2 * tracks->room);
	tracks->flights = NEW_ARRAY(tracks->arena, Flight, tracks->room);
	if (tracks->n)
		memcpy(tracks->flights, flights, (size_t)tracks->n * sizeof *flights);
}

static void
take_off(Tracks *tracks, Task *task, int64_t time)
{
	task->flight = 0;
	if (!time)
		return;
	if (tracks->n == tracks->room)
		make_room(tracks);
	tracks->flights[tracks->n++] = (Flight){
		.task = task,
		.latency = time - task->shared,
		.left = task->shared,
		.pace = PARTS,
	};
	use_links(tracks, task, time == task->shared);
	task->flight = tracks->n;
}

Tracks *
tracks_new(Arena *a, const LinkSums *beside)
{
	Tracks *tracks = NEW(a, Tracks);

	tracks->arena = a;
	if (beside)
		tracks->users = *beside;
	return tracks;
}

/* How long all that is in it takes, beside what is under way; from then on that has what is
   left of the links. */
static int64_t
go_within(Tracks *tracks, Bodies *in)
{
	Sharer beside[MOST_BESIDE];
	LinkSums users = tracks->users;
	int n = 0;

	for (int i = 0; i < tracks->n && n < MOST_BESIDE; i++) {
		const Flight *f = &tracks->flights[i];
		const LinkSet *links = f->task->links;
		if (!links || !f->left || !link_sets_meet(links, &in->links))
			continue;
		beside[n++] = (Sharer){.links = links, .left = (double)f->left};
		if (f->latency)
			links_add(&users, links, LINK_USER);
	}
	int64_t time = bodies_time(in, &users, beside, n);
	if (n) {
		tracks->used = &in->used;
		tracks->changed = true;
	}
	return time;
}

void
tracks_add(Tracks *tracks, Task *tasks, Task *task)
{
	const Task *awaited = task->kind == TASK_done ? &tasks[task->start] : task;
	int64_t time = task->bodies ? go_within(tracks, task->bodies) : task->picoseconds;

	task->from = task->to = tracks->now;
	task->exposed = 0;
	if (task->kind == TASK_run && !task->links && !tracks->n && !tracks->used) {
		task->flight = 0;
		task->to = tracks->now = add_picoseconds(tracks->now, time);
		return;
	}
	if (task->kind != TASK_done)
		take_off(tracks, task, time);
	tracks->computes = task->kind == TASK_run && !task->moves;
	while (task->kind != TASK_start && awaited->flight)
		next_event(tracks);
	tracks->changed |= tracks->used != NULL;
	tracks->used = NULL;
	tracks->computes = false;
	if (task->kind == TASK_done)
		task->to = tracks->now;
}

int64_t
tracks_now(const Tracks *tracks)
{
	return tracks->now;
}

int64_t
tracks_left(const Tracks *tracks, const Task *task)
{
	const Flight *f = task->flight ? &tracks->flights[task->flight - 1] : NULL;

	return f ? add_picoseconds(f->latency, f->left) : 0;
}

int64_t
tracks_busy(const Tracks *tracks, const LinkSet *links)
{
	int64_t busy = 0;

	for (int i = 0; i < tracks->n; i++) {
		const Flight *f = &tracks->flights[i];
		if (f->task->links && link_sets_meet(f->task->links, links))
			busy = add_picoseconds(busy, add_picoseconds(f->latency, f->left));
	}
	return busy;
}

int64_t
tracks_end(Tracks *tracks)
{
	while (tracks->n)
		next_event(tracks);
	return tracks->now;
}

/* Back from the end: what the thread did, or where it stood the transfer it waited for,
   before which is what the thread did until that was begun. */
static void
mark_critical(Task *tasks, int n, int64_t thread, int64_t end)
{
	int i = n - 1;

	while (thread < end && (tasks[i].kind != TASK_start || tasks[i].to != end))
		i--;
	if (thread < end)
		tasks[i].critical = true;
	for (; i >= 0; i--) {
		if (tasks[i].kind == TASK_start || tasks[i].from == tasks[i].to)
			continue;
		if (tasks[i].kind == TASK_done)
			i = tasks[i].start;
		tasks[i].critical = true;
	}
}

int64_t
tracks_run(Task *tasks, int n, const LinkSums *beside, Arena *a)
{
	Tracks *tracks = tracks_new(a, beside);

	for (int i = 0; i < n; i++)
		tracks_add(tracks, tasks, &tasks[i]);
	int64_t thread = tracks->now;
	int64_t end = tracks_end(tracks);
	mark_critical(tasks, n, thread, end);
	return end;
}

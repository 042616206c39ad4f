/*
 * transfers.c - collectives that are begun, and the thread that helps.
 *
 *   device 0   begins   computes              done: moves part 0
 *   device 1   begins   computes                    done: part 1 is moved
 *   helper              moves part 1
 *
 * Each slot of a group has a team of its own, whose phases are even while its
 * members begin and odd while what they began is under way.  Who begins says in
 * its slot what is to be moved, and goes on; the last ends the even phase.  From
 * then on there is a part for each member, and whoever has time takes parts that
 * nobody has taken: the helper, if there is one, and devices that wait.  Who moves
 * the last part ends the odd phase.
 *
 * A part is taken by writing the phase into its slot, over that of the time
 * before; so who comes late, when the team has gone on, takes nothing.
 */
#include <sched.h>

#include "collectives.h"

enum {
	HELPER_STACK = 1 << 20,
	/* Bytes of a collective below which whoever waits has moved them before a thread
	   is awake. */
	HAND_FROM = 64 << 10,
	YIELDS_A_LOOK = 16, /* between looks at the clock */
};
static const double AWAKE = 200e-6; /* seconds of yielding before sleep */

/* ---- parts ---- */

static bool
take(Slot *slot, unsigned phase)
{
	unsigned before = phase - 2;
	return atomic_load_explicit(&slot->taken, memory_order_relaxed) == before
		&& atomic_compare_exchange_strong(&slot->taken, &before, phase);
}

static void
move(Team *team, int part, int64_t mover)
{
	Slot *slot = &team->slots[part];
	const Record *r = team->members[part]->record;
	bool timed = r && r->room;
	slot->mover = mover;
	if (timed)
		slot->moved_from = rt_now();
	rt_move_part(team, part);
	if (timed)
		slot->moved_to = rt_now();
}

/* All that nobody has taken, from one on. */
static void
move_parts(Team *team, unsigned phase, int first, int64_t mover)
{
	for (int k = 0; k < team->n; k++) {
		int part = (first + k) % team->n;
		if (!take(&team->slots[part], phase))
			continue;
		if (mover == HELPER)
			rt_fail_thread_device(team->members[part]->id);
		move(team, part, mover);
		if (atomic_fetch_add(&team->moved, 1) + 1 < (unsigned)team->n)
			continue;
		atomic_store(&team->moved, 0);
		rt_team_advance(team, phase);
	}
}

/* ---- the helper ---- */

/* To the end of what it has to do. */
static void
hand_on(Helper *h, Team *team)
{
	pthread_mutex_lock(&h->lock);
	if (!team->queued) {
		team->queued = true;
		team->next = NULL;
		if (h->first)
			h->last->next = team;
		else
			h->first = team;
		h->last = team;
	}
	pthread_cond_signal(&h->bell);
	pthread_mutex_unlock(&h->lock);
}

/* NULL: it is time to go. */
static Team *
next_team(Helper *h)
{
	for (double end = rt_now() + AWAKE; !h->first && !h->leave && rt_now() < end;)
		for (int i = 0; i < YIELDS_A_LOOK && !h->first; i++)
			sched_yield();
	pthread_mutex_lock(&h->lock);
	while (!h->first && !h->leave)
		pthread_cond_wait(&h->bell, &h->lock);
	Team *team = h->first;
	if (team) {
		h->first = team->next;
		team->queued = false;
	}
	pthread_mutex_unlock(&h->lock);
	return team;
}

static void *
helper_main(void *data)
{
	Helper *h = data;
	char *stack = rt_signal_stack_new();
	for (Team *team; (team = next_team(h));) {
		unsigned phase = atomic_load(&team->phase);
		if (phase % 2)
			move_parts(team, phase, 0, HELPER);
		rt_fail_thread_device(-1);
	}
	rt_signal_stack_free(stack);
	return NULL;
}

void
rt_helper_start(Machine *m, Helps helps)
{
	Helper *h = &m->helper;
	bool spare = m->ndevices < rt_cores();
	h->least = helps == HELPS_on ? 0 : HAND_FROM;
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->bell, NULL);
	if (!m->program->nslots || helps == HELPS_off || (helps == HELPS_where_spare && !spare))
		return;
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, HELPER_STACK);
	h->there = pthread_create(&h->thread, &attributes, helper_main, h) == 0;
	pthread_attr_destroy(&attributes);
}

void
rt_helper_end(Machine *m)
{
	Helper *h = &m->helper;
	if (h->there) {
		pthread_mutex_lock(&h->lock);
		h->leave = true;
		pthread_cond_signal(&h->bell);
		pthread_mutex_unlock(&h->lock);
		pthread_join(h->thread, NULL);
	}
	pthread_mutex_destroy(&h->lock);
	pthread_cond_destroy(&h->bell);
}

/* ---- from begin to done ---- */

void
rt_transfer_begin(shdrt_device *dev, const Seat *seat, void (*meet)(Team *))
{
	Team *team = seat->team;
	/* Cannot change before this member has arrived. */
	unsigned phase = atomic_load_explicit(&team->phase, memory_order_relaxed);
	const shdrt_collective *c = team->slots[seat->index].collective;
	Helper *h = &dev->machine->helper;
	dev->flights[team->slot - 1] = (Flight){team, seat->index, phase};
	if (rt_team_arrive(dev, team)) {
		meet(team);
		rt_team_advance(team, phase);
		if (h->there && rt_bytes_moved(c, team->n) >= h->least)
			hand_on(h, team);
	}
	rt_clock_mark(dev);
}

void
rt_transfer_wait(shdrt_device *dev, const Flight *f)
{
	rt_team_wait_phase(dev, f->team, f->phase);
	move_parts(f->team, f->phase + 1, f->index, dev->id);
	rt_team_wait_phase(dev, f->team, f->phase + 1);
}

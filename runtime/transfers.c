/*
 * transfers.c - collectives that are begun.
 *
 *   device 0   begins   computes       done: moves parts 0 and 1
 *   device 1   begins   computes                    done: part 1 is moved
 *
 * Each slot of a group has a team of its own, whose phases are even while its
 * members begin and odd while what they began is under way.  Who begins says in
 * its slot what is to be moved, and goes on; the last ends the even phase.  From
 * then on there is a part for each member, and whoever has time takes parts that
 * nobody has taken, which devices that wait have.  Who moves the last part ends the
 * odd phase.
 *
 * A part is taken by writing the phase into its slot, over that of the time
 * before; so who comes late, when the team has gone on, takes nothing.
 */
#include "collectives.h"

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
		move(team, part, mover);
		if (atomic_fetch_add(&team->moved, 1) + 1 < (unsigned)team->n)
			continue;
		atomic_store(&team->moved, 0);
		rt_team_advance(team, phase);
	}
}

/* ---- from begin to done ---- */

void
rt_transfer_begin(shdrt_device *dev, const Seat *seat, void (*meet)(Team *))
{
	Team *team = seat->team;
	/* Cannot change before this member has arrived. */
	unsigned phase = atomic_load_explicit(&team->phase, memory_order_relaxed);
	dev->flights[team->slot - 1] = (Flight){team, seat->index, phase};
	if (rt_team_arrive(dev, team)) {
		meet(team);
		rt_team_advance(team, phase);
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

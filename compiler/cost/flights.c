/*
 * flights.c - a slot for each asynchronous collective; those that are never under way
 * together have the same one.
 *
 *   a = all-gather-start  1      b = all-gather-start  2      all-gather-done(a)
 *   c = all-gather-start  1      all-gather-done(b)           all-gather-done(c)
 */
#include "cost/flights.h"
#include "cost/timeline.h"
#include "ir/flow.h"

typedef struct Slots {
	Arena *arena;
	Flights flights;
	bool *taken; /* by slot */
	int room;
} Slots;

static int
take_slot(Slots *slots)
{
	int slot = 1;

	while (slot <= slots->flights.n && slots->taken[slot])
		slot++;
	if (slot >= slots->room) {
		bool *taken = NEW_ARRAY(slots->arena, bool, 2 * slots->room + 2);
		for (int i = 0; i < slots->room; i++)
			taken[i] = slots->taken[i];
		slots->taken = taken;
		slots->room = 2 * slots->room + 2;
	}
	slots->taken[slot] = true;
	if (slot > slots->flights.n)
		slots->flights.n = slot;
	return slot;
}

static void
number_block(Slots *slots, const Block *b)
{
	for (const Op *op = b->first; op; op = op->next) {
		if (op->async)
			slots->flights.slot[op->id] = take_slot(slots);
		else if (op->kind == O_done)
			slots->taken[slots->flights.slot[op->operands[0]->def->id]] = false;
		for (int i = 0; i < op->nbodies && !op_is_fusion(op); i++)
			number_block(slots, op->bodies[i]);
	}
}

Flights
flights_find(Module *m, Arena *a)
{
	Slots slots = {.arena = a};
	bool any = false;

	module_number(m);
	for (const Op *op = m->entry->first; op && !any; op = op_following(op, m->entry))
		any = op->async;
	slots.flights.slot = NEW_ARRAY(a, int, m->nops + 1);
	if (!any)
		return slots.flights;
	slots.flights.picoseconds = timeline_walk(m, a)->flight;
	number_block(&slots, m->entry);
	return slots.flights;
}

int64_t
flights_time(const Flights *flights, const Op *op, const StepCost *cost)
{
	bool shares = flights->n && op_communicates(op);

	return shares ? flights->picoseconds[op->id] : picoseconds(cost->seconds);
}

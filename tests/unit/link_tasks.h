/*
 * link_tasks.h - tasks for tests of the tracks: runs, transfers on two links, waits.
 */
#ifndef SHDC_TEST_LINK_TASKS_H
#define SHDC_TEST_LINK_TASKS_H

#include "cost/tracks.h"

static const LinkSet link_sets[] = {{{0}}, {{1}}, {{2}}, {{3}}}; /* by their bits */

static inline Task
run(int64_t picoseconds)
{
	return (Task){.picoseconds = picoseconds};
}

/* links: the number of a set */
static inline Task
move(TaskKind kind, int64_t picoseconds, int links)
{
	return (Task){
		.kind = kind,
		.moves = true,
		.picoseconds = picoseconds,
		.shared = picoseconds,
		.links = &link_sets[links],
	};
}

static inline Task
done(int start)
{
	return (Task){.kind = TASK_done, .start = start};
}

#endif

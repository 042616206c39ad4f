/*
 * pipeline.c - trips of a loop beside each other: what the next trip gathers under this
 * one's work, and this one's sums under the next one's.
 *
 *   while 4 trips                      W0 = gather(Ws[0])
 *     W = gather(Ws[i])          ->    W1 = gather(Ws[1]);  h = dot(h, W0)
 *     h = dot(h, W)                    W2 = gather(Ws[2]);  h = dot(h, W1) ...
 *
 * Only the order of the program changes, and how much of it is in the loop: what is beside
 * what is for `overlap` to say.  Loops are taken from the innermost out.
 */
#include "cost/ledger.h"
#include "sched/pipeline/pipeline.h"

bool
pipelining_apply(const Pipelining *p)
{
	bool changed = false;

	/* a loop in another comes behind it */
	for (int i = p->n - 1; i >= 0; i--) {
		Arena *a = arena_new();
		Staged s = {.arena = a, .loop = &p->loops[i]};
		if (stages_find(&s)) {
			iterations_write(&s);
			changed = true;
		}
		arena_free(a);
	}
	if (changed && parts_at_known(p->loops[0].op->module))
		module_remove_dead(p->loops[0].op->module);
	return changed;
}

static bool
sum_in_loops(Module *m, ChooseStackSums *choose, bool remarks)
{
	Arena *a = arena_new();
	StackSums sums = {.arena = a};

	stack_sums_find(m, &sums);
	if (sums.n)
		choose(m, &sums, remarks);
	bool changed = stack_sums_apply(m, &sums);
	arena_free(a);
	return changed;
}

static bool
move_before_branches(Module *m, ChooseBranchMoves *choose)
{
	Arena *a = arena_new();
	BranchMoves moves = {.arena = a};

	branch_moves_find(m, &moves);
	bool takes = moves.n && choose(m, &moves);
	if (takes)
		branch_moves_apply(m, &moves);
	arena_free(a);
	return takes;
}

/* Of a program from a dump it may be known. */
static void
note_planned(Module *m, CountPlanned *count)
{
	if (overlaps[m->overlap].begins == BEGINS_none || m->planned)
		return;
	module_note_planned(m);
	if (count)
		count(m, m->planned);
}

/* Written out, a trip may have a step less: no slice is copied whose place is known.  Only
   beside collectives is one written out. */
static void
note_least(Module *m, CountLeast *least)
{
	bool turns = false, moves = false;

	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry)) {
		turns |= op_is_loop(op);
		moves |= op_communicates(op);
	}
	if (turns && moves && least)
		m->least = least(m);
}

bool
pipeline(Module *m, CountPlanned *count, CountLeast *least, ChooseStackSums *choose_sums,
	ChooseBranchMoves *choose_moves, ChoosePipelining *choose, bool remarks)
{
	Arena *a = arena_new();
	Pipelining p = {.arena = a};
	bool changed = loops_open(m);

	if (changed && parts_at_known(m))
		module_remove_dead(m);
	note_planned(m, count);
	if (overlaps[m->overlap].divides)
		changed |= sum_in_loops(m, choose_sums, remarks);
	if (overlaps[m->overlap].pipelines) {
		changed |= move_before_branches(m, choose_moves);
		pipelining_find(m, &p);
	} else {
		note_least(m, least);
	}
	while (p.n) {
		const Pipelining inner = p;
		choose(m, &p);
		bool written = pipelining_apply(&p);
		p = (Pipelining){.arena = a};
		if (written)
			pipelining_find_around(m, &inner, &p);
		changed |= written;
	}
	arena_free(a);
	return changed;
}

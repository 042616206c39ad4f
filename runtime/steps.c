/*
 * steps.c - --steps: results become the parameters of the same name.
 *
 * They stay in the devices' memory.  Where the result is where the parameter is wanted,
 * nothing is done; else each device moves its part, after those that it would
 * overwrite.  What goes round among buffers, or is placed otherwise as a result, goes
 * through a whole tensor.
 *
 *   w = [0, 64) <- [64, 128), m = [64, 128) <- [64, 128)     w, then m: it is there
 *   w = [0, 64) <- [64, 128), m = [64, 128) <- [0, 64)       w whole, m moved
 */
#include <stdlib.h>
#include <string.h>

#include "steps.h"

static bool
same_shape(const shdrt_tensor *a, const shdrt_tensor *b)
{
	return a->dtype == b->dtype && a->rank == b->rank
		&& (a->rank == 0
			|| memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0);
}

/* Tensors of the same shape, of which each device has the same part.  Partial results
   become one, and nothing on the other devices. */
static bool
same_parts(const shdrt_tensor *a, const shdrt_tensor *b)
{
	bool same = !a->unreduced.n && !b->unreduced.n;
	for (int i = 0; same && i < a->rank; i++)
		same = a->local_dims[i] == b->local_dims[i]
			&& rt_same_splits(&a->splits[i], &b->splits[i]);
	return same;
}

/* The result that becomes a parameter in the next step; -1 none. */
static int
result_for(const shdrt_program *p, int param)
{
	for (int i = 0; i < p->nresults; i++)
		if (strcmp(p->results[i].name, p->params[param].name) == 0)
			return i;
	return -1;
}

/* ---- the order of moves ---- */

/* Is parameter i written where the result lies that parameter k is moved from? */
static bool
overwrites(const shdrt_program *p, const Carries *c, int i, int k)
{
	const shdrt_tensor *to = &p->params[i], *from = &p->results[c->of[k].from];
	return to->offset < from->offset + (int64_t)rt_part_bytes(from)
		&& from->offset < to->offset + (int64_t)rt_part_bytes(to);
}

/* Each when nothing waits any more that lies where it goes; where all that wait go round
   in a circle, the last of them goes through a whole tensor. */
static void
order_moves(const shdrt_program *p, Carries *c)
{
	int n = p->nparams, left = 0, nready = 0;
	int *blocked = rt_get_zeroed((size_t)n, sizeof *blocked); /* by how many that wait */
	int *ready = rt_get_memory((size_t)n, sizeof *ready);

	for (int i = 0; i < n; i++) {
		if (c->of[i].way != WAY_moved)
			continue;
		for (int k = 0; k < n; k++)
			blocked[i] +=
				k != i && c->of[k].way == WAY_moved && overwrites(p, c, i, k);
		if (!blocked[i])
			ready[nready++] = i;
		left++;
	}
	for (int last = n - 1; left; left--) {
		int gone;
		if (nready) {
			gone = c->moves[c->nmoves++] = ready[--nready];
		} else {
			while (c->of[last].way != WAY_moved || !blocked[last])
				last--;
			gone = last;
			c->of[gone].way = WAY_whole;
			blocked[gone] = 0;
		}
		for (int i = 0; i < n; i++)
			if (blocked[i] && i != gone && overwrites(p, c, i, gone)
				&& !--blocked[i])
				ready[nready++] = i;
	}
	free(blocked);
	free(ready);
}

Carries
rt_carries_find(const shdrt_program *p)
{
	size_t n = (size_t)p->nparams;
	Carries c = {rt_get_zeroed(n, sizeof *c.of), rt_get_memory(n, sizeof *c.moves), 0};
	bool any = false;
	for (int i = 0; i < p->nparams; i++) {
		const shdrt_tensor *t = &p->params[i];
		int from = c.of[i].from = result_for(p, i);
		c.of[i].way = t->kept ? WAY_kept : WAY_filled;
		if (from < 0)
			continue;
		any = true;
		if (!same_shape(t, &p->results[from]))
			rt_fail(SHDRT_USAGE, "--steps: %s is %s as a parameter, %s as a result",
				t->name, t->type_text, p->results[from].type_text);
		c.of[i].way = same_parts(t, &p->results[from]) ? WAY_moved : WAY_whole;
	}
	if (!any)
		rt_fail(SHDRT_USAGE, "--steps: no result has the name of a parameter");
	order_moves(p, &c);
	return c;
}

/* --check wants the whole of what the last step began with. */
static bool
held_whole(const Settings *s, const Carry *c)
{
	return c->from >= 0 && (c->way == WAY_whole || s->check);
}

uint64_t
rt_carries_bytes(const Settings *s, const Carries *c)
{
	uint64_t sum = 0;
	for (int i = 0; i < s->program->nparams && s->steps > 1; i++)
		if (held_whole(s, &c->of[i]))
			sum += rt_tensor_bytes(&s->program->params[i]);
	return sum;
}

void
rt_carries_free(const shdrt_program *p, Carries *c)
{
	for (int i = 0; i < p->nparams && c->of; i++)
		free(c->of[i].data);
	free(c->of);
	free(c->moves);
}

/* ---- from step to step ---- */

void
rt_fill_device(shdrt_device *dev, void *settings)
{
	const Settings *s = settings;
	const shdrt_program *p = s->program;
	for (int i = 0; i < p->nparams; i++)
		rt_tensor_fill_part(&p->params[i], &s->sources[i], dev->id,
			dev->slab + p->params[i].offset);
}

typedef struct Next {
	const Settings *settings;
	const Carries *carries;
} Next;

/* What is not there any more comes last: it may be written over results. */
static void
carry_on(shdrt_device *dev, void *data)
{
	const Next *next = data;
	const Settings *s = next->settings;
	const Carries *c = next->carries;
	const shdrt_tensor *params = s->program->params;
	for (int k = 0; k < c->nmoves; k++) {
		int i = c->moves[k];
		rt_tensor_move_part(&s->program->results[c->of[i].from], &params[i], dev->id,
			dev->slab);
	}
	for (int i = 0; i < s->program->nparams; i++)
		if (c->of[i].way == WAY_filled || c->of[i].way == WAY_whole)
			rt_tensor_fill_part(&params[i], &s->sources[i], dev->id,
				dev->slab + params[i].offset);
}

/* Of the step that has ended, for the next one, which may be the last. */
static void
hold_whole(Settings *s, const Machine *m, Carries *c, bool last)
{
	const shdrt_program *p = s->program;
	for (int i = 0; i < p->nparams; i++) {
		Carry *carry = &c->of[i];
		if (!held_whole(s, carry) || !(carry->way == WAY_whole || last))
			continue;
		if (!carry->data)
			carry->data = rt_get_memory(1, rt_tensor_bytes(&p->params[i]));
		rt_tensor_collect(&p->results[carry->from], m, carry->data);
		s->sources[i].kind = FROM_memory;
		s->sources[i].memory = carry->data;
	}
}

void
rt_collect_results(const Settings *s, const Machine *m, Whole *results)
{
	for (int i = 0; i < s->program->nresults; i++) {
		const shdrt_tensor *t = &s->program->results[i];
		rt_tensor_collect(t, m, results[i].data);
		if (s->check)
			results[i].disagree = rt_tensor_disagrees(t, m, results[i].pair);
	}
}

double
rt_steps_run(Settings *s, Machine *m, Carries *c, Whole *results)
{
	Next next = {s, c};
	StepLog log = rt_log_begin(s);
	double seconds = rt_machine_run(m, rt_fill_device, s);
	rt_log_step(&log, m, 1);
	for (int step = 2; step <= s->steps; step++) {
		hold_whole(s, m, c, step == s->steps);
		seconds = rt_machine_run(m, carry_on, &next);
		rt_log_step(&log, m, step);
	}
	rt_log_end(&log);
	rt_collect_results(s, m, results);
	return seconds;
}

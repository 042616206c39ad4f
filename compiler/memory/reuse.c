/*
 * reuse.c - which values are computed where another one lies: the next value
 * that a loop carries in the buffer of the present one, the result of a
 * branch in that of the value it changes.
 *
 *   acc = acc + w[i]        the present acc is read only at the element that
 *                           is stored, and not afterwards: no copy a round
 */
#include "memory/reuse.h"

/* ---- overwriting -------------------------------------------------------- */

/* Every load of `home` is of the very element that is stored. */
static bool
loads_in_place(const Steps *s, const Step *step, const Value *home)
{
	const Kernel *k = step->kernel;

	for (const Node *n = k->nodes; n; n = n->next)
		if (n->kind == NODE_load && steps_home(s, n->value) == home
			&& (k->kind == KERNEL_scatter || !affine_equal(n->index, &k->store)))
			return false;
	return true;
}

static bool
kernel_may_overwrite(const Steps *s, const Step *step, const Value *home)
{
	if (step->op->kind == O_concatenate || step->op->kind == O_pad
		|| home->type.dtype != step->result->type.dtype)
		return false;
	if (step->base && steps_home(s, step->base) != home)
		return false;
	return loads_in_place(s, step, home);
}

/* Of a ragged exchange the tensor that receives, unless it also sends. */
static bool
collective_may_overwrite(const Steps *s, const Step *step, const Value *home)
{
	const CollectiveInfo *c = &collectives[step->op->kind];

	if (!step->base)
		return c->in_place;
	for (int i = 0; i < step->op->noperands; i++)
		if ((steps_home(s, step->op->operands[i]) == home) != (i == c->base))
			return false;
	return true;
}

bool
reuse_may_overwrite(const Steps *s, const Step *step, const Value *home)
{
	if (step->nresults != 1 || type_bytes(&home->type) != type_bytes(&step->result->type))
		return false;
	if (step->kind == STEP_collective)
		return collective_may_overwrite(s, step, home);
	if (step->kind == STEP_kernel)
		return kernel_may_overwrite(s, step, home);
	return step->kind == STEP_copy;
}

/* ---- definitions and reads ---------------------------------------------- */

/* Where what step i reads must still be, if it was there before step def. */
static int
last_moment(const Steps *s, int i, int def)
{
	int at = i;

	for (int l = s->step[i].loop; l > def; l = s->step[l].loop)
		at = s->step[l].end;
	return at;
}

static void
find_definitions(Reuse *r, int nvalues)
{
	const Steps *s = r->steps;

	for (int i = 0; i < nvalues; i++)
		r->def[i] = -1;
	for (int i = s->n - 1; i >= 0; i--)
		for (int j = 0; j < s->step[i].nresults; j++)
			r->def[s->step[i].results[j]->id] = i;
}

static void
find_reads(Reuse *r, int nvalues)
{
	const Steps *s = r->steps;
	Arena *a = s->module->arena;
	int *fill = r->first_read, total = 0;

	for (int i = 0; i < s->n; i++)
		for (int j = 0; j < s->step[i].nreads; j++, total++)
			fill[s->step[i].reads[j]->id + 2]++;
	for (int v = 0; v < nvalues; v++)
		fill[v + 2] += fill[v + 1];
	r->read = NEW_ARRAY(a, int, total + 1);
	for (int i = 0; i < s->n; i++)
		for (int j = 0; j < s->step[i].nreads; j++)
			r->read[fill[s->step[i].reads[j]->id + 1]++] = i;
}

static void
find_last(Reuse *r, int nvalues)
{
	const Steps *s = r->steps;
	const Op *end = s->module->entry->last;

	for (int i = 0; i < nvalues; i++)
		r->last[i] = -1;
	for (int i = 0; i < s->n; i++)
		for (int j = 0; j < s->step[i].nreads; j++) {
			int v = s->step[i].reads[j]->id;
			int at = last_moment(s, i, r->def[v]);
			r->last[v] = at > r->last[v] ? at : r->last[v];
		}
	for (int i = 0; i < end->noperands; i++)
		r->last[steps_home(s, end->operands[i])->id] = s->n;
}

/* Does any step after `from` and before `to` read it? */
static bool
is_read_between(const Reuse *r, const Value *v, int from, int to)
{
	int low = r->first_read[v->id], high = r->first_read[v->id + 1];
	int end = high;

	while (low < high) {
		int middle = low + (high - low) / 2;
		if (r->read[middle] > from)
			high = middle;
		else
			low = middle + 1;
	}
	return low < end && r->read[low] < to;
}

static bool
reads(const Step *step, const Value *home)
{
	for (int i = 0; i < step->nreads; i++)
		if (step->reads[i] == home)
			return true;
	return false;
}

/* ---- one value in another's buffer -------------------------------------- */

static bool may_hold(const Reuse *r, const Value *v, const Value *target, int begin, int end);

/* The copy into result v at the end of a branch, `end`. */
static const Step *
branch_copy(const Steps *s, const Value *v, int end)
{
	const Step *step = &s->step[end - 1];

	while (step->result != v)
		step--;
	return step;
}

static bool
branch_may_hold(const Reuse *r, const Value *v, const Value *target, int begin, int end)
{
	return may_hold(r, branch_copy(r->steps, v, end)->reads[0], target, begin, end);
}

/* A value from before the branches that one of them hands on as its v. */
static Value *
handed_on(const Reuse *r, const Value *v, int before)
{
	const Steps *s = r->steps;
	const Step *branches = &s->step[r->def[v->id]];
	const int ends[] = {branches->middle, branches->end};

	for (int i = 0; i < 2; i++) {
		Value *from = branch_copy(s, v, ends[i])->reads[0];
		int def = r->def[from->id];
		if (def >= before && s->step[def].kind == STEP_if)
			from = handed_on(r, from, before);
		else if (def >= before)
			continue;
		if (from)
			return from;
	}
	return NULL;
}

/* And it is not wanted after them: v may be a change of it. */
static Value *
changed_by(const Reuse *r, const Value *v)
{
	int at = r->def[v->id];
	Value *old = handed_on(r, v, at);

	return old && r->last[old->id] <= r->steps->step[at].end ? old : NULL;
}

static bool
branches_may_hold(const Reuse *r, const Value *v, const Value *target)
{
	int at = r->def[v->id];
	const Step *step = &r->steps->step[at];

	return branch_may_hold(r, v, target, at, step->middle)
		&& branch_may_hold(r, v, target, step->middle, step->end);
}

/*
 * May v, made between steps `begin` and `end` and wanted at the end, be in the
 * buffer of `target`, whose own value is not wanted after the end?
 */
static bool
may_hold(const Reuse *r, const Value *v, const Value *target, int begin, int end)
{
	const Steps *s = r->steps;
	const Step *step;
	int def = r->def[v->id];
	Value *old;

	if (v == target)
		return true;
	if (def <= begin || r->place[v->id]
		|| type_bytes(&v->type) != type_bytes(&target->type))
		return false;
	step = &s->step[def];
	if (step->kind != STEP_if)
		return !is_read_between(r, target, def, end)
			&& (!reads(step, target) || reuse_may_overwrite(s, step, target));
	old = changed_by(r, v);
	if (old && old != target)
		return !r->changed[old->id] && may_hold(r, old, target, begin, end)
			&& branches_may_hold(r, v, old);
	return !is_read_between(r, target, step->end, end) && branches_may_hold(r, v, target);
}

static void hold(Reuse *r, const Value *v, Value *target, int begin);

static void
hold_branches(Reuse *r, const Value *v, Value *target, int begin)
{
	const Steps *s = r->steps;
	int def = r->def[v->id];
	const Step *step = &s->step[def];
	Value *old = changed_by(r, v);

	if (old && old != target) {
		r->changed[old->id] = true;
		hold(r, old, target, begin);
	}
	hold(r, branch_copy(s, v, step->middle)->reads[0], target, def);
	hold(r, branch_copy(s, v, step->end)->reads[0], target, step->middle);
}

/* An operand that v, in the buffer of `target`, may itself be written over. */
static const Value *
operand_to_hold(const Reuse *r, const Value *v, const Value *target, int begin)
{
	int def = r->def[v->id];
	const Step *step = &r->steps->step[def];

	if (reads(step, target))
		return NULL;
	for (int i = 0; i < step->nreads; i++) {
		const Value *x = step->reads[i];
		if (r->last[x->id] == def && reuse_may_overwrite(r->steps, step, x)
			&& may_hold(r, x, target, begin, def))
			return x;
	}
	return NULL;
}

/* Places v there, and what it is made from where that is possible too. */
static void
hold(Reuse *r, const Value *v, Value *target, int begin)
{
	while (v && v != target && !r->place[v->id]) {
		r->place[v->id] = target;
		if (r->steps->step[r->def[v->id]].kind == STEP_if) {
			hold_branches(r, v, target, begin);
			return;
		}
		v = operand_to_hold(r, v, target, begin);
	}
}

/* ---- loops and branches ------------------------------------------------- */

/* The copies at the end of a round stand before its repeat. */
static void
hold_carried(Reuse *r, const Step *loop)
{
	const Steps *s = r->steps;

	for (int i = loop->end - 1; i > loop->middle; i--) {
		const Step *copy = &s->step[i];
		if (copy->op != loop->op)
			break;
		if (copy->kind == STEP_copy
			&& may_hold(r, copy->reads[0], copy->result, loop->middle, loop->end))
			hold(r, copy->reads[0], copy->result, loop->middle);
	}
}

static void
hold_result(Reuse *r, const Step *branches, Value *v)
{
	int at = (int)(branches - r->steps->step);
	Value *old = changed_by(r, v);
	const int begins[] = {at, branches->middle};
	const int ends[] = {branches->middle, branches->end};

	if (r->place[v->id])
		return;
	if (old && !r->changed[old->id] && may_hold(r, v, old, at - 1, at)) {
		r->changed[old->id] = true;
		hold(r, v, old, at - 1);
		return;
	}
	for (int i = 0; i < 2; i++)
		if (branch_may_hold(r, v, v, begins[i], ends[i]))
			hold(r, branch_copy(r->steps, v, ends[i])->reads[0], v, begins[i]);
}

Reuse *
reuse_find(const Steps *s)
{
	Arena *a = s->module->arena;
	int n = s->module->nvalues;
	Reuse *r = NEW(a, Reuse);

	r->steps = s;
	r->def = NEW_ARRAY(a, int, n + 1);
	r->last = NEW_ARRAY(a, int, n + 1);
	r->place = NEW_ARRAY(a, Value *, n + 1);
	r->changed = NEW_ARRAY(a, bool, n + 1);
	r->first_read = NEW_ARRAY(a, int, n + 3);
	find_definitions(r, n);
	find_reads(r, n);
	find_last(r, n);
	for (int i = 0; i < s->n; i++)
		if (s->step[i].kind == STEP_loop)
			hold_carried(r, &s->step[i]);
	for (int i = 0; i < s->n; i++)
		for (int j = 0; s->step[i].kind == STEP_if && j < s->step[i].nresults; j++)
			hold_result(r, &s->step[i], s->step[i].results[j]);
	return r;
}

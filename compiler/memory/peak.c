/*
 * peak.c - the step at which most memory is needed, and what that is for.
 *
 *   step   live                   the peak is step 1: x is a parameter, g was
 *   0      x, g = all-gather(x)   gathered, h is a temporary
 *   1      x, g, h = dot(g, x)
 *   2      h, y = relu(h)         in the buffer of h
 */
#include "ir/flow.h"
#include "memory/peak.h"

const char *const memory_kind_names[MEMORY_KINDS] = {
#define MEMORY_KIND(id, title) #id,
#include "memory/kinds.def"
#undef MEMORY_KIND
};

const char *const memory_kind_titles[MEMORY_KINDS] = {
#define MEMORY_KIND(id, title) title,
#include "memory/kinds.def"
#undef MEMORY_KIND
};

/* By value id: do collectives send the elements of that value from where they are? */
static bool *
find_sent(const Lives *l)
{
	bool *sent = NEW_ARRAY(l->module->arena, bool, l->module->nvalues + 1);

	for (int i = 0; i < l->n; i++) {
		const Value *root = op_communicates(l->step[i])
			? l->root[l->step[i]->operands[0]->id]
			: NULL;
		if (root)
			sent[root->id] = true;
	}
	return sent;
}

/* Does it put a slice of its own into what a loop carries, and read nothing of that? */
static bool
writes_stack(const Op *op)
{
	int base = op_base(op), uses = 0;
	const Value *stack = base < 0 ? NULL : op->operands[base];

	if (!stack || stack->def || !op_is_fusion(op)
		|| op->bodies[0]->last->operands[0]->def->kind != O_dynamic_update_slice)
		return false;
	for (const Op *o = op->bodies[0]->first; o; o = o->next)
		for (int i = 0; i < o->noperands; i++)
			uses += o->operands[i] == op->bodies[0]->params[base];
	return uses == 1;
}

/* A step of a backward pass; the end of a body is of whoever runs it, and so is what puts
   a trip's value on a stack. */
static bool
goes_backward(const Op *op)
{
	const Op *parent = op->block->parent;
	bool of_parent = parent && (op->kind == O_return || writes_stack(op));

	return (of_parent ? parent : op)->mode == MODE_backward;
}

/* By step: how many steps before it are of no backward pass. */
static int *
count_forward(const Lives *l)
{
	int *before = NEW_ARRAY(l->module->arena, int, l->n + 1);

	for (int i = 0; i < l->n; i++)
		before[i + 1] = before[i] + !goes_backward(l->step[i]);
	return before;
}

/* By value id, of values that are another's root: is it there while the program goes
   forward, and read backward last? */
static bool *
find_kept(const Lives *l)
{
	Arena *a = l->module->arena;
	const int n = l->module->nvalues, *forward = count_forward(l);
	int *first = NEW_ARRAY(a, int, n + 1), *last = NEW_ARRAY(a, int, n + 1);
	bool *kept = NEW_ARRAY(a, bool, n + 1);

	for (int i = 0; i < n; i++)
		first[i] = l->n;
	for (int i = 0; i < n; i++) {
		const Value *root = l->root[i];
		if (!root)
			continue;
		if (first[root->id] > l->life[i].from)
			first[root->id] = l->life[i].from;
		if (last[root->id] < l->life[i].to)
			last[root->id] = l->life[i].to;
	}
	for (int i = 0; i < n; i++)
		kept[i] = last[i] < l->n && first[i] + 1 < last[i]
			&& forward[last[i]] > forward[first[i] + 1]
			&& goes_backward(l->step[last[i]]);
	return kept;
}

/* Is anything kept in the buffer, at any time? */
static bool
keeps_something(const Lives *l, const Shared *s, const bool *kept)
{
	bool any = false;

	for (int i = 0; i < s->n; i++)
		any |= kept[l->root[s->lives[i].value->id]->id];
	for (const Shared *part = s->parts; part && !any; part = part->next)
		any = keeps_something(l, part, kept);
	return any;
}

/* The one of its ranges that is written first. */
static const Shared *
first_part(const Shared *s)
{
	const Shared *first = s;

	for (const Shared *part = s->parts; part; part = part->next) {
		const Shared *inner = first_part(part);
		first = inner->lives[0].from < first->lives[0].from ? inner : first;
	}
	return first;
}

/* What the buffer holds at a step of its: the last that was put there. */
static MemoryKind
kind_at(const Plan *plan, const Buffer *buffer, int step, const bool *sent, const bool *kept)
{
	const Lives *l = plan->lives;
	const Shared *s = l->shared[buffer->value->id];
	const Value *holds, *root;
	bool result = false;

	if (s->parts && s->lives[0].from > step) /* so far only those */
		s = first_part(s);
	holds = s->lives[0].value;
	for (int i = 0; i < s->n && s->lives[i].from <= step; i++)
		holds = s->lives[i].value;
	root = l->root[holds->id];
	for (int i = 0; i < s->n; i++) {
		const Value *v = s->lives[i].value;
		if (l->root[v->id] != root)
			continue;
		if (!v->def && !v->block->parent)
			return MEMORY_parameters;
		result |= s->lives[i].to == l->n;
	}
	if (result)
		return MEMORY_results;
	if (kept[root->id])
		return MEMORY_backward;
	bool received = root->def && op_communicates(root->def);
	if (received && collectives[root->def->kind].per_member)
		return MEMORY_gathered;
	return received || sent[root->id] ? MEMORY_collectives : MEMORY_temporaries;
}

/* The first step at which most is kept for backward. */
static int
most_kept_at(const Plan *plan, const bool *sent, const bool *kept)
{
	const Lives *l = plan->lives;
	int64_t *more = NEW_ARRAY(plan->module->arena, int64_t, l->n + 3), now = 0, most = 0;
	int at = -1;

	for (int b = 0; b < plan->n; b++) {
		const Buffer *buffer = &plan->buffers[b];
		const Shared *s = l->shared[buffer->value->id];
		for (int i = 0; i < s->n; i++) {
			int from = s->lives[i].from;
			int end = i + 1 < s->n ? s->lives[i + 1].from : buffer->last + 1;
			if (from >= end || !kept[l->root[s->lives[i].value->id]->id]
				|| kind_at(plan, buffer, from, sent, kept) != MEMORY_backward)
				continue;
			more[from + 1] += buffer->bytes;
			more[end + 1] -= buffer->bytes;
		}
	}
	for (int step = -1; step <= l->n; step++) {
		now += more[step + 1];
		if (now > most) {
			most = now;
			at = step;
		}
	}
	return at;
}

static void
find_most_kept(Peak *peak, const Plan *plan, Buffer **order, const bool *sent, const bool *kept)
{
	int step = most_kept_at(plan, sent, kept);

	peak->kept = NEW_ARRAY(plan->module->arena, Buffer *, plan->n + 1);
	for (int i = 0; i < plan->n && !plan->uncounted; i++) {
		Buffer *b = order[i];
		if (b->first > step || b->last < step
			|| kind_at(plan, b, step, sent, kept) != MEMORY_backward)
			continue;
		peak->kept[peak->nkept++] = b;
		peak->bytes_kept += b->bytes;
	}
}

Peak *
plan_at_peak(const Plan *plan)
{
	Arena *a = plan->module->arena;
	Peak *peak = NEW(a, Peak);
	Buffer **order = plan_largest_first(plan);
	const bool *sent = find_sent(plan->lives), *kept = find_kept(plan->lives);
	int step = plan->fullest;

	peak->op = step >= 0 && step < plan->lives->n ? plan->lives->step[step] : NULL;
	peak->live = NEW_ARRAY(a, Buffer *, plan->n + 1);
	peak->kinds = NEW_ARRAY(a, MemoryKind, plan->n + 1);
	peak->keeps = NEW_ARRAY(a, bool, plan->n + 1);
	for (int i = 0; i < plan->n; i++) {
		Buffer *buffer = order[i];
		int at = step < buffer->first ? buffer->first
			: step > buffer->last ? buffer->last
					      : step;
		MemoryKind kind = kind_at(plan, buffer, at, sent, kept);
		peak->kinds[buffer - plan->buffers] = kind;
		peak->keeps[buffer - plan->buffers] = keeps_something(plan->lives,
			plan->lives->shared[buffer->value->id], kept);
		if (at != step)
			continue;
		peak->live[peak->n++] = buffer;
		peak->bytes[kind] += buffer->bytes;
	}
	find_most_kept(peak, plan, order, sent, kept);
	peak->bytes[MEMORY_scratch] = plan->scratch;
	peak->bytes[MEMORY_unused] = plan->total - plan->live;
	return peak;
}

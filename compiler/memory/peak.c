/*
 * peak.c - the step at which most memory is needed, and what that is for.
 *
 *   step   live                   the peak is step 1: x is a parameter, g was
 *   0      x, g = all-gather(x)   gathered, h is a temporary
 *   1      x, g, h = dot(g, x)
 *   2      h, y = relu(h)         in the buffer of h
 */
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

/* A step of a backward pass; the end of a body is of whoever runs it. */
static bool
goes_backward(const Op *op)
{
	const Op *parent = op->block->parent;

	return (op->kind == O_return && parent ? parent : op)->mode == MODE_backward;
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

/* Is it there while the program goes forward, and read backward last? */
static bool
is_kept(const Plan *plan, const Buffer *buffer, const int *forward)
{
	const Lives *l = plan->lives;
	int first = buffer->first + 1, last = buffer->last;

	return first >= 0 && last < l->n && first < last && forward[last] > forward[first]
		&& goes_backward(l->step[last]);
}

/* What the buffer holds at a step of its: the last that was put there. */
static MemoryKind
kind_at(const Plan *plan, const Buffer *buffer, int step, const bool *sent, const int *forward)
{
	const Lives *l = plan->lives;
	const Shared *s = l->shared[buffer->value->id];
	const Value *holds = s->lives[0].value, *root;
	bool result = false;

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
	if (is_kept(plan, buffer, forward))
		return MEMORY_backward;
	bool received = root->def && op_communicates(root->def);
	if (received && collectives[root->def->kind].per_member)
		return MEMORY_gathered;
	return received || sent[root->id] ? MEMORY_collectives : MEMORY_temporaries;
}

Peak *
plan_at_peak(const Plan *plan)
{
	Arena *a = plan->module->arena;
	Peak *peak = NEW(a, Peak);
	Buffer **order = plan_largest_first(plan);
	const bool *sent = find_sent(plan->lives);
	const int *forward = count_forward(plan->lives);
	int step = plan->fullest;

	peak->op = step >= 0 && step < plan->lives->n ? plan->lives->step[step] : NULL;
	peak->live = NEW_ARRAY(a, Buffer *, plan->n + 1);
	peak->kinds = NEW_ARRAY(a, MemoryKind, plan->n + 1);
	for (int i = 0; i < plan->n; i++) {
		Buffer *buffer = order[i];
		int at = step < buffer->first ? buffer->first
			: step > buffer->last ? buffer->last
					      : step;
		MemoryKind kind = kind_at(plan, buffer, at, sent, forward);
		peak->kinds[buffer - plan->buffers] = kind;
		if (at != step)
			continue;
		peak->live[peak->n++] = buffer;
		peak->bytes[kind] += buffer->bytes;
	}
	peak->bytes[MEMORY_scratch] = plan->scratch;
	peak->bytes[MEMORY_unused] = plan->total - plan->live;
	return peak;
}

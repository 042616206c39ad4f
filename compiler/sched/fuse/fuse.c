/*
 * fuse.c - a device program becomes steps: which values get a buffer, and
 * which are computed inside the loops that use them.
 *
 *   h = add(x, broadcast(b))         one kernel, one buffer: h
 *   y = exponential(h)               a second one if h is used elsewhere too
 *
 * Ops are visited last to first, so that every use of a value is known when
 * its op is reached.  A use is either of the whole buffer (a collective, a
 * result) or one element at an index within a kernel: a slot to be filled
 * with a node.  An op that only moves elements hands the slot on to its
 * operand with another index; a pointwise op, all of whose uses are in one
 * kernel, is computed there; so is a reduction, over the rows of the kernel.
 * Everything else gets a buffer and the slots load from it.
 *
 * Requires L_device.  Leaves the module as it is; numbers it.
 */
#include "sched/fuse/fuse.h"
#include "sched/sched.h"

Value *
steps_source(const Steps *s, const Value *v)
{
	while (s->source[v->id] != v)
		v = s->source[v->id];
	return s->source[v->id];
}

Value *
steps_home(const Steps *s, const Value *v)
{
	v = steps_source(s, v);
	while (s->home[v->id] && s->home[v->id] != v)
		v = s->home[v->id];
	return s->home[v->id];
}

/*
 * Rank 0 and made of this device's id and constants alone: an offset, or what a
 * table has for this device.  Such a value is an ordinary C variable of run().
 */
static bool
is_scalar(const Fuse *f, const Op *op)
{
	bool any = false;

	if (op->kind == O_partition_id)
		return true;
	if (op->nresults != 1)
		return false;
	bool looks_up = op->kind == O_take && operand(f, op, 0)->type.rank == 1;
	if (op->results[0]->type.rank || (!ops[op->kind].pointwise && !looks_up))
		return false;
	for (int i = 0; i < op->noperands; i++) {
		const Value *v = operand(f, op, i);
		any |= f->scalar[v->id];
		if (!f->scalar[v->id] && !(v->def && v->def->kind == O_constant))
			return false;
	}
	return any && !op_is_alias(op);
}

/* ---- nodes and uses ------------------------------------------------------ */

void
ref_add(Fuse *f, Value *v, Kernel *k, Node **slot, const Affine *index)
{
	Uses *u = &f->uses[steps_source(f->steps, v)->id];
	Ref *r = NEW(f->scratch, Ref);

	*r = (Ref){.kernel = k, .slot = slot, .next = u->refs};
	if (v->type.rank)
		r->index = arena_copy(f->scratch, index, sizeof *index * (size_t)v->type.rank);
	u->refs = r;
}

/* Nodes are made users first: prepending puts arguments first. */
Node *
node_new(Fuse *f, Kernel *k, NodeKind kind, Op *op, Value *value)
{
	Node *n = NEW(f->arena, Node);

	n->kind = kind;
	n->op = op;
	n->value = value;
	n->index = f->no_index;
	n->next = k->nodes;
	k->nodes = n;
	k->nnodes++;
	return n;
}

void
ref_load(Fuse *f, Value *v, Ref *r)
{
	Node *n = node_new(f, r->kernel, NODE_load, NULL, v);

	n->index = NEW(f->arena, Affine);
	*n->index = index_linear(f->arena, &v->type, r->index);
	*r->slot = n;
}

void
refs_load(Fuse *f, Value *v)
{
	for (Ref *r = f->uses[v->id].refs; r; r = r->next)
		ref_load(f, v, r);
}

void
take_in(Fuse *f, Op *op, const Kernel *k)
{
	Members *m = &f->members[k->fills->id];

	if (!m->n || m->ops[m->n - 1] != op)
		APPEND(f->scratch, m->ops, m->n, op);
}

void
use_whole(Fuse *f, Value *v)
{
	f->uses[steps_source(f->steps, v)->id].whole = true;
}

/* ---- ops that only rename a buffer -------------------------------------- */

static bool
is_parameter(const Fuse *f, const Value *v)
{
	while (v->def && op_is_alias(v->def))
		v = operand(f, v->def, 0);
	return !v->def && v->block == f->steps->module->entry;
}

/* Tried on copies of the kernels, for one that fails leaves loops split. */
static bool
may_pass(Fuse *f, const Op *op, const Uses *u)
{
	const Type *x = &op->operands[0]->type;
	Affine index[MAX_RANK];
	bool may = true;

	for (Ref *r = u->refs; r && may && op->kind == O_reshape; r = r->next) {
		if (!r->kernel->trial)
			r->kernel->trial = arena_copy(f->step, r->kernel, sizeof *r->kernel);
		may = index_through(f->step, r->kernel->trial, op, x, r->index, index);
	}
	for (Ref *r = u->refs; r; r = r->next)
		r->kernel->trial = NULL;
	arena_reset(f->step);
	return may;
}

static void
pass_on(Fuse *f, Op *op, Uses *u)
{
	Value *v = op->results[0], *x = operand(f, op, 0);
	Affine index[MAX_RANK];
	bool may = may_pass(f, op, u);

	for (Ref *r = u->refs; r; r = r->next) {
		if (!may) {
			ref_load(f, v, r);
			u->whole = true;
			continue;
		}
		if (!index_through(f->arena, r->kernel, op, &x->type, r->index, index))
			die("fuse: a reshape fails that was tried");
		if (op->kind == O_reshape)
			take_in(f, op, r->kernel);
		ref_add(f, x, r->kernel, r->slot, index);
	}
	if (u->whole) {
		use_whole(f, x);
		f->steps->home[v->id] = x;
	}
}

/* ---- the walk ----------------------------------------------------------- */

static void
visit_scalar(Fuse *f, Op *op, Uses *u)
{
	Value *v = op->results[0];

	APPEND(f->arena, f->steps->scalars, f->steps->nscalars, op);
	for (Ref *r = u->refs; r; r = r->next) {
		if (r->kernel->kind != KERNEL_dot) {
			*r->slot = node_new(f, r->kernel, NODE_scalar, op, v);
			continue;
		}
		ref_load(f, v, r);
		u->whole = true;
	}
	for (int i = 0; i < op->noperands; i++)
		f->uses[operand(f, op, i)->id].scalar = true;
	if (u->whole)
		root_map(f, op);
}

static void
visit_op(Fuse *f, Op *op)
{
	Value *v = op->results[0];
	Uses *u = &f->uses[v->id];

	if (!u->refs && !u->whole && !(f->scalar[v->id] && u->scalar))
		return;
	if (f->scalar[v->id])
		visit_scalar(f, op, u);
	else if (op_is_alias(op) && !(op->kind == O_output && is_parameter(f, v)))
		pass_on(f, op, u);
	else if (u->whole || !try_inline(f, op, u))
		give_buffer(f, op, u);
}

static bool
is_used(const Fuse *f, const Value *v)
{
	return f->uses[v->id].refs || f->uses[v->id].whole;
}

/* Those that anything wants, in order; all have their uses loaded. */
static int
used_results(Fuse *f, const Op *op, Value ***results)
{
	int n = 0;

	*results = NULL;
	for (int i = 0; i < op->nresults; i++) {
		Value *v = op->results[i];
		if (!is_used(f, v))
			continue;
		refs_load(f, v);
		APPEND(f->arena, *results, n, v);
	}
	return n;
}

static void
visit_sort(Fuse *f, Op *op)
{
	Value **results;
	int n = used_results(f, op, &results);

	if (!n)
		return;
	new_step(f, STEP_sort, op, n, results);
	for (int i = 0; i < op->noperands; i++)
		use_whole(f, op->operands[i]);
}

/* The function writes all of its results, wanted or not. */
static void
visit_extern(Fuse *f, Op *op)
{
	bool any = false;

	for (int i = 0; i < op->nresults; i++)
		any |= is_used(f, op->results[i]);
	if (!any)
		return;
	for (int i = 0; i < op->nresults; i++)
		refs_load(f, op->results[i]);
	new_step(f, STEP_extern, op, op->nresults, op->results);
	for (int i = 0; i < op->noperands; i++)
		use_whole(f, op->operands[i]);
}

static void
visit_plain(Fuse *f, const Item *item)
{
	typedef void VisitPlain(Fuse * f, Op * op);
	static VisitPlain *const visits[OP_COUNT] = {
		[O_sort] = visit_sort,
		[O_extern] = visit_extern,
	};
	Op *op = item->op;

	(visits[op->kind] ? visits[op->kind] : visit_op)(f, op);
}

static void
visit_copy(Fuse *f, const Item *item)
{
	Value *to = item->to;
	bool branch = to->def;

	if (steps_source(f->steps, to) != to || (branch && !is_used(f, to)))
		return;
	if (item->first)
		refs_load(f, to);
	Step *step = new_step(f, item->kind, item->op, 1, arena_copy(f->arena, &to, sizeof to));
	step->reads = arena_copy(f->arena, &item->from, sizeof item->from);
	use_whole(f, item->from);
}

static void
visit_mark(Fuse *f, const Item *item)
{
	new_step(f, item->kind, item->op, 0, NULL);
}

static void
visit_test(Fuse *f, const Item *item)
{
	visit_mark(f, item);
	use_whole(f, item->op->bodies[0]->last->operands[0]);
}

static void
visit_if(Fuse *f, const Item *item)
{
	Value **results;
	int n = used_results(f, item->op, &results);

	new_step(f, STEP_if, item->op, n, results);
	use_whole(f, item->op->operands[0]);
}

static void
visit(Fuse *f, const Item *item)
{
	typedef void Visit(Fuse * f, const Item *item);
	static Visit *const visits[] = {
		[STEP_kernel] = visit_plain,
		[STEP_copy] = visit_copy,
		[STEP_swap] = visit_copy,
		[STEP_loop] = visit_mark,
		[STEP_test] = visit_test,
		[STEP_repeat] = visit_mark,
		[STEP_if] = visit_if,
		[STEP_else] = visit_mark,
		[STEP_endif] = visit_mark,
	};

	visits[item->kind](f, item);
}

/* By item: the innermost loop around it. */
static const Op **
loops_around(const Fuse *f, const Item *items, int n)
{
	const Op **around = NEW_ARRAY(f->scratch, const Op *, n + 1);
	const Op **open = NULL;
	int depth = 0;

	for (int i = 0; i < n; i++) {
		if (items[i].kind == STEP_loop)
			APPEND(f->scratch, open, depth, items[i].op);
		depth -= items[i].kind == STEP_repeat;
		around[i] = depth ? open[depth - 1] : NULL;
	}
	return around;
}

static void
visit_all(Fuse *f)
{
	int n;
	Item *items = steps_flatten(f->steps, &n);
	const Op **around = loops_around(f, items, n);
	const Op *end = f->steps->module->entry->last;

	for (int i = 0; i < n; i++)
		if (items[i].kind == STEP_kernel)
			f->scalar[items[i].op->results[0]->id] = is_scalar(f, items[i].op);
	for (int i = 0; i < end->noperands; i++)
		use_whole(f, end->operands[i]);
	for (int i = n - 1; i >= 0; i--) {
		f->loop = around[i];
		visit(f, &items[i]);
	}
}

static void
load_parameters(Fuse *f, Block *entry)
{
	for (int i = 0; i < entry->nparams; i++) {
		Value *v = entry->params[i];
		f->steps->home[v->id] = v;
		refs_load(f, v);
	}
}

static void
reverse(void *array, int n, size_t size)
{
	char *low = array, *high, t;

	if (n < 2)
		return;
	high = low + size * (size_t)(n - 1);
	for (; low < high; low += size, high -= size)
		for (size_t i = 0; i < size; i++)
			t = low[i], low[i] = high[i], high[i] = t;
}

/* The buffers a step reads, each once. */
static void
add_read(Fuse *f, Step *s, const Value *v)
{
	Value *home = steps_home(f->steps, v);

	for (int i = 0; i < s->nreads; i++)
		if (s->reads[i] == home)
			return;
	APPEND(f->arena, s->reads, s->nreads, home);
}

static void
finish_kernel(Fuse *f, Step *s)
{
	kernel_finish(s->kernel);
	for (const Node *n = s->kernel->nodes; n; n = n->next)
		if (n->kind == NODE_load)
			add_read(f, s, n->value);
	if (s->base)
		add_read(f, s, s->base);
}

static void
finish_operands(Fuse *f, Step *s)
{
	for (int i = 0; i < s->op->noperands; i++)
		add_read(f, s, s->op->operands[i]);
}

static void
finish_copy(Fuse *f, Step *s)
{
	s->reads[0] = steps_home(f->steps, s->reads[0]);
	s->nreads = 1;
}

static void
finish_test(Fuse *f, Step *s)
{
	add_read(f, s, s->op->bodies[0]->last->operands[0]);
}

static void
finish_if(Fuse *f, Step *s)
{
	add_read(f, s, s->op->operands[0]);
}

static void
finish_step(Fuse *f, Step *s)
{
	typedef void Finish(Fuse *, Step *);
	static Finish *const functions[] = {
		[STEP_kernel] = finish_kernel,
		[STEP_dot] = finish_kernel,
		[STEP_collective] = finish_operands,
		[STEP_sort] = finish_operands,
		[STEP_extern] = finish_operands,
		[STEP_copy] = finish_copy,
		[STEP_swap] = finish_copy,
		[STEP_test] = finish_test,
		[STEP_if] = finish_if,
		[STEP_endif] = NULL,
	};

	if (functions[s->kind])
		functions[s->kind](f, s);
}

/* Which loop each step is in, where loops and branches end. */
static void
find_ends(Fuse *f)
{
	Step *step = f->steps->step;
	int *open = NULL, depth = 0, loop = -1;

	for (int i = 0; i < f->steps->n; i++) {
		StepKind kind = step[i].kind;
		step[i].loop = loop;
		if (kind == STEP_loop || kind == STEP_if)
			APPEND(f->scratch, open, depth, i);
		if (kind == STEP_loop)
			loop = i;
		if (kind == STEP_test || kind == STEP_else)
			step[open[depth - 1]].middle = i;
		if (kind != STEP_repeat && kind != STEP_endif)
			continue;
		step[open[--depth]].end = i;
		if (kind == STEP_repeat)
			loop = step[open[depth]].loop;
	}
}

/* An index that nothing depends on in the end takes its scalars with it. */
static void
drop_unused_scalars(Fuse *f)
{
	Steps *s = f->steps;
	bool *used = NEW_ARRAY(f->scratch, bool, s->module->nvalues + 1);
	int n = 0;

	for (int i = 0; i < s->n; i++) {
		if (!s->step[i].kernel)
			continue;
		for (const Node *x = s->step[i].kernel->nodes; x; x = x->next)
			used[x->value ? x->value->id : s->module->nvalues] = true;
	}
	for (int i = s->nscalars - 1; i >= 0; i--) {
		const Op *op = s->scalars[i];
		for (int j = 0; j < op->noperands; j++)
			used[operand(f, op, j)->id] |= used[op->results[0]->id];
	}
	for (int i = 0; i < s->nscalars; i++)
		if (used[s->scalars[i]->results[0]->id])
			s->scalars[n++] = s->scalars[i];
	s->nscalars = n;
}

/* What has a buffer, and what is computed where. */
static Fuse
decide(Module *m, Arena *a)
{
	Steps *s = NEW(a, Steps);
	Fuse f = {.steps = s, .arena = a, .scratch = arena_new(), .step = arena_new()};

	module_number(m);
	s->module = m;
	s->home = NEW_ARRAY(a, Value *, m->nvalues + 1);
	s->source = NEW_ARRAY(a, Value *, m->nvalues + 1);
	f.no_index = NEW(a, Affine);
	f.uses = NEW_ARRAY(f.scratch, Uses, m->nvalues + 1);
	f.scalar = NEW_ARRAY(f.scratch, bool, m->nvalues + 1);
	f.members = NEW_ARRAY(f.scratch, Members, m->nops + 1);
	f.made = NEW_ARRAY(f.scratch, bool, m->nops + 1);
	visit_all(&f);
	load_parameters(&f, m->entry);
	return f;
}

bool
fuse(Module *m)
{
	Arena *a = arena_new();
	Fuse f = decide(m, a);

	fused_write(&f);
	arena_free(f.step);
	arena_free(f.scratch);
	arena_free(a);
	return true;
}

Steps *
steps_build(Module *m)
{
	Fuse f = decide(m, m->arena);
	Steps *s = f.steps;

	reverse(s->step, s->n, sizeof *s->step);
	reverse(s->scalars, s->nscalars, sizeof *s->scalars);
	for (int i = 0; i < s->n; i++)
		finish_step(&f, &s->step[i]);
	find_ends(&f);
	drop_unused_scalars(&f);
	arena_free(f.step);
	arena_free(f.scratch);
	return s;
}

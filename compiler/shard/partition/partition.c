/*
 * partition.c - makes every op local.
 *
 * example     A[i, k@X], B[k@X, j] -> C[i@X, j]
 *             dot gives partial sums over X; `reshard` settles them: C[i@X, j]
 * requires    L_sharded
 * leaves      L_resharded: around each op the placements agree factor by
 *             factor; what has to move is a `reshard` op; values may be
 *             unreduced
 *
 * Ops are taken in order.  Each gets its plan (choose.c); operands
 * that are not where the plan wants them are moved from the cheapest place
 * they already are, and what is moved is remembered, so equal moves are
 * shared, a move back is no move, and a sum of partials is reduced once.  Values that
 * merge left by themselves, for they might have been wanted in different ways, may be
 * equal after all, with what moves for them, and a move that left a loop may have an
 * equal one before it: so equal ops are merged once more.
 */
#include "cost/ledger.h"
#include "shard/partition/partition.h"

/* ---- names -------------------------------------------------------------------------- */

/* Values that were only moved aside: what took the place of one that the user
   named takes its name, too, unless it has one from the user. */
static void
follow_aliases(Partitioner *p)
{
	Module *m = p->module;

	for (int i = 0; i < m->nnamed; i++) {
		const Value *v = m->named[i].value;
		if (v && v->id >= 0 && !source_of(p, v)->alias)
			source_of(p, v)->named = true;
	}
	for (int i = 0; i < m->nnamed; i++) {
		Value *old = m->named[i].value, *v = old;
		while (v && v->id >= 0 && source_of(p, v)->alias)
			v = source_of(p, v)->alias;
		if (v != old && v->def && (v->id < 0 || !source_of(p, v)->named)) {
			value_take_name(v, old);
		}
		m->named[i].value = v;
	}
	/* of a dump that returns what is no `output` */
	for (int i = 0; i < m->nresults; i++)
		m->results[i].value = m->entry->last->operands[i];
}

/* ---- what was decided ---------------------------------------------------------------- */

static void
enter_transfers(Partitioner *p, Op *op)
{
	Ledger *l = p->module->ledger;
	HaloCost halo = op_halo(&p->module->mesh, p->arena, op);
	const Value *v = op->noperands ? op->operands[0] : NULL;

	while (v && v->def && op_is_move(v->def))
		v = v->def->operands[0];
	if (halo.collectives)
		ledger_add(l,
			(Transfer){
				.op = op,
				.kind = O_collective_permute,
				.axes = halo.axes,
				.value = v,
				.bytes = halo.bytes,
				.seconds = halo.seconds,
				.rows = halo.rows,
				.hops = halo.hops,
			});
	if (!op_is_move(op))
		return;
	const Value *from = op->operands[0], *to = op->results[0];
	const ReshardPlan *plan =
		reshard_plan(p->resharder, &from->type, &from->placement, &to->placement);
	for (int i = 0; i < plan->n; i++) {
		const Move *move = &plan->moves[i];
		if (move->bytes > 0)
			ledger_add(l,
				(Transfer){
					.op = op,
					.kind = move->kind,
					.axes = move->axes,
					.value = v,
					.before = move->before,
					.after = move->after,
					.bytes = move->bytes,
					.seconds = move->seconds,
				});
	}
}

/* Is a factor of the op split over no part of the axis, nor is a region around it,
   though it could be? */
static bool
is_repeated(const Rule *r, const Planned *planned, int axis, int64_t size)
{
	AxisList manual = block_manual_axes(planned->op->block);
	bool could = false;

	for (int i = 0; i < manual.n; i++)
		if (manual.a[i].axis == axis)
			return false;
	for (int f = 0; f < r->nfactors; f++) {
		const AxisList *axes = &planned->choice.factors[f];
		for (int i = 0; i < axes->n; i++)
			if (axes->a[i].axis == axis)
				return false;
		could |= factor_splittable(&r->factors[f])
			&& r->factors[f].size % (axes_size(axes) * size) == 0;
	}
	return could;
}

static void
enter_repeated(Partitioner *p, const Planned *planned)
{
	const Op *op = planned->op;
	const Choice *c = &planned->choice;
	const Mesh *mesh = &p->module->mesh;
	const Rule *r = rule_book_get(p->rules, op);
	Type *types = NEW_ARRAY(p->scratch, Type, op->noperands);

	if (value_is_gone(op->results[0]))
		return;
	for (int i = 0; i < op->noperands; i++)
		types[i] = placement_local(&op->operands[i]->type, &op->operands[i]->placement);
	Type result = placement_local(&op->results[0]->type, &op->results[0]->placement);
	StepCost cost = step_cost(mesh, op, types, &result);
	for (int a = 0; a < mesh->naxes; a++)
		if (mesh->axes[a].size > 1 && is_repeated(r, planned, a, mesh->axes[a].size))
			ledger_add_repeated(p->module->ledger,
				(Repeated){
					.op = op,
					.axis = {a, 1, (int32_t)mesh->axes[a].size},
					.flops = cost.flops,
					.seconds = cost.seconds,
					.here = {c->bytes, c->seconds, c->split != NULL},
					.split = c->split ? c->split[a] : (Price){0},
				});
	arena_reset(p->scratch);
}

/* Are there dims that it has whole on each device, wherever placements pass? */
static bool
wants_whole(const Op *op)
{
	return op_has(op, A_whole) || (op->kind == O_extern && !*op->external->library);
}

/* ---- what is known before ------------------------------------------------------------ */

static void
begin(Partitioner *p, Module *m, Foresight with)
{
	Precedents *known = module_precedents(m);

	*p = (Partitioner){.module = m,
		.with = with,
		.resharder = known->resharder,
		.memo = known->choices,
		.rules = known->rules,
		.lasting = known->arena,
		.run = known->runs++,
		.arena = arena_new(),
		.scratch = arena_new()};
	p->nsources = m->nvalues;
	p->sources = NEW_ARRAY(p->arena, Source, p->nsources + 1);
	p->infinite = find_infinite(p->arena, m);
	p->changes = NEW_ARRAY(p->arena, int, m->nvalues + 1);
	find_changes(p, m->entry, 0);
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry)) {
		bool move = op_is_move(op);
		if (!move && op->kind != O_output)
			continue;
		draw_in(p, op->operands[0], &op->results[0]->placement,
			move || asks_for_place(op->results[0]));
		arena_reset(p->scratch);
	}
	list_users(p);
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
		for (int i = 0; i < op->noperands && wants_whole(op); i++)
			draw_to_user(p, op, i);
	find_later(p);
	if (with.sums)
		draw_sums(p);
}

static void
end(Partitioner *p)
{
	text_free(&p->key);
	arena_free(p->scratch);
	arena_free(p->arena);
}

Partitioner *
lookahead_new(Module *m, Arena *a)
{
	Partitioner *p = NEW(a, Partitioner);

	begin(p, m, (Foresight){.wants = true});
	return p;
}

void
lookahead_free(Partitioner *p)
{
	end(p);
}

/* What there is to foresee; the module stays as it is. */
static Foresight
foresight_there_is(Module *m)
{
	Arena *a = arena_new();
	Value **values = module_values(m, a);
	Placement *was = NEW_ARRAY(a, Placement, m->nvalues + 1);
	Foresight there_is = {.once = merge_sums(m, false)};
	Partitioner p;

	module_count_uses(m);
	for (int i = 0; i < m->nvalues; i++)
		was[i] = values[i]->placement;
	begin(&p, m, (Foresight){.wants = true});
	there_is.wants = are_shared(&p);
	there_is.sums = draw_sums(&p);
	end(&p);
	for (int i = 0; i < m->nvalues; i++)
		values[i]->placement = was[i];
	arena_free(a);
	return there_is;
}

/* ---- the pass ----------------------------------------------------------------------- */

static void
partition_ops(Partitioner *p, Module *m, Foresight with)
{
	if (with.once && merge_sums(m, true)) {
		module_remove_dead(m);
		module_number(m);
		module_count_uses(m);
	}
	begin(p, m, with);
	for (int i = 0; i < m->entry->nparams; i++)
		partition_param(p, m->entry->params[i]);
	partition_block(p, m->entry);
}

/* A tree of sums is priced by itself, and what a user wants by itself it may not want in the
   end: what that changes only the whole program tells.  So that is asked, as it came, and
   begun with again; but where there are no such trees, and all wants changed no plan. */
static void
partition_as_pays(Partitioner *p, Module *m, ChooseForesight *choose_foresight)
{
	Foresight there_is = foresight_there_is(m),
		  with = {.sums = there_is.sums, .wants = true};
	ArenaImage *before = NULL;

	if (there_is.sums || there_is.once)
		with = choose_foresight(m, there_is);
	else if (there_is.wants)
		before = arena_image(m->arena);
	partition_ops(p, m, with);
	if (before && p->swayed) {
		end(p);
		arena_return(m->arena, before);
		with = choose_foresight(m, there_is);
		partition_ops(p, m, with);
	} else if (before) {
		arena_image_free(before);
	}
	m->foresight = with;
	m->foresight.decided = true;
}

bool
partition(Module *m, ChooseSharing *choose_sharing, Foresight *with,
	ChooseForesight *choose_foresight)
{
	Partitioner p;

	module_remove_dead(m);
	module_number(m);
	module_count_uses(m);
	if (with) {
		partition_ops(&p, m, *with);
		with->swayed = p.swayed;
	} else if (m->foresight.decided) {
		partition_ops(&p, m, m->foresight);
	} else {
		partition_as_pays(&p, m, choose_foresight);
	}
	hoist_moves(&p, m->entry);
	follow_aliases(&p);
	m->nexpects = 0;
	m->level = L_resharded;
	combine_added(&p);
	module_remove_dead(m);
	merge(m, choose_sharing);
	move_early(m);
	ledger_new(m);
	for (Op *op = m->entry->first; op; op = op_following(op, m->entry))
		enter_transfers(&p, op);
	for (int i = 0; i < p.nplanned; i++)
		enter_repeated(&p, &p.planned[i]);
	end(&p);
	return true;
}

/*
 * verify.c - whether a module is what its level promises.
 *
 * Every failure is collected; module_verify() prints the module with each
 * message under its line.  After a pass a failure is our bug; of a module
 * that was read from a file the same checks are the user's diagnostics, so
 * nothing here trusts what it has not checked.
 *
 * What each level adds is in README.md.  Linear in ops.
 */
#include <ctype.h>
#include <string.h>
#include "ir/flow.h"
#include "ir/types.h"
#include "ir/verify.h"

void
verify_fail(Checker *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	c->report(c->line, arena_vprintf(c->m->arena, fmt, ap), c->data);
	va_end(ap);
	c->failures++;
}

/* ---- axes and placements -------------------------------------------- */

const char *
axes_text(Checker *c, const AxisList *l)
{
	Text t = {0};

	text_axes(&t, &c->m->mesh, l);
	return text_take(&t, c->m->arena);
}

/* Each axis, or part of one, at most once; parts on one common refinement. */
static bool
check_axes(Checker *c, const char *what, const AxisList *l)
{
	const Mesh *mesh = &c->m->mesh;

	for (int i = 0; i < l->n; i++) {
		AxisRef a = l->a[i];
		if ((int)a.axis >= mesh->naxes) {
			verify_fail(c, "%s: the mesh has no axis %d", what, a.axis);
			return false;
		}
		if (a.pre >= 1 && a.size >= 1
			&& mesh->axes[a.axis].size % ((int64_t)a.pre * a.size) == 0
			&& (a.size > 1 || axis_is_whole(mesh, a)))
			continue;
		verify_fail(c, "%s: %s:(%d)%d is not a part of an axis of size %lld", what,
			mesh->axes[a.axis].name, a.pre, a.size,
			(long long)mesh->axes[a.axis].size);
		return false;
	}
	for (int i = 0; i < l->n; i++)
		for (int k = 0; k < i; k++)
			if (!axis_can_coexist(l->a[k], l->a[i])) {
				AxisList both = {2, {l->a[k], l->a[i]}};
				verify_fail(c, "%s: %s cannot be used together", what,
					axes_text(c, &both));
				return false;
			}
	return true;
}

/* The axes themselves, whatever the tensor. */
static bool
check_placement(Checker *c, const char *name, const Placement *p, int rank)
{
	if (p->rank != rank) {
		verify_fail(c, "%s has %d dims, its placement %d", name, rank, p->rank);
		return false;
	}
	AxisList all = {.n = placement_pieces(p)};
	if (all.n > MAX_PIECES || p->combiner >= COMBINER_COUNT) {
		verify_fail(c, "the placement of %s is broken", name);
		return false;
	}
	memcpy(all.a, p->pieces, sizeof all.a);
	return check_axes(c, name, &all);
}

static void
check_value_placement(Checker *c, const Value *v)
{
	const Placement *p = &v->placement;
	Level level = c->m->level;

	if (level >= L_device && v->no_placement)
		return;
	if (!check_placement(c, v->name, p, v->type.rank))
		return;
	if (p->nunreduced && !combiner_takes((Combiner)p->combiner, v->type.dtype))
		verify_fail(c, "partial results of %s, %s, cannot be combined by '%s'", v->name,
			dtypes[v->type.dtype].name, combiners[p->combiner].name);
	if (level != L_global && p->open)
		verify_fail(c, "%s has an open dim after propagation", v->name);
	for (int d = 0; d < p->rank && (level == L_sharded || level == L_resharded); d++) {
		AxisList axes = placement_dim(p, d);
		if (v->type.dims[d] % axes_size(&axes))
			verify_fail(c,
				"dim %d of %s has size %lld, which %s (%lld ways) does not "
				"divide",
				d, v->name, (long long)v->type.dims[d], axes_text(c, &axes),
				(long long)axes_size(&axes));
	}
	for (int i = 0; i < c->manual.n; i++)
		if (placement_uses(p, c->manual.a[i]))
			verify_fail(c, "%s is one device's along %s, which places it", v->name,
				axes_text(c, &c->manual));
}

/* ---- values --------------------------------------------------------- */

static bool
name_is_clean(const char *name)
{
	if (!isalpha((unsigned char)name[0]) && name[0] != '_')
		return false;
	for (const char *s = name; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '_' && (*s != '.' || s[1] == '.'))
			return false;
	return !hlo_reserved(name);
}

static void
check_value(Checker *c, Value *v, const Op *def, const Block *b, int index)
{
	if (!v->name || !name_is_clean(v->name)) {
		verify_fail(c, "'%s' is not a name", v->name ? v->name : "");
		return;
	}
	if (!v->block->module->unnamed && !table_add(c->names, v->name, v))
		verify_fail(c, "the name %s is used twice", v->name);
	if (v->def != def || v->block != b || v->index != index)
		verify_fail(c, "%s does not know where it is defined", v->name);
	c->seen[v->id] = v;
	const Type *type = &v->type;
	if (type->rank < 0 || type->rank > MAX_RANK || type->dtype >= DTYPE_COUNT) {
		verify_fail(c, "the type of %s is broken", v->name);
		return;
	}
	int64_t bytes = dtypes[type->dtype].bytes;
	for (int d = 0; d < type->rank; d++)
		if (type->dims[d] < 1 || !mul_i64(bytes, type->dims[d], &bytes)) {
			verify_fail(c, "%s: dim %d has size %lld", v->name, d,
				(long long)type->dims[d]);
			return;
		}
	check_value_placement(c, v);
}

/* What the table says of an op of its kind. */
static void
check_row(Checker *c, const Op *op)
{
	const OpInfo *row = &ops[op->kind];
	bool is_return = op->kind == O_return;

	if (!row->many && op->nresults != !is_return)
		verify_fail(c, "%s has %d results", row->name, op->nresults);
	if (op->nbodies != row->bodies)
		verify_fail(c, "%s has %d bodies, not %d", row->name, op->nbodies, row->bodies);
	if (is_return && op->next)
		verify_fail(c, "something follows the return of its block");
	if (!is_return && !op->next)
		verify_fail(c, "the block ends without a return");

	if (row->operands >= 0 && op->noperands != row->operands)
		verify_fail(c, "%s has %d operands, not %d", row->name, op->noperands,
			row->operands);
	for (int i = 0; i < op->noperands; i++) {
		const Value *v = op->operands[i];
		/* bodies are closed: earlier in the op's own block */
		bool seen = v && v->id >= 0 && v->id < c->m->nvalues && c->seen[v->id] == v
			&& v->block == op->block;
		if (!v)
			verify_fail(c, "operand %d is missing", i);
		else if (!seen)
			verify_fail(c, "operand %d, %s, is not defined before this", i,
				v->name);
	}

	for (int a = 0; a < ATTR_COUNT; a++) {
		bool wanted = row->attrs >> a & 1;
		if (!wanted && !(op->has >> a & 1))
			continue;
		AttrForm form = attr_table[a].form;
		bool one = form == FORM_ONE || form == FORM_DIRECTION || form == FORM_COMBINER
			|| form == FORM_FACT || (a == A_dim && !op_looks_up(op));
		bool optional = form == FORM_FACT || form == FORM_FACTS || a == A_inner;
		if (wanted && optional && !op_has(op, a))
			continue;
		if (wanted != op_has(op, a))
			verify_fail(c, "%s %s attribute %s", row->name,
				wanted ? "lacks its" : "has no", attr_table[a].name);
		else if (wanted && one && op_ints(op, a)->n != 1)
			verify_fail(c, "attribute %s has %d entries, not 1", attr_table[a].name,
				op_ints(op, a)->n);
	}
}

/* ---- ops by the level ----------------------------------------------- */

/* What one loop nest can compute, with others of its kind. */
static bool
is_of_loops(const Op *op)
{
	const OpInfo *info = &ops[op->kind];

	return info->where == WHERE_any && !info->blocked && !info->many && !op_is_grouped(op);
}

/* Which operands of a step may be offsets. */
static bool
takes_offset(const Op *op, int i)
{
	const Op *parent = op->block->parent;

	if (op->kind == O_while)
		return loop_hands_on(op, i);
	if (op->kind == O_return)
		return parent && parent->kind == O_while && op == parent->bodies[1]->last
			&& loop_hands_on(parent, i);
	return op->kind == O_fusion || op->kind == O_output || (op->kind == O_if && i);
}

/* Loop nests are bodies of fusions, which make one value, or let two change places; but
   for offsets. */
static void
check_fused(Checker *c, const Op *op)
{
	const Op *parent = op->block->parent;
	const char *name = ops[op->kind].name;
	bool offset = op->kind != O_return && op_is_offset(op);

	if (parent && parent->kind == O_fusion) {
		if (!is_of_loops(op) && op->kind != O_return)
			verify_fail(c, "%s in a fusion", name);
		return;
	}
	bool step = !is_of_loops(op) || op->kind == O_dot || op_renames(op)
		|| op->kind == O_output || op_is_hosted(op) || op_is_joint(op)
		|| op_is_strip(op);
	for (int i = 0; i < op->noperands; i++)
		if (offset)
			offset = value_is_offset(op->operands[i]);
		else if (value_is_offset(op->operands[i]) && !takes_offset(op, i))
			verify_fail(c, "operand %d, %s, has no place in memory", i,
				op->operands[i]->name);
	if (!step && !offset)
		verify_fail(c, "%s outside a fusion", name);
	if (op_has(op, A_scratch) && op_int(op, A_scratch) < 0)
		verify_fail(c, "%s cannot work in less than no memory", name);
	if (op->kind != O_fusion)
		return;
	const Block *body = op->bodies[0];
	const Ints *in_place = op_ints(op, A_in_place);
	for (int i = 0; i < in_place->n; i++)
		if (in_place->v[i] < 0 || in_place->v[i] >= op->noperands)
			verify_fail(c, "there is no operand %lld to write over",
				(long long)in_place->v[i]);
	Value **results = body->last->operands;
	if (op->nresults != 1
		&& (op->nresults != 2 || op->noperands != 2 || body->last->noperands != 2
			|| results[0] != body->params[1] || results[1] != body->params[0]))
		verify_fail(c, "a fusion of %d results that does not let two change places",
			op->nresults);
}

/* Axes that are manual here only; specs that are closed and use no others. */
static void
check_manual(Checker *c, const Op *op)
{
	const Mesh *mesh = &c->m->mesh;

	if (!op->axes || !op->specs) {
		verify_fail(c, "manual without its axes and specs");
		return;
	}
	if (!check_axes(c, "axes", op->axes))
		return;
	for (int i = 0; i < op->axes->n; i++)
		if (axes_overlap(&c->manual, op->axes->a[i]))
			verify_fail(c, "manual along %s, and so is a region around it",
				axes_text(c, op->axes));
	for (int i = 0; i < op->noperands + op->nresults; i++) {
		const Value *v = rule_tensor(op, i);
		const Placement *spec = &op->specs[i];
		if (!check_placement(c, v->name, spec, v->type.rank))
			continue;
		if (spec->open)
			verify_fail(c, "the spec of %s is open", v->name);
		if (c->m->level == L_global && i >= op->noperands && !v->annotated
			&& !v->follows)
			verify_fail(c, "%s has no placement, which its spec has", v->name);
		for (int a = 0; a < mesh->naxes; a++)
			if (placement_uses(spec, axis_whole(mesh, a))
				&& !axes_overlap(op->axes, axis_whole(mesh, a)))
				verify_fail(c,
					"the spec of %s has axis %s, which is not manual",
					v->name, mesh->axes[a].name);
	}
}

/* Before it is local, axes that a region around it is manual along. */
static void
check_uniform(Checker *c, const Op *op)
{
	if (!op->axes) {
		verify_fail(c, "uniform without its axes");
		return;
	}
	if (!check_axes(c, "axes", op->axes))
		return;
	for (int i = 0; i < op->axes->n; i++)
		if (c->m->level < L_device && !axes_overlap(&c->manual, op->axes->a[i]))
			verify_fail(c, "uniform along %s, which is not manual here",
				axes_text(c, op->axes));
}

static bool
pieces_cover(const AxisList *l, AxisRef a)
{
	int64_t covered = 1;

	for (int i = 0; i < l->n; i++) {
		if (l->a[i].axis != a.axis)
			continue;
		int64_t from = l->a[i].pre > a.pre ? l->a[i].pre : a.pre;
		int64_t end = (int64_t)l->a[i].pre * l->a[i].size;
		int64_t limit = (int64_t)a.pre * a.size;
		if (end > limit)
			end = limit;
		if (end > from)
			covered *= end / from;
	}
	return covered >= a.size;
}

bool
pieces_cover_all(const AxisList *l, const AxisList *wanted)
{
	for (int i = 0; i < wanted->n; i++)
		if (!pieces_cover(l, wanted->a[i]))
			return false;
	return true;
}

static void
check_collective(Checker *c, const Op *op)
{
	bool permute = collectives[op->kind].route == ROUTE_pairs;

	if (!op->axes || (permute && !op->from == !op_has(op, A_source))) {
		verify_fail(c, "%s without its axes", ops[op->kind].name);
		return;
	}
	if (!check_axes(c, "axes", op->axes) || !op->from || !check_axes(c, "from", op->from))
		return;
	if (axes_size(op->axes) != axes_size(op->from))
		verify_fail(c, "axes and from have different sizes");
	for (int i = 0; i < op->from->n; i++)
		if (!pieces_cover(op->axes, op->from->a[i]))
			verify_fail(c, "axes and from do not move the same axes");
}

/* What a collective begins to receive, one done reads, and nothing else. */
static void
check_async(Checker *c, const Op *op)
{
	bool waits = op->kind == O_done;

	if (op->async && (c->m->level != L_scheduled || !op_communicates(op)))
		verify_fail(c, "%s is asynchronous in a %s program", ops[op->kind].name,
			level_names[c->m->level]);
	else if (op->async && !op_may_begin_early(op))
		verify_fail(c, "%s is asynchronous, and the overlap is %s", ops[op->kind].name,
			overlaps[c->m->overlap].name);
	for (int i = 0; i < op->noperands; i++) {
		const Value *v = op->operands[i];
		bool under_way = v->def && v->def->async;
		if (under_way && !waits)
			verify_fail(c, "operand %d, %s, is under way", i, v->name);
		else if (under_way && c->waits[v->id]++)
			verify_fail(c, "%s is waited for twice", v->name);
		else if (waits && !under_way)
			verify_fail(c, "nothing has begun %s", v->name);
	}
}

/* Collectives that are one transfer stand behind each other, and so do those that wait for
   them; none needs another. */
static void
check_combined(Checker *c, const Op *op)
{
	const Op *begun = op->kind == O_done ? op->operands[0]->def : NULL, *before = op->prev;

	if (begun && begun->combined) {
		if (!before || before->kind != O_done
			|| before->operands[0]->def != begun->prev)
			verify_fail(c, "what is one transfer is not waited for at once");
		return;
	}
	if (!op->combined) {
		c->first_combined = op->id;
		return;
	}
	if (c->m->level < L_scheduled || !before || !ops_combine(before, op)) {
		verify_fail(c, "%s is no transfer with what is before it", ops[op->kind].name);
		return;
	}
	const Op *from = op->operands[0]->def;
	if (from && from->block == op->block && from->id >= c->first_combined)
		verify_fail(c, "%s is made by the same transfer", op->operands[0]->name);
}

static void
check_all_done(Checker *c, const Block *b)
{
	for (const Op *op = b->first; op; op = op->next)
		if (op->async && op->nresults == 1 && !c->waits[op->results[0]->id]) {
			c->line = op;
			verify_fail(c, "nothing waits for %s", op->results[0]->name);
		}
}

/* ---- blocks --------------------------------------------------------- */

static void check_block(Checker *c, Block *b);

static void
check_op(Checker *c, Op *op)
{
	int before = c->failures;

	c->line = op;
	check_row(c, op);
	if (op->kind == O_manual)
		check_manual(c, op);
	if (op->kind == O_uniform)
		check_uniform(c, op);
	const char *wrong = c->failures == before ? check_form(op) : NULL;
	if (wrong)
		verify_fail(c, "%s", wrong);
	bool shaped = c->failures == before;
	c->misshapen |= !shaped;
	Level level = c->m->level;
	Where where = ops[op->kind].where;
	if (where == WHERE_device		 ? level < L_device && !block_manual(op->block)
			: where == WHERE_whole	 ? level >= L_device
			: where == WHERE_unfused ? level >= L_fused
			: where == WHERE_fused	 ? level < L_fused
			: where == WHERE_scheduled ? level < L_scheduled
						   : false)
		verify_fail(c, "%s %s a %s program", ops[op->kind].name,
			where == WHERE_device ? "outside" : "in",
			where < WHERE_unfused ? "device" : level_names[level]);
	if (where == WHERE_begun)
		verify_fail(c, "%s in a program whose gradients are made", ops[op->kind].name);
	if (level >= L_fused && !c->misshapen)
		check_fused(c, op);
	if (op_communicates(op))
		check_collective(c, op);
	check_async(c, op);
	if (c->failures == before)
		check_combined(c, op);
	const AxisList around = c->manual;
	if (op->kind == O_manual && shaped)
		axes_append_all(&c->manual, op->axes);
	for (int i = 0; i < op->nbodies; i++)
		check_block(c, op->bodies[i]);
	c->manual = around;
	c->line = op;
	for (int i = 0; i < op->nresults; i++)
		check_value(c, op->results[i], op, op->block, i);
	Type *types = NEW_ARRAY(c->scratch, Type, op->nresults + 1);
	wrong = shaped ? op_types(op, types) : NULL;
	if (wrong)
		verify_fail(c, "%s", wrong);
	for (int i = 0; i < op->nresults && shaped && !wrong; i++)
		if (!type_equal(&types[i], &op->results[i]->type))
			verify_fail(c, "%s makes %s, but %s is %s", ops[op->kind].name,
				type_shape(c->scratch, &types[i]), op->results[i]->name,
				type_shape(c->scratch, &op->results[i]->type));
	if (c->failures != before || level == L_global || level >= L_device)
		return;
	if (op->nbodies)
		check_bodies(c, op);
	else if (level == L_resharded)
		check_local(c, op);
}

static void
check_block(Checker *c, Block *b)
{
	for (int i = 0; i < b->nparams; i++) {
		c->line = b->params[i];
		check_value(c, b->params[i], NULL, b, i);
	}
	c->line = b->parent;
	if (b->module != c->m)
		verify_fail(c, "a block belongs to another module");
	if (!b->first)
		verify_fail(c, "a block has no return");
	for (Op *op = b->first; op; op = op->next) {
		c->line = op;
		if (op->block != b || (op->next ? op->next->prev : b->last) != op)
			verify_fail(c, "an op is linked wrongly");
		check_op(c, op);
		arena_reset(c->scratch);
	}
	check_all_done(c, b);
}

/* ---- the module ----------------------------------------------------- */

void
module_check(Module *m, Report *report, void *data)
{
	Checker c = {.m = m, .report = report, .data = data};
	const Mesh *mesh = &m->mesh;
	int64_t n = 1;

	if (mesh->naxes < 0 || mesh->naxes > MAX_AXES || !mesh->target) {
		verify_fail(&c, "the mesh is broken");
		return;
	}
	for (int i = 0; i < mesh->naxes; i++)
		if (mesh->axes[i].size < 1 || !mul_i64(n, mesh->axes[i].size, &n))
			verify_fail(&c, "mesh axis %s has size %lld", mesh->axes[i].name,
				(long long)mesh->axes[i].size);
	if (n != mesh->ndevices)
		verify_fail(&c, "the mesh has %lld devices, not %lld", (long long)n,
			(long long)mesh->ndevices);
	if (c.failures)
		return;
	module_number(m);
	c.arena = arena_new();
	c.scratch = arena_new();
	c.rules = rule_book_new(c.arena);
	c.names = table_new(c.arena);
	c.seen = NEW_ARRAY(c.arena, Value *, m->nvalues);
	c.waits = NEW_ARRAY(c.arena, int, m->nvalues);
	check_block(&c, m->entry);
	c.line = NULL;
	const Op *last = m->entry->last;
	int nreturned = last && last->kind == O_return ? last->noperands : m->nresults;
	if (nreturned != m->nresults)
		verify_fail(&c, "the entry returns %d values and has %d results", nreturned,
			m->nresults);
	for (int i = 0; last && i < m->nresults && i < last->noperands; i++)
		if (last->kind == O_return && last->operands[i] != m->results[i].value)
			verify_fail(&c, "result %s is not what the entry returns",
				m->results[i].name);
	arena_free(c.scratch);
	arena_free(c.arena);
}

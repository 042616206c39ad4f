/*
 * placement.c - placements in both their spellings.
 *
 *   {mesh['X'=2], [{'X', ?}, {}], unreduced={'Y'}}     HLO's named sharding
 *   f32[8@(X,?), 64] unreduced(Y)                      the language's
 *   [7@X pad, 64]                                      sizes without padding
 *
 * The language's is printed by text_spec() of ir/placement.c.  What does not
 * fit a placement is refused here; whether axes may be used together is for
 * verify.c to say.
 */
#include <string.h>
#include "hlo/print.h"
#include "hlo/read.h"

/* ---- lists of axes --------------------------------------------------- */

static bool
axes_are_sane(const Mesh *mesh, const AxisList *l)
{
	for (int i = 0; i < l->n; i++) {
		AxisRef a = l->a[i];
		if ((int)a.axis >= mesh->naxes || a.size < 1 || a.pre < 1
			|| mesh->axes[a.axis].size % ((int64_t)a.pre * a.size))
			return false;
	}
	return true;
}

bool
group_is_sane(const Mesh *mesh, const AxisList *l)
{
	for (int i = 0; i < l->n; i++)
		for (int k = 0; k < i; k++)
			if (!axis_can_coexist(l->a[i], l->a[k]))
				return false;
	return axes_are_sane(mesh, l);
}

void
line_axes(Line *line, const char *key, const AxisList *l)
{
	Text t = {0};

	text_axes(&t, &line->pr->m->mesh, l);
	line_fact_text(line, key, &t);
}

/* X  'X'  Y:(1)2 */
static AxisRef
read_axis(Cursor *c)
{
	const Mesh *mesh = &c->rd->m->mesh;
	bool quoted = cursor_accept(c, "'");
	const char *name = cursor_word(c, "an axis");
	int axis = mesh_axis(mesh, name);

	if (quoted)
		cursor_expect(c, "'");
	if (axis < 0) {
		cursor_error(c, "the mesh has no axis '%s'", name);
		return (AxisRef){0, 1, 1};
	}
	AxisRef whole = axis_whole(mesh, axis);
	if (!cursor_accept(c, ":"))
		return whole;
	cursor_expect(c, "(");
	int64_t pre = cursor_integer(c, "the size of the part before");
	cursor_expect(c, ")");
	int64_t size = cursor_integer(c, "the size of the part");
	if (!c->rd->failed
		&& (pre < 1 || size < 2 || pre > whole.size || size > whole.size
			|| whole.size % (pre * size)))
		cursor_error(c, "axis %s of size %d has no part (%lld)%lld", name, whole.size,
			(long long)pre, (long long)size);
	if (c->rd->failed)
		return whole;
	return (AxisRef){whole.axis, (int32_t)pre, (int32_t)size};
}

/* X,Y:(1)2 up to `close`, which is taken.  Where they are not NULL, `?` sets
   *open, and a combiner may be the last. */
static AxisList
read_axes(Cursor *c, const char *close, bool *open, Combiner *combiner)
{
	AxisList l = {0};

	for (int n = 0; cursor_item(c, n, close); n++) {
		if (open && cursor_accept(c, "?")) {
			*open = true;
			continue;
		}
		Cursor word = *c;
		if (combiner && n
			&& combiner_by_name(cursor_word(&word, "an axis"), combiner)) {
			*c = word;
			cursor_expect(c, close);
			break;
		}
		if (l.n == MAX_PIECES)
			cursor_error(c, "more than %d axes", MAX_PIECES);
		else
			axes_append(&l, read_axis(c));
	}
	return l;
}

AxisList
read_axes_until(Cursor *c, const char *close)
{
	return read_axes(c, close, NULL, NULL);
}

AxisList *
read_axes_fact(const ReadLine *in, const char *key)
{
	AxisList *l = NEW(in->rd->arena, AxisList);
	const Fact *f = line_needs_fact(in, key);

	if (f) {
		Cursor c = fact_cursor(in->rd, f);
		*l = read_axes(&c, "", NULL, NULL);
	}
	return l;
}

static bool
has_room(Cursor *c, const Placement *p, const AxisList *l)
{
	if (!placement_has_room(p, l->n))
		cursor_error(c, "more than %d axes in one placement", MAX_PIECES);
	return !c->rd->failed;
}

static void
set_dim(Cursor *c, Placement *p, int dim, const AxisList *l, bool open)
{
	if (!has_room(c, p, l))
		return;
	placement_set_dim(p, dim, l);
	if (open)
		p->open |= (uint16_t)(1u << dim);
}

/* ---- shardings of HLO ------------------------------------------------ */

const char *
mesh_text(const Mesh *mesh, Arena *a)
{
	Text t = {0};

	text_add(&t, "mesh[");
	for (int i = 0; i < mesh->naxes; i++)
		text_printf(&t, "%s'%s'=%lld", i ? "," : "", mesh->axes[i].name,
			(long long)mesh->axes[i].size);
	text_add(&t, "]");
	return text_take(&t, a);
}

/* {'X', 'Y':(1)2, ?} */
static void
text_named_axes(Text *t, const Mesh *mesh, const AxisList *l, bool open)
{
	text_add(t, "{");
	for (int i = 0; i < l->n; i++) {
		AxisRef a = l->a[i];
		text_printf(t, "%s'%s'", i ? ", " : "", mesh->axes[a.axis].name);
		if (!axis_is_whole(mesh, a))
			text_printf(t, ":(%d)%d", a.pre, a.size);
	}
	if (open)
		text_add(t, l->n ? ", ?" : "?");
	text_add(t, "}");
}

static void
text_sharding(Text *t, const Printer *pr, const Placement *p)
{
	const Mesh *mesh = &pr->m->mesh;
	AxisList replicated = placement_replicated(p);
	AxisList unreduced = placement_unreduced(p);

	text_printf(t, ", sharding={%s, [", pr->mesh);
	for (int d = 0; d < p->rank; d++) {
		AxisList axes = placement_dim(p, d);
		text_add(t, d ? ", " : "");
		text_named_axes(t, mesh, &axes, placement_is_open(p, d));
	}
	text_add(t, "]");
	if (replicated.n) {
		text_add(t, ", replicated=");
		text_named_axes(t, mesh, &replicated, false);
	}
	if (unreduced.n) {
		text_add(t, ", unreduced=");
		text_named_axes(t, mesh, &unreduced, false);
	}
	text_add(t, "}");
}

/* {mesh['X'=2], [{'X', ?}, {}], replicated={'Y'}, unreduced={'Z'}} */
static Placement
read_sharding(Cursor *c, int rank)
{
	Placement p = placement_none(rank);
	const char *mesh = c->rd->mesh;

	cursor_expect(c, "{");
	Cursor at = *c;
	if (!cursor_same(c, cursor_of_text(c->rd, mesh, (int)strlen(mesh), at.where))) {
		bool named = cursor_accept(&at, "mesh");
		cursor_error(&at, "%s",
			named ? "another mesh than the module's"
			      : "a sharding is read in its named form only: "
				"{mesh['X'=2], [{'X'}]}");
		return p;
	}
	cursor_expect(c, ",");
	cursor_expect(c, "[");
	for (int d = 0; d < rank && !c->rd->failed; d++) {
		bool open = false;
		if (d)
			cursor_expect(c, ",");
		cursor_expect(c, "{");
		AxisList l = read_axes(c, "}", &open, NULL);
		set_dim(c, &p, d, &l, open);
	}
	cursor_expect(c, "]");
	while (cursor_item(c, 1, "}")) {
		bool unreduced = cursor_accept(c, "unreduced");
		if (!unreduced)
			cursor_expect(c, "replicated");
		cursor_expect(c, "=");
		cursor_expect(c, "{");
		AxisList l = read_axes(c, "}", NULL, NULL);
		if (!has_room(c, &p, &l))
			break;
		if (unreduced)
			placement_set_unreduced(&p, &l, C_add);
		else
			placement_set_replicated(&p, &l);
	}
	return p;
}

/* ---- placements as the language writes them -------------------------- */

/* [8@X, 63@(Y,?)!1 pad] replicated(Z) unreduced(Y, max); `padded` takes a bit
   for each dim that is */
static Placement
read_spec(Cursor *c, Type *type, uint16_t *padded)
{
	Placement p = placement_none(0);
	int64_t bytes = dtypes[type->dtype].bytes;
	Combiner combiner = C_add;

	*padded = 0;
	cursor_expect(c, "[");
	for (int d = 0; cursor_item(c, d, "]"); d++) {
		int64_t size = cursor_integer(c, "a size");
		AxisList l = {0};
		bool open = false;
		if (d == MAX_RANK || size < 1 || !mul_i64(bytes, size, &bytes)) {
			cursor_error(c, "sizes no tensor has");
			break;
		}
		type->dims[d] = size;
		p.rank = (int8_t)(d + 1);
		if (cursor_accept(c, "@")) {
			if (cursor_accept(c, "("))
				l = read_axes(c, ")", &open, NULL);
			else if (cursor_accept(c, "?"))
				open = true;
			else
				axes_append(&l, read_axis(c));
			set_dim(c, &p, d, &l, open);
			int64_t priority =
				cursor_accept(c, "!") ? cursor_integer(c, "a priority") : 0;
			if (priority < 0 || priority > UINT8_MAX)
				cursor_error(c, "a priority of %lld", (long long)priority);
			p.priority[d] = (uint8_t)priority;
		}
		if (cursor_accept(c, "pad"))
			*padded |= (uint16_t)(1u << d);
	}
	type->rank = p.rank;
	if (cursor_accept(c, "replicated")) {
		p.all_replicated = !cursor_accept(c, "(");
		if (!p.all_replicated) {
			AxisList l = read_axes(c, ")", NULL, NULL);
			if (has_room(c, &p, &l))
				placement_set_replicated(&p, &l);
		}
	}
	if (cursor_accept(c, "unreduced") && cursor_expect(c, "(")) {
		AxisList l = read_axes(c, ")", NULL, &combiner);
		if (has_room(c, &p, &l))
			placement_set_unreduced(&p, &l, combiner);
	}
	return p;
}

/* f32[8@X, 64] */
Placement
read_typed_spec(Cursor *c, Type *type)
{
	Cursor start = *c;
	const char *name = cursor_word(c, "a type");
	uint16_t padded;

	*type = type_of(D_pred, 0, NULL);
	if (!dtype_by_name(name, &type->dtype))
		cursor_error(&start, "unknown dtype '%s'", name);
	return read_spec(c, type, &padded);
}

/* ---- the placement of a value ---------------------------------------- */

bool
placement_is_sane(const Mesh *mesh, const Placement *p)
{
	AxisList all = {0};

	if (p->rank < 0 || p->rank > MAX_RANK || p->combiner >= COMBINER_COUNT
		|| placement_pieces(p) > MAX_PIECES)
		return false;
	all.n = placement_pieces(p);
	memcpy(all.a, p->pieces, sizeof all.a);
	return axes_are_sane(mesh, &all);
}

/*
 * A sharding, and where that does not say all, the placement as the language
 * writes it.  In a device program the latter alone, with the tensor's sizes:
 * XLA would take a sharding there for one still to be applied.
 */
void
line_placement(Line *line, const Value *v)
{
	const Mesh *mesh = &line->pr->m->mesh;
	const Placement *p = &v->placement;
	Level level = line->pr->m->level;
	/* What a reader assumes without a word: open in every dim at L_global, whole
	   where there are no dims, or in a manual region. */
	Placement assumed =
		level == L_global ? placement_open(p->rank) : placement_none(p->rank);
	bool implied = (level == L_global || !p->rank || block_manual(v->block))
		&& placement_same(p, &assumed);
	/* Before a device program: where HLO's sharding has no word for all of it. */
	bool spec = level >= L_device
		? !v->no_placement && (!implied || v->unpadded)
		: v->unpadded || p->all_replicated || (p->nunreduced && p->combiner != C_add);
	Text t = {0};

	for (int d = 0; d < p->rank && level < L_device; d++)
		spec |= p->priority[d] != 0;

	if (!placement_is_sane(mesh, p) || p->rank != v->type.rank) {
		line_fact(line, "placement", "broken");
	} else {
		if (level < L_device && (!implied || (level == L_global && v->annotated)))
			text_sharding(line->t, line->pr, p);
		if (spec) {
			text_value_spec(&t, mesh, v);
			line_fact_text(line, "placement", &t);
		}
	}
	/* Before propagation a placement is there because it was written, or follows
	   in explicit code. */
	if (v->follows && level == L_global)
		line_fact(line, "follows", "true");
	if (v->annotated && level != L_global)
		line_fact(line, "annotated", v->annotated_open ? "open" : "true");
	if (v->positions.end > v->positions.first)
		line_fact_numbers(line, "positions", 2,
			(int64_t[]){v->positions.first, v->positions.end});
	if (v->kept)
		line_fact(line, "kept", "true");
	if (v->hosted)
		line_fact(line, "hosted", "true");
}

/* [7@X pad, 64]: the sizes are those of the whole tensor, without padding. */
static void
read_placement_fact(const ReadLine *in, const Fact *f, Value *v)
{
	Type whole = v->type;
	uint16_t padded;
	Cursor c = fact_cursor(in->rd, f);
	Placement p = read_spec(&c, &whole, &padded);
	bool fits = p.rank == v->type.rank;

	cursor_expect_end(&c);
	for (int d = 0; d < p.rank && fits; d++) {
		int64_t ways = in->rd->m->level >= L_device ? placement_dim_ways(&p, d) : 1;
		int64_t most;
		fits = mul_i64(ways, v->type.dims[d], &most)
			&& (padded >> d & 1 ? whole.dims[d] < most : whole.dims[d] == most);
	}
	if (!fits)
		hlo_error(in->rd, f->where, "%s of %s has another shape than %s",
			in->rd->m->level >= L_device ? "a shard" : "a tensor", f->value,
			v->name);
	if (in->rd->failed)
		return;
	v->placement = p;
	if (padded)
		v->unpadded = arena_copy(in->rd->arena, whole.dims,
			(size_t)whole.rank * sizeof whole.dims[0]);
}

static void
read_positions(const ReadLine *in, Value *v)
{
	const Fact *f = find_fact(&in->facts, "positions");

	if (!f)
		return;
	Cursor c = fact_cursor(in->rd, f);
	v->positions.first = cursor_integer(&c, "the first position");
	cursor_expect(&c, ",");
	v->positions.end = cursor_integer(&c, "the end of positions");
	cursor_expect_end(&c);
	if (v->positions.first >= v->positions.end)
		hlo_error(in->rd, f->where, "there are no positions in %s", f->value);
}

void
read_placement(const ReadLine *in, Value *v)
{
	const HloAttr *sharding = hlo_attr(&in->instr->attrs, "sharding");
	const Fact *spec = find_fact(&in->facts, "placement");
	Level level = in->rd->m->level;
	int rank = v->type.rank;

	v->placement = level == L_global ? placement_open(rank) : placement_none(rank);
	v->no_placement = level >= L_device && !spec && rank > 0;
	if (spec)
		read_placement_fact(in, spec, v);
	if (sharding && level < L_device) {
		Cursor c = sharding->value;
		Placement said = v->placement;
		v->placement = read_sharding(&c, rank);
		if (spec) {
			v->placement.all_replicated = said.all_replicated;
			memcpy(v->placement.priority, said.priority, sizeof said.priority);
			v->placement.combiner = said.combiner;
			if (!placement_same(&v->placement, &said))
				hlo_error(in->rd, spec->where,
					"%s is not what the sharding of %s says", spec->value,
					v->name);
		}
	}

	v->annotated_open = fact_is(&in->facts, "annotated", "open");
	v->annotated = v->annotated_open || fact_is(&in->facts, "annotated", "true");
	v->follows = level == L_global && fact_is(&in->facts, "follows", "true");
	if (level == L_global)
		v->annotated = sharding && !v->follows;
	read_positions(in, v);
	v->kept = !v->def && fact_is(&in->facts, "kept", "true");
	v->hosted = !v->def && fact_is(&in->facts, "hosted", "true");
}

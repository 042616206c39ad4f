/*
 * placement_read.c - placements in both their spellings.
 *
 *   {mesh['X'=2], [{'X', ?}, {}], unreduced={'Y'}}     HLO's named sharding
 *   f32[8@(X,?), 64] unreduced(Y)                      the language's
 *   [7@X pad, 64]                                      sizes without padding
 *
 * What does not fit a placement is refused here; whether axes may be used
 * together is for verify.c to say.
 */
#include <string.h>
#include "hlo/read.h"

/* ---- shardings of HLO ----------------------------------------------- */

/* :(1)2 after the name of an axis. */
static void
read_part(Cursor *c, const MeshAxis *axis, AxisRef *a)
{
	cursor_expect(c, "(");
	int64_t pre = cursor_integer(c, "the size of the part before");
	cursor_expect(c, ")");
	int64_t size = cursor_integer(c, "the size of the part");
	if (c->r->failed)
		return;
	if (pre < 1 || size < 2 || pre > axis->size || size > axis->size
		|| axis->size % (pre * size)) {
		cursor_error(c, "axis %s of size %lld has no part (%lld)%lld", axis->name,
			(long long)axis->size, (long long)pre, (long long)size);
		return;
	}
	a->pre = (int32_t)pre;
	a->size = (int32_t)size;
}

static AxisRef
read_axis(Builder *b, Cursor *c)
{
	const Mesh *m = &b->m->mesh;
	AxisRef a = {0, 1, 1};
	bool quoted = cursor_accept(c, "'");
	const char *name = cursor_word(c, "an axis");

	if (quoted)
		cursor_expect(c, "'");
	for (int i = 0; i < m->naxes && !c->r->failed; i++)
		if (!strcmp(m->axes[i].name, name)) {
			a = axis_whole(m, i);
			if (cursor_accept(c, ":"))
				read_part(c, &m->axes[i], &a);
			return a;
		}
	cursor_error(c, "the mesh has no axis '%s'", name);
	return a;
}

/* X,Y:(1)2 up to `close`, which is taken; `?` sets *open. */
static AxisList
read_axes(Builder *b, Cursor *c, const char *close, bool *open)
{
	AxisList l = {0};

	while (!c->r->failed && !cursor_accept(c, close)) {
		if ((l.n || (open && *open)) && !cursor_expect(c, ","))
			break;
		if (open && cursor_accept(c, "?")) {
			*open = true;
			continue;
		}
		if (l.n == MAX_PIECES) {
			cursor_error(c, "more than %d axes", MAX_PIECES);
			break;
		}
		axes_append(&l, read_axis(b, c));
	}
	return l;
}

/* A list to the end of the text. */
AxisList
read_axis_list(Builder *b, Cursor *c)
{
	AxisList l = {0};

	if (cursor_at_end(c))
		return l;
	do {
		if (l.n == MAX_PIECES)
			cursor_error(c, "more than %d axes", MAX_PIECES);
		else
			axes_append(&l, read_axis(b, c));
	} while (cursor_accept(c, ","));
	cursor_expect_end(c);
	return l;
}

static bool
has_room(Cursor *c, const Placement *p, int more)
{
	if (placement_pieces(p) + more > MAX_PIECES)
		cursor_error(c, "more than %d axes in one placement", MAX_PIECES);
	return !c->r->failed;
}

static void
set_dim(Cursor *c, Placement *p, int dim, const AxisList *axes, bool open)
{
	if (!has_room(c, p, axes->n))
		return;
	placement_set_dim(p, dim, axes);
	if (open)
		p->open |= (uint16_t)(1u << dim);
}

static void
set_replicated(Cursor *c, Placement *p, const AxisList *axes)
{
	if (has_room(c, p, axes->n))
		placement_set_replicated(p, axes);
}

static void
set_unreduced(Cursor *c, Placement *p, const AxisList *axes, Combiner combiner)
{
	if (has_room(c, p, axes->n))
		placement_set_unreduced(p, axes, combiner);
}

/* 'X'=2,'Y'=4] must be the module's mesh. */
static void
check_mesh_text(Builder *b, Cursor *c)
{
	const Mesh *m = &b->m->mesh;

	for (int i = 0; i < m->naxes; i++) {
		if (i)
			cursor_expect(c, ",");
		cursor_expect(c, "'");
		const char *name = cursor_word(c, "an axis");
		cursor_expect(c, "'");
		cursor_expect(c, "=");
		int64_t size = cursor_integer(c, "its size");
		if (!c->r->failed && (strcmp(name, m->axes[i].name) || size != m->axes[i].size))
			cursor_error(c, "another mesh than the module's");
	}
	cursor_expect(c, "]");
}

/* {mesh['X'=2], [{'X', ?}, {}], replicated={'Y'}, unreduced={'Z'}} */
static Placement
read_sharding(Builder *b, Cursor *c, int rank)
{
	Placement p = placement_none(rank);

	cursor_expect(c, "{");
	if (!cursor_accept(c, "mesh")) {
		cursor_error(c,
			"a sharding is read in its named form only: "
			"{mesh['X'=2], [{'X'}]}");
		return p;
	}
	cursor_expect(c, "[");
	check_mesh_text(b, c);
	cursor_expect(c, ",");
	cursor_expect(c, "[");
	for (int d = 0; d < rank && !c->r->failed; d++) {
		bool open = false;
		if (d)
			cursor_expect(c, ",");
		cursor_expect(c, "{");
		AxisList axes = read_axes(b, c, "}", &open);
		set_dim(c, &p, d, &axes, open);
	}
	cursor_expect(c, "]");
	while (cursor_accept(c, ",")) {
		bool unreduced = cursor_accept(c, "unreduced");
		if (!unreduced)
			cursor_expect(c, "replicated");
		cursor_expect(c, "=");
		cursor_expect(c, "{");
		AxisList axes = read_axes(b, c, "}", NULL);
		if (unreduced)
			set_unreduced(c, &p, &axes, C_add);
		else
			set_replicated(c, &p, &axes);
	}
	cursor_expect(c, "}");
	return p;
}

static void
read_priorities(Builder *b, const Fact *f, Placement *p)
{
	Cursor c = fact_cursor(b, f);

	for (int d = 0; d < p->rank; d++) {
		if (d)
			cursor_expect(&c, ",");
		int64_t priority = cursor_integer(&c, "a priority");
		if (priority < 0 || priority > UINT8_MAX)
			cursor_error(&c, "a priority of %lld", (long long)priority);
		p->priority[d] = (uint8_t)priority;
	}
	cursor_expect_end(&c);
}

static void
read_placement_facts(Builder *b, const Facts *facts, Placement *p)
{
	const Fact *f = find_fact(facts, "priority");
	Combiner combiner;

	if (f)
		read_priorities(b, f, p);
	p->all_replicated = fact_is(facts, "replicated", "all");
	f = find_fact(facts, "unreduced.combiner");
	if (!f)
		return;
	if (!combiner_by_name(f->value, &combiner))
		hlo_error(b->r, f->where, "unknown combiner '%s'", f->value);
	else if (p->nunreduced)
		p->combiner = (uint8_t)combiner;
}

/* ---- placements as the language writes them ------------------------- */

/* @X  @(X,?)  !1 */
static void
read_spec_axes(Builder *b, Cursor *c, Placement *p, int dim)
{
	bool open = false;
	AxisList axes = {0};

	if (!cursor_accept(c, "@"))
		return;
	if (cursor_accept(c, "("))
		axes = read_axes(b, c, ")", &open);
	else if (cursor_accept(c, "?"))
		open = true;
	else
		axes_append(&axes, read_axis(b, c));
	set_dim(c, p, dim, &axes, open);
	if (!cursor_accept(c, "!"))
		return;
	int64_t priority = cursor_integer(c, "a priority");
	if (priority < 0 || priority > UINT8_MAX)
		cursor_error(c, "a priority of %lld", (long long)priority);
	p->priority[dim] = (uint8_t)priority;
}

/* (Y) or (Y, max) after `unreduced` */
static void
read_spec_unreduced(Builder *b, Cursor *c, Placement *p)
{
	AxisList axes = {0};
	Combiner combiner = C_add;

	cursor_expect(c, "(");
	while (!c->r->failed) {
		Cursor word = *c;
		const char *name = cursor_word(&word, "an axis");
		if (axes.n && combiner_by_name(name, &combiner)) {
			*c = word;
			break;
		}
		if (axes.n == MAX_PIECES)
			cursor_error(c, "more than %d axes", MAX_PIECES);
		else
			axes_append(&axes, read_axis(b, c));
		if (!cursor_accept(c, ","))
			break;
	}
	cursor_expect(c, ")");
	set_unreduced(c, p, &axes, combiner);
}

/* [8@X, 63@(Y,?) pad] replicated(Z) unreduced(Y, max); `padded` takes a bit
   for each dim that is */
static Placement
read_spec(Builder *b, Cursor *c, Type *type, uint16_t *padded)
{
	Placement p = placement_none(0);
	int64_t bytes = dtypes[type->dtype].bytes;

	type->rank = 0;
	*padded = 0;
	cursor_expect(c, "[");
	while (!c->r->failed && !cursor_accept(c, "]")) {
		if (type->rank && !cursor_expect(c, ","))
			break;
		int64_t size = cursor_integer(c, "a size");
		if (type->rank == MAX_RANK || size < 1 || !mul_i64(bytes, size, &bytes)) {
			cursor_error(c, "sizes no tensor has");
			break;
		}
		type->dims[type->rank] = size;
		p.rank = (int8_t)(type->rank + 1);
		read_spec_axes(b, c, &p, type->rank);
		if (cursor_accept(c, "pad"))
			*padded |= (uint16_t)(1u << type->rank);
		type->rank++;
	}
	if (cursor_accept(c, "replicated")) {
		p.all_replicated = !cursor_accept(c, "(");
		if (!p.all_replicated) {
			AxisList axes = read_axes(b, c, ")", NULL);
			set_replicated(c, &p, &axes);
		}
	}
	if (cursor_accept(c, "unreduced"))
		read_spec_unreduced(b, c, &p);
	return p;
}

/* f32[8@X, 64] */
Placement
read_typed_spec(Builder *b, Cursor *c, Type *type)
{
	Cursor start = *c;
	const char *name = cursor_word(c, "a type");

	*type = type_of(D_pred, 0, NULL);
	if (!c->r->failed && !dtype_by_name(name, &type->dtype))
		cursor_error(&start, "unknown dtype '%s'", name);
	return read_spec(b, c, type, &(uint16_t){0});
}

/* The tensor's sizes are the shard's times the ways, less its padding. */
static bool
is_shard_of(const Placement *p, const Type *shard, uint16_t padded, const Type *tensor)
{
	bool fits = p->rank == shard->rank;

	for (int d = 0; d < p->rank && fits; d++) {
		int64_t size = tensor->dims[d], ways = placement_dim_ways(p, d);
		int64_t most;
		fits = mul_i64(ways, shard->dims[d], &most)
			&& (padded >> d & 1 ? size < most : size == most);
	}
	return fits;
}

static void
set_unpadded(Builder *b, Value *v, const int64_t *sizes)
{
	v->unpadded = arena_copy(b->r->arena, sizes, (size_t)v->type.rank * sizeof sizes[0]);
}

/* In a device program. */
static void
read_device_placement(Builder *b, const Facts *facts, Value *v)
{
	const Fact *f = find_fact(facts, "placement");
	Type tensor = v->type;

	v->placement = placement_none(v->type.rank);
	v->no_placement = !f && v->type.rank > 0;
	if (!f)
		return;
	Cursor c = fact_cursor(b, f);
	uint16_t padded;
	Placement p = read_spec(b, &c, &tensor, &padded);
	cursor_expect_end(&c);
	if (b->r->failed)
		return;
	if (is_shard_of(&p, &v->type, padded, &tensor)) {
		v->placement = p;
		if (padded)
			set_unpadded(b, v, tensor.dims);
	} else {
		hlo_error(b->r, f->where,
			"a shard of %s has another shape "
			"than %s",
			f->value, v->name);
	}
}

/* unpadded="7,64" */
static void
read_unpadded(Builder *b, const Facts *facts, Value *v)
{
	const Fact *f = find_fact(facts, "unpadded");
	int64_t sizes[MAX_RANK];
	bool padded = false;

	if (!f || b->m->level == L_device)
		return;
	Cursor c = fact_cursor(b, f);
	for (int d = 0; d < v->type.rank; d++) {
		if (d)
			cursor_expect(&c, ",");
		sizes[d] = cursor_integer(&c, "a size");
		if (!b->r->failed && (sizes[d] < 1 || sizes[d] > v->type.dims[d]))
			cursor_error(&c, "dim %d of %s is smaller than %lld", d, v->name,
				(long long)sizes[d]);
		padded |= sizes[d] != v->type.dims[d];
	}
	cursor_expect_end(&c);
	if (padded && !b->r->failed)
		set_unpadded(b, v, sizes);
}

static void
read_index_limit(Builder *b, const Facts *facts, Value *v)
{
	const Fact *f = find_fact(facts, "index_limit");

	if (!f)
		return;
	Cursor c = fact_cursor(b, f);
	v->index_limit = cursor_integer(&c, "a limit");
	cursor_expect_end(&c);
	if (v->index_limit < 0)
		hlo_error(b->r, f->where, "a limit of %s is below 0", f->value);
}

void
read_placement(Builder *b, const HloInstr *instr, const Facts *facts, Value *v)
{
	const HloAttr *sharding = hlo_attr(&instr->attrs, "sharding");

	v->annotated_open = fact_is(facts, "annotated", "open");
	v->annotated = v->annotated_open || fact_is(facts, "annotated", "true");
	read_index_limit(b, facts, v);
	read_unpadded(b, facts, v);
	if (b->m->level == L_device) {
		read_device_placement(b, facts, v);
		return;
	}
	v->placement = b->m->level == L_global ? placement_open(v->type.rank)
					       : placement_none(v->type.rank);
	if (b->m->level == L_global)
		v->annotated = sharding != NULL;
	if (sharding) {
		Cursor c = sharding->value;
		v->placement = read_sharding(b, &c, v->type.rank);
	}
	read_placement_facts(b, facts, &v->placement);
}

/*
 * placement.c - placements as values: predicates, changes, local shapes and
 * the text the language would write.  No side effects but on `Text`.
 */
#include <string.h>
#include "ir/ir.h"

Placement
placement_none(int rank)
{
	Placement p = {0};

	p.rank = (int8_t)rank;
	return p;
}

Placement
placement_open(int rank)
{
	Placement p = placement_none(rank);

	p.open = (uint16_t)((1u << rank) - 1);
	return p;
}

/* Index in `pieces` where the refs of section `dim` start; section rank is
   the replicated set, rank + 1 the unreduced one. */
static int
section_start(const Placement *p, int section)
{
	int start = 0;

	for (int d = 0; d < section && d < p->rank; d++)
		start += p->count[d];
	if (section > p->rank)
		start += p->nreplicated;
	return start;
}

static AxisList
section(const Placement *p, int which, int n)
{
	AxisList l; /* what is behind its n pieces is not read */
	const AxisRef *from = n ? p->pieces + section_start(p, which) : NULL;

	l.n = n;
	for (int i = 0; i < n; i++)
		l.a[i] = from[i];
	return l;
}

AxisList
placement_dim(const Placement *p, int dim)
{
	return section(p, dim, p->count[dim]);
}

AxisList
placement_replicated(const Placement *p)
{
	return section(p, p->rank, p->nreplicated);
}

AxisList
placement_unreduced(const Placement *p)
{
	return section(p, p->rank + 1, p->nunreduced);
}

/* Puts `axes` in place of the `old` refs of a section. */
static void
replace_section(Placement *p, int which, int old, const AxisList *axes)
{
	int start = section_start(p, which);
	int total = section_start(p, p->rank + 1) + p->nunreduced;

	if (total - old + axes->n > MAX_PIECES)
		die("more than %d axis pieces in one placement", MAX_PIECES);
	memmove(p->pieces + start + axes->n, p->pieces + start + old,
		(size_t)(total - start - old) * sizeof p->pieces[0]);
	memcpy(p->pieces + start, axes->a, (size_t)axes->n * sizeof p->pieces[0]);
}

AxisList
placement_axes(const Placement *p, int dim)
{
	return dim < p->rank ? placement_dim(p, dim) : placement_unreduced(p);
}

void
placement_set_dim(Placement *p, int dim, const AxisList *axes)
{
	replace_section(p, dim, p->count[dim], axes);
	p->count[dim] = (uint8_t)axes->n;
}

/* Replicated and unreduced axes are sets: by axis and part, parts of one axis
   that meet merged, as HLO writes them. */
static AxisList
axes_as_set(const AxisList *axes)
{
	AxisList sorted = *axes, set = {0};

	for (int i = 1; i < sorted.n; i++)
		for (int k = i; k; k--) {
			AxisRef a = sorted.a[k - 1], b = sorted.a[k];
			if (a.axis < b.axis || (a.axis == b.axis && a.pre <= b.pre))
				break;
			sorted.a[k - 1] = b;
			sorted.a[k] = a;
		}
	for (int i = 0; i < sorted.n; i++)
		axes_append(&set, sorted.a[i]);
	return set;
}

void
placement_set_replicated(Placement *p, const AxisList *axes)
{
	AxisList set = axes_as_set(axes);

	replace_section(p, p->rank, p->nreplicated, &set);
	p->nreplicated = (uint8_t)set.n;
}

void
placement_set_unreduced(Placement *p, const AxisList *axes, Combiner c)
{
	AxisList set;

	set.n = 0;
	if (axes->n)
		set = axes_as_set(axes);
	if (axes->n || p->nunreduced)
		replace_section(p, p->rank + 1, p->nunreduced, &set);
	p->nunreduced = (uint8_t)set.n;
	p->combiner = (uint8_t)(set.n ? c : C_add);
}

/* The same set of axes, in whatever order. */
static bool
axes_same_set(const AxisList *a, const AxisList *b)
{
	if (a->n != b->n)
		return false;
	for (int i = 0; i < a->n; i++) {
		bool found = false;
		for (int j = 0; j < b->n; j++)
			found |= axis_equal(a->a[i], b->a[j]);
		if (!found)
			return false;
	}
	return true;
}

static bool
has_unit_axis(const Placement *p)
{
	int n = section_start(p, p->rank + 1) + p->nunreduced;

	for (int i = 0; i < n; i++)
		if (p->pieces[i].size == 1)
			return true;
	return false;
}

Placement
placement_moving(Placement p)
{
	if (!has_unit_axis(&p))
		return p;
	AxisList l = placement_unreduced(&p);
	l = axes_moving(&l);
	placement_set_unreduced(&p, &l, (Combiner)p.combiner);
	for (int d = 0; d < p.rank; d++) {
		l = placement_dim(&p, d);
		l = axes_moving(&l);
		placement_set_dim(&p, d, &l);
	}
	return p;
}

static bool
equal_axes(const Placement *a, const Placement *b)
{
	int n = 0;

	if (a->rank != b->rank || a->nunreduced != b->nunreduced)
		return false;
	for (int d = 0; d < a->rank; n += a->count[d], d++)
		if (a->count[d] != b->count[d])
			return false;
	/* Pieces of dims come first, in order. */
	for (int i = 0; i < n; i++)
		if (!axis_equal(a->pieces[i], b->pieces[i]))
			return false;
	if (!a->nunreduced)
		return true;
	AxisList ua = placement_unreduced(a), ub = placement_unreduced(b);
	return a->combiner == b->combiner && axes_same_set(&ua, &ub);
}

bool
placement_equal(const Placement *a, const Placement *b)
{
	if (!has_unit_axis(a) && !has_unit_axis(b))
		return equal_axes(a, b);
	Placement moving_a = placement_moving(*a);
	Placement moving_b = placement_moving(*b);
	return equal_axes(&moving_a, &moving_b);
}

bool
placement_same(const Placement *a, const Placement *b)
{
	AxisList ra = placement_replicated(a), rb = placement_replicated(b);

	return equal_axes(a, b) && a->open == b->open && a->all_replicated == b->all_replicated
		&& axes_same_set(&ra, &rb)
		&& !memcmp(a->priority, b->priority, (size_t)a->rank);
}

Placement
placement_close(Placement p)
{
	AxisList none = {0};

	if (p.nreplicated)
		placement_set_replicated(&p, &none);
	p.open = 0;
	p.all_replicated = false;
	memset(p.priority, 0, sizeof p.priority);
	return p;
}

int
placement_pieces(const Placement *p)
{
	int n = p->nreplicated + p->nunreduced;

	for (int d = 0; d < p->rank; d++)
		n += p->count[d];
	return n;
}

bool
placement_has_room(const Placement *p, int more)
{
	return placement_pieces(p) + more <= MAX_PIECES;
}

int64_t
placement_dim_ways(const Placement *p, int dim)
{
	AxisList l = placement_dim(p, dim);

	return axes_size(&l);
}

int64_t
placement_ways(const Placement *p)
{
	int64_t ways = 1;

	for (int d = 0; d < p->rank; d++)
		ways *= placement_dim_ways(p, d);
	return ways;
}

bool
placement_is_sound(const Placement *p)
{
	AxisList taken = placement_replicated(p);
	AxisList unreduced = placement_unreduced(p);

	axes_append_all(&taken, &unreduced);
	for (int d = 0; d < p->rank; d++) {
		AxisList l = placement_dim(p, d);
		for (int i = 0; i < l.n; i++)
			if (axes_overlap(&taken, l.a[i]))
				return false;
		axes_append_all(&taken, &l);
	}
	return true;
}

bool
placement_uses(const Placement *p, AxisRef a)
{
	AxisList unreduced = placement_unreduced(p);

	if (axes_overlap(&unreduced, a))
		return true;
	for (int d = 0; d < p->rank; d++) {
		AxisList l = placement_dim(p, d);
		if (axes_overlap(&l, a))
			return true;
	}
	return false;
}

Type
placement_local(const Type *global, const Placement *p)
{
	Type local = *global;

	for (int d = 0; d < global->rank && d < p->rank; d++) {
		int64_t ways = placement_dim_ways(p, d);
		if (local.dims[d] % ways)
			die("dim %d of size %lld does not divide %lld ways", d,
				(long long)local.dims[d], (long long)ways);
		local.dims[d] /= ways;
	}
	return local;
}

/* ---- text ------------------------------------------------------------ */

void
text_axis(Text *t, const Mesh *mesh, AxisRef a)
{
	text_add(t, mesh->axes[a.axis].name);
	if (!axis_is_whole(mesh, a))
		text_printf(t, ":(%d)%d", a.pre, a.size);
}

void
text_axes(Text *t, const Mesh *mesh, const AxisList *l)
{
	for (int i = 0; i < l->n; i++) {
		if (i)
			text_add(t, ",");
		text_axis(t, mesh, l->a[i]);
	}
}

/* The "@..." of a dim; nothing when closed and whole. */
static void
text_dim_axes(Text *t, const Mesh *mesh, const Placement *p, int dim)
{
	AxisList l = placement_dim(p, dim);
	bool open = placement_is_open(p, dim);
	bool several = l.n + open > 1;

	if (!l.n && !open)
		return;
	text_add(t, several ? "@(" : "@");
	text_axes(t, mesh, &l);
	if (open)
		text_add(t, l.n ? ",?" : "?");
	if (several)
		text_add(t, ")");
	if (p->priority[dim])
		text_printf(t, "!%d", p->priority[dim]);
}

/* Of the dims `padded` has the sizes with padding, if it is known. */
static void
text_spec_padded(Text *t, const Mesh *mesh, const Type *type, const Type *padded,
	const Placement *p)
{
	AxisList replicated = placement_replicated(p);
	AxisList unreduced = placement_unreduced(p);

	text_add(t, "[");
	for (int d = 0; d < type->rank; d++) {
		int64_t size = type->dims[d];
		text_printf(t, "%s%lld", d ? ", " : "", (long long)size);
		text_dim_axes(t, mesh, p, d);
		if (padded ? size != padded->dims[d] : size % placement_dim_ways(p, d))
			text_add(t, " pad");
	}
	text_add(t, "]");
	if (p->all_replicated)
		text_add(t, " replicated");
	if (replicated.n) {
		text_add(t, " replicated(");
		text_axes(t, mesh, &replicated);
		text_add(t, ")");
	}
	if (unreduced.n) {
		text_add(t, " unreduced(");
		text_axes(t, mesh, &unreduced);
		if (p->combiner != C_add)
			text_printf(t, ", %s", combiners[p->combiner].name);
		text_add(t, ")");
	}
}

void
text_spec(Text *t, const Mesh *mesh, const Type *type, const Placement *p)
{
	text_spec_padded(t, mesh, type, NULL, p);
}

void
text_type(Text *t, const Mesh *mesh, const Type *type, const Placement *p)
{
	text_add(t, dtypes[type->dtype].name);
	text_spec(t, mesh, type, p);
}

void
text_shape(Text *t, const Type *type)
{
	text_printf(t, "%s[", dtypes[type->dtype].name);
	text_numbers(t, type->rank, type->dims, ", ");
	text_add(t, "]");
}

const char *
type_shape(Arena *a, const Type *type)
{
	Text t = {0};

	text_shape(&t, type);
	return text_take(&t, a);
}

/* The whole tensor at any level, with its padding. */
static Type
padded_type(const Value *v)
{
	Type type = v->type;

	if (v->block && v->block->module->level >= L_device)
		for (int d = 0; d < type.rank; d++)
			type.dims[d] *= placement_dim_ways(&v->placement, d);
	return type;
}

Type
value_whole_type(const Value *v)
{
	Type type = padded_type(v);

	for (int d = 0; d < type.rank && v->unpadded; d++)
		type.dims[d] = v->unpadded[d];
	return type;
}

void
text_value(Text *t, const Mesh *mesh, const Value *v)
{
	Type whole = value_whole_type(v);

	text_type(t, mesh, &whole, &v->placement);
}

void
text_declared(Text *t, const Module *m, int result)
{
	const Value *v = m->entry->last->operands[result];
	const Placement *declared = &m->results[result].placement;
	bool same = placement_equal(declared, &v->placement);
	Type whole = value_whole_type(v);

	text_type(t, &m->mesh, &whole, same ? declared : &v->placement);
}

void
text_placed(Text *t, const Mesh *mesh, const Value *v, const Placement *p)
{
	Type type = value_whole_type(v);

	text_spec(t, mesh, &type, p);
}

void
text_value_spec(Text *t, const Mesh *mesh, const Value *v)
{
	Type type = value_whole_type(v), padded = padded_type(v);

	text_spec_padded(t, mesh, &type, &padded, &v->placement);
}

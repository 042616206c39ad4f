/*
 * module_read.c - the facts of the HloModule line: the mesh, the level, the
 * names that can be asked for.
 */
#include <ctype.h>
#include <string.h>
#include "hlo/hlo.h"
#include "hlo/read.h"
#include "ir/targets.h"

static bool
is_identifier(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	return !*s;
}

/* X=2,Y=4 */
static void
read_mesh(Builder *b, const Fact *f)
{
	Mesh *m = &b->m->mesh;
	Cursor c = fact_cursor(b, f);

	m->naxes = 0;
	while (!cursor_at_end(&c)) {
		if (m->naxes)
			cursor_expect(&c, ",");
		MeshAxis axis = {.name = cursor_word(&c, "an axis")};
		cursor_expect(&c, "=");
		axis.size = cursor_integer(&c, "its size");
		if (b->r->failed)
			return;
		if (!is_identifier(axis.name) || m->naxes == MAX_AXES || axis.size < 1
			|| axis.size > MAX_DEVICES || m->ndevices * axis.size > MAX_DEVICES) {
			cursor_error(&c, "no mesh has such an axis %s", axis.name);
			return;
		}
		for (int i = 0; i < m->naxes; i++)
			if (!strcmp(m->axes[i].name, axis.name))
				cursor_error(&c, "axis %s is there twice", axis.name);
		m->ndevices *= axis.size;
		m->axes[m->naxes++] = axis;
	}
}

static void
read_topology(Builder *b, const Fact *f)
{
	Mesh *m = &b->m->mesh;
	Cursor c = fact_cursor(b, f);
	int64_t chips = 1;

	do {
		int64_t size = cursor_integer(&c, "a size");
		if (b->r->failed)
			return;
		if (m->topology_rank == 4 || size < 1 || !mul_i64(chips, size, &chips)) {
			cursor_error(&c, "no such topology");
			return;
		}
		m->topology[m->topology_rank++] = size;
	} while (cursor_accept(&c, "x"));
	cursor_expect_end(&c);
	if (!b->r->failed && chips != m->ndevices)
		cursor_error(&c, "the topology has %lld chips for %lld devices",
			(long long)chips, (long long)m->ndevices);
}

static void
read_level(Builder *b, const Fact *f)
{
	for (int i = L_global; i <= L_device; i++)
		if (!strcmp(level_names[i], f->value)) {
			b->m->level = (Level)i;
			return;
		}
	hlo_error(b->r, f->where, "unknown level '%s'", f->value);
}

static void
read_target(Builder *b, const Fact *f)
{
	const Target *target = target_by_name(f->value);

	if (target)
		b->m->mesh.target = target;
	else
		hlo_error(b->r, f->where, "unknown target '%s'", f->value);
}

static void
read_entry_name(Builder *b, const Fact *f)
{
	if (is_identifier(f->value))
		b->m->entry_name = f->value;
	else
		hlo_error(b->r, f->where, "'%s' is not the name of a function", f->value);
}

static void
read_last_pass(Builder *b, const Fact *f)
{
	b->m->last_pass = f->value;
}

/* In the order in which they depend on each other. */
static const struct {
	const char *key;
	void (*read)(Builder *b, const Fact *f);
	bool needed;
} module_facts[] = {
	{"level", read_level, true},
	{"entry", read_entry_name, false},
	{"last_pass", read_last_pass, false},
	{"mesh", read_mesh, true},
	{"target", read_target, false},
	{"topology", read_topology, false},
};

void
read_module_facts(Builder *b, const Facts *facts)
{
	for (size_t i = 0; i < sizeof module_facts / sizeof module_facts[0] && !b->r->failed;
		i++) {
		const Fact *f = find_fact(facts, module_facts[i].key);
		if (f)
			module_facts[i].read(b, f);
		else if (module_facts[i].needed)
			hlo_error(b->r, b->r->start,
				"the module's "
				"frontend_attributes do not give its %s",
				module_facts[i].key);
	}
}

/* %h, or nothing. */
static Value *
read_value_name(Builder *b, Cursor *c)
{
	if (!cursor_accept(c, "%"))
		return NULL;
	const char *name = cursor_word(c, "a value");
	Value *v = table_get(b->named, name);
	if (!v)
		cursor_error(c, "the program has no %%%s", name);
	return v;
}

/* result.out="%out f32[8@X]" */
static Named
read_named(Builder *b, const Fact *f, const char *prefix)
{
	Cursor c = fact_cursor(b, f);
	Named n = {.name = f->key + strlen(prefix)};

	n.value = read_value_name(b, &c);
	n.placement = read_typed_spec(b, &c, &n.type);
	cursor_expect_end(&c);
	if (!b->r->failed && n.value && n.value->type.rank != n.type.rank)
		hlo_error(b->r, f->where, "%s has another rank than %%%s", n.name,
			n.value->name);
	return n;
}

/* expect.0="%h f32[8@X] as h at 7 ffn.shd" */
static void
read_expect(Builder *b, const Fact *f)
{
	Cursor c = fact_cursor(b, f);
	Expect e = {0};
	Type type;

	e.value = read_value_name(b, &c);
	e.placement = read_typed_spec(b, &c, &type);
	cursor_expect(&c, "as");
	e.name = cursor_word(&c, "a name");
	cursor_expect(&c, "at");
	int64_t line = cursor_integer(&c, "a line");
	if (b->r->failed)
		return;
	if (!e.value || e.placement.rank != e.value->type.rank) {
		hlo_error(b->r, f->where,
			"nothing of that rank to expect it "
			"of");
		return;
	}
	e.range.line = line > 0 && line < INT32_MAX ? (int)line : 0;
	if (!cursor_at_end(&c))
		e.range.file = source_add_name(b->r->session, c.s + c.pos);
	APPEND(b->r->arena, b->m->expects, b->m->nexpects, e);
}

/* Results in the order of the return, whatever the order of the facts. */
static void
order_results(Builder *b, const Table *results)
{
	const Op *last = b->m->entry->last;

	for (int i = 0; i < last->noperands; i++) {
		Value *v = last->operands[i];
		const Named *found = table_get(results, v->name);
		Named n = {.value = v, .type = v->type, .placement = v->placement};
		if (found)
			n = *found;
		else
			n.name = last->noperands == 1 ? "out"
						      : arena_printf(b->r->arena, "out%d", i);
		APPEND(b->r->arena, b->m->results, b->m->nresults, n);
	}
}

void
read_names(Builder *b, const Facts *facts)
{
	Table *results = table_new(b->r->arena);

	for (int i = 0; i < facts->n && !b->r->failed; i++) {
		const Fact *f = &facts->a[i];
		if (!strncmp(f->key, "value.", 6)) {
			Named n = read_named(b, f, "value.");
			APPEND(b->r->arena, b->m->named, b->m->nnamed, n);
		} else if (!strncmp(f->key, "expect.", 7)) {
			read_expect(b, f);
		} else if (!strncmp(f->key, "result.", 7)) {
			Named *n = NEW(b->r->arena, Named);
			*n = read_named(b, f, "result.");
			if (n->value)
				table_set(results, n->value->name, n);
		}
	}
	if (!b->r->failed)
		order_results(b, results);
}

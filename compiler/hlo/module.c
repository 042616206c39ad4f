/*
 * module.c - a module as text, and back: its line, then its computations.
 *
 *   HloModule ffn, num_partitions=8, frontend_attributes={
 *     level="global",
 *     entry="main",
 *     mesh="X=2,Y=4",
 *     target="v5e",
 *     result.out="%out f32[16@X, 64]"}
 *
 * XLA's parser accepts it at every level.  Printing works on modules that are
 * not well-formed too, for the verifier shows them.  Reading is total: any text
 * gives a module that is well-formed for its level, or diagnostics.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "hlo/print.h"
#include "hlo/read.h"
#include "ir/make.h"

enum { MAX_REPORTS = 100 };

/* What facts of the module begin with that there are several of. */
static const char result_prefix[] = "result.", named_prefix[] = "value.",
		  expect_prefix[] = "expect.", python_prefix[] = "python.";

/* ---- printing -------------------------------------------------------- */

void
module_fact(Text *t, const char *key, const char *value)
{
	text_add(t, ",\n  ");
	text_key(t, key, value);
}

/* As a key has it: what is no letter there is - and its two digits, so a/b is a-2fb. */
static const char *
key_of_name(Arena *a, const char *name)
{
	Text t = {0};

	for (const char *c = name; *c; c++)
		if (isalnum((unsigned char)*c) || *c == '_' || *c == '.')
			text_addn(&t, c, 1);
		else
			text_printf(&t, "-%02x", (unsigned char)*c);
	text_add(&t, "");
	return text_take(&t, a);
}

static const char *
name_of_key(Arena *a, const char *key)
{
	Text t = {0};

	for (const char *c = key; *c; c++) {
		char code[3] = {c[1], *c && c[1] ? c[2] : '\0', '\0'};
		bool coded = *c == '-' && isxdigit((unsigned char)code[0])
			&& isxdigit((unsigned char)code[1]) && strcmp(code, "00") != 0;
		char letter = coded ? (char)strtol(code, NULL, 16) : *c;
		text_addn(&t, &letter, 1);
		c += coded ? 2 : 0;
	}
	text_add(&t, "");
	return text_take(&t, a);
}

/* result.out="%out f32[8@X]"; without a value where its op is gone. */
static void
print_named(const Printer *pr, Text *t, const char *prefix, int n, const Named *named)
{
	const Mesh *mesh = &pr->m->mesh;

	for (const Named *end = named + n; named < end; named++) {
		Text value = {0};
		if (named->value && named->value->block)
			text_printf(&value, "%%%s ", named->value->name);
		if (placement_is_sane(mesh, &named->placement))
			text_type(&value, mesh, &named->type, &named->placement);
		const char *key = key_of_name(pr->arena, named->name);
		module_fact(t, arena_printf(pr->arena, "%s%s", prefix, key),
			text_take(&value, pr->arena));
	}
}

/* python.wq="params['wq']"; "" where it has no name. */
static void
print_python(const Printer *pr, Text *t)
{
	const Table *python = pr->m->python;

	for (int i = 0; python && i < table_count(python); i++) {
		const char *key = key_of_name(pr->arena, table_key(python, i));
		const char *said = table_value(python, i);
		module_fact(t, arena_printf(pr->arena, "%s%s", python_prefix, key),
			said ? said : "");
	}
}

static void
print_header(const Printer *pr, Text *t)
{
	const Module *m = pr->m;
	const Mesh *mesh = &m->mesh;
	Text value = {0};

	text_printf(t, "HloModule %s, num_partitions=%lld, frontend_attributes={\n  ", m->name,
		(long long)mesh->ndevices);
	text_key(t, "level", level_names[m->level]);
	if (m->last_pass[0])
		module_fact(t, "last_pass", m->last_pass);
	module_fact(t, "entry", m->entry_name);
	print_mesh(pr, t);
	if (m->keep_inputs)
		module_fact(t, "inputs", "kept");
	if (m->typed)
		module_fact(t, "types", "placed");
	if (m->overlap != OVERLAP_none)
		module_fact(t, "overlap", overlaps[m->overlap].name);
	if (m->least)
		module_fact(t, "least", arena_printf(pr->arena, "%lld", (long long)m->least));
	print_planned(pr, t);
	print_named(pr, t, result_prefix, m->nresults, m->results);
	print_named(pr, t, named_prefix, m->nnamed, m->named);
	print_python(pr, t);
	/* expect.0="%h f32[8@X, 64] as h at 7 ffn.shd" */
	for (int i = 0; i < m->nexpects; i++) {
		const Expect *e = &m->expects[i];
		if (!e->value->block || !placement_is_sane(mesh, &e->placement))
			continue;
		text_printf(&value, "%%%s ", e->value->name);
		text_type(&value, mesh, &e->value->type, &e->placement);
		text_printf(&value, " as %s at %d", e->name, e->range.line);
		if (e->range.file)
			text_printf(&value, " %s",
				source_file(m->session, e->range.file)->path);
		module_fact(t, arena_printf(pr->arena, "%s%d", expect_prefix, i),
			text_take(&value, pr->arena));
	}
	if (m->reference && m->level < L_device) {
		module_print(m->reference, &value);
		module_fact(t, "reference", text_take(&value, pr->arena));
	}
	text_add(t, "}\n");
}

void
module_print_noted(Module *m, Text *t, LineNote *note, void *data)
{
	Arena *a = arena_new();
	Printer pr = {.m = m,
		.arena = a,
		.mesh = mesh_text(&m->mesh, a),
		.note = note,
		.note_data = data};

	print_computation(&pr, m->entry,
		is_reducer_name(m->entry_name) ? arena_printf(a, "%s.entry", m->entry_name)
					       : m->entry_name);
	print_header(&pr, t);
	if (note)
		note(NULL, t, data);
	print_reducers(&pr, t);
	text_add(t, "\n");
	text_addn(t, pr.done.s, pr.done.n);
	text_free(&pr.done);
	arena_free(a);
}

void
module_print(Module *m, Text *t)
{
	module_print_noted(m, t, NULL, NULL);
}

/* ---- reading --------------------------------------------------------- */

static void
read_level(Reading *rd, const Fact *f)
{
	for (int i = L_global; i <= L_scheduled; i++)
		if (!strcmp(level_names[i], f->value)) {
			rd->m->level = (Level)i;
			return;
		}
	hlo_error(rd, f->where, "unknown level '%s'", f->value);
}

static void
read_entry_name(Reading *rd, const Fact *f)
{
	if (is_identifier(f->value))
		rd->m->entry_name = f->value;
	else
		hlo_error(rd, f->where, "'%s' is not the name of a function", f->value);
}

static void
read_last_pass(Reading *rd, const Fact *f)
{
	rd->m->last_pass = f->value;
}

static void
read_inputs(Reading *rd, const Fact *f)
{
	rd->m->keep_inputs = !strcmp(f->value, "kept");
	if (!rd->m->keep_inputs)
		hlo_error(rd, f->where, "inputs are kept, or nothing is said of them");
}

static void
read_types(Reading *rd, const Fact *f)
{
	rd->m->typed = !strcmp(f->value, "placed");
	if (!rd->m->typed)
		hlo_error(rd, f->where, "types are placed, or nothing is said of them");
}

static void
read_overlap(Reading *rd, const Fact *f)
{
	for (int i = 0; i < OVERLAPS; i++)
		if (!strcmp(f->value, overlaps[i].name)) {
			rd->m->overlap = (Overlap)i;
			return;
		}
	hlo_error(rd, f->where, "unknown overlap '%s'", f->value);
}

static void
read_least(Reading *rd, const Fact *f)
{
	Cursor c = fact_cursor(rd, f);

	rd->m->least = cursor_integer(&c, "a time");
	if (!rd->failed && rd->m->least < 1)
		hlo_error(rd, f->where, "a time is at least 1");
}

/* The text of a module. */
static void
read_reference(Reading *rd, const Fact *f)
{
	int file = source_add_text(rd->session, "<reference>", f->value, f->length);

	rd->m->reference = module_read(rd->session, file);
	rd->failed |= !rd->m->reference;
	if (!rd->failed && (rd->m->reference->reference || rd->m->reference->level > L_global))
		hlo_error(rd, f->where, "a reference is a module of level global without one");
}

static void
read_header(Reading *rd, const Facts *facts)
{
	/* In the order in which they depend on each other. */
	static const struct {
		const char *key;
		void (*read)(Reading *rd, const Fact *f);
		bool needed;
	} rows[] = {
		{"level", read_level, true},
		{"entry", read_entry_name, false},
		{"last_pass", read_last_pass, false},
		{"mesh", read_mesh, true},
		{"facts", read_facts, false},
		{"target", read_target, false},
		{"topology", read_topology, false},
		{"layout", read_layout, false},
		{"ring", read_ring, false},
		{"inputs", read_inputs, false},
		{"types", read_types, false},
		{"overlap", read_overlap, false},
		{"least", read_least, false},
		{"reference", read_reference, false},
	};
	const HloAttr *attr = hlo_attr(&rd->attrs, "num_partitions");

	for (size_t i = 0; i < sizeof rows / sizeof rows[0] && !rd->failed; i++) {
		const Fact *f = find_fact(facts, rows[i].key);
		if (f)
			rows[i].read(rd, f);
		else if (rows[i].needed)
			hlo_error(rd, rd->start,
				"the module's frontend_attributes do not give its %s: it is no "
				"dump of shdc; what XLA dumped goes with --xla=, beside its "
				"program",
				rows[i].key);
	}
	read_planned(rd, facts);
	if (!attr)
		return;
	Cursor c = attr->value;
	int64_t n = cursor_integer(&c, "the number of partitions");
	if (n != rd->m->mesh.ndevices)
		cursor_error(&c, "num_partitions=%lld for a mesh of %lld devices", (long long)n,
			(long long)rd->m->mesh.ndevices);
}

/* %h, or nothing. */
static Value *
read_value_name(Cursor *c)
{
	if (!cursor_accept(c, "%"))
		return NULL;
	const char *name = cursor_word(c, "a value");
	Value *v = table_get(c->rd->named, name);
	if (!v)
		cursor_error(c, "the program has no %%%s", name);
	return v;
}

static Named
read_named(Reading *rd, const Fact *f, const char *prefix)
{
	Cursor c = fact_cursor(rd, f);
	Named n = {.name = name_of_key(rd->arena, f->key + strlen(prefix))};

	n.value = read_value_name(&c);
	n.placement = read_typed_spec(&c, &n.type);
	cursor_expect_end(&c);
	if (n.value && n.value->type.rank != n.type.rank)
		hlo_error(rd, f->where, "%s has another rank than %%%s", n.name, n.value->name);
	return n;
}

static void
read_expect(Reading *rd, const Fact *f)
{
	Cursor c = fact_cursor(rd, f);
	Expect e = {0};
	Type type;

	e.value = read_value_name(&c);
	e.placement = read_typed_spec(&c, &type);
	cursor_expect(&c, "as");
	e.name = cursor_word(&c, "a name");
	cursor_expect(&c, "at");
	e.range.line = cursor_line(&c);
	if (rd->failed)
		return;
	if (!e.value || e.placement.rank != e.value->type.rank) {
		hlo_error(rd, f->where, "nothing of that rank to expect it of");
		return;
	}
	if (!cursor_at_end(&c))
		e.range.file = source_add_name(rd->session, c.s + c.pos);
	APPEND(rd->arena, rd->m->expects, rd->m->nexpects, e);
}

static bool
starts_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* What the Python of a JAX program calls a value of that name. */
static void
read_python(Reading *rd, const Fact *f)
{
	if (!rd->m->python)
		rd->m->python = table_new(rd->arena);
	table_set(rd->m->python, name_of_key(rd->arena, f->key + strlen(python_prefix)),
		f->length ? (void *)f->value : NULL);
}

/* What the facts call results, by value: one may be several. */
typedef struct ResultName {
	Named named;
	struct ResultName *next;
} ResultName;

static void
read_names(Reading *rd, const Facts *facts)
{
	Table *results = table_new(rd->arena);
	ResultName *names = NEW_ARRAY(rd->arena, ResultName, facts->n + 1);
	Module *m = rd->m;
	const Op *last = m->entry->last;
	int nresults = 0;

	for (int i = 0; i < facts->n && !rd->failed; i++) {
		const Fact *f = &facts->a[i];
		if (starts_with(f->key, named_prefix)) {
			Named n = read_named(rd, f, named_prefix);
			APPEND(rd->arena, m->named, m->nnamed, n);
		} else if (starts_with(f->key, expect_prefix)) {
			read_expect(rd, f);
		} else if (starts_with(f->key, python_prefix)) {
			read_python(rd, f);
		} else if (starts_with(f->key, result_prefix)) {
			names[nresults++].named = read_named(rd, f, result_prefix);
		}
	}
	for (ResultName *name = names + nresults; name-- > names && !rd->failed;) {
		const Value *v = name->named.value;
		if (!v)
			continue;
		name->next = table_get(results, v->name);
		table_set(results, v->name, name);
	}
	/* Results in the order of the return, whatever the order of the facts. */
	for (int i = 0; i < last->noperands && !rd->failed; i++) {
		Value *v = last->operands[i];
		const ResultName *found = table_get(results, v->name);
		Named n = {.value = v, .type = v->type, .placement = v->placement};
		if (found) {
			n = found->named;
			table_set(results, v->name, found->next);
		} else {
			n.name = last->noperands == 1 ? "out"
						      : arena_printf(rd->arena, "out%d", i);
		}
		APPEND(rd->arena, m->results, m->nresults, n);
	}
}

/* Before localization what the entry returns are results of `copy`, which passes leave
   where they are.  A file may return what it likes. */
static void
copy_results(Module *m)
{
	Op *last = m->entry->last;

	for (int i = 0; i < m->nresults && m->level < L_device; i++) {
		Named *result = &m->results[i];
		Value *v = result->value;
		if (v->def && v->def->kind == O_output)
			continue;
		result->value = make_unary(named(make_before(last), result->name), O_output, v);
		if (m->level > L_global)
			result->value->placement = v->placement;
		last->operands[i] = result->value;
	}
}

typedef struct Reports {
	Reading *rd;
	int n;
} Reports;

/* A failed check of a module from a file is the user's mistake. */
static void
report_invalid(const void *line, const char *message, void *data)
{
	Reports *reports = data;
	Reading *rd = reports->rd;
	Range where = rd->start;

	rd->failed = true;
	if (reports->n++ >= MAX_REPORTS)
		return;
	for (int i = 0; i < rd->nbuilt; i++)
		if (rd->built[i].line == line)
			where = rd->built[i].instr->where;
	diag(rd->session, DIAG_hlo_invalid, where, "%s", message);
}

Module *
module_read(Session *s, int file)
{
	Reading rd = {.session = s,
		.arena = s->arena,
		.file = file,
		.named = table_new(s->arena),
		.gone = table_new(s->arena)};
	Reports reports = {.rd = &rd};

	hlo_read_text(&rd);
	if (rd.failed)
		return NULL;
	rd.m = module_new(s, rd.name);
	Facts facts = facts_of(&rd.attrs);
	read_header(&rd, &facts);
	if (!rd.failed)
		read_program(&rd);
	if (!rd.failed)
		read_names(&rd, &facts);
	if (!rd.failed)
		module_check(rd.m, report_invalid, &reports);
	for (int i = 0; i < rd.nbuilt && !rd.failed; i++)
		if (rd.built[i].op) {
			ReadLine in = {.rd = &rd, .instr = rd.built[i].instr};
			check_derived(&in, rd.built[i].op);
		}
	if (!rd.failed)
		copy_results(rd.m);
	return rd.failed ? NULL : rd.m;
}

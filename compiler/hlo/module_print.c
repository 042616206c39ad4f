/*
 * module_print.c - modules as HLO text that XLA's parser accepts at every level.
 *
 *   %h = f32[8,64] dot(%x, %W), lhs_contracting_dims={1}, ...,
 *     sharding={mesh['X'=2], [{'X'}, {}]}, frontend_attributes={...},
 *     metadata={op_name="main/einsum 'bd,df->bf'" source_line=3}
 *
 * (on one line).  README.md says where each fact goes.  Works on modules that
 * are not well-formed too, for the verifier shows them.
 */
#include <string.h>
#include "hlo/print.h"
#include "ir/targets.h"

/* ---- lines ---------------------------------------------------------- */

static void
print_metadata(Line *l, Range range, const char *label)
{
	const SourceFile *file = range.file ? source_file(l->p->m->session, range.file) : NULL;

	if (!file && !label)
		return;
	text_add(l->t, ", metadata={");
	if (label) {
		Text name = {0};
		text_printf(&name, "%s/%s", l->p->m->entry_name, label);
		text_key(l->t, "op_name", name.s);
		text_free(&name);
	}
	if (file) {
		text_add(l->t, label ? " " : "");
		text_key(l->t, "source_file", file->path);
		text_printf(l->t, " source_line=%d", range.line);
	}
	text_add(l->t, "}");
}

/* `what` is said to be on this line, if anything. */
static void
line_end(Line *l, Range range, const char *label, const void *what)
{
	if (l->facts.n)
		text_printf(l->t, ", frontend_attributes={%s}", l->facts.s);
	text_free(&l->facts);
	print_metadata(l, range, label);
	text_add(l->t, "\n");
	if (l->p->note && what)
		l->p->note(what, l->t, l->p->note_data);
}

static void
line_start(Line *l, const Value *v, bool root)
{
	text_printf(l->t, "  %s%%%s = ", root ? "ROOT " : "", v->name);
	text_hlo_type(l->t, &v->type);
}

/* What HLO calls the tuple of a body's parameters. */
static const char param_tuple[] = "body..in";

static void
print_param(Printer *p, Text *t, const Value *v, bool root)
{
	Line l = {.p = p, .t = t};

	line_start(&l, v, root);
	if (body_takes_tuple(v->block))
		text_printf(t, " get-tuple-element(%%%s), index=%d", param_tuple, v->index);
	else
		text_printf(t, " parameter(%d)", v->index);
	line_placement(&l, v);
	line_end(&l, v->range, NULL, v);
}

static void
print_operands(Text *t, const Op *op)
{
	text_add(t, "(");
	if (op->kind == O_constant)
		text_literal(t, op->results[0]->type.dtype,
			op_ints(op, A_value)->n ? op_int(op, A_value) : 0);
	for (int i = 0; i < op->noperands; i++)
		text_printf(t, "%s%%%s", i ? ", " : "", op->operands[i]->name);
	text_add(t, ")");
}

static void
text_tuple_type(Text *t, int n, Value *const *values)
{
	text_add(t, "(");
	for (int i = 0; i < n; i++) {
		text_add(t, i ? ", " : "");
		text_hlo_type(t, &values[i]->type);
	}
	text_add(t, ")");
}

static void
text_tuple(Text *t, int n, Value *const *values)
{
	text_tuple_type(t, n, values);
	text_add(t, " tuple(");
	for (int i = 0; i < n; i++)
		text_printf(t, "%s%%%s", i ? ", " : "", values[i]->name);
	text_add(t, ")");
}

/* The opcode, its operands and attributes. */
static void
print_call_of(Line *l, const Op *op, const char *tuple)
{
	const OpInfo *info = &ops[op->kind];

	text_printf(l->t, " %s", info->hlo);
	if (op->kind == O_while)
		text_printf(l->t, "(%%%s..in)", tuple);
	else if (op->kind == O_if && op->noperands)
		text_printf(l->t, "(%%%s, %%%s..in, %%%s..in)", op->operands[0]->name, tuple,
			tuple);
	else
		print_operands(l->t, op);
	if (info->target)
		text_printf(l->t, ", custom_call_target=\"%s\"", info->target);
	print_op_attrs(l, op);
	if (op->mode == MODE_explicit)
		line_fact(l, "mode", "explicit");
}

static void
print_one_result(Printer *p, Text *t, const Op *op, bool root)
{
	Line l = {.p = p, .t = t};

	line_start(&l, op->results[0], root);
	print_call_of(&l, op, NULL);
	line_placement(&l, op->results[0]);
	if (op->requested)
		line_fact(&l, "requested", "true");
	line_end(&l, op->range, op->label, op);
}

static const char *
tuple_name(Printer *p, const Op *op)
{
	if (op->nresults)
		return op->results[0]->name;
	return arena_printf(p->m->arena, "%s..%d", ops[op->kind].name, ++p->ncomputations);
}

/* %h..in = (f32[8]) tuple(%x) */
static void
print_carried(Text *t, const Op *op, const char *name)
{
	int first = op->kind == O_if;

	if (ops[op->kind].bodies != 2 || op->noperands < first)
		return;
	text_printf(t, "  %%%s..in = ", name);
	text_tuple(t, op->noperands - first, op->operands + first);
	text_add(t, "\n");
}

/* Where v is from, if that is not where op is. */
static Range
own_range(const Op *op, const Value *v)
{
	bool same = v->range.file == op->range.file && v->range.line == op->range.line;

	return same ? (Range){0} : v->range;
}

/*
 * Several results, and whatever bodies are given and give, are tuples in HLO.
 * Two dots keep the names of tuples apart from those of values.
 */
static void
print_results(Printer *p, Text *t, const Op *op, const Value *root)
{
	Line l = {.p = p, .t = t};
	const char *name = tuple_name(p, op);
	const char *part = op->kind == O_while ? "loop" : "out";

	print_carried(t, op, name);
	text_printf(t, "  %%%s..%s = ", name, part);
	text_tuple_type(t, op->nresults, op->results);
	print_call_of(&l, op, name);
	line_end(&l, op->range, op->label, op);
	for (int i = 0; i < op->nresults; i++) {
		const Value *v = op->results[i];
		line_start(&l, v, v == root);
		text_printf(t, " get-tuple-element(%%%s..%s), index=%d", name, part, i);
		line_placement(&l, v);
		line_end(&l, own_range(op, v), NULL, NULL);
	}
}

static void
print_op(Printer *p, Text *t, const Op *op, const Value *root)
{
	if (ops[op->kind].bodies == 2 || op->nresults != 1)
		print_results(p, t, op, root);
	else
		print_one_result(p, t, op, op->results[0] == root);
}

static void
print_return(Printer *p, Text *t, const Op *op)
{
	Line l = {.p = p, .t = t};

	text_add(t, "  ROOT %return = ");
	text_tuple(t, op->noperands, op->operands);
	line_end(&l, op->range, op->label, op);
}

/* ---- computations --------------------------------------------------- */

bool
body_takes_tuple(const Block *b)
{
	return b->parent && ops[b->parent->kind].bodies == 2;
}

/* The value that a computation is, NULL where it is a tuple: the entry and
   the bodies of while, if and manual, even of one value. */
static const Value *
root_of(const Block *b)
{
	const Op *last = b->last, *parent = b->parent;
	bool condition = parent && parent->kind == O_while && parent->bodies[0] == b;

	if (!parent || !last || last->kind != O_return || last->noperands != 1
		|| parent->kind == O_manual || (body_takes_tuple(b) && !condition))
		return NULL;
	return last->operands[0];
}

static void
print_signature(Text *t, const Block *b)
{
	const Op *last = b->last;
	const Value *root = root_of(b);

	if (body_takes_tuple(b)) {
		text_printf(t, " (%s: ", param_tuple);
		text_tuple_type(t, b->nparams, b->params);
	} else {
		text_add(t, " (");
		for (int i = 0; i < b->nparams; i++) {
			text_printf(t, "%s%s: ", i ? ", " : "", b->params[i]->name);
			text_hlo_type(t, &b->params[i]->type);
		}
	}
	text_add(t, ") -> ");
	if (root)
		text_hlo_type(t, &root->type);
	else if (last && last->kind == O_return)
		text_tuple_type(t, last->noperands, last->operands);
	else
		text_add(t, "()");
	text_add(t, " {\n");
}

static void
print_params(Printer *p, Text *t, const Block *b, const Value *root)
{
	if (body_takes_tuple(b)) {
		text_printf(t, "  %%%s = ", param_tuple);
		text_tuple_type(t, b->nparams, b->params);
		text_add(t, " parameter(0)\n");
	}
	for (int i = 0; i < b->nparams; i++)
		print_param(p, t, b->params[i], b->params[i] == root);
}

/* Computations of their own are printed before. */
void
computation_done(Printer *p, const Text *t)
{
	if (p->done.n)
		text_add(&p->done, "\n");
	text_addn(&p->done, t->s, t->n);
}

void
print_computation(Printer *p, const Block *b, const char *name)
{
	const Value *root = root_of(b);
	Text t = {0};

	text_printf(&t, "%s%%%s", b->parent ? "" : "ENTRY ", name);
	print_signature(&t, b);
	print_params(p, &t, b, root);
	for (const Op *op = b->first; op; op = op->next) {
		if (op->kind != O_return)
			print_op(p, &t, op, root);
		else if (!root)
			print_return(p, &t, op);
		else if (p->note)
			p->note(op, &t, p->note_data);
	}
	text_add(&t, "}\n");
	computation_done(p, &t);
	text_free(&t);
}

static void
print_reducer(Text *t, Combiner c, DType d)
{
	Text name = {0};
	const char *type = dtypes[d].hlo;

	text_reducer(&name, c, d);
	text_printf(t, "\n%%%s (%s.a: %s[], %s.b: %s[]) -> %s[] {\n", name.s, name.s, type,
		name.s, type, type);
	text_printf(t, "  %%%s.a = %s[] parameter(0)\n", name.s, type);
	text_printf(t, "  %%%s.b = %s[] parameter(1)\n", name.s, type);
	text_printf(t, "  ROOT %%%s.of = %s[] %s(%%%s.a, %%%s.b)\n}\n", name.s, type,
		combiners[c].hlo, name.s, name.s);
	text_free(&name);
}

/* The name of the entry's computation; not that of a reducer. */
static void
entry_computation(Text *name, const Printer *p)
{
	text_add(name, p->m->entry_name);
	for (int c = 0; c < COMBINER_COUNT; c++)
		for (int d = 0; d < DTYPE_COUNT; d++) {
			Text reducer = {0};
			text_reducer(&reducer, (Combiner)c, (DType)d);
			if (!strcmp(reducer.s, p->m->entry_name))
				text_add(name, ".entry");
			text_free(&reducer);
		}
}

/* ---- the module ----------------------------------------------------- */

static const char *
mesh_text(Module *m)
{
	Text t = {0};

	text_add(&t, "mesh[");
	for (int i = 0; i < m->mesh.naxes; i++)
		text_printf(&t, "%s'%s'=%lld", i ? "," : "", m->mesh.axes[i].name,
			(long long)m->mesh.axes[i].size);
	text_add(&t, "]");
	return text_take(&t, m->arena);
}

/* Each fact of the module on a line of its own. */
static void
module_fact(Text *t, const char *key, const char *value)
{
	text_add(t, ",\n  ");
	text_key(t, key, value);
}

static void
mesh_facts(Text *t, const Mesh *m)
{
	Text value = {0};

	for (int i = 0; i < m->naxes; i++)
		text_printf(&value, "%s%s=%lld", i ? "," : "", m->axes[i].name,
			(long long)m->axes[i].size);
	module_fact(t, "mesh", value.s ? value.s : "");
	module_fact(t, "target", m->target->name);
	text_free(&value);
	if (!m->topology_rank)
		return;
	text_numbers(&value, m->topology_rank, m->topology, "x");
	module_fact(t, "topology", value.s);
	text_free(&value);
}

/* result.out="%out f32[8@X]"; without a value where its op is gone. */
static void
named_fact(Text *t, const Mesh *m, const char *kind, const Named *n)
{
	Text key = {0}, value = {0};

	text_printf(&key, "%s.%s", kind, n->name);
	if (n->value && n->value->block)
		text_printf(&value, "%%%s ", n->value->name);
	if (placement_is_sane(m, &n->placement))
		text_type(&value, m, &n->type, &n->placement);
	module_fact(t, key.s, value.s ? value.s : "");
	text_free(&key);
	text_free(&value);
}

/* expect.0="%h [8@X, 64] h ffn.shd:7" */
static void
expect_fact(Text *t, Module *m, int i)
{
	const Expect *e = &m->expects[i];
	Text key = {0}, value = {0};

	if (!e->value->block || !placement_is_sane(&m->mesh, &e->placement))
		return;
	text_printf(&key, "expect.%d", i);
	text_printf(&value, "%%%s ", e->value->name);
	text_type(&value, &m->mesh, &e->value->type, &e->placement);
	text_printf(&value, " as %s at %d", e->name, e->range.line);
	if (e->range.file)
		text_printf(&value, " %s", source_file(m->session, e->range.file)->path);
	module_fact(t, key.s, value.s);
	text_free(&key);
	text_free(&value);
}

static void
print_header(Printer *p, Text *t)
{
	Module *m = p->m;

	text_printf(t,
		"HloModule %s, num_partitions=%lld, "
		"frontend_attributes={\n  ",
		m->name, (long long)m->mesh.ndevices);
	text_key(t, "level", level_names[m->level]);
	if (m->last_pass[0])
		module_fact(t, "last_pass", m->last_pass);
	module_fact(t, "entry", m->entry_name);
	mesh_facts(t, &m->mesh);
	for (int i = 0; i < m->nresults; i++)
		named_fact(t, &m->mesh, "result", &m->results[i]);
	for (int i = 0; i < m->nnamed; i++)
		named_fact(t, &m->mesh, "value", &m->named[i]);
	for (int i = 0; i < m->nexpects; i++)
		expect_fact(t, m, i);
	text_add(t, "}\n");
	if (p->note)
		p->note(NULL, t, p->note_data);
}

void
module_print_noted(Module *m, Text *t, LineNote *note, void *data)
{
	Printer p = {.m = m, .note = note, .note_data = data};
	Text entry = {0};

	p.mesh = mesh_text(m);
	entry_computation(&entry, &p);
	print_computation(&p, m->entry, entry.s);
	print_header(&p, t);
	for (int c = 0; c < COMBINER_COUNT; c++)
		for (int d = 0; d < DTYPE_COUNT; d++)
			if (p.reducers[c][d])
				print_reducer(t, (Combiner)c, (DType)d);
	text_add(t, "\n");
	text_addn(t, p.done.s, p.done.n);
	text_free(&p.done);
	text_free(&entry);
}

void
module_print(Module *m, Text *t)
{
	module_print_noted(m, t, NULL, NULL);
}

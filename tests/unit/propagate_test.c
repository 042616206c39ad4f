/*
 * propagate_test.c - propagation, one small program a row.
 *
 *   x: 8@X, 8            a parameter, exact as in an entry's signature
 *   y = relu x           an op; see `forms` below
 *   return y: 8, 8 @?    a result of the entry, "r", "r.2", ...
 *   loop a=x w=y { n = add a w; yield n w } as r s      carries x and y
 *   if a=x { t = relu a; yield t } else { yield a } as r
 *   explicit             ops from here on are those of an explicit function
 *
 * and what is wanted of some values after it, or "error".  The cases are the worked ones
 * of the propagation chapter, in the order of its rules.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "ir/ir.h"
#include "cost/cost.h"
#include "shard/shard.h"

typedef struct Case {
	const char *name, *mesh, *program, *wanted;
} Case;

static const Case cases[] = {
#include "propagate_cases.inc"
};

/* ---- text to module --------------------------------------------------------- */

typedef struct Build {
	Session *session;
	Module *m;
	Block *block;  /* where ops go */
	OpMode mode;   /* of ops from here on */
	const char *p; /* what is left of the program */
	Table *values;
	int nreturned;
	Value *returned[8];
} Build;

static bool
eat(Build *b, const char *token)
{
	while (*b->p == ' ')
		b->p++;
	size_t n = strlen(token);
	if (strncmp(b->p, token, n) != 0)
		return false;
	b->p += n;
	return true;
}

static char *
word(Build *b)
{
	while (*b->p == ' ')
		b->p++;
	const char *start = b->p;
	while (isalnum((unsigned char)*b->p) || *b->p == '_' || *b->p == '.')
		b->p++;
	return arena_strndup(b->m->arena, start, (size_t)(b->p - start));
}

static int64_t
number(Build *b)
{
	char *end;
	int64_t n = strtoll(b->p, &end, 10);

	if (end == b->p)
		die("number wanted at '%s'", b->p);
	b->p = end;
	return n;
}

static int
numbers(Build *b, int64_t *v)
{
	int n = 0;

	do {
		while (*b->p == ' ')
			b->p++;
		if (!isdigit((unsigned char)*b->p))
			break;
		v[n++] = number(b);
	} while (eat(b, ","));
	return n;
}

static int
axis_named(Build *b, const char *name)
{
	for (int i = 0; i < b->m->mesh.naxes; i++)
		if (!strcmp(b->m->mesh.axes[i].name, name))
			return i;
	die("no axis '%s'", name);
}

static AxisRef
axis(Build *b)
{
	AxisRef a = axis_whole(&b->m->mesh, axis_named(b, word(b)));

	if (eat(b, ":(")) {
		a.pre = (int32_t)number(b);
		eat(b, ")");
		a.size = (int32_t)number(b);
	}
	return a;
}

/* X   (X,?)   ? */
static void
dim_placement(Build *b, Placement *p, int d)
{
	AxisList l = {0};
	eat(b, "@");
	bool several = eat(b, "(");

	do {
		if (eat(b, "?"))
			p->open |= (uint16_t)(1u << d);
		else
			l.a[l.n++] = axis(b);
	} while (several && eat(b, ","));
	if (several)
		eat(b, ")");
	placement_set_dim(p, d, &l);
	if (eat(b, "!"))
		p->priority[d] = (uint8_t)number(b);
}

static AxisList
axis_set(Build *b)
{
	AxisList l = {0};

	do {
		l.a[l.n++] = axis(b);
	} while (eat(b, ","));
	eat(b, ")");
	return l;
}

static void
spec(Build *b, Value *v, bool annotated)
{
	Placement p = placement_none(0);
	Type t = {.dtype = D_f32};

	do {
		while (*b->p == ' ')
			b->p++;
		if (!isdigit((unsigned char)*b->p))
			break;
		t.dims[t.rank++] = number(b);
		p.rank = (int8_t)t.rank;
		if (*b->p == '@') /* " @?" is of the whole tensor */
			dim_placement(b, &p, t.rank - 1);
	} while (eat(b, ","));
	if (eat(b, "replicated(")) {
		AxisList l = axis_set(b);
		placement_set_replicated(&p, &l);
	} else if (eat(b, "replicated")) {
		p.all_replicated = true;
		p.open = (uint16_t)((1u << t.rank) - 1);
	}
	if (eat(b, "unreduced(")) {
		AxisList l = axis_set(b);
		placement_set_unreduced(&p, &l, C_add);
	}
	if (eat(b, "@?"))
		p.open = (uint16_t)((1u << t.rank) - 1);
	v->type = t;
	v->placement = p;
	v->annotated = annotated;
}

static Value *
value(Build *b)
{
	char *name = word(b);
	Value *v = table_get(b->values, name);

	if (!v)
		die("no value '%s'", name);
	return v;
}

static Op *
op(Build *b, OpKind kind, int n, Value **operands, const char *name)
{
	Op *o = op_new(b->m, kind, n, operands, 1, name, (Range){0}, NULL);

	o->mode = b->mode;
	op_append(b->block, o);
	return o;
}

/* The attributes of "ij,jk->ik". */
static void
dot_letters(Op *o, const char *s)
{
	const char *comma = strchr(s, ','), *arrow = strstr(s, "->");
	int64_t batch[2][8], contract[2][8];
	int nb = 0, nc = 0;

	for (const char *l = s; l < comma; l++) {
		const char *in_rhs = memchr(comma, *l, (size_t)(arrow - comma));
		if (!in_rhs)
			continue;
		int64_t(*to)[8] = strchr(arrow, *l) ? batch : contract;
		int *n = strchr(arrow, *l) ? &nb : &nc;
		to[0][*n] = l - s;
		to[1][(*n)++] = in_rhs - comma - 1;
	}
	op_set_ints(o, A_lhs_batch, nb, batch[0]);
	op_set_ints(o, A_rhs_batch, nb, batch[1]);
	op_set_ints(o, A_lhs_contract, nc, contract[0]);
	op_set_ints(o, A_rhs_contract, nc, contract[1]);
}

static Value *
scalar(Build *b, double x)
{
	Op *o = op(b, O_constant, 0, NULL, "scalar");

	o->results[0]->type = (Type){.dtype = D_f32};
	op_set_int(o, A_value, double_payload(x));
	return o->results[0];
}

/* Of a dynamic slice: which does not matter. */
static Value *
start(Build *b)
{
	Op *o = op(b, O_constant, 0, NULL, "start");

	o->results[0]->type = (Type){.dtype = D_i32};
	op_set_int(o, A_value, 0);
	return o->results[0];
}

/* name = kind operands [attributes] */
static Op *
statement(Build *b, const char *name)
{
	static const struct {
		const char *word;
		OpKind kind;
		int operands;
	} forms[] = {
		{"relu", O_exp, 1},
		{"add", O_add, 2},
		{"dot", O_dot, 2},
		{"reshape", O_reshape, 1},
		{"transpose", O_transpose, 1},
		{"broadcast", O_broadcast, 1},
		{"sum", O_reduce, 1},
		{"slice", O_slice, 1},
		{"concat", O_concatenate, 2},
		{"constraint", O_constraint, 1},
		{"barrier", O_barrier, 1},
		{"reshard", O_reshard, 1},
		{"like", O_shard_like, 2},
		{"reverse", O_reverse, 1},
		{"cumsum", O_cumsum, 1},
		{"zeros", O_broadcast, 0},
		{"take", O_dynamic_slice, 1},
		{"put", O_dynamic_update_slice, 2},
	};
	const char *kind = word(b);
	size_t f = 0;
	Value *operands[2 + MAX_RANK];
	int64_t n[MAX_RANK];

	while (f < sizeof forms / sizeof *forms && strcmp(forms[f].word, kind))
		f++;
	if (f == sizeof forms / sizeof *forms)
		die("no op '%s'", kind);
	int count = forms[f].operands;
	for (int i = 0; i < count; i++)
		operands[i] = value(b);
	if (forms[f].kind == O_reduce || forms[f].kind == O_cumsum)
		operands[count++] = scalar(b, 0);
	if (!strcmp(kind, "zeros"))
		operands[count++] = scalar(b, 0);
	if (count && forms[f].kind >= O_dynamic_slice
		&& forms[f].kind <= O_dynamic_update_slice)
		for (int i = operands[0]->type.rank; i > 0; i--)
			operands[count++] = start(b);
	Op *o = op(b, forms[f].kind, count, operands, name);
	if (o->kind == O_dot) {
		while (*b->p == ' ')
			b->p++;
		size_t length = strcspn(b->p, ";");
		dot_letters(o, arena_strndup(b->m->arena, b->p, length));
		b->p += length;
	} else if (o->kind == O_reduce) {
		op_set_ints(o, A_dims, numbers(b, n), n);
		op_set_int(o, A_combiner, C_add);
	} else if (o->kind == O_transpose || o->kind == O_reverse) {
		op_set_ints(o, A_dims, numbers(b, n), n);
	} else if (o->kind == O_concatenate || o->kind == O_cumsum) {
		op_set_int(o, A_dim, (numbers(b, n), n[0]));
		if (o->kind == O_cumsum)
			op_set_int(o, A_combiner, C_add);
	} else if (o->kind == O_dynamic_slice) { /* sizes */
		op_set_ints(o, A_sizes, numbers(b, n), n);
	} else if (o->kind == O_slice) { /* of dim 0 */
		int rank = operands[0]->type.rank;
		int64_t start[MAX_RANK] = {0}, stride[MAX_RANK];
		for (int i = 0; i < rank; i++)
			stride[i] = 1;
		numbers(b, n);
		Type t = operands[0]->type;
		start[0] = n[0];
		t.dims[0] = n[1];
		op_set_ints(o, A_start, rank, start);
		op_set_ints(o, A_limit, rank, t.dims);
		op_set_ints(o, A_stride, rank, stride);
	} else if (o->kind == O_broadcast) { /* shape, then dims */
		spec(b, o->results[0], false);
		o->results[0]->placement = placement_open(o->results[0]->type.rank);
		int k = eat(b, "dims") ? numbers(b, n) : 0;
		op_set_ints(o, A_dims, k, n);
		return o;
	} else if (o->kind == O_reshape) {
		spec(b, o->results[0], false);
		o->results[0]->placement = placement_open(o->results[0]->type.rank);
		return o;
	} else if (o->kind == O_constraint || o->kind == O_reshard) {
		spec(b, o->results[0], true);
		return o;
	}
	op_infer(o);
	o->results[0]->placement = placement_open(o->results[0]->type.rank);
	return o;
}

static void
add_named(Build *b, const char *name, Value *v)
{
	table_set(b->values, name, v);
}

static void line(Build *b);

/* Lines up to "}", in a block of their own. */
static void
body(Build *b, Block *block)
{
	Block *outside = b->block;

	b->block = block;
	while (!eat(b, "}")) {
		line(b);
		while (*b->p == ';' || *b->p == ' ')
			b->p++;
	}
	b->block = outside;
}

static void
yield(Build *b)
{
	Value *v[8];
	int n = 0;

	while (*b->p != '}') {
		v[n++] = value(b);
		while (*b->p == ' ')
			b->p++;
	}
	op_append(b->block, op_new(b->m, O_return, n, v, 0, NULL, (Range){0}, "return"));
}

/* The condition of a loop, or what chooses a branch: never mind. */
static Value *
truth(Build *b)
{
	Op *o = op(b, O_constant, 0, NULL, "truth");

	o->results[0]->type = (Type){.dtype = D_pred};
	op_set_int(o, A_value, 1);
	return o->results[0];
}

static void
condition(Build *b, Block *block)
{
	Block *outside = b->block;

	b->block = block;
	Value *v = truth(b);
	op_append(block, op_new(b->m, O_return, 1, &v, 0, NULL, (Range){0}, "return"));
	b->block = outside;
}

static void
add_params(Build *b, Op *o, Block *block, char **names, int first)
{
	for (int i = first; i < o->noperands; i++) {
		Value *v = block_add_param(block, names[i], &o->operands[i]->type);
		v->placement = placement_open(v->type.rank);
		table_set(b->values, names[i], v);
	}
}

static void
region(Build *b, OpKind kind)
{
	Value *operands[8];
	char *names[8];
	int n = 0;

	if (kind == O_if)
		operands[n++] = truth(b);
	while (!eat(b, "{")) {
		names[n] = word(b);
		eat(b, "=");
		operands[n++] = value(b);
	}
	Op *o = op_new(b->m, kind, n, operands, 0, NULL, (Range){0}, NULL);
	o->mode = b->mode;
	o->nbodies = 2;
	o->bodies = NEW_ARRAY(b->m->arena, Block *, 2);
	for (int i = 0; i < 2; i++) {
		o->bodies[i] = block_new(b->m, o);
		add_params(b, o, o->bodies[i], names, kind == O_if);
		if (kind == O_while && !i)
			condition(b, o->bodies[i]);
		else
			body(b, o->bodies[i]);
		if (kind == O_if && !i && (!eat(b, "else") || !eat(b, "{")))
			die("else wanted at '%s'", b->p);
	}
	if (!eat(b, "as"))
		die("results wanted at '%s'", b->p);
	for (int i = 0; i < o->bodies[1]->last->noperands; i++) {
		char *name = word(b);
		table_set(b->values, name,
			op_add_result(o, name, &o->bodies[1]->last->operands[i]->type));
	}
	op_append(b->block, o);
	op_infer(o);
}

static void
line(Build *b)
{
	if (eat(b, "yield")) {
		yield(b);
		return;
	}
	if (eat(b, "explicit")) {
		b->mode = MODE_explicit;
		return;
	}
	if (eat(b, "loop ")) {
		region(b, O_while);
		return;
	}
	if (eat(b, "if ")) {
		region(b, O_if);
		return;
	}
	if (eat(b, "return ")) {
		Value *v = value(b);
		Op *o = op(b, O_output, 1, &v, "r");
		op_infer(o);
		o->results[0]->placement = placement_open(v->type.rank);
		if (eat(b, ":"))
			spec(b, o->results[0], true);
		b->returned[b->nreturned++] = o->results[0];
		add_named(b, o->results[0]->name, o->results[0]);
		return;
	}
	char *name = word(b);
	if (eat(b, ":")) {
		Type t = {.dtype = D_f32};
		Value *v = block_add_param(b->m->entry, name, &t);
		spec(b, v, true);
		add_named(b, name, v);
	} else if (eat(b, "=")) {
		add_named(b, name, statement(b, name)->results[0]);
	} else {
		die("cannot read '%s'", b->p);
	}
}

static void
set_mesh(Build *b, const char *text)
{
	Mesh *m = &b->m->mesh;

	b->p = text;
	m->ndevices = 1;
	while (*b->p) {
		MeshAxis *a = &m->axes[m->naxes++];
		a->name = word(b);
		eat(b, "=");
		a->size = number(b);
		m->ndevices *= a->size;
	}
}

static Module *
build(Session *s, const Case *c, Table **values)
{
	Build b = {.session = s, .m = module_new(s, "test")};

	b.values = *values = table_new(s->arena);
	b.block = b.m->entry;
	set_mesh(&b, c->mesh);
	b.p = c->program;
	while (*b.p) {
		line(&b);
		while (*b.p == ';' || *b.p == ' ' || *b.p == '\n')
			b.p++;
	}
	Op *end = op_new(b.m, O_return, b.nreturned, b.returned, 0, NULL, (Range){0}, "return");
	op_append(b.m->entry, end);
	b.m->nresults = b.nreturned;
	b.m->results = NEW_ARRAY(s->arena, Named, b.nreturned + 1);
	return b.m;
}

/* ---- checking ----------------------------------------------------------------- */

/* "y=[8@X, 8]; w=[8]" */
static bool
check(const Case *c, const Module *m, const Table *values)
{
	bool ok = true;
	char *copy = arena_printf(m->arena, "%s", c->wanted);

	for (char *w = strtok(copy, ";"); w; w = strtok(NULL, ";")) {
		while (*w == ' ')
			w++;
		char *wanted = strchr(w, '=');
		*wanted++ = 0;
		const Value *v = table_get(values, w);
		if (!v)
			die("case '%s': no value '%s'", c->name, w);
		Text got = {0};
		text_spec(&got, &m->mesh, &v->type, &v->placement);
		if (strcmp(got.s, wanted)) {
			printf("# %s: %s is %s, not %s\n", c->name, w, got.s, wanted);
			ok = false;
		}
		text_free(&got);
	}
	return ok;
}

static bool
run(const Case *c)
{
	Session *s = session_new();
	Table *values;
	Module *m = build(s, c, &values);

	bool wrong = !strcmp(c->wanted, "error");
	if (wrong)
		s->err = NULL;
	explicit(m);
	if (!diag_errors(s))
		propagate(m);
	bool ok = wrong ? diag_errors(s) > 0 : !diag_errors(s) && check(c, m, values);
	session_free(s);
	return ok;
}

int
main(void)
{
	int n = sizeof cases / sizeof *cases, failed = 0;

	printf("1..%d\n", n);
	for (int i = 0; i < n; i++) {
		bool ok = run(&cases[i]);
		failed += !ok;
		printf("%sok %d - %s\n", ok ? "" : "not ", i + 1, cases[i].name);
	}
	return failed != 0;
}

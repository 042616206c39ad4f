/*
 * facts_print.c - the words of a line: types, numbers, placements, and the
 * facts that HLO has no word for.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "hlo/print.h"

/* ---- words ---------------------------------------------------------- */

static void
text_escaped(Text *t, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == '"' || c == '\\')
			text_printf(t, "\\%c", c);
		else if (c < ' ' || c >= 0x7f)
			text_printf(t, "\\%03o", c);
		else
			text_addn(t, s, 1);
	}
}

void
text_key(Text *t, const char *key, const char *value)
{
	text_printf(t, "%s=\"", key);
	text_escaped(t, value);
	text_add(t, "\"");
}

void
text_list(Text *t, int n, const int64_t *v)
{
	text_add(t, "{");
	text_numbers(t, n, v, ",");
	text_add(t, "}");
}

void
text_hlo_type(Text *t, const Type *type)
{
	text_printf(t, "%s[", dtypes[type->dtype].hlo);
	text_numbers(t, type->rank, type->dims, ",");
	text_add(t, "]");
}

void
line_fact(Line *l, const char *key, const char *value)
{
	if (l->facts.n)
		text_add(&l->facts, ",");
	text_key(&l->facts, key, value);
}

/* A fact whose value is the text in `value`, which is freed. */
void
line_fact_text(Line *l, const char *key, Text *value)
{
	line_fact(l, key, value->s ? value->s : "");
	text_free(value);
}

void
text_reducer(Text *t, Combiner c, DType d)
{
	text_printf(t, "%s_%s", combiners[c].name, dtypes[d].name);
}

/* ---- literals ------------------------------------------------------- */

/* Whether a number is infinite once it is rounded to the dtype. */
static bool
overflows(DType d, double v)
{
	if (d == D_f16)
		return fabs(v) >= 65520;
	if (d == D_bf16)
		return fabs(v) >= 0x1.ffp127;
	return d == D_f32 && isinf((float)v);
}

/* The shortest digits that read back as the same number. */
static void
text_float(Text *t, DType d, double v)
{
	char digits[40];

	if (isnan(v)) {
		text_add(t, "nan");
		return;
	}
	if (isinf(v) || overflows(d, v)) {
		text_add(t, v < 0 ? "-inf" : "inf");
		return;
	}
	for (int precision = 1; precision <= 17; precision++) {
		snprintf(digits, sizeof digits, "%.*g", precision, v);
		double back = strtod(digits, NULL);
		if (d == D_f32 ? (float)back == (float)v : back == v)
			break;
	}
	text_add(t, digits);
}

void
text_literal(Text *t, DType d, int64_t payload)
{
	if (d == D_pred)
		text_add(t, payload ? "true" : "false");
	else if (dtype_is_float(d))
		text_float(t, d, payload_double(payload));
	else
		text_printf(t, "%lld", (long long)payload);
}

/* ---- placements ----------------------------------------------------- */

/* False for the debris that only the verifier ever sees. */
static bool
axis_is_sane(const Mesh *m, AxisRef a)
{
	return (int)a.axis < m->naxes && a.size >= 1 && a.pre >= 1
		&& m->axes[a.axis].size % ((int64_t)a.pre * a.size) == 0;
}

static bool
list_is_sane(const Mesh *m, const AxisList *l)
{
	for (int i = 0; i < l->n; i++)
		if (!axis_is_sane(m, l->a[i]))
			return false;
	return true;
}

bool
group_is_sane(const Mesh *m, const AxisList *l)
{
	for (int i = 0; i < l->n; i++)
		for (int k = 0; k < i; k++)
			if (!axis_can_coexist(l->a[i], l->a[k]))
				return false;
	return list_is_sane(m, l);
}

bool
placement_is_sane(const Mesh *m, const Placement *p)
{
	if (p->rank < 0 || p->rank > MAX_RANK || p->combiner >= COMBINER_COUNT
		|| placement_pieces(p) > MAX_PIECES)
		return false;
	AxisList all = {.n = placement_pieces(p)};
	memcpy(all.a, p->pieces, sizeof all.a);
	return list_is_sane(m, &all);
}

/* 'X', 'Y':(1)2 */
static void
text_refs(Text *t, const Mesh *m, const AxisList *l)
{
	for (int i = 0; i < l->n; i++) {
		AxisRef a = l->a[i];
		text_printf(t, "%s'%s'", i ? ", " : "", m->axes[a.axis].name);
		if (!axis_is_whole(m, a))
			text_printf(t, ":(%d)%d", a.pre, a.size);
	}
}

static void
text_sharding(Text *t, const Printer *p, const Placement *placement)
{
	const Mesh *m = &p->m->mesh;
	AxisList replicated = placement_replicated(placement);
	AxisList unreduced = placement_unreduced(placement);

	text_printf(t, ", sharding={%s, [", p->mesh);
	for (int d = 0; d < placement->rank; d++) {
		AxisList axes = placement_dim(placement, d);
		text_add(t, d ? ", {" : "{");
		text_refs(t, m, &axes);
		if (placement_is_open(placement, d))
			text_add(t, axes.n ? ", ?" : "?");
		text_add(t, "}");
	}
	text_add(t, "]");
	if (replicated.n) {
		text_add(t, ", replicated={");
		text_refs(t, m, &replicated);
		text_add(t, "}");
	}
	if (unreduced.n) {
		text_add(t, ", unreduced={");
		text_refs(t, m, &unreduced);
		text_add(t, "}");
	}
	text_add(t, "}");
}

/* What the named sharding of HLO has no word for. */
static void
placement_facts(Line *l, const Placement *p)
{
	Text priorities = {0};
	bool any = false;

	for (int d = 0; d < p->rank; d++) {
		any |= p->priority[d] != 0;
		text_printf(&priorities, "%s%d", d ? "," : "", p->priority[d]);
	}
	if (any)
		line_fact(l, "priority", priorities.s);
	text_free(&priorities);
	if (p->all_replicated)
		line_fact(l, "replicated", "all");
	if (p->nunreduced && p->combiner != C_add)
		line_fact(l, "unreduced.combiner", combiners[p->combiner].name);
}

/* Whether a value's placement is what the reader assumes without a word. */
static bool
placement_is_implied(const Printer *p, const Value *v)
{
	const Placement *placement = &v->placement;
	Placement implied = p->m->level == L_global ? placement_open(placement->rank)
						    : placement_none(placement->rank);

	return (p->m->level == L_global || !placement->rank || block_manual(v->block))
		&& placement_same(placement, &implied);
}

/* In a device program the tensor's placement, with the tensor's sizes: XLA
   would take a sharding there for one still to be applied. */
static void
device_placement(Line *l, const Value *v)
{
	Text spec = {0};

	if (v->no_placement || (placement_is_implied(l->p, v) && !v->unpadded)
		|| v->placement.rank != v->type.rank)
		return;
	text_value_spec(&spec, &l->p->m->mesh, v);
	line_fact_text(l, "placement", &spec);
}

static void
line_fact_number(Line *l, const char *key, int64_t n)
{
	Text value = {0};

	text_printf(&value, "%lld", (long long)n);
	line_fact_text(l, key, &value);
}

void
line_fact_list(Line *l, const char *key, int n, const int64_t *v)
{
	Text value = {0};

	text_numbers(&value, n, v, ",");
	line_fact_text(l, key, &value);
}

void
line_placement(Line *l, const Value *v)
{
	bool global = l->p->m->level == L_global;

	if (!placement_is_sane(&l->p->m->mesh, &v->placement))
		line_fact(l, "placement", "broken");
	else if (l->p->m->level == L_device)
		device_placement(l, v);
	else if (!placement_is_implied(l->p, v) || (global && v->annotated)) {
		text_sharding(l->t, l->p, &v->placement);
		placement_facts(l, &v->placement);
	}
	/* Before propagation a placement is there because it was written. */
	if (v->annotated && !global)
		line_fact(l, "annotated", v->annotated_open ? "open" : "true");
	if (v->index_limit)
		line_fact_number(l, "index_limit", v->index_limit);
	if (v->unpadded && l->p->m->level != L_device)
		line_fact_list(l, "unpadded", v->type.rank, v->unpadded);
}

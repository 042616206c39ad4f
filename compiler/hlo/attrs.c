/*
 * attrs.c - the attributes of an op, each by its form in attrs.def.
 *
 *   LIST      dimensions={1,0}         SLICE   slice={[0:8:2], [0:16]}
 *   ONE       iota_dimension=1         PAD     padding=0_1x2_0_1
 *   DIRECTION direction=LT             COMBINER to_apply=%add_f32
 *   FACTS     frontend_attributes={source="1,2,-1"}
 *
 * SLICE and PAD say several attributes; the first of them is printed and read.
 */
#include <string.h>
#include "hlo/print.h"
#include "hlo/read.h"

/* ---- printing -------------------------------------------------------- */

void
text_list(Text *t, int n, const int64_t *v)
{
	text_add(t, "{");
	text_numbers(t, n, v, ",");
	text_add(t, "}");
}

void
print_attr(Line *line, const Op *op, AttrKind attr)
{
	const AttrInfo *info = &attr_table[attr];
	const Ints *v = op_ints(op, attr);
	const Ints *limit = op_ints(op, A_limit), *stride = op_ints(op, A_stride);
	const Ints *high = op_ints(op, A_high);
	Text *t = line->t;

	switch (info->form) {
	case FORM_LIST:
		if (!v->n && attr != A_dims && attr != A_sizes)
			break;
		text_printf(t, ", %s=", info->hlo);
		text_list(t, v->n, v->v);
		break;
	case FORM_ONE:
		if (v->n)
			text_printf(t, ", %s=%lld", info->hlo, (long long)v->v[0]);
		break;
	case FORM_DIRECTION:
		if (v->n && v->v[0] >= DIR_EQ && v->v[0] <= DIR_GE)
			text_printf(t, ", %s=%s", info->hlo, direction_names[v->v[0]]);
		break;
	case FORM_COMBINER:
		if (v->n && v->v[0] >= 0 && v->v[0] < COMBINER_COUNT)
			print_to_apply(line, (Combiner)v->v[0], op->operands[0]->type.dtype);
		break;
	case FORM_SLICE:
		if (attr != A_start)
			break;
		text_printf(t, ", %s={", info->hlo);
		for (int d = 0; d < v->n && d < limit->n && d < stride->n; d++) {
			text_printf(t, "%s[%lld:%lld", d ? ", " : "", (long long)v->v[d],
				(long long)limit->v[d]);
			if (stride->v[d] != 1)
				text_printf(t, ":%lld", (long long)stride->v[d]);
			text_add(t, "]");
		}
		text_add(t, "}");
		break;
	case FORM_PAD:
		if (attr != A_low)
			break;
		text_printf(t, ", %s=", info->hlo);
		for (int d = 0; d < v->n && d < high->n; d++) {
			text_printf(t, "%s%lld_%lld", d ? "x" : "", (long long)v->v[d],
				(long long)high->v[d]);
			if (op_inner(op, d))
				text_printf(t, "_%lld", (long long)op_inner(op, d));
		}
		break;
	case FORM_FACT:
	case FORM_FACTS:
		if (v->n)
			line_fact_numbers(line, info->hlo, v->n, v->v);
		break;
	case FORM_VALUE:
		break;
	}
}

void
print_attrs(Line *line, const Op *op)
{
	for (int a = 0; a < ATTR_COUNT; a++)
		if (ops[op->kind].attrs >> a & 1)
			print_attr(line, op, (AttrKind)a);
}

/* ---- reading --------------------------------------------------------- */

/* Room for one more of a list of `what`s; a message if there is none. */
static bool
has_room(Cursor *c, int n, const char *what)
{
	if (n == MAX_RANK)
		cursor_error(c, "more than %d %s", MAX_RANK, what);
	return n < MAX_RANK;
}

void
read_list(const ReadLine *in, const char *name, Op *op, AttrKind attr)
{
	const HloAttr *found = line_needs_attr(in, name);
	int64_t v[MAX_RANK];
	int n = 0;

	if (!found)
		return;
	Cursor c = found->value;
	if (!cursor_accept(&c, "{"))
		v[n++] = cursor_integer(&c, "a number");
	else
		while (cursor_item(&c, n, "}") && has_room(&c, n, "numbers"))
			v[n++] = cursor_integer(&c, "a number");
	cursor_expect_end(&c);
	op_set_ints(op, attr, n, v);
}

/* {[0:8:2], [0:16]} */
static void
read_slice(Cursor *c, Op *op)
{
	int64_t start[MAX_RANK], limit[MAX_RANK], stride[MAX_RANK];
	int n = 0;

	cursor_expect(c, "{");
	for (; cursor_item(c, n, "}") && has_room(c, n, "dims"); n++) {
		cursor_expect(c, "[");
		start[n] = cursor_integer(c, "the first index");
		cursor_expect(c, ":");
		limit[n] = cursor_integer(c, "the last index");
		stride[n] = cursor_accept(c, ":") ? cursor_integer(c, "a step") : 1;
		cursor_expect(c, "]");
	}
	op_set_ints(op, A_start, n, start);
	op_set_ints(op, A_limit, n, limit);
	op_set_ints(op, A_stride, n, stride);
}

/* 0_1x2_0_1 */
static void
read_padding(Cursor *c, Op *op)
{
	int64_t low[MAX_RANK], high[MAX_RANK], inner[MAX_RANK];
	bool spreads = false;
	int n = 0;

	do {
		if (!has_room(c, n, "dims"))
			return;
		low[n] = cursor_integer(c, "the padding before");
		cursor_expect(c, "_");
		high[n] = cursor_integer(c, "the padding after");
		inner[n] = cursor_accept(c, "_") ? cursor_integer(c, "the padding between") : 0;
		spreads |= inner[n++] != 0;
	} while (cursor_accept(c, "x"));
	op_set_ints(op, A_low, n, low);
	op_set_ints(op, A_high, n, high);
	if (spreads)
		op_set_ints(op, A_inner, n, inner);
}

/* "3" or "1,2,-1"; may be absent. */
static void
read_number_facts(const ReadLine *in, Op *op, AttrKind attr)
{
	const Fact *f = find_fact(&in->facts, attr_table[attr].hlo);
	int64_t *v = NULL;
	int n = 0;

	if (!f)
		return;
	Cursor c = fact_cursor(in->rd, f);
	do
		APPEND(in->rd->arena, v, n, cursor_integer(&c, "a number"));
	while (attr_table[attr].form == FORM_FACTS && cursor_accept(&c, ","));
	cursor_expect_end(&c);
	op_set_ints(op, attr, n, v);
}

void
read_attr(const ReadLine *in, Op *op, AttrKind attr)
{
	const AttrInfo *info = &attr_table[attr];
	const HloAttr *found = hlo_attr(&in->instr->attrs, info->hlo);
	Cursor c = found ? found->value : in->instr->literal;
	int direction = DIR_EQ;

	switch (info->form) {
	case FORM_LIST:
		if (!found && op->kind == O_dot)
			op_set_ints(op, attr, 0, NULL);
		else
			read_list(in, info->hlo, op, attr);
		return;
	case FORM_ONE:
		read_list(in, info->hlo, op, attr);
		return;
	case FORM_COMBINER:
		op_set_int(op, attr, read_combiner(in));
		return;
	case FORM_FACT:
	case FORM_FACTS:
		read_number_facts(in, op, attr);
		return;
	case FORM_VALUE:
		read_literal(&c, &in->instr->type, op);
		break;
	case FORM_DIRECTION:
		if (!line_needs_attr(in, info->hlo))
			return;
		const char *name = cursor_word(&c, "a direction");
		while (direction < DIR_GE && strcmp(direction_names[direction], name))
			direction++;
		if (strcmp(direction_names[direction], name))
			cursor_error(&c, "unknown direction '%s'", name);
		op_set_int(op, attr, direction);
		break;
	case FORM_SLICE:
		if (attr != A_start || !line_needs_attr(in, info->hlo))
			return;
		read_slice(&c, op);
		break;
	case FORM_PAD:
		if (attr != A_low || !line_needs_attr(in, info->hlo))
			return;
		read_padding(&c, op);
		break;
	}
	cursor_expect_end(&c);
}

void
read_attrs(const ReadLine *in, Op *op)
{
	for (int a = 0; a < ATTR_COUNT && !in->rd->failed; a++)
		if (ops[op->kind].attrs >> a & 1)
			read_attr(in, op, (AttrKind)a);
}

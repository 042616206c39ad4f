/*
 * labels.c - products that one line has several of are told apart by their operands.
 *
 *   silu(einsum("btd,df->btf", x, Wg)) * einsum("btd,df->btf", x, Wu)
 *
 *     einsum 'btd,df->btf' (Wg)        einsum 'btd,df->btf' (Wu)
 *
 * Whatever is told of a step begins with the label of its op: so they are a row each
 * in every report, in a trace and in what a built program prints.
 */
#include <string.h>

#include "elaborate.h"

/* Products of one line that are labelled alike. */
typedef struct Line {
	int nproducts;
	int noperands;
	const char **first; /* operands of the first */
	bool *differ;	    /* ... from those of others, one for each */
} Line;

/* A product as it is written, however often it is inlined. */
typedef struct Product {
	Line *line;
	const char **operands; /* "": no name */
	const char *label;     /* once it is worked out */
} Product;

static const char *
product_key(Arena *scratch, Range r, const char *label)
{
	return arena_printf(scratch, "%d:%d %s", r.file, r.begin, label);
}

/* The line that it stands in. */
static Line *
find_line(Elab *e, Site s, const char **operands, int n)
{
	int number, column;
	source_position(e->session, s.range, &number, &column);
	const char *key = arena_printf(e->arena, "%d:%d %s", s.range.file, number, s.label);
	Line *line = table_get(e->product_lines, key);
	if (line == NULL) {
		line = NEW(e->arena, Line);
		line->noperands = n;
		line->first = operands;
		line->differ = NEW_ARRAY(e->arena, bool, n);
		table_set(e->product_lines, key, line);
	}
	return line;
}

void
note_product(Elab *e, Site s, int n, const Item *items)
{
	if (!op_forms[s.form].out || e->frame->prelude
		|| table_get(e->products, product_key(e->arena, s.range, s.label)) != NULL)
		return;
	const char **operands = NEW_ARRAY(e->arena, const char *, n);
	for (int i = 0; i < n; i++) {
		const char *text = items[i].kind == IT_tensor
			? source_text(e->session, e->arena, items[i].range)
			: "";
		operands[i] = is_identifier(text) ? text : "";
	}
	Line *line = find_line(e, s, operands, n);
	Product *product = NEW(e->arena, Product);
	*product = (Product){line, operands, NULL};
	line->nproducts++;
	for (int i = 0; i < n && i < line->noperands; i++)
		line->differ[i] |= strcmp(operands[i], line->first[i]) != 0;
	table_set(e->products, product_key(e->arena, s.range, s.label), product);
}

/* With its operands that others of the line do not have. */
static const char *
product_label(Elab *e, Product *product, const char *label)
{
	const Line *line = product->line;
	const char *names = "";
	for (int i = 0; i < line->noperands && product->label == NULL; i++)
		if (line->differ[i] && *product->operands[i])
			names = arena_printf(e->arena, "%s%s%s", names, *names ? ", " : "",
				product->operands[i]);
	if (product->label == NULL)
		product->label =
			*names ? arena_printf(e->arena, "%s (%s)", label, names) : label;
	return product->label;
}

void
label_products(Elab *e)
{
	bool several = false;
	for (int i = 0; i < table_count(e->product_lines); i++)
		several |= ((const Line *)table_value(e->product_lines, i))->nproducts > 1;
	Arena *scratch = several ? arena_new() : NULL;
	for (Op *op = several ? e->m->entry->first : NULL; op != NULL;
		op = op_following(op, e->m->entry)) {
		if (!op_forms[op->form].out && op->form != AS_out)
			continue;
		Product *product =
			table_get(e->products, product_key(scratch, op->range, op->label));
		if (product != NULL && product->line->nproducts > 1)
			op->label = product_label(e, product, op->label);
		arena_reset(scratch);
	}
	if (several)
		arena_free(scratch);
}

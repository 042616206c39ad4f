/*
 * columns.c - which lines of Python need a column to say what is meant.
 *
 *   y = x[0] @ w + x[1] @ w    train.py:5:9 and train.py:5:20, for both are dot_general
 *   z = jnp.tanh(x) @ w        train.py:6
 */
#include "ir/place.h"
#include "import/builders.h"

/* Where the first op of a name on a line stands. */
static const char *
name_on_line(Import *in, const Op *made)
{
	return arena_printf(in->arena, "%d:%d:%s", made->range.file, made->range.line,
		made->label ? made->label : "");
}

/* Nobody wrote it: what an op needs of its operands, or what is returned. */
static bool
is_between(OpKind kind)
{
	static const OpKind kinds[] = {O_constant, O_iota, O_broadcast, O_reshape, O_convert,
		O_constraint, O_output};
	bool found = false;

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		found |= kinds[i] == kind;
	return found;
}

void
note_columns(Import *in)
{
	Module *m = in->module;
	Table *first = table_new(in->arena);

	for (Op *made = m->entry->first; made; made = op_following(made, m->entry)) {
		const Range *r = &made->range;
		if (r->file <= 1 || r->end <= r->begin || is_between(made->kind))
			continue;
		const char *name = name_on_line(in, made);
		if (table_add(first, name, (void *)r))
			continue;
		const Range *other = table_get(first, name);
		if (other->begin == r->begin)
			continue;
		table_add(m->columns, range_key(m->arena, *other), m);
		table_add(m->columns, range_key(m->arena, *r), m);
	}
}

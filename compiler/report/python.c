/*
 * python.c - placements of a JAX program, as its Python would say them.
 *
 *   in_shardings of params['w1']: P(None, ('data', 'model'))
 *   train.py:22: with_sharding_constraint(x @ params["w1"], P('data', None))
 *   train.py:23:9: with_sharding_constraint(x @ w, P('data', None))    one @ of several
 *
 * What P cannot say, as a part of an axis, and what JAX refuses, as axes that do not
 * divide a dim, is not proposed; nor is anything where types say where all is, for with one
 * placed otherwise JAX gives those behind it other types.
 */
#include <string.h>
#include "ir/place.h"
#include "report/proposals.h"

static const char *
python_name(const Module *m, const Value *v)
{
	return table_get(m->python, v->name);
}

/* The dims that Python knows. */
static int
python_rank(const Value *v)
{
	return v->type.rank - v->pair;
}

/* What the loop of a scan takes of its stacks is of the scan's line, which makes something
   else. */
static bool
is_taken_by_loop(const Value *v)
{
	const Op *op = v->def ? v->def->block->parent : NULL;

	while (op && !(op_is_loop(op) && range_equal(op->range, v->range)))
		op = op->block->parent;
	return op;
}

bool
python_can_place(const Module *m, const Value *v)
{
	return !m->typed && python_rank(v) > 0 && (v->range.file || python_name(m, v))
		&& !is_taken_by_loop(v);
}

bool
python_can_say(const Module *m, const Value *v, const Placement *to)
{
	if (to->nunreduced)
		return false;
	for (int d = 0; d < v->type.rank; d++) {
		AxisList axes = placement_dim(to, d);
		if (v->type.dims[d] % axes_size(&axes) || (axes.n && d >= python_rank(v)))
			return false;
		for (int i = 0; i < axes.n; i++)
			if (axes.a[i].size != m->mesh.axes[axes.a[i].axis].size)
				return false;
	}
	return true;
}

bool
python_is_copy(const Value *x, const Value *v)
{
	return x == v || (x->def && v->def && v->range.file && range_equal(x->range, v->range));
}

/* Is it the sum of what is made there and of another gradient of the same value? */
static bool
adds_gradient(const Op *op, const Value *gradient)
{
	bool made = false;

	for (int i = 0; i < op->noperands; i++) {
		const Value *of = unmoved(op->operands[i]);
		made |= of != gradient && of->def && range_equal(of->def->range, op->range);
	}
	return op->kind == O_add && made;
}

/* What goes backward has the place of what it is the gradient of: at v's, but for v itself
   and what that is made of, there is only the gradient of the same type. */
bool
python_is_gradient(const Op *op, int operand, const Value *v)
{
	if (!v->range.file || !range_equal(op->range, v->range) || op_is_move(op)
		|| op == v->def || !op->nresults || op->results[0]->range.file)
		return false;
	const Value *gradient = unmoved(op->operands[operand]);
	return gradient != v && type_equal(&gradient->type, &v->type)
		&& !(gradient->def && range_equal(gradient->def->range, v->range))
		&& !adds_gradient(op, gradient);
}

/* As the program calls it, in quotes of Python. */
static void
text_axis_name(Text *t, const MeshAxis *axis)
{
	text_add(t, "'");
	for (const char *c = axis->written ? axis->written : axis->name; *c; c++) {
		if (*c == '\'' || *c == '\\')
			text_add(t, "\\");
		text_addn(t, c, 1);
	}
	text_add(t, "'");
}

/* P('data', None, ('x', 'y')) */
static void
text_partition_spec(Text *t, const Module *m, const Value *v, const Placement *to)
{
	text_add(t, "P(");
	for (int d = 0; d < python_rank(v); d++) {
		AxisList axes = placement_dim(to, d);
		text_add(t, d ? ", " : "");
		text_add(t, axes.n > 1 ? "(" : axes.n ? "" : "None");
		for (int i = 0; i < axes.n; i++) {
			text_add(t, i ? ", " : "");
			text_axis_name(t, &m->mesh.axes[axes.a[i].axis]);
		}
		text_add(t, axes.n > 1 ? ")" : "");
	}
	text_add(t, ")");
}

void
text_python_placed(Text *t, const Module *m, const Placed *placed)
{
	const Value *v = placed->value;
	const char *name = python_name(m, v), *written = NULL;
	bool result = v->def && v->def->kind == O_output;

	if (name) {
		text_printf(t, "%s of %s: ", result ? "out_shardings" : "in_shardings", name);
		text_partition_spec(t, m, v, &placed->placement);
		return;
	}
	if (v->def && source_has_text(m->session, v->range))
		written = source_text(m->session, m->arena, v->range);
	if (!written || strchr(written, '\n'))
		written = v->def ? v->def->label : v->name;
	text_printf(t, "%s:%d%s: with_sharding_constraint(%s, ",
		source_path(m->session, v->range.file), v->range.line, column_text(m, v->range),
		written);
	text_partition_spec(t, m, v, &placed->placement);
	text_add(t, ")");
}

bool
python_can_move(const Module *m, const Value *v, Range use)
{
	Range at;

	return v->def || !python_name(m, v) || argument_written(m, v, use, &at);
}

void
text_python_moved(Text *t, const Module *m, const Placed *placed, Range use)
{
	const Value *v = placed->value;
	const char *name = v->def ? NULL : python_name(m, v);
	Range at;

	if (!name || !argument_written(m, v, use, &at)) {
		text_python_placed(t, m, placed);
		return;
	}
	/* with the quotes that are there; else the expression around is what is known */
	if (source_has_text(m->session, at))
		name = source_text(m->session, m->arena, at);
	text_printf(t, "%s:%d%s: with_sharding_constraint(%s, ",
		source_path(m->session, at.file), at.line, column_text(m, at), name);
	text_partition_spec(t, m, v, &placed->placement);
	text_add(t, ")");
}

/*
 * program_print.c - computations and their instructions.
 *
 *   %h = f32[8,64] dot(%x, %W), lhs_contracting_dims={1}, ...,
 *     sharding={mesh['X'=2], [{'X'}, {}]}, frontend_attributes={...},
 *     metadata={op_name="main/einsum 'bd,df->bf'" source_line=3}
 *
 * (on one line).  Several results, and whatever bodies are given and give, are
 * tuples in HLO.  Two dots keep the names of tuples apart from those of values.
 */
#include <string.h>
#include "hlo/print.h"

/* What HLO calls the tuple of a body's parameters. */
static const char param_tuple[] = "body..in";

/* ---- lines ----------------------------------------------------------- */

static void
line_start(Line *line, const Value *v, bool root)
{
	text_printf(line->t, "  %s%%%s = ", root ? "ROOT " : "", v->name);
	text_result_type(line->t, v);
}

/* `what` is said to be on this line, if anything. */
static void
line_end(Line *line, Range range, const char *label, const void *what)
{
	const Printer *pr = line->pr;
	const SourceFile *file = source_file(pr->m->session, range.file);
	Text *t = line->t, name = {0};

	if (line->facts.n)
		text_printf(t, ", frontend_attributes={%s}", line->facts.s);
	text_free(&line->facts);

	if (label || file)
		text_add(t, ", metadata={");
	if (label) {
		text_printf(&name, "%s/%s", pr->m->entry_name, label);
		text_key(t, "op_name", name.s);
		text_free(&name);
	}
	if (file) {
		text_add(t, label ? " " : "");
		text_key(t, "source_file", file->path);
		text_printf(t, " source_line=%d", range.line);
	}
	text_add(t, label || file ? "}\n" : "\n");

	if (pr->note && what)
		pr->note(what, t, pr->note_data);
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

/* ---- ops ------------------------------------------------------------- */

/* , condition=%cond.3, body=%body.3 */
static void
print_bodies(Line *line, const Op *op)
{
	const BodyWords *words = body_words(op->kind);
	Printer *pr = line->pr;
	int number = ++pr->ncomputations;

	if (op->kind == O_fusion)
		text_add(line->t, ", kind=kLoop");
	for (int i = 0; i < op->nbodies; i++) {
		const char *name = arena_printf(pr->arena, "%s.%d",
			op->composite ? op->composite : words->called[i], number);
		text_printf(line->t, words->listed ? ", %s={%%%s}" : ", %s=%%%s",
			words->attr[i], name);
		print_computation(pr, op->bodies[i], name);
	}
	if (op->composite) {
		text_add(line->t, ", is_composite=true");
		line_fact(line, "composite.name",
			arena_printf(pr->arena, "%s%s", composite_prefix, op->composite));
		text_add(&line->facts, ",composite.attributes={}");
		line_fact(line, "composite.version", "1");
	}
}

/* letters="bd,df" */
static void
print_letters(Line *line, const Op *op)
{
	const Letter *letter = op->letters;
	Text t = {0};

	for (int i = 0; i < op->noperands; i++) {
		text_add(&t, i ? "," : "");
		for (int d = 0; d < op->operands[i]->type.rank; d++)
			text_addn(&t, &letter++->name, 1);
	}
	line_fact_text(line, "letters", &t);
}

/* What the op is for. */
static void
print_history(Line *line, const Op *op)
{
	if (op->mode != MODE_auto)
		line_fact(line, "mode", mode_names[op->mode]);
	if (op->trip)
		line_fact(line, "trip", other_trip_names[op->trip]);
	if (op->combined && collectives[op->kind].combines == COMBINES_lines)
		line_fact(line, "combined", "true");
	if (op->again)
		line_fact(line, "again", "true");
	if (op->of)
		line_fact(line, "of", op->of);
	print_gone(line, op);
}

/* The opcode, its operands and attributes; `tuple` has what is carried. */
static void
print_call_of(Line *line, const Op *op, const char *tuple)
{
	const OpInfo *info = &ops[op->kind];
	Text *t = line->t;

	text_printf(t, " %s(", op_opcode(line->pr->arena, op));
	if (op->kind == O_while) {
		text_printf(t, "%%%s..in", tuple);
	} else if (op->kind == O_if && op->noperands) {
		text_printf(t, "%%%s, %%%s..in, %%%s..in", op->operands[0]->name, tuple, tuple);
	} else {
		if (op->kind == O_constant)
			text_literal(t, &op->results[0]->type, op_ints(op, A_value));
		for (int i = 0; i < op->noperands; i++)
			text_printf(t, "%s%%%s", i ? ", " : "", op->operands[i]->name);
	}
	text_add(t, ")");
	if (info->target)
		text_printf(t, ", custom_call_target=\"%s\"", info->target);
	if (info->bodies)
		print_bodies(line, op);
	print_op_attrs(line, op);
	print_history(line, op);
	if (op->mode == MODE_explicit) {
		bool global = op->module->level == L_global;
		if (global && op->form != AS_call)
			line_fact(line, "form", op_forms[op->form].name);
		if (global && op->range.end)
			line_fact_numbers(line, "span", 2,
				(int64_t[]){op->range.begin, op->range.end});
		if (global && op->letters)
			print_letters(line, op);
	}
}

/*
 * One result is a line.  Several are a tuple and its elements, and so is what a
 * loop or a choice carries:
 *
 *   %h..in = (f32[8], s32[]) tuple(%x, %i)
 *   %h..loop = (f32[8], s32[]) while(%h..in), condition=%cond.1, body=%body.1
 *   %h = f32[8] get-tuple-element(%h..loop), index=0
 *   %i.2 = s32[] get-tuple-element(%h..loop), index=1
 */
static void
print_op(Line *line, const Op *op, const Value *root)
{
	const char *part = op->kind == O_while ? "loop" : "out";
	bool carries = ops[op->kind].bodies == 2;
	int first = op->kind == O_if; /* before it what is not carried */

	if (!carries && op->nresults == 1) {
		line_start(line, op->results[0], op->results[0] == root);
		print_call_of(line, op, NULL);
		line_placement(line, op->results[0]);
		if (op->requested)
			line_fact(line, "requested", "true");
		line_end(line, op->range, op->label, op);
		return;
	}
	const char *name = op->nresults ? op->results[0]->name
					: arena_printf(line->pr->arena, "%s..%d",
						ops[op->kind].name, ++line->pr->ncomputations);
	if (carries && op->noperands >= first) {
		text_printf(line->t, "  %%%s..in = ", name);
		text_tuple(line->t, op->noperands - first, op->operands + first);
		text_add(line->t, "\n");
	}
	text_printf(line->t, "  %%%s..%s = ", name, part);
	text_tuple_type(line->t, op->nresults, op->results);
	print_call_of(line, op, name);
	line_end(line, op->range, op->label, op);
	for (int i = 0; i < op->nresults; i++) {
		const Value *v = op->results[i];
		bool same = v->range.file == op->range.file && v->range.line == op->range.line;
		line_start(line, v, v == root);
		text_printf(line->t, " get-tuple-element(%%%s..%s), index=%d", name, part, i);
		line_placement(line, v);
		line_end(line, same ? nowhere : v->range, NULL, NULL);
	}
}

/*
 *   %x.2..in = (f32[8], f32[4]) tuple(%x, %y)
 *   %x.2..out = (f32[8], f32[4]) opt-barrier(%x.2..in)
 *   %x.2 = f32[8] get-tuple-element(%x.2..out), index=0
 */
static void
print_fences(Line *line, const Op *first, int n, const Value *root)
{
	const char *name = first->results[0]->name;
	Value **from = NEW_ARRAY(line->pr->arena, Value *, n),
	      **to = NEW_ARRAY(line->pr->arena, Value *, n);
	const Op *op = first;

	for (int i = 0; i < n; i++, op = op->next) {
		from[i] = op->operands[0];
		to[i] = op->results[0];
	}
	text_printf(line->t, "  %%%s..in = ", name);
	text_tuple(line->t, n, from);
	text_printf(line->t, "\n  %%%s..out = ", name);
	text_tuple_type(line->t, n, to);
	text_printf(line->t, " %s(%%%s..in)", ops[O_fence].hlo, name);
	if (first->mode != MODE_auto)
		line_fact(line, "mode", mode_names[first->mode]);
	line_end(line, first->range, first->label, first);
	for (int i = 0; i < n; i++) {
		line_start(line, to[i], to[i] == root);
		text_printf(line->t, " get-tuple-element(%%%s..out), index=%d", name, i);
		line_placement(line, to[i]);
		line_end(line, nowhere, NULL, NULL);
	}
}

/* What each brings, which says what it is for. */
static void
print_combined_elements(Line *line, const char *tuple, const Op *first, int n,
	const Value *root)
{
	const Op *op = first;

	for (int i = 0; i < n; i++, op = op->next) {
		const Op *moves = op->kind == O_done ? op->operands[0]->def : op;
		line_start(line, op->results[0], op->results[0] == root);
		text_printf(line->t, " get-tuple-element(%%%s), index=%d", tuple, i);
		line_placement(line, op->results[0]);
		print_history(line, moves);
		if (moves->requested)
			line_fact(line, "requested", "true");
		line_end(line, moves->range, moves->label, op);
	}
}

/*
 * Collectives that are one transfer.
 *
 *   %a..out = (f32[8], f32[4]) all-reduce(%x, %y), ...
 *   %a = f32[8] get-tuple-element(%a..out), index=0
 *
 * What only begins has a tuple that what waits for it reads.
 */
static void
print_combined(Line *line, const Op *first, int n, const Value *root)
{
	const char *name = arena_printf(line->pr->arena, "%s..out", first->results[0]->name);
	Value **from = NEW_ARRAY(line->pr->arena, Value *, n),
	      **to = NEW_ARRAY(line->pr->arena, Value *, n);
	const Op *op = first;

	for (int i = 0; i < n; i++, op = op->next) {
		from[i] = op->operands[0];
		to[i] = op->results[0];
	}
	text_printf(line->t, "  %%%s = ", name);
	text_transfer_type(line->t, first, n, from, to);
	text_printf(line->t, " %s(", op_opcode(line->pr->arena, first));
	if (first->kind == O_done)
		text_printf(line->t, "%%%s..out", from[0]->name);
	else
		for (int i = 0; i < n; i++)
			text_printf(line->t, "%s%%%s", i ? ", " : "", from[i]->name);
	text_add(line->t, ")");
	print_op_attrs(line, first);
	line_end(line, first->range, first->label, first);
	if (!first->async)
		print_combined_elements(line, name, first, n, root);
}

/* ---- computations ---------------------------------------------------- */

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

/* (x: f32[8], i: s32[]) -> f32[8] */
static void
print_signature(Text *t, const Block *b, const Value *root)
{
	const Op *last = b->last;

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

/* How many ops from this one on are one line. */
static int
ops_in_line(const Op *op)
{
	const Op *moves = op->kind == O_done ? op->operands[0]->def : op;

	if (op->kind == O_fence)
		return fences_in_one(op);
	return collectives[moves->kind].combines == COMBINES_operands ? combined_in_one(op) : 1;
}

/* Computations of their own are printed before. */
void
print_computation(Printer *pr, const Block *b, const char *name)
{
	const Value *root = root_of(b);
	bool tuple = body_takes_tuple(b);
	Text t = {0};
	Line line = {.pr = pr, .t = &t};

	text_printf(&t, "%s%%%s", b->parent ? "" : "ENTRY ", name);
	print_signature(&t, b, root);
	if (tuple) {
		text_printf(&t, "  %%%s = ", param_tuple);
		text_tuple_type(&t, b->nparams, b->params);
		text_add(&t, " parameter(0)\n");
	}
	for (int i = 0; i < b->nparams; i++) {
		const Value *v = b->params[i];
		line_start(&line, v, v == root);
		if (tuple)
			text_printf(&t, " get-tuple-element(%%%s), index=%d", param_tuple,
				v->index);
		else
			text_printf(&t, " parameter(%d)", v->index);
		line_placement(&line, v);
		line_end(&line, v->range, NULL, v);
	}
	for (const Op *op = b->first; op; op = op->next) {
		bool fence = op->kind == O_fence;
		int n = ops_in_line(op);
		if (n > 1) {
			(fence ? print_fences : print_combined)(&line, op, n, root);
			while (--n)
				op = op->next;
		} else if (op->kind != O_return) {
			print_op(&line, op, root);
		} else if (!root) {
			text_add(&t, "  ROOT %return = ");
			text_tuple(&t, op->noperands, op->operands);
			line_end(&line, op->range, op->label, op);
		} else if (pr->note) {
			pr->note(op, &t, pr->note_data);
		}
	}
	text_add(&t, "}\n");
	computation_done(pr, &t);
	text_free(&t);
}

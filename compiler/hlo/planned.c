/*
 * planned.c - what a program does before it is scheduled, on the module's line.
 *
 *   planned="147462 25600038"                     bytes received, flops or -1
 *   planned.1="all-gather (data) bf16[32,32] bf16[32,128] 6144 4 22 0 matmul (x, wi)"
 *                        bytes, trips or -1, line, what is done for it, label
 *
 * An op says planned="1": it does that one, or a piece or some trips of it.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "hlo/print.h"
#include "hlo/read.h"
#include "ir/planned.h"

static const char move_prefix[] = "planned.";

/* ---- printing -------------------------------------------------------------------- */

static void
print_move(const Printer *pr, Text *t, const PlannedMove *move, int number)
{
	Text value = {0};

	text_printf(&value, "%s (", ops[move->kind].hlo);
	text_axes(&value, &pr->m->mesh, &move->axes);
	text_add(&value, ") ");
	text_hlo_type(&value, &move->operand);
	text_add(&value, " ");
	text_hlo_type(&value, &move->result);
	text_printf(&value, " %lld %lld %d %d %s", (long long)move->bytes,
		(long long)(move->counted ? move->trips : NOT_COUNTED), move->line, move->with,
		move->label);
	module_fact(t, arena_printf(pr->arena, "%s%d", move_prefix, number),
		text_take(&value, pr->arena));
}

void
print_planned(const Printer *pr, Text *t)
{
	const PlannedRun *planned = pr->m->planned;

	if (!planned)
		return;
	module_fact(t, "planned",
		arena_printf(pr->arena, "%lld %.0f", (long long)planned->received,
			planned->flops));
	for (int i = 0; i < planned->n; i++)
		print_move(pr, t, &planned->moves[i], i + 1);
}

/* ---- reading ----------------------------------------------------------------------- */

/* A count that is not below `least`. */
static int64_t
read_count(Cursor *c, const char *what, int64_t least)
{
	int64_t n = cursor_integer(c, what);

	if (!c->rd->failed && n < least)
		cursor_error(c, "%lld is no number of %s", (long long)n, what);
	return n;
}

/* Digits, more than an integer may have. */
static double
read_flops(Cursor *c)
{
	bool negative = cursor_accept(c, "-");
	const char *digits = cursor_word(c, "flops");

	for (const char *s = digits; *s; s++)
		if (!isdigit((unsigned char)*s))
			cursor_error(c, "'%s' is no number of flops", digits);
	return negative ? NOT_COUNTED : strtod(digits, NULL);
}

static PlannedMove
read_move(Reading *rd, const Fact *f)
{
	PlannedMove move = {.kind = O_constant};
	Cursor c = fact_cursor(rd, f);
	bool tuples[2];

	const char *name = cursor_word(&c, "a collective");
	for (int kind = 0; kind < OP_COUNT; kind++)
		if (collectives[kind].turns && !strcmp(ops[kind].hlo, name))
			move.kind = (OpKind)kind;
	if (move.kind == O_constant)
		cursor_error(&c, "'%s' is no collective", name);
	cursor_expect(&c, "(");
	move.axes = read_axes_until(&c, ")");
	cursor_type(&c, &move.operand, &tuples[0]);
	cursor_type(&c, &move.result, &tuples[1]);
	move.bytes = read_count(&c, "bytes", 0);
	move.trips = read_count(&c, "trips", NOT_COUNTED);
	move.counted = move.trips != NOT_COUNTED;
	move.line = cursor_line(&c);
	move.with = cursor_line(&c);
	cursor_at_end(&c);
	move.label = rd->failed ? "" : c.s + c.pos;
	if (!rd->failed && (tuples[0] || tuples[1]))
		cursor_error(&c, "a collective has one operand and one result");
	return move;
}

void
read_planned(Reading *rd, const Facts *facts)
{
	const Fact *f = find_fact(facts, "planned");

	if (!f || rd->failed)
		return;
	PlannedRun *planned = NEW(rd->arena, PlannedRun);
	Cursor c = fact_cursor(rd, f);
	planned->received = read_count(&c, "bytes", 0);
	planned->flops = read_flops(&c);
	cursor_expect_end(&c);
	for (int i = 0; i < facts->n && !rd->failed; i++) {
		f = &facts->a[i];
		if (strncmp(f->key, move_prefix, strlen(move_prefix)) != 0)
			continue;
		PlannedMove move = read_move(rd, f);
		if (!rd->failed && atoi(f->key + strlen(move_prefix)) != planned->n + 1)
			hlo_error(rd, f->where, "number %d is planned next", planned->n + 1);
		APPEND(rd->arena, planned->moves, planned->n, move);
	}
	for (int i = 0; i < planned->n; i++)
		if (planned->moves[i].with < 0 || planned->moves[i].with > planned->n)
			hlo_error(rd, rd->start, "collective %d is not planned",
				planned->moves[i].with);
	rd->m->planned = planned;
}

int
read_planned_number(const ReadLine *in)
{
	const Fact *f = find_fact(&in->facts, "planned");
	const PlannedRun *planned = in->rd->m->planned;

	if (!f || !planned)
		return 0;
	int64_t number = cursor_only(fact_cursor(in->rd, f), "a number");
	if (!in->rd->failed && (number < 1 || number > planned->n))
		hlo_error(in->rd, f->where, "collective %lld is not planned",
			(long long)number);
	return in->rd->failed ? 0 : (int)number;
}

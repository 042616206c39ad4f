/*
 * op_table_test.c - what the table says of each op: a line of op_table.txt each.
 *
 * A line is an HLO instruction whose operands have their types before them, and
 * after " | " what is expected, in columns that " | " separates:
 *
 *   the rule     how its dims are made of factors; `-` none; `!` the reader refuses
 *                the instruction (its result type is wrong, say)
 *   the partial  by which combiners operands may be partial, `*` all of them, and
 *                how, operand after operand unless they are alike: alone, together
 *                with all others, no; `-` none
 *   flops        per result element; of dot and reduce for each that is summed up
 *
 * An operand called %two, %zero or %lowest is the number, others are parameters.
 *
 * An op of the table that no line has is a failure.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hlo/hlo.h"
#include "ir/partial.h"

static const char module_line[] = "HloModule t, num_partitions=8, "
				  "frontend_attributes={level=\"%s\", mesh=\"X=2,Y=4\"}\n";

/* Computations that instructions may name. */
static const char computations[] =
	"%add_f32 (a: f32[], b: f32[]) -> f32[] {\n"
	"  %a = f32[] parameter(0)\n"
	"  %b = f32[] parameter(1)\n"
	"  ROOT %c = f32[] add(%a, %b)\n"
	"}\n"
	"%maximum_f32 (a: f32[], b: f32[]) -> f32[] {\n"
	"  %a = f32[] parameter(0)\n"
	"  %b = f32[] parameter(1)\n"
	"  ROOT %c = f32[] maximum(%a, %b)\n"
	"}\n"
	"%less (a.0: f32[], b.0: f32[], a.1: s32[], b.1: s32[]) -> pred[] {\n"
	"  %a.0 = f32[] parameter(0)\n"
	"  %b.0 = f32[] parameter(1)\n"
	"  %a.1 = s32[] parameter(2)\n"
	"  %b.1 = s32[] parameter(3)\n"
	"  %step.0 = f32[] constant(0)\n"
	"  %step.1 = f32[] constant(nan)\n"
	"  %step.2 = pred[] compare(%a.0, %step.0), direction=EQ\n"
	"  %step.3 = f32[] select(%step.2, %step.0, %a.0)\n"
	"  %step.4 = pred[] compare(%step.3, %step.3), direction=NE\n"
	"  %step.5 = f32[] select(%step.4, %step.1, %step.3)\n"
	"  %step.6 = pred[] compare(%b.0, %step.0), direction=EQ\n"
	"  %step.7 = f32[] select(%step.6, %step.0, %b.0)\n"
	"  %step.8 = pred[] compare(%step.7, %step.7), direction=NE\n"
	"  %step.9 = f32[] select(%step.8, %step.1, %step.7)\n"
	"  ROOT %step.10 = pred[] compare(%step.5, %step.9), direction=LT, type=TOTALORDER\n"
	"}\n";
static int tests, failures;
static bool seen[OP_COUNT];

static void
ok(bool good, const char *name)
{
	printf("%s %d - %s\n", good ? "ok" : "not ok", ++tests, name);
	failures += !good;
}

/* The number that the operand's name says; NULL: it is none. */
static const char *
number_of(const char *name, size_t length)
{
	static const char *const numbers[][2] = {{"%two", "2"}, {"%zero", "0"},
		{"%lowest", "-inf"}};

	for (int i = 0; i < 3; i++)
		if (strlen(numbers[i][0]) == length && !strncmp(name, numbers[i][0], length))
			return numbers[i][1];
	return NULL;
}

/* The instruction's operands, "f32[8,16] %a", as parameters of the entry. */
static void
text_parameters(Text *t, const char *instruction)
{
	const char *type_end = strstr(instruction, instruction[5] == '(' ? ") " : "] ");
	const char *from = strchr(type_end + 1, '('), *end = strchr(from, ')');
	char declared[1024] = "";
	int n = 0;

	for (const char *c = from; c < end; c++) {
		const char *name = memchr(c, '%', (size_t)(end - c));
		if (!name)
			break;
		const char *type = name - 1;
		while (type[-1] != ' ' && type[-1] != '(')
			type--;
		size_t length = strcspn(name, ",)");
		char word[64];
		snprintf(word, sizeof word, "%.*s;", (int)length, name);
		if (!strstr(declared, word)) {
			strcat(declared, word);
			const char *number = number_of(name, length);
			text_printf(t, "  %.*s = %.*s ", (int)length, name,
				(int)(name - 1 - type), type);
			if (number)
				text_printf(t, "constant(%s)\n", number);
			else
				text_printf(t, "parameter(%d)\n", n++);
		}
		c = name;
	}
}

/* Types before operands are accepted by the reader. */
static Module *
module_of(Session *s, const char *instruction)
{
	Text t = {0};
	const char *type = strchr(instruction, '=') + 2;
	bool tuple = *type == '(';
	int length = (int)strcspn(type + tuple, "]") + 1;

	text_printf(&t, module_line,
		strstr(instruction, "axes=") || strstr(instruction, "-id()") ? "device"
									     : "global");
	text_add(&t, computations);
	text_add(&t, "ENTRY %main {\n");
	text_parameters(&t, instruction);
	text_printf(&t, "  %s\n", instruction);
	if (tuple)
		text_printf(&t, "  %%r0 = %.*s get-tuple-element(%%r), index=0\n", length,
			type + 1);
	text_printf(&t, "  ROOT %%out = (%.*s) tuple(%%%s)\n}\n", length, type + tuple,
		tuple ? "r0" : "r");
	int file = source_add_text(s, "line", arena_strndup(s->arena, t.s, t.n), (int)t.n);
	text_free(&t);
	return module_read(s, file);
}

/* The answers of all operands, "alone, no", or one word where they are the same. */
static void
text_through(Text *t, const Op *op, Combiner c)
{
	static const char *const words[] = {"no", "alone", "together"};
	bool same = true;

	for (int i = 1; i < op->noperands; i++)
		same &= partial_through(op, i, c) == partial_through(op, 0, c);
	for (int i = 0; i < (same ? 1 : op->noperands); i++)
		text_printf(t, "%s%s", i ? ", " : "", words[partial_through(op, i, c)]);
}

/* "add max: together"; combiners that no operand may have are left out. */
static void
text_partial(Text *t, const Op *op)
{
	bool told[COMBINER_COUNT] = {false};
	size_t start = t->n;

	for (int c = 0; c < COMBINER_COUNT && op->noperands; c++) {
		Text answer = {0}, other = {0}, names = {0};
		int n = 0;
		text_through(&answer, op, (Combiner)c);
		for (int d = c; d < COMBINER_COUNT; d++) {
			other.n = 0;
			text_through(&other, op, (Combiner)d);
			if (told[d] || strcmp(other.s, answer.s))
				continue;
			told[d] = true;
			text_printf(&names, "%s%s", n++ ? " " : "", combiners[d].name);
		}
		if (n && strcmp(answer.s, "no"))
			text_printf(t, "%s%s: %s", t->n > start ? "; " : "",
				n == COMBINER_COUNT ? "*" : names.s, answer.s);
		text_free(&answer);
		text_free(&other);
		text_free(&names);
	}
	if (t->n == start)
		text_add(t, "-");
}

static const Op *
op_of(const Module *m)
{
	for (const Op *op = m->entry->first; op; op = op->next)
		if (op->nresults && !strncmp(op->results[0]->name, "r", 1))
			return op;
	return NULL;
}

static void
test_line(const char *instruction, const char *expected)
{
	Session *s = session_new();
	FILE *silent = fopen("/dev/null", "w");
	Text t = {0};

	s->err = silent;
	Module *m = module_of(s, instruction);
	const Op *op = m && !diag_errors(s) ? op_of(m) : NULL;
	if (!op) {
		text_add(&t, "!");
	} else {
		const Rule *r = op_rule(s->arena, op);
		seen[op->kind] = true;
		if (r)
			text_rule(&t, op, r);
		else
			text_add(&t, "-");
		text_add(&t, " | ");
		text_partial(&t, op);
		text_printf(&t, " | %d", ops[op->kind].flops);
	}
	if (strcmp(t.s, expected))
		printf("# %s\n# got:      %s\n# expected: %s\n", instruction, t.s, expected);
	ok(!strcmp(t.s, expected), instruction);
	text_free(&t);
	session_free(s);
	fclose(silent);
}

int
main(int argc, char **argv)
{
	FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
	char line[4096];

	if (!f)
		return 2;
	while (fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = 0;
		char *bar = strstr(line, " | ");
		if (line[0] == '#' || !bar)
			continue;
		char *end = bar;
		while (end > line && isspace((unsigned char)end[-1]))
			end--;
		*end = 0;
		test_line(line, bar + 3);
	}
	fclose(f);
	for (int kind = 0; kind < OP_COUNT; kind++)
		if (!seen[kind] && ops[kind].where != WHERE_begun
			&& ops[kind].where != WHERE_scheduled && !ops[kind].bodies
			&& kind != O_return && kind != O_output)
			ok(false, ops[kind].name);
	printf("1..%d\n", tests);
	return failures > 0;
}

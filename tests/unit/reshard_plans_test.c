/*
 * reshard_plans_test.c - the plan of a move between two placements, as text.
 *
 *   mesh x=4,y=4
 *   i32[24@x, 16] -> i32[24, 16]
 *     all-gather over x of dim 0 -> [24, 16], 1152 bytes
 *     1 collectives, 1152 bytes
 *
 * reshard_plans.txt is such a list: what stands below a line with an arrow has to
 * be what the planner says.
 *
 *   reshard_plans_test FILE            TAP
 *   reshard_plans_test FILE --update   writes the plans into it
 */
#include <stdlib.h>
#include <string.h>

#include "hlo/hlo.h"
#include "shard/shard.h"

static Session *session;

/* The placements of `line`, read by the reader of dumps: the values of a module
   that has no ops.  NULL after messages. */
static const Module *
read_line(const char *mesh, const char *line)
{
	const char *arrow = strstr(line, " -> ");
	Text t = {0};

	text_printf(&t,
		"HloModule m, frontend_attributes={level=\"resharded\",mesh=\"%s\","
		"value.from=\"%.*s\",value.to=\"%s\"}\n"
		"ENTRY %%main { ROOT %%r = () tuple() }\n",
		mesh, arrow ? (int)(arrow - line) : 0, line, arrow ? arrow + 4 : "");
	int file = source_add_text(session, line, t.s, (int)t.n);
	text_free(&t);
	return module_read(session, file);
}

static void
text_move(Text *t, const Mesh *mesh, const Move *move)
{
	const char *name = move->kind == O_dynamic_slice ? "slice"
		: move->kind == O_select		 ? "unreduce"
							 : ops[move->kind].hlo;

	text_printf(t, move->axes.n ? "%s over " : "%s", name);
	if (move->kind == O_collective_permute) {
		text_axes(t, mesh, &move->from);
		text_add(t, " as ");
	}
	text_axes(t, mesh, &move->axes);
	for (int i = 0; i < move->nexchanges; i++) {
		const Exchange *e = &move->exchanges[i];
		text_printf(t, "%s dim %d to %d by ", i ? "," : ":", e->from_dim, e->to_dim);
		text_axes(t, mesh, &e->axes);
	}
	if (move->kind == O_all_gather || move->kind == O_reduce_scatter)
		text_printf(t, " of dim %d", move->dim);
}

/* The lines of a plan: each move, what it leaves, and the bytes received. */
static void
text_plan(Text *t, const Module *m)
{
	const Mesh *mesh = &m->mesh;
	const Named *from = &m->named[0], *to = &m->named[1];
	Resharder *r = resharder_new(session->arena, mesh);
	const ReshardPlan *plan =
		reshard_plan(r, &from->type, &from->placement, &to->placement);

	for (int i = 0; i < plan->n; i++) {
		const Move *move = &plan->moves[i];
		text_add(t, "  ");
		text_move(t, mesh, move);
		text_add(t, " -> ");
		text_spec(t, mesh, &from->type, &move->after);
		text_printf(t, ", %.0f bytes\n", move->bytes);
	}
	text_printf(t, "  %d collectives, %.0f bytes\n", plan->collectives, plan->bytes);
}

static bool
write_file(const char *path, const Text *t)
{
	FILE *f = fopen(path, "w");

	return f && fputs(t->s, f) >= 0 && fclose(f) == 0;
}

int
main(int argc, char **argv)
{
	bool update = argc > 2 && !strcmp(argv[2], "--update");
	const char *mesh = "", *text;
	int tests = 0, failed = 0;
	Text all = {0};

	session = session_new();
	int file = argc > 1 ? source_open(session, argv[1], (Range){0}) : 0;
	if (!file)
		return EXIT_USAGE;
	text = source_file(session, file)->text;
	while (*text) {
		Text plan = {0};
		const char *line = arena_strndup(session->arena, text, strcspn(text, "\n"));
		text += strlen(line) + (text[strlen(line)] == '\n');
		text_printf(&all, "%s\n", line);
		if (!strncmp(line, "mesh ", 5))
			mesh = line + 5;
		if (!strstr(line, " -> ") || *line == '#')
			continue;
		const Module *m = read_line(mesh, line);
		const char *expected = text;
		while (!strncmp(text, "  ", 2))
			text += strcspn(text, "\n") + 1;
		if (m)
			text_plan(&plan, m);
		bool right = m && plan.n == (size_t)(text - expected)
			&& !strncmp(plan.s, expected, plan.n);
		failed += !right && !update;
		tests++;
		if (!update) {
			printf("%s %d - %s\n", right ? "ok" : "not ok", tests, line);
			for (const char *s = plan.s; !right && s && *s;
				s += strcspn(s, "\n") + 1)
				printf("# %.*s\n", (int)strcspn(s, "\n"), s);
		}
		text_add(&all, plan.s ? plan.s : "");
		text_free(&plan);
	}
	if (update && !write_file(argv[1], &all))
		failed++;
	if (!update)
		printf("1..%d\n", tests);
	text_free(&all);
	session_free(session);
	return failed && update ? EXIT_IO : 0;
}

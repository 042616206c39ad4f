/*
 * targets.c - what is told of the hardware: --print-targets, --print-target,
 * --help=targets.
 */
#include <string.h>

#include "driver.h"
#include "ir/targets.h"

enum {
	MATRIX_COLUMN = 6,
	MEMORY_COLUMN = 20,
	LINK_COLUMN = 43,
	POD_COLUMN = 53,
	CHIPS_COLUMN = 66,
	CLOUD_COLUMN = 72,
};

/* Blanks up to a column of the line that begins at `start`. */
static void
text_column(Text *t, size_t start, size_t column)
{
	text_printf(t, "%*s", (int)(start + column > t->n ? start + column - t->n : 1), "");
}

static void
text_target(Text *t, const Target *target)
{
	size_t start = t->n;

	text_add(t, target->name);
	text_column(t, start, MATRIX_COLUMN);
	text_printf(t, "%.4g TFLOP/s", target->bf16_flops / 1e12);
	text_column(t, start, MEMORY_COLUMN);
	text_memory(t, (double)target->hbm_bytes);
	text_add(t, " at ");
	text_traffic(t, target->hbm_bandwidth);
	text_add(t, "/s");
	text_column(t, start, LINK_COLUMN);
	text_traffic(t, target->link_bandwidth);
	text_add(t, "/s");
	text_column(t, start, POD_COLUMN);
	text_numbers(t, target->pod.n, target->pod.v, "x");
	text_column(t, start, CHIPS_COLUMN);
	text_printf(t, "%lld", (long long)target->pod_chips);
	text_column(t, start, CLOUD_COLUMN);
	text_printf(t, "%s\n", target->cloud_name);
}

bool
answer_targets(CommandLine *line, const char *value)
{
	Text *t = answer(line);
	size_t start = t->n;

	(void)value;
	static const struct {
		size_t column;
		const char *title;
	} columns[] = {{0, "name"}, {MATRIX_COLUMN, "bf16"}, {MEMORY_COLUMN, "memory"},
		{LINK_COLUMN, "link"}, {POD_COLUMN, "pod"}, {CHIPS_COLUMN, "chips"},
		{CLOUD_COLUMN, "cloud"}};

	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
		text_printf(t, "%*s", i ? (int)(start + columns[i].column - t->n) : 0, "");
		text_add(t, columns[i].title);
	}
	text_add(t, "\n");
	for (int i = 0; i < target_count(); i++)
		text_target(t, target_at(i));
	text_add(t,
		"Of one device of a mesh: a chip, but one of its two cores on v2, v3 and v7x.\n"
		"A link is one way; a pod the most chips of a slice along each dim, in any "
		"order,\n"
		"and in all.  The cloud calls slices v4-N, ...  All that is assumed:\n"
		"--help=targets; with sources: --print-target=NAME.\n");
	return true;
}

bool
answer_target(CommandLine *line, const char *value)
{
	const char **names = NEW_ARRAY(line->session->arena, const char *, target_count());
	const Target *target = target_by_name(value);

	for (int i = 0; i < target_count(); i++)
		names[i] = target_at(i)->name;
	if (!target)
		return unknown_word(line->session, "target", value, names, target_count());
	text_add(answer(line), target->text);
	return true;
}

/* "128: v2 v3 v4; 256: v6e": the targets by the value of a fact. */
static void
text_values(Text *t, const TargetFact *fact)
{
	Arena *a = arena_new();
	const char **values = NEW_ARRAY(a, const char *, target_count());

	for (int i = 0; i < target_count(); i++) {
		Text value = {0};
		text_fact(&value, target_at(i), fact);
		values[i] = text_take(&value, a);
	}
	for (int i = 0; i < target_count(); i++) {
		int first = 0;
		while (strcmp(values[first], values[i]) != 0)
			first++;
		if (first < i) /* told with that one */
			continue;
		text_printf(t, "%s%s:", i ? "; " : "", values[i]);
		for (int k = i; k < target_count(); k++)
			if (strcmp(values[k], values[i]) == 0)
				text_printf(t, " %s", target_at(k)->name);
	}
	arena_free(a);
}

void
list_targets(Text *t)
{
	text_add(t,
		"What is assumed of the hardware, of one device of a mesh: a chip, but one of "
		"its two cores on v2, v3 and v7x.  --print-target=NAME prints a target with "
		"the source of each number, in the form that --on=FILE reads.  Of a mesh "
		"without a topology each axis is taken for a ring of links between chips, "
		"of two devices for one link, also where two devices share a chip: "
		"--on=v7x:2x2x1 says which do.\n");
	for (int i = 0; i < target_nfacts; i++) {
		const TargetFact *fact = &target_facts[i];
		text_printf(t, "\n  %s%s%s%s: %s\n    ", fact->name, fact->unit ? " (" : "",
			fact->unit ? fact->unit : "", fact->unit ? ")" : "", fact->sentence);
		text_values(t, fact);
		text_add(t, "\n");
	}
}

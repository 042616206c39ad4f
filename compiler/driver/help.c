/*
 * help.c - options that are questions, and their answers.
 *
 * An answer is text of the options; nothing is compiled then.
 */
#include <ctype.h>
#include <string.h>

#include "driver.h"

static Text *
answer(CommandLine *line)
{
	line->options->action = ACT_answer;
	return &line->options->answer;
}

bool
answer_passes(CommandLine *line, const char *value)
{
	(void)value;
	list_passes(answer(line));
	return true;
}

bool
answer_error(CommandLine *line, const char *value)
{
	const char *text = diag_explain(value);

	if (!text)
		return usage(line->session, "there is no error '%s'; they look like SHD0204",
			value);
	text_add(answer(line), text);
	return true;
}

bool
answer_version(CommandLine *line, const char *value)
{
	(void)value;
	text_add(answer(line), "shdc " SHDC_VERSION "\n");
	return true;
}

/* A group of options: its title and a line for each. */
static void
describe_group(Text *t, const Option *option, const Option *end)
{
	text_printf(t, "\n%s (--help=%s)\n", option->help, option->spelling);
	while (++option < end && option->type != T_group) {
		size_t start = t->n;

		text_printf(t, "  %s", option->spelling);
		if (option->value && *option->value == '[')
			text_printf(t, "[=%s", option->value + 1);
		else if (option->value)
			text_printf(t, "%s%s",
				option->spelling[1] == '-'			 ? "="
					: isupper((unsigned char)*option->value) ? " "
										 : "",
				option->value);
		if (t->n - start > 30) {
			text_add(t, "\n");
			start = t->n;
		}
		text_printf(t, "%*s%s\n", (int)(32 - (t->n - start)), "", option->help);
	}
}

bool
answer_help(CommandLine *line, const char *value)
{
	const Option *end = line->rows + line->n;
	const char **names = NEW_ARRAY(line->session->arena, const char *, line->n + 2);
	int n = 0;
	Text *t = answer(line);
	size_t before = t->n;

	if (!value)
		text_add(t,
			"usage: shdc [OPTIONS] PROGRAM.shd        an executable\n"
			"       shdc --run PROGRAM.shd [-- ARGS]  compile and run\n"
			"       shdc --emit=KIND PROGRAM.shd      show a stage: see "
			"--help=emit\n"
			"PROGRAM is a .shd file, a .hlo file that shdc printed, or - for "
			"standard input.\n"
			"The functions of the language: --help=functions.\n");
	for (const Option *option = line->rows; option < end; option++) {
		if (option->type != T_group)
			continue;
		names[n++] = option->spelling;
		if (!value || strcmp(value, option->spelling) == 0)
			describe_group(t, option, end);
	}
	if (!value)
		text_add(t,
			"\nExit status: 0 done; 1 the program is wrong; 2 usage; 3 files or a "
			"tool failed;\n4 internal error; 5 out of memory; 10 deadlock; 11 "
			"mismatched collectives;\n13 a peer was lost.  Where nobody reads "
			"standard "
			"output, SIGPIPE ends it\n(141 in a shell).\n");
	else if (strcmp(value, names[n++] = "emit") == 0)
		list_kinds(t);
	else if (strcmp(value, names[n++] = "functions") == 0)
		front_list_functions(t);
	return t->n > before || unknown_word(line->session, "help group", value, names, n);
}

/*
 * help.c - options that are questions, and their answers.
 *
 * An answer is text of the options; nothing is compiled then.
 */
#include <ctype.h>
#include <string.h>

#include "driver.h"

Text *
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

enum { HELP_COLUMN = 32, HELP_WIDTH = 80 };

/* Where a line goes on below: its last column, which follows two blanks; of a
   line without columns two behind its beginning. */
static size_t
last_column(const char *line, size_t n)
{
	size_t blanks = strspn(line, " "), column = blanks;

	for (size_t i = blanks + 2; i < n && i <= HELP_COLUMN; i++)
		if (line[i - 2] == ' ' && line[i - 1] == ' ' && line[i] != ' ')
			column = i;
	return column == blanks && blanks < HELP_COLUMN ? blanks + 2 : column;
}

/* The lines from there on, none of them wider than HELP_WIDTH. */
static void
fold(Text *t, size_t from)
{
	Text folded = {0};

	for (const char *line = t->s + from; from < t->n && *line;) {
		size_t n = strcspn(line, "\n"), column = last_column(line, n), at = 0;

		while (at + n > HELP_WIDTH) {
			size_t end = HELP_WIDTH - at;

			while (end > column - at && line[end] != ' ')
				end--;
			if (end <= column - at)
				break;
			text_addn(&folded, line, end);
			text_printf(&folded, "\n%*s", (int)column, "");
			line += end + 1;
			n -= end + 1;
			at = column;
		}
		text_addn(&folded, line, n);
		text_add(&folded, "\n");
		line += n + (line[n] == '\n');
	}
	t->n = from;
	text_addn(t, folded.s, folded.n);
	text_free(&folded);
}

/* "-h, ", where there is a short spelling of it. */
static void
short_spelling(Text *t, const CommandLine *line, const Option *option)
{
	for (const Option *other = line->rows; other < line->rows + line->n; other++)
		if (other->type == T_short && strcmp(other->what, option->spelling) == 0)
			text_printf(t, "%s, ", other->spelling);
}

/* A group of options: its title and a line for each. */
static void
describe_group(Text *t, const CommandLine *line, const Option *option)
{
	const Option *end = line->rows + line->n;

	text_printf(t, "\n%s (--help=%s)\n", option->help, option->spelling);
	while (++option < end && option->type != T_group) {
		size_t start = t->n;

		if (option->type == T_short)
			continue;
		text_add(t, "  ");
		short_spelling(t, line, option);
		text_add(t, option->spelling);
		if (option->value && *option->value == '[')
			text_printf(t, "[=%s", option->value + 1);
		else if (option->value)
			text_printf(t, "%s%s",
				option->spelling[1] == '-'			 ? "="
					: isupper((unsigned char)*option->value) ? " "
										 : "",
				option->value);
		if (t->n - start > HELP_COLUMN - 2) {
			text_add(t, "\n");
			start = t->n;
		}
		text_printf(t, "%*s%s\n", (int)(HELP_COLUMN - (t->n - start)), "",
			option->help);
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
			"The functions of the language: --help=functions; the hardware: "
			"--help=targets.\n");
	for (const Option *option = line->rows; option < end; option++) {
		if (option->type != T_group)
			continue;
		names[n++] = option->spelling;
		if (!value || strcmp(value, option->spelling) == 0)
			describe_group(t, line, option);
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
	else if (strcmp(value, names[n++] = "targets") == 0)
		list_targets(t);
	fold(t, before);
	return t->n > before || unknown_word(line->session, "help group", value, names, n);
}

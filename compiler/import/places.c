/*
 * places.c - from MLIR's locations to lines of Python.
 *
 *   "jit(f)/dot_general"(callsite("layer"("llama.py":119:14) at "f"("train.py":7:2)))
 *
 * The path names the op; of the frames, the innermost outside of installed packages is the
 * line that is shown.  The body of a private function has the frames of its calls behind
 * its own.
 */
#include <string.h>

#include "import/reader.h"

const MlirPlace *
place_resolved(Import *in, const MlirPlace *place)
{
	for (int hops = 0; place && place->kind == PLACE_alias; hops++)
		place = hops < MAX_HOPS ? table_get(in->program->places, place->text) : NULL;
	return place;
}

/* In a session or a cell of a notebook; what else is in <..> was generated. */
static bool
was_typed(const char *path)
{
	return !strcmp(path, "<stdin>") || !strncmp(path, "<ipython-input", 14);
}

bool
place_is_installed(const char *path)
{
	return strstr(path, "/site-packages/") || strstr(path, "/dist-packages/")
		|| (path[0] == '<' && !was_typed(path));
}

/* The innermost frame of the program, else the innermost of all; `hops` are left. */
static const MlirPlace *
find_frame(Import *in, const MlirPlace *place, const MlirPlace **any, int *hops)
{
	const MlirPlace *found = NULL;

	while ((place = place_resolved(in, place)) && --*hops > 0) {
		if (place->kind == PLACE_file) {
			if (!*any)
				*any = place;
			return place_is_installed(place->text) ? NULL : place;
		}
		if (place->kind == PLACE_named) {
			place = place->inner;
			continue;
		}
		if (place->kind == PLACE_unknown)
			return NULL;
		/* callsites lean to the outer side, so this goes down a step or two */
		const MlirPlace *inner = place_resolved(in, place->inner);
		bool nested = inner && inner->kind == PLACE_called && inner->outer;
		*hops -= nested ? MAX_HOPS / 50 : 0;
		found = find_frame(in, inner, any, hops);
		if (found)
			return found;
		place = place->outer;
	}
	return NULL;
}

/* Of a file that is there, if it is as it was: else only the line is known, if there is one. */
static void
find_letters(const SourceFile *f, const MlirPlace *frame, Range *place)
{
	int last = frame->last_line ? frame->last_line : frame->line;
	bool there = place->line > 0 && last >= place->line && last <= f->nlines;

	if (!there)
		return;
	int first = f->line_starts[place->line - 1], of_last = f->line_starts[last - 1];
	int next = place->line < f->nlines ? f->line_starts[place->line] : f->length + 1;
	place->begin = place->end = first;
	if (frame->column >= next - first || frame->last_column > f->length - of_last)
		return;
	int begin = first + frame->column, end = of_last + frame->last_column;
	if (frame->last_column && end < begin)
		return;
	place->begin = begin;
	place->end = frame->last_column ? end : begin;
}

/* Columns of a file that is not there only tell places of one line apart.  Older text has no
   ends: such a place has no letters. */
Range
frame_range(Import *in, const MlirPlace *frame)
{
	Range r = {.file = source_try(in->session, frame->text), .line = frame->line};
	const SourceFile *f = source_file(in->session, r.file);
	int last = frame->last_line ? frame->last_line : frame->line;

	if (f->text) {
		find_letters(f, frame, &r);
		return r;
	}
	r.begin = frame->column;
	r.end = (last - frame->line) * LONGEST_LINE + frame->last_column;
	if (r.end <= r.begin)
		r.begin = r.end = 0;
	return r;
}

Range
place_range(Import *in, const MlirPlace *place, Range otherwise)
{
	const MlirPlace *any = NULL;
	int hops = MAX_HOPS;
	const MlirPlace *frame = find_frame(in, place, &any, &hops);

	for (const Caller *c = in->caller; c && !frame; c = c->outer)
		frame = find_frame(in, c->place, &any, &hops);
	if (!frame)
		frame = any;
	return frame ? frame_range(in, frame) : otherwise;
}

bool
place_is_written(Import *in, const MlirPlace *place)
{
	const MlirPlace *any = NULL, *named = place_resolved(in, place);
	int hops = MAX_HOPS;

	for (const Caller *c = in->caller; named; c = c->outer) {
		const char *text = named->kind == PLACE_named ? named->text : "";
		const char *again = strstr(text, "rematted_computation");
		if (strstr(again ? again : text, "transpose(") || strstr(text, "vmap("))
			return false;
		if (again || !c)
			break;
		named = place_resolved(in, c->place);
	}
	const MlirPlace *frame = find_frame(in, place, &any, &hops);
	return frame && frame == any;
}

const char *
place_label(Import *in, const MlirPlace *place)
{
	place = place_resolved(in, place);
	if (!place || place->kind != PLACE_named || !*place->text)
		return NULL;
	const char *slash = strrchr(place->text, '/');
	return slash && slash[1] ? slash + 1 : place->text;
}

/* ['a'] is .a, [0] is _0, for a number behind a dot would count values of one name. */
const char *
path_dotted(Arena *a, const char *path)
{
	Text t = {0};

	for (const char *c = path; *c; c++) {
		if (*c == '[')
			text_add(&t, c[1] == '\'' || c[1] == '"' ? "." : "_");
		else if (*c != ']' && *c != '\'' && *c != '"')
			text_addn(&t, c, 1);
	}
	text_add(&t, "");
	return text_take(&t, a);
}

const char *
place_text(Import *in, const MlirPlace *place)
{
	place = place_resolved(in, place);
	return place && place->kind == PLACE_named && *place->text ? place->text : NULL;
}

const char *
place_path(Import *in, const MlirPlace *place)
{
	const char *text = place_text(in, place);

	return text ? path_dotted(in->arena, text) : NULL;
}

const char *
place_name(Import *in, const MlirPlace *place, Range at)
{
	place = place_resolved(in, place);
	if (!place || place->kind != PLACE_named || !*place->text)
		return NULL;
	const char *path = place->text;
	while (!strncmp(path, "jit(", 4) || !strncmp(path, "jvp(", 4)) {
		const char *slash = strchr(path, '/');
		if (!slash)
			break;
		path = slash + 1;
	}
	return arena_printf(in->arena, "%s:%d", path, at.line);
}

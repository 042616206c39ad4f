/*
 * names.c - where in Python an argument has its name, on the way to an op that it is for.
 *
 *    8  def dense(x, kernel):
 *    9      return x @ kernel                     an op of batch; here that is x, as are others
 *   12      h = dense(batch, params["w1"])        batch: the innermost frame that says so
 *   16      value_and_grad(loss)(params, batch)   in step, which is what was lowered
 *
 * What was lowered has arguments of these names.  A function that is written within has
 * them, too, and one that is called with them has, if it calls them the same and is called
 * nowhere else, as long as nothing else is called so.
 */
#include <string.h>

#include "import/python.h"
#include "import/reader.h"
#include "ir/place.h"

enum { MOST_CALLS = 64 /* in each other, of those that are looked at */ };

/* A line of Python in a function, and what it is in the middle of. */
typedef struct Frame {
	const char *function; /* "loss", "step.<locals>.loss" */
	const MlirPlace *place;
} Frame;

/* The innermost first. */
typedef struct Frames {
	Frame all[MOST_CALLS];
	int n;
} Frames;

/* Takes the frames of the place from the innermost on. */
static void
add_frames(Import *in, Frames *frames, const MlirPlace *place, int *hops)
{
	while ((place = place_resolved(in, place)) && --*hops > 0) {
		const MlirPlace *inner = place_resolved(in, place->inner);
		if (place->kind == PLACE_named && inner && inner->kind == PLACE_file) {
			if (frames->n < MOST_CALLS && !place_is_installed(inner->text))
				frames->all[frames->n++] = (Frame){place->text, inner};
			return;
		}
		if (place->kind == PLACE_called || place->kind == PLACE_fused)
			add_frames(in, frames, inner, hops);
		place = place->kind == PLACE_named ? inner
			: place->kind == PLACE_called || place->kind == PLACE_fused
			? place->outer
			: NULL;
	}
}

static Letters
frame_letters(const SourceFile *f, Range r)
{
	return (Letters){f->text + r.begin, f->text + r.end};
}

/* loss of "step.<locals>.loss". */
static const char *
last_word(const Frame *frame)
{
	const char *dot = strrchr(frame->function, '.');

	return dot ? dot + 1 : frame->function;
}

/* The function that is written around the frame; of a lambda that around it. */
static PythonFunction
function_around(const Frame *frame, const SourceFile *f, int line)
{
	PythonFunction found = python_function(f, line, true);
	const char *name = last_word(frame);
	bool right = !strcmp(name, "<lambda>") || letters_are(found.name, name);

	return right ? found : (PythonFunction){.file = f};
}

/* Is one written within the other, which its lines see the names of? */
static bool
is_within(PythonFunction inner, const PythonFunction *outer, const char *name)
{
	while (inner.line && (inner.file != outer->file || inner.line != outer->line)) {
		if (python_param(&inner, name) >= 0)
			return false;
		inner = python_function(inner.file, inner.line, false);
	}
	return inner.line;
}

/* Is it called, or handed on, at one place of its file alone?  Else its names are several'. */
static bool
is_used_once(Import *in, const PythonFunction *function)
{
	static const char once[] = "once", often[] = "often";
	const SourceFile *f = function->file;
	Letters all = {f->text, f->text + f->length}, name = function->name;
	const char *key = arena_printf(in->arena, "%s:%d", f->path, function->line);
	const char *known = table_get(in->used, key);
	int times = 0;
	Letters found;

	if (known)
		return known == once;
	const char *word =
		arena_strndup(in->arena, name.begin, (size_t)(name.end - name.begin));
	while ((found = python_find(all, word), found.begin < found.end)) {
		all.begin = found.end;
		times++;
	}
	known = times <= 2 ? once : often; /* one is its def */
	table_set(in->used, key, (void *)known);
	return known == once;
}

typedef struct Search {
	Import *in;
	const char *name; /* params['w1'] */
	const char *root; /* params */
	Range found;	  /* where it is written, innermost so far */
	PythonFunction function;
	Letters outer; /* what the frame around is in the middle of */
} Search;

/* The letters are of that file. */
static Range
letters_range(Range frame, const SourceFile *f, Letters some)
{
	Range r = {.file = frame.file,
		.begin = (int)(some.begin - f->text),
		.end = (int)(some.end - f->text),
		.line = frame.line};

	while (r.line < f->nlines && f->line_starts[r.line] <= r.begin)
		r.line++;
	return r;
}

/* Has the function of this frame the name for it, from the frame around on?  If so, and it is
   in what the frame is in the middle of, it may be written there. */
static bool
search_frame(Search *search, const Frame *frame, bool entry)
{
	Range r = frame_range(search->in, frame->place);
	const SourceFile *f = source_file(search->in->session, r.file);

	if (!f || !f->text || r.end <= r.begin || r.line > f->nlines)
		return false;
	PythonFunction function = function_around(frame, f, r.line);
	Letters text = frame_letters(f, r), line = python_line(f, r.line);
	bool handed = entry
		? python_param(&function, search->root) >= 0
		: python_hands_on(search->in->arena, search->outer, &function, search->root);
	bool known = function.line
		&& (handed || (!entry && is_within(function, &search->function, search->root)));
	if (!known || (!entry && !is_used_once(search->in, &function))
		|| python_assigns(f, function.body, r.line, search->root)
		|| python_hides((Letters){line.begin, text.begin}, search->root))
		return false;
	search->function = function;
	search->outer = text;
	Letters written = python_find(text, search->name);
	if (written.begin < written.end && !python_hides(text, search->root))
		search->found = letters_range(r, f, written);
	return true;
}

/* Without its text, only the lines of what was lowered are known to have the name. */
static Range
name_place(Import *in, const Frames *frames, const char *name)
{
	Search search = {.in = in, .name = name, .found = nowhere};
	int entry = 0;

	search.root = arena_strndup(in->arena, name, strcspn(name, ".["));
	while (entry < frames->n
		&& strcmp(last_word(&frames->all[entry]), in->module->name) != 0)
		entry++;
	if (entry == frames->n)
		return nowhere;
	Range last = frame_range(in, frames->all[entry].place);
	const SourceFile *f = source_file(in->session, last.file);
	if (f && !f->text)
		return entry ? nowhere : last;
	for (int i = entry; i >= 0; i--)
		if (!search_frame(&search, &frames->all[i], i == entry))
			break;
	return search.found;
}

/* Where an op has several such places, none is known. */
static void
note_name(Import *in, const Value *v, Range use, Range at)
{
	const Module *m = in->module;
	const char *key = written_key(in->arena, v, use);
	const Range *other = table_get(m->columns, key);
	bool doubtful = other && !range_equal(*other, at);

	if (doubtful)
		at = nowhere;
	if (!other || doubtful)
		table_set(m->columns, key, arena_copy(in->session->arena, &at, sizeof at));
}

/* Another on its line needs a column. */
static void
note_column_of_name(Import *in, Range at, const char *name)
{
	const SourceFile *f = source_file(in->session, at.file);

	if (!f || !f->text || !at.line)
		return;
	Letters line = python_line(f, at.line);
	Letters first = python_find(line, name);
	Letters next = python_find((Letters){first.end, line.end}, name);
	if (next.begin < next.end)
		table_set(in->module->columns, range_key(in->arena, at), in->module);
}

void
names_note(Import *in, const MlirOp *op)
{
	Frames frames = {.n = -1};
	int hops = MAX_HOPS;

	for (int i = 0; i < in->noperands; i++) {
		const Value *v = in->operands[i];
		const char *name = v->def ? NULL : table_get(in->module->python, v->name);
		if (!name || v->block != in->module->entry)
			continue;
		if (frames.n < 0) {
			frames.n = 0;
			add_frames(in, &frames, op->place, &hops);
			for (const Caller *c = in->caller; c; c = c->outer)
				add_frames(in, &frames, c->place, &hops);
		}
		Range at = name_place(in, &frames, name);
		note_column_of_name(in, at, name);
		note_name(in, v, in->make.range, at);
	}
}

/*
 * checkpoints.c - what would be kept for backward if a function was a checkpoint fn.
 *
 * Of each function, of the program's file or an imported one, in which something that is
 * kept is made, the program is compiled once more with that function as a checkpoint.  What
 * is then left is of loops that are written out: made in a trip, or what a trip begins with.
 * So it is compiled with a checkpoint of each trip, or of so many that as many trips begin as
 * are computed again at once.  What is left then is made once, in lines that are written out:
 * those from where it is made to where it is last used are tried.
 */
#include <math.h>
#include <string.h>
#include "driver.h"
#include "tree.h"
#include "memory/peak.h"

static Range
made_at(const Buffer *buffer)
{
	const Value *v = buffer->value;

	return v->range.line || !v->def ? v->range : v->def->range;
}

/* Two that are alike are made by one op and of one type, in whatever session. */
typedef struct Made {
	const char *path;
	int begin; /* in the file */
	const Type *type;
} Made;

static Made
made_of(const Session *s, const Buffer *buffer)
{
	Range at = made_at(buffer);

	return (Made){source_path(s, at.file), at.begin, &buffer->value->type};
}

static uint64_t
hash_made(const Made *made)
{
	const Type *type = made->type;
	uint64_t hash = hash_mix(hash_mix(0, made->begin), type->dtype);

	for (int d = 0; d < type->rank; d++)
		hash = hash_mix(hash, type->dims[d]);
	return hash;
}

static bool
made_alike(const void *item, const void *key)
{
	const Made *a = item, *b = key;

	return a->begin == b->begin && type_equal(a->type, b->type)
		&& strcmp(a->path, b->path) == 0;
}

static bool
is_kept(const Lookup *kept, const Made *made)
{
	return lookup_find(kept, hash_made(made), made_alike, made) != NULL;
}

/* All that is kept for backward, of those alike one. */
static Lookup *
find_kept(const Session *s, const Plan *plan, const Peak *peak)
{
	Lookup *kept = lookup_new(s->arena);

	for (int i = 0; i < plan->n; i++) {
		Made made = made_of(s, &plan->buffers[i]);
		if (peak->keeps[i] && !is_kept(kept, &made))
			lookup_add(kept, hash_made(&made),
				arena_copy(s->arena, &made, sizeof made));
	}
	return kept;
}

/* What is made a checkpoint: a function, trips of a loop, or lines. */
typedef struct Way {
	const FnDecl *fn; /* NULL: ... */
	Place place;
	Range range;   /* of any of them */
	int64_t trips; /* 0: lines, up to */
	int last;
} Way;

/* The program with that as a checkpoint, fused; NULL if it can't be. */
static Module *
compile_with(const Compilation *c, Session *s, const Way *way)
{
	const SourceFile *f = source_file(c->session, c->file);
	Options with = *c->options;

	s->err = NULL;
	with.front.checkpoint = way->fn ? way->fn->name.s : NULL;
	with.again = way->place;
	with.trips_again = way->trips;
	return variant(s, source_add_text(s, f->path, f->text, f->length), &with);
}

/* What a process finds out of a function; then `avoids` of it, in the same memory. */
typedef struct Answer {
	bool tried;
	bool less; /* is less kept, and less needed at the peak, or as much if it keeps none? */
	int64_t kept, peak;
} Answer;

/* Tried are the places at which most is made that is kept, and so many ways: the time does
   not grow with the square of what is written out. */
enum { PLACES = 32, WAYS = 8 };

typedef struct Search {
	const Compilation *c;
	const Peak *now;
	Range left[PLACES]; /* where what is kept, and not avoided, is made: the largest */
	int nleft;
	Way *ways;
	int n;
	Answer *answers;
	bool *avoids; /* [way * buffers + buffer] */
} Search;

static void
try_checkpoint(void *data, int64_t i)
{
	const Search *search = data;
	const Plan *before = search->c->plan;
	Answer *answer = &search->answers[i];
	bool *avoids = search->avoids + i * before->n;
	Session *s = session_new();
	Module *m = compile_with(search->c, s, &search->ways[i]);

	if (m) {
		const Plan *plan = plan_build(m);
		const Peak *peak = plan_at_peak(plan), *now = search->now;
		const Lookup *kept = find_kept(s, plan, peak);
		answer->kept = peak->bytes_kept;
		answer->peak = plan_peak(plan);
		for (int k = 0; k < before->n; k++) {
			Made made = made_of(search->c->session, &before->buffers[k]);
			avoids[k] = now->keeps[k] && !is_kept(kept, &made);
		}
		int64_t most = plan_peak(before) + (now->bytes[MEMORY_backward] == 0);
		answer->less = !plan->uncounted && answer->kept < now->bytes_kept
			&& answer->peak < most;
	}
	answer->tried = true;
	session_free(s);
}

static const char *
way_text(Arena *a, const Way *way)
{
	if (way->fn)
		return way->fn->name.s;
	if (way->trips > 0)
		return way->trips == 1
			? "of a trip"
			: arena_printf(a, "of %lld trips", (long long)way->trips);
	return way->last == way->range.line
		? "of the line"
		: arena_printf(a, "of lines %d to %d", way->range.line, way->last);
}

/* Tries them all; adds those that would keep less, each for what none that is known avoids. */
static void
try_all(Search *search, Checkpoint **all, int *n)
{
	int known = *n;
	Progress progress = progress_begin("checkpoint");
	Arena *a = search->c->session->arena;
	size_t nbuffers = (size_t)search->c->plan->n;
	size_t each = sizeof *search->answers + nbuffers * sizeof *search->avoids;
	size_t bytes = (size_t)search->n * each;

	search->answers = search->n ? shared_new(bytes) : NULL;
	if (!search->answers)
		return;
	search->avoids = (bool *)(search->answers + search->n);
	work_share(&(Workload){search->n, try_checkpoint, search, .progress = progress_show,
		.progress_data = &progress});
	for (int i = 0; i < search->n; i++) {
		const Answer *answer = &search->answers[i];
		const Way *way = &search->ways[i];
		bool *avoids = search->avoids + (size_t)i * nbuffers;
		if (!answer->tried)
			die("a checkpoint that was tried was lost");
		if (!answer->less)
			continue;
		avoids = arena_copy(a, avoids, nbuffers * sizeof *avoids);
		bool any = false;
		for (size_t k = 0; k < nbuffers; k++) {
			for (int c = 0; c < known; c++)
				avoids[k] &= !(*all)[c].avoids[k];
			any |= avoids[k];
		}
		if (!any)
			continue;
		Checkpoint found = {way_text(a, way), way->range, answer->kept, answer->peak,
			avoids};
		APPEND(a, *all, *n, found);
	}
	shared_free(search->answers, bytes);
}

/* Which of the places that are left it is; -1: none. */
static int
place_left(const Search *search, Range at)
{
	for (int i = 0; i < search->nleft; i++)
		if (search->left[i].file == at.file && search->left[i].begin == at.begin)
			return i;
	return -1;
}

static bool
is_left(const Search *search, Range at)
{
	return place_left(search, at) >= 0;
}

/* Where that is made which is kept, and by no checkpoint avoided. */
static void
find_left(Search *search, const Checkpoint *all, int n)
{
	const Peak *now = search->now;

	for (int i = 0; i < now->nkept && search->nleft < PLACES; i++) {
		Range at = made_at(now->kept[i]);
		bool left = !is_left(search, at);
		for (int c = 0; c < n; c++)
			left &= !all[c].avoids[now->kept[i] - search->c->plan->buffers];
		if (left)
			search->left[search->nleft++] = at;
	}
}

/* Is it left?  From then on it is not. */
static bool
take_left(Search *search, Range at)
{
	int i = place_left(search, at);

	if (i >= 0)
		search->left[i] = search->left[--search->nleft];
	return i >= 0;
}

static bool
is_left_in(const Search *search, const FnDecl *fn)
{
	for (int i = 0; i < search->nleft; i++) {
		Range at = search->left[i];
		if (at.file == fn->range.file && at.begin >= fn->range.begin
			&& at.begin < fn->end.end)
			return true;
	}
	return false;
}

/* Of one file, the functions that may be checkpoints. */
static void
add_functions(Search *search, int file)
{
	const Compilation *c = search->c;
	const Program *p = parse_file(c->session, file, DIAG_syntax);

	for (int i = 0; i < p->items.n; i++) {
		const FnDecl *fn = ((const Decl *)p->items.v[i])->fn;
		if (!fn || fn->mode != FN_auto || fn->checkpoint || !is_left_in(search, fn))
			continue;
		Way way = {.fn = fn, .range = fn->range};
		APPEND(c->session->arena, search->ways, search->n, way);
	}
}

/* Is any place left in the file? */
static bool
is_left_in_file(const Search *search, int file)
{
	for (int i = 0; i < search->nleft; i++)
		if (search->left[i].file == file)
			return true;
	return false;
}

/* ---- trips of loops ------------------------------------------------------------------- */

/* As many trips as there are groups of them, about; 1: there is no such number. */
static int64_t
group_of(int64_t trips)
{
	for (int64_t group = (int64_t)sqrt((double)trips); group > 1; group--)
		if (trips % group == 0)
			return group;
	return 1;
}

static void
add_way(Search *search, Way way)
{
	Session *s = search->c->session;

	way.place = (Place){source_path(s, way.range.file), way.range.begin};
	for (int i = 0; i < search->n; i++)
		if (search->ways[i].trips == way.trips
			&& search->ways[i].place.begin == way.place.begin
			&& strcmp(search->ways[i].place.path, way.place.path) == 0)
			return;
	if (search->n < WAYS)
		APPEND(s->arena, search->ways, search->n, way);
}

/* Loops of a module of the same sources. */
static void
add_loops(Search *search, const Block *b, const Op *loop)
{
	for (const Op *op = b->first; op; op = op->next) {
		int64_t trips = op_is_loop(op) && op_has(op, A_trips) ? op_int(op, A_trips) : 0;
		bool made = loop && op->range.begin != loop->range.begin;
		for (int i = 0; made && i < op->nresults; i++)
			if (is_left(search, op->results[i]->range)
				|| is_left(search, op->range))
				add_way(search, (Way){.range = loop->range, .trips = 1});
		if (group_of(trips) > 1 && is_left(search, op->range))
			add_way(search, (Way){.range = op->range, .trips = group_of(trips)});
		for (int i = 0; i < op->nbodies; i++)
			add_loops(search, op->bodies[i], trips > 1 ? op : loop);
	}
}

/* ---- lines ---------------------------------------------------------------------------- */

/* The function in which that is written; NULL: none is. */
static const FnDecl *
function_around(const Program *p, Range at)
{
	for (int i = 0; i < p->items.n; i++) {
		const FnDecl *fn = ((const Decl *)p->items.v[i])->fn;
		if (fn && at.begin >= fn->range.begin && at.begin < fn->end.end)
			return fn;
	}
	return NULL;
}

/* From an op on, if all are lines of one function. */
static void
add_lines_from(Search *search, Op *op)
{
	Lines lines = lines_of(op);
	Range last = lines.last->range;

	if (last.file != op->range.file || last.line < op->range.line)
		return;
	const Program *p = parse_file(search->c->session, last.file, DIAG_syntax);
	if (function_around(p, op->range) == function_around(p, last))
		add_way(search, (Way){.range = op->range, .last = last.line});
}

/* Of a module of the same sources, in what is differentiated: of copies the first. */
static void
add_lines(Search *search, const Block *b, bool differentiated)
{
	for (Op *op = b->first; op != b->last; op = op->next) {
		bool left = differentiated && take_left(search, op->range);
		for (int i = 0; i < op->nresults && differentiated; i++)
			left |= take_left(search, op->results[i]->range);
		if (left)
			add_lines_from(search, op);
		for (int i = 0; i < op->nbodies; i++)
			add_lines(search, op->bodies[i], differentiated || op->kind == O_grad);
	}
}

/* The program as front/ makes it; NULL after messages, which nobody sees. */
static const Module *
compile_again(const Compilation *c, Session *s)
{
	const SourceFile *f = source_file(c->session, c->file);

	s->err = NULL;
	return front_compile(s, source_add_text(s, f->path, f->text, f->length),
		&c->options->front);
}

const Checkpoint *
checkpoints_find(const Compilation *c, int *n)
{
	const Peak *now = plan_at_peak(c->plan);
	Search functions = {.c = c, .now = now}, loops = functions, lines = functions;
	Checkpoint *all = NULL;

	*n = 0;
	if (!c->is_source || !now->nkept)
		return NULL;
	find_left(&functions, all, *n);
	for (int file = 1; file <= c->session->nfiles; file++)
		if (is_left_in_file(&functions, file))
			add_functions(&functions, file);
	try_all(&functions, &all, n);
	Session *s = session_new();
	const Module *m = compile_again(c, s);
	find_left(&loops, all, *n);
	if (m)
		add_loops(&loops, m->entry, NULL);
	try_all(&loops, &all, n);
	find_left(&lines, all, *n);
	if (m)
		add_lines(&lines, m->entry, false);
	try_all(&lines, &all, n);
	session_free(s);
	return all;
}

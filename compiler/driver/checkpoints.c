/*
 * checkpoints.c - what would be kept for backward if a function was a checkpoint fn.
 *
 * Of each function, of the program's file or an imported one, in which something that is
 * kept is made, the program is compiled once more with that function as a checkpoint.
 */
#include <string.h>
#include "driver.h"
#include "tree.h"
#include "memory/peak.h"

static Range
made_at(const Buffer *b)
{
	const Value *v = b->value;

	return v->range.line || !v->def ? v->range : v->def->range;
}

/* Two that are alike are of one line and type, in whatever session. */
typedef struct Made {
	const char *path;
	int line;
	const Type *type;
} Made;

static Made
made_of(const Session *s, const Buffer *b)
{
	Range at = made_at(b);

	return (Made){source_path(s, at.file), at.line, &b->value->type};
}

static uint64_t
hash_made(const Made *made)
{
	const Type *type = made->type;
	uint64_t hash = hash_mix(hash_mix(0, made->line), type->dtype);

	for (int d = 0; d < type->rank; d++)
		hash = hash_mix(hash, type->dims[d]);
	return hash;
}

static bool
made_alike(const void *item, const void *key)
{
	const Made *a = item, *b = key;

	return a->line == b->line && type_equal(a->type, b->type)
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

/* A number of a file, and whether anything that is kept at the peak is made there. */
static bool
is_made_in(const Compilation *c, const Peak *peak, int file)
{
	for (int i = 0; i < peak->n; i++)
		if (peak->kinds[peak->live[i] - c->plan->buffers] == MEMORY_backward
			&& made_at(peak->live[i]).file == file)
			return true;
	return false;
}

/* Anything that is kept at the peak and made in the function? */
static bool
keeps_of(const Compilation *c, const Peak *peak, const FnDecl *fn)
{
	const Plan *plan = c->plan;

	for (int i = 0; i < peak->n; i++) {
		Range at = made_at(peak->live[i]);
		if (peak->kinds[peak->live[i] - plan->buffers] == MEMORY_backward
			&& at.file == fn->range.file && at.begin >= fn->range.begin
			&& at.begin < fn->end.end)
			return true;
	}
	return false;
}

/* The program with that function as a checkpoint, fused; NULL if it can't be. */
static Module *
compile_with(const Compilation *c, Session *s, const FnDecl *fn)
{
	const SourceFile *f = source_file(c->session, c->file);
	Options with = *c->options;

	s->err = NULL;
	with.front.checkpoint = fn->name.s;
	return variant(s, source_add_text(s, f->path, f->text, f->length), &with);
}

/* What a process finds out of a function; then `avoids` of it, in the same memory. */
typedef struct Answer {
	bool tried;
	bool less; /* is less kept, and less needed at the peak? */
	int64_t kept, peak;
} Answer;

typedef struct Search {
	const Compilation *c;
	const Peak *now;
	const FnDecl **fns;
	int n;
	Answer *answers;
	bool *avoids; /* [function * buffers + buffer] */
} Search;

static void
try_checkpoint(void *data, int64_t i)
{
	const Search *search = data;
	const Plan *before = search->c->plan;
	Answer *answer = &search->answers[i];
	bool *avoids = search->avoids + i * before->n;
	Session *s = session_new();
	Module *m = compile_with(search->c, s, search->fns[i]);

	if (m) {
		const Plan *plan = plan_build(m);
		const Peak *peak = plan_at_peak(plan), *now = search->now;
		const Lookup *kept = find_kept(s, plan, peak);
		answer->kept = peak->bytes[MEMORY_backward];
		answer->peak = plan_peak(plan);
		for (int k = 0; k < before->n; k++) {
			Made made = made_of(search->c->session, &before->buffers[k]);
			avoids[k] = now->kinds[k] == MEMORY_backward && !is_kept(kept, &made);
		}
		answer->less = !plan->uncounted && answer->kept < now->bytes[MEMORY_backward]
			&& answer->peak < plan_peak(before);
	}
	answer->tried = true;
	session_free(s);
}

/* Of functions that would keep less, as many as there are in *n. */
static Checkpoint *
found_checkpoints(const Search *search, int *n)
{
	Arena *a = search->c->session->arena;
	size_t nbuffers = (size_t)search->c->plan->n;
	Checkpoint *all = NULL;

	for (int i = 0; i < search->n; i++) {
		const Answer *answer = &search->answers[i];
		const FnDecl *fn = search->fns[i];
		const bool *avoids = search->avoids + (size_t)i * nbuffers;
		if (!answer->tried)
			die("a checkpoint that was tried was lost");
		if (!answer->less)
			continue;
		avoids = arena_copy(a, avoids, nbuffers * sizeof *avoids);
		Checkpoint found = {fn->name.s, fn->range, answer->kept, answer->peak, avoids};
		APPEND(a, all, *n, found);
	}
	return all;
}

/* Of one file, the functions that may be checkpoints. */
static void
add_functions(Search *search, int file)
{
	const Compilation *c = search->c;
	const Program *p = parse_file(c->session, file, DIAG_syntax);

	for (int i = 0; i < p->items.n; i++) {
		const FnDecl *fn = ((const Decl *)p->items.v[i])->fn;
		if (fn && fn->mode == FN_auto && !fn->checkpoint
			&& keeps_of(c, search->now, fn))
			APPEND(c->session->arena, search->fns, search->n, fn);
	}
}

const Checkpoint *
checkpoints_find(const Compilation *c, int *n)
{
	Search search = {.c = c, .now = plan_at_peak(c->plan)};
	Progress progress = progress_begin("checkpoint");
	const Checkpoint *all = NULL;

	*n = 0;
	if (!c->is_source || !search.now->bytes[MEMORY_backward])
		return NULL;
	for (int file = 1; file <= c->session->nfiles; file++)
		if (is_made_in(c, search.now, file))
			add_functions(&search, file);
	size_t each = sizeof *search.answers + (size_t)c->plan->n * sizeof *search.avoids;
	size_t bytes = (size_t)search.n * each;
	search.answers = search.n ? shared_new(bytes) : NULL;
	if (!search.answers)
		return NULL;
	search.avoids = (bool *)(search.answers + search.n);
	work_share(&(Workload){search.n, try_checkpoint, &search, .progress = progress_show,
		.progress_data = &progress});
	all = found_checkpoints(&search, n);
	shared_free(search.answers, bytes);
	return all;
}

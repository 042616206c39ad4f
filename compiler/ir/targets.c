/*
 * targets.c - the facts of targets, read from their text.
 *
 *   link_bandwidth = 4.5e10    # bytes/s, one way
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/layout.h"
#include "ir/targets.h"

const TargetFact target_facts[] = {
#define FACT(field, type, low, high, unit, sentence) \
	{#field, unit, sentence, FACT_##type, low, high, offsetof(Target, field)},
#include "target_facts.def"
#undef FACT
};
enum { NFACTS = sizeof target_facts / sizeof *target_facts };
const int target_nfacts = NFACTS;

static const char *const fact_types[] = {"a decimal number", "a whole number", "yes or no",
	"sizes like 4x4x8", "a word", "slices like 2x2,2x4, or -"};

/* ---- a value ----------------------------------------------------------------- */

static bool
read_real(const char *word, double *value)
{
	char *end;

	*value = strtod(word, &end);
	return !word[strspn(word, "0123456789.eE+-")] && end > word && *end == '\0'
		&& *word != '+' && *value == *value;
}

static bool
read_count(const char *word, int64_t *value)
{
	int64_t n = 0;

	if (*word < '0' || *word > '9')
		return false;
	for (; *word >= '0' && *word <= '9'; word++)
		if (!mul_i64(n, 10, &n) || !add_i64(n, *word - '0', &n))
			return false;
	*value = n;
	return *word == '\0';
}

/* 4x4x8, up to `end`; the sizes widen *smallest and *largest. */
static bool
read_dims(Session *s, const char *word, const char *end, TorusDims *dims, double *smallest,
	double *largest)
{
	for (dims->n = 0;; word++) {
		size_t n = strcspn(word, "x,");
		const char *one = arena_strndup(s->arena, word, n);
		if (dims->n == TORUS_RANK || !read_count(one, &dims->v[dims->n]))
			return false;
		double size = (double)dims->v[dims->n++];
		*smallest = size < *smallest ? size : *smallest;
		*largest = size > *largest ? size : *largest;
		word += n;
		if (word == end || *word != 'x')
			return word == end;
	}
}

static bool
read_slices(Session *s, const char *word, Slices *slices, double *smallest, double *largest)
{
	slices->n = 0;
	if (strcmp(word, "-") == 0)
		return true;
	for (;; word++) {
		const char *end = word + strcspn(word, ",");
		if (slices->n == MAX_TARGET_SLICES
			|| !read_dims(s, word, end, &slices->v[slices->n++], smallest, largest))
			return false;
		word = end;
		if (*word == '\0')
			return true;
	}
}

/* False unless it is written so; *smallest and *largest: what must be in range. */
static bool
read_fact(Session *s, const TargetFact *fact, const char *word, void *field, double *smallest,
	double *largest)
{
	*smallest = fact->low;
	*largest = fact->high;
	if (fact->type == FACT_REAL) {
		bool good = read_real(word, field);
		*smallest = *largest = *(double *)field;
		return good;
	}
	if (fact->type == FACT_COUNT) {
		bool good = read_count(word, field);
		*smallest = *largest = (double)*(int64_t *)field;
		return good;
	}
	if (fact->type == FACT_YES) {
		*(bool *)field = strcmp(word, "yes") == 0;
		return *(bool *)field || strcmp(word, "no") == 0;
	}
	if (fact->type == FACT_WORD) {
		*(const char **)field = arena_strndup(s->arena, word, strlen(word));
		return *word != '\0';
	}
	if (fact->type == FACT_SLICES)
		return read_slices(s, word, field, smallest, largest);
	return read_dims(s, word, word + strlen(word), field, smallest, largest);
}

/* 1.5e12, not 1.5e+12. */
static void
text_real(Text *t, double value)
{
	char digits[32], *plus;

	snprintf(digits, sizeof digits, "%.6g", value);
	if ((plus = strchr(digits, '+')))
		memmove(plus, plus + 1, strlen(plus));
	text_add(t, digits);
}

static void
text_slices(Text *t, const Slices *slices)
{
	for (int i = 0; i < slices->n; i++) {
		text_add(t, i ? "," : "");
		text_numbers(t, slices->v[i].n, slices->v[i].v, "x");
	}
	text_add(t, slices->n ? "" : "-");
}

void
text_fact(Text *t, const Target *target, const TargetFact *fact)
{
	const void *field = (const char *)target + fact->offset;
	const TorusDims *dims = field;

	if (fact->type == FACT_REAL)
		text_real(t, *(const double *)field);
	else if (fact->type == FACT_COUNT)
		text_printf(t, "%lld", (long long)*(const int64_t *)field);
	else if (fact->type == FACT_YES)
		text_add(t, *(const bool *)field ? "yes" : "no");
	else if (fact->type == FACT_WORD)
		text_add(t, *(const char *const *)field);
	else if (fact->type == FACT_DIMS)
		text_numbers(t, dims->n, dims->v, "x");
	else
		text_slices(t, field);
}

/* ---- a file ------------------------------------------------------------------- */

typedef struct TargetFile {
	Session *session;
	int file;
	DiagCode code; /* of what is said of it */
	Target *target;
	Range found[NFACTS]; /* where each fact is, nowhere if it is not */
	bool right[NFACTS];
} TargetFile;

/* [begin, end) without the blanks around it. */
static Range
trimmed(const SourceFile *source, Range r)
{
	while (r.begin < r.end && strchr(" \t\r", source->text[r.begin]))
		r.begin++;
	while (r.end > r.begin && strchr(" \t\r", source->text[r.end - 1]))
		r.end--;
	return r;
}

static const TargetFact *
fact_named(TargetFile *in, Range where, const char *word)
{
	const char *words[NFACTS];

	for (int i = 0; i < NFACTS; i++)
		if (strcmp(words[i] = target_facts[i].name, word) == 0)
			return &target_facts[i];
	diag(in->session, in->code, where, "there is no fact '%s' of a target", word);
	const char *near = rt_nearest_word(word, words, NFACTS);
	if (near)
		diag_note(in->session, nowhere, "did you mean %s?", near);
	return NULL;
}

static void
read_line(TargetFile *in, Range line)
{
	Session *s = in->session;
	const SourceFile *source = source_file(s, in->file);
	const char *text = source->text + line.begin;
	size_t n = (size_t)(line.end - line.begin);
	const char *comment = memchr(text, '#', n);
	double smallest, largest;

	if (comment)
		line.end = line.begin + (int)(comment - text);
	line = trimmed(source, line);
	if (line.begin == line.end)
		return;
	const char *equals =
		memchr(source->text + line.begin, '=', (size_t)(line.end - line.begin));
	if (!equals) {
		diag(s, in->code, line, "a line is written fact = value");
		return;
	}
	Range name = line, value = line;
	name.end = (int)(equals - source->text);
	value.begin = name.end + 1;
	name = trimmed(source, name);
	value = trimmed(source, value);
	const TargetFact *fact = fact_named(in, name, source_text(s, s->arena, name));
	if (!fact)
		return;
	Range *found = &in->found[fact - target_facts];
	const char *word = source_text(s, s->arena, value);
	bool again = found->file != 0;
	if (again) {
		diag(s, in->code, name, "%s is there twice", fact->name);
		diag_note(s, *found, "the first");
	} else if (!read_fact(s, fact, word, (char *)in->target + fact->offset, &smallest,
			   &largest)) {
		diag(s, in->code, value, "%s is %s, not '%s'", fact->name,
			fact_types[fact->type], word);
	} else if (smallest < fact->low || largest > fact->high) {
		diag(s, in->code, value, "%s is from %g to %g%s%s", fact->name, fact->low,
			fact->high, fact->unit ? " " : "", fact->unit ? fact->unit : "");
	} else {
		in->right[fact - target_facts] = true;
	}
	*found = name;
}

/* The line of a fact, if it says what it may. */
static const Range *
right_line(const TargetFile *in, size_t offset)
{
	for (int i = 0; i < NFACTS; i++)
		if (target_facts[i].offset == offset)
			return in->right[i] ? &in->found[i] : NULL;
	die("no such fact of a target");
}

static void
check_slices(TargetFile *in, const Range *line, const Slices *slices)
{
	Session *s = in->session;

	for (int i = 0; line && i < slices->n; i++) {
		const char *fault = dims_fault(in->target, &slices->v[i], s->arena);
		if (fault)
			diag(s, in->code, *line, "slice %s", fault);
	}
}

/* What lines say of each other: slices are as large as the pod at most. */
static void
check_pod(TargetFile *in)
{
	Target *target = in->target;
	const TorusDims *pod = &target->pod;
	const Range *line = right_line(in, offsetof(Target, pod_chips));
	int64_t chips = 1;
	Text t = {0};

	if (!line || !right_line(in, offsetof(Target, pod)))
		return;
	for (int i = 0; i < pod->n; i++)
		if (!mul_i64(chips, pod->v[i], &chips))
			chips = INT64_MAX;
	if (target->pod_chips > chips) {
		text_numbers(&t, pod->n, pod->v, "x");
		diag(in->session, in->code, *line,
			"pod_chips is %lld, but a pod of %s has %lld",
			(long long)target->pod_chips, t.s, (long long)chips);
		text_free(&t);
		target->pod_chips = chips;
	}
	check_slices(in, right_line(in, offsetof(Target, cloud_slices)), &target->cloud_slices);
	check_slices(in, right_line(in, offsetof(Target, ring_slices)), &target->ring_slices);
}

const Target *
target_read(Session *s, int file, DiagCode code, const char *name)
{
	const SourceFile *source = source_file(s, file);
	TargetFile in = {.session = s,
		.file = file,
		.code = code,
		.target = NEW(s->arena, Target)};
	int errors = diag_errors(s);

	for (int i = 0; i < source->nlines; i++) {
		int end = i + 1 < source->nlines ? source->line_starts[i + 1] - 1
						 : source->length;
		read_line(&in, (Range){file, i + 1, source->line_starts[i], end});
	}
	for (int i = 0; i < NFACTS; i++)
		if (!in.found[i].file)
			diag(s, code, (Range){.file = file},
				"%s is missing: %s; --print-target=v5e prints a file to start "
				"from",
				target_facts[i].name, target_facts[i].sentence);
	in.target->name = name;
	in.target->text = source->text;
	check_pod(&in);
	return diag_errors(s) == errors ? in.target : NULL;
}

/* ---- the built-in ones ---------------------------------------------------------- */

static const struct {
	const char *name, *text;
} built_in[] = {
#include "targets.inc"
};
enum { NTARGETS = sizeof built_in / sizeof *built_in };

int
target_count(void)
{
	return NTARGETS;
}

/* Read when first asked for, and there until the end. */
const Target *
target_at(int i)
{
	static Target targets[NTARGETS];
	static Session *session;

	if (targets[i].name)
		return &targets[i];
	if (!session)
		session = session_new();
	int file = source_add_text(session, built_in[i].name, built_in[i].text,
		(int)strlen(built_in[i].text));
	const Target *read = target_read(session, file, DIAG_target_file, built_in[i].name);
	if (!read)
		die("the built-in target %s is not right", built_in[i].name);
	targets[i] = *read;
	targets[i].built_in = true;
	return &targets[i];
}

const Target *
target_by_name(const char *name)
{
	for (int i = 0; i < NTARGETS; i++)
		if (!strcmp(built_in[i].name, name))
			return target_at(i);
	return NULL;
}

const Target *
target_default(void)
{
	return target_by_name("v5e");
}

/*
 * variant.c - a program otherwise than on the command line, for --sweep, --versus and
 * checkpoints.c.
 *
 * Its options are a copy of the command line's in which a field or two are otherwise, so
 * that none that shapes a program is forgotten.
 */
#include <string.h>

#include "driver.h"
#include "hlo/hlo.h"

/* Of thousands of variants what each pass leaves is not looked at, but what all of them do:
   a defect of one is seen in the whole program or in that of one device. */
static const PipelineOptions unverified = {.verified = true, .count_least = true};

static bool
well_run(Module *m, Level level)
{
	if (!pipeline_run(m, level, &unverified))
		return false;
	if (!module_verify(m, m->session->err))
		die("a variant of the program is not well-formed");
	return true;
}

static bool
take_for_checkpoint(Module *m, const Place *place, int64_t trips)
{
	return trips > 0 ? module_checkpoint_trips(m, place, trips)
			 : module_checkpoint_lines(m, place);
}

Module *
variant(Session *s, int file, const Options *o)
{
	Module *m = program_compile(s, file, o);

	if (m && o->again.path && !take_for_checkpoint(m, &o->again, o->trips_again))
		return NULL;
	if (!m || !pipeline_accept(m))
		return NULL;
	program_ask(m, o);
	if (!pipeline_run(m, L_sharded, &unverified))
		return NULL;
	m->unnamed = o->measured && !o->strict;
	if (!well_run(m, L_resharded))
		return NULL;
	if (o->strict)
		tell_transfers(m, &(RemarkOptions){.strict = true});
	bool good = !diag_errors(s) && well_run(m, L_scheduled);
	return good && !diag_errors(s) ? m : NULL;
}

void
override(Arena *a, Override **list, int *n, Override one)
{
	Override *copy = NEW_ARRAY(a, Override, *n + 1);
	int kept = 0;

	for (int i = 0; i < *n; i++)
		if (strcmp((*list)[i].name, one.name) != 0)
			copy[kept++] = (*list)[i];
	copy[kept++] = one;
	*list = copy;
	*n = kept;
}

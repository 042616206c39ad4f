/*
 * versus.c - the other program of --emit=report: another file, or this one with other
 * sizes of the mesh or another target.
 */
#include "driver.h"
#include "memory/plan.h"

Module *
variant(Session *s, int file, const Options *o, const FrontOptions *front)
{
	PipelineOptions pipeline = {0};
	Module *m = program_compile(s, file, o, front);
	bool good = m && pipeline_accept(m) && pipeline_run(m, L_scheduled, &pipeline);

	return good && !diag_errors(s) ? m : NULL;
}

bool
versus_wanted(const Options *o)
{
	return o->versus || o->nversus_axes || o->versus_target;
}

const char *
versus_title(const Options *o, Arena *a)
{
	Text t = {0};

	text_add(&t, o->versus ? o->versus : "");
	for (int i = 0; i < o->nversus_axes; i++)
		text_printf(&t, "%s%s=%s", t.n ? " " : "", o->versus_axes[i].name,
			o->versus_axes[i].text);
	if (o->versus_target)
		text_printf(&t, "%s%s", t.n ? " on " : "", o->versus_target);
	return text_take(&t, a);
}

/* What is given to this program is given to another file only where it is asked for. */
static FrontOptions
other_options(const Options *o)
{
	FrontOptions other = {.imports = o->front.imports, .nimports = o->front.nimports};

	if (!o->versus)
		other = o->front;
	if (o->nversus_axes) {
		other.axes = o->versus_axes;
		other.naxes = o->nversus_axes;
	}
	if (o->versus_target)
		other.target = o->versus_target;
	return other;
}

/* Of the kind that the other program's are, so that the status is theirs. */
static DiagCode
fault_of(const Session *other)
{
	int status = diag_status(other);

	return status == EXIT_USAGE ? DIAG_usage
		: status == EXIT_IO ? DIAG_unreadable
				    : DIAG_versus;
}

bool
versus_cost(Compilation *c, Text *t)
{
	const Options *o = c->options;
	const SourceFile *this = source_file(c->session, c->file);
	Session *s = session_new();
	FrontOptions front = other_options(o);

	s->err = c->session->err;
	s->json = c->session->json;
	s->color = c->session->color;
	s->width = c->session->width;
	diag_flush(c->session);
	int file = o->versus ? source_open(s, o->versus, nowhere)
			     : source_add_text(s, this->path, this->text, this->length);
	const Options none = {0};
	Module *m = file ? variant(s, file, o->versus ? &none : o, &front) : NULL;
	const Timeline *timeline = m ? timeline_build(m, m->arena) : NULL;
	bool good = timeline && !timeline_is_endless(timeline);
	if (good)
		emit_cost(timeline, plan_build(m), "folded", t);
	else if (timeline)
		diag(c->session, DIAG_too_long, nowhere, "%s: %s",
			versus_title(o, c->session->arena), TOO_LONG);
	else
		diag(c->session, fault_of(s), nowhere,
			"what the report is compared with, %s, cannot be compiled",
			versus_title(o, c->session->arena));
	session_free(s);
	return good;
}

/*
 * versus.c - the other program of --emit=report: another file, or this one with other
 * sizes of the mesh or another target.
 */
#include "driver.h"
#include "memory/plan.h"

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

/* All is asked of the other program that is asked of this, but for what --versus-* says. */
static Options
other_options(const Options *o, Arena *a)
{
	Options other = *o;

	if (o->versus)
		other.input = o->versus;
	if (o->versus_target)
		other.front.target = o->versus_target;
	for (int i = 0; i < o->nversus_axes; i++)
		override(a, &other.front.axes, &other.front.naxes, o->versus_axes[i]);
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
	Options other = other_options(o, s->arena);

	s->err = c->session->err;
	s->json = c->session->json;
	s->color = c->session->color;
	s->width = c->session->width;
	diag_flush(c->session);
	int file = o->versus ? source_open(s, o->versus, nowhere)
			     : source_add_text(s, this->path, this->text, this->length);
	bool suits = file && program_suits(s, file, &other);
	Module *m = suits ? variant(s, file, &other) : NULL;
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

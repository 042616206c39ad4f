/*
 * precedents.c - what was found out of ops and moves, for programs on one mesh: rules, plans
 * of moves, how an op is partitioned.
 *
 * A program is planned several times: to ask what pays, and otherwise, for advice.  Most of
 * its ops are then what they were.
 */
#include "shard/shard.h"

Precedents *
module_precedents(Module *m)
{
	Arena *a = m->session->lasting;
	Precedents *known = m->precedents;

	if (known)
		return known;
	known = NEW(a, Precedents);
	*known = (Precedents){.arena = a,
		.resharder = resharder_new(a, &m->mesh),
		.rules = rule_book_new(a),
		.choices = lookup_new(a)};
	m->precedents = known;
	return known;
}

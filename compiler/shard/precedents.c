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
	*known =
		(Precedents){a, resharder_new(a, &m->mesh), rule_book_new(a), lookup_new(a), 0};
	m->precedents = known;
	return known;
}

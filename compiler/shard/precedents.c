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
	Precedents *known = m->precedents;

	if (known)
		return known;
	known = NEW(m->arena, Precedents);
	*known = (Precedents){m->arena, resharder_new(m->arena, &m->mesh),
		rule_book_new(m->arena), lookup_new(m->arena), 0};
	m->precedents = known;
	return known;
}

/*
 * rule_book.c - equal ops share one rule.
 *
 * A rule depends on the op's kind, attributes and types alone (and the rule
 * string of an extern function), so a deep network has a few dozen.  Open addressing over a power of two of pages, at
 * most half full; the first op with a rule stands for those that follow.
 */
#include <string.h>
#include "ir/ir.h"

typedef struct Page {
	uint64_t hash;
	const Op *op;		/* NULL: free */
	const Rule *rule;
} Page;

struct RuleBook {
	Arena *arena;
	Page *pages;
	size_t npages, used;
};

RuleBook *
rule_book_new(Arena *a)
{
	RuleBook *b = NEW(a, RuleBook);

	b->arena = a;
	b->npages = 64;
	b->pages = NEW_ARRAY(a, Page, b->npages);
	return b;
}

static uint64_t
mix(uint64_t h, int64_t v)
{
	h = (h ^ (uint64_t)v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

static uint64_t
hash_of(const Op *op)
{
	uint64_t h = mix(mix(op->kind, op->has), op->noperands);

	for (uint32_t has = op->has, i = 0; has; has &= has - 1, i++)
		for (int j = 0; j < op->attrs[i]->n; j++)
			h = mix(h, op->attrs[i]->v[j]);
	for (int i = 0; i < op->noperands + op->nresults; i++) {
		const Type *t = &rule_tensor(op, i)->type;
		h = mix(h, t->rank);
		for (int d = 0; d < t->rank; d++)
			h = mix(h, t->dims[d]);
	}
	return h;
}

static bool
same_attrs(const Op *a, const Op *b)
{
	if (a->has != b->has)
		return false;
	for (uint32_t has = a->has, i = 0; has; has &= has - 1, i++) {
		const Ints *x = a->attrs[i], *y = b->attrs[i];
		if (x != y && (x->n != y->n || memcmp(x->v, y->v,
				sizeof x->v[0] * (size_t)x->n)))
			return false;
	}
	return true;
}

static bool
same_rule(const Op *a, const Op *b)
{
	if (a->kind != b->kind || a->noperands != b->noperands ||
	    a->nresults != b->nresults || !same_attrs(a, b))
		return false;
	if (a->external && strcmp(a->external->rule, b->external->rule))
		return false;
	for (int i = 0; i < a->noperands + a->nresults; i++)
		if (!type_equal(&rule_tensor(a, i)->type,
				&rule_tensor(b, i)->type))
			return false;
	return true;
}

/* The page of such an op, or the free one where it would go. */
static Page *
find_page(const RuleBook *b, const Op *op, uint64_t hash)
{
	for (size_t i = hash;; i++) {
		Page *page = &b->pages[i & (b->npages - 1)];
		if (!page->op || (page->hash == hash &&
				same_rule(page->op, op)))
			return page;
	}
}

static void
grow(RuleBook *b)
{
	Page *old = b->pages, *end = old + b->npages;

	b->npages *= 2;
	b->pages = NEW_ARRAY(b->arena, Page, b->npages);
	for (Page *page = old; page < end; page++)
		if (page->op)
			*find_page(b, page->op, page->hash) = *page;
}

const Rule *
rule_book_get(RuleBook *b, const Op *op)
{
	if (ops[op->kind].blocked)
		return NULL;
	if (b->used * 2 == b->npages)
		grow(b);
	uint64_t hash = hash_of(op);
	Page *page = find_page(b, op, hash);
	if (!page->op) {
		*page = (Page){hash, op, op_rule(b->arena, op)};
		b->used++;
	}
	return page->rule;
}

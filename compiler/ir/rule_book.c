/*
 * rule_book.c - equal ops share one rule.
 *
 * A rule depends on the op's kind, attributes and types alone (and the rule
 * string of an extern function), so a deep network has a few dozen.  The first
 * op with a rule stands for those that follow.
 */
#include <string.h>
#include "ir/ir.h"

typedef struct Page {
	const Op *op;
	const Rule *rule;
} Page;

struct RuleBook {
	Arena *arena;
	Lookup *pages;
};

RuleBook *
rule_book_new(Arena *a)
{
	RuleBook *book = NEW(a, RuleBook);

	book->arena = a;
	book->pages = lookup_new(a);
	return book;
}

bool
op_same_rule(const Op *a, const Op *b)
{
	if (a->kind != b->kind || a->noperands != b->noperands || a->nresults != b->nresults
		|| a->has != b->has)
		return false;
	for (uint64_t has = a->has, i = 0; has; has &= has - 1, i++) {
		const Ints *x = a->attrs[i], *y = b->attrs[i];
		if (x != y
			&& (x->n != y->n || memcmp(x->v, y->v, sizeof x->v[0] * (size_t)x->n)))
			return false;
	}
	if (a->external
		&& (strcmp(a->external->rule, b->external->rule)
			|| !*a->external->library != !*b->external->library))
		return false;
	for (int i = 0; i < a->noperands + a->nresults; i++)
		if (!type_equal(&rule_tensor(a, i)->type, &rule_tensor(b, i)->type))
			return false;
	return true;
}

uint64_t
op_rule_hash(const Op *op)
{
	uint64_t hash = hash_mix(hash_mix(op->kind, (int64_t)op->has), op->noperands);

	for (uint64_t has = op->has, i = 0; has; has &= has - 1, i++)
		for (int j = 0; j < op->attrs[i]->n; j++)
			hash = hash_mix(hash, op->attrs[i]->v[j]);
	for (int i = 0; i < op->noperands + op->nresults; i++) {
		const Type *type = &rule_tensor(op, i)->type;
		hash = hash_mix(hash, type->rank);
		for (int d = 0; d < type->rank; d++)
			hash = hash_mix(hash, type->dims[d]);
	}
	return hash;
}

static bool
same_page(const void *page, const void *op)
{
	return op_same_rule(((const Page *)page)->op, op);
}

/* As it is now: attributes may be added to the op, and its tensors become shards. */
static const Op *
op_for_page(Arena *a, const Op *op)
{
	int ntensors = op->noperands + op->nresults, nattrs = __builtin_popcountll(op->has);
	Op *copy = arena_copy(a, op, sizeof *op);
	Value **tensors = NEW_ARRAY(a, Value *, ntensors + 1);

	copy->attrs = NEW_ARRAY(a, const Ints *, nattrs + 1);
	for (int i = 0; i < nattrs; i++) {
		size_t bytes = sizeof(Ints) + sizeof(int64_t) * (size_t)op->attrs[i]->n;
		copy->attrs[i] = arena_copy(a, op->attrs[i], bytes);
	}
	for (int i = 0; i < ntensors; i++) {
		tensors[i] = NEW(a, Value);
		tensors[i]->type = rule_tensor(op, i)->type;
	}
	copy->operands = tensors;
	copy->results = tensors + op->noperands;
	return copy;
}

const Rule *
rule_book_get(RuleBook *book, const Op *op)
{
	if (ops[op->kind].blocked)
		return NULL;
	uint64_t hash = op_rule_hash(op);
	Page *page = lookup_find(book->pages, hash, same_page, op);
	if (!page) {
		page = NEW(book->arena, Page);
		*page = (Page){op_for_page(book->arena, op), op_rule(book->arena, op)};
		lookup_add(book->pages, hash, page);
	}
	return page->rule;
}

/*
 * tree.c - what the grammar's actions make nodes by, where that is more than to
 * list the parts.
 *
 * Depth is counted as trees are built, so that whoever walks one may recurse.
 */
#include "tree.h"

/* True, after a message, when `depth` is more than is allowed. */
static bool
too_deep(Parser *p, int depth, Range r)
{
	if (depth <= MAX_NESTING)
		return false;
	if (!p->too_deep)
		diag(p->session, DIAG_nesting, r,
			"nested too deeply: at most %d levels; name a part of it with let",
			MAX_NESTING);
	p->too_deep = true;
	p->program->whole = false;
	return true;
}

/* The depth of what is around a part: more than `depth`, if there is such a part. */
static int
deeper(int depth, const Expr *part)
{
	return part != NULL && part->depth >= depth ? part->depth + 1 : depth;
}

/* ---- lists */

List
list_none(void)
{
	return (List){0, NULL};
}

List
list_one(Parser *p, void *item)
{
	return list_add(p, list_none(), item);
}

List
list_add(Parser *p, List l, void *item)
{
	APPEND(p->session->arena, l.v, l.n, item);
	return l;
}

List
list_join(Parser *p, List l, List more)
{
	for (int i = 0; i < more.n; i++)
		l = list_add(p, l, more.v[i]);
	return l;
}

/* ---- expressions */

Expr *
expr_new(Parser *p, Expr e)
{
	e.depth = deeper(deeper(1, e.left), e.right);
	for (int i = 0; i < e.args.n; i++) {
		const Index *index = e.args.v[i];
		if (e.kind == E_tuple)
			e.depth = deeper(e.depth, e.args.v[i]);
		else if (e.kind == E_index)
			e.depth = deeper(deeper(deeper(e.depth, index->start), index->stop),
				index->step);
		else
			e.depth = deeper(e.depth, ((Arg *)e.args.v[i])->value);
	}
	if (too_deep(p, e.depth, e.range))
		e = (Expr){.kind = E_error, .range = e.range, .depth = 1};
	return arena_copy(p->session->arena, &e, sizeof e);
}

/* Without the parentheses that its operands may stand in. */
Expr *
expr_binary(Parser *p, Expr *left, Operator op, Expr *right)
{
	return expr_new(p,
		(Expr){.kind = E_binary,
			.range = range_join(left->range, right->range),
			.op = op,
			.left = left,
			.right = right});
}

/* An operator of another language: a hint instead of a syntax error. */
Expr *
expr_habit(Parser *p, Range r, Range at, const char *hint)
{
	diag(p->session, DIAG_habit, at, "%s", hint);
	return expr_new(p, (Expr){.kind = E_error, .range = r});
}

/* ---- types */

/* Of `@X`, `!1`, `pad`, `replicated` and `unreduced` there is one each. */
static void
said_before(Parser *p, bool before, Range at, const char *what)
{
	if (before)
		diag(p->session, p->code, at, "%s", what);
}

DimSpec *
dim_placed(Parser *p, DimSpec *dim, Range r, Range at, List axes, bool open)
{
	said_before(p, dim->placed, at,
		"this dim has a placement already; several axes are written @(X,Y)");
	dim->range = r;
	dim->placed = true;
	dim->axes = axes;
	dim->open = open;
	return dim;
}

DimSpec *
dim_priority(Parser *p, DimSpec *dim, Range r, Range at, int64_t priority)
{
	said_before(p, dim->priority_range.file != 0, at, "this dim has a priority already");
	dim->range = r;
	dim->priority = priority;
	dim->priority_range = at;
	return dim;
}

DimSpec *
dim_pad(Parser *p, DimSpec *dim, Range r, Range at)
{
	said_before(p, dim->pad, at, "this dim has a pad already");
	dim->range = r;
	dim->pad = true;
	dim->pad_range = at;
	return dim;
}

TypeSpec *
type_open(TypeSpec *type, Range r)
{
	type->range = r;
	type->open = true;
	return type;
}

TypeSpec *
type_misplaced(Parser *p, TypeSpec *type, Range at)
{
	diag(p->session, DIAG_habit, at,
		"a placement stands in the type, behind its dim: f32[B@X, D]; behind the type, "
		"'@?' opens every dim");
	return type;
}

TypeSpec *
type_replicated(Parser *p, TypeSpec *type, Range r, Range at, List axes)
{
	said_before(p, type->replicated, at,
		"replicated(X,Y) names several axes; this type has one already");
	type->range = r;
	type->replicated = true;
	type->replicated_axes = axes;
	return type;
}

TypeSpec *
type_unreduced(Parser *p, TypeSpec *type, Range r, Range at, List axes)
{
	said_before(p, type->unreduced, at,
		"unreduced(X,Y) names several axes; this type has one already");
	type->range = r;
	type->unreduced = true;
	type->unreduced_axes = axes;
	type->unreduced_range = at;
	return type;
}

/* ---- statements */

static bool
is_guessed(const Parser *p, Range r)
{
	for (int i = p->nguesses; i-- > 0 && p->guesses[i] >= r.begin;)
		if (p->guesses[i] <= r.end)
			return true;
	return false;
}

static void
lose_value(Parser *p, Expr **x)
{
	if (*x != NULL)
		*x = expr_new(p, (Expr){.kind = E_error, .range = (*x)->range});
}

/* Where a bracket was put in or left out, the values may not be what was meant; of a
   loop or a branch those before its block. */
static void
lose_guessed(Parser *p, Stmt *stmt)
{
	Range before = stmt->range;
	if (stmt->word.file != 0)
		before.end = (stmt->stop != NULL ? stmt->stop : stmt->value)->range.end;
	if (!is_guessed(p, before))
		return;
	for (int i = 0; i < stmt->targets.n; i++) {
		Param *target = stmt->targets.v[i];
		if (target->type != NULL && is_guessed(p, target->type->range))
			target->type = NULL;
	}
	if (stmt->target != NULL && stmt->target->kind == E_index)
		stmt->target = stmt->target->left;
	lose_value(p, &stmt->value);
	lose_value(p, &stmt->stop);
	for (int i = 0; i < stmt->values.n; i++)
		lose_value(p, (Expr **)&stmt->values.v[i]);
}

Stmt *
stmt_new(Parser *p, Stmt s)
{
	const List parts[] = {s.body, s.otherwise};
	s.depth = 1;
	lose_guessed(p, &s);
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < parts[k].n; i++) {
			const Stmt *part = parts[k].v[i];
			if (part->depth >= s.depth)
				s.depth = part->depth + 1;
		}
	if (too_deep(p, s.depth, s.word))
		s = (Stmt){.kind = S_lost, .range = s.range, .depth = 1};
	return arena_copy(p->session->arena, &s, sizeof s);
}

Stmt *
stmt_assign(Parser *p, Range r, Expr *target, Expr *value)
{
	bool assignable = target->kind == E_name
		|| (target->kind == E_index && target->left->kind == E_name)
		|| target->kind == E_error;
	if (!assignable && !p->guessed)
		diag(p->session, p->code, target->range,
			target->kind == E_tuple
				? "a tuple cannot be assigned to; several names are bound with "
				  "let: let (a, b) = f(x);"
				: "this cannot be assigned to; a var can: acc = ..., acc[i, :] "
				  "= ...");
	if (target->kind == E_tuple) /* it may bind these names */
		return stmt_new(p, (Stmt){.kind = S_lost, .range = r});
	return stmt_new(p,
		(Stmt){.kind = S_assign, .range = r, .target = target, .value = value});
}

/* What is bound in each round, as in `for (a, b)`, becomes the loop. */
Stmt *
for_head(Stmt *bound, Range word, bool unroll, Name index)
{
	bound->kind = S_for;
	bound->word = word;
	bound->unroll = unroll;
	bound->index = index;
	return bound;
}

Stmt *
stmt_for(Parser *p, Stmt *head, Range r, Expr *value, Expr *stop, List body)
{
	head->range = r;
	head->value = value;
	head->stop = stop;
	head->body = body;
	return stmt_new(p, *head);
}

/* ---- declarations */

/* A type into which a comma was put may not be what was meant. */
static void
lose_guessed_types(Parser *p, FnDecl *fn)
{
	for (int i = 0; i < fn->params.n; i++) {
		Param *param = fn->params.v[i];
		if (param->type == NULL || !is_guessed(p, param->type->range))
			continue;
		param->type = NULL;
		param->lost = p->part_lost = true;
	}
	if (fn->has_results && is_guessed(p, fn->results_range)) {
		fn->has_results = false;
		fn->results = list_none();
		p->part_lost = true;
	}
}

FnDecl *
fn_signature(Parser *p, FnDecl fn)
{
	lose_guessed_types(p, &fn);
	fn.lost = p->part_lost;
	p->part_lost = false;
	return arena_copy(p->session->arena, &fn, sizeof fn);
}

/* `block` is where the body stands, up to its closing brace. */
FnDecl *
fn_body(Parser *p, FnDecl *fn, Name same_as, Name gradient, List body, Range block)
{
	fn->same_as = same_as;
	fn->gradient = gradient;
	fn->unclosed = p->unclosed;
	p->unclosed = false;
	fn->body = body;
	fn->end = block;
	fn->end.begin = block.end > 0 ? block.end - 1 : 0;
	return fn;
}

FnDecl *
fn_extern(FnDecl *fn, Name symbol, Name library, Name rule, Name gradient)
{
	fn->gradient = gradient;
	fn->symbol = symbol;
	fn->library = library;
	fn->rule = rule;
	return fn;
}

Decl *
decl_checkpoint(Decl *d)
{
	if (d != NULL)
		d->fn->checkpoint = true;
	return d;
}

Decl *
decl_mode(Decl *d, Range r, FnMode mode, List axes)
{
	if (d == NULL) /* its signature is lost */
		return NULL;
	d->fn->mode = mode;
	d->fn->mode_range = r;
	d->fn->manual_axes = axes;
	return d;
}

/*
 * tree.c - the constructors that the grammar's actions call; each shows its
 * production in shd.y by its name.
 *
 * Depth is counted as trees are built, so that whoever walks one may recurse.
 */
#include "tree.h"

#define NODE(parser, type) NEW((parser)->session->arena, type)

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
	return true;
}

static int
deeper(int depth, const Expr *e)
{
	return e != NULL && e->depth >= depth ? e->depth + 1 : depth;
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

static Expr *
expr_new(Parser *p, ExprKind kind, Range r)
{
	Expr *e = NODE(p, Expr);
	e->kind = kind;
	e->range = r;
	e->depth = 1;
	return e;
}

/* Sets the depth from the parts; past the limit the parts are dropped. */
static Expr *
expr_nested(Parser *p, Expr *e)
{
	e->depth = deeper(deeper(1, e->left), e->right);
	if (!too_deep(p, e->depth, e->range))
		return e;
	return expr_new(p, E_error, e->range);
}

Expr *
expr_name(Parser *p, Name n)
{
	Expr *e = expr_new(p, E_name, n.range);
	e->name = n.s;
	return e;
}

Expr *
expr_int(Parser *p, Range r, int64_t value)
{
	Expr *e = expr_new(p, E_int, r);
	e->integer = value;
	return e;
}

Expr *
expr_float(Parser *p, Range r, double value)
{
	Expr *e = expr_new(p, E_float, r);
	e->real = value;
	return e;
}

Expr *
expr_bool(Parser *p, Range r, bool value)
{
	Expr *e = expr_new(p, E_bool, r);
	e->integer = value;
	return e;
}

Expr *
expr_string(Parser *p, Name text)
{
	Expr *e = expr_new(p, E_string, text.range);
	e->name = text.s;
	return e;
}

Expr *
expr_single_quoted(Parser *p, Name text)
{
	Expr *e = expr_string(p, text);
	e->single_quoted = true;
	return e;
}

Expr *
expr_unary(Parser *p, Range r, Operator op, Range op_range, Expr *x)
{
	Expr *e = expr_new(p, E_unary, r);
	e->op = op;
	e->op_range = op_range;
	e->left = x;
	return expr_nested(p, e);
}

Expr *
expr_binary(Parser *p, Expr *left, Operator op, Range op_range, Expr *right)
{
	Expr *e = expr_new(p, E_binary, range_join(left->range, right->range));
	e->op = op;
	e->op_range = op_range;
	e->left = left;
	e->right = right;
	return expr_nested(p, e);
}

/* An operator of another language: a hint instead of a syntax error. */
Expr *
expr_habit(Parser *p, Expr *left, Range op_range, Expr *right, const char *hint)
{
	diag(p->session, DIAG_habit, op_range, "%s", hint);
	return expr_new(p, E_error, range_join(left->range, right->range));
}

static Expr *
expr_with_args(Parser *p, Expr *e, List args)
{
	e->args = args;
	expr_nested(p, e);
	for (int i = 0; i < args.n; i++)
		e->depth = deeper(e->depth, ((Arg *)args.v[i])->value);
	if (!too_deep(p, e->depth, e->range))
		return e;
	return expr_new(p, E_error, e->range);
}

Expr *
expr_call(Parser *p, Range r, Expr *callee, List args)
{
	Expr *e = expr_new(p, E_call, r);
	e->left = callee;
	return expr_with_args(p, e, args);
}

Expr *
expr_cast(Parser *p, Range r, DType dtype, List args)
{
	Expr *e = expr_new(p, E_cast, r);
	e->dtype = dtype;
	return expr_with_args(p, e, args);
}

Expr *
expr_index(Parser *p, Range r, Expr *x, List items)
{
	Expr *e = expr_new(p, E_index, r);
	e->left = x;
	e->args = items;
	e->depth = deeper(1, x);
	for (int i = 0; i < items.n; i++) {
		const Index *index = items.v[i];
		e->depth = deeper(e->depth, index->start);
		e->depth = deeper(e->depth, index->stop);
		e->depth = deeper(e->depth, index->step);
	}
	return too_deep(p, e->depth, r) ? expr_new(p, E_error, r) : e;
}

Expr *
expr_member(Parser *p, Range r, Expr *x, Name name)
{
	Expr *e = expr_new(p, E_member, r);
	e->left = x;
	e->name = name.s;
	e->name_range = name.range;
	return expr_nested(p, e);
}

Expr *
expr_tuple(Parser *p, Range r, List items)
{
	Expr *e = expr_new(p, E_tuple, r);
	e->args = items;
	for (int i = 0; i < items.n; i++)
		e->depth = deeper(e->depth, items.v[i]);
	return too_deep(p, e->depth, r) ? expr_new(p, E_error, r) : e;
}

Expr *
expr_type(Parser *p, TypeSpec *type)
{
	Expr *e = expr_new(p, E_type, type->range);
	e->type = type;
	return e;
}

Arg *
arg_new(Parser *p, Range r, Name name, Expr *value)
{
	Arg *a = NODE(p, Arg);
	*a = (Arg){name, value, r};
	return a;
}

Index *
index_new(Parser *p, Range r, IndexKind kind, Expr *start, Expr *stop, Expr *step)
{
	Index *i = NODE(p, Index);
	*i = (Index){kind, start, stop, step, r};
	return i;
}

/* ---- types */

AxisSpec *
axis_spec(Parser *p, Range r, Name name, bool sub, int64_t pre, int64_t size)
{
	AxisSpec *a = NODE(p, AxisSpec);
	*a = (AxisSpec){name, sub, pre, size, r};
	return a;
}

DimSpec *
dim_spec(Parser *p, Range r, Expr *size)
{
	DimSpec *dim = NODE(p, DimSpec);
	dim->range = r;
	dim->size = size;
	return dim;
}

DimSpec *
dim_placed(Parser *p, DimSpec *dim, Range r, Range at, List axes, bool open)
{
	if (dim->placed)
		diag(p->session, p->code, at,
			"this dim has a placement already; several axes are written @(X,Y)");
	dim->range = r;
	dim->placed = true;
	dim->placement_range = at;
	dim->axes = axes;
	dim->open = open;
	return dim;
}

/* Of `!1`, `pad`, `replicated` and `unreduced` a type has one each. */
static void
said_before(Parser *p, bool before, Range at, const char *what)
{
	if (before)
		diag(p->session, p->code, at, "%s already", what);
}

DimSpec *
dim_priority(Parser *p, DimSpec *dim, Range r, Range at, int64_t priority)
{
	said_before(p, dim->priority_range.file != 0, at, "this dim has a priority");
	dim->range = r;
	dim->priority = priority;
	dim->priority_range = at;
	return dim;
}

DimSpec *
dim_pad(Parser *p, DimSpec *dim, Range r, Range at)
{
	said_before(p, dim->pad, at, "this dim has a pad");
	dim->range = r;
	dim->pad = true;
	dim->pad_range = at;
	return dim;
}

TypeSpec *
type_spec(Parser *p, Range r)
{
	TypeSpec *type = NODE(p, TypeSpec);
	type->range = r;
	return type;
}

TypeSpec *
type_named(Parser *p, Name name)
{
	TypeSpec *type = type_spec(p, name.range);
	type->name = name;
	return type;
}

TypeSpec *
type_with_dtype(TypeSpec *type, DType dtype, Range r)
{
	type->has_dtype = true;
	type->dtype = dtype;
	type->dtype_range = r;
	return type;
}

TypeSpec *
type_with_dims(TypeSpec *type, List dims, Range r)
{
	type->range = r;
	type->has_dims = true;
	type->dims = dims;
	type->dims_range = r;
	return type;
}

TypeSpec *
type_open(TypeSpec *type, Range r)
{
	type->range = r;
	type->open = true;
	return type;
}

TypeSpec *
type_replicated(Parser *p, TypeSpec *type, Range r, Range at, List axes)
{
	said_before(p, type->replicated, at,
		"replicated(X,Y) names several axes; this type has one");
	type->range = r;
	type->replicated = true;
	type->replicated_axes = axes;
	type->replicated_range = at;
	return type;
}

TypeSpec *
type_unreduced(Parser *p, TypeSpec *type, Range r, Range at, List axes)
{
	said_before(p, type->unreduced, at,
		"unreduced(X,Y) names several axes; this type has one");
	type->range = r;
	type->unreduced = true;
	type->unreduced_axes = axes;
	type->unreduced_range = at;
	return type;
}

/* ---- statements */

Param *
param_new(Parser *p, Range r, Name name, TypeSpec *type)
{
	Param *param = NODE(p, Param);
	*param = (Param){name, type, r};
	return param;
}

static Stmt *
stmt_new(Parser *p, StmtKind kind, Range r)
{
	Stmt *s = NODE(p, Stmt);
	s->kind = kind;
	s->range = r;
	s->depth = 1;
	return s;
}

Stmt *
stmt_let(Parser *p, Range r, StmtKind kind, List targets, bool tuple, Expr *value)
{
	Stmt *s = stmt_new(p, kind, r);
	s->targets = targets;
	s->tuple = tuple;
	s->value = value;
	return s;
}

Stmt *
stmt_assign(Parser *p, Range r, Expr *target, Expr *value)
{
	bool assignable = target->kind == E_name
		|| (target->kind == E_index && target->left->kind == E_name)
		|| target->kind == E_error;
	if (!assignable)
		diag(p->session, p->code, target->range,
			"this cannot be assigned to; a var can: acc = ..., acc[i, :] = ...");
	Stmt *s = stmt_new(p, S_assign, r);
	s->target = target;
	s->value = value;
	return s;
}

Stmt *
stmt_expr(Parser *p, Range r, Expr *value)
{
	Stmt *s = stmt_new(p, S_expr, r);
	s->value = value;
	return s;
}

Stmt *
stmt_for(Parser *p, Range r, Range word, bool unroll, Name index, List targets, bool tuple)
{
	Stmt *s = stmt_new(p, S_for, r);
	s->word = word;
	s->unroll = unroll;
	s->index = index;
	s->targets = targets;
	s->tuple = tuple;
	return s;
}

Stmt *
stmt_over(Stmt *s, Expr *value, Expr *stop)
{
	s->value = value;
	s->stop = stop;
	return s;
}

Stmt *
stmt_if(Parser *p, Range r, Range word, StmtKind kind, Expr *condition)
{
	Stmt *s = stmt_new(p, kind, r);
	s->word = word;
	s->value = condition;
	return s;
}

static int
deepest(int depth, List body)
{
	for (int i = 0; i < body.n; i++) {
		const Stmt *s = body.v[i];
		if (s->depth >= depth)
			depth = s->depth + 1;
	}
	return depth;
}

Stmt *
stmt_bodies(Parser *p, Stmt *s, Range r, List body, List otherwise)
{
	s->range = r;
	s->depth = deepest(deepest(1, body), otherwise);
	if (too_deep(p, s->depth, s->word))
		return stmt_new(p, S_expr, r);
	s->body = body;
	s->otherwise = otherwise;
	return s;
}

Stmt *
stmt_return(Parser *p, Range r, List values)
{
	Stmt *s = stmt_new(p, S_return, r);
	s->values = values;
	return s;
}

Stmt *
stmt_expect(Parser *p, Range r, Name name, TypeSpec *type)
{
	Stmt *s = stmt_new(p, S_expect, r);
	s->target = expr_name(p, name);
	s->type = type;
	return s;
}

/* ---- declarations */

FnDecl *
fn_signature(Parser *p, Range r, Name name, List params)
{
	FnDecl *fn = NODE(p, FnDecl);
	fn->name = name;
	fn->range = r;
	fn->params = params;
	return fn;
}

FnDecl *
fn_results(FnDecl *fn, Range r, List results)
{
	fn->has_results = true;
	fn->results = results;
	fn->results_range = r;
	return fn;
}

static Decl *
decl_new(Parser *p, DeclKind kind, Range r)
{
	Decl *d = NODE(p, Decl);
	d->kind = kind;
	d->range = r;
	return d;
}

Decl *
decl_mesh(Parser *p, Range r, List axes, Name target)
{
	Decl *d = decl_new(p, DECL_mesh, r);
	d->axes = axes;
	d->target = target;
	return d;
}

Decl *
decl_dim(Parser *p, Range r, Name name, Expr *value)
{
	Decl *d = decl_new(p, DECL_dim, r);
	d->name = name;
	d->value = value;
	return d;
}

Decl *
decl_type(Parser *p, Range r, Name name, TypeSpec *type)
{
	Decl *d = decl_new(p, DECL_type, r);
	d->name = name;
	d->type = type;
	return d;
}

Decl *
decl_import(Parser *p, Range r, Name path)
{
	Decl *d = decl_new(p, DECL_import, r);
	d->name = path;
	return d;
}

Decl *
decl_fn(Parser *p, Range r, FnDecl *fn, List body, Range end)
{
	Decl *d = decl_new(p, DECL_fn, r);
	fn->body = body;
	fn->end = end;
	fn->end.begin = end.end > 0 ? end.end - 1 : 0;
	d->fn = fn;
	return d;
}

Decl *
decl_extern(Parser *p, Range r, FnDecl *fn, Name symbol, Name library, Name rule)
{
	Decl *d = decl_new(p, DECL_fn, r);
	fn->mode = FN_extern;
	fn->mode_range = r;
	fn->symbol = symbol;
	fn->library = library;
	fn->rule = rule;
	d->fn = fn;
	return d;
}

Decl *
decl_mode(Decl *d, Range r, FnMode mode, List axes)
{
	d->fn->mode = mode;
	d->fn->mode_range = r;
	d->fn->manual_axes = axes;
	return d;
}

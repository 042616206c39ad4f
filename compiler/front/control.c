/*
 * control.c - loops and branches: ops whose bodies are closed blocks.
 *
 *   var acc = x;                       while(0, x, W)
 *   for i in 0..4 {                      i < 4
 *     acc = matmul(acc, W);              i + 1, dot(acc, W), W
 *   }
 *
 * A loop carries its index, then the vars that it assigns, then what it only
 * reads.  A branch is given what it reads, and its results are the vars that
 * either side assigns.
 */
#include <inttypes.h>
#include <string.h>

#include "elaborate.h"

/* ---- vars that are assigned */

typedef struct Vars {
	int n;
	Symbol **v;
	const Expr *refused; /* the first name that is assigned to and is no var */
	const Expr *unknown; /* ... that is not declared before the body */
	bool broken;	     /* a var is assigned whose value is an error, or one is lost */
} Vars;

/* Does a statement of the body bind the name? */
static bool
binds(List body, const char *name)
{
	for (int i = 0; i < body.n; i++) {
		const Stmt *s = body.v[i];
		for (int k = 0; k < s->targets.n; k++) {
			const char *bound = ((const Param *)s->targets.v[k])->name.s;
			if (bound != NULL && strcmp(bound, name) == 0)
				return true;
		}
		if (binds(s->body, name) || binds(s->otherwise, name))
			return true;
	}
	return false;
}

/* The vars, that are there before the body, in the order of assignment: to a name,
   or to a part of it. */
static void
add_assigned(Elab *e, Vars *vars, List body)
{
	for (int i = 0; i < body.n; i++) {
		const Stmt *s = body.v[i];
		const Expr *to = s->target, *name = to;
		if (s->kind == S_assign && to->kind == E_index)
			name = to->left;
		Symbol *symbol = s->kind == S_assign && name->kind == E_name
			? symbol_local(e, name->name)
			: NULL;
		if (symbol != NULL && !symbol->is_var && vars->refused == NULL)
			vars->refused = name;
		if (symbol == NULL && s->kind == S_assign && name->kind == E_name
			&& vars->unknown == NULL)
			vars->unknown = name;
		bool var = symbol != NULL && symbol->is_var;
		bool skip = !var || symbol->item.kind != IT_tensor;
		vars->broken |= s->kind == S_lost || (var && skip);
		for (int k = 0; k < vars->n; k++)
			skip |= vars->v[k] == symbol;
		if (!skip)
			APPEND(e->arena, vars->v, vars->n, symbol);
		add_assigned(e, vars, s->body);
		add_assigned(e, vars, s->otherwise);
	}
}

/* Where a body is left, it thinks: by a return, or a word of another language. */
static void **
ends_early(List body)
{
	for (int i = 0; i < body.n; i++) {
		const Stmt *s = body.v[i];
		bool word = s->kind == S_expr && s->value->kind == E_name
			&& is_habit(s->value->name);
		if (s->kind == S_return || word)
			return &body.v[i];
		void **inside = ends_early(s->body);
		inside = inside != NULL ? inside : ends_early(s->otherwise);
		if (inside != NULL)
			return inside;
	}
	return NULL;
}

/* What a body declares is gone after it.  A var that is an error is no news. */
static bool
has_effect(Elab *e, const Stmt *stmt, const Vars *vars)
{
	if (vars->n > 0)
		return true;
	void **wrong = ends_early(stmt->body);
	if (wrong == NULL)
		wrong = ends_early(stmt->otherwise);
	if (wrong != NULL)
		run_block(e, (List){.v = wrong, .n = 1}); /* says why not */
	else if (vars->refused != NULL)
		assigned_var(e, vars->refused); /* likewise */
	else if (vars->unknown != NULL && !binds(stmt->body, vars->unknown->name)
		&& !binds(stmt->otherwise, vars->unknown->name))
		assigned_var(e, vars->unknown);
	else if (!vars->broken && !e->frame->lost)
		complain(e, DIAG_unused_value, stmt->word,
			"this has no effect: it assigns no var that is declared before it");
	return false;
}

static Item *
var_items(Elab *e, const Vars *vars)
{
	Item *items = NEW_ARRAY(e->arena, Item, vars->n + 1);
	for (int i = 0; i < vars->n; i++)
		items[i] = vars->v[i]->item;
	return items;
}

/* A mistake in a body may have left no value. */
static void
set_vars(const Vars *vars, const Item *items)
{
	for (int i = 0; i < vars->n; i++)
		vars->v[i]->item = item_tensor(items[i].range, items[i].value);
}

/* The vars as the block being built sees them. */
static void
see_vars(Elab *e, const Vars *vars)
{
	for (int i = 0; i < vars->n; i++) {
		Item *x = &vars->v[i]->item;
		if (x->value != NULL)
			x->value = region_value(e, x->value);
	}
}

/* They are the results of the op from here on. */
static void
assign_results(Elab *e, const Vars *vars, const Op *op, int first)
{
	for (int i = 0; i < vars->n; i++)
		assign_var(e, vars->v[i], vars->v[i]->range, nowhere, op->results[first + i]);
}

/* ---- loops */

typedef struct Loop {
	Region region;
	Op *op;
	Site site;
	Name index; /* .s NULL: a while */
	Vars vars;
	Item *before; /* of the vars */
	int errors;
} Loop;

/* What the vars are in a body. */
static void
enter_body(Elab *e, const Loop *l, int body)
{
	Block *b = l->op->bodies[body];
	e->block = b;
	for (int i = 0; i < l->vars.n; i++)
		l->vars.v[i]->item = item_tensor(nowhere, b->params[i + (l->index.s != NULL)]);
}

/* The op, with the params of both bodies. */
static bool
loop_begin(Elab *e, Loop *l, Value *first)
{
	Value **carried = NEW_ARRAY(e->arena, Value *, l->vars.n + 1);
	int nindices = l->index.s != NULL, n = nindices + l->vars.n;
	l->errors = diag_errors(e->session);
	l->before = var_items(e, &l->vars);
	for (int i = 0; i < n; i++)
		carried[i] = i < nindices ? first : l->before[i - nindices].value;
	l->op = make_begin(at(e, l->site), O_while, n, carried);
	if (l->op == NULL)
		return false;
	region_begin(e, &l->region, l->op, 2);
	for (int i = 0; i < n; i++) {
		const Symbol *var = i < nindices ? NULL : l->vars.v[i - nindices];
		Name name = var != NULL ? (Name){var->name, var->range} : l->index;
		if (var != NULL)
			op_set_operand_range(l->op, i, l->before[i - nindices].range);
		if (i > 0)
			op_add_result(l->op, name.s, &carried[i]->type);
		for (int b = 0; b < 2; b++)
			give_name(e, name,
				block_add_param(l->op->bodies[b], name.s, &carried[i]->type));
	}
	return true;
}

/*
 * The returns of both bodies, and the op.  What only is read stays what it is:
 *   body(i, x, w) { ... return(i.2, x.2, w) }
 */
static void
loop_end(Elab *e, Loop *l, Range where, Value *condition, Value *next)
{
	bool right = diag_errors(e->session) == l->errors && condition != NULL;
	int nindices = l->index.s != NULL, n = nindices;
	const Block *body = l->op->bodies[1];
	if (right) {
		end_body(e, l->op, l->op->bodies[0], 1,
			&(Item){.value = condition, .range = where});
		see_vars(e, &l->vars); /* may capture, and add params */
		Item *items = NEW_ARRAY(e->arena, Item, body->nparams + 1);
		items[0].value = next;
		for (int i = 0; i < l->vars.n; i++)
			items[n++] = l->vars.v[i]->item;
		for (int i = 0; i < l->region.ncaptured; i++)
			items[n++].value = captured_param(&l->region, body, i);
		end_body(e, l->op, l->op->bodies[1], n, items);
	}
	region_end(e, &l->region);
	set_vars(&l->vars, l->before);
	if (!right || make_end(at(e, l->site), l->op) == NULL)
		return;

	if (nindices > 0)
		give_name(e, l->index, l->op->results[0]);
	assign_results(e, &l->vars, l->op, nindices);
}

/* ---- while */

static Value *
eval_condition(Elab *e, const Stmt *stmt, const char *word, Item *item)
{
	*item = eval_value(e, stmt->value);
	if (item->kind == IT_error || item->kind == IT_bool)
		return NULL;
	if (item->kind == IT_tensor && item->value->type.rank == 0
		&& item->value->type.dtype == D_pred)
		return item->value;
	complain(e, DIAG_dtype, item->range, "the condition of '%s' is a scalar pred, not %s",
		word, show_item(e, item));
	if (item->kind == IT_tensor && item->value->type.dtype == D_pred)
		diag_note(e->session, nowhere, "any(p) and all(p) make a scalar of a tensor");
	*item = item_error;
	return NULL;
}

void
run_while(Elab *e, const Stmt *stmt)
{
	Item item;
	Loop l = {.site = {stmt->word, "while", AS_block}};
	add_assigned(e, &l.vars, stmt->body);
	if (!has_effect(e, stmt, &l.vars) || !loop_begin(e, &l, NULL))
		return;
	enter_body(e, &l, 0);
	Value *condition = eval_condition(e, stmt, "while", &item);
	if (item.kind == IT_bool)
		condition = item_constant(e, l.site, D_pred, &item);
	if (condition != NULL)
		condition = region_value(e, condition);
	enter_body(e, &l, 1);
	run_block(e, stmt->body);
	loop_end(e, &l, stmt->value->range, condition, NULL);
}

/* ---- for: the range */

typedef struct Bounds {
	Item from, to;
} Bounds;

static bool
eval_bound(Elab *e, const Expr *x, Item *bound)
{
	*bound = eval_value(e, x);
	if (bound->kind == IT_int && bound->integer >= INT32_MIN && bound->integer <= INT32_MAX)
		return true;
	if (bound->kind == IT_tensor && bound->value->type.rank == 0
		&& bound->value->type.dtype == D_i32)
		return true;
	if (bound->kind == IT_int)
		complain(e, DIAG_loop, x->range,
			"%" PRId64 " is not a value of i32, which counts loops",
			bound->integer);
	else if (bound->kind != IT_error)
		complain(e, DIAG_loop, x->range,
			"a loop is bounded by integers or scalars of i32, not %s",
			show_item(e, bound));
	return false;
}

/* ---- for: what is scanned */

enum { MAX_SCANNED = 64 };

typedef struct Scan {
	int n;
	Item items[MAX_SCANNED];
	int64_t trips;
} Scan;

/* (w, b) in (Ws, Bs) goes over both at once. */
static bool
scan_items(Elab *e, const Stmt *stmt, Item value, Scan *scan)
{
	const Item *items = stmt->tuple ? value.items : &value;
	int n = stmt->tuple ? value.n : 1;
	if (value.kind == IT_error)
		return false;
	if (stmt->tuple && (value.kind != IT_tuple || n != stmt->targets.n || n > MAX_SCANNED))
		return complain(e, DIAG_unpack, stmt->value->range, "%d names for %s",
			stmt->targets.n, show_item(e, &value));
	if (value.kind == IT_tuple && !stmt->tuple)
		return complain(e, DIAG_loop, stmt->value->range,
			"a loop over %s has a name for each, in parentheses: for (a, b) in ...",
			show_item(e, &value));
	for (int i = 0; i < n; i++) {
		const Item *x = &items[i];
		if (x->kind == IT_error)
			return false;
		if (x->kind != IT_tensor || x->value->type.rank == 0)
			return complain(e, DIAG_loop, x->range,
				"a loop goes over dim 0 of a tensor, or over a range 0..N; "
				"this is %s",
				show_item(e, x));
		int64_t trips = x->value->type.dims[0];
		if (i > 0 && trips != scan->trips)
			return complain(e, DIAG_loop, x->range,
				"dim 0 has size %" PRId64 ", not %" PRId64
				" as that of the tensor before it",
				trips, scan->trips);
		scan->trips = trips;
		scan->items[scan->n++] = *x;
	}
	return scan->trips <= INT32_MAX
		|| complain(e, DIAG_loop, stmt->value->range, "a loop of more than %d trips",
			INT32_MAX);
}

/* ---- for: one iteration */

/* Binds the index and the parts of what is gone over: an element of the tuple,
   or the slices of what is scanned; and runs the body. */
static void
run_iteration(Elab *e, const Stmt *stmt, Name name, const Item *tuple, const Scan *scan, Item i)
{
	int scope = e->frame->nsymbols;
	if (name.s != NULL) {
		Symbol *index = symbol_declare(e, SYM_value, name);
		index->as = "bound by a loop";
		index->item = i;
		index->used = true; /* to count is use enough */
	}
	if (tuple != NULL && tuple->kind == IT_tuple)
		bind(e, stmt, stmt->targets.v[0], tuple->items[i.integer]);
	for (int k = 0; k < scan->n; k++)
		bind(e, stmt, stmt->targets.v[k], index_first(e, &scan->items[k], &i));
	run_block(e, stmt->body);
	scope_leave(e, scope);
}

/* ---- for: the loop */

static void
run_counted(Elab *e, const Stmt *stmt, Name name, const Scan *scan, const Bounds *bounds)
{
	static const char unnamed[] = "i";
	Loop l = {.site = {stmt->word, "for", AS_block}, .index = name};
	if (name.s == NULL)
		l.index = (Name){unnamed, stmt->word};
	add_assigned(e, &l.vars, stmt->body);
	if (!has_effect(e, stmt, &l.vars)
		|| !loop_begin(e, &l, item_typed(e, l.site, D_i32, bounds->from).value))
		return;
	if (bounds->from.kind == IT_int && bounds->to.kind == IT_int) {
		int64_t trips = bounds->to.integer - bounds->from.integer;
		op_set_int(l.op, A_trips, trips > 0 ? trips : 0);
	}
	enter_body(e, &l, 0);
	Value *condition = make_compare(at(e, l.site), DIR_LT, l.op->bodies[0]->params[0],
		item_typed(e, l.site, D_i32, bounds->to).value);
	enter_body(e, &l, 1);
	Value *i = l.op->bodies[1]->params[0];
	run_iteration(e, stmt, name, NULL, scan, item_tensor(name.range, i));
	Item one = item_int(stmt->word, 1);
	Value *next =
		make_binary(at(e, l.site), O_add, i, item_constant(e, l.site, D_i32, &one));
	loop_end(e, &l, nowhere, condition, next);
}

/* Over a range, or a scan; for unroll k in (1, 2, 4): over the elements of a tuple. */
void
run_for(Elab *e, const Stmt *stmt)
{
	Scan scan = {0};
	Bounds bounds = {0};
	Item tuple = {0};
	Name index = stmt->index;
	if (stmt->stop != NULL && (stmt->index.s != NULL || stmt->tuple)) {
		complain(e, DIAG_unpack, stmt->range,
			"a range gives one number at a time: for i in a..b");
		return;
	}
	if (stmt->stop != NULL) {
		bool right = eval_bound(e, stmt->value, &bounds.from);
		if (!eval_bound(e, stmt->stop, &bounds.to) || !right)
			return;
		index = ((const Param *)stmt->targets.v[0])->name;
	} else {
		Item over = eval_value(e, stmt->value);
		if (stmt->unroll && over.kind == IT_tuple && !stmt->tuple)
			tuple = over;
		else if (!scan_items(e, stmt, over, &scan))
			return;
		bounds.from = item_int(stmt->word, 0);
		bounds.to = item_int(stmt->word, tuple.kind == IT_tuple ? tuple.n : scan.trips);
	}
	if (!stmt->unroll) {
		run_counted(e, stmt, index, &scan, &bounds);
		return;
	}
	if (bounds.from.kind != IT_int || bounds.to.kind != IT_int) {
		complain(e, DIAG_loop, stmt->value->range,
			"the bounds of 'for unroll' are known at compile time");
		return;
	}

	bool repeated = e->frame->repeated;
	int errors = diag_errors(e->session);
	for (int64_t i = bounds.from.integer; i < bounds.to.integer; i++) {
		if (diag_errors(e->session) != errors
			|| exceeds(e, stmt->word, &e->nsteps, MAX_STEPS, "expressions"))
			break;
		run_iteration(e, stmt, index, &tuple, &scan, item_int(stmt->word, i));
		e->frame->repeated = true;
	}
	e->frame->repeated = repeated;
}

/* ---- if */

/* Runs one side; what the vars are then, as seen in its block. */
static Item *
run_branch(Elab *e, const Op *op, int body, List statements, const Vars *vars,
	const Item *before)
{
	e->block = op->bodies[body];
	run_block(e, statements);
	see_vars(e, vars);
	Item *after = var_items(e, vars);
	set_vars(vars, before);
	return after;
}

/* Decided at compile time, only one side is elaborated. */
void
run_if(Elab *e, const Stmt *stmt)
{
	Region r;
	Vars vars = {0};
	Site site = {stmt->word, "if", AS_block};
	Item item;
	Value *condition = eval_condition(e, stmt, "if", &item);
	if (item.kind == IT_bool) {
		for (int i = 0; i < e->frame->nsymbols; i++)
			e->frame->symbols[i]->used = true; /* maybe by the other side */
		run_block(e, item.integer ? stmt->body : stmt->otherwise);
	}
	if (condition == NULL)
		return;

	int errors = diag_errors(e->session);
	add_assigned(e, &vars, stmt->body);
	add_assigned(e, &vars, stmt->otherwise);
	Op *op = has_effect(e, stmt, &vars) ? make_begin(at(e, site), O_if, 1, &condition)
					    : NULL;
	if (op == NULL)
		return;
	op_set_operand_range(op, 0, stmt->value->range);
	Item *before = var_items(e, &vars);
	for (int i = 1; i < vars.n; i++)
		op_add_result(op, vars.v[i]->name, &before[i].value->type);
	region_begin(e, &r, op, 2);
	Item *then = run_branch(e, op, 0, stmt->body, &vars, before);
	Item *other = run_branch(e, op, 1, stmt->otherwise, &vars, before);
	region_end(e, &r);
	if (diag_errors(e->session) != errors)
		return;
	end_body(e, op, op->bodies[0], vars.n, then);
	end_body(e, op, op->bodies[1], vars.n, other);
	if (make_end(at(e, site), op) == NULL)
		return;
	assign_results(e, &vars, op, 0);
}

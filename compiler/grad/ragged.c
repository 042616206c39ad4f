/*
 * ragged.c - the gradient of an exchange of rows: they go back.
 *
 *   y = ragged(x, out, starts, sizes, to, from)     sizes[i] rows of x from starts[i] on are
 *                                                   rows of member i's y from to[i] on
 *   dx = ragged(dy, 0, came, from, went, sizes)     came[i]: where rows of member i begin in
 *   dout = where(a row came there, 0, dy)           y; went[i]: where those that came from it
 *                                                   begin in its x
 *
 * A row of x may go to several members, and gets the sum of what comes back from them.  An
 * exchange adds nothing up, and refuses rows that meet.  So where the run finds that rows of
 * some member of the group do, all take turns: in turn t each sends to the member that is
 * t places on, and what comes is added up.  Of both ways the gradient is the exchange.
 */
#include "grad/adjoint.h"

/* Of an exchange into zeros: its operands but these. */
enum { ROWS, STARTS, SIZES, TO, FROM, TABLES };

typedef struct Back {
	const AxisList *axes;
	Type x, y;  /* of a member */
	Type table; /* a number for each member */
	int64_t members;
} Back;

static Value *
exchange(Make k, const Back *back, const Type *into, Value *const *v)
{
	return make_ragged(k, back->axes,
		(Value *[]){v[ROWS], make_zeros(k, into), v[STARTS], v[SIZES], v[TO], v[FROM]});
}

/* ---- in turns -------------------------------------------------------------- */

/* What it has for the member whose turn it is, for others 0.  A member to which rows go is
   `turn` places on, one from which they come as many back. */
static Value *
in_turn(Make k, const Back *back, Value *sizes, Value *turn, bool go)
{
	Value *id = make_convert(k, make_op(k, O_partition_id, 0, NULL), D_i32);
	Value *me = make_splat(k, make_axes_index(k, id, back->axes, 1), &back->table);
	Value *it = make_iota(k, &back->table, 0);
	Value *n = make_number(k, &back->table, (double)back->members);
	Value *on = make_binary(k, O_sub, go ? it : me, go ? me : it);

	on = make_binary(k, O_rem, make_binary(k, O_add, on, n), n);
	Value *now = make_compare(k, DIR_EQ, on, make_splat(k, turn, &back->table));
	return make_select(k, now, sizes, make_zeros(k, &back->table));
}

/* sum = while(turn, sum, rows, tables).  How often it runs is not said, so that it counts
   as one exchange: turns send no more than that would. */
static Value *
exchange_in_turns(Make around, const Back *back, Value *const *v)
{
	Value *first[] = {make_constant(around, D_i32, 0), make_zeros(around, &back->x)};
	Op *loop = make_begin(around, O_while, 2, first);
	Crossing c = {.backward = loop, .body = LOOP_BODY};
	Value *all[2 + TABLES], *in[TABLES];
	Make k = around;

	op_add_result(loop, "gradient", &back->x);
	op_begin_bodies(loop, 2);
	for (int i = 0; i < 2; i++)
		for (int body = 0; body < 2; body++)
			block_add_param(loop->bodies[body], first[i]->name, &first[i]->type);
	for (int i = 0; i < TABLES; i++)
		all[2 + i] = in[i] = capture(&c, v[i]);

	k.block = loop->bodies[LOOP_BODY];
	Value *turn = k.block->params[0], *sum = k.block->params[1];
	in[SIZES] = in_turn(k, back, in[SIZES], turn, true);
	in[FROM] = in_turn(k, back, in[FROM], turn, false);
	all[0] = make_binary(k, O_add, turn, make_constant(k, D_i32, 1));
	all[1] = make_binary(k, O_add, sum, exchange(k, back, &back->x, in));
	make_return(k.block, 2 + TABLES, all, k.range, k.label);

	k.block = loop->bodies[LOOP_CONDITION];
	Value *end = make_constant(k, D_i32, back->members);
	Value *more = make_compare(k, DIR_LT, k.block->params[0], end);
	make_return(k.block, 1, &more, k.range, k.label);
	make_end(around, loop);
	return loop->results[1];
}

/* if(some rows meet) { in turns } else { at once } */
static Value *
exchange_back(Make around, const Back *back, Value *meet, Value *const *v)
{
	Op *op = make_begin(around, O_if, 1, &meet);
	Crossing c = {.backward = op};
	Make k = around;

	op_begin_bodies(op, 2);
	for (int i = 0; i < TABLES; i++)
		capture(&c, v[i]);
	for (int body = 0; body < 2; body++) {
		k.block = op->bodies[body];
		Value *const *in = k.block->params;
		Value *dx = body == 0 ? exchange_in_turns(k, back, in)
				      : exchange(k, back, &back->x, in);
		make_return(k.block, 1, &dx, k.range, k.label);
	}
	return make_end(around, op);
}

/* ---- what members tell each other -------------------------------------------- */

/* [i, j]: compares what x has for member i with what y has for j. */
static Value *
compare_each(Make k, const Back *back, Direction d, Value *x, Value *y)
{
	const Type square = {D_i32, 2, {back->members, back->members}};

	Value *row = make_spread(k, x, 0, &square);
	return make_compare(k, d, row, make_spread(k, y, 1, &square));
}

/* 1 if some row of x goes to two members, else 0.  Those for i and j meet where each begin
   before the others end; no rows end at 0. */
static Value *
some_meet(Make k, const Back *back, Value *start, Value *size)
{
	Value *zeros = make_zeros(k, &back->table), *member = make_iota(k, &back->table, 0);
	Value *any = make_compare(k, DIR_GT, size, zeros);
	Value *end = make_select(k, any, make_binary(k, O_add, start, size), zeros);
	Value *meet = compare_each(k, back, DIR_LT, start, end);

	meet = make_binary(k, O_and, meet, compare_each(k, back, DIR_GT, end, start));
	meet = make_binary(k, O_and, meet, compare_each(k, back, DIR_LT, member, member));
	return make_reduce(k, C_max, make_convert(k, meet, D_i32), 2, (int64_t[]){0, 1});
}

/* Three tables, of which members get what is for them, by one all-to-all. */
static void
tell(Make k, const Back *back, Value *table[3])
{
	const int64_t cut[] = {back->members, 1};
	Value *columns[3];

	if (back->members == 1)
		return;
	for (int i = 0; i < 3; i++)
		columns[i] = make_reshape(k, table[i], 2, cut);
	Value *all = make_collective(k, O_all_to_all, make_concatenate(k, 3, columns, 1),
		back->axes, 0, C_add);
	for (int i = 0; i < 3; i++)
		table[i] = make_reshape(k, make_slice_dim(k, all, 1, i, i + 1, 1), 1, cut);
}

/* ---- the rule ---------------------------------------------------------------- */

/* dy, 0 where rows came from members. */
static Value *
where_none_came(Make k, const Back *back, Value *dy, Value *came, Value *from)
{
	const Type each = {D_i32, 2, {back->y.dims[0], back->members}};
	Value *row = make_iota(k, &each, 0), *start = make_spread(k, came, 1, &each);
	Value *end = make_binary(k, O_add, start, make_spread(k, from, 1, &each));
	Value *there = make_compare(k, DIR_GE, row, start);
	there = make_binary(k, O_and, there, make_compare(k, DIR_LT, row, end));

	there = make_reduce(k, C_or, there, 1, (int64_t[]){1});
	there = make_spread(k, there, 0, &back->y);
	return make_select(k, there, make_zeros(k, &back->y), dy);
}

/* dx = ruled(dy, tables, meet, starts, to): body 0 sends back; body 1, of the cotangent of
   dx, is the exchange. */
static Value *
send_back(Adjoint *a, const Back *back, Value *const *v, Value *meet, const Op *op)
{
	enum { MEET = TABLES, THERE, SENT_TO, GIVEN, RESULT = GIVEN, COTANGENT };
	Value *zero = make_constant(a->k, D_i32, 0);
	Value *given[GIVEN] = {v[ROWS], v[STARTS], v[SIZES], v[TO], v[FROM],
		make_compare(a->k, DIR_GT, meet, zero), here_operand(a, op, 2),
		here_operand(a, op, 4)};
	Op *ruled = make_begin(a->k, O_ruled, GIVEN, given);
	Value *gradients[GIVEN];
	int n = 0;
	Make k = a->k;

	k.before = NULL;
	op_begin_bodies(ruled, 2);
	for (int body = 0; body < 2; body++)
		for (int i = 0; i < GIVEN; i++)
			block_add_param(ruled->bodies[body], given[i]->name, &given[i]->type);
	k.block = ruled->bodies[0];
	Value *dx = exchange_back(k, back, k.block->params[MEET], k.block->params);
	make_return(k.block, 1, &dx, k.range, k.label);

	k.block = ruled->bodies[1];
	block_add_param(k.block, "result", &back->x);
	block_add_param(k.block, "cotangent", &back->x);
	Value *const *in = k.block->params;
	for (int i = 0; i < GIVEN; i++)
		if (i == ROWS)
			gradients[n++] = exchange(k, back, &back->y,
				(Value *[]){in[COTANGENT], in[THERE], in[FROM], in[SENT_TO],
					in[SIZES]});
		else if (type_is_smooth(a->g, given[i]->type.dtype))
			gradients[n++] = make_zeros(k, &given[i]->type);
	make_return(k.block, n, gradients, k.range, k.label);
	return make_end(a->k, ruled);
}

void
gradient_ragged(Adjoint *a, const Op *op)
{
	const Type *table = &op->operands[2]->type;
	const Back back = {op->axes, op->operands[0]->type, op->results[0]->type, *table,
		axes_size(op->axes)};
	Value *dy = cotangent_of(a, op->results[0]);
	Value *starts = here_operand(a, op, 2), *sizes = here_operand(a, op, 3);
	Value *to = here_operand(a, op, 4), *from = here_operand(a, op, 5);
	Value *meet = some_meet(a->k, &back, starts, sizes);
	Value *told[] = {starts, to, make_splat(a->k, meet, table)};

	tell(a->k, &back, told);
	if (wants(a, op, 1))
		give(a, op->operands[1], where_none_came(a->k, &back, dy, told[1], from));
	if (!wants(a, op, 0))
		return;
	Value *v[] = {dy, told[1], from, told[0], sizes};
	meet = make_uniform(a->k, make_reduce(a->k, C_max, told[2], 1, (int64_t[]){0}),
		op->axes);
	give(a, op->operands[0],
		back.members > 1 ? send_back(a, &back, v, meet, op)
				 : exchange(a->k, &back, &back.x, v));
}

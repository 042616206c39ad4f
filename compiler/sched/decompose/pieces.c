/*
 * pieces.c - the parts of rings: where pieces begin, their way on, products with them.
 *
 *   (me + turn + 2) % n * rows      the rows of the piece two steps up the ring, in each
 *                                   turn of a loop another
 */
#include "sched/decompose/ring.h"

/* ---- where pieces are ---------------------------------------------------- */

/* Numbers that the device knows stand at the begin of the block, each once. */
static Value *
known(const Ring *r, const char *key)
{
	return table_get(r->rings->offsets, key);
}

static Make
make_offset(const Ring *r)
{
	Block *b = r->block;
	Op *last = table_get(r->rings->offsets, arena_printf(r->rings->arena, "%p", (void *)b));
	Make k = r->make;

	k.block = b;
	k.before = last ? last->next : b->first;
	return k;
}

static Value *
remember(const Ring *r, const char *key, Value *v)
{
	const void *block = v->def->block;

	table_set(r->rings->offsets, arena_printf(r->rings->arena, "%p", block), v->def);
	table_set(r->rings->offsets, arena_printf(r->rings->arena, "%s", key), v);
	return v;
}

static const char *
offset_key(const Ring *r, const char *what, int64_t step, int64_t size)
{
	Text t = {0};

	text_printf(&t, "%p %s %lld %lld ", (void *)r->block, what, (long long)step,
		(long long)size);
	text_axes(&t, &r->make.module->mesh, r->einsum->collective->axes);
	return text_take(&t, r->rings->arena);
}

static Value *
own_index(const Ring *r)
{
	const char *key = offset_key(r, "index", 0, 0);
	Value *v = known(r, key);

	if (v)
		return v;
	Make k = make_offset(r);
	Value *id = make_op(named(k, "partition"), O_partition_id, 0, NULL);
	id = make_convert(k, id, r->rings->index);
	return remember(r, key, make_axes_index(k, id, r->einsum->collective->axes, 1));
}

Value *
known_number(const Ring *r, int64_t n)
{
	const char *key = offset_key(r, "number", n, 0);
	Value *v = known(r, key);

	return v ? v : remember(r, key, make_constant(make_offset(r), r->rings->index, n));
}

/* The number of the piece; what does not change in turns is known. */
static Value *
piece_number(const Ring *r, Make k, Step step)
{
	Value *at = own_index(r);

	if (step.n)
		at = make_binary(named(k, "ahead"), O_add, at, known_number(r, step.n));
	if (step.turn)
		at = make_binary(named(k, "ahead"), step.down ? O_sub : O_add, at, step.turn);
	if (step.n || step.turn)
		at = make_binary(named(k, "piece"), O_rem, at, known_number(r, r->n));
	return at;
}

/* Where it begins, if pieces have that size. */
static Value *
piece_start(const Ring *r, Make k, Step step, int64_t size)
{
	const char *key = offset_key(r, "piece", step.n, size);
	Value *v = step.turn ? NULL : known(r, key);

	if (v)
		return v;
	Value *length = known_number(r, size);
	own_index(r);
	known_number(r, step.n);
	known_number(r, r->n);
	if (!step.turn)
		k = make_offset(r);
	Value *at = piece_number(r, k, step);
	if (size > 1)
		at = make_binary(named(k, "start"), O_mul, at, length);
	return step.turn || at == own_index(r) ? at : remember(r, key, at);
}

Value *
piece_of(const Ring *r, Make k, Value *x, int dim, Step step)
{
	Value *starts[MAX_RANK] = {NULL};
	Type part = x->type;

	part.dims[dim] /= r->n;
	starts[dim] = piece_start(r, k, step, part.dims[dim]);
	return make_dynamic_slice(named(k, x->name), x, starts, part.dims);
}

/* ---- pieces that go round ------------------------------------------------ */

/* The value is made by a collective that does a part of what one does, or did; what keeps that
   from another trip keeps this. */
Value *
made_for(Value *v, const Op *collective)
{
	v->def->trip = collective->trip;
	v->def->whole = collective->whole ? collective->whole : collective;
	return v;
}

/* From the device after each, or the one before. */
Value *
pass_on(const Ring *r, Make k, Value *x, bool back)
{
	const Op *collective = r->einsum->collective;
	int64_t *source = NEW_ARRAY(r->rings->arena, int64_t, r->n);

	for (int64_t i = 0; i < r->n; i++)
		source[i] = (i + (back ? r->n - 1 : 1)) % r->n;
	k.label = collective->label;
	k.range = collective->range;
	k.requested = collective->requested;
	return made_for(make_permute(named(k, x->name), x, collective->axes, NULL, source),
		collective);
}

/* ---- products ------------------------------------------------------------ */

/* Of the operand made of what is gathered. */
static int
ring_dim(const Einsum *e, const Op *dot)
{
	int i = 0;

	while (e->dots[i] != dot)
		i++;
	return e->dims[i];
}

Value *
partial_dot(Make k, const Op *dot, Value *const *operands)
{
	Op *part = op_clone(dot);
	Value *v = part->results[0];

	part->of = k.of;
	part->operands[0] = operands[0];
	part->operands[1] = operands[1];
	v->no_placement = true;
	op_infer(part);
	make_place(k, part);
	return v;
}

Value *
nothing_gathered(Make k, const Op *dot)
{
	return make_full(k, &dot->results[0]->type, 0);
}

Value *
add_gathered(const Ring *r, Make k, const Op *dot, Value *other, Value *piece, Step step,
	Value *sum)
{
	int i = gathered_operand(r->einsum, dot), at = ring_dim(r->einsum, dot);
	DotDim dim = dot_dim(dot, i, at);
	Value *operands[2] = {other, other};

	operands[i] = piece;
	if (dim.other >= 0)
		operands[!i] = piece_of(r, k, other, dim.other, step);
	k.name = dot->results[0]->name;
	Value *starts[MAX_RANK] = {NULL};
	if (dim.result >= 0)
		starts[dim.result] = piece_start(r, k, step, piece->type.dims[at]);
	Value *part = partial_dot(k, dot, operands);
	if (dim.result < 0)
		return sum ? make_binary(k, O_add, sum, part) : part;
	sum = sum ? sum : nothing_gathered(k, dot);
	return make_dynamic_update_slice(k, sum, part, starts);
}

Value *
product_piece(const Ring *r, Make k, Value *const *of, Step step)
{
	const Op *dot = r->einsum->dots[0];
	ResultDim dim = dot_result_dim(dot, r->einsum->dims[0]);
	Value *operands[2] = {of[0], of[1]};

	operands[dim.operand] = piece_of(r, k, of[dim.operand], dim.dim, step);
	if (dim.other >= 0)
		operands[!dim.operand] = piece_of(r, k, of[!dim.operand], dim.other, step);
	return partial_dot(k, dot, operands);
}

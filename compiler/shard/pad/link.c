/*
 * link.c - which dims are padded together, and to what size.
 *
 * Two dims are of one class if an op pairs their elements off: they have a
 * factor of its rule each to itself.  Where the major dims of a reshape differ
 * in size, what is at the high end of one is at the high end of the other, so
 * they are padded by the same ratio.
 */
#include "shard/pad/pad.h"

static Class *
class_of(const Padder *p, const Value *v, int dim)
{
	Class *c = &pad_value(p, v)->dims[dim];

	while (c->parent != c)
		c = c->parent = c->parent->parent;
	return c;
}

static void
join(Padder *p, const Value *a, int a_dim, const Value *b, int b_dim)
{
	class_of(p, a, a_dim)->parent = class_of(p, b, b_dim);
}

/* ---- what is uneven --------------------------------------------------------- */

/* What splits it; NULL: nothing that is known. */
static const Placement *
placement_of(const Padder *p, const Value *v)
{
	const Placement *inferred = p->inferred ? p->inferred[v->id] : NULL;

	return inferred ? inferred : v->annotated ? &v->placement : NULL;
}

static int64_t
dim_ways(const Padder *p, const Value *v, int dim)
{
	const Placement *is = placement_of(p, v);

	return is ? placement_dim_ways(is, dim) : 1;
}

static bool
is_uneven(const Padder *p, const Value *v, int dim)
{
	return v->type.dims[dim] % dim_ways(p, v, dim) != 0;
}

/* Parameters of bodies are what flows to them. */
static bool
is_uneven_value(const Padder *p, const Value *v)
{
	bool uneven = false;

	for (int d = 0; d < v->type.rank; d++)
		uneven |= is_uneven(p, v, d);
	return uneven && (v->def || !v->block->parent);
}

/* ---- links through one op -------------------------------------------------- */

uint16_t *
pad_linked(Padder *p, const Op *op)
{
	uint16_t **dims = &p->linked[op->id];

	if (!*dims)
		*dims = NEW_ARRAY(p->arena, uint16_t, op->noperands + 1);
	return *dims;
}

/* The dim of an operand may stay padded; that of a result can be made so. */
static void
mark(Padder *p, const Op *op, int tensor, int dim)
{
	uint16_t *dims = tensor < op->noperands
		? &pad_linked(p, op)[tensor]
		: &pad_value(p, rule_tensor(op, tensor))->direct;

	*dims |= (uint16_t)(1u << dim);
}

/*
 * Elements of a factor keep their places, in all tensors that have it; nothing is
 * linked where the factor is not a whole dim.
 *
 *   dot   x [i, k], y [k, j] -> r [i, j]
 *   i     dims {0, -1, 0}: x and r may stay padded along it, in one class
 *   k     dims {1, 0, -1}: no result has it, but a dot masks what it reads (reads_padded),
 *         so x and y may stay padded
 *   iota  a factor of the result alone: made as long as is wanted, where it passes
 */
static void
link_factor(Padder *p, const Op *op, const Rule *r, int factor, int *dims)
{
	bool given = r->factors[factor].kind == F_pass, made = false; /* iota, broadcast */
	int first = -1;

	if (r->factors[factor].kind == F_permute)
		return;
	for (int i = 0; i < r->ntensors; i++) {
		const Type *t = &rule_tensor(op, i)->type;
		dims[i] = -1;
		for (int d = 0; d < t->rank; d++) {
			const DimFactors *f = &r->dims[i][d];
			for (int k = 0; k < f->n; k++)
				if (f->f[k] == factor)
					dims[i] = d;
			if (dims[i] == d
				&& (f->n != 1 || t->dims[d] != r->factors[factor].size))
				return;
		}
		if (dims[i] >= 0)
			*(i < op->noperands ? &given : &made) = true;
	}
	if (!given || (!made && !pad_ops[op->kind].reads_padded))
		return;
	for (int i = 0; i < r->ntensors; i++) {
		if (dims[i] < 0)
			continue;
		mark(p, op, i, dims[i]);
		if (first >= 0)
			join(p, rule_tensor(op, first), dims[first], rule_tensor(op, i),
				dims[i]);
		first = i;
	}
}

/* `to` is an operand, padding and all. */
static void
link_whole(Padder *p, const Op *user, int operand, const Value *to)
{
	for (int d = 0; d < to->type.rank; d++) {
		mark(p, user, operand, d);
		join(p, user->operands[operand], d, to, d);
		pad_value(p, to)->direct |= (uint16_t)(1u << d);
	}
}

void
pad_link_same(Padder *p, const Op *op)
{
	link_whole(p, op, 0, op->results[0]);
}

void
pad_link_bodies(Padder *p, const Op *op)
{
	for (Flow f = {.op = op}; flow_next(&f);)
		link_whole(p, f.user, f.operand, f.to);
}

/* ---- reshape ------------------------------------------------------------------ */

/* The next dims of one side that are more than 1, as many as make up what the
   other side has. */
typedef struct Side {
	const Value *v;
	int dim;      /* the next */
	int major;    /* the first of the group; -1: none left */
	int64_t size; /* of the group so far */
} Side;

static void
take_dim(Side *s)
{
	s->size *= s->v->type.dims[s->dim++];
}

static void
start_group(Side *s)
{
	while (s->dim < s->v->type.rank && s->v->type.dims[s->dim] == 1)
		s->dim++;
	s->size = 1;
	s->major = s->dim < s->v->type.rank ? s->dim : -1;
	if (s->major >= 0)
		take_dim(s);
}

/* A dim of size 1 that the reshape adds can be made as wanted. */
void
pad_link_reshape(Padder *p, const Op *op)
{
	Side in = {.v = op->operands[0]}, out = {.v = op->results[0]};

	for (;;) {
		start_group(&in);
		start_group(&out);
		if (in.major < 0 || out.major < 0)
			return;
		while (in.size != out.size)
			take_dim(in.size < out.size ? &in : &out);
		int64_t a = in.v->type.dims[in.major];
		int64_t b = out.v->type.dims[out.major];
		if (a % b && b % a)
			continue;
		mark(p, op, 0, in.major);
		mark(p, op, 1, out.major);
		join(p, in.v, in.major, out.v, out.major);
	}
}

/* Manual functions have parts of true sizes: nothing passes them.  A constant has a number
   for each element, and is not made longer. */
static void
link_op(Padder *p, const Op *op)
{
	if (block_manual(op->block) || op_has(op, A_value))
		return;
	if (p->inferred && op->kind == O_output && !is_uneven_value(p, op->results[0]))
		return;
	if (pad_ops[op->kind].link) {
		pad_ops[op->kind].link(p, op);
	} else if (!ops[op->kind].blocked) {
		const Rule *r = op_rule(p->arena, op);
		int *dims = NEW_ARRAY(p->arena, int, r->ntensors);
		for (int f = 0; f < r->nfactors; f++)
			link_factor(p, op, r, f, dims);
	}
}

/* ---- classes ------------------------------------------------------------------- */

const Value *
uneven_value(Module *m)
{
	Padder written = {.module = m};

	module_number(m);
	Value **values = module_values(m, m->arena);
	for (int i = 0; i < m->nvalues; i++)
		if (is_uneven_value(&written, values[i]))
			return values[i];
	return NULL;
}

/* All ways that are written divide the number of devices, and so does what
   they have in common: the product cannot overflow. */
static void
size_classes(Padder *p)
{
	for (int i = 0; i < p->nprogram; i++)
		for (int d = 0; d < p->program[i]->type.rank; d++) {
			Class *c = class_of(p, p->program[i], d);
			c->unit = gcd_i64(c->unit, p->program[i]->type.dims[d]);
		}
	for (int i = 0; i < p->nprogram; i++)
		for (int d = 0; d < p->program[i]->type.rank; d++) {
			const Value *v = p->program[i];
			Class *c = class_of(p, v, d);
			int64_t ways = dim_ways(p, v, d);
			int64_t wanted = ways / gcd_i64(ways, v->type.dims[d] / c->unit);
			c->multiple *= wanted / gcd_i64(c->multiple, wanted);
			c->uneven |= is_uneven(p, v, d);
		}
}

/*
 * False if it is too large.
 *
 *   members of 6 and 9, one split 4 ways:  unit 3, multiple 4
 *   padded, the unit is 4:                 8 and 12
 */
static bool
find_size(const Padder *p, const Value *v, int dim, int64_t *size)
{
	const Class *c = class_of(p, v, dim);
	int64_t units = c->unit;

	*size = v->type.dims[dim];
	if (!c->uneven)
		return true;
	return add_i64(units, c->multiple - 1, &units)
		&& mul_i64(*size / c->unit, units / c->multiple * c->multiple, size);
}

int64_t
pad_size(const Padder *p, const Value *v, int dim)
{
	int64_t size;

	find_size(p, v, dim, &size);
	return size;
}

int64_t
pad_multiple(const Padder *p, const Value *v, int dim)
{
	return class_of(p, v, dim)->multiple;
}

static Range
range_of_type(const Value *v)
{
	return v->annotated || !v->def ? v->type_range : v->def->range;
}

void
pad_tell_classes(Padder *p)
{
	for (int i = 0; i < p->nprogram; i++)
		for (int d = 0; d < p->program[i]->type.rank; d++) {
			const Value *v = p->program[i];
			Class *c = class_of(p, v, d);
			int64_t size = v->type.dims[d], padded = pad_size(p, v, d);
			Text t = {0};
			if (c->told || !is_uneven(p, v, d))
				continue;
			AxisList axes = placement_dim(placement_of(p, v), d);
			c->told = true;
			text_axes(&t, &p->module->mesh, &axes);
			diag(p->module->session, DIAG_pad, range_of_type(v),
				"dim %d of '%s', "
				"%lld over %s, is computed with %lld: %.3g%% of that is "
				"padding",
				d, value_source_name(v), (long long)size, t.s,
				(long long)padded,
				(double)(padded - size) * 100 / (double)padded);
			text_free(&t);
		}
}

/* Before anything is changed. */
static void
check_sizes(Padder *p)
{
	for (int i = 0; i < p->nprogram; i++) {
		const Value *v = p->program[i];
		int64_t bytes = dtypes[v->type.dtype].bytes, size;
		bool fits = true;
		for (int d = 0; d < v->type.rank && fits; d++)
			fits = find_size(p, v, d, &size) && mul_i64(bytes, size, &bytes);
		if (!fits)
			diag(p->module->session, DIAG_size, v->range,
				"'%s' has more "
				"bytes than 64 bits can count once it is padded",
				value_source_name(v));
	}
}

/* Are there axes that divide one dim, and not the other, though that has an element for each
   device? */
static bool
may_leave_rest(const Mesh *mesh, int64_t size, int64_t of)
{
	enum { MOST_AXES = 8 };

	if (size == of || mesh->naxes > MOST_AXES)
		return size != of;
	for (int set = 0; set < 1 << mesh->naxes; set++) {
		int64_t ways = 1;
		for (int i = 0; i < mesh->naxes; i++)
			ways *= set >> i & 1 ? mesh->axes[i].size : 1;
		if (ways <= of && size % ways == 0 && of % ways != 0)
			return true;
	}
	return false;
}

/* Only where an op makes a dim of another size may axes not divide what they come to. */
static bool
may_make_uneven(const Mesh *mesh, const Op *op)
{
	const Type *result = op->nresults ? &op->results[0]->type : NULL;

	if (op->kind == O_reshape || op->kind == O_transpose || op->kind == O_broadcast
		|| numbers[op->kind].elements != ELEMENTS_moved)
		return false;
	for (int i = 0; i < op->noperands; i++) {
		const Type *x = &op->operands[i]->type;
		for (int d = 0; d < x->rank && d < result->rank; d++)
			if (may_leave_rest(mesh, x->dims[d], result->dims[d])
				|| may_leave_rest(mesh, result->dims[d], x->dims[d]))
				return true;
	}
	return false;
}

static bool
may_be_uneven(const Padder *p)
{
	const Module *m = p->module;

	for (int i = 0; i < p->nprogram; i++)
		if (is_uneven_value(p, p->program[i]))
			return true;
	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry))
		if (may_make_uneven(&m->mesh, op))
			return true;
	return false;
}

/* By their numbers. */
static void
list_values(Padder *p)
{
	p->nprogram = p->nvalues = p->module->nvalues;
	p->program = module_values(p->module, p->arena);
}

/* What is given and what results have their true sizes, and so does what is in manual
   functions.  NULL: that is all. */
static Placement **
inferred_placements(Padder *p)
{
	Placement **placed = placed_unevenly(p->module);
	bool some = false;

	list_values(p); /* they have other numbers now */
	for (int i = 0; i < p->nprogram; i++) {
		const Value *v = p->program[i];
		if (!v->def || v->def->kind == O_output || block_manual(v->block))
			placed[v->id] = NULL;
		some |= placed[v->id] != NULL;
	}
	if (some && p->how == PAD_asked)
		p->how = p->choose(p->module);
	return some && p->how != PAD_written ? placed : NULL;
}

bool
pad_find_classes(Padder *p)
{
	Module *m = p->module;
	const Value *padded = NULL; /* the first that is so already */
	bool uneven = false;

	module_number(m);
	list_values(p);
	for (int i = 0; i < p->nprogram; i++) {
		const Value *v = p->program[i];
		if (!padded && v->unpadded && (v->def || !v->block->parent))
			padded = v;
	}
	if (!padded && m->python && p->how != PAD_written && may_be_uneven(p))
		p->inferred = inferred_placements(p);
	for (int i = 0; i < p->nprogram; i++)
		uneven |= is_uneven_value(p, p->program[i]);
	if (!uneven)
		return false;
	if (padded) {
		/* a dump of a program that is padded already may have been edited */
		diag(m->session, DIAG_hlo_invalid, padded->range,
			"%s is padded already, but another axis does not divide its dim: take "
			"out what is unpadded, or the axis",
			padded->name);
		return false;
	}
	p->values = pad_values_new(p->arena, p->nvalues);
	p->linked = NEW_ARRAY(p->arena, uint16_t *, m->nops + 1);
	for (int i = 0; i < p->nprogram; i++) {
		int rank = p->program[i]->type.rank;
		Class *dims = NEW_ARRAY(p->arena, Class, rank + 1);
		p->values[i]->dims = dims;
		for (int d = 0; d < rank; d++)
			dims[d] = (Class){.parent = &dims[d], .multiple = 1};
	}
	for (const Op *op = m->entry->first; op; op = op_following(op, m->entry))
		link_op(p, op);
	size_classes(p);
	check_sizes(p);
	return !diag_errors(m->session);
}

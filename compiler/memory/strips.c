/*
 * strips.c - where the elements of slices lie that stand by themselves.
 *
 *   x: f32[4,8]
 *   a = slice(x), [2:4, 0:8]      a range: from element 16 on
 *   b = slice(x), [0:4, 4:8]      runs of 4, each 8 behind the one before: from element 4 on
 *   c = slice(b), [1:2, 0:4]      a range again: from element 12 on
 */
#include "memory/strips.h"

bool
value_is_strip(const Value *v)
{
	while (v->def && op_renames(v->def))
		v = v->def->operands[0];
	return v->def && op_is_strip(v->def);
}

/* Of what lies there a range. */
static bool
take_range(Strip *strip, int64_t from, int64_t n)
{
	int64_t first = from / strip->run, in = from % strip->run;
	bool one = in + n <= strip->run, whole = !in && n % strip->run == 0;

	strip->at += first * strip->step + in;
	if (one)
		strip->run = strip->step = n;
	return one || whole;
}

/* Of each so many elements of it some: `n` from one of them on. */
static bool
take_of_each(Strip *strip, int64_t each, int64_t from, int64_t n)
{
	bool range = strip->run == strip->step;

	if (!range && strip->run != each)
		return false;
	strip->at += from;
	strip->run = n;
	strip->step = range ? each : strip->step;
	return true;
}

/* One dim after the other. */
bool
strip_take(const Op *slice, Strip *strip)
{
	Type type = slice->operands[0]->type;
	const Ints *start = op_ints(slice, A_start), *limit = op_ints(slice, A_limit);
	const Ints *stride = op_ints(slice, A_stride);
	const Type *result = &slice->results[0]->type;
	bool found = true;

	for (int d = 0; d < type.rank && found; d++) {
		int64_t size = limit->v[d] - start->v[d], inner, outer = 1;
		if (result->dims[d] == type.dims[d])
			continue;
		for (int i = 0; i < d; i++)
			outer *= type.dims[i];
		inner = type_elements_from(&type, d + 1);
		found = stride->v[d] == 1
			&& (outer == 1 ? take_range(strip, start->v[d] * inner, size * inner)
				       : take_of_each(strip, type.dims[d] * inner,
					       start->v[d] * inner, size * inner));
		type.dims[d] = size;
	}
	return found;
}

/* `fusion`: the value is in its body, whose parameter is its operand. */
static bool
find(const Value *v, const Op *fusion, Strip *strip)
{
	int64_t n = type_elements(&v->type);

	if (fusion && !v->def)
		return find(fusion->operands[v->index], NULL, strip);
	if (v->def && op_renames(v->def) && (fusion || value_is_strip(v)))
		return find(v->def->operands[0], fusion, strip);
	*strip = (Strip){0, n, n};
	if (!v->def || !(fusion || op_is_strip(v->def)))
		return true;
	return n && dtypes[v->type.dtype].bits >= 8 && find(v->def->operands[0], fusion, strip)
		&& strip_take(v->def, strip);
}

bool
strip_find(const Value *v, Strip *strip)
{
	return find(v, NULL, strip);
}

bool
strip_of_slices(const Op *fusion, Strip *strip)
{
	return find(fusion->bodies[0]->last->operands[0], fusion, strip);
}

/* A gather, or an all-to-all, puts blocks of its operand where they belong: one is some runs,
   or a run some of them. */
bool
strip_is_readable(const Op *collective, const Strip *strip)
{
	const Type *type = &collective->operands[0]->type;

	if (!op_communicates(collective) || collective->noperands != 1
		|| collectives[collective->kind].base >= 0)
		return false;
	if (strip->run == type_elements(type))
		return true;
	if (!collectives[collective->kind].runs)
		return false;
	const Ints *dim = op_ints(collective, A_dim);
	int64_t block = type_elements_from(type, dim->n ? dim->v[0] : 0);
	if (collective->kind == O_all_to_all)
		block /= axes_size(collective->axes);
	return block % strip->run == 0 || strip->run % block == 0;
}

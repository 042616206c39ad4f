/*
 * shifts.c - tensors that are moved along a dim: paddings of which a part is cut.
 *
 *   concatenate(zeros, x[:, :-1])      pad(x, 0, 1_-1)
 *   pad(x, 0, 1_0)[:, :-1]             the same
 *   concatenate(p, x[:, :-1])          the same, and p is written into it
 *   (pad(x, 0, 1_0) + pad(y, 0, 0_1))[:, 1:]      x + pad(y, 0, -1_1)
 *   pad(x, 0, 1_1)[:, k:k+n]           frames(x)[.., k], for each k that is read
 *
 * On the way there are sizes that no axis divides, so a split dim would be gathered; this way
 * devices exchange a row.
 */
#include "import/builders.h"

/* ---- what is put together */

/* The scalar that the value is everywhere, or NULL. */
static Value *
splat_of(const Value *v)
{
	const Op *made = v->def;

	return made && made->kind == O_broadcast && !made->operands[0]->type.rank
		? made->operands[0]
		: NULL;
}

bool
same_scalar(const Value *a, const Value *b)
{
	const Op *one = a ? a->def : NULL, *other = b ? b->def : NULL;

	if (!one || !other || one->kind != O_constant || other->kind != O_constant)
		return a == b && a;
	return a->type.dtype == b->type.dtype && op_int(one, A_value) == op_int(other, A_value);
}

/* Operands after each other, of which one is moved; those before it and behind it. */
typedef struct Moved {
	Value *x;		/* what it is elements of, one after the other, */
	int64_t start, limit;	/* ... these, */
	int64_t before, behind; /* ... with so many elsewhere */
	int at;
} Moved;

/* `v`: elements start, start + 1, ... below limit along the dim of x, and all others. */
static void
see_block(Moved *moved, Value *v, int dim)
{
	const Op *made = v->def;
	bool block = made && made->kind == O_slice;

	for (int d = 0; block && d < v->type.rank; d++)
		block = op_ints(made, A_stride)->v[d] == 1
			&& (d == dim || v->type.dims[d] == made->operands[0]->type.dims[d]);
	moved->x = block ? made->operands[0] : v;
	moved->start = block ? op_ints(made, A_start)->v[dim] : 0;
	moved->limit = moved->start + v->type.dims[dim];
}

/* Of x moved that way, is all that is not among the elements outside of the result? */
static bool
only_moves(const Moved *moved, int dim)
{
	return (!moved->start || !moved->before)
		&& (moved->limit == moved->x->type.dims[dim] || !moved->behind);
}

static Value *
pad_moved(Make k, const Moved *moved, Value *padding, int dim)
{
	int64_t low[MAX_RANK] = {0}, high[MAX_RANK] = {0}, inner[MAX_RANK] = {0};

	low[dim] = moved->before - moved->start;
	high[dim] = moved->behind - (moved->x->type.dims[dim] - moved->limit);
	return make_pad_late(k, moved->x, padding, low, high, inner);
}

/* The one operand that is no number everywhere, if the numbers are one; NULL: there is none. */
static Value *
padding_around(int n, Value *const *parts, int dim, Moved *moved)
{
	Value *padding = NULL;
	int others = 0;

	*moved = (Moved){0};
	for (int i = 0; i < n; i++) {
		Value *number = splat_of(parts[i]);
		if (number && (!padding || same_scalar(number, padding))) {
			padding = number;
			*(others ? &moved->behind : &moved->before) += parts[i]->type.dims[dim];
			continue;
		}
		see_block(moved, parts[i], dim);
		if (others++)
			return NULL;
	}
	return others && only_moves(moved, dim) ? padding : NULL;
}

bool
may_be_split(const Mesh *mesh, int64_t some, int64_t all)
{
	for (int i = 0; i < mesh->naxes; i++)
		if (mesh->axes[i].size > 1 && some % mesh->axes[i].size == 0
			&& all % mesh->axes[i].size == 0)
			return true;
	return false;
}

/* The operand, first or last, that is all of a tensor of the result's size but a few
   elements, which the others take the place of. */
static bool
moved_by_few(const Module *m, int n, Value *const *parts, int dim, int64_t size, Moved *moved)
{
	for (int end = 0; end < 2; end++) {
		int at = end ? n - 1 : 0;
		see_block(moved, parts[at], dim);
		int64_t few = size - (moved->limit - moved->start);
		moved->before = end ? few : 0;
		moved->behind = end ? 0 : few;
		moved->at = at;
		if (moved->x != parts[at] && moved->x->type.dims[dim] == size && 2 * few < size
			&& only_moves(moved, dim) && !may_be_split(&m->mesh, few, size))
			return true;
	}
	return false;
}

Value *
moved_together(Make k, int n, Value *const *parts, int dim)
{
	int rank = n ? parts[0]->type.rank : 0;
	int64_t size = 0;
	Moved moved;

	for (int i = 0; i < n; i++) {
		if (parts[i]->type.rank != rank || dim >= rank)
			return NULL;
		size += parts[i]->type.dims[dim];
	}
	Value *padding = padding_around(n, parts, dim, &moved);
	if (padding)
		return pad_moved(k, &moved, padding, dim);
	if (n < 2 || !moved_by_few(k.module, n, parts, dim, size, &moved))
		return NULL;
	Value *start[MAX_RANK] = {NULL};
	Value *x = pad_moved(k, &moved, NULL, dim);
	Value *rest = make_concatenate(k, n - 1, parts + !moved.at, dim);
	start[dim] = make_index(k, moved.at ? 0 : moved.limit - moved.start);
	return make_dynamic_update_slice(k, x, rest, start);
}

/* ---- parts of what is padded, when all is read */

typedef struct Shifts {
	Module *module;
	Arena *arena;
	Value **values;	 /* by id */
	Value **instead; /* ... of slices what takes their place; or NULL */
	Value **windows; /* ... of what is padded, if that is slices of them, */
	int *shown;	 /* ... as which, or of sums, so many are read */
	int nvalues;
} Shifts;

static int
known_id(const Shifts *shifts, const Value *v)
{
	return v->id >= 0 && v->id < shifts->nvalues && shifts->values[v->id] == v ? v->id : -1;
}

/* Elements one after the other of all dims? */
static bool
is_dense(const Op *slice)
{
	for (int d = 0; d < slice->results[0]->type.rank; d++)
		if (op_ints(slice, A_stride)->v[d] != 1)
			return false;
	return true;
}

/* Has the slice of what is padded the size of what that was before, where that is padded, and
   all else? */
static bool
is_shown(const Op *slice, const Op *pad)
{
	const Ints *low = op_ints(pad, A_low), *high = op_ints(pad, A_high);
	const Type *x = &pad->operands[0]->type, *part = &slice->results[0]->type;
	int windowed = 0;

	if (!is_dense(slice))
		return false;
	for (int d = 0; d < x->rank; d++) {
		windowed += low->v[d] || high->v[d];
		if (low->v[d] < 0 || high->v[d] < 0 || part->dims[d] != x->dims[d]
			|| low->v[d] + high->v[d] > x->dims[d] || op_inner(pad, d))
			return false;
	}
	return x->rank + windowed <= MAX_RANK;
}

/* pad(x)[start:limit], the only one: x with less around it. */
static Value *
pad_less(Make k, const Op *slice, const Op *pad)
{
	int64_t low[MAX_RANK], high[MAX_RANK], inner[MAX_RANK];
	Value *x = pad->operands[0];
	bool some = true;

	for (int d = 0; d < x->type.rank; d++) {
		int64_t of = pad->results[0]->type.dims[d];
		low[d] = op_ints(pad, A_low)->v[d] - op_ints(slice, A_start)->v[d];
		high[d] = op_ints(pad, A_high)->v[d] - (of - op_ints(slice, A_limit)->v[d]);
		inner[d] = op_inner(pad, d);
		int64_t before = low[d], behind = high[d];
		some &= pad_kept(x->type.dims[d], inner[d], &before, &behind, NULL) > 0;
	}
	return some ? make_pad_late(k, x, pad->operands[1], low, high, inner)
		    : make_splat(k, pad->operands[1], &slice->results[0]->type);
}

/* What windows as long as the padding show of x, before what is padded. */
static Value *
show_padded(Op *pad)
{
	const Ints *low = op_ints(pad, A_low), *high = op_ints(pad, A_high);
	int64_t before[MAX_RANK], behind[MAX_RANK];
	Windows w = {0};

	for (int d = 0; d < low->n; d++) {
		if (!low->v[d] && !high->v[d])
			continue;
		before[w.n] = low->v[d];
		behind[w.n] = high->v[d];
		w.dim[w.n] = d;
		w.size[w.n] = 1 + low->v[d] + high->v[d];
		w.step[w.n] = w.apart[w.n] = 1;
		w.n++;
	}
	return make_frames(make_before(pad), pad->operands[0], pad->operands[1], &w, before,
		behind);
}

/* One element of each window. */
static Value *
pick_shown(Make k, Value *shown, const Op *slice, const Op *pad)
{
	int64_t start[MAX_RANK] = {0}, limit[MAX_RANK], stride[MAX_RANK];
	const Type *type = &slice->results[0]->type;
	int window = type->rank;

	for (int d = 0; d < shown->type.rank; d++) {
		limit[d] = shown->type.dims[d];
		stride[d] = 1;
	}
	for (int d = 0; d < type->rank; d++)
		if (op_ints(pad, A_low)->v[d] || op_ints(pad, A_high)->v[d]) {
			start[window] = op_ints(slice, A_start)->v[d];
			limit[window] = start[window] + 1;
			window++;
		}
	return make_reshape(k, make_slice(k, shown, start, limit, stride), type->rank,
		type->dims);
}

/* concatenate(..)[start:limit], the only one: what is left of the operands together. */
static Value *
join_less(Shifts *shifts, Make k, const Op *slice, const Op *joined)
{
	Value **parts = NEW_ARRAY(shifts->arena, Value *, joined->noperands);
	int dim = (int)op_int(joined, A_dim), n = 0;
	int64_t at = 0;

	for (int d = 0; d < slice->results[0]->type.rank; d++)
		if (d != dim
			&& slice->results[0]->type.dims[d] != joined->results[0]->type.dims[d])
			return NULL;
	for (int i = 0; i < joined->noperands; i++) {
		Value *x = joined->operands[i];
		int64_t size = x->type.dims[dim];
		int64_t from = greater(op_ints(slice, A_start)->v[dim] - at, 0);
		int64_t to = lesser(op_ints(slice, A_limit)->v[dim] - at, size);
		if (from < to)
			parts[n++] = make_slice_dim(k, x, dim, from, to, 1);
		at += size;
	}
	return moved_together(k, n, parts, dim);
}

/* Of a sum of paddings, each of them read only there, and of which parts are read: the sum of
   what is left of each. */
static Value *
add_less(Shifts *shifts, Make k, const Op *slice, const Op *made, int depth)
{
	enum { MOST_ADDED = 64 };
	int id = made ? known_id(shifts, made->results[0]) : -1;

	int uses = id < 0 ? -1 : made->results[0]->uses;
	if (uses != (depth || made->kind == O_pad ? 1 : shifts->shown[id])
		|| depth > MOST_ADDED)
		return NULL;
	if (made->kind == O_pad)
		return pad_less(k, slice, made);
	if (made->kind != O_add)
		return NULL;
	Value *a = add_less(shifts, k, slice, made->operands[0]->def, depth + 1);
	Value *b = a ? add_less(shifts, k, slice, made->operands[1]->def, depth + 1) : NULL;
	return b ? make_binary(k, O_add, a, b) : NULL;
}

/* What takes the place of a slice of what is padded, or put together; NULL: nothing does. */
static Value *
part_moved(Shifts *shifts, Op *slice)
{
	Op *made = slice->operands[0]->def;
	Make k = make_before(slice);
	int id = known_id(shifts, slice->operands[0]);

	if (!made || id < 0 || !is_dense(slice))
		return NULL;
	if (made->kind == O_concatenate && made->results[0]->uses == 1)
		return join_less(shifts, k, slice, made);
	if (made->kind == O_add || (made->kind == O_pad && made->results[0]->uses == 1))
		return add_less(shifts, k, slice, made, 0);
	if (made->kind != O_pad)
		return NULL;
	if (shifts->shown[id] < made->results[0]->uses)
		return NULL;
	if (!shifts->windows[id])
		shifts->windows[id] = show_padded(made);
	return pick_shown(k, shifts->windows[id], slice, made);
}

static void
count_shown(Shifts *shifts)
{
	Block *entry = shifts->module->entry;

	for (Op *user = entry->first; user; user = op_following(user, entry)) {
		const Op *made = user->kind == O_slice ? user->operands[0]->def : NULL;
		if (made && made->kind == O_add)
			shifts->shown[made->results[0]->id] += is_dense(user);
		if (made && made->kind == O_pad)
			shifts->shown[made->results[0]->id] += is_shown(user, made);
	}
}

static void
take_instead(const Shifts *shifts, Op *user)
{
	for (int i = 0; i < user->noperands; i++) {
		int id = known_id(shifts, user->operands[i]);
		if (id >= 0 && shifts->instead[id])
			user->operands[i] = shifts->instead[id];
	}
}

void
join_shifts(Module *m, Arena *a)
{
	Shifts shifts = {.module = m, .arena = a};

	module_remove_dead(m);
	module_number(m);
	module_count_uses(m);
	shifts.nvalues = m->nvalues;
	shifts.values = module_values(m, a);
	shifts.instead = NEW_ARRAY(a, Value *, shifts.nvalues + 1);
	shifts.windows = NEW_ARRAY(a, Value *, shifts.nvalues + 1);
	shifts.shown = NEW_ARRAY(a, int, shifts.nvalues + 1);
	count_shown(&shifts);
	for (Op *user = m->entry->first; user; user = op_following(user, m->entry)) {
		take_instead(&shifts, user);
		if (user->nresults != 1 || known_id(&shifts, user->results[0]) < 0)
			continue;
		shifts.instead[user->results[0]->id] = user->kind == O_slice
			? part_moved(&shifts, user)
			: computed_wider(a, user);
	}
	module_remove_dead(m);
}

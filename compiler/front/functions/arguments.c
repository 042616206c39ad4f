/*
 * arguments.c - arguments of built-in functions, checked.
 *
 * Tensors, numbers, types, axes; what is about the dims of a tensor is dims.c's.
 */
#include <inttypes.h>

#include "builtins.h"

bool
has_kind(Call *c, const Argument *a, bool right)
{
	static const char *const wanted[] = {
#define PARAM_TYPE(name, reader, absent, wanted) wanted,
#include "parameters.def"
	};
	if (right)
		return true;
	complain(c->elab, DIAG_argument_kind, a->item->range,
		a->formal->rest ? "an %s of '%s' is %s; %s is wanted" /* operand */
				: "'%s' of '%s' is %s; %s is wanted",
		a->formal->name, c->builtin->name, show_item(c->elab, a->item),
		wanted[a->formal->type]);
	if (a->item->kind == IT_type && !a->item->type->has_dtype)
		diag_note(c->elab->session, nowhere,
			"there are no lists: a tuple is written (a, b)");
	else if (a->formal->type == PARAM_sizes || a->formal->type == PARAM_placement)
		diag_note(c->elab->session, nowhere,
			"sizes stand in brackets, and _ is the one that follows: [B, _]");
	return false;
}

const Type *
referent(const Argument *a)
{
	const Argument *of = a->of;
	return of->formal->type == PARAM_type	    ? &of->type
		: of->formal->type == PARAM_tensors ? &of->tensors.v[0]->type
						    : &of->tensor->type;
}

/* ---- tensors */

/* any: whatever it is; operand: a tensor, or a number that becomes one. */
bool
arg_tensor(Call *c, Argument *a)
{
	const Item *x = a->item;
	ParamType type = a->formal->type;
	bool number = item_is_number(x);
	a->tensor = x->value;
	if (type == PARAM_any || (type == PARAM_operand && number))
		return true;
	if (!number)
		return has_kind(c, a, x->kind == IT_tensor);
	return complain(c->elab, DIAG_literal, x->range,
		"a literal alone has no dtype; write it as a cast: f32(...)");
}

/* A tensor of a dtype that fits, or a message with what to do about it. */
bool
arg_dtyped(Call *c, Argument *a)
{
	static const struct {
		const char *needs, *advice;
	} types[] = {
		[PARAM_floats] = {"floats", "convert: f32(...)"},
		[PARAM_numbers] = {"numbers", "convert: i32(...)"},
		[PARAM_pred] = {"pred", "compare: x != 0"},
	};
	ParamType type = a->formal->type;
	if (!arg_tensor(c, a))
		return false;
	DType dtype = a->tensor->type.dtype;
	bool fits = type == PARAM_floats ? dtype_is_float(dtype)
					 : (type == PARAM_pred) == (dtype == D_pred);
	return fits
		|| complain(c->elab, DIAG_dtype, a->range, "'%s' needs %s, not %s; %s",
			c->builtin->name, types[type].needs, dtypes[dtype].name,
			types[type].advice);
}

bool
arg_condition(Call *c, Argument *a)
{
	if (!arg_tensor(c, a))
		return false;
	return a->tensor->type.dtype == D_pred
		|| complain(c->elab, DIAG_dtype, a->range,
			"the condition of '%s' is %s; pred is wanted, as from a comparison",
			c->builtin->name, show_type(c->elab, &a->tensor->type));
}

/* Integers: a tensor, or one number. */
bool
arg_indices(Call *c, Argument *a)
{
	const Item *x = a->item;
	if (x->kind == IT_int)
		a->tensor = item_constant(c->elab, c->site, D_i32, x);
	else if (!item_is_number(x) && !arg_tensor(c, a))
		return false;
	const Value *v = a->tensor;
	if (x->kind == IT_int || (v != NULL && dtype_is_index(v->type.dtype)))
		return v != NULL;
	return complain(c->elab, DIAG_dtype, x->range, "indices are integers%s, not %s",
		v != NULL && v->type.dtype == D_u64 ? " that an i64 may be" : "",
		v != NULL ? dtypes[v->type.dtype].name : show_item(c->elab, x));
}

/* An element of x, for pred also 0 or 1. */
bool
arg_scalar(Call *c, Argument *a)
{
	const Type *x = referent(a);
	Item value = *a->item;
	if (x->dtype == D_pred && value.kind == IT_int)
		value = item_bool(value.range, value.integer != 0);
	if (item_is_number(&value))
		a->tensor = item_constant(c->elab, c->site, x->dtype, &value);
	else if (!arg_tensor(c, a))
		return false;
	const Value *scalar = a->tensor;
	if (scalar == NULL || (scalar->type.dtype == x->dtype && scalar->type.rank == 0))
		return scalar != NULL;
	return complain(c->elab, DIAG_dtype, value.range,
		"the value of %s is a scalar %s, not %s", show_type(c->elab, x),
		dtypes[x->dtype].name, show_type(c->elab, &scalar->type));
}

/* Of one dtype. */
bool
arg_tensors(Call *c, Argument *a)
{
	const Item *x = a->item;
	if (!has_kind(c, a, x->kind == IT_tuple && x->n > 0))
		return false;
	Value **v = NEW_ARRAY(c->elab->arena, Value *, x->n);
	a->tensors.n = x->n;
	a->tensors.v = v;
	for (int k = 0; k < x->n; k++) {
		const Item *item = &x->items[k];
		v[k] = item->value;
		if (item->kind != IT_tensor)
			complain(c->elab, DIAG_argument_kind, item->range,
				"'%s' joins tensors; this is %s", c->builtin->name,
				show_item(c->elab, item));
		else if (v[k]->type.dtype != v[0]->type.dtype)
			complain(c->elab, DIAG_dtype, item->range,
				"'%s' of %s and %s; convert one of them", c->builtin->name,
				dtypes[v[0]->type.dtype].name, dtypes[v[k]->type.dtype].name);
		else
			continue;
		return false;
	}
	return true;
}

/* ---- known at compile time */

/* int, number, flag: a number's item is all there is of it. */
bool
arg_number(Call *c, Argument *a)
{
	const Item *x = a->item;
	ParamType type = a->formal->type;
	a->integer = x->integer;
	return has_kind(c, a,
		type == PARAM_int	     ? x->kind == IT_int
			: type == PARAM_flag ? x->kind == IT_bool
					     : item_is_number(x));
}

bool
arg_equation(Call *c, Argument *a)
{
	if (a->item->kind == IT_string) {
		a->text = a->item->literal->name;
		return true;
	}
	return complain(c->elab, DIAG_einsum, a->range,
		"einsum begins with its equation: einsum(\"bd,df->bf\", a, b)");
}

/* A seed as a key of two words of u32; JAX's key(seed). */
bool
arg_seed(Call *c, Argument *a)
{
	Elab *e = c->elab;
	const Item *x = a->item;
	int64_t seed = x->kind == IT_int ? x->integer : 0;
	bool narrow = seed == (int32_t)seed;
	Item high = item_int(x->range, narrow ? 0 : (uint32_t)(seed >> 32));
	Item low = item_int(x->range, (uint32_t)seed);
	a->key[0] = item_constant(e, c->site, D_u32, &high);
	a->key[1] = item_constant(e, c->site, D_u32, &low);
	if (x->kind == IT_tensor && x->value->type.rank == 0
		&& (x->value->type.dtype == D_i32 || x->value->type.dtype == D_u32))
		a->key[1] = make_convert(c->make, x->value, D_u32);
	else if (x->kind != IT_int)
		return complain(e, DIAG_argument_kind, x->range,
			"a seed is an integer or a scalar of i32 or u32, not %s",
			show_item(e, x));
	return a->key[0] != NULL && a->key[1] != NULL;
}

/* ---- types and placements */

/* type: every size and the dtype are written; dtype: it is alone; placement: [B@X, D],
   for a tensor whose dtype is known; sizes: those alone, as in reshape(x, [B, H, K]). */
bool
arg_written(Call *c, Argument *a)
{
	Elab *e = c->elab;
	const Annotation *x = a->item->type;
	ParamType type = a->formal->type;
	bool whole = type == PARAM_type || type == PARAM_dtype;
	if (!has_kind(c, a, a->item->kind == IT_type && (whole || !x->has_dtype)))
		return false;
	a->written = *x;
	if (type == PARAM_type)
		return annotation_type(e, x, NULL, &a->type);
	if (type == PARAM_dtype)
		return (x->has_dtype && x->rank == 0 && !x->placed)
			|| complain(e, DIAG_argument_kind, a->range,
				"dtype= takes a dtype alone: dtype=bf16");
	return type == PARAM_placement || !x->placed
		|| complain(e, DIAG_placement_here, x->range,
			"'%s' takes sizes only; to place the result write let h: [B@X, D] = "
			"...",
			c->builtin->name);
}

/* ---- axes of the mesh */

static bool
add_axis(Call *c, Argument *a, const Item *items, int k)
{
	Elab *e = c->elab;
	const Item *item = &items[k];
	bool twice = false;
	if (item->kind == IT_string && mesh_axis(&e->m->mesh, item->literal->name) >= 0)
		return complain(e, DIAG_habit, item->range, "an axis has no quotes: write %s",
			item->literal->name);
	if (item->kind != IT_axis)
		return complain(e, DIAG_argument_kind, item->range,
			"'%s' works along axes of the mesh; this is %s", c->builtin->name,
			show_item(e, item));
	AxisRef axis = axis_whole(&e->m->mesh, (int)item->integer);
	const char *name = e->m->mesh.axes[axis.axis].name;
	if (a->formal->type == PARAM_group && !axes_overlap(&e->manual->along, axis)
		&& !e->uncalled)
		return complain(e, DIAG_manual, item->range,
			"the function is not manual along %s", name);
	for (int i = 0; i < k; i++)
		twice |= items[i].kind == IT_axis && items[i].integer == item->integer;
	if (twice)
		return complain(e, DIAG_axis_twice, item->range, "axis %s is named twice",
			name);
	if (axis.size > 1)
		axes_append(&a->axes, axis);
	return true;
}

/* An axis or a tuple of axes, the first major; without those of size 1.  The
   devices of a group do something together. */
bool
arg_axes(Call *c, Argument *a)
{
	const Item *x = a->item;
	bool right = true;
	if (x->kind != IT_tuple)
		return add_axis(c, a, x, 0);
	for (int k = 0; k < x->n; k++)
		right &= add_axis(c, a, x->items, k);
	return right;
}

/* ((from, to), ...): devices of the group, each at most once on either side. */
bool
arg_pairs(Call *c, Argument *a)
{
	Elab *e = c->elab;
	const Item *x = a->item;
	int64_t n = axes_size(&a->of->axes);
	bool *sends = NEW_ARRAY(e->arena, bool, n);
	int64_t *source = NEW_ARRAY(e->arena, int64_t, n);
	a->source = source;
	for (int64_t k = 0; k < n; k++)
		source[k] = -1;
	for (int k = 0; x->kind == IT_tuple && k < x->n; k++) {
		const Item *pair = &x->items[k];
		if (!is_pair(pair))
			return complain(e, DIAG_permutation, pair->range,
				"a permutation is pairs of numbers, ((from, to), ...)");
		int64_t from = pair->items[0].integer, to = pair->items[1].integer;
		for (int side = 0; side < 2; side++) {
			int64_t device = pair->items[side].integer;
			if (device >= 0 && device < n)
				continue;
			return complain(e, DIAG_permutation, pair->items[side].range,
				"there is no device %" PRId64 "; they are 0 to %" PRId64,
				device, n - 1);
		}
		if (source[to] >= 0)
			complain(e, DIAG_permutation, pair->items[1].range,
				"two devices send to %" PRId64, to);
		else if (sends[from])
			complain(e, DIAG_permutation, pair->items[0].range,
				"device %" PRId64 " sends twice", from);
		else {
			sends[from] = true;
			source[to] = from;
			continue;
		}
		return false;
	}
	return true;
}

/* ---- all */

bool
read_arguments(Call *c, Argument *args)
{
	static const struct {
		Reader *read;
		bool reads_absent;
	} types[] = {
#define PARAM_TYPE(name, reader, absent, wanted) {arg_##reader, ABSENT_##absent},
#define ABSENT_skip false
#define ABSENT_read true
#include "parameters.def"
	};
	for (int i = 0; i < c->nitems; i++) {
		Argument *a = &args[i];
		const Formal *f = &c->formals->v[i];
		Item *x = &c->items[i];
		*a = (Argument){.formal = f, .item = x, .range = x->range};
		a->of = f->of >= 0 ? &args[f->of] : NULL;
		a->given = x->kind != IT_absent;
		for (int k = 0; f->rest && k < c->nrest; k++) {
			a->item = &c->rest[k];
			if (!types[f->type].read(c, a))
				return false;
		}
		bool number = f->or_number && (x->kind == IT_int || x->kind == IT_float);
		if (!f->rest && !number && (a->given || types[f->type].reads_absent)
			&& !types[f->type].read(c, a))
			return false;
	}
	return true;
}

/*
 * arguments.c - arguments of built-in functions, checked.
 *
 * Tensors, numbers, types, axes; what is about the dims of a tensor is dims.c's.
 */
#include <inttypes.h>

#include "builtins.h"

bool
wrong_kind(Call *c, int i, const char *wanted)
{
	return complain(c->elab, DIAG_argument_kind, c->items[i].range,
		"'%s' of '%s' is %s; %s is wanted", c->formals->v[i].name, c->builtin->name,
		show_item(c->elab, &c->items[i]), wanted);
}

static const char *const wanted[] = {
#define PARAM_TYPE(name, absent, wanted) wanted,
#include "parameters.def"
};

bool
has_kind(Call *c, int i, bool right)
{
	return right || wrong_kind(c, i, wanted[c->formals->v[i].type]);
}

const Type *
referent(const Call *c, int i, const Argument *args)
{
	int of = c->formals->v[i].of;
	ParamType type = c->formals->v[of].type;
	return type == PARAM_type	? &args[of].type
		: type == PARAM_tensors ? &args[of].tensors.v[0]->type
					: &args[of].tensor->type;
}

/* ---- tensors */

bool
arg_any(Call *c, int i, Argument *args)
{
	args[i].tensor = c->items[i].value;
	return true;
}

bool
arg_tensor(Call *c, int i, Argument *args)
{
	const Item *x = &c->items[i];
	args[i].tensor = x->value;
	if (!item_is_number(x))
		return has_kind(c, i, x->kind == IT_tensor);
	return complain(c->elab, DIAG_literal, x->range,
		"a literal alone has no dtype; write it as a cast: f32(...)");
}

/* A tensor, or a number that becomes one. */
bool
arg_operand(Call *c, int i, Argument *args)
{
	args[i].tensor = NULL;
	return item_is_number(&c->items[i]) || arg_tensor(c, i, args);
}

/* A tensor of a dtype that fits, or a message with what to do about it. */
static bool
arg_dtyped(Call *c, int i, Argument *args, bool (*fits)(DType), const char *needs,
	const char *advice)
{
	if (!arg_tensor(c, i, args))
		return false;
	DType dtype = args[i].tensor->type.dtype;
	return fits(dtype)
		|| complain(c->elab, DIAG_dtype, args[i].range, "'%s' needs %s, not %s; %s",
			c->builtin->name, needs, dtypes[dtype].name, advice);
}

static bool
is_pred(DType dtype)
{
	return dtype == D_pred;
}

static bool
is_number(DType dtype)
{
	return dtype != D_pred;
}

bool
arg_floats(Call *c, int i, Argument *args)
{
	return arg_dtyped(c, i, args, dtype_is_float, "floats", "convert: f32(...)");
}

bool
arg_numbers(Call *c, int i, Argument *args)
{
	return arg_dtyped(c, i, args, is_number, "numbers", "convert: i32(...)");
}

bool
arg_pred(Call *c, int i, Argument *args)
{
	return arg_dtyped(c, i, args, is_pred, "pred", "compare: x != 0");
}

bool
arg_condition(Call *c, int i, Argument *args)
{
	if (!arg_tensor(c, i, args))
		return false;
	return args[i].tensor->type.dtype == D_pred
		|| complain(c->elab, DIAG_dtype, args[i].range,
			"the condition of '%s' is %s; pred is wanted, as from a comparison",
			c->builtin->name, show_type(c->elab, &args[i].tensor->type));
}

/* Integers: a tensor, or one number. */
bool
arg_indices(Call *c, int i, Argument *args)
{
	const Item *x = &c->items[i];
	args[i].tensor = NULL;
	if (x->kind == IT_int)
		args[i].tensor = item_constant(c->elab, c->site, D_i32, x);
	else if (!item_is_number(x) && !arg_tensor(c, i, args))
		return false;
	const Value *v = args[i].tensor;
	if (x->kind == IT_int || (v != NULL && dtype_is_integer(v->type.dtype)))
		return v != NULL;
	return complain(c->elab, DIAG_dtype, x->range, "indices are integers, not %s",
		v != NULL ? dtypes[v->type.dtype].name : show_item(c->elab, x));
}

/* An element of x, for pred also 0 or 1. */
bool
arg_scalar(Call *c, int i, Argument *args)
{
	const Type *x = referent(c, i, args);
	Item value = c->items[i];
	if (x->dtype == D_pred && value.kind == IT_int)
		value = item_bool(value.range, value.integer != 0);
	if (item_is_number(&value))
		args[i].tensor = item_constant(c->elab, c->site, x->dtype, &value);
	else if (!arg_tensor(c, i, args))
		return false;
	const Value *scalar = args[i].tensor;
	if (scalar == NULL || (scalar->type.dtype == x->dtype && scalar->type.rank == 0))
		return scalar != NULL;
	return complain(c->elab, DIAG_dtype, value.range,
		"the value of %s is a scalar %s, not %s", show_type(c->elab, x),
		dtypes[x->dtype].name, show_type(c->elab, &scalar->type));
}

/* Of one dtype. */
bool
arg_tensors(Call *c, int i, Argument *args)
{
	const Item *x = &c->items[i];
	if (!has_kind(c, i, x->kind == IT_tuple && x->n > 0))
		return false;
	Value **v = NEW_ARRAY(c->elab->arena, Value *, x->n);
	args[i].tensors.n = x->n;
	args[i].tensors.v = v;
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

bool
arg_int(Call *c, int i, Argument *args)
{
	args[i].integer = c->items[i].integer;
	return has_kind(c, i, c->items[i].kind == IT_int);
}

bool
arg_number(Call *c, int i, Argument *args)
{
	(void)args; /* the item is all */
	return has_kind(c, i, item_is_number(&c->items[i]));
}

bool
arg_flag(Call *c, int i, Argument *args)
{
	args[i].flag = c->items[i].integer != 0;
	return has_kind(c, i, c->items[i].kind == IT_bool);
}

bool
arg_equation(Call *c, int i, Argument *args)
{
	if (c->items[i].kind == IT_string) {
		args[i].text = c->items[i].literal->name;
		return true;
	}
	return complain(c->elab, DIAG_einsum, args[i].range,
		"einsum begins with its equation: einsum(\"bd,df->bf\", a, b)");
}

/* A seed as a key of two words of u32; JAX's key(seed). */
bool
arg_seed(Call *c, int i, Argument *args)
{
	Elab *e = c->elab;
	const Item *x = &c->items[i];
	int64_t seed = x->kind == IT_int ? x->integer : 0;
	bool narrow = seed == (int32_t)seed;
	Item high = item_int(x->range, narrow ? 0 : (uint32_t)(seed >> 32));
	Item low = item_int(x->range, (uint32_t)seed);
	args[i].key[0] = item_constant(e, c->site, D_u32, &high);
	args[i].key[1] = item_constant(e, c->site, D_u32, &low);
	if (x->kind == IT_tensor && x->value->type.rank == 0
		&& (x->value->type.dtype == D_i32 || x->value->type.dtype == D_u32))
		args[i].key[1] = make_convert(c->make, x->value, D_u32);
	else if (x->kind != IT_int)
		return complain(e, DIAG_argument_kind, x->range,
			"a seed is an integer or a scalar of i32 or u32, not %s",
			show_item(e, x));
	return args[i].key[0] != NULL && args[i].key[1] != NULL;
}

/* ---- types and placements */

/* Every size and the dtype are written. */
bool
arg_type(Call *c, int i, Argument *args)
{
	if (!has_kind(c, i, c->items[i].kind == IT_type))
		return false;
	args[i].written = *c->items[i].type;
	return annotation_type(c->elab, &args[i].written, &args[i].type);
}

bool
arg_dtype(Call *c, int i, Argument *args)
{
	const Annotation *a = c->items[i].type;
	if (!has_kind(c, i, c->items[i].kind == IT_type))
		return false;
	args[i].written = *a;
	if (a->has_dtype && a->rank == 0 && !a->placed)
		return true;
	return complain(c->elab, DIAG_argument_kind, args[i].range,
		"dtype= takes a dtype alone: dtype=bf16");
}

/* [B@X, D]: for a tensor whose dtype is known. */
bool
arg_placement(Call *c, int i, Argument *args)
{
	const Item *x = &c->items[i];
	if (!has_kind(c, i, x->kind == IT_type && !x->type->has_dtype))
		return false;
	args[i].written = *x->type;
	return true;
}

/* Sizes alone, as in reshape(x, [B, H, K]). */
bool
arg_sizes(Call *c, int i, Argument *args)
{
	if (!arg_placement(c, i, args))
		return false;
	return !args[i].written.placed
		|| complain(c->elab, DIAG_placement_here, args[i].written.range,
			"'%s' takes sizes only; to place the result write let h: [B@X, D] = "
			"...",
			c->builtin->name);
}

/* ---- axes of the mesh */

static bool
add_axis(Call *c, const Item *item, AxisList *axes, bool manual)
{
	Elab *e = c->elab;
	if (item->kind != IT_axis)
		return complain(e, DIAG_argument_kind, item->range,
			"'%s' works along axes of the mesh; this is %s", c->builtin->name,
			show_item(e, item));
	AxisRef a = axis_whole(&e->m->mesh, (int)item->integer);
	if (manual && !axes_overlap(&e->manual->along, a) && !e->uncalled)
		return complain(e, DIAG_manual, item->range,
			"the function is not manual along %s", e->m->mesh.axes[a.axis].name);
	if (axes_overlap(axes, a))
		return complain(e, DIAG_axis_twice, item->range, "axis %s is named twice",
			e->m->mesh.axes[a.axis].name);
	if (a.size > 1)
		axes_append(axes, a);
	return true;
}

/* An axis or a tuple of axes, the first major; without those of size 1. */
static bool
arg_axis_list(Call *c, int i, Argument *args, bool manual)
{
	const Item *x = &c->items[i];
	args[i].axes = (AxisList){0};
	if (x->kind != IT_tuple)
		return add_axis(c, x, &args[i].axes, manual);
	bool right = true;
	for (int k = 0; k < x->n; k++)
		right &= add_axis(c, &x->items[k], &args[i].axes, manual);
	return right;
}

bool
arg_axes(Call *c, int i, Argument *args)
{
	return arg_axis_list(c, i, args, false);
}

/* Along which the devices of a manual function do something together. */
bool
arg_group(Call *c, int i, Argument *args)
{
	return arg_axis_list(c, i, args, true);
}

/* ((from, to), ...): devices of the group, each at most once on either side. */
bool
arg_pairs(Call *c, int i, Argument *args)
{
	Elab *e = c->elab;
	const Item *x = &c->items[i];
	int64_t n = axes_size(&args[c->formals->v[i].of].axes);
	bool *sends = NEW_ARRAY(e->arena, bool, n);
	int64_t *source = NEW_ARRAY(e->arena, int64_t, n);
	args[i].source = source;
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
#define PARAM_TYPE(name, absent, wanted) {arg_##name, ABSENT_##absent},
#define ABSENT_skip false
#define ABSENT_read true
#include "parameters.def"
	};
	const Formals *s = c->formals;
	for (int i = 0; i < s->n; i++) {
		const Formal *f = &s->v[i];
		const Item *x = &c->items[i];
		args[i].range = x->range;
		args[i].given = x->kind != IT_absent;
		if (f->rest) {
			for (int k = 0; k < c->nrest; k++) {
				c->items[i] = c->rest[k];
				if (!types[f->type].read(c, i, args))
					return false;
			}
			c->items[i] = (Item){.kind = IT_absent};
		} else if (f->or_number && (x->kind == IT_int || x->kind == IT_float)) {
			args[i].tensor = NULL;
		} else if ((args[i].given || types[f->type].reads_absent)
			&& !types[f->type].read(c, i, args)) {
			return false;
		}
	}
	return true;
}

/*
 * ops.c - the tables behind the enums: ops.def, collectives.def, dtypes.def,
 * combiners.def, overlaps.def.
 *
 * What follows from a row's text (an op is pointwise when its rule is) is
 * worked out here by the compiler of this file, so that the rows say each
 * thing once.
 */
#include <ctype.h>
#include <string.h>
#include "ir/ir.h"

#define IS(text, word) (!__builtin_strcmp(#text, #word))

/* "custom-call:Sharding" is opcode and target; other opcodes have none. */
#define CUSTOM "custom-call:"
#define IS_CUSTOM(hlo) (!__builtin_strncmp(hlo, CUSTOM, sizeof CUSTOM - 1))
#define OPCODE(hlo) (IS_CUSTOM(hlo) ? "custom-call" : hlo)
#define AFTER_PREFIX(hlo) (&hlo[sizeof hlo > sizeof CUSTOM ? sizeof CUSTOM - 1 : 0])
#define TARGET(hlo) (IS_CUSTOM(hlo) ? AFTER_PREFIX(hlo) : NULL)

#define COUNT(run) (BODIES_##run == BODIES_none ? 0 : BODIES_##run == BODIES_once ? 1 : 2)

/* The formula is one of C's that give the same bits with a and b exchanged; of max and min
   0 and -0 are not. */
#define FORMULA(text, operator) (!__builtin_strcmp(text, "a " operator" b"))
#define SYMMETRIC(text) \
	(FORMULA(text, "+") || FORMULA(text, "*") || FORMULA(text, "&") || FORMULA(text, "|") \
		|| FORMULA(text, "^"))

#define MANY(id, run) (BODIES_##run != BODIES_none || O_##id == O_sort || O_##id == O_extern)

const OpInfo ops[OP_COUNT] = {
#define OP(id, hlo_text, noperands, attr_mask, type_fn, rule_fn, partial_kind, where_id, \
	run_id, gradient, flop_count, float_text, int_text, doc_text) \
	[O_##id] = { \
		.name = #id, \
		.hlo = OPCODE(hlo_text), \
		.target = TARGET(hlo_text), \
		.operands = noperands, \
		.attrs = attr_mask, \
		.pointwise = IS(rule_fn, pointwise), \
		.leaf = IS(rule_fn, leaf), \
		.blocked = IS(rule_fn, blocked), \
		.renames = IS(rule_fn, reshape), \
		.product = IS(rule_fn, dot), \
		.weight = __builtin_strchr(float_text, '(') ? 8 \
			: IS(id, div)			    ? 4 \
							    : 1, \
		.symmetric = SYMMETRIC(int_text), \
		.where = WHERE_##where_id, \
		.run = BODIES_##run_id, \
		.bodies = COUNT(run_id), \
		.many = MANY(id, run_id), \
		.partial = PARTIAL_##partial_kind, \
		.flops = flop_count, \
		.float_c = float_text, \
		.int_c = int_text, \
		.doc = doc_text, \
	},
#include "ops.def"
#undef OP
};

const CollectiveInfo collectives[OP_COUNT] = {
#define COLLECTIVE(id, per_member, per_rest, whole, turns, route, varies, base, in_place, \
	global, start, combines, early, runs) \
	[O_##id] = {per_member, per_rest, whole, turns, ROUTE_##route, varies, base, in_place, \
		global, START_##start, COMBINES_##combines, early, runs},
#include "collectives.def"
#undef COLLECTIVE
};

const DTypeInfo dtypes[DTYPE_COUNT] = {
#define DTYPE(id, hlo_text, bits, size, range, class_id, storage_c, compute_c, peak, vector) \
	[D_##id] = {#id, hlo_text, bits, size, range, DC_##class_id, #storage_c, #compute_c},
#include "dtypes.def"
#undef DTYPE
};

const CombinerInfo combiners[COMBINER_COUNT] = {
#define COMBINER(id, hlo_text, lang, float_text, int_text, identity_id, neutral_id) \
	[C_##id] = {lang, hlo_text, float_text, int_text, IDENTITY_##identity_id, \
		IDENTITY_##neutral_id},
#include "combiners.def"
#undef COMBINER
};

bool
combiner_takes(Combiner combiner, DType d)
{
	bool logical = combiner == C_and || combiner == C_or;

	return combiner == C_max || combiner == C_min || logical == (d == D_pred);
}

const char *const mode_names[] = {
	[MODE_auto] = "auto",
	[MODE_explicit] = "explicit",
	[MODE_backward] = "backward",
};

const char *const other_trip_names[OTHER_TRIPS] = {
#define OTHER_TRIP(id, ...) #id,
#include "other_trips.def"
#undef OTHER_TRIP
};

const char *const direction_names[] = {
	[DIR_EQ] = "EQ",
	[DIR_NE] = "NE",
	[DIR_LT] = "LT",
	[DIR_LE] = "LE",
	[DIR_GT] = "GT",
	[DIR_GE] = "GE",
};

const AttrInfo attr_table[ATTR_COUNT] = {
#define ATTR(id, hlo_text, form) [A_##id] = {#id, hlo_text, FORM_##form},
#include "attrs.def"
#undef ATTR
};

const OpFormInfo op_forms[OP_FORM_COUNT] = {
#define OP_FORM(id, out, statement, around, quoted) \
	[AS_##id] = {#id, out, statement, around, quoted},
#include "forms.def"
#undef OP_FORM
};

const OverlapInfo overlaps[OVERLAPS] = {
#define OVERLAP(id, begins, pipelines, divides) \
	[OVERLAP_##id] = {#id, BEGINS_##begins, pipelines, divides},
#include "overlaps.def"
#undef OVERLAP
};

const char *const level_names[] = {
	[L_global] = "global",
	[L_sharded] = "sharded",
	[L_resharded] = "resharded",
	[L_device] = "device",
	[L_fused] = "fused",
	[L_scheduled] = "scheduled",
};

bool
hlo_reserved(const char *name)
{
	static const char types[][sizeof "f8e4m3b11fnuz"] = {"pred", "s1", "s2", "s4", "s8",
		"s16", "s32", "s64", "u1", "u2", "u4", "u8", "u16", "u32", "u64", "f16", "bf16",
		"f32", "f64", "c64", "c128", "f8e3m4", "f8e4m3", "f8e4m3fn", "f8e4m3fnuz",
		"f8e4m3b11fnuz", "f8e5m2", "f8e5m2fnuz", "f8e8m0fnu", "f4e2m1fn", "token",
		"opaque"};
	const char *after = &name[name[0] != '\0'];

	/* a letter or two and a size, but for the words with p, t and o */
	if (!isdigit((unsigned char)*after) && *after && !isdigit((unsigned char)after[1])
		&& !strchr("pto", name[0]))
		return false;
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (types[i][0] == name[0] && !strcmp(types[i], name))
			return true;
	return false;
}

/*
 * c_text.c - how things are spelled in C: strings and comments made of the
 * user's text, constants, and one element of each op, from its row in
 * ops.def.  f16 and bf16 are computed in float and rounded after every op.
 */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include "emit/c.h"
#include "ir/numbers.h"

/* ---- the user's text ---------------------------------------------------- */

void
c_between(Text *t, int i, const char *indent)
{
	if (i % 2)
		text_add(t, ", ");
	else if (i)
		text_printf(t, ",\n%s\t", indent);
}

/* Octal escapes have at most three digits; ? is escaped for trigraphs. */
void
c_string(Text *t, const char *s, size_t n)
{
	text_add(t, "\"");
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		if (c == '\n')
			text_add(t, "\\n");
		else if (c == '"' || c == '\\' || c == '?')
			text_printf(t, "\\%c", c);
		else if (c < ' ' || c > '~')
			text_printf(t, "\\%03o", c);
		else
			text_addn(t, &s[i], 1);
	}
	text_add(t, "\"");
}

/* No end of comment, no trigraph, no line splice, one line. */
void
c_comment(Text *t, const char *s)
{
	char last = 0;

	for (; *s; s++) {
		char c = *s;
		bool plain = c >= ' ' && c <= '~' && c != '\\' && c != '?'
			&& !(c == '/' && last == '*') && !(c == '*' && last == '/');
		c = plain || (c & 0x80) ? c : '.';
		text_addn(t, &c, 1);
		last = c;
	}
}

/* ---- types and constants ------------------------------------------------ */

bool
is_half(DType d)
{
	return d == D_f16 || d == D_bf16;
}

const char *
compute_type(DType d)
{
	return dtypes[d].compute;
}

/* The dtype in whose arithmetic `d` is computed. */
static DType
compute_dtype(DType d)
{
	return is_half(d) ? D_f32 : d;
}

static void
c_float(Text *t, DType d, double v)
{
	bool narrow = d != D_f64;
	char digits[40];

	if (isnan(v)) {
		text_printf(t, "__builtin_nan%s(\"\")", narrow ? "f" : "");
		return;
	}
	if (isinf(v)) {
		text_printf(t, "%s__builtin_inf%s()", v < 0 ? "-" : "", narrow ? "f" : "");
		return;
	}
	snprintf(digits, sizeof digits, "%.*g", narrow ? 9 : 17, v);
	if (!strpbrk(digits, ".e"))
		strcat(digits, ".0");
	text_printf(t, "%s%s", digits, narrow ? "f" : "");
}

void
c_constant(Text *t, DType d, int64_t payload)
{
	DTypeClass class = dtypes[d].class;

	if (is_half(d)) {
		text_printf(t, "shdrt_through_%s(", dtypes[d].name);
		c_float(t, d, (float)payload_double(payload));
		text_add(t, ")");
	} else if (class == DC_float) {
		double v = payload_double(payload);
		c_float(t, d, d == D_f32 ? (double)(float)v : v);
	} else if (d == D_i64) {
		if (payload == INT64_MIN)
			text_add(t, "INT64_MIN");
		else
			text_printf(t, "INT64_C(%lld)", (long long)payload);
	} else if (d == D_i32 && (int32_t)payload == INT32_MIN) {
		text_add(t, "INT32_MIN");
	} else if (d == D_u32) {
		text_printf(t, "%uu", (unsigned)(uint32_t)payload);
	} else if (class == DC_pred) {
		text_add(t, payload ? "1" : "0");
	} else {
		text_printf(t, "%lld", (long long)payload);
	}
}

void
c_load(Text *t, DType d, const char *element)
{
	if (is_half(d))
		text_printf(t, "shdrt_f32_from_%s(%s)", dtypes[d].name, element);
	else
		text_add(t, element);
}

void
c_store(Text *t, DType d, const char *value)
{
	if (is_half(d))
		text_printf(t, "shdrt_%s_from_f32(%s)", dtypes[d].name, value);
	else
		text_add(t, value);
}

/* ---- ops ---------------------------------------------------------------- */

static bool
is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* A row's text with a, b, c replaced by the arguments and $ by the dtype. */
static void
substitute(Text *t, const char *row, const char *const *args, DType d)
{
	for (const char *s = row; *s; s++) {
		bool alone = (s == row || !is_word(s[-1])) && !is_word(s[1]);
		if (*s == '$')
			text_add(t, dtypes[compute_dtype(d)].name);
		else if (alone && *s >= 'a' && *s <= 'c')
			text_add(t, args[*s - 'a']);
		else
			text_addn(t, s, 1);
	}
}

static void
c_convert(Text *t, DType from, DType to, const char *x)
{
	const char *in = dtypes[compute_dtype(from)].name;

	if (from == to)
		text_add(t, x);
	else if (is_half(to) && compute_dtype(from) == D_f32)
		text_printf(t, "shdrt_through_%s(%s)", dtypes[to].name, x);
	else if (is_half(to))
		text_printf(t, "shdrt_f32_from_%s(shdrt_%s_from_%s(%s))", dtypes[to].name,
			dtypes[to].name, in, x);
	else
		text_printf(t, "shdrt_%s_from_%s(%s)", dtypes[to].name, in, x);
}

static void
c_compare(Text *t, const Op *op, const char *const *args)
{
	static const char *const signs[] = {
		[DIR_EQ] = "==",
		[DIR_NE] = "!=",
		[DIR_LT] = "<",
		[DIR_LE] = "<=",
		[DIR_GT] = ">",
		[DIR_GE] = ">=",
	};

	text_printf(t, "%s %s %s", args[0], signs[op_int(op, A_direction)], args[1]);
}

static void
c_row(Text *t, const Op *op, const char *const *args)
{
	DType d = op->operands[op->noperands - 1]->type.dtype; /* 0 may only choose */

	substitute(t, dtype_is_float(d) ? ops[op->kind].float_c : ops[op->kind].int_c, args, d);
}

/* -ffp-contract is off, int wraps (-fwrapv); narrow ones are cut back. */
void
c_pointwise(Text *t, const Op *op, const char *const *args)
{
	DType d = op->results[0]->type.dtype;

	if (op->kind == O_convert) {
		c_convert(t, op->operands[0]->type.dtype, d, args[0]);
	} else if (op->kind == O_compare) {
		c_compare(t, op, args);
	} else if (is_half(d) && numbers[op->kind].ulps > 0) {
		text_printf(t, "shdrt_through_%s(", dtypes[d].name);
		c_row(t, op, args);
		text_add(t, ")");
	} else if (dtypes[d].bytes == 1 && d != D_pred) {
		text_printf(t, "(%s)(", compute_type(d));
		c_row(t, op, args);
		text_add(t, ")");
	} else {
		c_row(t, op, args);
	}
}

void
c_combine(Text *t, Combiner c, DType d, const char *acc, const char *x)
{
	const char *args[3] = {acc, x, ""};
	const char *row = dtype_is_float(d) ? combiners[c].float_c : combiners[c].int_c;

	if (dtypes[d].bytes == 1)
		text_printf(t, "(%s)(", compute_type(d));
	substitute(t, row, args, d);
	if (dtypes[d].bytes == 1)
		text_add(t, ")");
}

const char *
c_array(Emitter *e, const Op *constant)
{
	const Ints *values = op_ints(constant, A_value);
	DType d = constant->results[0]->type.dtype;
	Text text = {0};

	text_printf(&text, "[%d] = {", values->n);
	for (int i = 0; i < values->n; i++) {
		c_between(&text, i, "");
		c_constant(&text, is_half(d) ? D_f32 : d, values->v[i]);
	}
	text_add(&text, "};\n");
	const char *key = arena_printf(e->arena, "%s%s", compute_type(d), text.s);
	const char *name = table_get(e->by_text, key);
	if (!name) {
		name = arena_printf(e->arena, "array_%d", e->nkernels++);
		table_set(e->by_text, key, (void *)name);
		text_printf(&e->kernels, "static const %s %s%s\n", compute_type(d), name,
			text.s);
	}
	text_free(&text);
	return name;
}

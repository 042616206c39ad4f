/*
 * c_text.c - how things are spelled in C: strings and comments made of the
 * user's text, constants, and one element of each op, from its row in
 * ops.def.  f16 and bf16 are computed in float and rounded after every op.
 */
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

void
c_quoted(Text *t, const char *before, const char *s)
{
	text_add(t, before);
	c_string(t, s, strlen(s));
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

/* The name of the dtype in whose arithmetic `d` is computed. */
static const char *
compute_name(DType d)
{
	return dtypes[dtype_is_narrow(d) ? D_f32 : d].name;
}

const char *
c_rounded(Arena *a, DType d, const char *x)
{
	return dtype_is_narrow(d) ? arena_printf(a, "shdrt_through_%s(%s)", dtypes[d].name, x)
				  : x;
}

const char *
c_load(Arena *a, DType d, const char *element)
{
	return dtype_is_narrow(d)
		? arena_printf(a, "shdrt_f32_from_%s(%s)", dtypes[d].name, element)
		: element;
}

const char *
c_store(Arena *a, DType d, const char *value)
{
	return dtype_is_narrow(d)
		? arena_printf(a, "shdrt_%s_from_f32(%s)", dtypes[d].name, value)
		: value;
}

const char *
c_constant(Arena *a, DType d, int64_t payload)
{
	const char *f = d == D_f64 ? "" : "f";
	double v = dtype_is_float(d) ? payload_double(payload) : 0;
	char digits[40];

	if (d == D_i64 && payload == INT64_MIN)
		return "INT64_MIN";
	if (d == D_i64)
		return arena_printf(a, "INT64_C(%lld)", (long long)payload);
	if (d == D_i32 && (int32_t)payload == INT32_MIN)
		return "INT32_MIN";
	if (d == D_u64)
		return arena_printf(a, "UINT64_C(%llu)", (unsigned long long)payload);
	if (d == D_u32)
		return arena_printf(a, "%uu", (unsigned)(uint32_t)payload);
	if (d == D_pred)
		return payload ? "1" : "0";
	if (!dtype_is_float(d))
		return arena_printf(a, "%lld", (long long)payload);
	v = *f ? (double)(float)v : v;
	if (isnan(v))
		return c_rounded(a, d, arena_printf(a, "__builtin_nan%s(\"\")", f));
	if (isinf(v))
		return c_rounded(a, d,
			arena_printf(a, "%s__builtin_inf%s()", v < 0 ? "-" : "", f));
	snprintf(digits, sizeof digits, "%.*g", *f ? 9 : 17, v);
	return c_rounded(a, d,
		arena_printf(a, "%s%s%s", digits, strpbrk(digits, ".e") ? "" : ".0", f));
}

/* ---- ops ---------------------------------------------------------------- */

/* A row's text with a, b, c replaced by the arguments, $ by the dtype: -a of -1 is -(-1). */
static const char *
substitute(Arena *a, const char *row, const char *const *args, DType d)
{
	Text t = {0};

	for (size_t n; *row; row += n) {
		n = strspn(row, "abcdefghijklmnopqrstuvwxyz0123456789_");
		if (n == 1 && *row >= 'a' && *row <= 'c') {
			const char *x = args[*row - 'a'];
			bool twice = *x == '-' && t.n && t.s[t.n - 1] == '-';
			text_add(&t, twice ? "(" : "");
			text_add(&t, x);
			text_add(&t, twice ? ")" : "");
		} else if (n)
			text_addn(&t, row, n);
		else if (*row == '$')
			text_add(&t, compute_name(d));
		else
			text_addn(&t, row, 1);
		n += !n;
	}
	return text_take(&t, a);
}
/* -ffp-contract is off, int wraps (-fwrapv); narrow ones are cut back. */
/* What C computes in int, in the integer type again. */
static const char *
c_wrapped(Arena *a, DType d, const char *x)
{
	if (dtypes[d].bits < 8)
		return arena_printf(a, "shdrt_wrap_%s(%s)", dtypes[d].name, x);
	return dtypes[d].bytes < 4 ? arena_printf(a, "(%s)(%s)", dtypes[d].compute, x) : x;
}

const char *
c_pointwise(Arena *a, const Op *op, const char *const *args)
{
	static const char *const signs[] = {"==", "!=", "<", "<=", ">", ">="}; /* Direction */
	DType d = op->results[0]->type.dtype;
	DType of = op->operands[op->noperands - 1]->type.dtype; /* 0 may only choose */
	const char *row = dtype_is_float(of) ? ops[op->kind].float_c : ops[op->kind].int_c;
	const char *to = dtypes[d].name, *from = compute_name(of);

	if (op->kind == O_convert) {
		if (of == d)
			return args[0];
		if (dtype_is_narrow(d) && !strcmp(from, "f32"))
			return c_rounded(a, d, args[0]);
		return c_load(a, d, arena_printf(a, "shdrt_%s_from_%s(%s)", to, from, args[0]));
	}
	if (op->kind == O_bitcast)
		return arena_printf(a, "shdrt_%s_of_bits(shdrt_bits_of_%s(%s))", to,
			dtypes[of].name, args[0]);
	if (op_has(op, A_direction))
		return arena_printf(a, "%s %s %s", args[0], signs[op_int(op, A_direction)],
			args[1]);
	row = substitute(a, row, args, of);
	if (numbers[op->kind].ulps > 0)
		row = c_rounded(a, d, row);
	return dtype_is_integer(d) ? c_wrapped(a, d, row) : row;
}

const char *
c_combine(Arena *a, Combiner c, DType d, const char *acc, const char *x)
{
	const char *row = dtype_is_float(d) ? combiners[c].float_c : combiners[c].int_c;

	row = substitute(a, row, (const char *[]){acc, x, ""}, d);
	return dtype_is_float(d) ? row : c_wrapped(a, d, row);
}

const char *
c_share(Emitter *e, const Text *t, const char *name)
{
	const char *known = table_get(e->by_text, t->s);

	if (!known)
		table_set(e->by_text, arena_strndup(e->arena, t->s, t->n),
			arena_strndup(e->arena, name, strlen(name)));
	return known ? known : name;
}

const char *
c_array(Emitter *e, const Op *constant)
{
	const Ints *values = op_ints(constant, A_value);
	DType d = constant->results[0]->type.dtype;
	const char *type = dtypes[d].compute;
	const char *fresh = arena_printf(e->step, "array_%d", e->nkernels);
	Text text = {0};

	text_printf(&text, "%s[%d] = {", type, values->n);
	for (int i = 0; i < values->n; i++) {
		c_between(&text, i, "");
		text_add(&text,
			c_constant(e->step, dtype_is_narrow(d) ? D_f32 : d, values->v[i]));
	}
	const char *name = c_share(e, &text, fresh);
	if (name == fresh) {
		e->nkernels++;
		text_printf(&e->kernels, "static const %s %s%s};\n\n", type, name,
			text.s + strlen(type));
	}
	text_free(&text);
	return name;
}

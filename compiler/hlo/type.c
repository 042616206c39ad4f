/*
 * type.c - types as HLO writes them: f32[8,16], and tuples, (f32[8], s32[]).
 *
 * Layouts, f32[8,16]{1,0}, are skipped.
 */
#include <string.h>
#include "hlo/print.h"
#include "hlo/read.h"

void
text_hlo_type(Text *t, const Type *type)
{
	text_printf(t, "%s[", dtypes[type->dtype].hlo);
	text_numbers(t, type->rank, type->dims, ",");
	text_add(t, "]");
}

void
text_tuple_type(Text *t, int n, Value *const *values)
{
	text_add(t, "(");
	for (int i = 0; i < n; i++) {
		text_add(t, i ? ", " : "");
		text_hlo_type(t, &values[i]->type);
	}
	text_add(t, ")");
}

/* A tuple is skipped: syntax_read.c looks at what is in it. */
bool
cursor_type(Cursor *c, Type *type, bool *tuple)
{
	*tuple = cursor_is(c, '(');
	*type = type_of(D_pred, 0, NULL);
	if (*tuple) {
		cursor_skip_brackets(c);
		return !c->rd->failed;
	}
	Cursor at = *c;
	const char *name = cursor_word(c, "a type");
	int d = 0;
	while (d < DTYPE_COUNT && strcmp(dtypes[d].hlo, name))
		d++;
	if (d == DTYPE_COUNT)
		cursor_error(&at, "unknown type '%s'", name);
	else
		type->dtype = (DType)d;

	int64_t bytes = dtypes[type->dtype].bytes;
	cursor_expect(c, "[");
	while (cursor_item(c, type->rank, "]")) {
		if (type->rank == MAX_RANK) {
			cursor_error(c, "more than %d dims", MAX_RANK);
			return false;
		}
		int64_t size = cursor_integer(c, "the size of a dim");
		if (size < 1 || !mul_i64(bytes, size, &bytes)) {
			cursor_error(c, "a dim of size %lld", (long long)size);
			return false;
		}
		type->dims[type->rank++] = size;
	}
	if (!c->rd->failed && c->pos < c->end && c->s[c->pos] == '{')
		cursor_skip_brackets(c);
	return !c->rd->failed;
}

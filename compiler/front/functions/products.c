/*
 * products.c - einsum and matmul.
 *
 *   einsum("...bd,df->...bf", x, w)
 *
 * The dims under `...` are letters too, numbered behind the 52 that can be
 * written, the last dim having the last one.
 */
#include <inttypes.h>
#include <string.h>

#include "builtins.h"

typedef struct Piece {	/* "bd" of an equation */
	int begin, end; /* in the string */
	int ellipsis;	/* where `...` stands, or -1 */
	int nletters;
} Piece;

typedef struct Equation {
	Elab *e;
	Call *c;
	const Argument *a;
	const char *text;
	Range literal;
	int npieces; /* operands */
	Piece pieces[MAX_TERMS];
	Piece out;
	int nhidden; /* most dims under a `...` */
	Term *terms;
	Range first[MAX_LETTERS]; /* where a letter got its size */
	int64_t sizes[MAX_LETTERS];
	int owner[MAX_LETTERS]; /* the operand that gave it, from 1 */
} Equation;

static Range
range_at(const Equation *q, int begin, int end)
{
	Range r = q->literal;
	r.begin = q->literal.begin + 1 + begin;
	r.end = q->literal.begin + 1 + end;
	return r;
}

/* Dims of size 1 that are larger elsewhere have no letter. */
static bool
drop_stretched(Make k, Term *term, const int64_t *sizes)
{
	for (int d = term->value->type.rank - 1; d >= 0; d--)
		if (term->value->type.dims[d] != sizes[term->letters[d]]
			&& !term_drop_dim(k, term, d))
			return false;
	return true;
}

/* ---- the text */

/* One list of letters, up to `,` or `-` or the end. */
static bool
read_piece(Equation *q, int *at, Piece *piece)
{
	const char *s = q->text;
	*piece = (Piece){*at, *at, -1, 0};
	for (; s[*at] != '\0' && s[*at] != ',' && s[*at] != '-'; (*at)++) {
		if (s[*at] == ' ')
			continue;
		bool letter =
			(s[*at] >= 'a' && s[*at] <= 'z') || (s[*at] >= 'A' && s[*at] <= 'Z');
		if (letter) {
			piece->nletters++;
		} else if (strncmp(s + *at, "...", 3) == 0 && piece->ellipsis < 0) {
			piece->ellipsis = *at;
			*at += 2;
		} else {
			return complain(q->e, DIAG_einsum, range_at(q, *at, *at + 1),
				"'%c' cannot stand here; operands are letters and one '...'",
				s[*at]);
		}
	}
	piece->end = *at;
	return true;
}

static bool
read_equation(Equation *q)
{
	for (int at = 0;; at++) {
		if (q->npieces == MAX_TERMS)
			return complain(q->e, DIAG_einsum, q->literal,
				"an einsum has at most %d operands", MAX_TERMS);
		if (!read_piece(q, &at, &q->pieces[q->npieces++]))
			return false;
		if (q->text[at] == ',')
			continue;
		if (strncmp(q->text + at, "->", 2) != 0)
			return complain(q->e, DIAG_einsum, range_at(q, at, at + 1),
				"'->' and the letters of the result are missing; write "
				"\"bd,df->bf\"");
		at += 2;
		if (!read_piece(q, &at, &q->out))
			return false;
		return q->text[at] == '\0'
			|| complain(q->e, DIAG_einsum, range_at(q, at, at + 1),
				"'%c' cannot stand in the result", q->text[at]);
	}
}

/* ---- against the operands */

/* Gives a letter its size, unless it has another; what stretches is as large as the
   others are where it is 1. */
static bool
take_size(int64_t *known, int64_t size, bool stretches)
{
	if (*known == 0 || (stretches && *known == 1))
		*known = size;
	return *known == size || (stretches && size == 1);
}

/* The letters of one list, `...` spread over `hidden` dims. */
static int
spell_out(Equation *q, const Piece *piece, int hidden, Term *term)
{
	int n = 0;
	for (int at = piece->begin; at < piece->end; at++) {
		if (at == piece->ellipsis) {
			for (int i = 0; i < hidden; i++) {
				term->letters[n] = FIRST_HIDDEN + q->nhidden - hidden + i;
				term->ranges[n++] = range_at(q, at, at + 3);
			}
			at += 2;
		} else if (q->text[at] != ' ') {
			char letter = q->text[at];
			term->letters[n] = letter >= 'a' ? letter - 'a' : letter - 'A' + 26;
			term->ranges[n++] = range_at(q, at, at + 1);
		}
	}
	return n;
}

/* Have the letters of the first n operands one size each? */
static bool
sizes_agree(const Equation *q, int n)
{
	int64_t sizes[MAX_LETTERS] = {0};
	for (int i = 0; i < n; i++) {
		const Type *type = &q->terms[i].value->type;
		for (int d = 0; d < type->rank; d++)
			if (!take_size(&sizes[q->terms[i].letters[d]], type->dims[d],
				    q->terms[i].letters[d] >= FIRST_HIDDEN))
				return false;
	}
	return true;
}

/* Other orders of the letters of one operand, in which all sizes agree. */
typedef struct Fit {
	Equation *q;
	int n;	     /* operands that have letters */
	int operand; /* whose letters are tried */
	int letters[MAX_RANK];
	int least, ways; /* letters that are elsewhere; orders in which so few are */
	Text order;	 /* the last of them */
} Fit;

enum { MOST_TRIED = 6 }; /* of more letters two change places */

/* The letters from the one at `at` on; `moved` of those before are elsewhere. */
static void
try_orders(Fit *f, int at, int moved)
{
	Term *term = &f->q->terms[f->operand];
	int *letters = term->letters, rank = term->value->type.rank;
	if (moved > f->least || (rank > MOST_TRIED && moved > 2))
		return;
	if (at < rank) {
		for (int from = at; from < rank; from++) {
			int first = at, letter = letters[from];
			while (letters[first] != letter)
				first++;
			if (first < from)
				continue; /* tried already */
			letters[from] = letters[at];
			letters[at] = letter;
			try_orders(f, at + 1, moved + (letter != f->letters[at]));
			letters[at] = letters[from];
			letters[from] = letter;
		}
		return;
	}
	if (moved == 0 || !sizes_agree(f->q, f->n))
		return;
	f->ways = moved < f->least ? 1 : f->ways + 1;
	f->least = moved;
	text_free(&f->order);
	text_add(&f->order, "'");
	for (int d = 0; d < rank; d++)
		text_printf(&f->order, "%c",
			letters[d] < FIRST_HIDDEN ? letter_name(letters[d]) : '.');
	text_printf(&f->order, "' would fit operand %d", f->operand + 1);
}

/* The order of one operand's letters that makes sizes agree, if one moves fewest:
   "bd,fd->bf" of f32[8, 4] and f32[4, 3]. */
static void
note_fitting(Equation *q, int n)
{
	Fit f = {.q = q, .n = n, .least = MAX_RANK};
	for (int i = 0; i < n; i++) {
		int rank = q->terms[i].value->type.rank;
		f.operand = i;
		memcpy(f.letters, q->terms[i].letters, (size_t)rank * sizeof *f.letters);
		try_orders(&f, 0, 0);
	}
	if (f.ways == 1 && strchr(f.order.s, '.') == NULL)
		diag_note(q->e->session, nowhere, "%s", f.order.s);
	text_free(&f.order);
}

static bool
size_letter(Equation *q, const Term *term, int i, int d)
{
	int letter = term->letters[d];
	int64_t size = term->value->type.dims[d], *known = &q->sizes[letter];
	bool hidden = letter >= FIRST_HIDDEN;
	if (*known == 0 || (hidden && *known == 1)) {
		q->owner[letter] = i + 1;
		q->first[letter] = term->ranges[d];
	}
	if (take_size(known, size, hidden))
		return true;
	if (hidden)
		complain(q->e, DIAG_einsum, term->ranges[d],
			"a dim under '...' is %" PRId64 " in operand %d but %" PRId64
			" in operand %d",
			*known, q->owner[letter], size, i + 1);
	else if (q->owner[letter] == i + 1)
		complain(q->e, DIAG_einsum, term->ranges[d],
			"letter '%c' stands for dims of %" PRId64 " and %" PRId64
			" in operand %d",
			letter_name(letter), *known, size, i + 1);
	else
		complain(q->e, DIAG_einsum, term->ranges[d],
			"letter '%c' is %" PRId64 " in operand %d but %" PRId64
			" in operand %d",
			letter_name(letter), *known, q->owner[letter], size, i + 1);
	diag_label(q->e->session, q->first[letter], "%" PRId64 " here", *known);
	diag_label(q->e->session, q->c->rest[i].range, "%s",
		show_type(q->e, &term->value->type));
	return false;
}

/* Letters for the dims of each operand, and their sizes. */
static bool
read_terms(Equation *q)
{
	for (int i = 0; i < q->npieces; i++) {
		const Piece *piece = &q->pieces[i];
		const Item *x = &q->c->rest[i];
		int rank = x->value->type.rank, hidden = rank - piece->nletters;
		if (piece->ellipsis >= 0 ? hidden < 0 : hidden != 0) {
			complain(q->e, DIAG_einsum, range_at(q, piece->begin, piece->end),
				"%d letter%s for operand %d, which has %d dim%s",
				piece->nletters, piece->nletters == 1 ? "" : "s", i + 1, rank,
				rank == 1 ? "" : "s");
			diag_label(q->e->session, x->range, "%s",
				show_type(q->e, &x->value->type));
			return false;
		}
		if (hidden > q->nhidden)
			q->nhidden = hidden;
	}
	q->terms = NEW_ARRAY(q->e->arena, Term, q->npieces);
	for (int i = 0; i < q->npieces; i++) {
		const Item *x = &q->c->rest[i];
		Term *term = &q->terms[i];
		term->value = x->value;
		if (notes_operands(q->e)) {
			term->written = x->value;
			term->where = x->range;
		}
		int rank = term->value->type.rank;
		spell_out(q, &q->pieces[i], rank - q->pieces[i].nletters, term);
		for (int d = 0; d < rank; d++) {
			if (size_letter(q, term, i, d))
				continue;
			note_fitting(q, i + 1);
			return false;
		}
	}
	return true;
}

static bool
read_result(Equation *q, Term *out, int *nout)
{
	uint64_t seen = 0;
	if (q->out.nletters > MAX_USER_RANK)
		return complain(q->e, DIAG_rank, range_at(q, q->out.begin, q->out.end),
			"a result of %d dims; at most %d are allowed", q->out.nletters,
			MAX_USER_RANK);
	if (q->nhidden > 0 && q->out.ellipsis < 0) {
		int end = q->out.end > q->out.begin ? q->out.end : q->out.begin + 1;
		return complain(q->e, DIAG_einsum, range_at(q, q->out.begin, end),
			"the result must have '...' too");
	}
	*nout = spell_out(q, &q->out, q->nhidden, out);
	for (int d = 0; d < *nout; d++) {
		int letter = out->letters[d];
		bool twice = seen >> letter & 1;
		seen |= 1ull << letter;
		if (!twice && q->owner[letter] != 0)
			continue;
		return complain(q->e, DIAG_einsum, out->ranges[d],
			twice ? "letter '%c' stands twice in the result"
			      : "letter '%c' of the result is in no operand",
			letter_name(letter));
	}
	return true;
}

/* ---- results */

/* out=[B@X, F]: the placement of the result. */
static Value *
place_result(Call *c, const Argument *out, Value *v)
{
	if (v == NULL || !out->given)
		return v;
	Annotation placement = out->written;
	if (!annotation_unify(c->elab, &placement, &v->type, c->site.range, DIAG_shape,
		    "the result")
		|| !annotation_check(c->elab, &placement, NULL))
		return NULL;
	v = emit_placed(c->elab, c->site, v, &placement, false);
	if (v != NULL && v->def != NULL && v->def->form == AS_out)
		v->def->argument = c->placement;
	return v;
}

/* dtype=: the operands are converted only where a dot cannot widen them. */
static Value *
multiply_equation(Equation *q)
{
	const Argument *wanted = &q->a[3];
	DType from = q->c->rest[0].value->type.dtype;
	DType dtype = wanted->given ? wanted->written.dtype : from;
	bool widens = dtypes[dtype].class == dtypes[from].class
		&& dtypes[dtype].bits != dtypes[from].bits;
	Term out = {0};
	int nout = 0;
	if (!read_result(q, &out, &nout))
		return NULL;
	if (dtype == D_pred)
		return complain(q->e, DIAG_argument_kind, wanted->range,
			"dtype= takes a dtype of numbers: dtype=f32");
	for (int i = 0; i < q->npieces; i++) {
		if (!widens)
			q->terms[i].value = make_convert(q->c->make, q->terms[i].value, dtype);
		if (q->terms[i].value == NULL
			|| !drop_stretched(q->c->make, &q->terms[i], q->sizes))
			return NULL;
	}
	return make_einsum(q->c->make, q->npieces, q->terms, &out, nout, dtype);
}

Value *
build_einsum(Call *c, const Argument *a)
{
	Elab *e = c->elab;
	Equation q = {.e = e, .c = c, .a = a, .text = a[0].text, .literal = a[0].range};
	if ((int)strlen(q.text) != q.literal.end - q.literal.begin - 2) { /* escapes */
		return complain(e, DIAG_einsum, q.literal,
			"an equation has letters, ',', '->' and '...' only");
	}
	if (!read_equation(&q))
		return NULL;
	if (c->nrest != q.npieces)
		return complain(e, DIAG_einsum, q.literal,
			"the equation has %d operand%s, %d %s given", q.npieces,
			q.npieces == 1 ? "" : "s", c->nrest, c->nrest == 1 ? "is" : "are");
	DType first = c->rest[0].value->type.dtype;
	for (int i = 0; i < c->nrest; i++) {
		DType dtype = c->rest[i].value->type.dtype;
		Range r = c->rest[i].range;
		if (dtype == D_pred)
			return complain(e, DIAG_dtype, r,
				"einsum needs numbers, not pred; convert: f32(...)");
		if (dtype == first)
			continue;
		complain(e, DIAG_dtype, c->rest[0].range,
			"einsum of %s and %s; convert one of them: %s(...)", dtypes[first].name,
			dtypes[dtype].name, dtypes[first].name);
		diag_label(e->session, r, "%s", dtypes[dtype].name);
		return NULL;
	}
	if (!read_terms(&q))
		return NULL;
	c->site.label = arena_printf(e->arena, "einsum '%s'", q.text);
	c->site.form = AS_einsum;
	c->make = at(e, c->site);
	return place_result(c, &a[2], multiply_equation(&q));
}

/* ---- matmul */

enum { ROW, INNER, COLUMN, FIRST_BATCH };

/* a: [batch..., row, inner] or [inner]; b: [batch..., inner, column] or
   [inner].  Batch letters are counted from the last. */
static void
name_dims(Term *term, int before_last, int last, int alone)
{
	int rank = term->value->type.rank;
	for (int d = 0; d < rank; d++)
		term->letters[d] = FIRST_BATCH + rank - 3 - d;
	if (rank == 1) {
		term->letters[0] = alone;
	} else {
		term->letters[rank - 1] = last;
		term->letters[rank - 2] = before_last;
	}
}

/* Of two tensors of one dtype, neither a scalar. */
Value *
build_matmul(Call *c, const Argument *a)
{
	Elab *e = c->elab;
	Range r = c->site.range;
	Term terms[2] = {{.value = a[0].tensor}, {.value = a[1].tensor}}, out = {0};
	const Type *x = &a[0].tensor->type, *y = &a[1].tensor->type;
	int64_t sizes[FIRST_BATCH + MAX_RANK] = {0};
	int nout = 0;
	if (x->rank == 0 || y->rank == 0)
		return complain(e, DIAG_shape, r,
			"matmul of %s and %s; a scalar is multiplied with *", show_type(e, x),
			show_type(e, y));
	if (x->dtype != y->dtype)
		return complain(e, DIAG_dtype, r,
			"matmul of %s and %s; convert one of them: %s(...)",
			dtypes[x->dtype].name, dtypes[y->dtype].name, dtypes[x->dtype].name);
	if (x->dtype == D_pred)
		return complain(e, DIAG_dtype, r,
			"matmul needs numbers, not pred; convert: f32(...)");
	c->site.form = AS_matmul;
	c->make = at(e, c->site);
	name_dims(&terms[0], ROW, INNER, INNER);
	name_dims(&terms[1], INNER, COLUMN, INNER);
	for (int i = 0; i < 2; i++)
		for (int d = 0; d < terms[i].value->type.rank; d++) {
			int letter = terms[i].letters[d];
			int64_t size = terms[i].value->type.dims[d];
			bool batch = letter >= FIRST_BATCH;
			if (!take_size(&sizes[letter], size, batch))
				return complain(e, DIAG_shape, r,
					"matmul of %s and %s: %s %" PRId64 " and %" PRId64,
					show_type(e, x), show_type(e, y),
					batch ? "batch dims of" : "the inner dims differ,",
					sizes[letter], size);
		}
	for (int i = (x->rank > y->rank ? x->rank : y->rank) - 3; i >= 0; i--)
		out.letters[nout++] = FIRST_BATCH + i;
	if (x->rank > 1)
		out.letters[nout++] = ROW;
	if (y->rank > 1)
		out.letters[nout++] = COLUMN;
	if (!drop_stretched(c->make, &terms[0], sizes)
		|| !drop_stretched(c->make, &terms[1], sizes))
		return NULL;
	return place_result(c, &a[2],
		make_einsum(c->make, 2, terms, &out, nout, terms[0].value->type.dtype));
}

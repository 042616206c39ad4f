/*
 * sweep.c - the rows of --sweep: sorted, and as text, JSON or CSV.
 *
 *   data  model  time     at least  compute  links    exposed  of peak  memory   received
 *   256   1      98.1 ms  71.0 ms   71.0 ms  27.0 ms  27.0 ms  72 %     850 MiB  14.7 GB
 *   8     32     dim 2 of size 16 of 'Wk' cannot be split over model, which is 32 devices
 *
 * Behind a row stands in what it is the best: "quickest".
 */
#define _GNU_SOURCE /* qsort_r() */
#include <stdlib.h>
#include <string.h>

#include "report/sweep.h"

typedef enum ColumnType { COLUMN_REAL, COLUMN_COUNT } ColumnType;
typedef enum ColumnBest { BEST_LOW = 1, BEST_HIGH = -1 } ColumnBest;
typedef enum ColumnUnit {
	UNIT_TIME,
	UNIT_SHARE,
	UNIT_MEMORY,
	UNIT_TRAFFIC,
	UNIT_RATE
} ColumnUnit;

/* As page.js calls what spells them. */
static const char *const unit_names[] = {
	[UNIT_TIME] = "time",
	[UNIT_SHARE] = "share",
	[UNIT_MEMORY] = "memory",
	[UNIT_TRAFFIC] = "traffic",
	[UNIT_RATE] = "count",
};

typedef struct Column {
	const char *name, *title, *mark;
	ColumnType type;
	ColumnBest best;
	ColumnUnit unit;
	size_t offset; /* in SweepRow */
} Column;

static const Column columns[] = {
#define COLUMN(field, type, best, unit, title, mark) \
	{#field, title, mark, COLUMN_##type, BEST_##best, UNIT_##unit, \
		offsetof(SweepRow, field)},
#include "report/sweep_columns.def"
#undef COLUMN
};
enum { NCOLUMNS = sizeof columns / sizeof *columns };

static int
ncolumns(const SweepTable *table)
{
	return table->tokens ? NCOLUMNS : NCOLUMNS - 1;
}

const char *const *
sweep_columns(const SweepTable *table, int *n)
{
	static const char *names[NCOLUMNS];

	*n = ncolumns(table);
	for (int i = 0; i < *n; i++)
		names[i] = columns[i].name;
	return names;
}

static double
number_in(const SweepRow *row, const Column *column)
{
	const void *field = (const char *)row + column->offset;

	return column->type == COLUMN_REAL ? *(const double *)field
					   : (double)*(const int64_t *)field;
}

const char *const *
sweep_value(const SweepTable *table, int axis, int64_t combination)
{
	const SweepAxis *x = &table->axes[axis];

	for (int i = table->naxes - 1; i > axis; i--)
		combination /= table->axes[i].n;
	return x->values + combination % x->n * x->nnames;
}

/* How many combinations can be. */
static int64_t
possible(const SweepTable *table)
{
	int64_t good = 0;

	for (int64_t i = 0; i < table->n; i++)
		good += !*table->rows[i].error;
	return good;
}

/* Of each column the row that is the best in it, of those that can be; of equal ones the
   first. */
typedef struct Marks {
	const SweepRow *best[NCOLUMNS];
} Marks;

static Marks
marks_of(const SweepTable *table)
{
	Marks marks = {0};
	int64_t n = possible(table) > 1 ? table->n : 0;

	for (const SweepRow *row = table->rows; row < table->rows + n; row++)
		for (int i = 0; i < NCOLUMNS && !*row->error; i++) {
			const SweepRow **best = &marks.best[i];
			if (!*best
				|| (number_in(row, &columns[i]) - number_in(*best, &columns[i]))
						* columns[i].best
					< 0)
				*best = row;
		}
	return marks;
}

/* "quickest, least memory"; nothing where there is no choice. */
static void
text_marks(Text *t, const Marks *marks, const SweepRow *row)
{
	int n = 0;

	for (int i = 0; i < NCOLUMNS; i++)
		if (columns[i].mark && marks->best[i] == row)
			text_printf(t, "%s%s", n++ ? ", " : "", columns[i].mark);
}

/* ---- the order ------------------------------------------------------------------ */

/* By a column, or by the position of a swept value in what was given. */
typedef struct SortKey {
	const SweepTable *table;
	const Column *column;
	int axis;
} SortKey;

static SortKey
key_named(const SweepTable *table, const char *name)
{
	SortKey key = {table, NULL, -1};

	for (int i = 0; i < ncolumns(table); i++)
		if (strcmp(columns[i].name, name) == 0)
			key.column = &columns[i];
	for (int i = 0; i < table->naxes; i++)
		for (int k = 0; k < table->axes[i].nnames; k++)
			if (strcmp(table->axes[i].names[k], name) == 0)
				key.axis = i;
	return key;
}

bool
sweep_has_column(const SweepTable *table, const char *column)
{
	SortKey key = key_named(table, column);

	return key.column || key.axis >= 0;
}

static int
rank_of(const SweepRow *row)
{
	return !*row->error ? 0 : row->measured ? 1 : 2;
}

static int
compare_rows(const void *a, const void *b, void *data)
{
	const SweepRow *x = a, *y = b;
	const SortKey *key = data;
	double difference = rank_of(x) - rank_of(y);

	if (difference == 0 && x->measured && key->column)
		difference = (number_in(x, key->column) - number_in(y, key->column))
			* key->column->best;
	if (difference == 0 && key->axis >= 0)
		difference = (double)(sweep_value(key->table, key->axis, x->combination)
			- sweep_value(key->table, key->axis, y->combination));
	if (difference == 0)
		difference = (double)(x->combination - y->combination);
	return difference < 0 ? -1 : difference > 0;
}

void
sweep_sort(SweepTable *table, const char *column)
{
	SortKey key = key_named(table, column);

	qsort_r(table->rows, (size_t)table->n, sizeof *table->rows, compare_rows, &key);
}

/* ---- for people ------------------------------------------------------------------- */

static void
text_cell(Text *t, const SweepRow *row, const Column *column)
{
	double v = number_in(row, column);

	switch (column->unit) {
	case UNIT_TIME:
		text_seconds(t, v);
		break;
	case UNIT_SHARE:
		text_percent(t, v, 1);
		break;
	case UNIT_MEMORY:
		text_memory(t, v);
		break;
	case UNIT_TRAFFIC:
		text_traffic(t, v);
		break;
	case UNIT_RATE:
		text_count(t, v);
		break;
	}
}

enum { COLUMN_GAP = 2 };

/* The cells of a row, each ended by a tab; `row` NULL: the titles. */
static void
text_cells(Text *t, const SweepTable *table, const Marks *marks, const SweepRow *row)
{
	for (int i = 0; i < table->naxes; i++)
		for (int k = 0; k < table->axes[i].nnames; k++)
			text_printf(t, "%s\t",
				row ? sweep_value(table, i, row->combination)[k]
				    : table->axes[i].names[k]);
	for (int i = 0; i < ncolumns(table) && (!row || row->measured); i++) {
		if (row)
			text_cell(t, row, &columns[i]);
		else
			text_add(t, columns[i].title);
		text_add(t, "\t");
	}
	if (row) {
		text_add(t, row->error);
		text_marks(t, marks, row);
	}
}

/* Widens each column to its widest cell. */
static void
measure(int *widths, const char *cells)
{
	for (int i = 0; strchr(cells, '\t'); i++) {
		const char *end = strchr(cells, '\t');
		int n = (int)(end - cells);
		widths[i] = n > widths[i] ? n : widths[i];
		cells = end + 1;
	}
}

static void
text_aligned(Text *t, const int *widths, const char *cells)
{
	size_t start = t->n;

	for (int i = 0; strchr(cells, '\t'); i++) {
		const char *end = strchr(cells, '\t');
		text_printf(t, "%-*.*s", widths[i] + COLUMN_GAP, (int)(end - cells), cells);
		cells = end + 1;
	}
	text_add(t, cells);
	while (t->n > start && t->s[t->n - 1] == ' ')
		t->n--;
	text_add(t, "\n");
}

static void
emit_sweep_text(const SweepTable *table, Text *t)
{
	int nnames = 0;
	int64_t good = possible(table);
	Marks marks = marks_of(table);
	Text cells = {0};

	for (int i = 0; i < table->naxes; i++)
		nnames += table->axes[i].nnames;
	Arena *scratch = arena_new();
	int *widths = NEW_ARRAY(scratch, int, nnames + NCOLUMNS);
	for (int64_t i = -1; i < table->n; i++) {
		cells.n = 0;
		text_cells(&cells, table, &marks, i < 0 ? NULL : &table->rows[i]);
		measure(widths, cells.s);
	}
	text_printf(t, "%s: %lld combination%s", table->path, (long long)table->n,
		table->n == 1 ? "" : "s");
	text_printf(t, good == table->n ? "\n" : ", of which %lld can be\n", (long long)good);
	for (int64_t i = -1; i < table->n; i++) {
		cells.n = 0;
		text_cells(&cells, table, &marks, i < 0 ? NULL : &table->rows[i]);
		text_aligned(t, widths, cells.s);
	}
	arena_free(scratch);
	text_free(&cells);
}

/* ---- for scripts ------------------------------------------------------------------- */

static void
text_number(Text *t, const SweepRow *row, const Column *column)
{
	double v = number_in(row, column);

	if (column->type == COLUMN_REAL)
		text_printf(t, "%.12f", v);
	else
		text_printf(t, "%.0f", v);
}

/* In quotes where it must be. */
static void
text_csv(Text *t, const char *s)
{
	if (!strpbrk(s, ",\"\n")) {
		text_add(t, s);
		return;
	}
	text_add(t, "\"");
	for (; *s; s++)
		text_printf(t, *s == '"' ? "\"\"" : "%c", *s);
	text_add(t, "\"");
}

static void
emit_sweep_csv(const SweepTable *table, Text *t)
{
	for (int i = 0; i < table->naxes; i++)
		for (int k = 0; k < table->axes[i].nnames; k++)
			text_printf(t, "%s,", table->axes[i].names[k]);
	for (int i = 0; i < ncolumns(table); i++)
		text_printf(t, "%s,", columns[i].name);
	text_add(t, "error\n");
	for (int64_t r = 0; r < table->n; r++) {
		const SweepRow *row = &table->rows[r];
		for (int i = 0; i < table->naxes; i++)
			for (int k = 0; k < table->axes[i].nnames; k++) {
				text_csv(t, sweep_value(table, i, row->combination)[k]);
				text_add(t, ",");
			}
		for (int i = 0; i < ncolumns(table); i++) {
			if (row->measured)
				text_number(t, row, &columns[i]);
			text_add(t, ",");
		}
		text_csv(t, row->error);
		text_add(t, "\n");
	}
}

/* 64, "v5p:4x4x4" */
static void
json_value(Text *t, const char *value)
{
	bool digits = *value && value[strspn(value, "0123456789")] == '\0';

	if (digits && (*value != '0' || value[1] == '\0'))
		text_add(t, value);
	else
		text_json(t, value);
}

static void
json_row(Text *t, const SweepTable *table, const SweepRow *row)
{
	text_add(t, "{ ");
	for (int i = 0; i < table->naxes; i++)
		for (int k = 0; k < table->axes[i].nnames; k++) {
			text_json(t, table->axes[i].names[k]);
			text_add(t, ": ");
			json_value(t, sweep_value(table, i, row->combination)[k]);
			text_add(t, ", ");
		}
	for (int i = 0; i < ncolumns(table); i++) {
		text_printf(t, "\"%s\": ", columns[i].name);
		if (row->measured)
			text_number(t, row, &columns[i]);
		else
			text_add(t, "null");
		text_add(t, ", ");
	}
	text_add(t, "\"error\": ");
	if (*row->error)
		text_json(t, row->error);
	else
		text_add(t, "null");
	text_add(t, " }");
}

static void
json_rows(Text *t, const SweepTable *table, int64_t n)
{
	text_add(t, "\"rows\": [");
	for (int64_t r = 0; r < n; r++) {
		text_add(t, r ? ",\n    " : "\n    ");
		json_row(t, table, &table->rows[r]);
	}
	text_add(t, " ] }\n");
}

static void
emit_sweep_json(const SweepTable *table, Text *t)
{
	text_add(t, "{ \"version\": 1, \"program\": ");
	text_json(t, table->program);
	text_add(t, ",\n  ");
	json_rows(t, table, table->n);
}

/* For page.js: what there is to show, and of very many rows the first. */
static void
emit_sweep_page(const SweepTable *table, Text *t)
{
	enum { MOST_ROWS = 1000 };
	int n = 0;
	int64_t rows = lesser(table->n, MOST_ROWS);
	Marks marks = marks_of(table);

	text_printf(t, "{ \"combinations\": %lld, \"can\": %lld, \"names\": [",
		(long long)table->n, (long long)possible(table));
	for (int i = 0; i < table->naxes; i++)
		for (int k = 0; k < table->axes[i].nnames; k++) {
			text_add(t, n++ ? ", " : "");
			text_json(t, table->axes[i].names[k]);
		}
	text_add(t, "], \"columns\": [");
	for (int i = 0; i < ncolumns(table); i++)
		text_printf(t, "%s{\"name\": \"%s\", \"title\": \"%s\", \"unit\": \"%s\"}",
			i ? ", " : "", columns[i].name, columns[i].title,
			unit_names[columns[i].unit]);
	text_add(t, "], \"marks\": [");
	for (int64_t r = 0; r < rows; r++) {
		text_add(t, r ? ", \"" : "\"");
		text_marks(t, &marks, &table->rows[r]);
		text_add(t, "\"");
	}
	text_add(t, "],\n  ");
	json_rows(t, table, rows);
}

void
emit_sweep(const SweepTable *table, const char *format, Text *t)
{
	if (strcmp(format, "csv") == 0)
		emit_sweep_csv(table, t);
	else if (strcmp(format, "json") == 0)
		emit_sweep_json(table, t);
	else if (strcmp(format, "page") == 0)
		emit_sweep_page(table, t);
	else
		emit_sweep_text(table, t);
}

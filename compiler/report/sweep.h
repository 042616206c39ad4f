/*
 * sweep.h - a table of what a program takes under each of many combinations.
 */
#ifndef SHDC_SWEEP_H
#define SHDC_SWEEP_H

#include "base/base.h"

enum { SWEEP_ERROR_BYTES = 240 };

typedef double SweepREAL;
typedef int64_t SweepCOUNT;

/* One combination; `error` is empty where it can be. */
typedef struct SweepRow {
	int64_t combination;
	bool tried, measured; /* measured: it has the columns, though it may not fit */
	bool layout_dropped;  /* the program's, for the mesh has other sizes */
#define COLUMN(field, type, best, unit, title, mark) Sweep##type field;
#include "report/sweep_columns.def"
#undef COLUMN
	char error[SWEEP_ERROR_BYTES];
} SweepRow;

/* What takes several values: one name, or several whose product is given. */
typedef struct SweepAxis {
	int nnames;
	const char *const *names;
	int64_t n;
	const char *const *values; /* n times nnames of them */
} SweepAxis;

typedef struct SweepTable {
	const char *path, *program;
	bool tokens; /* a second, too */
	SweepAxis *axes;
	int naxes;
	SweepRow *rows;
	int64_t n;
} SweepTable;

/* Of combination i; the last axis changes fastest. */
const char *const *sweep_value(const SweepTable *table, int axis, int64_t combination);
/* Is it a column, or a swept name? */
bool sweep_has_column(const SweepTable *table, const char *column);
const char *const *sweep_columns(const SweepTable *table, int *n);
/* The best by the column first, then those that do not fit, then those that cannot be. */
void sweep_sort(SweepTable *table, const char *column);
/* "txt", "json", "csv"; "page": JSON that the report draws. */
void emit_sweep(const SweepTable *table, const char *format, Text *t);

#endif

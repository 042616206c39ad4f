/*
 * targets.h - the emulated hardware a mesh is laid out on.
 *
 * A fact of a program's mesh, so it lives with the IR; what things cost there
 * is cost/cost.h.  The facts are rows of target_facts.def.  Those of a target are a
 * text file, `fact = value  # where that is from` a line: the built-in ones are in
 * targets/, others are read.
 */
#ifndef SHDC_TARGETS_H
#define SHDC_TARGETS_H

#include "base/base.h"

enum { TORUS_RANK = 3, MAX_TARGET_SLICES = 16 };

typedef struct TorusDims {
	int n;
	int64_t v[TORUS_RANK];
} TorusDims;

typedef struct Slices {
	int n;
	TorusDims v[MAX_TARGET_SLICES];
} Slices;

typedef double TargetREAL;
typedef int64_t TargetCOUNT;
typedef bool TargetYES;
typedef TorusDims TargetDIMS;
typedef const char *TargetWORD;
typedef Slices TargetSLICES;

/* Of one device of a mesh: a chip, or one of `devices_per_chip`. */
typedef struct Target {
	const char *name;
	const char *text; /* of its file */
	bool built_in;
#define FACT(field, type, low, high, unit, sentence) Target##type field;
#include "target_facts.def"
#undef FACT
} Target;

const Target *target_by_name(const char *name); /* built in; NULL if unknown */
const Target *target_default(void);		/* v5e */
int target_count(void);
const Target *target_at(int i);
/* The facts of a source file: NULL after a diagnostic of that code for each wrong line. */
const Target *target_read(Session *s, int file, DiagCode code, const char *name);

/* For --help=targets and --print-targets. */
typedef enum FactType {
	FACT_REAL,
	FACT_COUNT,
	FACT_YES,
	FACT_DIMS,
	FACT_WORD,
	FACT_SLICES
} FactType;
typedef struct TargetFact {
	const char *name, *unit, *sentence;
	FactType type;
	double low, high;
	size_t offset; /* of the field in Target */
} TargetFact;
extern const TargetFact target_facts[];
extern const int target_nfacts;
/* As it is written in a file. */
void text_fact(Text *t, const Target *target, const TargetFact *fact);

#endif

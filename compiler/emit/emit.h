/*
 * emit.h - one device's program as C, and starting the C compiler.
 */
#ifndef SHDC_EMIT_H
#define SHDC_EMIT_H

#include "ir/ir.h"

typedef struct Plan Plan; /* memory/plan.h */

/* c.c: one device's program as C.  Requires L_fused and its plan. */
typedef struct EmitOptions {
	bool debug;	 /* -g: #line */
	const char *hlo; /* the unsharded program, for --check; NULL */
	size_t hlo_bytes;
	const char *vouched; /* that whose uniform()s --check looks at; NULL: none has */
	size_t vouched_bytes;
	int64_t check_bytes;	/* that comparing will take */
	const Externs *externs; /* of the unsharded program, which has all */
} EmitOptions;
void emit_c(const Plan *plan, const EmitOptions *options, Text *t);

typedef struct BuildOptions {
	const char *cc;		  /* NULL: cc */
	const char *cflags;	  /* separated by blanks; NULL: none */
	int optimize;		  /* -O0..3 */
	bool debug;		  /* -g */
	const char **directories; /* -L */
	int ndirectories;
} BuildOptions;
/* build.c: starts the C compiler, for an executable, or for an object where externs
   is NULL.  False after a diagnostic. */
bool build_program(Session *s, const Text *t, const char *output, const BuildOptions *o,
	const Externs *externs);

#endif

/*
 * interpret.h - --interpret: a fused program run by the interpreter on the
 * simulated devices, with the options and outputs of a built program.
 */
#ifndef SHDC_INTERPRET_H
#define SHDC_INTERPRET_H

#include "memory/plan.h"

/* For --check. */
typedef struct Unsharded {
	const Text *global;  /* HLO of the unsharded program */
	const Text *vouched; /* that whose uniform()s are looked at */
	int64_t bytes;	     /* that comparing will take */
} Unsharded;

/*
 * Requires L_fused.  Returns the program's exit status.
 */
int interpret(Module *m, const Plan *plan, const Unsharded *unsharded, const Externs *externs,
	int narguments, const char **arguments);

#endif

/*
 * interpret.h - --interpret: a fused program run by the interpreter on the
 * simulated devices, with the options and outputs of a built program.
 */
#ifndef SHDC_INTERPRET_H
#define SHDC_INTERPRET_H

#include "memory/plan.h"

/*
 * Requires L_fused.  `global` is the HLO of the unsharded program, for
 * --check; `vouched` that whose uniform()s that looks at.  Returns the program's exit status.
 */
int interpret(Module *m, const Plan *plan, const Text *global, const Text *vouched,
	const Externs *externs, int narguments, const char **arguments);

#endif

/*
 * recover.h - tokens for the parser, through mistakes (recover.c).
 */
#ifndef SHDC_RECOVER_H
#define SHDC_RECOVER_H

#include "shd.tab.h"

/* Reads the file; false when the parser gave up before its end. */
bool read_tokens(Parser *p, void *scanner, shd_pstate *state);

#endif

/*
 * nearest.h - "did you mean", and names in two spellings: for the runtime and for the
 * compiler, which has these prototypes in base.h.
 */
#ifndef SHDRT_NEAREST_H
#define SHDRT_NEAREST_H

#include <stdbool.h>

/* The nearest of n words, for "did you mean"; NULL if none is near. */
const char *rt_nearest_word(const char *word, const char *const *words, int n);

/* The same name, as Python writes a path or with dots: params['w'][0], params.w_0. */
bool rt_same_name(const char *a, const char *b);

#endif

/*
 * nearest.h - "did you mean": for the runtime and for the compiler, which has this
 * prototype in base.h.
 */
#ifndef SHDRT_NEAREST_H
#define SHDRT_NEAREST_H

/* The nearest of n words, for "did you mean"; NULL if none is near. */
const char *rt_nearest_word(const char *word, const char *const *words, int n);

#endif

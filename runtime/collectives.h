/*
 * collectives.h - private: words for a collective.
 */
#ifndef SHDRT_COLLECTIVES_H
#define SHDRT_COLLECTIVES_H

#include "shdrt.h"

/* "all-gather of f32[2,4,8] over X (ffn.shd:7: einsum 'bd,df->bf')" */
void rt_collective_text(const shdrt_collective *c, char *text, size_t n);

#endif

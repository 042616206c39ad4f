/*
 * collectives.h - private: words for a collective, and its parts.
 */
#ifndef SHDRT_COLLECTIVES_H
#define SHDRT_COLLECTIVES_H

#include "internal.h"

/* "all-gather of f32[2,4,8] over X (ffn.shd:7: einsum 'bd,df->bf')" */
void rt_collective_text(const shdrt_collective *c, char *text, size_t n);
/* What member `self` does of the team's collective, for which all are there.  Parts may
   be done at once, by any threads, in any order. */
void rt_move_part(const Team *team, int self);
/* Bytes of what all of n members have. */
size_t rt_bytes_moved(const shdrt_collective *c, int n);

#endif

/*
 * wide.h - loops over elements that use what the processor has.
 *
 * WIDE before a function: with gcc on x86-64 it is compiled for wider vectors as well,
 * and the one that fits the processor is taken when the program starts.  No product is
 * contracted into a sum: results do not depend on the processor.  Not under sanitizers,
 * which are not ready that early.
 */
#ifndef SHDRT_WIDE_H
#define SHDRT_WIDE_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) \
	&& !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

#endif

/*
 * host_memory.h - what this machine has, for the runtime and for who starts
 * built programs.
 */
#ifndef SHDRT_HOST_MEMORY_H
#define SHDRT_HOST_MEMORY_H

#include "shdrt.h"

/* Cores that this process may use. */
int rt_cores(void);
/* Bytes that can be had, and in which sense: "free on this machine". */
uint64_t rt_memory_available(const char **of);
/* Left of the limits of a control group and those around it, up to `root`. */
uint64_t rt_memory_of_groups(const char *root, const char *group, int version);
enum { MEMORY_TEXT = 24 };
void rt_memory_text(uint64_t bytes, char text[MEMORY_TEXT]); /* "1.5 GiB" */
/* rt_fail()s if the devices and so many bytes more do not fit, before any of
   them is touched. */
void rt_memory_check_run(const shdrt_program *p, uint64_t whole);
/* ... if what --check takes and so many bytes more do not. */
void rt_memory_check_reference(const shdrt_program *p, uint64_t whole);

#endif

/*
 * options.h - what the user of a built program asks for.
 */
#ifndef SHDRT_OPTIONS_H
#define SHDRT_OPTIONS_H

#include "internal.h"

typedef struct Settings {
	const shdrt_program *program;
	Source *sources;       /* of each parameter */
	Source given;	       /* of those without a file */
	const char **in_files; /* of any parameters, by name */
	int nin_files;
	const char *made_by; /* --random, --ones or --iota, if given */
	const char *out_directory;
	const char *out_whole;	 /* the file of all results */
	const char **out_files;	 /* of each result, or NULL; those that share one have
				   the same pointer */
	const char *trace, *log; /* the files of --trace and --log, or NULL */
	const char *against;	 /* the file of results to compare with, or NULL */
	double within;		 /* of a result's largest magnitude; 0: by what it is made of */
	bool writes;		 /* --out was given */
	FILE *reports;		 /* standard error where results have standard output */
	bool check, stats, keep_inputs, list, help, version;
	int times, steps; /* 0: not asked for */
	Helps helps;
	double timeout, stall; /* seconds; 0: none */
} Settings;

/* From the command line; rt_fail()s with SHDRT_USAGE.  The lists are there. */
void rt_options_parse(Settings *s, int argc, char **argv);
void rt_options_help(const shdrt_program *p, FILE *out);
void rt_options_version(const shdrt_program *p, FILE *out);

/* ---- against.c: results against those of a file */

typedef struct Against Against;
/* Before the run: the file has all results, of their types.  NULL: not asked for. */
Against *rt_against_open(const Settings *s);
/* Tells of each result; did one differ too much?  Done with the file. */
bool rt_against_differs(Against *a, const Settings *s, const void *const *results);

/* ---- outputs.c: where results are written ---- */

/* The same regular file, or one that will be made, or standard output. */
bool rt_same_output(const char *a, const char *b);
bool rt_is_output(const Settings *s, const char *path); /* of a result */
/* Before the run: what cannot be written is told at once. */
void rt_outputs_check(const Settings *s);
void rt_outputs_write(const Settings *s, const shdrt_array *results);
/* put() returns false with errno. */
typedef bool Put(FILE *f, const char *path, const void *data);
void rt_output_write(const char *path, Put *put, const void *data);

#endif

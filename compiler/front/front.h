/*
 * front.h - from a source file to a module of level L_global.
 */
#ifndef SHDC_FRONT_H
#define SHDC_FRONT_H

#include "ir/ir.h"

typedef struct Override {
	const char *name;   /* a dim, or an axis of the mesh */
	const char *text;   /* an expression; an axis' size */
	const char *option; /* what gives it, for messages */
} Override;

typedef struct FrontOptions {
	const char *entry;  /* NULL: "main" */
	const char *target; /* --on; NULL: as in the program */
	bool keep_topology; /* one that does not fit a resized mesh is an error */
	const char *layout; /* --layout; NULL: as in the program */
	Override *dims;	    /* -D */
	int ndims;
	Override *axes;
	int naxes;
	const char **imports; /* -I, directories */
	int nimports;
	const char *tokens;	/* --tokens, an expression of dims; NULL: not said */
	const char *checkpoint; /* a function that is taken for a checkpoint fn; NULL: none */
} FrontOptions;

/* What a program gives sizes to: the axes of its mesh, then its dims. */
typedef struct FrontNames {
	const char *module;
	const char **names;
	int n, naxes;
	Range layout; /* as it is written; nowhere: it is not */
} FrontNames;
bool front_names(Session *s, int file, const FrontOptions *options, FrontNames *names);
/* False after a message if --tokens is no expression of these. */
bool front_tokens(Session *s, const FrontOptions *options, const FrontNames *names);

/* NULL after errors in declarations; after others it has what could be made.
   Nothing is checked yet that follows from the whole, nor is removed what nobody
   needs (pipeline_accept()). */
Module *front_compile(Session *s, int file, const FrontOptions *options);
/* The built-in functions, a row each, for --help=functions. */
void front_list_functions(Text *t);

#endif

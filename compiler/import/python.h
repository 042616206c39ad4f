/*
 * python.h - what the text of a Python program says of its functions and names.
 *
 *   def loss(params, batch):              a function, whose second parameter is batch
 *       h = dense(batch, params["w1"])    hands batch on as the first
 */
#ifndef SHDC_PYTHON_H
#define SHDC_PYTHON_H

#include "base/base.h"

/* Some letters of the text. */
typedef struct Letters {
	const char *begin, *end;
} Letters;

typedef struct PythonFunction {
	const SourceFile *file;
	int line; /* of its def; 0: there is none */
	int body; /* the first line behind its parameters */
	Letters name;
	Letters params; /* between its parentheses */
} PythonFunction;

bool letters_are(Letters some, const char *word);
Letters python_line(const SourceFile *f, int line);
/* The innermost that the line is in; itself: that line may be its def. */
PythonFunction python_function(const SourceFile *f, int line, bool itself);
/* Which of its parameters; -1: none. */
int python_param(const PythonFunction *function, const char *name);
/* Is the name given another value between these lines? */
bool python_assigns(const SourceFile *f, int first, int end, const char *name);
/* Is `some` a call of the function that hands the name on as the parameter of that name? */
bool python_hands_on(Arena *a, Letters some, const PythonFunction *function, const char *name);
/* Does a lambda, up to there, call something else so? */
bool python_hides(Letters some, const char *name);
/* Where the name, with any quotes, is first used; empty: it is not. */
Letters python_find(Letters some, const char *name);

#endif

/*
 * import.h - from what JAX lowers to a module of level L_global.
 */
#ifndef SHDC_IMPORT_H
#define SHDC_IMPORT_H

#include "ir/ir.h"

/* Gives the module its mesh, of these axes: sizes, target and layout may be asked for on
   the command line.  False after a message. */
typedef bool MeshGiver(void *data, Module *m, int n, const MeshAxis *axes, Range where);

typedef struct ImportOptions {
	MeshGiver *mesh;
	void *data;
	/* axes that are there even if the text has them with one device; all: any */
	const char *const *sized;
	int nsized;
	bool all_axes;
	const char *const *places; /* --place */
	int nplaces;
	const char *explain; /* what a line computes is named, if it is called so; or NULL */
} ImportOptions;

/* Is the file a JAX program, as text or as bytes that are recognised? */
bool import_knows(const SourceFile *f);
/* NULL after messages.  Nothing is removed yet that nobody needs (pipeline_accept()). */
Module *import_program(Session *s, int file, const ImportOptions *options);

/* params.layers.wq of "params['layers']['wq']", as values are called. */
const char *path_dotted(Arena *a, const char *path);

#endif

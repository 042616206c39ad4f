/*
 * ffi.c - calls a C function whose number of parameters only the program
 * knows.  Apart from extern.c, so that built programs without extern
 * functions need no libffi.
 */
#include "eval/eval.h"

#include <ffi.h>
#include <stdlib.h>

#include "shdrt.h"

int
shdeval_call(shdrt_function *f, const shdrt_extern_call *place, int n, const shdrt_view *views)
{
	size_t count = (size_t)n;
	ffi_type **types = calloc(count, sizeof *types);
	const shdrt_view **pointers = calloc(count, sizeof *pointers);
	void **arguments = calloc(count, sizeof *arguments);
	ffi_arg result = 0;
	ffi_cif cif;
	for (int i = 0; types && pointers && arguments && i < n; i++) {
		types[i] = &ffi_type_pointer;
		pointers[i] = &views[i];
		arguments[i] = &pointers[i];
	}
	if (!types || !pointers || !arguments
		|| ffi_prep_cif(&cif, FFI_DEFAULT_ABI, (unsigned)n, &ffi_type_sint, types)
			!= FFI_OK)
		die("an extern function cannot be called");
	if (place)
		shdrt_extern_enter(NULL, place);
	ffi_call(&cif, f, &result, arguments);
	if (place)
		shdrt_extern_leave(NULL, place, (int)result);
	free(types);
	free(pointers);
	free(arguments);
	return (int)result;
}

/*
 * Tensor files of any content: refused with a reason, or every element lies
 * within the file.  Built once for each format: READ is the reader's call.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static volatile unsigned char sink;

/* Touches the first and last byte of the element at the far corner and at
   the origin; a sanitizer knows whether they are the file's. */
static void
touch(const TensorView *view, const uint8_t *data, size_t n)
{
	size_t bytes = shdrt_dtype_bytes[view->dtype];
	const unsigned char *first = view->data, *last = first;
	for (int i = 0; i < view->rank; i++) {
		if (view->dims[i] == 0)
			return;
		last += (view->dims[i] - 1) * view->strides[i];
	}
	if (first < data || last + bytes > data + n)
		abort();
	sink = first[0];
	sink = last[bytes - 1];
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	TensorView view;
	char why[WHY];
	memset(why, 'x', sizeof why);
	if (READ(data, n, &view, why))
		touch(&view, data, n);
	else if (!memchr(why, 0, sizeof why) || !*why)
		abort();
	return 0;
}

/* x times FACTOR */
#include "shdrt_extern.h"

static const float FACTOR = 1;

int
halved(const shdrt_view *x, const shdrt_view *result)
{
	for (int64_t i = 0; i < x->dims[0]; i++)
		((float *)result->data)[i] = ((float *)x->data)[i] * FACTOR;
	return 0;
}

/*
 * externs.c - extern functions that tests call.
 */
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "shdrt_extern.h"

typedef const shdrt_view View;

int scaled(View *x, View *by, View *result);
int halvings(View *x, View *result);
int product(View *a, View *b, View *result);
int integers(View *a, View *b, View *result);
int extremes(View *x, View *low, View *high);
int total(View *x, View *result);
int fails(View *x, View *result);
int crashes(View *x, View *result);
int hangs(View *x, View *result);
int is_killed(View *x, View *result);
int fills_memory(View *x, View *result);
int second(View *x, View *result);

/* Where element number k in row-major order is. */
static int64_t
place(View *v, int64_t k)
{
	int64_t at = 0;

	for (int d = v->rank - 1; d >= 0; k /= v->dims[d--])
		at += k % v->dims[d] * v->strides[d];
	return at;
}

/* x * by + 1, by a scalar */
int
scaled(View *x, View *by, View *result)
{
	const float *in = x->data, *b = by->data;
	float *out = result->data;

	if (x->dtype != SHDRT_f32 || by->rank != 0)
		return 1;
	for (int64_t k = 0; k < shdrt_view_elements(x); k++)
		out[place(result, k)] = in[place(x, k)] * *b + 1;
	return 0;
}

/* How often x can be halved. */
int
halvings(View *x, View *result)
{
	const int32_t *in = x->data;
	int32_t *out = result->data;

	for (int64_t k = 0; k < shdrt_view_elements(x); k++) {
		int32_t v = in[place(x, k)], n = 0;
		for (; v && v % 2 == 0; v /= 2)
			n++;
		out[place(result, k)] = n;
	}
	return 0;
}

/* sum over k of a[i, k] b[k, j] */
int
product(View *a, View *b, View *result)
{
	const float *p = a->data, *q = b->data;
	float *out = result->data;
	int64_t n = a->dims[1], columns = b->dims[1];

	for (int64_t i = 0; i < a->dims[0]; i++)
		for (int64_t j = 0; j < columns; j++) {
			float sum = 0;
			for (int64_t k = 0; k < n; k++)
				sum += p[place(a, i * n + k)] * q[place(b, k * columns + j)];
			out[place(result, i * columns + j)] = sum;
		}
	return 0;
}

/* ... of i32, which wrap */
int
integers(View *a, View *b, View *result)
{
	const uint32_t *p = a->data, *q = b->data;
	uint32_t *out = result->data;
	int64_t n = a->dims[1], columns = b->dims[1];

	for (int64_t i = 0; i < a->dims[0]; i++)
		for (int64_t j = 0; j < columns; j++) {
			uint32_t sum = 0;
			for (int64_t k = 0; k < n; k++)
				sum += p[place(a, i * n + k)] * q[place(b, k * columns + j)];
			out[place(result, i * columns + j)] = sum;
		}
	return 0;
}

/* The least and the greatest of each row, which is whole. */
int
extremes(View *x, View *low, View *high)
{
	const float *in = x->data;
	float *l = low->data, *h = high->data;
	int64_t n = x->dims[1];

	for (int64_t i = 0; i < x->dims[0]; i++) {
		l[i] = INFINITY;
		h[i] = -INFINITY;
		for (int64_t k = 0; k < n; k++) {
			float v = in[place(x, i * n + k)];
			l[i] = v < l[i] || isnan(v) ? v : l[i];
			h[i] = v > h[i] || isnan(v) ? v : h[i];
		}
	}
	return 0;
}

/* All elements, a scalar. */
int
total(View *x, View *result)
{
	const double *in = x->data;
	double sum = 0;

	for (int64_t k = 0; k < shdrt_view_elements(x); k++)
		sum += in[place(x, k)];
	*(double *)result->data = sum;
	return 0;
}

int
fails(View *x, View *result)
{
	(void)x, (void)result;
	return 7;
}

int
crashes(View *x, View *result)
{
	(void)x, (void)result;
	__builtin_trap();
}

int
hangs(View *x, View *result)
{
	volatile bool ready = false;

	(void)x, (void)result;
	while (!ready)
		continue;
	return 0;
}

int
is_killed(View *x, View *result)
{
	(void)x, (void)result;
	return raise(SIGKILL);
}

/* As if it were for the memory it takes: it is killed. */
int
fills_memory(View *x, View *result)
{
	size_t n = (size_t)450 << 20;
	char *memory = malloc(n);

	if (!memory)
		return 1;
	for (size_t i = 0; i < n; i += 4096)
		((volatile char *)memory)[i] = 1;
	return is_killed(x, result);
}

/* x, but the second time it is called, x + 1. */
int
second(View *x, View *result)
{
	static int calls;
	const float *in = x->data;
	float *out = result->data;

	calls++;
	for (int64_t k = 0; k < shdrt_view_elements(x); k++)
		out[place(result, k)] = in[place(x, k)] + (calls == 2);
	return 0;
}

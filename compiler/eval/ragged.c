/*
 * ragged.c - an exchange of rows between the members of a group: each says how
 * many it sends to whom, from where and to where, and how many it expects.
 *
 * With bounds, what moves is samples and spreads; the sizes are those of the
 * values.
 */
#include "eval/kernels.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROWS, INTO, STARTS, SIZES, TO, FROM }; /* operands */

typedef struct Exchange {
	const Module *module;
	const Op *op;
	const Tensor *operands; /* [operand * devices + device] */
	int64_t devices, n;	/* of the mesh, of a group */
} Exchange;

/* From one device to another. */
typedef struct Parcel {
	int64_t sender, receiver; /* devices */
	int64_t start, n, to, expected;
} Parcel;

static int64_t
number(const Exchange *x, int operand, int64_t device, int64_t member)
{
	return tensor_integer(&x->operands[operand * x->devices + device], member);
}

/* From member i of the group that device d is in, to member k. */
static Parcel
parcel(const Exchange *x, int64_t d, int64_t i, int64_t k)
{
	const Mesh *mesh = &x->module->mesh;
	int64_t from = axes_with_index(mesh, x->op->axes, d, i);
	int64_t to = axes_with_index(mesh, x->op->axes, d, k);
	return (Parcel){from, to, number(x, STARTS, from, k), number(x, SIZES, from, k),
		number(x, TO, from, k), number(x, FROM, to, i)};
}

static Exchange
exchange_of(const Module *m, const Op *op, const Tensor *operands)
{
	return (Exchange){m, op, operands, m->mesh.ndevices, axes_size(op->axes)};
}

/* ---- what may be wrong -------------------------------------------------- */

static long long
rows_of(const Exchange *x, int operand, int64_t device)
{
	return x->operands[operand * x->devices + device].type.dims[0];
}

static const char *
parcel_wrong(const Exchange *x, const Parcel *p)
{
	Arena *a = x->module->arena;
	long long rows = rows_of(x, ROWS, p->sender);
	long long into = rows_of(x, INTO, p->receiver);
	if (p->n < 0)
		return "a negative number";
	if (p->n != p->expected)
		return arena_printf(a, "which expects %lld from it", (long long)p->expected);
	if (p->n && (p->start < 0 || p->start + p->n > rows))
		return arena_printf(a, "but its operand has %lld rows", rows);
	if (p->n && (p->to < 0 || p->to + p->n > into))
		return arena_printf(a, "which has %lld rows", into);
	return NULL;
}

static const char *
overlap_wrong(const Exchange *x, int64_t d, int64_t i, int64_t k)
{
	Parcel p = parcel(x, d, i, k);
	for (int64_t j = 0; j < i; j++) {
		Parcel q = parcel(x, d, j, k);
		if (p.n > 0 && q.n > 0 && q.to < p.to + p.n && p.to < q.to + q.n)
			return arena_printf(x->module->arena,
				"where rows of "
				"device %lld go, too",
				(long long)q.sender);
	}
	return NULL;
}

const char *
ragged_wrong(const Module *m, const Op *op, const Tensor *operands)
{
	Exchange x = exchange_of(m, op, operands);
	for (int64_t d = 0; d < x.devices; d++) {
		int64_t k = axes_index(&m->mesh, op->axes, d);
		for (int64_t i = 0; operands[d].data && i < x.n; i++) {
			Parcel p = parcel(&x, d, i, k);
			const char *wrong = parcel_wrong(&x, &p);
			if (!wrong)
				wrong = overlap_wrong(&x, d, i, k);
			if (wrong)
				return arena_printf(m->arena,
					"device %lld sends %lld rows "
					"from row %lld to row %lld of device %lld, %s",
					(long long)p.sender, (long long)p.n, (long long)p.start,
					(long long)p.to, (long long)p.receiver, wrong);
		}
	}
	return NULL;
}

/* ---- the exchange ------------------------------------------------------- */

/* Some rows of a tensor: a view. */
static Tensor
rows_from(const Tensor *t, int64_t start, int64_t n)
{
	Type row = t->type;
	Tensor rows = *t;
	row.dims[0] = 1;
	rows.type.dims[0] = n;
	rows.data = (char *)t->data + start * type_bytes(&row);
	return rows;
}

static bool
receive(const Exchange *x, int64_t d, Tensor *result)
{
	int64_t k = axes_index(&x->module->mesh, x->op->axes, d);
	bool ok = identity(x->op, &x->operands[INTO * x->devices + d], result);
	for (int64_t i = 0; ok && i < x->n; i++) {
		Parcel p = parcel(x, d, i, k);
		Tensor from, to;
		if (p.n <= 0)
			continue;
		from = rows_from(&x->operands[p.sender], p.start, p.n);
		to = rows_from(result, p.to, p.n);
		ok = identity(x->op, &from, &to);
	}
	return ok;
}

bool
ragged_all_to_all(const Module *m, const Op *op, const Tensor *operands, Tensor *results)
{
	Exchange x = exchange_of(m, op, operands);
	bool ok = true;
	for (int64_t d = 0; ok && d < x.devices; d++)
		ok = !results[d].data || receive(&x, d, &results[d]);
	return ok;
}

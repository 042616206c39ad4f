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
number(const Exchange *e, int operand, int64_t device, int64_t member)
{
	return tensor_integer(&e->operands[operand * e->devices + device], member);
}

/* From member i of the group that device d is in, to member k. */
static Parcel
parcel(const Exchange *e, int64_t d, int64_t i, int64_t k)
{
	const Mesh *mesh = &e->module->mesh;
	int64_t from = axes_with_index(mesh, e->op->axes, d, i);
	int64_t to = axes_with_index(mesh, e->op->axes, d, k);
	return (Parcel){from, to, number(e, STARTS, from, k), number(e, SIZES, from, k),
		number(e, TO, from, k), number(e, FROM, to, i)};
}

static Exchange
exchange_of(const Module *m, const Op *op, const Tensor *operands)
{
	return (Exchange){m, op, operands, m->mesh.ndevices, axes_size(op->axes)};
}

/* ---- what may be wrong -------------------------------------------------- */

static long long
rows_of(const Exchange *e, int operand, int64_t device)
{
	return e->operands[operand * e->devices + device].type.dims[0];
}

static const char *
parcel_wrong(const Exchange *e, const Parcel *sent)
{
	Arena *a = e->module->arena;
	long long rows = rows_of(e, ROWS, sent->sender);
	long long into = rows_of(e, INTO, sent->receiver);
	if (sent->n < 0)
		return "a negative number";
	if (sent->n != sent->expected)
		return arena_printf(a, "which expects %lld from it", (long long)sent->expected);
	if (sent->n && (sent->start < 0 || sent->start + sent->n > rows))
		return arena_printf(a, "but its operand has %lld rows", rows);
	if (sent->n && (sent->to < 0 || sent->to + sent->n > into))
		return arena_printf(a, "which has %lld rows", into);
	return NULL;
}

static const char *
overlap_wrong(const Exchange *e, int64_t d, int64_t i, int64_t k)
{
	Parcel p = parcel(e, d, i, k);
	for (int64_t j = 0; j < i; j++) {
		Parcel q = parcel(e, d, j, k);
		if (p.n > 0 && q.n > 0 && q.to < p.to + p.n && p.to < q.to + q.n)
			return arena_printf(e->module->arena,
				"where rows of "
				"device %lld go, too",
				(long long)q.sender);
	}
	return NULL;
}

const char *
ragged_wrong(const Module *m, const Op *op, const Tensor *operands)
{
	Exchange e = exchange_of(m, op, operands);
	for (int64_t d = 0; d < e.devices; d++) {
		int64_t k = axes_index(&m->mesh, op->axes, d);
		for (int64_t i = 0; operands[d].data && i < e.n; i++) {
			Parcel p = parcel(&e, d, i, k);
			const char *wrong = parcel_wrong(&e, &p);
			if (!wrong)
				wrong = overlap_wrong(&e, d, i, k);
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
	rows.data = (char *)t->data + start * type_stored(&row);
	return rows;
}

bool
ragged_all_to_all(const Module *m, const Op *op, const Tensor *operands, Tensor *results)
{
	Exchange e = exchange_of(m, op, operands);
	bool ok = true;
	for (int64_t d = 0; ok && d < e.devices; d++) {
		int64_t k = axes_index(&m->mesh, op->axes, d);
		if (!results[d].data)
			continue;
		ok = identity(op, &operands[INTO * e.devices + d], &results[d]);
		for (int64_t i = 0; ok && i < e.n; i++) {
			Parcel p = parcel(&e, d, i, k);
			if (p.n <= 0)
				continue;
			Tensor from = rows_from(&operands[p.sender], p.start, p.n);
			Tensor to = rows_from(&results[d], p.to, p.n);
			ok = identity(op, &from, &to);
		}
	}
	return ok;
}

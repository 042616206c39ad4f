/*
 * collective.c - ops between devices, on the tensors of all of them at once.
 *
 * A group is the devices that differ only along op->axes; its members are
 * numbered by their index in that list.  Here `members[i]` is the device that
 * is member i of the group at hand.
 */
#include "eval/kernels.h"

#include <stdlib.h>

typedef struct Group {
	const Op *op;
	int64_t n;
	int64_t *members;
	const Tensor *operands; /* of every device */
	Tensor *results;
} Group;
typedef bool EachGroup(const Group *g);

/* Calls `each` once per group. */
static bool
for_groups(const Module *m, const Op *op, const Tensor *operands, Tensor *results,
	EachGroup *each)
{
	static const AxisList none;
	const AxisList *axes = op->axes ? op->axes : &none;
	Group g = {op, axes_size(axes), NULL, operands, results};
	bool ok = (g.members = malloc((size_t)g.n * sizeof *g.members));
	for (int64_t d = 0; ok && d < m->mesh.ndevices; d++) {
		if (axes_index(&m->mesh, axes, d) || !operands[d].data)
			continue; /* its group's member 0 does it, or
					   the group isn't here */
		for (int64_t i = 0; i < g.n; i++)
			g.members[i] = axes_with_index(&m->mesh, axes, d, i);
		ok = each(&g);
	}
	free(g.members);
	return ok;
}

/* ---- movement ----------------------------------------------------------- */

static bool
gather_group(const Group *g)
{
	int64_t dim = op_int(g->op, A_dim);
	for (int64_t to = 0; to < g->n; to++) {
		int64_t start[MAX_RANK] = {0};
		for (int64_t i = 0; i < g->n; i++) {
			const Tensor *part = &g->operands[g->members[i]];
			copy_in(part, start, &g->results[g->members[to]]);
			start[dim] += part->type.dims[dim];
		}
	}
	return true;
}

bool
all_gather(const Module *m, const Op *op, const Tensor *operands, Tensor *results)
{
	return for_groups(m, op, operands, results, gather_group);
}

/* Part i of a dim goes to member i. */
static bool
exchange_group(const Group *g)
{
	int64_t dim = op_int(g->op, A_dim), start[MAX_RANK] = {0};
	Type type = g->operands[g->members[0]].type;
	Tensor part;
	type.dims[dim] /= g->n;
	if (!tensor_new(&type, &part))
		return false;
	for (int64_t to = 0; to < g->n; to++)
		for (int64_t from = 0; from < g->n; from++) {
			start[dim] = to * type.dims[dim];
			copy_out(&g->operands[g->members[from]], start, &part);
			start[dim] = from * type.dims[dim];
			copy_in(&part, start, &g->results[g->members[to]]);
		}
	tensor_free(&part);
	return true;
}

bool
all_to_all(const Module *m, const Op *op, const Tensor *operands, Tensor *results)
{
	return for_groups(m, op, operands, results, exchange_group);
}

bool
collective_permute(const Module *m, const Op *op, const Tensor *operands, Tensor *results)
{
	const Mesh *mesh = &m->mesh;
	for (int64_t to = 0; to < mesh->ndevices; to++) {
		if (!results[to].data)
			continue;
		int64_t from = permute_source(mesh, op, to);
		if (from >= 0 && !identity(op, &operands[from], &results[to]))
			return false;
	}
	return true;
}

/* ---- reduction ---------------------------------------------------------- */

/* Every member computes the same sum, so it is computed once. */
static bool
reduce_group(const Group *g)
{
	Tensor *first = &g->results[g->members[0]];
	if (!tensor_combine((Combiner)op_int(g->op, A_combiner), g->operands, g->members, g->n,
		    first))
		return false;
	for (int64_t i = 1; i < g->n; i++)
		identity(g->op, first, &g->results[g->members[i]]);
	return true;
}

bool
all_reduce(const Module *m, const Op *op, const Tensor *operands, Tensor *results)
{
	return for_groups(m, op, operands, results, reduce_group);
}

static bool
scatter_group(const Group *g)
{
	int64_t dim = op_int(g->op, A_dim), start[MAX_RANK] = {0};
	Tensor sum;
	if (!tensor_new(&g->operands[g->members[0]].type, &sum))
		return false;
	bool ok = tensor_combine((Combiner)op_int(g->op, A_combiner), g->operands, g->members,
		g->n, &sum);
	for (int64_t i = 0; ok && i < g->n; i++) {
		Tensor *part = &g->results[g->members[i]];
		copy_out(&sum, start, part);
		start[dim] += part->type.dims[dim];
	}
	tensor_free(&sum);
	return ok;
}

bool
reduce_scatter(const Module *m, const Op *op, const Tensor *operands, Tensor *results)
{
	return for_groups(m, op, operands, results, scatter_group);
}

/*
 * group.c - collectives, in the samples and the spreads: they move as the values
 * do; what adds them up is bounded as the sum of what the members have.
 */
#include "eval/check/check.h"
#include "eval/machine.h"

#include <stdlib.h>
#include <string.h>

/* ---- sums --------------------------------------------------------------- */

/* All members' after each other along a new first dim. */
static bool
stack(const Inexact *x, int64_t n, Inexact *all, Tensor *views)
{
	bool ok = true;
	for (int k = 0; ok && k < LANES; k++) {
		if (!any_lane(x, n, k))
			continue;
		Type part = lane_type(&value_of(&x[0])->type, k), type = part;
		type.rank++;
		memmove(type.dims + 1, part.dims, (size_t)part.rank * sizeof part.dims[0]);
		type.dims[0] = n;
		size_t bytes = (size_t)type_stored(&part);
		ok = view_lanes(x, n, k, views) && tensor_new(&type, lane_of(all, k));
		for (int64_t i = 0; ok && i < n; i++)
			memcpy((char *)lane_of(all, k)->data + (size_t)i * bytes, views[i].data,
				bytes);
		tensors_free(views, n);
	}
	return ok;
}

/* The sum of n tensors that are alike, as a reduction of them all. */
static bool
sum_of(const Op *op, const Inexact *x, int64_t n, const Inexact *sum)
{
	Op reduction = {.kind = O_reduce,
		.noperands = 2,
		.id = op->id,
		.module = op->module,
		.label = op->label};
	Tensor lanes[2 * LANES] = {{.data = NULL}};
	Inexact in[] = {{.lanes = lanes, .stride = 1}, {.lanes = lanes + LANES, .stride = 1}};
	int64_t combiner = op_int(op, A_combiner);
	const Type *type = &value_of(&x[0])->type;
	Type scalar = type_of(type->dtype, 0, NULL);
	Tensor *views = calloc((size_t)n, sizeof *views);
	bool ok = views && tensor_new(&scalar, value_of(&in[1]))
		&& tensor_new(type, value_of(sum)) && stack(x, n, &in[0], views);
	if (ok) {
		Tensor values[] = {*value_of(&in[0]), *value_of(&in[1])};
		op_set_int(&reduction, A_dims, 0);
		op_set_int(&reduction, A_combiner, combiner);
		tensor_fill_payload(&values[1],
			combiner_identity((Combiner)combiner, type->dtype));
		ok = reduce(&reduction, values, value_of(sum))
			&& sample_op(op->module, &reduction, in, sum);
	}
	tensors_free(lanes, 2 * LANES);
	free(views);
	return ok;
}

static bool
sample_sums(const Machine *vm, const Op *op, const Inexact *operands, const Inexact *results)
{
	const Mesh *mesh = &vm->module->mesh;
	bool scattered = op_has(op, A_dim);
	int64_t n = axes_size(op->axes), dim = scattered ? op_int(op, A_dim) : 0;
	Inexact *members = calloc((size_t)n, sizeof *members);
	bool ok = members;
	for (int64_t d = 0; ok && d < vm->ndevices; d++) {
		Tensor lanes[LANES] = {{.data = NULL}};
		Inexact sum = {.lanes = lanes, .stride = 1};
		if (!operands[d].lanes || axes_index(mesh, op->axes, d))
			continue; /* its group's member 0 does it */
		for (int64_t i = 0; i < n; i++)
			members[i] = operands[axes_with_index(mesh, op->axes, d, i)];
		ok = sum_of(op, members, n, &sum);
		/* member i has all of what the group has, or part i of a dim */
		for (int64_t i = 0; ok && i < n; i++) {
			int64_t start[MAX_RANK] = {0};
			const Inexact *result = &results[axes_with_index(mesh, op->axes, d, i)];
			for (int k = VALUE + 1; ok && k < LANES; k++) {
				Type type = lane_type(&value_of(result)->type, k);
				start[dim] = scattered ? i * type.dims[dim] : 0;
				ok = !lane_of(&sum, k)->data
					|| tensor_new(&type, lane_of(result, k));
				if (ok && lane_of(&sum, k)->data)
					copy_out(lane_of(&sum, k), start, lane_of(result, k));
			}
		}
		tensors_free(lanes, LANES);
	}
	free(members);
	return ok;
}

/* ---- movement ----------------------------------------------------------- */

/* Operands that move are 0, and of a ragged exchange 1; then come sizes, and
   if they are in doubt, so is the place of everything. */
bool
sample_group(Machine *vm, const Op *op, GroupKernel *kernel, const Inexact *operands,
	const Inexact *results)
{
	int64_t n = vm->ndevices, moving = n * (op->noperands > 1 ? 2 : 1);
	bool ok = true, exact = true;
	if (op_has(op, A_combiner))
		return sample_sums(vm, op, operands, results);
	for (int64_t i = moving; i < n * op->noperands; i++)
		exact = exact && (!operands[i].lanes || is_exact(&operands[i]));
	for (int64_t d = 0; ok && !exact && d < n; d++)
		ok = !results[d].lanes || sample_anything(&results[d]);
	for (int k = VALUE + 1; ok && exact && k < LANES; k++) {
		if (!any_lane(operands, moving, k))
			continue;
		ok = view_lanes(operands, moving, k, vm->operands);
		for (int64_t d = 0; ok && d < n; d++) {
			if (!results[d].lanes)
				continue;
			Type type = lane_type(&value_of(&results[d])->type, k);
			ok = tensor_new(&type, lane_of(&results[d], k));
			vm->results[d] = *lane_of(&results[d], k);
		}
		ok = ok && kernel(vm->module, op, vm->operands, vm->results);
		tensors_free(vm->operands, moving);
	}
	return ok;
}

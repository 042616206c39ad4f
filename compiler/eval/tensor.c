/*
 * tensor.c - tensors, and their parts on a mesh.
 */
#include "eval/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eval/scalar.h"

/*
 * malloc() promises more memory than there is, and who then touches it is
 * killed.  So what tensors hold is counted, and ends at three quarters of the
 * machine's.  (The interpreter is one thread.)
 */
static int64_t bytes_in_use;

/* Asked once: it is a call into the kernel. */
static int64_t
bytes_at_most(void)
{
	static int64_t limit;
	if (limit)
		return limit;
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
	if (pages <= 0 || size <= 0 || !mul_i64(pages, size, &limit))
		limit = INT64_MAX;
	return limit = limit / 4 * 3;
}

bool
tensor_new(const Type *type, Tensor *t)
{
	int64_t bytes = dtypes[type->dtype].bytes;
	*t = (Tensor){.type = *type};
	for (int d = 0; d < type->rank; d++)
		if (!mul_i64(bytes, type->dims[d], &bytes))
			return false;
	if (bytes > bytes_at_most() - bytes_in_use)
		return false;
	t->data = calloc((size_t)bytes + !bytes, 1);
	if (t->data)
		bytes_in_use += bytes;
	return t->data;
}

void
tensor_free(Tensor *t)
{
	if (t->data && !t->lent) {
		bytes_in_use -= type_stored(&t->type);
		free(t->data);
	}
	t->data = NULL;
	t->lent = false;
}

Tensor
tensor_lend(const Tensor *t)
{
	Tensor view = *t;
	view.lent = true;
	return view;
}

bool
tensor_copy(const Tensor *t, Tensor *copy)
{
	return tensor_new(&t->type, copy) && identity(NULL, t, copy);
}

/* ---- parts -------------------------------------------------------------- */

/* Where a device's part starts in the whole tensor. */
static void
shard_start(const Mesh *mesh, const Placement *p, const Type *local, int64_t device,
	int64_t *start)
{
	for (int d = 0; d < local->rank; d++) {
		AxisList axes = placement_dim(p, d);
		start[d] = axes_index(mesh, &axes, device) * local->dims[d];
	}
}

bool
tensor_shard(const Mesh *mesh, const Placement *p, int64_t device, const Tensor *whole,
	Tensor *local)
{
	AxisList partial = placement_unreduced(p);
	Type type = placement_local(&whole->type, p);
	int64_t start[MAX_RANK];
	if (!tensor_new(&type, local))
		return false;
	if (axes_index(mesh, &partial, device)) {
		tensor_fill_payload(local, combiner_neutral((Combiner)p->combiner, type.dtype));
		return true;
	}
	shard_start(mesh, p, &type, device, start);
	copy_out(whole, start, local);
	return true;
}

/* Bit for bit, but for the payload of NaNs. */
static bool
same_tensor(const Tensor *a, const Tensor *b)
{
	int64_t n = type_elements(&a->type);
	size_t bytes = (size_t)dtypes[a->type.dtype].bytes;
	if (!memcmp(a->data, b->data, (size_t)n * bytes))
		return true;
	for (int64_t i = 0; i < n; i++) {
		size_t at = (size_t)i * bytes;
		bool nan = dtype_is_float(a->type.dtype) && isnan(tensor_double(a, i))
			&& isnan(tensor_double(b, i));
		if (!nan
			&& memcmp((const char *)a->data + at, (const char *)b->data + at,
				bytes))
			return false;
	}
	return true;
}

bool
tensor_combine(Combiner c, const Tensor *locals, const int64_t *members, int64_t n,
	Tensor *result)
{
	DType d = result->type.dtype;
	int64_t elements = type_elements(&result->type);
	CombineLoop *loop = combine_loops[c][wide_of(d)];
	Chunk acc, next;
	if (!loop)
		return false;
	for (int64_t i = 0, count; (count = chunk(elements - i)); i += count) {
		load_wide(d, locals[members[0]].data, i, count, &acc);
		for (int64_t k = 1; k < n; k++)
			loop(&acc, view_wide(&locals[members[k]], i, count, &next), count, 1);
		store_wide(d, &acc, result->data, i, count);
	}
	return true;
}

bool
tensor_unshard(const Mesh *mesh, const Placement *p, const Type *global, const Tensor *locals,
	Tensor *whole, int64_t *disagree)
{
	/* devices with one index in this list, all that the placement splits by, then
	   the unreduced axes, are replicas */
	AxisList axes = {0}, partial = placement_unreduced(p);
	for (int d = 0; d < p->rank; d++) {
		AxisList of_dim = placement_dim(p, d);
		axes_append_all(&axes, &of_dim);
	}
	axes_append_all(&axes, &partial);
	int64_t n = axes_size(&axes), ways = axes_size(&partial), start[MAX_RANK];
	Type local = placement_local(global, p);
	int64_t *owners = malloc((size_t)n * sizeof *owners);
	Tensor part = {0};
	bool ok = tensor_new(global, whole) && owners && tensor_new(&local, &part);

	/* the lowest of each index, and the first that differs from it */
	*disagree = -1;
	for (int64_t i = 0; ok && i < n; i++)
		owners[i] = -1;
	for (int64_t d = 0; ok && d < mesh->ndevices; d++) {
		int64_t *owner = &owners[axes_index(mesh, &axes, d)];
		if (*owner < 0)
			*owner = d;
		else if (*disagree < 0 && !same_tensor(&locals[*owner], &locals[d]))
			*disagree = d;
	}
	for (int64_t i = 0; ok && i < n; i += ways) {
		ok = tensor_combine((Combiner)p->combiner, locals, &owners[i], ways, &part);
		shard_start(mesh, p, &local, owners[i], start);
		copy_in(&part, start, whole);
	}
	free(owners);
	tensor_free(&part);
	return ok;
}

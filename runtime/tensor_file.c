/*
 * tensor_file.c - opening a tensor file for a parameter.
 *
 * The file is mapped, not read: each device copies the part it needs.  What
 * the header says is held against the file's real size and the parameter's
 * type before anything is allocated.  A .txt has no header: it is a byte an
 * element.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

enum { LONG_HEADER = 1 << 20 }; /* bytes */

/* FILE.safetensors#KEY, FILE.npz#KEY: another tensor than the parameter's name. */
static char *
split_key(const char *path, const char **key)
{
	char *copy = strdup(path);
	if (!copy)
		rt_fail(SHDRT_MEMORY, "out of memory");
	char *mark = strchr(copy, '#');
	while (mark && (*mark = 0, !rt_holds_many(copy))) {
		*mark = '#';
		mark = strchr(mark + 1, '#');
	}
	if (mark) {
		*key = path + (mark + 1 - copy);
	}
	return copy;
}

static void
map_file(TensorFile *f, const char *path, const char *parameter)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &status) != 0)
		rt_fail(SHDRT_IO, "%s: cannot be read as %s: %s", path, parameter,
			strerror(errno));
	if (!S_ISREG(status.st_mode))
		rt_fail(SHDRT_IO, "%s: cannot be read as %s: not a file", path, parameter);
	*f = (TensorFile){.size = (size_t)status.st_size};
	if (f->size) {
		void *at = mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (at == MAP_FAILED)
			rt_fail(SHDRT_IO, "%s: cannot be read as %s: %s", path, parameter,
				strerror(errno));
		f->bytes = at;
	}
	close(fd);
}

/* All of standard input; what is longer than the parameter and a header is no tensor
   file of it. */
static void
read_standard(TensorFile *f, const shdrt_tensor *t)
{
	size_t most = rt_tensor_bytes(t) + LONG_HEADER;
	unsigned char *bytes = rt_get_memory(1, most);
	errno = 0;
	f->size = fread(bytes, 1, most, stdin);
	if (ferror(stdin))
		rt_fail(SHDRT_IO, "standard input: cannot be read as %s: %s", t->name,
			strerror(errno));
	if (f->size == most)
		rt_fail(SHDRT_IO, "standard input: cannot be read as %s: it is too long",
			t->name);
	f->bytes = bytes;
	f->read = true;
}

static void
text_dims(char *text, size_t room, shdrt_dtype dtype, int rank, const int64_t *dims)
{
	int n = snprintf(text, room, "%s[", shdrt_dtype_names[dtype]);
	for (int i = 0; i < rank; i++)
		n += snprintf(text + n, room - (size_t)n, "%s%lld", i ? ", " : "",
			(long long)dims[i]);
	snprintf(text + n, room - (size_t)n, "]");
}

bool
rt_same_type(const TensorView *view, const shdrt_tensor *t)
{
	return view->dtype == t->dtype && view->rank == t->rank
		&& (t->rank == 0
			|| memcmp(view->dims, t->dims, (size_t)t->rank * sizeof *t->dims) == 0);
}

/* The text of a parameter of u8 or i32. */
static bool
parse_text(TensorFile *f, const shdrt_tensor *t, char why[WHY])
{
	TensorView *view = &f->view;
	uint64_t elements;
	if (t->dtype != SHDRT_u8 && t->dtype != SHDRT_i32) {
		snprintf(why, WHY, "a .txt file is u8 or i32, the parameter is %s",
			shdrt_dtype_names[t->dtype]);
		return false;
	}
	*view = (TensorView){.dtype = SHDRT_u8, .rank = t->rank, .data = f->bytes};
	for (int i = 0; i < t->rank; i++)
		view->dims[i] = t->dims[i];
	if (!rt_view_row_major(view, &elements) || elements != f->size) {
		snprintf(why, WHY, "it has %zu bytes, the parameter %lld elements", f->size,
			(long long)rt_tensor_elements(t));
		return false;
	}
	view->widened = t->dtype != SHDRT_u8;
	view->dtype = t->dtype;
	return true;
}

static const char *
shown_name(const char *name)
{
	return rt_is_standard(name) ? "standard input" : name;
}

static void
check_type(const TensorFile *f, const char *name, const char *what, const shdrt_tensor *t)
{
	char has[400], wants[400];
	if (rt_same_type(&f->view, t))
		return;
	text_dims(has, sizeof has, f->view.dtype, f->view.rank, f->view.dims);
	text_dims(wants, sizeof wants, t->dtype, t->rank, t->dims);
	rt_fail(SHDRT_IO, "%s: holds %s, %s %s is %s", name, has, what, t->name, wants);
}

/* The tensor of this name in a file of many. */
static Parsed
parse_named(TensorFile *f, const char *path, const char *key, const shdrt_tensor *t,
	char why[WHY])
{
	if (!rt_has_ending(path, ".npz"))
		return rt_safetensors_parse(f->bytes, f->size, key, &f->view, why);
	rt_tensor_file_close(f);
	return rt_npz_read(f, path, key, t, why);
}

void
rt_tensor_file_open(TensorFile *f, const char *path, const shdrt_tensor *t)
{
	char why[WHY];
	const char *key = t->name;
	char *name = split_key(path, &key);
	if (rt_is_standard(path))
		read_standard(f, t);
	else
		map_file(f, name, t->name);
	bool npy = f->size >= 6 && memcmp(f->bytes, "\x93NUMPY", 6) == 0;
	bool good = rt_has_ending(name, ".txt") ? parse_text(f, t, why)
		: !npy && rt_holds_many(name)
		? parse_named(f, name, key, t, why) == PARSED_good
		: rt_npy_parse(f->bytes, f->size, t->dtype, &f->view, why);
	if (!good)
		rt_fail(SHDRT_IO, "%s: cannot be read as %s: %s", shown_name(name), t->name,
			why);
	check_type(f, shown_name(name), "parameter", t);
	free(name);
}

/* Its header is read for the first parameter that is looked for. */
static Parsed
find_in_many(FileOfMany *many, const shdrt_tensor *t, TensorView *view, char why[WHY])
{
	if (!many->index) {
		map_file(&many->file, many->path, t->name);
		many->index = rt_safetensors_index(many->file.bytes, many->file.size, why);
	}
	return many->index ? rt_safetensors_find(many->index, t->name, view, why)
			   : PARSED_broken;
}

bool
rt_tensor_file_find(TensorFile *f, FileOfMany *many, const shdrt_tensor *t, bool wanted,
	char why[WHY])
{
	TensorView view;
	Parsed parsed;
	bool npz = rt_has_ending(many->path, ".npz");
	if (npz) {
		map_file(f, many->path, t->name);
		parsed = parse_named(f, many->path, t->name, t, why);
	} else {
		*f = (TensorFile){0};
		parsed = find_in_many(many, t, &view, why);
	}
	if (parsed == PARSED_broken)
		rt_fail(SHDRT_IO, "%s: cannot be read as %s: %s", many->path, t->name, why);
	if (parsed == PARSED_good && wanted && !npz) {
		map_file(f, many->path, t->name);
		if (f->size != many->file.size)
			rt_fail(SHDRT_IO, "%s: changed while it was read", many->path);
		f->view = view;
		f->view.data = f->bytes + (view.data - many->file.bytes);
	}
	if (parsed == PARSED_good && wanted)
		check_type(f, many->path, many->what, t);
	else
		rt_tensor_file_close(f);
	return parsed == PARSED_good;
}

void
rt_file_of_many_close(FileOfMany *many)
{
	rt_safetensors_free(many->index);
	rt_tensor_file_close(&many->file);
}

void
rt_tensor_file_close(TensorFile *f)
{
	if (f->read)
		free(f->bytes);
	else if (f->bytes)
		munmap(f->bytes, f->size);
	f->bytes = NULL;
}

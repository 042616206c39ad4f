/*
 * npz.c - tensors in .npz files: a zip of NAME.npy, as numpy.savez() and
 * savez_compressed() write it; written uncompressed.
 *
 * Zip is minizip's affair. Its errors have no text: what is told is which part of
 * the file cannot be read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "internal.h"

#ifdef SHDRT_MINIZIP

#include <minizip/unzip.h>
#include <minizip/zip.h>

enum { PIECE = 1 << 30, LONGEST_NAME = 250 /* of what minizip looks for */ };

/* Bytes from..to of the entry that is open. */
static bool
inflate_part(unzFile zip, unsigned char *bytes, size_t from, size_t to)
{
	while (from < to) {
		size_t left = to - from;
		int n = unzReadCurrentFile(zip, bytes + from,
			(unsigned)(left < PIECE ? left : PIECE));
		if (n <= 0)
			return false;
		from += (size_t)n;
	}
	return true;
}

/* Its header is read first: what is of another size than the parameter is not
   inflated, however large it says it is. */
static Parsed
read_entry(unzFile zip, TensorFile *f, const shdrt_tensor *t, char why[WHY])
{
	enum { HEAD = 1 << 16 };
	size_t head = f->size < HEAD ? f->size : HEAD;

	if (!inflate_part(zip, f->bytes, 0, head)) {
		snprintf(why, WHY, "its tensor cannot be inflated");
		return PARSED_broken;
	}
	if (!rt_npy_parse(f->bytes, f->size, t->dtype, &f->view, why))
		return PARSED_broken;
	if (rt_same_type(&f->view, t)
		&& (!inflate_part(zip, f->bytes, head, f->size)
			|| unzCloseCurrentFile(zip) != UNZ_OK)) {
		snprintf(why, WHY, "its tensor cannot be inflated, or has another checksum");
		return PARSED_broken;
	}
	return PARSED_good;
}

/* The entry of the name, else of one that is the same; false: there is none. */
static bool
locate(unzFile zip, const char *name)
{
	char other[LONGEST_NAME + 5];

	if (unzLocateFile(zip, name, 1) == UNZ_OK)
		return true;
	for (int at = unzGoToFirstFile(zip); at == UNZ_OK; at = unzGoToNextFile(zip))
		if (unzGetCurrentFileInfo64(zip, NULL, other, sizeof other, NULL, 0, NULL, 0)
				== UNZ_OK
			&& memchr(other, 0, sizeof other) && rt_same_name(other, name))
			return true;
	return false;
}

static Parsed
find_entry(unzFile zip, TensorFile *f, const char *key, const shdrt_tensor *t, char why[WHY])
{
	char name[LONGEST_NAME + 5];
	unz_file_info64 info;

	if (strlen(key) > LONGEST_NAME) {
		snprintf(why, WHY, "the name is too long for a .npz");
		return PARSED_absent;
	}
	snprintf(name, sizeof name, "%s.npy", key);
	if (!locate(zip, name)) {
		snprintf(why, WHY, "it has no %.*s", WHY / 2, name);
		return PARSED_absent;
	}
	if (unzGetCurrentFileInfo64(zip, &info, NULL, 0, NULL, 0, NULL, 0) != UNZ_OK
		|| unzOpenCurrentFile(zip) != UNZ_OK || info.uncompressed_size == 0) {
		snprintf(why, WHY, "its tensor cannot be read");
		return PARSED_broken;
	}
	void *at = mmap(NULL, info.uncompressed_size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED) {
		snprintf(why, WHY, "its tensor is said to take %llu bytes",
			(unsigned long long)info.uncompressed_size);
		return PARSED_broken;
	}
	f->bytes = at;
	f->size = info.uncompressed_size;
	return read_entry(zip, f, t, why);
}

Parsed
rt_npz_read(TensorFile *f, const char *path, const char *key, const shdrt_tensor *t,
	char why[WHY])
{
	unzFile zip = unzOpen64(path);
	if (!zip) {
		snprintf(why, WHY, "it is not a zip file");
		return PARSED_broken;
	}
	Parsed parsed = find_entry(zip, f, key, t, why);
	unzClose(zip);
	return parsed;
}

/* ---- writing: to a stream that is open, and stays open ---- */

static voidpf ZCALLBACK
stream(voidpf opaque, const void *path, int mode)
{
	(void)path, (void)mode;
	return opaque;
}

static int ZCALLBACK
leave_open(voidpf opaque, voidpf file)
{
	(void)opaque, (void)file;
	return 0;
}

static bool
put_bytes(zipFile zip, const unsigned char *bytes, size_t n)
{
	for (size_t at = 0; at < n; at += PIECE)
		if (zipWriteInFileInZip(zip, bytes + at,
			    (unsigned)(n - at < PIECE ? n - at : PIECE))
			!= ZIP_OK)
			return false;
	return true;
}

/* Of the first day there is, so that equal results are equal files. */
static bool
put_entry(zipFile zip, const shdrt_array *a)
{
	const zip_fileinfo first_day = {.dosDate = 1 << 5 | 1};
	char header[NPY_HEADER];
	size_t head = rt_npy_header(a, header), room = strlen(a->name) + 5;
	char *name = rt_get_memory(1, room);
	snprintf(name, room, "%s.npy", a->name);
	bool good =
		zipOpenNewFileInZip64(zip, name, &first_day, NULL, 0, NULL, 0, NULL, 0, 0, 1)
			== ZIP_OK
		&& put_bytes(zip, (const unsigned char *)header, head)
		&& put_bytes(zip, a->data, rt_array_bytes(a))
		&& zipCloseFileInZip(zip) == ZIP_OK;
	free(name);
	return good;
}

bool
rt_npz_put(FILE *f, int n, const shdrt_array *arrays)
{
	zlib_filefunc64_def calls;
	fill_fopen64_filefunc(&calls);
	calls.zopen64_file = stream;
	calls.zclose_file = leave_open;
	calls.opaque = f;
	zipFile zip = zipOpen2_64("", APPEND_STATUS_CREATE, NULL, &calls);
	bool good = zip;
	for (int i = 0; i < n && good; i++)
		good = put_entry(zip, &arrays[i]);
	int error = errno;
	good = zip && zipClose(zip, NULL) == ZIP_OK && good;
	if (error)
		errno = error; /* the first is the reason */
	return good;
}

#else

Parsed
rt_npz_read(TensorFile *f, const char *path, const char *key, const shdrt_tensor *t,
	char why[WHY])
{
	(void)f, (void)path, (void)key, (void)t;
	snprintf(why, WHY, "shdc was built without minizip; .safetensors is read");
	return PARSED_broken;
}

bool
rt_npz_put(FILE *f, int n, const shdrt_array *arrays)
{
	(void)f, (void)n, (void)arrays;
	rt_fail(SHDRT_IO,
		"shdc was built without minizip: .npz is not written, .safetensors is");
}

#endif

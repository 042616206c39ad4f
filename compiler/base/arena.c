/*
 * arena.c - memory that lives as long as the session.
 *
 * A list of zeroed chunks; an allocation takes the next 16-aligned piece of
 * the current chunk, or a chunk of its own when it is large.  Nothing is
 * freed before arena_free().  Of an arena that has grown, chunks are huge
 * pages where there are such: a walk over a long program misses the cache,
 * and should not miss the page table too.  The first chunk is small: many arenas hold
 * little.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base.h"

enum {
	FIRST_BYTES = 16 * 1024,
	CHUNK_BYTES = 256 * 1024,
	HUGE_BYTES = 2 * 1024 * 1024,
	KEPT_BYTES = 64 * 1024 * 1024, /* that are free at the end of the heap, at most */
	ALIGNMENT = 16
};

typedef struct Chunk {
	struct Chunk *next;
	size_t used, size;
	bool large; /* of one allocation */
	int images; /* that it is kept in */
	_Alignas(ALIGNMENT) char data[];
} Chunk;

struct Arena {
	Chunk *current; /* and, through next, all earlier ones */
	size_t filled;	/* bytes of the earlier chunks, but for large ones */
	Chunk *spare;	/* since it was reset: zeroed */
};

/* Else each arena that goes is given back, and the next is zeroed by the kernel, a page at a
   time. */
void
memory_keep(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, HUGE_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
#endif
}

static bool
is_huge(size_t size)
{
	return size >= HUGE_BYTES - sizeof(Chunk);
}

static Chunk *
chunk_new(size_t size)
{
	size_t bytes = sizeof(Chunk) + size;
	Chunk *chunk = NULL;

	if (size > SIZE_MAX / 2)
		out_of_memory();
	if (is_huge(size)) {
		chunk = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
		if (chunk == MAP_FAILED)
			out_of_memory();
		madvise(chunk, bytes, MADV_HUGEPAGE);
	} else {
		chunk = calloc(1, bytes);
		if (!chunk)
			out_of_memory();
	}
	chunk->size = size;
	return chunk;
}

static void
chunk_free(Chunk *chunk)
{
	if (is_huge(chunk->size))
		munmap(chunk, sizeof *chunk + chunk->size);
	else
		free(chunk);
}

Arena *
arena_new(void)
{
	Arena *a = calloc(1, sizeof *a);

	if (!a)
		out_of_memory();
	a->current = chunk_new(FIRST_BYTES);
	return a;
}

static void
chunks_free(Chunk *chunk)
{
	for (Chunk *next; chunk; chunk = next) {
		next = chunk->next;
		chunk_free(chunk);
	}
}

void
arena_free(Arena *a)
{
	chunks_free(a->current);
	chunks_free(a->spare);
	free(a);
}

static void
chunk_clear(Chunk *chunk)
{
	memset(chunk->data, 0, chunk->used);
	chunk->used = 0;
}

/* What it needed once it has: the chunks serve again, the one in use, still warm, first. */
void
arena_reset(Arena *a)
{
	Chunk *current = a->current, *next;

	for (Chunk *chunk = current; chunk; chunk = next) {
		next = chunk->next;
		chunk_clear(chunk);
		chunk->next = chunk == current ? NULL : a->spare;
		if (chunk != current)
			a->spare = chunk;
	}
	a->filled = 0;
}

/* A spare one of so many bytes or more, if it is not far larger than `wanted`. */
static Chunk *
chunk_get(Arena *a, size_t bytes, size_t wanted, bool large)
{
	for (Chunk **link = &a->spare; *link; link = &(*link)->next) {
		Chunk *chunk = *link;
		if (chunk->large == large && chunk->size >= bytes
			&& (!large || chunk->size / 2 <= wanted)) {
			*link = chunk->next;
			return chunk;
		}
	}
	Chunk *chunk = chunk_new(wanted);
	chunk->large = large;
	return chunk;
}

/* ---- as it was --------------------------------------------------------------------- */

struct ArenaImage {
	Arena *arena; /* where the image is */
	Arena was;
	Chunk **chunks; /* of that, from the current one on */
	Chunk **copies; /* with what was used of them */
	int n;
};

ArenaImage *
arena_image(Arena *a)
{
	Arena *own = arena_new();
	ArenaImage *image = NEW(own, ArenaImage);

	image->arena = own;
	image->was = *a;
	for (Chunk *chunk = a->current; chunk; chunk = chunk->next)
		image->n++;
	image->chunks = NEW_ARRAY(own, Chunk *, image->n);
	image->copies = NEW_ARRAY(own, Chunk *, image->n);
	int i = 0;
	for (Chunk *chunk = a->current; chunk; chunk = chunk->next) {
		chunk->images++;
		image->chunks[i] = chunk;
		image->copies[i++] = arena_copy(own, chunk, sizeof *chunk + chunk->used);
	}
	return image;
}

void
arena_image_free(ArenaImage *image)
{
	for (int i = 0; i < image->n; i++)
		image->chunks[i]->images--;
	arena_free(image->arena);
}

void
arena_restore(Arena *a, const ArenaImage *image)
{
	Chunk *next, *spare = a->spare;

	for (Chunk *chunk = a->current; chunk; chunk = next) {
		next = chunk->next;
		if (chunk->images)
			continue;
		chunk_clear(chunk);
		chunk->next = spare;
		spare = chunk;
	}
	for (int i = 0; i < image->n; i++) {
		Chunk *chunk = image->chunks[i];
		const Chunk *copy = image->copies[i];
		memset(chunk->data + copy->used, 0, chunk->used - copy->used);
		memcpy(chunk, copy, sizeof *chunk + copy->used);
	}
	*a = image->was;
	a->spare = spare;
}

void
arena_return(Arena *a, ArenaImage *image)
{
	arena_restore(a, image);
	arena_image_free(image);
}

/* Of the next chunk: as much again as there is, so that not much is zeroed for nothing. */
static size_t
next_room(size_t filled, size_t bytes)
{
	size_t room = filled < CHUNK_BYTES ? filled : CHUNK_BYTES;

	if (filled >= HUGE_BYTES)
		return HUGE_BYTES - sizeof(Chunk);
	return room > bytes ? room : bytes;
}

void *
arena_alloc(Arena *a, size_t bytes)
{
	Chunk *chunk = a->current;
	size_t start = (chunk->used + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);

	if (bytes > CHUNK_BYTES / 4) {
		/* Its own chunk, behind the current one, which stays open. */
		Chunk *large = chunk_get(a, bytes, bytes, true);
		large->used = bytes;
		large->next = chunk->next;
		chunk->next = large;
		return large->data;
	}
	if (start + bytes > chunk->size) {
		a->filled += chunk->size;
		chunk = chunk_get(a, bytes, next_room(a->filled, bytes), false);
		chunk->next = a->current;
		a->current = chunk;
		start = 0;
	}
	chunk->used = start + bytes;
	return chunk->data + start;
}

void *
pool_alloc(Pool *p, Arena *a, size_t bytes)
{
	enum { BLOCK_BYTES = 32 * 1024 };

	if (bytes > BLOCK_BYTES / 4)
		return arena_alloc(a, bytes);
	if (p->left < bytes) {
		p->next = arena_alloc(a, BLOCK_BYTES);
		p->left = BLOCK_BYTES;
	}
	p->left -= bytes;
	p->next += bytes;
	return p->next - bytes;
}

void *
arena_copy(Arena *a, const void *data, size_t bytes)
{
	void *copy = arena_alloc(a, bytes);

	if (bytes)
		memcpy(copy, data, bytes);
	return copy;
}

char *
arena_strndup(Arena *a, const char *s, size_t n)
{
	char *copy = arena_alloc(a, n + 1);

	memcpy(copy, s, n);
	return copy;
}

char *
arena_vprintf(Arena *a, const char *fmt, va_list ap)
{
	va_list again;
	int n;
	char *s;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n < 0)
		die("a format that cannot be printed: %s", fmt);
	s = arena_alloc(a, (size_t)n + 1);
	vsnprintf(s, (size_t)n + 1, fmt, again);
	va_end(again);
	return s;
}

char *
arena_printf(Arena *a, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return s;
}

void *
arena_grow(Arena *a, void *array, size_t n, size_t element_bytes)
{
	enum { FIRST = 8 };
	bool full = n == 0 || (n >= FIRST && (n & (n - 1)) == 0);
	size_t capacity = n ? 2 * n : FIRST;
	void *grown;

	if (!full)
		return array;
	if (capacity > SIZE_MAX / element_bytes)
		out_of_memory();
	grown = arena_alloc(a, capacity * element_bytes);
	if (n)
		memcpy(grown, array, n * element_bytes);
	return grown;
}

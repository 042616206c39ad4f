/*
 * collectives.c - data between devices.
 *
 * On the emulated hardware the bytes go round a ring; here they are moved
 * once, straight from the slab they are in to the slab they belong in, and
 * the ring is charged to the emulated clocks.  Each collective is two
 * barriers of its team: all operands are ready and all results may be
 * written; all has been read and written.
 *
 * The order in which elements are combined is that of the team, 0..n-1, in
 * every variant: which one runs depends on sizes alone and never shows in the
 * bits.
 */
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "collectives.h"
#include "internal.h"

/* Switches, in bytes; see tests/bench/collectives.c. */
enum {
	/* Result bytes of a device below which members fetch what they need;
	   above, each sends what it has. */
	PULL_BELOW = 256 << 10,
	/* Result bytes of a whole team from which stores bypass the caches:
	   what is written is long gone from them before it is read. */
	STREAM_FROM = 64 << 20,
	/* Bytes sent to one member before turning to the next. */
	SEND_BLOCK = 4096,
};

void
rt_collective_text(const shdrt_collective *c, char *text, size_t n)
{
	const shdrt_step *s = c->step;
	snprintf(text, n, "%s of %s[%lld,%lld,%lld]%s%s (%s:%d%s%s)", s->kind,
		shdrt_dtype_names[c->dtype], (long long)c->outer, (long long)c->size,
		(long long)c->inner, *s->axes ? " over " : "", s->axes, s->file, s->line,
		*s->what ? ": " : "", s->what);
}

/* ---- meeting ---- */

static bool
same_collective(const shdrt_collective *a, const shdrt_collective *b)
{
	return a == b
		|| (a->kind == b->kind && a->dtype == b->dtype && a->combiner == b->combiner
			&& a->outer == b->outer && a->size == b->size && a->inner == b->inner
			&& a->rows == b->rows && a->step->line == b->step->line
			&& !strcmp(a->step->file, b->step->file));
}

/* All members are here: do they agree, and when do they go on? */
static void
meet(Team *team)
{
	const shdrt_collective *first = team->slots[0].collective;
	uint64_t clock = 0;
	for (int i = 0; i < team->n; i++) {
		const Slot *slot = &team->slots[i];
		if (!same_collective(first, slot->collective)) {
			char a[400], b[400];
			rt_collective_text(first, a, sizeof a);
			rt_collective_text(slot->collective, b, sizeof b);
			rt_fail(SHDRT_MISMATCH,
				"collectives do not agree: "
				"device %lld is at %s, device %lld at %s",
				(long long)team->members[0]->id, a,
				(long long)team->members[i]->id, b);
		}
		clock = slot->clock > clock ? slot->clock : clock;
	}
	team->clock = clock;
}

static const Seat *
seat_of(const shdrt_device *dev, const shdrt_collective *c)
{
	const Machine *m = dev->machine;
	ptrdiff_t number = c - m->program->collectives;
	return &dev->seats[m->kind_of[number]];
}

/* The team's clock stays as it is until all of them meet again. */
static void
collective(shdrt_device *dev, const shdrt_collective *c, const void *in, void *out)
{
	const Seat *seat = seat_of(dev, c);
	Team *team = seat->team;
	Slot *slot = &team->slots[seat->index];
	slot->collective = c;
	slot->out = out;
	slot->clock = dev->clock;
	team->in[seat->index] = in;
	if (c->slot) {
		rt_transfer_begin(dev, seat, meet);
		return;
	}
	rt_team_wait(dev, team, meet);
	rt_move_part(team, seat->index);
	rt_team_wait(dev, team, NULL);
	rt_clock_step(dev, team->clock, c->step);
}

void
shdrt_done(shdrt_device *dev, const shdrt_collective *c, const shdrt_step *step)
{
	Flight *f = &dev->flights[c->slot - 1];
	const Team *team = f->team;
	if (!dev->machine->program->launch)
		rt_transfer_wait(dev, f);
	f->team = NULL;
	rt_clock_wait(dev, team->clock, &team->slots[f->index], step);
}

void
shdrt_meet(shdrt_device *dev, const shdrt_collective *c)
{
	const Seat *seat = seat_of(dev, c);
	Team *team = seat->team;
	Slot *slot = &team->slots[seat->index];
	slot->collective = c;
	slot->clock = dev->clock;
	if (c->slot) {
		dev->flights[c->slot - 1] = (Flight){.team = team, .index = seat->index};
		rt_clock_moved(dev, slot);
	}
	if (atomic_fetch_add(&team->arrived, 1) + 1 < (unsigned)team->n)
		return;
	atomic_store(&team->arrived, 0);
	meet(team);
	for (int i = 0; i < team->n && !c->slot; i++)
		rt_clock_step(team->members[i], team->clock, c->step);
}

/* ---- copying ---- */

#if defined(__SSE2__)
/* Past the caches; both ends may begin anywhere. */
static void
stream(char *out, const char *in, size_t n)
{
	size_t head = -(uintptr_t)out & (LINE - 1);
	if (head > n)
		head = n;
	memcpy(out, in, head);
	out += head, in += head, n -= head;
	for (; n >= LINE; n -= LINE, out += LINE, in += LINE) {
		const __m128i *from = (const __m128i *)(const void *)in;
		__m128i a = _mm_loadu_si128(from);
		__m128i b = _mm_loadu_si128(from + 1);
		__m128i c = _mm_loadu_si128(from + 2);
		__m128i d = _mm_loadu_si128(from + 3);
		__m128i *to = (__m128i *)(void *)out;
		_mm_stream_si128(to, a);
		_mm_stream_si128(to + 1, b);
		_mm_stream_si128(to + 2, c);
		_mm_stream_si128(to + 3, d);
	}
	memcpy(out, in, n);
}

static void
stream_end(void)
{
	_mm_sfence();
}
#else
static void
stream(char *out, const char *in, size_t n)
{
	memcpy(out, in, n);
}

static void
stream_end(void)
{
}
#endif

/* Blocks of a few bytes, as when the last dim is gathered. */
#define COPY_SMALL(bytes) \
	case bytes: \
		for (int64_t i = 0; i < count; i++) \
			memcpy(out + i * out_step, in + i * in_step, bytes); \
		return

/* `count` blocks, each a step after the last. */
static void
copy_blocks(char *out, int64_t out_step, const char *in, int64_t in_step, size_t block,
	int64_t count, bool past_caches)
{
	switch (block) {
		COPY_SMALL(1);
		COPY_SMALL(2);
		COPY_SMALL(4);
		COPY_SMALL(8);
		COPY_SMALL(16);
		COPY_SMALL(32);
		COPY_SMALL(64);
	default:
		break;
	}
	for (int64_t i = 0; i < count; i++)
		if (past_caches)
			stream(out + i * out_step, in + i * in_step, block);
		else
			memcpy(out + i * out_step, in + i * in_step, block);
}

/* ---- the collectives ---- */

static size_t
operand_bytes(const shdrt_collective *c)
{
	return (size_t)(c->outer * c->size * c->inner) * shdrt_dtype_bytes[c->dtype];
}

static size_t
block_bytes(const shdrt_collective *c)
{
	return (size_t)(c->size * c->inner) * shdrt_dtype_bytes[c->dtype];
}

int64_t
shdrt_device_id(const shdrt_device *dev)
{
	return dev->id;
}

void
shdrt_in_loop(shdrt_device *dev, const shdrt_place *loop)
{
	atomic_store_explicit(&dev->loop, loop, memory_order_relaxed);
	if (!loop)
		rt_clock_progress(dev);
}

static void
gather_pull(const Team *team, int self, int64_t outer, size_t block)
{
	char *out = team->slots[self].out;
	int64_t row = (int64_t)block * team->n;
	for (int i = 0; i < team->n; i++)
		copy_blocks(out + (size_t)i * block, row, team->in[i], (int64_t)block, block,
			outer, false);
}

/* Cached: a piece of the operand goes to everybody while it is near. */
static void
gather_push(const Team *team, int self, int64_t outer, size_t block)
{
	size_t row = block * (size_t)team->n;
	for (int64_t o = 0; o < outer; o++) {
		const char *in = team->in[self] + (size_t)o * block;
		size_t to = (size_t)o * row + (size_t)self * block;
		for (size_t at = 0; at < block; at += SEND_BLOCK) {
			size_t n = block - at < SEND_BLOCK ? block - at : SEND_BLOCK;
			for (int k = 0; k < team->n; k++) {
				int i = (self + k) % team->n;
				memcpy(team->slots[i].out + to + at, in + at, n);
			}
		}
	}
}

/* Past the caches: one destination after the other, each in order. */
static void
gather_stream(const Team *team, int self, int64_t outer, size_t block)
{
	int64_t row = (int64_t)block * team->n;
	for (int k = 0; k < team->n; k++) {
		int i = (self + k) % team->n;
		copy_blocks(team->slots[i].out + (size_t)self * block, row, team->in[self],
			(int64_t)block, block, outer, true);
	}
	stream_end();
}

/* Of operands that lie in runs: blocks of some runs, or runs of some blocks. */
static void
gather_runs(const Team *team, const shdrt_collective *c, int self)
{
	int64_t bytes = (int64_t)shdrt_dtype_bytes[c->dtype], run = c->run * bytes;
	int64_t step = c->run_step * bytes, block = (int64_t)block_bytes(c);
	int64_t row = block * team->n, all = (int64_t)operand_bytes(c);
	for (int i = 0; i < team->n; i++) {
		char *out = (char *)team->slots[self].out + i * block;
		const char *in = team->in[i];
		for (int64_t at = 0; at < all && run <= block; at += block)
			copy_blocks(out + at / block * row, run, in + at / run * step, step,
				(size_t)run, block / run, false);
		for (int64_t at = 0; at < all && run > block; at += run)
			copy_blocks(out + at / block * row, row, in + at / run * step, block,
				(size_t)block, run / block, false);
	}
}

static void
gather_part(const Team *team, const shdrt_collective *c, int self)
{
	if (c->run) {
		gather_runs(team, c, self);
		return;
	}
	size_t block = block_bytes(c);
	size_t result = operand_bytes(c) * (size_t)team->n;
	if (result < PULL_BELOW || block < SEND_BLOCK / 8)
		gather_pull(team, self, c->outer, block);
	else if (result * (size_t)team->n < STREAM_FROM)
		gather_push(team, self, c->outer, block);
	else
		gather_stream(team, self, c->outer, block);
}

/* The member combines its share, block by block, and hands it to all. */
static void
reduce_part(const Team *team, const shdrt_collective *c, int index)
{
	size_t bytes = shdrt_dtype_bytes[c->dtype];
	size_t elements = operand_bytes(c) / bytes;
	size_t members = (size_t)team->n, self = (size_t)index;
	bool past_caches = operand_bytes(c) * members >= STREAM_FROM;
	/* Whole lines, so that no two members write to the same one. */
	size_t share = (elements / members + LINE) / LINE * LINE;
	size_t begin = self * share < elements ? self * share : elements;
	size_t end = begin + share < elements ? begin + share : elements;
	_Alignas(LINE) char sum[REDUCE_BLOCK * 8];
	for (size_t at = begin; at < end; at += REDUCE_BLOCK) {
		size_t n = end - at < REDUCE_BLOCK ? end - at : REDUCE_BLOCK;
		rt_reduce(c->dtype, c->combiner, team->n, team->in, at, n, sum);
		for (size_t k = 0; k < members; k++) {
			char *to = team->slots[(self + k) % members].out + at * bytes;
			if (past_caches)
				stream(to, sum, n * bytes);
			else
				memcpy(to, sum, n * bytes);
		}
	}
	if (past_caches)
		stream_end();
}

static void
reduce_scatter_part(const Team *team, const shdrt_collective *c, int self)
{
	size_t row = (size_t)(c->size * c->inner);
	size_t part = row / (size_t)team->n;
	size_t bytes = shdrt_dtype_bytes[c->dtype];
	for (size_t o = 0; o < (size_t)c->outer; o++)
		rt_reduce(c->dtype, c->combiner, team->n, team->in,
			o * row + (size_t)self * part, part,
			team->slots[self].out + o * part * bytes);
}

/* Of operands that lie in runs: parts of some runs, or runs of some parts. */
static void
exchange_runs(const Team *team, const shdrt_collective *c, int self)
{
	int64_t bytes = (int64_t)shdrt_dtype_bytes[c->dtype], run = c->run * bytes;
	int64_t step = c->run_step * bytes, row = (int64_t)block_bytes(c);
	int64_t part = row / team->n, size = run < part ? run : part;
	for (int i = 0; i < team->n; i++)
		for (int64_t o = 0; o < c->outer; o++) {
			int64_t at = o * row + self * part;
			copy_blocks(team->slots[self].out + o * row + i * part, size,
				team->in[i] + at / run * step + at % run, step, (size_t)size,
				part / size, false);
		}
}

static void
exchange_part(const Team *team, const shdrt_collective *c, int self)
{
	if (c->run) {
		exchange_runs(team, c, self);
		return;
	}
	size_t row = block_bytes(c);
	size_t part = row / (size_t)team->n;
	bool past_caches = operand_bytes(c) * (size_t)team->n >= STREAM_FROM;
	for (int k = 0; k < team->n; k++) {
		int i = (self + k) % team->n;
		copy_blocks(team->slots[self].out + (size_t)i * part, (int64_t)row,
			team->in[i] + (size_t)self * part, (int64_t)row, part, c->outer,
			past_caches);
	}
	if (past_caches)
		stream_end();
}

static void
permute_part(const Team *team, const shdrt_collective *c, int self)
{
	size_t bytes = operand_bytes(c);
	int source = team->source[self];
	char *out = team->slots[self].out;
	size_t run = (size_t)c->run * shdrt_dtype_bytes[c->dtype];
	if (source < 0)
		memset(out, 0, bytes);
	else if (run)
		copy_blocks(out, (int64_t)run, team->in[source],
			c->run_step * (int64_t)shdrt_dtype_bytes[c->dtype], run,
			(int64_t)(bytes / run), false);
	else if (bytes * (size_t)team->n < STREAM_FROM)
		memcpy(out, team->in[source], bytes);
	else {
		stream(out, team->in[source], bytes);
		stream_end();
	}
}

/* ---- ragged: as many rows as the members say ---- */

/* What member i has for member k. */
typedef struct Parcel {
	int64_t start, n, to; /* rows of the operand; of the result */
} Parcel;

static Parcel
parcel_of(const Team *team, int i, int k)
{
	const Slot *slot = &team->slots[i];
	return (Parcel){slot->starts[k], slot->sizes[k], slot->to[k]};
}

NORETURN static void
fail_ragged(const Team *team, const shdrt_collective *c, int i, int k, const char *what)
{
	char text[400];
	Parcel p = parcel_of(team, i, k);
	rt_collective_text(c, text, sizeof text);
	rt_fail(SHDRT_MISMATCH,
		"%s: device %lld sends %lld rows from row %lld "
		"to row %lld of device %lld, %s",
		text, (long long)team->members[i]->id, (long long)p.n, (long long)p.start,
		(long long)p.to, (long long)team->members[k]->id, what);
}

/* A number of rows that is not negative, all of them below `end`. */
static bool
lies_within(int64_t start, int64_t n, int64_t end)
{
	return start >= 0 && start + n <= end;
}

static void
check_parcel(const Team *team, const shdrt_collective *c, int i, int k)
{
	Parcel p = parcel_of(team, i, k);
	int32_t expected = team->slots[k].from[i];
	char what[80];
	if (p.n < 0)
		fail_ragged(team, c, i, k, "a negative number");
	if (p.n != expected) {
		snprintf(what, sizeof what, "which expects %d from it", (int)expected);
		fail_ragged(team, c, i, k, what);
	}
	snprintf(what, sizeof what, "but its operand has %lld rows", (long long)c->size);
	if (p.n > 0 && !lies_within(p.start, p.n, c->size))
		fail_ragged(team, c, i, k, what);
	snprintf(what, sizeof what, "which has %lld rows", (long long)c->rows);
	if (p.n > 0 && !lies_within(p.to, p.n, c->rows))
		fail_ragged(team, c, i, k, what);
}

/* Nobody else sends to the rows of k that member i sends to. */
static void
check_overlap(const Team *team, const shdrt_collective *c, int i, int k)
{
	Parcel p = parcel_of(team, i, k);
	for (int j = 0; j < i && p.n > 0; j++) {
		Parcel q = parcel_of(team, j, k);
		char what[80];
		if (q.n <= 0 || q.to >= p.to + p.n || p.to >= q.to + q.n)
			continue;
		snprintf(what, sizeof what, "where rows of device %lld go, too",
			(long long)team->members[j]->id);
		fail_ragged(team, c, i, k, what);
	}
}

static void
ragged_part(const Team *team, const shdrt_collective *c, int self)
{
	size_t row = (size_t)c->inner * shdrt_dtype_bytes[c->dtype];
	for (int i = 0; i < team->n; i++) {
		check_parcel(team, c, i, self);
		check_overlap(team, c, i, self);
	}
	for (int k = 0; k < team->n; k++) {
		int i = (self + k) % team->n;
		Parcel p = parcel_of(team, i, self);
		if (p.n > 0)
			memcpy(team->slots[self].out + (size_t)p.to * row,
				team->in[i] + (size_t)p.start * row, (size_t)p.n * row);
	}
}

void
shdrt_ragged_all_to_all(shdrt_device *dev, const shdrt_collective *c, const void *in,
	const void *starts, const void *sizes, const void *to, const void *from, void *out)
{
	const Seat *seat = seat_of(dev, c);
	Slot *slot = &seat->team->slots[seat->index];
	slot->starts = starts, slot->sizes = sizes;
	slot->to = to, slot->from = from;
	collective(dev, c, in, out);
}

/* ---- all kinds ---- */

static void (*const move_part[SHDRT_COLLECTIVE_COUNT])(const Team *, const shdrt_collective *,
	int self) = {
	[SHDRT_all_gather] = gather_part,
	[SHDRT_all_reduce] = reduce_part,
	[SHDRT_reduce_scatter] = reduce_scatter_part,
	[SHDRT_all_to_all] = exchange_part,
	[SHDRT_collective_permute] = permute_part,
	[SHDRT_ragged_all_to_all] = ragged_part,
};

void
rt_move_part(const Team *team, int self)
{
	const shdrt_collective *c = team->slots[self].collective;
	move_part[c->kind](team, c, self);
}

size_t
rt_bytes_moved(const shdrt_collective *c, int n)
{
	return operand_bytes(c) * (size_t)n;
}

#define SHDRT_MOVE(id) \
	void shdrt_##id(shdrt_device *dev, const shdrt_collective *c, const void *in, \
		void *out) \
	{ \
		collective(dev, c, in, out); \
	}
SHDRT_MOVE(all_gather)
SHDRT_MOVE(all_reduce)
SHDRT_MOVE(reduce_scatter)
SHDRT_MOVE(all_to_all)
SHDRT_MOVE(collective_permute)

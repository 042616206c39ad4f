/*
 * target.c - the hardware of the mesh: what stands behind `on`, or is given by --on.
 *
 *   v5p   v5p:4x4x8   2*v5p:4x4x8   my/chip.target:4x4   v5p-256, as the cloud has it
 */
#include <inttypes.h>
#include <string.h>

#include "elaborate.h"
#include "ir/layout.h"

/* A whole number at *c, which ends behind it; 0: there is none. */
static int64_t
number_at(const char **c)
{
	int64_t n = 0;

	if (**c < '1' || **c > '9')
		return 0;
	for (; **c >= '0' && **c <= '9'; ++*c)
		if (!mul_i64(n, 10, &n) || !add_i64(n, **c - '0', &n))
			return 0;
	return n;
}

/* How many dims the "4x4x8" of a target has, and the first of them; 0: it is not that. */
static int
read_dims(const char *text, int64_t *dims)
{
	for (int n = 0;; text++) {
		int64_t size = number_at(&text);
		if (size == 0)
			return 0;
		if (n < MAX_TOPOLOGY_RANK)
			dims[n] = size;
		n++;
		if (*text == '\0')
			return n;
		if (*text != 'x')
			return 0;
	}
}

/* As the user may have meant it, else as one of the target is. */
static void
complain_of_topology(Elab *e, Range where, const Target *target, const char *text)
{
	static const int64_t example[MAX_TOPOLOGY_RANK] = {4, 4, 8};
	int64_t dims[MAX_TOPOLOGY_RANK];
	char *small = arena_strndup(e->arena, text, strlen(text));
	Text form = {0};

	for (char *c = small; *c != '\0'; c++)
		*c = *c == 'X' || *c == '*' || *c == ',' ? 'x' : *c;
	if (read_dims(small, dims))
		text_add(&form, small);
	else
		text_numbers(&form, target->pod.n, example + MAX_TOPOLOGY_RANK - target->pod.n,
			"x");
	complain(e, DIAG_target, where, "'%s' is not a topology; it is written %s", text,
		form.s);
	text_free(&form);
}

static bool
read_topology(Elab *e, Range where, const char *text)
{
	Mesh *mesh = &e->m->mesh;
	int n = read_dims(text, mesh->topology);

	if (n == 0)
		complain_of_topology(e, where, mesh->target, text);
	else if (n > MAX_TOPOLOGY_RANK)
		complain(e, DIAG_target, where, "topology %s has %d dims; %s is a torus of %d",
			text, n, mesh->target->name, mesh->target->pod.n);
	mesh->topology_rank = n <= MAX_TOPOLOGY_RANK ? n : 0;
	return mesh->topology_rank > 0;
}

/* ---- names ------------------------------------------------------------------------ */

/* The facts of a file; of a mesh line beside the program. */
static const Target *
read_file(Elab *e, Range where, const char *name)
{
	const char *path = name;
	const char *from = where.file ? source_path(e->session, where.file) : "";
	const char *slash = strrchr(from, '/');

	if (*path != '/' && slash != NULL)
		path = arena_printf(e->arena, "%.*s/%s", (int)(slash - from), from, path);
	int file = source_open(e->session, path, where);
	return file ? target_read(e->session, file, DIAG_target_file, name) : NULL;
}

/* "v5litepod-" of v5litepod-16; the number behind it. */
static const Target *
cloud_target(const char *name, int64_t *count)
{
	const char *dash = strrchr(name, '-');
	const char *number = dash ? dash + 1 : "";

	*count = number_at(&number);
	for (int i = 0; dash && *number == '\0' && i < target_count(); i++) {
		const char *cloud = target_at(i)->cloud_name;
		if (strlen(cloud) == (size_t)(dash - name)
			&& strncmp(cloud, name, strlen(cloud)) == 0)
			return target_at(i);
	}
	return NULL;
}

/* The slices before and behind one that there is not. */
static void
complain_of_cloud(Elab *e, Range where, const Target *target, const char *name, int64_t count)
{
	int64_t each = target->cloud_per_chip, chips = count / each;
	TorusDims dims;
	Text near = {0};

	if (chips > target->pod_chips)
		chips = target->pod_chips + 1;
	for (int64_t n = chips; n > 0; n--)
		if (slice_of_chips(target, n, &dims)) {
			text_printf(&near, "%s-%" PRId64, target->cloud_name, n * each);
			break;
		}
	for (int64_t n = chips + 1; n <= target->pod_chips; n++)
		if (slice_of_chips(target, n, &dims)) {
			text_printf(&near, "%s%s-%" PRId64, near.n ? " and " : "",
				target->cloud_name, n * each);
			break;
		}
	complain(e, DIAG_target, where, "the cloud has no %s; near it: %s", name, near.s);
	text_free(&near);
}

static void
complain_of_name(Elab *e, Range where, const char *name)
{
	Text known = {0};

	for (int i = 0; i < target_count(); i++)
		text_printf(&known, " %s", target_at(i)->name);
	if (*name == '\0')
		complain(e, DIAG_target, where, "which target? there are%s", known.s);
	else
		complain(e, DIAG_target, where, "there is no target '%s'; there are%s", name,
			known.s);
	text_free(&known);
	for (int i = 0; i < target_count(); i++) { /* v5e-16 */
		const Target *target = target_at(i);
		size_t n = strlen(target->name);
		if (strncmp(name, target->name, n) == 0 && name[n] == '-')
			diag_note(e->session, nowhere,
				"the cloud's slices of %s are called %s-N", target->name,
				target->cloud_name);
	}
}

/* The target, and the dims that a name of the cloud stands for; NULL after a
   message. */
static const Target *
target_named(Elab *e, Range where, const char *name, TorusDims *dims)
{
	const Target *target = target_by_name(name);
	int64_t count;

	dims->n = 0;
	if (target != NULL)
		return target;
	if (strpbrk(name, "/.") != NULL)
		return read_file(e, where, name);
	target = cloud_target(name, &count);
	if (target == NULL) {
		complain_of_name(e, where, name);
	} else if (count % target->cloud_per_chip != 0
		|| !slice_of_chips(target, count / target->cloud_per_chip, dims)) {
		complain_of_cloud(e, where, target, name, count);
		return NULL;
	}
	return target;
}

/* ---- all of it ---------------------------------------------------------------------- */

/* Of the shape that the mesh has been given. */
static bool
check_topology(Elab *e, Range where)
{
	Mesh *mesh = &e->m->mesh;
	const char *fault = slice_fault(mesh, e->arena);

	if (fault != NULL) {
		complain(e, DIAG_target, where, "%s", fault);
		return false;
	}
	if (!slice_is_offered(mesh)) {
		Text t = {0};
		text_numbers(&t, mesh->topology_rank, mesh->topology, "x");
		diag(e->session, DIAG_slice_not_offered, where,
			"the cloud does not offer %s of %s: wraps and links are as its "
			"dims say",
			t.s, mesh->target->name);
		text_free(&t);
	}
	return true;
}

/* The N* before a name, of which *text is what follows; 0 after a message. */
static int64_t
read_slices(Elab *e, Range where, const char **text)
{
	const char *star = *text + strcspn(*text, "*:/"), *end = *text;
	int64_t slices = number_at(&end);

	if (*star != '*')
		return 1;
	if (slices == 0 || end != star) {
		complain(e, DIAG_target, where,
			"'%.*s' is not a number of slices; it is written 2*v5p:4x4x8",
			(int)(star - *text), *text);
		return 0;
	}
	*text = star + 1;
	return slices;
}

/* [N*]NAME[:TOPOLOGY] */
static bool
read_target(Elab *e, Range where, const char *text)
{
	Mesh *mesh = &e->m->mesh;
	const char *name = text, *colon;
	int64_t slices = read_slices(e, where, &name);
	TorusDims named;

	if (slices == 0)
		return false;
	if ((colon = strrchr(name, ':')) != NULL)
		name = arena_strndup(e->arena, name, (size_t)(colon - name));
	const Target *target = target_named(e, where, name, &named);
	if (target == NULL)
		return false;
	mesh->target = target;
	mesh->slices = slices;
	mesh->topology_rank = named.n;
	memcpy(mesh->topology, named.v, sizeof named.v);
	if (colon != NULL && named.n != 0)
		complain(e, DIAG_target, where, "%s has a topology of its own", name);
	else if (mesh->slices > 1 && colon == NULL && named.n == 0)
		complain(e, DIAG_target, where, "several slices need their topology: %s:4x4%s",
			text, target->pod.n > 2 ? "x8" : "");
	else
		return colon == NULL || read_topology(e, where, colon + 1);
	return false;
}

bool
set_target(Elab *e, Range where, const char *text, const char *resized)
{
	Mesh *mesh = &e->m->mesh;
	bool right = read_target(e, where, text), given = right && mesh->topology_rank > 0;

	if (e->options->keep_topology)
		resized = NULL;
	if (given && resized != NULL && slice_fault(mesh, e->arena) != NULL)
		diag(e->session, DIAG_topology_dropped, where,
			"%s drops this topology: each axis is a ring of its own; "
			"--on gives another",
			resized);
	else if (given && check_topology(e, where))
		return true;
	mesh->topology_rank = 0;
	mesh->slices = 0;
	return right && (!given || resized != NULL);
}

/*
 * layouts_test.c - where layout_default() puts devices, against JAX (layouts.txt).
 *
 *   v5e:4x2 2,4  0,0 1,0 2,0 3,0 3,1 2,1 1,1 0,1
 *
 *   layouts_test FILE          TAP
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/layout.h"

enum { MOST_LISTED = 16 };

/* "v5e:2*4x4 2,16" */
static Mesh
read_mesh(char *line)
{
	static const char *const names[] = {"A", "B", "C", "D", "E"};
	Mesh mesh = {.ndevices = 1, .slices = 1};
	char *topology = strchr(line, ':') + 1, *axes = strchr(line, ' ') + 1;

	topology[-1] = '\0';
	mesh.target = target_by_name(line);
	topology[-1] = ':';
	int64_t size = strtol(topology, &topology, 10);
	if (*topology == '*') {
		mesh.slices = size;
		size = strtol(topology + 1, &topology, 10);
	}
	for (;; size = strtol(topology + 1, &topology, 10)) {
		mesh.topology[mesh.topology_rank++] = size;
		if (*topology != 'x')
			break;
	}
	for (char *c = axes - 1; *c == ' ' || *c == ',';) {
		mesh.axes[mesh.naxes] = (MeshAxis){.name = names[mesh.naxes]};
		mesh.axes[mesh.naxes].size = strtol(c + 1, &c, 10);
		mesh.ndevices *= mesh.axes[mesh.naxes++].size;
		if (c[0] == ' ')
			break;
	}
	return mesh;
}

/* In the order of the devices, or the sum of that. */
static void
text_places(Text *t, const Mesh *mesh)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (int64_t device = 0; device < mesh->ndevices; device++) {
		int64_t c[PHYSICAL_COUNT];
		mesh_coordinates(mesh, device, c);
		if (mesh_device_at(mesh, c) != device)
			text_printf(t, "!%lld ", (long long)device);
		text_add(t, device ? " " : "");
		for (int p = 0; p < mesh->topology_rank; p++)
			text_printf(t, "%s%lld", p ? "," : "", (long long)c[p]);
		if (mesh->target->devices_per_chip > 1)
			text_printf(t, ",%lld", (long long)c[PHYSICAL_core]);
		if (mesh->slices > 1)
			text_printf(t, ",%lld", (long long)c[PHYSICAL_slice]);
	}
	if (mesh->ndevices <= MOST_LISTED)
		return;
	for (size_t i = 0; i < t->n; i++)
		sum = (sum ^ (unsigned char)t->s[i]) * 0x100000001b3;
	t->n = 0;
	text_printf(t, "%016llx", (unsigned long long)sum);
}

int
main(int argc, char **argv)
{
	FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
	char line[1024];
	int wrong = 0, n = 0;
	Arena *a = arena_new();

	if (!f)
		return 1;
	while (fgets(line, sizeof line, f)) {
		char *places = strstr(line, "  ");
		Text t = {0};
		LayoutPlace where;
		if (line[0] == '#' || !places)
			continue;
		line[strcspn(line, "\n")] = '\0';
		Mesh mesh = read_mesh(line);
		layout_default(&mesh);
		text_places(&t, &mesh);
		const char *fault = layout_fault(&mesh, a, &where);
		n++;
		if (!fault && strcmp(t.s, places + 2) == 0) {
			text_free(&t);
			continue;
		}
		printf("# %s\n# %s\n", line, fault ? fault : t.s);
		text_free(&t);
		text_layout(&t, &mesh);
		printf("# %s\n", t.s);
		text_free(&t);
		wrong++;
	}
	arena_free(a);
	fclose(f);
	printf("1..1\n%s 1 - %d meshes are laid out as JAX does\n",
		wrong || !n ? "not ok" : "ok", n);
	return wrong || !n;
}

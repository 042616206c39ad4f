/* targets.c - the rows of targets.def, by name and in order. */
#include <string.h>
#include "ir/targets.h"

static const Target targets[] = {
#define TARGET(id, name, bf16, int8, hbm, hbw, link, rank, wrap, pod) \
	{name, bf16, int8, hbm, hbw, link, rank, wrap, pod},
#include "targets.def"
#undef TARGET
};

int
target_count(void)
{
	return (int)(sizeof targets / sizeof targets[0]);
}

const Target *
target_at(int i)
{
	return &targets[i];
}

const Target *
target_by_name(const char *name)
{
	for (int i = 0; i < target_count(); i++)
		if (!strcmp(targets[i].name, name))
			return &targets[i];
	return NULL;
}

const Target *
target_default(void)
{
	return target_by_name("v5e");
}

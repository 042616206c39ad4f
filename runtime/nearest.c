/*
 * nearest.c - "did you mean": the word that somebody may have wanted to write.
 *
 * Needs nothing of the runtime: the compiler is built with this file, too
 * (compiler/base/meson.build), so that both guess alike.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "nearest.h"

enum {
	LONGEST = 64,	/* letters of words that are compared */
	MISTAKE = 1000, /* what a wrong one is worth; to have begun a word, half of that */
};

/* Letters put in, left out, changed, or swapped with the next, that make b of a. */
static int
edits_between(const char *a, const char *b)
{
	int rows[3][LONGEST + 1]; /* of the last letters of a, by those of b */
	int n = (int)strlen(b);
	int *last = rows[0], *row = rows[1], *spare = rows[2];

	for (int k = 0; k <= n; k++)
		row[k] = k;
	for (int i = 0; a[i]; i++) {
		int *before = last;

		last = row;
		row = spare;
		spare = before;
		row[0] = i + 1;
		for (int k = 1; k <= n; k++) {
			int least = last[k - 1] + (a[i] != b[k - 1]);

			if (last[k] + 1 < least)
				least = last[k] + 1;
			if (row[k - 1] + 1 < least)
				least = row[k - 1] + 1;
			if (i > 0 && k > 1 && a[i] == b[k - 2] && a[i - 1] == b[k - 1]
				&& before[k - 2] + 1 < least)
				least = before[k - 2] + 1;
			row[k] = least;
		}
	}
	return row[n];
}

/* Words of three letters, of which the first is another: bar and var. */
static bool
only_rhymes(const char *word, const char *other)
{
	return strlen(word) == 3 && strncasecmp(word, other, 1) != 0
		&& strcasecmp(word + 1, other + 1) == 0;
}

/*
 * At most a third of its letters are wrong, or it is half of another, or four letters,
 * that this begins with, or another and one letter more: else it is no typing mistake.
 * To have begun one is nearer than to have mistyped another: soft is of softmax, not sort.
 * The dashes of options do not count, and what is spelt otherwise only in its case is
 * the same.
 */
const char *
rt_nearest_word(const char *word, const char *const *words, int n)
{
	size_t dashes = strspn(word, "-"), length = strlen(word + dashes);
	int most = (int)length / 3, least = INT_MAX;
	const char *nearest = NULL;

	for (int i = 0; i < n && length <= LONGEST; i++) {
		const char *other = words[i] + (dashes ? strspn(words[i], "-") : 0);
		size_t n_other = strlen(other);
		size_t shared = length < n_other ? length : n_other;
		bool begins = strncasecmp(word + dashes, other, shared) == 0
			&& (length == n_other || length == n_other + 1
				|| (length > 3 && length < n_other)
				|| (length > 1 && length < n_other && 2 * length >= n_other));

		if (n_other > LONGEST || only_rhymes(word + dashes, other))
			continue;
		int edits = edits_between(word + dashes, other);
		int far = edits * MISTAKE;
		if (begins && edits > 0)
			far = MISTAKE / 2 + abs((int)n_other - (int)length);
		else if (edits > most)
			continue;
		if (far < least) {
			least = far;
			nearest = words[i];
		}
	}
	return nearest;
}

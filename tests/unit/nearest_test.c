/*
 * nearest_test.c - "did you mean": what is near.
 */
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "internal.h"
#include "../runtime/tap.h"

static const char *const words[] = {"emit", "explain", "entry", "stats", "ast", "sharded",
	"sort", "softmax", "all_gather", "all_to_all", "x", "w1", "var", "--check", "--emit"};
enum { NWORDS = sizeof words / sizeof *words };

static const struct {
	const char *word, *nearest;
} cases[] = {
	{"emit", "emit"},	      /* itself */
	{"emti", "emit"},	      /* two swapped, one of four */
	{"explian", "explain"},	      /* two swapped */
	{"entry_", "entry"},	      /* one too many */
	{"sharde", "sharded"},	      /* one missing; how it begins */
	{"cost", NULL},		      /* two of four wrong */
	{"stat", "stats"},	      /* how it begins */
	{"all_", "all_gather"},	      /* of two that are as long, the first */
	{"s", NULL},		      /* one letter is how nothing begins */
	{"X", "x"},		      /* but for its case */
	{"STATS", "stats"},	      /* likewise */
	{"xx", "x"},		      /* another and one letter more */
	{"xxx", NULL},		      /* two more */
	{"w2", NULL},		      /* half of it is wrong */
	{"soft", "softmax"},	      /* begun, rather than mistyped: sort */
	{"all_gathre", "all_gather"}, /* two swapped */
	{"--chek", "--check"},	      /* dashes do not count */
	{"--fmt", NULL},	      /* two of three letters */
	{"bar", NULL},		      /* it only rhymes */
	{"vra", "var"},		      /* two swapped */
	{"", NULL},		      /* nothing */
};

/* Short words of few letters, near each other. */
static void
draw_word(uint32_t *seed, char word[12])
{
	int n = 1 + (int)((*seed = *seed * 1664525 + 1013904223) >> 16) % 10;

	for (int i = 0; i < n; i++)
		word[i] = "abA-_"[((*seed = *seed * 1664525 + 1013904223) >> 16) % 5];
	word[n] = 0;
}

int
main(void)
{
	uint32_t seed = 1;
	int lost = 0;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *near = rt_nearest_word(cases[i].word, words, NWORDS);
		bool same = near && cases[i].nearest ? !strcmp(near, cases[i].nearest)
						     : near == cases[i].nearest;

		ok(same, "'%s': %s", cases[i].word, near ? near : "nothing");
	}
	for (int i = 0; i < 20000; i++) {
		char word[12], other[5][12];
		const char *all[5];

		draw_word(&seed, word);
		for (int k = 0; k < 5; k++) {
			draw_word(&seed, other[k]);
			all[k] = other[k];
		}
		all[i % 5] = word;
		const char *near = rt_nearest_word(word, all, 5);
		size_t dashes = strspn(word, "-");
		lost += !near
			|| strcasecmp(near + (dashes ? strspn(near, "-") : 0), word + dashes);
	}
	ok(lost == 0, "a word that is there is the nearest, but for %d", lost);
	return done();
}

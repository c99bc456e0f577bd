// SPDX-License-Identifier: Apache-2.0
#include "base/word_list.h"

#include <stdint.h>
#include <string.h>

#define WORD_BYTES_MAX 64 /* longer words are near to none, so that the time is bounded */

/* Levenshtein's distance: how many bytes must be inserted, deleted or replaced. Both are short. */
static size_t word_distance(const char *a, const char *b)
{
	size_t row[WORD_BYTES_MAX], nr = strlen(b);

	for (size_t j = 0; j <= nr; j++)
		row[j] = j;
	for (size_t i = 1; *a; a++, i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= nr; j++) {
			size_t replace = diagonal + (*a != b[j - 1]);
			size_t other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

			diagonal = row[j];
			row[j] = replace < other ? replace : other;
		}
	}
	return row[nr];
}

const char *word_list_nearest(const char *text, const char *const *words)
{
	size_t best = strlen(text) / 2 + 1;
	const char *nearest = NULL;

	if (strlen(text) >= WORD_BYTES_MAX)
		return NULL;
	for (; *words; words++) {
		size_t edits =
			strlen(*words) < WORD_BYTES_MAX ? word_distance(text, *words) : SIZE_MAX;

		if (edits < best) {
			best = edits;
			nearest = *words;
		}
	}
	return nearest;
}

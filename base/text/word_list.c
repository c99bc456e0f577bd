// SPDX-License-Identifier: Apache-2.0
#include "base/text/word_list.h"

#include <stdint.h>
#include <stdio.h>
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

const char *word_list_within(const char *text, const char *const *words, size_t nr, size_t most)
{
	const char *nearest = NULL;

	if (strlen(text) >= WORD_BYTES_MAX)
		return NULL;
	for (size_t i = 0; i < nr; i++) {
		size_t edits = strlen(words[i]) < WORD_BYTES_MAX ? word_distance(text, words[i])
								 : SIZE_MAX;

		if (edits < (nearest ? most : most + 1)) {
			most = edits;
			nearest = words[i];
		}
	}
	return nearest;
}

const char *word_list_nearest(const char *text, const char *const *words)
{
	size_t nr = 0;

	while (words[nr])
		nr++;
	return word_list_within(text, words, nr, strlen(text) / 2);
}

void word_list_flags(unsigned int flags, const char *const *words, size_t nr, char *out,
		     size_t bytes)
{
	size_t used = 0;

	out[0] = 0;
	for (size_t i = 0; i < nr && used < bytes; i++)
		if (flags >> i & 1)
			used += (size_t)snprintf(out + used, bytes - used, "%s%s", used ? ", " : "",
						 words[i]);
}

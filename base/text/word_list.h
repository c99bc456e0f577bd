/* SPDX-License-Identifier: Apache-2.0 */
/*
 * word_list: a few words that somebody else owns, such as the values of an option that is repeated;
 * and a search for the word that a misspelt word most probably means.
 */
#ifndef BASE_TEXT_WORD_LIST_H
#define BASE_TEXT_WORD_LIST_H

#include <stddef.h>

#define WORD_LIST_MAX 64

struct word_list {
	const char *items[WORD_LIST_MAX]; /* borrowed */
	size_t nr;
};

/* Returns the word (of a list ended by NULL) that is most like text, or NULL if none is near. */
const char *word_list_nearest(const char *text, const char *const *words);
/*
 * Returns the first of nr words that is most like text, or NULL if each word differs from text by
 * more than `most` insertions, removals and replacements of a byte.
 */
const char *word_list_within(const char *text, const char *const *words, size_t nr, size_t most);
/* Writes the words whose bits are set in flags, bit i for words[i], as "a, b, c". */
void word_list_flags(unsigned int flags, const char *const *words, size_t nr, char *out,
		     size_t bytes);

#endif

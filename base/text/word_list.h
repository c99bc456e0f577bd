/* SPDX-License-Identifier: Apache-2.0 */
/*
 * word_list: a few words that somebody else owns, such as the values of an option that is repeated;
 * and which of some words is meant by one that is none of them.
 */
#ifndef BASE_TEXT_WORD_LIST_H
#define BASE_TEXT_WORD_LIST_H

#include <stddef.h>

#define WORD_LIST_MAX 64

struct word_list {
	const char *items[WORD_LIST_MAX]; /* borrowed */
	size_t nr;
};

/* The one of the words (ended by NULL) that is most like text, or NULL where none is near. */
const char *word_list_nearest(const char *text, const char *const *words);
/*
 * The first of nr words that is most like text, or NULL where each differs from it by more than
 * `most` insertions, removals and replacements of a byte.
 */
const char *word_list_within(const char *text, const char *const *words, size_t nr, size_t most);

#endif

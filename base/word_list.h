/* SPDX-License-Identifier: Apache-2.0 */
/*
 * word_list: a few words owned by somebody else, such as the values of an option that may be
 * repeated.
 */
#ifndef BASE_WORD_LIST_H
#define BASE_WORD_LIST_H

#include <stddef.h>

#define WORD_LIST_MAX 64

struct word_list {
	const char *items[WORD_LIST_MAX]; /* borrowed */
	size_t nr;
};

#endif

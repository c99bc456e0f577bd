/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array: makes room for one more item in an array on the heap.
 *
 *         struct host *hosts = NULL;
 *         size_t nr_hosts = 0, cap_hosts = 0;
 *
 *         if (array_grow(&hosts, &cap_hosts, nr_hosts + 1, sizeof(*hosts)))
 *                 return -ENOMEM;
 *         hosts[nr_hosts++] = (struct host){ ... };
 *         ...
 *         free(hosts);
 *
 * The room at least doubles each time, so that adding n items one by one copies fewer than 2 n of
 * them.
 */
#ifndef BASE_MEMORY_ARRAY_H
#define BASE_MEMORY_ARRAY_H

#include <stddef.h>

/* The room that the first call makes, in items. */
#define ARRAY_FIRST_ITEMS 8

/*
 * The part of array_grow() that allocates; call array_grow(), which costs nothing while there is
 * room.
 */
int array_enlarge(void *array, size_t *cap, size_t want, size_t item_bytes);

/*
 * Makes room for at least want items of item_bytes each. array points to the caller's pointer, cap
 * to the number of items that fit now; both start at NULL and 0. New items are not initialised.
 * Returns 0, or -ENOMEM (also where the size in bytes would overflow); then nothing has changed and
 * the old array is still the caller's.
 */
static inline int array_grow(void *array, size_t *cap, size_t want, size_t item_bytes)
{
	return want <= *cap ? 0 : array_enlarge(array, cap, want, item_bytes);
}

#endif

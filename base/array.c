/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The smallest page of a machine that Linux runs on. Writing too often costs little. */
#define SMALLEST_PAGE_BYTES 4096

int array_enlarge(void *array, size_t *cap, size_t want, size_t item_bytes)
{
	size_t room = *cap ? *cap : ARRAY_FIRST_ITEMS;
	void *old, *grown;

	while (room < want) {
		if (__builtin_mul_overflow(room, 2, &room))
			return -ENOMEM;
	}
	/*
	 * array is the address of a pointer of any type. memcpy() reads and writes that pointer
	 * without assuming its type.
	 */
	memcpy(&old, array, sizeof(old));
	grown = reallocarray(old, room, item_bytes);
	if (!grown)
		return -ENOMEM;
	memcpy(array, &grown, sizeof(grown));
	*cap = room;
	return 0;
}

void array_touch(void *array, size_t nr, size_t item_bytes)
{
	size_t bytes = nr * item_bytes;
	char *at = array;

	if (!at || !bytes)
		return;
	/* A write of what is read could be left out by the compiler. An atomic operation is not. */
	for (size_t i = 0; i < bytes; i += SMALLEST_PAGE_BYTES)
		__atomic_fetch_or(at + i, 0, __ATOMIC_RELAXED);
	__atomic_fetch_or(at + bytes - 1, 0, __ATOMIC_RELAXED);
}

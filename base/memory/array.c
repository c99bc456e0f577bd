/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* SPDX-License-Identifier: Apache-2.0 */
#include <malloc.h>

#include "agent/heap.h"

#define MMAP_THRESHOLD_BYTES (128 << 10)

/*
 * Set, the threshold no longer follows the largest array that was ever freed: large arrays come from the
 * system and go back to it, for as many years as the process runs.
 */
void heap_init(void)
{
	mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES);
}

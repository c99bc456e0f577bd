/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void pages_forget(void *data, size_t from, size_t to)
{
	const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t begin = (uintptr_t)data + from, end = (uintptr_t)data + to;

	if (from >= to)
		return;
	begin = (begin + page_bytes - 1) & ~(page_bytes - 1);
	end &= ~(page_bytes - 1);
	if (begin < end)
		madvise((void *)begin, end - begin, MADV_DONTNEED);
}

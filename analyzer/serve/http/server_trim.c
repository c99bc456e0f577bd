/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/serve/http/server_trim.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/system/clock.h"

#define TRIM_EVERY_NS 1000000000ull /* a busy connection would fault the same pages in again */
#define MARGIN_BYTES \
	1024 /* below the frame of server_trim_thread(), for its own and that of madvise() */

static bool server_trim_is_zero(const char *page, size_t bytes)
{
	return page[0] == 0 && memcmp(page, page + 1, bytes - 1) == 0;
}

/*
 * Gives back the pages that hold nothing but zeros: the kernel replaces each by a page of zeros as
 * soon as the thread looks at it. Nobody but this thread writes to its live frames and to its
 * thread-local variables, and the page of glibc's own notes about the thread is never zero.
 */
static void server_trim_zeros(uintptr_t from, uintptr_t end, size_t page_bytes)
{
	for (uintptr_t at = from; at + page_bytes <= end; at += page_bytes)
		if (server_trim_is_zero((const char *)at, page_bytes))
			madvise((void *)at, page_bytes, MADV_DONTNEED);
}

/* Gives the ends of the stack of the calling thread. Its thread-local variables are part of it. */
static int server_trim_stack_of(uintptr_t *low, uintptr_t *high)
{
	pthread_attr_t attr;
	size_t bytes;
	void *at;
	int ret = pthread_getattr_np(pthread_self(), &attr);

	if (ret)
		return -ret;
	ret = pthread_attr_getstack(&attr, &at, &bytes);
	pthread_attr_destroy(&attr);
	if (ret)
		return -ret;
	*low = (uintptr_t)at;
	*high = (uintptr_t)at + bytes;
	return 0;
}

void server_trim_thread(struct connection *c)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	const uintptr_t mask = ~(uintptr_t)(page_bytes - 1);
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	const uintptr_t unused_end = (here - MARGIN_BYTES) & mask;
	uintptr_t high = 0;
	uint64_t now_ns;

	if (!c)
		return;
	now_ns = clock_monotonic_ns();
	if (c->stack_low && now_ns - c->trimmed_ns < TRIM_EVERY_NS)
		return;
	c->trimmed_ns = now_ns;
	if (!c->stack_low) {
		if (server_trim_stack_of(&c->stack_low, &high) < 0)
			return;
		c->stack_low = (c->stack_low + page_bytes - 1) & mask;
		server_trim_zeros((here + page_bytes) & mask, high, page_bytes);
	}
	/* The stack below the frame is never read before the next calls write to it. */
	if (c->stack_low < unused_end)
		madvise((void *)c->stack_low, unused_end - c->stack_low, MADV_DONTNEED);
}

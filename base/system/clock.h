/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock: the two clocks of Linux that blkcast reads, in nanoseconds.
 *
 * clock_monotonic_ns() never goes back and does not count the time in which the machine is
 * suspended. It begins near zero when the machine boots, and a time namespace may move that
 * beginning: a caller must not subtract from a reading without looking whether the difference stays
 * above zero. clock_real_ns() counts since 1970-01-01T00:00:00Z and jumps when somebody sets the
 * clock.
 *
 * Both are safe in every thread and take some 20 ns (clock_gettime(2), answered without a system
 * call). workload/ and formats/ read no clock; their callers hand the time in.
 */
#ifndef BASE_SYSTEM_CLOCK_H
#define BASE_SYSTEM_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_NS_PER_S 1000000000ull

static inline uint64_t clock_read_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * CLOCK_NS_PER_S + (uint64_t)t.tv_nsec;
}

static inline uint64_t clock_monotonic_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

static inline double clock_monotonic_s(void)
{
	return (double)clock_monotonic_ns() / 1e9;
}

static inline uint64_t clock_monotonic_ms(void)
{
	return clock_monotonic_ns() / 1000000;
}

static inline uint64_t clock_real_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME);
}

static inline double clock_real_s(void)
{
	return (double)clock_real_ns() / 1e9;
}

/* The processor time, user and system, that all threads of this process have taken so far. */
static inline uint64_t clock_process_cpu_ns(void)
{
	return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked into every fuzz target between libFuzzer and the target: what one input takes. More than
 * WATCH_MAX_BYTES of live heap or more than WATCH_MAX_NS of this thread's processor ends the run as
 * a crash does, with the input saved. At the end one line: executions, slowest input and its bytes,
 * largest heap, processor time. Processor time, since wall time on a busy machine says nothing.
 */
#include <inttypes.h>
#include <sanitizer/allocator_interface.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WATCH_MAX_BYTES (64 << 20)
#define WATCH_MAX_NS	1000000000u

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* The target: its LLVMFuzzerTestOneInput is renamed when it is compiled. */
int fuzz_one_input(const uint8_t *data, size_t size);

/* How many inputs go between two whose comparisons libFuzzer sees. */
#define TRACED_EVERY 8u
static bool tracing;

/*
 * The linker puts these before libFuzzer's own (--wrap): they jump there, so that it finds the
 * comparison in the return address, or return.
 */
#define WATCH_COMPARISON(name, type)                               \
	void __real___sanitizer_cov_trace_##name(type a, type b);  \
	void __wrap___sanitizer_cov_trace_##name(type a, type b);  \
	void __wrap___sanitizer_cov_trace_##name(type a, type b)   \
	{                                                          \
		if (tracing)                                       \
			__real___sanitizer_cov_trace_##name(a, b); \
	}
WATCH_COMPARISON(cmp1, uint8_t)
WATCH_COMPARISON(cmp2, uint16_t)
WATCH_COMPARISON(cmp4, uint32_t)
WATCH_COMPARISON(cmp8, uint64_t)
WATCH_COMPARISON(const_cmp1, uint8_t)
WATCH_COMPARISON(const_cmp2, uint16_t)
WATCH_COMPARISON(const_cmp4, uint32_t)
WATCH_COMPARISON(const_cmp8, uint64_t)

static bool watching;
static int64_t live_bytes, most_bytes; /* of the input under way */
static int64_t largest_bytes;
static uint64_t nr_inputs, slowest_ns;
static size_t slowest_size;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/*
 * The processor's clock is a system call, the wall clock is none: where an input took no more than
 * this of the wall clock, that is its bound, else the processor's time since a mark that is at most
 * as old.
 */
#define MARK_NS 500000u

static uint64_t mark_wall_ns, mark_cpu_ns, begun_ns;

static void begin_timing(void)
{
	begun_ns = clock_ns(CLOCK_MONOTONIC);
	if (begun_ns - mark_wall_ns < MARK_NS)
		return;
	mark_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	mark_wall_ns = begun_ns;
}

/* Of this thread's processor since begin_timing(), up to MARK_NS too much. */
static uint64_t end_timing(void)
{
	uint64_t wall_ns = clock_ns(CLOCK_MONOTONIC) - begun_ns, cpu_ns;

	if (wall_ns < MARK_NS)
		return wall_ns;
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - mark_cpu_ns;
	return cpu_ns < wall_ns ? cpu_ns : wall_ns;
}

static void on_malloc(const volatile void *at, size_t size)
{
	(void)at;
	if (!watching)
		return;
	live_bytes += (int64_t)size;
	if (live_bytes > most_bytes)
		most_bytes = live_bytes;
}

static void on_free(const volatile void *at)
{
	if (watching && at)
		live_bytes -= (int64_t)__sanitizer_get_allocated_size(at);
}

static void say_what_was_seen(void)
{
	fprintf(stderr,
		"watch: inputs %" PRIu64 " slowest_us %" PRIu64
		" slowest_size %zu largest_bytes %" PRId64 " cpu_ms %" PRIu64 "\n",
		nr_inputs, slowest_ns / 1000, slowest_size, largest_bytes,
		clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1000000);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (!__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free))
		return -1;
	return atexit(say_what_was_seen);
}

static void judge(uint64_t took_ns, size_t size)
{
	nr_inputs++;
	if (most_bytes > largest_bytes)
		largest_bytes = most_bytes;
	if (took_ns > slowest_ns) {
		slowest_ns = took_ns;
		slowest_size = size;
	}
	if (most_bytes > WATCH_MAX_BYTES) {
		fprintf(stderr, "watch: %" PRId64 " bytes for an input of %zu, expected up to %d\n",
			most_bytes, size, WATCH_MAX_BYTES);
		abort();
	}
	if (took_ns > WATCH_MAX_NS) {
		fprintf(stderr, "watch: %" PRIu64 " ns for an input of %zu, expected up to %u\n",
			took_ns, size, WATCH_MAX_NS);
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int ret;

	live_bytes = most_bytes = 0;
	tracing = nr_inputs % TRACED_EVERY == 0;
	begin_timing();
	watching = true;
	ret = fuzz_one_input(data, size);
	watching = false;
	judge(end_timing(), size);
	return ret;
}

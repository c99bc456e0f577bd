/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked into every fuzz target between libFuzzer and the target: what one input takes. More than
 * WATCH_MAX_BYTES of live heap or more than WATCH_MAX_NS of this thread's processor ends the run as a
 * crash does, with the input saved. At the end one line: executions, slowest input and its bytes,
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

static bool watching;
static int64_t live_bytes, most_bytes; /* of the input under way */
static int64_t largest_bytes;
static uint64_t nr_inputs, slowest_ns;
static size_t slowest_size;

static uint64_t processor_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
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
		processor_ns(CLOCK_PROCESS_CPUTIME_ID) / 1000000);
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
	uint64_t begun_ns = processor_ns(CLOCK_THREAD_CPUTIME_ID);
	int ret;

	live_bytes = most_bytes = 0;
	watching = true;
	ret = fuzz_one_input(data, size);
	watching = false;
	judge(processor_ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns, size);
	return ret;
}

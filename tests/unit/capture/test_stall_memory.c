/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stall of the agent makes resident is given back. The capture below the agent's options
 * runs on a clock of its own (fast_clock.h) under a steady load. Now and then it is stopped for
 * some seconds, so that it finds many times more requests at once than in any second before. A
 * minute and a half after each stall, the memory that is resident is that of before.
 *
 * A look is the median of half a minute's seconds: buffers come and go with each segment, and right
 * after memory was given back less is resident than the load needs.
 */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/capture/pipeline.h"
#include "agent/capture/stream.h"
#include "agent/send/sender.h"
#include "agent/show/board.h"
#include "tests/support/fast_clock.h"
#include "tests/support/sample.h"
#include "tests/support/synthetic_source.h"
#include "tests/support/tap.h"

#define DEVICE	       device_make(7, 77)
#define REQUESTS_PER_S 20000u
#define SECOND_NS      1000000000u
#define STALL_NS       (3ull * SECOND_NS) /* 60 000 requests: more than one segment's */
#define LATE_NS	       37000000u
#define NR_STALLS      3
#define NR_SETTLE      64 /* seconds before a look: memory is given back once a minute */
#define NR_LOOKS       31 /* seconds of a look */
/*
 * After the first stall the heap may keep two holes: the largest segment of all has texts and data
 * just below the size from which the C library maps a block by itself. No later stall adds any.
 */
#define MAX_FIRST_KIB  256
#define MAX_GROWTH_KIB 64

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_OWN_MEMORY false /* a sanitizer keeps its own books in memory */
#else
#define HAS_OWN_MEMORY true
#endif

struct rig {
	char dir[64], url[80];
	uint32_t device;
	struct board *board;
	struct sender *sender;
	struct pipeline *pipeline;
};

static bool rig_start(struct rig *rig)
{
	const char *urls[] = { rig->url };
	struct sender_config sender = { .host = "here",
					.boot_id = "boot",
					.urls = urls,
					.nr_urls = 1,
					.has_trace = true,
					.watches_all = true };
	struct pipeline_config config = { .source = &synthetic_source,
					  .source_config = { .devices = &rig->device,
							     .nr_devices = 1 },
					  .window_ns = SECOND_NS,
					  .segment_interval_ns = SECOND_NS / 2,
					  .heartbeat_ns = 60ull * SECOND_NS,
					  .has_trace = true,
					  .host = "here",
					  .boot_id = "boot",
					  .read_completed = synthetic_completed };
	struct err err = { 0 };

	rig->device = DEVICE;
	snprintf(rig->dir, sizeof(rig->dir), "%s", sample_folder());
	snprintf(rig->url, sizeof(rig->url), "file:%s", rig->dir);
	synthetic_plan = (struct synthetic_plan){ .device = DEVICE,
						  .nr_devices = 1,
						  .requests_per_s = REQUESTS_PER_S,
						  .latency_ns = 300000,
						  .begin_ns = stream_anchor().monotonic_ns };
	if (board_new(&rig->board) || sender_new(&rig->sender, &sender, &err))
		return false;
	config.sender = rig->sender;
	config.board = rig->board;
	return !pipeline_start(&rig->pipeline, &config, &err);
}

static void rig_stop(struct rig *rig)
{
	pipeline_stop(rig->pipeline);
	sender_free(rig->sender, 60);
	board_free(rig->board);
	sample_remove(rig->dir);
}

/* Counted page by page: the kernel's own running count may lag by some pages of each processor. */
static uint64_t resident_kib(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "re");
	unsigned long long kib = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Rss: %llu kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * The agent comes a little late once a second, too little for a pause. So the ends of segments move
 * through the windows, and the largest segment that this load can make is among those of a look.
 */
static void run_a_second(void)
{
	fast_clock_run(SECOND_NS - LATE_NS);
	fast_clock_jump(LATE_NS);
}

/* KiB that are resident once the load has settled. */
static uint64_t settle_and_look(void)
{
	uint64_t kib[NR_LOOKS];

	for (int i = 0; i < NR_SETTLE; i++)
		run_a_second();
	for (int i = 0; i < NR_LOOKS; i++) {
		run_a_second();
		kib[i] = resident_kib();
	}
	qsort(kib, NR_LOOKS, sizeof(*kib), by_size);
	tap_note("resident: least %llu, median %llu, most %llu KiB", (unsigned long long)kib[0],
		 (unsigned long long)kib[NR_LOOKS / 2], (unsigned long long)kib[NR_LOOKS - 1]);
	return kib[NR_LOOKS / 2];
}

static void a_stall_leaves_nothing(void)
{
	uint64_t before, first = 0, after, delivered;
	struct rig rig = { .device = 0 };

	if (!ok(rig_start(&rig)))
		return;
	fast_clock_start();
	before = settle_and_look();
	for (int i = 0; i < NR_STALLS; i++) {
		delivered = atomic_load(&synthetic_plan.delivered);
		fast_clock_jump(STALL_NS);
		after = settle_and_look();
		first = i ? first : after;
		if (HAS_OWN_MEMORY)
			ok(after <= (i ? first + MAX_GROWTH_KIB : before + MAX_FIRST_KIB));
		ok(atomic_load(&synthetic_plan.delivered) - delivered >=
		   REQUESTS_PER_S * (STALL_NS / SECOND_NS + NR_SETTLE + NR_LOOKS));
	}
	fast_clock_release();
	ok(!pipeline_failed(rig.pipeline, NULL));
	rig_stop(&rig);
}

static const struct tap_test tests[] = {
	{ "memory that a stall made resident is given back", a_stall_leaves_nothing },
};

int main(void)
{
	if (!access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 0);
	mallopt(M_MMAP_THRESHOLD, 128 << 10); /* as agent/main.c does */
	return tap_run(tests, TAP_NR(tests));
}

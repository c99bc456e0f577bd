/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_blktrace: imitates the kernel by files, for the tests of the blktrace source. It makes the
 * results of the ioctls and the contents of the files of two CPUs. The disk is 8:0, "sda". Where
 * the imitation cannot be made, the running test fails.
 */
#ifndef TESTS_FAKE_BLKTRACE_H
#define TESTS_FAKE_BLKTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/source/blktrace/source_blktrace.h"

#define FAKE_DISK     device_make(8, 0)
#define FAKE_REQUESTS 64
#define FAKE_PATH     256
#define FAKE_AGO_NS   5000000000ull /* base_ns lies so long before the test */
#define FAKE_READ     1u	    /* categories of actions */
#define FAKE_WRITE    2u

/* These are the actions BLK_TA_*, named by blkparse's letters. */
enum { FAKE_Q = 1, FAKE_M, FAKE_F, FAKE_G, FAKE_S, FAKE_R, FAKE_D, FAKE_C };

struct fake_blktrace {
	char root[64], log[256]; /* log: the calls that the source made */
	char debugfs[FAKE_PATH], sysfs[FAKE_PATH];
	struct blktrace_kernel kernel; /* for the source under test */
	bool is_set_up, is_busy, is_v8, refuses_start, has_no_files;
	bool agent_is_alive, has_no_counts, is_gone;
	uint64_t completed; /* completed requests as the kernel counts them */
	int64_t in_flight;
	uint32_t sequence[2]; /* next sequence number of each CPU */
	uint64_t base_ns;     /* added to the times of events */

	/* These are the requests that the source handed over. */
	struct request r[FAKE_REQUESTS];
	size_t nr;
	uint64_t lost[NR_LOSS_CAUSES];
	char tasks[256];
};

/* The struct must not move while it is in use. Release removes its files. */
void fake_blktrace_init(struct fake_blktrace *k);
void fake_blktrace_release(struct fake_blktrace *k);

/* Writes a file of the imitation, and replaces an earlier one. */
void fake_file(const char *folder, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Sets the end sector that the disk's trace shows. 0 means that there is no trace. */
void fake_mark(struct fake_blktrace *k, uint64_t end_lba);
/* Adds an event at base_ns + time on a CPU. bits are the categories beside that of the action. */
void fake_event(struct fake_blktrace *k, int cpu, uint64_t time, uint32_t action, uint64_t bits,
		uint64_t sector, uint32_t bytes);
/* Adds a write of 4 KiB that is made, dispatched and completed within 20 ns, and counts it. */
void fake_request(struct fake_blktrace *k, int cpu, uint64_t time, uint64_t sector);

struct source_sink fake_sink(struct fake_blktrace *k);
/* Opens the source on this kernel and disk. */
struct source *fake_open_source(struct fake_blktrace *k);

#endif

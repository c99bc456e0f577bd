/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's capture below its options, at windows of a millisecond instead of ten seconds and on
 * a clock that goes as fast as it can follow (fast_clock.h): requests are made up, put in order,
 * characterized, written to segments that are read and removed as they come. The agent is stopped
 * for up to ten seconds again and again, as busy machines do. Neither memory nor descriptors grow,
 * and the counts are exact. WINDOWS (3000, and no fewer; a million with BLKCAST_ENDURANCE=1, 6
 * minutes of a processor).
 *
 * What is allocated and not freed is counted by the allocator's functions, which are defined here,
 * before those of the C library. What is resident has more to it, holes and caches of the C library
 * and pages of the tables touched for the first time, and is held against its bound in long runs.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/show/board.h"
#include "agent/capture/pipeline.h"
#include "agent/send/sender.h"
#include "agent/capture/stream.h"
#include "tests/support/fast_clock.h"
#include "tests/support/sample.h"
#include "tests/support/segment_files.h"
#include "tests/support/synthetic_source.h"
#include "tests/support/tap.h"

#define DEVICE	       device_make(7, 77)
#define REQUESTS_PER_S 5000u
#define SEGMENT_NS     50000000u
#define STALL_EVERY    20 /* segments */
#define STALL_AT       2  /* the first of them */
#define MIN_STALL_NS   1000000000u
#define MAX_STALL_NS   10000000000u
#define NR_LOOKS       20
#define NR_GROUP       4 /* looks compared: the first and the last so many */
#define LONG_RUN       100000

/* From a tenth of the run to its end. */
#define MAX_GROWTH_KIB	 64
#define MAX_GROWTH_BYTES 1024 /* live: the smallest block kept in every hundredth window is more */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define HAS_OWN_HEAP false
static _Atomic int64_t live_bytes;
#else
#define HAS_OWN_HEAP true
static _Atomic int64_t live_bytes;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *p);

static void *counted(void *p)
{
	if (p)
		atomic_fetch_add(&live_bytes, (int64_t)malloc_usable_size(p));
	return p;
}

void *malloc(size_t size)
{
	return counted(__libc_malloc(size));
}

void *calloc(size_t nr, size_t size)
{
	return counted(__libc_calloc(nr, size));
}

void *realloc(void *p, size_t size)
{
	int64_t before = p ? (int64_t)malloc_usable_size(p) : 0;
	void *moved = __libc_realloc(p, size);

	if (moved || !size)
		atomic_fetch_sub(&live_bytes, before);
	return counted(moved);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return counted(__libc_memalign(alignment, size));
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	void *p = counted(__libc_memalign(alignment, size));

	if (p)
		*out = p;
	return p ? 0 : ENOMEM;
}

void free(void *p)
{
	if (p)
		atomic_fetch_sub(&live_bytes, (int64_t)malloc_usable_size(p));
	__libc_free(p);
}
#endif

static uint64_t nr_wanted(void)
{
	const char *text = getenv("WINDOWS");

	if (text)
		return strtoull(text, NULL, 10);
	return getenv("BLKCAST_ENDURANCE") ? 1000000 : HAS_OWN_HEAP ? 3000 : 500;
}

static uint64_t resident_kib(void)
{
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	char text[128] = "";
	unsigned long long size, resident = 0;

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0 ||
	    sscanf(text, "%llu %llu", &size, &resident) != 2)
		resident = 0;
	if (fd >= 0)
		close(fd);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

static unsigned int nr_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int nr = 0;

	while (d && readdir(d))
		nr++;
	if (d)
		closedir(d);
	return nr;
}

/*
 * What lies in the folder is read by another process: the memory of this one is the agent's alone.
 */
struct reader {
	pid_t pid;
	int ask, answer;
};

struct rig {
	char dir[64], url[80];
	struct reader reader;
	uint32_t device;
	struct board *board;
	struct sender *sender;
	struct pipeline *pipeline;
	struct segment_files sums;
};

static void read_as_asked(const char *dir, int ask, int answer)
{
	struct segment_files files;
	char any;

	while (read(ask, &any, 1) == 1) {
		if (segment_files_take(dir, &files))
			files.nr_bad++;
		if (write(answer, &files, sizeof(files)) != sizeof(files))
			break;
	}
	_exit(0);
}

static bool reader_start(struct reader *reader, const char *dir)
{
	int ask[2], answer[2];

	if (pipe(ask) || pipe(answer))
		return false;
	fflush(stdout);
	reader->pid = fork();
	if (!reader->pid) {
		close(ask[1]);
		read_as_asked(dir, ask[0], answer[1]);
	}
	close(ask[0]);
	close(answer[1]);
	reader->ask = ask[1];
	reader->answer = answer[0];
	return reader->pid > 0;
}

static void reader_stop(struct reader *reader)
{
	close(reader->ask);
	close(reader->answer);
	waitpid(reader->pid, NULL, 0);
}

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
					  .window_ns = 1000000u,
					  .segment_interval_ns = SEGMENT_NS,
					  .heartbeat_ns = 60000000000u,
					  .has_trace = true,
					  .host = "here",
					  .boot_id = "boot",
					  .read_completed = synthetic_completed };
	struct err err = { 0 };

	rig->device = DEVICE;
	snprintf(rig->dir, sizeof(rig->dir), "%s", sample_folder());
	snprintf(rig->url, sizeof(rig->url), "file:%s", rig->dir);
	if (!reader_start(&rig->reader, rig->dir))
		return false;
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

/* Counts what lies there by now and removes it. A segment has its name once it is whole. */
static void take_away(struct rig *rig)
{
	struct segment_files files;

	if (!ok(write(rig->reader.ask, "", 1) == 1) ||
	    !ok(read(rig->reader.answer, &files, sizeof(files)) == sizeof(files)))
		return;
	rig->sums.nr_segments += files.nr_segments;
	rig->sums.nr_bad += files.nr_bad;
	rig->sums.nr_requests += files.nr_requests;
	rig->sums.nr_captured += files.nr_captured;
	rig->sums.nr_profiles += files.nr_profiles;
	rig->sums.nr_unknown_gaps += files.nr_unknown_gaps;
	for (int i = 0; i < NR_LEDGER_CAUSES; i++)
		rig->sums.nr_pauses[i] += files.nr_pauses[i];
}

/* At rest: nothing is under way between capture and disk. */
struct look {
	uint64_t windows, kib;
	int64_t live_bytes;
	unsigned int descriptors;
};

struct run {
	struct look looks[NR_LOOKS];
	size_t nr;
	uint64_t nr_segments, nr_stalls;
};

/* To where a segment has just been written: the next one holds nothing yet. */
static void end_segment(struct rig *rig)
{
	uint64_t before = rig->sums.nr_segments;

	while (rig->sums.nr_segments == before && !pipeline_failed(rig->pipeline, NULL)) {
		fast_clock_run(1);
		take_away(rig);
	}
}

/* Now and then, from the first tenth of the run on, which it takes to come to its tables' size. */
static void look(struct rig *rig, uint64_t nr, struct run *run)
{
	uint64_t begin = nr / 10;

	if (run->nr == NR_LOOKS ||
	    rig->sums.nr_profiles < begin + run->nr * (nr - begin) / NR_LOOKS)
		return;
	end_segment(rig);
	run->looks[run->nr++] = (struct look){ .windows = rig->sums.nr_profiles,
					       .kib = resident_kib(),
					       .live_bytes = atomic_load(&live_bytes),
					       .descriptors = nr_descriptors() };
}

/* The longest first: what it takes stays. Then of any length up to that, the same in every run. */
static void stall_sometimes(struct run *run)
{
	uint64_t share = 999 - run->nr_stalls * 761 % 1000; /* thousandths */

	if (run->nr_segments++ % STALL_EVERY != STALL_AT)
		return;
	fast_clock_jump(MIN_STALL_NS + (MAX_STALL_NS - MIN_STALL_NS) / 999 * share);
	run->nr_stalls++;
}

static void go_through(struct rig *rig, uint64_t nr, struct run *run)
{
	while (rig->sums.nr_profiles < nr && !pipeline_failed(rig->pipeline, NULL)) {
		stall_sometimes(run);
		fast_clock_run(SEGMENT_NS);
		take_away(rig);
		look(rig, nr, run);
	}
}

static void tell(const struct rig *rig, const struct run *run)
{
	tap_note("%llu windows, %llu requests, %llu segments, %llu stalls",
		 (unsigned long long)rig->sums.nr_profiles,
		 (unsigned long long)rig->sums.nr_requests,
		 (unsigned long long)rig->sums.nr_segments, (unsigned long long)run->nr_stalls);
	for (size_t i = 0; i < run->nr; i += 3)
		tap_note("from window %llu: %llu KiB resident, %lld bytes live",
			 (unsigned long long)run->looks[i].windows,
			 (unsigned long long)run->looks[i].kib,
			 (long long)run->looks[i].live_bytes);
}

/* Of a group of looks the least: a thing kept raises the least as well. */
static int64_t least_live_bytes(const struct look *looks)
{
	int64_t least = looks[0].live_bytes;

	for (size_t i = 1; i < NR_GROUP; i++)
		least = looks[i].live_bytes < least ? looks[i].live_bytes : least;
	return least;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * Of a group of looks the one in the middle: what is free between blocks in use, and not given back
 * yet, differs from one look to the next by some hundred KiB, and less than usual is resident right
 * after memory was given back.
 */
static int64_t middle_kib(const struct look *looks)
{
	uint64_t kib[NR_GROUP];

	for (size_t i = 0; i < NR_GROUP; i++)
		kib[i] = looks[i].kib;
	qsort(kib, NR_GROUP, sizeof(*kib), by_size);
	return (int64_t)kib[NR_GROUP / 2];
}

static void check(const struct run *run, bool is_long)
{
	const struct look *first = run->looks, *last = run->looks + NR_LOOKS - NR_GROUP;
	int64_t kib, bytes;

	if (!HAS_OWN_HEAP || !ok_eq(run->nr, NR_LOOKS))
		return;
	kib = middle_kib(last) - middle_kib(first);
	bytes = least_live_bytes(last) - least_live_bytes(first);
	tap_note("grown by %lld KiB resident, %lld bytes live", (long long)kib, (long long)bytes);
	ok(last[NR_GROUP - 1].descriptors <= first[0].descriptors);
	ok(bytes <= MAX_GROWTH_BYTES);
	if (is_long)
		ok(kib <= MAX_GROWTH_KIB);
}

static void nothing_grows(void)
{
	uint64_t nr = nr_wanted();
	struct run run = { .nr = 0 };
	struct rig rig = { .device = 0 };
	unsigned int before = nr_descriptors();

	if (!ok(rig_start(&rig)))
		return;
	fast_clock_start();
	go_through(&rig, nr, &run);
	fast_clock_release();
	pipeline_stop(rig.pipeline);
	sender_free(rig.sender, 60);
	board_free(rig.board);
	take_away(&rig);
	reader_stop(&rig.reader);
	ok(rig.sums.nr_profiles >= nr);
	ok_eq(rig.sums.nr_bad, 0);
	ok_eq(rig.sums.nr_unknown_gaps, 0);
	ok_eq(rig.sums.nr_captured, rig.sums.nr_requests);
	ok_eq(rig.sums.nr_pauses[PAUSE_AGENT_STOPPED], run.nr_stalls);
	tell(&rig, &run);
	check(&run, nr >= LONG_RUN);
	ok_eq(nr_descriptors(), before);
	sample_remove(rig.dir);
}

static const struct tap_test tests[] = {
	{ "windows beyond number cost neither memory nor descriptors", nothing_grows },
};

int main(void)
{
	if (!access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 0);
	mallopt(M_MMAP_THRESHOLD, 128 << 10); /* as agent/main.c does */
	return tap_run(tests, TAP_NR(tests));
}

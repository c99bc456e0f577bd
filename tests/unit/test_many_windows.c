/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's capture below its options, at windows of a millisecond instead of ten seconds: requests
 * are made up, put in order, characterized, written to segments that are read and removed as they
 * come. Neither memory nor descriptors grow, and the counts are exact. WINDOWS (2000; a million with
 * BLKCAST_ENDURANCE=1, 20 minutes).
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/board.h"
#include "agent/pipeline.h"
#include "agent/sender.h"
#include "agent/stream.h"
#include "tests/slow/sample.h"
#include "tests/slow/segment_files.h"
#include "tests/slow/synthetic_source.h"
#include "tests/tap.h"

#define DEVICE	       device_make(7, 77)
#define REQUESTS_PER_S 5000u
#define MAX_GROWTH_KIB 64 /* in the second half: what a busy instant takes stays, and grows rarer */
#define MAX_SAMPLES    64

static uint64_t nr_wanted(void)
{
	const char *text = getenv("WINDOWS");

	if (text)
		return strtoull(text, NULL, 10);
	return getenv("BLKCAST_ENDURANCE") ? 1000000 : 2000;
}

static uint64_t resident_kib(void)
{
	unsigned long long size, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%llu %llu", &size, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
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

struct rig {
	char dir[64], url[80];
	uint32_t device;
	struct board *board;
	struct sender *sender;
	struct pipeline *pipeline;
	struct segment_files sums;
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
					  .window_ns = 1000000u,
					  .segment_interval_ns = 50000000u,
					  .heartbeat_ns = 60000000000u,
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

/* Counts what lies there by now and removes it. A segment has its name once it is whole. */
static void take_away(struct rig *rig)
{
	struct segment_files files;

	if (!ok_int(segment_files_take(rig->dir, &files), 0))
		return;
	rig->sums.nr_segments += files.nr_segments;
	rig->sums.nr_bad += files.nr_bad;
	rig->sums.nr_requests += files.nr_requests;
	rig->sums.nr_captured += files.nr_captured;
	rig->sums.nr_profiles += files.nr_profiles;
	rig->sums.nr_unknown_gaps += files.nr_unknown_gaps;
}

/*
 * A machine that stalls makes one window longer, with larger tables, which stay: what a long stall takes
 * is taken before the first look.
 */
static void stall(unsigned int seconds)
{
	pid_t self = getpid(), pid = fork();
	int status;

	if (!pid) {
		sleep(seconds);
		/* Again and again: on a busy machine the stop may come later than that. */
		for (; getppid() == self; usleep(100000))
			kill(self, SIGCONT);
		_exit(0);
	}
	if (!ok(pid > 0))
		return;
	kill(self, SIGSTOP);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

struct samples {
	uint64_t windows[MAX_SAMPLES], kib[MAX_SAMPLES];
	unsigned int descriptors[MAX_SAMPLES];
	size_t nr;
};

static void go_through(struct rig *rig, uint64_t nr, struct samples *s)
{
	while (rig->sums.nr_profiles < nr && !pipeline_failed(rig->pipeline, NULL)) {
		nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
		take_away(rig);
		if (s->nr == MAX_SAMPLES ||
		    rig->sums.nr_profiles < nr / 10 + s->nr * (nr - nr / 10) / (MAX_SAMPLES - 1))
			continue;
		s->windows[s->nr] = rig->sums.nr_profiles;
		s->kib[s->nr] = resident_kib();
		s->descriptors[s->nr++] = nr_descriptors();
	}
}

static void nothing_grows(void)
{
	uint64_t nr = nr_wanted();
	struct samples s = { .nr = 0 };
	struct rig rig = { .device = 0 };
	unsigned int before = nr_descriptors();
	int64_t growth;

	if (!ok(rig_start(&rig)))
		return;
	stall(nr >= 100000 ? 10 : 1);
	go_through(&rig, nr, &s);
	pipeline_stop(rig.pipeline);
	sender_free(rig.sender, 60);
	board_free(rig.board);
	take_away(&rig);
	ok(rig.sums.nr_profiles >= nr);
	ok_eq(rig.sums.nr_bad, 0);
	ok_eq(rig.sums.nr_unknown_gaps, 0);
	ok_eq(rig.sums.nr_captured, rig.sums.nr_requests);
	if (s.nr > 1) { /* else the machine stood still meanwhile */
		growth = (int64_t)s.kib[s.nr - 1] - (int64_t)s.kib[0];
		tap_note("%llu windows, %llu requests, %llu segments: resident %llu KiB at window "
			 "%llu, %lld more at %llu",
			 (unsigned long long)rig.sums.nr_profiles,
			 (unsigned long long)rig.sums.nr_requests,
			 (unsigned long long)rig.sums.nr_segments, (unsigned long long)s.kib[0],
			 (unsigned long long)s.windows[0], (long long)growth,
			 (unsigned long long)s.windows[s.nr - 1]);
		for (size_t i = 0; i + 7 < s.nr; i += 8)
			tap_note("at window %llu: %llu KiB", (unsigned long long)s.windows[i],
				 (unsigned long long)s.kib[i]);
		if (nr >= 100000)
			ok((int64_t)s.kib[s.nr - 1] - (int64_t)s.kib[s.nr / 2] <= MAX_GROWTH_KIB);
		/* A segment may just be written, with its folder. */
		ok(s.descriptors[s.nr - 1] <= s.descriptors[0] + 2);
	}
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
	return tap_run(tests, TAP_NR(tests));
}

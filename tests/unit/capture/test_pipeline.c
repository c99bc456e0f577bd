/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/capture/pace.h"
#include "agent/capture/pipeline.h"
#include "agent/capture/stream.h"
#include "agent/send/sender.h"
#include "agent/show/board.h"
#include "base/system/clock.h"
#include "tests/support/segment_files.h"
#include "tests/support/synthetic_source.h"
#include "tests/support/tap.h"

#define DEVICE device_make(7, 77)

/* What a test runs: a pipeline into a store. */
struct rig {
	char dir[48], url[64];
	uint32_t device;
	struct board *board;
	bool wants_who;
	struct sender *sender;
	struct pipeline *pipeline;
};

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static void make_dir(struct rig *rig)
{
	*rig = (struct rig){ .dir = "/tmp/blkcast-pipeline.XXXXXX", .device = DEVICE };
	ok(mkdtemp(rig->dir) != NULL);
	snprintf(rig->url, sizeof(rig->url), "file:%s", rig->dir);
}

static void remove_dir(const struct rig *rig)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf '%s'", rig->dir);
	ok(!system(command));
}

static int start(struct rig *rig, struct err *err)
{
	const char *urls[] = { rig->url };
	struct sender_config sender = { .host = "here", .boot_id = "boot", .urls = urls };
	struct pipeline_config config = { .source = &synthetic_source,
					  .window_ns = 100000000u,
					  .segment_interval_ns = 50000000u,
					  .heartbeat_ns = 60000000000u,
					  .has_trace = true,
					  .host = "here",
					  .boot_id = "boot",
					  .read_completed = synthetic_completed };
	int ret;

	sender.nr_urls = 1;
	sender.has_trace = sender.watches_all = true;
	config.source_config.devices = &rig->device;
	config.source_config.nr_devices = rig->device != 0;
	ret = board_new(&rig->board);
	if (!ret && rig->wants_who)
		ret = board_want_who(rig->board);
	if (!ret)
		ret = sender_new(&rig->sender, &sender, err);
	config.sender = rig->sender;
	config.board = rig->board;
	return ret ? ret : pipeline_start(&rig->pipeline, &config, err);
}

static void stop(struct rig *rig)
{
	pipeline_stop(rig->pipeline);
	sender_free(rig->sender, 60);
	board_free(rig->board);
	rig->pipeline = NULL;
	rig->sender = NULL;
	rig->board = NULL;
}

static void set_plan(uint64_t requests_per_s, uint32_t latency_ns)
{
	synthetic_plan.device = DEVICE;
	synthetic_plan.nr_devices = 1;
	synthetic_plan.requests_per_s = requests_per_s;
	synthetic_plan.batch = 0;
	synthetic_plan.latency_ns = latency_ns;
	synthetic_plan.limit = 0;
	synthetic_plan.lost_every = 0;
	synthetic_plan.lost_to = LOSS_RING_FULL;
	synthetic_plan.own_every = 0;
	synthetic_plan.passthrough = 0;
	synthetic_plan.fail_after_polls = 0;
	synthetic_plan.delivered = synthetic_plan.lost = 0;
	synthetic_plan.begin_ns = stream_anchor().monotonic_ns;
}

/*
 * Waits until every request of a plan with a limit stands on the board, for at most 20 s.
 * started_ns is a time before the pipeline began, so that its windows reach at least to
 * started_ns + watched_s. Once they reach beyond the last request, nothing more is posted.
 */
static bool wait_for_the_whole_plan(const struct rig *rig, uint64_t started_ns)
{
	struct board_totals totals;
	uint64_t completed, over_ns = 0;
	size_t nr;

	for (int i = 0; i < 2000; i++) {
		synthetic_completed(DEVICE, &completed);
		if (!over_ns && completed >= synthetic_plan.limit)
			over_ns = clock_monotonic_ns();
		board_lock(rig->board, &nr, &totals);
		board_unlock(rig->board);
		if (over_ns && started_ns + (uint64_t)(totals.watched_s * 1e9) > over_ns)
			return true;
		sleep_ms(10);
	}
	return false;
}

/*
 * Waits until the windows on the board have so many requests, for at most 20 s. A fixed time would
 * say nothing on a busy machine, where a pipeline may need it for its start.
 */
static void wait_for_requests(const struct rig *rig, uint64_t nr_requests)
{
	struct board_totals totals;
	size_t nr;

	for (int i = 0; i < 2000; i++) {
		board_lock(rig->board, &nr, &totals);
		board_unlock(rig->board);
		if (totals.captured >= nr_requests)
			return;
		sleep_ms(10);
	}
}

static void every_request_reaches_segment_and_profile(void)
{
	struct segment_files files;
	struct err err = { 0 };
	struct rig rig;

	make_dir(&rig);
	set_plan(200000, 300000);
	if (!ok(!start(&rig, &err))) {
		tap_note("%s", err.line);
		return;
	}
	wait_for_requests(&rig, 100000);
	stop(&rig);
	ok_int(segment_files_read(rig.dir, &files), 0);
	ok(files.nr_requests > 0);
	ok_eq(files.nr_bad, 0);
	/* What the kernel counted before the cutover is not this run's. */
	ok(files.nr_requests <= synthetic_plan.delivered);
	ok_eq(files.nr_requests, files.profile_requests);
	ok_eq(files.nr_captured, files.nr_requests);
	ok_eq(segment_files_sum(&files), files.nr_requests);
	ok_eq(files.nr_unknown_gaps, 0);
	/* Each window is released in order; only its seams can step back. */
	ok(files.descents < 40);
	ok(files.nr_segments >= 1);
	remove_dir(&rig);
}

/*
 * A segment names 512 devices at most. On a machine with more, each request is in a segment that
 * names its device, since the agent begins another segment in time. The plan has a limit: each 512
 * requests end a segment, and on a slow machine a plan without one would make more segments than
 * may wait for the sender.
 */
static void more_devices_than_a_segment_names(void)
{
	struct segment_files files;
	struct err err = { 0 };
	uint64_t started_ns = clock_monotonic_ns();
	struct rig rig;

	make_dir(&rig);
	rig.device = 0;
	set_plan(10000, 300000);
	synthetic_plan.limit = 20000;
	synthetic_plan.nr_devices = 2 * SEGMENT_MAX_DEVICES + 100;
	if (!ok(!start(&rig, &err))) {
		tap_note("%s", err.line);
		return;
	}
	ok(wait_for_the_whole_plan(&rig, started_ns));
	stop(&rig);
	ok_int(segment_files_read(rig.dir, &files), 0);
	tap_note("%llu requests in %llu segments", (unsigned long long)files.nr_requests,
		 (unsigned long long)files.nr_segments);
	ok(files.nr_requests > 0);
	ok_eq(files.nr_bad, 0);
	ok_eq(files.nr_captured, files.nr_requests);
	ok_eq(segment_files_sum(&files), files.nr_requests);
	ok(files.nr_segments >= 3);
	remove_dir(&rig);
}

static void losses_of_the_source_are_carried(void)
{
	struct segment_files files;
	struct err err = { 0 };
	struct rig rig;

	make_dir(&rig);
	set_plan(50000, 100000);
	synthetic_plan.lost_every = 100;
	if (!ok(!start(&rig, &err)))
		return;
	wait_for_requests(&rig, 10000);
	stop(&rig);
	ok_int(segment_files_read(rig.dir, &files), 0);
	ok(files.lost[LOSS_RING_FULL] > 0);
	ok_eq(files.lost[LOSS_RING_FULL], synthetic_plan.lost);
	remove_dir(&rig);
}

static void board_adds_up(void)
{
	struct board_totals totals;
	const struct board_device *d;
	struct segment_files files;
	struct err err = { 0 };
	uint64_t requests = 0, started_ns = clock_monotonic_ns();
	struct rig rig;
	size_t nr;

	make_dir(&rig);
	set_plan(4000, 100000);
	synthetic_plan.limit = 8000;
	if (!ok(!start(&rig, &err)))
		return;
	ok(wait_for_the_whole_plan(&rig, started_ns));
	d = board_lock(rig.board, &nr, &totals);
	if (ok_eq(nr, 1)) {
		requests = d->requests[OPERATION_READ] + d->requests[OPERATION_WRITE];
		ok_eq(d->duration[OPERATION_READ][STAGE_TOTAL].nr, d->requests[OPERATION_READ]);
		ok_eq(d->sizes[OPERATION_WRITE].nr, d->requests[OPERATION_WRITE]);
		/* Little's law: the integral is the sum of the response times. */
		ok_ratio(d->in_flight_s,
			 (double)(d->duration[OPERATION_READ][STAGE_TOTAL].sum_ns +
				  d->duration[OPERATION_WRITE][STAGE_TOTAL].sum_ns) /
				 1e9,
			 0.01);
	}
	board_unlock(rig.board);
	ok_near(totals.kernel_cpu_s, 0.25, 0);
	ok(totals.agent_cpu_s > 0);
	stop(&rig);
	ok_int(segment_files_read(rig.dir, &files), 0);
	ok_eq(requests, files.nr_requests);
	remove_dir(&rig);
}

/* Four processes of one control group; in all they made what the board counts. */
static void live_view_learns_who(void)
{
	struct board_totals totals;
	const struct board_device *d;
	struct who processes, cgroups;
	struct err err = { 0 };
	uint64_t requests = 0, started_ns = clock_monotonic_ns();
	struct rig rig;
	size_t nr;

	make_dir(&rig);
	rig.wants_who = true;
	set_plan(4000, 100000);
	synthetic_plan.limit = 8000;
	ok(!who_init(&processes, BOARD_WHO_MAX) && !who_init(&cgroups, BOARD_WHO_MAX));
	if (!ok(!start(&rig, &err)))
		return;
	ok(wait_for_the_whole_plan(&rig, started_ns));
	d = board_lock(rig.board, &nr, &totals);
	for (size_t i = 0; i < nr; i++)
		requests += d[i].requests[OPERATION_READ] + d[i].requests[OPERATION_WRITE];
	ok(board_swap_who(rig.board, &processes, &cgroups));
	board_unlock(rig.board);
	ok(requests > 0);
	ok_eq(who_total(&processes).requests, requests);
	ok_eq(who_total(&cgroups).requests, requests);
	ok_eq(processes.nr, 4);
	ok_eq(cgroups.nr, 1);
	ok(who_find(&processes, 1003) && who_find(&cgroups, 1));
	stop(&rig);
	who_release(&processes);
	who_release(&cgroups);
	remove_dir(&rig);
}

static void dying_source_is_told(void)
{
	struct err err = { 0 };
	struct rig rig;

	make_dir(&rig);
	set_plan(1000, 1000);
	synthetic_plan.fail_after_polls = 5;
	if (!ok(!start(&rig, &err)))
		return;
	for (int i = 0; i < 100 && !pipeline_failed(rig.pipeline, &err); i++)
		sleep_ms(20);
	ok(pipeline_failed(rig.pipeline, &err));
	ok_str(err.line, "the synthetic source failed: Input/output error");
	stop(&rig);
	remove_dir(&rig);
}

#define NR_KILLS 50

/*
 * One run, which says by a byte into the pipe, if there is one, that its pipeline has begun. The
 * last one stays until the last request, and ends in order.
 */
static void run_child(struct rig *rig, int began, bool is_last)
{
	struct err err = { 0 };
	uint64_t completed = 0;

	if (start(rig, &err) || (began >= 0 && write(began, "", 1) != 1))
		_exit(1);
	while (!is_last)
		pause();
	while (completed < synthetic_plan.limit) {
		sleep_ms(20);
		synthetic_completed(DEVICE, &completed);
	}
	stop(rig);
	_exit(0);
}

static void killed_agents_add_up(void)
{
	struct segment_files files;
	struct rig rig;
	int status = 0, began[2];
	char byte;
	pid_t pid;

	make_dir(&rig);
	if (!ok(!pipe(began)))
		return;
	set_plan(20000, 2000000);
	synthetic_plan.limit = 20000 * 8;
	/* The first run begins before the first request, so its base is 0, and is killed. */
	synthetic_plan.begin_ns += 3600000000000u;
	if (!(pid = fork()))
		run_child(&rig, began[1], false);
	ok_int(read(began[0], &byte, 1), 1);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	synthetic_plan.begin_ns = stream_anchor().monotonic_ns;
	for (int round = 0; round <= NR_KILLS; round++) {
		pid = fork();
		if (!pid)
			run_child(&rig, round % 2 ? began[1] : -1, round == NR_KILLS);
		/* Every second run is killed at any time, also within its start. */
		if (round % 2)
			ok_int(read(began[0], &byte, 1), 1);
		if (round < NR_KILLS) {
			sleep_ms(40 + round * 37 % 160);
			kill(pid, SIGKILL);
		}
		waitpid(pid, &status, 0);
		sleep_ms(5);
	}
	close(began[0]);
	close(began[1]);
	ok(WIFEXITED(status) && !WEXITSTATUS(status));
	ok_int(segment_files_read(rig.dir, &files), 0);
	tap_note("completed %llu, in segments %llu, died %llu, not watched %llu",
		 (unsigned long long)synthetic_plan.limit, (unsigned long long)files.nr_requests,
		 (unsigned long long)files.lost[LOSS_AGENT_DIED],
		 (unsigned long long)files.lost[LOSS_NOT_WATCHED]);
	ok(files.lost[LOSS_AGENT_DIED] > 0);
	ok(files.lost[LOSS_NOT_WATCHED] > 0);
	ok_eq(files.nr_unknown_gaps, 0);
	/* Exact: with 50 us between completions some reading has none near it. */
	ok_eq(segment_files_sum(&files), synthetic_plan.limit);
	remove_dir(&rig);
}

#define NR_PASSTHROUGH 40

/* A run until all requests are in its account, without an end. */
static void run_and_die(struct rig *rig)
{
	uint64_t completed = 0, polls;
	struct err err = { 0 };

	if (start(rig, &err))
		_exit(1);
	while (completed < synthetic_plan.limit) {
		sleep_ms(1);
		synthetic_completed(DEVICE, &completed);
	}
	/* One that begins from now on takes the last; the next begins when that is told. */
	for (polls = synthetic_plan.polls; synthetic_plan.polls < polls + 3;)
		sleep_ms(1);
	_exit(0);
}

/* The kernel's counters know nothing of them: neither do they hide what nobody watched. */
static void passthrough_is_beside_the_kernels_count(void)
{
	struct segment_files files;
	struct err err = { 0 };
	uint64_t completed = 0;
	struct rig rig;
	int status = 1;
	pid_t pid;

	make_dir(&rig);
	set_plan(20000, 100000);
	synthetic_plan.begin_ns += 3600000000000u; /* nothing yet: the account's base is 0 */
	if (!(pid = fork()))
		_exit(start(&rig, &err) != 0);
	waitpid(pid, &status, 0);
	ok_int(status, 0);
	set_plan(20000, 100000);
	synthetic_plan.limit = 1000;
	synthetic_plan.passthrough = NR_PASSTHROUGH;
	if (!(pid = fork()))
		run_and_die(&rig);
	waitpid(pid, &status, 0);
	ok_int(status, 0);
	/*
	 * Half as many while nobody watches; a begin in the past might be before the machine
	 * booted.
	 */
	synthetic_plan.limit = 1500;
	while (!synthetic_completed(DEVICE, &completed) && completed < synthetic_plan.limit)
		sleep_ms(1);
	synthetic_plan.passthrough = 0;
	if (ok(!start(&rig, &err)))
		stop(&rig);
	ok_int(segment_files_read(rig.dir, &files), 0);
	ok_eq(files.nr_unknown_gaps, 0);
	ok(files.lost[LOSS_NOT_WATCHED] >= 500);
	ok_eq(segment_files_sum(&files), 1500 + NR_PASSTHROUGH);
	remove_dir(&rig);
}

/* Nobody knows of which disk they were: the profiles share them out, and none is told twice. */
static void losses_of_no_disk_are_shared_out(void)
{
	struct segment_files files;
	struct err err = { 0 };
	struct rig rig;

	make_dir(&rig);
	rig.device = 0; /* all */
	set_plan(50000, 100000);
	synthetic_plan.nr_devices = 2;
	synthetic_plan.lost_every = 31;
	if (!ok(!start(&rig, &err)))
		return;
	wait_for_requests(&rig, 20000);
	stop(&rig);
	ok_int(segment_files_read(rig.dir, &files), 0);
	ok_eq(files.lost[LOSS_RING_FULL], synthetic_plan.lost);
	ok(files.profile_lost > 0);
	/* What is told in a window without a request waits for the next, which may be none. */
	ok(files.profile_lost <= synthetic_plan.lost);
	tap_note("%llu of %llu", (unsigned long long)files.profile_lost,
		 (unsigned long long)synthetic_plan.lost);
	remove_dir(&rig);
}

/* The kernel's counters speak for what was shed: the ledger has it, a profile does not miss it. */
static void shed_requests_are_no_profiles_loss(void)
{
	struct segment_files files;
	struct err err = { 0 };
	struct rig rig;

	make_dir(&rig);
	set_plan(50000, 100000);
	synthetic_plan.lost_every = 100;
	synthetic_plan.lost_to = LOSS_SHED;
	if (!ok(!start(&rig, &err)))
		return;
	wait_for_requests(&rig, 10000);
	stop(&rig);
	ok_int(segment_files_read(rig.dir, &files), 0);
	ok(files.lost[LOSS_SHED] > 0);
	ok_eq(files.lost[LOSS_SHED], synthetic_plan.lost);
	ok_eq(files.profile_lost, 0);
	remove_dir(&rig);
}

static void own_requests_are_marked(void)
{
	struct segment_files files;
	struct err err = { 0 };
	struct rig rig;

	make_dir(&rig);
	set_plan(50000, 100000);
	synthetic_plan.own_every = 10;
	if (!ok(!start(&rig, &err)))
		return;
	wait_for_requests(&rig, 10000);
	stop(&rig);
	ok_int(segment_files_read(rig.dir, &files), 0);
	ok(files.own_pid > 0 && files.own_pid < files.nr_requests);
	ok_eq(files.own_flag, files.own_pid);
	ok_eq(files.profile_own, files.own_pid);
	ok_eq(files.profile_requests, files.nr_requests);
	remove_dir(&rig);
}

/* Five windows as they should have been, then one of all the rest, but what has not settled. */
static void windows_are_caught_up_with(void)
{
	const uint64_t width = 100000000u, settle = PACE_SETTLE_NS, begin = 7000000007u;
	uint64_t at = begin, now = begin + 12 * width + width / 2;

	ok_eq(pace_window_end(begin, width, begin + width + settle - 1, 0), 0);
	ok_eq(pace_window_end(begin, width, begin + width + settle, 0), begin + width);
	ok_eq(pace_window_end(begin, width, begin + width + settle - 1, 9), 0);
	for (unsigned int i = 0; i < 5; i++) {
		ok_eq(pace_window_end(at, width, now, i), at + width);
		at += width;
	}
	ok_eq(pace_window_end(at, width, now, 5), begin + 12 * width);
	ok_eq(pace_window_end(begin + 12 * width, width, now, 6), 0);
	/* The last of the rest counts only once it has settled too. */
	ok_eq(pace_window_end(at, width, begin + 12 * width + settle, 5), begin + 12 * width);
	ok_eq(pace_window_end(at, width, begin + 12 * width + settle - 1, 5), begin + 11 * width);
	ok_eq(pace_window_end(at, width, at + width + settle, 5), at + width);
}

static const struct tap_test tests[] = {
	{ "every request reaches a segment and a profile",
	  every_request_reaches_segment_and_profile },
	{ "on a machine of 1124 devices every request is in a segment",
	  more_devices_than_a_segment_names },
	{ "losses of the source are carried by segments", losses_of_the_source_are_carried },
	{ "the board adds up to what is in the segments", board_adds_up },
	{ "the live view learns who made the requests", live_view_learns_who },
	{ "a source that dies is told", dying_source_is_told },
	{ "fifty killed agents add up with their ledgers", killed_agents_add_up },
	{ "requests without disk hide nothing that nobody watched",
	  passthrough_is_beside_the_kernels_count },
	{ "windows are caught up with one by one, then at once", windows_are_caught_up_with },
	{ "losses of no known disk are shared out among the profiles",
	  losses_of_no_disk_are_shared_out },
	{ "what is shed is in the ledger and in no profile's losses",
	  shed_requests_are_no_profiles_loss },
	{ "the agent's own requests are marked", own_requests_are_marked },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}

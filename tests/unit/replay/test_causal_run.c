/* SPDX-License-Identifier: Apache-2.0 */
/* Replays to a file: what it answers is named by the request, and what is not sent is counted. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/replay/causal_run.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define BLOCK	    4096u
#define FILE_BYTES  (4 * BLOCK + 512)
#define US	    1000ull
#define LONG_GAP_NS 60000000000ull
#define FLUSH_NS    20000000ull

/* Takes the place of the C library's: a flush that takes long. */
int fdatasync(int fd)
{
	const struct timespec t = { 0, FLUSH_NS };

	(void)fd;
	return nanosleep(&t, NULL);
}

struct rig {
	char dir[64], path[128];
	struct causal_plan plan;
};

/* One lane of reads, each after the one before has ended and that time has passed. */
static void rig_make(struct rig *r, const uint64_t *blocks, const uint64_t *gaps_ns, size_t nr)
{
	static const uint8_t content[FILE_BYTES] = { 0 };
	struct request requests[8];
	uint64_t at = 0;
	struct err err = { 0 };
	int fd;

	snprintf(r->dir, sizeof(r->dir), "%s", sample_folder());
	snprintf(r->path, sizeof(r->path), "%s/target", r->dir);
	sample_write(r->path, content, sizeof(content));
	fd = open(r->path, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (fd < 0) {
		sample_remove(r->dir);
		tap_skip("direct", "files of TMPDIR cannot be opened past the page cache");
	}
	close(fd);
	for (size_t i = 0; i < nr; i++) {
		at += gaps_ns[i];
		requests[i] = (struct request){ .tid = 7,
						.arrival_ns = at,
						.dispatch_ns = at,
						.completion_ns = at + 10 * US,
						.sector = blocks[i] * BLOCK / SECTOR_BYTES,
						.bytes = BLOCK,
						.operation = OPERATION_READ };
		at += 10 * US;
	}
	ok_int(causal_make(&r->plan, requests, nr, &err), 0);
}

/* Makes the first request of the plan a flush. */
static void rig_flush_first(struct rig *r)
{
	struct causal_request *first = &r->plan.lanes[0].requests[0];

	first->operation = OPERATION_FLUSH;
	first->bytes = 0;
}

static void rig_release(struct rig *r)
{
	causal_release(&r->plan);
	sample_remove(r->dir);
}

static void all_are_sent(void)
{
	const uint64_t blocks[] = { 3, 0, 2 }, gaps_ns[] = { 0, 100 * US, 100 * US };
	struct causal_result out;
	struct err err = { 0 };
	struct rig r = { 0 };

	rig_make(&r, blocks, gaps_ns, 3);
	ok_int(causal_runs(&(struct causal_run){ &r.plan, r.path, 0, NULL }, 1, &out, &err), 0);
	ok_eq(out.times.nr[DEVICE_READ], 3);
	ok_eq(causal_result_nr(&out), 3);
	ok_eq(out.nr_not_sent, 0);
	ok(device_times_at(&out.times, DEVICE_READ, DEVICE_P50) > 0);
	ok(isnan(device_times_at(&out.times, DEVICE_WRITE, DEVICE_MEAN)));
	causal_result_release(&out);
	rig_release(&r);
}

static void a_flush_takes_its_time_and_what_follows_waits_for_it(void)
{
	const uint64_t blocks[] = { 0, 1 }, gaps_ns[] = { 0, 0 };
	struct causal_result out;
	struct err err = { 0 };
	struct rig r = { 0 };

	rig_make(&r, blocks, gaps_ns, 2);
	rig_flush_first(&r);
	ok_int(causal_runs(&(struct causal_run){ &r.plan, r.path, 0, NULL }, 1, &out, &err), 0);
	ok_eq(out.times.nr[DEVICE_FLUSH], 1);
	ok(device_times_at(&out.times, DEVICE_FLUSH, DEVICE_MEAN) >= FLUSH_NS / 1e9);
	ok(out.elapsed_s >= FLUSH_NS / 1e9);
	causal_result_release(&out);
	rig_release(&r);
}

static void short_ones_are_named(void)
{
	const uint64_t blocks[] = { 1, 4 }, gaps_ns[] = { 0, 0 };
	struct causal_result out;
	struct err err = { 0 };
	struct rig r = { 0 };
	char line[256];

	rig_make(&r, blocks, gaps_ns, 2);
	ok_int(causal_runs(&(struct causal_run){ &r.plan, r.path, 0, NULL }, 1, &out, &err), -EIO);
	snprintf(line, sizeof(line), "%s: offset 16384: read: expected 4096 bytes, got 512",
		 r.path);
	ok_str(err.line, line);
	causal_result_release(&out);
	rig_release(&r);
}

/* The second one's time comes long after the end. */
static void the_end_does_not_wait(void)
{
	const uint64_t blocks[] = { 1, 2 }, gaps_ns[] = { 0, LONG_GAP_NS };
	struct causal_result out;
	struct err err = { 0 };
	struct rig r = { 0 };

	rig_make(&r, blocks, gaps_ns, 2);
	ok_int(causal_runs(&(struct causal_run){ &r.plan, r.path, 1, NULL }, 1, &out, &err), 0);
	ok_eq(out.times.nr[DEVICE_READ], 1);
	ok_eq(out.nr_not_sent, 1);
	ok(out.elapsed_s < (double)LONG_GAP_NS / 2e9);
	causal_result_release(&out);
	rig_release(&r);
}

static void too_many_lanes_are_refused(void)
{
	const uint64_t blocks[] = { 1 }, gaps_ns[] = { 0 };
	struct causal_plan many;
	struct causal_result out;
	struct err err = { 0 };
	struct rig r = { 0 };
	char line[256];

	rig_make(&r, blocks, gaps_ns, 1);
	many = r.plan;
	many.lanes = calloc(CAUSAL_LANES_MAX + 1, sizeof(*many.lanes));
	many.nr_lanes = CAUSAL_LANES_MAX + 1;
	ok_int(causal_runs(&(struct causal_run){ &many, r.path, 0, NULL }, 1, &out, &err), -EINVAL);
	snprintf(line, sizeof(line), "%s: expected requests of up to 512 threads, got 513", r.path);
	ok_str(err.line, line);
	causal_result_release(&out);
	free(many.lanes);
	rig_release(&r);
}

static void missing_targets_are_named(void)
{
	const uint64_t blocks[] = { 1 }, gaps_ns[] = { 0 };
	struct causal_result out;
	struct err err = { 0 };
	struct rig r = { 0 };
	char line[256];

	rig_make(&r, blocks, gaps_ns, 1);
	unlink(r.path);
	ok_int(causal_runs(&(struct causal_run){ &r.plan, r.path, 0, NULL }, 1, &out, &err),
	       -ENOENT);
	snprintf(line, sizeof(line), "%s: No such file or directory", r.path);
	ok_str(err.line, line);
	causal_result_release(&out);
	rig_release(&r);
}

static const struct tap_test tests[] = {
	{ "all of a plan are sent", all_are_sent },
	{ "a flush takes its time, and what follows waits for it",
	  a_flush_takes_its_time_and_what_follows_waits_for_it },
	{ "a request that comes back short is named", short_ones_are_named },
	{ "the end of the duration waits for no request's time", the_end_does_not_wait },
	{ "more lanes than threads may be are refused", too_many_lanes_are_refused },
	{ "a target that is not there is named", missing_targets_are_named },
};

int main(void)
{
	if (!access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 0);
	return tap_run(tests, TAP_NR(tests));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The source on a kernel of files. */
#include <errno.h>
#include <inttypes.h>
#include <linux/blktrace_api.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/source/blktrace/source_blktrace.h"
#include "tests/support/blktrace_make.h"
#include "tests/support/fake_blktrace.h"
#include "tests/support/tap.h"

/* ---- a poll that is held up ---- */

/* Time moves on by so much before the kernel's counter of dropped events is read, once. */
static uint64_t held_up_ns, ahead_ns;

int __real_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out);
ssize_t __real_pread(int fd, void *buffer, size_t nr, off_t offset);
ssize_t __wrap_pread(int fd, void *buffer, size_t nr, off_t offset);

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	int ret = __real_clock_gettime(clock, out);
	uint64_t ns = (uint64_t)out->tv_nsec + ahead_ns;

	out->tv_sec += (time_t)(ns / 1000000000);
	out->tv_nsec = (long)(ns % 1000000000);
	return ret;
}

ssize_t __wrap_pread(int fd, void *buffer, size_t nr, off_t offset)
{
	ahead_ns += held_up_ns;
	held_up_ns = 0;
	return __real_pread(fd, buffer, nr, offset);
}

/*
 * A request begins after the beginning of the poll, and its end is dropped before the poll has
 * found that the ring was full. It is a request without an end, and not also one that was lost.
 */
static void dropped_while_polled(void)
{
	struct source_sink sink;
	char folder[FAKE_PATH + 32];
	struct source *s;
	struct fake_blktrace k;

	fake_blktrace_init(&k);
	sink = fake_sink(&k);
	s = fake_open_source(&k);
	fake_request(&k, 0, 0, 8);
	fake_event(&k, 0, FAKE_AGO_NS + 3900000000, FAKE_G, FAKE_WRITE, 4800, 4096);
	fake_event(&k, 0, FAKE_AGO_NS + 3900000001, FAKE_D, FAKE_WRITE, 4800, 4096);
	snprintf(folder, sizeof(folder), "%.200s/block/sda", k.debugfs);
	fake_file(folder, "dropped", "9\n"); /* the end, and all of two more */
	k.completed += 3;
	held_up_ns = 4000000000;
	ok_int(source_blktrace.poll(s, &sink), 1);
	source_blktrace.poll(s, &sink); /* too early to say that the request has ended */
	ok_eq(k.nr, 1);
	ahead_ns += 2000000000;
	source_blktrace.poll(s, &sink);
	ok_eq(k.nr, 2);
	ok(k.r[1].flags & REQUEST_NO_COMPLETION);
	ok_eq(k.lost[LOSS_KERNEL], 2);
	source_blktrace.close(s, &sink);
	ok_eq(k.completed, k.nr + k.lost[LOSS_KERNEL]);
	fake_blktrace_release(&k);
	ahead_ns = 0;
}

/* ---- */

static void merged(void)
{
	struct source_sink sink;
	struct source *s;
	struct fake_blktrace k;
	char task[64];

	fake_blktrace_init(&k);
	sink = fake_sink(&k);
	s = fake_open_source(&k);
	ok_str(k.log, "setup start ");
	fake_event(&k, 0, 10, FAKE_G, FAKE_READ, 64, 4096);
	fake_event(&k, 0, 15, FAKE_D, FAKE_READ, 64, 4096);
	fake_event(&k, 0, 40, FAKE_G, FAKE_READ, 64, 4096);
	fake_event(&k, 1, 30, FAKE_C, FAKE_READ, 64,
		   4096); /* it ends on another CPU, before the next begins */
	fake_event(&k, 1, 60, FAKE_C, FAKE_READ, 64, 4096);
	fake_event(&k, 0, 50, FAKE_D, FAKE_READ, 64, 4096);
	ok_int(source_blktrace.poll(s, &sink), sysconf(_SC_NPROCESSORS_CONF) > 1 ? 2 : 0);
	if (k.nr == 2) {
		ok_eq(k.r[0].arrival_ns, k.base_ns + 10);
		ok_eq(k.r[0].dispatch_ns, k.base_ns + 15);
		ok_eq(k.r[0].completion_ns, k.base_ns + 30);
		ok_eq(k.r[1].arrival_ns, k.base_ns + 40);
		ok_eq(k.r[1].completion_ns, k.base_ns + 60);
		ok_eq(k.r[0].tid, (uint32_t)getpid());
		ok_eq(k.r[0].source, SOURCE_BLKTRACE);
	}
	snprintf(task, sizeof(task), "1 1 %.15s 0;", program_invocation_short_name);
	ok_str(k.tasks, task);
	/* What is told as of a time to come waits for it. */
	k.base_ns += FAKE_AGO_NS + 1000000000;
	fake_event(&k, 0, 0, FAKE_G, FAKE_READ, 8, 4096);
	ok_int(source_blktrace.poll(s, &sink), 0);
	source_blktrace.close(s, &sink);
	ok_str(k.log, "setup start stop stop teardown ");
	ok(!k.is_set_up);
	for (int i = 0; i < NR_LOSS_CAUSES; i++)
		ok_eq(k.lost[i], 0);
	fake_blktrace_release(&k);
}

static void version_8(void)
{
	struct source_sink sink;
	struct source *s;
	struct fake_blktrace k;

	fake_blktrace_init(&k);
	sink = fake_sink(&k);
	k.is_v8 = true;
	s = fake_open_source(&k);
	fake_event(&k, 0, 1, FAKE_G, FAKE_WRITE | 1 << 22, 64, 1 << 20);
	fake_event(&k, 0, 2, FAKE_D, FAKE_WRITE | 1 << 22, 64, 1 << 20);
	fake_event(&k, 0, 3, FAKE_C, FAKE_WRITE | 1 << 22, 64, 1 << 20);
	ok_int(source_blktrace.poll(s, &sink), 1);
	ok_eq(k.r[0].operation, OPERATION_OTHER); /* write zeroes */
	source_blktrace.close(s, &sink);
	fake_blktrace_release(&k);
}

/* Of ten requests, all four events of two and the end of a third find no room. */
static void put_ten_of_which_two_are_lost(struct fake_blktrace *k)
{
	for (uint64_t i = 0; i < 6; i++)
		fake_request(k, 0, 100 * i, 8 * i);
	fake_event(k, 0, 601, FAKE_G, FAKE_WRITE, 4800, 4096);
	fake_event(k, 0, 602, FAKE_D, FAKE_WRITE, 4800, 4096);
	k->sequence[0] += 1 + 8;
	k->completed += 3;
	fake_request(k, 0, 700, 8);
}

static void lost_by_count(void)
{
	struct source_sink sink;
	struct source *s;
	struct fake_blktrace k;

	fake_blktrace_init(&k);
	sink = fake_sink(&k);
	k.completed = 1000;
	s = fake_open_source(&k);
	put_ten_of_which_two_are_lost(&k);
	ok_int(source_blktrace.poll(s, &sink), 7);
	source_blktrace.close(s, &sink);
	ok_eq(k.nr, 8);
	ok_eq(k.r[7].sector, 4800);
	ok(k.r[7].flags & REQUEST_NO_COMPLETION);
	ok_eq(k.lost[LOSS_KERNEL], 2);
	ok_eq(k.completed - 1000, k.nr + k.lost[LOSS_KERNEL]);
	fake_blktrace_release(&k);
}

/* While it runs: the loss is told once, and not again. */
static void lost_while_running(void)
{
	const struct timespec second = { 1, 50000000 };
	struct source_sink sink;
	struct source *s;
	struct fake_blktrace k;

	fake_blktrace_init(&k);
	sink = fake_sink(&k);
	s = fake_open_source(&k);
	put_ten_of_which_two_are_lost(&k);
	source_blktrace.poll(s, &sink);
	ok_eq(k.lost[LOSS_KERNEL], 0);
	nanosleep(&second, NULL);
	source_blktrace.poll(s, &sink);
	ok_eq(k.lost[LOSS_KERNEL], 2);
	ok_eq(k.nr, 8);
	k.base_ns += 1000;
	fake_request(&k, 0, 0, 8);
	source_blktrace.poll(s, &sink);
	source_blktrace.close(s, &sink);
	ok_eq(k.lost[LOSS_KERNEL], 2);
	ok_eq(k.completed, k.nr + k.lost[LOSS_KERNEL]);
	fake_blktrace_release(&k);
}

/* The last events of all were dropped: no later number tells, the kernel's count does. */
static void dropped_at_the_end(void)
{
	struct source_sink sink;
	char folder[FAKE_PATH + 32];
	struct source *s;
	struct fake_blktrace k;

	fake_blktrace_init(&k);
	sink = fake_sink(&k);
	s = fake_open_source(&k);
	fake_request(&k, 0, 0, 8);
	k.completed += 5;
	snprintf(folder, sizeof(folder), "%.200s/block/sda", k.debugfs);
	fake_file(folder, "dropped", "20\n");
	source_blktrace.poll(s, &sink);
	source_blktrace.close(s, &sink);
	ok_eq(k.nr, 1);
	ok_eq(k.lost[LOSS_KERNEL], 5);
	fake_blktrace_release(&k);
}

/* iostats off: by the events missed, and how many a request takes. */
static void lost_without_counts(void)
{
	struct source_sink sink;
	struct source *s;
	struct fake_blktrace k;

	fake_blktrace_init(&k);
	sink = fake_sink(&k);
	k.has_no_counts = true;
	s = fake_open_source(&k);
	for (uint64_t i = 0; i < 10; i++)
		fake_request(&k, 0, 100 * i, 8 * i);
	k.sequence[0] += 20;
	fake_request(&k, 0, 2000, 8);
	source_blktrace.poll(s, &sink);
	source_blktrace.close(s, &sink);
	ok_eq(k.nr, 11);
	ok_eq(k.lost[LOSS_KERNEL], 5);
	fake_blktrace_release(&k);
}

/* channel and fabric latency of two commands, and one in error */
static void put_zfcp(struct fake_blktrace *k, uint16_t flags, uint64_t channel_ns,
		     uint64_t fabric_ns)
{
	bool be = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct made_record made = { .version = 7,
				    .is_big_endian = be,
				    .sequence = ++k->sequence[0],
				    .time_ns = k->base_ns + k->sequence[0],
				    .action = 17 | 1ull << 30,
				    .data_bytes = 24 };
	uint8_t data[24] = { 0 }, record[128];
	char path[FAKE_PATH + 64];
	FILE *f;

	blktrace_make_number(data, 4, 1, be);
	blktrace_make_number(data + 4, 2, flags, be);
	data[7] = 9;
	blktrace_make_number(data + 8, 8, channel_ns, be);
	blktrace_make_number(data + 16, 8, fabric_ns, be);
	made.data = data;
	snprintf(path, sizeof(path), "%.200s/block/sda/trace0", k->debugfs);
	f = fopen(path, "a");
	if (f) {
		fwrite(record, 1, blktrace_make(&made, record), f);
		fclose(f);
	}
}

static void zfcp(void)
{
	struct profile profile;
	struct source_sink sink;
	struct source *s;
	struct fake_blktrace k;

	fake_blktrace_init(&k);
	sink = fake_sink(&k);
	profile_init(&profile);
	s = fake_open_source(&k);
	ok_int(source_blktrace.detail(s, FAKE_DISK, &profile), 0);
	ok(!profile.source_detail);
	put_zfcp(&k, 1, 10000, 300000);
	put_zfcp(&k, 1, 20000, 500000);
	put_zfcp(&k, 2, 0, 0);
	put_zfcp(&k, 0, 0, 0);
	ok_int(source_blktrace.poll(s, &sink), 0);
	ok_int(source_blktrace.detail(s, device_make(8, 16), &profile), 0);
	ok(!profile.source_detail);
	ok_int(source_blktrace.detail(s, FAKE_DISK, &profile), 0);
	ok(profile.source_detail &&
	   strstr(profile.source_detail,
		  "\"commands\":4,\"errors\":1,\"unmeasured\":1,"
		  "\"outbound_max\":9,\"channel\":{\"count\":2,\"mean_s\":1.5"));
	ok(profile.source_detail && strstr(profile.source_detail, "\"fabric\":{\"count\":2,"));
	ok(profile.source_detail && strstr(profile.source_detail, "\"max_s\":0.0005"));
	profile_release(&profile);
	profile_init(&profile);
	ok_int(source_blktrace.detail(s, FAKE_DISK, &profile), 0);
	ok(!profile.source_detail); /* the next window begins with nothing */
	profile_release(&profile);
	source_blktrace.close(s, &sink);
	fake_blktrace_release(&k);
}

/* ---- what stands in the way ---- */

static void refused(struct fake_blktrace *k, int code, const char *line, const char *log)
{
	const uint32_t device = FAKE_DISK;
	const struct source_config config = { .devices = &device, .nr_devices = 1 };
	struct source *s = NULL;
	struct err err = { 0 };

	k->log[0] = 0;
	ok_int(source_blktrace_open_on(&s, &config, &k->kernel, &err), -code);
	ok(!s);
	ok_str(err.line, line);
	ok_str(k->log, log);
}

static void busy(void)
{
	struct fake_blktrace k;
	uint64_t mark;

	fake_blktrace_init(&k);
	fake_mark(&k, UINT64_MAX); /* what blktrace itself leaves there */
	refused(&k, EBUSY,
		"blktrace: sda is traced by somebody else (blktrace -k -d /dev/sda ends a trace "
		"that was forgotten)",
		"");
	fake_mark(&k, 0);
	k.is_busy = true; /* it came in between */
	refused(&k, EBUSY,
		"blktrace: sda is traced by somebody else (blktrace -k -d /dev/sda ends a trace "
		"that was forgotten)",
		"setup ");
	k.is_busy = false;
	source_blktrace.close(fake_open_source(&k), NULL);

	/* An agent's own, which lives. */
	k.agent_is_alive = true;
	mark = 0xb1ca57ull << 40 | 77;
	fake_mark(&k, mark);
	refused(&k, EBUSY, "blktrace: sda is traced by another blkcast-agent, pid 77", "");
	fake_blktrace_release(&k);
}

static void left_behind(void)
{
	struct source *s;
	struct fake_blktrace k;
	struct stat st;

	fake_blktrace_init(&k);
	ok_int(stat("/proc/self/ns/pid", &st), 0);
	fake_mark(&k, 0xb1ca57ull << 40 | (st.st_ino & 0xffff) << 24 | 77);
	k.is_busy = true;
	s = fake_open_source(&k);
	ok_str(k.log, "setup stop teardown setup start ");
	source_blktrace.close(s, NULL);
	ok(!k.is_set_up);
	fake_blktrace_release(&k);
}

static void half_way(void)
{
	struct fake_blktrace k;
	char path[FAKE_PATH + 64];

	fake_blktrace_init(&k);
	k.refuses_start = true;
	refused(&k, EINVAL, "blktrace: sda cannot be started: Invalid argument",
		"setup start stop teardown ");
	ok(!k.is_set_up);
	k.refuses_start = false;
	k.has_no_files = true;
	snprintf(path, sizeof(path), "%.200s/block/sda/trace0", k.debugfs);
	unlink(path);
	snprintf(path, sizeof(path), "%.200s/block/sda/trace1", k.debugfs);
	unlink(path);
	k.log[0] = 0;
	{
		char line[ERR_LINE_BYTES];

		snprintf(line, sizeof(line), "blktrace: %.200s/block/sda/trace0: %s", k.debugfs,
			 strerror(ENOENT));
		refused(&k, ENOENT, line, "setup stop teardown ");
	}
	k.is_gone = true;
	refused(&k, ENODEV, "blktrace: /dev/sda: No such device", "");
	snprintf(path, sizeof(path), "%.200s/8:0/mq", k.sysfs);
	rmdir(path);
	refused(&k, ENOTSUP,
		"blktrace: sda passes I/O on to other devices and has no requests of its own: trace "
		"those",
		"");
	snprintf(path, sizeof(path), "%.200s/8:0/trace/end_lba", k.sysfs);
	unlink(path);
	refused(&k, ENOTSUP, "blktrace: this kernel cannot trace sda (CONFIG_BLK_DEV_IO_TRACE)",
		"");
	fake_blktrace_release(&k);
}

static void not_for_all(void)
{
	const struct source_cgroup cgroup = { .id = 1 };
	struct source_config config = { .cgroups = &cgroup, .nr_cgroups = 1 };
	struct err err = { 0 };
	struct source *s;
	struct fake_blktrace k;

	fake_blktrace_init(&k);
	ok_int(source_blktrace_open_on(&s, &config, &k.kernel, &err), -ENOTSUP);
	ok_str(err.line, "blktrace: knows no cgroups: leave out cgroup, or take source bpf");
	config = (struct source_config){ .layer = LAYER_QUEUE };
	ok_int(source_blktrace_open_on(&s, &config, &k.kernel, &err), -ENOTSUP);
	ok_str(err.line, "blktrace: knows layer device alone: take source bpf");
	fake_blktrace_release(&k);
}

static const struct tap_test tests[] = {
	{ "events of several CPUs become requests in order of time", merged },
	{ "where the kernel has version 8, write zeroes are no writes", version_8 },
	{ "the kernel's count tells how many requests missing events cost", lost_by_count },
	{ "losses are told while it runs, once", lost_while_running },
	{ "what is dropped at the end is lost too", dropped_at_the_end },
	{ "what is dropped during a long poll is counted once", dropped_while_polled },
	{ "without the kernel's count, losses are told by events", lost_without_counts },
	{ "a window's channel and fabric latencies are in its profile", zfcp },
	{ "a disk that somebody traces is refused, and left alone", busy },
	{ "a trace that a killed agent left is cleared", left_behind },
	{ "a failure half way leaves nothing behind", half_way },
	{ "what it cannot do it says", not_for_all },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The source on a kernel of files: what the ioctls do, and what the CPUs' files hold, is made here. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/blktrace_api.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/source_blktrace.h"
#include "tests/slow/blktrace_make.h"
#include "tests/tap.h"

#define DISK	 device_make(8, 0)
#define SETUP2	 _IOWR(0x12, 142, char[192])
#define NR_MAX	 64
#define PATH_LEN 256
#define LATER_NS 5000000000ull /* how long ago all events were */

enum { Q = 1, M, F, G, S, R, D, C };

struct fake {
	char root[64], log[256]; /* what was asked of the kernel */
	char debugfs[PATH_LEN], sysfs[PATH_LEN];
	struct blktrace_kernel kernel;
	bool is_set_up, is_busy, is_v8, refuses_start, has_no_files;
	bool agent_is_alive, has_no_counts, is_gone;
	uint64_t completed;
	int64_t in_flight;
	uint32_t sequence[2];
	uint64_t base_ns;

	struct request r[NR_MAX];
	size_t nr;
	uint64_t lost[NR_LOSS_CAUSES];
	char tasks[256];
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void __attribute__((format(printf, 3, 4)))
put_file(const char *folder, const char *name, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	va_start(ap, fmt);
	if (f)
		vfprintf(f, fmt, ap);
	va_end(ap);
	if (f)
		fclose(f);
}

static void set_mark(struct fake *k, uint64_t end_lba)
{
	char folder[PATH_LEN + 32];

	snprintf(folder, sizeof(folder), "%.200s/8:0/trace", k->sysfs);
	if (end_lba)
		put_file(folder, "end_lba", "%" PRIu64 "\n", end_lba);
	else
		put_file(folder, "end_lba", "disabled\n");
}

static void note(struct fake *k, const char *what)
{
	size_t len = strlen(k->log);

	snprintf(k->log + len, sizeof(k->log) - len, "%s ", what);
}

static int fake_open(void *ctx, uint32_t device, const char *name)
{
	struct fake *k = ctx;

	(void)device, (void)name;
	return k->is_gone ? -ENODEV : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int fake_set_up(struct fake *k, char *name, uint64_t mark)
{
	char folder[PATH_LEN + 32];

	note(k, "setup");
	if (k->is_busy)
		return -EBUSY;
	memcpy(name, "sda", sizeof("sda"));
	snprintf(folder, sizeof(folder), "%.200s/block/sda", k->debugfs);
	if (!k->has_no_files) {
		put_file(folder, "trace0", "%s", "");
		put_file(folder, "trace1", "%s", "");
	}
	put_file(folder, "dropped", "0\n");
	set_mark(k, mark);
	k->is_set_up = true;
	return 0;
}

static int fake_control(void *ctx, int fd, unsigned long request, void *arg)
{
	struct fake *k = ctx;
	uint64_t mark;

	(void)fd;
	switch (request) {
	case SETUP2:
		memcpy(&mark, (char *)arg + 88, sizeof(mark));
		return k->is_v8 ? fake_set_up(k, arg, mark) : -ENOTTY;
	case BLKTRACESETUP:
		return fake_set_up(k, arg, ((struct blk_user_trace_setup *)arg)->end_lba);
	case BLKTRACESTART:
		note(k, "start");
		return k->refuses_start ? -EINVAL : 0;
	case BLKTRACESTOP:
		note(k, "stop");
		return 0;
	case BLKTRACETEARDOWN:
		note(k, "teardown");
		k->is_set_up = k->is_busy = false;
		set_mark(k, 0);
		return 0;
	default:
		return -ENOTTY;
	}
}

static int fake_completed(void *ctx, uint32_t device, uint64_t *out)
{
	struct fake *k = ctx;

	(void)device;
	*out = k->completed;
	return k->has_no_counts ? -ENODATA : 0;
}

static int64_t fake_in_flight(void *ctx, uint32_t device)
{
	(void)device;
	return ((struct fake *)ctx)->in_flight;
}

static int fake_list(int (*each)(void *ctx, const struct device_info *info), void *ctx)
{
	const struct device_info info = {
		.device = DISK, .disk = DISK, .name = "sda", .size_bytes = 1 << 30
	};

	return each(ctx, &info);
}

static bool fake_is_alive(void *ctx, uint32_t pid)
{
	(void)pid;
	return ((struct fake *)ctx)->agent_is_alive;
}

static void fake_init(struct fake *k)
{
	static const char *const folders[] = {
		"",	"/debugfs", "/debugfs/block", "/debugfs/block/sda",
		"/dev", "/dev/8:0", "/dev/8:0/mq",    "/dev/8:0/trace"
	};

	memset(k, 0, sizeof(*k));
	snprintf(k->root, sizeof(k->root), "/tmp/blkcast-test.XXXXXX");
	ok(mkdtemp(k->root) != NULL);
	for (size_t i = 1; i < TAP_NR(folders); i++) {
		char path[PATH_LEN];

		snprintf(path, sizeof(path), "%s%s", k->root, folders[i]);
		mkdir(path, 0700);
	}
	snprintf(k->debugfs, sizeof(k->debugfs), "%s/debugfs", k->root);
	snprintf(k->sysfs, sizeof(k->sysfs), "%s/dev", k->root);
	k->kernel = (struct blktrace_kernel){ .debugfs = k->debugfs,
					      .sysfs_dev = k->sysfs,
					      .open_disk = fake_open,
					      .control = fake_control,
					      .completed = fake_completed,
					      .in_flight = fake_in_flight,
					      .list = fake_list,
					      .is_alive = fake_is_alive,
					      .ctx = k };
	k->base_ns = now_ns() - LATER_NS;
	set_mark(k, 0);
}

static void fake_release(struct fake *k)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", k->root);
	ok_int(system(command), 0);
}

/* An event at base + time, on a CPU; bits: the categories besides that of the action. */
static void put_event(struct fake *k, int cpu, uint64_t time, uint32_t action, uint64_t bits,
		      uint64_t sector, uint32_t bytes)
{
	struct made_record made = { .version = k->is_v8 ? 8 : 7,
				    .sequence = ++k->sequence[cpu],
				    .bytes = bytes,
				    .tid = action == C ? 0 : (uint32_t)getpid(),
				    .device = DISK,
				    .cpu = (uint32_t)cpu,
				    .time_ns = k->base_ns + time,
				    .sector = sector,
				    .action = action | bits << 16 };
	char path[PATH_LEN + 64];
	uint8_t record[64];
	FILE *f;

	made.is_big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	snprintf(path, sizeof(path), "%.200s/block/sda/trace%d", k->debugfs, cpu);
	f = fopen(path, "a");
	if (f) {
		fwrite(record, 1, blktrace_make(&made, record), f);
		fclose(f);
	}
}

#define WRITE 2u
#define READ  1u

static void put_request(struct fake *k, int cpu, uint64_t time, uint64_t sector)
{
	put_event(k, cpu, time, Q, WRITE, sector, 4096);
	put_event(k, cpu, time + 1, G, WRITE, sector, 4096);
	put_event(k, cpu, time + 5, D, WRITE, sector, 4096);
	put_event(k, cpu, time + 20, C, WRITE, sector, 4096);
	k->completed++;
}

static void on_request(void *ctx, const struct request *r)
{
	struct fake *k = ctx;

	ok(!request_check(r));
	if (k->nr < NR_MAX)
		k->r[k->nr++] = *r;
}

static void on_task(void *ctx, uint32_t tid, uint32_t pid, const char *comm, bool kernel_thread)
{
	struct fake *k = ctx;
	size_t len = strlen(k->tasks);

	snprintf(k->tasks + len, sizeof(k->tasks) - len, "%d %d %s %d;", tid == (uint32_t)getpid(),
		 pid == (uint32_t)getpid(), comm, kernel_thread);
}

static void on_lost(void *ctx, enum loss_cause cause, uint64_t nr, uint32_t device)
{
	ok_eq(device, DISK);
	((struct fake *)ctx)->lost[cause] += nr;
}

static struct source_sink sink_of(struct fake *k)
{
	return (struct source_sink){ on_request, on_task, on_lost, k };
}

static struct source *open_source(struct fake *k)
{
	const uint32_t device = DISK;
	const struct source_config config = { .devices = &device, .nr_devices = 1 };
	struct err err = { 0 };
	struct source *s = NULL;

	ok_int(source_blktrace_open_on(&s, &config, &k->kernel, &err), 0);
	ok_str(err.line, "");
	if (!s)
		tap_skip(NULL, err.line);
	return s;
}

/* ---- */

static void merged(void)
{
	struct source_sink sink;
	struct source *s;
	struct fake k;
	char task[64];

	fake_init(&k);
	sink = sink_of(&k);
	s = open_source(&k);
	ok_str(k.log, "setup start ");
	put_event(&k, 0, 10, G, READ, 64, 4096);
	put_event(&k, 0, 15, D, READ, 64, 4096);
	put_event(&k, 0, 40, G, READ, 64, 4096);
	put_event(&k, 1, 30, C, READ, 64,
		  4096); /* it ends on another CPU, before the next begins */
	put_event(&k, 1, 60, C, READ, 64, 4096);
	put_event(&k, 0, 50, D, READ, 64, 4096);
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
	k.base_ns = now_ns() + 1000000000;
	put_event(&k, 0, 0, G, READ, 8, 4096);
	ok_int(source_blktrace.poll(s, &sink), 0);
	source_blktrace.close(s, &sink);
	ok_str(k.log, "setup start stop stop teardown ");
	ok(!k.is_set_up);
	for (int i = 0; i < NR_LOSS_CAUSES; i++)
		ok_eq(k.lost[i], 0);
	fake_release(&k);
}

static void version_8(void)
{
	struct source_sink sink;
	struct source *s;
	struct fake k;

	fake_init(&k);
	sink = sink_of(&k);
	k.is_v8 = true;
	s = open_source(&k);
	put_event(&k, 0, 1, G, WRITE | 1 << 22, 64, 1 << 20);
	put_event(&k, 0, 2, D, WRITE | 1 << 22, 64, 1 << 20);
	put_event(&k, 0, 3, C, WRITE | 1 << 22, 64, 1 << 20);
	ok_int(source_blktrace.poll(s, &sink), 1);
	ok_eq(k.r[0].operation, OPERATION_OTHER); /* write zeroes */
	source_blktrace.close(s, &sink);
	fake_release(&k);
}

/* Of ten requests, all four events of two and the end of a third find no room. */
static void put_ten_of_which_two_are_lost(struct fake *k)
{
	for (uint64_t i = 0; i < 6; i++)
		put_request(k, 0, 100 * i, 8 * i);
	put_event(k, 0, 601, G, WRITE, 4800, 4096);
	put_event(k, 0, 602, D, WRITE, 4800, 4096);
	k->sequence[0] += 1 + 8;
	k->completed += 3;
	put_request(k, 0, 700, 8);
}

static void lost_by_count(void)
{
	struct source_sink sink;
	struct source *s;
	struct fake k;

	fake_init(&k);
	sink = sink_of(&k);
	k.completed = 1000;
	s = open_source(&k);
	put_ten_of_which_two_are_lost(&k);
	ok_int(source_blktrace.poll(s, &sink), 7);
	source_blktrace.close(s, &sink);
	ok_eq(k.nr, 8);
	ok_eq(k.r[7].sector, 4800);
	ok(k.r[7].flags & REQUEST_NO_COMPLETION);
	ok_eq(k.lost[LOSS_KERNEL], 2);
	ok_eq(k.completed - 1000, k.nr + k.lost[LOSS_KERNEL]);
	fake_release(&k);
}

/* While it runs: the loss is told once, and not again. */
static void lost_while_running(void)
{
	const struct timespec second = { 1, 50000000 };
	struct source_sink sink;
	struct source *s;
	struct fake k;

	fake_init(&k);
	sink = sink_of(&k);
	s = open_source(&k);
	put_ten_of_which_two_are_lost(&k);
	source_blktrace.poll(s, &sink);
	ok_eq(k.lost[LOSS_KERNEL], 0);
	nanosleep(&second, NULL);
	source_blktrace.poll(s, &sink);
	ok_eq(k.lost[LOSS_KERNEL], 2);
	ok_eq(k.nr, 8);
	k.base_ns += 1000;
	put_request(&k, 0, 0, 8);
	source_blktrace.poll(s, &sink);
	source_blktrace.close(s, &sink);
	ok_eq(k.lost[LOSS_KERNEL], 2);
	ok_eq(k.completed, k.nr + k.lost[LOSS_KERNEL]);
	fake_release(&k);
}

/* The last events of all were dropped: no later number tells, the kernel's count does. */
static void dropped_at_the_end(void)
{
	struct source_sink sink;
	char folder[PATH_LEN + 32];
	struct source *s;
	struct fake k;

	fake_init(&k);
	sink = sink_of(&k);
	s = open_source(&k);
	put_request(&k, 0, 0, 8);
	k.completed += 5;
	snprintf(folder, sizeof(folder), "%.200s/block/sda", k.debugfs);
	put_file(folder, "dropped", "20\n");
	source_blktrace.poll(s, &sink);
	source_blktrace.close(s, &sink);
	ok_eq(k.nr, 1);
	ok_eq(k.lost[LOSS_KERNEL], 5);
	fake_release(&k);
}

/* iostats off: by the events missed, and how many a request takes. */
static void lost_without_counts(void)
{
	struct source_sink sink;
	struct source *s;
	struct fake k;

	fake_init(&k);
	sink = sink_of(&k);
	k.has_no_counts = true;
	s = open_source(&k);
	for (uint64_t i = 0; i < 10; i++)
		put_request(&k, 0, 100 * i, 8 * i);
	k.sequence[0] += 20;
	put_request(&k, 0, 2000, 8);
	source_blktrace.poll(s, &sink);
	source_blktrace.close(s, &sink);
	ok_eq(k.nr, 11);
	ok_eq(k.lost[LOSS_KERNEL], 5);
	fake_release(&k);
}

/* channel and fabric latency of two commands, and one in error */
static void put_zfcp(struct fake *k, uint16_t flags, uint64_t channel_ns, uint64_t fabric_ns)
{
	bool be = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct made_record made = { .version = 7,
				    .is_big_endian = be,
				    .sequence = ++k->sequence[0],
				    .time_ns = k->base_ns + k->sequence[0],
				    .action = 17 | 1ull << 30,
				    .data_bytes = 24 };
	uint8_t data[24] = { 0 }, record[128];
	char path[PATH_LEN + 64];
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
	struct fake k;

	fake_init(&k);
	sink = sink_of(&k);
	profile_init(&profile);
	s = open_source(&k);
	ok_int(source_blktrace.detail(s, DISK, &profile), 0);
	ok(!profile.source_detail);
	put_zfcp(&k, 1, 10000, 300000);
	put_zfcp(&k, 1, 20000, 500000);
	put_zfcp(&k, 2, 0, 0);
	put_zfcp(&k, 0, 0, 0);
	ok_int(source_blktrace.poll(s, &sink), 0);
	ok_int(source_blktrace.detail(s, device_make(8, 16), &profile), 0);
	ok(!profile.source_detail);
	ok_int(source_blktrace.detail(s, DISK, &profile), 0);
	ok(profile.source_detail &&
	   strstr(profile.source_detail,
		  "\"commands\":4,\"errors\":1,\"unmeasured\":1,"
		  "\"outbound_max\":9,\"channel\":{\"count\":2,\"mean_s\":1.5"));
	ok(profile.source_detail && strstr(profile.source_detail, "\"fabric\":{\"count\":2,"));
	ok(profile.source_detail && strstr(profile.source_detail, "\"max_s\":0.0005"));
	profile_release(&profile);
	profile_init(&profile);
	ok_int(source_blktrace.detail(s, DISK, &profile), 0);
	ok(!profile.source_detail); /* the next window begins with nothing */
	profile_release(&profile);
	source_blktrace.close(s, &sink);
	fake_release(&k);
}

/* ---- what stands in the way ---- */

static void refused(struct fake *k, int code, const char *line, const char *log)
{
	const uint32_t device = DISK;
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
	struct fake k;
	uint64_t mark;

	fake_init(&k);
	set_mark(&k, UINT64_MAX); /* what blktrace itself leaves there */
	refused(&k, EBUSY,
		"blktrace: sda is traced by somebody else (blktrace -k -d /dev/sda ends a trace "
		"that was forgotten)",
		"");
	set_mark(&k, 0);
	k.is_busy = true; /* it came in between */
	refused(&k, EBUSY,
		"blktrace: sda is traced by somebody else (blktrace -k -d /dev/sda ends a trace "
		"that was forgotten)",
		"setup ");
	k.is_busy = false;
	source_blktrace.close(open_source(&k), NULL);

	/* An agent's own, which lives. */
	k.agent_is_alive = true;
	mark = 0xb1ca57ull << 40 | 77;
	set_mark(&k, mark);
	refused(&k, EBUSY, "blktrace: sda is traced by another blkcast-agent, pid 77", "");
	fake_release(&k);
}

static void left_behind(void)
{
	struct source *s;
	struct fake k;
	struct stat st;

	fake_init(&k);
	ok_int(stat("/proc/self/ns/pid", &st), 0);
	set_mark(&k, 0xb1ca57ull << 40 | (st.st_ino & 0xffff) << 24 | 77);
	k.is_busy = true;
	s = open_source(&k);
	ok_str(k.log, "setup stop teardown setup start ");
	source_blktrace.close(s, NULL);
	ok(!k.is_set_up);
	fake_release(&k);
}

static void half_way(void)
{
	struct fake k;
	char path[PATH_LEN + 64];

	fake_init(&k);
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
	fake_release(&k);
}

static void not_for_all(void)
{
	const struct source_cgroup cgroup = { .id = 1 };
	struct source_config config = { .cgroups = &cgroup, .nr_cgroups = 1 };
	struct err err = { 0 };
	struct source *s;
	struct fake k;

	fake_init(&k);
	ok_int(source_blktrace_open_on(&s, &config, &k.kernel, &err), -ENOTSUP);
	ok_str(err.line, "blktrace: knows no cgroups: leave out cgroup, or take source bpf");
	config = (struct source_config){ .layer = LAYER_QUEUE };
	ok_int(source_blktrace_open_on(&s, &config, &k.kernel, &err), -ENOTSUP);
	ok_str(err.line, "blktrace: knows layer device alone: take source bpf");
	fake_release(&k);
}

static const struct tap_test tests[] = {
	{ "events of several CPUs become requests in order of time", merged },
	{ "where the kernel has version 8, write zeroes are no writes", version_8 },
	{ "the kernel's count tells how many requests missing events cost", lost_by_count },
	{ "losses are told while it runs, once", lost_while_running },
	{ "what is dropped at the end is lost too", dropped_at_the_end },
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

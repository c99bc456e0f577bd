/* SPDX-License-Identifier: Apache-2.0 */
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

#include "tests/support/blktrace_make.h"
#include "tests/support/fake_blktrace.h"
#include "tests/support/tap.h"

#define SETUP2 _IOWR(0x12, 142, char[192])

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void fake_file(const char *folder, const char *name, const char *fmt, ...)
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

void fake_mark(struct fake_blktrace *k, uint64_t end_lba)
{
	char folder[FAKE_PATH + 32];

	snprintf(folder, sizeof(folder), "%.200s/8:0/trace", k->sysfs);
	if (end_lba)
		fake_file(folder, "end_lba", "%" PRIu64 "\n", end_lba);
	else
		fake_file(folder, "end_lba", "disabled\n");
}

static void note(struct fake_blktrace *k, const char *what)
{
	size_t len = strlen(k->log);

	snprintf(k->log + len, sizeof(k->log) - len, "%s ", what);
}

static int fake_open(void *ctx, uint32_t device, const char *name)
{
	struct fake_blktrace *k = ctx;

	(void)device, (void)name;
	return k->is_gone ? -ENODEV : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int fake_set_up(struct fake_blktrace *k, char *name, uint64_t mark)
{
	char folder[FAKE_PATH + 32];

	note(k, "setup");
	if (k->is_busy)
		return -EBUSY;
	memcpy(name, "sda", sizeof("sda"));
	snprintf(folder, sizeof(folder), "%.200s/block/sda", k->debugfs);
	if (!k->has_no_files) {
		fake_file(folder, "trace0", "%s", "");
		fake_file(folder, "trace1", "%s", "");
	}
	fake_file(folder, "dropped", "0\n");
	fake_mark(k, mark);
	k->is_set_up = true;
	return 0;
}

static int fake_control(void *ctx, int fd, unsigned long request, void *arg)
{
	struct fake_blktrace *k = ctx;
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
		fake_mark(k, 0);
		return 0;
	default:
		return -ENOTTY;
	}
}

static int fake_completed(void *ctx, uint32_t device, uint64_t *out)
{
	struct fake_blktrace *k = ctx;

	(void)device;
	*out = k->completed;
	return k->has_no_counts ? -ENODATA : 0;
}

static int64_t fake_in_flight(void *ctx, uint32_t device)
{
	(void)device;
	return ((struct fake_blktrace *)ctx)->in_flight;
}

static int fake_list(int (*each)(void *ctx, const struct device_info *info), void *ctx)
{
	const struct device_info info = {
		.device = FAKE_DISK, .disk = FAKE_DISK, .name = "sda", .size_bytes = 1 << 30
	};

	return each(ctx, &info);
}

static bool fake_is_alive(void *ctx, uint32_t pid)
{
	(void)pid;
	return ((struct fake_blktrace *)ctx)->agent_is_alive;
}

void fake_blktrace_init(struct fake_blktrace *k)
{
	static const char *const folders[] = {
		"",	"/debugfs", "/debugfs/block", "/debugfs/block/sda",
		"/dev", "/dev/8:0", "/dev/8:0/mq",    "/dev/8:0/trace"
	};

	memset(k, 0, sizeof(*k));
	snprintf(k->root, sizeof(k->root), "/tmp/blkcast-test.XXXXXX");
	ok(mkdtemp(k->root) != NULL);
	for (size_t i = 1; i < TAP_NR(folders); i++) {
		char path[FAKE_PATH];

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
	k->base_ns = now_ns() - FAKE_AGO_NS;
	fake_mark(k, 0);
}

void fake_blktrace_release(struct fake_blktrace *k)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", k->root);
	ok_int(system(command), 0);
}

void fake_event(struct fake_blktrace *k, int cpu, uint64_t time, uint32_t action, uint64_t bits,
		uint64_t sector, uint32_t bytes)
{
	struct made_record made = { .version = k->is_v8 ? 8 : 7,
				    .sequence = ++k->sequence[cpu],
				    .bytes = bytes,
				    .tid = action == FAKE_C ? 0 : (uint32_t)getpid(),
				    .device = FAKE_DISK,
				    .cpu = (uint32_t)cpu,
				    .time_ns = k->base_ns + time,
				    .sector = sector,
				    .action = action | bits << 16 };
	char path[FAKE_PATH + 64];
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

void fake_request(struct fake_blktrace *k, int cpu, uint64_t time, uint64_t sector)
{
	fake_event(k, cpu, time, FAKE_Q, FAKE_WRITE, sector, 4096);
	fake_event(k, cpu, time + 1, FAKE_G, FAKE_WRITE, sector, 4096);
	fake_event(k, cpu, time + 5, FAKE_D, FAKE_WRITE, sector, 4096);
	fake_event(k, cpu, time + 20, FAKE_C, FAKE_WRITE, sector, 4096);
	k->completed++;
}

static void on_request(void *ctx, const struct request *r)
{
	struct fake_blktrace *k = ctx;

	ok(!request_check(r));
	if (k->nr < FAKE_REQUESTS)
		k->r[k->nr++] = *r;
}

static void on_task(void *ctx, uint32_t tid, uint32_t pid, const char *comm, bool kernel_thread)
{
	struct fake_blktrace *k = ctx;
	size_t len = strlen(k->tasks);

	snprintf(k->tasks + len, sizeof(k->tasks) - len, "%d %d %s %d;", tid == (uint32_t)getpid(),
		 pid == (uint32_t)getpid(), comm, kernel_thread);
}

static void on_lost(void *ctx, enum loss_cause cause, uint64_t nr, uint32_t device)
{
	ok_eq(device, FAKE_DISK);
	((struct fake_blktrace *)ctx)->lost[cause] += nr;
}

struct source_sink fake_sink(struct fake_blktrace *k)
{
	return (struct source_sink){ on_request, on_task, on_lost, NULL, k };
}

struct source *fake_open_source(struct fake_blktrace *k)
{
	const uint32_t device = FAKE_DISK;
	const struct source_config config = { .devices = &device, .nr_devices = 1 };
	struct err err = { 0 };
	struct source *s = NULL;

	ok_int(source_blktrace_open_on(&s, &config, &k->kernel, &err), 0);
	ok_str(err.line, "");
	if (!s)
		abort(); /* The checks above have printed the reason. */
	return s;
}

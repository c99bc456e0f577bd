/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture SECONDS [DEVICE]... [--queue] [--count] [--small-ring] [--cgroup PATH] [--source NAME]
 *	[--poll MS] [--after-shed]
 *
 * What a source (bpf) delivers, as text, with nothing of the agent behind it: a line for each
 * request and each thread's name (none with --count), then one line of totals. Ends after SECONDS
 * or at the first SIGINT or SIGTERM. Rings are so long that other work on the machine costs no
 * request, but with --small-ring. With --after-shed the source has shed requests before it starts.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/guest/device.h"
#include "agent/source/source.h"

#define NR_DEVICES_MAX 32
#define RING_BYTES     ((size_t)16 << 20) /* per CPU: seconds at full speed */

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

struct totals {
	bool count_only;
	uint64_t nr[NR_OPERATIONS], bytes[NR_OPERATIONS], lost, lost_by[NR_LOSS_CAUSES], errors,
		requeues, bad;
	uint64_t kernel_threads, no_issuer, no_dispatch, no_arrival, no_cgroup, tasks;
	double queue_s, total_s;
};

static void totals_add(struct totals *t, const struct request *r)
{
	t->bad += request_check(r) != NULL;
	t->nr[r->operation]++;
	t->bytes[r->operation] += r->bytes;
	t->errors += r->error != 0;
	t->requeues += r->requeues;
	t->kernel_threads += (r->flags & REQUEST_KERNEL_THREAD) != 0;
	t->no_issuer += (r->flags & REQUEST_NO_ISSUER) != 0;
	t->no_dispatch += (r->flags & REQUEST_NO_DISPATCH) != 0;
	t->no_arrival += (r->flags & REQUEST_NO_ARRIVAL) != 0;
	t->no_cgroup += (r->flags & REQUEST_NO_CGROUP) != 0;
	t->queue_s += (double)(r->dispatch_ns - r->arrival_ns) * 1e-9;
	t->total_s += (double)(r->completion_ns - r->arrival_ns) * 1e-9;
}

static void on_request(void *ctx, const struct request *r)
{
	struct totals *t = ctx;

	totals_add(t, r);
	if (t->count_only)
		return;
	printf("request %s sector=%" PRIu64 " bytes=%u device=%u:%u tid=%u pid=%u cgroup=%" PRIu64
	       " flags=0x%x error=%u requeues=%u arrival_ns=%" PRIu64 " queue_ns=%" PRIu64
	       " total_ns=%" PRIu64 "\n",
	       operation_name(r->operation), r->sector, r->bytes, device_major(r->device),
	       device_minor(r->device), r->tid, r->pid, r->cgroup_id, r->flags, r->error,
	       r->requeues, r->arrival_ns, r->dispatch_ns - r->arrival_ns,
	       r->completion_ns - r->arrival_ns);
}

static void on_task(void *ctx, uint32_t tid, uint32_t pid, const char *comm, bool kernel_thread)
{
	struct totals *t = ctx;

	t->tasks++;
	if (!t->count_only)
		printf("task tid=%u pid=%u comm=%s kernel=%d\n", tid, pid, comm, kernel_thread);
}

static void on_lost(void *ctx, enum loss_cause cause, uint64_t nr, uint32_t device)
{
	struct totals *t = ctx;

	(void)device;
	t->lost += nr;
	t->lost_by[cause] += nr;
}

static void totals_print(const struct totals *t, double kernel_cpu_s)
{
	uint64_t all = 0;
	double each;

	for (unsigned int i = 0; i < NR_OPERATIONS; i++) {
		printf("%s=%" PRIu64 " %s_bytes=%" PRIu64 " ", operation_name(i), t->nr[i],
		       operation_name(i), t->bytes[i]);
		all += t->nr[i];
	}
	for (unsigned int i = 0; i < NR_LOSS_CAUSES; i++)
		if (t->lost_by[i])
			printf("lost_%s=%" PRIu64 " ", loss_cause_name(i), t->lost_by[i]);
	each = all ? 1.0 / (double)all : 0;
	printf("all=%" PRIu64 " lost=%" PRIu64 " bad=%" PRIu64 " errors=%" PRIu64
	       " requeues=%" PRIu64 " kernel_threads=%" PRIu64 " no_issuer=%" PRIu64
	       " no_dispatch=%" PRIu64 " no_arrival=%" PRIu64 " no_cgroup=%" PRIu64
	       " tasks=%" PRIu64 " queue_us=%.3f total_us=%.3f kernel_ns=%.1f\n",
	       all, t->lost, t->bad, t->errors, t->requeues, t->kernel_threads, t->no_issuer,
	       t->no_dispatch, t->no_arrival, t->no_cgroup, t->tasks, t->queue_s * 1e6 * each,
	       t->total_s * 1e6 * each, kernel_cpu_s * 1e9 * each);
}

/* A cgroup directory's inode number is its id; its depth counts from the root of its mount. */
static int cgroup_find(const char *path, struct source_cgroup *out)
{
	char at[PATH_MAX];
	struct stat st, up;

	if (strlen(path) + strlen("/..") >= sizeof(at) || stat(path, &st))
		return -ENOENT;
	*out = (struct source_cgroup){ .id = st.st_ino };
	snprintf(at, sizeof(at), "%s", path);
	for (;;) {
		if (strlen(at) + strlen("/..") >= sizeof(at))
			return -ENAMETOOLONG;
		strncat(at, "/..", sizeof(at) - strlen(at) - 1);
		if (stat(at, &up) || up.st_dev != st.st_dev)
			return 0;
		out->level++;
	}
}

static int run(const char *name, double seconds, double poll_s, bool after_shed,
	       const struct source_config *config, struct totals *totals)
{
	const struct source_sink sink = { on_request, on_task, on_lost, NULL, totals };
	const struct timespec pause = { .tv_sec = (time_t)poll_s,
					.tv_nsec =
						(long)((poll_s - (double)(time_t)poll_s) * 1e9) };
	const struct source_ops *ops;
	struct err err = { 0 };
	struct source *s;
	double cpu_s;

	if (source_choose(&ops, name, &err) || ops->open(&s, config, &err) ||
	    (ops->begin && ops->begin(s, &err))) {
		fprintf(stderr, "capture: %s\n", err.line);
		return 2;
	}
	if (after_shed && ops->shed) {
		ops->shed(s, true);
		ops->shed(s, false);
	}
	fprintf(stderr, "ready\n");
	for (double t = 0; t < seconds && !stop; t += poll_s) {
		nanosleep(&pause, NULL);
		if (ops->poll(s, &sink) > 0 && !totals->count_only)
			fflush(stdout); /* for who waits for a line */
	}
	cpu_s = ops->kernel_cpu_s ? ops->kernel_cpu_s(s) : NAN;
	ops->close(s, &sink);
	totals_print(totals, cpu_s);
	return 0;
}

int main(int argc, char **argv)
{
	uint32_t devices[NR_DEVICES_MAX];
	struct source_cgroup cgroup;
	struct source_config config = { .devices = devices, .cgroups = &cgroup };
	struct totals totals = { 0 };
	const char *source = "bpf";
	bool after_shed = false;
	double poll_s = 0.01;

	for (int i = 2; i < argc; i++) {
		struct device_info info;
		struct err err = { 0 };

		if (!strcmp(argv[i], "--queue"))
			config.layer = LAYER_QUEUE;
		else if (!strcmp(argv[i], "--count"))
			totals.count_only = true;
		else if (!strcmp(argv[i], "--after-shed"))
			after_shed = true;
		else if (!strcmp(argv[i], "--small-ring"))
			config.ring_bytes = 4096;
		else if (!strcmp(argv[i], "--source") && i + 1 < argc)
			source = argv[++i];
		else if (!strcmp(argv[i], "--poll") && i + 1 < argc)
			poll_s = strtod(argv[++i], NULL) / 1e3;
		else if (!strcmp(argv[i], "--cgroup") && i + 1 < argc)
			config.nr_cgroups = !cgroup_find(argv[++i], &cgroup);
		else if (config.nr_devices < NR_DEVICES_MAX && !device_find(argv[i], &info, &err))
			devices[config.nr_devices++] = info.disk;
		else
			return fprintf(stderr, "capture: %s\n", err.line), 2;
	}
	if (argc < 2)
		return 2;
	if (!config.ring_bytes && !strcmp(source, "bpf"))
		config.ring_bytes = RING_BYTES;
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	return run(source, strtod(argv[1], NULL), poll_s, after_shed, &config, &totals);
}

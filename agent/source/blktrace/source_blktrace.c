/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_blktrace: requests from the kernel's own block trace, for kernels without BPF or BTF.
 *
 *         relay files of each CPU -> relay_merge (order of time) -> pairing -> requests
 *
 * The file of a CPU is read by a thread that runs on this CPU. The kernel reserves room for a
 * record and then fills it with interrupts off, so a reader on another CPU can see a record that is
 * half filled; a reader on the same CPU cannot. Moving to the CPU costs more than reading, so one
 * byte is first read from wherever the thread runs: the first byte of the magic number, whose value
 * is known. Where this byte cannot be read, nothing waits on that CPU. Every poll looks at all
 * CPUs, so that everything older than the beginning of the poll is complete and can be handed out.
 */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "agent/confine/privileges.h"
#include "agent/source/blktrace/source_blktrace_state.h"
#include "base/system/clock.h"

#define RING_BYTES_DEFAULT (1u << 20) /* bytes per CPU and disk */
/* bytes of all rings together, unless the user asks for more */
#define RINGS_BYTES_MAX (64u << 20)
#define READ_BYTES	(64u << 10)
/* time between looks for disks and CPUs that came or went */
#define RESCAN_NS 5000000000ull

/* ---- reading ---- */

static void source_blktrace_put(struct source *s, struct traced_disk *d, int cpu, const void *data,
				size_t nr)
{
	if (relay_merge_put(&d->merge, (size_t)cpu, data, nr))
		blktrace_on_gap(s, d, clock_monotonic_ns());
}

/*
 * Returns whether records wait. The first byte of the waiting records has then been consumed, so it
 * is put back into the buffer here.
 */
static bool has_records(struct source *s, struct traced_disk *d, int cpu)
{
	const uint32_t magic = 0x65617400u | d->disk.version;
	uint8_t byte;
	ssize_t nr;

	if (d->disk.fds[cpu] < 0)
		return false;
	if (d->is_amid[cpu])
		return true;
	nr = read(d->disk.fds[cpu], &byte, 1);
	if (nr >= 0)
		d->read_ns = s->now_ns;
	if (nr == 1) {
		memcpy(&byte, &magic, 1); /* The bytes read may not be visible in full yet. */
		source_blktrace_put(s, d, cpu, &byte, 1);
		d->is_amid[cpu] = true;
	}
	return d->is_amid[cpu];
}

/*
 * Reads everything there is. Records that are written meanwhile come from this very CPU, so they
 * are never half filled.
 */
static void read_records(struct source *s, struct traced_disk *d, int cpu)
{
	ssize_t nr;

	do {
		nr = read(d->disk.fds[cpu], s->scratch, READ_BYTES);
		if (nr > 0)
			source_blktrace_put(s, d, cpu, s->scratch, (size_t)nr);
	} while (nr == READ_BYTES);
	d->is_amid[cpu] = false;
}

/*
 * Moves the thread to the CPU if the kernel allows it. A CPU that is offline writes nothing, so
 * failing does no harm.
 */
static void go_to(const struct source *s, int cpu)
{
	cpu_set_t one;

	if (s->nr_cpus == 1 || cpu >= CPU_SETSIZE)
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void source_blktrace_sweep(struct source *s)
{
	bool has_moved = false;
	cpu_set_t before;

	for (int cpu = 0; cpu < s->nr_cpus; cpu++) {
		bool any = false;

		for (size_t i = 0; i < s->nr_disks; i++)
			any |= has_records(s, s->disks[i], cpu);
		if (!any)
			continue;
		if (!has_moved && sched_getaffinity(0, sizeof(before), &before))
			return;
		has_moved = true;
		go_to(s, cpu);
		for (size_t i = 0; i < s->nr_disks; i++)
			if (s->disks[i]->is_amid[cpu])
				read_records(s, s->disks[i], cpu);
	}
	if (has_moved && s->nr_cpus > 1)
		sched_setaffinity(0, sizeof(before), &before);
}

/* ---- disks that come and go ---- */

static void source_blktrace_watch(const struct source *s, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	/* A file that cannot be waited for is still read by the timer. */
	epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static void disk_free(struct source *s, struct traced_disk *d)
{
	if (!d)
		return;
	blktrace_disk_close(&d->disk, s->kernel);
	relay_merge_release(&d->merge);
	zfcp_detail_release(&d->zfcp);
	free(d->is_amid);
	free(d);
}

static int disk_new(struct source *s, const struct device_info *info, struct traced_disk **out,
		    struct err *err)
{
	struct traced_disk *d = calloc(1, sizeof(*d));
	int ret;

	if (d)
		d->is_amid = calloc((size_t)s->nr_cpus, sizeof(*d->is_amid));
	if (!d || !d->is_amid || relay_merge_init(&d->merge, (size_t)s->nr_cpus)) {
		if (d)
			free(d->is_amid);
		free(d);
		return err_set(err, ENOMEM, "blktrace: out of memory");
	}
	ret = blktrace_disk_open(&d->disk, s->kernel, info, s->ring_bytes, s->nr_cpus, err);
	if (ret) {
		disk_free(s, d);
		return ret;
	}
	d->is_there = true;
	d->read_ns = clock_monotonic_ns();
	d->has_base = !s->kernel->completed(s->kernel->ctx, info->device, &d->base);
	for (int cpu = 0; cpu < s->nr_cpus; cpu++)
		if (d->disk.fds[cpu] >= 0)
			source_blktrace_watch(s, d->disk.fds[cpu]);
	*out = d;
	return 0;
}

static int disk_add(struct source *s, const struct device_info *info, struct err *err)
{
	struct traced_disk **more = realloc(s->disks, (s->nr_disks + 1) * sizeof(*more));
	int ret;

	if (!more)
		return err_set(err, ENOMEM, "blktrace: out of memory");
	s->disks = more;
	ret = disk_new(s, info, &more[s->nr_disks], err);
	s->nr_disks += !ret;
	return ret;
}

static bool is_wanted(const struct source *s, const struct device_info *info)
{
	for (size_t i = 0; i < s->nr_wanted; i++)
		if (s->wanted[i] == info->device)
			return true;
	return !s->nr_wanted && !info->partition && info->size_bytes;
}

struct look {
	struct source *s;
	struct err *err;
	/*
	 * During the first scan a disk that cannot be traced is an error, unless its kind can never
	 * be traced.
	 */
	bool is_first;
};

static int scan_one(void *ctx, const struct device_info *info)
{
	struct look *look = ctx;
	struct source *s = look->s;
	struct traced_disk *d = blktrace_disk_of(s, info->device);
	int ret;

	if (d) {
		d->is_there = true;
		for (int cpu = 0; cpu < s->nr_cpus; cpu++)
			if (d->disk.fds[cpu] < 0 && blktrace_disk_cpu(&d->disk, s->kernel, cpu))
				source_blktrace_watch(s, d->disk.fds[cpu]);
		return 0;
	}
	if (!is_wanted(s, info))
		return 0;
	ret = blktrace_disk_check(s->kernel, info, look->err);
	if (!ret)
		ret = disk_add(s, info, look->err);
	if (ret == -ENOTSUP && !s->nr_wanted)
		return 0;
	if (ret == -ENOMEDIUM && !s->nr_wanted)
		return 0;
	return look->is_first ? ret : 0;
}

/*
 * Removes disks that are gone. Their files went with them, so requests that ended since the last
 * reading, and requests of another disk that took over the number, were seen by nobody.
 */
static void drop_gone(struct source *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->nr_disks; i++) {
		struct traced_disk *d = s->disks[i];

		if (d->is_there) {
			s->disks[kept++] = d;
			continue;
		}
		blktrace_hand_over(s, d, UINT64_MAX);
		pairing_settle(s->pairing, d->disk.device, UINT64_MAX);
		if (s->sink && s->sink->gap)
			s->sink->gap(s->sink->ctx, LOSS_KERNEL, d->read_ns, d->disk.device);
		disk_free(s, d);
	}
	s->nr_disks = kept;
}

static int source_blktrace_scan(struct source *s, bool is_first, struct err *err)
{
	struct err unused = { 0 };
	struct look look = { s, is_first ? err : &unused, is_first };
	int ret;

	/* Disks whose number may belong to another disk by now are removed first. */
	for (size_t i = 0; i < s->nr_disks; i++)
		s->disks[i]->is_there = !blktrace_disk_is_gone(&s->disks[i]->disk);
	drop_gone(s);
	for (size_t i = 0; i < s->nr_disks; i++)
		s->disks[i]->is_there = false;
	ret = s->kernel->list(scan_one, &look);
	if (ret >= 0 || !is_first)
		drop_gone(s);
	s->last_scan_ns = clock_monotonic_ns();
	return ret;
}

/* ---- opening ---- */

static void source_blktrace_free(struct source *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr_disks; i++)
		disk_free(s, s->disks[i]);
	free(s->disks);
	free(s->wanted);
	free(s->scratch);
	tid_cache_release(&s->tids);
	pairing_free(s->pairing);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	free(s);
}

static int refuse_config(const struct source_config *config, struct err *err)
{
	if (config->nr_cgroups)
		return err_set(err, ENOTSUP,
			       "blktrace: knows no cgroups: leave out cgroup, or take source bpf");
	if (config->layer != LAYER_DEVICE)
		return err_set(err, ENOTSUP, "blktrace: knows layer device alone: take source bpf");
	return 0;
}

static int count_disk(void *ctx, const struct device_info *info)
{
	*(size_t *)ctx += !info->partition && info->size_bytes;
	return 0;
}

static size_t ring_bytes_of(const struct source *s, const struct source_config *config)
{
	size_t nr = config->nr_devices, share;

	if (config->ring_bytes)
		return config->ring_bytes;
	if (!nr)
		s->kernel->list(count_disk, &nr);
	share = RINGS_BYTES_MAX / ((nr ? nr : 1) * (size_t)s->nr_cpus);
	return share < RING_BYTES_DEFAULT ? share : RING_BYTES_DEFAULT;
}

static int source_new(struct source **out, const struct source_config *config,
		      const struct blktrace_kernel *kernel)
{
	const struct pairing_config pairing = { .layer = LAYER_DEVICE, .source = SOURCE_BLKTRACE };
	struct pairing_sink sink = { .request = blktrace_on_request };
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct source *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	sink.ctx = s;
	s->kernel = kernel;
	s->nr_cpus = cpus < 1 ? 1 : (int)cpus;
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	s->scratch = malloc(READ_BYTES);
	s->nr_wanted = config->nr_devices;
	s->wanted = calloc(s->nr_wanted + 1, sizeof(*s->wanted));
	if (!s->scratch || !s->wanted || s->epoll_fd < 0 || tid_cache_init(&s->tids, "/proc") ||
	    pairing_new(&s->pairing, &pairing, &sink)) {
		source_blktrace_free(s);
		return -ENOMEM;
	}
	for (size_t i = 0; i < s->nr_wanted; i++)
		s->wanted[i] = config->devices[i];
	s->ring_bytes = ring_bytes_of(s, config);
	*out = s;
	return 0;
}

int source_blktrace_open_on(struct source **out, const struct source_config *config,
			    const struct blktrace_kernel *kernel, struct err *err)
{
	struct source *s;
	int ret = refuse_config(config, err);

	if (ret)
		return ret;
	ret = blktrace_check(kernel, err);
	if (ret)
		return ret;
	if (source_new(&s, config, kernel))
		return err_set(err, ENOMEM, "blktrace: out of memory");
	ret = source_blktrace_scan(s, true, err);
	if (ret)
		goto out;
	if (!s->nr_disks && s->nr_wanted)
		ret = err_set(err, ENODEV, "blktrace: none of the disks named is there");
	if (ret)
		goto out;
	*out = s;
	return 0;
out:
	source_blktrace_free(s);
	return ret;
}

static int source_blktrace_open(struct source **out, const struct source_config *config,
				struct err *err)
{
	return source_blktrace_open_on(out, config, &blktrace_kernel_real, err);
}

struct check {
	struct err *err;
	size_t nr; /* number of disks that can be traced */
};

static int check_one(void *ctx, const struct device_info *info)
{
	struct check *check = ctx;
	int ret;

	if (info->partition || !info->size_bytes)
		return 0;
	ret = blktrace_disk_check(&blktrace_kernel_real, info, check->err);
	check->nr += !ret;
	return ret == -ENOTSUP ? 0 : ret;
}

static int source_blktrace_probe(char *what, size_t what_bytes, struct err *err)
{
	struct check check = { .err = err };
	int ret = blktrace_check(&blktrace_kernel_real, err);

	if (ret)
		return ret;
	ret = device_list(check_one, &check);
	if (ret < 0)
		return ret;
	if (!check.nr)
		return err->code ? -err->code : err_set(err, ENODEV, "blktrace: no disk to trace");
	if (what)
		snprintf(what, what_bytes,
			 "every request, no cgroup; %zu disk%s, read from %s/block", check.nr,
			 check.nr == 1 ? "" : "s", blktrace_kernel_real.debugfs);
	return 0;
}

/* ---- running ---- */

static int64_t source_blktrace_poll(struct source *s, const struct source_sink *sink)
{
	bool is_settling = clock_monotonic_ns() - s->last_settle_ns > SETTLE_NS;

	s->sink = sink;
	s->nr_polled = 0;
	if (clock_monotonic_ns() - s->last_scan_ns > RESCAN_NS)
		source_blktrace_scan(s, false, NULL);
	if (is_settling)
		blktrace_look_before(s);
	s->now_ns = clock_monotonic_ns() - VISIBLE_NS;
	source_blktrace_sweep(s);
	blktrace_look_for_drops(s);
	for (size_t i = 0; i < s->nr_disks; i++)
		blktrace_hand_over(s, s->disks[i], s->now_ns);
	if (is_settling)
		blktrace_look_after(s);
	s->sink = NULL;
	return s->nr_polled;
}

/*
 * Hands over the rest. The trace is stopped, so a request that is still open on an idle disk has
 * ended unseen.
 */
static void source_blktrace_drain(struct source *s)
{
	s->now_ns = clock_monotonic_ns();
	source_blktrace_sweep(s);
	blktrace_look_for_drops(s);
	for (size_t i = 0; i < s->nr_disks; i++) {
		struct traced_disk *d = s->disks[i];

		blktrace_hand_over(s, d, UINT64_MAX);
		if (s->kernel->in_flight(s->kernel->ctx, d->disk.device) == 0)
			pairing_settle(s->pairing, d->disk.device, UINT64_MAX);
		if (d->is_lossy)
			blktrace_reconcile(s, d);
	}
}

static void source_blktrace_close(struct source *s, const struct source_sink *sink)
{
	if (!s)
		return;
	s->sink = sink;
	for (size_t i = 0; i < s->nr_disks; i++)
		s->disks[i]->is_lossy |=
			blktrace_disk_dropped(&s->disks[i]->disk) > s->disks[i]->dropped;
	blktrace_look_before(s);
	for (size_t i = 0; i < s->nr_disks; i++)
		blktrace_disk_stop(&s->disks[i]->disk, s->kernel);
	source_blktrace_drain(s);
	source_blktrace_free(s);
}

static int source_blktrace_fd(const struct source *s)
{
	return s->epoll_fd;
}

static double source_blktrace_kernel_cpu_s(const struct source *s)
{
	(void)s;
	/*
	 * The kernel does not report its cost, and no part of its code can be run alone to measure
	 * it.
	 */
	return NAN;
}

static int source_blktrace_detail(struct source *s, uint32_t device, struct profile *p)
{
	struct traced_disk *d = blktrace_disk_of(s, device);

	return d ? zfcp_detail_tell(&d->zfcp, p) : 0;
}

/*
 * Each ioctl of the trace needs CAP_SYS_ADMIN, both to trace disks that appear and to remove the
 * traces that were set up.
 */
static uint64_t source_blktrace_needs(const struct source *s)
{
	(void)s;
	return PRIVILEGE(CAP_SYS_ADMIN);
}

const struct source_ops source_blktrace = {
	.name = "blktrace",
	.id = SOURCE_BLKTRACE,
	.probe = source_blktrace_probe,
	.open = source_blktrace_open,
	.poll = source_blktrace_poll,
	.fd = source_blktrace_fd,
	.kernel_cpu_s = source_blktrace_kernel_cpu_s,
	.detail = source_blktrace_detail,
	.needs = source_blktrace_needs,
	.close = source_blktrace_close,
};

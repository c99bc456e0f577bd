/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_bpf: requests from this project's own BPF programs in the kernel (bpf/), through one ring
 * per CPU.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "agent/confine/privileges.h"
#include "agent/guest/device.h"
#include "agent/source/bpf/bpf_features.h"
#include "agent/source/bpf/bpf_record.h"
#include "agent/source/bpf/kernel_btf.h"
#include "agent/source/bpf/rings.h"
#include "agent/source/bpf/unseen.h"
#include "agent/source/source.h"
#include "base/system/clock.h"
#include "bpf/bio.skel.h"
#include "bpf/block.skel.h"
#include "bpf/event.h"

#define RING_BYTES_DEFAULT  (1u << 20)
#define RING_BYTES_MIN	    (256u << 10)
#define RINGS_BYTES_MAX	    (64u << 20)	   /* bytes of all rings, unless the user asks for more */
#define WAKE_SHARE	    4		   /* the reader is woken when 1/4 of a ring is full */
#define SEEN_FORGET_NS	    10000000000ull /* names of threads are asked for again */
#define ISSUE_KEEP_NS	    10000000000ull /* the issue program stays this long after its use */
#define SETTLE_NS	    1000000000ull  /* time between looks for requests that ended unseen */
#define AGAIN_NS	    100000000ull   /* time between looks for skipped ends ... */
#define AGAIN_IDLE_NS	    1000000000ull  /* ... and the same while no request was recorded */
#define FEW_POLLED	    64		   /* after so few requests the table is looked at */
#define CALIBRATE_RUNS	    2000	   /* their records fit into the smallest ring */
#define ENTRIES_PER_REQUEST 2		   /* the programs run at start and completion */
#define ENTRY_NS	    12		   /* to enter and leave, without bpf_stats */

struct source {
	struct block_bpf *block; /* set at layer device; one of block and bio is NULL */
	struct bio_bpf *bio;	 /* set at layer queue */
	struct rings *rings;
	struct kernel_btf kernel;
	struct cpu_counters *counters; /* points into the mapped .bss */
	__u64 *seen;
	size_t seen_bytes;
	__u64 *nr_evicted;
	__u32 *shedding; /* NULL: these programs cannot shed */
	struct inflight *inflights;
	int nr_cpus;
	struct unseen unseen;
	bool is_closing;
	uint64_t last_misses, shed_misses;
	uint64_t last_lost, last_shed, last_evicted, last_wanted_ns, last_forgot_ns;
	uint64_t last_settled_ns, last_again_ns;
	struct bpf_link *issue, *insert, *again; /* NULL while a program is not attached */
	bool issue_always;
	/* descriptor for the kernel's facts on the completion program; -1: unknown */
	int misses_fd;
	uint8_t layer;
	uint32_t only_device; /* 0: several devices */
	/* estimated cost of one request in the kernel; NaN: unknown */
	double request_ns;
	const struct source_sink *sink; /* set while the source is polled */
	int64_t nr_polled;
};

/* ---- records ---- */

static void on_record(void *ctx, const void *data, size_t bytes)
{
	struct source *s = ctx;
	const struct event_request *e = data;
	const struct event_task *t = data;
	struct request r;

	if (bytes >= sizeof(*e) && e->kind == EVENT_REQUEST) {
		bpf_record_request(&r, e, &s->kernel, s->layer);
		s->nr_polled++;
		if (s->sink)
			s->sink->request(s->sink->ctx, &r);
	} else if (bytes >= sizeof(*t) && t->kind == EVENT_TASK && s->sink) {
		s->sink->task(s->sink->ctx, t->tid, t->pid, t->comm,
			      t->flags & EVENT_KERNEL_THREAD);
	}
}

/* ---- opening ---- */

/*
 * libbpf's own messages are for developers, who ask for them by BLKCAST_LIBBPF; they are not for a
 * user's terminal.
 */
static int source_bpf_quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return level == LIBBPF_WARN && getenv("BLKCAST_LIBBPF") ? vfprintf(stderr, fmt, ap) : 0;
}

static int filters_fill(const struct source_config *config, __u32 *nr_devices, __u32 *devices,
			__u32 *nr_cgroups, struct filter_cgroup *cgroups, struct err *err)
{
	if (config->nr_devices > FILTER_MAX_DEVICES)
		return err_set(err, E2BIG, "device: %zu named, expected %d at most (none: all)",
			       config->nr_devices, FILTER_MAX_DEVICES);
	if (config->nr_cgroups > FILTER_MAX_CGROUPS)
		return err_set(err, E2BIG, "cgroup: %zu named, expected %d at most (none: all)",
			       config->nr_cgroups, FILTER_MAX_CGROUPS);
	*nr_devices = (__u32)config->nr_devices;
	for (size_t i = 0; i < config->nr_devices; i++)
		devices[i] = config->devices[i];
	*nr_cgroups = (__u32)config->nr_cgroups;
	for (size_t i = 0; i < config->nr_cgroups; i++)
		cgroups[i] = (struct filter_cgroup){ .id = config->cgroups[i].id,
						     .level = config->cgroups[i].level };
	return 0;
}

static size_t ring_bytes_of(const struct source_config *config, uint32_t nr_rings)
{
	size_t want = config->ring_bytes ? config->ring_bytes : RING_BYTES_DEFAULT, bytes = 4096;

	if (!config->ring_bytes && want > RINGS_BYTES_MAX / nr_rings)
		want = RINGS_BYTES_MAX / nr_rings;
	if (want < RING_BYTES_MIN)
		want = RING_BYTES_MIN;
	while (bytes < want)
		bytes *= 2;
	return bytes;
}

static int rings_open(struct source *s, int map_fd, uint32_t nr_rings, size_t bytes,
		      struct err *err)
{
	if (rings_new(&s->rings))
		return err_set(err, ENOMEM, "bpf: out of memory");
	for (uint32_t i = 0; i < nr_rings; i++) {
		int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "blkcast_ring", 0, 0, (__u32)bytes,
					NULL);
		int ret = fd < 0 ? fd : bpf_map_update_elem(map_fd, &i, &fd, 0);

		if (!ret)
			ret = rings_add(s->rings, fd, bytes);
		if (fd >= 0)
			close(fd); /* The outer map and the mapping keep the inner map alive. */
		if (ret)
			return err_set(err, -ret, "ring %u of %u, %zu KiB: %s", i, nr_rings,
				       bytes >> 10, strerror(-ret));
	}
	return 0;
}

static int load_failed(int ret, struct err *err)
{
	/* The verifier returns EACCES as well, so a second test tells the two causes apart. */
	if (ret == -EPERM || (ret == -EACCES && !bpf_may_load()))
		return err_set(err, -ret,
			       "bpf: not permitted to load programs: run as root, or with CAP_BPF "
			       "and CAP_PERFMON");
	return err_set(err, -ret, "bpf: the kernel refused the programs: %s", strerror(-ret));
}

static int bio_open(struct source *s, const struct source_config *config, uint32_t nr_rings,
		    uint32_t wake_bytes, struct err *err)
{
	int ret;

	if (bpf_may_load() && !bpf_has_fetch())
		return err_set(err, EOPNOTSUPP,
			       "bpf: layer queue asks for Linux 5.12 (atomic fetch in programs): "
			       "expected layer device, or source tracefs");
	s->bio = bio_bpf__open();
	if (!s->bio)
		return load_failed(-errno, err);
	s->bio->rodata->nr_rings = nr_rings;
	s->bio->rodata->wake_bytes = wake_bytes;
	bpf_map__set_max_entries(s->bio->maps.rings, nr_rings);
	ret = filters_fill(config, &s->bio->rodata->nr_filter_devices,
			   s->bio->rodata->filter_devices, &s->bio->rodata->nr_filter_cgroups,
			   s->bio->rodata->filter_cgroups, err);
	if (ret)
		return ret;
	s->bio->rodata->queue_before_bio = s->kernel.queue_before_bio;
	s->bio->rodata->request_masks = s->kernel.request_masks;
	ret = bio_bpf__load(s->bio);
	if (ret)
		return load_failed(ret, err);
	s->counters = s->bio->bss->counters;
	s->seen = s->bio->bss->seen;
	s->seen_bytes = sizeof(s->bio->bss->seen);
	s->nr_evicted = &s->bio->bss->nr_evicted;
	s->inflights = s->bio->bss->inflights;
	return bpf_map__fd(s->bio->maps.rings);
}

static int block_open(struct source *s, const struct source_config *config, uint32_t nr_rings,
		      uint32_t wake_bytes, struct err *err)
{
	int ret;

	s->block = block_bpf__open();
	if (!s->block)
		return load_failed(-errno, err);
	s->block->rodata->nr_rings = nr_rings;
	s->block->rodata->wake_bytes = wake_bytes;
	bpf_map__set_max_entries(s->block->maps.rings, nr_rings);
	ret = filters_fill(config, &s->block->rodata->nr_filter_devices,
			   s->block->rodata->filter_devices, &s->block->rodata->nr_filter_cgroups,
			   s->block->rodata->filter_cgroups, err);
	if (ret)
		return ret;
	s->block->rodata->queue_before_request = s->kernel.queue_before_request;
	s->block->rodata->request_masks = s->kernel.request_masks;
	bpf_program__set_autoload(s->block->progs.block_io_start, s->kernel.has_io_start);
	bpf_program__set_autoload(s->block->progs.block_rq_merge, s->kernel.has_merge);
	ret = block_bpf__load(s->block);
	if (ret)
		return load_failed(ret, err);
	s->block->bss->read_clock_at_start = s->issue_always;
	s->counters = s->block->bss->counters;
	s->seen = s->block->bss->seen;
	s->seen_bytes = sizeof(s->block->bss->seen);
	s->nr_evicted = &s->block->bss->nr_evicted;
	s->shedding = &s->block->bss->shedding;
	s->inflights = s->block->bss->inflights;
	return bpf_map__fd(s->block->maps.rings);
}

static int issue_attach(struct source *s)
{
	if (!s->insert)
		s->insert = bpf_program__attach(s->block->progs.block_rq_insert);
	if (!s->issue)
		s->issue = bpf_program__attach(s->block->progs.block_rq_issue);
	return s->insert && s->issue ? 0 : -errno;
}

static void issue_detach(struct source *s)
{
	bpf_link__destroy(s->issue);
	bpf_link__destroy(s->insert);
	s->issue = s->insert = NULL;
}

/*
 * Attaches the programs for submissions first and those for completions last, so that the end of
 * every request whose beginning was seen is seen too.
 */
static int block_attach(struct source *s)
{
	struct {
		struct bpf_program *program;
		struct bpf_link **link;
		bool wanted;
	} order[] = {
		{ s->block->progs.block_rq_merge, &s->block->links.block_rq_merge,
		  s->kernel.has_merge },
		{ s->block->progs.block_io_start, &s->block->links.block_io_start,
		  s->kernel.has_io_start },
		{ s->block->progs.block_rq_complete, &s->block->links.block_rq_complete, true },
	};

	if (s->issue_always && issue_attach(s))
		return -errno;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (!order[i].wanted)
			continue;
		*order[i].link = bpf_program__attach(order[i].program);
		if (!*order[i].link)
			return -errno;
	}
	s->block->bss->attached_ns = clock_monotonic_ns();
	return 0;
}

static int attach_failed(int ret, struct err *err)
{
	return err_set(err, -ret, "bpf: cannot attach to the block tracepoints: %s",
		       strerror(-ret));
}

/*
 * Attaches the program for requeues. It changes nothing before the beginning of a request has been
 * seen, and shows whether this process may attach programs.
 */
static int attach_first(struct source *s, struct err *err)
{
	if (!s->block)
		return 0;
	s->block->links.block_rq_requeue = bpf_program__attach(s->block->progs.block_rq_requeue);
	return s->block->links.block_rq_requeue ? 0 : attach_failed(-errno, err);
}

static int source_bpf_begin(struct source *s, struct err *err)
{
	int ret = s->block ? block_attach(s) : bio_bpf__attach(s->bio);

	return ret ? attach_failed(ret, err) : 0;
}

/* Estimates what one request costs in the kernel by running the body of the programs alone. */
static double source_bpf_calibrate(const struct source *s)
{
	char packet[64] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_size_in = sizeof(packet),
		    .repeat = CALIBRATE_RUNS);
	int fd = bpf_program__fd(s->block ? s->block->progs.calibrate : s->bio->progs.calibrate);

	if (fd < 0 || bpf_prog_test_run_opts(fd, &opts))
		return NAN;
	return (double)opts.duration + ENTRIES_PER_REQUEST * ENTRY_NS;
}

static void source_bpf_free(struct source *s)
{
	if (!s)
		return;
	issue_detach(s);
	bpf_link__destroy(s->again);
	block_bpf__destroy(s->block);
	bio_bpf__destroy(s->bio);
	rings_free(s->rings);
	if (s->misses_fd >= 0)
		close(s->misses_fd);
	free(s);
}

/*
 * Returns whether a traced disk keeps no I/O statistics. The kernel then does not announce
 * submissions.
 */
static bool iostats_off_somewhere(const struct source_config *config)
{
	for (size_t i = 0; i < config->nr_devices; i++)
		if (device_queue_flag(config->devices[i], "iostats") == 0)
			return true;
	return false;
}

static int source_bpf_open(struct source **out, const struct source_config *config, struct err *err)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t nr_rings = online < 1 ? 1 : online > RINGS_MAX ? RINGS_MAX : (uint32_t)online;
	size_t bytes = ring_bytes_of(config, nr_rings);
	struct source *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return err_set(err, ENOMEM, "bpf: out of memory");
	s->misses_fd = -1;
	libbpf_set_print(source_bpf_quiet);
	ret = kernel_btf_read(&s->kernel, NULL, err);
	if (ret)
		goto fail;
	s->layer = config->layer;
	s->only_device = config->nr_devices == 1 ? config->devices[0] : 0;
	s->nr_cpus = libbpf_num_possible_cpus();
	s->nr_cpus = s->nr_cpus > COUNTERS_MAX_CPUS ? COUNTERS_MAX_CPUS : s->nr_cpus;
	s->issue_always = !s->kernel.has_io_start || iostats_off_somewhere(config);
	if (config->layer == LAYER_QUEUE)
		ret = bio_open(s, config, nr_rings, (uint32_t)bytes / WAKE_SHARE, err);
	else
		ret = block_open(s, config, nr_rings, (uint32_t)bytes / WAKE_SHARE, err);
	if (ret >= 0)
		ret = rings_open(s, ret, nr_rings, bytes, err);
	if (ret)
		goto fail;
	s->request_ns = source_bpf_calibrate(s);
	/* The records that the calibration discarded take room in the ring until they are read. */
	rings_read(s->rings, on_record, s);
	s->last_forgot_ns = clock_monotonic_ns();
	ret = attach_first(s, err);
	if (ret)
		goto fail;
	if (s->block)
		s->misses_fd = bpf_misses_open(bpf_program__fd(s->block->progs.block_rq_complete));
	*out = s;
	return 0;
fail:
	source_bpf_free(s);
	return ret;
}

static int source_bpf_probe(char *what, size_t what_bytes, struct err *err)
{
	const struct source_config config = { .layer = LAYER_DEVICE, .ring_bytes = RING_BYTES_MIN };
	struct source *s;
	int ret = source_bpf_open(&s, &config, err);

	if (ret)
		return ret;
	ret = source_bpf_begin(s, err);
	if (ret)
		goto out;
	if (what)
		snprintf(what, what_bytes,
			 "every request, all fields; %s, about %.0f ns of kernel time a request",
			 s->kernel.has_io_start ? "submitters by block_io_start"
						: "submitters by block_rq_insert and issue",
			 s->request_ns);
out:
	source_bpf_free(s);
	return ret;
}

/* ---- running ---- */

static void source_bpf_tell(const struct source *s, enum loss_cause cause, uint64_t nr,
			    uint32_t device)
{
	if (nr && s->sink)
		s->sink->lost(s->sink->ctx, cause, nr, device);
}

/*
 * Each look costs as much as the rest of a poll, and requests of other disks may hold lines of the
 * table that requests of the traced disks need.
 */
static void again_follow(struct source *s, uint64_t now)
{
	uint64_t every_ns = s->nr_polled ? AGAIN_NS : AGAIN_IDLE_NS;

	if (!s->block || s->again || now - s->last_again_ns < every_ns)
		return;
	s->last_again_ns = now;
	if (bpf_misses_read(s->misses_fd))
		s->again = bpf_program__attach(s->block->progs.block_rq_complete_again);
}

static bool is_shedding(const struct source *s)
{
	return s->shedding && *s->shedding;
}

/*
 * Requests that the kernel skipped while requests were shed leave no line in the table; the kernel
 * counts them as misses.
 */
static void shed_misses(struct source *s)
{
	uint64_t misses = bpf_misses_read(s->misses_fd);

	s->shed_misses += misses - s->last_misses;
	s->last_misses = misses;
}

static void losses_tell(struct source *s)
{
	uint64_t evicted = __atomic_load_n(s->nr_evicted, __ATOMIC_RELAXED);
	uint64_t lost = 0, shed;

	if (is_shedding(s))
		shed_misses(s);
	shed = s->shed_misses;
	for (int i = 0; i < s->nr_cpus; i++) {
		lost += __atomic_load_n(&s->counters[i].lost, __ATOMIC_RELAXED);
		shed += __atomic_load_n(&s->counters[i].shed, __ATOMIC_RELAXED);
	}
	source_bpf_tell(s, LOSS_RING_FULL, lost - s->last_lost, s->only_device);
	source_bpf_tell(s, LOSS_SHED, shed - s->last_shed, s->only_device);
	/*
	 * A bio whose line was evicted is lost. A request in the same case is still recorded, but
	 * without its issuer.
	 */
	if (s->layer == LAYER_QUEUE)
		source_bpf_tell(s, LOSS_UNPAIRED, evicted - s->last_evicted, s->only_device);
	s->last_lost = lost;
	s->last_shed = shed;
	s->last_evicted = evicted;
}

/* Hands over a request whose end was not seen. */
static void unseen_tell(void *ctx, const struct event_request *e)
{
	struct event_request copy = *e;

	on_record(ctx, &copy, sizeof(copy));
}

/* Returns the capabilities still needed: before Linux 5.19, attaching a program later needs one. */
static uint64_t source_bpf_needs(const struct source *s)
{
	int fd = bpf_program__fd(s->block ? s->block->progs.block_rq_complete
					  : s->bio->progs.calibrate);

	return privileges_bpf_is_free(fd) ? 0 : PRIVILEGE(CAP_BPF);
}

/* Keeps the issue program attached while there are requests that only this program can explain. */
static void issue_follow(struct source *s, uint64_t now)
{
	uint64_t wanted_ns = 0;

	if (!s->block || s->issue_always)
		return;
	for (int i = 0; i < s->nr_cpus; i++) {
		uint64_t ns = __atomic_load_n(&s->counters[i].wanted_ns, __ATOMIC_RELAXED);

		wanted_ns = ns > wanted_ns ? ns : wanted_ns;
	}
	if (wanted_ns != s->last_wanted_ns && !s->issue && issue_attach(s))
		issue_detach(s);
	else if (s->issue && now > wanted_ns + ISSUE_KEEP_NS)
		issue_detach(s);
	s->last_wanted_ns = wanted_ns;
}

static int64_t source_bpf_poll(struct source *s, const struct source_sink *sink)
{
	uint64_t now = clock_monotonic_ns();

	s->sink = sink;
	s->nr_polled = 0;
	rings_read(s->rings, on_record, s);
	losses_tell(s);
	issue_follow(s, now);
	again_follow(s, now);
	if (s->nr_polled < FEW_POLLED && now - s->last_settled_ns > SETTLE_NS) {
		unseen_settle(&s->unseen, s->inflights, device_in_flight, s->is_closing,
			      unseen_tell, s);
		s->last_settled_ns = now;
	}
	if (now - s->last_forgot_ns > SEEN_FORGET_NS) {
		memset(s->seen, 0, s->seen_bytes);
		s->last_forgot_ns = now;
	}
	s->sink = NULL;
	return s->nr_polled;
}

static int source_bpf_fd(const struct source *s)
{
	return rings_fd(s->rings);
}

/*
 * While requests are shed, new requests take no line in the table. Requests that have a line from
 * before release it when they end, even where the kernel skipped the first program.
 */
static void source_bpf_shed(struct source *s, bool on)
{
	if (on && !s->again)
		s->again = bpf_program__attach(s->block->progs.block_rq_complete_again);
	if (on)
		s->last_misses = bpf_misses_read(s->misses_fd);
	__atomic_store_n(s->shedding, on, __ATOMIC_RELEASE);
	if (!on)
		shed_misses(s);
}

static double source_bpf_kernel_cpu_s(const struct source *s)
{
	uint64_t records = 0, shed = 0;

	for (int i = 0; i < s->nr_cpus; i++) {
		records += __atomic_load_n(&s->counters[i].records, __ATOMIC_RELAXED);
		shed += __atomic_load_n(&s->counters[i].shed, __ATOMIC_RELAXED);
	}
	return ((double)records * s->request_ns + (double)shed * ENTRIES_PER_REQUEST * ENTRY_NS) *
	       1e-9;
}

static void source_bpf_close(struct source *s, const struct source_sink *sink)
{
	if (!s)
		return;
	issue_detach(s);
	if (s->block)
		block_bpf__detach(s->block);
	else
		bio_bpf__detach(s->bio);
	s->is_closing = true;
	s->last_settled_ns = 0;
	source_bpf_poll(s, sink);
	/* No further records will come, so requests whose end was not seen are settled now. */
	source_bpf_poll(s, sink);
	source_bpf_free(s);
}

const struct source_ops source_bpf = {
	.name = "bpf",
	.id = SOURCE_BPF,
	.is_patient = true,
	.probe = source_bpf_probe,
	.open = source_bpf_open,
	.begin = source_bpf_begin,
	.poll = source_bpf_poll,
	.fd = source_bpf_fd,
	.kernel_cpu_s = source_bpf_kernel_cpu_s,
	.shed = source_bpf_shed,
	.needs = source_bpf_needs,
	.close = source_bpf_close,
};

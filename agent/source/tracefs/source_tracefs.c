/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_tracefs: requests from the kernel's block events, through a tracing instance of the
 * agent's own.
 *
 * Each CPU has a buffer. Its pages are read and decoded, and the events of all CPUs are merged into
 * one stream in order of time, up to the time that all CPUs are known to have reached. The stream
 * is then paired into requests.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/guest/device.h"
#include "agent/guest/thread_table.h"
#include "agent/source/source.h"
#include "agent/source/tracefs/kernel_tally.h"
#include "agent/source/tracefs/trace_block.h"
#include "agent/source/tracefs/trace_cpus.h"
#include "agent/source/tracefs/tracefs.h"
#include "base/memory/buf.h"
#include "base/system/clock.h"
#include "formats/pairing.h"

/* Per CPU. Holds 100 ms of 300 000 requests per second on one CPU. */
#define BUFFER_BYTES_DEFAULT (4u << 20)
/* bytes of all CPUs together, unless the user asks for more */
#define BUFFERS_BYTES_MAX (128u << 20)
#define WAKE_PERCENT	  "12"
#define DEVICES_MAX	  32
/*
 * The kernel takes the time of an event before the event is in the buffer. The source waits this
 * long for events on their way.
 */
#define HOLD_NS 800000ull
/* time between looks for losses and for requests whose end was not seen */
#define LOOK_NS 1000000000ull

struct source {
	struct tracefs_instance instance;
	struct trace_page_layout layout;
	struct trace_block block;
	struct pairing *pairing;
	struct thread_table *threads;
	struct trace_cpus *cpus;
	struct buf text;
	/* devices that were met, for looks at their requests in flight */
	uint32_t devices[DEVICES_MAX];
	uint64_t idle_ns
		/*
		 * by device: when the last look found nothing in flight; 0: something was in flight
		 */
		[DEVICES_MAX];
	bool is_counted[DEVICES_MAX]; /* by device: the tally counts its missing requests */
	size_t nr_devices;
	uint32_t only_device; /* 0: several devices */
	uint64_t fed_ns;      /* events up to this time have been paired */
	uint64_t look_ns;     /* time of the last look for losses */
	uint64_t gap_ns;      /* events up to this time may be missing; 0: none is */
	struct kernel_tally tally;
	/* the kernel counts the traced requests, which it does at the device layer */
	bool has_tally;
	uint64_t clean_events, clean_requests; /* counted while nothing was dropped */
	uint64_t nr_events, nr_requests;       /* counted since the last look */
	/* all events, and those of disks that the kernel does not count */
	uint64_t nr_all, nr_uncounted;
	const struct source_sink *sink; /* set while the source is polled */
	int64_t nr_polled;
};

static void tell_lost(void *ctx, enum loss_cause cause, uint64_t nr)
{
	const struct source *s = ctx;

	if (nr && s->sink)
		s->sink->lost(s->sink->ctx, cause, nr, s->only_device);
}

static void tell_missing(void *ctx, uint32_t device, uint64_t nr)
{
	const struct source *s = ctx;

	if (s->sink)
		s->sink->lost(s->sink->ctx, LOSS_KERNEL, nr, device);
}

/* ---- events to requests ---- */

/* Notes a device, and returns whether the kernel's counts show its missing requests. */
static bool device_note(struct source *s, uint32_t device)
{
	for (size_t i = 0; i < s->nr_devices; i++)
		if (s->devices[i] == device)
			return s->is_counted[i];
	if (s->nr_devices == DEVICES_MAX)
		return kernel_tally_covers(&s->tally, device);
	s->is_counted[s->nr_devices] = kernel_tally_covers(&s->tally, device);
	s->devices[s->nr_devices] = device;
	return s->is_counted[s->nr_devices++];
}

static void on_request(void *ctx, const struct request *r, unsigned int begun_by)
{
	struct source *s = ctx;
	struct request out = *r;

	(void)begun_by;
	/* The end of this request was dropped, so it is among those that are reported as lost. */
	if (out.flags & REQUEST_NO_COMPLETION && out.arrival_ns <= s->gap_ns)
		return;
	s->nr_polled++;
	s->nr_requests++;
	/*
	 * The end of the request is missing, so the present moment is used; none of its times is
	 * kept.
	 */
	if (out.flags & REQUEST_NO_COMPLETION) {
		out.arrival_ns = out.dispatch_ns = out.completion_ns = clock_monotonic_ns();
		out.flags |= REQUEST_NO_DISPATCH;
	}
	kernel_tally_seen(&s->tally, &out);
	if (s->sink)
		s->sink->request(s->sink->ctx, &out);
}

/*
 * The events at which a request or bio begins name the submitting thread; /proc says to which
 * process the thread belongs.
 */
static void on_decoded(void *ctx, struct block_event *e, const char *comm)
{
	struct source *s = ctx;
	const struct thread_fact *fact;
	bool is_new;

	if (!e->tid ||
	    (e->kind != BLOCK_GETRQ && e->kind != BLOCK_INSERT && e->kind != BLOCK_QUEUE))
		return;
	fact = thread_table_find(s->threads, e->tid, comm, e->time_ns, &is_new);
	e->pid = fact->pid;
	e->flags |= fact->is_kernel ? REQUEST_KERNEL_THREAD : 0;
	if (is_new && s->sink && fact->comm[0])
		s->sink->task(s->sink->ctx, fact->tid, fact->pid ? fact->pid : fact->tid,
			      fact->comm, fact->is_kernel);
}

static void on_event(void *ctx, const struct block_event *e)
{
	struct source *s = ctx;

	s->nr_events++;
	s->nr_all++;
	s->nr_uncounted += !device_note(s, e->device);
	if (pairing_add(s->pairing, e))
		tell_lost(s, LOSS_REORDER, e->kind == BLOCK_COMPLETE);
}

/* Reads and pairs all events up to this time. */
static int source_tracefs_take(struct source *s, uint64_t until_ns)
{
	const struct trace_cpus_sink sink = { on_decoded, on_event, tell_lost, s };
	int ret = trace_cpus_take(s->cpus, until_ns, &sink);

	if (ret)
		return ret;
	s->fed_ns = until_ns;
	return 0;
}

/* ---- losses, and ends that were not seen ---- */

/* Estimates how many of the lost requests belong to disks that the kernel does not count. */
static uint64_t lost_uncounted(const struct source *s, uint64_t dropped)
{
	double each = s->clean_requests ? (double)s->clean_events / (double)s->clean_requests : 0;
	double share = s->has_tally ? 0 : 1;

	if (s->has_tally && s->nr_all)
		share = (double)s->nr_uncounted / (double)s->nr_all;
	return (uint64_t)ceil((double)dropped / (each < 1 ? 2 : each) * share);
}

/*
 * Where events were dropped, the kernel's own counts show how many requests are missing. For disks
 * without such counts (iostats are off, or the disk appeared later), the number follows from the
 * dropped events and the mean number of events per request. The gap keeps a request that began
 * before it from being paired with an end that came after it.
 *
 * The clock is read beside the counters and not at the beginning of the poll: a poll takes its
 * time, above all where it was held up, and what ended or was dropped meanwhile is in the counters.
 */
static void losses_look(struct source *s)
{
	uint64_t dropped = trace_cpus_dropped(s->cpus), now = clock_monotonic_ns();

	if (!dropped) {
		s->clean_events += s->nr_events;
		s->clean_requests += s->nr_requests;
	} else {
		s->gap_ns = now;
		for (size_t i = 0; i < s->nr_devices; i++)
			pairing_gap(s->pairing, s->devices[i], now);
		if (s->has_tally)
			kernel_tally_sample(&s->tally, now);
		tell_lost(s, LOSS_KERNEL, lost_uncounted(s, dropped));
	}
	for (size_t i = 0; i < s->nr_devices; i++)
		s->is_counted[i] = kernel_tally_covers(&s->tally, s->devices[i]);
	s->nr_events = s->nr_requests = 0;
	s->look_ns = now;
}

/*
 * Gives up requests that ended unseen. Such a request began long before a look found nothing in
 * flight on its disk, it is still open when a second look finds the same, and all events up to then
 * have been read. Both conditions are needed, because the kernel counts a request only once it is
 * at the driver: until then it may wait in a scheduler or with a thread that gets no CPU.
 */
static void unseen_settle(struct source *s, uint64_t now)
{
	for (size_t i = 0; i < s->nr_devices; i++) {
		uint32_t device = s->devices[i];
		uint64_t idle_ns = s->idle_ns[i];

		s->idle_ns[i] =
			pairing_held(s->pairing, device) && !device_in_flight(device) ? now : 0;
		if (s->idle_ns[i] && idle_ns > LOOK_NS && s->fed_ns >= idle_ns)
			pairing_settle(s->pairing, device, idle_ns - LOOK_NS);
	}
}

static int64_t source_tracefs_poll(struct source *s, const struct source_sink *sink)
{
	uint64_t now = clock_monotonic_ns();
	int ret;

	s->sink = sink;
	s->nr_polled = 0;
	ret = source_tracefs_take(s, now - HOLD_NS);
	kernel_tally_settle(&s->tally, s->fed_ns, tell_missing, s);
	if (!ret && now - s->look_ns > LOOK_NS) {
		unseen_settle(s, now);
		losses_look(s);
	}
	s->sink = NULL;
	return ret ? ret : s->nr_polled;
}

/* ---- opening ---- */

static const char *format_load(void *ctx, const char *event)
{
	struct source *s = ctx;
	char path[64];

	snprintf(path, sizeof(path), "events/block/%s/format", event);
	return tracefs_read(s->instance.fd, path, &s->text) ? NULL : (const char *)s->text.data;
}

static int config_check(const struct source_config *config, struct err *err)
{
	if (config->nr_cgroups)
		return err_set(err, EOPNOTSUPP,
			       "tracefs: block events do not tell the cgroup: expected no cgroup");
	if (config->nr_devices > DEVICES_MAX)
		return err_set(err, E2BIG, "device: %zu named, expected %d at most (none: all)",
			       config->nr_devices, DEVICES_MAX);
	return 0;
}

/* Writes a setting without which the source would give wrong results; failing is an error. */
static int source_tracefs_set(struct source *s, const char *path, const char *text, struct err *err)
{
	int ret = tracefs_write(s->instance.fd, path, text);

	return ret ? err_set(err, -ret, "tracefs: %s/%s: cannot be set to %s: %s", s->instance.path,
			     path, text, strerror(-ret))
		   : 0;
}

static int settings_make(struct source *s, const struct source_config *config, struct err *err)
{
	size_t bytes = config->ring_bytes ? config->ring_bytes : BUFFER_BYTES_DEFAULT;
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	char kb[24];
	int ret;

	if (!config->ring_bytes && cpus > 0 && bytes > BUFFERS_BYTES_MAX / (size_t)cpus)
		bytes = BUFFERS_BYTES_MAX / (size_t)cpus;
	snprintf(kb, sizeof(kb), "%zu", bytes >> 10);
	ret = source_tracefs_set(s, "tracing_on", "0", err);
	if (ret)
		return ret;
	ret = source_tracefs_set(s, "trace_clock", "mono", err);
	if (ret)
		return ret;
	ret = source_tracefs_set(s, "buffer_size_kb", kb, err);
	/*
	 * A full buffer drops new events and counts them. The alternative, overwriting, would
	 * separate old events from their requests.
	 */
	if (ret)
		return ret;
	ret = source_tracefs_set(s, "options/overwrite", "0", err);
	if (ret)
		return ret;
	/* The file exists since Linux 5.0. */
	tracefs_write(s->instance.fd, "buffer_percent", WAKE_PERCENT);
	return 0;
}

static int layout_read(struct source *s, struct err *err)
{
	const uint16_t one = 1;
	int ret = tracefs_read(s->instance.fd, "events/header_page", &s->text);

	s->layout.is_big_endian = !*(const uint8_t *)&one;
	if (ret)
		return err_set(err, -ret, "tracefs: events/header_page: %s", strerror(-ret));
	return trace_page_layout_parse(&s->layout, (const char *)s->text.data, err);
}

static int event_enable(struct source *s, const char *event, const struct source_config *config,
			struct err *err)
{
	char path[64];
	struct buf filter = { 0 };
	int ret = 0;

	for (size_t i = 0; i < config->nr_devices; i++)
		buf_printf(&filter, "%sdev == %u", i ? " || " : "", config->devices[i]);
	if (filter.error)
		ret = err_set(err, ENOMEM, "tracefs: out of memory");
	if (ret)
		goto out;
	if (filter.len) {
		snprintf(path, sizeof(path), "events/block/%s/filter", event);
		ret = source_tracefs_set(s, path, (const char *)filter.data, err);
		if (ret)
			goto out;
	}
	snprintf(path, sizeof(path), "events/block/%s/enable", event);
	ret = source_tracefs_set(s, path, "1", err);
out:
	buf_release(&filter);
	return ret;
}

static void source_free(struct source *s)
{
	trace_cpus_close(s->cpus); /* The instance is busy while a buffer is open. */
	tracefs_instance_remove(&s->instance);
	pairing_free(s->pairing);
	thread_table_free(s->threads);
	buf_release(&s->text);
	free(s);
}

/* The disks whose completed requests are counted: those that the user named, or all. */
struct disks {
	uint32_t devices[KERNEL_TALLY_DEVICES];
	size_t nr;
};

static int disk_note(void *ctx, const struct device_info *info)
{
	struct disks *d = ctx;

	if (!info->partition && info->size_bytes && d->nr < KERNEL_TALLY_DEVICES)
		d->devices[d->nr++] = info->device;
	return 0;
}

static void tally_begin(struct source *s, const struct source_config *config)
{
	struct disks all = { .nr = 0 };

	s->has_tally = config->layer == LAYER_DEVICE;
	if (config->nr_devices) {
		kernel_tally_begin(&s->tally, config->devices, config->nr_devices,
				   device_completed);
		return;
	}
	device_list(disk_note, &all);
	kernel_tally_begin(&s->tally, all.devices, all.nr, device_completed);
}

static int source_tracefs_prepare(struct source *s, const struct source_config *config,
				  struct err *err)
{
	const struct pairing_config pairing = { .layer = config->layer, .source = SOURCE_TRACEFS };
	const struct pairing_sink sink = { .request = on_request, .ctx = s };
	int ret;

	if (pairing_new(&s->pairing, &pairing, &sink) || thread_table_new(&s->threads, NULL))
		return err_set(err, ENOMEM, "tracefs: out of memory");
	ret = tracefs_instance_new(&s->instance, err);
	if (ret)
		return ret;
	ret = settings_make(s, config, err);
	if (ret)
		return ret;
	ret = layout_read(s, err);
	if (ret)
		return ret;
	s->block.is_big_endian = s->layout.is_big_endian;
	ret = trace_block_init(&s->block, config->layer, format_load, s, err);
	if (ret)
		return ret;
	ret = trace_cpus_open(&s->cpus, s->instance.fd, &s->layout, &s->block, err);
	if (ret)
		return ret;
	/*
	 * All events are enabled together, so that the end of each request whose beginning was seen
	 * is seen too.
	 */
	for (size_t i = 0; i < s->block.nr; i++) {
		ret = event_enable(s, s->block.events[i].name, config, err);
		if (ret)
			return ret;
	}
	tally_begin(s, config);
	return source_tracefs_set(s, "tracing_on", "1", err);
}

static int source_tracefs_open(struct source **out, const struct source_config *config,
			       struct err *err)
{
	int ret = config_check(config, err);
	struct source *s = ret ? NULL : calloc(1, sizeof(*s));

	if (ret)
		return ret;
	if (!s)
		return err_set(err, ENOMEM, "tracefs: out of memory");
	s->instance = (struct tracefs_instance){ .root_fd = -1, .fd = -1 };
	s->only_device = config->nr_devices == 1 ? config->devices[0] : 0;
	ret = source_tracefs_prepare(s, config, err);
	if (ret) {
		source_free(s);
		return ret;
	}
	s->look_ns = clock_monotonic_ns();
	*out = s;
	return 0;
}

static int source_tracefs_probe(char *what, size_t what_bytes, struct err *err)
{
	const struct source_config config = { .layer = LAYER_DEVICE, .ring_bytes = 64 << 10 };
	struct source *s;
	int ret = source_tracefs_open(&s, &config, err);

	if (ret)
		return ret;
	if (what)
		snprintf(what, what_bytes,
			 "every request, no cgroup; %s and %zu other block events, pages of %u KiB",
			 s->block.events[0].name, s->block.nr - 1, s->layout.page_bytes >> 10);
	source_free(s);
	return 0;
}

static int source_tracefs_fd(const struct source *s)
{
	return trace_cpus_fd(s->cpus);
}

static void source_tracefs_close(struct source *s, const struct source_sink *sink)
{
	if (!s)
		return;
	s->sink = sink;
	kernel_tally_settle(&s->tally, UINT64_MAX, tell_missing,
			    s); /* this cuts a waiting request short */
	losses_look(s);
	tracefs_write(s->instance.fd, "tracing_on", "0");
	if (!source_tracefs_take(s, UINT64_MAX)) {
		s->fed_ns = clock_monotonic_ns();
		unseen_settle(s, s->fed_ns);
		pairing_tell_unclosed(s->pairing);
	}
	kernel_tally_settle(&s->tally, UINT64_MAX, tell_missing, s);
	source_free(s);
}

const struct source_ops source_tracefs = {
	.name = "tracefs",
	.id = SOURCE_TRACEFS,
	.probe = source_tracefs_probe,
	.open = source_tracefs_open,
	.poll = source_tracefs_poll,
	.fd = source_tracefs_fd,
	.close = source_tracefs_close,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/capture/pipeline.h"
#include "agent/capture/stream.h"
#include "agent/confine.h"
#include "agent/guest/cgroup.h"
#include "agent/guest/device.h"
#include "agent/guest/fileset_scan.h"
#include "agent/guest/identity.h"
#include "agent/guest/machine.h"
#include "agent/guest/machine_watch.h"
#include "agent/guest/mounts.h"
#include "agent/send/hindsight.h"
#include "agent/send/sender.h"
#include "agent/show/metrics.h"
#include "agent/show/top.h"
#include "agent/source/source.h"
#include "base/system/clock.h"

#define HEARTBEAT_NS 60000000000u
#define LOOK_NS	     100000000u /* shortest time between two looks of the main thread */
#define START_NICE   (-10)

struct agent {
	struct config *config;
	struct log *log;
	struct machine machine;
	struct machine_watch watch;
	uint32_t devices[CONFIG_MAX_LIST]; /* the disks that the user named */
	struct source_cgroup cgroups[CONFIG_MAX_LIST];
	uint32_t watched[ACCOUNT_MAX_DEVICES]; /* all disks, where the user named none */
	size_t nr_watched;

	const struct source_ops *source;
	/* set where choosing the source opened it; the pipeline takes it over */
	struct source *opened;
	struct board *board;
	struct hindsight *hindsight; /* which requests are sent */
	struct sender *sender;
	struct fileset_scan *filesets;
	struct pipeline *_Atomic pipeline;
	struct metrics *metrics;

	uint64_t end_ns; /* end of the configured duration; UINT64_MAX: none */
	const struct stop_wait *stop;
	int nice; /* the process's nice value when it was started */
};

static int find_devices(struct agent *a, struct err *err)
{
	for (size_t i = 0; i < a->config->devices.nr; i++) {
		struct device_info info;
		int ret = device_find(a->config->devices.items[i], &info, err);

		if (ret)
			return ret;
		if (info.partition)
			return err_set(err, EINVAL,
				       "device: %s: is a partition: expected the whole disk, %u:%u",
				       info.name, device_major(info.disk), device_minor(info.disk));
		a->devices[i] = info.disk;
	}
	for (size_t i = 0; i < a->config->cgroups.nr; i++) {
		int ret = cgroup_find(a->config->cgroups.items[i], &a->cgroups[i].id,
				      &a->cgroups[i].level, err);

		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Notes a whole disk for the account. Disks beyond the bound are not accounted for across a death.
 */
static int note_disk(void *ctx, const struct device_info *info)
{
	struct agent *a = ctx;

	if (!info->partition && info->size_bytes && a->nr_watched < ACCOUNT_MAX_DEVICES)
		a->watched[a->nr_watched++] = info->device;
	return 0;
}

static int agent_describe(uint32_t device, struct pipeline_device *out)
{
	struct device_info info;
	int ret = device_read(device, &info);

	if (ret)
		return ret;
	memccpy(out->name, info.name, 0, sizeof(out->name) - 1);
	out->size_bytes = info.size_bytes;
	out->is_hidden = device_is_hidden_by_default(&info);
	mounts_file_systems(MOUNTS_PATH, device, out->file_system, sizeof(out->file_system));
	return 0;
}

/* If the user named no output, a terminal shows the live view, and any other output gets lines. */
static int choose_output(struct config *c, struct err *err)
{
	if (c->sinks.nr || c->top || c->listen)
		return 0;
	if (isatty(STDOUT_FILENO)) {
		c->top = true;
		return 0;
	}
	c->sinks.items[0] = strdup("stdout:");
	if (!c->sinks.items[0])
		return err_set(err, ENOMEM, "no memory");
	c->sinks.nr = 1;
	return 0;
}

static size_t scan_pids(void *ctx, uint32_t *out, size_t max)
{
	struct agent *a = ctx;
	struct pipeline *p = atomic_load(&a->pipeline);

	return p ? pipeline_pids(p, out, max) : 0;
}

/* Wakes the main thread, so that it calls is_over() again. Any thread. */
static void wake_main(void *ctx)
{
	struct agent *a = ctx;

	stop_wait_tell(a->stop);
}

static int open_sender(struct agent *a, struct err *err)
{
	struct sender_config config = { .host = a->machine.host,
					.boot_id = a->machine.boot_id,
					.urls = (const char *const *)a->config->sinks.items,
					.nr_urls = a->config->sinks.nr,
					.spool_dir = a->config->spool,
					.spool_bytes = a->config->spool_bytes,
					.access = a->config->access,
					.spool_keeps_oldest = a->config->spool_keeps_oldest,
					.identity = identity_read(NULL),
					.has_trace = a->config->has_trace,
					.log = a->log,
					.on_failure = wake_main,
					.ctx = a };

	if (hindsight_new(&a->hindsight, a->config->hindsight_ns,
			  policy_ppm(a->config->least_ratio), a->machine.boot_id))
		return err_set(err, ENOMEM, "no memory");
	hindsight_set_window(a->hindsight, a->config->window_ns);
	config.hindsight = a->hindsight;
	/* The kernel counts the requests of every process at the device layer. */
	config.watches_all =
		a->config->layer == LAYER_DEVICE && !a->config->cgroups.nr && !a->source->profiles;
	return sender_new(&a->sender, &config, err);
}

static int open_filesets(struct agent *a, struct err *err)
{
	struct fileset_config config = { .dirs = (const char *const *)a->config->filesets.items,
					 .nr_dirs = a->config->filesets.nr,
					 .pids = scan_pids,
					 .ctx = a };

	return fileset_scan_new(&a->filesets, &config, err);
}

static int on_opened(void *ctx, uint64_t needs, struct err *err)
{
	struct agent *a = ctx;

	return confine_drop(a->config, needs, err);
}

static struct source_config source_config(const struct agent *a)
{
	return (struct source_config){ .devices = a->devices,
				       .nr_devices = a->config->devices.nr,
				       .cgroups = a->cgroups,
				       .nr_cgroups = a->config->cgroups.nr,
				       .layer = a->config->layer };
}

static int choose_source(struct agent *a, struct err *err)
{
	const struct source_config config = source_config(a);

	return source_choose_open(&a->source, &a->opened, a->config->source, &config, err);
}

static int start_pipeline(struct agent *a, struct err *err)
{
	const struct config *c = a->config;
	struct pipeline_config config = { .source = a->source,
					  .source_opened = a->opened,
					  .source_config = source_config(a),
					  .watched = a->watched,
					  .nr_watched = a->nr_watched,
					  .window_ns = c->window_ns,
					  .segment_interval_ns = c->segment_interval_ns,
					  .heartbeat_ns = HEARTBEAT_NS,
					  .has_trace = c->has_trace,
					  .leave_out_own = c->leave_out_own,
					  .max_overhead = c->max_overhead,
					  .host = a->machine.host,
					  .boot_id = a->machine.boot_id,
					  .key = machine_key(&a->machine),
					  .key_host = a->machine.real_host,
					  .sender = a->sender,
					  .board = a->board,
					  .hindsight = a->hindsight,
					  .hindsight_p99_ns = c->hindsight_p99_ns,
					  .filesets = a->filesets,
					  .log = a->log,
					  .opened = on_opened,
					  .on_failure = wake_main,
					  .ctx = a,
					  .describe = agent_describe,
					  .nice_after_start = &a->nice,
					  .read_in_flight = device_in_flight,
					  .read_completed =
						  a->source->profiles ? NULL : device_completed };
	struct pipeline *p;
	int ret;

	a->opened = NULL;
	ret = pipeline_start(&p, &config, err);
	if (ret)
		goto out;
	atomic_store(&a->pipeline, p);
	log_say(a->log, LEVEL_INFO, "tracing", "source=%s", a->source->name);
	/* Loading the tracer reads the kernel's types, some MiB, which are no longer needed. */
out:
	malloc_trim(0);
	return ret;
}

static int listen_on(struct agent *a, struct err *err)
{
	int ret = metrics_listen(&a->metrics, a->config->listen, a->board, err);

	if (ret)
		return ret;
	log_say(a->log, LEVEL_INFO, "listening", "address=%s port=%u", a->config->listen,
		metrics_port(a->metrics));
	return 0;
}

/* Starts the remaining threads, which by now cannot inherit a capability. */
static int start_threads(struct agent *a, struct err *err)
{
	int ret = a->metrics ? metrics_start(a->metrics, err) : 0;

	return ret ? ret : fileset_scan_start(a->filesets, err);
}

/*
 * Nobody watches the disks until the start is over, and the start needs 0.1 to 0.2 s of processor
 * time, most of it to load the tracer. At the priority of the load, or below it, that can take many
 * seconds. So the start runs at a raised priority where that is permitted; pipeline_start() takes
 * the priority back before it starts threads that would inherit it.
 */
static void agent_hurry(struct agent *a)
{
	a->nice = getpriority(PRIO_PROCESS, 0);
	if (a->nice > START_NICE)
		setpriority(PRIO_PROCESS, 0, START_NICE);
}

/*
 * Opens the parts that read or write something outside of the agent; each of them may be refused.
 */
static int agent_open(struct agent *a, struct err *err)
{
	int ret = machine_read(&a->machine, a->config->host, a->config->anonymize, err);

	if (ret)
		return ret;
	ret = find_devices(a, err);
	if (ret)
		return ret;
	ret = choose_source(a, err);
	if (ret)
		return ret;
	if (board_new(&a->board))
		return err_set(err, ENOMEM, "no memory");
	if (a->config->top && top_is_screen(a->config->top_count) && board_want_who(a->board))
		return err_set(err, ENOMEM, "no memory for the sums by process");
	ret = a->config->listen ? listen_on(a, err) : 0;
	if (ret)
		return ret;
	ret = open_filesets(a, err);
	if (ret)
		return ret;
	return open_sender(a, err);
}

/*
 * Starts the parts in the order in which they need each other. agent_stop() releases them on
 * failure.
 */
static int agent_begin(struct agent *a, struct err *err)
{
	int ret = choose_output(a->config, err);

	if (ret)
		return ret;
	agent_hurry(a);
	ret = confine_start(a->config, a->log, err);
	if (ret)
		return ret;
	ret = agent_open(a, err);
	if (ret)
		return ret;
	if (!a->config->devices.nr)
		device_list(note_disk, a);
	ret = start_pipeline(a, err);
	if (ret)
		return ret;
	ret = start_threads(a, err);
	if (ret)
		return ret;
	return confine_run(a->config, a->source, a->log, err);
}

/*
 * Returns whether requests or profiles are kept or sent. A live view or a page of metrics needs no
 * such message.
 */
static bool is_recording(const struct agent *a)
{
	return a->config->sinks.nr && !a->config->top;
}

static void agent_append(char *text, size_t size, const char *word)
{
	size_t len = strlen(text);

	snprintf(text + len, size - len, "%s%s", len ? ", " : "", word);
}

/* Appends the names of the chosen devices; none where every disk is watched. */
static void agent_say_devices(const struct agent *a, char *out, size_t size)
{
	for (size_t i = 0; i < a->config->devices.nr; i++)
		agent_append(out, size, a->config->devices.items[i]);
}

static void say_start(const struct agent *a)
{
	char devices[256] = "", sinks[512] = "";

	if (!is_recording(a))
		return;
	agent_say_devices(a, devices, sizeof(devices));
	for (size_t i = 0; i < a->config->sinks.nr; i++)
		agent_append(sinks, sizeof(sinks), a->config->sinks.items[i]);
	fprintf(stderr, "blkcast-agent: recording %s, source %s, windows of %g s, to %s\n",
		*devices ? devices : "every disk", a->source->name,
		(double)a->config->window_ns / 1e9, sinks);
}

int agent_start(struct agent **out, struct config *config, struct log *log,
		const struct stop_wait *stop, struct err *err)
{
	struct agent *a = calloc(1, sizeof(*a));
	int ret;

	if (!a)
		return err_set(err, ENOMEM, "no memory");
	a->config = config;
	a->log = log;
	a->stop = stop;
	ret = agent_begin(a, err);
	if (ret) {
		agent_stop(a, NULL);
		return ret;
	}
	a->end_ns = config->duration_ns ? clock_monotonic_ns() + config->duration_ns : UINT64_MAX;
	say_start(a);
	*out = a;
	return 0;
}

/* Called by the main thread, ten times a second while it shows the live view. */
static bool is_over(void *ctx)
{
	struct agent *a = ctx;
	struct machine_news news;

	if (stop_wait_take_ask(a->stop))
		hindsight_ask(a->hindsight, clock_monotonic_ns());
	if (machine_watch_look(&a->watch, &news))
		pipeline_tell_machine(a->pipeline, &news);
	return stop_wait_is_asked(a->stop) || clock_monotonic_ns() >= a->end_ns ||
	       pipeline_failed(a->pipeline, NULL) || sender_failed(a->sender, NULL);
}

/*
 * Returns the time until the next look at the machine's clock and at the end of the duration, which
 * wake nobody.
 */
static uint64_t rest_ns(const struct agent *a)
{
	uint64_t now = clock_monotonic_ns(), look_ns = machine_watch_due_ns(&a->watch);

	look_ns = look_ns > now + LOOK_NS ? look_ns : now + LOOK_NS;
	if (a->end_ns < look_ns)
		look_ns = a->end_ns;
	return look_ns > now ? look_ns - now : 0;
}

static int show_top(struct agent *a)
{
	struct top_config config = { .board = a->board,
				     .interval_ns = a->config->top_interval_ns,
				     .count = a->config->top_count,
				     .title = a->machine.host,
				     .is_over = is_over,
				     .ctx = a };

	if (!config.interval_ns)
		config.interval_ns = a->config->window_ns;
	return top_run(&config);
}

int agent_watch(struct agent *a, struct err *err)
{
	int ret = 0;

	machine_watch_init(&a->watch, NULL, stream_anchor);
	if (a->config->top)
		ret = show_top(a);
	else
		while (!is_over(a))
			stop_wait_sleep(a->stop, rest_ns(a));
	if (pipeline_failed(a->pipeline, err))
		return -EIO;
	if (sender_failed(a->sender, err))
		return -EIO;
	return ret ? err_set(err, -ret, "standard output: %s", strerror(-ret)) : 0;
}

/*
 * Says what was watched where nothing came. Most often an application is answered by memory, or its
 * files lie on another device.
 */
static void say_nothing_came(const struct agent *a)
{
	char devices[256] = "";

	agent_say_devices(a, devices, sizeof(devices));
	fprintf(stderr,
		"blkcast-agent: no request%s reached %s while it was watched. Reads that the page "
		"cache answers and writes that are still in memory reach no device, and files may "
		"lie on another one\n",
		a->config->cgroups.nr ? " of the chosen cgroups" : "",
		*devices ? devices : "any disk");
}

/* Prints the totals that the pipeline posted on the board when it stopped. */
static void say_end(const struct agent *a, const struct sender_end *end)
{
	const struct board_device *devices;
	struct board_totals totals;
	uint64_t lost = 0, untimed = 0, nr_requests = 0;
	size_t nr;

	devices = board_lock(a->board, &nr, &totals);
	for (size_t i = 0; i < nr; i++) {
		untimed += devices[i].untimed;
		for (int op = 0; op < NR_OPERATIONS; op++)
			nr_requests += devices[i].requests[op];
	}
	board_unlock(a->board);
	for (int i = 0; i < NR_LOSS_CAUSES; i++)
		lost += totals.lost[i];
	fprintf(stderr, "blkcast-agent: ended: %" PRIu64 " requests captured, %" PRIu64 " lost",
		totals.captured, lost);
	if (untimed)
		fprintf(stderr, ", %" PRIu64 " without response time", untimed);
	if (end->takes_segments)
		fprintf(stderr,
			"; %" PRIu64 " segment%s delivered, %" PRIu64 " waiting (%" PRIu64
			" bytes)",
			end->nr_delivered, end->nr_delivered == 1 ? "" : "s",
			end->waiting.nr_segments, end->waiting.bytes);
	fputc('\n', stderr);
	if (!totals.captured && !lost && !nr_requests)
		say_nothing_came(a);
}

int agent_stop(struct agent *a, struct err *err)
{
	struct sender_end end;
	bool has_run;
	int ret;

	if (!a)
		return 0;
	has_run = a->pipeline != NULL && a->end_ns;
	fileset_scan_stop(a->filesets);
	pipeline_stop(a->pipeline);
	if (a->opened)
		a->source->close(a->opened, NULL);
	ret = sender_finish(a->sender, AGENT_STOP_WAIT_S, &end, err);
	if (has_run && is_recording(a))
		say_end(a, &end);
	fileset_scan_free(a->filesets);
	metrics_free(a->metrics);
	board_free(a->board);
	hindsight_free(a->hindsight);
	pseudonym_key_forget(&a->machine.key);
	free(a);
	return ret;
}

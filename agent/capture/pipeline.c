/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/capture/catch_up.h"
#include "agent/capture/pace.h"
#include "agent/capture/pipeline_state.h"

#define CAPTURE_NICE (-10)

static void tell_devices(struct pipeline *p)
{
	struct segment_device *facts;

	if (!p->stream)
		return;
	facts = calloc(p->nr_devices ? p->nr_devices : 1, sizeof(*facts));
	for (size_t i = 0; facts && i < p->nr_devices; i++)
		facts[i] = p->devices[i].facts;
	if (!facts || stream_set_devices(p->stream, facts, p->nr_devices))
		log_say(p->config.log, LEVEL_WARN, "device_not_named", "why=\"no memory\"");
	free(facts);
}

static void pipeline_describe(struct pipeline *p, struct traced *t, uint32_t device)
{
	struct pipeline_device facts = { .is_hidden = false };

	t->facts.device = device;
	if (!p->config.describe || p->config.describe(device, &facts))
		snprintf(facts.name, sizeof(facts.name), "%u:%u", device_major(device),
			 device_minor(device));
	memcpy(t->facts.name, facts.name, sizeof(t->facts.name));
	t->facts.size_bytes = facts.size_bytes;
	t->is_hidden = facts.is_hidden;
	for (size_t i = 0; i < p->config.source_config.nr_devices; i++)
		t->is_named |= p->config.source_config.devices[i] == device;
	t->is_hidden &= !t->is_named;
	if (p->config.key)
		pseudonym_device(p->config.key, t->facts.name, t->facts.name);
}

/* What the device is, and what is kept of it. -ENOMEM: nothing is kept. */
static int traced_init(struct pipeline *p, struct traced *t, uint32_t device)
{
	struct window_config config = { .leave_out_own = p->config.leave_out_own };

	*t = (struct traced){ .seen.device = device };
	pipeline_describe(p, t, device);
	if (p->config.key && place_map_new(&t->places, p->config.key, p->config.key_host, device,
					   t->facts.size_bytes))
		return -ENOMEM;
	if (!window_new(&t->window, &config, p->window_begin_ns))
		return 0;
	place_map_free(t->places);
	return -ENOMEM;
}

static struct traced *device_add(struct pipeline *p, uint32_t device)
{
	size_t nr = p->nr_devices + 1;
	struct traced *devices = realloc(p->devices, nr * sizeof(*devices));
	struct account_count *seen;

	if (devices)
		p->devices = devices;
	seen = realloc(p->seen, (nr + 1) * sizeof(*seen));
	if (seen)
		p->seen = seen;
	if (!devices || !seen || traced_init(p, &devices[nr - 1], device))
		return NULL;
	p->last_device = p->nr_devices++;
	tell_devices(p);
	log_say(p->config.log, LEVEL_INFO, "device_traced", "name=%s device=%u:%u",
		devices[nr - 1].facts.name, device_major(device), device_minor(device));
	return &devices[nr - 1];
}

struct traced *pipeline_device(struct pipeline *p, uint32_t device)
{
	if (p->last_device < p->nr_devices && p->devices[p->last_device].facts.device == device)
		return &p->devices[p->last_device];
	for (size_t i = 0; i < p->nr_devices; i++)
		if (p->devices[i].facts.device == device) {
			p->last_device = i;
			return &p->devices[i];
		}
	return device_add(p, device);
}

static void pipeline_take(struct pipeline *p, const struct request *r)
{
	struct traced *t = pipeline_device(p, r->device);
	struct request moved;

	p->nr_captured++;

	if (t && t->places) {
		moved = *r;
		place_map_request(t->places, &moved);
		r = &moved;
	}
	if (t) {
		t->seen.nr++;
		t->seen.nr_countable += !(r->flags & REQUEST_PASSTHROUGH);
	}
	if (!t) {
		pipeline_on_lost(p, LOSS_REORDER, 1, 0);
	} else if (reorder_add(p->reorder, r)) {
		t->lost_in_window++;
		pipeline_lost(p, LOSS_REORDER, 1, r->device);
	}
}

static void hold_early(struct pipeline *p, const struct request *r)
{
	struct early *e = &p->early;

	if (e->nr == e->cap) {
		size_t cap = e->cap ? 2 * e->cap : 1024;
		struct request *more = realloc(e->r, cap * sizeof(*more));

		if (!more) {
			pipeline_on_lost(p, LOSS_REORDER, 1, r->device);
			return;
		}
		e->r = more;
		e->cap = cap;
	}
	e->r[e->nr++] = *r;
}

void pipeline_feed(struct pipeline *p, const struct request *r)
{
	struct request marked = *r;

	if (r->pid == p->own_pid && !(r->flags & REQUEST_NO_ISSUER))
		marked.flags |= REQUEST_OWN;
	if (p->stalls.nr && stalls_hold(&p->stalls, r))
		marked.flags |= REQUEST_PAUSED;
	pipeline_take(p, &marked);
}

static void on_request(void *ctx, const struct request *r)
{
	struct pipeline *p = ctx;

	p->nr_polled++;
	if (p->early.is_active || (p->is_stalled && pipeline_ask(p, r)))
		hold_early(p, r);
	else
		pipeline_feed(p, r);
}

static void on_task(void *ctx, uint32_t tid, uint32_t pid, const char *comm, bool kernel_thread)
{
	struct pipeline *p = ctx;

	(void)kernel_thread;
	if (p->stream)
		stream_task(p->stream, tid, pid, comm);
}

/* In order of arrival, a batch at a time: to the windows by runs of one device, to the stream. */
static void on_release(void *ctx, struct request *r, size_t nr)
{
	struct pipeline *p = ctx;

	for (size_t i = 0, run; i < nr; i += run) {
		struct traced *t = pipeline_device(p, r[i].device);

		for (run = 1; i + run < nr && r[i + run].device == r[i].device; run++)
			;
		if (t && window_add_many(t->window, r + i, run))
			log_say(p->config.log, LEVEL_WARN, "window_incomplete",
				"device=%s why=\"no memory\"", t->facts.name);
		if (t && p->overhead.level != OVERHEAD_FULL)
			t->shed_in_window += run;
	}
	p->nr_in_window += nr;
	if (p->stream && p->overhead.level == OVERHEAD_FULL)
		stream_add(p->stream, r, nr);
}

/* Closes all windows that were over when the poll began. */
static void close_due_windows(struct pipeline *p, uint64_t poll_begin_ns)
{
	uint64_t end_ns;

	for (unsigned int i = 0;
	     (end_ns = catch_up_end(p->window_begin_ns, p->config.window_ns, poll_begin_ns, i));
	     i++)
		pipeline_close_windows(p, end_ns);
}

static void tell_account(struct pipeline *p)
{
	if (!p->stream)
		return;
	for (size_t i = 0; i < p->nr_devices; i++)
		p->seen[i] = p->devices[i].seen;
	p->seen[p->nr_devices] = (struct account_count){ 0, p->unplaced, p->unplaced };
	account_seen(sender_account(p->config.sender), p->last_poll_real_ns, p->seen,
		     p->nr_devices + 1);
}

/* One poll: 0, or -errno where the source died. */
static int poll_once(struct pipeline *p)
{
	int64_t ret;

	p->nr_polled = 0;
	ret = p->config.source->poll(p->source, &p->sink);
	if (ret < 0)
		return (int)ret;
	p->last_poll_real_ns = clock_ns(CLOCK_REALTIME);
	if (p->stream)
		stream_captured(p->stream, p->nr_polled);
	tell_account(p);
	return 0;
}

/*
 * Sleeps until pipeline_stop() wakes it or it is time to look, which is returned; while little comes,
 * also until the source does.
 */
static uint64_t wait_for_work(struct pipeline *p, const struct pace *pace)
{
	struct pollfd fds[2] = { { .fd = p->wake_fd, .events = POLLIN },
				 { .fd = p->config.source->fd(p->source), .events = POLLIN } };
	uint64_t due_ns = p->window_begin_ns + p->config.window_ns + CATCH_UP_SETTLE_NS;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t wait_ns = due_ns > now_ns ? due_ns - now_ns : 0;

	wait_ns = wait_ns < pace->wait_ns ? wait_ns : pace->wait_ns;
	if (wait_ns)
		poll(fds, fds[1].fd < 0 || !pace_heeds_source(pace) ? 1 : 2,
		     (int)((wait_ns + 999999) / 1000000));
	return wait_ns;
}

static void pipeline_finish(struct pipeline *p)
{
	uint64_t end_ns;

	p->nr_polled = 0;
	/* One that counts tells of the last window as that closes. */
	if (!p->config.source->profiles) {
		p->config.source->close(p->source, &p->sink);
		p->source = NULL;
	}
	if (p->stream)
		stream_captured(p->stream, p->nr_polled);
	p->last_poll_real_ns = clock_ns(CLOCK_REALTIME);
	pipeline_tally_shed(p, true);
	tell_account(p);
	end_ns = clock_ns(CLOCK_MONOTONIC);
	close_due_windows(p, end_ns);
	reorder_flush(p->reorder, UINT64_MAX);
	if (end_ns > p->window_begin_ns)
		pipeline_close_windows(p, end_ns);
	if (p->stream) {
		stream_close_segment(p->stream);
		sender_drain(p->config.sender);
		/* A loss that no segment tells of would be silent until a later agent tells it. */
		if (account_has_untold(sender_account(p->config.sender)))
			stream_close_segment(p->stream);
	}
	pipeline_set_totals(p);
}

/* What the calling thread no longer needs, now that the source is open. */
static int give_up_privileges(struct pipeline *p, struct err *err)
{
	const struct source_ops *source = p->config.source;

	if (!p->config.opened)
		return 0;
	return p->config.opened(p->config.ctx, source->needs ? source->needs(p->source) : 0, err);
}

static void pipeline_capture(struct pipeline *p)
{
	uint64_t last_ns = clock_ns(CLOCK_MONOTONIC);
	struct pace pace;

	pace_init(&pace, p->config.source->is_patient);
	while (!atomic_load(&p->stop)) {
		uint64_t wait_ns = wait_for_work(p, &pace);
		uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
		int ret;

		pipeline_look(p, wait_ns);
		ret = poll_once(p);
		pipeline_tell_pauses(p);
		pace_note(&pace, begin_ns - last_ns, p->nr_polled);
		last_ns = begin_ns;
		if (!ret)
			close_due_windows(p, begin_ns);
		ret = ret ? ret : p->source_error;
		if (ret) {
			err_set(&p->error, -ret, "the %s source failed: %s", p->config.source->name,
				strerror(-ret));
			atomic_store(&p->failed, true);
			if (p->config.on_failure)
				p->config.on_failure(p->config.ctx);
			break;
		}
		if (p->stream)
			stream_tick(p->stream, begin_ns);
	}
	pipeline_finish(p);
}

/*
 * Late by a tenth of a second it loses requests, and it needs little: ahead of the load that it
 * watches. Without the right to (CAP_SYS_NICE, RLIMIT_NICE), at its turn. It begins while it may and
 * captures once pipeline_start() has come to that.
 */
static void *capture_loop(void *ctx)
{
	struct pipeline *p = ctx;

	setpriority(PRIO_PROCESS, 0, CAPTURE_NICE);
	p->thread_error = give_up_privileges(p, &p->error);
	sem_post(&p->is_ready);
	while (sem_wait(&p->may_run))
		;
	if (p->has_begun)
		pipeline_capture(p);
	return NULL;
}

static int open_source(struct pipeline *p, struct err *err)
{
	const struct source_ops *source = p->config.source;
	int ret = 0;

	p->sink = (struct source_sink){ .request = on_request,
					.task = on_task,
					.lost = pipeline_on_lost,
					.gap = pipeline_on_gap,
					.ctx = p };
	p->last_poll_real_ns = clock_ns(CLOCK_REALTIME);
	if (!p->source)
		ret = source->open(&p->source, &p->config.source_config, err);
	return ret || !source->begin ? ret : source->begin(p->source, err);
}

/* The disks whose requests this run accounts for: the named ones, or all. */
static int take_cutover(struct pipeline *p, struct cutover *cut)
{
	const struct source_config *source = &p->config.source_config;
	const uint32_t *devices = source->nr_devices ? source->devices : p->config.watched;
	size_t nr = source->nr_devices ? source->nr_devices : p->config.nr_watched;

	if (nr > ACCOUNT_MAX_DEVICES)
		nr = ACCOUNT_MAX_DEVICES;
	return cutover_take(cut, devices, p->config.read_completed ? nr : 0,
			    p->config.read_completed);
}

/*
 * Splits what was delivered so far at the cutover, and lets the account take over from the run
 * before. Requests that the kernel had counted by then are in its base, not in this run.
 */
static int begin_account(struct pipeline *p, struct account *account, uint64_t epoch,
			 struct err *err)
{
	struct account_base bases[ACCOUNT_MAX_DEVICES];
	struct cutover cut = { 0 };
	uint64_t uncertain;
	int64_t ret;

	p->early.is_active = true;
	ret = take_cutover(p, &cut);
	if (ret)
		return err_set(err, ENOMEM, "no memory to begin");
	ret = p->config.source->poll(p->source, &p->sink);
	p->early.is_active = false;
	if (ret < 0) {
		cutover_release(&cut);
		return err_set(err, (int)-ret, "the %s source failed: %s", p->config.source->name,
			       strerror((int)-ret));
	}
	cutover_choose(&cut, p->early.r, p->early.nr);
	uncertain = cutover_bases(&cut, bases);
	if (uncertain)
		log_say(p->config.log, LEVEL_INFO, "cutover", "uncertain_requests=%llu",
			(unsigned long long)uncertain);
	account_begin(account, epoch, clock_ns(CLOCK_REALTIME), bases, cut.nr);
	pipeline_begin_tallies(p, bases, cut.nr);
	p->nr_polled = 0;
	for (size_t i = 0; i < p->early.nr; i++)
		if (cutover_counts(&cut, &p->early.r[i]))
			on_request(p, &p->early.r[i]);
	cutover_release(&cut);
	return 0;
}

static int begin_stream(struct pipeline *p, struct err *err)
{
	struct account *account = sender_account(p->config.sender);
	struct stream_config config = { .host = p->config.host,
					.boot_id = p->config.boot_id,
					.key = p->config.key,
					.source = p->config.source->id,
					.layer = p->config.source_config.layer,
					.interval_ns = p->config.segment_interval_ns,
					.heartbeat_ns = p->config.heartbeat_ns,
					.sender = p->config.sender,
					.log = p->config.log };
	int ret;

	if (!account || !p->config.has_trace)
		return sender_start(p->config.sender, 0, err);
	config.epoch = account_next_epoch(account, clock_ns(CLOCK_REALTIME));
	ret = stream_new(&p->stream, &config);
	if (ret)
		return err_set(err, -ret, "no memory for the stream");
	tell_devices(p);
	ret = begin_account(p, account, config.epoch, err);
	free(p->early.r);
	p->early = (struct early){ 0 };
	if (ret)
		return ret;
	stream_captured(p->stream, p->nr_polled);
	return sender_start(p->config.sender, config.epoch, err);
}

static void pipeline_release(struct pipeline *p)
{
	if (p->has_thread && !p->has_begun) {
		sem_post(&p->may_run);
		pthread_join(p->thread, NULL);
	}
	sem_destroy(&p->is_ready);
	sem_destroy(&p->may_run);
	if (p->counting)
		source_diskstats.close(p->counting, NULL);
	if (p->source)
		p->config.source->close(p->source, NULL);
	for (size_t i = 0; i < p->nr_devices; i++) {
		window_free(p->devices[i].window);
		place_map_free(p->devices[i].places);
	}
	stream_free(p->stream);
	reorder_free(p->reorder);
	if (p->wake_fd >= 0)
		close(p->wake_fd);
	free(p->early.r);
	free(p->devices);
	free(p->seen);
	free(p);
}

/* The kernel counts requests by disk: neither bios nor those of a cgroup. */
static bool can_count_only(const struct pipeline *p)
{
	const struct source_config *c = &p->config.source_config;

	return p->config.source->shed && c->layer == LAYER_DEVICE && !c->nr_cgroups;
}

/* The capture thread, which waits for may_run; from here on neither it nor this one is privileged. */
static int start_thread(struct pipeline *p, struct err *err)
{
	int ret = pthread_create(&p->thread, NULL, capture_loop, p);

	if (ret)
		return err_set(err, ret, "cannot start the capture thread: %s", strerror(ret));
	p->has_thread = true;
	pthread_setname_np(p->thread, "capture");
	while (sem_wait(&p->is_ready))
		;
	if (p->thread_error)
		*err = p->error;
	return p->thread_error ? p->thread_error : give_up_privileges(p, err);
}

static int start(struct pipeline *p, struct err *err)
{
	struct reorder_sink out = { on_release, p };
	size_t held = p->config.max_held ? p->config.max_held : REORDER_MAX_HELD;
	int ret;

	p->seen = calloc(1, sizeof(*p->seen));
	p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->wake_fd < 0 || !p->seen || reorder_new(&p->reorder, held, &out))
		return err_set(err, ENOMEM, "no memory for the pipeline");
	ret = open_source(p, err);
	if (ret)
		return ret;
	overhead_init(&p->overhead, p->config.max_overhead, p->config.has_trace, can_count_only(p));
	p->window_begin_ns = clock_ns(CLOCK_MONOTONIC);
	reorder_set_period_end(p->reorder, p->window_begin_ns + p->config.window_ns);
	for (size_t i = 0; i < p->config.source_config.nr_devices; i++)
		if (!pipeline_device(p, p->config.source_config.devices[i]))
			return err_set(err, ENOMEM, "no memory for the devices");
	ret = start_thread(p, err);
	if (!ret)
		ret = begin_stream(p, err);
	if (ret)
		return ret;
	pipeline_set_totals(p);
	p->has_begun = true;
	sem_post(&p->may_run);
	return 0;
}

int pipeline_start(struct pipeline **out, const struct pipeline_config *config, struct err *err)
{
	struct pipeline *p = calloc(1, sizeof(*p));
	int ret;

	if (!p) {
		if (config->source_opened)
			config->source->close(config->source_opened, NULL);
		return err_set(err, ENOMEM, "no memory for the pipeline");
	}
	p->config = *config;
	p->source = config->source_opened;
	p->own_pid = (uint32_t)getpid();
	p->wake_fd = -1;
	sem_init(&p->is_ready, 0, 0);
	sem_init(&p->may_run, 0, 0);
	ret = start(p, err);
	if (ret) {
		pipeline_release(p);
		return ret;
	}
	*out = p;
	return 0;
}

bool pipeline_failed(struct pipeline *p, struct err *err)
{
	bool failed = atomic_load(&p->failed);

	if (failed && err)
		*err = p->error;
	return failed;
}

void pipeline_stop(struct pipeline *p)
{
	uint64_t one = 1;

	if (!p)
		return;
	atomic_store(&p->stop, true);
	/* Cannot fail but by a full counter, which wakes just as well. */
	if (write(p->wake_fd, &one, sizeof(one)) < 0)
		errno = 0;
	pthread_join(p->thread, NULL);
	pipeline_release(p);
}

size_t pipeline_pids(struct pipeline *p, uint32_t *out, size_t max)
{
	return p->stream ? stream_pids(p->stream, out, max) : 0;
}

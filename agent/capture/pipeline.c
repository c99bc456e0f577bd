/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline: starts and stops the pipeline and has the loop of the capture thread: wait, poll the
 * source, settle pauses, tell the account which requests were seen, close the windows and the
 * segment that are over.
 */
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/capture/pace.h"
#include "agent/capture/pipeline_state.h"

#define CAPTURE_NICE (-10)
/*
 * Memory is given back at this interval. It is long, since each page that the usual load fills
 * again costs a page fault.
 */
#define GIVE_BACK_NS 60000000000u

/* Closes all windows that were over when the poll began: their last requests have been polled. */
static void close_due_windows(struct pipeline *p, uint64_t poll_begin_ns)
{
	uint64_t end_ns;

	for (unsigned int i = 0;
	     (end_ns = pace_window_end(p->window.begin_ns, p->config.window_ns, poll_begin_ns, i));
	     i++)
		pipeline_close_windows(p, end_ns);
}

static void tell_account(struct pipeline *p)
{
	if (!p->stream)
		return;
	for (size_t i = 0; i < p->devices.nr; i++)
		p->devices.seen[i] = p->devices.all[i].seen;
	p->devices.seen[p->devices.nr] =
		(struct account_count){ 0, p->devices.unplaced, p->devices.unplaced };
	account_seen(sender_account(p->config.sender), p->poll.real_ns, p->devices.seen,
		     p->devices.nr + 1);
}

/* Returns 0, or -errno where the source died. */
static int poll_once(struct pipeline *p)
{
	int64_t ret;

	p->poll.nr = 0;
	ret = p->config.source->poll(p->source, &p->sink);
	if (ret < 0)
		return (int)ret;
	p->poll.real_ns = clock_real_ns();
	if (p->stream)
		stream_captured(p->stream, p->poll.nr);
	tell_account(p);
	return 0;
}

/*
 * Sleeps until the next poll is due or pipeline_stop() wakes the thread, and while few requests
 * come, also until the source has some. Returns the longest wait that was intended.
 */
static uint64_t wait_for_work(struct pipeline *p, const struct pace *pace)
{
	struct pollfd fds[2] = { { .fd = p->thread.wake_fd, .events = POLLIN },
				 { .fd = p->config.source->fd(p->source), .events = POLLIN } };
	uint64_t due_ns = p->window.begin_ns + p->config.window_ns + PACE_SETTLE_NS;
	uint64_t now_ns = clock_monotonic_ns();
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

	p->poll.nr = 0;
	/* A source that only counts is read once more when the last window closes. */
	if (!p->config.source->profiles) {
		p->config.source->close(p->source, &p->sink);
		p->source = NULL;
	}
	if (p->stream)
		stream_captured(p->stream, p->poll.nr);
	p->poll.real_ns = clock_real_ns();
	pipeline_tally_shed(p, true);
	tell_account(p);
	end_ns = clock_monotonic_ns();
	close_due_windows(p, end_ns);
	reorder_flush(p->reorder, UINT64_MAX);
	if (end_ns > p->window.begin_ns)
		pipeline_close_windows(p, end_ns);
	if (p->stream) {
		stream_close_segment(p->stream);
		sender_drain(p->config.sender);
		/*
		 * A loss that no segment carries would stay unknown until the next run reports it.
		 */
		if (account_has_untold(sender_account(p->config.sender)))
			stream_close_segment(p->stream);
	}
	pipeline_set_totals(p);
}

/*
 * Lets the calling thread give up the capabilities that it no longer needs, now that the source is
 * open.
 */
static int give_up_privileges(struct pipeline *p, struct err *err)
{
	const struct source_ops *source = p->config.source;

	if (!p->config.opened)
		return 0;
	return p->config.opened(p->config.ctx, source->needs ? source->needs(p->source) : 0, err);
}

/*
 * A burst, or a stall of the agent, fills tables further than ever before. Once in a while all
 * memory that holds nothing is given back, so that the resident memory follows the load of the last
 * minute and not the worst instant since the start.
 */
static void pipeline_give_back(struct pipeline *p, uint64_t now_ns)
{
	if (now_ns - p->given_back_ns < GIVE_BACK_NS)
		return;
	p->given_back_ns = now_ns;
	reorder_give_back(p->reorder);
	if (p->stream)
		stream_give_back(p->stream);
	malloc_trim(0);
}

static void pipeline_capture(struct pipeline *p)
{
	uint64_t last_ns = clock_monotonic_ns();
	struct pace pace;

	p->given_back_ns = last_ns;
	pace_init(&pace, p->config.source->is_patient);
	while (!atomic_load(&p->thread.must_stop)) {
		uint64_t wait_ns = wait_for_work(p, &pace);
		uint64_t begin_ns = clock_monotonic_ns();
		int ret;

		pipeline_pause_look(p, wait_ns);
		ret = poll_once(p);
		pipeline_pause_settle(p);
		pace_note(&pace, begin_ns - last_ns, p->poll.nr);
		last_ns = begin_ns;
		if (!ret)
			close_due_windows(p, begin_ns);
		ret = ret ? ret : p->failure.window_ret;
		if (ret) {
			err_set(&p->failure.why, -ret, "the %s source failed: %s",
				p->config.source->name, strerror(-ret));
			atomic_store(&p->failure.is_set, true);
			if (p->config.on_failure)
				p->config.on_failure(p->config.ctx);
			break;
		}
		if (p->stream)
			stream_tick(p->stream, begin_ns);
		pipeline_give_back(p, begin_ns);
	}
	pipeline_finish(p);
}

/*
 * The capture thread loses requests when it runs a tenth of a second late, and it needs little
 * processor time, so it raises its priority above the load that it watches. Without the right to do
 * so (CAP_SYS_NICE, RLIMIT_NICE) it runs at the inherited priority. It does this before it gives up
 * its privileges, and captures once pipeline_start() has finished the rest of the start.
 */
static void *capture_loop(void *ctx)
{
	struct pipeline *p = ctx;

	setpriority(PRIO_PROCESS, 0, CAPTURE_NICE);
	p->thread.start_ret = give_up_privileges(p, &p->failure.why);
	sem_post(&p->thread.is_ready);
	while (sem_wait(&p->thread.may_run))
		;
	if (p->thread.may_capture)
		pipeline_capture(p);
	return NULL;
}

static int open_source(struct pipeline *p, struct err *err)
{
	const struct source_ops *source = p->config.source;
	int ret;

	p->sink = (struct source_sink){ .request = pipeline_on_request,
					.task = pipeline_on_task,
					.lost = pipeline_on_lost,
					.gap = pipeline_on_gap,
					.ctx = p };
	p->poll.real_ns = clock_real_ns();
	if (!p->source) {
		ret = source->open(&p->source, &p->config.source_config, err);
		if (ret)
			return ret;
	}
	return source->begin ? source->begin(p->source, err) : 0;
}

/* Reads the counts of the disks whose requests this run accounts for: the named ones, or all. */
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
 * Takes over from the run before at an exact instant, the cutover (cutover.h). Requests that the
 * kernel had counted by then belong to the run before; of the requests delivered so far the others
 * are fed now.
 */
static int begin_account(struct pipeline *p, struct account *account, uint64_t epoch,
			 struct err *err)
{
	struct account_base bases[ACCOUNT_MAX_DEVICES];
	struct cutover cut = { 0 };
	uint64_t uncertain;
	int64_t nr;
	int ret = 0;

	p->held.is_cutover = true;
	if (take_cutover(p, &cut)) {
		ret = err_set(err, ENOMEM, "no memory to begin");
		goto out;
	}
	nr = p->config.source->poll(p->source, &p->sink);
	if (nr < 0) {
		ret = err_set(err, (int)-nr, "the %s source failed: %s", p->config.source->name,
			      strerror((int)-nr));
		goto out;
	}
	p->held.is_cutover = false;
	cutover_choose(&cut, p->held.requests, p->held.nr);
	uncertain = cutover_bases(&cut, bases);
	if (uncertain)
		log_say(p->config.log, LEVEL_INFO, "cutover", "uncertain_requests=%llu",
			(unsigned long long)uncertain);
	account_begin(account, epoch, clock_real_ns(), bases, cut.nr);
	pipeline_begin_tallies(p, bases, cut.nr);
	p->poll.nr = 0;
	for (size_t i = 0; i < p->held.nr; i++)
		if (cutover_counts(&cut, &p->held.requests[i]))
			pipeline_on_request(p, &p->held.requests[i]);
out:
	cutover_release(&cut);
	free(p->held.requests);
	p->held = (struct pipeline_held){ 0 };
	return ret;
}

/* The start may have run at a raised priority; the threads that begin here must not inherit it. */
static int pipeline_start_sender(struct pipeline *p, uint64_t epoch, struct err *err)
{
	if (p->config.nice_after_start)
		setpriority(PRIO_PROCESS, 0, *p->config.nice_after_start);
	return sender_start(p->config.sender, epoch, err);
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
		return pipeline_start_sender(p, 0, err);
	config.epoch = account_next_epoch(account, clock_real_ns());
	ret = stream_new(&p->stream, &config);
	if (ret)
		return err_set(err, -ret, "no memory for the stream");
	pipeline_name_devices(p);
	ret = begin_account(p, account, config.epoch, err);
	if (ret)
		return ret;
	stream_captured(p->stream, p->poll.nr);
	return pipeline_start_sender(p, config.epoch, err);
}

static void pipeline_release(struct pipeline *p)
{
	if (p->thread.is_started && !p->thread.may_capture) {
		sem_post(&p->thread.may_run);
		pthread_join(p->thread.id, NULL);
	}
	sem_destroy(&p->thread.is_ready);
	sem_destroy(&p->thread.may_run);
	if (p->counting)
		source_diskstats.close(p->counting, NULL);
	if (p->source)
		p->config.source->close(p->source, NULL);
	for (size_t i = 0; i < p->devices.nr; i++) {
		window_free(p->devices.all[i].window);
		place_map_free(p->devices.all[i].places);
	}
	stream_free(p->stream);
	pipeline_who_free(p->who);
	reorder_free(p->reorder);
	if (p->thread.wake_fd >= 0)
		close(p->thread.wake_fd);
	free(p->held.requests);
	buf_release(&p->json);
	free(p->devices.all);
	free(p->devices.seen);
	free(p);
}

/* The kernel's counters are per disk: they count neither bios nor the requests of one cgroup. */
static bool can_count_only(const struct pipeline *p)
{
	const struct source_config *c = &p->config.source_config;

	return p->config.source->shed && c->layer == LAYER_DEVICE && !c->nr_cgroups;
}

/*
 * Starts the capture thread, which waits for may_run. Then neither that thread nor this one is
 * privileged.
 */
static int capture_start(struct pipeline *p, struct err *err)
{
	int ret = pthread_create(&p->thread.id, NULL, capture_loop, p);

	if (ret)
		return err_set(err, ret, "cannot start the capture thread: %s", strerror(ret));
	p->thread.is_started = true;
	pthread_setname_np(p->thread.id, "capture");
	while (sem_wait(&p->thread.is_ready))
		;
	if (p->thread.start_ret)
		*err = p->failure.why;
	return p->thread.start_ret ? p->thread.start_ret : give_up_privileges(p, err);
}

static int pipeline_open(struct pipeline *p, struct err *err)
{
	struct reorder_sink out = { pipeline_on_release, p };
	size_t held = p->config.max_held ? p->config.max_held : REORDER_MAX_HELD;
	int ret;

	p->devices.seen = calloc(1, sizeof(*p->devices.seen));
	p->thread.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->thread.wake_fd < 0 || !p->devices.seen || reorder_new(&p->reorder, held, &out))
		return err_set(err, ENOMEM, "no memory for the pipeline");
	if (board_wants_who(p->config.board) && pipeline_who_new(&p->who))
		return err_set(err, ENOMEM, "no memory for the sums by process");
	ret = open_source(p, err);
	if (ret)
		return ret;
	overhead_init(&p->overhead, p->config.max_overhead, p->config.has_trace, can_count_only(p));
	p->window.begin_ns = clock_monotonic_ns();
	reorder_set_period_end(p->reorder, p->window.begin_ns + p->config.window_ns);
	for (size_t i = 0; i < p->config.source_config.nr_devices; i++)
		if (!pipeline_device(p, p->config.source_config.devices[i]))
			return err_set(err, ENOMEM, "no memory for the devices");
	ret = capture_start(p, err);
	if (ret)
		return ret;
	ret = begin_stream(p, err);
	if (ret)
		return ret;
	pipeline_set_totals(p);
	p->thread.may_capture = true;
	sem_post(&p->thread.may_run);
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
	p->thread.wake_fd = -1;
	sem_init(&p->thread.is_ready, 0, 0);
	sem_init(&p->thread.may_run, 0, 0);
	ret = pipeline_open(p, err);
	if (ret) {
		pipeline_release(p);
		return ret;
	}
	*out = p;
	return 0;
}

bool pipeline_failed(struct pipeline *p, struct err *err)
{
	bool failed = atomic_load(&p->failure.is_set);

	if (failed && err)
		*err = p->failure.why;
	return failed;
}

void pipeline_stop(struct pipeline *p)
{
	uint64_t one = 1;

	if (!p)
		return;
	atomic_store(&p->thread.must_stop, true);
	/*
	 * The write fails only when the counter is full, and a full counter wakes the thread as
	 * well.
	 */
	if (write(p->thread.wake_fd, &one, sizeof(one)) < 0)
		errno = 0;
	pthread_join(p->thread.id, NULL);
	pipeline_release(p);
}

size_t pipeline_pids(struct pipeline *p, uint32_t *out, size_t max)
{
	return p->stream ? stream_pids(p->stream, out, max) : 0;
}

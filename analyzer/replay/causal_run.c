// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/causal_run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/replay/aio.h"
#include "analyzer/replay/replay_throttle.h"
#include "base/memory/order.h"
#include "base/system/clock.h"

#define EVENTS	   64
#define POLL_NS	   1000000 /* how often who waits for other lanes looks */
#define SHORT_NS   3000	   /* not worth going to sleep for */
#define NS_PER_S   1000000000ull
#define STOP_NS	   200000000 /* how often a lane that sleeps looks whether it is to stop */
#define WAKE_TRIES 31
#define WAKE_NS	   200000
#define HUGE_BYTES (2u << 20)

struct shared {
	const struct causal_run *run;
	int fd;
	unsigned char *buffer[2]; /* the buffer for reads; the data of writes */
	uint64_t begin_real_ns, begin_ns, end_ns, wake_ns;
	_Atomic uint64_t nr_done;
	_Atomic int error; /* the errno of the first failure */
	/*
	 * The failed request, or NULL, and the number of bytes that it transferred, or -1. Read
	 * after all lanes have ended.
	 */
	const struct causal_request *failed;
	int64_t failed_bytes;
	struct lane *lanes;
	_Atomic bool *held; /* owned: by lock of the plan, a lane holds it */
	struct replay_throttle throttle;
	pthread_mutex_t lock;
	pthread_cond_t progress; /* signalled to lanes that wait for other lanes */
	_Atomic unsigned int nr_waiting;
};

struct lane {
	struct shared *shared;
	const struct causal_lane *plan;
	pthread_t thread;
	bool started;
	aio_context_t ctx;
	uint64_t *sent_ns;	    /* time of sending, by request */
	uint64_t *done_ns;	    /* time of the n-th completion */
	_Atomic uint64_t *ended_ns; /* time of completion, by request; 0: not yet */
	size_t nr_sent, nr_done;
	uint64_t last_ns; /* when the last request was sent */
	bool has_lock;	  /* for the next request */
	uint64_t number;  /* of the next request in the line of the throttle, or 0 */
};

/* Returns the median of the delays with which a sleep ends. */
static uint64_t wake_latency(void)
{
	const struct timespec nap = { 0, WAKE_NS };
	uint64_t late[WAKE_TRIES];

	prctl(PR_SET_TIMERSLACK, 1UL);
	for (int i = 0; i < WAKE_TRIES; i++) {
		uint64_t begin = clock_monotonic_ns();

		nanosleep(&nap, NULL);
		late[i] = clock_monotonic_ns() - begin;
		late[i] = late[i] > WAKE_NS ? late[i] - WAKE_NS : 0;
	}
	qsort(late, WAKE_TRIES, sizeof(*late), order_u64);
	return late[WAKE_TRIES / 2];
}

static void causal_run_fail(struct shared *s, int error, const struct causal_request *r,
			    int64_t bytes)
{
	int none = 0;

	if (!atomic_compare_exchange_strong(&s->error, &none, error))
		return;
	s->failed = r;
	s->failed_bytes = bytes;
}

static int tell_failure(const struct shared *s, struct err *err)
{
	const struct causal_request *r = s->failed;
	const char *operation;

	if (s->error == EINTR)
		return err_set(err, EINTR, "%s: interrupted while requests were sent",
			       s->run->target);
	if (!r)
		return err_set(err, s->error, "%s: %s", s->run->target, strerror(s->error));
	if (r->operation == OPERATION_FLUSH)
		return err_set(err, s->error, "%s: flush: %s", s->run->target, strerror(s->error));
	operation = r->operation == OPERATION_WRITE ? "write" : "read";
	if (s->failed_bytes < 0)
		return err_set(err, s->error, "%s: offset %" PRIu64 ": %s of %" PRIu32 " bytes: %s",
			       s->run->target, r->offset, operation, r->bytes, strerror(s->error));
	return err_set(err, s->error,
		       "%s: offset %" PRIu64 ": %s: expected %" PRIu32 " bytes, got %" PRId64,
		       s->run->target, r->offset, operation, r->bytes, s->failed_bytes);
}

static void causal_run_take(struct lane *l, size_t i, int64_t res, uint64_t now)
{
	const struct causal_request *r = &l->plan->requests[i];

	if (res < 0)
		causal_run_fail(l->shared, (int)-res, r, -1);
	else if ((uint64_t)res != r->bytes)
		causal_run_fail(l->shared, EIO, r, res);
	l->done_ns[l->nr_done++] = now;
	atomic_store_explicit(&l->ended_ns[i], now, memory_order_release);
	if (r->gives_lock)
		atomic_store(&l->shared->held[l->plan->lock], false);
	replay_throttle_done(&l->shared->throttle, r, (uintptr_t)r, now - l->sent_ns[i]);
	atomic_fetch_add_explicit(&l->shared->nr_done, 1, memory_order_relaxed);
}

static void wake_others(struct shared *s)
{
	if (!atomic_load(&s->nr_waiting))
		return;
	pthread_mutex_lock(&s->lock);
	pthread_cond_broadcast(&s->progress);
	pthread_mutex_unlock(&s->lock);
}

/* Waits for completions, at most until the given time. A time of 0 means no limit. */
static void wait_until(struct lane *l, uint64_t until_ns)
{
	struct io_event events[EVENTS];
	uint64_t now = until_ns ? clock_monotonic_ns() : 0,
		 left = until_ns > now ? until_ns - now : 0;
	struct timespec t = { (time_t)(left / NS_PER_S), (long)(left % NS_PER_S) };
	int nr = aio_get(l->ctx, 1, EVENTS, events, until_ns ? &t : NULL);

	now = clock_monotonic_ns();
	for (int i = 0; i < nr; i++)
		causal_run_take(l, (size_t)events[i].data, events[i].res, now);
	if (nr > 0)
		wake_others(l->shared);
	if (nr < 0 && nr != -EINTR)
		causal_run_fail(l->shared, -nr, NULL, -1);
}

static void causal_run_prepare(const struct lane *l, size_t i, struct iocb *io)
{
	const struct causal_request *r = &l->plan->requests[i];
	bool writes = r->operation == OPERATION_WRITE;

	*io = (struct iocb){ .aio_data = i, .aio_fildes = (uint32_t)l->shared->fd };
	io->aio_lio_opcode = IOCB_CMD_FDSYNC;
	if (r->operation == OPERATION_FLUSH)
		return;
	io->aio_lio_opcode = writes ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD;
	io->aio_buf = (uintptr_t)l->shared->buffer[writes];
	io->aio_nbytes = r->bytes;
	io->aio_offset = (int64_t)r->offset;
	io->aio_rw_flags = r->durable && writes ? RWF_DSYNC : 0;
}

static void causal_run_submit(struct lane *l)
{
	size_t i = l->nr_sent;
	struct iocb io;
	int status;

	causal_run_prepare(l, i, &io);
	if (io.aio_lio_opcode == IOCB_CMD_PREAD)
		replay_throttle_read(&l->shared->throttle, (uintptr_t)&l->plan->requests[i]);
	l->last_ns = l->sent_ns[i] = clock_monotonic_ns();
	if (io.aio_lio_opcode == IOCB_CMD_FDSYNC && l->nr_done == l->nr_sent) {
		/* The kernel would send an asynchronous flush from a worker thread. */
		l->nr_sent++;
		status = fdatasync(l->shared->fd) < 0 ? -errno : 0;
		causal_run_take(l, i, status, clock_monotonic_ns());
		wake_others(l->shared);
		return;
	}
	status = aio_submit(l->ctx, &io);
	if (status < 0)
		causal_run_fail(l->shared, -status, &l->plan->requests[i], -1);
	else
		l->nr_sent++;
}

/*
 * Returns when the next request is due; 0 if the completion from which its gap counts has not
 * happened.
 */
static uint64_t due_ns(const struct lane *l)
{
	const struct causal_request *r = &l->plan->requests[l->nr_sent];
	uint64_t since = l->last_ns ? l->last_ns : l->shared->begin_ns, wake = 0;

	if (r->after_lane != UINT32_MAX) {
		since = atomic_load_explicit(&l->shared->lanes[r->after_lane].ended_ns[r->after],
					     memory_order_acquire);
		if (!since)
			return 0;
		wake = l->shared->wake_ns;
	} else if (r->done && l->done_ns[r->done - 1] > since) {
		since = l->done_ns[r->done - 1];
		/* the request had completed before the thread noticed it */
		wake = l->shared->wake_ns;
	}
	return since + (r->gap_ns > wake ? r->gap_ns - wake : 0);
}

/*
 * Waits for the progress of other lanes, and checks this lane's own completions from time to time.
 */
static void wait_for_others(struct lane *l)
{
	struct shared *s = l->shared;
	struct timespec until;
	uint64_t ns = clock_monotonic_ns() + POLL_NS;

	if (l->nr_done < l->nr_sent) {
		wait_until(l, ns);
		return;
	}
	until = (struct timespec){ (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };
	pthread_mutex_lock(&s->lock);
	atomic_fetch_add(&s->nr_waiting, 1);
	pthread_cond_timedwait(&s->progress, &s->lock, &until);
	atomic_fetch_sub(&s->nr_waiting, 1);
	pthread_mutex_unlock(&s->lock);
}

/*
 * Does what the function above does, for a request of a burst. Such a request is also due when the
 * recorded time since the previous request has passed and there is room.
 */
static uint64_t burst_due_ns(const struct lane *l)
{
	const struct causal_request *r = &l->plan->requests[l->nr_sent];
	uint64_t strict = l->nr_done >= r->done ? due_ns(l) : UINT64_MAX, spaced;

	if (!l->last_ns || r->done >= l->nr_sent)
		return strict;
	spaced = l->last_ns + r->spacing_ns;
	if (r->room && l->done_ns[r->room - 1] > spaced)
		spaced = l->done_ns[r->room - 1];
	return strict && strict < spaced ? strict : spaced;
}

static void causal_run_step(struct lane *l)
{
	const struct causal_request *r = &l->plan->requests[l->nr_sent];
	struct shared *s = l->shared;
	uint64_t due, now, until;

	if (s->run->stop && *s->run->stop) {
		causal_run_fail(s, EINTR, NULL, -1);
		return;
	}
	if (l->nr_done < r->room) {
		wait_until(l, 0);
		return;
	}
	due = burst_due_ns(l);
	if (!due ||
	    atomic_load_explicit(&s->nr_done, memory_order_relaxed) - l->nr_done < r->others) {
		wait_for_others(l);
		return;
	}
	now = clock_monotonic_ns();
	if (now + SHORT_NS >= due) {
		l->has_lock = !r->takes_lock || l->has_lock ||
			      !atomic_exchange(&s->held[l->plan->lock], true);
		if (!l->has_lock || !replay_throttle_pass(&s->throttle, r, &l->number)) {
			wait_for_others(l);
			return;
		}
		l->has_lock = false;
		causal_run_submit(l);
		return;
	}
	until = due > now + s->wake_ns ? due - s->wake_ns : now + 1;
	until = until > now + STOP_NS ? now + STOP_NS : until;
	wait_until(l, s->end_ns && until > s->end_ns ? s->end_ns : until);
}

static void *lane_main(void *arg)
{
	struct lane *l = arg;
	struct shared *s = l->shared;

	prctl(PR_SET_TIMERSLACK, 1UL);
	while (l->nr_sent < l->plan->nr && !s->error &&
	       (!s->end_ns || clock_monotonic_ns() < s->end_ns))
		causal_run_step(l);
	while (l->nr_done < l->nr_sent && !s->error)
		wait_until(l, 0);
	return NULL;
}

static int lane_begin(struct lane *l, struct shared *s, const struct causal_lane *plan)
{
	l->shared = s;
	l->plan = plan;
	l->sent_ns = calloc(plan->nr, sizeof(*l->sent_ns));
	l->done_ns = calloc(plan->nr, sizeof(*l->done_ns));
	l->ended_ns = calloc(plan->nr, sizeof(*l->ended_ns));
	if (!l->sent_ns || !l->done_ns || !l->ended_ns)
		return -ENOMEM;
	return aio_setup(plan->depth + 1, &l->ctx);
}

static void lane_end(struct lane *l)
{
	if (l->ctx)
		aio_destroy(l->ctx);
	free(l->sent_ns);
	free(l->done_ns);
	free(l->ended_ns);
}

static int make_buffers(struct shared *s, uint32_t bytes)
{
	size_t size = ((size_t)bytes / HUGE_BYTES + 1) * HUGE_BYTES;
	struct rng rng;

	for (int k = 0; k < 2; k++) {
		if (posix_memalign((void **)&s->buffer[k], HUGE_BYTES, size))
			return -ENOMEM;
		madvise(s->buffer[k], size, MADV_HUGEPAGE);
	}
	rng_stream(&rng, 1, 0);
	for (size_t i = 0; i + 8 <= size; i += 8) {
		uint64_t x = rng_u64(&rng);

		memcpy(s->buffer[1] + i, &x, 8);
	}
	memset(s->buffer[0], 0, size);
	return 0;
}

/* Takes the response times of one lane. Returns 0 or -ENOMEM. */
static int causal_run_times(const struct lane *l, struct device_times *times)
{
	for (size_t i = 0; i < l->nr_sent; i++) {
		uint8_t operation = l->plan->requests[i].operation;
		enum device_type type = operation == OPERATION_FLUSH   ? DEVICE_FLUSH
					: operation == OPERATION_WRITE ? DEVICE_WRITE
								       : DEVICE_READ;
		int ret;

		if (!l->ended_ns[i])
			continue;
		ret = device_times_add(times, type, (double)(l->ended_ns[i] - l->sent_ns[i]) / 1e9);
		if (ret)
			return ret;
	}
	return 0;
}

uint64_t causal_result_nr(const struct causal_result *r)
{
	return r->times.nr[DEVICE_READ] + r->times.nr[DEVICE_WRITE] + r->times.nr[DEVICE_FLUSH];
}

void causal_result_release(struct causal_result *r)
{
	device_times_release(&r->times);
}

static int run_lanes(struct shared *s, struct lane *lanes, struct causal_result *out)
{
	const struct causal_plan *plan = s->run->plan;
	int status = 0, ret = 0;

	/*
	 * The real time is read before the sleeps, so that a recorder's clock may differ by their
	 * length.
	 */
	s->begin_real_ns = clock_real_ns();
	s->wake_ns = wake_latency();
	s->begin_ns = clock_monotonic_ns();
	s->end_ns = s->run->duration_s > 0
			    ? s->begin_ns + (uint64_t)(s->run->duration_s * (double)NS_PER_S)
			    : 0;
	for (size_t i = 0; i < plan->nr_lanes && !status; i++) {
		status = -pthread_create(&lanes[i].thread, NULL, lane_main, &lanes[i]);
		lanes[i].started = !status;
		if (status)
			causal_run_fail(s, -status, NULL, -1);
	}
	for (size_t i = 0; i < plan->nr_lanes; i++)
		if (lanes[i].started)
			pthread_join(lanes[i].thread, NULL);
	out->begin_real_ns = s->begin_real_ns;
	out->elapsed_s = (double)(clock_monotonic_ns() - s->begin_ns) / 1e9;
	out->times.elapsed_s = out->elapsed_s;
	out->wake_s = (double)s->wake_ns / 1e9;
	for (size_t i = 0; i < plan->nr_lanes && !ret; i++)
		ret = causal_run_times(&lanes[i], &out->times);
	if (ret)
		causal_run_fail(s, -ret, NULL, -1);
	out->nr_not_sent = plan->nr - causal_result_nr(out);
	return -s->error;
}

struct job {
	struct shared shared;
	struct lane *lanes;
	struct causal_result *out;
	pthread_t thread;
	bool started;
	int status;
};

static int job_begin(struct job *j, const struct causal_run *run, struct causal_result *out,
		     struct err *err)
{
	struct shared *s = &j->shared;
	pthread_condattr_t monotonic;
	int ret;

	j->out = out;
	s->run = run;
	s->fd = -1;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&s->progress, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&s->lock, NULL);
	replay_throttle_init(&s->throttle, &run->plan->throttle);
	if (run->plan->nr_lanes > CAUSAL_LANES_MAX)
		return err_set(err, EINVAL, "%s: expected requests of up to %d threads, got %zu",
			       run->target, CAUSAL_LANES_MAX, run->plan->nr_lanes);
	j->lanes = s->lanes = calloc(run->plan->nr_lanes, sizeof(*j->lanes));
	s->held = calloc(run->plan->nr_locks + 1, sizeof(*s->held));
	ret = j->lanes && s->held ? make_buffers(s, run->plan->bytes_max) : -ENOMEM;
	for (size_t i = 0; i < run->plan->nr_lanes && !ret; i++)
		ret = lane_begin(&j->lanes[i], s, &run->plan->lanes[i]);
	if (ret == -EAGAIN)
		return err_set(err, EAGAIN,
			       "%s: fs.aio-max-nr leaves no room for the requests under way",
			       run->target);
	if (ret)
		return err_set(err, -ret, "%s: %s", run->target, strerror(-ret));
	s->fd = open(run->target, O_RDWR | O_DIRECT | O_CLOEXEC);
	return s->fd < 0 ? err_set(err, errno, "%s: %s", run->target, strerror(errno)) : 0;
}

static void job_end(struct job *j)
{
	for (size_t i = 0; i < j->shared.run->plan->nr_lanes && j->lanes; i++)
		lane_end(&j->lanes[i]);
	if (j->shared.fd >= 0)
		close(j->shared.fd);
	free(j->shared.buffer[0]);
	free(j->shared.buffer[1]);
	free(j->lanes);
	free(j->shared.held);
	pthread_cond_destroy(&j->shared.progress);
	pthread_mutex_destroy(&j->shared.lock);
	replay_throttle_destroy(&j->shared.throttle);
}

static void *job_main(void *arg)
{
	struct job *j = arg;

	j->status = run_lanes(&j->shared, j->lanes, j->out);
	return NULL;
}

static int run_jobs(struct job *jobs, size_t nr, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++) {
		ret = -pthread_create(&jobs[i].thread, NULL, job_main, &jobs[i]);
		jobs[i].started = !ret;
	}
	if (ret)
		err_set(err, -ret, "%s", strerror(-ret));
	for (size_t i = 0; i < nr; i++) {
		if (jobs[i].started)
			pthread_join(jobs[i].thread, NULL);
		if (jobs[i].status && !ret)
			ret = tell_failure(&jobs[i].shared, err);
	}
	return ret;
}

int causal_runs(const struct causal_run *runs, size_t nr, struct causal_result *out,
		struct err *err)
{
	struct job *jobs = calloc(nr + 1, sizeof(*jobs));
	size_t begun = 0;
	int ret = jobs ? 0 : -ENOMEM;

	memset(out, 0, nr * sizeof(*out));
	for (; begun < nr && !ret; begun++)
		ret = job_begin(&jobs[begun], &runs[begun], &out[begun], err);
	if (!ret)
		ret = run_jobs(jobs, nr, err);
	for (size_t i = 0; i < begun; i++)
		job_end(&jobs[i]);
	free(jobs);
	return ret == -ENOMEM ? err_set(err, ENOMEM, "no memory for a replay") : ret;
}

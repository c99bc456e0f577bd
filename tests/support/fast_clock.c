/* SPDX-License-Identifier: Apache-2.0 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "tests/support/fast_clock.h"

#define NS_PER_S 1000000000u

/*
 * This enum is the state of the thread that waits for work: it runs, it waits, or it waits and has
 * been called.
 */
enum worker { WORKER_RUNS, WORKER_WAITS, WORKER_CALLED };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all that is not atomic */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t may_pass_ns;
static bool is_asleep; /* a thread in poll() waits until time may go on */
static enum worker worker;
static _Atomic uint64_t passed_ns;
static atomic_bool is_fast;
static struct timespec start[CLOCK_BOOTTIME + 1];

int __real_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out);
int __real_poll(struct pollfd *fds, nfds_t nr, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t nr, int timeout);
int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __real_pthread_cond_signal(pthread_cond_t *condition);
int __wrap_pthread_cond_signal(pthread_cond_t *condition);

static bool is_ours(clockid_t clock)
{
	return clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	uint64_t ns;

	if (!atomic_load(&is_fast) || !is_ours(clock))
		return __real_clock_gettime(clock, out);
	ns = (uint64_t)start[clock].tv_nsec + atomic_load(&passed_ns);
	out->tv_sec = start[clock].tv_sec + (time_t)(ns / NS_PER_S);
	out->tv_nsec = (long)(ns % NS_PER_S);
	return 0;
}

/* A descriptor that becomes ready while the clocks stand still is noticed once they may go on. */
int __wrap_poll(struct pollfd *fds, nfds_t nr, int timeout)
{
	int ready;

	if (!atomic_load(&is_fast) || timeout < 0)
		return __real_poll(fds, nr, timeout);
	pthread_mutex_lock(&lock);
	is_asleep = true;
	pthread_cond_broadcast(&changed);
	while (atomic_load(&passed_ns) >= may_pass_ns)
		__real_pthread_cond_wait(&changed, &lock);
	is_asleep = false;
	ready = __real_poll(fds, nr, 0);
	if (!ready)
		atomic_fetch_add(&passed_ns, (uint64_t)timeout * 1000000);
	pthread_mutex_unlock(&lock);
	return ready;
}

static void set_worker(enum worker state)
{
	pthread_mutex_lock(&lock);
	if (state != WORKER_CALLED || worker == WORKER_WAITS)
		worker = state;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	int ret;

	set_worker(WORKER_WAITS);
	ret = __real_pthread_cond_wait(condition, mutex);
	set_worker(WORKER_RUNS);
	return ret;
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition)
{
	set_worker(WORKER_CALLED);
	return __real_pthread_cond_signal(condition);
}

void fast_clock_start(void)
{
	for (clockid_t clock = 0; clock <= CLOCK_BOOTTIME; clock++)
		if (is_ours(clock))
			__real_clock_gettime(clock, &start[clock]);
	atomic_store(&is_fast, true);
}

void fast_clock_run(uint64_t ns)
{
	pthread_mutex_lock(&lock);
	may_pass_ns = atomic_load(&passed_ns) + ns;
	pthread_cond_broadcast(&changed);
	while (atomic_load(&passed_ns) < may_pass_ns || !is_asleep || worker != WORKER_WAITS)
		__real_pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

void fast_clock_jump(uint64_t ns)
{
	pthread_mutex_lock(&lock);
	atomic_fetch_add(&passed_ns, ns);
	may_pass_ns += ns;
	pthread_mutex_unlock(&lock);
}

void fast_clock_release(void)
{
	pthread_mutex_lock(&lock);
	may_pass_ns = UINT64_MAX;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

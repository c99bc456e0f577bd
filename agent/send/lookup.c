/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "agent/send/lookup.h"
#include "base/system/thread.h"

#define HOST_BYTES    256
#define ABORT_LOOK_NS 100000000 /* time between looks at the abort flag */

struct lookup {
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* guards the members below */
	pthread_cond_t asked, answered;
	char host[HOST_BYTES];
	/* the numbers of the last question and of the last answer */
	uint64_t nr_asked, nr_answered;
	bool is_taken; /* a caller has received the last answer */
	bool is_busy, is_ending;
	int gai_error, system_error; /* errors of the last answer */
	struct buf addresses;
};

/* Makes the condition use CLOCK_MONOTONIC, which nobody sets. */
static void cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attributes);
	pthread_condattr_destroy(&attributes);
}

int lookup_new(struct lookup **out)
{
	struct lookup *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	pthread_mutex_init(&l->lock, NULL);
	cond_init(&l->asked);
	cond_init(&l->answered);
	buf_init(&l->addresses);
	*out = l;
	return 0;
}

static void lookup_release(struct lookup *l)
{
	pthread_cond_destroy(&l->answered);
	pthread_cond_destroy(&l->asked);
	pthread_mutex_destroy(&l->lock);
	buf_release(&l->addresses);
	free(l);
}

static void put_addresses(const struct addrinfo *found, struct buf *out)
{
	char text[NI_MAXHOST];
	int nr = 0;

	for (; found && nr < LOOKUP_MAX_ADDRESSES; found = found->ai_next) {
		if (getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof(text), NULL, 0,
				NI_NUMERICHOST) ||
		    strchr(text, '%'))
			continue;
		buf_printf(out, "%s%s", nr ? "," : "", text);
		nr++;
	}
}

/* Answers the present question. The lock is released meanwhile. */
static void lookup_answer(struct lookup *l)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	uint64_t number = l->nr_asked;
	struct addrinfo *found = NULL;
	char host[HOST_BYTES];
	int gai_error, system_error;

	memcpy(host, l->host, sizeof(host));
	l->is_busy = true;
	pthread_mutex_unlock(&l->lock);
	gai_error = getaddrinfo(host, NULL, &hints, &found);
	system_error = errno;
	pthread_mutex_lock(&l->lock);
	l->is_busy = false;
	l->nr_answered = number;
	l->gai_error = gai_error;
	l->system_error = system_error;
	buf_clear(&l->addresses);
	if (!gai_error)
		put_addresses(found, &l->addresses);
	if (found)
		freeaddrinfo(found);
	pthread_cond_broadcast(&l->answered);
}

static void *answer_loop(void *ctx)
{
	struct lookup *l = ctx;
	bool was_left = false;

	pthread_mutex_lock(&l->lock);
	while (!l->is_ending) {
		if (l->nr_asked == l->nr_answered) {
			pthread_cond_wait(&l->asked, &l->lock);
			continue;
		}
		lookup_answer(l);
		was_left = l->is_ending;
	}
	pthread_mutex_unlock(&l->lock);
	if (was_left) /* lookup_free() has left the object to this thread, which frees it. */
		lookup_release(l);
	return NULL;
}

int lookup_start(struct lookup *l, struct err *err)
{
	int ret = thread_start(&l->thread, "names", answer_loop, l);

	if (ret)
		return err_set(err, -ret, "cannot start the thread that looks up names: %s",
			       strerror(-ret));
	l->has_thread = true;
	return 0;
}

void lookup_free(struct lookup *l)
{
	bool is_busy;

	if (!l)
		return;
	if (!l->has_thread) {
		lookup_release(l);
		return;
	}
	pthread_mutex_lock(&l->lock);
	l->is_ending = true;
	is_busy = l->is_busy;
	if (is_busy)
		pthread_detach(l->thread);
	pthread_cond_broadcast(&l->asked);
	pthread_mutex_unlock(&l->lock);
	if (is_busy)
		return;
	pthread_join(l->thread, NULL);
	lookup_release(l);
}

static struct timespec monotonic_in(uint64_t ns)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	ns += (uint64_t)at.tv_nsec;
	at.tv_sec += (time_t)(ns / 1000000000u);
	at.tv_nsec = (long)(ns % 1000000000u);
	return at;
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

/*
 * Waits until the question of this number is answered. Returns 0, -ETIMEDOUT or -ECANCELED. The
 * lock must be held.
 */
static int wait_for(struct lookup *l, uint64_t number, double wait_s, const atomic_bool *abort_flag)
{
	const struct timespec end = monotonic_in((uint64_t)(wait_s * 1e9));

	while (l->nr_answered < number) {
		struct timespec now = monotonic_in(0), look = monotonic_in(ABORT_LOOK_NS);

		if (atomic_load(abort_flag))
			return -ECANCELED;
		if (!is_before(&now, &end))
			return -ETIMEDOUT;
		pthread_cond_timedwait(&l->answered, &l->lock,
				       is_before(&look, &end) ? &look : &end);
	}
	return 0;
}

/* Takes the last answer. The lock must be held. */
static int take_answer(struct lookup *l, const char *host, struct buf *out, struct err *err)
{
	int code = l->gai_error;

	l->is_taken = true;
	if (code == EAI_SYSTEM)
		return err_set(err, EAGAIN, "%s: %s", host, strerror(l->system_error));
	if (code)
		return err_set(err, code == EAI_AGAIN || code == EAI_MEMORY ? EAGAIN : ENOENT,
			       "%s: %s", host, gai_strerror(code));
	if (l->addresses.error)
		return err_set(err, ENOMEM, "no memory for the addresses of %s", host);
	if (!l->addresses.len)
		return err_set(err, ENOENT, "%s: has no address beyond its own link", host);
	return buf_put(out, l->addresses.data, l->addresses.len)
		       ? err_set(err, ENOMEM, "no memory for the addresses of %s", host)
		       : 0;
}

/*
 * Returns whether the last question was about this host and its answer was not taken yet, because
 * it may have come too late. The lock must be held.
 */
static bool is_asked(const struct lookup *l, const char *host)
{
	return !strcmp(l->host, host) && (l->nr_asked != l->nr_answered || !l->is_taken);
}

int lookup_addresses(struct lookup *l, const char *host, double wait_s,
		     const atomic_bool *abort_flag, struct buf *out, struct err *err)
{
	int ret;

	if (!*host || strlen(host) >= HOST_BYTES)
		return err_set(err, EINVAL, "expected a host's name of 1 to %d characters",
			       HOST_BYTES - 1);
	pthread_mutex_lock(&l->lock);
	if (!is_asked(l, host)) {
		snprintf(l->host, sizeof(l->host), "%s", host);
		l->nr_asked++;
		l->is_taken = false;
		pthread_cond_signal(&l->asked);
	}
	ret = wait_for(l, l->nr_asked, wait_s, abort_flag);
	if (!ret)
		ret = take_answer(l, host, out, err);
	else
		err_set(err, -ret, "%s: %s", host,
			ret == -ETIMEDOUT ? "the name service has not answered yet"
					  : "not asked for any more");
	pthread_mutex_unlock(&l->lock);
	return ret;
}

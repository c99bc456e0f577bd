/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/serve/http/retain_beside.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "analyzer/keep/retain_text.h"
#include "base/system/clock.h"

#define INTERVAL_MAX_S 60
/* lowers the priority of this thread only, because senders come first */
#define NICE 10

struct retain_beside {
	struct retain_beside_config config;
	char *dir;
	struct store *store; /* owned; NULL: there was nothing to do yet */
	bool has_index;	     /* the store was opened to remove, not only to compact */
	pthread_t thread;
	pthread_mutex_t lock; /* protects the waiting for wake */
	pthread_cond_t wake;
	atomic_bool stop;
	char last_error[ERR_LINE_BYTES]; /* the last reported error, which is not reported again */
	uint64_t nr_left_out;		 /* the last reported number, which is not reported again */
};

unsigned int retain_beside_interval_s(const struct retain_limits *limits)
{
	uint64_t shortest = limits->window_ns ? limits->window_ns : RETAIN_WINDOW_NS;

	if (limits->requests_ns && limits->requests_ns < shortest)
		shortest = limits->requests_ns;
	if (limits->summaries_ns && limits->summaries_ns < shortest)
		shortest = limits->summaries_ns;
	shortest /= 4 * 1000000000ull;
	if (shortest < 1)
		return 1;
	return shortest < INTERVAL_MAX_S ? (unsigned int)shortest : INTERVAL_MAX_S;
}

static void retain_beside_note(struct retain_beside *r, const char *words)
{
	char line[RETAIN_LINE_BYTES + ERR_LINE_BYTES];

	snprintf(line, sizeof(line), "retention: %s", words);
	if (r->config.note)
		r->config.note(r->config.ctx, line);
}

static void retain_beside_report(struct retain_beside *r, int status, const struct retain_counts *c,
				 const struct err *err)
{
	struct server_retention *t = r->config.totals;
	char line[RETAIN_LINE_BYTES];

	if (t) {
		atomic_fetch_add(&t->nr_summarized, c->nr_requests);
		atomic_fetch_add(&t->nr_dropped, c->nr_dropped);
		atomic_fetch_add(&t->nr_failed, status < 0 && status != -ECANCELED);
	}
	if (c->nr_segments || c->nr_dropped || c->nr_left_out > r->nr_left_out) {
		retain_counts_text(c, line);
		retain_beside_note(r, line);
	}
	if (c->compaction.nr_written || c->compaction.nr_deleted || c->compaction.nr_orphans) {
		retain_compaction_text(&c->compaction, line);
		retain_beside_note(r, line);
	}
	if (status == 0 || c->nr_left_out > r->nr_left_out)
		r->nr_left_out = c->nr_left_out;
	if (status == 0)
		r->last_error[0] = '\0';
	if (status == 0 || status == -ECANCELED || strcmp(r->last_error, err->line) == 0)
		return;
	snprintf(r->last_error, sizeof(r->last_error), "%s", err->line);
	retain_beside_note(r, err->line);
}

/*
 * Opens the store for removal or compaction, or not at all if there is nothing to do. Compaction
 * alone needs no index of the store. If the policies cannot be read, the store is opened for the
 * work that does not depend on them.
 */
static int retain_beside_open(struct retain_beside *r, struct err *err)
{
	bool is_wanted = false;
	int ret = retain_is_wanted(r->dir, &r->config.limits, &is_wanted, err);

	if ((r->store && (r->has_index || !is_wanted)) || (!is_wanted && store_is_folder(r->dir)))
		return r->store ? 0 : ret;
	store_close(r->store);
	r->store = NULL;
	ret = store_open_for(&r->store, r->dir, is_wanted ? STORE_TO_READ : STORE_TO_FILL, err);
	r->has_index = ret == 0 && is_wanted;
	return ret;
}

static void *retain_beside_run(void *ctx)
{
	struct retain_beside *r = ctx;
	unsigned int interval_s = retain_beside_interval_s(&r->config.limits);

	/* On Linux this sets the priority of the calling thread only. */
	setpriority(PRIO_PROCESS, 0, NICE);
	while (!atomic_load(&r->stop)) {
		struct retain_counts counts = { 0 };
		struct err err = { 0 };
		struct timespec until;
		int status = retain_beside_open(r, &err);

		if (status == 0 && r->store)
			status = retain_pass(r->store, &r->config.limits, clock_real_ns(), &r->stop,
					     &counts, &err);
		retain_beside_report(r, status, &counts, &err);
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += interval_s;
		pthread_mutex_lock(&r->lock);
		while (!atomic_load(&r->stop) &&
		       pthread_cond_timedwait(&r->wake, &r->lock, &until) != ETIMEDOUT)
			;
		pthread_mutex_unlock(&r->lock);
	}
	return NULL;
}

static void retain_beside_release(struct retain_beside *r)
{
	store_close(r->store);
	free(r->dir);
	pthread_cond_destroy(&r->wake);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

int retain_beside_start(struct retain_beside **out, const char *dir,
			const struct retain_beside_config *config, struct err *err)
{
	struct retain_beside *r = calloc(1, sizeof(*r));
	pthread_condattr_t clock;
	int ret;

	if (!r)
		return err_set(err, ENOMEM, "no memory for retention");
	r->config = *config;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&r->wake, &clock);
	pthread_condattr_destroy(&clock);
	pthread_mutex_init(&r->lock, NULL);
	r->dir = strdup(dir);
	ret = r->dir ? 0 : err_set(err, ENOMEM, "no memory for retention");
	/* The thread reads the policies, so that a wrong file does not keep senders out. */
	if (ret == 0 && (retain_limits_any(&config->limits) || !store_is_folder(dir)))
		ret = retain_beside_open(r, err);
	if (ret < 0)
		goto out;
	ret = -pthread_create(&r->thread, NULL, retain_beside_run, r);
	if (ret < 0) {
		err_set(err, -ret, "retention: %s", strerror(-ret));
		goto out;
	}
	*out = r;
	return 0;
out:
	retain_beside_release(r);
	return ret;
}

void retain_beside_stop(struct retain_beside *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	atomic_store(&r->stop, true);
	pthread_cond_signal(&r->wake);
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
	retain_beside_release(r);
}

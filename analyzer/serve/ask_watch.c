// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/ask_watch.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/store/store_ask.h"
#include "base/clock.h"
#include "base/thread.h"

#define LOOK_S 1

struct ask_watch {
	struct store_asks *asks; /* used by the thread alone */
	void (*note)(void *ctx, const char *line);
	void *ctx;
	bool has_failed; /* the last reading failed, and note() was told */
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t wake;
	bool is_ending;
	struct store_ask *all; /* in order of the host */
	size_t nr;
	uint64_t read_ns;
};

static void ask_watch_look(struct ask_watch *w)
{
	struct store_ask *all = NULL, *old;
	struct err err = { 0 };
	size_t nr = 0;
	int ret = store_asks_read(w->asks, &all, &nr, &err);
	char line[ERR_LINE_BYTES + 64];

	if (ret < 0) {
		snprintf(line, sizeof(line), "questions for requests cannot be read: %s", err.line);
		if (w->note && !w->has_failed)
			w->note(w->ctx, line);
		w->has_failed = true;
		return;
	}
	w->has_failed = false;
	pthread_mutex_lock(&w->lock);
	old = w->all;
	w->all = all;
	w->nr = nr;
	w->read_ns = clock_monotonic_ns();
	pthread_mutex_unlock(&w->lock);
	free(old);
}

static void *ask_watch_loop(void *ctx)
{
	struct ask_watch *w = ctx;
	bool is_ending = false;

	while (!is_ending) {
		uint64_t at_ns;
		struct timespec at;

		ask_watch_look(w);
		at_ns = clock_monotonic_ns() + LOOK_S * 1000000000ull;
		at = (struct timespec){ (time_t)(at_ns / 1000000000u),
					(long)(at_ns % 1000000000u) };
		pthread_mutex_lock(&w->lock);
		while (!w->is_ending && clock_monotonic_ns() < at_ns)
			pthread_cond_timedwait(&w->wake, &w->lock, &at);
		is_ending = w->is_ending;
		pthread_mutex_unlock(&w->lock);
	}
	return NULL;
}

int ask_watch_new(struct ask_watch **out, const char *store, void (*note)(void *, const char *),
		  void *ctx, struct err *err)
{
	struct ask_watch *w = calloc(1, sizeof(*w));
	pthread_condattr_t attributes;
	int ret;

	if (!w)
		return err_set(err, ENOMEM, "no memory for the questions");
	w->note = note;
	w->ctx = ctx;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&w->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	ret = store_asks_open(&w->asks, store, err);
	if (ret == 0) {
		ret = thread_start(&w->thread, "asks", ask_watch_loop, w);
		w->has_thread = ret == 0;
		if (ret < 0)
			err_set(err, -ret, "cannot start a thread: %s", strerror(-ret));
	}
	if (ret < 0) {
		ask_watch_free(w);
		return ret;
	}
	*out = w;
	return 0;
}

void ask_watch_free(struct ask_watch *w)
{
	if (!w)
		return;
	if (w->has_thread) {
		pthread_mutex_lock(&w->lock);
		w->is_ending = true;
		pthread_cond_signal(&w->wake);
		pthread_mutex_unlock(&w->lock);
		pthread_join(w->thread, NULL);
	}
	store_asks_close(w->asks);
	free(w->all);
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

static int ask_watch_order(const void *host, const void *ask)
{
	return strcmp(host, ((const struct store_ask *)ask)->host);
}

bool ask_watch_field(struct ask_watch *w, const char *host, char out[ASK_FIELD_BYTES])
{
	const struct store_ask *ask = NULL;
	int64_t since_s;

	pthread_mutex_lock(&w->lock);
	since_s = (int64_t)((clock_monotonic_ns() - w->read_ns) / 1000000000u);
	if (w->nr)
		ask = bsearch(host, w->all, w->nr, sizeof(*w->all), ask_watch_order);
	if (ask)
		snprintf(out, ASK_FIELD_BYTES, "%" PRId64 " %" PRId64, ask->begin_s - since_s,
			 ask->end_s - since_s);
	pthread_mutex_unlock(&w->lock);
	return ask;
}

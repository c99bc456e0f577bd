// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/http/ask_watch.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/store/ask/store_policy.h"
#include "base/system/clock.h"
#include "base/system/thread.h"

#define LOOK_S 1

struct ask_watch {
	struct store_asks *asks; /* used by the thread alone */
	void (*note)(void *ctx, const char *line);
	void *ctx;
	bool has_failed;      /* the last reading failed, and note() was told */
	bool has_no_policies; /* the last reading of the policies failed */
	struct buf text;      /* the policies as they were read last; used by the thread alone */
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t wake;
	bool is_ending;
	struct store_ask *all; /* in order of the host */
	size_t nr;
	uint64_t read_ns;
	struct store_policies policies;
};

static void ask_watch_say(struct ask_watch *w, bool *is_said, const char *what,
			  const struct err *err)
{
	char line[ERR_LINE_BYTES + 64];

	snprintf(line, sizeof(line), "%s cannot be read: %s", what, err->line);
	if (w->note && !*is_said)
		w->note(w->ctx, line);
	*is_said = true;
}

/* Puts policies in force if their text differs from the one in force. */
static int ask_watch_take(struct ask_watch *w, const struct buf *text, struct err *err)
{
	struct store_policies fresh = { .list = NULL }, old;
	int ret = 0;

	if (text->len == w->text.len &&
	    (!text->len || !memcmp(text->data, w->text.data, text->len)))
		return 0;
	if (text->len)
		ret = store_policies_parse(&fresh, "policies", text, err);
	if (ret < 0) {
		store_policies_release(&fresh);
		return ret;
	}
	pthread_mutex_lock(&w->lock);
	old = w->policies;
	w->policies = fresh;
	pthread_mutex_unlock(&w->lock);
	store_policies_release(&old);
	return 1;
}

static int ask_watch_read_policies(struct ask_watch *w, struct err *err)
{
	char line[64];
	struct buf text;
	int ret;

	buf_init(&text);
	ret = store_policies_text(w->asks, &text, err);
	if (ret == 0)
		ret = ask_watch_take(w, &text, err);
	if (ret > 0) {
		snprintf(line, sizeof(line), "policies of %zu tenants are in force",
			 w->policies.nr);
		if (w->note)
			w->note(w->ctx, line);
		buf_release(&w->text);
		w->text = text;
		buf_init(&text);
	}
	buf_release(&text);
	return ret < 0 ? ret : 0;
}

static void ask_watch_look(struct ask_watch *w)
{
	struct store_ask *all = NULL, *old;
	struct err err = { 0 };
	size_t nr = 0;
	int ret = store_asks_read(w->asks, &all, &nr, &err);

	if (ret < 0) {
		ask_watch_say(w, &w->has_failed, "questions for requests", &err);
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

static void ask_watch_look_all(struct ask_watch *w)
{
	struct err err = { 0 };

	ask_watch_look(w);
	if (ask_watch_read_policies(w, &err) < 0)
		ask_watch_say(w, &w->has_no_policies, "policies", &err);
	else
		w->has_no_policies = false;
}

static void *ask_watch_loop(void *ctx)
{
	struct ask_watch *w = ctx;
	bool is_ending = false;

	while (!is_ending) {
		uint64_t at_ns;
		struct timespec at;

		at_ns = clock_monotonic_ns() + LOOK_S * 1000000000ull;
		at = (struct timespec){ (time_t)(at_ns / 1000000000u),
					(long)(at_ns % 1000000000u) };
		pthread_mutex_lock(&w->lock);
		while (!w->is_ending && clock_monotonic_ns() < at_ns)
			pthread_cond_timedwait(&w->wake, &w->lock, &at);
		is_ending = w->is_ending;
		pthread_mutex_unlock(&w->lock);
		if (!is_ending)
			ask_watch_look_all(w);
	}
	return NULL;
}

/*
 * Reads all before the first reply. A server that does not know the policies must not answer: an
 * answer without a policy lets the agent send all requests.
 */
static int ask_watch_begin(struct ask_watch *w, const char *store, struct err *err)
{
	struct err why = { 0 };
	int ret = store_asks_open(&w->asks, store, err);

	if (ret < 0)
		return ret;
	ask_watch_look(w);
	ret = ask_watch_read_policies(w, &why);
	if (ret < 0)
		return err_set(err, -ret,
			       "policies cannot be read: %s; blkcast policy FILE states them anew",
			       why.line);
	ret = thread_start(&w->thread, "asks", ask_watch_loop, w);
	w->has_thread = ret == 0;
	return ret < 0 ? err_set(err, -ret, "cannot start a thread: %s", strerror(-ret)) : 0;
}

int ask_watch_new(struct ask_watch **out, const char *store, void (*note)(void *, const char *),
		  void *ctx, struct err *err)
{
	struct ask_watch *w = calloc(1, sizeof(*w));
	pthread_condattr_t attributes;
	int ret;

	if (!w)
		return err_set(err, ENOMEM, "no memory for the questions");
	buf_init(&w->text);
	w->note = note;
	w->ctx = ctx;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&w->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	ret = ask_watch_begin(w, store, err);
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
	store_policies_release(&w->policies);
	buf_release(&w->text);
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

bool ask_watch_policy(struct ask_watch *w, const char *host, char out[POLICY_FIELD_BYTES])
{
	const struct store_policy *one;
	bool is_told;

	pthread_mutex_lock(&w->lock);
	one = store_policies_find(&w->policies, host);
	is_told = one && policy_limits(&one->told);
	if (is_told)
		policy_print(&one->told, out);
	pthread_mutex_unlock(&w->lock);
	return is_told;
}

size_t ask_watch_nr_policies(struct ask_watch *w)
{
	size_t nr;

	pthread_mutex_lock(&w->lock);
	nr = w->policies.nr;
	pthread_mutex_unlock(&w->lock);
	return nr;
}

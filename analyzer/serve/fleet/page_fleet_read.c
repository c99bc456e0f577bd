// SPDX-License-Identifier: Apache-2.0
/* The thread of page_fleet.h, which reads windows from the store. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/serve/fleet/page_fleet_state.h"
#include "analyzer/serve/period/page_recent.h"
#include "analyzer/serve/period/page_window.h"
#include "base/memory/array.h"
#include "base/memory/keyed_hash.h"
#include "base/system/clock.h"

/*
 * At most this many segments of the hour before the start are read; if there are more, a shorter
 * time is read.
 */
#define LOAD_SEGMENTS  65536
#define LOOK_MIN_NS    5000000000ull
#define LOOK_SHARE     100	    /* 1/100 of the time goes into looking through the store */
#define ROUND_NS       250000000ull /* least time between two generations */
#define HOUR_NS	       3600000000000ull
#define LOADED_AT_ONCE 256

static uint64_t page_stream_hash(const struct segment_name *n)
{
	char text[2 * SEGMENT_NAME_BYTES + 24];
	int len = snprintf(text, sizeof(text), "%s/%s/%llu", n->host, n->boot_id,
			   (unsigned long long)n->epoch);

	return keyed_hash(0, text, (size_t)len);
}

/*
 * Returns whether the segment comes after the segments of its stream that were read; from then on
 * it counts as read. An agent sends the segments of a stream in order. Therefore a segment is read
 * once, although both serve and a look through the store report it. Returns -ENOMEM if memory is
 * out.
 */
static int page_stream_advance(struct page_fleet *f, const struct segment_name *n)
{
	uint64_t hash = page_stream_hash(n);
	uint32_t at = u64map_find(&f->by_stream, hash);

	if (at != U64MAP_NONE) {
		if (n->sequence <= f->sequences[at])
			return 0;
		f->sequences[at] = n->sequence;
		return 1;
	}
	if (array_grow(&f->sequences, &f->cap_streams, f->nr_streams + 1, sizeof(*f->sequences)) <
		    0 ||
	    u64map_put(&f->by_stream, hash, (uint32_t)f->nr_streams) < 0)
		return -ENOMEM;
	f->sequences[f->nr_streams++] = n->sequence;
	return 1;
}

struct page_taker {
	struct page_fleet *f;
	uint64_t received_ns, nr_bad;
	struct page_recent recent; /* owned */
	bool is_recent;
};

/* Returns whether a question about the segment would have to read it again: page_recent.h. */
static bool page_taker_is_recent(const struct page_taker *t, const struct segment_header *h)
{
	uint64_t block = h->begin.realtime_ns / (PAGE_BLOCK_S * CLOCK_NS_PER_S);

	return t->f->nr_devices <= PAGE_RECENT_DEVICES &&
	       !page_block_is_over(block, (double)clock_real_ns() / 1e9);
}

static int page_taker_visit(void *ctx, const struct segment_header *h,
			    struct segment_reader *reader)
{
	struct page_taker *t = ctx;
	struct page_host *host;
	int ret = 0;

	(void)reader;
	pthread_mutex_lock(&t->f->lock);
	host = page_fleet_host(t->f, h->host, (double)h->begin.realtime_ns / 1e9,
			       (double)h->end.realtime_ns / 1e9, t->received_ns);
	/*
	 * An agent that keeps requests back sends a segment after it has deleted the segment's
	 * requests.
	 */
	if (host && h->ledger && h->ledger->total[LOSS_KEPT_BACK])
		host->kept_back_s = fmax(host->kept_back_s, (double)h->end.realtime_ns / 1e9);
	t->is_recent = page_taker_is_recent(t, h);
	pthread_mutex_unlock(&t->f->lock);
	for (size_t i = 0; host && i < h->nr_profiles && ret == 0; i++) {
		bool is_other;
		struct profile p;

		if (page_window_read(h->profiles[i], NULL, &p, &is_other) < 0) {
			profile_release(&p);
			t->nr_bad++;
			continue;
		}
		pthread_mutex_lock(&t->f->lock);
		ret = page_fleet_add(t->f, host, &p);
		pthread_mutex_unlock(&t->f->lock);
		t->is_recent = t->is_recent && page_recent_add(&t->recent, &p) == 0;
		profile_release(&p);
	}
	return ret;
}

/* Reads a segment; returns false if it was read before. */
static bool page_fleet_take(struct page_fleet *f, const struct segment_name *n,
			    uint64_t received_ns)
{
	struct page_taker t = { .f = f, .received_ns = received_ns };
	struct err err = { 0 };

	if (page_stream_advance(f, n) <= 0)
		return false;
	if (page_store_segment(f->store, n, page_taker_visit, &t, &err) < 0)
		t.nr_bad++;
	if (t.is_recent && !t.nr_bad)
		page_recent_keep(&t.recent, f->store, n);
	page_recent_release(&t.recent);
	pthread_mutex_lock(&f->lock);
	f->nr_bad += t.nr_bad;
	pthread_mutex_unlock(&f->lock);
	return true;
}

static bool page_fleet_stops(struct page_fleet *f)
{
	bool stop;

	pthread_mutex_lock(&f->lock);
	stop = f->stop;
	pthread_mutex_unlock(&f->lock);
	return stop;
}

static void page_fleet_tell(struct page_fleet *f)
{
	pthread_mutex_lock(&f->lock);
	f->generation++;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
}

static int page_by_end(const void *a, const void *b)
{
	const struct page_segment *x = a, *y = b;

	if (x->end_real_ns != y->end_real_ns)
		return x->end_real_ns > y->end_real_ns ? 1 : -1;
	return segment_name_compare(&x->name, &y->name);
}

/* Reads the stored segments of the hour that ends with the newest window, or now. */
static void page_fleet_load(struct page_fleet *f)
{
	struct page_question q = { .end_real_ns = UINT64_MAX };
	struct page_segment *segments = NULL;
	uint64_t latest_ns = 0, now_ns = clock_real_ns(), period_ns = HOUR_NS;
	struct err err = { 0 };
	size_t nr = 0;
	bool whole = true;

	if (page_store_latest(f->store, &latest_ns, &err) < 0 || latest_ns == 0)
		return;
	latest_ns = latest_ns < now_ns ? latest_ns : now_ns;
	do {
		q.begin_real_ns = latest_ns > period_ns ? latest_ns - period_ns : 0;
		if (page_store_count(f->store, &q, &nr, &err) < 0)
			return;
		period_ns /= 2;
	} while (nr > LOAD_SEGMENTS && period_ns);
	q.nr_most = LOAD_SEGMENTS;
	if (page_store_find(f->store, &q, &segments, &nr, &whole, &err) < 0)
		return;
	/*
	 * The segments are read in order of time, so that gaps do not depend on the order of the
	 * names.
	 */
	if (nr)
		qsort(segments, nr, sizeof(*segments), page_by_end);
	pthread_mutex_lock(&f->lock);
	f->nr_to_load = nr;
	f->history_begin_s = (double)q.begin_real_ns / 1e9;
	pthread_mutex_unlock(&f->lock);
	for (size_t i = 0; i < nr && !page_fleet_stops(f); i++) {
		page_fleet_take(f, &segments[i].name, segments[i].received_real_ns);
		pthread_mutex_lock(&f->lock);
		f->nr_loaded = i + 1;
		pthread_mutex_unlock(&f->lock);
		if (i % LOADED_AT_ONCE == 0)
			page_fleet_tell(f);
	}
	free(segments);
}

/*
 * Finds segments that other programs than serve put into the folder. Returns the time of the next
 * look.
 */
static uint64_t page_fleet_look(struct page_fleet *f)
{
	uint64_t begin_ns = clock_monotonic_ns(), now_ns = clock_real_ns(), took_ns;
	struct page_question q = { .begin_real_ns = now_ns > HOUR_NS ? now_ns - HOUR_NS : 0,
				   .end_real_ns = UINT64_MAX,
				   .nr_most = LOAD_SEGMENTS };
	struct page_segment *segments = NULL;
	struct err err = { 0 };
	bool whole, news = false;
	size_t nr = 0;

	if (page_store_sync(f->store, &err) == 0 &&
	    page_store_find(f->store, &q, &segments, &nr, &whole, &err) == 0) {
		if (nr)
			qsort(segments, nr, sizeof(*segments), page_by_end);
		for (size_t i = 0; i < nr && !page_fleet_stops(f); i++)
			news |= page_fleet_take(f, &segments[i].name, segments[i].received_real_ns);
		if (news)
			page_fleet_tell(f);
		free(segments);
	}
	took_ns = clock_monotonic_ns() - begin_ns;
	return begin_ns + took_ns +
	       (took_ns * LOOK_SHARE > LOOK_MIN_NS ? took_ns * LOOK_SHARE : LOOK_MIN_NS);
}

/*
 * Takes the next name from the queue, and waits for one until end_ns. Returns 1, or 0 if there is
 * none.
 */
static int page_fleet_next(struct page_fleet *f, uint64_t end_ns, struct segment_name *n)
{
	struct timespec until = { .tv_sec = (time_t)(end_ns / CLOCK_NS_PER_S),
				  .tv_nsec = (long)(end_ns % CLOCK_NS_PER_S) };
	int ret = 0;

	pthread_mutex_lock(&f->lock);
	while (!f->stop && !f->look_again && !f->queue_nr &&
	       pthread_cond_timedwait(&f->wake, &f->lock, &until) != ETIMEDOUT)
		;
	if (!f->stop && f->queue_nr) {
		*n = f->queue[f->queue_first];
		f->queue_first = (f->queue_first + 1) % PAGE_QUEUE;
		f->queue_nr--;
		ret = 1;
	}
	pthread_mutex_unlock(&f->lock);
	return ret;
}

static bool page_fleet_asked_to_look(struct page_fleet *f)
{
	bool asked;

	pthread_mutex_lock(&f->lock);
	asked = f->look_again && !f->queue_nr;
	if (asked)
		f->look_again = false;
	pthread_mutex_unlock(&f->lock);
	return asked;
}

void *page_fleet_run(void *ctx)
{
	struct page_fleet *f = ctx;
	uint64_t look_ns, told_ns = 0;
	bool news = false;

	page_fleet_load(f);
	pthread_mutex_lock(&f->lock);
	f->loaded = true;
	pthread_mutex_unlock(&f->lock);
	page_fleet_tell(f);
	look_ns = clock_monotonic_ns() + LOOK_MIN_NS;
	while (!page_fleet_stops(f)) {
		uint64_t now_ns = clock_monotonic_ns();
		struct segment_name n;

		if (news && now_ns >= told_ns + ROUND_NS) {
			page_fleet_tell(f);
			told_ns = now_ns;
			news = false;
		}
		if (now_ns >= look_ns || page_fleet_asked_to_look(f))
			look_ns = page_fleet_look(f);
		if (page_fleet_next(f, news ? told_ns + ROUND_NS : look_ns, &n))
			news |= page_fleet_take(f, &n, clock_real_ns());
	}
	return NULL;
}

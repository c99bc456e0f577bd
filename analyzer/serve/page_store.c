// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/page_store.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "formats/segment/segment.h"

/* The cache holds a day of one device in windows of a second, and a part of another day. */
#define CACHE_BYTES   (96u << 20)
#define LOOK_AT_CLOCK 1024 /* rows of the catalog between two looks at the deadline */

struct page_store {
	struct store *store;	  /* owned; its catalog is guarded by the lock */
	struct page_cache *cache; /* owned */
	pthread_mutex_t lock;
};

/* The state of a walk over the catalog. */
struct page_walk {
	const struct page_question *q;
	const struct segment_name *stream; /* NULL: all streams */
	struct page_segment *items;	   /* NULL: the segments are only counted */
	size_t nr, cap;
	uint64_t nr_rows, latest_ns;
	bool counts_only, cut;
};

int page_store_open(struct page_store **out, const char *dir, struct err *err)
{
	struct page_store *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return err_set(err, ENOMEM, "no memory for the page");
	pthread_mutex_init(&s->lock, NULL);
	s->cache = page_cache_new(CACHE_BYTES);
	ret = s->cache ? store_open(&s->store, dir, false, err)
		       : err_set(err, ENOMEM, "no memory for the page");
	if (ret < 0) {
		page_store_close(s);
		return ret;
	}
	*out = s;
	return 0;
}

void page_store_close(struct page_store *s)
{
	if (!s)
		return;
	store_close(s->store);
	page_cache_free(s->cache);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

const char *page_store_dir(const struct page_store *s)
{
	return store_dir(s->store);
}

int page_store_sync(struct page_store *s, struct err *err)
{
	int ret;

	pthread_mutex_lock(&s->lock);
	ret = store_sync(s->store, err);
	pthread_mutex_unlock(&s->lock);
	return ret;
}

static int page_walk_latest(void *ctx, const struct segment_facts *f)
{
	struct page_walk *w = ctx;

	if (f->end.realtime_ns > w->latest_ns)
		w->latest_ns = f->end.realtime_ns;
	return 0;
}

int page_store_latest(struct page_store *s, uint64_t *end_real_ns, struct err *err)
{
	struct page_walk w = { 0 };
	int ret;

	pthread_mutex_lock(&s->lock);
	ret = catalog_each_segment(store_catalog(s->store), page_walk_latest, &w, err);
	pthread_mutex_unlock(&s->lock);
	*end_real_ns = w.latest_ns;
	return ret;
}

/* Returns 1 to end the walk early. */
static int page_walk_take(void *ctx, const struct segment_facts *f)
{
	struct page_walk *w = ctx;
	const struct page_question *q = w->q;

	if (w->stream && !segment_name_same_stream(&f->name, w->stream))
		return 1;
	if (q->deadline_ns && ++w->nr_rows % LOOK_AT_CLOCK == 0 &&
	    clock_monotonic_ns() > q->deadline_ns) {
		w->cut = true;
		return 1;
	}
	if (w->stream && f->begin.realtime_ns >= q->end_real_ns)
		return 1;
	if (f->end.realtime_ns <= q->begin_real_ns || f->begin.realtime_ns >= q->end_real_ns)
		return 0;
	if (w->counts_only) {
		w->nr++;
		return 0;
	}
	if (q->nr_most && w->nr == q->nr_most) {
		w->cut = true;
		return 1;
	}
	if (array_grow(&w->items, &w->cap, w->nr + 1, sizeof(*w->items)) < 0)
		return -ENOMEM;
	w->items[w->nr++] =
		(struct page_segment){ f->name, f->begin.realtime_ns, f->end.realtime_ns,
				       f->received_real_ns, f->nr_requests };
	return 0;
}

struct page_probe {
	const struct segment_name *stream;
	uint64_t sequence, end_ns; /* of the first segment that is not before the requested one */
	bool found;
};

static int page_probe_take(void *ctx, const struct segment_facts *f)
{
	struct page_probe *p = ctx;

	if (segment_name_same_stream(&f->name, p->stream)) {
		p->found = true;
		p->sequence = f->name.sequence;
		p->end_ns = f->end.realtime_ns;
	}
	return 1;
}

/*
 * Walks one stream, whose segments follow one another in time. The first segment of the period is
 * found by bisection, so that the time does not grow with the length of the history. n is the
 * stream with its highest sequence.
 */
static int page_walk_stream(struct page_store *s, const struct segment_name *n, struct page_walk *w,
			    struct err *err)
{
	struct catalog *c = store_catalog(s->store);
	struct segment_name after = *n;
	uint64_t low = 0, high = n->sequence;
	int ret;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		struct page_probe probe = { .stream = n };

		after.sequence = middle - 1;
		if (middle == 0)
			break;
		ret = catalog_each_segment_after(c, &after, page_probe_take, &probe, err);
		if (ret < 0)
			return ret;
		if (probe.found && probe.end_ns > w->q->begin_real_ns)
			high = middle;
		else
			low = probe.found ? probe.sequence + 1 : high;
	}
	w->stream = n;
	after.sequence = low ? low - 1 : 0;
	if (low == 0) { /* No name comes directly before the first segment of an epoch. */
		after.epoch = n->epoch ? n->epoch - 1 : 0;
		after.sequence = SEGMENT_SEQUENCE_MAX;
	}
	ret = catalog_each_segment_after(c, &after, page_walk_take, w, err);
	return ret > 0 ? 0 : ret;
}

static int page_walk_host(struct page_store *s, struct page_walk *w, struct err *err)
{
	struct catalog *c = store_catalog(s->store);
	struct segment_name n = { .epoch = 0 };
	int ret;

	snprintf(n.host, sizeof(n.host), "%s", w->q->host);
	while ((ret = catalog_next_stream(c, &n, err)) == 1) {
		ret = catalog_stream(c, &n, err);
		if (ret == 1)
			ret = page_walk_stream(s, &n, w, err);
		if (ret < 0 || w->cut)
			break;
		n.epoch++;
		n.sequence = 0;
	}
	return ret;
}

static int page_store_walk(struct page_store *s, struct page_walk *w, struct err *err)
{
	int ret;

	pthread_mutex_lock(&s->lock);
	if (w->q->host)
		ret = page_walk_host(s, w, err);
	else
		ret = catalog_each_segment(store_catalog(s->store), page_walk_take, w, err);
	pthread_mutex_unlock(&s->lock);
	return ret > 0 ? 0 : ret;
}

int page_store_count(struct page_store *s, const struct page_question *q, size_t *nr,
		     struct err *err)
{
	struct page_walk w = { .q = q, .counts_only = true };
	int ret = page_store_walk(s, &w, err);

	*nr = w.nr;
	return ret;
}

int page_store_find(struct page_store *s, const struct page_question *q, struct page_segment **out,
		    size_t *nr, bool *whole, struct err *err)
{
	struct page_walk w = { .q = q };
	int ret = page_store_walk(s, &w, err);

	if (ret < 0) {
		free(w.items);
		return ret;
	}
	*out = w.items;
	*nr = w.nr;
	*whole = !w.cut;
	return 0;
}

int page_store_segment(struct page_store *s, const struct segment_name *n,
		       int (*visit)(void *ctx, const struct segment_header *h,
				    struct segment_reader *reader),
		       void *ctx, struct err *err)
{
	struct segment_reader *reader = NULL;
	char path[SEGMENT_PATH_MAX];
	struct buf data;
	int ret;

	buf_init(&data);
	segment_name_path(n, path);
	ret = store_read(s->store, path, &data, err);
	if (ret == 0)
		ret = segment_reader_new(&reader, data.data, data.len, err);
	if (ret == 0)
		ret = visit(ctx, segment_reader_header(reader), reader);
	segment_reader_free(reader);
	buf_release(&data);
	return ret;
}

struct page_cache *page_store_cache(struct page_store *s)
{
	return s->cache;
}

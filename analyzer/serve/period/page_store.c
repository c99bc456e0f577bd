// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/period/page_store.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/store_summary.h"
#include "base/memory/array.h"
#include "base/system/clock.h"
#include "formats/segment/segment.h"

/* The cache holds a day of one device in windows of a second, and a part of another day. */
#define CACHE_BYTES   (96u << 20)
#define LOOK_AT_CLOCK 1024 /* rows of the catalog between two looks at the deadline */

struct page_store {
	struct store *store;	  /* owned; its catalog is guarded by the lock */
	struct page_cache *cache; /* owned */
	struct page_kept *kept;	  /* owned */
	pthread_mutex_t lock;
};

/* The state of a walk over the catalog. */
struct page_walk {
	const struct page_question *q;
	const struct segment_name *stream; /* that is walked now */
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
	if (!s->cache || page_kept_open(&s->kept, dir) < 0)
		ret = err_set(err, ENOMEM, "no memory for the page");
	else
		ret = store_open(&s->store, dir, false, err);
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
	page_kept_close(s->kept);
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

/* Takes a segment if it lies in the period. Returns 1 to end the walk early. */
static int page_walk_take(struct page_walk *w, const struct segment_name *name,
			  const struct catalog_span *span)
{
	const struct page_question *q = w->q;

	if (q->deadline_ns && ++w->nr_rows % LOOK_AT_CLOCK == 0 &&
	    clock_monotonic_ns() > q->deadline_ns) {
		w->cut = true;
		return 1;
	}
	if (span->end_real_ns <= q->begin_real_ns || span->begin_real_ns >= q->end_real_ns)
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
	w->items[w->nr] = (struct page_segment){ *name, span->begin_real_ns, span->end_real_ns,
						 span->received_real_ns, span->nr_requests };
	w->items[w->nr++].name.sequence = span->sequence;
	return 0;
}

static int page_walk_segment(void *ctx, const struct segment_facts *f)
{
	const struct catalog_span span = { f->name.sequence, f->begin.realtime_ns,
					   f->end.realtime_ns, f->received_real_ns,
					   f->nr_requests };

	return page_walk_take(ctx, &f->name, &span);
}

/* The segments of a stream follow one another in time, so that the walk ends behind the period. */
static int page_walk_span(void *ctx, const struct catalog_span *span)
{
	struct page_walk *w = ctx;

	return span->begin_real_ns >= w->q->end_real_ns ? 1 : page_walk_take(w, w->stream, span);
}

static int page_probe_take(void *ctx, const struct catalog_span *span)
{
	*(struct catalog_span *)ctx = *span;
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
	struct segment_name from = *n;
	uint64_t low = 0, high = n->sequence;
	int ret;

	while (low < high) {
		struct catalog_span probe;

		from.sequence = low + (high - low) / 2;
		ret = catalog_each_span(c, &from, page_probe_take, &probe, err);
		if (ret < 0)
			return ret;
		if (ret == 0) /* There is no segment from here on. */
			high = from.sequence;
		else if (probe.end_real_ns > w->q->begin_real_ns)
			high = from.sequence;
		else
			low = probe.sequence + 1;
	}
	w->stream = n;
	from.sequence = low;
	ret = catalog_each_span(c, &from, page_walk_span, w, err);
	return ret > 0 ? 0 : ret;
}

/* Returns whether the time of a question is over. */
static bool page_question_is_late(const struct page_question *q)
{
	return q->deadline_ns && clock_monotonic_ns() > q->deadline_ns;
}

/* Goes to the next stream of the host and walks it. Returns 1, 0 behind the last one, or -errno. */
static int page_walk_next(struct page_store *s, struct segment_name *n, struct page_walk *w,
			  struct err *err)
{
	struct catalog *c = store_catalog(s->store);
	int ret = catalog_next_stream(c, n, err);

	if (ret != 1)
		return ret;
	ret = page_walk_stream(s, n, w, err);
	catalog_pass_stream(n);
	return ret < 0 ? ret : 1;
}

/*
 * A guest decides how many streams its host has: up to a million a day, with a boot id of its own
 * for each segment. Therefore the deadline is checked for each stream, and other threads can use
 * the catalog between two streams.
 */
static int page_walk_host(struct page_store *s, struct page_walk *w, struct err *err)
{
	struct segment_name n = { .epoch = 0 };
	int ret = 1;

	snprintf(n.host, sizeof(n.host), "%s", w->q->host);
	while (ret == 1 && !w->cut) {
		if (page_question_is_late(w->q)) {
			w->cut = true;
			break;
		}
		pthread_mutex_lock(&s->lock);
		ret = page_walk_next(s, &n, w, err);
		pthread_mutex_unlock(&s->lock);
	}
	return ret;
}

static int page_store_walk(struct page_store *s, struct page_walk *w, struct err *err)
{
	int ret;

	if (w->q->host) {
		ret = page_walk_host(s, w, err);
	} else {
		pthread_mutex_lock(&s->lock);
		ret = catalog_each_segment(store_catalog(s->store), page_walk_segment, w, err);
		pthread_mutex_unlock(&s->lock);
	}
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

int page_store_received(struct page_store *s, const struct segment_name *n,
			uint64_t *received_real_ns, struct err *err)
{
	struct catalog_span span;
	int ret;

	pthread_mutex_lock(&s->lock);
	ret = catalog_each_span(store_catalog(s->store), n, page_probe_take, &span, err);
	pthread_mutex_unlock(&s->lock);
	if (ret < 0)
		return ret;
	if (ret == 0 || span.sequence != n->sequence)
		return -ENOENT;
	*received_real_ns = span.received_real_ns;
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

struct page_retired {
	const struct page_question *q;
	struct summary_file *files; /* owned */
	size_t nr, cap;
};

static int page_retired_take(void *ctx, const struct segment_facts *f)
{
	struct page_retired *r = ctx;

	if (f->end.realtime_ns <= r->q->begin_real_ns || f->begin.realtime_ns >= r->q->end_real_ns)
		return 0;
	if (array_grow(&r->files, &r->cap, r->nr + 1, sizeof(*r->files)) < 0)
		return -ENOMEM;
	r->files[r->nr++] = (struct summary_file){ f->name, f->generation };
	return 0;
}

/* *whole is cleared where the time was over before the last stream. */
static int page_retired_find(struct page_store *s, struct page_retired *r, bool *whole,
			     struct err *err)
{
	struct catalog *c = store_catalog(s->store);
	struct segment_name n = { .epoch = 0 };
	int ret = 1, taken;

	snprintf(n.host, sizeof(n.host), "%s", r->q->host);
	while (ret == 1) {
		if (page_question_is_late(r->q)) {
			*whole = false;
			return 0;
		}
		pthread_mutex_lock(&s->lock);
		ret = catalog_next_stream(c, &n, err);
		taken = ret == 1 ? catalog_each_summary_of(c, &n, page_retired_take, r, err) : 0;
		pthread_mutex_unlock(&s->lock);
		if (taken < 0)
			return taken;
		catalog_pass_stream(&n);
	}
	return ret;
}

int page_store_summaries(struct page_store *s, const struct page_question *q,
			 int (*visit)(void *ctx, const struct summary *summary), void *ctx,
			 uint64_t *nr_bad, bool *whole, struct err *err)
{
	struct page_retired r = { .q = q };
	int ret;

	*whole = true;
	ret = page_retired_find(s, &r, whole, err);
	for (size_t i = 0; i < r.nr && ret == 0; i++) {
		struct err why = { 0 };
		struct summary summary;

		if (q->deadline_ns && clock_monotonic_ns() > q->deadline_ns) {
			*whole = false;
			break;
		}
		summary_init(&summary);
		ret = store_summary_read(s->store, &r.files[i].first, r.files[i].generation,
					 &summary, &why);
		if (ret == 0) {
			ret = visit(ctx, &summary);
		} else if (ret != -ENOMEM) {
			/* A summary that is gone has become a part of another one meanwhile. */
			*nr_bad += ret != -ENOENT;
			ret = 0;
		}
		summary_release(&summary);
	}
	free(r.files);
	return ret;
}

struct page_cache *page_store_cache(struct page_store *s)
{
	return s->cache;
}

struct page_kept *page_store_kept(struct page_store *s)
{
	return s->kept;
}

// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/period/page_device.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/serve/period/page_block.h"
#include "analyzer/serve/period/page_phase.h"
#include "analyzer/serve/period/page_recent.h"
#include "analyzer/serve/period/page_window.h"
#include "base/data/json.h"
#include "base/system/clock.h"

#define DIGITS	    "0123456789"
#define COVER_S	    0.1	 /* less than this is rounding */
#define READ_BLOCKS 8	 /* blocks that are read together where there are segments */
#define SETTLE_S    1	 /* An agent makes a window's profile within this time after its end. */
#define UNKNOWN_S   60	 /* length that windows are taken to have before one was found */
#define LONGEST_S   3600 /* An agent makes no longer windows. */
#define LAST_S \
	9.2e9 /* No time after the year 2261 is accepted, so that nanoseconds fit into 63 bits. */

/* Column lengths are rounded to these steps, which people read easily. */
static const double page_steps_s[] = { 1,   2,	  5,	10,   20,    30,    60,	   120,	  300,
				       600, 1800, 3600, 7200, 21600, 43200, 86400, 604800 };

struct page_period {
	const struct page_device_question *q;
	double first_s, step_s;	     /* first_s: begin of the first column */
	struct page_column *columns; /* owned */
	double *covered_s;	     /* owned: covered seconds of each column */
	double covered_until_s;	     /* end of the newest segment */
	size_t nr;
	uint64_t nr_bad;
	double nr_windows;
	char name[PROFILE_NAME_BYTES];
	uint8_t source, layer;
	double longest_s;
	double retired_until_s;	   /* NaN: no window is of retired requests */
	struct page_gather gather; /* of the column that the last window was added to */
};

static double page_step_s(const struct page_device_question *q)
{
	const size_t nr = sizeof(page_steps_s) / sizeof(page_steps_s[0]);
	double least_s = fmax(q->step_s, (q->end_s - q->begin_s) / (PAGE_COLUMNS - 1));

	for (size_t i = 0; i < nr; i++)
		if (page_steps_s[i] >= least_s)
			return page_steps_s[i];
	return least_s;
}

struct page_packing {
	const char *device;
	struct page_windows_head head;
	struct buf *columns; /* packed, one column for each window */
};

static int page_pack_segment(void *ctx, const struct segment_header *h,
			     struct segment_reader *reader)
{
	struct page_packing *k = ctx;
	int ret = 0;

	(void)reader;
	for (size_t i = 0; i < h->nr_profiles && ret != -ENOMEM; i++) {
		struct profile p;
		bool is_other;

		ret = page_window_read(h->profiles[i], k->device, &p, &is_other);
		if (ret == 0 && !is_other)
			ret = page_recent_pack(&p, &k->head, k->columns);
		profile_release(&p);
		k->head.nr_bad += ret == -EBADMSG;
	}
	return ret == -ENOMEM ? ret : 0;
}

/* Gives the windows of the device in a segment, from the file or from an earlier look at it. */
static int page_period_segment(struct page_period *t, struct page_store *store,
			       const struct page_segment *segment, struct buf *out, struct err *err)
{
	struct page_packing k = { .device = t->q->device };
	uint64_t key = page_recent_key(&segment->name, segment->received_real_ns, k.device);
	struct buf columns;
	int ret;

	if (page_cache_get(page_store_cache(store), key, out))
		return 0;
	buf_init(&columns);
	k.columns = &columns;
	ret = page_store_segment(store, &segment->name, page_pack_segment, &k, err);
	if (ret == 0)
		ret = buf_put(out, &k.head, sizeof(k.head));
	if (ret == 0)
		ret = buf_put(out, columns.data, columns.len);
	if (ret == 0)
		page_cache_put(page_store_cache(store), key, out->data, out->len);
	buf_release(&columns);
	return ret;
}

/* Returns the column in which the window begins; NULL if it begins outside of the period. */
static struct page_column *page_period_column(struct page_period *t, const struct page_column *c)
{
	double at = floor((c->begin_s - t->first_s) / t->step_s + 1e-6);

	return c->begin_s >= t->first_s && at < (double)t->nr ? &t->columns[(size_t)at] : NULL;
}

static int page_period_add(struct page_period *t, const struct buf *windows)
{
	struct cursor from = cursor_make(windows->data, windows->len);
	struct page_windows_head head;
	struct page_column c;
	int ret = cursor_get(&from, &head, sizeof(head));

	if (ret < 0)
		return ret;
	t->nr_bad += head.nr_bad;
	while (page_column_next_packed(&from, &c) == 0) {
		struct page_column *column = page_period_column(t, &c);

		ret = page_column_merge_packed(column, &c, &from, &t->gather);
		if (ret < 0)
			return ret;
		if (!column)
			continue;
		memcpy(t->name, head.name, sizeof(t->name));
		t->source = head.source;
		t->layer = head.layer;
		t->nr_windows += c.windows;
		t->longest_s = fmax(t->longest_s, c.longest_s);
	}
	return 0;
}

/* Returns whether the text is MAJOR:MINOR. */
static bool page_device_is_number(const char *text)
{
	size_t len = strspn(text, DIGITS);

	if (len == 0 || text[len] != ':')
		return false;
	text += len + 1;
	len = strspn(text, DIGITS);
	return len > 0 && !text[len];
}

int page_device_check(const struct page_device_question *q, struct err *err)
{
	struct segment_name n = { .epoch = 0 };

	if (!q->host || !q->host[0] || strlen(q->host) >= sizeof(n.host))
		return err_set(err, EINVAL, "host: expected the name of a host");
	if (!q->device || !page_device_is_number(q->device) ||
	    strlen(q->device) >= PROFILE_NAME_BYTES)
		return err_set(err, EINVAL, "device: expected a number such as 8:0");
	if (!(q->begin_s >= 0 && q->end_s <= LAST_S))
		return err_set(err, EINVAL,
			       "begin_s and end_s: expected seconds since 1970, at most 9.2e9");
	if (!(q->end_s > q->begin_s))
		return err_set(err, EINVAL, "end_s: expected a time after begin_s");
	if (!(q->step_s >= 0))
		return err_set(err, EINVAL, "step_s: expected seconds, or 0");
	return 0;
}

static double page_period_end_s(const struct page_period *t)
{
	return t->first_s + (double)t->nr * t->step_s;
}

/*
 * Returns how long after its begin a window is at most in a segment. A segment has the windows that
 * end while it is open, so that those from the end of the period are in segments that begin later.
 */
static double page_period_late_s(const struct page_period *t)
{
	return SETTLE_S + (t->longest_s > 0 ? fmin(t->longest_s, LONGEST_S) : UNKNOWN_S);
}

/* Returns the block behind the last one whose segments may have windows of the period. */
static uint64_t page_period_end_block(const struct page_period *t)
{
	return (uint64_t)ceil((page_period_end_s(t) + page_period_late_s(t)) / PAGE_BLOCK_S);
}

/*
 * Time that segments of the host cover counts as watched, although an idle device has no window in
 * it.
 */
static void page_period_cover(struct page_period *t, const struct page_segment *segment)
{
	double begin_s = fmax((double)segment->begin_real_ns / 1e9, t->first_s);
	double end_s = fmin((double)segment->end_real_ns / 1e9, page_period_end_s(t));

	t->covered_until_s = fmax(t->covered_until_s, (double)segment->end_real_ns / 1e9);
	for (double s = begin_s; s < end_s;) {
		size_t at = (size_t)((s - t->first_s) / t->step_s);
		double next_s = t->first_s + (double)(at + 1) * t->step_s;

		if (at >= t->nr)
			break;
		t->covered_s[at] += fmin(next_s, end_s) - s;
		/* The added part makes s grow in any case, however times are rounded. */
		s = fmax(next_s, s + t->step_s / 1000);
	}
}

/*
 * A column counts as watched for as long as its windows say, or as long as segments cover it if
 * that is longer. The newest segments also cover time whose windows are not stored yet, which is
 * that from known_until_s on.
 */
static void page_period_watched(struct page_period *t, double known_until_s)
{
	if (!(t->nr_windows > 0))
		return; /* It is not known whether this device was watched. */
	for (size_t i = 0; i < t->nr; i++) {
		double known_s = fmin(known_until_s - t->columns[i].begin_s, t->step_s);
		double covered_s = fmin(t->covered_s[i], known_s);

		if (covered_s > t->columns[i].watched_s + COVER_S)
			t->columns[i].watched_s = covered_s;
	}
}

/* The progress of reading a period, in blocks, and its deadline. */
struct page_reading {
	struct page_store *store;
	enum page_level level;
	uint64_t first, block, end; /* blocks; end is behind the last one of the period */
	uint64_t nr_blocks;	    /* number of blocks that are read together */
	uint64_t deadline_ns;
	double now_s, until_s; /* until_s: when reading stopped for lack of time, or NaN */
	struct buf columns;
};

/*
 * Adds the sums of a whole block. *nr_read becomes the number of segments that there was time for.
 * Returns 0, -ENOENT where its segments have to be read, or -ENOMEM.
 */
static int page_reading_sums(struct page_reading *r, struct page_period *t,
			     const struct page_segment *segments, size_t nr, size_t *nr_read)
{
	int ret = 0;

	if (!page_block_is_over(page_block_of(segments), r->now_s))
		return -ENOENT;
	if (r->level == PAGE_BY_WINDOW)
		ret = page_block_find(r->store, segments, nr, t->q->device, r->level, &r->columns)
			      ? 0
			      : -ENOENT;
	else
		ret = page_block_columns(r->store, segments, nr, t->q->device, r->level,
					 r->deadline_ns, nr_read, &r->columns);
	if (ret == -ETIME)
		r->until_s = (double)segments[*nr_read].begin_real_ns / 1e9;
	if (ret < 0 && ret != -ETIME)
		return ret == -E2BIG ? -ENOENT : ret;
	return page_period_add(t, &r->columns);
}

/*
 * Adds segments of one block, which are all of it if whole is set. *nr_read becomes the number of
 * those that there was time for.
 */
static int page_reading_block(struct page_reading *r, struct page_period *t,
			      const struct page_segment *segments, size_t nr, bool whole,
			      size_t *nr_read)
{
	struct err why = { 0 };
	int ret = -ENOENT;

	*nr_read = nr;
	if (whole)
		ret = page_reading_sums(r, t, segments, nr, nr_read);
	if (ret != -ENOENT)
		return ret;
	*nr_read = nr;
	ret = 0;
	for (size_t i = 0; i < nr && ret != -ENOMEM; i++) {
		/* A part of a block lies outside of the period. */
		if ((double)segments[i].end_real_ns / 1e9 <= t->first_s ||
		    (double)segments[i].begin_real_ns / 1e9 >=
			    page_period_end_s(t) + page_period_late_s(t))
			continue;
		if (clock_monotonic_ns() > r->deadline_ns) {
			r->until_s = (double)segments[i].begin_real_ns / 1e9;
			*nr_read = i;
			return 0;
		}
		ret = page_period_segment(t, r->store, &segments[i], &r->columns, &why);
		if (ret == 0)
			ret = page_period_add(t, &r->columns);
		/* A segment that is gone was removed by retention meanwhile. */
		t->nr_bad += ret < 0 && ret != -ENOENT && ret != -ENOMEM;
	}
	return ret == -ENOMEM ? ret : 0;
}

/* Adds segments that were found together. Those of earlier blocks were added with these. */
static int page_reading_add(struct page_reading *r, struct page_period *t,
			    struct page_segment *segments, size_t nr)
{
	int ret = 0;

	page_block_sort(segments, nr);
	for (size_t i = 0, next; i < nr && ret == 0 && isnan(r->until_s); i = next) {
		uint64_t block = page_block_of(&segments[i]);
		size_t nr_read = 0;

		for (next = i; next < nr && page_block_of(&segments[next]) == block;)
			next++;
		/*
		 * A block before the first is here only with the segments that reach into the
		 * period, and of a block behind it a few hold windows of the period.
		 */
		if (block >= r->block || r->block == r->first)
			ret = page_reading_block(r, t, segments + i, next - i,
						 block >= r->first && block < r->end, &nr_read);
		/* Time whose segments were not read does not count as idle. */
		for (size_t k = i; k < i + nr_read; k++)
			page_period_cover(t, &segments[k]);
	}
	return ret;
}

/*
 * Reads the next blocks. Time without segments is passed in steps that grow, and blocks with too
 * many segments are read one by one.
 */
static int page_reading_next(struct page_reading *r, struct page_period *t, struct err *err)
{
	const uint64_t block_ns = PAGE_BLOCK_S * CLOCK_NS_PER_S;
	uint64_t left = page_period_end_block(t) - r->block;
	uint64_t nr_blocks = r->nr_blocks < left ? r->nr_blocks : left;
	struct page_question q = { .host = t->q->host,
				   .begin_real_ns = r->block * block_ns,
				   .end_real_ns = (r->block + nr_blocks) * block_ns,
				   .deadline_ns = r->deadline_ns,
				   .nr_most = PAGE_BLOCK_SEGMENTS };
	struct page_segment *segments = NULL;
	bool whole = true;
	size_t nr = 0;
	int ret;

	ret = page_store_find(r->store, &q, &segments, &nr, &whole, err);
	if (ret == 0 && !whole && nr_blocks > 1 && clock_monotonic_ns() < r->deadline_ns) {
		r->nr_blocks = nr_blocks / 2;
	} else if (ret == 0) {
		ret = page_reading_add(r, t, segments, nr);
		if (!whole && isnan(r->until_s))
			r->until_s =
				nr ? (double)segments[nr - 1].end_real_ns / 1e9 : t->q->begin_s;
		r->block += nr_blocks;
		r->nr_blocks = nr ? READ_BLOCKS : 2 * nr_blocks;
	}
	free(segments);
	return ret;
}

/* Spreads a profile of retired requests over the columns of its period. */
static int page_period_spread(struct page_period *t, const struct profile *p)
{
	double length_s = p->end_s - p->begin_s;
	double at_s = fmax(p->begin_s, t->first_s), to_s = fmin(p->end_s, page_period_end_s(t));
	size_t i = at_s < to_s ? (size_t)((at_s - t->first_s) / t->step_s) : t->nr;
	int ret = 0;

	for (; i < t->nr && at_s < to_s && ret == 0; i++) {
		double next_s = fmin(t->first_s + (double)(i + 1) * t->step_s, to_s);

		if (next_s <= at_s)
			continue;
		ret = page_column_add_part(&t->columns[i], p, (at_s - p->begin_s) / length_s,
					   (next_s - p->begin_s) / length_s);
		at_s = next_s;
	}
	if (ret == 0 && fmax(p->begin_s, t->first_s) < to_s) {
		t->nr_windows++;
		t->longest_s = fmax(t->longest_s, length_s);
		t->retired_until_s = fmax(t->retired_until_s, p->end_s);
		memcpy(t->name, p->device_name, sizeof(t->name));
		t->source = p->source;
		t->layer = p->layer;
	}
	return ret;
}

/*
 * Skips counters of a device whose requests were captured, because they would count the same
 * requests again.
 */
static int page_period_summary(void *ctx, const struct summary *summary)
{
	struct page_period *t = ctx;
	const struct profile *best = NULL;

	for (size_t i = 0; i < summary->nr_profiles; i++) {
		const struct profile *p = &summary->profiles[i];

		if (strcmp(p->device, t->q->device) == 0 && p->end_s > p->begin_s &&
		    (!best || best->source == SOURCE_DISKSTATS))
			best = p;
	}
	return best ? page_period_spread(t, best) : 0;
}

static int page_period_retired(struct page_period *t, struct page_reading *r, struct err *err)
{
	struct page_question q = {
		.host = t->q->host,
		.begin_real_ns = (uint64_t)(t->first_s * 1e9),
		.end_real_ns = (uint64_t)(page_period_end_s(t) * 1e9),
		.deadline_ns = r->deadline_ns,
	};
	bool whole = true;
	int ret =
		page_store_summaries(r->store, &q, page_period_summary, t, &t->nr_bad, &whole, err);

	if (!whole && isnan(r->until_s))
		r->until_s = t->first_s;
	return ret;
}

/*
 * Reads the segments of the period. *until_s is the time at which reading stopped for lack of time,
 * or NaN.
 */
static int page_period_read(struct page_period *t, struct page_store *store, double *until_s,
			    struct err *err)
{
	struct page_reading r = {
		.store = store,
		.level = page_block_level(t->step_s),
		.first = (uint64_t)(t->first_s / PAGE_BLOCK_S),
		.end = (uint64_t)ceil(page_period_end_s(t) / PAGE_BLOCK_S),
		.nr_blocks = READ_BLOCKS,
		.deadline_ns = clock_monotonic_ns() + PAGE_DEVICE_S * CLOCK_NS_PER_S,
		.now_s = (double)clock_real_ns() / 1e9,
		.until_s = NAN,
	};
	double known_until_s;
	int ret = 0;

	buf_init(&r.columns);
	for (r.block = r.first; r.block < page_period_end_block(t) && ret == 0 && isnan(r.until_s);)
		ret = page_reading_next(&r, t, err);
	known_until_s = t->covered_until_s - page_period_late_s(t);
	if (ret == 0)
		ret = page_gather_end(&t->gather);
	if (ret == 0)
		ret = page_period_retired(t, &r, err);
	page_period_watched(t, known_until_s);
	buf_release(&r.columns);
	*until_s = r.until_s;
	return ret;
}

static json_t *page_period_json(const struct page_period *t, double until_s)
{
	json_t *object = json_object(), *times = json_object();
	json_t *columns = page_columns_json(t->columns, t->nr);
	json_t *sum = page_columns_sum_json(t->columns, t->nr);
	json_t *phases = page_phases_json(t->columns, t->nr);

	json_object_set_new(object, "schema", json_string("blkcast.device/1"));
	json_object_set_new(object, "host", json_text(t->q->host));
	json_object_set_new(object, "device", json_text(t->q->device));
	json_object_set_new(object, "device_name", json_text(t->name));
	json_object_set_new(object, "source",
			    t->nr_windows > 0 ? json_string(source_name(t->source)) : json_null());
	json_object_set_new(object, "layer",
			    t->nr_windows > 0 ? json_string(layer_name(t->layer)) : json_null());
	json_object_set_new(object, "begin_s", json_number(t->first_s));
	json_object_set_new(object, "end_s", json_number(page_period_end_s(t)));
	json_object_set_new(object, "step_s", json_number(t->step_s));
	json_object_set_new(object, "window_s",
			    json_number(t->nr_windows > 0 ? t->longest_s : NAN));
	json_object_set_new(object, "windows", json_integer((json_int_t)t->nr_windows));
	json_object_set_new(object, "unreadable", json_integer((json_int_t)t->nr_bad));
	json_object_set_new(object, "read_until_s", json_number(until_s));
	json_object_set_new(object, "retired_until_s", json_number(t->retired_until_s));
	json_object_set_new(times, "first_octave", json_integer(PAGE_TIMES_FIRST_OCTAVE));
	json_object_set_new(times, "per_octave", json_integer(PAGE_TIMES_PER_OCTAVE));
	json_object_set_new(times, "bins", json_integer(PAGE_NR_TIMES));
	json_object_set_new(object, "heat_times", times);
	if (!columns || !sum || !phases || json_object_set_new(object, "phases", phases) < 0 ||
	    json_object_set_new(object, "columns", columns) < 0 ||
	    json_object_set_new(object, "sum", sum) < 0) {
		json_decref(object);
		return NULL;
	}
	return object;
}

int page_device_json(struct page_store *store, const struct page_device_question *q, json_t **out,
		     struct err *err)
{
	struct page_period t = { .q = q, .retired_until_s = NAN };
	double until_s;
	int ret = page_device_check(q, err);

	if (ret < 0)
		return ret;
	t.step_s = page_step_s(q);
	t.first_s = floor(q->begin_s / t.step_s) * t.step_s;
	t.nr = (size_t)ceil((q->end_s - t.first_s) / t.step_s);
	t.columns = calloc(t.nr, sizeof(*t.columns));
	t.covered_s = calloc(t.nr, sizeof(*t.covered_s));
	if (!t.columns || !t.covered_s) {
		free(t.columns);
		free(t.covered_s);
		return err_set(err, ENOMEM, "no memory for %zu columns", t.nr);
	}
	for (size_t i = 0; i < t.nr; i++) {
		t.columns[i].begin_s = t.first_s + (double)i * t.step_s;
		t.columns[i].end_s = t.columns[i].begin_s + t.step_s;
	}
	ret = page_period_read(&t, store, &until_s, err);
	if (ret == 0) {
		*out = page_period_json(&t, until_s);
		ret = *out ? 0 : err_set(err, ENOMEM, "no memory for the answer");
	}
	for (size_t i = 0; i < t.nr; i++)
		page_column_release(&t.columns[i]);
	free(t.columns);
	free(t.covered_s);
	return ret;
}

// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/page_device.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyzer/serve/page_column.h"
#include "analyzer/serve/page_phase.h"
#include "analyzer/serve/page_window.h"
#include "base/clock.h"
#include "base/json.h"

#define COVER_S 0.1 /* less than this is rounding */
#define LAST_S \
	9.2e9 /* No time after the year 2261 is accepted, so that nanoseconds fit into 63 bits. */

/* Column lengths are rounded to these steps, which people read easily. */
static const double page_steps_s[] = { 1,   2,	  5,	10,   15,    30,    60,	   120,	  300,
				       600, 1800, 3600, 7200, 21600, 43200, 86400, 604800 };

struct page_period {
	const struct page_device_question *q;
	double first_s, step_s;	     /* first_s: begin of the first column */
	struct page_column *columns; /* owned */
	double *covered_s;	     /* owned: covered seconds of each column */
	size_t nr;
	uint64_t nr_windows;
	char name[PROFILE_NAME_BYTES];
	uint8_t source, layer;
	double longest_s;
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

/* What one segment says of the device: its windows as packed columns follow in memory. */
struct page_segment_head {
	char name[PROFILE_NAME_BYTES];
	uint8_t source, layer;
	uint32_t nr_bad; /* profiles that could not be read */
};

struct page_packing {
	const char *device;
	struct page_segment_head head;
	struct buf *columns; /* packed, one of each window */
};

static int page_pack_window(struct page_packing *k, const struct profile *p)
{
	struct page_column c = { .begin_s = p->begin_s, .end_s = p->end_s };
	int ret = page_column_add(&c, p);

	if (ret == 0)
		ret = page_column_pack(&c, k->columns);
	page_column_release(&c);
	snprintf(k->head.name, sizeof(k->head.name), "%s", p->device_name);
	k->head.source = p->source;
	k->head.layer = p->layer;
	return ret;
}

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
			ret = page_pack_window(k, &p);
		profile_release(&p);
		k->head.nr_bad += ret == -EBADMSG;
	}
	return ret == -ENOMEM ? ret : 0;
}

/* Gives the windows of the device in a segment, from the file or from an earlier look at it. */
static int page_period_segment(struct page_period *t, struct page_store *store,
			       const struct page_segment *segment, struct buf *out, struct err *err)
{
	char name[SEGMENT_PATH_MAX + PROFILE_NAME_BYTES];
	struct page_packing k = { .device = t->q->device };
	struct buf columns;
	uint64_t key;
	int ret;

	segment_name_path(&segment->name, name);
	key = XXH3_64bits_withSeed(name, strlen(name), segment->received_real_ns) ^
	      XXH3_64bits(k.device, strlen(k.device));
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

static int page_period_add(struct page_period *t, const struct buf *windows, uint64_t *nr_bad)
{
	struct cursor from = cursor_make(windows->data, windows->len);
	struct page_segment_head head;
	struct page_column c;
	int ret = cursor_get(&from, &head, sizeof(head));

	if (ret < 0)
		return ret;
	*nr_bad += head.nr_bad;
	while (page_column_next_packed(&from, &c) == 0) {
		struct page_column *column = page_period_column(t, &c);

		ret = page_column_merge_packed(column, &c, &from);
		if (ret < 0)
			return ret;
		if (!column)
			continue;
		memcpy(t->name, head.name, sizeof(t->name));
		t->source = head.source;
		t->layer = head.layer;
		t->nr_windows++;
		t->longest_s = fmax(t->longest_s, c.end_s - c.begin_s);
	}
	return 0;
}

int page_device_check(const struct page_device_question *q, struct err *err)
{
	struct segment_name n = { .epoch = 0 };

	if (!q->host || !q->host[0] || strlen(q->host) >= sizeof(n.host))
		return err_set(err, EINVAL, "host: expected the name of a host");
	if (!q->device || !q->device[0])
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

/*
 * Time that segments of the host cover counts as watched, although an idle device has no window in
 * it.
 */
static void page_period_cover(struct page_period *t, const struct page_segment *segment)
{
	double begin_s = fmax((double)segment->begin_real_ns / 1e9, t->first_s);
	double end_s =
		fmin((double)segment->end_real_ns / 1e9, t->first_s + (double)t->nr * t->step_s);

	for (double s = begin_s; s < end_s;) {
		size_t at = (size_t)((s - t->first_s) / t->step_s);
		double next_s = t->first_s + (double)(at + 1) * t->step_s;

		if (at >= t->nr)
			break;
		t->covered_s[at] += fmin(next_s, end_s) - s;
		/* This step grows in any case, however times are rounded. */
		s = fmax(next_s, s + t->step_s / 1000);
	}
}

/*
 * A column counts as watched for as long as its windows say, or as long as segments cover it if
 * that is longer.
 */
static void page_period_watched(struct page_period *t)
{
	if (!t->nr_windows)
		return; /* It is not known whether this device was watched. */
	for (size_t i = 0; i < t->nr; i++) {
		double covered_s = fmin(t->covered_s[i], t->step_s);

		if (covered_s > t->columns[i].watched_s + COVER_S)
			t->columns[i].watched_s = covered_s;
	}
}

/*
 * Reads the segments of the period. *until_s is the time at which reading stopped for lack of time,
 * or NaN.
 */
static int page_period_read(struct page_period *t, struct page_store *store, double *until_s,
			    uint64_t *nr_bad, struct err *err)
{
	struct page_question q = {
		.host = t->q->host,
		.begin_real_ns = (uint64_t)(t->first_s * 1e9),
		.end_real_ns = (uint64_t)((t->first_s + (double)t->nr * t->step_s) * 1e9),
		.deadline_ns = clock_monotonic_ns() + PAGE_DEVICE_S * CLOCK_NS_PER_S,
		.nr_most = PAGE_DEVICE_SEGMENTS,
	};
	struct page_segment *segments = NULL;
	struct buf windows;
	bool whole = true;
	size_t nr = 0;
	int ret = page_store_find(store, &q, &segments, &nr, &whole, err);

	buf_init(&windows);
	*until_s = NAN;
	if (ret == 0 && !whole)
		*until_s = nr ? (double)segments[nr - 1].end_real_ns / 1e9 : t->q->begin_s;
	for (size_t i = 0; i < nr && ret == 0; i++) {
		struct err why = { 0 };

		if (clock_monotonic_ns() > q.deadline_ns) {
			*until_s = (double)segments[i].begin_real_ns / 1e9;
			break;
		}
		page_period_cover(t, &segments[i]);
		ret = page_period_segment(t, store, &segments[i], &windows, &why);
		if (ret == 0)
			ret = page_period_add(t, &windows, nr_bad);
		if (ret < 0 && ret != -ENOMEM) {
			/* A segment that is gone was removed by retention meanwhile. */
			*nr_bad += ret != -ENOENT;
			ret = 0;
		}
	}
	page_period_watched(t);
	buf_release(&windows);
	free(segments);
	return ret;
}

static json_t *page_period_json(const struct page_period *t, double until_s, uint64_t nr_bad)
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
			    t->nr_windows ? json_string(source_name(t->source)) : json_null());
	json_object_set_new(object, "layer",
			    t->nr_windows ? json_string(layer_name(t->layer)) : json_null());
	json_object_set_new(object, "begin_s", json_number(t->first_s));
	json_object_set_new(object, "end_s", json_number(t->first_s + (double)t->nr * t->step_s));
	json_object_set_new(object, "step_s", json_number(t->step_s));
	json_object_set_new(object, "window_s", json_number(t->nr_windows ? t->longest_s : NAN));
	json_object_set_new(object, "windows", json_integer((json_int_t)t->nr_windows));
	json_object_set_new(object, "unreadable", json_integer((json_int_t)nr_bad));
	json_object_set_new(object, "read_until_s", json_number(until_s));
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
	struct page_period t = { .q = q };
	uint64_t nr_bad = 0;
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
	ret = page_period_read(&t, store, &until_s, &nr_bad, err);
	if (ret == 0) {
		*out = page_period_json(&t, until_s, nr_bad);
		ret = *out ? 0 : err_set(err, ENOMEM, "no memory for the answer");
	}
	for (size_t i = 0; i < t.nr; i++)
		page_column_release(&t.columns[i]);
	free(t.columns);
	free(t.covered_s);
	return ret;
}

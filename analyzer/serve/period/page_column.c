// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/period/page_column.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/data/json.h"
#include "base/memory/varint.h"

#define P50 0.5
#define P99 0.99

double page_profile_quantile_s(const struct profile *p, double q)
{
	const struct histogram *reads = &p->read.response.stage[STAGE_TOTAL];
	const struct histogram *writes = &p->write.response.stage[STAGE_TOTAL];
	struct histogram both = { 0 };
	double value_s = NAN;

	if (!writes->nr)
		return histogram_quantile_any_s(reads, q);
	if (!reads->nr)
		return histogram_quantile_any_s(writes, q);
	if (histogram_merge(&both, reads) == 0 && histogram_merge(&both, writes) == 0)
		value_s = histogram_quantile_any_s(&both, q);
	histogram_release(&both);
	return value_s;
}

/*
 * The profile counts its size classes by response time. If response times are unknown, exact sizes
 * give the classes.
 */
static void page_column_sizes(double classes[NR_SIZE_CLASSES], const struct direction_profile *d,
			      double share)
{
	for (size_t i = 0; i < d->nr_sizes; i++)
		classes[size_class_of(d->sizes[i].bytes)] += share * (double)d->sizes[i].count;
}

static void page_column_worst(struct page_column *c, double per_s, double p99_s,
			      double busiest_at_s, double slowest_at_s)
{
	if (per_s > c->busiest_per_s) {
		c->busiest_per_s = per_s;
		c->busiest_at_s = busiest_at_s;
	}
	if (isfinite(p99_s) && !(p99_s <= c->slowest_p99_s)) {
		c->slowest_p99_s = p99_s;
		c->slowest_at_s = slowest_at_s;
	}
}

/* Adds all but the response times. */
static void page_column_numbers(struct page_column *c, const struct profile *p, double share)
{
	double watched_s = profile_rate_s(p), sum = 0;
	double data = (double)profile_data_requests(p);

	for (int i = 0; i < NR_OPERATIONS; i++) {
		c->requests[i] += share * (double)p->requests[i];
		c->bytes[i] += share * (double)p->bytes[i];
		sum += (double)p->requests[i];
	}
	c->watched_s += share * watched_s;
	c->longest_s = fmax(c->longest_s, p->end_s - p->begin_s);
	c->lost += share * (double)p->lost;
	c->errors += share * (double)p->errors;
	if (isfinite(p->closed.in_flight_mean)) {
		c->in_flight_s += p->closed.in_flight_mean * share * watched_s;
		c->in_flight_known_s += share * watched_s;
	}
	if (isfinite(p->all_sequential_ratio)) {
		c->sequential += p->all_sequential_ratio * share * data;
		c->sequential_of += share * data;
	}
	page_column_sizes(c->size_class[0], &p->read, share);
	page_column_sizes(c->size_class[1], &p->write, share);
	page_column_worst(c, watched_s > 0 ? sum / watched_s : 0, page_profile_quantile_s(p, P99),
			  p->begin_s, p->begin_s);
}

static const struct histogram *page_profile_times(const struct profile *p, int i)
{
	return i == 0	? &p->read.response.stage[STAGE_TOTAL]
	       : i == 1 ? &p->write.response.stage[STAGE_TOTAL]
			: &p->flush.stage[STAGE_TOTAL];
}

int page_column_add(struct page_column *c, const struct profile *p)
{
	for (int i = 0; i < 3; i++) {
		const struct histogram *from = page_profile_times(p, i);

		if (from->nr && histogram_merge(&c->response[i], from) < 0)
			return -ENOMEM;
	}
	c->windows++;
	page_bins_add(&c->found, p, 0, 1);
	page_column_numbers(c, p, 1);
	return 0;
}

static int page_histogram_add_part(struct histogram *to, const struct histogram *h, double begin,
				   double end)
{
	struct histogram part = { 0 };
	int ret = 0;

	for (int b = histogram_next(h, HISTOGRAM_BUCKET_MIN); b <= HISTOGRAM_BUCKET_MAX && !ret;
	     b = histogram_next(h, b + 1)) {
		double count = (double)histogram_count(h, b);
		uint64_t nr = (uint64_t)(floor(count * end + 0.5) - floor(count * begin + 0.5));

		ret = nr ? histogram_add_bucket(&part, b, nr) : 0;
	}
	part.min_ns = h->min_ns;
	part.max_ns = h->max_ns;
	if (ret == 0 && part.nr)
		ret = histogram_merge(to, &part);
	histogram_release(&part);
	return ret < 0 ? -ENOMEM : 0;
}

int page_column_add_part(struct page_column *c, const struct profile *p, double from, double to)
{
	int ret = 0;

	for (int i = 0; i < 3 && ret == 0; i++)
		ret = page_histogram_add_part(&c->response[i], page_profile_times(p, i), from, to);
	if (ret == 0)
		page_bins_add(&c->found, p, from, to);
	if (ret == 0)
		page_column_numbers(c, p, to - from);
	c->windows += to >= 1;
	return ret;
}

size_t page_column_memory(const struct page_column *c)
{
	size_t bytes = 0;

	for (int i = 0; i < 3; i++)
		bytes += histogram_memory(&c->response[i]);
	return bytes;
}

int page_column_merge(struct page_column *dst, const struct page_column *src)
{
	for (int i = 0; i < 3; i++)
		if (src->response[i].nr &&
		    histogram_merge(&dst->response[i], &src->response[i]) < 0)
			return -ENOMEM;
	for (int i = 0; i < NR_OPERATIONS; i++) {
		dst->requests[i] += src->requests[i];
		dst->bytes[i] += src->bytes[i];
	}
	for (int d = 0; d < 2; d++)
		for (int i = 0; i < NR_SIZE_CLASSES; i++)
			dst->size_class[d][i] += src->size_class[d][i];
	page_bins_merge(&dst->found, &src->found);
	dst->watched_s += src->watched_s;
	dst->windows += src->windows;
	dst->longest_s = fmax(dst->longest_s, src->longest_s);
	dst->lost += src->lost;
	dst->errors += src->errors;
	dst->in_flight_s += src->in_flight_s;
	dst->in_flight_known_s += src->in_flight_known_s;
	dst->sequential += src->sequential;
	dst->sequential_of += src->sequential_of;
	page_column_worst(dst, src->busiest_per_s, src->slowest_p99_s, src->busiest_at_s,
			  src->slowest_at_s);
	return 0;
}

/*
 * A packed column has its numbers as they are in memory, then the length of the rest in bytes, so
 * that a reader can skip it, then the histograms and the bins.
 */
#define PACKED_BYTES offsetof(struct page_column, response)

static void page_histogram_pack(const struct histogram *h, struct buf *out)
{
	int last = HISTOGRAM_BUCKET_MIN;

	varint_put(out, histogram_nr_used(h));
	varint_put(out, h->min_ns);
	varint_put(out, h->max_ns);
	for (int b = histogram_next(h, HISTOGRAM_BUCKET_MIN); b <= HISTOGRAM_BUCKET_MAX;
	     b = histogram_next(h, b + 1)) {
		varint_put(out, (uint64_t)(b - last));
		varint_put(out, histogram_count(h, b));
		last = b;
	}
}

int page_column_pack(const struct page_column *c, struct buf *out)
{
	uint32_t len = 0;
	size_t at;

	buf_put(out, c, PACKED_BYTES);
	at = out->len;
	buf_put(out, &len, sizeof(len));
	for (int i = 0; i < 3; i++)
		page_histogram_pack(&c->response[i], out);
	page_bins_pack(&c->found, out);
	if (out->error)
		return out->error;
	len = (uint32_t)(out->len - at - sizeof(len));
	memcpy(out->data + at, &len, sizeof(len));
	return 0;
}

int page_column_next_packed(struct cursor *from, struct page_column *c)
{
	*c = (struct page_column){ 0 };
	return cursor_get(from, c, PACKED_BYTES) < 0 ? -ENODATA : 0;
}

/*
 * Nearly all numbers of a packed histogram take one byte or two; a day has forty million of them.
 * The second byte of two is not 0, because varints are as short as they can be.
 */
static inline bool page_number_get(struct cursor *from, uint64_t *out)
{
	const uint8_t *at = from->data + from->at;
	size_t left = from->len - from->at;

	if (left >= 1 && at[0] < 0x80) {
		*out = at[0];
		from->at += 1;
		return true;
	}
	if (left >= 2 && at[1] < 0x80 && at[1] > 0) {
		*out = (uint64_t)(at[0] & 0x7f) | (uint64_t)at[1] << 7;
		from->at += 2;
		return true;
	}
	return varint_get(from, out) == 0;
}

/* Gathers histogram i of the next packed column, which is added to h later. */
static int page_gather_histogram(struct page_gather *g, int i, struct histogram *h,
				 struct cursor *from)
{
	uint64_t nr, min_ns, max_ns, step, count;
	int bucket = HISTOGRAM_BUCKET_MIN;

	if (!page_number_get(from, &nr) || varint_get(from, &min_ns) < 0 ||
	    varint_get(from, &max_ns) < 0)
		return -EBADMSG;
	if (nr) {
		h->min_ns = (h->nr || g->nr[i]) && h->min_ns < min_ns ? h->min_ns : min_ns;
		h->max_ns = h->max_ns > max_ns ? h->max_ns : max_ns;
	}
	for (uint64_t k = 0; k < nr; k++) {
		if (!page_number_get(from, &step) || !page_number_get(from, &count) ||
		    step > (uint64_t)(HISTOGRAM_BUCKET_MAX - bucket) ||
		    count > UINT64_MAX - g->nr[i])
			return -EBADMSG;
		bucket += (int)step;
		if (!g->nr[i] || bucket < g->first[i])
			g->first[i] = bucket;
		if (!g->nr[i] || bucket > g->last[i])
			g->last[i] = bucket;
		g->counts[i][bucket - HISTOGRAM_BUCKET_MIN] += count;
		g->nr[i] += count;
	}
	return 0;
}

int page_gather_end(struct page_gather *g)
{
	int ret = 0;

	for (int i = 0; i < 3; i++) {
		uint64_t *counts = &g->counts[i][g->first[i] - HISTOGRAM_BUCKET_MIN];
		size_t nr = (size_t)(g->last[i] - g->first[i] + 1);

		if (!g->nr[i])
			continue;
		if (ret == 0)
			ret = histogram_add_counts(&g->column->response[i], g->first[i], counts,
						   nr);
		memset(counts, 0, nr * sizeof(*counts));
		g->nr[i] = 0;
	}
	g->column = NULL;
	return ret;
}

int page_column_merge_packed(struct page_column *dst, const struct page_column *c,
			     struct cursor *from, struct page_gather *g)
{
	int ret = dst && dst != g->column ? page_gather_end(g) : 0;
	uint32_t len;

	if (ret == 0 && dst)
		ret = page_column_merge(dst, c);
	if (ret == 0 && (cursor_get(from, &len, sizeof(len)) < 0 || len > from->len - from->at))
		return -EBADMSG;
	if (ret == 0 && !dst)
		from->at += len;
	if (dst)
		g->column = dst;
	for (int i = 0; i < 3 && ret == 0 && dst; i++)
		ret = page_gather_histogram(g, i, &dst->response[i], from);
	if (ret == 0 && dst)
		ret = page_bins_merge_packed(&dst->found, from);
	return ret;
}

void page_column_release(struct page_column *c)
{
	for (int i = 0; i < 3; i++)
		histogram_release(&c->response[i]);
}

/*
 * Returns the number as JSON. A whole one is printed as an integer, which takes a third of the time
 * and fewer bytes: most items of most series are times or 0.
 */
static json_t *page_number(double value)
{
	return fabs(value) < 0x1p53 && value == floor(value) ? json_integer((json_int_t)value)
							     : json_number(value);
}

/* Returns a / b as a JSON number, or null if b is 0. */
static json_t *page_ratio(double a, double b)
{
	return page_number(b > 0 ? a / b : NAN);
}

static double page_column_other(const struct page_column *c)
{
	return c->requests[OPERATION_DISCARD] + c->requests[OPERATION_FLUSH] +
	       c->requests[OPERATION_OTHER];
}

/*
 * Returns [first bin, count, count, ...] up to the last bin that is not 0, or [] without response
 * times.
 */
static json_t *page_heat_json(const struct page_column *c)
{
	const int per_bin = HISTOGRAM_PER_OCTAVE / PAGE_TIMES_PER_OCTAVE;
	double bins[PAGE_NR_TIMES] = { 0 };
	int first = PAGE_NR_TIMES, last = -1;
	json_t *list = json_array();

	for (int d = 0; d < 2; d++) {
		unsigned int at = 0;
		uint64_t count;
		int bucket;

		while (histogram_walk(&c->response[d], &at, &bucket, &count)) {
			int bin = bucket - 1 - PAGE_TIMES_FIRST_OCTAVE * HISTOGRAM_PER_OCTAVE;

			bin = bin < 0 ? 0 : bin / per_bin;
			bin = bin < PAGE_NR_TIMES ? bin : PAGE_NR_TIMES - 1;
			bins[bin] += (double)count;
			first = bin < first ? bin : first;
			last = bin > last ? bin : last;
		}
	}
	if (last >= 0)
		json_array_append_new(list, json_integer(first));
	for (int i = first; i <= last; i++)
		json_array_append_new(list, json_integer((json_int_t)fmin(bins[i], 0x1p62)));
	return list;
}

static json_t *page_quantile_json(const struct histogram *h, double q)
{
	return json_number(histogram_quantile_any_s(h, q));
}

enum page_series {
	SERIES_BEGIN,
	SERIES_END,
	SERIES_WATCHED,
	SERIES_READS,
	SERIES_WRITES,
	SERIES_OTHERS,
	SERIES_READ_BYTES,
	SERIES_WRITE_BYTES,
	SERIES_IN_FLIGHT,
	SERIES_SEQUENTIAL,
	SERIES_READ_P50,
	SERIES_READ_P99,
	SERIES_WRITE_P50,
	SERIES_WRITE_P99,
	SERIES_FLUSH_P99,
	SERIES_LOST,
	SERIES_HEAT,
	NR_SERIES,
};

static const char *const series_keys[NR_SERIES] = {
	"begin_s",
	"end_s",
	"watched_s",
	"reads_per_s",
	"writes_per_s",
	"others_per_s",
	"read_bytes_per_s",
	"write_bytes_per_s",
	"in_flight_mean",
	"sequential_ratio",
	"read_p50_s",
	"read_p99_s",
	"write_p50_s",
	"write_p99_s",
	"flush_p99_s",
	"lost",
	"heat",
};

static json_t *page_series_item(const struct page_column *c, enum page_series which)
{
	switch (which) {
	case SERIES_BEGIN:
		return page_number(c->begin_s);
	case SERIES_END:
		return page_number(c->end_s);
	case SERIES_WATCHED:
		return page_number(c->watched_s);
	case SERIES_READS:
		return page_ratio(c->requests[OPERATION_READ], c->watched_s);
	case SERIES_WRITES:
		return page_ratio(c->requests[OPERATION_WRITE], c->watched_s);
	case SERIES_OTHERS:
		return page_ratio(page_column_other(c), c->watched_s);
	case SERIES_READ_BYTES:
		return page_ratio(c->bytes[OPERATION_READ], c->watched_s);
	case SERIES_WRITE_BYTES:
		return page_ratio(c->bytes[OPERATION_WRITE], c->watched_s);
	case SERIES_IN_FLIGHT:
		return page_ratio(c->in_flight_s, c->in_flight_known_s);
	case SERIES_SEQUENTIAL:
		return page_ratio(c->sequential, c->sequential_of);
	case SERIES_READ_P50:
		return page_quantile_json(&c->response[0], P50);
	case SERIES_READ_P99:
		return page_quantile_json(&c->response[0], P99);
	case SERIES_WRITE_P50:
		return page_quantile_json(&c->response[1], P50);
	case SERIES_WRITE_P99:
		return page_quantile_json(&c->response[1], P99);
	case SERIES_FLUSH_P99:
		return page_quantile_json(&c->response[2], P99);
	case SERIES_LOST:
		return page_number(c->lost);
	default:
		return page_heat_json(c);
	}
}

json_t *page_columns_json(const struct page_column *columns, size_t nr)
{
	json_t *object = json_object();

	for (int which = 0; which < NR_SERIES; which++) {
		json_t *list = json_array();

		for (size_t i = 0; i < nr; i++)
			json_array_append_new(list, page_series_item(&columns[i],
								     (enum page_series)which));
		json_object_set_new(object, series_keys[which], list);
	}
	return object;
}

static json_t *page_classes_json(const double classes[NR_SIZE_CLASSES])
{
	json_t *list = json_array();

	for (int i = 0; i < NR_SIZE_CLASSES; i++)
		json_array_append_new(list, json_number(classes[i]));
	return list;
}

static json_t *page_sizes_json(const struct page_column *sum)
{
	json_t *object = json_object(), *ends = json_array();

	for (int i = 0; i < NR_SIZE_CLASSES - 1; i++)
		json_array_append_new(ends, json_integer(size_class_end_bytes[i]));
	json_object_set_new(object, "class_end_bytes", ends);
	json_object_set_new(object, "reads", page_classes_json(sum->size_class[0]));
	json_object_set_new(object, "writes", page_classes_json(sum->size_class[1]));
	return object;
}

/* Returns {"at_s": ..., key: ...}, or null if there is no such window. */
static json_t *page_worst_json(const char *key, double value, double at_s)
{
	json_t *object;

	if (!(value > 0))
		return json_null();
	object = json_object();
	json_object_set_new(object, "at_s", json_number(at_s));
	json_object_set_new(object, key, json_number(value));
	return object;
}

json_t *page_columns_sum_json(const struct page_column *columns, size_t nr)
{
	struct page_column sum = { 0 };
	json_t *object = json_object();
	int ret = 0;

	for (int i = 0; i < 3; i++)
		sum.response[i].is_whole = true; /* The sum of many columns uses the whole array. */
	for (size_t i = 0; i < nr && ret == 0; i++)
		ret = page_column_merge(&sum, &columns[i]);
	bins_add_flushes(&sum.found, &sum.response[2]);
	for (int which = SERIES_WATCHED; which < SERIES_HEAT; which++)
		json_object_set_new(object, series_keys[which],
				    page_series_item(&sum, (enum page_series)which));
	json_object_set_new(object, "reads", json_number(sum.requests[OPERATION_READ]));
	json_object_set_new(object, "writes", json_number(sum.requests[OPERATION_WRITE]));
	json_object_set_new(object, "flushes", json_number(sum.requests[OPERATION_FLUSH]));
	json_object_set_new(object, "errors", json_number(sum.errors));
	json_object_set_new(object, "flush_p50_s", page_quantile_json(&sum.response[2], P50));
	json_object_set_new(object, "sizes", page_sizes_json(&sum));
	json_object_set_new(object, "bins", page_bins_json(&sum.found));
	json_object_set_new(object, "busiest",
			    page_worst_json("requests_per_s", sum.busiest_per_s, sum.busiest_at_s));
	json_object_set_new(object, "slowest",
			    page_worst_json("p99_s", sum.slowest_p99_s, sum.slowest_at_s));
	page_column_release(&sum);
	if (ret < 0) {
		json_decref(object);
		return NULL;
	}
	return object;
}

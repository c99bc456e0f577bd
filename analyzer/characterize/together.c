// SPDX-License-Identifier: Apache-2.0
#include "analyzer/characterize/together.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/memory/array.h"
#include "base/text/units.h"

#define MAKERS_SHOWN 4
/*
 * A trace gets so many intervals per request, and at least FIRST_CELLS in all. A few requests that
 * lie months apart would otherwise take 64 MiB, because every second between them has an interval.
 */
#define CELLS_PER_REQUEST 8u
#define FIRST_CELLS	  65536u

#define NO_ID		  UINT32_MAX

/* A time in which at least one host with requests was watched. */
struct together_time {
	uint64_t begin_ns, end_ns;
};

struct together {
	struct align *align; /* owned */
	uint32_t *ids;	     /* owned; one per stream of the scan, NO_ID until its first request */
	uint32_t nr_ids;
	struct together_time *watched; /* owned; in order and apart from each other */
	size_t nr_watched, cap_watched;
};

int together_new(struct together **out)
{
	struct together *t = calloc(1, sizeof(*t));
	int ret = t ? align_new(&t->align, 0) : -ENOMEM;

	if (ret < 0) {
		free(t);
		return ret;
	}
	*out = t;
	return 0;
}

void together_free(struct together *t)
{
	if (!t)
		return;
	align_free(t->align);
	free(t->ids);
	free(t->watched);
	free(t);
}

/* Replaces the empty collector by one whose memory is in proportion to the number of requests. */
static int together_bound(struct together *t, uint64_t nr_requests)
{
	struct align *bounded;
	size_t cells = ALIGN_MAX_CELLS;
	int ret;

	if (nr_requests < ALIGN_MAX_CELLS / CELLS_PER_REQUEST)
		cells = (size_t)nr_requests * CELLS_PER_REQUEST;
	ret = align_new(&bounded, cells < FIRST_CELLS ? FIRST_CELLS : cells);
	if (ret < 0)
		return ret;
	align_free(t->align);
	t->align = bounded;
	return 0;
}

static int together_time_add(struct together *t, uint64_t begin_ns, uint64_t end_ns)
{
	if (array_grow(&t->watched, &t->cap_watched, t->nr_watched + 1, sizeof(*t->watched)))
		return -ENOMEM;
	t->watched[t->nr_watched++] = (struct together_time){ begin_ns, end_ns };
	return 0;
}

static int together_time_order(const void *a, const void *b)
{
	const struct together_time *x = a, *y = b;

	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Sorts the times, and makes one of those that touch. */
static void together_times_merge(struct together *t)
{
	size_t nr = 0;

	if (t->nr_watched)
		qsort(t->watched, t->nr_watched, sizeof(*t->watched), together_time_order);
	for (size_t i = 0; i < t->nr_watched; i++) {
		struct together_time *last = nr ? &t->watched[nr - 1] : NULL;

		if (!last || t->watched[i].begin_ns > last->end_ns)
			t->watched[nr++] = t->watched[i];
		else if (t->watched[i].end_ns > last->end_ns)
			last->end_ns = t->watched[i].end_ns;
	}
	t->nr_watched = nr;
}

static bool together_has_host(const struct together *t, const char *host)
{
	for (uint32_t i = 0; i < together_nr(t); i++)
		if (!strcmp(align_host(t->align, i), host))
			return true;
	return false;
}

int together_watch(struct together *t, const struct scan *scan)
{
	for (uint32_t i = 0; i < scan_nr_traces(scan); i++) {
		const struct scan_trace *trace = scan_trace(scan, i);

		if (!together_has_host(t, trace->host))
			continue;
		for (size_t k = 0; k < trace->nr_covered; k++)
			if (together_time_add(t, trace->covered[k].begin_real_ns,
					      trace->covered[k].end_real_ns))
				return -ENOMEM;
	}
	together_times_merge(t);
	return 0;
}

int together_write(const struct together *t, struct buf *out)
{
	buf_put_le64(out, t->nr_watched);
	for (size_t i = 0; i < t->nr_watched; i++) {
		buf_put_le64(out, t->watched[i].begin_ns);
		buf_put_le64(out, t->watched[i].end_ns);
	}
	return align_write(t->align, out);
}

int together_join(struct together *t, uint64_t whole, struct cursor *in)
{
	int ret = together_nr(t) ? 0 : together_bound(t, whole);
	uint64_t nr = 0, begin_ns = 0, end_ns = 0;

	if (ret)
		return ret;
	if (cursor_get_le64(in, &nr))
		return -EBADMSG;
	for (uint64_t i = 0; i < nr; i++) {
		if (cursor_get_le64(in, &begin_ns) || cursor_get_le64(in, &end_ns))
			return -EBADMSG;
		ret = together_time_add(t, begin_ns, end_ns);
		if (ret)
			return ret;
	}
	together_times_merge(t);
	return align_join(t->align, in);
}

bool together_has_room(const struct together *t)
{
	return align_has_room(t->align);
}

void together_sort(struct together *t)
{
	align_sort(t->align);
}

/* Makes room for the streams that the scan has met. */
static int together_grow(struct together *t, const struct scan *scan)
{
	uint32_t nr = scan_nr_streams(scan);
	uint32_t *ids = realloc(t->ids, nr * sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	t->ids = ids;
	while (t->nr_ids < nr)
		ids[t->nr_ids++] = NO_ID;
	return 0;
}

/*
 * Gives the stream of a request its id. Devices without a request have none, so that the devices
 * are the same ones whatever else is read.
 */
static int together_name(struct together *t, const struct scan *scan, uint32_t stream)
{
	int ret = stream < t->nr_ids ? 0 : together_grow(t, scan);
	const struct scan_stream *st = scan_stream(scan, stream);
	const char *name = st->device_name;
	char number[32];

	if (ret || t->ids[stream] != NO_ID)
		return ret;
	if (!*name) {
		snprintf(number, sizeof(number), "%u:%u", device_major(st->device),
			 device_minor(st->device));
		name = number;
	}
	return align_stream(t->align, st->host, name, &t->ids[stream]);
}

int together_add(struct together *t, struct scan *scan, const struct scan_request *r, size_t nr)
{
	int ret = t->nr_ids ? 0 : together_bound(t, scan_whole_requests(scan));

	for (size_t i = 0; i < nr && ret == 0; i++) {
		if (r[i].stream >= t->nr_ids || t->ids[r[i].stream] == NO_ID)
			ret = together_name(t, scan, r[i].stream);
		if (ret == 0)
			ret = align_add(t->align, t->ids[r[i].stream], r[i].arrival_real_ns, 1,
					request_is_data(&r[i].r) ? r[i].r.bytes : 0);
	}
	return ret;
}

uint32_t together_nr(const struct together *t)
{
	return align_nr_streams(t->align);
}

/*
 * Returns in how many of the sum's intervals no host with requests was watched; 0 where no trace
 * tells. An import is watched to the instant of its last request, so that the interval of this
 * instant counts.
 */
static size_t together_unwatched(const struct together *t, const struct align_sum *sum)
{
	uint64_t at_ns = sum->nr_intervals ? (uint64_t)sum->begin_s * 1000000000ull : 0;
	uint64_t step_ns = (uint64_t)(sum->interval_s * 1e9);
	size_t nr = 0, k = 0;

	for (size_t i = 0; t->nr_watched && i < sum->nr_intervals; i++, at_ns += step_ns) {
		while (k < t->nr_watched && t->watched[k].end_ns < at_ns)
			k++;
		nr += k == t->nr_watched || t->watched[k].begin_ns >= at_ns + step_ns;
	}
	return nr;
}

/*
 * Returns the seconds in which at least one host with requests was watched; 0 where no trace tells.
 */
static double together_watched_s(const struct together *t)
{
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < t->nr_watched; i++)
		sum_ns += t->watched[i].end_ns - t->watched[i].begin_ns;
	return (double)sum_ns / 1e9;
}

/* Where less than an interval was watched the mean stays that over intervals. */
static void together_mean(struct align_sum *sum, double watched_s)
{
	if (watched_s >= sum->interval_s)
		sum->mean_per_s = sum->total / watched_s;
}

int together_sums(const struct together *t, struct align_sum *requests, struct align_sum *bytes)
{
	int ret = align_sum(t->align, ALIGN_REQUESTS, requests);
	size_t nr_unwatched = ret ? 0 : together_unwatched(t, requests);

	if (nr_unwatched)
		ret = align_sum_watched(t->align, ALIGN_REQUESTS, nr_unwatched, requests);
	if (!ret)
		ret = align_sum_watched(t->align, ALIGN_BYTES, nr_unwatched, bytes);
	if (ret)
		return ret;
	if (requests->nr_intervals) {
		together_mean(requests, together_watched_s(t));
		together_mean(bytes, together_watched_s(t));
	}
	return 0;
}

const char *together_host(const struct together *t, uint32_t stream)
{
	return align_host(t->align, stream);
}

const char *together_device(const struct together *t, uint32_t stream)
{
	return align_device(t->align, stream);
}

static void print_row(const char *name, const struct align_sum *s,
		      const char *(*humane)(double, char *), FILE *out)
{
	const double values[] = { s->mean_per_s, s->p95_per_s, s->p99_per_s, s->max_per_s,
				  s->own_peaks_per_s };
	char text[UNITS_BYTES];

	fprintf(out, "  %-12s", name);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		fprintf(out, " %11s", humane(values[i], text));
	fputc('\n', out);
}

static void print_makers(const struct together *t, const char *name, const struct align_sum *s,
			 bool utc, FILE *out)
{
	char when[UNITS_BYTES];

	if (!s->nr_makers)
		return;
	units_instant((uint64_t)(s->max_begin_s * 1e9), utc, 0, when);
	fprintf(out, "  most %s at %s:", name, when);
	for (size_t i = 0; i < s->nr_makers && i < MAKERS_SHOWN; i++)
		fprintf(out, "%s %s %s %.1f %%", i ? "," : "",
			align_host(t->align, s->makers[i].stream),
			align_device(t->align, s->makers[i].stream), 100 * s->makers[i].share);
	fprintf(out, "%s\n", s->nr_makers > MAKERS_SHOWN ? ", ..." : "");
}

int together_print(const struct together *t, bool utc, FILE *out)
{
	struct align_sum requests, bytes;
	char interval[UNITS_BYTES];
	int ret = together_sums(t, &requests, &bytes);

	if (ret < 0)
		return ret;
	units_time(requests.interval_s, interval);
	fprintf(out, "All %u device%s together, %zu interval%s of %s\n\n", together_nr(t),
		together_nr(t) == 1 ? "" : "s", requests.nr_intervals,
		requests.nr_intervals == 1 ? "" : "s", interval);
	fprintf(out, "  %-12s %11s %11s %11s %11s %11s\n", "per second", "mean", "p95", "p99",
		"max", "sum of max");
	print_row("requests", &requests, units_count, out);
	print_row("bytes", &bytes, units_bytes, out);
	print_makers(t, "requests", &requests, utc, out);
	print_makers(t, "bytes", &bytes, utc, out);
	return 0;
}

/* NaN, where nothing was seen, becomes null. */
static json_t *together_number(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static json_t *sum_json(const struct align_sum *s)
{
	json_t *makers = json_array();

	for (size_t i = 0; i < s->nr_makers; i++)
		json_array_append_new(
			makers, json_pack("{s:i, s:o, s:o}", "stream", (int)s->makers[i].stream,
					  "per_s", together_number(s->makers[i].per_s), "share",
					  together_number(s->makers[i].share)));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "mean",
			 together_number(s->mean_per_s), "p95", together_number(s->p95_per_s),
			 "p99", together_number(s->p99_per_s), "max", together_number(s->max_per_s),
			 "max_begin_s", together_number(s->max_begin_s), "own_peaks_sum",
			 together_number(s->own_peaks_per_s), "makers", makers);
}

int together_json(const struct together *t, struct buf *out)
{
	struct align_sum requests, bytes;
	json_t *streams, *all;
	char *text;
	int ret = together_sums(t, &requests, &bytes);

	if (ret < 0)
		return ret;
	streams = json_array();
	for (uint32_t i = 0; i < together_nr(t); i++)
		json_array_append_new(streams,
				      json_pack("{s:s, s:s}", "host", align_host(t->align, i),
						"device_name", align_device(t->align, i)));
	all = json_pack("{s:s, s:f, s:I, s:o, s:o, s:o}", "schema", TOGETHER_SCHEMA, "interval_s",
			requests.interval_s, "intervals", (json_int_t)requests.nr_intervals,
			"streams", streams, "requests_per_s", sum_json(&requests), "bytes_per_s",
			sum_json(&bytes));
	text = all ? json_dumps(all, JSON_INDENT(2)) : NULL;
	ret = text ? buf_put(out, text, strlen(text)) : -ENOMEM;
	free(text);
	json_decref(all);
	return ret;
}

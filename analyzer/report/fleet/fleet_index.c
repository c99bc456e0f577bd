/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/report/fleet/fleet_index.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "formats/request.h"

/* This struct is the device of a profile or of a stream. It orders the streams. */
struct fleet_device {
	const char *host, *name;
	uint32_t device;
};

static int fleet_device_order(const struct fleet_device *a, const struct fleet_device *b)
{
	int order = strcmp(a->host, b->host);

	if (!order)
		order = strcmp(a->name, b->name);
	return order ? order : (a->device > b->device) - (a->device < b->device);
}

static struct fleet_device fleet_stream_device(const struct scan_stream *s)
{
	return (struct fleet_device){ s->host, s->device_name, s->device };
}

/* Streams of one device differ by their trace; the first trace comes first. */
static int fleet_stream_order(const void *a, const void *b)
{
	const struct scan_stream *x = *(const struct scan_stream *const *)a;
	const struct scan_stream *y = *(const struct scan_stream *const *)b;
	struct fleet_device dx = fleet_stream_device(x), dy = fleet_stream_device(y);
	int order = fleet_device_order(&dx, &dy);

	return order ? order : (x->trace > y->trace) - (x->trace < y->trace);
}

static int fleet_time_by_host(const void *a, const void *b)
{
	const struct fleet_time *x = a, *y = b;
	int order = strcmp(x->host, y->host);

	return order ? order : (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static int fleet_time_order(const void *a, const void *b)
{
	const struct fleet_time *x = a, *y = b;

	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static int fleet_times_add(struct fleet_times *t, const char *host, uint64_t begin_ns,
			   uint64_t end_ns)
{
	if (array_grow(&t->items, &t->cap, t->nr + 1, sizeof(*t->items)) < 0)
		return -ENOMEM;
	t->items[t->nr++] = (struct fleet_time){ host, begin_ns, end_ns };
	return 0;
}

int fleet_index_init(struct fleet_index *x, const struct scan *scan)
{
	*x = (struct fleet_index){ .streams =
					   calloc(scan_nr_streams(scan) + 1, sizeof(*x->streams)) };
	if (!x->streams)
		return -ENOMEM;
	for (uint32_t i = 0; i < scan_nr_streams(scan); i++)
		if (scan_stream(scan, i)->device_bytes)
			x->streams[x->nr_streams++] = scan_stream(scan, i);
	qsort(x->streams, x->nr_streams, sizeof(*x->streams), fleet_stream_order);
	for (uint32_t i = 0; i < scan_nr_traces(scan); i++) {
		const struct scan_trace *t = scan_trace(scan, i);

		for (size_t k = 0; k < t->nr_covered; k++)
			if (fleet_times_add(&x->watched, t->host, t->covered[k].begin_real_ns,
					    t->covered[k].end_real_ns))
				return -ENOMEM;
	}
	if (x->watched.nr)
		qsort(x->watched.items, x->watched.nr, sizeof(*x->watched.items),
		      fleet_time_by_host);
	return 0;
}

void fleet_index_release(struct fleet_index *x)
{
	free(x->streams);
	free(x->watched.items);
	*x = (struct fleet_index){ .streams = NULL };
}

double fleet_index_size_bytes(const struct fleet_index *x, const struct profile *p)
{
	struct fleet_device wanted = { p->host, p->device_name, 0 }, found;
	size_t low = 0, high = x->nr_streams;

	if (device_parse(p->device, &wanted.device))
		return NAN;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		found = fleet_stream_device(x->streams[middle]);
		if (fleet_device_order(&found, &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == x->nr_streams)
		return NAN;
	found = fleet_stream_device(x->streams[low]);
	return fleet_device_order(&found, &wanted) ? NAN : (double)x->streams[low]->device_bytes;
}

int fleet_index_watched(const struct fleet_index *x, const char *host, uint64_t begin_ns,
			uint64_t end_ns, struct fleet_times *out)
{
	size_t low = 0, high = x->watched.nr, before = out->nr;
	int ret = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(x->watched.items[middle].host, host) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < x->watched.nr && !ret; low++) {
		const struct fleet_time *t = &x->watched.items[low];
		uint64_t from = t->begin_ns > begin_ns ? t->begin_ns : begin_ns;
		uint64_t to = t->end_ns < end_ns ? t->end_ns : end_ns;

		if (strcmp(t->host, host) != 0 || t->begin_ns >= end_ns)
			break;
		if (from < to)
			ret = fleet_times_add(out, host, from, to);
	}
	if (!ret && out->nr == before)
		ret = fleet_times_add(out, host, begin_ns, end_ns);
	return ret;
}

void fleet_times_join(struct fleet_times *t)
{
	size_t nr = 0;

	if (t->nr)
		qsort(t->items, t->nr, sizeof(*t->items), fleet_time_order);
	for (size_t i = 0; i < t->nr; i++) {
		struct fleet_time *last = nr ? &t->items[nr - 1] : NULL;

		if (!last || t->items[i].begin_ns > last->end_ns)
			t->items[nr++] = t->items[i];
		else if (t->items[i].end_ns > last->end_ns)
			last->end_ns = t->items[i].end_ns;
	}
	t->nr = nr;
}

double fleet_times_within_s(const struct fleet_times *t, size_t *at, uint64_t begin_ns,
			    uint64_t end_ns)
{
	uint64_t sum_ns = 0;

	while (*at < t->nr && t->items[*at].end_ns <= begin_ns)
		(*at)++;
	for (size_t i = *at; i < t->nr && t->items[i].begin_ns < end_ns; i++) {
		uint64_t from = t->items[i].begin_ns > begin_ns ? t->items[i].begin_ns : begin_ns;
		uint64_t to = t->items[i].end_ns < end_ns ? t->items[i].end_ns : end_ns;

		sum_ns += to - from;
	}
	return (double)sum_ns * 1e-9;
}

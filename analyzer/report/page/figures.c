/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/curve/bins.h"
#include "analyzer/report/curve/miss_ratio.h"
#include "analyzer/report/curve/regions.h"
#include "analyzer/report/curve/size_latency.h"
#include "analyzer/report/curve/sizes.h"
#include "analyzer/report/curve/tail.h"
#include "analyzer/report/page/figures.h"

/* Pictures of the whole do not use the device, and tables from a profile do not use the period. */
#define UNUSED	 __attribute__((unused))
#define WHO_ROWS 10
#define DRAW(name)                                                                                \
	static int name##_svg(const struct report *r, UNUSED size_t device, const struct view *v, \
			      struct buf *out)
#define CSV(name)                                                             \
	static int name##_table(const struct report *r, UNUSED size_t device, \
				UNUSED const struct view *v, struct buf *out)

DRAW(heat)
{
	return heatmap_draw(&r->collect->heatmap, v, out);
}
CSV(heat)
{
	return heatmap_csv(&r->collect->heatmap, v, out);
}

DRAW(requests)
{
	return intensity_draw(&r->collect->intensity, INTENSITY_REQUESTS, &r->peaks, v, out);
}
CSV(requests)
{
	return intensity_csv(&r->collect->intensity, INTENSITY_REQUESTS, v, out);
}

DRAW(throughput)
{
	return intensity_draw(&r->collect->intensity, INTENSITY_BYTES, &r->peaks, v, out);
}
CSV(throughput)
{
	return intensity_csv(&r->collect->intensity, INTENSITY_BYTES, v, out);
}

static struct devices all_devices(const struct report *r)
{
	return (struct devices){ .each = r->loads,
				 .nr = r->collect->nr_devices,
				 .sum = &r->collect->sum,
				 .window_ns = r->window_ns };
}
DRAW(devices)
{
	struct devices d = all_devices(r);

	return devices_draw(&d, v, out);
}
CSV(devices)
{
	struct devices d = all_devices(r);

	return devices_csv(&d, out);
}

DRAW(sizes)
{
	return sizes_draw(&r->all, SIZES_REQUESTS, v, out);
}
DRAW(size_bytes)
{
	return sizes_draw(&r->all, SIZES_BYTES, v, out);
}
CSV(sizes)
{
	return sizes_csv(&r->all, out);
}

DRAW(tail)
{
	return tail_draw(&r->all, v, out);
}
CSV(tail)
{
	return tail_csv(&r->all, out);
}

DRAW(size_latency)
{
	return size_latency_draw(&r->all, v, out);
}
CSV(size_latency)
{
	return size_latency_csv(&r->all, out);
}

DRAW(sequence)
{
	return sequence_draw(&r->collect->sequence, v, out);
}
CSV(sequence)
{
	return sequence_csv(&r->collect->sequence, v, out);
}

DRAW(inflight)
{
	return inflight_draw(&r->collect->inflight, v, out);
}
CSV(inflight)
{
	return inflight_csv(&r->collect->inflight, v, out);
}

/* Without a period the distribution is written as CSV. */
static int figure_bins(const struct report *r, enum bins_kind kind, const struct view *v,
		       struct buf *out)
{
	struct bins bins = { 0 };

	bins_add_profile(&bins, &r->all);
	return v ? bins_draw(&bins, kind, v, out) : bins_csv(&bins, kind, out);
}

#define DRAW_BINS(name, kind)                           \
	DRAW(name)                                      \
	{                                               \
		return figure_bins(r, kind, v, out);    \
	}                                               \
	CSV(name)                                       \
	{                                               \
		return figure_bins(r, kind, NULL, out); \
	}
DRAW_BINS(seek, BINS_SEEK)
DRAW_BINS(outstanding, BINS_OUTSTANDING)
DRAW_BINS(interarrival, BINS_INTERARRIVAL)
DRAW_BINS(flush, BINS_FLUSH)

DRAW(access)
{
	return access_map_draw(&r->collect->devices[device]->map, v, out);
}
CSV(access)
{
	return access_map_csv(&r->collect->devices[device]->map, v, out);
}

DRAW(misses)
{
	return miss_ratio_draw(&r->each[device], v, out);
}
CSV(misses)
{
	return miss_ratio_csv(&r->each[device], out);
}

CSV(who)
{
	if (!r->issuers || !issuers_are_known(r->issuers))
		return -ENODATA;
	issuers_csv(r->issuers, WHO_ROWS, out);
	return out->error;
}

/*
 * Counts the accesses of the regions to which the law was fitted, from the first to the last
 * touched one. Where no law was fitted they are the regions of h. The caller frees law->mass.
 * Returns 0 or -ENOMEM.
 */
static int regions_count(const struct hotspot *h, uint64_t counts[HOTSPOT_REGIONS], size_t *nr,
			 struct hotspot_law *law)
{
	uint64_t first = h->min_sector >> h->shift, last = h->max_sector >> h->shift;
	int ret = hotspot_law(h, law);
	unsigned int joined = ret == 0 ? law->shift - h->shift : 0;

	*nr = 0;
	memset(counts, 0, HOTSPOT_REGIONS * sizeof(*counts));
	for (uint64_t region = first;
	     h->counts && h->nr && region <= last && region - h->first < HOTSPOT_REGIONS;
	     region++) {
		size_t at = (size_t)(region - h->first);

		*nr = (size_t)((region >> joined) - (first >> joined)) + 1;
		counts[*nr - 1] += h->counts[at][0] + h->counts[at][1];
	}
	return ret == -ENODATA ? 0 : ret;
}
DRAW(regions)
{
	uint64_t counts[HOTSPOT_REGIONS];
	struct hotspot_law law = { 0 };
	size_t nr;
	int ret = regions_count(&r->collect->devices[device]->hotspot, counts, &nr, &law);

	if (ret == 0)
		ret = regions_draw(counts, nr, &r->each[device].locality.distribution, &law, v,
				   out);
	free(law.mass);
	return ret;
}
CSV(regions)
{
	uint64_t counts[HOTSPOT_REGIONS];
	struct hotspot_law law = { 0 };
	size_t nr;
	int ret = regions_count(&r->collect->devices[device]->hotspot, counts, &nr, &law);

	if (ret == 0)
		ret = regions_csv(counts, nr, &law, out);
	free(law.mass);
	return ret;
}

#define BOTH(name) .draw = name##_svg, .csv = name##_table
#define NO_DATA	   "It was neither read nor written."
#define NO_TIMES   "The trace has no response times, and so no picture of them."

const struct figure figures[] = {
	{ "heatmap", "Response time over time",
	  "Each column is a slice of time, each row a band of response times; the stronger the "
	  "colour of a cell, the more requests fell into it. The thin line is the median.",
	  NO_TIMES, .crops = true, BOTH(heat) },
	{ "requests", "Requests per second",
	  "Arrivals of reads and writes by size class. The dashed line is the 95th percentile of "
	  "all windows, the ring marks the highest one.",
	  "", BOTH(requests) },
	{ "throughput", "Throughput", "Bytes that the arriving requests ask for, by size class.",
	  "", BOTH(throughput) },
	{ "devices", "All devices on one clock",
	  "What all devices ask for together, second by second. Adding up peaks that happen at "
	  "different times would overstate it.",
	  NULL, .table = true, BOTH(devices) },
	{ "in-flight", "Requests in flight",
	  "The exact time average of requests under way, from arrival to completion, and how many "
	  "of them were inside the device.",
	  NULL, BOTH(inflight) },
	{ "tail", "Distribution of response times",
	  "How many requests are done within a time, with the slow end stretched. Queue is the "
	  "wait before the device, device the time inside it, total both. Reads carry dots, writes "
	  "squares.",
	  NULL, .table = true, BOTH(tail) },
	{ "size-latency", "Response time by request size",
	  "Whether large requests are slow, or small ones.", NULL, .table = true,
	  BOTH(size_latency) },
	{ "sizes", "Request sizes",
	  "What share of the requests each size has, by power of two; reads up, writes down.", "",
	  .half = true, BOTH(sizes) },
	{ "sizes-bytes", "Bytes by request size",
	  "What share of the bytes the same sizes move: few large requests can be most of it.", "",
	  .half = true, .draw = size_bytes_svg, .csv = sizes_table },
	{ "sequential", "Sequential requests",
	  "Share of requests that go on where another one ended, with streams told apart. A load is "
	  "sequential from the dashed line at 50 % up.",
	  "", BOTH(sequence) },
	{ "seek", "Distance between requests",
	  "How many bytes after the end of the previous request each one begins; bars on the left "
	  "are those that begin before it. A request at 0 goes on where the previous one ended; a "
	  "random load is far out on both sides.",
	  NULL, .half = true, .table = true, BOTH(seek) },
	{ "outstanding", "Requests under way at arrival",
	  "How many other requests of the device a request finds when it arrives.", NULL,
	  .half = true, .table = true, BOTH(outstanding) },
	{ "interarrival", "Time between arrivals",
	  "How long after the previous request of the same device each one arrives.", NULL,
	  .half = true, .table = true, BOTH(interarrival) },
	{ "flush", "Response times of flushes",
	  "How long the device takes to make durable what was written before.", NULL, .half = true,
	  .table = true, BOTH(flush) },
	{ "who", "Who made the requests",
	  "Processes of the same name and control groups, with their shares of all requests, bytes "
	  "and response times.",
	  NULL, .table = true, .needs_requests = true, .csv = who_table },
	{ "access", "Access map", "Where on the device requests began, over time.", NO_DATA,
	  .per_device = true, .needs_requests = true, BOTH(access) },
	{ "miss-ratio", "Miss ratio by cache size",
	  "What a cache would still let through to the device.",
	  "The trace has too few references for a miss-ratio curve.", .per_device = true,
	  .half = true, .needs_requests = true, BOTH(misses) },
	{ "regions", "Access distribution",
	  "How much of the load the busiest part of the address range takes. On the diagonal all "
	  "parts are equal.",
	  NO_DATA, .per_device = true, .half = true, .needs_requests = true, BOTH(regions) },
};
const size_t nr_figures = sizeof(figures) / sizeof(figures[0]);

const char *figure_absent(const struct report *r, const struct figure *f)
{
	if (f->needs_requests && r->collect->retired.nr_requests)
		return "It cannot be drawn: retention removed the requests, and the profiles that "
		       "are left do not have this.";
	return f->absent;
}

const struct figure *figure_find(const char *name)
{
	for (size_t i = 0; i < nr_figures; i++)
		if (!strcmp(figures[i].name, name))
			return &figures[i];
	return NULL;
}

void figure_names(struct buf *out)
{
	for (size_t i = 0; i < nr_figures; i++)
		buf_printf(out, "%s%s", i ? ", " : "", figures[i].name);
}

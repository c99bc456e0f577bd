// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/picture/bins.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory/array.h"

#define KIB 1024ull
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define US  1000ull
#define MS  1000000ull

/* Inclusive upper ends of the bins; the last bin is open. */
static const uint64_t bins_counts_to[MIRROR_BINS - 1] = { 0,  1,  2,   4,   8,	 16,
							  32, 64, 128, 256, 512, 1024 };
static const uint64_t bins_times_to_ns[MIRROR_BINS - 1] = {
	10 * US, 50 * US, 100 * US, 500 * US, MS,	5 * MS,
	15 * MS, 30 * MS, 50 * MS,  100 * MS, 500 * MS, 1000 * MS,
};
/* A distance has these bins on both sides of 0. */
#define SEEK_SIDE (MIRROR_BINS / 2)
static const uint64_t bins_seek_to_bytes[SEEK_SIDE - 1] = {
	64 * KIB, MIB, 32 * MIB, GIB, 32 * GIB,
};

static const char *const bins_labels[NR_BINS][MIRROR_BINS] = {
	[BINS_SEEK] = { "<-32G", "-32G", "-1G", "-32M", "-1M", "-64K", "0", "64K", "1M", "32M",
			"1G", "32G", ">32G" },
	[BINS_OUTSTANDING] = { "0", "1", "2", "4", "8", "16", "32", "64", "128", "256", "512",
			       "1024", ">1024" },
	[BINS_INTERARRIVAL] = { "10µs", "50µs", "100µs", "500µs", "1ms", "5ms", "15ms", "30ms",
				"50ms", "100ms", "500ms", "1s", ">1s" },
	[BINS_FLUSH] = { "10µs", "50µs", "100µs", "500µs", "1ms", "5ms", "15ms", "30ms", "50ms",
			 "100ms", "500ms", "1s", ">1s" },
};

static const char *const bins_names[NR_BINS] = { "seek", "outstanding", "interarrival", "flush" };

const char *bins_name(enum bins_kind kind)
{
	return bins_names[kind];
}

const char *bins_label(enum bins_kind kind, unsigned int bin)
{
	return bins_labels[kind][bin];
}

static unsigned int bins_at(const uint64_t *ends, unsigned int nr, uint64_t value)
{
	unsigned int bin = 0;

	while (bin < nr && value > ends[bin])
		bin++;
	return bin;
}

void bins_add_flushes(struct bins *s, const struct histogram *times)
{
	for (int b = histogram_next(times, HISTOGRAM_BUCKET_MIN); b <= HISTOGRAM_BUCKET_MAX;
	     b = histogram_next(times, b + 1)) {
		uint64_t ns = (uint64_t)(histogram_bucket_end_s(b) * 1e9);
		unsigned int bin = bins_at(bins_times_to_ns, MIRROR_BINS - 1, ns);

		s->counts[BINS_FLUSH][0][bin] += (double)histogram_count(times, b);
	}
}

/* Puts a value at a place of the heap or below it, where it belongs. */
static void bins_sift(struct bins_device *d, size_t at, uint64_t value)
{
	for (size_t child = 2 * at + 1; child < d->nr_under_way; child = 2 * at + 1) {
		if (child + 1 < d->nr_under_way && d->under_way[child + 1] < d->under_way[child])
			child++;
		if (d->under_way[child] >= value)
			break;
		d->under_way[at] = d->under_way[child];
		at = child;
	}
	d->under_way[at] = value;
}

static void bins_pop(struct bins_device *d)
{
	uint64_t last = d->under_way[--d->nr_under_way];

	if (d->nr_under_way)
		bins_sift(d, 0, last);
}

static int bins_push(struct bins_device *d, uint64_t completion_ns)
{
	size_t at;

	if (d->nr_under_way == BINS_UNDER_WAY)
		bins_pop(d);
	if (array_grow(&d->under_way, &d->cap_under_way, d->nr_under_way + 1,
		       sizeof(*d->under_way)) < 0)
		return -ENOMEM;
	at = d->nr_under_way++;
	for (; at && d->under_way[(at - 1) / 2] > completion_ns; at = (at - 1) / 2)
		d->under_way[at] = d->under_way[(at - 1) / 2];
	d->under_way[at] = completion_ns;
	return 0;
}

static void bins_add_seek(struct bins *s, const struct bins_device *d, const struct request *r,
			  int side)
{
	bool ahead = r->sector >= d->end_sector;
	uint64_t sectors = ahead ? r->sector - d->end_sector : d->end_sector - r->sector;
	uint64_t bytes = sectors > UINT64_MAX / SECTOR_BYTES ? UINT64_MAX : sectors * SECTOR_BYTES;
	unsigned int away = bytes ? 1 + bins_at(bins_seek_to_bytes, SEEK_SIDE - 1, bytes) : 0;

	s->counts[BINS_SEEK][side][ahead ? SEEK_SIDE + away : SEEK_SIDE - away]++;
}

static int bins_add_data(struct bins *s, struct bins_device *d, const struct request *r)
{
	int side = r->operation == OPERATION_WRITE;
	uint64_t since_ns = r->arrival_ns > d->arrival_ns ? r->arrival_ns - d->arrival_ns : 0;

	if (d->has_before) {
		bins_add_seek(s, d, r, side);
		if (!(r->flags & REQUEST_NO_ARRIVAL))
			s->counts[BINS_INTERARRIVAL][side]
				 [bins_at(bins_times_to_ns, MIRROR_BINS - 1, since_ns)]++;
	}
	d->has_before = true;
	d->end_sector = r->sector + r->bytes / SECTOR_BYTES;
	d->arrival_ns = r->arrival_ns;
	if (r->flags & (REQUEST_NO_ARRIVAL | REQUEST_NO_COMPLETION | REQUEST_PAUSED))
		return 0;
	while (d->nr_under_way && d->under_way[0] <= r->arrival_ns)
		bins_pop(d);
	s->counts[BINS_OUTSTANDING][side]
		 [bins_at(bins_counts_to, MIRROR_BINS - 1, d->nr_under_way)]++;
	return bins_push(d, r->completion_ns);
}

int bins_add(struct bins *s, struct bins_device *d, const struct request *r)
{
	if (request_is_data(r))
		return bins_add_data(s, d, r);
	if (r->operation == OPERATION_FLUSH &&
	    !(r->flags & (REQUEST_NO_ARRIVAL | REQUEST_NO_COMPLETION | REQUEST_PAUSED)))
		s->counts[BINS_FLUSH][0][bins_at(bins_times_to_ns, MIRROR_BINS - 1,
						 r->completion_ns - r->arrival_ns)]++;
	return 0;
}

void bins_device_release(struct bins_device *d)
{
	free(d->under_way);
	*d = (struct bins_device){ 0 };
}

int bins_draw(const struct bins *s, enum bins_kind kind, const struct view *v, struct buf *out)
{
	static const char *const titles[] = { "Distance between requests",
					      "Requests under way at arrival",
					      "Time between arrivals",
					      "Response times of flushes" };
	static const char *const x_names[] = { "bytes from the end of the previous request, up to",
					       "other requests of the device, up to",
					       "since the previous arrival, up to",
					       "response time, up to" };
	double counts[2][MIRROR_BINS];
	char text[200];
	struct mirror m = { .labels = bins_labels[kind],
			    .counts = counts,
			    .range = counts,
			    .of = kind == BINS_FLUSH ? "flushes" : "requests",
			    .up = kind == BINS_FLUSH ? "flushes" : "reads",
			    .down = kind == BINS_FLUSH ? "" : "writes",
			    .title = titles[kind],
			    .text = text,
			    .x_name = x_names[kind] };

	for (int side = 0; side < 2; side++)
		for (unsigned int b = 0; b < MIRROR_BINS; b++)
			counts[side][b] = s->counts[kind][side][b];
	snprintf(text, sizeof(text), "Bars of shares; the largest bar is %.1f %% of all %s.",
		 mirror_most(&m) * 100, m.of);
	return mirror_draw(&m, v, out);
}

int bins_csv(const struct bins *s, enum bins_kind kind, struct buf *out)
{
	bool is_flush = kind == BINS_FLUSH;

	buf_printf(out, is_flush ? "up_to,flushes\n" : "up_to,read_requests,write_requests\n");
	for (unsigned int b = 0; b < MIRROR_BINS; b++) {
		const double reads = s->counts[kind][0][b], writes = s->counts[kind][1][b];

		if (reads + writes <= 0)
			continue;
		buf_printf(out, "%s,%.0f", bins_labels[kind][b], reads);
		if (is_flush)
			buf_printf(out, "\n");
		else
			buf_printf(out, ",%.0f\n", writes);
	}
	return out->error;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/report/collect/retired.h"

#include <errno.h>
#include <math.h>
#include <xxhash.h>

#include "formats/profile/profile_merge.h"

/* This struct is one profile on its way into the grids. */
struct retired {
	const struct profile *p;
	uint64_t begin_ns, end_ns;
};

/* The latest instant leaves room for the columns of a grid behind it. */
#define RETIRED_LATEST_S (0x1p62 / 1e9)

uint64_t retired_ns(double seconds)
{
	return seconds > 0 ? (uint64_t)(fmin(seconds, RETIRED_LATEST_S) * 1e9) : 0;
}

/* Adds requests of one size to the sums by size class, and to the sums of all. */
static void retired_add_size(uint64_t *classes, uint64_t *all, bool write, double bytes,
			     uint64_t requests)
{
	uint32_t size = bytes < (double)UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
	unsigned int class = size_class_of(size);
	double product = (double)requests * bytes + 0.5;
	/* Profiles come from guests, and may state sizes and counts that no device reaches. */
	uint64_t sum = product < 0x1p63 ? (uint64_t)product : UINT64_MAX / 2;

	classes[intensity_row(INTENSITY_REQUESTS, class, write)] += requests;
	classes[intensity_row(INTENSITY_BYTES, class, write)] += sum;
	all[LOAD_REQUESTS] += requests;
	all[LOAD_BYTES] += sum;
}

/*
 * Requests whose size the profile does not list have the mean of the bytes that the listed ones
 * leave over, so that the bytes stay exact.
 */
static void retired_add_sizes(const struct profile *p, bool write, uint64_t *classes, uint64_t *all)
{
	const struct direction_profile *d = write ? &p->write : &p->read;
	enum operation op = write ? OPERATION_WRITE : OPERATION_READ;
	double bytes = (double)p->bytes[op];
	uint64_t rest = p->requests[op];

	for (size_t i = 0; i < d->nr_sizes; i++) {
		uint64_t count = d->sizes[i].count < rest ? d->sizes[i].count : rest;

		retired_add_size(classes, all, write, (double)d->sizes[i].bytes, count);
		bytes -= (double)d->sizes[i].bytes * (double)count;
		rest -= count;
	}
	if (rest)
		retired_add_size(classes, all, write, fmax(bytes, 0) / (double)rest, rest);
}

static int retired_add_load(struct collect *c, struct collect_device *d, const struct retired *r)
{
	uint64_t classes[INTENSITY_ROWS] = { 0 }, all[NR_LOAD_ROWS] = { 0 };

	retired_add_sizes(r->p, false, classes, all);
	retired_add_sizes(r->p, true, classes, all);
	if (timegrid_spread(&c->intensity.grid, r->begin_ns, r->end_ns, classes) ||
	    timegrid_spread(&c->sum.grid, r->begin_ns, r->end_ns, all) ||
	    timegrid_spread(&d->load.grid, r->begin_ns, r->end_ns, all))
		return -ENOMEM;
	return 0;
}

/* The middle of a bucket stands for its durations; a row of the heat map is eight buckets high. */
static int retired_add_times(struct collect *c, const struct retired *r)
{
	const struct histogram *h[] = { &r->p->read.response.stage[STAGE_TOTAL],
					&r->p->write.response.stage[STAGE_TOTAL] };
	uint64_t rows[HEATMAP_ROWS] = { 0 };

	for (int i = 0; i < 2; i++)
		for (int b = histogram_next(h[i], HISTOGRAM_BUCKET_MIN); b <= HISTOGRAM_BUCKET_MAX;
		     b = histogram_next(h[i], b + 1)) {
			double s = histogram_bucket_end_s(b) * exp2(-0.5 / HISTOGRAM_PER_OCTAVE);

			rows[heatmap_row((uint64_t)(s * 1e9))] += histogram_count(h[i], b);
		}
	if (!h[0]->nr && !h[1]->nr)
		return 0;
	return timegrid_spread(&c->heatmap.grid, r->begin_ns, r->end_ns, rows);
}

/* Returns the sum of a stage over all reads and writes in seconds. */
static double retired_stage_s(const struct profile *p, int stage)
{
	const struct histogram *read = &p->read.response.stage[stage];
	const struct histogram *write = &p->write.response.stage[stage];
	double sum = 0;

	if (read->nr)
		sum += histogram_mean_s(read) * (double)read->nr;
	if (write->nr)
		sum += histogram_mean_s(write) * (double)write->nr;
	return sum;
}

/* Requests in flight are the sum of their response times over the period (Little's law). */
static int retired_add_in_flight(struct collect *c, const struct retired *r)
{
	double period_s = (double)(r->end_ns - r->begin_ns) * 1e-9;
	double all = retired_stage_s(r->p, STAGE_TOTAL) / period_s;
	double device = retired_stage_s(r->p, STAGE_DEVICE) / period_s;

	if (!(all > 0))
		return 0;
	return inflight_spread(&c->inflight, r->begin_ns, r->end_ns, all,
			       device > 0 ? fmin(device, all) : all);
}

static int retired_add_sequence(struct collect *c, const struct retired *r)
{
	const struct profile *p = r->p;
	const uint64_t requests[2] = { p->requests[OPERATION_READ], p->requests[OPERATION_WRITE] };
	const double ratio[2] = { p->read.sequential_ratio, p->write.sequential_ratio };

	return sequence_spread(&c->sequence, r->begin_ns, r->end_ns, requests, ratio);
}

static void retired_count(struct collect *c, struct collect_device *d, const struct retired *r)
{
	/*
	 * Each end of a period may be read PROFILE_TOUCH_S early or late (profile_merge.h). This
	 * time is taken off again if it is below a hundredth of the period, so that a period of an
	 * hour does not count as longer than an hour.
	 */
	uint64_t nr = 0, touch_ns = (uint64_t)(2e9 * PROFILE_TOUCH_S);
	uint64_t length_ns = r->end_ns - r->begin_ns;

	if (length_ns > 100 * touch_ns)
		length_ns -= touch_ns;
	for (int op = 0; op < NR_OPERATIONS; op++)
		nr += r->p->requests[op];
	if (!c->nr_requests || r->begin_ns < c->begin_ns)
		c->begin_ns = r->begin_ns;
	if (!c->nr_requests || r->end_ns > c->end_ns)
		c->end_ns = r->end_ns;
	c->nr_requests += nr;
	d->nr_requests += nr;
	c->retired.begin_ns = c->retired.nr_profiles && c->retired.begin_ns < r->begin_ns
				      ? c->retired.begin_ns
				      : r->begin_ns;
	c->retired.end_ns = c->retired.end_ns > r->end_ns ? c->retired.end_ns : r->end_ns;
	c->retired.longest_ns =
		c->retired.longest_ns > length_ns ? c->retired.longest_ns : length_ns;
	c->retired.nr_requests += nr;
	c->retired.nr_profiles++;
}

static void retired_hash_times(struct collect *c, const struct histogram *h)
{
	for (int b = histogram_next(h, HISTOGRAM_BUCKET_MIN); b <= HISTOGRAM_BUCKET_MAX;
	     b = histogram_next(h, b + 1)) {
		const uint64_t pair[] = { (uint64_t)b, histogram_count(h, b) };

		XXH3_64bits_update(c->hash, pair, sizeof(pair));
	}
}

/* Without this, reports on different retired requests would claim to show the same data. */
static void retired_hash(struct collect *c, const struct retired *r)
{
	const uint64_t period[] = { r->begin_ns, r->end_ns };

	XXH3_64bits_update(c->hash, period, sizeof(period));
	XXH3_64bits_update(c->hash, r->p->requests, sizeof(r->p->requests));
	XXH3_64bits_update(c->hash, r->p->bytes, sizeof(r->p->bytes));
	retired_hash_times(c, &r->p->read.response.stage[STAGE_TOTAL]);
	retired_hash_times(c, &r->p->write.response.stage[STAGE_TOTAL]);
}

int retired_add(struct collect *c, size_t device, const struct profile *p)
{
	struct collect_device *d = c->devices[device];
	struct retired r = { .p = p,
			     .begin_ns = retired_ns(p->begin_s),
			     .end_ns = retired_ns(p->end_s) };

	if (r.end_ns <= r.begin_ns)
		r.end_ns = r.begin_ns + 1;
	if (retired_add_load(c, d, &r) || retired_add_times(c, &r) ||
	    retired_add_in_flight(c, &r) || retired_add_sequence(c, &r) ||
	    slo_device_spread(&d->slo, c->objectives, p, r.begin_ns, r.end_ns))
		return -ENOMEM;
	retired_hash(c, &r);
	retired_count(c, d, &r);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/order.h"
#include "workload/hotspot_fit.h"
#include "workload/zipf_fit.h"

#define ACCESSES_PER_REGION 8.0
#define COARSEST_REGIONS    64
/* The hotter half must exceed one half by this many deviations before a Zipf fit is tried. */
#define SKEW_MIN_DEVIATIONS 4.0

struct region {
	uint64_t half[2];
	uint32_t number;
};

struct fit {
	size_t nr;	    /* number of regions */
	unsigned int shift; /* log2 of the sectors of a region */
	uint64_t first;	    /* number of the first region, sector >> shift */
	uint64_t begin, grain;
	double range; /* sectors from begin to the end of the last access's grain */
	double nr_accesses;
	struct region *regions; /* by address, later sorted */
	double *counts, *width; /* by address; width: the region's part of the range, sums to 1 */
	double *ranked;		/* counts by rank; each half is ranked by the other half */
	double *mass;		/* scratch */
	double *chosen;		/* the masses of the best distribution so far */
};

static void fit_release(struct fit *f)
{
	free(f->regions);
	free(f->counts);
}

static size_t regions_at(const struct hotspot *h, unsigned int shift)
{
	return (size_t)((h->max_sector >> shift) - (h->min_sector >> shift)) + 1;
}

static int fit_init(struct fit *f, const struct hotspot *h)
{
	memset(f, 0, sizeof(*f));
	f->shift = h->shift;
	while ((double)h->nr < ACCESSES_PER_REGION * (double)regions_at(h, f->shift) &&
	       regions_at(h, f->shift + 1) >= COARSEST_REGIONS)
		f->shift++;
	f->nr = regions_at(h, f->shift);
	f->first = h->min_sector >> f->shift;
	f->begin = h->min_sector;
	/*
	 * An alignment above the size of a region is of no use. Where all addresses are 0 the whole
	 * region is one grain.
	 */
	f->grain = h->sector_bits & -h->sector_bits;
	if (!f->grain || f->grain > 1ull << f->shift)
		f->grain = 1ull << f->shift;
	f->range = (double)(h->max_sector - h->min_sector) + (double)f->grain;
	f->nr_accesses = (double)h->nr;
	f->regions = calloc(f->nr, sizeof(*f->regions));
	f->counts = calloc(f->nr * 5, sizeof(*f->counts));
	if (!f->regions || !f->counts) {
		fit_release(f);
		return -ENOMEM;
	}
	f->width = f->counts + f->nr;
	f->ranked = f->width + f->nr;
	f->mass = f->ranked + f->nr;
	f->chosen = f->mass + f->nr;
	return 0;
}

/* Returns where region r begins, as a share of the range and limited to the range. */
static double hotspot_fit_edge(const struct fit *f, size_t r)
{
	/* The sectors are a double because the end of the last region may be 2^64. */
	double sectors = ldexp((double)(f->first + r), (int)f->shift) - (double)f->begin;

	return fmin(fmax(sectors / f->range, 0), 1);
}

static void hotspot_fit_fill(struct fit *f, const struct hotspot *h)
{
	unsigned int joined = f->shift - h->shift;

	for (uint64_t i = 0; i < HOTSPOT_REGIONS; i++) {
		struct region *r;

		if (!h->counts[i][0] && !h->counts[i][1])
			continue;
		r = &f->regions[((h->first + i) >> joined) - f->first];
		r->half[0] += h->counts[i][0];
		r->half[1] += h->counts[i][1];
	}
	for (size_t r = 0; r < f->nr; r++) {
		f->regions[r].number = (uint32_t)r;
		f->counts[r] = (double)(f->regions[r].half[0] + f->regions[r].half[1]);
		f->width[r] = hotspot_fit_edge(f, r + 1) - hotspot_fit_edge(f, r);
	}
}

static int compare_half(const struct region *a, const struct region *b, int half)
{
	if (a->half[half] != b->half[half])
		return a->half[half] < b->half[half] ? 1 : -1;
	return (a->number > b->number) - (a->number < b->number);
}

static int by_first_half(const void *a, const void *b)
{
	return compare_half(a, b, 0);
}

static int by_second_half(const void *a, const void *b)
{
	return compare_half(a, b, 1);
}

/* Ranks the counts. The regions are sorted afterwards. */
static void hotspot_fit_rank(struct fit *f)
{
	qsort(f->regions, f->nr, sizeof(*f->regions), by_first_half);
	for (size_t r = 0; r < f->nr; r++)
		f->ranked[r] = (double)f->regions[r].half[1];
	qsort(f->regions, f->nr, sizeof(*f->regions), by_second_half);
	for (size_t r = 0; r < f->nr; r++)
		f->ranked[r] += (double)f->regions[r].half[0];
}

/*
 * Returns the share of accesses that falls on the hottest share of the regions. The last of these
 * regions counts in part.
 */
static double top_ratio(const struct fit *f, double share)
{
	double left = share * (double)f->nr, sum = 0;

	for (size_t r = 0; r < f->nr && left > 0; r++, left--)
		sum += f->ranked[r] * fmin(left, 1);
	return sum / f->nr_accesses;
}

static double log_likelihood(const double *counts, const double *mass, size_t nr)
{
	double sum = 0;

	for (size_t r = 0; r < nr; r++)
		if (counts[r] > 0)
			sum += counts[r] * log(fmax(mass[r], 1e-300));
	return sum;
}

/* Returns the largest difference between the two cumulative distributions. */
static double ks_distance(const double *counts, double nr_accesses, const double *mass, size_t nr)
{
	double worst = 0, seen = 0, expected = 0;

	for (size_t r = 0; r < nr; r++) {
		seen += counts[r] / nr_accesses;
		expected += mass[r];
		worst = fmax(worst, fabs(seen - expected));
	}
	return fmin(worst, 1);
}

static double normal_below(double x)
{
	return 0.5 * erfc(-x * M_SQRT1_2);
}

/* Returns the AIC, and fills mass and the parameters. */
static double fit_gaussian(struct fit *f, struct access_distribution *d)
{
	double mean = 0, variance = 0, inside;

	for (size_t r = 0; r < f->nr; r++)
		mean += f->counts[r] * (hotspot_fit_edge(f, r) + hotspot_fit_edge(f, r + 1)) / 2;
	mean /= f->nr_accesses;
	for (size_t r = 0; r < f->nr; r++) {
		double away = (hotspot_fit_edge(f, r) + hotspot_fit_edge(f, r + 1)) / 2 - mean;

		variance += f->counts[r] * away * away;
	}
	variance /= f->nr_accesses;
	d->mean_ratio = mean;
	d->deviation_ratio = sqrt(variance);
	if (!(variance > 0))
		return INFINITY;
	inside = normal_below((1 - mean) / d->deviation_ratio) -
		 normal_below(-mean / d->deviation_ratio);
	for (size_t r = 0; r < f->nr; r++)
		f->mass[r] =
			(normal_below((hotspot_fit_edge(f, r + 1) - mean) / d->deviation_ratio) -
			 normal_below((hotspot_fit_edge(f, r) - mean) / d->deviation_ratio)) /
			inside;
	return 2 * 2 - 2 * log_likelihood(f->counts, f->mass, f->nr);
}

/*
 * Fills in the exponent and the AIC. Where no region stands out they are those of the uniform
 * distribution. Returns 0 or -ENOMEM.
 */
static int fit_zipf(struct fit *f, struct access_distribution *d)
{
	double deviation = 0.5 / sqrt(f->nr_accesses);
	struct zipf_fit zipf;
	int ret;

	d->exponent = 0;
	d->aic_zipf = d->aic_uniform + 2;
	if (top_ratio(f, 0.5) < 0.5 + SKEW_MIN_DEVIATIONS * deviation)
		return 0;
	ret = zipf_fit(f->ranked, f->nr, (1ull << f->shift) / f->grain, f->mass, &zipf);
	if (ret)
		return ret;
	d->exponent = zipf.exponent;
	d->aic_zipf = 2 - 2 * zipf.log_likelihood;
	return 0;
}

/* Takes over the distribution whose masses are in f->mass if it is the best so far. */
static void hotspot_fit_choose(struct fit *f, struct access_distribution *d,
			       enum distribution_kind kind, double aic, double *best_aic)
{
	const double *counts = kind == DISTRIBUTION_ZIPF ? f->ranked : f->counts;

	if (!(aic < *best_aic) || !(aic < d->aic_uniform - HOTSPOT_AIC_MARGIN))
		return;
	*best_aic = aic;
	d->kind = kind;
	memcpy(f->chosen, f->mass, f->nr * sizeof(*f->mass));
	d->ks_distance = ks_distance(counts, f->nr_accesses, f->mass, f->nr);
}

static void hotspot_fit_unknown(struct access_distribution *d)
{
	*d = (struct access_distribution){ .kind = DISTRIBUTION_UNKNOWN,
					   .mean_ratio = NAN,
					   .deviation_ratio = NAN,
					   .exponent = NAN,
					   .ks_distance = NAN,
					   .top_10_ratio = NAN,
					   .top_20_ratio = NAN,
					   .aic_uniform = NAN,
					   .aic_gaussian = NAN,
					   .aic_zipf = NAN };
}

/* Converts sectors to bytes, at most UINT64_MAX. Only a damaged trace has so many sectors. */
static uint64_t to_bytes(uint64_t sectors)
{
	return sectors > UINT64_MAX / SECTOR_BYTES ? UINT64_MAX : sectors * SECTOR_BYTES;
}

/*
 * Fits all kinds; d and f->chosen are then those of the best. Returns -ENODATA, with d unknown,
 * where there are too few accesses. On success the caller releases f.
 */
/* h must hold counts by region, or too few accesses for a fit. */
static int hotspot_fit_counts(struct fit *fit, const struct hotspot *h,
			      struct access_distribution *out)
{
	struct access_distribution d;
	struct fit f;
	double best_aic;
	int ret;

	hotspot_fit_unknown(&d);
	if (h->nr < HOTSPOT_MIN_ACCESSES || regions_at(h, h->shift) < HOTSPOT_MIN_REGIONS) {
		*out = d;
		return -ENODATA;
	}
	ret = fit_init(&f, h);
	if (ret)
		return ret;
	hotspot_fit_fill(&f, h);
	hotspot_fit_rank(&f);
	d.nr_regions = (uint32_t)f.nr;
	d.region_bytes = to_bytes(1ull << f.shift);
	d.first_byte = to_bytes(f.first << f.shift);
	d.top_10_ratio = top_ratio(&f, 0.1);
	d.top_20_ratio = top_ratio(&f, 0.2);
	d.kind = DISTRIBUTION_UNIFORM;
	memcpy(f.chosen, f.width, f.nr * sizeof(*f.width));
	d.aic_uniform = -2 * log_likelihood(f.counts, f.width, f.nr);
	d.ks_distance = ks_distance(f.counts, f.nr_accesses, f.width, f.nr);
	best_aic = d.aic_uniform;
	d.aic_gaussian = fit_gaussian(&f, &d);
	hotspot_fit_choose(&f, &d, DISTRIBUTION_GAUSSIAN, d.aic_gaussian, &best_aic);
	ret = fit_zipf(&f, &d);
	if (ret) {
		fit_release(&f);
		return ret;
	}
	hotspot_fit_choose(&f, &d, DISTRIBUTION_ZIPF, d.aic_zipf, &best_aic);
	*out = d;
	*fit = f;
	return 0;
}

static int hotspot_fit_all(struct fit *fit, const struct hotspot *h,
			   struct access_distribution *out)
{
	struct hotspot counted;
	int ret;

	if (h->counts || h->nr < HOTSPOT_MIN_ACCESSES)
		return hotspot_fit_counts(fit, h, out);
	ret = hotspot_counted(h, &counted);
	if (!ret)
		ret = hotspot_fit_counts(fit, &counted, out);
	hotspot_release(&counted);
	return ret;
}

int hotspot_fit(const struct hotspot *h, struct access_distribution *out)
{
	struct fit f;
	int ret = hotspot_fit_all(&f, h, out);

	if (ret == 0)
		fit_release(&f);
	return ret == -ENODATA ? 0 : ret;
}

int hotspot_law(const struct hotspot *h, struct hotspot_law *out)
{
	struct access_distribution d;
	struct fit f;
	int ret = hotspot_fit_all(&f, h, &d);

	if (ret)
		return ret;
	out->nr = f.nr;
	out->shift = f.shift;
	out->mass = calloc(f.nr, sizeof(*out->mass));
	if (out->mass) {
		memcpy(out->mass, f.chosen, f.nr * sizeof(*out->mass));
		qsort(out->mass, f.nr, sizeof(*out->mass), order_double_falling);
	}
	fit_release(&f);
	return out->mass ? 0 : -ENOMEM;
}

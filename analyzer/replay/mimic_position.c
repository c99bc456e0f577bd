// SPDX-License-Identifier: Apache-2.0
/*
 * This file simulates the offsets of fio's requests: each client keeps the end of its last request
 * per direction; a request continues there, or goes to an offset drawn from the access distribution
 * on the grid of the smallest size. In small address ranges requests are sometimes adjacent by
 * chance, which a formula from runs to ratio would not include.
 */
#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/replay/mimic_walk.h"
#include "base/memory/order.h"
#include "workload/sequential.h"

#define DRAWS 200000 /* drawn offsets: they give a share of 0.2 with an error of 0.001 */
#define SEED  1	     /* the answer depends on the profile alone */

static void bell_zones(const struct access_distribution *d, double ends[MIMIC_ZONES])
{
	double sd = fmax(d->deviation_ratio, 1e-6), low, high;

	/* the part of the normal distribution that lies within the range */
	low = gsl_cdf_ugaussian_P((0 - d->mean_ratio) / sd);
	high = gsl_cdf_ugaussian_P((1 - d->mean_ratio) / sd);
	for (int i = 0; i < MIMIC_ZONES; i++) {
		double p = low + (high - low) * (i + 1) / MIMIC_ZONES;

		ends[i] = fmin(1, fmax(0, d->mean_ratio + sd * gsl_cdf_ugaussian_Pinv(p)));
	}
}

/*
 * Returns the share of the accesses that the busiest share x of n regions gets, by the continuous
 * law.
 */
static double zipf_share(double theta, double n, double x)
{
	return fabs(theta - 1) < 1e-6
		       ? log1p(x * n) / log1p(n)
		       : (pow(1 + x * n, 1 - theta) - 1) / (pow(1 + n, 1 - theta) - 1);
}

static double zipf_regions(double theta, double n, double share)
{
	return fabs(theta - 1) < 1e-6
		       ? expm1(share * log1p(n)) / n
		       : (pow(1 + share * (pow(1 + n, 1 - theta) - 1), 1 / (1 - theta)) - 1) / n;
}

/* The law is used to interpolate between the counted shares. */
static void rank_zones(const struct access_distribution *d, double ends[MIMIC_ZONES])
{
	double n = d->nr_regions, theta = d->exponent;
	double at[4] = { 0, 0.1, 0.2, 1 }, seen[4] = { 0, d->top_10_ratio, d->top_20_ratio, 1 };
	int k = 0;

	for (int i = 0; i < MIMIC_ZONES; i++) {
		double share = (i + 1.0) / MIMIC_ZONES, low, high;

		while (k < 2 && share > seen[k + 1])
			k++;
		low = zipf_share(theta, n, at[k]);
		high = zipf_share(theta, n, at[k + 1]);
		ends[i] = zipf_regions(theta, n,
				       low + (high - low) * (share - seen[k]) /
						       fmax(seen[k + 1] - seen[k], 1e-12));
	}
}

void mimic_zones(const struct access_distribution *d, double ends[MIMIC_ZONES])
{
	if (d->kind == DISTRIBUTION_ZIPF)
		rank_zones(d, ends);
	else
		bell_zones(d, ends);
	ends[MIMIC_ZONES - 1] = 1;
}

/*
 * Draws a rank by the inverse of the continuous law, and scatters it in the same way as fio's hash.
 */
static uint64_t zipf_place(struct mimic_walk *p)
{
	double theta = p->m->distribution.exponent, n = (double)p->nr, u = rng_uniform(&p->rng);
	double rank = fabs(theta - 1) < 1e-6
			      ? pow(n + 1, u)
			      : pow(1 + u * (pow(n + 1, 1 - theta) - 1), 1 / (1 - theta));

	return (uint64_t)(rank - 1) * 0x9e3779b97f4a7c15u % p->nr;
}

static uint64_t mimic_position_place(struct mimic_walk *p)
{
	uint64_t zone;
	double low;

	if (p->m->by_zones) {
		zone = rng_below(&p->rng, MIMIC_ZONES);
		low = zone ? p->zones[zone - 1] : 0;
		return (uint64_t)((low + rng_uniform(&p->rng) * (p->zones[zone] - low)) *
				  (double)(p->nr - 1));
	}
	return p->m->distribution.kind == DISTRIBUTION_ZIPF ? zipf_place(p)
							    : rng_below(&p->rng, p->nr);
}

static uint32_t mimic_position_size(struct mimic_walk *p)
{
	unsigned int at = (unsigned int)rng_below(&p->rng, 100);
	double share = p->exact ? rng_uniform(&p->rng) : 0;
	size_t i = 0;

	if (p->exact) {
		for (; i + 1 < p->d->nr_split && share >= p->d->split[i].share; i++)
			share -= p->d->split[i].share;
		return p->d->split[i].bytes;
	}
	for (; i + 1 < p->d->nr_split && at >= p->d->split[i].percent; i++)
		at -= p->d->split[i].percent;
	return p->d->split[i].bytes;
}

uint64_t mimic_grain(const struct mimic *m)
{
	uint64_t least = UINT64_MAX;

	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < m->side[k].nr_split; i++)
			if (m->side[k].split[i].percent && m->side[k].split[i].bytes < least)
				least = m->side[k].split[i].bytes;
	return least;
}

double mimic_scattered_top_20(const struct mimic *m)
{
	uint32_t nr = m->distribution.nr_regions, *counts = calloc(nr ? nr : 1, sizeof(*counts));
	struct mimic_walk p = { .m = m, .grain = mimic_grain(m) };
	uint64_t top = 0;

	if (!counts)
		return NAN; /* memory is out */
	p.nr = m->range_bytes / p.grain ? m->range_bytes / p.grain : 1;
	rng_seed(&p.rng, SEED);
	for (int i = 0; i < DRAWS; i++)
		counts[(uint64_t)((double)zipf_place(&p) / (double)p.nr * nr)]++;
	qsort(counts, nr, sizeof(*counts), order_u32_falling);
	for (uint32_t i = 0; i < nr / 5; i++)
		top += counts[i];
	free(counts);
	return (double)top / DRAWS;
}

int mimic_walk_begin(struct mimic_walk *p, const struct mimic *m, int side, uint64_t seed)
{
	*p = (struct mimic_walk){ .m = m, .d = &m->side[side], .grain = mimic_grain(m) };
	p->at = calloc(m->clients, sizeof(*p->at));
	if (!p->at)
		return -ENOMEM;
	p->nr = m->range_bytes / p->grain ? m->range_bytes / p->grain : 1;
	mimic_zones(&m->distribution, p->zones);
	rng_stream(&p->rng, seed, (uint64_t)side);
	for (unsigned int c = 0; c < m->clients; c++)
		p->at[c] = mimic_position_place(p) * p->grain;
	return 0;
}

void mimic_walk_next(struct mimic_walk *p, unsigned int percent_random, uint64_t *offset,
		     uint32_t *bytes)
{
	uint64_t *pos = &p->at[rng_below(&p->rng, p->m->clients)];

	*bytes = mimic_position_size(p);
	if (rng_below(&p->rng, 100) < percent_random || *pos + *bytes > p->m->range_bytes)
		*pos = mimic_position_place(p) * p->grain;
	*offset = *pos;
	*pos += *bytes;
}

void mimic_walk_release(struct mimic_walk *p)
{
	free(p->at);
}

double mimic_simulate_ratio(const struct mimic *m, int side, unsigned int percent_random,
			    uint32_t subset, uint64_t nr)
{
	struct mimic_walk p;
	struct sequential s;
	double ratio = NAN;
	int status = mimic_walk_begin(&p, m, side, SEED);

	sequential_init(&s, subset);
	for (uint64_t i = 0; i < nr && !status; i++) {
		uint64_t offset;
		uint32_t bytes;

		mimic_walk_next(&p, percent_random, &offset, &bytes);
		status = sequential_add(&s, offset / SECTOR_BYTES, (offset + bytes) / SECTOR_BYTES);
	}
	if (!status)
		ratio = sequential_ratio(&s);
	sequential_release(&s);
	mimic_walk_release(&p);
	return ratio;
}

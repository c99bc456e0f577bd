// SPDX-License-Identifier: Apache-2.0
/*
 * Where fio's requests go, simulated: each client keeps the end of its last request per direction;
 * a request continues there, or goes to a place drawn from the access distribution on the grid of
 * the smallest size. Small address ranges make neighbours by chance, which a formula from runs to
 * ratio would miss.
 */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/num/rng.h"
#include "analyzer/predict/mimic.h"
#include "workload/sequential.h"

#define SEED 1 /* the answer depends on the profile alone */

struct places {
	const struct mimic *m;
	const struct mimic_direction *d;
	uint64_t grain, nr; /* places: nr of grain bytes */
	double zones[MIMIC_ZONES];
	struct rng rng;
};

void mimic_zones(const struct access_distribution *d, double ends[MIMIC_ZONES])
{
	double sd = fmax(d->deviation_ratio, 1e-6), low, high;

	/* the part of the bell that lies within the range */
	low = gsl_cdf_ugaussian_P((0 - d->mean_ratio) / sd);
	high = gsl_cdf_ugaussian_P((1 - d->mean_ratio) / sd);
	for (int i = 0; i < MIMIC_ZONES; i++) {
		double p = low + (high - low) * (i + 1) / MIMIC_ZONES;

		ends[i] = fmin(1, fmax(0, d->mean_ratio + sd * gsl_cdf_ugaussian_Pinv(p)));
	}
	ends[MIMIC_ZONES - 1] = 1;
}

/* Ranks by the inverse of the continuous law, then scattered as fio's hash scatters them. */
static uint64_t zipf_place(struct places *p)
{
	double theta = p->m->distribution.exponent, n = (double)p->nr, u = rng_uniform(&p->rng);
	double rank = fabs(theta - 1) < 1e-6
			      ? pow(n + 1, u)
			      : pow(1 + u * (pow(n + 1, 1 - theta) - 1), 1 / (1 - theta));

	return (uint64_t)(rank - 1) * 0x9e3779b97f4a7c15u % p->nr;
}

static uint64_t place(struct places *p)
{
	uint64_t zone;
	double low;

	switch (p->m->distribution.kind) {
	case DISTRIBUTION_ZIPF:
		return zipf_place(p);
	case DISTRIBUTION_GAUSSIAN:
		zone = rng_below(&p->rng, MIMIC_ZONES);
		low = zone ? p->zones[zone - 1] : 0;
		return (uint64_t)((low + rng_uniform(&p->rng) * (p->zones[zone] - low)) *
				  (double)(p->nr - 1));
	default:
		return rng_below(&p->rng, p->nr);
	}
}

static uint32_t size(struct places *p)
{
	unsigned int at = (unsigned int)rng_below(&p->rng, 100);
	size_t i = 0;

	for (; i + 1 < p->d->nr_split && at >= p->d->split[i].percent; i++)
		at -= p->d->split[i].percent;
	return p->d->split[i].bytes;
}

uint64_t mimic_grain(const struct mimic *m)
{
	uint64_t least = UINT64_MAX;

	for (int k = 0; k < 2; k++)
		if (m->side[k].nr_split && m->side[k].split[0].bytes < least)
			least = m->side[k].split[0].bytes;
	return least;
}

double mimic_simulate_ratio(const struct mimic *m, int side, unsigned int percent_random,
			    uint32_t subset, uint64_t nr)
{
	struct places p = { .m = m, .d = &m->side[side], .grain = mimic_grain(m) };
	uint64_t *at = calloc(m->clients, sizeof(*at));
	struct sequential s;
	double ratio = NAN;
	int status = at ? 0 : -1;

	p.nr = m->range_bytes / p.grain ? m->range_bytes / p.grain : 1;
	mimic_zones(&m->distribution, p.zones);
	rng_seed(&p.rng, SEED);
	sequential_init(&s, subset);
	for (unsigned int c = 0; c < m->clients && !status; c++)
		at[c] = place(&p) * p.grain;
	for (uint64_t i = 0; i < nr && !status; i++) {
		uint64_t *pos = &at[rng_below(&p.rng, m->clients)];
		uint32_t bytes = size(&p);

		if (rng_below(&p.rng, 100) < percent_random || *pos + bytes > m->range_bytes)
			*pos = place(&p) * p.grain;
		status = sequential_add(&s, *pos / SECTOR_BYTES, (*pos + bytes) / SECTOR_BYTES);
		*pos += bytes;
	}
	if (!status)
		ratio = sequential_ratio(&s);
	sequential_release(&s);
	free(at);
	return ratio;
}

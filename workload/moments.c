/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "workload/moments.h"

void moments_add(struct moments *m, double x)
{
	double delta = x - m->mean;

	m->nr++;
	m->mean += delta / (double)m->nr;
	m->m2 += delta * (x - m->mean);
}

void moments_merge(struct moments *dst, const struct moments *src)
{
	uint64_t nr = dst->nr + src->nr;
	double delta = src->mean - dst->mean, share;

	if (!src->nr)
		return;
	if (!dst->nr) {
		*dst = *src;
		return;
	}
	share = (double)src->nr / (double)nr;
	dst->mean += delta * share;
	dst->m2 += src->m2 + delta * delta * (double)dst->nr * share;
	dst->nr = nr;
}

double moments_mean(const struct moments *m)
{
	return m->nr ? m->mean : NAN;
}

double moments_variance(const struct moments *m)
{
	return m->nr > 1 ? m->m2 / (double)(m->nr - 1) : NAN;
}

// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/cache/cache_advice.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/characterize/cache_knee.h"

#define GIB 1073741824.0

static struct cache_step step_at(const struct cache_stream *s, double bytes, double hit_s,
				 double miss_s)
{
	double hit = 1 - cache_miss_ratio(s, bytes), twice = 1 - cache_miss_ratio(s, 2 * bytes);

	return (struct cache_step){ bytes, hit, (twice - hit) * GIB / bytes,
				    hit * hit_s + (1 - hit) * miss_s };
}

/*
 * The mean is over reads and writes, because the curve counts both; NaN if the times of either are
 * unknown.
 */
static double mean_s(const struct profile *p)
{
	const struct direction_profile *sides[2] = { &p->read, &p->write };
	double sum = 0, nr = 0;

	for (int side = 0; side < 2; side++) {
		double n = (double)p->requests[side ? OPERATION_WRITE : OPERATION_READ];

		if (n > 0)
			sum += n * profile_mean_s(&sides[side]->response, STAGE_TOTAL);
		nr += n;
	}
	return sum / nr;
}

int cache_advise(struct cache_advice *out, const struct profile_group *g, double hit_s,
		 double miss_s, double wanted)
{
	const struct cache_stream s = cache_stream_of(g);
	const struct profile *p = &g->whole;
	double before = 0;
	size_t knee;

	*out = (struct cache_advice){ .knee_bytes = NAN, .knee_hit_ratio = NAN };
	if (!s.nr)
		return -ENODATA;
	if (isnan(miss_s))
		miss_s = mean_s(p);
	out->reads_only = !p->requests[OPERATION_WRITE];
	out->miss_s = miss_s;
	knee = cache_knee(s.points, s.nr);
	if (knee < s.nr) {
		out->knee_bytes = (double)s.points[knee].cache_bytes;
		out->knee_hit_ratio = 1 - s.points[knee].miss_ratio;
	}
	out->most_bytes = (double)s.points[s.nr - 1].cache_bytes;
	out->most_hit_ratio = 1 - s.points[s.nr - 1].miss_ratio;
	out->wanted_bytes = isnan(wanted) ? NAN : cache_size_for(&s, wanted);
	for (int i = CACHE_SIZES_MAX - 1; i >= 0; i--) {
		double bytes = out->most_bytes / exp2(i);

		if (bytes < p->locality.block_bytes)
			continue;
		if (out->knee_bytes < bytes && out->knee_bytes > before)
			out->steps[out->nr++] = step_at(&s, out->knee_bytes, hit_s, miss_s);
		out->steps[out->nr++] = step_at(&s, bytes, hit_s, miss_s);
		before = bytes;
	}
	return 0;
}

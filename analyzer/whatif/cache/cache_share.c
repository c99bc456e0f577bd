// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/cache/cache_share.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/whatif/predict/load_facts.h"

/* bisection steps of the logarithm of a time: the result is exact to the last bit */
#define BISECTIONS 200
/*
 * The bisection searches times between these two, in seconds: from one microsecond to 30 million
 * years.
 */
#define TIME_LEAST_S 1e-6
#define TIME_MOST_S  1e15
#define UNITS	     512 /* a cache is divided into so many units */
#define ROUNDING     1e-12

struct cache_stream cache_stream_of(const struct profile_group *g)
{
	const struct profile *p = &g->whole;
	struct load_facts f;

	load_facts_of_group(g, &f);
	return (struct cache_stream){ p->locality.miss_ratio, p->locality.nr_miss_ratio,
				      f.rate_per_s * f.size_bytes, p->locality.footprint_bytes };
}

/* Gives the ends of piece i of a curve; false behind the last piece, where the curve is flat. */
struct piece {
	double from, to, m_from, m_to;
};

static bool piece_of(const struct cache_stream *s, size_t i, struct piece *p)
{
	if (i >= s->nr)
		return false;
	p->from = i ? (double)s->points[i - 1].cache_bytes : 0;
	p->m_from = i ? s->points[i - 1].miss_ratio : 1;
	p->to = (double)s->points[i].cache_bytes;
	p->m_to = s->points[i].miss_ratio;
	return true;
}

double cache_miss_ratio(const struct cache_stream *s, double bytes)
{
	struct piece p = { 0, 0, 1, 1 };

	for (size_t i = 0; piece_of(s, i, &p); i++)
		if (bytes < p.to)
			return p.m_from + (p.m_to - p.m_from) * (bytes - p.from) / (p.to - p.from);
	return p.m_to;
}

double cache_size_for(const struct cache_stream *s, double hit_ratio)
{
	struct piece p;
	double miss = 1 - hit_ratio;

	if (hit_ratio <= 0)
		return 0;
	for (size_t i = 0; piece_of(s, i, &p); i++)
		if (p.m_to <= miss + ROUNDING)
			return p.m_to < p.m_from ? p.from + (p.to - p.from) * (p.m_from - miss) /
								    (p.m_from - p.m_to)
						 : p.from;
	return NAN;
}

static double cache_share_footprint(const struct cache_stream *s)
{
	double end = s->nr ? (double)s->points[s->nr - 1].cache_bytes : 0;

	return s->footprint_bytes > 0 ? s->footprint_bytes : end;
}

/* Returns the bytes that a load fills in a time, computed piece by piece of its curve. */
static double cache_share_filled(const struct cache_stream *s, double time_s)
{
	double left = time_s * s->bytes_per_s, most = cache_share_footprint(s), slope, need;
	struct piece p = { 0, 0, 1, 1 };

	for (size_t i = 0; piece_of(s, i, &p); i++) {
		slope = (p.m_to - p.m_from) / (p.to - p.from);
		if (!(p.m_from > 0))
			return fmin(p.from, most);
		/*
		 * The bytes referenced until the piece is filled; infinite if the miss ratio falls
		 * to 0 at its end.
		 */
		need = p.m_to < p.m_from ? (log(p.m_to) - log(p.m_from)) / slope
					 : (p.to - p.from) / p.m_from;
		if (left < need)
			return fmin(most, p.m_to < p.m_from
						  ? p.from + p.m_from * expm1(slope * left) / slope
						  : p.from + left * p.m_from);
		left -= need;
	}
	return fmin(most, p.to + left * p.m_to);
}

static double filled_all(const struct cache_stream *s, size_t nr, double time_s)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += cache_share_filled(&s[i], time_s);
	return sum;
}

void cache_shared(const struct cache_stream *s, size_t nr, double bytes, double *part)
{
	double low = log(TIME_LEAST_S), high = log(TIME_MOST_S);

	for (int k = 0; k < BISECTIONS && filled_all(s, nr, exp(high)) > bytes; k++) {
		double middle = (low + high) / 2;

		if (middle == low || middle == high)
			break;
		if (filled_all(s, nr, exp(middle)) > bytes)
			high = middle;
		else
			low = middle;
	}
	if (filled_all(s, nr, exp(high)) <= bytes)
		low = high;
	for (size_t i = 0; i < nr; i++)
		part[i] = cache_share_filled(&s[i], exp(low));
}

double cache_misses(const struct cache_stream *s, size_t nr, const double *part)
{
	double misses = 0, all = 0;

	for (size_t i = 0; i < nr; i++) {
		misses += s[i].bytes_per_s * cache_miss_ratio(&s[i], part[i]);
		all += s[i].bytes_per_s;
	}
	return misses / all;
}

/*
 * Finds the allocation of whole units with the fewest misses by dynamic programming;
 * choice[load][units so far].
 */
static int part_by_units(const struct cache_stream *s, size_t nr, double bytes, double *part)
{
	unsigned short(*choice)[UNITS + 1] = calloc(nr + 1, sizeof(*choice));
	double best[UNITS + 1] = { 0 }, next[UNITS + 1], misses[UNITS + 1], unit = bytes / UNITS;
	unsigned int left = UNITS;

	if (!choice)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		for (unsigned int u = 0; u <= UNITS; u++)
			misses[u] = s[i].bytes_per_s * cache_miss_ratio(&s[i], u * unit);
		for (unsigned int u = 0; u <= UNITS; u++) {
			next[u] = INFINITY;
			for (unsigned int k = 0; k <= u; k++)
				if (best[u - k] + misses[k] < next[u]) {
					next[u] = best[u - k] + misses[k];
					choice[i][u] = (unsigned short)k;
				}
		}
		memcpy(best, next, sizeof(best));
	}
	for (size_t i = nr; i-- > 0;) {
		part[i] = choice[i][left] * unit;
		left -= choice[i][left];
	}
	free(choice);
	return 0;
}

int cache_parted(const struct cache_stream *s, size_t nr, double bytes, double *part)
{
	double *other = calloc(nr + 1, sizeof(*other));

	if (!other || part_by_units(s, nr, bytes, part)) {
		free(other);
		return -ENOMEM;
	}
	cache_shared(s, nr, bytes, other);
	if (cache_misses(s, nr, other) < cache_misses(s, nr, part))
		memcpy(part, other, nr * sizeof(*part));
	for (size_t i = 0; i < nr; i++)
		other[i] = bytes / (double)nr;
	if (cache_misses(s, nr, other) < cache_misses(s, nr, part))
		memcpy(part, other, nr * sizeof(*part));
	free(other);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <string.h>

#include "tests/literal/s3_literal.h"

static bool evaluated(const struct s3_literal *e, const double *p, unsigned int l)
{
	for (size_t i = 0; i < e->nr; i++) {
		bool same = true;

		for (unsigned int k = 0; k < l; k++)
			same = same && e->at[i][k] == p[k];
		if (same)
			return true;
	}
	return false;
}

/*
 * Finds the M best of the first nr. They are taken one by one, and of equals the earliest comes
 * first.
 */
static size_t best_of(const struct s3_literal *e, size_t nr, size_t m, size_t *out)
{
	size_t found = 0;

	while (found < m && found < nr) {
		size_t best = nr;

		for (size_t i = 0; i < nr; i++) {
			bool taken = false;

			for (size_t k = 0; k < found; k++)
				taken = taken || out[k] == i;
			if (!taken && (best == nr || e->cost[i] < e->cost[best]))
				best = i;
		}
		out[found++] = best;
	}
	return found;
}

size_t s3_literal_best(const struct s3_literal *e)
{
	size_t best = 0;

	best_of(e, e->nr, 1, &best);
	return best;
}

static void splits_of(const struct s3_literal *e, size_t nr, const struct s3_config *c,
		      unsigned int i, double v, double *s)
{
	double a = c->axes[i].low, b = c->axes[i].high, step;
	bool below = false, above = false;

	for (size_t k = 0; k < nr; k++) {
		double p = e->at[k][i];

		if (p < v && (!below || p > a)) {
			a = p;
			below = true;
		}
		if (p > v && (!above || p < b)) {
			b = p;
			above = true;
		}
	}
	step = (b - a) / (c->splits + 1.0);
	for (unsigned int k = 0; k <= c->splits; k++)
		s[k] = a + k * step;
	s[c->splits + 1] = b;
	for (unsigned int k = 0; k < c->splits + 2; k++)
		if (c->axes[i].whole)
			s[k] = round(s[k]);
}

static bool add(struct s3_literal *e, const struct s3_config *c, const double *p,
		double (*phi)(const double *p))
{
	if (evaluated(e, p, c->nr_axes) || e->nr == s3_bound(c))
		return true;
	if (e->nr == S3_LITERAL_MAX)
		return false;
	memcpy(e->at[e->nr], p, sizeof(e->at[0]));
	e->cost[e->nr++] = phi(p);
	return true;
}

bool s3_literal(struct s3_literal *e, const struct s3_config *c, double (*phi)(const double *p))
{
	double p[S3_AXES_MAX] = { 0 }, s[S3_AXES_MAX][64];
	size_t pivots[64], nr_pivots, known;

	e->nr = 0;
	for (unsigned int i = 0; i < c->nr_axes; i++)
		p[i] = c->axes[i].low;
	add(e, c, p, phi);
	for (unsigned int j = 1; j <= c->iterations; j++) {
		known = e->nr;
		nr_pivots = best_of(e, known, c->explorations, pivots);
		for (size_t h = 0; h < nr_pivots; h++) {
			unsigned int at[S3_AXES_MAX] = { 0 };
			bool more = true;

			for (unsigned int i = 0; i < c->nr_axes; i++)
				splits_of(e, known, c, i, e->at[pivots[h]][i], s[i]);
			while (more) {
				unsigned int i = c->nr_axes;

				memset(p, 0, sizeof(p));
				for (unsigned int k = 0; k < c->nr_axes; k++)
					p[k] = s[k][at[k]];
				if (!add(e, c, p, phi))
					return false;
				/*
				 * Moves on to the next point of the grid. The last axis changes
				 * fastest.
				 */
				for (more = false; i-- > 0 && !more;) {
					more = ++at[i] < c->splits + 2;
					if (!more)
						at[i] = 0;
				}
			}
		}
	}
	return true;
}

// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/regression/choice/blend.h"

#include <math.h>
#include <string.h>

/* Added to the diagonal, as a share of it: equal models have a solution, and share equally. */
#define BLEND_RIDGE 1e-9

struct blend {
	double products[BLEND_MAX][BLEND_MAX]; /* sums of products of errors */
	size_t nr;
};

static void blend_sum(struct blend *b, const struct dataset *d, const double *const *held_out,
		      size_t nr, uint32_t without)
{
	*b = (struct blend){ .nr = nr };
	for (size_t i = 0; i < d->nr_rows; i++) {
		double weight = d->weight ? d->weight[i] : 1;

		if (without != UINT32_MAX && d->fold[i] == without)
			continue;
		for (size_t k = 0; k < nr; k++)
			for (size_t m = 0; m < nr; m++)
				b->products[k][m] += weight * (d->y[i] - held_out[k][i]) *
						     (d->y[i] - held_out[m][i]);
	}
	for (size_t k = 0; k < nr; k++)
		b->products[k][k] *= 1 + BLEND_RIDGE;
}

/* Solves E w = 1 for the models of a set by elimination. Returns false where E is singular. */
static bool blend_solve(const struct blend *b, const size_t *set, size_t nr, double *w)
{
	double e[BLEND_MAX][BLEND_MAX + 1];

	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < nr; k++)
			e[i][k] = b->products[set[i]][set[k]];
		e[i][nr] = 1;
	}
	/* E is positive definite, so that no pivot is looked for. */
	for (size_t i = 0; i < nr; i++) {
		if (!(e[i][i] > 0))
			return false;
		for (size_t r = 0; r < nr; r++) {
			double factor = e[r][i] / e[i][i];

			for (size_t k = i; k <= nr && r != i; k++)
				e[r][k] -= factor * e[i][k];
		}
	}
	for (size_t i = 0; i < nr; i++)
		w[i] = e[i][nr] / e[i][i];
	return true;
}

/* Fills the shares of one set of models, others 0. Returns their error, or INFINITY. */
static double blend_try(const struct blend *b, unsigned int members, double *shares)
{
	size_t set[BLEND_MAX], nr = 0;
	double w[BLEND_MAX], sum = 0, error = 0;

	for (size_t k = 0; k < b->nr; k++)
		if (members >> k & 1)
			set[nr++] = k;
	memset(shares, 0, b->nr * sizeof(*shares));
	if (nr == 1) {
		shares[set[0]] = 1;
		return b->products[set[0]][set[0]];
	}
	if (!blend_solve(b, set, nr, w))
		return INFINITY;
	for (size_t i = 0; i < nr; i++) {
		if (!(w[i] >= 0))
			return INFINITY;
		sum += w[i];
	}
	for (size_t i = 0; i < nr; i++)
		shares[set[i]] = w[i] / sum;
	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < nr; k++)
			error += shares[set[i]] * shares[set[k]] * b->products[set[i]][set[k]];
	return isfinite(error) ? error : INFINITY;
}

void blend_shares(const struct dataset *d, const double *const *held_out, size_t nr,
		  uint32_t without, double *shares)
{
	double least = INFINITY, tried[BLEND_MAX];
	struct blend b;

	blend_sum(&b, d, held_out, nr, without);
	for (size_t k = 0; k < nr; k++)
		shares[k] = 1 / (double)nr;
	for (unsigned int members = 1; members < 1u << nr; members++) {
		double error = blend_try(&b, members, tried);

		if (!(error < least))
			continue;
		least = error;
		memcpy(shares, tried, nr * sizeof(*shares));
	}
}

void blend_predict(const struct dataset *d, const double *const *held_out, size_t nr, double *out)
{
	for (uint32_t f = 0; f < d->nr_folds; f++) {
		double shares[BLEND_MAX];

		blend_shares(d, held_out, nr, f, shares);
		for (size_t i = 0; i < d->nr_rows; i++) {
			if (d->fold[i] != f)
				continue;
			out[i] = 0;
			for (size_t k = 0; k < nr; k++)
				out[i] += shares[k] * held_out[k][i];
		}
	}
}

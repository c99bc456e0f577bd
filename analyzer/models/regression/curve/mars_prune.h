/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mars_prune: the backward pass of MARS. It begins with all terms and removes, one at a time, the
 * term whose removal raises the RSS least, until only the constant is left. Then it chooses the
 * size that has the least generalized cross-validation (GCV). After each removal, the first s
 * remaining terms are one more candidate model of s terms, for every s. The best model of each
 * size is kept (Miller, Subset Selection in Regression, 2002, section 3.4; R's earth does the same
 * by the leaps package).
 *
 * With b = q r and W = inv(r), term j has the coefficient w_j.z (z = q'y), and its removal raises
 * the RSS by (w_j.z)^2 / |w_j|^2. After the removal the other rows of W lose their component along
 * w_j. This is one Gram-Schmidt step on the rows, which costs O(terms^2) and has the precision of
 * QR.
 */
#ifndef ANALYZER_REGRESSION_MARS_PRUNE_H
#define ANALYZER_REGRESSION_MARS_PRUNE_H

#include "analyzer/models/regression/curve/mars_forward.h"

struct pruned {
	size_t nr_terms; /* number of terms of the forward pass */
	double *rss;	 /* rss[s - 1] is the RSS with s terms, in units of y_scale^2 */
	uint64_t *terms; /* nr_terms sets of pruned_words() words each */
};

static inline size_t pruned_words(const struct pruned *p)
{
	return (p->nr_terms + 63) / 64;
}

/* Returns true if term j is in the model of that size. */
static inline bool pruned_has(const struct pruned *p, size_t size, size_t j)
{
	return p->terms[(size - 1) * pruned_words(p) + j / 64] >> j % 64 & 1;
}

/*
 * Prunes the first nr_terms terms of a forward pass. The cost is O(terms^3). Returns 0 or -ENOMEM.
 */
int prune(struct pruned *p, const struct forward *f, size_t nr_terms);
void pruned_release(struct pruned *p);
/* Returns the size of least GCV among 1..most; of equal ones the smallest. */
size_t prune_size(const struct pruned *p, const struct forward *f, double most);
/* Returns the GCV of a size, in units of y_scale^2. */
double prune_gcv(const struct pruned *p, const struct forward *f, size_t size);
/*
 * Computes the coefficients of the model of that size in units of y; 0 for terms that are not in
 * it.
 */
int prune_coefficients(const struct pruned *p, const struct forward *f, size_t size,
		       double *coefficients);

#endif

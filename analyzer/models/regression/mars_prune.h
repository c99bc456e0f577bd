/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mars_prune: the backward pass of MARS: from all terms down to the constant, each time without
 * the term whose loss harms least; then the size with the least generalized cross-validation.
 * Whenever a term goes, the first s terms of those left are one more model of s terms, for every s:
 * the best of each size is kept (Miller, Subset Selection in Regression, 2002, section 3.4; what R's
 * earth does by the leaps package).
 *
 * With b = q r and W = inv(r), term j has coefficient w_j.z (z = q'y) and its loss raises RSS by
 * (w_j.z)^2 / |w_j|^2. Without it the other rows of W lose their part along w_j: one Gram-Schmidt
 * step on the rows, O(terms^2), with the precision of QR.
 */
#ifndef ANALYZER_REGRESSION_MARS_PRUNE_H
#define ANALYZER_REGRESSION_MARS_PRUNE_H

#include "analyzer/models/regression/mars_forward.h"

struct pruned {
	size_t nr_terms; /* of the forward pass it began with */
	double *rss;	 /* rss[s - 1]: with s terms, in units of y_scale^2 */
	uint64_t *terms; /* nr_terms sets of pruned_words() words each */
};

static inline size_t pruned_words(const struct pruned *p)
{
	return (p->nr_terms + 63) / 64;
}

/* True where term j is in the model of that size. */
static inline bool pruned_has(const struct pruned *p, size_t size, size_t j)
{
	return p->terms[(size - 1) * pruned_words(p) + j / 64] >> j % 64 & 1;
}

/* Prunes the first nr_terms terms of a forward pass. O(terms^3). 0 or -ENOMEM. */
int prune(struct pruned *p, const struct forward *f, size_t nr_terms);
void pruned_release(struct pruned *p);
/* The size of least GCV among 1..most; the smallest of equals. */
size_t prune_size(const struct pruned *p, const struct forward *f, double most);
/* GCV of a size, in units of y_scale^2. */
double prune_gcv(const struct pruned *p, const struct forward *f, size_t size);
/* Coefficients of the model of that size in units of y; 0 for terms not in it. */
int prune_coefficients(const struct pruned *p, const struct forward *f, size_t size,
		       double *coefficients);

#endif

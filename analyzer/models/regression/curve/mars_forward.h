/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mars_forward: the forward pass of MARS (Friedman, Multivariate adaptive regression splines,
 * Annals of Statistics 19, 1991, algorithm 2), one step at a time, so that a pass can be continued
 * to become a longer one.
 *
 * Every pair (term b, variable x) is a candidate: the pair b(x - t)+ and b(t - x)+ spans the same
 * space as bx and b(x - t)+. For each candidate and each knot t, the pass keeps three inner
 * products of the part of h = b(x - t)+ that is orthogonal to the model's orthonormal basis q:
 * with itself, with y and with bx. A new basis vector q reduces each of them by its share. One
 * descending scan with running sums computes the products of q with all h of a candidate. A step
 * therefore costs O(terms x variables x rows), evaluates every candidate exactly, and repeats no
 * computation. Friedman's fast MARS (1993) saves more time by skipping candidates.
 */
#ifndef ANALYZER_REGRESSION_MARS_FORWARD_H
#define ANALYZER_REGRESSION_MARS_FORWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/models/regression/form/terms.h"
#include "analyzer/models/regression/table/design.h"

struct forward_step {
	size_t nr_terms; /* number of terms after the step */
	double gain;	 /* gain of R squared */
	double r2;	 /* R squared after the step */
};

struct forward_candidate;

struct forward {
	const struct schema *schema;
	struct design design;
	size_t n, nr_columns;
	unsigned int max_degree;
	double penalty;		 /* cost of a knot in the GCV */
	double y_mean, y_scale;	 /* y = mean + scale x (the scaled response) */
	double *root_weight;	 /* n; NULL: all 1 */
	double *y;		 /* n, scaled, times root_weight */
	double *x;		 /* nr_columns x n, each within [-1, 1] */
	double *x_mid, *x_range; /* nr_columns */
	uint32_t *order;	 /* nr_columns x n: rows by ascending x */
	size_t nr_terms, cap_terms;
	double *b;	    /* terms x n, times root_weight */
	double *q;	    /* orthonormal basis of b */
	double *r;	    /* the triangle of b = q r: packed columns, j (j + 1) / 2 + k */
	double *qy;	    /* q'y */
	struct terms terms; /* only the factors are used, not the coefficients */
	struct forward_step *steps;
	size_t nr_steps, cap_steps;
	struct forward_candidate *candidates;
	size_t nr_candidates, cap_candidates;
	double *scratch; /* 3 n */
	double rss0, rss, last_gain;
	bool done;  /* no further step is possible */
	bool queue; /* skip the parents that R's earth skips; only for comparisons with it */
};

int forward_init(struct forward *f, const struct schema *s, const struct dataset *d,
		 unsigned int max_degree);
void forward_release(struct forward *f);
/*
 * Returns in *nr_terms the size of the pass with at most nnodes terms that stops when a step
 * raises R squared by less than threshold. The pass is continued as far as necessary. Each step
 * counts as two terms, as in R's earth, even if it adds only one. Returns 0 or -ENOMEM.
 */
int forward_prefix(struct forward *f, double nnodes, double threshold, size_t *nr_terms);

#endif

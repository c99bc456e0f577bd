/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mars_forward: the forward pass of MARS (Friedman, Annals of Statistics 19, 1991, algorithm 2),
 * one step at a time, so that a longer pass is a shorter one carried on.
 *
 * Every pair (term b, variable x) is a candidate: adding b(x - t)+ and b(t - x)+ spans what bx and
 * b(x - t)+ span. For each candidate and knot t three inner products of h = b(x - t)+ with what the
 * model's orthonormal basis q leaves over are kept: with itself, with y and with bx. A new q takes
 * its share away from each; its products with all h of a candidate come from one descending scan
 * with running sums. So a step costs O(terms x variables x rows), every candidate is looked at
 * exactly, and nothing is ever computed anew: Friedman's fast MARS (1993) saves more by skipping
 * candidates, this by remembering them.
 */
#ifndef ANALYZER_REGRESSION_MARS_FORWARD_H
#define ANALYZER_REGRESSION_MARS_FORWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/models/regression/design.h"
#include "analyzer/models/regression/terms.h"

struct forward_step {
	size_t nr_terms; /* after it */
	double gain;	 /* of R2 */
	double r2;	 /* after it */
};

struct forward_candidate;

struct forward {
	const struct schema *schema;
	struct design design;
	size_t n, nr_columns;
	unsigned int max_degree;
	double penalty;		 /* GCV's charge per knot */
	double y_mean, y_scale;	 /* y = mean + scale x (what is worked on) */
	double *root_weight;	 /* n; NULL: all 1 */
	double *y;		 /* n, scaled, times root_weight */
	double *x;		 /* nr_columns x n, each within [-1, 1] */
	double *x_mid, *x_range; /* nr_columns */
	uint32_t *order;	 /* nr_columns x n: rows by ascending x */
	size_t nr_terms, cap_terms;
	double *b;	    /* terms x n, times root_weight */
	double *q;	    /* orthonormal basis of b */
	double *r;	    /* b = q r: packed columns, j (j + 1) / 2 + k */
	double *qy;	    /* q'y */
	struct terms terms; /* factors; coefficients unused */
	struct forward_step *steps;
	size_t nr_steps, cap_steps;
	struct forward_candidate *candidates;
	size_t nr_candidates, cap_candidates;
	double *scratch; /* 3 n */
	double rss0, rss, last_gain;
	bool done;  /* no step beyond the last */
	bool queue; /* pass over the parents R's earth passes over: to be held against it alone */
};

int forward_init(struct forward *f, const struct schema *s, const struct dataset *d,
		 unsigned int max_degree);
void forward_release(struct forward *f);
/*
 * Number of terms of the pass with at most nnodes terms that stops where R2 gains less than
 * threshold; carries the pass on as far as that needs. Each step counts two terms, as in R's earth,
 * even where it needs only one. 0 or -ENOMEM.
 */
int forward_prefix(struct forward *f, double nnodes, double threshold, size_t *nr_terms);

#endif

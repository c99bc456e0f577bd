/* SPDX-License-Identifier: Apache-2.0 */
/*
 * s3: Stepwise Sampling Search (Noorshams, Modeling and Prediction of I/O Performance in
 * Virtualized Environments, 2015, algorithm 2), a deterministic global search in a box of
 * parameters. It begins at the lower corner. Each iteration lays a grid over the space without
 * evaluations around each of the best points so far, and evaluates the grid.
 *
 * The points of one iteration are passed to the objective together. It may evaluate them in any
 * order and on any number of threads.
 */
#ifndef ANALYZER_REGRESSION_S3_H
#define ANALYZER_REGRESSION_S3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define S3_AXES_MAX 3

struct s3_axis {
	double low, high;
	bool whole; /* values are rounded to whole numbers */
};

struct s3_config {
	/* called zeta, eta and theta in the source */
	unsigned int splits, explorations, iterations;
	/*
	 * This member is a further stop rule: the search ends after an iteration that lowers the
	 * best cost by a smaller share. 0 means no rule.
	 */
	double improvement;
	unsigned int nr_axes;
	struct s3_axis axes[S3_AXES_MAX];
	/* cost[i] belongs to points[i * S3_AXES_MAX ..]. Returns 0 or -errno. */
	int (*evaluate)(void *ctx, const double *points, size_t nr, double *cost);
	void *ctx;
};

struct s3_point {
	double at[S3_AXES_MAX], cost;
	unsigned int iteration; /* 0 for the corner */
};

/* This struct holds all evaluated points, in the order of their evaluation. */
struct s3_result {
	struct s3_point *points; /* owned */
	size_t nr, cap;
	size_t best;
	unsigned int iterations; /* number of iterations done */
};

/*
 * Returns the largest number of evaluations of a search: 1 + ((z+2)^l - 1) + (t-1) e ((z+2)^l -
 * 2^l) (theorem 1). The theorem assumes that the corners of a later grid are already evaluated.
 * Rarely some corners are not, and a search of few explorations would exceed the bound by a few
 * points. The search leaves out these last points, so that the bound that users see holds.
 */
uint64_t s3_bound(const struct s3_config *config);
/* Returns 0, -ENOMEM, -EINVAL for an impossible configuration, or an error of evaluate. */
int s3_run(struct s3_result *r, const struct s3_config *config);
void s3_release(struct s3_result *r);

#endif

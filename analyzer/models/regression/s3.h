/* SPDX-License-Identifier: Apache-2.0 */
/*
 * s3: Stepwise Sampling Search (Noorshams, Modeling and Prediction of I/O Performance in
 * Virtualized Environments, 2015, algorithm 2): a deterministic, global search of a box of
 * parameters. From the lower corner on, each iteration lays a grid over the unevaluated space
 * around each of the best points so far, and evaluates it.
 *
 * The points of an iteration are handed to the objective together: it may work them in any order
 * and on any number of threads.
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
	unsigned int splits, explorations, iterations; /* zeta, eta, theta */
	/* Another stop rule: an iteration that lowers the best cost by a smaller share ends it; 0: none. */
	double improvement;
	unsigned int nr_axes;
	struct s3_axis axes[S3_AXES_MAX];
	/* cost[i] of points[i * S3_AXES_MAX ..]. 0 or -errno. */
	int (*evaluate)(void *ctx, const double *points, size_t nr, double *cost);
	void *ctx;
};

struct s3_point {
	double at[S3_AXES_MAX], cost;
	unsigned int iteration; /* 0: the corner */
};

/* Every point evaluated, in order. */
struct s3_result {
	struct s3_point *points; /* owned */
	size_t nr, cap;
	size_t best;
	unsigned int iterations; /* done */
};

/*
 * The most evaluations a search makes: 1 + ((z+2)^l - 1) + (t-1) e ((z+2)^l - 2^l) (theorem 1). The
 * theorem takes the corners of a later grid for evaluated; rarely some are not, and a search of
 * few explorations would exceed it by a handful: those last ones are left out, so that the bound
 * people were told holds.
 */
uint64_t s3_bound(const struct s3_config *config);
/* 0, -ENOMEM, -EINVAL for an impossible configuration, or evaluate's. */
int s3_run(struct s3_result *r, const struct s3_config *config);
void s3_release(struct s3_result *r);

#endif

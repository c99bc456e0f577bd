/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dist: distributions of times (service, think, interarrival), all at or above 0.
 *
 * Each kind is made by one function, which refuses parameters without finite moments. A dist does
 * not change afterwards and may be sampled by many threads, each with an rng and a phase of its
 * own. The phase is the state of a Markovian arrival process (0 at the start); other kinds ignore
 * it.
 */
#ifndef ANALYZER_DIST_H
#define ANALYZER_DIST_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/models/num/rng.h"
#include "base/text/err.h"

#define DIST_MAX_PHASES 64
#define DIST_MAX_POINTS 1000000

enum dist_kind {
	DIST_NONE, /* a zeroed dist, which is never sampled */
	DIST_DETERMINISTIC,
	DIST_EXPONENTIAL,
	DIST_ERLANG,
	DIST_GAMMA,
	DIST_HYPEREXPONENTIAL,
	DIST_LOGNORMAL,
	DIST_NORMAL, /* truncated: drawn again while below 0 */
	DIST_UNIFORM,
	DIST_WEIBULL,
	DIST_BETA,
	DIST_LOGARITHMIC, /* 1, 2, 3, ... */
	/* The kinds below are defined on the whole line; a value below 0 counts as 0. */
	DIST_CUT_NORMAL,
	DIST_HYPERBOLIC,
	DIST_EXPONENTIAL_POWER,
	DIST_STUDENT_T,
	DIST_VON_MISES,
	DIST_BREIT_WIGNER,
	DIST_BREIT_WIGNER_MEAN_SQUARE,
	DIST_VALUES,	/* empirical: values with weights */
	DIST_HISTOGRAM, /* empirical: uniform within each bucket */
	DIST_MAP,	/* Markovian arrival process, of which MMPP is a case */
};

struct dist {
	enum dist_kind kind;
	double a, b, c, e;     /* parameters of the kind; see dist.c and dist_line.c */
	size_t nr;	       /* branches, points, buckets or phases */
	double *x;	       /* owned; see dist.c */
	double *cumulative;    /* owned; ends at 1 */
	double mean, variance; /* of the sampled values; for a MAP in the stationary state */
};

/* Each function returns 0; or -EINVAL or -ENOMEM with what is wrong in err, and d zeroed. */
int dist_deterministic(struct dist *d, double value, struct err *err); /* above 0 */
int dist_exponential(struct dist *d, double mean, struct err *err);
int dist_erlang(struct dist *d, double nr_phases, double mean, struct err *err);
/* The mean is shape * scale. */
int dist_gamma(struct dist *d, double shape, double scale, struct err *err);
int dist_hyperexponential(struct dist *d, const double *probabilities, const double *means,
			  size_t nr, struct err *err);
/*
 * Two branches of balanced means with this squared coefficient of variation, which is at least 1.
 */
int dist_hyperexponential_fit(struct dist *d, double mean, double scv, struct err *err);
/* mu and sigma are those of the logarithm. */
int dist_lognormal(struct dist *d, double mu, double sigma, struct err *err);
/*
 * mean and sd are those before the truncation at 0. Returns an error if the truncation would cut
 * off half of the distribution.
 */
int dist_normal(struct dist *d, double mean, double sd, struct err *err);
int dist_uniform(struct dist *d, double min, double max, struct err *err);
int dist_weibull(struct dist *d, double shape, double scale, struct err *err);
/* scale times a beta variate */
int dist_beta(struct dist *d, double alpha, double beta, double scale, struct err *err);
int dist_chi_square(struct dist *d, double freedom, struct err *err);
/* P(k) = -p^k / (k ln(1 - p)), 0 < p < 1 */
int dist_logarithmic(struct dist *d, double p, struct err *err);

/*
 * The functions below are in dist_line.c, and make the distributions of QPME that reach below 0.
 * These become max(0, X), and so do their moments. A distribution is refused if X has no finite
 * variance.
 */
int dist_cut_normal(struct dist *d, double mean, double sd, struct err *err);
/* density ~ exp(-alpha sqrt(1 + x^2) + beta x), |beta| < alpha */
int dist_hyperbolic(struct dist *d, double alpha, double beta, struct err *err);
/* density ~ exp(-|x|^tau), tau >= 1 */
int dist_exponential_power(struct dist *d, double tau, struct err *err);
int dist_student_t(struct dist *d, double freedom, struct err *err); /* above 2 */
/* Makes a distribution on (-pi, pi) whose density is proportional to exp(k cos x), k > 0. */
int dist_von_mises(struct dist *d, double k, struct err *err);
/* Makes a Cauchy distribution of width gamma, of which the part within mean +- cut is used. */
int dist_breit_wigner(struct dist *d, double mean, double gamma, double cut, struct err *err);
/*
 * Makes a Breit-Wigner distribution of X^2 about mean^2, of width mean * gamma. Its part with X
 * within mean +- cut is used.
 */
int dist_breit_wigner_mean_square(struct dist *d, double mean, double gamma, double cut,
				  struct err *err);

/* Makes a distribution of nr values with weights. NULL means equal weights. */
int dist_values(struct dist *d, const double *values, const double *weights, size_t nr,
		struct err *err);
/* nr buckets: bucket i reaches from edges[i] to edges[i + 1] */
int dist_histogram(struct dist *d, const double *edges, const double *counts, size_t nr,
		   struct err *err);
/*
 * nr phases; d0 and d1 are nr x nr by rows: the rates without and with an event. The rows of d0 +
 * d1 sum to 0. O(nr^3).
 */
int dist_map(struct dist *d, const double *d0, const double *d1, size_t nr, struct err *err);

void dist_release(struct dist *d);

double dist_sample_other(const struct dist *d, struct rng *r, uint32_t *phase);
/* Samples the kinds that dist_line.c makes. */
double dist_sample_line(const struct dist *d, struct rng *r);
/*
 * Functions that make kinds call these to refuse impossible moments, and a parameter that is not
 * above 0.
 */
int dist_finish(struct dist *d, struct err *err);
int dist_expect_above_0(double value, const char *what, struct err *err);

/* Returns one value, at or above 0. O(1); O(log nr) for the empirical kinds. */
static inline double dist_sample(const struct dist *d, struct rng *r, uint32_t *phase)
{
	if (d->kind == DIST_EXPONENTIAL)
		return d->mean * rng_exponential(r);
	if (d->kind == DIST_DETERMINISTIC)
		return d->mean;
	return dist_sample_other(d, r, phase);
}

/* Returns "exponential", ... */
const char *dist_name(enum dist_kind kind);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interactive: this module computes response times of clients that think, on a storage that was
 * measured with clients that never think.
 *
 * A storage on which n clients that never think wait R(n) completes n / R(n) requests/s. Seen from
 * outside the storage is one station of that rate while n requests are under way (flow equivalence:
 * Chandy, Herzog and Woo, Parametric Analysis of Queuing Networks, 1975; exact if the storage is of
 * product form). With N clients that think Z each, j requests are under way with a probability
 * proportional to
 *	prod over i = 1..j of (N - i + 1) / Z * R(i) / i
 * (a machine repairman model with load-dependent service). A request finds the system as N - 1
 * clients leave it (arrival theorem). Therefore, if f(j) is the probability that a request is the
 * j-th under way,
 *	R = sum of f(j) R(j),	X = N / (R + Z),	in flight = X R.
 * The same formulas are used, term by term, for numbers of clients that are not whole. Beyond the
 * largest measured number of clients the throughput stays constant.
 *
 * These formulas assume exponential service times. With less variable service times a request waits
 * less, by the factor (1 + c2) / 2, where c2 is the squared coefficient of variation of the service
 * time (Allen, Cunneen; exact for an open M/G/1 queue). The smallest possible time is R(n) if n
 * never varies, with n = N R(n) / (R(n) + Z). Therefore the probabilities f get a weight that grows
 * with c2, and the constant n gets the remaining weight. If c2 is 1, only f counts.
 *
 * Deterministic, without state. The cost is linear in the number of clients.
 */
#ifndef ANALYZER_INTERACTIVE_H
#define ANALYZER_INTERACTIVE_H

#include <stddef.h>

#define INTERACTIVE_CLIENTS_MAX 65536

/* A zeroed one is empty. */
struct interactive {
	double *finds;	 /* f(1), ..., f(nr), sum 1; owned */
	size_t nr, room; /* nr: the number of clients, rounded up */
	double response_s, rate_per_s, in_flight;
	double beyond; /* probability that a request finds more clients than were measured */
};

void interactive_release(struct interactive *a);
/*
 * busy_s[j - 1] is R(j), above 0, for j up to nr_busy >= 1. scv is c2, 0 to 1. clients is at least
 * 1, think_s at least 0. May be called again with the same a. Returns 0, -ENOMEM, or -EINVAL
 * outside these ranges.
 */
int interactive_solve(struct interactive *a, const double *busy_s, size_t nr_busy, double scv,
		      double clients, double think_s);
/*
 * Solves as interactive_solve() does, for nr groups of clients by the interactive law: one think
 * time gives the sum of their rates. A group may have less than one client. The sum of clients must
 * be in range, apart from rounding.
 */
int interactive_solve_groups(struct interactive *a, const double *busy_s, size_t nr_busy,
			     double scv, const double *clients, const double *think_s, size_t nr);
/*
 * Returns the mean of a time, known for every number of busy clients, over the states that requests
 * find.
 */
double interactive_mean(const struct interactive *a, const double *time_s, size_t nr_busy);
/*
 * This struct is a gamma distribution. Beyond the largest measured number of clients the scale of a
 * time grows.
 */
struct interactive_gamma {
	double shape, scale_s;
};

/*
 * Fits for every number of busy clients the gamma distribution with that mean and p quantile, 0 < p
 * < 1. If there is none, the distribution has that quantile and the nearest possible mean.
 */
void interactive_gammas(const double *mean_s, const double *quantile_s, size_t nr_busy, double p,
			struct interactive_gamma *out);
/*
 * Returns the p quantile of the mixture over the states that requests find (exact for exponential
 * servers).
 */
double interactive_quantile(const struct interactive *a, const struct interactive_gamma *g,
			    size_t nr_busy, double p);

#endif

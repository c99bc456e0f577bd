/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interactive: clients that think, in front of a storage that was measured with clients that never do.
 *
 * A storage on which n clients that never think wait R(n) passes on n / R(n) requests/s. Seen from
 * outside it is one station of that rate while n requests are under way (flow equivalence: Chandy,
 * Herzog, Woo 1975, exact where the storage is of product form). With N clients that think Z each,
 * j requests are under way with a probability proportional to
 *	prod over i = 1..j of (N - i + 1) / Z * R(i) / i
 * (a machine repairman of as many speeds). A request finds what N - 1 clients leave behind (arrival
 * theorem), so that with f(j), the probability that it is the j-th under way,
 *	R = sum of f(j) R(j),	X = N / (R + Z),	in flight = X R.
 * All of it holds as well, by its terms, between whole numbers of clients. Past the most clients
 * that were measured the throughput stays where it was.
 *
 * That is with exponential times of service. With more regular ones a request waits less, (1 + c2) / 2 of
 * it where c2 is their squared coefficient of variation (Allen, Cunneen; exact of an open M/G/1 queue).
 * The least it could wait is R(n) where n never varies, n = N R(n) / (R(n) + Z); so that much of what
 * is found is found with f, and the rest is n. Where c2 is 1 nothing changes.
 *
 * Deterministic, without state. Linear in the number of clients.
 */
#ifndef ANALYZER_INTERACTIVE_H
#define ANALYZER_INTERACTIVE_H

#include <stddef.h>

#define INTERACTIVE_CLIENTS_MAX 65536

/* A zeroed one is empty. */
struct interactive {
	double *finds;	 /* f(1), ..., f(nr), sum 1; owned */
	size_t nr, room; /* the clients, rounded up */
	double response_s, rate_per_s, in_flight;
	double beyond; /* probability that a request is past the most that were measured */
};

void interactive_release(struct interactive *a);
/*
 * busy_s[j - 1], above 0: R(j), j up to nr_busy >= 1; scv: c2, 0 to 1. clients: at least 1; think_s: at
 * least 0. May be called again. -ENOMEM; -EINVAL outside these ranges.
 */
int interactive_solve(struct interactive *a, const double *busy_s, size_t nr_busy, double scv,
		      double clients, double think_s);
/*
 * The same for nr groups of clients, by the law: one think time that gives the sum of their rates. A
 * group may have less than one; the sum is in range where it is but for rounding.
 */
int interactive_solve_groups(struct interactive *a, const double *busy_s, size_t nr_busy,
			     double scv, const double *clients, const double *think_s, size_t nr);
/* The mean over what requests find of a time that is known for every number of busy clients. */
double interactive_mean(const struct interactive *a, const double *time_s, size_t nr_busy);
/* A gamma distribution; of a time past the most that were measured the scale grows. */
struct interactive_gamma {
	double shape, scale_s;
};

/*
 * For every number of busy clients the gamma distribution of that mean and p quantile, 0 < p < 1;
 * where there is none, of that quantile and the nearest mean.
 */
void interactive_gammas(const double *mean_s, const double *quantile_s, size_t nr_busy, double p,
			struct interactive_gamma *out);
/* The p quantile over what requests find: of the mixture (of exponential servers: exact). */
double interactive_quantile(const struct interactive *a, const struct interactive_gamma *g,
			    size_t nr_busy, double p);

#endif

// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/solve/convolution.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define NO_STATION UINT32_MAX

struct convolution {
	const struct product_form *p;
	const double *demand; /* by station, of the chain with tokens */
	size_t nr_tokens;
	double *all, *rest; /* owned: logarithms of the constants of 0 to nr_tokens tokens */
};

static uint32_t convolution_chain(const struct product_form *p)
{
	uint32_t chain = 0;

	for (uint32_t c = 1; c < p->nr_chains; c++)
		if (p->population[c] > p->population[chain])
			chain = c;
	return chain;
}

bool convolution_applies(const struct product_form *p)
{
	bool several = false;
	uint32_t nr = 0;

	for (uint32_t c = 0; c < p->nr_chains; c++)
		nr += p->population[c] > 0;
	for (uint32_t s = 0; s < p->nr_stations; s++)
		several |= p->servers[s] > 1;
	return nr == 1 && several;
}

/* Returns the logarithm of a sum of two numbers that are given by theirs. */
static double log_sum(double a, double b)
{
	double high = fmax(a, b), low = fmin(a, b);

	return low == -INFINITY ? high : high + log1p(exp(low - high));
}

/* The constants of infinite servers alone, whose demands add up to delay_s: delay_s^n / n! */
static void convolution_delays(double *g, size_t nr_tokens, double delay_s)
{
	g[0] = 0;
	for (size_t n = 1; n <= nr_tokens; n++)
		g[n] = g[n - 1] + log(delay_s) - log((double)n);
}

static void convolution_server(double *g, size_t nr_tokens, double demand_s)
{
	for (size_t n = 1; n <= nr_tokens; n++)
		g[n] = log_sum(g[n], log(demand_s) + g[n - 1]);
}

/*
 * Adds a station of k servers, whose constant of j tokens is d^j / j! below k tokens, and d / k
 * times that of one token fewer from there on. Works from the largest number of tokens downwards,
 * for which the constants of fewer tokens are still without the station; tail gets the part of k
 * tokens and more.
 */
static void convolution_servers(double *g, double *tail, size_t nr_tokens, double demand_s,
				uint32_t k)
{
	double full = k * log(demand_s) - lgamma(k + 1.0), step = log(demand_s / k);

	for (size_t n = 0; n <= nr_tokens; n++) {
		tail[n] = n ? tail[n - 1] + step : -INFINITY;
		if (n >= k)
			tail[n] = log_sum(tail[n], full + g[n - k]);
	}
	for (size_t n = nr_tokens + 1; n-- > 0;) {
		double term = 0, sum = g[n];

		for (size_t j = 1; j < k && j <= n; j++) {
			term += log(demand_s) - log((double)j);
			sum = log_sum(sum, term + g[n - j]);
		}
		g[n] = log_sum(sum, tail[n]);
	}
}

/* Fills in the constants of all stations but one. */
static int convolution_make(const struct convolution *c, double *g, uint32_t but)
{
	double *tail = calloc(c->nr_tokens + 1, sizeof(*tail)), delay_s = 0;

	if (!tail)
		return -ENOMEM;
	for (uint32_t s = 0; s < c->p->nr_stations; s++)
		delay_s += c->p->servers[s] || s == but ? 0 : c->demand[s];
	convolution_delays(g, c->nr_tokens, delay_s);
	for (uint32_t s = 0; s < c->p->nr_stations; s++) {
		uint32_t k = c->p->servers[s];

		if (!k || s == but || !(c->demand[s] > 0))
			continue;
		if (k == 1)
			convolution_server(g, c->nr_tokens, c->demand[s]);
		else
			convolution_servers(g, tail, c->nr_tokens, c->demand[s], k);
	}
	free(tail);
	return 0;
}

/* Returns the mean population of one server: an arrival sees the net with one token fewer. */
static double convolution_of_one(const struct convolution *c, uint32_t s)
{
	double population = 0;

	for (size_t n = 1; n <= c->nr_tokens; n++)
		population = exp(c->all[n - 1] - c->all[n]) * c->demand[s] * (1 + population);
	return population;
}

/* Returns the mean population of several servers, by the constants of all other stations. */
static double convolution_of_several(const struct convolution *c, uint32_t s)
{
	double term = 0, sum = 0;

	for (size_t j = 1; j <= c->nr_tokens; j++) {
		term += log(c->demand[s] / fmin((double)j, c->p->servers[s]));
		sum += (double)j * exp(term + c->rest[c->nr_tokens - j] - c->all[c->nr_tokens]);
	}
	return sum;
}

int convolution_solve(const struct product_form *p, double *throughput, double *population)
{
	uint32_t chain = convolution_chain(p);
	struct convolution c = { .p = p,
				 .demand = p->demand + (size_t)chain * p->nr_stations,
				 .nr_tokens = p->population[chain] };
	double *to = population + (size_t)chain * p->nr_stations;
	int ret = -ENOMEM;

	c.all = calloc(c.nr_tokens + 1, sizeof(*c.all));
	c.rest = calloc(c.nr_tokens + 1, sizeof(*c.rest));
	if (c.all && c.rest)
		ret = convolution_make(&c, c.all, NO_STATION);
	if (ret)
		goto out;
	throughput[chain] = exp(c.all[c.nr_tokens - 1] - c.all[c.nr_tokens]);
	for (uint32_t s = 0; s < p->nr_stations && !ret; s++) {
		if (!(c.demand[s] > 0))
			continue;
		if (p->servers[s] > 1)
			ret = convolution_make(&c, c.rest, s);
		to[s] = !p->servers[s]	     ? throughput[chain] * c.demand[s]
			: p->servers[s] == 1 ? convolution_of_one(&c, s)
					     : convolution_of_several(&c, s);
	}
out:
	free(c.all);
	free(c.rest);
	return ret;
}

// SPDX-License-Identifier: Apache-2.0
/* Clients that think, against mean value analysis of whole networks and the machine repairman. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/whatif/predict/interactive.h"
#include "tests/support/tap.h"

#define STATIONS 3
#define MOST	 60

/* Exact MVA of a closed network of single servers and one delay. */
static double mva(const double demand_s[STATIONS], int clients, double think_s)
{
	double queue[STATIONS] = { 0 }, r[STATIONS], total = 0;

	for (int n = 1; n <= clients; n++) {
		total = 0;
		for (int i = 0; i < STATIONS; i++)
			total += r[i] = demand_s[i] * (1 + queue[i]);
		for (int i = 0; i < STATIONS; i++)
			queue[i] = n / (total + think_s) * r[i];
	}
	return total;
}

static void a_network(void)
{
	static const double demand_s[STATIONS] = { 0.004, 0.003, 0.0005 };
	static const double thinks[] = { 1e-6, 0.001, 0.02, 0.1, 5 };
	struct interactive a = { 0 };
	double busy_s[MOST], worst = 0;

	for (int n = 1; n <= MOST; n++)
		busy_s[n - 1] = mva(demand_s, n, 0);
	for (size_t k = 0; k < sizeof(thinks) / sizeof(*thinks); k++)
		for (int n = 1; n <= MOST; n++) {
			double r = mva(demand_s, n, thinks[k]);

			if (interactive_solve(&a, busy_s, MOST, 1, n, thinks[k]))
				worst = INFINITY;
			worst = fmax(worst, fabs(a.response_s / r - 1));
			worst = fmax(worst, fabs(a.rate_per_s * (r + thinks[k]) / n - 1));
			worst = fmax(worst, fabs(a.in_flight / (a.rate_per_s * r) - 1));
		}
	ok(worst < 1e-11);
	ok_int(interactive_solve(&a, busy_s, MOST, 1, 40, 0), 0);
	ok_ratio(a.response_s, busy_s[39], 1e-15);
	interactive_release(&a);
}

/* One exponential server of 1 s: p(0) = 1 / sum of N! / (N - j)! / Z^j. */
static void the_repairman(void)
{
	struct interactive a = { 0 };
	double busy_s[MOST], idle = 0, term = 1, between;
	int clients = 12;

	for (int n = 1; n <= MOST; n++)
		busy_s[n - 1] = n;
	for (int j = 0; j <= clients; j++, term *= (clients - j + 1) / 8.0)
		idle += term;
	idle = 1 / idle;
	ok_int(interactive_solve(&a, busy_s, MOST, 1, clients, 8), 0);
	ok_ratio(a.rate_per_s, 1 - idle, 1e-12);
	ok_ratio(a.response_s, clients / (1 - idle) - 8, 1e-12);
	between = a.response_s;
	ok_int(interactive_solve(&a, busy_s, MOST, 1, clients + 0.5, 8), 0);
	ok(a.response_s > between);
	ok_near(a.in_flight + 8 * a.rate_per_s, clients + 0.5, 1e-12);
	between = a.response_s;
	ok_int(interactive_solve(&a, busy_s, MOST, 1, clients + 1, 8), 0);
	ok(a.response_s > between);
	interactive_release(&a);
}

/* Of j exponential services of 1 s the sum is later than t with sum over i < j of t^i e^-t / i!. */
static double erlang_tail(int j, double t)
{
	double term = exp(-t), sum = 0;

	for (int i = 0; i < j; i++) {
		sum += term;
		term *= t / (i + 1);
	}
	return sum;
}

static double erlang_quantile(int j, double p)
{
	double low = 0, high = 1000;

	for (int k = 0; k < 100; k++) {
		double mid = (low + high) / 2;

		if (erlang_tail(j, mid) > 1 - p)
			low = mid;
		else
			high = mid;
	}
	return high;
}

static void quantiles(void)
{
	static const double points[] = { 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999 };
	struct interactive a = { 0 };
	struct interactive_gamma gammas[MOST];
	double busy_s[MOST], quantile_s[MOST], worst = 0;

	for (int n = 1; n <= MOST; n++)
		busy_s[n - 1] = n;
	for (size_t k = 0; k < sizeof(points) / sizeof(*points); k++) {
		for (int n = 1; n <= MOST; n++)
			quantile_s[n - 1] = erlang_quantile(n, points[k]);
		interactive_gammas(busy_s, quantile_s, MOST, points[k], gammas);
		for (int n = 1; n <= MOST; n += 7) {
			double t, later = 0;

			if (interactive_solve(&a, busy_s, MOST, 1, n, 9))
				worst = INFINITY;
			t = interactive_quantile(&a, gammas, MOST, points[k]);
			for (size_t j = 0; j < a.nr; j++)
				later += a.finds[j] * erlang_tail((int)j + 1, t);
			worst = fmax(worst, fabs(later / (1 - points[k]) - 1));
		}
	}
	ok(worst < 0.005);
	interactive_release(&a);
}

/* Quantiles that no gamma distribution has beside such means are kept where all is one state. */
static void quantiles_of_any_shape(void)
{
	static const double ratios[] = { 0.01, 0.5, 0.99, 1, 1.01, 3, 8, 1000 };
	static const double points[] = { 0.5, 0.95, 0.9999 };
	struct interactive a = { 0 };
	struct interactive_gamma gammas[2];
	double mean_s[2] = { 1, 1 }, quantile_s[2];

	for (size_t k = 0; k < 8; k++)
		for (size_t i = 0; i < 3; i++) {
			quantile_s[0] = quantile_s[1] = ratios[k];
			ok_int(interactive_solve(&a, mean_s, 2, 1, 2, 1), 0);
			interactive_gammas(mean_s, quantile_s, 2, points[i], gammas);
			ok_ratio(interactive_quantile(&a, gammas, 2, points[i]), ratios[k], 1e-9);
		}
	interactive_release(&a);
}

/* Two groups keep the law each, and one of as many clients alike is the same as one group. */
static void groups(void)
{
	static const double demand_s[STATIONS] = { 0.004, 0.003, 0 };
	const double clients[2] = { 10, 20 }, alike[2] = { 0.05, 0.05 }, other[2] = { 0.3, 0.01 };
	struct interactive a = { 0 }, b = { 0 };
	double busy_s[MOST];

	for (int n = 1; n <= MOST; n++)
		busy_s[n - 1] = mva(demand_s, n, 0);
	ok_int(interactive_solve_groups(&a, busy_s, MOST, 1, clients, alike, 2), 0);
	ok_int(interactive_solve(&b, busy_s, MOST, 1, 30, 0.05), 0);
	ok_ratio(a.response_s, b.response_s, 1e-12);
	ok_int(interactive_solve_groups(&a, busy_s, MOST, 1, clients, other, 2), 0);
	ok_ratio(a.rate_per_s, 10 / (a.response_s + 0.3) + 20 / (a.response_s + 0.01), 1e-9);
	for (int n = 2; n <= 200; n++) { /* a load's clients by as much: one, but for rounding */
		const double shares[2] = { 1.0 / n * (n - 1), 1.0 / n };

		ok_int(interactive_solve_groups(&a, busy_s, MOST, 1, shares, alike, 2), 0);
		ok_ratio(a.response_s, busy_s[0], 1e-12);
	}
	ok_int(interactive_solve_groups(&a, busy_s, MOST, 1, (const double[]){ 0.4, 0.5 }, alike,
					2),
	       -EINVAL);
	interactive_release(&a);
	interactive_release(&b);
}

/* Mean response time of clients that think exponentially at one server of 1 s, simulated. */
static double simulate(int clients, double think_s, struct rng *rng)
{
	enum { ROUNDS = 200000 };
	double asks[64], free_s = 0, sum = 0;

	for (int i = 0; i < clients; i++)
		asks[i] = -think_s * log1p(-rng_uniform(rng));
	for (int k = 0; k < ROUNDS; k++) {
		int next = 0;

		for (int i = 1; i < clients; i++)
			next = asks[i] < asks[next] ? i : next;
		free_s = fmax(free_s, asks[next]) + 1; /* first come, first served */
		sum += free_s - asks[next];
		asks[next] = free_s - think_s * log1p(-rng_uniform(rng));
	}
	return sum / ROUNDS;
}

static void constant_service(void)
{
	struct interactive a = { 0 };
	struct rng rng;
	double busy_s[MOST], worst = 0, exponential = 0;

	rng_seed(&rng, 1);
	for (int n = 1; n <= MOST; n++)
		busy_s[n - 1] = n;
	for (int n = 2; n <= 26; n += 3) {
		double r = simulate(n, 12, &rng);

		if (interactive_solve(&a, busy_s, MOST, 0, n, 12))
			worst = INFINITY;
		worst = fmax(worst, fabs(a.response_s / r - 1));
		ok_ratio(a.rate_per_s * (a.response_s + 12), n, 1e-12);
		if (interactive_solve(&a, busy_s, MOST, 1, n, 12))
			worst = INFINITY;
		exponential = fmax(exponential, fabs(a.response_s / r - 1));
	}
	ok(worst < 0.13); /* 0.117 at 11 clients */
	ok(exponential > 0.2);
	ok_int(interactive_solve(&a, busy_s, MOST, 1.1, 2, 1), -EINVAL);
	ok_int(interactive_solve(&a, busy_s, MOST, -0.1, 2, 1), -EINVAL);
	interactive_release(&a);
}

static void past_what_was_measured(void)
{
	const double busy_s[2] = { 1, 2 };
	struct interactive a = { 0 };

	ok_int(interactive_solve(&a, busy_s, 2, 1, 10, 1e-3), 0);
	ok_near(a.response_s, 10, 0.01);
	ok(a.beyond > 0.999);
	ok_int(interactive_solve(&a, busy_s, 2, 1, 10, 1e4), 0);
	ok(a.beyond < 1e-5);
	ok_int(interactive_solve(&a, busy_s, 0, 1, 10, 1), -EINVAL);
	ok_int(interactive_solve(&a, busy_s, 2, 1, 0.5, 1), -EINVAL);
	ok_int(interactive_solve(&a, busy_s, 2, 1, 2, -1), -EINVAL);
	ok_int(interactive_solve(&a, busy_s, 2, 1, NAN, 1), -EINVAL);
	ok_int(interactive_solve(&a, (const double[]){ 1, 0 }, 2, 1, 2, 1), -EINVAL);
	interactive_release(&a);
}

static const struct tap_test tests[] = {
	{ "one station of the rates of busy clients stands for a network (Norton)", a_network },
	{ "an exponential server is the machine repairman's", the_repairman },
	{ "quantiles of an exponential server", quantiles },
	{ "quantiles of any shape", quantiles_of_any_shape },
	{ "groups of clients that think differently", groups },
	{ "constant service waits half as long", constant_service },
	{ "past what was measured the throughput stays", past_what_was_measured },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}

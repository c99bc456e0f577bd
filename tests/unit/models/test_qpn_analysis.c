// SPDX-License-Identifier: Apache-2.0
/* Bounds around exact answers; transients against closed forms. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/models/solve/bounds.h"
#include "analyzer/models/solve/transient.h"
#include "tests/support/tap.h"

static struct err err;

static struct net *parse(const char *text)
{
	struct net *n = NULL;

	err = (struct err){ 0 };
	if (net_parse(&n, "t.yaml", text, NULL, 0, &err))
		tap_note("%s", err.line);
	return n;
}

static void cycle_text(char *text, size_t size, unsigned tokens, const double d[3], double z,
		       unsigned servers)
{
	snprintf(
		text, size,
		"colours: [c]\n"
		"places:\n"
		"  z: {queue: is, tokens: {c: %u}, service: {c: {exponential: {mean: %g}}}}\n"
		"  a: {queue: ps, service: {c: {exponential: {mean: %g}}}}\n"
		"  b: {queue: fcfs, service: {c: {exponential: {mean: %g}}}}\n"
		"  d: {queue: {strategy: fcfs, servers: %u}, service: {c: {exponential: {mean: %g}}}}\n"
		"transitions:\n"
		"  1: {take: {z: c}, put: {a: c}}\n"
		"  2: {take: {a: c}, put: {b: c}}\n"
		"  3: {take: {b: c}, put: {d: c}}\n"
		"  4: {take: {d: c}, put: {z: c}}\n",
		tokens, z, d[0], d[1], servers, d[2]);
}

static void scale(struct bound *b, double visits)
{
	b->low *= visits;
	b->high *= visits;
}

/* The exact answer and its bounds of the first slot; false where the net does not parse. */
static bool bound(const char *text, double *exact, struct chain_bounds *b)
{
	struct net *n = parse(text);
	struct product_form p = { 0 };
	struct estimate e;
	bool is_exact;

	if (!ok(n != NULL))
		return false;
	ok(!product_form_make(&p, n, &err));
	ok_eq(p.nr_chains, 1);
	bounds_make(b, &p);
	ok(!mva_solve(&e, &is_exact, n, false, &err));
	ok(is_exact);
	*exact = e.slots[0].throughput.mean;
	scale(&b->asymptotic, p.visits[0]);
	scale(&b->balanced, p.visits[0]);
	estimate_release(&e);
	product_form_release(&p);
	net_free(n);
	return true;
}

static void around_mva(void)
{
	const double demands[][3] = { { .125, .3, .2 }, { 1, 1, 1 }, { 5, .1, .2 } };

	for (size_t i = 0; i < TAP_NR(demands); i++) {
		for (unsigned tokens = 1; tokens <= 64; tokens *= 4) {
			for (double z = 0.01; z < 100; z *= 30) {
				struct chain_bounds b;
				char text[1000];
				double x;

				cycle_text(text, sizeof(text), tokens, demands[i], z, 1);
				if (!bound(text, &x, &b))
					return;
				ok(b.asymptotic.low <= x * (1 + 1e-9));
				ok(x <= b.asymptotic.high * (1 + 1e-9));
				ok(b.balanced.low <= x * (1 + 1e-9));
				ok(x <= b.balanced.high * (1 + 1e-9));
				ok(b.balanced.low >= b.asymptotic.low * (1 - 1e-9));
				ok(b.balanced.high <= b.asymptotic.high * (1 + 1e-9));
			}
		}
	}
}

static void tight(void)
{
	const double equal[] = { 2, 2, 2 };
	struct chain_bounds b;
	char text[1000];
	double x;

	/*
	 * One token waits for nobody; a balanced net without thinking (nearly) meets both bounds.
	 */
	cycle_text(text, sizeof(text), 1, equal, 3, 1);
	if (!bound(text, &x, &b))
		return;
	ok_ratio(x, 1.0 / 9, 1e-9);
	ok_ratio(b.asymptotic.high, x, 1e-9);
	ok_ratio(b.balanced.low, x, 1e-9);
	cycle_text(text, sizeof(text), 7, equal, 1e-9, 1);
	if (!bound(text, &x, &b))
		return;
	ok_ratio(x, 7.0 / (2 * (3 + 6)), 1e-6);
	ok_ratio(b.balanced.low, x, 1e-6);
	ok_ratio(b.balanced.high, x, 1e-6);
	/* Two servers: only the asymptotic ones. */
	cycle_text(text, sizeof(text), 7, (double[]){ 1, 1, 4 }, 1, 2);
	if (!bound(text, &x, &b))
		return;
	ok_near(b.asymptotic.high, 0.5, 1e-9);
	ok(b.balanced.low == b.asymptotic.low && b.balanced.high == b.asymptotic.high);
	ok(b.asymptotic.low <= x && x <= b.asymptotic.high);
}

static const char filling[] = "colours: [c]\n"
			      "places: {q: {queue: is, service: {c: {exponential: {mean: 2}}}}}\n"
			      "transitions: {in: {time: {exponential: {rate: 10}}, put: {q: c}}, "
			      "out: {take: {q: c}}}\n";

/* M/M/infinity from empty: L(t) = rho (1 - exp(-mu t)), averaged over each interval. */
static void fills(void)
{
	struct transient_options o = {
		.model_time = 10, .nr_points = 10, .nr_replications = 400, .seed = 3
	};
	struct net *n = parse(filling);
	struct transient t;

	if (!ok(n && !transient_run(&t, n, &o, &err)))
		return;
	for (int p = 0; p < 10; p++) {
		struct interval v = t.points[p].population, x = t.points[p].throughput;
		double kept = 2 * (exp(-p / 2.0) - exp(-(p + 1) / 2.0));

		ok_near(v.mean, 20 * (1 - kept), 0.8 * (v.high - v.low));
		ok_near((v.high - v.low) / 2, 0, 0.6);
		/* What left is what came less what stayed. */
		ok_near(x.mean, 10 * (1 - kept), 0.8 * (x.high - x.low));
	}
	transient_release(&t);
	net_free(n);
}

static void threads(void)
{
	struct transient_options o = {
		.model_time = 5, .nr_points = 3, .nr_replications = 7, .seed = 3, .nr_threads = 1
	};
	struct net *n = parse(filling);
	struct transient a, b;

	if (!ok(n && !transient_run(&a, n, &o, &err)))
		return;
	o.nr_threads = 3;
	if (!ok(!transient_run(&b, n, &o, &err)))
		return;
	ok(!memcmp(a.points, b.points, 3 * sizeof(*a.points)));
	ok_eq(a.events, b.events);
	transient_release(&a);
	transient_release(&b);
	net_free(n);
}

static void fails(void)
{
	struct transient_options o = { .model_time = 5, .nr_points = 3, .nr_replications = 3 };
	struct net *n =
		parse("colours: [c]\n"
		      "places: {q: {queue: is, tokens: {c: 1}, service: {c: {deterministic: "
		      "{value: 1}}}}, p: {colours: [c]}}\n"
		      "transitions: {x: {take: {q: c}, put: {p: c}}}\n");
	struct transient t;

	if (!ok(n != NULL))
		return;
	ok(transient_run(&t, n, &o, &err) < 0);
	ok(err.line[0]);
	transient_release(&t);
	net_free(n);
}

static const struct tap_test tests[] = {
	{ "bounds hold the exact throughput", around_mva },
	{ "bounds are met where they are tight", tight },
	{ "a transient of infinite servers fills as its closed form", fills },
	{ "a transient is the same for any number of threads", threads },
	{ "a net that stops is named", fails },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}

// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/models/solve/mva.h"
#include "analyzer/models/net/qpe_import.h"
#include "tests/support/tap.h"

static struct err err;

static bool solve(struct estimate *e, const char *text, bool approximate, bool *exact)
{
	struct net *n;
	int error;

	err = (struct err){ 0 };
	if (net_parse(&n, "t.yaml", text, NULL, 0, &err)) {
		tap_note("%s", err.line);
		return ok(false);
	}
	error = mva_solve(e, exact, n, approximate, &err);
	net_free(n);
	return !error;
}

static const char one_class[] =
	"colours: [c]\n"
	"places:\n"
	"  z: {queue: is, tokens: {c: 20}, service: {c: {erlang: {k: 3, mean: 4}}}}\n"
	"  a: {queue: ps, service: {c: {gamma: {mean: .125, sd: 1}}}}\n"
	"  b: {queue: fcfs, service: {c: {exponential: {mean: .3}}}}\n"
	"  d: {queue: random, service: {c: {exponential: {mean: .2}}}}\n"
	"transitions:\n"
	"  1: {take: {z: c}, put: {a: c}}\n"
	"  2: {take: {a: c}, put: {b: c}}\n"
	"  3: {take: {b: c}, put: {d: c}}\n"
	"  4: {take: {d: c}, put: {z: c}}\n";

static void single_class(void)
{
	struct estimate e;
	bool exact;

	if (!ok(solve(&e, one_class, false, &exact)))
		return;
	ok(exact);
	ok_ratio(e.slots[0].throughput.mean, 3.12751041, 1e-8);
	ok_ratio(e.slots[1].population.mean, 0.62794417, 1e-7);
	ok_ratio(e.slots[2].population.mean, 5.3349672, 1e-7);
	ok_ratio(e.slots[3].population.mean, 1.52704699, 1e-7);
	ok_ratio(e.slots[2].utilization, 3.12751041 * 0.3, 1e-8);
	estimate_release(&e);
}

static void two_classes(void)
{
	struct estimate e;
	bool exact;

	if (!ok(solve(
		    &e,
		    "colours: [a, b]\n"
		    "places:\n"
		    "  cpu: {queue: ps, tokens: {a: 3, b: 2},\n"
		    "        service: {a: {exponential: {mean: 1}}, b: {exponential: {mean: .5}}}}\n"
		    "  disk: {queue: ps,\n"
		    "         service: {a: {exponential: {mean: 2}}, b: {exponential: {mean: 1}}}}\n"
		    "transitions:\n"
		    "  x: {modes: {a: {take: {cpu: a}, put: {disk: a}},\n"
		    "              b: {take: {cpu: b}, put: {disk: b}}}}\n"
		    "  y: {modes: {a: {take: {disk: a}, put: {cpu: a}},\n"
		    "              b: {take: {disk: b}, put: {cpu: b}}}}\n",
		    false, &exact)))
		return;
	ok_ratio(e.slots[0].throughput.mean, 0.2952380952, 1e-9);
	ok_ratio(e.slots[1].throughput.mean, 0.3936507937, 1e-9);
	ok_ratio(e.slots[0].population.mean + e.slots[1].population.mean, 0.9047619048, 1e-9);
	estimate_release(&e);
}

/*
 * Machine repair: 4 machines, mean life 10, 2 repairers of mean 3, by its birth-death chain.
 * p(n) of n broken: products of (4 - n + 1) / 10 over min(n, 2) / 3.
 */
static void several_servers(void)
{
	double p[5] = { 1 }, sum = 1, broken = 0;
	struct estimate e;
	bool exact;

	for (int n = 1; n <= 4; n++) {
		p[n] = p[n - 1] * ((5 - n) / 10.0) / ((n < 2 ? n : 2) / 3.0);
		sum += p[n];
	}
	for (int n = 1; n <= 4; n++)
		broken += n * p[n] / sum;
	if (!ok(solve(
		    &e,
		    "colours: [c]\n"
		    "places:\n"
		    "  up: {queue: is, tokens: {c: 4}, service: {c: {exponential: {mean: 10}}}}\n"
		    "  down: {queue: {strategy: fcfs, servers: 2},\n"
		    "         service: {c: {exponential: {mean: 3}}}}\n"
		    "transitions: {x: {take: {up: c}, put: {down: c}}, y: {take: {down: c}, put: {up: c}}}\n",
		    false, &exact)))
		return;
	ok_ratio(e.slots[1].population.mean, broken, 1e-12);
	estimate_release(&e);
}

/* The same with 400 machines and 5 repairers, near saturation; by rational numbers. */
static void several_servers_near_saturation(void)
{
	struct estimate e;
	bool exact;

	if (!ok(solve(
		    &e,
		    "colours: [c]\n"
		    "places:\n"
		    "  up: {queue: is, tokens: {c: 400}, service: {c: {exponential: {mean: 86.55459544056046}}}}\n"
		    "  down: {queue: {strategy: fcfs, servers: 5}, service: {c: {exponential: {mean: 1}}}}\n"
		    "transitions: {x: {take: {up: c}, put: {down: c}}, y: {take: {down: c}, put: {up: c}}}\n",
		    false, &exact)))
		return;
	ok(exact);
	ok_ratio(e.slots[1].population.mean, 10.182478297135795, 1e-11);
	ok_ratio(e.slots[1].throughput.mean, 4.503718372418056, 1e-11);
	estimate_release(&e);
}

static void changing_colours(void)
{
	struct estimate e;
	bool exact;

	/* A token is a, then b, alternately: one chain; D = 1 + 2 at one queue, Z = 3, N = 2. */
	if (!ok(solve(
		    &e,
		    "colours: [a, b]\n"
		    "places:\n"
		    "  z: {queue: is, tokens: {a: 2}, service: {a: {exponential: {mean: 3}}}}\n"
		    "  q: {queue: ps, service: {a: {exponential: {mean: 1}}, b: {exponential: {mean: 2}}}}\n"
		    "transitions:\n"
		    "  1: {take: {z: a}, put: {q: a}}\n"
		    "  2: {take: {q: a}, put: {q: b}}\n"
		    "  3: {take: {q: b}, put: {z: a}}\n",
		    false, &exact)))
		return;
	/* N = 1: R = 3, L = 1/2. N = 2: R = 3 * 1.5 = 4.5, X = 2 / 7.5. */
	ok_ratio(e.slots[0].throughput.mean, 2 / 7.5, 1e-12);
	ok_ratio(e.slots[1].residence.mean.mean, 1.5, 1e-12);
	ok_ratio(e.slots[2].residence.mean.mean, 3, 1e-12);
	estimate_release(&e);
}

static void approximates(void)
{
	struct estimate e;
	bool exact;

	if (!ok(solve(&e, one_class, true, &exact)))
		return;
	ok(!exact);
	/* 4.4 % here: mva.h says what is to be expected. */
	ok_ratio(e.slots[0].throughput.mean, 3.12751041, 0.05);
	estimate_release(&e);
}

static void pepsy(void)
{
	const char *dir = tap_data_dir();
	struct estimate e;
	char path[4096];
	struct net *n;
	bool exact;

	if (!dir)
		tap_skip("data", "no folder of data");
	snprintf(path, sizeof(path), "%s/qpe/pepsy-bcmp2.qpe", dir);
	if (!ok(!qpe_import(&n, path, NULL, 0, &err)) ||
	    !ok(!mva_solve(&e, &exact, n, false, &err)))
		return;
	/* By rational convolution, ten digits. */
	ok_ratio(e.slots[0].throughput.mean, 6.204338167e-4, 1e-9);
	ok_ratio(e.slots[1].throughput.mean, 7.338951032e-4, 1e-9);
	ok_ratio(e.slots[2].residence.mean.mean, 476.7228, 2e-7);
	ok_ratio(e.slots[3].residence.mean.mean, 588.7912, 2e-7);
	ok_ratio(e.slots[7].residence.mean.mean, 513.6318, 2e-7);
	ok_ratio(e.slots[8].residence.mean.mean, 40856.80, 2e-7);
	ok_near(e.slots[8].utilization + e.slots[9].utilization, 0.902886, 1e-6);
	estimate_release(&e);
	net_free(n);
}

/* Two equal servers; a transition of a higher priority keeps all tokens from the third place. */
static void follows_priorities(void)
{
	struct estimate e;
	bool exact;

	if (!ok(solve(
		    &e,
		    "colours: [c]\nplaces:\n"
		    "  cpu: {queue: fcfs, tokens: {c: 3}, service: {c: {exponential: {mean: 1}}}}\n"
		    "  a: {queue: fcfs, service: {c: {exponential: {mean: 1}}}}\n"
		    "  b: {queue: fcfs, service: {c: {exponential: {mean: 5}}}}\n"
		    "transitions:\n"
		    "  a: {priority: 2, take: {cpu: c}, put: {a: c}}\n"
		    "  b: {priority: 1, take: {cpu: c}, put: {b: c}}\n"
		    "  back: {modes: {a: {take: {a: c}, put: {cpu: c}}, b: {take: {b: c}, put: {cpu: c}}}}\n",
		    false, &exact)))
		return;
	ok(exact);
	ok_ratio(e.slots[0].throughput.mean, 0.75, 1e-9);
	ok_ratio(e.slots[1].population.mean, 1.5, 1e-9);
	ok_eq(e.slots[2].throughput.mean > 0, 0);
	ok_eq(signbit(e.slots[2].throughput.mean), 0);
	estimate_release(&e);
}

static void refuses(void)
{
	static const char *const cases[][2] = {
		{ "colours: [c]\nplaces: {q: {queue: fcfs, service: {c: {exponential: {mean: 1}}}}}\n"
		  "transitions: {in: {time: {exponential: {rate: 1}}, put: {q: c}}}\n",
		  "t.yaml:3: not product-form: transition \"in\" at place \"q\": it takes time" },
		{ "colours: [c]\nplaces:\n  q: {queue: fcfs, tokens: {c: 1}, service: {c: {gamma: {mean: 1, sd: 2}}}}\n"
		  "transitions: {t: {take: {q: c}, put: {q: c}}}\n",
		  "t.yaml:3: not product-form: place \"q\": first come, first served needs "
		  "exponential service" },
		{ "colours: [a, b]\nplaces:\n  q: {queue: fcfs, tokens: {a: 1},\n"
		  "      service: {a: {exponential: {mean: 1}}, b: {exponential: {mean: 2}}}}\n"
		  "transitions: {t: {take: {q: a}, put: {q: b}}, u: {take: {q: b}, put: {q: a}}}\n",
		  "t.yaml:3: not product-form: place \"q\": first come, first served needs the same "
		  "mean service time for all colours" },
		{ "colours: [c]\nplaces:\n  q: {queue: priority, tokens: {c: 1}, service: {c: {exponential: {mean: 1}}}}\n"
		  "transitions: {t: {take: {q: c}, put: {q: c}}}\n",
		  "t.yaml:3: not product-form: place \"q\": its queue has priorities" },
		{ "colours: [c]\nplaces:\n  q: {queue: ps, tokens: {c: 1}, service: {c: {exponential: {mean: 1}}}}\n"
		  "  r: {colours: [c]}\ntransitions: {t: {take: {q: c}, put: {r: c}}}\n",
		  "t.yaml:4: not product-form: place \"r\": its tokens never leave it" },
		{ "colours: [c]\nplaces:\n  q: {queue: ps, tokens: {c: 1}, service: {c: {mmpp: {rates: [10, 1],\n"
		  "      switching: [[0, 1], [1, 0]]}}}}\ntransitions: {t: {take: {q: c}, put: {q: c}}}\n",
		  "t.yaml:3: not product-form: place \"q\": its service times depend on each other "
		  "(map or mmpp)" },
		/* shares of 0.3 and 0.7, of which no rounded equation is singular */
		{ "colours: [c]\nplaces:\n  s: {queue: fcfs, tokens: {c: 2}, service: {c: {exponential: {mean: 1}}}}\n"
		  "  a: {queue: fcfs, service: {c: {exponential: {mean: 1}}}}\n"
		  "  b: {queue: fcfs, service: {c: {exponential: {mean: 2}}}}\n"
		  "transitions:\n  s: {modes: {a: {weight: 0.3, take: {s: c}, put: {a: c}},\n"
		  "              b: {weight: 0.7, take: {s: c}, put: {b: c}}}}\n"
		  "  a: {take: {a: c}, put: {a: c}}\n  b: {take: {b: c}, put: {b: c}}\n",
		  "t.yaml: not product-form: tokens can end in more than one cycle of places" },
	};
	struct estimate e;
	bool exact;

	for (size_t i = 0; i < TAP_NR(cases); i++) {
		ok(!solve(&e, cases[i][0], false, &exact));
		ok_str(err.line, cases[i][1]);
	}
}

static const struct tap_test tests[] = {
	{ "one class is exact", single_class },
	{ "two classes are exact", two_classes },
	{ "several servers follow the birth-death chain", several_servers },
	{ "also near saturation", several_servers_near_saturation },
	{ "colours that change are one chain", changing_colours },
	{ "the approximation is within its error and says what it is", approximates },
	{ "pepsy-bcmp2 is met to ten digits", pepsy },
	{ "a transition of a higher priority takes all tokens", follows_priorities },
	{ "what is not product-form is refused with the place", refuses },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}

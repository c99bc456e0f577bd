// SPDX-License-Identifier: Apache-2.0
/*
 * The simulator against closed forms. Runs are of fixed length and seed, so that nothing here is a
 * matter of luck twice; the tolerance is 1.5 times the 95 % interval, which one estimate in 300
 * would miss at a seed not looked at before. tests/bench/bench_qpn.c measures the coverage itself.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/models/net/net.h"
#include "analyzer/models/solve/solve.h"
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

/* Solves for the time; false with a note where it cannot. */
static bool solve(struct solution *s, const char *text, double time)
{
	struct solve_options o = SOLVE_DEFAULTS;
	struct net *n = parse(text);
	bool good;

	o.model_time = time;
	good = n && !solve_net(s, n, &o, &err);
	if (!good)
		tap_note("%s", err.line);
	ok(good);
	net_free(n);
	return good;
}

/* Within 1.5 half-widths, and the interval itself no wider than `width`, relative. */
static void holds(struct interval v, double want, double width)
{
	double half = (v.high - v.low) / 2;

	ok_near(v.mean, want, 1.5 * half);
	ok_near(half / want, 0, width);
}

static void open_queue(const char *queue, const char *service, double rate, double wait,
		       double width)
{
	struct solution s;
	char text[1000];

	snprintf(text, sizeof(text),
		 "colours: [c]\n"
		 "places: {q: {queue: %s, service: {c: %s}}}\n"
		 "transitions:\n"
		 "  in: {time: {exponential: {rate: %g}}, put: {q: c}}\n"
		 "  out: {take: {q: c}}\n",
		 queue, service, rate);
	if (!solve(&s, text, 2e6))
		return;
	holds(s.estimate.slots[0].residence.mean, wait, width);
	holds(s.estimate.slots[0].population, wait * rate, width);
	holds(s.estimate.slots[0].throughput, rate, width);
	solution_release(&s);
}

static void mm1(void)
{
	struct solution s;

	open_queue("fcfs", "{exponential: {mean: 1}}", 0.8, 5, 0.03);
	open_queue("random", "{exponential: {mean: 1}}", 0.8, 5, 0.03);
	if (!solve(&s,
		   "colours: [c]\nplaces: {q: {queue: fcfs, service: {c: {exponential: {mean: 1}}}}}\n"
		   "transitions: {in: {time: {exponential: {rate: 0.8}}, put: {q: c}}, "
		   "out: {take: {q: c}}}\n",
		   2e6))
		return;
	/* The sojourn is exponential of mean 5. */
	holds(s.estimate.slots[0].residence.p50, 3.465736, 0.03);
	holds(s.estimate.slots[0].residence.p95, 14.978661, 0.03);
	holds(s.estimate.slots[0].residence.p99, 23.025851, 0.04);
	ok_near(s.estimate.slots[0].utilization, 0.8, 0.005);
	solution_release(&s);
}

static void mmk(void)
{
	open_queue("{strategy: fcfs, servers: 2}", "{exponential: {mean: 1}}", 1.6, 2.77777778,
		   0.03);
	open_queue("{strategy: fcfs, servers: 3}", "{exponential: {mean: 1}}", 2, 13.0 / 9, 0.02);
	open_queue("{strategy: fcfs, servers: 10}", "{exponential: {mean: 1}}", 8, 1.20458995,
		   0.02);
	open_queue("is", "{gamma: {mean: 3, sd: 6}}", 1, 3, 0.02);
}

static void mg1(void)
{
	open_queue("fcfs", "{deterministic: {value: 1}}", 0.8, 3, 0.02);
	open_queue("fcfs", "{erlang: {k: 2, mean: 1}}", 0.8, 4, 0.02);
	open_queue("fcfs", "{uniform: {min: 0, max: 2}}", 0.8, 11.0 / 3, 0.02);
	open_queue("fcfs", "{hyperexponential: {mean: 1, scv: 4}}", 0.8, 11, 0.06);
}

/*
 * Arrivals of two Poisson rates, 2 and 0.1, that last 20 and 50 on average: rate 9 / 14, and
 * 33.2656 in the system of an exponential server of load 0.7, by the matrix-geometric solution
 * (test_mmpp2.c).
 */
static void mmpp2_m1(void)
{
	struct solution s;

	if (!solve(&s,
		   "colours: [c]\nplaces: {q: {queue: fcfs, service: {c: {exponential: {mean: "
		   "1.0888888889}}}}}\n"
		   "transitions: {in: {time: {mmpp: {rates: [2, 0.1], switching: [[0, 0.05], [0.02, 0]]}}, "
		   "put: {q: c}}, out: {take: {q: c}}}\n",
		   3e6))
		return;
	holds(s.estimate.slots[0].throughput, 9.0 / 14, 0.01);
	holds(s.estimate.slots[0].population, 33.2656, 0.05);
	ok_near(s.estimate.slots[0].utilization, 0.7, 0.005);
	solution_release(&s);
}

static void ps_is_insensitive(void)
{
	open_queue("ps", "{exponential: {mean: 1}}", 0.8, 5, 0.03);
	open_queue("ps", "{deterministic: {value: 1}}", 0.8, 5, 0.03);
	open_queue("ps", "{hyperexponential: {mean: 1, scv: 4}}", 0.8, 5, 0.03);
	/* Two servers shared: M/M/2 whatever the law. */
	open_queue("{strategy: ps, servers: 2}", "{erlang: {k: 3, mean: 1}}", 1.6, 2.77777778,
		   0.03);
}

static void closed_machine_repair(void)
{
	struct solution s;

	/* Exact MVA: D = .4, .25, Z = 0, N = 10; and D = (5, 4, 3), Z = 15, N = 3. */
	if (solve(&s,
		  "colours: [c]\n"
		  "places:\n"
		  "  a: {queue: fcfs, tokens: {c: 10}, service: {c: {exponential: {mean: .4}}}}\n"
		  "  b: {queue: ps, service: {c: {exponential: {mean: .25}}}}\n"
		  "transitions: {x: {take: {a: c}, put: {b: c}}, y: {take: {b: c}, put: {a: c}}}\n",
		  1e5)) {
		holds(s.estimate.slots[0].throughput, 2.49142474, 0.02);
		solution_release(&s);
	}
	if (solve(&s,
		  "colours: [c]\n"
		  "places:\n"
		  "  z: {queue: is, tokens: {c: 3}, service: {c: {erlang: {k: 2, mean: 15}}}}\n"
		  "  a: {queue: fcfs, service: {c: {exponential: {mean: 5}}}}\n"
		  "  b: {queue: ps, service: {c: {gamma: {mean: 4, sd: 8}}}}\n"
		  "  d: {queue: fcfs, service: {c: {exponential: {mean: 3}}}}\n"
		  "transitions:\n"
		  "  1: {take: {z: c}, put: {a: c}}\n"
		  "  2: {take: {a: c}, put: {b: c}}\n"
		  "  3: {take: {b: c}, put: {d: c}}\n"
		  "  4: {take: {d: c}, put: {z: c}}\n"
		  "probes: {r: {from: {enter: a}, to: {leave: d}, colour: c}}\n",
		  3e6)) {
		holds(s.estimate.slots[0].throughput, 0.09671012, 0.02);
		holds(s.estimate.probes[0].time.mean, 16.02053915, 0.02);
		solution_release(&s);
	}
}

static void two_classes(void)
{
	struct solution s;

	if (!solve(&s,
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
		   1e6))
		return;
	holds(s.estimate.slots[0].throughput, 0.2952380952, 0.02);
	holds(s.estimate.slots[1].throughput, 0.3936507937, 0.02);
	ok_near(s.estimate.slots[0].population.mean + s.estimate.slots[1].population.mean,
		0.9047619048, 0.02);
	solution_release(&s);
}

/* Cobham: two classes, rates .3 and .4, exponential services of mean 1; class a first. */
static void priorities(void)
{
	static const char text[] =
		"colours: [a, b]\n"
		"places: {q: {queue: %s, priority: {a: 2, b: 1},\n"
		"  service: {a: {exponential: {mean: 1}}, b: {exponential: {mean: 1}}}}}\n"
		"transitions:\n"
		"  ia: {time: {exponential: {rate: .3}}, put: {q: a}}\n"
		"  ib: {time: {exponential: {rate: .4}}, put: {q: b}}\n"
		"  out: {modes: {a: {take: {q: a}}, b: {take: {q: b}}}}\n";
	char net[1000];
	struct solution s;

	snprintf(net, sizeof(net), text, "priority");
	if (solve(&s, net, 2e6)) {
		/* W0 = .7: waits .7/.7 = 1 and .7/(.7 * .3) = 10/3. */
		holds(s.estimate.slots[0].residence.mean, 2, 0.03);
		holds(s.estimate.slots[1].residence.mean, 13.0 / 3, 0.03);
		solution_release(&s);
	}
	snprintf(net, sizeof(net), text, "preemptive");
	if (solve(&s, net, 2e6)) {
		/* Class a alone: 1/(1 - .3); class b: 1/.7 + .7/(.7 * .3). */
		holds(s.estimate.slots[0].residence.mean, 1 / 0.7, 0.03);
		holds(s.estimate.slots[1].residence.mean, 1 / 0.7 + 0.7 / 0.21, 0.03);
		solution_release(&s);
	}
}

static void weighted_modes(void)
{
	struct solution s;

	/* Transitions 1 : 3 by weight, modes of the second 1 : 4; and a pool of 2 that gates it. */
	if (!solve(&s,
		   "colours: [c, d, e, permit]\n"
		   "places:\n"
		   "  z: {queue: is, tokens: {c: 5}, service: {c: {exponential: {mean: 1}}}}\n"
		   "  pool: {tokens: {permit: 2}}\n"
		   "  q: {queue: fcfs, service: {c: {exponential: {mean: .1}},\n"
		   "      d: {exponential: {mean: .1}}, e: {exponential: {mean: .1}}}}\n"
		   "transitions:\n"
		   "  one: {take: {z: c, pool: permit}, put: {q: c}}\n"
		   "  three:\n"
		   "    weight: 3\n"
		   "    modes:\n"
		   "      d: {take: {z: c, pool: permit}, put: {q: d}}\n"
		   "      e: {weight: 4, take: {z: c, pool: permit}, put: {q: e}}\n"
		   "  back:\n"
		   "    modes:\n"
		   "      c: {take: {q: c}, put: {z: c, pool: permit}}\n"
		   "      d: {take: {q: d}, put: {z: c, pool: permit}}\n"
		   "      e: {take: {q: e}, put: {z: c, pool: permit}}\n",
		   1e5))
		return;
	/* Slots: z.c, pool.permit, q.c, q.d, q.e */
	ok_near(s.estimate.slots[2].throughput.mean / s.estimate.slots[0].throughput.mean, 0.25,
		0.005);
	ok_near(s.estimate.slots[3].throughput.mean / s.estimate.slots[0].throughput.mean, 0.15,
		0.005);
	ok_near(s.estimate.slots[4].throughput.mean / s.estimate.slots[0].throughput.mean, 0.60,
		0.005);
	ok_near(s.estimate.slots[1].population.mean + s.estimate.slots[2].population.mean +
			s.estimate.slots[3].population.mean + s.estimate.slots[4].population.mean,
		2, 1e-9);
	solution_release(&s);
}

/*
 * Two tokens arrive at once; one becomes what would join the other, which may leave first. A mode
 * that takes a token alone must compete with all that is enabled: with equal priorities the tokens
 * join with probability 1/2 x 1/3, and not at all where the second may leave at a higher one.
 */
static void immediate_races(void)
{
	static const char *const priorities[][3] = { { "1", "1", "1" }, { "1", "3", "3" } };
	static const double joined[] = { 1.0 / 6, 0 };

	for (size_t i = 0; i < TAP_NR(joined); i++) {
		const char *const *p = priorities[i];
		struct solution s;
		char text[1000];

		snprintf(text, sizeof(text),
			 "colours: [r]\n"
			 "places: {a: {colours: [r]}, e: {colours: [r]}, d: {colours: [r]},\n"
			 "  f: {queue: is, service: {r: {deterministic: {value: .1}}}}}\n"
			 "transitions:\n"
			 "  come: {time: {deterministic: {value: 1}}, put: {a: r, e: r}}\n"
			 "  low: {priority: %s, take: {a: r}, put: {d: r}}\n"
			 "  high: {priority: %s, take: {e: r}}\n"
			 "  pair: {priority: %s, take: {d: r, e: r}, put: {f: r}}\n"
			 "  drop: {priority: %s, take: {d: r}}\n"
			 "  gone: {take: {f: r}}\n",
			 p[0], p[1], p[2], p[0]);
		if (!solve(&s, text, 1e5))
			return;
		ok_near(s.estimate.slots[3].throughput.mean, joined[i], 0.005);
		solution_release(&s);
	}
}

/* M/M/1/5: a source that may only put while there is room is a loss system by memorylessness. */
static void capacities(void)
{
	struct solution s;

	if (solve(&s,
		  "colours: [c]\n"
		  "places: {q: {queue: fcfs, capacity: {c: 5}, service: {c: {exponential: {mean: 1}}}}}\n"
		  "transitions: {in: {time: {exponential: {rate: .8}}, put: {q: c}}, "
		  "out: {take: {q: c}}}\n",
		  1e6)) {
		holds(s.estimate.slots[0].throughput, 0.8 * (1 - 0.0888194987), 0.02);
		holds(s.estimate.slots[0].population, 1.8683320323, 0.02);
		solution_release(&s);
	}
}

/* An M/MAP/1 needs no own formula here: a MAP that is Poisson must give M/M/1. */
static void markovian_arrivals(void)
{
	struct solution s;

	if (solve(&s,
		  "colours: [c]\n"
		  "places: {q: {queue: fcfs, service: {c: {exponential: {mean: 1}}}}}\n"
		  "transitions:\n"
		  "  in: {time: {map: {d0: [[-1.8, 1], [2, -2.8]], d1: [[.4, .4], [.4, .4]]}},\n"
		  "       put: {q: c}}\n"
		  "  out: {take: {q: c}}\n",
		  2e6)) {
		holds(s.estimate.slots[0].residence.mean, 5, 0.03);
		solution_release(&s);
	}
}

/*
 * Two colours that must leave a fifo place in the order they came, one held up by a permit that
 * comes rarely: the other waits behind it.
 */
static void fifo_departure(void)
{
	static const char text[] =
		"colours: [a, b, go]\n"
		"places:\n"
		"  p: {tokens: {a: 1, b: 1}, departure: %s}\n"
		"  go: {queue: is, tokens: {go: 1}, service: {go: {deterministic: {value: 10}}}}\n"
		"  done: {queue: is, service: {a: {deterministic: {value: 1}},\n"
		"                              b: {deterministic: {value: 1}}}}\n"
		"transitions:\n"
		"  a: {take: {p: a, go: go}, put: {done: a, go: go}}\n"
		"  b: {take: {p: b}, put: {done: b}}\n"
		"  again: {modes: {a: {take: {done: a}, put: {p: a}}, b: {take: {done: b}, put: {p: b}}}}\n";
	struct solution s;
	char net[1000];

	snprintf(net, sizeof(net), text, "fifo");
	if (solve(&s, net, 10000)) {
		/* Both come back after 1 and wait for the next permit, 10 after the one before. */
		ok_near(s.estimate.slots[1].throughput.mean, 0.1, 0.001);
		ok_near(s.estimate.slots[1].population.mean, 0.9, 0.001);
		solution_release(&s);
	}
	snprintf(net, sizeof(net), text, "normal");
	if (solve(&s, net, 10000)) {
		ok_near(s.estimate.slots[1].throughput.mean, 1, 0.01);
		ok_near(s.estimate.slots[1].population.mean, 0, 0);
		solution_release(&s);
	}
}

static int solve_error(const char *text)
{
	struct solve_options o = SOLVE_DEFAULTS;
	struct net *n = parse(text);
	struct solution s;
	int error;

	if (!n)
		return 0;
	o.max_events = 3000000;
	error = solve_net(&s, n, &o, &err);
	if (!error)
		solution_release(&s);
	net_free(n);
	return error;
}

static void hopeless_nets(void)
{
	ok_int(solve_error("colours: [c]\nplaces: {p: {tokens: {c: 2}}, q: {tokens: {c: 1}}}\n"
			   "transitions: {t: {take: {p: {c: 3}}, put: {q: c}}}\n"),
	       -EDEADLK);
	ok_str(err.line, "t.yaml:2: deadlock at time 0: no token is served and no transition is "
			 "enabled; tokens: p (c): 2, q (c): 1");
	ok_int(solve_error("colours: [c]\nplaces: {p: {tokens: {c: 1}}, q: {colours: [c]}}\n"
			   "transitions: {ping: {take: {p: c}, put: {q: c}}, "
			   "pong: {take: {q: c}, put: {p: c}}}\n"),
	       -ELOOP);
	ok(strstr(err.line,
		  "t.yaml:3: at time 0 immediate transitions fire without end (among them "
		  "ping, pong"));
	/* The same where tokens are not routed one by one. */
	ok_int(solve_error("colours: [c]\nplaces: {p: {tokens: {c: 2}}, q: {colours: [c]}}\n"
			   "transitions: {ping: {take: {p: {c: 2}}, put: {q: {c: 2}}}, "
			   "pong: {take: {q: {c: 2}}, put: {p: {c: 2}}}}\n"),
	       -ELOOP);
}

/*
 * What open arrivals do at a station that a pool of two permits guards, one each for a time of 1.
 */
static int guarded(double rate)
{
	char text[1000];

	snprintf(text, sizeof(text),
		 "colours: [c, p]\n"
		 "places:\n"
		 "  wait: {colours: [c]}\n"
		 "  pool: {tokens: {p: 2}}\n"
		 "  work: {queue: is, service: {c: {exponential: {mean: 1}}}}\n"
		 "transitions:\n"
		 "  in: {time: {exponential: {rate: %g}}, put: {wait: c}}\n"
		 "  go: {take: {wait: c, pool: p}, put: {work: c}}\n"
		 "  out: {take: {work: c}, put: {pool: p}}\n",
		 rate);
	return solve_error(text);
}

static void growth(void)
{
	ok_int(guarded(3), -EOVERFLOW);
	ok(strstr(err.line, "t.yaml:3: unstable, tokens pile up"));
	ok(strstr(err.line, "in place \"wait\" (c)"));
	ok_int(guarded(1.9), 0);
	/* Infinite servers that fill up to a million come to an end. */
	ok_int(solve_error(
		       "colours: [c]\n"
		       "places: {q: {queue: is, service: {c: {exponential: {mean: 1000000}}}}}\n"
		       "transitions: {in: {time: {exponential: {rate: 1}}, put: {q: c}}, "
		       "out: {take: {q: c}}}\n"),
	       0);
	/*
	 * So does a queue that gets 50000 at once, rarely: more than any level that is looked at.
	 */
	ok_int(solve_error("colours: [c]\n"
			   "places: {q: {queue: fcfs, service: {c: {exponential: {mean: 1}}}}}\n"
			   "transitions: {in: {time: {exponential: {mean: 100000}}, "
			   "put: {q: {c: 50000}}}, out: {take: {q: c}}}\n"),
	       0);
}

static const struct tap_test tests[] = {
	{ "M/M/1 is met, FCFS and random order, quantiles too", mm1 },
	{ "M/M/k and M/G/inf are met", mmk },
	{ "M/G/1 is met for four laws", mg1 },
	{ "MMPP(2)/M/1 is its matrix-geometric solution", mmpp2_m1 },
	{ "processor sharing feels the mean alone", ps_is_insensitive },
	{ "closed nets of one class follow exact MVA", closed_machine_repair },
	{ "closed nets of two classes follow exact MVA", two_classes },
	{ "priorities follow Cobham, and preemption its own form", priorities },
	{ "weights of transitions and modes give their shares", weighted_modes },
	{ "what moves a token alone competes by priority and weight", immediate_races },
	{ "a capacity makes a loss system", capacities },
	{ "a markovian arrival process that is Poisson acts so", markovian_arrivals },
	{ "tokens leave a fifo place in their order", fifo_departure },
	{ "deadlocks and endless loops are found and named", hopeless_nets },
	{ "tokens that pile up are told from those that come to an end", growth },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Events per second and core of the architecture's simulator, beside the QPN simulator on the same
 * system in the same run; time to solve 1000 users to 1 %; cost of asking a model for one request.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/models/arch/arch_read.h"
#include "analyzer/models/arch/arch_solve.h"
#include "analyzer/models/net/net.h"
#include "analyzer/models/sim/qpn_sim.h"

#define REPEATS 3 /* the fastest counts: the machine is shared */
#define EVENTS	5000000

static const char two[] =
	"parameters: {clients: 10, load: 1}\n"
	"interfaces: {I: [work], J: [help]}\n"
	"components:\n"
	"  C: {provides: I, requires: {d: J}, operations: {work: [{cpu: Exp(1)}, {call: d.help}]}}\n"
	"  D: {provides: J, operations: {help: [{cpu: Exp(2)}]}}\n"
	"containers: {a: {cpu: {policy: fcfs}}, b: {cpu: {policy: fcfs}}}\n"
	"assembly: {c: {component: C, container: a, connects: {d: d}}, d: {component: D, container: "
	"b}}\n"
	"usage: {users: {clients: clients, think: Exp(load / clients), do: [{call: c.work}]}}\n";

static const char net[] =
	"colours: [c]\n"
	"places:\n"
	"  z: {queue: is, tokens: {c: 10}, service: {c: {exponential: {mean: 10}}}}\n"
	"  a: {queue: fcfs, service: {c: {exponential: {mean: 1}}}}\n"
	"  b: {queue: fcfs, service: {c: {exponential: {mean: 0.5}}}}\n"
	"transitions: {x: {take: {z: c}, put: {a: c}}, y: {take: {a: c}, put: {b: c}},\n"
	"  w: {take: {b: c}, put: {z: c}}}\n";

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void parse(struct arch_model *m, const char *text, const struct arch_setting *s, size_t nr)
{
	struct err err = { 0 };

	if (arch_parse(m, "bench", text, strlen(text), s, nr, &err)) {
		fprintf(stderr, "%s\n", err.line);
		exit(1);
	}
}

static double arch_speed(void)
{
	struct arch_model m;
	double best = INFINITY;

	parse(&m, two, NULL, 0);
	for (int i = 0; i < REPEATS; i++) {
		struct arch_sim *s;
		double begin;

		if (arch_sim_new(&s, &m, 1, NULL))
			exit(1);
		begin = seconds(CLOCK_THREAD_CPUTIME_ID);
		if (arch_sim_run(s, INFINITY, EVENTS, NULL))
			exit(1);
		best = fmin(best, seconds(CLOCK_THREAD_CPUTIME_ID) - begin);
		arch_sim_free(s);
	}
	arch_release(&m);
	return EVENTS / best / 1e6;
}

static double qpn_speed(void)
{
	struct err err = { 0 };
	double best = INFINITY;
	struct net *n;

	if (net_parse(&n, "bench", net, NULL, 0, &err))
		exit(1);
	for (int i = 0; i < REPEATS; i++) {
		struct qpn_sim *s;
		double begin;

		if (qpn_sim_new(&s, n, 1, NULL))
			exit(1);
		begin = seconds(CLOCK_THREAD_CPUTIME_ID);
		if (qpn_sim_run(s, INFINITY, EVENTS, NULL))
			exit(1);
		best = fmin(best, seconds(CLOCK_THREAD_CPUTIME_ID) - begin);
		qpn_sim_free(s);
	}
	net_free(n);
	return EVENTS / best / 1e6;
}

/* load: what they would bring without waiting, beside what the slower component can do. */
static void thousand_users(const char *load, const char *goal)
{
	const struct arch_setting s[] = { { "clients", "1000" }, { "load", load } };
	struct solve_options o = ARCH_SOLVE_DEFAULTS;
	struct arch_solution x;
	struct arch_model m;
	struct err err = { 0 };
	double begin = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);

	parse(&m, two, s, 2);
	if (arch_solve(&x, &m, &o, &err)) {
		fprintf(stderr, "%s\n", err.line);
		exit(1);
	}
	printf("figure\tarch: two components, 1000 users, load %s, to 1 %%\t%.2f\ts\t%s\t%.2g events, "
	       "precision %.2g; wall time, of the processors %.2f s\n",
	       load, seconds(CLOCK_MONOTONIC) - begin, goal, (double)x.events, x.precision,
	       seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
	arch_solution_release(&x);
	arch_release(&m);
}

int main(void)
{
	double arch = arch_speed(), qpn = qpn_speed();

	printf("figure\tarch: events, two components of one queue each\t%.3g\tM/s/core\t>= 5\tthe "
	       "QPN simulator on the same system: %.3g\n",
	       arch, qpn);
	thousand_users("0.8", "<= 10");
	thousand_users("1", "<= 10");
	return 0;
}

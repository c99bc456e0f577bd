// SPDX-License-Identifier: Apache-2.0
/*
 * Service completions per second and core of the simulator; share of seeds whose 95 % interval
 * holds the exact answer; gain of a second core on replications.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/models/num/parallel.h"
#include "analyzer/models/num/rng.h"
#include "analyzer/models/net/net.h"
#include "analyzer/models/net/qpe_import.h"
#include "analyzer/models/solve/solve.h"
#include "tests/literal/qpn_forms.h"
#include "tests/support/tap.h"

#define REPEATS	     3 /* the fastest counts: the machine is shared */
#define SPEED_EVENTS 10000000
#define SEEDS	     200

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct net *parse(const char *text)
{
	struct err err = { 0 };
	struct net *n;

	if (net_parse(&n, "bench", text, NULL, 0, &err)) {
		fprintf(stderr, "%s\n", err.line);
		exit(1);
	}
	return n;
}

static double speed(const char *name, const struct net *n, const char *goal, const char *note)
{
	double best = INFINITY;

	for (int i = 0; i < REPEATS; i++) {
		struct qpn_sim *s;
		double begin;

		if (qpn_sim_new(&s, n, 1, NULL))
			exit(1);
		begin = seconds(CLOCK_THREAD_CPUTIME_ID);
		if (qpn_sim_run(s, INFINITY, SPEED_EVENTS, NULL))
			exit(1);
		best = fmin(best, seconds(CLOCK_THREAD_CPUTIME_ID) - begin);
		qpn_sim_free(s);
	}
	printf("figure\tqpn: service completions, %s\t%.4g\tM/s/core\t%s\t%s\n", name,
	       SPEED_EVENTS / best / 1e6, goal, note);
	return best;
}

#define CLIENTS 10

/*
 * A plain event loop that is written for the closed M/M/1 alone, with the same random numbers, a
 * sorted array of the clients that think, and the integrals of queue length and busy time. Returns
 * the seconds of SPEED_EVENTS completions, the mean number in the queue, and the share of time in
 * which it is not empty.
 */
static double bare_loop(double *length, double *utilization)
{
	double wake[CLIENTS], now = 0, end = INFINITY, area = 0, busy = 0, begin;
	size_t nr_thinking = 0;
	struct rng r;

	rng_seed(&r, 1);
	begin = seconds(CLOCK_THREAD_CPUTIME_ID);
	for (size_t nr_waiting = 0, nr_done = 0; nr_done < SPEED_EVENTS;) {
		bool is_wake;
		double next;

		while (nr_thinking + nr_waiting < CLIENTS) { /* the latest comes first */
			double at = now + 10 * rng_exponential(&r);
			size_t i = nr_thinking++;

			for (; i && wake[i - 1] < at; i--)
				wake[i] = wake[i - 1];
			wake[i] = at;
		}
		is_wake = nr_thinking && wake[nr_thinking - 1] < end;
		next = is_wake ? wake[nr_thinking - 1] : end;
		area += (next - now) * (double)nr_waiting;
		busy += nr_waiting ? next - now : 0;
		now = next;
		if (is_wake) {
			nr_thinking--;
			nr_waiting++;
		} else {
			nr_waiting--;
			nr_done++;
		}
		if (!nr_waiting)
			end = INFINITY;
		else if (!is_wake || nr_waiting == 1)
			end = now + rng_exponential(&r);
	}
	*length = area / now;
	*utilization = busy / now;
	return seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
}

static void speed_beside_bare(double took)
{
	double best = INFINITY, length, utilization;

	for (int i = 0; i < REPEATS; i++)
		best = fmin(best, bare_loop(&length, &utilization));
	printf("figure\tqpn: closed M/M/1, time beside a loop for this net alone\t%.2f\tx\t-\t"
	       "the loop: %.4g M/s/core, %.4f in the queue, %.4f of the time\n",
	       took / best, SPEED_EVENTS / best / 1e6, length, utilization);
}

static void speed_of_file(const char *name, const char *goal, const char *note)
{
	const char *dir = tap_data_dir();
	struct net *n;
	char path[4096];

	if (!dir)
		return;
	snprintf(path, sizeof(path), "%s/qpe/%s.qpe", dir, name);
	if (qpe_import(&n, path, NULL, 0, NULL))
		return;
	speed(name, n, goal, note);
	net_free(n);
}

static const char closed[] =
	"colours: [c]\n"
	"places:\n"
	"  z: {queue: is, tokens: {c: 10}, service: {c: {exponential: {mean: 10}}}}\n"
	"  q: {queue: fcfs, service: {c: {exponential: {mean: 1}}}}\n"
	"transitions: {a: {take: {z: c}, put: {q: c}}, b: {take: {q: c}, put: {z: c}}}\n";

static void cores(void)
{
	struct solve_options o = SOLVE_DEFAULTS;
	struct net *n = parse(closed);
	double took[2];

	if (parallel_cpus() < 2) {
		net_free(n);
		return;
	}
	o.method = SOLVE_REPLICATIONS;
	o.model_time = 1e6;
	for (unsigned threads = 1; threads <= 2; threads++) {
		struct solution s;
		double begin = seconds(CLOCK_MONOTONIC);

		o.nr_threads = threads;
		if (solve_net(&s, n, &o, NULL))
			exit(1);
		took[threads - 1] = seconds(CLOCK_MONOTONIC) - begin;
		solution_release(&s);
	}
	printf("figure\tqpn: 16 replications on two cores beside one\t%.2f\tx\t>= 1.8\t%s\n",
	       took[0] / took[1], "wall time of the same run; other load on the machine counts");
	net_free(n);
}

/* The forms of one group; returns how many they are. */
static size_t coverage(const struct qpn_form *f, size_t nr_left)
{
	struct form_coverage c[FORM_MAX_ANSWERS];
	size_t nr = qpn_form_group(f, nr_left);
	struct err err = { 0 };

	if (qpn_form_cover(c, f, nr, NULL, SEEDS, 0.01, &err)) {
		fprintf(stderr, "%s\n", err.line);
		exit(1);
	}
	for (size_t i = 0; i < nr; i++)
		printf("figure\tqpn: %s inside its 95 %% interval, %d seeds\t%.1f\t%%\t>= "
		       "90\twidest half interval %.2f %%, bias %+.3f %%, %.1f M events a run\n",
		       f[i].name, SEEDS, 100.0 * c[i].inside / SEEDS, 100 * c[i].widest,
		       100 * c[i].bias, (double)c[i].events / SEEDS / 1e6);
	fflush(stdout);
	return nr;
}

/* bench_qpn [WORD]...: only the closed forms with one of the words in their name */
int main(int argc, char **argv)
{
	struct net *n;

	for (size_t i = 0; argc > 1 && i < nr_qpn_forms;
	     i += qpn_form_group(&qpn_forms[i], nr_qpn_forms - i))
		for (int k = 1; k < argc; k++)
			if (strstr(qpn_forms[i].name, argv[k])) {
				coverage(&qpn_forms[i], nr_qpn_forms - i);
				break;
			}
	if (argc > 1)
		return 0;
	n = parse(closed);

	speed_beside_bare(speed("closed M/M/1 of 10 clients", n, ">= 10",
				"SimPy closed loop here: 0.2 M requests/s"));
	net_free(n);
	speed_of_file("pepsy-bcmp2", ">= 6", "SimQPN on a like machine: 2.4");
	speed_of_file("ispass03-02", ">= 6", "SimQPN on a like machine: 3.0");
	speed_of_file("ispass03", "-", "SimQPN on a like machine: 1.0");
	cores();
	fflush(stdout);
	for (size_t i = 0; i < nr_qpn_forms;)
		i += coverage(&qpn_forms[i], nr_qpn_forms - i);
	return 0;
}

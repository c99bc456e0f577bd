// SPDX-License-Identifier: Apache-2.0
/*
 * Control variates: the means they lean on, what they gain, and that intervals hold what they say,
 * against exact mean value analysis over many seeds.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/arch_read.h"
#include "analyzer/models/arch/arch_solve.h"
#include "analyzer/models/num/lsq.h"
#include "tests/support/tap.h"

#define SEEDS 100
/* Of 100 intervals that hold the truth 19 times out of 20, fewer than 86 do once in 2000 times. */
#define FEWEST 86
#define NR     40

static void means(void)
{
	static const struct {
		const char *text;
		double mean;
	} cases[] = {
		{ "3ms", 0.003 },
		{ "Exp(4)", 0.25 },
		{ "2 * Exp(4) + UniDouble(1, 3)", 2.5 },
		{ "UniInt(1, 6) / 2.0", 1.75 },
		{ "Pois(2.5)", 2.5 },
		{ "Binom(10, 0.3)", 3 },
		{ "Lognorm(0, 1)", 1.6487212707001282 },
		{ "LognormMoments(3, 2)", 3 },
		{ "Gamma(2, 5)", 10 },
		{ "GammaMoments(3, 0.5)", 3 },
		{ "DoublePMF[(1;0.5)(2;0.25)(4;0.25)]", 2 },
		{ "DoublePDF[(1;0.25)(2;0.5)(3;0.25)]", 1.5 },
		{ "Exp(1) * Exp(1)", 1 },
		{ "Norm(5, 1)", NAN },
		{ "Exp(x)", NAN },
		{ "Exp(1) - 1", NAN },
		{ "Max(Exp(1), 1)", NAN },
	};
	struct stoex_names names = { .nr = 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct err err = { 0 };
		struct rng rng;
		struct stoex_scope scope = { .rng = &rng };
		struct stoex *e = NULL;
		double sum = 0, v = 0;
		int error = stoex_parse(&e, cases[i].text, STOEX_BLKCAST, &names, &err);

		tap_note("%s", cases[i].text);
		ok_int(error, 0);
		rng_seed(&rng, 1);
		if (isnan(cases[i].mean)) {
			ok(isnan(stoex_mean(e)));
			stoex_free(e);
			continue;
		}
		ok_ratio(stoex_mean(e), cases[i].mean, 1e-12);
		for (int k = 0; k < 100000; k++) {
			stoex_eval_number(e, &scope, &v, &err);
			sum += v / 100000;
		}
		ok_ratio(sum, cases[i].mean, 0.03);
		stoex_free(e);
	}
	stoex_names_release(&names);
}

/* Samples of (top, bottom, control, a control that is 0 throughout). */
static double column(const void *samples, size_t i, uint32_t index)
{
	return ((const double(*)[4])samples)[i][index];
}

static double top(const void *samples, size_t i, uint32_t index)
{
	(void)index;
	return column(samples, i, 0);
}

static double bottom(const void *samples, size_t i, uint32_t index)
{
	(void)index;
	return column(samples, i, 1);
}

static void regression(void)
{
	static const uint32_t controls[] = { 2, 3 };
	double data[NR][4];
	struct samples s = { .items = data, .nr = NR };
	struct interval plain, controlled;
	struct rng rng;

	rng_seed(&rng, 3);
	for (int i = 0; i < NR; i++) {
		data[i][2] = rng_normal(&rng);
		data[i][3] = 0;
		data[i][1] = 100 + rng_normal(&rng);
		data[i][0] = 5 * data[i][1] + 20 * data[i][2] + rng_normal(&rng);
	}
	plain = interval_ratio(&s, top, bottom);
	ok_int(interval_controlled(&controlled, &s, top, bottom, column, controls, 2), 0);
	ok(controlled.low < 5 && controlled.high > 5);
	ok(controlled.high - controlled.low < (plain.high - plain.low) / 10);
	/* By hand: 1.9696 standard errors of a mean of 40 of deviation 1, beside 100. */
	ok_ratio((controlled.high - controlled.low) / 2, 2.0244 / sqrt(NR) / 100, 0.3);
	ok_int(interval_controlled(&controlled, &s, top, bottom, column, controls, 0), 0);
	ok(controlled.low == plain.low && controlled.high == plain.high);
	s.nr = 11; /* too few for two controls */
	plain = interval_ratio(&s, top, bottom);
	ok_int(interval_controlled(&controlled, &s, top, bottom, column, controls, 2), 0);
	ok(controlled.low == plain.low && controlled.high == plain.high);
}

static const char two[] =
	"parameters: {clients: 50, load: 1}\n"
	"interfaces: {I: [work], J: [help]}\n"
	"components:\n"
	"  C: {provides: I, requires: {d: J}, operations: {work: [{cpu: Exp(1)}, {call: d.help}]}}\n"
	"  D: {provides: J, operations: {help: [{cpu: Exp(2)}]}}\n"
	"containers: {a: {cpu: {policy: fcfs}}, b: {cpu: {policy: fcfs}}}\n"
	"assembly: {c: {component: C, container: a, connects: {d: d}}, d: {component: D, container: "
	"b}}\n"
	"usage: {users: {clients: clients, think: Exp(load / clients), do: [{call: c.work}]}}\n";

/* Exact MVA of two stations and a delay: response time with n clients. */
static double exact(int n, double z)
{
	static const double demand[2] = { 1, 0.5 };
	double q[2] = { 0, 0 }, r[2] = { 0, 0 };

	for (int i = 1; i <= n; i++) {
		double x;

		for (int k = 0; k < 2; k++)
			r[k] = demand[k] * (1 + q[k]);
		x = i / (z + r[0] + r[1]);
		for (int k = 0; k < 2; k++)
			q[k] = x * r[k];
	}
	return r[0] + r[1];
}

static void parse(struct arch_model *m, const char *load)
{
	const struct arch_setting s[] = { { "load", load } };
	struct err err = { 0 };

	if (arch_parse(m, "two", two, strlen(two), s, 1, &err))
		tap_note("%s", err.line);
}

static void coverage(const char *load)
{
	double z = 50 / strtod(load, NULL), want = exact(50, z);
	int response = 0, throughput = 0;
	struct arch_model m;

	parse(&m, load);
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct solve_options o = ARCH_SOLVE_DEFAULTS;
		struct arch_solution x;
		struct err err = { 0 };

		o.seed = seed;
		o.model_time = 4000;
		if (arch_solve(&x, &m, &o, &err)) {
			tap_note("%s", err.line);
			break;
		}
		response += x.times[0].mean.low <= want && want <= x.times[0].mean.high;
		want = 50 / (z + want);
		throughput += x.throughput[0].low <= want && want <= x.throughput[0].high;
		want = 50 / want - z;
		arch_solution_release(&x);
	}
	tap_note("load %s: of %d intervals %d hold the response time, %d the throughput", load,
		 SEEDS, response, throughput);
	ok(response >= FEWEST);
	ok(throughput >= FEWEST);
	arch_release(&m);
}

static void below(void)
{
	coverage("0.8");
}

static void at_one(void)
{
	coverage("1");
}

static void beyond(void)
{
	coverage("2");
}

static const struct tap_test tests[] = {
	{ "the mean of an expression is that of its values", means },
	{ "controls take off what sums owe them, and the interval is the regression's",
	  regression },
	{ "of intervals at 95 % most hold the exact answer: load 0.8", below },
	{ "of intervals at 95 % most hold the exact answer: load 1", at_one },
	{ "of intervals at 95 % most hold the exact answer: saturated", beyond },
};

int main(void)
{
	lsq_single_thread();
	return tap_run(tests, TAP_NR(tests));
}

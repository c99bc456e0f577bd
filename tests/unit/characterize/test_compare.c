// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/characterize/compare.h"
#include "tests/support/traffic.h"
#include "tests/support/tap.h"

#define NR_RUNS	   400
#define NR_WINDOWS 20

static size_t dimension(const char *name)
{
	struct profile_group empty = { 0 };
	struct comparison c;

	profile_init(&empty.whole);
	for (size_t i = 0; i < compare_nr_dimensions(); i++) {
		compare_dimension(&empty, &empty, i, 0.05, &c);
		if (strcmp(c.dimension, name) == 0)
			return i;
	}
	ok(false);
	return 0;
}

/* Response times of exponential distribution, nr of them. */
static void respond(struct traffic *t, struct profile *p, size_t nr, double mean_s)
{
	profile_init(p);
	p->begin_s = 0;
	p->end_s = 1;
	for (size_t i = 0; i < nr; i++)
		histogram_add(&p->read.response.stage[STAGE_TOTAL],
			      (uint64_t)(traffic_exponential(t, mean_s) * 1e9));
	p->requests[OPERATION_READ] = nr;
}

static void group(struct traffic *t, struct profile_group *g, bool windows, double mean_s)
{
	memset(g, 0, sizeof(*g));
	profile_init(&g->whole);
	if (!windows) {
		g->has_whole = true;
		respond(t, &g->whole, 2000, mean_s);
		return;
	}
	g->nr_windows = NR_WINDOWS;
	g->windows = calloc(NR_WINDOWS, sizeof(*g->windows));
	for (size_t i = 0; i < NR_WINDOWS; i++)
		respond(t, &g->windows[i], 100, mean_s);
}

static void group_release(struct profile_group *g)
{
	profile_release(&g->whole);
	for (size_t i = 0; i < g->nr_windows; i++)
		profile_release(&g->windows[i]);
	free(g->windows);
}

/* How often the interval holds the true difference. */
static double coverage(const char *name, bool windows, double truth)
{
	size_t i = dimension(name), held = 0;
	struct traffic t = { 7 };

	for (int k = 0; k < NR_RUNS; k++) {
		struct profile_group a, b;
		struct comparison c;

		group(&t, &a, windows, 1e-3);
		group(&t, &b, windows, 1.1e-3);
		compare_dimension(&a, &b, i, 0.05, &c);
		held += c.lo <= truth && truth <= c.hi;
		group_release(&a);
		group_release(&b);
	}
	tap_note("%s, %s: %zu of %d", name, windows ? "windows" : "whole", held, NR_RUNS);
	return (double)held / NR_RUNS;
}

static void covers(void)
{
	/* 400 runs: three standard errors around 0.95 are 0.033; quantiles of a grid of 2.2 % and
	 * of windows of 100 requests are off by a little more. */
	ok_near(coverage("read.response.total.mean", false, 1e-4), 0.95, 0.04);
	ok_near(coverage("read.response.total.mean", true, 1e-4), 0.95, 0.04);
	ok_near(coverage("read.response.total.p50", false, 1e-4 * log(2)), 0.95, 0.05);
	ok_near(coverage("read.response.total.p95", false, 1e-4 * log(20)), 0.95, 0.05);
}

static enum verdict judge(double mean_a, double mean_b, size_t nr, double tolerance)
{
	size_t i = dimension("read.response.total.mean");
	struct traffic t = { 3 };
	struct profile_group a = { .has_whole = true }, b = { .has_whole = true };
	struct comparison c;

	respond(&t, &a.whole, nr, mean_a);
	respond(&t, &b.whole, nr, mean_b);
	compare_dimension(&a, &b, i, tolerance, &c);
	profile_release(&a.whole);
	profile_release(&b.whole);
	return c.verdict;
}

static void verdicts(void)
{
	ok_str(verdict_name(judge(1e-3, 1e-3, 100000, 0.05)), "same");
	ok_str(verdict_name(judge(1e-3, 2e-3, 1000, 0.05)), "worse");
	ok_str(verdict_name(judge(2e-3, 1e-3, 1000, 0.05)), "better");
	ok_str(verdict_name(judge(1e-3, 1e-3, 20, 0.05)), "cannot tell");
	ok_str(verdict_name(judge(1e-3, 1.06e-3, 2000, 0.05)), "cannot tell");
	ok_str(verdict_name(judge(1e-3, 1.2e-3, 100000, 0.5)), "same");
}

static void unknown(void)
{
	struct profile_group a = { .has_whole = true }, b = { .has_whole = true };
	struct comparison c;

	profile_init(&a.whole);
	profile_init(&b.whole);
	a.whole.end_s = b.whole.end_s = 1;
	for (size_t i = 0; i < compare_nr_dimensions(); i++) {
		compare_dimension(&a, &b, i, 0.05, &c);
		if (isnan(c.a) || isnan(c.b))
			ok_str(verdict_name(c.verdict), "cannot tell");
		else
			ok(c.verdict == VERDICT_SAME || c.verdict == VERDICT_CANNOT_TELL);
	}
}

/* A few requests of widely spread times have an interval wider than their own mean. */
static void nothing_falls_by_more_than_all(void)
{
	size_t i = dimension("read.response.total.mean"), share = dimension("read.share");
	struct profile_group a = { .has_whole = true }, b = { .has_whole = true };
	struct traffic t = { 3 };
	struct comparison c;

	respond(&t, &a.whole, 3, 1e-3);
	respond(&t, &b.whole, 3, 1e-5);
	a.whole.requests[OPERATION_WRITE] = 1;
	compare_dimension(&a, &b, i, 0.05, &c);
	ok_near(c.lo, -c.a, 0);
	ok(c.hi > c.difference);
	compare_dimension(&a, &b, share, 0.05, &c);
	ok_near(c.hi, 1 - c.a, 0);
	profile_release(&a.whole);
	profile_release(&b.whole);
}

static void flushes_are_compared(void)
{
	struct profile_group a = { .has_whole = true }, b = { .has_whole = true };
	struct profile_group *groups[] = { &a, &b };
	struct comparison c;

	for (size_t g = 0; g < 2; g++) {
		struct profile *p = &groups[g]->whole;

		profile_init(p);
		p->begin_s = 0;
		p->end_s = 10;
		p->requests[OPERATION_FLUSH] = 1000;
		for (int k = 0; k < 1000; k++)
			histogram_add(&p->flush.stage[STAGE_TOTAL], g ? 4000000 : 1000000);
	}
	compare_dimension(&a, &b, dimension("flush.rate"), 0.05, &c);
	ok_near(c.a, 100, 0);
	compare_dimension(&a, &b, dimension("flush.response.p95"), 0.05, &c);
	ok_near(c.difference, 3e-3, 1e-12);
	ok_str(verdict_name(c.verdict), "worse");
	profile_release(&a.whole);
	profile_release(&b.whole);
}

static void arrivals_are_compared(void)
{
	struct arrival_tally_count few[] = { { 0, 500 }, { 2, 500 } }, many[] = { { 16, 1000 } };
	struct arrival_tally_count near[] = { { -8, 400 }, { 256, 500 }, { 512, 100 } };
	struct profile_group a = { .has_whole = true }, b = { .has_whole = true };
	struct comparison c;

	profile_init(&a.whole);
	profile_init(&b.whole);
	a.whole.requests[OPERATION_READ] = b.whole.requests[OPERATION_WRITE] = 1000;
	a.whole.read.arrivals[TALLY_OUTSTANDING] = (struct arrival_tally){ few, 2 };
	b.whole.read.arrivals[TALLY_OUTSTANDING] = (struct arrival_tally){ many, 1 };
	b.whole.write.arrivals[TALLY_SEEK] = (struct arrival_tally){ near, 3 };
	compare_dimension(&a, &b, dimension("read.outstanding"), 0.05, &c);
	ok_near(c.a, 1, 0);
	ok_near(c.b, 16, 0);
	compare_dimension(&a, &b, dimension("write.near"), 0.05, &c);
	ok(isnan(c.a));
	ok_near(c.b, 0.9, 1e-12);
}

static const struct tap_test tests[] = {
	{ "intervals of 95 % hold the truth in some 95 of 100 runs", covers },
	{ "verdicts need the whole interval on one side of the tolerance", verdicts },
	{ "what requests find when they arrive is compared", arrivals_are_compared },
	{ "nothing is told of what neither side knows", unknown },
	{ "no interval falls by more than 100 % or has a share above 1",
	  nothing_falls_by_more_than_all },
	{ "flushes have a rate and response times of their own", flushes_are_compared },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}

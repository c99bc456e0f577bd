// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/sim/output.h"

/* Squared standard errors, the best truncation's beside that of none. */
#define MSER_GAIN 0.75

static const struct interval unknown = { NAN, NAN, NAN };

/* Sums of a ratio over samples. Two passes: the residuals need the ratio. */
struct ratio {
	const struct qpn_sample *x;
	size_t nr;
	double (*top)(const struct qpn_sample *x, uint32_t i);
	double (*bottom)(const struct qpn_sample *x, uint32_t i);
	uint32_t index;
};

static struct interval ratio_interval(const struct ratio *r)
{
	double top = 0, bottom = 0, squares = 0, half;
	struct interval v;

	for (size_t i = 0; i < r->nr; i++) {
		top += r->top(&r->x[i], r->index);
		bottom += r->bottom(&r->x[i], r->index);
	}
	if (!(bottom > 0))
		return unknown;
	v.mean = top / bottom;
	for (size_t i = 0; i < r->nr; i++) {
		double e = r->top(&r->x[i], r->index) - v.mean * r->bottom(&r->x[i], r->index);

		squares += e * e;
	}
	half = gsl_cdf_tdist_Pinv(0.5 + OUTPUT_CONFIDENCE / 2, (double)r->nr - 1) *
	       sqrt(squares / ((double)r->nr - 1) * (double)r->nr) / bottom;
	v.low = v.mean - half;
	v.high = v.mean + half;
	return v;
}

static double duration(const struct qpn_sample *x, uint32_t i)
{
	(void)i;
	return x->duration;
}

static double population(const struct qpn_sample *x, uint32_t i)
{
	return x->slots[i].population;
}

static double in_queue(const struct qpn_sample *x, uint32_t i)
{
	return x->slots[i].in_queue;
}

static double residence(const struct qpn_sample *x, uint32_t i)
{
	return x->slots[i].residence;
}

static double left(const struct qpn_sample *x, uint32_t i)
{
	return x->slots[i].left;
}

static double queueing(const struct qpn_sample *x, uint32_t i)
{
	return x->slots[i].queueing;
}

static double served(const struct qpn_sample *x, uint32_t i)
{
	return x->slots[i].served;
}

static double probe_time(const struct qpn_sample *x, uint32_t i)
{
	return x->probes[i].time;
}

static double probe_nr(const struct qpn_sample *x, uint32_t i)
{
	return x->probes[i].nr;
}

/* Histograms of one slot or probe over the samples. */
struct spread {
	const struct qpn_sample *x;
	size_t nr;
	uint32_t index;
	bool probe;
};

static const struct qhist *hist_of(const struct spread *s, size_t i)
{
	return s->probe ? &s->x[i].times[s->index] : &s->x[i].residence[s->index];
}

static struct interval quantile_interval(const struct spread *s, const struct qhist *all, double p)
{
	struct interval v = { .mean = qhist_quantile(all, p) };
	double squares = 0, share, half;

	if (!all->nr)
		return unknown;
	share = qhist_share(all, v.mean);
	for (size_t i = 0; i < s->nr; i++) {
		const struct qhist *h = hist_of(s, i);
		double e = h->nr ? (double)h->nr * (qhist_share(h, v.mean) - share) : 0;

		squares += e * e;
	}
	half = gsl_cdf_tdist_Pinv(0.5 + OUTPUT_CONFIDENCE / 2, (double)s->nr - 1) *
	       sqrt(squares / ((double)s->nr - 1) * (double)s->nr) / (double)all->nr;
	v.low = p - half > 0 ? qhist_quantile(all, p - half) : 0;
	/* Beyond the last value nothing is known. */
	v.high = p + half < 1 ? qhist_quantile(all, p + half) : INFINITY;
	return v;
}

static int quantiles(struct time_estimate *t, const struct spread *s)
{
	struct qhist all = { 0 };

	for (size_t i = 0; i < s->nr; i++) {
		if (qhist_merge(&all, hist_of(s, i))) {
			qhist_release(&all);
			return -ENOMEM;
		}
	}
	t->p50 = quantile_interval(s, &all, 0.5);
	t->p95 = quantile_interval(s, &all, 0.95);
	t->p99 = quantile_interval(s, &all, 0.99);
	qhist_release(&all);
	return 0;
}

static double utilization(const struct net *n, const struct qpn_sample *x, size_t nr, uint32_t slot)
{
	uint32_t queue = n->places[n->slots[slot].place].queue;
	double busy = 0, time = 0;

	if (queue == NET_NONE || n->queues[queue].immediate || n->queues[queue].strategy == NET_IS)
		return NAN;
	for (size_t i = 0; i < nr; i++) {
		busy += x[i].slots[slot].busy;
		time += x[i].duration;
	}
	return busy / (time * n->queues[queue].servers);
}

static int estimate_slot(struct slot_estimate *e, const struct net *n, const struct qpn_sample *x,
			 size_t nr, uint32_t slot)
{
	uint32_t queue = n->places[n->slots[slot].place].queue;
	struct ratio r = { .x = x, .nr = nr, .index = slot };
	struct spread s = { .x = x, .nr = nr, .index = slot };

	r.top = population, r.bottom = duration;
	e->population = ratio_interval(&r);
	r.top = left;
	e->throughput = ratio_interval(&r);
	r.top = residence, r.bottom = left;
	e->residence.mean = ratio_interval(&r);
	e->queue_population = e->queue_time = unknown;
	if (queue != NET_NONE && !n->queues[queue].immediate) {
		r.top = in_queue, r.bottom = duration;
		e->queue_population = ratio_interval(&r);
		r.top = queueing, r.bottom = served;
		e->queue_time = ratio_interval(&r);
	}
	e->utilization = utilization(n, x, nr, slot);
	return quantiles(&e->residence, &s);
}

static int estimate_probe(struct probe_estimate *e, const struct qpn_sample *x, size_t nr,
			  uint32_t probe)
{
	struct ratio r = { .x = x, .nr = nr, .index = probe, .top = probe_time, .bottom = probe_nr };
	struct spread s = { .x = x, .nr = nr, .index = probe, .probe = true };

	e->time.mean = ratio_interval(&r);
	for (size_t i = 0; i < nr; i++)
		e->nr += x[i].probes[probe].nr;
	return quantiles(&e->time, &s);
}

int estimate_make(struct estimate *e, const struct net *n, const struct qpn_sample *x, size_t nr)
{
	int err = 0;

	*e = (struct estimate){ .nr_slots = n->nr_slots, .nr_probes = n->nr_probes };
	e->slots = calloc((size_t)n->nr_slots + 1, sizeof(*e->slots));
	e->probes = calloc((size_t)n->nr_probes + 1, sizeof(*e->probes));
	if (!e->slots || !e->probes)
		err = -ENOMEM;
	for (uint32_t i = 0; !err && i < n->nr_slots; i++)
		err = estimate_slot(&e->slots[i], n, x, nr, i);
	for (uint32_t i = 0; !err && i < n->nr_probes; i++)
		err = estimate_probe(&e->probes[i], x, nr, i);
	if (err)
		estimate_release(e);
	return err;
}

void estimate_release(struct estimate *e)
{
	free(e->slots);
	free(e->probes);
	*e = (struct estimate){ 0 };
}

static double width(struct interval v)
{
	if (v.high == v.low)
		return 0;
	if (!(v.mean != 0) || isnan(v.high))
		return INFINITY;
	return (v.high - v.low) / 2 / fabs(v.mean);
}

static bool is_wanted(const char *name, const char *const *wanted, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(name, wanted[i]))
			return true;
	return !nr;
}

/* The three quantiles; 0 stands for a time that passes at once. */
static double quantile_width(const struct time_estimate *t)
{
	const struct interval *v[] = { &t->p50, &t->p95, &t->p99 };
	double worst = 0;

	for (int i = 0; i < 3; i++) {
		double far = fmax(v[i]->high - v[i]->mean, v[i]->mean - v[i]->low);

		if (far > 0 || isnan(v[i]->mean))
			worst = fmax(worst, v[i]->mean > 0 ? far / v[i]->mean : INFINITY);
	}
	return worst;
}

static double times_width(const struct time_estimate *t, bool quantiles)
{
	return fmax(width(t->mean), quantiles ? quantile_width(t) : 0);
}

double estimate_precision(const struct estimate *e, const struct net *n, const char *const *wanted,
			  size_t nr_wanted, bool quantiles)
{
	double worst = 0;

	for (uint32_t i = 0; i < e->nr_slots; i++) {
		const struct slot_estimate *s = &e->slots[i];
		const struct net_place *p = &n->places[n->slots[i].place];

		if (!(s->throughput.mean > 0) || !is_wanted(p->name, wanted, nr_wanted))
			continue;
		worst = fmax(worst, width(s->throughput));
		if (p->queue == NET_NONE && !nr_wanted)
			continue;
		worst = fmax(worst, width(s->population));
		worst = fmax(worst, times_width(&s->residence, quantiles));
	}
	for (uint32_t i = 0; i < e->nr_probes; i++)
		if (e->probes[i].nr > 0 && is_wanted(n->probes[i].name, wanted, nr_wanted))
			worst = fmax(worst, times_width(&e->probes[i].time, quantiles));
	return worst;
}

static double level(const struct qpn_sample *x, uint32_t slot)
{
	return x->slots[slot].population / x->duration;
}

/*
 * The truncation that gives the least squared standard error of the rest, for one slot; none where
 * that gains little: it would be the one whose variance happens to look small.
 */
static size_t mser(const struct qpn_sample *x, size_t nr, uint32_t slot)
{
	double sum = 0, squares = 0, best = INFINITY, all = 0;
	size_t at = 0;

	/* Centred on the last value, so that the squares do not cancel. */
	for (size_t i = nr; i-- > 0;) {
		double v = level(&x[i], slot) - level(&x[nr - 1], slot), n = (double)(nr - i), e;

		sum += v;
		squares += v * v;
		e = (squares - sum * sum / n) / (n * n);
		if (i <= nr / 2 && e <= best) {
			best = e;
			at = i;
		}
		all = e;
	}
	return best < MSER_GAIN * all ? at : 0;
}

size_t sample_warm_up(const struct qpn_sample *x, size_t nr)
{
	size_t most = 0;

	for (uint32_t i = 0; nr && i < x->nr_slots; i++) {
		size_t d = mser(x, nr, i);

		if (d > most)
			most = d;
	}
	return most;
}

double sample_correlation(const struct qpn_sample *x, size_t nr)
{
	double worst = 0;

	for (uint32_t s = 0; nr >= 4 && s < x->nr_slots; s++) {
		double mean = 0, var = 0, cov = 0;

		for (size_t i = 0; i < nr; i++)
			mean += level(&x[i], s) / (double)nr;
		for (size_t i = 0; i < nr; i++) {
			double d = level(&x[i], s) - mean;

			var += d * d;
			cov += i ? d * (level(&x[i - 1], s) - mean) : 0;
		}
		/* A population that does not vary has rounding for its variance. */
		if (var > 1e-20 * mean * mean && cov / var > worst)
			worst = cov / var;
	}
	return worst;
}

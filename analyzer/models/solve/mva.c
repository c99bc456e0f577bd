// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/solve/convolution.h"
#include "analyzer/models/solve/mva.h"

/*
 * Schweitzer's fixed point is reached when queue lengths change by less than this, relative to the
 * population.
 */
#define FIXED_POINT 1e-10
#define MAX_ROUNDS  100000
/*
 * This is the tolerated rounding error of the marginal probabilities. Errors of results are larger:
 * with 1e-6 they were up to 3e-4.
 */
#define NEGATIVE_PROBABILITY 1e-10

/*
 * This struct is the state of the exact recursion. The vector of a population holds, for each
 * station, the mean population and, for k > 1 servers, the probabilities of 0 .. k-2 tokens.
 */
struct exact {
	const struct product_form *p;
	size_t width;	    /* numbers per vector */
	size_t *offset;	    /* by station: offset of its numbers in a vector */
	size_t *stride;	    /* by chain: number of vectors between n and n + 1 of its tokens */
	double *table;	    /* vectors x width */
	double *wait;	    /* chain x station */
	double *throughput; /* by chain */
};

/* This struct is the result of the recursion. */
struct mva_result {
	double *throughput; /* owned: by chain, per visit ratio 1 */
	double *population; /* owned: chain x station */
	bool exact;
};

static void mva_result_release(struct mva_result *r)
{
	free(r->throughput);
	free(r->population);
	*r = (struct mva_result){ 0 };
}

/* Returns the sum over (k - 1 - j) p(j), for j = 0 .. k-2. */
static double idle_servers(const double *p, uint32_t k)
{
	double sum = 0;

	for (uint32_t j = 0; j + 1 < k; j++)
		sum += (double)(k - 1 - j) * p[j];
	return sum;
}

/*
 * Computes the waiting time per visit at every station for chain c. An arrival sees the net with
 * one token fewer.
 */
static double chain_waits(struct exact *x, uint32_t c, const double *before)
{
	const struct product_form *p = x->p;
	double sum = 0;

	for (uint32_t s = 0; s < p->nr_stations; s++) {
		double d = p->demand[(size_t)c * p->nr_stations + s], w = d;
		const double *b = before + x->offset[s];
		uint32_t k = p->servers[s];

		if (k)
			w = d / k * (1 + b[0] + idle_servers(b + 1, k));
		x->wait[(size_t)c * p->nr_stations + s] = w;
		sum += w;
	}
	return sum;
}

/*
 * Computes p(j | n) of a station of k > 1 servers in the vector of n. Returns -ERANGE if rounding
 * errors are too large.
 */
static int mva_marginals(struct exact *x, size_t vector, const uint64_t *n, uint32_t s)
{
	const struct product_form *p = x->p;
	double *out = x->table + vector * x->width + x->offset[s] + 1, busy = 0, sum = 0;
	uint32_t k = p->servers[s];

	for (uint32_t c = 0; c < p->nr_chains; c++)
		busy += x->throughput[c] * p->demand[(size_t)c * p->nr_stations + s];
	/* j runs to k-1; the last value is needed only for p(0). */
	for (uint32_t j = 1; j < k; j++) {
		double v = 0;

		for (uint32_t c = 0; c < p->nr_chains; c++) {
			const double *b;

			if (!n[c])
				continue;
			b = x->table + (vector - x->stride[c]) * x->width + x->offset[s] + 1;
			v += x->throughput[c] * p->demand[(size_t)c * p->nr_stations + s] *
			     b[j - 1] / j;
		}
		sum += (double)(k - j) * v;
		if (j < k - 1)
			out[j] = v;
	}
	out[0] = 1 - (busy + sum) / k;
	if (out[0] < -NEGATIVE_PROBABILITY)
		return -ERANGE;
	out[0] = fmax(out[0], 0);
	return 0;
}

static int exact_step(struct exact *x, size_t vector, const uint64_t *n)
{
	const struct product_form *p = x->p;
	double *out = x->table + vector * x->width;
	int ret = 0;

	for (uint32_t c = 0; c < p->nr_chains; c++) {
		double sum;

		x->throughput[c] = 0;
		if (!n[c])
			continue;
		sum = chain_waits(x, c, x->table + (vector - x->stride[c]) * x->width);
		x->throughput[c] = (double)n[c] / sum;
	}
	for (uint32_t s = 0; s < p->nr_stations; s++) {
		out[x->offset[s]] = 0;
		for (uint32_t c = 0; c < p->nr_chains; c++)
			if (n[c])
				out[x->offset[s]] +=
					x->throughput[c] * x->wait[(size_t)c * p->nr_stations + s];
		if (p->servers[s] > 1)
			ret = mva_marginals(x, vector, n, s);
		if (ret)
			return ret;
	}
	return 0;
}

/* Determines the offsets of the stations in a vector. Returns the size of a vector. */
static size_t lay_out(struct exact *x)
{
	size_t at = 0;

	for (uint32_t s = 0; s < x->p->nr_stations; s++) {
		x->offset[s] = at;
		at += x->p->servers[s] > 1 ? x->p->servers[s] : 1;
	}
	return at;
}

/* Returns the number of vectors, or 0 if they are more than the limit. */
static size_t nr_vectors(const struct product_form *p, size_t width, size_t *stride)
{
	size_t nr = 1;

	for (uint32_t c = 0; c < p->nr_chains; c++) {
		if (stride)
			stride[c] = nr;
		if (p->population[c] >= MVA_MAX_NUMBERS ||
		    nr > MVA_MAX_NUMBERS / (p->population[c] + 1))
			return 0;
		nr *= p->population[c] + 1;
	}
	return nr <= MVA_MAX_NUMBERS / (width ? width : 1) ? nr : 0;
}

static bool mva_fits(const struct product_form *p)
{
	size_t width = 0;

	for (uint32_t s = 0; s < p->nr_stations; s++)
		width += p->servers[s] > 1 ? p->servers[s] : 1;
	return nr_vectors(p, width, NULL) > 0;
}

static int run_exact(struct mva_result *r, const struct product_form *p)
{
	struct exact x = { .p = p, .throughput = r->throughput };
	uint64_t *n = calloc((size_t)p->nr_chains + 1, sizeof(*n));
	size_t nr = 0;
	int ret = -ENOMEM;

	x.offset = calloc((size_t)p->nr_stations + 1, sizeof(*x.offset));
	x.stride = calloc((size_t)p->nr_chains + 1, sizeof(*x.stride));
	x.wait = calloc((size_t)p->nr_chains * p->nr_stations + 1, sizeof(*x.wait));
	if (n && x.offset && x.stride && x.wait) {
		x.width = lay_out(&x);
		nr = nr_vectors(p, x.width, x.stride);
		x.table = calloc(nr * x.width + 1, sizeof(*x.table));
	}
	if (x.table)
		ret = 0;
	if (ret)
		goto out;
	for (uint32_t s = 0; s < p->nr_stations; s++)
		if (p->servers[s] > 1)
			x.table[x.offset[s] + 1] = 1;
	/* Every vector with one token fewer comes earlier in the order of the index. */
	for (size_t v = 1; v < nr; v++) {
		for (uint32_t c = 0; c < p->nr_chains; c++)
			n[c] = v / x.stride[c] % (p->population[c] + 1);
		ret = exact_step(&x, v, n);
		if (ret)
			goto out;
	}
	for (size_t i = 0; i < (size_t)p->nr_chains * p->nr_stations; i++)
		r->population[i] = r->throughput[i / p->nr_stations] * x.wait[i];
out:
	free(n);
	free(x.offset);
	free(x.stride);
	free(x.wait);
	free(x.table);
	return ret;
}

/* Returns the queue that an arrival of chain c sees at a station, by Schweitzer's approximation. */
static double mva_seen(const struct product_form *p, const double *population, uint32_t c,
		       uint32_t s)
{
	double sum = 0;

	for (uint32_t d = 0; d < p->nr_chains; d++) {
		double l = population[(size_t)d * p->nr_stations + s];

		sum += d == c ? l * (double)(p->population[c] - 1) / (double)p->population[c] : l;
	}
	return sum;
}

/*
 * Makes one round for chain c. For a station with servers, r->population holds only the tokens at
 * the server of Seidmann's split, because an arrival waits behind these only.
 */
static double approximate_step(struct mva_result *r, const struct product_form *p, uint32_t c,
			       double *wait)
{
	double sum = 0, change = 0;

	for (uint32_t s = 0; s < p->nr_stations; s++) {
		double d = p->demand[(size_t)c * p->nr_stations + s], k = p->servers[s];

		wait[s] = p->servers[s] ? d / k * (1 + mva_seen(p, r->population, c, s)) : d;
		sum += wait[s] + (p->servers[s] ? d * (k - 1) / k : 0);
	}
	r->throughput[c] = (double)p->population[c] / sum;
	for (uint32_t s = 0; s < p->nr_stations; s++) {
		double *l = &r->population[(size_t)c * p->nr_stations + s];
		double now = r->throughput[c] * wait[s];

		change = fmax(change, fabs(now - *l) / (double)p->population[c]);
		*l = now;
	}
	return change;
}

/* Adds the delay part of Seidmann's split to its station again. */
static void add_delays(struct mva_result *r, const struct product_form *p)
{
	for (size_t i = 0; i < (size_t)p->nr_chains * p->nr_stations; i++) {
		double k = p->servers[i % p->nr_stations];

		if (k > 1)
			r->population[i] +=
				r->throughput[i / p->nr_stations] * p->demand[i] * (k - 1) / k;
	}
}

static int run_approximate(struct mva_result *r, const struct product_form *p)
{
	double *wait = calloc((size_t)p->nr_stations + 1, sizeof(*wait)), change = 1;

	if (!wait)
		return -ENOMEM;
	for (uint32_t c = 0; c < p->nr_chains; c++)
		for (uint32_t s = 0; s < p->nr_stations; s++)
			r->population[(size_t)c * p->nr_stations + s] =
				(double)p->population[c] / p->nr_stations;
	for (int round = 0; change > FIXED_POINT && round < MAX_ROUNDS; round++) {
		change = 0;
		for (uint32_t c = 0; c < p->nr_chains; c++)
			if (p->population[c])
				change = fmax(change, approximate_step(r, p, c, wait));
	}
	free(wait);
	add_delays(r, p);
	return change > FIXED_POINT ? -ERANGE : 0;
}

/*
 * Solves the network. approximate chooses the approximation even where the exact method would be
 * possible. Returns 0, -ENOMEM, or -ERANGE if rounding errors made the result useless.
 */
static int mva_run(struct mva_result *r, const struct product_form *p, bool approximate)
{
	int ret = -ENOMEM;

	*r = (struct mva_result){ .exact = !approximate && mva_fits(p) };
	r->throughput = calloc((size_t)p->nr_chains + 1, sizeof(*r->throughput));
	r->population = calloc((size_t)p->nr_chains * p->nr_stations + 1, sizeof(*r->population));
	if (!r->throughput || !r->population)
		ret = -ENOMEM;
	else if (!r->exact)
		ret = run_approximate(r, p);
	else if (convolution_applies(p))
		ret = convolution_solve(p, r->throughput, r->population);
	else
		ret = run_exact(r, p);
	if (ret)
		mva_result_release(r);
	return ret;
}

static struct interval mva_exactly(double v)
{
	return (struct interval){ v, NAN, NAN };
}

/* Computes the share of one slot in the values of its chain at its station. */
static void fill_slot(struct slot_estimate *e, const struct net *n, const struct product_form *p,
		      const struct mva_result *r, uint32_t i)
{
	double x = r->throughput[p->chain[i]] * p->visits[i], mean = n->slots[i].service.mean;
	double l = 0, none = NAN;
	size_t cell;

	if (p->station[i] != NET_NONE) {
		cell = (size_t)p->chain[i] * p->nr_stations + p->station[i];
		if (p->demand[cell] > 0)
			l = r->population[cell] * p->visits[i] * mean / p->demand[cell];
	}
	*e = (struct slot_estimate){ .population = mva_exactly(l), .throughput = mva_exactly(x) };
	e->residence.mean = mva_exactly(x > 0 ? l / x : none);
	e->residence.p50 = e->residence.p95 = e->residence.p99 = mva_exactly(none);
	e->queue_population = p->station[i] == NET_NONE ? mva_exactly(none) : e->population;
	e->queue_time = p->station[i] == NET_NONE ? mva_exactly(none) : e->residence.mean;
	e->utilization = p->station[i] != NET_NONE && p->servers[p->station[i]]
				 ? x * mean / p->servers[p->station[i]]
				 : none;
}

int mva_solve(struct estimate *e, bool *exact, const struct net *n, bool approximate,
	      struct err *err)
{
	struct product_form p = { 0 };
	struct mva_result r = { 0 };
	int ret = product_form_make(&p, n, err);

	*e = (struct estimate){ .nr_slots = n->nr_slots, .nr_probes = n->nr_probes };
	if (ret)
		goto out;
	e->slots = calloc((size_t)n->nr_slots + 1, sizeof(*e->slots));
	e->probes = calloc((size_t)n->nr_probes + 1, sizeof(*e->probes));
	if (!e->slots || !e->probes)
		ret = err_set(err, ENOMEM, "%s: out of memory", n->file);
	if (ret)
		goto out;
	ret = mva_run(&r, &p, approximate);
	if (ret)
		err_set(err, -ret, "%s: the recursion lost its precision: solve by simulation",
			n->file);
	if (ret)
		goto out;
	for (uint32_t i = 0; i < n->nr_slots; i++)
		fill_slot(&e->slots[i], n, &p, &r, i);
	for (uint32_t i = 0; i < n->nr_probes; i++)
		e->probes[i].time = (struct time_estimate){ mva_exactly(NAN), mva_exactly(NAN),
							    mva_exactly(NAN), mva_exactly(NAN) };
out:
	*exact = r.exact;
	mva_result_release(&r);
	product_form_release(&p);
	if (ret)
		estimate_release(e);
	return ret;
}

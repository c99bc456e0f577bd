// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/models/storage/calibration/calibrate_depth.h"
#include "analyzer/models/storage/calibration/calibrate_hardware.h"
#include "analyzer/models/storage/calibration/calibrate_parts.h"

/* times of a shared server: a base for reads and writes, and a time per byte for either */
#define TIMES	      4
#define BASE_UNIT     1e-5 /* seconds */
#define BYTE_UNIT     1e-9 /* seconds per byte */
#define BEGINNINGS    24   /* number of starting points of the simplex search */
#define SIMPLEX_STEPS 400
#define SIMPLEX_SIZE  1e-5
#define LEAST_RMS     1e-3 /* residuals of ln utilization; smaller ones come from rounding */

/* This struct holds the throughputs of one run, and the utilization of the own servers. */
struct flow {
	double rate[2], size[2], own;
};

struct parting {
	const struct parts_task *task;
	struct storage_parts *parts;
	struct flow *flows;
	size_t nr_flows;
	struct err *err;
};

static void take_flow(struct parting *x, size_t config)
{
	const struct storage_table *t = x->task->t;
	const struct storage_config *c = &t->configs[config];
	struct flow *f = &x->flows[x->nr_flows++];

	for (size_t i = c->begin; i < c->end; i++) {
		const struct storage_row *r = &t->rows[i];

		f->rate[r->write] += r->clients / r->response_s;
		f->size[r->write] = r->size_bytes;
	}
	for (int w = 0; w < 2; w++)
		if (f->rate[w] > 0)
			f->own =
				fmax(f->own,
				     f->rate[w] * storage_cases_at(&x->task->mix->service[w].fit, 0,
								   f->size[w], STORAGE_FIT_UNIT));
}

/* Collects the mixes. Of the runs of one type alone, it collects those of the most clients. */
static void take_flows(struct parting *x)
{
	const struct storage_table *t = x->task->t;
	double most[2] = { 0, 0 };

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < t->nr_configs; i++) {
			struct storage_load l;
			int w;

			if (!storage_load_of(&l, t, &t->configs[i]))
				continue;
			w = l.class >= STORAGE_RANDOM_WRITE;
			if (!pass)
				most[w] = fmax(most[w], l.clients);
			else if (l.clients >= most[w] && l.clients > 1)
				take_flow(x, i);
		}
	for (size_t i = 0; i < x->task->nr_one; i++)
		take_flow(x, x->task->one[i]);
	for (size_t i = 0; i < x->task->nr_many; i++)
		take_flow(x, x->task->many[i]);
}

/*
 * This struct holds the shared servers as the simplex search represents them: square roots of
 * times. Times that are left out are 0.
 */
struct sharing {
	const struct parting *x;
	size_t nr;
	bool in[STORAGE_SHARED_MAX * TIMES];
	double root[STORAGE_SHARED_MAX * TIMES];
};

static double calibrate_parts_squares(const struct sharing *s)
{
	double sum = 0;

	for (size_t i = 0; i < s->x->nr_flows; i++) {
		const struct flow *f = &s->x->flows[i];
		double busiest = f->own;

		for (size_t k = 0; k < s->nr; k++) {
			const double *r = s->root + TIMES * k;
			double u = 0;

			for (int w = 0; w < 2; w++)
				u += f->rate[w] * (BASE_UNIT * r[w] * r[w] +
						   BYTE_UNIT * r[2 + w] * r[2 + w] * f->size[w]);
			busiest = fmax(busiest, u);
		}
		sum += log(busiest) * log(busiest);
	}
	return sum;
}

static double squares_at(const gsl_vector *v, void *ctx)
{
	struct sharing *s = ctx;

	for (size_t i = 0, at = 0; i < TIMES * s->nr; i++)
		s->root[i] = s->in[i] ? gsl_vector_get(v, at++) : 0;
	return calibrate_parts_squares(s);
}

static size_t nr_in(const struct sharing *s)
{
	size_t nr = 0;

	for (size_t i = 0; i < TIMES * s->nr; i++)
		nr += s->in[i];
	return nr;
}

/* Moves s from its present values to the nearest minimum. */
static int calibrate_parts_descend(struct sharing *s, double *least)
{
	size_t nr = nr_in(s), at = 0;
	gsl_vector *begin = nr ? gsl_vector_alloc(nr) : NULL;
	gsl_vector *step = nr ? gsl_vector_alloc(nr) : NULL;
	gsl_multimin_fminimizer *m =
		nr ? gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, nr) : NULL;
	gsl_multimin_function f = { .f = squares_at, .n = nr, .params = s };
	int ret = nr && (!begin || !step || !m) ? -ENOMEM : 0;

	*least = INFINITY;
	if (ret)
		goto out;
	if (!nr)
		*least = calibrate_parts_squares(s);
	for (size_t i = 0; i < TIMES * s->nr && nr; i++)
		if (s->in[i])
			gsl_vector_set(begin, at++, s->root[i]);
	if (nr) {
		gsl_vector_set_all(step, 0.3);
		gsl_multimin_fminimizer_set(m, &f, begin, step);
		for (int i = 0; i < SIMPLEX_STEPS && !gsl_multimin_fminimizer_iterate(m); i++)
			if (gsl_multimin_fminimizer_size(m) < SIMPLEX_SIZE)
				break;
		*least = squares_at(m->x, s);
	}
out:
	if (m)
		gsl_multimin_fminimizer_free(m);
	gsl_vector_free(begin);
	gsl_vector_free(step);
	return ret;
}

static double calibrate_parts_bic(const struct sharing *s, double sum)
{
	size_t n = s->x->nr_flows;

	return storage_bic(fmax(sum, (double)n * LEAST_RMS * LEAST_RMS), nr_in(s), n);
}

/* Places the last server of s from several starting points, then improves all servers together. */
static int place_server(struct sharing *s, double *least)
{
	struct sharing best = *s;
	struct rng rng;
	size_t first = TIMES * (s->nr - 1);
	int ret = 0;

	rng_stream(&rng, 1, s->nr);
	*least = INFINITY;
	for (int i = 0; i < BEGINNINGS && !ret; i++) {
		struct sharing try = *s;
		double sum;

		for (size_t k = first; k < first + TIMES; k++) {
			try.in[k] = true;
			try.root[k] = 2.5 * rng_uniform(&rng);
		}
		ret = calibrate_parts_descend(&try, &sum);
		if (sum >= *least)
			continue;
		*least = sum;
		best = try;
	}
	*s = best;
	return ret;
}

/* Leaves out the time whose removal lowers the BIC most, until no removal lowers it. */
static int calibrate_parts_prune(struct sharing *s, double *least)
{
	bool better = true;
	int ret = 0;

	while (better && !ret) {
		struct sharing best = *s;
		double best_sum = *least;

		better = false;
		for (size_t k = 0; k < TIMES * s->nr && !ret; k++) {
			struct sharing try = *s;
			double sum;

			if (!s->in[k])
				continue;
			try.in[k] = false;
			try.root[k] = 0;
			ret = calibrate_parts_descend(&try, &sum);
			if (ret ||
			    calibrate_parts_bic(&try, sum) >= calibrate_parts_bic(&best, best_sum))
				continue;
			best = try;
			best_sum = sum;
			better = true;
		}
		*s = best;
		*least = best_sum;
	}
	return ret;
}

static int find_shared(struct parting *x)
{
	struct sharing s = { .x = x };
	double least = calibrate_parts_squares(&s), sum = 0;
	int ret = 0;

	while (s.nr < STORAGE_SHARED_MAX && !ret) {
		struct sharing more = s;
		double with;

		more.nr++;
		ret = place_server(&more, &with);
		if (!ret)
			ret = calibrate_parts_prune(&more, &with);
		if (ret || calibrate_parts_bic(&more, with) >
				   calibrate_parts_bic(&s, least) - CASES_EVIDENCE)
			break;
		s = more;
		least = with;
	}
	x->parts->nr_shared = s.nr;
	for (size_t k = 0; k < s.nr; k++)
		for (size_t w = 0; w < 2; w++) {
			const double *r = s.root + TIMES * k;

			x->parts->shared[k].base_s[w] = BASE_UNIT * r[w] * r[w];
			x->parts->shared[k].per_byte_s[w] = BYTE_UNIT * r[2 + w] * r[2 + w];
		}
	for (size_t i = 0; i < x->nr_flows; i++) {
		struct parting one = { .flows = x->flows + i, .nr_flows = 1 };

		s.x = &one;
		sum += fabs(expm1(sqrt(calibrate_parts_squares(&s))));
	}
	x->parts->utilization_error = sum / (double)x->nr_flows;
	return ret ? err_set(x->err, ENOMEM, "out of memory") : 0;
}

int calibrate_parts(struct storage_parts *out, const struct parts_task *task, struct err *err)
{
	struct storage_parts made = { .present = true };
	struct parting x = { .task = task, .parts = &made, .err = err };
	int ret = 0;

	x.flows = calloc(2 * task->t->nr_configs + 2, sizeof(*x.flows));
	if (!x.flows)
		ret = err_set(err, ENOMEM, "out of memory");
	if (ret)
		goto out;
	for (int w = 0; w < 2; w++) {
		ret = calibrate_alone(&made.alone[w], task->t, w, err);
		if (ret)
			goto out;
	}
	take_flows(&x);
	ret = find_shared(&x);
	if (ret)
		goto out;
	ret = calibrate_depth(&made, task, err);
	if (ret)
		goto out;
	*out = made;
out:
	free(x.flows);
	return ret;
}

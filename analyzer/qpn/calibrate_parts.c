// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <float.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/num/parallel.h"
#include "analyzer/num/rng.h"
#include "analyzer/qpn/calibrate_hardware.h"
#include "analyzer/qpn/calibrate_parts.h"
#include "analyzer/qpn/calibrate_phi.h"
#include "analyzer/qpn/calibrate_weights.h"
#include "analyzer/qpn/storage_parts.h"
#include "analyzer/qpn/storage_predict.h"

#define TIMES		4    /* of a shared server: base of reads and writes, per byte of either */
#define BASE_UNIT	1e-5 /* seconds */
#define BYTE_UNIT	1e-9 /* seconds per byte */
#define BEGINNINGS	24   /* of the simplex */
#define SIMPLEX_STEPS	400
#define SIMPLEX_SIZE	1e-5
#define LEAST_RMS	1e-3 /* of ln utilization: closer is rounding */
#define LEAST_POINTS	7    /* for phi to be learned */
#define PHI_MAX		16.0
#define PHI_MATTERS	0.05 /* change of a mean response time, relative, between phi / 2 and 2 phi */
#define PHI_DIGITS	2
#define PHI_ENOUGH	0.3 /* errors below this part of a solution's precision are its noise */
#define DEPTH_SAMPLE	16  /* mixes */
#define DEPTH_PRECISION 0.1

/* Throughputs of one run, and how busy they keep the own servers. */
struct flow {
	double rate[2], size[2], own;
};

struct parting {
	const struct parts_task *task;
	struct storage_parts *parts;
	struct flow *flows;
	size_t nr_flows;
	size_t *chosen, nr_chosen; /* mixes of one VM */
	double precision;
	struct weights_found *found; /* by place in chosen */
	bool *matters;		     /* does phi change anything there */
	bool look;		     /* whether it does */
	struct err *errors, *err;
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

/* Mixes, and of runs alone those of most clients. */
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

/* The shared servers as the simplex has them: roots of times, those left out at 0. */
struct sharing {
	const struct parting *x;
	size_t nr;
	bool in[STORAGE_SHARED_MAX * TIMES];
	double root[STORAGE_SHARED_MAX * TIMES];
};

static double squares(const struct sharing *s)
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
	return squares(s);
}

static size_t nr_in(const struct sharing *s)
{
	size_t nr = 0;

	for (size_t i = 0; i < TIMES * s->nr; i++)
		nr += s->in[i];
	return nr;
}

/* From where s is to the nearest least; s is left there. */
static int descend(struct sharing *s, double *least)
{
	size_t nr = nr_in(s), at = 0;
	gsl_vector *begin = nr ? gsl_vector_alloc(nr) : NULL;
	gsl_vector *step = nr ? gsl_vector_alloc(nr) : NULL;
	gsl_multimin_fminimizer *m =
		nr ? gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, nr) : NULL;
	gsl_multimin_function f = { .f = squares_at, .n = nr, .params = s };
	int error = nr && (!begin || !step || !m) ? -ENOMEM : 0;

	*least = INFINITY;
	if (!error && !nr)
		*least = squares(s);
	for (size_t i = 0; i < TIMES * s->nr && !error && nr; i++)
		if (s->in[i])
			gsl_vector_set(begin, at++, s->root[i]);
	if (!error && nr) {
		gsl_vector_set_all(step, 0.3);
		gsl_multimin_fminimizer_set(m, &f, begin, step);
		for (int i = 0; i < SIMPLEX_STEPS && !gsl_multimin_fminimizer_iterate(m); i++)
			if (gsl_multimin_fminimizer_size(m) < SIMPLEX_SIZE)
				break;
		*least = squares_at(m->x, s);
	}
	if (m)
		gsl_multimin_fminimizer_free(m);
	gsl_vector_free(begin);
	gsl_vector_free(step);
	return error;
}

static double bic(const struct sharing *s, double sum)
{
	size_t n = s->x->nr_flows;

	return storage_bic(fmax(sum, (double)n * LEAST_RMS * LEAST_RMS), nr_in(s), n);
}

/* The last server of s from several beginnings, then all together. */
static int place_server(struct sharing *s, double *least)
{
	struct sharing best = *s;
	struct rng rng;
	size_t first = TIMES * (s->nr - 1);
	int error = 0;

	rng_stream(&rng, 1, s->nr);
	*least = INFINITY;
	for (int i = 0; i < BEGINNINGS && !error; i++) {
		struct sharing try = *s;
		double sum;

		for (size_t k = first; k < first + TIMES; k++) {
			try.in[k] = true;
			try.root[k] = 2.5 * rng_uniform(&rng);
		}
		error = descend(&try, &sum);
		if (sum >= *least)
			continue;
		*least = sum;
		best = try;
	}
	*s = best;
	return error;
}

/* Leaves out the time whose absence BIC likes best, until it likes none. */
static int prune(struct sharing *s, double *least)
{
	bool better = true;
	int error = 0;

	while (better && !error) {
		struct sharing best = *s;
		double best_sum = *least;

		better = false;
		for (size_t k = 0; k < TIMES * s->nr && !error; k++) {
			struct sharing try = *s;
			double sum;

			if (!s->in[k])
				continue;
			try.in[k] = false;
			try.root[k] = 0;
			error = descend(&try, &sum);
			if (error || bic(&try, sum) >= bic(&best, best_sum))
				continue;
			best = try;
			best_sum = sum;
			better = true;
		}
		*s = best;
		*least = best_sum;
	}
	return error;
}

static int find_shared(struct parting *x)
{
	struct sharing s = { .x = x };
	double least = squares(&s), sum = 0;
	int error = 0;

	while (s.nr < STORAGE_SHARED_MAX && !error) {
		struct sharing more = s;
		double with;

		more.nr++;
		error = place_server(&more, &with);
		if (!error)
			error = prune(&more, &with);
		if (error || bic(&more, with) > bic(&s, least) - CASES_EVIDENCE)
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
		sum += fabs(expm1(sqrt(squares(&s))));
	}
	x->parts->utilization_error = sum / (double)x->nr_flows;
	return error ? err_set(x->err, ENOMEM, "out of memory") : 0;
}

struct one_net {
	struct storage_net net;
	const struct parting *x;
};

static int solve_one(void *ctx, double alpha, double beta, double *read_time, double *write_time,
		     struct err *err)
{
	struct one_net *one = ctx;
	struct storage_times times;
	int error;

	one->net.vms[0].weight[0] = alpha;
	one->net.vms[0].weight[1] = beta;
	error = storage_net_solve(&times, &one->net, one->x->precision, one->x->task->o->seed, err);
	*read_time = times.time[0][0].mean.mean;
	*write_time = times.time[0][1].mean.mean;
	return error;
}

static int look_around(bool *matters, struct one_net *one, const struct weights_step *best,
		       struct err *err)
{
	double low[2], high[2];
	int error = solve_one(one, best->alpha / 2, best->beta, &low[0], &low[1], err);

	if (!error)
		error = solve_one(one, best->alpha * 2, best->beta, &high[0], &high[1], err);
	*matters = !error &&
		   fmax(fabs(log(high[0] / low[0])), fabs(log(high[1] / low[1]))) > PHI_MATTERS;
	return error;
}

/* Algorithm 3 of one mix at the depth of x->parts. */
static int find_phi(void *ctx, size_t chunk, size_t begin, size_t end)
{
	struct parting *x = ctx;
	const struct storage_table *t = x->task->t;
	const struct storage_config *c = &t->configs[x->chosen[chunk]];
	struct one_net one = { .x = x };
	struct weights_search s = { .phi_min = 1 / PHI_MAX,
				    .phi_max = PHI_MAX,
				    .digits = PHI_DIGITS,
				    .max_error = PHI_ENOUGH * x->precision,
				    .solve = solve_one,
				    .ctx = &one };
	struct err *err = &x->errors[chunk];
	double sizes[2];
	int error = storage_mix_net(&one.net, x->task->mix, t, x->chosen[chunk], sizes, err);

	(void)begin;
	(void)end;
	if (error)
		return error;
	storage_parts_net(&one.net, x->task->mix, x->parts, sizes);
	for (size_t i = c->begin; i < c->end; i++)
		*(t->rows[i].write ? &s.write_time : &s.read_time) = t->rows[i].response_s;
	if (one.net.vms[0].clients[0] + one.net.vms[0].clients[1] <= x->parts->depth)
		s.max_error = DBL_MAX; /* nothing waits: one solution tells all */
	error = weights_search(&x->found[chunk], &s, err);
	if (!error && x->look && s.max_error < DBL_MAX)
		error = look_around(&x->matters[chunk], &one, &x->found[chunk].best, err);
	return error;
}

static int find_phis(struct parting *x, double *mean_error)
{
	struct parallel p = { .nr_items = x->nr_chosen,
			      .chunk = 1,
			      .nr_threads = x->task->o->nr_threads,
			      .work = find_phi,
			      .ctx = x };
	int error = parallel_run(&p);

	*mean_error = 0;
	for (size_t i = 0; i < x->nr_chosen && error; i++)
		if (x->errors[i].code) {
			if (x->err)
				*x->err = x->errors[i];
			return error;
		}
	if (error)
		return err_set(x->err, -error, "%s", strerror(-error));
	for (size_t i = 0; i < x->nr_chosen; i++)
		*mean_error += x->found[i].best.error / (double)x->nr_chosen;
	return 0;
}

static int try_depth(struct parting *x, double depth, double *best, double *least, double *e)
{
	int error;

	x->parts->depth = depth;
	error = find_phis(x, e);
	if (!error && *e < *least) {
		*least = *e;
		*best = depth;
	}
	return error;
}

/* Most requests of a mix: more depth than that changes nothing. */
static double most_clients(const struct parts_task *task)
{
	double most = 1;

	for (size_t i = 0; i < task->nr_one; i++) {
		const struct storage_config *c = &task->t->configs[task->one[i]];
		double clients = 0;

		for (size_t k = c->begin; k < c->end; k++)
			clients += task->t->rows[k].clients;
		most = fmax(most, clients);
	}
	return most;
}

static int find_depth(struct parting *x)
{
	size_t nr = x->task->nr_one;
	double best = most_clients(x->task), least = INFINITY, last = INFINITY;
	int error = 0, rises = 0;

	x->nr_chosen = nr < DEPTH_SAMPLE ? nr : DEPTH_SAMPLE;
	for (size_t i = 0; i < x->nr_chosen; i++)
		x->chosen[i] = x->task->one[i * nr / x->nr_chosen];
	x->precision = fmax(DEPTH_PRECISION, x->task->o->precision);
	/* a depth far too low is far off and takes long to solve: it ends where it gets worse twice */
	for (double d = best; d >= 1 && rises < 2 && !error; d = floor(d / 2)) {
		double e = INFINITY;

		error = try_depth(x, d, &best, &least, &e);
		rises = e > last * 1.1 ? rises + 1 : 0;
		last = e;
	}
	for (double step = best / 4; step >= 1 && !error; step /= 2) {
		double middle = best, e;

		error = try_depth(x, round(middle - step), &best, &least, &e);
		if (!error)
			error = try_depth(x, round(middle + step), &best, &least, &e);
	}
	x->parts->depth = best;
	return error;
}

/* phi of the mixes that wait, over what they are. */
static int learn_phi(struct parting *x)
{
	struct storage_parts *parts = x->parts;
	struct mix_point *points = calloc(x->task->nr_one + 1, sizeof(*points));
	int error = points ? 0 : err_set(x->err, ENOMEM, "out of memory");

	x->precision = x->task->o->precision;
	x->look = true;
	x->nr_chosen = x->task->nr_one;
	memcpy(x->chosen, x->task->one, x->nr_chosen * sizeof(*x->chosen));
	if (!error)
		error = find_phis(x, &parts->depth_error);
	parts->phi_low = INFINITY;
	parts->phi_high = 0;
	for (size_t i = 0; i < x->nr_chosen && !error; i++) {
		struct mix_point *p = &points[parts->nr_phi];
		struct storage_net n;
		double sizes[2];

		error = storage_mix_net(&n, x->task->mix, x->task->t, x->chosen[i], sizes, x->err);
		if (error || !x->matters[i])
			continue;
		storage_mix_point(p->x, &n, sizes);
		p->y = x->found[i].best.alpha / x->found[i].best.beta;
		parts->phi_low = fmin(parts->phi_low, p->y);
		parts->phi_high = fmax(parts->phi_high, p->y);
		parts->nr_phi++;
	}
	if (!parts->nr_phi)
		parts->phi_low = parts->phi_high = 1;
	if (!error && parts->nr_phi >= LEAST_POINTS)
		error = mix_fit(&parts->phi, points, parts->nr_phi, x->task->mix->by_size,
				x->task->o->seed, x->task->o->nr_threads, x->err);
	free(points);
	return error;
}

int calibrate_parts(struct storage_parts *out, const struct parts_task *task, struct err *err)
{
	struct storage_parts made = { .present = true };
	struct parting x = { .task = task, .parts = &made, .err = err };
	size_t nr = task->t->nr_configs + 1;
	int error = 0;

	x.flows = calloc(2 * nr, sizeof(*x.flows));
	x.chosen = calloc(nr, sizeof(*x.chosen));
	x.found = calloc(nr, sizeof(*x.found));
	x.errors = calloc(nr, sizeof(*x.errors));
	x.matters = calloc(nr, sizeof(*x.matters));
	if (!x.matters || !x.flows || !x.chosen || !x.found || !x.errors)
		error = err_set(err, ENOMEM, "out of memory");
	for (int w = 0; w < 2 && !error; w++)
		error = calibrate_alone(&made.alone[w], task->t, w, err);
	if (!error) {
		take_flows(&x);
		error = find_shared(&x);
	}
	if (!error)
		error = find_depth(&x);
	if (!error)
		error = learn_phi(&x);
	if (!error)
		*out = made;
	else
		model_release(&made.phi);
	free(x.flows);
	free(x.chosen);
	free(x.found);
	free(x.errors);
	free(x.matters);
	return error;
}

// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/parallel.h"
#include "analyzer/models/storage/calibration/calibrate_depth.h"
#include "analyzer/models/storage/calibration/calibrate_weights.h"
#include "analyzer/models/storage/fit/calibrate_phi.h"
#include "analyzer/models/storage/net/storage_parts.h"
#include "analyzer/models/storage/net/storage_predict.h"

#define LEAST_POINTS 7 /* fewest points from which phi can be learned */
#define PHI_MAX	     16.0
#define PHI_MATTERS  0.05 /* change of a mean response time, relative, between phi / 2 and 2 phi */
#define PHI_DIGITS   2
#define PHI_ENOUGH   0.3 /* errors below this part of a solution's precision are its noise */
#define MANY_SAMPLE  32	 /* number of mixes of several VMs by which a depth is judged */
#define ROUGH	     0.1 /* precision of the solutions by which depths are compared */
#define WORSE	     1.1 /* an error must be worse by this factor to count as worse */

struct depth_search {
	const struct parts_task *task;
	struct storage_parts *parts;
	struct weights_found *found; /* one item for each of task->one */
	bool *matters;		     /* whether phi makes a difference in that configuration */
	/* one item for each configuration in the sample of task->many */
	double *many_error;
	size_t nr_many;
	struct err *errors, *err;
	double precision;
	struct storage_parts best; /* owns its phi */
	double least;
};

struct one_net {
	struct storage_net net;
	double precision;
	uint64_t seed;
};

static int solve_one(void *ctx, double alpha, double beta, double *read_time, double *write_time,
		     struct err *err)
{
	struct one_net *one = ctx;
	struct storage_times times;
	int ret;

	one->net.vms[0].weight[0] = alpha;
	one->net.vms[0].weight[1] = beta;
	ret = storage_net_solve(&times, &one->net, one->precision, one->seed, err);
	*read_time = times.time[0][0].mean.mean;
	*write_time = times.time[0][1].mean.mean;
	return ret;
}

static int look_around(bool *matters, struct one_net *one, const struct weights_step *best,
		       struct err *err)
{
	double low[2], high[2];
	int ret = solve_one(one, best->alpha / 2, best->beta, &low[0], &low[1], err);

	if (ret)
		goto out;
	ret = solve_one(one, best->alpha * 2, best->beta, &high[0], &high[1], err);
out:
	*matters = !ret &&
		   fmax(fabs(log(high[0] / low[0])), fabs(log(high[1] / low[1]))) > PHI_MATTERS;
	return ret;
}

/* Runs algorithm 3 for one mix, at the depth of x->parts. */
static int find_phi(void *ctx, size_t chunk, size_t begin, size_t end)
{
	struct depth_search *x = ctx;
	const struct parts_task *task = x->task;
	const struct storage_config *c = &task->t->configs[task->one[chunk]];
	struct one_net one = { .precision = x->precision, .seed = task->o->seed };
	struct weights_search s = { .phi_min = 1 / PHI_MAX,
				    .phi_max = PHI_MAX,
				    .digits = PHI_DIGITS,
				    .max_error = PHI_ENOUGH * x->precision,
				    .solve = solve_one,
				    .ctx = &one };
	struct err *err = &x->errors[chunk];
	double sizes[2];
	int ret = storage_mix_net(&one.net, task->mix, task->t, task->one[chunk], sizes, err);

	(void)begin;
	(void)end;
	if (ret)
		return ret;
	storage_parts_net(&one.net, task->mix, x->parts, sizes);
	for (size_t i = c->begin; i < c->end; i++)
		*(task->t->rows[i].write ? &s.write_time : &s.read_time) =
			task->t->rows[i].response_s;
	x->matters[chunk] = false;
	if (one.net.vms[0].clients[0] + one.net.vms[0].clients[1] <= x->parts->depth)
		s.max_error = DBL_MAX; /* no request waits, so one solution is enough */
	ret = weights_search(&x->found[chunk], &s, err);
	if (ret)
		return ret;
	if (s.max_error < DBL_MAX)
		ret = look_around(&x->matters[chunk], &one, &x->found[chunk].best, err);
	return ret;
}

/*
 * Computes the mean relative error of the response times of one configuration, with the learned
 * phi.
 */
static int calibrate_depth_judge(void *ctx, size_t chunk, size_t begin, size_t end)
{
	struct depth_search *x = ctx;
	const struct parts_task *task = x->task;
	size_t config = task->many[chunk * task->nr_many / x->nr_many];
	const struct storage_config *c = &task->t->configs[config];
	struct storage_times times;
	struct storage_net n;
	struct err *err = &x->errors[chunk];
	double sizes[2], sum = 0;
	int error = storage_mix_net(&n, task->mix, task->t, config, sizes, err);

	(void)begin;
	(void)end;
	if (!error) {
		storage_parts_net(&n, task->mix, x->parts, sizes);
		storage_parts_weigh(&n, x->parts, sizes);
		error = storage_net_solve(&times, &n, x->precision, task->o->seed, err);
	}
	for (size_t i = c->begin; i < c->end && !error; i++) {
		const struct storage_row *r = &task->t->rows[i];

		sum += fabs(times.time[r->vm][r->write].mean.mean / r->response_s - 1);
	}
	x->many_error[chunk] = sum / (double)(c->end - c->begin);
	return error;
}

static int calibrate_depth_phi_pieces(void *ctx, size_t chunk, struct parallel_bytes *b)
{
	struct depth_search *x = ctx;
	int ret = parallel_piece(b, &x->found[chunk], sizeof(*x->found));

	return ret ? ret : parallel_piece(b, &x->matters[chunk], sizeof(*x->matters));
}

static int calibrate_depth_judge_pieces(void *ctx, size_t chunk, struct parallel_bytes *b)
{
	struct depth_search *x = ctx;

	return parallel_piece(b, &x->many_error[chunk], sizeof(*x->many_error));
}

/* Runs work on nr configurations. Returns the error of the lowest configuration that failed. */
static int run_over(struct depth_search *x, size_t nr, int (*work)(void *, size_t, size_t, size_t),
		    int (*pieces)(void *, size_t, struct parallel_bytes *))
{
	struct parallel p = { .nr_items = nr,
			      .chunk = 1,
			      .nr_threads = x->task->o->nr_threads,
			      .work = work,
			      .pieces = pieces,
			      .ctx = x,
			      .errs = x->errors,
			      .err = x->err };

	return parallel_run(&p);
}

/*
 * Learns phi from the mixes in which it makes a difference, over the variables that describe a
 * mix.
 */
static int learn_phi(struct depth_search *x)
{
	const struct parts_task *task = x->task;
	struct storage_parts *parts = x->parts;
	struct mix_point *points = calloc(task->nr_one + 1, sizeof(*points));
	int ret = points ? 0 : err_set(x->err, ENOMEM, "out of memory");

	parts->phi_low = INFINITY;
	parts->phi_high = 0;
	parts->nr_phi = 0;
	for (size_t i = 0; i < task->nr_one && !ret; i++) {
		struct mix_point *p = &points[parts->nr_phi];
		struct storage_net n;
		double sizes[2];

		ret = storage_mix_net(&n, task->mix, task->t, task->one[i], sizes, x->err);
		if (ret || !x->matters[i])
			continue;
		storage_mix_point(p->x, &n, sizes);
		p->y = x->found[i].best.alpha / x->found[i].best.beta;
		parts->phi_low = fmin(parts->phi_low, p->y);
		parts->phi_high = fmax(parts->phi_high, p->y);
		parts->nr_phi++;
	}
	if (!parts->nr_phi)
		parts->phi_low = parts->phi_high = 1;
	if (ret)
		goto out;
	if (parts->nr_phi >= LEAST_POINTS)
		ret = mix_fit(&parts->phi, points, parts->nr_phi, task->mix->by_size, task->o->seed,
			      task->o->nr_threads, x->err);
out:
	free(points);
	return ret;
}

/* Computes the error of the model with this depth. x->best keeps the best model so far. */
static int try_depth(struct depth_search *x, double depth, double *missed)
{
	struct storage_parts *parts = x->parts;
	double sum = 0;
	int ret;

	parts->depth = depth;
	ret = run_over(x, x->task->nr_one, find_phi, calibrate_depth_phi_pieces);
	if (ret)
		return ret;
	for (size_t i = 0; i < x->task->nr_one; i++)
		sum += x->found[i].best.error;
	parts->depth_error = *missed = sum / (double)x->task->nr_one;
	ret = learn_phi(x);
	if (ret)
		goto out;
	if (x->nr_many)
		ret = run_over(x, x->nr_many, calibrate_depth_judge, calibrate_depth_judge_pieces);
	if (ret)
		goto out;
	if (x->nr_many) {
		*missed = 0;
		for (size_t i = 0; i < x->nr_many; i++)
			*missed += x->many_error[i] / (double)x->nr_many;
	}
out:
	if (!ret && *missed < x->least) {
		x->least = *missed;
		model_release(&x->best.phi);
		x->best = *parts;
	} else {
		model_release(&parts->phi);
	}
	parts->phi = (struct model){ 0 };
	return ret;
}

/* Returns the largest number of requests of a mix. A greater depth would change nothing. */
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

static int calibrate_depth_search(struct depth_search *x)
{
	double last = INFINITY, missed;
	int ret = 0, rises = 0;

	for (double d = most_clients(x->task); d >= 1 && rises < 2 && !ret; d = floor(d / 2)) {
		ret = try_depth(x, d, &missed);
		rises = missed > WORSE * last ? rises + 1 : 0;
		last = missed;
	}
	for (double step = x->best.depth / 4; step >= 1 && !ret; step /= 2) {
		double middle = x->best.depth;

		ret = try_depth(x, round(middle - step), &missed);
		if (!ret)
			ret = try_depth(x, round(middle + step), &missed);
	}
	if (ret || x->precision == x->task->o->precision)
		return ret;
	/* Find phi once more, at the precision that the caller asked for. */
	x->precision = x->task->o->precision;
	x->least = INFINITY;
	return try_depth(x, x->best.depth, &missed);
}

int calibrate_depth(struct storage_parts *parts, const struct parts_task *task, struct err *err)
{
	struct storage_parts trial = *parts;
	struct depth_search x = { .task = task, .parts = &trial, .err = err, .least = INFINITY };
	size_t nr = task->nr_one + 1;
	int ret = 0;

	x.precision = fmax(ROUGH, task->o->precision);
	x.nr_many = task->nr_many < MANY_SAMPLE ? task->nr_many : MANY_SAMPLE;
	x.found = calloc(nr, sizeof(*x.found));
	x.matters = calloc(nr, sizeof(*x.matters));
	x.many_error = calloc(x.nr_many + 1, sizeof(*x.many_error));
	x.errors = calloc(nr + x.nr_many, sizeof(*x.errors));
	if (!x.found || !x.matters || !x.many_error || !x.errors)
		ret = err_set(err, ENOMEM, "out of memory");
	if (ret)
		goto out;
	ret = calibrate_depth_search(&x);
out:
	if (!ret)
		*parts = x.best;
	else
		model_release(&x.best.phi);
	free(x.found);
	free(x.matters);
	free(x.many_error);
	free(x.errors);
	return ret;
}

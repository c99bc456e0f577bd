// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/parallel.h"
#include "analyzer/models/storage/calibration/calibrate_hardware.h"
#include "analyzer/models/storage/calibration/calibrate_mix.h"
#include "analyzer/models/storage/calibration/calibrate_parts.h"
#include "analyzer/models/storage/calibration/calibrate_weights.h"
#include "analyzer/models/storage/fit/calibrate_phi.h"
#include "analyzer/models/storage/net/storage_predict.h"

#define LEAST_RATIOS 7
#define PHI_AROUND   8 /* the search begins within this factor of the ratio of throughputs */
/* Mean relative error below which one server will do; parts take long to find. */
#define ONE_SERVER_ENOUGH 0.1
#define PHI_STEPS	  200 /* at least this many values of phi are told apart */
/* Errors below this part of a solution's precision are its noise. */
#define PHI_ENOUGH 0.3

struct mixing {
	const struct storage_table *t;
	const struct mix_options *o;
	struct storage_mix *mix;
	size_t *one, nr_one;	     /* configurations of reads and writes on one VM */
	size_t *many, nr_many;	     /* indices of configurations of several VMs */
	struct weights_found *found; /* one for each of `one` */
	struct err *errors;
	double (*errors_of)[2]; /* for each of `many`: reads, writes */
	struct err *err;
};

static bool has_both(const struct storage_table *t, const struct storage_config *c)
{
	bool has[2] = { false, false };

	for (size_t i = c->begin; i < c->end; i++)
		has[t->rows[i].write] = true;
	return has[0] && has[1];
}

static int sort_configs(struct mixing *x)
{
	const struct storage_table *t = x->t;

	x->one = calloc(2 * t->nr_configs + 2, sizeof(*x->one));
	x->errors = calloc(t->nr_configs + 1, sizeof(*x->errors));
	x->found = calloc(t->nr_configs + 1, sizeof(*x->found));
	x->errors_of = calloc(t->nr_configs + 1, sizeof(*x->errors_of));
	if (!x->one || !x->errors || !x->found || !x->errors_of)
		return err_set(x->err, ENOMEM, "out of memory");
	x->many = x->one + t->nr_configs;
	for (size_t i = 0; i < t->nr_configs; i++) {
		if (t->configs[i].nr_vms > 1)
			x->many[x->nr_many++] = i;
		else if (has_both(t, &t->configs[i]))
			x->one[x->nr_one++] = i;
	}
	return 0;
}

/* Computes throughput times service time of reads and of writes in one configuration. */
static int calibrate_mix_utilizations(const struct mixing *x, size_t config, double u[2],
				      double sizes[2])
{
	const struct storage_config *c = &x->t->configs[config];
	struct storage_net n;
	int ret = storage_mix_net(&n, x->mix, x->t, config, sizes, x->err);

	u[0] = u[1] = 0;
	if (ret)
		return ret;
	for (size_t i = c->begin; i < c->end; i++) {
		const struct storage_row *r = &x->t->rows[i];

		u[r->write] +=
			r->clients / r->response_s * (r->write ? n.second.mean_s : n.first.mean_s);
	}
	return 0;
}

/*
 * Fits equation 7.10 by the utilization law: the sum of U (delta0 + delta1 ln s) is the sum of U -
 * 1.
 */
static int correct_service(struct mixing *x)
{
	size_t nr = x->nr_one;
	double *a = calloc(5 * nr + 1, sizeof(*a)), c[4] = { 0 }, p[4] = { NAN, NAN, NAN, NAN };
	int ret = a ? 0 : err_set(x->err, ENOMEM, "out of memory");

	if (ret)
		return ret;
	for (size_t i = 0; i < nr; i++) {
		double u[2], sizes[2];

		ret = calibrate_mix_utilizations(x, x->one[i], u, sizes);
		if (ret)
			goto out;
		for (int w = 0; w < 2; w++) {
			a[nr * (size_t)(2 * w) + i] = u[w];
			a[nr * (size_t)(2 * w + 1) + i] = u[w] * log(sizes[w]);
		}
		a[4 * nr + i] = u[0] + u[1] - 1;
	}
	ret = nr > 5 ? calibrate_service_delta(c, p, a, a + 4 * nr, nr) : 0;
	if (ret) {
		err_set(x->err, -ret, "%s: the service times cannot be corrected: %s", x->t->source,
			strerror(-ret));
		goto out;
	}
	for (int w = 0; w < 2; w++)
		for (int k = 0; k < 2; k++) {
			x->mix->service[w].delta[k] = c[2 * w + k];
			x->mix->service[w].delta_p[k] = p[2 * w + k];
		}
out:
	free(a);
	return ret;
}

/*
 * Fits the measured utilization. A mix whose reads and writes are limited by different parts keeps
 * the one server of the net busier than 1. The model is learned over all mixes, and kept if its
 * error on held-out rows is smaller than that of the constant 1.
 */
static int learn_busy(struct mixing *x)
{
	struct mix_point *points = calloc(x->t->nr_configs + 1, sizeof(*points));
	double plain = 0;
	size_t nr = 0;
	int ret = points ? 0 : err_set(x->err, ENOMEM, "out of memory");

	for (size_t i = 0; i < x->nr_one + x->nr_many && !ret; i++) {
		size_t config = i < x->nr_one ? x->one[i] : x->many[i - x->nr_one];
		struct storage_net n;
		double u[2], sizes[2];

		if (!has_both(x->t, &x->t->configs[config]))
			continue;
		ret = storage_mix_net(&n, x->mix, x->t, config, sizes, x->err);
		if (!ret)
			ret = calibrate_mix_utilizations(x, config, u, sizes);
		if (ret)
			break;
		storage_mix_point(points[nr].x, &n, sizes);
		points[nr].y = u[0] + u[1];
		plain += fabs(1 / points[nr++].y - 1);
	}
	if (!ret && nr >= LEAST_RATIOS)
		ret = mix_fit(&x->mix->busy, points, nr, x->mix->by_size, x->o->seed,
			      x->o->nr_threads, x->err);
	x->mix->has_busy = !ret && nr >= LEAST_RATIOS &&
			   x->mix->busy.quality.mean_relative_error < plain / (double)nr;
	if (!x->mix->has_busy)
		model_release(&x->mix->busy);
	free(points);
	return ret;
}

/* This struct is one configuration as Algorithm 3 sees it. */
struct one_net {
	struct storage_net net;
	const struct mix_options *o;
};

static int solve_one(void *ctx, double alpha, double beta, double *read_time, double *write_time,
		     struct err *err)
{
	struct one_net *one = ctx;
	struct storage_times times;
	int ret;

	one->net.vms[0].weight[0] = alpha;
	one->net.vms[0].weight[1] = beta;
	ret = storage_net_solve(&times, &one->net, one->o->precision, one->o->seed, err);
	if (ret)
		return ret;
	*read_time = times.time[0][0].mean.mean;
	*write_time = times.time[0][1].mean.mean;
	return ret;
}

static int find_phi(void *ctx, size_t chunk, size_t begin, size_t end)
{
	struct mixing *x = ctx;
	const struct storage_config *c = &x->t->configs[x->one[chunk]];
	struct one_net one = { .o = x->o };
	struct weights_search s = { .max_error = PHI_ENOUGH * x->o->precision,
				    .solve = solve_one,
				    .ctx = &one };
	double sizes[2], phi;
	int ret = storage_mix_net(&one.net, x->mix, x->t, x->one[chunk], sizes, &x->errors[chunk]);

	(void)begin;
	(void)end;
	for (size_t i = c->begin; i < c->end; i++)
		*(x->t->rows[i].write ? &s.write_time : &s.read_time) = x->t->rows[i].response_s;
	if (ret)
		return ret;
	storage_mix_weigh(&one.net, x->mix, sizes);
	phi = one.net.vms[0].clients[0] / s.read_time * s.write_time / one.net.vms[0].clients[1];
	s.phi_min = phi / PHI_AROUND;
	s.phi_max = phi * PHI_AROUND;
	s.digits = (unsigned int)fmin(6, fmax(0, ceil(log10(PHI_STEPS / phi))));
	return weights_search(&x->found[chunk], &s, &x->errors[chunk]);
}

static int calibrate_mix_tell(void *ctx, size_t chunk)
{
	const struct mixing *x = ctx;

	if (x->o->progress)
		x->o->progress(x->o->ctx, chunk + 1, x->nr_one);
	return 0;
}

static int calibrate_mix_pieces(void *ctx, size_t chunk, struct parallel_bytes *b)
{
	struct mixing *x = ctx;
	int ret = parallel_piece(b, &x->found[chunk], sizeof(*x->found));

	return ret ? ret : parallel_piece(b, &x->errors_of[chunk], sizeof(*x->errors_of));
}

static int run_over(struct mixing *x, size_t nr, int (*work)(void *, size_t, size_t, size_t))
{
	struct parallel p = { .nr_items = nr,
			      .nr_threads = x->o->nr_threads,
			      .work = work,
			      .reduce = calibrate_mix_tell,
			      .pieces = calibrate_mix_pieces,
			      .ctx = x,
			      .errs = x->errors,
			      .err = x->err };

	return parallel_run(&p);
}

static int calibrate_mix_generalize(struct mixing *x)
{
	struct mix_point *points = calloc(x->nr_one + 1, sizeof(*points));
	size_t ratios = 0;
	int ret = points ? 0 : err_set(x->err, ENOMEM, "out of memory");

	x->mix->phi_low = INFINITY;
	for (size_t i = 0; i < x->nr_one && !ret; i++) {
		const struct weights_step *best = &x->found[i].best;
		struct storage_net n;
		double sizes[2];
		bool seen = false;

		ret = storage_mix_net(&n, x->mix, x->t, x->one[i], sizes, x->err);
		if (ret)
			break;
		storage_mix_point(points[i].x, &n, sizes);
		points[i].y = best->alpha / best->beta;
		for (size_t k = 0; k < i; k++)
			seen |= points[k].x[MIX_CLIENTS_RATIO] == points[i].x[MIX_CLIENTS_RATIO];
		ratios += !seen;
		x->mix->phi_low = fmin(x->mix->phi_low, points[i].y);
		x->mix->phi_high = fmax(x->mix->phi_high, points[i].y);
	}
	if (!ret && ratios < LEAST_RATIOS)
		ret = err_set(x->err, EINVAL,
			      "%s: configurations of reads and writes together on one VM: %d "
			      "different ratios of their clients are needed, got %zu",
			      x->t->source, LEAST_RATIOS, ratios);
	x->mix->nr_phi = x->nr_one;
	if (!ret)
		ret = mix_fit(&x->mix->phi, points, x->nr_one, x->mix->by_size, x->o->seed,
			      x->o->nr_threads, x->err);
	free(points);
	return ret;
}

/* Relative errors of one configuration of the list with the mix as it is. */
static int judge_config(struct mixing *x, size_t config, double errors[2], struct err *err)
{
	const struct storage_config *c = &x->t->configs[config];
	double sizes[2], nr[2] = { 0, 0 };
	struct storage_times times;
	struct storage_net n;
	int ret = storage_mix_net(&n, x->mix, x->t, config, sizes, err);

	errors[0] = errors[1] = 0;
	if (!ret) {
		storage_mix_weigh(&n, x->mix, sizes);
		ret = storage_net_solve(&times, &n, x->o->precision, x->o->seed, err);
	}
	for (size_t i = c->begin; i < c->end && !ret; i++) {
		const struct storage_row *r = &x->t->rows[i];

		errors[r->write] += fabs(times.time[r->vm][r->write].mean.mean / r->response_s - 1);
		nr[r->write]++;
	}
	for (int w = 0; w < 2; w++)
		errors[w] = nr[w] > 0 ? errors[w] / nr[w] : NAN;
	return ret;
}

static int judge_many(void *ctx, size_t chunk, size_t begin, size_t end)
{
	struct mixing *x = ctx;

	(void)begin;
	(void)end;
	return judge_config(x, x->many[chunk], x->errors_of[chunk], &x->errors[chunk]);
}

static int judge_one(void *ctx, size_t chunk, size_t begin, size_t end)
{
	struct mixing *x = ctx;

	(void)begin;
	(void)end;
	return judge_config(x, x->one[chunk], x->errors_of[chunk], &x->errors[chunk]);
}

/* Returns the mean of the errors of reads and of writes over nr configurations. */
static double mean_error(const struct mixing *x, size_t nr, double by_type[2])
{
	double sum[2] = { 0, 0 }, n[2] = { 0, 0 };

	for (size_t i = 0; i < nr; i++)
		for (int w = 0; w < 2; w++) {
			if (!isfinite(x->errors_of[i][w]))
				continue;
			sum[w] += x->errors_of[i][w];
			n[w]++;
		}
	for (int w = 0; w < 2; w++)
		by_type[w] = n[w] > 0 ? sum[w] / n[w] : NAN;
	return (sum[0] + sum[1]) / (n[0] + n[1]);
}

/*
 * Returns kappa of a type. Throughput is divided in proportion to clients^kappa, so kappa is the
 * slope of ln (X_j / X_1) over ln (t_j / t_1), through 0.
 */
static double share_slope(const struct mixing *x, int write)
{
	double xy = 0, xx = 0;

	for (size_t i = 0; i < x->nr_many; i++) {
		const struct storage_config *c = &x->t->configs[x->many[i]];
		const struct storage_row *first = NULL;

		for (size_t k = c->begin; k < c->end; k++) {
			const struct storage_row *r = &x->t->rows[k];
			double t, share;

			if (r->write != write)
				continue;
			if (!first) {
				first = r;
				continue;
			}
			t = log(r->clients / first->clients);
			share = t + log(first->response_s / r->response_s);
			xy += t * share;
			xx += t * t;
		}
	}
	return xx > 0 ? xy / xx : 1;
}

/* Computes the clients of one VM, and the time that it gets: throughput times service time. */
static void vm_totals(const struct mixing *x, const struct storage_config *c, size_t vm, double *t,
		      double *busy)
{
	*t = *busy = 0;
	for (size_t k = c->begin; k < c->end; k++) {
		const struct storage_row *r = &x->t->rows[k];

		if (r->vm != vm)
			continue;
		*t += r->clients;
		*busy += r->clients / r->response_s *
			 storage_service_at(&x->mix->service[r->write], r->size_bytes);
	}
}

/* Fits kappa by least squares through 0, and returns the residual sum of squares. */
static double vm_slope(const struct mixing *x, double cap, double *kappa)
{
	double xy = 0, xx = 0, yy = 0;

	for (size_t i = 0; i < x->nr_many; i++) {
		const struct storage_config *c = &x->t->configs[x->many[i]];
		double t0, x0, t, throughput, dx, dy;

		vm_totals(x, c, 0, &t0, &x0);
		for (size_t j = 1; j < c->nr_vms; j++) {
			vm_totals(x, c, j, &t, &throughput);
			dx = log(fmin(t, cap) / fmin(t0, cap));
			dy = log(throughput / x0);
			xy += dx * dy;
			xx += dx * dx;
			yy += dy * dy;
		}
	}
	*kappa = xx > 0 ? xy / xx : 0;
	return yy - *kappa * xy;
}

static void share_vms(struct mixing *x)
{
	struct storage_mix *mix = x->mix;
	double best = vm_slope(x, INFINITY, &mix->vm_kappa), most = 0;

	mix->vm_cap = INFINITY;
	for (size_t i = 0; i < x->t->nr_rows; i++)
		most = fmax(most, x->t->rows[i].clients);
	for (double cap = 2; cap < 2 * most; cap++) {
		double kappa, left = vm_slope(x, cap, &kappa);

		if (left < best * (1 - 1e-9)) {
			best = left;
			mix->vm_cap = cap;
			mix->vm_kappa = kappa;
		}
	}
}

static int try_rule(struct mixing *x, double *error)
{
	int failed = run_over(x, x->nr_many, judge_many);

	if (!failed)
		*error = mean_error(x, x->nr_many, x->mix->mean_error);
	return failed;
}

static int find_parts(struct mixing *x)
{
	const struct parts_task task = { .t = x->t,
					 .mix = x->mix,
					 .one = x->one,
					 .nr_one = x->nr_one,
					 .many = x->many,
					 .nr_many = x->nr_many,
					 .o = x->o };

	return calibrate_parts(&x->mix->parts, &task, x->err);
}

static int choose_rule(struct mixing *x, enum storage_kind kind)
{
	struct storage_mix *mix = x->mix;
	enum storage_vm_rule best = STORAGE_NR_RULES;
	int ret = 0;

	mix->kappa[0] = share_slope(x, 0);
	mix->kappa[1] = share_slope(x, 1);
	share_vms(x);
	for (int rule = 0; rule < STORAGE_NR_RULES && !ret; rule++) {
		mix->rule = (enum storage_vm_rule)rule;
		if (x->o->rule != STORAGE_NR_RULES && rule != (int)x->o->rule)
			continue;
		if (rule == STORAGE_RULE_ADJUSTED && kind != STORAGE_VARIABLE)
			continue;
		if (rule == STORAGE_RULE_PARTS && x->o->rule != STORAGE_RULE_PARTS &&
		    mix->rule_error[best] < ONE_SERVER_ENOUGH)
			continue;
		if (rule == STORAGE_RULE_PARTS)
			ret = find_parts(x);
		if (ret)
			break;
		ret = try_rule(x, &mix->rule_error[rule]);
		if (!ret &&
		    (best == STORAGE_NR_RULES || mix->rule_error[rule] < mix->rule_error[best]))
			best = mix->rule;
	}
	if (ret)
		return ret;
	if (best == STORAGE_NR_RULES)
		return err_set(x->err, EINVAL, "algorithm-5 is for the model variable");
	mix->rule = best;
	if (kind == STORAGE_VARIABLE && best != STORAGE_RULE_PARTS) {
		mix->inversion = true;
		ret = try_rule(x, &mix->inversion_error);
		mix->inversion = mix->inversion_error < mix->rule_error[best];
	}
	return ret;
}

static void take_ranges(struct mixing *x)
{
	struct storage_mix *mix = x->mix;
	const struct storage_range none = { INFINITY, -INFINITY };

	mix->clients = mix->size[0] = mix->size[1] = mix->vms = none;
	for (int list = 0; list < 2; list++) {
		const size_t *configs = list ? x->many : x->one;

		for (size_t i = 0; i < (list ? x->nr_many : x->nr_one); i++) {
			const struct storage_config *c = &x->t->configs[configs[i]];

			storage_range_take(&mix->vms, (double)c->nr_vms);
			for (size_t k = c->begin; k < c->end; k++) {
				const struct storage_row *r = &x->t->rows[k];

				storage_range_take(&mix->clients, r->clients);
				storage_range_take(&mix->size[r->write], r->size_bytes);
			}
		}
	}
	mix->nr_rows = x->t->nr_rows;
}

static int calibrate_mix_calibrate(struct mixing *x, enum storage_kind kind)
{
	size_t nr;
	int ret = sort_configs(x);

	if (ret)
		return ret;
	for (int w = 0; w < 2; w++) {
		ret = calibrate_service(&x->mix->service[w], x->t, w, x->o->saturated, &nr, x->err);
		if (ret)
			return ret;
	}
	if (kind != STORAGE_MIXED && !x->nr_many)
		return err_set(x->err, EINVAL,
			       "%s: no configuration of several VMs: rows of one configuration "
			       "that differ in vm are needed",
			       x->t->source);
	x->mix->by_size = kind == STORAGE_VARIABLE;
	ret = x->mix->by_size ? correct_service(x) : 0;
	if (ret)
		return ret;
	ret = learn_busy(x);
	if (ret)
		return ret;
	ret = run_over(x, x->nr_one, find_phi);
	if (ret)
		return ret;
	ret = calibrate_mix_generalize(x);
	if (ret)
		return ret;
	take_ranges(x);
	ret = kind != STORAGE_MIXED ? choose_rule(x, kind) : 0;
	if (ret)
		return ret;
	ret = run_over(x, x->nr_one, judge_one);
	if (!ret)
		mean_error(x, x->nr_one, x->mix->mean_error);
	return ret;
}

int calibrate_mix(struct storage_model *m, enum storage_kind kind, const struct storage_table *t,
		  const struct mix_options *o, struct err *err)
{
	struct storage_model made = { .kind = kind, .seed = o->seed, .mix.inversion_error = NAN };
	struct mixing x = { .t = t, .o = o, .mix = &made.mix, .err = err };
	int ret;

	for (int rule = 0; rule < STORAGE_NR_RULES; rule++)
		made.mix.rule_error[rule] = NAN;
	ret = calibrate_mix_calibrate(&x, kind);
	free(x.one);
	free(x.errors);
	free(x.found);
	free(x.errors_of);
	if (ret)
		storage_model_release(&made);
	else
		*m = made;
	return ret;
}

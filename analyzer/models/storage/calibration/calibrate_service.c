// SPDX-License-Identifier: Apache-2.0
/* This file fits service times of requests that hit the cache; see calibrate_hardware.h. */
#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/lsq.h"
#include "analyzer/models/storage/calibration/calibrate_hardware.h"

static const char *const types[] = { "reads", "writes" };

/* Returns true if the configuration has only this type and one size. */
static bool is_alone(struct storage_load *l, const struct storage_table *t, size_t config,
		     bool write)
{
	return storage_load_of(l, t, &t->configs[config]) &&
	       (l->class >= STORAGE_RANDOM_WRITE) == write;
}

/*
 * Finds the largest number of clients of runs of one type alone, and the mean standard deviation
 * of one client.
 */
static int calibrate_service_look(const struct storage_table *t, bool write, double *most,
				  double *sd, struct err *err)
{
	size_t nr = 0;

	*most = *sd = 0;
	for (size_t i = 0; i < t->nr_configs; i++) {
		const struct storage_row *row = &t->rows[t->configs[i].begin];
		struct storage_load l;

		if (!is_alone(&l, t, i, write))
			continue;
		*most = fmax(*most, l.clients);
		if (l.clients != 1 || !(row->sd_s > 0))
			continue;
		*sd += row->sd_s;
		nr++;
	}
	*sd /= (double)nr;
	if (nr)
		return 0;
	return err_set(err, EINVAL,
		       "%s: %s alone: no run of one client: one with its response_sd_s is needed "
		       "for the spread of service times",
		       t->source, types[write]);
}

/*
 * Fits mu(s). If there is one size only, no slope can be fitted: the result is a constant, valid
 * for that size.
 */
static int fit_service(struct storage_cases *c, struct storage_point *p, size_t nr, bool two)
{
	struct storage_case *all = &c->items[0];

	if (two)
		return storage_cases_fit(c, STORAGE_FORM_7_5, p, nr);
	*c = (struct storage_cases){ .nr = 1, .nr_rows = nr, .r2 = NAN };
	for (int axis = 0; axis < STORAGE_NR_AXES; axis++) {
		all->low[axis] = -INFINITY;
		all->high[axis] = INFINITY;
	}
	all->fit = (struct storage_fit){ .form = STORAGE_FORM_7_5,
					 .nr_terms = 1,
					 .nr_rows = nr,
					 .r2 = NAN,
					 .terms = { { .p = NAN } } };
	for (size_t i = 0; i < nr; i++)
		all->fit.terms[0].coefficient += p[i].y / (double)nr;
	return 0;
}

int calibrate_service(struct storage_service *out, const struct storage_table *t, bool write,
		      double saturated, size_t *nr, struct err *err)
{
	struct storage_point *p = calloc(t->nr_configs + 1, sizeof(*p));
	struct storage_service s = { .delta_p = { NAN, NAN } };
	double most = 0;
	bool two = false;
	int ret = p ? calibrate_service_look(t, write, &most, &s.sd_s, err)
		    : err_set(err, ENOMEM, "out of memory");

	*nr = 0;
	saturated = fmax(2, saturated > 0 ? saturated : most);
	for (size_t i = 0; i < t->nr_configs && !ret; i++) {
		struct storage_load l;

		if (!is_alone(&l, t, i, write) || l.clients < saturated)
			continue;
		p[*nr] = (struct storage_point){ .s = l.size_bytes, .y = l.response_s / l.clients };
		two |= p[*nr].s != p[0].s;
		(*nr)++;
	}
	if (!ret && !*nr)
		ret = err_set(err, EINVAL, "%s: %s alone: runs of at least %g clients are needed",
			      t->source, types[write], saturated);
	if (!ret)
		ret = fit_service(&s.fit, p, *nr, two);
	if (ret && err && !err->code)
		err_set(err, -ret, "%s: the service times cannot be fitted: %s", t->source,
			strerror(-ret));
	if (ret)
		goto out;
	*out = s;
out:
	free(p);
	return ret;
}

int calibrate_alone(struct storage_cases *out, const struct storage_table *t, bool write,
		    struct err *err)
{
	struct storage_point *p = calloc(t->nr_configs + 1, sizeof(*p));
	double most, sd;
	size_t nr = 0;
	bool two = false;
	int ret = p ? calibrate_service_look(t, write, &most, &sd, err)
		    : err_set(err, ENOMEM, "out of memory");

	for (size_t i = 0; i < t->nr_configs && !ret; i++) {
		struct storage_load l;

		if (!is_alone(&l, t, i, write) || l.clients != 1)
			continue;
		p[nr] = (struct storage_point){ .s = l.size_bytes, .y = l.response_s };
		two |= p[nr].s != p[0].s;
		nr++;
	}
	if (ret)
		goto out;
	ret = fit_service(out, p, nr, two);
out:
	if (ret && err && !err->code)
		err_set(err, -ret, "%s: the times of one client cannot be fitted: %s", t->source,
			strerror(-ret));
	free(p);
	return ret;
}

/* Takes t mu(s) as the mean response time, and computes its error on the runs. */
static void take_class(struct storage_class_model *c, const struct storage_service *s,
		       const struct storage_table *t, bool write)
{
	size_t nr = 0;

	*c = (struct storage_class_model){ .present = true,
					   .file_set_max = INFINITY,
					   .cached = s->fit,
					   .cached_sd_s = s->sd_s,
					   .uncached_sd_s = s->sd_s,
					   .clients = { INFINITY, -INFINITY },
					   .size = { INFINITY, -INFINITY },
					   .file_set = { 0, INFINITY } };
	for (size_t i = 0; i < c->cached.nr; i++) {
		struct storage_fit *f = &c->cached.items[i].fit;

		f->form = STORAGE_FORM_7_1;
		for (size_t k = 0; k < f->nr_terms; k++)
			f->terms[k].t = 1;
	}
	for (size_t i = 0; i < t->nr_configs; i++) {
		struct storage_load l;
		double e;

		if (!is_alone(&l, t, i, write))
			continue;
		c->nr_rows++;
		storage_range_take(&c->size, l.size_bytes);
		if (l.clients < 2)
			continue;
		storage_range_take(&c->clients, l.clients);
		e = fabs(storage_cases_at(&c->cached, l.clients, l.size_bytes, 1) / l.response_s -
			 1);
		c->mean_error += e;
		c->max_error = fmax(c->max_error, e);
		nr++;
	}
	c->mean_error /= (double)nr;
}

static bool has_type(const struct storage_table *t, bool write)
{
	for (size_t i = 0; i < t->nr_rows; i++)
		if (t->rows[i].write == write)
			return true;
	return false;
}

int calibrate_cached(struct storage_model *m, const struct storage_table *t, double saturated,
		     struct err *err)
{
	struct storage_model made = { .kind = STORAGE_CACHE };

	for (int write = 0; write < 2; write++) {
		struct storage_class_model *c = &made.classes[2 * write];
		struct storage_service s;
		size_t nr;
		int ret;

		if (!has_type(t, write))
			continue;
		ret = calibrate_service(&s, t, write, saturated, &nr, err);
		if (ret)
			return ret;
		take_class(c, &s, t, write);
		c[1] = c[0]; /* in the cache, random and sequential requests are alike */
	}
	*m = made;
	return 0;
}

/*
 * Fits the columns that are still in, of the four in x. *drop becomes the least significant column
 * whose p is above STORAGE_FIT_P, or -1.
 */
static int calibrate_service_delta_fit(double coefficients[4], double p[4], const bool in[4],
				       const double *x, const double *y, size_t nr, double *columns,
				       int *drop)
{
	double c[4], e[4];
	bool used[4];
	struct lsq_problem problem = { .nr_rows = nr, .x = columns, .y = y };
	struct lsq_result r = { .coefficients = c, .standard_errors = e, .used = used };
	int ret;

	*drop = -1;
	for (int k = 0; k < 4; k++)
		if (in[k])
			memcpy(columns + nr * problem.nr_columns++, x + nr * (size_t)k,
			       nr * sizeof(*x));
	if (!problem.nr_columns)
		return 0;
	ret = lsq_solve(&problem, &r);
	if (ret)
		return ret;
	for (int k = 0, at = 0; k < 4; k++) {
		coefficients[k] = 0;
		if (!in[k])
			continue;
		coefficients[k] = c[at];
		p[k] = !used[at] ? 1
				 : 2 * gsl_cdf_tdist_Q(fabs(c[at] / e[at]),
						       (double)nr - (double)r.rank);
		if (p[k] > STORAGE_FIT_P && (*drop < 0 || p[k] > p[*drop]))
			*drop = k;
		at++;
	}
	return 0;
}

int calibrate_service_delta(double coefficients[4], double p[4], const double *x, const double *y,
			    size_t nr)
{
	bool in[4] = { true, true, true, true };
	double *columns = calloc(4 * nr + 1, sizeof(*columns));
	int drop, ret = columns ? 0 : -ENOMEM;

	if (ret)
		return ret;
	do {
		ret = calibrate_service_delta_fit(coefficients, p, in, x, y, nr, columns, &drop);
		if (ret)
			goto out;
		if (drop >= 0)
			in[drop] = false;
	} while (drop >= 0);
out:
	free(columns);
	return ret;
}

// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/lsq.h"
#include "analyzer/models/storage/calibration/calibrate_cache.h"

/* This struct is one measured configuration. */
struct run {
	double clients, size, response;
};

struct runs {
	struct run *items;
	size_t nr;
	double sd_sum; /* of one-client runs */
	size_t nr_single;
};

/* Reads a cell whose value must be above 0. */
static int calibrate_cache_positive(const struct table *t, int column, size_t row, double *out,
				    struct err *err)
{
	int ret = table_number(t, (size_t)column, row, out, err);

	if (ret || *out > 0)
		return ret;
	return err_set(err, EINVAL, "%s:%llu: %s: expected a number above 0, got %g", t->source,
		       (unsigned long long)t->lines[row], t->columns[column].name, *out);
}

static int calibrate_cache_run(struct runs *all, const struct table *t, const int *columns,
			       size_t row, struct err *err)
{
	struct run *r = &all->items[all->nr];
	double sd;
	double *const members[] = { &r->clients, &r->size, &r->response };
	int ret;

	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		ret = calibrate_cache_positive(t, columns[i], row, members[i], err);
		if (ret)
			return ret;
	}
	if (r->clients != floor(r->clients))
		return err_set(err, EINVAL, "%s:%llu: clients: expected a whole number, got %g",
			       t->source, (unsigned long long)t->lines[row], r->clients);
	all->nr++;
	if (r->clients != 1)
		return 0;
	ret = calibrate_cache_positive(t, columns[3], row, &sd, err);
	if (ret)
		return ret;
	all->sd_sum += sd;
	all->nr_single++;
	return 0;
}

static int read_runs(struct runs *all, const struct table *t, const struct row_filter *f,
		     struct err *err)
{
	static const char *const names[] = { "clients", "size_bytes", "response_time_s",
					     "response_sd_s" };
	bool *chosen = calloc(t->nr_rows + 1, sizeof(*chosen));
	int columns[4], ret = 0;

	all->items = calloc(t->nr_rows + 1, sizeof(*all->items));
	if (!chosen || !all->items)
		ret = err_set(err, ENOMEM, "out of memory");
	if (ret)
		goto out;
	for (size_t i = 0; i < 4; i++) {
		columns[i] = table_find(t, names[i], err);
		ret = columns[i] < 0 ? -EINVAL : 0;
		if (ret)
			goto out;
	}
	ret = row_filter_apply(chosen, t, f, err);
	if (ret)
		goto out;
	for (size_t row = 0; row < t->nr_rows; row++) {
		if (chosen[row])
			ret = calibrate_cache_run(all, t, columns, row, err);
		if (ret)
			goto out;
	}
out:
	free(chosen);
	return ret;
}

/* Reports what the fit needs and the table does not have. */
static int check_enough(const struct table *t, const struct runs *all, const struct cache_model *m,
			struct err *err)
{
	double size = 0;
	bool two = false;

	if (!all->nr)
		return err_set(err, EINVAL, "%s: no row is left to calibrate on", t->source);
	if (!all->nr_single)
		return err_set(err, EINVAL,
			       "%s: no run of one client: one with its response_sd_s is needed for "
			       "the spread of service times",
			       t->source);
	for (size_t i = 0; i < all->nr; i++) {
		if (all->items[i].clients < m->saturated || all->items[i].clients < 2)
			continue;
		two |= size > 0 && all->items[i].size != size;
		size = all->items[i].size;
	}
	if (two)
		return 0;
	return err_set(
		err, EINVAL,
		"%s: runs of at least %g clients: two request sizes or more are needed, got %s",
		t->source, fmax(2, m->saturated), size > 0 ? "one" : "none");
}

static double p_value(double coefficient, double error, double freedom)
{
	if (!(freedom > 0) || !(error > 0))
		return NAN;
	return 2 * gsl_cdf_tdist_Q(fabs(coefficient / error), freedom);
}

/* Fits mu(s) = c0 + c1 s over the saturated runs. */
static int fit_service(struct cache_model *m, const struct runs *all, struct err *err)
{
	double *x = calloc(3 * all->nr, sizeof(*x)), *y = x + 2 * all->nr;
	double coefficients[2], errors[2], mean = 0, total = 0;
	struct lsq_result r = { .coefficients = coefficients, .standard_errors = errors };
	struct lsq_problem p = { .nr_columns = 2, .x = x, .y = y };
	size_t nr = 0;
	int ret;

	if (!x)
		return err_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < all->nr; i++)
		nr += all->items[i].clients >= fmax(2, m->saturated);
	for (size_t i = 0, k = 0; i < all->nr; i++) {
		if (all->items[i].clients < fmax(2, m->saturated))
			continue;
		x[k] = 1;
		x[nr + k] = all->items[i].size;
		y[k] = all->items[i].response / all->items[i].clients;
		mean += y[k++] / (double)nr;
	}
	for (size_t k = 0; k < nr; k++)
		total += (y[k] - mean) * (y[k] - mean);
	p.nr_rows = m->nr_fitted = nr;
	ret = lsq_solve(&p, &r);
	free(x);
	if (ret)
		return err_set(err, -ret, "the service times cannot be fitted: %s", strerror(-ret));
	m->c0_s = coefficients[0];
	m->c1_s_per_byte = coefficients[1];
	m->p0 = p_value(coefficients[0], errors[0], (double)nr - 2);
	m->p1 = p_value(coefficients[1], errors[1], (double)nr - 2);
	m->r2 = total > 0 ? 1 - r.rss / total : NAN;
	return 0;
}

static double calibrate_cache_service(const struct cache_model *m, double size)
{
	return m->c0_s + m->c1_s_per_byte * size;
}

static int calibrate_cache_judge(struct cache_model *m, const struct table *t,
				 const struct runs *all, struct err *err)
{
	double sum = 0;
	size_t nr = 0;

	m->size_min_bytes = INFINITY;
	for (size_t i = 0; i < all->nr; i++) {
		const struct run *r = &all->items[i];
		double e = fabs(r->clients * calibrate_cache_service(m, r->size) / r->response - 1);

		if (!(calibrate_cache_service(m, r->size) > 0))
			return err_set(
				err, EINVAL,
				"%s: the service time fitted at %g bytes is %g s: these runs "
				"do not follow c0 + c1 size",
				t->source, r->size, calibrate_cache_service(m, r->size));
		m->size_min_bytes = fmin(m->size_min_bytes, r->size);
		m->size_max_bytes = fmax(m->size_max_bytes, r->size);
		m->clients_max = fmax(m->clients_max, r->clients);
		if (r->clients < 2)
			continue;
		sum += e;
		m->max_error = fmax(m->max_error, e);
		nr++;
	}
	m->mean_error = sum / (double)nr;
	m->nr_rows = all->nr;
	return 0;
}

int calibrate_cache(struct cache_model *m, const struct table *t, const struct row_filter *filter,
		    double saturated, struct err *err)
{
	struct cache_model fit = { .saturated = saturated };
	struct runs all = { .nr = 0 };
	int ret = read_runs(&all, t, filter, err);

	if (ret)
		goto out;
	for (size_t i = 0; !(saturated > 0) && i < all.nr; i++)
		fit.saturated = fmax(fit.saturated, all.items[i].clients);
	ret = check_enough(t, &all, &fit, err);
	if (ret)
		goto out;
	ret = fit_service(&fit, &all, err);
	if (ret)
		goto out;
	ret = calibrate_cache_judge(&fit, t, &all, err);
	if (ret)
		goto out;
	fit.sd_s = all.sd_sum / (double)all.nr_single;
	fit.nr_single = all.nr_single;
	*m = fit;
out:
	free(all.items);
	return ret;
}

void cache_model_write(const struct cache_model *m, FILE *out)
{
	fprintf(out,
		"# A storage system whose requests all hit its cache, calibrated from end-to-end response\n"
		"# times; times in seconds. Service time c0 + c1 size from %zu runs of %g clients or more,\n"
		"# spread from %zu of one client. Seen: sizes of %g to %g bytes, up to %g clients; error of\n"
		"# the mean response time over all runs %.2f %% on average, %.2f %% at most.\n"
		"# Ask it: blkcast qpn solve FILE --set clients=50 --set size=16k\n"
		"net: cache\n"
		"parameters:\n"
		"  clients: %g\n"
		"  size: %g          # bytes\n"
		"  think: 1ns        # of a client between an answer and its next request\n"
		"  c0: %.17g\n"
		"  c1: %.17g\n"
		"  sd: %.17g\n",
		m->nr_fitted, m->saturated, m->nr_single, m->size_min_bytes, m->size_max_bytes,
		m->clients_max, 100 * m->mean_error, 100 * m->max_error, m->clients_max,
		m->size_min_bytes, m->c0_s, m->c1_s_per_byte, m->sd_s);
	fputs("colours: [request]\n"
	      "places:\n"
	      "  clients:\n"
	      "    queue: is\n"
	      "    tokens: {request: clients}\n"
	      "    service:\n"
	      "      request: {exponential: {mean: think}}\n"
	      "  storage:\n"
	      "    queue: fcfs\n"
	      "    service:\n"
	      "      request: {gamma: {mean: c0 + c1 * size, sd: sd}}\n"
	      "transitions:\n"
	      "  submit: {take: {clients: request}, put: {storage: request}}\n"
	      "  answer: {take: {storage: request}, put: {clients: request}}\n",
	      out);
}

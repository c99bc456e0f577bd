// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/arch_fit.h"
#include "analyzer/models/num/lsq.h"

/* relative width of a difference, larger than the steps of a list length */
#define STEP	     0.1
#define ENOUGH	     1e-3 /* the fit ends when the relative gain of a round is below this */
#define FIRST_DAMP   0.01
#define LARGEST_DAMP 1e4
#define MAX_MOVE     1.5 /* largest change of a logarithm in one round */
#define SUM_WEIGHT \
	10 /* weight of the sum over a round against each time: it is the most precise one */

int arch_measured_read(struct arch_measured_set *out, const struct table *t, struct err *err)
{
	int name = table_find(t, "time", err), mean = table_find(t, "mean_s", err);
	int per_round = table_find(t, "per_round", NULL), ret;

	*out = (struct arch_measured_set){ .source = t->source };
	if (name < 0 || mean < 0)
		return name < 0 ? name : mean;
	out->items = calloc(t->nr_rows + 1, sizeof(*out->items));
	if (!out->items)
		return err_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < t->nr_rows; i++) {
		struct arch_measured *x = &out->items[out->nr++];

		ret = table_number(t, (size_t)mean, i, &x->mean_s, err);
		x->name = t->columns[name].cells[i];
		x->per_round = 1;
		if (ret)
			goto out;
		if (per_round >= 0)
			ret = table_number(t, (size_t)per_round, i, &x->per_round, err);
		if (ret)
			goto out;
		if (!(x->mean_s > 0 && x->per_round > 0)) {
			ret = err_set(err, EINVAL,
				      "%s: row %zu: expected mean_s and per_round above 0",
				      t->source, i + 1);
			goto out;
		}
	}
	return out->nr ? 0 : err_set(err, EINVAL, "%s: expected one row at least", t->source);
out:
	arch_measured_release(out);
	return ret;
}

void arch_measured_release(struct arch_measured_set *s)
{
	free(s->items);
	*s = (struct arch_measured_set){ 0 };
}

static int find_time(const struct arch_model *m, const struct arch_solution *s, const char *name,
		     uint32_t *index)
{
	for (*index = 0; *index < s->nr_times; ++*index) {
		char *other = arch_time_name(m, *index);
		bool same = other && !strcmp(other, name);

		free(other);
		if (same && s->nr[*index] > 0)
			return 0;
	}
	return -ENOENT;
}

int arch_errors(struct arch_errors *out, struct arch_measured_set *measured,
		const struct arch_model *m, const struct arch_solution *s, struct err *err)
{
	double io = 0, sum_m = 0, sum_p = 0;
	size_t nr_io = 0;

	for (size_t i = 0; i < measured->nr; i++) {
		struct arch_measured *x = &measured->items[i];
		uint32_t index;

		if (find_time(m, s, x->name, &index))
			return err_set(err, EINVAL,
				       "%s: row %zu: the model has no operation, io or scenario "
				       "\"%.80s\" that happened",
				       measured->source, i + 1, x->name);
		x->predicted_s = s->times[index].mean.mean;
		x->io = index >= m->nr_scenarios && index < m->nr_scenarios + m->nr_measures &&
			m->measures[index - m->nr_scenarios].io;
		sum_m += x->per_round * x->mean_s;
		sum_p += x->per_round * x->predicted_s;
		io += x->io ? fabs(x->mean_s - x->predicted_s) / x->mean_s : 0;
		nr_io += x->io;
	}
	out->io = nr_io ? io / (double)nr_io : NAN;
	out->end_to_end = fabs(sum_m - sum_p) / sum_m;
	return 0;
}

/*
 * The least-squares problem has one row for each time, one row for their sum over a round, and one
 * row for each parameter, which damps that parameter.
 */
struct search {
	struct arch_fit *f;
	size_t rows;
	double *x, *y;	    /* owned */
	double *now, *next; /* owned: one for each time */
	double step[ARCH_FIT_MAX];
	double cost;
};

/* Computes the residuals in r and their sum of squares. */
static int arch_fit_evaluate(struct search *s, const struct arch_fit_parameter *p, double *r,
			     double *cost, struct err *err)
{
	struct arch_errors e;
	int ret = s->f->predict(s->f->ctx, p, &e, err);
	double sum_m = 0, sum_p = 0, all;

	*cost = 0;
	s->f->solutions++;
	if (ret)
		return ret;
	for (size_t i = 0; i < s->f->measured->nr; i++) {
		const struct arch_measured *m = &s->f->measured->items[i];

		/* A predicted time of 0 counts as a thousandth of the measured time. */
		r[i] = log(fmax(m->predicted_s, 1e-3 * m->mean_s) / m->mean_s);
		*cost += r[i] * r[i];
		sum_m += m->per_round * m->mean_s;
		sum_p += m->per_round * m->predicted_s;
	}
	all = SUM_WEIGHT * log(fmax(sum_p, 1e-3 * sum_m) / sum_m);
	r[s->f->measured->nr] = all;
	*cost += all * all;
	return 0;
}

/*
 * Computes the slopes of the residuals at the present parameters, by differences towards the
 * farther bound.
 */
static int arch_fit_differentiate(struct search *s, struct err *err)
{
	struct arch_fit_parameter p[ARCH_FIT_MAX];
	size_t nr = s->f->measured->nr + 1;

	memcpy(p, s->f->parameters, s->f->nr * sizeof(*p));
	for (size_t k = 0; k < s->f->nr; k++) {
		double value = p[k].value, cost;
		double h = value * exp(STEP) <= p[k].high ? STEP : -STEP;
		int ret;

		p[k].value = fmax(p[k].low, value * exp(h));
		h = log(p[k].value / value);
		ret = h != 0 ? arch_fit_evaluate(s, p, s->next, &cost, err) : 0;
		if (ret)
			return ret;
		p[k].value = value;
		memset(s->x + k * s->rows, 0, s->rows * sizeof(double));
		for (size_t i = 0; h != 0 && i < nr; i++)
			s->x[k * s->rows + i] = (s->next[i] - s->now[i]) / h;
	}
	return 0;
}

static int arch_fit_propose(struct search *s, double damp)
{
	struct lsq_problem p = { .nr_rows = s->rows, .nr_columns = s->f->nr, .x = s->x, .y = s->y };
	struct lsq_result r = { .coefficients = s->step };
	size_t nr = s->f->measured->nr + 1;

	for (size_t i = 0; i < s->rows; i++)
		s->y[i] = i < nr ? -s->now[i] : 0;
	for (size_t k = 0; k < s->f->nr; k++)
		s->x[k * s->rows + nr + k] = sqrt(damp);
	return lsq_solve(&p, &r);
}

/* Applies the proposed step within the bounds. */
static void arch_fit_move(const struct search *s, struct arch_fit_parameter *p)
{
	memcpy(p, s->f->parameters, s->f->nr * sizeof(*p));
	for (size_t k = 0; k < s->f->nr; k++) {
		double by = fmax(-MAX_MOVE, fmin(MAX_MOVE, s->step[k]));

		p[k].value = fmax(p[k].low, fmin(p[k].high, p[k].value * exp(by)));
	}
}

/*
 * Makes one round: computes slopes, then tries steps with more and more damping until one is
 * better. *gain is relative; 0 means that no step was better.
 */
static int arch_fit_improve(struct search *s, double *damp, double *gain, struct err *err)
{
	struct arch_fit_parameter p[ARCH_FIT_MAX];
	double cost = INFINITY;
	int ret = arch_fit_differentiate(s, err);

	*gain = 0;
	if (ret)
		return ret;
	for (; *damp <= LARGEST_DAMP; *damp *= 10) {
		ret = arch_fit_propose(s, *damp);
		if (ret)
			return err_set(err, -ret, "the fit's least squares failed");
		arch_fit_move(s, p);
		ret = arch_fit_evaluate(s, p, s->next, &cost, err);
		if (ret || cost < s->cost)
			break;
	}
	if (ret || !(cost < s->cost))
		return ret;
	*gain = 1 - cost / s->cost;
	*damp /= 10;
	s->cost = cost;
	memcpy(s->f->parameters, p, s->f->nr * sizeof(*p));
	memcpy(s->now, s->next, (s->f->measured->nr + 1) * sizeof(double));
	return 0;
}

int arch_fit(struct arch_fit *f, struct err *err)
{
	size_t nr = f->measured->nr + 1;
	struct search s = { .f = f, .rows = nr + f->nr };
	double damp = FIRST_DAMP, gain = 1;
	int ret;

	f->rounds = f->solutions = 0;
	s.x = calloc(s.rows * f->nr, sizeof(double));
	s.y = calloc(s.rows, sizeof(double));
	s.now = calloc(nr, sizeof(double));
	s.next = calloc(nr, sizeof(double));
	ret = s.x && s.y && s.now && s.next
		      ? arch_fit_evaluate(&s, f->parameters, s.now, &s.cost, err)
		      : err_set(err, ENOMEM, "out of memory");
	while (!ret && gain > ENOUGH && s.cost > 0 && f->rounds < f->max_rounds) {
		ret = arch_fit_improve(&s, &damp, &gain, err);
		f->rounds++;
	}
	f->rms = sqrt(s.cost / (double)nr);
	free(s.x);
	free(s.y);
	free(s.now);
	free(s.next);
	return ret;
}

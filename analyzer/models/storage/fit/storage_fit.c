// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/models/num/lsq.h"
#include "analyzer/models/storage/fit/storage_fit.h"

static void form_terms(struct storage_fit *f)
{
	for (unsigned char i = 0; i < 8; i++) {
		struct storage_term t = { .t = i >> 1 & 1, .s = i & 1, .f = i >> 2 };
		bool in = f->form == STORAGE_FORM_7_7 || (f->form == STORAGE_FORM_7_1 && !t.f) ||
			  (f->form == STORAGE_FORM_7_8 && (!t.f || (!t.t && !t.s))) ||
			  (f->form == STORAGE_FORM_LN && !t.t && !t.s) ||
			  (f->form == STORAGE_FORM_7_5 && !t.t && !t.f);

		if (in)
			f->terms[f->nr_terms++] = t;
	}
}

size_t storage_form_terms(enum storage_form form)
{
	struct storage_fit f = { .form = form };

	form_terms(&f);
	return f.nr_terms;
}

const char *storage_term_name(const struct storage_term *t)
{
	static const char *const names[] = { "1",    "s",      "t",	 "t s",
					     "ln f", "s ln f", "t ln f", "t s ln f" };

	return names[t->f * 4 + t->t * 2 + t->s];
}

static double term_at(const struct storage_term *e, double t, double s, double ln_f)
{
	return (e->t ? t : 1) * (e->s ? s : 1) * (e->f ? ln_f : 1);
}

static double ln_of(double file_set)
{
	return log(file_set / STORAGE_FIT_UNIT);
}

double storage_fit_at(const struct storage_fit *f, double t, double s, double file_set)
{
	double sum = 0;

	for (size_t i = 0; i < f->nr_terms; i++)
		if (!f->terms[i].pruned)
			sum += f->terms[i].coefficient *
			       term_at(&f->terms[i], t, s, f->terms[i].f ? ln_of(file_set) : 0);
	return sum;
}

/* This struct is the memory of one fit. */
struct work {
	const struct storage_point *points;
	size_t nr;
	double *x, *y, *weight;
};

static int storage_fit_solve(struct storage_fit *f, struct work *w)
{
	double coefficients[STORAGE_FIT_TERMS], errors[STORAGE_FIT_TERMS];
	bool used[STORAGE_FIT_TERMS];
	struct lsq_result r = { .coefficients = coefficients,
				.standard_errors = errors,
				.used = used };
	struct lsq_problem p = { .nr_rows = w->nr, .x = w->x, .y = w->y, .weight = w->weight };
	double freedom;
	int ret;

	for (size_t k = 0; k < f->nr_terms; k++) {
		double *column = w->x + p.nr_columns * w->nr;

		if (f->terms[k].pruned)
			continue;
		for (size_t i = 0; i < w->nr; i++)
			column[i] = term_at(&f->terms[k], w->points[i].t, w->points[i].s,
					    f->terms[k].f ? ln_of(w->points[i].f) : 0);
		p.nr_columns++;
	}
	ret = lsq_solve(&p, &r);
	if (ret)
		return ret;
	freedom = (double)w->nr - (double)r.rank;
	f->rss = r.rss;
	for (size_t k = 0, c = 0; k < f->nr_terms; k++) {
		struct storage_term *t = &f->terms[k];

		if (t->pruned)
			continue;
		t->coefficient = coefficients[c];
		t->p = !used[c] ? 1
		       : freedom > 0 && errors[c] > 0
			       ? 2 * gsl_cdf_tdist_Q(fabs(coefficients[c] / errors[c]), freedom)
			       : NAN;
		c++;
	}
	return 0;
}

/*
 * Returns the least significant of the insignificant terms, or -1. The last term is never
 * returned.
 */
static int storage_fit_weakest(const struct storage_fit *f)
{
	int at = -1, left = 0;

	for (size_t k = 0; k < f->nr_terms; k++) {
		if (f->terms[k].pruned)
			continue;
		left++;
		if (f->terms[k].p > STORAGE_FIT_P && (at < 0 || f->terms[k].p > f->terms[at].p))
			at = (int)k;
	}
	return left > 1 ? at : -1;
}

static void storage_fit_judge(struct storage_fit *f, const struct work *w)
{
	double mean = 0, total = 0, left = 0;

	for (size_t i = 0; i < w->nr; i++)
		mean += w->points[i].y / (double)w->nr;
	for (size_t i = 0; i < w->nr; i++) {
		const struct storage_point *p = &w->points[i];
		double e = storage_fit_at(f, p->t, p->s, p->f) - p->y;

		left += e * e;
		total += (p->y - mean) * (p->y - mean);
		f->mean_error += fabs(e / p->y) / (double)w->nr;
	}
	f->r2 = total > 0 ? 1 - left / total : NAN;
	f->nr_rows = w->nr;
}

int storage_fit(struct storage_fit *out, enum storage_form form, const struct storage_point *x,
		size_t nr, bool prune, bool absolute)
{
	struct storage_fit f = { .form = form };
	struct work w = { .points = x, .nr = nr };
	int ret, drop;

	form_terms(&f);
	if (nr < f.nr_terms)
		return -ERANGE;
	w.x = calloc(nr * (f.nr_terms + 2), sizeof(*w.x));
	if (!w.x)
		return -ENOMEM;
	w.y = w.x + nr * f.nr_terms;
	w.weight = w.y + nr;
	for (size_t i = 0; i < nr; i++) {
		w.y[i] = x[i].y;
		w.weight[i] = absolute ? 1 : 1 / (x[i].y * x[i].y);
	}
	ret = storage_fit_solve(&f, &w);
	while (!ret && prune && (drop = storage_fit_weakest(&f)) >= 0) {
		f.terms[drop].pruned = true;
		f.terms[drop].coefficient = 0;
		ret = storage_fit_solve(&f, &w);
	}
	if (ret)
		goto out;
	storage_fit_judge(&f, &w);
	*out = f;
out:
	free(w.x);
	return ret;
}

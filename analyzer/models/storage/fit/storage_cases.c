// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/models/storage/fit/storage_cases.h"

/* Two models that differ by less than this ratio count as equal. */
#define END_ENOUGH 0.05
#define DEPTH	   3
/* A case needs this number of rows in addition to its number of terms. */
#define SLACK 4

static double on_axis(const struct storage_point *p, enum storage_axis axis)
{
	return axis == STORAGE_AXIS_CLIENTS ? p->t : axis == STORAGE_AXIS_SIZE ? p->s : p->f;
}

static int storage_cases_compare(double a, double b)
{
	return (a > b) - (a < b);
}

/*
 * The comparisons define total orders, so that the order of the rows in the table does not matter.
 */
static int by_clients(const void *a, const void *b)
{
	const struct storage_point *x = a, *y = b;
	int order = storage_cases_compare(x->t, y->t);

	order = order ? order : storage_cases_compare(x->s, y->s);
	order = order ? order : storage_cases_compare(x->f, y->f);
	return order ? order : storage_cases_compare(x->y, y->y);
}

static int by_size(const void *a, const void *b)
{
	const struct storage_point *x = a, *y = b;

	return x->s != y->s ? storage_cases_compare(x->s, y->s) : by_clients(a, b);
}

static int by_file_set(const void *a, const void *b)
{
	const struct storage_point *x = a, *y = b;

	return storage_cases_compare(x->f, y->f) ? storage_cases_compare(x->f, y->f)
						 : by_clients(a, b);
}

static void storage_cases_sort(struct storage_point *x, size_t nr, enum storage_axis axis)
{
	static int (*const by[])(const void *, const void *) = { by_clients, by_size, by_file_set };

	qsort(x, nr, sizeof(*x), by[axis]);
}

static size_t nr_levels(struct storage_point *x, size_t nr, enum storage_axis axis)
{
	size_t levels = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t k = 0;

		while (k < i && on_axis(&x[k], axis) != on_axis(&x[i], axis))
			k++;
		levels += k == i;
	}
	return levels;
}

int storage_bic_parts(enum storage_form form, const struct storage_point *x, size_t nr, double *rss,
		      size_t *terms)
{
	struct storage_fit f;
	int ret = storage_fit(&f, form, x, nr, false, false);
	size_t in = 0;

	if (ret)
		return ret;
	for (size_t i = 0; i < f.nr_terms; i++)
		in += f.terms[i].coefficient != 0;
	*rss += f.rss;
	*terms += in;
	return 0;
}

double storage_bic(double rss, size_t terms, size_t nr)
{
	double n = (double)nr;

	return n * log(rss / n + CASES_LEAST_ERROR * CASES_LEAST_ERROR) + (double)terms * log(n);
}

double storage_cases_at(const struct storage_cases *c, double t, double s, double file_set)
{
	const double x[STORAGE_NR_AXES] = { t, s, file_set };

	for (size_t i = 0; i < c->nr; i++) {
		const struct storage_case *e = &c->items[i];
		bool in = true;

		for (int axis = 0; axis < STORAGE_NR_AXES; axis++)
			in &= !(x[axis] <= e->low[axis]) && !(x[axis] > e->high[axis]);
		if (in)
			return storage_fit_at(&e->fit, t, s, file_set);
	}
	return NAN;
}

static double storage_cases_difference(const struct storage_cases *low,
				       const struct storage_cases *high,
				       const struct storage_point *x, size_t nr,
				       enum storage_axis axis, double at)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++) {
		double t = axis == STORAGE_AXIS_CLIENTS ? at : x[i].t,
		       s = axis == STORAGE_AXIS_SIZE ? at : x[i].s,
		       f = axis == STORAGE_AXIS_FILE_SET ? at : x[i].f;

		sum += storage_cases_at(high, t, s, f) / storage_cases_at(low, t, s, f) - 1;
	}
	return sum / (double)nr;
}

double storage_cases_cross(const struct storage_cases *low, const struct storage_cases *high,
			   const struct storage_point *x, size_t nr, enum storage_axis axis,
			   double from, double to)
{
	double ends[2] = { from, to }, d[2];

	for (int i = 0; i < 2; i++)
		d[i] = storage_cases_difference(low, high, x, nr, axis, ends[i]);
	if (!((d[0] > 0) != (d[1] > 0)))
		return fabs(d[0]) < END_ENOUGH	 ? from
		       : fabs(d[1]) < END_ENOUGH ? to
						 : sqrt(from * to);
	for (int step = 0; step < 60; step++) {
		double middle = (ends[0] + ends[1]) / 2;

		ends[(storage_cases_difference(low, high, x, nr, axis, middle) > 0) == (d[1] > 0)] =
			middle;
	}
	return (ends[0] + ends[1]) / 2;
}

/* Makes one fit of all points, as a single case that covers everything. */
static int storage_cases_whole(struct storage_cases *c, enum storage_form form,
			       const struct storage_point *x, size_t nr)
{
	*c = (struct storage_cases){ .nr = 1 };
	for (int axis = 0; axis < STORAGE_NR_AXES; axis++) {
		c->items[0].low[axis] = -INFINITY;
		c->items[0].high[axis] = INFINITY;
	}
	return storage_fit(&c->items[0].fit, form, x, nr, true, false);
}

/*
 * Returns true if there are enough rows to trust a form. The smallest size alone may be a case,
 * because small requests may cost the same whatever their size. A case of any other single level
 * would have no slope to either side.
 */
static bool is_enough(enum storage_form form, struct storage_point *x, size_t nr, bool smallest)
{
	size_t sizes = nr_levels(x, nr, STORAGE_AXIS_SIZE);

	if (form == STORAGE_FORM_7_5)
		return sizes >= (smallest ? 1 : 2);
	return nr >= storage_form_terms(form) + SLACK &&
	       nr_levels(x, nr, STORAGE_AXIS_CLIENTS) >= 2 && (sizes >= 2 || smallest) &&
	       (form == STORAGE_FORM_7_1 || nr_levels(x, nr, STORAGE_AXIS_FILE_SET) >= 2);
}

struct cut {
	enum storage_axis axis;
	size_t at; /* rows below */
	double bic;
};

static void try_axis(struct cut *best, enum storage_form form, struct storage_point *x, size_t nr,
		     enum storage_axis axis, bool smallest)
{
	storage_cases_sort(x, nr, axis);
	for (size_t i = 1; i < nr; i++) {
		double rss = 0;
		size_t terms = 1;
		double bic;

		if (on_axis(&x[i - 1], axis) == on_axis(&x[i], axis) ||
		    !is_enough(form, x, i, axis == STORAGE_AXIS_SIZE && smallest) ||
		    !is_enough(form, x + i, nr - i, false))
			continue;
		if (storage_bic_parts(form, x, i, &rss, &terms) ||
		    storage_bic_parts(form, x + i, nr - i, &rss, &terms))
			continue;
		bic = storage_bic(rss, terms, nr);
		if (bic < best->bic)
			*best = (struct cut){ axis, i, bic };
	}
}

static int storage_cases_grow(struct storage_cases *out, enum storage_form form,
			      struct storage_point *x, size_t nr, const struct storage_case *box,
			      int depth)
{
	bool has_f = form == STORAGE_FORM_7_7 || form == STORAGE_FORM_7_8;
	struct storage_cases all, low, high;
	struct storage_case below = *box, above = *box;
	struct cut best = { .bic = INFINITY };
	double rss = 0, cut;
	size_t terms = 0;
	int ret = storage_cases_whole(&all, form, x, nr);

	if (!ret)
		ret = storage_bic_parts(form, x, nr, &rss, &terms);
	if (ret)
		return ret;
	best.bic = storage_bic(rss, terms, nr) - CASES_EVIDENCE;
	for (int axis = 0; axis < (has_f ? 3 : 2) && depth < DEPTH; axis++)
		try_axis(&best, form, x, nr, (enum storage_axis)axis,
			 isinf(box->low[STORAGE_AXIS_SIZE]));
	if (!best.at) {
		out->items[out->nr] = *box;
		out->items[out->nr++].fit = all.items[0].fit;
		return 0;
	}
	storage_cases_sort(x, nr, best.axis);
	ret = storage_cases_whole(&low, form, x, best.at);
	if (!ret)
		ret = storage_cases_whole(&high, form, x + best.at, nr - best.at);
	if (ret)
		return ret;
	cut = storage_cases_cross(&low, &high, x, nr, best.axis,
				  on_axis(&x[best.at - 1], best.axis),
				  on_axis(&x[best.at], best.axis));
	below.high[best.axis] = above.low[best.axis] = cut;
	ret = storage_cases_grow(out, form, x, best.at, &below, depth + 1);
	return ret ? ret
		   : storage_cases_grow(out, form, x + best.at, nr - best.at, &above, depth + 1);
}

static void storage_cases_judge(struct storage_cases *c, const struct storage_point *x, size_t nr)
{
	double mean = 0, total = 0, left = 0;

	for (size_t i = 0; i < nr; i++)
		mean += x[i].y / (double)nr;
	for (size_t i = 0; i < nr; i++) {
		double e = storage_cases_at(c, x[i].t, x[i].s, x[i].f) - x[i].y;

		left += e * e;
		total += (x[i].y - mean) * (x[i].y - mean);
		c->mean_error += fabs(e / x[i].y) / (double)nr;
	}
	c->r2 = total > 0 ? 1 - left / total : NAN;
	c->nr_rows = nr;
}

int storage_cases_fit(struct storage_cases *out, enum storage_form form, struct storage_point *x,
		      size_t nr)
{
	struct storage_cases made = { .nr = 0 };
	struct storage_case box = { 0 };
	int ret;

	for (int axis = 0; axis < STORAGE_NR_AXES; axis++) {
		box.low[axis] = -INFINITY;
		box.high[axis] = INFINITY;
	}
	storage_cases_sort(x, nr, STORAGE_AXIS_CLIENTS);
	ret = storage_cases_grow(&made, form, x, nr, &box, 0);
	if (ret)
		return ret;
	storage_cases_judge(&made, x, nr);
	*out = made;
	return 0;
}

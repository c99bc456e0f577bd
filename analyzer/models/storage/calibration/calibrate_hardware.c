// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/stats.h"
#include "analyzer/models/storage/calibration/calibrate_hardware.h"
#include "analyzer/models/storage/fit/storage_humps.h"

/* Fewest distinct file sets for which the logarithm of the file set is fitted. */
#define LEAST_FILE_SETS 3

struct run {
	struct storage_load load;
	double sd_s; /* NaN: not given */
	const struct storage_row *row;
};

/* This struct holds the runs of one class, ascending by file set. */
struct runs {
	const struct storage_table *table;
	enum storage_class class;
	struct run *items;
	size_t nr;
};

static int by_file_set(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	if (x->load.file_set_bytes != y->load.file_set_bytes)
		return x->load.file_set_bytes > y->load.file_set_bytes ? 1 : -1;
	return (x->row->line > y->row->line) - (x->row->line < y->row->line);
}

static int take_runs(struct runs *r, const struct storage_table *t, enum storage_class class)
{
	*r = (struct runs){ .table = t, .class = class };
	r->items = calloc(t->nr_configs + 1, sizeof(*r->items));
	if (!r->items)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_configs; i++) {
		const struct storage_config *c = &t->configs[i];
		struct run *run = &r->items[r->nr];

		if (!storage_load_of(&run->load, t, c) || run->load.class != class)
			continue;
		run->row = &t->rows[c->begin];
		run->sd_s = c->end - c->begin == 1 ? run->row->sd_s : NAN;
		r->nr++;
	}
	qsort(r->items, r->nr, sizeof(*r->items), by_file_set);
	return 0;
}

static int calibrate_hardware_lacks(const struct runs *r, const char *what, struct err *err)
{
	return err_set(err, EINVAL, "%s: %s: %s", r->table->source, storage_class_name(r->class),
		       what);
}

/* Takes the runs of several clients with file sets in [low, high] as points. */
static size_t take_points(struct storage_point *p, const struct runs *r, double low, double high)
{
	size_t nr = 0;

	for (size_t i = 0; i < r->nr; i++) {
		const struct storage_load *l = &r->items[i].load;

		if (l->clients < 2 || l->file_set_bytes < low || l->file_set_bytes > high)
			continue;
		p[nr++] = (struct storage_point){ l->clients, l->size_bytes, l->file_set_bytes,
						  l->response_s };
	}
	return nr;
}

static enum storage_form form_beyond(enum storage_class class)
{
	bool sequential = class == STORAGE_SEQUENTIAL_READ || class == STORAGE_SEQUENTIAL_WRITE;

	return sequential ? STORAGE_FORM_7_8 : STORAGE_FORM_7_7;
}

static double cut_cost(const struct runs *r, struct storage_point *p, double low, double high,
		       size_t nr)
{
	enum storage_form form = form_beyond(r->class);
	size_t left = take_points(p, r, 0, low), terms = left && left < nr;
	double rss = 0;

	if (left && (left <= storage_form_terms(STORAGE_FORM_7_1) ||
		     storage_bic_parts(STORAGE_FORM_7_1, p, left, &rss, &terms)))
		return INFINITY;
	if (left < nr &&
	    (nr - left <= storage_form_terms(form) ||
	     storage_bic_parts(form, p, take_points(p, r, high, INFINITY), &rss, &terms)))
		return INFINITY;
	return storage_bic(rss, terms, nr);
}

/* Collects the distinct file sets of the runs of several clients, ascending. */
static size_t file_sets(const struct runs *r, double *levels)
{
	size_t nr = 0;

	for (size_t i = 0; i < r->nr; i++)
		if (r->items[i].load.clients >= 2 &&
		    (!nr || r->items[i].load.file_set_bytes > levels[nr - 1]))
			levels[nr++] = r->items[i].load.file_set_bytes;
	return nr;
}

/* Makes both fits and finds the file set at which one takes over from the other. */
static int fit_cases(struct storage_class_model *c, const struct runs *r, struct err *err)
{
	struct storage_point *p = calloc(r->nr + 1, sizeof(*p));
	double *levels = calloc(r->nr + 1, sizeof(*levels)), best = INFINITY;
	size_t nr_levels, at = 0, nr, k;
	int ret = 0;

	if (!p || !levels) {
		free(p);
		free(levels);
		return -ENOMEM;
	}
	nr = take_points(p, r, 0, INFINITY);
	nr_levels = file_sets(r, levels);
	/* The first k levels are within the cache: k runs from none to all. */
	for (k = 0; k <= nr_levels; k++) {
		double cost;

		if (nr_levels - k && nr_levels - k < LEAST_FILE_SETS)
			continue;
		cost = cut_cost(r, p, k ? levels[k - 1] : 0, k < nr_levels ? levels[k] : INFINITY,
				nr);
		if (cost < best) {
			best = cost;
			at = k;
		}
	}
	if (!(best < INFINITY)) {
		ret = calibrate_hardware_lacks(
			r,
			"runs of 2 clients or more: more levels of clients and sizes are "
			"needed, at least 5 runs in all and 3 file sets beyond the cache",
			err);
		goto out;
	}
	c->file_set_max = at == nr_levels ? INFINITY : 0;
	if (at > 0)
		ret = storage_cases_fit(&c->cached, STORAGE_FORM_7_1, p,
					take_points(p, r, 0, levels[at - 1]));
	if (!ret && at < nr_levels)
		ret = storage_cases_fit(&c->uncached, form_beyond(r->class), p,
					take_points(p, r, levels[at], INFINITY));
	if (!ret && at > 0 && at < nr_levels)
		c->file_set_max =
			storage_cases_cross(&c->cached, &c->uncached, p,
					    take_points(p, r, 0, INFINITY), STORAGE_AXIS_FILE_SET,
					    levels[at - 1], levels[at]);
	if (ret)
		ret = err_set(err, -ret, "%s: %s: the response times cannot be fitted: %s",
			      r->table->source, storage_class_name(r->class), strerror(-ret));
out:
	free(p);
	free(levels);
	return ret;
}

/*
 * Takes the mean standard deviations of one client within and beyond the cache. If one is missing,
 * the other replaces it.
 */
static int take_spreads(struct storage_class_model *c, const struct runs *r, struct err *err)
{
	double sum[2] = { 0, 0 };
	size_t nr[2] = { 0, 0 };

	for (size_t i = 0; i < r->nr; i++) {
		const struct run *run = &r->items[i];
		int beyond = run->load.file_set_bytes > c->file_set_max;

		if (run->load.clients != 1 || !(run->sd_s > 0))
			continue;
		sum[beyond] += run->sd_s;
		nr[beyond]++;
	}
	if (!nr[0] && !nr[1])
		return calibrate_hardware_lacks(
			r,
			"no run of one client: one with its response_sd_s is needed for the "
			"spread of service times",
			err);
	c->cached_sd_s = nr[0] ? sum[0] / (double)nr[0] : sum[1] / (double)nr[1];
	c->uncached_sd_s = nr[1] ? sum[1] / (double)nr[1] : c->cached_sd_s;
	return 0;
}

/* This struct is a run of random reads beyond the cache, divided by its humps. */
struct parted {
	double t, s, f;
	struct humps humps;
};

static int by_clients(const void *a, const void *b)
{
	const struct parted *x = a, *y = b;

	return (x->t > y->t) - (x->t < y->t);
}

static int part_runs(struct parted *out, size_t *nr, const struct storage_class_model *c,
		     const struct runs *r, struct err *err)
{
	*nr = 0;
	for (size_t i = 0; i < r->nr; i++) {
		const struct run *run = &r->items[i];
		struct parted *p = &out[*nr];

		if (run->load.file_set_bytes <= c->file_set_max || !run->row->nr_buckets)
			continue;
		*p = (struct parted){
			run->load.clients, run->load.size_bytes, run->load.file_set_bytes, { 0 }
		};
		if (humps_part(&p->humps, run->row->histogram, run->row->nr_buckets))
			return -ENOMEM;
		(*nr)++;
	}
	if (*nr < 3)
		return calibrate_hardware_lacks(
			r,
			"runs beyond the cache: the column histogram is needed to part hits "
			"from misses",
			err);
	qsort(out, *nr, sizeof(*out), by_clients);
	return 0;
}

/* Returns the share of requests in the slow hump, or 1 if the humps cannot be told apart. */
static double slow_share(const struct parted *p)
{
	return p->humps.slow.nr / (p->humps.slow.nr + p->humps.fast.nr);
}

/* Fits the shares of the runs whose clients are in (low, high]. *mean becomes the mean share. */
static int fit_share(struct storage_fit *f, double *mean, const struct parted *all, size_t nr,
		     double low, double high)
{
	struct storage_point *p = calloc(nr + 1, sizeof(*p));
	size_t n = 0;
	int ret;

	if (!p)
		return -ENOMEM;
	*mean = 0;
	for (size_t i = 0; i < nr; i++) {
		if (all[i].t <= low || all[i].t > high || all[i].t < 2)
			continue;
		p[n] = (struct storage_point){ .f = all[i].f, .y = slow_share(&all[i]) };
		*mean += p[n++].y;
	}
	*mean /= (double)n;
	ret = n < 3 ? -ERANGE : storage_fit(f, STORAGE_FORM_LN, p, n, true, true);
	free(p);
	return ret;
}

/*
 * Returns the number of clients above which p1 changes: the cut of least BIC, or infinity if no
 * cut lowers the BIC.
 */
static double find_clients_max(const struct parted *p, size_t nr)
{
	double best, at = INFINITY, mean, rss;
	struct storage_fit all, low, high;
	size_t terms = storage_form_terms(STORAGE_FORM_LN);

	if (fit_share(&all, &mean, p, nr, 0, INFINITY))
		return INFINITY;
	best = storage_bic(all.rss, terms, nr) - CASES_EVIDENCE;
	for (size_t i = 1; i < nr; i++) {
		double bic;

		if (p[i].t == p[i - 1].t || fit_share(&low, &mean, p, nr, 0, p[i - 1].t) ||
		    fit_share(&high, &mean, p, nr, p[i - 1].t, INFINITY))
			continue;
		rss = low.rss + high.rss;
		bic = storage_bic(rss, 2 * terms + 1, nr);
		if (bic < best) {
			best = bic;
			at = floor((p[i].t + p[i - 1].t) / 2);
		}
	}
	return at;
}

/* Fits p1 and the times of hits, from the runs whose clients are in (low, high]. */
static int fit_load(struct storage_load_case *c, const struct parted *all, size_t nr, double low,
		    double high)
{
	struct storage_point *p = calloc(nr + 1, sizeof(*p));
	double mean;
	size_t n = 0;
	int ret = p ? fit_share(&c->share, &mean, all, nr, low, high) : -ENOMEM;

	c->clients_max = high;
	c->merged = !ret && mean >= STORAGE_MERGED_SHARE;
	if (ret)
		goto out;
	for (size_t i = 0; i < nr; i++)
		if (all[i].humps.two && all[i].t > low && all[i].t <= high && all[i].t >= 2)
			p[n++] = (struct storage_point){ all[i].t, all[i].s, all[i].f,
							 all[i].humps.fast.mean_s };
	if (!c->merged)
		ret = storage_cases_fit(&c->hit, STORAGE_FORM_7_7, p, n);
out:
	free(p);
	return ret;
}

/*
 * Returns the coefficient of variation of the array itself, from the misses of the fewest clients,
 * who hardly wait.
 */
static double raid_cv(const struct parted *p, size_t nr, double otherwise)
{
	double sum = 0, n = 0;

	for (size_t i = 0; i < nr && p[i].t == p[0].t; i++) {
		const struct humps *h = &p[i].humps;
		double variance = h->slow.sd_s * h->slow.sd_s - h->fast.sd_s * h->fast.sd_s;

		if (!h->two || !(variance > 0) || !(h->slow.mean_s > h->fast.mean_s))
			continue;
		sum += sqrt(variance) / (h->slow.mean_s - h->fast.mean_s);
		n++;
	}
	return n > 0 ? sum / n : otherwise;
}

static int fit_raid(struct storage_class_model *c, const struct runs *r, struct err *err)
{
	struct parted *all = calloc(r->nr + 1, sizeof(*all));
	double limit;
	size_t nr;
	int ret = all ? part_runs(all, &nr, c, r, err) : -ENOMEM;

	if (ret) {
		free(all);
		return ret;
	}
	limit = find_clients_max(all, nr);
	c->raid_cv = raid_cv(all, nr, 1);
	ret = fit_load(&c->cases[c->nr_cases++], all, nr, 0, limit);
	if (!ret && limit < INFINITY)
		ret = fit_load(&c->cases[c->nr_cases++], all, nr, limit, INFINITY);
	free(all);
	if (ret == -ERANGE)
		ret = calibrate_hardware_lacks(
			r,
			"runs beyond the cache whose hits and misses can be told apart: "
			"9 or more, of several clients, sizes and file sets, are needed",
			err);
	if (ret)
		return ret;
	if (!c->cached.nr && (c->cases[0].merged || c->cases[c->nr_cases - 1].merged))
		ret = calibrate_hardware_lacks(
			r, "runs with a file set within the cache are needed", err);
	return ret;
}

static void calibrate_hardware_judge(struct storage_class_model *c, const struct runs *r)
{
	size_t nr = 0;

	c->clients = c->size = c->file_set = (struct storage_range){ INFINITY, -INFINITY };
	for (size_t i = 0; i < r->nr; i++) {
		const struct storage_load *l = &r->items[i].load;
		const struct storage_cases *f =
			l->file_set_bytes > c->file_set_max ? &c->uncached : &c->cached;
		double e = fabs(storage_cases_at(f, l->clients, l->size_bytes, l->file_set_bytes) /
					l->response_s -
				1);

		storage_range_take(&c->size, l->size_bytes);
		storage_range_take(&c->file_set, l->file_set_bytes);
		if (l->clients < 2)
			continue;
		storage_range_take(&c->clients, l->clients);
		c->mean_error += e;
		c->max_error = fmax(c->max_error, e);
		nr++;
	}
	c->mean_error /= (double)nr;
	c->nr_rows = r->nr;
}

static int calibrate_class(struct storage_class_model *c, const struct runs *r, struct err *err)
{
	int ret = fit_cases(c, r, err);

	if (ret)
		goto out;
	ret = take_spreads(c, r, err);
	if (ret)
		goto out;
	if (c->uncached.nr && r->class == STORAGE_RANDOM_READ)
		ret = fit_raid(c, r, err);
	if (ret)
		goto out;
	calibrate_hardware_judge(c, r);
out:
	c->present = !ret;
	return ret;
}

int calibrate_hardware(struct storage_model *m, const struct storage_table *t, struct err *err)
{
	struct storage_model made = { .kind = STORAGE_HARDWARE };
	bool any = false;
	int ret = 0;

	for (int class = 0; class < STORAGE_NR_CLASSES && !ret; class ++) {
		struct runs r;

		ret = take_runs(&r, t, (enum storage_class) class);
		if (!ret && r.nr)
			ret = calibrate_class(&made.classes[class], &r, err);
		any |= r.nr > 0;
		free(r.items);
	}
	if (!ret && !any)
		ret = err_set(err, EINVAL,
			      "%s: no configuration of one class: type, pattern and size alike",
			      t->source);
	if (ret == -ENOMEM)
		err_set(err, ENOMEM, "out of memory");
	if (ret)
		return ret;
	*m = made;
	return 0;
}

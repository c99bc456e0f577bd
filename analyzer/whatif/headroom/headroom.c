// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/headroom/headroom.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/units.h"

#define FACTOR_BISECTIONS 30
#define THINK_SPAN	  100.0 /* times shorter, and longer, that clients are asked to think */

int headroom_read_objective(const char *text, struct headroom_objective *out, struct err *err)
{
	static const char *const points[] = { "mean", "p50", "p90", "p95", "p99", "p999", "p9999" };
	bool write = strncmp(text, "write.", 6) == 0;
	const char *at = text + (write ? 6 : 5);
	uint64_t ns;

	for (size_t i = 0;
	     (write || !strncmp(text, "read.", 5)) && i < sizeof(points) / sizeof(*points); i++) {
		size_t len = strlen(points[i]);

		if (strncmp(at, points[i], len) || at[len] != '=' ||
		    units_parse_time(at + len + 1, &ns, NULL) || !ns)
			continue;
		snprintf(out->point, sizeof(out->point), "%s", i ? points[i] : "");
		out->side = write;
		predictor_response(out->point, write, out->response);
		out->limit_s = (double)ns / 1e9;
		return 0;
	}
	return err_set(
		err, EINVAL,
		"objective: expected read or write, .mean or .p50 to .p9999, and a time above 0, "
		"as read.p95=20ms, got '%.60s'",
		text);
}

/*
 * Returns the first load at which v breaks the limit, interpolated linearly between neighbouring
 * points.
 */
static struct headroom_bound first_break(const struct headroom *h, int which)
{
	const struct headroom_point *c = h->curve;
	struct headroom_bound b = { NAN, false, false };
	double before = NAN;

	for (size_t i = 0; i < h->nr; i++) {
		double v = which < 0 ? c[i].low : which > 0 ? c[i].high : c[i].predicted, load;

		if (isnan(v))
			return b;
		if (v > h->limit) {
			load = i ? c[i - 1].load + (c[i].load - c[i - 1].load) *
							   (h->limit - before) / (v - before)
				 : c[0].load;
			b.factor = load / h->today;
			b.below = i == 0;
			return b;
		}
		before = v;
	}
	b.factor = c[h->nr - 1].load / h->today;
	b.at_least = true;
	return b;
}

static void take_today(struct headroom *h, const struct headroom_point *now)
{
	h->predicted_today = now->predicted;
	h->low_today = now->low;
	h->high_today = now->high;
	h->broken = now->predicted > h->limit;
}

static void find_breaks(struct headroom *h)
{
	h->at = first_break(h, 0);
	h->low = first_break(h, 1); /* The upper end breaks first: this is the smallest factor. */
	h->high = first_break(h, -1);
}

void headroom_take_curve(struct headroom *h, const struct headroom_point *now)
{
	take_today(h, now);
	find_breaks(h);
}

/* Replaces the mean request of the load by the direction's own requests. */
static void take_own(const struct headroom *h, struct headroom_point *p)
{
	double factor = load_own_factor(h->own, p->predicted);

	p->predicted *= factor;
	p->low *= factor;
	p->high *= factor;
}

static int headroom_evaluate(const struct headroom *h, const struct load_rows *rows,
			     struct headroom_point *p)
{
	int ret = load_rows_ask(rows, HEADROOM_LEVEL, &p->predicted, &p->low, &p->high);

	if (ret)
		return ret;
	take_own(h, p);
	return 0;
}

/* Checks that the model knows today's load, and the load at which the limit is reached. */
static void headroom_look(struct headroom *h, struct load_rows *rows)
{
	const struct variable *v = &h->model->schema.variables[h->scaled];
	const double loads[] = { h->today, h->today * h->at.factor };

	for (size_t i = 0; i < 2 && !h->outside; i++) {
		load_rows_set(rows, (size_t)h->scaled, fmin(fmax(loads[i], v->low), v->high));
		h->outside = load_rows_outside(rows);
	}
	load_rows_set(rows, (size_t)h->scaled, h->today);
}

int headroom_find(struct headroom *h, struct load_rows *rows, const struct load_own *own,
		  int scaled, double limit, struct err *err)
{
	const struct model *m = rows->model;
	const struct variable *v = &m->schema.variables[scaled];
	struct headroom_point now = { 0 };
	int ret;

	memset(h, 0, sizeof(*h));
	h->model = m;
	h->own = own;
	h->scaled = scaled;
	h->load = v->name;
	h->limit = limit;
	h->nr = HEADROOM_POINTS;
	h->today = rows->x[scaled];
	if (!(h->today > 0))
		return err_set(err, EINVAL, "'%s' is %g today: expected a load above 0", v->name,
			       h->today);
	h->today_outside = variable_outside(v, h->today);
	ret = headroom_evaluate(h, rows, &now);
	take_today(h, &now);
	for (size_t i = 0; i < HEADROOM_POINTS && !ret; i++) {
		struct headroom_point *p = &h->curve[i];

		p->load = v->low + (v->high - v->low) * (double)i / (HEADROOM_POINTS - 1);
		load_rows_set(rows, (size_t)scaled, p->load);
		ret = headroom_evaluate(h, rows, p);
	}
	load_rows_set(rows, (size_t)scaled, h->today);
	if (ret)
		return ret;
	find_breaks(h);
	headroom_look(h, rows);
	return 0;
}

/* Asks the net for the loads times a factor. */
static int evaluate_net(struct predictor *p, const struct headroom_objective *o,
			const struct load_facts *f, size_t nr, double factor,
			struct headroom_point *out, const char **outside, struct err *err)
{
	struct predictor_ask ask = { .point = o->point };
	struct predicted *answers = calloc(nr, sizeof(*answers));
	struct load_facts *each = calloc(nr, sizeof(*each));
	int ret = answers && each ? 0 : -ENOMEM;

	*out = (struct headroom_point){ 0, NAN, NAN, NAN };
	ask.sides[o->side] = true;
	if (ret)
		goto out;
	for (size_t i = 0; i < nr; i++) {
		each[i] = load_facts_scaled(&f[i], factor);
		out->load += predictor_clients(&each[i]);
	}
	ret = predictor_ask(p, &ask, each, nr, answers, outside, err);
	if (ret)
		goto out;
	for (size_t i = 0; i < nr; i++)
		if (!(answers[i].s[o->side] <= out->predicted) && isfinite(answers[i].s[o->side])) {
			out->predicted = answers[i].s[o->side];
			out->low = answers[i].low[o->side];
			out->high = answers[i].high[o->side];
		}
	if (isnan(out->predicted))
		ret = err_set(err, EINVAL, "no load has %ss", o->side ? "write" : "read");
out:
	free(answers);
	free(each);
	return ret;
}

/*
 * Returns the largest factor that the net covers: calibrated clients of the loads' largest type
 * over today's clients.
 */
static double net_factor(const struct storage_model *m, const struct load_facts *f, size_t nr)
{
	double most = m->kind >= STORAGE_MIXED ? m->mix.clients.high : 0, now = 1;

	for (int c = 0; c < STORAGE_NR_CLASSES && m->kind < STORAGE_MIXED; c++)
		if (m->classes[c].present)
			most = fmax(most, m->classes[c].clients.high);
	for (size_t i = 0; i < nr; i++)
		now = fmax(now,
			   predictor_clients(&f[i]) * fmax(f[i].read_ratio, 1 - f[i].read_ratio));
	return most / now;
}

int headroom_find_net(struct headroom *h, struct predictor *p, const struct load_facts *f,
		      size_t nr, const struct headroom_objective *o, struct err *err)
{
	struct headroom_point now;
	double most = net_factor(p->net, f, nr), least;
	const char *outside = NULL;
	int ret;

	memset(h, 0, sizeof(*h));
	h->load = "clients";
	h->limit = o->limit_s;
	ret = evaluate_net(p, o, f, nr, 1, &now, &outside, err);
	if (ret)
		return ret;
	h->today = now.load;
	h->outside = outside;
	h->today_outside = most < 1;
	take_today(h, &now);
	least = fmin(1 / h->today, most);
	if (ret)
		return ret;
	for (size_t i = 0; i < HEADROOM_NET_POINTS; i++) {
		double k = least + (most - least) * (double)i / (HEADROOM_NET_POINTS - 1);

		ret = evaluate_net(p, o, f, nr, k, &h->curve[h->nr], &outside, err);
		if (ret)
			return ret;
		if (!h->nr || h->curve[h->nr].load > h->curve[h->nr - 1].load)
			h->nr++;
	}
	find_breaks(h);
	return 0;
}

/* Asks the curves of clients that think for the load times a factor. */
static int evaluate_busy(const struct headroom *h, const struct load_facts *f, size_t nr, int side,
			 double factor, struct headroom_point *out, double *beyond)
{
	double v[BUSY_NR_ENDS] = { NAN, NAN, NAN };
	int ret = busy_curves_ask(h->busy, f, nr, h->by_think ? 1 : factor,
				  h->by_think ? 1 / factor : 1, side, v, beyond);

	*out = (struct headroom_point){ h->today * factor, v[BUSY_PREDICTED], v[BUSY_LOW],
					v[BUSY_HIGH] };
	take_own(h, out);
	return ret;
}

/*
 * Finds the largest factor with which at most BUSY_BEYOND of the requests find more busy clients
 * than were measured.
 */
static int last_factor(const struct headroom *h, const struct load_facts *f, size_t nr, int side,
		       double most, double *out)
{
	double low = 0, high = most, beyond;
	struct headroom_point p;
	int ret = evaluate_busy(h, f, nr, side, most, &p, &beyond);

	if (ret)
		goto out;
	if (beyond <= BUSY_BEYOND)
		low = most;
	for (int k = 0; k < FACTOR_BISECTIONS && low < most; k++) {
		double mid = (low + high) / 2;

		ret = evaluate_busy(h, f, nr, side, fmax(mid, 1 / h->busy->clients), &p, &beyond);
		if (beyond > BUSY_BEYOND)
			high = mid;
		else
			low = mid;
		if (ret)
			goto out;
	}
out:
	*out = low;
	return ret;
}

int headroom_find_busy(struct headroom *h, const struct busy_curves *c, const struct model *m,
		       const struct load_own *own, const struct load_facts *f, size_t nr,
		       const struct headroom_objective *o, bool by_think)
{
	double least = by_think ? 1 / THINK_SPAN : 1 / c->clients, most = THINK_SPAN, beyond;
	struct headroom_point now;
	int ret;

	memset(h, 0, sizeof(*h));
	h->model = m;
	h->scaled = load_model_clients(m);
	h->own = own;
	h->busy = c;
	h->by_think = by_think;
	h->load = by_think ? "1 / think time" : c->variable;
	h->limit = o->limit_s;
	h->today = by_think ? 1 / c->think_s : c->clients;
	h->outside = c->outside;
	ret = evaluate_busy(h, f, nr, o->side, 1, &now, &beyond);
	if (ret)
		return ret;
	h->today_outside = beyond > BUSY_BEYOND;
	take_today(h, &now);
	/* The bound counts the clients that wait for the storage and those that think meanwhile. */
	if (!by_think)
		most = fmin(INTERACTIVE_CLIENTS_MAX,
			    2 * (double)c->nr * (1 + c->think_s / c->all_s[0][c->nr - 1])) /
		       c->clients;
	ret = last_factor(h, f, nr, o->side, fmax(most, 1), &most);
	h->nr = most > least ? HEADROOM_BUSY_POINTS : 1;
	if (ret)
		return ret;
	for (size_t i = 0; i < h->nr; i++) {
		ret = evaluate_busy(h, f, nr, o->side,
				    least * pow(fmax(most / least, 1),
						(double)i / (HEADROOM_BUSY_POINTS - 1)),
				    &h->curve[i], &beyond);
		if (ret)
			return ret;
	}
	find_breaks(h);
	return 0;
}

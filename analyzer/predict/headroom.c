// SPDX-License-Identifier: Apache-2.0
#include "analyzer/predict/headroom.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/units.h"

int headroom_objective(const char *text, char response[64], double *limit_s, struct err *err)
{
	static const char *const points[][2] = {
		{ "mean", "s" },	{ "p50", "p50_s" }, { "p90", "p90_s" },
		{ "p95", "p95_s" },	{ "p99", "p99_s" }, { "p999", "p999_s" },
		{ "p9999", "p9999_s" },
	};
	bool write = strncmp(text, "write.", 6) == 0;
	const char *at = text + (write ? 6 : 5);
	uint64_t ns;

	for (size_t i = 0;
	     (write || !strncmp(text, "read.", 5)) && i < sizeof(points) / sizeof(*points); i++) {
		size_t len = strlen(points[i][0]);

		if (strncmp(at, points[i][0], len) || at[len] != '=' ||
		    units_parse_time(at + len + 1, &ns, NULL) || !ns)
			continue;
		snprintf(response, 64, "%s_%s", write ? "write" : "read", points[i][1]);
		*limit_s = (double)ns / 1e9;
		return 0;
	}
	return err_set(
		err, EINVAL,
		"--slo: expected read or write, .mean or .p50 to .p9999, and a time above 0, "
		"as read.p95=20ms, got '%.60s'",
		text);
}

/* The first load at which v breaks the limit, on the line between its neighbours. */
static struct headroom_bound first_break(const struct headroom *h, int which)
{
	const struct headroom_point *c = h->curve;
	struct headroom_bound b = { NAN, false, false };
	double before = NAN;

	for (size_t i = 0; i < HEADROOM_POINTS; i++) {
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
	b.factor = c[HEADROOM_POINTS - 1].load / h->today;
	b.at_least = true;
	return b;
}

static int evaluate(const struct model *m, const double *row, struct headroom_point *p)
{
	double half = model_half_width(m, HEADROOM_LEVEL);
	int status = model_predict(m, row, 1, &p->predicted);

	p->low = p->high = NAN;
	if (!status && isfinite(half))
		model_interval(m, p->predicted, half, &p->low, &p->high);
	return status;
}

int headroom_find(struct headroom *h, const struct model *m, double *row, int scaled, double limit,
		  struct err *err)
{
	const struct variable *v = &m->schema.variables[scaled];
	struct headroom_point now = { 0 };
	int status;

	memset(h, 0, sizeof(*h));
	h->model = m;
	h->scaled = scaled;
	h->limit = limit;
	h->today = row[scaled];
	if (!(h->today > 0))
		return err_set(err, EINVAL, "'%s' is %g today: expected a load above 0", v->name,
			       h->today);
	h->today_outside = variable_outside(v, h->today);
	status = evaluate(m, row, &now);
	h->predicted_today = now.predicted;
	h->low_today = now.low;
	h->high_today = now.high;
	h->broken = now.predicted > limit;
	for (size_t i = 0; i < HEADROOM_POINTS && !status; i++) {
		struct headroom_point *p = &h->curve[i];

		row[scaled] = v->low + (v->high - v->low) * (double)i / (HEADROOM_POINTS - 1);
		status = evaluate(m, row, p);
		p->load = row[scaled];
		if (!status && !h->outside)
			h->outside = load_model_outside(m, row);
	}
	row[scaled] = h->today;
	h->at = first_break(h, 0);
	h->low = first_break(h, 1); /* where the upper end breaks: the least */
	h->high = first_break(h, -1);
	return status;
}

// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/stats.h"
#include "analyzer/report/draw/frame.h"
#include "analyzer/report/page/model_page.h"

#define LOG_FROM    30 /* responses that span at least this ratio get logarithmic axes */
#define POINTS_MAX  3000
#define CURVE	    33	/* points of the curve of an effect */
#define EFFECT_ROWS 300 /* rows over which an effect is averaged */

static void model_draw_begin(struct buf *out, const struct frame *f, const char *id,
			     const char *title, const char *about)
{
	const struct svg_head head = { .id = id,
				       .class = "figure",
				       .title = title,
				       .description = about,
				       .width = f->width,
				       .height = f->height };

	svg_begin(out, &head);
}

static void model_draw_widen(double v, double *low, double *high)
{
	*low = fmin(*low, v);
	*high = fmax(*high, v);
}

/* Returns an axis from 0, or from below 0, or a logarithmic one where that shows more. */
static struct scale model_draw_axis(double low, double high, double px_from, double px_to,
				    bool may_log)
{
	struct scale s = { .kind = SCALE_LINEAR,
			   .unit = UNIT_COUNT,
			   .from = low < 0 ? low * 1.05 : 0,
			   .to = high > 0 ? high : 1,
			   .px_from = px_from,
			   .px_to = px_to };

	if (may_log && low > 0 && high > LOG_FROM * low) {
		s.kind = SCALE_LOG;
		s.from = low * 0.9;
		s.to = high * 1.1;
	} else {
		scale_round_up(&s);
	}
	return s;
}

int model_draw_predicted(const struct model_view *v, struct buf *out)
{
	const struct frame *f = &frame_half;
	double low = INFINITY, high = -INFINITY;
	size_t step = v->nr / POINTS_MAX + 1;
	struct scale x, y;

	for (size_t i = 0; i < v->nr; i++) {
		model_draw_widen(v->measured[i], &low, &high);
		model_draw_widen(v->predicted[i], &low, &high);
	}
	x = model_draw_axis(low, high, f->left, f->right, true);
	y = x;
	y.px_from = f->bottom;
	y.px_to = f->top;
	model_draw_begin(
		out, f, "model-predicted", "Predicted against measured",
		"One dot per row, predicted by a model that had not seen its fold; on the broken line "
		"both are equal.");
	frame_axes(out, f, &x, &y, "measured", "predicted");
	svg_line(out, "rule", f->left, f->bottom, f->right, f->top);
	for (size_t i = 0; i < v->nr; i += step)
		svg_circle(out, "dot read", scale_px(&x, v->measured[i]),
			   scale_px(&y, v->predicted[i]), 2.5);
	svg_end(out);
	return out->error;
}

static void model_draw_mark(struct buf *out, const struct frame *f, const struct scale *x,
			    double value, const char *name, double at, bool relative)
{
	double px = scale_px(x, value);
	bool end = px > (f->left + f->right) / 2;
	char text[64];

	snprintf(text, sizeof(text), relative ? "%s %.1f %%" : "%s %.3g", name,
		 relative ? 100 * value : value);
	svg_line(out, "rule", px, f->bottom, px, at);
	svg_text(out, end ? "note end halo" : "note start halo", px + (end ? -5 : 5), at + 10,
		 text);
}

int model_draw_errors(const struct model_view *v, struct buf *out)
{
	const struct frame *f = &frame_half;
	double p95 = stats_quantile(v->error, v->nr_errors, 0.95);
	double p99 = stats_quantile(v->error, v->nr_errors, 0.99);
	struct scale x = model_draw_axis(0, p99 > 0 ? p99 : 1, f->left, f->right, false), y;

	x.unit = v->relative ? UNIT_RATIO : UNIT_COUNT;
	y = frame_linear(f, 1, UNIT_RATIO);
	model_draw_begin(
		out, f, "model-errors", "How large the errors are",
		"Share of the rows whose error is at most so large, held out; the last hundredth is "
		"beyond the picture.");
	frame_axes(out, f, &x, &y, v->relative ? "relative error" : "error", "share of rows");
	svg_path(out, "line curve");
	svg_move_to(out, f->left, f->bottom);
	for (size_t i = 0; i < v->nr_errors && v->error[i] <= x.to; i++)
		svg_line_to(out, scale_px(&x, v->error[i]),
			    scale_px(&y, (double)(i + 1) / (double)v->nr_errors));
	svg_path_end(out);
	model_draw_mark(out, f, &x, stats_mean(v->error, v->nr_errors), "mean", f->top + 150,
			v->relative);
	model_draw_mark(out, f, &x, p95, "95 % of rows:", f->top + 115, v->relative);
	svg_end(out);
	return out->error;
}

/* Returns rows spread over the data, with each variable as it was measured. */
static double *model_draw_sample(const struct model *m, size_t *nr)
{
	size_t n = m->data.nr_rows, p = m->schema.nr, step = n / EFFECT_ROWS + 1;
	double *all = dataset_rows(&m->data);

	*nr = 0;
	for (size_t i = 0; all && i < n; i += step)
		memmove(all + (*nr)++ * p, all + i * p, p * sizeof(*all));
	return all;
}

/*
 * This struct holds the mean and the central 80 % of the predictions with the variable at one
 * value.
 */
struct effect {
	double at, mean, low, high;
};

static int model_draw_effects(const struct model *m, size_t variable, struct effect *e, size_t nr)
{
	const struct variable *v = &m->schema.variables[variable];
	size_t nr_rows;
	double *rows = model_draw_sample(m, &nr_rows);
	double *out = calloc(nr_rows + 1, sizeof(*out));
	int ret = rows && out ? 0 : -ENOMEM;

	if (ret)
		goto out;
	for (size_t k = 0; k < nr; k++) {
		e[k].at = v->factor ? (double)k
				    : v->low + (v->high - v->low) * (double)k / (double)(nr - 1);
		for (size_t i = 0; i < nr_rows; i++)
			rows[i * m->schema.nr + variable] = e[k].at;
		ret = model_predict(m, rows, nr_rows, out);
		e[k].mean = stats_mean(out, nr_rows);
		stats_sort(out, nr_rows);
		e[k].low = stats_quantile(out, nr_rows, 0.1);
		e[k].high = stats_quantile(out, nr_rows, 0.9);
		if (ret)
			goto out;
	}
out:
	free(rows);
	free(out);
	return ret;
}

static void factor_marks(struct buf *out, const struct frame *f, const struct scale *y,
			 const struct variable *v, const struct effect *e, size_t nr)
{
	double wide = (f->right - f->left) / (double)nr;

	for (size_t k = 0; k < nr; k++) {
		double px = f->left + ((double)k + 0.5) * wide;
		char name[16];

		svg_line(out, "stem read", px, scale_px(y, e[k].low), px, scale_px(y, e[k].high));
		svg_circle(out, "dot read", px, scale_px(y, e[k].mean), 5);
		snprintf(name, sizeof(name), "%s", v->levels[k]);
		svg_text(out, "tick mid", px, f->bottom + 17, name);
	}
}

static void model_draw_curve(struct buf *out, const char *class, const struct scale *x,
			     const struct scale *y, const struct effect *e, size_t nr,
			     size_t offset)
{
	svg_path(out, class);
	for (size_t k = 0; k < nr; k++) {
		double value = *(const double *)((const char *)&e[k] + offset);

		(k ? svg_line_to : svg_move_to)(out, scale_px(x, e[k].at), scale_px(y, value));
	}
	svg_path_end(out);
}

static void number_curves(struct buf *out, const struct frame *f, const struct scale *x,
			  const struct scale *y, const struct effect *e, size_t nr)
{
	const struct legend_entry legend[] = { { LEGEND_LINE, "line curve", "mean" },
					       { LEGEND_LINE, "rule", "10 and 90 %" } };

	model_draw_curve(out, "rule", x, y, e, nr, offsetof(struct effect, low));
	model_draw_curve(out, "rule", x, y, e, nr, offsetof(struct effect, high));
	model_draw_curve(out, "line curve", x, y, e, nr, offsetof(struct effect, mean));
	frame_legend(out, f, legend, 2);
}

int model_draw_effect(const struct model_view *view, size_t variable, struct buf *out)
{
	const struct model *m = view->m;
	const struct variable *v = &m->schema.variables[variable];
	const struct frame *f = &frame_half;
	size_t nr = v->factor ? v->nr_levels : CURVE;
	struct effect *e = calloc(nr, sizeof(*e));
	double low = INFINITY, high = -INFINITY;
	struct scale x = { .kind = SCALE_LINEAR,
			   .unit = UNIT_COUNT,
			   .from = v->low,
			   .to = v->high > v->low ? v->high : v->low + 1,
			   .px_from = f->left,
			   .px_to = f->right };
	struct scale y;
	char id[32], title[160];
	int ret = e ? model_draw_effects(m, variable, e, nr) : -ENOMEM;

	for (size_t k = 0; k < nr && !ret; k++) {
		model_draw_widen(e[k].low, &low, &high);
		model_draw_widen(e[k].high, &low, &high);
	}
	if (!ret) {
		y = model_draw_axis(low, high, f->bottom, f->top, false);
		snprintf(id, sizeof(id), "model-effect-%zu", variable);
		snprintf(title, sizeof(title), "What %.100s does", v->name);
		model_draw_begin(
			out, f, id, title,
			"Prediction over the training rows with this variable set to each value.");
		frame_axes(out, f, v->factor ? NULL : &x, &y, v->name, m->schema.response);
		if (v->factor)
			factor_marks(out, f, &y, v, e, nr);
		else
			number_curves(out, f, &x, &y, e, nr);
		svg_end(out);
	}
	free(e);
	return ret ? ret : out->error;
}

// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "analyzer/report/draw/frame.h"
#include "analyzer/whatif/headroom/headroom.h"

/*
 * Training rows are drawn whose other variables differ from the present ones by at most this share
 * of their range.
 */
#define NEAR_RATIO 0.1

/*
 * Returns whether training row i lies near any of the present rows, which differ in the size of
 * requests.
 */
static bool near_row(const struct headroom *h, const double *row, size_t i)
{
	const struct model *m = h->model;

	for (size_t v = 0; v < m->schema.nr; v++) {
		const struct variable *var = &m->schema.variables[v];
		double x = m->data.x[v * m->data.nr_rows + i], range = var->high - var->low;

		if ((int)v == h->scaled)
			continue;
		if (var->factor ? x != row[v] : fabs(x - row[v]) > NEAR_RATIO * range)
			return false;
	}
	return true;
}

static bool headroom_draw_near(const struct headroom *h, const struct load_rows *rows, size_t i)
{
	for (size_t k = 0; k < rows->nr; k++)
		if (near_row(h, &rows->x[k * h->model->schema.nr], i))
			return true;
	return false;
}

/*
 * Returns where a measured row lies on the axis. Clients that never think are placed where the law
 * has the same load with thinking clients.
 */
static double headroom_draw_place(const struct headroom *h, double load)
{
	const struct busy_curves *c = h->busy;
	double r;

	if (!c)
		return load;
	if (!(load >= 1 && load <= (double)c->nr))
		return NAN;
	r = c->all_s[BUSY_PREDICTED][(size_t)load - 1];
	if (!h->by_think)
		return load * (1 + c->think_s / r);
	return load < c->clients ? load / ((c->clients - load) * r) : NAN;
}

static void draw_points(const struct headroom *h, const struct load_rows *rows,
			const struct scale *x, const struct scale *y, struct buf *out)
{
	const struct model *m = h->model;

	for (size_t i = 0; m && i < m->data.nr_rows; i++) {
		double at =
			headroom_draw_place(h, m->data.x[(size_t)h->scaled * m->data.nr_rows + i]);

		if (headroom_draw_near(h, rows, i) && at >= x->from && at <= x->to)
			svg_circle(out, "dot read", scale_px(x, at),
				   scale_px(y, model_measured(m, i)), 3);
	}
}

static void draw_curve(const struct headroom *h, int which, const char *class,
		       const struct scale *x, const struct scale *y, struct buf *out)
{
	bool first = true;

	svg_path(out, class);
	for (size_t i = 0; i < h->nr; i++) {
		const struct headroom_point *p = &h->curve[i];
		double v = which < 0 ? p->low : which > 0 ? p->high : p->predicted;

		if (isnan(v))
			continue;
		if (first)
			svg_move_to(out, scale_px(x, p->load), scale_px(y, v));
		else
			svg_line_to(out, scale_px(x, p->load), scale_px(y, v));
		first = false;
	}
	svg_path_end(out);
}

int headroom_draw(const struct headroom *h, const struct headroom_objective *o,
		  const struct load_rows *rows, const char *id, struct buf *out)
{
	const struct legend_entry entries[] = {
		{ LEGEND_DOT, "dot read",
		  h->busy ? "measured nearby, thinking by the law" : "measured nearby" },
		{ LEGEND_LINE, "line curve", "model, 90 % interval" },
		{ LEGEND_LINE, "line law", "objective" },
		{ LEGEND_LINE, "line total", "today" },
	};
	const struct frame *f = &frame_wide;
	struct svg_head head = { .id = id,
				 .class = "figure",
				 .title = "Response time over load",
				 .description =
					 "The model's prediction over the load, with what was "
					 "measured nearby, today's load and the objective.",
				 .width = f->width,
				 .height = f->height };
	double top = h->limit * 1.5;
	struct scale x = { .kind = SCALE_LINEAR,
			   .from = h->curve[0].load,
			   .to = h->curve[h->nr - 1].load,
			   .px_from = f->left,
			   .px_to = f->right },
		     y;

	for (size_t i = 0; i < h->nr; i++)
		top = fmax(top, h->curve[i].predicted);
	x.unit = UNIT_COUNT;
	y = frame_linear(f, top, UNIT_SECONDS);
	svg_begin(out, &head);
	frame_axes(out, f, &x, &y, h->load, o->response);
	frame_legend(out, f, entries, sizeof(entries) / sizeof(*entries));
	draw_points(h, rows, &x, &y, out);
	draw_curve(h, 0, "line curve", &x, &y, out);
	draw_curve(h, -1, "line thin", &x, &y, out);
	draw_curve(h, 1, "line thin", &x, &y, out);
	svg_line(out, "line law", f->left, scale_px(&y, h->limit), f->right,
		 scale_px(&y, h->limit));
	svg_line(out, "line total", scale_px(&x, h->today), f->top, scale_px(&x, h->today),
		 f->bottom);
	svg_end(out);
	return out->error;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/report/collect/devices.h"
#include "base/data/table.h"

#define SHOWN 7 /* devices shown by name; all others together make an eighth layer */

static const struct frame sum_frame = { .width = SVG_WIDTH,
					.height = 290,
					.left = 64,
					.top = 48,
					.right = 748,
					.bottom = 246 };

struct layers {
	size_t nr, columns; /* columns: layers, at most SHOWN and one for the others */
	double *rates;	    /* requests per second, layer by layer, stacked upwards */
	uint64_t begin_ns, step_ns;
};

static int add_layer(struct layers *l, size_t layer, const struct load *load, const struct view *v)
{
	struct timegrid g;
	int ret = load->grid.nr ? frame_columns(&load->grid, v, &g) : -ENODATA;

	if (ret)
		return ret == -ENODATA ? 0 : ret;
	for (size_t c = 0; c < g.nr; c++) {
		uint64_t t = timegrid_begin_ns(&g) + c * g.step_ns, at;

		if (t < l->begin_ns)
			continue;
		at = (t - l->begin_ns) / l->step_ns;
		if (at < l->columns)
			l->rates[layer * l->columns + at] +=
				(double)timegrid_column(&g, c)[LOAD_REQUESTS] * 1e9 /
				(double)l->step_ns;
	}
	timegrid_release(&g);
	return 0;
}

static int layers_of(const struct devices *d, const struct view *v, struct layers *l)
{
	l->nr = d->nr <= SHOWN + 1 ? d->nr : SHOWN + 1;
	l->begin_ns = v->begin_ns;
	l->step_ns = v->step_ns;
	l->columns = (size_t)((v->end_ns - v->begin_ns) / v->step_ns);
	l->rates = calloc(l->nr * l->columns, sizeof(*l->rates));
	if (!l->rates)
		return -ENOMEM;
	for (size_t i = 0; i < d->nr; i++) {
		int ret = add_layer(l, i < l->nr ? i : l->nr - 1, d->each[i].load, v);

		if (ret) {
			free(l->rates);
			return ret;
		}
	}
	for (size_t i = 1; i < l->nr; i++)
		for (size_t c = 0; c < l->columns; c++)
			l->rates[i * l->columns + c] += l->rates[(i - 1) * l->columns + c];
	return 0;
}

static void devices_areas(struct buf *out, const struct layers *l, const struct scale *x,
			  const struct scale *y)
{
	for (size_t i = l->nr; i-- > 0;) {
		char class[32];
		double at = x->px_from, step = (x->px_to - x->px_from) / (double)l->columns;

		snprintf(class, sizeof(class), "area c%zu", i);
		svg_path(out, class);
		svg_move_to(out, at, y->px_from);
		for (size_t c = 0; c < l->columns; c++) {
			double top = scale_px(y, l->rates[i * l->columns + c]);

			svg_line_to(out, at + (double)c * step, top);
			svg_line_to(out, at + (double)(c + 1) * step, top);
		}
		svg_line_to(out, x->px_to, y->px_from);
		buf_put_u8(out, 'z');
		svg_path_end(out);
	}
}

static void devices_legend(struct buf *out, const struct devices *d, const struct layers *l)
{
	static const char *const classes[] = { "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7" };
	struct legend_entry entries[SHOWN + 1];
	struct frame upper = sum_frame;

	for (size_t i = 0; i < l->nr; i++)
		entries[i] =
			(struct legend_entry){ LEGEND_BOX, classes[i],
					       d->nr > l->nr && i == l->nr - 1 ? "others"
									       : d->each[i].name };
	upper.top -= 16;
	frame_legend(out, &upper, entries, l->nr);
}

static double own_peaks(const struct devices *d, enum load_row row)
{
	double sum = 0;

	for (size_t i = 0; i < d->nr; i++) {
		struct load_peaks p;

		if (!load_peaks(d->each[i].load, d->window_ns, &p))
			sum += p.of[row].max;
	}
	return sum;
}

static void devices_describe(const struct devices *d, const struct load_peaks *sum, char *text,
			     size_t len)
{
	double own = own_peaks(d, LOAD_REQUESTS), peak = sum->of[LOAD_REQUESTS].max;
	struct label a, b, c, w;

	snprintf(
		text, len,
		"Requests per second of %zu devices, stacked on one clock. Their sum peaks at %s per "
		"second in windows of %s; the peaks of each at its own time add up to %s, %s more.",
		d->nr, label_count(&a, peak), label_duration(&w, sum->window_s),
		label_count(&b, own), label_percent(&c, peak > 0 ? own / peak - 1 : NAN));
}

static void devices_mark(struct buf *out, const struct load_peaks *sum, const struct scale *x,
			 const struct scale *y)
{
	const struct load_peak *p = &sum->of[LOAD_REQUESTS];
	double px = scale_px(x, (double)p->max_at_ns), py = scale_px(y, p->max);
	bool left = px > (x->px_from + x->px_to) / 2;
	struct label value, clock;
	char text[160];

	svg_circle(out, "peak", px, py, 4);
	snprintf(text, sizeof(text), "coincident peak %s at %s", label_count(&value, p->max),
		 label_clock(&clock, p->max_at_ns, sum->window_s < 1 ? 3 : 0, x->utc));
	svg_text(out, left ? "note end halo" : "note start halo", px + (left ? -8 : 8), py + 4,
		 text);
}

int devices_draw(const struct devices *d, const struct view *v, struct buf *out)
{
	const struct frame *f = &sum_frame;
	struct scale x = frame_time(f, v), y;
	struct load_peaks sum;
	struct layers l = { 0 };
	char text[400];
	int ret = d->nr < 2 ? -ENODATA : load_peaks(d->sum, d->window_ns, &sum);

	if (!ret)
		ret = layers_of(d, v, &l);
	if (ret)
		return ret;
	y = frame_linear(f, sum.of[LOAD_REQUESTS].max, UNIT_COUNT);
	devices_describe(d, &sum, text, sizeof(text));
	frame_begin(out, f, v, "figure wide", "All devices on one clock", text, &x);
	frame_axes(out, f, &x, &y, NULL, "requests/s");
	devices_areas(out, &l, &x, &y);
	devices_legend(out, d, &l);
	devices_mark(out, &sum, &x, &y);
	svg_end(out);
	free(l.rates);
	return out->error;
}

static int csv_line(struct buf *out, const char *name, const struct load *load, uint64_t window_ns)
{
	struct load_peaks p;
	int ret = load_peaks(load, window_ns, &p);

	if (ret)
		return ret == -ENODATA ? 0 : ret;
	table_put_text(out, name);
	buf_printf(out, ",%g", p.window_s);
	for (int row = 0; row < NR_LOAD_ROWS; row++)
		buf_printf(out, ",%.6g,%.6g,%.6g,%.6g,%.3f", p.of[row].mean, p.of[row].p95,
			   p.of[row].p99, p.of[row].max, (double)p.of[row].max_at_ns * 1e-9);
	buf_put_u8(out, '\n');
	return 0;
}

int devices_csv(const struct devices *d, struct buf *out)
{
	int ret = 0;

	buf_printf(out, "device,window_s,requests_mean_per_s,requests_p95_per_s,requests_p99_per_s,"
			"requests_peak_per_s,requests_peak_at_s,bytes_mean_per_s,bytes_p95_per_s,"
			"bytes_p99_per_s,bytes_peak_per_s,bytes_peak_at_s\n");
	for (size_t i = 0; i < d->nr && !ret; i++)
		ret = csv_line(out, d->each[i].name, d->each[i].load, d->window_ns);
	if (!ret)
		ret = csv_line(out, "sum on one clock", d->sum, d->window_ns);
	if (ret)
		return ret;
	buf_printf(out, "own peaks added up,%g,,,,%.6g,,,,,%.6g,\n", (double)d->window_ns * 1e-9,
		   own_peaks(d, LOAD_REQUESTS), own_peaks(d, LOAD_BYTES));
	return out->error;
}

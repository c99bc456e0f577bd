/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "analyzer/report/curve/size_latency.h"
#include "analyzer/report/picture/intensity.h"

static const double shares[] = { 0.5, 0.95, 0.99 };
#define NR_SHARES (sizeof(shares) / sizeof(shares[0]))

static const struct frame class_frame = { .width = SVG_WIDTH,
					  .height = 300,
					  .left = 64,
					  .top = 40,
					  .right = 748,
					  .bottom = 256 };

static const struct histogram *size_latency_of(const struct profile *p, int write,
					       unsigned int class)
{
	return &(write ? &p->write : &p->read)->response.size_class[class];
}

/* A percentile beyond which fewer than ten requests lie is left out. */
static double size_latency_value(const struct histogram *h, double share)
{
	return h->nr ? histogram_quantile_s(h, share) : NAN;
}

static bool size_latency_range(const struct profile *p, double *from_s, double *to_s)
{
	*from_s = INFINITY;
	*to_s = 0;
	for (int write = 0; write < 2; write++)
		for (unsigned int c = 0; c < NR_SIZE_CLASSES; c++)
			for (size_t i = 0; i < NR_SHARES; i++) {
				double t =
					size_latency_value(size_latency_of(p, write, c), shares[i]);

				*from_s = fmin(*from_s, t);
				*to_s = fmax(*to_s, t);
			}
	*from_s = fmax(*from_s / 1.5, 1e-8);
	*to_s *= 1.5;
	return *to_s > 0;
}

/* Draws a stem from the median to the highest known percentile, with a mark at each. */
static void size_latency_stem(struct buf *out, const struct histogram *h, bool write, double x,
			      const struct scale *y)
{
	double low = scale_px(y, size_latency_value(h, shares[0])), high = low;
	char tip[200];
	struct label p50, p95, p99, n;

	if (isnan(low))
		return;
	for (size_t i = 1; i < NR_SHARES; i++)
		high = fmin(high, scale_px(y, size_latency_value(h, shares[i])));
	svg_line(out, write ? "stem write" : "stem read", x, low, x, high);
	snprintf(tip, sizeof(tip), "%s %s: median %s, 95 %% %s, 99 %% %s",
		 label_count(&n, (double)h->nr), write ? "writes" : "reads",
		 label_duration(&p50, size_latency_value(h, 0.5)),
		 label_duration(&p95, size_latency_value(h, 0.95)),
		 label_duration(&p99, size_latency_value(h, 0.99)));
	if (write)
		svg_rect(out, "dot write", x - 4.5, low - 4.5, 9, 9, tip);
	else
		svg_circle(out, "dot read", x, low, 5);
	for (size_t i = 1; i < NR_SHARES; i++) {
		double at = scale_px(y, size_latency_value(h, shares[i])), half = i == 1 ? 7 : 4;

		if (!isnan(at))
			svg_line(out, write ? "cap write" : "cap read", x - half, at, x + half, at);
	}
}

static void class_axis(struct buf *out, const struct frame *f)
{
	double wide = (f->right - f->left) / NR_SIZE_CLASSES;

	for (unsigned int c = 0; c < NR_SIZE_CLASSES; c++) {
		double x = f->left + (c + 0.5) * wide;
		const char *unit = c && c < NR_SIZE_CLASSES - 1 ? " KiB" : "";
		char text[32];

		snprintf(text, sizeof(text), "%s%s", size_class_label(c), unit);
		svg_text(out, "tick mid", x, f->bottom + 17, text);
	}
}

int size_latency_draw(const struct profile *p, const struct view *v, struct buf *out)
{
	const struct legend_entry legend[] = {
		{ LEGEND_DOT, "dot read", "read median" },
		{ LEGEND_BOX, "dot write", "write median" },
		{ LEGEND_LINE, "cap", "wide bar: 95 %, narrow: 99 %" },
	};
	const struct frame *f = &class_frame;
	struct scale y = {
		.kind = SCALE_LOG, .unit = UNIT_SECONDS, .px_from = f->bottom, .px_to = f->top
	};
	double wide = (f->right - f->left) / NR_SIZE_CLASSES;

	if (!size_latency_range(p, &y.from, &y.to))
		return -ENODATA;
	frame_begin(out, f, v, "figure wide", "Response time by request size",
		    "For each size class: median, 95th and 99th percentile of the response time of "
		    "reads and of writes; the table below has the numbers.",
		    NULL);
	frame_axes(out, f, NULL, &y, "request size", "response time");
	class_axis(out, f);
	for (unsigned int c = 0; c < NR_SIZE_CLASSES; c++)
		for (int write = 0; write < 2; write++)
			size_latency_stem(out, size_latency_of(p, write, c), write,
					  f->left + (c + (write ? 0.64 : 0.36)) * wide, &y);
	frame_legend(out, f, legend, 3);
	svg_end(out);
	return out->error;
}

int size_latency_csv(const struct profile *p, struct buf *out)
{
	buf_printf(out,
		   "operation,larger_than_bytes,up_to_bytes,requests,mean_s,p50_s,p95_s,p99_s\n");
	for (int write = 0; write < 2; write++)
		for (unsigned int c = 0; c < NR_SIZE_CLASSES; c++) {
			const struct histogram *h = size_latency_of(p, write, c);

			if (!h->nr)
				continue;
			buf_printf(out, "%s,%u,", write ? "write" : "read",
				   c ? size_class_end_bytes[c - 1] : 0);
			if (c < NR_SIZE_CLASSES - 1)
				buf_printf(out, "%u", size_class_end_bytes[c]);
			buf_printf(out, ",%llu,%.6g", (unsigned long long)h->nr,
				   histogram_mean_s(h));
			for (size_t i = 0; i < NR_SHARES; i++) {
				double t = size_latency_value(h, shares[i]);

				buf_put_u8(out, ',');
				if (!isnan(t))
					buf_printf(out, "%.6g", t);
			}
			buf_put_u8(out, '\n');
		}
	return out->error;
}

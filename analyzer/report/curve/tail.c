/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "analyzer/report/curve/tail.h"

#define LAST_SHARE 0.99995 /* top of the picture */
#define POINTS	   160

static const struct frame tail_frame = { .width = SVG_WIDTH,
					 .height = 340,
					 .left = 64,
					 .top = 48,
					 .right = 748,
					 .bottom = 296 };

/* The stages stand in the order of drawing; the total lies on top. */
static const enum stage stages[NR_STAGES] = { STAGE_QUEUE, STAGE_DEVICE, STAGE_TOTAL };

static const struct histogram *tail_of(const struct profile *p, bool write, enum stage stage)
{
	return &(write ? &p->write : &p->read)->response.stage[stage];
}

/* Finds the range of the axis: from the 1st percentile of what is drawn to the slowest. */
static bool tail_range(const struct profile *p, double *from_s, double *to_s)
{
	*from_s = INFINITY;
	*to_s = 0;
	for (int write = 0; write < 2; write++)
		for (int s = 0; s < NR_STAGES; s++) {
			const struct histogram *h = tail_of(p, write, stages[s]);
			double low;

			if (!h->nr)
				continue;
			low = histogram_quantile_any_s(h, stages[s] == STAGE_QUEUE ? 0.5 : 0.01);
			*from_s = fmin(*from_s, fmax(low, 1e-7));
			*to_s = fmax(*to_s, histogram_quantile_any_s(h, LAST_SHARE));
		}
	*from_s = fmin(*from_s, *to_s / 8);
	return *to_s > 0;
}

static void tail_curve(struct buf *out, const struct histogram *h, bool write, enum stage stage,
		       const struct scale *x, const struct scale *y)
{
	char class[48];
	bool started = false;

	snprintf(class, sizeof(class), "line %s stage-%s", write ? "write" : "read",
		 stage_name(stage));
	svg_path(out, class);
	for (int i = 1; i <= POINTS; i++) {
		/* Takes equal steps on the tail scale. */
		double share = 1 - pow(1 - LAST_SHARE, (double)i / POINTS), t;

		/* A value that depends on a single request is not drawn. */
		if ((1 - share) * (double)h->nr < 1)
			break;
		t = histogram_quantile_any_s(h, share);
		if (t < x->from)
			continue;
		(started ? svg_line_to : svg_move_to)(out, scale_px(x, t), scale_px(y, share));
		started = true;
	}
	svg_path_end(out);
}

/*
 * Draws dots on reads and squares on writes at the usual percentiles, because colour alone is not
 * enough for every reader.
 */
static void tail_percentiles(struct buf *out, const struct histogram *h, bool write,
			     const struct scale *x, const struct scale *y)
{
	static const double shares[] = { 0.5, 0.9, 0.99, 0.999, 0.9999 };

	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		double t = histogram_quantile_any_s(h, shares[i]);
		double px = scale_px(x, t), py = scale_px(y, shares[i]);

		if (t < x->from || (1 - shares[i]) * (double)h->nr < 1)
			continue;
		if (write)
			svg_rect(out, "dot write", px - 3, py - 3, 6, 6, NULL);
		else
			svg_circle(out, "dot read", px, py, 3.3);
	}
}

static void tail_legend(struct buf *out, const struct profile *p)
{
	static const struct legend_entry all[] = {
		{ LEGEND_LINE, "line read stage-total", "read total" },
		{ LEGEND_LINE, "line read stage-device", "device" },
		{ LEGEND_LINE, "line read stage-queue", "queue" },
		{ LEGEND_LINE, "line write stage-total", "write total" },
		{ LEGEND_LINE, "line write stage-device", "device" },
		{ LEGEND_LINE, "line write stage-queue", "queue" },
	};
	struct frame upper = tail_frame;
	bool reads = p->read.response.stage[STAGE_TOTAL].nr > 0;
	bool writes = p->write.response.stage[STAGE_TOTAL].nr > 0;

	upper.top -= 4;
	frame_legend(out, &upper, all + (reads ? 0 : 3), (reads ? 3u : 0) + (writes ? 3u : 0));
}

static void tail_describe(const struct profile *p, char *text, size_t len)
{
	struct label r50, r99, w50, w99;
	const struct histogram *r = tail_of(p, false, STAGE_TOTAL),
			       *w = tail_of(p, true, STAGE_TOTAL);

	snprintf(
		text, len,
		"Cumulative distribution of response times, logarithmic time to the right, share of "
		"requests upwards with the slow end stretched. Reads: median %s, 99 %% within %s. "
		"Writes: median %s, 99 %% within %s.",
		label_duration(&r50, histogram_quantile_any_s(r, 0.5)),
		label_duration(&r99, histogram_quantile_s(r, 0.99)),
		label_duration(&w50, histogram_quantile_any_s(w, 0.5)),
		label_duration(&w99, histogram_quantile_s(w, 0.99)));
}

int tail_draw(const struct profile *p, const struct view *v, struct buf *out)
{
	const struct frame *f = &tail_frame;
	struct scale x = {
		.kind = SCALE_LOG, .unit = UNIT_SECONDS, .px_from = f->left, .px_to = f->right
	};
	struct scale y = {
		.kind = SCALE_TAIL, .to = LAST_SHARE, .px_from = f->bottom, .px_to = f->top
	};
	char text[480];

	if (!tail_range(p, &x.from, &x.to))
		return -ENODATA;
	tail_describe(p, text, sizeof(text));
	frame_begin(out, f, v, "figure wide", "Distribution of response times", text, NULL);
	frame_axes(out, f, &x, &y, "response time", "share of requests within");
	for (int s = 0; s < NR_STAGES; s++)
		for (int write = 0; write < 2; write++)
			if (tail_of(p, write, stages[s])->nr) {
				tail_curve(out, tail_of(p, write, stages[s]), write, stages[s], &x,
					   &y);
				tail_percentiles(out, tail_of(p, write, stages[s]), write, &x, &y);
			}
	tail_legend(out, p);
	svg_end(out);
	return out->error;
}

static void csv_value(struct buf *out, double v)
{
	if (isnan(v))
		buf_put_u8(out, ',');
	else
		buf_printf(out, ",%.6g", v);
}

static void tail_csv_rows(const struct response_times *r, const char *name, struct buf *out)
{
	static const double shares[] = { 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999 };

	for (unsigned int s = 0; s < NR_STAGES; s++) {
		const struct histogram *h = &r->stage[s];

		if (!h->nr)
			continue;
		buf_printf(out, "%s,%s,%llu", name, stage_name(s), (unsigned long long)h->nr);
		csv_value(out, histogram_mean_s(h));
		for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
			csv_value(out, histogram_quantile_s(h, shares[i]));
		csv_value(out, (double)h->max_ns * 1e-9);
		buf_put_u8(out, '\n');
	}
}

int tail_csv(const struct profile *p, struct buf *out)
{
	buf_printf(
		out,
		"operation,stage,requests,mean_s,p50_s,p90_s,p95_s,p99_s,p999_s,p9999_s,max_s\n");
	tail_csv_rows(&p->read.response, "read", out);
	tail_csv_rows(&p->write.response, "write", out);
	tail_csv_rows(&p->flush, "flush", out);
	return out->error;
}

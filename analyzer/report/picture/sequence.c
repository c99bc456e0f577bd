/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "analyzer/report/picture/sequence.h"

enum { REQUESTS, COUNTED, NR_ROWS };

void sequence_init(struct sequence *s)
{
	timegrid_init(&s->grid, 2 * NR_ROWS, FRAME_FINE_COLUMNS);
}

void sequence_release(struct sequence *s)
{
	timegrid_release(&s->grid);
}

void sequence_device_init(struct sequence_device *d)
{
	for (int write = 0; write < 2; write++)
		sequential_init(&d->direction[write], SEQUENTIAL_SUBSET_REQUESTS);
}

void sequence_device_release(struct sequence_device *d)
{
	for (int write = 0; write < 2; write++)
		sequential_release(&d->direction[write]);
}

int sequence_add(struct sequence *s, struct sequence_device *d, uint64_t arrival_ns,
		 const struct request *r)
{
	bool write = r->operation == OPERATION_WRITE;
	struct sequential *q = &d->direction[write];
	uint64_t before = sequential_counted(q), *cells = timegrid_at(&s->grid, arrival_ns);

	if (!cells || sequential_add(q, r->sector, r->sector + request_sectors(r)))
		return -ENOMEM;
	cells[write * NR_ROWS + REQUESTS]++;
	cells[write * NR_ROWS + COUNTED] += sequential_counted(q) - before;
	return 0;
}

int sequence_spread(struct sequence *s, uint64_t begin_ns, uint64_t end_ns,
		    const uint64_t requests[2], const double ratio[2])
{
	uint64_t amounts[2 * NR_ROWS] = { 0 };

	for (int write = 0; write < 2; write++) {
		if (isnan(ratio[write]))
			continue;
		amounts[write * NR_ROWS + REQUESTS] = requests[write];
		amounts[write * NR_ROWS + COUNTED] =
			(uint64_t)((double)requests[write] * ratio[write] + 0.5);
	}
	return timegrid_spread(&s->grid, begin_ns, end_ns, amounts);
}

double sequence_counted(const uint64_t *cells)
{
	double sum = 0;

	for (int write = 0; write < 2; write++)
		sum += fmin((double)cells[write * NR_ROWS + COUNTED],
			    (double)cells[write * NR_ROWS + REQUESTS]);
	return sum;
}

/* Returns NaN where the column has no request of that direction. */
static double sequence_ratio(const uint64_t *cells, int write)
{
	double requests = (double)cells[write * NR_ROWS + REQUESTS];

	return requests > 0 ? fmin((double)cells[write * NR_ROWS + COUNTED] / requests, 1) : NAN;
}

/* Draws one step per column, with a gap where there are no requests. */
static void sequence_curve(struct buf *out, const struct timegrid *g, int write,
			   const struct scale *x, const struct scale *y)
{
	double last = NAN;

	svg_path(out, write ? "line write" : "line read");
	for (size_t c = 0; c < g->nr; c++) {
		double v = scale_px(y, sequence_ratio(timegrid_column(g, c), write));
		double from = scale_px(x, (double)(timegrid_begin_ns(g) + c * g->step_ns));
		double to = scale_px(x, (double)(timegrid_begin_ns(g) + (c + 1) * g->step_ns));

		if (isnan(v)) {
			last = v;
			continue;
		}
		(isnan(last) ? svg_move_to : svg_line_to)(out, from, v);
		svg_line_to(out, to, v);
		last = v;
	}
	svg_path_end(out);
}

static void sequence_describe(const struct sequence *s, char *text, size_t len)
{
	uint64_t sums[2 * NR_ROWS] = { 0 };
	struct label read, write;

	for (size_t c = 0; c < s->grid.nr; c++)
		for (int r = 0; r < 2 * NR_ROWS; r++)
			sums[r] += timegrid_column(&s->grid, c)[r];
	snprintf(text, len,
		 "Share of requests that continue one another, over time: reads %s, writes %s over "
		 "the whole period. Above 50 %% a pattern is called sequential.",
		 label_percent(&read, sequence_ratio(sums, 0)),
		 label_percent(&write, sequence_ratio(sums, 1)));
}

int sequence_draw(const struct sequence *s, const struct view *v, struct buf *out)
{
	const struct legend_entry legend[] = { { LEGEND_LINE, "line read", "reads" },
					       { LEGEND_LINE, "line write", "writes" } };
	const struct frame *f = &frame_wide;
	struct scale x = frame_time(f, v), y = frame_linear(f, 1, UNIT_RATIO);
	struct timegrid g;
	char text[320];
	int ret = frame_columns(&s->grid, v, &g);

	if (ret)
		return ret;
	sequence_describe(s, text, sizeof(text));
	frame_begin(out, f, v, "figure wide", "Sequential requests", text, &x);
	frame_axes(out, f, &x, &y, NULL, "interleaved-sequential");
	svg_line(out, "rule", f->left, scale_px(&y, 0.5), f->right, scale_px(&y, 0.5));
	for (int write = 0; write < 2; write++)
		sequence_curve(out, &g, write, &x, &y);
	frame_legend(out, f, legend, 2);
	svg_end(out);
	timegrid_release(&g);
	return out->error;
}

int sequence_csv(const struct sequence *s, const struct view *v, struct buf *out)
{
	struct timegrid g;
	int ret = frame_columns(&s->grid, v, &g);

	if (ret)
		return ret;
	buf_printf(out, "begin_s,reads,reads_sequential_ratio,writes,writes_sequential_ratio\n");
	for (size_t c = 0; c < g.nr; c++) {
		const uint64_t *cells = timegrid_column(&g, c);

		frame_csv_time(out, timegrid_begin_ns(&g) + c * g.step_ns);
		for (int write = 0; write < 2; write++) {
			double v_ratio = sequence_ratio(cells, write);

			buf_printf(out, ",%llu,",
				   (unsigned long long)cells[write * NR_ROWS + REQUESTS]);
			if (!isnan(v_ratio))
				buf_printf(out, "%.4f", v_ratio);
		}
		buf_put_u8(out, '\n');
	}
	timegrid_release(&g);
	return out->error;
}

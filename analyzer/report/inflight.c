/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/report/inflight.h"

enum { ARRIVALS, ARRIVAL_SUM, COMPLETIONS, COMPLETION_SUM, NR_ROWS };

void inflight_init(struct inflight *f)
{
	timegrid_init(&f->grid, NR_ROWS, FRAME_FINE_COLUMNS);
}

void inflight_release(struct inflight *f)
{
	timegrid_release(&f->grid);
}

int inflight_add(struct inflight *f, uint64_t arrival_ns, uint64_t completion_ns)
{
	uint64_t *column = timegrid_at(&f->grid, completion_ns);

	if (!column)
		return -ENOMEM;
	column[COMPLETIONS]++;
	column[COMPLETION_SUM] += completion_ns;
	column = timegrid_at(&f->grid, arrival_ns);
	if (!column) {
		column = timegrid_at(&f->grid, completion_ns); /* there already: cannot fail */
		column[COMPLETIONS]--;
		column[COMPLETION_SUM] -= completion_ns;
		return -ENOMEM;
	}
	column[ARRIVALS]++;
	column[ARRIVAL_SUM] += arrival_ns;
	return 0;
}

void inflight_means(const struct timegrid *grid, double *means)
{
	uint64_t under_way = 0, sums = 0, before = 0;

	for (size_t c = 0; c < grid->nr; c++) {
		const uint64_t *cells = timegrid_column(grid, c);
		uint64_t end = timegrid_begin_ns(grid) + (c + 1) * grid->step_ns, integral;

		under_way += cells[ARRIVALS] - cells[COMPLETIONS];
		sums += cells[COMPLETION_SUM] - cells[ARRIVAL_SUM];
		integral = end * under_way + sums;
		means[c] = (double)(integral - before) / (double)grid->step_ns;
		before = integral;
	}
}

static int columns(const struct inflight *f, const struct view *v, struct timegrid *g,
		   double **means)
{
	int err = frame_columns(&f->grid, v, g);

	if (err)
		return err;
	*means = reallocarray(NULL, g->nr, sizeof(**means));
	if (!*means) {
		timegrid_release(g);
		return -ENOMEM;
	}
	inflight_means(g, *means);
	return 0;
}

/* The last columns may hold nothing but completions after the period. */
static size_t within(const struct timegrid *g, const struct view *v)
{
	size_t nr = 0;

	while (nr < g->nr && timegrid_begin_ns(g) + nr * g->step_ns < v->end_ns)
		nr++;
	return nr;
}

static void area(struct buf *out, const struct timegrid *g, size_t nr, const double *means,
		 const struct scale *x, const struct scale *y)
{
	double at = scale_px(x, (double)timegrid_begin_ns(g));

	svg_path(out, "area depth");
	svg_move_to(out, at, y->px_from);
	for (size_t c = 0; c < nr; c++) {
		svg_line_to(out, at, scale_px(y, means[c]));
		at = scale_px(x, (double)(timegrid_begin_ns(g) + (c + 1) * g->step_ns));
		svg_line_to(out, at, scale_px(y, means[c]));
	}
	svg_line_to(out, at, y->px_from);
	buf_put_u8(out, 'z');
	svg_path_end(out);
}

int inflight_draw(const struct inflight *f, const struct view *v, struct buf *out)
{
	struct timegrid g;
	double *means, most = 0, sum = 0;
	struct label mean, max;
	char text[256];
	struct scale x = frame_time(&frame_wide, v), y;
	int err = columns(f, v, &g, &means);
	size_t nr;

	if (err)
		return err;
	nr = within(&g, v);
	for (size_t c = 0; c < nr; c++) {
		most = fmax(most, means[c]);
		sum += means[c];
	}
	y = frame_linear(&frame_wide, most, UNIT_COUNT);
	snprintf(text, sizeof(text),
		 "Mean number of requests under way over time: %s over the period, %s in the "
		 "busiest column.",
		 label_count(&mean, nr ? sum / (double)nr : 0), label_count(&max, most));
	frame_begin(out, &frame_wide, v, "figure wide", "Requests in flight", text, &x);
	frame_axes(out, &frame_wide, &x, &y, NULL, "requests in flight");
	area(out, &g, nr, means, &x, &y);
	svg_end(out);
	free(means);
	timegrid_release(&g);
	return out->error;
}

int inflight_csv(const struct inflight *f, const struct view *v, struct buf *out)
{
	struct timegrid g;
	double *means;
	int err = columns(f, v, &g, &means);
	size_t nr;

	if (err)
		return err;
	nr = within(&g, v);
	buf_printf(out, "begin_s,in_flight_mean\n");
	for (size_t c = 0; c < nr; c++) {
		frame_csv_time(out, timegrid_begin_ns(&g) + c * g.step_ns);
		buf_printf(out, ",%.6g\n", means[c]);
	}
	free(means);
	timegrid_release(&g);
	return out->error;
}

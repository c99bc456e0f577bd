/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/report/draw/gaps.h"
#include "analyzer/report/picture/inflight.h"

/* Each instant of a request has two rows: a count and a sum of times. */
enum instant { ARRIVAL, DISPATCH, COMPLETION, NR_INSTANTS };
#define NR_ROWS	       (2 * NR_INSTANTS)
#define COUNT(instant) (2 * (instant))
#define SUM(instant)   (2 * (instant) + 1)

void inflight_init(struct inflight *f)
{
	timegrid_init(&f->grid, NR_ROWS, FRAME_FINE_COLUMNS);
}

void inflight_release(struct inflight *f)
{
	timegrid_release(&f->grid);
}

int inflight_add(struct inflight *f, uint64_t arrival_ns, uint64_t dispatch_ns,
		 uint64_t completion_ns)
{
	const uint64_t times[NR_INSTANTS] = { arrival_ns, dispatch_ns, completion_ns };

	/*
	 * The columns at both ends are made first; those between exist then, so nothing can fail
	 * half-way.
	 */
	if (!timegrid_at(&f->grid, completion_ns) || !timegrid_at(&f->grid, arrival_ns))
		return -ENOMEM;
	for (int i = 0; i < NR_INSTANTS; i++) {
		uint64_t *column = timegrid_at(&f->grid, times[i]);

		column[COUNT(i)]++;
		column[SUM(i)] += times[i];
	}
	return 0;
}

/*
 * The integral I(T) of the header grows by the sum of completions, and falls by the sum of arrivals
 * or dispatches. So a mean m over a period of length L is a sum of completions of m L without any
 * arrival; what is not inside the device is taken off again by the sum of dispatches.
 */
/* Profiles come from guests, and may state times that no request takes. */
static uint64_t inflight_amount(double sum_ns)
{
	if (!(sum_ns > 0))
		return 0;
	return sum_ns < 0x1p63 ? (uint64_t)sum_ns : UINT64_MAX / 2;
}

int inflight_spread(struct inflight *f, uint64_t begin_ns, uint64_t end_ns, double all,
		    double inside)
{
	double length_ns = (double)(end_ns - begin_ns);
	uint64_t amounts[NR_ROWS] = { 0 };

	amounts[SUM(COMPLETION)] = inflight_amount(all * length_ns);
	amounts[SUM(DISPATCH)] = inflight_amount((all - inside) * length_ns);
	return timegrid_spread(&f->grid, begin_ns, end_ns, amounts);
}

void inflight_means(const struct timegrid *grid, enum inflight_part part, double *means)
{
	enum instant begin = part == INFLIGHT_DEVICE ? DISPATCH : ARRIVAL;
	uint64_t under_way = 0, sums = 0, before = 0;

	for (size_t c = 0; c < grid->nr; c++) {
		const uint64_t *cells = timegrid_column(grid, c);
		uint64_t end = timegrid_begin_ns(grid) + (c + 1) * grid->step_ns, integral;

		under_way += cells[COUNT(begin)] - cells[COUNT(COMPLETION)];
		sums += cells[SUM(COMPLETION)] - cells[SUM(begin)];
		integral = end * under_way + sums;
		means[c] = (double)(integral - before) / (double)grid->step_ns;
		before = integral;
	}
}

struct parts {
	struct timegrid grid;
	double *all, *device; /* owned; means by column */
	size_t nr;	      /* columns within the period; later ones hold completions only */
	/* means over the watched time of the whole period */
	double all_mean, device_mean;
};

static int parts_of(const struct timegrid *grid, struct parts *p)
{
	p->all = reallocarray(NULL, grid->nr ? grid->nr : 1, 2 * sizeof(*p->all));
	if (!p->all)
		return -ENOMEM;
	p->device = p->all + grid->nr;
	inflight_means(grid, INFLIGHT_ALL, p->all);
	inflight_means(grid, INFLIGHT_DEVICE, p->device);
	return 0;
}

double inflight_device_while_waiting(const struct inflight *f)
{
	double waiting = 0, weighted = 0;
	struct parts p;

	if (parts_of(&f->grid, &p))
		return NAN;
	for (size_t c = 0; c < f->grid.nr; c++) {
		waiting += p.all[c] - p.device[c];
		weighted += (p.all[c] - p.device[c]) * p.device[c];
	}
	free(p.all);
	return waiting > 0 ? weighted / waiting : NAN;
}

/*
 * A column counts as watched for at least this share of its width, so that a request that ends in a
 * sliver beside a gap does not look like a crowd.
 */
#define INFLIGHT_LEAST_RATIO 0.1

/* Makes means over the watched time of each column from means over its whole width. */
static void inflight_over_watched(const struct view *v, struct parts *p)
{
	double watched = 0;

	for (size_t c = 0; c < p->nr; c++) {
		uint64_t begin_ns = timegrid_begin_ns(&p->grid) + c * p->grid.step_ns;
		double ratio = (double)gaps_watched_ns(v->gaps, v->nr_gaps, begin_ns,
						       begin_ns + p->grid.step_ns, p->all[c] > 0) /
			       (double)p->grid.step_ns;

		watched += ratio;
		p->all_mean += p->all[c];
		p->device_mean += p->device[c];
		p->all[c] /= fmax(ratio, INFLIGHT_LEAST_RATIO);
		p->device[c] /= fmax(ratio, INFLIGHT_LEAST_RATIO);
	}
	p->all_mean /= watched > 0 ? watched : 1;
	p->device_mean /= watched > 0 ? watched : 1;
}

static int inflight_columns(const struct inflight *f, const struct view *v, struct parts *p)
{
	int ret = frame_columns(&f->grid, v, &p->grid);

	if (ret)
		return ret;
	ret = parts_of(&p->grid, p);
	if (ret) {
		timegrid_release(&p->grid);
		return ret;
	}
	p->nr = 0;
	while (p->nr < p->grid.nr &&
	       timegrid_begin_ns(&p->grid) + p->nr * p->grid.step_ns < v->end_ns)
		p->nr++;
	p->all_mean = p->device_mean = 0;
	inflight_over_watched(v, p);
	return 0;
}

static void parts_release(struct parts *p)
{
	free(p->all);
	timegrid_release(&p->grid);
}

static void inflight_area(struct buf *out, const char *class, const struct parts *p,
			  const double *means, const struct scale *x, const struct scale *y)
{
	const struct timegrid *g = &p->grid;
	double at = scale_px(x, (double)timegrid_begin_ns(g));

	svg_path(out, class);
	svg_move_to(out, at, y->px_from);
	for (size_t c = 0; c < p->nr; c++) {
		svg_line_to(out, at, scale_px(y, means[c]));
		at = scale_px(x, (double)(timegrid_begin_ns(g) + (c + 1) * g->step_ns));
		svg_line_to(out, at, scale_px(y, means[c]));
	}
	svg_line_to(out, at, y->px_from);
	buf_put_u8(out, 'z');
	svg_path_end(out);
}

/* Describes the picture, and returns the highest mean. */
static double inflight_describe(const struct parts *p, char *text, size_t len)
{
	double most = 0;
	struct label mean, inside, max;

	for (size_t c = 0; c < p->nr; c++)
		most = fmax(most, p->all[c]);
	snprintf(text, len,
		 "Mean number of requests under way over time: %s over the period, %s of them "
		 "inside the device; %s in the busiest column.",
		 label_count(&mean, p->all_mean), label_count(&inside, p->device_mean),
		 label_count(&max, most));
	return most;
}

int inflight_draw(const struct inflight *f, const struct view *v, struct buf *out)
{
	const struct legend_entry legend[] = { { LEGEND_BOX, "waiting",
						 "waiting before the device" },
					       { LEGEND_BOX, "inside", "inside the device" } };
	struct scale x = frame_time(&frame_wide, v), y;
	struct parts p;
	char text[256];
	int ret = inflight_columns(f, v, &p);

	if (ret)
		return ret;
	y = frame_linear(&frame_wide, inflight_describe(&p, text, sizeof(text)), UNIT_COUNT);
	frame_begin(out, &frame_wide, v, "figure wide", "Requests in flight", text, &x);
	frame_axes(out, &frame_wide, &x, &y, NULL, "requests in flight");
	/*
	 * All requests are drawn, and those inside the device in front of them; the visible rest
	 * are waiting.
	 */
	inflight_area(out, "area waiting", &p, p.all, &x, &y);
	inflight_area(out, "area inside", &p, p.device, &x, &y);
	frame_legend(out, &frame_wide, legend, 2);
	svg_end(out);
	parts_release(&p);
	return out->error;
}

int inflight_csv(const struct inflight *f, const struct view *v, struct buf *out)
{
	struct parts p;
	int ret = inflight_columns(f, v, &p);

	if (ret)
		return ret;
	buf_printf(out, "begin_s,in_flight_mean,in_device_mean\n");
	for (size_t c = 0; c < p.nr; c++) {
		frame_csv_time(out, timegrid_begin_ns(&p.grid) + c * p.grid.step_ns);
		buf_printf(out, ",%.6g,%.6g\n", p.all[c], p.device[c]);
	}
	parts_release(&p);
	return out->error;
}

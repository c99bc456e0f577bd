/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/report/curve/regions.h"
#include "base/memory/order.h"

/*
 * Sorts the weights, the largest first, and scales them to a sum of one. Returns -ENODATA where
 * there are none.
 */
static int regions_rank(double *weights, size_t nr)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += weights[i];
	if (!(sum > 0) || !isfinite(sum))
		return -ENODATA;
	for (size_t i = 0; i < nr; i++)
		weights[i] /= sum;
	qsort(weights, nr, sizeof(*weights), order_double_falling);
	return 0;
}

static int ranked_counts(const uint64_t *counts, size_t nr, double *weights)
{
	for (size_t i = 0; i < nr; i++)
		weights[i] = (double)counts[i];
	return nr ? regions_rank(weights, nr) : -ENODATA;
}

static void law_name(const struct access_distribution *d, char *text, size_t len)
{
	switch (d->kind) {
	case DISTRIBUTION_UNIFORM:
		snprintf(text, len, "uniform");
		break;
	case DISTRIBUTION_ZIPF:
		snprintf(text, len, "zipf, θ = %.2f", d->exponent);
		break;
	case DISTRIBUTION_GAUSSIAN:
		snprintf(text, len, "gaussian, σ = %.2f", d->deviation_ratio);
		break;
	case DISTRIBUTION_UNKNOWN:
		snprintf(text, len, "none");
		break;
	}
}

static void regions_describe(const struct access_distribution *d, size_t nr, const char *law,
			     char *text, size_t len)
{
	int used =
		snprintf(text, len,
			 "Share of accesses that the busiest regions take, busiest first, over %zu "
			 "equal regions",
			 nr);

	if (d->kind == DISTRIBUTION_UNKNOWN)
		snprintf(text + used, len - (size_t)used, ".");
	else
		snprintf(text + used, len - (size_t)used,
			 "; best law: %s, Kolmogorov-Smirnov distance %.3f.", law, d->ks_distance);
}

static void regions_curve(struct buf *out, const char *class, const double *weights, size_t nr,
			  const struct scale *x, const struct scale *y)
{
	double sum = 0, last = -1;

	svg_path(out, class);
	svg_move_to(out, scale_px(x, 0), scale_px(y, 0));
	for (size_t i = 0; i < nr; i++) {
		double px = scale_px(x, ((double)i + 1) / (double)nr);

		sum += weights[i];
		/* Thousands of regions fall on the same half unit of the picture. */
		if (px - last < 0.5 && i + 1 < nr)
			continue;
		svg_line_to(out, px, scale_px(y, sum));
		last = px;
	}
	svg_path_end(out);
}

int regions_draw(const uint64_t *counts, size_t nr, const struct access_distribution *d,
		 const struct hotspot_law *law, const struct view *v, struct buf *out)
{
	const struct frame *f = &frame_half;
	struct scale y = frame_linear(f, 1, UNIT_RATIO), x = y;
	double *weights = reallocarray(NULL, nr ? nr : 1, sizeof(*weights));
	struct legend_entry legend[2] = { { LEGEND_LINE, "line curve", "measured" } };
	size_t nr_legend = 1;
	char name[64], text[256];
	int ret;

	law_name(d, name, sizeof(name));
	if (!weights)
		return -ENOMEM;
	ret = ranked_counts(counts, nr, weights);
	if (ret)
		goto out;
	x.px_from = f->left;
	x.px_to = f->right;
	law_name(d, name, sizeof(name));
	regions_describe(d, nr, name, text, sizeof(text));
	frame_begin(out, f, v, "figure half", "Access distribution", text, NULL);
	frame_axes(out, f, &x, &y, "busiest regions, share of the range", "accesses");
	svg_line(out, "rule", scale_px(&x, 0), scale_px(&y, 0), scale_px(&x, 1), scale_px(&y, 1));
	regions_curve(out, "line curve", weights, nr, &x, &y);
	if (law->nr) {
		regions_curve(out, "line law", law->mass, law->nr, &x, &y);
		legend[nr_legend++] = (struct legend_entry){ LEGEND_LINE, "line law", name };
	}
	frame_legend(out, f, legend, nr_legend);
	svg_end(out);
	ret = out->error;
out:
	free(weights);
	return ret;
}

/* Writes the cumulative shares at every percent of the range. */
int regions_csv(const uint64_t *counts, size_t nr, const struct hotspot_law *law, struct buf *out)
{
	double *weights = reallocarray(NULL, nr ? nr : 1, sizeof(*weights)), sum = 0, law_sum = 0;
	size_t at = 0, law_at = 0;
	int ret = weights ? ranked_counts(counts, nr, weights) : -ENOMEM;

	if (ret)
		goto out;
	buf_printf(out, "busiest_regions_ratio,accesses_ratio,law_ratio\n");
	for (size_t percent = 1; percent <= 100; percent++) {
		for (; at < nr && at * 100 < percent * nr; at++)
			sum += weights[at];
		for (; law_at < law->nr && law_at * 100 < percent * law->nr; law_at++)
			law_sum += law->mass[law_at];
		buf_printf(out, "%.2f,%.6f,", (double)percent / 100, fmin(sum, 1));
		if (law->nr)
			buf_printf(out, "%.6f", fmin(law_sum, 1));
		buf_put_u8(out, '\n');
	}
	ret = out->error;
out:
	free(weights);
	return ret;
}

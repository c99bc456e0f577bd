// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/storage/device/device_guess.h"

#include <math.h>

#define FLUSH_BYTES (1024.0 * 1024) /* first guess: so many bytes double the time of a flush */

static bool device_row_is_plain(const struct device_row *row, int side)
{
	return !row->load.flush_every && !(side && row->load.durable) &&
	       isfinite(row->measured_s[side][DEVICE_MEAN]);
}

/*
 * Returns the fewest requests under way of a plain row with this direction, or INFINITY if there
 * is none.
 */
static double device_guess_least(const struct device_table *d, int side)
{
	double least = INFINITY;

	for (size_t i = 0; i < d->nr; i++)
		if (device_row_is_plain(&d->rows[i], side))
			least = fmin(least, device_load_concurrency(&d->rows[i].load));
	return least;
}

/*
 * Guesses base and time per byte of a direction from rows with few requests under way: s = base +
 * bytes x byte.
 */
static void device_guess_side(struct device_model *m, const struct device_table *d, int side)
{
	double least = device_guess_least(d, side), sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
	double nr = 0, fastest_s = INFINITY, slope, base;

	for (size_t i = 0; i < d->nr; i++) {
		const struct device_row *row = &d->rows[i];
		double s = row->measured_s[side][DEVICE_MEAN], x = row->load.bytes[side], w;

		if (!device_row_is_plain(row, side) || device_load_concurrency(&row->load) > least)
			continue;
		w = 1 / (s * s); /* relative errors count */
		nr += w;
		sum_x += w * x;
		sum_y += w * s;
		sum_xx += w * x * x;
		sum_xy += w * x * s;
		fastest_s = fmin(fastest_s, s);
	}
	if (!(nr > 0))
		return;
	slope = (nr * sum_xy - sum_x * sum_y) / (nr * sum_xx - sum_x * sum_x);
	slope = isfinite(slope) && slope > 0 ? slope : 1e-12;
	base = (sum_y - slope * sum_x) / nr;
	base = base > fastest_s / 20 ? base : fastest_s / 20;
	m->base_s[side] = base * 0.7;
	m->latency_s[side] = base * 0.2;
	m->seek_s[side] = base * 0.1;
	m->byte_s[side] = 0.5 * slope;
	m->latency_byte_s[side] = 0.5 * slope;
}

static void device_guess_others(struct device_model *m, const struct device_table *d)
{
	double flush_s = INFINITY, durable_s = INFINITY;

	for (size_t i = 0; i < d->nr; i++) {
		const struct device_row *row = &d->rows[i];

		flush_s = fmin(flush_s, isfinite(row->measured_s[DEVICE_FLUSH][DEVICE_MEAN])
						? row->measured_s[DEVICE_FLUSH][DEVICE_MEAN]
						: INFINITY);
		if (row->load.durable && isfinite(row->measured_s[DEVICE_WRITE][DEVICE_MEAN]))
			durable_s = fmin(durable_s, row->measured_s[DEVICE_WRITE][DEVICE_MEAN]);
	}
	m->flush_s = isfinite(flush_s) ? flush_s : 0;
	m->flush_byte_s = m->flush_s / FLUSH_BYTES;
	durable_s -= m->base_s[1] + m->latency_s[1];
	m->durable_s = !isfinite(durable_s) ? 0 : fmax(durable_s, m->base_s[1] / 10);
}

void device_guess(struct device_guess *g, const struct device_table *d, struct device_model *m)
{
	*g = (struct device_guess){ 0 };
	device_model_init(m);
	device_table_domain(d, &m->domain);
	for (size_t i = 0; i < d->nr; i++) {
		const struct device_row *row = &d->rows[i];
		double per_s = 0, bytes_per_s = 0;

		for (int k = 0; k < 2; k++) {
			if (!isfinite(row->per_s[k]))
				continue;
			per_s += row->per_s[k];
			bytes_per_s += row->per_s[k] * row->load.bytes[k];
		}
		g->clean |=
			row->load.flush_read_ratio > 0 && device_load_concurrency(&row->load) <= 1;
		g->thinks |= row->load.think_s > 0;
		g->per_s = fmax(g->per_s, per_s);
		g->bytes_per_s = fmax(g->bytes_per_s, bytes_per_s);
	}
	for (int k = 0; k < 2; k++) {
		m->sigma[k] = 0.3;
		device_guess_side(m, d, k);
	}
	m->wait_sigma = m->domain.concurrency > 2 ? 0.1 : 0;

	device_guess_others(m, d);
}

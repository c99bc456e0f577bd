// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/tree/m5_tree.h"
#include "analyzer/models/regression/tree/tree_grow.h"

static void m5_ground_describe(struct m5_ground *g, const double *x, double *mean, double *variance)
{
	size_t n = g->data->nr_rows;
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i] * (g->weight ? g->weight[i] : 1);
	*mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (x[i] - *mean) * (x[i] - *mean) * (g->weight ? g->weight[i] : 1);
	*variance = n > 1 ? squares / (double)(n - 1) : 0;
}

/*
 * Returns how often x and y lie on matching sides of their means: near 1 if they always do or
 * never do, and 0 if they do in half of the rows. Rows where x equals its mean do not count.
 */
static double m5_ground_preference(const struct m5_ground *g, const double *x, double mean)
{
	size_t n = g->data->nr_rows, same = 0, off = 0;

	for (size_t i = 0; i < n; i++) {
		if (x[i] == mean)
			continue;
		off++;
		same += (x[i] > mean) == (g->data->y[i] > g->mean);
	}
	same = same > off - same ? same : off - same;
	return (2 * (double)same - (double)off) / (double)n;
}

static void m5_ground_limits(struct m5_ground *g)
{
	const double *y = g->data->y;

	g->low = g->high = y[0];
	for (size_t i = 0; i < g->data->nr_rows; i++) {
		g->low = fmin(g->low, y[i]);
		g->high = fmax(g->high, y[i]);
	}
	g->floor = g->low - (g->high - g->low);
	g->ceiling = g->high + (g->high - g->low);
	if (g->low >= 0 && g->floor < 0)
		g->floor = 0;
	if (g->high <= 0 && g->ceiling > 0)
		g->ceiling = 0;
}

static int take_weights(struct m5_ground *g)
{
	size_t n = g->data->nr_rows;
	double sum = 0;

	if (!g->data->weight)
		return 0;
	g->weight = calloc(n + 1, sizeof(*g->weight));
	if (!g->weight)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		sum += g->data->weight[i];
	for (size_t i = 0; i < n; i++)
		g->weight[i] = g->data->weight[i] * (double)n / sum;
	return 0;
}

int m5_ground_init(struct m5_ground *g, const struct schema *s, const struct dataset *d)
{
	double variance, mean;

	*g = (struct m5_ground){ .schema = s, .data = d };
	g->order = tree_order(s, d);
	if (design_init(&g->design, s, d))
		return -ENOMEM;
	g->spread = calloc(g->design.nr_columns + 1, sizeof(*g->spread));
	g->preference = calloc(d->nr_vars + 1, sizeof(*g->preference));
	if (!g->order || !g->spread || !g->preference || take_weights(g)) {
		m5_ground_release(g);
		return -ENOMEM;
	}
	m5_ground_limits(g);
	m5_ground_describe(g, d->y, &g->mean, &variance);
	g->sd = sqrt(variance);
	for (size_t v = 0; v < d->nr_vars; v++) {
		if (s->variables[v].factor)
			continue;
		m5_ground_describe(g, d->x + v * d->nr_rows, &mean, &variance);
		g->preference[v] = m5_ground_preference(g, d->x + v * d->nr_rows, mean);
	}
	for (size_t c = 0; c < g->design.nr_columns; c++)
		m5_ground_describe(g, g->design.x + c * d->nr_rows, &mean, &g->spread[c]);
	return 0;
}

void m5_ground_release(struct m5_ground *g)
{
	design_release(&g->design);
	free(g->order);
	free(g->weight);
	free(g->spread);
	free(g->preference);
	memset(g, 0, sizeof(*g));
}

size_t m5_least_cover(const struct m5_ground *g, double nsplits)
{
	double n = (double)g->data->nr_rows, cover = fmin(20, rint(n / 100));

	return (size_t)fmax(M5_LEAST_ROWS, fmin(cover, floor(n / nsplits)));
}

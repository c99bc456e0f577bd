// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/stats.h"
#include "analyzer/models/regression/form/neighbours.h"
#include "base/memory/array.h"

/* two numbers that are this many standard deviations apart have the largest difference */
#define DEVIATIONS 5
/* steps per unit of distance, as in Cubist, so that nearly equal distances count as equal */
#define STEPS	  16
#define LEAF_ROWS 8 /* of the tree; smaller leaves cost more boxes than they save rows */

static double near_one(double d)
{
	return d < 1 ? d : 1;
}

static double neighbours_distance(const struct neighbours *n, const double *a, const double *b)
{
	double sum = 0;

	for (size_t v = 0; v < n->nr_vars; v++) {
		if (n->scale[v] < 0)
			sum += a[v] != b[v] ? -n->scale[v] : 0;
		else
			sum += near_one(fabs(a[v] - b[v]) * n->scale[v]);
	}
	return rint(sum * STEPS) / STEPS;
}

/*
 * Returns a distance that no row of the node is below. Every step rounds in the same direction as
 * that of a row's distance, so that the bound holds for the rounded numbers too.
 */
static double neighbours_bound(const struct neighbours *n, size_t node, const double *x)
{
	const double *low = n->boxes + 2 * node * n->nr_vars, *high = low + n->nr_vars;
	double sum = 0;

	for (size_t v = 0; v < n->nr_vars; v++) {
		double off = x[v] < low[v] ? low[v] - x[v] : x[v] > high[v] ? x[v] - high[v] : 0;

		if (n->scale[v] < 0)
			sum += off > 0 ? -n->scale[v] : 0;
		else
			sum += near_one(off * n->scale[v]);
	}
	return rint(sum * STEPS) / STEPS;
}

/* ---- the tree ---- */

/* The tree while it is made. */
struct neighbours_making {
	struct neighbours *n;
	size_t cap, cap_boxes;
};

/* Finds the box of the rows, and the variable in which they are spread most. */
static size_t neighbours_box(const struct neighbours_making *m, size_t node, double *most)
{
	const struct neighbours *n = m->n;
	const struct neighbours_node *of = &n->nodes[node];
	double *low = n->boxes + 2 * node * n->nr_vars, *high = low + n->nr_vars;
	size_t widest = 0;

	*most = 0;
	for (size_t v = 0; v < n->nr_vars; v++) {
		double spread;

		low[v] = INFINITY;
		high[v] = -INFINITY;
		for (size_t i = of->begin; i < of->end; i++) {
			low[v] = fmin(low[v], n->rows[n->row[i] * n->nr_vars + v]);
			high[v] = fmax(high[v], n->rows[n->row[i] * n->nr_vars + v]);
		}
		spread = n->scale[v] < 0 ? (high[v] > low[v] ? -n->scale[v] : 0)
					 : (high[v] - low[v]) * n->scale[v];
		if (spread > *most) {
			*most = spread;
			widest = v;
		}
	}
	return widest;
}

/* Moves the rows with values up to cut in the variable to the front. Returns how many there are. */
static size_t neighbours_partition(const struct neighbours_making *m, size_t begin, size_t end,
				   size_t v, double cut)
{
	uint32_t *row = m->n->row;
	size_t to = begin;

	for (size_t i = begin; i < end; i++) {
		uint32_t here = row[i];

		if (m->n->rows[here * m->n->nr_vars + v] > cut)
			continue;
		row[i] = row[to];
		row[to++] = here;
	}
	return to - begin;
}

/* Adds the node of these rows with all that is below it. */
static int neighbours_grow(struct neighbours_making *m, size_t begin, size_t end)
{
	struct neighbours *n = m->n;
	size_t at = n->nr_nodes, v, nr_left;
	double most, cut;
	int ret;

	if (array_grow(&n->nodes, &m->cap, at + 1, sizeof(*n->nodes)) ||
	    array_grow(&n->boxes, &m->cap_boxes, 2 * (at + 1) * n->nr_vars, sizeof(*n->boxes)))
		return -ENOMEM;
	n->nr_nodes++;
	n->nodes[at] = (struct neighbours_node){ (uint32_t)begin, (uint32_t)end, 0 };
	v = neighbours_box(m, at, &most);
	if (end - begin <= LEAF_ROWS || !(most > 0))
		return 0;
	/* The middle of the box: the depth is then bounded by the precision of a double. */
	cut = n->boxes[2 * at * n->nr_vars + v];
	cut += (n->boxes[(2 * at + 1) * n->nr_vars + v] - cut) / 2;
	nr_left = neighbours_partition(m, begin, end, v, cut);
	if (!nr_left || nr_left == end - begin)
		return 0;
	ret = neighbours_grow(m, begin, begin + nr_left);
	if (ret)
		return ret;
	n->nodes[at].right = (uint32_t)n->nr_nodes;
	return neighbours_grow(m, begin + nr_left, end);
}

static int neighbours_tree(struct neighbours *n)
{
	struct neighbours_making m = { .n = n };
	int ret;

	for (size_t i = 0; i < n->nr_rows; i++)
		n->row[i] = (uint32_t)i;
	ret = neighbours_grow(&m, 0, n->nr_rows);
	for (size_t i = 0; i < n->nr_rows; i++)
		memcpy(n->ordered + i * n->nr_vars, n->rows + n->row[i] * n->nr_vars,
		       n->nr_vars * sizeof(*n->rows));
	return ret;
}

int neighbours_init(struct neighbours *n, const struct schema *s, const struct dataset *d,
		    unsigned int k, const double *fitted)
{
	double low = INFINITY, high = -INFINITY;
	int ret = -ENOMEM;

	memset(n, 0, sizeof(*n));
	n->k = k;
	n->nr_rows = d->nr_rows;
	n->nr_vars = d->nr_vars;
	n->rows = dataset_rows(d);
	n->ordered = calloc(d->nr_rows * d->nr_vars + 1, sizeof(double));
	n->row = calloc(d->nr_rows + 1, sizeof(*n->row));
	n->shift = calloc(d->nr_rows + 1, sizeof(double));
	n->scale = calloc(d->nr_vars + 1, sizeof(double));
	if (!n->rows || !n->ordered || !n->row || !n->shift || !n->scale)
		goto out;
	for (size_t v = 0; v < d->nr_vars; v++) {
		double sd = stats_sd(d->x + v * d->nr_rows, d->nr_rows);

		if (s->variables[v].factor)
			n->scale[v] = -2.0 / (double)s->variables[v].nr_levels;
		else
			n->scale[v] = sd > 0 ? 1 / (DEVIATIONS * sd) : 0;
	}
	for (size_t i = 0; i < d->nr_rows; i++) {
		n->shift[i] = d->y[i] - fitted[i];
		low = fmin(low, d->y[i]);
		high = fmax(high, d->y[i]);
	}
	n->low = low;
	n->high = high;
	ret = neighbours_tree(n);
out:
	if (ret)
		neighbours_release(n);
	return ret;
}

void neighbours_release(struct neighbours *n)
{
	free(n->rows);
	free(n->ordered);
	free(n->row);
	free(n->nodes);
	free(n->boxes);
	free(n->shift);
	free(n->scale);
	memset(n, 0, sizeof(*n));
}

/* ---- the search ---- */

void nearest_release(struct nearest *near)
{
	free(near->rows);
	memset(near, 0, sizeof(*near));
}

/* Keeps the NEIGHBOURS_MAX smallest distances, ascending. */
static void nearest_note(struct nearest *near, double distance)
{
	size_t at;

	if (near->nr == NEIGHBOURS_MAX && distance >= near->distance[near->nr - 1])
		return;
	at = near->nr < NEIGHBOURS_MAX ? near->nr++ : near->nr - 1;
	for (; at && near->distance[at - 1] > distance; at--)
		near->distance[at] = near->distance[at - 1];
	near->distance[at] = distance;
}

/* Returns whether something at this distance is no neighbour, not even by a tie. */
static bool nearest_is_far(const struct nearest *near, double distance)
{
	return near->nr == NEIGHBOURS_MAX && distance > near->distance[near->nr - 1];
}

static int nearest_look(struct nearest *near, const struct neighbours *n, size_t node,
			const double *x)
{
	const struct neighbours_node *of = &n->nodes[node];

	for (size_t i = of->begin; i < of->end; i++) {
		double distance = neighbours_distance(n, x, n->ordered + i * n->nr_vars);

		if (nearest_is_far(near, distance))
			continue;
		if (array_grow(&near->rows, &near->cap, near->nr_rows + 1, sizeof(*near->rows)))
			return -ENOMEM;
		near->rows[near->nr_rows++] = (struct nearest_row){ n->row[i], 0, distance };
		nearest_note(near, distance);
	}
	return 0;
}

/* Descends to the nearer child first. bound is that of the node. */
static int nearest_descend(struct nearest *near, const struct neighbours *n, size_t node,
			   double bound, const double *x)
{
	size_t first = node + 1, second = n->nodes[node].right;
	double bound_first, bound_second;
	int ret;

	if (nearest_is_far(near, bound))
		return 0;
	if (!second)
		return nearest_look(near, n, node, x);
	bound_first = neighbours_bound(n, first, x);
	bound_second = neighbours_bound(n, second, x);
	if (bound_second < bound_first) {
		double other = bound_first;

		bound_first = bound_second;
		bound_second = other;
		first = second;
		second = node + 1;
	}
	ret = nearest_descend(near, n, first, bound_first, x);
	return ret ? ret : nearest_descend(near, n, second, bound_second, x);
}

static int nearest_by_row(const void *a, const void *b)
{
	const struct nearest_row *x = a, *y = b;

	return (x->row > y->row) - (x->row < y->row);
}

int nearest_find(struct nearest *near, const struct neighbours *n, const double *x)
{
	size_t kept = 0;
	int ret;

	near->nr = near->nr_rows = 0;
	ret = nearest_descend(near, n, 0, 0, x);
	if (ret)
		return ret;
	for (size_t i = 0; i < near->nr_rows; i++) {
		struct nearest_row r = near->rows[i];

		if (r.distance > near->distance[near->nr - 1])
			continue;
		while (near->distance[r.rank] != r.distance)
			r.rank++;
		near->rows[kept++] = r;
	}
	near->nr_rows = kept;
	if (kept)
		qsort(near->rows, kept, sizeof(*near->rows), nearest_by_row);
	return 0;
}

/*
 * Rows nearer than the k-th distance count fully. Those at that distance share the rest of k,
 * which is the mean over every way of breaking the tie.
 */
void nearest_shifts(const struct nearest *near, const double *shift, double out[NEIGHBOURS_MAX])
{
	double tie_sum[NEIGHBOURS_MAX] = { 0 }, weight = 0, sum = 0;
	size_t tie_nr[NEIGHBOURS_MAX] = { 0 };

	for (size_t i = 0; i < near->nr_rows; i++) {
		const struct nearest_row *r = &near->rows[i];

		tie_sum[r->rank] += shift[r->row];
		tie_nr[r->rank]++;
	}
	for (size_t r = 0, first = 0; r < NEIGHBOURS_MAX; r++) {
		if (r < near->nr) {
			double w = 1 / (near->distance[r] + 0.5);

			first = r && near->distance[r] == near->distance[r - 1] ? first : r;
			sum += w * tie_sum[first] / (double)tie_nr[first];
			weight += w;
		}
		out[r] = weight > 0 ? sum / weight : 0;
	}
}

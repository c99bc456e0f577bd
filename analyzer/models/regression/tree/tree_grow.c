// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/table/row_order.h"
#include "analyzer/models/regression/tree/tree_grow.h"

/* This struct is a node whose rows are divided, while its orders may still wait for that. */
struct division {
	size_t begin, end;
	size_t variable; /* the variable that was split, whose order is divided already */
	bool waits;
};

uint32_t *tree_order(const struct schema *s, const struct dataset *d)
{
	uint32_t *order = reallocarray(NULL, s->nr * d->nr_rows + 1, sizeof(*order));

	if (order && row_order(d->x, s->nr, d->nr_rows, order)) {
		free(order);
		return NULL;
	}
	return order;
}

size_t tree_most_levels(const struct schema *s)
{
	size_t most = 1;

	for (size_t v = 0; v < s->nr; v++)
		if (s->variables[v].nr_levels > most)
			most = s->variables[v].nr_levels;
	return most;
}

/*
 * Partitions stably and without branches, because the processor cannot predict the side of a row.
 * Returns where the right half begins.
 */
static size_t tree_grow_partition(const struct tree_growth *g, uint32_t *rows, size_t begin,
				  size_t end)
{
	size_t to = begin, nr = 0;

	for (size_t i = begin; i < end; i++) {
		uint32_t row = rows[i];
		size_t left = g->side[row];

		rows[to] = row;
		g->moved[nr] = row;
		to += left;
		nr += 1 - left;
	}
	memcpy(rows + to, g->moved, nr * sizeof(*g->moved));
	return to;
}

/* Divides the rows [begin, end) by g->split. Returns where the right half begins. */
static size_t tree_grow_divide(struct tree_growth *g, size_t begin, size_t end)
{
	size_t n = g->data->nr_rows, v = g->split.variable;
	const double *x = g->data->x + v * n;

	if (g->schema->variables[v].factor)
		for (size_t i = begin; i < end; i++)
			g->side[g->rows[i]] = g->split.left[(size_t)x[g->rows[i]]];
	else
		for (size_t i = begin; i < end; i++)
			g->side[g->order[v * n + i]] = i - begin < g->split.nr_left;
	return tree_grow_partition(g, g->rows, begin, end);
}

/* Divides the orders as the rows were divided. The sides of the rows have not changed since. */
static void tree_grow_divide_orders(struct tree_growth *g, struct division *d)
{
	for (size_t v = 0; d->waits && v < g->schema->nr; v++)
		if (!g->schema->variables[v].factor && v != d->variable)
			tree_grow_partition(g, g->order + v * g->data->nr_rows, d->begin, d->end);
	d->waits = false;
}

static int64_t tree_grow_node(struct tree_growth *g, int64_t parent, struct division *above,
			      size_t begin, size_t end, unsigned int depth)
{
	struct division own = { begin, end, 0, true };
	int64_t at = g->grower->add(g, parent, begin, end), left, right;
	size_t middle;
	int ret;

	if (at < 0 || g->grower->is_leaf(g, at, depth))
		return at;
	tree_grow_divide_orders(g, above);
	ret = g->grower->choose(g, at);
	if (ret <= 0)
		return ret ? ret : at;
	own.variable = g->split.variable;
	middle = tree_grow_divide(g, begin, end);
	left = tree_grow_node(g, at, &own, begin, middle, depth + 1);
	if (left < 0)
		return left;
	right = tree_grow_node(g, at, &own, middle, end, depth + 1);
	if (right < 0)
		return right;
	g->grower->link(g, at, left, right);
	return at;
}

int tree_grow(const struct tree_grower *grower, void *tree, const struct schema *s,
	      const struct dataset *d, const uint32_t *order, uint32_t **rows)
{
	struct tree_growth g = { .grower = grower, .tree = tree, .schema = s, .data = d };
	struct division none = { .waits = false };
	size_t n = d->nr_rows;
	int64_t root = -ENOMEM;

	g.rows = calloc(n + 1, sizeof(*g.rows));
	g.order = reallocarray(NULL, n * s->nr + 1, sizeof(*g.order));
	g.split.left = calloc(tree_most_levels(s), 1);
	g.moved = calloc(n + 1, sizeof(*g.moved));
	g.side = calloc(n + 1, 1);
	if (!g.rows || !g.order || !g.split.left || !g.moved || !g.side)
		goto out;
	memcpy(g.order, order, n * s->nr * sizeof(*order));
	for (size_t i = 0; i < n; i++)
		g.rows[i] = (uint32_t)i;
	root = tree_grow_node(&g, -1, &none, 0, n, 0);
out:
	if (root >= 0 && rows)
		*rows = g.rows;
	else
		free(g.rows);
	free(g.order);
	free(g.split.left);
	free(g.moved);
	free(g.side);
	return root < 0 ? (int)root : 0;
}

// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/mars_candidate.h"
#include "analyzer/models/regression/tree_split.h"
#include "base/array.h"

/* A spread below this share of the root's is the rounding error of equal values. */
#define LEAST_RISK 1e-24

struct grower {
	const struct grow_config *config;
	struct grown *g;
	uint32_t *order; /* one order per variable, partitioned as the tree grows */
	uint32_t *moved; /* scratch memory for a partition */
	uint8_t *side;	 /* by row: 1 goes left */
	struct split_choice choice;
	double root_risk;
};

uint32_t *grow_order(const struct schema *s, const struct dataset *d)
{
	uint32_t *order = reallocarray(NULL, s->nr * d->nr_rows + 1, sizeof(*order));

	for (size_t v = 0; order && v < s->nr; v++) {
		if (forward_candidate_order(d->x + v * d->nr_rows, d->nr_rows,
					    order + v * d->nr_rows)) {
			free(order);
			return NULL;
		}
	}
	return order;
}

static void tree_grow_measure(const struct grower *w, struct grown_node *node)
{
	const struct grow_config *c = w->config;
	double weights = 0, sum = 0;

	for (size_t i = node->begin; i < node->end; i++) {
		uint32_t row = w->g->rows[i];
		double weight = c->data->weight ? c->data->weight[row] : 1;

		weights += weight;
		sum += weight * c->y[row];
	}
	node->mean = sum / weights;
	node->risk = 0;
	for (size_t i = node->begin; i < node->end; i++) {
		uint32_t row = w->g->rows[i];
		double weight = c->data->weight ? c->data->weight[row] : 1;
		double e = c->y[row] - node->mean;

		node->risk += weight * e * e;
	}
}

/* Appends a node over rows [begin, end). Returns its index, or -ENOMEM. */
static int64_t new_node(struct grower *w, size_t begin, size_t end)
{
	struct grown *g = w->g;
	struct grown_node node = { .begin = begin, .end = end };
	struct tree_node leaf = { .nr_rows = (uint32_t)(end - begin) };
	int64_t at;

	tree_grow_measure(w, &node);
	leaf.value = node.mean;
	at = forest_add_node(&g->forest, &leaf);
	if (at < 0)
		return at;
	if (array_grow(&g->nodes, &g->cap, (size_t)at + 1, sizeof(*g->nodes)))
		return -ENOMEM;
	g->nodes[at] = node;
	return at;
}

/*
 * Partitions stably and without branches, because the side of a row cannot be predicted by the
 * processor.
 */
static size_t tree_grow_partition(uint32_t *rows, size_t begin, size_t end, const uint8_t *side,
				  uint32_t *moved)
{
	size_t to = begin, nr = 0;

	for (size_t i = begin; i < end; i++) {
		uint32_t row = rows[i];
		size_t left = side[row];

		rows[to] = row;
		moved[nr] = row;
		to += left;
		nr += 1 - left;
	}
	memcpy(rows + to, moved, nr * sizeof(*moved));
	return to;
}

static size_t tree_grow_divide(struct grower *w, const struct grown_node *node)
{
	const struct grow_config *c = w->config;
	const struct variable *v = &c->schema->variables[w->choice.variable];
	const double *x = c->data->x + w->choice.variable * c->data->nr_rows;

	for (size_t i = node->begin; i < node->end; i++) {
		uint32_t row = w->g->rows[i];

		w->side[row] =
			v->factor ? w->choice.left[(size_t)x[row]] != 0 : x[row] < w->choice.cut;
	}
	for (size_t k = 0; k < c->schema->nr; k++)
		if (!c->schema->variables[k].factor)
			tree_grow_partition(w->order + k * c->data->nr_rows, node->begin, node->end,
					    w->side, w->moved);
	return tree_grow_partition(w->g->rows, node->begin, node->end, w->side, w->moved);
}

static bool may_split(const struct grower *w, const struct grown_node *node, unsigned int depth)
{
	const struct grow_config *c = w->config;

	return node->end - node->begin >= c->min_split && depth < c->max_depth &&
	       node->risk > LEAST_RISK * w->root_risk && node->risk > c->least_share * w->root_risk;
}

static int64_t grow_node(struct grower *w, size_t begin, size_t end, unsigned int depth)
{
	struct forest *f = &w->g->forest;
	struct split_choice *c = &w->choice;
	const struct variable *v;
	int64_t at = new_node(w, begin, end), child, levels = 0;
	size_t middle;

	if (at < 0)
		return at;
	if (!depth)
		w->root_risk = w->g->nodes[at].risk;
	if (!may_split(w, &w->g->nodes[at], depth))
		return at;
	split_best(c, w->config, w->order, w->g->rows, &w->g->nodes[at]);
	if (!(c->gain > 0))
		return at;
	v = &w->config->schema->variables[c->variable];
	if (v->factor)
		levels = forest_add_levels(f, c->left, v->nr_levels);
	if (levels < 0)
		return levels;
	f->nodes[at].variable = (uint32_t)c->variable;
	f->nodes[at].cut = c->cut;
	f->nodes[at].levels_at = (uint32_t)levels;
	middle = tree_grow_divide(w, &w->g->nodes[at]);
	child = grow_node(w, begin, middle, depth + 1);
	if (child < 0)
		return child;
	f->nodes[at].left = (int32_t)child;
	child = grow_node(w, middle, end, depth + 1);
	if (child < 0)
		return child;
	f->nodes[at].right = (int32_t)child;
	return at;
}

int grow(struct grown *g, const struct grow_config *config)
{
	struct grower w = { .config = config, .g = g };
	size_t n = config->data->nr_rows, p = config->schema->nr;
	int64_t root = -ENOMEM;

	memset(g, 0, sizeof(*g));
	forest_init(&g->forest);
	g->rows = calloc(n + 1, sizeof(*g->rows));
	w.order = reallocarray(NULL, n * p + 1, sizeof(*w.order));
	w.moved = calloc(n + 1, sizeof(*w.moved));
	w.side = calloc(n + 1, 1);
	if (g->rows && w.order && w.moved && w.side && !split_init(&w.choice, config->schema)) {
		memcpy(w.order, config->order, n * p * sizeof(*w.order));
		for (size_t i = 0; i < n; i++)
			g->rows[i] = (uint32_t)i;
		root = grow_node(&w, 0, n, 0);
		if (root >= 0)
			root = forest_add_root(&g->forest, (int32_t)root);
	}
	split_release(&w.choice);
	free(w.order);
	free(w.moved);
	free(w.side);
	if (root < 0)
		grown_release(g);
	return root < 0 ? (int)root : 0;
}

void grown_release(struct grown *g)
{
	forest_release(&g->forest);
	free(g->nodes);
	free(g->rows);
	memset(g, 0, sizeof(*g));
}

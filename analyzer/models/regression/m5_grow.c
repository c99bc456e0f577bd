// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/m5_split.h"
#include "base/array.h"

#define MAX_DEPTH 100
/* in deviations of y; a node whose model has a smaller error is not split */
#define LEAST_RESIDUAL 1e-9

struct grower {
	struct m5_tree *t;
	struct m5_split split;
	uint32_t *order, *moved;
	uint8_t *side;	  /* by row: 1 goes left */
	double *residual; /* by row */
	double *model;
	bool *tested, *use; /* by variable */
};

static int grower_init(struct grower *w, struct m5_tree *t)
{
	const struct dataset *d = t->ground->data;
	size_t n = d->nr_rows, p = d->nr_vars;
	int ret;

	*w = (struct grower){ .t = t };
	w->order = reallocarray(NULL, n * p + 1, sizeof(*w->order));
	w->moved = calloc(n + 1, sizeof(*w->moved));
	w->side = calloc(n + 1, 1);
	w->residual = calloc(n + 1, sizeof(*w->residual));
	w->model = calloc(t->ground->design.nr_columns + 1, sizeof(*w->model));
	w->tested = calloc(p + 1, sizeof(*w->tested));
	w->use = calloc(p + 1, sizeof(*w->use));
	if (!w->order || !w->moved || !w->side || !w->residual || !w->model || !w->tested ||
	    !w->use)
		return -ENOMEM;
	memcpy(w->order, t->ground->order, n * p * sizeof(*w->order));
	ret = m5_split_init(&w->split, t->ground);
	w->split.least_cover = t->least_cover;
	w->split.residual = w->residual;
	w->split.order = w->order;
	w->split.rows = t->rows;
	return ret;
}

static void grower_release(struct grower *w)
{
	m5_split_release(&w->split);
	free(w->order);
	free(w->moved);
	free(w->side);
	free(w->residual);
	free(w->model);
	free(w->tested);
	free(w->use);
}

static int64_t new_node(struct m5_tree *t, int32_t parent, size_t begin, size_t end)
{
	if (array_grow(&t->nodes, &t->cap, t->nr + 1, sizeof(*t->nodes)))
		return -ENOMEM;
	t->nodes[t->nr] = (struct m5_node){
		.parent = parent, .left = -1, .right = -1, .begin = begin, .end = end
	};
	return (int64_t)t->nr++;
}

/*
 * Computes the residuals of the node's own model over the variables tested above it. Returns the
 * largest residual.
 */
static double take_residuals(struct grower *w, int32_t parent, size_t begin, size_t end)
{
	struct m5_tree *t = w->t;
	const uint32_t *rows = t->rows;
	double most = 0;

	if (parent >= 0)
		m5_linear_fit(&t->linear, rows + begin, end - begin, w->tested, w->model);
	for (size_t i = begin; i < end; i++) {
		double f = parent >= 0 ? m5_linear_cut(&t->linear, w->model, rows[i]) : 0;

		w->residual[rows[i]] = t->linear.y[rows[i]] - f;
		most = fmax(most, fabs(w->residual[rows[i]]));
	}
	return most;
}

static size_t m5_grow_partition(uint32_t *rows, size_t begin, size_t end, const uint8_t *side,
				uint32_t *moved)
{
	size_t to = begin, nr = 0;

	for (size_t i = begin; i < end; i++) {
		if (side[rows[i]])
			rows[to++] = rows[i];
		else
			moved[nr++] = rows[i];
	}
	memcpy(rows + to, moved, nr * sizeof(*moved));
	return to;
}

/*
 * Stores the split in the node and partitions its rows. Returns the index where the right half
 * begins, or -ENOMEM.
 */
static int64_t m5_grow_divide(struct grower *w, size_t at)
{
	struct m5_tree *t = w->t;
	const struct dataset *d = t->ground->data;
	struct m5_node *node = &t->nodes[at];
	const struct variable *v = &t->ground->schema->variables[w->split.variable];
	const double *x = d->x + w->split.variable * d->nr_rows;

	node->variable = (uint32_t)w->split.variable;
	node->cut = w->split.cut;
	if (v->factor) {
		uint8_t *levels = reallocarray(t->levels, t->nr_levels + v->nr_levels, 1);

		if (!levels)
			return -ENOMEM;
		t->levels = levels;
		node->levels_at = t->nr_levels;
		memcpy(levels + t->nr_levels, w->split.left, v->nr_levels);
		t->nr_levels += v->nr_levels;
	}
	for (size_t i = node->begin; i < node->end; i++)
		w->side[t->rows[i]] = m5_goes_left(t, node, x[t->rows[i]]);
	for (size_t k = 0; k < d->nr_vars; k++)
		if (!t->ground->schema->variables[k].factor)
			m5_grow_partition(w->order + k * d->nr_rows, node->begin, node->end,
					  w->side, w->moved);
	return (int64_t)m5_grow_partition(t->rows, node->begin, node->end, w->side, w->moved);
}

static int64_t grow_node(struct grower *w, int32_t parent, size_t begin, size_t end, int depth)
{
	struct m5_tree *t = w->t;
	int64_t at = new_node(t, parent, begin, end), middle, child;
	double most;
	bool before;
	size_t v;

	if (at < 0)
		return at;
	most = take_residuals(w, parent, begin, end);
	if (depth == MAX_DEPTH || most < LEAST_RESIDUAL * t->ground->sd ||
	    !m5_split_best(&w->split, begin, end, w->tested, parent < 0))
		return at;
	middle = m5_grow_divide(w, (size_t)at);
	if (middle < 0)
		return middle;
	v = t->nodes[at].variable;
	before = w->tested[v];
	w->tested[v] = true;
	child = grow_node(w, (int32_t)at, begin, (size_t)middle, depth + 1);
	if (child >= 0) {
		t->nodes[at].left = (int32_t)child;
		child = grow_node(w, (int32_t)at, (size_t)middle, end, depth + 1);
	}
	if (child >= 0)
		t->nodes[at].right = (int32_t)child;
	w->tested[v] = before;
	return child < 0 ? child : at;
}

static void mark_below(const struct m5_tree *t, int32_t at, bool *use)
{
	const struct m5_node *node = &t->nodes[at];

	if (node->left < 0)
		return;
	use[node->variable] = true;
	mark_below(t, node->left, use);
	mark_below(t, node->right, use);
}

/* Fits a model for every node over the variables that are tested above or below it. */
static void fit_models(struct grower *w)
{
	struct m5_tree *t = w->t;

	for (size_t i = 0; i < t->nr; i++) {
		const struct m5_node *node = &t->nodes[i];

		memset(w->use, 0, t->ground->schema->nr * sizeof(*w->use));
		for (int32_t p = node->parent; p >= 0; p = t->nodes[p].parent)
			w->use[t->nodes[p].variable] = true;
		mark_below(t, (int32_t)i, w->use);
		m5_linear_fit(&t->linear, t->rows + node->begin, node->end - node->begin, w->use,
			      m5_model(t, i));
	}
}

void m5_tree_free(struct m5_tree *t)
{
	if (t) {
		m5_linear_release(&t->linear);
		free(t->nodes);
		free(t->levels);
		free(t->rows);
		free(t->models);
	}
	free(t);
}

static int grow_tree(struct m5_tree *t)
{
	struct grower w;
	int64_t root = grower_init(&w, t);

	if (!root)
		root = grow_node(&w, -1, 0, t->ground->data->nr_rows, 0);
	if (root >= 0) {
		t->models = calloc(t->nr * (t->ground->design.nr_columns + 1) + 1, sizeof(double));
		root = t->models ? 0 : -ENOMEM;
	}
	if (!root)
		fit_models(&w);
	grower_release(&w);
	return (int)root;
}

int m5_tree_new(struct m5_tree **out, const struct m5_ground *g, const double *y,
		size_t least_cover, size_t max_leaves, size_t *natural)
{
	struct m5_tree *t = calloc(1, sizeof(*t));
	size_t n = g->data->nr_rows;
	int ret;

	if (!t)
		return -ENOMEM;
	t->ground = g;
	t->least_cover = least_cover;
	t->linear = (struct m5_linear){ .data = g->data,
					.design = &g->design,
					.y = y,
					.weight = g->weight,
					.floor = g->floor,
					.ceiling = g->ceiling,
					.spread = g->spread };
	t->rows = calloc(n + 1, sizeof(*t->rows));
	ret = t->rows ? m5_linear_init(&t->linear, n, g->design.nr_columns) : -ENOMEM;
	if (ret)
		goto out;
	for (size_t i = 0; i < n; i++)
		t->rows[i] = (uint32_t)i;
	ret = grow_tree(t);
	if (ret)
		goto out;
	ret = m5_tree_prune(t, max_leaves, natural);
out:
	if (ret)
		m5_tree_free(t);
	else
		*out = t;
	return ret;
}

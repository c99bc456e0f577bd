// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/tree/m5_split.h"
#include "base/memory/array.h"

#define MAX_DEPTH 100
/* in deviations of y; a node whose model has a smaller error is not split */
#define LEAST_RESIDUAL 1e-9

struct m5_growth {
	struct m5_tree *t;
	struct m5_split split;
	double *residual; /* by row */
	double *fitted;	  /* by row of a node */
	double *model;
	bool *tested; /* by variable: tested above the present node */
	bool *use;    /* by variable */
};

static int m5_growth_init(struct m5_growth *w, struct m5_tree *t)
{
	const struct dataset *d = t->ground->data;
	int ret;

	*w = (struct m5_growth){ .t = t };
	w->residual = calloc(d->nr_rows + 1, sizeof(*w->residual));
	w->fitted = calloc(d->nr_rows + 1, sizeof(*w->fitted));
	w->model = calloc(t->ground->design.nr_columns + 1, sizeof(*w->model));
	w->tested = calloc(d->nr_vars + 1, sizeof(*w->tested));
	w->use = calloc(d->nr_vars + 1, sizeof(*w->use));
	if (!w->residual || !w->fitted || !w->model || !w->tested || !w->use)
		return -ENOMEM;
	ret = m5_split_init(&w->split, t->ground);
	w->split.least_cover = t->least_cover;
	w->split.residual = w->residual;
	return ret;
}

static void m5_growth_release(struct m5_growth *w)
{
	m5_split_release(&w->split);
	free(w->residual);
	free(w->fitted);
	free(w->model);
	free(w->tested);
	free(w->use);
}

static int64_t m5_grow_add(struct tree_growth *g, int64_t parent, size_t begin, size_t end)
{
	struct m5_tree *t = ((struct m5_growth *)g->tree)->t;

	if (array_grow(&t->nodes, &t->cap, t->nr + 1, sizeof(*t->nodes)))
		return -ENOMEM;
	t->nodes[t->nr] = (struct m5_node){
		.parent = (int32_t)parent, .left = -1, .right = -1, .begin = begin, .end = end
	};
	return (int64_t)t->nr++;
}

/* Marks the variables that are tested above the node. */
static void m5_grow_mark_above(const struct m5_tree *t, const struct m5_node *node, bool *use)
{
	memset(use, 0, t->ground->schema->nr * sizeof(*use));
	for (int32_t up = node->parent; up >= 0; up = t->nodes[up].parent)
		use[t->nodes[up].variable] = true;
}

/*
 * Computes the residuals of the node's own model over the variables tested above it. The node is a
 * leaf if the largest residual is nearly 0.
 */
static bool m5_grow_is_leaf(struct tree_growth *g, int64_t at, unsigned int depth)
{
	struct m5_growth *w = g->tree;
	struct m5_tree *t = w->t;
	const struct m5_node *node = &t->nodes[at];
	const uint32_t *rows = g->rows + node->begin;
	size_t nr = node->end - node->begin;
	double most = 0;

	m5_grow_mark_above(t, node, w->tested);
	memset(w->fitted, 0, nr * sizeof(*w->fitted));
	if (node->parent >= 0) {
		m5_linear_fit(&t->linear, rows, nr, w->tested, w->model);
		m5_linear_cut(&t->linear, w->model, rows, nr, w->fitted);
	}
	for (size_t i = 0; i < nr; i++) {
		w->residual[rows[i]] = t->linear.y[rows[i]] - w->fitted[i];
		most = fmax(most, fabs(w->residual[rows[i]]));
	}
	return depth == MAX_DEPTH || most < LEAST_RESIDUAL * t->ground->sd;
}

static int m5_grow_choose(struct tree_growth *g, int64_t at)
{
	struct m5_growth *w = g->tree;
	struct m5_tree *t = w->t;
	struct m5_node *node = &t->nodes[at];
	const struct variable *v;
	uint8_t *levels;

	if (!m5_split_best(&w->split, g, node, w->tested))
		return 0;
	v = &g->schema->variables[g->split.variable];
	node->variable = (uint32_t)g->split.variable;
	node->cut = g->split.cut;
	if (!v->factor)
		return 1;
	levels = reallocarray(t->levels, t->nr_levels + v->nr_levels, 1);
	if (!levels)
		return -ENOMEM;
	t->levels = levels;
	node->levels_at = t->nr_levels;
	memcpy(levels + t->nr_levels, g->split.left, v->nr_levels);
	t->nr_levels += v->nr_levels;
	return 1;
}

static void m5_grow_link(struct tree_growth *g, int64_t at, int64_t left, int64_t right)
{
	struct m5_tree *t = ((struct m5_growth *)g->tree)->t;

	t->nodes[at].left = (int32_t)left;
	t->nodes[at].right = (int32_t)right;
}

static const struct tree_grower m5_grower = { m5_grow_add, m5_grow_is_leaf, m5_grow_choose,
					      m5_grow_link };

static void mark_below(const struct m5_tree *t, int32_t at, bool *use)
{
	const struct m5_node *node = &t->nodes[at];

	if (node->left < 0)
		return;
	use[node->variable] = true;
	mark_below(t, node->left, use);
	mark_below(t, node->right, use);
}

/*
 * Returns whether the node lies below a split with a branch of too few rows. Such splits are
 * dropped once the models are there, with all that is below them.
 */
static bool m5_grow_is_dropped(const struct m5_tree *t, const struct m5_node *node)
{
	for (; node->parent >= 0; node = &t->nodes[node->parent]) {
		const struct m5_node *parent = &t->nodes[node->parent];
		size_t nr = node->end - node->begin, other = parent->end - parent->begin - nr;

		if (nr < t->least_cover || other < t->least_cover)
			return true;
	}
	return false;
}

/*
 * Fits a model for every node that stays, over the variables that are tested above or below it. A
 * variable counts as tested also where the test will be dropped.
 */
static void fit_models(struct m5_growth *w)
{
	struct m5_tree *t = w->t;

	for (size_t i = 0; i < t->nr; i++) {
		const struct m5_node *node = &t->nodes[i];

		if (m5_grow_is_dropped(t, node))
			continue;
		m5_grow_mark_above(t, node, w->use);
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

static int m5_grow(struct m5_tree *t)
{
	const struct m5_ground *g = t->ground;
	struct m5_growth w;
	int ret = m5_growth_init(&w, t);

	if (ret)
		goto out;
	ret = tree_grow(&m5_grower, &w, g->schema, g->data, g->order, &t->rows);
	if (ret)
		goto out;
	t->models = calloc(t->nr * (g->design.nr_columns + 1) + 1, sizeof(double));
	ret = t->models ? 0 : -ENOMEM;
	if (ret)
		goto out;
	fit_models(&w);
out:
	m5_growth_release(&w);
	return ret;
}

int m5_tree_new(struct m5_tree **out, const struct m5_ground *g, const double *y,
		size_t least_cover, size_t max_leaves, size_t *natural)
{
	struct m5_tree *t = calloc(1, sizeof(*t));
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
	ret = m5_linear_init(&t->linear, g->data->nr_rows, g->design.nr_columns);
	if (ret)
		goto out;
	ret = m5_grow(t);
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

// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/regression/m5_linear.h"
#include "analyzer/regression/m5_tree.h"

/* Quinlan's: a node is a leaf where its deviation is below 5 % of the whole. */
#define LEAST_DEVIATION 0.05
#define SMOOTHING	15 /* rows the parent's opinion counts for, in Quinlan's and Weka's M5 */
#define MAX_DEPTH	60
#define BUCKET		3 /* least rows of a leaf */

struct maker {
	const struct m5_config *config;
	struct m5_tree *t;
	struct m5_linear linear;
	struct m5_fit *fits;	   /* by node */
	double *absolute, *params; /* of the subtree as it stands, by node: sums and counts */
	size_t *splits;
	int *above;    /* by variable: tests on the way down to the node at hand */
	bool *columns; /* scratch, by design column */
	bool *leaf;    /* by node: nothing below it any more */
};

void m5_tree_free(struct m5_tree *t)
{
	if (t) {
		grown_release(&t->grown);
		free(t->models);
		free(t->needs);
	}
	free(t);
}

static void mark_below(const struct m5_tree *t, int32_t at, bool *variables)
{
	const struct tree_node *node = &t->grown.forest.nodes[at];

	if (node->left < 0)
		return;
	variables[node->variable] = true;
	mark_below(t, node->left, variables);
	mark_below(t, node->right, variables);
}

static double *model_of(const struct m5_tree *t, int32_t at)
{
	return t->models + (size_t)at * (t->nr_columns + 1);
}

/* The models of a node and all below it, over what is tested above or below each. */
static int fit_models(struct maker *m, int32_t at)
{
	const struct tree_node *node = &m->t->grown.forest.nodes[at];
	const struct grown_node *g = &m->t->grown.nodes[at];
	const struct design *design = m->config->design;
	bool *below = calloc(m->config->schema->nr + 1, sizeof(*below));
	int err = 0;

	if (!below)
		return -ENOMEM;
	mark_below(m->t, at, below);
	for (size_t c = 0; c < design->nr_columns; c++) {
		size_t v = design->columns[c].variable;

		m->columns[c] = below[v] || m->above[v];
	}
	free(below);
	m->fits[at] = m5_linear_fit(&m->linear, m->t->grown.rows + g->begin, g->end - g->begin,
				    m->columns, model_of(m->t, at));
	if (node->left < 0)
		return 0;
	m->above[node->variable]++;
	err = fit_models(m, node->left);
	if (!err)
		err = fit_models(m, node->right);
	m->above[node->variable]--;
	return err;
}

static double nr_rows(const struct maker *m, int32_t at)
{
	return (double)m->t->grown.forest.nodes[at].nr_rows;
}

static void make_leaf(struct maker *m, int32_t at)
{
	m->leaf[at] = true;
	m->splits[at] = 0;
	m->params[at] = (double)m->fits[at].nr_params;
	m->absolute[at] = m->fits[at].absolute * nr_rows(m, at);
}

static void sum_children(struct maker *m, int32_t at)
{
	const struct tree_node *node = &m->t->grown.forest.nodes[at];

	m->splits[at] = m->splits[node->left] + m->splits[node->right] + 1;
	m->params[at] = m->params[node->left] + m->params[node->right] + 1;
	m->absolute[at] = m->absolute[node->left] + m->absolute[node->right];
}

/* Children stand behind their parents: from the last node on, all below is settled. */
static void collapse(struct maker *m)
{
	for (size_t i = m->t->grown.forest.nr_nodes; i-- > 0;) {
		int32_t at = (int32_t)i;
		double n = nr_rows(m, at);

		if (m->t->grown.forest.nodes[i].left >= 0) {
			sum_children(m, at);
			if (m5_adjusted(m->absolute[at] / n, n, m->params[at]) <
			    m->fits[at].adjusted)
				continue;
		}
		make_leaf(m, at);
	}
	m->t->nr_splits = m->splits[0];
}

/* The split whose loss costs least per split lost; reachable ones only. */
static void weakest(const struct maker *m, int32_t at, int32_t *found, double *least)
{
	const struct tree_node *node = &m->t->grown.forest.nodes[at];
	double cost;

	if (m->leaf[at])
		return;
	cost = (m->fits[at].absolute * nr_rows(m, at) - m->absolute[at]) / (double)m->splits[at];
	if (*found < 0 || cost < *least) {
		*found = at;
		*least = cost;
	}
	weakest(m, node->left, found, least);
	weakest(m, node->right, found, least);
}

static void sum_again(struct maker *m, int32_t at)
{
	const struct tree_node *node = &m->t->grown.forest.nodes[at];

	if (m->leaf[at])
		return;
	sum_again(m, node->left);
	sum_again(m, node->right);
	sum_children(m, at);
}

/* A link that is cut takes with it every split below that stood until then. */
static void need(struct maker *m, int32_t at, size_t nsplits)
{
	const struct tree_node *node = &m->t->grown.forest.nodes[at];

	if (m->leaf[at])
		return;
	m->t->needs[at] = nsplits;
	need(m, node->left, nsplits);
	need(m, node->right, nsplits);
}

/* From the natural size down to the root, each time by the weakest link. */
static void rank_splits(struct maker *m)
{
	for (size_t i = 0; i < m->t->grown.forest.nr_nodes; i++)
		m->t->needs[i] = SIZE_MAX;
	while (!m->leaf[0]) {
		int32_t at = -1;
		double cost = 0;

		weakest(m, 0, &at, &cost);
		need(m, at, m->splits[0]);
		make_leaf(m, at);
		sum_again(m, 0);
	}
}

/*
 * Below `at`: each node's model, blended with those above it. Children are blended first, with
 * their parents' models as fitted; at's own is blended by its caller.
 */
static void smooth(struct m5_tree *t, int32_t at, int32_t *path, size_t depth, double *fitted)
{
	const struct tree_node *node = &t->grown.forest.nodes[at];
	size_t width = t->nr_columns + 1;
	double *model = model_of(t, at);

	path[depth] = at;
	memcpy(fitted + (size_t)at * width, model, width * sizeof(*model));
	for (size_t k = depth; k-- > 0;) {
		double n = t->grown.forest.nodes[path[k + 1]].nr_rows;
		const double *parent = fitted + (size_t)path[k] * width;

		for (size_t c = 0; c < width; c++)
			model[c] = (n * model[c] + SMOOTHING * parent[c]) / (n + SMOOTHING);
	}
	if (node->left < 0)
		return;
	smooth(t, node->left, path, depth + 1, fitted);
	smooth(t, node->right, path, depth + 1, fitted);
}

static int smooth_all(struct m5_tree *t)
{
	int32_t path[MAX_DEPTH + 2];
	double *fitted =
		calloc(t->grown.forest.nr_nodes * (t->nr_columns + 1) + 1, sizeof(*fitted));

	if (!fitted)
		return -ENOMEM;
	smooth(t, 0, path, 0, fitted);
	free(fitted);
	return 0;
}

static int maker_init(struct maker *m)
{
	size_t nr = m->t->grown.forest.nr_nodes;

	m->t->models = calloc(nr * (m->t->nr_columns + 1) + 1, sizeof(double));
	m->t->needs = calloc(nr + 1, sizeof(*m->t->needs));
	m->fits = calloc(nr + 1, sizeof(*m->fits));
	m->absolute = calloc(nr + 1, sizeof(double));
	m->params = calloc(nr + 1, sizeof(double));
	m->splits = calloc(nr + 1, sizeof(*m->splits));
	m->leaf = calloc(nr + 1, sizeof(*m->leaf));
	m->above = calloc(m->config->schema->nr + 1, sizeof(*m->above));
	m->columns = calloc(m->t->nr_columns + 1, sizeof(*m->columns));
	if (!m->t->models || !m->t->needs || !m->fits || !m->absolute || !m->params || !m->splits ||
	    !m->leaf || !m->above || !m->columns)
		return -ENOMEM;
	return m5_linear_init(&m->linear, m->config->design, m->config->y, m->config->data->weight);
}

static void maker_release(struct maker *m)
{
	m5_linear_release(&m->linear);
	free(m->fits);
	free(m->absolute);
	free(m->params);
	free(m->splits);
	free(m->leaf);
	free(m->above);
	free(m->columns);
}

int m5_tree_new(struct m5_tree **out, const struct m5_config *config)
{
	struct grow_config grown = { .schema = config->schema,
				     .data = config->data,
				     .y = config->y,
				     .order = config->order,
				     .criterion = GROW_DEVIATION,
				     .min_split = 2 * BUCKET,
				     .min_bucket = BUCKET,
				     .max_depth = MAX_DEPTH,
				     .least_deviation = LEAST_DEVIATION };
	struct maker m = { .config = config, .t = calloc(1, sizeof(struct m5_tree)) };
	int err = m.t ? grow(&m.t->grown, &grown) : -ENOMEM;

	if (!err) {
		m.t->nr_columns = config->design->nr_columns;
		err = maker_init(&m);
	}
	if (!err)
		err = fit_models(&m, 0);
	if (!err) {
		collapse(&m);
		rank_splits(&m);
		err = smooth_all(m.t);
	}
	maker_release(&m);
	if (err)
		m5_tree_free(m.t);
	else
		*out = m.t;
	return err;
}

double m5_tree_predict(const struct m5_tree *t, const struct schema *s, const struct design *g,
		       const double *x, size_t nsplits)
{
	const struct forest *f = &t->grown.forest;
	const double *model;
	int32_t at = 0;
	double y;

	while (t->needs[at] != SIZE_MAX && nsplits >= t->needs[at]) {
		const struct tree_node *node = &f->nodes[at];
		const struct variable *v = &s->variables[node->variable];

		at = tree_left(f, node, v, x[node->variable]) ? node->left : node->right;
	}
	model = model_of(t, at);
	y = model[0];
	for (size_t c = 0; c < g->nr_columns; c++)
		if (model[c + 1] != 0)
			y += model[c + 1] * design_value(&g->columns[c], x);
	return y;
}

static int copy_model(struct forest *to, struct tree_node *node, const double *model,
		      const struct design *g)
{
	int err = 0;

	node->value = model[0];
	node->linear_at = (uint32_t)to->nr_linear;
	for (size_t c = 0; c < g->nr_columns && !err; c++) {
		struct linear_part part = { g->columns[c], model[c + 1] };

		if (part.coefficient == 0)
			continue;
		err = forest_add_linear(to, &part);
		node->nr_linear++;
	}
	return err;
}

static int64_t copy(struct forest *to, const struct m5_tree *t, const struct schema *s,
		    const struct design *g, int32_t at, size_t nsplits)
{
	struct tree_node node = t->grown.forest.nodes[at];
	const struct variable *v = &s->variables[node.variable];
	int64_t levels = 0, made, child;

	if (t->needs[at] == SIZE_MAX || nsplits < t->needs[at]) {
		int err = copy_model(to, &node, model_of(t, at), g);

		return err ? err : forest_add_node(to, &node);
	}
	if (v->factor)
		levels = forest_add_levels(to, t->grown.forest.levels + node.levels_at,
					   v->nr_levels);
	if (levels < 0)
		return levels;
	node.levels_at = (uint32_t)levels;
	made = forest_add_node(to, &node);
	if (made < 0)
		return made;
	child = copy(to, t, s, g, node.left, nsplits);
	if (child < 0)
		return child;
	to->nodes[made].left = (int32_t)child;
	child = copy(to, t, s, g, node.right, nsplits);
	if (child < 0)
		return child;
	to->nodes[made].right = (int32_t)child;
	return made;
}

int m5_tree_copy(struct forest *f, const struct m5_tree *t, const struct schema *s,
		 const struct design *g, size_t nsplits)
{
	int64_t root = copy(f, t, s, g, 0, nsplits);

	return root < 0 ? (int)root : forest_add_root(f, (int32_t)root);
}

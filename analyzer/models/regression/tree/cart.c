// SPDX-License-Identifier: Apache-2.0
/*
 * Classification and regression trees, of which only regression is implemented (Breiman, Friedman,
 * Olshen and Stone, Classification and Regression Trees, 1984; Noorshams, Modeling and Prediction
 * of I/O Performance in Virtualized Environments, 2015, section 3.2). The parameters are those of
 * R's rpart: minbucket = round(minsplit / 3), at most 30 levels, and complexity in units of the
 * root's risk. Each node stores the cp at which it collapses, so that a tree that was grown for
 * one cp serves every larger one. When a second, smaller cp is asked for, the tree is grown
 * without regard to cp.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/technique.h"
#include "analyzer/models/regression/tree/cart_split.h"
#include "base/memory/array.h"

#define MAX_DEPTH 30 /* the limit of rpart, whose node numbers end there */
#define LEAST_RISK \
	1e-24 /* a smaller share of the root's risk is the rounding error of equal values */

enum { MINSPLIT, CP };

struct cart_tree {
	struct forest forest;
	struct cart_node *nodes; /* by node of the forest */
	size_t cap;
	/* the cp for which the tree was grown; it serves this cp and larger ones */
	double cp;
	double *complexity; /* by node; a node is split while this is above cp x the root's risk */
	/* Used while the tree grows. */
	struct cart_split split;
	size_t min_split;
};

struct cart {
	const struct sweep_input *in;
	uint32_t *order;
	struct cart_tree **trees; /* by minsplit */
	size_t nr_trees;
};

/* Risk and number of splits of the subtree below a node, after the weakest links were cut. */
struct branch_cost {
	double risk;
	double splits;
};

/* Cuts the subtree of a child if it gains less per split than the node as a whole. */
static double cart_settle(double risk, struct branch_cost *weaker, double weaker_cp,
			  double weaker_risk, struct branch_cost *other, double other_cp,
			  double other_risk)
{
	double cp = (risk - weaker->risk - other->risk) / (weaker->splits + other->splits + 1);

	if (!(cp > weaker_cp))
		return cp;
	*weaker = (struct branch_cost){ weaker_risk, 0 };
	cp = (risk - weaker->risk - other->risk) / (weaker->splits + other->splits + 1);
	if (!(cp > other_cp))
		return cp;
	*other = (struct branch_cost){ other_risk, 0 };
	return (risk - weaker->risk - other->risk) / (weaker->splits + other->splits + 1);
}

/* Sets complexity from the leaves upwards, in the order of rpart's partition() with alpha 0. */
static struct branch_cost cart_weigh(struct cart_tree *t, int32_t at)
{
	const struct tree_node *node = &t->forest.nodes[at];
	const struct cart_node *g = t->nodes;
	struct branch_cost left, right;
	double *cp = t->complexity;

	cp[at] = 0;
	if (node->left < 0)
		return (struct branch_cost){ g[at].risk, 0 };
	left = cart_weigh(t, node->left);
	right = cart_weigh(t, node->right);
	if (cp[node->right] > cp[node->left])
		cp[at] = cart_settle(g[at].risk, &left, cp[node->left], g[node->left].risk, &right,
				     cp[node->right], g[node->right].risk);
	else
		cp[at] = cart_settle(g[at].risk, &right, cp[node->right], g[node->right].risk,
				     &left, cp[node->left], g[node->left].risk);
	return (struct branch_cost){ left.risk + right.risk, left.splits + right.splits + 1 };
}

/*
 * Limits the complexity of each node to that of its parent, so that no node remains without its
 * parent.
 */
static void cart_cap(struct cart_tree *t)
{
	for (size_t i = 0; i < t->forest.nr_nodes; i++) {
		const struct tree_node *node = &t->forest.nodes[i];

		if (node->left < 0)
			continue;
		t->complexity[node->left] = fmin(t->complexity[node->left], t->complexity[i]);
		t->complexity[node->right] = fmin(t->complexity[node->right], t->complexity[i]);
	}
}

static void cart_tree_free(struct cart_tree *t)
{
	if (t) {
		forest_release(&t->forest);
		free(t->nodes);
		free(t->complexity);
	}
	free(t);
}

static void cart_measure(const struct tree_growth *g, struct cart_node *node)
{
	const struct dataset *d = g->data;
	double weights = 0, sum = 0;

	for (size_t i = node->begin; i < node->end; i++) {
		double weight = d->weight ? d->weight[g->rows[i]] : 1;

		weights += weight;
		sum += weight * d->y[g->rows[i]];
	}
	node->mean = sum / weights;
	for (size_t i = node->begin; i < node->end; i++) {
		double weight = d->weight ? d->weight[g->rows[i]] : 1;
		double e = d->y[g->rows[i]] - node->mean;

		node->risk += weight * e * e;
	}
}

static int64_t cart_add(struct tree_growth *g, int64_t parent, size_t begin, size_t end)
{
	struct cart_tree *t = g->tree;
	struct cart_node node = { .begin = begin, .end = end };
	struct tree_node leaf = { .nr_rows = (uint32_t)(end - begin) };
	int64_t at;

	(void)parent;
	cart_measure(g, &node);
	leaf.value = node.mean;
	at = forest_add_node(&t->forest, &leaf);
	if (at < 0)
		return at;
	if (array_grow(&t->nodes, &t->cap, (size_t)at + 1, sizeof(*t->nodes)))
		return -ENOMEM;
	t->nodes[at] = node;
	return at;
}

/*
 * A node whose risk is at most cp times the root's risk stays a leaf: pruning with this cp or a
 * larger one would remove its subtree anyway, since no subtree gains more than the risk of its
 * root.
 */
static bool cart_is_leaf(struct tree_growth *g, int64_t at, unsigned int depth)
{
	const struct cart_tree *t = g->tree;
	const struct cart_node *node = &t->nodes[at];

	return node->end - node->begin < t->min_split || depth >= MAX_DEPTH ||
	       !(node->risk > LEAST_RISK * t->nodes[0].risk) ||
	       !(node->risk > t->cp * t->nodes[0].risk);
}

static int cart_choose(struct tree_growth *g, int64_t at)
{
	struct cart_tree *t = g->tree;
	const struct variable *v;
	int64_t levels = 0;

	cart_split_best(&t->split, g, &t->nodes[at]);
	if (!(g->split.gain > 0))
		return 0;
	v = &g->schema->variables[g->split.variable];
	if (v->factor)
		levels = forest_add_levels(&t->forest, g->split.left, v->nr_levels);
	if (levels < 0)
		return (int)levels;
	t->forest.nodes[at].variable = (uint32_t)g->split.variable;
	t->forest.nodes[at].cut = g->split.cut;
	t->forest.nodes[at].levels_at = (uint32_t)levels;
	return 1;
}

static void cart_link(struct tree_growth *g, int64_t at, int64_t left, int64_t right)
{
	struct cart_tree *t = g->tree;

	t->forest.nodes[at].left = (int32_t)left;
	t->forest.nodes[at].right = (int32_t)right;
}

static const struct tree_grower cart_grower = { cart_add, cart_is_leaf, cart_choose, cart_link };

static int cart_tree_new(struct cart_tree **out, const struct cart *c, size_t minsplit, double cp)
{
	struct cart_tree *t = calloc(1, sizeof(*t));
	int ret;

	if (!t)
		return -ENOMEM;
	forest_init(&t->forest);
	t->cp = cp;
	t->min_split = minsplit;
	t->split.min_bucket = (size_t)fmax(1, rint((double)minsplit / 3));
	ret = cart_split_init(&t->split, c->in->schema, c->in->train->nr_rows);
	if (ret)
		goto out;
	ret = tree_grow(&cart_grower, t, c->in->schema, c->in->train, c->order, NULL);
	if (ret)
		goto out;
	t->complexity = calloc(t->forest.nr_nodes + 1, sizeof(*t->complexity));
	ret = t->complexity ? 0 : -ENOMEM;
	if (ret)
		goto out;
	cart_weigh(t, 0);
	cart_cap(t);
	*out = t;
out:
	cart_split_release(&t->split);
	if (ret)
		cart_tree_free(t);
	return ret;
}

static int cart_tree_of(struct cart *c, const double *p, const struct cart_tree **out)
{
	size_t minsplit = (size_t)p[MINSPLIT];
	int ret;

	if (minsplit >= c->nr_trees) {
		struct cart_tree **grown = reallocarray(c->trees, minsplit + 1, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		c->trees = grown;
		while (c->nr_trees <= minsplit)
			c->trees[c->nr_trees++] = NULL;
	}
	if (!c->trees[minsplit] || c->trees[minsplit]->cp > p[CP]) {
		double cp = c->trees[minsplit] ? 0 : p[CP];

		cart_tree_free(c->trees[minsplit]);
		c->trees[minsplit] = NULL;
		ret = cart_tree_new(&c->trees[minsplit], c, minsplit, cp);
		if (ret)
			return ret;
		sweep_count(c->in);
	}
	*out = c->trees[minsplit];
	return 0;
}

static int cart_open(void **sweep, const struct technique *t, const struct sweep_input *in)
{
	struct cart *c = calloc(1, sizeof(*c));

	(void)t;
	if (!c)
		return -ENOMEM;
	c->in = in;
	c->order = tree_order(in->schema, in->train);
	if (!c->order) {
		free(c);
		return -ENOMEM;
	}
	*sweep = c;
	return 0;
}

static void cart_close(void *sweep)
{
	struct cart *c = sweep;

	for (size_t i = 0; i < c->nr_trees; i++)
		cart_tree_free(c->trees[i]);
	free(c->trees);
	free(c->order);
	free(c);
}

static bool cart_splits(const struct cart_tree *t, int32_t at, double alpha)
{
	return t->forest.nodes[at].left >= 0 && t->complexity[at] > alpha;
}

static int cart_predict(void *sweep, const double *p, double *out)
{
	struct cart *c = sweep;
	const struct schema *s = c->in->schema;
	const struct cart_tree *t;
	int ret = cart_tree_of(c, p, &t);

	if (ret)
		return ret;
	for (size_t i = 0; i < c->in->nr_rows; i++) {
		const double *x = c->in->rows + i * s->nr;
		double alpha = p[CP] * t->nodes[0].risk;
		int32_t at = 0;

		while (cart_splits(t, at, alpha)) {
			const struct tree_node *node = &t->forest.nodes[at];

			at = tree_left(&t->forest, node, &s->variables[node->variable],
				       x[node->variable])
				     ? node->left
				     : node->right;
		}
		out[i] = t->nodes[at].mean;
	}
	return 0;
}

/* Copies the nodes whose complexity is above cp. Returns the index of the new node, or -ENOMEM. */
static int64_t cart_copy(struct forest *to, const struct cart_tree *t, const struct schema *s,
			 int32_t at, double alpha)
{
	const struct forest *from = &t->forest;
	struct tree_node node = from->nodes[at];
	const struct variable *v = &s->variables[node.variable];
	int64_t levels = 0, new, child;

	if (!cart_splits(t, at, alpha))
		return forest_add_node(to, &node);
	if (v->factor)
		levels = forest_add_levels(to, from->levels + node.levels_at, v->nr_levels);
	if (levels < 0)
		return levels;
	node.levels_at = (uint32_t)levels;
	new = forest_add_node(to, &node);
	if (new < 0)
		return new;
	child = cart_copy(to, t, s, node.left, alpha);
	if (child < 0)
		return child;
	to->nodes[new].left = (int32_t)child;
	child = cart_copy(to, t, s, node.right, alpha);
	if (child < 0)
		return child;
	to->nodes[new].right = (int32_t)child;
	return new;
}

static int cart_extract(void *sweep, const double *p, struct model *m)
{
	struct cart *c = sweep;
	const struct cart_tree *t;
	int64_t root = cart_tree_of(c, p, &t);

	if (root)
		return (int)root;
	m->form = MODEL_FOREST;
	root = cart_copy(&m->forest, t, c->in->schema, 0, p[CP] * t->nodes[0].risk);
	return root < 0 ? (int)root : forest_add_root(&m->forest, (int32_t)root);
}

static const struct parameter parameters[] = {
	{ "minsplit", 2, 400, true, 20, NULL },
	{ "cp", 0, 0.999, false, 0.01, NULL },
};

const struct technique technique_cart = {
	.name = "cart",
	.summary = "a tree with a mean in each leaf",
	.speed = 5,
	.simplicity = 4,
	.search_ratio = 30,
	.nr_parameters = 2,
	.parameters = parameters,
	.open = cart_open,
	.predict = cart_predict,
	.extract = cart_extract,
	.close = cart_close,
};

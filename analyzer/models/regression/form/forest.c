// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/form/forest.h"
#include "base/memory/array.h"

void forest_init(struct forest *f)
{
	memset(f, 0, sizeof(*f));
}

void forest_release(struct forest *f)
{
	free(f->roots);
	free(f->nodes);
	free(f->levels);
	forest_init(f);
}

/*
 * Allocates room for more elements beyond nr. All 32-bit indices of the forest must still be able
 * to address them.
 */
static int forest_grow(void *array, size_t *cap, size_t nr, size_t more, size_t size)
{
	return nr + more > INT32_MAX ? -ENOMEM : array_grow(array, cap, nr + more, size);
}

int64_t forest_add_node(struct forest *f, const struct tree_node *node)
{
	if (forest_grow(&f->nodes, &f->cap_nodes, f->nr_nodes, 1, sizeof(*f->nodes)))
		return -ENOMEM;
	f->nodes[f->nr_nodes] = *node;
	f->nodes[f->nr_nodes].left = f->nodes[f->nr_nodes].right = -1;
	return (int64_t)f->nr_nodes++;
}

int64_t forest_add_levels(struct forest *f, const uint8_t *levels, size_t nr)
{
	size_t at = f->nr_levels;

	if (forest_grow(&f->levels, &f->cap_levels, f->nr_levels, nr, 1))
		return -ENOMEM;
	if (nr)
		memcpy(f->levels + at, levels, nr);
	f->nr_levels += nr;
	return (int64_t)at;
}

int forest_add_root(struct forest *f, int32_t root)
{
	int32_t *roots = reallocarray(f->roots, f->nr_trees + 1, sizeof(*roots));

	if (!roots)
		return -ENOMEM;
	f->roots = roots;
	f->roots[f->nr_trees++] = root;
	return 0;
}

static double predict_one(const struct forest *f, const struct schema *s, const double *x)
{
	double sum = 0;

	for (size_t t = 0; t < f->nr_trees; t++) {
		const struct tree_node *node = &f->nodes[f->roots[t]];

		while (node->left >= 0) {
			const struct variable *v = &s->variables[node->variable];

			node = &f->nodes[tree_left(f, node, v, x[node->variable]) ? node->left
										  : node->right];
		}
		sum += node->value;
	}
	return f->nr_trees > 1 ? sum / (double)f->nr_trees : sum;
}

void forest_predict(const struct forest *f, const struct schema *s, const double *rows, size_t nr,
		    double *out)
{
	for (size_t i = 0; i < nr; i++)
		out[i] = predict_one(f, s, rows + i * s->nr);
}

size_t forest_nr_leaves(const struct forest *f)
{
	size_t nr = 0;

	for (size_t i = 0; i < f->nr_nodes; i++)
		nr += f->nodes[i].left < 0;
	return nr;
}

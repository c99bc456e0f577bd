// SPDX-License-Identifier: Apache-2.0
/* This file writes a forest as readable text and as C. */
#include <math.h>
#include <string.h>

#include "analyzer/models/regression/form/forest.h"

static void print_condition(const struct forest *f, const struct schema *s,
			    const struct tree_node *node, bool left, struct buf *out)
{
	const struct variable *v = &s->variables[node->variable];
	bool first = true;

	if (!v->factor) {
		buf_printf(out, "%s %s %.6g", v->name, left ? "<" : ">=", node->cut);
		return;
	}
	buf_printf(out, "%s in {", v->name);
	for (size_t i = 0; i < v->nr_levels; i++) {
		if ((f->levels[node->levels_at + i] != 0) != left)
			continue;
		buf_printf(out, "%s%s", first ? "" : ", ", v->levels[i]);
		first = false;
	}
	buf_printf(out, "}");
}

static void print_node(const struct forest *f, const struct schema *s, int32_t at, int depth,
		       struct buf *out)
{
	const struct tree_node *node = &f->nodes[at];

	if (node->left < 0) {
		buf_printf(out, " -> %.6g   (%u rows)\n", node->value, node->nr_rows);
		return;
	}
	if (depth)
		buf_printf(out, "\n");
	for (int side = 0; side < 2; side++) {
		buf_printf(out, "%*s", 2 * depth, "");
		print_condition(f, s, node, side == 0, out);
		print_node(f, s, side == 0 ? node->left : node->right, depth + 1, out);
	}
}

void forest_print(const struct forest *f, const struct schema *s, struct buf *out)
{
	if (f->nr_trees > 1)
		buf_printf(out, "%s = the mean of %zu trees\n", s->response, f->nr_trees);
	for (size_t t = 0; t < f->nr_trees; t++) {
		if (f->nr_trees > 1)
			buf_printf(out, "tree %zu:\n", t + 1);
		if (f->nodes[f->roots[t]].left < 0)
			buf_printf(out, "%s", s->response);
		print_node(f, s, f->roots[t], 0, out);
	}
}

static void export_node(const struct forest *f, const struct schema *s, int32_t at, int depth,
			struct buf *out)
{
	const struct tree_node *node = &f->nodes[at];
	const struct variable *v = &s->variables[node->variable];

	if (node->left < 0) {
		buf_printf(out, "%*sv = %.17g;\n", depth, "", node->value);
		return;
	}
	buf_printf(out, "%*sif (", depth, "");
	if (!v->factor)
		buf_printf(out, "x[%u] < %.17g", node->variable, node->cut);
	else
		buf_printf(out, "0");
	for (size_t i = 0; v->factor && i < v->nr_levels; i++)
		if (f->levels[node->levels_at + i])
			buf_printf(out, " || x[%u] == %zu", node->variable, i);
	buf_printf(out, ") {\n");
	export_node(f, s, node->left, depth + 1, out);
	buf_printf(out, "%*s} else {\n", depth, "");
	export_node(f, s, node->right, depth + 1, out);
	buf_printf(out, "%*s}\n", depth, "");
}

void forest_export(const struct forest *f, const struct schema *s, struct buf *out)
{
	buf_printf(out, "\tdouble v;\n\n");
	for (size_t t = 0; t < f->nr_trees; t++) {
		export_node(f, s, f->roots[t], 8, out);
		buf_printf(out, "\tsum += v;\n");
	}
	if (f->nr_trees > 1)
		buf_printf(out, "\tsum /= %zu;\n", f->nr_trees);
}

// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/factors.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void level_release(struct level *l)
{
	for (size_t i = 0; i < l->nr_settings; i++) {
		free(l->settings[i].name);
		free(l->settings[i].text);
	}
	free(l->settings);
	free(l->text);
}

void factors_release(struct factors *f)
{
	for (size_t i = 0; i < f->nr; i++) {
		for (size_t l = 0; l < f->items[i].nr_levels; l++)
			level_release(&f->items[i].levels[l]);
		free(f->items[i].levels);
		free(f->items[i].name);
	}
	free(f->items);
	memset(f, 0, sizeof(*f));
}

int factors_find(const struct factors *f, const char *name)
{
	for (size_t i = 0; i < f->nr; i++)
		if (strcmp(f->items[i].name, name) == 0)
			return (int)i;
	return -1;
}

bool factor_is_text(const struct factor *f)
{
	for (size_t i = 0; i < f->nr_levels; i++)
		if (f->levels[i].word)
			return true;
	return false;
}

static char *number_text(double value)
{
	struct buf b;

	buf_init(&b);
	param_print(&b, value);
	if (buf_put_u8(&b, 0)) {
		buf_release(&b);
		return NULL;
	}
	return (char *)b.data;
}

/* What a factor is read with. */
struct factor_reader {
	const struct yaml_tree *tree;
	double scale;
	struct err *err;
};

static int read_number(const struct factor_reader *r, const struct yaml_node *node, double *value)
{
	if (!node || node->kind != YAML_SCALAR || !param_number(node->text, value) ||
	    !isfinite(*value))
		return yaml_tree_error(r->tree, node, r->err, "%s: expected a number, got '%.40s'",
				       node && node->key ? node->key : "level",
				       node && node->text ? node->text : "a list or mapping");
	return 0;
}

static int read_level(const struct factor_reader *r, struct factor *f, const struct yaml_node *node,
		      const char *text, bool word)
{
	struct level *l = &f->levels[f->nr_levels];
	double value;

	*l = (struct level){ .word = word || !param_number(text, &value) };
	if (l->word && f->scaled)
		return yaml_tree_error(r->tree, node, r->err, "%s: cannot scale '%.40s'", f->name,
				       text);
	if (!l->word)
		l->value = value * f->scale;
	l->text = l->word ? strdup(text) : number_text(l->value);
	if (!l->text)
		return -ENOMEM;
	f->nr_levels++;
	for (size_t i = 0; i + 1 < f->nr_levels; i++)
		if (strcmp(f->levels[i].text, l->text) == 0)
			return yaml_tree_error(r->tree, node, r->err, "%s: level '%.40s' twice",
					       f->name, text);
	return 0;
}

static int read_levels(const struct factor_reader *r, struct factor *f,
		       const struct yaml_node *node)
{
	int ret = 0;

	if (node->kind != YAML_LIST || !node->nr)
		return yaml_tree_error(r->tree, node, r->err, "%s: expected a list of levels",
				       f->name);
	f->levels = calloc(node->nr, sizeof(*f->levels));
	if (!f->levels)
		return -ENOMEM;
	for (size_t i = 0; i < node->nr; i++) {
		const struct yaml_node *n = node->items[i];

		if (n->kind != YAML_SCALAR)
			return yaml_tree_error(r->tree, n, r->err,
					       "%s: expected a number or a word", f->name);
		ret = read_level(r, f, n, n->text, n->quoted);
		if (ret)
			return ret;
	}
	return 0;
}

/* cases: {random: {rw: randrw}, sequential: {rw: rw}} */
static int read_case(const struct factor_reader *r, struct level *l, const struct yaml_node *node)
{
	if (node->kind != YAML_MAP)
		return yaml_tree_error(r->tree, node, r->err,
				       "%s: expected a mapping NAME: VALUE of what it sets",
				       node->key);
	l->settings = calloc(node->nr + 1, sizeof(*l->settings));
	if (!l->settings)
		return -ENOMEM;
	for (size_t i = 0; i < node->nr; i++) {
		const struct yaml_node *n = node->items[i];
		struct level_setting *s = &l->settings[l->nr_settings];

		if (n->kind != YAML_SCALAR)
			return yaml_tree_error(r->tree, n, r->err,
					       "%s: expected a number or a word", n->key);
		*s = (struct level_setting){ strdup(n->key), strdup(n->text), n->quoted };
		l->nr_settings++;
		if (!s->name || !s->text)
			return -ENOMEM;
	}
	return 0;
}

static int read_cases(const struct factor_reader *r, struct factor *f, const struct yaml_node *node)
{
	int ret = 0;

	if (node->kind != YAML_MAP || !node->nr)
		return yaml_tree_error(r->tree, node, r->err,
				       "%s: cases: expected a mapping LEVEL: what it sets",
				       f->name);
	f->levels = calloc(node->nr, sizeof(*f->levels));
	if (!f->levels)
		return -ENOMEM;
	for (size_t i = 0; i < node->nr; i++) {
		ret = read_level(r, f, node->items[i], node->items[i]->key, false);
		if (ret)
			return ret;
		ret = read_case(r, &f->levels[i], node->items[i]);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_range(const struct factor_reader *r, struct factor *f, const struct yaml_node *node)
{
	const struct yaml_node *step = yaml_node_get(node, "step");
	int ret = read_number(r, yaml_node_get(node, "low"), &f->low);

	if (!ret && !yaml_node_get(node, "high"))
		return yaml_tree_error(r->tree, node, r->err, "%s: low without high", f->name);
	if (!ret)
		ret = read_number(r, yaml_node_get(node, "high"), &f->high);
	if (!ret && step)
		ret = read_number(r, step, &f->step);
	if (!ret && (!(f->high > f->low) || f->step < 0 || f->step > f->high - f->low))
		return yaml_tree_error(r->tree, node, r->err,
				       "%s: expected low < high and a step between", f->name);
	f->low *= f->scale;
	f->high *= f->scale;
	f->step *= f->scale;
	return ret;
}

static int read_factor(const struct factor_reader *r, struct factor *f,
		       const struct yaml_node *node)
{
	static const char *const keys[] = {
		"levels", "cases", "low", "high", "step", "scaled", NULL
	};
	const struct yaml_node *scaled = yaml_node_get(node, "scaled");
	int ret;

	f->scale = 1;
	if (node->kind == YAML_LIST)
		return read_levels(r, f, node);
	ret = yaml_tree_keys(r->tree, node, keys, r->err);
	if (ret)
		return ret;
	if (scaled && (scaled->kind != YAML_SCALAR ||
		       (strcmp(scaled->text, "true") && strcmp(scaled->text, "false"))))
		return yaml_tree_error(r->tree, scaled, r->err, "scaled: expected true or false");
	f->scaled = scaled && !strcmp(scaled->text, "true");
	f->scale = f->scaled ? r->scale : 1;
	if (!!yaml_node_get(node, "levels") + !!yaml_node_get(node, "cases") +
		    !!yaml_node_get(node, "low") !=
	    1)
		return yaml_tree_error(r->tree, node, r->err,
				       "%s: expected levels, cases, or low and high", f->name);
	if (yaml_node_get(node, "levels"))
		return read_levels(r, f, yaml_node_get(node, "levels"));
	if (yaml_node_get(node, "cases"))
		return read_cases(r, f, yaml_node_get(node, "cases"));
	return read_range(r, f, node);
}

int factors_read(struct factors *f, const struct yaml_tree *t, const struct yaml_node *node,
		 double scale, struct err *err)
{
	struct factor_reader r = { t, scale, err };
	int ret = 0;

	if (node->kind != YAML_MAP || !node->nr)
		return yaml_tree_error(t, node, err, "factors: expected a mapping NAME: levels");
	f->items = calloc(node->nr, sizeof(*f->items));
	if (!f->items)
		return -ENOMEM;
	for (size_t i = 0; i < node->nr; i++) {
		f->items[i].name = strdup(node->items[i]->key);
		if (!f->items[i].name)
			return -ENOMEM;
		f->nr++;
		ret = read_factor(&r, &f->items[i], node->items[i]);
		if (ret)
			return ret;
	}
	return 0;
}

int factor_cell_text(const struct factor *f, double cell, struct buf *out)
{
	if (f->nr_levels) {
		const char *text = f->levels[(size_t)cell].text;

		return buf_put(out, text, strlen(text));
	}
	param_print(out, cell);
	return out->error;
}

int configuration_set(const struct factors *f, const double *cells, struct params *p,
		      struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < f->nr && !ret; i++) {
		const struct factor *factor = &f->items[i];
		const struct level *l;

		if (!factor->nr_levels) {
			ret = params_set_number(p, factor->name, cells[i], err);
			continue;
		}
		l = &factor->levels[(size_t)cells[i]];
		ret = params_set(p, factor->name, l->text, l->word, err);
		for (size_t s = 0; s < l->nr_settings && !ret; s++)
			ret = params_set(p, l->settings[s].name, l->settings[s].text,
					 l->settings[s].word, err);
	}
	return ret;
}

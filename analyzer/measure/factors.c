// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/factors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/measure/plan_reader.h"

void level_settings_release(struct level_settings *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		free(s->items[i].name);
		free(s->items[i].text);
	}
	free(s->items);
}

static void level_release(struct level *l)
{
	level_settings_release(&l->settings);
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

static int factor_add_level(const struct fields_reader *r, struct factor *f,
			    const struct yaml_node *node, const char *text, bool word)
{
	struct level *l = &f->levels[f->nr_levels];
	double value;

	*l = (struct level){ .word = word || !param_number(text, &value) };
	if (l->word && f->scaled)
		return fields_error(r, node, "%s: cannot scale '%.40s'", f->name, text);
	if (!l->word)
		l->value = value * f->scale;
	l->text = l->word ? strdup(text) : number_text(l->value);
	if (!l->text)
		return fields_no_memory(r);
	f->nr_levels++;
	for (size_t i = 0; i + 1 < f->nr_levels; i++)
		if (strcmp(f->levels[i].text, l->text) == 0)
			return fields_error(r, node, "%s: level '%.40s' twice", f->name, text);
	return 0;
}

static int factor_read_levels(const struct fields_reader *r, const struct field *field,
			      const struct yaml_node *node, void *to)
{
	struct factor *f = to;

	(void)field;
	f->levels = calloc(node->nr, sizeof(*f->levels));
	if (!f->levels)
		return fields_no_memory(r);
	for (size_t i = 0; i < node->nr; i++) {
		const struct yaml_node *n = node->items[i];
		int ret;

		if (n->kind != YAML_SCALAR)
			return fields_error(r, n, "%s: expected a number or a word", f->name);
		ret = factor_add_level(r, f, n, n->text, n->quoted);
		if (ret)
			return ret;
	}
	return 0;
}

/* Reads what one case sets, for example {rw: randrw}. */
static int factor_read_case(const struct fields_reader *r, struct level *l,
			    const struct yaml_node *node)
{
	if (node->kind != YAML_MAP)
		return fields_error(r, node, "expected a mapping NAME: VALUE of what it sets");
	l->settings.items = calloc(node->nr + 1, sizeof(*l->settings.items));
	if (!l->settings.items)
		return fields_no_memory(r);
	for (size_t i = 0; i < node->nr; i++) {
		const struct yaml_node *n = node->items[i];
		struct level_setting *s = &l->settings.items[i];

		if (n->kind != YAML_SCALAR)
			return fields_error(r, n, "expected a number or a word");
		*s = (struct level_setting){ strdup(n->key), strdup(n->text), n->quoted };
		l->settings.nr++;
		if (!s->name || !s->text)
			return fields_no_memory(r);
	}
	return 0;
}

/* Returns the first name that the other case sets and this one does not, or NULL. */
static const char *case_lacks(const struct level *l, const struct level *other)
{
	for (size_t i = 0; i < other->settings.nr; i++) {
		const char *name = other->settings.items[i].name;
		bool is_set = false;

		for (size_t k = 0; k < l->settings.nr; k++)
			is_set |= strcmp(l->settings.items[k].name, name) == 0;
		if (!is_set)
			return name;
	}
	return NULL;
}

/*
 * Refuses a case that does not set what the first one sets, because a text that uses it would have
 * a value in some configurations only.
 */
static int factor_check_case(const struct fields_reader *r, const struct level *first,
			     const struct level *l, const struct yaml_node *node)
{
	const char *lacks = case_lacks(l, first), *more = case_lacks(first, l);

	if (lacks)
		return fields_error(r, node, "expected a value of '%s', which the first case sets",
				    lacks);
	if (more)
		return fields_error(r, node, "sets '%s': expected only what the first case sets",
				    more);
	return 0;
}

static int factor_read_cases(const struct fields_reader *r, const struct field *field,
			     const struct yaml_node *node, void *to)
{
	struct factor *f = to;

	(void)field;
	f->levels = calloc(node->nr, sizeof(*f->levels));
	if (!f->levels)
		return fields_no_memory(r);
	for (size_t i = 0; i < node->nr; i++) {
		int ret = factor_add_level(r, f, node->items[i], node->items[i]->key, false);

		if (ret)
			return ret;
		ret = factor_read_case(r, &f->levels[i], node->items[i]);
		if (ret)
			return ret;
		ret = factor_check_case(r, &f->levels[0], &f->levels[i], node->items[i]);
		if (ret)
			return ret;
	}
	return 0;
}

static int factor_read_scaled(const struct fields_reader *r, const struct field *field,
			      const struct yaml_node *node, void *to)
{
	const struct plan_reader *plan = r->context;
	struct factor *f = to;

	f->scaled = !strcmp(node->text, "true");
	f->scale = f->scaled ? plan->plan->scale : 1;
	return f->scaled || !strcmp(node->text, "false") ? 0 : fields_expected(r, field, node);
}

static const struct field factor_case = FIELD(MAP, NULL, .item = &plan_value);
static const struct field factor_fields[] = {
	FIELD(FLAG, "scaled", .read = factor_read_scaled, .standard = "false",
	      .help = "whether its numbers are multiplied with the plan's scale"),
	FIELD(LIST, "levels", .item = &plan_value, .low = 1, .choice = 1,
	      .read = factor_read_levels, .expected = "a list of levels"),
	FIELD(MAP, "cases", .item = &factor_case, .low = 1, .choice = 1, .read = factor_read_cases,
	      .expected = "a mapping LEVEL: what it sets",
	      .help = "levels that are words, and what else each sets, the same names in all"),
	FIELD(NUMBER, "low", .offset = offsetof(struct factor, low), .low = -INFINITY,
	      .computed = true, .choice = 1, .with = "high", .help = "least value of a range"),
	FIELD(NUMBER, "high", .offset = offsetof(struct factor, high), .low = -INFINITY,
	      .computed = true, .with = "low", .help = "largest value of a range"),
	FIELD(NUMBER, "step", .offset = offsetof(struct factor, step), .computed = true,
	      .with = "low", .help = "of a range; without it any number is drawn"),
	{ 0 },
};
static const struct fields factor_table = { .fields = factor_fields,
					    .expected = "levels, cases, or low and high" };
static const struct field factor_forms[] = {
	FIELD(LIST, NULL, .item = &plan_value, .low = 1, .read = factor_read_levels,
	      .expected = "a list of levels"),
	FIELD(STRUCT, NULL, .of = &factor_table),
	{ 0 },
};
const struct field plan_factor = FIELD(EITHER, "factor", .item = factor_forms);

static int factor_read(const struct fields_reader *r, struct factor *f,
		       const struct yaml_node *node)
{
	int ret;

	f->scale = 1;
	ret = fields_read_value(r, &plan_factor, node, f);
	if (ret || f->nr_levels)
		return ret;
	if (!(f->high > f->low) || f->step > f->high - f->low)
		return fields_error(r, node, "expected low < high and a step between");
	f->low *= f->scale;
	f->high *= f->scale;
	f->step *= f->scale;
	return 0;
}

int factors_read_all(const struct fields_reader *r, const struct field *field,
		     const struct yaml_node *node, void *to)
{
	struct factors *f = to;

	(void)field;
	f->items = calloc(node->nr, sizeof(*f->items));
	if (!f->items)
		return fields_no_memory(r);
	for (size_t i = 0; i < node->nr; i++) {
		int ret;

		f->items[i].name = strdup(node->items[i]->key);
		if (!f->items[i].name)
			return fields_no_memory(r);
		f->nr++;
		ret = factor_read(r, &f->items[i], node->items[i]);
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
	for (size_t i = 0; i < f->nr; i++) {
		const struct factor *factor = &f->items[i];
		const struct level *l =
			factor->nr_levels ? &factor->levels[(size_t)cells[i]] : NULL;
		int ret = l ? params_set(p, factor->name, l->text, l->word, err)
			    : params_set_number(p, factor->name, cells[i], err);

		if (ret)
			return ret;
		for (size_t k = 0; l && k < l->settings.nr; k++) {
			const struct level_setting *s = &l->settings.items[k];

			ret = params_set(p, s->name, s->text, s->word, err);
			if (ret)
				return ret;
		}
	}
	return 0;
}

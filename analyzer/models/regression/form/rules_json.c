// SPDX-License-Identifier: Apache-2.0
/* This file reads and writes sets of rules as JSON. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/form/rules.h"

static json_t *condition_json(const struct rules *r, const struct rule_condition *c,
			      const struct schema *s)
{
	const struct variable *v = &s->variables[c->variable];
	json_t *levels;

	if (!v->factor)
		return json_pack("{s:I, s:f}", "variable", (json_int_t)c->variable,
				 c->above ? "above" : "upto", c->cut);
	levels = json_array();
	for (size_t i = 0; i < v->nr_levels; i++)
		if (r->levels[c->levels_at + i])
			json_array_append_new(levels, json_integer((json_int_t)i));
	return json_pack("{s:I, s:o}", "variable", (json_int_t)c->variable, "levels", levels);
}

static json_t *rule_json(const struct rules *r, const struct rule *rule, const struct schema *s)
{
	json_t *conditions = json_array(), *parts = json_array();

	for (uint32_t k = 0; k < rule->nr_conditions; k++)
		json_array_append_new(
			conditions, condition_json(r, &r->conditions[rule->conditions_at + k], s));
	for (uint32_t k = 0; k < rule->nr_parts; k++) {
		const struct rule_part *p = &r->parts[rule->parts_at + k];

		json_array_append_new(parts,
				      json_pack("[I, I, f]", (json_int_t)p->column.variable,
						(json_int_t)p->column.level, p->coefficient));
	}
	return json_pack("{s:I, s:o, s:f, s:o, s:f, s:f}", "rows", (json_int_t)rule->nr_rows, "if",
			 conditions, "constant", rule->constant, "linear", parts, "low", rule->low,
			 "high", rule->high);
}

json_t *rules_json(const struct rules *r, const struct schema *s)
{
	json_t *sets = json_array();

	for (size_t set = 0; set < r->nr_sets; set++) {
		json_t *list = json_array();

		for (size_t i = rules_begin(r, set); i < r->ends[set]; i++)
			json_array_append_new(list, rule_json(r, &r->rules[i], s));
		json_array_append_new(sets, list);
	}
	return json_pack("{s:o, s:f}", "sets", sets, "fallback", r->fallback);
}

/* Returns the variable that an object or a list names, or NULL if there is no such variable. */
static const struct variable *variable_of(const json_t *number, const struct schema *s,
					  uint32_t *index)
{
	json_int_t variable = json_integer_value(number);

	if (!json_is_integer(number) || variable < 0 || (uint64_t)variable >= s->nr)
		return NULL;
	*index = (uint32_t)variable;
	return &s->variables[variable];
}

static int read_levels(struct rules *r, const struct rule_condition *c, const json_t *list,
		       size_t nr_levels)
{
	uint8_t *levels = calloc(nr_levels + 1, 1);
	int ret = levels ? 0 : -ENOMEM;

	if (ret)
		goto out;
	if (!json_is_array(list) || !json_array_size(list))
		ret = -EINVAL;
	if (ret)
		goto out;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *level = json_array_get(list, i);

		if (!json_is_integer(level) || json_integer_value(level) < 0 ||
		    (uint64_t)json_integer_value(level) >= nr_levels)
			ret = -EINVAL;
		else
			levels[json_integer_value(level)] = 1;
		if (ret)
			goto out;
	}
	ret = rules_add_condition(r, c, levels, nr_levels);
out:
	free(levels);
	return ret;
}

static int read_condition(struct rules *r, const json_t *root, const struct schema *s)
{
	const json_t *above = json_object_get(root, "above"), *upto = json_object_get(root, "upto");
	struct rule_condition c = { .above = above != NULL };
	const struct variable *v = variable_of(json_object_get(root, "variable"), s, &c.variable);

	if (!v)
		return -EINVAL;
	if (v->factor)
		return read_levels(r, &c, json_object_get(root, "levels"), v->nr_levels);
	if (!above == !upto || !json_is_number(above ? above : upto))
		return -EINVAL;
	c.cut = json_number_value(above ? above : upto);
	return rules_add_condition(r, &c, NULL, 0);
}

static int read_part(struct rules *r, const json_t *root, const struct schema *s)
{
	const json_t *level = json_array_get(root, 1), *coefficient = json_array_get(root, 2);
	json_int_t number = json_integer_value(level);
	struct rule_part p = { .coefficient = json_number_value(coefficient) };
	const struct variable *v = variable_of(json_array_get(root, 0), s, &p.column.variable);

	if (!v || !json_is_integer(level) || !json_is_number(coefficient))
		return -EINVAL;
	if (v->factor ? number < 0 || (uint64_t)number >= v->nr_levels : number != -1)
		return -EINVAL;
	p.column.level = (int32_t)number;
	return rules_add_part(r, &p);
}

static bool is_list(const json_t *list, size_t most)
{
	return json_is_array(list) && json_array_size(list) <= most;
}

static int read_each(struct rules *r, const json_t *list, const struct schema *s,
		     int (*read)(struct rules *, const json_t *, const struct schema *))
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		int ret = read(r, json_array_get(list, i), s);

		if (ret)
			return ret;
	}
	return 0;
}

static int read_rule(struct rules *r, const json_t *root, const struct schema *s)
{
	const json_t *conditions = json_object_get(root, "if"),
		     *parts = json_object_get(root, "linear"),
		     *rows = json_object_get(root, "rows"),
		     *constant = json_object_get(root, "constant"),
		     *low = json_object_get(root, "low"), *high = json_object_get(root, "high");
	struct rule rule = { .constant = json_number_value(constant),
			     .low = json_number_value(low),
			     .high = json_number_value(high) };
	int ret = 0;

	if (!is_list(conditions, 10000) || !is_list(parts, 1000000) || !json_is_integer(rows) ||
	    json_integer_value(rows) < 0 || json_integer_value(rows) > DATASET_ROWS_MAX ||
	    !json_is_number(constant) || !json_is_number(low) || !json_is_number(high) ||
	    !(rule.low <= rule.high))
		return -EINVAL;
	rule.nr_rows = (uint32_t)json_integer_value(rows);
	ret = read_each(r, conditions, s, read_condition);
	if (ret)
		return ret;
	ret = read_each(r, parts, s, read_part);
	return ret ? ret : rules_add(r, &rule);
}

int rules_from_json(struct rules *r, const json_t *root, const struct schema *s, struct err *err)
{
	const json_t *sets = json_object_get(root, "sets");
	const json_t *fallback = json_object_get(root, "fallback");
	int ret = 0;

	memset(r, 0, sizeof(*r));
	if (!is_list(sets, RULES_SETS_MAX) || !json_array_size(sets))
		return err_set(err, EINVAL, "rules: sets: expected a list of 1 to %d",
			       RULES_SETS_MAX);
	if (!json_is_number(fallback))
		return err_set(err, EINVAL, "rules: fallback: expected a number");
	r->fallback = json_number_value(fallback);
	for (size_t k = 0; k < json_array_size(sets); k++) {
		const json_t *list = json_array_get(sets, k);

		ret = json_is_array(list) ? read_each(r, list, s, read_rule) : -EINVAL;
		ret = ret ? ret : rules_end_set(r);
		if (ret == -EINVAL)
			err_set(err, EINVAL, "rules: sets[%zu]: not rules over these variables", k);
		if (ret)
			goto out;
	}
out:
	if (ret)
		rules_release(r);
	return ret;
}

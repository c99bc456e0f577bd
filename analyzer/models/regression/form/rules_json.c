// SPDX-License-Identifier: Apache-2.0
/* This file reads and writes sets of rules as JSON; formats/model.md describes the format. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/form/rules.h"

#define CONDITIONS_MAX	 10000
#define PARTS_MAX	 1000000

#define AT(type, member) .offset = offsetof(struct type, member), .required = true
#define LIST(key, type, member, nr, of_each, ...)                                             \
	FIELD(LIST, key, AT(type, member), .count = offsetof(struct type, nr), .owned = true, \
	      .item = &of_each, .stride = sizeof(*((struct type *)0)->member), __VA_ARGS__)

/* What the hooks of the tables need. Sets are read one after another into `rules`. */
struct rules_reading {
	struct rules *rules;
	const struct schema *schema;
};

/* ---- conditions ---- */

/* A condition as it stands in a file: `above` or `upto` a cut, or one of some levels. */
struct condition_saved {
	uint32_t variable;
	double cut;
	size_t nr;
	uint32_t *levels;
};

#define VARIABLE FIELD(COUNT, "variable", AT(condition_saved, variable), .room = sizeof(uint32_t))

static const struct field level_item = FIELD(COUNT, NULL, .room = sizeof(uint32_t));
static const struct field above_fields[] = {
	VARIABLE,
	FIELD(NUMBER, "above", AT(condition_saved, cut), .low = -INFINITY),
	{ 0 },
};
static const struct field upto_fields[] = {
	VARIABLE,
	FIELD(NUMBER, "upto", AT(condition_saved, cut), .low = -INFINITY),
	{ 0 },
};
static const struct field levels_fields[] = {
	VARIABLE,
	LIST("levels", condition_saved, levels, nr, level_item, .low = 1,
	     .high = DATASET_LEVELS_MAX),
	{ 0 },
};

enum condition_kind { CONDITION_ABOVE, CONDITION_UPTO, CONDITION_LEVELS };

static const struct fields condition_tables[] = {
	[CONDITION_ABOVE] = { .fields = above_fields },
	[CONDITION_UPTO] = { .fields = upto_fields },
	[CONDITION_LEVELS] = { .fields = levels_fields },
};

/* Adds a condition that was read to the rule that comes next. */
static int condition_add(struct fields_json *r, const struct condition_saved *c,
			 enum condition_kind kind)
{
	const struct rules_reading *reading = r->context;
	const struct schema *s = reading->schema;
	struct rule_condition condition = { .variable = c->variable,
					    .above = kind == CONDITION_ABOVE,
					    .cut = c->cut };
	uint8_t levels[DATASET_LEVELS_MAX] = { 0 };
	const struct variable *v;

	if (c->variable >= s->nr)
		return fields_json_error(r, "variable: expected a number below %zu", s->nr);
	v = &s->variables[c->variable];
	if (v->factor != (kind == CONDITION_LEVELS))
		return fields_json_error(r, "expected %s, since '%s' is a %s",
					 v->factor ? "levels" : "above or upto", v->name,
					 v->factor ? "factor" : "number");
	for (size_t i = 0; i < c->nr; i++) {
		if (c->levels[i] >= v->nr_levels)
			return fields_json_error(r, "levels[%zu]: expected a number below %zu", i,
						 v->nr_levels);
		levels[c->levels[i]] = 1;
	}
	return rules_add_condition(reading->rules, &condition, v->factor ? levels : NULL,
				   v->factor ? v->nr_levels : 0);
}

static int condition_from_json(struct fields_json *r, const struct field *f, const json_t *value,
			       void *to)
{
	bool above = json_object_get(value, "above"), upto = json_object_get(value, "upto");
	enum condition_kind kind = above ? CONDITION_ABOVE : CONDITION_UPTO;
	struct condition_saved c = { 0 };
	int ret;

	(void)f;
	(void)to;
	if (above && upto)
		return fields_json_error(r, "expected above or upto, not both");
	if (json_object_get(value, "levels"))
		kind = CONDITION_LEVELS;
	ret = fields_json_read(r, &condition_tables[kind], value, &c);
	if (!ret)
		ret = condition_add(r, &c, kind);
	free(c.levels);
	return ret;
}

static int condition_json(const struct rules *r, const struct rule_condition *c,
			  const struct schema *s, json_t **out)
{
	const struct variable *v = &s->variables[c->variable];
	struct condition_saved saved = { .variable = c->variable, .cut = c->cut };
	enum condition_kind kind = c->above ? CONDITION_ABOVE : CONDITION_UPTO;
	int ret;

	*out = NULL;
	if (!v->factor)
		return fields_json_write(&condition_tables[kind], &saved, out);
	saved.levels = calloc(v->nr_levels, sizeof(*saved.levels));
	if (!saved.levels)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->nr_levels; i++)
		if (r->levels[c->levels_at + i])
			saved.levels[saved.nr++] = i;
	ret = fields_json_write(&condition_tables[CONDITION_LEVELS], &saved, out);
	free(saved.levels);
	return ret;
}

/* ---- linear parts ---- */

/* The level of a number is -1, which no table has among its whole numbers. */
static int level_from_json(struct fields_json *r, const struct field *f, const json_t *value,
			   void *to)
{
	json_int_t level = json_integer_value(value);

	(void)f;
	if (!json_is_integer(value) || level < -1 || level >= DATASET_LEVELS_MAX)
		return fields_json_error(r, "expected the number of a level, or -1");
	*(int32_t *)to = (int32_t)level;
	return 0;
}

static int level_to_json(const struct field *f, const void *from, json_t **out)
{
	(void)f;
	*out = json_integer(*(const int32_t *)from);
	return *out ? 0 : -ENOMEM;
}

static const struct field part_items[] = {
	FIELD(COUNT, NULL, AT(rule_part, column.variable), .room = sizeof(uint32_t)),
	FIELD(ANY, NULL, AT(rule_part, column.level), .from_json = level_from_json,
	      .to_json = level_to_json),
	FIELD(NUMBER, NULL, AT(rule_part, coefficient), .low = -INFINITY),
	{ 0 },
};
static const struct field part_tuple = FIELD(TUPLE, NULL, .item = part_items);

static int part_from_json(struct fields_json *r, const struct field *f, const json_t *value,
			  void *to)
{
	const struct rules_reading *reading = r->context;
	const struct schema *s = reading->schema;
	struct rule_part p = { 0 };
	int ret = fields_json_read_value(r, &part_tuple, value, &p);
	const struct variable *v;

	(void)f;
	(void)to;
	if (ret)
		return ret;
	if (p.column.variable >= s->nr)
		return fields_json_error(r, "expected the number of a variable, below %zu", s->nr);
	v = &s->variables[p.column.variable];
	if (v->factor ? p.column.level < 0 || (size_t)p.column.level >= v->nr_levels
		      : p.column.level != -1)
		return fields_json_error(r, "expected a level of '%s', or -1 for a number",
					 v->name);
	return rules_add_part(reading->rules, &p);
}

/* ---- rules and sets ---- */

static const struct field condition_item = FIELD(ANY, NULL, .from_json = condition_from_json);
static const struct field part_item = FIELD(ANY, NULL, .from_json = part_from_json);

/* A rule as it is written, with lists that were made by hand. */
struct rule_saved {
	struct rule rule;
	json_t *conditions, *parts;
};

static int list_to_json(const struct field *f, const void *from, json_t **out)
{
	(void)f;
	*out = json_incref(*(json_t *const *)from);
	return 0;
}

static const char *rule_check(const void *from)
{
	const struct rule_saved *s = from;

	return s->rule.low <= s->rule.high ? NULL : "low: expected at most high";
}

static const struct field rule_fields[] = {
	FIELD(COUNT, "rows", AT(rule_saved, rule.nr_rows), .room = sizeof(uint32_t),
	      .high = DATASET_ROWS_MAX),
	FIELD(LIST, "if", AT(rule_saved, conditions), .item = &condition_item,
	      .high = CONDITIONS_MAX, .to_json = list_to_json),
	FIELD(NUMBER, "constant", AT(rule_saved, rule.constant), .low = -INFINITY),
	FIELD(LIST, "linear", AT(rule_saved, parts), .item = &part_item, .high = PARTS_MAX,
	      .to_json = list_to_json),
	FIELD(NUMBER, "low", AT(rule_saved, rule.low), .low = -INFINITY),
	FIELD(NUMBER, "high", AT(rule_saved, rule.high), .low = -INFINITY),
	{ 0 },
};
static const struct fields rule_table = { .name = "rule",
					  .fields = rule_fields,
					  .check = rule_check };

static int rule_from_json(struct fields_json *r, const struct field *f, const json_t *value,
			  void *to)
{
	const struct rules_reading *reading = r->context;
	struct rule_saved saved = { 0 };
	int ret = fields_json_read(r, &rule_table, value, &saved);

	(void)f;
	(void)to;
	return ret ? ret : rules_add(reading->rules, &saved.rule);
}

static int set_from_json(struct fields_json *r, const struct field *f, const json_t *value,
			 void *to)
{
	static const struct field rule_item = FIELD(ANY, NULL, .from_json = rule_from_json);
	static const struct field set = FIELD(LIST, NULL, .item = &rule_item);
	const struct rules_reading *reading = r->context;
	int ret = fields_json_read_value(r, &set, value, to);

	(void)f;
	return ret ? ret : rules_end_set(reading->rules);
}

/* Makes the lists of a rule, which the caller releases in any case. */
static int rule_lists(const struct rules *r, const struct rule *rule, const struct schema *s,
		      struct rule_saved *saved)
{
	saved->conditions = json_array();
	saved->parts = json_array();
	if (!saved->conditions || !saved->parts)
		return -ENOMEM;
	for (uint32_t k = 0; k < rule->nr_conditions; k++) {
		json_t *one;
		int ret = condition_json(r, &r->conditions[rule->conditions_at + k], s, &one);

		if (ret)
			return ret;
		if (json_array_append_new(saved->conditions, one))
			return -ENOMEM;
	}
	for (uint32_t k = 0; k < rule->nr_parts; k++) {
		int ret = fields_json_append(saved->parts, &part_tuple,
					     &r->parts[rule->parts_at + k]);

		if (ret)
			return ret;
	}
	return 0;
}

static int rule_json(const struct rules *r, const struct rule *rule, const struct schema *s,
		     json_t **out)
{
	struct rule_saved saved = { .rule = *rule };
	int ret = rule_lists(r, rule, s, &saved);

	*out = NULL;
	if (!ret)
		ret = fields_json_write(&rule_table, &saved, out);
	json_decref(saved.conditions);
	json_decref(saved.parts);
	return ret;
}

/* Appends the rules of a set to a list. */
static int set_json(const struct rules *r, size_t set, const struct schema *s, json_t *list)
{
	for (size_t i = rules_begin(r, set); i < r->ends[set]; i++) {
		json_t *one;
		int ret = rule_json(r, &r->rules[i], s, &one);

		if (ret)
			return ret;
		if (json_array_append_new(list, one))
			return -ENOMEM;
	}
	return 0;
}

/* The sets as they are written, and the constant beside them. */
struct rules_saved {
	json_t *sets;
	double fallback;
};

static const struct field set_item = FIELD(ANY, NULL, .from_json = set_from_json);
static const struct field rules_fields[] = {
	FIELD(LIST, "sets", AT(rules_saved, sets), .item = &set_item, .low = 1,
	      .high = RULES_SETS_MAX, .to_json = list_to_json),
	FIELD(NUMBER, "fallback", AT(rules_saved, fallback), .low = -INFINITY),
	{ 0 },
};
static const struct fields rules_table = { .name = "rules", .fields = rules_fields };

int rules_json(const struct rules *r, const struct schema *s, json_t **out)
{
	struct rules_saved saved = { .sets = json_array(), .fallback = r->fallback };
	int ret = saved.sets ? 0 : -ENOMEM;

	*out = NULL;
	for (size_t set = 0; set < r->nr_sets && !ret; set++) {
		json_t *list = json_array();

		ret = list && !json_array_append_new(saved.sets, list) ? set_json(r, set, s, list)
								       : -ENOMEM;
	}
	if (!ret)
		ret = fields_json_write(&rules_table, &saved, out);
	json_decref(saved.sets);
	return ret;
}

int rules_from_json(struct rules *rules, struct fields_json *r, const json_t *value)
{
	void *schema = r->context;
	struct rules_reading reading = { .rules = rules, .schema = schema };
	struct rules_saved saved = { 0 };
	int ret;

	memset(rules, 0, sizeof(*rules));
	r->context = &reading;
	ret = fields_json_read(r, &rules_table, value, &saved);
	r->context = schema;
	rules->fallback = saved.fallback;
	return ret;
}

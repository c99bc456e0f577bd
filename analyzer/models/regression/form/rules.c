// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/form/rules.h"
#include "base/memory/array.h"

void rules_release(struct rules *r)
{
	free(r->ends);
	free(r->rules);
	free(r->conditions);
	free(r->parts);
	free(r->levels);
	memset(r, 0, sizeof(*r));
}

int rules_add_condition(struct rules *r, const struct rule_condition *c, const uint8_t *levels,
			size_t nr_levels)
{
	struct rule_condition *to;

	if (array_grow(&r->conditions, &r->cap_conditions, r->nr_conditions + 1, sizeof(*to)) ||
	    array_grow(&r->levels, &r->cap_levels, r->nr_levels + nr_levels, 1))
		return -ENOMEM;
	to = &r->conditions[r->nr_conditions++];
	*to = *c;
	to->levels_at = (uint32_t)r->nr_levels;
	if (nr_levels)
		memcpy(r->levels + r->nr_levels, levels, nr_levels);
	r->nr_levels += nr_levels;
	return 0;
}

int rules_add_part(struct rules *r, const struct rule_part *p)
{
	if (array_grow(&r->parts, &r->cap_parts, r->nr_parts + 1, sizeof(*p)))
		return -ENOMEM;
	r->parts[r->nr_parts++] = *p;
	return 0;
}

int rules_add(struct rules *r, const struct rule *rule)
{
	struct rule *to;

	if (array_grow(&r->rules, &r->cap, r->nr + 1, sizeof(*to)))
		return -ENOMEM;
	to = &r->rules[r->nr++];
	*to = *rule;
	to->conditions_at = (uint32_t)r->taken_conditions;
	to->parts_at = (uint32_t)r->taken_parts;
	to->nr_conditions = (uint32_t)(r->nr_conditions - r->taken_conditions);
	to->nr_parts = (uint32_t)(r->nr_parts - r->taken_parts);
	r->taken_conditions = r->nr_conditions;
	r->taken_parts = r->nr_parts;
	return 0;
}

int rules_end_set(struct rules *r)
{
	size_t *ends = reallocarray(r->ends, r->nr_sets + 1, sizeof(*ends));

	if (!ends)
		return -ENOMEM;
	r->ends = ends;
	r->ends[r->nr_sets++] = r->nr;
	return 0;
}

static int append_rule(struct rules *to, const struct rules *from, const struct rule *rule,
		       const struct schema *s)
{
	int ret;

	for (uint32_t k = 0; k < rule->nr_conditions; k++) {
		const struct rule_condition *c = &from->conditions[rule->conditions_at + k];
		const struct variable *v = &s->variables[c->variable];

		ret = rules_add_condition(to, c, v->factor ? from->levels + c->levels_at : NULL,
					  v->factor ? v->nr_levels : 0);
		if (ret)
			return ret;
	}
	for (uint32_t k = 0; k < rule->nr_parts; k++) {
		ret = rules_add_part(to, &from->parts[rule->parts_at + k]);
		if (ret)
			return ret;
	}
	return rules_add(to, rule);
}

int rules_append(struct rules *to, const struct rules *from, const struct schema *s)
{
	int ret;

	for (size_t set = 0; set < from->nr_sets; set++) {
		for (size_t i = rules_begin(from, set); i < from->ends[set]; i++) {
			ret = append_rule(to, from, &from->rules[i], s);
			if (ret)
				return ret;
		}
		ret = rules_end_set(to);
		if (ret)
			return ret;
	}
	return 0;
}

static bool rules_holds(const struct rules *r, const struct rule_condition *c,
			const struct schema *s, double x)
{
	if (s->variables[c->variable].factor)
		return r->levels[c->levels_at + (size_t)x];
	return c->above ? x > c->cut : x <= c->cut;
}

static bool rule_holds(const struct rules *r, const struct rule *rule, const struct schema *s,
		       const double *x)
{
	for (uint32_t k = 0; k < rule->nr_conditions; k++) {
		const struct rule_condition *c = &r->conditions[rule->conditions_at + k];

		if (!rules_holds(r, c, s, x[c->variable]))
			return false;
	}
	return true;
}

/* Returns the prediction of one set. */
static double rules_set_predict(const struct rules *r, size_t set, const struct schema *s,
				const double *x)
{
	double sum = 0;
	size_t nr = 0;

	for (size_t i = rules_begin(r, set); i < r->ends[set]; i++) {
		const struct rule *rule = &r->rules[i];
		double value = rule->constant;

		if (!rule_holds(r, rule, s, x))
			continue;
		for (uint32_t k = 0; k < rule->nr_parts; k++) {
			const struct rule_part *p = &r->parts[rule->parts_at + k];

			value += p->coefficient * design_value(&p->column, x);
		}
		value = value > rule->high ? rule->high : value;
		sum += value < rule->low ? rule->low : value;
		nr++;
	}
	return nr ? sum / (double)nr : r->fallback;
}

void rules_predict(const struct rules *r, const struct schema *s, const double *rows, size_t nr,
		   double *out)
{
	for (size_t i = 0; i < nr; i++) {
		double sum = 0;

		for (size_t set = 0; set < r->nr_sets; set++)
			sum += rules_set_predict(r, set, s, rows + i * s->nr);
		out[i] = r->nr_sets > 1 ? sum / (double)r->nr_sets : sum;
	}
}

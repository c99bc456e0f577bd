/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules: the average of one or several sets of rules, which is the form of the models of M5 and
 * Cubist. A rule holds where all of its conditions hold. A set predicts the mean of the linear
 * models of the rules that hold, each limited to the rule's own range, and a constant where no
 * rule holds.
 */
#ifndef ANALYZER_REGRESSION_RULES_H
#define ANALYZER_REGRESSION_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/models/regression/table/design.h"
#include "base/data/fields_json.h"
#include "base/memory/buf.h"

#define RULES_SETS_MAX 1000

struct rule_condition {
	uint32_t variable;
	bool above; /* for a number: true means x > cut, false means x <= cut */
	double cut;
	/* for a factor: levels[levels_at + level] is 1 if the condition holds */
	uint32_t levels_at;
};

struct rule_part {
	struct design_column column;
	double coefficient;
};

struct rule {
	uint32_t conditions_at, nr_conditions;
	uint32_t parts_at, nr_parts;
	double constant;
	double low, high; /* limits of the model */
	uint32_t nr_rows; /* number of training rows for which the rule holds */
};

/* A zeroed struct is empty. */
struct rules {
	size_t nr_sets;
	size_t *ends; /* set k has the rules [ends[k - 1], ends[k]) */
	size_t nr, cap;
	struct rule *rules;
	size_t nr_conditions, cap_conditions;
	struct rule_condition *conditions;
	size_t nr_parts, cap_parts;
	struct rule_part *parts;
	size_t nr_levels, cap_levels;
	uint8_t *levels;
	/* used by finished rules; the rest belongs to the next rule */
	size_t taken_conditions, taken_parts;
	double fallback; /* prediction where no rule of a set holds */
};

static inline size_t rules_begin(const struct rules *r, size_t set)
{
	return set ? r->ends[set - 1] : 0;
}

void rules_release(struct rules *r);
/*
 * Conditions, levels and parts belong to the rule that is added next. Each function returns 0 or
 * -ENOMEM.
 */
int rules_add_condition(struct rules *r, const struct rule_condition *c, const uint8_t *levels,
			size_t nr_levels);
int rules_add_part(struct rules *r, const struct rule_part *p);
/* Adds a rule from the items added since the last rule. conditions_at and parts_at are set. */
int rules_add(struct rules *r, const struct rule *rule);
/* Makes the rules since the last set a set. */
int rules_end_set(struct rules *r);
/* Appends the sets of another struct that has the same schema. */
int rules_append(struct rules *to, const struct rules *from, const struct schema *s);

/* rows has nr x s->nr values, row-major. The function allocates no memory. */
void rules_predict(const struct rules *r, const struct schema *s, const double *rows, size_t nr,
		   double *out);
void rules_print(const struct rules *r, const struct schema *s, struct buf *out);
/* Returns 0, or what fields_json_write() does. */
int rules_json(const struct rules *r, const struct schema *s, json_t **out);
/*
 * Reads and checks all values; the context of the reader is the schema. Returns 0, -ENOMEM, or
 * -EINVAL with a message. The caller releases the rules in any case.
 */
int rules_from_json(struct rules *rules, struct fields_json *r, const json_t *value);
/* Writes C statements that add to `sum` from `const double *x`. */
void rules_export(const struct rules *r, const struct schema *s, struct buf *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules: the average of one or several sets of rules, what M5 and Cubist end in. A rule holds where
 * all of its conditions do; a set predicts the mean of the linear models of the rules that hold,
 * each cut to the rule's own limits, and a constant where none holds.
 */
#ifndef ANALYZER_REGRESSION_RULES_H
#define ANALYZER_REGRESSION_RULES_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/models/regression/design.h"
#include "base/buf.h"

#define RULES_SETS_MAX 1000

struct rule_condition {
	uint32_t variable;
	bool above; /* number: x > cut, else x <= cut */
	double cut;
	uint32_t levels_at; /* factor: levels[levels_at + level] is 1 where it holds */
};

struct rule_part {
	struct design_column column;
	double coefficient;
};

struct rule {
	uint32_t conditions_at, nr_conditions;
	uint32_t parts_at, nr_parts;
	double constant;
	double low, high; /* the model is cut to these */
	uint32_t nr_rows; /* of training, that it holds for */
};

/* A zeroed one is empty. */
struct rules {
	size_t nr_sets;
	size_t *ends; /* rules of set k are [ends[k - 1], ends[k]) */
	size_t nr, cap;
	struct rule *rules;
	size_t nr_conditions, cap_conditions;
	struct rule_condition *conditions;
	size_t nr_parts, cap_parts;
	struct rule_part *parts;
	size_t nr_levels, cap_levels;
	uint8_t *levels;
	size_t taken_conditions, taken_parts; /* by rules; those beyond belong to the next */
	double fallback;		      /* where no rule of a set holds */
};

static inline size_t rules_begin(const struct rules *r, size_t set)
{
	return set ? r->ends[set - 1] : 0;
}

void rules_release(struct rules *r);
/* Conditions, levels and parts belong to the rule that is added next. Each: 0 or -ENOMEM. */
int rules_add_condition(struct rules *r, const struct rule_condition *c, const uint8_t *levels,
			size_t nr_levels);
int rules_add_part(struct rules *r, const struct rule_part *p);
/* Takes what was added since the last rule; conditions_at and parts_at are filled in. */
int rules_add(struct rules *r, const struct rule *rule);
/* The rules since the last set are one. */
int rules_end_set(struct rules *r);
/* Appends the sets of another one of the same schema. */
int rules_append(struct rules *to, const struct rules *from, const struct schema *s);

bool rule_holds(const struct rules *r, const struct rule *rule, const struct schema *s,
		const double *x);
/* The prediction of one set. */
double rules_set_predict(const struct rules *r, size_t set, const struct schema *s,
			 const double *x);
/* rows: nr x s->nr, row-major. No allocation. */
void rules_predict(const struct rules *r, const struct schema *s, const double *rows, size_t nr,
		   double *out);
void rules_print(const struct rules *r, const struct schema *s, struct buf *out);
json_t *rules_json(const struct rules *r, const struct schema *s);
/* Checks everything. 0, -ENOMEM, -EINVAL. */
int rules_from_json(struct rules *r, const json_t *root, const struct schema *s, struct err *err);
/* C statements that add up `sum` from `const double *x`. */
void rules_export(const struct rules *r, const struct schema *s, struct buf *out);

#endif

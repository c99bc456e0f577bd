// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/tree/m5_rules.h"
#include "analyzer/models/regression/tree/tree_grow.h"

#define WORD_BITS 64

/* This struct is one test on the path to a leaf. */
struct test {
	const struct m5_node *node;
	bool left;
};

/* Sets of rows are bit masks: bit i % 64 of word i / 64 stands for row i. */
struct former {
	const struct m5_tree *t;
	struct rules *out;
	double *estimate; /* by rule of this set: its adjusted error */
	size_t first, cap;
	struct test *path;
	size_t depth, deepest;
	size_t nr_words;
	uint64_t *failed; /* by test of the path: the rows that fail it */
	/* the rows that fail one or more, and two or more, of the tests that remain */
	uint64_t *fail_one, *fail_two;
	uint64_t *single; /* the rows that fail exactly one of them and are counted already */
	double *sum;	  /* by row: sum of the predictions of the rules that hold */
	uint32_t *count;
	double *value;	/* by row that was asked for: prediction of the leaf's model */
	double *gain;	/* by test: gain of its removal on the rows that it would let in */
	double *covers; /* by test: weight of these rows */
	bool *gone;
	uint8_t *levels;
	/* the columns of the leaf's model whose coefficient is not 0 */
	size_t *columns, nr_columns;
	const double *model;
};

static size_t depth_of(const struct m5_tree *t, int32_t at)
{
	const struct m5_node *node = &t->nodes[at];
	size_t left, right;

	if (node->left < 0)
		return 0;
	left = depth_of(t, node->left);
	right = depth_of(t, node->right);
	return 1 + (left > right ? left : right);
}

static int former_init(struct former *f, const struct m5_tree *t, struct rules *out)
{
	size_t n = t->ground->data->nr_rows;

	*f = (struct former){ .t = t, .out = out, .first = out->nr, .deepest = depth_of(t, 0) };
	f->estimate = calloc(t->nr_leaves + 1, sizeof(*f->estimate));
	f->path = calloc(f->deepest + 1, sizeof(*f->path));
	f->nr_words = (n + WORD_BITS - 1) / WORD_BITS;
	f->failed = calloc(f->deepest * f->nr_words + 1, sizeof(*f->failed));
	f->fail_one = calloc(f->nr_words + 1, sizeof(*f->fail_one));
	f->fail_two = calloc(f->nr_words + 1, sizeof(*f->fail_two));
	f->single = calloc(f->nr_words + 1, sizeof(*f->single));
	f->columns = calloc(t->ground->design.nr_columns + 1, sizeof(*f->columns));
	f->sum = calloc(n + 1, sizeof(*f->sum));
	f->count = calloc(n + 1, sizeof(*f->count));
	f->value = calloc(n + 1, sizeof(*f->value));
	f->gain = calloc(f->deepest + 1, sizeof(*f->gain));
	f->covers = calloc(f->deepest + 1, sizeof(*f->covers));
	f->gone = calloc(f->deepest + 1, sizeof(*f->gone));
	f->levels = calloc(tree_most_levels(t->ground->schema), 1);
	return f->estimate && f->path && f->failed && f->fail_one && f->fail_two && f->single &&
			       f->columns && f->sum && f->count && f->value && f->gain &&
			       f->covers && f->gone && f->levels
		       ? 0
		       : -ENOMEM;
}

static void former_release(struct former *f)
{
	free(f->estimate);
	free(f->path);
	free(f->failed);
	free(f->fail_one);
	free(f->fail_two);
	free(f->single);
	free(f->columns);
	free(f->sum);
	free(f->count);
	free(f->value);
	free(f->gain);
	free(f->covers);
	free(f->gone);
	free(f->levels);
}

static double weight_of(const struct former *f, size_t row)
{
	return f->t->ground->weight ? f->t->ground->weight[row] : 1;
}

static double m5_rules_between(double x, double low, double high)
{
	x = x > high ? high : x;
	return x < low ? low : x;
}

/* Counts each row as covered by its own leaf at the beginning. */
static void begin_counts(struct former *f, int32_t at)
{
	const struct m5_tree *t = f->t;
	const struct m5_node *node = &t->nodes[at];

	if (node->left >= 0) {
		begin_counts(f, node->left);
		begin_counts(f, node->right);
		return;
	}
	m5_linear_cut(&t->linear, m5_model(t, (size_t)at), t->rows + node->begin,
		      node->end - node->begin, f->value);
	for (size_t i = node->begin; i < node->end; i++) {
		f->sum[t->rows[i]] = f->value[i - node->begin];
		f->count[t->rows[i]] = 1;
	}
}

/*
 * Returns the error without the rule minus the error with it, at a row that the rule does not
 * cover yet.
 */
static double row_gain(const struct former *f, size_t row)
{
	const struct m5_ground *g = f->t->ground;
	double y = g->data->y[row], value = m5_rules_between(f->value[row], g->floor, g->ceiling);
	double count = (double)f->count[row];

	return weight_of(f, row) *
	       (fabs(y - f->sum[row] / count) - fabs(y - (f->sum[row] + value) / (count + 1)));
}

/* Computes the prediction of the leaf's model at a row, by the steps of m5_linear_at(). */
static void m5_rules_value(struct former *f, size_t row)
{
	const struct m5_ground *g = f->t->ground;
	double value = f->model[0];

	for (size_t k = 0; k < f->nr_columns; k++) {
		size_t v = f->columns[k];

		value += f->model[v + 1] * g->design.x[v * g->data->nr_rows + row];
	}
	f->value[row] = value;
}

/* Takes the lowest row out of a word of a set. */
static size_t m5_rules_next(size_t word, uint64_t *bits)
{
	size_t row = word * WORD_BITS + (size_t)__builtin_ctzll(*bits);

	*bits &= *bits - 1;
	return row;
}

static size_t single_failure(const struct former *f, size_t row)
{
	size_t word = row / WORD_BITS, d = 0;

	while (f->gone[d] || !(f->failed[d * f->nr_words + word] >> row % WORD_BITS & 1))
		d++;
	return d;
}

static void count_single(struct former *f, size_t row)
{
	size_t d = single_failure(f, row);

	m5_rules_value(f, row);
	f->gain[d] += row_gain(f, row);
	f->covers[d] += weight_of(f, row);
}

/* Finds which rows fail one test, and two tests, of those that remain. */
static void m5_rules_count_failures(struct former *f)
{
	memset(f->fail_one, 0, f->nr_words * sizeof(*f->fail_one));
	memset(f->fail_two, 0, f->nr_words * sizeof(*f->fail_two));
	for (size_t d = 0; d < f->depth; d++) {
		const uint64_t *failed = f->failed + d * f->nr_words;

		for (size_t k = 0; k < f->nr_words && !f->gone[d]; k++) {
			f->fail_two[k] |= f->fail_one[k] & failed[k];
			f->fail_one[k] |= failed[k];
		}
	}
}

/* Counts the rows that fail exactly one test, and did not before. */
static void count_singles(struct former *f)
{
	m5_rules_count_failures(f);
	for (size_t k = 0; k < f->nr_words; k++) {
		uint64_t now = f->fail_one[k] & ~f->fail_two[k] & ~f->single[k];

		f->single[k] |= now;
		while (now)
			count_single(f, m5_rules_next(k, &now));
	}
}

/* Removes tests as long as the best removal does no harm. One test always remains. */
static void drop_tests(struct former *f)
{
	size_t left = f->depth;

	memset(f->gone, 0, f->depth * sizeof(*f->gone));
	for (size_t d = 0; d < f->depth; d++)
		f->gain[d] = f->covers[d] = 0;
	memset(f->single, 0, f->nr_words * sizeof(*f->single));
	count_singles(f);
	while (left > 1) {
		size_t best = f->depth;

		for (size_t d = 0; d < f->depth; d++)
			if (!f->gone[d] && f->gain[d] >= 0 &&
			    (best == f->depth || f->gain[d] > f->gain[best]))
				best = d;
		if (best == f->depth)
			break;
		f->gone[best] = true;
		left--;
		count_singles(f);
	}
}

/* This struct holds the statistics of the rows for which the rule now holds. */
struct cover {
	size_t nr;
	double weight, error, low, high;
};

/* Returns the rows of a word that fail none of the tests that remain. */
static uint64_t m5_rules_covered(const struct former *f, size_t word)
{
	size_t left = f->t->ground->data->nr_rows - word * WORD_BITS;
	uint64_t all = left < WORD_BITS ? (1ull << left) - 1 : UINT64_MAX;

	return ~f->fail_one[word] & all;
}

static void cover_row(struct former *f, struct cover *c, size_t row)
{
	const struct m5_ground *g = f->t->ground;
	double y = g->data->y[row];

	m5_rules_value(f, row);
	c->nr++;
	c->weight += weight_of(f, row);
	c->error +=
		weight_of(f, row) * fabs(y - m5_rules_between(f->value[row], g->floor, g->ceiling));
	c->low = y < c->low ? y : c->low;
	c->high = y > c->high ? y : c->high;
}

static struct cover cover_of(struct former *f)
{
	struct cover c = { .low = INFINITY, .high = -INFINITY };

	for (size_t k = 0; k < f->nr_words; k++)
		for (uint64_t rows = m5_rules_covered(f, k); rows;)
			cover_row(f, &c, m5_rules_next(k, &rows));
	return c;
}

/* Converts the test to a condition; a level is 1 if the condition holds for it. */
static struct rule_condition condition_of(const struct former *f, const struct test *test,
					  uint8_t *levels)
{
	const struct m5_node *node = test->node;
	const struct variable *v = &f->t->ground->schema->variables[node->variable];

	for (size_t k = 0; k < v->nr_levels; k++)
		levels[k] = (f->t->levels[node->levels_at + k] != 0) == test->left;
	return (struct rule_condition){ .variable = node->variable,
					.above = !v->factor && !test->left,
					.cut = v->factor ? 0 : node->cut };
}

static bool same_condition(const struct former *f, const struct rule_condition *a,
			   const struct rule_condition *b)
{
	const struct variable *v = &f->t->ground->schema->variables[a->variable];

	if (a->variable != b->variable)
		return false;
	if (!v->factor)
		return a->above == b->above && a->cut == b->cut;
	return !memcmp(f->out->levels + a->levels_at, f->out->levels + b->levels_at, v->nr_levels);
}

static bool has_condition(const struct former *f, const struct rule *rule,
			  const struct rule_condition *c)
{
	for (uint32_t k = 0; k < rule->nr_conditions; k++)
		if (same_condition(f, &f->out->conditions[rule->conditions_at + k], c))
			return true;
	return false;
}

/* Returns a rule of this set that has the same conditions as the last one, or NULL. */
static struct rule *m5_rules_twin(const struct former *f)
{
	const struct rule *last = &f->out->rules[f->out->nr - 1];

	for (size_t i = f->first; i + 1 < f->out->nr; i++) {
		struct rule *rule = &f->out->rules[i];
		uint32_t same = 0;

		if (rule->nr_conditions != last->nr_conditions)
			continue;
		while (same < last->nr_conditions &&
		       has_condition(f, rule, &f->out->conditions[last->conditions_at + same]))
			same++;
		if (same == last->nr_conditions)
			return rule;
	}
	return NULL;
}

static struct rule m5_rules_limited(const struct cover *c)
{
	double range = c->high - c->low;
	struct rule r = { .low = c->low - range, .high = c->high + range };

	if (c->low >= 0 && r.low < 0)
		r.low = 0;
	if (c->high <= 0 && r.high > 0)
		r.high = 0;
	r.nr_rows = (uint32_t)c->nr;
	return r;
}

static int add_rule(struct former *f, const double *model, const struct cover *cover)
{
	const struct schema *s = f->t->ground->schema;
	const struct design *g = &f->t->ground->design;
	struct rule rule = m5_rules_limited(cover);
	int ret;

	rule.constant = model[0];
	for (size_t d = 0; d < f->depth; d++) {
		struct rule_condition condition = condition_of(f, &f->path[d], f->levels);
		const struct variable *v = &s->variables[condition.variable];

		if (f->gone[d])
			continue;
		ret = rules_add_condition(f->out, &condition, f->levels,
					  v->factor ? v->nr_levels : 0);
		if (ret)
			return ret;
	}
	for (size_t c = 0; c < g->nr_columns; c++) {
		struct rule_part part = { g->columns[c], model[c + 1] };

		ret = part.coefficient != 0 ? rules_add_part(f->out, &part) : 0;
		if (ret)
			return ret;
	}
	return rules_add(f->out, &rule);
}

/* Keeps one of two rules with equal conditions, with the better model, and removes the other. */
static void m5_rules_merge(struct former *f, struct rule *kept, double estimate)
{
	struct rules *r = f->out;
	const struct rule *last = &r->rules[--r->nr];
	size_t at = (size_t)(kept - r->rules) - f->first;

	r->nr_conditions = r->taken_conditions = last->conditions_at;
	if (!(estimate < f->estimate[at])) {
		r->nr_parts = r->taken_parts = last->parts_at;
		return;
	}
	f->estimate[at] = estimate;
	kept->constant = last->constant;
	kept->parts_at = last->parts_at;
	kept->nr_parts = last->nr_parts;
}

static void m5_rules_take_model(struct former *f, const double *model)
{
	f->model = model;
	f->nr_columns = 0;
	for (size_t v = 0; v < f->t->ground->design.nr_columns; v++)
		if (model[v + 1] != 0)
			f->columns[f->nr_columns++] = v;
}

/* Adds the rule's predictions at the rows that it covers and its leaf does not have. */
static void m5_rules_add(struct former *f, const struct cover *c)
{
	for (size_t k = 0; k < f->nr_words; k++) {
		uint64_t rows = 0;

		for (size_t d = 0; d < f->depth; d++)
			rows |= f->failed[d * f->nr_words + k];
		rows &= m5_rules_covered(f, k);
		while (rows) {
			size_t i = m5_rules_next(k, &rows);

			f->sum[i] += m5_rules_between(f->value[i], c->low, c->high);
			f->count[i]++;
		}
	}
}

static int form_rule(struct former *f, size_t leaf)
{
	const struct m5_tree *t = f->t;
	const double *model = m5_model(t, leaf);
	struct cover c;
	struct rule *kept;
	double estimate;
	int ret;

	m5_rules_take_model(f, model);
	drop_tests(f);
	c = cover_of(f);
	estimate = m5_adjusted(c.error / c.weight, (double)c.nr, t->nodes[leaf].coefficients);
	ret = add_rule(f, model, &c);
	if (ret)
		return ret;
	kept = m5_rules_twin(f);
	if (kept) {
		m5_rules_merge(f, kept, estimate);
		return 0;
	}
	f->estimate[f->out->nr - 1 - f->first] = estimate;
	m5_rules_add(f, &c);
	return 0;
}

/* Finds the rows that fail the last test of the path. */
static void m5_rules_descend(struct former *f)
{
	const struct dataset *d = f->t->ground->data;
	const struct test *test = &f->path[f->depth - 1];
	const double *x = d->x + test->node->variable * d->nr_rows;
	uint64_t *failed = f->failed + (f->depth - 1) * f->nr_words;

	for (size_t k = 0; k < f->nr_words; k++) {
		size_t begin = k * WORD_BITS, left = d->nr_rows - begin;
		uint64_t word = 0;

		for (size_t i = 0; i < WORD_BITS && i < left; i++)
			word |= (uint64_t)(m5_goes_left(f->t, test->node, x[begin + i]) !=
					   test->left)
				<< i;
		failed[k] = word;
	}
}

/* Turns to the other side of the node: the rows that fail its test are those that did not. */
static void m5_rules_turn(struct former *f)
{
	uint64_t *failed = f->failed + (f->depth - 1) * f->nr_words;
	size_t rest = f->t->ground->data->nr_rows % WORD_BITS;

	for (size_t k = 0; k < f->nr_words; k++)
		failed[k] = ~failed[k];
	if (rest)
		failed[f->nr_words - 1] &= (1ull << rest) - 1;
}

static int m5_rules_scan(struct former *f, int32_t at)
{
	const struct m5_node *node = &f->t->nodes[at];
	int ret = 0;

	if (node->left < 0)
		return form_rule(f, (size_t)at);
	f->depth++;
	for (int side = 0; side < 2; side++) {
		f->path[f->depth - 1] = (struct test){ node, side == 0 };
		if (side == 0)
			m5_rules_descend(f);
		else
			m5_rules_turn(f);
		ret = m5_rules_scan(f, side == 0 ? node->left : node->right);
		if (ret)
			break;
	}
	f->depth--;
	return ret;
}

int m5_rules(struct rules *out, const struct m5_tree *t)
{
	struct former f;
	int ret = former_init(&f, t, out);

	out->fallback = t->ground->mean;
	if (ret)
		goto out;
	begin_counts(&f, 0);
	ret = m5_rules_scan(&f, 0);
	if (ret)
		goto out;
	ret = rules_end_set(out);
out:
	former_release(&f);
	return ret;
}

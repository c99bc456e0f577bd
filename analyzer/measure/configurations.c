// SPDX-License-Identifier: Apache-2.0
/*
 * This file makes the designs: it decides which configurations of the factors are measured
 * (factors.h).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/measure/factors.h"
#include "analyzer/measure/plan_reader.h"

#define DRAWS_PER_CONFIGURATION 1000 /* A random design gives up on distinct ones after these. */

void configurations_release(struct configurations *c)
{
	free(c->cells);
	memset(c, 0, sizeof(*c));
}

int configurations_add(struct configurations *c, size_t nr_factors, const double *cells)
{
	double *grown;

	/* The array doubles whenever the number of configurations is a power of two. */
	if (!(c->nr & (c->nr - 1))) {
		grown = reallocarray(c->cells, (c->nr ? 2 * c->nr : 1) * nr_factors,
				     sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		c->cells = grown;
	}
	c->nr_factors = nr_factors;
	memcpy(c->cells + c->nr * nr_factors, cells, nr_factors * sizeof(*cells));
	c->nr++;
	return 0;
}

static bool configurations_contains(const struct configurations *c, const double *cells)
{
	for (size_t i = 0; i < c->nr; i++)
		if (memcmp(c->cells + i * c->nr_factors, cells, c->nr_factors * sizeof(*cells)) ==
		    0)
			return true;
	return false;
}

/*
 * Returns the number of combinations. The number is 0 if a factor is a range, and stops growing
 * once it is above CONFIGURATIONS_MAX.
 */
static uint64_t nr_combinations(const struct factors *f)
{
	uint64_t nr = 1;

	for (size_t i = 0; i < f->nr; i++) {
		if (nr > CONFIGURATIONS_MAX)
			return nr;
		nr *= f->items[i].nr_levels;
	}
	return nr;
}

int configurations_full(struct configurations *c, const struct factors *f, struct err *err)
{
	uint64_t nr = nr_combinations(f);
	double *cells = calloc(f->nr + 1, sizeof(*cells));
	int ret = cells ? 0 : -ENOMEM;

	if (nr == 0)
		ret = err_set(err, EINVAL, "design: a full one needs levels: a factor has a range");
	else if (nr > CONFIGURATIONS_MAX)
		ret = err_set(err, E2BIG, "design: more than %u configurations",
			      CONFIGURATIONS_MAX);
	if (ret)
		goto out;
	for (uint64_t n = 0; n < nr; n++) {
		uint64_t rest = n;

		for (size_t i = f->nr; i-- > 0;) {
			cells[i] = (double)(rest % f->items[i].nr_levels);
			rest /= f->items[i].nr_levels;
		}
		ret = configurations_add(c, f->nr, cells);
		if (ret)
			goto out;
	}
out:
	free(cells);
	return ret;
}

static double configurations_draw(const struct factor *f, struct rng *rng)
{
	uint64_t steps;

	if (f->nr_levels)
		return (double)rng_below(rng, f->nr_levels);
	if (!f->step)
		return f->low + (f->high - f->low) * rng_uniform(rng);
	steps = (uint64_t)floor((f->high - f->low) / f->step * (1 + 1e-12));
	return f->low + f->step * (double)rng_below(rng, steps + 1);
}

int configurations_random(struct configurations *c, const struct factors *f, size_t nr,
			  struct rng *rng, struct err *err)
{
	uint64_t most = nr_combinations(f);
	double *cells = calloc(f->nr + 1, sizeof(*cells));
	int ret = cells ? 0 : -ENOMEM;
	size_t end = c->nr + nr;

	if (most && most < nr)
		ret = err_set(err, EINVAL,
			      "design: %zu random configurations asked for; there are %llu", nr,
			      (unsigned long long)most);
	if (ret)
		goto out;
	for (uint64_t tries = 0; c->nr < end; tries++) {
		for (size_t i = 0; i < f->nr; i++)
			cells[i] = configurations_draw(&f->items[i], rng);
		if (tries < DRAWS_PER_CONFIGURATION * (uint64_t)nr &&
		    configurations_contains(c, cells))
			continue;
		ret = configurations_add(c, f->nr, cells);
		if (ret)
			goto out;
	}
out:
	free(cells);
	return ret;
}

/* Reads the level of a factor that the node names, or a number within the factor's range. */
static int configuration_read_cell(const struct fields_reader *r, const struct factor *factor,
				   const struct yaml_node *node, double *cell)
{
	double value = NAN;
	bool number =
		node->kind == YAML_SCALAR && !node->quoted && param_number(node->text, &value);

	if (node->kind != YAML_SCALAR)
		return fields_error(r, node, "expected a level");
	value *= factor->scale;
	for (size_t i = 0; i < factor->nr_levels; i++) {
		const struct level *l = &factor->levels[i];

		if (l->word ? strcmp(l->text, node->text) == 0 : number && value == l->value) {
			*cell = (double)i;
			return 0;
		}
	}
	if (factor->nr_levels)
		return fields_error(r, node, "'%.40s' is not among its levels", node->text);
	if (!number || value < factor->low || value > factor->high)
		return fields_error(r, node, "expected a number from %.15g to %.15g, got '%.40s'",
				    factor->low / factor->scale, factor->high / factor->scale,
				    node->text);
	*cell = value;
	return 0;
}

static int configuration_read(const struct fields_reader *r, const struct factors *f,
			      const struct yaml_node *node, double *cells)
{
	if (node->kind != YAML_MAP)
		return fields_error(r, node, "list: expected a mapping FACTOR: LEVEL");
	for (size_t k = 0; k < node->nr; k++)
		if (factors_find(f, node->items[k]->key) < 0)
			return yaml_tree_error(r->tree, node->items[k], r->err, "no factor '%.60s'",
					       node->items[k]->key);
	for (size_t i = 0; i < f->nr; i++) {
		const struct yaml_node *n = yaml_node_get(node, f->items[i].name);
		int ret;

		if (!n)
			return fields_error(r, node, "list: no level of factor '%s'",
					    f->items[i].name);
		ret = configuration_read_cell(r, &f->items[i], n, &cells[i]);
		if (ret)
			return ret;
	}
	return 0;
}

const struct field plan_list_item = { .type = FIELD_MAP, .item = &plan_value };

int configurations_read_list(const struct fields_reader *r, const struct field *field,
			     const struct yaml_node *node, void *to)
{
	struct plan *p = to;
	double *cells = calloc(p->factors.nr + 1, sizeof(*cells));
	int ret = 0;

	(void)field;
	if (!cells)
		return fields_no_memory(r);
	p->design = DESIGN_LIST;
	for (size_t i = 0; i < node->nr; i++) {
		ret = configuration_read(r, &p->factors, node->items[i], cells);
		if (ret)
			goto out;
		if (configurations_contains(&p->list, cells))
			ret = fields_error(r, node->items[i],
					   "list: this configuration is there twice");
		if (ret)
			goto out;
		ret = configurations_add(&p->list, p->factors.nr, cells);
		if (ret)
			goto out;
	}
out:
	free(cells);
	return ret;
}

void configurations_shuffle(struct configurations *c, struct rng *rng)
{
	for (size_t i = c->nr; i > 1; i--) {
		size_t j = (size_t)rng_below(rng, i);

		for (size_t k = 0; k < c->nr_factors; k++) {
			double held = c->cells[(i - 1) * c->nr_factors + k];

			c->cells[(i - 1) * c->nr_factors + k] = c->cells[j * c->nr_factors + k];
			c->cells[j * c->nr_factors + k] = held;
		}
	}
}

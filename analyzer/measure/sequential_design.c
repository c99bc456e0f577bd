// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/sequential_design.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/model.h"
#include "analyzer/models/regression/technique.h"

#define NR_MEMBERS 4
#define ROWS_LEAST 5 /* Fewer rows are not enough to learn from. */
/*
 * Standard trees do not split fewer than 20 rows. With few rows such a tree would predict the mean
 * only.
 */
#define MINSPLIT_SMALL 4

static const struct technique *const members[NR_MEMBERS] = { &technique_mars_ia, &technique_cart,
							     &technique_m5, &technique_cubist };

struct committee {
	struct schema schema;
	struct dataset data;
	struct model models[NR_MEMBERS];
	struct table candidates;
	size_t *at; /* owned: column in the candidates' table of each variable */
};

static void sequential_design_release(struct committee *c)
{
	for (int i = 0; i < NR_MEMBERS; i++)
		model_release(&c->models[i]);
	dataset_release(&c->data);
	schema_release(&c->schema);
	table_release(&c->candidates);
	free(c->at);
}

static int sequential_design_learn(struct committee *c, const struct factors *f,
				   const struct table *measured, const char *response,
				   struct err *err)
{
	const char **names = calloc(f->nr, sizeof(*names));
	struct dataset_spec spec = { .response = response,
				     .predictors = names,
				     .nr_predictors = f->nr };
	int ret = names ? 0 : -ENOMEM;

	for (size_t i = 0; i < f->nr && names; i++)
		names[i] = f->items[i].name;
	if (ret)
		goto out;
	if (measured->nr_rows < ROWS_LEAST)
		ret = err_set(err, EINVAL,
			      "design: %zu measured configurations have '%s'; a "
			      "sequential design needs %d",
			      measured->nr_rows, response, ROWS_LEAST);
	if (ret)
		goto out;
	ret = dataset_read(&c->data, &c->schema, measured, &spec, err);
	if (ret)
		goto out;
	for (int i = 0; i < NR_MEMBERS; i++) {
		double p[PARAMETERS_MAX] = { 0 };

		technique_standard(members[i], technique_nr_columns(&c->schema), p);
		if (members[i] == &technique_cart)
			p[0] = MINSPLIT_SMALL;
		ret = model_fit(&c->models[i], members[i], p, &c->schema, &c->data);
		if (ret)
			goto out;
	}
out:
	free(names);
	return ret;
}

/*
 * Makes a table of the candidates, so that they are encoded in the same way as the measured rows.
 */
static int make_table(struct committee *c, const struct factors *f,
		      const struct configurations *candidates, struct err *err)
{
	struct buf text;
	int ret;

	buf_init(&text);
	for (size_t i = 0; i < f->nr; i++) {
		buf_printf(&text, "%s", i ? "," : "");
		table_put_cell(&text, f->items[i].name);
	}
	for (size_t row = 0; row < candidates->nr; row++)
		for (size_t i = 0; i < f->nr; i++) {
			buf_printf(&text, "%s", i ? "," : "\n");
			factor_cell_text(&f->items[i], candidates->cells[row * f->nr + i], &text);
		}
	buf_put_u8(&text, '\n');
	ret = text.error
		      ? text.error
		      : table_parse(&c->candidates, "candidates", (char *)text.data, text.len, err);
	buf_release(&text);
	c->at = calloc(c->schema.nr + 1, sizeof(*c->at));
	if (ret)
		return ret;
	if (!c->at)
		return -ENOMEM;
	for (size_t v = 0; v < c->schema.nr; v++) {
		int column = table_find(&c->candidates, c->schema.variables[v].name, err);

		ret = column < 0 ? column : 0;
		c->at[v] = (size_t)column;
		if (ret)
			return ret;
	}
	return 0;
}

static double sequential_design_disagreement(struct committee *c, size_t row, double *x)
{
	double y[NR_MEMBERS], mean = 0, magnitude = 0, squares = 0;

	if (dataset_encode(&c->schema, &c->candidates, c->at, row, x, NULL))
		return INFINITY; /* A level was never measured. */
	for (int i = 0; i < NR_MEMBERS; i++) {
		if (model_predict(&c->models[i], x, 1, &y[i]) || !isfinite(y[i]))
			return 0;
		mean += y[i] / NR_MEMBERS;
		magnitude += fabs(y[i]) / NR_MEMBERS;
	}
	for (int i = 0; i < NR_MEMBERS; i++)
		squares += (y[i] - mean) * (y[i] - mean);
	return magnitude > 0 ? sqrt(squares / (NR_MEMBERS - 1)) / magnitude : 0;
}

static bool was_tried(const struct configurations *tried, const double *cells)
{
	for (size_t i = 0; i < tried->nr; i++)
		if (memcmp(tried->cells + i * tried->nr_factors, cells,
			   tried->nr_factors * sizeof(*cells)) == 0)
			return true;
	return false;
}

int sequential_next(const struct factors *f, const struct table *measured, const char *response,
		    const struct configurations *candidates, const struct configurations *tried,
		    double *cells, struct err *err)
{
	struct committee c = { 0 };
	double *x = NULL, most = -1;
	size_t best = 0;
	int ret = sequential_design_learn(&c, f, measured, response, err);

	if (ret)
		goto out;
	ret = make_table(&c, f, candidates, err);
	if (ret)
		goto out;
	ret = -ENOMEM;
	x = calloc(c.schema.nr + 1, sizeof(*x));
	if (!x)
		goto out;
	for (size_t i = 0; i < candidates->nr; i++) {
		double d;

		if (was_tried(tried, candidates->cells + i * f->nr))
			continue;
		d = sequential_design_disagreement(&c, i, x);
		if (d > most) {
			most = d;
			best = i;
		}
	}
	ret = most < 0 ? -ENOENT : 0;
	if (ret)
		goto out;
	memcpy(cells, candidates->cells + best * f->nr, f->nr * sizeof(*cells));
out:
	free(x);
	sequential_design_release(&c);
	return ret;
}

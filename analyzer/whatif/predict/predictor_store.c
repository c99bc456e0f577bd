// SPDX-License-Identifier: Apache-2.0
/* Models that are learned from a measurement store when they are first asked for. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/measure/results.h"
#include "analyzer/measure/results_table.h"
#include "analyzer/models/regression/choice/select.h"
#include "analyzer/models/regression/technique.h"
#include "analyzer/whatif/predict/predictor.h"

#define FOLDS	    10
#define FOLDS_LEAST 3
#define SEED	    1
#define WITHIN	    0.02 /* the simplest within this share of the best */
/*
 * Logarithms keep predictions above 0. A model without them is used only if its error is below this
 * share of the error with them.
 */
#define CLEARLY_BETTER 0.8
#define TECHNIQUES     16

struct learning {
	struct table table;
	char **names; /* owned: the factors */
	size_t nr_names;
	struct schema schema;
	struct dataset data;
	struct candidate candidates[TECHNIQUES];
	size_t nr;
};

/*
 * This struct is the scale of a response: the response itself, its logarithm, or its logarithm over
 * clients. In the last case, offset names the clients.
 */
struct scale {
	bool log;
	const char *offset;
};

static int read_rows(struct learning *l, const struct predictor *p, const char *response,
		     const struct scale *scale, struct err *err)
{
	struct dataset_spec spec = { .response = response,
				     .log = scale->log,
				     .offset = scale->offset };
	uint32_t folds;
	int ret = results_table(&l->table, p->db, p->campaign, response, &l->names, &l->nr_names,
				err);

	spec.predictors = (const char *const *)l->names;
	spec.nr_predictors = l->nr_names;
	if (!ret)
		ret = dataset_read(&l->data, &l->schema, &l->table, &spec, err);
	if (ret)
		return ret;
	folds = l->data.nr_rows < FOLDS ? (uint32_t)l->data.nr_rows : FOLDS;
	if (folds < FOLDS_LEAST)
		return err_set(err, EINVAL, "%s: %zu runs with %s are too few to learn from", p->db,
			       l->data.nr_rows, response);
	return dataset_make_folds(&l->data, folds, SEED, err);
}

static int fit_all(struct learning *l, struct err *err)
{
	struct select_config config = { .schema = &l->schema, .data = &l->data, .standard = true };

	for (size_t i = 0; techniques[i] && l->nr < TECHNIQUES; i++) {
		struct candidate *c = &l->candidates[l->nr];
		int status;

		/* A blend has several models, which is more than one question is worth. */
		if (techniques[i]->by_name || techniques[i]->is_blend)
			continue;
		memset(c, 0, sizeof(*c));
		c->technique = techniques[i];
		status = select_candidate(c, &config);
		if (!status) {
			l->nr++;
			continue;
		}
		candidate_release(c);
		if (status == -ENOMEM)
			return err_set(err, ENOMEM, "out of memory");
	}
	return l->nr ? 0
		     : err_set(err, EINVAL, "%s: no technique can learn it", l->schema.response);
}

static int take_best(struct learning *l, struct model *m)
{
	struct candidate *c = &l->candidates[select_best(l->candidates, l->nr, WITHIN)];
	int ret = model_fit(m, c->technique, c->parameters, &l->schema, &l->data);

	if (ret)
		return ret;
	candidate_give(c, m);
	return 0;
}

static int predictor_store_learn(const struct predictor *p, const char *response,
				 const struct scale *scale, struct model *m, struct err *err)
{
	struct learning l = { 0 };
	int ret = read_rows(&l, p, response, scale, err);

	if (ret)
		goto out;
	ret = fit_all(&l, err);
	if (ret)
		goto out;
	ret = take_best(&l, m);
out:
	for (size_t i = 0; i < l.nr; i++)
		candidate_release(&l.candidates[i]);
	dataset_release(&l.data);
	schema_release(&l.schema);
	table_release(&l.table);
	results_names_free(l.names, l.nr_names);
	return ret;
}

/*
 * Learns once more, and keeps the new model if its error is below `share` times that of the present
 * one.
 */
static int learn_better(const struct predictor *p, const char *response, const struct scale *scale,
			double share, struct model *m, struct err *err)
{
	struct model other = { 0 };
	int ret = predictor_store_learn(p, response, scale, &other, err);

	if (ret)
		return ret;
	if (other.quality.mean_relative_error < share * m->quality.mean_relative_error) {
		model_release(m);
		*m = other;
	} else {
		model_release(&other);
	}
	return 0;
}

int predictor_learn(const struct predictor *p, const char *response, struct model *m,
		    struct err *err)
{
	struct scale scale = { .log = true };
	char column[160], *clients = NULL;
	int ret, at;

	snprintf(column, sizeof(column), "%.80s%s%.64s", p->target ? p->target : "",
		 p->target ? "." : "", response);
	ret = predictor_store_learn(p, column, &scale, m, err);
	if (ret)
		return ret;
	at = load_model_is_busy(m) ? load_model_clients(m) : -1;
	if (at >= 0 && m->schema.variables[at].low > 0) {
		clients = strdup(m->schema.variables[at].name);
		scale.offset = clients;
		ret = clients ? learn_better(p, column, &scale, 1, m, err) : -ENOMEM;
		free(clients);
	}
	scale = (struct scale){ .log = false };
	if (ret)
		goto out;
	ret = learn_better(p, column, &scale, CLEARLY_BETTER, m, err);
	if (!ret)
		ret = model_take_reach(m);
out:
	if (ret)
		model_release(m);
	return ret;
}

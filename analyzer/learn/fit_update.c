// SPDX-License-Identifier: Apache-2.0
#include "analyzer/learn/fit_update.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/answer/provenance.h"
#include "analyzer/measure/results_table.h"
#include "analyzer/measure/table_where.h"
#include "analyzer/report/page/model_page.h"
#include "analyzer/whatif/predict/origins.h"
#include "base/data/json.h"
#include "formats/model_file.h"

static int fit_update_read(const struct fit_update *u, struct model *m, struct err *err)
{
	const char *kind;
	json_t *root = NULL;
	int ret = model_file_read(u->model, &root, &kind, err);

	if (ret)
		return ret;
	if (strcmp(kind, "regression") != 0) {
		ret = err_set(err, EINVAL, "%s: kind: expected 'regression', got '%.40s'", u->model,
			      kind);
	} else {
		ret = model_from_json(m, root, err);
		if (ret)
			err_prefix(err, "%s", u->model);
	}
	json_decref(root);
	return ret;
}

static int fit_update_write(const struct fit_update *u, const struct model *m, struct err *err)
{
	json_t *root;
	int ret;

	if (!u->output)
		return 0;
	ret = model_json(m, &root, err);
	if (ret)
		err_prefix(err, "%s", u->output);
	else
		ret = origins_carry(root, u->model, err);
	if (!ret)
		ret = model_file_write(u->output, root, err);
	json_decref(root);
	return ret;
}

int fit_update(struct fit_update *u, struct err *err)
{
	struct model old = { 0 }, new = { 0 };
	struct table table = { 0 };
	struct table_where_facts chosen;
	int ret = fit_update_read(u, &old, err);

	if (ret)
		goto out;
	ret = u->table ? table_read(&table, u->table, err)
		       : results_table(&table, u->db, u->campaign, old.schema.response, NULL, NULL,
				       err);
	if (ret)
		goto out;
	if (u->where) {
		ret = table_where(&table, u->where, &chosen, err);
		if (ret)
			err_prefix(err, "where '%.80s'", u->where);
	}
	if (ret)
		goto out;
	ret = model_update(&new, &old, &table, u->weight, &u->facts, err);
	if (ret)
		goto out;
	ret = fit_update_write(u, &new, err);
	if (!ret)
		ret = origins_model(u->teller->maker.origins, u->model, err);
	if (!ret)
		ret = origins_rows(u->teller->maker.origins, u->table, u->db, u->campaign, err);
	if (!ret && u->report)
		ret = model_page_save(&new, u->report, &u->teller->maker, err);
	u->nr_rows = new.data.nr_rows;
	u->cv_rmse = new.quality.cv_rmse;
out:
	table_release(&table);
	model_release(&old);
	model_release(&new);
	return ret;
}

void fit_update_print(const struct fit_update *u, FILE *out)
{
	const struct update_facts *facts = &u->facts;

	fprintf(out, "%zu rows added, %zu in all; %zu outside the training range\n", facts->nr_rows,
		u->nr_rows, facts->nr_outside);
	if (isfinite(facts->ks_p))
		fprintf(out, "%s: %.0f %% within the interval of 90 %% (errors alike: p %.2g)\n",
			facts->drift ? "drift" : "they fit", 100 * facts->inside_ratio,
			facts->ks_p);
	else
		fprintf(out, "too few rows to tell a drift\n");
	fprintf(out, "RMSE on held-out rows %.4g\n", u->cv_rmse);
}

json_t *fit_update_json(const struct fit_update *u)
{
	const struct update_facts *facts = &u->facts;

	return json_pack("{s:s, s:I, s:I, s:I, s:o, s:o, s:b, s:f, s:o}", "schema",
			 "blkcast.update/1", "rows_added", (json_int_t)facts->nr_rows, "rows",
			 (json_int_t)u->nr_rows, "outside", (json_int_t)facts->nr_outside,
			 "inside_ratio", json_number(facts->inside_ratio), "ks_p",
			 json_number(facts->ks_p), "drift", facts->drift, "cv_rmse", u->cv_rmse,
			 "provenance", provenance_json(&u->teller->maker));
}

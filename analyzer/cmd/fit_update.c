// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/fit_update.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/cmd/table_where.h"
#include "analyzer/measure/results_table.h"
#include "analyzer/models/regression/model_update.h"
#include "analyzer/report/model_page.h"
#include "base/json.h"
#include "formats/model_file.h"

static int fit_update_print(const struct fit_update *u, const struct update_facts *facts,
			    const struct model *m)
{
	json_t *root;
	int bad;

	if (!u->cli->json) {
		printf("%zu rows added, %zu in all; %zu outside the training range\n",
		       facts->nr_rows, m->data.nr_rows, facts->nr_outside);
		if (isfinite(facts->ks_p))
			printf("%s: %.0f %% within the interval of 90 %% (errors alike: p %.2g)\n",
			       facts->drift ? "drift" : "they fit", 100 * facts->inside_ratio,
			       facts->ks_p);
		else
			printf("too few rows to tell a drift\n");
		printf("RMSE on held-out rows %.4g\n", m->quality.cv_rmse);
		return 0;
	}
	root = json_pack("{s:s, s:I, s:I, s:I, s:o, s:o, s:b, s:f}", "schema", "blkcast.update/1",
			 "rows_added", (json_int_t)facts->nr_rows, "rows",
			 (json_int_t)m->data.nr_rows, "outside", (json_int_t)facts->nr_outside,
			 "inside_ratio", json_number(facts->inside_ratio), "ks_p",
			 json_number(facts->ks_p), "drift", facts->drift, "cv_rmse",
			 m->quality.cv_rmse);
	bad = !root || json_print(root, stdout, JSON_INDENT(2)) || putchar('\n') == EOF;
	json_decref(root);
	return bad ? -EIO : 0;
}

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
	root = model_json(m);
	ret = root ? model_file_write(u->output, root, err) : -ENOMEM;
	json_decref(root);
	return ret;
}

int fit_update(const struct fit_update *u, struct err *err)
{
	struct model old = { 0 }, new = { 0 };
	struct update_facts facts;
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
			err_prefix(err, "--where '%.80s'", u->where);
	}
	if (ret)
		goto out;
	ret = model_update(&new, &old, &table, u->weight, &facts, err);
	if (ret)
		goto out;
	ret = fit_update_write(u, &new, err);
	if (!ret && u->report)
		ret = model_page_save(&new, u->report, err);
	if (!ret)
		ret = fit_update_print(u, &facts, &new);
out:
	table_release(&table);
	model_release(&old);
	model_release(&new);
	return ret;
}

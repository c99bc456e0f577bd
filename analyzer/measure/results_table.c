// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/results_table.h"

#include "analyzer/measure/results.h"

int results_table(struct table *t, const char *db, const char *campaign, const char *response,
		  char ***factors, size_t *nr_factors, struct err *err)
{
	struct results *r = NULL;
	struct buf csv;
	int64_t id;
	int ret = results_open(&r, db, RESULTS_READ, err);

	buf_init(&csv);
	if (ret)
		goto out;
	ret = results_find(r, campaign, &id, err);
	if (ret)
		goto out;
	ret = results_csv(r, id, response, &csv, err);
	if (ret)
		goto out;
	ret = table_parse(t, db, (char *)csv.data, csv.len, err);
	if (ret)
		goto out;
	if (factors)
		ret = results_factors(r, id, factors, nr_factors, err);
out:
	buf_release(&csv);
	results_close(r);
	return ret;
}

// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/storage/net/storage_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/rows_output.h"

int storage_rows_predict(struct storage_rows *r, const struct storage_model *m,
			 const struct storage_ask *ask, struct err *err)
{
	r->answers = calloc(r->storage.nr_rows + 1, sizeof(*r->answers));
	r->by_row = calloc(r->table.nr_rows + 1, sizeof(*r->by_row));
	if (!r->answers || !r->by_row)
		return err_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < r->storage.nr_rows; i++)
		r->by_row[r->storage.rows[i].row] = &r->answers[i];
	return storage_predict(r->answers, m, &r->storage, ask, err);
}

int storage_rows_check(const struct storage_rows *r, const struct teller *t, bool strict,
		       struct err *err)
{
	size_t nr = 0;

	for (size_t i = 0; i < r->table.nr_rows; i++) {
		const struct storage_answer *a = r->by_row[i];

		if (a->outside && strict)
			return err_set(err, ERANGE,
				       "%s:%llu: %s lies outside the training range %g to %g",
				       r->table.source, (unsigned long long)r->table.lines[i],
				       a->outside, a->range.low, a->range.high);
		nr += a->outside != NULL;
	}
	if (nr)
		teller_note(t, "%zu of %zu rows lie outside the training range: extrapolated", nr,
			    r->table.nr_rows);
	return 0;
}

int storage_rows_print(const struct storage_rows *r, bool all, bool json, FILE *out)
{
	static const char *const names[] = { "predicted", "lower", "upper",	     "p50_s",
					     "p95_s",	  "p99_s", "predicted_per_s" };
	const size_t nr_rows = r->table.nr_rows, nr = all ? sizeof(names) / sizeof(*names) : 3;
	double *values = calloc(nr_rows * nr + 1, sizeof(*values));
	bool *outside = calloc(nr_rows + 1, sizeof(*outside));
	int ret = -ENOMEM;

	if (!values || !outside)
		goto out;
	for (size_t i = 0; i < nr_rows; i++) {
		const struct storage_answer *a = r->by_row[i];
		const struct time_estimate *e = &a->time;
		const double row[] = { e->mean.mean, e->mean.low, e->mean.high, e->p50.mean,
				       e->p95.mean,  e->p99.mean, a->throughput };

		memcpy(values + i * nr, row, nr * sizeof(*values));
		outside[i] = a->outside != NULL;
	}
	ret = rows_output_print(&(struct rows_output){ .table = &r->table,
						       .names = names,
						       .nr_names = nr,
						       .values = values,
						       .outside = outside,
						       .digits = 17,
						       .json = json,
						       .out = out });
out:
	free(values);
	free(outside);
	return ret;
}

void storage_rows_release(struct storage_rows *r)
{
	storage_table_release(&r->storage);
	table_release(&r->table);
	free(r->answers);
	free(r->by_row);
	*r = (struct storage_rows){ 0 };
}

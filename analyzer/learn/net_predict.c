// SPDX-License-Identifier: Apache-2.0
#include "analyzer/learn/net_predict.h"

#include <errno.h>
#include <math.h>

#include "analyzer/answer/progress.h"
#include "analyzer/measure/table_told.h"

/* Writes the net of the only configuration, as input for blkcast qpn solve. */
static int net_predict_net(struct net_predict *p, struct err *err)
{
	struct storage_net n;
	int ret;

	if (p->rows.storage.nr_configs != 1)
		return err_set(err, EINVAL, "%s: expected one configuration for a net, got %zu",
			       p->rows.table.source, p->rows.storage.nr_configs);
	ret = storage_predict_net(&n, &p->model, &p->rows.storage, 0, &p->ask, err);
	if (ret)
		return ret;
	storage_net_write(&p->text, &n);
	return p->text.error;
}

/* Tells the error where the table has measured times too. */
static void net_predict_tell_error(const struct net_predict *p)
{
	const struct storage_table *t = &p->rows.storage;
	double sum = 0, worst = 0;
	size_t nr = 0;

	for (size_t i = 0; i < t->nr_rows; i++) {
		double measured = t->rows[i].response_s, e;

		if (!isfinite(measured))
			continue;
		e = fabs(p->rows.by_row[t->rows[i].row]->time.mean.mean / measured - 1);
		sum += e;
		worst = fmax(worst, e);
		nr++;
	}
	if (nr)
		teller_note(
			p->teller,
			"%zu measured response times missed by %.2f %% on average, %.2f %% at most",
			nr, 100 * sum / (double)nr, 100 * worst);
}

static void net_predict_progress(void *ctx, uint64_t done)
{
	progress_update(ctx, done);
}

static int net_predict_rows(struct net_predict *p, struct err *err)
{
	struct progress progress;
	int ret;

	p->ask.progress = net_predict_progress;
	p->ask.ctx = &progress;
	progress_begin(&progress, p->teller->work, p->rows.storage.nr_configs, p->teller->quiet);
	ret = storage_rows_predict(&p->rows, &p->model, &p->ask, err);
	progress_end(&progress);
	if (ret)
		return ret;
	ret = storage_rows_check(&p->rows, p->teller, p->strict, err);
	if (ret)
		return ret;
	ret = storage_rows_print(&p->rows, true, p->json, p->out);
	if (ret)
		return ret;
	net_predict_tell_error(p);
	return 0;
}

int net_predict(struct net_predict *p, const char *model, const char *table, struct err *err)
{
	int ret = storage_model_read(&p->model, model, err);

	buf_init(&p->text);
	if (ret)
		return ret;
	ret = table ? table_read(&p->rows.table, table, err)
		    : table_of_settings(&p->rows.table, p->set_name, &p->set, err);
	if (!ret)
		ret = storage_table_make(&p->rows.storage, &p->rows.table, NULL, 0, err);
	if (ret)
		return ret;
	return p->net ? net_predict_net(p, err) : net_predict_rows(p, err);
}

void net_predict_release(struct net_predict *p)
{
	buf_release(&p->text);
	storage_rows_release(&p->rows);
	storage_model_release(&p->model);
}

// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/answer/progress.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/cmd/models/qpn_verbs.h"
#include "analyzer/cmd/models/run_options.h"
#include "analyzer/models/num/lsq.h"
#include "analyzer/measure/table_told.h"
#include "analyzer/models/storage/net/storage_rows.h"

struct predict {
	struct cli *cli;
	struct word_list set;
	struct storage_ask ask;
	bool net, strict;
	struct storage_model model;
	struct storage_rows rows;
	struct err err;
};

/* Prints the net of the first configuration, as input for blkcast qpn solve. */
static int print_net(struct predict *p)
{
	struct storage_net n;
	struct buf text;
	int ret;

	if (p->rows.storage.nr_configs != 1)
		return err_set(&p->err, EINVAL, "--net: expected one configuration, got %zu",
			       p->rows.storage.nr_configs);
	ret = storage_predict_net(&n, &p->model, &p->rows.storage, 0, &p->ask, &p->err);
	if (ret)
		return ret;
	buf_init(&text);
	storage_net_write(&text, &n);
	return cli_show_text(&text);
}

/* Reports the error where the table has measured times too. */
static void tell_error(const struct predict *p)
{
	double sum = 0, worst = 0;
	size_t nr = 0;

	for (size_t i = 0; i < p->rows.storage.nr_rows; i++) {
		double measured = p->rows.storage.rows[i].response_s, e;

		if (!isfinite(measured))
			continue;
		e = fabs(p->rows.by_row[p->rows.storage.rows[i].row]->time.mean.mean / measured -
			 1);
		sum += e;
		worst = fmax(worst, e);
		nr++;
	}
	if (nr)
		cli_note(
			p->cli,
			"%zu measured response times missed by %.2f %% on average, %.2f %% at most",
			nr, 100 * sum / (double)nr, 100 * worst);
}

static void on_progress(void *ctx, uint64_t done)
{
	progress_update(ctx, done);
}

static int qpn_predict_answer(struct predict *p)
{
	struct progress progress;
	int ret;

	p->ask.progress = on_progress;
	p->ask.ctx = &progress;
	progress_begin(&progress, "qpn", p->rows.storage.nr_configs, p->cli->teller.quiet);
	ret = storage_rows_predict(&p->rows, &p->model, &p->ask, &p->err);
	progress_end(&progress);
	if (ret)
		return ret;
	ret = storage_rows_check(&p->rows, &p->cli->teller, p->strict, &p->err);
	if (ret)
		return ret;
	ret = storage_rows_print(&p->rows, true, p->cli->json, stdout);
	if (ret)
		return ret;
	tell_error(p);
	return 0;
}

static int qpn_predict_perform(struct predict *p, const char *model, const char *table)
{
	int ret = storage_model_read(&p->model, model, &p->err);

	if (ret)
		return ret;
	ret = table ? table_read(&p->rows.table, table, &p->err)
		    : table_of_settings(&p->rows.table, "--set", &p->set, &p->err);
	if (!ret)
		ret = storage_table_make(&p->rows.storage, &p->rows.table, NULL, 0, &p->err);
	if (ret)
		return ret;
	return p->net ? print_net(p) : qpn_predict_answer(p);
}

int qpn_predict(struct cli *cli)
{
	struct predict p = { .cli = cli, .ask = STORAGE_ASK_DEFAULTS };
	const struct cli_option options[] = {
		CLI_LIST("set", 0, "COLUMN=VALUE", &p.set, "one row, instead of a table"),
		CLI_DURATION("think", 0, "T", &p.ask.think_s,
			     "of a client between an answer and its next request (default 1 ns)",
			     .above = "0"),
		CLI_DOUBLE("precision", 'p', "P", &p.ask.precision,
			   "of every mean response time, relative", RUN_PRECISION),
		CLI_U64("seed", 's', "N", &p.ask.seed, "of the random numbers", .standard = "1"),
		THREADS_OPTION(&p.ask.nr_threads),
		CLI_FLAG("net", 0, &p.net, "print the net of the one configuration instead"),
		CLI_FLAG("strict", 0, &p.strict, "refuse rows outside the training range"),
		CLI_END,
	};
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (cli->argc < 1 || cli->argc > 2 || (cli->argc == 2) == (p.set.nr > 0))
		return cli_usage(cli, "expected a model, and a table or --set COLUMN=VALUE");
	lsq_single_thread();
	ret = qpn_predict_perform(&p, cli->argv[0], cli->argc == 2 ? cli->argv[1] : NULL);
	storage_rows_release(&p.rows);
	storage_model_release(&p.model);
	return cli_finish(cli, ret, &p.err, CLI_DONE);
}

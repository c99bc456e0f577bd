// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/answer/grid.h"
#include "analyzer/answer/progress.h"
#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/measure/plan.h"
#include "analyzer/measure/results.h"
#include "analyzer/measure/runner.h"
#include "analyzer/models/num/lsq.h"
#include "base/system/output_file.h"
#include "base/system/stop.h"
#include "base/text/units.h"

/* time that a run takes beyond warm-up and intervals, for the estimate */
#define OVERHEAD_GUESS_S 1.5

struct measure {
	const struct cli *cli;
	const char *db, *output, *campaign, *response;
	struct word_list set, overwrite;
	bool resume, retry_failed, dry_run;
	struct plan plan;
	struct results *store;
	struct runner runner;
	struct progress progress;
	uint64_t nr_runs, nr_reported;
	struct err err;
};

static uint64_t nr_configurations(const struct plan *p, const struct configurations *c)
{
	return p->design == DESIGN_SEQUENTIAL ? p->sequential.configurations : c->nr;
}

static double estimate_s(const struct plan *p, uint64_t nr_runs)
{
	return (double)nr_runs *
	       (p->warm_up_s + (double)p->nr_intervals * p->interval_s + OVERHEAD_GUESS_S);
}

static int print_configurations(const struct plan *p, const struct configurations *c)
{
	struct buf titles, cell;
	struct grid g;
	int ret;

	buf_init(&titles);
	buf_printf(&titles, ">configuration");
	for (size_t i = 0; i < p->factors.nr && i + 1 < GRID_COLUMNS; i++)
		buf_printf(&titles, "|>%s", p->factors.items[i].name);
	buf_put_u8(&titles, 0);
	if (titles.error)
		return titles.error;
	grid_init(&g, (char *)titles.data);
	buf_init(&cell);
	for (size_t row = 0; row < c->nr; row++) {
		grid_cell(&g, "%zu", row);
		for (size_t i = 0; i < p->factors.nr && i + 1 < GRID_COLUMNS; i++) {
			buf_clear(&cell);
			factor_cell_text(&p->factors.items[i], c->cells[row * p->factors.nr + i],
					 &cell);
			buf_put_u8(&cell, 0);
			grid_cell(&g, "%s", cell.error ? "?" : (char *)cell.data);
		}
	}
	ret = grid_print(&g, stdout);
	grid_release(&g);
	buf_release(&cell);
	buf_release(&titles);
	return ret;
}

static int dry_run(struct measure *m)
{
	struct configurations c = { 0 };
	const struct plan *p = &m->plan;
	char time[UNITS_BYTES];
	int ret = plan_configurations(p, &c, &m->err);
	uint64_t nr = ret ? 0 : nr_configurations(p, &c);

	if (!ret && m->cli->json) {
		printf("{\"schema\": \"blkcast.measure/1\", \"dry_run\": true, "
		       "\"configurations\": %llu, \"runs\": %llu, \"estimated_s\": %.17g}\n",
		       (unsigned long long)nr, (unsigned long long)(nr * p->repetitions),
		       estimate_s(p, nr * p->repetitions));
	} else if (!ret) {
		ret = print_configurations(p, &c);
		if (nr > c.nr)
			printf("and %llu more, chosen as models disagree on %s\n",
			       (unsigned long long)(nr - c.nr), p->sequential.response);
		printf("%llu configurations, %llu runs, about %s\n", (unsigned long long)nr,
		       (unsigned long long)(nr * p->repetitions),
		       units_time(estimate_s(p, nr * p->repetitions), time));
	}
	configurations_release(&c);
	return ret;
}

static void on_run(void *ctx, const struct runner_report *r)
{
	struct measure *m = ctx;

	if (r->error) {
		progress_end(&m->progress);
		cli_note(m->cli, "configuration %zu, repetition %u failed: %s", r->number,
			 r->repetition, r->error);
	}
	progress_update(&m->progress, ++m->nr_reported);
}

static void on_place(void *ctx, const struct plan_target *target, const char *place)
{
	const struct measure *m = ctx;

	cli_note(m->cli, "target %s: files are written to %s on %s, and removed afterwards",
		 target->name, target->directory, place);
}

static int print_result(const struct measure *m)
{
	const struct runner *r = &m->runner;
	char time[UNITS_BYTES], most[UNITS_BYTES];

	if (m->cli->json)
		return printf("{\"schema\": \"blkcast.measure/1\", \"done\": %zu, \"failed\": %zu, "
			      "\"before\": %zu, \"seconds\": %.17g, \"overhead_most_s\": %.17g}\n",
			      r->nr_done, r->nr_failed, r->nr_before, r->seconds,
			      r->overhead_most_s) < 0
			       ? -EIO
			       : 0;
	printf("%zu runs done, %zu failed, %zu were there before; %s, at most %s of a run beside "
	       "warm-up and intervals\n",
	       r->nr_done, r->nr_failed, r->nr_before, units_time(r->seconds, time),
	       units_time(r->overhead_most_s, most));
	return 0;
}

static int cmd_measure_campaign(struct measure *m)
{
	struct configurations c = { 0 };
	int ret = plan_configurations(&m->plan, &c, &m->err);

	m->nr_runs = nr_configurations(&m->plan, &c) * m->plan.repetitions;
	configurations_release(&c);
	if (!ret)
		ret = results_open(&m->store, m->db, RESULTS_WRITE, &m->err);
	m->runner = (struct runner){ .plan = &m->plan,
				     .store = m->store,
				     .retry_failed = m->retry_failed,
				     .report = on_run,
				     .place = on_place,
				     .ctx = m };
	if (!ret)
		ret = results_campaign(m->store, &m->plan, m->resume, &m->runner.campaign, &m->err);
	if (ret)
		return ret;
	m->runner.stop = stop_catch();
	progress_begin(&m->progress, "measure", m->nr_runs, m->cli->teller.quiet);
	ret = runner_run(&m->runner, &m->err);
	progress_end(&m->progress);
	if (ret == -EINTR)
		err_set(&m->err, EINTR, "interrupted after %zu runs: --resume goes on",
			m->runner.nr_done + m->runner.nr_failed);
	return ret ? ret : print_result(m);
}

static int export_table(struct measure *m)
{
	int64_t id;
	struct buf csv;
	int ret = results_open(&m->store, m->db, RESULTS_READ, &m->err);

	buf_init(&csv);
	if (ret)
		goto out;
	ret = results_find(m->store, m->campaign, &id, &m->err);
	if (ret)
		goto out;
	ret = results_csv(m->store, id, m->response, &csv, &m->err);
	if (ret)
		goto out;
	ret = output_file_save(&csv, strcmp(m->output, "-") ? m->output : NULL, &m->err);
out:
	buf_release(&csv);
	return ret;
}

static int check_usage(struct cli *cli, const struct measure *m)
{
	if (m->output && cli->argc)
		return cli_usage(cli, "--export takes no plan");
	if (!m->output && cli->argc != 1)
		return cli_usage(cli, "expected one plan, YAML");
	return CLI_DONE;
}

static int cmd_measure_run(struct cli *cli)
{
	struct measure m = { .cli = cli };
	const struct cli_option options[] = {
		CLI_STRING("db", 0, "FILE", &m.db, "the measurement store, SQLite"),
		CLI_FLAG("resume", 0, &m.resume, "go on with a campaign that was begun"),
		CLI_FLAG("retry-failed", 0, &m.retry_failed,
			 "with --resume: failed runs once more"),
		CLI_FLAG("dry-run", 0, &m.dry_run,
			 "say what would be measured, and how long it takes"),
		CLI_LIST("set", 0, "K=V", &m.set,
			 "scale, warm_up, interval, intervals, repetitions, seed, ... of the plan"),
		CLI_LIST("overwrite", 0, "DEVICE,...", &m.overwrite,
			 "block devices that loads write to: what they carry may be destroyed"),
		CLI_STRING("export", 0, "T.csv", &m.output, "the done runs as a table; -: here"),
		CLI_STRING("campaign", 0, "NAME", &m.campaign,
			   "of --export, where there are several", .with = "export"),
		CLI_STRING("response", 0, "Y", &m.response,
			   "of --export: this metric only, of the runs that have it",
			   .with = "export"),
		CLI_CHOICE(1, CLI_ANY, "db dry-run"),
		CLI_END,
	};
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	ret = check_usage(cli, &m);
	if (ret)
		return ret;
	lsq_single_thread();
	if (m.output)
		ret = export_table(&m);
	else
		ret = plan_read(&m.plan, cli->argv[0], m.set.items, m.set.nr, &m.err);
	m.plan.overwrite = m.overwrite.items;
	m.plan.nr_overwrite = m.overwrite.nr;
	if (!ret && !m.output)
		ret = m.dry_run ? dry_run(&m) : cmd_measure_campaign(&m);
	results_close(m.store);
	plan_release(&m.plan);
	if (ret)
		return cli_fail(cli, &m.err);
	return m.runner.nr_failed ? CLI_FAILED : CLI_DONE;
}

const struct command command_measure = {
	.name = "measure",
	.summary = "explore a factor space with a benchmark, on one or several targets",
	.usage = "PLAN.yaml --db FILE [--resume] [--set K=V]...\n"
		 "PLAN.yaml --dry-run\n"
		 "--export T.csv --db FILE [--campaign NAME] [--response Y]",
	.details = "Every configuration of the plan's factors is measured: files prepared, warmed "
		   "up, then k\nintervals. What was measured is in the store after each run; "
		   "--resume goes on after any end. The directory of a target must exist; a "
		   "block device that a load names and that is in use\n"
		   "is refused, and one that carries something is only taken where --overwrite "
		   "names it.\nExit status 1 where a run failed (its reason is in the store).",
	.example = "blkcast measure docs/examples/plans/small.yaml --dry-run\n"
		   "blkcast measure docs/examples/plans/small.yaml --db results.sqlite\n"
		   "blkcast fit --db results.sqlite --response read_s -o model.json",
	.run = cmd_measure_run,
};

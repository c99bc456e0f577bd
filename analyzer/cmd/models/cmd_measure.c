// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>

#include "analyzer/cmd/cli/commands.h"
#include "analyzer/measure/campaign.h"
#include "analyzer/models/num/lsq.h"

/* Measures the plan, or with dry_run tells what that would be. */
static int cmd_measure_plan(const struct cli *cli, struct campaign *c, bool dry_run,
			    const struct word_list *set, const struct word_list *overwrite,
			    struct err *err)
{
	int ret = plan_read(&c->plan, cli->argv[0], set->items, set->nr, err);

	if (ret)
		return ret;
	c->plan.overwrite = overwrite->items;
	c->plan.nr_overwrite = overwrite->nr;
	if (dry_run)
		return campaign_outline(&c->plan, cli->json, stdout, err);
	ret = campaign_run(c, err);
	switch (ret) {
	case -EINTR:
		err_set(err, EINTR, "interrupted after %zu runs: --resume goes on",
			c->runner.nr_done + c->runner.nr_failed);
		break;
	case -EEXIST:
		err_suffix(err, ": --resume goes on with it");
		break;
	case -ECANCELED:
		err_suffix(err, "; --resume --retry-failed goes on");
		break;
	case -ESTALE: /* the campaign had another plan */
		err_suffix(err, " (and the same --set)");
		ret = -EINVAL;
	}
	return ret ? ret : campaign_print(c, cli->json, stdout);
}

static int cmd_measure_run(struct cli *cli)
{
	struct campaign c = { .teller = &cli->teller };
	const char *output = NULL, *name = NULL, *response = NULL;
	struct word_list set = { .nr = 0 }, overwrite = { .nr = 0 };
	bool dry_run = false;
	const struct cli_option options[] = {
		CLI_STRING("db", 0, "FILE", &c.db, "the measurement store, SQLite",
			   .is_input = true),
		CLI_FLAG("resume", 0, &c.resume, "go on with a campaign that was begun"),
		CLI_FLAG("retry-failed", 0, &c.retry_failed,
			 "with --resume: failed runs once more"),
		CLI_FLAG("dry-run", 0, &dry_run,
			 "say what would be measured, and how long it takes"),
		CLI_LIST("set", 0, "K=V", &set,
			 "scale, warm_up, interval, intervals, repetitions, seed, ... of the plan"),
		CLI_LIST("overwrite", 0, "DEVICE,...", &overwrite,
			 "block devices that loads write to: what they carry may be destroyed"),
		CLI_STRING("export", 0, "T.csv", &output, "the done runs as a table; -: here",
			   .is_output = true),
		CLI_STRING("campaign", 0, "NAME", &name, "of --export, where there are several",
			   .with = "export"),
		CLI_STRING("response", 0, "Y", &response,
			   "of --export: this metric only, of the runs that have it",
			   .with = "export"),
		CLI_CHOICE(1, CLI_ANY, "db dry-run"),
		CLI_END,
	};
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (output && cli->argc)
		return cli_usage(cli, "--export takes no plan");
	if (!output && cli->argc != 1)
		return cli_usage(cli, "expected one plan, YAML");
	lsq_single_thread();
	ret = output ? campaign_export(c.db, name, response, output, &err)
		     : cmd_measure_plan(cli, &c, dry_run, &set, &overwrite, &err);
	campaign_release(&c);
	return cli_finish(cli, ret, &err, c.runner.nr_failed ? CLI_FAILED : CLI_DONE);
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

// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/progress.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/cmd/models/qpn_verbs.h"
#include "analyzer/measure/results_table.h"
#include "analyzer/models/num/lsq.h"
#include "analyzer/models/storage/calibration/calibrate_cache.h"
#include "analyzer/models/storage/calibration/calibrate_hardware.h"
#include "analyzer/models/storage/calibration/calibrate_mix.h"
#include "analyzer/models/storage/calibration/calibration_answer.h"
#include "analyzer/models/storage/fit/campaign_table.h"
#include "analyzer/whatif/predict/origins.h"
#include "base/system/output_file.h"
#include "formats/model_file.h"

/* The verb calibrate: its options, and what follows from them. */
struct calibration {
	const char *table, *output; /* table: a file of CSV; NULL where db is given */
	const char *db, *campaign;  /* a measurement store; campaign may be NULL */
	struct word_list settings;  /* "NAME=VALUE" for what is no factor of the campaign */
	struct word_list where;
	enum storage_kind kind;
	enum storage_vm_rule rule; /* STORAGE_NR_RULES: the best rule is chosen */
	double saturated, precision;
	uint64_t seed, threads;
};

/* JSON shows the model as it is stored; root is that, borrowed. */
static int calibration_show(const struct cli *cli, const struct storage_model *m, json_t *root,
			    struct err *err)
{
	int ret;

	if (cli->json)
		return cli_show_json(json_incref(root));
	ret = cli_show(cli, storage_model_answer(m), NULL, err);
	if (m->kind < STORAGE_MIXED)
		putchar('\n');
	return ret;
}

static void calibration_progress(void *ctx, uint64_t done, uint64_t of)
{
	(void)of;
	progress_update(ctx, done);
}

static int calibration_solve(const struct cli *cli, const struct calibration *task,
			     const struct storage_table *rows, struct storage_model *m,
			     struct err *err)
{
	struct progress progress;
	struct mix_options o = { .saturated = task->saturated,
				 .precision = task->precision,
				 .seed = task->seed,
				 .nr_threads = (unsigned int)task->threads,
				 .rule = task->rule,
				 .progress = calibration_progress,
				 .ctx = &progress };
	int ret;

	if (task->kind == STORAGE_CACHE)
		return calibrate_cached(m, rows, task->saturated, err);
	if (task->kind == STORAGE_HARDWARE)
		return calibrate_hardware(m, rows, err);
	progress_begin(&progress, "qpn", rows->nr_configs, cli->teller.quiet);
	ret = calibrate_mix(m, task->kind, rows, &o, err);
	progress_end(&progress);
	return ret;
}

/* Splits "NAME=VALUE" of each --set; words[] are the owned copies. */
static int calibration_settings(const struct word_list *set, struct campaign_setting *settings,
				char **words, struct err *err)
{
	for (size_t i = 0; i < set->nr; i++) {
		char *equals;

		words[i] = strdup(set->items[i]);
		equals = words[i] ? strchr(words[i], '=') : NULL;
		if (!equals)
			return err_set(err, EINVAL, "--set: expected NAME=VALUE, got '%.80s'",
				       set->items[i]);
		*equals = 0;
		settings[i] = (struct campaign_setting){ words[i], equals + 1 };
	}
	return 0;
}

/* Reads the runs of a campaign in place of a table. */
static int calibration_campaign(struct cli *cli, const struct calibration *task, struct table *t,
				struct err *err)
{
	struct campaign_setting settings[WORD_LIST_MAX];
	char *words[WORD_LIST_MAX] = { NULL };
	struct table campaign = { 0 };
	size_t nr_left_out = 0;
	int ret = results_table(&campaign, task->db, task->campaign, NULL, NULL, NULL, err);

	if (ret)
		goto out;
	ret = calibration_settings(&task->settings, settings, words, err);
	if (ret)
		goto out;
	ret = campaign_table_make(t, &campaign, settings, task->settings.nr, &nr_left_out, err);
	if (!ret && nr_left_out)
		cli_note(cli,
			 "%s: %zu runs are left out: their clients mix reads and writes, think, "
			 "flush or force writes",
			 task->db, nr_left_out);
out:
	for (size_t i = 0; i < WORD_LIST_MAX; i++)
		free(words[i]);
	table_release(&campaign);
	return ret;
}

static int calibration_table(struct cli *cli, const struct calibration *task, struct table *t,
			     struct err *err)
{
	return task->db ? calibration_campaign(cli, task, t, err) : table_read(t, task->table, err);
}

/* Calibrates a model, writes it and shows how well it fits. */
static int calibration_of_model(struct cli *cli, const struct calibration *task, struct err *err)
{
	const struct row_filter where = { .conditions = task->where.items, .nr = task->where.nr };
	unsigned int needs = STORAGE_NEEDS_RESPONSE |
			     (task->kind == STORAGE_HARDWARE ? STORAGE_NEEDS_FILE_SET : 0);
	struct storage_model m = { 0 };
	struct storage_table rows = { 0 };
	struct table table = { 0 };
	json_t *root = NULL;
	int ret;

	lsq_single_thread();
	ret = calibration_table(cli, task, &table, err);
	if (ret)
		goto out;
	ret = storage_table_make(&rows, &table, &where, needs, err);
	if (ret)
		goto out;
	ret = calibration_solve(cli, task, &rows, &m, err);
	if (ret)
		goto out;
	root = storage_model_json(&m);
	ret = root ? origins_keep(root, task->db, task->campaign, err) : -ENOMEM;
	if (!ret)
		ret = model_file_write(task->output, root, err);
	if (ret)
		goto out;
	ret = calibration_show(cli, &m, root, err);
	if (!ret)
		cli_note(cli, "ask the model: blkcast qpn predict %s", task->output);
out:
	json_decref(root);
	storage_model_release(&m);
	storage_table_release(&rows);
	table_release(&table);
	return ret;
}

static int calibration_write_net(const struct cache_model *m, const char *path, struct err *err)
{
	struct output_file file;
	int ret = output_file_begin(&file, path, 0666, err);

	if (ret)
		return ret;
	cache_model_write(m, file.out);
	return output_file_end(&file, 0, err);
}

static int calibration_of_net(struct cli *cli, const struct calibration *task, struct err *err)
{
	const struct row_filter where = { .conditions = task->where.items, .nr = task->where.nr };
	struct table table = { 0 };
	struct cache_model m;
	int ret = calibration_table(cli, task, &table, err);

	if (!ret)
		ret = calibrate_cache(&m, &table, &where, task->saturated, err);
	table_release(&table);
	if (ret)
		return ret;
	ret = calibration_write_net(&m, task->output, err);
	if (ret)
		return ret;
	ret = cli_show(cli, cache_model_answer(&m, task->output), NULL, err);
	if (!ret)
		cli_note(cli, "the model is the net %s: ask it with blkcast qpn solve",
			 task->output);
	return ret;
}

static int calibration_index(const char *name, const char *const *names)
{
	int i = 0;

	while (names[i] && strcmp(names[i], name) != 0)
		i++;
	return i;
}

/* A file of YAML is a net; any other file is a storage model. */
static bool calibration_is_net(const char *path)
{
	size_t len = strlen(path);

	return (len > 5 && !strcmp(path + len - 5, ".yaml")) ||
	       (len > 4 && !strcmp(path + len - 4, ".yml"));
}

static const char *calibration_bad(const struct calibration *task, const char *rule)
{
	if (task->kind == STORAGE_NR_KINDS)
		return "--model: expected cache, hardware, mixed, multi-vm or variable";
	if (!task->output)
		return "expected --output FILE for the calibrated model";
	if (task->kind != STORAGE_CACHE && calibration_is_net(task->output))
		return "--output: a net in YAML is for --model cache alone: name a .json";
	if (task->saturated < 0)
		return "--saturated: expected a number of clients";
	if (rule && task->rule == STORAGE_NR_RULES)
		return "--weights: expected algorithm-4, algorithm-5, clients, local or parts";
	if (!(task->precision > 0 && task->precision < 1))
		return "--precision: expected a number between 0 and 1";
	if (task->threads > 1024)
		return "--threads: expected 1 to 1024, or 0 for all processors";
	return NULL;
}

int qpn_calibrate(struct cli *cli)
{
	struct calibration task = { .precision = 0.01, .seed = 1 };
	const char *model = "cache", *rule = NULL;
	const struct cli_option options[] = {
		CLI_STRING("db", 0, "FILE", &task.db,
			   "calibrate from the runs of a measurement store (blkcast measure)"),
		CLI_STRING("campaign", 0, "NAME", &task.campaign, "where the store has several"),
		CLI_LIST("set", 0, "NAME=VALUE", &task.settings,
			 "of --db: what the plan sets and is no factor, such as file_set=1g"),
		CLI_STRING("model", 0, "MODEL", &model,
			   "cache (default), hardware, mixed, multi-vm or variable"),
		CLI_STRING("output", 'o', "FILE", &task.output,
			   "the calibrated model; of cache a net where it ends in .yaml"),
		CLI_LIST("where", 0, "COLUMN=VALUE", &task.where, "take only these rows"),
		CLI_DOUBLE("saturated", 0, "CLIENTS", &task.saturated,
			   "service times from runs of as many clients or more (default: the most "
			   "there are)"),
		CLI_STRING("weights", 0, "RULE", &rule,
			   "of VMs: algorithm-4, algorithm-5, clients, local or parts (default: "
			   "the best)"),
		CLI_DOUBLE("precision", 'p', "P", &task.precision,
			   "of every net solved (default 0.01)"),
		CLI_U64("seed", 's', "N", &task.seed, "of the random numbers (default 1)"),
		CLI_U64("threads", 0, "N", &task.threads,
			"the result is the same for any number (default: all processors)"),
		CLI_END,
	};
	struct err err = { 0 };
	const char *bad;
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	task.kind = (enum storage_kind)calibration_index(model, storage_kind_names);
	task.rule = (enum storage_vm_rule)calibration_index(rule ? rule : "", storage_rule_names);
	bad = calibration_bad(&task, rule);
	if (bad)
		return cli_usage(cli, "%s", bad);
	if (cli->argc + (task.db != NULL) != 1)
		return cli_usage(cli, "expected one measurement table or --db, got %d",
				 cli->argc + (task.db != NULL));
	task.table = cli->argc ? cli->argv[0] : NULL;
	ret = calibration_is_net(task.output) ? calibration_of_net(cli, &task, &err)
					      : calibration_of_model(cli, &task, &err);
	return cli_finish(cli, ret, &err, CLI_DONE);
}

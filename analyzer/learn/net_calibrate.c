// SPDX-License-Identifier: Apache-2.0
#include "analyzer/learn/net_calibrate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/progress.h"
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

static void calibration_progress(void *ctx, uint64_t done, uint64_t of)
{
	(void)of;
	progress_update(ctx, done);
}

static int calibration_solve(const struct net_calibration *task, const struct storage_table *rows,
			     struct storage_model *m, struct err *err)
{
	struct progress progress;
	struct mix_options o = { .saturated = task->saturated,
				 .precision = task->precision,
				 .seed = task->seed,
				 .nr_threads = task->nr_threads,
				 .rule = task->rule,
				 .progress = calibration_progress,
				 .ctx = &progress };
	int ret;

	if (task->kind == STORAGE_CACHE)
		return calibrate_cached(m, rows, task->saturated, err);
	if (task->kind == STORAGE_HARDWARE)
		return calibrate_hardware(m, rows, err);
	progress_begin(&progress, "qpn", rows->nr_configs, task->teller->quiet);
	ret = calibrate_mix(m, task->kind, rows, &o, err);
	progress_end(&progress);
	return ret;
}

/* Splits "NAME=VALUE" of each setting. words[] are the copies, which the caller owns. */
static int calibration_settings(const struct word_list *set, struct campaign_setting *settings,
				char **words, struct err *err)
{
	for (size_t i = 0; i < set->nr; i++) {
		char *equals;

		words[i] = strdup(set->items[i]);
		equals = words[i] ? strchr(words[i], '=') : NULL;
		if (!equals)
			return err_set(err, EINVAL, "expected NAME=VALUE, got '%.80s'",
				       set->items[i]);
		*equals = 0;
		settings[i] = (struct campaign_setting){ words[i], equals + 1 };
	}
	return 0;
}

/* Reads the runs of a campaign in place of a table. */
static int calibration_campaign(const struct net_calibration *task, struct table *t,
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
		teller_note(task->teller,
			    "%s: %zu runs are left out: their clients mix reads and writes, think, "
			    "flush or force writes",
			    task->db, nr_left_out);
out:
	for (size_t i = 0; i < WORD_LIST_MAX; i++)
		free(words[i]);
	table_release(&campaign);
	return ret;
}

static int calibration_table(const struct net_calibration *task, struct table *t, struct err *err)
{
	return task->db ? calibration_campaign(task, t, err) : table_read(t, task->table, err);
}

/* Calibrates a model, and writes it. */
static int calibration_of_model(struct net_calibration *task, struct err *err)
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
	ret = calibration_table(task, &table, err);
	if (ret)
		goto out;
	ret = storage_table_make(&rows, &table, &where, needs, err);
	if (ret)
		goto out;
	ret = calibration_solve(task, &rows, &m, err);
	if (ret)
		goto out;
	ret = storage_model_json(&m, &root, err);
	if (ret)
		err_prefix(err, "%s", task->output);
	else
		ret = origins_keep(root, task->db, task->campaign, err);
	if (!ret)
		ret = model_file_write(task->output, root, err);
	if (ret)
		goto out;
	task->answer = storage_model_answer(&m);
	task->is_long = m.kind < STORAGE_MIXED;
	task->root = json_incref(root);
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

static int calibration_of_net(struct net_calibration *task, struct err *err)
{
	const struct row_filter where = { .conditions = task->where.items, .nr = task->where.nr };
	struct table table = { 0 };
	struct cache_model m;
	int ret = calibration_table(task, &table, err);

	if (!ret)
		ret = calibrate_cache(&m, &table, &where, task->saturated, err);
	table_release(&table);
	if (ret)
		return ret;
	ret = calibration_write_net(&m, task->output, err);
	if (ret)
		return ret;
	task->answer = cache_model_answer(&m, task->output);
	return 0;
}

/* A file of YAML is a net; any other file is a storage model. */
bool net_calibration_is_net(const char *path)
{
	size_t len = strlen(path);

	return (len > 5 && !strcmp(path + len - 5, ".yaml")) ||
	       (len > 4 && !strcmp(path + len - 4, ".yml"));
}

int net_calibrate(struct net_calibration *task, struct err *err)
{
	return net_calibration_is_net(task->output) ? calibration_of_net(task, err)
						    : calibration_of_model(task, err);
}

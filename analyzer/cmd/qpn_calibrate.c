// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/cmd/qpn_calibrate.h"
#include "analyzer/cmd/qpn_model.h"
#include "analyzer/answer/grid.h"
#include "analyzer/models/storage/calibrate_cache.h"
#include "base/json.h"
#include "base/output_file.h"

struct options {
	struct word_list where, set;
	const char *model, *output, *rule;
	double saturated;
};

static json_t *qpn_calibrate_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static int print_json(const struct cache_model *m, const char *path)
{
	json_t *out = json_pack(
		"{s:s, s:s, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema",
		"blkcast.calibration/1", "model", "cache", "file", json_text(path), "rows",
		(json_int_t)m->nr_rows, "fitted_rows", (json_int_t)m->nr_fitted,
		"saturated_clients", qpn_calibrate_number(m->saturated), "c0_s",
		qpn_calibrate_number(m->c0_s), "c0_p", qpn_calibrate_number(m->p0), "c1_s_per_byte",
		qpn_calibrate_number(m->c1_s_per_byte), "c1_p", qpn_calibrate_number(m->p1), "sd_s",
		qpn_calibrate_number(m->sd_s), "r2", qpn_calibrate_number(m->r2),
		"mean_relative_error", qpn_calibrate_number(m->mean_error), "max_relative_error",
		qpn_calibrate_number(m->max_error));
	int ret = out ? json_print(out, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : -1;

	putchar('\n');
	json_decref(out);
	return ret;
}

static void qpn_calibrate_term(struct grid *g, const char *name, double value, double p)
{
	grid_cell(g, "%s", name);
	grid_cell(g, "%.6g", value);
	if (isfinite(p))
		grid_cell(g, "%.2g", p);
	else
		grid_cell(g, "-");
}

static int print_table(const struct cache_model *m)
{
	struct grid g;
	int ret;

	grid_init(&g, "term|>value|>p");
	qpn_calibrate_term(&g, "c0 (s)", m->c0_s, m->p0);
	qpn_calibrate_term(&g, "c1 (s/byte)", m->c1_s_per_byte, m->p1);
	qpn_calibrate_term(&g, "sd (s)", m->sd_s, NAN);
	ret = grid_print(&g, stdout);
	grid_release(&g);
	printf("\nservice time from %zu runs of %g clients or more: R2 %.4f\n"
	       "response time over all runs of several clients: error %.2f %% on average, %.2f %% at "
	       "most\n",
	       m->nr_fitted, m->saturated, m->r2, 100 * m->mean_error, 100 * m->max_error);
	return ret;
}

static int write_model(const struct cache_model *m, const char *path, struct err *err)
{
	struct output_file file;
	int ret = output_file_begin(&file, path, 0666, err);

	if (ret)
		return ret;
	cache_model_write(m, file.out);
	return output_file_end(&file, 0, err);
}

static int qpn_calibrate_perform(struct cli *cli, const struct options *o,
				 const struct storage_task *task, struct err *err)
{
	struct row_filter filter = { .conditions = o->where.items, .nr = o->where.nr };
	struct table table = { 0 };
	struct cache_model m;
	int ret = qpn_model_table(cli, task, &table, err);

	if (!ret)
		ret = calibrate_cache(&m, &table, &filter, o->saturated, err);
	table_release(&table);
	if (!ret)
		ret = write_model(&m, o->output, err);
	if (ret)
		return ret;
	if (cli->json ? print_json(&m, o->output) : print_table(&m))
		return err_set(err, ENOMEM, "out of memory");
	cli_note(cli, "the model is the net %s: ask it with blkcast qpn solve", o->output);
	return 0;
}

static int name_index(const char *name, const char *const *names)
{
	int i = 0;

	while (names[i] && strcmp(names[i], name) != 0)
		i++;
	return i;
}

/* A file of YAML is a net; any other file is a storage model. */
static bool is_net(const char *path)
{
	size_t len = strlen(path);

	return (len > 5 && !strcmp(path + len - 5, ".yaml")) ||
	       (len > 4 && !strcmp(path + len - 4, ".yml"));
}

static const char *bad_options(const struct options *o, const struct storage_task *task)
{
	if (task->kind == STORAGE_NR_KINDS)
		return "--model: expected cache, hardware, mixed, multi-vm or variable";
	if (!o->output)
		return "expected --output FILE for the calibrated model";
	if (task->kind != STORAGE_CACHE && is_net(o->output))
		return "--output: a net in YAML is for --model cache alone: name a .json";
	if (o->saturated < 0)
		return "--saturated: expected a number of clients";
	if (o->rule && task->rule == STORAGE_NR_RULES)
		return "--weights: expected algorithm-4, algorithm-5, clients, local or parts";
	if (!(task->precision > 0 && task->precision < 1))
		return "--precision: expected a number between 0 and 1";
	if (task->threads > 1024)
		return "--threads: expected 1 to 1024, or 0 for all processors";
	return NULL;
}

int qpn_calibrate(struct cli *cli)
{
	struct options o = { .model = "cache" };
	struct storage_task task = { .precision = 0.01, .seed = 1 };
	const struct cli_option options[] = {
		CLI_STRING("db", 0, "FILE", &task.db,
			   "calibrate from the runs of a measurement store (blkcast measure)"),
		CLI_STRING("campaign", 0, "NAME", &task.campaign, "where the store has several"),
		CLI_LIST("set", 0, "NAME=VALUE", &o.set,
			 "of --db: what the plan sets and is no factor, such as file_set=1g"),
		CLI_STRING("model", 0, "MODEL", &o.model,
			   "cache (default), hardware, mixed, multi-vm or variable"),
		CLI_STRING("output", 'o', "FILE", &o.output,
			   "the calibrated model; of cache a net where it ends in .yaml"),
		CLI_LIST("where", 0, "COLUMN=VALUE", &o.where, "take only these rows"),
		CLI_DOUBLE("saturated", 0, "CLIENTS", &o.saturated,
			   "service times from runs of as many clients or more (default: the most "
			   "there are)"),
		CLI_STRING(
			"weights", 0, "RULE", &o.rule,
			"of VMs: algorithm-4, algorithm-5, clients, local or parts (default: the best)"),
		CLI_DOUBLE("precision", 'p', "P", &task.precision,
			   "of every net solved (default 0.01)"),
		CLI_U64("seed", 's', "N", &task.seed, "of the random numbers (default 1)"),
		CLI_U64("threads", 0, "N", &task.threads,
			"the result is the same for any number (default: all processors)"),
		CLI_END,
	};
	struct err err = { 0 };
	const char *bad;

	if (!cli_parse(cli, options))
		return cli->status;
	task.kind = (enum storage_kind)name_index(o.model, storage_kind_names);
	task.rule = (enum storage_vm_rule)name_index(o.rule ? o.rule : "", storage_rule_names);
	bad = bad_options(&o, &task);
	if (bad)
		return cli_usage(cli, "%s", bad);
	if (cli->argc + (task.db != NULL) != 1)
		return cli_usage(cli, "expected one measurement table or --db, got %d",
				 cli->argc + (task.db != NULL));
	task.table = cli->argc ? cli->argv[0] : NULL;
	task.settings = &o.set;
	if (is_net(o.output)) {
		qpn_calibrate_perform(cli, &o, &task, &err);
		return err.code ? cli_fail(cli, &err) : CLI_DONE;
	}
	task.output = o.output;
	task.saturated = o.saturated;
	task.where = (struct row_filter){ .conditions = o.where.items, .nr = o.where.nr };
	return qpn_model_calibrate(cli, &task);
}

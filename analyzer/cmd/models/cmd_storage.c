// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/progress.h"
#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/measure/results_origin.h"
#include "analyzer/measure/results_table.h"
#include "analyzer/models/storage/device/device_answer.h"
#include "analyzer/models/storage/device/device_calibrate.h"
#include "analyzer/whatif/predict/origins.h"

#define REQUESTS_MAX 100000000u

static int cmd_storage_show(struct cli *cli)
{
	const struct cli_option options[] = { CLI_END };
	struct device_model m;
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (cli->argc != 1)
		return cli_usage(cli, "expected one file of blkcast storage calibrate, got %d",
				 cli->argc);
	ret = device_model_load(&m, cli->argv[0], &err);
	if (!ret)
		ret = cli_show(cli, device_model_answer(&m), NULL, &err);
	return cli_finish(cli, ret, &err, CLI_DONE);
}

/* ---- calibrate ---- */

struct storage_job {
	struct cli *cli;
	const char *db, *output, *campaign, *target, *report;
	struct device_task task;
	uint64_t threads;
	struct progress progress;
	struct table table;
	struct device_table rows;
	struct device_held_out *held;
	struct device_model model;
};

static void storage_on_progress(void *ctx, double ratio)
{
	progress_update(ctx, (uint64_t)(ratio * 1000));
}

static int storage_calibrate_show(const struct storage_job *j, struct err *err)
{
	struct answer *a = device_model_answer(&j->model);
	const struct device_error *r = &j->model.errors[DEVICE_READ][DEVICE_MEAN];
	const struct device_error *w = &j->model.errors[DEVICE_WRITE][DEVICE_MEAN];
	const struct device_error *e = r->nr ? r : w;

	if (j->report)
		answer_fail(a, origins_campaign(j->cli->teller.maker.origins, j->db, j->campaign,
						err));
	/* A person gets only the means. */
	device_answer_held_out(a, &j->rows, j->held, j->cli->json);
	answer_fact_words(a, "file", "written to", j->output);
	answer_conclude(
		a,
		"The device gives back mean response times of %ss that it was not fitted to "
		"within %.1f %% on average.",
		r->nr ? "read" : "write", 100 * e->mean_ratio);
	return cli_show(j->cli, a, j->report, err);
}

static int storage_calibrate_read(struct storage_job *j, struct err *err)
{
	char prefix[128] = "";
	int ret = results_table(&j->table, j->db, j->campaign, NULL, NULL, NULL, err);

	if (ret)
		return ret;
	if (j->target)
		snprintf(prefix, sizeof(prefix), "%.100s.", j->target);
	ret = device_table_make(&j->rows, &j->table, prefix, err);
	if (ret)
		return ret;
	j->held = calloc(j->rows.nr + 1, sizeof(*j->held));
	return j->held ? 0 : -ENOMEM;
}

/* Gives the model the words about the device and file system that were measured. */
static int storage_calibrate_origin(struct storage_job *j, struct err *err)
{
	struct buf words;
	int ret;

	buf_init(&words);
	ret = results_origin(j->db, j->campaign, &words, err);
	if (!ret)
		snprintf(j->model.origin, sizeof(j->model.origin), "%s", (const char *)words.data);
	buf_release(&words);
	return ret;
}

static int storage_calibrate_work(struct storage_job *j, struct err *err)
{
	int ret = storage_calibrate_read(j, err);

	if (ret)
		return ret;
	progress_begin(&j->progress, "calibrating", 1000, j->cli->teller.quiet);
	ret = device_calibrate(&j->model, &j->rows, &j->task, j->held, err);
	progress_end(&j->progress);
	if (ret) {
		err_prefix(err, "%s", j->db);
		return ret;
	}
	snprintf(j->model.campaign, sizeof(j->model.campaign), "%s",
		 j->campaign ? j->campaign : "");
	ret = storage_calibrate_origin(j, err);
	if (ret)
		return ret;
	ret = device_model_save(&j->model, j->output, err);
	return ret ? ret : storage_calibrate_show(j, err);
}

static int cmd_storage_calibrate(struct cli *cli)
{
	struct storage_job j = { .cli = cli, .task = { .seed = 1 } };
	const struct cli_option options[] = {
		CLI_STRING("db", 0, "FILE", &j.db, "the measurement store (blkcast measure)"),
		CLI_STRING("output", 'o', "FILE", &j.output, "the device that is written"),
		CLI_STRING("campaign", 0, "NAME", &j.campaign, "where the store has several"),
		CLI_STRING("target", 0, "NAME", &j.target, "where the campaign had several"),
		CLI_U64("requests", 0, "N", &j.task.nr_requests,
			"simulated per configuration (default 2000)"),
		CLI_U64("seed", 's', "N", &j.task.seed, "of the random numbers (default 1)"),
		CLI_U64("threads", 0, "N", &j.threads,
			"the result is the same for any number (default: all processors)"),
		CLI_STRING("report", 0, "FILE", &j.report, "an HTML page"),
		CLI_END,
	};
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (cli->argc || !j.db || !j.output)
		return cli_usage(cli, "expected --db FILE and --output FILE");
	if (j.threads > 1024)
		return cli_usage(cli, "--threads: expected 1 to 1024, or 0 for all processors");
	if (j.task.nr_requests > REQUESTS_MAX || (j.task.nr_requests && j.task.nr_requests < 100))
		return cli_usage(cli, "--requests: expected 100 to %u", REQUESTS_MAX);
	j.task.nr_threads = (unsigned int)j.threads;
	j.task.progress = storage_on_progress;
	j.task.ctx = &j.progress;
	ret = storage_calibrate_work(&j, &err);
	table_release(&j.table);
	device_table_release(&j.rows);
	free(j.held);
	return cli_finish(cli, ret, &err, CLI_DONE);
}

/* ---- solve ---- */

struct storage_ask {
	struct cli *cli;
	uint64_t clients, depth, read_size, write_size, burst, flush_every, requests, seed;
	double rate_per_s, think_s, read_percent;
	bool sequential, durable, random_think;
};

static int storage_solve_work(const struct storage_ask *q, struct err *err)
{
	struct device_load l = { .clients = (unsigned int)q->clients,
				 .depth = (unsigned int)q->depth,
				 .rate_per_s = q->rate_per_s,
				 .think_s = q->think_s,
				 .think_random = q->random_think,
				 .burst = (unsigned int)q->burst,
				 .read_ratio = q->read_percent / 100,
				 .bytes = { (double)q->read_size, (double)q->write_size },
				 .sequential = q->sequential,
				 .flush_every = (unsigned int)q->flush_every,
				 .durable = q->durable };
	struct device_model m;
	struct device_times times;
	int ret = device_model_load(&m, q->cli->argv[0], err);

	if (ret)
		return ret;
	if (m.nr_configurations && device_load_concurrency(&l) > m.domain.concurrency)
		cli_note(q->cli,
			 "more requests under way than the campaign measured (%g): "
			 "extrapolated",
			 m.domain.concurrency);
	device_load_init(&l);
	ret = device_load_run(&l, &m, q->requests, q->seed, &times);
	if (!ret)
		ret = cli_show(q->cli, device_times_answer(&times), NULL, err);
	device_times_release(&times);
	return ret;
}

static const char *storage_solve_bad(const struct storage_ask *q)
{
	if (q->clients < 1 || q->clients > DEVICE_CLIENTS_MAX)
		return "--clients: expected 1 to 65536";
	if (q->depth < 1 || q->depth > 4096)
		return "--depth: expected 1 to 4096";
	if (!(q->read_percent >= 0 && q->read_percent <= 100))
		return "--reads: expected a percentage, 0 to 100";
	if (q->read_size < 1 || q->write_size < 1 || q->read_size > UINT32_MAX / 2 ||
	    q->write_size > UINT32_MAX / 2)
		return "--size: expected 1 byte to 2 GiB";
	if (q->requests < 100 || q->requests > REQUESTS_MAX)
		return "--requests: expected 100 to 100000000";
	if (!(q->rate_per_s >= 0) || !(q->think_s >= 0) || q->burst > UINT32_MAX / 2 ||
	    q->flush_every > UINT32_MAX / 2)
		return "--rate, --think, --burst, --flush-every: expected numbers of 0 or more";
	return NULL;
}

static int cmd_storage_solve(struct cli *cli)
{
	struct storage_ask q = { .cli = cli,
				 .clients = 1,
				 .depth = 1,
				 .burst = 1,
				 .requests = 200000,
				 .seed = 1,
				 .read_percent = 100 };
	uint64_t size = 4096;
	const struct cli_option options[] = {
		CLI_U64("clients", 0, "N", &q.clients, "that keep requests under way (default 1)"),
		CLI_U64("depth", 0, "N", &q.depth, "requests under way of each (default 1)"),
		CLI_DOUBLE("rate", 0, "PER_S", &q.rate_per_s,
			   "or Poisson arrivals, so many per second"),
		CLI_SIZE("size", 0, "SIZE", &size, "of requests (default 4k)"),
		CLI_SIZE("read-size", 0, "SIZE", &q.read_size, "of reads, where it differs"),
		CLI_SIZE("write-size", 0, "SIZE", &q.write_size, "of writes, where it differs"),
		CLI_DOUBLE("reads", 0, "PERCENT", &q.read_percent, "of requests (default 100)"),
		CLI_FLAG("sequential", 0, &q.sequential, "each client has a run of its own"),
		CLI_DURATION("think", 0, "TIME", &q.think_s, "of a client after each burst"),
		CLI_FLAG("exponential", 0, &q.random_think, "times of thinking are exponential"),
		CLI_U64("burst", 0, "N", &q.burst, "requests between two (default 1)"),
		CLI_U64("flush-every", 0, "N", &q.flush_every,
			"writes of a client (default never)"),
		CLI_FLAG("durable", 0, &q.durable, "every write is forced to the medium"),
		CLI_U64("requests", 0, "N", &q.requests, "simulated (default 200000)"),
		CLI_U64("seed", 's', "N", &q.seed, "of the random numbers (default 1)"),
		CLI_END,
	};
	struct err err = { 0 };
	const char *bad;
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (cli->argc != 1)
		return cli_usage(cli, "expected one file of blkcast storage calibrate, got %d",
				 cli->argc);
	q.read_size = q.read_size ? q.read_size : size;
	q.write_size = q.write_size ? q.write_size : size;
	bad = storage_solve_bad(&q);
	if (bad)
		return cli_usage(cli, "%s", bad);
	ret = storage_solve_work(&q, &err);
	return cli_finish(cli, ret, &err, CLI_DONE);
}

static int cmd_storage_run(struct cli *cli)
{
	static const struct cli_verb verbs[] = {
		{ "calibrate", cmd_storage_calibrate },
		{ "show", cmd_storage_show },
		{ "solve", cmd_storage_solve },
		{ NULL, NULL },
	};

	return cli_run_verb(cli, verbs);
}

const struct command command_storage = {
	.name = "storage",
	.summary = "a storage as a simulated device, calibrated from a campaign",
	.usage = "calibrate --db FILE -o DEVICE.json [--campaign NAME] [--target NAME]\n"
		 "show DEVICE.json\n"
		 "solve DEVICE.json [--clients N] [--depth N] [--size SIZE] [--reads PERCENT]...",
	.details =
		"A device has servers, service times by direction, size and sequence, limits of "
		"operations\n"
		"and bytes per second, a write-back cache, and the cost of flushes and forced "
		"writes.\n"
		"\n"
		"calibrate finds them from a campaign (docs/examples/plans/storage.yaml) by "
		"simulation, and\n"
		"tells how far configurations were off that were held out. show prints a device. "
		"solve\n"
		"asks it for one synthetic load. blkcast study migrate --storage simulates the "
		"stored\n"
		"requests of an application on it. A device that is written by hand may leave "
		"out what it\n"
		"does not have; formats/model.md describes the file.",
	.example = "blkcast measure docs/examples/plans/storage.yaml --db new.sqlite\n"
		   "blkcast storage calibrate --db new.sqlite -o new.json\n"
		   "blkcast storage solve new.json --clients 4 --depth 8 --size 16k --reads 70\n"
		   "blkcast study migrate trace --storage new.json",
	.run = cmd_storage_run,
	.rank_verbs = " calibrate solve ",
};

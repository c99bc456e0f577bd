// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/shared_options.h"
#include "analyzer/learn/device_learn.h"
#include "analyzer/models/storage/device/device_answer.h"
#include "analyzer/whatif/predict/origins.h"

#define DEVICE_OPERAND CLI_OPERANDS(1, 1, "one file of blkcast storage calibrate")

static int cmd_storage_show(struct cli *cli)
{
	const struct cli_option options[] = { DEVICE_OPERAND, CLI_END };
	struct device_model m;
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	ret = device_model_load(&m, cli->argv[0], &err);
	if (!ret)
		ret = cli_show(cli, device_model_answer(&m), NULL, &err);
	return cli_finish(cli, ret, &err, CLI_DONE);
}

static int cmd_storage_calibrate(struct cli *cli)
{
	struct device_learn j = { .teller = &cli->teller };
	const char *report = NULL;
	const struct cli_option options[] = {
		CLI_STRING("db", 0, "FILE", &j.db, "the measurement store (blkcast measure)",
			   .required = true, .is_input = true),
		CLI_STRING("output", 'o', "FILE", &j.output, "the device that is written",
			   .required = true, .is_output = true),
		CAMPAIGN_OPTION(&j.campaign),
		CLI_STRING("target", 0, "NAME", &j.target, "where the campaign had several"),
		CLI_U64("requests", 0, "N", &j.task.nr_requests, "simulated per configuration",
			.standard = "2000", .from = "100", .to = "100000000"),
		SEED_OPTION(&j.task.seed),
		THREADS_OPTION(&j.task.nr_threads),
		REPORT_OPTION(&report, "an HTML page"),
		CLI_OPERANDS(0, 0, "no operand"),
		CLI_END,
	};
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	j.all_points = cli->json;
	ret = device_learn(&j, &err);
	if (!ret && report)
		answer_fail(j.answer,
			    origins_campaign(cli->teller.maker.origins, j.db, j.campaign, &err));
	if (!ret)
		ret = cli_show(cli, j.answer, report, &err);
	device_learn_release(&j);
	return cli_finish(cli, ret, &err, CLI_DONE);
}

static int storage_solve_work(const struct cli *cli, struct device_load *l, uint64_t requests,
			      uint64_t seed, struct err *err)
{
	struct device_model m;
	struct device_times times;
	int ret = device_model_load(&m, cli->argv[0], err);

	if (ret)
		return ret;
	if (m.nr_configurations && device_load_concurrency(l) > m.domain.concurrency)
		cli_note(cli,
			 "more requests under way than the campaign measured (%g): "
			 "extrapolated",
			 m.domain.concurrency);
	device_load_init(l);
	ret = device_load_run(l, &m, requests, seed, &times);
	if (!ret)
		ret = cli_show(cli, device_times_answer(&times), NULL, err);
	device_times_release(&times);
	return ret;
}

static int cmd_storage_solve(struct cli *cli)
{
	struct device_load l = { .rate_per_s = 0 };
	uint64_t size, read_size = 0, write_size = 0, requests, seed;
	double read_percent;
	const struct cli_option options[] = {
		CLI_UINT("clients", 0, "N", &l.clients, "that keep requests under way",
			 .standard = "1", .from = "1", .to = "65536"),
		CLI_UINT("depth", 0, "N", &l.depth, "requests under way of each", .standard = "1",
			 .from = "1", .to = "4096"),
		CLI_DOUBLE("rate", 0, "PER_S", &l.rate_per_s,
			   "or Poisson arrivals, so many per second", .from = "0"),
		CLI_SIZE("size", 0, "SIZE", &size, "of requests", .standard = "4k", .from = "1",
			 .to = "2147483647"),
		CLI_SIZE("read-size", 0, "SIZE", &read_size, "of reads, where it differs",
			 .from = "1", .to = "2147483647"),
		CLI_SIZE("write-size", 0, "SIZE", &write_size, "of writes, where it differs",
			 .from = "1", .to = "2147483647"),
		CLI_DOUBLE("reads", 0, "PERCENT", &read_percent, "of requests", .standard = "100",
			   .from = "0", .to = "100"),
		CLI_FLAG("sequential", 0, &l.sequential, "each client has a run of its own"),
		CLI_DURATION("think", 0, "TIME", &l.think_s, "of a client after each burst"),
		CLI_FLAG("exponential", 0, &l.think_random, "times of thinking are exponential"),
		CLI_UINT("burst", 0, "N", &l.burst, "requests between two", .standard = "1",
			 .to = "2147483647"),
		CLI_UINT("flush-every", 0, "N", &l.flush_every,
			 "writes of a client (default never)", .to = "2147483647"),
		CLI_FLAG("durable", 0, &l.durable, "every write is forced to the medium"),
		CLI_U64("requests", 0, "N", &requests, "simulated", .standard = "200000",
			.from = "100", .to = "100000000"),
		SEED_OPTION(&seed),
		DEVICE_OPERAND,
		CLI_END,
	};
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	l.bytes[0] = (double)(read_size ? read_size : size);
	l.bytes[1] = (double)(write_size ? write_size : size);
	l.read_ratio = read_percent / 100;
	ret = storage_solve_work(cli, &l, requests, seed, &err);
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

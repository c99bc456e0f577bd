// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "analyzer/characterize/characterize.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/selection_options.h"
#include "analyzer/cmd/cli/show.h"

static int cmd_characterize_run(struct cli *cli)
{
	struct selection sel = { 0 };
	struct characterize q = { .teller = &cli->teller, .json = cli->json, .out = stdout };
	double window_s = 0, phi;
	bool together = false, who = false;
	const struct cli_option options[] = {
		SELECTION_OPTIONS(&sel),
		CLI_DURATION("window", 'w', "TIME", &window_s,
			     "a profile per period of this length; default: one for all",
			     .from = "1ms", .to = "11574d"),
		CLI_DOUBLE("phi", 0, "PER_S", &phi, "samples of clients per second",
			   .standard = "1", .above = "0", .to = "1000"),
		CLI_UINT("subset", 0, "N", &q.config.window.subset_requests,
			 "requests per subset of the access pattern, default 4096", .to = "32768"),
		CLI_UINT("samples", 0, "N", &q.config.window.mrc_samples,
			 "of the miss-ratio curve; default: 65536, or what memory allows",
			 .from = "64", .to = "65536"),
		CLI_FLAG("idle", 0, &q.config.idle, "devices without a request too"),
		CLI_FLAG("together", 0, &together,
			 "only the sum over all hosts and devices, second by second",
			 .without = "window"),
		CLI_FLAG("who", 0, &who,
			 "only the processes and control groups that made the requests",
			 .without = "together window"),
		CLI_END,
	};
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options) || !selection_take(cli, &sel))
		return cli->status;
	q.json = cli->json;
	q.form = who ? CHARACTERIZE_WHO : together ? CHARACTERIZE_TOGETHER : CHARACTERIZE_PROFILES;
	q.config.window_ns = (uint64_t)llround(window_s * 1e9);
	q.config.window.client_interval_ns = (uint64_t)llround(1e9 / phi);
	/* The lines of periods show only counts and times (profile_text_line()). */
	q.config.window.cheap = together || who || (q.config.window_ns && !cli->json);
	ret = characterize(&q, &sel, &err);
	ret = q.is_empty ? selection_end(cli, &sel) : cli_finish(cli, ret, &err, CLI_DONE);
	selection_release(&sel);
	return ret;
}

const struct command command_characterize = {
	.name = "characterize",
	.has_one_heap = true,
	.rank_verbs = "",
	.summary = "the workload profile of a trace or a part of it",
	.usage = "[SELECTION] (--store DIR | FILE...)",
	.example = "blkcast characterize --store traces --device loop0 --window 1s",
	.details =
		"One profile per host and device; with --json an array of blkcast.profile/1. A "
		"request belongs\nto the period in which it completed. Percentiles with fewer "
		"than ten requests beyond them\nare left blank. Of several devices the sum "
		"follows: its P95, P99 and maximum per second,\nwho made the maximum, and what "
		"adding up each one's own maximum would give;\nwith --together that alone, as JSON "
		"blkcast.together/1. --who prints the twenty\nprocesses and control groups with "
		"most requests, and their shares of all requests, bytes\nand response times, as "
		"JSON blkcast.issuers/1.",
	.run = cmd_characterize_run,
};

// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/characterize/profile_text.h"
#include "analyzer/characterize/replay.h"
#include "analyzer/cli.h"
#include "analyzer/cmd/commands.h"
#include "analyzer/progress.h"
#include "analyzer/selection.h"

struct output {
	const struct cli *cli;
	bool windows; /* one line per period */
	uint64_t nr;  /* profiles printed */
	struct progress progress;
};

static int print_json(struct output *o, const struct profile *p)
{
	struct buf b;
	int status;

	buf_init(&b);
	status = profile_to_json(p, o->windows ? PROFILE_JSON_LINE : PROFILE_JSON_PRETTY, &b);
	if (status == 0) {
		fputs(o->nr ? ",\n" : "[\n", stdout);
		fwrite(b.data, 1, b.len, stdout);
	}
	buf_release(&b);
	return status;
}

static int print_profile(void *ctx, struct profile *p)
{
	struct output *o = ctx;
	int status = 0;

	if (o->nr == 0)
		progress_end(&o->progress);
	if (o->cli->json) {
		status = print_json(o, p);
	} else if (o->windows) {
		if (o->nr == 0)
			profile_text_line_head(stdout);
		profile_text_line(p, o->cli->utc, stdout);
	} else {
		if (o->nr)
			fputs("\n", stdout);
		status = profile_text_print(p, o->cli->utc, stdout);
	}
	o->nr++;
	return status == 0 && ferror(stdout) ? -EIO : status;
}

static void show_progress(void *ctx, uint64_t done, uint64_t total)
{
	struct output *o = ctx;

	o->progress.total = total;
	progress_update(&o->progress, done);
}

static int characterize(struct cli *cli, struct selection *sel, struct replay_config *config)
{
	struct output o = { .cli = cli, .windows = config->window_ns != 0 };
	struct scan *scan = NULL;
	struct err err = { 0 };
	int status;

	config->profile = print_profile;
	config->progress = show_progress;
	config->ctx = &o;
	progress_begin(&o.progress, "characterize", 0, cli->quiet);
	status = selection_open(sel, cli, &scan, NULL, &err);
	if (status == 0)
		status = replay(scan, config, &err);
	progress_end(&o.progress);
	if (status == 0 && cli->json)
		fputs(o.nr ? "\n]\n" : "[]\n", stdout);
	if (status == 0 && o.nr == 0)
		cli_note(cli, "no request is in the selection");
	scan_close(scan);
	if (status == 0)
		return CLI_DONE;
	if (!err.line[0])
		err_set(&err, -status, "%s", strerror(-status));
	err.code = -status;
	return cli_fail(cli, &err);
}

static int run(struct cli *cli)
{
	struct selection sel = { 0 };
	struct replay_config config = { 0 };
	double window_s = 0, phi = 1;
	uint64_t subset = 0, samples = 0;
	const struct cli_option options[] = {
		SELECTION_OPTIONS(&sel),
		CLI_DURATION("window", 'w', "TIME", &window_s,
			     "a profile per period of this length; default: one for all"),
		CLI_DOUBLE("phi", 0, "PER_S", &phi, "samples of clients per second, default 1"),
		CLI_U64("subset", 0, "N", &subset,
			"requests per subset of the access pattern, default 4096"),
		CLI_U64("samples", 0, "N", &samples, "of the miss-ratio curve, default 8192"),
		CLI_FLAG("idle", 0, &config.idle, "devices without a request too"),
		CLI_END,
	};
	int status;

	if (!cli_parse(cli, options))
		return cli->status;
	if (!(phi > 0 && phi <= 1000))
		return cli_usage(cli, "--phi: expected above 0, at most 1000");
	if (window_s != 0 && !(window_s >= 1e-3 && window_s <= 1e9))
		return cli_usage(cli, "--window: expected 1ms or more");
	if (subset > UINT32_MAX || samples > UINT32_MAX)
		return cli_usage(cli, "--subset, --samples: expected below 2^32");
	config.window_ns = (uint64_t)llround(window_s * 1e9);
	config.window.client_interval_ns = (uint64_t)llround(1e9 / phi);
	config.window.subset_requests = (uint32_t)subset;
	config.window.mrc_samples = (uint32_t)samples;
	status = characterize(cli, &sel, &config);
	selection_release(&sel);
	return status;
}

const struct command command_characterize = {
	.name = "characterize",
	.summary = "the workload profile of a trace or a part of it",
	.usage = "[SELECTION] (--store DIR | FILE...)",
	.example = "blkcast characterize --store traces --device loop0 --window 1s",
	.details = "One profile per host and device; with --json an array of blkcast.profile/1. A "
		   "request belongs\nto the period in which it completed. Percentiles with fewer "
		   "than ten requests beyond them\nare left blank.",
	.run = run,
};

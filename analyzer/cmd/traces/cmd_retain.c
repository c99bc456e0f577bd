/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/retain_options.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/keep/retain_text.h"
#include "analyzer/store/damage.h"
#include "base/data/json.h"
#include "base/system/clock.h"
#include "base/text/shown.h"

static int print_json(const char *dir, const struct retain_counts *c)
{
	json_t *all = json_pack("{s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:I}", "schema",
				"blkcast.retain/1", "store", json_text(dir), "segments",
				(json_int_t)c->nr_segments, "requests", (json_int_t)c->nr_requests,
				"segment_bytes", (json_int_t)c->segment_bytes, "summary_bytes",
				(json_int_t)c->summary_bytes, "dropped_requests",
				(json_int_t)c->nr_dropped, "left_out_segments",
				(json_int_t)c->nr_left_out);

	if (all && !store_is_folder(dir))
		json_object_set_new(all, "compaction", retain_compaction_json(&c->compaction));
	return cli_show_json(all);
}

static void print_text(const char *dir, const struct retain_counts *c)
{
	char line[RETAIN_LINE_BYTES];

	retain_counts_text(c, line);
	shown_print(dir, stdout);
	printf(": %s\n", line);
	if (store_is_folder(dir))
		return;
	retain_compaction_text(&c->compaction, line);
	shown_print(dir, stdout);
	printf(": %s\n", line);
}

/* Opens the store as serve does, but never makes a new one. */
static int open_store(struct store **out, const char *dir, struct err *err)
{
	char path[4096];

	if (!store_is_folder(dir))
		return store_open(out, dir, true, err);
	if (snprintf(path, sizeof(path), "%s/segments", dir) >= (int)sizeof(path))
		return err_set(err, ENAMETOOLONG, "%.80s...: too long a path", dir);
	if (access(path, F_OK) < 0)
		return err_set(err, ENOENT, "%s: expected a store: it has no folder `segments`",
			       dir);
	if (access(path, W_OK) < 0)
		return err_set(err, errno, "%s: %s", dir, strerror(errno));
	return store_open(out, dir, true, err);
}

static int cmd_retain_run(struct cli *cli)
{
	struct retain_options chosen = { 0 };
	struct retain_counts counts = { 0 };
	struct retain_limits limits;
	const char *dir = NULL;
	const struct cli_option options[] = {
		CLI_STRING("store", 's', "DIR", &dir, "the folder of the store to go over once",
			   .required = true),
		RETAIN_OPTIONS(&chosen),
		CLI_OPERANDS(0, 0, "no operand"),
		CLI_END,
	};
	struct store *store = NULL;
	struct err err = { 0 };
	bool is_wanted = true;
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (!retain_options_take(cli, &chosen, &limits))
		return cli->status;
	if (store_is_folder(dir) && retain_is_wanted(dir, &limits, &is_wanted, &err) < 0)
		return cli_fail(cli, &err);
	if (!is_wanted)
		return cli_usage(cli, "expected a limit: --retain-requests TIME, ...");
	ret = open_store(&store, dir, &err);
	if (ret == 0)
		ret = retain_pass(store, &limits, clock_real_ns(), NULL, &counts, &err);
	if (ret == 0)
		ret = damage_note_store(store, NULL, 0, &err);
	store_close(store);
	if (ret < 0)
		return cli_fail(cli, &err);
	if (cli->json)
		ret = print_json(dir, &counts);
	else
		print_text(dir, &counts);
	if (limits.requests_ns && !counts.nr_segments && !counts.nr_left_out)
		cli_note(cli, "nothing is due: requests go by whole windows (--retain-window, 1 h "
			      "by default), once all of a window is older than --retain-requests");
	/* the limits do not hold for these segments */
	return cli_finish(cli, ret, &err,
			  counts.nr_left_out || counts.compaction.nr_left_out ? CLI_FAILED
									      : CLI_DONE);
}

const struct command command_retain = {
	.name = "retain",
	.has_one_heap = true,
	.summary = "replace old requests of a store by merged profiles, once",
	.usage = "--store DIR [--retain-requests TIME] [--retain-requests-size SIZE] ...",
	.example = "blkcast retain --store traces --retain-requests 30d",
	.details =
		"What `blkcast serve` does all the time with the same options, for a store that no "
		"serve looks after,\nor beside one. Requests that are older than the "
		"limit or than a policy of the store says (`blkcast policy`), or the oldest beyond the size, are replaced by\none profile per device and "
		"window; counts, sizes and histograms of response times stay exact.\nBeyond "
		"the second limit these profiles go as well; how many requests that were, and of "
		"when,\nstays. What is removed does not come back.",
	.run = cmd_retain_run,
};

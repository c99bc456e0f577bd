// SPDX-License-Identifier: Apache-2.0
/* What a store or a trace has: ls lists it, dump prints its requests, check verifies it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/shared_options.h"
#include "analyzer/exchange/request_csv.h"
#include "analyzer/exchange/request_text.h"
#include "analyzer/exchange/segment_columns.h"
#include "analyzer/store/check/check_text.h"
#include "analyzer/store/damage.h"
#include "analyzer/store/scan/listing.h"
#include "base/text/shown.h"

static int cmd_ls_json(const struct listing *l, const struct inventory *v, struct store *store,
		       struct err *err)
{
	json_t *json = NULL;
	int ret = listing_json(&json, l, v, store, err);

	return ret ? ret : cli_show_json(json);
}

static int cmd_ls_print(const struct cli *cli, const struct listing *l, const struct inventory *v,
			struct store *store, struct err *err)
{
	struct listing_remarks say;
	int ret = listing_print(l, v, store, &say, stdout, err);

	if (say.nr_hidden)
		cli_note(cli, "%zu idle device%s hidden; --all shows %s", say.nr_hidden,
			 say.nr_hidden == 1 ? "" : "s", say.nr_hidden == 1 ? "it" : "them");
	if (say.has_counted)
		cli_note(cli, "of segments with only counters blkcast characterize has what "
			      "they tell");
	if (say.has_kept_back)
		cli_note(cli, "requests are kept back on purpose, by a policy or --hindsight; "
			      "profiles count them");
	if (v->nr_hosts == 0)
		cli_note(cli, "%s: no segments", store_dir(store));
	else
		cli_note(cli,
			 "the segments were checked when the store took them; blkcast check "
			 "--store %s reads them again",
			 store_dir(store));
	return ret;
}

static int cmd_ls_run(struct cli *cli)
{
	struct listing l = { .all = false };
	const char *dir = NULL, *missing = NULL;
	const struct cli_option options[] = {
		CLI_STRING("store", 's', "DIR", &dir, "the store to list"),
		CLI_LIST("host", 0, "HOST,...", &l.hosts, "only these hosts"),
		CLI_FLAG("all", 'a', &l.all, "devices without requests too"),
		CLI_END,
	};
	struct store *store = NULL;
	struct inventory v;
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (!dir && cli->argc == 1)
		dir = cli->argv[0];
	else if (!dir || cli->argc)
		return cli_usage(cli, "--store: expected the folder of a store");
	l.utc = cli->teller.utc;
	inventory_init(&v);
	ret = store_open(&store, dir, false, &err);
	if (ret < 0)
		goto out;
	ret = inventory_collect(&v, store, &err);
	if (ret < 0)
		goto out;
	ret = damage_note_store(store, l.hosts.items, l.hosts.nr, &err);
	if (ret < 0)
		goto out;
	ret = listing_check_hosts(&l, &v, &missing, &err);
	if (ret) {
		err_prefix(&err, "--host %s", missing);
		goto out;
	}
	ret = cli->json ? cmd_ls_json(&l, &v, store, &err) : cmd_ls_print(cli, &l, &v, store, &err);
out:
	inventory_release(&v);
	store_close(store);
	return cli_finish(cli, ret, &err, CLI_DONE);
}

const struct command command_ls = {
	.name = "ls",
	.summary = "hosts, devices, time ranges, request counts, losses",
	.usage = "--store DIR [--host HOST,...]",
	.example = "blkcast ls --store traces",
	.run = cmd_ls_run,
};

enum dump_format { DUMP_TEXT, DUMP_CSV, DUMP_JSONL, NR_DUMP_FORMATS };
static const char *const format_names[] = { "text", "csv", "jsonl", NULL };

static void print_head(enum dump_format format)
{
	if (format == DUMP_TEXT)
		request_text_head(stdout);
	else if (format == DUMP_CSV)
		request_csv_head(stdout);
}

static int dump_requests(struct cli *cli, struct scan *scan, enum dump_format format,
			 uint64_t limit, bool *is_empty)
{
	struct scan_request *batch = calloc(SCAN_BATCH, sizeof(*batch));
	uint64_t limited = limit ? limit : UINT64_MAX, left = limited;
	int64_t nr = 0;

	if (!batch)
		return cli_fail(cli, &(struct err){ .code = ENOMEM, .line = "out of memory" });
	print_head(format);
	while (left && !ferror(stdout) &&
	       (nr = scan_next(scan, batch, left < SCAN_BATCH ? left : SCAN_BATCH)) > 0) {
		for (int64_t i = 0; i < nr; i++) {
			const struct scan_stream *st = scan_stream(scan, batch[i].stream);

			if (format == DUMP_TEXT)
				request_text_print(stdout, &batch[i], st, cli->teller.utc);
			else if (format == DUMP_CSV)
				request_csv_print(stdout, &batch[i], st);
			else
				request_jsonl_print(stdout, &batch[i], st);
		}
		left -= (uint64_t)nr;
	}
	free(batch);
	if (nr < 0)
		return cli_fail(cli, scan_error(scan));
	*is_empty = left == limited;
	return CLI_DONE;
}

/* Prints a profile as the agent stored it, on one line. ctx counts the profiles. */
static void print_stored(void *ctx, const struct scan_trace *trace, const char *json)
{
	uint64_t *nr_profiles = ctx;

	(void)trace;
	++*nr_profiles;
	shown_print_json(json, stdout);
	putchar('\n');
}

/*
 * The scan hands over the profiles of a segment when it reads the segment, so all requests are read
 * and ignored. *is_empty becomes true where the selection has neither a profile nor a request.
 */
static int dump_profiles(struct cli *cli, struct scan *scan, const uint64_t *nr_profiles,
			 bool *is_empty)
{
	uint64_t nr_requests;
	struct err err = { 0 };
	int ret = selection_read_all(scan, &nr_requests, &err);

	*is_empty = !ret && !nr_requests && !*nr_profiles;
	return cli_finish(cli, ret, &err, CLI_DONE);
}

static int cmd_dump_run(struct cli *cli)
{
	struct selection sel = { 0 };
	uint64_t limit = 0;
	bool columns = false, profiles = false;
	enum dump_format format = NR_DUMP_FORMATS;
	const struct cli_option options[] = {
		SELECTION_OPTIONS(&sel),
		CLI_WORD("format", 'f', "FORMAT", &format, "text (default), csv or jsonl",
			 .words = format_names),
		CLI_U64("limit", 'n', "N", &limit, "only the first N requests"),
		CLI_FLAG("profiles", 0, &profiles,
			 "the profiles that the agents stored, as JSON lines"),
		CLI_FLAG("columns", 0, &columns, "sizes of the compressed columns of the files"),
		CLI_END,
	};
	uint64_t nr_profiles = 0;
	const struct scan_hooks hooks = { .profile = print_stored, .ctx = &nr_profiles };
	struct scan *scan = NULL;
	struct err err = { 0 };
	bool is_empty = false;
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (format == NR_DUMP_FORMATS)
		format = cli->json ? DUMP_JSONL : DUMP_TEXT;
	if (columns && (sel.dir || cli->argc == 0))
		return cli_usage(cli, "--columns: expected segment files");
	if (columns)
		return cli_finish(cli,
				  segment_columns_print((const char *const *)cli->argv,
							(size_t)cli->argc, cli->json, stdout, &err),
				  &err, CLI_DONE);
	if (!selection_take(cli, &sel))
		return cli->status;
	ret = selection_open(&sel, &cli->teller, &scan, profiles ? &hooks : NULL, &err);
	if (ret < 0) {
		ret = cli_finish(cli, ret, &err, CLI_DONE);
	} else if (profiles) {
		ret = dump_profiles(cli, scan, &nr_profiles, &is_empty);
	} else {
		ret = dump_requests(cli, scan, format, limit, &is_empty);
	}
	scan_close(scan);
	if (is_empty)
		ret = selection_end(cli, &sel);
	selection_release(&sel);
	return ret;
}

const struct command command_dump = {
	.name = "dump",
	.summary = "the requests of a trace as text, CSV or JSON lines",
	.usage = "[SELECTION] (--store DIR | FILE...)\n--profiles (--store DIR | FILE...)\n"
		 "--columns FILE...",
	.example = "blkcast dump --store traces --device loop0 --format csv --limit 10",
	.details = "Flags in text: S sync, M metadata, A read-ahead, F forced unit access, P "
		   "pre-flush,\nT passthrough, K kernel thread, O the agent's own, Z zone append. "
		   "In CSV they are the\nnumber of formats/request.h; a field that is not known is "
		   "empty.",
	.run = cmd_dump_run,
};

static int cmd_check_run(struct cli *cli)
{
	struct check_of of = { .repair = false };
	const char *store = NULL, *spool = NULL;
	const struct cli_option options[] = {
		CLI_STRING("store", 's', "DIR", &store,
			   "a store, as serve and file: sinks keep it"),
		CLI_STRING("spool", 0, "DIR", &spool, "the spool of an agent"),
		CLI_FLAG("repair", 0, &of.repair,
			 "do what the cures say; the default is to look only"),
		CLI_CHOICE(1, 1, "store spool"),
		CLI_OPERANDS(0, 0, "no operand"),
		CLI_END,
	};
	struct check_report r;
	struct err err = { 0 };
	int status, ret;

	if (!cli_parse(cli, options))
		return cli->status;
	of.kind = store ? "store" : "spool";
	of.dir = store ? store : spool;
	check_init(&r);
	ret = store ? check_store(&r, store, of.repair, &err)
		    : check_spool(&r, spool, of.repair, &err);
	if (!ret && cli->json)
		ret = cli_show_json(check_json(&r, &of));
	else if (!ret)
		check_print(&r, &of, stdout);
	status = check_nr_left(&r) ? CLI_FAILED : CLI_DONE;
	check_release(&r);
	return cli_finish(cli, ret, &err, status);
}

const struct command command_check = {
	.name = "check",
	.summary = "verify and repair a store or an agent's spool",
	.usage = "--store DIR [--repair]\n--spool DIR [--repair]",
	.details =
		"Decodes every segment to its last request and says of each file what is wrong, why "
		"and what\nthe cure is. Nothing is changed without --repair, and no segment is ever "
		"deleted: damaged ones\nof a store move to its folder `damaged`; those of a spool are "
		"left to the agent, which sets\nthem aside and notes the loss in its ledger.\n\n"
		"Exit status: 0 all is sound or repaired, 1 some problem is left, 2 there is no such "
		"folder.\n",
	.example = "blkcast check --store /srv/traces\n"
		   "blkcast check --spool /var/lib/blkcast/spool --json",
	.run = cmd_check_run,
};

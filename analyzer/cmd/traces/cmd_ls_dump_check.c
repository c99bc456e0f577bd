// SPDX-License-Identifier: Apache-2.0
/* What a store or a trace has: ls lists it, dump prints its requests, check verifies it. */
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/shared_options.h"
#include "analyzer/exchange/dump.h"
#include "analyzer/exchange/segment_columns.h"
#include "analyzer/store/check/check_text.h"
#include "analyzer/store/scan/listing.h"

static int cmd_ls_json(const struct listing *l, struct err *err)
{
	json_t *json = NULL;
	int ret = listing_json(&json, l, err);

	return ret ? ret : cli_show_json(json);
}

static int cmd_ls_print(const struct cli *cli, struct listing *l, struct err *err)
{
	int ret = listing_print(l, stdout, err);

	if (l->nr_hidden)
		cli_note(cli, "%zu idle device%s hidden; --all shows %s", l->nr_hidden,
			 l->nr_hidden == 1 ? "" : "s", l->nr_hidden == 1 ? "it" : "them");
	if (l->has_counted)
		cli_note(cli, "of segments with only counters blkcast characterize has what "
			      "they tell");
	if (l->has_kept_back)
		cli_note(cli, "requests are kept back on purpose, by a policy or --hindsight; "
			      "profiles count them");
	if (l->inventory.nr_hosts == 0)
		cli_note(cli, "%s: no segments", store_dir(l->store));
	else
		cli_note(cli,
			 "the segments were checked when the store took them; blkcast check "
			 "--store %s reads them again",
			 store_dir(l->store));
	return ret;
}

static int cmd_ls_run(struct cli *cli)
{
	struct listing l = { .all = false };
	const char *dir = NULL;
	const struct cli_option options[] = {
		CLI_STRING("store", 's', "DIR", &dir, "the store to list"),
		CLI_LIST("host", 0, "HOST,...", &l.hosts, "only these hosts"),
		CLI_FLAG("all", 'a', &l.all, "devices without requests too"),
		CLI_END,
	};
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (!dir && cli->argc == 1)
		dir = cli->argv[0];
	else if (!dir || cli->argc)
		return cli_usage(cli, "--store: expected the folder of a store");
	l.utc = cli->teller.utc;
	ret = listing_open(&l, dir, &err);
	if (l.missing)
		err_prefix(&err, "--host %s", l.missing);
	if (!ret)
		ret = cli->json ? cmd_ls_json(&l, &err) : cmd_ls_print(cli, &l, &err);
	listing_release(&l);
	return cli_finish(cli, ret, &err, CLI_DONE);
}

const struct command command_ls = {
	.name = "ls",
	.summary = "hosts, devices, time ranges, request counts, losses",
	.usage = "--store DIR [--host HOST,...]",
	.example = "blkcast ls --store traces",
	.run = cmd_ls_run,
};

static int cmd_dump_run(struct cli *cli)
{
	struct selection sel = { 0 };
	struct dump d = { .teller = &cli->teller, .form = NR_DUMP_FORMS, .out = stdout };
	bool columns = false;
	const struct cli_option options[] = {
		SELECTION_OPTIONS(&sel),
		CLI_WORD("format", 'f', "FORMAT", &d.form, "text (default), csv or jsonl",
			 .words = dump_form_names),
		CLI_U64("limit", 'n', "N", &d.most, "only the first N requests"),
		CLI_FLAG("profiles", 0, &d.profiles,
			 "the profiles that the agents stored, as JSON lines"),
		CLI_FLAG("columns", 0, &columns, "sizes of the compressed columns of the files"),
		CLI_END,
	};
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (d.form == NR_DUMP_FORMS)
		d.form = cli->json ? DUMP_JSONL : DUMP_TEXT;
	if (columns && (sel.dir || cli->argc == 0))
		return cli_usage(cli, "--columns: expected segment files");
	if (columns) {
		ret = segment_columns_print((const char *const *)cli->argv, (size_t)cli->argc,
					    cli->json, stdout, &err);
		return cli_finish(cli, ret, &err, CLI_DONE);
	}
	if (!selection_take(cli, &sel))
		return cli->status;
	ret = dump_print(&d, &sel, &err);
	ret = d.is_empty ? selection_end(cli, &sel) : cli_finish(cli, ret, &err, CLI_DONE);
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
		"left to the agent, which sets\nthem aside and notes the loss in its ledger. A file "
		"that cannot be read stays, and is a problem\nthat is left.\n\n"
		"Exit status: 0 all is sound or repaired, 1 some problem is left, 2 there is no such "
		"folder.\n",
	.example = "blkcast check --store /srv/traces\n"
		   "blkcast check --spool /var/lib/blkcast/spool --json",
	.run = cmd_check_run,
};

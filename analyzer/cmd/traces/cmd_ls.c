// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/store/damage.h"
#include "analyzer/store/scan/listing.h"

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

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/keep/retain_text.h"
#include "analyzer/store/ask/cluster_text.h"
#include "analyzer/store/store.h"

#define CLUSTER_OPTION(out, help) \
	CLI_STRING("store", 's', "URL", out, help), CLI_OPERANDS(0, 0, "no operand")

/* Returns false after an error message. */
static bool cmd_cluster_store(struct cli *cli, const struct cli_option *options, const char **store)
{
	if (!cli_parse(cli, options))
		return false;
	if (!*store || store_is_folder(*store))
		cli->status = cli_usage(cli, "--store: expected the URL of a cluster, "
					     "pg://USER@HOST:PORT/DATABASE?objects=...");
	else
		return true;
	return false;
}

static int cmd_cluster_init(struct cli *cli)
{
	const char *store = NULL;
	const struct cli_option options[] = {
		CLUSTER_OPTION(&store, "the cluster to make or bring up to date"),
		CLI_END,
	};
	struct cluster_made made;
	struct err err = { 0 };
	int ret = 0;

	if (!cmd_cluster_store(cli, options, &store))
		return cli->status;
	if (cluster_init(store, &made, &err) < 0)
		return cli_fail(cli, &err);
	if (cli->json)
		ret = cli_show_json(json_pack("{s:s, s:i, s:i}", "schema", "blkcast.cluster-init/1",
					      "from_version", made.from, "version", made.to));
	else if (made.from == made.to)
		printf("The cluster is up to date: its schema has version %d.\n", made.to);
	else
		printf("The cluster is ready: its schema went from version %d to %d.\n", made.from,
		       made.to);
	return cli_finish(cli, ret, &err, CLI_DONE);
}

static int cmd_cluster_policies(const char *store, struct store_policies *out, struct err *err)
{
	struct store_asks *asks = NULL;
	int ret = store_asks_open(&asks, store, err);

	if (ret == 0)
		ret = store_policies_read(asks, out, err);
	store_asks_close(asks);
	return ret;
}

/* Returns 1 where acknowledged segments are not safe. */
static int cmd_cluster_status(struct cli *cli)
{
	const char *store = NULL;
	const struct cli_option options[] = {
		CLUSTER_OPTION(&store, "the cluster to look at"),
		CLI_END,
	};
	struct store_policies policies = { .list = NULL };
	struct cluster_state s;
	struct err err = { 0 };
	int ret = 0;

	if (!cmd_cluster_store(cli, options, &store))
		return cli->status;
	ret = cluster_status(store, &s, &err);
	if (ret == 0)
		ret = cmd_cluster_policies(store, &policies, &err);
	if (ret < 0) {
		store_policies_release(&policies);
		return cli_fail(cli, &err);
	}
	if (cli->json)
		ret = cli_show_json(cluster_json(&s, &policies));
	else
		cluster_print(&s, &policies, stdout);
	store_policies_release(&policies);
	return cli_finish(cli, ret, &err, s.is_durable ? CLI_DONE : CLI_FAILED);
}

/* Returns 1 where damaged segments were left where they are. */
static int cmd_cluster_compact(struct cli *cli)
{
	const char *name = NULL;
	const struct cli_option options[] = {
		CLUSTER_OPTION(&name, "the cluster whose small objects are joined"),
		CLI_END,
	};
	struct store_compaction how = { .all = true };
	struct compact_counts counts = { 0 };
	char line[RETAIN_LINE_BYTES];
	struct store *store = NULL;
	struct err err = { 0 };
	int token, ret;

	if (!cmd_cluster_store(cli, options, &name))
		return cli->status;
	ret = store_open_for(&store, name, STORE_TO_FILL, &err);
	if (ret == 0)
		ret = store_lock(store, STORE_LOCK_RETENTION, &token, &err);
	if (ret == 0) {
		ret = store_compact(store, &how, &counts, &err);
		store_unlock(store, STORE_LOCK_RETENTION, token);
	}
	store_close(store);
	if (ret < 0)
		return cli_fail(cli, &err);
	retain_compaction_text(&counts, line);
	if (cli->json)
		ret = cli_show_json(json_pack("{s:s, s:o}", "schema", "blkcast.cluster-compact/1",
					      "compaction", retain_compaction_json(&counts)));
	else
		printf("%s\n", line);
	return cli_finish(cli, ret, &err, counts.nr_left_out ? CLI_FAILED : CLI_DONE);
}

static int cmd_cluster_run(struct cli *cli)
{
	static const struct cli_verb verbs[] = {
		{ "init", cmd_cluster_init },
		{ "status", cmd_cluster_status },
		{ "compact", cmd_cluster_compact },
		{ NULL, NULL },
	};

	return cli_run_verb(cli, verbs);
}

const struct command command_cluster = {
	.name = "cluster",
	.summary = "set up and look at a store in PostgreSQL and an object store",
	.usage = "init --store URL\nstatus --store URL\ncompact --store URL",
	.details =
		"A cluster takes the place of a store's folder where one machine is not enough: every "
		"command takes\nits URL for --store DIR, and any number of `blkcast serve` may fill "
		"it.\n\n"
		"  pg://USER@HOST:PORT[,HOST:PORT...]/DATABASE?objects=https://HOST:PORT/BUCKET[&keys=FILE]\n\n"
		"The password of PostgreSQL comes from PGPASSWORD, ~/.pgpass or the file of "
		"passfile=; the keys of\nthe object store are the two lines of the file of keys=, or "
		"AWS_ACCESS_KEY_ID and\nAWS_SECRET_ACCESS_KEY. `init` makes the schema or brings it up "
		"to date. `status` says what is there\nand whether it would survive the loss of a "
		"machine; `blkcast check --store URL` reads all of it. `compact`\njoins "
		"small objects into large ones now; serve and `blkcast retain` do the same, and leave "
		"the objects of\ntoday until there are enough of them.\n\n"
		"Exit status: 0; 1 where PostgreSQL runs with fsync off (status), or where damaged segments "
		"stay where\nthey are (compact); 2 where the cluster cannot be opened.\n",
	.example =
		"blkcast cluster init --store 'pg://blkcast@db1,db2/blkcast?objects=https://s3.example.com/traces'\n"
		"blkcast serve --store 'pg://blkcast@db1,db2/blkcast?objects=https://s3.example.com/traces'",
	.run = cmd_cluster_run,
};

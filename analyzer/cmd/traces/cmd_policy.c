/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <stdio.h>

#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/store/ask/store_policy.h"
#include "base/system/file.h"

static int cmd_policy_show(struct cli *cli, struct store_asks *asks, struct err *err)
{
	struct store_policies p = { .list = NULL };
	struct buf words;
	int ret = store_policies_read(asks, &p, err);

	buf_init(&words);
	for (size_t i = 0; i < p.nr && !cli->json; i++)
		store_policy_words(&p.list[i], &words);
	if (ret == 0 && cli->json)
		ret = cli_show_json(json_pack("{s:s, s:o}", "schema", "blkcast.policy/1",
					      "policies", store_policies_json(&p)));
	else if (ret == 0 && words.error)
		ret = words.error;
	else if (ret == 0 && !p.nr)
		printf("no policies: agents send requests as they are configured\n");
	else if (ret == 0)
		fwrite(words.data, 1, words.len, stdout);
	buf_release(&words);
	store_policies_release(&p);
	return ret;
}

static int cmd_policy_put(struct store_asks *asks, const char *path, struct err *err)
{
	struct buf text;
	int ret;

	buf_init(&text);
	ret = file_read(path, STORE_POLICY_MAX_BYTES, &text, err);
	if (ret == 0)
		ret = store_policies_put(asks, path, &text, err);
	buf_release(&text);
	return ret;
}

static int cmd_policy_run(struct cli *cli)
{
	const char *name = NULL;
	const struct cli_option options[] = {
		CLI_STRING("store", 's', "DIR", &name, "the store whose policies they are",
			   .required = true),
		CLI_OPERANDS(0, 1, "one FILE at most"),
		CLI_END,
	};
	struct store_asks *asks = NULL;
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	ret = store_asks_open(&asks, name, &err);
	if (ret == 0 && cli->argc)
		ret = cmd_policy_put(asks, cli->argv[0], &err);
	if (ret == 0)
		ret = cmd_policy_show(cli, asks, &err);
	store_asks_close(asks);
	return cli_finish(cli, ret, &err, CLI_DONE);
}

const struct command command_policy = {
	.name = "policy",
	.summary = "say which requests a store wants of whom, and how long it keeps them",
	.usage = "[FILE] --store DIR",
	.example = "blkcast policy policies.yaml --store /srv/traces",
	.details =
		"FILE has an entry for each tenant, and takes the place of the policies before:\n\n"
		"  policies:\n"
		"    - tenant: acme\n"
		"      hosts: [web*, mail1]\n"
		"      keep: 7d       # the store keeps requests so long; or always, or never\n"
		"      sample: 5      # agents send the requests of 5 % of the windows ...\n"
		"      around: 10m    # ... and those around a breach:\n"
		"      p99: 20ms      # a profile whose p99 is above 20 ms,\n"
		"      rise: 3        # or above 3 times the usual one\n\n"
		"Profiles are always sent, and the ledger counts the requests that were kept back. Each serve "
		"of the\nstore tells the policy to the agents in its answers; retention obeys it in serve and "
		"in `blkcast\nretain`. Without FILE, the policies in force are shown. Who may write to the "
		"store may state them.\n",
	.run = cmd_policy_run,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/store/ask/store_ask.h"

static int cmd_ask_run(struct cli *cli)
{
	const char *name = NULL;
	uint64_t minutes = 10;
	const struct cli_option options[] = {
		CLI_STRING("store", 's', "DIR", &name, "the store that the host's agent sends to"),
		CLI_U64("minutes", 'm', "N", &minutes,
			"so many minutes before now and after it, 1 to 1440; default 10"),
		CLI_END,
	};
	struct store_asks *asks = NULL;
	struct store_ask ask = { .is_known = false };
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (!name)
		return cli_usage(cli, "--store: expected the name of a store");
	if (cli->argc != 1)
		return cli_usage(cli, "expected one HOST");
	if (minutes < 1 || minutes > STORE_ASK_MAX_MINUTES)
		return cli_usage(cli, "--minutes: expected 1 to %d", STORE_ASK_MAX_MINUTES);
	ret = store_asks_open(&asks, name, &err);
	if (ret == 0)
		ret = store_asks_put(asks, cli->argv[0], (uint32_t)minutes, &ask, &err);
	store_asks_close(asks);
	if (ret < 0)
		return cli_fail(cli, &err);
	if (cli->json)
		ret = cli_show_json(json_pack("{s:s, s:s, s:I, s:I, s:b}", "schema",
					      "blkcast.ask/1", "host", ask.host, "begin_s",
					      (json_int_t)ask.begin_s, "end_s",
					      (json_int_t)ask.end_s, "known", ask.is_known));
	else
		printf("%s: its agent is asked for the requests from %" PRId64
		       " s before now to %" PRId64 " s after now\n",
		       ask.host, -ask.begin_s, ask.end_s);
	if (ret || ask.is_known)
		return cli_finish(cli, ret, &err, CLI_DONE);
	cli_note(cli, "%s: the store has nothing of this host yet; the question waits for it",
		 ask.host);
	return CLI_FAILED;
}

const struct command command_ask = {
	.name = "ask",
	.summary = "make an agent send the requests that it keeps back",
	.usage = "HOST --store DIR [--minutes N]",
	.example = "blkcast ask web1 --store /srv/traces --minutes 5",
	.details =
		"An agent with --hindsight sends profiles, and keeps the requests of the last minutes "
		"on its machine.\nThe question is put into the store. Each serve of the store tells it "
		"to the host's agent in the\nanswer to its next upload, also after a restart, until a "
		"day after the period. The agent then sends\nwhat it still has of the period and what "
		"comes until its end. Its ledger counts what it did not send.\nWho may write to the "
		"store may ask.\n\nExit status: 0 the question is stored, 1 it is stored and the store "
		"has nothing of this host yet.\n",
	.run = cmd_ask_run,
};

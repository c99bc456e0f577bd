/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/store/ask/store_ask.h"
#include "base/system/clock.h"

/*
 * This struct holds the period as the person gives it: in minutes around now, or by its begin and
 * end (0: not given).
 */
struct cmd_ask_period {
	unsigned int minutes;
	uint64_t begin_ns, end_ns;
};

/* Gives the period in seconds after now. */
static void cmd_ask_seconds(const struct cmd_ask_period *p, int64_t *begin_s, int64_t *end_s)
{
	const int64_t now_s = (int64_t)(clock_real_ns() / CLOCK_NS_PER_S);

	*end_s = (int64_t)p->minutes * 60;
	*begin_s = -*end_s;
	if (!p->begin_ns)
		return;
	*begin_s = (int64_t)(p->begin_ns / CLOCK_NS_PER_S) - now_s;
	*end_s = p->end_ns ? (int64_t)(p->end_ns / CLOCK_NS_PER_S) - now_s : 0;
}

static int cmd_ask_run(struct cli *cli)
{
	const char *name = NULL;
	struct cmd_ask_period period = { 0 };
	const struct cli_option options[] = {
		CLI_STRING("store", 's', "DIR", &name, "the store that the host's agent sends to",
			   .required = true),
		CLI_UINT("minutes", 'm', "N", &period.minutes,
			 "so many minutes before now and after it", .standard = "10", .from = "1",
			 .to = "1440", .without = "begin"),
		CLI_TIME("begin", 0, "TIME", &period.begin_ns,
			 "instead: from this time of the last day on: 2026-01-31T14:05"),
		CLI_TIME("end", 0, "TIME", &period.end_ns,
			 "until this time, at most a day from now; default now", .with = "begin"),
		CLI_OPERANDS(1, 1, "one HOST"),
		CLI_END,
	};
	int64_t begin_s, end_s;
	struct store_asks *asks = NULL;
	struct store_ask ask = { .is_known = false };
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	cmd_ask_seconds(&period, &begin_s, &end_s);
	ret = store_asks_open(&asks, name, &err);
	if (ret == 0)
		ret = store_asks_put(asks, cli->argv[0], begin_s, end_s, &ask, &err);
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
		       " s before now to %" PRId64 " s %s now\n",
		       ask.host, -ask.begin_s, ask.end_s < 0 ? -ask.end_s : ask.end_s,
		       ask.end_s < 0 ? "before" : "after");
	if (ret || ask.is_known)
		return cli_finish(cli, ret, &err, CLI_DONE);
	cli_note(cli, "%s: the store has nothing of this host yet; the question waits for it",
		 ask.host);
	return CLI_FAILED;
}

const struct command command_ask = {
	.name = "ask",
	.summary = "make an agent send the requests that it keeps back",
	.usage = "HOST --store DIR [--minutes N | --begin TIME [--end TIME]]",
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

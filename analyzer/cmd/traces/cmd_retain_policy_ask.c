// SPDX-License-Identifier: Apache-2.0
/* What is kept: retain removes old requests, policy and ask say what agents send. */
#include <inttypes.h>
#include <stdio.h>

#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/shared_options.h"
#include "analyzer/keep/retain_text.h"
#include "analyzer/store/ask/store_ask.h"
#include "analyzer/store/ask/store_policy.h"
#include "analyzer/store/damage.h"
#include "base/system/clock.h"
#include "base/system/file.h"

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
	ret = retain_open(&store, dir, &err);
	if (ret == 0)
		ret = retain_pass(store, &limits, clock_real_ns(), NULL, &counts, &err);
	if (ret == 0)
		ret = damage_note_store(store, NULL, 0, &err);
	store_close(store);
	if (ret < 0)
		return cli_fail(cli, &err);
	if (cli->json)
		ret = cli_show_json(retain_json(dir, &counts));
	else
		retain_print(dir, &counts, stdout);
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

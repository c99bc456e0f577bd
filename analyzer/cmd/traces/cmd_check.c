/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/store/check/check_text.h"

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

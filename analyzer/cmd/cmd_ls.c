// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "analyzer/cli.h"
#include "analyzer/cmd/commands.h"

static int run(struct cli *cli)
{
	const char *dir = NULL;
	const struct cli_option options[] = {
		CLI_STRING("store", 's', "DIR", &dir, "the store to list"),
		CLI_END,
	};

	if (!cli_parse(cli, options))
		return cli->status;
	if (!dir)
		return cli_usage(cli, "--store: expected the folder of a store");
	return CLI_DONE;
}

const struct command command_ls = {
	.name = "ls",
	.summary = "hosts, devices, time ranges, request counts, losses",
	.usage = "--store DIR",
	.example = "blkcast ls --store /var/lib/blkcast",
	.run = run,
};

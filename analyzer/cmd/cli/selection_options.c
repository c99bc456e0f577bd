// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/cli/selection_options.h"

bool selection_take(struct cli *cli, struct selection *sel)
{
	sel->files = (const char *const *)cli->argv;
	sel->nr_files = (size_t)cli->argc;
	if (sel->dir && cli->argc)
		cli->status =
			cli_usage(cli, "%s: expected --store or files, not both", cli->argv[0]);
	else if (!sel->dir && !cli->argc)
		cli->status = cli_usage(cli, "expected --store DIR or segment files");
	else
		return true;
	return false;
}

int selection_end(struct cli *cli, const struct selection *sel)
{
	struct err err = { 0 };

	return selection_nothing(sel, &cli->teller, &err) ? cli_fail(cli, &err) : CLI_DONE;
}

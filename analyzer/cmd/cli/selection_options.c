// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/cli/selection_options.h"

#include <sys/stat.h>

/* Returns the first operand that is a folder, as which newcomers name a store, or NULL. */
static const char *selection_folder(const struct cli *cli)
{
	struct stat st;

	for (int i = 0; i < cli->argc; i++)
		if (stat(cli->argv[i], &st) == 0 && S_ISDIR(st.st_mode))
			return cli->argv[i];
	return NULL;
}

bool selection_take(struct cli *cli, struct selection *sel)
{
	const char *folder = selection_folder(cli);

	sel->files = (const char *const *)cli->argv;
	sel->nr_files = (size_t)cli->argc;
	if (sel->dir && cli->argc)
		cli->status =
			cli_usage(cli, "%s: expected --store or files, not both", cli->argv[0]);
	else if (!sel->dir && !cli->argc)
		cli->status = cli_usage(cli, "expected --store DIR or segment files");
	else if (folder)
		cli->status = cli_usage(cli,
					"%s: expected a segment file, and this is a folder: "
					"--store %s reads it as a store",
					folder, folder);
	else
		return true;
	return false;
}

int selection_end(struct cli *cli, const struct selection *sel)
{
	struct err err = { 0 };

	return selection_nothing(sel, &cli->teller, &err) ? cli_fail(cli, &err) : CLI_DONE;
}

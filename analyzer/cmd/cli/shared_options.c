// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/cli/shared_options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/models/storage/device/device_model.h"

#define RETAIN_MAX_S 3e9 /* 95 years */

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

bool load_options_take(struct load_choice *o, struct cli *cli)
{
	size_t nr = (size_t)cli->argc + o->profiles.nr + (o->store != NULL), at = (size_t)cli->argc;

	o->operands = cli->argv;
	o->nr = at;
	if (nr == at)
		return true;
	o->argv = calloc(nr + 1, sizeof(*o->argv));
	if (!o->argv) {
		cli->status = cli_fail(cli, &(struct err){ ENOMEM, "out of memory" });
		return false;
	}
	memcpy(o->argv, cli->argv, at * sizeof(*o->argv));
	for (size_t i = 0; i < o->profiles.nr; i++)
		o->argv[at++] = (char *)o->profiles.items[i];
	if (o->store)
		o->argv[at++] = (char *)o->store;
	cli->argv = o->operands = o->argv;
	cli->argc = (int)(o->nr = at);
	return true;
}

void load_options_release(struct load_choice *o)
{
	free(o->argv);
	o->argv = o->operands = NULL;
	o->nr = 0;
}

int predictor_options_take(struct predictor_options *o, const char **storage, const struct cli *cli)
{
	if (!*storage && o->models.nr == 1 && device_model_is(o->models.items[0])) {
		*storage = o->models.items[0];
		o->models.nr = 0;
	}
	if (!o->db && (o->campaign || o->target))
		return cli_usage(cli,
				 "--%s: expected --db beside it, since it chooses among what "
				 "a measurement store has",
				 o->campaign ? "campaign" : "target");
	return 0;
}

static uint64_t retain_to_ns(double seconds)
{
	return (uint64_t)llround(seconds * 1e9);
}

bool retain_options_take(struct cli *cli, const struct retain_options *o, struct retain_limits *out)
{
	const char *wrong = NULL;

	if (o->requests_s != 0 && !(o->requests_s >= 1 && o->requests_s <= RETAIN_MAX_S))
		wrong = "--retain-requests: expected 1s to 95 years";
	else if (o->summaries_s != 0 && !(o->summaries_s >= 1 && o->summaries_s <= RETAIN_MAX_S))
		wrong = "--retain-summaries: expected 1s to 95 years";
	else if (o->summaries_s != 0 && o->summaries_s < o->requests_s)
		wrong = "--retain-summaries: expected no less than --retain-requests";
	else if (o->window_s != 0 && !(o->window_s >= 1 && o->window_s <= 366 * 86400.0))
		wrong = "--retain-window: expected 1s to a year";
	if (wrong) {
		cli->status = cli_usage(cli, "%s", wrong);
		return false;
	}
	*out = (struct retain_limits){
		.requests_ns = retain_to_ns(o->requests_s),
		.requests_bytes = o->requests_bytes,
		.summaries_ns = retain_to_ns(o->summaries_s),
		.summaries_bytes = o->summaries_bytes,
		.window_ns = retain_to_ns(o->window_s),
	};
	return true;
}

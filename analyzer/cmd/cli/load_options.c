// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/cli/load_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/storage/device/device_model.h"

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

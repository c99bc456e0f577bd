// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/load_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/progress.h"
#include "analyzer/cmd/cli.h"
#include "analyzer/cmd/selection_options.h"
#include "analyzer/whatif/load_facts.h"
#include "analyzer/whatif/predictor.h"

bool load_options_take(struct load_options *o, struct cli *cli)
{
	size_t nr = (size_t)cli->argc + o->profiles.nr + (o->store != NULL), at = (size_t)cli->argc;

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
	cli->argv = o->argv;
	cli->argc = (int)at;
	return true;
}

void load_options_release(struct load_options *o)
{
	free(o->argv);
	o->argv = NULL;
}

static void load_options_progress(void *ctx, uint64_t done, uint64_t total)
{
	struct progress *progress = ctx;

	progress->total = total;
	progress_update(progress, done);
}

int load_options_read(const struct load_options *o, const struct cli *cli, const char *path,
		      struct profile_set *set, struct err *err)
{
	struct progress progress;
	int ret;

	progress_begin(&progress, cli->command->name, 0, cli->quiet);
	set->progress = load_options_progress;
	set->progress_ctx = &progress;
	ret = profile_set_load(set, path, &o->sel, err);
	progress_end(&progress);
	set->progress = NULL;
	return ret == -ENODATA ? selection_nothing_of(&o->sel, cli, path, err) : ret;
}

void load_options_note(const struct cli *cli, const char *name, unsigned int missing)
{
	char words[256];

	load_facts_say_missing(missing, words, sizeof(words));
	if (words[0])
		cli_note(
			cli,
			"%s: the profile does not tell: %s; the answer rests on the rest, and is less "
			"certain",
			name, words);
}

int predictor_open(struct predictor *p, const struct predictor_options *o, struct err *err)
{
	int ret = 0;

	p->db = o->db;
	p->campaign = o->campaign;
	p->target = o->target;
	p->set = o->set.items;
	p->nr_set = o->set.nr;
	if (!o->db && (o->campaign || o->target))
		return err_set(err, EINVAL, "--%s: expected --db beside it",
			       o->campaign ? "campaign" : "target");
	for (size_t i = 0; i < o->models.nr; i++) {
		ret = predictor_add(p, o->models.items[i], err);
		if (ret)
			return ret;
	}
	return 0;
}

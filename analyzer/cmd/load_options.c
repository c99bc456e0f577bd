// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/load_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/progress.h"
#include "analyzer/cmd/cli.h"
#include "analyzer/cmd/selection_options.h"
#include "analyzer/whatif/load_facts.h"
#include "analyzer/whatif/origins.h"
#include "analyzer/whatif/predictor.h"
#include "base/array.h"

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
	size_t nr_before = set->nr_groups;
	struct progress progress;
	int ret;

	progress_begin(&progress, cli->command->name, 0, cli->quiet);
	set->progress = load_options_progress;
	set->progress_ctx = &progress;
	ret = profile_set_load(set, path, &o->sel, err);
	progress_end(&progress);
	set->progress = NULL;
	if (!ret)
		ret = origins_loads(cli->maker.origins, path, set, nr_before, cli->utc);
	return ret == -ENODATA ? selection_nothing_of(&o->sel, cli, path, err) : ret;
}

int loads_add(struct loads *l, const struct load_options *o, const struct cli *cli,
	      const char *path, size_t most, struct err *err)
{
	struct profile_set *set;
	int ret = array_grow(&l->sets, &l->cap_sets, l->nr_sets + 1, sizeof(*l->sets));

	if (ret)
		return ret;
	set = &l->sets[l->nr_sets++];
	profile_set_init(set);
	ret = load_options_read(o, cli, path, set, err);
	if (ret)
		return ret;
	if (l->nr + set->nr_groups > most)
		return err_set(err, EINVAL, "%s: expected up to %zu loads", path, most);
	ret = array_grow(&l->groups, &l->cap_groups, l->nr + set->nr_groups, sizeof(*l->groups));
	if (!ret)
		ret = array_grow(&l->paths, &l->cap_paths, l->nr + set->nr_groups,
				 sizeof(*l->paths));
	if (ret)
		return ret;
	for (size_t g = 0; g < set->nr_groups; g++) {
		l->groups[l->nr] = &set->groups[g];
		l->paths[l->nr++] = path;
	}
	return 0;
}

int loads_read(struct loads *l, const struct load_options *o, const struct cli *cli, size_t most,
	       struct err *err)
{
	int ret = 0;

	for (int i = 0; i < cli->argc && !ret; i++)
		ret = loads_add(l, o, cli, cli->argv[i], most, err);
	return ret;
}

void loads_study(const struct loads *l, struct study *s)
{
	for (size_t i = 0; i < l->nr; i++) {
		struct study_load *load = &s->loads[s->nr++];

		load->group = l->groups[i];
		load_facts_of_group(load->group, &load->facts);
	}
}

void loads_release(struct loads *l)
{
	for (size_t i = 0; i < l->nr_sets; i++)
		profile_set_release(&l->sets[i]);
	free(l->sets);
	free(l->groups);
	free(l->paths);
	*l = (struct loads){ 0 };
}

void load_options_note(const struct cli *cli, const char *name, unsigned int missing)
{
	char words[256];

	load_facts_say_missing(missing, words, sizeof(words));
	if (words[0])
		cli_note(cli,
			 "%s: the profile does not tell: %s; the answer rests on the rest, and is "
			 "less certain",
			 name, words);
}

/* Adds what the options name to the lines at the foot of a page. */
static int predictor_origins(const struct predictor_options *o, struct page_origins *origins,
			     struct err *err)
{
	int ret = o->db ? origins_campaign(origins, o->db, o->campaign, err) : 0;

	for (size_t i = 0; i < o->models.nr && !ret; i++)
		ret = origins_model(origins, o->models.items[i], err);
	return ret;
}

int predictor_open(struct predictor *p, const struct predictor_options *o, const struct cli *cli,
		   struct err *err)
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
	return predictor_origins(o, cli->maker.origins, err);
}

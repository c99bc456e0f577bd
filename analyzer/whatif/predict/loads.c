// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/predict/loads.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/answer/progress.h"
#include "analyzer/store/scan/selection_told.h"
#include "analyzer/whatif/predict/load_facts.h"
#include "analyzer/whatif/predict/origins.h"
#include "base/memory/array.h"

static void loads_progress(void *ctx, uint64_t done, uint64_t total)
{
	struct progress *progress = ctx;

	progress->total = total;
	progress_update(progress, done);
}

int loads_read_path(const struct load_choice *o, const struct teller *t, const char *path,
		    struct profile_set *set, struct err *err)
{
	size_t nr_before = set->nr_groups;
	struct progress progress;
	int ret;

	progress_begin(&progress, t->work, 0, t->quiet);
	set->progress = loads_progress;
	set->progress_ctx = &progress;
	ret = profile_set_load(set, path, &o->sel, err);
	progress_end(&progress);
	set->progress = NULL;
	if (!ret)
		ret = origins_loads(t->maker.origins, path, set, nr_before, t->utc);
	return ret == -ENODATA ? selection_nothing_of(&o->sel, path, err) : ret;
}

/*
 * Returns whether this = belongs to a parameter of a cluster's URL ("pg://db?objects=http://...").
 * Such a = is the first one after the ? or & before it.
 */
static bool load_operand_is_parameter(const char *text, const char *equals)
{
	const char *at = equals;

	if (store_is_folder(text))
		return false;
	while (at > text && at[-1] != '?' && at[-1] != '&' && at[-1] != '=')
		at--;
	return at > text && at[-1] != '=';
}

int load_operand_count(const char *text, size_t least, size_t *len, size_t *count, struct err *err)
{
	const char *equals = strrchr(text, '=');
	char *end;

	*len = strlen(text);
	*count = 1;
	if (!equals || !access(text, F_OK) || load_operand_is_parameter(text, equals))
		return 0;
	*len = (size_t)(equals - text);
	*count = strtoul(equals + 1, &end, 10);
	if (*end || !isdigit((unsigned char)equals[1]) || *count < least ||
	    *count > LOAD_COPIES_MAX)
		return err_set(err, EINVAL, "%.80s: expected LOAD=COUNT, %zu to %d", text, least,
			       LOAD_COPIES_MAX);
	return 0;
}

/* Appends copies of one load. */
static int loads_append(struct loads *l, const struct profile_group *group, const char *path,
			size_t len, size_t count)
{
	size_t nr = l->nr + count, first = l->nr;
	int ret = array_grow(&l->groups, &l->cap_groups, nr, sizeof(*l->groups));

	if (!ret)
		ret = array_grow(&l->paths, &l->cap_paths, nr, sizeof(*l->paths));
	if (!ret)
		ret = array_grow(&l->copy_of, &l->cap_copy_of, nr, sizeof(*l->copy_of));
	for (size_t i = 0; i < count && !ret; i++) {
		l->paths[l->nr] = strndup(path, len);
		l->groups[l->nr] = group;
		l->copy_of[l->nr] = first;
		if (l->paths[l->nr++])
			continue;
		ret = -ENOMEM;
	}
	return ret;
}

/* Reads the profiles of an operand into a set of its own. */
static int loads_read_set(struct loads *l, const struct load_choice *o, const struct teller *t,
			  const char *operand, size_t len, struct err *err)
{
	char *path = strndup(operand, len);
	int ret = path ? array_grow(&l->sets, &l->cap_sets, l->nr_sets + 1, sizeof(*l->sets))
		       : -ENOMEM;

	if (ret)
		goto out;
	profile_set_init(&l->sets[l->nr_sets++]);
	ret = loads_read_path(o, t, path, &l->sets[l->nr_sets - 1], err);
out:
	free(path);
	return ret;
}

int loads_add(struct loads *l, const struct load_choice *o, const struct teller *t,
	      const char *operand, size_t most, struct err *err)
{
	size_t len, count, nr;
	int ret = load_operand_count(operand, 1, &len, &count, err);

	if (ret)
		return ret;
	ret = loads_read_set(l, o, t, operand, len, err);
	if (ret)
		return ret;
	nr = l->sets[l->nr_sets - 1].nr_groups;
	if (l->nr + nr * count > most)
		return err_set(err, EINVAL, "%s: expected up to %zu loads", operand, most);
	for (size_t g = 0; g < nr && !ret; g++)
		ret = loads_append(l, &l->sets[l->nr_sets - 1].groups[g], operand, len, count);
	return ret;
}

int loads_read(struct loads *l, const struct load_choice *o, const struct teller *t, size_t most,
	       struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < o->nr && !ret; i++)
		ret = loads_add(l, o, t, o->operands[i], most, err);
	return ret;
}

void loads_release(struct loads *l)
{
	for (size_t i = 0; i < l->nr_sets; i++)
		profile_set_release(&l->sets[i]);
	free(l->sets);
	for (size_t i = 0; i < l->nr; i++)
		free((char *)l->paths[i]);
	free(l->groups);
	free(l->paths);
	free(l->copy_of);
	*l = (struct loads){ 0 };
}

void loads_note_missing(const struct teller *t, const char *name, unsigned int missing)
{
	char words[256];

	load_facts_say_missing(missing, words, sizeof(words));
	if (words[0])
		teller_note(
			t,
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

int predictor_open(struct predictor *p, const struct predictor_options *o, const struct teller *t,
		   struct err *err)
{
	int ret = 0;

	p->db = o->db;
	p->campaign = o->campaign;
	p->target = o->target;
	p->set = o->set.items;
	p->nr_set = o->set.nr;
	for (size_t i = 0; i < o->models.nr; i++) {
		ret = predictor_add(p, o->models.items[i], err);
		if (ret)
			return ret;
	}
	return predictor_origins(o, t->maker.origins, err);
}

// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyzer/measure/driver.h"
#include "analyzer/measure/plan_reader.h"
#include "base/memory/buf.h"
#include "base/system/file.h"

#define PLAN_BYTES_MAX	  (16u << 20)
#define RNG_STREAM_ORDER  1 /* The plan's seed has one random stream per purpose. */
#define RNG_STREAM_DESIGN 2
#define RNG_STREAM_CHOICE 3

static void target_release(struct plan_target *t)
{
	free(t->name);
	free(t->ssh);
	free(t->identity);
	free(t->ssh_config);
	free(t->directory);
	free(t->device);
	free(t->cgroup);
	free(t->netns);
	free(t->agent);
	free(t->load.job);
	free(t->load.command);
	level_settings_release(&t->settings);
}

void plan_release(struct plan *p)
{
	for (size_t i = 0; i < p->nr_targets; i++)
		target_release(&p->targets[i]);
	level_settings_release(&p->settings);
	factors_release(&p->factors);
	configurations_release(&p->list);
	free(p->campaign);
	free(p->path);
	free(p->text);
	free(p->sequential.response);
	free(p->stop.metric);
	free(p->setup);
	free(p->teardown);
	free(p->traces);
	memset(p, 0, sizeof(*p));
}

uint64_t plan_most_intervals(const struct plan *p)
{
	return p->stop.metric && p->stop.at_most > p->nr_intervals ? p->stop.at_most
								   : p->nr_intervals;
}

double plan_run_s(const struct plan *p)
{
	return p->warm_up_s + p->interval_s * (double)plan_most_intervals(p);
}

static int plan_read_file(struct plan *p, const char *path, struct err *err)
{
	struct buf text;
	int ret;

	buf_init(&text);
	ret = file_read(path, PLAN_BYTES_MAX, &text, err);
	if (ret)
		goto out;
	p->path = strdup(path);
	p->text = text.len ? strdup((const char *)text.data) : strdup("");
	if (!p->path || !p->text)
		ret = err_set(err, ENOMEM, "%s: out of memory", path);
out:
	buf_release(&text);
	return ret;
}

int plan_configurations(const struct plan *p, struct configurations *c, struct err *err)
{
	struct rng rng, order;
	int ret = 0;

	rng_stream(&rng, p->seed, RNG_STREAM_DESIGN);
	rng_stream(&order, p->seed, RNG_STREAM_ORDER);
	switch (p->design) {
	case DESIGN_FULL:
		ret = configurations_full(c, &p->factors, err);
		break;
	case DESIGN_RANDOM:
		ret = configurations_random(c, &p->factors, p->random_configurations, &rng, err);
		break;
	case DESIGN_LIST:
		for (size_t i = 0; i < p->list.nr; i++) {
			ret = configurations_add(c, p->factors.nr,
						 p->list.cells + i * p->factors.nr);
			if (ret)
				return ret;
		}
		break;
	case DESIGN_SEQUENTIAL:
		return configurations_random(c, &p->factors, p->sequential.start, &rng, err);
	}
	if (ret)
		return ret;
	if (p->order == ORDER_RANDOM)
		configurations_shuffle(c, &order);
	return 0;
}

int plan_candidates(const struct plan *p, struct configurations *c, struct err *err)
{
	struct rng rng;

	for (size_t i = 0; i < p->factors.nr; i++)
		if (!p->factors.items[i].nr_levels) {
			rng_stream(&rng, p->seed, RNG_STREAM_CHOICE);
			return configurations_random(c, &p->factors, p->sequential.candidates, &rng,
						     err);
		}
	return configurations_full(c, &p->factors, err);
}

static int set_expanded(struct params *out, const struct level_setting *s, struct err *err)
{
	char *value;
	int ret = params_expand_text(out, s->text, &value, err);

	if (ret) {
		err_prefix(err, "%s", s->name);
		return ret;
	}
	ret = params_set(out, s->name, value, s->word, err);
	free(value);
	return ret;
}

int plan_params(const struct plan *p, const struct plan_target *t, const double *cells,
		const char *directory, struct params *out, struct err *err)
{
	const struct {
		const char *name;
		double value;
	} numbers[] = {
		{ "scale", p->scale },
		{ "warm_up", p->warm_up_s },
		{ "interval", p->interval_s },
		{ "intervals", (double)plan_most_intervals(p) },
		{ "runtime", p->interval_s * (double)plan_most_intervals(p) },
	};
	int ret = params_set(out, "target", t->name, true, err);

	if (ret)
		return ret;
	ret = params_set(out, "directory", directory, true, err);
	if (ret)
		return ret;
	ret = params_set(out, "device", t->device ? t->device : "", true, err);
	if (ret)
		return ret;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		ret = params_set_number(out, numbers[i].name, numbers[i].value, err);
		if (ret)
			return ret;
	}
	ret = configuration_set(&p->factors, cells, out, err);
	if (ret)
		return ret;
	for (size_t i = 0; i < p->settings.nr; i++) {
		ret = set_expanded(out, &p->settings.items[i], err);
		if (ret)
			return ret;
	}
	for (size_t i = 0; i < t->settings.nr; i++) {
		ret = set_expanded(out, &t->settings.items[i], err);
		if (ret)
			return ret;
	}
	return 0;
}

static int expand_all(const struct plan *p, const struct plan_target *t, struct params *params,
		      struct err *err)
{
	struct drive d = { p, &t->load, params };
	struct buf shell;
	int ret = 0;

	buf_init(&shell);
	if (p->setup)
		ret = params_expand(params, p->setup, &shell, err);
	if (ret)
		goto out;
	if (t->load.driver->prepare)
		ret = t->load.driver->prepare(&d, &shell, err);
	if (ret)
		goto out;
	ret = t->load.driver->run(&d, &shell, err);
	if (ret)
		goto out;
	if (p->teardown)
		ret = params_expand(params, p->teardown, &shell, err);
out:
	buf_release(&shell);
	return ret;
}

/* Expands every text of a target once, and marks the factors that the texts use. */
static int check_target(const struct plan *p, const struct plan_target *t, const double *cells,
			bool *used, struct err *err)
{
	struct params params = { 0 };
	int ret = plan_params(p, t, cells, t->directory, &params, err);

	if (ret)
		goto out;
	ret = expand_all(p, t, &params, err);
	if (ret)
		goto out;
	for (size_t k = 0; k < p->factors.nr; k++) {
		const struct level *l = p->factors.items[k].levels;

		used[k] |= params_find(&params, p->factors.items[k].name)->used;
		for (size_t s = 0; l && s < l->settings.nr; s++)
			used[k] |= params_find(&params, l->settings.items[s].name)->used;
	}
out:
	if (ret)
		err_prefix(err, "%s:%u: target %s", p->path, t->load.line, t->name);
	params_release(&params);
	return ret;
}

/* Expands every text once, and refuses a factor that no text uses. */
static int check_texts(const struct plan *p, const struct configurations *c, struct err *err)
{
	bool *used = calloc(p->factors.nr, sizeof(*used));
	int ret = used ? 0 : -ENOMEM;

	if (ret)
		goto out;
	for (size_t i = 0; i < p->nr_targets; i++) {
		ret = check_target(p, &p->targets[i], c->cells, used, err);
		if (ret)
			goto out;
	}
	for (size_t k = 0; k < p->factors.nr; k++) {
		if (!used[k])
			ret = err_set(err, EINVAL,
				      "%s: factors: nothing uses '%s': expected {%s} in a load, a "
				      "setting or setup",
				      p->path, p->factors.items[k].name, p->factors.items[k].name);
		if (ret)
			goto out;
	}
out:
	free(used);
	return ret;
}

static int check_design(const struct plan *p, struct err *err)
{
	struct configurations c = { 0 };
	int ret = plan_configurations(p, &c, err);

	if (ret == -EINVAL || ret == -E2BIG)
		err_prefix(err, "%s", p->path);
	if (ret)
		goto out;
	ret = check_texts(p, &c, err);
out:
	configurations_release(&c);
	return ret;
}

static uint64_t hash_of(const struct plan *p, const char *const *overrides, size_t nr)
{
	XXH64_hash_t h = XXH3_64bits(p->text, strlen(p->text));

	for (size_t i = 0; i < nr; i++)
		h = XXH3_64bits_withSeed(overrides[i], strlen(overrides[i]), h);
	for (size_t i = 0; i < p->nr_targets; i++)
		if (p->targets[i].load.job)
			h = XXH3_64bits_withSeed(p->targets[i].load.job,
						 strlen(p->targets[i].load.job), h);
	return h;
}

int plan_read(struct plan *p, const char *path, const char *const *overrides, size_t nr_overrides,
	      struct err *err)
{
	struct yaml_tree *tree = NULL;
	int ret;

	*p = (struct plan){ .repetitions = 1,
			    .seed = 1,
			    .scale = 1,
			    .nr_intervals = 5,
			    .interval_s = 1,
			    .warm_up_s = 1 };
	ret = plan_read_file(p, path, err);
	if (ret)
		goto out;
	ret = yaml_tree_parse(&tree, path, p->text, strlen(p->text), err);
	if (ret)
		goto out;
	ret = plan_read_tree(p, tree, overrides, nr_overrides, err);
	if (ret)
		goto out;
	ret = check_design(p, err);
	if (ret)
		goto out;
	p->hash = hash_of(p, overrides, nr_overrides);
out:
	yaml_tree_free(tree);
	if (ret)
		plan_release(p);
	return ret;
}

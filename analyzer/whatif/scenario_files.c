// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/scenario_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct profiles {
	char *path;
	struct profile_set set;
	struct profiles *next;
};

struct predictors {
	struct predictor_spec spec;
	struct predictor predictor;
	struct predictors *next;
};

struct scenario_files {
	struct profiles *profiles;
	struct predictors *predictors;
};

struct scenario_files *scenario_files_new(void)
{
	return calloc(1, sizeof(struct scenario_files));
}

void predictor_spec_release(struct predictor_spec *s)
{
	for (size_t i = 0; i < s->nr_models; i++)
		free(s->models[i]);
	for (size_t i = 0; i < s->nr_set; i++)
		free(s->set[i]);
	free(s->db);
	free(s->campaign);
	free(s->target);
	memset(s, 0, sizeof(*s));
}

static void free_profiles(struct profiles *p)
{
	if (p) {
		profile_set_release(&p->set);
		free(p->path);
	}
	free(p);
}

static void free_predictors(struct predictors *p)
{
	if (p) {
		predictor_release(&p->predictor);
		predictor_spec_release(&p->spec);
	}
	free(p);
}

void scenario_files_free(struct scenario_files *f)
{
	while (f && f->profiles) {
		struct profiles *p = f->profiles;

		f->profiles = p->next;
		free_profiles(p);
	}
	while (f && f->predictors) {
		struct predictors *p = f->predictors;

		f->predictors = p->next;
		free_predictors(p);
	}
	free(f);
}

int scenario_profiles(struct scenario_files *f, const char *path, const struct profile_set **out,
		      struct err *err)
{
	const struct selection sel = { 0 };
	struct profiles *p = f->profiles;
	int ret;

	while (p && strcmp(p->path, path))
		p = p->next;
	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return err_set(err, ENOMEM, "out of memory");
		profile_set_init(&p->set);
		p->path = strdup(path);
		ret = p->path ? profile_set_load(&p->set, path, &sel, err)
			      : err_set(err, ENOMEM, "out of memory");
		if (ret) {
			free_profiles(p);
			return ret;
		}
		p->next = f->profiles;
		f->profiles = p;
	}
	*out = &p->set;
	return 0;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_spec(const struct predictor_spec *a, const struct predictor_spec *b)
{
	bool same = a->nr_models == b->nr_models && a->nr_set == b->nr_set &&
		    same_text(a->db, b->db) && same_text(a->campaign, b->campaign) &&
		    same_text(a->target, b->target);

	for (size_t i = 0; same && i < a->nr_models; i++)
		same = !strcmp(a->models[i], b->models[i]);
	for (size_t i = 0; same && i < a->nr_set; i++)
		same = !strcmp(a->set[i], b->set[i]);
	return same;
}

/* The spec is moved first, because the predictor borrows from it. */
static int open_predictor(struct predictors *p, struct err *err)
{
	const struct predictor_spec *s = &p->spec;
	int ret = 0;

	p->predictor.db = s->db;
	p->predictor.campaign = s->campaign;
	p->predictor.target = s->target;
	p->predictor.set = (const char *const *)s->set;
	p->predictor.nr_set = s->nr_set;
	for (size_t i = 0; i < s->nr_models; i++) {
		ret = predictor_add(&p->predictor, s->models[i], err);
		if (ret)
			return ret;
	}
	return 0;
}

int scenario_predictor(struct scenario_files *f, struct predictor_spec *spec,
		       struct predictor **out, struct err *err)
{
	struct predictors *p = f->predictors;
	int ret;

	while (p && !same_spec(&p->spec, spec))
		p = p->next;
	if (p) {
		predictor_spec_release(spec);
		*out = &p->predictor;
		return 0;
	}
	p = calloc(1, sizeof(*p));
	if (!p) {
		predictor_spec_release(spec);
		return err_set(err, ENOMEM, "out of memory");
	}
	p->spec = *spec;
	memset(spec, 0, sizeof(*spec));
	ret = open_predictor(p, err);
	if (ret) {
		free_predictors(p);
		return ret;
	}
	p->next = f->predictors;
	f->predictors = p;
	*out = &p->predictor;
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/scenario/scenario_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/storage/device/device_model.h"
#include "analyzer/whatif/predict/origins.h"
#include "analyzer/whatif/study/study_replay.h"

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

struct plans {
	const struct profile_group *group; /* borrowed; names the device in the file */
	struct causal_plan plan;
	struct plans *next;
};

struct devices {
	char *path;
	struct device_model model;
	struct devices *next;
};

struct scenario_files {
	struct profiles *profiles;
	struct predictors *predictors;
	struct plans *plans;
	struct devices *devices;
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
	free(s->device);
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
	while (f && f->plans) {
		struct plans *p = f->plans;

		f->plans = p->next;
		causal_release(&p->plan);
		free(p);
	}
	while (f && f->devices) {
		struct devices *d = f->devices;

		f->devices = d->next;
		free(d->path);
		free(d);
	}
	free(f);
}

int scenario_files_origins(const struct scenario_files *f, struct page_origins *o, bool utc,
			   struct err *err)
{
	int ret = 0;

	for (const struct profiles *p = f->profiles; p && !ret; p = p->next)
		ret = origins_loads(o, p->path, &p->set, 0, utc);
	for (const struct predictors *p = f->predictors; p && !ret; p = p->next) {
		const struct predictor_spec *s = &p->spec;

		ret = s->db ? origins_campaign(o, s->db, s->campaign, err) : 0;
		for (size_t i = 0; i < s->nr_models && !ret; i++)
			ret = origins_model(o, s->models[i], err);
	}
	for (const struct devices *d = f->devices; d && !ret; d = d->next)
		ret = origins_model(o, d->path, err);
	return ret;
}

int scenario_profiles(struct scenario_files *f, const char *path, const struct profile_set **out,
		      const char **kept, struct err *err)
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
	*kept = p->path;
	return 0;
}

int scenario_plan(struct scenario_files *f, const struct scenario_vm *vm,
		  const struct causal_plan **out, struct err *err)
{
	struct plans *p = f->plans;
	int ret;

	while (p && p->group != vm->group)
		p = p->next;
	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return err_set(err, ENOMEM, "out of memory");
		ret = study_replay_plan(&p->plan, &vm->group->whole, vm->path, 0, err);
		if (ret) {
			causal_release(&p->plan);
			free(p);
			return ret == -ENODATA ? -EINVAL : ret;
		}
		p->group = vm->group;
		p->next = f->plans;
		f->plans = p;
	}
	*out = &p->plan;
	return 0;
}

/* Turns errors of held-out configurations into those of a new application. */
static void scenario_device_widen(struct device_model *m)
{
	struct device_model held_out = *m;

	for (int t = 0; t < DEVICE_NR_TYPES; t++)
		for (int p = 0; p < DEVICE_NR_POINTS; p++)
			m->errors[t][p].log_half = device_model_application(
				device_model_held_out(&held_out, (enum device_type)t,
						      (enum device_point)p),
				(enum device_type)t, (enum device_point)p);
}

int scenario_device(struct scenario_files *f, const char *path, const struct device_model **out,
		    struct err *err)
{
	struct devices *d = f->devices;
	int ret;

	while (d && strcmp(d->path, path))
		d = d->next;
	if (!d) {
		d = calloc(1, sizeof(*d));
		if (!d)
			return err_set(err, ENOMEM, "out of memory");
		d->path = strdup(path);
		ret = d->path ? device_model_load(&d->model, path, err)
			      : err_set(err, ENOMEM, "out of memory");
		if (ret) {
			free(d->path);
			free(d);
			return ret;
		}
		scenario_device_widen(&d->model);
		d->next = f->devices;
		f->devices = d;
	}
	*out = &d->model;
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

// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/scenario/scenario_device.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/whatif/cache/cache_share.h"
#include "analyzer/whatif/mix/mix_device.h"
#include "analyzer/whatif/scenario/scenario_files.h"
#include "analyzer/whatif/simulate/stored_scale.h"
#include "analyzer/whatif/simulate/study_simulate.h"

#define SCENARIO_SEED 1

/*
 * This struct is one storage with its VMs. All copies of a VM together are one load of the study.
 */
struct scenario_device {
	struct scenario *scenario;
	struct scenario_storage *to;
	struct study study;
	struct study_replay plans;
	struct study_simulate sim;
	struct study_case answers;
	const struct causal_plan *stored[STUDY_LOADS_MAX]; /* borrowed */
	size_t vm[STUDY_LOADS_MAX];
	size_t copies[STUDY_LOADS_MAX]; /* by load: the count of the VM */
};

static double scenario_device_factor(const struct scenario_vm *vm)
{
	return (double)vm->count * vm->load;
}

/* Collects the VMs of the storage with their stored requests. */
static int scenario_device_collect(struct scenario_device *d, size_t storage, struct err *err)
{
	struct scenario *s = d->scenario;

	for (size_t i = 0; i < s->nr_vms; i++) {
		struct scenario_vm *vm = &s->vms[i];
		struct study_load *load = &d->study.loads[d->study.nr];
		int ret;

		if (vm->storage != storage || !vm->count)
			continue;
		if (d->study.nr == STUDY_LOADS_MAX)
			return err_set(err, EINVAL,
				       "expected up to %d VMs by name on a simulated device",
				       STUDY_LOADS_MAX);
		if (d->to->nr_vms + vm->count > PREDICTOR_LOADS_MAX)
			return err_set(err, EINVAL, "expected up to %d VMs on a storage",
				       PREDICTOR_LOADS_MAX);
		ret = scenario_plan(s->files, vm, &d->stored[d->study.nr], err);
		if (ret)
			return ret;
		vm->nr_left_out = d->stored[d->study.nr]->nr_left_out;
		load->group = vm->group;
		load_facts_of_group(vm->group, &load->facts);
		load->facts = load_facts_scaled(&load->facts, vm->load);
		vm->rate_per_s = load->facts.rate_per_s;
		d->to->rate_per_s += (double)vm->count * vm->rate_per_s;
		d->to->nr_vms += vm->count;
		load->facts.rate_per_s *= (double)vm->count;
		d->copies[d->study.nr] = vm->count;
		d->vm[d->study.nr++] = i;
	}
	return 0;
}

/* Computes how many reads of each VM hit the cache that all of them share. */
static void scenario_device_hits(struct scenario_device *d)
{
	struct cache_stream streams[PREDICTOR_LOADS_MAX];
	double parts[PREDICTOR_LOADS_MAX], hits = 0, reads = 0;
	size_t nr = 0;

	if (!(d->to->cache_bytes > 0))
		return;
	for (size_t i = 0; i < d->study.nr; i++) {
		const struct scenario_vm *vm = &d->scenario->vms[d->vm[i]];

		for (size_t k = 0; k < vm->count; k++) {
			streams[nr] = cache_stream_of(vm->group);
			streams[nr++].bytes_per_s *= vm->load;
		}
	}
	cache_shared(streams, nr, d->to->cache_bytes, parts);
	nr = 0;
	for (size_t i = 0; i < d->study.nr; i++) {
		const struct load_facts *f = &d->study.loads[i].facts;
		struct scenario_vm *vm = &d->scenario->vms[d->vm[i]];

		vm->hit_ratio = 1 - cache_miss_ratio(&streams[nr], parts[nr]);
		hits += vm->hit_ratio * f->rate_per_s * f->read_ratio;
		reads += f->rate_per_s * f->read_ratio;
		nr += vm->count;
	}
	d->to->hit_ratio = reads > 0 ? hits / reads : NAN;
}

/*
 * Marks the reads that hit. The first read of a plan always misses, so that the time of a miss is
 * known. Every VM has random numbers of its own, by its name: two VMs with equal requests do not
 * miss together, and a VM has the same hits in every scenario, whatever else is in it.
 */
static void scenario_device_cache(struct causal_plan *plan, const struct scenario_vm *vm,
				  double hit_s)
{
	bool first = true;
	struct rng rng;

	if (!(vm->hit_ratio > 0))
		return;
	plan->cached_s = hit_s;
	rng_stream(&rng, SCENARIO_SEED, XXH64(vm->name, strlen(vm->name), 0));
	for (size_t i = 0; i < plan->nr_lanes; i++)
		for (size_t k = 0; k < plan->lanes[i].nr; k++) {
			struct causal_request *q = &plan->lanes[i].requests[k];

			if (q->operation != OPERATION_READ)
				continue;
			q->cached = rng_uniform(&rng) <
					    fmin(vm->hit_ratio, 1 - SCENARIO_LEAST_MISSES) &&
				    !first;
			first = false;
		}
}

/* Returns whether the multiplied requests are few enough to be simulated. */
static bool scenario_device_is_feasible(const struct scenario_device *d)
{
	double nr = 0, stored = 0;

	for (size_t i = 0; i < d->study.nr; i++) {
		stored += (double)d->stored[i]->nr;
		nr += scenario_device_factor(&d->scenario->vms[d->vm[i]]) *
		      (double)d->stored[i]->nr;
	}
	return nr <= fmax(stored, MIX_DEVICE_REQUESTS);
}

static int scenario_device_simulate(struct scenario_device *d, struct err *err)
{
	for (; d->plans.nr < d->study.nr; d->plans.nr++) {
		size_t i = d->plans.nr;
		const struct scenario_vm *vm = &d->scenario->vms[d->vm[i]];
		int ret = stored_scale(&d->plans.plans[i], d->stored[i], vm->count, vm->load);

		if (ret)
			return ret;
		scenario_device_cache(&d->plans.plans[i], vm, d->to->hit_s);
		d->answers.loads[d->answers.nr++] = i;
	}
	d->study.simulated = true;
	d->sim = (struct study_simulate){ .target = d->to->device,
					  .replay = &d->plans,
					  .seed = SCENARIO_SEED,
					  .copies = d->copies };
	return study_simulate_case(&d->sim, &d->study, &d->answers, err);
}

/*
 * Computes the answer about one copy of a VM from the answer about all its copies, and adds the
 * reads that hit the cache.
 */
static void scenario_device_take(const struct scenario_device *d, size_t i)
{
	struct scenario_vm *vm = &d->scenario->vms[d->vm[i]];
	const struct study_answer *from = &d->answers.answers[i];
	const struct load_facts *f = &d->study.loads[i].facts;
	double hit = isfinite(vm->hit_ratio) ? vm->hit_ratio : 0, hit_s = hit * d->to->hit_s;
	double passes = 1 - hit * f->read_ratio;

	vm->answer = PREDICTED_NONE;
	for (int side = 0; side < 2; side++) {
		vm->answer.s[side] = from->s[side];
		vm->answer.low[side] = from->low[side];
		vm->answer.high[side] = from->high[side];
	}
	vm->answer.s[0] = hit_s + (1 - hit) * from->s[0];
	vm->answer.low[0] = hit_s + (1 - hit) * from->low[0];
	vm->answer.high[0] = hit_s + (1 - hit) * from->high[0];
	vm->passed_per_s = vm->rate_per_s * passes;
	vm->answer.rate_per_s = from->rate_per_s / (double)vm->count * passes;
	vm->carried = load_facts_carried(f, from->rate_per_s, NAN);
}

int scenario_device_solve(struct scenario *s, size_t storage, struct err *err)
{
	struct scenario_device *d = calloc(1, sizeof(*d));
	int ret = d ? 0 : err_set(err, ENOMEM, "out of memory");

	if (ret)
		goto out;
	d->scenario = s;
	d->to = &s->storages[storage];
	ret = scenario_device_collect(d, storage, err);
	if (ret || !d->study.nr)
		goto out;
	scenario_device_hits(d);
	if (!scenario_device_is_feasible(d)) {
		snprintf(d->to->why, sizeof(d->to->why),
			 "%s has more stored requests than the %.0f that are simulated",
			 d->to->name, MIX_DEVICE_REQUESTS);
		for (size_t i = 0; i < d->study.nr; i++)
			s->vms[d->vm[i]].answer = PREDICTED_NONE;
		goto out;
	}
	ret = scenario_device_simulate(d, err);
	if (ret)
		goto out;
	snprintf(d->to->why, sizeof(d->to->why), "%s", d->answers.why);
	for (size_t i = 0; i < d->study.nr; i++)
		scenario_device_take(d, i);
out:
	if (d)
		study_replay_release(&d->plans);
	free(d);
	return ret;
}

int scenario_simulate(struct scenario *s, const char *name, const char *path, struct err *err)
{
	const struct device_model *device;
	bool found = false;
	int ret = scenario_device(s->files, path, &device, err);

	if (ret)
		return ret;
	for (size_t i = 0; i < s->nr_storages; i++) {
		if (name && strcmp(s->storages[i].name, name) != 0)
			continue;
		s->storages[i].device = device;
		s->storages[i].predictor = NULL;
		found = true;
	}
	return found ? 0 : err_set(err, EINVAL, "%s: it has no storage %.60s", s->path, name);
}

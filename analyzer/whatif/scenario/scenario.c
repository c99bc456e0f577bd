// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/scenario/scenario.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/whatif/cache/cache_share.h"
#include "analyzer/whatif/predict/peak.h"
#include "analyzer/whatif/scenario/scenario_device.h"

const struct scenario_vm *scenario_vm_of(const struct scenario *s, const char *name)
{
	for (size_t i = 0; i < s->nr_vms; i++)
		if (s->vms[i].count && !strcmp(s->vms[i].name, name))
			return &s->vms[i];
	return NULL;
}

/*
 * This struct is one storage with its loads: one load for every VM and count, and the VM of each
 * load.
 */
struct asked {
	struct load_facts facts[PREDICTOR_LOADS_MAX];
	struct predicted answers[PREDICTOR_LOADS_MAX];
	struct cache_stream streams[PREDICTOR_LOADS_MAX];
	double parts[PREDICTOR_LOADS_MAX];
	size_t vm[PREDICTOR_LOADS_MAX], nr;
};

static int scenario_collect(struct asked *a, struct scenario *s, size_t storage, struct err *err)
{
	struct scenario_storage *to = &s->storages[storage];

	a->nr = 0;
	for (size_t i = 0; i < s->nr_vms; i++) {
		struct scenario_vm *vm = &s->vms[i];
		struct load_facts facts;

		if (vm->storage != storage || !vm->count)
			continue;
		if (a->nr + vm->count > PREDICTOR_LOADS_MAX)
			return err_set(err, EINVAL, "expected up to %d VMs on a storage",
				       PREDICTOR_LOADS_MAX);
		load_facts_of_group(vm->group, &facts);
		facts = load_facts_scaled(&facts, vm->load);
		vm->rate_per_s = facts.rate_per_s;
		to->rate_per_s += (double)vm->count * facts.rate_per_s;
		for (size_t k = 0; k < vm->count; k++) {
			a->streams[a->nr] = cache_stream_of(vm->group);
			a->streams[a->nr].bytes_per_s *= vm->load;
			a->facts[a->nr] = facts;
			a->vm[a->nr++] = i;
		}
	}
	to->nr_vms = a->nr;
	return 0;
}

/* Reduces the loads to what passes the cache. */
static void pass_cache(struct asked *a, struct scenario *s, struct scenario_storage *to)
{
	double hits = 0, reads = 0;

	if (!(to->cache_bytes > 0) || !a->nr)
		return;
	cache_shared(a->streams, a->nr, to->cache_bytes, a->parts);
	for (size_t i = 0; i < a->nr; i++) {
		struct load_facts *f = &a->facts[i];
		double hit = 1 - cache_miss_ratio(&a->streams[i], a->parts[i]);
		double read = f->rate_per_s * f->read_ratio, write = f->rate_per_s - read;

		s->vms[a->vm[i]].hit_ratio = hit;
		hits += hit * read;
		reads += read;
		read *= fmax(1 - hit, SCENARIO_LEAST_MISSES);
		f->rate_per_s = read + write;
		f->read_ratio = read / f->rate_per_s;
	}
	to->hit_ratio = reads > 0 ? hits / reads : NAN;
}

static void take_answers(const struct asked *a, struct scenario *s,
			 const struct scenario_storage *to)
{
	for (size_t i = 0; i < a->nr; i++) {
		struct scenario_vm *vm = &s->vms[a->vm[i]];
		double hit = isfinite(vm->hit_ratio) ? vm->hit_ratio : 0;

		vm->answer = a->answers[i];
		vm->passed_per_s = a->facts[i].rate_per_s;
		vm->carried = load_facts_carried(&a->facts[i], a->answers[i].rate_per_s,
						 a->answers[i].rate_high_per_s);
		vm->answer.s[0] = hit * to->hit_s + (1 - hit) * vm->answer.s[0];
		vm->answer.low[0] = hit * to->hit_s + (1 - hit) * vm->answer.low[0];
		vm->answer.high[0] = hit * to->hit_s + (1 - hit) * vm->answer.high[0];
	}
}

static int find_peak(struct scenario *s, size_t storage)
{
	struct peak_load loads[SCENARIO_VMS_MAX];
	size_t whose[SCENARIO_VMS_MAX], nr = 0;
	struct scenario_storage *to = &s->storages[storage];
	int ret;

	for (size_t i = 0; i < s->nr_vms; i++)
		if (s->vms[i].storage == storage && s->vms[i].count) {
			whose[nr] = i;
			loads[nr++] = (struct peak_load){ s->vms[i].group, (double)s->vms[i].count *
										   s->vms[i].load };
		}
	ret = nr ? peak_find(loads, nr, &to->peak) : -ENODATA;
	to->has_peak = !ret;
	for (size_t i = 0; !ret && i < to->peak.nr_makers; i++)
		to->peak.makers[i].stream = (uint32_t)whose[to->peak.makers[i].stream];
	return ret == -ENODATA ? 0 : ret;
}

static double mean_of(const struct scenario *s)
{
	double sum = 0, rate = 0;

	for (size_t i = 0; i < s->nr_vms; i++)
		for (int side = 0; side < 2; side++) {
			const struct scenario_vm *vm = &s->vms[i];
			const uint64_t *nr = vm->group->whole.requests;
			double all = (double)nr[OPERATION_READ] + (double)nr[OPERATION_WRITE];
			double share = (double)nr[side ? OPERATION_WRITE : OPERATION_READ] / all;

			if (!vm->count || !isfinite(vm->answer.s[side]))
				continue;
			sum += (double)vm->count * vm->rate_per_s * share * vm->answer.s[side];
			rate += (double)vm->count * vm->rate_per_s * share;
		}
	return sum / rate;
}

/* Asks the predictor of a storage about its VMs, all at once. */
static int scenario_ask(struct scenario *s, size_t storage, struct asked *a, struct err *err)
{
	const struct predictor_ask ask = { .point = "", .sides = { true, true } };
	struct scenario_storage *to = &s->storages[storage];
	int ret = scenario_collect(a, s, storage, err);

	if (ret || !a->nr)
		return ret;
	pass_cache(a, s, to);
	ret = predictor_ask(to->predictor, &ask, a->facts, a->nr, a->answers, &to->outside, err);
	if (ret)
		return ret;
	if (to->outside)
		snprintf(to->why, sizeof(to->why),
			 "'%.60s' lies outside what the model of %s knows", to->outside, to->name);
	take_answers(a, s, to);
	return 0;
}

int scenario_solve(struct scenario *s, struct err *err)
{
	struct asked *a = calloc(1, sizeof(*a));
	int ret = a ? 0 : err_set(err, ENOMEM, "out of memory");

	for (size_t i = 0; i < s->nr_storages && !ret; i++) {
		struct scenario_storage *to = &s->storages[i];

		ret = to->device ? scenario_device_solve(s, i, err) : scenario_ask(s, i, a, err);
		if (ret)
			err_prefix(err, "%s: storage %s", s->path, to->name);
		else
			ret = find_peak(s, i);
	}
	if (ret)
		goto out;
	s->mean_s = mean_of(s);
out:
	free(a);
	return ret;
}

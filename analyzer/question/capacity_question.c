// SPDX-License-Identifier: Apache-2.0
#include "analyzer/question/capacity_question.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/measure/results.h"
#include "analyzer/measure/results_table.h"
#include "base/text/units.h"

/* Notes which sizes are left out, what was interpolated, and where C is not constant. */
static void capacity_question_warn(const struct teller *t, const struct capacity_result *r,
				   uint64_t left_out_bytes)
{
	uint64_t interpolated = 0, extrapolated = 0, requests = 0;
	const struct capacity_check *worst = NULL;
	char text[UNITS_BYTES];

	if (left_out_bytes)
		teller_note(
			t, "sizes from %s on are left out: one request of them at a time breaks %s",
			units_bytes((double)left_out_bytes, text), r->objectives);
	for (size_t i = 0; i < r->nr_checks; i++)
		if (!worst || fabs(r->checks[i].deviation_ratio) > fabs(worst->deviation_ratio))
			worst = &r->checks[i];
	if (worst && fabs(worst->deviation_ratio) > r->bound)
		teller_note(
			t,
			"C is not constant: at %s and %.4g %% reads it is %+.1f %% from that of "
			"reads alone (bound %.3g %%)",
			units_bytes((double)worst->point->bytes, text),
			100 * worst->point->read_ratio, 100 * worst->deviation_ratio,
			100 * r->bound);
	for (size_t i = 0; i < r->nr_loads; i++) {
		interpolated += r->uses[i].interpolated;
		extrapolated += r->uses[i].extrapolated;
		requests += r->uses[i].requests;
	}
	if (interpolated || extrapolated)
		teller_note(t,
			    "of %" PRIu64 " requests %" PRIu64
			    " are of sizes between the measured ones "
			    "(interpolated), %" PRIu64 " outside them (extrapolated)",
			    requests, interpolated, extrapolated);
}

static int capacity_question_store(struct capacity_question *q, struct err *err)
{
	struct table table = { 0 };
	struct capacity_columns k = { .size = q->size,
				      .mix = q->mix_column,
				      .target = q->of.by.target,
				      .where = q->where.items,
				      .nr_where = q->where.nr };
	char **factors = NULL;
	int ret = results_table(&table, q->of.by.db, q->of.by.campaign, NULL, &factors,
				&k.nr_factors, err);

	k.factors = (const char *const *)factors;
	if (ret)
		goto out;
	ret = capacity_read(&q->r.capacity, &table, &k, err);
out:
	results_names_free(factors, k.nr_factors);
	table_release(&table);
	return ret;
}

static int capacity_question_device(struct capacity_question *q, struct err *err)
{
	struct device_model model;
	int ret = device_model_load(&model, q->of.storage, err);

	if (ret)
		return ret;
	ret = capacity_of_device(&q->r.capacity, &model, &q->limits, err);
	if (ret < 0)
		err_prefix(err, "%s", q->of.storage);
	return ret;
}

static int capacity_question_models(struct capacity_question *q, struct err *err)
{
	int ret = predictor_open(&q->of.predictor, &q->of.by, q->of.teller, err);

	return ret ? ret : capacity_of_models(&q->r.capacity, &q->of.predictor, &q->limits, err);
}

static int capacity_question_objectives(struct capacity_question *q, struct err *err)
{
	size_t used = 0;
	int ret = 0;

	for (size_t i = 0; i < q->of.slo.nr && !ret; i++) {
		ret = headroom_read_objective(q->of.slo.items[i], &q->objectives[i], err);
		if (used < sizeof(q->slo_text))
			used += (size_t)snprintf(q->slo_text + used, sizeof(q->slo_text) - used,
						 "%s%s", i ? " and " : "", q->of.slo.items[i]);
	}
	q->limits = (struct capacity_limits){ .objectives = q->objectives, .nr = q->of.slo.nr };
	q->r.objectives = q->of.slo.nr ? q->slo_text : NULL;
	return ret;
}

/* Widens the range of sizes that is asked for. */
static void capacity_question_ask_size(struct capacity_limits *limits, double bytes)
{
	limits->low_bytes = limits->high_bytes > 0 ? fmin(limits->low_bytes, bytes) : bytes;
	limits->high_bytes = fmax(limits->high_bytes, bytes);
}

/*
 * Notes which sizes are asked for: the given ones and those that the loads send. Without both all
 * measured sizes are.
 */
static void capacity_question_ask_sizes(struct capacity_question *q)
{
	for (size_t i = 0; i < q->r.nr_parts; i++)
		capacity_question_ask_size(&q->limits, (double)q->r.parts[i].bytes);
	for (size_t i = 0; i < q->of.loads.nr; i++) {
		struct load_facts f;

		load_facts_of_group(q->of.loads.groups[i], &f);
		for (int side = 0; side < 2; side++)
			for (size_t k = 0; k < f.sizes[side].nr; k++)
				capacity_question_ask_size(&q->limits, f.sizes[side].at[k].bytes);
	}
}

/* Says that no throughput keeps an objective. */
static struct answer *capacity_question_broken(const struct capacity_question *q)
{
	const struct capacity_limits *l = &q->limits;
	struct answer *a = answer_new("blkcast.capacity/1", "Capacity");
	char bytes[UNITS_BYTES];

	answer_fact(a, "total_iops", NULL, ANSWER_PER_S, 0);
	answer_conclude(a,
			"The target has no capacity that keeps %s: one request of %s at a time "
			"breaks it.",
			q->of.slo.items[l->broken_objective],
			units_bytes((double)l->broken_bytes, bytes));
	return a;
}

/* Uses each load alone, followed by all together. */
static int capacity_question_use_profiles(struct capacity_result *r, struct err *err)
{
	struct load_facts *all = calloc(r->nr_loads + 1, sizeof(*all));
	int ret = 0;

	r->uses = calloc(r->nr_loads + 1, sizeof(*r->uses));
	if (!all || !r->uses) {
		ret = -ENOMEM;
		goto out;
	}
	for (size_t i = 0; i < r->nr_loads; i++) {
		const struct profile_group *group = r->loads[i];

		load_facts_of_group(group, &all[i]);
		ret = capacity_use(&r->capacity, &all[i], 1, &r->uses[i], err);
		if (ret) {
			err_prefix(err, "%s %s", group->whole.host, group->whole.device_name);
			goto out;
		}
	}
	if (r->nr_loads > 1)
		ret = capacity_use(&r->capacity, all, r->nr_loads, &r->uses[r->nr_loads], err);
out:
	free(all);
	return ret;
}

/* Without given sizes each measured size has the whole capacity. */
static int capacity_question_mix_sizes(struct capacity_question *q)
{
	struct capacity_result *r = &q->r;
	const struct capacity *c = &r->capacity;
	size_t nr_totals = r->nr_parts ? 1 : c->nr_sizes;
	int ret;

	r->alone = !r->nr_parts;
	r->totals = calloc(nr_totals + 1, sizeof(*r->totals));
	if (!r->totals)
		return -ENOMEM;
	if (!r->alone)
		return capacity_mix(c, r->parts, r->nr_parts, q->of_requests, &r->totals[0]);
	free(r->parts);
	r->parts = calloc(c->nr_sizes + 1, sizeof(*r->parts));
	if (!r->parts)
		return -ENOMEM;
	r->nr_parts = c->nr_sizes;
	for (size_t i = 0; i < r->nr_parts; i++)
		r->parts[i] = (struct capacity_part){ .bytes = c->sizes[i].bytes,
						      .share = 1,
						      .read_ratio = q->read_ratio };
	for (size_t i = 0; i < r->nr_parts; i++) {
		ret = capacity_mix(c, &r->parts[i], 1, false, &r->totals[i]);
		if (ret)
			return ret;
	}
	return 0;
}

/* Finds the throughputs of the target. Returns 0, -errno, or 1 where the target has none. */
static int capacity_question_target(struct capacity_question *q, struct err *err)
{
	if (q->of.slo.nr)
		capacity_question_ask_sizes(q);
	if (q->of.storage)
		return capacity_question_device(q, err);
	if (q->of.by.models.nr || q->of.slo.nr)
		return capacity_question_models(q, err);
	return q->of.by.db ? capacity_question_store(q, err) : 0;
}

/* Computes the mixes and what the loads use, after the target is known. */
static int capacity_question_solve(struct capacity_question *q, struct err *err)
{
	struct capacity_result *r = &q->r;
	int ret = capacity_finish(&r->capacity, err);

	if (ret)
		return ret;
	r->loads = q->of.loads.groups;
	r->nr_loads = q->of.loads.nr;
	ret = capacity_question_mix_sizes(q);
	if (!ret && r->nr_loads)
		ret = capacity_question_use_profiles(r, err);
	if (ret)
		return ret;
	r->checks = calloc(r->capacity.nr_points, sizeof(*r->checks));
	if (!r->checks)
		return -ENOMEM;
	r->nr_checks = capacity_check(&r->capacity, r->checks);
	r->of_requests = q->of_requests;
	return 0;
}

int capacity_question_answer(struct answer **out, struct capacity_question *q, struct err *err)
{
	int ret = capacity_question_objectives(q, err);

	if (!ret)
		ret = loads_read(&q->of.loads, &q->of.choice, q->of.teller, SIZE_MAX, err);
	if (ret)
		return ret;
	ret = capacity_question_target(q, err);
	if (ret > 0) {
		*out = capacity_question_broken(q);
		q->of.verdict = QUESTION_NO;
		return 0;
	}
	if (!ret)
		ret = capacity_question_solve(q, err);
	if (ret)
		return ret;
	*out = capacity_answer(&q->r);
	if (!q->limits.broken)
		capacity_question_warn(q->of.teller, &q->r, q->limits.left_out_bytes);
	if (q->limits.broken || !capacity_fits(&q->r))
		q->of.verdict = QUESTION_NO;
	return 0;
}

void capacity_question_release(struct capacity_question *q)
{
	struct capacity_result *r = &q->r;

	free(r->uses);
	free(r->parts);
	free(r->totals);
	free(r->checks);
	capacity_release(&r->capacity);
	question_release(&q->of);
}

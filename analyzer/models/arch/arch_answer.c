// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/arch_answer.h"
#include "base/data/json.h"
#include "base/data/table.h"

/* Returns {"mean", "ci", "p50", "p95", "p99"} in seconds; an unknown value is null. */
static json_t *arch_time_json(const struct time_estimate *t)
{
	return json_pack("{s:o, s:[o, o], s:o, s:o, s:o}", "mean", json_number(t->mean.mean), "ci",
			 json_number(t->mean.low), json_number(t->mean.high), "p50",
			 json_number(t->p50.mean), "p95", json_number(t->p95.mean), "p99",
			 json_number(t->p99.mean));
}

static const char *arch_time_kind(const struct arch_model *m, uint32_t time)
{
	uint32_t measure = time - m->nr_scenarios;

	if (time < m->nr_scenarios)
		return "scenario";
	if (measure >= m->nr_measures)
		return "wait";
	return m->measures[measure].io ? "io" : "operation";
}

/* Writes the times of one kind. Each is an object whose name is the member `kind`. */
static json_t *arch_times_json(const struct arch_model *m, const struct arch_solution *s,
			       const char *kind)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < s->nr_times; i++) {
		char *name = strcmp(arch_time_kind(m, i), kind) ? NULL : arch_time_name(m, i);

		if (name)
			json_array_append_new(
				list, json_pack("{s:s, s:o, s:o}", kind, name, "response_time",
						arch_time_json(&s->times[i]), "throughput",
						json_number(s->throughput[i].mean)));
		free(name);
	}
	return list;
}

/*
 * Writes the number of servers, or units of a passive resource, that open scenarios need at the
 * same time, on average.
 */
static json_t *arch_load_json(const struct arch_load_item *items, uint32_t i)
{
	return items ? json_number(items[i].load) : json_null();
}

static json_t *arch_resources_json(const struct arch_model *m, const struct arch_solution *s)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->nr_resources; i++) {
		const struct arch_resource *x = &m->resources[i];
		const char *container =
			x->container == ARCH_NONE ? "" : m->containers[x->container].name;

		json_array_append_new(
			list, json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "container", container,
					"resource", x->name, "utilization",
					json_number(s->resources[i].utilization), "queue_mean",
					json_number(s->resources[i].jobs), "throughput",
					json_number(s->resources[i].throughput), "offered_load",
					arch_load_json(s->load.resources, i)));
	}
	for (uint32_t i = 0; i < m->nr_instances; i++) {
		const struct arch_component *c = &m->components[m->instances[i].component];

		for (uint32_t k = 0; k < c->nr_passives; k++) {
			const struct arch_resource_result *p =
				&s->passives[m->instances[i].first_passive + k];

			json_array_append_new(
				list,
				json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "container",
					  m->containers[m->instances[i].container].name, "instance",
					  m->instances[i].name, "resource", c->passives[k].name,
					  "held_mean", json_number(p->utilization), "queue_mean",
					  json_number(p->jobs), "offered_load",
					  arch_load_json(s->load.passives,
							 m->instances[i].first_passive + k)));
		}
	}
	return list;
}

static json_t *arch_storages_json(const struct arch_model *m, const struct arch_solution *s)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->nr_storages; i++)
		json_array_append_new(list,
				      json_pack("{s:s, s:o}", "storage", m->storages[i].name,
						"requests_mean", json_number(s->storage_jobs[i])));
	return list;
}

/* A time that never occurred has no row, unless an overload hides whether it would occur. */
static bool arch_time_is_shown(const struct arch_solution *s, uint32_t time)
{
	return s->overloaded || s->nr[time] > 0;
}

int arch_result_csv(const struct arch_model *m, const struct arch_solution *s, const char *prefix,
		    struct buf *out)
{
	for (uint32_t i = 0; i < s->nr_times; i++) {
		const struct time_estimate *t = &s->times[i];
		const double cells[] = { t->mean.mean,
					 t->mean.low,
					 t->mean.high,
					 t->p50.mean,
					 t->p95.mean,
					 t->p99.mean,
					 s->throughput[i].mean,
					 s->asked ? (double)s->outside / (double)s->asked : NAN };
		char *name;

		if (!arch_time_is_shown(s, i))
			continue;
		name = arch_time_name(m, i);
		if (!name)
			return -ENOMEM;
		buf_printf(out, "%s%s,", prefix, arch_time_kind(m, i));
		table_put_cell(out, name);
		free(name);
		for (size_t k = 0; k < sizeof(cells) / sizeof(*cells); k++) {
			buf_put_u8(out, ',');
			table_put_number(out, cells[k]);
		}
		buf_put_u8(out, '\n');
	}
	return out->error;
}

static void arch_answer_times(const struct arch_model *m, const struct arch_solution *s,
			      struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .title = "what" },
		{ .title = "name" },
		{ .title = "response time", .unit = ANSWER_SECONDS, .around = true, .right = true },
		{ .title = "p50", .unit = ANSWER_SECONDS },
		{ .title = "p95", .unit = ANSWER_SECONDS },
		{ .title = "p99", .unit = ANSWER_SECONDS },
		{ .title = "per second" },
	};
	struct answer_table *t =
		answer_table(a, NULL, "Response times", NULL, ANSWER_COLUMNS(columns));

	for (uint32_t i = 0; i < s->nr_times; i++) {
		const struct interval *mean = &s->times[i].mean;
		char *name;

		if (!arch_time_is_shown(s, i))
			continue;
		name = arch_time_name(m, i);
		answer_words(t, "%s", arch_time_kind(m, i));
		answer_words(t, "%s", name ? name : "");
		if (s->overloaded)
			answer_words(t, "no steady state");
		else
			answer_interval(t, mean->mean, mean->low, mean->high);
		answer_number(t, s->times[i].p50.mean);
		answer_number(t, s->times[i].p95.mean);
		answer_number(t, s->times[i].p99.mean);
		answer_number(t, s->throughput[i].mean);
		free(name);
	}
}

static void arch_answer_resource(const struct arch_model *m, const struct arch_solution *s,
				 uint32_t i, struct answer_table *t)
{
	const struct arch_resource *resource = &m->resources[i];
	bool is_link = resource->container == ARCH_NONE;
	bool has_load = s->load.open && isfinite(s->load.resources[i].capacity);

	answer_words(t, "%s", is_link ? "(link)" : m->containers[resource->container].name);
	answer_words(t, "%s", resource->name);
	answer_number(t, resource->policy == ARCH_DELAY ? NAN : s->resources[i].utilization);
	answer_number(t, s->resources[i].jobs);
	if (has_load)
		answer_words(t, "%.4g of %.4g", s->load.resources[i].load,
			     s->load.resources[i].capacity);
	else
		answer_number(t, NAN);
}

static void arch_answer_resources(const struct arch_model *m, const struct arch_solution *s,
				  struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .title = "container" },
		{ .title = "resource" },
		{ .title = "busy", .unit = ANSWER_RATIO },
		{ .title = "mean number" },
		{ .title = "load of open scenarios", .right = true },
	};
	struct answer_table *t = answer_table(a, NULL, "Resources", NULL, ANSWER_COLUMNS(columns));

	for (uint32_t i = 0; i < m->nr_resources; i++)
		arch_answer_resource(m, s, i, t);
	for (uint32_t i = 0; i < m->nr_storages; i++) {
		answer_words(t, "(storage)");
		answer_words(t, "%s", m->storages[i].name);
		answer_number(t, NAN);
		answer_number(t, s->storage_jobs[i]);
		answer_number(t, NAN);
	}
}

struct answer *arch_answer(const struct arch_model *m, const struct arch_solution *s, uint64_t seed,
			   double seconds)
{
	struct answer *a = answer_new("blkcast.arch/1", "Response times of a system");

	answer_member(a, "seed", json_integer((json_int_t)seed));
	answer_member(a, "steady_state", json_boolean(!s->overloaded));
	answer_member(a, "scenarios", arch_times_json(m, s, "scenario"));
	answer_member(a, "operations", arch_times_json(m, s, "operation"));
	answer_member(a, "io", arch_times_json(m, s, "io"));
	answer_member(a, "waits", arch_times_json(m, s, "wait"));
	answer_member(a, "resources", arch_resources_json(m, s));
	answer_member(a, "storages", arch_storages_json(m, s));
	answer_member(a, "io_model",
		      json_pack("{s:I, s:I}", "asked", (json_int_t)s->asked, "outside_training",
				(json_int_t)s->outside));
	answer_member(a, "events", json_integer((json_int_t)s->events));
	answer_fact(a, "model_time_s", NULL, ANSWER_SECONDS, s->model_time);
	answer_fact(a, "warm_up_s", NULL, ANSWER_SECONDS, s->warm_up);
	answer_fact(a, "precision", NULL, ANSWER_RATIO, s->precision);
	answer_fact(a, "seconds", NULL, ANSWER_SECONDS, seconds);
	arch_answer_times(m, s, a);
	arch_answer_resources(m, s, a);
	return a;
}

void arch_answer_ratio(struct answer_table *t, double v)
{
	if (isfinite(v))
		answer_words(t, "%.4g", v);
	else
		answer_words(t, "-");
}

/* This struct is a time that both models know, by its name. */
struct arch_pair {
	const char *name; /* name of the first model's time; owned elsewhere */
	const struct time_estimate *a, *b;
};

/*
 * Compares two times: where their intervals of 95 % do not overlap, the second model is slower or
 * faster.
 */
static const char *arch_verdict(const struct arch_pair *p)
{
	if (isnan(p->a->mean.mean) || isnan(p->b->mean.mean))
		return "no steady state";
	if (p->a->mean.high < p->b->mean.low)
		return "slower";
	if (p->b->mean.high < p->a->mean.low)
		return "faster";
	return "cannot tell";
}

static json_t *arch_pair_json(const struct arch_pair *p)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:s}", "name", p->name, "a", arch_time_json(p->a),
			 "b", arch_time_json(p->b), "ratio",
			 json_number(p->b->mean.mean / p->a->mean.mean), "verdict",
			 arch_verdict(p));
}

static void arch_pair_line(struct answer_table *t, const struct arch_pair *p)
{
	answer_words(t, "%s", p->name);
	answer_number(t, p->a->mean.mean);
	answer_number(t, p->b->mean.mean);
	arch_answer_ratio(t, p->b->mean.mean / p->a->mean.mean);
	answer_number(t, p->a->p95.mean);
	answer_number(t, p->b->p95.mean);
	answer_words(t, "%s", arch_verdict(p));
}

/* Adds every time of A that B has measured too. */
static void arch_compare_times(const struct arch_model m[2], const struct arch_solution s[2],
			       json_t *list, struct answer_table *t)
{
	for (uint32_t i = 0; i < m[0].nr_scenarios + m[0].nr_measures; i++) {
		char *name = arch_time_name(&m[0], i);

		for (uint32_t k = 0; name && k < m[1].nr_scenarios + m[1].nr_measures; k++) {
			char *other = arch_time_name(&m[1], k);
			struct arch_pair p = { name, &s[0].times[i], &s[1].times[k] };
			bool same = other && !strcmp(name, other) && arch_time_is_shown(&s[0], i) &&
				    arch_time_is_shown(&s[1], k);

			free(other);
			if (!same)
				continue;
			json_array_append_new(list, arch_pair_json(&p));
			arch_pair_line(t, &p);
		}
		free(name);
	}
}

struct answer *arch_compare_answer(const struct arch_model m[2], const struct arch_solution s[2],
				   uint64_t seed)
{
	static const struct answer_column columns[] = {
		{ .title = "name" },
		{ .title = "A", .unit = ANSWER_SECONDS },
		{ .title = "B", .unit = ANSWER_SECONDS },
		{ .title = "B / A", .right = true },
		{ .title = "p95 A", .unit = ANSWER_SECONDS },
		{ .title = "p95 B", .unit = ANSWER_SECONDS },
		{ .title = "B is" },
	};
	struct answer *a = answer_new("blkcast.arch-compare/1", "Comparison of two models");
	json_t *list = json_array();

	arch_compare_times(m, s, list, answer_table(a, NULL, NULL, NULL, ANSWER_COLUMNS(columns)));
	answer_member(a, "seed", json_integer((json_int_t)seed));
	answer_member(a, "times", list);
	return a;
}

/* Takes the name over. A NULL name means that nothing is overloaded. */
static void arch_check_add(json_t *list, char *name, double load, double capacity)
{
	if (name)
		json_array_append_new(list, json_pack("{s:s, s:f, s:f}", "resource", name,
						      "offered_load", load, "capacity", capacity));
	free(name);
}

json_t *arch_check_json(const struct arch_model *m, const struct arch_load *l)
{
	json_t *list = json_array();

	for (uint32_t r = 0; r < m->nr_resources; r++)
		arch_check_add(list, l->resources[r].overloaded ? arch_resource_name(m, r) : NULL,
			       l->resources[r].load, l->resources[r].capacity);
	for (uint32_t p = 0; p < m->nr_passives; p++) {
		uint32_t time = m->nr_scenarios + m->nr_measures + p;

		arch_check_add(list, l->passives[p].overloaded ? arch_time_name(m, time) : NULL,
			       l->passives[p].load, l->passives[p].capacity);
	}
	return json_pack("{s:s, s:o, s:i, s:i, s:i, s:i, s:i, s:o}", "schema",
			 "blkcast.arch-check/1", "file", json_text(m->files[0]), "components",
			 (int)m->nr_components, "instances", (int)m->nr_instances, "containers",
			 (int)m->nr_containers, "storages", (int)m->nr_storages, "scenarios",
			 (int)m->nr_scenarios, "overloaded", list);
}

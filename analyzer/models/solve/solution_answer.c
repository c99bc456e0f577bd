// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/solve/solution_answer.h"

#include "base/data/json.h"

static json_t *solution_bounds(struct interval v)
{
	return json_pack("[o, o]", json_number(v.low), json_number(v.high));
}

static json_t *solution_mean_and_ci(struct interval v)
{
	return json_pack("{s:o, s:o}", "mean", json_number(v.mean), "ci", solution_bounds(v));
}

static json_t *solution_times(const struct time_estimate *t)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "mean",
			 json_number(t->mean.mean), "ci", solution_bounds(t->mean), "p50",
			 json_number(t->p50.mean), "p50_ci", solution_bounds(t->p50), "p95",
			 json_number(t->p95.mean), "p95_ci", solution_bounds(t->p95), "p99",
			 json_number(t->p99.mean), "p99_ci", solution_bounds(t->p99));
}

static json_t *solution_place(const struct net *n, const struct estimate *e, uint32_t slot)
{
	const struct slot_estimate *s = &e->slots[slot];
	const struct net_place *p = &n->places[n->slots[slot].place];
	json_t *row = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "place", p->name, "colour",
				n->colours[n->slots[slot].colour], "population",
				solution_mean_and_ci(s->population), "residence_time",
				solution_times(&s->residence), "throughput",
				solution_mean_and_ci(s->throughput), "utilization",
				json_number(s->utilization));

	/* The depository of a queueing place holds the rest of the population. */
	if (row && p->queue != NET_NONE)
		json_object_set_new(row, "queue",
				    json_pack("{s:o, s:o}", "population",
					      solution_mean_and_ci(s->queue_population),
					      "residence_time",
					      solution_mean_and_ci(s->queue_time)));
	return row;
}

/*
 * Writes a queue. Its utilization is the sum over the colours of all places that share the queue.
 */
static json_t *solution_queue(const struct net *n, const struct estimate *e, uint32_t queue)
{
	double busy = 0;

	for (uint32_t i = 0; i < n->nr_slots; i++)
		if (n->places[n->slots[i].place].queue == queue)
			busy += e->slots[i].utilization;
	return json_pack("{s:s, s:o}", "queue", n->queues[queue].name, "utilization",
			 json_number(busy));
}

static void solution_add_json(const struct net *n, const struct estimate *e, struct answer *a)
{
	json_t *places = json_array(), *queues = json_array(), *probes = json_array();

	for (uint32_t i = 0; i < n->nr_slots; i++)
		json_array_append_new(places, solution_place(n, e, i));
	for (uint32_t i = 0; i < n->nr_queues; i++)
		json_array_append_new(queues, solution_queue(n, e, i));
	for (uint32_t i = 0; i < n->nr_probes; i++)
		json_array_append_new(probes,
				      json_pack("{s:s, s:s, s:o}", "probe", n->probes[i].name,
						"colour", n->colours[n->probes[i].to_colour],
						"time", solution_times(&e->probes[i].time)));
	answer_member(a, "places", places);
	answer_member(a, "queues", queues);
	answer_member(a, "probes", probes);
}

static void solution_interval(struct answer_table *t, struct interval v)
{
	answer_interval(t, v.mean, v.low, v.high);
}

static void solution_time_cells(struct answer_table *t, const struct time_estimate *time)
{
	solution_interval(t, time->mean);
	answer_number(t, time->p50.mean);
	answer_number(t, time->p95.mean);
	answer_number(t, time->p99.mean);
}

const struct answer_column solution_place_columns[SOLUTION_PLACE_COLUMNS] = {
	{ .title = "place" },
	{ .title = "colour" },
	{ .title = "population", .around = true },
	{ .title = "residence time", .around = true },
	{ .title = "p50" },
	{ .title = "p95" },
	{ .title = "p99" },
	{ .title = "throughput", .around = true },
	{ .title = "busy", .unit = ANSWER_RATIO },
};

const struct answer_column solution_probe_columns[SOLUTION_PROBE_COLUMNS] = {
	{ .title = "probe" }, { .title = "colour" }, { .title = "time", .around = true },
	{ .title = "p50" },   { .title = "p95" },    { .title = "p99" },
};

void solution_place_cells(struct answer_table *t, const struct net *n, const struct estimate *e,
			  uint32_t slot)
{
	const struct slot_estimate *s = &e->slots[slot];

	answer_words(t, "%s", n->places[n->slots[slot].place].name);
	answer_words(t, "%s", n->colours[n->slots[slot].colour]);
	solution_interval(t, s->population);
	solution_time_cells(t, &s->residence);
	solution_interval(t, s->throughput);
	answer_number(t, s->utilization);
}

void solution_probe_cells(struct answer_table *t, const struct net *n, const struct estimate *e,
			  uint32_t probe)
{
	answer_words(t, "%s", n->probes[probe].name);
	answer_words(t, "%s", n->colours[n->probes[probe].to_colour]);
	solution_time_cells(t, &e->probes[probe].time);
}

static void solution_tables(const struct net *n, const struct estimate *e, struct answer *a)
{
	struct answer_table *places =
		answer_table(a, NULL, "Places", "Times are in the net's own unit of time.",
			     solution_place_columns, SOLUTION_PLACE_COLUMNS);
	struct answer_table *probes = answer_table(a, NULL, "Probes", NULL, solution_probe_columns,
						   SOLUTION_PROBE_COLUMNS);

	for (uint32_t i = 0; i < n->nr_slots; i++)
		solution_place_cells(places, n, e, i);
	for (uint32_t i = 0; i < n->nr_probes; i++)
		solution_probe_cells(probes, n, e, i);
}

struct answer *solution_answer(const struct net *n, const struct estimate *e,
			       const struct solution_facts *f)
{
	struct answer *a = answer_new("blkcast.qpn/1", n->name);

	answer_fact_words(a, "net", NULL, n->name);
	answer_fact_words(a, "method", NULL, f->method);
	answer_member(a, "steady_state", json_boolean(!f->no_steady_state));
	answer_member(a, "seed", json_integer((json_int_t)f->seed));
	answer_member(a, "events", json_integer((json_int_t)f->events));
	answer_fact(a, "seconds", NULL, ANSWER_SECONDS, f->seconds);
	answer_fact(a, "model_time", NULL, ANSWER_NONE, f->model_time);
	answer_fact(a, "warm_up", NULL, ANSWER_NONE, f->warm_up);
	answer_fact(a, "precision", NULL, ANSWER_RATIO, f->precision);
	solution_add_json(n, e, a);
	solution_tables(n, e, a);
	return a;
}

static const char *solution_place_name(const struct net *n, uint32_t slot)
{
	return n->places[n->slots[slot].place].name;
}

static const char *solution_colour_name(const struct net *n, uint32_t slot)
{
	return n->colours[n->slots[slot].colour];
}

static json_t *solution_bound_json(struct bound b, double visits)
{
	return solution_bounds((struct interval){ .low = b.low * visits, .high = b.high * visits });
}

struct answer *bounds_answer(const struct net *n, const struct product_form *p,
			     const struct chain_bounds *b)
{
	static const struct answer_column columns[] = {
		{ .title = "place" },
		{ .title = "colour" },
		{ .title = "throughput at least" },
		{ .title = "at most" },
		{ .title = "balanced, at least" },
		{ .title = "at most" },
	};
	struct answer *a = answer_new("blkcast.qpn-bounds/1", n->name);
	struct answer_table *t =
		answer_table(a, NULL, "Bounds of the throughput", NULL, ANSWER_COLUMNS(columns));
	json_t *rows = json_array();

	for (uint32_t i = 0; i < n->nr_slots; i++) {
		const struct chain_bounds *c = &b[p->chain[i]];
		const double visits = p->visits[i];

		json_array_append_new(
			rows, json_pack("{s:s, s:s, s:o, s:o}", "place", solution_place_name(n, i),
					"colour", solution_colour_name(n, i), "asymptotic",
					solution_bound_json(c->asymptotic, visits), "balanced",
					solution_bound_json(c->balanced, visits)));
		answer_words(t, "%s", solution_place_name(n, i));
		answer_words(t, "%s", solution_colour_name(n, i));
		answer_number(t, c->asymptotic.low * visits);
		answer_number(t, c->asymptotic.high * visits);
		answer_number(t, c->balanced.low * visits);
		answer_number(t, c->balanced.high * visits);
	}
	answer_fact_words(a, "net", NULL, n->name);
	answer_member(a, "throughput", rows);
	return a;
}

static json_t *solution_series_json(const struct net *n, const struct transient *t, uint32_t slot)
{
	json_t *points = json_array();

	for (unsigned p = 0; p < t->nr_points; p++) {
		const struct transient_point *point = &t->points[(size_t)p * t->nr_slots + slot];

		json_array_append_new(
			points, json_pack("{s:f, s:f, s:o, s:o, s:o}", "begin", p * t->length,
					  "end", (p + 1) * t->length, "population",
					  solution_mean_and_ci(point->population), "throughput",
					  solution_mean_and_ci(point->throughput), "residence_time",
					  solution_mean_and_ci(point->residence)));
	}
	return json_pack("{s:s, s:s, s:o}", "place", solution_place_name(n, slot), "colour",
			 solution_colour_name(n, slot), "points", points);
}

static void solution_transient_table(const struct net *n, const struct transient *t,
				     struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .title = "from" },
		{ .title = "to" },
		{ .title = "place" },
		{ .title = "colour" },
		{ .title = "population", .around = true },
		{ .title = "throughput", .around = true },
		{ .title = "residence time", .around = true },
	};
	struct answer_table *table =
		answer_table(a, NULL, "Over time", NULL, ANSWER_COLUMNS(columns));

	for (unsigned p = 0; p < t->nr_points; p++) {
		for (uint32_t i = 0; i < t->nr_slots; i++) {
			const struct transient_point *point =
				&t->points[(size_t)p * t->nr_slots + i];
			const struct interval values[] = { point->population, point->throughput,
							   point->residence };

			answer_number(table, p * t->length);
			answer_number(table, (p + 1) * t->length);
			answer_words(table, "%s", solution_place_name(n, i));
			answer_words(table, "%s", solution_colour_name(n, i));
			for (int k = 0; k < 3; k++)
				answer_interval(table, values[k].mean, values[k].low,
						values[k].high);
		}
	}
}

struct answer *transient_answer(const struct net *n, const struct transient *t,
				const struct transient_options *o)
{
	struct answer *a = answer_new("blkcast.qpn-transient/1", n->name);
	json_t *series = json_array();

	for (uint32_t i = 0; i < n->nr_slots; i++)
		json_array_append_new(series, solution_series_json(n, t, i));
	answer_fact_words(a, "net", NULL, n->name);
	answer_member(a, "seed", json_integer((json_int_t)o->seed));
	answer_member(a, "replications", json_integer(o->nr_replications));
	answer_member(a, "events", json_integer((json_int_t)t->events));
	answer_fact(a, "model_time", NULL, ANSWER_NONE, o->model_time);
	answer_member(a, "series", series);
	solution_transient_table(n, t, a);
	return a;
}

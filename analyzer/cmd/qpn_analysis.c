// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "analyzer/cmd/qpn_analysis.h"
#include "analyzer/cmd/show.h"
#include "analyzer/models/solve/bounds.h"
#include "base/json.h"

static const char *qpn_place_name(const struct net *n, uint32_t slot)
{
	return n->places[n->slots[slot].place].name;
}

static const char *qpn_colour_name(const struct net *n, uint32_t slot)
{
	return n->colours[n->slots[slot].colour];
}

static json_t *qpn_bound_json(struct bound b, double visits)
{
	return json_pack("[o, o]", json_number(b.low * visits), json_number(b.high * visits));
}

static struct answer *qpn_bounds_answer(const struct net *n, const struct product_form *p,
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
	struct answer_table *t = answer_table(a, NULL, "Bounds of the throughput", NULL, columns,
					      sizeof(columns) / sizeof(*columns));
	json_t *rows = json_array();

	for (uint32_t i = 0; i < n->nr_slots; i++) {
		const struct chain_bounds *c = &b[p->chain[i]];
		const double visits = p->visits[i];

		json_array_append_new(
			rows, json_pack("{s:s, s:s, s:o, s:o}", "place", qpn_place_name(n, i),
					"colour", qpn_colour_name(n, i), "asymptotic",
					qpn_bound_json(c->asymptotic, visits), "balanced",
					qpn_bound_json(c->balanced, visits)));
		answer_words(t, "%s", qpn_place_name(n, i));
		answer_words(t, "%s", qpn_colour_name(n, i));
		answer_number(t, c->asymptotic.low * visits);
		answer_number(t, c->asymptotic.high * visits);
		answer_number(t, c->balanced.low * visits);
		answer_number(t, c->balanced.high * visits);
	}
	answer_fact_words(a, "net", NULL, n->name);
	answer_member(a, "throughput", rows);
	return a;
}

int qpn_bounds(const struct cli *cli, const struct net *n, struct err *err)
{
	struct product_form p = { 0 };
	struct chain_bounds *b;
	struct answer *a;
	int ret = product_form_make(&p, n, err);

	if (ret)
		return ret;
	b = calloc((size_t)p.nr_chains + 1, sizeof(*b));
	if (!b) {
		ret = -ENOMEM;
		goto out;
	}
	bounds_make(b, &p);
	a = qpn_bounds_answer(n, &p, b);
	ret = cli_show(cli, a, NULL, err);
	answer_free(a);
out:
	free(b);
	product_form_release(&p);
	return ret;
}

static json_t *qpn_value_json(struct interval v)
{
	return json_pack("{s:o, s:[o, o]}", "mean", json_number(v.mean), "ci", json_number(v.low),
			 json_number(v.high));
}

static json_t *qpn_series_json(const struct net *n, const struct transient *t, uint32_t slot)
{
	json_t *points = json_array();

	for (unsigned p = 0; p < t->nr_points; p++) {
		const struct transient_point *point = &t->points[(size_t)p * t->nr_slots + slot];

		json_array_append_new(points,
				      json_pack("{s:f, s:f, s:o, s:o, s:o}", "begin", p * t->length,
						"end", (p + 1) * t->length, "population",
						qpn_value_json(point->population), "throughput",
						qpn_value_json(point->throughput), "residence_time",
						qpn_value_json(point->residence)));
	}
	return json_pack("{s:s, s:s, s:o}", "place", qpn_place_name(n, slot), "colour",
			 qpn_colour_name(n, slot), "points", points);
}

static void qpn_transient_table(const struct net *n, const struct transient *t, struct answer *a)
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
	struct answer_table *table = answer_table(a, NULL, "Over time", NULL, columns,
						  sizeof(columns) / sizeof(*columns));

	for (unsigned p = 0; p < t->nr_points; p++) {
		for (uint32_t i = 0; i < t->nr_slots; i++) {
			const struct transient_point *point =
				&t->points[(size_t)p * t->nr_slots + i];
			const struct interval values[] = { point->population, point->throughput,
							   point->residence };

			answer_number(table, p * t->length);
			answer_number(table, (p + 1) * t->length);
			answer_words(table, "%s", qpn_place_name(n, i));
			answer_words(table, "%s", qpn_colour_name(n, i));
			for (int k = 0; k < 3; k++)
				answer_interval(table, values[k].mean, values[k].low,
						values[k].high);
		}
	}
}

static struct answer *qpn_transient_answer(const struct net *n, const struct transient *t,
					   const struct transient_options *o)
{
	struct answer *a = answer_new("blkcast.qpn-transient/1", n->name);
	json_t *series = json_array();

	for (uint32_t i = 0; i < n->nr_slots; i++)
		json_array_append_new(series, qpn_series_json(n, t, i));
	answer_fact_words(a, "net", NULL, n->name);
	answer_member(a, "seed", json_integer((json_int_t)o->seed));
	answer_member(a, "replications", json_integer(o->nr_replications));
	answer_member(a, "events", json_integer((json_int_t)t->events));
	answer_fact(a, "model_time", NULL, ANSWER_NONE, o->model_time);
	answer_member(a, "series", series);
	qpn_transient_table(n, t, a);
	return a;
}

int qpn_transient(const struct cli *cli, const struct net *n, const struct transient_options *o,
		  struct err *err)
{
	struct transient t;
	struct answer *a;
	int ret = transient_run(&t, n, o, err);

	if (ret)
		return ret;
	a = qpn_transient_answer(n, &t, o);
	ret = cli_show(cli, a, NULL, err);
	answer_free(a);
	transient_release(&t);
	return ret;
}

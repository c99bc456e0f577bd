// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/cmd/qpn_analysis.h"
#include "analyzer/answer/grid.h"
#include "analyzer/models/solve/bounds.h"

static json_t *qpn_analysis_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static void qpn_analysis_cell(struct grid *g, double v)
{
	if (isfinite(v))
		grid_cell(g, "%.6g", v);
	else
		grid_cell(g, "-");
}

static int print_json(json_t *json, struct err *err)
{
	int ret = 0;

	if (!json || json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17)))
		ret = err_set(err, ENOMEM, "out of memory");
	else
		putchar('\n');
	json_decref(json);
	return ret;
}

static const char *place_of(const struct net *n, uint32_t slot)
{
	return n->places[n->slots[slot].place].name;
}

static const char *colour_of(const struct net *n, uint32_t slot)
{
	return n->colours[n->slots[slot].colour];
}

static json_t *bound_json(struct bound b, double visits)
{
	return json_pack("[o, o]", qpn_analysis_number(b.low * visits),
			 qpn_analysis_number(b.high * visits));
}

static json_t *bounds_json(const struct net *n, const struct product_form *p,
			   const struct chain_bounds *b)
{
	json_t *rows = json_array();

	for (uint32_t i = 0; i < n->nr_slots; i++) {
		const struct chain_bounds *c = &b[p->chain[i]];

		json_array_append_new(rows,
				      json_pack("{s:s, s:s, s:o, s:o}", "place", place_of(n, i),
						"colour", colour_of(n, i), "asymptotic",
						bound_json(c->asymptotic, p->visits[i]), "balanced",
						bound_json(c->balanced, p->visits[i])));
	}
	return json_pack("{s:s, s:s, s:o}", "schema", "blkcast.qpn-bounds/1", "net", n->name,
			 "throughput", rows);
}

static int bounds_print(const struct net *n, const struct product_form *p,
			const struct chain_bounds *b)
{
	struct grid g;
	int ret;

	grid_init(&g, "place|colour|>throughput at least|>at most|>balanced, at least|>at most");
	for (uint32_t i = 0; i < n->nr_slots; i++) {
		const struct chain_bounds *c = &b[p->chain[i]];

		grid_cell(&g, "%s", place_of(n, i));
		grid_cell(&g, "%s", colour_of(n, i));
		qpn_analysis_cell(&g, c->asymptotic.low * p->visits[i]);
		qpn_analysis_cell(&g, c->asymptotic.high * p->visits[i]);
		qpn_analysis_cell(&g, c->balanced.low * p->visits[i]);
		qpn_analysis_cell(&g, c->balanced.high * p->visits[i]);
	}
	ret = grid_print(&g, stdout);
	grid_release(&g);
	return ret;
}

int qpn_bounds(const struct cli *cli, const struct net *n, struct err *err)
{
	struct product_form p = { 0 };
	struct chain_bounds *b = NULL;
	int ret = product_form_make(&p, n, err);

	if (ret)
		return ret;
	b = calloc((size_t)p.nr_chains + 1, sizeof(*b));
	if (b)
		bounds_make(b, &p);
	if (b && cli->json)
		ret = print_json(bounds_json(n, &p, b), err);
	else if (!b || bounds_print(n, &p, b))
		ret = err_set(err, ENOMEM, "out of memory");
	free(b);
	product_form_release(&p);
	return ret;
}

static json_t *value_json(struct interval v)
{
	return json_pack("{s:o, s:[o, o]}", "mean", qpn_analysis_number(v.mean), "ci",
			 qpn_analysis_number(v.low), qpn_analysis_number(v.high));
}

static json_t *series_json(const struct net *n, const struct transient *t, uint32_t slot)
{
	json_t *points = json_array();

	for (unsigned p = 0; p < t->nr_points; p++) {
		const struct transient_point *x = &t->points[(size_t)p * t->nr_slots + slot];

		json_array_append_new(points,
				      json_pack("{s:f, s:f, s:o, s:o, s:o}", "begin", p * t->length,
						"end", (p + 1) * t->length, "population",
						value_json(x->population), "throughput",
						value_json(x->throughput), "residence_time",
						value_json(x->residence)));
	}
	return json_pack("{s:s, s:s, s:o}", "place", place_of(n, slot), "colour",
			 colour_of(n, slot), "points", points);
}

static json_t *transient_json(const struct net *n, const struct transient *t,
			      const struct transient_options *o)
{
	json_t *series = json_array();

	for (uint32_t i = 0; i < n->nr_slots; i++)
		json_array_append_new(series, series_json(n, t, i));
	return json_pack("{s:s, s:s, s:I, s:i, s:I, s:f, s:o}", "schema", "blkcast.qpn-transient/1",
			 "net", n->name, "seed", (json_int_t)o->seed, "replications",
			 (int)o->nr_replications, "events", (json_int_t)t->events, "model_time",
			 o->model_time, "series", series);
}

static void cell_half(struct grid *g, struct interval v)
{
	qpn_analysis_cell(g, v.mean);
	qpn_analysis_cell(g, (v.high - v.low) / 2);
}

static int transient_print(const struct net *n, const struct transient *t)
{
	struct grid g;
	int ret;

	grid_init(&g, ">from|>to|place|colour|>population|>+-|>throughput|>+-|>residence time|>+-");
	for (unsigned p = 0; p < t->nr_points; p++) {
		for (uint32_t i = 0; i < t->nr_slots; i++) {
			const struct transient_point *x = &t->points[(size_t)p * t->nr_slots + i];

			qpn_analysis_cell(&g, p * t->length);
			qpn_analysis_cell(&g, (p + 1) * t->length);
			grid_cell(&g, "%s", place_of(n, i));
			grid_cell(&g, "%s", colour_of(n, i));
			cell_half(&g, x->population);
			cell_half(&g, x->throughput);
			cell_half(&g, x->residence);
		}
	}
	ret = grid_print(&g, stdout);
	grid_release(&g);
	return ret;
}

int qpn_transient(const struct cli *cli, const struct net *n, const struct transient_options *o,
		  struct err *err)
{
	struct transient t;
	int ret = transient_run(&t, n, o, err);

	if (ret)
		return ret;
	if (cli->json)
		ret = print_json(transient_json(n, &t, o), err);
	else if (transient_print(n, &t))
		ret = err_set(err, ENOMEM, "out of memory");
	transient_release(&t);
	return ret;
}

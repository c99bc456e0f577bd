// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>

#include "analyzer/answer/grid.h"
#include "analyzer/models/solve/solution_text.h"

static json_t *solution_text_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *solution_text_bounds(struct interval v)
{
	return json_pack("[o, o]", solution_text_number(v.low), solution_text_number(v.high));
}

static json_t *mean_and_ci(struct interval v)
{
	return json_pack("{s:o, s:o}", "mean", solution_text_number(v.mean), "ci",
			 solution_text_bounds(v));
}

static json_t *solution_text_times(const struct time_estimate *t)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "mean",
			 solution_text_number(t->mean.mean), "ci", solution_text_bounds(t->mean),
			 "p50", solution_text_number(t->p50.mean), "p50_ci",
			 solution_text_bounds(t->p50), "p95", solution_text_number(t->p95.mean),
			 "p95_ci", solution_text_bounds(t->p95), "p99",
			 solution_text_number(t->p99.mean), "p99_ci", solution_text_bounds(t->p99));
}

static json_t *place_row(const struct net *n, const struct estimate *e, uint32_t slot)
{
	const struct slot_estimate *s = &e->slots[slot];
	const struct net_place *p = &n->places[n->slots[slot].place];
	json_t *row = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "place", p->name, "colour",
				n->colours[n->slots[slot].colour], "population",
				mean_and_ci(s->population), "residence_time",
				solution_text_times(&s->residence), "throughput",
				mean_and_ci(s->throughput), "utilization",
				solution_text_number(s->utilization));

	/* What a depository holds is the difference. */
	if (row && p->queue != NET_NONE)
		json_object_set_new(row, "queue",
				    json_pack("{s:o, s:o}", "population",
					      mean_and_ci(s->queue_population), "residence_time",
					      mean_and_ci(s->queue_time)));
	return row;
}

/* Shared queues add up over places, and all add up over colours. */
static json_t *queue_row(const struct net *n, const struct estimate *e, uint32_t queue)
{
	double busy = 0;

	for (uint32_t i = 0; i < n->nr_slots; i++)
		if (n->places[n->slots[i].place].queue == queue)
			busy += e->slots[i].utilization;
	return json_pack("{s:s, s:o}", "queue", n->queues[queue].name, "utilization",
			 solution_text_number(busy));
}

json_t *solution_json(const struct net *n, const struct estimate *e, const struct solution_facts *f)
{
	json_t *places = json_array(), *queues = json_array(), *probes = json_array(), *out;

	for (uint32_t i = 0; i < n->nr_slots; i++)
		json_array_append_new(places, place_row(n, e, i));
	for (uint32_t i = 0; i < n->nr_queues; i++)
		json_array_append_new(queues, queue_row(n, e, i));
	for (uint32_t i = 0; i < n->nr_probes; i++)
		json_array_append_new(probes,
				      json_pack("{s:s, s:s, s:o}", "probe", n->probes[i].name,
						"colour", n->colours[n->probes[i].to_colour],
						"time", solution_text_times(&e->probes[i].time)));
	out = json_pack("{s:s, s:s, s:s, s:b, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
			"schema", "blkcast.qpn/1", "net", n->name, "method", f->method,
			"steady_state", !f->no_steady_state, "seed", (json_int_t)f->seed, "events",
			(json_int_t)f->events, "seconds", solution_text_number(f->seconds),
			"model_time", solution_text_number(f->model_time), "warm_up",
			solution_text_number(f->warm_up), "precision",
			solution_text_number(f->precision), "places", places, "queues", queues,
			"probes", probes);
	if (out && json_array_size(places) == n->nr_slots &&
	    json_array_size(queues) == n->nr_queues && json_array_size(probes) == n->nr_probes)
		return out;
	json_decref(out);
	return NULL;
}

static void solution_text_cell(struct grid *g, double v)
{
	if (isfinite(v))
		grid_cell(g, "%.5g", v);
	else
		grid_cell(g, "-");
}

/* 12.34 ±0.5% */
static void cell_interval(struct grid *g, struct interval v)
{
	double half = (v.high - v.low) / 2;

	if (!isfinite(v.mean))
		grid_cell(g, "-");
	else if (isfinite(half) && half > 0 && v.mean > 0)
		grid_cell(g, "%.5g ±%.2g%%", v.mean, 100 * interval_width(v));
	else
		grid_cell(g, "%.5g", v.mean);
}

static void cell_times(struct grid *g, const struct time_estimate *t)
{
	cell_interval(g, t->mean);
	solution_text_cell(g, t->p50.mean);
	solution_text_cell(g, t->p95.mean);
	solution_text_cell(g, t->p99.mean);
}

int solution_print(const struct net *n, const struct estimate *e, FILE *out)
{
	struct grid g;
	int ret;

	grid_init(&g, "place|colour|>population|>residence time|>p50|>p95|>p99|>throughput|>busy");
	for (uint32_t i = 0; i < n->nr_slots; i++) {
		const struct slot_estimate *s = &e->slots[i];

		grid_cell(&g, "%s", n->places[n->slots[i].place].name);
		grid_cell(&g, "%s", n->colours[n->slots[i].colour]);
		cell_interval(&g, s->population);
		cell_times(&g, &s->residence);
		cell_interval(&g, s->throughput);
		if (isfinite(s->utilization))
			grid_cell(&g, "%.2f%%", 100 * s->utilization);
		else
			grid_cell(&g, "-");
	}
	ret = grid_print(&g, out);
	grid_release(&g);
	if (ret || !n->nr_probes)
		return ret;
	fputc('\n', out);
	grid_init(&g, "probe|colour|>time|>p50|>p95|>p99");
	for (uint32_t i = 0; i < n->nr_probes; i++) {
		grid_cell(&g, "%s", n->probes[i].name);
		grid_cell(&g, "%s", n->colours[n->probes[i].to_colour]);
		cell_times(&g, &e->probes[i].time);
	}
	ret = grid_print(&g, out);
	grid_release(&g);
	return ret;
}

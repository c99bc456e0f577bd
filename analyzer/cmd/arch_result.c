// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cmd/arch_result.h"
#include "analyzer/answer/grid.h"
#include "base/units.h"

static json_t *arch_result_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

json_t *arch_time_json(const struct time_estimate *t)
{
	return json_pack("{s:o, s:[o, o], s:o, s:o, s:o}", "mean", arch_result_number(t->mean.mean),
			 "ci", arch_result_number(t->mean.low), arch_result_number(t->mean.high),
			 "p50", arch_result_number(t->p50.mean), "p95",
			 arch_result_number(t->p95.mean), "p99", arch_result_number(t->p99.mean));
}

/* Times first to first + nr, each an object whose name stands under `what`. */
static json_t *arch_result_times(const struct arch_model *m, const struct arch_solution *s,
				 const char *what, const bool *wanted, uint32_t first, uint32_t nr)
{
	json_t *list = json_array();

	for (uint32_t i = first; i < first + nr; i++) {
		char *name = wanted && !wanted[i] ? NULL : arch_time_name(m, i);

		if (name)
			json_array_append_new(
				list, json_pack("{s:s, s:o, s:o}", what, name, "response_time",
						arch_time_json(&s->times[i]), "throughput",
						arch_result_number(s->throughput[i].mean)));
		free(name);
	}
	return list;
}

/* Of a resource, or a unit of a passive one: what open scenarios need of it at once, on average. */
static json_t *load_json(const struct arch_load_item *items, uint32_t i)
{
	return items ? arch_result_number(items[i].load) : json_null();
}

static json_t *arch_result_resources(const struct arch_model *m, const struct arch_solution *s)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->nr_resources; i++) {
		const struct arch_resource *x = &m->resources[i];
		const char *container =
			x->container == ARCH_NONE ? "" : m->containers[x->container].name;

		json_array_append_new(
			list,
			json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "container", container,
				  "resource", x->name, "utilization",
				  arch_result_number(s->resources[i].utilization), "queue_mean",
				  arch_result_number(s->resources[i].jobs), "throughput",
				  arch_result_number(s->resources[i].throughput), "offered_load",
				  load_json(s->load.resources, i)));
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
					  "held_mean", arch_result_number(p->utilization),
					  "queue_mean", arch_result_number(p->jobs), "offered_load",
					  load_json(s->load.passives,
						    m->instances[i].first_passive + k)));
		}
	}
	return list;
}

static json_t *arch_result_storages(const struct arch_model *m, const struct arch_solution *s)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->nr_storages; i++)
		json_array_append_new(list, json_pack("{s:s, s:o}", "storage", m->storages[i].name,
						      "requests_mean",
						      arch_result_number(s->storage_jobs[i])));
	return list;
}

/* Which of the times are operations, which are io: by index of the solution's times. */
static bool *select_times(const struct arch_model *m, bool io)
{
	bool *wanted = calloc(m->nr_scenarios + m->nr_measures + m->nr_passives + 1, sizeof(bool));

	for (uint32_t i = 0; wanted && i < m->nr_measures; i++)
		wanted[m->nr_scenarios + i] = m->measures[i].io == io;
	return wanted;
}

json_t *arch_result_json(const struct arch_model *m, const struct arch_solution *s, uint64_t seed,
			 double seconds)
{
	bool *operations = select_times(m, false), *io = select_times(m, true);
	json_t *out = NULL;

	if (operations && io)
		out = json_pack(
			"{s:s, s:I, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:{s:I, s:I}, s:I, s:o, "
			"s:o, s:o, s:o}",
			"schema", "blkcast.arch/1", "seed", (json_int_t)seed, "steady_state",
			!s->overloaded, "scenarios",
			arch_result_times(m, s, "scenario", NULL, 0, m->nr_scenarios), "operations",
			arch_result_times(m, s, "operation", operations, m->nr_scenarios,
					  m->nr_measures),
			"io", arch_result_times(m, s, "io", io, m->nr_scenarios, m->nr_measures),
			"waits",
			arch_result_times(m, s, "wait", NULL, m->nr_scenarios + m->nr_measures,
					  m->nr_passives),
			"resources", arch_result_resources(m, s), "storages",
			arch_result_storages(m, s), "io_model", "asked", (json_int_t)s->asked,
			"outside_training", (json_int_t)s->outside, "events", (json_int_t)s->events,
			"model_time_s", arch_result_number(s->model_time), "warm_up_s",
			arch_result_number(s->warm_up), "precision",
			arch_result_number(s->precision), "seconds", arch_result_number(seconds));
	free(operations);
	free(io);
	return out;
}

static void cell_time(struct grid *g, double v)
{
	char text[UNITS_BYTES];

	grid_cell(g, "%s", isfinite(v) ? units_measured_time(v, text) : "-");
}

/* unit: "" or "%". */
static void cell_number(struct grid *g, double v, const char *unit)
{
	if (isfinite(v))
		grid_cell(g, *unit ? "%.2f%s" : "%.4g%s", v, unit);
	else
		grid_cell(g, "-");
}

static void cell_interval(struct grid *g, struct interval v)
{
	double half = (v.high - v.low) / 2;
	char text[UNITS_BYTES];

	if (isfinite(v.mean) && isfinite(half) && half > 0 && v.mean > 0)
		grid_cell(g, "%s ±%.2g%%", units_measured_time(v.mean, text),
			  100 * interval_width(v));
	else
		cell_time(g, v.mean);
}

/* What never happened has no line, unless it is not known whether it would. */
static bool arch_result_shown(const struct arch_solution *s, uint32_t time)
{
	return s->overloaded || s->nr[time] > 0;
}

static const char *kind_of(const struct arch_model *m, uint32_t time)
{
	uint32_t measure = time - m->nr_scenarios;

	if (time < m->nr_scenarios)
		return "scenario";
	if (measure >= m->nr_measures)
		return "wait";
	return m->measures[measure].io ? "io" : "operation";
}

/* An empty cell where it is unknown. */
static void csv_number(FILE *out, double v)
{
	if (isfinite(v))
		fprintf(out, ",%.17g", v);
	else
		fputc(',', out);
}

static void csv_text(FILE *out, const char *text)
{
	bool quoted = strpbrk(text, ",\"\n\r");

	fputs(quoted ? ",\"" : ",", out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	if (quoted)
		fputc('"', out);
}

int arch_result_csv(const struct arch_model *m, const struct arch_solution *s, const char *prefix,
		    FILE *out)
{
	for (uint32_t i = 0; i < s->nr_times; i++) {
		const struct time_estimate *t = &s->times[i];
		const double cells[] = { t->mean.mean,	       t->mean.low, t->mean.high,
					 t->p50.mean,	       t->p95.mean, t->p99.mean,
					 s->throughput[i].mean };
		char *name;

		if (!arch_result_shown(s, i))
			continue;
		name = arch_time_name(m, i);
		if (!name)
			return -ENOMEM;
		fprintf(out, "%s%s", prefix, kind_of(m, i));
		csv_text(out, name);
		free(name);
		for (size_t k = 0; k < sizeof(cells) / sizeof(*cells); k++)
			csv_number(out, cells[k]);
		csv_number(out, s->asked ? (double)s->outside / (double)s->asked : NAN);
		fputc('\n', out);
	}
	return 0;
}

static int print_times(const struct arch_model *m, const struct arch_solution *s, FILE *out)
{
	struct grid g;
	int ret;

	grid_init(&g, "what|name|>response time|>p50|>p95|>p99|>per second");
	for (uint32_t i = 0; i < s->nr_times; i++) {
		char *name;

		if (!arch_result_shown(s, i))
			continue;
		name = arch_time_name(m, i);
		grid_cell(&g, "%s", kind_of(m, i));
		grid_cell(&g, "%s", name ? name : "");
		if (s->overloaded)
			grid_cell(&g, "no steady state");
		else
			cell_interval(&g, s->times[i].mean);
		cell_time(&g, s->times[i].p50.mean);
		cell_time(&g, s->times[i].p95.mean);
		cell_time(&g, s->times[i].p99.mean);
		cell_number(&g, s->throughput[i].mean, "");
		free(name);
	}
	ret = grid_print(&g, out);
	grid_release(&g);
	return ret;
}

static int print_resources(const struct arch_model *m, const struct arch_solution *s, FILE *out)
{
	struct grid g;
	int ret;

	grid_init(&g, "container|resource|>busy|>mean number|>load of open scenarios");
	for (uint32_t i = 0; i < m->nr_resources; i++) {
		const struct arch_resource *x = &m->resources[i];

		grid_cell(&g, "%s",
			  x->container == ARCH_NONE ? "(link)" : m->containers[x->container].name);
		grid_cell(&g, "%s", x->name);
		cell_number(&g, x->policy == ARCH_DELAY ? NAN : 100 * s->resources[i].utilization,
			    "%");
		cell_number(&g, s->resources[i].jobs, "");
		if (s->load.open && isfinite(s->load.resources[i].capacity))
			grid_cell(&g, "%.4g of %.4g", s->load.resources[i].load,
				  s->load.resources[i].capacity);
		else
			grid_cell(&g, "-");
	}
	for (uint32_t i = 0; i < m->nr_storages; i++) {
		grid_cell(&g, "(storage)");
		grid_cell(&g, "%s", m->storages[i].name);
		grid_cell(&g, "-");
		cell_number(&g, s->storage_jobs[i], "");
		grid_cell(&g, "-");
	}
	ret = grid_print(&g, out);
	grid_release(&g);
	return ret;
}

int arch_result_print(const struct arch_model *m, const struct arch_solution *s, FILE *out)
{
	int ret = print_times(m, s, out);

	if (ret || !(m->nr_resources + m->nr_storages))
		return ret;
	fputc('\n', out);
	return print_resources(m, s, out);
}

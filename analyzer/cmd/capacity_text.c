// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/capacity_text.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "analyzer/answer/grid.h"
#include "base/json.h"
#include "base/units.h"

static const char *capacity_text_marked(const struct capacity_at *at)
{
	return at->extrapolated ? "extrapolated" : at->interpolated ? "interpolated" : "measured";
}

static void cell_interval(struct grid *g, const struct capacity_value *v, double scale)
{
	char low[UNITS_BYTES], high[UNITS_BYTES];

	if (isfinite(v->low))
		grid_cell(g, "%s .. %s", units_count(scale * v->low, low),
			  units_count(scale * v->high, high));
	else
		grid_cell(g, "-");
}

static int print_sizes(const struct capacity_result *r)
{
	struct grid g;
	char text[UNITS_BYTES];
	int ret;

	grid_init(&g, "size|>C /s|>f_rw|>reads|>share|>read /s|>write /s|>total /s|>90 %|");
	for (size_t i = 0; i < r->nr_parts; i++) {
		const struct capacity_part *p = &r->parts[i];

		grid_cell(&g, "%s", units_bytes((double)p->bytes, text));
		grid_cell(&g, "%s", units_count(p->at.capacity, text));
		grid_cell(&g, "%.3g", p->at.f_rw);
		grid_cell(&g, "%.4g %%", 100 * p->read_ratio);
		grid_cell(&g, "%.4g", p->share);
		grid_cell(&g, "%s", units_count(p->read_iops, text));
		grid_cell(&g, "%s", units_count(p->write_iops, text));
		grid_cell(&g, "%s", units_count(p->read_iops + p->write_iops, text));
		if (r->alone)
			cell_interval(&g, &r->totals[i], 1);
		else
			grid_cell(&g, "%s", "");
		grid_cell(&g, "%s", capacity_text_marked(&p->at));
	}
	if (!r->alone) {
		grid_cell(&g, "total");
		for (int blank = 0; blank < 6; blank++)
			grid_cell(&g, "%s", "");
		grid_cell(&g, "%s", units_count(r->totals[0].value, text));
		cell_interval(&g, &r->totals[0], 1);
		grid_cell(&g, "%s", "");
	}
	ret = grid_print(&g, stdout);
	grid_release(&g);
	return ret;
}

static int print_checks(const struct capacity_result *r)
{
	struct grid g;
	char text[UNITS_BYTES];
	int ret;

	grid_init(&g, "size|>reads|>total /s|>predicted|>error|>C there|>from C");
	for (size_t i = 0; i < r->nr_checks; i++) {
		const struct capacity_check *c = &r->checks[i];

		grid_cell(&g, "%s", units_bytes((double)c->point->bytes, text));
		grid_cell(&g, "%.4g %%", 100 * c->point->read_ratio);
		grid_cell(&g, "%s", units_count(c->point->mean, text));
		grid_cell(&g, "%s", units_count(c->predicted, text));
		grid_cell(&g, "%.1f %%", 100 * c->error_ratio);
		grid_cell(&g, "%s", units_count(c->capacity, text));
		grid_cell(&g, "%+.1f %%", 100 * c->deviation_ratio);
	}
	printf("\nhow constant C is\n");
	ret = grid_print(&g, stdout);
	grid_release(&g);
	return ret;
}

static void use_cells(struct grid *g, const char *host, const char *device,
		      const struct capacity_use *u)
{
	char text[UNITS_BYTES];

	grid_cell(g, "%s", host);
	grid_cell(g, "%s", device);
	grid_cell(g, "%s", units_count(u->rate_per_s, text));
	grid_cell(g, "%.3g %%", 100 * u->share.value);
	cell_interval(g, &u->share, 100);
	grid_cell(g, "%s", u->share.value <= 1 ? "yes" : "no");
	grid_cell(g, "%.3g", 1 / u->share.value);
}

static int print_uses(const struct capacity_result *r)
{
	struct grid g;
	size_t nr = 0;
	int ret;

	grid_init(&g, "host|device|>requests /s|>uses|>90 %|fits|>how many fit");
	for (size_t i = 0; i < r->nr_sets; i++)
		for (size_t k = 0; k < r->sets[i].nr_groups; k++) {
			const struct profile *p = &r->sets[i].groups[k].whole;

			use_cells(&g, p->host, p->device_name, &r->uses[nr++]);
		}
	if (nr > 1)
		use_cells(&g, "all together", "", &r->uses[nr]);
	putchar('\n');
	ret = grid_print(&g, stdout);
	grid_release(&g);
	return ret;
}

int capacity_print(const struct capacity_result *r)
{
	int ret = print_sizes(r);

	if (ret)
		return ret;
	if (r->nr_checks)
		ret = print_checks(r);
	if (ret)
		return ret;
	if (r->nr_uses)
		ret = print_uses(r);
	return ret;
}

static json_t *capacity_text_interval(const struct capacity_value *v)
{
	return isfinite(v->low) ? json_pack("[f,f]", v->low, v->high) : json_null();
}

static json_t *sizes_json(const struct capacity_result *r)
{
	json_t *sizes = json_array();

	for (size_t i = 0; i < r->nr_parts; i++) {
		const struct capacity_part *p = &r->parts[i];
		json_t *one = json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:b, s:b}", "bytes",
					(json_int_t)p->bytes, "capacity", p->at.capacity, "f_rw",
					p->at.f_rw, "share", p->share, "read_ratio", p->read_ratio,
					"read_iops", p->read_iops, "write_iops", p->write_iops,
					"interpolated", p->at.interpolated, "extrapolated",
					p->at.extrapolated);

		if (r->alone)
			json_object_set_new(one, "ci", capacity_text_interval(&r->totals[i]));
		json_array_append_new(sizes, one);
	}
	return sizes;
}

static json_t *checks_json(const struct capacity_result *r)
{
	json_t *checks = json_array();

	for (size_t i = 0; i < r->nr_checks; i++) {
		const struct capacity_check *c = &r->checks[i];

		json_array_append_new(checks,
				      json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:f}", "bytes",
						(json_int_t)c->point->bytes, "read_ratio",
						c->point->read_ratio, "total_iops", c->point->mean,
						"predicted_iops", c->predicted, "error_ratio",
						c->error_ratio, "capacity", c->capacity,
						"deviation_ratio", c->deviation_ratio));
	}
	return checks;
}

static json_t *use_json(const struct capacity_use *u)
{
	return json_pack("{s:f, s:f, s:o, s:b, s:f, s:I, s:I}", "rate_per_s", u->rate_per_s,
			 "capacity_share", u->share.value, "ci", capacity_text_interval(&u->share),
			 "fits", u->share.value <= 1, "how_many_fit", 1 / u->share.value,
			 "interpolated_requests", (json_int_t)u->interpolated,
			 "extrapolated_requests", (json_int_t)u->extrapolated);
}

static json_t *uses_json(const struct capacity_result *r)
{
	json_t *uses = json_array(), *one;
	size_t nr = 0;

	for (size_t i = 0; i < r->nr_sets; i++)
		for (size_t k = 0; k < r->sets[i].nr_groups; k++) {
			const struct profile *p = &r->sets[i].groups[k].whole;

			one = use_json(&r->uses[nr++]);
			json_object_set_new(one, "host", json_string(p->host));
			json_object_set_new(one, "device_name", json_string(p->device_name));
			json_array_append_new(uses, one);
		}
	return uses;
}

int capacity_json(const struct capacity_result *r)
{
	json_t *top = json_pack("{s:s, s:f, s:o, s:o, s:o}", "schema", "blkcast.capacity/1",
				"confidence", CAPACITY_LEVEL, "sizes", sizes_json(r), "constancy",
				checks_json(r), "profiles", uses_json(r));
	int ret = -ENOMEM;

	if (!top)
		return ret;
	json_object_set_new(top, "shares",
			    json_string(r->alone	 ? "alone"
					: r->of_requests ? "requests"
							 : "capacity"));
	/* Sizes that each have the whole capacity cannot be added. */
	json_object_set_new(top, "total_iops",
			    r->alone && r->nr_parts > 1 ? json_null()
							: json_real(r->totals[0].value));
	json_object_set_new(top, "ci",
			    r->alone && r->nr_parts > 1 ? json_null()
							: capacity_text_interval(&r->totals[0]));
	if (r->nr_uses > 1)
		json_object_set_new(top, "together", use_json(&r->uses[r->nr_uses]));
	ret = json_print(top, stdout, JSON_INDENT(2)) || putchar('\n') == EOF ? -EIO : 0;
	json_decref(top);
	return ret;
}

void capacity_warn(const struct cli *cli, const struct capacity_result *r)
{
	uint64_t interpolated = 0, extrapolated = 0, requests = 0;
	const struct capacity_check *worst = NULL;
	char text[UNITS_BYTES];

	for (size_t i = 0; i < r->nr_checks; i++)
		if (!worst || fabs(r->checks[i].deviation_ratio) > fabs(worst->deviation_ratio))
			worst = &r->checks[i];
	if (worst && fabs(worst->deviation_ratio) > r->bound)
		cli_note(
			cli,
			"C is not constant: at %s and %.4g %% reads it is %+.1f %% from that of reads "
			"alone (bound %.3g %%)",
			units_bytes((double)worst->point->bytes, text),
			100 * worst->point->read_ratio, 100 * worst->deviation_ratio,
			100 * r->bound);
	for (size_t i = 0; i < r->nr_uses; i++) {
		interpolated += r->uses[i].interpolated;
		extrapolated += r->uses[i].extrapolated;
		requests += r->uses[i].requests;
	}
	if (interpolated || extrapolated)
		cli_note(cli,
			 "of %" PRIu64 " requests %" PRIu64
			 " are of sizes between the measured ones "
			 "(interpolated), %" PRIu64 " outside them (extrapolated)",
			 requests, interpolated, extrapolated);
}

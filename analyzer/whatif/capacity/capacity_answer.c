// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/capacity/capacity_answer.h"

#include <math.h>
#include <stdio.h>

#include "base/data/json.h"
#include "base/text/units.h"

static void capacity_show_interval(struct answer_table *t, const struct capacity_value *v,
				   const char *(*text)(double value, char out[UNITS_BYTES]))
{
	char low[UNITS_BYTES], high[UNITS_BYTES];

	if (isfinite(v->low))
		answer_words(t, "%s .. %s", text(v->low, low), text(v->high, high));
	else
		answer_words(t, "-");
}

static void capacity_show_sizes(const struct capacity_result *r, struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .title = "size" },
		{ .title = "C /s", .unit = ANSWER_COUNT, .right = true },
		{ .title = "f_rw", .right = true },
		{ .title = "reads", .right = true },
		{ .title = "share", .right = true },
		{ .title = "read /s", .unit = ANSWER_COUNT, .right = true },
		{ .title = "write /s", .unit = ANSWER_COUNT, .right = true },
		{ .title = "total /s", .unit = ANSWER_COUNT },
		{ .title = "90 %", .right = true },
		{ .title = "" },
	};
	struct answer_table *t = answer_table(a, NULL, NULL, NULL, ANSWER_COLUMNS(columns));
	char text[UNITS_BYTES];

	for (size_t i = 0; i < r->nr_parts; i++) {
		const struct capacity_part *p = &r->parts[i];

		answer_words(t, "%s", units_bytes((double)p->bytes, text));
		answer_number(t, p->at.capacity);
		answer_words(t, "%.3g", p->at.f_rw);
		answer_words(t, "%.4g %%", 100 * p->read_ratio);
		answer_words(t, "%.4g", p->share);
		answer_number(t, p->read_iops);
		answer_number(t, p->write_iops);
		answer_number(t, p->read_iops + p->write_iops);
		if (r->alone)
			capacity_show_interval(t, &r->totals[i], units_count);
		else
			answer_words(t, "%s", "");
		answer_words(t, "%s",
			     p->at.extrapolated	  ? "extrapolated"
			     : p->at.interpolated ? "interpolated"
						  : "measured");
	}
	if (r->alone)
		return;
	answer_words(t, "total");
	for (int blank = 0; blank < 6; blank++)
		answer_words(t, "%s", "");
	answer_number(t, r->totals[0].value);
	capacity_show_interval(t, &r->totals[0], units_count);
	answer_words(t, "%s", "");
}

static void capacity_show_checks(const struct capacity_result *r, struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .title = "size" },
		{ .key = "bytes", .unit = ANSWER_INTEGER },
		{ .title = "reads", .right = true },
		{ .key = "read_ratio" },
		{ .key = "total_iops", .title = "total /s", .unit = ANSWER_COUNT },
		{ .key = "predicted_iops", .title = "predicted", .unit = ANSWER_COUNT },
		{ .key = "error_ratio", .title = "error", .unit = ANSWER_RATIO },
		{ .key = "capacity", .title = "C there", .unit = ANSWER_COUNT },
		{ .key = "deviation_ratio", .title = "from C", .unit = ANSWER_CHANGE },
	};
	struct answer_table *t =
		answer_table(a, "constancy", "how constant C is", NULL, ANSWER_COLUMNS(columns));
	char text[UNITS_BYTES];

	for (size_t i = 0; i < r->nr_checks; i++) {
		const struct capacity_check *c = &r->checks[i];

		answer_words(t, "%s", units_bytes((double)c->point->bytes, text));
		answer_number(t, (double)c->point->bytes);
		answer_words(t, "%.4g %%", 100 * c->point->read_ratio);
		answer_number(t, c->point->read_ratio);
		answer_number(t, c->point->mean);
		answer_number(t, c->predicted);
		answer_number(t, c->error_ratio);
		answer_number(t, c->capacity);
		answer_number(t, c->deviation_ratio);
	}
}

static void capacity_show_use(struct answer_table *t, const char *host, const char *device,
			      const struct capacity_use *u)
{
	char share[UNITS_BYTES];

	answer_words(t, "%s", host);
	answer_words(t, "%s", device);
	answer_number(t, u->rate_per_s);
	answer_words(t, "%s", units_share(u->share.value, share));
	capacity_show_interval(t, &u->share, units_share);
	answer_words(t, "%s", u->share.value <= 1 ? "yes" : "no");
	answer_words(t, "%.3g", 1 / u->share.value);
}

static json_t *capacity_interval_json(const struct capacity_value *v)
{
	return isfinite(v->low) ? json_pack("[f,f]", v->low, v->high) : json_null();
}

static json_t *capacity_sizes_json(const struct capacity_result *r)
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
			json_object_set_new(one, "ci", capacity_interval_json(&r->totals[i]));
		json_array_append_new(sizes, one);
	}
	return sizes;
}

static json_t *capacity_use_json(const struct capacity_use *u)
{
	return json_pack("{s:f, s:f, s:o, s:b, s:f, s:I, s:I}", "rate_per_s", u->rate_per_s,
			 "capacity_share", u->share.value, "ci", capacity_interval_json(&u->share),
			 "fits", u->share.value <= 1, "how_many_fit", 1 / u->share.value,
			 "interpolated_requests", (json_int_t)u->interpolated,
			 "extrapolated_requests", (json_int_t)u->extrapolated);
}

/* Adds how much each load uses. The table for people has a row for all of them together, too. */
static void capacity_show_uses(const struct capacity_result *r, struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .title = "host" },
		{ .title = "device" },
		{ .title = "requests /s", .unit = ANSWER_COUNT },
		{ .title = "uses", .right = true },
		{ .title = "90 %", .right = true },
		{ .title = "fits" },
		{ .title = "how many fit", .right = true },
	};
	struct answer_table *t = answer_table(a, NULL, NULL, NULL, ANSWER_COLUMNS(columns));
	json_t *uses = json_array();

	for (size_t i = 0; i < r->nr_loads; i++) {
		const struct profile *p = &r->loads[i]->whole;
		json_t *one = capacity_use_json(&r->uses[i]);

		json_object_set_new(one, "host", json_text(p->host));
		json_object_set_new(one, "device_name", json_text(p->device_name));
		json_array_append_new(uses, one);
		capacity_show_use(t, p->host, p->device_name, &r->uses[i]);
	}
	if (r->nr_loads > 1)
		capacity_show_use(t, "all together", "", &r->uses[r->nr_loads]);
	answer_member(a, "profiles", uses);
}

bool capacity_fits(const struct capacity_result *r)
{
	return !r->nr_loads || r->uses[r->nr_loads > 1 ? r->nr_loads : 0].share.value <= 1;
}

static void capacity_conclude(const struct capacity_result *r, struct answer *a)
{
	const struct capacity_part *p = &r->parts[0];
	char bytes[UNITS_BYTES], total[UNITS_BYTES], share[UNITS_BYTES], kept[256] = "";

	if (r->objectives)
		snprintf(kept, sizeof(kept), " while %.200s holds", r->objectives);
	units_bytes((double)p->bytes, bytes);
	units_count(r->totals[0].value, total);
	if (r->nr_loads)
		answer_conclude(a, "%s %s of the capacity%s: %s.",
				r->nr_loads > 1 ? "The loads together use" : "The load uses",
				units_share(r->uses[r->nr_loads > 1 ? r->nr_loads : 0].share.value,
					    share),
				kept, capacity_fits(r) ? "it suffices" : "it does not suffice");
	else if (r->alone)
		answer_conclude(a, "The target serves %s requests/s of %s at %.4g %% reads%s.",
				total, bytes, 100 * p->read_ratio, kept);
	else
		answer_conclude(a, "The target serves %s requests/s of these sizes%s.", total,
				kept);
}

struct answer *capacity_answer(const struct capacity_result *r)
{
	struct answer *a = answer_new("blkcast.capacity/1", "Capacity");
	/* Sizes that each have the whole capacity cannot be added. */
	bool has_total = !r->alone || r->nr_parts <= 1;

	answer_fact(a, "confidence", NULL, ANSWER_RATIO, CAPACITY_LEVEL);
	answer_member(a, "sizes", capacity_sizes_json(r));
	capacity_show_sizes(r, a);
	capacity_show_checks(r, a);
	capacity_show_uses(r, a);
	answer_fact_words(a, "shares", NULL,
			  r->alone	   ? "alone"
			  : r->of_requests ? "requests"
					   : "capacity");
	answer_fact(a, "total_iops", NULL, ANSWER_PER_S, has_total ? r->totals[0].value : NAN);
	answer_member(a, "ci", has_total ? capacity_interval_json(&r->totals[0]) : json_null());
	if (r->nr_loads > 1)
		answer_member(a, "together", capacity_use_json(&r->uses[r->nr_loads]));
	capacity_conclude(r, a);
	return a;
}

// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/mix/space_answer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/data/json.h"
#include "base/text/units.h"

double space_before(const struct space_result *r, int side)
{
	return r->space.beside ? r->base_s[side] : r->space.alone.s[side];
}

/* Writes the reason why no conclusion is possible, which comes before the sentence. */
static void space_lead(const struct space_result *r, char *out, size_t size)
{
	const struct neighbour_space *s = &r->space;

	out[0] = 0;
	if (s->outside)
		snprintf(out, size,
			 "Cannot tell: '%.60s' lies outside what the target's model knows. "
			 "Extrapolated: ",
			 s->outside);
	else if (s->carried != LOAD_CARRIED) {
		load_facts_say_carried(s->carried, "Cannot tell: the target", r->load,
				       s->offered_per_s, s->least_per_s, out, size - 48);
		snprintf(out + strlen(out), 48, ". With as many requests as it gives: ");
	}
}

bool space_cannot_tell(const struct space_result *r)
{
	return r->space.outside || r->space.carried != LOAD_CARRIED;
}

static void space_conclude(const struct space_result *r, struct answer *a)
{
	const struct neighbour_space *s = &r->space;
	double change[2] = { s->worst[0] / space_before(r, 0), s->worst[1] / space_before(r, 1) };
	int side = isnan(change[0]) || change[1] > change[0];
	char now[UNITS_BYTES], then[UNITS_BYTES], size[UNITS_BYTES], lead[384];

	space_lead(r, lead, sizeof(lead));
	if (isnan(s->worst[side])) {
		answer_conclude(a, "Nothing is known of the times of %s.", r->load);
		return;
	}
	answer_conclude(
		a,
		"%sThe %ss of %s are slowest, %s, beside %s with requests of %s and %.0f %% reads; "
		"%s they take %s.",
		lead, side ? "write" : "read", r->load, units_time(s->worst[side], now),
		r->neighbour, units_bytes(s->sizes[s->worst_size[side]], size),
		100 * s->reads[s->worst_read[side]], s->beside ? "as characterized" : "alone there",
		isnan(space_before(r, side)) ? "a time unknown"
					     : units_time(space_before(r, side), then));
}

/* Makes the table for people: one row per size and one column per share of reads. */
static void space_answer_side(const struct space_result *r, int side, struct answer *a)
{
	const struct neighbour_space *s = &r->space;
	struct answer_column columns[SPACE_LEVELS_MAX + 1] = {
		{ .title = side ? "writes beside" : "reads beside", .unit = ANSWER_BYTES }
	};
	char titles[SPACE_LEVELS_MAX][32];
	struct answer_table *t;

	for (size_t k = 0; k < s->nr_reads; k++) {
		snprintf(titles[k], sizeof(titles[k]), "%.0f %% reads", 100 * s->reads[k]);
		columns[k + 1] =
			(struct answer_column){ .title = titles[k], .unit = ANSWER_SECONDS };
	}
	t = answer_table(a, NULL, side ? "Writes" : "Reads",
			 "Mean response times of the load, by the neighbour's request size and "
			 "its share of reads.",
			 columns, s->nr_reads + 1);
	for (size_t i = 0; i < s->nr_sizes; i++) {
		answer_number(t, s->sizes[i]);
		for (size_t k = 0; k < s->nr_reads; k++)
			answer_number(t, s->at[i][k].s[side]);
	}
}

static json_t *space_side_json(const struct space_result *r, int side)
{
	const struct neighbour_space *s = &r->space;
	json_t *rows;

	if (isnan(s->worst[side]))
		return json_null();
	rows = json_array();
	for (size_t i = 0; i < s->nr_sizes; i++) {
		json_t *row = json_array();

		for (size_t k = 0; k < s->nr_reads; k++)
			json_array_append_new(row, json_number(s->at[i][k].s[side]));
		json_array_append_new(rows, row);
	}
	return json_pack("{s:o, s:o}", "before_s", json_number(space_before(r, side)), "mean_s",
			 rows);
}

static json_t *space_levels_json(const double *levels, size_t nr)
{
	json_t *all = json_array();

	for (size_t i = 0; i < nr; i++)
		json_array_append_new(all, json_real(levels[i]));
	return all;
}

struct answer *space_answer(const struct space_result *r)
{
	const struct neighbour_space *s = &r->space;
	struct answer *a = answer_new("blkcast.interference/1", "Beside a neighbour");

	answer_fact_words(a, "load", NULL, r->load);
	answer_fact_words(a, "neighbour", NULL, r->neighbour);
	answer_member(a, "sizes_bytes", space_levels_json(s->sizes, s->nr_sizes));
	answer_member(a, "read_ratios", space_levels_json(s->reads, s->nr_reads));
	answer_member(a, "read", space_side_json(r, 0));
	answer_member(a, "write", space_side_json(r, 1));
	answer_member(a, "extrapolated", json_boolean(s->outside != NULL));
	for (int side = 0; side < 2; side++) {
		if (isfinite(s->worst[side]))
			space_answer_side(r, side, a);
	}
	space_conclude(r, a);
	return a;
}

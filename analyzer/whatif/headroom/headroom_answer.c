// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/headroom/headroom_answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/json.h"
#include "base/text/units.h"

#define LOAD_BYTES     128
#define INTERVAL_BYTES (2 * UNITS_BYTES + 32)
/*
 * The answer says so if the throughput is below this share of what the number of clients suggests.
 */
#define GROWS_RATIO 0.95

static void headroom_bound_text(const struct headroom_bound *b, char out[UNITS_BYTES])
{
	snprintf(out, UNITS_BYTES, isnan(b->factor) ? "?" : "%s%.3g",
		 b->at_least ? "at least "
		 : b->below  ? "below "
			     : "",
		 b->factor);
}

/* Writes " (90 %: 2.1 to 3.4)", or "" where neither end is known. */
static void headroom_interval_text(const struct headroom *h, char out[INTERVAL_BYTES])
{
	char low[UNITS_BYTES], high[UNITS_BYTES];

	out[0] = 0;
	if (isnan(h->low.factor) && isnan(h->high.factor))
		return;
	headroom_bound_text(&h->low, low);
	headroom_bound_text(&h->high, high);
	snprintf(out, INTERVAL_BYTES, " (90 %%: %s to %s)", low, high);
}

/* Writes the load, such as "4 clients" or "10 clients that think 20 ms between their requests". */
static void headroom_load_text(const struct headroom *h, char out[LOAD_BYTES])
{
	char think[UNITS_BYTES];

	if (h->busy)
		snprintf(out, LOAD_BYTES, "%.3g client%s %s between %s requests", h->busy->clients,
			 h->busy->clients == 1 ? " that thinks" : "s that think",
			 units_time(h->busy->think_s, think),
			 h->busy->clients == 1 ? "its" : "their");
	else if (h->model)
		load_model_amount(h->model, h->scaled, h->today, out);
	else if (strcmp(h->load, "rate") != 0)
		snprintf(out, LOAD_BYTES, "%.3g client%s", h->today, h->today == 1 ? "" : "s");
	else
		snprintf(out, LOAD_BYTES, "%.3g requests/s", h->today);
}

/*
 * Returns the requests per second of all loads with factor times their clients; NaN if the models
 * cannot tell.
 */
static double headroom_rate_at(struct predictor *p, const struct load_facts *loads, size_t nr,
			       double factor)
{
	const struct predictor_ask ask = { .point = "", .sides = { true, true } };
	struct load_facts *each = calloc(nr, sizeof(*each));
	struct predicted *out = calloc(nr, sizeof(*out));
	double sum = each && out ? 0 : NAN;
	struct err ignored;

	for (size_t i = 0; i < nr && each; i++)
		each[i] = load_facts_scaled(&loads[i], factor);
	if (sum == 0 && predictor_ask(p, &ask, each, nr, out, NULL, &ignored))
		sum = NAN;
	for (size_t i = 0; i < nr && sum >= 0; i++)
		sum += out[i].rate_per_s;
	free(each);
	free(out);
	return sum;
}

/*
 * The rates are computed only if more load means more clients: a model whose load variable is a
 * rate was measured at those rates.
 */
void headroom_find_rates(struct headroom_result *r, struct predictor *p,
			 const struct load_facts *loads, size_t nr)
{
	const struct headroom *h = r->found;
	double least = 0;

	r->offered_per_s = 0;
	r->today_per_s = r->limit_per_s = NAN;
	for (size_t i = 0; i < nr; i++) {
		r->offered_per_s += loads[i].rate_per_s;
		least = fmax(least, 1 / loads[i].concurrency);
	}
	if (h->by_think || (h->model && load_model_clients(h->model) != h->scaled))
		return;
	r->today_per_s = headroom_rate_at(p, loads, nr, 1);
	if (h->at.factor >= least)
		r->limit_per_s = headroom_rate_at(p, loads, nr, h->at.factor);
}

bool headroom_is_overloaded(const struct headroom_result *r)
{
	const struct load_facts all = { .rate_per_s = r->offered_per_s };

	return load_facts_carried(&all, r->today_per_s, NAN) != LOAD_CARRIED;
}

bool headroom_is_outside(const struct headroom *h)
{
	return h->outside || h->today_outside || h->why[0];
}

static void headroom_say_rates(const struct headroom_result *r, char *out, size_t size)
{
	const struct headroom *h = r->found;
	char offered[UNITS_BYTES], gives[UNITS_BYTES];

	if (headroom_is_overloaded(r))
		snprintf(
			out, size,
			" The target cannot carry this load: offered %s requests/s, it gives %s/s.",
			units_count(r->offered_per_s, offered), units_count(r->today_per_s, gives));
	else if (r->limit_per_s < GROWS_RATIO * h->at.factor * r->today_per_s)
		snprintf(out, size,
			 " With so many clients it gives %.3g times today's requests per second, "
			 "since each waits longer.",
			 r->limit_per_s / r->today_per_s);
}

void headroom_conclude(const struct headroom_result *r, char lead[HEADROOM_WORDS_BYTES])
{
	const struct headroom *h = r->found;
	char at[UNITS_BYTES], now[UNITS_BYTES], load[LOAD_BYTES], interval[INTERVAL_BYTES];
	size_t used = 0;

	headroom_bound_text(&h->at, at);
	headroom_interval_text(h, interval);
	units_time(h->predicted_today, now);
	headroom_load_text(h, load);
	if (h->why[0])
		used = (size_t)snprintf(lead, HEADROOM_WORDS_BYTES,
					"Cannot tell: %s. Extrapolated: ", h->why);
	else if (headroom_is_outside(h))
		used = (size_t)snprintf(lead, HEADROOM_WORDS_BYTES,
					"Cannot tell: '%.60s' lies outside what the model knows. "
					"Extrapolated: ",
					h->outside ? h->outside : h->load);
	if (h->broken && h->at.below)
		snprintf(lead + used, HEADROOM_WORDS_BYTES - used,
			 "%s is broken today: %s are predicted with %s; it does not hold at %.3g "
			 "times today's load either, the least that was looked at.",
			 r->text, now, load, h->at.factor);
	else if (h->broken)
		snprintf(lead + used, HEADROOM_WORDS_BYTES - used,
			 "%s is broken today: %s are predicted with %s; it would hold up to %s "
			 "times today's load.",
			 r->text, now, load, at);
	else if (h->by_think)
		snprintf(lead + used, HEADROOM_WORDS_BYTES - used,
			 "%s holds with think times up to %s times shorter%s than those of today's "
			 "%s; today %s are predicted.",
			 r->text, at, interval, load, now);
	else
		snprintf(lead + used, HEADROOM_WORDS_BYTES - used,
			 "%s holds up to %s times today's load of %s%s; today %s are predicted.",
			 r->text, at, load, interval, now);
	used = strlen(lead);
	headroom_say_rates(r, lead + used, HEADROOM_WORDS_BYTES - used);
}

static json_t *headroom_bound_json(const struct headroom_bound *b)
{
	return isnan(b->factor) ? json_null()
				: json_pack("{s:f, s:b, s:b}", "factor", b->factor, "at_least",
					    b->at_least, "below", b->below);
}

static json_t *headroom_result_json(const struct headroom_result *r)
{
	const struct headroom *h = r->found;
	json_t *curve = json_array();
	char lead[HEADROOM_WORDS_BYTES];

	headroom_conclude(r, lead);
	for (size_t k = 0; k<h->nr; k += h->nr> 2 * HEADROOM_NET_POINTS ? 10 : 1)
		json_array_append_new(curve,
				      json_pack("[f,f,o,o]", h->curve[k].load,
						h->curve[k].predicted, json_number(h->curve[k].low),
						json_number(h->curve[k].high)));
	return json_pack(
		"{s:s, s:s, s:f, s:s, s:f, s:o, s:f, s:b, s:b, s:o, s:o, s:o, s:o, s:s, s:{s:f, s:o, s:o}}",
		"slo", r->text, "response", r->objective->response, "limit_s", h->limit, "load",
		h->load, "today", h->today, "think_s",
		json_number(h->busy ? h->busy->think_s : NAN), "predicted_today_s",
		h->predicted_today, "broken", h->broken, "extrapolated", headroom_is_outside(h),
		"headroom", headroom_bound_json(&h->at), "low", headroom_bound_json(&h->low),
		"high", headroom_bound_json(&h->high), "curve", curve, "conclusion", lead,
		"throughput", "offered_per_s", r->offered_per_s, "today_per_s",
		json_number(r->today_per_s), "limit_per_s", json_number(r->limit_per_s));
}

/* Adds the table that people see; machines have one object per objective. */
static void headroom_answer_table(const struct headroom_result *results, size_t nr,
				  struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .title = "objective" },
		{ .title = "today", .unit = ANSWER_SECONDS, .interval = "ci" },
		{ .title = "times today's load", .right = true },
		{ .title = "from", .right = true },
		{ .title = "to", .right = true },
		{ .title = "load today" },
	};
	struct answer_table *t =
		answer_table(a, NULL, "Objectives",
			     "How many times today's load keeps each objective, with the "
			     "90 % interval.",
			     ANSWER_COLUMNS(columns));
	char text[UNITS_BYTES], load[LOAD_BYTES];

	for (size_t i = 0; i < nr; i++) {
		const struct headroom *h = results[i].found;
		const struct headroom_bound *const bounds[] = { &h->at, &h->low, &h->high };

		answer_words(t, "%s", results[i].text);
		answer_interval(t, h->predicted_today, h->low_today, h->high_today);
		for (int k = 0; k < 3; k++) {
			headroom_bound_text(bounds[k], text);
			answer_words(t, "%s", text);
		}
		headroom_load_text(h, load);
		answer_words(t, "%s", load);
	}
}

struct answer *headroom_answer(const struct headroom_result *results, size_t nr, size_t tightest)
{
	struct answer *a = answer_new("blkcast.headroom/1", "How much more load");
	json_t *all = json_array();
	char lead[HEADROOM_WORDS_BYTES];

	for (size_t i = 0; i < nr; i++)
		json_array_append_new(all, headroom_result_json(&results[i]));
	answer_fact(a, "confidence", NULL, ANSWER_NONE, HEADROOM_LEVEL);
	answer_fact(a, "tightest", NULL, ANSWER_INTEGER, (double)tightest);
	answer_member(a, "objectives", all);
	headroom_answer_table(results, nr, a);
	headroom_conclude(&results[tightest], lead);
	answer_conclude(a, "%s", lead);
	for (size_t i = 0; i < nr; i++) {
		if (i == tightest)
			continue;
		headroom_conclude(&results[i], lead);
		answer_note(a, "%s", lead);
	}
	return a;
}

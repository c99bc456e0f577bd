// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/scenario/scenario_answer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/data/json.h"
#include "base/text/units.h"

static const char *const scenario_sides[2] = { "read", "write" };

static bool scenario_has_interval(const struct predicted *a, int side)
{
	return predicted_has_interval(a->s[side], a->low[side], a->high[side]);
}

static double scenario_base_s(const struct scenario_vm *vm, int side)
{
	const struct profile *p = &vm->group->whole;

	if (!p->requests[side ? OPERATION_WRITE : OPERATION_READ])
		return NAN;
	return profile_mean_s(side ? &p->write.response : &p->read.response, STAGE_TOTAL);
}

static bool scenario_seen_before(const struct scenario_result *r, size_t scenario, const char *name)
{
	for (size_t i = 0; i < scenario; i++)
		if (scenario_vm_of(&r->scenarios[i], name))
			return true;
	return false;
}

/*
 * Sets out to row k of all rows, in order of their first appearance. Returns false if there is no
 * row k.
 */
bool scenario_row_of(const struct scenario_result *r, size_t k, struct scenario_row *out)
{
	for (size_t at = 0; at < r->nr; at++)
		for (size_t i = 0; i < r->scenarios[at].nr_vms; i++) {
			const struct scenario_vm *vm = &r->scenarios[at].vms[i];

			if (!vm->count || scenario_seen_before(r, at, vm->name))
				continue;
			for (int side = 0; side < 2; side++) {
				const uint64_t *nr = vm->group->whole.requests;

				if (!nr[side ? OPERATION_WRITE : OPERATION_READ] || k-- > 0)
					continue;
				*out = (struct scenario_row){ vm->name, side,
							      scenario_base_s(vm, side) };
				return true;
			}
		}
	return false;
}

double scenario_time_s(const struct scenario *s, const struct scenario_row *row)
{
	const struct scenario_vm *vm = scenario_vm_of(s, row->vm);

	return vm ? vm->answer.s[row->side] : NAN;
}

/*
 * Finds the row that changes most compared with the first scenario or, if there is only one, with
 * today.
 */
static bool scenario_worst_row(const struct scenario_result *r, const struct scenario *s,
			       struct scenario_row *out, double *before, double *now)
{
	double worst = 0;
	struct scenario_row row;

	for (size_t k = 0; scenario_row_of(r, k, &row); k++) {
		double a = r->nr > 1 ? scenario_time_s(&r->scenarios[0], &row) : row.base_s;
		double b = scenario_time_s(s, &row), change = fabs(log(b / a));

		if (!(change > worst) || !isfinite(change))
			continue;
		worst = change;
		*out = row;
		*before = a;
		*now = b;
	}
	return worst > 0;
}

static void scenario_change_words(char *out, size_t size, const struct scenario_row *row,
				  double before, double now)
{
	char a[UNITS_BYTES], b[UNITS_BYTES];

	snprintf(out, size, "the %ss of %s change most, from %s to %s (%+.1f %%)",
		 scenario_sides[row->side], row->vm, units_time(before, a), units_time(now, b),
		 100 * (now / before - 1));
}

/*
 * Returns the VM of a modelled or of a simulated storage that gets the smallest share of the
 * requests that it offers; NULL if each of them gets all.
 */
static const struct scenario_vm *scenario_overload(const struct scenario *s, bool simulated)
{
	const struct scenario_vm *worst = NULL;
	double least = INFINITY;

	for (size_t i = 0; i < s->nr_vms; i++) {
		const struct scenario_vm *vm = &s->vms[i];
		double ratio = vm->answer.rate_per_s / vm->passed_per_s;

		if (!vm->count || vm->carried == LOAD_CARRIED || !(ratio < least) ||
		    (s->storages[vm->storage].device != NULL) != simulated)
			continue;
		worst = vm;
		least = ratio;
	}
	return worst;
}

static const struct scenario_storage *scenario_outside(const struct scenario *s)
{
	for (size_t i = 0; i < s->nr_storages; i++) {
		if (s->storages[i].nr_vms && s->storages[i].why[0])
			return &s->storages[i];
	}
	return NULL;
}

bool scenario_cannot_tell(const struct scenario *s)
{
	return scenario_overload(s, false) || scenario_outside(s);
}

bool scenario_overloaded(const struct scenario *s)
{
	return scenario_overload(s, true) != NULL;
}

void scenario_judge(struct scenario_result *r)
{
	struct study_slo_worst worst = { STUDY_SLO_HOLDS, r->slo_words, sizeof(r->slo_words) };
	char name[2 * SCENARIO_NAME_BYTES + 8];

	for (size_t i = 0; i < r->nr; i++) {
		const struct scenario *s = &r->scenarios[i];

		for (size_t v = 0; v < s->nr_vms; v++)
			for (size_t k = 0; k < r->slo.nr && s->vms[v].count; k++) {
				const struct scenario_vm *vm = &s->vms[v];
				int side = r->slo.objectives[k].side;

				if (!vm->group->whole
					     .requests[side ? OPERATION_WRITE : OPERATION_READ])
					continue;
				snprintf(name, sizeof(name), "%s in %s", vm->name, s->name);
				study_slo_judge(&r->slo, k, name, vm->answer.s[side],
						vm->answer.high[side], &worst);
			}
	}
	r->slo_verdict = worst.verdict;
}

/* Writes why one scenario allows no conclusion, or that its simulated storage is too slow. */
static void scenario_lead_one(const struct scenario *s, char *out, size_t size)
{
	const struct scenario_storage *outside = scenario_outside(s);
	const struct scenario_vm *vm = scenario_overload(s, false);
	char target[2 * SCENARIO_NAME_BYTES + 32];
	bool simulated = !vm;

	if (outside) {
		snprintf(out, size, "Cannot tell: in %s %s", s->name, outside->why);
		return;
	}
	if (simulated)
		vm = scenario_overload(s, true);
	snprintf(target, sizeof(target), "%s %s the target %s",
		 simulated ? "In" : "Cannot tell: in", s->name, s->storages[vm->storage].name);
	load_facts_say_carried(vm->carried, target, vm->name, vm->passed_per_s,
			       vm->answer.rate_per_s, out, size);
}

/*
 * Appends the reason of the first scenario that is unsure, or that is sure and overloaded, and the
 * names of the others. Returns that scenario, or NULL.
 */
static const struct scenario *scenario_lead_all(const struct scenario_result *r, bool unsure,
						char *out, size_t size)
{
	const struct scenario *first = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < r->nr; i++) {
		const struct scenario *s = &r->scenarios[i];
		size_t used = strlen(out);

		if (scenario_cannot_tell(s) != unsure || (!unsure && !scenario_overloaded(s)))
			continue;
		if (first)
			snprintf(out + used, size - used, "%s%s", nr > 1 ? ", " : "; nor in ",
				 s->name);
		else
			scenario_lead_one(s, out + used, size - used);
		first = first ? first : s;
		nr++;
	}
	return first;
}

/*
 * Writes the words that stand before the conclusion: "Cannot tell: ..." where a scenario allows no
 * conclusion, whichever it is, and then where a simulated storage cannot carry its load. The latter
 * is an answer and no "Cannot tell", because a simulation slows the load down as the storage would.
 * out becomes "" where there is nothing to say.
 */
static void scenario_lead(const struct scenario_result *r, char *out, size_t size)
{
	const struct scenario *unsure, *overloaded;

	out[0] = 0;
	unsure = scenario_lead_all(r, true, out, size);
	if (unsure)
		snprintf(out + strlen(out), size - strlen(out), ". ");
	overloaded = scenario_lead_all(r, false, out, size);
	if (unsure || overloaded)
		snprintf(out + strlen(out), size - strlen(out), "%s%s: ", overloaded ? ". " : "",
			 unsure && scenario_outside(unsure) ? "Extrapolated"
							    : "With as many requests as it gives");
}

static void scenario_conclude(const struct scenario_result *r, struct answer *answer)
{
	const struct scenario *first = &r->scenarios[0], *best = first, *told;
	char words[256] = "response times are unknown to compare with", mean[UNITS_BYTES];
	char lead[2 * STUDY_WHY_BYTES + SCENARIOS_MAX * (SCENARIO_NAME_BYTES + 2) + 512];
	double before = NAN, now = NAN;
	struct scenario_row row = { 0 };

	for (size_t i = 1; i < r->nr; i++)
		if (r->scenarios[i].mean_s < best->mean_s)
			best = &r->scenarios[i];
	told = best == first && r->nr > 1 ? &r->scenarios[1] : best;
	if (scenario_worst_row(r, told, &row, &before, &now))
		scenario_change_words(words, sizeof(words), &row, before, now);
	units_time(best->mean_s, mean);
	scenario_lead(r, lead, sizeof(lead));
	if (r->nr == 1)
		answer_conclude(answer, "%s%s: %s per request on average; beside today %s.%s", lead,
				best->name, mean, words, r->slo_words);
	else if (best == first)
		answer_conclude(answer,
				"%sOf %zu scenarios none is faster than %s with %s per request on "
				"average; in %s %s.%s",
				lead, r->nr, first->name, mean, told->name, words, r->slo_words);
	else
		answer_conclude(
			answer,
			"%sOf %zu scenarios %s is the fastest: %s per request on average, %.1f %% "
			"less than in %s; %s.%s",
			lead, r->nr, best->name, mean, 100 * (1 - best->mean_s / first->mean_s),
			first->name, words, r->slo_words);
}

static void scenario_answer_storage(const struct scenario *s, const struct scenario_storage *to,
				    bool utc, struct answer_table *t)
{
	char at[UNITS_BYTES] = "-";

	if (to->has_peak)
		units_instant((uint64_t)(to->peak.max_begin_s * 1e9), utc, 0, at);
	answer_words(t, "%s", s->name);
	answer_words(t, "%s", to->name);
	answer_number(t, (double)to->nr_vms);
	answer_number(t, to->rate_per_s);
	answer_number(t, to->cache_bytes > 0 ? to->cache_bytes : NAN);
	answer_number(t, to->hit_ratio);
	answer_number(t, to->has_peak ? to->peak.max_per_s : NAN);
	answer_words(t, "%s", at);
	answer_words(t, "%s",
		     to->has_peak && to->peak.nr_makers ? s->vms[to->peak.makers[0].stream].name
							: "-");
	answer_words(t, "%s", to->outside ? to->outside : to->why[0] ? "yes" : "-");
}

static void scenario_answer_storages(const struct scenario_result *r, bool utc, struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .title = "scenario" },
		{ .title = "storage" },
		{ .title = "VMs", .unit = ANSWER_INTEGER },
		{ .title = "requests/s", .unit = ANSWER_COUNT },
		{ .title = "cache", .unit = ANSWER_BYTES },
		{ .title = "read hits", .unit = ANSWER_RATIO },
		{ .title = "peak/s", .unit = ANSWER_COUNT },
		{ .title = "at" },
		{ .title = "mostly by" },
		{ .title = "extrapolated" },
	};
	struct answer_table *t =
		answer_table(a, NULL, "Storages",
			     "What each storage is asked for, and when most of that came.",
			     ANSWER_COLUMNS(columns));

	for (size_t i = 0; i < r->nr; i++) {
		const struct scenario *s = &r->scenarios[i];

		for (size_t k = 0; k < s->nr_storages; k++) {
			if (s->storages[k].nr_vms)
				scenario_answer_storage(s, &s->storages[k], utc, t);
		}
	}
}

static void scenario_answer_time(const struct scenario_result *r, const struct scenario_row *row,
				 size_t at, struct answer_table *t)
{
	const struct scenario *s = &r->scenarios[at];
	const struct scenario_vm *vm = scenario_vm_of(s, row->vm);
	double before = r->nr == 1 ? row->base_s : NAN, now = scenario_time_s(s, row);
	bool known;

	if (at)
		before = scenario_time_s(&r->scenarios[0], row);
	answer_words(t, "%s", at ? "" : row->vm);
	answer_words(t, "%s", at ? "" : scenario_sides[row->side]);
	answer_words(t, "%s", s->name);
	answer_words(t, "%s", vm ? s->storages[vm->storage].name : "-");
	answer_number(t, vm ? (double)vm->count : 0);
	answer_number(t, vm ? vm->load : 0);
	known = vm && scenario_has_interval(&vm->answer, row->side);
	answer_interval(t, now, known ? vm->answer.low[row->side] : NAN,
			known ? vm->answer.high[row->side] : NAN);
	answer_number(t, now / before - 1);
}

/*
 * The table has one row for a VM, a direction and a scenario, so that any number of scenarios fits
 * the screen.
 */
static void scenario_answer_times(const struct scenario_result *r, struct answer *a)
{
	const struct answer_column columns[] = {
		{ .title = "vm" },
		{ .title = "type" },
		{ .title = "scenario" },
		{ .title = "storage" },
		{ .title = "count", .unit = ANSWER_INTEGER },
		{ .title = "load" },
		{ .title = "response", .unit = ANSWER_SECONDS, .interval = "ci" },
		{ .title = r->nr > 1 ? "change" : "beside today", .unit = ANSWER_CHANGE },
	};
	struct answer_table *t =
		answer_table(a, NULL, "Mean response times", NULL, ANSWER_COLUMNS(columns));
	struct scenario_row row;

	for (size_t k = 0; scenario_row_of(r, k, &row); k++) {
		for (size_t at = 0; at < r->nr; at++)
			scenario_answer_time(r, &row, at, t);
	}
}

static json_t *scenario_side_json(const struct scenario_vm *vm, int side)
{
	const struct predicted *a = &vm->answer;

	if (isnan(a->s[side]))
		return json_null();
	return json_pack("{s:f, s:o, s:o}", "mean_s", a->s[side], "ci",
			 scenario_has_interval(a, side)
				 ? json_pack("[f,f]", a->low[side], a->high[side])
				 : json_null(),
			 "today_s", json_number(scenario_base_s(vm, side)));
}

static json_t *scenario_peak_json(const struct scenario *s, const struct scenario_storage *to)
{
	json_t *makers = json_array();

	if (!to->has_peak) {
		json_decref(makers);
		return json_null();
	}
	for (size_t i = 0; i < to->peak.nr_makers; i++)
		json_array_append_new(makers, json_pack("{s:s, s:f}", "vm",
							s->vms[to->peak.makers[i].stream].name,
							"per_s", to->peak.makers[i].per_s));
	return json_pack("{s:f, s:f, s:f, s:o}", "max_per_s", to->peak.max_per_s, "max_begin_s",
			 to->peak.max_begin_s, "own_peaks_sum_per_s", to->peak.own_peaks_per_s,
			 "makers", makers);
}

static json_t *scenario_one_json(const struct scenario *s)
{
	json_t *vms = json_array(), *storages = json_array();

	for (size_t i = 0; i < s->nr_vms; i++)
		if (s->vms[i].count)
			json_array_append_new(
				vms, json_pack("{s:s, s:s, s:I, s:f, s:o, s:o, s:o, s:o, s:o}",
					       "vm", s->vms[i].name, "storage",
					       s->storages[s->vms[i].storage].name, "count",
					       (json_int_t)s->vms[i].count, "load", s->vms[i].load,
					       "hit_ratio", json_number(s->vms[i].hit_ratio),
					       "read", scenario_side_json(&s->vms[i], 0), "write",
					       scenario_side_json(&s->vms[i], 1), "offered_per_s",
					       json_number(s->vms[i].passed_per_s), "target_per_s",
					       json_number(s->vms[i].answer.rate_per_s)));
	for (size_t i = 0; i < s->nr_storages; i++)
		json_array_append_new(storages,
				      json_pack("{s:s, s:I, s:f, s:f, s:o, s:b, s:o}", "storage",
						s->storages[i].name, "vms",
						(json_int_t)s->storages[i].nr_vms, "rate_per_s",
						s->storages[i].rate_per_s, "cache_bytes",
						s->storages[i].cache_bytes, "hit_ratio",
						json_number(s->storages[i].hit_ratio),
						"extrapolated", s->storages[i].why[0] != 0, "peak",
						scenario_peak_json(s, &s->storages[i])));
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "scenario", s->name, "file", s->path,
			 "about", s->about, "mean_s", json_number(s->mean_s), "vms", vms,
			 "storages", storages);
}

/* Says why times have no interval, where a model tells a time without any spread. */
static void scenario_note_intervals(const struct scenario_result *r, struct answer *a)
{
	for (size_t at = 0; at < r->nr; at++)
		for (size_t i = 0; i < r->scenarios[at].nr_vms; i++) {
			const struct scenario_vm *vm = &r->scenarios[at].vms[i];

			for (int side = 0; side < 2 && vm->count; side++) {
				if (!isfinite(vm->answer.low[side]) ||
				    scenario_has_interval(&vm->answer, side))
					continue;
				answer_note(a, PREDICTED_WITHOUT_ERROR);
				return;
			}
		}
}

struct answer *scenario_answer(const struct scenario_result *r, bool utc)
{
	struct answer *a = answer_new("blkcast.scenario/1", "Scenarios side by side");
	json_t *all = json_array();

	for (size_t i = 0; i < r->nr; i++)
		json_array_append_new(all, scenario_one_json(&r->scenarios[i]));
	answer_member(a, "scenarios", all);
	scenario_answer_storages(r, utc, a);
	scenario_answer_times(r, a);
	scenario_conclude(r, a);
	scenario_note_intervals(r, a);
	return a;
}

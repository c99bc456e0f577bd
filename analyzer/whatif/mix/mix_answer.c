// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/mix/mix_answer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A change of means by this factor or less is noise that nobody can see in the answer. */
#define MIX_CHANGE_TOLD 1.01

bool mix_is_fit(const struct mix_result *r)
{
	size_t given = 0;

	if (!r->nr_free)
		return r->fits;
	if (r->nr_free == 1 ? r->none : !r->nr)
		return false;
	for (size_t i = 0; i < r->mix.nr; i++)
		given += r->mix.loads[i].free ? 0 : r->mix.loads[i].count;
	return given || r->most[0] || r->nr > 1;
}

bool mix_cannot_tell(const struct mix_result *r)
{
	bool unknown = r->mix.not_simulated || (r->mix.not_carried && !r->mix.device);

	return r->mix.fits_outside || (!mix_is_fit(r) && unknown);
}

/* Writes the loads whose counts are given: " beside 2 of vm b and 1 of vm c". */
static void mix_given_text(const struct mix_result *r, const char *first, char *out, size_t size)
{
	size_t used = 0, nr = 0;

	out[0] = 0;
	for (size_t i = 0; i < r->mix.nr && used < size; i++)
		if (!r->mix.loads[i].free)
			used += (size_t)snprintf(out + used, size - used, "%s%zu of %s",
						 nr++ ? " and " : first, r->mix.loads[i].count,
						 r->mix.loads[i].name);
}

const char *mix_free_name(const struct mix_result *r, size_t k)
{
	return r->mix.loads[r->free[k]].name;
}

static void mix_conclude_one(const struct mix_result *r, const char *lead, const char *given,
			     struct answer *a)
{
	char upper[64] = "", reason[MIX_WHY_BYTES + 64] = "";

	if (r->none) {
		answer_conclude(a, "%s%s does not fit even without the others: %s%.220s.", lead,
				given, r->mix.over_capacity ? "it would need " : "", r->why);
		return;
	}
	if (r->none_upper)
		snprintf(upper, sizeof(upper), " (90 %%: not for sure the others alone)");
	else if (r->most_upper[0] != r->most[0])
		snprintf(upper, sizeof(upper), " (90 %%: %zu)", r->most_upper[0]);
	if (r->why[0])
		snprintf(reason, sizeof(reason), "; one more%s %s",
			 r->mix.not_simulated	? " makes"
			 : r->mix.not_carried	? ":"
			 : r->mix.over_capacity ? " would need"
						: " breaks",
			 r->why);
	answer_conclude(a, "%s%s %zu of %s fit%s%s%s.", lead,
			r->why[0] && !r->mix.not_simulated ? "Up to" : "At least", r->most[0],
			mix_free_name(r, 0), given, upper, reason);
}

/* Writes the reason why no conclusion is possible, which comes before the sentence. */
static void mix_lead(const struct mix_result *r, char *out, size_t size)
{
	out[0] = 0;
	if (r->mix.fits_outside && r->mix.device)
		snprintf(out, size,
			 "Cannot tell: %.140s; measure there. Extrapolated: ", r->mix.fits_outside);
	else if (r->mix.fits_outside)
		snprintf(out, size,
			 "Cannot tell: '%.60s' lies outside what the target's model knows; measure "
			 "there. Extrapolated: ",
			 r->mix.fits_outside);
	else if (mix_cannot_tell(r))
		snprintf(out, size,
			 "Cannot tell whether the objectives hold, since the loads are not served "
			 "in full. ");
}

static void mix_conclude(const struct mix_result *r, struct answer *a)
{
	char given[512], lead[192];

	if (r->mix.not_simulated && !mix_is_fit(r)) {
		answer_conclude(a,
				"Cannot tell: the mix has more than %.3g million stored "
				"requests, the most that are simulated; take shorter recordings.",
				mix_device_most(r->mix.device) / 1e6);
		return;
	}
	mix_lead(r, lead, sizeof(lead));
	mix_given_text(r, r->nr_free ? " beside " : "", given, sizeof(given));
	if (!r->nr_free)
		answer_conclude(a, "%s%s %s%s%.220s.", lead, given, r->fits ? "fit" : "do not fit",
				r->fits		       ? ""
				: r->mix.over_capacity ? ": they would need "
						       : ": ",
				r->why);
	else if (r->nr_free == 1)
		mix_conclude_one(r, lead, r->none ? given + strlen(" beside ") : given, a);
	else if (!mix_is_fit(r))
		answer_conclude(a, "%sNothing fits%s.", lead, given);
	else
		answer_conclude(
			a,
			"%sBetween %zu of %s alone and %zu of %s beside %zu of the former, every "
			"mix on the frontier fits%s.",
			lead, r->most[0], mix_free_name(r, 0), r->nr - 1, mix_free_name(r, 1),
			r->most[r->nr - 1], given);
}

/* Adds the frontier of two loads: the most of the first load for each count of the second. */
static void mix_answer_frontier(const struct mix_result *r, struct answer *a)
{
	const struct answer_column columns[] = {
		{ .title = mix_free_name(r, 1), .unit = ANSWER_INTEGER },
		{ .title = mix_free_name(r, 0), .unit = ANSWER_INTEGER },
		{ .title = "90 %", .unit = ANSWER_INTEGER },
	};
	struct answer_table *t = answer_table(
		a, NULL, "Mixes that fit",
		"The most of the second load for each count of the first; the last column goes by "
		"the upper ends of the 90 % intervals.",
		ANSWER_COLUMNS(columns));

	for (size_t k = 0; k < r->nr; k++) {
		answer_number(t, (double)k);
		answer_number(t, (double)r->most[k]);
		answer_number(t, k < r->nr_upper ? (double)r->most_upper[k] : NAN);
	}
}

static json_t *mix_counts_json(const size_t *counts, size_t nr)
{
	json_t *all = json_array();

	for (size_t i = 0; i < nr; i++)
		json_array_append_new(all, json_integer((json_int_t)counts[i]));
	return all;
}

static void mix_answer_loads(const struct mix_result *r, struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .key = "load" },
		{ .key = "count", .unit = ANSWER_INTEGER },
	};
	struct answer_table *t = answer_table(a, "loads", NULL, NULL, ANSWER_COLUMNS(columns));

	for (size_t i = 0; i < r->mix.nr; i++) {
		answer_words(t, "%s", r->mix.loads[i].name);
		answer_number(t, r->mix.loads[i].free ? NAN : (double)r->mix.loads[i].count);
	}
}

struct answer *mix_answer(const struct mix_result *r)
{
	struct answer *a = answer_new("blkcast.mix/1", "What fits together");
	size_t nr = r->nr_free == 1 ? !r->none : r->nr;
	size_t nr_upper = r->nr_free == 1 ? !r->none_upper : r->nr_upper;

	mix_answer_loads(r, a);
	answer_member(a, "fits", json_boolean(mix_is_fit(r)));
	answer_member(a, "most", mix_counts_json(r->most, nr));
	answer_member(a, "most_90", mix_counts_json(r->most_upper, nr_upper));
	answer_fact_words(a, "why", NULL, r->why);
	if (r->nr_free == 2)
		mix_answer_frontier(r, a);
	mix_conclude(r, a);
	if (r->mix.carried_unknown)
		answer_note(a,
			    "The requests that the target gives are not compared with those that "
			    "the loads offer, which needs models of read_s and write_s.");
	if (r->mix.device && r->mix.device->most_change > MIX_CHANGE_TOLD)
		answer_note(a,
			    "Mean times were changed by up to %.1f %%, so that no load gets faster "
			    "beside more others: the simulations of single mixes differ by their "
			    "random numbers.",
			    100 * (r->mix.device->most_change - 1));
	if (r->mix.not_simulated && mix_is_fit(r))
		answer_note(
			a,
			"Mixes of more than %.3g million stored requests are not simulated: more "
			"than this answer says may fit.",
			mix_device_most(r->mix.device) / 1e6);
	return a;
}

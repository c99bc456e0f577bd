// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/cache/cache_answer.h"

#include <math.h>
#include <stdio.h>

#include "base/data/json.h"
#include "base/text/units.h"

#define GIB 1073741824.0
/* A partition of the cache is recommended only if it raises the hit ratio by more than this. */
#define CLEARLY_MORE_HITS 0.01

void cache_load_name(const struct cache_result *r, size_t load, char out[128])
{
	const struct profile *p = &r->loads[load]->whole;

	snprintf(out, 128, "%.60s %.60s", p->host, p->device_name);
}

double cache_hits(const struct cache_result *r, const double *part)
{
	return 1 - cache_misses(r->streams, r->nr, part);
}

/* Returns the bytes of cache that a load has in the answer's sentence. */
static double cache_bytes_of(const struct cache_result *r, size_t load)
{
	const struct cache_advice *advice = &r->advice[load];

	if (r->nr > 1)
		return r->shared[load];
	if (isfinite(r->hit_ratio))
		return isfinite(advice->wanted_bytes) ? advice->wanted_bytes : advice->most_bytes;
	if (r->size_bytes > 0)
		return r->size_bytes;
	return isnan(advice->knee_bytes) ? advice->most_bytes : advice->knee_bytes;
}

void cache_judge(struct cache_result *r, const struct cache_times *times)
{
	struct study_slo_worst worst = { STUDY_SLO_HOLDS, r->slo_words, sizeof(r->slo_words) };

	r->slo_words[0] = 0;
	for (size_t i = 0; i < r->nr; i++)
		for (size_t k = 0; k < r->slo.nr; k++) {
			const struct profile *p = &r->loads[i]->whole;
			int side = r->slo.objectives[k].side;
			double own = (double)p->bytes[side ? OPERATION_WRITE : OPERATION_READ];
			double other = (double)p->bytes[side ? OPERATION_READ : OPERATION_WRITE];
			double share = own / (own + other);
			double hit = 1 - cache_miss_ratio(&r->streams[i], cache_bytes_of(r, i));
			double least = fmax(0, (hit - (1 - share)) / share);
			const struct cache_times *t = &times[i];
			char name[128];

			if (!(own > 0))
				continue;
			cache_load_name(r, i, name);
			study_slo_judge(&r->slo, k, name,
					hit * t->hit_s + (1 - hit) * t->miss_s[side],
					least * t->hit_s + (1 - least) * t->miss_high_s[side],
					&worst);
		}
	r->slo_verdict = worst.verdict;
}

static void cache_conclude_one(const struct cache_result *r, struct answer *a)
{
	const struct cache_advice *advice = &r->advice[0];
	double bytes = isnan(advice->knee_bytes) ? advice->most_bytes : advice->knee_bytes;
	char size[UNITS_BYTES], most[UNITS_BYTES], name[128];

	cache_load_name(r, 0, name);
	if (r->size_bytes > 0 && isnan(r->hit_ratio))
		answer_conclude(
			a,
			"A cache of %s would serve %.1f %% of what %s asks for; no cache serves more "
			"than %.1f %%, with %s.%s",
			units_bytes(r->size_bytes, size),
			100 * (1 - cache_miss_ratio(&r->streams[0], r->size_bytes)), name,
			100 * advice->most_hit_ratio, units_bytes(advice->most_bytes, most),
			r->slo_words);
	else if (isfinite(advice->wanted_bytes))
		answer_conclude(
			a,
			"A cache of %s would serve %.4g %% of what %s asks for; no cache serves more "
			"than %.1f %%.%s",
			units_bytes(advice->wanted_bytes, size), 100 * r->hit_ratio, name,
			100 * advice->most_hit_ratio, r->slo_words);
	else if (isfinite(r->hit_ratio))
		answer_conclude(
			a,
			"No cache serves %.4g %% of what %s asks for: %.1f %% at most, with %s.%s",
			100 * r->hit_ratio, name, 100 * advice->most_hit_ratio,
			units_bytes(advice->most_bytes, most), r->slo_words);
	else
		answer_conclude(
			a,
			"A cache of %s%s would serve %.1f %% of what %s asks for; no cache serves "
			"more than %.1f %%, with %s.%s",
			units_bytes(bytes, size), isnan(advice->knee_bytes) ? "" : ", at the knee,",
			100 * (isnan(advice->knee_bytes) ? advice->most_hit_ratio
							 : advice->knee_hit_ratio),
			name, 100 * advice->most_hit_ratio, units_bytes(advice->most_bytes, most),
			r->slo_words);
}

static void cache_conclude(const struct cache_result *r, struct answer *a)
{
	char size[UNITS_BYTES];
	double shared, parted;

	if (r->nr == 1) {
		cache_conclude_one(r, a);
		return;
	}
	shared = cache_hits(r, r->shared);
	parted = cache_hits(r, r->parted);
	answer_conclude(a,
			"%s shared by the %zu loads would serve %.1f %% of what they ask for; in "
			"the best parts %.1f %%, in equal ones %.1f %%: %s.%s",
			units_bytes(r->size_bytes, size), r->nr, 100 * shared, 100 * parted,
			100 * cache_hits(r, r->equal),
			parted > shared + CLEARLY_MORE_HITS ? "part it" : "let them share it",
			r->slo_words);
}

/* The gain of more cache is given per MiB where all caches are smaller than a GiB. */
static bool cache_is_small(const struct cache_result *r)
{
	for (size_t i = 0; i < r->nr; i++) {
		if (r->advice[i].most_bytes >= GIB)
			return false;
	}
	return true;
}

static void cache_answer_step(const struct cache_advice *advice, const struct cache_step *step,
			      bool per_mib, struct answer_table *t)
{
	answer_number(t, step->bytes);
	answer_number(t, step->hit_ratio);
	answer_words(t, "%.3g %%", 100 * step->gain_per_gib / (per_mib ? 1024 : 1));
	answer_number(t, step->response_s);
	answer_number(t, step->response_s / advice->miss_s - 1);
	answer_words(t, "%s", step->bytes == advice->knee_bytes ? "knee" : "");
}

static void cache_answer_sizes(const struct cache_result *r, struct answer *a)
{
	bool per_mib = cache_is_small(r);
	const struct answer_column columns[] = {
		{ .title = "load" },
		{ .title = "cache", .unit = ANSWER_BYTES },
		{ .title = "hits", .unit = ANSWER_RATIO },
		{ .title = per_mib ? "more per MiB" : "more per GiB", .right = true },
		{ .title = "response time", .unit = ANSWER_SECONDS },
		{ .title = "change", .unit = ANSWER_CHANGE },
		{ .title = "" },
	};
	struct answer_table *t = answer_table(a, NULL, "By the size of a cache of its own", NULL,
					      ANSWER_COLUMNS(columns));
	char name[128];

	for (size_t i = 0; i < r->nr; i++) {
		cache_load_name(r, i, name);
		for (size_t k = 0; k < r->advice[i].nr; k++) {
			answer_words(t, "%s", k ? "" : name);
			cache_answer_step(&r->advice[i], &r->advice[i].steps[k], per_mib, t);
		}
	}
}

/*
 * Adds a table about one cache for all loads: the bytes and hits of each load in the three ways to
 * use the cache.
 */
static void cache_answer_parts(const struct cache_result *r, struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .title = "load" },
		{ .title = "shared", .unit = ANSWER_BYTES },
		{ .title = "hits", .unit = ANSWER_RATIO },
		{ .title = "equal", .unit = ANSWER_BYTES },
		{ .title = "hits", .unit = ANSWER_RATIO },
		{ .title = "best", .unit = ANSWER_BYTES },
		{ .title = "hits", .unit = ANSWER_RATIO },
	};
	const double *const ways[] = { r->shared, r->equal, r->parted };
	struct answer_table *t =
		answer_table(a, NULL, "One cache for all, by load", NULL, ANSWER_COLUMNS(columns));
	char name[128];

	for (size_t i = 0; i < r->nr; i++) {
		cache_load_name(r, i, name);
		answer_words(t, "%s", name);
		for (int way = 0; way < 3; way++) {
			answer_number(t, ways[way][i]);
			answer_number(t, 1 - cache_miss_ratio(&r->streams[i], ways[way][i]));
		}
	}
	answer_words(t, "all");
	for (int way = 0; way < 3; way++) {
		answer_number(t, r->size_bytes);
		answer_number(t, cache_hits(r, ways[way]));
	}
}

static json_t *cache_advice_json(const struct cache_result *r, size_t i)
{
	const struct cache_advice *a = &r->advice[i];
	json_t *steps = json_array();
	char name[128];

	cache_load_name(r, i, name);
	for (size_t k = 0; k < a->nr; k++)
		json_array_append_new(
			steps,
			json_pack("{s:f, s:f, s:f, s:o, s:o}", "cache_bytes", a->steps[k].bytes,
				  "hit_ratio", a->steps[k].hit_ratio, "gain_per_gib",
				  a->steps[k].gain_per_gib, "response_s",
				  json_number(a->steps[k].response_s), "read_s",
				  json_number(a->reads_only ? a->steps[k].response_s : NAN)));
	return json_pack("{s:s, s:o, s:o, s:f, s:f, s:o, s:o, s:o}", "load", name, "knee_bytes",
			 json_number(a->knee_bytes), "knee_hit_ratio",
			 json_number(a->knee_hit_ratio), "most_bytes", a->most_bytes,
			 "most_hit_ratio", a->most_hit_ratio, "wanted_bytes",
			 json_number(a->wanted_bytes), "miss_s", json_number(a->miss_s), "sizes",
			 steps);
}

static json_t *cache_parts_json(const struct cache_result *r, const double *part)
{
	json_t *all = json_array();

	for (size_t i = 0; i < r->nr; i++)
		json_array_append_new(all,
				      json_pack("{s:f, s:f}", "cache_bytes", part[i], "hit_ratio",
						1 - cache_miss_ratio(&r->streams[i], part[i])));
	return json_pack("{s:f, s:o}", "hit_ratio", cache_hits(r, part), "loads", all);
}

struct answer *cache_answer(const struct cache_result *r)
{
	struct answer *a = answer_new("blkcast.cache/1", "How much cache");
	json_t *loads = json_array();

	for (size_t i = 0; i < r->nr; i++)
		json_array_append_new(loads, cache_advice_json(r, i));
	answer_member(a, "loads", loads);
	cache_answer_sizes(r, a);
	if (r->nr > 1) {
		answer_fact(a, "cache_bytes", NULL, ANSWER_BYTES, r->size_bytes);
		answer_member(a, "shared", cache_parts_json(r, r->shared));
		answer_member(a, "equal", cache_parts_json(r, r->equal));
		answer_member(a, "parted", cache_parts_json(r, r->parted));
		cache_answer_parts(r, a);
	}
	cache_conclude(r, a);
	return a;
}

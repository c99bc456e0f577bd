// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/fleet/page_objective.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/serve/fleet/page_objective_state.h"
#include "base/data/json.h"
#include "base/memory/array.h"
#include "base/memory/keyed_hash.h"
#include "base/system/clock.h"

int page_objectives_read(struct page_objectives **out, const char *path, struct err *err)
{
	struct page_objectives *o = calloc(1, sizeof(*o));
	int ret;

	if (!o)
		return err_set(err, ENOMEM, "no memory for objectives");
	pthread_mutex_init(&o->lock, NULL);
	u64map_init(&o->by_device);
	ret = time_objectives_read(&o->given, path, err);
	if (ret < 0) {
		page_objectives_free(o);
		return ret;
	}
	*out = o;
	return 0;
}

void page_objectives_free(struct page_objectives *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->nr_states; i++)
		free(o->states[i]);
	free(o->states);
	u64map_release(&o->by_device);
	pthread_mutex_destroy(&o->lock);
	free(o);
}

/* Adds the states of a new device. Returns the position of the first one, or U64MAP_NONE. */
static uint32_t page_objectives_device(struct page_objectives *o, uint64_t hash, const char *host,
				       const struct profile *p)
{
	uint32_t first = (uint32_t)o->nr_states;

	for (size_t i = 0; i < o->given.nr; i++) {
		const struct time_objective *one = &o->given.list[i];
		struct page_state *s;

		if (!time_objective_names(one, host, p->device, p->device_name))
			continue;
		if (o->nr_states == PAGE_OBJECTIVE_STATES) {
			o->nr_refused++;
			continue;
		}
		s = calloc(1, sizeof(*s));
		if (!s || array_grow(&o->states, &o->cap_states, o->nr_states + 1,
				     sizeof(*o->states)) < 0) {
			free(s);
			break;
		}
		s->objective = one;
		s->hash = hash;
		snprintf(s->host, sizeof(s->host), "%s", host);
		snprintf(s->device, sizeof(s->device), "%s", p->device);
		snprintf(s->name, sizeof(s->name), "%s", p->device_name);
		o->states[o->nr_states++] = s;
	}
	if (u64map_put(&o->by_device, hash, first) < 0)
		return U64MAP_NONE;
	return first;
}

static void page_state_take(struct page_state *s, const struct profile *p)
{
	const struct histogram *h = time_objective_times(s->objective, p);
	uint64_t minute = (uint64_t)(p->end_s / 60);
	struct page_state_minute *m = &s->minutes[minute % PAGE_OBJECTIVE_MINUTES];

	if (!h->nr || m->minute > minute)
		return;
	if (m->minute < minute)
		*m = (struct page_state_minute){ .minute = minute };
	m->requests += (double)h->nr;
	m->slow += (double)time_objective_slow(s->objective, h);
}

void page_objectives_take(struct page_objectives *o, const char *host, const struct profile *p)
{
	char key[2 * PROFILE_NAME_BYTES + 256];
	uint64_t hash;
	uint32_t at;
	int len;

	if (!o)
		return;
	len = snprintf(key, sizeof(key), "%s/%s", host, p->device);
	hash = keyed_hash(0, key, (size_t)len);
	pthread_mutex_lock(&o->lock);
	at = u64map_find(&o->by_device, hash);
	if (at == U64MAP_NONE)
		at = page_objectives_device(o, hash, host, p);
	for (; at < o->nr_states && o->states[at]->hash == hash; at++)
		page_state_take(o->states[at], p);
	if (p->end_s > o->newest_s)
		o->newest_s = p->end_s;
	pthread_mutex_unlock(&o->lock);
}

/* Adds up the hour that ends with last_minute. */
static void page_state_sum(struct page_state *s, uint64_t last_minute)
{
	s->requests = s->slow = 0;
	for (size_t i = 0; i < PAGE_OBJECTIVE_MINUTES; i++) {
		const struct page_state_minute *m = &s->minutes[i];

		if (m->minute > last_minute || m->minute + PAGE_OBJECTIVE_MINUTES <= last_minute)
			continue;
		s->requests += m->requests;
		s->slow += m->slow;
	}
	/* The share of the budget that is spent; NaN: too few requests to tell. */
	s->spent = time_objective_spent(s->objective, s->requests, s->slow);
}

static int page_state_by_spent(const void *a, const void *b)
{
	const struct page_state *x = *(struct page_state *const *)a;
	const struct page_state *y = *(struct page_state *const *)b;
	int order;

	if (isnan(x->spent) != isnan(y->spent))
		return isnan(x->spent) ? 1 : -1;
	if (!isnan(x->spent) && x->spent != y->spent)
		return x->spent > y->spent ? -1 : 1;
	order = strcmp(x->host, y->host);
	if (!order)
		order = strcmp(x->device, y->device);
	return order ? order : x->objective < y->objective ? -1 : x->objective > y->objective;
}

static json_t *page_state_json(const struct page_state *s, uint64_t last_minute)
{
	json_t *minutes = json_array();

	for (uint64_t minute = last_minute - PAGE_OBJECTIVE_MINUTES + 1; minute <= last_minute;
	     minute++) {
		const struct page_state_minute *m = &s->minutes[minute % PAGE_OBJECTIVE_MINUTES];

		json_array_append_new(minutes, json_number(m->minute == minute && m->requests > 0
								   ? (double)(m->slow / m->requests)
								   : NAN));
	}
	return json_pack("{s:s, s:o, s:o, s:o, s:f, s:f, s:o, s:o, s:o, s:o}", "objective",
			 s->objective->name, "host", json_text(s->host), "device",
			 json_text(s->device), "device_name", json_text(s->name), "requests",
			 s->requests, "slow", s->slow, "slow_ratio",
			 json_number(s->requests > 0 ? s->slow / s->requests : NAN),
			 "budget_left_ratio", json_number(1 - s->spent), "holds",
			 isnan(s->spent) ? json_null() : json_boolean(s->spent <= 1),
			 "minutes_slow_ratio", minutes);
}

static json_t *page_objective_json(const struct time_objective *one)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:f}", "name", one->name, "host",
			 one->host, "device", one->device, "operation",
			 time_objective_operations[one->operation], "percentile", one->percentile,
			 "below_s", one->limit_s, "budget_ratio", time_objective_budget(one));
}

/* Returns whether an objective judges a device of a host that the reader may see. */
static bool page_objective_concerns(const struct page_objectives *o,
				    const struct time_objective *one,
				    bool (*permits)(void *ctx, const char *host), void *ctx)
{
	for (size_t i = 0; i < o->nr_states; i++)
		if (o->states[i]->objective == one && permits(ctx, o->states[i]->host))
			return true;
	return false;
}

json_t *page_objectives_json(struct page_objectives *o,
			     bool (*permits)(void *ctx, const char *host), void *ctx)
{
	json_t *list = json_array(), *rows = json_array();
	size_t nr_broken = 0, nr = 0, nr_refused = 0;
	double now_s = (double)clock_real_ns() / 1e9, as_of_s = NAN;
	struct page_state **order = NULL;

	if (!o)
		goto out;
	pthread_mutex_lock(&o->lock);
	as_of_s = o->newest_s > 0 ? fmin(o->newest_s, now_s) : NAN;
	nr_refused = permits ? 0 : o->nr_refused;
	for (size_t i = 0; i < o->given.nr; i++)
		if (!permits || page_objective_concerns(o, &o->given.list[i], permits, ctx))
			json_array_append_new(list, page_objective_json(&o->given.list[i]));
	order = calloc(o->nr_states + 1, sizeof(*order));
	for (size_t i = 0; order && i < o->nr_states; i++) {
		if (permits && !permits(ctx, o->states[i]->host))
			continue;
		page_state_sum(o->states[i], (uint64_t)(as_of_s / 60));
		nr_broken += o->states[i]->spent > 1;
		order[nr++] = o->states[i];
	}
	if (nr)
		qsort(order, nr, sizeof(*order), page_state_by_spent);
	for (size_t i = 0; i < nr && i < PAGE_OBJECTIVE_ROWS; i++)
		json_array_append_new(rows, page_state_json(order[i], (uint64_t)(as_of_s / 60)));
	pthread_mutex_unlock(&o->lock);
	free(order);
out:
	return json_pack("{s:s, s:b, s:o, s:o, s:I, s:I, s:I, s:o}", "schema",
			 "blkcast.objectives/1", "has_file", o != NULL, "as_of_s",
			 json_number(as_of_s), "objectives", list, "rows", (json_int_t)nr, "broken",
			 (json_int_t)nr_broken, "refused", (json_int_t)nr_refused, "states", rows);
}

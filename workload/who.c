/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/who.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int who_init(struct who *w, size_t max)
{
	*w = (struct who){ .max = max };
	u64map_init(&w->by_key);
	w->items = calloc(max, sizeof(*w->items));
	return w->items ? 0 : -ENOMEM;
}

void who_release(struct who *w)
{
	u64map_release(&w->by_key);
	free(w->items);
	*w = (struct who){ .items = NULL };
}

void who_clear(struct who *w)
{
	u64map_clear(&w->by_key);
	w->nr = 0;
	w->others = (struct who_sum){ 0 };
}

struct who_entry *who_find(const struct who *w, uint64_t key)
{
	uint32_t at = u64map_find(&w->by_key, key);

	return at == U64MAP_NONE ? NULL : &w->items[at];
}

struct who_sum *who_sum_of(struct who *w, uint64_t key)
{
	struct who_entry *found = who_find(w, key);

	if (found)
		return &found->sum;
	if (w->nr == w->max || u64map_put(&w->by_key, key, (uint32_t)w->nr) < 0)
		return &w->others;
	found = &w->items[w->nr++];
	found->key = key;
	found->name[0] = 0;
	found->sum = (struct who_sum){ 0 };
	return &found->sum;
}

static void who_sum_add_time(struct who_sum *s, uint64_t time_ns)
{
	if (__builtin_add_overflow(s->time_ns, time_ns, &s->time_ns))
		s->time_ns = UINT64_MAX;
}

void who_sum_add(struct who_sum *s, const struct request *r)
{
	s->requests++;
	if (r->operation <= OPERATION_WRITE) {
		s->nr[r->operation]++;
		s->bytes[r->operation] += r->bytes;
	} else if (request_is_data(r)) {
		s->other_bytes += r->bytes;
	}
	if (r->flags & (REQUEST_NO_COMPLETION | REQUEST_NO_ARRIVAL | REQUEST_PAUSED))
		return;
	who_sum_add_time(s, r->completion_ns - r->arrival_ns);
	s->nr_timed++;
}

void who_sum_merge(struct who_sum *to, const struct who_sum *from)
{
	to->requests += from->requests;
	for (int i = 0; i < 2; i++) {
		to->nr[i] += from->nr[i];
		to->bytes[i] += from->bytes[i];
	}
	to->other_bytes += from->other_bytes;
	to->nr_timed += from->nr_timed;
	who_sum_add_time(to, from->time_ns);
}

double who_sum_mean_s(const struct who_sum *s)
{
	return s->nr_timed ? who_sum_time_s(s) / (double)s->nr_timed : NAN;
}

void who_merge(struct who *to, const struct who *from)
{
	for (size_t i = 0; i < from->nr; i++) {
		const struct who_entry *e = &from->items[i];
		struct who_entry *found;

		who_sum_merge(who_sum_of(to, e->key), &e->sum);
		found = who_find(to, e->key);
		if (found && !found->name[0])
			memcpy(found->name, e->name, sizeof(found->name));
	}
	who_sum_merge(&to->others, &from->others);
}

static int who_by_requests(const void *a, const void *b)
{
	const struct who_entry *x = a, *y = b;
	int order;

	if (x->sum.requests != y->sum.requests)
		return x->sum.requests > y->sum.requests ? -1 : 1;
	order = strcmp(x->name, y->name);
	return order ? order : (x->key > y->key) - (x->key < y->key);
}

void who_rank(struct who *w)
{
	qsort(w->items, w->nr, sizeof(*w->items), who_by_requests);
}

struct who_sum who_rest(const struct who *w, size_t first)
{
	struct who_sum sum = w->others;

	for (size_t i = first; i < w->nr; i++)
		who_sum_merge(&sum, &w->items[i].sum);
	return sum;
}

struct who_sum who_total(const struct who *w)
{
	return who_rest(w, 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/characterize/short_profiles.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory/array.h"
#include "formats/summary/segment_summary.h"

void short_profiles_init(struct short_profiles *s, size_t max_bytes)
{
	*s = (struct short_profiles){ .max_bytes = max_bytes,
				      .below_s = INFINITY,
				      .has_counters = true };
}

void short_profiles_release(struct short_profiles *s)
{
	for (size_t i = 0; i < s->nr; i++)
		profile_release(&s->items[i]);
	free(s->items);
	*s = (struct short_profiles){ 0 };
}

static bool short_profiles_is_counter(const struct profile *p)
{
	return p->source == SOURCE_DISKSTATS;
}

/* Counters alone have filled the room: nothing is kept any more. */
static void short_profiles_give_up(struct short_profiles *s)
{
	size_t max_bytes = s->max_bytes;

	short_profiles_release(s);
	s->max_bytes = max_bytes;
}

/* Drops those that are at least half as long as the longest; the others keep their order. */
static void short_profiles_drop_longest(struct short_profiles *s)
{
	double longest_s = 0;
	size_t kept = 0;

	for (size_t i = 0; i < s->nr; i++)
		if (!short_profiles_is_counter(&s->items[i]))
			longest_s = fmax(longest_s, s->items[i].end_s - s->items[i].begin_s);
	s->below_s = longest_s / 2;
	s->bytes = 0;
	for (size_t i = 0; i < s->nr; i++) {
		struct profile *p = &s->items[i];

		if (!short_profiles_is_counter(p) && p->end_s - p->begin_s >= s->below_s) {
			profile_release(p);
			continue;
		}
		s->bytes += summary_profile_bytes(p);
		s->items[kept++] = *p;
	}
	s->nr = kept;
}

int short_profiles_add(struct short_profiles *s, const struct profile *p)
{
	int ret;

	if (short_profiles_is_counter(p) ? !s->has_counters : p->end_s - p->begin_s >= s->below_s)
		return 0;
	ret = array_grow(&s->items, &s->cap, s->nr + 1, sizeof(*s->items));
	if (ret)
		return ret;
	profile_init(&s->items[s->nr]);
	ret = profile_copy(&s->items[s->nr], p);
	if (ret)
		return ret;
	s->nr++;
	s->bytes += summary_profile_bytes(p);
	while (s->bytes > s->max_bytes && s->below_s > 0)
		short_profiles_drop_longest(s);
	if (s->bytes > s->max_bytes)
		short_profiles_give_up(s);
	return 0;
}

bool short_profiles_has_all(const struct short_profiles *s, double longest_s)
{
	return s->has_counters && longest_s < s->below_s;
}

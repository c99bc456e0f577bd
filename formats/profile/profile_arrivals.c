/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/profile/profile_arrivals.h"

#include <errno.h>
#include <string.h>

static int arrivals_read_pair(struct profile_reading *r, const json_t *list, size_t i,
			      enum arrival_kind kind, struct arrival_tally_count *out)
{
	const json_t *bucket, *count;
	int ret = profile_read_pair(r, list, i, &bucket, &count);

	if (ret)
		return ret;
	if (!json_is_integer(bucket) ||
	    !arrival_tally_is_bucket(kind, json_integer_value(bucket)) ||
	    (i && json_integer_value(bucket) <= out[-1].bucket))
		return profile_read_expected(r, "buckets of the grid in ascending order");
	out->bucket = json_integer_value(bucket);
	ret = profile_read_count(r, count, INT64_MAX, &out->count);
	if (ret)
		return ret;
	return out->count ? 0 : profile_read_expected(r, "a count above 0");
}

int profile_arrivals_read(struct profile_reading *r, const json_t *list, enum arrival_kind kind,
			  uint64_t nr_requests, struct arrival_tally *t)
{
	size_t len = strlen(r->path);
	uint64_t left = nr_requests;
	int ret;

	if (json_array_size(list) > arrival_tally_nr(kind))
		return profile_read_expected(r, "at most one entry for each bucket of the grid");
	ret = profile_read_list(r, list, sizeof(*t->counts), &t->counts, &t->nr);
	for (size_t i = 0; i < t->nr && !ret; i++) {
		ret = arrivals_read_pair(r, list, i, kind, &t->counts[i]);
		if (ret)
			return ret;
		profile_read_leave(r, len);
		if (t->counts[i].count > left)
			return profile_read_expected(r, "no more counts than requests");
		left -= t->counts[i].count;
	}
	return ret;
}

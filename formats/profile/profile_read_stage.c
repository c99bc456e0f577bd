/* SPDX-License-Identifier: Apache-2.0 */
/* profile_read_stage: reads the histogram of a stage, with its sum, least and largest duration. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "formats/profile/profile_read_state.h"

/*
 * Converts seconds back to the original whole nanoseconds; exact up to 2^52 ns, which is 52 days.
 */
static uint64_t to_ns(double seconds)
{
	double ns = rint(seconds * 1e9);

	if (!(ns > 0))
		return 0;
	return ns < 0x1p64 ? (uint64_t)ns : UINT64_MAX;
}

static int get_buckets(struct profile_reading *r, const json_t *list, struct histogram *h)
{
	size_t len = profile_read_enter(r, ".histogram"), inside = strlen(r->path);
	const json_t *first, *second;
	int64_t last = HISTOGRAM_BUCKET_MIN - 1;
	uint64_t nr;
	int ret = 0;

	if (!json_is_array(list))
		return profile_read_expected(r, "an array of [bucket, count]");
	for (size_t i = 0; i < json_array_size(list); i++) {
		ret = profile_read_pair(r, list, i, &first, &second);
		if (!ret && (!json_is_integer(first) || json_integer_value(first) <= last ||
			     json_integer_value(first) > HISTOGRAM_BUCKET_MAX))
			ret = profile_read_expected(r, "buckets of the grid in ascending order");
		if (!ret)
			ret = profile_read_count(r, second, INT64_MAX, &nr);
		if (!ret) {
			last = json_integer_value(first);
			ret = histogram_add_bucket(h, (int)last, nr);
		}
		if (ret == -EOVERFLOW)
			ret = profile_read_expected(r, "a sum of counts below 2^64");
		if (ret)
			return ret;
		profile_read_leave(r, inside);
	}
	profile_read_leave(r, len);
	return 0;
}

/* Computes the sum in ns: exactly from sum_s and sum_rest_ns, otherwise from the mean. */
static int get_sum(struct profile_reading *r, const json_t *object, double mean_s,
		   struct histogram *h)
{
	uint64_t seconds = 0, rest = 0;
	unsigned __int128 sum;
	int ret;

	if (json_object_get(object, "sum_s")) {
		ret = profile_read_member_count(r, object, "sum_s", INT64_MAX, &seconds);
		if (!ret)
			ret = profile_read_member_count(r, object, "sum_rest_ns", 999999999, &rest);
		if (ret)
			return ret;
		sum = (unsigned __int128)seconds * 1000000000 + rest;
	} else {
		double ns = rint(mean_s * 1e9 * (double)h->nr);

		sum = ns < 0x1p126 ? (unsigned __int128)ns : 0;
	}
	h->sum_ns = (uint64_t)sum;
	h->sum_high = (uint64_t)(sum >> 64);
	return 0;
}

/* Checks that the least and largest duration lie in the first and last bucket that is used. */
static int check_range(struct profile_reading *r, const struct histogram *h)
{
	int first = histogram_next(h, HISTOGRAM_BUCKET_MIN), last = HISTOGRAM_BUCKET_MAX;

	while (!histogram_count(h, last))
		last--;
	if (histogram_bucket(h->min_ns) != first) {
		profile_read_enter(r, ".min_s");
		return profile_read_expected(r, "a duration in the first bucket of the histogram");
	}
	if (histogram_bucket(h->max_ns) != last) {
		profile_read_enter(r, ".max_s");
		return profile_read_expected(r, "a duration in the last bucket of the histogram");
	}
	return 0;
}

/*
 * Returns the largest duration that the first bucket can hold, which is an upper bound of the
 * minimum.
 */
static uint64_t largest_of_first(const struct histogram *h)
{
	int first = histogram_next(h, HISTOGRAM_BUCKET_MIN);
	uint64_t ns;

	ns = to_ns(histogram_bucket_end_s(first));
	while (histogram_bucket(ns) > first)
		ns--;
	return ns < h->max_ns ? ns : h->max_ns;
}

int profile_read_stage(struct profile_reading *r, const json_t *object, struct histogram *h,
		       double *counted_mean_s)
{
	const json_t *count = json_object_get(object, "count");
	double mean_s, min_s, max_s;
	uint64_t nr = 0;
	size_t len;
	int ret;

	if (!json_is_object(object) || !count)
		return profile_read_expected(r, "an object with a count");
	if (json_is_null(count)) {
		*counted_mean_s = NAN;
		return json_object_get(object, "mean_s")
			       ? profile_read_member(r, object, "mean_s", INFINITY, counted_mean_s)
			       : 0;
	}
	len = profile_read_enter(r, ".count");
	ret = profile_read_count(r, count, INT64_MAX, &nr);
	if (ret)
		return ret;
	profile_read_leave(r, len);
	ret = get_buckets(r, json_object_get(object, "histogram"), h);
	if (!ret && h->nr != nr) {
		profile_read_enter(r, ".count");
		return profile_read_expected(r, "the sum of the histogram");
	}
	if (ret || !nr)
		return ret;
	ret = profile_read_member(r, object, "mean_s", INFINITY, &mean_s);
	if (!ret)
		ret = profile_read_member(r, object, "max_s", INFINITY, &max_s);
	if (!ret)
		ret = profile_read_member_or(r, object, "min_s", NAN, &min_s);
	if (ret)
		return ret;
	if (isnan(mean_s) || isnan(max_s))
		return profile_read_expected(r, "a mean and a maximum where there are values");
	h->max_ns = to_ns(max_s);
	h->min_ns = isnan(min_s) ? largest_of_first(h) : to_ns(min_s);
	ret = check_range(r, h);
	if (!ret)
		ret = get_sum(r, object, mean_s, h);
	histogram_pack(h);
	return ret;
}

int profile_read_size_classes(struct profile_reading *r, const json_t *list, struct histogram *h)
{
	size_t len = strlen(r->path);
	double ignored;
	int ret = 0;

	if (!json_is_array(list) || json_array_size(list) != NR_SIZE_CLASSES)
		return profile_read_expected(r, "an array of 8 size classes");
	for (size_t i = 0; i < NR_SIZE_CLASSES; i++) {
		profile_read_enter(r, "[%zu]", i);
		ret = profile_read_stage(r, json_array_get(list, i), &h[i], &ignored);
		if (ret)
			return ret;
		profile_read_leave(r, len);
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/profile/profile_json.h"
#include "formats/profile/profile_pauses.h"

/*
 * jansson makes the values below and returns NULL where memory is short. It also accepts NULL:
 * json_object_set_new(o, key, NULL) fails, so one check at the end finds every failure.
 */
static json_t *profile_write_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *profile_write_whole(uint64_t value)
{
	return json_integer(value < INT64_MAX ? (json_int_t)value : INT64_MAX);
}

static json_t *whole_of(double value)
{
	if (isnan(value) || value < 0)
		return json_null();
	return profile_write_whole(value < 0x1p63 ? (uint64_t)value : INT64_MAX);
}

/* Names come from outside and may not be UTF-8, which JSON requires. */
static json_t *profile_write_text(const char *s)
{
	json_t *value = json_string(s);
	char *copy;

	if (value)
		return value;
	copy = strdup(s);
	for (char *c = copy; c && *c; c++)
		if (*c & 0x80)
			*c = '?';
	value = json_string(copy);
	free(copy);
	return value;
}

static void profile_write_set(json_t *object, const char *key, json_t *value, bool *failed)
{
	if (json_object_set_new(object, key, value))
		*failed = true;
}

static void profile_write_append(json_t *array, json_t *value, bool *failed)
{
	if (json_array_append_new(array, value))
		*failed = true;
}

static json_t *profile_write_done(json_t *value, bool failed)
{
	if (!failed)
		return value;
	json_decref(value);
	return NULL;
}

/* Makes [first, second] and takes over both references. */
static json_t *profile_write_pair(json_t *first, json_t *second)
{
	json_t *array = json_array();
	bool failed = false;

	profile_write_append(array, first, &failed);
	profile_write_append(array, second, &failed);
	return profile_write_done(array, failed);
}

static json_t *profile_write_sizes(const struct direction_profile *d, uint64_t requests)
{
	json_t *object = json_object();
	json_t *list = d->nr_sizes || !requests ? json_array() : json_null();
	bool failed = false;

	for (size_t i = 0; i < d->nr_sizes; i++)
		profile_write_append(list,
				     profile_write_pair(profile_write_whole(d->sizes[i].bytes),
							profile_write_whole(d->sizes[i].count)),
				     &failed);
	profile_write_set(object, "mean_bytes", profile_write_number(d->size_mean_bytes), &failed);
	profile_write_set(object, "histogram", list, &failed);
	profile_write_set(object, "other_count",
			  d->nr_sizes || d->other_sizes || !requests
				  ? profile_write_whole(d->other_sizes)
				  : json_null(),
			  &failed);
	return profile_write_done(object, failed);
}

static json_t *profile_write_idc(const struct profile *p)
{
	json_t *list = p->open.nr_idc ? json_array() : json_null();
	bool failed = false;

	for (size_t i = 0; i < p->open.nr_idc; i++)
		profile_write_append(
			list,
			profile_write_pair(profile_write_number(p->open.idc[i].window_s),
					   profile_write_number(p->open.idc[i].idc)),
			&failed);
	return profile_write_done(list, failed);
}

static json_t *miss_ratio(const struct profile *p)
{
	json_t *list = p->locality.nr_miss_ratio ? json_array() : json_null();
	bool failed = false;

	for (size_t i = 0; i < p->locality.nr_miss_ratio; i++) {
		const struct cache_point *point = &p->locality.miss_ratio[i];

		profile_write_append(list,
				     profile_write_pair(profile_write_whole(point->cache_bytes),
							profile_write_number(point->miss_ratio)),
				     &failed);
	}
	return profile_write_done(list, failed);
}

static json_t *profile_write_distribution(const struct access_distribution *d)
{
	const char *name = distribution_name(d->kind);
	json_t *object;
	bool failed = false;

	if (!name)
		return json_null();
	object = json_object();
	profile_write_set(object, "kind", json_string(name), &failed);
	profile_write_set(object, "regions", profile_write_whole(d->nr_regions), &failed);
	profile_write_set(object, "region_bytes", profile_write_whole(d->region_bytes), &failed);
	profile_write_set(object, "first_byte", profile_write_whole(d->first_byte), &failed);
	for (int i = 0; i < NR_DISTRIBUTION_FIELDS; i++) {
		const char *base = (const char *)d + distribution_fields[i].at;

		profile_write_set(object, distribution_fields[i].key,
				  profile_write_number(*(const double *)base), &failed);
	}
	return profile_write_done(object, failed);
}

static json_t *profile_write_buckets(const struct histogram *h)
{
	json_t *list = json_array();
	bool failed = false;

	for (int i = histogram_next(h, HISTOGRAM_BUCKET_MIN); i <= HISTOGRAM_BUCKET_MAX;
	     i = histogram_next(h, i + 1))
		profile_write_append(list,
				     profile_write_pair(json_integer(i),
							profile_write_whole(histogram_count(h, i))),
				     &failed);
	return profile_write_done(list, failed);
}

/*
 * Where requests have no recorded duration the stage is unknown, except for a mean from counters.
 * Without requests the stage is empty.
 */
static json_t *profile_write_stage(const struct histogram *h, uint64_t requests,
				   double counted_mean_s)
{
	bool unknown = !h->nr && requests, failed = false;
	unsigned __int128 sum = (unsigned __int128)h->sum_high << 64 | h->sum_ns;
	json_t *object = json_object();

	profile_write_set(object, "count", unknown ? json_null() : profile_write_whole(h->nr),
			  &failed);
	profile_write_set(object, "mean_s",
			  profile_write_number(unknown ? counted_mean_s : histogram_mean_s(h)),
			  &failed);
	for (int i = 0; i < NR_PROFILE_QUANTILES; i++)
		profile_write_set(
			object, profile_quantiles[i].key,
			profile_write_number(histogram_quantile_s(h, profile_quantiles[i].p)),
			&failed);
	profile_write_set(object, "min_s",
			  profile_write_number(h->nr ? (double)h->min_ns / 1e9 : NAN), &failed);
	profile_write_set(object, "max_s",
			  profile_write_number(h->nr ? (double)h->max_ns / 1e9 : NAN), &failed);
	profile_write_set(object, "sum_s",
			  unknown ? json_null() : profile_write_whole((uint64_t)(sum / 1000000000)),
			  &failed);
	profile_write_set(object, "sum_rest_ns",
			  unknown ? json_null() : profile_write_whole((uint64_t)(sum % 1000000000)),
			  &failed);
	profile_write_set(object, "histogram", unknown ? json_null() : profile_write_buckets(h),
			  &failed);
	return profile_write_done(object, failed);
}

/* The classes are unknown or empty together with the total stage of the same direction. */
static json_t *size_classes(const struct histogram *h, const struct response_times *r,
			    uint64_t requests)
{
	bool unknown = !r->stage[STAGE_TOTAL].nr && requests;
	json_t *list = json_array();
	bool failed = false;

	for (int i = 0; i < NR_SIZE_CLASSES; i++) {
		json_t *entry = profile_write_stage(&h[i], unknown, NAN);

		profile_write_set(entry, "end_bytes",
				  i < NR_SIZE_CLASSES - 1
					  ? profile_write_whole(size_class_end_bytes[i])
					  : json_null(),
				  &failed);
		profile_write_append(list, entry, &failed);
	}
	return profile_write_done(list, failed);
}

static double duration_s(const struct profile *p)
{
	return p->end_s - p->begin_s;
}

static double profile_write_share(uint64_t part, uint64_t rest)
{
	return (double)part / ((double)part + (double)rest); /* NaN where there are none */
}

/*
 * A load counts as sequential from a ratio of one half on (Noorshams, Modeling and Prediction of
 * I/O Performance in Virtualized Environments, 2015, eq. 5.13).
 */
static json_t *profile_write_pattern(double sequential_ratio)
{
	if (isnan(sequential_ratio))
		return json_null();
	return json_string(sequential_ratio >= 0.5 ? "sequential" : "random");
}

static json_t *profile_write_refused(const struct profile *p)
{
	char why[PROFILE_WHY_BYTES];

	return profile_refused(p, why) ? json_string(why) : json_null();
}

static json_t *profile_write_throughput(const struct profile *p, unsigned int operation)
{
	return profile_write_number(p->unknown >> operation & 1
					    ? NAN
					    : (double)p->bytes[operation] / profile_rate_s(p));
}

static json_t *profile_write_derived(const struct profile *p, enum profile_derived which)
{
	uint64_t reads = p->requests[OPERATION_READ], writes = p->requests[OPERATION_WRITE];

	switch (which) {
	case DERIVED_DURATION:
		return profile_write_number(duration_s(p));
	case DERIVED_REFUSED:
		return profile_write_refused(p);
	case DERIVED_MIX_READ:
		return profile_write_number(profile_write_share(reads, writes));
	case DERIVED_MIX_WRITE:
		return profile_write_number(profile_write_share(writes, reads));
	case DERIVED_PATTERN_READ:
		return profile_write_pattern(p->read.sequential_ratio);
	case DERIVED_PATTERN_WRITE:
		return profile_write_pattern(p->write.sequential_ratio);
	case DERIVED_PATTERN_ALL:
		return profile_write_pattern(p->all_sequential_ratio);
	case DERIVED_READ_PER_S:
		return profile_write_throughput(p, OPERATION_READ);
	case DERIVED_WRITE_PER_S:
		return profile_write_throughput(p, OPERATION_WRITE);
	case DERIVED_WATCHED:
		return profile_write_number(profile_watched_s(p));
	case DERIVED_UNTIMED:
		return whole_of(profile_untimed_requests(p));
	case DERIVED_UNTIMED_RATIO:
		return profile_write_number(profile_untimed_ratio(p));
	}
	return NULL;
}

static json_t *profile_write_grade(char c)
{
	char s[2] = { c, 0 };

	return c ? json_string(s) : json_null();
}

/* The detail is a JSON object, so that it can be read again unless memory is short. */
static json_t *profile_write_detail(const char *s)
{
	return s ? json_loads(s, JSON_REJECT_DUPLICATES, NULL) : json_null();
}

static const struct response_times *direction_of(const struct profile *p, unsigned int operation)
{
	return operation == OPERATION_READ ? &p->read.response : &p->write.response;
}

/* Returns the mean of this stage from counters. */
static double counted_mean_s(const struct profile *p, const struct histogram *h)
{
	if (h == &p->read.response.stage[STAGE_TOTAL])
		return p->read.response.total_mean_s;
	if (h == &p->flush.stage[STAGE_TOTAL])
		return p->flush.total_mean_s;
	return h == &p->write.response.stage[STAGE_TOTAL] ? p->write.response.total_mean_s : NAN;
}

/* Where the number of requests is unknown, their properties are unknown too, and not empty. */
static uint64_t known_requests(const struct profile *p, unsigned int operation)
{
	return p->requests[operation] + (p->unknown >> operation & 1);
}

static json_t *value_of(const struct profile *p, const struct profile_field *f)
{
	const void *at = (const char *)p + f->at;

	switch (f->kind) {
	case KIND_SCHEMA:
		return json_string(PROFILE_SCHEMA);
	case KIND_NAME:
	case KIND_WHY:
		return profile_write_text(at);
	case KIND_SOURCE:
		return json_string(source_name(p->source) ? source_name(p->source) : "unknown");
	case KIND_LAYER:
		return json_string(layer_name(p->layer) ? layer_name(p->layer) : "device");
	case KIND_GRADE:
		return profile_write_grade(*(const char *)at);
	case KIND_NUMBER:
		return profile_write_number(*(const double *)at);
	case KIND_WHOLE:
		return whole_of(*(const double *)at);
	case KIND_COUNT:
		return p->unknown & f->unknown ? json_null()
					       : profile_write_whole(*(const uint64_t *)at);
	case KIND_COUNT32:
		return *(const uint32_t *)at ? profile_write_whole(*(const uint32_t *)at)
					     : json_null();
	case KIND_DERIVED:
		return profile_write_derived(p, f->derived);
	case KIND_IDC:
		return profile_write_idc(p);
	case KIND_MISS_RATIO:
		return miss_ratio(p);
	case KIND_SIZES:
		return profile_write_sizes(at, known_requests(p, f->operation));
	case KIND_DISTRIBUTION:
		return profile_write_distribution(at);
	case KIND_STAGE:
		return profile_write_stage(at, known_requests(p, f->operation),
					   counted_mean_s(p, at));
	case KIND_SIZE_CLASSES:
		return size_classes(at, direction_of(p, f->operation),
				    known_requests(p, f->operation));
	case KIND_DETAIL:
		return profile_write_detail(*(char *const *)at);
	case KIND_PAUSES:
		return profile_pauses_write(p);
	}
	return NULL;
}

/* Sets root.a.b.c for the path "a.b.c" and makes a and b where they are missing. */
static void set_path(json_t *root, const char *path, json_t *value, bool *failed)
{
	const char *dot;

	while ((dot = strchr(path, '.'))) {
		json_t *next = json_object_getn(root, path, (size_t)(dot - path));

		if (!next) {
			next = json_object();
			if (json_object_setn_new(root, path, (size_t)(dot - path), next)) {
				*failed = true;
				json_decref(value);
				return;
			}
		}
		root = next;
		path = dot + 1;
	}
	profile_write_set(root, path, value, failed);
}

static int profile_write_put(const char *bytes, size_t nr, void *out)
{
	return buf_put(out, bytes, nr);
}

struct json_t *profile_to_value(const struct profile *p)
{
	json_t *root = json_object();
	bool failed = !root;

	for (size_t i = 0; i < nr_profile_fields && !failed; i++)
		set_path(root, profile_fields[i].path, value_of(p, &profile_fields[i]), &failed);
	return profile_write_done(root, failed);
}

int profile_to_json(const struct profile *p, enum profile_json_style style, struct buf *out)
{
	size_t flags = JSON_REAL_PRECISION(17), before = out->len;
	json_t *root = profile_to_value(p);
	int ret = 0;

	flags |= style == PROFILE_JSON_PRETTY ? JSON_INDENT(2) : JSON_COMPACT;
	if (!root || json_dump_callback(root, profile_write_put, out, flags)) {
		out->len = before;
		ret = -ENOMEM;
	}
	json_decref(root);
	return ret;
}

int profile_stage_to_json(const struct histogram *h, struct buf *out)
{
	json_t *root = profile_write_stage(h, 0, NAN);
	int failed = !root || json_dump_callback(root, profile_write_put, out, JSON_COMPACT);

	json_decref(root);
	return failed ? -ENOMEM : 0;
}

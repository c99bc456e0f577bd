/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/profile/profile_json.h"
#include "formats/profile/profile_pauses.h"

#define PATH_BYTES 128

/* Where the reader is, for its errors. */
struct reading {
	char path[PATH_BYTES];
	struct err *err;
};

static int profile_read_expected(struct reading *r, const char *what)
{
	return err_set(r->err, EINVAL, "%s: expected %s", r->path, what);
}

/* Adds to the path; returns its length before, to go back to. */
static size_t __attribute__((format(printf, 2, 3)))
profile_read_enter(struct reading *r, const char *fmt, ...)
{
	size_t len = strlen(r->path);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->path + len, sizeof(r->path) - len, fmt, ap);
	va_end(ap);
	return len;
}

static void profile_read_leave(struct reading *r, size_t len)
{
	r->path[len] = 0;
}

static int get_count(struct reading *r, const json_t *value, uint64_t max, uint64_t *out)
{
	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    (uint64_t)json_integer_value(value) > max)
		return profile_read_expected(r, "a whole number of 0 or more, and not too large");
	*out = (uint64_t)json_integer_value(value);
	return 0;
}

/* A number or null; with max above 0, of 0 to max. */
static int get_number(struct reading *r, const json_t *value, double max, double *out)
{
	double number = json_number_value(value);

	if (json_is_null(value)) {
		*out = NAN;
		return 0;
	}
	if (!json_is_number(value))
		return profile_read_expected(r, "a number or null");
	if (max > 0 && !(number >= 0 && number <= max))
		return profile_read_expected(r, max > 1 ? "a number of 0 or more"
							: "a number of 0 to 1");
	*out = number;
	return 0;
}

static int get_text(struct reading *r, const json_t *value, char *out, size_t room)
{
	if (!json_is_string(value) || json_string_length(value) >= room)
		return profile_read_expected(r, "a text that is not too long");
	memcpy(out, json_string_value(value), json_string_length(value) + 1);
	return 0;
}

static int get_name(struct reading *r, const json_t *value, const char *(*name)(unsigned int),
		    unsigned int begin, unsigned int end, uint8_t *out)
{
	const char *text = json_string_value(value);

	for (unsigned int i = begin; text && i < end; i++)
		if (!strcmp(text, name(i))) {
			*out = (uint8_t)i;
			return 0;
		}
	return profile_read_expected(r, "one of the names that the format knows");
}

static int get_member(struct reading *r, const json_t *object, const char *key, double max,
		      double *out)
{
	size_t len = profile_read_enter(r, ".%s", key);
	const json_t *value = json_object_get(object, key);
	int ret;

	if (!value)
		return profile_read_expected(r, "it, but it is missing");
	ret = get_number(r, value, max, out);
	if (!ret)
		profile_read_leave(r, len);
	return ret;
}

/* As get_member(); fallback where it is missing. */
static int get_member_or(struct reading *r, const json_t *object, const char *key, double fallback,
			 double *out)
{
	*out = fallback;
	return json_object_get(object, key) ? get_member(r, object, key, 0, out) : 0;
}

static int get_member_count(struct reading *r, const json_t *object, const char *key, uint64_t max,
			    uint64_t *out)
{
	size_t len = profile_read_enter(r, ".%s", key);
	const json_t *value = json_object_get(object, key);
	int ret = value ? get_count(r, value, max, out) : 0;

	if (!ret)
		profile_read_leave(r, len);
	return ret;
}

/* The two values of entry i. */
static int get_pair(struct reading *r, const json_t *list, size_t i, const json_t **first,
		    const json_t **second)
{
	const json_t *pair = json_array_get(list, i);

	profile_read_enter(r, "[%zu]", i);
	if (!json_is_array(pair) || json_array_size(pair) != 2)
		return profile_read_expected(r, "an array of two values");
	*first = json_array_get(pair, 0);
	*second = json_array_get(pair, 1);
	return 0;
}

/* Room for the entries of a list; null is an empty one. */
static int get_list(struct reading *r, const json_t *list, size_t size, void *out, size_t *nr)
{
	void *array;

	*nr = 0;
	if (json_is_null(list))
		return 0;
	if (!json_is_array(list))
		return profile_read_expected(r, "an array or null");
	if (!json_array_size(list))
		return 0;
	array = calloc(json_array_size(list), size);
	if (!array)
		return -ENOMEM;
	memcpy(out, &array, sizeof(array));
	*nr = json_array_size(list);
	return 0;
}

static int get_idc(struct reading *r, const json_t *list, struct profile *p)
{
	const json_t *first, *second;
	size_t len = strlen(r->path);
	int ret = get_list(r, list, sizeof(*p->open.idc), &p->open.idc, &p->open.nr_idc);

	for (size_t i = 0; i < p->open.nr_idc && !ret; i++) {
		struct idc_point *at = &p->open.idc[i];

		ret = get_pair(r, list, i, &first, &second);
		if (!ret)
			ret = get_number(r, first, INFINITY, &at->window_s);
		if (!ret && !(at->window_s > 0))
			ret = profile_read_expected(r, "a window above 0");
		if (!ret)
			ret = get_number(r, second, INFINITY, &at->idc);
		if (!ret)
			profile_read_leave(r, len);
	}
	return ret;
}

static int get_miss_ratio(struct reading *r, const json_t *list, struct profile *p)
{
	const json_t *first, *second;
	size_t len = strlen(r->path);
	struct cache_point *at = NULL;
	int ret =
		get_list(r, list, sizeof(*at), &p->locality.miss_ratio, &p->locality.nr_miss_ratio);

	for (size_t i = 0; i < p->locality.nr_miss_ratio && !ret; i++) {
		at = &p->locality.miss_ratio[i];
		ret = get_pair(r, list, i, &first, &second);
		if (!ret)
			ret = get_count(r, first, INT64_MAX, &at->cache_bytes);
		if (!ret && i && at->cache_bytes <= at[-1].cache_bytes)
			ret = profile_read_expected(r, "sizes in ascending order");
		if (!ret)
			ret = get_number(r, second, 1, &at->miss_ratio);
		if (!ret)
			profile_read_leave(r, len);
	}
	return ret;
}

static int get_sizes(struct reading *r, const json_t *object, struct direction_profile *d)
{
	const json_t *list = json_object_get(object, "histogram"), *first, *second;
	int ret = get_member(r, object, "mean_bytes", INFINITY, &d->size_mean_bytes);
	uint64_t bytes;
	size_t len;

	if (!ret && !json_is_null(json_object_get(object, "other_count")))
		ret = get_member_count(r, object, "other_count", INT64_MAX, &d->other_sizes);
	if (ret)
		return ret;
	profile_read_enter(r, ".histogram");
	if (!list)
		return profile_read_expected(r, "it, but it is missing");
	ret = get_list(r, list, sizeof(*d->sizes), &d->sizes, &d->nr_sizes);
	len = strlen(r->path);
	for (size_t i = 0; i < d->nr_sizes && !ret; i++) {
		ret = get_pair(r, list, i, &first, &second);
		if (!ret)
			ret = get_count(r, first, UINT32_MAX, &bytes);
		if (!ret && i && bytes <= d->sizes[i - 1].bytes)
			ret = profile_read_expected(r, "sizes in ascending order");
		if (!ret)
			ret = get_count(r, second, INT64_MAX, &d->sizes[i].count);
		if (!ret) {
			d->sizes[i].bytes = (uint32_t)bytes;
			profile_read_leave(r, len);
		}
	}
	return ret;
}

static int get_distribution(struct reading *r, const json_t *object, struct access_distribution *d)
{
	uint64_t nr_regions = 0;
	uint8_t kind = 0;
	size_t len;
	int ret;

	if (json_is_null(object))
		return 0;
	if (!json_is_object(object))
		return profile_read_expected(r, "an object or null");
	len = profile_read_enter(r, ".kind");
	ret = get_name(r, json_object_get(object, "kind"), distribution_name, DISTRIBUTION_UNIFORM,
		       DISTRIBUTION_ZIPF + 1, &kind);
	if (ret)
		return ret;
	profile_read_leave(r, len);
	d->kind = kind;
	ret = get_member_count(r, object, "regions", UINT32_MAX, &nr_regions);
	d->nr_regions = (uint32_t)nr_regions;
	if (!ret)
		ret = get_member_count(r, object, "region_bytes", INT64_MAX, &d->region_bytes);
	if (!ret)
		ret = get_member_count(r, object, "first_byte", INT64_MAX, &d->first_byte);
	for (int i = 0; i < NR_DISTRIBUTION_FIELDS && !ret; i++)
		ret = get_member_or(r, object, distribution_fields[i].key, NAN,
				    (double *)((char *)d + distribution_fields[i].at));
	return ret;
}

/* Seconds back to the whole nanoseconds that they were: exact up to 2^52 ns, 52 days. */
static uint64_t to_ns(double seconds)
{
	double ns = rint(seconds * 1e9);

	if (!(ns > 0))
		return 0;
	return ns < 0x1p64 ? (uint64_t)ns : UINT64_MAX;
}

static int get_buckets(struct reading *r, const json_t *list, struct histogram *h)
{
	size_t len = profile_read_enter(r, ".histogram"), inside = strlen(r->path);
	const json_t *first, *second;
	int64_t last = HISTOGRAM_BUCKET_MIN - 1;
	uint64_t nr;
	int ret = 0;

	if (!json_is_array(list))
		return profile_read_expected(r, "an array of [bucket, count]");
	for (size_t i = 0; i < json_array_size(list) && !ret; i++) {
		ret = get_pair(r, list, i, &first, &second);
		if (!ret && (!json_is_integer(first) || json_integer_value(first) <= last ||
			     json_integer_value(first) > HISTOGRAM_BUCKET_MAX))
			ret = profile_read_expected(r, "buckets of the grid in ascending order");
		if (!ret)
			ret = get_count(r, second, INT64_MAX, &nr);
		if (!ret) {
			last = json_integer_value(first);
			ret = histogram_add_bucket(h, (int)last, nr);
		}
		if (ret == -EOVERFLOW)
			ret = profile_read_expected(r, "a sum of counts below 2^64");
		if (!ret)
			profile_read_leave(r, inside);
	}
	if (!ret)
		profile_read_leave(r, len);
	return ret;
}

/* The sum in ns: exact from sum_s and sum_rest_ns, or else from the mean. */
static int get_sum(struct reading *r, const json_t *object, double mean_s, struct histogram *h)
{
	uint64_t seconds = 0, rest = 0;
	unsigned __int128 sum;
	int ret;

	if (json_object_get(object, "sum_s")) {
		ret = get_member_count(r, object, "sum_s", INT64_MAX, &seconds);
		if (!ret)
			ret = get_member_count(r, object, "sum_rest_ns", 999999999, &rest);
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

/* A duration must lie where the histogram says its least or largest does. */
static int check_range(struct reading *r, const struct histogram *h)
{
	int first = 0, last = HISTOGRAM_NR_BUCKETS - 1;

	while (!h->counts[first])
		first++;
	while (!h->counts[last])
		last--;
	if (histogram_bucket(h->min_ns) != first + HISTOGRAM_BUCKET_MIN) {
		profile_read_enter(r, ".min_s");
		return profile_read_expected(r, "a duration in the first bucket of the histogram");
	}
	if (histogram_bucket(h->max_ns) != last + HISTOGRAM_BUCKET_MIN) {
		profile_read_enter(r, ".max_s");
		return profile_read_expected(r, "a duration in the last bucket of the histogram");
	}
	return 0;
}

/* The largest duration that the first bucket can hold: what min is at most. */
static uint64_t largest_of_first(const struct histogram *h)
{
	int first = HISTOGRAM_BUCKET_MIN;
	uint64_t ns;

	while (!h->counts[first - HISTOGRAM_BUCKET_MIN])
		first++;
	ns = to_ns(histogram_bucket_end_s(first));
	while (histogram_bucket(ns) > first)
		ns--;
	return ns < h->max_ns ? ns : h->max_ns;
}

/* counted_mean_s: where a mean without a count goes. */
static int get_stage(struct reading *r, const json_t *object, struct histogram *h,
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
			       ? get_member(r, object, "mean_s", INFINITY, counted_mean_s)
			       : 0;
	}
	len = profile_read_enter(r, ".count");
	ret = get_count(r, count, INT64_MAX, &nr);
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
	ret = get_member(r, object, "mean_s", INFINITY, &mean_s);
	if (!ret)
		ret = get_member(r, object, "max_s", INFINITY, &max_s);
	if (!ret)
		ret = get_member_or(r, object, "min_s", NAN, &min_s);
	if (ret)
		return ret;
	if (isnan(mean_s) || isnan(max_s))
		return profile_read_expected(r, "a mean and a maximum where there are values");
	h->max_ns = to_ns(max_s);
	h->min_ns = isnan(min_s) ? largest_of_first(h) : to_ns(min_s);
	ret = check_range(r, h);
	return ret ? ret : get_sum(r, object, mean_s, h);
}

static int get_size_classes(struct reading *r, const json_t *list, struct histogram *h)
{
	size_t len = strlen(r->path);
	double ignored;
	int ret = 0;

	if (!json_is_array(list) || json_array_size(list) != NR_SIZE_CLASSES)
		return profile_read_expected(r, "an array of 8 size classes");
	for (size_t i = 0; i < NR_SIZE_CLASSES && !ret; i++) {
		profile_read_enter(r, "[%zu]", i);
		ret = get_stage(r, json_array_get(list, i), &h[i], &ignored);
		if (!ret)
			profile_read_leave(r, len);
	}
	return ret;
}

static int get_grade(struct reading *r, const json_t *value, char *out)
{
	const char *text = json_string_value(value);

	if (json_is_null(value))
		return 0;
	if (!text || text[0] < 'A' || text[0] > 'E' || text[1])
		return profile_read_expected(r, "\"A\" to \"E\" or null");
	*out = text[0];
	return 0;
}

static int get_schema(struct reading *r, const json_t *value)
{
	const char *text = json_string_value(value);

	if (!text || strcmp(text, PROFILE_SCHEMA))
		return err_set(r->err, EINVAL,
			       "schema: expected \"" PROFILE_SCHEMA "\", got \"%s\"",
			       text ? text : "");
	return 0;
}

static int get_detail(struct reading *r, const json_t *value, char **out)
{
	char *text;

	if (json_is_null(value))
		return 0;
	if (!json_is_object(value))
		return profile_read_expected(r, "an object or null");
	text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(17));
	if (!text)
		return -ENOMEM;
	*out = strdup(text);
	free(text);
	return *out ? 0 : -ENOMEM;
}

/* A count, or null where it is one that a source may not know. */
static int get_count_or_null(struct reading *r, const json_t *value, uint32_t unknown,
			     struct profile *p, uint64_t *out)
{
	if (!unknown || !json_is_null(value))
		return get_count(r, value, INT64_MAX, out);
	p->unknown |= unknown;
	return 0;
}

/* The place for a mean that counters tell of the stage at h; ignored where they never do. */
static double *counted_mean_of(struct profile *p, const struct histogram *h, double *ignored)
{
	if (h == &p->read.response.stage[STAGE_TOTAL])
		return &p->read.response.total_mean_s;
	if (h == &p->flush.stage[STAGE_TOTAL])
		return &p->flush.total_mean_s;
	return h == &p->write.response.stage[STAGE_TOTAL] ? &p->write.response.total_mean_s
							  : ignored;
}

static int get_count32(struct reading *r, const json_t *value, uint32_t *out)
{
	uint64_t wide = 0;
	int ret = json_is_null(value) ? 0 : get_count(r, value, UINT32_MAX, &wide);

	if (!ret)
		*out = (uint32_t)wide;
	return ret;
}

static int get_value(struct reading *r, const struct profile_field *f, const json_t *value,
		     struct profile *p)
{
	void *at = (char *)p + f->at;
	double ignored;

	switch (f->kind) {
	case KIND_SCHEMA:
		return get_schema(r, value);
	case KIND_NAME:
		return get_text(r, value, at, PROFILE_NAME_BYTES);
	case KIND_WHY:
		return get_text(r, value, at, PROFILE_WHY_BYTES);
	case KIND_SOURCE:
		return get_name(r, value, source_name, 0, NR_SOURCES, at);
	case KIND_LAYER:
		return get_name(r, value, layer_name, 0, NR_LAYERS, at);
	case KIND_GRADE:
		return get_grade(r, value, at);
	case KIND_NUMBER:
		return get_number(r, value, f->max, at);
	case KIND_WHOLE:
		return get_number(r, value, f->max, at);
	case KIND_COUNT:
		return get_count_or_null(r, value, f->unknown, p, at);
	case KIND_COUNT32:
		return get_count32(r, value, at);
	case KIND_DERIVED:
		return json_is_string(value) ? 0 : get_number(r, value, f->max, &ignored);
	case KIND_IDC:
		return get_idc(r, value, p);
	case KIND_MISS_RATIO:
		return get_miss_ratio(r, value, p);
	case KIND_SIZES:
		return get_sizes(r, value, at);
	case KIND_DISTRIBUTION:
		return get_distribution(r, value, at);
	case KIND_STAGE:
		return get_stage(r, value, at, counted_mean_of(p, at, &ignored));
	case KIND_SIZE_CLASSES:
		return get_size_classes(r, value, at);
	case KIND_DETAIL:
		return get_detail(r, value, at);
	case KIND_PAUSES:
		return profile_pauses_read(p, value)
			       ? profile_read_expected(r, "up to 16 of [cause, begin, length]")
			       : 0;
	}
	return -EINVAL;
}

/* root.a.b.c for the path "a.b.c"; NULL where a key is missing. */
static const json_t *profile_read_find(const json_t *root, const char *path)
{
	const char *dot;

	for (; root && (dot = strchr(path, '.')); path = dot + 1)
		root = json_object_getn(root, path, (size_t)(dot - path));
	return json_object_get(root, path);
}

static int get_all(const json_t *root, struct profile *p, struct err *err)
{
	struct reading r = { .err = err };

	for (size_t i = 0; i < nr_profile_fields; i++) {
		const struct profile_field *f = &profile_fields[i];
		const json_t *value = profile_read_find(root, f->path);
		int ret = 0;

		snprintf(r.path, sizeof(r.path), "%s", f->path);
		if (value)
			ret = get_value(&r, f, value, p);
		else if (!f->optional)
			ret = profile_read_expected(&r, "it, but it is missing");
		else if (f->unknown == UNKNOWN_DURABILITY) /* profiles are older than the counts */
			p->unknown |= f->unknown;
		if (ret)
			return ret;
	}
	snprintf(r.path, sizeof(r.path), "end_s");
	return p->end_s <= p->begin_s ? profile_read_expected(&r, "a time after begin_s") : 0;
}

int profile_from_json(const char *text, size_t len, struct profile *p, struct err *err)
{
	json_error_t where;
	json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &where);
	int ret;

	profile_release(p);
	if (!root)
		return err_set(err, EINVAL, "profile: line %d, column %d: %s", where.line,
			       where.column, where.text);
	ret = get_all(root, p, err);
	json_decref(root);
	if (ret)
		profile_release(p);
	return ret == -ENOMEM ? err_set(err, ENOMEM, "profile: out of memory") : ret;
}

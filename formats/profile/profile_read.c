/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/json.h"
#include "formats/profile/profile_arrivals.h"
#include "formats/profile/profile_pauses.h"
#include "formats/profile/profile_read_state.h"

static int get_idc(struct profile_reading *r, const json_t *list, struct profile *p)
{
	const json_t *first, *second;
	size_t len = strlen(r->path);
	int ret = profile_read_list(r, list, sizeof(*p->open.idc), &p->open.idc, &p->open.nr_idc);

	if (ret)
		return ret;
	for (size_t i = 0; i < p->open.nr_idc; i++) {
		struct idc_point *at = &p->open.idc[i];

		ret = profile_read_pair(r, list, i, &first, &second);
		if (ret)
			return ret;
		ret = profile_read_number(r, first, INFINITY, &at->window_s);
		if (ret)
			return ret;
		if (!(at->window_s > 0))
			return profile_read_expected(r, "a window above 0");
		ret = profile_read_number(r, second, INFINITY, &at->idc);
		if (ret)
			return ret;
		profile_read_leave(r, len);
	}
	return 0;
}

static int get_miss_ratio(struct profile_reading *r, const json_t *list, struct profile *p)
{
	const json_t *first, *second;
	size_t len = strlen(r->path);
	struct cache_point *at = NULL;
	int ret = profile_read_list(r, list, sizeof(*at), &p->locality.miss_ratio,
				    &p->locality.nr_miss_ratio);

	if (ret)
		return ret;
	for (size_t i = 0; i < p->locality.nr_miss_ratio; i++) {
		at = &p->locality.miss_ratio[i];
		ret = profile_read_pair(r, list, i, &first, &second);
		if (ret)
			return ret;
		ret = profile_read_count(r, first, INT64_MAX, &at->cache_bytes);
		if (ret)
			return ret;
		if (i && at->cache_bytes <= at[-1].cache_bytes)
			return profile_read_expected(r, "sizes in ascending order");
		ret = profile_read_number(r, second, 1, &at->miss_ratio);
		if (ret)
			return ret;
		profile_read_leave(r, len);
	}
	return 0;
}

static int get_sizes(struct profile_reading *r, const json_t *object, struct direction_profile *d)
{
	const json_t *list = json_object_get(object, "histogram"), *first, *second;
	int ret = profile_read_member(r, object, "mean_bytes", INFINITY, &d->size_mean_bytes);
	uint64_t bytes;
	size_t len;

	if (!ret && !json_is_null(json_object_get(object, "other_count")))
		ret = profile_read_member_count(r, object, "other_count", INT64_MAX,
						&d->other_sizes);
	if (ret)
		return ret;
	profile_read_enter(r, ".histogram");
	if (!list)
		return profile_read_expected(r, "it, but it is missing");
	ret = profile_read_list(r, list, sizeof(*d->sizes), &d->sizes, &d->nr_sizes);
	len = strlen(r->path);
	if (ret)
		return ret;
	for (size_t i = 0; i < d->nr_sizes; i++) {
		ret = profile_read_pair(r, list, i, &first, &second);
		if (ret)
			return ret;
		ret = profile_read_count(r, first, UINT32_MAX, &bytes);
		if (ret)
			return ret;
		if (i && bytes <= d->sizes[i - 1].bytes)
			return profile_read_expected(r, "sizes in ascending order");
		ret = profile_read_count(r, second, INT64_MAX, &d->sizes[i].count);
		if (ret)
			return ret;
		d->sizes[i].bytes = (uint32_t)bytes;
		profile_read_leave(r, len);
	}
	return 0;
}

static int get_distribution(struct profile_reading *r, const json_t *object,
			    struct access_distribution *d)
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
	ret = profile_read_name(r, json_object_get(object, "kind"), distribution_name,
				DISTRIBUTION_UNIFORM, DISTRIBUTION_ZIPF + 1, &kind);
	if (ret)
		return ret;
	profile_read_leave(r, len);
	d->kind = kind;
	ret = profile_read_member_count(r, object, "regions", UINT32_MAX, &nr_regions);
	d->nr_regions = (uint32_t)nr_regions;
	if (ret)
		return ret;
	ret = profile_read_member_count(r, object, "region_bytes", INT64_MAX, &d->region_bytes);
	if (ret)
		return ret;
	ret = profile_read_member_count(r, object, "first_byte", INT64_MAX, &d->first_byte);
	if (ret)
		return ret;
	for (int i = 0; i < NR_DISTRIBUTION_FIELDS; i++) {
		ret = profile_read_member_or(r, object, distribution_fields[i].key, NAN,
					     (double *)((char *)d + distribution_fields[i].at));
		if (ret)
			return ret;
	}
	return 0;
}

static int get_grade(struct profile_reading *r, const json_t *value, char *out)
{
	const char *text = json_string_value(value);

	if (json_is_null(value))
		return 0;
	if (!text || text[0] < 'A' || text[0] > 'E' || text[1])
		return profile_read_expected(r, "\"A\" to \"E\" or null");
	*out = text[0];
	return 0;
}

static int get_schema(struct profile_reading *r, const json_t *value)
{
	const char *text = json_string_value(value);

	if (!text || strcmp(text, PROFILE_SCHEMA))
		return err_set(r->err, EINVAL,
			       "schema: expected \"" PROFILE_SCHEMA "\", got \"%s\"",
			       text ? text : "");
	return 0;
}

static int get_detail(struct profile_reading *r, const json_t *value, char **out)
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

/* Reads a count, or null where it is one that a source may not know. */
static int get_count_or_null(struct profile_reading *r, const json_t *value, uint32_t unknown,
			     struct profile *p, uint64_t *out)
{
	if (!unknown || !json_is_null(value))
		return profile_read_count(r, value, INT64_MAX, out);
	p->unknown |= unknown;
	return 0;
}

/*
 * Returns where a mean from counters for the stage at h is stored; ignored is returned where
 * counters never give one.
 */
static double *counted_mean_of(struct profile *p, const struct histogram *h, double *ignored)
{
	if (h == &p->read.response.stage[STAGE_TOTAL])
		return &p->read.response.total_mean_s;
	if (h == &p->flush.stage[STAGE_TOTAL])
		return &p->flush.total_mean_s;
	return h == &p->write.response.stage[STAGE_TOTAL] ? &p->write.response.total_mean_s
							  : ignored;
}

static int get_count32(struct profile_reading *r, const json_t *value, uint32_t *out)
{
	uint64_t wide = 0;
	int ret = json_is_null(value) ? 0 : profile_read_count(r, value, UINT32_MAX, &wide);

	if (ret)
		return ret;
	*out = (uint32_t)wide;
	return 0;
}

static int get_value(struct profile_reading *r, const struct profile_field *f, const json_t *value,
		     struct profile *p)
{
	void *at = (char *)p + f->at;
	double ignored;

	switch (f->kind) {
	case KIND_SCHEMA:
		return get_schema(r, value);
	case KIND_NAME:
		return profile_read_text(r, value, at, PROFILE_NAME_BYTES);
	case KIND_WHY:
		return profile_read_text(r, value, at, PROFILE_WHY_BYTES);
	case KIND_SOURCE:
		return profile_read_name(r, value, source_name, 0, NR_SOURCES, at);
	case KIND_LAYER:
		return profile_read_name(r, value, layer_name, 0, NR_LAYERS, at);
	case KIND_GRADE:
		return get_grade(r, value, at);
	case KIND_NUMBER:
		return profile_read_number(r, value, f->max, at);
	case KIND_WHOLE:
		return profile_read_number(r, value, f->max, at);
	case KIND_COUNT:
		return get_count_or_null(r, value, f->unknown, p, at);
	case KIND_COUNT32:
		return get_count32(r, value, at);
	case KIND_DERIVED:
		return json_is_string(value) ? 0 : profile_read_number(r, value, f->max, &ignored);
	case KIND_IDC:
		return get_idc(r, value, p);
	case KIND_MISS_RATIO:
		return get_miss_ratio(r, value, p);
	case KIND_SIZES:
		return get_sizes(r, value, at);
	case KIND_DISTRIBUTION:
		return get_distribution(r, value, at);
	case KIND_STAGE:
		return profile_read_stage(r, value, at, counted_mean_of(p, at, &ignored));
	case KIND_SIZE_CLASSES:
		return profile_read_size_classes(r, value, at);
	case KIND_DETAIL:
		return get_detail(r, value, at);
	case KIND_ARRIVALS:
		return profile_arrivals_read(r, value, f->arrivals, p->requests[f->operation], at);
	case KIND_PAUSES:
		return profile_pauses_read(p, value)
			       ? profile_read_expected(r, "up to 16 of [cause, begin, length]")
			       : 0;
	}
	return -EINVAL;
}

/* Returns root.a.b.c for the path "a.b.c", or NULL where a key is missing. */
static const json_t *profile_read_find(const json_t *root, const char *path)
{
	const char *dot;

	for (; root && (dot = strchr(path, '.')); path = dot + 1)
		root = json_object_getn(root, path, (size_t)(dot - path));
	return json_object_get(root, path);
}

static int get_all(const json_t *root, struct profile *p, struct err *err)
{
	struct profile_reading r = { .err = err };

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
	snprintf(r.path, sizeof(r.path), "begin_s");
	if (p->begin_s < 0)
		return profile_read_expected(&r, "seconds since 1970, not below 0");
	snprintf(r.path, sizeof(r.path), "end_s");
	if (p->end_s >= PROFILE_END_S_MAX)
		return profile_read_expected(&r, "seconds since 1970, below 18446744073");
	return p->end_s <= p->begin_s ? profile_read_expected(&r, "a time after begin_s") : 0;
}

int profile_from_value(const struct json_t *value, struct profile *p, struct err *err)
{
	int ret;

	profile_release(p);
	ret = get_all(value, p, err);
	if (ret)
		profile_release(p);
	return ret == -ENOMEM ? err_set(err, ENOMEM, "profile: out of memory") : ret;
}

int profile_from_json(const char *text, size_t len, struct profile *p, struct err *err)
{
	json_error_t where;
	json_t *root;
	int ret;

	ret = json_parse(&root, text, len, JSON_REJECT_DUPLICATES, &where);
	if (ret) {
		profile_release(p);
		if (ret == -ENOMEM)
			return err_set(err, ENOMEM, "profile: out of memory");
		return err_set(err, EINVAL, "profile: line %d, column %d: %s", where.line,
			       where.column, where.text);
	}
	ret = profile_from_value(root, p, err);
	json_decref(root);
	return ret;
}

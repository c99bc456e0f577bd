/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/data/json.h"
#include "base/data/json_writer.h"
#include "formats/profile/profile_json.h"

static void profile_write_key(struct json_writer *w, const char *key)
{
	json_writer_key(w, key, strlen(key));
}

static void profile_write_number(struct json_writer *w, const char *key, double value)
{
	profile_write_key(w, key);
	json_writer_real(w, value);
}

static void profile_write_whole(struct json_writer *w, const char *key, uint64_t value)
{
	profile_write_key(w, key);
	json_writer_whole(w, value);
}

/* Writes a count that is stored as a double, or null if it is unknown. */
static void profile_write_whole_of(struct json_writer *w, double value)
{
	if (isnan(value) || value < 0)
		json_writer_null(w);
	else
		json_writer_whole(w, value < 0x1p63 ? (uint64_t)value : INT64_MAX);
}

/* Writes the text, or null where there is none. */
static void profile_write_text(struct json_writer *w, const char *text)
{
	if (text)
		json_writer_text(w, text);
	else
		json_writer_null(w);
}

static void profile_write_sizes(struct json_writer *w, const struct direction_profile *d,
				uint64_t requests)
{
	json_writer_open(w, '{');
	profile_write_number(w, "mean_bytes", d->size_mean_bytes);
	profile_write_key(w, "histogram");
	if (d->nr_sizes || !requests) {
		json_writer_open(w, '[');
		for (size_t i = 0; i < d->nr_sizes; i++) {
			json_writer_open(w, '[');
			json_writer_whole(w, d->sizes[i].bytes);
			json_writer_whole(w, d->sizes[i].count);
			json_writer_close(w, ']');
		}
		json_writer_close(w, ']');
	} else {
		json_writer_null(w);
	}
	profile_write_key(w, "other_count");
	if (d->nr_sizes || d->other_sizes || !requests)
		json_writer_whole(w, d->other_sizes);
	else
		json_writer_null(w);
	json_writer_close(w, '}');
}

static void profile_write_idc(struct json_writer *w, const struct profile *p)
{
	if (!p->open.nr_idc) {
		json_writer_null(w);
		return;
	}
	json_writer_open(w, '[');
	for (size_t i = 0; i < p->open.nr_idc; i++) {
		json_writer_open(w, '[');
		json_writer_real(w, p->open.idc[i].window_s);
		json_writer_real(w, p->open.idc[i].idc);
		json_writer_close(w, ']');
	}
	json_writer_close(w, ']');
}

static void profile_write_miss_ratio(struct json_writer *w, const struct profile *p)
{
	if (!p->locality.nr_miss_ratio) {
		json_writer_null(w);
		return;
	}
	json_writer_open(w, '[');
	for (size_t i = 0; i < p->locality.nr_miss_ratio; i++) {
		json_writer_open(w, '[');
		json_writer_whole(w, p->locality.miss_ratio[i].cache_bytes);
		json_writer_real(w, p->locality.miss_ratio[i].miss_ratio);
		json_writer_close(w, ']');
	}
	json_writer_close(w, ']');
}

static void profile_write_pauses(struct json_writer *w, const struct profile *p)
{
	json_writer_open(w, '[');
	for (size_t i = 0; i < p->nr_pauses; i++) {
		const struct profile_pause *at = &p->pauses[i];

		json_writer_open(w, '[');
		json_writer_text(w, loss_cause_name(at->cause));
		json_writer_real(w, at->begin_s);
		json_writer_real(w, at->length_s);
		json_writer_close(w, ']');
	}
	json_writer_close(w, ']');
}

static void profile_write_arrivals(struct json_writer *w, const struct arrival_tally *t)
{
	json_writer_open(w, '[');
	for (size_t i = 0; i < t->nr; i++) {
		json_writer_open(w, '[');
		json_writer_signed(w, t->counts[i].bucket);
		json_writer_whole(w, t->counts[i].count);
		json_writer_close(w, ']');
	}
	json_writer_close(w, ']');
}

static void profile_write_distribution(struct json_writer *w, const struct access_distribution *d)
{
	const char *name = distribution_name(d->kind);

	if (!name) {
		json_writer_null(w);
		return;
	}
	json_writer_open(w, '{');
	profile_write_key(w, "kind");
	json_writer_text(w, name);
	profile_write_whole(w, "regions", d->nr_regions);
	profile_write_whole(w, "region_bytes", d->region_bytes);
	profile_write_whole(w, "first_byte", d->first_byte);
	for (int i = 0; i < NR_DISTRIBUTION_FIELDS; i++) {
		const char *base = (const char *)d + distribution_fields[i].at;

		profile_write_number(w, distribution_fields[i].key, *(const double *)base);
	}
	json_writer_close(w, '}');
}

static void profile_write_buckets(struct json_writer *w, const struct histogram *h)
{
	json_writer_open(w, '[');
	for (int i = histogram_next(h, HISTOGRAM_BUCKET_MIN); i <= HISTOGRAM_BUCKET_MAX;
	     i = histogram_next(h, i + 1)) {
		json_writer_open(w, '[');
		json_writer_signed(w, i);
		json_writer_whole(w, histogram_count(h, i));
		json_writer_close(w, ']');
	}
	json_writer_close(w, ']');
}

static void profile_write_extremes(struct json_writer *w, const struct histogram *h)
{
	for (int i = 0; i < NR_PROFILE_QUANTILES; i++)
		profile_write_number(w, profile_quantiles[i].key,
				     histogram_quantile_s(h, profile_quantiles[i].p));
	profile_write_number(w, "min_s", h->nr ? (double)h->min_ns / 1e9 : NAN);
	profile_write_number(w, "max_s", h->nr ? (double)h->max_ns / 1e9 : NAN);
}

/*
 * Writes a stage and leaves its object open. Where requests have no recorded duration the stage is
 * unknown, except for a mean from counters. Without requests the stage is empty.
 */
static void profile_write_open_stage(struct json_writer *w, const struct histogram *h,
				     uint64_t requests, double counted_mean_s)
{
	unsigned __int128 sum = (unsigned __int128)h->sum_high << 64 | h->sum_ns;

	json_writer_open(w, '{');
	if (!h->nr && requests) {
		profile_write_key(w, "count");
		json_writer_null(w);
		profile_write_number(w, "mean_s", counted_mean_s);
		profile_write_extremes(w, h);
		profile_write_number(w, "sum_s", NAN);
		profile_write_number(w, "sum_rest_ns", NAN);
		profile_write_number(w, "histogram", NAN);
		return;
	}
	profile_write_whole(w, "count", h->nr);
	profile_write_number(w, "mean_s", histogram_mean_s(h));
	profile_write_extremes(w, h);
	profile_write_whole(w, "sum_s", (uint64_t)(sum / 1000000000));
	profile_write_whole(w, "sum_rest_ns", (uint64_t)(sum % 1000000000));
	profile_write_key(w, "histogram");
	profile_write_buckets(w, h);
}

static void profile_write_stage(struct json_writer *w, const struct histogram *h, uint64_t requests,
				double counted_mean_s)
{
	profile_write_open_stage(w, h, requests, counted_mean_s);
	json_writer_close(w, '}');
}

/* The classes are unknown or empty together with the total stage of the same direction. */
static void profile_write_size_classes(struct json_writer *w, const struct histogram *h,
				       const struct response_times *r, uint64_t requests)
{
	bool unknown = !r->stage[STAGE_TOTAL].nr && requests;

	json_writer_open(w, '[');
	for (int i = 0; i < NR_SIZE_CLASSES; i++) {
		profile_write_open_stage(w, &h[i], unknown, NAN);
		profile_write_key(w, "end_bytes");
		if (i < NR_SIZE_CLASSES - 1)
			json_writer_whole(w, size_class_end_bytes[i]);
		else
			json_writer_null(w);
		json_writer_close(w, '}');
	}
	json_writer_close(w, ']');
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
 * I/O Performance in Virtualized Environments, 2015, eq. 5.13). NULL: unknown.
 */
static const char *profile_write_pattern(double sequential_ratio)
{
	if (isnan(sequential_ratio))
		return NULL;
	return sequential_ratio >= 0.5 ? "sequential" : "random";
}

static double profile_write_throughput(const struct profile *p, unsigned int operation)
{
	return p->unknown >> operation & 1 ? NAN : (double)p->bytes[operation] / profile_rate_s(p);
}

static void profile_write_derived(struct json_writer *w, const struct profile *p,
				  enum profile_derived which)
{
	uint64_t reads = p->requests[OPERATION_READ], writes = p->requests[OPERATION_WRITE];
	char why[PROFILE_WHY_BYTES];
	double value = NAN;

	switch (which) {
	case DERIVED_REFUSED:
		profile_write_text(w, profile_refused(p, why));
		return;
	case DERIVED_PATTERN_READ:
		profile_write_text(w, profile_write_pattern(p->read.sequential_ratio));
		return;
	case DERIVED_PATTERN_WRITE:
		profile_write_text(w, profile_write_pattern(p->write.sequential_ratio));
		return;
	case DERIVED_PATTERN_ALL:
		profile_write_text(w, profile_write_pattern(p->all_sequential_ratio));
		return;
	case DERIVED_UNTIMED:
		profile_write_whole_of(w, profile_untimed_requests(p));
		return;
	case DERIVED_DURATION:
		value = duration_s(p);
		break;
	case DERIVED_MIX_READ:
		value = profile_write_share(reads, writes);
		break;
	case DERIVED_MIX_WRITE:
		value = profile_write_share(writes, reads);
		break;
	case DERIVED_READ_PER_S:
		value = profile_write_throughput(p, OPERATION_READ);
		break;
	case DERIVED_WRITE_PER_S:
		value = profile_write_throughput(p, OPERATION_WRITE);
		break;
	case DERIVED_WATCHED:
		value = profile_watched_s(p);
		break;
	case DERIVED_UNTIMED_RATIO:
		value = profile_untimed_ratio(p);
		break;
	}
	json_writer_real(w, value);
}

static void profile_write_grade(struct json_writer *w, char grade)
{
	char text[2] = { grade, 0 };

	profile_write_text(w, grade ? text : NULL);
}

/*
 * The detail is JSON of its own, of any shape. Returns 0, or -ENOMEM: it was read once already, so
 * that nothing else can make it fail.
 */
static int profile_write_detail(struct json_writer *w, const char *detail)
{
	json_t *value = NULL;

	if (detail && json_parse(&value, detail, strlen(detail), JSON_REJECT_DUPLICATES, NULL))
		return -ENOMEM;
	json_writer_value(w, value);
	json_decref(value);
	return 0;
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

/* If the number of requests is unknown, their properties are unknown too, and not empty. */
static uint64_t known_requests(const struct profile *p, unsigned int operation)
{
	return p->requests[operation] + (p->unknown >> operation & 1);
}

static void profile_write_name(struct json_writer *w, const char *name, const char *otherwise)
{
	json_writer_text(w, name ? name : otherwise);
}

static void profile_write_count(struct json_writer *w, const struct profile *p,
				const struct profile_field *f)
{
	if (p->unknown & f->unknown)
		json_writer_null(w);
	else
		json_writer_whole(w, *(const uint64_t *)((const char *)p + f->at));
}

static void profile_write_count32(struct json_writer *w, uint32_t count)
{
	if (count)
		json_writer_whole(w, count);
	else
		json_writer_null(w);
}

/* Writes the value of a field that is a list or an object. Returns 0 or -ENOMEM. */
static int profile_write_compound(struct json_writer *w, const struct profile *p,
				  const struct profile_field *f)
{
	const void *at = (const char *)p + f->at;

	switch (f->kind) {
	case KIND_IDC:
		profile_write_idc(w, p);
		break;
	case KIND_MISS_RATIO:
		profile_write_miss_ratio(w, p);
		break;
	case KIND_SIZES:
		profile_write_sizes(w, at, known_requests(p, f->operation));
		break;
	case KIND_DISTRIBUTION:
		profile_write_distribution(w, at);
		break;
	case KIND_STAGE:
		profile_write_stage(w, at, known_requests(p, f->operation), counted_mean_s(p, at));
		break;
	case KIND_SIZE_CLASSES:
		profile_write_size_classes(w, at, direction_of(p, f->operation),
					   known_requests(p, f->operation));
		break;
	case KIND_PAUSES:
		profile_write_pauses(w, p);
		break;
	case KIND_ARRIVALS:
		profile_write_arrivals(w, at);
		break;
	default:
		return profile_write_detail(w, *(char *const *)at);
	}
	return 0;
}

/* Writes the value of a field. Returns 0 or -ENOMEM. */
static int profile_write_field(struct json_writer *w, const struct profile *p,
			       const struct profile_field *f)
{
	const void *at = (const char *)p + f->at;

	switch (f->kind) {
	case KIND_SCHEMA:
		json_writer_text(w, PROFILE_SCHEMA);
		break;
	case KIND_NAME:
	case KIND_WHY:
		json_writer_text(w, at);
		break;
	case KIND_SOURCE:
		profile_write_name(w, source_name(p->source), "unknown");
		break;
	case KIND_LAYER:
		profile_write_name(w, layer_name(p->layer), "device");
		break;
	case KIND_GRADE:
		profile_write_grade(w, *(const char *)at);
		break;
	case KIND_NUMBER:
		json_writer_real(w, *(const double *)at);
		break;
	case KIND_WHOLE:
		profile_write_whole_of(w, *(const double *)at);
		break;
	case KIND_COUNT:
		profile_write_count(w, p, f);
		break;
	case KIND_COUNT32:
		profile_write_count32(w, *(const uint32_t *)at);
		break;
	case KIND_DERIVED:
		profile_write_derived(w, p, f->derived);
		break;
	default:
		return profile_write_compound(w, p, f);
	}
	return 0;
}

/*
 * Goes from one path to the next ("a.b.c"; "" at the begin and at the end): closes the objects in
 * which only the last one is, opens those in which only this one is, and writes its key. The table
 * has the fields of one object beside one another.
 */
static void profile_write_go(struct json_writer *w, const char *last, const char *path)
{
	const char *at, *dot;
	size_t shared = 0;

	for (size_t i = 0; path[i] && path[i] == last[i]; i++)
		if (path[i] == '.')
			shared = i + 1;
	for (at = last + shared; (dot = strchr(at, '.')); at = dot + 1)
		json_writer_close(w, '}');
	for (at = path + shared; (dot = strchr(at, '.')); at = dot + 1) {
		json_writer_key(w, at, (size_t)(dot - at));
		json_writer_open(w, '{');
	}
	if (*at)
		profile_write_key(w, at);
}

/* Most windows have tallies of one or two directions, and idle ones have none. */
static bool profile_write_leaves_out(const struct profile *p, const struct profile_field *f)
{
	const void *at = (const char *)p + f->at;

	return f->kind == KIND_ARRIVALS && !((const struct arrival_tally *)at)->nr;
}

int profile_to_json(const struct profile *p, enum profile_json_style style, struct buf *out)
{
	struct json_writer w = { .out = out, .is_pretty = style == PROFILE_JSON_PRETTY };
	size_t before = out->len;
	const char *last = "";
	int ret = 0;

	json_writer_open(&w, '{');
	for (size_t i = 0; i < nr_profile_fields && !ret; i++) {
		if (profile_write_leaves_out(p, &profile_fields[i]))
			continue;
		profile_write_go(&w, last, profile_fields[i].path);
		ret = profile_write_field(&w, p, &profile_fields[i]);
		last = profile_fields[i].path;
	}
	profile_write_go(&w, last, "");
	json_writer_close(&w, '}');
	if (!ret && !out->error)
		return 0;
	out->len = before;
	return -ENOMEM;
}

int profile_stage_to_json(const struct histogram *h, struct buf *out)
{
	struct json_writer w = { .out = out };

	profile_write_stage(&w, h, 0, NAN);
	return out->error ? -ENOMEM : 0;
}

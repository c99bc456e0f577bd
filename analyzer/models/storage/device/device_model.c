// SPDX-License-Identifier: Apache-2.0
/* This file reads and writes a device model as JSON; formats/model.md describes the format. */
#include "analyzer/models/storage/device/device_model.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/data/fields_json.h"
#include "formats/model_file.h"

#define TIME_MAX_S 3600.0 /* a longer service time is a mistake of unit */
#define RATE_MAX   1e15	  /* operations or bytes per second, and tokens of a burst */
#define RATE_MIN   1e-6	  /* the times of a simulation with a smaller rate would become infinite */
#define SIGMA_MAX  4.0	  /* a factor of e^8 between the middle and the upper 2 % */
#define SIZES_MAX  1e15	  /* bytes */

const char *const device_type_names[] = { "read", "write", "flush", NULL };
const char *const device_point_names[] = { "mean", "p50", "p95", "p99", NULL };
const char *const device_law_names[] = { "lognormal", "exponential", NULL };

/*
 * By how much reads, writes and flushes of applications were off beyond what held-out
 * configurations were, as a difference of natural logarithms, for mean, p50, p95 and p99. So many
 * of the values of 30 applications lie within, each application having the same weight, that 90 %
 * of those of one more should: docs/studies/applications/applications.csv, and again-6.csv,
 * again-7.csv, again-8.csv and again-9.csv of docs/studies/new-cases. Values that an application
 * did not repeat within a tenth are left out: they say how the application differs from itself.
 * Few applications flush, so that flushes have the larger number of both.
 * scripts/study-applications-coverage.sh -t computes these numbers, and how many values of an
 * application lie within the interval that all others give.
 */
static const double application_excess[DEVICE_NR_TYPES][DEVICE_NR_POINTS] = {
	{ 0.08, 0.19, 0.12, 0.59 },
	{ 0.24, 0.48, 0.21, 0 },
	{ 0.24, 0.48, 0.21, 0.59 },
};

/*
 * By how much applications that shared a storage were off beyond that, from the values of
 * docs/studies/consolidation/consolidation.csv (scripts/study-consolidation-coverage.sh): the
 * intervals of each alone hold 95 % of them.
 */
static const double shared_excess[DEVICE_NR_POINTS] = { 0, 0, 0, 0 };

#define AT(member) .offset = offsetof(struct device_model, member)
#define SECONDS(key, member, ...) \
	FIELD(NUMBER, key, AT(member), .high = TIME_MAX_S, .unit = "s", __VA_ARGS__)
#define PER_BYTE(key, member, ...) FIELD(NUMBER, key, AT(member), .high = 1, __VA_ARGS__)
#define RATE(key, member, ...)	   FIELD(NUMBER, key, AT(member), .high = RATE_MAX, __VA_ARGS__)
#define SIZE(key, member, ...)	   FIELD(NUMBER, key, AT(member), .high = SIZES_MAX, __VA_ARGS__)
#define SIGMA(key, member, ...)	   FIELD(NUMBER, key, AT(member), .high = SIGMA_MAX, __VA_ARGS__)
#define SERVICE(k)                                                                            \
	SECONDS("base_s", base_s[k], .help = "service time of a request"),                    \
		PER_BYTE("byte_s", byte_s[k], .help = "service time per byte"),               \
		SECONDS("seek_s", seek_s[k],                                                  \
			.help = "service time of a request that follows no other"),           \
		SECONDS("latency_s", latency_s[k], .help = "time that keeps no server busy"), \
		PER_BYTE("latency_byte_s", latency_byte_s[k], .help = "the same per byte"),   \
		SIGMA("sigma", sigma[k], .help = "of the logarithm of the random factor")

static const struct field read_fields[] = { SERVICE(DEVICE_READ), { 0 } };
static const struct fields read_table = { .fields = read_fields };

static const struct field write_fields[] = {
	SERVICE(DEVICE_WRITE),
	SECONDS("durable_s", durable_s, .help = "what a forced write takes besides"),
	FIELD(FLAG, "durable_flush", AT(durable_flush),
	      .help = "a flush follows the data of a forced write"),
	{ 0 },
};
static const struct fields write_table = { .fields = write_fields };

static const struct field queue_fields[] = {
	SIGMA("sigma", wait_sigma, .help = "of waits behind waiting requests; 0: first come first"),
	FIELD(NUMBER, "window", AT(wait_window), .high = 1e6,
	      .help = "waiting requests that may overtake each other; 0: all"),
	{ 0 },
};
static const struct fields queue_table = { .fields = queue_fields };

static const struct field flush_fields[] = {
	SECONDS("base_s", flush_s, .help = "time of a flush"),
	PER_BYTE("byte_s", flush_byte_s, .help = "per byte written since the flush before"),
	FIELD(NUMBER, "clean_ratio", AT(flush_clean_ratio), .high = 1, .standard = "1",
	      .help = "share of base_s where nothing was written"),
	FIELD(NUMBER, "wait_ratio", AT(flush_wait_ratio), .high = 10, .standard = "1",
	      .help = "share of the wait behind waiting requests; beside a window, the probability "
		      "with which each request under way holds a flush back"),
	FIELD(NUMBER, "window", AT(flush_window), .high = 1e6,
	      .help = "waiting requests that a flush passes beside the servers; 0: it joins them"),
	FIELD(FLAG, "alone", AT(flush_alone), .help = "flushes neither wait for others nor share"),
	{ 0 },
};
static const struct fields flush_table = { .fields = flush_fields };

static const struct field pause_fields[] = {
	FIELD(NUMBER, "ratio", AT(pause_ratio), .high = 1, .help = "share of the requests"),
	SECONDS("mean_s", pause_s, .help = "mean of the exponential length"),
	{ 0 },
};
static const struct fields pause_table = { .fields = pause_fields };

#define LIMIT(member)                                                                              \
	RATE("rate_per_s", member.rate_per_s, .help = "0: no limit"),                              \
		RATE("burst", member.burst, .help = "tokens that are saved up"),                   \
		FIELD(NUMBER, "write_ratio", AT(member.write_ratio), .high = 1e6, .standard = "1", \
		      .help = "tokens of a write over those of a read")

static const struct field operations_fields[] = {
	LIMIT(ops),
	SIZE("unit_bytes", unit_bytes, .help = "bytes that one operation moves; 0: any"),
	{ 0 },
};
static const struct fields operations_table = { .fields = operations_fields };

static const struct field bytes_fields[] = { LIMIT(bytes), { 0 } };
static const struct fields bytes_table = { .fields = bytes_fields };

static const struct field cache_fields[] = {
	SIZE("bytes", cache.bytes, .help = "0: no cache"),
	SECONDS("base_s", cache.base_s, .help = "time of a write into it"),
	PER_BYTE("byte_s", cache.byte_s, .help = "the same per byte"),
	RATE("drain_bytes_per_s", cache.drain_bytes_per_s, .help = "how fast it empties"),
	{ 0 },
};
static const struct fields cache_table = { .fields = cache_fields };

#define SIDE(k)                                                                           \
	FIELD(NUMBER, "low_bytes", AT(domain.low_bytes[k]), .low = 1, .high = SIZES_MAX), \
		FIELD(NUMBER, "high_bytes", AT(domain.high_bytes[k]), .low = 1,           \
		      .high = SIZES_MAX),                                                 \
		FIELD(FLAG, "random", AT(domain.has_random[k])),                          \
		FIELD(FLAG, "sequential", AT(domain.has_sequential[k]))

static const struct field covered_read_fields[] = { SIDE(DEVICE_READ), { 0 } };
static const struct fields covered_read_table = { .fields = covered_read_fields };
static const struct field covered_write_fields[] = { SIDE(DEVICE_WRITE), { 0 } };
static const struct fields covered_write_table = { .fields = covered_write_fields };

static const struct field covered_fields[] = {
	FIELD(NUMBER, "concurrency", AT(domain.concurrency), .high = 1e9),
	FIELD(FLAG, "flush", AT(domain.has[DEVICE_FLUSH])),
	FIELD(FLAG, "durable", AT(domain.has_durable)),
	FIELD(STRUCT, "read", .of = &covered_read_table,
	      .flag = offsetof(struct device_model, domain.has[DEVICE_READ])),
	FIELD(STRUCT, "write", .of = &covered_write_table,
	      .flag = offsetof(struct device_model, domain.has[DEVICE_WRITE])),
	{ 0 },
};
static const struct fields covered_table = { .fields = covered_fields };

static bool device_error_written(const void *from)
{
	return ((const struct device_error *)from)->nr > 0;
}

static const struct field error_fields[] = {
	FIELD(COUNT, "configurations", .offset = offsetof(struct device_error, nr), .high = 1e9),
	FIELD(NUMBER, "mean_ratio", .offset = offsetof(struct device_error, mean_ratio),
	      .high = 1e9),
	FIELD(NUMBER, "log_half", .offset = offsetof(struct device_error, log_half), .high = 100,
	      .null = NAN),
	{ 0 },
};
static const struct fields error_table = { .name = "errors",
					   .fields = error_fields,
					   .written = device_error_written };

#define POINT(type, key, point) FIELD(STRUCT, key, AT(errors[type][point]), .of = &error_table)
#define POINTS(type)                                                                    \
	{                                                                               \
		POINT(type, "mean", DEVICE_MEAN), POINT(type, "p50", DEVICE_P50),       \
			POINT(type, "p95", DEVICE_P95), POINT(type, "p99", DEVICE_P99), \
		{                                                                       \
			0                                                               \
		}                                                                       \
	}
static const struct field point_fields[DEVICE_NR_TYPES][DEVICE_NR_POINTS + 1] = {
	POINTS(DEVICE_READ), POINTS(DEVICE_WRITE), POINTS(DEVICE_FLUSH)
};
static const struct fields point_tables[DEVICE_NR_TYPES] = {
	{ .fields = point_fields[DEVICE_READ] },
	{ .fields = point_fields[DEVICE_WRITE] },
	{ .fields = point_fields[DEVICE_FLUSH] },
};
static const struct field held_out_fields[] = {
	FIELD(STRUCT, "read", .of = &point_tables[DEVICE_READ]),
	FIELD(STRUCT, "write", .of = &point_tables[DEVICE_WRITE]),
	FIELD(STRUCT, "flush", .of = &point_tables[DEVICE_FLUSH]),
	{ 0 },
};
static const struct fields held_out_table = { .fields = held_out_fields };

/* Reads a text for people, which is cut where it is too long. */
static int device_text_from_json(struct fields_json *r, const struct field *f, const json_t *value,
				 void *to)
{
	(void)r;
	if (json_is_string(value))
		snprintf(to, f->room, "%s", json_string_value(value));
	return 0;
}

static int device_text_to_json(const struct field *f, const void *from, json_t **out)
{
	const char *text = from;

	(void)f;
	*out = *text ? json_text(text) : NULL;
	return *text && !*out ? -ENOMEM : 0;
}

static const struct field calibration_fields[] = {
	FIELD(TEXT, "campaign", AT(campaign), .room = sizeof(((struct device_model *)0)->campaign),
	      .from_json = device_text_from_json, .to_json = device_text_to_json),
	FIELD(COUNT, "configurations", AT(nr_configurations), .high = 1e9),
	/* A seed above the largest signed number is written as a negative one. */
	FIELD(COUNT, "seed", AT(seed), .low = -INFINITY),
	{ 0 },
};
static const struct fields calibration_table = { .fields = calibration_fields };

static const char *device_table_check(const void *from)
{
	return device_model_check(from);
}

static const char *const device_kinds[] = { DEVICE_KIND, NULL };
static const struct field device_fields[] = {
	MODEL_FILE_FIELDS(device_kinds),
	FIELD(COUNT, "servers", AT(servers), .room = sizeof(unsigned int), .low = 1,
	      .high = DEVICE_SERVERS_MAX, .standard = "1", .help = "requests served at once"),
	FIELD(WORD, "law", AT(law), .words = device_law_names, .standard = "\"lognormal\"",
	      .help = "of the random factor"),
	FIELD(STRUCT, "read", .of = &read_table),
	FIELD(STRUCT, "write", .of = &write_table),
	FIELD(STRUCT, "queue", .of = &queue_table),
	FIELD(STRUCT, "flush", .of = &flush_table),
	FIELD(STRUCT, "pause", .of = &pause_table),
	FIELD(STRUCT, "operations", .of = &operations_table),
	FIELD(STRUCT, "bytes", .of = &bytes_table),
	FIELD(STRUCT, "cache", .of = &cache_table),
	FIELD(STRUCT, "covered", .of = &covered_table),
	FIELD(STRUCT, "held_out_errors", .of = &held_out_table),
	FIELD(STRUCT, "calibration", .of = &calibration_table),
	FIELD(TEXT, "origin", AT(origin), .room = DEVICE_ORIGIN_BYTES,
	      .from_json = device_text_from_json, .to_json = device_text_to_json),
	{ 0 },
};
const struct fields device_model_table = {
	.title = "a storage as a simulated device (kind device of formats/model.md)",
	.fields = device_fields,
	.check = device_table_check,
};

void device_model_init(struct device_model *m)
{
	/* Models are compared as bytes, so that the gaps between members have to be 0 as well. */
	memset(m, 0, sizeof(*m));
	m->servers = 1;
	m->ops.write_ratio = m->bytes.write_ratio = 1;
	m->flush_clean_ratio = m->flush_wait_ratio = 1;
	for (int k = 0; k < 2; k++)
		m->domain.low_bytes[k] = m->domain.high_bytes[k] = NAN;
	for (int t = 0; t < DEVICE_NR_TYPES; t++)
		for (int p = 0; p < DEVICE_NR_POINTS; p++)
			m->errors[t][p] = (struct device_error){ 0, NAN, NAN };
}

double device_model_held_out(const struct device_model *m, enum device_type type,
			     enum device_point point)
{
	int p = (int)point;

	while (p > DEVICE_MEAN && !isfinite(m->errors[type][p].log_half))
		p--;
	return m->errors[type][p].log_half;
}

double device_model_application(double held_out, enum device_type type, enum device_point point)
{
	return hypot(held_out, application_excess[type][point]);
}

double device_model_shared(double application, enum device_point point)
{
	return hypot(application, shared_excess[point]);
}

/* Checks the numbers of one group of parameters, which also calibration may set. */
static bool device_group_in_range(const struct device_model *m, const struct fields *group)
{
	for (const struct field *f = group->fields; f->name; f++)
		if (f->type == FIELD_NUMBER &&
		    !fields_in_range(f, *(const double *)((const char *)m + f->offset)))
			return false;
	return true;
}

const char *device_model_check(const struct device_model *m)
{
	if (!m->servers || m->servers > DEVICE_SERVERS_MAX)
		return "servers: expected 1 to 4096";
	for (const struct field *group = device_fields; group->of != &covered_table; group++)
		if (group->of && !device_group_in_range(m, group->of))
			return "a value lies outside its range";
	if (m->ops.rate_per_s > 0 && m->ops.rate_per_s < RATE_MIN)
		return "operations.rate_per_s: expected 0 (no limit), or 1e-6 or more";
	if (m->bytes.rate_per_s > 0 && m->bytes.rate_per_s < RATE_MIN)
		return "bytes.rate_per_s: expected 0 (no limit), or 1e-6 or more";
	if (m->unit_bytes > 0 && m->unit_bytes < DEVICE_UNIT_LEAST)
		return "operations.unit_bytes: expected 0 (any size), or 512 or more";
	if (m->cache.bytes > 0 && m->cache.drain_bytes_per_s < RATE_MIN)
		return "cache.drain_bytes_per_s: expected 1e-6 or more";
	return NULL;
}

int device_model_save(const struct device_model *m, const char *path, struct err *err)
{
	json_t *root;
	int ret = fields_json_make(&device_model_table, m, &root, err);

	if (ret) {
		err_prefix(err, "%s", path);
		return ret;
	}
	ret = model_file_write(path, root, err);
	json_decref(root);
	return ret;
}

int device_model_load(struct device_model *m, const char *path, struct err *err)
{
	struct fields_json r = { .err = err };
	json_t *root = NULL;
	const char *kind;
	int ret = model_file_read(path, &root, &kind, err);

	device_model_init(m);
	if (ret)
		return ret;
	if (strcmp(kind, DEVICE_KIND) != 0) {
		ret = err_set(err, EINVAL,
			      "%s: expected a model of kind device (blkcast storage calibrate), "
			      "this is of kind %.40s",
			      path, kind);
		goto out;
	}
	ret = fields_json_read(&r, &device_model_table, root, m);
	if (ret)
		err_prefix(err, "%s", path);
out:
	json_decref(root);
	return ret;
}

bool device_model_is(const char *path)
{
	json_t *root = NULL;
	const char *kind;
	bool is = model_file_read(path, &root, &kind, NULL) == 0 && !strcmp(kind, DEVICE_KIND);

	json_decref(root);
	return is;
}

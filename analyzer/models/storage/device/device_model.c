// SPDX-License-Identifier: Apache-2.0
/* Reads and writes a device model as JSON; formats/model.md describes the format. */
#include "analyzer/models/storage/device/device_model.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/data/json.h"
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
 * By how much applications were off beyond what held-out configurations were, as a difference of
 * natural logarithms, for mean, p50, p95 and p99. 90 % of the values of
 * docs/studies/applications/applications.csv lie within, each application having the same weight.
 * Values that an application did not repeat within a tenth are left out: they say how the
 * application differs from itself. scripts/study-applications-coverage.sh computes these numbers,
 * and how many values of an application lie within the interval that all others give.
 */
static const double application_excess[DEVICE_NR_POINTS] = { 0, 0.05, 0.15, 0.29 };

/*
 * By how much applications that shared a storage were off beyond that, from the values of
 * docs/studies/consolidation/consolidation.csv (scripts/study-consolidation-coverage.sh).
 */
static const double shared_excess[DEVICE_NR_POINTS] = { 0.17, 0.28, 0, 0.25 };

/* Describes a number of the model: its location in the file and in the struct, and its range. */
struct device_field {
	const char *group, *key; /* group NULL: the top object */
	size_t offset;
	double low, high;
};

#define FIELD(group, key, member, low, high)                                 \
	{                                                                    \
		group, key, offsetof(struct device_model, member), low, high \
	}
static const struct device_field fields[] = {
	FIELD("read", "base_s", base_s[0], 0, TIME_MAX_S),
	FIELD("read", "byte_s", byte_s[0], 0, 1),
	FIELD("read", "seek_s", seek_s[0], 0, TIME_MAX_S),
	FIELD("read", "latency_s", latency_s[0], 0, TIME_MAX_S),
	FIELD("read", "latency_byte_s", latency_byte_s[0], 0, 1),
	FIELD("read", "sigma", sigma[0], 0, SIGMA_MAX),
	FIELD("write", "base_s", base_s[1], 0, TIME_MAX_S),
	FIELD("write", "byte_s", byte_s[1], 0, 1),
	FIELD("write", "seek_s", seek_s[1], 0, TIME_MAX_S),
	FIELD("write", "latency_s", latency_s[1], 0, TIME_MAX_S),
	FIELD("write", "latency_byte_s", latency_byte_s[1], 0, 1),
	FIELD("write", "sigma", sigma[1], 0, SIGMA_MAX),
	FIELD("write", "durable_s", durable_s, 0, TIME_MAX_S),
	FIELD("queue", "sigma", wait_sigma, 0, SIGMA_MAX),
	FIELD("queue", "window", wait_window, 0, 1e6),
	FIELD("flush", "base_s", flush_s, 0, TIME_MAX_S),
	FIELD("flush", "byte_s", flush_byte_s, 0, 1),
	FIELD("flush", "clean_ratio", flush_clean_ratio, 0, 1),
	FIELD("flush", "wait_ratio", flush_wait_ratio, 0, 10),
	FIELD("pause", "ratio", pause_ratio, 0, 1),
	FIELD("pause", "mean_s", pause_s, 0, TIME_MAX_S),
	FIELD("operations", "rate_per_s", ops.rate_per_s, 0, RATE_MAX),
	FIELD("operations", "burst", ops.burst, 0, RATE_MAX),
	FIELD("operations", "write_ratio", ops.write_ratio, 0, 1e6),
	FIELD("operations", "unit_bytes", unit_bytes, 0, SIZES_MAX),
	FIELD("bytes", "rate_per_s", bytes.rate_per_s, 0, RATE_MAX),
	FIELD("bytes", "burst", bytes.burst, 0, RATE_MAX),
	FIELD("bytes", "write_ratio", bytes.write_ratio, 0, 1e6),
	FIELD("cache", "bytes", cache.bytes, 0, SIZES_MAX),
	FIELD("cache", "base_s", cache.base_s, 0, TIME_MAX_S),
	FIELD("cache", "byte_s", cache.byte_s, 0, 1),
	FIELD("cache", "drain_bytes_per_s", cache.drain_bytes_per_s, 0, RATE_MAX),
};
#undef FIELD
#define NR_FIELDS (sizeof(fields) / sizeof(*fields))

static double *device_field_at(const struct device_field *f, struct device_model *m)
{
	return (double *)((char *)m + f->offset);
}

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

double device_model_application(double held_out, enum device_point point)
{
	return hypot(held_out, application_excess[point]);
}

double device_model_shared(double application, enum device_point point)
{
	return hypot(application, shared_excess[point]);
}

const char *device_model_check(const struct device_model *m)
{
	if (!m->servers || m->servers > DEVICE_SERVERS_MAX)
		return "servers: expected 1 to 4096";
	for (size_t i = 0; i < NR_FIELDS; i++) {
		double v = *device_field_at(&fields[i], (struct device_model *)m);

		if (!(v >= fields[i].low && v <= fields[i].high))
			return "a value lies outside its range";
	}
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

/* ---- writing ---- */

static json_t *device_errors_json(const struct device_model *m)
{
	json_t *out = json_object();

	for (int t = 0; t < DEVICE_NR_TYPES; t++) {
		json_t *points = json_object();

		for (int p = 0; p < DEVICE_NR_POINTS; p++) {
			const struct device_error *e = &m->errors[t][p];

			if (e->nr)
				json_object_set_new(points, device_point_names[p],
						    json_pack("{s:I, s:o, s:o}", "configurations",
							      (json_int_t)e->nr, "mean_ratio",
							      json_number(e->mean_ratio),
							      "log_half",
							      json_number(e->log_half)));
		}
		json_object_set_new(out, device_type_names[t], points);
	}
	return out;
}

static json_t *device_domain_json(const struct device_domain *d)
{
	json_t *out = json_pack("{s:o, s:b, s:b}", "concurrency", json_number(d->concurrency),
				"flush", d->has[DEVICE_FLUSH], "durable", d->has_durable);

	for (int k = 0; k < 2; k++)
		if (d->has[k])
			json_object_set_new(out, device_type_names[k],
					    json_pack("{s:o, s:o, s:b, s:b}", "low_bytes",
						      json_number(d->low_bytes[k]), "high_bytes",
						      json_number(d->high_bytes[k]), "random",
						      d->has_random[k], "sequential",
						      d->has_sequential[k]));
	return out;
}

int device_model_save(const struct device_model *m, const char *path, struct err *err)
{
	json_t *root =
		json_pack("{s:s, s:s, s:I, s:s}", "schema", MODEL_FILE_SCHEMA, "kind", DEVICE_KIND,
			  "servers", (json_int_t)m->servers, "law", device_law_names[m->law]);
	int ret;

	for (size_t i = 0; i < NR_FIELDS; i++) {
		json_t *group = json_object_get(root, fields[i].group);

		if (!group) {
			group = json_object();
			json_object_set_new(root, fields[i].group, group);
		}
		json_object_set_new(
			group, fields[i].key,
			json_number(*device_field_at(&fields[i], (struct device_model *)m)));
	}
	json_object_set_new(json_object_get(root, "write"), "durable_flush",
			    json_boolean(m->durable_flush));
	json_object_set_new(json_object_get(root, "flush"), "alone", json_boolean(m->flush_alone));
	json_object_set_new(root, "covered", device_domain_json(&m->domain));
	json_object_set_new(root, "held_out_errors", device_errors_json(m));
	json_object_set_new(root, "calibration",
			    json_pack("{s:s, s:I, s:I}", "campaign", m->campaign, "configurations",
				      (json_int_t)m->nr_configurations, "seed",
				      (json_int_t)m->seed));
	if (m->origin[0])
		json_object_set_new(root, "origin", json_text(m->origin));
	if (!root)
		return err_set(err, ENOMEM, "out of memory");
	ret = model_file_write(path, root, err);
	json_decref(root);
	return ret;
}

/* ---- reading ---- */

static int device_read_number(const json_t *object, const char *group, const char *key, double low,
			      double high, double *out, const char *path, struct err *err)
{
	const json_t *v = json_object_get(object, key);

	if (!v)
		return 0; /* a value that a hand-made model leaves out keeps its default */
	if (!json_is_number(v) || !(json_number_value(v) >= low && json_number_value(v) <= high))
		return err_set(err, EINVAL, "%s: %s.%s: expected a number from %g to %g", path,
			       group, key, low, high);
	*out = json_number_value(v);
	return 0;
}

static int device_read_flag(const json_t *object, const char *group, const char *key, bool *out,
			    const char *path, struct err *err)
{
	const json_t *v = json_object_get(object, key);

	if (v && !json_is_boolean(v))
		return err_set(err, EINVAL, "%s: %s.%s: expected true or false", path, group, key);
	*out = json_is_true(v);
	return 0;
}

/* Refuses a group that is no object, since all of its values would silently be left out. */
static int device_read_groups(const json_t *root, const char *path, struct err *err)
{
	static const char *const groups[] = { "read",	 "write",	    "queue",	  "flush",
					      "pause",	 "operations",	    "bytes",	  "cache",
					      "covered", "held_out_errors", "calibration" };

	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
		const json_t *v = json_object_get(root, groups[i]);

		if (v && !json_is_object(v))
			return err_set(err, EINVAL, "%s: %s: expected an object", path, groups[i]);
	}
	return 0;
}

static int device_domain_read_side(struct device_domain *d, int k, const json_t *side,
				   const char *path, struct err *err)
{
	int ret;

	if (!json_is_object(side))
		return err_set(err, EINVAL, "%s: covered.%s: expected an object", path,
			       device_type_names[k]);
	ret = device_read_flag(side, "covered", "random", &d->has_random[k], path, err);
	if (!ret)
		ret = device_read_flag(side, "covered", "sequential", &d->has_sequential[k], path,
				       err);
	if (!ret)
		ret = device_read_number(side, "covered", "low_bytes", 1, SIZES_MAX,
					 &d->low_bytes[k], path, err);
	if (!ret)
		ret = device_read_number(side, "covered", "high_bytes", 1, SIZES_MAX,
					 &d->high_bytes[k], path, err);
	return ret;
}

static int device_domain_read(struct device_domain *d, const json_t *o, const char *path,
			      struct err *err)
{
	int ret =
		device_read_number(o, "covered", "concurrency", 0, 1e9, &d->concurrency, path, err);

	if (!ret)
		ret = device_read_flag(o, "covered", "flush", &d->has[DEVICE_FLUSH], path, err);
	if (!ret)
		ret = device_read_flag(o, "covered", "durable", &d->has_durable, path, err);
	for (int k = 0; k < 2 && !ret; k++) {
		const json_t *side = json_object_get(o, device_type_names[k]);

		if (!side)
			continue;
		d->has[k] = true;
		ret = device_domain_read_side(d, k, side, path, err);
	}
	return ret;
}

static int device_errors_read(struct device_model *m, const json_t *o, const char *path,
			      struct err *err)
{
	int ret = 0;

	for (int t = 0; t < DEVICE_NR_TYPES; t++) {
		const json_t *points = json_object_get(o, device_type_names[t]);

		for (int p = 0; p < DEVICE_NR_POINTS && !ret; p++) {
			const json_t *at = json_object_get(points, device_point_names[p]);
			struct device_error *e = &m->errors[t][p];
			double nr = 0;

			ret = device_read_number(at, "held_out_errors", "configurations", 0, 1e9,
						 &nr, path, err);
			if (!ret)
				ret = device_read_number(at, "held_out_errors", "mean_ratio", 0,
							 1e9, &e->mean_ratio, path, err);
			if (!ret && !json_is_null(json_object_get(at, "log_half")))
				ret = device_read_number(at, "held_out_errors", "log_half", 0, 100,
							 &e->log_half, path, err);
			e->nr = (size_t)nr;
		}
	}
	return ret;
}

static int device_read_law(struct device_model *m, const json_t *root, const char *path,
			   struct err *err)
{
	const json_t *v = json_object_get(root, "law");

	if (!v)
		return 0;
	for (int i = 0; i < DEVICE_NR_LAWS; i++)
		if (json_is_string(v) && !strcmp(json_string_value(v), device_law_names[i])) {
			m->law = (enum device_law)i;
			return 0;
		}
	return err_set(err, EINVAL, "%s: law: expected lognormal or exponential", path);
}

static int device_model_read(struct device_model *m, const json_t *root, const char *path,
			     struct err *err)
{
	const json_t *calibration = json_object_get(root, "calibration");
	double servers = 1, nr = 0;
	const char *bad;
	int ret = device_read_groups(root, path, err);

	if (!ret)
		ret = device_read_number(root, "model", "servers", 1, DEVICE_SERVERS_MAX, &servers,
					 path, err);
	if (!ret)
		ret = device_read_law(m, root, path, err);
	for (size_t i = 0; i < NR_FIELDS && !ret; i++)
		ret = device_read_number(json_object_get(root, fields[i].group), fields[i].group,
					 fields[i].key, fields[i].low, fields[i].high,
					 device_field_at(&fields[i], m), path, err);
	if (!ret)
		ret = device_read_flag(json_object_get(root, "write"), "write", "durable_flush",
				       &m->durable_flush, path, err);
	if (!ret)
		ret = device_read_flag(json_object_get(root, "flush"), "flush", "alone",
				       &m->flush_alone, path, err);
	if (!ret)
		ret = device_domain_read(&m->domain, json_object_get(root, "covered"), path, err);
	if (!ret)
		ret = device_errors_read(m, json_object_get(root, "held_out_errors"), path, err);
	if (!ret)
		ret = device_read_number(calibration, "calibration", "configurations", 0, 1e9, &nr,
					 path, err);
	if (ret)
		return ret;
	m->servers = (unsigned int)servers;
	m->nr_configurations = (size_t)nr;
	m->seed = (uint64_t)json_integer_value(json_object_get(calibration, "seed"));
	if (json_is_string(json_object_get(calibration, "campaign")))
		snprintf(m->campaign, sizeof(m->campaign), "%s",
			 json_string_value(json_object_get(calibration, "campaign")));
	if (json_is_string(json_object_get(root, "origin")))
		snprintf(m->origin, sizeof(m->origin), "%s",
			 json_string_value(json_object_get(root, "origin")));
	bad = device_model_check(m);
	return bad ? err_set(err, EINVAL, "%s: %s", path, bad) : 0;
}

int device_model_load(struct device_model *m, const char *path, struct err *err)
{
	json_t *root = NULL;
	const char *kind;
	int ret = model_file_read(path, &root, &kind, err);

	device_model_init(m);
	if (ret)
		return ret;
	if (strcmp(kind, DEVICE_KIND) != 0)
		ret = err_set(err, EINVAL,
			      "%s: expected a model of kind device (blkcast storage calibrate), "
			      "this is of kind %.40s",
			      path, kind);
	else
		ret = device_model_read(m, root, path, err);
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

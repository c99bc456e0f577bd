/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/cluster/cluster_facts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/data/json.h"
#include "formats/profile/profile.h"

/*
 * Times and counts in hostile files may exceed 2^63; the catalog stores the nearest value that it
 * can hold.
 */
static json_t *cluster_integer(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

json_t *cluster_name_json(const struct segment_name *n)
{
	return json_pack("{s:s, s:s, s:o, s:o}", "host", n->host, "boot_id", n->boot_id, "epoch",
			 cluster_integer(n->epoch), "sequence", cluster_integer(n->sequence));
}

json_t *cluster_whole_array(json_t *array, int failed)
{
	if (array && !failed)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *cluster_counts_json(const uint64_t counts[NR_OPERATIONS])
{
	json_t *all = json_array();
	int failed = 0;

	for (int op = 0; op < NR_OPERATIONS; op++)
		failed |= json_array_append_new(all, cluster_integer(counts[op]));
	return cluster_whole_array(all, failed);
}

static json_t *cluster_devices_json(const struct segment_facts *f)
{
	json_t *all = json_array();
	int failed = 0;

	for (size_t i = 0; i < f->nr_devices; i++) {
		const struct device_facts *d = &f->devices[i];

		failed |= json_array_append_new(
			all,
			json_pack("[I, o, o, o, o]", (json_int_t)d->device, json_text(d->name),
				  cluster_integer(d->size_bytes), cluster_counts_json(d->requests),
				  cluster_counts_json(d->bytes)));
	}
	return cluster_whole_array(all, failed);
}

static json_t *cluster_losses_json(const struct segment_facts *f)
{
	json_t *all = json_array();
	int failed = 0;

	for (size_t i = 0; i < f->ledger.nr; i++) {
		const struct loss *l = &f->ledger.losses[i];

		failed |= json_array_append_new(
			all, json_pack("[i, o, i, I, o, o]", l->cause, cluster_integer(l->count),
				       l->count_known, (json_int_t)l->device,
				       cluster_integer(l->begin_real_ns),
				       cluster_integer(l->end_real_ns)));
	}
	return cluster_whole_array(all, failed);
}

json_t *cluster_facts_json(const struct segment_facts *f)
{
	json_t *all = cluster_name_json(&f->name);
	json_t *anchors =
		json_pack("[o, o, o, o, o, o]", cluster_integer(f->begin.monotonic_ns),
			  cluster_integer(f->begin.boottime_ns),
			  cluster_integer(f->begin.realtime_ns),
			  cluster_integer(f->end.monotonic_ns), cluster_integer(f->end.boottime_ns),
			  cluster_integer(f->end.realtime_ns));
	json_t *more =
		json_pack("{s:o, s:o, s:o, s:o, s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "bytes",
			  cluster_integer(f->file_bytes), "requests",
			  cluster_integer(f->nr_requests), "captured",
			  cluster_integer(f->nr_captured), "untimed",
			  cluster_integer(f->nr_untimed), "source", f->source, "layer", f->layer,
			  "anchors", anchors, "first_real", cluster_integer(f->first_real_ns),
			  "last_real", cluster_integer(f->last_real_ns), "devices",
			  cluster_devices_json(f), "losses", cluster_losses_json(f));
	char hash[SEGMENT_HASH_TEXT];
	int ret = all && more ? json_object_update(all, more) : -1;

	json_decref(more);
	segment_hash_text(&f->hash, hash);
	if (ret == 0)
		ret = json_object_set_new(all, "hash", json_string(hash));
	if (ret == 0)
		return all;
	json_decref(all);
	return NULL;
}

/* Unknown values are left out of the JSON, and are therefore null in the table. */
static int cluster_set_double(json_t *row, const char *name, double value)
{
	return isfinite(value) ? json_object_set_new(row, name, json_real(value)) : 0;
}

static int cluster_set_time(json_t *row, const char *name, double real_s)
{
	time_t whole = (time_t)real_s;
	char text[64];
	struct tm tm;
	size_t len;

	if (!gmtime_r(&whole, &tm))
		return 0;
	len = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + len, sizeof(text) - len, ".%06dZ", (int)((real_s - (double)whole) * 1e6));
	return json_object_set_new(row, name, json_string(text));
}

static int cluster_set_direction(json_t *row, const char *name, const struct profile *p, int op,
				 const struct direction_profile *d)
{
	static const struct {
		const char *name;
		double p;
	} quantiles[] = { { "p50", 0.5 }, { "p95", 0.95 }, { "p99", 0.99 } };
	double length_s = p->end_s - p->begin_s;
	char column[48];
	int ret = 0;

	if (!(p->unknown & (1u << op))) {
		snprintf(column, sizeof(column), "%s_per_s", name);
		ret |= cluster_set_double(row, column, (double)p->requests[op] / length_s);
		snprintf(column, sizeof(column), "%s_bytes_per_s", name);
		ret |= cluster_set_double(row, column, (double)p->bytes[op] / length_s);
	}
	snprintf(column, sizeof(column), "%s_mean_s", name);
	ret |= cluster_set_double(row, column, profile_mean_s(&d->response, STAGE_TOTAL));
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
		snprintf(column, sizeof(column), "%s_%s_s", name, quantiles[i].name);
		ret |= cluster_set_double(row, column,
					  histogram_quantile_s(&d->response.stage[STAGE_TOTAL],
							       quantiles[i].p));
	}
	return ret;
}

/*
 * The calendars of PostgreSQL and of this program agree from 1970 on, and blkcast.take() computes
 * with nanoseconds in 63 bits. Only hostile profiles contain earlier or later times.
 */
#define PROFILE_FIRST_S 0.0
#define PROFILE_LAST_S	9.2e9 /* in the year 2261 */

/* Appends the row of a profile, unless its times are hostile. Returns 0 or -ENOMEM. */
static int cluster_profile_append(json_t *rows, const struct profile *p)
{
	const char grade[2] = { p->quality.grade ? p->quality.grade : 'E', '\0' };
	json_t *row;
	double requests = 0;
	int ret = 0;

	if (!(p->begin_s >= PROFILE_FIRST_S && p->end_s > p->begin_s && p->end_s < PROFILE_LAST_S))
		return 0;
	for (int op = 0; op < NR_OPERATIONS; op++)
		requests += (double)p->requests[op];
	row = json_pack("{s:o, s:o, s:s, s:o}", "device", json_text(p->device), "device_name",
			json_text(p->device_name), "grade", grade, "lost",
			cluster_integer(p->lost));
	ret |= cluster_set_time(row, "begin_at", p->begin_s);
	ret |= cluster_set_time(row, "end_at", p->end_s);
	ret |= cluster_set_double(row, "requests_per_s", requests / (p->end_s - p->begin_s));
	ret |= cluster_set_direction(row, "read", p, OPERATION_READ, &p->read);
	ret |= cluster_set_direction(row, "write", p, OPERATION_WRITE, &p->write);
	ret |= cluster_set_double(row, "sequential_ratio", p->all_sequential_ratio);
	ret |= cluster_set_double(row, "in_flight_mean", p->closed.in_flight_mean);
	if (!(p->unknown & UNKNOWN_ERRORS))
		ret |= json_object_set_new(row, "errors", cluster_integer(p->errors));
	ret |= json_array_append_new(rows, row);
	return ret ? -ENOMEM : 0;
}

json_t *cluster_profiles_json(struct segment_reader **reader, const void *segment, size_t len)
{
	const struct segment_header *h;
	json_t *all = json_array();
	int ret = segment_reader_open(reader, segment, len, NULL);

	if (ret < 0)
		goto out;
	h = segment_reader_header(*reader);
	for (size_t i = 0; i < h->nr_profiles; i++) {
		struct profile p;

		profile_init(&p);
		/* A text that is not a profile of this version has no row. */
		ret = profile_from_json(h->profiles[i], strlen(h->profiles[i]), &p, NULL);
		if (ret == 0)
			ret = cluster_profile_append(all, &p);
		profile_release(&p);
		if (ret == -ENOMEM)
			break;
	}
	segment_reader_clear(*reader);
out:
	if (ret != -ENOMEM)
		return all;
	json_decref(all);
	return NULL;
}

static uint64_t cluster_column_u64(const PGresult *row, int at)
{
	return strtoull(PQgetvalue(row, 0, at), NULL, 10);
}

static int cluster_take_device(struct device_facts *d, const json_t *from)
{
	const json_t *requests = json_array_get(from, 3), *bytes = json_array_get(from, 4);
	const char *name = json_string_value(json_array_get(from, 1));

	if (!name || json_array_size(requests) != NR_OPERATIONS ||
	    json_array_size(bytes) != NR_OPERATIONS)
		return -EBADMSG;
	d->device = (uint32_t)json_integer_value(json_array_get(from, 0));
	snprintf(d->name, sizeof(d->name), "%s", name);
	d->size_bytes = (uint64_t)json_integer_value(json_array_get(from, 2));
	for (size_t op = 0; op < NR_OPERATIONS; op++) {
		d->requests[op] = (uint64_t)json_integer_value(json_array_get(requests, op));
		d->bytes[op] = (uint64_t)json_integer_value(json_array_get(bytes, op));
	}
	return 0;
}

/* Reads a list of a row. Returns 0, -ENOMEM or -EBADMSG; *out is to be released in every case. */
static int cluster_take_list(json_t **out, const char *text)
{
	int ret = json_parse(out, text, strlen(text), 0, NULL);

	if (ret == -ENOMEM)
		return ret;
	return json_is_array(*out) ? 0 : -EBADMSG;
}

static int cluster_take_devices(struct segment_facts *f, const char *text)
{
	json_t *all;
	int ret = cluster_take_list(&all, text);
	size_t nr = json_array_size(all);

	f->devices = nr ? calloc(nr, sizeof(*f->devices)) : NULL;
	if (nr && !f->devices)
		ret = -ENOMEM;
	for (size_t i = 0; i < nr && ret == 0; i++) {
		ret = cluster_take_device(&f->devices[i], json_array_get(all, i));
		f->nr_devices += ret == 0;
	}
	json_decref(all);
	return ret;
}

static int cluster_take_losses(struct segment_facts *f, const char *text)
{
	json_t *all;
	int ret = cluster_take_list(&all, text);

	for (size_t i = 0; i < json_array_size(all) && ret == 0; i++) {
		const json_t *from = json_array_get(all, i);
		struct loss l = {
			.count = (uint64_t)json_integer_value(json_array_get(from, 1)),
			.device = (uint32_t)json_integer_value(json_array_get(from, 3)),
			.begin_real_ns = (uint64_t)json_integer_value(json_array_get(from, 4)),
			.end_real_ns = (uint64_t)json_integer_value(json_array_get(from, 5)),
		};

		l.cause = (uint8_t)json_integer_value(json_array_get(from, 0));
		l.count_known = json_integer_value(json_array_get(from, 2)) != 0;
		ret = ledger_add(&f->ledger, &l);
	}
	json_decref(all);
	return ret;
}

int cluster_facts_take(struct segment_facts *f, const PGresult *row, struct err *err)
{
	uint64_t *const anchors[] = { &f->begin.monotonic_ns, &f->begin.boottime_ns,
				      &f->begin.realtime_ns,  &f->end.monotonic_ns,
				      &f->end.boottime_ns,    &f->end.realtime_ns };
	int ret;

	segment_facts_init(f);
	snprintf(f->name.host, sizeof(f->name.host), "%s", PQgetvalue(row, 0, 0));
	snprintf(f->name.boot_id, sizeof(f->name.boot_id), "%s", PQgetvalue(row, 0, 1));
	f->name.epoch = cluster_column_u64(row, 2);
	f->name.sequence = cluster_column_u64(row, 3);
	f->file_bytes = cluster_column_u64(row, 4);
	f->nr_requests = cluster_column_u64(row, 5);
	f->nr_captured = cluster_column_u64(row, 6);
	f->nr_untimed = cluster_column_u64(row, 7);
	f->source = (uint8_t)cluster_column_u64(row, 8);
	f->layer = (uint8_t)cluster_column_u64(row, 9);
	for (int i = 0; i < 6; i++)
		*anchors[i] = cluster_column_u64(row, 10 + i);
	f->first_real_ns = cluster_column_u64(row, 16);
	f->last_real_ns = cluster_column_u64(row, 17);
	f->received_real_ns = cluster_column_u64(row, 18);
	ret = segment_name_check(&f->name, NULL) < 0 ? -EBADMSG : 0;
	if (ret == 0)
		ret = cluster_take_devices(f, PQgetvalue(row, 0, 19));
	if (ret == 0)
		ret = cluster_take_losses(f, PQgetvalue(row, 0, 20));
	if (ret < 0)
		segment_facts_release(f);
	return ret < 0 ? err_set(err, -ret, "catalog: a row of segment %.64s cannot be read",
				 PQgetvalue(row, 0, 0))
		       : 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/storage/device/device_answer.h"

#include <math.h>
#include <stdio.h>

#include "base/text/units.h"

static const char *const device_answer_points[] = { "mean", "p50", "p95", "p99" };

static void device_answer_row(struct answer_table *t, const char *what, const char *key,
			      const char *value_of, double value)
{
	answer_words(t, "%s", what);
	answer_words(t, "%s", key);
	answer_words(t, "%s", value_of);
	answer_number(t, value);
}

static void device_answer_time(struct answer_table *t, const char *what, const char *key, double s)
{
	char text[UNITS_BYTES];

	device_answer_row(t, what, key, units_time(s, text), s);
}

static void device_answer_limit(struct answer_table *t, const char *what,
				const struct device_limit *l)
{
	char text[UNITS_BYTES], words[UNITS_BYTES + 8];

	if (!(l->rate_per_s > 0))
		return;
	snprintf(words, sizeof(words), "%s/s", units_count(l->rate_per_s, text));
	device_answer_row(t, what, "rate_per_s", words, l->rate_per_s);
	device_answer_row(t, what, "burst", units_count(l->burst, text), l->burst);
	snprintf(words, sizeof(words), "%.3g", l->write_ratio);
	device_answer_row(t, what, "write_ratio", words, l->write_ratio);
}

static void device_answer_flushes(const struct device_model *m, struct answer_table *t)
{
	char text[64];

	device_answer_time(t, "flushes", "base_s", m->flush_s);
	device_answer_time(t, "flushes", "mebibyte_s", m->flush_byte_s * 1048576);
	snprintf(text, sizeof(text), "%.3g", m->flush_clean_ratio);
	device_answer_row(t, "flushes", "clean_ratio", text, m->flush_clean_ratio);
	snprintf(text, sizeof(text), "%.3g", m->flush_wait_ratio);
	device_answer_row(t, "flushes", "wait_ratio", text, m->flush_wait_ratio);
	if (m->flush_window > 0) {
		snprintf(text, sizeof(text), "%.3g", m->flush_window);
		device_answer_row(t, "flushes", "window", text, m->flush_window);
	}
	if (m->durable_flush)
		device_answer_row(t, "forced writes", "durable_flush", "yes", 1);
}

static void device_answer_service(const struct device_model *m, struct answer_table *t)
{
	static const char *const sides[] = { "reads", "writes" };
	char text[64];

	snprintf(text, sizeof(text), "%u", m->servers);
	device_answer_row(t, "parallelism", "servers", text, m->servers);
	for (int k = 0; k < 2; k++) {
		if (m->nr_configurations && !m->domain.has[k])
			continue;
		device_answer_time(t, sides[k], "base_s", m->base_s[k]);
		device_answer_time(t, sides[k], "seek_s", m->seek_s[k]);
		device_answer_time(t, sides[k], "latency_s", m->latency_s[k]);
		device_answer_time(t, sides[k], "mebibyte_s", m->byte_s[k] * 1048576);
		device_answer_time(t, sides[k], "latency_mebibyte_s",
				   m->latency_byte_s[k] * 1048576);
		snprintf(text, sizeof(text), "%.3g", m->sigma[k]);
		device_answer_row(t, sides[k], "sigma", text, m->sigma[k]);
	}
	snprintf(text, sizeof(text), "%.3g", m->wait_sigma);
	device_answer_row(t, "waits", "sigma", text, m->wait_sigma);
	if (m->durable_s > 0)
		device_answer_time(t, "forced writes", "durable_s", m->durable_s);
	if (m->wait_window > 0) {
		snprintf(text, sizeof(text), "%.3g", m->wait_window);
		device_answer_row(t, "waits", "window", text, m->wait_window);
	}
	if (m->flush_s > 0)
		device_answer_flushes(m, t);
	if (m->pause_ratio > 0) {
		snprintf(text, sizeof(text), "%.3g %%", 100 * m->pause_ratio);
		device_answer_row(t, "pauses", "ratio", text, m->pause_ratio);
		device_answer_time(t, "pauses", "mean_s", m->pause_s);
	}
}

static void device_answer_parameters(const struct device_model *m, struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .key = "part", .title = "part" },
		{ .key = "parameter", .title = "parameter" },
		{ .title = "value", .right = true },
		{ .key = "value" },
	};
	struct answer_table *t =
		answer_table(a, "parameters", "The device", NULL, ANSWER_COLUMNS(columns));
	char text[UNITS_BYTES], words[UNITS_BYTES + 8];

	device_answer_service(m, t);
	if (m->unit_bytes > 0)
		device_answer_row(t, "operations", "unit_bytes", units_bytes(m->unit_bytes, text),
				  m->unit_bytes);
	device_answer_limit(t, "operations", &m->ops);
	device_answer_limit(t, "bytes", &m->bytes);
	if (!(m->cache.bytes > 0))
		return;
	device_answer_row(t, "write-back cache", "bytes", units_bytes(m->cache.bytes, text),
			  m->cache.bytes);
	device_answer_time(t, "write-back cache", "base_s", m->cache.base_s);
	snprintf(words, sizeof(words), "%s/s", units_bytes(m->cache.drain_bytes_per_s, text));
	device_answer_row(t, "write-back cache", "drain_bytes_per_s", words,
			  m->cache.drain_bytes_per_s);
}

static void device_answer_errors(const struct device_model *m, struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .key = "type", .title = "type" },
		{ .key = "point", .title = "point" },
		{ .key = "configurations", .title = "configurations", .unit = ANSWER_INTEGER },
		{ .key = "mean_error_ratio", .title = "mean error", .unit = ANSWER_RATIO },
		{ .key = "interval_factor", .title = "90 % within a factor of" },
	};
	struct answer_table *t =
		answer_table(a, "held_out", "Errors of configurations that were held out", NULL,
			     ANSWER_COLUMNS(columns));

	for (int type = 0; type < DEVICE_NR_TYPES; type++)
		for (int p = 0; p < DEVICE_NR_POINTS; p++) {
			const struct device_error *e = &m->errors[type][p];

			if (!e->nr)
				continue;
			answer_words(t, "%s", device_type_names[type]);
			answer_words(t, "%s", device_answer_points[p]);
			answer_number(t, (double)e->nr);
			answer_number(t, e->mean_ratio);
			answer_number(t, exp(e->log_half));
		}
}

static void device_answer_covered(const struct device_model *m, struct answer *a)
{
	static const char *const yes_no[] = { "no", "yes" };
	char low[UNITS_BYTES], high[UNITS_BYTES], words[3 * UNITS_BYTES];

	if (m->campaign[0])
		answer_fact_words(a, "campaign", "campaign", m->campaign);
	answer_fact(a, "configurations", "configurations", ANSWER_INTEGER,
		    (double)m->nr_configurations);
	for (int k = 0; k < 2; k++) {
		if (!m->domain.has[k])
			continue;
		snprintf(words, sizeof(words), "%s to %s", units_bytes(m->domain.low_bytes[k], low),
			 units_bytes(m->domain.high_bytes[k], high));
		answer_fact_words(a, k ? "write_sizes" : "read_sizes",
				  k ? "sizes of writes" : "sizes of reads", words);
	}
	answer_fact(a, "concurrency", "requests under way, up to", ANSWER_INTEGER,
		    m->domain.concurrency);
	answer_fact_words(a, "flushes", "flushes measured", yes_no[m->domain.has[DEVICE_FLUSH]]);
	answer_fact_words(a, "durable", "forced writes measured", yes_no[m->domain.has_durable]);
}

struct answer *device_model_answer(const struct device_model *m)
{
	struct answer *a = answer_new("blkcast.storage/1", "A storage as a simulated device");

	device_answer_parameters(m, a);
	if (m->nr_configurations) {
		device_answer_covered(m, a);
		device_answer_errors(m, a);
	}
	return a;
}

void device_answer_held_out(struct answer *a, const struct device_table *rows,
			    const struct device_held_out *held_out, bool all_points)
{
	static const struct answer_column columns[] = {
		{ .key = "configuration", .title = "configuration", .unit = ANSWER_INTEGER },
		{ .key = "concurrency", .title = "under way", .unit = ANSWER_INTEGER },
		{ .key = "type", .title = "type" },
		{ .key = "bytes", .title = "size", .unit = ANSWER_BYTES },
		{ .key = "point", .title = "point" },
		{ .key = "measured_s", .title = "measured", .unit = ANSWER_SECONDS },
		{ .key = "held_out_s", .title = "held out", .unit = ANSWER_SECONDS },
		{ .key = "error_ratio", .title = "error", .unit = ANSWER_CHANGE },
	};
	struct answer_table *t =
		answer_table(a, "configurations_held_out", "Each configuration, held out", NULL,
			     ANSWER_COLUMNS(columns));

	for (size_t i = 0; i < rows->nr; i++)
		for (int type = 0; type < DEVICE_NR_TYPES; type++)
			for (int p = 0; p < DEVICE_NR_POINTS; p++) {
				const struct device_row *row = &rows->rows[i];
				double measured = row->measured_s[type][p];
				double held = held_out[i].simulated_s[type][p];

				if (!isfinite(measured) || (!all_points && p != DEVICE_MEAN))
					continue;
				answer_number(t, row->configuration);
				answer_number(t, device_load_concurrency(&row->load));
				answer_words(t, "%s", device_type_names[type]);
				answer_number(t,
					      type == DEVICE_FLUSH ? NAN : row->load.bytes[type]);
				answer_words(t, "%s", device_answer_points[p]);
				answer_number(t, measured);
				answer_number(t, held);
				answer_number(t, held / measured - 1);
			}
}

struct answer *device_times_answer(const struct device_times *times)
{
	static const struct answer_column columns[] = {
		{ .key = "type", .title = "type" },
		{ .key = "per_s", .title = "requests", .unit = ANSWER_PER_S },
		{ .key = "mean_s", .title = "mean", .unit = ANSWER_SECONDS },
		{ .key = "p50_s", .title = "p50", .unit = ANSWER_SECONDS },
		{ .key = "p95_s", .title = "p95", .unit = ANSWER_SECONDS },
		{ .key = "p99_s", .title = "p99", .unit = ANSWER_SECONDS },
	};
	struct answer *a = answer_new("blkcast.storage/1", "A load on a simulated device");
	struct answer_table *t =
		answer_table(a, "results", "Response times", NULL, ANSWER_COLUMNS(columns));

	for (int type = 0; type < DEVICE_NR_TYPES; type++) {
		if (!times->nr[type])
			continue;
		answer_words(t, "%s", device_type_names[type]);
		answer_number(t, device_times_rate(times, (enum device_type)type));
		for (int p = 0; p < DEVICE_NR_POINTS; p++)
			answer_number(t, device_times_at(times, (enum device_type)type,
							 (enum device_point)p));
	}
	answer_fact_words(a, "limited_by", "limited by",
			  times->limit == DEVICE_PART_NONE ? "the clients"
							   : device_part_names[times->limit]);
	for (int i = 1; i < DEVICE_NR_PARTS; i++) {
		char key[64];

		if (!(times->busy_ratio[i] > 0))
			continue;
		snprintf(key, sizeof(key), "busy, %s", device_part_names[i]);
		answer_fact(a, NULL, key, ANSWER_RATIO, times->busy_ratio[i]);
	}
	return a;
}

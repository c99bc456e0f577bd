// SPDX-License-Identifier: Apache-2.0
/* Flushes of a simulated device against hand-computed answers, and its extremes. */
#include <math.h>
#include <stdlib.h>

#include "analyzer/models/storage/device/device_calibrate.h"
#include "tests/support/tap.h"

static double submit(struct device_sim *d, double at_s, enum device_type type, uint64_t offset,
		     uint32_t bytes)
{
	struct device_request r = { .at_s = at_s, .type = type, .offset = offset, .bytes = bytes };
	double end_s;

	while (!device_sim_submit(d, &r, &end_s))
		r.at_s = end_s;
	return end_s;
}

/*
 * A cache that takes ten writes of 10 ms drains until 100 ms. A flush that comes at 5 ms waits for
 * it, and the servers serve reads meanwhile: each as if there were no flush. Of waits that differ,
 * those of the reads have the same mean with the flush as without it.
 */
static void flush_behind_cache(void)
{
	double sum_s[2] = { 0, 0 };
	struct device_model m;

	device_model_init(&m);
	m.base_s[0] = 0.004;
	m.flush_s = 0.002;
	m.cache = (struct device_cache){ .bytes = 10 * 4096, .drain_bytes_per_s = 4096 / 0.01 };
	for (int k = 0; k < 2; k++) {
		m.wait_sigma = 0;
		for (uint64_t seed = 0; seed < 2000; seed++) {
			struct device_request r = { .at_s = 0.005, .type = DEVICE_FLUSH };
			struct device_sim d;
			double end_s = 0;

			ok(device_sim_init(&d, &m, seed) == 0);
			for (uint64_t i = 1; i <= 10; i++)
				submit(&d, 0, DEVICE_WRITE, i << 20, 4096);
			if (k)
				ok(!device_sim_submit(&d, &r, &end_s) && fabs(end_s - 0.1) < 1e-9);
			for (uint64_t i = 1; i <= 8; i++) {
				double end = submit(&d, 0.01, DEVICE_READ, i << 24, 4096);

				if (!seed)
					ok_near(end, 0.01 + 0.004 * (double)i, 1e-9);
				sum_s[k] += end;
			}
			r.at_s = end_s;
			if (k)
				ok(device_sim_submit(&d, &r, &end_s) && fabs(end_s - 0.102) < 1e-9);
			device_sim_release(&d);
			m.wait_sigma = 0.5;
		}
	}
	ok_near(sum_s[1], sum_s[0], 1e-9);
}

/* A flush behind a cache holds back those that come while it drains; the first one is shared. */
static void flushes_behind_cache(void)
{
	struct device_request first = { .type = DEVICE_FLUSH }, same = first;
	struct device_request later = { .at_s = 0.004, .type = DEVICE_FLUSH };
	struct device_model m;
	struct device_sim d;
	double end_s;

	device_model_init(&m);
	m.flush_s = 0.002;
	m.cache = (struct device_cache){ .bytes = 4096, .drain_bytes_per_s = 4096 / 0.01 };
	for (int alone = 0; alone < 2; alone++) {
		m.flush_alone = alone;
		first = same = (struct device_request){ .type = DEVICE_FLUSH };
		later = (struct device_request){ .at_s = 0.004, .type = DEVICE_FLUSH };
		ok(device_sim_init(&d, &m, 1) == 0);
		submit(&d, 0, DEVICE_WRITE, 0, 4096);
		ok(!device_sim_submit(&d, &first, &end_s));
		ok(!device_sim_submit(&d, &same, &end_s));
		ok(!device_sim_submit(&d, &later, &end_s) && fabs(end_s - 0.01) < 1e-9);
		first.at_s = same.at_s = later.at_s = end_s;
		ok(device_sim_submit(&d, &first, &end_s) && fabs(end_s - 0.012) < 1e-9);
		ok(device_sim_submit(&d, &same, &end_s));
		ok_near(end_s, alone ? 0.014 : 0.012, 1e-9);
		ok(device_sim_submit(&d, &later, &end_s) == alone);
		ok_near(end_s, alone ? 0.016 : 0.012, 1e-9);
		device_sim_release(&d);
	}
}

/*
 * Flushes that are served one by one are under way on four servers at once. Each lane sends the
 * next flush when its last one has completed and 12 ms have passed: a quarter of the servers is
 * busy.
 */
static void flushes_limit_nothing(void)
{
	double ratio[DEVICE_NR_PARTS];
	struct device_model m;
	struct device_sim d;

	device_model_init(&m);
	m.servers = 4;
	m.flush_s = 0.004;
	m.flush_alone = true;
	ok(device_sim_init(&d, &m, 1) == 0);
	for (int i = 0; i < 100; i++)
		for (int lane = 0; lane < 4; lane++)
			ok_near(submit(&d, 0.016 * i, DEVICE_FLUSH, 0, 0), 0.016 * i + 0.004, 1e-9);
	device_sim_busy(&d, ratio);
	ok_ratio(ratio[DEVICE_PART_SERVERS], 0.25, 0.02);
	ok_ratio(ratio[DEVICE_PART_FLUSHES], 0.25, 0.02);
	ok(device_sim_limit(&d) == DEVICE_PART_NONE);
	device_sim_release(&d);
}

/*
 * One server takes 10 ms for each of five reads. A flush of 1 ms at 5 ms passes two that wait, so
 * that it begins when the third of the four does, at 20 ms; where four may be passed, it begins at
 * once. It leaves the server to the reads. Where every request holds it back, it ends after all of
 * them.
 */
static void flush_beside_servers(void)
{
	static const struct {
		double window, wait_ratio, end_s;
	} cases[] = {
		{ 2, 0, 0.021 }, { 3, 0, 0.011 }, { 4, 0, 0.006 }, { 4, 1, 0.051 }, { 2, 1, 0.021 }
	};

	for (size_t i = 0; i < TAP_NR(cases); i++) {
		struct device_model m;
		struct device_sim d;

		device_model_init(&m);
		m.base_s[0] = 0.01;
		m.flush_s = 0.001;
		m.flush_window = cases[i].window;
		m.flush_wait_ratio = cases[i].wait_ratio;
		ok(device_sim_init(&d, &m, 1) == 0);
		for (uint64_t k = 1; k <= 5; k++)
			submit(&d, 0, DEVICE_READ, k << 20, 4096);
		ok_near(submit(&d, 0.005, DEVICE_FLUSH, 0, 0), cases[i].end_s, 1e-9);
		ok_near(submit(&d, 0.005, DEVICE_READ, 1 << 30, 4096), 0.06, 1e-9);
		device_sim_release(&d);
	}
}

/*
 * One server takes 10 ms for each of four reads. A flush at 15 ms meets three that are under way,
 * each of which holds it back with the probability 0.2. It waits for the last that does: until
 * 40 ms with the probability 0.2, 30 ms with 0.8 x 0.2, 20 ms with 0.8^2 x 0.2, or not at all.
 */
static void requests_hold_flushes_back(void)
{
	static const double ends_s[] = { 0.04, 0.03, 0.02, 0.015 };
	static const double ratios[] = { 0.2, 0.16, 0.128, 0.512 };
	size_t nr[TAP_NR(ends_s)] = { 0 };
	struct device_model m;

	device_model_init(&m);
	m.base_s[0] = 0.01;
	m.flush_window = 8;
	m.flush_wait_ratio = 0.2;
	for (uint64_t seed = 0; seed < 4000; seed++) {
		struct device_sim d;
		double end_s;

		ok(device_sim_init(&d, &m, seed) == 0);
		for (uint64_t k = 1; k <= 4; k++)
			submit(&d, 0, DEVICE_READ, k << 20, 4096);
		end_s = submit(&d, 0.015, DEVICE_FLUSH, 0, 0);
		for (size_t i = 0; i < TAP_NR(ends_s); i++)
			nr[i] += fabs(end_s - ends_s[i]) < 1e-9;
		device_sim_release(&d);
	}
	for (size_t i = 0; i < TAP_NR(ends_s); i++) /* four standard deviations */
		ok_near((double)nr[i] / 4000, ratios[i],
			4 * sqrt(ratios[i] * (1 - ratios[i]) / 4000));
}

/*
 * The block layer begins no flush while data of forced writes are under way that a flush follows:
 * two such writes, whose data end at 10 and 20 ms, share the flush at 20 ms, as does a flush that
 * comes at 5 ms.
 */
static void flush_behind_forced_data(void)
{
	struct device_request r[3] = {
		{ .type = DEVICE_WRITE, .offset = 1 << 20, .bytes = 4096, .durable = true },
		{ .type = DEVICE_WRITE, .offset = 2 << 20, .bytes = 4096, .durable = true },
		{ .at_s = 0.005, .type = DEVICE_FLUSH },
	};
	struct device_model m;
	struct device_sim d;
	double end_s;

	device_model_init(&m);
	m.base_s[1] = 0.01;
	m.flush_s = 0.002;
	m.durable_flush = true;
	ok(device_sim_init(&d, &m, 1) == 0);
	ok(!device_sim_submit(&d, &r[0], &r[0].at_s) && fabs(r[0].at_s - 0.01) < 1e-9);
	ok(!device_sim_submit(&d, &r[1], &r[1].at_s) && fabs(r[1].at_s - 0.02) < 1e-9);
	ok(!device_sim_submit(&d, &r[2], &r[2].at_s) && fabs(r[2].at_s - 0.02) < 1e-9);
	ok(!device_sim_submit(&d, &r[0], &r[0].at_s) && fabs(r[0].at_s - 0.02) < 1e-9);
	for (int i = 0; i < 3; i++) {
		ok(device_sim_submit(&d, &r[i], &end_s));
		ok_near(end_s, 0.022, 1e-9);
	}
	device_sim_release(&d);
}

/*
 * The commit of a journal is a write that a flush precedes. While its data are under way, until
 * 10 ms, no flush begins, also on a device that forces writes by itself. Those of another write
 * keep no flush.
 */
static void flush_behind_commit(void)
{
	for (int preflush = 0; preflush < 2; preflush++) {
		struct device_request data = {
			.type = DEVICE_WRITE, .bytes = 4096, .durable = true, .preflush = preflush
		};
		struct device_request flush = { .at_s = 0.004, .type = DEVICE_FLUSH };
		struct device_model m;
		struct device_sim d;
		double end_s;

		device_model_init(&m);
		m.base_s[1] = 0.01;
		m.flush_s = 0.002;
		m.flush_window = 8;
		m.flush_wait_ratio = 0;
		ok(device_sim_init(&d, &m, 1) == 0);
		ok(device_sim_submit(&d, &data, &end_s));
		ok_near(end_s, 0.01, 1e-9);
		ok(device_sim_submit(&d, &flush, &flush.at_s) == !preflush);
		ok_near(flush.at_s, preflush ? 0.01 : 0.006, 1e-9);
		ok(!preflush || device_sim_submit(&d, &flush, &flush.at_s));
		ok_near(flush.at_s, preflush ? 0.012 : 0.006, 1e-9);
		device_sim_release(&d);
	}
}

/* Data of forced writes that never end hold a flush back for 5 s, as in the block layer. */
static void flush_is_deferred_for_a_time(void)
{
	struct device_request flush = { .at_s = 1, .type = DEVICE_FLUSH };
	struct device_request data = { .type = DEVICE_WRITE, .bytes = 4096, .durable = true };
	struct device_model m;
	struct device_sim d;
	double end_s;

	device_model_init(&m);
	m.base_s[1] = 100;
	m.flush_s = 0.002;
	m.flush_window = 1;
	m.flush_wait_ratio = 0;
	m.durable_flush = true;
	ok(device_sim_init(&d, &m, 1) == 0);
	ok(!device_sim_submit(&d, &data, &end_s));
	ok(!device_sim_submit(&d, &flush, &flush.at_s));
	ok_near(flush.at_s, 6, 1e-9);
	ok(device_sim_submit(&d, &flush, &end_s));
	ok_near(end_s, 6.002, 1e-9);
	device_sim_release(&d);
}

/* Rows that measured flushes alone know no size of a request. */
static void flushes_are_calibrated(void)
{
	const struct device_task task = { .seed = 1, .nr_requests = 200 };
	struct device_table d = { .nr = DEVICE_ROWS_LEAST };
	struct device_model m;
	struct err err = { 0 };

	d.rows = calloc(d.nr, sizeof(*d.rows));
	for (size_t i = 0; i < d.nr; i++) {
		struct device_row *row = &d.rows[i];

		row->configuration = (double)i;
		row->load = (struct device_load){ .clients = 1 + (unsigned int)i / 2,
						  .flush_every = 1 };
		device_load_init(&row->load);
		for (int t = 0; t < DEVICE_NR_TYPES; t++) {
			row->per_s[t] = NAN;
			for (int p = 0; p < DEVICE_NR_POINTS; p++)
				row->measured_s[t][p] = NAN;
		}
		row->measured_s[DEVICE_FLUSH][DEVICE_MEAN] = 0.003;
	}
	ok(device_calibrate(&m, &d, &task, NULL, &err) == 0);
	ok(m.unit_bytes == 0 && m.flush_s > 0);
	ok(m.domain.has[DEVICE_FLUSH] && !m.domain.has[DEVICE_READ]);
	device_table_release(&d);
}

/* A time for which nanoseconds have no number counts as the longest one, not as none. */
static void endless_times(void)
{
	static const double times_s[] = { 1e12, 1e300, INFINITY };

	for (size_t i = 0; i < TAP_NR(times_s); i++) {
		struct device_times t = { 0 };

		ok(device_times_add(&t, DEVICE_READ, times_s[i]) == 0);
		ok(device_times_at(&t, DEVICE_READ, DEVICE_MEAN) > 1e10);
		device_times_release(&t);
	}
}

static const struct tap_test tests[] = {
	{ "a flush behind a write-back cache leaves the servers to other requests",
	  flush_behind_cache },
	{ "flushes behind a write-back cache share, or are served one by one",
	  flushes_behind_cache },
	{ "flushes that are served one by one limit no more than the servers do",
	  flushes_limit_nothing },
	{ "a flush beside the servers waits until few requests wait", flush_beside_servers },
	{ "a flush waits while the commit of a journal is under way", flush_behind_commit },
	{ "requests under way hold flushes back", requests_hold_flushes_back },
	{ "no flush begins while data of forced writes are under way", flush_behind_forced_data },
	{ "data of forced writes hold a flush back for 5 s at most", flush_is_deferred_for_a_time },
	{ "a campaign that measured flushes alone is calibrated", flushes_are_calibrated },
	{ "a response time beyond all nanoseconds counts as the longest", endless_times },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}

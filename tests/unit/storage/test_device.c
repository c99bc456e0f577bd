// SPDX-License-Identifier: Apache-2.0
/* The simulated device against closed forms, hand-computed answers, and devices that are known. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/models/storage/device/device_calibrate.h"
#include "analyzer/models/storage/device/device_fit.h"
#include "analyzer/models/storage/device/device_load.h"
#include "tests/support/tap.h"

#define MANY 2000000

static struct device_model exponential_device(unsigned int servers, double mean_s)
{
	struct device_model m;

	device_model_init(&m);
	m.servers = servers;
	m.law = DEVICE_EXPONENTIAL;
	m.base_s[0] = m.base_s[1] = mean_s;
	return m;
}

static void mm_c(void)
{
	static const struct {
		unsigned int servers;
		double per_s, mean_s;
	} cases[] = { { 1, 0.8, 5 }, { 2, 1.6, 2.77777778 }, { 3, 2, 13.0 / 9 } };

	for (size_t i = 0; i < TAP_NR(cases); i++) {
		struct device_model m = exponential_device(cases[i].servers, 1);
		struct device_load l = { .rate_per_s = cases[i].per_s, .read_ratio = 1 };
		struct device_times t;

		device_load_init(&l);
		ok(device_load_run(&l, &m, MANY, 1, &t) == 0);
		ok_ratio(device_times_at(&t, DEVICE_READ, DEVICE_MEAN), cases[i].mean_s, 0.03);
		/* The sojourn time of M/M/1 is exponential. */
		if (cases[i].servers == 1)
			ok_ratio(device_times_at(&t, DEVICE_READ, DEVICE_P95), 14.978661, 0.05);
		ok_ratio(device_times_rate(&t, DEVICE_READ), cases[i].per_s, 0.01);
		device_times_release(&t);
	}
}

/* Exact mean value analysis of one queue and a delay. */
static double repairman_s(unsigned int clients, double service_s, double think_s)
{
	double queue = 0, response_s = 0;

	for (unsigned int n = 1; n <= clients; n++) {
		response_s = service_s * (1 + queue);
		queue = n * response_s / (response_s + think_s);
	}
	return response_s;
}

static void machine_repairman(void)
{
	static const unsigned int clients[] = { 1, 4, 20 };

	for (size_t i = 0; i < TAP_NR(clients); i++) {
		struct device_model m = exponential_device(1, 0.3);
		struct device_load l = {
			.clients = clients[i], .think_s = 4, .think_random = true, .read_ratio = 0.5
		};
		double exact_s = repairman_s(clients[i], 0.3, 4);
		struct device_times t;

		device_load_init(&l);
		ok(device_load_run(&l, &m, MANY / 4, 1, &t) == 0);
		ok_ratio(device_times_at(&t, DEVICE_READ, DEVICE_MEAN), exact_s, 0.02);
		ok_ratio(device_times_at(&t, DEVICE_WRITE, DEVICE_MEAN), exact_s, 0.02);
		device_times_release(&t);
	}
}

static double submit(struct device_sim *d, double at_s, enum device_type type, uint64_t offset,
		     uint32_t bytes)
{
	struct device_request r = { .at_s = at_s, .type = type, .offset = offset, .bytes = bytes };
	double end_s;

	while (!device_sim_submit(d, &r, &end_s))
		r.at_s = end_s;
	return end_s;
}

static void bucket(void)
{
	struct device_model m;
	struct device_sim d;

	device_model_init(&m);
	m.servers = 64;
	m.ops = (struct device_limit){ .rate_per_s = 100, .burst = 5, .write_ratio = 2 };
	ok(device_sim_init(&d, &m, 1) == 0);
	for (int i = 1; i <= 20; i++)
		ok_near(submit(&d, 0, DEVICE_READ, 0, 4096), i <= 5 ? 0 : (i - 5) / 100.0, 1e-9);
	/* 0.15 s have been used up to 0.15 s; until 1 s the bucket is full again. */
	for (int i = 1; i <= 10; i++)
		ok_near(submit(&d, 1, DEVICE_WRITE, 0, 4096),
			1 + (2 * i <= 5 ? 0 : (2 * i - 5) / 100.0), 1e-9);
	device_sim_release(&d);
}

static void bytes_without_burst(void)
{
	struct device_model m;
	struct device_sim d;

	device_model_init(&m);
	m.bytes.rate_per_s = 1000;
	ok(device_sim_init(&d, &m, 1) == 0);
	/* The first may pass at once, the others when those before them have been paid for. */
	ok_near(submit(&d, 0, DEVICE_READ, 0, 500), 0, 1e-9);
	ok_near(submit(&d, 0, DEVICE_READ, 0, 2000), 0.5, 1e-9);
	ok_near(submit(&d, 0.1, DEVICE_READ, 0, 500), 2.5, 1e-9);
	device_sim_release(&d);
}

static void cache(void)
{
	struct device_model m;
	struct device_sim d;
	double end_s;

	device_model_init(&m);
	m.base_s[0] = m.base_s[1] = 0.004;
	m.flush_s = 0.002;
	m.cache = (struct device_cache){ .bytes = 10 * 4096,
					 .base_s = 0.001,
					 .drain_bytes_per_s = 4096 / 0.01 };
	ok(device_sim_init(&d, &m, 1) == 0);
	for (int i = 1; i <= 13; i++) /* ten have room, the others wait for 10 ms each */
		ok_near(submit(&d, 0, DEVICE_WRITE, (uint64_t)i << 20, 4096),
			0.001 + (i <= 10 ? 0 : (i - 10) * 0.01), 1e-9);
	ok_near(submit(&d, 0.05, DEVICE_READ, 0, 4096), 0.054, 1e-9); /* reads pass by */
	/* 13 writes have been drained at 130 ms. */
	ok_near(submit(&d, 0.06, DEVICE_FLUSH, 0, 0), 0.132, 1e-9);
	ok(device_sim_submit(
		&d,
		&(struct device_request){
			.at_s = 0.2, .type = DEVICE_WRITE, .bytes = 4096, .durable = true },
		&end_s));
	ok_near(end_s, 0.204, 1e-9);
	ok_near(submit(&d, 0.3, DEVICE_WRITE, 0, 4096), 0.301, 1e-9); /* it is empty again */
	device_sim_release(&d);
}

/*
 * 1 MiB in units of 256 KiB is four operations: a server's time and tokens count for each. All
 * servers take part, and the request completes with the last operation.
 */
static void units(void)
{
	struct device_model m;
	struct device_sim d;

	device_model_init(&m);
	m.base_s[0] = 0.001;
	m.latency_byte_s[0] = 1e-9;
	m.unit_bytes = 262144;
	ok(device_sim_init(&d, &m, 1) == 0);
	ok_near(submit(&d, 0, DEVICE_READ, 0, 1048576), 0.004 + 262144e-9, 1e-9);
	/* The latency keeps no server busy, so that the next one begins at 4 ms. */
	ok_near(submit(&d, 0, DEVICE_READ, 1 << 24, 262144), 0.005 + 262144e-9, 1e-9);
	device_sim_release(&d);
	m.ops = (struct device_limit){ .rate_per_s = 100, .burst = 4, .write_ratio = 1 };
	ok(device_sim_init(&d, &m, 1) == 0);
	submit(&d, 0, DEVICE_READ, 0, 1048576);
	ok_near(submit(&d, 0, DEVICE_READ, 1 << 24, 4096), 0.011 + 4096e-9, 1e-9);
	device_sim_release(&d);
	/* Three servers: the fourth operation waits for the first one to be free again. */
	m.ops = (struct device_limit){ 0 };
	m.servers = 3;
	m.seek_s[0] = 0.0002; /* of the first operation alone, since the others follow it */
	ok(device_sim_init(&d, &m, 1) == 0);
	ok_near(submit(&d, 0, DEVICE_READ, 1 << 20, 1048576), 0.002 + 262144e-9, 1e-9);
	device_sim_release(&d);
}

static void service(void)
{
	struct device_model m;
	struct device_sim d;

	device_model_init(&m);
	m.base_s[0] = 0.001;
	m.base_s[1] = 0.002;
	m.byte_s[1] = 1e-6;
	m.seek_s[0] = 0.005;
	m.durable_s = 0.01;
	m.latency_s[1] = 0.02;
	ok(device_sim_init(&d, &m, 1) == 0);
	ok_near(submit(&d, 0, DEVICE_READ, 8192, 4096), 0.006, 1e-9);
	ok_near(submit(&d, 1, DEVICE_READ, 12288, 4096), 1.001, 1e-9); /* follows the first */
	ok_near(submit(&d, 2, DEVICE_READ, 8192, 4096), 2.006, 1e-9);
	ok_near(submit(&d, 3, DEVICE_WRITE, 0, 1000), 3.023, 1e-9);
	/* One server: it waits, but not for the latency of the other. */
	ok_near(submit(&d, 3, DEVICE_WRITE, 0, 1000), 3.026, 1e-9);
	device_sim_release(&d);
}

static bool flush(struct device_sim *d, double at_s, double *end_s)
{
	return device_sim_submit(d, &(struct device_request){ .at_s = at_s, .type = DEVICE_FLUSH },
				 end_s);
}

static void flushes(void)
{
	struct device_model m;
	struct device_sim d;
	double end_s;

	device_model_init(&m);
	m.servers = 8;
	m.flush_s = 0.01;
	ok(device_sim_init(&d, &m, 1) == 0);
	ok(flush(&d, 0, &end_s) && fabs(end_s - 0.01) < 1e-9);
	/*
	 * Flushes that come meanwhile wait for the end of the first one, and then share the next.
	 */
	ok(!flush(&d, 0.001, &end_s) && fabs(end_s - 0.01) < 1e-9);
	ok(!flush(&d, 0.009, &end_s) && fabs(end_s - 0.01) < 1e-9);
	ok(flush(&d, end_s, &end_s) && fabs(end_s - 0.02) < 1e-9);
	ok(flush(&d, d.flush_begin_s, &end_s) && fabs(end_s - 0.02) < 1e-9);
	ok(!flush(&d, 0.015, &end_s) && fabs(end_s - 0.02) < 1e-9);
	ok(flush(&d, end_s, &end_s) && fabs(end_s - 0.03) < 1e-9);
	ok(flush(&d, 0.05, &end_s) && fabs(end_s - 0.06) < 1e-9);
	device_sim_release(&d);
}

/*
 * One server is busy with a read until 10 ms, and another read waits until 20 ms. A flush that
 * comes after all waits for both; one that passes by waiting requests waits for the first alone.
 */
static void flush_waits(void)
{
	static const double ratios[] = { 1, 0, 0.5 }, ends_s[] = { 0.022, 0.012, 0.017 };
	struct device_model m;
	struct device_sim d;

	device_model_init(&m);
	m.base_s[0] = 0.01;
	m.flush_s = 0.002;
	for (size_t i = 0; i < TAP_NR(ratios); i++) {
		m.flush_wait_ratio = ratios[i];
		ok(device_sim_init(&d, &m, 1) == 0);
		submit(&d, 0, DEVICE_READ, 0, 4096);
		submit(&d, 0.001, DEVICE_READ, 1 << 20, 4096);
		ok_near(submit(&d, 0.002, DEVICE_FLUSH, 0, 0), ends_s[i], 1e-9);
		device_sim_release(&d);
	}
}

/*
 * A flush takes 2 ms and 1 us per KiB written since the flush before; 0.5 ms if there is nothing.
 */
static void flush_dirty(void)
{
	struct device_model m;
	struct device_sim d;

	device_model_init(&m);
	m.flush_s = 0.002;
	m.flush_byte_s = 1e-6 / 1024;
	m.flush_clean_ratio = 0.25;
	ok(device_sim_init(&d, &m, 1) == 0);
	ok_near(submit(&d, 0, DEVICE_FLUSH, 0, 0), 0.0005, 1e-9);
	submit(&d, 1, DEVICE_WRITE, 0, 65536);
	submit(&d, 1, DEVICE_WRITE, 1 << 20, 65536);
	ok_near(submit(&d, 2, DEVICE_FLUSH, 0, 0), 2.002128, 1e-9);
	submit(&d, 3, DEVICE_READ, 0, 65536);
	ok_near(submit(&d, 4, DEVICE_FLUSH, 0, 0), 4.0005, 1e-9);
	device_sim_release(&d);
}

/* Without forced unit access, a forced write is its data and a flush. */
static void forced(void)
{
	struct device_request r = { .type = DEVICE_WRITE, .bytes = 4096, .durable = true };
	struct device_model m;
	struct device_sim d;
	double end_s;

	device_model_init(&m);
	m.base_s[1] = 0.003;
	m.flush_s = 0.001;
	m.durable_flush = true;
	ok(device_sim_init(&d, &m, 1) == 0);
	ok(!device_sim_submit(&d, &r, &end_s) && fabs(end_s - 0.003) < 1e-9);
	/* A write that comes before the data are written is served before the flush. */
	ok_near(submit(&d, 0.001, DEVICE_WRITE, 1 << 20, 4096), 0.006, 1e-9);
	r.at_s = end_s;
	ok(device_sim_submit(&d, &r, &end_s) && fabs(end_s - 0.007) < 1e-9);
	device_sim_release(&d);
}

/*
 * Of twenty requests at once on one server, as many as the window may overtake each other: the
 * means stay, and the spread of the last request is that of the window.
 */
static void window(void)
{
	struct device_model m;
	double sum = 0, squares = 0;
	int nr = 4000;

	device_model_init(&m);
	m.base_s[0] = 1;
	m.wait_sigma = 0.3;
	m.wait_window = 9;
	for (int i = 0; i < nr; i++) {
		struct device_sim d;
		double end_s = 0;

		ok(device_sim_init(&d, &m, (uint64_t)i) == 0);
		for (uint64_t k = 0; k < 20; k++) {
			end_s = submit(&d, 0, DEVICE_READ, k << 20, 4096);
			if (k < 2) /* nobody waits before the first two */
				ok_near(end_s, (double)k + 1, 1e-9);
		}
		device_sim_release(&d);
		sum += end_s;
		squares += end_s * end_s;
	}
	sum /= nr;
	ok_ratio(sum, 20, 0.01);
	/* 18 s behind 18 waiting requests, of which 9 count: 9 s x sqrt(exp(0.3^2) - 1) */
	ok_ratio(sqrt(squares / nr - sum * sum), 9 * sqrt(exp(0.09) - 1), 0.05);
}

/* ---- calibration ---- */

static const struct device_load grid[] = {
	{ .bytes = { 4096, 4096 }, .read_ratio = 1 },
	{ .bytes = { 65536, 65536 }, .read_ratio = 1 },
	{ .bytes = { 1 << 20, 1 << 20 }, .read_ratio = 1 },
	{ .bytes = { 4096, 4096 }, .read_ratio = 0 },
	{ .bytes = { 65536, 65536 }, .read_ratio = 0 },
	{ .bytes = { 1 << 20, 1 << 20 }, .read_ratio = 0 },
	{ .bytes = { 4096, 4096 }, .read_ratio = 1, .sequential = true },
	{ .bytes = { 65536, 65536 }, .read_ratio = 1, .sequential = true },
	{ .bytes = { 65536, 65536 }, .read_ratio = 0, .sequential = true },
	{ .depth = 4, .bytes = { 4096, 4096 }, .read_ratio = 1 },
	{ .depth = 8, .bytes = { 4096, 4096 }, .read_ratio = 0 },
	{ .depth = 16, .bytes = { 16384, 16384 }, .read_ratio = 0.7 },
	{ .depth = 32, .bytes = { 4096, 4096 }, .read_ratio = 0.5 },
	{ .clients = 8, .bytes = { 8192, 8192 }, .read_ratio = 0.7 },
	{ .clients = 16, .bytes = { 65536, 65536 }, .read_ratio = 0.3 },
	{ .clients = 2, .bytes = { 4096, 4096 }, .read_ratio = 0, .flush_every = 1 },
	{ .clients = 8, .bytes = { 4096, 4096 }, .read_ratio = 0, .flush_every = 4 },
	{ .clients = 1, .bytes = { 4096, 4096 }, .read_ratio = 0, .durable = true },
	{ .clients = 4, .bytes = { 16384, 16384 }, .read_ratio = 0, .durable = true },
	{ .depth = 16, .bytes = { 4096, 4096 }, .read_ratio = 0.5, .burst = 16, .think_s = 0.02 },
};

static struct device_model known_device(void)
{
	struct device_model m;

	device_model_init(&m);
	m.servers = 4;
	m.base_s[0] = 0.001;
	m.base_s[1] = 0.002;
	m.latency_s[0] = m.latency_s[1] = 0.0004;
	m.byte_s[0] = 5e-9;
	m.byte_s[1] = 1e-8;
	m.seek_s[0] = 0.0005;
	m.seek_s[1] = 0.001;
	m.sigma[0] = 0.25;
	m.sigma[1] = 0.4;
	m.flush_s = 0.003;
	m.durable_s = 0.002;
	return m;
}

/*
 * What a campaign on the device would have measured, with other random numbers than those of the
 * fit.
 */
static void measure(const struct device_model *m, const struct device_load *loads, size_t nr,
		    struct device_table *d)
{
	d->nr = nr;
	d->rows = calloc(d->nr, sizeof(*d->rows));
	for (size_t i = 0; i < d->nr; i++) {
		struct device_row *row = &d->rows[i];
		struct device_times t;

		row->configuration = (double)i;
		row->load = loads[i];
		device_load_init(&row->load);
		ok(device_load_run(&row->load, m, 20000, 7000 + i, &t) == 0);
		for (int type = 0; type < DEVICE_NR_TYPES; type++)
			for (int p = 0; p < DEVICE_NR_POINTS; p++)
				row->measured_s[type][p] = device_times_at(
					&t, (enum device_type)type, (enum device_point)p);
		for (int k = 0; k < 2; k++)
			row->per_s[k] = device_times_rate(&t, (enum device_type)k);
		device_times_release(&t);
	}
}

static void recovers(void)
{
	const struct device_task task = { .seed = 1, .nr_requests = 600 };
	struct device_model known = known_device(), m, again;
	struct device_table d = { 0 };
	struct err err = { 0 };

	measure(&known, grid, TAP_NR(grid), &d);
	ok(device_calibrate(&m, &d, &task, NULL, &err) == 0);
	tap_note("servers %u, reads %g + %g, writes %g + %g, flush %g", m.servers, m.base_s[0],
		 m.seek_s[0], m.base_s[1], m.seek_s[1], m.flush_s);
	ok(m.servers == 4);
	ok_ratio(m.base_s[0] + m.seek_s[0], 0.0015, 0.07);
	ok_ratio(m.base_s[1] + m.seek_s[1], 0.003, 0.07);
	ok_ratio(m.base_s[0] + m.latency_s[0], 0.0014, 0.1);
	ok_ratio(m.base_s[1] + m.latency_s[1], 0.0024, 0.1);
	ok_ratio(m.byte_s[0] + m.latency_byte_s[0], 5e-9, 0.1);
	ok_ratio(m.byte_s[1] + m.latency_byte_s[1], 1e-8, 0.1);
	ok_ratio(m.flush_s, 0.003, 0.1);
	ok_ratio(m.durable_s, 0.002, 0.2);
	ok(m.errors[DEVICE_READ][DEVICE_MEAN].mean_ratio < 0.05);
	ok(m.errors[DEVICE_WRITE][DEVICE_P99].mean_ratio < 0.15);
	ok(m.errors[DEVICE_READ][DEVICE_MEAN].log_half > 0);
	ok(m.domain.concurrency == 32 && m.domain.has_durable && m.domain.has[DEVICE_FLUSH]);
	ok(device_calibrate(&again, &d, &(struct device_task){ 1, 1, 600, NULL, NULL }, NULL,
			    &err) == 0);
	ok(!memcmp(m.base_s, again.base_s, sizeof(m.base_s)) && m.flush_s == again.flush_s);
	device_table_release(&d);
}

static void recovers_limits(void)
{
	const struct device_task task = { .seed = 1, .nr_requests = 600 };
	struct device_model known = known_device(), m;
	struct device_table d = { 0 };
	struct err err = { 0 };

	known.servers = 16;
	known.ops = (struct device_limit){ .rate_per_s = 1500, .write_ratio = 1 };
	measure(&known, grid, TAP_NR(grid), &d);
	ok(device_calibrate(&m, &d, &task, NULL, &err) == 0);
	ok_ratio(m.ops.rate_per_s, 1500, 0.05);
	ok_ratio(m.ops.write_ratio, 1, 0.1);
	d.nr = 5;
	ok(device_calibrate(&m, &d, &task, NULL, &err) == -EINVAL);
	device_table_release(&d);
}

/*
 * A storage that lets 40 operations pass at once after a pause, and then 800 a second. Clients that
 * think for as long as that takes to save up show it.
 */
static void recovers_burst(void)
{
	static const struct device_load bursts[] = {
		{ .depth = 16, .burst = 16, .think_s = 0.1, .read_ratio = 1 },
		{ .depth = 32, .burst = 32, .think_s = 0.1, .read_ratio = 1 },
		{ .depth = 32, .burst = 64, .think_s = 0.1, .read_ratio = 1 },
		{ .depth = 32, .burst = 128, .think_s = 0.1, .read_ratio = 1 },
		{ .clients = 4, .depth = 16, .burst = 32, .think_s = 0.3, .read_ratio = 1 },
		{ .depth = 1, .read_ratio = 1 },
		{ .depth = 2, .read_ratio = 1 },
		{ .depth = 4, .read_ratio = 1 },
		{ .depth = 32, .read_ratio = 1 },
		{ .clients = 4, .think_s = 0.02, .read_ratio = 1 },
	};
	const struct device_task task = { .seed = 1, .nr_requests = 600 };
	struct device_model known, m;
	struct device_table d = { 0 };
	struct err err = { 0 };

	device_model_init(&known);
	known.servers = 8;
	known.base_s[0] = 0.002;
	known.sigma[0] = 0.1;
	known.ops = (struct device_limit){ .rate_per_s = 800, .burst = 40, .write_ratio = 1 };
	measure(&known, bursts, TAP_NR(bursts), &d);
	ok(device_calibrate(&m, &d, &task, NULL, &err) == 0);
	tap_note("rate %g, burst %g", m.ops.rate_per_s, m.ops.burst);
	ok_ratio(m.ops.rate_per_s, 800, 0.05);
	ok_ratio(m.ops.burst, 40, 0.15);
	device_table_release(&d);
}

/* A job of fio that also flushes after reads is known by its rates; without reads it is none. */
static void flushes_after_reads(void)
{
	static const char text[] =
		"read,flush_every,read_s,read_per_s,write_s,write_per_s,flush_s,flush_per_s\n"
		"50,4,0.001,100,0.001,100,0.001,75\n"
		"0,4,,0,0.001,100,0.001,26\n"
		"0,4,,,0.001,100,0.001,26\n"
		"50,0,0.001,100,0.001,100,,\n";
	struct device_table d = { 0 };
	struct table t = { 0 };
	struct err err = { 0 };

	ok_int(table_parse(&t, "t.csv", text, strlen(text), &err), 0);
	ok_int(device_table_make(&d, &t, "", &err), 0);
	ok_eq(d.nr, 4);
	ok_near(d.rows[0].load.flush_read_ratio, 0.5, 1e-12);
	for (size_t i = 1; i < 4; i++)
		ok_near(d.rows[i].load.flush_read_ratio, 0, 0);
	device_table_release(&d);
	table_release(&t);
}

static void file(void)
{
	char path[] = "/tmp/blkcast-device.XXXXXX";
	struct device_model m = known_device(), back;
	struct err err = { 0 };
	int fd = mkstemp(path);

	ok(fd >= 0);
	m.cache = (struct device_cache){ 1e6, 1e-4, 1e-10, 1e8 };
	m.domain.has[DEVICE_READ] = m.domain.has_random[0] = true;
	m.domain.low_bytes[0] = 4096;
	m.domain.high_bytes[0] = 65536;
	m.errors[DEVICE_READ][DEVICE_P95] = (struct device_error){ 12, 0.1, 0.2 };
	ok(device_model_save(&m, path, &err) == 0);
	ok(device_model_is(path));
	ok(device_model_load(&back, path, &err) == 0);
	ok(back.servers == 4 && back.byte_s[1] == m.byte_s[1] && back.cache.bytes == 1e6);
	ok(back.domain.has[DEVICE_READ] && !back.domain.has[DEVICE_WRITE]);
	ok(back.domain.high_bytes[0] == 65536 && isnan(back.domain.low_bytes[1]));
	ok(back.errors[DEVICE_READ][DEVICE_P95].log_half == 0.2);
	m.flush_s = -1;
	ok(device_model_save(&m, path, &err) == 0);
	ok(device_model_load(&back, path, &err) == -EINVAL && strstr(err.line, "flush.base_s"));
	close(fd);
	unlink(path);
}

/* The logarithm of a bound may come back as a little more than the bound. */
static void bounds_of_the_fit(void)
{
	struct device_model m = known_device();

	m.cache.drain_bytes_per_s = 1e8;
	for (int p = 0; p < DEVICE_NR_PARAMETERS; p++) {
		device_parameter_set(&m, (enum device_parameter)p, 1e3);
		ok(device_model_check(&m) == NULL);
		device_parameter_set(&m, (enum device_parameter)p, -1e3);
		ok(device_model_check(&m) == NULL);
	}
}

static const struct tap_test tests[] = {
	{ "Poisson arrivals meet the exact response times of M/M/1, M/M/2 and M/M/3", mm_c },
	{ "closed clients meet the exact response time of the machine repairman",
	  machine_repairman },
	{ "a token bucket gives its burst at once and then its rate", bucket },
	{ "a limit of bytes without burst is paid for by the next request", bytes_without_burst },
	{ "a write-back cache fills, drains, and is waited for by flushes", cache },
	{ "a request larger than an operation is served as several", units },
	{ "service times go by direction, size and what a request follows", service },
	{ "flushes that meet share the next one", flushes },
	{ "a flush waits for requests in service and for a share of those that wait", flush_waits },
	{ "a flush takes longer the more was written, and less if nothing was", flush_dirty },
	{ "a forced write without forced unit access is its data and a flush", forced },
	{ "requests overtake each other within the window of the device", window },
	{ "calibration finds the parameters of a known device", recovers },
	{ "calibration finds a limit of operations", recovers_limits },
	{ "calibration finds what an idle storage may do at once", recovers_burst },
	{ "a fit that ends at a bound is a model that a file may have", bounds_of_the_fit },
	{ "flushes after reads are found by the rates of rows that read", flushes_after_reads },
	{ "a model comes back from its file as it was", file },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}

// SPDX-License-Identifier: Apache-2.0
/* Calibration of devices that are known, and what a device is as a file. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/models/storage/device/device_calibrate.h"
#include "analyzer/models/storage/device/device_fit.h"
#include "analyzer/models/storage/device/device_guess.h"
#include "analyzer/models/storage/device/device_load.h"
#include "tests/support/tap.h"

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

struct told {
	size_t nr, nr_complete;
	double last;
};

static void tell(void *ctx, double ratio)
{
	struct told *told = ctx;

	told->nr++;
	told->nr_complete += ratio >= 1;
	told->last = ratio;
}

static void recovers(void)
{
	struct told told = { 0 };
	const struct device_task task = {
		.seed = 1, .nr_requests = 600, .progress = tell, .ctx = &told
	};
	struct device_model known = known_device(), m, again;
	struct device_table d = { 0 };
	struct err err = { 0 };

	measure(&known, grid, TAP_NR(grid), &d);
	ok(device_calibrate(&m, &d, &task, NULL, &err) == 0);
	tap_note("%zu fits, the last one at %g", told.nr, told.last);
	ok(told.nr_complete == 0 && told.last > 0.8); /* told as a fit begins */
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
	ok(m.flush_byte_s == 0); /* nothing shows that it is more */
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
 * One server that flushes pass. Where a flush could only join the queue, a limit of operations
 * beside many servers fitted better than the server.
 */
static void recovers_passing_flushes(void)
{
	const struct device_task task = { .seed = 1, .nr_requests = 600 };
	struct device_model known, m;
	struct device_table d = { 0 };
	struct err err = { 0 };

	device_model_init(&known);
	known.base_s[0] = 0.001;
	known.base_s[1] = 0.002;
	known.latency_s[0] = known.latency_s[1] = 0.0002;
	known.sigma[0] = known.sigma[1] = 0.05;
	known.flush_s = 0.00015;
	known.flush_window = 8;
	known.flush_wait_ratio = 0.1;
	measure(&known, grid, TAP_NR(grid), &d);
	ok(device_calibrate(&m, &d, &task, NULL, &err) == 0);
	tap_note("servers %u, %g/s, window %g, held back with %g", m.servers, m.ops.rate_per_s,
		 m.flush_window, m.flush_wait_ratio);
	ok(m.servers == 1 && m.ops.rate_per_s == 0);
	ok_ratio(m.base_s[0] + m.seek_s[0], 0.001, 0.07);
	ok_ratio(m.base_s[1] + m.seek_s[1], 0.002, 0.07);
	ok(m.flush_window >= 4);
	ok_ratio(m.flush_wait_ratio, 0.1, 0.4);
	ok(m.errors[DEVICE_FLUSH][DEVICE_MEAN].mean_ratio < 0.25);
	device_table_release(&d);
}

/*
 * Flushes that have nothing to write take a third of the time of others. A client alone shows it;
 * without such a row, the calibration does not look for it.
 */
static void recovers_clean_flushes(void)
{
	static const struct device_load mixed[] = {
		{ .clients = 4, .read_ratio = 0.7, .flush_every = 2, .flush_read_ratio = 0.5 },
		{ .clients = 8, .read_ratio = 0.9, .flush_every = 1, .flush_read_ratio = 1 },
		{ .read_ratio = 0.9, .flush_every = 1, .flush_read_ratio = 1 },
	};
	const struct device_task task = { .seed = 1, .nr_requests = 600 };
	struct device_load loads[TAP_NR(grid) + TAP_NR(mixed)];
	struct device_model known = known_device(), m;
	struct device_guess guess;
	struct device_table d = { 0 };
	struct err err = { 0 };

	memcpy(loads, grid, sizeof(grid));
	memcpy(loads + TAP_NR(grid), mixed, sizeof(mixed));
	known.flush_clean_ratio = 0.33;
	measure(&known, loads, TAP_NR(loads), &d);
	d.nr--; /* without the client alone */
	device_guess(&guess, &d, &m);
	ok(!guess.clean);
	d.nr++;
	device_guess(&guess, &d, &m);
	ok(guess.clean);
	ok(device_calibrate(&m, &d, &task, NULL, &err) == 0);
	tap_note("clean flushes take %g of others", m.flush_clean_ratio);
	/* Few requests, whose flushes mostly wait for others, leave it this uncertain. */
	ok_ratio(m.flush_clean_ratio, 0.33, 0.3);
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
	{ "calibration finds the parameters of a known device", recovers },
	{ "calibration finds a limit of operations", recovers_limits },
	{ "calibration finds one server that flushes pass", recovers_passing_flushes },
	{ "calibration finds flushes that have nothing to write, by a client alone",
	  recovers_clean_flushes },
	{ "calibration finds what an idle storage may do at once", recovers_burst },
	{ "a fit that ends at a bound is a model that a file may have", bounds_of_the_fit },
	{ "flushes after reads are found by the rates of rows that read", flushes_after_reads },
	{ "a model comes back from its file as it was", file },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}

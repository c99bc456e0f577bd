// SPDX-License-Identifier: Apache-2.0
/*
 * Requests that the guest splits before the device gets them: their response times by hand, and
 * calibrations that do not take the guest's limit for one of the device.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/storage/device/device_calibrate.h"
#include "tests/support/tap.h"

#define KIB 1024.0

static double solved_s(const struct device_model *m, struct device_load load, int type)
{
	struct device_times t;
	double s;

	device_load_init(&load);
	ok_int(device_load_run(&load, m, 1000, 1, &t), 0);
	s = device_times_at(&t, (enum device_type)type, DEVICE_MEAN);
	device_times_release(&t);
	return s;
}

static void parts_by_hand(void)
{
	struct device_load load = { .bytes = { 1024 * KIB, 1000 }, .parts = { 2, 3 } };
	struct device_model m;

	device_model_init(&m);
	m.base_s[0] = m.base_s[1] = 0.001;
	m.byte_s[1] = 1e-6;
	load.read_ratio = 1;
	ok_near(solved_s(&m, load, DEVICE_READ), 0.002, 1e-9);
	load.read_ratio = 0;
	/* 333, 333 and 334 bytes */
	ok_near(solved_s(&m, load, DEVICE_WRITE), 0.003 + 0.001, 1e-9);
	m.servers = 3;
	ok_near(solved_s(&m, load, DEVICE_WRITE), 0.001 + 0.000334, 1e-9);
	/* One flush follows the data of all parts. */
	m.durable_flush = true;
	m.flush_s = 0.005;
	load.durable = true;
	ok_near(solved_s(&m, load, DEVICE_WRITE), 0.001 + 0.000334 + 0.005, 1e-9);
}

/*
 * Operations of one request are served apart where a device reorders what waits. A request waits
 * for the last of them, so that a burst takes longer in the mean than it would in one piece.
 */
static void units_apart(void)
{
	struct device_load load = { .depth = 16,
				    .burst = 16,
				    .think_s = 0.1,
				    .bytes = { 524288, 524288 },
				    .read_ratio = 1 };
	double mean_s[2];
	struct device_times t;
	struct device_model m;

	device_load_init(&load);
	device_model_init(&m);
	m.wait_sigma = 0.8;
	for (int apart = 0; apart < 2; apart++) {
		m.base_s[0] = apart ? 0.001 : 0.002;
		m.unit_bytes = apart ? 262144 : 0;
		ok_int(device_load_run(&load, &m, 20000, 1, &t), 0);
		mean_s[apart] = device_times_at(&t, DEVICE_READ, DEVICE_MEAN);
		device_times_release(&t);
	}
	tap_note("%g and %g ms", 1e3 * mean_s[0], 1e3 * mean_s[1]);
	ok(mean_s[1] > 1.15 * mean_s[0]);
}

static void parts_of_a_table(void)
{
	static const char text[] =
		"size,read,flush_every,durable,read_s,read_requests,read_device_requests,write_s,"
		"write_requests,write_device_requests\n"
		"1m,100,0,0,0.002,244,452,,0,0\n"	 /* as fio counts two parts */
		"1m,0,0,0,,0,0,0.004,147,550\n"		 /* four */
		"4k,50,0,0,0.001,500,20,0.002,500,460\n" /* merged; whole */
		"4k,0,1,0,,0,0,0.002,313,582\n"		 /* the flushes count */
		"4k,0,0,1,,0,0,0.002,267,496\n"		 /* and those of forced writes */
		"4k,50,0,0,0.001,20,50,0.002,20,35\n"	 /* a page has no parts: others did */
		"8k,50,0,0,0.001,20,50,0.002,20,35\n";
	static const unsigned int parts[][2] = { { 2, 1 }, { 1, 4 }, { 1, 1 }, { 1, 1 },
						 { 1, 1 }, { 1, 1 }, { 1, 2 } };
	struct device_table d = { 0 };
	struct device_domain domain;
	struct table t = { 0 };
	struct err err = { 0 };

	ok_int(table_parse(&t, "t.csv", text, strlen(text), &err), 0);
	ok_int(device_table_make(&d, &t, "", &err), 0);
	ok_eq(d.nr, TAP_NR(parts));
	for (size_t i = 0; i < d.nr; i++)
		for (int k = 0; k < 2; k++)
			ok_eq(d.rows[i].load.parts[k], parts[i][k]);
	device_table_domain(&d, &domain);
	ok_near(domain.high_bytes[0], 512 * KIB, 0);
	ok_near(domain.high_bytes[1], 256 * KIB, 0);
	device_table_release(&d);
	table_release(&t);
}

/* A mean of 19 requests does not count beside one of 20, but is better than none. */
static void means_of_few_requests(void)
{
	static const char text[] =
		"size,read,flush_every,read_s,read_requests,write_s,write_requests,flush_s,flush_requests\n"
		"4k,50,8,0.001,19,0.002,500,0.0001,19\n"
		"4k,50,8,0.003,20,0.002,,0.0002,4\n";
	struct device_table d = { 0 };
	struct table t = { 0 };
	struct err err = { 0 };

	ok_int(table_parse(&t, "t.csv", text, strlen(text), &err), 0);
	ok_int(device_table_make(&d, &t, "", &err), 0);
	ok_eq(d.nr, 2);
	ok(isnan(d.rows[0].measured_s[DEVICE_READ][DEVICE_MEAN]));
	ok_near(d.rows[1].measured_s[DEVICE_READ][DEVICE_MEAN], 0.003, 0);
	ok_near(d.rows[0].measured_s[DEVICE_WRITE][DEVICE_MEAN], 0.002, 0);
	ok_near(d.rows[1].measured_s[DEVICE_WRITE][DEVICE_MEAN], 0.002, 0);
	ok_near(d.rows[0].measured_s[DEVICE_FLUSH][DEVICE_MEAN], 0.0001, 0);
	ok_near(d.rows[1].measured_s[DEVICE_FLUSH][DEVICE_MEAN], 0.0002, 0);
	device_table_release(&d);
	table_release(&t);
}

/* A campaign on the device, whose guest passes requests of up to whole_bytes as they are. */
static void measure(const struct device_model *m, double whole_bytes, struct device_table *d)
{
	static const double sizes[] = { 4 * KIB, 64 * KIB, 256 * KIB, 1024 * KIB, 1280 * KIB };

	d->rows = calloc(4 * TAP_NR(sizes), sizeof(*d->rows));
	for (size_t i = 0; i < TAP_NR(sizes); i++)
		for (unsigned int k = 0; k < 4; k++) {
			struct device_row *row = &d->rows[d->nr];
			struct device_load *l = &row->load;
			struct device_times t;

			l->read_ratio = k % 2;
			l->depth = k < 2 ? 1 : 4;
			for (int side = 0; side < 2; side++) {
				l->bytes[side] = sizes[i];
				l->parts[side] = (unsigned int)ceil(sizes[i] / whole_bytes);
			}
			device_load_init(l);
			ok_int(device_load_run(l, m, 5000, 70 + d->nr, &t), 0);
			for (int type = 0; type < DEVICE_NR_TYPES; type++)
				for (int p = 0; p < DEVICE_NR_POINTS; p++)
					row->measured_s[type][p] = device_times_at(
						&t, (enum device_type)type, (enum device_point)p);
			for (int side = 0; side < 2; side++)
				row->per_s[side] = device_times_rate(&t, (enum device_type)side);
			device_times_release(&t);
			row->configuration = (double)d->nr++;
		}
}

static void calibrated(double unit_bytes, double whole_bytes)
{
	const struct device_task task = { .seed = 1, .nr_requests = 300 };
	struct device_table d = { 0 };
	struct device_model known, m;
	struct err err = { 0 };

	device_model_init(&known);
	known.base_s[0] = 0.001;
	known.base_s[1] = 0.002;
	known.byte_s[0] = known.byte_s[1] = 3e-10;
	known.latency_s[0] = known.latency_s[1] = 0.0002;
	known.sigma[0] = known.sigma[1] = 0.05;
	known.unit_bytes = unit_bytes;
	measure(&known, whole_bytes, &d);
	ok_int(device_calibrate(&m, &d, &task, NULL, &err), 0);
	tap_note("unit %g, base %g %g, bytes/s %g", m.unit_bytes, m.base_s[0], m.base_s[1],
		 m.bytes.rate_per_s);
	ok_near(m.unit_bytes, unit_bytes, 0);
	ok(!(m.bytes.rate_per_s > 0));
	ok_ratio(m.base_s[1] + m.latency_s[1], 0.0022, 0.2);
	device_table_release(&d);
}

/* What the guest splits at 512 KiB takes twice the time, and the device has no such limit. */
static void limits_of_the_guest(void)
{
	calibrated(0, 512 * KIB);
}

/* What reaches the device whole and still takes twice the time shows its own limit. */
static void limits_of_the_device(void)
{
	calibrated(1024 * KIB, 1280 * KIB);
}

static const struct tap_test tests[] = {
	{ "a request in parts completes with the last of them", parts_by_hand },
	{ "the operations of a request are served apart", units_apart },
	{ "the device's count says into how many parts requests were split", parts_of_a_table },
	{ "a mean of few requests counts only if there is no other", means_of_few_requests },
	{ "a limit of the guest is none of the device", limits_of_the_guest },
	{ "a limit of the device shows in requests that reach it whole", limits_of_the_device },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}

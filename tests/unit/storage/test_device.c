// SPDX-License-Identifier: Apache-2.0
/* The simulated device against closed forms and hand-computed answers. */
#include <math.h>
#include <stdlib.h>

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
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}

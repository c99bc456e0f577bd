/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/literal/slow_stream.h"
#include "tests/support/tap.h"
#include "workload/window_parts.h"

#define SECOND 1000000000ull

static const struct window_config defaults;

static struct window *window_of(const struct window_config *config, const struct request *r,
				size_t nr, uint64_t begin_ns)
{
	struct window *w = NULL;

	if (ok_int(window_new(&w, config, begin_ns), 0))
		ok_int(window_add_many(w, r, nr), 0);
	return w;
}

static struct profile profile_of(const struct window *w, uint64_t end_ns)
{
	struct profile p;

	profile_init(&p);
	ok_int(window_profile(w, end_ns, &p), 0);
	return p;
}

static struct request *mixed(size_t nr, uint64_t seed, double mean_gap_ns)
{
	struct request *r = malloc(nr * sizeof(*r));

	if (!r)
		abort();
	slow_mixed(r, nr, seed, 5 * SECOND, mean_gap_ns);
	return r;
}

static bool finite_or_nan(double x)
{
	return isnan(x) || isfinite(x);
}

static void check_finite(const struct profile *p)
{
	const struct access_distribution *d = &p->locality.distribution;
	const double all[] = { p->closed.clients_mean,
			       p->closed.in_flight_mean,
			       p->closed.think_time_mean_s,
			       p->closed.sample_interval_s,
			       p->open.rate_per_s,
			       p->open.interarrival_mean_s,
			       p->open.interarrival_scv,
			       p->open.lag1_autocorrelation,
			       p->read.size_mean_bytes,
			       p->read.sequential_ratio,
			       p->read.stream_ratio,
			       p->write.size_mean_bytes,
			       p->write.sequential_ratio,
			       p->write.stream_ratio,
			       p->all_sequential_ratio,
			       p->all_stream_ratio,
			       p->locality.footprint_bytes,
			       d->mean_ratio,
			       d->deviation_ratio,
			       d->exponent,
			       d->ks_distance,
			       d->top_10_ratio,
			       d->top_20_ratio,
			       d->aic_uniform,
			       d->aic_gaussian,
			       d->aic_zipf };

	for (size_t i = 0; i < TAP_NR(all); i++)
		if (!ok(finite_or_nan(all[i])))
			tap_note("number %zu", i);
	for (size_t i = 0; i < p->open.nr_idc; i++)
		ok(finite_or_nan(p->open.idc[i].idc));
	for (size_t i = 0; i < p->locality.nr_miss_ratio; i++)
		ok(p->locality.miss_ratio[i].miss_ratio >= 0 &&
		   p->locality.miss_ratio[i].miss_ratio <= 1);
}

static void empty_is_unknown(void)
{
	struct window *w = window_of(&defaults, NULL, 0, SECOND);
	struct profile p = profile_of(w, 2 * SECOND);

	ok_eq(window_count(w), 0);
	ok(isnan(p.read.size_mean_bytes) && isnan(p.write.size_mean_bytes));
	ok(isnan(p.read.sequential_ratio) && isnan(p.all_sequential_ratio));
	ok(isnan(p.read.stream_ratio) && isnan(p.all_stream_ratio));
	ok(isnan(p.open.interarrival_mean_s) && isnan(p.open.interarrival_scv));
	ok(isnan(p.closed.think_time_mean_s));
	ok(isnan(p.locality.footprint_bytes) && isnan(p.locality.file_count_mean));
	ok(p.locality.distribution.kind == DISTRIBUTION_UNKNOWN);
	ok(isnan(p.locality.distribution.exponent));
	ok_eq(p.locality.nr_miss_ratio, 0);
	for (size_t i = 0; i < p.open.nr_idc; i++)
		ok(isnan(p.open.idc[i].idc));
	/* Averages over time are known of an idle period: they are 0. */
	ok_near(p.open.rate_per_s, 0, 0);
	ok_near(p.closed.in_flight_mean, 0, 0);
	ok_near(p.closed.clients_mean, 0, 0);
	check_finite(&p);
	profile_release(&p);
	window_free(w);
}

static void one_request(void)
{
	struct request r = slow_request(SECOND + 1000, 800);
	struct window *w = window_of(&defaults, &r, 1, SECOND);
	struct profile p = profile_of(w, 2 * SECOND);

	check_finite(&p);
	ok_eq(p.requests[OPERATION_READ], 1);
	ok_near(p.read.size_mean_bytes, 4096, 0);
	ok_near(p.read.sequential_ratio, 0, 0);
	ok_near(p.open.rate_per_s, 1, 1e-12);
	ok_near(p.closed.clients_mean, 1, 1e-12);
	ok_near(p.closed.in_flight_mean, 1e-4, 1e-12);
	ok_near(p.locality.footprint_bytes, 4096, 0);
	ok_eq(p.read.response.stage[STAGE_TOTAL].nr, 1);
	ok(isnan(p.open.interarrival_mean_s));
	if (ok_eq(p.locality.nr_miss_ratio, 1))
		ok_near(p.locality.miss_ratio[0].miss_ratio, 1, 0);
	profile_release(&p);
	window_free(w);
}

static void littles_law(void)
{
	const size_t nr = 100000;
	struct request *r = mixed(nr, 7, 50000);
	uint64_t end_ns = r[nr - 1].arrival_ns + SECOND;
	struct window *w = window_of(&defaults, r, nr, 5 * SECOND);
	struct profile p = profile_of(w, end_ns);
	double response_s = 0;

	for (size_t i = 0; i < nr; i++)
		response_s += (double)(r[i].completion_ns - r[i].arrival_ns) / 1e9 / (double)nr;
	/* Doubles summed 1e5 times: relative rounding below 1e-11. */
	ok_ratio(p.closed.in_flight_mean, p.open.rate_per_s * response_s, 1e-10);
	check_finite(&p);
	profile_release(&p);
	window_free(w);
	free(r);
}

static void same_profile(const struct profile *a, const struct profile *b)
{
	for (size_t i = 0; i < NR_OPERATIONS; i++) {
		ok_eq(a->requests[i], b->requests[i]);
		ok_eq(a->bytes[i], b->bytes[i]);
	}
	ok_eq(a->errors, b->errors);
	ok_eq(a->requeues, b->requeues);
	ok_eq(a->kernel_thread_requests, b->kernel_thread_requests);
	ok_near(a->closed.in_flight_mean, b->closed.in_flight_mean, 0);
	ok_near(a->closed.clients_mean, b->closed.clients_mean, 1e-12);
	ok_near(a->closed.think_time_mean_s, b->closed.think_time_mean_s, 0);
	ok_near(a->open.interarrival_scv, b->open.interarrival_scv, 0);
	ok_near(a->open.lag1_autocorrelation, b->open.lag1_autocorrelation, 0);
	for (size_t i = 0; i < a->open.nr_idc; i++)
		if (!isnan(a->open.idc[i].idc) || !isnan(b->open.idc[i].idc))
			ok_ratio(a->open.idc[i].idc, b->open.idc[i].idc, 1e-9);
	ok_eq(a->read.nr_sizes, b->read.nr_sizes);
	for (size_t i = 0; i < a->read.nr_sizes && i < b->read.nr_sizes; i++) {
		ok_eq(a->read.sizes[i].bytes, b->read.sizes[i].bytes);
		ok_eq(a->read.sizes[i].count, b->read.sizes[i].count);
	}
	ok_eq(a->read.response.stage[STAGE_TOTAL].sum_ns,
	      b->read.response.stage[STAGE_TOTAL].sum_ns);
	ok_eq(a->write.response.size_class[0].nr, b->write.response.size_class[0].nr);
	ok_near(a->locality.footprint_bytes, b->locality.footprint_bytes, 0);
	ok_near(a->locality.distribution.top_10_ratio, b->locality.distribution.top_10_ratio, 0);
	ok_near(a->locality.distribution.aic_uniform, b->locality.distribution.aic_uniform, 0);
}

static void impossible_configs_are_refused(void)
{
	struct window_config wrong = { .subset_requests = 1u << 20 };
	struct window *c = NULL;

	ok_int(window_new(&c, &wrong, 0), -EINVAL);
	ok(!c);
}

static void own_requests_left_out(void)
{
	struct window_config config = { .leave_out_own = true };
	struct request r[1000];
	struct window *w;
	struct profile p;

	for (size_t i = 0; i < 1000; i++) {
		r[i] = slow_request(SECOND + i * 1000, i * 8);
		r[i].flags = i % 3 ? 0 : REQUEST_OWN;
	}
	w = window_of(&config, r, 1000, SECOND);
	ok_eq(window_count(w), 666);
	p = profile_of(w, 2 * SECOND);
	ok_eq(p.own_requests, 334);
	profile_release(&p);
	window_free(w);
	w = window_of(&defaults, r, 1000, SECOND);
	ok_eq(window_count(w), 1000);
	window_free(w);
}

static void cheap_leaves_out_locality(void)
{
	struct window_config config = { .cheap = true };
	struct request *r = mixed(10000, 3, 10000);
	struct window *w = window_of(&config, r, 10000, 5 * SECOND);
	struct profile p = profile_of(w, 7 * SECOND);

	ok(isnan(p.read.sequential_ratio) && isnan(p.locality.footprint_bytes));
	ok_eq(p.locality.nr_miss_ratio, 0);
	ok(p.locality.distribution.kind == DISTRIBUTION_UNKNOWN);
	ok(p.read.nr_sizes > 0 && p.read.response.stage[STAGE_TOTAL].nr > 0);
	profile_release(&p);
	window_free(w);
	free(r);
}

static void one_by_one_is_many(void)
{
	struct request *r = mixed(20000, 5, 10000);
	struct window *many = window_of(&defaults, r, 20000, 5 * SECOND), *one = NULL;
	struct profile p, q;

	if (!ok_int(window_new(&one, &defaults, 5 * SECOND), 0))
		return;
	for (size_t i = 0; i < 20000; i++)
		if (window_add(one, &r[i]))
			ok(!"window_add");
	p = profile_of(many, 7 * SECOND);
	q = profile_of(one, 7 * SECOND);
	same_profile(&p, &q);
	ok_near(p.all_sequential_ratio, q.all_sequential_ratio, 0);
	ok_eq(p.locality.nr_miss_ratio, q.locality.nr_miss_ratio);
	profile_release(&p);
	profile_release(&q);
	window_free(many);
	window_free(one);
	free(r);
}

static void disorder_is_borne(void)
{
	struct request *r = mixed(20000, 5, 10000);
	struct window *w;
	struct profile p;

	for (size_t i = 0; i + 7 < 20000; i += 8) {
		struct request swap = r[i];

		r[i] = r[i + 7];
		r[i + 7] = swap;
	}
	/* The period begins after the first thousand arrivals: they count in it all the same. */
	w = window_of(&defaults, r, 20000, r[1000].arrival_ns);
	p = profile_of(w, r[19999].arrival_ns + SECOND);
	check_finite(&p);
	ok_eq(window_count(w), 20000);
	profile_release(&p);
	window_free(w);
	free(r);
}

/*
 * 65 536 reads of 2 GiB name 32 G blocks: a profile of them takes no longer than one of small
 * reads.
 */
static void huge_requests_cost_no_more_than_small_ones(void)
{
	const struct window_config config = { .seed = 1 };
	struct request r = { .bytes = REQUEST_MAX_DATA_BYTES };
	struct window *w = NULL;
	struct profile p;

	profile_init(&p);
	ok_int(window_new(&w, &config, 0), 0);
	for (uint64_t i = 0; i < 65536; i++) {
		r.sector = i * 8;
		r.arrival_ns = r.dispatch_ns = r.completion_ns = i;
		window_add(w, &r);
	}
	ok(w->reuse.nr_references <= 65536ull * 1024 + 65536);
	ok_int(window_profile(w, 1000000, &p), 0);
	ok(isnan(p.locality.footprint_bytes) && p.locality.nr_miss_ratio == 0);
	ok_near(p.read.size_mean_bytes, REQUEST_MAX_DATA_BYTES, 0);
	window_free(w);
	ok_int(window_new(&w, &config, 0), 0);
	for (uint64_t i = 0; i < 128; i++) {
		r.sector = i * 32768;
		r.bytes = i % 2 ? 4096 : 8 << 20; /* 4 MiB in the mean */
		window_add(w, &r);
	}
	ok_int(window_profile(w, 1000000, &p), 0);
	ok_near(p.locality.footprint_bytes, 64.0 * (8 << 20) + 64 * 4096, 0.03 * 64 * (8 << 20));
	ok(p.locality.nr_miss_ratio > 0);
	profile_release(&p);
	window_free(w);
}

/* Everything that request_check() lets pass, however absurd. */
static void absurd_requests(void)
{
	struct slow_rng g = { 77 };
	struct window *a = window_of(&defaults, NULL, 0, 0);
	struct window *b = window_of(&defaults, NULL, 0, 1ull << 63);
	uint64_t nr = 0;
	struct profile p;

	for (size_t i = 0; i < 20000; i++) {
		struct request r = slow_request(0, slow_random(&g) >> slow_below(&g, 64));

		r.arrival_ns = slow_random(&g) >> slow_below(&g, 64);
		r.dispatch_ns = r.arrival_ns + (slow_random(&g) >> slow_below(&g, 64));
		r.completion_ns = r.dispatch_ns + (slow_random(&g) >> slow_below(&g, 64));
		r.bytes = (uint32_t)(slow_random(&g) >> (i % 1000 ? 45 : 32));
		r.flags = (uint32_t)slow_below(&g, REQUEST_FLAGS_ALL + 1);
		r.tid = (uint32_t)slow_random(&g);
		r.operation = (uint8_t)slow_below(&g, NR_OPERATIONS);
		if (request_check(&r))
			continue;
		nr++;
		ok_int(window_add(i % 2 ? a : b, &r), 0);
	}
	ok_eq(window_count(a) + window_count(b), nr);
	for (int i = 0; i < 2; i++) {
		p = profile_of(i ? a : b, UINT64_MAX);
		check_finite(&p);
		profile_release(&p);
	}
	p = profile_of(a, 1);
	check_finite(&p);
	profile_release(&p);
	window_free(a);
	window_free(b);
}

static void memory_is_bounded(void)
{
	struct window *w = window_of(&defaults, NULL, 0, 0);
	struct request *r = mixed(1 << 19, 17, 1000);

	ok(window_memory(w) < 64 << 10);
	for (size_t i = 0; i < 1 << 19; i++) {
		r[i].tid = (uint32_t)i;
		r[i].flags = 0;
		r[i].bytes = (uint32_t)(i * 37 % 3000000);
	}
	for (int round = 0; round < 2; round++) {
		ok_int(window_add_many(w, r, 1 << 19), 0);
		window_clear(w, 6 * SECOND);
	}
	tap_note("%zu bytes", window_memory(w));
	ok(window_memory(w) <= 3 << 20);
	window_free(w);
	free(r);
}

/* One request of unknown operation makes the directions unknown, and nothing else. */
static void unknown_operation_is_no_read(void)
{
	const size_t nr = 5000;
	struct request *r = mixed(nr, 5, 1000);
	struct window *all = window_of(&defaults, r, nr, 0), *with;
	struct profile a = profile_of(all, 100 * SECOND), b, back;
	uint64_t requests = 0, bytes = 0;
	struct buf json;

	for (size_t i = 0; i < nr; i += 2)
		if (r[i].operation <= OPERATION_WRITE) {
			r[i].operation = OPERATION_OTHER;
			r[i].flags |= REQUEST_NO_OPERATION;
		}
	with = window_of(&defaults, r, nr, 0);
	b = profile_of(with, 100 * SECOND);
	for (int i = 0; i < NR_OPERATIONS; i++) {
		requests += a.requests[i];
		bytes += a.bytes[i];
	}
	ok(profile_is_undivided(&b) && !profile_is_undivided(&a));
	ok_eq(b.requests[OPERATION_OTHER], requests);
	ok_eq(b.bytes[OPERATION_OTHER], bytes);
	ok_eq(b.requests[OPERATION_READ] + b.requests[OPERATION_WRITE], 0);
	ok(!b.read.nr_sizes && isnan(b.write.sequential_ratio));
	ok(!b.read.response.stage[STAGE_TOTAL].nr);
	ok(a.locality.footprint_bytes == b.locality.footprint_bytes);
	ok(a.open.rate_per_s == b.open.rate_per_s);
	ok(a.closed.in_flight_mean == b.closed.in_flight_mean);

	buf_init(&json);
	profile_init(&back);
	ok_int(profile_to_json(&b, PROFILE_JSON_LINE, &json), 0);
	ok_int(profile_from_json((char *)json.data, json.len, &back, NULL), 0);
	ok(profile_is_undivided(&back));
	ok_eq(back.requests[OPERATION_OTHER], requests);
	ok(isnan(back.read.size_mean_bytes));
	buf_release(&json);
	profile_release(&back);
	profile_release(&b);
	profile_release(&a);
	window_free(with);
	window_free(all);
	free(r);
}

/* An order alone: there are no rates. */
static void timeless_has_no_rate(void)
{
	struct request r[40];
	struct window *w;
	struct profile p;

	for (size_t i = 0; i < TAP_NR(r); i++) {
		r[i] = slow_request(5 * SECOND + i, 8 * i);
		r[i].dispatch_ns = r[i].completion_ns = r[i].arrival_ns;
		r[i].flags |= REQUEST_NO_ARRIVAL | REQUEST_NO_DISPATCH | REQUEST_NO_COMPLETION;
	}
	w = window_of(&defaults, r, TAP_NR(r), 5 * SECOND);
	p = profile_of(w, 6 * SECOND);
	ok(isnan(p.open.rate_per_s) && isnan(p.open.interarrival_mean_s));
	ok(isnan(p.open.interarrival_scv) && isnan(p.open.clock_resolution_s));
	ok_eq(p.requests[OPERATION_READ] + p.requests[OPERATION_WRITE], TAP_NR(r));
	profile_release(&p);
	window_free(w);
}

static const struct tap_test tests[] = {
	{ "a request of unknown operation is no read", unknown_operation_is_no_read },
	{ "an empty window gives unknown, not zero, where there is nothing to average",
	  empty_is_unknown },
	{ "one request makes a profile", one_request },
	{ "little's law holds between in flight, rate and response time", littles_law },
	{ "windows of different configs refuse to merge", impossible_configs_are_refused },
	{ "the agent's own requests are left out where that is wanted", own_requests_left_out },
	{ "a cheap window has counts, sizes and response times only", cheap_leaves_out_locality },
	{ "requests fed one by one give what they give as a batch", one_by_one_is_many },
	{ "arrivals out of order and before the period are borne", disorder_is_borne },
	{ "absurd requests give numbers or unknown", absurd_requests },
	{ "huge requests cost no more than small ones",
	  huge_requests_cost_no_more_than_small_ones },
	{ "a window at full load stays within 3 MiB", memory_is_bounded },
	{ "requests without any time have no rate", timeless_has_no_rate },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}

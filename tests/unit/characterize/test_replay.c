// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/characterize/replay.h"
#include "analyzer/characterize/together.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define NR_HOSTS    2
#define NR_SEGMENTS 5
#define NR	    900
#define WINDOW_NS   700000000ull /* no divisor of the segments' second */

static const char *const hosts[NR_HOSTS] = { "alpha", "beta" };

/* Alpha's clock is an hour off beta's; some requests take longer than a window. */
static struct sample sample_of(int h, uint64_t q)
{
	uint64_t begin = (uint64_t)(h + 1) * 3600000000000 + q * 1000000000;

	return (struct sample){
		.host = hosts[h],
		.boot_id = "boot",
		.epoch = 1,
		.sequence = q,
		.real_offset_ns = SAMPLE_REAL_NS - (uint64_t)(h + 1) * 3600000000000,
		.begin_ns = begin,
		.end_ns = begin + 1000000000,
	};
}

static void requests_of(int h, uint64_t q, struct request *r)
{
	struct sample s = sample_of(h, q);

	sample_requests((uint64_t)h * 50 + q, s.begin_ns, s.end_ns, r, NR);
	for (size_t i = 0; i < NR; i += 97)
		r[i].completion_ns += i * 2000000;
}

struct kept {
	struct profile *profiles;
	size_t nr;
	struct together *together; /* owned; NULL: no sums */
};

static int keep(void *ctx, struct profile *p)
{
	struct kept *k = ctx;

	k->profiles = realloc(k->profiles, (k->nr + 1) * sizeof(*k->profiles));
	k->profiles[k->nr++] = *p;
	profile_init(p);
	return 0;
}

static void kept_free(struct kept *k)
{
	for (size_t i = 0; i < k->nr; i++)
		profile_release(&k->profiles[i]);
	free(k->profiles);
	together_free(k->together);
}

static int add_up(void *ctx, struct scan *scan, const struct scan_request *r, size_t nr)
{
	struct kept *k = ctx;

	return k->together ? together_add(k->together, scan, r, nr) : 0;
}

static void run_part(const char *dir, const struct scan_filter *filter, struct replay_config config,
		     struct kept *out)
{
	struct store *store = NULL;
	struct scan *scan = NULL;
	struct err err = { 0 };

	config.profile = keep;
	config.batch = add_up;
	config.ctx = out;
	ok_int(store_open(&store, dir, true, &err), 0);
	ok_int(scan_open_store(&scan, store, filter, NULL, &err), 0);
	if (!ok_int(replay(scan, &config, &err), 0))
		tap_note("%s", err.line);
	if (out->together)
		ok_int(together_watch(out->together, scan), 0);
	scan_close(scan);
	store_close(store);
}

static void run(const char *dir, uint64_t window_ns, struct kept *out)
{
	run_part(dir, NULL, (struct replay_config){ .window_ns = window_ns }, out);
}

static const char *make(void)
{
	const char *dir = sample_folder();
	struct request r[NR];

	for (int h = 0; h < NR_HOSTS; h++) {
		for (uint64_t q = 0; q < NR_SEGMENTS; q++) {
			struct sample s = sample_of(h, q);

			requests_of(h, q, r);
			sample_store(dir, &s, r, NR);
		}
	}
	return dir;
}

/* The literal answer: a window of its own, the requests of the device that completed in
 * [begin, end), one after the other. */
static struct window *literal(int h, uint32_t device, uint64_t begin, uint64_t end)
{
	struct window_config config = { 0 };
	struct window *w = NULL;
	struct request r[NR];

	ok_int(window_new(&w, &config, begin), 0);
	for (uint64_t q = 0; q < NR_SEGMENTS; q++) {
		uint64_t offset = sample_of(h, q).real_offset_ns;

		requests_of(h, q, r);
		for (size_t i = 0; i < NR; i++) {
			r[i].arrival_ns += offset;
			r[i].dispatch_ns += offset;
			r[i].completion_ns += offset;
			if (r[i].device == device && r[i].completion_ns >= begin &&
			    r[i].completion_ns < end)
				window_add(w, &r[i]);
		}
	}
	return w;
}

static bool same_number(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* Everything of one period; what looks back over periods (the curve, clients at the border) is
 * for whole traces only. */
static void same_profile(const struct profile *got, const struct profile *want, bool whole)
{
	ok(memcmp(got->requests, want->requests, sizeof(got->requests)) == 0);
	ok(memcmp(got->bytes, want->bytes, sizeof(got->bytes)) == 0);
	ok(same_number(got->open.rate_per_s, want->open.rate_per_s));
	ok(same_number(got->closed.in_flight_mean, want->closed.in_flight_mean));
	ok(same_number(got->read.sequential_ratio, want->read.sequential_ratio));
	ok(same_number(got->all_stream_ratio, want->all_stream_ratio));
	ok(same_number(got->locality.footprint_bytes, want->locality.footprint_bytes));
	for (int stage = 0; stage < NR_STAGES; stage++) {
		const struct histogram *a = &got->read.response.stage[stage];
		const struct histogram *b = &want->read.response.stage[stage];

		ok_eq(a->nr, b->nr);
		ok_eq(a->sum_ns, b->sum_ns);
		ok_eq(a->max_ns, b->max_ns);
	}
	if (!whole)
		return;
	ok(same_number(got->closed.clients_mean, want->closed.clients_mean));
	ok(same_number(got->closed.think_time_mean_s, want->closed.think_time_mean_s));
	ok(same_number(got->open.interarrival_scv, want->open.interarrival_scv));
	ok_eq(got->locality.nr_miss_ratio, want->locality.nr_miss_ratio);
	for (size_t i = 0; i < got->locality.nr_miss_ratio; i++)
		ok(got->locality.miss_ratio[i].miss_ratio ==
		   want->locality.miss_ratio[i].miss_ratio);
}

static void check(const struct profile *p, bool whole)
{
	int h = strcmp(p->host, hosts[1]) == 0;
	uint32_t device =
		strcmp(p->device_name, "sdb") == 0 ? device_make(8, 16) : device_make(8, 0);
	/* Seconds as double hold these times to some hundred nanoseconds; windows lie on a grid
	 * of milliseconds, and the last request of a trace ends where it ends. */
	uint64_t begin = (uint64_t)llround(p->begin_s * 1e3) * 1000000;
	uint64_t end = (uint64_t)llround(p->end_s * 1e3) * 1000000;
	struct window *w;
	struct profile want;

	if (whole)
		end += 10000000000ull;
	w = literal(h, device, begin, end);
	profile_init(&want);
	ok_int(window_profile(
		       w, whole ? begin + (uint64_t)llround((p->end_s - p->begin_s) * 1e9) : end,
		       &want),
	       0);
	/* The window does not know which part of its period was watched: its means are over all. */
	want.open.rate_per_s /= p->quality.coverage_ratio;
	want.closed.in_flight_mean /= p->quality.coverage_ratio;
	want.closed.clients_mean /= p->quality.coverage_ratio;
	if (whole) { /* its end is known to the rounding of a double only */
		ok_near(p->open.rate_per_s / want.open.rate_per_s, 1, 1e-6);
		want.open.rate_per_s = p->open.rate_per_s;
		ok_near(p->closed.in_flight_mean / want.closed.in_flight_mean, 1, 1e-6);
		want.closed.in_flight_mean = p->closed.in_flight_mean;
		ok_near(p->closed.clients_mean / want.closed.clients_mean, 1, 1e-6);
		want.closed.clients_mean = p->closed.clients_mean;
	}
	same_profile(p, &want, whole);
	profile_release(&want);
	window_free(w);
}

static void whole(void)
{
	const char *dir = make();
	struct kept k = { 0 };
	uint64_t sum = 0;

	run(dir, 0, &k);
	if (ok_eq(k.nr, 4)) {
		for (size_t i = 0; i < k.nr; i++) {
			check(&k.profiles[i], true);
			sum += k.profiles[i].requests[0] + k.profiles[i].requests[1];
		}
		ok_str(k.profiles[0].host, "alpha");
		ok_str(k.profiles[0].device_name, "sda");
		ok_str(k.profiles[3].host, "beta");
	}
	ok_eq(sum, NR_HOSTS * NR_SEGMENTS * NR);
	kept_free(&k);
	sample_remove(dir);
}

static void windows(void)
{
	const char *dir = make();
	struct kept k = { 0 };
	uint64_t sum = 0;

	run(dir, WINDOW_NS, &k);
	for (size_t i = 0; i < k.nr; i++) {
		const struct profile *p = &k.profiles[i];

		/* The last period ends with what was watched or with its last request. */
		if (p->end_s - p->begin_s > 0.6999)
			check(p, false);
		sum += p->requests[0] + p->requests[1];
		if (i)
			ok(p->begin_s >= k.profiles[i - 1].begin_s);
	}
	ok(k.nr >= 4 * 7);
	ok_eq(sum, NR_HOSTS * NR_SEGMENTS * NR);
	kept_free(&k);
	sample_remove(dir);
}

static void losses(void)
{
	const char *dir = sample_folder();
	struct sample s = sample_of(0, 0);
	struct ledger lost = { 0 };
	struct request r[NR];
	struct kept k = { 0 };
	uint64_t real = s.begin_ns + s.real_offset_ns;

	/* 100 of sda in the second half, 40 of nobody knows which over all of it */
	ledger_add(&lost, &(struct loss){ LOSS_RING_FULL, true, 100, real + 500000000,
					  real + 1000000000, device_make(8, 0) });
	ledger_add(&lost, &(struct loss){ LOSS_UNPAIRED, true, 40, real, real + 1000000000, 0 });
	s.ledger = &lost;
	sample_requests(1, s.begin_ns, s.end_ns, r, NR);
	sample_store(dir, &s, r, NR);
	run(dir, 500000000, &k);
	if (ok_eq(k.nr, 4)) {
		ok_eq(k.profiles[0].lost, 20); /* sda, first half */
		ok_eq(k.profiles[1].lost, 20); /* sdb */
		ok_eq(k.profiles[2].lost, 120);
		ok_eq(k.profiles[3].lost, 20);
	}
	kept_free(&k);
	ledger_release(&lost);
	sample_remove(dir);
}

/* Three seconds watched each year; a window is a second. */
static void years(void)
{
	const char *dir = sample_folder();
	struct request r[NR];
	struct kept k = { 0 };

	for (uint64_t year = 0; year < 3; year++) {
		struct sample s = sample_of(0, 0);

		s.epoch = year + 1;
		s.begin_ns += year * 31536000000000000;
		s.end_ns = s.begin_ns + 3000000000;
		sample_requests(year, s.begin_ns, s.begin_ns + 1000000000, r, NR);
		sample_store(dir, &s, r, year == 1 ? 0 : NR);
	}
	run(dir, 1000000000, &k);
	ok_eq(k.nr, 2 * 3 * 3);
	for (size_t i = 0; i + 1 < k.nr; i++)
		ok(k.profiles[i].begin_s <= k.profiles[i + 1].begin_s);
	if (k.nr == 18) {
		ok_near(k.profiles[6].begin_s, SAMPLE_REAL_NS / 1e9 + 31536000, 1e-3);
		ok_eq(k.profiles[6].requests[0], 0);
		ok(k.profiles[12].requests[0] > 0);
	}
	kept_free(&k);
	sample_remove(dir);
}

/*
 * Six seconds: sent, kept back twice, idle, sent, idle. Rates are over the seconds whose requests
 * were sent, to which an idle second belongs where the one before it does. What was lost in the
 * others is no loss of theirs.
 */
static void kept_back(void)
{
	static const bool has_requests[] = { true, false, false, false, true, false };
	static const uint32_t numbers[] = { 8u << 20, 8u << 20 | 16 };
	const char *dir = sample_folder();
	uint64_t nr[2] = { 0 };
	struct request r[NR];
	struct kept k = { 0 };

	for (uint64_t q = 0; q < TAP_NR(has_requests); q++) {
		struct sample s = sample_of(0, q);
		struct ledger kept = { 0 };

		if (q == 1 || q == 2)
			ledger_add(&kept,
				   &(struct loss){ LOSS_KEPT_BACK, true, 7 * NR,
						   s.begin_ns + s.real_offset_ns,
						   s.end_ns + s.real_offset_ns, numbers[0] });
		/* Of the first device 10 q are lost in each second, and 1000 in one instant. */
		for (uint64_t j = 0; j < 2; j++)
			ledger_add(&kept,
				   &(struct loss){ j ? LOSS_RING_FULL : LOSS_DECODE, true,
						   j ? 10 * q : 1000,
						   s.begin_ns + s.real_offset_ns + 1000,
						   s.begin_ns + s.real_offset_ns + 1000 + j * 1000,
						   numbers[0] });
		s.ledger = &kept;
		sample_requests(q, s.begin_ns, s.end_ns, r, NR);
		sample_store(dir, &s, r, has_requests[q] ? NR : 0);
		for (size_t i = 0; i < NR && has_requests[q]; i++)
			nr[r[i].device == numbers[1]]++;
		ledger_release(&kept);
	}
	run(dir, 0, &k);
	if (ok_eq(k.nr, 2)) {
		for (size_t i = 0; i < 2; i++) {
			const struct profile *p = &k.profiles[i];

			ok_ratio(p->open.rate_per_s, (double)nr[i] / 3, 5e-3);
			ok_near(p->quality.coverage_ratio, 0.5, 1e-3);
			ok_near(p->end_s - p->begin_s, 6, 1e-3);
			/* Seconds 0, 4 and 5 were sent. */
			ok_eq(p->lost, strcmp(p->device, "8:0") ? 0 : 3 * 1000 + 10 * (0 + 4 + 5));
		}
	}
	kept_free(&k);
	sample_remove(dir);
}

#define NR_PARTED 12 /* segments, of more requests than replay reads at once */

/*
 * Clocks that drift from segment to segment, hosts that are watched one after another, a device and
 * a host at rest.
 */
static const char *parted(void)
{
	static const char *const names[] = { "alpha", "beta", "gamma" };
	const char *dir = sample_folder();
	struct request r[NR];

	for (int h = 0; h < 3; h++) {
		for (uint64_t q = 0; q < NR_PARTED; q++) {
			struct sample s = sample_of(0, q);

			s.host = names[h];
			s.real_offset_ns += (uint64_t)h * 20000000000 - q * 137;
			sample_requests((uint64_t)h * 50 + q, s.begin_ns, s.end_ns, r, NR);
			for (size_t i = 0; i < NR && h == 1; i++)
				r[i].device = device_make(8, 0);
			sample_store(dir, &s, r, h == 2 ? 0 : NR);
		}
	}
	return dir;
}

static void same_json(const struct profile *a, const struct profile *b)
{
	struct buf one = { 0 }, two = { 0 };

	ok_int(profile_to_json(a, PROFILE_JSON_LINE, &one), 0);
	ok_int(profile_to_json(b, PROFILE_JSON_LINE, &two), 0);
	ok(one.len == two.len && !memcmp(one.data, two.data, one.len));
	buf_release(&one);
	buf_release(&two);
}

/* Joins the sums of a part to those of the parts before it, as another process does. */
static void join(struct together *to, struct together *part)
{
	struct buf text = { 0 };
	struct cursor in;

	ok_int(together_write(part, &text), 0);
	in = cursor_make(text.data, text.len);
	ok_int(together_join(to, 2 * NR_PARTED * NR, &in), 0);
	ok_eq(cursor_left(&in), 0);
	buf_release(&text);
	together_free(part);
}

static void same_sums(struct together *a, struct together *b)
{
	struct align_sum requests, bytes;
	struct buf one = { 0 }, two = { 0 };

	together_sort(a);
	together_sort(b);
	ok_int(together_json(a, &one), 0);
	ok_int(together_json(b, &two), 0);
	ok(one.len == two.len && !memcmp(one.data, two.data, one.len));
	buf_release(&one);
	buf_release(&two);
	/* Two hosts with a pause between them, in which nobody was watched. */
	ok_int(together_sums(a, &requests, &bytes), 0);
	ok_eq(together_nr(a), 3);
	ok_eq(requests.nr_intervals, 2 * NR_PARTED);
	/* The drift of the clocks makes the time that was watched some microseconds shorter. */
	ok_ratio(requests.mean_per_s, NR, 1e-6);
	ok_ratio(bytes.mean_per_s, NR * 4096.0, 1e-6);
}

static void parts(void)
{
	const char *dir = parted();
	struct replay_config config = { .idle = true };
	struct kept all = { 0 }, of_parts = { 0 };
	struct together *joined = NULL;

	ok_int(together_new(&joined), 0);
	ok_int(together_new(&all.together), 0);
	run_part(dir, NULL, config, &all);
	for (uint32_t part = 0; part < 2; part++) {
		ok_int(together_new(&of_parts.together), 0);
		run_part(dir, &(struct scan_filter){ .part = part, .nr_parts = 2 }, config,
			 &of_parts);
		join(joined, of_parts.together);
		of_parts.together = NULL;
	}
	if (ok_eq(all.nr, 6) && ok_eq(of_parts.nr, 6)) {
		for (size_t i = 0; i < all.nr; i++)
			same_json(&all.profiles[i], &of_parts.profiles[i]);
		for (size_t i = 0; i < all.nr; i++)
			ok_near(all.profiles[i].begin_s - SAMPLE_REAL_NS / 1e9,
				20 * (double)(i / 2), 1e-5);
	}
	same_sums(all.together, joined);
	together_free(joined);
	kept_free(&all);
	kept_free(&of_parts);
	sample_remove(dir);
}

/* No segment names the device of the requests; their clock is that of the segment all the same. */
static void device_without_a_name(void)
{
	const char *dir = sample_folder();
	struct sample s = sample_of(0, 0);
	struct request r[NR];
	struct kept k = { 0 };

	sample_requests(1, s.begin_ns, s.end_ns, r, NR);
	for (size_t i = 0; i < NR; i++)
		r[i].device = device_make(8, 32);
	sample_store(dir, &s, r, NR);
	run(dir, 0, &k);
	if (ok_eq(k.nr, 1))
		ok_near(k.profiles[0].begin_s - SAMPLE_REAL_NS / 1e9, 0, 1e-3);
	kept_free(&k);
	sample_remove(dir);
}

static const struct tap_test tests[] = {
	{ "what was kept back is in no rate and is not lost", kept_back },
	{ "a whole trace gives what a window fed request by request gives", whole },
	{ "each period gives what its completions alone give", windows },
	{ "years that nobody watched take no time and give no windows", years },
	{ "losses go to their device and their time", losses },
	{ "parts of the hosts give the profiles of all hosts", parts },
	{ "a device without a name has its segment's clock", device_without_a_name },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}

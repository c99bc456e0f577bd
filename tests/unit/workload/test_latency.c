/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "tests/literal/slow_stream.h"
#include "tests/support/tap.h"
#include "workload/latency.h"

#define NR 20000

/* The operations of which response times are kept. */
static const enum operation timed[] = { OPERATION_READ, OPERATION_WRITE, OPERATION_FLUSH };

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void release(struct response_times *t)
{
	for (size_t i = 0; i < NR_STAGES; i++)
		histogram_release(&t->stage[i]);
	for (size_t i = 0; i < NR_SIZE_CLASSES; i++)
		histogram_release(&t->size_class[i]);
}

static void check_stage(const struct histogram *h, uint64_t *times, size_t nr)
{
	double sum = 0;

	qsort(times, nr, sizeof(*times), by_value);
	for (size_t i = 0; i < nr; i++)
		sum += (double)times[i];
	if (!ok_eq(h->nr, nr) || !nr)
		return;
	ok_eq(h->max_ns, times[nr - 1]);
	ok_ratio(histogram_mean_s(h), sum / (double)nr / 1e9, 1e-12);
	/* The bucket's width. */
	ok_ratio(histogram_quantile_any_s(h, 0.5), (double)times[(nr + 1) / 2 - 1] / 1e9, 0.022);
	ok_ratio(histogram_quantile_any_s(h, 0.99), (double)times[(nr * 99 + 99) / 100 - 1] / 1e9,
		 0.022);
}

/* Each stage, direction and size class against its own sorted list. */
static void against_sorted(void)
{
	static struct request r[NR];
	static uint64_t times[NR_STAGES + NR_SIZE_CLASSES][NR];
	struct latency l = { 0 };
	uint64_t errors = 0, requeues = 0;

	slow_mixed(r, NR, 1, 0, 1000);
	ok_int(latency_add_many(&l, r, NR), 0);
	for (size_t t = 0; t < TAP_NR(timed); t++) {
		enum operation op = timed[t];
		struct response_times got = { 0 };
		size_t nr[NR_STAGES + NR_SIZE_CLASSES] = { 0 };

		for (size_t i = 0; i < NR; i++) {
			uint64_t total = r[i].completion_ns - r[i].arrival_ns;
			size_t class = NR_STAGES + size_class_of(r[i].bytes);

			if (r[i].operation != op)
				continue;
			times[STAGE_QUEUE][nr[STAGE_QUEUE]++] = r[i].dispatch_ns - r[i].arrival_ns;
			times[STAGE_DEVICE][nr[STAGE_DEVICE]++] =
				r[i].completion_ns - r[i].dispatch_ns;
			times[STAGE_TOTAL][nr[STAGE_TOTAL]++] = total;
			if (op != OPERATION_FLUSH)
				times[class][nr[class]++] = total;
		}
		ok_int(latency_responses(&l, op, &got), 0);
		for (size_t i = 0; i < NR_STAGES; i++)
			check_stage(&got.stage[i], times[i], nr[i]);
		for (size_t i = 0; i < NR_SIZE_CLASSES; i++)
			check_stage(&got.size_class[i], times[NR_STAGES + i], nr[NR_STAGES + i]);
		release(&got);
	}
	for (size_t i = 0; i < NR; i++) {
		errors += r[i].error != 0;
		requeues += r[i].requeues;
	}
	ok_eq(l.errors, errors);
	ok_eq(l.requeues, requeues);
	latency_release(&l);
}

static void size_classes_agree(void)
{
	static const uint32_t bytes[] = { 0,	  1,	  512,	  4095,	   4096,
					  4097,	  8192,	  8193,	  16384,   16385,
					  32768,  65536,  65537,  131072,  131073,
					  262144, 262145, 524288, 1 << 30, UINT32_MAX };

	for (size_t i = 0; i < TAP_NR(bytes); i++) {
		struct response_times got = { 0 };
		struct latency l = { 0 };
		struct request r = slow_request(0, 0);

		r.bytes = bytes[i];
		ok_int(latency_add_many(&l, &r, 1), 0);
		ok_int(latency_responses(&l, OPERATION_READ, &got), 0);
		ok_eq(got.size_class[size_class_of(bytes[i])].nr, 1);
		release(&got);
		latency_release(&l);
	}
}

static void unknown_ends(void)
{
	static const uint32_t flags[] = { REQUEST_NO_ARRIVAL, REQUEST_NO_DISPATCH,
					  REQUEST_NO_COMPLETION };
	static const uint64_t want[][NR_STAGES] = { { 0, 1, 0 }, { 0, 0, 1 }, { 1, 0, 0 } };

	for (size_t i = 0; i < TAP_NR(flags); i++) {
		struct response_times got = { 0 };
		struct latency l = { 0 };
		struct request r = slow_request(0, 0);

		r.flags = flags[i];
		ok_int(latency_add_many(&l, &r, 1), 0);
		ok_int(latency_responses(&l, OPERATION_READ, &got), 0);
		for (size_t k = 0; k < NR_STAGES; k++)
			ok_eq(got.stage[k].nr, want[i][k]);
		release(&got);
		latency_release(&l);
	}
}

static const struct tap_test tests[] = {
	{ "stages and size classes are those of sorted lists", against_sorted },
	{ "size classes end where the profile says", size_classes_agree },
	{ "a stage with an unknown end takes nothing", unknown_ends },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}

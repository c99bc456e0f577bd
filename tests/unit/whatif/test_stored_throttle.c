// SPDX-License-Identifier: Apache-2.0
/*
 * What Linux throttles, on another device: a guest (tests/literal/slow_guest.h) runs on a device,
 * and its recording is simulated on others, on which it also runs. The throttle lets more under way
 * where writes take longer, so that neither recorded depths nor recorded waits hold there.
 */
#include <math.h>
#include <stdlib.h>

#include "analyzer/whatif/simulate/stored_scale.h"
#include "analyzer/whatif/simulate/stored_sim.h"
#include "tests/literal/slow_guest.h"
#include "tests/support/tap.h"

#define NR_ROUNDS 40
#define NR_DIRTY  70
/*
 * When the next write-back begins is known from the recording only as a time after the last
 * completion, so that a window of the throttle does not begin at the same request.
 */
#define TOLERANCE 0.04

static const struct slow_guest guest = { .service_us = 400,
					 .think_us = 260000,
					 .nr_rounds = NR_ROUNDS,
					 .nr_dirty = NR_DIRTY,
					 .cache = true,
					 .throttles = true };

static struct request *recorded(struct slow_guest *g, size_t *nr)
{
	struct request *r = calloc(NR_ROUNDS * (NR_DIRTY + 2), sizeof(*r));

	*nr = slow_guest_run(g, r);
	return r;
}

/* The mean response time of writes, and the time from the first request to the last completion. */
struct answer {
	double mean_s, elapsed_s;
};

static struct answer really(struct slow_guest g)
{
	size_t nr, nr_writes = 0;
	struct request *r = recorded(&g, &nr);
	double sum_s = 0, end_s = 0;

	for (size_t i = 0; i < nr; i++) {
		bool writes = r[i].operation == OPERATION_WRITE;

		end_s = fmax(end_s, (double)(r[i].completion_ns - r[0].arrival_ns) / 1e9);
		sum_s += writes ? (double)(r[i].completion_ns - r[i].arrival_ns) / 1e9 : 0;
		nr_writes += writes;
	}
	free(r);
	return (struct answer){ sum_s / (double)nr_writes, end_s };
}

static struct answer simulated(const struct causal_plan *plan, uint32_t service_us)
{
	struct stored_result result;
	struct device_model m;
	struct answer a;

	device_model_init(&m);
	m.base_s[DEVICE_WRITE] = service_us / 1e6;
	m.flush_window = 100; /* flushes take no time, and pass */
	m.flush_wait_ratio = 0;
	m.domain.concurrency = 256;
	ok_int(stored_sim_run(&plan, 1, &m, 1, &result, NULL), 0);
	a = (struct answer){ device_times_at(&result.times, DEVICE_WRITE, DEVICE_MEAN),
			     result.times.elapsed_s };
	stored_result_release(&result);
	return a;
}

/* Records a guest, and compares its answer for another device with what is there. */
static void compare(struct slow_guest there)
{
	struct slow_guest here = there;
	struct causal_plan plan;
	struct answer a, b;
	struct request *r;
	size_t nr;

	here.service_us = guest.service_us;
	r = recorded(&here, &nr);
	ok_int(causal_make(&plan, r, nr, NULL), 0);
	ok(here.waits > 0);
	ok(plan.throttle.on && plan.throttle.cache == there.cache);
	a = simulated(&plan, there.service_us);
	b = really(there);
	ok_ratio(a.mean_s, b.mean_s, TOLERANCE);
	/* The flush of a round is held back, and the round is longer by that. */
	if (there.cache)
		ok_ratio(a.elapsed_s, b.elapsed_s, TOLERANCE);
	causal_release(&plan);
	free(r);
}

static void the_same_device_gives_the_same_times(void)
{
	compare(guest);
}

static void a_slower_device_has_more_under_way(void)
{
	struct slow_guest there = guest;
	size_t nr;

	there.service_us = 3 * guest.service_us;
	compare(there);
	/* That this asks for more than the recorded depths is known of the guest itself. */
	free(recorded(&there, &nr));
	ok(there.most_under_way > 31);
}

static void a_faster_device_has_less_under_way(void)
{
	struct slow_guest there = guest;

	there.service_us = guest.service_us / 4;
	compare(there);
}

static void a_device_without_a_cache_lets_in_sooner(void)
{
	struct slow_guest there = guest;

	there.cache = false;
	there.service_us = 3 * guest.service_us;
	compare(there);
}

/* The write-back of two clients of one machine is one, which the machine throttles. */
static void clients_of_a_machine_share_its_throttle(void)
{
	struct slow_guest here = guest, there = guest;
	struct causal_plan plan, more;
	struct request *r;
	size_t nr;

	here.nr_dirty = NR_DIRTY / 2;
	r = recorded(&here, &nr);
	ok_int(causal_make(&plan, r, nr, NULL), 0);
	ok_int(stored_scale(&more, &plan, 1, 2), 0);
	ok_int(more.nr_machines, 1);
	ok_ratio(simulated(&more, guest.service_us).mean_s, really(there).mean_s, 0.06);
	causal_release(&more);
	ok_int(stored_scale(&more, &plan, 2, 1), 0);
	ok_int(more.nr_machines, 2);
	causal_release(&more);
	causal_release(&plan);
	free(r);
}

static const struct tap_test tests[] = {
	{ "throttled write-back on the same device takes the same time",
	  the_same_device_gives_the_same_times },
	{ "throttled write-back on a slower device takes the time that it really takes",
	  a_slower_device_has_more_under_way },
	{ "throttled write-back on a faster device takes the time that it really takes",
	  a_faster_device_has_less_under_way },
	{ "a device without a cache lets those in who wait before all have completed",
	  a_device_without_a_cache_lets_in_sooner },
	{ "clients of one machine share its throttle, and other machines have their own",
	  clients_of_a_machine_share_its_throttle },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}

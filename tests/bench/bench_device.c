// SPDX-License-Identifier: Apache-2.0
/*
 * How much processor time an hour of an application at 2 000 requests per second takes on a
 * simulated device: a twelfth of it is simulated by cause, and its time is multiplied by twelve.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/whatif/simulate/stored_sim.h"

#define PER_S	2000
#define SECONDS 300
#define PARTS	12 /* of these make an hour */
#define THREADS 8

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Threads that wait for each request of 1 ms on average and think. */
static void bench_device_fill(struct request *r, size_t nr)
{
	uint64_t at_ns[THREADS];
	struct rng rng;

	rng_seed(&rng, 1);
	for (int i = 0; i < THREADS; i++)
		at_ns[i] = 1000000000;
	for (size_t i = 0; i < nr; i++) {
		uint64_t *at = &at_ns[i % THREADS];

		*at += (uint64_t)(rng_exponential(&rng) * 1e9 * (THREADS / (double)PER_S - 1e-3));
		r[i] = (struct request){ .tid = 1 + (uint32_t)(i % THREADS),
					 .arrival_ns = *at,
					 .dispatch_ns = *at,
					 .sector = rng_below(&rng, 1 << 20) * 16,
					 .bytes = 8192,
					 .flags = REQUEST_SYNC,
					 .operation = (uint8_t)(rng_below(&rng, 10) < 3) };
		*at += (uint64_t)(rng_exponential(&rng) * 1e6) + 1;
		r[i].completion_ns = *at;
	}
}

int main(void)
{
	size_t nr = (size_t)PER_S * SECONDS;
	struct request *requests = calloc(nr, sizeof(*requests));
	struct causal_plan plan;
	const struct causal_plan *plans[] = { &plan };
	struct stored_result result = { 0 };
	struct device_model m;
	struct err err = { 0 };
	double begin_s;

	if (!requests)
		return 1;
	bench_device_fill(requests, nr);
	device_model_init(&m);
	m.servers = 8;
	m.base_s[0] = m.base_s[1] = 1e-3;
	m.sigma[0] = m.sigma[1] = m.wait_sigma = 0.3;
	begin_s = now_s();
	if (causal_make(&plan, requests, nr, &err) ||
	    stored_sim_run(plans, 1, &m, 1, &result, &err))
		return 1;
	printf("figure\tsimulated hour of an application at 2 000 requests/s\t%.2f\ts\t<= 5\t"
	       "300 s of it, x 12\n",
	       (now_s() - begin_s) * PARTS);
	stored_result_release(&result);
	causal_release(&plan);
	free(requests);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traffic: generates requests for tests and benchmarks. The same seed gives the same requests on
 * every machine.
 */
#ifndef TESTS_SLOW_TRAFFIC_H
#define TESTS_SLOW_TRAFFIC_H

#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

/* This struct is a generator of random numbers (splitmix64). Any seed is allowed. */
struct traffic {
	uint64_t state;
};
uint64_t traffic_random(struct traffic *t);
/* Returns a uniform number, 0 <= x < 1. */
double traffic_uniform(struct traffic *t);
double traffic_exponential(struct traffic *t, double mean);
/* Returns exp of a normal number with mean ln(median) and deviation sigma. */
double traffic_lognormal(struct traffic *t, double median, double sigma);

/*
 * Makes uniformly random requests of 4 KiB over span_bytes, 70 % of them reads. nr_threads threads
 * keep depth requests under way in total. Each new request follows a completion by about 2 us.
 * Service times are lognormal.
 */
void traffic_random_4k(struct traffic *t, struct request *out, size_t nr, uint64_t span_bytes);
/*
 * Makes requests of nr_streams threads. Each reads its own part from front to back in 64 KiB, one
 * request at a time.
 */
void traffic_sequential(struct traffic *t, struct request *out, size_t nr, unsigned int nr_streams);
/* Makes requests whose fields have any values that request_check() allows. */
void traffic_anything(struct traffic *t, struct request *out, size_t nr);

#endif

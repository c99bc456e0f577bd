/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traffic: requests made up for tests and benchmarks, the same for the same seed everywhere.
 */
#ifndef TESTS_SLOW_TRAFFIC_H
#define TESTS_SLOW_TRAFFIC_H

#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

/* A generator of random numbers (splitmix64); any seed. */
struct traffic {
	uint64_t state;
};
uint64_t traffic_random(struct traffic *t);
/* Uniform in 0 <= x < 1. */
double traffic_uniform(struct traffic *t);
double traffic_exponential(struct traffic *t, double mean);
/* exp of a normal of mean ln(median) and deviation sigma. */
double traffic_lognormal(struct traffic *t, double median, double sigma);

/*
 * Uniformly random 4 KiB requests, 70 % reads, over span_bytes: nr_threads threads keep depth
 * requests under way in all, each new one some 2 us after a completion; service is lognormal.
 */
void traffic_random_4k(struct traffic *t, struct request *out, size_t nr, uint64_t span_bytes);
/* nr_streams threads, each reading its own part from front to back, 64 KiB at a time, one at a time. */
void traffic_sequential(struct traffic *t, struct request *out, size_t nr, unsigned int nr_streams);
/* Every field of every request anywhere in its range, as request_check() allows. */
void traffic_anything(struct traffic *t, struct request *out, size_t nr);

#endif

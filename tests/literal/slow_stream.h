/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_stream: pseudo-random numbers and request streams for the tests of workload/.
 * The same seed gives the same stream on every machine.
 */
#ifndef TESTS_SLOW_STREAM_H
#define TESTS_SLOW_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

struct slow_rng {
	uint64_t state;
};

uint64_t slow_random(struct slow_rng *g);
/* Returns a number, 0 <= result < n. */
uint64_t slow_below(struct slow_rng *g, uint64_t n);
/* Returns a number, 0 < result < 1. */
double slow_uniform(struct slow_rng *g);
double slow_exponential(struct slow_rng *g, double mean);
double slow_normal(struct slow_rng *g);

/*
 * Items 0..nr-1, whose probability is proportional to (i + 1)^-theta. slow_zipf_release() frees the
 * table.
 */
struct slow_zipf {
	double *cumulative;
	size_t nr;
};
int slow_zipf_init(struct slow_zipf *z, size_t nr, double theta);
void slow_zipf_release(struct slow_zipf *z);
size_t slow_zipf(const struct slow_zipf *z, struct slow_rng *g);

/*
 * Makes a read of 4 KiB by thread 1 that arrives at that time and takes 100 us. Tests change some
 * of its fields.
 */
struct request slow_request(uint64_t arrival_ns, uint64_t sector);

/*
 * Makes nr requests of every kind in order of arrival: both directions with some discards and
 * flushes, several sizes, threads and kernel threads, runs and random jumps, Poisson arrivals.
 */
void slow_mixed(struct request *r, size_t nr, uint64_t seed, uint64_t begin_ns, double mean_gap_ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_storage: simulates closed storage systems request by request in the plainest way. Storage
 * models are calibrated on its results and compared with them. Clients do not think.
 */
#ifndef TESTS_SLOW_STORAGE_H
#define TESTS_SLOW_STORAGE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/histogram.h"

struct slow_server {
	double mean_s, sd_s; /* of a gamma distribution */
};

/*
 * Simulates a cache, and an array to which a share `miss` of the requests goes on. Both serve in
 * order of arrival. The response times are added to h.
 */
void slow_tandem(struct histogram *h, unsigned clients, struct slow_server cache,
		 struct slow_server array, double miss, size_t nr_requests, uint64_t seed);

/*
 * Classes that share one server. The class that is served next is drawn by the weights of the
 * waiting classes.
 */
struct slow_class {
	unsigned clients;
	double weight;
	struct slow_server service;
	double mean_s; /* result: mean of the response times */
};
void slow_mix(struct slow_class *classes, size_t nr, size_t nr_requests, uint64_t seed);

/*
 * This struct is one of the classes of two or more VMs. Each VM admits `depth` requests. An
 * admitted request passes a latency, a server that all share, and the server of its type. The
 * simulation sets mean_s of each class.
 */
struct slow_part_class {
	unsigned vm, clients;
	int write;
	double weight, latency_s;
	struct slow_server shared, own;
	double mean_s; /* result */
};
void slow_parts(struct slow_part_class *classes, size_t nr, unsigned depth, size_t nr_requests,
		uint64_t seed);

#endif
